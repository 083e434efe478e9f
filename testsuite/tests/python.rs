//! The package for Python: its tests and documentation on the libraries of this build, and the wheel in an empty environment.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use kiln_testsuite::{
    device,
    kiln::{self, LIMIT, program},
    nightly, process, root,
};
use tempfile::TempDir;

/// The system's Python, which has Debian's NumPy.
const PYTHON: &str = "/usr/bin/python3";

/// Packages are downloaded.
const DOWNLOADS: Duration = Duration::from_secs(600);

/// A Python that uses only the test's device.
fn python(path: &Path) -> Command {
    let mut command = Command::new(path);
    device::any().only(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
    // Leaves no files in the source tree.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn tests() -> PathBuf {
    root().join("runtime/python/tests/test_kiln.py")
}

#[test]
fn the_examples_of_the_documentation_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("kiln");
    fs::create_dir_all(package.join("_native")).expect("a folder");
    for entry in fs::read_dir(root().join("runtime/python/kiln")).expect("a folder") {
        let file = entry.expect("a file").path();
        if file.is_file() {
            symlink(&file, package.join(file.file_name().expect("a name"))).expect("a link");
        }
    }
    for name in ["libkiln.so", "libkiln_opencl.so"] {
        symlink(kiln::library(name), package.join("_native").join(name)).expect("a link");
    }
    process::succeed(python(Path::new(PYTHON)).arg(tests()).env("PYTHONPATH", folder.path()), LIMIT);
}

#[test]
fn the_package_has_the_version_of_the_workspace() {
    let project = fs::read_to_string(root().join("runtime/python/pyproject.toml")).expect("a file");
    let project: toml::Table = project.parse().expect("TOML");
    assert_eq!(project["project"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
}

/// Programs that mypy must accept, and programs that it must reject.
const TYPED: &str = "import kiln\nimport numpy\n\nmodule: kiln.Module = kiln.compile('')\nsize: int = len(module.spirv)\n\
                     kernel = kiln.Kernel('', 'k', device=None)\nkernel(numpy.zeros(4), global_size=(2, 2))\n";
const MISTYPED: &str = "import kiln\n\nkiln.compile(1)\n";

#[test]
fn the_wheel_works_in_an_empty_environment() {
    // The packages of PyPI take minutes.
    if !nightly::tests_all("0 of 1 wheels") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let wheel = wheel(&folder);
    process::succeed(Command::new("python3").args(["-m", "venv"]).arg(at("env")), DOWNLOADS);
    let mut install = Command::new(at("env/bin/pip"));
    install.args(["install", "--quiet", "pyopencl", "matplotlib", "mypy", "auditwheel"]).arg(&wheel);
    process::succeed(&mut install, DOWNLOADS);
    let environment = || python(&at("env/bin/python"));
    // The platform tag in its name must match the requirements of the files.
    let audit = process::succeed(environment().args(["-m", "auditwheel", "show"]).arg(&wheel), LIMIT);
    let tag = wheel.file_stem().and_then(|name| name.to_str()?.rsplit('-').next()).expect("a tag");
    assert!(audit.contains(&format!("\"{tag}\"")), "{tag}: {audit}");
    process::succeed(environment().arg(tests()), LIMIT);
    process::succeed(Command::new(at("env/bin/kiln")).arg("--version"), LIMIT);
    let sum = root().join("examples/python/vector_sum.py");
    assert!(process::succeed(environment().arg(sum), LIMIT).contains("right on Kiln"));
    let mut picture = environment();
    picture.arg(root().join("examples/python/reaction.py")).arg(at("picture.png"));
    process::succeed(picture.args(["--size", "64", "--steps", "200"]), LIMIT);
    process::succeed(
        environment().args(["-c", NOTEBOOK]).arg(root().join("examples/python/waves.ipynb")),
        LIMIT,
    );
    assert!(fs::read(at("picture.png")).expect("a picture").starts_with(b"\x89PNG"));
    process::succeed(
        environment().current_dir(folder.path()).args(["-m", "mypy", "--strict", "--package", "kiln"]),
        LIMIT,
    );
    let mypy = |text: &str| {
        fs::write(at("typed.py"), text).expect("a file");
        let mut command = environment();
        command.current_dir(folder.path()).args(["-m", "mypy", "--strict", "typed.py"]);
        process::finish(&mut command, LIMIT)
    };
    let accepted = mypy(TYPED);
    assert_eq!(accepted.code(), Some(0), "{}", accepted.text());
    assert!(mypy(MISTYPED).text().contains("incompatible type"));
}

/// Executes the cells of a notebook, without a window.
const NOTEBOOK: &str = "
import json, sys, matplotlib
matplotlib.use('Agg')
for cell in json.load(open(sys.argv[1]))['cells']:
    if cell['cell_type'] == 'code':
        exec(''.join(cell['source']), globals())
";

/// The wheel of this build, without debug information.
fn wheel(folder: &TempDir) -> PathBuf {
    let (built, stripped) = (kiln::built(), folder.path().join("stripped"));
    fs::create_dir(&stripped).expect("a folder");
    for name in ["kiln", "libkiln.so", "libkiln_opencl.so"] {
        process::succeed(
            Command::new("strip").arg("-o").arg(stripped.join(name)).arg(built.path().join(name)),
            LIMIT,
        );
    }
    let output = folder.path().join("wheels");
    let mut make = Command::new(program("xtask"));
    process::succeed(make.arg("wheel").arg("--output").arg(&output).arg("--from").arg(&stripped), DOWNLOADS);
    let mut files = fs::read_dir(output).expect("a folder");
    files.next().expect("a wheel").expect("a file").path()
}
