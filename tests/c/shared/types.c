/* Uses libtypes.so: types.scm. Each way a type goes, and what errors leave. */
#include "types.h"
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char *what) {
  if (!holds) {
    const char *error = types_error();
    printf("not so: %s; %s\n", what, error ? error : "no error");
    failures++;
  }
}
#define CHECK(x) check(x, #x)

static void fails(const char *expected) {
  const char *error = types_error();
  if (!error || strncmp(error, expected, strlen(expected)) != 0) {
    printf("not the error %s: %s\n", expected, error ? error : "none");
    failures++;
  }
}

static int next(int n) { return n + 1; }
static int again(int n) { return twice(next, n) * 2; }
static struct point raise_by(struct point p, double d) {
  p.y += d;
  p.x++;
  return p;
}
static void descending(void *at, size_t n) {
  int32_t *v = at;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++)
      if (v[i] < v[j]) {
        int32_t x = v[i];
        v[i] = v[j];
        v[j] = x;
      }
}

static void structures(void) {
  struct point p = { 2, 3.5 }, q = { 10, 0.5 }, m = middle(p, q);
  CHECK(m.x == 6 && m.y == 2.0);
  struct floats f = swapped((struct floats) { 1.5f, 2.5f });
  CHECK(f.first_one == 2.5f && f.second_one == 1.5f);
  struct rect r = { p, q, "abc", "name" }, s = { q, p, "xyz", NULL };
  struct rect b = bounds(5, r, 1.0, m, 7, s);
  CHECK(b.from.x == 12 && b.from.y == 3.5 && b.to.x == 6 && b.to.y == 2.0);
  CHECK(b.tag[0] == 'a' && b.tag[1] == 'z' && b.tag[2] == 'c' && strcmp(b.name, "name") == 0);
  CHECK(r.from.x == 2 && r.tag[1] == 'b'); /* by value */
  CHECK(height(r) == -3.0);
  move_by(&p, 1.0);
  CHECK(p.x == 2 && p.y == 4.5);
  struct point *o = origin();
  move_by(o, 2.0);
  CHECK(o == origin() && o->y == 2.0);
}

static void vectors(void) {
#define SUM(kind, type) \
  do { \
    type v[] = { (type) -1, 2, 3 }; \
    double sum = (double) v[0] + 5; \
    check(sum_##kind(v, 3) == sum && sum_##kind(v, 0) == 0.0, #kind); \
  } while (0)
  SUM(u8, uint8_t);
  SUM(s8, int8_t);
  SUM(u16, uint16_t);
  SUM(s16, int16_t);
  SUM(u32, uint32_t);
  SUM(s32, int32_t);
  SUM(u64, uint64_t);
  SUM(s64, int64_t);
  SUM(f32, float);
  SUM(f64, double);
  double v[] = { 1.0, 2.0, 3.0 };
  scale(v, 3, 2.0);
  CHECK(types_error() == NULL && v[0] == 2.0 && v[1] == 4.0 && v[2] == 6.0);
  scale(v, 3, 0.0);
  fails("error: nothing is left");
  CHECK(v[0] == 2.0 && v[2] == 6.0);
  CHECK(is_null(NULL, 5) && !is_null((uint8_t *) v, 0));
  size_t count = 7;
  const uint8_t *back = reversed((const uint8_t *) "abc", 3, &count);
  CHECK(count == 3 && memcmp(back, "cba", 3) == 0);
  CHECK(reversed(NULL, 0, &count) == NULL && count == 0 && types_error() == NULL);
  CHECK(reversed((const uint8_t *) "", 0, &count) != NULL && count == 0);
  const int32_t seven[] = { 7 };
  CHECK(zeroed(seven, 1) == 0 && seven[0] == 7 && types_error() == NULL);
  /* memory that nobody can write, and nobody does */
  CHECK(sum_u8((uint8_t *) "\1\2", 2) == 3.0 && types_error() == NULL);
  const int32_t *s = squares(5, &count);
  CHECK(count == 5 && s[1] == -1 && s[2] == 4 && s[4] == 16);
  CHECK(squares(2, NULL)[1] == -1);
  CHECK(wrong_kind(&count) == NULL && count == 0);
  fails("error: wrong_kind: the result must be an f64vector or #f, got #u8(1 2)");
  CHECK(sum_f64(v, (size_t) -1) == 0.0);
  fails("error: sum_f64: C has passed a vector of 18446744073709551615 elements");
  /* results stay until there are sixteen others */
  const int32_t *kept = squares(9, &count);
  for (int i = 0; i < 15; i++)
    squares(i, &count);
  CHECK(kept[8] == 64);
}

static void functions(void) {
  CHECK(twice(next, 5) == 7);
  CHECK(twice(again, 1) == 16); /* calls within calls */
  struct point p = { 1, 1.0 };
  struct point r = through(raise_by, p);
  CHECK(r.x == 3 && r.y == 5.0);
  r = through(NULL, p);
  CHECK(r.x == 1 && r.y == 1.0);
  CHECK(measured(strlen, "füß") == 10);
  keep(next);
  CHECK(kept(4) == 5);
  int32_t v[] = { 3, -7, 12, 5 };
  sort(descending, v, 4);
  CHECK(v[0] == 12 && v[1] == 5 && v[2] == 3 && v[3] == -7);
  CHECK(strcmp(joined("süß", "sauer"), "süß und sauer") == 0);
  CHECK(joined(NULL, "x") == NULL && types_error() == NULL);
}

static void errors(void) {
  struct point p = no_point(0);
  CHECK(p.x == 0 && p.y == 0.0);
  fails("error: no_point: the result must be a point (a pointer, or a bytevector of 16 bytes), got point");
  no_point(1);
  fails("error: no_point: the result must be a point (a pointer, or a bytevector of 16 bytes), got #u8(1 2 3)");
  CHECK(asks_wrongly(next) == 0);
  fails("error: asks_wrongly: argument 1 must be an int (-2147483648 to 2147483647), got \"one\"");
  CHECK(twice(NULL, 1) == 0);
  fails("error: tried to call what is not a procedure: #f\n");
}

int main(void) {
  structures();
  vectors();
  functions();
  errors();
  CHECK(types_close() == 0);
  if (failures == 0)
    puts("all is well");
  return failures;
}
