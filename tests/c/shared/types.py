"""Uses libtypes.so by ctypes: types.scm."""
import ctypes
import pathlib
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint8

types = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libtypes.so")))


class Point(Structure):
    _fields_ = [("x", c_int), ("y", c_double)]


class Rect(Structure):
    _fields_ = [("from_", Point), ("to", Point), ("tag", c_char * 4), ("name", c_char_p)]


types.types_error.restype = c_char_p
types.middle.restype = Point
types.middle.argtypes = [Point, Point]
middle = types.middle(Point(2, 3.5), Point(10, 0.5))
assert (middle.x, middle.y) == (6, 2.0)
types.height.restype = c_double
types.height.argtypes = [Rect]
assert types.height(Rect(Point(0, 1.0), Point(0, 4.5))) == 3.5

numbers = (c_double * 3)(1.0, 2.0, 3.0)
types.scale.argtypes = [POINTER(c_double), c_size_t, c_double]
types.scale(numbers, len(numbers), 2.0)
assert list(numbers) == [2.0, 4.0, 6.0]

types.reversed.restype = POINTER(c_uint8)
types.reversed.argtypes = [c_char_p, c_size_t, POINTER(c_size_t)]
count = c_size_t()
back = types.reversed(b"abc", 3, byref(count))
assert bytes(back[: count.value]) == b"cba"
types.squares.restype = POINTER(c_int32)
assert types.squares(4, byref(count))[: count.value] == [0, -1, 4, -9]

types.joined.restype = c_char_p
assert types.joined("süß".encode(), b"sauer").decode() == "süß und sauer"

FUNCTION = CFUNCTYPE(c_int, c_int)
assert types.twice(FUNCTION(lambda n: n * 10), 3) == 300
assert types.twice(None, 3) == 0
assert types.types_error().startswith(b"error: tried to call what is not a procedure: #f")
print("all is well")
