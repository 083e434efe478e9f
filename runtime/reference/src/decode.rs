//! Decodes the words of a module to a program: types, constants and variables here, functions in the submodules.
//!
//! Owns the ids of a module. Every input produces either a program or an error. Must not depend on how operations are
//! executed.

mod arithmetic;
mod body;
mod composite;
mod control;
mod dot;
mod enqueue;
mod fold;
mod global;
mod glsl;
mod group;
mod image;
mod inline;
mod library;
mod memory;
mod order;
mod pipe;
mod quick;
mod vulkan;

use std::collections::HashMap;

use inline::InlinableFunction;
use spirv::{BuiltIn, Decoration, Op, StorageClass};
use vulkan::FloatModes;

use crate::{
    Checks, Environment, Invalid, Results, Statements,
    code::{Bytes, Comparison, Function, Input, Object, Program, Resource, Tables},
    interface::{self, BY_VALUE},
    memory::{Buffer, Location, Memory, Space},
    types::{Member, Ty, TypeId, Types},
    words::{self, Inst},
};

/// The value of a constant.
#[derive(Debug, Clone)]
pub(crate) enum Constant {
    Slots(Vec<u64>),
    /// A zero value of any size.
    Zero,
    Undefined,
}

/// The decorations of an id.
#[derive(Debug, Clone, Copy, Default)]
struct Decorations {
    builtin: Option<u32>,
    rounding: Option<u32>,
    saturate: bool,
    no_signed_wrap: bool,
    no_contraction: bool,
    /// The id is a pointer to a copy made by the callee.
    by_value: bool,
    align: Option<u32>,
    /// The `SpecId` of a specialization constant.
    spec_id: Option<u32>,
    /// The descriptor set.
    set: Option<u32>,
    binding: Option<u32>,
}

/// A function's location and signature.
#[derive(Debug, Clone)]
struct Signature {
    index: u32,
    result: TypeId,
}

/// The state shared by the decoding of all functions.
pub(crate) struct Decoder<'w> {
    types: Types,
    constants: HashMap<u32, (TypeId, Constant)>,
    signatures: HashMap<u32, Signature>,
    decorations: HashMap<u32, Decorations>,
    names: HashMap<u32, String>,
    strings: HashMap<u32, String>,
    /// The imported instruction sets OpenCL.std and GLSL.std.450.
    libraries: Vec<u32>,
    glsl: Vec<u32>,
    /// The values of specialization constants, by `SpecId`.
    specialization: &'w [(u32, u32)],
    tables: Tables,
    locals: Vec<Object>,
    globals: Vec<(Buffer, String)>,
    privates: Vec<(Object, Option<u32>)>,
    resources: Vec<Resource>,
    /// The functions of enqueued blocks, with the number of their local pointers.
    blocks: Vec<(u32, usize)>,
    files: Vec<String>,
    file_ids: HashMap<u32, u32>,
    floats: FloatModes,
    /// Functions that are inlined at their calls.
    inlinable: HashMap<u32, InlinableFunction<'w>>,
    memory: &'w Memory,
    checks: Checks,
    results: Results,
    statements: Statements,
}

impl Program {
    /// Decodes a module and allocates its program-scope variables.
    pub fn new(words: &[u32], memory: &Memory, checks: Checks) -> Result<Self, Invalid> {
        Self::decoded(words, &[], memory, (checks, Results::Nearest), Statements::Unmarked)
    }

    /// Decodes a module for a debugger.
    pub fn with_statements(words: &[u32], memory: &Memory, checks: Checks) -> Result<Self, Invalid> {
        Self::decoded(words, &[], memory, (checks, Results::Nearest), Statements::Marked)
    }

    /// Decodes a module with values for specialization constants, by `SpecId`. `results` selects among the results that
    /// Vulkan allows.
    pub fn specialized(
        words: &[u32],
        specialization: &[(u32, u32)],
        memory: &Memory,
        checks: Checks,
        results: Results,
    ) -> Result<Self, Invalid> {
        Self::decoded(words, specialization, memory, (checks, results), Statements::Unmarked)
    }

    fn decoded(
        words: &[u32],
        specialization: &[(u32, u32)],
        memory: &Memory,
        (checks, results): (Checks, Results),
        statements: Statements,
    ) -> Result<Self, Invalid> {
        let kernels = interface::kernels(words)?;
        let (_, insts) = words::read(words)?;
        let floats = FloatModes::from_module(&insts);
        let mut decoder = Decoder::new(specialization, memory, (checks, results), statements, floats);
        let first = insts.iter().position(|inst| inst.op == Op::Function).unwrap_or(insts.len());
        decoder.annotations(&insts)?;
        for inst in &insts[..first] {
            decoder.global(inst)?;
        }
        decoder.headers(&insts[first..])?;
        let mut functions = decoder.functions(&insts[first..])?;
        decoder.check_calls(&functions)?;
        mark_collectives(&mut functions, &decoder.tables);
        let mut first = 0u32;
        for function in &mut functions {
            function.first = first;
            first = first.saturating_add(function.code.len() as u32);
        }
        let launched = kernels.len();
        let group_size = decoder.group_size();
        let privates = decoder.privates()?;
        let mut program = Self {
            environment: decoder.types.environment,
            functions,
            tables: decoder.tables,
            kernels,
            launched,
            locals: decoder.locals,
            globals: decoder.globals,
            privates,
            resources: decoder.resources,
            group_size,
            files: decoder.files,
        };
        for kernel in &mut program.kernels {
            let signature = decoder.signatures.get(&kernel.function);
            kernel.function = signature.ok_or_else(|| Invalid::new("a kernel has no function"))?.index;
        }
        for (function, locals) in decoder.blocks {
            let name = program.functions[function as usize].name.clone();
            program.kernels.push(interface::block(name, function, locals));
        }
        Ok(program)
    }

    /// The kernels, in module order.
    pub fn kernels(&self) -> &[interface::Kernel] {
        &self.kernels[..self.launched]
    }

    /// The work-group size that the module declares for a kernel in the Vulkan environment.
    pub fn group_size(&self, kernel: usize) -> [u32; 3] {
        self.group_size.or(self.kernels[kernel].required_size).unwrap_or([1; 3])
    }
}

/// Marks functions that may wait for other work-items, directly or through a call.
fn mark_collectives(functions: &mut [Function], tables: &Tables) {
    loop {
        let mut changed = false;
        for index in 0..functions.len() {
            if functions[index].has_collectives {
                continue;
            }
            let has_collectives = functions[index].code.iter().any(|op| match op {
                crate::code::Op::Call(call) => {
                    functions[tables.calls[*call as usize].function as usize].has_collectives
                }
                _ => false,
            });
            functions[index].has_collectives = has_collectives;
            changed |= has_collectives;
        }
        if !changed {
            return;
        }
    }
}

impl<'w> Decoder<'w> {
    fn new(
        specialization: &'w [(u32, u32)],
        memory: &'w Memory,
        (checks, results): (Checks, Results),
        statements: Statements,
        floats: FloatModes,
    ) -> Self {
        Self {
            types: Types::default(),
            constants: HashMap::new(),
            signatures: HashMap::new(),
            decorations: HashMap::new(),
            names: HashMap::new(),
            strings: HashMap::new(),
            libraries: Vec::new(),
            glsl: Vec::new(),
            specialization,
            tables: Tables::default(),
            locals: Vec::new(),
            globals: Vec::new(),
            privates: Vec::new(),
            resources: Vec::new(),
            blocks: Vec::new(),
            files: Vec::new(),
            file_ids: HashMap::new(),
            floats,
            inlinable: HashMap::new(),
            memory,
            checks,
            results,
            statements,
        }
    }

    /// Decodes all functions, after their signatures.
    fn functions(&mut self, insts: &'w [Inst<'w>]) -> Result<Vec<Function>, Invalid> {
        if self.statements == Statements::Unmarked {
            for function in insts.split(|inst| inst.op == Op::FunctionEnd) {
                self.inlinable.extend(InlinableFunction::new(self, function));
            }
        }
        let mut functions = Vec::new();
        let mut rest = insts;
        while let Some(end) = rest.iter().position(|inst| inst.op == Op::FunctionEnd) {
            functions.push(body::decode(self, &rest[..end])?);
            rest = &rest[end + 1..];
        }
        if functions.len() != self.signatures.len() {
            return Err(Invalid::new("a function does not end"));
        }
        Ok(functions)
    }

    /// Checks that calls and enqueued blocks match the parameters of their functions.
    fn check_calls(&self, functions: &[Function]) -> Result<(), Invalid> {
        for call in &self.tables.calls {
            let given: Vec<u32> = call.arguments.iter().map(|argument| argument.1).collect();
            if given != functions[call.function as usize].parameter_slots() {
                return Err(Invalid::new("the arguments of a call do not match its function"));
            }
        }
        for &(function, locals) in &self.blocks {
            if functions[function as usize].parameter_slots() != vec![1; locals + 1] {
                return Err(Invalid::new(
                    "the parameters of a block are pointers to its captures and to local memory",
                ));
            }
        }
        Ok(())
    }
}

impl Decoder<'_> {
    /// The index of a block's kernel with this number of local pointers.
    fn block(&mut self, function: u32, locals: usize) -> u32 {
        let known = self.blocks.iter().position(|block| *block == (function, locals));
        let block = known.unwrap_or(self.blocks.len());
        if known.is_none() {
            self.blocks.push((function, locals));
        }
        block as u32
    }

    fn annotations(&mut self, insts: &[Inst<'_>]) -> Result<(), Invalid> {
        for inst in insts {
            match inst.op {
                Op::Name => drop(self.names.insert(inst.word(0)?, inst.text(1).0)),
                Op::String => drop(self.strings.insert(inst.word(0)?, inst.text(1).0)),
                Op::ExtInstImport if inst.text(1).0 == "OpenCL.std" => self.libraries.push(inst.word(0)?),
                Op::ExtInstImport if inst.text(1).0 == "GLSL.std.450" => self.glsl.push(inst.word(0)?),
                Op::MemoryModel => self.types.environment = Environment::from_memory_model(inst)?,
                Op::MemberDecorate => self.types.note_member(inst)?,
                Op::Decorate => {
                    let known = self.decorations.entry(inst.word(0)?).or_default();
                    let operand = inst.words.get(2).copied();
                    match Decoration::from_u32(inst.word(1)?) {
                        Some(Decoration::BuiltIn) => known.builtin = operand,
                        Some(Decoration::FPRoundingMode) => known.rounding = operand,
                        Some(Decoration::SaturatedConversion) => known.saturate = true,
                        Some(Decoration::NoSignedWrap) => known.no_signed_wrap = true,
                        Some(Decoration::NoContraction) => known.no_contraction = true,
                        Some(Decoration::FuncParamAttr) => known.by_value |= operand == Some(BY_VALUE),
                        Some(Decoration::Alignment) => known.align = operand,
                        Some(Decoration::SpecId) => known.spec_id = operand,
                        Some(Decoration::DescriptorSet) => known.set = operand,
                        Some(Decoration::Binding) => known.binding = operand,
                        _ => self.types.record_decoration(inst)?,
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The constant decorated `WorkgroupSize`.
    fn group_size(&self) -> Option<[u32; 3]> {
        let is_size = |it: &Decorations| it.builtin == Some(BuiltIn::WorkgroupSize as u32);
        let mut sizes = self.decorations.iter().filter(|(_, decorations)| is_size(decorations));
        let slots = sizes.find_map(|(id, _)| match self.constants.get(id) {
            Some((_, Constant::Slots(slots))) => <[u64; 3]>::try_from(slots.as_slice()).ok(),
            _ => None,
        });
        slots.map(|sizes| sizes.map(|size| size as u32))
    }

    /// The module-scope variables of each work-item, with their initial bytes.
    fn privates(&mut self) -> Result<Vec<(Object, Option<Bytes>)>, Invalid> {
        let variables = std::mem::take(&mut self.privates);
        let with_bytes = variables.into_iter().map(|(object, initial)| {
            let bytes = initial.map(|id| self.bytes_of(id)).transpose()?;
            Ok((object, bytes))
        });
        with_bytes.collect()
    }

    /// Decodes the signatures of all functions, because calls may precede definitions.
    fn headers(&mut self, insts: &[Inst<'_>]) -> Result<(), Invalid> {
        for inst in insts.iter().filter(|inst| inst.op == Op::Function) {
            let index = self.signatures.len() as u32;
            let signature = Signature { index, result: inst.word(0)? };
            if self.signatures.insert(inst.word(1)?, signature).is_some() {
                return Err(Invalid::new("two functions have one id"));
            }
        }
        Ok(())
    }

    fn name(&self, id: u32) -> String {
        self.names.get(&id).cloned().unwrap_or_default()
    }

    /// The type and value of a constant.
    fn constant(&self, id: u32) -> Option<&(TypeId, Constant)> {
        self.constants.get(&id)
    }

    /// The value of an integer constant.
    fn integer_constant(&self, id: u32) -> Option<u64> {
        match self.constants.get(&id) {
            Some((_, Constant::Slots(slots))) if slots.len() == 1 => Some(slots[0]),
            Some((_, Constant::Zero)) => Some(0),
            _ => None,
        }
    }

    /// The value of a constant index, sign-extended.
    fn index(&self, id: u32) -> Option<i64> {
        let (ty, _) = self.constants.get(&id)?;
        let (scalar, _) = self.types.lanes(*ty).ok()?;
        Some(crate::alu::signed(scalar.size(), self.integer_constant(id)?))
    }

    /// Resolves the constant indices of an access chain: the byte offset and the resulting type.
    fn path(&self, ty: TypeId, indices: &[i64]) -> Result<(i64, Member), Invalid> {
        let (mut at, mut member) = (0i64, Member::Type(ty));
        for &index in indices {
            let (bytes, inner) = self.resolve_index(member, index)?;
            at = at.wrapping_add(bytes);
            member = inner;
        }
        Ok((at, member))
    }

    /// Resolves one index of an access chain. Array indices may be out of bounds; the access itself is checked.
    fn resolve_index(&self, member: Member, index: i64) -> Result<(i64, Member), Invalid> {
        let Member::Type(ty) = member else { return Err(Invalid::new("a scalar has no members")) };
        match self.types.get(ty)?.ty {
            Ty::Array(element, _) | Ty::RuntimeArray(element) => {
                let stride = self.types.get(ty)?.stride as i64;
                Ok((stride.wrapping_mul(index), Member::Type(element)))
            }
            Ty::Vector(scalar, _) => Ok((i64::from(scalar.size()).wrapping_mul(index), Member::Lane(scalar))),
            _ => {
                let index = u64::try_from(index).map_err(|_| Invalid::new("a member's index is negative"))?;
                let (member, bytes, _) = self.types.member(ty, index)?;
                Ok((bytes as i64, member))
            }
        }
    }

    /// The element stride for a pointer of this type that points into an array.
    fn element_stride(&self, ty: TypeId) -> Result<u64, Invalid> {
        let (_, pointee) = self.pointee(ty)?;
        Ok(self.types.strides.get(&ty).copied().unwrap_or(self.types.get(pointee)?.size))
    }

    /// The storage class and pointee of a pointer type.
    fn pointee(&self, ty: TypeId) -> Result<(StorageClass, TypeId), Invalid> {
        match self.types.get(ty)?.ty {
            Ty::Pointer(class, pointee) => Ok((class, pointee)),
            _ => Err(Invalid::new(format!("type {ty} is not a pointer"))),
        }
    }
}

/// The built-in variable at an address, and the byte offset in it.
pub(crate) fn input_at(address: u64) -> Option<(Input, u64)> {
    let location = Location::from_address(address).filter(|location| location.space == Space::Input)?;
    Some((*INPUTS.get(location.object as usize)?, u64::try_from(location.offset).ok()?))
}

/// The built-in variables, by their number in `Space::Input`.
pub(crate) const INPUTS: &[Input] = &[
    Input::GlobalId,
    Input::GlobalSize,
    Input::GlobalOffset,
    Input::GlobalLinearId,
    Input::LocalId,
    Input::LocalLinearId,
    Input::LocalSize,
    Input::EnqueuedLocalSize,
    Input::GroupId,
    Input::NumGroups,
    Input::WorkDim,
    Input::SubGroupSize,
    Input::MaxSubGroupSize,
    Input::NumSubGroups,
    Input::EnqueuedNumSubGroups,
    Input::SubGroupId,
    Input::SubGroupLocalId,
    Input::SubGroupMask(Comparison::Equal),
    Input::SubGroupMask(Comparison::GreaterEqual),
    Input::SubGroupMask(Comparison::Greater),
    Input::SubGroupMask(Comparison::LessEqual),
    Input::SubGroupMask(Comparison::Less),
    Input::DispatchId,
    Input::DispatchGroupId,
    Input::DispatchGroups,
];
