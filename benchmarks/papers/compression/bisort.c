// Sorts the numbers of a complete binary tree up, then down, by adaptive bitonic sorting (Bilardi & Nicolau, SIAM Journal
// on Computing 18(2), 1989): Olden's bisort is of this kind. In order, the tree and one spare number are the sequence.
// Half-sorted sequences are merged by exchanging subtrees, not numbers.
//
// Argument: levels of the tree.

#include "links.h"

POOL(tree, 1)
struct tree {
  int value;
  LINK(tree) left;
  LINK(tree) right;
};

static LINK(tree) grow(int levels, uint32_t *random) {
  if (levels == 0) return NONE;
  LINK(tree) t = NEW(tree, 1);
  AT(tree, t)->left = grow(levels - 1, random);
  AT(tree, t)->value = (int)(next_random(random) >> 1);
  AT(tree, t)->right = grow(levels - 1, random);
  return t;
}

// Makes a bitonic sequence monotonic; returns its last number.
static int merge(LINK(tree) t, int spare, int down) {
  int cross = (AT(tree, t)->value > spare) != down;
  if (cross) {
    int value = AT(tree, t)->value;
    AT(tree, t)->value = spare;
    spare = value;
  }
  LINK(tree) a = AT(tree, t)->left;
  LINK(tree) b = AT(tree, t)->right;
  while (a != NONE) {
    int exchange = (AT(tree, a)->value > AT(tree, b)->value) != down;
    if (exchange) {
      int value = AT(tree, a)->value;
      AT(tree, a)->value = AT(tree, b)->value;
      AT(tree, b)->value = value;
      if (cross) {
        LINK(tree) right = AT(tree, a)->right;
        AT(tree, a)->right = AT(tree, b)->right;
        AT(tree, b)->right = right;
      } else {
        LINK(tree) left = AT(tree, a)->left;
        AT(tree, a)->left = AT(tree, b)->left;
        AT(tree, b)->left = left;
      }
    }
    if (exchange == cross) {
      a = AT(tree, a)->left;
      b = AT(tree, b)->left;
    } else {
      a = AT(tree, a)->right;
      b = AT(tree, b)->right;
    }
  }
  if (AT(tree, t)->left != NONE) {
    AT(tree, t)->value = merge(AT(tree, t)->left, AT(tree, t)->value, down);
    spare = merge(AT(tree, t)->right, spare, down);
  }
  return spare;
}

// Sorts the tree and the spare number; returns the last.
static int sort(LINK(tree) t, int spare, int down) {
  if (AT(tree, t)->left == NONE) {
    if ((AT(tree, t)->value > spare) != down) {
      int value = AT(tree, t)->value;
      AT(tree, t)->value = spare;
      spare = value;
    }
    return spare;
  }
  AT(tree, t)->value = sort(AT(tree, t)->left, AT(tree, t)->value, down);
  spare = sort(AT(tree, t)->right, spare, !down);
  return merge(t, spare, down);
}

struct walk {
  int last;
  int falls;
  int rises;
  uint64_t hash;
};

static void walk(LINK(tree) t, struct walk *w) {
  if (t == NONE) return;
  walk(AT(tree, t)->left, w);
  int value = AT(tree, t)->value;
  w->falls += value < w->last;
  w->rises += value > w->last;
  w->last = value;
  w->hash = w->hash * 31 + (uint64_t)value;
  walk(AT(tree, t)->right, w);
}

static void report(const char *what, LINK(tree) t, int first) {
  struct walk w = {first, 0, 0, 0};
  walk(t, &w);
  printf("%s: %s, hash %016llx\n", what, w.falls == 0 ? "up" : w.rises == 0 ? "down" : "unsorted",
         (unsigned long long)w.hash);
}

int main(int argc, char **argv) {
  uint32_t random = 2005;
  LINK(tree) t = grow(argument(argc, argv, 1, 10), &random);
  report("made", t, 0);
  int spare = sort(t, (int)(next_random(&random) >> 1), 0);
  report("sorted", t, 0);
  spare = sort(t, spare, 1);
  report("sorted again", t, 0x7fffffff);
  printf("spare %d\n", spare);
  return 0;
}
