//! Tests of the race detector: messages, barriers, copies, bytes. Must not depend on operations.

use super::*;
use crate::code::Order;

fn semantics(order: Order, local: bool, global: bool) -> Semantics {
    Semantics { order, local, global, image: false, available: true, visible: true }
}

fn synchronization(order: Order, scope: Scope, reads: bool, writes: bool) -> Synchronization {
    let semantics = semantics(order, false, true);
    Synchronization { scope, semantics, reads, writes }
}

fn access(
    races: &mut Races,
    thread: &Thread,
    address: u64,
    size: u64,
    is_write: bool,
) -> Result<(), Problem> {
    let location = Location::from_address(address).unwrap();
    races.record_access(
        &mut Shadow::default(),
        thread,
        location,
        size,
        AccessInfo { is_write, atomic: None, at: 0, is_shared: true },
    )
}

fn atomic(races: &mut Races, thread: &mut Thread, address: u64, how: Synchronization) -> Result<(), Problem> {
    races.atomic(&mut Shadow::default(), thread, (address, 4), how, 0)
}

/// Message passing: one work-item writes data and a flag, another reads the flag and the data.
fn message(write: Order, read: Order, scope: Scope, group: u32) -> bool {
    let mut races = Races::new(Environment::OpenCl);
    let (data, flag) = (Space::Global.address(0), Space::Global.address(1));
    let mut writer = races.begin(0, 0);
    let mut reader = races.begin(group, 1);
    access(&mut races, &writer, data, 4, true).unwrap();
    atomic(&mut races, &mut writer, flag, synchronization(write, scope, false, true)).unwrap();
    atomic(&mut races, &mut reader, flag, synchronization(read, scope, true, false)).is_err()
        || access(&mut races, &reader, data, 4, false).is_err()
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
        let mut races = Races::new(Environment::OpenCl);
        let data = Space::Global.address(0);
        let mut threads = [races.begin(0, 0), races.begin(0, 1)];
        access(&mut races, &threads[0], data, 4, true).unwrap();
        let semantics = semantics(Order::AcquireRelease, true, global);
        races.barrier(threads.iter_mut(), true, Scope::WorkGroup, semantics);
        assert_eq!(access(&mut races, &threads[1], data, 4, false).is_err(), is_race);
    }
}

#[test]
fn neighboring_bytes_do_not_race() {
    let mut races = Races::new(Environment::OpenCl);
    let data = Space::Global.address(0);
    let threads = [races.begin(0, 0), races.begin(0, 1)];
    access(&mut races, &threads[0], data + 1, 1, true).unwrap();
    access(&mut races, &threads[1], data + 2, 2, true).unwrap();
    assert!(access(&mut races, &threads[1], data, 8, false).is_err());
}

#[test]
fn asynchronous_copies_are_unordered_until_the_wait() {
    let mut races = Races::new(Environment::OpenCl);
    let data = Space::Global.address(0);
    let mut threads = [races.begin(0, 0), races.begin(0, 1)];
    let mut copying = races.begin_copying(0);
    copying.copies_for(threads.iter());
    access(&mut races, &copying, data, 4, true).unwrap();
    let semantics = semantics(Order::AcquireRelease, true, true);
    races.barrier(threads.iter_mut(), true, Scope::WorkGroup, semantics);
    assert!(access(&mut races, &threads[0], data, 4, false).is_err());
    threads[0].join_copy(&copying);
    access(&mut races, &threads[0], data, 4, false).unwrap();
    copying.copies_for(threads.iter());
    assert!(access(&mut races, &copying, data, 4, true).is_err());
}

/// Message passing under Vulkan's rules, without some parts of the release, the acquire or the data accesses.
#[derive(Clone, Copy)]
struct Lacking {
    available: bool,
    visible: bool,
    class: bool,
    shared: bool,
}

const NOTHING: Lacking = Lacking { available: false, visible: false, class: false, shared: false };

/// Whether the message is a race, and why.
fn vulkan_message(lacking: Lacking) -> Option<String> {
    let mut races = Races::new(Environment::Vulkan);
    let (data, flag) = (Space::Global.address(0), Space::Global.address(1));
    let mut writer = races.begin(0, 0);
    let mut reader = races.begin(1, 0);
    let access = |races: &mut Races, thread: &Thread, is_write| {
        let touch = AccessInfo { is_write, atomic: None, at: 0, is_shared: !lacking.shared };
        races.record_access(&mut Shadow::default(), thread, Location::from_address(data).unwrap(), 4, touch)
    };
    let sync = |order, reads, writes| Synchronization {
        scope: Scope::Device,
        semantics: Semantics {
            available: writes && !lacking.available,
            visible: reads && !lacking.visible,
            ..semantics(order, false, !lacking.class)
        },
        reads,
        writes,
    };
    access(&mut races, &writer, true).unwrap();
    atomic(&mut races, &mut writer, flag, sync(Order::Release, false, true)).unwrap();
    atomic(&mut races, &mut reader, flag, sync(Order::Acquire, true, false)).unwrap();
    match access(&mut races, &reader, false) {
        Err(Problem::Race(race)) => Some(race.reason),
        _ => None,
    }
}

#[test]
fn vulkan_requires_availability_and_visibility() {
    assert_eq!(vulkan_message(NOTHING), None);
    let reason = |lacking| vulkan_message(lacking).expect("a race");
    assert!(reason(Lacking { available: true, ..NOTHING }).contains("MakeAvailable"));
    assert!(reason(Lacking { visible: true, ..NOTHING }).contains("MakeVisible"));
    assert!(reason(Lacking { class: true, ..NOTHING }).contains("UniformMemory"));
    assert!(reason(Lacking { shared: true, ..NOTHING }).contains("NonPrivatePointer"));
}

#[test]
fn vulkan_barriers_make_available_and_visible() {
    for (available, visible, is_race) in [(true, true, false), (false, true, true), (true, false, true)] {
        let mut races = Races::new(Environment::Vulkan);
        let data = Space::Global.address(0);
        let mut threads = [races.begin(0, 0), races.begin(0, 1)];
        access(&mut races, &threads[0], data, 4, true).unwrap();
        let semantics = Semantics { available, visible, ..semantics(Order::AcquireRelease, true, true) };
        races.barrier(threads.iter_mut(), true, Scope::WorkGroup, semantics);
        assert_eq!(access(&mut races, &threads[1], data, 4, false).is_err(), is_race);
    }
}
