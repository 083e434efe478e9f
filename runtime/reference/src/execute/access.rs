//! Operations on memory: loads, stores and copies by one work-item.

use super::{
    registers::Registers,
    run::Machine,
    view::{Resolved, View},
};
use crate::{
    alu,
    code::{Op, Slot, Tables},
    memory::{Location, Space},
    poison::{BytePoison, Poison, UNWRITTEN_BYTE, of_bytes, to_bytes, union},
    report::{Access, Problem, Use},
};

/// Executes an operation on memory or on pointers. `at` is its position in the program.
#[inline(always)]
pub(super) fn access<const CHECKS: bool>(
    op: Op,
    machine: &mut Machine<'_, '_>,
    registers: &mut Registers<'_>,
    tables: &Tables,
    at: u32,
) -> Result<(), Problem> {
    match op {
        Op::Variable { to, object } => {
            registers.values[to as usize] = Space::Private.address(machine.objects + object);
            if CHECKS {
                registers.poison[to as usize] = 0;
            }
        }
        Op::Input { to, input, component, count, size } => {
            let values = machine.site.position.input(machine.index, input);
            for lane in 0..count as usize {
                let value = values.get(lane + component as usize).copied().unwrap_or(0);
                registers.values[to as usize + lane] = alu::truncated(size, value);
            }
            if CHECKS {
                registers.poison[to as usize..to as usize + count as usize].fill(0);
            }
        }
        Op::Load { to, pointer, size, count, how } => {
            let address = address::<CHECKS>(registers, pointer, how.align, Access::Read)?;
            let mut view = machine.view::<CHECKS>(how.is_shared, at);
            load::<CHECKS>(&mut view, registers, to as usize, address, size, count.into())?;
        }
        Op::LoadParts { to, pointer, parts, how } => {
            let address = address::<CHECKS>(registers, pointer, how.align, Access::Read)?;
            let mut view = machine.view::<CHECKS>(how.is_shared, at);
            let mut slot = to as usize;
            for part in &tables.parts[parts as usize] {
                let address = address.wrapping_add(part.offset);
                load::<CHECKS>(&mut view, registers, slot, address, part.size, part.count as usize)?;
                slot += part.count as usize;
            }
        }
        Op::Store { pointer, from, size, count, how } => {
            let address = address::<CHECKS>(registers, pointer, how.align, Access::Write)?;
            let mut view = machine.view::<CHECKS>(how.is_shared, at);
            store::<CHECKS>(&mut view, registers, from as usize, address, size, count.into())?;
        }
        Op::StoreParts { pointer, from, parts, how } => {
            let address = address::<CHECKS>(registers, pointer, how.align, Access::Write)?;
            let mut view = machine.view::<CHECKS>(how.is_shared, at);
            let mut slot = from as usize;
            for part in &tables.parts[parts as usize] {
                let address = address.wrapping_add(part.offset);
                store::<CHECKS>(&mut view, registers, slot, address, part.size, part.count as usize)?;
                slot += part.count as usize;
            }
        }
        Op::StoreBytes { pointer, data, how } => {
            let address = address::<CHECKS>(registers, pointer, how.align, Access::Write)?;
            let (bytes, size) = &tables.data[data as usize];
            let mut view = machine.view::<CHECKS>(how.is_shared, at);
            let Resolved { cells, at, poison } = view.resolve::<CHECKS>(address, *size, Access::Write)?;
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
            let [to, from, size] = [to, from, size].map(|slot| registers.values[slot as usize]);
            if CHECKS {
                View::aligned(to, align, Access::Write)?;
            }
            machine.view::<CHECKS>(true, at).copy::<CHECKS>(to, from, size)?;
        }
        Op::Forget { pointer, size } => {
            if CHECKS
                && let Some(bytes) =
                    machine.view::<CHECKS>(true, at).poison(registers.values[pointer as usize], size.into())
            {
                bytes.fill(UNWRITTEN_BYTE);
            }
        }
        Op::ToSpace { to, pointer, space } => {
            let address = registers.values[pointer as usize];
            registers.values[to as usize] = if (address >> 60) as u8 == space { address } else { 0 };
            if CHECKS {
                registers.poison[to as usize] = registers.poison[pointer as usize];
            }
        }
        Op::SpaceSemantics { to, pointer } => {
            const WORKGROUP: u64 = 0x100;
            const CROSS_WORKGROUP: u64 = 0x200;
            registers.values[to as usize] = match Location::from_address(registers.values[pointer as usize])
                .map(|location| location.space)
            {
                Some(Space::Global) => CROSS_WORKGROUP,
                Some(Space::Local) => WORKGROUP,
                _ => 0,
            };
            if CHECKS {
                registers.poison[to as usize] = registers.poison[pointer as usize];
            }
        }

        _ => unreachable!("the interpreter loop executes other operations"),
    }
    Ok(())
}

/// The address of an access. Strict: fails if it is poisoned or misaligned.
#[inline(always)]
fn address<const CHECKS: bool>(
    registers: &Registers<'_>,
    pointer: Slot,
    align: u8,
    access: Access,
) -> Result<u64, Problem> {
    let address = registers.values[pointer as usize];
    if CHECKS {
        registers.defined::<CHECKS>(pointer as usize, Use::Address)?;
        View::aligned(address, align, access)?;
    }
    Ok(address)
}

/// Loads lanes of this size into registers.
#[inline(always)]
fn load<const CHECKS: bool>(
    view: &mut View<'_>,
    registers: &mut Registers<'_>,
    to: usize,
    address: u64,
    size: u8,
    count: usize,
) -> Result<(), Problem> {
    let bytes = u64::from(size) * count as u64;
    let Resolved { cells, at, poison: bytes } = view.resolve::<CHECKS>(address, bytes, Access::Read)?;
    for lane in 0..count {
        registers.values[to + lane] = cells.load(at + (lane * size as usize) as u64, size);
    }
    if CHECKS {
        note_loaded(bytes, &mut registers.poison[to..to + count], size);
    }
    Ok(())
}

/// Stores registers as lanes of this size.
#[inline(always)]
fn store<const CHECKS: bool>(
    view: &mut View<'_>,
    registers: &Registers<'_>,
    from: usize,
    address: u64,
    size: u8,
    count: usize,
) -> Result<(), Problem> {
    let bytes = u64::from(size) * count as u64;
    if CHECKS {
        let lanes = &registers.poison[from..from + count];
        if union(lanes) != 0 {
            view.store_undefined(address, lanes, size)?;
        }
    }
    let Resolved { cells, at, poison } = view.resolve::<CHECKS>(address, bytes, Access::Write)?;
    for lane in 0..count {
        cells.store(at + (lane * size as usize) as u64, size, registers.values[from + lane]);
    }
    if CHECKS {
        note_stored(poison, &registers.poison[from..from + count], size);
        view.note_stored(address, bytes);
    }
    Ok(())
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

/// Strict: stores the poison of lanes.
#[inline(always)]
fn note_stored(bytes: Option<&mut [BytePoison]>, lanes: &[Poison], size: u8) {
    if let Some(bytes) = bytes {
        for (bytes, lane) in bytes.chunks_mut(size.into()).zip(lanes) {
            to_bytes(*lane, bytes);
        }
    }
}
