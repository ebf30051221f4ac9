//! The same tests for every row of `PRECISE`, with code that is nothing but descriptors.

use super::*;
use crate::access::{car, cdr};
use crate::alloc::alloc_pair;
use crate::bare_runtime::TestRuntime;
use crate::machine::audit::Auditor;
use crate::machine::collect::{Room, make_room, safepoint};
use crate::machine::frame_reader::descriptor;
use crate::start_options::{Options, Zeal};
use cairn_layout::code::{SHAPE, flags};
use cairn_layout::facts::{PRECISE, StrategyFacts};
use cairn_layout::object::continuation;
use cairn_layout::quasi::MARK;

/// Words of a descriptor and the code word after it.
const CODE: usize = 7;

/// A runtime whose program consists of one procedure, which calls itself and keeps one value.
struct Program {
    facts: &'static StrategyFacts,
    runtime: TestRuntime,
    code: Box<[u64; 4 * CODE]>,
}

impl Program {
    fn new(facts: &'static StrategyFacts, zeal: Zeal) -> Program {
        let runtime = TestRuntime::with(Options { zeal, ..Options::default() });
        let mut p = Program { facts, runtime, code: Box::new([0; 4 * CODE]) };
        let header = facts.header_words as u64;
        let shapes = [
            (header + 1) | flags::RETURN,
            header | flags::RETURN | flags::UNDERFLOW,
            header | flags::RETURN | flags::HALT,
            continuation::LEN | flags::CONTINUATION,
        ];
        for (i, shape) in shapes.into_iter().enumerate() {
            p.code[CODE * i + 2] = p.address(i); // multiple-value entry
            p.code[CODE * i + 5] = shape;
        }
        p.code[4] = 1 << header; // the frame's one slot
        let start = p.code.as_ptr() as u64;
        let [underflow, halt, continuation] = [1, 2, 3].map(|i| p.address(i));
        let ctx = p.ctx();
        let state = &mut rt(ctx).strategy;
        state.kind = facts.kind;
        (state.underflow, state.halt, state.continuation) = (underflow, halt, continuation);
        state.auditor = Auditor::new(vec![(start, start + 8 * 4 * CODE as u64)]);
        super::start(ctx);
        p
    }

    fn address(&self, i: usize) -> u64 {
        &raw const self.code[CODE * i + CODE - 1] as u64
    }

    fn ctx(&mut self) -> &'static mut Machine {
        self.runtime.ctx()
    }

    /// What compiled code does at a call.
    fn call(&mut self, value: Value) {
        push(self.ctx(), self.address(0), value);
    }

    /// What it does at a return: the value that the frame kept, or nothing when the outermost frame is reached.
    fn come_back(&mut self) -> Option<Value> {
        let ctx = self.ctx();
        let sp = ctx.thread.sp & !7;
        // SAFETY: the walk came to `sp`, so a frame of this program or of the prelude is there: a return address, with
        // a descriptor.
        unsafe {
            let shape = descriptor(*(sp as *const u64), SHAPE);
            if shape & flags::HALT != 0 {
                return None;
            }
            if shape & flags::UNDERFLOW != 0 {
                underflow(ctx);
                return self.come_back();
            }
            let words = sp as *const u64;
            ctx.thread.sp = if self.facts.header_words == 2 { *words.add(1) & !MARK } else { sp + 16 };
            Some(Value(*words.add(self.facts.header_words as usize)))
        }
    }

    fn depth(&mut self) -> usize {
        let mut n = 0;
        let code = self.address(0);
        walk(self.ctx(), &mut |c, _| {
            n += usize::from(c == code);
            true
        });
        n
    }
}

fn number(v: Option<Value>) -> Option<i64> {
    v.map(Value::as_fixnum)
}

#[test]
fn continuations_are_entered_again_and_again() {
    for facts in PRECISE {
        let mut p = Program::new(facts, Zeal::Off);
        for i in 0..3 {
            p.call(Value::fixnum(i));
        }
        let ctx = p.ctx();
        let k = capture(ctx);
        assert_eq!(capture(ctx) == k, facts.kind == FrameKind::Chunks, "an empty segment is not captured again");
        for i in 3..5 {
            p.call(Value::fixnum(i));
        }
        assert_eq!(p.depth(), 5, "{}", facts.name);
        for _ in 0..3 {
            reinstate(ctx, k);
            assert_eq!(p.depth(), 3);
            assert_eq!(number(p.come_back()), Some(2));
            p.call(Value::fixnum(7));
            assert_eq!([p.come_back(), p.come_back(), p.come_back()].map(number), [Some(7), Some(1), Some(0)]);
            assert_eq!(p.come_back(), None);
        }
    }
}

/// Two coroutines and their caller take turns in the same chunk: frames come back right, whether in place or moved.
#[test]
fn one_shot_captures_take_turns() {
    for facts in PRECISE {
        let mut p = Program::new(facts, Zeal::Thorough);
        let ctx = p.ctx();
        let value = |i: i64| Value::fixnum(i);
        // two coroutines of a few frames, each on its own copy of the caller
        p.call(value(1));
        let caller = capture(ctx);
        let mut coroutines = [0, 1].map(|n| {
            reinstate(ctx, caller);
            for i in 0..3 {
                p.call(value(100 * (n + 1) + i));
            }
            capture_once(ctx)
        });
        for round in 0..40 {
            for (n, k) in coroutines.iter_mut().enumerate() {
                ctx.slots[1 + n] = *k;
            }
            safepoint(ctx, 64);
            for n in 0..2 {
                reinstate(ctx, ctx.slots[1 + n]);
                let top = p.come_back().expect("a frame");
                let expected = if round == 0 { 100 * (n as i64 + 1) + 2 } else { 1000 + round };
                assert_eq!(top, value(expected), "{} {round}", facts.name);
                p.call(value(7));
                assert_eq!(p.come_back(), Some(value(7)));
                p.call(value(1000 + round + 1));
                ctx.slots[1 + n] = capture_once(ctx);
            }
            coroutines = [ctx.slots[1], ctx.slots[2]];
        }
        for n in [2, 1] {
            reinstate(ctx, ctx.slots[n as usize]);
            let rest = [1040, 100 * n + 1, 100 * n, 1].map(Some);
            assert_eq!([0; 4].map(|_| number(p.come_back())), rest, "{}", facts.name);
            assert_eq!(p.come_back(), None);
            safepoint(ctx, 64);
        }
    }
}

/// Of many threads that wait, with frames in shared chunks, few are left: so are few chunks, and the frames are right.
#[test]
fn what_is_left_in_sparse_chunks_moves_together() {
    for (zeal, threads) in [(Zeal::Off, 20_000i32), (Zeal::Thorough, 400)] {
        let mut p = Program::new(FrameKind::Chunks.facts(), zeal);
        let ctx = p.ctx();
        p.call(Value::fixnum(-1));
        let caller = capture(ctx);
        let (mut all, mut kept) = (Value::NIL, Value::NIL);
        for i in 0..threads {
            reinstate(ctx, caller);
            for depth in 0..3 {
                p.call(Value::fixnum(i64::from(3 * i + depth)));
            }
            let k = capture_once(ctx);
            all = alloc_pair(ctx, k, all);
            if i % 100 == 0 {
                kept = alloc_pair(ctx, k, kept);
            }
        }
        ctx.slots[0] = all;
        ctx.slots[1] = kept;
        let collect = |ctx: &mut Machine| -> u64 {
            rt(ctx).heap.request_collection(&mut ctx.cursors, true).unwrap();
            safepoint(ctx, 64);
            rt(ctx).heap.stack_chunks().iter().map(|c| c.1).sum()
        };
        let before = collect(ctx);
        assert!(before > threads as u64 * 7 * 8, "{before}");
        ctx.slots[0] = Value::NIL;
        collect(ctx);
        let after = collect(ctx);
        assert!(zeal != Zeal::Off || after < before / 10, "{after} of {before}");
        let mut left = ctx.slots[1];
        for i in (0..threads).step_by(100).rev() {
            reinstate(ctx, car(left));
            for depth in [2, 1, 0] {
                assert_eq!(number(p.come_back()), Some(i64::from(3 * i + depth)));
            }
            // the frames below are the caller's; the thread has room to go on
            p.call(Value::fixnum(5));
            assert_eq!([p.come_back(), p.come_back(), p.come_back()].map(number), [Some(5), Some(-1), None]);
            if i % 1000 == 0 {
                safepoint(ctx, 64);
            }
            left = cdr(ctx.slots[1]);
            ctx.slots[1] = left;
        }
        assert_eq!(left, Value::NIL);
    }
}

/// Returning to a one-shot continuation with nothing sealed below it copies nothing, and nothing is left of it.
#[test]
fn one_shot_frames_are_run_in_place() {
    let facts = FrameKind::Chunks.facts();
    let mut p = Program::new(facts, Zeal::Off);
    let ctx = p.ctx();
    for depth in 0..5000 {
        p.call(Value::fixnum(depth));
    }
    for depth in (0..5000).rev() {
        let (sp, base) = (ctx.thread.sp, ctx.thread.base);
        let k = capture_once(ctx);
        if sp == base {
            assert_eq!(k, ctx.thread.under);
        }
        p.call(Value::fixnum(-1));
        assert_eq!(number(p.come_back()), Some(-1));
        assert_eq!(number(p.come_back()), Some(depth));
        assert_eq!(ctx.thread.sp, if sp == base { ctx.thread.sp } else { sp + 16 }, "at depth {depth}");
        assert_eq!(continuation_word(k, continuation::STATE), continuation::state::USED);
        // SAFETY: `k` is the continuation object that was captured above.
        assert!(unsafe { chunks::covered(Address(k.address())) }.is_none());
    }
    assert_eq!(p.come_back(), None);
}

/// A multi-shot capture above one-shot continuations makes them multi-shot.
#[test]
fn promotion() {
    for facts in PRECISE {
        let mut p = Program::new(facts, Zeal::Thorough);
        let ctx = p.ctx();
        for i in 0..20 {
            p.call(Value::fixnum(i));
            ctx.slots[1] = capture_once(ctx);
        }
        p.call(Value::fixnum(20));
        ctx.slots[0] = capture(ctx);
        for _ in 0..3 {
            for (k, top) in [(0, 20), (1, 19)] {
                reinstate(ctx, ctx.slots[k]);
                for i in (0..=top).rev() {
                    assert_eq!(number(p.come_back()), Some(i), "{}", facts.name);
                    safepoint(ctx, 64);
                }
                assert_eq!(p.come_back(), None);
            }
        }
    }
}

/// Deep recursion with collections on the way, each under the eyes of the auditor.
#[test]
fn frames_survive_collections() {
    for facts in PRECISE {
        let mut p = Program::new(facts, Zeal::Thorough);
        let ctx = p.ctx();
        for i in 0..200 {
            let pair = alloc_pair(ctx, Value::fixnum(i), Value::NIL);
            p.call(pair);
            if i == 120 {
                ctx.slots[0] = capture(ctx);
            }
            safepoint(ctx, 64);
        }
        assert!(rt(ctx).heap.stats().minor + rt(ctx).heap.stats().major >= 200);
        assert_ne!(ctx.slots[0], Value::FALSE);
        let down = |p: &mut Program, from: i64| {
            for i in (0..from).rev() {
                let pair = p.come_back().expect("a frame");
                assert_eq!((car(pair), cdr(pair)), (Value::fixnum(i), Value::NIL), "{}", facts.name);
                if i % 16 == 0 {
                    safepoint(p.ctx(), 64);
                }
            }
            assert_eq!(p.come_back(), None);
        };
        down(&mut p, 200);
        reinstate(ctx, ctx.slots[0]);
        safepoint(ctx, 64);
        assert_eq!(p.depth(), 121);
        down(&mut p, 121);
    }
}

/// Strategies whose minor collections look at the frames that have been pushed or run since the last, and at a few
/// more.
const GENERATIONAL: [FrameKind; 3] = [FrameKind::Heap, FrameKind::Stack, FrameKind::Quasi];

/// Words of frames that a minor collection may look at besides those that are new.
const FEW: u64 = 2 * 1024 / 8 + 64;

#[test]
fn minor_collections_look_at_new_frames_only() {
    for facts in PRECISE.iter().filter(|f| GENERATIONAL.contains(&f.kind)) {
        let mut p = Program::new(facts, Zeal::Off);
        let ctx = p.ctx();
        let minor = |ctx: &mut Machine| {
            let before = rt(ctx).strategy.young_words;
            rt(ctx).heap.request_collection(&mut ctx.cursors, false).unwrap();
            safepoint(ctx, 64);
            rt(ctx).strategy.young_words - before
        };
        let mut depth = 0;
        let mut call = |p: &mut Program, n: i64| {
            for _ in 0..n {
                let pair = alloc_pair(p.ctx(), Value::fixnum(depth), Value::NIL);
                p.call(pair);
                depth += 1;
            }
        };
        call(&mut p, 20_000);
        let first = minor(ctx);
        assert!(facts.frames_in_heap || first >= 40_000, "{}: {first}", facts.name);
        for n in [0, 1, 100, 1000, 0] {
            call(&mut p, n);
            let words = minor(ctx);
            assert!(words <= 3 * n as u64 + FEW, "{}: {words} words for {n} frames", facts.name);
        }
        // also when frames that were visited have been returned to, and where a continuation has been captured
        let (mut k, mut left) = (Value::FALSE, 21_101);
        for round in 0..100 {
            for _ in 0..200 {
                left -= 1;
                let pair = p.come_back().expect("a frame");
                assert_eq!(car(pair), Value::fixnum(left), "{}", facts.name);
            }
            if round == 50 {
                k = capture(ctx);
                ctx.slots[0] = k;
            }
            let words = minor(ctx);
            assert!(words <= FEW, "{}: {words} words after returns", facts.name);
        }
        assert_ne!(k, Value::FALSE);
        reinstate(ctx, ctx.slots[0]);
        assert_eq!(p.depth(), 21_101 - 200 * 51);
        minor(ctx);
        assert_eq!(p.come_back().map(car), Some(Value::fixnum(21_101 - 200 * 51 - 1)), "{}", facts.name);
    }
}

/// What deep recursion took is given back, and so is what continuations took that nothing refers to.
#[test]
fn memory_for_frames_is_given_back() {
    for facts in PRECISE {
        let mut p = Program::new(facts, Zeal::Off);
        let ctx = p.ctx();
        let major = |ctx: &mut Machine| {
            rt(ctx).heap.request_collection(&mut ctx.cursors, true).unwrap();
            make_room(ctx, &Room { heap: 64, stack: 0, kept: 0 });
            rt(ctx).heap.bytes_in_use()
        };
        let before = major(ctx);
        for i in 0..200_000 {
            p.call(Value::fixnum(i));
        }
        capture(ctx);
        let deep = major(ctx);
        assert!(deep > before + 3_000_000, "{}: {before} {deep}", facts.name);
        for _ in 0..200_000 {
            p.come_back();
        }
        let after = (0..4).map(|_| major(ctx)).last().expect("four collections");
        assert!(after < before + 1_000_000, "{}: {before} {deep} {after}", facts.name);
    }
}

/// A thread that starts anew has no frames of the old one.
#[test]
fn starting_again() {
    for facts in PRECISE {
        let mut p = Program::new(facts, Zeal::On);
        for i in 0..100 {
            p.call(Value::fixnum(i));
        }
        start(p.ctx());
        assert_eq!(p.depth(), 0);
        safepoint(p.ctx(), 64);
        assert_eq!(p.come_back(), None);
    }
}
