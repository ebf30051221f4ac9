//! The table of function pointers that compiled code calls through.
//!
//! Built from `for_each_rt_call!`, so that a row without its function does not compile. Functions are named by
//! their module (`cairn_string_append` is in [`crate::string`]); all are brought into scope here.

use cairn_layout::calls::CALL_CAPACITY;

#[allow(unused_imports)]
use crate::{
    bytes::*, c::c_calls::*, chars::*, compact::*, equality::*, evaluator::*, helpers::*, list::*,
    machine::turns::*, machine::*, native::*, net::*, num::*, numeric::*, places::*, port::custom::*,
    port::port_calls::*, process::*, record::*, report::*, scan::*, string::*, structure::*, symbol::*, system::*,
    table::*, text::*, throw::*, time_profile::*, vector::*, waiting::*, weak::*,
};

/// One pointer per row of `RT_CALLS`, in order; null beyond.
pub fn table() -> [*const u8; CALL_CAPACITY] {
    let mut table = [std::ptr::null(); CALL_CAPACITY];
    macro_rules! pointers {
        ($(($symbol:ident, $name:literal, $arity:literal, $flags:expr))*) => {
            &[$($symbol as *const () as *const u8),*]
        };
    }
    let rows: &[*const u8] = cairn_layout::for_each_rt_call!(pointers);
    table[..rows.len()].copy_from_slice(rows);
    table
}
