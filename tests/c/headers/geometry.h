/* One declaration of every kind, for headers.scm; geometry.c is what the test links. */
#ifndef GEOMETRY_H
#define GEOMETRY_H
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include "parts.h"

#define GEOMETRY_VERSION "1.2 \"beta\""
#define MAX_POINTS (1 << 4)
#define MASK 0xFFFFFFFFu
#define BIG 18446744073709551615ull
#define LEAST (-2147483647 - 1)
#define SCALE 2.5
#define QUARTER 0.25f
#define NOWHERE ((point_t *)0)
#define EVERYWHERE ((void *)-1)
#define CALL(f) f()
#define NOTHING
#define TEXTUAL struct point

enum color { RED, GREEN = 7, BLUE };
typedef enum { LOW = -3, HIGH = 3 } level;

typedef struct point {
  int x;
  double y;
  char tag[4];
  struct point *next;
} point_t;

typedef struct {
  point_t from, to;
  const char *label;
  unsigned wide : 3;
  union { int32_t i; double d; } value;
  struct { short a, b; };
  enum color color;
  level level;
} line;

union word { uint32_t whole; uint8_t bytes[4]; uint16_t halves[2]; };
struct __attribute__((packed)) tight { char c; int n; };

typedef int64_t distance;
typedef double (*measure)(const struct point *, void *);
struct opaque;
typedef struct opaque opaque;

double point_norm(const point_t *p);
void point_move(point_t *p, int dx, double dy);
distance sum(const int32_t *numbers, size_t n);
const char *color_name(enum color c);
level opposite(level l);
char *copy_of(const char *text);
int add(int n, ...);
double measured(const point_t *points, size_t n, measure f, void *data);
opaque *opaque_new(int n);
int opaque_get(const opaque *o);
void opaque_free(opaque *o);
point_t by_value(point_t p);
long double wide(long double x);
int absent(int x);
extern int counter;
static inline int twice(int x) { return 2 * x; }
#define total sum
#endif
