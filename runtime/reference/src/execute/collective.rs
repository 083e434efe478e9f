//! Collective operations: barriers, votes, scans, shuffles, copies.
//!
//! Owns the collective functions (OpenCL C 6.15.16, 6.15.20). Must not depend on when work-items arrive.

mod copy;

pub(crate) use copy::Copies;

use super::{
    item::{Item, Private},
    pipe,
    races::{Races, Shadow, Site},
    view::{Local, RaceCheck, View},
};
use crate::{
    Environment, SUB_GROUP_SIZE,
    alu::{self, F2},
    code::{Collective, CollectiveKind, NoResult, Pipe, PipeAction, Scan, Scope, Slot},
    memory::Objects,
    poison::{DOMAIN, INACTIVE, Poison, UNWRITTEN, union},
    report::{Problem, Use},
};

/// The group's state during a collective operation.
pub(crate) struct CollectiveContext<'a> {
    pub(crate) environment: Environment,
    pub(crate) global: &'a Objects,
    pub(crate) local: &'a mut [Local],
    pub(crate) local_size: [u32; 3],
    pub(crate) races: &'a mut Races,
    pub(crate) shadow: &'a mut Shadow,
    pub(crate) copies: &'a mut Copies,
    pub(crate) group: u32,
    /// The location of the operation.
    pub(crate) at: Site,
}

/// Executes the operation for the chosen work-items, ordered by index.
pub(crate) fn perform<const CHECKS: bool>(
    operation: &Collective,
    live: &mut [Item],
    chosen: &[usize],
    context: &mut CollectiveContext<'_>,
) -> Result<(), Problem> {
    match &operation.kind {
        CollectiveKind::Barrier { .. } => Ok(()),
        CollectiveKind::WaitEvents { count, events } => {
            copy::wait::<CHECKS>(*count, *events, live, chosen, context)
        }
        CollectiveKind::Copy { .. } => copy::copy::<CHECKS>(operation, live, chosen, context),
        CollectiveKind::Pipe(pipe) => pipe_operation::<CHECKS>(pipe, live, chosen, context),
        _ => {
            let is_vulkan = context.environment == Environment::Vulkan;
            let mut group = Participants::<CHECKS>::new(operation, live, chosen, is_vulkan)?;
            group.check_uniform()?;
            group.exchange(context.local_size)
        }
    }
}

/// The work-items of an exchange of values, and their operands. A *member* is an index into these lists.
struct Participants<'m, const CHECKS: bool> {
    operation: &'m Collective,
    live: &'m mut [Item],
    /// The indices of the members in `live`.
    chosen: &'m [usize],
    /// The lanes of the value of each member.
    values: Vec<Vec<u64>>,
    /// The id of each member in the group.
    ids: Vec<u32>,
    /// The first lane of the other operand of each member.
    others: Vec<u64>,
    is_vulkan: bool,
}

impl<'m, const CHECKS: bool> Participants<'m, CHECKS> {
    /// Reads the operands. Fails if a value is poisoned.
    fn new(
        operation: &'m Collective,
        live: &'m mut [Item],
        chosen: &'m [usize],
        is_vulkan: bool,
    ) -> Result<Self, Problem> {
        let count = usize::from(operation.count);
        if CHECKS && count > 0 {
            for &index in chosen {
                match union(live[index].poison(operation.value, count)) {
                    0 => {}
                    why => return Err(Problem::Poison(why, Use::Operand)),
                }
            }
        }
        let values =
            chosen.iter().map(|&index| live[index].values(operation.value, count).to_vec()).collect();
        let ids = chosen.iter().map(|&index| id(operation, live[index].index)).collect();
        let others = chosen
            .iter()
            .map(
                |&index| {
                    if operation.other_count == 0 { 0 } else { live[index].values(operation.other, 1)[0] }
                },
            )
            .collect();
        Ok(Self { operation, live, chosen, values, ids, others, is_vulkan })
    }

    /// Strict: checks the operands that must be uniform.
    fn check_uniform(&mut self) -> Result<(), Problem> {
        let Self { operation, is_vulkan, .. } = *self;
        let (slot, count) = match operation.kind {
            CollectiveKind::Broadcast if !operation.non_uniform || is_vulkan => {
                (operation.other, operation.other_count)
            }
            CollectiveKind::InverseBallot if is_vulkan => (operation.value, operation.count),
            _ => return Ok(()),
        };
        if CHECKS { check_uniform_operand(self.live, self.chosen, slot, usize::from(count)) } else { Ok(()) }
    }

    fn exchange(&mut self, local_size: [u32; 3]) -> Result<(), Problem> {
        match self.operation.kind {
            CollectiveKind::All => {
                let all = self.values.iter().all(|value| value[0] != 0);
                self.set_each(|_, _| all.into());
            }
            CollectiveKind::Any => {
                let any = self.values.iter().any(|value| value[0] != 0);
                self.set_each(|_, _| any.into());
            }
            CollectiveKind::AllEqual => {
                let equal = self.values.iter().all(|value| *value == self.values[0]);
                self.set_each(|_, _| equal.into());
            }
            CollectiveKind::Elect => self.set_each(|_, member| (member == 0).into()),
            CollectiveKind::Broadcast => self.broadcast(local_size)?,
            CollectiveKind::BroadcastFirst => {
                for member in 0..self.chosen.len() {
                    (0..self.lanes()).for_each(|lane| self.set_lane(member, lane, self.values[0][lane]));
                }
            }
            CollectiveKind::Shuffle
            | CollectiveKind::ShuffleXor
            | CollectiveKind::ShuffleUp
            | CollectiveKind::ShuffleDown
            | CollectiveKind::Rotate(_) => self.shuffle(),
            CollectiveKind::Ballot => self.ballot(),
            CollectiveKind::InverseBallot => {
                self.set_each(|group, member| bit(&group.values[member], group.ids[member]).into());
            }
            CollectiveKind::BallotBitExtract => self.ballot_bit_extract(),
            CollectiveKind::BallotBitCount(scan) => {
                self.set_each(|group, member| group.ballot_bit_count(member, scan));
            }
            CollectiveKind::BallotFindLsb | CollectiveKind::BallotFindMsb => self.ballot_find(),
            CollectiveKind::Combine { f, scan, identity, is_clustered } => {
                self.combine(f, scan, identity, is_clustered)?;
            }
            CollectiveKind::Barrier { .. }
            | CollectiveKind::WaitEvents { .. }
            | CollectiveKind::Copy { .. }
            | CollectiveKind::Pipe(_) => unreachable!("`perform` executes operations without an exchange"),
        }
        Ok(())
    }

    /// The number of lanes of the value.
    fn lanes(&self) -> usize {
        self.operation.count.into()
    }

    /// Sets a lane of the result of a member.
    fn set_lane(&mut self, member: usize, lane: usize, value: u64) {
        set::<CHECKS>(&mut self.live[self.chosen[member]], self.operation.to, lane, value);
    }

    /// Sets the result of each member to one value.
    fn set_each(&mut self, value: impl Fn(&Self, usize) -> u64) {
        for member in 0..self.chosen.len() {
            self.set_lane(member, 0, value(self, member));
        }
    }

    /// Strict: poisons the result of a member.
    fn poison_result(&mut self, member: usize, count: usize, why: Poison) {
        if CHECKS {
            self.live[self.chosen[member]].poison(self.operation.to, count).fill(why);
        }
    }

    fn broadcast(&mut self, local_size: [u32; 3]) -> Result<(), Problem> {
        let from = broadcaster(self.operation, self.live, self.chosen, local_size);
        let source = from.and_then(|from| self.chosen.iter().position(|&index| index == from));
        let is_undefined = CHECKS && source.is_none() && !self.is_vulkan;
        if is_undefined && !self.operation.non_uniform {
            // OpenCL C 6.15.16, 6.15.20
            return Err(Problem::NoResult(NoResult::Broadcast));
        }
        for member in 0..self.chosen.len() {
            for lane in 0..self.lanes() {
                self.set_lane(member, lane, self.values[source.unwrap_or(0)][lane]);
            }
            if source.is_none() {
                self.poison_result(member, self.lanes(), self.inactive());
            }
        }
        Ok(())
    }

    /// How the value of an inactive work-item is reported.
    fn inactive(&self) -> Poison {
        if self.is_vulkan { INACTIVE } else { UNWRITTEN }
    }

    fn shuffle(&mut self) {
        let inactive = self.inactive();
        for member in 0..self.chosen.len() {
            let (own, delta) = (self.ids[member], self.others[member] as u32);
            let wanted = match self.operation.kind {
                CollectiveKind::Shuffle => delta,
                CollectiveKind::ShuffleXor => own ^ delta,
                CollectiveKind::ShuffleUp => own.wrapping_sub(delta),
                CollectiveKind::ShuffleDown => own.wrapping_add(delta),
                CollectiveKind::Rotate(cluster) if cluster > 0 => {
                    own / cluster * cluster + own.wrapping_add(delta) % cluster
                }
                _ => own.wrapping_add(delta) % (self.chosen.len() as u32).max(1),
            };
            let source = self.ids.iter().position(|id| *id == wanted);
            for lane in 0..self.lanes() {
                // The result for an inactive work-item is undefined: use the own value.
                self.set_lane(member, lane, self.values[source.unwrap_or(member)][lane]);
            }
            if source.is_none() {
                self.poison_result(member, self.lanes(), inactive);
            }
        }
    }

    fn ballot(&mut self) {
        let voters = self.values.iter().zip(&self.ids).filter(|(value, _)| value[0] != 0);
        let mask = voters.fold(0u64, |mask, (_, id)| mask | 1 << id);
        for member in 0..self.chosen.len() {
            (0..4).for_each(|lane| self.set_lane(member, lane, if lane == 0 { mask } else { 0 }));
        }
    }

    fn ballot_bit_extract(&mut self) {
        for member in 0..self.chosen.len() {
            let index = self.others[member];
            self.set_lane(member, 0, bit(&self.values[member], index as u32).into());
            if self.is_vulkan && index >= SUB_GROUP_SIZE.into() {
                self.poison_result(member, 1, DOMAIN);
            }
        }
    }

    fn ballot_bit_count(&self, member: usize, scan: Scan) -> u64 {
        let end = match scan {
            Scan::Reduce => SUB_GROUP_SIZE,
            Scan::Inclusive => self.ids[member] + 1,
            Scan::Exclusive => self.ids[member],
        };
        (0..end).filter(|&index| bit(&self.values[member], index)).count() as u64
    }

    fn ballot_find(&mut self) {
        for member in 0..self.chosen.len() {
            let mut bits = (0..SUB_GROUP_SIZE).filter(|&index| bit(&self.values[member], index));
            let is_lowest = matches!(self.operation.kind, CollectiveKind::BallotFindLsb);
            let found = if is_lowest { bits.next() } else { bits.next_back() };
            self.set_lane(member, 0, found.unwrap_or(0).into());
            if self.is_vulkan && found.is_none() {
                self.poison_result(member, 1, DOMAIN);
            }
        }
    }

    /// Reductions and scans.
    fn combine(&mut self, f: F2, scan: Scan, identity: u64, is_clustered: bool) -> Result<(), Problem> {
        if CHECKS && is_clustered && self.others.iter().any(|&size| size as u32 > SUB_GROUP_SIZE) {
            return Err(Problem::NoResult(NoResult::Cluster));
        }
        for member in 0..self.chosen.len() {
            let own = self.ids[member];
            let cluster = if is_clustered { (self.others[member] as u32).max(1) } else { u32::MAX };
            for lane in 0..self.lanes() {
                let taking_part = self.ids.iter().zip(&self.values).filter(|&(&id, _)| {
                    id / cluster == own / cluster
                        && match scan {
                            Scan::Reduce => true,
                            Scan::Inclusive => id <= own,
                            Scan::Exclusive => id < own,
                        }
                });
                let combined = taking_part.map(|(_, value)| value[lane]).reduce(f);
                self.set_lane(member, lane, combined.unwrap_or(identity));
            }
        }
        Ok(())
    }
}

/// A pipe operation of a group. All pass the same arguments: the first executes it, and shares the result with the
/// others.
fn pipe_operation<const CHECKS: bool>(
    pipe: &Pipe,
    live: &mut [Item],
    chosen: &[usize],
    context: &mut CollectiveContext<'_>,
) -> Result<(), Problem> {
    if CHECKS {
        for slot in pipe.operands() {
            check_uniform_operand(live, chosen, slot, 1)?;
        }
    }
    let mut nothing = Private::default();
    let first = &mut live[chosen[0]];
    let CollectiveContext { global, local, races, shadow, at, .. } = context;
    let race_check =
        CHECKS.then_some(RaceCheck { races, shadow, thread: &mut first.thread, at: *at, is_shared: true });
    let mut view = View { global, resources: &[], local, private: &mut nothing, race_check };
    let base = first.frames.last().map_or(0, |frame| frame.base);
    let poison = first.poison.get_mut(base..).unwrap_or_default();
    pipe::perform::<CHECKS>(&mut view, pipe, &mut first.regs[base..], poison)?;
    if !matches!(pipe.action, PipeAction::Commit(_)) {
        let result = first.regs[base + pipe.to as usize];
        chosen.iter().for_each(|&index| set::<CHECKS>(&mut live[index], pipe.to, 0, result));
    }
    Ok(())
}

/// Strict: checks that operands are uniform (OpenCL C 6.15.16, 6.15.11).
fn check_uniform_operand(
    live: &mut [Item],
    chosen: &[usize],
    slot: Slot,
    count: usize,
) -> Result<(), Problem> {
    let first = live[chosen[0]].values(slot, count).to_vec();
    for &index in chosen {
        match union(live[index].poison(slot, count)) {
            0 => {}
            why => return Err(Problem::Poison(why, Use::Operand)),
        }
        if live[index].values(slot, count) != first {
            return Err(Problem::NotUniform);
        }
    }
    Ok(())
}

/// A work-item's id among the participants.
fn id(operation: &Collective, index: u32) -> u32 {
    if operation.scope == Scope::SubGroup { index % SUB_GROUP_SIZE } else { index }
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
fn broadcaster(
    operation: &Collective,
    live: &mut [Item],
    chosen: &[usize],
    local_size: [u32; 3],
) -> Option<usize> {
    let lanes = usize::from(operation.other_count);
    let first = chosen[0];
    let wanted: Vec<u64> = live[first].values(operation.other, lanes).to_vec();
    let wanted: Vec<u64> = wanted.into_iter().map(|id| alu::truncated(operation.size, id)).collect();
    if operation.scope == Scope::SubGroup {
        return chosen
            .iter()
            .copied()
            .find(|&index| u64::from(id(operation, live[index].index)) == wanted[0]);
    }
    if wanted.iter().zip(local_size).any(|(id, size)| *id >= u64::from(size)) {
        return None;
    }
    let index = wanted.iter().rev().zip(local_size[..lanes.min(3)].iter().rev());
    let linear = index.fold(0, |linear, (id, size)| linear * u64::from(*size) + id);
    chosen.iter().copied().find(|&index| u64::from(live[index].index) == linear)
}
