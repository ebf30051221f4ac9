/* One interface, two collectors: cairn_heap, or libgc with -DLIBGC. Programs declare structures whose first member is
 * OBJECT_HEADER, and lay them out by LAYOUT; they keep references on the native stack, which both collectors scan, or,
 * with -DPRECISE, cairn_heap is told of the roots by FRAME. */
#ifndef COLLECTOR_H
#define COLLECTOR_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline size_t heap_limit(void) {
    const char *text = getenv("HEAP_MB");
    return text ? (size_t)(atof(text) * 1048576) : 0;
}

#ifdef LIBGC
#ifdef THREADS
#define GC_THREADS
#endif
#include <gc/gc.h>
#define OBJECT_HEADER char unused_[0]
typedef int collector;
typedef int layout;
#define COLLECTOR_NAME "libgc"
static inline void collector_init(collector *c) {
    (void)c;
    GC_INIT();
    if (heap_limit())
        GC_set_max_heap_size(heap_limit());
}
static inline void collector_end(collector *c) { (void)c; }
#define LAYOUT(c, type, references) ((void)(c), 0)
#define NEW(c, layout, type) ((void)(c), (void)(layout), (type *)GC_MALLOC(sizeof(type)))
#define NEW_ATOMIC(c, bytes) GC_MALLOC_ATOMIC(bytes)
#define NEW_POINTERS(c, layout, n) ((void)(layout), (void **)GC_MALLOC((n) * sizeof(void *)))
#define POINTERS(array) ((void **)(array))
#define BYTES(object) ((void *)(object))
#define SET(c, place, reference) (*(place) = (reference))
#define FRAME(c, ...)
#define ROOT(v)
#define LEAVE(c)
#else
#include <cairn_heap.h>
#define OBJECT_HEADER cairn_header header_
typedef cairn_heap *collector;
typedef cairn_layout layout;
#ifdef PRECISE
#define COLLECTOR_NAME "cairn, precise roots"
#define FRAME(c, ...) CAIRN_FRAME(*(c), __VA_ARGS__)
#define ROOT(v) CAIRN_ROOT(v)
#define LEAVE(c) CAIRN_LEAVE(*(c))
#define collector_stack(c)
#else
#define COLLECTOR_NAME "cairn"
#define FRAME(c, ...)
#define ROOT(v)
#define LEAVE(c)
#define collector_stack(c) cairn_scan_stack(*(c), __builtin_frame_address(0))
#endif
static inline __attribute__((always_inline)) void collector_init(collector *c) {
    cairn_options options;
    char message[200];
    cairn_options_init(&options);
    options.heap_max = heap_limit();
    options.collector = getenv("COLLECTOR");
    *c = cairn_heap_new(&options, message, sizeof message);
    if (!*c) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    collector_stack(c);
}
static inline void collector_end(collector *c) {
    if (getenv("COUNTERS")) {
        cairn_counters n;
        cairn_count_up(*c, &n);
        fprintf(stderr, "peak %.1f MB, %lu minor, %lu major collections, %.3f s, longest %.2f ms\n",
                (double)n.peak / 1048576, (unsigned long)n.minor, (unsigned long)n.major, (double)n.pause_ns * 1e-9,
                (double)n.longest_pause_ns * 1e-6);
    }
    cairn_heap_free(*c);
}
static inline void *had(collector c, void *object) {
    if (!object) {
        fprintf(stderr, "%s\n", cairn_error(c));
        exit(1);
    }
    return object;
}
#define LAYOUT(c, type, references) cairn_define(*(c), sizeof(type) / 8 - 1, (references))
#define NEW(c, layout, type) ((type *)had(*(c), CAIRN_NEW(*(c), (layout), type)))
#define NEW_ATOMIC(c, bytes) had(*(c), cairn_new_atomic(*(c), (bytes)))
#define NEW_POINTERS(c, layout, n) ((void **)had(*(c), cairn_new(*(c), (layout), (n))))
#define POINTERS(array) ((void **)cairn_bytes(array))
#define BYTES(object) cairn_bytes(object)
#define SET(c, place, reference) cairn_set(*(c), (place), (reference))
#endif
#endif
