//! Jumps across several constructs become jumps that the target supports, with the same effect.

use kiln_ir::{Module, Op, parse, verify};
use kiln_passes::{self as passes, Providers};
use kiln_session::{Options, diag::Sink};

fn prepared(body: &str) -> Module {
    let text = format!(
        "kernel #0 \"k\"(%0: ptr<global>, %1: bool) {{\n  argument \"p\" \"int*\" pointer global align 4\n  \
         argument \"c\" \"int\" value size 4 align 4\n{body}\n}}\n"
    );
    let mut module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut after = None;
    passes::run(
        &mut module,
        &Options::default(),
        &Providers::default(),
        &mut Sink::default(),
        Some(&mut |name, module| {
            if name == "structure_exits" {
                after = Some(module.clone());
            }
        }),
    );
    let after = after.expect("the pass has run");
    assert_eq!(verify(&after), Vec::<String>::new(), "{after}");
    after
}

/// Whether the target supports every jump.
fn is_structured(module: &Module) -> bool {
    fn walk(module: &Module, block: kiln_ir::BlockId, around: &mut Vec<kiln_ir::InstId>) -> bool {
        let function = module.functions.iter().next().expect("a function");
        function.blocks[block].insts.iter().all(|&id| {
            let op = &function.insts[id].op;
            if let Some(target) = op.target() {
                let between = around.iter().rev().take_while(|id| **id != target);
                let is_obstacle = |op: &Op| match function.insts[target].op {
                    Op::Loop { .. } => matches!(op, Op::Loop { .. }),
                    Op::If { .. } => true,
                    _ => !matches!(op, Op::If { .. }),
                };
                return !between.into_iter().any(|id| is_obstacle(&function.insts[*id].op));
            }
            around.push(id);
            let is_fine = op.blocks().into_iter().all(|nested| walk(module, nested, around));
            around.pop();
            is_fine
        })
    }
    walk(module, module.functions.iter().next().expect("a function").body, &mut Vec::new())
}

#[test]
fn jumps_across_constructs_exit_one_construct_at_a_time() {
    for body in [
        // Out of two loops.
        "block L0 { loop L1 { loop L2 { if L3 %1 { exit L1 } else { exit L0 } unreachable } continuing { next L2 } \
         continue L1 } continuing { next L1 } exit L0 } return",
        // Out of an `if` from a nested one.
        "if L0 %1 { if L1 %1 { exit L0 } else { exit L1 } store align 4 %0, i32 1 exit L0 } else { exit L0 } return",
        // With a value.
        "%2: i32 = block L0 { switch L1 i32 3 { case 1 { loop L2 { exit L0 i32 5 } continuing { next L2 } unreachable } \
         default { exit L0 i32 6 } } unreachable } store align 4 %0, %2 return",
        // To the next iteration of an outer loop, and with a condition as the value.
        "loop L0 { %2: bool = block L1 { loop L2 { block L3 { if L4 %1 { continue L0 } else { exit L1 %1 } unreachable } \
         exit L2 } continuing { next L2 } exit L1 bool false } if L5 %2 { exit L0 } else { exit L5 } continue L0 } \
         continuing { next L0 } return",
    ] {
        let module = prepared(&body.replace("} ", "}\n").replace("{ ", "{\n"));
        assert!(is_structured(&module), "{module}");
    }
}
