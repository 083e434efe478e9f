//! Atomic operations. Between threads all of them are sequentially consistent, which is stronger than any requested
//! order.

use std::sync::{
    Mutex, PoisonError,
    atomic::Ordering::{Relaxed, SeqCst},
};

use super::view::View;
use crate::{
    alu,
    code::{Action, Atomic},
    memory::Cells,
    poison::{self, BytePoison, Poison},
    report::{Access, Problem},
    types::Scalar,
};

/// Serializes operations on objects wider than a cell.
static WIDE: Mutex<()> = Mutex::new(());

/// Whether an operation uses its value operand.
pub(crate) fn takes_value(action: Action) -> bool {
    !matches!(
        action,
        Action::Load | Action::Increment | Action::Decrement | Action::TestAndSet | Action::Clear
    )
}

/// Updates the poison of an object's bytes, and returns the poison of the operation's result: that of the old value. `old` is
/// the object's old value, `value` the operand.
pub(crate) fn poison(action: Action, bytes: &mut [BytePoison], old: u64, value: u64) -> Poison {
    let before = poison::of_bytes(bytes);
    let masked = |absorbing| poison::masked((old, before), (value, 0), absorbing);
    let after = match action {
        Action::Load => before,
        Action::Store | Action::Exchange | Action::TestAndSet | Action::Clear => 0,
        Action::And => masked(0),
        Action::Or => masked(u64::MAX),
        _ => poison::spread(before),
    };
    poison::to_bytes(after, bytes);
    before
}

/// What an operation did.
pub(crate) struct Effect {
    /// The result.
    pub(crate) old: u64,
    /// Whether it stored a value.
    pub(crate) writes: bool,
    /// Whether it stored a value that differs from the old one.
    pub(crate) changes: bool,
}

/// Performs the operation.
pub(crate) fn perform(view: &View<'_>, atomic: &Atomic, regs: &[u64]) -> Result<Effect, Problem> {
    let address = regs[atomic.pointer as usize];
    let size = atomic.scalar.size();
    let (cells, at) = view.locate(address, size.into(), Access::Atomic)?;
    if !address.is_multiple_of(size.into()) {
        return Err(Problem::Misaligned { address, align: size.into(), access: Access::Atomic });
    }
    let (value, comparator) = (regs[atomic.value as usize], regs[atomic.comparator as usize]);
    let (mut writes, mut changes) = (false, false);
    let old = update(cells, at, size, |old| {
        let new = new_value(atomic, old, value, comparator);
        writes = new.is_some();
        changes = new.is_some_and(|new| new != old);
        new
    });
    let old = if atomic.action == Action::TestAndSet { (old != 0).into() } else { old };
    Ok(Effect { old, writes, changes })
}

/// The value to store, if any.
fn new_value(atomic: &Atomic, old: u64, value: u64, comparator: u64) -> Option<u64> {
    let scalar = atomic.scalar;
    let size = scalar.size();
    let signed = |bits| alu::signed(size, bits);
    let new = match atomic.action {
        Action::Load => return None,
        Action::Store | Action::Exchange => value,
        Action::CompareExchange => return (old == comparator).then_some(value),
        Action::Increment => old.wrapping_add(1),
        Action::Decrement => old.wrapping_sub(1),
        Action::Add => old.wrapping_add(value),
        Action::Subtract => old.wrapping_sub(value),
        Action::SMin => {
            if signed(value) < signed(old) {
                value
            } else {
                old
            }
        }
        Action::UMin => old.min(value),
        Action::SMax => {
            if signed(value) > signed(old) {
                value
            } else {
                old
            }
        }
        Action::UMax => old.max(value),
        Action::And => old & value,
        Action::Or => old | value,
        Action::Xor => old ^ value,
        Action::FAdd => float(scalar, old, value, |a, b| a + b),
        Action::FMin => float(scalar, old, value, f64::min),
        Action::FMax => float(scalar, old, value, f64::max),
        Action::TestAndSet => 1,
        Action::Clear => 0,
    };
    Some(alu::truncated(size, new))
}

fn float(scalar: Scalar, old: u64, value: u64, f: fn(f64, f64) -> f64) -> u64 {
    alu::from_f64(scalar, f(alu::to_f64(scalar, old), alu::to_f64(scalar, value)))
}

/// Replaces a value atomically and returns the old one.
fn update(cells: &Cells, at: u64, size: u8, mut f: impl FnMut(u64) -> Option<u64>) -> u64 {
    if size == 8 {
        let _guard = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
        let old = cells.load(at, 8);
        if let Some(new) = f(old) {
            cells.store(at, 8, new);
        }
        return old;
    }
    let shift = at % 4 * 8;
    let mask = (u64::from(u32::MAX) >> (32 - 8 * u32::from(size))) as u32;
    let word = cells.word(at);
    let mut before = word.load(SeqCst);
    loop {
        let old = u64::from(before >> shift & mask);
        let Some(new) = f(old) else { return old };
        let after = before & !(mask << shift) | (new as u32 & mask) << shift;
        match word.compare_exchange_weak(before, after, SeqCst, Relaxed) {
            Ok(_) => return old,
            Err(now) => before = now,
        }
    }
}
