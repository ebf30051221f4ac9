// Objects that C has on the stack, where `cairn cc` has given them a place on the heap; linked with the program as
// bitcode. Without memory a program would have overrun its stack: it ends.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((noreturn, noinline, cold)) fail(void) {
  fflush(NULL);
  fprintf(stderr, "cairn: no memory for an object of the stack\n");
  abort();
}

// What a pool has given; its name may be any number but zero.
__attribute__((visibility("hidden"), always_inline)) void cairn_home_check(void *object) {
  if (__builtin_expect(object == 0, 0)) fail();
}

// Where there is no pool.
__attribute__((visibility("hidden"))) void *cairn_home_new(uint64_t bytes) {
  void *object = malloc(bytes);
  if (!object) fail();
  return object;
}
