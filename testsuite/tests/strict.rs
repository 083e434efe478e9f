//! Programs with one defect each, and their repaired variants (with `REPAIRED` defined): the reference device reports every
//! defect on its line, and nothing for the repaired variant.
//!
//! The documents are `testsuite/strict/*.md`.

use std::{fs, process::ExitCode};

use kiln_testsuite::{
    device::Device,
    guarded, kiln,
    strict::{Defect, Variant},
};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let defects = Defect::all();
    let count = defects.len();
    let mut trials = vec![Trial::test("there-are-sixty", move || {
        if count >= 60 { Ok(()) } else { Err(Failed::from(format!("only {count} defects are found"))) }
    })];
    trials.push(Trial::test("another-order-shows-what-the-usual-one-hides", || Ok(hidden_race()?)));
    for device in ["reference", "vulkan-reference"] {
        let name = format!("padding-is-copied-and-not-used::{device}");
        trials.push(Trial::test(name, move || Ok(padding(device)?)));
        let name = format!("variables-that-some-work-items-write::{device}");
        trials.push(Trial::test(name, move || Ok(guarded_reads(device)?)));
        let name = format!("arguments-are-named::{device}");
        trials.push(Trial::test(name, move || Ok(named_arguments(device)?)));
    }
    for defect in defects {
        let name = format!("{}::{}", defect.document, defect.name);
        trials.push(Trial::test(name, move || Ok(only_the_defect_is_reported(&defect)?)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Uses of undefined bytes that were copied to global memory, with the lines that report them, and copies alone.
const PADDING: &str = "typedef struct { char c; long l; } S;
kernel void only(global S *s, global int *out) { S v; v.c = 1; v.l = 2; s[0] = v; s[1] = s[0]; out[0] = s[1].c; }
kernel void branch(global S *s, global int *out) {
    S v; v.c = 1; v.l = 2; s[0] = v; s[1] = s[0];
    if (((global char *)s)[19]) out[0] = 1; }
kernel void address(global S *s, global int *out) {
    S v; v.c = 1; v.l = 2; s[0] = v;
    out[((global uchar *)s)[7]] = 1; }
kernel void value(global S *s, global int *out) {
    int x[2]; x[out[0]] = 1;
    out[1] = x[1]; }
";

/// Copies of padding are not reported, uses of it and copies of whole variables are.
fn padding(device: &str) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = scratch.path().join("k.cl");
    fs::write(&file, PADDING).map_err(|e| e.to_string())?;
    for (kernel, line) in [("only", None), ("branch", Some(5)), ("address", Some(8)), ("value", Some(11))] {
        let mut command = kiln::command();
        Device::named(device).ok_or("there is no reference device")?.only(&mut command)?;
        command.arg("run").arg(&file).args(["-w", "--kernel", kernel, "--global", "1"]);
        let finished = kiln::run(command.args(["--arg", "buf:struct[2]", "--arg", "buf:int[256]"]))?;
        let is_right = match line {
            None => finished.status.success(),
            Some(line) => {
                finished.stderr.contains("[uninitialized]")
                    && finished.stderr.contains(&format!("k.cl:{line},"))
            }
        };
        if !is_right {
            return Err(format!("{kernel}: {}", finished.stderr));
        }
    }
    Ok(())
}

/// Nothing is reported where a work-item reads only what it has written, and checks do not change the results.
fn guarded_reads(device: &str) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = scratch.path().join("k.cl");
    for seed in 0..40 {
        let source = guarded::program(seed);
        fs::write(&file, &source).map_err(|e| e.to_string())?;
        let run = |checks: &str| {
            let mut command = kiln::command();
            Device::named(device).ok_or("there is no reference device")?.only(&mut command)?;
            command
                .env("KILN_CHECKS", checks)
                .arg("run")
                .arg(&file)
                .args(["-w", "--global", "8", "--local", "8"]);
            command.args([
                "--arg",
                "buf:uint[8]={9,3,14,0,7,20,5,1}",
                "--arg",
                "buf:uint[8]",
                "--print",
                "o",
            ]);
            kiln::run(&mut command)
        };
        let (checked, unchecked) = (run("1")?, run("0")?);
        if !checked.status.success() || checked.stdout != unchecked.stdout {
            let [first, second] =
                [checked, unchecked].map(|it| String::from_utf8_lossy(&it.stdout).into_owned() + &it.stderr);
            return Err(format!("seed {seed}:\n{first}\n{second}\n{source}"));
        }
    }
    Ok(())
}

/// A report of an address beyond the buffer of an argument names the argument, even with more arguments than push constants.
fn named_arguments(device: &str) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = scratch.path().join("k.cl");
    let others: String = (0..40).map(|n| format!(", global int *more{n}")).collect();
    let few = "kernel void few(global int *a, constant int *b, int n) { a[0] = b[n]; }";
    let many = format!(
        "kernel void many(global int *a, constant int *b, int n{others}) {{ a[n] = b[0] + *more39; }}"
    );
    fs::write(&file, format!("{few}\n{many}\n")).map_err(|e| e.to_string())?;
    for (kernel, more, name) in [("few", 0, "b"), ("many", 40, "a")] {
        let mut command = kiln::command();
        Device::named(device).ok_or("there is no reference device")?.only(&mut command)?;
        command.arg("run").arg(&file).args(["--kernel", kernel, "--global", "1", "--arg", "buf:int[4]"]);
        command.args(["--arg", "buf:int[4]", "--arg", "int:7"]);
        command.args((0..more).flat_map(|_| ["--arg", "buf:int[1]"]));
        let finished = kiln::run(&mut command)?;
        let note = format!("the address is byte 28 of the buffer of argument `{name}`");
        if !finished.stderr.contains(&note) {
            return Err(format!("{kernel}: {}", finished.stderr));
        }
    }
    Ok(())
}

/// Two writes, only one of which is executed in the default order.
const HIDDEN: &str = "kernel void k(global atomic_int *flag, global int *data) {
    if (get_global_id(0) == 0) {
        int rounds = 0;
        for (int i = 0; i < 10; i++) rounds += atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device);
        if (rounds > 0) data[0] = 1;
    } else {
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
        data[0] = 2;
    }
}
";

/// `KILN_SEED` chooses another order (docs/reference-device.md).
fn hidden_race() -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = scratch.path().join("k.cl");
    fs::write(&file, HIDDEN).map_err(|e| e.to_string())?;
    let run = |seed: &str| {
        let mut command = kiln::command();
        Device::named("reference").ok_or("there is no reference device")?.only(&mut command)?;
        command.env("KILN_SEED", seed).arg("run").arg(&file);
        command.args(["--global", "2", "--arg", "buf:int[1]", "--arg", "buf:int[1]"]);
        kiln::run(&mut command)
    };
    if !run("0")?.status.success() {
        return Err("the default order also reveals the race".to_owned());
    }
    let finished = run("1")?;
    if finished.stderr.contains("[data-race]") { Ok(()) } else { Err(finished.stderr) }
}

fn only_the_defect_is_reported(defect: &Defect) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let found = defect.run(scratch.path(), Variant::Defective)?;
    // A race is reported at either of its two accesses.
    let sites = [format!("k.cl:{}, work-item", defect.line), format!(" at line {}\n", defect.line)];
    let is_here = sites.iter().any(|site| found.stderr.contains(site));
    if found.status.success() || !found.stderr.contains(&defect.kind) || !is_here {
        return Err(format!("wanted {} on line {}, not\n{}", defect.kind, defect.line, found.stderr));
    }
    let repaired = defect.run(scratch.path(), Variant::Repaired)?;
    if !repaired.status.success() || !repaired.stderr.is_empty() {
        return Err(format!("the repaired program is reported:\n{}", repaired.stderr));
    }
    Ok(())
}
