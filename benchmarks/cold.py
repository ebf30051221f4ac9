#!/usr/bin/env python3
"""Cold starts: hello world, ten lines, and files of tests with a `guard` each, against Chez Scheme.

Each program is compiled or evaluated from nothing, in a process of its own, alternating with Chez's `scheme --program`;
the median wall-clock time, processor time and peak memory of each are printed with their ratio.

    benchmarks/cold.py [--cairn PATH] [--option=--opt=auto] [--rounds N]
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
TESTS = [
    "(check \"t{0}\" (equal? (reverse '(1 2 {0})) '({0} 2 1)))",
    '(check "t{0}" (= (+ 1 {0}) (+ {0} 1)))',
    '(check "t{0}" (string=? (number->string {0}) "{0}"))',
    "(check \"t{0}\" (equal? (map (lambda (x) (* x {0})) '(1)) '({0})))",
]


def tests(count):
    """A program of `count` one-line tests, for both systems."""
    lines = [
        "(define fails 0)",
        "(define (check name ok) (if (not ok) (begin (set! fails (+ fails 1)) (display name) (newline))))",
    ]
    for i in range(count):
        lines.append(f'(guard (e (#t (check "t{i}" #f))) {TESTS[i % len(TESTS)].format(i)})')
    return "\n".join(lines + ["(display fails)", "(newline)"])


def ten_lines(table, size):
    """Ten lines with a hash table and lists."""
    return f"""(define t {table})
(for-each (lambda (k) (hash-table-set! t k (* k k))) '(0 1 2 3 4 5 6 7 8 9))
(define evens (filter even? (map (lambda (k) (hash-table-ref t k (lambda () #f))) '(0 1 2 3 4 5 6 7 8 9))))
(display (apply + evens))
(newline)
(display ({size} t))
(newline)"""


def programs():
    """Name, text for Cairn, text for Chez."""
    hello = '(display "Hello, world!")\n(newline)'
    base, chez = "(import (scheme base) (scheme write))\n", "(import (chezscheme))\n"
    library = "(import (scheme base) (scheme write) (srfi 69) (srfi 1))\n"
    stand_ins = "(define (hash-table-set! t k v) (hashtable-set! t k v))\n" \
                "(define (hash-table-ref t k f) (hashtable-ref t k #f))\n"
    yield "hello", base + hello, chez + hello
    yield ("ten lines", library + ten_lines("(make-hash-table)", "hash-table-size"),
           chez + stand_ins + ten_lines("(make-hashtable equal-hash equal?)", "hashtable-size"))
    for count in (200, 1000, 4000):
        yield f"{count} tests", base + tests(count), chez + tests(count)


def measure(command):
    """Seconds, processor seconds and peak megabytes of a process; stops if it fails."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cairn", type=Path, default=ROOT / "target/release/cairn")
    parser.add_argument("--option", action="append", default=[], help="for cairn run")
    parser.add_argument("--chez", default="scheme")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'program':12} {'Cairn s':>9} {'cpu':>7} {'MB':>6} {'Chez s':>9} {'cpu':>7} {'MB':>6} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as directory:
        for name, ours, theirs in programs():
            ours_file, theirs_file = Path(directory, "program.scm"), Path(directory, "program.ss")
            ours_file.write_text(ours)
            theirs_file.write_text(theirs)
            commands = [
                [options.cairn, "run", "--no-cache", *options.option, ours_file],
                [options.chez, "--program", theirs_file],
            ]
            runs = [[measure(c) for c in commands] for _ in range(options.rounds)]
            rows = [[statistics.median(column) for column in zip(*of)] for of in zip(*runs)]
            shown = "".join(f" {s:9.3f} {cpu:7.3f} {mb:6.0f}" for s, cpu, mb in rows)
            print(f"{name:12}{shown} {rows[0][0] / rows[1][0]:6.2f}", flush=True)


if __name__ == "__main__":
    main()
