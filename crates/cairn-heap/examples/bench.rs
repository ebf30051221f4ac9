//! Measures the heap alone: allocation, minor collections by survival rate, card scanning, major collections.
//!
//! `cargo run --release -p cairn-heap --example bench [NURSERY_KIB] [NAME...]`. Prints the best of several runs.
#![allow(unsafe_code)]

use cairn_heap::{Address, AllocKind, Client, Cursors, Heap, HeapConfig, Request, RootVisitor, Scheme};
use cairn_layout::Value;
use cairn_layout::object::{Type, header};
use std::hint::black_box;

const NIL: u64 = Value::NIL.0;

#[derive(Default)]
struct Roots(Vec<u64>);

impl Client for Roots {
    fn visit_roots<V: RootVisitor>(&mut self, v: &mut V) {
        // SAFETY: all words of the vector are values, to objects that live if they are references.
        unsafe { v.words(self.0.as_mut_ptr(), self.0.len()) }
    }
    fn trace_continuation<V: RootVisitor>(&mut self, _: Address, _: &mut V) {}
}

struct M {
    heap: Heap<Scheme>,
    cursors: Cursors,
    roots: Roots,
}

impl M {
    fn new(nursery: u64) -> M {
        let mut heap = Heap::new(Scheme, HeapConfig { nursery_bytes: nursery, ..HeapConfig::default() }).unwrap();
        let cursors = heap.current();
        M { heap, cursors, roots: Roots::default() }
    }
    #[inline(always)]
    fn check(&mut self, need: u64) {
        if self.cursors.room() < need {
            self.slow(need);
        }
    }
    #[cold]
    #[inline(never)]
    fn slow(&mut self, need: u64) {
        self.heap.safepoint(&mut self.cursors, need, &mut self.roots).unwrap();
    }
    #[inline(always)]
    fn cons(&mut self, car: u64, cdr: u64) -> u64 {
        let a = self.cursors.lo;
        self.cursors.lo += 16;
        put(a, 0, car);
        put(a, 1, cdr);
        a | 3
    }
    #[inline(always)]
    fn vector<const N: usize>(&mut self, fill: u64) -> u64 {
        self.cursors.hi -= 8 + 8 * N as u64;
        put(self.cursors.hi, 0, header(Type::Vector, 0, N as u64));
        for i in 0..N {
            put(self.cursors.hi, 1 + i as u64, fill);
        }
        self.cursors.hi | 7
    }
    fn collect(&mut self, r: Request) {
        self.heap.collect(&mut self.cursors, &mut self.roots, r).unwrap();
    }
    /// A complete binary tree of pairs, 2^depth leaves.
    fn tree(&mut self, depth: u32) -> u64 {
        if depth == 0 {
            return NIL;
        }
        let l = self.tree(depth - 1);
        self.roots.0.push(l);
        let r = self.tree(depth - 1);
        self.roots.0.push(r);
        self.check(16);
        let r = self.roots.0.pop().unwrap();
        let l = self.roots.0.pop().unwrap();
        self.cons(l, r)
    }
}

#[inline(always)]
fn put(a: u64, i: u64, w: u64) {
    // SAFETY: callers pass an object that they have just allocated, and a word of it.
    unsafe { *((a + 8 * i) as *mut u64) = w }
}
fn get(v: u64, i: u64) -> u64 {
    // SAFETY: callers pass a reference to an object that lives, and a word of it.
    unsafe { *(((v & !7) + 8 * i) as *const u64) }
}

struct Random(u64);
impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Best of `runs`: seconds.
fn best(runs: usize, mut f: impl FnMut() -> f64) -> f64 {
    (0..runs).map(|_| f()).fold(f64::MAX, f64::min)
}

fn timed(f: impl FnOnce()) -> f64 {
    let t = cpu_seconds();
    f();
    cpu_seconds() - t
}

/// Processor time of this thread: other load on the machine disturbs it less than the clock on the wall.
fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid `timespec`, which the kernel fills.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let nursery = args.first().and_then(|a| a.parse::<u64>().ok()).unwrap_or(4096) << 10;
    let only = &args[args.len().min(1)..];
    let wanted = |n: &str| only.is_empty() || only.iter().any(|o| n.contains(o.as_str()));
    println!("nursery {} KiB", nursery >> 10);

    if wanted("pairs") {
        let n = 20_000_000u64;
        let s = best(5, || {
            let mut m = M::new(nursery);
            timed(|| {
                for i in 0..n {
                    m.check(16);
                    black_box(m.cons(i << 3, NIL));
                }
            })
        });
        println!("allocate pairs, all garbage      {:6.2} ns/pair", s * 1e9 / n as f64);
    }
    if wanted("objects") {
        let n = 10_000_000u64;
        let s = best(5, || {
            let mut m = M::new(nursery);
            timed(|| {
                for _ in 0..n {
                    m.check(40);
                    black_box(m.vector::<4>(NIL));
                }
            })
        });
        println!("allocate 40-byte vectors, garbage {:5.2} ns/object", s * 1e9 / n as f64);
    }
    if wanted("survive") {
        for percent in [1, 10, 50, 100] {
            let n = 10_000_000u64;
            let (mut copied, mut pause) = (0, 0.0);
            let s = best(3, || {
                let mut m = M::new(nursery);
                m.roots.0 = vec![NIL; 1];
                let mut r = Random(1);
                let t = timed(|| {
                    for i in 0..n {
                        m.check(16);
                        let keep = r.below(100) < percent;
                        let p = m.cons(i << 3, if keep { m.roots.0[0] } else { NIL });
                        if keep {
                            m.roots.0[0] = if i % 100_000 == 0 { NIL } else { p };
                        }
                    }
                });
                let st = m.heap.stats();
                copied = st.promoted + st.copied;
                pause = st.pause_total().as_secs_f64();
                t
            });
            println!(
                "pairs, {percent:3} % survive            {:6.2} ns/pair, gc {:.0} MB/s copied",
                s * 1e9 / n as f64,
                copied as f64 / pause / 1e6
            );
        }
    }
    if wanted("tree") {
        let depth = 20;
        let mut major = f64::MAX;
        let mut rate = 0.0;
        let s = best(3, || {
            let mut m = M::new(nursery);
            let t = timed(|| {
                let t = m.tree(depth);
                m.roots.0.push(t);
            });
            for _ in 0..3 {
                let before = m.heap.stats().copied;
                let t = timed(|| m.collect(Request::Major));
                if t < major {
                    major = t;
                    rate = (m.heap.stats().copied - before) as f64 / t / 1e6;
                }
            }
            t
        });
        println!("build a tree of 2^20 pairs       {:6.2} ns/pair", s * 1e9 / (1u64 << depth) as f64);
        println!(
            "major collection of that tree    {:6.2} ns/pair, {rate:.0} MB/s",
            major * 1e9 / (1u64 << depth) as f64
        );
    }
    if wanted("shuffled") {
        // Vectors of 4 that refer to each other at random: no locality at all.
        let n = 1_000_000u64;
        let mut second = f64::MAX;
        let s = best(3, || {
            let mut m = M::new(nursery);
            let words = 8 + 8 * n;
            let table = m.heap.alloc(&mut m.cursors, words, AllocKind::Scannable).unwrap() | 7;
            put(table & !7, 0, header(Type::Vector, 0, n));
            for i in 0..n {
                put(table & !7, 1 + i, NIL);
            }
            m.roots.0.push(table);
            for i in 0..n {
                m.check(40);
                let v = m.vector::<4>(NIL);
                put(table & !7, 1 + i, v);
                m.heap.mark_card((table & !7) + 8 + 8 * i);
            }
            let mut r = Random(3);
            m.collect(Request::Minor);
            for i in 0..n {
                let v = get(table, 1 + i);
                for k in 1..5 {
                    put(v & !7, k, get(table, 1 + r.below(n)));
                }
            }
            // Only one object is a root now; the others hang on it in random order.
            m.roots.0[0] = get(table, 1);
            let t = timed(|| m.collect(Request::Major));
            second = second.min(timed(|| m.collect(Request::Major)));
            t
        });
        println!("major, shuffled 40-byte vectors  {:6.2} ns/object", s * 1e9 / n as f64);
        println!("the same again                   {:6.2} ns/object", second * 1e9 / n as f64);
    }
    if wanted("cards") {
        // A large old vector, a few random stores between minor collections.
        let n = 4_000_000u64;
        let mut per = 0.0;
        best(3, || {
            let mut m = M::new(nursery);
            let a = m.heap.alloc(&mut m.cursors, 8 + 8 * n, AllocKind::Scannable).unwrap();
            put(a, 0, header(Type::Vector, 0, n));
            for i in 0..n {
                put(a, 1 + i, NIL);
            }
            m.roots.0.push(a | 7);
            m.collect(Request::Minor);
            let mut r = Random(5);
            let rounds = 300;
            let t = timed(|| {
                for _ in 0..rounds {
                    for _ in 0..100 {
                        m.check(16);
                        let p = m.cons(NIL, NIL);
                        let slot = a + 8 + 8 * r.below(n);
                        put(slot, 0, p);
                        m.heap.mark_card(slot);
                    }
                    m.collect(Request::Minor);
                }
            });
            per = t / rounds as f64;
            t
        });
        println!("minor, 100 dirty cards of 32 MB  {:6.1} us", per * 1e6);
    }
    if wanted("gcbench") {
        // After Ellis, Kovac and Boehm's GCBench: short-lived trees over a long-lived one.
        let mut line = String::new();
        let s = best(3, || {
            let mut m = M::new(nursery);
            let t = timed(|| {
                let long = m.tree(16);
                m.roots.0.push(long);
                for depth in (4..=16).step_by(2) {
                    for _ in 0..(1 << 21) / (1 << depth) {
                        black_box(m.tree(depth));
                    }
                }
            });
            let st = m.heap.stats();
            line = format!(
                "{} minor, {} major, gc {:.1} ms, max pause {:.2} ms, peak {:.1} MB",
                st.minor,
                st.major,
                st.pause_total().as_secs_f64() * 1e3,
                st.pause_max().as_secs_f64() * 1e3,
                st.peak as f64 / 1e6
            );
            t
        });
        println!("gcbench-like                     {:6.1} ms   ({line})", s * 1e3);
    }
}
