//! Atomic operations of kernel modules with every order and scope, as DPC++ writes `sycl::atomic_ref`: each mask also names the
//! memory of the other objects. Their translations have the operands of the table in `docs/memory-model.md`.

use kiln_compiler::{
    Artifact, Emit, Il, compile,
    opencl::{Environment, Order, Scope},
    session::{NoFiles, Options, Source},
    target::Target,
    translate,
};
use kiln_memory::{
    Access, Operation, ProgramFacts, Replacement, Spaces, Sync, decode_scope, encode_atomic, failure_orders,
    replacement,
};

const HEADER: usize = 5;
const OP_TYPE_INT: u32 = 21;
const OP_CONSTANT: u32 = 43;
const OP_FUNCTION: u32 = 54;
const OP_ATOMIC_LOAD: u32 = 227;
const OP_ATOMIC_STORE: u32 = 228;
const OP_ATOMIC_EXCHANGE: u32 = 229;
const OP_ATOMIC_COMPARE_EXCHANGE: u32 = 230;
const OP_ATOMIC_XOR: u32 = 242;

/// SubgroupMemory, WorkgroupMemory and CrossWorkgroupMemory.
const CLASSES: u32 = 0x380;

/// The number of SPIR-V's scopes in kernels: from CrossDevice to Invocation, `sycl::memory_scope::work_item`.
const SCOPES: u32 = 5;

fn instructions(words: &[u32]) -> impl Iterator<Item = (usize, u32, &[u32])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let instruction = (at, first & 0xffff, &words[at + 1..at + (first >> 16) as usize]);
        at += (first >> 16) as usize;
        Some(instruction)
    })
}

/// The operands from the scope on of an atomic operation, after the opcode: the indices of the ids.
fn scope_and_masks(op: u32) -> Option<&'static [usize]> {
    match op {
        OP_ATOMIC_STORE => Some(&[1, 2]),
        OP_ATOMIC_COMPARE_EXCHANGE => Some(&[3, 4, 5]),
        OP_ATOMIC_LOAD..=OP_ATOMIC_XOR => Some(&[3, 4]),
        _ => None,
    }
}

/// The kernel module of one operation on an object of this address space.
fn module(call: &str, space: &str) -> Vec<u32> {
    let text =
        format!("kernel void k({space} atomic_uint *p, {space} uint *e) {{ {call}, memory_scope_device); }}");
    let source = Source { name: "k.cl".to_owned(), text: text.into_bytes() };
    let options = Options { target: Target::full(Environment::OpenCl), ..Options::default() };
    match compile(source, &options, &NoFiles, &Emit::Spirv).artifact {
        Some(Artifact::Module(module)) => module.words().to_vec(),
        _ => panic!("{call} compiles"),
    }
}

/// The module, with these values of the scope and the masks of its atomic operation.
fn with_operands(words: &[u32], values: &[u32]) -> Vec<u32> {
    let mut words = words.to_vec();
    let find = |words: &[u32], wanted: &dyn Fn(u32, &[u32]) -> bool| {
        let found = instructions(words).find(|&(_, op, operands)| wanted(op, operands));
        found.map(|(at, op, operands)| (at, op, operands.to_vec())).expect("the instruction is there")
    };
    let (_, _, uint) = find(&words, &|op, operands| op == OP_TYPE_INT && operands[1..] == [32, 0]);
    let (at, op, _) = find(&words, &|op, _| scope_and_masks(op).is_some());
    let bound = words[3];
    for (id, &index) in (bound..).zip(scope_and_masks(op).expect("it is atomic")) {
        words[at + 1 + index] = id;
    }
    words[3] += values.len() as u32;
    let (function, ..) = find(&words, &|op, _| op == OP_FUNCTION);
    let constants =
        (bound..).zip(values).flat_map(|(id, &value)| [4 << 16 | OP_CONSTANT, uint[0], id, value]);
    words.splice(function..function, constants.collect::<Vec<_>>());
    words
}

/// The opcodes of the atomic operations, each with its scope and masks.
fn atomics(words: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let value = |id: u32| {
        let mut constants = instructions(words).filter(|(_, op, _)| *op == OP_CONSTANT);
        constants.find_map(|(_, _, operands)| (operands[1] == id).then_some(operands[2])).expect("a constant")
    };
    let found = instructions(words).filter_map(|(_, op, operands)| {
        let indices = scope_and_masks(op)?;
        Some((op, indices.iter().map(|&index| value(operands[index])).collect()))
    });
    found.collect()
}

fn translated(words: &[u32]) -> Vec<u32> {
    let il = Il { name: "k.spv", words, specialization: &[] };
    let output = translate(&il, &Options::default(), &Emit::Spirv).expect("the module is valid");
    match output.artifact {
        Some(Artifact::Module(module)) => module.words().to_vec(),
        _ => panic!("no module"),
    }
}

fn mask(order: Order) -> u32 {
    let bits = match order {
        Order::Relaxed => 0,
        Order::Acquire => 0x2,
        Order::Release => 0x4,
        Order::AcqRel => 0x8,
        Order::SeqCst => 0x10,
    };
    bits | CLASSES
}

/// The operations of the table, with their opcodes.
fn expected(access: Access, op: u32, object: Spaces, sync: Sync) -> Vec<(u32, Vec<u32>)> {
    let around = ProgramFacts { seq_cst_on_object: sync.order == Order::SeqCst, ..ProgramFacts::default() };
    let operation = Operation::Atomic(access, object);
    let operands = |op: u32, access, sync| {
        let operands = encode_atomic(&Target::full(Environment::Vulkan), access, object, sync);
        let masks = [Some(operands.semantics), operands.unequal].into_iter().flatten();
        (op, std::iter::once(operands.scope.value()).chain(masks.map(|mask| mask.value())).collect())
    };
    const OP_ATOMIC_OR: u32 = 241;
    match replacement(Environment::Vulkan, operation, sync, &around) {
        Replacement::Same(sync) => vec![operands(op, access, sync)],
        Replacement::LoadAsModify(sync) => vec![operands(OP_ATOMIC_OR, Access::Modify, sync)],
        Replacement::StoreAsExchange(sync) => vec![operands(OP_ATOMIC_EXCHANGE, Access::Modify, sync)],
        Replacement::CompareExchange { attempt, reread } => {
            vec![operands(op, access, attempt), operands(OP_ATOMIC_OR, Access::Modify, reread)]
        }
        Replacement::FenceThroughWord { .. } => panic!("it is a fence"),
    }
}

#[test]
fn operands_are_those_of_the_table() {
    const OP_ATOMIC_IADD: u32 = 234;
    let relaxed = "memory_order_relaxed";
    let calls = [
        (Access::Load, OP_ATOMIC_LOAD, format!("atomic_load_explicit(p, {relaxed}")),
        (Access::Store, OP_ATOMIC_STORE, format!("atomic_store_explicit(p, 1, {relaxed}")),
        (Access::Modify, OP_ATOMIC_EXCHANGE, format!("atomic_exchange_explicit(p, 1, {relaxed}")),
        (Access::Modify, OP_ATOMIC_IADD, format!("atomic_fetch_add_explicit(p, 1, {relaxed}")),
        (
            Access::CompareExchange,
            OP_ATOMIC_COMPARE_EXCHANGE,
            format!("atomic_compare_exchange_strong_explicit(p, e, 1, {relaxed}, {relaxed}"),
        ),
    ];
    let mut count = 0;
    for (access, op, call) in &calls {
        for (space, object) in [("global", Spaces::GLOBAL), ("local", Spaces::LOCAL)] {
            let words = module(call, space);
            for &order in access.orders() {
                let failures = match access {
                    Access::CompareExchange => failure_orders(order),
                    Access::Load | Access::Store | Access::Modify => &[Order::Relaxed],
                };
                for (&failure, number) in failures.iter().flat_map(|it| (0..SCOPES).map(move |n| (it, n))) {
                    let is_exchange = *access == Access::CompareExchange;
                    let unequal = is_exchange.then_some(mask(failure));
                    let values: Vec<u32> =
                        [Some(number), Some(mask(order)), unequal].into_iter().flatten().collect();
                    // OpenCL C has no operation of a work-item; the next scope includes it.
                    let scope = match decode_scope(number).expect("a scope") {
                        Scope::WorkItem => Scope::SubGroup,
                        other => other,
                    };
                    let sync = Sync {
                        failure: is_exchange.then_some(failure),
                        spaces: Spaces::BOTH,
                        ..Sync::atomic(object, order, scope)
                    };
                    assert_eq!(
                        atomics(&translated(&with_operands(&words, &values))),
                        expected(*access, *op, object, sync),
                        "{call} in {space} memory, with {values:x?}"
                    );
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 2 * 5 * (3 + 3 + 5 + 5 + 10));
}
