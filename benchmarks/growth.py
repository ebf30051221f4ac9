#!/usr/bin/env python3
"""Programs whose compilation once grew faster than their size, each at its size and at a tenth of it.

Each is compiled or evaluated from nothing, in a process of its own; the median processor seconds and peak memory of
both sizes are printed, and how much longer the ten times larger one takes; with --chez, also what Chez Scheme takes to
compile and run the larger one.

    benchmarks/growth.py [--cairn PATH] [--option=--opt=high] [--rounds N] [--build] [--chez] [ROW ...]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORTS = "(import (scheme base) (scheme write))\n"


def names(n, prefix="x"):
    return " ".join(f"{prefix}{i}" for i in range(n))


def cycle(n):
    """Procedures that call each other in a circle, not in tail position."""
    calls = "\n".join(f"(define (f{i} k) (if (< k 1) {i} (+ 1 (f{(i + 1) % n} (- k 1)))))" for i in range(n))
    return f"{calls}\n(display (f0 {n}))"


def cycle_of_tail_calls(n):
    """The same with tail calls."""
    calls = "\n".join(f"(define (f{i} k) (if (< k 1) {i} (f{(i + 1) % n} (- k 1))))" for i in range(n))
    return f"{calls}\n(display (f0 {n}))"


def internal(n):
    """A body of internal procedures, each of which refers to the next."""
    lines = "\n".join(f"  (define (g{i} x) (if (< x 1) {i} (+ x (g{(i + 1) % n} (- x 1)))))" for i in range(n))
    return f"(define (f x)\n{lines}\n  (g0 x))\n(display (f {n}))"


def define_values(n):
    """One definition of many names."""
    return f"(define-values ({names(n)}) (values {' '.join(map(str, range(n)))}))\n(display (+ x0 x{n - 1}))"


def case(n):
    """A clause of many symbols."""
    return f"(define (f x) (case x (({names(n, 's')}) 1) (else 2)))\n(display (+ (f 's{n - 1}) (f 'other)))"


def nested(n):
    """Lambdas inside of each other, all variables used in the innermost."""
    opening = "".join(f"(lambda (x{i}) " for i in range(n))
    return f"(define f {opening}(+ x0 x{n - 1}){')' * n})\n(display (procedure? (f 1)))"


def live(n):
    """Variables that all live across a call."""
    bindings = " ".join(f"(x{i} (f {i}))" for i in range(n))
    return f"(define (f x) (if (< x 0) (f (+ x 1)) x))\n(define (g) (let* ({bindings}) (+ {names(n)})))\n(display (g))"


def lines(n, line):
    return "\n".join(line.replace("#", str(i)) for i in range(n))


def loops(n):
    """Procedures that are a loop each."""
    define = "(define (f# v n) (do ((i 0 (+ i 1)) (s 0 (+ s (vector-ref v i)))) ((= i n) (+ s #))))"
    calls = lines(n, "(set! sum (+ sum (f# v 100)))")
    return f"{lines(n, define)}\n(define v (make-vector 100 1))\n(define sum 0)\n{calls}\n(display sum)"


def straight(n):
    """Small procedures without loops, all of them called as values."""
    define = "(define (f# x y) (if (< x y) (+ (* x #) y) (list x (- y #))))"
    all_of_them = f"(define all (list {names(n, 'f')}))"
    return f"{lines(n, define)}\n{all_of_them}\n(display (map (lambda (f) (f 1 2)) all))"


def higher(n):
    """Procedures that map, filter and search lists."""
    define = """(define (q# l)
  (let ((ys (map (lambda (x) (* x #)) (only (lambda (x) (> x #)) l))))
    (for-each (lambda (y) (if (odd? y) (display y))) ys)
    (assq 'k# (list (cons 'a ys)))))"""
    only = "(define (only p l) (if (null? l) '() (if (p (car l)) (cons (car l) (only p (cdr l))) (only p (cdr l)))))"
    return f"{only}\n{lines(n, define)}\n{lines(n, '(q# (list 1 2 3))')}"


def strings(n):
    """Procedures that put strings together."""
    define = """(define (g# name n)
  (string-append "item#: " name " has " (number->string n) (if (= n 1) " part" " parts") "."))"""
    calls = lines(n, '(set! out (+ out (string-length (g# "x" #))))')
    return f"{lines(n, define)}\n(define out 0)\n{calls}\n(display out)"


def top_level(n):
    """Top-level expressions."""
    return "(define x 0)\n" + lines(n, "(set! x (+ x #))\n(display (list x 'a#))")


ROWS = {
    "cycle": (cycle, 4000),
    "tail cycle": (cycle_of_tail_calls, 4000),
    "internal": (internal, 5000),
    "define-values": (define_values, 2000),
    "case": (case, 4000),
    "nested": (nested, 10000),
    "live": (live, 2000),
    "loops": (loops, 1600),
    "straight": (straight, 2000),
    "higher": (higher, 1500),
    "strings": (strings, 1500),
    "top level": (top_level, 2000),
}


def measure(command, limit):
    """Processor seconds and peak megabytes of a process; None if it takes too long."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    end = time.monotonic() + limit
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            process.kill()
            os.wait4(process.pid, 0)
            process.returncode = -9
            return None
        time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cairn", type=Path, default=ROOT / "target/release/cairn")
    parser.add_argument("--option", action="append", default=[], help="for cairn")
    parser.add_argument("--build", action="store_true", help="measure `cairn build`")
    parser.add_argument("--chez", action="store_true", help="measure `scheme --script`, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a run is given up")
    parser.add_argument("row", nargs="*", help=f"of {', '.join(ROWS)}")
    options = parser.parse_args()
    print(f"{'program':14} {'size':>6} {'cpu s':>8} {'MB':>6} {'a tenth':>8} {'MB':>6} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as directory:
        for name in options.row or ROWS:
            make, size = ROWS[name]
            medians = []
            for n in (size, size // 10):
                file = Path(directory, "program.scm")
                file.write_text(IMPORTS + make(n))
                command = [options.cairn, "build" if options.build else "run", "--no-cache", *options.option, file]
                if options.build:
                    command += ["-o", Path(directory, "program")]
                runs = [measure(command, options.limit) for _ in range(options.rounds)]
                medians.append(None if None in runs else [statistics.median(column) for column in zip(*runs)])
            shown = "".join(f" {m[0]:8.2f} {m[1]:6.0f}" if m else f" {'–':>8} {'–':>6}" for m in medians)
            if options.chez:
                file.write_text(make(size))
                runs = [measure(["scheme", "--script", file], options.limit) for _ in range(options.rounds)]
                shown += f"  chez {statistics.median(r[0] for r in runs):.2f}" if None not in runs else "  chez –"
            ratio = f"{medians[0][0] / medians[1][0]:6.1f}" if all(medians) else f"{'–':>6}"
            print(f"{name:14} {size:6}{shown} {ratio}", flush=True)


if __name__ == "__main__":
    main()
