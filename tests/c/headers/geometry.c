#include "geometry.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
struct opaque { int n; };
int counter;
double point_norm(const point_t *p) { return p->x + p->y; }
void point_move(point_t *p, int dx, double dy) { p->x += dx; p->y += dy; }
distance sum(const int32_t *numbers, size_t n) { distance s = 0; while (n--) s += numbers[n]; return s; }
const char *color_name(enum color c) { return c == RED ? "red" : c == GREEN ? "gr\303\274n" : NULL; }
level opposite(level l) { return -l; }
char *copy_of(const char *text) { return text ? strdup(text) : NULL; }
int add(int n, ...) { va_list v; va_start(v, n); int s = n; va_end(v); return s; }
double measured(const point_t *p, size_t n, measure f, void *data) {
  double s = 0; for (size_t i = 0; i < n; i++) s += f(&p[i], data); return s;
}
opaque *opaque_new(int n) { opaque *o = malloc(sizeof *o); o->n = n; return o; }
int opaque_get(const opaque *o) { return o->n; }
void opaque_free(opaque *o) { free(o); }
point_t by_value(point_t p) { return p; }
long double wide(long double x) { return x; }
int part_of_geometry(int x) { return x + PART; }
