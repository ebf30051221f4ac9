// Structures by value, of every class.
#include <stdint.h>
typedef struct { float x, y; } vec2;
typedef struct { float x, y, z; } vec3;
typedef struct { unsigned char r, g, b, a; } color;
typedef struct { double re, im; } complex_;
typedef struct { long n; double x; } mixed;
typedef struct { double x; int n; } backwards;
typedef struct { vec2 from, to; } segment;
typedef struct { float f; int n; } half;
typedef struct { vec3 at; color c; const char *name; } large;
typedef struct { double m[4]; } matrix;
typedef union { float f; int n; } either;
struct bits { int a : 3; float f; };
struct packed { char c; int n; } __attribute__((packed));
vec2 vec2_add(vec2 a, vec2 b);
vec3 vec3_scale(vec3 a, float k);
color invert(color c);
complex_ times(complex_ a, complex_ b);
mixed mixed_twice(mixed m);
backwards backwards_twice(backwards m);
segment reverse(segment s);
half half_twice(half h);
large large_next(int i, large l, double d);
matrix transposed(matrix m);
either as_int(either e);
// the last registers: neither half of m fits, what comes later does
long crowded(long a, long b, long c, long d, long e, complex_ x, complex_ y, complex_ z, double w, mixed m, long f, mixed n);
struct bits bits_back(struct bits b);
struct packed packed_back(struct packed p);
int slow(int n, unsigned char *v);
