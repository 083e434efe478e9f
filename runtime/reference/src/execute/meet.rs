//! Collective operations: barriers, votes, scans, shuffles, copies.
//!
//! Owns the collective functions (OpenCL C 6.15.16, 6.15.19). Must not depend on when work-items meet.

mod copy;

pub(crate) use copy::Copies;

use super::{
    item::{Item, Private},
    pipe,
    races::{Races, Shadow, Site},
    view::{Local, View},
};
use crate::{
    Environment, SUB_GROUP_SIZE, alu,
    code::{Meet, PipeAction, Scan, Scope, Slot, Together},
    memory::Objects,
    poison::{DOMAIN, INACTIVE, UNWRITTEN, union},
    report::{Problem, Use},
};

/// The group's state during a collective operation.
pub(crate) struct Surroundings<'a> {
    pub(crate) environment: Environment,
    pub(crate) global: &'a Objects,
    pub(crate) local: &'a mut [Local],
    pub(crate) local_size: [u32; 3],
    pub(crate) races: &'a mut Races,
    pub(crate) shadow: &'a mut Shadow,
    pub(crate) copies: &'a mut Copies,
    pub(crate) group: u32,
    /// The operation at which the work-items meet.
    pub(crate) at: Site,
}

/// Executes the operation for the chosen work-items, ordered by index.
pub(crate) fn perform<const CHECKS: bool>(
    meet: &Meet,
    live: &mut [Item],
    chosen: &[usize],
    surroundings: &mut Surroundings<'_>,
) -> Result<(), Problem> {
    let (global, local_size) = (surroundings.global, surroundings.local_size);
    match meet.what {
        Together::Barrier { .. } => return Ok(()),
        Together::WaitEvents { count, events } => {
            return copy::wait::<CHECKS>(count, events, live, chosen, surroundings);
        }
        Together::Copy { .. } => return copy::copy::<CHECKS>(meet, live, chosen, surroundings),
        _ => {}
    }
    let count = usize::from(meet.count);
    if CHECKS && count > 0 {
        for &index in chosen {
            match union(live[index].poison(meet.value, count)) {
                0 => {}
                why => return Err(Problem::Poison(why, Use::Operand)),
            }
        }
    }
    let values: Vec<Vec<u64>> =
        chosen.iter().map(|&index| live[index].values(meet.value, count).to_vec()).collect();
    let ids: Vec<u32> = chosen.iter().map(|&index| id(meet, live[index].index)).collect();
    let others: Vec<u64> = chosen
        .iter()
        .map(|&index| if meet.other_count == 0 { 0 } else { live[index].values(meet.other, 1)[0] })
        .collect();
    let is_vulkan = surroundings.environment == Environment::Vulkan;
    // In the OpenCL environment, the value of an inactive work-item is reported as uninitialized.
    let inactive = if is_vulkan { INACTIVE } else { UNWRITTEN };
    if CHECKS && matches!(meet.what, Together::Broadcast) && (!meet.non_uniform || is_vulkan) {
        agree(live, chosen, meet.other, usize::from(meet.other_count))?;
    }
    if CHECKS && matches!(meet.what, Together::InverseBallot) && is_vulkan {
        agree(live, chosen, meet.value, count)?;
    }
    let mut give = |member: usize, lane: usize, value: u64| {
        set::<CHECKS>(&mut live[chosen[member]], meet.to, lane, value);
    };
    let members = 0..chosen.len();
    match meet.what {
        Together::Barrier { .. } | Together::WaitEvents { .. } | Together::Copy { .. } => {}
        Together::All => {
            let all = values.iter().all(|value| value[0] != 0);
            members.for_each(|member| give(member, 0, all.into()));
        }
        Together::Any => {
            let any = values.iter().any(|value| value[0] != 0);
            members.for_each(|member| give(member, 0, any.into()));
        }
        Together::AllEqual => {
            let equal = values.iter().all(|value| *value == values[0]);
            members.for_each(|member| give(member, 0, equal.into()));
        }
        Together::Elect => members.for_each(|member| give(member, 0, (member == 0).into())),
        Together::Broadcast => {
            let from = broadcaster(meet, live, chosen, local_size);
            for &index in chosen {
                let source = from.unwrap_or(chosen[0]);
                for lane in 0..count {
                    let value = live[source].values(meet.value, count)[lane];
                    set::<CHECKS>(&mut live[index], meet.to, lane, value);
                }
                if CHECKS && is_vulkan && from.is_none() {
                    live[index].poison(meet.to, count).fill(INACTIVE);
                }
            }
        }
        Together::BroadcastFirst => {
            for member in members {
                (0..count).for_each(|lane| give(member, lane, values[0][lane]));
            }
        }
        Together::Shuffle
        | Together::ShuffleXor
        | Together::ShuffleUp
        | Together::ShuffleDown
        | Together::Rotate(_) => {
            for member in members {
                let (own, delta) = (ids[member], others[member] as u32);
                let wanted = match meet.what {
                    Together::Shuffle => delta,
                    Together::ShuffleXor => own ^ delta,
                    Together::ShuffleUp => own.wrapping_sub(delta),
                    Together::ShuffleDown => own.wrapping_add(delta),
                    Together::Rotate(cluster) if cluster > 0 => {
                        own / cluster * cluster + own.wrapping_add(delta) % cluster
                    }
                    _ => own.wrapping_add(delta) % (chosen.len() as u32).max(1),
                };
                // The result for an inactive work-item is undefined: use the own value.
                let source = ids.iter().position(|id| *id == wanted);
                for (lane, &value) in values[source.unwrap_or(member)].iter().enumerate() {
                    set::<CHECKS>(&mut live[chosen[member]], meet.to, lane, value);
                }
                if CHECKS && source.is_none() {
                    live[chosen[member]].poison(meet.to, count).fill(inactive);
                }
            }
        }
        Together::Ballot => {
            let mask = members.clone().filter(|&member| values[member][0] != 0);
            let mask = mask.fold(0u64, |mask, member| mask | 1 << ids[member]);
            for member in members {
                (0..4).for_each(|lane| give(member, lane, if lane == 0 { mask } else { 0 }));
            }
        }
        Together::InverseBallot => {
            for member in members {
                give(member, 0, bit(&values[member], ids[member]).into());
            }
        }
        Together::BallotBitExtract => {
            for member in members {
                let index = others[member];
                let is_set = bit(&values[member], index as u32).into();
                set::<CHECKS>(&mut live[chosen[member]], meet.to, 0, is_set);
                if CHECKS && is_vulkan && index >= SUB_GROUP_SIZE.into() {
                    live[chosen[member]].poison(meet.to, 1).fill(DOMAIN);
                }
            }
        }
        Together::BallotBitCount(scan) => {
            for member in members {
                let end = match scan {
                    Scan::Reduce => SUB_GROUP_SIZE,
                    Scan::Inclusive => ids[member] + 1,
                    Scan::Exclusive => ids[member],
                };
                let bits = (0..end).filter(|&index| bit(&values[member], index)).count();
                give(member, 0, bits as u64);
            }
        }
        Together::BallotFindLsb | Together::BallotFindMsb => {
            for member in members {
                let mut bits = (0..SUB_GROUP_SIZE).filter(|&index| bit(&values[member], index));
                let found =
                    if matches!(meet.what, Together::BallotFindLsb) { bits.next() } else { bits.next_back() };
                set::<CHECKS>(&mut live[chosen[member]], meet.to, 0, found.unwrap_or(0).into());
                if CHECKS && is_vulkan && found.is_none() {
                    live[chosen[member]].poison(meet.to, 1).fill(DOMAIN);
                }
            }
        }
        Together::Combine { f, scan, neutral, is_clustered } => {
            for member in members.clone() {
                let own = ids[member];
                let cluster = if is_clustered { (others[member] as u32).max(1) } else { u32::MAX };
                (0..count).for_each(|lane| {
                    let taking_part = members.clone().filter(|&other| {
                        ids[other] / cluster == own / cluster
                            && match scan {
                                Scan::Reduce => true,
                                Scan::Inclusive => ids[other] <= own,
                                Scan::Exclusive => ids[other] < own,
                            }
                    });
                    let combined = taking_part.map(|other| values[other][lane]).reduce(f);
                    give(member, lane, combined.unwrap_or(neutral));
                });
            }
        }
        Together::Pipe(pipe) => {
            // All pass the same arguments: the first executes it, and shares the result with the others.
            if CHECKS {
                for slot in pipe.operands() {
                    agree(live, chosen, slot, 1)?;
                }
            }
            let mut nothing = Private::default();
            let mut view = View {
                global,
                resources: &[],
                local: surroundings.local,
                private: &mut nothing,
                watch: None,
            };
            let first = &mut live[chosen[0]];
            let base = first.frames.last().map_or(0, |frame| frame.base);
            let poison = first.poison.get_mut(base..).unwrap_or_default();
            pipe::perform::<CHECKS>(&mut view, &pipe, &mut first.regs[base..], poison)?;
            if !matches!(pipe.action, PipeAction::Commit(_)) {
                let result = first.regs[base + pipe.to as usize];
                chosen.iter().for_each(|&index| set::<CHECKS>(&mut live[index], pipe.to, 0, result));
            }
        }
    }
    Ok(())
}

/// Strict: checks that operands are uniform (OpenCL C 6.15.16, 6.15.11).
fn agree(live: &mut [Item], chosen: &[usize], slot: Slot, count: usize) -> Result<(), Problem> {
    let first = live[chosen[0]].values(slot, count).to_vec();
    for &index in chosen {
        match union(live[index].poison(slot, count)) {
            0 => {}
            why => return Err(Problem::Poison(why, Use::Operand)),
        }
        if live[index].values(slot, count) != first {
            return Err(Problem::Differing);
        }
    }
    Ok(())
}

/// A work-item's id among the participants.
fn id(meet: &Meet, index: u32) -> u32 {
    if meet.scope == Scope::SubGroup { index % SUB_GROUP_SIZE } else { index }
}

fn set<const CHECKS: bool>(item: &mut Item, slot: Slot, lane: usize, value: u64) {
    item.values(slot + lane as u32, 1)[0] = value;
    if CHECKS {
        item.poison(slot + lane as u32, 1).fill(0);
    }
}

/// Whether a bit of a ballot is set.
fn bit(value: &[u64], index: u32) -> bool {
    value.get(index as usize / 32).is_some_and(|word| word >> (index % 32) & 1 != 0)
}

/// The broadcasting work-item: a sub-group id, or a local id of one to three dimensions.
fn broadcaster(meet: &Meet, live: &mut [Item], chosen: &[usize], local_size: [u32; 3]) -> Option<usize> {
    let lanes = usize::from(meet.other_count);
    let first = chosen[0];
    let wanted: Vec<u64> = live[first].values(meet.other, lanes).to_vec();
    let wanted: Vec<u64> = wanted.into_iter().map(|id| alu::truncated(meet.size, id)).collect();
    if meet.scope == Scope::SubGroup {
        return chosen.iter().copied().find(|&index| u64::from(id(meet, live[index].index)) == wanted[0]);
    }
    let index = wanted.iter().rev().zip(local_size[..lanes.min(3)].iter().rev());
    let linear = index.fold(0, |linear, (id, size)| linear * u64::from(*size) + id);
    chosen.iter().copied().find(|&index| u64::from(live[index].index) == linear)
}
