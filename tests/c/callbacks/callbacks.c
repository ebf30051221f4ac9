/* Functions that call back with structures by value, of every class, for callbacks.scm. */
#include <stdlib.h>
typedef struct { float x, y; } vec2;
typedef struct { float x, y, z; } vec3;
typedef struct { double re, im; } pair;
typedef struct { long n; double x; } mixed;
typedef struct { double x; int n; } backwards;
typedef struct { unsigned char r, g, b; } color;
typedef struct { int a : 3; unsigned b : 20; } bits;
typedef struct { vec3 at; color c; long n; } large;

typedef vec2 (*vec2_f)(vec2, vec2);
typedef vec3 (*vec3_f)(float, vec3);
typedef pair (*pair_f)(pair);
typedef mixed (*mixed_f)(mixed);
typedef backwards (*backwards_f)(backwards);
typedef color (*color_f)(color, int);
typedef bits (*bits_f)(bits);
typedef large (*large_f)(int, large, double);
typedef double (*crowded_f)(long, long, long, long, long, pair, pair, pair, double, mixed, long, mixed, large, int);
typedef large (*deep_f)(large, void *);

vec2 on_vec2(vec2_f f) { return f((vec2){1, 2}, (vec2){.5, .25}); }
vec3 on_vec3(vec3_f f) { return f(2, (vec3){1, 2, 3}); }
pair on_pair(pair_f f) { return f((pair){1.5, -2}); }
mixed on_mixed(mixed_f f) { return f((mixed){-21, 1.5}); }
backwards on_backwards(backwards_f f) { return f((backwards){1.5, -21}); }
color on_color(color_f f) { return f((color){1, 2, 3}, 4); }
bits on_bits(bits_f f) { return f((bits){-3, 100000}); }
large on_large(large_f f) { return f(7, (large){{1, 2, 3}, {4, 5, 6}, -8}, .5); }
/* the last registers: neither half of the first mixed fits, what comes later does */
double on_crowded(crowded_f f) {
  pair z = {1, 2};
  return f(1, 2, 3, 4, 5, z, (pair){3, 4}, (pair){5, 6}, 7, (mixed){8, 9}, 10, (mixed){11, 12},
           (large){{13, 14, 15}, {16, 17, 18}, 19}, 20);
}
/* the result is where the caller wants it, whatever the callback does */
int zeros(large_f f) {
  large l = {{1, 2, 3}, {4, 5, 6}, 7};
  l = f(0, l, 0);
  return l.at.x == 0 && l.c.b == 0 && l.n == 0;
}
large deep(deep_f f, large l, int n) { l.n += n; return n == 0 ? l : f(l, (void *)(long)n); }
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int (*comparison(void))(const void *, const void *) { return less; }
