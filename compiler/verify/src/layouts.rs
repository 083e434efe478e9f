//! The explicit layout of objects that are shared with the host (SPIR-V 2.16.2; Vulkan, Offset and Stride Assignment).
//!
//! Requires only the alignments of the feature `scalarBlockLayout`, the weakest in Vulkan, because a module does not state
//! whether its device has the feature.

use rspirv::spirv::{Capability, Decoration, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    operand::Operand,
};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[DECORATED, ALIGNED, OVERLAP, STRIDE, POINTER];

const DECORATED: Rule = Rule {
    id: "SPIRV-explicit-layout",
    text: "in buffers and push constants, members have Offset, arrays have ArrayStride, and matrices have MatrixStride and RowMajor or ColMajor",
};
const ALIGNED: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-10684",
    text: "in buffers and push constants, offsets and strides are multiples of the scalar alignment",
};
const OVERLAP: Rule = Rule {
    id: "SPIRV-layout-overlap",
    text: "the members of an explicitly laid out structure do not overlap",
};
const STRIDE: Rule =
    Rule { id: "SPIRV-layout-stride", text: "a stride is at least the size of an element or matrix vector" };
const POINTER: Rule = Rule {
    id: "SPIRV-OpPtrAccessChain-ArrayStride",
    text: "the type of the base of OpPtrAccessChain into a buffer is decorated ArrayStride",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.environment != Environment::Vulkan {
        return;
    }
    let module = context.module;
    let decorations = Decorations::collect(module);
    let mut types = Types { module, decorations: &decorations, layouts: FxHashMap::default() };
    let laid_out = types_with_layout(module, &decorations);
    // A type comes after its parts, except behind a pointer.
    for entry in module.preamble() {
        let Some(id) = entry.result_id.filter(|_| is_data(entry.op())) else { continue };
        let findings = laid_out.contains(&id).then_some(&mut *findings);
        if let Some(layout) = types.layout(entry, id, findings) {
            types.layouts.insert(id, layout);
        }
    }
    for entry in module.functions.iter().flat_map(|function| module.body(function)) {
        if matches!(entry.op(), Op::PtrAccessChain | Op::InBoundsPtrAccessChain) {
            chain(module, &decorations, entry, findings);
        }
    }
}

/// A base in a buffer needs a stride.
fn chain(module: &Module<'_>, decorations: &Decorations, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let Some(ty) = entry.id(0).and_then(|base| module.type_of(base)) else { return };
    let Some((class, _)) = module.pointer(ty) else { return };
    if is_buffer(class) && !decorations.array_strides.contains_key(&ty) {
        findings.push(entry.finding(&POINTER, format!("{} has no stride", module.name(ty))));
    }
}

fn is_buffer(class: StorageClass) -> bool {
    matches!(class, StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer | StorageClass::Uniform)
}

/// The types of values in memory.
fn is_data(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        TypeInt
            | TypeFloat
            | TypeVector
            | TypeMatrix
            | TypeArray
            | TypeRuntimeArray
            | TypeStruct
            | TypePointer
    )
}

/// The decorations that determine layouts.
#[derive(Default)]
struct Decorations {
    array_strides: FxHashMap<Word, u32>,
    offsets: FxHashMap<(Word, u32), u32>,
    matrix_strides: FxHashMap<(Word, u32), u32>,
    /// Whether the rows of a matrix are contiguous.
    row_major: FxHashMap<(Word, u32), bool>,
    blocks: FxHashSet<Word>,
}

impl Decorations {
    fn collect(module: &Module<'_>) -> Self {
        let mut all = Self::default();
        for entry in module.preamble() {
            match (entry.op(), entry.operands()) {
                (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(Decoration::Block)]) => {
                    all.blocks.insert(*id);
                }
                (
                    Op::Decorate,
                    [
                        Operand::IdRef(id),
                        Operand::Decoration(Decoration::ArrayStride),
                        Operand::LiteralBit32(stride),
                    ],
                ) => {
                    all.array_strides.insert(*id, *stride);
                }
                (
                    Op::MemberDecorate,
                    [
                        Operand::IdRef(id),
                        Operand::LiteralBit32(member),
                        Operand::Decoration(decoration),
                        rest @ ..,
                    ],
                ) => all.add_member((*id, *member), *decoration, rest),
                _ => {}
            }
        }
        all
    }

    fn add_member(&mut self, member: (Word, u32), decoration: Decoration, rest: &[Operand]) {
        match (decoration, rest) {
            (Decoration::Offset, [Operand::LiteralBit32(offset)]) => {
                self.offsets.insert(member, *offset);
            }
            (Decoration::MatrixStride, [Operand::LiteralBit32(stride)]) => {
                self.matrix_strides.insert(member, *stride);
            }
            (Decoration::RowMajor | Decoration::ColMajor, _) => {
                self.row_major.insert(member, decoration == Decoration::RowMajor);
            }
            _ => {}
        }
    }
}

/// The types that must have an explicit layout: blocks and the pointees of physical pointers, with their parts.
fn types_with_layout(module: &Module<'_>, decorations: &Decorations) -> FxHashSet<Word> {
    let mut found = FxHashSet::default();
    let has_shared_blocks = module.has(Capability::WorkgroupMemoryExplicitLayoutKHR);
    for entry in module.preamble() {
        match (entry.op(), entry.operands()) {
            (Op::TypePointer, [Operand::StorageClass(class), Operand::IdRef(pointee)])
                if *class == StorageClass::PhysicalStorageBuffer =>
            {
                found.insert(*pointee);
            }
            (Op::Variable, [Operand::StorageClass(class), ..]) => {
                let block = entry.result_type.and_then(|pointer| block(module, pointer));
                let is_shared = *class == StorageClass::Workgroup && has_shared_blocks;
                let needs = is_buffer(*class) || *class == StorageClass::PushConstant || is_shared;
                // A buffer without Block breaks another rule. A Workgroup variable without Block needs no layout.
                found.extend(block.filter(|block| needs && decorations.blocks.contains(block)));
            }
            _ => {}
        }
    }
    for entry in module.preamble().iter().rev() {
        if entry.result_id.is_some_and(|id| found.contains(&id)) {
            match entry.op() {
                Op::TypeArray | Op::TypeRuntimeArray | Op::TypeMatrix => found.extend(entry.id(0)),
                Op::TypeStruct => found.extend(entry.operands().iter().filter_map(Operand::id)),
                _ => {}
            }
        }
    }
    found
}

/// The structure of a variable, without the arrays of descriptors around it.
fn block(module: &Module<'_>, pointer: Word) -> Option<Word> {
    let (_, mut ty) = module.pointer(pointer)?;
    loop {
        let entry = module.definition(ty)?;
        match entry.op() {
            Op::TypeArray | Op::TypeRuntimeArray => {
                let element = entry.id(0)?;
                // In an invalid module, an array can be an element of itself.
                if module.definition_index(element) >= module.definition_index(ty) {
                    return None;
                }
                ty = element;
            }
            Op::TypeStruct => return Some(ty),
            _ => return None,
        }
    }
}

/// The memory that a value occupies.
#[derive(Clone, Copy)]
struct Layout {
    /// In bytes; `u64::MAX` for an array without a length.
    size: u64,
    /// The scalar alignment.
    align: u64,
}

/// The layouts of the types so far. A type without decorations has none.
struct Types<'m> {
    module: &'m Module<'m>,
    decorations: &'m Decorations,
    layouts: FxHashMap<Word, Layout>,
}

/// Collects the findings about a type. Discards them if the type needs no layout.
struct Report<'a, 'f> {
    entry: &'a Entry<'a>,
    findings: Option<&'f mut Vec<Finding>>,
}

impl Report<'_, '_> {
    fn add(&mut self, rule: &Rule, message: impl FnOnce() -> String) {
        if let Some(findings) = &mut self.findings {
            findings.push(self.entry.finding(rule, message()));
        }
    }
}

impl Types<'_> {
    /// The layout of a type. Reports its violations if the type needs one.
    fn layout(&self, entry: &Entry<'_>, id: Word, findings: Option<&mut Vec<Finding>>) -> Option<Layout> {
        let part = || self.layouts.get(&entry.id(0)?).copied();
        let times = |size: u64, count: u64| size.saturating_mul(count);
        match entry.op() {
            Op::TypeInt | Op::TypeFloat => {
                let bytes = u64::from(entry.literal(0)?.div_ceil(8)).max(1);
                Some(Layout { size: bytes, align: bytes })
            }
            // An address of 64 bits.
            Op::TypePointer => Some(Layout { size: 8, align: 8 }),
            Op::TypeVector => {
                let part = part()?;
                Some(Layout { size: times(part.size, entry.literal(1)?.into()), align: part.align })
            }
            Op::TypeArray | Op::TypeRuntimeArray => self.array(entry, id, part()?, findings),
            Op::TypeStruct => self.structure(entry, id, findings),
            _ => None,
        }
    }

    fn array(
        &self,
        entry: &Entry<'_>,
        id: Word,
        element: Layout,
        findings: Option<&mut Vec<Finding>>,
    ) -> Option<Layout> {
        let mut report = Report { entry, findings };
        let Some(stride) = self.decorations.array_strides.get(&id).map(|stride| u64::from(*stride)) else {
            report.add(&DECORATED, || format!("{} has no ArrayStride", self.module.name(id)));
            return None;
        };
        if stride % element.align != 0 {
            report
                .add(&ALIGNED, || format!("the stride is {stride}, but the alignment is {}", element.align));
        }
        if stride < element.size {
            report.add(&STRIDE, || {
                format!("the stride is {stride}, but an element has {}", bytes(element.size))
            });
        }
        let count = match entry.op() {
            Op::TypeArray => entry.id(1).and_then(|length| self.module.constant(length)).map(u64::from),
            _ => Some(u64::MAX),
        };
        // The length can be an expression of specialization constants. It is at least 1.
        let steps = count.unwrap_or(1).saturating_sub(1);
        let size = stride.saturating_mul(steps).saturating_add(element.size);
        Some(Layout { size, align: element.align })
    }

    fn structure(&self, entry: &Entry<'_>, id: Word, findings: Option<&mut Vec<Finding>>) -> Option<Layout> {
        let mut report = Report { entry, findings };
        let mut whole = Layout { size: 0, align: 1 };
        let mut ranges = Vec::new();
        for (number, ty) in (0..).zip(entry.operands().iter().filter_map(Operand::id)) {
            let Some(offset) = self.decorations.offsets.get(&(id, number)).map(|it| u64::from(*it)) else {
                report.add(&DECORATED, || format!("member {number} has no Offset"));
                return None;
            };
            let layout = match self.matrix(ty, (id, number)) {
                Ok(layout) => layout.or_else(|| self.layouts.get(&ty).copied())?,
                Err((rule, message)) => {
                    report.add(rule, || message);
                    return None;
                }
            };
            if offset % layout.align != 0 {
                report.add(&ALIGNED, || {
                    format!("member {number} is at {offset}, but its alignment is {}", layout.align)
                });
            }
            let end = offset.saturating_add(layout.size);
            ranges.push((offset, end, number));
            whole = Layout { size: whole.size.max(end), align: whole.align.max(layout.align) };
        }
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            let [(_, end, first), (start, _, second)] = pair else { continue };
            if start < end {
                report.add(&OVERLAP, || format!("members {first} and {second} overlap"));
            }
        }
        Some(whole)
    }

    /// The layout of a member that is a matrix or an array of matrices; `None` for other members.
    fn matrix(&self, ty: Word, member: (Word, u32)) -> Result<Option<Layout>, (&'static Rule, String)> {
        let Some(Matrix { columns, rows, scalar, arrays }) = self.matrix_of(ty) else { return Ok(None) };
        let number = member.1;
        let stride = self.decorations.matrix_strides.get(&member).map(|stride| u64::from(*stride));
        let (Some(stride), Some(row_major)) = (stride, self.decorations.row_major.get(&member)) else {
            return Err((&DECORATED, format!("member {number} has no MatrixStride, RowMajor or ColMajor")));
        };
        let (vectors, components) = if *row_major { (rows, columns) } else { (columns, rows) };
        let vector = scalar.saturating_mul(components);
        if stride % scalar != 0 {
            return Err((
                &ALIGNED,
                format!("the stride of member {number} is {stride}, its alignment {scalar}"),
            ));
        }
        if stride < vector {
            return Err((
                &STRIDE,
                format!("the stride of member {number} is {stride}, a vector has {vector} bytes"),
            ));
        }
        let mut size = stride.saturating_mul(vectors.max(1) - 1).saturating_add(vector);
        for (stride, count) in arrays.into_iter().rev() {
            let stride = stride.ok_or_else(|| (&DECORATED, format!("member {number} has no ArrayStride")))?;
            if stride < size {
                return Err((
                    &STRIDE,
                    format!("the stride of member {number} is {stride}, a matrix has {size} bytes"),
                ));
            }
            size = stride.saturating_mul(count.saturating_sub(1)).saturating_add(size);
        }
        Ok(Some(Layout { size, align: scalar }))
    }

    fn matrix_of(&self, mut ty: Word) -> Option<Matrix> {
        let mut arrays = Vec::new();
        loop {
            let entry = self.module.definition(ty)?;
            match entry.op() {
                Op::TypeArray | Op::TypeRuntimeArray => {
                    let length = match entry.op() {
                        Op::TypeArray => {
                            entry.id(1).and_then(|length| self.module.constant(length)).unwrap_or(1)
                        }
                        _ => u32::MAX,
                    };
                    let stride = self.decorations.array_strides.get(&ty).map(|stride| u64::from(*stride));
                    arrays.push((stride, length.into()));
                    let element = entry.id(0)?;
                    if self.module.definition_index(element) >= self.module.definition_index(ty) {
                        return None;
                    }
                    ty = element;
                }
                Op::TypeMatrix => {
                    let column =
                        self.module.definition(entry.id(0)?).filter(|it| it.op() == Op::TypeVector)?;
                    let scalar = self.layouts.get(&column.id(0)?)?.size;
                    let (columns, rows) = (entry.literal(1)?.into(), column.literal(1)?.into());
                    return Some(Matrix { columns, rows, scalar, arrays });
                }
                _ => return None,
            }
        }
    }
}

/// A matrix, with the arrays around it.
struct Matrix {
    columns: u64,
    rows: u64,
    /// The size of a component.
    scalar: u64,
    /// The strides and lengths of the arrays, the outermost first.
    arrays: Vec<(Option<u64>, u64)>,
}

fn bytes(size: u64) -> String {
    if size == u64::MAX { "no end".to_owned() } else { format!("{size} bytes") }
}
