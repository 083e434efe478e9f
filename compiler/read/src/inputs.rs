//! Built-in variables: loads become queries of the work-item.

use kiln_ir::{BinaryOp, Op as IrOp, Scalar, ValueId, WorkItem};
use rspirv::spirv::BuiltIn;

use crate::{
    body::{Body, Known},
    ops,
    problem::{Outcome, Problem},
    types::Ty,
    words::Instruction,
};

/// The size of a component of a built-in variable that is a vector: `size_t`.
const SIZE_OF_COMPONENT: u64 = 8;

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
        let scalar = scalar
            .ok_or_else(|| Problem::new("a built-in variable must be an integer or a vector of integers"))?;
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
            _ => return Err(Problem::new("the built-in variable has a different type")),
        };
        self.define(inst, value)
    }

    fn query(&mut self, item: WorkItem, dimension: Option<ValueId>, scalar: Scalar) -> ValueId {
        let value = self.builder.value(IrOp::WorkItem(item), dimension.as_slice(), item.ty());
        self.builder.resize(value, scalar, false)
    }

    /// Casts a pointer to a built-in variable to another type of pointer. Returns whether it is such a cast.
    pub(crate) fn input_cast(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        let Some(input) = self.input(inst.word(0)?) else { return Ok(false) };
        let is_pointer = matches!(self.reader.types.get(inst.result_type()?)?, Ty::Pointer { .. });
        if is_pointer {
            self.known.insert(inst.result()?, input);
        }
        Ok(is_pointer)
    }

    /// The address of a component of a built-in variable.
    pub(crate) fn input_chain(
        &mut self,
        inst: &Instruction<'_>,
        (built_in, component): (BuiltIn, Option<ValueId>),
        pointee: u32,
        (indices, has_element): (&[u32], bool),
    ) -> Outcome<()> {
        let is_vector = matches!(self.reader.types.get(pointee)?, Ty::Value(ty) if ty.is_vector());
        let indices = match (has_element, indices) {
            (true, [first, rest @ ..]) if self.constant_bits(*first) == Some(0) => rest,
            (true, [first]) if !is_vector => {
                let component = self.input_step(component, *first, pointee)?;
                self.known.insert(inst.result()?, Known::Input(built_in, Some(component)));
                return Ok(());
            }
            (true, _) => return Err(Problem::new("a built-in variable is not an array")),
            (false, all) => all,
        };
        let component = match (indices, component) {
            ([], component) => component,
            ([index], None) => Some(self.input_index(*index)?),
            _ => return Err(Problem::new("a built-in variable has no such member")),
        };
        self.known.insert(inst.result()?, Known::Input(built_in, component));
        Ok(())
    }

    /// The component that is this many elements of a type after another one.
    fn input_step(&mut self, from: Option<ValueId>, index: u32, element: u32) -> Outcome<ValueId> {
        let (size, _) = self.reader.types.layout(element)?;
        let components = match (size, self.constant_bits(index)) {
            (SIZE_OF_COMPONENT, _) => self.input_index(index)?,
            (_, Some(bits)) if bits.wrapping_mul(size) % SIZE_OF_COMPONENT == 0 => {
                self.builder.i32((bits.wrapping_mul(size) / SIZE_OF_COMPONENT) as i32)
            }
            _ => return Err(Problem::new("the address is not that of a component of a built-in variable")),
        };
        Ok(match from {
            Some(from) => self.builder.binary(BinaryOp::Add, from, components),
            None => components,
        })
    }

    fn input_index(&mut self, index: u32) -> Outcome<ValueId> {
        let index = self.value(index)?;
        let ty = self.builder.ty(index);
        if !ty.scalar().is_some_and(Scalar::is_int) || ty.is_vector() {
            return Err(Problem::new("an index is not an integer"));
        }
        Ok(self.builder.resize(index, Scalar::I32, false))
    }
}
