//! `cargo xtask demo`: builds Kiln, runs a kernel and shows its result.
//!
//! Installs missing packages, builds Kiln, compiles and runs the histogram on generated data with a bell curve,
//! checks the counts and draws them. Uses only Kiln's command line.

use std::{
    env, fs,
    io::{self, IsTerminal as _},
    path::Path,
    process::Command,
};

use crate::{Outcome, process, root, setup};

/// The number of work-items and inputs.
const ITEMS: usize = 65536;
/// The number of bins, as in the example.
const BINS: usize = 16;

/// Runs the demonstration.
pub(crate) fn demo() -> Outcome {
    setup::install(&["libvulkan1"])?;
    let kiln = process::release_kiln()?;
    // Installs a software driver only if the machine has no usable one.
    if !process::succeeds(Command::new(&kiln).args(["run", "--timeout", "30", HISTOGRAM]).current_dir(root()))
    {
        setup::install(setup::DEMO)?;
    }
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    compile(&kiln, scratch.path())?;
    run(&kiln, scratch.path())
}

const HISTOGRAM: &str = "examples/histogram/histogram.cl";

fn compile(kiln: &Path, scratch: &Path) -> Outcome {
    let module = scratch.join("histogram.spv");
    println!("$ kiln compile {HISTOGRAM} -o histogram.spv");
    process::run(Command::new(kiln).current_dir(root()).args(["compile", HISTOGRAM, "-o"]).arg(&module))?;
    let size = fs::metadata(&module).map_err(|e| format!("no module was written: {e}"))?.len();
    println!("{size} bytes of SPIR-V\n");
    Ok(())
}

fn run(kiln: &Path, scratch: &Path) -> Outcome {
    let values = bell_curve();
    let input = scratch.join("bell.u32");
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(&input, bytes).map_err(|e| format!("cannot write `{}`: {e}", input.display()))?;

    println!("$ kiln run {HISTOGRAM} --arg buf:uint[{ITEMS}]=file:bell.u32 …");
    let printed = process::output(
        Command::new(kiln).current_dir(root()).args(["run", HISTOGRAM, "--kernel", "histogram"]).args([
            "--global",
            &ITEMS.to_string(),
            "--local",
            "256",
            "--arg",
            &format!("buf:uint[{ITEMS}]=file:{}", input.display()),
            "--arg",
            &format!("uint:{ITEMS}"),
            "--arg",
            &format!("buf:uint[{BINS}]=0"),
            "--print",
            &format!("bins[0..{BINS}]"),
        ]),
    )?;
    let bins = bins(&printed)?;
    let mut expected = [0_u64; BINS];
    for value in values {
        expected[value as usize % BINS] += 1;
    }
    if bins != expected {
        return Err(format!("the device counted {bins:?}, the processor {expected:?}"));
    }
    draw(&mut io::stdout().lock(), &bins, io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none())
        .map_err(|e| format!("cannot write standard output: {e}"))?;
    println!("\n{ITEMS} numbers counted by {ITEMS} work-items; the processor counts the same.");
    Ok(())
}

/// Sums of three dice with the sides 0 to 5, from a linear congruential generator; the same in every run.
fn bell_curve() -> Vec<u32> {
    let mut state = 2_463_534_242_u32;
    let mut die = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % 6
    };
    (0..ITEMS).map(|_| die() + die() + die()).collect()
}

/// Parses the numbers in `bins[0..16] = 1 2 3 …`.
fn bins(printed: &str) -> Result<Vec<u64>, String> {
    let line = printed.lines().find_map(|line| line.strip_prefix("bins[")?.split_once(" = "));
    let numbers = line.map(|(_, numbers)| numbers.split_whitespace().map(str::parse).collect());
    match numbers {
        Some(Ok(numbers)) => Ok(numbers),
        _ => Err(format!("no bins in what kiln printed:\n{printed}")),
    }
}

/// Draws a row for each bin, with a resolution of an eighth of a character.
fn draw(out: &mut impl io::Write, bins: &[u64], color: bool) -> io::Result<()> {
    const WIDTH: u64 = 56;
    let max = bins.iter().copied().max().unwrap_or(0).max(1);
    writeln!(out)?;
    for (index, count) in bins.iter().enumerate() {
        let eighths = count * WIDTH * 8 / max;
        let mut bar = "█".repeat((eighths / 8) as usize);
        bar.push_str(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][(eighths % 8) as usize]);
        // From blue to red in the 216-color cube, by height.
        let shade = [27, 33, 39, 45, 50, 48, 82, 118, 154, 190, 226, 220, 214, 208, 202, 196]
            [(count * 15 / max) as usize];
        match color {
            true => writeln!(out, "{index:>4} \x1b[38;5;{shade}m{bar}\x1b[0m {count}")?,
            false => writeln!(out, "{index:>4} {bar} {count}")?,
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_bins_is_parsed() {
        assert_eq!(bins("device: x\nbins[0..3] = 1 20 3\n"), Ok(vec![1, 20, 3]));
        assert!(bins("bins[0..3] = 1 x\n").is_err());
        assert!(bins("").is_err());
    }

    #[test]
    fn bars_are_as_long_as_their_counts() {
        let mut out = Vec::new();
        draw(&mut out, &[0, 8, 16], false).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lengths: Vec<usize> = text.lines().skip(1).map(|line| line.matches('█').count()).collect();
        assert_eq!(lengths, [0, 28, 56]);
    }
}
