// The pools of a program that `cairn cc` has compiled; linked with it as bitcode, so that allocation is inlined.
//
// The problem: an index of 32 bits must tell an object of a pool, and turning one into the other must cost next to
// nothing. So a pool is a range of addresses that begins at a multiple of 2^32, reserved at once and backed by memory as
// it is touched: the lower half of an address is the index, the upper half is the same for all of the pool. Index 0 is
// nobody's: it is null.
//
// Pools of objects of one size have no headers; what is free holds the index of the next that is. Others have eight bytes
// before each object, which tell its block's size, and a free list for each size class.
//
// Compiled with -fno-strict-aliasing: objects and free lists share memory. With CAIRN_THREADS, a pool is locked.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CLASSES = 248, SLACK = 64 };

// The compiler makes these, too: `crates/cairn-ptrcomp/src/rewrite`.
struct pool {
  uint64_t base;        // the first address; never changes
  uint64_t top;         // offset of what was never used
  uint64_t limit;       // offset of the end; 0 if nothing is reserved yet
  uint64_t reserved;    // bytes of addresses that are the pool's, less SLACK
  uint64_t reach;       // bytes that the indices of the pool can tell apart
  const char *name;     // for messages
  uint32_t number;      // staggers the start
  uint32_t lock;
  uint32_t free;        // objects of one size
  uint32_t classes[CLASSES];
};

#define API __attribute__((visibility("hidden")))
#define INLINE API __attribute__((always_inline))
#define SLOW API __attribute__((noinline, cold))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef CAIRN_THREADS
static void lock(uint32_t *word) {
  while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(word, __ATOMIC_RELAXED)) __builtin_ia32_pause();
}
static void unlock(uint32_t *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }
#else
static inline void lock(uint32_t *word) { (void)word; }
static inline void unlock(uint32_t *word) { (void)word; }
#endif

enum { REGIONS = 64 };
static struct { uint64_t base, reserved; } idle[REGIONS];  // of pools that were closed
static uint32_t idle_count, idle_lock, opened;
static uint64_t next_base = UINT64_C(0x200000000000);   // pools of functions; the program's own are below

// Ends the program: what it has written comes first.
static void __attribute__((noreturn, cold)) fail(struct pool *p, const char *what) {
  fflush(NULL);
  fprintf(stderr, "cairn: the pool %s %s (%llu bytes in use)\n", p->name, what, (unsigned long long)p->top);
  abort();
}

// As much as there are addresses for, up to 2^32 bytes.
static uint64_t reserve(uint64_t base) {
  for (uint64_t size = UINT64_C(1) << 32; size >= UINT64_C(1) << 24; size >>= 1) {
    void *at = mmap((void *)base, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    // The last block of an array pool reaches a little over its end.
    if (at == (void *)base) return size - SLACK;
    if (at != MAP_FAILED) munmap(at, size);
  }
  return 0;
}

// Small pools are not staggered: they have no room for it.
static void start(struct pool *p) {
  p->limit = p->reserved < p->reach - SLACK ? p->reserved : p->reach - SLACK;
  p->top = p->reach < 1 << 20 ? 16 : 64 + (p->number * UINT64_C(192)) % 4096;
}

static void first_use(struct pool *p) {
  p->reserved = reserve(p->base);
  if (!p->reserved) fail(p, "finds no addresses");
  start(p);
}

static void __attribute__((noreturn, cold)) full(struct pool *p) {
  fail(p, p->reach >> 32 ? "is full: compile with --ptrcomp=dynamic or --ptrcomp=off"
                         : "is full: compile with a larger --pool-bits, or with --ptrcomp=dynamic");
}

SLOW uint64_t cairn_pool_extend(struct pool *p, uint64_t bytes) {
  if (p->limit == 0) first_use(p);
  if (bytes > p->limit || p->top + bytes > p->limit)
    full(p);
  uint64_t at = p->top;
  p->top += bytes;
  return p->base | at;
}

// A pool for one call of a function. Its base is returned.
API uint64_t cairn_pool_open(struct pool *p, const char *name, uint64_t reach) {
  memset(p, 0, sizeof *p);
  p->name = name;
  p->reach = reach;
  lock(&idle_lock);
  p->number = opened++;
  if (idle_count) {
    idle_count--;
    p->base = idle[idle_count].base;
    p->reserved = idle[idle_count].reserved;
  } else {
    do {
      p->base = next_base;
      next_base += UINT64_C(1) << 32;
      p->reserved = reserve(p->base);
    } while (!p->reserved && next_base < UINT64_C(0x400000000000));
    if (!p->reserved) fail(p, "finds no addresses");
  }
  unlock(&idle_lock);
  start(p);
  return p->base;
}

API void cairn_pool_close(struct pool *p) {
  enum { KEEP = 1 << 16 };
  if (p->top > KEEP) madvise((void *)(p->base + KEEP), p->top - KEEP, MADV_DONTNEED);
  lock(&idle_lock);
  if (idle_count < REGIONS) {
    idle[idle_count].base = p->base;
    idle[idle_count].reserved = p->reserved;
    idle_count++;
    p = 0;
  }
  unlock(&idle_lock);
  if (p) munmap((void *)p->base, p->reserved + SLACK);
}

// One object of a pool where all are of this size, a multiple of four.
INLINE void *cairn_pool_one(struct pool *p, uint64_t base, uint64_t size) {
  lock(&p->lock);
  uint64_t at = p->free;
  if (at) {
    at |= base;
    p->free = *(uint32_t *)at;
  } else {
    at = p->top;
    if (UNLIKELY(at + size > p->limit)) {
      at = cairn_pool_extend(p, size);
    } else {
      p->top = at + size;
      at |= base;
    }
  }
  unlock(&p->lock);
  return (void *)at;
}

INLINE void cairn_pool_free_one(struct pool *p, void *object) {
  if ((uint32_t)(uintptr_t)object == 0) return;
  lock(&p->lock);
  *(uint32_t *)object = p->free;
  p->free = (uint32_t)(uintptr_t)object;
  unlock(&p->lock);
}

// All are of one size, so an object is large enough.
INLINE void *cairn_pool_resize_one(struct pool *p, uint64_t base, void *object, uint64_t size) {
  return (uint32_t)(uintptr_t)object ? object : cairn_pool_one(p, base, size);
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

API void *cairn_pool_array(struct pool *p, uint64_t bytes) {
  uint64_t block = bytes + 8;
  if (UNLIKELY(bytes > UINT64_C(0xfffffff0))) {
    lock(&p->lock);
    if (p->limit == 0) first_use(p);
    fail(p, "is asked for more than it can hold");
  }
  uint32_t class = class_of(&block);
  lock(&p->lock);
  uint64_t at = p->classes[class];
  if (at) {
    at |= p->base;
    p->classes[class] = *(uint32_t *)at;
  } else {
    at = p->top;
    if (UNLIKELY(at + block > p->limit || p->limit == 0)) {
      at = cairn_pool_extend(p, block);
    } else {
      p->top = at + block;
      at |= p->base;
    }
    at += 16;  // the header is the eight bytes before, the first block's are free
  }
  unlock(&p->lock);
  *(uint64_t *)(at - 8) = block;
  return (void *)at;
}

API void cairn_pool_free_array(struct pool *p, void *object) {
  enum { LARGE = 1 << 18, PAGE = 4096 };
  uint64_t at = (uint64_t)object;
  if ((uint32_t)at == 0) return;
  uint64_t block = *(uint64_t *)(at - 8);
  uint32_t class = class_of(&block);
  if (block >= LARGE) {
    uint64_t first = (at + PAGE) & ~(uint64_t)(PAGE - 1), last = (at + block - 16) & ~(uint64_t)(PAGE - 1);
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
  }
  lock(&p->lock);
  *(uint32_t *)at = p->classes[class];
  p->classes[class] = (uint32_t)at;
  unlock(&p->lock);
}

API void *cairn_pool_resize(struct pool *p, void *object, uint64_t bytes) {
  uint64_t at = (uint64_t)object;
  if ((uint32_t)at == 0) return cairn_pool_array(p, bytes);
  uint64_t block = *(uint64_t *)(at - 8), wanted = bytes + 8;
  if (bytes <= UINT64_C(0xfffffff0)) {
    class_of(&wanted);
    if (wanted == block) return object;
  }
  void *to = cairn_pool_array(p, bytes);
  memcpy(to, object, (bytes < block - 8 ? bytes : block - 8));
  cairn_pool_free_array(p, object);
  return to;
}

// With --check-indices: what was read or is to be stored must be of this pool, at a multiple of what indices count by.
API void cairn_pool_check(struct pool *p, uint64_t at, uint64_t unit) {
  // A pointer to the end of an array may be a header's size beyond what was given out.
  if ((at > p->top + 8 && at != 0) || at % unit != 0) {
    fflush(NULL);
    fprintf(stderr, "cairn: offset %llu is not of the pool %s\n", (unsigned long long)at, p->name);
    abort();
  }
}
