//! Replaces a literal work-group size by specialization constants, so that partial groups can be smaller.
//!
//! Must not depend on a device or a launch.

use crate::error::Result;
use crate::interface::SpecId;
use crate::module::{Instruction, Module, op};

/// The generator id of Kiln's modules.
const KILN: u32 = 1;
const SPEC_ID: u32 = 1;
/// A larger one has no successor.
const MAX_SPEC_ID: u32 = u32::MAX - 1;
const BUILT_IN: u32 = 11;
const WORKGROUP_SIZE: u32 = 25;

/// Adds an object `BuiltIn WorkgroupSize` made of three constants, which overrides every `LocalSize` (Vulkan,
/// `WorkgroupSize`), and returns their ids. `None` if the module's code may depend on the literal: it already has
/// such an object, or is not Kiln's.
pub(crate) fn with_constants(module: &Module) -> Result<Option<(Module, [SpecId; 3])>> {
    if module.generator() != KILN {
        return Ok(None);
    }
    let mut next_spec_id = 0;
    for decoration in module.instructions().filter(|it| it.opcode == op::DECORATE) {
        match (decoration.operand(1), decoration.operand(2)) {
            (Some(BUILT_IN), Some(WORKGROUP_SIZE)) => return Ok(None),
            (Some(SPEC_ID), Some(id)) => next_spec_id = next_spec_id.max(id.saturating_add(1)),
            _ => {}
        }
    }
    if next_spec_id > MAX_SPEC_ID - 2 {
        return Ok(None);
    }
    let mut next = module.bound();
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let mut types = Vec::new();
    // A module declares each scalar type only once (SPIR-V 2.8).
    let mut known = |opcode: u16, operands: [u32; 2]| {
        let is_it = |it: &Instruction<'_>| it.opcode == opcode && it.operands.get(1..) == Some(&operands[..]);
        module.instructions().find(is_it).and_then(|it| it.operand(0)).unwrap_or_else(|| {
            let id = fresh();
            push(&mut types, opcode, &[id, operands[0], operands[1]]);
            id
        })
    };
    let int = known(op::TYPE_INT, [32, 0]);
    let vector = known(op::TYPE_VECTOR, [int, 3]);
    let ids = [0, 1, 2].map(|dimension| SpecId(next_spec_id + dimension));
    let mut decorations = Vec::new();
    let parts = ids.map(|SpecId(spec_id)| {
        let id = fresh();
        push(&mut decorations, op::DECORATE, &[id, SPEC_ID, spec_id]);
        push(&mut types, op::SPEC_CONSTANT, &[int, id, 1]);
        id
    });
    let size = fresh();
    push(&mut decorations, op::DECORATE, &[size, BUILT_IN, WORKGROUP_SIZE]);
    push(&mut types, op::SPEC_CONSTANT_COMPOSITE, &[vector, size, parts[0], parts[1], parts[2]]);
    // Decorations end where types start, and types end where functions start.
    let is_type = |opcode: u16| (op::TYPE_VOID..=op::TYPE_FORWARD_POINTER).contains(&opcode);
    let sized = module.with_inserted(next, &[(is_type, &decorations), (|it| it == op::FUNCTION, &types)])?;
    Ok(Some((sized, ids)))
}

fn push(words: &mut Vec<u32>, opcode: u16, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | u32::from(opcode));
    words.extend_from_slice(operands);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u32; 5] = [0x0723_0203, 0x0001_0500, KILN, 10, 0];

    fn module(body: &[(u16, &[u32])]) -> Module {
        let mut words = HEADER.to_vec();
        for (opcode, operands) in body {
            push(&mut words, *opcode, operands);
        }
        Module::new(&words).expect("a whole module")
    }

    fn opcodes(module: &Module) -> Vec<u16> {
        module.instructions().map(|instruction| instruction.opcode).collect()
    }

    #[test]
    fn the_size_becomes_constants_in_their_sections() {
        let plain = module(&[
            (op::DECORATE, &[4, SPEC_ID, 6]),
            (op::TYPE_VOID, &[1]),
            (op::TYPE_INT, &[2, 32, 0]),
            (op::FUNCTION, &[1, 3, 0, 5]),
        ]);
        let (sized, ids) = with_constants(&plain).expect("it is whole").expect("it has no such object");
        assert_eq!(ids, [7, 8, 9].map(SpecId));
        assert_eq!(sized.bound(), 10 + 5);
        let decorations = [op::DECORATE; 5];
        let types = [op::TYPE_VOID, op::TYPE_INT, op::TYPE_VECTOR];
        let constants = [op::SPEC_CONSTANT; 3];
        let rest = [op::SPEC_CONSTANT_COMPOSITE, op::FUNCTION];
        assert_eq!(opcodes(&sized), [&decorations[..], &types, &constants, &rest].concat());
        let int = sized.instructions().find(|it| it.opcode == op::SPEC_CONSTANT).and_then(|it| it.operand(0));
        assert_eq!(int, Some(2));
    }

    #[test]
    fn existing_objects_are_kept() {
        let has_one = module(&[(op::DECORATE, &[4, BUILT_IN, WORKGROUP_SIZE]), (op::TYPE_VOID, &[1])]);
        assert!(with_constants(&has_one).expect("it is whole").is_none());
    }
}
