//! The detector by itself: messages, barriers, copies, bytes. It must never know operations.

use super::*;
use crate::code::Order;

fn how(order: Order, scope: Scope, reads: bool, writes: bool) -> Synchronisation {
    let semantics = Semantics { order, local: false, global: true, image: false };
    Synchronisation { scope, semantics, reads, writes }
}

fn touch(races: &mut Races, thread: &Thread, address: u64, size: u64, is_write: bool) -> Result<(), Problem> {
    let place = Place::of(address).unwrap();
    races.touch(&mut Shadow::default(), thread, place, size, Touch { is_write, atomic: None, at: 0 })
}

fn atomic(races: &mut Races, thread: &mut Thread, address: u64, how: Synchronisation) -> Result<(), Problem> {
    races.atomic(&mut Shadow::default(), thread, (address, 4), how, 0)
}

/// One writes data and a flag, the other reads the flag and the data.
fn message(write: Order, read: Order, scope: Scope, group: u32) -> bool {
    let mut races = Races::default();
    let (data, flag) = (Space::Global.address(0), Space::Global.address(1));
    let mut writer = races.begin(0, 0);
    let mut reader = races.begin(group, 1);
    touch(&mut races, &writer, data, 4, true).unwrap();
    atomic(&mut races, &mut writer, flag, how(write, scope, false, true)).unwrap();
    atomic(&mut races, &mut reader, flag, how(read, scope, true, false)).is_err()
        || touch(&mut races, &reader, data, 4, false).is_err()
}

#[test]
fn messages_are_ordered_by_release_and_acquire() {
    assert!(!message(Order::Release, Order::Acquire, Scope::Device, 1));
    assert!(!message(Order::SeqCst, Order::SeqCst, Scope::WorkGroup, 0));
    assert!(message(Order::Relaxed, Order::Acquire, Scope::Device, 1));
    assert!(message(Order::Release, Order::Relaxed, Scope::Device, 1));
    assert!(message(Order::Release, Order::Acquire, Scope::WorkGroup, 1));
}

#[test]
fn barriers_order_the_memory_of_their_flags() {
    for (global, is_race) in [(true, false), (false, true)] {
        let mut races = Races::default();
        let data = Space::Global.address(0);
        let mut threads = [races.begin(0, 0), races.begin(0, 1)];
        touch(&mut races, &threads[0], data, 4, true).unwrap();
        let semantics = Semantics { order: Order::AcquireRelease, local: true, global, image: false };
        races.barrier(threads.iter_mut(), true, Scope::WorkGroup, semantics);
        assert_eq!(touch(&mut races, &threads[1], data, 4, false).is_err(), is_race);
    }
}

#[test]
fn neighbouring_bytes_are_apart() {
    let mut races = Races::default();
    let data = Space::Global.address(0);
    let threads = [races.begin(0, 0), races.begin(0, 1)];
    touch(&mut races, &threads[0], data + 1, 1, true).unwrap();
    touch(&mut races, &threads[1], data + 2, 2, true).unwrap();
    assert!(touch(&mut races, &threads[1], data, 8, false).is_err());
}

#[test]
fn copies_are_beside_their_group_until_they_are_waited_for() {
    let mut races = Races::default();
    let data = Space::Global.address(0);
    let mut threads = [races.begin(0, 0), races.begin(0, 1)];
    let mut copying = races.begin_copying(0);
    copying.copies_for(threads.iter());
    touch(&mut races, &copying, data, 4, true).unwrap();
    let semantics = Semantics { order: Order::AcquireRelease, local: true, global: true, image: false };
    races.barrier(threads.iter_mut(), true, Scope::WorkGroup, semantics);
    assert!(touch(&mut races, &threads[0], data, 4, false).is_err());
    threads[0].learn_of_copy(&copying);
    touch(&mut races, &threads[0], data, 4, false).unwrap();
    copying.copies_for(threads.iter());
    assert!(touch(&mut races, &copying, data, 4, true).is_err());
}
