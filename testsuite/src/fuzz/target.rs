//! The fuzz targets, and what must hold for any input: the target returns a result or errors, and every diagnostic
//! has a valid location and can be rendered. A module is read, or rejected with a reason.

use kiln_compiler::{
    Artifact, Emit, Il, Output, compile,
    diag::{Code, Diagnostic, Severity},
    session::{Loader, Options, Source},
    target, translate,
};
use kiln_report::Format;
use kiln_syntax::Span;

use super::Input;

/// A part of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The preprocessor.
    Preprocessor,
    /// The parser.
    Parser,
    /// The type checker.
    Checker,
    /// The whole compiler.
    Compiler,
    /// The reader of kernel modules, and what follows it.
    Reader,
}

/// Files to include: one with a guard, one without, one that includes itself, one with errors.
struct Files;

impl Loader for Files {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        let text = match path.rsplit('/').next()? {
            "a.h" => {
                "#ifndef A_H\n#define A_H\ntypedef struct { float4 a; int b[2]; } A;\n#define MAX(x, y) ((x) > (y) ? (x) : (y))\n#endif\n"
            }
            "b.h" => {
                "#include \"a.h\"\n#define CAT(a, b) a ## b\n#define STR(x) #x\ninline int b(int x) { return MAX(x, 1); }\n"
            }
            "self.h" => "#include \"self.h\"\nint self;\n",
            "bad.h" => "#if 1\nint bad( {\n'",
            _ => return None,
        };
        Some(text.as_bytes().to_vec())
    }
}

/// The printed form of a missing part of the tree.
const NO_TREE: &str = "<error>";

impl Target {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Preprocessor, Self::Parser, Self::Checker, Self::Compiler, Self::Reader];

    /// The name on the command line and of the folder of findings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preprocessor => "preprocessor",
            Self::Parser => "parser",
            Self::Checker => "checker",
            Self::Compiler => "compiler",
            Self::Reader => "reader",
        }
    }

    /// The file name extension of its findings.
    pub fn extension(self) -> &'static str {
        if self == Self::Reader { "module" } else { "cl" }
    }

    /// The target of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Runs the target on an input. Panics if a property does not hold.
    pub fn execute(self, input: &Input) {
        let emit = match self {
            Self::Preprocessor => Emit::Preprocessed,
            Self::Parser => Emit::Ast,
            Self::Checker => Emit::Nothing,
            Self::Compiler => Emit::Spirv,
            Self::Reader => return read(input),
        };
        let output = run(input, input.text.clone(), &emit);
        check(&output);
        // Unless a directive interferes, the printed tree parses to the same tree.
        if let (Self::Parser, Some(Artifact::Text(text))) = (self, &output.artifact)
            && output.diagnostics.is_empty()
            && !text.contains(NO_TREE)
            && !input.text.contains(&b'#')
            && is_left_alone(input, text)
        {
            let again = run(input, text.clone().into_bytes(), &emit);
            if let Some(Artifact::Text(same)) = &again.artifact {
                assert_eq!(text, same, "the printed tree parses to another one");
            }
        }
    }
}

/// Whether no macro applies to the text when it is parsed again: a macro's name followed by a `(` from another macro
/// would become a call.
fn is_left_alone(input: &Input, text: &str) -> bool {
    // Preprocessed text keeps calls of GNU C's functions, which are macros when it is parsed.
    if text.split("__builtin_").skip(1).any(|rest| !rest.starts_with("astype")) {
        return false;
    }
    let written = |text: &str| text.split_whitespace().collect::<String>();
    match run(input, text.into(), &Emit::Preprocessed).artifact {
        Some(Artifact::Text(read)) => written(&read) == written(text),
        _ => false,
    }
}

fn run(input: &Input, text: Vec<u8>, emit: &Emit) -> Output {
    let extensions = if input.everything { vec![("all".to_owned(), true)] } else { Vec::new() };
    let options = Options {
        std: input.std,
        target: target::Target::full(input.environment),
        extensions,
        ..Options::default()
    };
    let source = Source { name: "input.cl".into(), text };
    compile(source, &options, &Files, emit)
}

/// Translates a module. A rejected module has a reason.
fn read(input: &Input) {
    let words =
        input.text.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let words: Vec<u32> = words.collect();
    let il = Il { name: "input.spv", words: &words, specialization: &[] };
    let options = Options { target: target::Target::full(input.environment), ..Options::default() };
    let emit = if input.everything { Emit::Spirv } else { Emit::Ir };
    match translate(&il, &options, &emit) {
        Ok(output) => check(&output),
        Err(problems) => assert!(!problems.is_empty(), "rejected without a reason"),
    }
}

fn check(output: &Output) {
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let errors = output.diagnostics.iter().filter(|diagnostic| is_error(diagnostic)).count();
    assert_ne!(output.artifact.is_some(), errors > 0, "an artifact or errors");
    for diagnostic in &output.diagnostics {
        let spans = diagnostic.labels.iter().map(|label| label.span);
        for span in spans.chain([diagnostic.span]).chain(diagnostic.fix.as_ref().map(|fix| fix.span)) {
            // Diagnostics about the whole program have no location.
            let is_somewhere = span == Span::default() || output.sources.resolve(span).is_some();
            assert!(is_somewhere, "[{}] points nowhere", diagnostic.code.name());
        }
        // The program itself defines the text of `#error` and `#warning`.
        let is_quoted = matches!(diagnostic.code, Code::UserError | Code::UserWarning);
        let message = &diagnostic.message;
        assert!(is_quoted || !message.is_empty() && !message.ends_with('.'), "{message}");
    }
    // Rendering is slow, so only the first few diagnostics are rendered.
    for diagnostic in output.diagnostics.iter().take(2) {
        for format in [Format::Rich, Format::Gcc, Format::Json] {
            assert!(!kiln_report::report_one(format, output, diagnostic).is_empty());
        }
    }
}
