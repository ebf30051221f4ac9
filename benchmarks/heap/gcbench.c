/* Trees that live for different times, as in the benchmark of John Ellis and Pete Kovac, later Hans Boehm: a long-lived
 * tree and a large array of numbers stay, while trees of growing depth are built from the top and from the bottom, and
 * dropped. With -DTHREADS, so many threads do it at once: with cairn_heap each in a heap of its own. */
#include <pthread.h>

#include "collector.h"

struct node {
    OBJECT_HEADER;
    struct node *left, *right;
    long i, j;
};

enum { STRETCH = 18, LONG_LIVED = 16, ARRAY = 500000, LEAST = 4, MOST = 16 };

struct run {
    collector c;
    layout node;
    long checked;
};

static struct node *fresh(struct run *r) { return NEW(&r->c, r->node, struct node); }

static void populate(struct run *r, int depth, struct node *node) {
    if (depth <= 0)
        return;
    FRAME(&r->c, ROOT(node));
    struct node *child = fresh(r);
    SET(&r->c, &node->left, child);
    child = fresh(r);
    SET(&r->c, &node->right, child);
    populate(r, depth - 1, node->left);
    populate(r, depth - 1, node->right);
    LEAVE(&r->c);
}

static struct node *built(struct run *r, int depth) {
    if (depth <= 0)
        return fresh(r);
    struct node *left = NULL, *right = NULL;
    FRAME(&r->c, ROOT(left), ROOT(right));
    left = built(r, depth - 1);
    right = built(r, depth - 1);
    struct node *node = fresh(r);
    SET(&r->c, &node->left, left);
    SET(&r->c, &node->right, right);
    LEAVE(&r->c);
    return node;
}

static long size_of(const struct node *t) { return t ? 1 + size_of(t->left) + size_of(t->right) : 0; }

static void work(struct run *r) {
    struct node *temporary = NULL, *long_lived = NULL;
    void *array = NULL;
    FRAME(&r->c, ROOT(temporary), ROOT(long_lived), ROOT(array));
    temporary = built(r, STRETCH);
    temporary = NULL;
    long_lived = fresh(r);
    populate(r, LONG_LIVED, long_lived);
    array = NEW_ATOMIC(&r->c, ARRAY * sizeof(double));
    for (long i = 0; i < ARRAY / 2; i++)
        ((double *)BYTES(array))[i] = 1.0 / (double)(i + 1);
    for (int depth = LEAST; depth <= MOST; depth += 2) {
        long times = 2L * ((1L << (STRETCH + 1)) - 1) / ((1L << (depth + 1)) - 1);
        for (long i = 0; i < times; i++) {
            temporary = fresh(r);
            populate(r, depth, temporary);
            temporary = NULL;
            temporary = built(r, depth);
        }
        r->checked += size_of(temporary);
    }
    r->checked += size_of(long_lived);
    if (((double *)BYTES(array))[1000] != 1.0 / 1001)
        r->checked = -1;
    LEAVE(&r->c);
}

static void *thread(void *data) {
    struct run *r = data;
#if !defined LIBGC || !defined THREADS /* libgc has one heap, made by main */
    collector_init(&r->c);
#endif
    r->node = LAYOUT(&r->c, struct node, 3);
    work(r);
#if !defined LIBGC || !defined THREADS
    collector_end(&r->c);
#endif
    return NULL;
}

int main(void) {
    double began = seconds();
#ifdef THREADS
    enum { N = THREADS };
    static struct run runs[N];
    pthread_t threads[N];
#ifdef LIBGC
    collector_init(&runs[0].c);
#endif
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, thread, &runs[i]);
    long checked = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        checked += runs[i].checked;
    }
#else
    static struct run r;
    thread(&r);
    long checked = r.checked;
#endif
    printf("%s %.3f s, %ld\n", COLLECTOR_NAME, seconds() - began, checked);
    return 0;
}
