/* A binary search tree of random keys, built and searched: ./cairn cc -O2 examples/tree.c -o tree --report */
#include <stdio.h>
#include <stdlib.h>

struct node {
    unsigned key;
    struct node *left, *right;
};

static struct node *new_node(unsigned key) {
    struct node *n = malloc(sizeof *n);
    n->key = key;
    n->left = n->right = NULL;
    return n;
}

static struct node *insert(struct node *n, unsigned key) {
    if (!n) return new_node(key);
    if (key < n->key)
        n->left = insert(n->left, key);
    else
        n->right = insert(n->right, key);
    return n;
}

static int contains(const struct node *n, unsigned key) {
    while (n && n->key != key) n = key < n->key ? n->left : n->right;
    return n != NULL;
}

static unsigned next_key(unsigned key) { return key * 1664525u + 1013904223u; }

int main(int argc, char **argv) {
    unsigned size = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000, key = 1, found = 0;
    struct node *root = NULL;
    for (unsigned i = 0; i < size; i++) root = insert(root, key = next_key(key));
    for (unsigned i = 0; i < size; i++) found += contains(root, key = i % 2 ? next_key(key) : key + 1);
    printf("%u of %u keys found\n", found, size);
    return 0;
}
