//! What the reader of the reflection needs from the rest of a module.

use std::collections::HashMap;

use kiln_vocabulary::reflection::kiln;

use super::malformed;
use crate::error::Result;
use crate::interface::{Position, SpecId};
use crate::module::{Module, op};

const IMPORT: &str = "NonSemantic.ClspvReflection.";
/// The newest version that the runtime reads.
const NEWEST: u32 = 7;

/// What the reader needs from the rest of the module.
#[derive(Default)]
pub(super) struct Facts {
    /// The id of the import of `NonSemantic.ClspvReflection`.
    pub(super) import: Option<u32>,
    /// The id of the import of `NonSemantic.Kiln`.
    pub(super) own_import: Option<u32>,
    pub(super) strings: HashMap<u32, String>,
    pub(super) constants: HashMap<u32, u32>,
    spec_ids: HashMap<u32, SpecId>,
    spec_defaults: HashMap<u32, u32>,
    entry_points: HashMap<String, Vec<u32>>,
    pub(super) position: Position,
}

impl Facts {
    pub(super) fn gather(module: &Module) -> Result<Self> {
        let mut facts = Self::default();
        for instruction in module.instructions() {
            let Some(first) = instruction.operand(0) else { continue };
            match instruction.opcode {
                op::EXT_INST_IMPORT if instruction.text(1) == kiln::SET => facts.own_import = Some(first),
                op::EXT_INST_IMPORT => {
                    if let Some(version) = instruction.text(1).strip_prefix(IMPORT) {
                        if !version.parse().is_ok_and(|version| (1..=NEWEST).contains(&version)) {
                            return Err(malformed(format!(
                                "its reflection has the unknown version {version}"
                            )));
                        }
                        facts.import = Some(first);
                    }
                }
                op::STRING => drop(facts.strings.insert(first, instruction.text(1))),
                op::CONSTANT => {
                    if let &[_, id, value] = instruction.operands {
                        facts.constants.insert(id, value);
                    }
                }
                op::SPEC_CONSTANT => {
                    if let &[_, id, value] = instruction.operands {
                        facts.spec_defaults.insert(id, value);
                    }
                }
                op::DECORATE => facts.decoration(instruction.operands),
                op::ENTRY_POINT => {
                    let name = instruction.text(2);
                    facts.entry_points.insert(name, instruction.after_text(2).to_vec());
                }
                _ => {}
            }
        }
        Ok(facts)
    }

    fn decoration(&mut self, operands: &[u32]) {
        const SPEC_ID: u32 = 1;
        const BUILT_IN: u32 = 11;
        const NUM_WORKGROUPS: u32 = 24;
        const WORKGROUP_ID: u32 = 26;
        const GLOBAL_INVOCATION_ID: u32 = 28;
        match *operands {
            [target, SPEC_ID, id] => drop(self.spec_ids.insert(target, SpecId(id))),
            [_, BUILT_IN, NUM_WORKGROUPS] => self.position.raw_num_groups = true,
            [_, BUILT_IN, WORKGROUP_ID] => self.position.raw_group_id = true,
            [_, BUILT_IN, GLOBAL_INVOCATION_ID] => self.position.raw_global_id = true,
            _ => {}
        }
    }

    /// The size in bytes of an entry point's local variables. Arrays that a local argument sizes count as 0.
    pub(super) fn local_size(&self, module: &Module, entry_point: &str, arguments: &[SpecId]) -> u32 {
        const WORKGROUP: u32 = 4;
        let listed = self.entry_points.get(entry_point).map(Vec::as_slice).unwrap_or_default();
        // Size and alignment of each type that has a known layout.
        let mut types: HashMap<u32, (u64, u64)> = HashMap::new();
        let mut pointees = HashMap::new();
        let mut total = 0u64;
        for instruction in module.instructions() {
            match (instruction.opcode, instruction.operands) {
                (op::TYPE_INT | op::TYPE_FLOAT, &[id, width, ..]) => {
                    let bytes = u64::from(width / 8);
                    types.insert(id, (bytes, bytes.max(1)));
                }
                (op::TYPE_VECTOR, &[id, element, count]) => {
                    let (size, align) = types.get(&element).copied().unwrap_or((0, 1));
                    types.insert(id, (size * u64::from(count), align));
                }
                (op::TYPE_ARRAY, &[id, element, length]) => {
                    let (size, align) = types.get(&element).copied().unwrap_or((0, 1));
                    let sized_at_launch = self.spec_ids.get(&length).is_some_and(|id| arguments.contains(id));
                    let count = match self.constants.get(&length).or_else(|| self.spec_defaults.get(&length))
                    {
                        Some(count) if !sized_at_launch => u64::from(*count),
                        _ => 0,
                    };
                    types.insert(id, (size.saturating_mul(count), align));
                }
                (op::TYPE_STRUCT, [id, members @ ..]) => {
                    let (mut end, mut largest) = (0u64, 1);
                    for member in members {
                        let (size, align) = types.get(member).copied().unwrap_or((0, 1));
                        end = end.next_multiple_of(align).saturating_add(size);
                        largest = largest.max(align);
                    }
                    types.insert(*id, (end.next_multiple_of(largest), largest));
                }
                (op::TYPE_POINTER, &[id, WORKGROUP, pointee]) => drop(pointees.insert(id, pointee)),
                (op::VARIABLE, &[pointer, id, WORKGROUP, ..])
                    if !module.entry_points_list_all() || listed.contains(&id) =>
                {
                    let pointee = pointees.get(&pointer).and_then(|pointee| types.get(pointee));
                    total = total.saturating_add(pointee.map_or(0, |(size, _)| *size));
                }
                _ => {}
            }
        }
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}
