//! Entry points: kernels with their execution modes and arguments.

use kiln_ir::{Argument, ArgumentKind, Handle, Kernel, Scalar, Type};
use kiln_vocabulary::opencl::{AddressSpace, MAX_ARGUMENT_SIZE};
use rspirv::spirv::{AddressingModel, Decoration, ExecutionMode, FunctionParameterAttribute, Op};

use crate::{
    Reader,
    functions::Param,
    problem::{Outcome, Problem},
    types::Ty,
    words::Instruction,
};

/// An entry point.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub(crate) name: String,
    /// The id of its function.
    pub(crate) function: u32,
}

/// Checks the operands of OpMemoryModel.
pub(crate) fn check_model(inst: &Instruction<'_>) -> Outcome<()> {
    match AddressingModel::from_u32(inst.word(0)?) {
        Some(AddressingModel::Physical64) => Ok(()),
        Some(AddressingModel::Physical32) => {
            Err(Problem::new("modules with 32-bit addresses are not supported: compile for a 64-bit device"))
        }
        _ => Err(Problem::new("this is not a module of the OpenCL environment")),
    }
}

/// Whether a kernel with this mode would give other results than it should: Kiln rounds to the nearest number, and does not
/// promise that denormal numbers become zero.
pub(crate) const fn is_unsupported(mode: ExecutionMode) -> bool {
    matches!(
        mode,
        ExecutionMode::RoundingModeRTZ
            | ExecutionMode::RoundingModeRTPINTEL
            | ExecutionMode::RoundingModeRTNINTEL
            | ExecutionMode::FloatingPointModeALTINTEL
            | ExecutionMode::DenormFlushToZero
    )
}

impl Reader<'_> {
    /// The entry points that the host launches, in order. Functions that instructions enqueue are entry points, too; or, in
    /// modules of llvm-spirv, functions of the same type that call them are. Their first parameter is a pointer that only an
    /// enqueue can set.
    pub(crate) fn entry_points(&self) -> Vec<EntryPoint> {
        let function_type = |id: u32| self.words.definition(id).ok()?.operands.get(1).copied();
        let enqueued: Vec<Option<u32>> = self.enqueued_functions().map(function_type).collect();
        let entries = self.words.preamble().iter().filter(|inst| inst.op == Op::EntryPoint);
        let entries = entries.filter_map(|inst| {
            let function = *inst.operands.get(1)?;
            let is_enqueued = enqueued.contains(&function_type(function));
            (!is_enqueued).then(|| EntryPoint { name: inst.text(2).0, function })
        });
        entries.collect()
    }

    /// The properties of a kernel with these parameters: the id and the type of each.
    pub(crate) fn kernel(&self, entry: &EntryPoint, params: &[(u32, u32, Param)]) -> Outcome<Kernel> {
        let mut kernel = Kernel::default();
        let mut attributes = Vec::new();
        for inst in self.words.preamble() {
            if !matches!(inst.op, Op::ExecutionMode | Op::ExecutionModeId) || inst.word(0)? != entry.function
            {
                continue;
            }
            let size = |from: usize| {
                let words: Option<Vec<u32>> = match inst.op {
                    Op::ExecutionMode => Some(inst.words(from).to_vec()),
                    _ => inst
                        .words(from)
                        .iter()
                        .map(|&id| self.constant_bits(id).map(|bits| bits as u32))
                        .collect(),
                };
                let size = words.and_then(|words| <[u32; 3]>::try_from(words).ok());
                size.ok_or_else(|| Problem::new("a size must have three constants").at(inst))
            };
            match ExecutionMode::from_u32(inst.word(1)?) {
                Some(ExecutionMode::LocalSize | ExecutionMode::LocalSizeId) => {
                    let [x, y, z] = size(2)?;
                    kernel.required_size = Some([x, y, z]);
                    attributes.push(format!("reqd_work_group_size({x},{y},{z})"));
                }
                Some(ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId) => {
                    let [x, y, z] = size(2)?;
                    kernel.size_hint = Some([x, y, z]);
                    attributes.push(format!("work_group_size_hint({x},{y},{z})"));
                }
                Some(ExecutionMode::VecTypeHint) => {
                    let hint = inst.word(2)?;
                    attributes.push(format!("vec_type_hint({})", vector_type_hint(hint)));
                }
                Some(mode) if is_unsupported(mode) => {
                    return Err(Problem::new(format!("{mode:?} is not supported")).at(inst));
                }
                _ => {}
            }
        }
        kernel.attributes = attributes.join(" ");
        let types = self.type_names(&entry.name);
        for (index, &(id, ty, param)) in params.iter().enumerate() {
            let type_name = types.get(index).cloned().unwrap_or_default();
            kernel.arguments.push(self.argument(id, ty, param, type_name)?);
        }
        Ok(kernel)
    }

    /// The types of a kernel's arguments as written in its source, from the string that llvm-spirv adds.
    fn type_names(&self, kernel: &str) -> Vec<String> {
        let prefix = format!("kernel_arg_type.{kernel}.");
        let strings = self.words.preamble().iter().filter(|inst| inst.op == Op::String);
        let text = strings.map(|inst| inst.text(0).0).find(|text| text.starts_with(&prefix));
        let text = text.unwrap_or_default();
        let names = text.get(prefix.len()..).unwrap_or_default();
        names.trim_end_matches(',').split(',').map(str::to_owned).filter(|name| !name.is_empty()).collect()
    }

    fn argument(&self, id: u32, ty: u32, param: Param, type_name: String) -> Outcome<Argument> {
        let has = |attribute: FunctionParameterAttribute| {
            self.words.decorations(id).iter().any(|decorated| {
                decorated.kind == Decoration::FuncParamAttr
                    && decorated.operands.first() == Some(&(attribute as u32))
            })
        };
        let kind = match (param, self.types.get(ty)?) {
            (Param::Copy { size, .. }, _) if size > MAX_ARGUMENT_SIZE => {
                return Err(Problem::new(format!("an argument of {size} bytes is too large for a kernel")));
            }
            (Param::Copy { size, align }, _) => ArgumentKind::Aggregate { size, align },
            (_, Ty::Pointer { space: Some(space), pointee, .. }) => {
                let layout = pointee.and_then(|pointee| self.types.layout(pointee).ok());
                let (element_size, natural) = layout.unwrap_or((1, 1));
                let align = self.words.alignment(id).unwrap_or(natural);
                match space {
                    AddressSpace::Local => ArgumentKind::Local { element_size, align },
                    AddressSpace::Global | AddressSpace::Constant => {
                        ArgumentKind::Pointer { space: *space, align }
                    }
                    AddressSpace::Private | AddressSpace::Generic => {
                        return Err(Problem::new(
                            "a kernel argument must point to global, constant or local memory",
                        ));
                    }
                }
            }
            (Param::Value(Type::Scalar(_) | Type::Vector(..)), _) => {
                let (size, align) = self.types.layout(ty)?;
                ArgumentKind::Value { size, align }
            }
            (Param::Value(Type::Image(image)), _) => ArgumentKind::Image(image),
            (Param::Value(Type::Sampler), _) => ArgumentKind::Sampler,
            (Param::Value(Type::Handle(Handle::Pipe { is_written })), _) => ArgumentKind::Pipe { is_written },
            _ => ArgumentKind::Queue,
        };
        let type_name = if type_name.is_empty() { self.type_name(ty) } else { type_name };
        Ok(Argument {
            kind,
            name: self.words.name(id).to_owned(),
            type_name,
            is_const: has(FunctionParameterAttribute::NoWrite),
            is_volatile: self.words.decoration(id, Decoration::Volatile).is_some(),
            is_restrict: has(FunctionParameterAttribute::NoAlias),
        })
    }

    /// The type in OpenCL C. SPIR-V has no signedness, so integers are unsigned.
    fn type_name(&self, ty: u32) -> String {
        let scalar = |scalar: Scalar| match scalar {
            Scalar::Bool => "bool",
            Scalar::I8 => "uchar",
            Scalar::I16 => "ushort",
            Scalar::I32 => "uint",
            Scalar::I64 => "ulong",
            Scalar::F16 => "half",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        };
        match self.types.get(ty) {
            Ok(Ty::Value(Type::Scalar(element))) => scalar(*element).to_owned(),
            Ok(Ty::Value(Type::Vector(element, count))) => format!("{}{count}", scalar(*element)),
            Ok(Ty::Value(Type::Sampler)) => "sampler_t".to_owned(),
            Ok(Ty::Value(Type::Handle(Handle::Queue))) => "queue_t".to_owned(),
            Ok(Ty::Value(Type::Image(image))) => image.name(),
            // A pointer can point to itself.
            Ok(Ty::Pointer { pointee: None, .. }) => "void*".to_owned(),
            Ok(Ty::Pointer { pointee: Some(pointee), .. }) => match self.types.get(*pointee) {
                Ok(Ty::Pointer { .. }) => "void**".to_owned(),
                // Compilers without pointee types make all pointers point to bytes.
                Ok(Ty::Value(Type::Scalar(Scalar::I8))) => "void*".to_owned(),
                _ => format!("{}*", self.type_name(*pointee)),
            },
            _ => {
                let name = self.words.name(ty);
                name.strip_prefix("struct.")
                    .map_or_else(|| "void".to_owned(), |name| format!("struct {name}"))
            }
        }
    }
}

/// The type of VecTypeHint: the component type in the low half, the component count in the high half.
fn vector_type_hint(word: u32) -> String {
    let scalar = match word & 0xffff {
        0 => "char",
        1 => "short",
        2 => "int",
        3 => "long",
        4 => "half",
        5 => "float",
        _ => "double",
    };
    match word >> 16 {
        0 | 1 => scalar.to_owned(),
        count => format!("{scalar}{count}"),
    }
}
