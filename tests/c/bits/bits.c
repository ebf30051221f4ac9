/* What C reads and writes in the bit-fields of bits.h. */
#include "bits.h"
#define DEFINE(name, type, field) \
  long get_##name##_##field(const type *p) { return (long)p->field; } \
  void put_##name##_##field(type *p, long x) { p->field = x; }
FIELDS(DEFINE)
long get_nested_in_a(const nested *p) { return p->in.a; }
void put_nested_in_a(nested *p, long x) { p->in.a = x; }
long get_nested_in_b(const nested *p) { return p->in.b; }
void put_nested_in_b(nested *p, long x) { p->in.b = x; }
struct small swapped(struct small s) { struct small r = { s.a + 1, -s.b, s.y, s.x }; return r; }
union either next(union either e) { e.b += 1; return e; }
