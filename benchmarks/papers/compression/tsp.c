// A short tour through random cities: they lie in a tree that divides the plane by halves (Karp, Mathematics of
// Operations Research 2(3), 1977); tours of the halves are joined at the city that divides them. Olden's tsp is of this
// kind. Every tour is a circular list with links in both directions.
//
// Argument: levels of the tree.

#include <math.h>

#include "links.h"

// Trees of so few levels are toured city by city.
enum { SMALL = 6 };

POOL(city, 1)
struct city {
  double x;
  double y;
  LINK(city) left;
  LINK(city) right;
  LINK(city) before;
  LINK(city) after;
};

static double uniform(uint32_t *random, double low, double high) {
  return low + (high - low) * (next_random(random) / 4294967296.0);
}

// Cities of the rectangle; those left of (below) the tree's are in its left part.
static LINK(city) grow(int levels, double x0, double y0, double x1, double y1, uint32_t *random) {
  if (levels == 0) return NONE;
  LINK(city) c = NEW(city, 1);
  double x = uniform(random, x0, x1), y = uniform(random, y0, y1);
  if (x1 - x0 > y1 - y0) {
    x = (x0 + x1) / 2;
    AT(city, c)->left = grow(levels - 1, x0, y0, x, y1, random);
    AT(city, c)->right = grow(levels - 1, x, y0, x1, y1, random);
  } else {
    y = (y0 + y1) / 2;
    AT(city, c)->left = grow(levels - 1, x0, y0, x1, y, random);
    AT(city, c)->right = grow(levels - 1, x0, y, x1, y1, random);
  }
  AT(city, c)->x = x;
  AT(city, c)->y = y;
  return c;
}

static double distance(LINK(city) a, LINK(city) b) {
  double dx = AT(city, a)->x - AT(city, b)->x, dy = AT(city, a)->y - AT(city, b)->y;
  return sqrt(dx * dx + dy * dy);
}

// What the tour gains in length when `c` comes after `a`.
static double detour(LINK(city) a, LINK(city) c) {
  LINK(city) b = AT(city, a)->after;
  return distance(a, c) + distance(c, b) - distance(a, b);
}

static void join(LINK(city) a, LINK(city) b) {
  AT(city, a)->after = b;
  AT(city, b)->before = a;
}

// Puts the cities of the tree where they cost least, one by one.
static void insert_all(LINK(city) tour, LINK(city) t) {
  if (t == NONE) return;
  LINK(city) best = tour;
  double least = detour(tour, t);
  for (LINK(city) c = AT(city, tour)->after; c != tour; c = AT(city, c)->after) {
    double d = detour(c, t);
    if (d < least) {
      least = d;
      best = c;
    }
  }
  LINK(city) after = AT(city, best)->after;
  join(best, t);
  join(t, after);
  insert_all(tour, AT(city, t)->left);
  insert_all(tour, AT(city, t)->right);
}

// Where the tour passes closest to `c`: the city after which it would cost least.
static LINK(city) closest(LINK(city) tour, LINK(city) c) {
  LINK(city) best = tour;
  double least = detour(tour, c);
  for (LINK(city) a = AT(city, tour)->after; a != tour; a = AT(city, a)->after) {
    double d = detour(a, c);
    if (d < least) {
      least = d;
      best = a;
    }
  }
  return best;
}

static void turn_around(LINK(city) tour) {
  LINK(city) c = tour;
  do {
    LINK(city) after = AT(city, c)->after;
    AT(city, c)->after = AT(city, c)->before;
    AT(city, c)->before = after;
    c = after;
  } while (c != tour);
}

// Both tours and the city between become one: each is opened where it passes the city, which joins two of the ends.
static void merge(LINK(city) a, LINK(city) b, LINK(city) middle) {
  LINK(city) a1 = closest(a, middle);
  LINK(city) a2 = AT(city, a1)->after;
  LINK(city) b1 = closest(b, middle);
  LINK(city) b2 = AT(city, b1)->after;
  // The tours run a2 ... a1 and b2 ... b1; one of them may have to be turned around.
  double straight = distance(a1, middle) + distance(middle, b2) + distance(b1, a2);
  double turned = distance(a1, middle) + distance(middle, b1) + distance(b2, a2);
  if (turned < straight) {
    turn_around(b);
    LINK(city) end = b1;
    b1 = b2;
    b2 = end;
  }
  join(a1, middle);
  join(middle, b2);
  join(b1, a2);
}

static LINK(city) tour(LINK(city) t, int levels) {
  if (levels <= SMALL) {
    join(t, t);
    insert_all(t, AT(city, t)->left);
    insert_all(t, AT(city, t)->right);
    return t;
  }
  LINK(city) a = tour(AT(city, t)->left, levels - 1);
  LINK(city) b = tour(AT(city, t)->right, levels - 1);
  merge(a, b, t);
  return t;
}

int main(int argc, char **argv) {
  uint32_t random = 1977;
  int levels = argument(argc, argv, 1, 10);
  LINK(city) t = tour(grow(levels, 0, 0, 1, 1, &random), levels);
  double length = 0;
  int cities = 0;
  LINK(city) c = t;
  do {
    length += distance(c, AT(city, c)->after);
    cities++;
    c = AT(city, c)->after;
  } while (c != t);
  printf("%d cities, tour of %.6f\n", cities, length);
  return 0;
}
