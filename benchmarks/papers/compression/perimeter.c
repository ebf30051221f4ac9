// The perimeter of a region in an image that is a quadtree (Samet, CACM 23(3), 1980): Olden's perimeter is of this kind.
// The image is a disc; each of its black leaves asks for its neighbours, over their common ancestors.
//
// Arguments: the image has 2^n pixels a side; number of passes.

#include "links.h"

enum colour { WHITE, BLACK, GREY };
enum quadrant { NW, NE, SW, SE };
enum side { NORTH, EAST, SOUTH, WEST };

POOL(quad, 1)
struct quad {
  enum colour colour;
  enum quadrant place;
  LINK(quad) nw;
  LINK(quad) ne;
  LINK(quad) sw;
  LINK(quad) se;
  LINK(quad) parent;
};

// Is the square all inside of the disc (BLACK), all outside (WHITE), or neither? Corners are all that matters below.
static enum colour colour_of(long x, long y, long size, long radius) {
  int inside = 0;
  for (int corner = 0; corner < 4; corner++) {
    long cx = x + (corner & 1 ? size : 0) - radius, cy = y + (corner & 2 ? size : 0) - radius;
    inside += cx * cx + cy * cy < radius * radius;
  }
  return inside == 4 ? BLACK : inside == 0 && size < radius ? WHITE : GREY;
}

static LINK(quad) image(long x, long y, long size, long radius, LINK(quad) parent, enum quadrant place) {
  LINK(quad) q = NEW(quad, 1);
  enum colour colour = colour_of(x, y, size, radius);
  if (colour == GREY && size == 1) colour = BLACK;
  AT(quad, q)->colour = colour;
  AT(quad, q)->place = place;
  AT(quad, q)->parent = parent;
  AT(quad, q)->nw = AT(quad, q)->ne = AT(quad, q)->sw = AT(quad, q)->se = NONE;
  if (colour == GREY) {
    long half = size / 2;
    AT(quad, q)->nw = image(x, y, half, radius, q, NW);
    AT(quad, q)->ne = image(x + half, y, half, radius, q, NE);
    AT(quad, q)->sw = image(x, y + half, half, radius, q, SW);
    AT(quad, q)->se = image(x + half, y + half, half, radius, q, SE);
  }
  return q;
}

static LINK(quad) child(LINK(quad) q, enum quadrant place) {
  switch (place) {
    case NW: return AT(quad, q)->nw;
    case NE: return AT(quad, q)->ne;
    case SW: return AT(quad, q)->sw;
    default: return AT(quad, q)->se;
  }
}

static int touches(enum quadrant place, enum side side) {
  switch (side) {
    case NORTH: return place == NW || place == NE;
    case SOUTH: return place == SW || place == SE;
    case WEST: return place == NW || place == SW;
    default: return place == NE || place == SE;
  }
}

// The quadrant on the other side of the line that is `side` of the square.
static enum quadrant mirrored(enum quadrant place, enum side side) {
  return side == NORTH || side == SOUTH ? (enum quadrant)(place ^ 2) : (enum quadrant)(place ^ 1);
}

// The square of the same size on that side, or the larger leaf that covers it, or none at the edge of the image.
static LINK(quad) neighbour(LINK(quad) q, enum side side) {
  LINK(quad) parent = AT(quad, q)->parent;
  if (parent == NONE) return NONE;
  enum quadrant place = AT(quad, q)->place;
  LINK(quad) other = touches(place, side) ? neighbour(parent, side) : parent;
  if (other == NONE || AT(quad, other)->colour != GREY) return other;
  return child(other, mirrored(place, side));
}

// How much of the line on that side of the square is white.
static long white_along(LINK(quad) q, enum side side, long size) {
  if (AT(quad, q)->colour == BLACK) return 0;
  if (AT(quad, q)->colour == WHITE) return size;
  long all = 0;
  for (int place = NW; place <= SE; place++)
    if (touches((enum quadrant)place, side)) all += white_along(child(q, (enum quadrant)place), side, size / 2);
  return all;
}

static long perimeter(LINK(quad) q, long size) {
  if (AT(quad, q)->colour == WHITE) return 0;
  if (AT(quad, q)->colour == GREY)
    return perimeter(AT(quad, q)->nw, size / 2) + perimeter(AT(quad, q)->ne, size / 2) +
           perimeter(AT(quad, q)->sw, size / 2) + perimeter(AT(quad, q)->se, size / 2);
  long all = 0;
  for (int side = NORTH; side <= WEST; side++) {
    LINK(quad) other = neighbour(q, (enum side)side);
    all += other == NONE ? size : white_along(other, (enum side)((side + 2) % 4), size);
  }
  return all;
}

int main(int argc, char **argv) {
  long size = 1L << argument(argc, argv, 1, 8), all = 0;
  int passes = argument(argc, argv, 2, 1);
  LINK(quad) q = image(0, 0, size, size / 2, NONE, NW);
  for (int i = 0; i < passes; i++) all += perimeter(q, size);
  printf("perimeter %ld\n", all);
  return 0;
}
