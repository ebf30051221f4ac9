//! What functions of the C library do with the pointers they are given: a table, from the C standard and POSIX.
//!
//! Only functions that keep no pointer and call nothing back are here, and those with special treatment in
//! [`super::local`]. Any other function that isn't there may do everything.

/// What becomes of an argument or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Not a pointer, or one whose object the library made and owns. As a result: what it points to, too, may be the
    /// library's.
    Own,
    /// Result: an object that only the library looks into, such as a `FILE`.
    Opaque,
    /// Result: bytes that the library made, without pointers.
    Fresh,
    /// Its bytes are read or written.
    Bytes,
    /// Result: the argument of this number, or null.
    Same(u8),
    /// Result: inside of the object of the argument of this number.
    Inside(u8),
    /// A place for a pointer into the object of the argument of this number.
    PointerInto(u8),
    /// Where elements are moved around by a callback's answers.
    Elements,
}

use Effect::{Bytes as B, Elements, Fresh, Inside, Opaque, Own, PointerInto, Same};

/// The allocating functions, and how they say the size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocator {
    /// `malloc(size)`.
    Malloc,
    /// `calloc(count, size)`.
    Calloc,
    /// `realloc(object, size)`.
    Realloc,
    /// `free(object)`.
    Free,
}

/// What allocates objects that C has on the stack: [`crate::homes`].
pub const HOME: &str = "cairn_home_new";

/// May code run again after a call of a function of this name?
pub fn runs_again(name: &str) -> bool {
    name.contains("setjmp") || name.ends_with("context") || name == "vfork"
}

/// The allocating function of this name.
pub fn allocator(name: &str) -> Option<Allocator> {
    Some(match name {
        "malloc" | HOME => Allocator::Malloc,
        "calloc" => Allocator::Calloc,
        "realloc" => Allocator::Realloc,
        "free" => Allocator::Free,
        _ => return None,
    })
}

/// Does this function of the C library give or take objects of the heap?
pub fn allocates(name: &str) -> bool {
    const MORE: [&str; 8] = [
        "aligned_alloc",
        "memalign",
        "posix_memalign",
        "valloc",
        "pvalloc",
        "reallocarray",
        "cfree",
        "malloc_usable_size",
    ];
    allocator(name).is_some() || MORE.contains(&name)
}

/// Does this function of the C library start threads, or give code that may?
pub fn starts_threads(name: &str) -> bool {
    const ALL: [&str; 20] = [
        "pthread_create",
        "thrd_create",
        "timer_create",
        "mq_notify",
        "aio_read",
        "aio_write",
        "aio_fsync",
        "aio_read64",
        "aio_write64",
        "aio_fsync64",
        "lio_listio",
        "lio_listio64",
        "getaddrinfo_a",
        "clone",
        "__clone",
        "syscall",
        "dlopen",
        "dlmopen",
        "dlsym",
        "dlvsym",
    ];
    ALL.contains(&name)
}

/// A library function: result, arguments; the last stands for all that follow.
type Row = (&'static str, Effect, &'static [Effect]);

const TABLE: &[Row] = &[
    ("strlen", Own, &[B]),
    ("strnlen", Own, &[B]),
    ("strcmp", Own, &[B]),
    ("strncmp", Own, &[B]),
    ("strcasecmp", Own, &[B]),
    ("strncasecmp", Own, &[B]),
    ("strcoll", Own, &[B]),
    ("bcmp", Own, &[B]),
    ("memcmp", Own, &[B]),
    ("strcpy", Same(0), &[B]),
    ("stpcpy", Inside(0), &[B]),
    ("strncpy", Same(0), &[B]),
    ("strcat", Same(0), &[B]),
    ("strncat", Same(0), &[B]),
    ("strchr", Inside(0), &[B]),
    ("strrchr", Inside(0), &[B]),
    ("strstr", Inside(0), &[B]),
    ("strpbrk", Inside(0), &[B]),
    ("memchr", Inside(0), &[B]),
    ("strspn", Own, &[B]),
    ("strcspn", Own, &[B]),
    ("strdup", Fresh, &[B]),
    ("strndup", Fresh, &[B]),
    ("stpncpy", Inside(0), &[B]),
    ("strcasestr", Inside(0), &[B]),
    ("strchrnul", Inside(0), &[B]),
    ("strxfrm", Own, &[B]),
    ("atoi", Own, &[B]),
    ("atol", Own, &[B]),
    ("atof", Own, &[B]),
    ("strtol", Own, &[B, PointerInto(0)]),
    ("strtoul", Own, &[B, PointerInto(0)]),
    ("strtoll", Own, &[B, PointerInto(0)]),
    ("strtoull", Own, &[B, PointerInto(0)]),
    ("strtod", Own, &[B, PointerInto(0)]),
    ("strtof", Own, &[B, PointerInto(0)]),
    ("strtold", Own, &[B, PointerInto(0)]),
    ("printf", Own, &[B]),
    ("fprintf", Own, &[Own, B]),
    ("sprintf", Own, &[B]),
    ("snprintf", Own, &[B, Own, B]),
    ("puts", Own, &[B]),
    ("fputs", Own, &[B, Own]),
    ("fputc", Own, &[Own, Own]),
    ("putc", Own, &[Own, Own]),
    ("fwrite", Own, &[B, Own, Own, Own]),
    ("fread", Own, &[B, Own, Own, Own]),
    ("fgets", Same(0), &[B, Own, Own]),
    ("fgetc", Own, &[Own]),
    ("getc", Own, &[Own]),
    ("ungetc", Own, &[Own, Own]),
    ("fputs_unlocked", Own, &[B, Own]),
    ("fwrite_unlocked", Own, &[B, Own, Own, Own]),
    ("putc_unlocked", Own, &[Own, Own]),
    ("getc_unlocked", Own, &[Own]),
    ("dprintf", Own, &[Own, B]),
    ("freopen", Opaque, &[B, B, Own]),
    ("fdopen", Opaque, &[Own, B]),
    ("popen", Opaque, &[B]),
    ("fflush", Own, &[Own]),
    ("fclose", Own, &[Own]),
    ("feof", Own, &[Own]),
    ("ferror", Own, &[Own]),
    ("fseek", Own, &[Own]),
    ("ftell", Own, &[Own]),
    ("rewind", Own, &[Own]),
    ("fopen", Opaque, &[B]),
    ("perror", Own, &[B]),
    ("remove", Own, &[B]),
    ("getenv", Fresh, &[B]),
    ("system", Own, &[B]),
    ("sscanf", Own, &[B]),
    ("scanf", Own, &[B]),
    ("fscanf", Own, &[Own, B]),
    ("time", Own, &[B]),
    ("gettimeofday", Own, &[B]),
    ("clock_gettime", Own, &[Own, B]),
    ("getrusage", Own, &[Own, B]),
    ("times", Own, &[B]),
    ("ctime", Fresh, &[B]),
    ("localtime", Own, &[B]),
    ("gmtime", Own, &[B]),
    ("mktime", Own, &[B]),
    ("strftime", Own, &[B]),
    ("strerror", Fresh, &[Own]),
    ("frexp", Own, &[Own, B]),
    ("modf", Own, &[Own, B]),
    ("__ctype_b_loc", Own, &[]),
    ("__ctype_tolower_loc", Own, &[]),
    ("__ctype_toupper_loc", Own, &[]),
    ("__errno_location", Own, &[]),
    ("__assert_fail", Own, &[B]),
    ("__isoc99_sscanf", Own, &[B]),
    ("__isoc99_scanf", Own, &[B]),
    ("__isoc99_fscanf", Own, &[Own, B]),
    ("write", Own, &[Own, B]),
    ("read", Own, &[Own, B]),
    ("open", Own, &[B]),
    ("unlink", Own, &[B]),
    ("access", Own, &[B]),
    ("chdir", Own, &[B]),
    ("mkdir", Own, &[B]),
    ("rmdir", Own, &[B]),
    ("rename", Own, &[B]),
    ("opendir", Opaque, &[B]),
    ("setenv", Own, &[B]),
    ("lstat", Own, &[B]),
    ("stat", Own, &[B]),
    ("fstat", Own, &[Own, B]),
    ("vprintf", Own, &[B]),
    ("vfprintf", Own, &[Own, B]),
    ("vsprintf", Own, &[B]),
    ("vsnprintf", Own, &[B, Own, B]),
    ("vdprintf", Own, &[Own, B]),
    ("fopen64", Opaque, &[B]),
    ("freopen64", Opaque, &[B, B, Own]),
    ("tmpfile", Opaque, &[]),
    ("pclose", Own, &[Own]),
    ("fileno", Own, &[Own]),
    ("clearerr", Own, &[Own]),
    ("fseeko", Own, &[Own]),
    ("ftello", Own, &[Own]),
    ("fseeko64", Own, &[Own]),
    ("ftello64", Own, &[Own]),
    ("getchar", Own, &[]),
    ("putchar", Own, &[Own]),
    ("strsignal", Fresh, &[Own]),
    ("asctime", Fresh, &[B]),
    ("setlocale", Fresh, &[Own, B]),
    ("getlogin", Fresh, &[]),
    ("ttyname", Fresh, &[Own]),
    ("closedir", Own, &[Own]),
    ("mbtowc", Own, &[B]),
    ("wctomb", Own, &[B]),
    ("mblen", Own, &[B]),
    ("mbrtowc", Own, &[B]),
    ("wcrtomb", Own, &[B]),
    ("mbstowcs", Own, &[B]),
    ("wcstombs", Own, &[B]),
    ("poll", Own, &[B]),
    ("pipe", Own, &[B]),
    ("waitpid", Own, &[Own, B]),
    ("wait", Own, &[B]),
    ("mkstemp", Own, &[B]),
    ("open64", Own, &[B]),
    ("stat64", Own, &[B]),
    ("lstat64", Own, &[B]),
    ("fstat64", Own, &[Own, B]),
    ("readlink", Own, &[B]),
    ("chmod", Own, &[B]),
    ("unsetenv", Own, &[B]),
    ("rand_r", Own, &[B]),
    ("exit", Own, &[Own]),
    ("_exit", Own, &[Own]),
    ("abort", Own, &[]),
    ("strverscmp", Own, &[B]),
    ("qsort", Own, &[Elements]),
    ("_setjmp", Own, &[B]),
    ("setjmp", Own, &[B]),
    ("__sigsetjmp", Own, &[B]),
    ("longjmp", Own, &[B]),
];

/// Does this function look at text, which needs no alignment?
pub fn is_of_text(name: &str) -> bool {
    let name = name.trim_start_matches("__isoc99_");
    let has = |part: &str| name.contains(part);
    name.starts_with("str")
        || name.starts_with("ato")
        || has("printf")
        || has("scanf")
        || has("puts")
        || has("gets")
}

/// How many bytes a function looks at, at least, that is given a structure which only the library knows.
pub fn least(name: &str) -> u64 {
    match name {
        "mktime" | "strftime" | "asctime" => 56,
        "stat" | "fstat" | "lstat" | "stat64" | "fstat64" | "lstat64" | "getrusage" => 144,
        "times" => 32,
        "gettimeofday" | "clock_gettime" => 16,
        "_setjmp" | "setjmp" | "__sigsetjmp" | "longjmp" => 200,
        "pipe" | "poll" | "time" | "ctime" | "localtime" | "gmtime" | "modf" => 8,
        "frexp" => 4,
        _ => 1,
    }
}

/// Of a function that gets the number of bytes that it looks at: which arguments, multiplied, are that.
pub fn counted(name: &str) -> Option<&'static [usize]> {
    Some(match name {
        "memcmp" | "bcmp" | "memchr" | "read" | "write" => &[2],
        "fread" | "fwrite" | "fwrite_unlocked" => &[1, 2],
        _ => return None,
    })
}

/// What this function does with its result and each of so many arguments, if it is known.
pub fn effects(name: &str, count: usize) -> Option<(Effect, Vec<Effect>)> {
    let &(_, result, arguments) = TABLE.iter().find(|row| row.0 == name)?;
    let last = arguments.last().copied().unwrap_or(Own);
    Some((result, (0..count).map(|i| arguments.get(i).copied().unwrap_or(last)).collect()))
}
