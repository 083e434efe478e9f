//! Pipe operations (OpenCL C 6.15.18.2 to 6.15.18.4).
//!
//! Owns the transfer of packets between pipes and memory. Must not depend on when the work-items of a group arrive.

use super::view::{RaceCheck, View};
use crate::{
    code::{Pipe, PipeAction, Slot},
    pipe::End,
    poison::{Poison, UNWRITTEN},
    report::{Access, Problem, Use},
};

/// The result if nothing can be read or written.
const FAILED: u64 = 0xffff_ffff;

/// Executes the operation. Returns whether it has changed the pipe.
pub(crate) fn perform<const CHECKS: bool>(
    view: &mut View<'_>,
    op: &Pipe,
    regs: &mut [u64],
    poison: &mut [Poison],
) -> Result<bool, Problem> {
    if CHECKS && let Some(slot) = op.operands().find(|&slot| poison[slot as usize] != 0) {
        return Err(Problem::Poison(poison[slot as usize], Use::Operand));
    }
    let value = |slot: Option<Slot>| slot.map_or(0, |slot| regs[slot as usize]);
    if op.action == PipeAction::IsValid {
        set(regs, poison, op.to, u64::from(value(op.reservation) != 0));
        return Ok(false);
    }
    let global = view.global;
    let Some(pipe) = global.pipe(value(op.pipe)) else { return Err(misuse("uses a nonexistent pipe")) };
    let mut packets = pipe.lock();
    if u64::from(packets.size()) != value(op.size) {
        return Err(misuse("uses a pipe with another packet size"));
    }
    let size = packets.size();
    let result = match op.action {
        PipeAction::Write => {
            let packet = load::<CHECKS>(view, value(op.pointer), size)?;
            if packets.write(packet) { 0 } else { FAILED }
        }
        PipeAction::Read => match packets.read() {
            Some(packet) => {
                store::<CHECKS>(view, value(op.pointer), &packet)?;
                0
            }
            None => FAILED,
        },
        PipeAction::WriteReserved => {
            let packet = load::<CHECKS>(view, value(op.pointer), size)?;
            match packets.reserved(value(op.reservation), End::Write, value(op.index) as u32) {
                Some((number, slot)) => {
                    *slot = packet;
                    // Readers are ordered after the commit, but concurrent writers of the packet race.
                    if let Some(race_check) = &mut view.race_check {
                        race_check.record_handle_access(value(op.pipe), number, true)?;
                    }
                }
                None if CHECKS => return Err(misuse("writes a packet outside its reservation")),
                None => {
                    set(regs, poison, op.to, FAILED);
                    return Ok(false);
                }
            }
            0
        }
        PipeAction::ReadReserved => {
            match packets.reserved(value(op.reservation), End::Read, value(op.index) as u32) {
                Some((_, packet)) => store::<CHECKS>(view, value(op.pointer), packet)?,
                None if CHECKS => return Err(misuse("reads a packet outside its reservation")),
                None => {
                    set(regs, poison, op.to, FAILED);
                    return Ok(false);
                }
            }
            0
        }
        PipeAction::Reserve(end) => {
            let id = packets.reserve(end, value(op.index) as u32);
            if let (1.., Some(RaceCheck { races, thread, at, .. })) = (id, &mut view.race_check) {
                races.reserve(thread, value(op.pipe), id, *at);
            }
            id
        }
        PipeAction::Commit(end) => {
            if CHECKS && end == End::Write && packets.lacks_packets(value(op.reservation)) {
                return Err(misuse("commits a packet that was never written"));
            }
            if !packets.commit(value(op.reservation), end) && CHECKS {
                return Err(misuse("commits a nonexistent reservation"));
            }
            if let Some(race_check) = &mut view.race_check {
                race_check.races.commit(value(op.pipe), value(op.reservation));
            }
            return Ok(true);
        }
        PipeAction::Ready => packets.ready().into(),
        PipeAction::MaxPackets => packets.max_packets().into(),
        PipeAction::IsValid => 0,
    };
    set(regs, poison, op.to, result);
    Ok(match op.action {
        PipeAction::Ready | PipeAction::MaxPackets => false,
        PipeAction::Reserve(_) => result != 0,
        _ => result != FAILED,
    })
}

fn set(regs: &mut [u64], poison: &mut [Poison], to: Slot, bits: u64) {
    regs[to as usize] = bits;
    if let Some(flag) = poison.get_mut(to as usize) {
        *flag = 0;
    }
}

/// Reads the bytes of a packet to write. Bytes of uninitialized packets must not be used.
fn load<const CHECKS: bool>(view: &mut View<'_>, address: u64, size: u32) -> Result<Vec<u8>, Problem> {
    if CHECKS {
        view.check_races(address, size.into(), false)?;
    }
    let (cells, at) = view.locate(address, size.into(), Access::Read)?;
    let mut packet = vec![0; size as usize];
    cells.read(at, &mut packet);
    if CHECKS && view.poison(address, size.into()).is_some_and(|poison| !poison.contains(&0)) {
        return Err(Problem::Poison(UNWRITTEN, Use::Stored));
    }
    Ok(packet)
}

fn store<const CHECKS: bool>(view: &mut View<'_>, address: u64, packet: &[u8]) -> Result<(), Problem> {
    let size = packet.len() as u64;
    if CHECKS {
        view.check_races(address, size, true)?;
    }
    let (cells, at) = view.locate(address, size, Access::Write)?;
    cells.write(at, packet);
    if CHECKS && let Some(poison) = view.poison(address, size) {
        poison.fill(0);
    }
    Ok(())
}

pub(super) fn misuse(message: &str) -> Problem {
    Problem::Misuse { kind: "pipe", message: message.to_owned() }
}
