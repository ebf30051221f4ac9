/* Bit-fields of every kind, for bits.scm. */
#include <stdbool.h>
enum shade { LIGHT, DARK, GREY };
enum side { LEFT = -1, MIDDLE, RIGHT };
struct plain { int a : 3; unsigned b : 5; unsigned long c : 40; int : 0; signed char d : 2; bool e : 1; enum shade f : 2; enum side g : 2; short h : 16; };
typedef struct {
  int a : 30;
  int b : 7;
  struct { unsigned a : 4; unsigned b : 30; } in;
  union { int c : 9; struct { unsigned d : 3; unsigned e : 11; }; };
  double between;
  struct plain plain;
  long f : 64;
} nested;
union either { int a : 5; unsigned b : 17; float f; };
struct __attribute__((packed)) tight { unsigned char a; int b : 31; unsigned long c : 60; unsigned d : 1; long e : 63; unsigned char f; };
struct small { unsigned a : 4; int b : 12; float x; float y; };
struct small swapped(struct small s);
union either next(union either e);
#define FIELDS(F) \
  F(plain, struct plain, a) F(plain, struct plain, b) F(plain, struct plain, c) F(plain, struct plain, d) \
  F(plain, struct plain, e) F(plain, struct plain, f) F(plain, struct plain, g) F(plain, struct plain, h) \
  F(nested, nested, a) F(nested, nested, b) F(nested, nested, c) F(nested, nested, d) F(nested, nested, e) \
  F(nested, nested, f) F(either, union either, a) F(either, union either, b) F(tight, struct tight, b) \
  F(tight, struct tight, c) F(tight, struct tight, d) F(tight, struct tight, e)
#define DECLARE(name, type, field) \
  long get_##name##_##field(const type *p); \
  void put_##name##_##field(type *p, long x);
FIELDS(DECLARE)
long get_nested_in_a(const nested *p);
void put_nested_in_a(nested *p, long x);
long get_nested_in_b(const nested *p);
void put_nested_in_b(nested *p, long x);
