//! Translates clang's options to Kiln's, with hints about those without effect. Also translates `kiln k.cl` to `kiln
//! compile k.cl`.

use std::ffi::OsString;

use crate::compile::DependencyOptions;

/// The commands that take compiler options.
const COMPILING: [&str; 6] = ["compile", "check", "run", "bench", "profile", "litmus"];

/// Options whose value, the next argument, may look like an option.
const VALUED: [&str; 8] = ["--arg", "--cl-ext", "--feature", "--include", "-D", "-I", "-U", "-o"];

/// Common options of C compilers that have no effect on kernels.
const WITHOUT_EFFECT: [&str; 24] = [
    "-C",
    "-H",
    "-P",
    "-Xclang",
    "-ansi",
    "-cc1",
    "-disable-O0-optnone",
    "-disable-llvm-passes",
    "-fPIC",
    "-fdeclare-opencl-builtins",
    "-fgnu89-inline",
    "-finclude-default-header",
    "-fno-builtin",
    "-fpic",
    "-m32",
    "-m64",
    "-nogpulib",
    "-nostdinc",
    "-nostdlib",
    "-pipe",
    "-save-temps",
    "-shared",
    "-static",
    "-trigraphs",
];

/// Prefixes of further options without effect: code generation, machines, libraries, remarks.
const IGNORED_PREFIXES: [&str; 6] = ["-f", "-m", "-l", "-L", "-R", "--sysroot"];

/// The letters of Kiln's short options, which a value may follow, and `-` of the long ones.
const OWN_LETTERS: [char; 15] = ['-', 'D', 'E', 'I', 'O', 'S', 'U', 'V', 'W', 'c', 'g', 'h', 'o', 'w', 'x'];

/// Options with other names in Kiln. The value of an option that ends in `=` or a blank follows.
const RENAMED: [(&str, &[&str]); 25] = [
    ("-Ofast", &["-O3", "--cl-fast-relaxed-math"]),
    ("-Og", &["-O1"]),
    ("-Os", &["-O2"]),
    ("-Oz", &["-O2"]),
    ("-O", &["-O2"]),
    ("-fcolor-diagnostics", &["--color=always"]),
    ("-fdiagnostics-color", &["--color=always"]),
    ("-fdiagnostics-color=", &["--color="]),
    ("-ferror-limit=", &["--error-limit="]),
    ("-ffast-math", &["--cl-fast-relaxed-math"]),
    ("-ffinite-math-only", &["--cl-finite-math-only"]),
    ("-ffp-contract=fast", &["--cl-mad-enable"]),
    ("-fmax-errors=", &["--error-limit="]),
    ("-fno-color-diagnostics", &["--color=never"]),
    ("-fno-diagnostics-color", &["--color=never"]),
    ("-fno-signed-zeros", &["--cl-no-signed-zeros"]),
    ("-funsafe-math-optimizations", &["--cl-unsafe-math-optimizations"]),
    ("-idirafter", &["-I"]),
    ("-include", &["--include"]),
    ("-iquote", &["-I"]),
    ("-isystem", &["-I"]),
    ("-pedantic", &["-Wpedantic"]),
    ("-pedantic-errors", &["-Wpedantic", "-Werror=pedantic"]),
    ("-std=", &["--cl-std="]),
    ("--std=", &["--cl-std="]),
];

/// A command line in Kiln's spelling.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Respelled {
    /// The arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Hints about options without effect.
    pub(crate) hints: Vec<String>,
}

/// Respells a command line, the program's name included. The error is a message for the user.
pub(crate) fn respell(arguments: Vec<OsString>, commands: &[String]) -> Result<Respelled, String> {
    let mut arguments = arguments.into_iter();
    let mut found = Respelled { arguments: arguments.next().into_iter().collect(), ..Respelled::default() };
    let mut rest: Vec<OsString> = arguments.collect();
    if matches!(&rest[..], [only] if only == "-v") {
        rest[0] = "--version".into();
    }
    if names_no_command(&rest, commands) {
        rest.insert(0, "compile".into());
    }
    let compiles = rest.first().is_some_and(|first| COMPILING.iter().any(|command| first == command));
    let mut rest = rest.into_iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            // The rest are not options.
            found.arguments.push(argument);
            found.arguments.extend(rest);
            break;
        }
        if compiles && VALUED.iter().any(|option| argument == *option) {
            found.arguments.push(argument);
            found.arguments.extend(rest.next());
            continue;
        }
        match argument.to_str().filter(|text| compiles && text.starts_with('-')) {
            Some(text) => found.option(text, &mut rest)?,
            None => found.arguments.push(argument),
        }
    }
    Ok(found)
}

/// Whether these are arguments of a compiler: a source or an option comes first.
fn names_no_command(arguments: &[OsString], commands: &[String]) -> bool {
    const OWN: [&str; 5] = ["help", "--help", "-h", "--version", "-V"];
    let Some(first) = arguments.first().and_then(|first| first.to_str()) else { return false };
    let is_command = commands.iter().any(|command| command == first) || OWN.contains(&first);
    let is_source = |word: &OsString| {
        std::path::Path::new(word).extension().is_some_and(|it| it == "cl" || it == "clcpp") || word == "-"
    };
    !is_command && (is_source(&arguments[0]) || first.starts_with('-') && arguments.iter().any(is_source))
}

impl Respelled {
    fn option(&mut self, text: &str, rest: &mut impl Iterator<Item = OsString>) -> Result<(), String> {
        let takes_a_value = RENAMED.iter().find_map(|(name, new)| {
            let value = text.strip_prefix(name)?;
            let is_whole = !name.ends_with('=') && !matches!(*name, "-idirafter" | "-iquote" | "-isystem");
            (value.is_empty() || !is_whole).then_some((*new, value))
        });
        if let Some((new, value)) = takes_a_value {
            let (last, first) = new.split_last().expect("a new name");
            self.arguments.extend(first.iter().map(OsString::from));
            self.arguments.push(format!("{last}{value}").into());
            return Ok(());
        }
        let is_dependency =
            || text.strip_prefix('-').is_some_and(|name| DependencyOptions::NAMES.contains(&name));
        if text.starts_with("-cl-") || is_dependency() {
            self.arguments.push(format!("-{text}").into());
        } else if let Some((option, value)) = dependency_with_value(text) {
            self.arguments.push(format!("-{option}={value}").into());
        } else if let Some(target) = text.strip_prefix("--target=") {
            self.arguments.push(environment(target)?.into());
        } else if matches!(text, "-target" | "--target" | "-triple") {
            let target = rest.next().ok_or_else(|| format!("{text} needs a value"))?;
            self.arguments.push(environment(&target.to_string_lossy())?.into());
        } else if text == "-g0" {
            self.arguments.retain(|argument| argument != "-g");
        } else if text.starts_with("-g") && text.len() > 2 {
            self.arguments.push("-g".into());
        } else if matches!(text, "-v" | "-###") {
            self.hints.push(format!("kiln {}", env!("CARGO_PKG_VERSION")));
        } else if text == "-emit-llvm" {
            return Err(
                "there is no LLVM IR: write `-S` for SPIR-V assembly, or `--emit ir` for Kiln's own IR"
                    .to_owned(),
            );
        } else if text == "-fsyntax-only" {
            if let Some(command) = self.arguments.get_mut(1).filter(|command| *command == "compile") {
                *command = "check".into();
            }
        } else if WITHOUT_EFFECT.contains(&text)
            || IGNORED_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
        {
            if text == "-mllvm" {
                // Its value is an option of LLVM.
                rest.next();
            }
            self.hints.push(format!("`{text}` has no effect here"));
        } else if text.strip_prefix('-').is_some_and(|name| name.len() > 1 && !name.starts_with(OWN_LETTERS))
        {
            return Err(format!("there is no option `{text}`"));
        } else {
            self.arguments.push(text.into());
        }
        Ok(())
    }
}

/// The parts of an option such as `-MFk.d`, whose value follows without a blank.
fn dependency_with_value(text: &str) -> Option<(&str, &str)> {
    ["-MF", "-MT", "-MQ"].iter().any(|name| text.starts_with(name)).then(|| text.split_at(3))
}

/// The environment that a target triple of clang selects.
fn environment(triple: &str) -> Result<&'static str, String> {
    let is_vulkan = triple.contains("vulkan");
    match triple.split('-').next().unwrap_or_default() {
        "spirv" | "spirv1.5" | "spirv1.6" => Ok("--env=vulkan"),
        "spir" | "spir64" | "spirv32" | "spirv64" if !is_vulkan => Ok("--env=opencl"),
        _ if is_vulkan => Ok("--env=vulkan"),
        _ => Err(format!("there is no target `{triple}`; write `--env vulkan` or `--env opencl`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respelled(line: &str) -> Result<(String, String), String> {
        let commands = ["compile", "check", "run", "lsp"].map(str::to_owned);
        let words = std::iter::once("kiln").chain(line.split(' ')).map(OsString::from).collect();
        let found = respell(words, &commands)?;
        let line = found.arguments.iter().skip(1).map(|word| word.to_string_lossy()).collect::<Vec<_>>();
        Ok((line.join(" "), found.hints.join("\n")))
    }

    fn words(line: &str) -> String {
        respelled(line).expect("understood").0
    }

    #[test]
    fn compile_is_the_default_command() {
        assert_eq!(words("k.cl"), "compile k.cl");
        assert_eq!(words("-O2 k.cl -o k.spv"), "compile -O2 k.cl -o k.spv");
        assert_eq!(words("- -o k.spv"), "compile - -o k.spv");
        assert_eq!(words("complie k.cl"), "complie k.cl");
        assert_eq!(words("--version"), "--version");
        assert_eq!(words("-v"), "--version");
        assert_eq!(words("lsp -v"), "lsp -v");
    }

    #[test]
    fn clang_options_are_translated() {
        assert_eq!(
            words("compile -std=CL2.0 -isystem inc -iquoteq -include a.h -pedantic -Os -g -g0 k.cl"),
            "compile --cl-std=CL2.0 -I inc -Iq --include a.h -Wpedantic -O2 k.cl"
        );
        assert_eq!(words("compile --feature -fp16,-int8 k.cl"), "compile --feature -fp16,-int8 k.cl");
        assert_eq!(
            words("check -ggdb -Ofast -ffast-math -ferror-limit=3 k.cl"),
            "check -g -O3 --cl-fast-relaxed-math --cl-fast-relaxed-math --error-limit=3 k.cl"
        );
        assert_eq!(words("--target=spir64-unknown-unknown k.cl"), "compile --env=opencl k.cl");
        assert_eq!(words("-fsyntax-only -Wall k.cl"), "check -Wall k.cl");
        assert_eq!(
            words("compile -target spirv1.6-unknown-vulkan1.3-compute k.cl"),
            "compile --env=vulkan k.cl"
        );
        assert!(respelled("compile --target=x86_64-linux-gnu k.cl").is_err());
        assert!(respelled("compile -emit-llvm k.cl").is_err());
        assert_eq!(
            words("compile -triple spir64 -idirafter inc -pedantic-errors k.cl"),
            "compile --env=opencl -I inc -Wpedantic -Werror=pedantic k.cl"
        );
        assert_eq!(words("compile -MD -MFk.d -MT a -MQb k.cl"), "compile --MD --MF=k.d --MT a --MQ=b k.cl");
        assert_eq!(words("compile -cl-std=CL3.0 -- -MD k.cl"), "compile --cl-std=CL3.0 -- -MD k.cl");
        let unknown = respelled("compile -rdynamic k.cl").expect_err("no such option");
        assert_eq!(unknown, "there is no option `-rdynamic`");
    }

    #[test]
    fn options_without_effect_give_hints() {
        let (line, hints) =
            respelled("compile -fPIC -Xclang -finclude-default-header k.cl").expect("understood");
        assert_eq!(line, "compile k.cl");
        assert_eq!(hints.lines().count(), 3, "{hints}");
        let (line, hints) =
            respelled("check -static -lm -Rpass=x -mllvm -unroll=3 k.cl").expect("understood");
        assert_eq!((line.as_str(), hints.lines().count()), ("check k.cl", 4), "{hints}");
    }
}
