// Pools whose indices may outgrow their bits (Lattner & Adve 2005, section 4); linked with the program as bitcode.
//
// The problem: an index of k bits tells 2^k places apart, and a program must be able to allocate more. So the objects
// of a pool are addressed by number, and lie in one of two forms: narrow, with indices, or wide, with pointers as they
// were. When a pool outgrows the indices that point to it, the pools that hold these indices (its *sources*) are
// expanded: each live object is copied to its wide place. Numbers stay, so nothing else of the program changes.
//
// A pointer to an object, wherever it is but in narrow objects, is the object's *name*: its number times the size of a
// narrow object. Null is 0.
//
//   narrow   base + name                               indices: name / unit, in index_bytes
//   wide     wide + name / narrow_size * wide_size     pointers: name
//
// `wide` is 0 while objects are narrow: it is the pool's flag and the only thing code needs to load. What is free is
// known from the list of free objects, which begins in the descriptor; all others below `top` are live.
//
// Not for programs with threads. Compiled with -fno-strict-aliasing: objects and free lists share memory.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Equal parts of an object. The compiler makes these: `crates/cairn-ptrcomp/src/rewrite/dynamic.rs`.
struct part {
  uint32_t wide, narrow;            // offsets of the first
  uint32_t bytes;                   // of one, in a wide object
  uint32_t wide_step, narrow_step;  // from one to the next
  uint32_t count;
  uint32_t index;                   // is it an index?
};

struct dynamic_pool {
  uint64_t wide;   // first address of wide objects; 0 while they are narrow
  uint64_t base;   // first address of narrow objects; never changes
  uint64_t top;    // name of what was never used
  uint64_t limit;  // names that can be given out before something has to be done
  uint64_t free;   // name of the first free object
  uint64_t reach;  // names that the indices of the sources can tell apart
  uint64_t room;   // names that there are addresses for, in the present form; 0 if nothing is reserved yet
  const char *name;  // for messages
  const struct part *parts;
  struct dynamic_pool *const *sources;
  uint32_t part_count, source_count;
  uint32_t narrow_size, wide_size;
  uint32_t index_bytes, unit;
  uint32_t number;    // staggers the start
  uint32_t outgrown;  // the indices of the sources were not enough
};

#define API __attribute__((visibility("hidden")))
#define INLINE API __attribute__((always_inline))
#define SLOW API __attribute__((noinline, cold))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static const uint64_t first_wide = UINT64_C(0x400000000000), last_wide = UINT64_C(0x700000000000);
static const uint64_t wide_spacing = UINT64_C(1) << 38;
static uint64_t wide_count;

// Ends the program: what it has written comes first.
static void __attribute__((noreturn, cold)) dynamic_fail(struct dynamic_pool *p, const char *what) {
  fflush(NULL);
  fprintf(stderr, "cairn: the pool %s finds no %s (%llu objects)\n", p->name, what,
          (unsigned long long)(p->top / p->narrow_size));
  abort();
}

// As much as there are addresses for, up to `most` bytes, a power of two; the last page is kept free.
static uint64_t dynamic_reserve(uint64_t base, uint64_t most) {
  for (uint64_t size = most; size >= UINT64_C(1) << 24; size >>= 1) {
    void *at = mmap((void *)base, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == (void *)base) return size - 4096;
    if (at != MAP_FAILED) munmap(at, size);
  }
  return 0;
}

static char *wide_place(struct dynamic_pool *p, uint64_t wide, uint64_t name) {
  return (char *)(wide + name / p->narrow_size * p->wide_size);
}

static void widen(struct dynamic_pool *p, char *to, const char *from) {
  for (const struct part *part = p->parts; part < p->parts + p->part_count; part++) {
    char *wide = to + part->wide;
    const char *narrow = from + part->narrow;
    for (uint32_t i = 0; i < part->count; i++, wide += part->wide_step, narrow += part->narrow_step) {
      if (part->index) {
        uint64_t index = 0;
        memcpy(&index, narrow, p->index_bytes);
        index *= p->unit;
        memcpy(wide, &index, sizeof index);
      } else {
        memcpy(wide, narrow, part->bytes);
      }
    }
  }
}

// Makes the objects of a pool wide. What has been copied is given back on the way, so that little is there twice.
static void expand(struct dynamic_pool *p) {
  enum { CHUNK = 1 << 20 };
  uint64_t wide = 0, bytes = 0;
  while (!bytes && first_wide + wide_count * wide_spacing < last_wide) {
    wide = first_wide + wide_count++ * wide_spacing;
    bytes = dynamic_reserve(wide, wide_spacing);
  }
  if (bytes / p->wide_size * p->narrow_size <= p->top) dynamic_fail(p, "addresses");
  if (p->room) {
    unsigned char *dead = calloc(p->top / p->narrow_size / 8 + 1, 1);
    if (!dead) dynamic_fail(p, "memory to expand it");
    for (uint64_t name = p->free; name;) {
      uint64_t number = name / p->narrow_size, next = *(uint32_t *)(p->base + name);
      dead[number / 8] |= 1 << number % 8;
      memcpy(wide_place(p, wide, name), &next, sizeof next);
      name = next;
    }
    uint64_t kept = 0;
    for (uint64_t name = p->narrow_size; name < p->top; name += p->narrow_size) {
      uint64_t number = name / p->narrow_size;
      if (!(dead[number / 8] >> number % 8 & 1)) widen(p, wide_place(p, wide, name), (char *)p->base + name);
      if (name - kept >= 2 * CHUNK) {
        madvise((void *)(p->base + kept), CHUNK, MADV_DONTNEED);
        kept += CHUNK;
      }
    }
    free(dead);
    // Nobody may read there any more.
    mmap((void *)p->base, (p->top + 4095) & ~UINT64_C(4095), PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  } else {
    p->top = p->narrow_size;
  }
  p->wide = wide;
  p->room = bytes / p->wide_size * p->narrow_size;
}

static void set_limit(struct dynamic_pool *p) {
  p->limit = !p->outgrown && p->reach < p->room ? p->reach : p->room;
}

// Small pools are not staggered: they have no room for it.
static void dynamic_start(struct dynamic_pool *p) {
  p->room = dynamic_reserve(p->base, UINT64_C(1) << 32);
  if (!p->room) dynamic_fail(p, "addresses");
  uint64_t stagger = p->reach < 1 << 20 ? 1 : 64 + (p->number * UINT64_C(192)) % 4096;
  p->top = (stagger + p->narrow_size - 1) / p->narrow_size * p->narrow_size;
}

// The name of a new object, where none is at hand.
SLOW uint64_t cairn_dynamic_extend(struct dynamic_pool *p) {
  if (p->room == 0) dynamic_start(p);
  set_limit(p);
  while (p->top + p->narrow_size > p->limit) {
    if (!p->outgrown && p->top + p->narrow_size > p->reach) {
      for (uint32_t i = 0; i < p->source_count; i++) {
        if (p->sources[i]->wide) continue;
        expand(p->sources[i]);
        set_limit(p->sources[i]);
      }
      p->outgrown = 1;
    } else if (!p->wide) {
      expand(p);
    } else {
      dynamic_fail(p, "addresses");
    }
    set_limit(p);
  }
  uint64_t name = p->top;
  p->top = name + p->narrow_size;
  return name;
}

SLOW uint64_t cairn_dynamic_reuse_wide(struct dynamic_pool *p) {
  uint64_t name = p->free;
  memcpy(&p->free, wide_place(p, p->wide, name), sizeof p->free);
  return name;
}

SLOW void cairn_dynamic_free_wide(struct dynamic_pool *p, uint64_t name) {
  memcpy(wide_place(p, p->wide, name), &p->free, sizeof p->free);
  p->free = name;
}

SLOW void cairn_dynamic_clear_wide(struct dynamic_pool *p, uint64_t name) {
  memset(wide_place(p, p->wide, name), 0, p->wide_size);
}

// The name of a new object; all are of this size when narrow, a multiple of four.
INLINE void *cairn_dynamic_one(struct dynamic_pool *p, uint64_t base, uint64_t size) {
  uint64_t name = p->free;
  if (name) {
    if (UNLIKELY(p->wide)) return (void *)cairn_dynamic_reuse_wide(p);
    p->free = *(uint32_t *)(base + name);
    return (void *)name;
  }
  name = p->top;
  if (UNLIKELY(name + size > p->limit)) return (void *)cairn_dynamic_extend(p);
  p->top = name + size;
  return (void *)name;
}

INLINE void *cairn_dynamic_zeroed(struct dynamic_pool *p, uint64_t base, uint64_t size) {
  uint64_t name = (uint64_t)cairn_dynamic_one(p, base, size);
  if (UNLIKELY(p->wide)) cairn_dynamic_clear_wide(p, name);
  else memset((void *)(base + name), 0, size);
  return (void *)name;
}

INLINE void cairn_dynamic_free_one(struct dynamic_pool *p, uint64_t base, void *object) {
  uint64_t name = (uint64_t)object;
  if (name == 0) return;
  if (UNLIKELY(p->wide)) {
    cairn_dynamic_free_wide(p, name);
    return;
  }
  *(uint32_t *)(base + name) = (uint32_t)p->free;
  p->free = name;
}

// All are of one size, so an object is large enough.
INLINE void *cairn_dynamic_resize_one(struct dynamic_pool *p, uint64_t base, void *object, uint64_t size) {
  return object ? object : cairn_dynamic_one(p, base, size);
}

// With --check-indices: what was read or is to be stored must be the name of an object of this pool.
API void cairn_dynamic_check(struct dynamic_pool *p, void *object) {
  uint64_t name = (uint64_t)object;
  if (name != 0 && (name >= p->top || name % p->narrow_size != 0)) {
    fflush(NULL);
    fprintf(stderr, "cairn: %llu is the name of no object of the pool %s\n", (unsigned long long)name, p->name);
    abort();
  }
}
