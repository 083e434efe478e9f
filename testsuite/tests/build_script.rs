//! `kiln-build` in the example application: cargo builds, runs and rebuilds it in a separate folder, with and without errors.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kiln_testsuite::{
    device,
    process::{self, Finished},
    root,
};

/// A first build compiles the compiler.
const LIMIT: Duration = Duration::from_secs(900);

/// A copy of the example with its own sources. The tests share the target folder and use only `cargo build`: `cargo check`
/// would compile all dependencies again.
struct Application {
    folder: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Application {
    fn new(name: &str) -> Self {
        let files = [
            "Cargo.toml",
            "Cargo.lock",
            "build.rs",
            "src/main.rs",
            "kernels/buddhabrot.cl",
            "kernels/view.h",
        ];
        Self::copy_of("build-script", "", name, &files)
    }

    /// A copy of these files of an example, whose package is in a folder of it.
    fn copy_of(example: &str, package: &str, name: &str, files: &[&str]) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-script").join(name);
        // The folder may not exist yet.
        let _ = fs::remove_dir_all(&folder);
        let example = root().join("examples").join(example);
        for file in files {
            let target = folder.join(file);
            fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
            fs::copy(example.join(file), target).expect("a copy");
        }
        let application = Self { folder: folder.join(package), _turn: turn };
        let to_root = if package.is_empty() { "../../" } else { "../../../" };
        let packages = format!("path = \"{}/", root().display());
        application.edit("Cargo.toml", &format!("path = \"{to_root}"), &packages);
        application
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.folder.join(file);
        let text = fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{file} has no `{from}`");
        fs::write(path, text.replace(from, to)).expect("a file");
    }

    fn cargo(&self, words: &[&str]) -> Finished {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(&self.folder).args(words).args(["--color", "never"]);
        command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("build-script/target"));
        device::any().only(&mut command).expect("its driver");
        process::finish(&mut command, LIMIT)
    }

    fn succeeds(&self, words: &[&str]) -> String {
        let finished = self.cargo(words);
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        finished.stderr
    }

    fn fails(&self, words: &[&str]) -> String {
        let finished = self.cargo(words);
        assert_eq!(finished.code(), Some(101), "{}", finished.stderr);
        finished.stderr
    }
}

#[test]
fn the_example_draws_its_picture() {
    let application = Application::new("run");
    application.succeeds(&["run", "--", "picture.png", "1"]);
    let file = fs::File::open(application.folder.join("picture.png")).expect("a picture");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let picture = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((picture.width, picture.height), (512, 640));
    // The figure is brighter than the sky, and the same on both sides.
    let light = |columns: std::ops::Range<usize>, rows: std::ops::Range<usize>| -> f64 {
        let count = (columns.len() * rows.len()) as f64;
        let of_row = |row: usize| columns.clone().map(move |column| 4 * (512 * row + column) + 1);
        rows.flat_map(of_row).map(|pixel| f64::from(pixels[pixel])).sum::<f64>() / count
    };
    let (left, right, sky) = (light(80..240, 240..480), light(272..432, 240..480), light(0..512, 0..40));
    assert!(left > 1.5 * sky, "{left} against {sky}");
    assert!((left / right - 1.0).abs() < 0.1, "{left} against {right}");
}

#[test]
fn a_kernel_that_opencl_programs_share_runs_in_rust() {
    let files = [
        "rust/Cargo.toml",
        "rust/Cargo.lock",
        "rust/build.rs",
        "rust/src/main.rs",
        "kernels/heat.cl",
        "kernels/settings.h",
    ];
    let application = Application::copy_of("shared-kernel", "rust", "shared", &files);
    let finished = application.cargo(&["run"]);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    assert_eq!(finished.text(), "3.9640 in the middle after 100 steps\n");
}

#[test]
fn only_files_that_were_read_cause_a_rebuild() {
    let application = Application::new("rerun");
    application.succeeds(&["build"]);
    fs::write(application.folder.join("kernels/notes.txt"), "nothing\n").expect("a file");
    let untouched = application.succeeds(&["build", "--verbose"]);
    assert!(untouched.contains("Fresh buddhabrot"), "{untouched}");
    application.edit("kernels/view.h", "uint rows;", "uint rows;\n    float spare;");
    let changed = application.succeeds(&["build", "--verbose"]);
    assert!(changed.contains("Dirty buddhabrot") && changed.contains("kernels/view.h"), "{changed}");
}

#[test]
fn rustc_reports_wrong_arguments_at_the_call() {
    let application = Application::new("types");
    let call = "program.tone(&queue, pixels, &hits, &max, &picture)";
    let mut before = call.to_owned();
    for (wrong, code) in [
        ("program.tone(&queue, pixels, &hits, &max, 1.0f32)", "E0308"),
        ("program.trace(&queue, 1_000, 7, view, &hits)", "E0308"),
        ("program.tone(&queue, pixels, &hits, &device.buffer::<f32>(1)?, &picture)", "E0308"),
        ("program.tone(&queue, pixels, &hits, &picture)", "E0061"),
        ("program.shade(&queue, pixels)", "E0599"),
    ] {
        application.edit("src/main.rs", &before, wrong);
        let text = application.fails(&["build", "--message-format", "short"]);
        assert!(text.contains(&format!("error[{code}]")) && text.contains("src/main.rs:"), "{text}");
        before = wrong.to_owned();
    }
    application.edit("src/main.rs", &before, call);
    application.succeeds(&["build"]);
}

#[test]
fn cargo_shows_errors_and_warnings_of_kernels() {
    let application = Application::new("errors");
    application.edit("build.rs", ".warnings_as_errors()", "");
    application.edit(
        "kernels/buddhabrot.cl",
        "#include \"view.h\"",
        "#include \"view.h\"\n#define N 1\n#define N 2",
    );
    let warned = application.succeeds(&["build"]);
    assert!(warned.contains("warning: buddhabrot@0.1.0: kernels/buddhabrot.cl:"), "{warned}");
    application.edit("kernels/view.h", "uint rows;", "uint rowz;");
    let text = application.fails(&["build"]);
    assert!(text.contains("error: buddhabrot@0.1.0: kernels/buddhabrot.cl:"), "{text}");
    assert!(!text.contains(": error: "), "the severity is Cargo's: {text}");
    assert!(text.contains("kernels have errors") && text.contains("view.rows"), "{text}");
}

#[test]
fn a_build_needs_no_parser_generator_and_no_c_compiler() {
    let application = Application::new("tree");
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(&application.folder).args([
        "tree",
        "-p",
        "kiln-build",
        "-e",
        "normal,build",
        "--prefix",
        "none",
    ]);
    let tree = process::finish(&mut command, LIMIT).text();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"kiln-compiler"), "{tree}");
    for unwanted in ["lalrpop", "logos-derive", "syn", "cc", "cmake", "bindgen", "clap", "ash"] {
        assert!(!names.contains(&unwanted), "{unwanted} in\n{tree}");
    }
}
