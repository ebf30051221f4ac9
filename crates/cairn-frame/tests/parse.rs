//! The text form: what is printed parses, what is parsed prints the same; errors tell the line.

mod common;

use cairn_core::ir::{Expr, Literal, TopForm};
use cairn_core::parse::parse_program;
use cairn_core::passes::{self, Opt};
use cairn_core::verify::{Dialect, verify};
use cairn_frame::ir::{FuncKind, Rep, Stmt, Term};
use cairn_frame::parse::parse_module;
use cairn_frame::print::print_module;
use std::path::Path;

/// Printing and parsing `text` gives it back.
fn stays(text: &str) {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    common::same(&print_module(&module), text);
}

/// Parsing complains with this message.
fn fails(text: &str, message: &str) {
    assert_eq!(parse_module(text).map(|m| print_module(&m)), Err(message.to_string()), "{text}");
}

#[test]
fn everything_at_once() {
    stays(
        r#"module chunks main program.0.entry
source "lib/a b.scm" library
source "say \"f\".scm"
procedure "max"
procedure "a \"b\""
global @f.0 = &f.1.entry
global @|two words|.1 = &f.1.entry

function program.0.entry of program entry words 1
  0 -> program.0

function program.0 of program body ()
  b0:
    return &f.1.entry

function f.1.entry of f library entry words 1 {1:17}
  2 -> f.1
  2+ -> f.2

function f.1 of f library body (x.0 |&y|.1)
  b0:
    t.2!d = (fl+ x.0 |&y|.1) proven 10 {0:3}
    poll live (x.0 |&y|.1)
    check 40 live (x.0)
    k.3 = closure g.3.entry x.0 '#f '1.5 &f.1.entry
    patch k.3 1 k.3
    (set-car! x.0 '|a\|b|) {1:17:0}
    (set-cdr! x.0 x.0) {:1}
    @x.2 := t.2!d
    @later.7 := x.0 checked {1:4}
    z.4 = @later.7 checked
    x.0
    if (eq? x.0 '()) {0:0} b1 else b2
  b1:
    call direct f.2 closure k.3 ('#u8(1 2) '#(a #\x "s" ()) '#\x20) {1:5} frame 4 [0, 2] store 0:=x.0 2:='a then f.1.r1
  b2:
    if t.2!d b3 else b4
  b3:
    tail apply x.0 (z.4)
  b4:
    return values

function f.2 of f body (a.0 b.1 c.2) closure c.3
  b0:
    a.0 = free 2
    tail call/cc a.0 () {1:9}

function f.1.r1 of f return frame 4 [0, 2] -> (a.0 . |.|.1) of {1:2:1} {1:5}
  b0:
    goto b1
  b1:
    x.2 = slot 2
    call x.2 () frame 4 [0, 2] then f.1.r2

function f.1.r2 of f return frame 4 [0, 2] -> ignored.0
  b0:
    return values ignored.0 '-0.0

function g.3.entry of g entry words 5
  0 -> f.2
"#,
    );
}

#[test]
fn constants_end_where_they_end() {
    for constant in [
        "()",
        "(a (b \"(\\\"\" . c) #\\( |x )|)",
        "#((1) #u8() #(()))",
        "#\\x",
        "#\\xa",
        "#\\(",
        "#\\;",
        "\"\\n\\\\\"",
        "|a b\\| c|",
        "+inf.0",
        "+nan.0",
        "1/2",
        "123456789012345678901234567890",
        "-1+2i",
        "#t",
        "#!unspecified",
        "#!eof",
        "#!default",
        "#!unbound",
        "λ",
        "...",
    ] {
        let program = parse_program(&format!("'{constant}")).expect("Core reads it");
        let [TopForm::Expr(Expr::Const(l))] = program.forms.as_slice() else {
            panic!("{constant} is no constant")
        };
        let constant = cairn_core::print::print_literal(l);
        stays(&format!(
            "module chunks main m\n\nfunction m of m entry words 1\n  0 -> b\n\nfunction b of b body (x.0)\n  b0:\n    \
             tail x.0 ('{constant} '{constant} x.0)\n"
        ));
    }
}

#[test]
fn names_that_look_like_something_else() {
    let names = [
        "", " ", ".", "1", "-", "a.1", "&", "@", "'", "goto", "b0:", "x!d", "|", "\\", "a\nb", "(", "=", "slot",
        ";",
    ];
    for name in names {
        let mut program =
            parse_program("(define @f.0 (lambda f (x.0) (lambda g (y.1) (%cons x.0 y.1))))\n@f.0").unwrap();
        program.vars.iter_mut().for_each(|v| v.name = name.into());
        program.globals[0].name = name.into();
        if let TopForm::Define(_, Expr::Lambda(l)) = &mut program.forms[0] {
            l.name = name.into();
        }
        for s in common::strategies() {
            let module = common::lower(&program, s);
            let again = parse_module(&print_module(&module)).expect("parses");
            let used = |m: &cairn_frame::ir::Module| -> Vec<_> {
                m.functions.iter().filter(|f| !f.blocks.is_empty()).map(|f| f.name.clone()).collect()
            };
            assert_eq!(used(&again), used(&module));
        }
    }
}

#[test]
fn parsed_parts_are_the_printed_ones() {
    let program = parse_program(
        "(define @f.0 (lambda f (g.0 x.1) (let ((y.2 (%fl+ (%fl* x.1 x.1):0 1.))) (%cons (g.0 y.2){0:7} y.2))))\n(@f.0 1 2.)"
            .replace(":0", "")
            .as_str(),
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let module = common::lower(&program, common::named("chunks"));
    let again = parse_module(&print_module(&module)).expect("parses");
    let body = |m: &cairn_frame::ir::Module, kind: fn(&FuncKind) -> bool| {
        m.functions.iter().find(|f| &*f.procedure == "f" && kind(&f.kind)).expect("there").clone()
    };
    let is_body = |k: &FuncKind| matches!(k, FuncKind::Body { .. });
    let (a, b) = (body(&module, is_body), body(&again, is_body));
    assert_eq!(a.vars.iter().map(|v| v.rep).collect::<Vec<_>>(), b.vars.iter().map(|v| v.rep).collect::<Vec<_>>());
    assert!(b.vars.iter().any(|v| v.rep == Rep::Double));
    assert!(b.blocks.iter().any(|b| b.stmts.iter().any(|s| matches!(s, Stmt::HeapCheck { bytes: 0, .. }))));
    let site = |f: &cairn_frame::ir::Function| {
        f.blocks.iter().find_map(|b| if let Term::Call { site, .. } = b.term { Some(site) } else { None })
    };
    assert_eq!(site(&b).map(|s| (s.file(), s.start())), Some((Some(0), 7)));
    assert_eq!(site(&a), site(&b));
}

#[test]
fn errors_tell_the_line() {
    let head = "module heap main m\nfunction m of m body (x.0)\n  b0:\n";
    let after = |line: &str| format!("{head}    {line}\n");
    fails("", "line 1: no module");
    fails("module segments main m", "line 1: no strategy `segments`");
    fails("module heap main m", "line 1: no function m");
    fails(&after("return x.0\nfunction m of m body ()"), "line 5: a second function m");
    fails(&after("return x.0 x.0"), "line 4: unexpected `x.0`");
    fails(&after("return"), "line 4: expected a word before ``");
    fails(&after("return x"), "line 4: `x` is not a variable");
    fails(&after("return '(1"), "line 4: expected a constant before `(1`");
    fails(&after("return y.0"), "line 4: variable 0 is `x` and `y.0`");
    fails(&after("return x.0!d"), "line 4: variable 0 is `x` and `x.0!d`");
    fails(&after("(no-such x.0)"), "line 4: unknown primitive `no-such`");
    fails(&after("(car x.0) proven 2"), "line 4: `2` are not bits");
    fails(&after("tail direct g (x.0)"), "line 4: no function g");
    fails(&after("goto 1"), "line 4: expected `b` before `1`");
    fails(
        &after("call x.0 () frame 2 [] 0:=x.0 then m"),
        "line 4: expected `store` or `then` before `0:=x.0 then m`",
    );
    fails(&after("return x.0\n  x.0 = '1"), "line 5: a statement outside of a block");
    fails(&after("return x.0\n  b2:"), "line 5: `b2:` is not the next block");
    fails(&after("x.0 = '1\n  b1:"), "line 5: a block without a terminator");
    assert_eq!(parse_module(head).err().as_deref(), Some("a block without a terminator"));
    assert_eq!(
        parse_module("module heap main m\nfunction m of m body ()").err().as_deref(),
        Some("m has no blocks")
    );
}

#[test]
fn a_comment_is_no_line() {
    let m = parse_module("; remark\nmodule heap main m\n\n  ; another\nfunction m of m entry words 1\n")
        .expect("parses");
    assert_eq!(print_module(&m), "module heap main m\n");
}

/// All Core programs of the optimizer's golden tests, through the optimizer and both strategies.
#[test]
fn real_programs_round_trip() {
    let mut count = 0;
    for folder in ["core", "core-inline", "core-types"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(folder);
        for file in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            let Ok(text) = std::fs::read_to_string(file.path()) else { continue };
            for case in text.split("==== ").skip(1) {
                let source = case.split_once('\n').map_or("", |x| x.1);
                let source = source.split("\n----").next().unwrap_or("");
                let Ok(program) = parse_program(source) else { continue };
                let mut variants = vec![];
                if verify(&program, Dialect::Source).is_ok() {
                    for level in [Opt::Low, Opt::High] {
                        let mut p = program.clone();
                        passes::optimize(&mut p, level, false, &mut |_, _| {});
                        variants.push(p);
                    }
                } else if verify(&program, Dialect::Opt).is_ok() {
                    variants.push(program);
                }
                for p in &variants {
                    count += 1;
                    common::strategies().for_each(|s| drop(common::lower(p, s)));
                }
            }
        }
    }
    assert!(count >= 50, "only {count} programs");
}

/// A literal is a literal: the text of a string may look like Frame IR.
#[test]
fn strings_hide_their_contents() {
    let mut program = parse_program("(lambda f () 0)").unwrap();
    if let TopForm::Expr(Expr::Lambda(l)) = &mut program.forms[0] {
        l.clauses[0].body = Expr::Const(Literal::String("\n  b0:\n    goto b0 ' ( | \u{7} λ".into()));
    }
    program.forms.push(TopForm::Expr(Expr::CallCc(
        cairn_core::ir::Shots::Many,
        Box::new(program_lambda(&program)),
        cairn_layout::code::Site::NONE,
    )));
    common::strategies().for_each(|s| drop(common::lower(&program, s)));
}

fn program_lambda(p: &cairn_core::ir::Program) -> Expr {
    let TopForm::Expr(e) = &p.forms[0] else { unreachable!() };
    e.clone()
}
