//! Uses libwords.so, which is written in Scheme: words.scm says how.
use std::ffi::{CStr, c_char, c_int, c_long};

#[link(name = "words")]
unsafe extern "C" {
    fn count_words(text: *const c_char) -> c_long;
    fn most_frequent(text: *const c_char) -> *const c_char;
    fn each_word(text: *const c_char, function: Option<extern "C" fn(*const c_char, c_int) -> bool>);
    fn words_error() -> *const c_char;
}

/// A copy of a text of the library's, if it is one.
fn copied(text: *const c_char) -> Option<String> {
    // SAFETY: not NULL, so a text that is there until this thread has got sixteen others; it is copied at once.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

fn most_frequent_word(text: &CStr) -> Result<String, String> {
    // SAFETY: the types are those of words.h, and `text` is a C string.
    let (word, error) = unsafe { (most_frequent(text.as_ptr()), words_error()) };
    copied(word).ok_or_else(|| copied(error).unwrap_or_default())
}

extern "C" fn show(word: *const c_char, count: c_int) -> bool {
    println!("{} {count}", copied(word).unwrap_or_default());
    count > 1
}

fn main() {
    let text = c"The cat and the hat and the bat.";
    // SAFETY: the type is that of words.h, and `text` is a C string.
    let count = unsafe { count_words(text.as_ptr()) };
    println!("{count} words, most often {:?}", most_frequent_word(text));
    // SAFETY: the types are those of words.h, `text` is a C string, and `show` does not unwind.
    unsafe { each_word(text.as_ptr(), Some(show)) };
    if let Err(error) = most_frequent_word(c"1, 2, 3") {
        println!("{error}");
    }
}
