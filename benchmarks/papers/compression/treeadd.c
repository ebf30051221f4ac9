// Adds the values of a complete binary tree, again and again: Olden's treeadd is of this kind.
//
// Arguments: levels of the tree, number of passes.

#include "links.h"

POOL(tree, 1)
struct tree {
  int value;
  LINK(tree) left;
  LINK(tree) right;
};

static LINK(tree) grow(int levels) {
  if (levels == 0) return NONE;
  LINK(tree) t = NEW(tree, 1);
  AT(tree, t)->value = 1;
  AT(tree, t)->left = grow(levels - 1);
  AT(tree, t)->right = grow(levels - 1);
  return t;
}

static int sum(LINK(tree) t) {
  if (t == NONE) return 0;
  return AT(tree, t)->value + sum(AT(tree, t)->left) + sum(AT(tree, t)->right);
}

int main(int argc, char **argv) {
  LINK(tree) t = grow(argument(argc, argv, 1, 14));
  int passes = argument(argc, argv, 2, 10);
  long all = 0;
  for (int i = 0; i < passes; i++) {
    // The root changes, so that no pass is the one before.
    AT(tree, t)->value = i;
    all += sum(t);
  }
  printf("sum %ld\n", all);
  return 0;
}
