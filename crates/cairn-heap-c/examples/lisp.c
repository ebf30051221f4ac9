/* A small Lisp on cairn_heap: how an interpreter keeps its data in a moving, collected heap.
 *
 * Values are small integers (odd words) or references. Kinds of object are told by their layout, which the heap keeps
 * in the header anyway. Environments, closures and programs are objects like any other; roots are precise: each
 * function names its local variables that must survive an allocation (CAIRN_FRAME), and no more.
 *
 *     cc -O2 lisp.c $(pkg-config --cflags --libs cairn-heap) -o lisp && ./lisp        # runs the program below
 *     ./lisp zeal                                                                     # collects at every allocation
 */
#include <cairn_heap.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *value;

static cairn_heap *heap;
static cairn_layout PAIR, SYMBOL, PRIMITIVE, CLOSURE;

struct pair { cairn_header header; value car, cdr; };
struct symbol { cairn_header header; value name, global; };           /* name: an atomic object */
struct primitive { cairn_header header; long operation; };
struct closure { cairn_header header; value parameters, body, environment; };

/* --- Values ------------------------------------------------------------------------------------------------------ */

#define NIL ((value)0)
#define IS_INTEGER(v) ((uintptr_t)(v) & 1)
#define INTEGER(n) ((value)((uintptr_t)(n) << 1 | 1))
#define NUMBER(v) ((long)(intptr_t)(v) >> 1)

static cairn_layout kind(value v) {
    return v && !IS_INTEGER(v) ? *(cairn_header *)v >> CAIRN_LAYOUT_SHIFT & 0xfffff : CAIRN_NO_LAYOUT;
}
#define AS(type, v) ((struct type *)(v))
#define CAR(v) (AS(pair, v)->car)
#define CDR(v) (AS(pair, v)->cdr)

static void fail(const char *why, const char *what) {
    printf("error: %s%s\n", why, what);
    exit(1);
}

static value checked(value v, cairn_layout wanted, const char *why) {
    if (kind(v) != wanted)
        fail(why, "");
    return v;
}

/* Memory, or the end. */
static void *made(void *object) {
    if (!object)
        fail(cairn_error(heap), "");
    return object;
}

static value cons(value car, value cdr) {
    CAIRN_FRAME(heap, CAIRN_ROOT(car), CAIRN_ROOT(cdr));
    struct pair *p = made(CAIRN_NEW(heap, PAIR, struct pair));
    /* A store into an object that is new needs no cairn_set: nothing was allocated since. */
    p->car = car;
    p->cdr = cdr;
    CAIRN_LEAVE(heap);
    return p;
}

/* --- Symbols ----------------------------------------------------------------------------------------------------- */

static value symbols; /* a list of all: a root */
static value S_QUOTE, S_IF, S_LAMBDA, S_DEFINE, S_LET, S_TRUE;

static char *name_of(value symbol) { return cairn_bytes(AS(symbol, symbol)->name); }

static value intern(const char *name, size_t length) {
    for (value l = symbols; l; l = CDR(l))
        if (!strncmp(name_of(CAR(l)), name, length) && !name_of(CAR(l))[length])
            return CAR(l);
    struct symbol *s = NULL;
    value text = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(s), CAIRN_ROOT(text));
    text = made(cairn_new_atomic(heap, length + 1));
    memcpy(cairn_bytes(text), name, length);
    s = made(CAIRN_NEW(heap, SYMBOL, struct symbol));
    s->name = text;
    symbols = cons(s, symbols);
    CAIRN_LEAVE(heap);
    return s;
}
#define SYMBOL_OF(text) intern(text, strlen(text))

/* --- Reader ------------------------------------------------------------------------------------------------------ */

static const char *input;

static void skip_space(void) {
    while (isspace((unsigned char)*input) || *input == ';')
        if (*input == ';')
            while (*input && *input != '\n')
                input++;
        else
            input++;
}

static value read_value(void);

static value read_list(void) {
    skip_space();
    if (*input == ')')
        return input++, NIL;
    if (!*input)
        fail("a list without its end", "");
    value first = NULL, rest = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(first));
    first = read_value();
    rest = read_list();
    rest = cons(first, rest);
    CAIRN_LEAVE(heap);
    return rest;
}

static value read_value(void) {
    skip_space();
    if (*input == '(')
        return input++, read_list();
    if (*input == '\'') {
        input++;
        value quoted = cons(read_value(), NIL);
        return cons(S_QUOTE, quoted);
    }
    if (isdigit((unsigned char)*input) || (*input == '-' && isdigit((unsigned char)input[1])))
        return INTEGER(strtol(input, (char **)&input, 10));
    size_t length = strcspn(input, " \t\n();'");
    if (!length)
        fail("what is this? ", input);
    input += length;
    return intern(input - length, length);
}

/* --- Printer ----------------------------------------------------------------------------------------------------- */

static void print(value v) {
    if (!v)
        printf("()");
    else if (IS_INTEGER(v))
        printf("%ld", NUMBER(v));
    else if (kind(v) == SYMBOL)
        printf("%s", name_of(v));
    else if (kind(v) == PAIR) {
        for (const char *before = "("; v; v = CDR(v), before = " ") {
            printf("%s", before);
            if (kind(v) != PAIR) {
                printf(". ");
                print(v);
                break;
            }
            print(CAR(v));
        }
        printf(")");
    } else
        printf(kind(v) == CLOSURE ? "#<closure>" : "#<primitive>");
}

/* --- Evaluator --------------------------------------------------------------------------------------------------- */

enum { ADD, SUBTRACT, MULTIPLY, REMAINDER, LESS, EQUAL, CONS, FIRST, REST, IS_PAIR, PRINT, OPERATIONS };
static const char *const operations[] = {"+", "-", "*", "remainder", "<", "=", "cons", "car", "cdr", "pair?", "print"};

static value apply_primitive(long operation, value arguments) {
    value a = arguments ? CAR(arguments) : NIL, b = arguments && CDR(arguments) ? CAR(CDR(arguments)) : NIL;
    if (operation <= LESS && !(IS_INTEGER(a) && IS_INTEGER(b)))
        fail("no numbers for ", operations[operation]);
    switch (operation) {
    case ADD: return INTEGER(NUMBER(a) + NUMBER(b));
    case SUBTRACT: return INTEGER(NUMBER(a) - NUMBER(b));
    case MULTIPLY: return INTEGER(NUMBER(a) * NUMBER(b));
    case REMAINDER: return NUMBER(b) ? INTEGER(NUMBER(a) % NUMBER(b)) : (fail("remainder by 0", ""), NIL);
    case LESS: return NUMBER(a) < NUMBER(b) ? S_TRUE : NIL;
    case EQUAL: return a == b ? S_TRUE : NIL;
    case CONS: return cons(a, b);
    case FIRST: return CAR(checked(a, PAIR, "car of no pair"));
    case REST: return CDR(checked(a, PAIR, "cdr of no pair"));
    case IS_PAIR: return kind(a) == PAIR ? S_TRUE : NIL;
    default: print(a); printf("\n"); return a;
    }
}

static value look_up(value symbol, value environment) {
    for (; environment; environment = CDR(environment))
        if (CAR(CAR(environment)) == symbol)
            return CDR(CAR(environment));
    value v = AS(symbol, symbol)->global;
    if (!v && symbol != S_TRUE)
        fail("undefined: ", name_of(symbol));
    return v ? v : symbol;
}

static value eval(value form, value environment);

static value eval_all(value forms, value environment) {
    if (!forms)
        return NIL;
    value first = NULL, rest = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(forms), CAIRN_ROOT(environment), CAIRN_ROOT(first));
    first = eval(CAR(forms), environment);
    rest = eval_all(CDR(forms), environment);
    rest = cons(first, rest);
    CAIRN_LEAVE(heap);
    return rest;
}

static value bind(value names, value values, value environment) {
    CAIRN_FRAME(heap, CAIRN_ROOT(names), CAIRN_ROOT(values), CAIRN_ROOT(environment));
    for (; names; names = CDR(names), values = CDR(values)) {
        if (!values)
            fail("too few arguments", "");
        value binding = cons(CAR(names), CAR(values));
        environment = cons(binding, environment);
    }
    CAIRN_LEAVE(heap);
    return environment;
}

/* Calls in tail position loop: the last form of a body, the branches of an if. */
static value eval(value form, value environment) {
    value head = NULL, function = NULL, result = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(form), CAIRN_ROOT(environment), CAIRN_ROOT(head), CAIRN_ROOT(function));
    for (;;) {
        if (kind(form) == SYMBOL) {
            result = look_up(form, environment);
            break;
        }
        if (kind(form) != PAIR) {
            result = form;
            break;
        }
        head = CAR(form);
        if (head == S_QUOTE) {
            result = CAR(CDR(form));
            break;
        }
        if (head == S_IF) {
            value test = eval(CAR(CDR(form)), environment);
            value branches = CDR(CDR(form));
            form = test ? CAR(branches) : CDR(branches) ? CAR(CDR(branches)) : NIL;
            continue;
        }
        if (head == S_LAMBDA) {
            struct closure *c = made(CAIRN_NEW(heap, CLOSURE, struct closure));
            c->parameters = CAR(CDR(form));
            c->body = CDR(CDR(form));
            c->environment = environment;
            result = c;
            break;
        }
        if (head == S_DEFINE) {
            value defined = eval(CAR(CDR(CDR(form))), environment);
            /* The symbol is older than the value: the heap is told of the store. */
            cairn_set(heap, &AS(symbol, CAR(CDR(form)))->global, defined);
            result = CAR(CDR(form));
            break;
        }
        if (head == S_LET) {
            function = eval(CAR(CDR(CAR(CDR(form)))), environment);
            function = cons(CAR(CAR(CDR(form))), function);
            environment = cons(function, environment);
            form = CAR(CDR(CDR(form)));
            continue;
        }
        function = eval(head, environment);
        value arguments = eval_all(CDR(form), environment);
        if (kind(function) == PRIMITIVE) {
            result = apply_primitive(AS(primitive, function)->operation, arguments);
            break;
        }
        checked(function, CLOSURE, "not a function");
        environment = bind(AS(closure, function)->parameters, arguments, AS(closure, function)->environment);
        head = AS(closure, function)->body;
        for (; CDR(head); head = CDR(head))
            eval(CAR(head), environment);
        form = CAR(head);
    }
    CAIRN_LEAVE(heap);
    return result;
}

/* --- The program ------------------------------------------------------------------------------------------------- */

static const char program[] =
    "(define fib (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))))\n"
    "(print (fib 10))\n"
    "(define range (lambda (a b) (if (< a b) (cons a (range (+ a 1) b)) '())))\n"
    "(define map (lambda (f l) (if (pair? l) (cons (f (car l)) (map f (cdr l))) '())))\n"
    "(define filter (lambda (f l) (if (pair? l) (let (rest (filter f (cdr l))) (if (f (car l)) (cons (car l) rest)\n"
    "  rest)) '())))\n"
    "(define sieve (lambda (l) (if (pair? l) (cons (car l) (sieve (filter (lambda (n) (< 0 (remainder n (car l))))\n"
    "  (cdr l)))) '())))\n"
    "(print (sieve (range 2 40)))\n"
    "; the queens that do not attack each other: how many ways\n"
    "(define safe (lambda (row distance placed) (if (pair? placed)\n"
    "  (if (= (car placed) row) '() (if (= (car placed) (+ row distance)) '() (if (= (car placed) (- row distance)) '()\n"
    "    (safe row (+ distance 1) (cdr placed))))) t)))\n"
    "(define try (lambda (row n placed) (if (< row n)\n"
    "  (+ (if (safe row 1 placed) (queens n (cons row placed)) 0) (try (+ row 1) n placed)) 0)))\n"
    "(define length (lambda (l) (if (pair? l) (+ 1 (length (cdr l))) 0)))\n"
    "(define queens (lambda (n placed) (if (= (length placed) n) 1 (try 0 n placed))))\n"
    "(print (queens 5 '()))\n"
    "(define counter ((lambda (n) (lambda (k) (cons n k))) 42))\n"
    "(print (map counter '(a (b c) 3)))\n"
    "(define loop (lambda (n l) (if (= n 0) l (loop (- n 1) (cons n '())))))\n"
    "(print (loop 1500 '()))\n";

int main(int argc, char **argv) {
    cairn_options options;
    char message[200];
    cairn_options_init(&options);
    options.heap_max = 64 << 20;
    options.zeal = argc > 1 && !strcmp(argv[1], "zeal");
    heap = cairn_heap_new(&options, message, sizeof message);
    if (!heap)
        fail(message, "");
    PAIR = cairn_define(heap, 2, CAIRN_BIT(0) | CAIRN_BIT(1));
    SYMBOL = cairn_define(heap, 2, CAIRN_BIT(0) | CAIRN_BIT(1));
    PRIMITIVE = cairn_define(heap, 1, 0);
    CLOSURE = cairn_define(heap, 3, CAIRN_BIT(0) | CAIRN_BIT(1) | CAIRN_BIT(2));

    value *const roots[] = {&symbols, &S_QUOTE, &S_IF, &S_LAMBDA, &S_DEFINE, &S_LET, &S_TRUE};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        cairn_add_root(heap, roots[i], 1);
    S_QUOTE = SYMBOL_OF("quote"), S_IF = SYMBOL_OF("if"), S_LAMBDA = SYMBOL_OF("lambda");
    S_DEFINE = SYMBOL_OF("define"), S_LET = SYMBOL_OF("let"), S_TRUE = SYMBOL_OF("t");
    value symbol = NULL;
    CAIRN_FRAME(heap, CAIRN_ROOT(symbol));
    for (long i = 0; i < OPERATIONS; i++) {
        symbol = SYMBOL_OF(operations[i]);
        struct primitive *p = made(CAIRN_NEW(heap, PRIMITIVE, struct primitive));
        p->operation = i;
        cairn_set(heap, &AS(symbol, symbol)->global, p);
    }
    CAIRN_LEAVE(heap);
    for (input = program; skip_space(), *input;)
        eval(read_value(), NIL);
    if (cairn_check(heap))
        fail("the heap is damaged: ", cairn_error(heap));
    cairn_heap_free(heap);
    return 0;
}
