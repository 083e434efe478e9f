//! The program of `cargo xtask grammar`: generates the parser from the grammar, and the lexer from its tokens. The
//! results are committed, so that users of the library never build LALRPOP.

mod interface;
mod lexer;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, ExitCode, Stdio},
};

/// Set for the child process that runs LALRPOP: the output directory. LALRPOP prints megabytes for a conflict; only a
/// child's output can be truncated.
const OUT: &str = "KILN_GRAMMAR_OUT";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Regenerates lexer and parser.
fn run() -> Result<(), String> {
    if let Some(out) = env::var_os(OUT) {
        return generate(Path::new(&out));
    }
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    if !generate_apart(scratch.path(), &[])?.status.success() {
        // With lane tables, messages about conflicts refer to internal parser states.
        let output = generate_apart(scratch.path(), &[("LALRPOP_LANE_TABLE", "disabled")])?;
        let text = [output.stdout, output.stderr].concat();
        return Err(first_conflict(&String::from_utf8_lossy(&text)));
    }
    fs::create_dir_all(committed().parent().expect("a file in a folder")).map_err(|e| e.to_string())?;
    fs::copy(scratch.path().join("grammar.rs"), committed()).map_err(|e| e.to_string())?;
    fs::write(lexer::committed(), lexer::generate()?).map_err(|e| e.to_string())
}

/// Runs this program as a child process that only generates the parser.
fn generate_apart(out: &Path, environment: &[(&str, &str)]) -> Result<process::Output, String> {
    process::Command::new(env::current_exe().map_err(|e| e.to_string())?)
        .env(OUT, out)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())
}

/// Runs LALRPOP on the grammar; writes to the folder `out`.
fn generate(out: &Path) -> Result<(), String> {
    lalrpop::Configuration::new()
        .set_out_dir(out)
        .force_build(true)
        .emit_rerun_directives(false)
        .emit_whitespace(false)
        .log_quiet()
        .process_file(root().join("compiler/syntax/src/grammar.lalrpop"))
        .map_err(|e| e.to_string())?;
    let parser = out.join("grammar.rs");
    let text = fs::read_to_string(&parser).map_err(|e| e.to_string())?;
    fs::write(parser, interface::add(&text)?).map_err(|e| e.to_string())
}

/// The root of the repository.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("a package in the repository").to_path_buf()
}

fn committed() -> PathBuf {
    root().join("compiler/syntax/src/generated/grammar.rs")
}

/// The output up to the second conflict. Each conflict starts with a line `place: … detected`.
fn first_conflict(output: &str) -> String {
    let mut conflicts = 0;
    let first = output.lines().take_while(|line| {
        conflicts += usize::from(line.ends_with("detected"));
        conflicts < 2
    });
    first.take(80).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_parser_is_up_to_date() {
        let scratch = tempfile::tempdir().unwrap();
        generate(scratch.path()).unwrap();
        let fresh = fs::read_to_string(scratch.path().join("grammar.rs")).unwrap();
        let committed = fs::read_to_string(committed()).unwrap_or_default();
        assert!(fresh == committed, "the generated parser is out of date: run `cargo xtask grammar`");
    }

    #[test]
    fn only_the_first_conflict_is_shown() {
        let output = "g:1:1: 2:2: Local ambiguity detected\n  when\ng:3:1: 4:4: Conflict detected\n rest\n";
        assert_eq!(first_conflict(output), "g:1:1: 2:2: Local ambiguity detected\n  when");
    }
}
