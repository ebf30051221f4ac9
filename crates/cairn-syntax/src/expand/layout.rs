//! `(cairn layout)`: what lib/ must know of layouts, as macros that stand for numbers.
//!
//! The numbers are defined in cairn-layout, which compiler and runtime share. lib/ must not copy them; so the text of
//! this library is made from them. `(slot-winders)` expands to a constant: using it costs nothing.

use cairn_layout::code::Site;
use cairn_layout::limits::HOT_ENTRIES;
use cairn_layout::machine::{error, slot};
use cairn_layout::module::builtin;
use cairn_layout::object::{port, table, weak};

/// Path of the library in messages.
pub(super) const PATH: &str = "lib/cairn/layout.sld";

const TEXTUAL_INPUT: i64 = port::FLAG_TEXTUAL | port::FLAG_INPUT;
const TEXTUAL_OUTPUT: i64 = port::FLAG_TEXTUAL | port::FLAG_OUTPUT;

const NUMBERS: &[(&str, i64)] = &[
    // machine slots, for %machine-ref
    ("slot-winders", slot::WINDERS as i64),
    ("slot-handlers", slot::HANDLERS as i64),
    ("slot-parameters", slot::PARAMETERS as i64),
    ("slot-error-hook", slot::ERROR_HOOK as i64),
    ("slot-rewind-hook", slot::REWIND_HOOK as i64),
    ("slot-raise-hook", slot::RAISE_HOOK as i64),
    ("slot-raised", slot::RAISED as i64),
    ("slot-signal-hook", slot::SIGNAL_HOOK as i64),
    ("slot-exports", slot::EXPORTS as i64),
    ("slot-finalizer-hook", slot::FINALIZER_HOOK as i64),
    // procedures of the prelude, for %machine-builtin
    ("builtin-call-in", builtin::CALL_IN as i64),
    ("builtin-return-values", builtin::RETURN_VALUES as i64),
    ("slot-tick-hook", slot::TICK_HOOK as i64),
    ("slot-uncaught-hook", slot::UNCAUGHT_HOOK as i64),
    ("slot-wait-hook", slot::WAIT_HOOK as i64),
    ("slot-interrupt-hook", slot::INTERRUPT_HOOK as i64),
    ("slot-captures", slot::CAPTURES as i64),
    ("slot-tail-mark", slot::TAIL_MARK as i64),
    // kinds of conditions
    ("kind-type", error::TYPE),
    ("kind-range", error::RANGE),
    ("kind-arity", error::ARITY),
    ("kind-unbound", error::UNBOUND),
    ("kind-file", error::FILE),
    ("kind-read", error::READ),
    ("kind-other", error::OTHER),
    ("kind-syntax", error::SYNTAX),
    // the source position of a condition that has none
    ("no-site", Site::NONE.0 as i64),
    // when evaluated code is worth compiling
    ("hot-entries", HOT_ENTRIES as i64),
    // fields of a port, for %port-ref
    ("port-field-flags", port::FLAGS as i64),
    ("port-field-buffer", port::BUF as i64),
    ("port-field-position", port::POS as i64),
    ("port-field-end", port::END as i64),
    ("port-field-descriptor", port::FD as i64),
    ("port-field-name", port::NAME as i64),
    ("port-field-extra", port::EXTRA as i64),
    // flags of a port, for %open-file
    ("port-input", port::FLAG_INPUT),
    ("port-output", port::FLAG_OUTPUT),
    ("port-textual", port::FLAG_TEXTUAL),
    ("port-binary", port::FLAG_BINARY),
    ("port-open", port::FLAG_OPEN),
    ("port-keeping", port::OPEN_KEEPING),
    ("port-line-buffered", port::FLAG_CONSOLE),
    ("port-unbuffered", port::FLAG_CONSOLE | port::FLAG_SOCKET),
    ("port-textual-input", TEXTUAL_INPUT),
    ("port-textual-output", TEXTUAL_OUTPUT),
    ("port-binary-input", port::FLAG_BINARY | port::FLAG_INPUT),
    ("port-binary-output", port::FLAG_BINARY | port::FLAG_OUTPUT),
    ("port-open-textual-input", port::FLAG_OPEN | TEXTUAL_INPUT),
    ("port-binary", port::FLAG_BINARY),
    // hash tables
    ("table-eq", table::EQ),
    ("table-eqv", table::EQV),
    ("table-equal", table::EQUAL),
    ("table-string", table::STRING),
    ("table-other", table::OTHER),
    ("table-least", table::LEAST),
    // kinds of weak objects
    ("weak-references", weak::REFERENCES),
    ("weak-ephemerons", weak::EPHEMERONS),
    ("weak-by-value", weak::BY_VALUE),
    ("weak-both", weak::BOTH),
];

/// The text of the library.
pub(super) fn text() -> String {
    let mut exports = String::new();
    let mut macros = String::new();
    for (name, number) in NUMBERS {
        exports += &format!(" {name}");
        macros += &format!("    (define-syntax {name} (syntax-rules () ((_) {number})))\n");
    }
    format!(
        ";;; (cairn layout): numbers that compiler and runtime share.\n\n\
         (define-library (cairn layout)\n  (export{exports})\n  (import (cairn syntax))\n  (begin\n{macros}  ))\n"
    )
}
