//! `cairn new`: a directory to begin a program or a library in.
//!
//! ```text
//!  hello/            cairn new hello             hello/           cairn new --library hello
//!    README.md                                     README.md
//!    main.scm                                      hello.sld
//!    hello/greeting.sld                            tests/hello-test.scm
//!    tests/greeting-test.scm
//! ```
//!
//! What is made is whole: its README's commands work, its tests pass, `cairn check` and `cairn fmt --check` have
//! nothing to say. Nothing that exists is changed.

use crate::error::Error;
use cairn_rt::describe_io;
use std::path::Path;

/// Names of libraries that come with Cairn, or that others take for theirs.
const TAKEN: [&str; 6] = ["scheme", "srfi", "cairn", "sicp", "chezscheme", "rnrs"];

/// A file: its path, where `NAME` stands for the name, and its text.
type Template = (&'static str, &'static str);

const PROGRAM: [Template; 5] = [
    (
        "main.scm",
        ";; The program: greets those whom the command line names.
(import (scheme base) (scheme write) (scheme process-context) (NAME greeting))

(for-each (lambda (name)
            (display (greeting name))
            (newline))
          (let ((names (cdr (command-line))))
            (if (null? names) '(\"world\") names)))
",
    ),
    (
        "NAME/greeting.sld",
        ";;; (NAME greeting): what to say to whom.
(define-library (NAME greeting)
  (export greeting)
  (import (scheme base))
  (begin

    ;; A line for somebody of this name, a string.
    (define (greeting name)
      (string-append \"Hello, \" name \"!\"))))
",
    ),
    (
        "tests/greeting-test.scm",
        "(import (scheme base) (srfi 64) (NAME greeting))

(test-begin \"greeting\")
(test-equal \"a name\" \"Hello, Ada!\" (greeting \"Ada\"))
(test-error \"no string\" (greeting 5))
(test-end)
",
    ),
    (
        "README.md",
        "# NAME

| file | what it is |
|---|---|
| `main.scm` | the program |
| `NAME/greeting.sld` | the library `(NAME greeting)`; others go beside it |
| `tests/greeting-test.scm` | its tests; any file there that imports `(srfi 64)` is run |

Run the program, with arguments:

```sh
cairn run main.scm Ada
```

Run the tests; the second command also counts what they evaluate, in `coverage/index.html`:

```sh
cairn test
cairn test --coverage
```

Look for mistakes, and indent all files:

```sh
cairn check -I . main.scm NAME/*.sld tests/*.scm
cairn fmt main.scm NAME/*.sld tests/*.scm
```

Make an executable that needs nothing else, and run it:

```sh
cairn build main.scm
./main Ada
```
",
    ),
    (".gitignore", "/main\n/coverage/\n"),
];

const LIBRARY: [Template; 4] = [
    (
        "NAME.sld",
        ";;; (NAME): says what it is for.
(define-library (NAME)
  (export greeting)
  (import (scheme base))
  (begin

    ;; A line for somebody of this name, a string.
    (define (greeting name)
      (string-append \"Hello, \" name \"!\"))))
",
    ),
    (
        "tests/NAME-test.scm",
        "(import (scheme base) (srfi 64) (NAME))

(test-begin \"NAME\")
(test-equal \"a name\" \"Hello, Ada!\" (greeting \"Ada\"))
(test-error \"no string\" (greeting 5))
(test-end)
",
    ),
    (
        "README.md",
        "# NAME

| file | what it is |
|---|---|
| `NAME.sld` | the library `(NAME)`; `(NAME part)` would be `NAME/part.sld` |
| `tests/NAME-test.scm` | its tests; any file there that imports `(srfi 64)` is run |

Try it at the prompt:

```sh
cairn -e '(import (NAME))' -e '(greeting \"Ada\")'
```

Run the tests; the second command also counts what they evaluate, in `coverage/index.html`:

```sh
cairn test
cairn test --coverage
```

Look for mistakes, and indent all files:

```sh
cairn check -I . NAME.sld tests/*.scm
cairn fmt NAME.sld tests/*.scm
```

A program elsewhere finds the library by `cairn run -I DIRECTORY`, where this is DIRECTORY, or by the environment
variable `CAIRN_PATH`.
",
    ),
    (".gitignore", "/coverage/\n"),
];

/// Makes the directory; the result is the files in it.
pub fn new_project(directory: &Path, library: bool) -> Result<Vec<String>, Error> {
    let name = directory.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
        return Err(Error::Other(format!(
            "`{name}` is not a name for a library: letters, digits, - and _, a letter first"
        )));
    }
    if TAKEN.contains(&name) {
        return Err(Error::Other(format!("`{name}` is the name of libraries that are not yours")));
    }
    let is_empty = |d: &Path| d.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if directory.symlink_metadata().is_ok() && !is_empty(directory) {
        return Err(Error::Other(format!("{} exists already", directory.display())));
    }
    let templates = if library { &LIBRARY[..] } else { &PROGRAM[..] };
    let mut made = Vec::new();
    for (path, text) in templates {
        let path = path.replace("NAME", name);
        let file = directory.join(&path);
        let write = || {
            std::fs::create_dir_all(file.parent().unwrap_or(directory))?;
            std::fs::write(&file, text.replace("NAME", name))
        };
        write().map_err(|e| format!("cannot write {}: {}", file.display(), describe_io(&e)))?;
        made.push(path);
    }
    Ok(made)
}
