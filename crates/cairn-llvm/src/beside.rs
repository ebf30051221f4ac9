//! A module that lies beside others in one executable.
//!
//! The problem: every module has a table named `cairn_module`, and the runtime wants to know where a module's code
//! begins and ends; a linker mixes code. The idea: the module's functions get a section of their own, whose name is one
//! of C, so that the linker defines `__start_NAME` and `__stop_NAME`; the table gets that name, too.

/// The table of a module.
const TABLE: &str = "@cairn_module = constant";

/// The text of a module whose code is the section `name`, and its table the symbol `NAME_table`.
pub fn beside(ir: &str, name: &str) -> String {
    let section = format!(" section \"{name}\"");
    let mut out = String::with_capacity(ir.len() + ir.len() / 16);
    for line in ir.lines() {
        if let Some(at) = end_of_signature(line) {
            out.push_str(&line[..at]);
            out.push_str(&section);
            out.push_str(&line[at..]);
        } else if let Some(rest) = line.strip_prefix(TABLE) {
            out.push_str(&format!("@{name}_table = constant{rest}"));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Where a definition's parameters and attributes end. All functions of ours have the machine as first parameter.
fn end_of_signature(line: &str) -> Option<usize> {
    let parameters = line.starts_with("define ").then(|| line.rfind("(ptr %ctx"))??;
    let close = parameters + line[parameters..].find(')')? + 1;
    let attributes = line[close..].strip_prefix(" #")?;
    let digits = attributes.find(|c: char| !c.is_ascii_digit())?;
    Some(close + 2 + digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_table_get_the_name() {
        let text = "@cairn_module = constant { i64 } { i64 11 }, align 8\n\
                    define internal preserve_nonecc void @\"scm.a #0 align 16(ptr %ctx) \"(ptr %ctx, i64 %sp) #0 align 16 prefix <{ i64 }> <{ i64 2 }> {\n\
                    declare void @f(ptr) #1\n\
                    define internal void @cairn_enter(ptr %ctx) #5 {\n";
        let out = beside(text, "cairn_unit_3");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "@cairn_unit_3_table = constant { i64 } { i64 11 }, align 8");
        assert!(lines[1].contains("(ptr %ctx, i64 %sp) #0 section \"cairn_unit_3\" align 16 prefix"), "{out}");
        assert_eq!(lines[2], "declare void @f(ptr) #1");
        assert_eq!(lines[3], "define internal void @cairn_enter(ptr %ctx) #5 section \"cairn_unit_3\" {");
    }
}
