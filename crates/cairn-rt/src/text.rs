//! Normal forms of text, and where graphemes, words and sentences begin, by the crates `unicode-normalization` and
//! `unicode-segmentation`.

use crate::access;
use crate::alloc;
use crate::failure::wrong_type;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// `(string-normal-form string form)`: 0 canonical decomposition, 1 compatibility decomposition, 2 and 3 the same,
/// composed.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_text_normal_form(ctx: &mut Machine, s: Value, form: Value) -> Value {
    let Some(chars) = access::string_of(s) else { return wrong_type(ctx, "string-normalize", 1, "a string", s) };
    let chars = chars.iter().map(|c| access::to_char(*c));
    let out: Vec<u32> = match form.as_fixnum() {
        0 => chars.nfd().map(u32::from).collect(),
        1 => chars.nfkd().map(u32::from).collect(),
        2 => chars.nfc().map(u32::from).collect(),
        _ => chars.nfkc().map(u32::from).collect(),
    };
    alloc::make_string_from_chars(ctx, &out)
}

/// `(string-segments string what)`: the parts of which the string is made, as strings: 0 extended grapheme clusters,
/// 1 what lies between the bounds of words, 2 sentences.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_text_segments(ctx: &mut Machine, s: Value, what: Value) -> Value {
    if access::string_of(s).is_none() {
        return wrong_type(ctx, "string-segments", 1, "a string", s);
    }
    let text = access::string_text(s);
    let parts: Vec<&str> = match what.as_fixnum() {
        0 => text.graphemes(true).collect(),
        1 => text.split_word_bounds().collect(),
        _ => text.split_sentence_bounds().collect(),
    };
    let parts: Vec<Value> = parts.into_iter().map(|part| alloc::make_string(ctx, part)).collect();
    alloc::make_list(ctx, &parts)
}
