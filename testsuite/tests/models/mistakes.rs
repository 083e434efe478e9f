//! Mutation tests of passes: the IR after a pass is changed as a mistake in the pass would change it, and the later passes and the
//! emitter compile it. The models must find an outcome or a data race that OpenCL does not allow.
//!
//! Each row is a mistake, with the program that detects it. The compiler itself has no switch for any of them.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use kiln_compiler::{
    Artifact, Emit,
    diag::Sink,
    driver_bugs::DriverBug,
    opencl::Environment,
    session::{NoFiles, Options, Source},
    target::Target,
};
use kiln_memory_model::{Argument, Launch};
use kiln_passes::{self as passes, Providers};
use kiln_testsuite::litmus::{
    self, explore,
    generated::{Finding, Program, Statements},
};

#[path = "mistakes/programs.rs"]
mod programs;
#[path = "mistakes/table.rs"]
mod table;

use programs::PROGRAMS;
use table::MISTAKES;

/// The maximum number of executions to check in one model.
const BUDGET: u64 = 100_000;

/// A mistake of a pass.
struct Mistake {
    pass: &'static str,
    what: &'static str,
    /// The program that detects it: a litmus test, or one of `PROGRAMS`.
    program: &'static str,
    /// The changed lines of the IR contain all of these words.
    lines: &'static [&'static str],
    change: Change,
}

/// A change of lines.
enum Change {
    /// Replaces words in the line.
    Words(&'static [(&'static str, &'static str)]),
    /// Replaces words in the line, whose result is not used.
    Statement(&'static [(&'static str, &'static str)]),
    /// Replaces the operation by another one with the same result.
    Value(&'static str),
    Drop,
    /// Exchanges the line with the one before it.
    Up,
    /// Exchanges the line with the one after it.
    Down,
    /// Repeats the line after the next one.
    Again,
    /// Changes only the first of the lines.
    First(&'static Change),
    /// Changes only the last of the lines.
    Last(&'static Change),
}

fn replaced(line: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to))
}

impl Change {
    /// Changes these lines of a text.
    fn apply(&self, lines: &mut Vec<String>, at: &[usize]) {
        let (first, last) = (at[0], at[at.len() - 1]);
        match self {
            Self::First(change) => return change.apply(lines, &[first]),
            Self::Last(change) => return change.apply(lines, &[last]),
            _ => {}
        }
        for &index in at.iter().rev() {
            match self {
                Self::Words(words) => lines[index] = replaced(&lines[index], words),
                Self::Statement(words) => {
                    let line = lines[index].split_once(" = ").map_or(&*lines[index], |(_, line)| line);
                    lines[index] = replaced(line, words);
                }
                Self::Value(value) => {
                    let start = lines[index].find(" = ").map_or(0, |at| at + 3);
                    lines[index].replace_range(start.., value);
                }
                Self::Drop => drop(lines.remove(index)),
                Self::Up => lines.swap(index - 1, index),
                Self::Down => lines.swap(index, index + 1),
                Self::Again => {
                    let line = lines[index].clone();
                    lines.insert(index + 2, line);
                }
                Self::First(_) | Self::Last(_) => {}
            }
        }
    }
}

fn options() -> Options {
    Options { target: Target::full(Environment::Vulkan), ..Options::default() }
}

/// A program, its module for OpenCL and its IR after passes.
struct Subject {
    name: String,
    program: Program,
    opencl: OnceCell<Vec<u32>>,
    /// The IR after a pass.
    ir: RefCell<BTreeMap<&'static str, Rc<str>>>,
}

impl Subject {
    fn new(name: &str, source: String, launch: Launch) -> Self {
        let statements = Statements::InKernel;
        let program = Program { source, launch, operations: 0, has_barrier: false, statements };
        Self { name: name.to_owned(), program, opencl: OnceCell::new(), ir: RefCell::default() }
    }

    /// The IR after a pass.
    fn ir_after(&self, pass: &'static str) -> Rc<str> {
        let make = || ir_after(pass, &self.program).into();
        Rc::clone(self.ir.borrow_mut().entry(pass).or_insert_with(make))
    }

    /// Compares the outcomes of this module with those of the program.
    fn compare(&self, vulkan: Vec<u32>) -> Finding {
        let opencl = self.opencl.get_or_init(|| self.program.module(Environment::OpenCl));
        self.program.compare(opencl, || vulkan, BUDGET)
    }
}

/// All programs: each litmus test in each of its settings, and the rows of `PROGRAMS`.
fn programs() -> Vec<Subject> {
    let mut all = Vec::new();
    for test in litmus::tests() {
        for setting in test.settings() {
            let launch = explore::launch(&test, setting);
            all.push(Subject::new(&test.name, test.plain_source(setting), launch));
        }
    }
    for (name, [items, group], locals, source) in PROGRAMS {
        let mut arguments = vec![Argument::Buffer(vec![0; 16])];
        let objects = locals.iter().map(|is_local| match is_local {
            true => Argument::Local(4),
            false => Argument::Buffer(vec![0; 4]),
        });
        arguments.extend(objects);
        let launch = Launch {
            global: [*items, 1, 1],
            local: [*group, 1, 1],
            sub_group: 1,
            arguments,
            max_iterations: 2,
            only_consistent: true,
            ..Launch::default()
        };
        all.push(Subject::new(name, (*source).to_owned(), launch));
    }
    all
}

/// The IR of a program after a pass.
fn ir_after(pass: &str, program: &Program) -> String {
    let source = Source { name: "program.cl".to_owned(), text: program.source.clone().into_bytes() };
    let output = kiln_compiler::compile(source, &options(), &NoFiles, &Emit::IrAfter(pass.to_owned()));
    match output.artifact {
        Some(Artifact::Text(text)) => text,
        _ => panic!("no IR after {pass}: {:?}\n{}", output.diagnostics, program.source),
    }
}

/// Compiles the IR after a pass to a module.
fn module_of(pass: &str, text: &str) -> Result<Vec<u32>, String> {
    let mut module = kiln_ir::parse(text).map_err(|error| format!("{error}\n{text}"))?;
    let invalid = kiln_ir::verify(&module);
    if !invalid.is_empty() {
        return Err(format!("{invalid:?}\n{text}"));
    }
    let options = options();
    let mut sink = Sink::default();
    let is_needed =
        |name: &str| DriverBug::of_pass(name).is_none_or(|it| options.target.workarounds.contains(it));
    let rest = passes::names().skip_while(|name| *name != pass).skip(1);
    for name in rest {
        if is_needed(name) {
            passes::apply(name, &mut module, &options, &Providers::default(), &mut sink);
        }
        // The last one for Vulkan.
        if name == "request_unrolling" {
            break;
        }
    }
    if sink.has_errors() {
        return Err(format!("a pass after {pass} reports an error"));
    }
    kiln_spirv::emit(&module, &options, None).map_err(|_| "an instruction is too long".to_owned())
}

impl Mistake {
    /// The module of a program with the mistake. `None` if the mistake changes nothing.
    fn module(&self, subject: &Subject) -> Option<Result<Vec<u32>, String>> {
        let text = subject.ir_after(self.pass);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_one = |index: &usize| self.lines.iter().all(|word| lines[*index].contains(word));
        let at: Vec<usize> = (0..lines.len()).filter(is_one).collect();
        if at.is_empty() {
            return None;
        }
        self.change.apply(&mut lines, &at);
        let changed = lines.join("\n") + "\n";
        (changed.trim_end() != text.trim_end()).then(|| module_of(self.pass, &changed))
    }

    /// Whether the models detect the mistake in a program.
    fn is_detected(&self, subject: &Subject) -> bool {
        match self.module(subject) {
            Some(Ok(words)) => matches!(subject.compare(words), Finding::Unsound(_)),
            Some(Err(_)) | None => false,
        }
    }
}

/// Without a mistake, the passes compile the printed IR to an equivalent module.
#[test]
fn passes_continue_from_text() {
    for subject in programs().iter().step_by(9) {
        for pass in ["simplify", "legalize_atomics", "mark_nonprivate_accesses"] {
            let words = module_of(pass, &subject.ir_after(pass));
            let words = words.unwrap_or_else(|why| panic!("{}: {why}", subject.name));
            let finding = subject.compare(words);
            assert!(!matches!(finding, Finding::Unsound(_)), "{}, {pass}: {finding:?}", subject.name);
            assert_eq!(finding, subject.program.check(), "{}, {pass}", subject.name);
        }
    }
}

#[test]
fn mistakes_of_passes_are_detected() {
    let subjects = programs();
    for subject in &subjects[subjects.len() - PROGRAMS.len()..] {
        let finding = subject.program.check();
        assert!(matches!(finding, Finding::Sound { .. }), "{}: {finding:?}", subject.name);
    }
    let mut survivors = Vec::new();
    for mistake in MISTAKES {
        let mut named = subjects.iter().filter(|subject| subject.name == mistake.program);
        if !named.any(|subject| mistake.is_detected(subject)) {
            survivors.push(format!("{}: {} ({})", mistake.pass, mistake.what, mistake.program));
        }
    }
    println!("{} mistakes", MISTAKES.len());
    assert!(survivors.is_empty(), "{} of them\n{}", survivors.len(), survivors.join("\n"));
    assert!(MISTAKES.len() >= 100, "{}", MISTAKES.len());
}
