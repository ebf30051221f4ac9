/* Particles that fall in a box and bounce off its walls: particles.scm in C, an array of structures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double x, y, z, vx, vy, vz; } particle;

static long seed = 42;
static double next_random(void) {
    seed = seed * 16807 % 2147483647;
    return (double)seed / 2147483647.0;
}

static const double dt = 0.001, gravity = 9.81;

static void step(particle *v, long n) {
    for (long i = 0; i < n; i++) {
        particle *p = &v[i];
        double x = p->x + dt * p->vx;
        if (x < 0.0) { p->x = -x; p->vx = -p->vx; }
        else if (x > 1.0) { p->x = 2.0 - x; p->vx = -p->vx; }
        else p->x = x;
        double y = p->y + dt * p->vy;
        if (y < 0.0) { p->y = -y; p->vy = -p->vy; }
        else if (y > 1.0) { p->y = 2.0 - y; p->vy = -p->vy; }
        else p->y = y;
        double vz = p->vz - dt * gravity, z = p->z + dt * vz;
        if (z < 0.0) { p->z = -z; p->vz = -vz; }
        else if (z > 1.0) { p->z = 2.0 - z; p->vz = -vz; }
        else { p->z = z; p->vz = vz; }
    }
}

static double energy(const particle *v, long n) {
    double sum = 0.0;
    for (long i = 0; i < n; i++) {
        const particle *p = &v[i];
        sum += 0.5 * (p->vx * p->vx + p->vy * p->vy + p->vz * p->vz) + gravity * p->z;
    }
    return sum;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000, steps = argc > 2 ? atol(argv[2]) : 20;
    particle *v = malloc(n * sizeof *v);
    if (!v) return 1;
    for (long i = 0; i < n; i++) {
        double x = next_random(), y = next_random(), z = next_random();
        double vx = next_random() - 0.5, vy = next_random() - 0.5, vz = next_random() - 0.5;
        v[i] = (particle){x, y, z, vx, vy, vz};
    }
    for (long k = 0; k < steps; k++) step(v, n);
    printf("%.0f\n", rint(1000.0 * energy(v, n)));
    return 0;
}
