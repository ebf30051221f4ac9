#!/usr/bin/env python3
"""The public r7rs-benchmarks suite (github ecraven/r7rs-benchmarks) under Cairn, and against Chez Scheme.

The suite is not part of Cairn: clone it yourself and name its directory.

  r7rs.py SUITE check [PROGRAM ...]      every program under run/build x chunks/heap x low/high: are the results right?
  r7rs.py SUITE compare [PROGRAM ...]    Cairn and Chez alternately: medians, ratios of time and of peak memory
  r7rs.py SUITE first [PROGRAM ...]      first runs at a tenth of the inputs, compilation included: ratios of wall and of
                                         processor time, that of background processes and of what they leave included
  r7rs.py SUITE report                   the last comparison as a Markdown table, and as a plot (needs matplotlib)

Results go to benchmarks/out: check.csv, compare.csv (one row per program), runs.csv (every single run), compare.svg.
A program's time is the wall seconds it reports itself, its memory the peak resident size of its process. A result
counts when the program's own check of its answer passed.
"""
import argparse, csv, ctypes, math, os, platform, re, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "out")

PROGRAMS = """ack array1 browse bv2string cat chudnovsky compiler conform cpstak ctak deriv destruc diviter divrec
dynamic earley equal fft fib fibc fibfp gcbench graphs lattice matrix maze mazefun mbrot mbrotZ mperm nboyer
nqueens ntakl nucleic paraffins parsing peval pi pnpoly primes puzzle quicksort ray read1 sboyer scheme simplex
slatex string sum sum1 sumfp tail tak takl triangl wc""".split()


def source(suite, name, system):
    """The program as the suite assembles it: the program, its timing harness, its call."""
    def read(file):
        with open(os.path.join(suite, "src", file), errors="replace") as f:
            return f.read()
    glue = f'\n(define (this-scheme-implementation-name) "{system}")\n'
    return read(name + ".scm") + glue + read("common.scm") + read("common-postlude.scm")


def measured(command, suite, name, limit):
    """One run on the program's input: (seconds it reports or None, peak KB, output)."""
    with open(os.path.join(suite, "inputs", name + ".input")) as stdin, tempfile.TemporaryFile("w+b") as out:
        child = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=subprocess.STDOUT, cwd=suite)
        deadline, peak = time.monotonic() + limit, 0
        while child.poll() is None:
            peak = resident_peak(child.pid) or peak
            if time.monotonic() > deadline:
                child.kill()
                child.wait()
                return None, None, f"no result after {limit} s"
            time.sleep(0.005)
        out.seek(0)
        text = out.read().decode(errors="replace")
    m = re.search(r"\+!CSVLINE!\+[^,]*,[^,]*,([0-9.eE+-]+)", text)
    return (float(m.group(1)) if m else None), peak, text


def resident_peak(pid):
    """Peak resident KB of a running process so far. The peak that `wait` reports would do, were it not at least the size of
    this script: the kernel counts what a child was before it became the program."""
    with open(f"/proc/{pid}/status") as f:
        m = re.search(r"VmHWM:\s*(\d+)", f.read())
    return int(m.group(1)) if m else None


def cairn_command(options, mode, frames, opt, file):
    """(command, seconds to build, error)"""
    flags = ["--frames=" + frames, "--opt=" + opt]
    if mode == "run":
        return [options.cairn, "run", *flags, file], None, None
    exe = file[:-4] + ".exe"
    started = time.monotonic()
    build = subprocess.run([options.cairn, "build", *flags, file, "-o", exe], capture_output=True, text=True)
    return [exe], time.monotonic() - started, (build.stdout + build.stderr) if build.returncode else None


def written(directory, name, text):
    file = os.path.join(directory, name)
    with open(file, "w") as f:
        f.write(text)
    return file


def check(options):
    right = wrong = 0
    with open(os.path.join(OUT, "check.csv"), "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["program", "mode", "frames", "opt", "seconds", "peak_kb", "status"])
        for name in options.programs:
            for mode, frames, opt in ((m, s, o) for o in options.opt for s in options.frames for m in options.modes):
                with tempfile.TemporaryDirectory() as d:
                    file = written(d, name + ".scm", source(options.suite, name, "cairn"))
                    command, _, error = cairn_command(options, mode, frames, opt, file)
                    seconds = peak = None
                    if error is None:
                        seconds, peak, error = measured(command, options.suite, name, options.limit)
                ok = seconds is not None
                right, wrong = right + ok, wrong + (not ok)
                rows.writerow([name, mode, frames, opt, seconds, peak, "ok" if ok else "failed"])
                f.flush()
                print(f"{name:12} {mode:5} {frames:6} {opt:4} {f'{seconds:8.3f}' if ok else 'FAILED'}", flush=True)
                if not ok:
                    print("    " + error[-600:].replace("\n", "\n    "))
    print(f"{right} passed, {wrong} failed")
    return wrong == 0


# R7RS names that Chez Scheme 9.5.8 lacks or takes otherwise; a program's own definition of a name replaces ours.
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
"""

# R7RS's record types by Chez's own (R6RS) ones.
CHEZ_RECORDS = """
(define-syntax define-record-type
  (syntax-rules ()
    ((_ type (maker arg ...) pred field ...) (define-r7rs-record type maker pred () field ...))))
(define-syntax define-r7rs-record
  (syntax-rules ()
    ((_ type maker pred (done ...) (f get set) more ...)
     (define-r7rs-record type maker pred (done ... (mutable f get set)) more ...))
    ((_ type maker pred (done ...) (f get) more ...)
     (define-r7rs-record type maker pred (done ... (immutable f get)) more ...))
    ((_ type maker pred (done ...)) (r6rs:define-record-type (type maker pred) (fields done ...)))))
"""


def chez_source(suite, name, exports):
    """The program as an R6RS top-level program: definitions of R7RS names that Chez lacks come first."""
    text = drop_imports(source(suite, name, "chez"))
    defined = set(re.findall(r"^\(define\s+\(?([^\s()]+)", text, re.M))
    prelude = [line for line in CHEZ_PRELUDE.splitlines()
               if not ((m := re.match(r"\(define\s+\(?([^\s()]+)", line)) and m.group(1) in defined)]
    mine = defined | set(re.findall(r"^\(define\s+\(?([^\s()]+)", "\n".join(prelude), re.M))
    records = "(define-record-type" in text
    shadowed = " ".join(sorted(n for n in mine if n in exports))
    imported = f"(except (chezscheme) {shadowed})"
    if records:
        imported = f"(rename {imported} (define-record-type r6rs:define-record-type))"
    return f"(import {imported})\n" + (CHEZ_RECORDS if records else "") + "\n".join(prelude) + text


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


COLUMNS = ["program", "cairn_s", "chez_s", "time_ratio", "cairn_kb", "chez_kb", "memory_ratio", "cairn_build_s"]


def chez_exports(options):
    listing = "(for-each (lambda (s) (display s) (newline)) (library-exports '(chezscheme)))"
    return set(subprocess.run([options.chez, "-q"], input=listing, capture_output=True, text=True).stdout.split())


def first_run(command, text, suite, limit):
    """Wall seconds of one run with an empty cache, or None if it fails. When it ends, so do the processes that it has
    started; this process inherits them, so their times are those of children."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryFile("w+") as stdin:
        stdin.write(text), stdin.seek(0)
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=suite,
                                 env={**os.environ, "CAIRN_CACHE_DIR": cache})
        while child.poll() is None and time.monotonic() < began + limit:
            time.sleep(0.001)
        wall = time.monotonic() - began
        child.kill()
        while True:
            for pid in orphans():
                os.kill(pid, 9)
            try:
                os.wait()
            except ChildProcessError:
                break
        return wall if child.returncode == 0 else None


def orphans():
    """Processes whose parent this one is."""
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as f:
        return [int(pid) for pid in f.read().split()]


def compare_first_runs(options):
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    exports, means = chez_exports(options), {"wall": [], "processor": []}
    print(f"{'program':12} {'cairn s':>9} {'chez s':>9} {'wall':>6} {'processor':>9}")
    for name in options.programs:
        with open(os.path.join(options.suite, "inputs", name + ".input"), errors="replace") as f:
            count, _, rest = f.read().partition("\n")
        text = f"{max(1, int(count) // 10)}\n{rest}"
        with tempfile.TemporaryDirectory() as d:
            file = written(d, name + ".scm", source(options.suite, name, "cairn"))
            chez_file = written(d, name + ".chez.scm", chez_source(options.suite, name, exports))
            commands = {"cairn": [options.cairn, "run", file],
                        "chez": [options.chez, "--optimize-level", "2", "--program", chez_file]}
            results = {system: [] for system in commands}
            for _ in range(options.runs):
                for system, command in commands.items():
                    spent = os.times()
                    wall = first_run(command, text, options.suite, options.limit)
                    now = os.times()
                    processor = now.children_user + now.children_system - spent.children_user - spent.children_system
                    results[system].append((wall, processor))
        if any(wall is None for rs in results.values() for wall, _ in rs):
            print(f"{name:12} fails")
            continue
        (a, x), (b, y) = ([statistics.median(r[i] for r in results[s]) for i in (0, 1)] for s in ("cairn", "chez"))
        means["wall"].append(math.log(a / b)), means["processor"].append(math.log(x / y))
        print(f"{name:12} {a:9.3f} {b:9.3f} {a / b:6.2f} {x / y:9.2f}", flush=True)
    mean = {k: math.exp(sum(v) / len(v)) for k, v in means.items()}
    print(f"geometric mean of {len(means['wall'])} programs: wall {mean['wall']:.3f}, processor time {mean['processor']:.3f}")
    return True


def compare(options):
    exports = chez_exports(options)
    frames, opt = options.frames[0], options.opt[-1]
    with open(os.path.join(OUT, "compare.csv"), "w", newline="") as f, open(os.path.join(OUT, "runs.csv"), "w") as g:
        rows, runs = csv.writer(f), csv.writer(g)
        rows.writerow(COLUMNS)
        runs.writerow(["program", "system", "run", "seconds", "peak_kb"])
        print(f"{'program':12} {'cairn s':>9} {'chez s':>9} {'time':>6} {'memory':>7} {'build s':>8}")
        for name in options.programs:
            with tempfile.TemporaryDirectory() as d:
                file = written(d, name + ".scm", source(options.suite, name, "cairn"))
                chez_file = written(d, name + ".chez.scm", chez_source(options.suite, name, exports))
                ours, built, error = cairn_command(options, "build", frames, opt, file)
                if error:
                    sys.exit(error)
                theirs = [options.chez, "--optimize-level", "2", "--program", chez_file]
                results = {"cairn": [], "chez": []}
                for run in range(options.runs):
                    for system, command in ("cairn", ours), ("chez", theirs):
                        result = measured(command, options.suite, name, options.limit)
                        results[system].append(result)
                        runs.writerow([name, system, run + 1, *result[:2]])
                        if result[0] is None:
                            print(f"    {name} under {system}: {result[2][-300:]}")
            def median(system, i):
                values = [r[i] for r in results[system]]
                return statistics.median(values) if all(r[0] is not None for r in results[system]) else None
            t, u, m, n = median("cairn", 0), median("chez", 0), median("cairn", 1), median("chez", 1)
            both = t is not None and u is not None
            row = [name, t, u, t / u if both else None, m, n, m / n if both else None, round(built, 2)]
            rows.writerow(row)
            f.flush(), g.flush()
            cell = lambda x, w: f"{x:{w}.3f}" if x is not None else "-".rjust(w)
            print(f"{name:12} {cell(t, 9)} {cell(u, 9)} {cell(row[3], 6)} {cell(row[6], 7)} {cell(built, 8)}", flush=True)
    time_mean, memory_mean, count = means(read_comparison())
    print(f"geometric mean of {count} programs: time {time_mean:.3f}, peak memory {memory_mean:.3f}")
    return True


def read_comparison():
    with open(os.path.join(OUT, "compare.csv")) as f:
        return [{k: v if k == "program" else float(v) if v else None for k, v in row.items()} for row in csv.DictReader(f)]


def means(rows):
    def mean(column):
        values = [math.log(row[column]) for row in rows if row[column]]
        return math.exp(sum(values) / len(values))
    return mean("time_ratio"), mean("memory_ratio"), sum(1 for row in rows if row["time_ratio"])


def report(options):
    """The last comparison as a table on standard output and a plot beside its CSV."""
    rows = read_comparison()
    print("| program | Cairn s | Chez s | time ratio | memory ratio | build s |\n|---|---|---|---|---|---|")
    cell = lambda x: f"{x:.2f}" if x is not None else "–"
    for row in rows:
        shown = (row[c] for c in ("cairn_s", "chez_s", "time_ratio", "memory_ratio", "cairn_build_s"))
        print(f"| {row['program']} | " + " | ".join(map(cell, shown)) + " |")
    time_mean, memory_mean, count = means(rows)
    print(f"| **geometric mean of {count}** | | | **{time_mean:.2f}** | **{memory_mean:.2f}** | |")
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed (python3 -m pip install matplotlib)", file=sys.stderr)
        return True
    matplotlib.use("svg")
    from matplotlib import pyplot
    shown = sorted((row for row in rows if row["time_ratio"]), key=lambda row: row["time_ratio"])
    figure, axes = pyplot.subplots(figsize=(8, 0.19 * len(shown) + 1.2))
    at = range(len(shown))
    axes.hlines(at, [r["memory_ratio"] for r in shown], [r["time_ratio"] for r in shown], color="#cccccc", linewidth=1)
    axes.plot([r["time_ratio"] for r in shown], at, "o", color="#1b5e8c", markersize=5, label=f"time (mean {time_mean:.2f})")
    axes.plot([r["memory_ratio"] for r in shown], at, "D", color="#c0702a", markersize=4, label=f"peak memory (mean {memory_mean:.2f})")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(at, [r["program"] for r in shown], fontsize=7)
    axes.set_xscale("log")
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("Cairn / Chez Scheme (less is better for Cairn)")
    axes.set_title(f"r7rs-benchmarks, {platform.system()} {platform.machine()}", fontsize=10)
    axes.grid(axis="x", color="#eeeeee")
    axes.legend(loc="lower right", fontsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.margins(y=0.01)
    figure.tight_layout()
    figure.savefig(os.path.join(OUT, "compare.svg"))
    return True


def main():
    words = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", help="a checkout of r7rs-benchmarks")
    parser.add_argument("action", choices=["check", "compare", "first", "report"])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", default=[])
    parser.add_argument("--cairn", default=os.path.join(os.path.dirname(HERE), "cairn"), help="the cairn to use")
    parser.add_argument("--chez", default="chezscheme", help="the Chez Scheme to use")
    parser.add_argument("--runs", type=int, default=5, help="runs of each system (default 5)")
    parser.add_argument("--limit", type=int, default=300, help="seconds one run may take (default 300)")
    parser.add_argument("--modes", type=words, default=["run", "build"], help="for check: run,build")
    parser.add_argument("--frames", type=words, default=["chunks", "heap"], help="check: all of them; compare: the first")
    parser.add_argument("--opt", type=words, default=["low", "high"], help="check: all of them; compare: the last")
    options = parser.parse_intermixed_args()
    if not os.path.isdir(os.path.join(options.suite, "src")):
        parser.error(f"{options.suite} is not a checkout of r7rs-benchmarks (it has no src/)")
    options.suite = os.path.abspath(options.suite)
    options.cairn = os.path.abspath(shutil.which(options.cairn) or options.cairn)
    options.programs = options.programs or PROGRAMS
    unknown = [p for p in options.programs if p not in PROGRAMS]
    if unknown:
        parser.error(f"no such program: {' '.join(unknown)}")
    os.makedirs(OUT, exist_ok=True)
    action = {"check": check, "compare": compare, "first": compare_first_runs, "report": report}[options.action]
    sys.exit(0 if action(options) else 1)


main()
