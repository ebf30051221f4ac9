// Links between objects of the programs beside, in two builds of the same text: pointers to what malloc gives, or, with
// -DBY_HAND, what a patient programmer writes instead, 32-bit offsets into a pool for each type.
//
//   POOL(tree, 1)        declares the pool of struct tree, number 1 of the program
//   LINK(tree)           a link to a struct tree, or NONE
//   AT(tree, link)       the object, which must be there
//   NEW(tree, n)         a link to n new objects side by side, of unknown content
//
// By hand, a pool is 4 GiB of addresses from a constant on, backed by memory as it is touched; objects follow one
// another without headers and live as long as the program.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef BY_HAND

#include <sys/mman.h>

#define LINK(T) uint32_t
#define NONE 0
#define POOL(T, number)                                       \
  static const uint64_t T##_pool = UINT64_C(number) << 40;    \
  static uint64_t T##_top;
#define AT(T, link) ((struct T *)(T##_pool + (link)))
#define NEW(T, n) take(T##_pool, &T##_top, (n) * sizeof(struct T))

static inline uint32_t take(uint64_t pool, uint64_t *top, uint64_t bytes) {
  const uint64_t size = UINT64_C(1) << 32;
  if (*top == 0) {
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap((void *)pool, size, PROT_READ | PROT_WRITE, how, -1, 0) != (void *)pool) exit(3);
    *top = 64;
  }
  if (bytes > size - *top) exit(3);
  uint32_t at = (uint32_t)*top;
  *top += bytes;
  return at;
}

#else

#define LINK(T) struct T *
#define NONE NULL
#define POOL(T, number)
#define AT(T, link) (link)
#define NEW(T, n) ((struct T *)malloc((n) * sizeof(struct T)))

#endif

// The number that is argument `i`, or a default.
static inline int argument(int argc, char **argv, int i, int otherwise) {
  return argc > i ? atoi(argv[i]) : otherwise;
}

// Numbers that look random (Marsaglia's xorshift), the same in every run.
static inline uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}
