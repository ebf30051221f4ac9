// The pools of a program that `cairn cc` has compiled; linked with it as bitcode, so that allocation is inlined.
//
// The problem: an index of 32 bits must tell an object of a pool, and turning one into the other must cost next to
// nothing. So a pool is a range of addresses that begins at a multiple of 2^32: the lower half of an address is the
// index, the upper half is the same for all of the pool. Index 0 is nobody's: it is null. Memory is asked of the system
// as it is needed, and given back when the pool is empty; when there is none, the program gets null, as from malloc.
//
// A pool that no indices point to is never full: what has no place in it comes from malloc.
//
// Pools of objects of one size have no headers; what is free holds the index of the next that is. Others have eight bytes
// before each object, which tell its block's size, and a free list for each size class.
//
// Compiled with -fno-strict-aliasing: objects and free lists share memory. With CAIRN_THREADS, a pool is locked.

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CLASSES = 248, SLACK = 64, PAGE = 4096, STEP = 1 << 15, KEPT = 1 << 22 };

// The compiler makes these, too: `crates/cairn-ptrcomp/src/rewrite`.
struct pool {
  uint64_t base;        // the first address; never changes
  uint64_t top;         // offset of what was never used
  uint64_t limit;       // offset of the end of what can be used; 0 if nothing was asked for yet
  uint64_t mapped;      // bytes of memory that the pool has
  uint64_t reach;       // bytes that the indices of the pool can tell apart; more than 2^32 if there are none
  uint64_t live;        // objects that are not free
  const char *name;     // for messages
  struct pool *next;    // in the list of pools that were used
  uint32_t number;      // staggers the start
  uint32_t lock;
  uint32_t listed;
  uint32_t free;        // objects of one size
  uint32_t classes[CLASSES];
};

#define API __attribute__((visibility("hidden")))
#define INLINE API __attribute__((always_inline))
#define SLOW API __attribute__((noinline, cold))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef CAIRN_THREADS
#include <pthread.h>

static void lock(uint32_t *word) {
  while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
    for (int turns = 0; __atomic_load_n(word, __ATOMIC_RELAXED); turns++)
      if (turns < 100) __builtin_ia32_pause();
      else sched_yield();
}
static void unlock(uint32_t *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

// A process that is forked finds every pool as it is between two calls.
static struct pool *used;
static uint32_t used_lock;

static void before_fork(void) {
  lock(&used_lock);
  for (struct pool *p = used; p; p = p->next) lock(&p->lock);
}
static void after_fork(void) {
  for (struct pool *p = used; p; p = p->next) unlock(&p->lock);
  unlock(&used_lock);
}
static void __attribute__((constructor)) watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

// Pools of functions are not listed: they end with calls. Whoever forks locks this lock first, so it is not waited for
// by one who holds a pool's.
static void enter(struct pool *p) {
  lock(&p->lock);
  if (UNLIKELY(!p->listed)) {
    unlock(&p->lock);
    lock(&used_lock);
    if (!p->listed) {
      p->next = used;
      used = p;
      p->listed = 1;
    }
    unlock(&used_lock);
    lock(&p->lock);
  }
}
static void leave(struct pool *p) { unlock(&p->lock); }
#else
static inline void lock(uint32_t *word) { (void)word; }
static inline void unlock(uint32_t *word) { (void)word; }
static inline void enter(struct pool *p) { (void)p; }
static inline void leave(struct pool *p) { (void)p; }
#endif

enum { REGIONS = 64 };
// Of pools that were closed: those of large pools, whose first page is not mapped, and of small ones.
static struct { uint64_t base, mapped; } idle[2][REGIONS];
static uint32_t idle_count[2], idle_lock, opened;
static uint64_t next_base = UINT64_C(0x200000000000);   // pools of functions; the program's own are below
static const uint64_t last_base = UINT64_C(0x2a0000000000);

// Ends the program: what it has written comes first.
static void __attribute__((noreturn, cold)) fail(struct pool *p, const char *what) {
  fflush(NULL);
  fprintf(stderr, "cairn: the pool of %s %s (%llu bytes in use)\n", p->name, what, (unsigned long long)p->top);
  abort();
}

static int has_indices(struct pool *p) { return p->reach <= UINT64_C(1) << 32; }

// Bytes that a pool can have.
static uint64_t most(struct pool *p) { return has_indices(p) ? p->reach : UINT64_C(1) << 32; }

static void set_limit(struct pool *p) {
  uint64_t limit = p->mapped < most(p) ? p->mapped : most(p);
  // The last block of an array pool reaches a little over its end.
  p->limit = limit > SLACK ? limit - SLACK : 0;
}

// Small pools have no room to be staggered, or for a page that nobody may touch.
static int is_small(struct pool *p) { return p->reach < 1 << 20; }

// Where objects begin: behind a page that is never mapped, so that who follows a null pointer is told.
static void start(struct pool *p) {
  if (is_small(p)) {
    p->top = 16;
  } else {
    p->top = PAGE + 64 + (p->number * UINT64_C(192)) % 4096;
    if (p->mapped < PAGE) p->mapped = PAGE;
  }
}

static uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1); }

static int more(struct pool *p, uint64_t bytes) {
  void *wanted = (void *)(p->base + p->mapped);
  void *at = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != wanted) {
    if (at != MAP_FAILED) munmap(at, bytes);
    return 0;
  }
  p->mapped += bytes;
  return 1;
}

// Memory up to this offset, and some more if there is; false if there is none.
static int grow(struct pool *p, uint64_t end) {
  if (end + SLACK <= p->mapped) return 1;
  uint64_t least = pages(end + SLACK - p->mapped), step = pages(p->mapped / 8);
  uint64_t rest = (UINT64_C(1) << 32) - p->mapped;
  if (step < STEP) step = STEP;
  if (step > rest) step = rest;
  for (; step > least; step = pages(step / 2))
    if (more(p, step)) return 1;
  return more(p, least);
}

// A pool whose indices can't tell one more object apart ends the program, unless malloc would fail, too.
static void full(struct pool *p, uint64_t bytes) {
  void *volatile other = malloc(bytes);
  if (!other) return;
  free(other);
  fail(p, p->reach >> 32 ? "is full: compile with --ptrcomp=dynamic or --ptrcomp=off"
                         : "is full: compile with a larger --pool-bits, or with --ptrcomp=dynamic");
}

// The offset of so many bytes that were never used; 0 if there are none.
SLOW uint64_t cairn_pool_extend(struct pool *p, uint64_t bytes) {
  if (p->limit == 0) start(p);
  if (bytes > most(p) || p->top + bytes > most(p) - SLACK) {
    if (has_indices(p)) full(p, bytes);
    return 0;
  }
  int done = grow(p, p->top + bytes);
  set_limit(p);
  if (!done) {
    errno = ENOMEM;
    return 0;
  }
  uint64_t at = p->top;
  p->top += bytes;
  return at;
}

// All objects of a pool are free: it begins anew, and memory beyond a little is given back.
SLOW void cairn_pool_empty(struct pool *p) {
  if (p->mapped <= KEPT) return;
  munmap((void *)(p->base + KEPT), p->mapped - KEPT);
  p->mapped = KEPT;
  p->free = 0;
  memset(p->classes, 0, sizeof p->classes);
  start(p);
  set_limit(p);
}

// A pool for one call of a function. Its base is returned.
API uint64_t cairn_pool_open(struct pool *p, const char *name, uint64_t reach) {
  memset(p, 0, sizeof *p);
  p->name = name;
  p->reach = reach;
  p->listed = 1;
  lock(&idle_lock);
  p->number = opened++;
  int kind = is_small(p);
  if (idle_count[kind]) {
    uint32_t last = --idle_count[kind];
    p->base = idle[kind][last].base;
    p->mapped = idle[kind][last].mapped;
  } else if (next_base < last_base) {
    p->base = next_base;
    next_base += UINT64_C(1) << 32;
  } else {
    fail(p, "finds no addresses");
  }
  unlock(&idle_lock);
  if (p->mapped) {
    start(p);
    set_limit(p);
  }
  return p->base;
}

API void cairn_pool_close(struct pool *p) {
  enum { IDLE = 1 << 16 };
  if (p->mapped > IDLE) {
    munmap((void *)(p->base + IDLE), p->mapped - IDLE);
    p->mapped = IDLE;
  }
  lock(&idle_lock);
  int kind = is_small(p);
  if (idle_count[kind] < REGIONS) {
    uint32_t next = idle_count[kind]++;
    idle[kind][next].base = p->base;
    idle[kind][next].mapped = p->mapped;
    p = 0;
  }
  unlock(&idle_lock);
  if (p && p->mapped) munmap((void *)p->base, p->mapped);
}

// Objects that no indices point to, where their pool has no place for them.
SLOW void *cairn_pool_elsewhere(struct pool *p, uint64_t bytes) { return has_indices(p) ? 0 : malloc(bytes); }

static inline int is_elsewhere(struct pool *p, void *object) { return ((uint64_t)object ^ p->base) >> 32 != 0; }

// One object of a pool where all are of this size, a multiple of four.
INLINE void *cairn_pool_one(struct pool *p, uint64_t base, uint64_t size) {
  enter(p);
  uint64_t at = p->free;
  if (at) {
    p->free = *(uint32_t *)(base | at);
  } else {
    at = p->top;
    if (UNLIKELY(at + size > p->limit)) {
      at = cairn_pool_extend(p, size);
      if (UNLIKELY(!at)) {
        leave(p);
        return cairn_pool_elsewhere(p, size);
      }
    } else {
      p->top = at + size;
    }
  }
  p->live++;
  leave(p);
  return (void *)(base | at);
}

INLINE void cairn_pool_free_one(struct pool *p, void *object) {
  if ((uint32_t)(uintptr_t)object == 0) return;
  if (UNLIKELY(is_elsewhere(p, object))) {
    free(object);
    return;
  }
  enter(p);
  *(uint32_t *)object = p->free;
  p->free = (uint32_t)(uintptr_t)object;
  if (UNLIKELY(--p->live == 0)) cairn_pool_empty(p);
  leave(p);
}

// All are of one size, so an object is large enough.
INLINE void *cairn_pool_resize_one(struct pool *p, uint64_t base, void *object, uint64_t size) {
  return (uint32_t)(uintptr_t)object ? object : cairn_pool_one(p, base, size);
}

// Zeros, if there is an object.
INLINE void cairn_pool_clear(void *object, uint64_t bytes) {
  if ((uint32_t)(uintptr_t)object) memset(object, 0, bytes);
}

// Blocks of multiples of 16 bytes, header included: each size to 1024, then eight for each power of two.
static uint32_t class_of(uint64_t *block) {
  uint64_t b = (*block + 15) & ~UINT64_C(15);
  if (b < 32) b = 32;
  if (b <= 1024) {
    *block = b;
    return (uint32_t)(b >> 4);
  }
  unsigned high = 63 - __builtin_clzll(b - 1);  // 2^high < b <= 2^(high+1)
  uint64_t step = UINT64_C(1) << (high - 3);
  b = (b + step - 1) & ~(step - 1);
  *block = b;
  return 64 + (high - 10) * 8 + (uint32_t)((b - (UINT64_C(1) << high)) / step);
}

API __attribute__((malloc)) void *cairn_pool_array(struct pool *p, uint64_t bytes) {
  // Nothing has so many: malloc(-1), or a product of calloc's that is no number.
  enum { ADDRESSES = 47 };
  if (UNLIKELY(bytes >> ADDRESSES)) {
    errno = ENOMEM;
    return 0;
  }
  uint64_t block = bytes + 8, at;
  enter(p);
  if (UNLIKELY(bytes > UINT64_C(0xfffffff0))) {
    at = cairn_pool_extend(p, bytes);
  } else {
    uint32_t class = class_of(&block);
    at = p->classes[class];
    if (at) {
      p->classes[class] = *(uint32_t *)(p->base | at);
    } else {
      at = p->top;
      if (UNLIKELY(at + block > p->limit || p->limit == 0)) at = cairn_pool_extend(p, block);
      else p->top = at + block;
      if (at) at += 16;  // the header is the eight bytes before, the first block's are free
    }
  }
  if (UNLIKELY(!at)) {
    leave(p);
    return cairn_pool_elsewhere(p, bytes);
  }
  p->live++;
  leave(p);
  at |= p->base;
  *(uint64_t *)(at - 8) = block;
  return (void *)at;
}

API void cairn_pool_free_array(struct pool *p, void *object) {
  enum { LARGE = 1 << 18 };
  uint64_t at = (uint64_t)object;
  if ((uint32_t)at == 0) return;
  if (UNLIKELY(is_elsewhere(p, object))) {
    free(object);
    return;
  }
  uint64_t block = *(uint64_t *)(at - 8);
  uint32_t class = class_of(&block);
  if (block >= LARGE) {
    uint64_t first = (at + PAGE) & ~(uint64_t)(PAGE - 1), last = (at + block - 16) & ~(uint64_t)(PAGE - 1);
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
  }
  enter(p);
  *(uint32_t *)at = p->classes[class];
  p->classes[class] = (uint32_t)at;
  if (UNLIKELY(--p->live == 0)) cairn_pool_empty(p);
  leave(p);
}

API __attribute__((malloc)) void *cairn_pool_resize(struct pool *p, void *object, uint64_t bytes) {
  uint64_t at = (uint64_t)object;
  if ((uint32_t)at == 0) return cairn_pool_array(p, bytes);
  if (bytes == 0) {
    cairn_pool_free_array(p, object);
    return 0;
  }
  if (UNLIKELY(is_elsewhere(p, object))) return realloc(object, bytes);
  uint64_t block = *(uint64_t *)(at - 8), wanted = bytes + 8;
  if (bytes <= UINT64_C(0xfffffff0)) {
    class_of(&wanted);
    if (wanted == block) return object;
  }
  void *to = cairn_pool_array(p, bytes);
  if (!to) return 0;
  memcpy(to, object, (bytes < block - 8 ? bytes : block - 8));
  cairn_pool_free_array(p, object);
  return to;
}

// With --check-indices: what was read or is to be stored must be of this pool, at a multiple of what indices count by.
API void cairn_pool_check(struct pool *p, uint64_t at, uint64_t unit) {
  // A pointer to the end of an array may be a header's size beyond what was given out.
  if ((at > p->top + 8 && at != 0) || at % unit != 0) {
    fflush(NULL);
    fprintf(stderr, "cairn: offset %llu is not of the pool of %s\n", (unsigned long long)at, p->name);
    abort();
  }
}
