//! Marks accesses to elements of arrays that are members of structures and unions, so that a device with `Overflow::Marked` can
//! check their indices (C99 6.5.6). An access names an element by an index, by a sum with the array, or through a pointer.

use kiln_frontend::hir::{self, Const, Expr, ExprKind, FunctionId, LocalId, Lvalue, LvalueKind, Stmt};
use kiln_ir::{BinaryOp, Op, Scalar, ValueId, Var, align_at_offset};
use kiln_types::ty::Ty;
use kiln_vocabulary::opencl::{AddressSpace, Linkage, Overflow};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Lowering,
    access::Address,
    body::{Body, Slot},
    lvalue::Bounds,
};

/// What is known about the pointers of a function.
#[derive(Default)]
pub(super) struct Pointers<'a> {
    /// The values of variables that are assigned only once.
    values: FxHashMap<LocalId, &'a Expr>,
    /// The elements that parameters point to.
    parameters: FxHashMap<LocalId, Element>,
    /// Variables that are assigned only once, and otherwise only updated, as in `*p++`.
    moving: FxHashMap<LocalId, Start<'a>>,
}

/// Where a moving pointer starts.
#[derive(Clone, Copy)]
enum Start<'a> {
    Value(&'a Expr),
    Parameter(Element),
}

/// The elements that parameters of functions point to, where all calls agree.
pub(super) type Elements = FxHashMap<(FunctionId, usize), Element>;

/// An element of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// The index, from the start of the member.
    start: i64,
    size: u64,
    /// The number of elements of the member.
    count: u32,
}

/// The maximum number of pointers to follow from an access to its array.
const MAX_POINTERS: usize = 8;

/// The maximum number of calls through which to follow a pointer.
const MAX_CALLS: usize = 8;

/// An element of an array that is a member of a structure.
pub(super) struct MemberElement<'l> {
    base: Base<'l>,
    /// The constant part of the index.
    start: i64,
    /// The indices, the innermost first, each with its stride in elements.
    indices: Vec<(&'l Expr, u64)>,
    /// The size of an element.
    size: u64,
    /// The number of elements of the member.
    count: u32,
}

/// The address that the indices of an element are relative to.
enum Base<'l> {
    Array(&'l Lvalue),
    /// A pointer to an element, with its index.
    Pointer(&'l Expr, i64),
    /// The value of a moving variable, or of an update of it, and the index of the element where the variable started.
    Moving(&'l Expr, LocalId, i64),
}

impl<'a> Pointers<'a> {
    /// The pointers of a function whose parameters point to these elements.
    pub(super) fn new(
        id: FunctionId,
        function: &hir::Function,
        stmts: &'a [Stmt],
        elements: &Elements,
    ) -> Self {
        let mut values: FxHashMap<LocalId, Option<&Expr>> = FxHashMap::default();
        let mut parameters = FxHashMap::default();
        for (index, parameter) in function.parameters.iter().enumerate() {
            values.insert(*parameter, None);
            if let Some(element) = elements.get(&(id, index)) {
                parameters.insert(*parameter, *element);
            }
        }
        let mut updated = FxHashSet::default();
        hir::visit::expressions(stmts, &mut |expr| {
            let (lvalue, value) = match &expr.kind {
                ExprKind::Assign(assign) => (&assign.lvalue, Some(&assign.value)),
                ExprKind::Update(update) => {
                    if let LvalueKind::Local(id) = update.lvalue.kind {
                        updated.insert(id);
                    }
                    return;
                }
                ExprKind::AddressOf(lvalue) => (&**lvalue, None),
                _ => return,
            };
            if let LvalueKind::Local(id) = lvalue.kind {
                parameters.remove(&id);
                values.entry(id).and_modify(|value| *value = None).or_insert(value);
            }
        });
        let mut pointers = Self { parameters, ..Self::default() };
        for (id, value) in values {
            match (value, updated.contains(&id)) {
                (Some(value), false) => _ = pointers.values.insert(id, value),
                (Some(value), true) => _ = pointers.moving.insert(id, Start::Value(value)),
                (None, true) => {
                    let start = pointers.parameters.remove(&id).map(Start::Parameter);
                    pointers.moving.extend(start.map(|start| (id, start)));
                }
                (None, false) => {}
            }
        }
        pointers
    }
}

/// The elements that the parameters of all functions point to. Includes only functions whose calls are all known.
pub(super) fn elements_of_parameters(lowering: &Lowering<'_>) -> Elements {
    let functions = &lowering.hir.functions;
    let mut blocks = FxHashSet::default();
    for body in functions.iter().filter_map(|function| function.body.as_ref()) {
        hir::visit::expressions(body, &mut |expr| {
            if let ExprKind::Block { function, .. } = &expr.kind {
                blocks.insert(*function);
            }
        });
    }
    let is_known = |id: FunctionId| {
        let function = &functions[id];
        function.kernel.is_none() && function.linkage == Linkage::Internal && !blocks.contains(&id)
    };
    let mut elements = Elements::default();
    for _ in 0..MAX_CALLS {
        let mut found: FxHashMap<(FunctionId, usize), Option<Element>> = FxHashMap::default();
        for (id, function) in functions.entries() {
            let Some(body) = &function.body else { continue };
            let pointers = Pointers::new(id, function, body, &elements);
            let finder = Finder { lowering, pointers: &pointers };
            hir::visit::expressions(body, &mut |expr| {
                let ExprKind::Call { function, arguments } = &expr.kind else { return };
                for (index, argument) in arguments.iter().enumerate() {
                    let element = finder.element(argument);
                    let all = found.entry((*function, index)).or_insert(element);
                    *all = all.filter(|all| Some(*all) == element);
                }
            });
        }
        let next: Elements = found
            .into_iter()
            .filter_map(|(parameter, element)| Some((parameter, element?)))
            .filter(|((id, _), _)| is_known(*id))
            .collect();
        if next == elements {
            break;
        }
        elements = next;
    }
    elements
}

/// Finds the members that pointers and lvalues of a function belong to.
struct Finder<'f, 'm> {
    lowering: &'f Lowering<'m>,
    pointers: &'f Pointers<'f>,
}

impl MemberElement<'_> {
    /// The element, if its index is constant.
    fn constant(&self) -> Option<Element> {
        let Self { start, size, count, .. } = *self;
        let is_moving = matches!(self.base, Base::Moving(..));
        (self.indices.is_empty() && !is_moving).then_some(Element { start, size, count })
    }
}

impl Finder<'_, '_> {
    /// The element that a pointer points to, if its index is constant.
    fn element(&self, pointer: &Expr) -> Option<Element> {
        if !matches!(self.lowering.hir.types.get(pointer.ty), Ty::Pointer(_)) {
            return None;
        }
        self.pointer(pointer, MAX_POINTERS)?.constant()
    }

    /// The element that an lvalue names. An array of arrays counts as one array, because kernels use one index for all rows.
    /// `None` for arrays of one element, which can be the start of a longer array.
    fn lvalue<'l>(&self, lvalue: &'l Lvalue, size: u64) -> Option<MemberElement<'l>> {
        let (mut at, mut start, mut indices) = (lvalue, 0, Vec::new());
        while let LvalueKind::Element(element) = &at.kind {
            let (row, _) = self.lowering.layout(at.ty.ty);
            self.lowering.count(element.base.ty.ty)?;
            add_index(&mut start, &mut indices, &element.index, row.checked_div(size)?)?;
            at = &element.base;
        }
        let base = match &at.kind {
            _ if self.is_member_array(at) => Base::Array(at),
            LvalueKind::Deref(pointer) if self.is_to_member_array(pointer, MAX_POINTERS) => {
                Base::Pointer(pointer, 0)
            }
            _ => return None,
        };
        let (bytes, _) = self.lowering.layout(at.ty.ty);
        let count = u32::try_from(bytes.checked_div(size)?).ok().filter(|&count| count > 1)?;
        Some(MemberElement { base, start, indices, size, count })
    }

    /// Whether the lvalue is an array that is a member of a structure or a union.
    fn is_member_array(&self, lvalue: &Lvalue) -> bool {
        let types = &self.lowering.hir.types;
        matches!(&lvalue.kind, LvalueKind::Field(field) if matches!(types.get(field.base.ty.ty), Ty::Record(_)))
            && matches!(types.get(lvalue.ty.ty), Ty::Array(..))
    }

    /// Whether a pointer to an array, such as `&s.a`, points to a member.
    fn is_to_member_array(&self, pointer: &Expr, depth: usize) -> bool {
        let pointee = |pointer: &Expr| match self.lowering.hir.types.get(pointer.ty) {
            Ty::Pointer(to) => Some(to.ty),
            _ => None,
        };
        match &pointer.kind {
            ExprKind::PointerCast(inner) if pointee(inner) == pointee(pointer) => {
                self.is_to_member_array(inner, depth)
            }
            ExprKind::AddressOf(lvalue) => self.is_member_array(lvalue),
            ExprKind::Conditional(of) => {
                self.is_to_member_array(&of.then, depth) && self.is_to_member_array(&of.otherwise, depth)
            }
            ExprKind::Load(Lvalue { kind: LvalueKind::Local(id), .. }) => {
                let value = self.pointers.values.get(id).zip(depth.checked_sub(1));
                value.is_some_and(|(value, depth)| self.is_to_member_array(value, depth))
            }
            _ => false,
        }
    }

    /// The element that a pointer points to, if it follows from the source.
    fn pointer<'l>(&self, pointer: &'l Expr, depth: usize) -> Option<MemberElement<'l>> {
        let size = self.lowering.stride(pointer.ty);
        match &pointer.kind {
            ExprKind::PointerCast(inner) if self.lowering.stride(inner.ty) == size => {
                self.pointer(inner, depth)
            }
            ExprKind::AddressOf(lvalue) => self.lvalue(lvalue, size),
            ExprKind::Offset(offset) => {
                let mut member = self.pointer(&offset.pointer, depth)?;
                add_index(&mut member.start, &mut member.indices, &offset.index, 1)?;
                Some(member)
            }
            ExprKind::Load(Lvalue { kind: LvalueKind::Local(id), .. })
                if self.pointers.moving.contains_key(id) =>
            {
                self.moving(pointer, *id, depth).filter(|member| member.size == size)
            }
            ExprKind::Update(update) => match update.lvalue.kind {
                LvalueKind::Local(id) => self.moving(pointer, id, depth).filter(|it| it.size == size),
                _ => None,
            },
            ExprKind::Load(_) | ExprKind::Conditional(_) => {
                let Element { start, count, .. } =
                    self.known_element(pointer, depth).filter(|element| element.size == size)?;
                let base = Base::Pointer(pointer, start);
                Some(MemberElement { base, start, indices: Vec::new(), size, count })
            }
            _ => None,
        }
    }

    /// The element that a moving variable points to. Its index is known when the access is executed.
    fn moving<'l>(&self, pointer: &'l Expr, id: LocalId, depth: usize) -> Option<MemberElement<'l>> {
        let Element { start, size, count } = self.start_of(id, depth)?;
        let base = Base::Moving(pointer, id, start);
        Some(MemberElement { base, start: 0, indices: Vec::new(), size, count })
    }

    /// The element where a moving variable starts.
    fn start_of(&self, id: LocalId, depth: usize) -> Option<Element> {
        match self.pointers.moving.get(&id)? {
            Start::Parameter(element) => Some(*element),
            Start::Value(value) => self.pointer(value, depth.checked_sub(1)?)?.constant(),
        }
    }

    /// The element that a variable or both branches of a condition point to.
    fn known_element(&self, pointer: &Expr, depth: usize) -> Option<Element> {
        match &pointer.kind {
            ExprKind::Load(Lvalue { kind: LvalueKind::Local(id), .. }) => {
                if let Some(element) = self.pointers.parameters.get(id) {
                    return Some(*element);
                }
                let value: &Expr = self.pointers.values.get(id)?;
                self.pointer(value, depth.checked_sub(1)?)?.constant()
            }
            ExprKind::Conditional(of) => {
                let then = self.pointer(&of.then, depth)?.constant()?;
                let otherwise = self.pointer(&of.otherwise, depth)?.constant()?;
                (then == otherwise).then_some(then)
            }
            _ => None,
        }
    }
}

impl Body<'_, '_> {
    fn finder(&self) -> Finder<'_, '_> {
        Finder { lowering: self.lowering, pointers: &self.pointers }
    }

    /// A pointer that an access uses. Marks the element of a member, if it is one.
    pub(super) fn pointer_to_access(&mut self, pointer: &Expr) -> ValueId {
        let ty = self.value_type(pointer.ty);
        if self.lowering.overflow == Overflow::Marked
            && let Some(member) = self.finder().pointer(pointer, MAX_POINTERS)
            && self.is_checked(&member)
        {
            let address = self.member_element_address(&member);
            return self.pointer_cast(address.pointer, ty);
        }
        match &pointer.kind {
            ExprKind::AddressOf(object) => {
                let address = self.lvalue_address(object, Bounds::Members);
                self.pointer_cast(address.pointer, ty)
            }
            _ => self.value(pointer),
        }
    }

    /// The element of a member that an lvalue names, if an index past the array must be reported.
    pub(super) fn member_element<'l>(&self, lvalue: &'l Lvalue, size: u64) -> Option<MemberElement<'l>> {
        if self.lowering.overflow != Overflow::Marked {
            return None;
        }
        self.finder().lvalue(lvalue, size).filter(|member| self.is_checked(member))
    }

    /// Whether the index may be past the array. An index that is constant in the source has a warning.
    fn is_checked(&self, member: &MemberElement<'_>) -> bool {
        match member.base {
            Base::Array(_) => !member.indices.is_empty(),
            Base::Moving(..) => true,
            Base::Pointer(..) => {
                !member.indices.is_empty() || !(0..i64::from(member.count)).contains(&member.start)
            }
        }
    }

    /// The address of an element, with one index from the start of the member.
    pub(super) fn member_element_address(&mut self, member: &MemberElement<'_>) -> Address {
        let is_single = member.start == 0 && matches!(member.indices[..], [(_, 1)]);
        let mut sum = None;
        let base = match member.base {
            Base::Array(array) => self.lvalue_address(array, Bounds::Members),
            Base::Pointer(pointer, start) => {
                let pointer = self.value(pointer);
                Address::new(self.move_back(pointer, start, member.size), 1)
            }
            Base::Moving(pointer, id, start) => {
                let pointer = self.value(pointer);
                let origin = self.origin(id, start, member.size);
                sum = Some(self.distance([pointer, origin], member.size));
                Address::new(origin, 1)
            }
        };
        for &(index, step) in member.indices.iter().rev() {
            let mut index = self.index(index);
            if !is_single || sum.is_some() {
                index = self.builder.resize(index, Scalar::I64, true);
                index = self.builder.binary_bits(BinaryOp::Mul, index, step);
            }
            sum = Some(sum.map_or(index, |sum| self.builder.binary(BinaryOp::Add, sum, index)));
        }
        let index = match sum {
            Some(sum) if member.start == 0 => sum,
            Some(sum) => self.builder.binary_bits(BinaryOp::Add, sum, member.start as u64),
            None => self.builder.i64(member.start),
        };
        let ty = self.builder.ty(base.pointer);
        let op = Op::Offset { stride: member.size, count: Some(member.count) };
        let pointer = self.builder.value(op, &[base.pointer, index], ty);
        Address { pointer, align: align_at_offset(base.align, member.size), ..base }
    }

    /// Moves a pointer back by this number of elements.
    fn move_back(&mut self, pointer: ValueId, index: i64, size: u64) -> ValueId {
        self.builder.offset_bytes(pointer, index.wrapping_mul(size as i64).wrapping_neg())
    }

    /// The start of the member where a moving variable started.
    fn origin(&mut self, id: LocalId, start: i64, size: u64) -> ValueId {
        let ty = self.value_type(self.hir.locals[id].ty.ty);
        let object = self.start_object(id);
        let first = self.load(&object, ty);
        self.move_back(first, start, size)
    }

    /// The object that contains the first value of a moving variable.
    fn start_object(&mut self, id: LocalId) -> Address {
        let (size, align) = self.lowering.layout(self.hir.locals[id].ty.ty);
        let var = match self.starts.get(&id) {
            Some(var) => *var,
            None => {
                let var = Var::new("", AddressSpace::Private, (size, align), self.builder.span);
                let var = self.builder.function.vars.push(var);
                self.starts.insert(id, var);
                var
            }
        };
        Address::new(self.builder.private_var(var), align)
    }

    /// Records the first value of a variable that moves in a member.
    pub(super) fn record_start(&mut self, id: LocalId, value: ValueId) {
        if self.finder().start_of(id, MAX_POINTERS).is_some() {
            let object = self.start_object(id);
            self.store(&object, value);
        }
    }

    /// Records where the parameters that move in a member start.
    pub(super) fn record_parameters(&mut self) {
        for id in self.hir.parameters.clone() {
            if self.finder().start_of(id, MAX_POINTERS).is_some()
                && let Slot::Private(var) = self.slot_of(id)
            {
                let ty = self.hir.locals[id].ty.ty;
                let address = Address::new(self.builder.private_var(var), self.lowering.layout(ty).1);
                let ty = self.value_type(ty);
                let value = self.load(&address, ty);
                self.record_start(id, value);
            }
        }
    }

    /// The address of `length` elements from element `offset * step` after a pointer. If they are in a member, the last
    /// one is marked.
    pub(super) fn member_elements<'l>(
        &mut self,
        pointer: &'l Expr,
        (offset, step): (&'l Expr, u64),
        length: u64,
    ) -> Option<ValueId> {
        if self.lowering.overflow != Overflow::Marked {
            return None;
        }
        let mut member = self.finder().pointer(pointer, MAX_POINTERS)?;
        let last = i64::try_from(length).ok()?.checked_sub(1)?;
        add_index(&mut member.start, &mut member.indices, offset, step)?;
        member.start = member.start.checked_add(last)?;
        let address = self.member_element_address(&member);
        Some(self.move_back(address.pointer, last, member.size))
    }
}

/// Adds an index with this stride in elements. `None` if the constant part overflows.
fn add_index<'l>(
    start: &mut i64,
    indices: &mut Vec<(&'l Expr, u64)>,
    index: &'l Expr,
    step: u64,
) -> Option<()> {
    match index.kind {
        ExprKind::Const(Const::Int(bits)) => {
            let elements = (bits as i64).checked_mul(i64::try_from(step).ok()?)?;
            *start = start.checked_add(elements)?;
        }
        _ => indices.push((index, step)),
    }
    Some(())
}
