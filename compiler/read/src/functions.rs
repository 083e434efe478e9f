//! Declares functions and reads their bodies.

use kiln_ir::{FuncId, Function, Type};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rspirv::spirv::{Decoration, FunctionParameterAttribute, Op};

use crate::{
    Reader,
    body::Body,
    kernels::EntryPoint,
    problem::{Outcome, Problem},
    types::Ty,
    words::Instruction,
};

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Param {
    /// As a value.
    Value(Type),
    /// A structure or an array, by value or as a pointer with ByVal: as a private pointer to a copy.
    Copy {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
}

impl Param {
    /// The type of a parameter that is passed as a value.
    pub(crate) const fn value(self) -> Option<Type> {
        match self {
            Self::Value(ty) => Some(ty),
            Self::Copy { .. } => None,
        }
    }
}

/// How a result is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnKind {
    Nothing,
    Value(Type),
    /// A structure or an array: stored through an additional first parameter, a private pointer.
    Memory {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// Its number in the IR.
    pub(crate) function: FuncId,
    pub(crate) params: Vec<Param>,
    pub(crate) result: ReturnKind,
}

impl<'w> Reader<'w> {
    /// Reads all functions. Returns the problems: at most one for each function.
    pub(crate) fn functions(&mut self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let entries = self.entry_points();
        let mut bodies: Vec<(usize, FuncId)> = Vec::new();
        for index in 0..self.words.functions.len() {
            let inst = self.words.instructions[self.words.functions[index].start];
            let entries = entries.iter().filter(|entry| Some(entry.function) == inst.id);
            let mut kernels = Vec::new();
            for entry in entries {
                match self.declare(index, &inst, Some(entry)) {
                    Ok(signature) => kernels.push(signature.function),
                    Err(problem) => problems.push(problem.at(&inst)),
                }
            }
            if kernels.is_empty() && problems.is_empty() {
                match self.declare(index, &inst, None) {
                    Ok(signature) => {
                        kernels.push(signature.function);
                        self.signatures.insert(inst.id.unwrap_or(0), signature);
                    }
                    Err(problem) => problems.push(problem.at(&inst)),
                }
            }
            bodies.extend(kernels.into_iter().map(|function| (index, function)));
        }
        if !problems.is_empty() {
            return problems;
        }
        for (index, function) in bodies {
            if let Err(problem) = self.define(index, function) {
                problems.push(problem);
            }
        }
        problems
    }

    /// The instructions of a function, from OpFunction to OpFunctionEnd.
    pub(crate) fn instructions_of(&self, index: usize) -> &'w [Instruction<'w>] {
        let words = self.words;
        &words.instructions[words.functions[index].clone()]
    }

    /// How a parameter of this id and type is passed.
    pub(crate) fn param(&self, id: u32, ty: u32) -> Outcome<Param> {
        if self.types.is_aggregate(ty) {
            let (size, align) = self.types.layout(ty)?;
            return Ok(Param::Copy { size, align });
        }
        let by_value = FunctionParameterAttribute::ByVal as u32;
        let is_copied = self.words.decorations(id).iter().any(|decorated| {
            decorated.kind == Decoration::FuncParamAttr && decorated.operands.first() == Some(&by_value)
        });
        if is_copied
            && let Ty::Pointer { space: Some(AddressSpace::Private), pointee, .. } = *self.types.get(ty)?
        {
            let untyped = || Problem::new("a parameter with ByVal needs a pointer with a pointee type");
            let (size, align) = self.types.layout(pointee.ok_or_else(untyped)?)?;
            return Ok(Param::Copy { size, align: self.words.alignment(id).unwrap_or(align) });
        }
        self.passed(ty).map(Param::Value)
    }

    /// The type of a value that is passed to a function or returned.
    fn passed(&self, ty: u32) -> Outcome<Type> {
        let ty = self.types.value(ty)?;
        match ty.count() {
            1..=4 | 8 | 16 => Ok(ty),
            count => Err(Problem::new(format!(
                "vectors of {count} components cannot be passed to functions or returned"
            ))),
        }
    }

    /// How a result of this type is returned.
    pub(crate) fn result_kind(&self, ty: u32) -> Outcome<ReturnKind> {
        Ok(match self.types.get(ty)? {
            Ty::Void => ReturnKind::Nothing,
            _ if self.types.is_aggregate(ty) => {
                let (size, align) = self.types.layout(ty)?;
                ReturnKind::Memory { size, align }
            }
            _ => ReturnKind::Value(self.passed(ty)?),
        })
    }

    /// Adds a function without instructions.
    fn declare(
        &mut self,
        index: usize,
        inst: &Instruction<'w>,
        entry: Option<&EntryPoint>,
    ) -> Outcome<Signature> {
        let id = inst.result()?;
        let Ty::Function { result, params: expected } = self.types.get(inst.word(1)?)?.clone() else {
            return Err(Problem::new("its type is not a function type"));
        };
        if Some(result) != inst.ty {
            return Err(Problem::new("its result type is not that of its function type"));
        }
        let mut params = Vec::new();
        for param in self.instructions_of(index).iter().filter(|inst| inst.op == Op::FunctionParameter) {
            let (id, ty) = (param.result()?, param.result_type()?);
            params.push((id, ty, self.param(id, ty).map_err(|problem| problem.at(param))?));
        }
        if !params.iter().map(|(_, ty, _)| ty).eq(&expected) {
            return Err(Problem::new("its parameters are not those of its function type"));
        }
        let result = self.result_kind(result)?;
        let private = Type::Pointer(AddressSpace::Private);
        let mut types = Vec::new();
        if let ReturnKind::Memory { .. } = result {
            types.push(private);
        }
        types.extend(params.iter().map(|(.., param)| match param {
            Param::Value(ty) => *ty,
            Param::Copy { .. } => private,
        }));
        let returned = match result {
            ReturnKind::Value(ty) => Some(ty),
            _ => None,
        };
        let linkage = self.linkage(id);
        let name = match (entry, &linkage) {
            (Some(entry), _) => entry.name.clone(),
            (None, Some((name, _))) => name.clone(),
            (None, None) => self.words.name(id).to_owned(),
        };
        let mut function = Function::new(name, &types, returned, self.span(inst));
        match entry {
            Some(entry) => function.kernel = Some(self.kernel(entry, &params)?),
            None => function.linkage = linkage.map_or(Linkage::Internal, |(_, linkage)| linkage),
        }
        let params = params.into_iter().map(|(.., param)| param).collect();
        let function = self.module.functions.push(function);
        Ok(Signature { function, params, result })
    }

    /// Reads the body of a function.
    fn define(&mut self, index: usize, id: FuncId) -> Outcome<()> {
        let instructions = self.instructions_of(index);
        let empty = Function::new(String::new(), &[], None, kiln_syntax::Span::default());
        let mut function = std::mem::replace(&mut self.module.functions[id], empty);
        let outcome = Body::new(self, &mut function).read(instructions);
        self.module.functions[id] = function;
        outcome
    }
}
