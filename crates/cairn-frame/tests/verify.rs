//! The verifier finds what is broken: a correct module, damaged in one place by hand, for each invariant of `ir.rs`.

mod common;

use cairn_frame::parse::parse_module;
use cairn_frame::verify::verify;
use cairn_layout::facts::strategy as strategy_named;

/// A module that uses everything once.
const GOOD: &str = "module STRATEGY main main.entry
global @g.0 = &main.entry

function main.entry of main entry words 1
  0 -> main

function main of main body ()
  b0:
    check 64 live ()
    f.0 = closure f.entry '1 '#f
    h.1 = closure f.entry '2 f.0
    patch f.0 1 h.1
    t.2 = (cons f.0 h.1)
    tail direct f closure f.0 (t.2)

function f.entry of f entry words 3
  1 -> f

function f of f body (x.0) closure c.1
  b0:
    a.2 = free 0
    check 56 live (x.0 a.2 c.1)
    p.3 = (cons x.0 a.2)
    STACK
    call c.1 (p.3) frame WORDS2 [0, 1] store 0:=x.0 1:=p.3 then f.r1

function f.r1 of f return frame WORDS2 [0, 1] -> r.0
  b0:
    if (pair? r.0) b1 else b2
  b1:
    x.1 = slot 0
    y.2!d = (fl* x.1 x.1)
    z.3 = (fl+ y.2!d x.1)
    poll live (z.3)
    return z.3
  b2:
    p.4 = slot 1
    check 40 live (r.0 p.4)
    STACK2
    call apply r.0 (p.4) frame WORDS2 [1] KEPT then f.r2

function f.r2 of f return frame WORDS2 [1] -> (u.0 . v.1)
  b0:
    p.2 = slot 1
    tail direct loop (p.2 u.0)

function loop of f body (p.0 u.1)
  b0:
    goto b1
  b1:
    stop live (p.0 u.1)
    if u.1 b1 else b2
  b2:
    tail call/cc p.0 ()
";

fn good(strategy: &str) -> String {
    let facts = strategy_named(strategy).expect("a strategy");
    let words = (facts.header_words + 2).to_string();
    let kept = if facts.reuse { "" } else { "store 1:=p.4" };
    let check = |needed: bool, live: &str| {
        if needed { format!("    stack {words} live ({live})\n") } else { String::new() }
    };
    let first = check(facts.limit_check, "x.0 c.1 p.3");
    let second = check(facts.limit_check && !facts.reuse, "r.0 p.4");
    // printing leaves no double space
    let text = GOOD
        .replace("    STACK\n", &first)
        .replace("    STACK2\n", &second)
        .replace("STRATEGY", strategy)
        .replace("WORDS2", &words)
        .replace(" KEPT", &format!(" {kept}"));
    text.replace("]  then", "] then")
}

/// Under `strategy`, replacing `part` by `damaged` brings exactly these complaints.
fn broken_under(strategy: &str, part: &str, damaged: &str, complaints: &[&str]) {
    let text = good(strategy);
    assert_eq!(text.matches(part).count(), 1, "`{part}` stands once in\n{text}");
    let text = text.replace(part, damaged);
    let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let found = verify(&module).err().unwrap_or_default();
    assert_eq!(found, complaints, "after `{part}` became `{damaged}`");
}

fn broken(part: &str, damaged: &str, complaint: &str) {
    broken_under("chunks", part, damaged, &[complaint]);
}

#[test]
fn the_module_is_correct_at_first() {
    for s in common::strategies() {
        let m = parse_module(&good(s.name)).expect("parses");
        common::same(&cairn_frame::print::print_module(&m), &good(s.name));
        assert_eq!(verify(&m), Ok(()), "{}", s.name);
    }
}

#[test]
fn a_variable_is_assigned_before_it_is_used() {
    broken("    x.1 = slot 0\n", "", "f.r1 b1: x.1 is used before it is assigned");
}

#[test]
fn on_every_path() {
    // assigned in one branch, used after the join
    broken_under(
        "chunks",
        "    goto b1\n  b1:\n    stop live (p.0 u.1)\n    if u.1 b1 else b2\n  b2:\n    tail call/cc p.0 ()\n",
        "    if u.1 b1 else b2\n  b1:\n    w.2 = '1\n    goto b2\n  b2:\n    tail call/cc w.2 ()\n",
        &["loop b2: w.2 is used before it is assigned"],
    );
}

#[test]
fn allocations_are_covered_by_a_heap_check() {
    broken("    check 64 live ()", "    check 56 live ()", "main b0: 16 bytes are allocated without a heap check");
    broken_under(
        "chunks",
        "    check 64 live ()\n",
        "",
        &[
            "main b0: 24 bytes are allocated without a heap check",
            "main b0: 24 bytes are allocated without a heap check",
            "main b0: 16 bytes are allocated without a heap check",
        ],
    );
    // a poll is no check
    broken_under(
        "chunks",
        "    check 56 live (x.0 a.2 c.1)",
        "    poll live (x.0 a.2 c.1)",
        &["f b0: 16 bytes are allocated without a heap check"],
    );
    // a check in another block does not count
    broken_under(
        "chunks",
        "    stop live (p.0 u.1)\n    if u.1 b1 else b2\n  b2:\n    tail call/cc p.0 ()\n",
        "    check 16 live (p.0 u.1)\n    if u.1 b1 else b2\n  b2:\n    q.2 = (box p.0)\n    tail call/cc q.2 ()\n",
        &["loop b2: 16 bytes are allocated without a heap check"],
    );
}

#[test]
fn heap_frames_are_allocated_too() {
    broken_under(
        "heap",
        "check 40 live (r.0 p.4)",
        "check 16 live (r.0 p.4)",
        &["f.r1 b2: a heap frame is allocated without a heap check"],
    );
    broken_under(
        "heap",
        "check 56 live (x.0 a.2 c.1)",
        "check 40 live (x.0 a.2 c.1)",
        &["f b0: a heap frame is allocated without a heap check"],
    );
}

#[test]
fn nothing_is_wider_than_its_area() {
    let start = "    goto b1\n  b1:\n    stop live (p.0 u.1)";
    let many = |item: &str, n: usize| item.repeat(n);
    let fields = many(" '1", 511);
    broken_under("chunks", start, &format!("    check 4096 live (p.0 u.1)\n    (vector{fields})\n{start}"), &[]);
    broken_under(
        "chunks",
        start,
        &format!("    check 4104 live (p.0 u.1)\n    (vector{fields} '1)\n{start}"),
        &[
            "loop b0: 4104 bytes of a heap check, the limit is 4096",
            "loop b0: 4104 bytes of an allocation, the limit is 4096",
        ],
    );
    for statement in ["check 8", "poll", "stop"] {
        broken(
            start,
            &format!("    {statement} live ({}p.0 u.1)\n{start}", many("p.0 ", 499)),
            "loop b0: 501 live variables, the limit is 500",
        );
    }
    let operands = many(" '1", 500);
    broken_under("chunks", "tail call/cc p.0 ()", &format!("tail p.0 ({})", &operands[1..]), &[]);
    broken("tail call/cc p.0 ()", &format!("tail p.0 ('1{operands})"), "loop b2: 501 operands, the limit is 500");
    broken("tail call/cc p.0 ()", &format!("return values '1{operands}"), "loop b2: 501 values, the limit is 500");
    broken("call c.1 (p.3)", &format!("call c.1 ('1{operands})"), "f b0: 501 operands, the limit is 500");
    let params = |first: u32| -> String { (first..first + 499).map(|i| format!(" w.{i}")).collect() };
    let found = |damaged: String| verify(&parse_module(&damaged).unwrap()).unwrap_err();
    let wide = good("chunks").replace("body (p.0 u.1)", &format!("body (p.0 u.1{})", params(2)));
    assert!(found(wide).contains(&"loop b0: 501 parameters, the limit is 500".to_string()));
    let wide = good("chunks").replace("(u.0 . v.1)", &format!("(u.0{} z.502 . v.1)", params(3)));
    assert!(found(wide).contains(&"f.r2 b0: 501 values, the limit is 500".to_string()));
    let wide = good("chunks").replace("  1 -> f\n", "  501 -> f\n");
    assert!(found(wide).contains(&"f.entry b0: 501 parameters, the limit is 500".to_string()));
    let wide = good("chunks").replace("entry words 3", "entry words 502");
    assert!(found(wide).contains(&"f.entry b0: 501 free variables, the limit is 500".to_string()));
    // slots up to 511 make a frame of 513 words
    let wide = good("chunks").replace("frame 3 [0, 1]", "frame 513 [0, 511]").replace("1:=p.3", "511:=p.3");
    assert!(found(wide).contains(&"f b0: 513 words of the frame, the limit is 512".to_string()));
}

/// Arguments in one list: the body has one parameter, whatever the count.
#[test]
fn listed_clauses_fit() {
    let all = good("chunks").replace("  1 -> f\n", "  6000 listed -> f\n");
    assert_eq!(verify(&parse_module(&all).unwrap()), Ok(()));
    let more = good("chunks").replace("  1 -> f\n", "  6000+ listed -> f\n");
    assert_eq!(verify(&parse_module(&more).unwrap()), Ok(()));
    broken_under(
        "chunks",
        "  1 -> f\n",
        "  6000 -> f\n",
        &["f.entry b0: 6000 parameters, the limit is 500", "f.entry b0: clause and body differ in parameters"],
    );
}

#[test]
fn a_heap_check_lists_what_is_used_later() {
    broken("live (x.0 a.2 c.1)", "live (x.0 c.1)", "f b0: a.2 is used after a safepoint that does not keep it");
    // also when it is used in another block
    broken(
        "    goto b1\n  b1:\n    stop live (p.0 u.1)",
        "    poll live (u.1)\n    goto b1\n  b1:\n    stop live (u.1)",
        "loop b2: p.0 is used after a safepoint that does not keep it",
    );
    // also a closure that only loads use
    broken_under(
        "chunks",
        "    a.2 = free 0\n    check 56 live (x.0 a.2 c.1)\n    p.3 = (cons x.0 a.2)\n    \
         stack 3 live (x.0 c.1 p.3)\n    call c.1 (p.3)",
        "    check 56 live (x.0)\n    a.2 = free 0\n    p.3 = (cons x.0 a.2)\n    \
         stack 3 live (x.0 a.2 p.3)\n    call a.2 (p.3)",
        &["f b0: c.1 is used after a safepoint that does not keep it"],
    );
    // and nothing that is not there
    broken("live (z.3)", "live (z.3 p.4)", "f.r1 b1: p.4 is used before it is assigned");
}

#[test]
fn frames_that_grow_have_a_stack_check() {
    let check = "    stack 3 live (x.0 c.1 p.3)\n";
    broken(check, "", "f b0: 3 words of stack are used without a stack check");
    broken("stack 3 live", "stack 2 live", "f b0: 2 words of stack are checked, 3 needed");
    broken("live (x.0 c.1 p.3)", "live (x.0 p.3)", "f b0: c.1 is used after a safepoint that does not keep it");
    // the frame that is replaced leaves room for the new one
    broken(
        "    call apply r.0 (p.4)",
        "    stack 0 live (r.0 p.4)\n    call apply r.0 (p.4)",
        "f.r1 b2: a stack check does not stand before a call that needs it",
    );
    // a stop check is none
    broken(check, "    stop live (x.0 c.1 p.3)\n", "f b0: 3 words of stack are used without a stack check");
    // what a heap check promised is gone after a stop
    broken_under(
        "heap",
        "    call c.1 (p.3)",
        "    stop live (x.0 c.1 p.3)\n    call c.1 (p.3)",
        &["f b0: a heap frame is allocated without a heap check"],
    );
    broken_under(
        "chunks",
        "    patch f.0 1 h.1\n",
        "    stop live (f.0 h.1)\n    patch f.0 1 h.1\n",
        &[
            "main b0: 16 bytes are allocated without a heap check",
            "main b0: f.0 is patched, but not allocated since the last heap check",
        ],
    );
}

#[test]
fn loops_have_a_safepoint() {
    let check = "    stop live (p.0 u.1)\n";
    broken(check, "", "loop b1: a loop has no safepoint");
    // a poll of the heap may never get to the runtime
    broken(check, "    poll live (p.0 u.1)\n", "loop b1: a loop has no safepoint");
    // one path round without is enough
    broken_under(
        "chunks",
        "    stop live (p.0 u.1)\n    if u.1 b1 else b2\n  b2:\n    tail call/cc p.0 ()\n",
        "    if u.1 b3 else b2\n  b2:\n    tail call/cc p.0 ()\n  b3:\n    if p.0 b4 else b1\n  \
         b4:\n    stop live (p.0 u.1)\n    goto b1\n",
        &["loop b1: a loop has no safepoint"],
    );
}

/// A module of two bodies that call each other in tail position and a procedure that calls what it is given.
const ROUND: &str = "module chunks main main.entry

function main.entry of main entry words 1
  0 -> main

function main of main body ()
  b0:
    tail direct even ('1)

function even of even body (n.0)
  b0:
    if n.0 b1 else b2
  b1:
    tail direct odd (n.0)
  b2:
    return n.0

function odd of odd body (n.0)
  b0:
    STOP
    tail direct even (n.0)

function give.entry of give entry words 1
  1 -> give

function give of give body (k.0)
  b0:
    if k.0 b1 else b2
  b1:
    return '1
  b2:
    GIVE
    tail k.0 (k.0)

function keep of keep body (f.0)
  b0:
    stack 1 live (f.0)
    call f.0 () frame 1 [] then keep.r1

function keep.r1 of keep return frame 1 [] -> r.0
  b0:
    if r.0 b1 else b2
  b1:
    KEEP
    call r.0 () frame 1 [] then keep.r1
  b2:
    tail r.0 ()
";

#[test]
fn cycles_of_functions_have_a_safepoint() {
    let fill = |stop: &str, give: &str, keep: &str| {
        let line = |text: &str| if text.is_empty() { String::new() } else { format!("    {text}\n") };
        ROUND
            .replace("    STOP\n", &line(stop))
            .replace("    GIVE\n", &line(give))
            .replace("    KEEP\n", &line(keep))
    };
    let complaints = |text: &str| verify(&parse_module(text).expect("parses")).err().unwrap_or_default();
    let (stop, give, keep) = ("stop live (n.0)", "stop live (k.0)", "stop live (r.0)");
    assert_eq!(complaints(&fill(stop, give, keep)), [""; 0]);
    // a heap check does, when what it promises is taken
    assert_eq!(complaints(&fill("check 16 live (n.0)", give, keep)), [""; 0]);
    let says = |name: &str| vec![format!("{name}: control may come back for ever without a safepoint")];
    assert_eq!(complaints(&fill("", give, keep)), says("even"));
    assert_eq!(complaints(&fill("poll live (n.0)", give, keep)), says("even"));
    assert_eq!(complaints(&fill(stop, "", keep)), says("give.entry"));
    assert_eq!(complaints(&fill(stop, give, "")), says("keep.r1"));
}

#[test]
fn free_variables_are_loaded_where_the_closure_is() {
    broken("    p.2 = slot 1\n", "    p.2 = free 1\n", "f.r2 b0: a free variable is loaded without a closure");
}

#[test]
fn slots_are_loaded_from_the_incoming_frame() {
    broken("    p.2 = slot 1\n", "    p.2 = slot 0\n", "f.r2 b0: slot 0 is not live in the incoming frame");
    broken("    a.2 = free 0\n", "    a.2 = slot 0\n", "f b0: slot 0 is not live in the incoming frame");
}

#[test]
fn frames_and_return_points_agree() {
    broken_under(
        "chunks",
        "frame 3 [0, 1] store 0:=x.0 1:=p.3",
        "frame 2 [0] store 0:=x.0",
        &["f b0: 3 words of stack are checked, 2 needed", "f b0: f.r1 does not expect this frame"],
    );
    broken_under(
        "chunks",
        "frame 3 [0, 1] store",
        "frame 4 [0, 1] store",
        &[
            "f b0: 3 words of stack are checked, 4 needed",
            "f b0: frame size does not fit its slots",
            "f b0: f.r1 does not expect this frame",
        ],
    );
    broken(" 1:=p.3", "", "f b0: slot 1 of the new frame is never stored");
    broken_under("heap", " store 1:=p.4", "", &["f.r1 b2: slot 1 of the new frame is never stored"]);
    broken("] then f.r2", "] store 0:=p.4 then f.r2", "f.r1 b2: slot 0 of the new frame is stored but dead");
    broken("then f.r2", "then loop", "f.r1 b2: loop does not expect this frame");
    broken_under(
        "chunks",
        "frame 3 [0, 1] store",
        "frame 2 [1, 0] store",
        &[
            "f b0: 3 words of stack are checked, 2 needed",
            "f b0: live slots are not ascending",
            "f b0: f.r1 does not expect this frame",
        ],
    );
}

#[test]
fn no_slot_is_live_twice() {
    let frames = |slots: &str| {
        format!("[{slots}] store 0:=x.0 1:=p.3 then f.r1\n\nfunction f.r1 of f return frame 3 [{slots}] -> r.0")
    };
    broken(&frames("0, 1"), &frames("0, 1, 1"), "f b0: live slots are not ascending");
    broken(&frames("0, 1"), &frames("0, 0, 1"), "f b0: live slots are not ascending");
}

#[test]
fn patches_go_to_fresh_closures() {
    broken(
        "    patch f.0 1 h.1\n",
        "    check 16 live (f.0 h.1)\n    patch f.0 1 h.1\n",
        "main b0: f.0 is patched, but not allocated since the last heap check",
    );
    broken("patch f.0 1", "patch f.0 2", "main b0: f.0 has no free variable 2");
    broken_under(
        "chunks",
        "    h.1 = closure f.entry '2 f.0\n",
        "    h.1 = closure f.entry '2 f.0\n    f.0 = h.1\n    f.0 = '1\n",
        &["main b0: f.0 is patched, but not allocated since the last heap check"],
    );
}

#[test]
fn unboxed_doubles_stay_inside() {
    broken_under(
        "chunks",
        "(p.0 u.1)\n  b0:\n    goto b1\n  b1:\n    stop live (p.0 u.1)\n    if u.1",
        "(p.0 u.1!d)\n  b0:\n    goto b1\n  b1:\n    stop live (p.0)\n    if u.1!d",
        &["loop b0: u.1 comes from outside and cannot be an unboxed double"],
    );
    broken("poll live (z.3)", "poll live (z.3 y.2!d)", "f.r1 b1: y.2 is an unboxed double in a live list");
    broken(
        "y.2!d = (fl* x.1 x.1)",
        "y.2!d = (* x.1 x.1)",
        "f.r1 b1: y.2 is an unboxed double but assigned a value",
    );
    broken("y.2!d = (fl* x.1 x.1)", "y.2!d = x.1", "f.r1 b1: y.2 is an unboxed double but assigned a value");
    broken("y.2!d = (fl* x.1 x.1)", "y.2!d = '1", "f.r1 b1: y.2 is an unboxed double but assigned a value");
}

#[test]
fn direct_calls_fit() {
    broken("loop (p.2 u.0)", "loop (p.2)", "f.r2 b0: direct call of loop with 1 arguments");
    broken("loop (p.2 u.0)", "f.r1 (p.2)", "f.r2 b0: direct call of f.r1 with 1 arguments");
    broken("direct f closure f.0", "direct f", "main b0: direct call of f and its closure");
    broken("direct loop (", "direct loop closure p.2 (", "f.r2 b0: direct call of loop and its closure");
    broken("apply r.0 (p.4)", "apply r.0 (p.4 p.4)", "f.r1 b2: apply takes one list");
    broken("call/cc p.0 ()", "call/cc p.0 (u.1)", "loop b2: call/cc takes no arguments");
}

#[test]
fn entries_fit() {
    broken("  1 -> f\n", "  2 -> f\n", "f.entry b0: clause and body differ in parameters");
    broken(
        "  1 -> f\n",
        "  1 -> f\n  1+ -> loop\n  0+ -> loop\n",
        "f.entry b0: clause and body differ in parameters",
    );
    broken("  1 -> f\n", "  1 -> f.r1\n", "f.entry b0: clause body f.r1 is not a body");
    broken(
        "closure f.entry '1 '#f",
        "closure f.entry '1",
        "main b0: a closure of 1 free variables does not fit its entry",
    );
    broken(
        "closure f.entry '1 '#f",
        "closure f '1 '#f",
        "main b0: a closure of 2 free variables does not fit its entry",
    );
    broken("then f.r1", "then main", "f b0: main does not expect this frame");
    broken("if u.1 b1 else", "if &f.entry b1 else", "loop b1: function 2 has no static closure");
    broken("= &main.entry", "= &f.entry", "global g is not initialized with a closed entry");
    broken("main main.entry", "main f.entry", "main is not a closed entry");
}

#[test]
fn blocks_and_primitives_are_there() {
    broken("if u.1 b1 else b2", "if u.1 b1 else b3", "loop b1: jump to b3");
    broken("if u.1 b1 else b2", "if u.1 b0 else b2", "loop b1: jump to b0");
    broken("(cons x.0 a.2)", "(cons x.0)", "f b0: cons has 1 operands");
    broken("(pair? r.0)", "(pair? r.0 r.0)", "f.r1 b0: pair? has 2 operands");
    broken("(pair? r.0)", "(car r.0)", "f.r1 b0: car is not a test");
}

/// References that text cannot express.
#[test]
fn dangling_references_are_reported_not_followed() {
    use cairn_frame::ir::*;
    let fresh = || parse_module(&good("chunks")).expect("parses");
    let complaints = |m: &Module| verify(m).expect_err("it is broken");
    let index = |m: &Module, name: &str| m.functions.iter().position(|f| &*f.name == name).expect("there");

    let mut m = fresh();
    let f = index(&m, "loop");
    m.functions[f].blocks[2].term = Term::Return(Operand::Var(Var(99)));
    assert_eq!(complaints(&m), ["loop b2: no variable 99"]);
    m.functions[f].blocks[2].term = Term::Return(Operand::Procedure(FuncId(99)));
    assert_eq!(complaints(&m), ["loop b2: function 99 has no static closure"]);
    m.functions[f].blocks[2].stmts.push(Stmt::Effect(Op::Global(cairn_core::ir::GlobalId(99))));
    assert_eq!(complaints(&m).first().map(String::as_str), Some("loop b2: no global 99"));
    m.functions[f].blocks.clear();
    assert_eq!(complaints(&m), ["loop b0: no blocks"]);

    let mut m = fresh();
    let f = index(&m, "f");
    if let Term::Call { ret, .. } = &mut m.functions[f].blocks[0].term {
        *ret = FuncId(99);
    }
    assert_eq!(complaints(&m), ["f b0: no function 99"]);
    m.main = FuncId(99);
    assert_eq!(complaints(&m)[0], "main is not a closed entry");
}
