//! Pipes: queues of packets between kernels (OpenCL C 6.15.18).
//!
//! Owns packets and reservations. Packets become visible in the order in which they were reserved or written. Must
//! not depend on instructions or the memory of kernels.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::memory::{Handle, Memory};

/// A pipe, freed when it is dropped.
#[derive(Debug)]
pub struct Pipe {
    memory: Memory,
    number: usize,
}

/// The shared state of a pipe.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Packets>);

/// An end of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Read,
    Write,
}

/// The contents of a pipe.
#[derive(Debug, Clone)]
pub(crate) struct Packets {
    size: u32,
    max_packets: u32,
    /// The slots, oldest first.
    slots: VecDeque<PacketSlot>,
    /// The number of slots removed before those.
    gone: u64,
    reservations: HashMap<u64, Reservation>,
    next: u64,
}

#[derive(Debug, Clone)]
struct PacketSlot {
    state: State,
    packet: Vec<u8>,
}

/// The state of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Reserved for writing.
    Reserved,
    Written,
    /// Reserved for reading.
    Claimed,
    Read,
}

#[derive(Debug, Clone, Copy)]
struct Reservation {
    end: End,
    first: u64,
    count: u32,
}

/// The maximum size of a pipe in bytes.
const MAX_PIPE_BYTES: u64 = 1 << 32;

impl Memory {
    /// Creates an empty pipe; `None` if it cannot hold a packet or memory is exhausted.
    pub fn pipe(&self, packet_size: u32, max_packets: u32) -> Option<Pipe> {
        let bytes = u64::from(packet_size)
            .checked_mul(max_packets.into())
            .filter(|bytes| *bytes <= MAX_PIPE_BYTES)?;
        (bytes > 0).then_some(())?;
        let packets = Packets {
            size: packet_size,
            max_packets,
            slots: VecDeque::new(),
            gone: 0,
            reservations: HashMap::new(),
            next: 1,
        };
        let number = self.register(Handle::Pipe(Arc::new(Shared(Mutex::new(packets)))));
        Some(Pipe { memory: self.clone(), number })
    }
}

impl Pipe {
    /// The handle for kernels.
    pub fn handle(&self) -> u64 {
        self.number as u64 + 1
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.memory.forget(self.number);
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Packets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of the contents.
    pub(crate) fn packets(&self) -> Packets {
        self.lock().clone()
    }

    /// Replaces the contents.
    pub(crate) fn replace(&self, packets: Packets) {
        *self.lock() = packets;
    }
}

impl Packets {
    /// The size of a packet in bytes.
    pub(crate) const fn size(&self) -> u32 {
        self.size
    }

    /// `get_pipe_max_packets`
    pub(crate) const fn max_packets(&self) -> u32 {
        self.max_packets
    }

    /// `get_pipe_num_packets`: the number of packets that can be read.
    pub(crate) fn ready(&self) -> u32 {
        let written = self.slots.iter().skip_while(|slot| matches!(slot.state, State::Claimed | State::Read));
        written.take_while(|slot| slot.state == State::Written).count() as u32
    }

    /// Appends a packet; `false` if the pipe is full.
    pub(crate) fn write(&mut self, packet: Vec<u8>) -> bool {
        let has_room = self.slots.len() < self.max_packets as usize;
        if has_room {
            self.slots.push_back(PacketSlot { state: State::Written, packet });
        }
        has_room
    }

    /// Takes the oldest packet; `None` if there is none.
    pub(crate) fn read(&mut self) -> Option<Vec<u8>> {
        let first = self.first()?;
        let slot = &mut self.slots[first];
        if slot.state != State::Written {
            return None;
        }
        slot.state = State::Read;
        let packet = std::mem::take(&mut slot.packet);
        self.advance();
        Some(packet)
    }

    /// The first slot that is not reserved for reading.
    fn first(&self) -> Option<usize> {
        self.slots.iter().position(|slot| !matches!(slot.state, State::Claimed | State::Read))
    }

    /// Reserves packets. Returns the reservation id, or 0 on failure.
    pub(crate) fn reserve(&mut self, end: End, count: u32) -> u64 {
        let first = match end {
            End::Write if self.slots.len() as u64 + u64::from(count) <= self.max_packets.into() => {
                self.slots.len()
            }
            End::Read if count <= self.ready() => self.first().unwrap_or(self.slots.len()),
            _ => return 0,
        };
        if count == 0 {
            return 0;
        }
        for index in first..first + count as usize {
            match end {
                End::Write => self.slots.push_back(PacketSlot { state: State::Reserved, packet: Vec::new() }),
                End::Read => self.slots[index].state = State::Claimed,
            }
        }
        let id = self.next;
        self.next += 1;
        self.reservations.insert(id, Reservation { end, first: self.gone + first as u64, count });
        id
    }

    /// A packet of a reservation and its sequence number; `None` if the index is invalid or the reservation belongs
    /// to the other end.
    pub(crate) fn reserved(&mut self, id: u64, end: End, index: u32) -> Option<(u64, &mut Vec<u8>)> {
        let reservation = self.reservations.get(&id).filter(|it| it.end == end && index < it.count)?;
        let number = reservation.first + u64::from(index);
        let slot = usize::try_from(number - self.gone).ok()?;
        Some((number, &mut self.slots.get_mut(slot)?.packet))
    }

    /// Whether a write reservation has packets that were not written.
    pub(crate) fn lacks_packets(&self, id: u64) -> bool {
        self.reservations.get(&id).is_some_and(|reservation| {
            let first = (reservation.first - self.gone) as usize;
            let slots = self.slots.iter().skip(first).take(reservation.count as usize);
            reservation.end == End::Write && slots.into_iter().any(|slot| slot.packet.is_empty())
        })
    }

    /// Commits a reservation; `false` if it does not exist.
    pub(crate) fn commit(&mut self, id: u64, end: End) -> bool {
        let Some(reservation) = self.reservations.get(&id).copied().filter(|it| it.end == end) else {
            return false;
        };
        self.reservations.remove(&id);
        let first = (reservation.first - self.gone) as usize;
        for slot in self.slots.iter_mut().skip(first).take(reservation.count as usize) {
            slot.state = if end == End::Write { State::Written } else { State::Read };
        }
        self.advance();
        true
    }

    /// Removes packets that have been read.
    fn advance(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.state == State::Read) {
            self.slots.pop_front();
            self.gone += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(max_packets: u32) -> Packets {
        let (slots, reservations) = (VecDeque::new(), HashMap::new());
        Packets { size: 1, max_packets, slots, gone: 0, reservations, next: 1 }
    }

    #[test]
    fn packets_are_read_in_order() {
        let mut pipe = packets(2);
        assert_eq!(pipe.read(), None);
        assert!(pipe.write(vec![1]) && pipe.write(vec![2]) && !pipe.write(vec![3]));
        assert_eq!(
            (pipe.ready(), pipe.read(), pipe.read(), pipe.read()),
            (2, Some(vec![1]), Some(vec![2]), None)
        );
        assert!(pipe.write(vec![3]));
    }

    #[test]
    fn reserved_packets_are_visible_after_commit() {
        let mut pipe = packets(4);
        let first = pipe.reserve(End::Write, 2);
        let second = pipe.reserve(End::Write, 1);
        assert_eq!(pipe.reserve(End::Write, 2), 0);
        pipe.reserved(second, End::Write, 0).unwrap().1.push(3);
        assert!(pipe.commit(second, End::Write));
        assert_eq!((pipe.ready(), pipe.read()), (0, None));
        pipe.reserved(first, End::Write, 1).unwrap().1.push(2);
        assert!(pipe.lacks_packets(first) && !pipe.lacks_packets(second));
        pipe.reserved(first, End::Write, 0).unwrap().1.push(1);
        assert_eq!(pipe.reserved(first, End::Write, 2), None);
        assert!(pipe.commit(first, End::Write) && !pipe.commit(first, End::Write));
        assert_eq!(pipe.ready(), 3);
        let taken = pipe.reserve(End::Read, 2);
        assert_eq!(pipe.read(), Some(vec![3]));
        assert_eq!(pipe.reserved(taken, End::Read, 1), Some((1, &mut vec![2])));
        assert!(pipe.commit(taken, End::Read));
        assert!((0..4).all(|packet| pipe.write(vec![packet])));
    }
}
