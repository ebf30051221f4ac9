#include <cairn_heap.h>
#include <stdio.h>

struct node { cairn_header header; struct node *left, *right; long key; };

static cairn_heap *heap;
static cairn_layout NODE;

static struct node *both(struct node *a, struct node *b, long key) {
    CAIRN_FRAME(heap, CAIRN_ROOT(a), CAIRN_ROOT(b));      /* what must survive the next line */
    struct node *n = CAIRN_NEW(heap, NODE, struct node);  /* may collect, may move a and b */
    cairn_set(heap, &n->left, a);                         /* stores of references are told to the heap */
    cairn_set(heap, &n->right, b);
    n->key = key;
    CAIRN_LEAVE(heap);                                    /* before every return */
    return n;
}

static struct node *tree(int depth) {
    if (depth == 0) return NULL;
    struct node *left = tree(depth - 1), *right = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(left), CAIRN_ROOT(right));
    right = tree(depth - 1);
    struct node *n = both(left, right, depth);
    CAIRN_LEAVE(heap);
    return n;
}

static long count(const struct node *n) { return n ? 1 + count(n->left) + count(n->right) : 0; }

int main(void) {
    heap = cairn_heap_new(NULL, NULL, 0);
    NODE = cairn_define(heap, 3, CAIRN_BIT(0) | CAIRN_BIT(1)); /* three words, the first two refer */
    for (int i = 0; i < 10; i++) tree(16);                     /* garbage */
    printf("%ld nodes\n", count(tree(20)));
    return 0;
}
