//! Measures the front end alone, on one core: preprocessor, parser and type checker, for sources on disk.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use kiln_compiler::{
    Emit, compile,
    opencl::{Environment, LanguageVersion},
    session::{Loader, Options, Source},
    source::FileKind,
    target::Target,
};
use nix::time::{ClockId, clock_gettime};

#[derive(Args)]
pub(crate) struct Frontend {
    /// Files and folders with `.cl` files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The language version
    #[arg(long, default_value = "CL2.0")]
    std: String,
    /// Folders of headers
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<String>,
    /// Number of runs for each file; the minimum time counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of slowest files to list
    #[arg(long, default_value_t = 10)]
    show: usize,
    /// Count only files without errors
    #[arg(long)]
    sound: bool,
}

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }
}

/// The measurement of a file.
struct Row {
    path: PathBuf,
    /// The number of lines of the file and its includes.
    lines: usize,
    bytes: usize,
    time: Duration,
    is_sound: bool,
}

pub(crate) fn frontend(options: &Frontend) -> Result<(), String> {
    crate::heap::prepare();
    let std = LanguageVersion::parse(&options.std)
        .ok_or_else(|| format!("`{}` is not a language version", options.std))?;
    let mut paths = Vec::new();
    for path in &options.paths {
        collect(path, &mut paths).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    }
    paths.sort();
    let mut rows: Vec<Row> = paths.iter().filter_map(|path| measure(path, std, options)).collect();
    rows.retain(|row| row.is_sound || !options.sound);
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    print(&rows, options.show);
    Ok(())
}

fn collect(path: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if path.is_dir() || is_source(&path) {
                collect(&path, paths)?;
            }
        }
    } else {
        fs::metadata(path)?;
        paths.push(path.to_path_buf());
    }
    Ok(())
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "cl" || ending == "ocl")
}

/// Measures a file; `None` if it cannot be read.
fn measure(path: &Path, std: LanguageVersion, options: &Frontend) -> Option<Row> {
    let text = fs::read(path).ok()?;
    let compile_options = Options {
        std,
        target: Target::full(Environment::OpenCl),
        include_dirs: options.include.clone(),
        ..Options::default()
    };
    let mut row = Row { path: path.to_path_buf(), lines: 0, bytes: 0, time: Duration::MAX, is_sound: false };
    for _ in 0..options.rounds.max(1) {
        let source = Source { name: path.to_string_lossy().into_owned(), text: text.clone() };
        let begin = processor_time();
        let output = compile(source, &compile_options, &Disk, &Emit::Nothing);
        row.time = row.time.min(processor_time() - begin);
        let files = || output.sources.files().filter(|(_, file)| file.kind == FileKind::User);
        row.lines = files().map(|(_, file)| file.text.lines().count()).sum();
        row.bytes = files().map(|(_, file)| file.text.len()).sum();
        row.is_sound = !output.has_errors();
    }
    Some(row)
}

/// The CPU time of this thread, which excludes other load.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).expect("every Linux has this clock")
}

fn print(rows: &[Row], show: usize) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{:>9} {:>9} {:>9} {:>12}  file", "ms", "lines", "KB", "lines/s");
    for row in rows.iter().take(show) {
        println!(
            "{:9.2} {:9} {:9.1} {:12.0}  {}{}",
            milliseconds(row.time),
            row.lines,
            row.bytes as f64 / 1e3,
            row.lines as f64 / row.time.as_secs_f64(),
            row.path.display(),
            if row.is_sound { "" } else { " (has errors)" }
        );
    }
    let time: Duration = rows.iter().map(|row| row.time).sum();
    let lines: usize = rows.iter().map(|row| row.lines).sum();
    let bytes: usize = rows.iter().map(|row| row.bytes).sum();
    let sound = rows.iter().filter(|row| row.is_sound).count();
    println!(
        "{} files ({sound} without errors), {lines} lines, {:.1} MB in {:.0} ms of one core: {:.0} lines/s, {:.1} MB/s",
        rows.len(),
        bytes as f64 / 1e6,
        milliseconds(time),
        lines as f64 / time.as_secs_f64(),
        bytes as f64 / 1e6 / time.as_secs_f64()
    );
    if let Some(largest) = rows.iter().max_by_key(|row| row.bytes) {
        println!("the largest, {}, takes {:.2} ms", largest.path.display(), milliseconds(largest.time));
    }
}
