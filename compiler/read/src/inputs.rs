//! Built-in variables: loads become queries of the work-item.

use kiln_ir::{Op as IrOp, Scalar, ValueId, WorkItem};
use rspirv::spirv::BuiltIn;

use crate::{
    body::{Body, Known},
    ops,
    problem::{Outcome, Problem},
    words::Instruction,
};

/// The query for a built-in variable, and whether it takes a dimension. `None` if there is none.
const fn query(built_in: BuiltIn) -> Option<(WorkItem, bool)> {
    Some(match built_in {
        BuiltIn::GlobalInvocationId => (WorkItem::GlobalId, true),
        BuiltIn::LocalInvocationId => (WorkItem::LocalId, true),
        BuiltIn::WorkgroupId => (WorkItem::GroupId, true),
        BuiltIn::NumWorkgroups => (WorkItem::NumGroups, true),
        BuiltIn::GlobalSize => (WorkItem::GlobalSize, true),
        BuiltIn::WorkgroupSize => (WorkItem::LocalSize, true),
        BuiltIn::EnqueuedWorkgroupSize => (WorkItem::EnqueuedLocalSize, true),
        BuiltIn::GlobalOffset => (WorkItem::GlobalOffset, true),
        BuiltIn::WorkDim => (WorkItem::WorkDim, false),
        BuiltIn::GlobalLinearId => (WorkItem::GlobalLinearId, false),
        BuiltIn::LocalInvocationIndex => (WorkItem::LocalLinearId, false),
        BuiltIn::SubgroupSize => (WorkItem::SubGroupSize, false),
        BuiltIn::SubgroupMaxSize => (WorkItem::MaxSubGroupSize, false),
        BuiltIn::NumSubgroups => (WorkItem::NumSubGroups, false),
        BuiltIn::NumEnqueuedSubgroups => (WorkItem::EnqueuedNumSubGroups, false),
        BuiltIn::SubgroupId => (WorkItem::SubGroupId, false),
        BuiltIn::SubgroupLocalInvocationId => (WorkItem::SubGroupLocalId, false),
        _ => return None,
    })
}

impl Body<'_, '_, '_> {
    /// Loads a built-in variable, or one component of it.
    pub(crate) fn load_input(
        &mut self,
        inst: &Instruction<'_>,
        built_in: BuiltIn,
        component: Option<ValueId>,
    ) -> Outcome<()> {
        if let Some(mask) = ops::mask(&mut self.builder, built_in) {
            let mask = mask.map_err(Problem::new)?;
            return self.define(inst, mask);
        }
        let Some((item, has_dimension)) = query(built_in) else {
            return Err(Problem::new(format!("the built-in variable {built_in:?} is not supported")));
        };
        let ty = self.result_type(inst)?;
        let scalar = ty.scalar().filter(|scalar| scalar.is_int());
        let scalar =
            scalar.ok_or_else(|| Problem::new("a built-in variable is an integer or a vector of them"))?;
        let value = match (ty.is_vector(), component) {
            (false, None) => {
                let zero = has_dimension.then(|| self.builder.i32(0));
                self.query(item, zero, scalar)
            }
            (false, Some(dimension)) => self.query(item, has_dimension.then_some(dimension), scalar),
            (true, None) if has_dimension => {
                let mut parts = Vec::new();
                for index in 0..i32::from(ty.count()) {
                    let dimension = self.builder.i32(index.min(2));
                    parts.push(self.query(item, Some(dimension), scalar));
                }
                self.builder.construct(&parts, ty)
            }
            _ => return Err(Problem::new("the built-in variable has another type")),
        };
        self.define(inst, value)
    }

    fn query(&mut self, item: WorkItem, dimension: Option<ValueId>, scalar: Scalar) -> ValueId {
        let value = self.builder.value(IrOp::WorkItem(item), dimension.as_slice(), item.ty());
        self.builder.resize(value, scalar, false)
    }

    /// The address of a component of a built-in variable.
    pub(crate) fn input_chain(
        &mut self,
        inst: &Instruction<'_>,
        (built_in, component): (BuiltIn, Option<ValueId>),
        indices: &[u32],
        has_element: bool,
    ) -> Outcome<()> {
        let indices = match (has_element, indices) {
            (true, [first, rest @ ..]) if self.constant_bits(*first) == Some(0) => rest,
            (true, _) => return Err(Problem::new("a built-in variable is not an array")),
            (false, all) => all,
        };
        let component = match (indices, component) {
            ([], component) => component,
            ([index], None) => {
                let index = self.value(*index)?;
                let ty = self.builder.ty(index);
                if !ty.scalar().is_some_and(Scalar::is_int) || ty.is_vector() {
                    return Err(Problem::new("an index is not an integer"));
                }
                Some(self.builder.resize(index, Scalar::I32, false))
            }
            _ => return Err(Problem::new("a built-in variable has no such member")),
        };
        self.known.insert(inst.result()?, Known::Input(built_in, component));
        Ok(())
    }
}
