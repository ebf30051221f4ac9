/* cairn_heap.h: a garbage-collected heap as a library.
 *
 * OBJECTS. Every object begins with a word of the heap's, the header; a reference is the address of that word. So a
 * managed structure is declared with cairn_header as its first member:
 *
 *     struct node { cairn_header header; struct node *left, *right; long key; };
 *     cairn_layout node = cairn_define(heap, 3, CAIRN_BIT(0) | CAIRN_BIT(1));   // three words, of which two refer
 *     struct node *n = CAIRN_NEW(heap, node, struct node);
 *
 * typed      words of which a layout says which refer to objects; may move in a collection
 * untyped    words of which any may refer to an object, to the middle of one, too; never moves
 * atomic     words that refer to nothing (text, numbers); may move
 *
 * Objects are cleared when they are made. Null pointers, pointers out of the heap, and words that are no multiple of 8
 * (small integers with a tag in the lowest three bits) may stand wherever references may.
 *
 * COLLECTIONS happen in functions that are marked [collects], and nowhere else. What lives then must be known to the
 * heap, in one of three ways, which may be mixed:
 *
 * 1. precise roots: variables whose addresses it knows (CAIRN_FRAME for local ones, cairn_add_root for others); when an
 *    object moves, they are updated;
 * 2. ambiguous roots: cairn_scan_stack makes the whole native stack one: nothing need be declared, whatever seems to
 *    refer to an object pins it;
 * 3. pins (cairn_pin): the object lives and stays in place until it is unpinned.
 *
 * STORES of references into objects go through cairn_set, which tells the heap of them; other stores need nothing.
 *
 * THREADS. A heap is used by one thread at a time. Different heaps know nothing of each other, may be used by different
 * threads at the same time, and must not refer to each other's objects. Nothing here is global.
 *
 * ERRORS. Functions that make something return NULL (cairn_define: CAIRN_NO_LAYOUT) when they cannot; cairn_error tells
 * why, in English. No function ends the process.
 */
#ifndef CAIRN_HEAP_H
#define CAIRN_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t cairn_header;
typedef uint32_t cairn_layout;
typedef struct cairn_weak cairn_weak;
struct cairn_frame;

#define CAIRN_NO_LAYOUT ((cairn_layout)-1)
#define CAIRN_BIT(word) (UINT64_C(1) << (word))

/* A heap. The first members are for the inline functions below; hands off. */
typedef struct cairn_heap {
    uint64_t lo, hi;            /* free memory: objects are taken from hi downward */
    unsigned char *cards;       /* which stores the heap has to look at */
    uint64_t card_mask;
    uint64_t young;             /* where what the next collection moves or frees may begin */
    struct cairn_frame *frames; /* precise roots of the functions under way */
} cairn_heap;

/* Constants of this version; the library's tests compare them with the library. */
#define CAIRN_RESERVE 4096
#define CAIRN_LARGE 8192
#define CAIRN_CARD_SHIFT 9
#define CAIRN_LAYOUT_SHIFT 4
#define CAIRN_COUNT_SHIFT 24

/* --- A heap ------------------------------------------------------------------------------------------------------ */

typedef struct cairn_options {
    size_t size;           /* of this structure: set by cairn_options_init */
    const char *collector; /* "gen", "mcc" or "marksweep"; NULL: "gen" */
    size_t heap_max;       /* bytes it may hold; 0: half of the machine's memory, or less where a program has thousands
                              of heaps, or a limit for addresses (ulimit -v) */
    size_t nursery;        /* bytes between minor collections; 0: the default */
    int zeal;              /* for tests: 1 collects in every function that may, whatever the collector, fills what was
                              freed with a pattern, and checks the heap around collections */
} cairn_options;

void cairn_options_init(cairn_options *);

/* A heap; NULL options are the default ones. On failure NULL, and a message in the buffer, if there is one. */
cairn_heap *cairn_heap_new(const cairn_options *, char *message, size_t message_size);

/* Frees the heap and all that is in it. Finalizers do not run. */
void cairn_heap_free(cairn_heap *);

/* Why the last function that could not do its work could not; "" when there was none. Valid until the next one. */
const char *cairn_error(const cairn_heap *);

/* --- Objects ----------------------------------------------------------------------------------------------------- */

/* A layout of 1 to 64 words; bit i of `references` says that word i, counted after the header, refers to an object. */
cairn_layout cairn_define(cairn_heap *, unsigned words, uint64_t references);

/* [collects] What the functions below do when memory is short or the object large. */
void *cairn_new_slow(cairn_heap *, cairn_layout, size_t count);

/* [collects] At least so many bytes after the header, any word of which may be a reference. */
void *cairn_new_untyped(cairn_heap *, size_t bytes);

/* [collects] At least so many bytes after the header, none of them a reference. */
void *cairn_new_atomic(cairn_heap *, size_t bytes);

/* [collects] An object of `count` elements of a layout, of which the caller knows that it has `words` words. */
static inline void *cairn_new_of(cairn_heap *heap, cairn_layout layout, size_t words, size_t count) {
    uint64_t bytes = 8 + 8 * (uint64_t)words * count;
    if (count == 0 || count > CAIRN_LARGE || bytes > CAIRN_LARGE || heap->hi - heap->lo < bytes + CAIRN_RESERVE)
        return cairn_new_slow(heap, layout, count);
    heap->hi -= bytes;
    uint64_t *object = (uint64_t *)heap->hi;
    object[0] = (uint64_t)count << CAIRN_COUNT_SHIFT | (uint64_t)layout << CAIRN_LAYOUT_SHIFT | 1;
    memset(object + 1, 0, bytes - 8);
    return object;
}

/* [collects] An object of `count` elements of this layout. */
static inline void *cairn_new(cairn_heap *heap, cairn_layout layout, size_t count) {
    return cairn_new_slow(heap, layout, count);
}

/* [collects] An object of a layout that has as many words as the structure `type` after its header. */
#define CAIRN_NEW(heap, layout, type) ((type *)cairn_new_of((heap), (layout), sizeof(type) / 8 - 1, 1))

/* What follows the header of an untyped or atomic object. */
static inline void *cairn_bytes(void *object) { return (char *)object + 8; }

/* Elements of a typed object; words of another. */
static inline size_t cairn_count(const void *object) {
    return (size_t)(*(const uint64_t *)object >> CAIRN_COUNT_SHIFT);
}

/* Stores a reference into a member of an object: cairn_set(heap, &node->left, other). */
static inline void cairn_set(cairn_heap *heap, void *member, void *reference) {
    *(void **)member = reference;
    if ((uint64_t)(uintptr_t)reference >= heap->young)
        heap->cards[(uint64_t)(uintptr_t)member >> CAIRN_CARD_SHIFT & heap->card_mask] |=
            (unsigned char)(1 << ((uint64_t)(uintptr_t)member >> (CAIRN_CARD_SHIFT - 3) & 7));
}

/* --- Roots ------------------------------------------------------------------------------------------------------- */

typedef struct cairn_frame {
    struct cairn_frame *up;
    size_t count;
    void ***variables;
} cairn_frame;

/* Makes local pointer variables roots, until CAIRN_LEAVE; they must be initialised before. Frames nest. At most one in
 * a block. */
#define CAIRN_FRAME(heap, ...)                                                                                         \
    void **cairn_variables_[] = {__VA_ARGS__};                                                                         \
    cairn_frame cairn_frame_ = {(heap)->frames, sizeof cairn_variables_ / sizeof *cairn_variables_, cairn_variables_}; \
    (heap)->frames = &cairn_frame_
#define CAIRN_ROOT(variable) ((void **)&(variable))
#define CAIRN_LEAVE(heap) ((heap)->frames = (heap)->frames->up)

/* Makes `count` pointers from `first` on roots, until cairn_remove_root with the same first. */
void cairn_add_root(cairn_heap *, void *first, size_t count);
void cairn_remove_root(cairn_heap *, void *first);

/* Makes the native stack of this thread, and its registers, ambiguous roots, from the caller's frame on:
 * cairn_scan_stack(heap, __builtin_frame_address(0)). NULL ends it. */
void cairn_scan_stack(cairn_heap *, void *base);

/* Makes `count` words from `first` on ambiguous roots, until cairn_remove_ambiguous. */
void cairn_add_ambiguous(cairn_heap *, const void *first, size_t count);
void cairn_remove_ambiguous(cairn_heap *, const void *first);

/* The object lives and does not move until it was unpinned as often as it was pinned. */
void cairn_pin(cairn_heap *, void *object);
void cairn_unpin(cairn_heap *, void *object);

/* --- Weak references and finalizers ------------------------------------------------------------------------------ */

/* A reference that keeps nothing alive. */
cairn_weak *cairn_weak_new(cairn_heap *, void *object);
/* The object, or NULL once it has died. (One that waits for its finalizer has not died yet.) */
void *cairn_weak_get(const cairn_weak *);
void cairn_weak_free(cairn_heap *, cairn_weak *);

/* When nothing else refers to the object any more, it is kept once more, and the next cairn_run_finalizers calls
 * `finalizer(heap, object, data)`, which may do whatever a program may: allocate, keep the object, give it a finalizer
 * again. Several finalizers of one object run in the order in which they were added. */
typedef void cairn_finalizer(cairn_heap *, void *object, void *data);
void cairn_add_finalizer(cairn_heap *, void *object, cairn_finalizer *, void *data);
/* How many wait. */
size_t cairn_finalizers_ready(const cairn_heap *);
/* [collects] Runs those that wait; returns how many ran. */
size_t cairn_run_finalizers(cairn_heap *);

/* --- Collections ------------------------------------------------------------------------------------------------- */

/* [collects] Young objects only, or everything. 0, or -1 when what lives is beyond the heap's maximum. */
int cairn_collect(cairn_heap *, int everything);

/* Called when `bytes` cannot be had within the maximum, a full collection included. It may drop references and ask to
 * try again by returning 1; after 0 the allocation returns NULL. It must not allocate in this heap. */
typedef int cairn_limit(cairn_heap *, size_t bytes, void *data);
void cairn_on_limit(cairn_heap *, cairn_limit *, void *data);

typedef struct cairn_event {
    uint64_t number;   /* counted from 1 */
    int everything;    /* a major collection */
    uint64_t before;   /* bytes held outside of the nursery */
    uint64_t after;
    uint64_t nursery;  /* bytes that were in the nursery */
    uint64_t copied;   /* bytes */
    uint64_t pause_ns;
} cairn_event;

/* Called at the end of each collection; must not call functions of this heap. NULL ends it. */
typedef void cairn_listener(cairn_heap *, const cairn_event *, void *data);
void cairn_on_collection(cairn_heap *, cairn_listener *, void *data);

typedef struct cairn_counters {
    uint64_t allocated, in_use, peak, heap_max; /* bytes */
    uint64_t minor, major;                      /* collections */
    uint64_t copied;                            /* bytes */
    uint64_t pinned;                            /* objects kept in place by ambiguous roots */
    uint64_t pause_ns, longest_pause_ns;
} cairn_counters;

void cairn_count_up(cairn_heap *, cairn_counters *);

/* Gives the pages of what is free back to the system; for a program that is about to wait. */
void cairn_release(cairn_heap *);

/* Walks everything reachable. 0, or -1 when something is wrong: cairn_error tells what. For debugging. */
int cairn_check(cairn_heap *);

#ifdef __cplusplus
}
#endif
#endif
