// Electric and magnetic fields in three dimensions, as a graph of two halves: the value of each node follows from the
// values of the nodes it depends on, which are of the other half, each with a weight. Olden's em3d is of this kind: most
// of the memory are arrays of links and of numbers.
//
// Arguments: nodes of each half, nodes that each depends on, steps.

#include "links.h"

POOL(node, 1)
struct node {
  double value;
  LINK(node) next;
  LINK(source) sources;
  LINK(weight) weights;
  int count;
};

POOL(source, 2)
struct source {
  LINK(node) node;
};

POOL(weight, 3)
struct weight {
  double value;
};

// A list of nodes without sources; `all` becomes the nodes by number.
static LINK(node) half(int nodes, struct source *all, uint32_t *random) {
  LINK(node) list = NONE;
  for (int i = 0; i < nodes; i++) {
    LINK(node) n = NEW(node, 1);
    AT(node, n)->value = next_random(random) / 4294967296.0;
    AT(node, n)->next = list;
    all[i].node = list = n;
  }
  return list;
}

static void connect(LINK(node) list, struct source *others, int nodes, int degree, uint32_t *random) {
  for (LINK(node) n = list; n != NONE; n = AT(node, n)->next) {
    LINK(source) sources = NEW(source, (size_t)degree);
    LINK(weight) weights = NEW(weight, (size_t)degree);
    for (int i = 0; i < degree; i++) {
      AT(source, sources)[i].node = others[next_random(random) % (uint32_t)nodes].node;
      AT(weight, weights)[i].value = next_random(random) / 4294967296.0 / degree;
    }
    AT(node, n)->sources = sources;
    AT(node, n)->weights = weights;
    AT(node, n)->count = degree;
  }
}

static void step(LINK(node) list) {
  for (LINK(node) n = list; n != NONE; n = AT(node, n)->next) {
    double value = AT(node, n)->value;
    struct source *sources = AT(source, AT(node, n)->sources);
    struct weight *weights = AT(weight, AT(node, n)->weights);
    for (int i = 0; i < AT(node, n)->count; i++) value -= weights[i].value * AT(node, sources[i].node)->value;
    AT(node, n)->value = value;
  }
}

static double sum(LINK(node) list) {
  double all = 0;
  for (LINK(node) n = list; n != NONE; n = AT(node, n)->next) all += AT(node, n)->value;
  return all;
}

int main(int argc, char **argv) {
  uint32_t random = 1993;
  int nodes = argument(argc, argv, 1, 100), degree = argument(argc, argv, 2, 20), steps = argument(argc, argv, 3, 10);
  LINK(source) electric = NEW(source, (size_t)nodes);
  LINK(source) magnetic = NEW(source, (size_t)nodes);
  LINK(node) e = half(nodes, AT(source, electric), &random);
  LINK(node) m = half(nodes, AT(source, magnetic), &random);
  connect(e, AT(source, magnetic), nodes, degree, &random);
  connect(m, AT(source, electric), nodes, degree, &random);
  for (int i = 0; i < steps; i++) {
    step(e);
    step(m);
  }
  printf("electric %.6g, magnetic %.6g\n", sum(e), sum(m));
  return 0;
}
