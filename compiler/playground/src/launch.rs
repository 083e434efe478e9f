//! Runs the launches in a source's leading comment on the reference device.
//!
//! Owns the conversion of arguments. Images, pipes and queues are not available on the page.

use kiln_reference::{
    Argument, Buffer, Checks, Launch, Memory, Options, ParameterKind, Pipeline, Program, Region,
};

use crate::{
    arguments::LaunchArguments,
    exit::{Failure, failure},
    fill::{fill, numbers},
    header,
    value::{ElementType, Number},
};

/// The results of all launches.
#[derive(Default)]
pub(crate) struct Launched {
    /// The output of the kernels, and the parts of buffers to print and to check.
    pub(crate) output: String,
    /// Undefined behavior, and its line.
    pub(crate) report: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) picture: Option<Picture>,
}

/// A buffer of pixels: red, green, blue and opacity of each.
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) pixels: Vec<u8>,
}

/// A buffer, under the name of the parameter that it was last passed to.
struct Named {
    name: String,
    ty: ElementType,
    buffer: Buffer,
}

/// The maximum number of steps of a work-item, so that a page stays responsive.
const STEPS: u64 = 1 << 24;
/// The maximum size of a buffer in bytes.
const LARGEST: usize = 1 << 26;

/// Runs all launches of the source.
pub(crate) fn run(module: &[u32], source: &str) -> Result<Launched, Failure> {
    let sequences = header::launches(source)?;
    if sequences.is_empty() {
        return failure(
            "there is no launch: begin the source with a comment such as\n\
             // kiln run --kernel k --global 64 --arg buf:int[64]=iota --print data[0..8]",
        );
    }
    let memory = Memory::default();
    let program =
        Program::new(module, &memory, Checks::On).map_err(|invalid| Failure(invalid.to_string()))?;
    let mut launched = Launched::default();
    for sequence in &sequences {
        let mut buffers = Vec::new();
        for launch in sequence {
            run_launch(&program, &memory, launch, &mut buffers, &mut launched)?;
            if launched.report.is_some() {
                return Ok(launched);
            }
        }
    }
    Ok(launched)
}

fn run_launch(
    program: &Program,
    memory: &Memory,
    launch: &LaunchArguments,
    buffers: &mut Vec<Named>,
    launched: &mut Launched,
) -> Result<(), Failure> {
    let kernels = program.kernels();
    let kernel = match &launch.kernel {
        Some(name) => kernels.iter().position(|kernel| kernel.name == *name),
        None => (kernels.len() == 1).then_some(0),
    };
    let Some(kernel) = kernel else { return failure("--kernel does not name a kernel of the source") };
    let parameters = &kernels[kernel].parameters;
    if parameters.len() != launch.arg.len() {
        return failure(format!(
            "kernel `{}` takes {} arguments, but {} are given",
            kernels[kernel].name,
            parameters.len(),
            launch.arg.len()
        ));
    }
    let mut arguments = Vec::new();
    for (text, parameter) in launch.arg.iter().zip(parameters) {
        arguments.push(argument(memory, text, &parameter.name, parameter.kind, buffers)?);
    }
    let (dims, global) = sizes(launch.global.as_deref().unwrap_or_default())?;
    let local = local_size(launch, kernels[kernel].required_size, global)?;
    let groups = [0, 1, 2].map(|d| global[d] / local[d]);
    let region = Region { local, groups, first_group: [0; 3], first_item: [0; 3], pipeline: 0 };
    let pipeline = Pipeline { program, push_constants: &[], bound: &[] };
    let options = Options { steps: STEPS, threads: 1, ..Options::default() };
    let outcome = Launch {
        pipelines: &[pipeline],
        kernel,
        arguments: &arguments,
        buffers: &[],
        dims,
        global,
        offset: [0; 3],
        local,
        groups,
        regions: &[region],
    }
    .run(memory, &options);
    launched.output += &String::from_utf8_lossy(&outcome.printed);
    if let Some(report) = outcome.report {
        launched.line = report.location.as_ref().map(|location| location.line);
        launched.report = Some(report.to_string());
        return Ok(());
    }
    for text in &launch.print {
        launched.output += &printed(text, buffers)?;
    }
    for text in &launch.check {
        launched.output += &checked(text, buffers)?;
    }
    if let Some(picture) = picture(dims, global, buffers) {
        launched.picture = Some(picture);
    }
    Ok(())
}

/// The local size: required, given, or chosen.
fn local_size(
    launch: &LaunchArguments,
    required: Option<[u32; 3]>,
    global: [u32; 3],
) -> Result<[u32; 3], Failure> {
    let local = match (&launch.local, required) {
        (_, Some(required)) => required,
        (Some(local), None) => sizes(local)?.1,
        (None, None) => default_local_size(global),
    };
    let is_even = [0, 1, 2].iter().all(|&d| local[d] != 0 && global[d].is_multiple_of(local[d]));
    if !is_even || local.iter().product::<u32>() > 1024 {
        return failure(
            "the global size is not a multiple of the local size, or a group has over 1024 work-items",
        );
    }
    Ok(local)
}

/// The largest power of two up to 64 that divides the global size.
fn default_local_size(global: [u32; 3]) -> [u32; 3] {
    [1 << global[0].trailing_zeros().min(6), 1, 1]
}

/// Parses one to three sizes.
fn sizes(text: &str) -> Result<(u32, [u32; 3]), Failure> {
    let mut sizes = [1; 3];
    let mut count = 0;
    for size in text.split([',', 'x']) {
        match (sizes.get_mut(count), size.trim().parse()) {
            (Some(slot), Ok(size)) => *slot = size,
            _ => return failure(format!("`{text}` is not one to three sizes such as `1024` or `64,64`")),
        }
        count += 1;
    }
    Ok((count as u32, sizes))
}

fn argument(
    memory: &Memory,
    text: &str,
    name: &str,
    kind: ParameterKind,
    buffers: &mut Vec<Named>,
) -> Result<Argument, Failure> {
    let wrong = || Failure(format!("`{text}` is not valid for `{name}`"));
    let Some((form, rest)) = text.split_once(':') else {
        let known = buffers.iter_mut().find(|it| it.name == text).ok_or_else(wrong)?;
        name.clone_into(&mut known.name);
        return Ok(Argument::Bytes(known.buffer.address().to_le_bytes().to_vec()));
    };
    match (form, kind) {
        ("local", ParameterKind::Local) => rest.parse().map(Argument::Local).map_err(|_| wrong()),
        ("buf", ParameterKind::Pointer { .. }) => {
            let (shape, contents) = rest.split_once('=').unwrap_or((rest, "0"));
            let (ty, count) = shape.strip_suffix(']').and_then(|it| it.split_once('[')).ok_or_else(wrong)?;
            let ty = ElementType::parse(ty).ok_or_else(wrong)?;
            let count: usize = count.parse().map_err(|_| wrong())?;
            if contents.starts_with("file:") || count.saturating_mul(ty.stride) > LARGEST {
                return Err(wrong());
            }
            let bytes = fill(&ty, count, contents)?;
            let buffer = memory.allocate(bytes.len() as u64).ok_or_else(wrong)?;
            buffer.write(0, &bytes);
            let address = buffer.address().to_le_bytes().to_vec();
            buffers.retain(|it| it.name != name);
            buffers.push(Named { name: name.to_owned(), ty, buffer });
            Ok(Argument::Bytes(address))
        }
        (ty, ParameterKind::Value { size, .. }) => {
            let ty = ElementType::parse(ty).filter(|ty| ty.stride == size as usize).ok_or_else(wrong)?;
            let numbers = numbers(rest)?;
            if numbers.len() != ty.components() {
                return Err(wrong());
            }
            Ok(Argument::Bytes(ty.encode(&numbers)))
        }
        _ => Err(wrong()),
    }
}

/// The name, the first element and the numbers of `out[0..16]`, and the text after it.
fn part<'t>(text: &'t str, buffers: &[Named]) -> Result<(String, usize, Vec<Number>, &'t str), Failure> {
    let wrong = || Failure(format!("`{text}` is not a part of a buffer such as `out[0..16]`"));
    let (name, rest) = text.split_once('[').ok_or_else(wrong)?;
    let (inside, rest) = rest.split_once(']').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let range = match inside.split_once("..") {
        Some((first, last)) => number(first)?..number(last)?,
        None => number(inside)?..number(inside)?.saturating_add(1),
    };
    let of = buffers.iter().find(|it| it.name == name.trim()).ok_or_else(wrong)?;
    let count = of.buffer.size() as usize / of.ty.stride;
    if range.start > range.end || range.end > count {
        return failure(format!("`{name}` has {count} elements"));
    }
    let mut bytes = vec![0; range.len() * of.ty.stride];
    of.buffer.read((range.start * of.ty.stride) as u64, &mut bytes);
    Ok((format!("{name}[{inside}]"), range.start, of.ty.decode(&bytes), rest))
}

fn printed(text: &str, buffers: &[Named]) -> Result<String, Failure> {
    let (name, _, values, _) = part(text, buffers)?;
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    Ok(format!("{name} = {}\n", values.join(" ")))
}

fn checked(text: &str, buffers: &[Named]) -> Result<String, Failure> {
    let (name, start, found, rest) = part(text, buffers)?;
    let list = rest.strip_prefix('=').ok_or_else(|| Failure(format!("`{text}` is not a check with `=`")))?;
    let expected = numbers(list)?;
    let name = name.split('[').next().unwrap_or_default();
    let wrong = found.iter().enumerate().find_map(|(index, found)| {
        let wanted = if expected.len() == 1 { expected.first() } else { expected.get(index) };
        let differs = wanted.is_none_or(|wanted| wanted.as_f64() != found.as_f64());
        differs.then(|| (index, found, wanted.map_or("more".to_owned(), ToString::to_string)))
    });
    Ok(wrong.map_or(String::new(), |(index, found, wanted)| {
        format!("check failed: {name}[{}] is {found}, not {wanted}\n", start + index)
    }))
}

/// The first buffer of four bytes for each work-item of a launch with two dimensions.
fn picture(dims: u32, global: [u32; 3], buffers: &[Named]) -> Option<Picture> {
    let [width, height, _] = global;
    let pixels = u64::from(width) * u64::from(height);
    let is_picture =
        |it: &&Named| it.ty.stride == 4 && it.ty.components() == 4 && it.buffer.size() == 4 * pixels;
    let found = buffers.iter().find(is_picture).filter(|_| dims == 2)?;
    let mut bytes = vec![0; found.buffer.size() as usize];
    found.buffer.read(0, &mut bytes);
    Some(Picture { width, height, pixels: bytes })
}
