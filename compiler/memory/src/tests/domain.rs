//! Every operation with every order, scope and kind of memory, in both environments and on every kind of device: legal
//! operations are encoded without violating the verifier's rules, all others are rejected.

use super::*;
use kiln_verify::masks::{
    Execution, Kind, violated_by_execution_scope, violated_by_mask, violated_by_memory_scope,
    violated_by_pair,
};
use kiln_vocabulary::target::Features;

/// The legal pairs of order and failure order of a compare-exchange, listed explicitly.
const PAIRS: [(Order, Order); 10] = [
    (Order::Relaxed, Order::Relaxed),
    (Order::Acquire, Order::Relaxed),
    (Order::Acquire, Order::Acquire),
    (Order::Release, Order::Relaxed),
    (Order::Release, Order::Acquire),
    (Order::AcqRel, Order::Relaxed),
    (Order::AcqRel, Order::Acquire),
    (Order::SeqCst, Order::Relaxed),
    (Order::SeqCst, Order::Acquire),
    (Order::SeqCst, Order::SeqCst),
];

/// The rules for programs, written again without `legal`.
fn is_legal(target: &Target, operation: Operation, sync: Sync) -> bool {
    let work_item = sync.scope == Scope::WorkItem;
    let image = sync.spaces.contains(Spaces::IMAGE);
    match operation {
        Operation::Atomic(access, object) => {
            let order = match access {
                Access::Load => !matches!(sync.order, Order::Release | Order::AcqRel),
                Access::Store => !matches!(sync.order, Order::Acquire | Order::AcqRel),
                Access::Modify => true,
                Access::CompareExchange => {
                    sync.failure.is_none_or(|failure| PAIRS.contains(&(sync.order, failure)))
                }
            };
            order && !work_item && object != Spaces::NONE
        }
        Operation::Fence if image => sync.spaces == Spaces::IMAGE && sync.order == Order::AcqRel && work_item,
        Operation::Fence => !work_item,
        Operation::Barrier(Group::Work) => !work_item && (!image || sync.scope == Scope::WorkGroup),
        Operation::Barrier(Group::Sub) => !work_item && target.features.subgroups,
    }
}

fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    for environment in [Environment::Vulkan, Environment::OpenCl] {
        for bits in 0..8 {
            let features = Features {
                device_scope: bits & 1 != 0,
                availability_chains: bits & 2 != 0,
                subgroups: bits & 4 != 0,
                ..Features::full()
            };
            targets.push(Target { features, ..Target::full(environment) });
        }
    }
    targets
}

/// All combinations, legal or not.
fn domain() -> Vec<(Operation, Sync)> {
    let mut domain = Vec::new();
    let all_flags: Vec<Spaces> = (0..8).filter_map(FenceFlags::from_value).map(Spaces::from).collect();
    let failures: Vec<Option<Order>> = Order::ALL.into_iter().map(Some).chain([None]).collect();
    for scope in Scope::ALL {
        for order in Order::ALL {
            for access in Access::ALL {
                for object in [Spaces::NONE, Spaces::GLOBAL, Spaces::LOCAL, Spaces::BOTH] {
                    for failure in &failures {
                        for spaces in [object, Spaces::BOTH] {
                            let sync = Sync { order, failure: *failure, scope, spaces };
                            domain.push((Operation::Atomic(access, object), sync));
                        }
                    }
                }
            }
            for spaces in &all_flags {
                domain.push((Operation::Fence, Sync::fence(spaces.flags(), order, scope)));
            }
        }
        for spaces in &all_flags {
            for barrier in [Group::Work, Group::Sub].map(Operation::Barrier) {
                domain.push((barrier, Sync::barrier(spaces.flags(), scope)));
            }
        }
    }
    domain
}

/// The rules of the verifier that the operands violate.
fn violated_rules(target: &Target, operation: Operation, encoded: Encoded) -> Vec<&'static str> {
    let environment = target.environment;
    let vulkan = environment == Environment::Vulkan;
    let (kind, scope, masks) = match encoded {
        Encoded::Fence(None) => return Vec::new(),
        Encoded::Atomic(AtomicOperands { scope, semantics, unequal }) => {
            let kind = match operation {
                Operation::Atomic(Access::Load, _) => Kind::AtomicLoad,
                Operation::Atomic(Access::Store, _) => Kind::AtomicStore,
                _ => Kind::AtomicModify,
            };
            assert_eq!(
                unequal.is_some(),
                matches!(operation, Operation::Atomic(Access::CompareExchange, _)),
                "{encoded:?} for {operation:?}"
            );
            (kind, scope, [Some(semantics), unequal].into_iter().flatten().collect())
        }
        Encoded::Fence(Some(FenceOperands { scope, semantics })) => {
            (Kind::MemoryBarrier, scope, vec![semantics])
        }
        Encoded::Barrier(BarrierOperands { memory, semantics, .. }) => {
            (Kind::ControlBarrier, memory, vec![semantics])
        }
    };
    let masks: Vec<u32> = masks.into_iter().map(Semantics::value).collect();
    let mut rules: Vec<_> =
        masks.iter().flat_map(|mask| violated_by_mask(environment, vulkan, kind, *mask)).collect();
    rules.extend(violated_by_memory_scope(environment, kind, scope.value(), &masks));
    if let [equal, unequal] = masks[..] {
        rules.extend(violated_by_pair(environment, equal, unequal));
    }
    if let Encoded::Barrier(BarrierOperands { execution, .. }) = encoded {
        rules.extend(violated_by_execution_scope(environment, Execution::Barrier, execution.value()));
    }
    let mut rules: Vec<&str> = rules.into_iter().map(|rule| rule.id).collect();
    if vulkan && scope == SpirvScope::Device && !target.features.device_scope {
        rules.push("VUID-RuntimeSpirv-vulkanMemoryModel-06265");
    }
    rules
}

#[test]
fn legal_operations_are_encoded_and_illegal_ones_rejected() {
    let (mut tried, mut rejected, mut emitted, mut nothing) = (0, 0, 0, 0);
    for target in targets() {
        for (operation, sync) in domain() {
            tried += 1;
            let expressible = target.environment == Environment::OpenCl || sync.order != Order::SeqCst;
            let encoded = encode(&target, operation, sync);
            assert_eq!(
                encoded.is_ok(),
                is_legal(&target, operation, sync) && expressible,
                "{operation:?} {sync:?} {encoded:?}"
            );
            match encoded {
                Err(_) => rejected += 1,
                Ok(Encoded::Fence(None)) => nothing += 1,
                Ok(encoded) => {
                    emitted += 1;
                    let rules = violated_rules(&target, operation, encoded);
                    assert!(rules.is_empty(), "{operation:?} {sync:?} {encoded:?} {rules:?}");
                }
            }
        }
    }
    println!("tried {tried}, rejected {rejected}, emitted {emitted}, without an instruction {nothing}");
    assert!(rejected > 1000 && emitted > 1000 && nothing > 0);
}

/// The emitted operation orders at least what the program requires.
#[test]
fn operands_are_at_least_as_strong_as_the_program_requires() {
    for target in targets() {
        for (operation, sync) in domain() {
            let Ok(encoded) = encode(&target, operation, sync) else { continue };
            let mask = match encoded {
                Encoded::Fence(None) => continue,
                Encoded::Atomic(operands) => operands.semantics,
                Encoded::Fence(Some(operands)) => operands.semantics,
                Encoded::Barrier(operands) => operands.semantics,
            };
            let any = |bits: [Semantics; 3]| bits.into_iter().any(|bit| mask.contains(bit));
            let (both, strict) = (Semantics::ACQUIRE_RELEASE, Semantics::SEQUENTIALLY_CONSISTENT);
            let context = format!("{operation:?} {sync:?} {mask}");
            let ordered = sync.ordered();
            if !ordered.is_empty() {
                assert!(!sync.order.acquires() || any([Semantics::ACQUIRE, both, strict]), "{context}");
                assert!(!sync.order.releases() || any([Semantics::RELEASE, both, strict]), "{context}");
                assert!(!ordered.contains(Spaces::LOCAL) || mask.contains(Semantics::WORKGROUP_MEMORY));
                assert!(!ordered.contains(Spaces::IMAGE) || mask.contains(Semantics::IMAGE_MEMORY));
                let global = match target.environment {
                    Environment::Vulkan => Semantics::UNIFORM_MEMORY,
                    Environment::OpenCl => Semantics::CROSS_WORKGROUP_MEMORY,
                };
                assert!(!ordered.contains(Spaces::GLOBAL) || mask.contains(global), "{context}");
                if target.environment == Environment::Vulkan {
                    // R8
                    let made = mask.contains(Semantics::MAKE_AVAILABLE);
                    assert!(made || !sync.order.releases(), "{context}");
                    let seen = mask.contains(Semantics::MAKE_VISIBLE);
                    assert!(seen || !sync.order.acquires(), "{context}");
                }
            }
            let scope = match encoded {
                Encoded::Fence(None) => continue,
                Encoded::Atomic(operands) => operands.scope,
                Encoded::Fence(Some(operands)) => operands.scope,
                Encoded::Barrier(_) if ordered.is_empty() => continue,
                Encoded::Barrier(operands) => operands.memory,
            };
            let local = match operation {
                Operation::Atomic(_, object) => object == Spaces::LOCAL,
                Operation::Fence | Operation::Barrier(_) => ordered == Spaces::LOCAL,
            };
            let wanted = match sync.scope {
                Scope::WorkItem => 0,
                Scope::SubGroup => 1,
                Scope::WorkGroup => 2,
                Scope::Device | Scope::AllSvmDevices if local => 2,
                Scope::AllSvmDevices if target.environment == Environment::OpenCl => 4,
                Scope::Device | Scope::AllSvmDevices => 3,
            };
            let given = match scope {
                SpirvScope::Invocation => 0,
                SpirvScope::Subgroup => 1,
                SpirvScope::Workgroup => 2,
                SpirvScope::Device | SpirvScope::QueueFamily => 3,
                SpirvScope::CrossDevice => 4,
            };
            assert!(given >= wanted, "{context} {scope:?}");
        }
    }
}

/// For each legal operation and all facts about its program, the replacement by R1 to R7 can be emitted for Vulkan.
#[test]
fn replacements_can_be_emitted() {
    let mut replaced = 0;
    for target in targets().into_iter().filter(|target| target.environment == Environment::Vulkan) {
        for (operation, sync) in domain() {
            if !is_legal(&target, operation, sync) {
                continue;
            }
            for bits in 0..16 {
                let released = if bits & 2 == 0 { Spaces::NONE } else { Spaces::GLOBAL };
                let facts = ProgramFacts {
                    seq_cst_on_object: bits & 1 != 0,
                    released: if bits & 4 == 0 { released } else { Spaces::BOTH },
                    orders_both: bits & 8 != 0,
                };
                let object = match operation {
                    Operation::Atomic(_, object) => object,
                    Operation::Fence | Operation::Barrier(_) => Spaces::GLOBAL,
                };
                let modify = Operation::Atomic(Access::Modify, object);
                let pieces = match replacement(target.environment, operation, sync, &facts) {
                    Replacement::Same(same) => vec![(operation, same)],
                    Replacement::LoadAsModify(sync) | Replacement::StoreAsExchange(sync) => {
                        vec![(modify, sync)]
                    }
                    Replacement::CompareExchange { attempt, reread } => {
                        vec![(operation, attempt), (modify, reread)]
                    }
                    Replacement::FenceThroughWord { before, word, after } => vec![
                        (Operation::Fence, before),
                        (Operation::Atomic(Access::Modify, Spaces::GLOBAL), word),
                        (Operation::Fence, after),
                    ],
                };
                for (operation, sync) in pieces {
                    let encoded = encode(&target, operation, sync);
                    let encoded =
                        encoded.unwrap_or_else(|problem| panic!("{operation:?} {sync:?} {problem:?}"));
                    assert!(violated_rules(&target, operation, encoded).is_empty());
                    replaced += 1;
                }
            }
        }
    }
    println!("{replaced} operations in place of others");
}
