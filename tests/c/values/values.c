// Structures by value, of every class.
#include "values.h"
#include <errno.h>
#include <unistd.h>
vec2 vec2_add(vec2 a, vec2 b) { return (vec2){a.x + b.x, a.y + b.y}; }
vec3 vec3_scale(vec3 a, float k) { return (vec3){a.x * k, a.y * k, a.z * k}; }
color invert(color c) { return (color){255 - c.r, 255 - c.g, 255 - c.b, c.a}; }
complex_ times(complex_ a, complex_ b) { return (complex_){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
mixed mixed_twice(mixed m) { return (mixed){2 * m.n, 2 * m.x}; }
backwards backwards_twice(backwards m) { return (backwards){2 * m.x, 2 * m.n}; }
segment reverse(segment s) { return (segment){s.to, s.from}; }
half half_twice(half h) { return (half){2 * h.f, 2 * h.n}; }
large large_next(int i, large l, double d) { l.at.x += i; l.at.z += d; l.c.a++; return l; }
matrix transposed(matrix m) { return (matrix){{m.m[0], m.m[2], m.m[1], m.m[3]}}; }
either as_int(either e) { e.n += 1; return e; }
// the last registers: neither half of m fits, what comes later does
long crowded(long a, long b, long c, long d, long e, complex_ x, complex_ y, complex_ z, double w, mixed m, long f, mixed n) {
    return a + b + c + d + e + (long)(x.re + y.im + z.re + w) + 100 * m.n + (long)(1000 * m.x) + 10000 * f + 100000 * n.n;
}
struct bits bits_back(struct bits b) { return b; }
struct packed packed_back(struct packed p) { return p; }
int slow(int n, unsigned char *v) { usleep(200000); v[0] = n; errno = 42; return n + 1; }
