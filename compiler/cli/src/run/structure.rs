//! Values of structs, arrays and vectors in the launch language, as C's initializers: `{1,2.5,{3,4}}`, `{.y=2}`.

use kiln_compiler::interface::{Interface, Type};

use super::{
    fill::{check_fits, numbers},
    parameter::{layout, scalar_type},
    value::Number,
};
use crate::exit::{Failure, failure};

/// An item of a list.
enum Item {
    Number(Number),
    List(Vec<Named>),
}

/// An item, with the member's name that precedes it.
struct Named {
    member: Option<String>,
    item: Item,
}

type Items<'a> = std::iter::Peekable<std::slice::Iter<'a, Named>>;

/// The bytes of a value of this type. Omitted elements are zero.
pub(super) fn encode(interface: &Interface, ty: &Type, text: &str) -> Result<Vec<u8>, Failure> {
    let mut rest = text;
    let items = list(&mut rest, text)?;
    if !rest.is_empty() {
        return failure(format!("`{rest}` follows the list in `{text}`"));
    }
    let mut bytes = vec![0; interface.size_of(ty) as usize];
    Writer { interface, text }.braced(ty, &items, &mut bytes)?;
    Ok(bytes)
}

/// Parses a list in braces from the start of the text.
fn list(rest: &mut &str, whole: &str) -> Result<Vec<Named>, Failure> {
    let wrong = || Failure(format!("`{whole}` is not a list such as `{{1,2.5,{{3,4}}}}`"));
    *rest = rest.trim_start().strip_prefix('{').ok_or_else(wrong)?.trim_start();
    let mut items = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            *rest = after.trim_start();
            return Ok(items);
        }
        let mut member = None;
        if let Some((name, after)) = rest.strip_prefix('.').and_then(|named| named.split_once('=')) {
            member = Some(name.trim().to_owned());
            *rest = after.trim_start();
        }
        if rest.starts_with('{') {
            items.push(Named { member, item: Item::List(list(rest, whole)?) });
        } else {
            let (text, _) = rest.split_at(rest.find([',', '}']).ok_or_else(wrong)?);
            *rest = &rest[text.len()..];
            let numbers = numbers(text)?;
            if numbers.is_empty() {
                return Err(wrong());
            }
            for number in numbers {
                items.push(Named { member: member.take(), item: Item::Number(number) });
            }
        }
        *rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

struct Writer<'a> {
    interface: &'a Interface,
    text: &'a str,
}

impl Writer<'_> {
    /// Writes the items of a list in braces.
    fn braced(&self, ty: &Type, items: &[Named], bytes: &mut [u8]) -> Result<(), Failure> {
        let mut items = items.iter().peekable();
        self.value(ty, &mut items, bytes)?;
        match items.count() {
            0 => Ok(()),
            _ => failure(format!("`{}` has too many values: {}", self.text, self.expected(ty))),
        }
    }

    /// Writes a value from the next items. As in C, braces around the items of an inner value can be omitted.
    fn value(&self, ty: &Type, items: &mut Items<'_>, bytes: &mut [u8]) -> Result<(), Failure> {
        match ty {
            Type::Scalar(_) | Type::Pointer => {
                match items.next().map(|named| &named.item) {
                    Some(Item::Number(number)) => {
                        check_fits(scalar_type(ty), *number)?;
                        scalar_type(ty).write_number(bytes, *number);
                    }
                    Some(Item::List(list)) => self.braced(ty, list, bytes)?,
                    None => {}
                }
                Ok(())
            }
            Type::Vector(scalar, count) => {
                let (element, size) = (Type::Scalar(*scalar), scalar.size() as usize);
                self.elements(&element, usize::from(*count), size, items, bytes)
            }
            Type::Array(element, count) => {
                let size = self.interface.size_of(element) as usize;
                self.elements(element, *count as usize, size, items, bytes)
            }
            Type::Record(index) => self.record(*index, items, bytes),
        }
    }

    fn elements(
        &self,
        element: &Type,
        count: usize,
        size: usize,
        items: &mut Items<'_>,
        bytes: &mut [u8],
    ) -> Result<(), Failure> {
        for bytes in bytes.chunks_exact_mut(size.max(1)).take(count) {
            self.inner(element, items, bytes)?;
        }
        Ok(())
    }

    fn record(&self, index: usize, items: &mut Items<'_>, bytes: &mut [u8]) -> Result<(), Failure> {
        let record = &self.interface.records[index];
        let mut next = 0;
        while let Some(named) = items.peek() {
            if let Some(name) = &named.member {
                let known = record.members.iter().position(|it| it.name.as_ref() == Some(name));
                next = known.ok_or_else(|| {
                    let expected = self.expected(&Type::Record(index));
                    Failure(format!("`{}`: there is no member `{name}`; {expected}", self.text))
                })?;
            } else if record.is_union && next > 0 {
                break;
            }
            let Some(member) = record.members.get(next) else { break };
            let offset = member.offset as usize;
            let size = self.interface.size_of(&member.ty) as usize;
            self.inner(&member.ty, items, &mut bytes[offset..offset + size])?;
            next = if record.is_union { record.members.len() } else { next + 1 };
        }
        Ok(())
    }

    fn inner(&self, ty: &Type, items: &mut Items<'_>, bytes: &mut [u8]) -> Result<(), Failure> {
        match items.peek().map(|named| &named.item) {
            None => Ok(()),
            Some(Item::List(list)) => {
                items.next();
                self.braced(ty, list, bytes)
            }
            Some(Item::Number(_)) => self.value(ty, items, bytes),
        }
    }

    fn expected(&self, ty: &Type) -> String {
        let count = layout(self.interface, ty).components();
        format!("it takes {count}, such as `{}`", example(self.interface, ty))
    }
}

/// A list that shows the members of a type: `{x,y,{0,0}}`.
pub(super) fn example(interface: &Interface, ty: &Type) -> String {
    let repeated = |element: &Type, count: u64| {
        let shown = vec![example(interface, element); count.min(4) as usize];
        let more = if count > 4 { ",…" } else { "" };
        format!("{{{}{more}}}", shown.join(","))
    };
    match ty {
        Type::Scalar(_) | Type::Pointer => "0".to_owned(),
        Type::Vector(scalar, count) => repeated(&Type::Scalar(*scalar), u64::from(*count)),
        Type::Array(element, count) => repeated(element, *count),
        Type::Record(index) => {
            let record = &interface.records[*index];
            let shown = if record.is_union { 1 } else { record.members.len() };
            let members = record.members[..shown].iter().map(|member| match (&member.name, &member.ty) {
                (Some(name), Type::Scalar(_) | Type::Pointer) => format!(".{name}=0"),
                (Some(name), ty) => format!(".{name}={}", example(interface, ty)),
                (None, ty) => example(interface, ty),
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}
