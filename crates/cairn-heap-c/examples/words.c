/* How often the words of a text occur, on cairn_heap without a single declared root: the native stack is scanned, and
 * whatever seems to refer to an object keeps it in its place. Text is atomic: the collector does not look into it.
 *
 *     cc -O2 words.c $(pkg-config --cflags --libs cairn-heap) -o words && ./words
 */
#include <cairn_heap.h>
#include <ctype.h>
#include <stdio.h>

struct word {
    cairn_header header;
    struct word *left, *right;
    void *text;
    long count;
};

static cairn_heap *heap;
static cairn_layout WORD;

static struct word *add(struct word *tree, const char *from, size_t length) {
    if (!tree) {
        void *text = cairn_new_atomic(heap, length + 1);
        memcpy(cairn_bytes(text), from, length);
        struct word *word = CAIRN_NEW(heap, WORD, struct word);
        cairn_set(heap, &word->text, text);
        word->count = 1;
        return word;
    }
    const char *mine = cairn_bytes(tree->text);
    int order = strncmp(from, mine, length);
    if (!order && mine[length])
        order = -1;
    if (!order)
        tree->count++;
    else if (order < 0)
        cairn_set(heap, &tree->left, add(tree->left, from, length));
    else
        cairn_set(heap, &tree->right, add(tree->right, from, length));
    return tree;
}

static void show(const struct word *tree) {
    if (!tree)
        return;
    show(tree->left);
    if (tree->count > 1)
        printf("%ld %s\n", tree->count, (char *)cairn_bytes(tree->text));
    show(tree->right);
}

static const char text[] =
    "whan that aprill with his shoures soote the droghte of march hath perced to the roote and bathed every veyne in "
    "swich licour of which vertu engendred is the flour whan zephirus eek with his sweete breeth inspired hath in every "
    "holt and heeth the tendre croppes and the yonge sonne hath in the ram his halve cours yronne";

int main(int argc, char **argv) {
    cairn_options options;
    cairn_options_init(&options);
    options.zeal = argc > 1 && !strcmp(argv[1], "zeal");
    heap = cairn_heap_new(&options, NULL, 0);
    if (!heap)
        return 1;
    cairn_scan_stack(heap, __builtin_frame_address(0));
    WORD = cairn_define(heap, 4, CAIRN_BIT(0) | CAIRN_BIT(1) | CAIRN_BIT(2));
    struct word *tree = NULL;
    for (const char *c = text; *c;) {
        size_t length = strcspn(c, " ");
        tree = add(tree, c, length);
        c += length + (c[length] == ' ');
    }
    show(tree);
    cairn_heap_free(heap);
    return 0;
}
