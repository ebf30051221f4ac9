#!/usr/bin/env python3
"""The heap as a C library against libgc (Debian: libgc-dev): the same programs, alternating, medians of five runs.

    ./cairn install-heap /tmp/heap && benchmarks/heap/run.py /tmp/heap

Columns: seconds with cairn_heap scanning the native stack, with precise roots, with libgc; ratios to libgc.
"""
import os, re, statistics, subprocess, sys, tempfile

PROGRAMS = [
    ("gcbench", "gcbench.c", [], []),
    ("gcbench, 2 threads", "gcbench.c", ["-DTHREADS=2"], []),
    ("allocation loop", "lists.c", [], ["loop"]),
    ("shuffled list", "lists.c", [], ["shuffled"]),
    ("quad trees", "lists.c", [], ["quads"]),
]
VARIANTS = [("cairn", []), ("precise", ["-DPRECISE"]), ("libgc", ["-DLIBGC"])]
RUNS = 5


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    prefix, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as directory:
        print(f"{'program':<20}" + "".join(f"{name:>10}" for name, _ in VARIANTS) + f"{'cairn/':>10}{'precise/':>10}")
        for title, source, flags, arguments in PROGRAMS:
            executables = []
            for name, define in VARIANTS:
                exe = os.path.join(directory, name)
                library = ["-lgc"] if name == "libgc" else [f"{prefix}/lib/libcairn_heap.a", "-lm"]
                subprocess.run(["cc", "-O2", f"-I{prefix}/include", *flags, *define, f"{here}/{source}", *library,
                                "-lpthread", "-o", exe], check=True)
                executables.append(exe)
            times = [[] for _ in VARIANTS]
            results = set()
            for _ in range(RUNS):
                for i, exe in enumerate(executables):
                    out = subprocess.run([exe, *arguments], check=True, capture_output=True, text=True).stdout
                    seconds, result = re.search(r"([\d.]+) s, (-?\d+)", out).groups()
                    times[i].append(float(seconds))
                    results.add(result)
            if len(results) != 1:
                sys.exit(f"{title}: results differ: {results}")
            cairn, precise, libgc = map(statistics.median, times)
            print(f"{title:<20}{cairn:>10.3f}{precise:>10.3f}{libgc:>10.3f}{cairn / libgc:>10.2f}{precise / libgc:>10.2f}",
                  flush=True)


main()
