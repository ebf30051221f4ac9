/* A C source that a program imports: tests/c/source/kernel.scm. Some of it is inlined, some keeps state. */
#include "kernel.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE 3
#define GREETING "hello from C"

static int seen;                /* one copy, however the program is compiled */

static int helper(int x) { return SCALE * x; }

double mix(double a, double b, double t) { return a + (b - a) * t; }
float half(float x) { return x / 2; }
int triple(int x) { return helper(x); }
signed char low(long n) { return (signed char) n; }
unsigned long rotated(unsigned long x, int by) { return x << (by & 63) | x >> (-by & 63); }
bool odd(long n) { return n & 1; }
char next_char(char c) { return (char) (c + 1); }
int first(const struct pair *p) { return p ? p->first : -1; }
struct pair *same(struct pair *p) { return p; }
void set_first(struct pair *p, int n) { p->first = n; }
int forty_two(void) { return 42; }

/* a loop, which stays a loop where it is inlined */
long sum_to(long n) {
    long sum = 0;
    for (long i = 1; i <= n; i++)
        sum += i ^ (sum & 1);
    return sum;
}

/* not inlined: variables, calls, recursion, structures by value, variable arguments */
int count(void) { return ++seen; }
long fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
long length(const char *text) { return (long) strlen(text); }
struct pair swapped(struct pair p) { return (struct pair) { .first = (int) p.second, .second = p.first }; }
int apply(int (*f)(int), int x) { return f(x) + count(); }
long total(const unsigned char *bytes, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += bytes[i];
    return sum;
}

/* called like a function of C's library, whose place it must not take */
int puts(const char *text) { return (int) strlen(text) + 1000; }
