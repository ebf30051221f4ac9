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
// Memory is asked of the system as it is needed, and given back when a pool is empty. When there is none, the program
// gets what malloc gives it then: null. Objects are only copied when there is room for all of them.
//
// Not for programs with threads. Compiled with -fno-strict-aliasing: objects and free lists share memory.

#define _GNU_SOURCE
#include <errno.h>
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
  uint64_t room;   // names that there is memory for, in the present form
  uint64_t mapped; // bytes of that memory; 0 if there never was any
  uint64_t live;   // objects that are not free
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

enum { PAGE = 4096, STEP = 1 << 15, KEPT = 1 << 22 };
// Names of narrow objects end here: what is free holds 32 bits of one.
static const uint64_t narrow_most = (UINT64_C(1) << 32) - PAGE;

static uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1); }

// Names of the objects that so many bytes hold.
static uint64_t names_in(struct dynamic_pool *p, uint64_t bytes) {
  return p->wide ? bytes / p->wide_size * p->narrow_size : bytes;
}

// Small pools have no room to be staggered, or for a page that nobody may touch.
static int is_small(struct dynamic_pool *p) { return p->reach < 1 << 20; }

// The name of the first object.
static uint64_t first_name(struct dynamic_pool *p) {
  uint64_t stagger = is_small(p) ? 1 : PAGE + 64 + (p->number * UINT64_C(192)) % 4096;
  return (stagger + p->narrow_size - 1) / p->narrow_size * p->narrow_size;
}

// So many bytes more for the pool as it is; false if there are none.
static int more(struct dynamic_pool *p, uint64_t bytes) {
  if (p->wide) {
    void *at = mremap((void *)p->wide, p->mapped, p->mapped + bytes, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) return 0;
    p->wide = (uint64_t)at;
  } else {
    void *wanted = (void *)(p->base + p->mapped);
    void *at = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != wanted) {
      if (at != MAP_FAILED) munmap(at, bytes);
      return 0;
    }
    // who follows a null index is told; where it can't be so, nobody is
    if (p->mapped == 0 && !is_small(p)) mprotect(at, PAGE, PROT_NONE);
  }
  p->mapped += bytes;
  p->room = names_in(p, p->mapped);
  return 1;
}

// Memory for names up to this one, and for some more if there is; false if there is none.
static int grow(struct dynamic_pool *p, uint64_t name) {
  uint64_t wanted = p->wide ? (name / p->narrow_size + 1) * p->wide_size : name;
  uint64_t least = pages(wanted - p->mapped), step = pages(p->mapped / 8);
  if (step < STEP) step = STEP;
  if (!p->wide && step > narrow_most - p->mapped) step = narrow_most - p->mapped;
  for (; step > least; step = pages(step / 2))
    if (more(p, step)) return 1;
  return more(p, least);
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

// Makes the objects of a pool wide; false if there is no memory for that. What has been copied is given back on the
// way, so that little is there twice.
static int expand(struct dynamic_pool *p) {
  enum { CHUNK = 1 << 20 };
  int empty = p->mapped == 0;
  if (empty) p->top = p->narrow_size;
  uint64_t bytes = pages((p->top / p->narrow_size + 2) * p->wide_size);
  unsigned char *dead = calloc(p->top / p->narrow_size / 8 + 1, 1);
  if (!dead) return 0;
  void *at = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    free(dead);
    return 0;
  }
  uint64_t wide = (uint64_t)at;
  for (uint64_t name = p->free; name;) {
    uint64_t number = name / p->narrow_size, next = *(uint32_t *)(p->base + name);
    dead[number / 8] |= 1 << number % 8;
    memcpy(wide_place(p, wide, name), &next, sizeof next);
    name = next;
  }
  uint64_t kept = 0;
  for (uint64_t name = first_name(p); name < p->top; name += p->narrow_size) {
    uint64_t number = name / p->narrow_size;
    if (!(dead[number / 8] >> number % 8 & 1)) widen(p, wide_place(p, wide, name), (char *)p->base + name);
    if (name - kept >= 2 * CHUNK) {
      madvise((void *)(p->base + kept), CHUNK, MADV_DONTNEED);
      kept += CHUNK;
    }
  }
  free(dead);
  p->wide = wide;
  // Nobody may read there any more.
  if (!empty) munmap((void *)p->base, p->mapped);
  p->mapped = bytes;
  p->room = names_in(p, bytes);
  return 1;
}

// Names that can be given out before something has to be done.
static void set_limit(struct dynamic_pool *p) {
  uint64_t limit = p->room;
  if (!p->outgrown && p->reach < limit) limit = p->reach;
  if (!p->wide && narrow_most < limit) limit = narrow_most;
  p->limit = limit;
}

// The name of a new object, where none is at hand; null if there is no memory.
SLOW uint64_t cairn_dynamic_extend(struct dynamic_pool *p) {
  if (!p->mapped) p->top = first_name(p);
  for (;;) {
    set_limit(p);
    uint64_t end = p->top + p->narrow_size;
    if (end <= p->limit) break;
    int done = 1;
    if (!p->outgrown && end > p->reach) {
      for (uint32_t i = 0; i < p->source_count && done; i++) {
        if (p->sources[i]->wide) continue;
        done = expand(p->sources[i]);
        set_limit(p->sources[i]);
      }
      p->outgrown = done;
    } else if (!p->wide && end > narrow_most) {
      done = expand(p);
    } else {
      done = grow(p, end);
    }
    if (!done) {
      errno = ENOMEM;
      return 0;
    }
  }
  uint64_t name = p->top;
  p->top = name + p->narrow_size;
  p->live++;
  return name;
}

// All objects of a pool are free: it begins anew, and memory beyond a little is given back.
SLOW void cairn_dynamic_empty(struct dynamic_pool *p) {
  if (p->mapped <= KEPT) return;
  if (p->wide) {
    if (mremap((void *)p->wide, p->mapped, KEPT, 0) == MAP_FAILED) return;
  } else {
    munmap((void *)(p->base + KEPT), p->mapped - KEPT);
  }
  p->mapped = KEPT;
  p->room = names_in(p, p->mapped);
  p->free = 0;
  p->top = first_name(p);
  set_limit(p);
}

SLOW uint64_t cairn_dynamic_reuse_wide(struct dynamic_pool *p) {
  uint64_t name = p->free;
  memcpy(&p->free, wide_place(p, p->wide, name), sizeof p->free);
  p->live++;
  return name;
}

SLOW void cairn_dynamic_free_wide(struct dynamic_pool *p, uint64_t name) {
  memcpy(wide_place(p, p->wide, name), &p->free, sizeof p->free);
  p->free = name;
  if (--p->live == 0) cairn_dynamic_empty(p);
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
    p->live++;
    return (void *)name;
  }
  name = p->top;
  if (UNLIKELY(name + size > p->limit)) return (void *)cairn_dynamic_extend(p);
  p->top = name + size;
  p->live++;
  return (void *)name;
}

INLINE void *cairn_dynamic_zeroed(struct dynamic_pool *p, uint64_t base, uint64_t size) {
  uint64_t name = (uint64_t)cairn_dynamic_one(p, base, size);
  if (UNLIKELY(name == 0)) return 0;
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
  if (UNLIKELY(--p->live == 0)) cairn_dynamic_empty(p);
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
    fprintf(stderr, "cairn: %llu is the name of no object of the pool of %s\n", (unsigned long long)name, p->name);
    abort();
  }
}
