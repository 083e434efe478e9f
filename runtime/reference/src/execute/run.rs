//! The interpreter loop: runs one work-item until it must stop.
//!
//! Owns the effect of each operation on registers and control flow. Must not depend on other work-items: it stops at
//! collective operations.

use super::{
    access::access,
    atomic::Effect,
    enqueue::Queue,
    group_position::GroupPosition,
    item::{Frame, Item, Private, State},
    polls::Polls,
    printf::Printed,
    races::{Races, Shadow, Synchronization, Thread},
    registers::Registers,
    resource::Resource,
    view::{Local, RaceCheck, View},
};
use crate::{
    ItemId, Monitor, Point, WorkItem,
    code::{Action, Atomic, Function, Op, Position, Program, Slot, Tables},
    memory::Objects,
    poison::Shift,
    report::{Problem, Use},
};

/// The state of a work-group that its work-items access.
pub(crate) struct GroupState<'a> {
    pub(crate) program: &'a Program,
    pub(crate) position: GroupPosition<'a>,
    pub(crate) global: &'a Objects,
    pub(crate) resources: &'a [Option<Resource>],
    pub(crate) local: &'a mut [Local],
    pub(crate) races: &'a mut Races,
    pub(crate) shadow: &'a mut Shadow,
    pub(crate) printed: Printed<'a>,
    pub(crate) queue: &'a Queue,
    /// The linear index of the group.
    pub(crate) number: u32,
    pub(crate) monitor: Option<&'a dyn Monitor>,
}

/// The number of steps that a poll counts as, so that spinning work-items yield.
const POLL_STEPS: u64 = 2048;

/// The state of a running function, except its registers.
pub(super) struct Machine<'m, 's> {
    pub(super) site: &'m mut GroupState<'s>,
    private: &'m mut Private,
    thread: &'m mut Thread,
    polls: &'m mut Polls,
    /// Whether the last operation of this kind only waited for another work-item.
    is_polling: bool,
    /// The work-item's index in its group.
    pub(super) index: u32,
    /// The number of the function's first variable.
    pub(super) objects: u32,
}

impl<'s> Machine<'_, 's> {
    /// Records what an operation has seen in an object, and whether it changed the object.
    #[inline(always)]
    fn note(&mut self, address: u64, seen: u64, changes: bool) {
        if changes {
            self.polls.clear();
        } else {
            self.is_polling = self.polls.repeats(address, seen);
        }
    }

    /// The memory that the work-item can access.
    #[inline(always)]
    pub(super) fn view<const CHECKS: bool>(&mut self, is_shared: bool, at: u32) -> View<'_> {
        self.view_and_output::<CHECKS>(is_shared, at).0
    }

    /// The memory that the work-item can access, and the output of `printf`.
    #[inline(always)]
    fn view_and_output<const CHECKS: bool>(
        &mut self,
        is_shared: bool,
        at: u32,
    ) -> (View<'_>, &mut Printed<'s>) {
        let view = View {
            global: self.site.global,
            resources: self.site.resources,
            local: &mut *self.site.local,
            private: &mut *self.private,
            race_check: CHECKS.then_some(RaceCheck {
                races: &mut *self.site.races,
                shadow: &mut *self.site.shadow,
                thread: &mut *self.thread,
                at,
                is_shared,
            }),
        };
        (view, &mut self.site.printed)
    }
}

/// Runs a work-item for a number of jumps.
pub(crate) fn run<const CHECKS: bool>(
    site: &mut GroupState<'_>,
    item: &mut Item,
    slice: u64,
) -> Result<(), Problem> {
    let mut left = slice;
    let result = frames::<CHECKS>(site, item, &mut left);
    item.steps += slice - left;
    result
}

/// Runs a work-item until it is done or stops. Stores its position.
fn frames<const CHECKS: bool>(
    site: &mut GroupState<'_>,
    item: &mut Item,
    left: &mut u64,
) -> Result<(), Problem> {
    let program = site.program;
    while *left > 0 {
        let Some(&frame) = item.frames.last() else {
            item.state = State::Done;
            return Ok(());
        };
        let mut registers = Registers {
            values: &mut item.regs[frame.base..],
            poison: if CHECKS { &mut item.poison[frame.base..] } else { &mut [] },
        };
        let mut machine = Machine {
            site,
            private: &mut item.private,
            thread: &mut item.thread,
            polls: &mut item.polls,
            is_polling: false,
            index: item.index,
            objects: frame.objects,
        };
        let function = &program.functions[frame.function as usize];
        let (position, exit) =
            execute::<CHECKS>(&mut machine, &mut registers, program, function, frame.position, left);
        if let Some(frame) = item.frames.last_mut() {
            frame.position = position;
        }
        match exit {
            Exit::Call(number) => {
                if let Err(problem) = enter::<CHECKS>(program, item, frame, number) {
                    if let Some(frame) = item.frames.last_mut() {
                        frame.position = position - 1;
                    }
                    return Err(problem);
                }
                *left -= 1;
            }
            Exit::Return { from, count } => {
                leave::<CHECKS>(item, frame, from, count);
                if site.monitor.is_some_and(|monitor| reaches(site, item, monitor, Arrival::Returned)) {
                    return Ok(());
                }
            }
            Exit::Statement => {
                if site.monitor.is_some_and(|monitor| reaches(site, item, monitor, Arrival::Statement)) {
                    return Ok(());
                }
            }
            Exit::Collective(number) => {
                item.state = State::Waiting(number);
                return Ok(());
            }
            Exit::Slice => return Ok(()),
            Exit::Problem(problem) => return Err(problem),
        }
    }
    Ok(())
}

/// Why execution of a function stopped.
enum Exit {
    /// A call, by its number.
    Call(u32),
    /// With these registers as the result.
    Return {
        from: Slot,
        count: u32,
    },
    /// Waits for others at this collective operation.
    Collective(u32),
    /// At the beginning of a statement.
    Statement,
    /// The time slice has ended.
    Slice,
    Problem(Problem),
}

/// Executes the code of a function. Returns the position of the next operation or, after a problem, of the operation
/// that failed.
#[inline(always)]
fn execute<const CHECKS: bool>(
    machine: &mut Machine<'_, '_>,
    registers: &mut Registers<'_>,
    program: &Program,
    function: &Function,
    position: Position,
    left: &mut u64,
) -> (Position, Exit) {
    let (tables, code) = (&program.tables, function.code.as_slice());
    let mut position = position as usize;
    macro_rules! attempt {
        ($result:expr) => {
            if let Err(problem) = $result {
                return (position as Position - 1, Exit::Problem(problem));
            }
        };
    }
    macro_rules! jump {
        ($target:expr) => {{
            position = $target as usize;
            *left -= 1;
            if *left == 0 {
                return (position as Position, Exit::Slice);
            }
        }};
    }
    loop {
        let op = code[position];
        position += 1;
        match op {
            Op::Copy { to, from, count: 1 } => registers.copy_one::<CHECKS>(to, from),
            Op::Copy { to, from, count } => registers.copy::<CHECKS>(to, from, count),
            Op::One { f, to, a, count } => registers.map_one::<CHECKS>(f, to, a, count),
            Op::Two { f, to, a, b, count } => registers.map_two::<CHECKS>(f, to, [a, b], count),
            Op::Three { f, to, a, b, c, count } => registers.map_three::<CHECKS>(f, to, [a, b, c], count),
            Op::AddI32(lane) => {
                registers.lane_upward::<CHECKS>(lane, |a, b| (a as u32).wrapping_add(b as u32).into())
            }
            Op::SubI32(lane) => {
                registers.lane_upward::<CHECKS>(lane, |a, b| (a as u32).wrapping_sub(b as u32).into())
            }
            Op::MulI32(lane) => {
                registers.lane_upward::<CHECKS>(lane, |a, b| (a as u32).wrapping_mul(b as u32).into())
            }
            Op::AddI64(lane) => registers.lane_upward::<CHECKS>(lane, |a, b| a.wrapping_add(b)),
            Op::SubI64(lane) => registers.lane_upward::<CHECKS>(lane, |a, b| a.wrapping_sub(b)),
            Op::MulI64(lane) => registers.lane_upward::<CHECKS>(lane, |a, b| a.wrapping_mul(b)),
            Op::ShiftLeftI32(lane) => {
                let shift = (Shift::Left, 4);
                registers.lane_shift::<CHECKS>(lane, shift, |a, b| (a as u32).wrapping_shl(b as u32).into())
            }
            Op::ShiftRightI32(lane) => {
                let shift = (Shift::Right, 4);
                registers.lane_shift::<CHECKS>(lane, shift, |a, b| (a as u32).wrapping_shr(b as u32).into())
            }
            Op::ShiftLeftI64(lane) => {
                registers.lane_shift::<CHECKS>(lane, (Shift::Left, 8), |a, b| a.wrapping_shl(b as u32))
            }
            Op::ShiftRightI64(lane) => {
                registers.lane_shift::<CHECKS>(lane, (Shift::Right, 8), |a, b| a.wrapping_shr(b as u32))
            }
            Op::Shift { f, lane, shift, size } => registers.lane_shift::<CHECKS>(lane, (shift, size), f),
            Op::And(lane) => registers.lane_bitwise::<CHECKS>(lane, 0, |a, b| a & b),
            Op::Or(lane) => registers.lane_bitwise::<CHECKS>(lane, u64::MAX, |a, b| a | b),
            Op::LogicalOr(lane) => registers.lane_bitwise::<CHECKS>(lane, 1, |a, b| a | b),
            Op::Xor(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| a ^ b),
            Op::Equal(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| (a == b).into()),
            Op::NotEqual(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| (a != b).into()),
            Op::LessU(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| (a < b).into()),
            Op::LessEqualU(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| (a <= b).into()),
            Op::LessI32(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| ((a as i32) < b as i32).into()),
            Op::LessEqualI32(lane) => {
                registers.lane_binary::<CHECKS>(lane, |a, b| (a as i32 <= b as i32).into())
            }
            Op::AddF32(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| floats(a, b, |a, b| a + b)),
            Op::SubF32(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| floats(a, b, |a, b| a - b)),
            Op::MulF32(lane) => registers.lane_binary::<CHECKS>(lane, |a, b| floats(a, b, |a, b| a * b)),
            Op::Offset { to, base, index, size, stride } => {
                registers.offset::<CHECKS>(to, [base, index], size, stride);
            }
            Op::Advance { to, base, bytes } => registers.advance::<CHECKS>(to, base, bytes),
            Op::Jump(target) => jump!(target),
            Op::Branch { condition, then, otherwise } => {
                attempt!(registers.defined::<CHECKS>(condition as usize, Use::Branch));
                jump!(if registers.values[condition as usize] != 0 { then } else { otherwise });
            }
            Op::Switch(number) => {
                let switch = &tables.switches[number as usize];
                attempt!(registers.defined::<CHECKS>(switch.selector as usize, Use::Branch));
                let value = registers.values[switch.selector as usize];
                let case = switch.cases.iter().find(|case| case.0 == value);
                jump!(case.map_or(switch.default, |case| case.1));
            }
            Op::Call(number) => return (position as Position, Exit::Call(number)),
            Op::Return => return (position as Position, Exit::Return { from: 0, count: 0 }),
            Op::ReturnValue { from, count } => return (position as Position, Exit::Return { from, count }),
            Op::Collective(number) => return (position as Position, Exit::Collective(number)),
            Op::Statement => return (position as Position, Exit::Statement),
            Op::Unreachable => return (position as Position - 1, Exit::Problem(Problem::Unreachable)),
            Op::Variable { .. }
            | Op::Input { .. }
            | Op::Load { .. }
            | Op::LoadParts { .. }
            | Op::Store { .. }
            | Op::StoreParts { .. }
            | Op::StoreBytes { .. }
            | Op::CopyMemory { .. }
            | Op::Forget { .. }
            | Op::ToSpace { .. }
            | Op::SpaceSemantics { .. } => {
                let at = function.first + position as u32 - 1;
                attempt!(access::<CHECKS>(op, machine, registers, tables, at));
            }
            Op::Atomic(_) | Op::Fence(_) | Op::Library(_) | Op::Image(_) | Op::Pipe(_) | Op::Enqueue(_) => {
                let at = function.first + position as u32 - 1;
                machine.is_polling = false;
                attempt!(call_out::<CHECKS>(op, machine, registers, tables, at));
                // Work-items that poll an object yield to others.
                if machine.is_polling {
                    *left = left.saturating_sub(POLL_STEPS).max(1);
                }
            }
            Op::InsertDynamic { .. }
            | Op::Taint { .. }
            | Op::CheckIndex { .. }
            | Op::CheckDivision { .. }
            | Op::CheckShift { .. }
            | Op::CheckConversion { .. }
            | Op::CheckOperands { .. }
            | Op::CheckOverflow { .. } => attempt!(registers.check::<CHECKS>(op, tables)),
            _ => registers.compute::<CHECKS>(op, tables),
        }
    }
}

/// How a work-item reaches a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Statement,
    /// A call in this line has returned.
    Returned,
}

/// Informs the debugger. Returns whether the work-item stops.
fn reaches(site: &GroupState<'_>, item: &mut Item, monitor: &dyn Monitor, arrival: Arrival) -> bool {
    let program = site.program;
    let Some(frame) = item.frames.last_mut() else {
        monitor.on_return(ItemId { group: site.number, index: item.index });
        return false;
    };
    // The position is after the statement's mark, or after the call.
    let function = &program.functions[frame.function as usize];
    let Some(line) = function.line(frame.position.saturating_sub(1)) else { return false };
    let Some(file) = program.files.get(line.file as usize) else { return false };
    let returns = arrival == Arrival::Returned;
    let is_new_line = !returns && frame.line != (line.file, line.line);
    frame.line = (line.file, line.line);
    let work_item = WorkItem {
        position: site.position,
        number: site.number,
        item,
        global: site.global,
        local: &*site.local,
        races: &*site.races,
        shadow: &*site.shadow,
    };
    let point = Point { item: work_item, file, line: line.line, is_new_line, returns };
    item.is_stopped = monitor.stops_at(&point);
    item.is_stopped
}

/// Calls a function with arguments of the caller's registers.
fn enter<const CHECKS: bool>(
    program: &Program,
    item: &mut Item,
    frame: Frame,
    number: u32,
) -> Result<(), Problem> {
    let call = &program.tables.calls[number as usize];
    let function = &program.functions[call.function as usize];
    if function.is_import {
        return Err(Problem::Missing(function.name.clone()));
    }
    item.enter::<CHECKS>(call.function, function, call.to)?;
    let mut to = item.frames.last().map_or(0, |frame| frame.base);
    for &(from, count) in &call.arguments {
        let from = frame.base + from as usize;
        item.regs.copy_within(from..from + count as usize, to);
        if CHECKS {
            item.poison.copy_within(from..from + count as usize, to);
        }
        to += count as usize;
    }
    Ok(())
}

/// Leaves a function and copies its result to the caller's registers.
fn leave<const CHECKS: bool>(item: &mut Item, frame: Frame, from: Slot, count: u32) {
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
}

/// Executes an operation that is a function of another module. `at` is its position in the program.
#[inline(always)]
fn call_out<const CHECKS: bool>(
    op: Op,
    machine: &mut Machine<'_, '_>,
    registers: &mut Registers<'_>,
    tables: &Tables,
    at: u32,
) -> Result<(), Problem> {
    match op {
        Op::Atomic(number) => atomic::<CHECKS>(&tables.atomics[number as usize], machine, registers, at)?,
        Op::Fence(number) => {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            if CHECKS {
                let fence = &tables.fences[number as usize];
                for slot in [fence.scope.slot(), fence.semantics.slot()].into_iter().flatten() {
                    registers.defined::<CHECKS>(slot as usize, Use::Operand)?;
                }
                machine
                    .thread
                    .fence(fence.scope.get(registers.values), fence.semantics.get(registers.values));
            }
        }
        Op::Library(number) => {
            let library = &tables.libraries[number as usize];
            let (mut view, output) = machine.view_and_output::<CHECKS>(true, at);
            super::library::call::<CHECKS>(&mut view, library, registers.values, registers.poison, output)?;
        }
        Op::Image(number) => {
            let op = &tables.images[number as usize];
            let mut view = machine.view::<CHECKS>(op.is_shared, at);
            super::image::perform::<CHECKS>(&mut view, op, registers.values, registers.poison)?;
        }
        Op::Pipe(number) => {
            let op = &tables.pipes[number as usize];
            let mut view = machine.view::<CHECKS>(true, at);
            let changes = super::pipe::perform::<CHECKS>(&mut view, op, registers.values, registers.poison)?;
            let seen = |slot: Slot| registers.values[slot as usize];
            machine.note(op.pipe.map_or(0, seen), seen(op.to), changes);
        }
        Op::Enqueue(number) => {
            let op = &tables.enqueues[number as usize];
            let queue = machine.site.queue;
            let mut view = machine.view::<CHECKS>(true, at);
            super::enqueue::perform::<CHECKS>(&mut view, queue, op, registers.values, registers.poison)?;
        }

        _ => unreachable!("the interpreter loop executes other operations"),
    }
    Ok(())
}

#[inline(always)]
fn atomic<const CHECKS: bool>(
    atomic: &Atomic,
    machine: &mut Machine<'_, '_>,
    registers: &mut Registers<'_>,
    at: u32,
) -> Result<(), Problem> {
    if CHECKS {
        registers.defined::<CHECKS>(atomic.pointer as usize, Use::Address)?;
        if super::atomic::takes_value(atomic.action) {
            registers.defined::<CHECKS>(atomic.value as usize, Use::Operand)?;
        }
    }
    let address = registers.values[atomic.pointer as usize];
    let view = machine.view::<CHECKS>(true, at);
    let Effect { old, writes, changes } = super::atomic::perform(&view, atomic, registers.values)?;
    machine.note(address, old, changes);
    let mut kept = 0;
    if CHECKS {
        let reads = !matches!(atomic.action, Action::Store | Action::Clear);
        let failed = atomic.action == Action::CompareExchange && !writes;
        let semantics = if failed { atomic.failure } else { atomic.semantics };
        for slot in [atomic.scope.slot(), semantics.slot()].into_iter().flatten() {
            registers.defined::<CHECKS>(slot as usize, Use::Operand)?;
        }
        let (scope, semantics) = (atomic.scope.get(registers.values), semantics.get(registers.values));
        let how = Synchronization { scope, semantics, reads, writes };
        let (thread, size) = (&mut *machine.thread, atomic.scalar.size());
        machine.site.races.atomic(machine.site.shadow, thread, (address, size), how, at)?;
        let mut view = machine.view::<CHECKS>(true, at);
        let bytes = view.poison(address, size.into());
        let value = registers.values[atomic.value as usize];
        kept = bytes.map_or(0, |bytes| super::atomic::poison(atomic.action, bytes, old, value));
    }
    if let Some(to) = atomic.to {
        registers.values[to as usize] = old;
        if CHECKS {
            registers.poison[to as usize] = kept;
        }
    }
    Ok(())
}

/// Applies a function to two floats in registers.
#[inline(always)]
fn floats(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into()
}
