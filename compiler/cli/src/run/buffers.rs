//! Converts arguments of the launch language to those of the runtime, and owns the buffers, images and pipes that
//! launches share.

use kiln_runtime::{Arg as _, ArgValue, Buffer, Device, DeviceQueue, Image, Pipe, Queue};

use super::{
    fill::{check_fits, components_text, fill, list, numbers},
    images,
    parameter::{Form, Parameter},
    value::{ElementType, Number},
};
use crate::exit::{Failure, failure};

/// The buffers, images and pipes of a sequence of launches, under the name of the parameter that each was last passed
/// to.
#[derive(Default)]
pub(crate) struct Memory {
    launched: Names,
    /// Those of the launch whose arguments are being bound. Its arguments name the buffers of earlier launches first, so
    /// `--arg b --arg a` exchanges the two.
    binding: Names,
}

#[derive(Default)]
struct Names(Vec<(String, Typed)>);

/// A buffer, an image or a pipe, and the type of its contents.
#[derive(Clone)]
pub(super) struct Typed {
    object: Object,
    ty: ElementType,
}

#[derive(Clone)]
enum Object {
    Buffer(Buffer),
    Image(Image),
    Pipe(Pipe),
}

impl Typed {
    fn argument(&self) -> ArgValue {
        match &self.object {
            Object::Buffer(buffer) => buffer.into_value(),
            Object::Image(image) => image.into_value(),
            Object::Pipe(pipe) => pipe.into_value(),
        }
    }
}

impl Memory {
    /// The value of this parameter's argument.
    pub(super) fn argument(
        &mut self,
        device: &Device,
        text: &str,
        parameter: &Parameter<'_>,
    ) -> Result<ArgValue, Failure> {
        let name = &parameter.name;
        if text == "null" {
            return Ok(ArgValue::Pointer(0));
        }
        let Some((kind, rest)) = text.split_once(':') else {
            let Some(known) = self.launched.get(text).or_else(|| self.binding.get(text)).cloned() else {
                return failure(format!(
                    "`{text}` is not valid for `{name}`; {}",
                    match parameter.example() {
                        Some(example) => format!("write `{example}`"),
                        None => "see `kiln run --help`".to_owned(),
                    }
                ));
            };
            if matches!(known.object, Object::Pipe(_)) {
                parameter.check(&known.ty, text, Form::Pipe)?;
            }
            let value = known.argument();
            self.binding.keep(name, known);
            return Ok(value);
        };
        let new = match images::kind(kind) {
            Some(kind) => {
                let (image, ty) = images::image(device, kind, rest)?;
                Some(Typed { object: Object::Image(image), ty })
            }
            None if kind == "buf" => Some(new_buffer(device, rest, parameter)?),
            None if kind == "raw" => Some(raw_buffer(device, rest)?),
            None if kind == "pipe" => Some(new_pipe(device, rest, parameter)?),
            None => None,
        };
        if let Some(typed) = new {
            let value = typed.argument();
            self.binding.keep(name, typed);
            return Ok(value);
        }
        match kind {
            "sampler" => {
                parameter.check_sampler()?;
                Ok(images::sampler(rest)?.into_value())
            }
            "local" => local(rest, parameter).map(ArgValue::Local),
            "queue" => match rest.parse() {
                Ok(bytes) => Ok(DeviceQueue::new(bytes).into_value()),
                Err(_) => failure(format!("`{rest}` is not a number of bytes")),
            },
            "struct" => parameter.structure("struct")?.value(rest).map(ArgValue::Bytes),
            _ => value(kind, rest, parameter).map(ArgValue::Bytes),
        }
    }

    /// All arguments of a launch are bound: later launches find them by their parameters.
    pub(super) fn bound(&mut self) {
        for (name, typed) in std::mem::take(&mut self.binding.0) {
            self.launched.keep(&name, typed);
        }
    }

    /// The components of a range of elements; `None` reads all of them.
    pub(super) fn read(
        &self,
        queue: &Queue,
        name: &str,
        range: Option<std::ops::Range<usize>>,
    ) -> Result<(std::ops::Range<usize>, Vec<Number>), Failure> {
        let Some(Typed { object, ty }) = self.launched.get(name) else {
            let names: Vec<String> = self.launched.0.iter().map(|(name, _)| format!("`{name}`")).collect();
            let known = match names.is_empty() {
                true => "the kernel has none".to_owned(),
                false => format!("the buffers are {}", names.join(", ")),
            };
            return failure(format!("there is no buffer `{name}`; {known}"));
        };
        let bytes = match object {
            Object::Buffer(buffer) => queue.read(buffer)?,
            Object::Image(image) => images::texels(queue, image)?,
            Object::Pipe(_) => {
                return failure(format!("`{name}` is a pipe, whose packets only kernels can access"));
            }
        };
        let count = bytes.len() / ty.stride.max(1);
        let range = range.unwrap_or(0..count);
        match bytes.get(range.start * ty.stride..range.end * ty.stride) {
            Some(part) if range.start <= range.end => Ok((range, ty.decode(part))),
            _ => {
                let plural = if count == 1 { "" } else { "s" };
                failure(format!("`{name}` has {count} element{plural}, not {}..{}", range.start, range.end))
            }
        }
    }

    /// The size in bytes of the buffer or image that was last passed to this parameter. `None` for other arguments.
    pub(crate) fn bytes(&self, name: &str) -> Option<u64> {
        match &self.launched.get(name)?.object {
            Object::Buffer(buffer) => Some(buffer.bytes()),
            Object::Image(image) => Some(image.desc().bytes()),
            Object::Pipe(_) => None,
        }
    }
}

impl Names {
    fn get(&self, name: &str) -> Option<&Typed> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, typed)| typed)
    }

    fn keep(&mut self, name: &str, typed: Typed) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), typed));
    }
}

/// `TYPE[N]`, `TYPE[N]=FILL`
fn new_buffer(device: &Device, text: &str, parameter: &Parameter<'_>) -> Result<Typed, Failure> {
    let (name, count, content) = buffer(text)?;
    if name != "struct" {
        parameter.check(&element_type(name)?, &format!("buf:{name}"), Form::Buffer)?;
        return raw_buffer(device, text);
    }
    let structure = parameter.structure("buf:struct")?;
    let ty = structure.layout();
    check_size(device, &ty, count)?;
    let bytes = match content.starts_with('{') {
        true => structure.array(count, content)?,
        false => fill(&ty, count, content)?,
    };
    Ok(Typed { object: Object::Buffer(device.buffer_from(&bytes)?), ty })
}

/// Like `new_buffer`, but the element type can differ from the parameter's.
fn raw_buffer(device: &Device, text: &str) -> Result<Typed, Failure> {
    let (name, count, content) = buffer(text)?;
    let ty = element_type(name)?;
    check_size(device, &ty, count)?;
    let bytes = fill(&ty, count, content)?;
    Ok(Typed { object: Object::Buffer(device.buffer_from(&bytes)?), ty })
}

/// Rejects a buffer that is too large for the device before its contents are computed.
fn check_size(device: &Device, ty: &ElementType, count: usize) -> Result<(), Failure> {
    let bytes = (ty.stride as u64).saturating_mul(count as u64);
    let limit = device.capabilities().max_allocation;
    if bytes > limit { Err(kiln_runtime::Error::BufferSize { bytes, limit }.into()) } else { Ok(()) }
}

/// `TYPE[N]` or a number of bytes: the size of local memory.
pub(super) fn local<T: TryFrom<u64>>(text: &str, parameter: &Parameter<'_>) -> Result<T, Failure> {
    let wrong =
        || Failure(format!("`local:{text}` is not local memory such as `local:int[64]` or `local:256`"));
    let bytes = match text.split_once('[') {
        None => text.parse().map_err(|_| wrong())?,
        Some((name, count)) => {
            let count = count.strip_suffix(']').and_then(|count| count.parse().ok()).ok_or_else(wrong)?;
            let ty = match name {
                "struct" => parameter.structure("local:struct")?.layout(),
                _ => element_type(name)?,
            };
            parameter.check(&ty, &format!("local:{name}"), Form::Local)?;
            (ty.stride as u64).saturating_mul(count)
        }
    };
    T::try_from(bytes).map_err(|_| Failure(format!("`local:{text}` is more than local memory can be")))
}

/// The type, the number of elements and the contents.
pub(super) fn buffer(text: &str) -> Result<(&str, usize, &str), Failure> {
    let (shape, content) = text.split_once('=').unwrap_or((text, "0"));
    let wrong = || Failure(format!("`{text}` is not a buffer such as `buf:u32[4096]=iota`"));
    let Some((name, count)) = shape.split_once('[') else {
        return Err(without_count(shape, content).map_or_else(wrong, Failure));
    };
    let count = count.strip_suffix(']').and_then(|count| count.parse().ok()).ok_or_else(wrong)?;
    Ok((name, count, content))
}

/// The message about a buffer whose number of elements is missing.
fn without_count(shape: &str, content: &str) -> Option<String> {
    let ty = ElementType::parse(shape)?;
    let values = numbers(list(content).unwrap_or_default()).unwrap_or_default().len();
    let count = match values.div_ceil(ty.components()) {
        0 => "N".to_owned(),
        count => count.to_string(),
    };
    Some(format!("the number of elements is missing; write `buf:{shape}[{count}]={content}`"))
}

/// `TYPE[N]`: an empty pipe for N packets.
fn new_pipe(device: &Device, text: &str, parameter: &Parameter<'_>) -> Result<Typed, Failure> {
    let wrong = || Failure(format!("`pipe:{text}` is not a pipe such as `pipe:int[64]`"));
    let (name, count) = text.split_once('[').ok_or_else(wrong)?;
    let ty = match name {
        "struct" => parameter.structure("pipe:struct")?.layout(),
        _ => element_type(name)?,
    };
    parameter.check(&ty, &format!("pipe:{name}"), Form::Pipe)?;
    let count = count.strip_suffix(']').and_then(|count| count.parse().ok()).ok_or_else(wrong)?;
    let size = u32::try_from(ty.stride).map_err(|_| wrong())?;
    Ok(Typed { object: Object::Pipe(device.pipe(size, count)?), ty })
}

pub(super) fn value(name: &str, text: &str, parameter: &Parameter<'_>) -> Result<Vec<u8>, Failure> {
    let ty = element_type(name)?;
    parameter.check(&ty, name, Form::Value)?;
    let given = numbers(text)?;
    ty.parts.iter().zip(&given).try_for_each(|((_, scalar), number)| check_fits(*scalar, *number))?;
    match given.len() {
        1 => Ok(ty.encode(&vec![given[0]; ty.components()])),
        count if count == ty.components() => Ok(ty.encode(&given)),
        0 => failure(format!("the value is missing after `{name}:`")),
        count => failure(format!("`{text}` has {}, not {}", components_text(count), ty.components())),
    }
}

pub(super) fn element_type(text: &str) -> Result<ElementType, Failure> {
    ElementType::parse(text).ok_or_else(|| Failure(format!("`{text}` is not a type; see `kiln run --help`")))
}
