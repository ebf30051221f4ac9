//! Tests of ports.

use super::port_calls::*;
use super::*;
use crate::bare_runtime::TestRuntime;

fn text(ctx: &mut Machine, s: &str) -> Value {
    alloc::make_string(ctx, s)
}

fn temporary(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("cairn-rt-{}-{name}", std::process::id()));
    path.to_string_lossy().into_owned()
}

fn flags(bits: i64) -> Value {
    Value::fixnum(bits)
}

const TEXT_IN: i64 = FLAG_INPUT | FLAG_TEXTUAL;
const TEXT_OUT: i64 = FLAG_OUTPUT | FLAG_TEXTUAL;

fn open_text(ctx: &mut Machine, content: &[u8], name: &str) -> (Value, String) {
    let path = temporary(name);
    std::fs::write(&path, content).unwrap();
    let p = text(ctx, &path);
    let port = cairn_port_open_file(ctx, p, flags(TEXT_IN));
    assert_ne!(port, Value::FAIL);
    (port, path)
}

#[test]
fn string_ports_accumulate_and_read_back() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let out = cairn_port_open_output_string(ctx);
    for i in 0..1000 {
        let s = text(ctx, &format!("line {i} λ\n"));
        assert_eq!(cairn_port_write_string(ctx, s, out, Value::DEFAULT, Value::DEFAULT), Value::UNSPECIFIED);
    }
    let all = cairn_port_get_output_string(ctx, out);
    let input = cairn_port_open_input_string(ctx, all);
    for i in 0..1000 {
        let line = cairn_port_read_line(ctx, input);
        assert_eq!(access::string_text(line), format!("line {i} λ"));
    }
    assert_eq!(cairn_port_read_line(ctx, input), Value::EOF);
    assert_eq!(Port::of(input).unwrap().line(), 1001);
}

#[test]
fn files_are_written_and_read_across_buffers() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let path = temporary("across");
    let p = text(ctx, &path);
    let out = cairn_port_open_file(ctx, p, flags(TEXT_OUT));
    // Three-byte characters cross the ends of 64 KiB buffers at every phase.
    let s = text(ctx, &"€x".repeat(50_000));
    cairn_port_write_string(ctx, s, out, Value::DEFAULT, Value::DEFAULT);
    cairn_port_write_char(ctx, Value::char(10), out);
    assert_eq!(rt(ctx).open_ports.len(), 1);
    assert_eq!(cairn_port_close(ctx, out), Value::UNSPECIFIED);
    assert!(rt(ctx).open_ports.is_empty());
    assert_eq!(cairn_port_write_char(ctx, Value::char(10), out), Value::FAIL);
    let input = cairn_port_open_file(ctx, p, flags(TEXT_IN));
    for _ in 0..50_000 {
        assert_eq!(cairn_port_peek_char(ctx, input), Value::char(0x20ac));
        assert_eq!(cairn_port_read_char(ctx, input), Value::char(0x20ac));
        assert_eq!(cairn_port_read_char(ctx, input), Value::char('x' as u32));
    }
    assert_eq!(cairn_port_read_char(ctx, input), Value::char(10));
    assert_eq!(cairn_port_read_char(ctx, input), Value::EOF);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn read_string_takes_what_is_there() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let (port, path) = open_text(ctx, "añb".as_bytes(), "take");
    let two = cairn_port_read_string(ctx, Value::fixnum(2), port);
    assert_eq!(access::string_text(two), "añ");
    let rest = cairn_port_read_string(ctx, Value::fixnum(9), port);
    assert_eq!(access::string_text(rest), "b");
    assert_eq!(cairn_port_read_string(ctx, Value::fixnum(9), port), Value::EOF);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn every_kind_of_line_end_ends_a_line() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let (port, path) = open_text(ctx, b"a\nb\r\nc\rd\n\nlast", "ends");
    for expected in ["a", "b", "c", "d", "", "last"] {
        let line = cairn_port_read_line(ctx, port);
        assert_eq!(access::string_text(line), expected);
    }
    assert_eq!(cairn_port_read_line(ctx, port), Value::EOF);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn bad_utf8_names_file_line_and_byte_and_reading_goes_on() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    for (content, bad) in [(&b"x\n\xffy"[..], 0xff), (b"x\n\xe2\x82y", 0xe2), (b"x\n\xc0\x80y", 0xc0)] {
        let (port, path) = open_text(ctx, content, "bad");
        assert_eq!(cairn_port_read_char(ctx, port), Value::char('x' as u32));
        assert_eq!(cairn_port_read_char(ctx, port), Value::char(10));
        assert_eq!(cairn_port_read_char(ctx, port), Value::FAIL);
        let failure = rt(ctx).failure.take().unwrap();
        assert_eq!(failure.kind, kind::READ);
        assert_eq!(failure.message, format!("invalid UTF-8 in {path}, line 2: byte #x{bad:02x}"));
        let mut last = Value::FAIL;
        for _ in 0..3 {
            last = cairn_port_read_char(ctx, port);
            if last != Value::FAIL {
                break;
            }
        }
        assert_eq!(last, Value::char('y' as u32));
        std::fs::remove_file(path).unwrap();
    }
    // A sequence cut off by the end of the file.
    let (port, path) = open_text(ctx, b"\xe2\x82", "cut");
    assert_eq!(cairn_port_read_line(ctx, port), Value::FAIL);
    assert_eq!(cairn_port_read_line(ctx, port), Value::EOF);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn missing_files_and_directories_are_file_errors() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let missing = text(ctx, "/nonexistent/file");
    assert_eq!(cairn_port_open_file(ctx, missing, flags(TEXT_IN)), Value::FAIL);
    let failure = rt(ctx).failure.take().unwrap();
    assert_eq!(failure.kind, kind::FILE);
    assert_eq!(failure.message, "cannot open \"/nonexistent/file\": No such file or directory");
    let directory = text(ctx, "/");
    assert_eq!(cairn_port_open_file(ctx, directory, flags(TEXT_IN)), Value::FAIL);
    assert_eq!(rt(ctx).failure.take().unwrap().message, "cannot open \"/\": Is a directory");
    assert_eq!(cairn_port_delete_file(ctx, missing), Value::FAIL);
    assert_eq!(cairn_port_file_exists(ctx, missing), Value::FALSE);
}

#[test]
fn lines_are_counted_however_they_are_read() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    // 40,000 lines of 5 bytes: three buffers.
    let (port, path) = open_text(ctx, "abcd\n".repeat(40_000).as_bytes(), "lines");
    let p = Port::of(port).unwrap();
    for i in 0..20_000 {
        assert_eq!(access::length(cairn_port_read_line(ctx, port)), 4);
        // As compiled code does it: by moving the position alone.
        while p.pos() < p.end() && p.unread()[0] != b'\n' {
            p.set_pos(p.pos() + 1);
        }
        if i % 1000 == 0 {
            assert_eq!(cairn_port_line(ctx, port), Value::fixnum(2 * i + 2));
        }
        while cairn_port_read_char(ctx, port) != Value::char(10) {}
    }
    assert_eq!(cairn_port_read_char(ctx, port), Value::EOF);
    cairn_port_close(ctx, port);
    assert_eq!(p.line(), 40_001);
    std::fs::remove_file(path).unwrap();
    let out = cairn_port_open_output_string(ctx);
    cairn_port_write_char(ctx, Value::char(10), out);
    assert_eq!(Port::of(out).unwrap().line(), 1);
}

#[test]
fn headers_say_what_compiled_code_may_do() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let s = text(ctx, "x");
    let can = |p: Value| (cairn_layout::object::header_flags(access::header(p)), Port::of(p).unwrap().end());
    assert_eq!(can(cairn_port_open_input_string(ctx, s)), (CAN_READ_TEXT, 1));
    assert_eq!(can(cairn_port_open_output_bytevector(ctx)).0, CAN_WRITE_BYTES);
    let name = Value::FALSE;
    let console = FLAG_OUTPUT | FLAG_TEXTUAL | FLAG_BINARY | FLAG_CONSOLE;
    assert_eq!(can(make_port(ctx, console, s, 0, None, name)).0, 0);
    let both = FLAG_INPUT | FLAG_TEXTUAL | FLAG_BINARY;
    assert_eq!(can(make_port(ctx, both, s, 0, None, name)).0, CAN_READ_TEXT | CAN_READ_BYTES);
    let out = cairn_port_open_output_string(ctx);
    cairn_port_write_char(ctx, Value::char(97), out);
    cairn_port_close(ctx, out);
    let p = Port::of(out).unwrap();
    assert_eq!((p.pos(), p.end()), (1, 1));
}

#[test]
fn bytevector_ports() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let out = cairn_port_open_output_bytevector(ctx);
    for i in 0..300 {
        cairn_port_write_u8(ctx, Value::fixnum(i % 256), out);
    }
    assert_eq!(cairn_port_write_u8(ctx, Value::fixnum(256), out), Value::FAIL);
    let all = cairn_port_get_output_bytevector(ctx, out);
    assert_eq!(access::length(all), 300);
    let input = cairn_port_open_input_bytevector(ctx, all);
    assert_eq!(cairn_port_peek_u8(ctx, input), Value::fixnum(0));
    let first = cairn_port_read_bytevector(ctx, Value::fixnum(299), input);
    assert_eq!(access::byte_slice(first)[298], 42);
    assert_eq!(cairn_port_read_u8(ctx, input), Value::fixnum(43));
    assert_eq!(cairn_port_read_u8(ctx, input), Value::EOF);
    assert_eq!(cairn_port_read_char(ctx, input), Value::FAIL);
}

#[test]
fn a_wrong_port_is_named() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let out = cairn_port_open_output_string(ctx);
    assert_eq!(cairn_port_read_char(ctx, out), Value::FAIL);
    assert_eq!(rt(ctx).failure.take().unwrap().message, "expected a textual input port, got");
    assert_eq!(cairn_port_write_char(ctx, Value::fixnum(1), out), Value::FAIL);
    assert_eq!(rt(ctx).failure.take().unwrap().message, "expected a character, got");
}

#[test]
fn objects_are_written_to_ports() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let out = cairn_port_open_output_string(ctx);
    let s = text(ctx, "hi");
    let list = alloc::make_list(ctx, &[Value::fixnum(1), s]);
    cairn_port_write_object(ctx, list, out, Value::fixnum(1));
    cairn_port_write_object(ctx, list, out, Value::fixnum(0));
    let result = cairn_port_get_output_string(ctx, out);
    assert_eq!(access::string_text(result), "(1 \"hi\")(1 hi)");
}
