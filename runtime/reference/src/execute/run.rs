//! The interpreter loop: runs one work-item until it must stop.
//!
//! Owns the effect of each operation on registers and control flow. Must not depend on other work-items: it stops
//! where they meet.

use super::{
    enqueue::Queue,
    item::{Item, State},
    place::GroupPlace,
    printf::Printed,
    races::{Races, Shadow, Synchronisation},
    resource::Resource,
    view::{Found, Local, View, Watch},
};
use crate::{
    alu,
    code::{Action, Lane, Op, Overflow, Program, Slot},
    memory::{Objects, Place, Space},
    poison::{
        BytePoison, Poison, UNWRITTEN, UNWRITTEN_BYTE, masked, of_bytes, shifted, spread, spread_upward,
        to_bytes, truncated, union,
    },
    report::{Access, Problem, Use},
};

/// The group's state, as a work-item accesses it.
pub(crate) struct Site<'a> {
    pub(crate) program: &'a Program,
    pub(crate) place: GroupPlace<'a>,
    pub(crate) global: &'a Objects,
    pub(crate) resources: &'a [Option<Resource>],
    pub(crate) local: &'a mut [Local],
    pub(crate) races: &'a mut Races,
    pub(crate) shadow: &'a mut Shadow,
    pub(crate) printed: Printed<'a>,
    pub(crate) queue: &'a Queue,
}

/// Time-slice cost of an atomic operation, in jumps, so that spinning work-items yield.
const ATOMIC_COST: u64 = 2048;

/// Runs a work-item for a number of jumps.
pub(crate) fn run<const CHECKS: bool>(
    site: &mut Site<'_>,
    item: &mut Item,
    slice: u64,
) -> Result<(), Problem> {
    let mut left = slice;
    let result = frames::<CHECKS>(site, item, &mut left);
    item.steps += slice - left;
    result
}

fn frames<const CHECKS: bool>(site: &mut Site<'_>, item: &mut Item, left: &mut u64) -> Result<(), Problem> {
    let program = site.program;
    let tables = &program.tables;
    'frame: loop {
        let Some(&frame) = item.frames.last() else {
            item.state = State::Done;
            return Ok(());
        };
        let function = &program.functions[frame.function as usize];
        let code = function.code.as_slice();
        let mut position = frame.position as usize;

        macro_rules! stop {
            ($at:expr) => {
                if let Some(frame) = item.frames.last_mut() {
                    frame.position = $at as u32;
                }
            };
        }
        macro_rules! attempt {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(problem) => {
                        stop!(position - 1);
                        return Err(problem);
                    }
                }
            };
        }
        macro_rules! fail {
            ($problem:expr) => {{
                stop!(position - 1);
                return Err($problem);
            }};
        }
        macro_rules! view {
            () => {
                view!(true)
            };
            ($is_shared:expr) => {
                View {
                    global: site.global,
                    resources: site.resources,
                    local: &mut *site.local,
                    private: &mut item.private,
                    watch: if CHECKS {
                        let at = function.first + position as u32 - 1;
                        let (races, shadow) = (&mut *site.races, &mut *site.shadow);
                        Some(Watch { races, shadow, thread: &mut item.thread, at, is_shared: $is_shared })
                    } else {
                        None
                    },
                }
            };
        }
        macro_rules! jump {
            ($target:expr) => {{
                position = $target as usize;
                *left -= 1;
                if *left == 0 {
                    stop!(position);
                    *left = 0;
                    return Ok(());
                }
            }};
        }
        let regs = &mut item.regs[frame.base..];
        // Without checks the slice is empty, and nothing reads it.
        let poison = if CHECKS { &mut item.poison[frame.base..] } else { &mut [] };
        macro_rules! two {
            ($lane:expr, |$left:ident, $right:ident| $value:expr) => {{
                let Lane { to, a, b } = $lane;
                let ($left, $right): (u64, u64) = (regs[a as usize], regs[b as usize]);
                regs[to as usize] = $value;
                if CHECKS {
                    poison[to as usize] = spread(poison[a as usize] | poison[b as usize]);
                }
            }};
        }
        // Integer operations whose low bytes do not depend on higher ones.
        macro_rules! upward {
            ($lane:expr, |$left:ident, $right:ident| $value:expr) => {{
                let Lane { to, a, b } = $lane;
                two!($lane, |$left, $right| $value);
                if CHECKS {
                    poison[to as usize] = spread_upward(poison[a as usize] | poison[b as usize]);
                }
            }};
        }
        // Bitwise operations, in which one operand's byte can determine that of the result.
        macro_rules! bitwise {
            ($lane:expr, $absorbing:expr, |$left:ident, $right:ident| $value:expr) => {{
                let Lane { to, a, b } = $lane;
                let ($left, $right): (u64, u64) = (regs[a as usize], regs[b as usize]);
                regs[to as usize] = $value;
                if CHECKS {
                    let poison_of = [a, b].map(|slot| poison[slot as usize]);
                    poison[to as usize] = masked(($left, poison_of[0]), ($right, poison_of[1]), $absorbing);
                }
            }};
        }
        macro_rules! shift {
            ($lane:expr, $is_left:expr, |$left:ident, $right:ident| $value:expr) => {{
                let Lane { to, a, b } = $lane;
                let ($left, $right): (u64, u64) = (regs[a as usize], regs[b as usize]);
                regs[to as usize] = $value;
                if CHECKS {
                    poison[to as usize] =
                        shifted(poison[a as usize], $right, $is_left) | spread(poison[b as usize]);
                }
            }};
        }
        macro_rules! defined {
            ($slot:expr, $how:expr) => {
                if CHECKS && poison[$slot as usize] != 0 {
                    fail!(Problem::Poison(poison[$slot as usize], $how));
                }
            };
        }

        loop {
            let op = code[position];
            position += 1;
            match op {
                Op::Copy { to, from, count: 1 } => {
                    regs[to as usize] = regs[from as usize];
                    if CHECKS {
                        poison[to as usize] = poison[from as usize];
                    }
                }
                Op::Copy { to, from, count } => {
                    regs.copy_within(from as usize..(from + count) as usize, to as usize);
                    if CHECKS {
                        poison.copy_within(from as usize..(from + count) as usize, to as usize);
                    }
                }
                Op::One { f, to, a, count } => {
                    for lane in 0..count as usize {
                        regs[to as usize + lane] = f(regs[a as usize + lane]);
                        if CHECKS {
                            poison[to as usize + lane] = spread(poison[a as usize + lane]);
                        }
                    }
                }
                Op::Two { f, to, a, b, count } => {
                    for lane in 0..count as usize {
                        regs[to as usize + lane] = f(regs[a as usize + lane], regs[b as usize + lane]);
                        if CHECKS {
                            poison[to as usize + lane] =
                                spread(poison[a as usize + lane] | poison[b as usize + lane]);
                        }
                    }
                }
                Op::Three { f, to, a, b, c, count } => {
                    for lane in 0..count as usize {
                        let [x, y, z] = [a, b, c].map(|slot| regs[slot as usize + lane]);
                        regs[to as usize + lane] = f(x, y, z);
                        if CHECKS {
                            let [x, y, z] = [a, b, c].map(|slot| poison[slot as usize + lane]);
                            poison[to as usize + lane] = spread(x | y | z);
                        }
                    }
                }
                Op::AddI32(lane) => upward!(lane, |a, b| (a as u32).wrapping_add(b as u32).into()),
                Op::SubI32(lane) => upward!(lane, |a, b| (a as u32).wrapping_sub(b as u32).into()),
                Op::MulI32(lane) => upward!(lane, |a, b| (a as u32).wrapping_mul(b as u32).into()),
                Op::AddI64(lane) => upward!(lane, |a, b| a.wrapping_add(b)),
                Op::SubI64(lane) => upward!(lane, |a, b| a.wrapping_sub(b)),
                Op::MulI64(lane) => upward!(lane, |a, b| a.wrapping_mul(b)),
                Op::ShiftLeftI32(lane) => shift!(lane, true, |a, b| (a as u32).wrapping_shl(b as u32).into()),
                Op::ShiftRightI32(lane) => {
                    shift!(lane, false, |a, b| (a as u32).wrapping_shr(b as u32).into())
                }
                Op::ShiftLeftI64(lane) => shift!(lane, true, |a, b| a.wrapping_shl(b as u32)),
                Op::ShiftRightI64(lane) => shift!(lane, false, |a, b| a.wrapping_shr(b as u32)),
                Op::And(lane) => bitwise!(lane, 0, |a, b| a & b),
                Op::Or(lane) => bitwise!(lane, 0xff, |a, b| a | b),
                Op::Xor(lane) => two!(lane, |a, b| a ^ b),
                Op::Equal(lane) => two!(lane, |a, b| (a == b).into()),
                Op::NotEqual(lane) => two!(lane, |a, b| (a != b).into()),
                Op::LessU(lane) => two!(lane, |a, b| (a < b).into()),
                Op::LessEqualU(lane) => two!(lane, |a, b| (a <= b).into()),
                Op::LessI32(lane) => two!(lane, |a, b| ((a as i32) < b as i32).into()),
                Op::LessEqualI32(lane) => two!(lane, |a, b| (a as i32 <= b as i32).into()),
                Op::AddF32(lane) => two!(lane, |a, b| floats(a, b, |a, b| a + b)),
                Op::SubF32(lane) => two!(lane, |a, b| floats(a, b, |a, b| a - b)),
                Op::MulF32(lane) => two!(lane, |a, b| floats(a, b, |a, b| a * b)),
                Op::Convert { how, to, from, count } => {
                    let how = &tables.conversions[how as usize];
                    for lane in 0..count as usize {
                        regs[to as usize + lane] = alu::convert(how, regs[from as usize + lane]);
                        if CHECKS {
                            poison[to as usize + lane] = spread(poison[from as usize + lane]);
                        }
                    }
                }
                Op::Truncate { to, from, count, size } => {
                    for lane in 0..count as usize {
                        regs[to as usize + lane] = alu::truncated(size, regs[from as usize + lane]);
                        if CHECKS {
                            poison[to as usize + lane] = truncated(poison[from as usize + lane], size);
                        }
                    }
                }
                Op::Select { to, condition, a, b, count, per_lane } => {
                    for lane in 0..count as usize {
                        let which = condition as usize + if per_lane { lane } else { 0 };
                        let chosen = if regs[which] != 0 { a } else { b } as usize + lane;
                        regs[to as usize + lane] = regs[chosen];
                        if CHECKS {
                            poison[to as usize + lane] = poison[chosen] | spread(poison[which]);
                        }
                    }
                }
                Op::ExtractDynamic { to, vector, index, count } => {
                    let lane = regs[index as usize].min(u64::from(count) - 1) as usize;
                    regs[to as usize] = regs[vector as usize + lane];
                    if CHECKS {
                        poison[to as usize] = poison[vector as usize + lane] | spread(poison[index as usize]);
                    }
                }
                Op::InsertDynamic { to, scalar, index, count } => {
                    defined!(index, Use::Operand);
                    let lane = regs[index as usize].min(u64::from(count) - 1) as usize;
                    regs[to as usize + lane] = regs[scalar as usize];
                    if CHECKS {
                        poison[to as usize + lane] = poison[scalar as usize];
                    }
                }
                Op::Repack { to, from, count, from_size, to_size } => {
                    repack(regs, to, from, count, from_size, to_size);
                    if CHECKS {
                        repack_poison(poison, to, from, count, from_size, to_size);
                    }
                }
                Op::Any { to, from, count } => {
                    let lanes = from as usize..from as usize + count as usize;
                    regs[to as usize] = regs[lanes.clone()].iter().any(|lane| *lane != 0).into();
                    if CHECKS {
                        poison[to as usize] = spread(union(&poison[lanes]));
                    }
                }
                Op::All { to, from, count } => {
                    let lanes = from as usize..from as usize + count as usize;
                    regs[to as usize] = regs[lanes.clone()].iter().all(|lane| *lane != 0).into();
                    if CHECKS {
                        poison[to as usize] = spread(union(&poison[lanes]));
                    }
                }
                Op::Undefined { to, count } => {
                    regs[to as usize..(to + count) as usize].fill(0);
                    if CHECKS {
                        poison[to as usize..(to + count) as usize].fill(UNWRITTEN);
                    }
                }

                Op::Offset { to, base, index, size, stride } => {
                    let index_value = alu::signed(size, regs[index as usize]);
                    let bytes = index_value.wrapping_mul(stride);
                    regs[to as usize] = regs[base as usize].wrapping_add(bytes as u64);
                    if CHECKS {
                        poison[to as usize] = spread(poison[base as usize] | poison[index as usize]);
                    }
                }
                Op::Advance { to, base, bytes } => {
                    regs[to as usize] = regs[base as usize].wrapping_add(bytes as u64);
                    if CHECKS {
                        poison[to as usize] = poison[base as usize];
                    }
                }
                Op::Variable { to, object } => {
                    regs[to as usize] = Space::Private.address(frame.objects + object);
                    if CHECKS {
                        poison[to as usize] = 0;
                    }
                }
                Op::Input { to, input, component, count, size } => {
                    let values = site.place.input(item.index, input);
                    for lane in 0..count as usize {
                        let value = values.get(lane + component as usize).copied().unwrap_or(0);
                        regs[to as usize + lane] = alu::truncated(size, value);
                    }
                    if CHECKS {
                        poison[to as usize..to as usize + count as usize].fill(0);
                    }
                }
                Op::Load { to, pointer, size, count, how } => {
                    let address = regs[pointer as usize];
                    let bytes = u64::from(size) * u64::from(count);
                    if CHECKS {
                        defined!(pointer, Use::Address);
                        attempt!(View::aligned(address, how.align, Access::Read));
                    }
                    let mut view = view!(how.is_shared);
                    let Found { cells, at, poison: bytes } =
                        attempt!(view.reach::<CHECKS>(address, bytes, Access::Read));
                    for lane in 0..count as usize {
                        regs[to as usize + lane] = cells.load(at + (lane * size as usize) as u64, size);
                    }
                    if CHECKS {
                        let lanes = &mut poison[to as usize..to as usize + count as usize];
                        note_loaded(bytes, lanes, size);
                    }
                }
                Op::LoadParts { to, pointer, parts, how } => {
                    let address = regs[pointer as usize];
                    if CHECKS {
                        defined!(pointer, Use::Address);
                        attempt!(View::aligned(address, how.align, Access::Read));
                    }
                    let mut view = view!(how.is_shared);
                    let mut slot = to as usize;
                    for part in &tables.parts[parts as usize] {
                        let address = address.wrapping_add(part.offset);
                        let bytes = u64::from(part.size) * u64::from(part.count);
                        let Found { cells, at, poison: bytes } =
                            attempt!(view.reach::<CHECKS>(address, bytes, Access::Read));
                        for lane in 0..part.count as usize {
                            let byte = at + (lane * part.size as usize) as u64;
                            regs[slot + lane] = cells.load(byte, part.size);
                        }
                        if CHECKS {
                            let lanes = &mut poison[slot..slot + part.count as usize];
                            note_loaded(bytes, lanes, part.size);
                        }
                        slot += part.count as usize;
                    }
                }
                Op::Store { pointer, from, size, count, how } => {
                    let address = regs[pointer as usize];
                    let bytes = u64::from(size) * u64::from(count);
                    if CHECKS {
                        defined!(pointer, Use::Address);
                        attempt!(View::aligned(address, how.align, Access::Write));
                    }
                    let mut view = view!(how.is_shared);
                    let Found { cells, at, poison: bytes } =
                        attempt!(view.reach::<CHECKS>(address, bytes, Access::Write));
                    for lane in 0..count as usize {
                        let byte = at + (lane * size as usize) as u64;
                        cells.store(byte, size, regs[from as usize + lane]);
                    }
                    if CHECKS {
                        let lanes = &poison[from as usize..from as usize + count as usize];
                        attempt!(note_stored(bytes, lanes, size));
                    }
                }
                Op::StoreParts { pointer, from, parts, how } => {
                    let address = regs[pointer as usize];
                    if CHECKS {
                        defined!(pointer, Use::Address);
                        attempt!(View::aligned(address, how.align, Access::Write));
                    }
                    let mut view = view!(how.is_shared);
                    let mut slot = from as usize;
                    for part in &tables.parts[parts as usize] {
                        let address = address.wrapping_add(part.offset);
                        let bytes = u64::from(part.size) * u64::from(part.count);
                        let Found { cells, at, poison: bytes } =
                            attempt!(view.reach::<CHECKS>(address, bytes, Access::Write));
                        for lane in 0..part.count as usize {
                            let byte = at + (lane * part.size as usize) as u64;
                            cells.store(byte, part.size, regs[slot + lane]);
                        }
                        if CHECKS {
                            let lanes = &poison[slot..slot + part.count as usize];
                            attempt!(note_stored(bytes, lanes, part.size));
                        }
                        slot += part.count as usize;
                    }
                }
                Op::StoreBytes { pointer, data, how } => {
                    let address = regs[pointer as usize];
                    if CHECKS {
                        defined!(pointer, Use::Address);
                        attempt!(View::aligned(address, how.align, Access::Write));
                    }
                    let (bytes, size) = &tables.data[data as usize];
                    let mut view = view!(how.is_shared);
                    let Found { cells, at, poison } =
                        attempt!(view.reach::<CHECKS>(address, *size, Access::Write));
                    if bytes.is_empty() {
                        cells.zero(at, *size);
                    } else {
                        cells.write(at, bytes);
                    }
                    if let Some(poison) = poison {
                        poison.fill(0);
                    }
                }
                Op::CopyMemory { to, from, size, align } => {
                    let [to, from, size] = [to, from, size].map(|slot| regs[slot as usize]);
                    if CHECKS {
                        attempt!(View::aligned(to, align, Access::Write));
                    }
                    attempt!(view!().copy::<CHECKS>(to, from, size));
                }
                Op::Forget { pointer, size } => {
                    if CHECKS && let Some(bytes) = view!().poison(regs[pointer as usize], size.into()) {
                        bytes.fill(UNWRITTEN_BYTE);
                    }
                }
                Op::ToSpace { to, pointer, space } => {
                    let address = regs[pointer as usize];
                    regs[to as usize] = if (address >> 60) as u8 == space { address } else { 0 };
                    if CHECKS {
                        poison[to as usize] = poison[pointer as usize];
                    }
                }
                Op::SpaceSemantics { to, pointer } => {
                    const WORKGROUP: u64 = 0x100;
                    const CROSS_WORKGROUP: u64 = 0x200;
                    regs[to as usize] = match Place::of(regs[pointer as usize]).map(|place| place.space) {
                        Some(Space::Global) => CROSS_WORKGROUP,
                        Some(Space::Local) => WORKGROUP,
                        _ => 0,
                    };
                    if CHECKS {
                        poison[to as usize] = poison[pointer as usize];
                    }
                }
                Op::Atomic(number) => {
                    let atomic = &tables.atomics[number as usize];
                    if CHECKS {
                        defined!(atomic.pointer, Use::Address);
                        if super::atomic::takes_value(atomic.action) {
                            defined!(atomic.value, Use::Operand);
                        }
                    }
                    let address = regs[atomic.pointer as usize];
                    let view = view!();
                    let (old, writes) = attempt!(super::atomic::perform(&view, atomic, regs));
                    let mut kept = 0;
                    if CHECKS {
                        let reads = !matches!(atomic.action, Action::Store | Action::Clear);
                        let failed = atomic.action == Action::CompareExchange && !writes;
                        let semantics = if failed { atomic.failure } else { atomic.semantics };
                        for slot in [atomic.scope.slot(), semantics.slot()].into_iter().flatten() {
                            defined!(slot, Use::Operand);
                        }
                        let (scope, semantics) = (atomic.scope.get(regs), semantics.get(regs));
                        let how = Synchronisation { scope, semantics, reads, writes };
                        let at = function.first + position as u32 - 1;
                        let (thread, size) = (&mut item.thread, atomic.scalar.size());
                        attempt!(site.races.atomic(site.shadow, thread, (address, size), how, at));
                        let mut view = view!();
                        let bytes = view.poison(address, size.into());
                        let value = regs[atomic.value as usize];
                        kept =
                            bytes.map_or(0, |bytes| super::atomic::poison(atomic.action, bytes, old, value));
                    }
                    if let Some(to) = atomic.to {
                        regs[to as usize] = old;
                        if CHECKS {
                            poison[to as usize] = kept;
                        }
                    }
                    *left = left.saturating_sub(ATOMIC_COST).max(1);
                }
                Op::Fence(number) => {
                    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                    if CHECKS {
                        let fence = &tables.fences[number as usize];
                        for slot in [fence.scope.slot(), fence.semantics.slot()].into_iter().flatten() {
                            defined!(slot, Use::Operand);
                        }
                        item.thread.fence(fence.scope.get(regs), fence.semantics.get(regs));
                    }
                }
                Op::Meet(number) => {
                    item.state = State::Waiting(number);
                    stop!(position);
                    return Ok(());
                }
                Op::Library(number) => {
                    let library = &tables.libraries[number as usize];
                    let mut view = view!();
                    attempt!(super::library::call::<CHECKS>(
                        &mut view,
                        library,
                        regs,
                        poison,
                        &mut site.printed
                    ));
                }
                Op::Image(number) => {
                    let op = &tables.images[number as usize];
                    let mut view = view!(op.is_shared);
                    attempt!(super::image::perform::<CHECKS>(&mut view, op, regs, poison));
                }
                Op::Pipe(number) => {
                    let op = &tables.pipes[number as usize];
                    let mut view = view!();
                    attempt!(super::pipe::perform::<CHECKS>(&mut view, op, regs, poison));
                    // Work-items that poll a pipe yield to others.
                    *left = left.saturating_sub(ATOMIC_COST).max(1);
                }
                Op::Enqueue(number) => {
                    let op = &tables.enqueues[number as usize];
                    let mut view = view!();
                    attempt!(super::enqueue::perform::<CHECKS>(&mut view, site.queue, op, regs, poison));
                }
                Op::Jump(target) => jump!(target),
                Op::Branch { condition, then, otherwise } => {
                    defined!(condition, Use::Branch);
                    jump!(if regs[condition as usize] != 0 { then } else { otherwise });
                }
                Op::Switch(number) => {
                    let switch = &tables.switches[number as usize];
                    defined!(switch.selector, Use::Branch);
                    let value = regs[switch.selector as usize];
                    let case = switch.cases.iter().find(|case| case.0 == value);
                    jump!(case.map_or(switch.default, |case| case.1));
                }
                Op::Call(number) => {
                    let call = &tables.calls[number as usize];
                    let function = &program.functions[call.function as usize];
                    if function.is_import {
                        fail!(Problem::Missing(function.name.clone()));
                    }
                    stop!(position);
                    if let Err(problem) = item.enter::<CHECKS>(call.function, function, call.to) {
                        stop!(position - 1);
                        return Err(problem);
                    }
                    let (caller, callee) = (frame.base, item.frames.last().map_or(0, |frame| frame.base));
                    let mut to = callee;
                    for &(from, count) in &call.arguments {
                        let from = caller + from as usize;
                        item.regs.copy_within(from..from + count as usize, to);
                        if CHECKS {
                            item.poison.copy_within(from..from + count as usize, to);
                        }
                        to += count as usize;
                    }
                    *left -= 1;
                    if *left == 0 {
                        return Ok(());
                    }
                    continue 'frame;
                }
                Op::Return => {
                    item.leave();
                    continue 'frame;
                }
                Op::ReturnValue { from, count } => {
                    let from = frame.base + from as usize;
                    let caller = item.frames.len().checked_sub(2).map(|index| item.frames[index].base);
                    if let Some(caller) = caller {
                        let to = caller + frame.to as usize;
                        item.regs.copy_within(from..from + count as usize, to);
                        if CHECKS {
                            item.poison.copy_within(from..from + count as usize, to);
                        }
                    }
                    item.leave();
                    continue 'frame;
                }
                Op::Unreachable => fail!(Problem::Unreachable),

                Op::Taint { f, to, a, b, count, why } => {
                    for lane in 0..count as usize {
                        let [x, y] = [a, b].map(|slot| regs[slot as usize + lane]);
                        if CHECKS && f(x, y) != 0 {
                            poison[to as usize + lane] |= why;
                        }
                    }
                }
                Op::CheckIndex { index, size, length } => {
                    defined!(index, Use::Address);
                    let index = alu::signed(size, regs[index as usize]);
                    if u64::try_from(index).map_or(true, |index| index >= length) {
                        fail!(Problem::Index { index, length });
                    }
                }
                Op::CheckDivision { a, b, count, size, is_signed } => {
                    for lane in 0..count as usize {
                        let divisor = regs[b as usize + lane];
                        defined!(b as usize + lane, Use::Operand);
                        if divisor == 0 {
                            fail!(Problem::DivisionByZero);
                        }
                        let smallest = 1 << (8 * u32::from(size) - 1);
                        let minus_one = alu::truncated(size, u64::MAX);
                        if is_signed && divisor == minus_one && regs[a as usize + lane] == smallest {
                            fail!(Problem::DivisionOverflow);
                        }
                    }
                }
                Op::CheckShift { b, count, bits } => {
                    for lane in 0..count as usize {
                        let amount = regs[b as usize + lane];
                        if amount >= bits.into() {
                            fail!(Problem::Shift { amount, bits });
                        }
                    }
                }
                Op::CheckConversion { how, from, count } => {
                    let how = &tables.conversions[how as usize];
                    for lane in 0..count as usize {
                        let from = from as usize + lane;
                        if CHECKS && poison[from] == 0 && !alu::fits(how, regs[from]) {
                            fail!(Problem::Conversion);
                        }
                    }
                }
                Op::CheckOperands { f, a, b, count, what } => {
                    for lane in 0..count as usize {
                        let [a, b] = [a, b].map(|slot| slot as usize + lane);
                        if CHECKS && poison[a] | poison[b] == 0 && f(regs[a], regs[b]) != 0 {
                            fail!(Problem::Without(what));
                        }
                    }
                }
                Op::CheckOverflow { a, b, count, size, operation } => {
                    for lane in 0..count as usize {
                        let [x, y] = [a, b].map(|slot| alu::signed(size, regs[slot as usize + lane]));
                        let exact = match operation {
                            Overflow::Add => x.checked_add(y),
                            Overflow::Subtract => x.checked_sub(y),
                            Overflow::Multiply => x.checked_mul(y),
                        };
                        if exact.is_none_or(|exact| alu::signed(size, exact as u64) != exact) {
                            fail!(Problem::Overflow(operation));
                        }
                    }
                }
            }
        }
    }
}

/// Applies a function to two floats in registers.
#[inline(always)]
fn floats(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into()
}

/// Strict: poisons loaded lanes with poisoned bytes.
#[inline(always)]
fn note_loaded(bytes: Option<&mut [BytePoison]>, lanes: &mut [Poison], size: u8) {
    match bytes {
        Some(bytes) => {
            for (lane, bytes) in lanes.iter_mut().zip(bytes.chunks(size.into())) {
                *lane = of_bytes(bytes);
            }
        }
        None => lanes.fill(0),
    }
}

/// Strict: a store to local or private memory stores the poison of the value; a value stored to global memory must be
/// defined. The last of four components may be the padding of a 3-component vector.
#[inline(always)]
fn note_stored(bytes: Option<&mut [BytePoison]>, lanes: &[Poison], size: u8) -> Result<(), Problem> {
    match bytes {
        Some(bytes) => {
            for (bytes, lane) in bytes.chunks_mut(size.into()).zip(lanes) {
                to_bytes(*lane, bytes);
            }
            Ok(())
        }
        None => {
            let counted = if lanes.len() == 4 { &lanes[..3] } else { lanes };
            match union(counted) {
                0 => Ok(()),
                why => Err(Problem::Poison(why, Use::Stored)),
            }
        }
    }
}

/// Reinterprets the bytes as lanes of another size.
fn repack(regs: &mut [u64], to: Slot, from: Slot, count: u16, from_size: u8, to_size: u8) {
    let (from_size, to_size) = (usize::from(from_size), usize::from(to_size));
    let mut bytes = [0u8; 128];
    let total = (usize::from(count) * from_size).min(128);
    for (lane, place) in bytes[..total].chunks_mut(from_size).enumerate() {
        let value = regs[from as usize + lane].to_le_bytes();
        place.copy_from_slice(&value[..place.len()]);
    }
    for (lane, part) in bytes[..total].chunks(to_size).enumerate() {
        let mut value = [0; 8];
        value[..part.len()].copy_from_slice(part);
        regs[to as usize + lane] = u64::from_le_bytes(value);
    }
}

fn repack_poison(poison: &mut [Poison], to: Slot, from: Slot, count: u16, from_size: u8, to_size: u8) {
    let (from_size, to_size) = (usize::from(from_size), usize::from(to_size));
    let mut bytes = [0; 128];
    let total = (usize::from(count) * from_size).min(128);
    for (lane, place) in bytes[..total].chunks_mut(from_size).enumerate() {
        to_bytes(poison[from as usize + lane], place);
    }
    for (lane, part) in bytes[..total].chunks(to_size).enumerate() {
        poison[to as usize + lane] = of_bytes(part);
    }
}
