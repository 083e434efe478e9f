//! Rows of the mapping as in the specification, and the construction of sequential consistency. `tests/domain.rs` covers
//! the whole domain.

mod domain;

use super::*;
use kiln_vocabulary::{
    opencl::{Environment, FetchKey},
    target::Target,
};

fn vulkan() -> Target {
    Target::full(Environment::Vulkan)
}

fn opencl() -> Target {
    Target::full(Environment::OpenCl)
}

/// The operands of any operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoded {
    Atomic(AtomicOperands),
    Fence(Option<FenceOperands>),
    Barrier(BarrierOperands),
}

/// The operands of a legal operation.
fn encode(target: &Target, operation: Operation, sync: Sync) -> Result<Encoded, Problem> {
    check(target, operation, sync).map(|()| match operation {
        Operation::Atomic(access, object) => Encoded::Atomic(encode_atomic(target, access, object, sync)),
        Operation::Fence => Encoded::Fence(encode_fence(target, sync)),
        Operation::Barrier(group) => Encoded::Barrier(encode_barrier(target, group, sync)),
    })
}

fn atomic(target: &Target, access: Access, object: Spaces, order: Order, scope: Scope) -> (u32, u32) {
    let sync = Sync::atomic(object, order, scope);
    match encode(target, Operation::Atomic(access, object), sync).expect("legal") {
        Encoded::Atomic(operands) => (operands.scope.value(), operands.semantics.value()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn message_passing_releases_and_acquires_its_storage_class() {
    let target = vulkan();
    assert_eq!(atomic(&target, Access::Store, Spaces::GLOBAL, Order::Release, Scope::Device), (1, 0x2044));
    assert_eq!(atomic(&target, Access::Load, Spaces::GLOBAL, Order::Acquire, Scope::Device), (1, 0x4042));
    assert_eq!(atomic(&target, Access::Modify, Spaces::LOCAL, Order::AcqRel, Scope::Device), (2, 0x6108));
    let target = opencl();
    assert_eq!(atomic(&target, Access::Store, Spaces::GLOBAL, Order::Release, Scope::Device), (1, 0x204));
    assert_eq!(
        atomic(&target, Access::Load, Spaces::LOCAL, Order::Acquire, Scope::AllSvmDevices),
        (2, 0x102)
    );
    assert_eq!(
        atomic(&target, Access::Modify, Spaces::GLOBAL, Order::SeqCst, Scope::AllSvmDevices),
        (0, 0x310)
    );
}

#[test]
fn relaxed_has_no_bits() {
    for target in [vulkan(), opencl()] {
        for object in [Spaces::GLOBAL, Spaces::LOCAL, Spaces::BOTH] {
            assert_eq!(atomic(&target, Access::Modify, object, Order::Relaxed, Scope::WorkGroup), (2, 0));
        }
        let legacy = Sync::legacy_atomic(Spaces::GLOBAL);
        let add = Operation::Atomic(Access::Modify, Spaces::GLOBAL);
        let encoded = encode(&target, add, legacy);
        let (scope, semantics) = (SpirvScope::Device, Semantics::RELAXED);
        assert_eq!(encoded, Ok(Encoded::Atomic(AtomicOperands { scope, semantics, unequal: None })));
    }
}

#[test]
fn release_with_acquire_on_failure_acquires_on_success_too() {
    let sync = Sync::compare_exchange(Spaces::GLOBAL, Order::Release, Order::Acquire, Scope::Device);
    let operands = encode_atomic(&vulkan(), Access::CompareExchange, Spaces::GLOBAL, sync);
    assert_eq!((operands.semantics.value(), operands.unequal.map(Semantics::value)), (0x6048, Some(0x4042)));
}

#[test]
fn barriers_order_the_memory_of_their_flags() {
    let both = FenceFlags::LOCAL.union(FenceFlags::GLOBAL);
    let rows = [
        (FenceFlags::NONE, Scope::WorkGroup, (2, 0)),
        (FenceFlags::LOCAL, Scope::WorkGroup, (2, 0x6108)),
        (FenceFlags::LOCAL, Scope::Device, (2, 0x6108)),
        (FenceFlags::GLOBAL, Scope::Device, (1, 0x6048)),
        (FenceFlags::GLOBAL, Scope::SubGroup, (2, 0x6048)),
        (both, Scope::AllSvmDevices, (1, 0x6148)),
        (FenceFlags::IMAGE, Scope::WorkGroup, (2, 0x6808)),
    ];
    for (flags, scope, expected) in rows {
        let barrier = Sync::barrier(flags, scope);
        assert_eq!(check(&vulkan(), Operation::Barrier(Group::Work), barrier), Ok(()));
        let operands = encode_barrier(&vulkan(), Group::Work, barrier);
        assert_eq!(operands.execution, SpirvScope::Workgroup);
        assert_eq!((operands.memory.value(), operands.semantics.value()), expected, "{flags} {scope:?}");
    }
}

#[test]
fn a_device_without_the_device_scope_gets_the_queue_family() {
    let mut target = vulkan();
    target.features.device_scope = false;
    assert_eq!(atomic(&target, Access::Load, Spaces::GLOBAL, Order::Acquire, Scope::Device), (5, 0x4042));
    assert_eq!(atomic(&target, Access::Load, Spaces::LOCAL, Order::Acquire, Scope::Device), (2, 0x4102));
}

#[test]
fn without_chains_every_scope_is_the_device() {
    let mut target = vulkan();
    target.features.availability_chains = false;
    for scope in [Scope::SubGroup, Scope::WorkGroup, Scope::Device] {
        assert_eq!(atomic(&target, Access::Load, Spaces::LOCAL, Order::Acquire, scope), (1, 0x4102));
    }
    assert_eq!(
        encode_barrier(&target, Group::Work, Sync::barrier(FenceFlags::LOCAL, Scope::WorkGroup)),
        BarrierOperands {
            execution: SpirvScope::Workgroup,
            memory: SpirvScope::Device,
            semantics: Semantics::ACQUIRE_RELEASE
                .union(Semantics::WORKGROUP_MEMORY)
                .union(Semantics::MAKE_AVAILABLE)
                .union(Semantics::MAKE_VISIBLE),
        }
    );
}

#[test]
fn legacy_fences_have_work_group_scope() {
    for (order, expected) in [(Order::AcqRel, 0x6048), (Order::Acquire, 0x4042), (Order::Release, 0x2044)] {
        let sync = Sync::fence(FenceFlags::GLOBAL, order, Scope::WorkGroup);
        let fence = encode_fence(&vulkan(), sync).map(|fence| (fence.scope, fence.semantics.value()));
        assert_eq!(fence, Some((SpirvScope::Workgroup, expected)));
    }
}

#[test]
fn an_image_fence_is_an_instruction_in_opencl_only() {
    let sync = Sync::fence(FenceFlags::IMAGE, Order::AcqRel, Scope::WorkItem);
    assert_eq!(encode(&vulkan(), Operation::Fence, sync), Ok(Encoded::Fence(None)));
    let semantics = Semantics::ACQUIRE_RELEASE.union(Semantics::IMAGE_MEMORY);
    let scope = SpirvScope::Invocation;
    let expected = Encoded::Fence(Some(FenceOperands { scope, semantics }));
    assert_eq!(encode(&opencl(), Operation::Fence, sync), Ok(expected));
}

#[test]
fn volatile_marks_both_masks() {
    let sync = Sync::compare_exchange(Spaces::GLOBAL, Order::Relaxed, Order::Relaxed, Scope::Device);
    let operands = encode_atomic(&vulkan(), Access::CompareExchange, Spaces::GLOBAL, sync);
    let marked = operands.on_volatile(Environment::Vulkan);
    assert_eq!((marked.semantics, marked.unequal), (Semantics::VOLATILE, Some(Semantics::VOLATILE)));
    assert_eq!(operands.on_volatile(Environment::OpenCl), operands);
}

#[test]
fn constant_arguments_are_checked_beside_unknown_ones() {
    let code = |result: Result<(), Problem>| result.map_err(|problem| problem.rule);
    let store = AtomicOp::Store;
    assert_eq!(code(check_atomic(store, Some(Order::Acquire), None, None)), Err(Rule::AtomicOrderStore));
    assert_eq!(code(check_atomic(store, None, None, Some(Scope::WorkItem))), Err(Rule::ScopeWorkItem));
    assert_eq!(code(check_atomic(AtomicOp::FlagClear, None, None, None)), Ok(()));
    let exchange = AtomicOp::CompareExchangeWeak;
    assert_eq!(code(check_atomic(exchange, None, Some(Order::AcqRel), None)), Err(Rule::AtomicOrderFailure));
    assert_eq!(code(check_atomic(exchange, None, Some(Order::SeqCst), None)), Ok(()));
    let add = AtomicOp::Fetch(FetchKey::Add);
    assert_eq!(code(check_atomic(add, Some(Order::AcqRel), None, Some(Scope::SubGroup))), Ok(()));
    assert_eq!(code(check_fence(None, None, Some(Scope::WorkItem))), Ok(()));
    assert_eq!(code(check_fence(Some(FenceFlags::IMAGE), Some(Order::Release), None)), Err(Rule::FenceImage));
    assert_eq!(code(check_barrier(Group::Work, None, Some(Scope::WorkItem))), Err(Rule::ScopeWorkItem));
}

#[test]
fn features_gate_orders_and_scopes_but_not_of_fences() {
    let bare =
        Support { acq_rel: false, seq_cst: false, device: false, all_devices: false, sub_groups: false };
    let load = Operation::Atomic(Access::Load, Spaces::GLOBAL);
    let code = |operation, order, scope| {
        check_support(operation, Some(order), Some(scope), bare).map_err(|problem| problem.rule)
    };
    assert_eq!(code(load, Order::Acquire, Scope::WorkGroup), Err(Rule::OrderUnsupported));
    assert_eq!(code(Operation::Fence, Order::Acquire, Scope::WorkGroup), Ok(()));
    assert_eq!(code(Operation::Fence, Order::SeqCst, Scope::WorkGroup), Err(Rule::OrderUnsupported));
    for scope in [Scope::SubGroup, Scope::Device, Scope::AllSvmDevices] {
        assert_eq!(code(load, Order::Relaxed, scope), Err(Rule::ScopeUnsupported));
    }
}

#[test]
fn a_fence_of_unknown_arguments_covers_every_legal_one() {
    let fences = strongest_fence(None, None, None);
    assert_eq!(fences.len(), 2);
    assert_eq!(synchronized(fences), Spaces::BOTH.union(Spaces::IMAGE));
    let known = strongest_fence(Some(FenceFlags::GLOBAL), Some(Order::Release), None);
    assert_eq!(known, [Sync::fence(FenceFlags::GLOBAL, Order::Release, Scope::AllSvmDevices)]);
}

#[test]
fn store_buffering_becomes_read_modify_writes() {
    let facts = ProgramFacts { seq_cst_on_object: true, ..ProgramFacts::default() };
    let replace = |access, order| {
        let operation = Operation::Atomic(access, Spaces::GLOBAL);
        let sync = Sync::atomic(Spaces::GLOBAL, order, Scope::WorkGroup);
        replacement(Environment::Vulkan, operation, sync, &facts)
    };
    let strict = |scope| Sync { order: Order::AcqRel, failure: None, scope, spaces: Spaces::BOTH };
    assert_eq!(replace(Access::Load, Order::SeqCst), Replacement::LoadAsModify(strict(Scope::Device)));
    assert_eq!(replace(Access::Store, Order::SeqCst), Replacement::StoreAsExchange(strict(Scope::WorkGroup)));
    let relaxed = Sync::atomic(Spaces::GLOBAL, Order::Relaxed, Scope::WorkGroup);
    assert_eq!(replace(Access::Store, Order::Relaxed), Replacement::StoreAsExchange(relaxed));
    let device = Sync { scope: Scope::Device, ..relaxed };
    assert_eq!(replace(Access::Load, Order::Relaxed), Replacement::Same(device));
}

#[test]
fn a_store_after_a_release_releases_too() {
    let facts = ProgramFacts { released: Spaces::BOTH, ..ProgramFacts::default() };
    let store = Sync::atomic(Spaces::GLOBAL, Order::Relaxed, Scope::Device);
    let operation = Operation::Atomic(Access::Store, Spaces::GLOBAL);
    assert_eq!(
        replacement(Environment::Vulkan, operation, store, &facts),
        Replacement::Same(Sync { order: Order::Release, spaces: Spaces::BOTH, ..store })
    );
}

/// Each rule is named where it changed the operation, and nowhere else.
#[test]
fn replacements_name_their_rules() {
    use MappingRule::{
        FailureRereads, FenceThroughWord, OrdersBoth, ReleaseSequence, SeqCstModifies, StoresExchange,
        WidestScope,
    };
    let none = ProgramFacts::default();
    let mixed = ProgramFacts { seq_cst_on_object: true, ..none };
    let released = ProgramFacts { released: Spaces::GLOBAL, ..none };
    let both = ProgramFacts { orders_both: true, ..none };
    let all = ProgramFacts { seq_cst_on_object: true, released: Spaces::GLOBAL, orders_both: true };
    let cases: [(Access, Order, ProgramFacts, &[MappingRule]); 12] = [
        (Access::Load, Order::Acquire, none, &[]),
        (Access::Load, Order::SeqCst, none, &[SeqCstModifies]),
        (Access::Load, Order::Relaxed, both, &[]),
        (Access::Load, Order::Acquire, all, &[OrdersBoth, WidestScope]),
        (Access::Store, Order::Relaxed, mixed, &[StoresExchange]),
        (Access::Store, Order::Relaxed, released, &[ReleaseSequence]),
        (Access::Store, Order::Release, released, &[]),
        (Access::Store, Order::Relaxed, all, &[ReleaseSequence, OrdersBoth, StoresExchange]),
        (Access::Modify, Order::AcqRel, mixed, &[]),
        (Access::Modify, Order::AcqRel, both, &[OrdersBoth]),
        (Access::CompareExchange, Order::SeqCst, none, &[SeqCstModifies, FailureRereads]),
        (Access::CompareExchange, Order::Relaxed, mixed, &[WidestScope]),
    ];
    for (access, order, facts, expected) in cases {
        let operation = Operation::Atomic(access, Spaces::GLOBAL);
        let sync = Sync::atomic(Spaces::GLOBAL, order, Scope::WorkGroup);
        let (_, rules) = explained_replacement(Environment::Vulkan, operation, sync, &facts);
        assert_eq!(rules, expected, "{access:?} {order:?} {facts:?}");
        assert_eq!(explained_replacement(Environment::OpenCl, operation, sync, &facts).1, []);
    }
    let fence = |order| {
        let sync = Sync::fence(FenceFlags::GLOBAL, order, Scope::Device);
        explained_replacement(Environment::Vulkan, Operation::Fence, sync, &both).1
    };
    assert_eq!(fence(Order::SeqCst), [FenceThroughWord]);
    assert_eq!(fence(Order::Release), [OrdersBoth]);
}

/// `KILN_BLESS=1`, which `cargo xtask bless` sets, rewrites the page.
#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/memory-model.md");
    let rendered = render_markdown();
    if std::env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, &rendered).expect("docs/memory-model.md can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == rendered, "docs/memory-model.md is stale: run `cargo xtask bless`");
}
