/* Random calls of everything in cairn_heap.h, beside a model of what must come of it.
 *
 *   fuzz COLLECTOR plain|zeal SECONDS SEED
 *
 * Each round is a heap with other sizes, made from one seed, which is printed when something is wrong. Every object
 * bears a number, by which the model knows it: what it is, and what its references are. From time to time both graphs
 * are walked. Calls with senseless arguments are mixed in. Prints how many rounds and calls there were. */
#include "cairn_heap.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROOTS = 24, MAYBE = 6, PINS = 6, WEAKS = 12, OBJECTS = 4000, SLOTS = 24, LAYOUTS = 4, STEPS = 4000 };
enum kind { TYPED, UNTYPED, ATOMIC };

/* References of word 1 on; word 0 of the first element is the object's number. */
static const struct { unsigned words; uint64_t references; } shapes[LAYOUTS] = {
    {2, 2}, {3, 6}, {1, 0}, {7, 0x52}};

struct place {
    int object; /* -1: null */
    size_t offset;
};

struct model {
    enum kind kind;
    int shape;
    size_t count; /* elements or words */
    struct place slots[SLOTS];
    int finalizers;
};

static uint64_t seed, state, calls;
static cairn_heap *heap;
static cairn_layout layouts[LAYOUTS];
static struct model objects[OBJECTS];
static int known;
static void *root[ROOTS];
static int root_of[ROOTS];
static uintptr_t maybe[MAYBE];
static struct place maybe_of[MAYBE];
static struct { void *object; int of; } pins[PINS];
static struct { cairn_weak *weak; int of; } weaks[WEAKS];
static void *found[OBJECTS];

static uint64_t below(uint64_t n) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (state * UINT64_C(0x2545F4914F6CDD1D) >> 11) % n;
}

static void wrong(const char *what, int object) {
    printf("seed %llu, call %llu: %s (object %d); %s\n", (unsigned long long)seed, (unsigned long long)calls, what,
           object, cairn_error(heap));
    fflush(stdout);
    abort();
}

/* How many words can hold references, and where the i-th of them is. */
static size_t slot_count(const struct model *m) {
    size_t each = (size_t)__builtin_popcountll(shapes[m->shape].references);
    size_t n = m->kind == ATOMIC ? 0 : m->kind == UNTYPED ? m->count - 1 : m->count * each;
    return n < SLOTS ? n : SLOTS;
}

static void **slot(const struct model *m, void *object, size_t i) {
    void **words = cairn_bytes(object);
    if (m->kind == UNTYPED)
        return words + 1 + i;
    uint64_t bits = shapes[m->shape].references;
    size_t each = (size_t)__builtin_popcountll(bits);
    for (size_t skip = i % each; skip; skip--)
        bits &= bits - 1;
    return words + i / each * shapes[m->shape].words + __builtin_ctzll(bits);
}

/* A number that is no address, nor looks like a reference. */
static uint64_t name_of(int object) { return (uint64_t)object << 1 | UINT64_C(0xF1DE000000000001); }

static void visit(void *p, int object, size_t offset) {
    static struct { void *p; int object; } todo[OBJECTS + 1];
    int n = 0;
    for (;;) {
        void *start = (char *)p - offset;
        if (object < 0) {
            if (p)
                wrong("not null", object);
        } else if (found[object]) {
            if (found[object] != start)
                wrong("in two places", object);
        } else {
            const struct model *m = &objects[object];
            found[object] = start;
            if (*(uint64_t *)cairn_bytes(start) != name_of(object))
                wrong("another object's number", object);
            if (cairn_count(start) < m->count)
                wrong("shortened", object);
            todo[n].p = start, todo[n++].object = object;
        }
        /* The next slot of what waits; an object is taken off with its last. */
        for (;;) {
            if (n == 0)
                return;
            static size_t next[OBJECTS];
            const struct model *m = &objects[todo[n - 1].object];
            size_t i = next[todo[n - 1].object]++;
            if (i < slot_count(m)) {
                p = *slot(m, todo[n - 1].p, i);
                object = m->slots[i].object, offset = m->slots[i].offset;
                break;
            }
            next[todo[--n].object] = 0;
        }
    }
}

/* Walks both graphs. */
static void compare(void) {
    memset(found, 0, sizeof found);
    for (int i = 0; i < ROOTS; i++)
        visit(root[i], root_of[i], 0);
    for (int i = 0; i < MAYBE; i++)
        if (maybe_of[i].object >= 0)
            visit((void *)maybe[i], maybe_of[i].object, maybe_of[i].offset);
    for (int i = 0; i < PINS; i++)
        if (pins[i].object)
            visit(pins[i].object, pins[i].of, 0);
    for (int i = 0; i < WEAKS; i++) {
        void *p = weaks[i].weak ? cairn_weak_get(weaks[i].weak) : NULL;
        if (!weaks[i].weak)
            continue;
        if (found[weaks[i].of] ? p != found[weaks[i].of] : p && *(uint64_t *)cairn_bytes(p) != name_of(weaks[i].of))
            wrong("a weak reference is wrong", weaks[i].of);
    }
}

static void finalize(cairn_heap *h, void *object, void *data) {
    int of = (int)(intptr_t)data;
    if (h != heap || *(uint64_t *)cairn_bytes(object) != name_of(of))
        wrong("finalized as another", of);
    if (--objects[of].finalizers < 0)
        wrong("finalized once too often", of);
    compare();
    if (found[of])
        wrong("finalized alive", of);
    if (below(2))
        cairn_new_atomic(h, below(300));
}

/* Something reachable: -1 if there is nothing at this root. */
static int pick(void **p) {
    int i = (int)below(ROOTS), object = root_of[i];
    *p = root[i];
    for (uint64_t depth = below(5); depth && object >= 0; depth--) {
        const struct model *m = &objects[object];
        size_t n = slot_count(m);
        if (n == 0)
            break;
        size_t k = below(n);
        if (m->slots[k].object < 0)
            break;
        *p = (char *)*slot(m, *p, k) - m->slots[k].offset;
        object = m->slots[k].object;
    }
    return object;
}

static size_t bytes_of(const struct model *m) {
    return 8 + 8 * (m->kind == TYPED ? m->count * shapes[m->shape].words : m->count);
}

static void make(void) {
    if (known == OBJECTS)
        return;
    struct model *m = &objects[known];
    m->kind = (enum kind)below(3), m->shape = (int)below(LAYOUTS), m->finalizers = 0;
    m->count = 1 + (below(40) ? below(6) : below(3000));
    for (int i = 0; i < SLOTS; i++)
        m->slots[i].object = -1, m->slots[i].offset = 0;
    void *p = m->kind == UNTYPED  ? cairn_new_untyped(heap, 8 * m->count)
              : m->kind == ATOMIC ? cairn_new_atomic(heap, 8 * m->count)
              : m->count == 1     ? cairn_new_of(heap, layouts[m->shape], shapes[m->shape].words, 1)
                                  : cairn_new(heap, layouts[m->shape], m->count);
    if (!p)
        return; /* the heap is full */
    for (size_t i = 0; i < m->count; i++)
        if (((uint64_t *)cairn_bytes(p))[i])
            wrong("not cleared", known);
    *(uint64_t *)cairn_bytes(p) = name_of(known);
    int i = (int)below(ROOTS);
    root[i] = p, root_of[i] = known++;
}

static void store(void) {
    void *p, *q;
    int into = pick(&p);
    if (into < 0 || slot_count(&objects[into]) == 0)
        return;
    int what = below(6) ? pick(&q) : -1;
    struct model *m = &objects[into];
    size_t k = below(slot_count(m)), offset = 0;
    if (what >= 0 && m->kind == UNTYPED)
        offset = below(bytes_of(&objects[what]));
    cairn_set(heap, slot(m, p, k), what < 0 ? NULL : (char *)q + offset);
    m->slots[k].object = what, m->slots[k].offset = what < 0 ? 0 : offset;
}

static void suspect(void) {
    int i = (int)below(MAYBE);
    void *p;
    maybe[i] = below(2) ? (uintptr_t)root[below(ROOTS)] + below(1 << 18) - (1 << 17) : below(UINT64_MAX);
    maybe_of[i].object = -1;
    int object = pick(&p);
    if (object >= 0 && below(3)) {
        maybe_of[i].object = object, maybe_of[i].offset = below(bytes_of(&objects[object]));
        maybe[i] = (uintptr_t)p + maybe_of[i].offset;
    }
}

static void pin(void) {
    int i = (int)below(PINS);
    if (pins[i].object) {
        cairn_unpin(heap, pins[i].object);
        pins[i].object = NULL;
    } else if ((pins[i].of = pick(&pins[i].object)) >= 0)
        cairn_pin(heap, pins[i].object);
    else
        pins[i].object = NULL;
}

static void refer_weakly(void) {
    int i = (int)below(WEAKS);
    void *p;
    if (weaks[i].weak) {
        cairn_weak_free(heap, weaks[i].weak);
        weaks[i].weak = NULL;
    } else if ((weaks[i].of = pick(&p)) >= 0)
        weaks[i].weak = cairn_weak_new(heap, p);
}

static void guard(void) {
    void *p;
    int object = pick(&p);
    if (object >= 0 && objects[object].finalizers < 3) {
        objects[object].finalizers++;
        cairn_add_finalizer(heap, p, finalize, (void *)(intptr_t)object);
    }
}

static void senseless(void) {
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 8, (size_t)1 << 60, (size_t)1 << 40, SIZE_MAX - 7};
    size_t n = sizes[below(5)];
    if (cairn_new_atomic(heap, n) || cairn_new_untyped(heap, n) || cairn_new(heap, layouts[below(LAYOUTS)], n))
        wrong("an absurd size was granted", -1);
    if (cairn_new(heap, 77777, 1) || cairn_define(heap, 65 + (unsigned)below(1000), 0) != CAIRN_NO_LAYOUT ||
        cairn_define(heap, 3, CAIRN_BIT(3 + below(60))) != CAIRN_NO_LAYOUT ||
        cairn_define(heap, 0, 0) != CAIRN_NO_LAYOUT)
        wrong("an absurd layout was accepted", -1);
    if (!*cairn_error(heap))
        wrong("no reason given", -1);
    cairn_remove_root(heap, &n);
    cairn_remove_ambiguous(heap, &n);
}

static void step(void) {
    calls++;
    switch (below(40)) {
    case 0: cairn_collect(heap, below(3) == 0); break;
    case 1: refer_weakly(); break;
    case 2: guard(); break;
    case 3: cairn_run_finalizers(heap); break;
    case 4: pin(); break;
    case 5: case 6: suspect(); break;
    case 7: if (below(8) == 0) senseless(); break;
    case 8: if (below(16) == 0) cairn_release(heap); break;
    case 9: case 10: case 11: {
        int i = (int)below(ROOTS);
        root[i] = NULL, root_of[i] = -1;
        break;
    }
    default: if (below(2)) make(); else store();
    }
}

static void round_of(const char *collector, int zeal) {
    char message[200] = "";
    cairn_options options;
    cairn_options_init(&options);
    options.collector = collector;
    options.zeal = zeal;
    options.heap_max = (size_t)(8 + below(3) * 28) << 20;
    options.nursery = below(2) ? 64 << 10 : 0;
    if (!(heap = cairn_heap_new(&options, message, sizeof message)))
        printf("no heap: %s\n", message), exit(1);
    for (int i = 0; i < LAYOUTS; i++)
        layouts[i] = cairn_define(heap, shapes[i].words, shapes[i].references);
    known = 0;
    memset(root, 0, sizeof root), memset(root_of, -1, sizeof root_of), memset(maybe_of, -1, sizeof maybe_of);
    memset(maybe, 0, sizeof maybe), memset(pins, 0, sizeof pins), memset(weaks, 0, sizeof weaks);
    cairn_add_root(heap, root, ROOTS);
    cairn_add_ambiguous(heap, maybe, MAYBE);
    int steps = zeal ? STEPS / 10 : STEPS;
    for (int i = 1; i <= steps; i++) {
        step();
        if (i % 200 == 0) {
            compare();
            if (cairn_check(heap))
                wrong("the heap is inconsistent", -1);
        }
    }
    for (int i = 0; i < WEAKS; i++)
        if (weaks[i].weak)
            cairn_weak_free(heap, weaks[i].weak);
    cairn_heap_free(heap);
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    time_t end = time(NULL) + atoi(argv[3]);
    uint64_t first = strtoull(argv[4], NULL, 10);
    for (seed = first; seed == first || time(NULL) < end; seed++) {
        state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
        round_of(argv[1], !strcmp(argv[2], "zeal"));
    }
    printf("%llu rounds, %llu calls\n", (unsigned long long)(seed - first), (unsigned long long)calls);
    return 0;
}
