//! Threads, seen from outside: schedules, turns, input, servers. Programs are in `tests/threads/`.

#![allow(unsafe_code)] // sends a signal

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

mod common;
use common::{Directory, binary, root};

fn cairn(program: &str) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(root()).args(["run", program]);
    command
}

/// What a program prints with this environment; it must end well.
fn output(program: &str, environment: &[(&str, &str)]) -> String {
    let output = cairn(program).envs(environment.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{environment:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Under the clock, under random schedules, with a collection at every safepoint.
fn under_schedules(program: &str, expected: &str) {
    let seeds: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
    let mut environments = vec![vec![], vec![("CAIRN_ZEAL", "1")]];
    environments.extend(seeds.iter().map(|seed| vec![("CAIRN_SCHEDULE", seed.as_str())]));
    environments
        .extend(seeds[..2].iter().map(|seed| vec![("CAIRN_SCHEDULE", seed.as_str()), ("CAIRN_ZEAL", "1")]));
    for environment in environments {
        assert_eq!(output(program, &environment), expected, "{environment:?}");
    }
}

#[test]
fn channels_and_mutexes_are_linearizable() {
    under_schedules("tests/threads/linearizable.scm", "(#f #t #t #t #t)\n(0 1 not-abandoned)\n");
}

#[test]
fn interrupts_leave_operations_whole() {
    let expected = "(90 token #t 0 not-abandoned #t)\n(#f none #t)through\n\
                    (#f none #t mine not-abandoned (failed failed failed failed failed failed failed failed) 1)\n";
    under_schedules("tests/threads/interrupts.scm", expected);
}

/// Runs `check` on each line that a program with every safepoint in turn prints, in many configurations.
fn at_every_safepoint(program: &str, scenarios: usize, check: impl Fn(&str, &[&str])) {
    let run = |options: &[&str], zeal: &str| {
        let mut command = Command::new(binary());
        command.current_dir(root()).arg("run").args(options).arg(program);
        let output = command.env("CAIRN_ZEAL", zeal).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{options:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(text.lines().count(), scenarios, "{options:?}: {text}");
        for line in text.lines() {
            check(line, options);
        }
    };
    for options in [["--opt=high", "--frames=chunks"], ["--opt=low", "--frames=chunks"]] {
        run(&options, "0");
        run(&options, "1");
    }
    for frames in ["heap", "stack", "resize", "quasi"] {
        run(&[&format!("--frames={frames}")], "1");
    }
    for collector in ["mcc", "marksweep", "bdw"] {
        run(&[&format!("--gc={collector}")], "0");
    }
}

/// Threads are terminated, interrupted, made to fail and late at every safepoint in turn, and nothing that they had in
/// common is broken.
#[test]
fn whatever_happens_at_any_safepoint_leaves_everything_whole() {
    at_every_safepoint("tests/threads/every-safepoint.scm", 36, |line, options| {
        // (scenario, what was tried, at so many safepoints, what went wrong)
        let words: Vec<&str> = line.split(' ').collect();
        assert!(words[2].parse::<u32>().unwrap() > 25 && words[3] == "())", "{options:?}: {line}");
    });
}

/// What a thread does at any safepoint can be captured by who interrupts it, and done in another prompt.
#[test]
fn what_is_captured_at_any_safepoint_goes_on_elsewhere() {
    at_every_safepoint("tests/threads/captured-interrupts.scm", 16, |line, options| {
        // (scenario result (what was entered and left) was-captured what-went-wrong)
        let ends = if line.starts_with("(plain ") { " ())" } else { " captured ())" };
        assert!(line.contains(" 6 (in out) ") && line.ends_with(ends), "{options:?}: {line}");
    });
}

#[test]
fn a_seed_repeats_its_schedule() {
    let logs: Vec<String> = ["1", "2", "3"]
        .iter()
        .map(|seed| {
            let run = || output("tests/threads/schedule.scm", &[("CAIRN_SCHEDULE", seed), ("CAIRN_ZEAL", "1")]);
            let log = run();
            assert_eq!(log, run(), "seed {seed}");
            log
        })
        .collect();
    assert!(logs[0] != logs[1] && logs[1] != logs[2], "{logs:?}");
}

/// Words of frames that minor collections have looked at, and how many there were.
fn frames_looked_at(program: &str, argument: &str) -> (u64, u64) {
    let directory = Directory::new("frames-looked-at");
    let path = directory.0.join("run.json");
    let option = format!("--stats-file={}", path.display());
    let mut command = Command::new(binary());
    let status = command
        .current_dir(root())
        .args(["run", "--opt=high", &option, program, argument])
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let text = std::fs::read_to_string(&path).unwrap();
    let number = |name: &str| -> u64 {
        let rest = text.split_once(&format!("\"{name}\": ")).unwrap().1;
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    (number("frame_words_minor"), number("minor"))
}

/// 2000 threads and 2000 coroutines, some twenty words of frames each, wait while there are hundreds of collections.
#[test]
fn what_does_not_run_costs_minor_collections_nothing() {
    let (once, few) = frames_looked_at("tests/threads/parked.scm", "1000000");
    let (more, many) = frames_looked_at("tests/threads/parked.scm", "4000000");
    let parked = 4000 * 15;
    assert!(once > parked && many - few > 300, "{once} in {few}, {more} in {many}");
    // Three times the collections look at no more than the frames of the main thread, a few words each time.
    assert!(more < once + 60 * (many - few), "{once} in {few}, {more} in {many}");
}

/// How long a thread waits for its turn beside each computation, on average, in milliseconds of the processor's time.
/// What the runtime does in one piece, a comparison or a product, is short here. Compiled code: a program that is
/// evaluated does not wait for its compiler, and its loops are slower to come to a safepoint.
#[test]
fn a_turn_comes_within_ten_milliseconds() {
    let text = output("tests/threads/latency.scm", &[("CAIRN_OPT", "high")]);
    let names: Vec<&str> = text.lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["fib", "fixnums", "flonums", "sort", "equal?", "product"], "{text}");
    for line in text.lines() {
        let wait: f64 = line.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(wait > 0.0 && wait <= 10.0, "{text}");
    }
}

/// Files of any size, and a pipe that nobody opens at the other end: who waits for them is one thread.
#[test]
fn files_keep_no_other_thread_waiting() {
    let directory = Directory::new("files-beside");
    let fifo = directory.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut command = cairn("tests/threads/files.scm");
    let output = command.arg(&fifo).arg(directory.0.join("file")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "(through #t #t #t #t)\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_wrong_seed_is_an_error() {
    let run = cairn("tests/threads/schedule.scm").env("CAIRN_SCHEDULE", "x").output().unwrap();
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && text.contains("it must be a number, the seed of a schedule"), "{text}");
}

#[test]
fn threads_that_compute_give_way() {
    assert_eq!(output("tests/threads/turns.scm", &[]), "(#t #t #t #t #t #t)\n");
}

/// Everything at once for two seconds; `docs/threads.md` has what half an hour gave.
#[test]
fn all_kinds_of_work_get_on_beside_each_other() {
    let text = output("tests/threads/soak.scm", &[]);
    assert!(text.ends_with("all well\n"), "{text}");
    let last = text.lines().rev().nth(1).unwrap();
    let rounds = last.split_once("rounds ").unwrap().1;
    assert!(!rounds.contains(" 0)"), "{last}");
}

#[test]
fn input_is_awaited_beside_a_thread_that_computes() {
    let mut command = cairn("tests/threads/lines.scm");
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = program.stdin.take().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    for (parts, expected) in [(vec!["one\n"], "\"got one\""), (vec!["t", "w", "o\n"], "\"got two\"")] {
        for part in parts {
            input.write_all(part.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(30));
        }
        assert_eq!(lines.next().unwrap().unwrap(), expected);
    }
    drop(input);
    assert_eq!(lines.next().unwrap().unwrap(), "#t");
    assert!(program.wait().unwrap().success());
}

/// The server of `examples/`, as an executable.
struct Server {
    program: Child,
    output: BufReader<std::process::ChildStdout>,
    port: u16,
    _directory: Directory,
}

impl Server {
    fn new(name: &str) -> Server {
        let directory = Directory::new(name);
        let exe: PathBuf = directory.0.join("server");
        let mut build = Command::new(binary());
        build.current_dir(root()).args(["build", "examples/http-server.scm", "-o"]).arg(&exe);
        assert!(build.status().unwrap().success());
        let mut program = Command::new(&exe).arg("0").stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(program.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let port = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        Server { program, output, port, _directory: directory }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Sends SIGTERM: what it says in the end.
    fn end(mut self) -> String {
        // SAFETY: `kill` is given no address; the process was not waited for, so the number is still its own.
        assert_eq!(unsafe { libc::kill(self.program.id() as i32, libc::SIGTERM) }, 0);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.program.wait().unwrap().success());
        rest
    }

    /// Kilobytes in use.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.program.id())).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// The body of one answer.
fn answer(from: &mut BufReader<&TcpStream>) -> String {
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        from.read_line(&mut line).unwrap();
        if let Some(n) = line.strip_prefix("Content-Length: ") {
            length = n.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        assert!(!line.is_empty(), "the connection was closed");
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

/// The signal that ends the server is for its main thread, whichever one reads or runs when it comes.
#[test]
fn a_server_ends_in_the_middle_of_requests() {
    for round in 0..3 {
        let server = Server::new(&format!("busy-server-{round}"));
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let connection = server.connect();
                std::thread::spawn(move || {
                    let (mut answers, mut text) = (0, [0; 4096]);
                    while (&connection).write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").is_ok() {
                        match (&connection).read(&mut text) {
                            Ok(n) if n > 0 => answers += 1,
                            _ => break,
                        }
                    }
                    answers
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        let rest = server.end();
        let answered: u64 = clients.into_iter().map(|c| c.join().unwrap()).sum();
        let counted: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        // The last answers may have arrived after it has counted.
        assert!(answered > 0 && counted <= answered + 8 && answered <= counted + 8, "{counted} {answered}");
    }
}

/// A connection's two ports have one descriptor; a server with too few of them goes on when connections have ended.
#[test]
fn a_server_without_descriptors_goes_on() {
    let server = Server::new("few-descriptors");
    let limit = libc::rlimit { rlim_cur: 60, rlim_max: 60 };
    // SAFETY: the limit is that of a process of our own, and its place is valid.
    let set = unsafe {
        libc::prlimit(server.program.id() as i32, libc::RLIMIT_NOFILE, &raw const limit, std::ptr::null_mut())
    };
    assert_eq!(set, 0);
    let ask = |connection: &TcpStream| {
        (&*connection).write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        answer(&mut BufReader::new(connection))
    };
    // It finds all connections at once, before it has waited for a file.
    let stop = |signal| {
        // SAFETY: `kill` is given no address; the process was not waited for, so the number is still its own.
        assert_eq!(unsafe { libc::kill(server.program.id() as i32, signal) }, 0);
    };
    stop(libc::SIGSTOP);
    let mut connections: Vec<TcpStream> = (0..100).map(|_| server.connect()).collect();
    stop(libc::SIGCONT);
    for connection in &connections[..45] {
        assert_eq!(ask(connection), "Hello from Cairn\n");
    }
    // The rest have their turns when these have left.
    connections.drain(..60);
    for connection in &connections {
        assert_eq!(ask(connection), "Hello from Cairn\n");
    }
    assert_eq!(server.end(), "85 requests answered\n");
}

#[test]
fn a_server_answers_many_at_once() {
    let server = Server::new("server");
    // Connections that say nothing for a while, or only a part of a request.
    let idle: Vec<TcpStream> = (0..300).map(|_| server.connect()).collect();
    for connection in &idle {
        (&*connection).write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    }
    let clients: Vec<_> = (0..4)
        .map(|i| {
            let connection = server.connect();
            std::thread::spawn(move || {
                let mut from = BufReader::new(&connection);
                for j in 0..50 {
                    let body = format!("{i}:{j}").repeat(1 + 400 * (j % 7));
                    let request =
                        format!("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                    // Two requests at once.
                    (&connection).write_all(request.repeat(2).as_bytes()).unwrap();
                    assert_eq!(answer(&mut from), body);
                    assert_eq!(answer(&mut from), body);
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|c| c.join().unwrap());
    for connection in &idle {
        (&*connection).write_all(b"st: x\r\n\r\n").unwrap();
    }
    for connection in &idle {
        assert_eq!(answer(&mut BufReader::new(connection)), "Hello from Cairn\n");
    }
    what_is_no_request_is_refused(&server);
    // Nonsense is answered, and does no harm.
    let connection = server.connect();
    (&connection).write_all(b"nonsense\r\n\r\n").unwrap();
    assert_eq!(answer(&mut BufReader::new(&connection)), "bad request\n");
    assert!(server.memory() < 60_000, "{} KB", server.memory());
    // What is under way is answered before the server ends.
    let slow = server.connect();
    (&slow).write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let rest = server.end();
    assert_eq!(answer(&mut BufReader::new(&slow)), "Hello from Cairn\n");
    // 300 idle ones, 400 echoes, a slow one, and what was understood of that which is no request.
    assert_eq!(rest, "710 requests answered\n");
}

/// What HTTP/1.1 says of requests that are understood otherwise by others, too large, or unusual; nine are answered.
fn what_is_no_request_is_refused(server: &Server) {
    let say = |text: &[u8]| {
        let connection = server.connect();
        // It may have been turned away before all of this was sent.
        let _ = (&connection).write_all(text);
        let _ = connection.shutdown(std::net::Shutdown::Write);
        let mut bytes = Vec::new();
        let _ = (&connection).read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap()
    };
    let (host, post) = ("HTTP/1.1\r\nHost: x\r\n", "POST /echo HTTP/1.1\r\nHost: x\r\n");
    let mut refused = vec![
        ("400", "GET / HTTP/1.1\r\n\r\n".to_string()),
        ("400", format!("GET / {host}Host: y\r\n\r\n")),
        ("400", format!("GET / {host}X : y\r\n\r\n")),
        ("400", format!("GET / {host} folded\r\n\r\n")),
        ("400", format!("GET / {host}X: a\rb\r\n\r\n")),
        ("400", format!("GET  / {host}\r\n")),
        ("400", format!("GET / {host}")),
        ("505", "GET / HTTP/9.9\r\nHost: x\r\n\r\n".to_string()),
        ("414", format!("GET /{} {host}\r\n", "a".repeat(9000))),
        ("431", format!("GET / {host}X: {}\r\n\r\n", "a".repeat(2_000_000))),
        ("431", format!("GET / {host}{}\r\n", "X: a\r\n".repeat(10_000))),
        ("413", format!("{post}Content-Length: 99999999999999999999999\r\n\r\nhello")),
        ("413", format!("{post}Transfer-Encoding: chunked\r\n\r\nfffffff\r\nhello")),
        ("501", format!("{post}Transfer-Encoding: gzip, chunked\r\n\r\n")),
        ("400", format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")),
        ("400", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_string()),
        ("400", format!("{post}Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n")),
        ("400", format!("{post}Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n")),
        ("400", format!("{post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        ("417", format!("{post}Expect: miracles\r\nContent-Length: 5\r\n\r\nhello")),
    ];
    for length in ["-5", "+5", "#x5", "1e3", "10/2", "5.", ""] {
        refused.push(("400", format!("{post}Content-Length: {length}\r\n\r\nhello")));
    }
    for (status, request) in refused {
        let shown: String = request.chars().take(90).collect();
        // What follows is not read as another request.
        let answers = say(format!("{request}GET / HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        assert!(answers.starts_with(&format!("HTTP/1.1 {status} ")), "{shown}: {answers}");
        assert!(
            answers.contains("\r\nConnection: close\r\n") && answers.matches("HTTP/").count() == 1,
            "{answers}"
        );
    }
    let twice = |request: &str, status: &str, body: &str| {
        let answers = say(request.repeat(2).as_bytes());
        let parts: Vec<&str> = answers.split("HTTP/1.1 ").skip(1).collect();
        assert_eq!(parts.len(), 2, "{request}: {answers}");
        for part in parts {
            assert!(
                part.starts_with(status) && part.ends_with(&format!("\r\n\r\n{body}")),
                "{request}: {answers}"
            );
        }
    };
    twice(&format!("HEAD / {host}\r\n"), "200 OK\r\n", "");
    let chunks = "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n0002\r\nlo\r\n0\r\nTrailer: x\r\n\r\n";
    twice(&format!("{post}{chunks}"), "200 OK\r\n", "hello");
    twice(&format!("\r\nGET http://x/?q {host}X: \u{ff}\r\n\r\n"), "200 OK\r\n", "Hello from Cairn\n");
    twice(&format!("DELETE / {host}\r\n"), "501 ", "not implemented\n");
    let expects = format!("{post}Expect: 100-continue\r\nContent-Length: 5\r\nConnection: x, Close\r\n\r\nhello");
    let answers = say(format!("{expects}{expects}").as_bytes());
    assert!(answers.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{answers}");
    assert!(answers.contains("\r\nConnection: close\r\n") && answers.matches("HTTP/").count() == 2, "{answers}");
}
