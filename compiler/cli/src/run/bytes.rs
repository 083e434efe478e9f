//! A launch without a device: sizes, and arguments as bytes. For `kiln litmus`.

use kiln_compiler::interface::Interface;
use kiln_memory_model::{Argument, Launch};
use kiln_runtime::Sizes as _;

use super::{buffers, fill::fill, header, parameter::Parameter, range, value::ElementType};
use crate::{
    arguments::LaunchArguments,
    exit::{Failure, failure},
};

/// A launch for the memory models, and the names and types of its parameters.
pub(crate) struct Bytes {
    pub(crate) launch: Launch,
    pub(crate) parameters: Vec<(String, Option<ElementType>)>,
}

/// The launch: on the command line, or the only one in the source's leading comment.
pub(crate) fn launch(given: &LaunchArguments, text: &str) -> Result<LaunchArguments, Failure> {
    if given.kernel.is_some() || given.global.is_some() || !given.arg.is_empty() {
        return Ok(given.clone());
    }
    match header::launches(text)?.as_slice() {
        [only] if only.len() == 1 => Ok(only[0].clone()),
        [] => failure(
            "there is no launch: use --global and --arg, or put a `kiln run` line into the leading comment",
        ),
        _ => failure(
            "the leading comment has several launches: use --kernel, --global and --arg for one of them",
        ),
    }
}

/// Converts a launch. The caller sets the size of sub-groups and the bound on loops.
pub(crate) fn bytes(given: &LaunchArguments, interface: &Interface) -> Result<Bytes, Failure> {
    let kernel = match (&given.kernel, interface.kernels.as_slice()) {
        (Some(name), all) => all.iter().find(|kernel| kernel.name == *name),
        (None, [only]) => Some(only),
        _ => return failure("--kernel is missing"),
    };
    let Some(kernel) = kernel else { return failure("the source has no kernel of this name") };
    let parameters: Vec<Parameter<'_>> = (kernel.parameters.iter().enumerate())
        .map(|(index, it)| Parameter::from_source(interface, it, index))
        .collect();
    if given.arg.len() != parameters.len() {
        return failure(format!(
            "kernel `{}` takes {} arguments, but {} are given",
            kernel.name,
            parameters.len(),
            given.arg.len()
        ));
    }
    let global = given.global.as_deref().ok_or_else(|| Failure("--global is missing".to_owned()))?;
    let mut launch =
        Launch { kernel: kernel.name.clone(), global: sizes(global)?, local: [1; 3], ..Launch::default() };
    launch.local = match (&given.local, kernel.required_size) {
        (Some(local), _) => sizes(local)?,
        (None, Some(required)) => required,
        (None, None) => [1; 3],
    };
    if given.offset.is_some() {
        return failure("`kiln litmus` has no --offset");
    }
    let mut named = Vec::new();
    for (text, parameter) in given.arg.iter().zip(&parameters) {
        let (argument, ty) = argument(text, parameter)?;
        launch.arguments.push(argument);
        named.push((parameter.name.clone(), ty));
    }
    Ok(Bytes { launch, parameters: named })
}

fn sizes(text: &str) -> Result<[u32; 3], Failure> {
    let (_, sizes) = range::sizes(text)?.sizes();
    let small = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    Ok(sizes.map(small))
}

fn argument(text: &str, parameter: &Parameter<'_>) -> Result<(Argument, Option<ElementType>), Failure> {
    let wrong = || Failure(format!("`kiln litmus` has no arguments such as `{text}`; see `kiln run --help`"));
    let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
    match kind {
        "buf" | "raw" => {
            let (name, count, content) = buffers::buffer(rest)?;
            let ty = buffers::element_type(name)?;
            let bytes = fill(&ty, count, content)?;
            Ok((Argument::Buffer(bytes), Some(ty)))
        }
        "local" => Ok((Argument::Local(buffers::local(rest, parameter)?), None)),
        "image1d" | "image2d" | "image3d" | "sampler" | "pipe" | "struct" => Err(wrong()),
        _ => Ok((Argument::Value(buffers::value(kind, rest, parameter)?), None)),
    }
}
