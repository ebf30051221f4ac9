//! Kernels on magnitudes: slices of 64-bit limbs, least significant first.
//!
//! The problem: bignum speed is decided by a few loops that others have spent decades on. The idea: GMP's `mpn` layer,
//! which works on caller-owned memory, behind functions that check every length, so that the rest of the tower is safe
//! Rust. Short operands, which dominate in Scheme programs, are handled before the foreign call where that is simple.
//!
//! Conventions: inputs are *trimmed* (no zero limb at the top; zero is the empty slice) unless said otherwise. An
//! output slice has the stated size; functions return the number of significant limbs written and leave the rest of
//! the slice unspecified or zero. Outputs never overlap inputs (the borrow checker sees to it).
//!
//! Complexity: GMP's: schoolbook, Toom and FFT products; subquadratic division, gcd and radix conversion.

use std::cmp::Ordering;
use std::ffi::{c_int, c_long, c_uint};

mod mpn {
    use super::*;
    #[link(name = "gmp", kind = "static")]
    unsafe extern "C" {
        pub fn __gmpn_add_n(r: *mut u64, a: *const u64, b: *const u64, n: c_long) -> u64;
        pub fn __gmpn_sub_n(r: *mut u64, a: *const u64, b: *const u64, n: c_long) -> u64;
        pub fn __gmpn_mul(r: *mut u64, a: *const u64, an: c_long, b: *const u64, bn: c_long) -> u64;
        pub fn __gmpn_sqr(r: *mut u64, a: *const u64, n: c_long);
        pub fn __gmpn_mul_1(r: *mut u64, a: *const u64, n: c_long, b: u64) -> u64;
        #[allow(clippy::too_many_arguments)]
        pub fn __gmpn_tdiv_qr(
            q: *mut u64,
            r: *mut u64,
            qxn: c_long,
            n: *const u64,
            nn: c_long,
            d: *const u64,
            dn: c_long,
        );
        pub fn __gmpn_divrem_1(q: *mut u64, qxn: c_long, a: *const u64, n: c_long, d: u64) -> u64;
        pub fn __gmpn_mod_1(a: *const u64, n: c_long, d: u64) -> u64;
        pub fn __gmpn_lshift(r: *mut u64, a: *const u64, n: c_long, count: c_uint) -> u64;
        pub fn __gmpn_rshift(r: *mut u64, a: *const u64, n: c_long, count: c_uint) -> u64;
        pub fn __gmpn_sqrtrem(s: *mut u64, r: *mut u64, a: *const u64, n: c_long) -> c_long;
        pub fn __gmpn_gcd(g: *mut u64, u: *mut u64, un: c_long, v: *mut u64, vn: c_long) -> c_long;
        pub fn __gmpn_gcd_1(u: *const u64, n: c_long, v: u64) -> u64;
        pub fn __gmpn_get_str(s: *mut u8, base: c_int, a: *mut u64, n: c_long) -> usize;
        pub fn __gmpn_set_str(r: *mut u64, s: *const u8, n: usize, base: c_int) -> c_long;
    }
}

/// The significant part of `a`: without zero limbs at the top.
#[inline]
pub fn trim(a: &[u64]) -> &[u64] {
    &a[..significant(a)]
}

/// Number of limbs of `a` without the zero limbs at the top.
#[inline]
pub fn significant(a: &[u64]) -> usize {
    let mut n = a.len();
    while n > 0 && a[n - 1] == 0 {
        n -= 1;
    }
    n
}

/// Number of bits: 0 for zero.
#[inline]
pub fn bit_len(a: &[u64]) -> usize {
    match a.last() {
        None => 0,
        Some(top) => a.len() * 64 - top.leading_zeros() as usize,
    }
}

/// Number of zero bits at the bottom; `a` is not zero.
pub fn trailing_zeros(a: &[u64]) -> usize {
    let i = a.iter().position(|&l| l != 0).expect("zero has no lowest bit");
    i * 64 + a[i].trailing_zeros() as usize
}

/// Is bit `i` set?
#[inline]
pub fn bit(a: &[u64], i: usize) -> bool {
    a.get(i / 64).is_some_and(|l| (l >> (i % 64)) & 1 != 0)
}

/// Number of one bits.
pub fn count_ones(a: &[u64]) -> usize {
    a.iter().map(|l| l.count_ones() as usize).sum()
}

/// Which is greater?
#[inline]
pub fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// `out = a + b` without the carry out of the top, which is the result, for `a.len() >= b.len()`. `out` has `a.len()`
/// limbs.
pub fn add_carry(out: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    assert!(out.len() >= a.len() && a.len() >= b.len(), "sum would not fit");
    let mut carry = 0;
    if !b.is_empty() {
        // SAFETY: `out` and `a` have at least `b.len()` limbs (checked above).
        carry = unsafe { mpn::__gmpn_add_n(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), b.len() as c_long) };
    }
    let mut i = b.len();
    while carry != 0 && i < a.len() {
        let (sum, over) = a[i].overflowing_add(1);
        out[i] = sum;
        carry = over as u64;
        i += 1;
    }
    out[i..a.len()].copy_from_slice(&a[i..]);
    carry != 0
}

/// `out = a + b`. `out` has `max + 1` limbs.
pub fn add(out: &mut [u64], a: &[u64], b: &[u64]) -> usize {
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    assert!(out.len() > a.len(), "sum needs one limb more than its operands");
    out[a.len()] = add_carry(out, a, b) as u64;
    significant(&out[..a.len() + 1])
}

/// `out = a - b` for `a >= b`. `out` has `a.len()` limbs.
pub fn sub(out: &mut [u64], a: &[u64], b: &[u64]) -> usize {
    assert!(out.len() >= a.len() && a.len() >= b.len(), "difference would not fit");
    let mut borrow = 0;
    if !b.is_empty() {
        // SAFETY: `out` and `a` have at least `b.len()` limbs (checked above).
        borrow = unsafe { mpn::__gmpn_sub_n(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), b.len() as c_long) };
    }
    let mut i = b.len();
    while borrow != 0 && i < a.len() {
        let (d, under) = a[i].overflowing_sub(1);
        out[i] = d;
        borrow = under as u64;
        i += 1;
    }
    debug_assert_eq!(borrow, 0, "subtrahend is greater");
    out[i..a.len()].copy_from_slice(&a[i..]);
    significant(&out[..a.len()])
}

/// Adds one in place; false when it overflowed (then `a` is all zero).
pub fn increment(a: &mut [u64]) -> bool {
    for l in a {
        let (sum, over) = l.overflowing_add(1);
        *l = sum;
        if !over {
            return true;
        }
    }
    false
}

/// `out = a * b`. `out` has `a.len() + b.len()` limbs.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) -> usize {
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if b.is_empty() {
        return 0;
    }
    let n = a.len() + b.len();
    assert!(out.len() >= n, "product needs the limbs of both operands");
    // SAFETY: `out` has room for `n` limbs, both operands are non-empty, the first is the longer, and `out` is a
    // unique borrow, so nothing overlaps it.
    unsafe {
        if b.len() == 1 {
            out[n - 1] = mpn::__gmpn_mul_1(out.as_mut_ptr(), a.as_ptr(), a.len() as c_long, b[0]);
        } else if std::ptr::eq(a, b) {
            mpn::__gmpn_sqr(out.as_mut_ptr(), a.as_ptr(), a.len() as c_long);
        } else {
            mpn::__gmpn_mul(out.as_mut_ptr(), a.as_ptr(), a.len() as c_long, b.as_ptr(), b.len() as c_long);
        }
    }
    if out[n - 1] == 0 { n - 1 } else { n }
}

/// `quotient = a / b`, `rest = a % b`, for `a.len() >= b.len() > 0`. `quotient` has `a.len() - b.len() + 1` limbs,
/// `rest` has `b.len()`. Returns the significant limbs of both.
pub fn div_rem(quotient: &mut [u64], rest: &mut [u64], a: &[u64], b: &[u64]) -> (usize, usize) {
    assert!(!b.is_empty() && b[b.len() - 1] != 0, "divisor is trimmed and not zero");
    assert!(a.len() >= b.len() && quotient.len() > a.len() - b.len() && rest.len() >= b.len());
    let qn = a.len() - b.len() + 1;
    // SAFETY: sizes and the divisor's top limb were checked; outputs are unique borrows.
    unsafe {
        if b.len() == 1 {
            rest[0] = mpn::__gmpn_divrem_1(quotient.as_mut_ptr(), 0, a.as_ptr(), a.len() as c_long, b[0]);
        } else {
            mpn::__gmpn_tdiv_qr(
                quotient.as_mut_ptr(),
                rest.as_mut_ptr(),
                0,
                a.as_ptr(),
                a.len() as c_long,
                b.as_ptr(),
                b.len() as c_long,
            );
        }
    }
    (significant(&quotient[..qn]), significant(&rest[..b.len()]))
}

/// `a % d`.
pub fn rem_limb(a: &[u64], d: u64) -> u64 {
    assert!(d != 0);
    if a.is_empty() {
        return 0;
    }
    // SAFETY: `a` is not empty and `d` not zero.
    unsafe { mpn::__gmpn_mod_1(a.as_ptr(), a.len() as c_long, d) }
}

/// `out = a << bits`. `out` has `a.len() + bits / 64 + 1` limbs.
pub fn shl(out: &mut [u64], a: &[u64], bits: usize) -> usize {
    if a.is_empty() {
        return 0;
    }
    let (whole, part) = (bits / 64, bits % 64);
    let n = a.len() + whole + 1;
    assert!(out.len() >= n, "shifted number would not fit");
    out[..whole].fill(0);
    if part == 0 {
        out[whole..n - 1].copy_from_slice(a);
        out[n - 1] = 0;
    } else {
        // SAFETY: `out[whole..]` has `a.len() + 1` limbs and 1 <= part <= 63.
        out[n - 1] = unsafe {
            mpn::__gmpn_lshift(out[whole..].as_mut_ptr(), a.as_ptr(), a.len() as c_long, part as c_uint)
        };
    }
    significant(&out[..n])
}

/// `out = a >> bits`, rounded down; the flag says whether one bits were lost. `out` has `a.len() - bits / 64` limbs
/// (none when that is negative).
pub fn shr(out: &mut [u64], a: &[u64], bits: usize) -> (usize, bool) {
    let (whole, part) = (bits / 64, bits % 64);
    if whole >= a.len() {
        return (0, !a.is_empty());
    }
    let n = a.len() - whole;
    assert!(out.len() >= n, "shifted number would not fit");
    let mut lost = a[..whole].iter().any(|&l| l != 0);
    if part == 0 {
        out[..n].copy_from_slice(&a[whole..]);
    } else {
        // SAFETY: `out` has `n` limbs and 1 <= part <= 63.
        let out_bits =
            unsafe { mpn::__gmpn_rshift(out.as_mut_ptr(), a[whole..].as_ptr(), n as c_long, part as c_uint) };
        lost |= out_bits != 0;
    }
    (significant(&out[..n]), lost)
}

/// `root = isqrt(a)`, `rest = a - root²`. `root` has `ceil(n / 2)` limbs, `rest` has `n`; `a` is not zero. Returns the
/// significant limbs of both.
pub fn sqrt_rem(root: &mut [u64], rest: &mut [u64], a: &[u64]) -> (usize, usize) {
    let n = a.len();
    assert!(n > 0 && a[n - 1] != 0 && root.len() >= n.div_ceil(2) && rest.len() >= n);
    // SAFETY: `root` and `rest` have the sizes that were asked for above; both are unique borrows, and `a` is not
    // empty.
    let rest_len = unsafe { mpn::__gmpn_sqrtrem(root.as_mut_ptr(), rest.as_mut_ptr(), a.as_ptr(), n as c_long) };
    (significant(&root[..n.div_ceil(2)]), rest_len as usize)
}

/// Greatest common divisor of two limbs, not both zero.
pub fn gcd_limb(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
    }
    a << shift
}

/// Greatest common divisor of two magnitudes.
pub fn gcd(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    match b {
        [] => return a.to_vec(),
        // SAFETY: `a` is at least as long as `b`, so not empty, and the limb is not zero.
        [limb] => return vec![unsafe { mpn::__gmpn_gcd_1(a.as_ptr(), a.len() as c_long, *limb) }],
        _ => {}
    }
    // mpn_gcd wants odd operands, the first with at least as many bits as the second, and destroys both.
    let (za, zb) = (trailing_zeros(a), trailing_zeros(b));
    let mut u = vec![0; a.len()];
    let mut v = vec![0; b.len()];
    let un = shr(&mut u, a, za).0;
    let vn = shr(&mut v, b, zb).0;
    if bit_len(&u[..un]) < bit_len(&v[..vn]) {
        return gcd_odd(&mut v[..vn], &mut u[..un], za.min(zb));
    }
    gcd_odd(&mut u[..un], &mut v[..vn], za.min(zb))
}

/// `gcd(u, v) << shift` for odd `u` and `v`, `u` not shorter in bits.
fn gcd_odd(u: &mut [u64], v: &mut [u64], shift: usize) -> Vec<u64> {
    let mut g = vec![0; v.len()];
    // SAFETY: both operands are odd and trimmed, `u` has at least as many bits, `g` has room for `v.len()` limbs.
    let n = unsafe {
        mpn::__gmpn_gcd(g.as_mut_ptr(), u.as_mut_ptr(), u.len() as c_long, v.as_mut_ptr(), v.len() as c_long)
    } as usize;
    let mut out = vec![0; n + shift / 64 + 1];
    let n = shl(&mut out, &g[..n], shift);
    out.truncate(n);
    out
}

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The digits of a word in `radix` (2..=36), of which the buffer holds the most that there can be.
pub fn digits_of(n: u64, radix: u32, buffer: &mut [u8; 64]) -> &str {
    // a division by a constant is a multiplication
    let first = match radix {
        10 => digits_in(n, 10, buffer),
        16 => digits_in(n, 16, buffer),
        _ => digits_in(n, radix as u64, buffer),
    };
    str::from_utf8(&buffer[first..]).expect("digits are ASCII")
}

/// Puts the digits at the end of the buffer: where they begin.
#[inline(always)]
fn digits_in(mut n: u64, radix: u64, buffer: &mut [u8; 64]) -> usize {
    let mut i = buffer.len();
    loop {
        i -= 1;
        buffer[i] = DIGITS[(n % radix) as usize];
        n /= radix;
        if n == 0 {
            return i;
        }
    }
}

/// Appends the digits of `a` in `radix` (2..=36).
pub fn push_digits(out: &mut String, a: &[u64], radix: u32) {
    assert!((2..=36).contains(&radix));
    match a {
        [] => out.push('0'),
        [limb] => out.push_str(digits_of(*limb, radix, &mut [0; 64])),
        _ => {
            // Room for the longest number of that many limbs, plus one: GMP's requirement.
            let bits_per_digit = (31 - radix.leading_zeros()) as usize;
            let mut digits = vec![0u8; a.len() * 64 / bits_per_digit + 2];
            let mut scratch = a.to_vec(); // clobbered
            // SAFETY: `digits` is large enough for any number of `a.len()` limbs in this radix; `scratch` is ours.
            let n = unsafe {
                mpn::__gmpn_get_str(digits.as_mut_ptr(), radix as c_int, scratch.as_mut_ptr(), a.len() as c_long)
            };
            let significant = digits[..n].iter().skip_while(|d| **d == 0);
            out.extend(significant.map(|&d| DIGITS[d as usize] as char));
        }
    }
}

/// The magnitude of a string of digit *values* (not characters) in `radix`.
pub fn from_digits(digits: &[u8], radix: u32) -> Vec<u64> {
    assert!((2..=36).contains(&radix) && digits.iter().all(|&d| (d as u32) < radix));
    let Some(first) = digits.iter().position(|&d| d != 0) else { return Vec::new() };
    let digits = &digits[first..];
    let bits_per_digit = (32 - (radix - 1).leading_zeros()) as usize;
    let mut limbs = vec![0; digits.len() * bits_per_digit / 64 + 2];
    // SAFETY: `limbs` has room for the largest number of that many digits plus one limb; the first digit is not zero
    // and all are below the radix.
    let n = unsafe { mpn::__gmpn_set_str(limbs.as_mut_ptr(), digits.as_ptr(), digits.len(), radix as c_int) };
    limbs.truncate(n as usize);
    let n = significant(&limbs);
    limbs.truncate(n);
    limbs
}

/// A hash of sign and magnitude.
pub fn hash(negative: bool, a: &[u64]) -> u64 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut h = if negative { K } else { 0 };
    for &l in a {
        h = (h.rotate_left(23) ^ l).wrapping_mul(K);
        h ^= h >> 29;
    }
    h
}
