//! Measures how the CPU time of compiling a source grows with its size, for sources that repeat one construct.
//!
//! A compiler whose passes are linear takes about ten times as long for ten times the size.

use std::{fs, path::Path, process::Command, time::Duration};

use super::compile::{cpu_time, median};
use crate::{Outcome, process};

const ROUNDS: usize = 3;
const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// The maximum nesting depth of a source is 256.
const DEPTHS: [usize; 3] = [60, 120, 240];

/// A source that repeats a piece of text. `@` is the number of the repetition in it, and `$` the number of repetitions before
/// it in the same group of four.
struct SourceTemplate {
    name: &'static str,
    before: &'static str,
    /// Program-scope text for each repetition.
    global: &'static str,
    kernel: &'static str,
    /// Text in the kernel for each repetition.
    each: &'static str,
    /// Text in the kernel for each repetition, after all of `each`.
    close: &'static str,
    after: &'static str,
}

impl SourceTemplate {
    const EMPTY: Self = Self {
        name: "",
        before: "",
        global: "",
        kernel: "kernel void k(global int *a, int n) {\nint x = a[n];",
        each: "",
        close: "",
        after: "a[n] = x;\n}",
    };

    const fn statements(name: &'static str, each: &'static str) -> Self {
        Self { name, each, ..Self::EMPTY }
    }

    fn source(&self, count: usize) -> String {
        let repeated = |text: &str| -> String {
            let one = |index: usize| {
                text.replace('@', &index.to_string()).replace('$', &(index % 4).to_string()) + "\n"
            };
            if text.is_empty() { String::new() } else { (0..count).map(one).collect() }
        };
        [
            self.before,
            &repeated(self.global),
            self.kernel,
            &repeated(self.each),
            &repeated(self.close),
            self.after,
        ]
        .join("\n")
    }
}

const TEMPLATES: &[SourceTemplate] = &[
    SourceTemplate {
        name: "kernels",
        global: "kernel void k@(global int *a) { a[get_global_id(0)] += @; }",
        kernel: "",
        after: "",
        ..SourceTemplate::EMPTY
    },
    SourceTemplate {
        name: "functions",
        global: "int f@(int x) { return x * @ + 1; }",
        each: "x ^= f@(x);",
        ..SourceTemplate::EMPTY
    },
    SourceTemplate {
        name: "nested loops",
        each: "for (int i@ = 0; i@ < n; i@++) { a[i@] += @;",
        close: "}",
        ..SourceTemplate::EMPTY
    },
    SourceTemplate::statements(
        "loops in turn",
        "for (int i = 0; i < n; i++) { if (a[i] == @) break; a[i] += @; }",
    ),
    SourceTemplate::statements("loops by goto", "again@: a[x] += @; if (a[x + @] < n) goto again@;"),
    SourceTemplate::statements("arithmetic", "x = x * n + @; a[x & 255] = x;"),
    SourceTemplate::statements("copies", "a[@] = a[@ + 20000] + @;"),
    SourceTemplate::statements("moving pointers", "*a = @; a += n;"),
    SourceTemplate::statements("branches", "if (x > @) x += a[@]; else x -= @;"),
    SourceTemplate::statements("returns", "if (x > @) return; x += a[@];"),
    SourceTemplate::statements("private arrays", "int p@[4] = {0}; p@[a[@] & 3] = 1; a[@] = p@[x & 3];"),
    SourceTemplate::statements("sines", "a[@] = sin((float)a[@]);"),
    SourceTemplate {
        name: "cases",
        each: "case @: x += a[@]; break;",
        kernel: "kernel void k(global int *a, int n) {\nint x = a[n];\nswitch (x) {",
        after: "}\na[n] = x;\n}",
        ..SourceTemplate::EMPTY
    },
    SourceTemplate {
        name: "globals",
        global: "global int g@ = @;",
        each: "a[@] = g@++;",
        ..SourceTemplate::EMPTY
    },
    SourceTemplate::statements(
        "relaxed atomics",
        "atomic_fetch_add_explicit((global atomic_int *)a + @, x, memory_order_relaxed, memory_scope_device);",
    ),
    SourceTemplate::statements(
        "seq_cst atomics",
        "atomic_store((global atomic_int *)a + @, x); x += atomic_load((global atomic_int *)a + @ + $) + a[@];",
    ),
    SourceTemplate {
        name: "seq_cst globals",
        global: "global atomic_int g@;",
        each: "atomic_store(&g@, x); if (x) atomic_store_explicit(&g@, 1, memory_order_release, memory_scope_work_group);",
        ..SourceTemplate::EMPTY
    },
    SourceTemplate {
        name: "seq_cst kernels",
        before: "global atomic_int g;",
        global: "kernel void k@(global atomic_int *a, global int *b) { atomic_store(a, b[0]); b[1] = atomic_load(&g); }",
        kernel: "",
        after: "",
        ..SourceTemplate::EMPTY
    },
];

/// Measures, and prints the table.
pub(crate) fn growth() -> Outcome {
    let kiln = process::release_kiln()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    println!(
        "CPU time, user and system, of `kiln compile`; median of {ROUNDS}; {SIZES:?} repetitions, {DEPTHS:?} nested\n"
    );
    println!("{:<18} {:>12} {:>12} {:>12} {:>8}", "source", "small", "medium", "large", "growth");
    for template in TEMPLATES {
        let sizes = if template.close.is_empty() { SIZES } else { DEPTHS };
        let times = sizes
            .iter()
            .map(|&size| measure(&kiln, &template.source(size), scratch.path()))
            .collect::<Result<Vec<_>, _>>()?;
        let ms: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        println!(
            "{:<18} {:>9.1} ms {:>9.1} ms {:>9.1} ms {:>7.1}x",
            template.name,
            ms[0],
            ms[1],
            ms[2],
            ms[2] / ms[1].max(1e-3)
        );
    }
    Ok(())
}

fn measure(kiln: &Path, text: &str, scratch: &Path) -> Result<Duration, String> {
    let (source, module) = (scratch.join("source.cl"), scratch.join("source.spv"));
    fs::write(&source, text).map_err(|e| e.to_string())?;
    let compile = || process::run(Command::new(kiln).arg("compile").arg(&source).arg("-o").arg(&module));
    Ok(median((0..ROUNDS).map(|_| cpu_time(compile)).collect::<Result<Vec<_>, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_grow() {
        for template in TEMPLATES {
            let [small, large] = [10, 100].map(|count| template.source(count));
            assert!(large.len() > 5 * small.len(), "{}", template.name);
            assert_eq!(large.matches('{').count(), large.matches('}').count(), "{}", template.name);
        }
    }
}
