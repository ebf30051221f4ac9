/* Every function of cairn_heap.h, used as its comment says. Prints what went wrong; silence is success. Arguments: "zeal"
 * makes every allocation a collection, "plain" does not; then the name of a collector. Or "many" and a number: makes so many heaps,
 * if it can, and prints how many. */
#include "cairn_heap.h"
#include <stdio.h>
#include <stdlib.h>

static int failures;
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                                       \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

struct node {
    cairn_header header;
    struct node *left, *right;
    long key;
};

static int zeal;
static const char *collector;

static cairn_heap *heap_of(size_t heap_max) {
    cairn_options options;
    char message[200] = "";
    cairn_options_init(&options);
    options.heap_max = heap_max;
    options.zeal = zeal;
    options.collector = collector;
    cairn_heap *heap = cairn_heap_new(&options, message, sizeof message);
    if (!heap) {
        printf("no heap: %s\n", message);
        exit(1);
    }
    return heap;
}

static cairn_layout node_layout(cairn_heap *heap) { return cairn_define(heap, 3, CAIRN_BIT(0) | CAIRN_BIT(1)); }

static void churn(cairn_heap *heap, cairn_layout layout, int n) {
    for (int i = 0; i < n; i++)
        CAIRN_NEW(heap, layout, struct node);
}

/* A balanced tree with the keys from..to, built with precise roots. */
static struct node *tree(cairn_heap *heap, cairn_layout layout, long from, long to) {
    if (from > to)
        return NULL;
    long middle = from + (to - from) / 2;
    struct node *left = NULL, *right = NULL, *node = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(left), CAIRN_ROOT(right), CAIRN_ROOT(node));
    left = tree(heap, layout, from, middle - 1);
    right = tree(heap, layout, middle + 1, to);
    node = CAIRN_NEW(heap, layout, struct node);
    EXPECT(node->left == NULL && node->key == 0);
    node->key = middle;
    cairn_set(heap, &node->left, left);
    cairn_set(heap, &node->right, right);
    CAIRN_LEAVE(heap);
    return node;
}

static long sum(struct node *t) { return t ? t->key + sum(t->left) + sum(t->right) : 0; }

static void precise_roots(void) {
    cairn_heap *heap = heap_of(64 << 20);
    cairn_layout layout = node_layout(heap);
    struct node *root = NULL;
    cairn_add_root(heap, &root, 1);
    long n = zeal ? 60 : 20000;
    root = tree(heap, layout, 1, n);
    churn(heap, layout, zeal ? 20 : 1000000);
    struct node *before = root;
    EXPECT(cairn_collect(heap, 1) == 0);
    EXPECT(sum(root) == n * (n + 1) / 2);
    EXPECT(cairn_check(heap) == 0);
    /* A store into an old object is seen by a collection of young ones. */
    cairn_collect(heap, 1);
    struct node *young = CAIRN_NEW(heap, layout, struct node);
    young->key = 7;
    cairn_set(heap, &root->left, young);
    cairn_collect(heap, 0);
    EXPECT(root->left->key == 7);
    (void)before;
    cairn_remove_root(heap, &root);
    cairn_collect(heap, 1);
    cairn_counters counters;
    cairn_count_up(heap, &counters);
    EXPECT(counters.in_use < (4 << 20));
    EXPECT(counters.major >= 3 && counters.pause_ns >= counters.longest_pause_ns);
    cairn_heap_free(heap);
}

static __attribute__((noinline)) void on_the_stack(cairn_heap *heap, cairn_layout layout, int depth) {
    struct node *mine = CAIRN_NEW(heap, layout, struct node);
    mine->key = depth;
    if (depth > 0)
        on_the_stack(heap, layout, depth - 1);
    else {
        churn(heap, layout, zeal ? 5 : 200000);
        cairn_collect(heap, 1);
    }
    EXPECT(mine->key == depth);
}

static void ambiguous_roots(void) {
    cairn_heap *heap = heap_of(64 << 20);
    cairn_layout layout = node_layout(heap);
    cairn_scan_stack(heap, __builtin_frame_address(0));
    on_the_stack(heap, layout, 40);
    cairn_counters counters;
    cairn_count_up(heap, &counters);
    EXPECT(counters.pinned >= 40);
    cairn_scan_stack(heap, NULL);
    /* A word in the middle of nowhere, and one in the middle of an object. */
    uintptr_t words[2] = {12345, 0};
    cairn_add_ambiguous(heap, words, 2);
    struct node *node = CAIRN_NEW(heap, layout, struct node);
    node->key = 99;
    words[1] = (uintptr_t)&node->key;
    churn(heap, layout, zeal ? 5 : 200000);
    cairn_collect(heap, 1);
    EXPECT(node->key == 99);
    cairn_remove_ambiguous(heap, words);
    cairn_heap_free(heap);
}

static void pins(void) {
    cairn_heap *heap = heap_of(64 << 20);
    cairn_layout layout = node_layout(heap);
    struct node *node = CAIRN_NEW(heap, layout, struct node);
    node->key = 5;
    cairn_weak *weak = cairn_weak_new(heap, node);
    cairn_pin(heap, node);
    cairn_pin(heap, node);
    cairn_collect(heap, 1);
    cairn_unpin(heap, node);
    churn(heap, layout, zeal ? 5 : 200000);
    cairn_collect(heap, 1);
    EXPECT(cairn_weak_get(weak) == node && node->key == 5);
    cairn_unpin(heap, node);
    cairn_collect(heap, 1);
    EXPECT(cairn_weak_get(weak) == NULL);
    cairn_weak_free(heap, weak);
    cairn_heap_free(heap);
}

static void other_objects(void) {
    cairn_heap *heap = heap_of(256 << 20);
    cairn_layout layout = node_layout(heap), pairs = cairn_define(heap, 2, CAIRN_BIT(1));
    void *array = NULL, *text = NULL, *loose = NULL, *large = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(array), CAIRN_ROOT(text), CAIRN_ROOT(loose), CAIRN_ROOT(large));
    array = cairn_new(heap, pairs, 1000);
    EXPECT(cairn_count(array) == 1000);
    for (int i = 0; i < 1000; i++) {
        uint64_t *element = (uint64_t *)cairn_bytes(array) + 2 * i;
        element[0] = (uint64_t)i;
        struct node *node = CAIRN_NEW(heap, layout, struct node);
        node->key = i;
        element = (uint64_t *)cairn_bytes(array) + 2 * i; /* the array may have moved */
        cairn_set(heap, element + 1, node);
        if (zeal && i > 30)
            break;
    }
    text = cairn_new_atomic(heap, 26);
    memcpy(cairn_bytes(text), "hello, all of you out there", 26);
    loose = cairn_new_untyped(heap, 24);
    struct node *kept = CAIRN_NEW(heap, layout, struct node);
    kept->key = 77;
    cairn_set(heap, (char *)cairn_bytes(loose) + 8, &kept->key); /* into the middle */
    large = cairn_new_atomic(heap, 10 << 20);
    memset(cairn_bytes(large), 1, 10 << 20);
    churn(heap, layout, zeal ? 5 : 500000);
    cairn_collect(heap, 1);
    EXPECT(!memcmp(cairn_bytes(text), "hello, all of you out there", 26));
    EXPECT(*((long **)cairn_bytes(loose))[1] == 77);
    EXPECT(((char *)cairn_bytes(large))[(10 << 20) - 1] == 1);
    for (int i = 0; i < (zeal ? 30 : 1000); i++) {
        uint64_t *element = (uint64_t *)cairn_bytes(array) + 2 * i;
        EXPECT(element[0] == (uint64_t)i && ((struct node *)element[1])->key == i);
    }
    EXPECT(cairn_check(heap) == 0);
    CAIRN_LEAVE(heap);
    cairn_heap_free(heap);
}

static int finalized;
static struct node *rescued;

static void bury(cairn_heap *heap, void *object, void *data) {
    EXPECT(((struct node *)object)->key == 3);
    finalized += *(int *)data;
    churn(heap, 0, zeal ? 3 : 10000); /* layout 0 is node's */
}

static void rescue(cairn_heap *heap, void *object, void *data) {
    (void)heap, (void)data;
    rescued = object;
}

static void finalizers(void) {
    cairn_heap *heap = heap_of(64 << 20);
    cairn_layout layout = node_layout(heap);
    int by = 10;
    struct node *kept = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(kept));
    cairn_add_root(heap, &rescued, 1);
    kept = CAIRN_NEW(heap, layout, struct node);
    kept->key = 3;
    cairn_add_finalizer(heap, kept, bury, &by);
    cairn_weak *weak = cairn_weak_new(heap, kept);
    cairn_collect(heap, 1);
    EXPECT(cairn_finalizers_ready(heap) == 0);
    kept = NULL;
    cairn_collect(heap, 1);
    EXPECT(cairn_finalizers_ready(heap) == 1 && finalized == 0);
    EXPECT(cairn_weak_get(weak) != NULL); /* not before the finalizer has run */
    cairn_collect(heap, 1);
    EXPECT(cairn_run_finalizers(heap) == 1 && finalized == 10);
    EXPECT(cairn_run_finalizers(heap) == 0);
    cairn_collect(heap, 1);
    EXPECT(cairn_weak_get(weak) == NULL);
    cairn_weak_free(heap, weak);
    kept = CAIRN_NEW(heap, layout, struct node);
    kept->key = 8;
    cairn_add_finalizer(heap, kept, rescue, NULL);
    kept = NULL;
    cairn_collect(heap, 1);
    cairn_run_finalizers(heap);
    cairn_collect(heap, 1);
    EXPECT(rescued && rescued->key == 8 && cairn_finalizers_ready(heap) == 0);
    CAIRN_LEAVE(heap);
    cairn_heap_free(heap);
}

static int asked;
static void *hoard;

static int drop_hoard(cairn_heap *heap, size_t bytes, void *data) {
    (void)heap, (void)data;
    EXPECT(bytes >= 1 << 20);
    asked++;
    if (!hoard)
        return 0;
    hoard = NULL;
    return 1;
}

static void limits(void) {
    cairn_heap *heap = heap_of(24 << 20);
    cairn_layout layout = node_layout(heap);
    cairn_add_root(heap, &hoard, 1);
    cairn_on_limit(heap, drop_hoard, NULL);
    hoard = cairn_new_atomic(heap, 16 << 20);
    EXPECT(hoard != NULL);
    void *next = cairn_new_atomic(heap, 16 << 20);
    EXPECT(next != NULL && asked == 1 && hoard == NULL);
    EXPECT(cairn_new_atomic(heap, (size_t)1 << 60) == NULL);
    EXPECT(strstr(cairn_error(heap), "out of memory"));
    EXPECT(cairn_new_atomic(heap, SIZE_MAX) == NULL && cairn_new_untyped(heap, SIZE_MAX) == NULL);
    EXPECT(cairn_new(heap, layout, SIZE_MAX / 8) == NULL);
    EXPECT(cairn_new(heap, 12345, 1) == NULL && !strcmp(cairn_error(heap), "there is no such layout"));
    EXPECT(cairn_define(heap, 65, 0) == CAIRN_NO_LAYOUT && cairn_define(heap, 0, 0) == CAIRN_NO_LAYOUT);
    EXPECT(cairn_define(heap, 2, CAIRN_BIT(2)) == CAIRN_NO_LAYOUT);
    EXPECT(CAIRN_NEW(heap, layout, struct node) != NULL);
    cairn_release(heap);
    cairn_heap_free(heap);

    char message[200];
    cairn_options options;
    cairn_options_init(&options);
    options.collector = "imaginary";
    EXPECT(!cairn_heap_new(&options, message, sizeof message) && strstr(message, "imaginary"));
    options.collector = "bdw"; /* it would not find what refers to the middle of untyped objects */
    EXPECT(!cairn_heap_new(&options, message, sizeof message) && strstr(message, "bdw"));
    options.size = 3;
    EXPECT(!cairn_heap_new(&options, message, 8) && strlen(message) == 7);
    EXPECT(!cairn_heap_new(&options, NULL, 0));
    cairn_heap_free(NULL);
}

static uint64_t seen[2];

static void note(cairn_heap *heap, const cairn_event *event, void *data) {
    EXPECT(heap == data);
    seen[!!event->everything]++;
}

static void events_and_two_heaps(void) {
    cairn_heap *one = heap_of(64 << 20), *two = heap_of(0);
    cairn_layout a = node_layout(one), b = cairn_define(two, 3, 0);
    cairn_on_collection(one, note, one);
    struct node *mine = CAIRN_NEW(one, a, struct node), *other = CAIRN_NEW(two, b, struct node);
    mine->key = 1, other->key = 2;
    cairn_add_root(one, &mine, 1);
    cairn_add_root(two, &other, 1);
    uint64_t majors = seen[1];
    cairn_collect(one, 1);
    EXPECT(seen[1] == majors + 1);
    cairn_collect(two, 1);
    EXPECT(seen[1] == majors + 1 && mine->key == 1 && other->key == 2);
    cairn_on_collection(one, NULL, NULL);
    cairn_collect(one, 1);
    EXPECT(seen[1] == majors + 1);
    cairn_heap_free(one);
    cairn_collect(two, 1);
    EXPECT(other->key == 2);
    cairn_heap_free(two);
}

/* Under zeal, an object that is no root is gone at the next allocation, whatever the collector. */
static void forgotten_roots(void) {
    cairn_heap *heap = heap_of(0);
    cairn_layout layout = node_layout(heap);
    int gone = 0;
    for (int i = 0; i < 200; i++) {
        struct node *forgotten = CAIRN_NEW(heap, layout, struct node);
        forgotten->key = i;
        struct node *next = CAIRN_NEW(heap, layout, struct node);
        next->key = 1000 + i;
        gone += forgotten->key != i;
    }
    EXPECT(gone == (zeal ? 200 : 0));
    cairn_counters counters;
    cairn_count_up(heap, &counters);
    EXPECT(!zeal || counters.minor + counters.major >= 399);
    cairn_heap_free(heap);
}

/* Untyped objects never move, whoever refers to them: precise roots, other untyped objects, typed ones. */
static void untyped_objects_stay(void) {
    enum { N = 300 };
    cairn_heap *heap = heap_of(64 << 20);
    cairn_layout layout = node_layout(heap);
    static void *roots[N], *addresses[N];
    memset(roots, 0, sizeof roots);
    cairn_add_root(heap, roots, N);
    for (int i = 0; i < N; i++) {
        size_t bytes = i % 50 == 7 ? 20000 : (size_t)i % 90;
        void *object = cairn_new_untyped(heap, bytes);
        addresses[i] = object;
        if (i % 3 == 0) {
            cairn_add_root(heap, &object, 1);
            struct node *holder = CAIRN_NEW(heap, layout, struct node);
            cairn_set(heap, &holder->left, object);
            cairn_remove_root(heap, &object);
            object = holder;
        } else if (i % 3 == 1 && i % 90 >= 8)
            cairn_set(heap, cairn_bytes(object), roots[i - 1]);
        roots[i] = object;
        churn(heap, layout, zeal ? 1 : 100);
    }
    for (int round = 0; round < 4; round++) {
        churn(heap, layout, zeal ? 1 : 100000);
        cairn_collect(heap, 1);
        int moved = 0;
        for (int i = 0; i < N; i++)
            moved += addresses[i] != (i % 3 == 0 ? ((struct node *)roots[i])->left : roots[i]);
        EXPECT(moved == 0);
    }
    EXPECT(cairn_check(heap) == 0);
    cairn_heap_free(heap);
}

/* A heap that is full says so, without going beyond its maximum, and without collecting all the time. */
static void full_heaps(void) {
    enum { MAX = 8 << 20 };
    if (zeal)
        return;
    cairn_heap *heap = heap_of(MAX);
    cairn_layout layout = node_layout(heap);
    struct node *list = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(list));
    for (;;) {
        struct node *node = CAIRN_NEW(heap, layout, struct node);
        if (!node)
            break;
        cairn_set(heap, &node->left, list);
        list = node;
    }
    EXPECT(strstr(cairn_error(heap), "out of memory"));
    cairn_counters counters;
    cairn_count_up(heap, &counters);
    EXPECT(counters.peak <= MAX + MAX / 16);
    EXPECT(counters.major < 100);
    long length = 0;
    for (struct node *node = list; node; node = node->left)
        length++;
    EXPECT(length * 32 > MAX / 3);
    CAIRN_LEAVE(heap);
    cairn_heap_free(heap);
}

/* How many heaps there can be at the same time, up to the number that is asked for. */
static int many_heaps(int most) {
    static cairn_heap *heaps[10000];
    int n = 0;
    while (n < most && (heaps[n] = cairn_heap_new(NULL, NULL, 0))) {
        cairn_layout layout = node_layout(heaps[n]);
        EXPECT(CAIRN_NEW(heaps[n], layout, struct node) != NULL);
        n++;
    }
    for (int i = 0; i < n; i++)
        cairn_heap_free(heaps[i]);
    return n;
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "many")) {
        printf("%d", many_heaps(atoi(argv[2])));
        return failures != 0;
    }
    zeal = argc > 1 && !strcmp(argv[1], "zeal");
    collector = argc > 2 ? argv[2] : NULL;
    precise_roots();
    ambiguous_roots();
    pins();
    other_objects();
    finalizers();
    limits();
    events_and_two_heaps();
    forgotten_roots();
    untyped_objects_stay();
    full_heaps();
    return failures != 0;
}
