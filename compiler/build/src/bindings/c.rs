//! A C header: the structs and constants that host and kernels share, and the words of the module.
//!
//! The header is C11 and C++11, includes no OpenCL header, and asserts the layouts.

use std::fmt::Write as _;

use kiln_compiler::{
    interface::{Interface, Parameter, Record, Type},
    ty::Scalar,
};

/// Every member is already at its required offset, so packing changes nothing; the assertions verify that.
const LAYOUT: &str = "#ifndef KILN_LAYOUT
#if defined(__GNUC__)
#define KILN_LAYOUT(align) __attribute__((packed, aligned(align)))
#else
#define KILN_LAYOUT(align)
#endif
#ifdef __cplusplus
#define KILN_ASSERT static_assert
#else
#define KILN_ASSERT _Static_assert
#endif
#endif

";

/// Generates the header. `name` is converted to an identifier, and prefixes the names of the module's words and of
/// structures without a name.
pub fn c(interface: &Interface, name: &str, words: &[u32]) -> String {
    let name: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    let guard = format!("KILN_{}_H", name.to_uppercase());
    let mut text =
        format!("#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n\n");
    text.push_str(LAYOUT);
    for (index, record) in interface.records.iter().enumerate() {
        self::record(&mut text, interface, &name, index, record);
    }
    for enumerator in &interface.enumerators {
        let _ = writeln!(text, "#define {} {}", enumerator.name, enumerator.value);
    }
    for kernel in &interface.kernels {
        let parameters: Vec<String> = kernel.parameters.iter().map(Parameter::declaration).collect();
        let _ = writeln!(text, "\n/* kernel void {}({}) */", kernel.name, parameters.join(", "));
        let upper = kernel.name.to_uppercase();
        let _ = writeln!(text, "#define KERNEL_{upper} {:?}", kernel.name);
        for (ordinal, parameter) in kernel.parameters.iter().enumerate() {
            if let Some(parameter) = &parameter.name {
                let _ = writeln!(text, "#define KERNEL_{upper}_{} {ordinal}", parameter.to_uppercase());
            }
        }
        if let Some([x, y, z]) = kernel.required_size {
            let _ = writeln!(text, "#define KERNEL_{upper}_WORK_GROUP_SIZE {{ {x}, {y}, {z} }}");
        }
    }
    let _ = write!(text, "\nstatic const uint32_t {name}_spirv[{}] = {{", words.len());
    for (index, word) in words.iter().enumerate() {
        let _ = write!(text, "{}0x{word:08x},", if index % 8 == 0 { "\n    " } else { " " });
    }
    text.push_str("\n};\n\n#endif\n");
    text
}

fn record(text: &mut String, interface: &Interface, name: &str, index: usize, record: &Record) {
    let tag = tag(interface, name, index);
    let kind = if record.is_union { "union" } else { "struct" };
    let _ = writeln!(text, "{kind} {tag} {{");
    let mut end = 0;
    for (index, member) in record.members.iter().enumerate() {
        if !record.is_union && member.offset > end {
            let _ = writeln!(text, "    uint8_t padding{end}[{}];", member.offset - end);
        }
        let member_name = member.name.clone().unwrap_or_else(|| format!("member{index}"));
        let _ = writeln!(text, "    {};", declaration(interface, name, &member.ty, &member_name));
        end = member.offset + interface.size_of(&member.ty);
    }
    if !record.is_union && record.size > end {
        let _ = writeln!(text, "    uint8_t padding{end}[{}];", record.size - end);
    }
    let _ = writeln!(text, "}} KILN_LAYOUT({});", record.align);
    let _ = writeln!(text, "KILN_ASSERT(sizeof({kind} {tag}) == {}, \"size of {tag}\");", record.size);
    for member in &record.members {
        if let Some(member_name) = &member.name {
            let _ = writeln!(
                text,
                "KILN_ASSERT(offsetof({kind} {tag}, {member_name}) == {}, \"offset of {member_name}\");",
                member.offset
            );
        }
    }
    text.push('\n');
}

fn declaration(interface: &Interface, program: &str, ty: &Type, name: &str) -> String {
    match ty {
        Type::Scalar(kind) => format!("{} {name}", scalar(*kind)),
        Type::Vector(element, count) => format!("{} {name}[{}]", scalar(*element), count.next_power_of_two()),
        Type::Array(element, count) => declaration(interface, program, element, &format!("{name}[{count}]")),
        Type::Record(index) => {
            let kind = if interface.records[*index].is_union { "union" } else { "struct" };
            format!("{kind} {} {name}", tag(interface, program, *index))
        }
        Type::Pointer => format!("uint64_t {name}"),
    }
}

fn tag(interface: &Interface, program: &str, index: usize) -> String {
    interface.records[index].name.clone().unwrap_or_else(|| format!("{program}_anonymous{index}"))
}

const fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool | Scalar::UChar => "uint8_t",
        Scalar::Char => "int8_t",
        Scalar::Short => "int16_t",
        Scalar::UShort | Scalar::Half => "uint16_t",
        Scalar::Int => "int32_t",
        Scalar::UInt => "uint32_t",
        Scalar::Long => "int64_t",
        Scalar::ULong => "uint64_t",
        Scalar::Float => "float",
        Scalar::Double => "double",
    }
}
