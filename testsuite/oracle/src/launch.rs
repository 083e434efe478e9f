//! A launch in the syntax of `kiln run`: buffers, values, local memory, and buffer ranges to print.

use clap::Args;

use crate::{
    exit::{Failure, failure},
    fill::{fill, numbers},
    opencl::{Memory, Program, Value},
    value::ElementType,
};

/// The launch options.
#[derive(Args)]
pub(crate) struct Launch {
    /// The kernel
    #[arg(long)]
    kernel: String,
    /// Work-items in each dimension
    #[arg(long)]
    global: String,
    /// Work-items of a work-group in each dimension
    #[arg(long)]
    local: Option<String>,
    /// `buf:TYPE[N]=FILL`, `TYPE:VALUE`, `local:BYTES`, `pipe:TYPE[N]`, `queue:BYTES` or `null`, in the order of the kernel's parameters
    #[arg(long, allow_hyphen_values = true)]
    arg: Vec<String>,
    /// Print part of a buffer after the launch, such as `out[0..16]`
    #[arg(long)]
    print: Vec<String>,
}

/// A buffer that was passed to a parameter.
struct Given {
    parameter: String,
    memory: Memory,
    ty: ElementType,
}

/// Launches, waits, and prints.
pub(crate) fn launch(program: &Program<'_>, words: &Launch) -> Result<(), Failure> {
    let parameters = program.parameters(&words.kernel)?;
    if parameters.len() != words.arg.len() {
        return failure(format!("the kernel takes {} arguments", parameters.len()));
    }
    let mut buffers = Vec::new();
    let mut values = Vec::new();
    for (text, parameter) in words.arg.iter().zip(parameters) {
        values.push(match text.split_once(':') {
            None if text == "null" => Value::Null,
            Some(("buf" | "raw", rest)) => {
                let given = buffer(program, rest, parameter)?;
                let memory = given.memory.clone();
                buffers.push(given);
                Value::Buffer(memory)
            }
            Some(("queue", rest)) => {
                let size = rest.parse().map_err(|_| Failure(format!("`{text}` is not a queue")))?;
                Value::Queue(program.device_queue(size)?)
            }
            Some(("pipe", rest)) => {
                let (ty, count) = shape(rest).ok_or_else(|| Failure(format!("`{text}` is not a pipe")))?;
                Value::Pipe(program.pipe(ty.stride as u32, count as u32)?)
            }
            Some(("local", bytes)) => Value::Local(parse_number(bytes)?),
            Some((ty, text)) => {
                let ty = element_type(ty)?;
                let given = numbers(text)?;
                let parts = if given.len() == 1 { vec![given[0]; ty.components()] } else { given };
                Value::Bytes(ty.encode(&parts))
            }
            None => return failure(format!("`{text}` is not understood")),
        });
    }
    let local = words.local.as_deref().map(sizes).transpose()?;
    program.launch(&words.kernel, &values, &sizes(&words.global)?, local.as_deref())?;
    for text in &words.print {
        print(program, text, &buffers)?;
    }
    Ok(())
}

fn buffer(program: &Program<'_>, text: &str, parameter: String) -> Result<Given, Failure> {
    let (form, content) = text.split_once('=').unwrap_or((text, "0"));
    let wrong = || Failure(format!("`buf:{text}` is not a buffer such as `buf:u32[4096]=iota`"));
    let (ty, count) = shape(form).ok_or_else(wrong)?;
    Ok(Given { parameter, memory: program.buffer(&fill(&ty, count, content)?)?, ty })
}

/// `u32[4096]`
fn shape(text: &str) -> Option<(ElementType, usize)> {
    let (ty, count) = text.strip_suffix(']')?.split_once('[')?;
    Some((ElementType::parse(ty)?, count.parse().ok()?))
}

/// `out[0..16]`
fn print(program: &Program<'_>, text: &str, buffers: &[Given]) -> Result<(), Failure> {
    let wrong = || Failure(format!("`{text}` is not part of a buffer"));
    let (name, range) = text.strip_suffix(']').and_then(|text| text.split_once('[')).ok_or_else(wrong)?;
    let (first, last) = range.split_once("..").ok_or_else(wrong)?;
    let given = buffers.iter().find(|given| given.parameter == name).ok_or_else(wrong)?;
    let stride = given.ty.stride;
    let bytes = program.read(&given.memory)?;
    let part = bytes.get(parse_number(first)? * stride..parse_number(last)? * stride).ok_or_else(wrong)?;
    let values: Vec<String> = given.ty.decode(part).iter().map(ToString::to_string).collect();
    println!("{text} = {}", values.join(" "));
    Ok(())
}

fn sizes(text: &str) -> Result<Vec<usize>, Failure> {
    text.split(',').map(parse_number).collect()
}

fn parse_number(text: &str) -> Result<usize, Failure> {
    text.trim().parse().map_err(|_| Failure(format!("`{text}` is not a number")))
}

fn element_type(text: &str) -> Result<ElementType, Failure> {
    ElementType::parse(text).ok_or_else(|| Failure(format!("`{text}` is not a type")))
}
