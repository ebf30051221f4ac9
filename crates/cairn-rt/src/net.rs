//! Sockets: TCP and UDP.
//!
//! The problem: nothing may block (see [`crate::port`]), and a socket that a program drops must be closed like a file.
//! The idea: a socket is a port without direction, so the collector closes it; all of them are non-blocking, what would
//! block answers `#f`, and `lib/cairn/net.sld` has the thread wait. The socket of a connection is the port that reads;
//! another one writes: closing that tells the other side. Both have one descriptor, which closes with the second of
//! them (`Runtime::shared_descriptors`): there are only so many of them.
//!
//! Names of hosts are looked up by the system's resolver, which blocks: a helper does that before ([`crate::helpers`]).

use crate::access::{self, bytes_of, string_of};
use crate::alloc::{alloc_pair, make_bytevector, make_string};
use crate::arguments::expect;
use crate::failure::{check, describe_io, fail};
use crate::helpers::bare_host;
use crate::port::{FLAG_BINARY, FLAG_INPUT, FLAG_SOCKET, FLAG_TEXTUAL, Port, make_fd_port, may_retry};
use crate::runtime::rt;
use crate::waiting;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};
use mio::net::{TcpListener, TcpStream, UdpSocket};
use std::io::{self, ErrorKind};
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};

/// Connections that may wait to be accepted; the system may have a lower limit.
const BACKLOG: i32 = 4096;
/// Most bytes of a datagram.
const DATAGRAM_BYTES: usize = 65_536;
/// The socket of a connection is read.
const CONNECTION: i64 = FLAG_INPUT | FLAG_TEXTUAL | FLAG_BINARY;

/// A failure that has to do with `what`; satisfies `file-error?`.
fn net_error(ctx: &mut Machine, who: &str, action: &str, what: &str, error: &io::Error) -> Value {
    fail(ctx, kind::FILE, who, format!("cannot {action} {what}: {}", describe_io(error)), &[])
}

/// The addresses of a host, by name or number, and port.
fn addresses(ctx: &Machine, host: &str, port: i64) -> io::Result<Vec<SocketAddr>> {
    let port = u16::try_from(port).map_err(|_| io::Error::new(ErrorKind::InvalidInput, "no such port number"))?;
    let host = bare_host(host);
    if let Some(found) = rt(ctx).helpers.found(host) {
        return Ok(found?.into_iter().map(|address| SocketAddr::new(address, port)).collect());
    }
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Tries `open` with each address: the first that succeeds, or the last failure.
fn first<T>(ctx: &Machine, host: &str, port: i64, open: impl Fn(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::Error::new(ErrorKind::NotFound, "no address");
    for address in addresses(ctx, host, port)? {
        match open(address) {
            Ok(x) => return Ok(x),
            Err(e) => last = e,
        }
    }
    Err(last)
}

/// A port without direction, or with one, on a descriptor that is its own.
fn make_socket(ctx: &mut Machine, fd: i32, flags: i64, name: &str) -> Value {
    let port = make_fd_port(ctx, flags | FLAG_SOCKET, fd, name);
    rt(ctx).open_ports.push(port);
    port
}

/// Has the system no descriptor left?
fn lacks_descriptor(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Opens a socket by `open`; `action` completes "cannot". `#f`: without a free descriptor, a collection is requested,
/// which closes what the program has dropped; it shall ask again.
fn open<S: IntoRawFd>(
    ctx: &mut Machine,
    (who, action): (&str, &str),
    flags: i64,
    (host, port): (Value, Value),
    open: impl Fn(SocketAddr) -> io::Result<S>,
) -> Value {
    let _ = expect!(ctx, who, 1, "a string", host, string_of(host));
    let number = expect!(ctx, who, 2, "a port number", port, port.is_fixnum().then(|| port.as_fixnum()));
    let host = access::string_text(host);
    let name = format!("{host}:{number}");
    match waiting::prepare(ctx).and_then(|()| first(ctx, &host, number, open)) {
        Ok(socket) => {
            rt(ctx).open_retries.0 = 0;
            make_socket(ctx, socket.into_raw_fd(), flags, &name)
        }
        Err(e) if lacks_descriptor(&e) && may_retry(ctx) => Value::FALSE,
        Err(e) => net_error(ctx, who, action, &name, &e),
    }
}

/// The descriptor of an open socket.
fn descriptor(ctx: &mut Machine, who: &str, v: Value) -> Option<i32> {
    let fd = Port::of(v).filter(|p| p.flags() & FLAG_SOCKET != 0).and_then(Port::fd);
    if fd.is_none() {
        crate::failure::wrong_type(ctx, who, 1, "a socket", v);
    }
    if Port::of(v).is_some_and(|p| !p.is_open()) {
        crate::failure::other(ctx, who, "the socket is closed:", &[v]);
        return None;
    }
    fd
}

/// A socket of type `S` on a descriptor that stays open.
fn borrowed<S: FromRawFd>(fd: i32) -> ManuallyDrop<S> {
    // SAFETY: the descriptor is that of an open port (`descriptor`), and `ManuallyDrop` never closes it.
    ManuallyDrop::new(unsafe { S::from_raw_fd(fd) })
}

/// `(net-connect host port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_connect(ctx: &mut Machine, host: Value, port: Value) -> Value {
    open(ctx, ("tcp-connect", "connect to"), CONNECTION, (host, port), TcpStream::connect)
}

/// `(net-listen host port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_listen(ctx: &mut Machine, host: Value, port: Value) -> Value {
    open(ctx, ("tcp-listen", "listen at"), 0, (host, port), |address| {
        let listener = TcpListener::bind(address)?;
        // SAFETY: `listener` is a socket that listens; the call touches no memory and sets how many connections may
        // wait.
        match unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) } {
            0 => Ok(listener),
            _ => Err(io::Error::last_os_error()),
        }
    })
}

/// `(net-datagram host port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_datagram(ctx: &mut Machine, host: Value, port: Value) -> Value {
    open(ctx, ("udp-open", "receive at"), 0, (host, port), UdpSocket::bind)
}

/// `(net-outcome socket)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_outcome(ctx: &mut Machine, socket: Value) -> Value {
    let fd = check!(descriptor(ctx, "tcp-connect", socket));
    let stream = borrowed::<TcpStream>(fd);
    let outcome = match stream.take_error() {
        Ok(Some(e)) | Err(e) => Err(e),
        Ok(None) => stream.peer_addr(),
    };
    let _ = stream.set_nodelay(true);
    match outcome {
        Ok(_) => Value::TRUE,
        Err(e) => {
            let name = Port::of(socket).and_then(Port::name).unwrap_or_default();
            net_error(ctx, "tcp-connect", "connect to", &name, &e)
        }
    }
}

/// `(net-accept socket)`. Without a free descriptor the answer is `()` once a collection has been requested, after
/// which the program shall ask again, and `#t` when that has not helped: it shall wait until some are closed.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_accept(ctx: &mut Machine, socket: Value) -> Value {
    let fd = check!(descriptor(ctx, "tcp-accept", socket));
    match borrowed::<TcpListener>(fd).accept() {
        Ok((stream, address)) => {
            let _ = stream.set_nodelay(true);
            rt(ctx).open_retries.0 = 0;
            make_socket(ctx, stream.into_raw_fd(), CONNECTION, &address.to_string())
        }
        // One that has gone away meanwhile is nobody's business.
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted
            ) =>
        {
            Value::FALSE
        }
        Err(e) if lacks_descriptor(&e) => {
            if may_retry(ctx) {
                Value::NIL
            } else {
                Value::TRUE
            }
        }
        Err(e) => net_error(ctx, "tcp-accept", "accept connections at", &title(socket), &e),
    }
}

fn title(socket: Value) -> String {
    Port::of(socket).and_then(Port::name).unwrap_or_default()
}

/// `(net-port socket flags)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_port(ctx: &mut Machine, socket: Value, flags: Value) -> Value {
    let fd = check!(descriptor(ctx, "tcp-ports", socket));
    let port = make_socket(ctx, fd, flags.as_fixnum(), &title(socket));
    rt(ctx).shared_descriptors.insert(fd);
    port
}

/// `(host . port)`.
fn address_value(ctx: &mut Machine, address: SocketAddr) -> Value {
    let host = make_string(ctx, &address.ip().to_string());
    alloc_pair(ctx, host, Value::fixnum(address.port().into()))
}

/// `(net-address socket other?)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_address(ctx: &mut Machine, socket: Value, other: Value) -> Value {
    let fd = check!(descriptor(ctx, "socket-address", socket));
    let stream = borrowed::<TcpStream>(fd);
    match if other == Value::FALSE { stream.local_addr() } else { stream.peer_addr() } {
        Ok(address) => address_value(ctx, address),
        Err(e) => net_error(ctx, "socket-address", "tell the address of", &title(socket), &e),
    }
}

/// `(net-send socket bytes host port)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_send(
    ctx: &mut Machine,
    socket: Value,
    bytes: Value,
    host: Value,
    port: Value,
) -> Value {
    let fd = check!(descriptor(ctx, "udp-send", socket));
    let data = expect!(ctx, "udp-send", 2, "a bytevector", bytes, bytes_of(bytes));
    let _ = expect!(ctx, "udp-send", 3, "a string", host, string_of(host));
    let number = expect!(ctx, "udp-send", 4, "a port number", port, port.is_fixnum().then(|| port.as_fixnum()));
    let host = access::string_text(host);
    match first(ctx, &host, number, |address| borrowed::<UdpSocket>(fd).send_to(data, address)) {
        Ok(_) => Value::TRUE,
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Value::FALSE,
        Err(e) => net_error(ctx, "udp-send", "send to", &format!("{host}:{number}"), &e),
    }
}

/// `(net-receive socket most)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_net_receive(ctx: &mut Machine, socket: Value, most: Value) -> Value {
    let fd = check!(descriptor(ctx, "udp-receive", socket));
    let most =
        if most.is_fixnum() { most.as_fixnum().clamp(0, DATAGRAM_BYTES as i64) as usize } else { DATAGRAM_BYTES };
    let mut buffer = vec![0; most];
    match borrowed::<UdpSocket>(fd).recv_from(&mut buffer) {
        Ok((n, address)) => {
            let bytes = make_bytevector(ctx, &buffer[..n]);
            let address = address_value(ctx, address);
            alloc_pair(ctx, bytes, address)
        }
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Value::FALSE,
        Err(e) => net_error(ctx, "udp-receive", "receive at", &title(socket), &e),
    }
}
