// Walks a hundred lists that grow by an element in each iteration: llubench is of this kind. Memory grows with the number
// of iterations, time with its square: iterations × (iterations + 1) / 2 × 100 elements are visited.
//
// Argument: iterations.

#include "links.h"

enum { LISTS = 100 };

POOL(element, 1)
struct element {
  LINK(element) next;
  int visits;
};

int main(int argc, char **argv) {
  int iterations = argument(argc, argv, 1, 100);
  LINK(element) lists[LISTS];
  for (int l = 0; l < LISTS; l++) lists[l] = NONE;
  for (int i = 0; i < iterations; i++) {
    for (int l = 0; l < LISTS; l++) {
      LINK(element) e = NEW(element, 1);
      AT(element, e)->visits = 0;
      AT(element, e)->next = lists[l];
      lists[l] = e;
    }
    for (int l = 0; l < LISTS; l++)
      for (LINK(element) e = lists[l]; e != NONE; e = AT(element, e)->next) AT(element, e)->visits++;
  }
  long visits = 0, weighted = 0;
  for (int l = 0; l < LISTS; l++) {
    for (LINK(element) e = lists[l]; e != NONE; e = AT(element, e)->next) {
      visits += AT(element, e)->visits;
      weighted += (long)AT(element, e)->visits * l;
    }
  }
  printf("%ld visits, %ld weighted\n", visits, weighted);
  return 0;
}
