/* A mesh of triangles that know their neighbours, smoothed and walked: mesh.scm in C, two arrays of structures whose
   elements refer to one another by number. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double x, y, z, sx, sy, sz; uint32_t count; } node;
typedef struct { uint32_t a, b, c; int32_t l, m, n; uint32_t mark; } face;

static node *nodes;
static face *faces;
static int32_t *open;

static long seed = 42;
static double next_random(void) {
    seed = seed * 16807 % 2147483647;
    return (double)seed / 2147483647.0;
}

static void build(long w) {
    long cells = w - 1, across = 2 * cells;
    nodes = malloc(w * w * sizeof *nodes);
    faces = malloc(cells * across * sizeof *faces);
    open = malloc(cells * across * sizeof *open);
    if (!nodes || !faces || !open) exit(1);
    for (long j = 0; j < w; j++)
        for (long i = 0; i < w; i++) nodes[j * w + i] = (node){i, j, next_random(), 0, 0, 0, 0};
    for (long j = 0; j < cells; j++)
        for (long i = 0; i < cells; i++) {
            long v = j * w + i, t = j * across + 2 * i;
            faces[t] = (face){v, v + 1, v + w, t + 1, i == 0 ? -1 : t - 1, j == 0 ? -1 : t - across + 1, 0};
            faces[t + 1] = (face){v + 1, v + w + 1, v + w, t, i == cells - 1 ? -1 : t + 2,
                                  j == cells - 1 ? -1 : t + across, 0};
        }
}

static void add_both(node *to, const node *p, const node *q) {
    to->sx += p->x + q->x;
    to->sy += p->y + q->y;
    to->sz += p->z + q->z;
    to->count += 2;
}

static void smooth(long vertices, long triangles) {
    for (long i = 0; i < triangles; i++) {
        node *a = &nodes[faces[i].a], *b = &nodes[faces[i].b], *c = &nodes[faces[i].c];
        add_both(a, b, c);
        add_both(b, a, c);
        add_both(c, a, b);
    }
    for (long i = 0; i < vertices; i++) {
        node *p = &nodes[i];
        double n = p->count;
        p->x += 0.5 * (p->sx / n - p->x);
        p->y += 0.5 * (p->sy / n - p->y);
        p->z += 0.5 * (p->sz / n - p->z);
        p->sx = p->sy = p->sz = 0.0;
        p->count = 0;
    }
}

static long visit(int32_t t, uint32_t k, long depth) {
    if (t < 0 || faces[t].mark == k) return depth;
    faces[t].mark = k;
    open[depth] = t;
    return depth + 1;
}

static long walk(uint32_t k) {
    long reached = 0, depth = visit(0, k, 0);
    while (depth > 0) {
        const face *t = &faces[open[--depth]];
        depth = visit(t->n, k, depth);
        depth = visit(t->m, k, depth);
        depth = visit(t->l, k, depth);
        reached++;
    }
    return reached;
}

int main(int argc, char **argv) {
    long w = argc > 1 ? atol(argv[1]) : 20, times = argc > 2 ? atol(argv[2]) : 5, reached = 0;
    build(w);
    for (long k = 1; k <= times; k++) {
        smooth(w * w, 2 * (w - 1) * (w - 1));
        reached += walk(k);
    }
    double height = 0.0;
    for (long i = 0; i < w * w; i++) height += nodes[i].z;
    printf("%ld %.0f\n", reached, rint(1000.0 * height));
    return 0;
}
