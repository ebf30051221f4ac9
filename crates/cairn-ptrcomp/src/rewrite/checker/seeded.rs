//! Faults that a rewriter could make, each seeded into finished code: the checker must find every one.
//!
//! A fault changes one operand of one instruction of a version: a number by four, anything else to zero. Every operand
//! that says where an access goes has its turn (not callees, conditions, indices of structures, the lives of pools).
#![allow(unsafe_code)]

use super::Checker;
use crate::llvm_codes::{opcode, type_kind, value_kind};
use cairn_llvm_c::ValueRef;
use std::cell::{Cell, RefCell};

thread_local! {
    /// Are faults to be seeded?
    static SEEDED: Cell<bool> = const { Cell::new(false) };
    /// The callee in whose first load a fault stays.
    static STAYS: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Faults that were found.
    static FOUND: Cell<usize> = const { Cell::new(0) };
    /// Those that were not.
    static MISSED: RefCell<Vec<String>> = const { RefCell::new(vec![]) };
}

/// Seeds all faults, one after the other, as far as the test wants them.
pub(super) fn all(checker: &Checker, function: ValueRef) {
    let name = &checker.plan.analysis.module.function(checker.copy.id).name;
    if STAYS.with_borrow(|wanted| wanted.as_ref() == Some(name)) {
        let index = |i: &ValueRef| checker.forms.opcode(*i) == opcode::LOAD && checker.forms.width(*i) == 32;
        let load = checker.instructions(function).into_iter().find(index).expect("an index");
        // SAFETY: `load` has the opcode of a load, whose one operand is an address; null of its type is one.
        unsafe { (checker.forms.f.LLVMSetOperand)(load, 0, zero_for(checker, load, 0)) };
        STAYS.set(None);
    }
    if !SEEDED.get() {
        return;
    }
    if let Err(stop) = checker.whole(function) {
        panic!("{name} is right before faults are seeded: {stop:?}");
    }
    for instruction in checker.instructions(function) {
        // SAFETY: `instruction` is one of the function's (*Live handles*).
        let count = unsafe { (checker.forms.f.LLVMGetNumOperands)(instruction) } as u32;
        (0..count).for_each(|n| one(checker, function, instruction, n));
    }
}

fn zero_for(checker: &Checker, instruction: ValueRef, n: u32) -> ValueRef {
    let f = checker.forms.f;
    // SAFETY: `n` is below the number of the instruction's operands, each of which has a type with a null.
    unsafe { (f.LLVMConstNull)((f.LLVMTypeOf)(checker.forms.operand(instruction, n))) }
}

fn one(checker: &Checker, function: ValueRef, instruction: ValueRef, n: u32) {
    let (f, old) = (checker.forms.f, checker.forms.operand(instruction, n));
    // SAFETY: `old` is an operand of an instruction (*Live handles*).
    let kind = unsafe { (f.LLVMGetTypeKind)((f.LLVMTypeOf)(old)) };
    let number = checker.forms.kind(old) == value_kind::INT;
    let open_or_close = checker.incidental(instruction) && checker.forms.opcode(instruction) == opcode::CALL;
    let structure = checker.forms.opcode(instruction) == opcode::GEP && n > 1;
    let callee = checker.forms.opcode(instruction) == opcode::CALL && kind == type_kind::POINTER && {
        // SAFETY: the opcode of a call was found first.
        unsafe { (f.LLVMGetCalledValue)(instruction) == old && (f.LLVMGetNumArgOperands)(instruction) == n }
    };
    let counted = [type_kind::INTEGER, type_kind::POINTER].contains(&kind);
    if !counted || open_or_close || structure || callee || checker.forms.width(old) < 8 {
        return;
    }
    // SAFETY: the new operand is a constant of the old one's type, and the old one is put back below.
    let (found, text) = unsafe {
        let new = match number {
            true => (f.LLVMConstInt)((f.LLVMTypeOf)(old), (f.LLVMConstIntGetSExtValue)(old) as u64 ^ 4, 0),
            false => zero_for(checker, instruction, n),
        };
        if new == old {
            return;
        }
        (f.LLVMSetOperand)(instruction, n, new);
        let found = checker.whole(function).is_err();
        (f.LLVMSetOperand)(instruction, n, old);
        let name = &checker.plan.analysis.module.function(checker.copy.id).name;
        (found, format!("{name}: opcode {}, operand {n}", checker.forms.opcode(instruction)))
    };
    match found {
        true => FOUND.set(FOUND.get() + 1),
        false => MISSED.with_borrow_mut(|all| all.push(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::ExitCode;

    /// Trees, lists in a table, copies, comparisons, arrays, helpers that allocate, code from outside.
    const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
        struct n { struct n *l, *r; int x; double d; }; struct e { long k; struct e *next; struct n *n; };\n\
        struct h { struct e *bucket[4]; int used; };\n\
        static struct n *grow(int d) { if (!d) return 0;\nstruct n *n = malloc(sizeof *n);\n\
        n->x = d; n->d = d; n->l = grow(d - 1); n->r = grow(d - 1); return n; }\n\
        static int sum(struct n *n) { return n ? n->x + (int)n->d + sum(n->l) + sum(n->r) : 0; }\n\
        static void put(struct h *h, struct n *n, long k) {\nstruct e *e = calloc(1, sizeof *e);\n\
        e->k = k; e->n = n; e->next = h->bucket[k & 3]; h->bucket[k & 3] = e; h->used++; }\n\
        static struct n *get(struct h *h, long k) { for (struct e *e = h->bucket[k & 3]; e; e = e->next)\n\
        if (e->k == k) return e->n; return 0; }\n\
        static void drop(struct h *h, struct n *n) { for (int i = 0; i < 4; i++) {\n\
        struct e *e = h->bucket[i], *last = 0; while (e) { struct e *next = e->next; if (e->n == n) {\n\
        if (last) last->next = next; else h->bucket[i] = next; free(e); } else last = e; e = next; } } }\n\
        int main(int c, char **v) { (void)v; struct h *h = malloc(sizeof *h); memset(h, 0, sizeof *h);\n\
        struct n *root = grow(c + 4); for (long k = 0; k < 9; k++) put(h, k & 1 ? root->l : root->r, k);\n\
        drop(h, root->r); *root->r = *root->l;\n\
        struct n *other = grow(3); int same = other == root;\n\
        printf(\"%d %d %d %d\\n\", same + sum(root) + sum(other), get(h, 3) == root->l, get(h, 2) != 0, root->r->x);\n\
        printf(\"%d %s\\n\", h->used, (const char *)memchr(\"abc\", 'b', 3)); return 0; }\n";

    /// A list made and walked by threaded code, with labels in a table and in the code.
    const GOTO: &str = "#include <stdio.h>\n#include <stdlib.h>\nstruct n { struct n *next; int k, c; };\n\
        static long run(const unsigned char *p) {\n\
        static void *const table[] = { &&push, &&add, &&pop, &&stop }; static struct n *top; long sum = 0;\n\
        void *last = *p == 9 ? &&stop : &&add; goto *table[*p++];\n\
        push: { struct n *n = malloc(sizeof *n); n->k = *p++; n->c = 'x'; n->next = top; top = n; goto *table[*p++]; }\n\
        add: for (struct n *n = top; n; n = n->next) sum += n->k + n->c; if (!top) goto *last; goto *table[*p++];\n\
        pop: { struct n *n = top; top = n->next; free(n); goto *table[*p++]; }\n\
        stop: return sum; }\n\
        int main(int c, char **v) { (void)v; unsigned char code[] = { 0, 5, 0, 7, 1, 2, 1, 0, 9, 1, 3 };\n\
        code[1] += c; printf(\"%ld\\n\", run(code)); return 0; }\n";

    fn link(name: &str, options: &str) -> String {
        link_program(PROGRAM, name, options)
    }

    fn link_program(program: &str, name: &str, options: &str) -> String {
        let place = std::env::temp_dir().join(format!("cairn-checker-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&place).expect("a directory");
        let (source, output): (PathBuf, PathBuf) = (place.join("a.c"), place.join("out"));
        std::fs::write(&source, program).expect("a file");
        let mut words: Vec<std::ffi::OsString> = options.split(' ').map(Into::into).collect();
        words.extend(["-O2".into(), "-o".into(), output.clone().into(), source.into()]);
        assert_eq!(crate::cc(&words), ExitCode::SUCCESS, "{options}");
        let text = String::from_utf8_lossy(&std::fs::read(&output).expect("output")).into_owned();
        std::fs::remove_dir_all(&place).expect("it is ours");
        text
    }

    fn every_fault(options: &str) {
        SEEDED.set(true);
        link(&options.replace(['=', ' '], "-"), &format!("--emit=pools {options}"));
        let (found, missed) = (FOUND.get(), MISSED.take());
        assert!(missed.is_empty(), "{options}: {found} faults found, not these:\n{}", missed.join("\n"));
        assert!(found > 200, "{options}: only {found} faults");
    }

    #[test]
    fn every_fault_is_found_beside_computed_gotos() {
        SEEDED.set(true);
        let report = link_program(GOTO, "goto", "--emit=pools --ptrcomp=static");
        let (found, missed) = (FOUND.get(), MISSED.take());
        assert!(report.contains("1 pointers smaller"), "{report}");
        assert!(missed.is_empty(), "{found} faults found, not these:\n{}", missed.join("\n"));
        assert!(found > 30, "only {found} faults");
    }

    #[test]
    fn every_fault_is_found_with_static_pools() {
        every_fault("--ptrcomp=static");
    }

    #[test]
    fn every_fault_is_found_with_indices_of_sixteen_bits() {
        every_fault("--ptrcomp=static --pool-bits=16");
    }

    #[test]
    fn every_fault_is_found_with_dynamic_pools() {
        every_fault("--ptrcomp=dynamic --pool-bits=16");
    }

    #[test]
    fn what_is_wrong_with_one_pool_drops_that_pool() {
        let right = link("right", "--emit=pools --ptrcomp=static");
        assert!(
            right.lines().any(|l| l.starts_with("pool of struct n at ") && l.contains("a.c:7, for main")),
            "{right}"
        );
        STAYS.set(Some("sum".into()));
        let wrong = link("wrong", "--emit=pools --ptrcomp=static");
        let line =
            wrong.lines().find(|l| l.starts_with("as before struct n at ") && l.contains(": the checker finds"));
        assert!(
            line.is_some_and(|l| l.contains("a.c:9")),
            "the tree is dropped, with its reason and line:\n{wrong}"
        );
        assert!(
            wrong.lines().any(|l| l.starts_with("pool ") && l.contains("a.c:11")),
            "the table stays:\n{wrong}"
        );
    }
}
