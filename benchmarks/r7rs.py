#!/usr/bin/env python3
"""The public r7rs-benchmarks suite (github ecraven/r7rs-benchmarks) under Cairn, and against Chez Scheme.

The suite is not part of Cairn: clone it yourself and name its directory.

  r7rs.py SUITE check [PROGRAM ...]      every program under run/build x chunks/heap: are the results right?
  r7rs.py SUITE compare [PROGRAM ...]    Cairn and Chez alternately, 5 runs each: ratios of time and peak memory

`check` writes benchmarks/out/check.csv, `compare` benchmarks/out/compare.csv (and prints geometric means).
Environment: CAIRN (default ./cairn beside this directory), CHEZ (default chezscheme), RUNS (default 5),
LIMIT (seconds per run, default 300), OPT (low or high), FRAMES and MODES to narrow `check`.
"""
import csv, math, os, re, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
CAIRN = os.environ.get("CAIRN", os.path.join(os.path.dirname(HERE), "cairn"))
CHEZ = os.environ.get("CHEZ", "chezscheme")
RUNS = int(os.environ.get("RUNS", "5"))
LIMIT = int(os.environ.get("LIMIT", "300"))
OPT = os.environ.get("OPT", "high")

PROGRAMS = """ack array1 browse bv2string cat chudnovsky compiler conform cpstak ctak deriv destruc diviter divrec
dynamic earley equal fft fib fibc fibfp gcbench graphs lattice matrix maze mazefun mbrot mbrotZ mperm nboyer
nqueens ntakl nucleic paraffins parsing peval pi pnpoly primes puzzle quicksort ray read1 sboyer scheme simplex
slatex string sum sum1 sumfp tail tak takl triangl wc""".split()


def source(suite, name):
    def read(file):
        with open(os.path.join(suite, "src", file), errors="replace") as f:
            return f.read()
    glue = '\n(define (this-scheme-implementation-name) "cairn")\n'
    return read(name + ".scm") + glue + read("common.scm") + read("common-postlude.scm")


def measured(command, suite, name):
    """Runs one command on the program's input: (reported seconds or None, peak KB, wall seconds, output)."""
    started = time.monotonic()
    with open(os.path.join(suite, "inputs", name + ".input")) as stdin, tempfile.TemporaryFile("w+b") as out:
        child = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=subprocess.STDOUT, cwd=suite)
        peak = None
        deadline = started + LIMIT
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                peak = usage.ru_maxrss
                break
            if time.monotonic() > deadline:
                child.kill()
                os.wait4(child.pid, 0)
                return None, None, time.monotonic() - started, "timeout"
            time.sleep(0.002)
        out.seek(0)
        text = out.read().decode(errors="replace")
    m = re.search(r"\+!CSVLINE!\+[^,]*,[^,]*,([0-9.eE+-]+)", text)
    return (float(m.group(1)) if m else None), peak, time.monotonic() - started, text


def cairn_command(mode, frames, file, directory):
    flags = ["--frames=" + frames, "--opt=" + OPT]
    if mode == "run":
        return [CAIRN, "run", *flags, file], None
    exe = file[:-4] + "." + frames + ".exe"
    build = subprocess.run([CAIRN, "build", *flags, file, "-o", exe], capture_output=True, text=True)
    return [exe], (build.stdout + build.stderr)[-600:] if build.returncode else None


def check(suite, programs):
    modes = os.environ.get("MODES", "run build").split()
    strategies = os.environ.get("FRAMES", "chunks heap").split()
    right = wrong = 0
    with open(os.path.join(HERE, "out", "check.csv"), "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["program", "mode", "frames", "seconds", "peak_kb", "status"])
        for name in programs:
            for mode in modes:
                for frames in strategies:
                    with tempfile.TemporaryDirectory() as d:
                        file = os.path.join(d, name + ".scm")
                        with open(file, "w") as g:
                            g.write(source(suite, name))
                        command, error = cairn_command(mode, frames, file, d)
                        seconds = peak = None
                        if error is None:
                            seconds, peak, wall, error = measured(command, suite, name)
                    ok = seconds is not None
                    right, wrong = right + ok, wrong + (not ok)
                    rows.writerow([name, mode, frames, seconds, peak, "ok" if ok else "failed"])
                    f.flush()
                    print(f"{name:12} {mode:5} {frames:6} {f'{seconds:8.3f}' if ok else 'FAILED'}", flush=True)
                    if not ok:
                        print("    " + error[-500:].replace("\n", "\n    "))
    print(f"{right} passed, {wrong} failed")
    return wrong == 0


CHEZ_PRELUDE = """
(define (current-jiffy) (let ((t (current-time 'time-monotonic))) (+ (* 1000000000 (time-second t)) (time-nanosecond t))))
(define (jiffies-per-second) 1000000000)
(define (current-second) (/ (current-jiffy) 1e9))
(define (inexact x) (exact->inexact x))
(define (exact x) (inexact->exact x))
(define (square x) (* x x))
(define (exact-integer? x) (and (integer? x) (exact? x)))
(define (write-string s . r) (apply display s r))
(define (read-line . r) (apply get-line (if (null? r) (list (current-input-port)) r)))
(define (truncate-quotient a b) (quotient a b))
(define (truncate-remainder a b) (remainder a b))
(define (floor-remainder a b) (modulo a b))
(define (floor-quotient a b) (floor (/ a b)))
(define (open-input-bytevector b) (open-bytevector-input-port b))
(define (string->vector s) (list->vector (string->list s)))
(define (vector->string v) (list->string (vector->list v)))
(define (read-u8 . r) (apply get-u8 r))
(define (this-scheme-implementation-name) "chez")
"""


def chez_source(suite, name, exports):
    """The program as an R6RS top-level program: definitions of R7RS names that Chez lacks come first."""
    text = source(suite, name).replace('(define (this-scheme-implementation-name) "cairn")', "")
    text = drop_imports(text)
    defined = set(re.findall(r"^\(define\s+\(?([^\s()]+)", text, re.M))
    prelude = [line for line in CHEZ_PRELUDE.splitlines()
               if not ((m := re.match(r"\(define\s+\(?([^\s()]+)", line)) and m.group(1) in defined)]
    mine = defined | set(re.findall(r"^\(define\s+\(?([^\s()]+)", "\n".join(prelude), re.M))
    shadowed = " ".join(sorted(n for n in mine if n in exports))
    return f"(import (except (chezscheme) {shadowed}))\n" + "\n".join(prelude) + text


def drop_imports(text):
    while (m := re.search(r"^\(import\b", text, re.M)):
        depth, i = 0, m.start()
        while True:
            depth += {"(": 1, ")": -1}.get(text[i], 0)
            i += 1
            if depth == 0:
                break
        text = text[:m.start()] + text[i:]
    return text


def compare(suite, programs):
    listing = "(for-each (lambda (s) (display s) (newline)) (library-exports '(chezscheme)))"
    exports = set(subprocess.run([CHEZ, "-q"], input=listing, capture_output=True, text=True).stdout.split())
    ratios_time, ratios_memory = [], []
    frames = os.environ.get("FRAMES", "chunks").split()[0]
    with open(os.path.join(HERE, "out", "compare.csv"), "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["program", "cairn_s", "chez_s", "time_ratio", "cairn_kb", "chez_kb", "memory_ratio"])
        print(f"{'program':12} {'cairn s':>9} {'chez s':>9} {'time':>6} {'memory':>7}")
        for name in programs:
            with tempfile.TemporaryDirectory() as d:
                file, chez_file = os.path.join(d, name + ".scm"), os.path.join(d, name + ".chez.scm")
                with open(file, "w") as g:
                    g.write(source(suite, name))
                with open(chez_file, "w") as g:
                    g.write(chez_source(suite, name, exports))
                ours, error = cairn_command("build", frames, file, d)
                theirs = [CHEZ, "--optimize-level", "2", "--program", chez_file]
                a, b = [], []
                for _ in range(RUNS):
                    if error is None:
                        a.append(measured(ours, suite, name))
                    b.append(measured(theirs, suite, name))
                    if a and a[-1][0] is None and b[-1][0] is None:
                        break
            def median(results, i):
                good = [r[i] for r in results if r[0] is not None]
                return statistics.median(good) if good and len(good) == len(results) else None
            t, u, m, n = median(a, 0), median(b, 0), median(a, 1), median(b, 1)
            rt = t / u if t is not None and u else None
            rm = m / n if m and n and rt is not None else None
            rows.writerow([name, t, u, rt, m, n, rm])
            f.flush()
            cell = lambda x, w: f"{x:{w}.3f}" if x is not None else "-".rjust(w)
            print(f"{name:12} {cell(t, 9)} {cell(u, 9)} {cell(rt, 6)} {cell(rm, 7)}", flush=True)
            if rt:
                ratios_time.append(max(rt, 1e-3))
                ratios_memory.append(rm)
    mean = lambda xs: math.exp(sum(map(math.log, xs)) / len(xs)) if xs else float("nan")
    print(f"geometric mean of {len(ratios_time)} programs: time {mean(ratios_time):.3f}, peak memory {mean(ratios_memory):.3f}")
    return True


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("check", "compare") or not os.path.isdir(os.path.join(sys.argv[1], "src")):
        sys.exit(__doc__)
    suite, action, programs = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or PROGRAMS
    os.makedirs(os.path.join(HERE, "out"), exist_ok=True)
    sys.exit(0 if {"check": check, "compare": compare}[action](suite, programs) else 1)


main()
