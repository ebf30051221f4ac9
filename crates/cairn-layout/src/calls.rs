//! The table of runtime calls: everything compiled Scheme asks of the runtime, one row each.
//!
//! A row `(symbol, "name", arity, FLAGS)` means:
//! * the runtime exports `extern "C" fn symbol(ctx: *mut Machine, a: Value, …) -> Value` with `arity` values;
//! * library code may write `(%name a …)`; `name` is also what error messages call it;
//! * compiled code calls it through `Machine::calls[row]`.
//!
//! Runtime calls never collect: what they allocate may overdraw the nursery, and the next heap check in
//! compiled code collects. So values held in Rust locals stay valid for the whole call.
//! A failing call records its failure in the runtime and returns `Value::FAIL`; compiled code then raises.
//! Adding a row: add it here and the function in `cairn-rt`; nothing else.

/// The call allocates: compiled code stores `lo`/`hi` before and reloads them after.
pub const ALLOC: u8 = 1;
/// The call may return `Value::FAIL`.
pub const FAIL: u8 = 2;
/// No side effect: may be removed when the result is unused, and reordered with other pure operations.
pub const PURE: u8 = 4;
/// Rarely executed: called through the cold stub, which preserves all registers.
pub const COLD: u8 = 8;
/// Takes the place of a longer call where it can, and allocates nothing: the inliner copies what makes it more readily,
/// for around it no frame is needed.
pub const QUICK: u8 = 16;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct RtCall {
    /// Exported symbol.
    pub symbol: &'static str,
    /// Name in the library, without `%`.
    pub name: &'static str,
    /// Number of values passed after the context; at most 5.
    pub arity: usize,
    /// `ALLOC | FAIL | PURE | COLD | QUICK`.
    pub flags: u8,
}

/// Calls `$m!` once with all rows.
#[macro_export]
macro_rules! for_each_rt_call {
    ($m:ident) => {
        $m! {
            // machine: called by compiled code itself
            (cairn_machine_collect, "machine-collect", 1, ALLOC | COLD)          // bytes needed (fixnum); roots in spill; result: sp (raw)
            (cairn_machine_guard, "machine-guard", 2, ALLOC | COLD)              // bytes of stack needed, bytes of the incoming frame; roots in spill; result: sp (raw)
            (cairn_machine_resume, "machine-resume", 1, ALLOC)                  // record of a safepoint: goes back there, does not return
            (cairn_machine_underflow, "machine-underflow", 0, ALLOC | COLD)       // result: new sp (raw)
            (cairn_machine_capture, "machine-capture", 0, ALLOC | COLD)           // result: continuation object
            (cairn_machine_capture_once, "machine-capture-once", 0, ALLOC | COLD) // likewise, for one use
            (cairn_machine_used, "machine-used", 0, ALLOC)                       // a one-shot continuation used again: raises, does not return
            (cairn_machine_builtin, "machine-builtin", 1, ALLOC)                 // number (`module::builtin`): that procedure
            (cairn_machine_same, "continuation-same?", 2, 0)                     // two continuations: do they have the same frames?
            (cairn_machine_note_base, "note-base", 1, 0)                        // continuation: its youngest frame is the one where prompts end
            (cairn_machine_reinstate, "machine-reinstate", 1, ALLOC | COLD)       // continuation object; result: new sp (raw)
            (cairn_machine_winders, "continuation-winders", 1, FAIL)             // continuation: its dynamic-wind list at capture
            (cairn_machine_throw, "machine-throw", 5, ALLOC)                     // kind, operation, site, x, y; fills args[0..5] for the error hook
            (cairn_machine_spread, "machine-spread", 1, ALLOC | FAIL)            // list -> args[0..n], result n (fixnum)
            (cairn_machine_rest, "machine-rest", 2, ALLOC)                       // start, argc (fixnums): list of args[start..argc]
            (cairn_machine_mismatch, "values-mismatch", 2, ALLOC | FAIL)          // expected, got: always fails
            (cairn_machine_unbound, "unbound-variable", 1, FAIL | COLD)          // name (symbol): always fails; reads before initialization
            // generic arithmetic: slow paths of inlined operations
            (cairn_num_add, "num-add", 2, ALLOC | FAIL | COLD)
            (cairn_num_sub, "num-sub", 2, ALLOC | FAIL | COLD)
            (cairn_num_mul, "num-mul", 2, ALLOC | FAIL | COLD)
            (cairn_num_div, "num-div", 2, ALLOC | FAIL)
            (cairn_num_eq, "num-eq", 2, FAIL | COLD)                             // #t or #f
            (cairn_num_lt, "num-lt", 2, FAIL | COLD)
            (cairn_num_le, "num-le", 2, FAIL | COLD)
            (cairn_num_quotient, "num-quotient", 2, ALLOC | FAIL | COLD)
            (cairn_num_remainder, "num-remainder", 2, ALLOC | FAIL | COLD)
            (cairn_num_modulo, "num-modulo", 2, ALLOC | FAIL | COLD)
            (cairn_num_floor_quotient, "num-floor-quotient", 2, ALLOC | FAIL | COLD)
            (cairn_num_box_flonum, "num-box-flonum", 1, ALLOC | COLD)            // argument: raw bits of the double
            // numbers
            (cairn_num_is_integer, "num-integer?", 1, PURE)                      // any object
            (cairn_num_is_rational, "num-rational?", 1, PURE)
            (cairn_num_is_exact, "num-exact?", 1, FAIL)                          // fails on non-numbers
            (cairn_num_is_nan, "num-nan?", 1, FAIL)
            (cairn_num_is_finite, "num-finite?", 1, FAIL)
            (cairn_num_is_infinite, "num-infinite?", 1, FAIL)
            (cairn_num_gcd, "num-gcd", 2, ALLOC | FAIL)
            (cairn_num_numerator, "num-numerator", 1, ALLOC | FAIL)
            (cairn_num_denominator, "num-denominator", 1, ALLOC | FAIL)
            (cairn_num_floor, "num-floor", 1, ALLOC | FAIL)
            (cairn_num_ceiling, "num-ceiling", 1, ALLOC | FAIL)
            (cairn_num_truncate, "num-truncate", 1, ALLOC | FAIL)
            (cairn_num_round, "num-round", 1, ALLOC | FAIL)
            (cairn_num_exp, "num-exp", 1, ALLOC | FAIL)
            (cairn_num_log, "num-log", 1, ALLOC | FAIL)
            (cairn_num_sin, "num-sin", 1, ALLOC | FAIL)
            (cairn_num_cos, "num-cos", 1, ALLOC | FAIL)
            (cairn_num_tan, "num-tan", 1, ALLOC | FAIL)
            (cairn_num_asin, "num-asin", 1, ALLOC | FAIL)
            (cairn_num_acos, "num-acos", 1, ALLOC | FAIL)
            (cairn_num_atan, "num-atan", 1, ALLOC | FAIL)
            (cairn_num_atan2, "num-atan2", 2, ALLOC | FAIL)
            (cairn_num_sqrt, "num-sqrt", 1, ALLOC | FAIL)
            (cairn_num_exact_integer_sqrt, "num-exact-integer-sqrt", 1, ALLOC | FAIL) // (root . rest)
            (cairn_num_expt, "num-expt", 2, ALLOC | FAIL)
            (cairn_num_exact, "num-exact", 1, ALLOC | FAIL)
            (cairn_num_inexact, "num-inexact", 1, ALLOC | FAIL)
            (cairn_num_make_rectangular, "num-make-rectangular", 2, ALLOC | FAIL)
            (cairn_num_make_polar, "num-make-polar", 2, ALLOC | FAIL)
            (cairn_num_real_part, "num-real-part", 1, ALLOC | FAIL)
            (cairn_num_imag_part, "num-imag-part", 1, ALLOC | FAIL)
            (cairn_num_magnitude, "num-magnitude", 1, ALLOC | FAIL)
            (cairn_num_angle, "num-angle", 1, ALLOC | FAIL)
            (cairn_num_to_string, "num->string", 2, ALLOC | FAIL)                // number, radix
            (cairn_num_from_string, "string->num", 2, ALLOC | FAIL)              // string, radix; #f when not a number
            (cairn_num_and, "num-and", 2, ALLOC | FAIL)
            (cairn_num_or, "num-or", 2, ALLOC | FAIL)
            (cairn_num_xor, "num-xor", 2, ALLOC | FAIL)
            (cairn_num_not, "num-not", 1, ALLOC | FAIL)
            (cairn_num_shift, "num-shift", 2, ALLOC | FAIL)
            (cairn_num_bit_count, "num-bit-count", 1, FAIL)
            (cairn_num_integer_length, "num-integer-length", 1, FAIL)
            // equality and hashing
            (cairn_eq_eqv, "eqv", 2, PURE | COLD)                                // slow path: operands differ as words
            (cairn_eq_equal, "equal", 2, PURE)                                   // terminates on cycles
            (cairn_eq_hash, "equal-hash", 1, PURE)                               // fixnum; consistent with equal?
            // hash tables; see object::table
            (cairn_table_find, "table-find", 2, ALLOC)                           // table, key: place of its value in the entries (fixnum) or #f
            (cairn_table_ref, "table-ref", 3, ALLOC)                             // table, key, default: the value of key or default
            (cairn_table_set, "table-set!", 3, ALLOC)                            // table, key, value
            (cairn_table_delete, "table-delete!", 2, ALLOC)                      // table, key
            // those with `-known` allocate nothing; they return the default object where they cannot say
            (cairn_table_find_known, "table-find-known", 2, QUICK)               // what table-find returns
            (cairn_table_ref_known, "table-ref-known", 3, QUICK)                 // what table-ref returns
            (cairn_table_set_known, "table-set-known!", 3, QUICK)                // #t if table-set! is done
            (cairn_table_candidates, "table-candidates", 2, ALLOC)               // table, hash (fixnum): places of the values of keys with it
            (cairn_table_append, "table-append!", 4, ALLOC)                      // table, hash, key, value: the key is not there
            (cairn_table_remove, "table-remove!", 3, 0)                          // table, place of a value, hash of its key
            (cairn_table_copy, "table-copy!", 2, ALLOC)                          // fresh table, table: entries of the second to the first
            (cairn_table_column, "table-column", 2, ALLOC)                       // table, 0 or 1: vector of its keys or values
            (cairn_table_broken, "broken-object", 0, PURE)                       // what is where something was that is gone
            (cairn_table_count, "table-count", 1, 0)                             // table of weak entries: how many are there
            // weak objects, guardians; kinds are those of cairn_heap::WeakKind
            (cairn_weak_make, "weak-make", 2, ALLOC)                             // kind, length
            (cairn_weak_kind, "weak-kind", 1, PURE)                              // any object: its kind or #f
            (cairn_weak_length, "weak-length", 1, PURE)
            (cairn_weak_ref, "weak-ref", 2, 0)                                   // weak object, index
            (cairn_weak_set, "weak-set!", 3, 0)                                  // weak object, index, value
            (cairn_weak_guard, "weak-guard!", 3, 0)                              // object, companion, guardian (record: list of (object . companion))
            (cairn_weak_touch, "weak-touch", 1, 0)                               // anything: nothing happens, but it is alive until now
            (cairn_weak_report, "weak-report", 1, ALLOC)                         // message (string) of what a finalizer raised
            (cairn_weak_collect, "weak-collect", 1, ALLOC)                       // everything?: at the next heap check
            (cairn_weak_collections, "weak-collections", 0, 0)                   // number of collections so far
            // strings and characters; ranges are checked, bounds are fixnums
            (cairn_string_make, "make-string", 2, ALLOC | FAIL)                  // length, char
            (cairn_string_append, "string-append", 2, ALLOC | FAIL)
            (cairn_string_concat, "string-concat", 1, ALLOC | FAIL)              // list of strings
            (cairn_string_sub, "substring", 3, ALLOC | FAIL)
            (cairn_string_copy_to, "string-copy!", 5, FAIL)                      // to at from start end
            (cairn_string_fill, "string-fill!", 4, FAIL)                         // string char start end
            (cairn_string_compare, "string-compare", 2, FAIL)                    // -1, 0, 1
            (cairn_string_equal, "string=?", 2, FAIL)
            (cairn_string_upcase, "string-upcase", 1, ALLOC | FAIL)
            (cairn_string_downcase, "string-downcase", 1, ALLOC | FAIL)
            (cairn_string_foldcase, "string-foldcase", 1, ALLOC | FAIL)
            (cairn_string_from_list, "list->string", 1, ALLOC | FAIL)
            (cairn_string_to_list, "string->list", 3, ALLOC | FAIL)
            (cairn_string_to_vector, "string->vector", 3, ALLOC | FAIL)
            (cairn_string_from_vector, "vector->string", 3, ALLOC | FAIL)
            (cairn_string_to_utf8, "string->utf8", 3, ALLOC | FAIL)
            (cairn_string_from_utf8, "utf8->string", 3, ALLOC | FAIL)
            (cairn_string_hash, "string-hash", 1, FAIL)
            (cairn_scan_string, "string-scan", 4, FAIL)                          // string, table, registers, backward?: why it stopped (`scan.rs`)
            (cairn_scan_submatches, "scan-submatches", 5, FAIL)                  // string, table, places, from, to: -1, or what is missing
            (cairn_symbol_intern, "string->symbol", 1, ALLOC | FAIL)
            (cairn_symbol_gensym, "generate-symbol", 0, ALLOC)
            (cairn_symbol_named, "generate-symbol-named", 1, ALLOC)              // string: a symbol of that name that the table does not know
            (cairn_symbol_syntax, "syntax-host", 3, 0)                           // what, two operands: #f; macro transformers get answers (cairn-syntax/src/expand/procedural.rs)
            (cairn_char_upcase, "char-upcase", 1, FAIL)
            (cairn_char_downcase, "char-downcase", 1, FAIL)
            (cairn_char_foldcase, "char-foldcase", 1, FAIL)
            (cairn_char_is_alphabetic, "char-alphabetic?", 1, FAIL)
            (cairn_char_is_numeric, "char-numeric?", 1, FAIL)
            (cairn_char_is_whitespace, "char-whitespace?", 1, FAIL)
            (cairn_char_is_upper, "char-upper-case?", 1, FAIL)
            (cairn_char_is_lower, "char-lower-case?", 1, FAIL)
            (cairn_char_digit_value, "digit-value", 1, FAIL)                     // fixnum or #f
            (cairn_char_category, "char-category", 1, FAIL)                      // fixnum, see cairn-rt/src/chars.rs
            // vectors, bytevectors, lists
            (cairn_vector_make, "make-vector", 2, ALLOC | FAIL)                  // length, fill
            (cairn_vector_sub, "subvector", 3, ALLOC | FAIL)
            (cairn_vector_copy_to, "vector-copy!", 5, FAIL)
            (cairn_vector_fill, "vector-fill!", 4, FAIL)
            (cairn_vector_append, "vector-append", 1, ALLOC | FAIL)              // list of vectors
            (cairn_vector_from_list, "list->vector", 1, ALLOC | FAIL)
            (cairn_vector_sort_numbers, "vector-sort-numbers!", 4, 0)            // vector of its own, start, end, falling? -> #t if all were alike and are sorted
            (cairn_vector_to_list, "vector->list", 3, ALLOC | FAIL)
            (cairn_bytes_make, "make-bytevector", 2, ALLOC | FAIL)
            (cairn_bytes_sub, "subbytevector", 3, ALLOC | FAIL)
            (cairn_bytes_copy_to, "bytevector-copy!", 5, FAIL)
            (cairn_bytes_fill, "bytevector-fill!", 4, FAIL)
            (cairn_bytes_append, "bytevector-append", 1, ALLOC | FAIL)           // list of bytevectors
            (cairn_bytes_flonum, "bytevector-flonum", 3, ALLOC)                  // bytevector, place, bytes: 4 or 8, negative for the other order
            (cairn_bytes_set_flonum, "bytevector-set-flonum!", 4, 0)             // likewise, flonum
            (cairn_list_length, "length", 1, FAIL)                               // fails on improper and circular lists
            (cairn_list_is_list, "list?", 1, PURE)
            (cairn_list_append_reversed, "append-reversed", 2, ALLOC)            // list, end: elements in reverse order before end
            (cairn_record_make, "make-record", 2, ALLOC | FAIL)                  // type, list of fields
            (cairn_record_make_raw, "make-raw-record", 1, ALLOC | FAIL)          // type: a record of zeros
            (cairn_compact_make, "make-compact-record", 1, ALLOC | COLD)       // compact type: a record of zeros
            (cairn_compact_place, "compact-place", 2, COLD)                     // compact record, code of a field: its address (raw)
            (cairn_record_make_type, "make-record-type", 3, 0)                   // name, fields, see record::RAW; see cairn-rt/src/record.rs
            (cairn_record_make_subtype, "make-record-subtype", 4, FAIL)          // name, own fields, as above, type it extends
            (cairn_record_define, "record-define", 5, ALLOC | FAIL)              // name, own fields: names and pairs of one and a kind, sealed?, type it extends or #f, who (string)
            (cairn_record_is_a, "record-is-a", 2, COLD)                          // object, type: does its type extend this one?
            (cairn_record_type, "record-type", 1, COLD)                          // record: its type
            (cairn_record_place, "record-place", 2, COLD)                        // object, type: #f, or from where its fields are reached (raw)
            (cairn_record_fits, "record-fits", 2, COLD)                          // integer, code of a field of 64-bit integers
            (cairn_record_instead, "record-instead", 3, ALLOC)                   // an object that is none of a type, the type, what errors expect: a message, or #f
            (cairn_record_get, "record-get", 2, ALLOC | COLD)                    // record, code of a raw field of 64-bit integers
            (cairn_record_put, "record-put!", 3, ALLOC | FAIL | COLD)            // record, code of such a field, integer
            (cairn_record_fill, "record-fill!", 5, ALLOC | FAIL)                 // record, code of the first element of an array, length, numeric vector or list, who
            (cairn_record_part, "record-part", 5, ALLOC | FAIL)                  // record, type, pairs of codes, words, type of the part: a copy of the part
            (cairn_record_show, "record-type-show!", 2, 0)                       // type, how many of the first fields are printed
            // numeric vectors; kinds are fixnums, `numeric::NumericKind`; u8vectors are bytevectors
            (cairn_numeric_make, "numeric-make", 4, ALLOC | FAIL)                // kind, length, number or nothing, who
            (cairn_numeric_kind, "numeric-kind", 1, PURE)                        // any object: its kind, or #f
            (cairn_numeric_is_writable, "numeric-writable?", 1, PURE)            // a numeric vector: is it no literal?
            (cairn_numeric_named, "numeric-named", 1, PURE)                      // string "f64": the kind, or #f
            (cairn_numeric_fits, "numeric-fits?", 2, PURE)                       // kind, any object: could it be an element?
            (cairn_numeric_length, "numeric-length", 1, PURE)                    // numeric vector
            (cairn_numeric_get, "numeric-get", 2, ALLOC)                         // numeric vector, index, both known to be right
            (cairn_numeric_put, "numeric-put!", 4, ALLOC | FAIL)                 // and the number, who: only that is checked
            (cairn_numeric_wide, "numeric-wide", 2, ALLOC | COLD)                // like numeric-get, of 64-bit integers in compiled code
            (cairn_numeric_widen, "numeric-widen!", 3, ALLOC | FAIL | COLD)      // like numeric-put!
            (cairn_numeric_set_c64, "c64vector-set!", 3, ALLOC | FAIL)
            (cairn_numeric_set_c128, "c128vector-set!", 3, ALLOC | FAIL)
            (cairn_numeric_copy_to, "numeric-copy!", 5, 0)                       // to at from start end, all known to be right
            (cairn_numeric_fill, "numeric-fill!", 5, ALLOC | FAIL)               // vector, number, start, end, who
            (cairn_numeric_reverse, "numeric-reverse!", 3, 0)                    // vector, start, end
            (cairn_numeric_same, "numeric-same?", 2, PURE)                       // two of one kind: elements `=`?
            (cairn_numeric_less, "numeric-less?", 2, PURE)                       // two of one kind: by length, then by elements
            (cairn_numeric_hash, "numeric-hash", 1, PURE)                        // of the elements; the same if they are `=`
            (cairn_structure_stride, "structure-stride", 1, 0)                   // type: bytes of an element
            (cairn_structure_type, "structure-type", 2, 0)                       // type, for which structure vectors are about to be defined, whether references to elements are kept: itself
            (cairn_structure_storage, "structure-storage", 4, ALLOC | FAIL)      // type, how many elements, who, a record or #f: a vector or bytevector
            (cairn_structure_element, "structure-element", 3, ALLOC)             // storage, offset in bytes, type: a new reference
            (cairn_structure_reference, "structure-reference", 5, ALLOC)         // structure vector, index, and as above: the reference that is in use, or a new one
            (cairn_structure_fill, "structure-fill!", 4, 0)                      // storage, offset in bytes, how many elements, record
            (cairn_structure_get, "structure-wide", 3, ALLOC | COLD)             // storage, offset in bytes, code of a raw field of 64-bit integers
            (cairn_structure_put, "structure-widen!", 4, ALLOC | FAIL | COLD)    // and an integer
            (cairn_structure_swap, "structure-swap!", 4, 0)                      // storage, two offsets in bytes, type: the elements change places
            (cairn_structure_plain, "structure-plain", 1, ALLOC)                 // record, perhaps an element: a plain one with its fields
            (cairn_record_about, "record-type-about", 2, ALLOC)                  // type, what: 0 name, 1 its own fields, 2 all fields, 3 parent or #f, 4 kinds, 5 codes of the fields, 6 compact?, 7 sealed?
            // ports; see object::port
            (cairn_port_open_file, "open-file", 2, ALLOC | FAIL)                 // path, port::FLAG_* bits: port; #f: to be asked again; the job that opens it
            (cairn_helpers_opened_file, "opened-file", 3, ALLOC | FAIL)             // job, path, flags: port; #f: not yet
            (cairn_port_standard, "standard-port", 1, ALLOC | PURE)                     // 0, 1, 2
            (cairn_port_open_input_string, "open-input-string", 1, ALLOC | FAIL)
            (cairn_port_open_output_string, "open-output-string", 0, ALLOC)
            (cairn_port_get_output_string, "get-output-string", 1, ALLOC | FAIL)
            (cairn_port_take_output_string, "take-output-string", 1, ALLOC | FAIL)  // what was written; the port is empty then
            (cairn_port_open_input_bytevector, "open-input-bytevector", 1, ALLOC | FAIL)
            (cairn_port_open_output_bytevector, "open-output-bytevector", 0, ALLOC)
            (cairn_port_get_output_bytevector, "get-output-bytevector", 1, ALLOC | FAIL)
            (cairn_port_close, "close-port", 1, ALLOC | FAIL)
            (cairn_port_flush, "flush-port", 1, ALLOC | FAIL)
            (cairn_port_read_char, "read-char", 1, ALLOC | FAIL | COLD)                 // slow path: refill, non-ASCII; this and the other reads: #f: collect, ask again
            (cairn_port_peek_char, "peek-char", 1, ALLOC | FAIL | COLD)
            (cairn_port_line, "port-line", 1, FAIL)                              // current line of an input port, from 1
            (cairn_port_inside_line, "port-inside-line?", 1, FAIL)                // did what an output port was given last not end a line?
            (cairn_port_read_line, "read-line", 1, ALLOC | FAIL)
            (cairn_port_read_string, "read-string", 2, ALLOC | FAIL)             // k, port
            (cairn_port_char_ready, "char-ready?", 1, FAIL)
            (cairn_port_read_u8, "read-u8", 1, ALLOC | FAIL | COLD)
            (cairn_port_peek_u8, "peek-u8", 1, ALLOC | FAIL | COLD)
            (cairn_port_u8_ready, "u8-ready?", 1, FAIL)
            (cairn_port_read_bytevector, "read-bytevector", 2, ALLOC | FAIL)     // k, port
            (cairn_port_write_char, "write-char", 2, ALLOC | FAIL | COLD)               // char, port
            (cairn_port_write_string, "write-string", 4, ALLOC | FAIL)           // string port start end
            (cairn_port_write_u8, "write-u8", 2, ALLOC | FAIL | COLD)
            (cairn_port_write_bytes, "write-bytevector", 4, ALLOC | FAIL)        // bytevector port start end
            (cairn_port_write_object, "write-object", 3, ALLOC | FAIL)           // object, port, mode: 0 display, 1 write, 2 write-shared, 3 write-simple
            (cairn_port_custom, "custom-port", 3, ALLOC)                         // procedure that reads and writes, flags, name: port
            (cairn_port_feed, "port-feed!", 4, ALLOC | FAIL)                     // custom port, bytevector, start, end
            (cairn_port_take, "port-take!", 1, ALLOC | FAIL)                     // custom port: bytevector
            (cairn_port_unread, "port-unread", 1, FAIL)                          // port: bytes of its buffer that were not read
            (cairn_port_forget, "port-forget!", 1, ALLOC | FAIL)                 // custom port: they are dropped
            (cairn_port_seek, "port-seek", 2, ALLOC | FAIL)                      // port, byte or #f: where it was, or #f
            (cairn_text_normal_form, "string-normal-form", 2, ALLOC | FAIL)      // string, form: string
            (cairn_text_segments, "string-segments", 2, ALLOC | FAIL)            // string, what: list of strings
            (cairn_port_file_exists, "file-exists?", 1, FAIL)
            (cairn_port_delete_file, "delete-file", 1, ALLOC | FAIL)
            // system
            (cairn_system_jiffy, "current-jiffy", 0, ALLOC)                      // nanoseconds since the start
            (cairn_system_spent, "process-nanoseconds", 0, ALLOC)                // processor time of the process
            (cairn_system_second, "current-second", 0, ALLOC)                    // flonum, TAI-like POSIX time
            (cairn_system_exit, "exit", 1, ALLOC)                                // flushes standard ports; fixnum status
            (cairn_system_emergency_exit, "emergency-exit", 1, ALLOC)
            (cairn_system_end_status, "end-status", 1, 0)                        // fixnum: the status of a program that ends without saying one
            (cairn_system_test_event, "test-event", 1, 0)                        // string: tells `cairn test`; is it there?
            (cairn_system_count, "count-evaluation", 1, 0)                       // number of a counter, for coverage
            (cairn_system_test_wanted, "test-wanted?", 1, 0)                     // full name of a test: is it to be run?
            (cairn_system_command_line, "command-line", 0, ALLOC)
            (cairn_system_getenv, "get-environment-variable", 1, ALLOC | FAIL)   // string or #f
            (cairn_system_environment, "get-environment-variables", 0, ALLOC)    // alist
            (cairn_system_fatal, "fatal", 2, ALLOC)                              // message string, site: prints error, source line, backtrace; exits 1
            // threads: what their scheduler, lib/cairn/scheduler.sld, asks of the system
            (cairn_thread_tick, "thread-tick", 1, 0)                             // nanoseconds between ticks; 0: no more
            (cairn_thread_tick_at, "thread-tick-at", 1, 0)                       // k: the k-th safepoint from now on is a tick, none before; 0: not so; how many were left
            (cairn_thread_watch, "thread-watch", 2, FAIL)                        // file descriptor, 1 to read + 2 to write: will it be told of? else it never blocks
            (cairn_thread_wait, "thread-wait", 1, ALLOC)                         // nanoseconds, -1 or -2: list of 4 * descriptor + what it is ready for; #t: deadlock
            (cairn_thread_random, "thread-random", 1, 0)                         // n: a number below it if schedules are random, else #f
            (cairn_system_has_timeline, "timeline?", 0, COLD)                    // is there a time line?
            (cairn_system_timeline_turn, "timeline-turn", 1, COLD)               // name of the thread whose turn begins, or #f
            (cairn_system_profile_start, "profile-start", 0, ALLOC | COLD)       // begins to sample processor time: done?
            (cairn_system_profile_stop, "profile-stop", 0, ALLOC | COLD)         // a table of procedures (string)
            // places: runtimes beside this one, on OS threads of their own (lib/cairn/place.sld)
            (cairn_place_sent, "record-type-sent!", 2, 0)                        // type, 1: its records cannot be sent to other places; 2: they are hash tables
            (cairn_place_types, "place-types!", 3, 0)                            // types of what stands for places and for channels; the procedure that takes the place of continuations
            (cairn_place_channel, "place-channel!", 1, FAIL)                     // record of that type, which becomes a channel
            (cairn_place_start, "place-start!", 2, FAIL)                         // record of that type, which becomes a place; a thunk
            (cairn_place_put, "place-put!", 2, FAIL)                             // channel, message: #f if the channel is closed
            (cairn_place_get, "place-get", 1, ALLOC)                             // channel: a vector of a message; (): there will be none; #f: there is none now
            (cairn_place_close, "place-close!", 1, 0)                            // channel
            (cairn_place_outcome, "place-outcome", 1, ALLOC)                     // place: #f while it runs; a list: 1 and its value, 2 and what it raised, 3 and its exit status, 4 if killed
            (cairn_place_finish, "place-finish!", 2, ALLOC)                      // 1 or 2 and a value, as above: what this place ends with; a vector of what cannot be sent, or #f
            (cairn_place_kill, "place-kill!", 1, 0)                              // place
            (cairn_place_listen, "place-listen!", 1, FAIL)                       // place or channel: the descriptor that tells of its next change
            (cairn_place_processors, "place-processors", 0, 0)                   // how many there are
            // sockets: ports without direction, made into ports that read and write
            (cairn_helpers_look_up, "net-look-up", 1, 0)                             // host: #t: known; or the descriptor to wait for before asking again
            (cairn_net_connect, "net-connect", 2, ALLOC | FAIL)                  // host, port: socket on its way, to be waited for until it can be written; #f: to be asked again
            (cairn_net_listen, "net-listen", 2, ALLOC | FAIL)                    // host, port: socket; #f: to be asked again
            (cairn_net_datagram, "net-datagram", 2, ALLOC | FAIL)                // host, port: socket; #f: to be asked again
            (cairn_net_outcome, "net-outcome", 1, FAIL)                          // socket that can be written: #t when it is connected
            (cairn_net_accept, "net-accept", 1, ALLOC | FAIL)                    // socket: that of a connection; #f: would block; (), #t: no descriptor
            (cairn_net_port, "net-port", 2, ALLOC | FAIL)                        // socket, FLAG_* bits: port with a descriptor of its own
            (cairn_net_address, "net-address", 2, ALLOC | FAIL)                  // socket, of the other side?: (host . port)
            (cairn_net_send, "net-send", 4, FAIL)                                // socket, bytevector, host, port: #f: would block
            (cairn_net_receive, "net-receive", 2, ALLOC | FAIL)                  // socket, most bytes: (bytevector host . port); #f: would block
            // other programs
            (cairn_process_start, "process-start", 2, ALLOC | FAIL)              // list of strings, bits of what is connected to pipes: #(id descriptor in out error)
            (cairn_process_status, "process-status", 1, FAIL)                    // id: exit status, or minus the signal; #f: it runs
            (cairn_process_signal, "process-signal", 2, FAIL)                    // id, signal
            (cairn_process_release, "process-release", 1, 0)                     // descriptor, which is closed
            // calls of C, lib/cairn/c.sld; a C function is a vector, types are numbers (cairn_layout::c)
            (cairn_c_open, "c-open", 1, ALLOC)                                   // name of a library or #f: handle (integer), or why there is none (string)
            (cairn_c_symbol, "c-symbol", 2, 0)                                   // handle, name: address (fixnum) or #f
            (cairn_c_invoke, "c-invoke", 2, ALLOC | FAIL)                        // function, vector of arguments: its result, or an opaque object: a callback's request
            (cairn_c_begin, "c-begin", 2, ALLOC | FAIL)                          // function, vector of arguments: the descriptor to wait for; another OS thread calls it
            (cairn_c_end, "c-end", 3, ALLOC)                                     // descriptor, arguments, pointer type: vector of the result; #f: not yet
            (cairn_c_answer, "c-answer", 4, ALLOC | FAIL)                        // request, result, name of its type, pointer type: #f if the call is over
            (cairn_c_resume, "c-resume", 4, ALLOC | FAIL)                        // number of a request, is the call to end without callbacks?, arguments, pointer type: like c-invoke
            (cairn_c_refuse, "c-refuse", 2, 0)                                   // number of a request of C, text: what is wrong; #f if the call is over
            (cairn_c_export, "c-export", 4, 0)                                   // number, name, types, shapes of structures or #f: C may call it
            (cairn_c_await, "c-await", 1, ALLOC)                                 // pointer type: lets C go on; its next request, or #f at the end
            (cairn_c_callback, "c-callback", 3, ALLOC | FAIL)                    // types, shapes, pointer type: (number . pointer)
            (cairn_c_callback_free, "c-callback-free", 2, 0)                     // pointer, pointer type: number or #f
            (cairn_c_direct, "c-direct", 3, ALLOC)                               // direct signature, address, list of arguments: what c-call does, for evaluated code
            (cairn_c_elements, "c-elements", 2, ALLOC)                           // x, are strings passed?: what a direct call passes for a string or a vector; (): it cannot
            (cairn_c_text, "c-text", 1, ALLOC)                                   // address: the text there; #f at NULL
            (cairn_c_spread, "c-spread", 2, 0)                                   // address, words of stack (fixnums): calls it with Machine::c_words
            (cairn_c_wide, "c-wide", 1, ALLOC)                                   // signed?: the result of a direct call that was no fixnum
            (cairn_c_errno, "c-errno", 0, 0)
            (cairn_c_error_text, "c-error-text", 1, ALLOC)                       // number
            (cairn_c_load, "c-load", 4, ALLOC | FAIL)                            // pointer or bytevector, type, offset, pointer type: () if that is no place
            (cairn_c_misplaced, "c-misplaced", 5, FAIL)                          // who (string), pointer or bytevector, offset, bytes, pointer type: says why that is no place
            (cairn_c_expected, "c-expected", 1, ALLOC)                           // type: what must be there (string)
            (cairn_c_store, "c-store!", 5, FAIL)                                 // pointer or bytevector, type, offset, value, pointer type: #f if the value does not fit, () if that is no place
            (cairn_c_bytes, "c-bytes", 1, PURE)                                  // type
            (cairn_c_allocate, "c-allocate", 2, ALLOC)                           // bytes, pointer type: pointer, or #f
            (cairn_c_release, "c-release", 2, FAIL)                              // pointer, pointer type
            (cairn_c_copy_out, "c-copy-out", 4, ALLOC | FAIL)                    // pointer or bytevector, offset, bytes, pointer type: bytevector, () if that is no place
            (cairn_c_copy_in, "c-copy-in!", 4, FAIL)                             // pointer or bytevector, offset, homogeneous vector, pointer type: () if that is no place
            (cairn_c_address, "c-address", 2, ALLOC)                             // pointer or #f, pointer type: integer; #f if it is neither
            (cairn_c_pointer, "c-pointer", 2, ALLOC)                             // integer, pointer type: pointer or #f; () if it is no address
            // memory: called by compiled code itself, as the collector's facts say
            (cairn_machine_cells, "machine-cells", 1, ALLOC | COLD)              // list (fixnum): address of the first of at least one cell, chained
            (cairn_machine_object, "machine-object", 2, ALLOC | COLD)            // AllocKind, bytes (fixnums): address of a fresh object
            // evaluation: crate cairn-eval behind them
            (cairn_evaluator_start, "evaluator-start", 2, ALLOC | FAIL)          // vectors of strings: libraries, keys of their variables
            (cairn_evaluator_environment, "evaluator-environment", 1, ALLOC | FAIL) // import sets as text, or #f: number
            (cairn_evaluator_expand, "evaluator-expand", 2, ALLOC | FAIL)        // written form, environment: code
            (cairn_evaluator_open, "evaluator-open", 4, ALLOC | FAIL)            // text, its name, lines before it, is it a file?: number
            (cairn_evaluator_bring, "evaluator-bring", 2, ALLOC)                 // vectors of strings: directories; paths and texts
            (cairn_evaluator_next, "evaluator-next", 2, ALLOC | FAIL)            // number of a text, environment: code of the next form, or #f
            (cairn_evaluator_close, "evaluator-close", 1, ALLOC)                 // number of a text
            (cairn_evaluator_variable, "evaluator-variable", 2, ALLOC | FAIL)    // name, environment: cell number
            (cairn_evaluator_console, "evaluator-console", 3, ALLOC | FAIL)      // request, text, environment: datum
            (cairn_system_describe_error, "describe-error", 3, ALLOC)            // message string, site, in colour?: report and backtrace
            (cairn_evaluator_count_message, "count-message", 3, ALLOC)           // #(required rest? …) …: a list; of values?; how many there are
            (cairn_evaluator_place_of_call, "place-of-call", 1, 0)               // mark of a procedure: site or mark of the call under way, or that mark
            (cairn_evaluator_record_slot, "record-slot", 3, ALLOC | FAIL)        // record, type, code of the field
            (cairn_evaluator_record_slot_set, "record-slot-set!", 5, FAIL)       // record, type, code of the field, value, who: a symbol or #f
            // a program that is evaluated, and what of it becomes native
            (cairn_native_program, "native-program", 0, ALLOC)                   // #(forms lambdas value-cell cells sources undefined)
            (cairn_native_form, "native-form", 2, ALLOC)                         // number, cells: code
            (cairn_native_unbound, "native-unbound", 0, 0)                       // what cells without a value hold
            (cairn_native_haste, "native-haste", 0, 0)                           // entries before a module is asked for, for tests, or #f
            (cairn_native_request, "native-request", 4, 0)                       // places of the unit's parts or #f, how often lambdas were entered, cells, procedures: a ticket, or #f
            (cairn_native_ready, "native-ready", 2, ALLOC | FAIL)                // ticket, cells: #(procedure lambdas cells) of the module, #f: not yet, #t: never
            (cairn_native_become, "native-become!", 2, 0)                        // procedures: the first does what the second does
        }
    };
}

macro_rules! rows {
    ($(($symbol:ident, $name:literal, $arity:literal, $flags:expr))*) => {
        &[$(RtCall { symbol: stringify!($symbol), name: $name, arity: $arity, flags: $flags }),*]
    };
}

/// The rows, in order.
pub const RT_CALLS: &[RtCall] = for_each_rt_call!(rows);

/// Room for function pointers in the machine context.
pub const CALL_CAPACITY: usize = 384;

const _: () = assert!(RT_CALLS.len() <= CALL_CAPACITY);

/// Index of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct RtIndex(pub u16);

impl RtIndex {
    /// The row called `name` (without `%`).
    pub fn by_name(name: &str) -> Option<RtIndex> {
        RT_CALLS.iter().position(|r| r.name == name).map(|i| RtIndex(i as u16))
    }
    /// The row.
    pub fn row(self) -> &'static RtCall {
        &RT_CALLS[self.0 as usize]
    }
}

/// The row with this exported symbol, at compile time.
pub const fn by_symbol(symbol: &str) -> RtIndex {
    let (mut i, want) = (0, symbol.as_bytes());
    while i < RT_CALLS.len() {
        let have = RT_CALLS[i].symbol.as_bytes();
        if have.len() == want.len() {
            let mut j = 0;
            while j < have.len() && have[j] == want[j] {
                j += 1;
            }
            if j == have.len() {
                return RtIndex(i as u16);
            }
        }
        i += 1;
    }
    panic!("no such runtime call")
}
