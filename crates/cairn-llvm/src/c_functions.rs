//! Functions of C that are inlined into programs: known by number, in text that defines them.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Functions that are inlined, by their numbers, in the text that defines them.
static KNOWN: Mutex<Option<HashMap<i64, Arc<str>>>> = Mutex::new(None);

/// Makes functions known to all compilations of this process.
pub fn register(numbers: &[i64], small: &str) {
    let small: Arc<str> = small.into();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().extend(numbers.iter().map(|n| (*n, small.clone())));
}

/// The texts that define what this text of a module calls.
pub(crate) fn called_by(ir: &str) -> Result<Vec<Arc<str>>, String> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut texts: Vec<Arc<str>> = Vec::new();
    for (at, call) in ir.match_indices("@c.source.") {
        let rest = &ir[at + call.len()..];
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        let number = i64::from_str_radix(&rest[..end], 16).map_err(|e| e.to_string())?;
        let text = known.as_ref().and_then(|k| k.get(&number));
        let text = text.ok_or("a function of C that is to be inlined is not known")?;
        if !texts.iter().any(|t| Arc::ptr_eq(t, text)) {
            texts.push(text.clone());
        }
    }
    Ok(texts)
}

/// The passes behind what puts functions where they are called.
pub(crate) fn inlining(passes: &CStr) -> std::ffi::CString {
    let passes = [b"always-inline,", passes.to_bytes()].concat();
    std::ffi::CString::new(passes).expect("names of passes")
}
