/* Uses the library of counting.scm; each test is a function, and says what is not as it should be. */
#include "counting.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) do { if (!(x)) { printf("line %d: %s; %s\n", __LINE__, #x, counting_error()); exit(1); } } while (0)

static void types(void) {
  int here;
  char both[40];
  /* whichever is called first */
  snprintf(both, sizeof both, "%s%s%d", greet("a"), greet("b"), add(1, 1));
  CHECK(strcmp(both, "Grüße, a!Grüße, b!2") == 0);
  CHECK(add(40, 2) == 42 && counting_error() == NULL);
  CHECK(add(2147483647, -1) == 2147483646 && halve(5) == 2.5 && halve_float(5) == 2.5f);
  CHECK(is_even(254) && !is_even(255) && upper('x') == 'X' && negate(-127) == 127);
  CHECK(most() == UINT64_MAX && same(&here) == &here && same(NULL) == NULL);
  CHECK(weigh(1, 1.5, 1, 2.5, 1, 1, 1, 1, 1, 0.5f) == 1 + 3 + 3 + 10 + 5 + 6 + 7 + 8 + 9 + 5);
  CHECK(strcmp(greet("Ünal"), "Grüße, Ünal!") == 0 && greet(NULL) == NULL && counting_error() == NULL);
}

static void errors(void) {
  CHECK(element(1) == 3 && counting_error() == NULL);
  CHECK(element(7) == 0);
  const char *error = counting_error();
  CHECK(strstr(error, "error: vector-ref: a vector of length 3 has no element 7\n") == error);
  CHECK(strstr(error, "--> counting.scm:") && strstr(error, "^^^^"));
  CHECK(element(0) == 2 && counting_error() == NULL);
  CHECK(add(2147483647, 1) == 0 && strstr(counting_error(), "add: the result must be an int") != NULL);
  CHECK(wrong() == 0 && strstr(counting_error(), "wrong: the result must be an int"));
  CHECK(with_nul() == NULL && strstr(counting_error(), "without NUL"));
  throw(17);
  CHECK(strstr(counting_error(), "uncaught exception: 17"));
  for (int i = 0; i < 20000; i++) CHECK(element(7) == 0 && counting_error());
}

static void memory(void) {
  long length = churn(300000);
  CHECK(length > 0);
  for (int i = 0; i < 20; i++) CHECK(churn(300000) > length);
  CHECK(deep(1000000) == 1000000 && deep(1000000) == 1000000);
  for (int i = 0; i < 1000; i++) CHECK(next() == i);
}

static int twice(int n) { return 2 * n; }
static int failing(int n) { return element(n + 10); }
/* Scheme, C, Scheme, C, … */
static int nested(int n) { return n == 0 ? (int) (churn(2000) * 0) : 1 + call_with(nested, n - 1); }
static int with_garbage(int n) { churn(500); return add(n, 1); }

static void calls_of_c(void) {
  CHECK(call_with(twice, 21) == 42 && sum_by(twice, 1000) == 999000);
  CHECK(sum_by(with_garbage, 100) == 5050);
  CHECK(call_with(nested, 100) == 100 && counting_error() == NULL);
  /* an error of the inner call is that of C in between, which goes on */
  CHECK(call_with(failing, 1) == 0 && counting_error() == NULL);
  CHECK(by_threads(10) == 200045);
}

static void callbacks(void) {
  int (*f)(int, double) = (int (*)(int, double)) callback();
  CHECK(f && f(40, 2.0) == 42 && counting_error() == NULL);
  CHECK(f(-1, 0) == 0 && strstr(counting_error(), "negative: -1"));
  CHECK(f(1, 1.0) == 2 && counting_error() == NULL);
}

static void *thread(void *rounds) {
  for (long i = 0; i < (long) rounds; i++) {
    char name[40], expected[60];
    sprintf(name, "%lx %ld", (long) pthread_self(), i);
    sprintf(expected, "Grüße, %s!", name);
    CHECK(strcmp(greet(name), expected) == 0);
    if (i % 7 == 0) CHECK(element(3 + (int) (i % 5)) == 0 && strstr(counting_error(), "no element"));
    if (i % 50 == 0) CHECK(deep(20000) == 20000 && call_with(with_garbage, 5) == 6);
    count();
  }
  return NULL;
}

/* Several threads with small stacks. */
static void threads(void) {
  pthread_t all[8];
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK(pthread_attr_setstacksize(&small, 64 << 10) == 0);
  for (int i = 0; i < 8; i++) CHECK(pthread_create(&all[i], &small, thread, (void *) 300L) == 0);
  for (int i = 0; i < 8; i++) pthread_join(all[i], NULL);
  CHECK(count() == 2401);
  /* threads come and go */
  for (int i = 0; i < 100; i++) {
    CHECK(pthread_create(&all[0], &small, thread, (void *) 1L) == 0);
    pthread_join(all[0], NULL);
  }
}

static volatile sig_atomic_t seen;
static void note(int signal) { seen = signal; }

/* The signals of the host are its own. */
static void signals(void) {
  struct sigaction before[32], after;
  signal(SIGINT, note);
  for (int i = 1; i < 32; i++) sigaction(i, NULL, &before[i]);
  CHECK(add(1, 1) == 2 && deep(100000) == 100000);
  for (int i = 1; i < 32; i++) {
    sigaction(i, NULL, &after);
    /* a stack that grows by faults has a handler, which hands on what is not its own */
    if (i != SIGSEGV) CHECK(after.sa_handler == before[i].sa_handler);
  }
  raise(SIGINT);
  CHECK(seen == SIGINT && add(1, 1) == 2);
}

static void leaving(void) {
  CHECK(add(1, 2) == 3);
  leave(7);
  CHECK(strcmp(counting_error(), "error: the library's program has ended: exit status 7") == 0);
  CHECK(add(1, 2) == 0 && strstr(counting_error(), "exit status 7"));
  CHECK(counting_close() == 0 && counting_error() == NULL);
}

static int closes(int n) { CHECK(counting_close() == -1 && strstr(counting_error(), "cannot close")); return n; }

static void closing(void) {
  CHECK(counting_start() == 0 && add(1, 2) == 3 && call_with(closes, 4) == 4);
  CHECK(counting_close() == 0);
  CHECK(add(1, 2) == 0 && strcmp(counting_error(), "error: the library is closed") == 0);
  CHECK(counting_start() == -1 && counting_close() == 0);
}

static int leaves(int n) { leave(n); CHECK(0); return n; }

static void leaving_from_within(void) {
  CHECK(call_with(leaves, 9) == 0 && strstr(counting_error(), "exit status 9"));
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*test)(void); } tests[] = {
    { "types", types }, { "errors", errors }, { "memory", memory }, { "calls of C", calls_of_c },
    { "callbacks", callbacks }, { "threads", threads }, { "signals", signals }, { "leaving", leaving },
    { "closing", closing }, { "leaving from within", leaving_from_within },
  };
  if (argc == 1) { /* the usual order, in one process */
    signals(); types(); errors(); memory(); callbacks(); threads(); types();
    say("said\n");
    puts("all is well");
    return 0;
  }
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (strcmp(argv[1], tests[i].name) == 0) { tests[i].test(); puts("well"); return 0; }
  return 2;
}
