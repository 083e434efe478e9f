//! The models on programs that are written as events.

use std::collections::BTreeSet;

use crate::{
    draw,
    event::{Action, Event, Location, Object, Position, Skeleton, Trace, scope, semantics},
    explore::{Error, Model, Options, Outcomes, explore},
    verdict::Rule,
    weaken::weakest,
};

const RELAXED: u32 = 0;
const RELEASE: u32 = semantics::RELEASE | semantics::CROSS_WORKGROUP_MEMORY;
const ACQUIRE: u32 = semantics::ACQUIRE | semantics::CROSS_WORKGROUP_MEMORY;
const SEQ_CST: u32 =
    semantics::SEQUENTIALLY_CONSISTENT | semantics::CROSS_WORKGROUP_MEMORY | semantics::WORKGROUP_MEMORY;
const VULKAN_RELEASE: u32 = semantics::RELEASE | semantics::UNIFORM_MEMORY | semantics::MAKE_AVAILABLE;
const VULKAN_ACQUIRE: u32 = semantics::ACQUIRE | semantics::UNIFORM_MEMORY | semantics::MAKE_VISIBLE;

fn object(number: u32) -> Location {
    Location { object: Object::Argument(number), offset: 0 }
}

/// A statement of a program: an event, and the register that a read sets.
#[derive(Clone)]
struct Statement(Event, Option<u32>);

fn store(number: u32, value: u64, order: u32, scope: u32) -> Statement {
    let event = Event::atomic(Action::Write, object(number), scope, order);
    Statement(Event { written: value, ..event }, None)
}

fn load(number: u32, register: u32, order: u32, scope: u32) -> Statement {
    Statement(Event::atomic(Action::Read, object(number), scope, order), Some(register))
}

fn plain(action: Action, number: u32, register: Option<u32>) -> Statement {
    Statement(Event { written: 1, ..Event::plain(action, object(number), true) }, register)
}

fn fence(order: u32, scope: u32) -> Statement {
    Statement(Event::fence(Action::Fence, scope, order), None)
}

fn barrier(order: u32) -> [Statement; 2] {
    let half = |action, bits| Statement(Event::fence(action, scope::WORKGROUP, bits), None);
    let classes = order & !semantics::ORDERS;
    [
        half(Action::Arrive, if order == 0 { 0 } else { classes | semantics::RELEASE }),
        half(Action::Leave, if order == 0 { 0 } else { classes | semantics::ACQUIRE }),
    ]
}

/// Registers are locations that only one work-item writes.
const REGISTERS: u32 = 100;

/// All runs of a program whose reads return 0 or 1.
fn skeleton(items: &[Vec<Statement>], is_one_group: bool) -> Skeleton {
    let mut skeleton = Skeleton::default();
    let mut parts = BTreeSet::new();
    for (number, statements) in (0..).zip(items) {
        let group = if is_one_group { 0 } else { number };
        skeleton.positions.push(Position { group, sub_group: number, ..Position::default() });
        let count = statements.iter().filter(|it| it.1.is_some()).count();
        let mut traces = Vec::new();
        for choice in 0..1_u64 << count {
            let mut trace = Trace::default();
            let mut bit = 0;
            for (site, Statement(event, register)) in (0..).zip(statements) {
                let mut event = Event { site, ..event.clone() };
                if let Some(register) = register {
                    event.read = choice >> bit & 1;
                    bit += 1;
                    trace.results.push((object(REGISTERS + register), event.read));
                    parts.insert(object(REGISTERS + register));
                }
                trace.events.push(event);
            }
            traces.push(trace);
        }
        skeleton.traces.push(traces);
    }
    skeleton.parts = parts.into_iter().collect();
    skeleton
}

fn found(items: &[Vec<Statement>], is_one_group: bool, model: Model) -> Outcomes {
    let options = Options { explains: true, ..Options::default() };
    explore(&skeleton(items, is_one_group), model, options).expect("few executions")
}

fn store_buffering(order: u32, scope: u32) -> Vec<Vec<Statement>> {
    vec![
        vec![store(0, 1, order, scope), load(1, 0, order, scope)],
        vec![store(1, 1, order, scope), load(0, 1, order, scope)],
    ]
}

fn message(release: u32, acquire: u32, scope: u32) -> Vec<Vec<Statement>> {
    vec![
        vec![plain(Action::Write, 0, None), store(1, 1, release, scope)],
        vec![load(1, 0, acquire, scope), plain(Action::Read, 0, Some(1))],
    ]
}

#[test]
fn store_buffering_needs_the_total_order() {
    let weak = found(&store_buffering(RELAXED, scope::DEVICE), false, Model::OpenCl);
    assert_eq!((weak.allowed.len(), weak.executions), (4, 4));
    for (scope, is_one_group) in [(scope::DEVICE, false), (scope::WORKGROUP, true)] {
        let strong = found(&store_buffering(SEQ_CST, scope), is_one_group, Model::OpenCl);
        assert_eq!(strong.allowed.len(), 3);
        let (outcome, reason) = strong.forbidden.first_key_value().expect("one outcome");
        assert_eq!((outcome.as_slice(), reason.rule), (&[0, 0][..], Rule::TotalOrder));
    }
}

/// The order S exists for narrow scopes too.
#[test]
fn independent_reads_of_independent_writes_agree_within_a_group() {
    let program = |order| {
        let at = |number, register| load(number, register, order, scope::WORKGROUP);
        vec![
            vec![store(0, 1, order, scope::WORKGROUP)],
            vec![store(1, 1, order, scope::WORKGROUP)],
            vec![at(0, 0), at(1, 1)],
            vec![at(1, 2), at(0, 3)],
        ]
    };
    let strong = found(&program(SEQ_CST), true, Model::OpenCl);
    assert!(strong.undefined.is_empty() && !strong.allowed.contains_key(&vec![1, 0, 1, 0]));
    assert_eq!(strong.forbidden[&vec![1, 0, 1, 0]].rule, Rule::TotalOrder);
    let weak = found(&program(RELAXED), true, Model::OpenCl);
    assert_eq!((weak.allowed.len(), weak.executions), (16, 16));
}

#[test]
fn fences_order_relaxed_operations() {
    let program = |order| {
        let half = |mine, other, register| {
            vec![
                store(mine, 1, RELAXED, scope::DEVICE),
                fence(order, scope::DEVICE),
                load(other, register, RELAXED, scope::DEVICE),
            ]
        };
        vec![half(0, 1, 0), half(1, 0, 1)]
    };
    assert_eq!(found(&program(SEQ_CST), false, Model::OpenCl).allowed.len(), 3);
    let weaker = semantics::ACQUIRE_RELEASE | semantics::CROSS_WORKGROUP_MEMORY;
    assert_eq!(found(&program(weaker), false, Model::OpenCl).allowed.len(), 4);
}

#[test]
fn messages_need_release_and_acquire_in_a_common_scope() {
    let race = |items: &[Vec<Statement>], is_one_group, model| {
        !found(items, is_one_group, model).undefined.is_empty()
    };
    let good = message(RELEASE, ACQUIRE, scope::DEVICE);
    // The reader reads the data in every run, so that it races if the flag is not set.
    let outcomes = found(&good, false, Model::OpenCl);
    assert!(!outcomes.allowed.contains_key(&vec![1, 0]));
    assert_eq!(outcomes.forbidden[&vec![1, 0]].rule, Rule::Coherence);
    assert!(race(&good, false, Model::OpenCl));
    let narrow = message(RELEASE, ACQUIRE, scope::WORKGROUP);
    assert!(found(&narrow, false, Model::OpenCl).allowed.contains_key(&vec![1, 0]));
    for (release, acquire, is_forbidden) in [
        (VULKAN_RELEASE, VULKAN_ACQUIRE, true),
        (VULKAN_RELEASE & !semantics::MAKE_AVAILABLE, VULKAN_ACQUIRE, false),
        (VULKAN_RELEASE, VULKAN_ACQUIRE & !semantics::MAKE_VISIBLE, false),
    ] {
        let found = found(&message(release, acquire, scope::DEVICE), false, Model::Vulkan);
        let outcome = found.allowed.get(&vec![1, 0]);
        assert_eq!(outcome.is_none(), is_forbidden, "{release:x} {acquire:x}");
    }
}

#[test]
fn barriers_order_the_memory_of_their_flags() {
    let program = |order: u32| {
        let [arrive, leave] = barrier(order);
        vec![
            vec![plain(Action::Write, 0, None), arrive.clone(), leave.clone()],
            vec![arrive, leave, plain(Action::Read, 0, Some(0))],
        ]
    };
    // The sites of both halves are those of one instruction.
    let aligned = |mut skeleton: Skeleton| {
        skeleton.events_mut().filter(|it| it.action == Action::Arrive).for_each(|it| it.site = 50);
        skeleton.events_mut().filter(|it| it.action == Action::Leave).for_each(|it| it.site = 50);
        skeleton
    };
    let global = semantics::CROSS_WORKGROUP_MEMORY | semantics::ACQUIRE_RELEASE;
    for (order, model, is_ordered) in [
        (global, Model::OpenCl, true),
        (semantics::WORKGROUP_MEMORY | semantics::ACQUIRE_RELEASE, Model::OpenCl, false),
        (0, Model::OpenCl, false),
        (VULKAN_ACQUIRE | VULKAN_RELEASE, Model::Vulkan, true),
        (VULKAN_ACQUIRE, Model::Vulkan, false),
    ] {
        let skeleton = aligned(skeleton(&program(order), true));
        let found = explore(&skeleton, model, Options::default()).expect("few executions");
        assert_eq!(found.undefined.is_empty(), is_ordered, "{order:x}");
        assert_eq!(found.allowed.contains_key(&vec![0]), !is_ordered, "{order:x}");
    }
    let mut diverging = aligned(skeleton(&program(global), true));
    diverging.traces[1].iter_mut().for_each(|trace| trace.events.retain(|it| it.location.is_some()));
    let found = explore(&diverging, Model::OpenCl, Options::default()).expect("few executions");
    assert!(found.undefined.values().any(|it| it.events.is_none() && it.items == (0, 1)));
}

#[test]
fn each_execution_is_visited_once() {
    // Two writers and two readers of one location: 2 orders, and per reader pairs of positions that do not go back.
    let read = |register| load(0, register, RELAXED, scope::DEVICE);
    let items = vec![
        vec![store(0, 1, RELAXED, scope::DEVICE)],
        vec![store(0, 1, RELAXED, scope::DEVICE)],
        vec![read(0), read(1)],
    ];
    let found = explore(&skeleton(&items, false), Model::OpenCl, Options::default()).expect("few executions");
    // Positions 0 to 2, not decreasing: 6 pairs for each of 2 orders.
    assert_eq!(found.executions, 12);
    let few = Options { budget: 5, ..Options::default() };
    assert_eq!(explore(&skeleton(&items, false), Model::OpenCl, few), Err(Error::TooMany(5)));
}

/// Only the release and the acquire of the flag are needed; a plain read after a failed check would be a race.
#[test]
fn unobserved_orders_can_be_weaker() {
    let items = vec![
        vec![store(0, 1, RELAXED, scope::DEVICE), store(1, 1, SEQ_CST, scope::DEVICE)],
        vec![load(1, 0, SEQ_CST, scope::DEVICE), load(0, 1, RELAXED, scope::DEVICE)],
    ];
    let mut skeleton = skeleton(&items, false);
    for (number, event) in (0..).zip(skeleton.events_mut()) {
        event.site += if number < 2 { 10 } else { 20 };
    }
    let weaker = weakest(&skeleton, Options::default()).expect("few executions");
    let to: Vec<_> = weaker.iter().map(|it| (it.site, it.to)).collect();
    let device = scope::DEVICE;
    assert_eq!(to, [(11, (semantics::RELEASE, device)), (20, (semantics::ACQUIRE, device))]);
}

#[test]
fn drawings_name_lines_and_sources() {
    let found = found(&message(RELEASE, ACQUIRE, scope::DEVICE), false, Model::OpenCl);
    let witness = &found.allowed[&vec![1, 1]];
    let names = |location: Location| match location.object {
        Object::Argument(number) => format!("<{number}>"),
        other => format!("{other:?}"),
    };
    let text = draw::text(witness, &names);
    assert!(text.contains("<1> is 1, acquire, device  <- work-item 0"), "{text}");
    let svg = draw::svg(witness, "a & b", &names);
    assert!(svg.contains("a &amp; b") && svg.contains("&lt;1&gt; = 1, release, device"), "{svg}");
    assert_eq!(svg.matches("marker-end").count(), 2);
}

/// A plain read that sees a racing write cannot be the reason for that write.
#[test]
fn values_out_of_thin_air_do_not_come_from_races() {
    let item = |read: u32, write: u32| {
        let written = Event { written: 1, ..Event::atomic(Action::Write, object(write), scope::DEVICE, 0) };
        let run = |value: u64| {
            let seen = Event { read: value, ..Event::plain(Action::Read, object(read), true) };
            let events = if value == 0 { vec![seen] } else { vec![seen, written.clone()] };
            Trace { events, is_assumed: value == 1, ..Trace::default() }
        };
        vec![run(0), run(1)]
    };
    let skeleton = |is_assumed: bool| {
        let mut traces = vec![item(0, 1), item(1, 0)];
        traces.iter_mut().flatten().for_each(|run| run.is_assumed &= is_assumed);
        let positions = [0, 1].map(|it| Position { group: it, sub_group: it, ..Position::default() });
        Skeleton { positions: positions.to_vec(), traces, parts: vec![object(0)], ..Skeleton::default() }
    };
    let explored = |is_assumed| {
        let options = Options { explains: true, ..Options::default() };
        explore(&skeleton(is_assumed), Model::OpenCl, options).expect("few executions")
    };
    let strict = explored(true);
    assert!(strict.undefined.is_empty() && strict.allowed.len() == 1);
    assert_eq!(strict.forbidden[&vec![1]].rule, Rule::Visibility);
    assert_eq!(explored(false).allowed.len(), 2);
}

#[test]
fn the_scope_of_a_device_does_not_include_others() {
    let program = store_buffering(SEQ_CST, scope::DEVICE);
    let mut skeleton = skeleton(&program, false);
    let race = |skeleton: &Skeleton| {
        !explore(skeleton, Model::OpenCl, Options::default()).expect("few executions").undefined.is_empty()
    };
    assert!(!race(&skeleton));
    skeleton.positions[1].device = 1;
    assert!(race(&skeleton));
    skeleton.events_mut().for_each(|event| event.scope = scope::CROSS_DEVICE);
    assert!(!race(&skeleton));
}

/// If no event reads a location, only its last write matters. Any write that no other follows can be the last.
#[test]
fn writes_that_nobody_reads_are_not_permuted() {
    let writes = |from: u64| {
        let one = |value| store(0, value, RELEASE, scope::DEVICE);
        vec![one(from), one(from + 1)]
    };
    let mut skeleton = skeleton(&[writes(1), writes(3), writes(5), writes(7)], false);
    skeleton.parts = vec![object(0)];
    for model in [Model::OpenCl, Model::Vulkan] {
        let found = explore(&skeleton, model, Options::default()).expect("few executions");
        let last: Vec<u64> = found.allowed.keys().map(|outcome| outcome[0]).collect();
        assert_eq!((last, found.executions), (vec![2, 4, 6, 8], 4));
        // All orders of the pairs, to compare: 8! / 2^4.
        let options = Options { explains: true, ..Options::default() };
        let all = explore(&skeleton, model, options).expect("few executions");
        assert_eq!((all.executions, all.allowed.keys().eq(found.allowed.keys())), (2520, true));
    }
}
