//! Rust bindings: a struct for each struct among the parameters, a constant for each enumerator, and a launch
//! function for each kernel, based on `kiln-runtime`.
//!
//! Vectors are arrays, and padding is explicit, so every struct is plain data. The generated code asserts the
//! layouts.

use std::fmt::Write as _;

use kiln_compiler::{
    interface::{Interface, Kernel, Parameter, ParameterKind, Record, Type},
    ty::Scalar,
};

/// How the generated code embeds the module.
#[derive(Clone, Debug)]
pub enum Module {
    /// From a file, as the argument of `include_bytes!`.
    File(String),
    /// As a byte string literal.
    Bytes(Vec<u8>),
}

/// Generates the items for a program. `source` is its name in the generated documentation.
pub fn rust(interface: &Interface, source: &str, module: &Module) -> String {
    let mut text = String::new();
    for (index, record) in interface.records.iter().enumerate() {
        self::record(&mut text, interface, index, record);
    }
    for enumerator in &interface.enumerators {
        let owner = enumerator.tag.as_ref().map(|tag| format!(" of `enum {tag}`")).unwrap_or_default();
        let (name, ty, value) = (identifier(&enumerator.name), scalar(enumerator.ty), enumerator.value);
        let _ = writeln!(
            text,
            "/// An enumerator{owner}.\n#[allow(non_upper_case_globals)]\npub const {name}: {ty} = {value};\n"
        );
    }
    for kernel in &interface.kernels {
        if let Some(size) = kernel.required_size {
            let _ = writeln!(
                text,
                "/// The size of `{}`'s work-groups.\npub const {}_WORK_GROUP_SIZE: [usize; 3] = {size:?};\n",
                kernel.name,
                kernel.name.to_uppercase()
            );
        }
    }
    program(&mut text, interface, source, module);
    text
}

/// Generates the loaded program with its launch functions.
fn program(text: &mut String, interface: &Interface, source: &str, module: &Module) {
    let bytes = match module {
        Module::File(path) => format!("include_bytes!({path:?})"),
        Module::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
    };
    let _ = write!(
        text,
        "/// The SPIR-V module of `{source}`.
pub static SPIRV: &[u8] = {bytes};

/// The program `{source}`, loaded on a device.
#[derive(Clone)]
pub struct Program(pub ::kiln_runtime::Program);

impl Program {{
    /// Loads the program on a device.
    pub fn load(device: &::kiln_runtime::Device) -> ::kiln_runtime::Result<Self> {{
        ::kiln_runtime::Program::from_bytes(device, SPIRV).map(Self)
    }}
"
    );
    for kernel in &interface.kernels {
        launch(text, interface, kernel);
    }
    text.push_str("}\n");
}

fn launch(text: &mut String, interface: &Interface, kernel: &Kernel) {
    let shown: Vec<String> = kernel.parameters.iter().map(Parameter::declaration).collect();
    let _ = write!(
        text,
        "
    /// Launches `kernel void {}({})`.
    ///
    /// # Safety
    /// The kernel stays within its buffers, and nothing else uses what it writes until it has ended.
    #[allow(unsafe_code, clippy::too_many_arguments, non_snake_case)]
    pub unsafe fn {}(
        &self,
        queue: &::kiln_runtime::Queue,
        range: impl Into<::kiln_runtime::NdRange>,
",
        kernel.name,
        shown.join(", "),
        identifier(&kernel.name)
    );
    let names = parameter_names(kernel);
    for (parameter, name) in kernel.parameters.iter().zip(&names) {
        let _ = writeln!(text, "        {name}: {},", parameter_type(interface, parameter));
    }
    let _ = writeln!(text, "    ) -> ::kiln_runtime::Result<::kiln_runtime::Event> {{");
    let binding = if names.is_empty() { "let" } else { "let mut" };
    let _ = writeln!(text, "        {binding} kernel = self.0.kernel({:?})?;", kernel.name);
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(text, "        kernel.set({index}, {name})?;");
    }
    text.push_str(
        "        // SAFETY: the caller meets the requirements above.
        unsafe { queue.launch(&kernel, range) }
    }
",
    );
}

/// The parameter names, made unique and distinct from the function's own names.
fn parameter_names(kernel: &Kernel) -> Vec<String> {
    let mut names: Vec<String> = vec!["queue".into(), "range".into(), "kernel".into()];
    for (index, parameter) in kernel.parameters.iter().enumerate() {
        let mut name = match &parameter.name {
            Some(name) => identifier(name),
            None => format!("argument{index}"),
        };
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names.split_off(3)
}

fn parameter_type(interface: &Interface, parameter: &Parameter) -> String {
    match &parameter.kind {
        ParameterKind::Buffer { element: Some(element), .. } => {
            format!("&::kiln_runtime::Buffer<{}>", ty(interface, element))
        }
        ParameterKind::Local(_) => "::kiln_runtime::Local".to_owned(),
        ParameterKind::Value(value) => ty(interface, value),
        ParameterKind::Image(_) => "&::kiln_runtime::Image".to_owned(),
        ParameterKind::Sampler => "::kiln_runtime::Sampler".to_owned(),
        ParameterKind::Pipe(_) => "&::kiln_runtime::Pipe".to_owned(),
        ParameterKind::Buffer { element: None, .. } | ParameterKind::Handle => {
            "impl ::kiln_runtime::Arg".to_owned()
        }
    }
}

fn record(text: &mut String, interface: &Interface, index: usize, record: &Record) {
    let name = record_name(interface, index);
    let kind = if record.is_union { "union" } else { "struct" };
    let fields = if record.is_union {
        vec![(0, "bytes".to_owned(), format!("[u8; {}]", record.size), "The members overlap.")]
    } else {
        fields(interface, record)
    };
    // If a packed struct has a misaligned member, the Rust struct must be packed too. The buffer then provides the
    // alignment.
    let aligns = record.members.iter().all(|member| member.offset % natural(interface, &member.ty) == 0)
        && record.size.is_multiple_of(record.align);
    let repr = if aligns || record.is_union {
        format!("C, align({})", record.align)
    } else {
        "C, packed".to_owned()
    };
    let _ = writeln!(
        text,
        "/// `{kind} {}`, as the kernels see it.
#[repr({repr})]
#[derive(Clone, Copy, Debug, PartialEq, ::kiln_runtime::bytemuck::Pod, ::kiln_runtime::bytemuck::Zeroable)]
#[bytemuck(crate = \"::kiln_runtime::bytemuck\")]
#[allow(non_camel_case_types, non_snake_case, missing_docs, clippy::pub_underscore_fields)]
pub struct {name} {{",
        record.name.as_deref().unwrap_or("without a name")
    );
    for (_, field, ty, comment) in &fields {
        if !comment.is_empty() {
            let _ = writeln!(text, "    /// {comment}");
        }
        let _ = writeln!(text, "    pub {field}: {ty},");
    }
    let _ = writeln!(text, "}}\n\nconst _: () = {{\n    assert!(size_of::<{name}>() == {});", record.size);
    for (offset, field, ..) in &fields {
        let _ = writeln!(text, "    assert!(::std::mem::offset_of!({name}, {field}) == {offset});");
    }
    let _ = writeln!(
        text,
        "}};

impl Default for {name} {{
    fn default() -> Self {{
        ::kiln_runtime::bytemuck::Zeroable::zeroed()
    }}
}}
"
    );
}

/// The fields with their offsets, including padding.
fn fields(interface: &Interface, record: &Record) -> Vec<(u64, String, String, &'static str)> {
    let mut fields = Vec::new();
    let mut end = 0;
    let pad = |fields: &mut Vec<_>, end: u64, to: u64| {
        if to > end {
            let name = format!("_padding{end}");
            fields.push((end, name, format!("[u8; {}]", to - end), "Any bytes."));
        }
    };
    for (index, member) in record.members.iter().enumerate() {
        pad(&mut fields, end, member.offset);
        let name = member.name.as_ref().map_or_else(|| format!("member{index}"), |name| identifier(name));
        let comment = match member.ty {
            Type::Vector(_, 3) => "Three components, with the size of four.",
            Type::Pointer => "An address on the device.",
            _ => "",
        };
        fields.push((member.offset, name, ty(interface, &member.ty), comment));
        end = member.offset + interface.size_of(&member.ty);
    }
    pad(&mut fields, end, record.size);
    fields
}

/// The alignment that Rust gives a member's type.
fn natural(interface: &Interface, ty: &Type) -> u64 {
    match ty {
        Type::Scalar(scalar) | Type::Vector(scalar, _) => scalar.size(),
        Type::Array(element, _) => natural(interface, element),
        Type::Record(index) => interface.records[*index].align,
        Type::Pointer => 8,
    }
}

fn ty(interface: &Interface, ty: &Type) -> String {
    match ty {
        Type::Scalar(kind) => scalar(*kind).to_owned(),
        Type::Vector(element, count) => format!("[{}; {}]", scalar(*element), count.next_power_of_two()),
        Type::Array(element, count) => format!("[{}; {count}]", self::ty(interface, element)),
        Type::Record(index) => record_name(interface, *index),
        Type::Pointer => "u64".to_owned(),
    }
}

/// `half` is passed as its bits, and `bool` as a byte.
const fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool | Scalar::UChar => "u8",
        Scalar::Char => "i8",
        Scalar::Short => "i16",
        Scalar::UShort | Scalar::Half => "u16",
        Scalar::Int => "i32",
        Scalar::UInt => "u32",
        Scalar::Long => "i64",
        Scalar::ULong => "u64",
        Scalar::Float => "f32",
        Scalar::Double => "f64",
    }
}

fn record_name(interface: &Interface, index: usize) -> String {
    match interface.records[index].name.as_deref() {
        Some("Program") => "Program_".to_owned(),
        Some(name) => identifier(name),
        None => format!("Anonymous{index}"),
    }
}

/// Converts a C name to a Rust identifier.
fn identifier(name: &str) -> String {
    const RAW: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "dyn", "final", "fn", "gen", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "trait",
        "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "yield", "true", "false",
    ];
    match name {
        "self" | "Self" | "super" | "crate" | "load" => format!("{name}_"),
        _ if RAW.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}
