//! Values of variables: bytes of memory with a type of the source.
//!
//! Owns their text and their parts. Must not depend on the protocol.

use half::f16;
use kiln_reference::WorkItem;
use kiln_vocabulary::debug::{Kind, Number, Type, Variables};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// A type of the source, by index.
    Type(usize),
    /// A component of a vector, with its size in bytes.
    Scalar(Number, u64),
    /// Bytes without a type.
    Bytes(u64),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// An object in memory.
    Object(ValueType, u64),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A pointer to objects of this type.
    Pointer(ValueType, u64),
    /// A value without parts, such as an image.
    Opaque(String),
}

/// A number of parts of a value, and the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) start: u64,
    /// 0 is all of them.
    pub(crate) count: u64,
}

/// The maximum number of parts that one request returns.
const MAX_PARTS: u64 = 1000;
/// The maximum number of elements in the text of an array.
const MAX_SHOWN_ELEMENTS: u64 = 8;
/// The maximum depth of structures in a text.
const DEPTH: u32 = 3;

/// Reads values of one work-item.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) item: WorkItem<'a>,
    pub(crate) variables: &'a Variables,
}

impl<'a> Reader<'a> {
    fn ty(&self, index: usize) -> &'a Type {
        &self.variables.types[index]
    }

    /// The size of an object in bytes.
    pub(crate) fn size(&self, ty: ValueType) -> u64 {
        match ty {
            ValueType::Type(index) => self.ty(index).size,
            ValueType::Scalar(_, size) | ValueType::Bytes(size) => size,
        }
    }

    /// The name of a type.
    pub(crate) fn type_name(&self, ty: ValueType) -> String {
        match ty {
            ValueType::Type(index) => self.ty(index).name.clone(),
            ValueType::Scalar(number, size) => scalar_name(number, size).to_owned(),
            ValueType::Bytes(size) => format!("{size} bytes"),
        }
    }

    /// The name of a value's type.
    pub(crate) fn type_of(&self, value: &Value) -> String {
        match value {
            Value::Object(ty, _) => self.type_name(*ty),
            Value::Int(_) => "long".to_owned(),
            Value::Float(_) => "double".to_owned(),
            Value::Pointer(ty, _) => format!("{} *", self.type_name(*ty)),
            Value::Opaque(name) => name.clone(),
        }
    }

    /// Loads an object that is a number or a pointer.
    pub(crate) fn loaded(&self, value: Value) -> Result<Value, String> {
        let Value::Object(ty, address) = value else { return Ok(value) };
        let (number, size) = match ty {
            ValueType::Scalar(number, size) => (number, size),
            ValueType::Bytes(_) => return Ok(value),
            ValueType::Type(index) => match &self.ty(index).kind {
                Kind::Number(number) | Kind::Enum(number, _) => (*number, self.ty(index).size),
                Kind::Pointer(to) => {
                    let bits = self.bits(address, 8)?;
                    return Ok(Value::Pointer(ValueType::Type(*to), bits));
                }
                // Arrays decay to pointers.
                Kind::Array(element, _) => return Ok(Value::Pointer(ValueType::Type(*element), address)),
                _ => return Ok(value),
            },
        };
        Ok(number_of(number, size, self.bits(address, size)?))
    }

    /// The bits of a number in memory.
    fn bits(&self, address: u64, size: u64) -> Result<u64, String> {
        let contents = self.item.read(address, size).ok_or("it is not in memory")?;
        if contents.defined.contains(&false) {
            return Err("uninitialized".to_owned());
        }
        Ok(contents.bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    /// The text of a value.
    pub(crate) fn text(&self, value: &Value) -> String {
        self.text_within(value, DEPTH)
    }

    fn text_within(&self, value: &Value, depth: u32) -> String {
        let (ty, address) = match value {
            Value::Int(value) => return value.to_string(),
            Value::Float(value) => return value.to_string(),
            Value::Pointer(_, address) => return self.pointer(*address),
            Value::Opaque(name) => return name.clone(),
            Value::Object(ty, address) => (*ty, *address),
        };
        let ValueType::Type(index) = ty else { return self.scalar(ty, address) };
        match &self.ty(index).kind {
            Kind::Number(number) => self.scalar(ValueType::Scalar(*number, self.ty(index).size), address),
            Kind::Enum(number, names) => {
                let text = self.scalar(ValueType::Scalar(*number, self.ty(index).size), address);
                let known = names.iter().find(|(_, value)| value.to_string() == text);
                known.map_or(text.clone(), |(name, _)| format!("{name} ({text})"))
            }
            Kind::Pointer(_) => match self.bits(address, 8) {
                Ok(bits) => self.pointer(bits),
                Err(why) => why,
            },
            Kind::Opaque => self.ty(index).name.clone(),
            Kind::Record(_) | Kind::Array(..) | Kind::Vector(..) if depth == 0 => "…".to_owned(),
            Kind::Record(_) => {
                let parts = self.parts(value, Slice::default()).into_iter();
                let parts: Vec<String> = parts
                    .map(|(name, part)| format!("{name} = {}", self.text_within(&part, depth - 1)))
                    .collect();
                format!("{{{}}}", parts.join(", "))
            }
            kind @ (Kind::Array(..) | Kind::Vector(..)) => {
                let slice = Slice {
                    start: 0,
                    count: if matches!(kind, Kind::Array(..)) { MAX_SHOWN_ELEMENTS } else { 0 },
                };
                let parts = self.parts(value, slice);
                let more = if (parts.len() as u64) < self.count(value) { ", …" } else { "" };
                let texts: Vec<String> =
                    parts.iter().map(|(_, part)| self.text_within(part, depth - 1)).collect();
                match kind {
                    Kind::Vector(..) => format!("({})", texts.join(", ")),
                    _ => format!("{{{}{more}}}", texts.join(", ")),
                }
            }
        }
    }

    fn scalar(&self, ty: ValueType, address: u64) -> String {
        match ty {
            ValueType::Scalar(number, size) => match self.bits(address, size) {
                Ok(bits) => match number_of(number, size, bits) {
                    Value::Float(_) => float_text(size, bits),
                    Value::Int(value) if number == Number::Bool => (value != 0).to_string(),
                    value => self.text_within(&value, 0),
                },
                Err(why) => why,
            },
            _ => match self.item.read(address, self.size(ty).min(16)) {
                Some(contents) => contents.bytes.iter().map(|byte| format!("{byte:02x} ")).collect(),
                None => "it is not in memory".to_owned(),
            },
        }
    }

    fn pointer(&self, address: u64) -> String {
        match (address, self.item.object_at(address)) {
            (0, _) => "NULL".to_owned(),
            (_, Some((name, 0))) => name,
            (_, Some((name, offset))) => format!("{name} {offset:+} bytes"),
            (_, None) => format!("{address:#x}"),
        }
    }

    /// The number of parts of a value.
    pub(crate) fn count(&self, value: &Value) -> u64 {
        match value {
            Value::Object(ValueType::Type(index), address) => match &self.ty(*index).kind {
                Kind::Vector(_, count) => u64::from(*count),
                Kind::Array(_, count) => *count,
                Kind::Record(members) => members.len() as u64,
                Kind::Pointer(to) => match self.bits(*address, 8) {
                    Ok(address) => self.count(&Value::Pointer(ValueType::Type(*to), address)),
                    Err(_) => 0,
                },
                Kind::Number(_) | Kind::Enum(..) | Kind::Opaque => 0,
            },
            Value::Pointer(ty, address) => {
                let room = self.item.bytes_to_end(*address).unwrap_or(0);
                room.checked_div(self.size(*ty)).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Whether the parts have indices instead of names.
    pub(crate) fn is_indexed(&self, value: &Value) -> bool {
        match value {
            Value::Object(ValueType::Type(index), _) => {
                matches!(self.ty(*index).kind, Kind::Array(..) | Kind::Pointer(_))
            }
            Value::Pointer(..) => true,
            _ => false,
        }
    }

    /// Parts of a value, with their names.
    pub(crate) fn parts(&self, value: &Value, slice: Slice) -> Vec<(String, Value)> {
        let all = self.count(value);
        let count = if slice.count == 0 { all } else { slice.count }.min(MAX_PARTS);
        let range = slice.start.min(all)..slice.start.saturating_add(count).min(all);
        range.filter_map(|index| self.part(value, index)).collect()
    }

    fn part(&self, value: &Value, index: u64) -> Option<(String, Value)> {
        let (ty, address) = match value {
            Value::Pointer(ty, address) => {
                let element = address.wrapping_add(self.size(*ty) * index);
                return Some((format!("[{index}]"), Value::Object(*ty, element)));
            }
            Value::Object(ValueType::Type(ty), address) => (*ty, *address),
            _ => return None,
        };
        match &self.ty(ty).kind {
            Kind::Vector(number, count) => {
                let size = vector_element(self.ty(ty).size, *count);
                let part = Value::Object(ValueType::Scalar(*number, size), address + size * index);
                Some((component_name(index, *count), part))
            }
            Kind::Array(element, _) => {
                let start = address + self.ty(*element).size * index;
                Some((format!("[{index}]"), Value::Object(ValueType::Type(*element), start)))
            }
            Kind::Record(members) => {
                let member = members.get(index as usize)?;
                let name = if member.name.is_empty() { "(anonymous)" } else { &member.name };
                Some((name.to_owned(), Value::Object(ValueType::Type(member.ty), address + member.offset)))
            }
            Kind::Pointer(to) => {
                self.part(&Value::Pointer(ValueType::Type(*to), self.bits(address, 8).ok()?), index)
            }
            Kind::Number(_) | Kind::Enum(..) | Kind::Opaque => None,
        }
    }

    /// A member of a struct or union, or a component of a vector.
    pub(crate) fn member(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Object(ValueType::Type(index), address) = value else { return None };
        match &self.ty(*index).kind {
            Kind::Record(members) => members.iter().find_map(|member| {
                let part = Value::Object(ValueType::Type(member.ty), address + member.offset);
                match member.name == name {
                    true => Some(part),
                    false if member.name.is_empty() => self.member(&part, name),
                    false => None,
                }
            }),
            Kind::Vector(number, count) => {
                let size = vector_element(self.ty(*index).size, *count);
                let at = component(name).filter(|at| at < count)?;
                Some(Value::Object(ValueType::Scalar(*number, size), address + size * u64::from(at)))
            }
            _ => None,
        }
    }

    /// Encodes a number for an object of this type, or returns why that is impossible.
    pub(crate) fn encoded(&self, ty: ValueType, value: &Value) -> Result<Vec<u8>, String> {
        let (number, size) = match ty {
            ValueType::Scalar(number, size) => (number, size),
            ValueType::Type(index) => match &self.ty(index).kind {
                Kind::Number(number) | Kind::Enum(number, _) => (*number, self.ty(index).size),
                Kind::Pointer(_) => (Number::Unsigned, 8),
                _ => return Err("only numbers and pointers can be set".to_owned()),
            },
            ValueType::Bytes(_) => return Err("the type is not known".to_owned()),
        };
        let float = match value {
            Value::Int(value) => *value as f64,
            Value::Float(value) => *value,
            Value::Pointer(_, address) if number == Number::Unsigned => {
                return Ok(address.to_le_bytes()[..size as usize].to_vec());
            }
            _ => return Err("the new value is not a number".to_owned()),
        };
        let bits = match (number, size, value) {
            (Number::Float, 2, _) => u64::from(f16::from_f64(float).to_bits()),
            (Number::Float, 4, _) => u64::from((float as f32).to_bits()),
            (Number::Float, ..) => float.to_bits(),
            (Number::Bool, ..) => u64::from(float != 0.0),
            (_, _, Value::Int(value)) => *value as u64,
            _ => float as i128 as u64,
        };
        Ok(bits.to_le_bytes()[..size as usize].to_vec())
    }
}

/// The size of a component. A vector with three components has the size of four.
fn vector_element(size: u64, count: u8) -> u64 {
    size / u64::from(count.next_power_of_two())
}

fn component_name(index: u64, count: u8) -> String {
    match count {
        ..=4 => ["x", "y", "z", "w"][index as usize % 4].to_owned(),
        _ => format!("s{index:x}"),
    }
}

/// The index of a component (OpenCL C 6.3.7).
fn component(name: &str) -> Option<u8> {
    let (first, rest) = name.split_at_checked(1)?;
    match (first, rest) {
        ("x", "") => Some(0),
        ("y", "") => Some(1),
        ("z", "") => Some(2),
        ("w", "") => Some(3),
        ("s" | "S", rest) if rest.len() == 1 => u8::from_str_radix(rest, 16).ok(),
        _ => None,
    }
}

fn scalar_name(number: Number, size: u64) -> &'static str {
    match (number, size) {
        (Number::Bool, _) => "bool",
        (Number::Signed, 1) => "char",
        (Number::Signed, 2) => "short",
        (Number::Signed, 4) => "int",
        (Number::Signed, _) => "long",
        (Number::Unsigned, 1) => "uchar",
        (Number::Unsigned, 2) => "ushort",
        (Number::Unsigned, 4) => "uint",
        (Number::Unsigned, _) => "ulong",
        (Number::Float, 2) => "half",
        (Number::Float, 4) => "float",
        (Number::Float, _) => "double",
    }
}

fn number_of(number: Number, size: u64, bits: u64) -> Value {
    let unused = 64 - 8 * size.clamp(1, 8) as u32;
    match number {
        Number::Float => Value::Float(match size {
            2 => f16::from_bits(bits as u16).to_f64(),
            4 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }),
        Number::Signed => Value::Int(((bits << unused) as i64 >> unused).into()),
        Number::Bool | Number::Unsigned => Value::Int(bits.into()),
    }
}

/// The shortest text that identifies a float of this size.
fn float_text(size: u64, bits: u64) -> String {
    match size {
        2 => format!("{:?}", f16::from_bits(bits as u16).to_f32()),
        4 => format!("{:?}", f32::from_bits(bits as u32)),
        _ => format!("{:?}", f64::from_bits(bits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign_and_width() {
        assert_eq!(number_of(Number::Signed, 1, 0xff), Value::Int(-1));
        assert_eq!(number_of(Number::Unsigned, 1, 0xff), Value::Int(255));
        assert_eq!(number_of(Number::Float, 4, u64::from(1.5f32.to_bits())), Value::Float(1.5));
        assert_eq!(float_text(4, u64::from(0.1f32.to_bits())), "0.1");
    }

    #[test]
    fn components_have_the_names_of_opencl() {
        assert_eq!((component("w"), component("sF"), component("s1")), (Some(3), Some(15), Some(1)));
        assert_eq!((component("lo"), component("q")), (None, None));
        assert_eq!((component_name(2, 3), component_name(10, 16)), ("z".to_owned(), "sa".to_owned()));
    }
}
