//! Parts of programs (OpenCL API 5.8.3): a compiled source, as IR before any pass, for `link`.
//!
//! Owns the file format. It is text: a first line with the version of the format and a checksum, then the compilation
//! options that the linker needs, the sources that positions refer to, the positions, and the printed IR. The format
//! does not depend on the target's device, which linking decides.

use std::fmt::Write as _;
use std::sync::Arc;

use kiln_frontend::interface::Interface;
use kiln_ir::{self as ir, Module};
use kiln_session::{
    MathOptions, Options,
    source::{FileKind, SourceMap},
};
use kiln_syntax::Span;
use kiln_vocabulary::opencl::Environment;

/// The first word of a part.
const MAGIC: &str = "kiln-part";
/// The version of the format. It changes when the text of the IR does.
const VERSION: u32 = 1;

/// A compiled part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of its source, for messages.
    pub name: String,
    /// The environment that it was compiled for.
    pub environment: Environment,
    /// The options that the part was compiled with, and that passes use.
    pub(crate) math: MathOptions,
    pub(crate) argument_info: bool,
    /// The host's view of its kernels. `None` if it was read from a file.
    pub(crate) interface: Option<Interface>,
    files: Vec<File>,
    positions: Vec<Option<Position>>,
    text: String,
}

/// Why bytes are not a usable part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartError(String);

impl PartError {
    pub(crate) fn new(reason: String) -> Self {
        Self(reason)
    }
}

impl std::fmt::Display for PartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PartError {}

/// A source that positions refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    name: String,
    text: String,
    /// Its `#line` directives: offset, line and name.
    presumed: Vec<(usize, u32, Option<String>)>,
}

/// A range of a file: its number, start and end.
type Position = (u32, u32, u32);

/// Calls `each` for all positions of a module, in the order of its text.
fn each_span(module: &mut Module, mut each: impl FnMut(&mut Span)) {
    module.vars.iter_mut().for_each(|var| each(&mut var.span));
    for function in module.functions.iter_mut() {
        each(&mut function.span);
        function.vars.iter_mut().for_each(|var| each(&mut var.span));
        for inst in function.inst_order() {
            each(&mut function.insts[inst].span);
        }
    }
}

impl Part {
    /// A part from a module that no pass has changed.
    pub(crate) fn new(
        name: &str,
        mut module: Module,
        options: &Options,
        sources: &SourceMap,
        interface: Option<Interface>,
    ) -> Self {
        let mut used = Vec::new();
        let mut positions = Vec::new();
        if !options.strip {
            each_span(&mut module, |span| {
                positions.push(sources.resolve(*span).map(|location| {
                    let known = used.iter().position(|file| *file == location.file);
                    let file = known.unwrap_or_else(|| {
                        used.push(location.file);
                        used.len() - 1
                    });
                    (file as u32, location.range.start as u32, location.range.end as u32)
                }));
            });
        }
        let files = used.into_iter().map(|id| File {
            name: sources.file(id).name.to_string(),
            text: sources.file(id).text.to_string(),
            presumed: sources
                .presumptions(id)
                .map(|(offset, line, name)| (offset, line, name.map(Arc::to_string)))
                .collect(),
        });
        let Options { math, argument_info, .. } = *options;
        Self {
            name: name.to_owned(),
            environment: options.target.environment,
            math,
            argument_info,
            interface,
            files: files.collect(),
            positions,
            text: module.to_string(),
        }
    }

    /// Whether the part has kernels. Fails if it is damaged.
    pub fn has_kernels(&self) -> Result<bool, PartError> {
        let module = self.module(&mut SourceMap::default())?;
        Ok(module.functions.iter().any(|function| function.kernel.is_some()))
    }

    /// The IR, with positions in a source map to which the part's sources are added.
    pub(crate) fn module(&self, sources: &mut SourceMap) -> Result<Module, PartError> {
        let damaged = |reason: String| PartError(format!("the part `{}` is damaged: {reason}", self.name));
        let mut module = ir::parse(&self.text).map_err(|error| damaged(error.to_string()))?;
        if let Some(problem) = ir::verify(&module).into_iter().next() {
            return Err(damaged(problem));
        }
        let full = || PartError("the sources of the parts are too large".to_owned());
        let mut ids = Vec::new();
        for File { name, text, presumed } in &self.files {
            let (name, text) = (name.as_str(), text.as_str());
            let id = sources.add_file(name, text, FileKind::User, None).ok_or_else(full)?;
            for (offset, line, name) in presumed {
                sources.presume(id, *offset, *line, name.as_deref().map(Arc::from));
            }
            ids.push(id);
        }
        if self.positions.is_empty() {
            return Ok(module);
        }
        let mut positions = self.positions.iter();
        let mut is_sound = true;
        each_span(&mut module, |span| match positions.next() {
            Some(Some((file, start, end))) => match ids.get(*file as usize) {
                Some(&file) if start <= end && *end as usize <= sources.file(file).text.len() => {
                    *span = sources.span(file, *start as usize..*end as usize);
                }
                _ => is_sound = false,
            },
            Some(None) => {}
            None => is_sound = false,
        });
        if is_sound && positions.next().is_none() {
            Ok(module)
        } else {
            Err(damaged("its positions do not match its instructions".to_owned()))
        }
    }

    /// The bytes of the part's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = String::new();
        let environment = match self.environment {
            Environment::Vulkan => "vulkan",
            Environment::OpenCl => "opencl",
        };
        // Writing to a string cannot fail.
        let _ = write!(body, "environment {environment}\noptions");
        let mut math = self.math;
        for (name, is_set) in math.by_name() {
            body.push_str(&if *is_set { format!(" {name}") } else { String::new() });
        }
        body.push_str(if self.argument_info { " argument-info\n" } else { "\n" });
        section(&mut body, "name", &self.name);
        for File { name, text, presumed } in &self.files {
            section(&mut body, "file", name);
            section(&mut body, "text", text);
            for (offset, line, name) in presumed {
                let _ = writeln!(body, "line {offset} {line}");
                if let Some(name) = name {
                    section(&mut body, "called", name);
                }
            }
        }
        let mut positions = String::new();
        let mut last = None;
        for position in &self.positions {
            let _ = match position {
                None => positions.write_str(" -"),
                Some(_) if last == Some(position) => positions.write_str(" ="),
                Some((file, start, end)) => write!(positions, " {file}:{start}:{end}"),
            };
            last = Some(position);
        }
        section(&mut body, "positions", &positions);
        section(&mut body, "ir", &self.text);
        format!("{MAGIC} {VERSION} {:016x}\n{body}", checksum(body.as_bytes())).into_bytes()
    }

    /// Whether the bytes start with the magic word of a part.
    pub fn is_part(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC.as_bytes()) && bytes.get(MAGIC.len()) == Some(&b' ')
    }

    /// Reads a part. The error describes the problem.
    pub fn read(bytes: &[u8]) -> Result<Self, PartError> {
        let damaged = || PartError("the part is damaged: compile it again".to_owned());
        if !Self::is_part(bytes) {
            return Err(PartError("it is not a part; `kiln compile -c` writes parts".to_owned()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        let (head, body) = text.split_once('\n').ok_or_else(damaged)?;
        let mut words = head.split(' ').skip(1);
        let version = words.next().unwrap_or_default();
        if version != VERSION.to_string() {
            return Err(PartError(format!(
                "the part has version {version}, and this Kiln links version {VERSION}: compile it again"
            )));
        }
        if words.next().and_then(|sum| u64::from_str_radix(sum, 16).ok()) != Some(checksum(body.as_bytes())) {
            return Err(damaged());
        }
        let part = Reader(body).part().ok_or_else(damaged)?;
        part.module(&mut SourceMap::default())?;
        Ok(part)
    }
}

/// A named text with its length in bytes.
fn section(body: &mut String, name: &str, text: &str) {
    let _ = writeln!(body, "{name} {}\n{text}", text.len());
}

/// FNV-1a, against accidental damage.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Reads the lines and sections of a part.
struct Reader<'t>(&'t str);

impl<'t> Reader<'t> {
    /// The rest of the next line, if it starts with this word.
    fn line(&mut self, word: &str) -> Option<&'t str> {
        let (line, rest) = self.0.split_once('\n')?;
        let words = line.strip_prefix(word)?;
        if !words.is_empty() && !words.starts_with(' ') {
            return None;
        }
        self.0 = rest;
        Some(words)
    }

    fn section(&mut self, word: &str) -> Option<&'t str> {
        let length: usize = self.line(word)?.trim_start().parse().ok()?;
        let (text, rest) = (self.0.get(..length)?, self.0.get(length..)?);
        self.0 = rest.strip_prefix('\n')?;
        Some(text)
    }

    fn part(&mut self) -> Option<Part> {
        let environment = match self.line("environment")? {
            " vulkan" => Environment::Vulkan,
            " opencl" => Environment::OpenCl,
            _ => return None,
        };
        let (mut math, mut argument_info) = (MathOptions::default(), false);
        for word in self.line("options")?.split_whitespace() {
            if word == "argument-info" {
                argument_info = true;
            } else if !math.set(word) {
                return None;
            }
        }
        let name = self.section("name")?.to_owned();
        let mut files = Vec::new();
        while let Some(name) = self.section("file") {
            let (name, text, mut presumed) = (name.to_owned(), self.section("text")?.to_owned(), Vec::new());
            while let Some(line) = self.line("line") {
                let (offset, line) = line.trim_start().split_once(' ')?;
                let called = self.section("called").map(str::to_owned);
                presumed.push((offset.parse().ok()?, line.parse().ok()?, called));
            }
            files.push(File { name, text, presumed });
        }
        let mut positions: Vec<Option<Position>> = Vec::new();
        for word in self.section("positions")?.split_whitespace() {
            positions.push(match word {
                "-" => None,
                "=" => *positions.last()?,
                _ => {
                    let mut numbers = word.split(':').map(|number| number.parse().ok());
                    Some((numbers.next()??, numbers.next()??, numbers.next()??))
                }
            });
        }
        let text = self.section("ir")?.to_owned();
        let interface = None;
        self.0.is_empty().then_some(Part {
            name,
            environment,
            math,
            argument_info,
            interface,
            files,
            positions,
            text,
        })
    }
}
