//! The kernels of a program as the host sees them: parameters with their types and qualifiers.
//!
//! The compiler's interface has the types, and the module's the qualifiers. A module without a source has less.

use kiln_compiler::interface::{Interface, Kernel, Parameter as Declared, ParameterKind};
use kiln_compiler::ty::{Access, Quals};
use kiln_runtime::interface::{Argument, ArgumentKind, KernelInterface};
use opencl_sys::*;

use crate::residence;

/// The name, attributes and parameters of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelSignature {
    pub(crate) name: String,
    pub(crate) attributes: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Whether names and types of the parameters are known.
    pub(crate) is_described: bool,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) address: cl_kernel_arg_address_qualifier,
    pub(crate) access: cl_kernel_arg_access_qualifier,
    pub(crate) qualifier: cl_bitfield,
    pub(crate) kind: Kind,
}

impl Parameter {
    /// What the kernel does with a memory object that was created with these flags.
    pub(crate) fn access_to(&self, flags: cl_mem_flags) -> residence::Access {
        let is_read = match self.kind {
            Kind::Image => self.access == CL_KERNEL_ARG_ACCESS_READ_ONLY,
            Kind::Memory => self.qualifier & cl_bitfield::from(CL_KERNEL_ARG_TYPE_CONST) != 0,
            _ => false,
        };
        if is_read || flags & CL_MEM_READ_ONLY != 0 {
            residence::Access::Read
        } else {
            residence::Access::Write
        }
    }
}

/// The kind of argument that the host passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A buffer, or a pointer to shared virtual memory.
    Memory,
    /// Local memory.
    Local,
    /// A value of this size.
    Value(u32),
    /// An image.
    Image,
    /// A sampler.
    Sampler,
    /// A pipe.
    Pipe,
    /// A queue of the device.
    Queue,
    /// An object that this driver does not create.
    Other,
}

impl Kind {
    /// The kind as numbers, for binaries.
    pub(crate) fn encode(self) -> [u32; 2] {
        match self {
            Self::Memory => [0, 0],
            Self::Local => [1, 0],
            Self::Value(size) => [2, size],
            Self::Image => [3, 0],
            Self::Sampler => [4, 0],
            Self::Other => [5, 0],
            Self::Pipe => [6, 0],
            Self::Queue => [7, 0],
        }
    }

    /// The kind of these numbers.
    pub(crate) fn decode([kind, size]: [u32; 2]) -> Option<Self> {
        Some(match kind {
            0 => Self::Memory,
            1 => Self::Local,
            2 => Self::Value(size),
            3 => Self::Image,
            4 => Self::Sampler,
            5 => Self::Other,
            6 => Self::Pipe,
            7 => Self::Queue,
            _ => return None,
        })
    }
}

/// The kernels of a module. `source` is the interface of its source, if there is one.
pub(crate) fn signatures(kernels: &[KernelInterface], source: Option<&Interface>) -> Vec<KernelSignature> {
    kernels
        .iter()
        .map(|kernel| {
            let declared = source.and_then(|source| source.kernels.iter().find(|it| it.name == kernel.name));
            let types = source.zip(declared);
            let parameters = kernel.arguments.iter().enumerate();
            KernelSignature {
                name: kernel.name.clone(),
                attributes: match declared {
                    Some(declared) if kernel.attributes.is_empty() => declared.attributes.clone(),
                    _ => kernel.attributes.clone(),
                },
                parameters: parameters.map(|(index, argument)| parameter(index, argument, types)).collect(),
                is_described: declared.is_some()
                    || kernel
                        .arguments
                        .iter()
                        .all(|it| it.info.as_ref().is_some_and(|it| it.address.is_some())),
            }
        })
        .collect()
}

fn parameter(index: usize, argument: &Argument, types: Option<(&Interface, &Kernel)>) -> Parameter {
    let declared = types.and_then(|(interface, kernel)| Some((interface, kernel.parameters.get(index)?)));
    let kind = match declared {
        Some((interface, declared)) => declared_kind(interface, declared),
        None => argument_kind(argument),
    };
    let info = argument.info.as_ref();
    let implied = match (kind, declared.map(|(_, declared)| &declared.kind)) {
        (Kind::Memory, Some(ParameterKind::Buffer { is_constant: true, .. })) => {
            CL_KERNEL_ARG_ADDRESS_CONSTANT
        }
        (Kind::Memory | Kind::Image | Kind::Pipe, _) => CL_KERNEL_ARG_ADDRESS_GLOBAL,
        (Kind::Local, _) => CL_KERNEL_ARG_ADDRESS_LOCAL,
        _ => CL_KERNEL_ARG_ADDRESS_PRIVATE,
    };
    let access = match declared.map(|(_, declared)| &declared.kind) {
        Some(ParameterKind::Image(Access::ReadOnly)) => CL_KERNEL_ARG_ACCESS_READ_ONLY,
        Some(ParameterKind::Image(Access::WriteOnly)) => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
        Some(ParameterKind::Image(Access::ReadWrite)) => CL_KERNEL_ARG_ACCESS_READ_WRITE,
        _ => CL_KERNEL_ARG_ACCESS_NONE,
    };
    // An argument that is passed by value has none (OpenCL API, table of `clGetKernelArgInfo`).
    let has_qualifiers = !matches!(kind, Kind::Value(_) | Kind::Sampler);
    let address = info.and_then(|info| info.address).unwrap_or(implied);
    // The constant address space implies `const`.
    let is_constant = has_qualifiers && address == CL_KERNEL_ARG_ADDRESS_CONSTANT;
    let declared_qualifier = info
        .and_then(|info| info.type_qualifier)
        .or_else(|| declared.map(|(_, declared)| bits(declared.quals)))
        .filter(|_| has_qualifiers);
    let implied_qualifier = match kind {
        Kind::Pipe => CL_KERNEL_ARG_TYPE_PIPE.into(),
        _ if is_constant => CL_KERNEL_ARG_TYPE_CONST.into(),
        _ => 0,
    };
    let qualifier = cl_bitfield::from(declared_qualifier.unwrap_or(0)) | implied_qualifier;
    let text = |own: fn(&Declared) -> &str, other: Option<&String>| {
        let found = other.filter(|text| !text.is_empty()).cloned();
        found.unwrap_or_else(|| declared.map_or(String::new(), |(_, it)| own(it).to_owned()))
    };
    Parameter {
        name: text(|it| it.name.as_deref().unwrap_or_default(), info.map(|info| &info.name)),
        type_name: text(|it| &it.plain_type, info.map(|info| &info.type_name)).replace(" *", "*"),
        address,
        access: info.and_then(|info| info.access).unwrap_or(access),
        qualifier,
        kind,
    }
}

/// `CL_KERNEL_ARG_TYPE_*`
fn bits(quals: Quals) -> u32 {
    let bits = [
        (quals.is_const, CL_KERNEL_ARG_TYPE_CONST),
        (quals.is_restrict, CL_KERNEL_ARG_TYPE_RESTRICT),
        (quals.is_volatile, CL_KERNEL_ARG_TYPE_VOLATILE),
    ];
    bits.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, bit)| all | bit)
}

fn declared_kind(interface: &Interface, declared: &Declared) -> Kind {
    match &declared.kind {
        ParameterKind::Buffer { .. } => Kind::Memory,
        ParameterKind::Local(_) => Kind::Local,
        ParameterKind::Value(ty) => Kind::Value(interface.size_of(ty) as u32),
        ParameterKind::Image(_) => Kind::Image,
        ParameterKind::Sampler => Kind::Sampler,
        ParameterKind::Pipe(_) => Kind::Pipe,
        // No kernel that the host launches takes events or reservations (OpenCL C 6.11).
        ParameterKind::Handle => Kind::Queue,
    }
}

fn argument_kind(argument: &Argument) -> Kind {
    let info = argument.info.as_ref();
    let type_name = info.map_or("", |info| info.type_name.as_str());
    let is_local = info.is_some_and(|info| info.address == Some(CL_KERNEL_ARG_ADDRESS_LOCAL));
    match argument.kind {
        ArgumentKind::Unused if is_local => Kind::Local,
        ArgumentKind::Value { .. } if type_name == "sampler_t" => Kind::Sampler,
        ArgumentKind::Value { size, .. } => Kind::Value(size),
        ArgumentKind::Pointer(_) | ArgumentKind::Buffer(_) | ArgumentKind::Unused => Kind::Memory,
        ArgumentKind::Local { .. } => Kind::Local,
        ArgumentKind::Image(_) => Kind::Image,
        ArgumentKind::Sampler(_) => Kind::Sampler,
        ArgumentKind::Pipe(_) => Kind::Pipe,
        ArgumentKind::Queue(_) => Kind::Queue,
        ArgumentKind::Unsupported(_) => Kind::Other,
    }
}
