//! JSON, for programs that read the interface.

use kiln_compiler::interface::{Interface, Parameter, ParameterKind, Record, Type};
use kiln_compiler::ty::Access;
use serde_json::{Value, json};

/// The interface as a JSON object.
pub fn json(interface: &Interface) -> Value {
    json!({
        "kernels": interface.kernels.iter().map(|kernel| json!({
            "name": kernel.name,
            "reqd_work_group_size": kernel.required_size,
            "work_group_size_hint": kernel.size_hint,
            "parameters": kernel.parameters.iter().map(|one| parameter(interface, one)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "records": interface.records.iter().map(|one| record(interface, one)).collect::<Vec<_>>(),
        "enumerators": interface.enumerators.iter().map(|enumerator| json!({
            "enum": enumerator.tag,
            "name": enumerator.name,
            "value": enumerator.value,
            "type": enumerator.ty.spelling(),
        })).collect::<Vec<_>>(),
    })
}

fn parameter(interface: &Interface, parameter: &Parameter) -> Value {
    let mut object = json!({ "name": parameter.name, "type": parameter.type_name });
    let (kind, element) = match &parameter.kind {
        ParameterKind::Buffer { is_constant, is_read_only, element } => {
            object["read_only"] = json!(is_read_only);
            (if *is_constant { "constant" } else { "global" }, element.as_ref())
        }
        ParameterKind::Local(element) => ("local", element.as_ref()),
        ParameterKind::Value(value) => {
            object["size"] = json!(interface.size_of(value));
            ("value", Some(value))
        }
        ParameterKind::Image(access) => {
            object["access"] = json!(match access {
                Access::ReadOnly => "read_only",
                Access::WriteOnly => "write_only",
                Access::ReadWrite => "read_write",
            });
            ("image", None)
        }
        ParameterKind::Sampler => ("sampler", None),
        ParameterKind::Pipe(packet) => ("pipe", packet.as_ref()),
        ParameterKind::Handle => ("handle", None),
    };
    object["kind"] = json!(kind);
    if let Some(element) = element {
        object["layout"] = layout(element);
    }
    object
}

fn record(interface: &Interface, record: &Record) -> Value {
    json!({
        "name": record.name,
        "kind": if record.is_union { "union" } else { "struct" },
        "size": record.size,
        "align": record.align,
        "members": record.members.iter().map(|member| json!({
            "name": member.name,
            "offset": member.offset,
            "size": interface.size_of(&member.ty),
            "layout": layout(&member.ty),
        })).collect::<Vec<_>>(),
    })
}

/// `"float"`, `{"vector": "float", "count": 4}`, `{"array": …, "count": 3}`, `{"record": 0}`, `"pointer"`.
fn layout(ty: &Type) -> Value {
    match ty {
        Type::Scalar(scalar) => json!(scalar.spelling()),
        Type::Vector(element, count) => json!({ "vector": element.spelling(), "count": count }),
        Type::Array(element, count) => json!({ "array": layout(element), "count": count }),
        Type::Record(index) => json!({ "record": index }),
        Type::Pointer => json!("pointer"),
    }
}
