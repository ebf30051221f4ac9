/* Three small programs, by their argument:
 *
 * loop       allocates cells that nothing refers to
 * shuffled   a list whose cells lie in random order is walked, while new cells push the collector on
 * quads      quad trees are built and dropped, one of them kept
 */
#include "collector.h"

struct cell {
    OBJECT_HEADER;
    struct cell *next;
    long value;
};
struct quad {
    OBJECT_HEADER;
    struct quad *children[4];
};

static collector c;
static layout cells, quads, pointers;

static long loop(void) {
    long sum = 0;
    for (long i = 0; i < 100000000; i++) {
        struct cell *cell = NEW(&c, cells, struct cell);
        cell->value = i;
        sum += cell->value & 1;
    }
    return sum;
}

static long shuffled(void) {
    enum { N = 1000000 };
    void *array = NULL;
    struct cell *list = NULL;
    FRAME(&c, ROOT(array), ROOT(list));
    array = NEW_POINTERS(&c, pointers, N);
    for (long i = 0; i < N; i++) {
        struct cell *cell = NEW(&c, cells, struct cell);
        cell->value = i;
        SET(&c, &POINTERS(array)[i], cell);
    }
    unsigned long random = 42;
    for (long i = N - 1; i > 0; i--) {
        random = random * 6364136223846793005ul + 1442695040888963407ul;
        long j = (long)((random >> 33) % (unsigned long)(i + 1));
        void *other = POINTERS(array)[j];
        SET(&c, &POINTERS(array)[j], POINTERS(array)[i]);
        SET(&c, &POINTERS(array)[i], other);
    }
    for (long i = 0; i < N; i++) {
        struct cell *cell = POINTERS(array)[i];
        SET(&c, &cell->next, list);
        list = cell;
    }
    array = NULL;
    long sum = 0;
    for (int round = 0; round < 10; round++) {
        for (const struct cell *cell = list; cell; cell = cell->next)
            sum += cell->value;
        for (long i = 0; i < 3000000; i++)
            NEW(&c, cells, struct cell);
    }
    LEAVE(&c);
    return sum;
}

static struct quad *quad(int depth) {
    struct quad *q = NEW(&c, quads, struct quad);
    if (depth > 0) {
        FRAME(&c, ROOT(q));
        for (int i = 0; i < 4; i++) {
            struct quad *child = quad(depth - 1);
            SET(&c, &q->children[i], child);
        }
        LEAVE(&c);
    }
    return q;
}

static long count(const struct quad *q) {
    long n = 1;
    for (int i = 0; i < 4; i++)
        if (q->children[i])
            n += count(q->children[i]);
    return n;
}

static long quad_trees(void) {
    struct quad *kept = NULL;
    FRAME(&c, ROOT(kept));
    kept = quad(10);
    long n = 0;
    for (int i = 0; i < 200; i++)
        n += count(quad(7));
    n += count(kept);
    LEAVE(&c);
    return n;
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    long (*work)(void) = !strcmp(which, "loop")       ? loop
                         : !strcmp(which, "shuffled") ? shuffled
                         : !strcmp(which, "quads")    ? quad_trees
                                                      : NULL;
    if (!work) {
        fprintf(stderr, "usage: %s loop|shuffled|quads\n", argv[0]);
        return 2;
    }
    collector_init(&c);
    cells = LAYOUT(&c, struct cell, 1);
    quads = LAYOUT(&c, struct quad, 15);
#ifndef LIBGC
    pointers = cairn_define(c, 1, 1);
#endif
    double began = seconds();
    long result = work();
    printf("%s %.3f s, %ld\n", COLLECTOR_NAME, seconds() - began, result);
    collector_end(&c);
    return 0;
}
