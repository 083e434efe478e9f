//! Reads the kernels of a module. In the OpenCL environment, the parameters of the entry points are the kernel's
//! parameters; entry points of the Vulkan environment have none.
//!
//! Owns the parsing of signatures. Must not depend on how arguments are passed.

use std::collections::HashMap;

use spirv::{Decoration, ExecutionMode, Op, StorageClass};

use crate::{
    Environment, Invalid,
    types::{Image, Ty, TypeId, Types},
    words::{self, Inst},
};

/// A kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// The name of the entry point.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// The size in bytes of the module's own variables in local memory.
    pub local_memory: u64,
    pub(crate) function: u32,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The name, if the module contains it.
    pub name: String,
    /// The kind of parameter.
    pub kind: ParameterKind,
}

/// The kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// The address of a buffer.
    Pointer {
        /// Whether it points to constant memory.
        is_constant: bool,
    },
    /// Local memory, sized by the launch.
    Local,
    /// A value.
    Value {
        /// The size in bytes, with padding.
        size: u32,
        /// The alignment.
        align: u32,
        /// Whether it is passed as a pointer to a copy.
        by_address: bool,
    },
    /// An image.
    Image {
        /// 1, 2 or 3.
        dims: u8,
        /// Whether it is an array.
        is_array: bool,
        /// Whether it is a view of a buffer.
        is_buffer: bool,
        /// Whether it is a depth image.
        is_depth: bool,
        /// Whether kernels write to it.
        is_written: bool,
    },
    /// A pipe.
    Pipe {
        /// Whether kernels write to it.
        is_written: bool,
    },
    /// A sampler.
    Sampler,
    /// A queue.
    Queue,
    /// The values that an enqueued block captures, which the device itself passes.
    Block,
    /// An unsupported kind.
    Other,
}

/// The execution models of kernel entry points.
const MODELS: [u32; 2] = [spirv::ExecutionModel::Kernel as u32, spirv::ExecutionModel::GLCompute as u32];

/// Reads the kernels of a module, in module order, without decoding it for execution.
pub fn kernels(words: &[u32]) -> Result<Vec<Kernel>, Invalid> {
    let (_, insts) = words::read(words)?;
    let mut declarations = Declarations::default();
    for inst in &insts {
        declarations.read(inst)?;
    }
    let entries = declarations.entries.iter().filter(|(function, _)| !declarations.is_block(*function));
    entries.map(|(function, name)| declarations.kernel(*function, name)).collect()
}

/// What a module declares about its kernels.
#[derive(Default)]
struct Declarations {
    types: Types,
    numbers: HashMap<u32, u64>,
    names: HashMap<u32, String>,
    by_value: Vec<u32>,
    entries: Vec<(u32, String)>,
    sizes: HashMap<u32, [u32; 3]>,
    /// The parameters of each function, with their types.
    functions: HashMap<u32, Vec<(u32, TypeId)>>,
    /// The function whose instructions are being read.
    current: u32,
    /// The first call in each function, with its arguments.
    calls: HashMap<u32, (u32, Vec<u32>)>,
    local_memory: u64,
}

impl Declarations {
    fn read(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        match inst.op {
            Op::Name => drop(self.names.insert(inst.word(0)?, inst.text(1).0)),
            Op::EntryPoint if MODELS.contains(&inst.word(0)?) => {
                self.entries.push((inst.word(1)?, inst.text(2).0));
            }
            Op::MemoryModel => self.types.environment = Environment::from_memory_model(inst)?,
            Op::MemberDecorate => self.types.note_member(inst)?,
            Op::ExecutionMode if inst.word(1)? == ExecutionMode::LocalSize as u32 => {
                self.sizes.insert(inst.word(0)?, [inst.word(2)?, inst.word(3)?, inst.word(4)?]);
            }
            Op::Decorate => match Decoration::from_u32(inst.word(1)?) {
                Some(Decoration::FuncParamAttr) if inst.word(2)? == BY_VALUE => {
                    self.by_value.push(inst.word(0)?);
                }
                _ => self.types.record_decoration(inst)?,
            },
            // A length that depends on specialization is at least 1; the launch has it.
            Op::SpecConstantOp => drop(self.numbers.insert(inst.word(1)?, 1)),
            Op::Constant | Op::SpecConstant => {
                let high = inst.words.get(3).copied().unwrap_or(0);
                self.numbers.insert(inst.word(1)?, u64::from(inst.word(2)?) | u64::from(high) << 32);
            }
            Op::Variable if self.functions.is_empty() && inst.word(2)? == StorageClass::Workgroup as u32 => {
                if let Ty::Pointer(_, pointee) = self.types.get(inst.word(0)?)?.ty {
                    self.local_memory = self.local_memory.saturating_add(self.types.get(pointee)?.size);
                }
            }
            Op::Function => {
                self.current = inst.word(1)?;
                self.functions.insert(self.current, Vec::new());
            }
            Op::FunctionParameter => {
                let parameter = (inst.word(1)?, inst.word(0)?);
                self.functions.entry(self.current).or_default().push(parameter);
            }
            Op::FunctionCall => {
                let call = || (inst.words.get(2).copied().unwrap_or(0), inst.from(3).to_vec());
                self.calls.entry(self.current).or_insert_with(call);
            }
            op if is_type(op) => self.types.declare(inst, |id| self.numbers.get(&id).copied())?,
            _ => {}
        }
        Ok(())
    }

    fn kernel(&self, function: u32, name: &str) -> Result<Kernel, Invalid> {
        let none = || Invalid::new(format!("kernel `{name}` has no function"));
        let parameters = self.functions.get(&function).ok_or_else(none)?.iter();
        let parameters = parameters.map(|&(id, ty)| {
            let kind = parameter_kind(&self.types, ty, self.by_value.contains(&id))?;
            Ok(Parameter { name: self.parameter_name(function, id), kind })
        });
        Ok(Kernel {
            name: name.to_owned(),
            parameters: parameters.collect::<Result<_, Invalid>>()?,
            required_size: self.sizes.get(&function).copied(),
            local_memory: self.local_memory,
            function,
        })
    }

    /// Entry points produced by llvm-spirv call the kernel functions, and only those have parameter names.
    fn parameter_name(&self, function: u32, id: u32) -> String {
        let passed = || {
            let (callee, arguments) = self.calls.get(&function)?;
            let at = arguments.iter().position(|argument| *argument == id)?;
            self.names.get(&self.functions.get(callee)?.get(at)?.0)
        };
        self.names.get(&id).or_else(passed).cloned().unwrap_or_default()
    }

    /// Whether a kernel is only enqueued: it takes a pointer to the captures of its block.
    fn is_block(&self, function: u32) -> bool {
        let parameters = self.functions.get(&function).into_iter().flatten();
        parameters
            .filter_map(|&(_, ty)| self.types.get(ty).ok())
            .any(|ty| matches!(ty.ty, Ty::Pointer(StorageClass::Generic, _)))
    }
}

/// The kernel for an enqueued block.
pub(crate) fn block(name: String, function: u32, locals: usize) -> Kernel {
    let literal = ParameterKind::Pointer { is_constant: false };
    let kinds = std::iter::once(literal).chain(std::iter::repeat_n(ParameterKind::Local, locals));
    let parameters = kinds.map(|kind| Parameter { name: String::new(), kind }).collect();
    Kernel { name, parameters, required_size: None, local_memory: 0, function }
}

/// `FunctionParameterAttribute` of a pointer to a copy.
pub(crate) const BY_VALUE: u32 = spirv::FunctionParameterAttribute::ByVal as u32;

/// Whether an instruction declares a type.
pub(crate) fn is_type(op: Op) -> bool {
    (Op::TypeVoid as u32..=Op::TypeForwardPointer as u32).contains(&(op as u32)) || op == Op::TypePipeStorage
}

fn parameter_kind(types: &Types, ty: TypeId, by_value: bool) -> Result<ParameterKind, Invalid> {
    let found = types.get(ty)?;
    let value = |ty: &crate::types::Type, by_address| ParameterKind::Value {
        size: u32::try_from(ty.size).unwrap_or(u32::MAX),
        align: ty.align as u32,
        by_address,
    };
    Ok(match found.ty {
        Ty::Pointer(StorageClass::Function, pointee) if by_value || types.get(pointee).is_ok() => {
            value(types.get(pointee)?, true)
        }
        Ty::Pointer(StorageClass::CrossWorkgroup, _) => ParameterKind::Pointer { is_constant: false },
        Ty::Pointer(StorageClass::UniformConstant, _) => ParameterKind::Pointer { is_constant: true },
        Ty::Pointer(StorageClass::Workgroup, _) => ParameterKind::Local,
        Ty::Scalar(_) | Ty::Vector(..) | Ty::Struct(_) | Ty::Array(..) => value(found, false),
        Ty::Image(Image { dims, is_array, is_buffer, is_depth, is_written }) => {
            ParameterKind::Image { dims, is_array, is_buffer, is_depth, is_written }
        }
        Ty::Pipe(is_written) => ParameterKind::Pipe { is_written },
        Ty::Sampler => ParameterKind::Sampler,
        Ty::Handle => ParameterKind::Queue,
        Ty::Pointer(StorageClass::Generic, _) => ParameterKind::Block,
        _ => ParameterKind::Other,
    })
}
