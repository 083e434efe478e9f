//! Times and memory for generated sources of several sizes. Each size has servers of its own, so that the memory is that of
//! one document.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use kiln_testsuite::editor::position;
use serde_json::{Value, json};

use super::{COMPLETION, Editors, Server, started};
use crate::median::median;

const LINES: [usize; 2] = [1000, 5000];

/// The words to complete: a prefix of built-in functions, one letter, and none.
const WORDS: [&str; 3] = ["get_", "v", ""];

/// Typed letter by letter, with a completion after each.
const TYPED: &str = "get_g";

/// Adds rows with the times and the memory of new servers.
pub(super) fn measure(options: &Editors, servers: &mut [Server]) {
    for lines in LINES {
        let (text, line) = source(lines);
        let mut fresh = started(options);
        for server in &mut fresh {
            Document::open(server, &text, line).measure(lines, options.edits.max(2));
        }
        for (server, fresh) in servers.iter_mut().zip(fresh) {
            server.rows.extend(fresh.rows);
        }
    }
}

/// A source without errors, with functions and kernels; and the index of an empty line in its last kernel.
fn source(lines: usize) -> (String, usize) {
    let mut text = "#define N 16\ntypedef struct { float x; int n; } item;\n".to_owned();
    for number in 0.. {
        if text.lines().count() + 20 > lines {
            break;
        }
        let _ = write!(
            text,
            "float helper_{number}(global const float *a, int n) {{
    float sum_{number} = 0.0f;
    for (int j = 0; j < n; ++j)
        sum_{number} += a[j] * (float)(j + {number});
    return sqrt(sum_{number}) + max(sum_{number}, 1.0f);
}}

kernel void kernel_{number}(global float *out, global const float *in, local int *tmp, int n) {{
    size_t gid = get_global_id(0);
    int lid = get_local_id(0);
    tmp[lid] = n + {number};
    barrier(CLK_LOCAL_MEM_FENCE);
    if (gid < (size_t)n)
        out[gid] = helper_{number}(in, n) + (float)tmp[lid ^ 1];
}}

"
        );
    }
    text.push_str("kernel void last(global float *out, int n) {\n    int value = n;\n");
    let line = text.lines().count();
    text.push_str("\n    out[0] = value;\n}\n");
    (text, line)
}

/// An open document, with the line where to type.
struct Document<'s> {
    server: &'s mut Server,
    line: usize,
    /// The length of that line.
    length: usize,
}

const URI: &str = "file:///sizes/generated.cl";

impl<'s> Document<'s> {
    fn open(server: &'s mut Server, text: &str, line: usize) -> Self {
        server.client.open(URI, text);
        server.client.diagnostics(URI);
        Self { server, line, length: 0 }
    }

    /// Replaces what is written after a column of the line.
    fn write(&mut self, column: usize, text: &str) {
        let range = json!({ "start": position(self.line, column), "end": position(self.line, self.length) });
        self.server.client.change(URI, json!([{ "range": range, "text": text }]));
        self.length = column + text.len();
    }

    /// The milliseconds of a completion at the end of the line.
    fn complete(&mut self) -> f64 {
        let parameters =
            json!({ "textDocument": { "uri": URI }, "position": position(self.line, self.length) });
        let begin = Instant::now();
        let answer = self.server.client.request(COMPLETION, parameters).unwrap_or(Value::Null);
        assert!(!answer.is_null(), "{} answers a completion", self.server.name);
        begin.elapsed().as_secs_f64() * 1e3
    }

    fn measure(&mut self, lines: usize, edits: usize) {
        let mut delays = Vec::new();
        for number in 0..edits {
            let begin = Instant::now();
            self.write(0, if number % 2 == 0 { "int probe = missing;" } else { "" });
            let published = self.server.client.diagnostics(URI);
            delays.push(published.at.saturating_duration_since(begin).as_secs_f64() * 1e3);
            pause(20);
        }
        self.remember(&format!("{lines} lines: diagnostics after an edit"), &delays);
        for word in WORDS {
            self.write(0, word);
            self.server.client.diagnostics(URI);
            // The first completion prepares what the others use.
            self.complete();
            let times: Vec<f64> = (0..edits).map(|_| self.complete()).collect();
            let what = if word.is_empty() { "without a word".to_owned() } else { format!("of `{word}`") };
            self.remember(&format!("{lines} lines: completion {what}"), &times);
        }
        let mut times = Vec::new();
        for _ in 0..edits.div_ceil(4) {
            self.write(0, "");
            for (column, letter) in TYPED.char_indices() {
                pause(50);
                let begin = Instant::now();
                self.write(column, letter.encode_utf8(&mut [0; 4]));
                self.complete();
                times.push(begin.elapsed().as_secs_f64() * 1e3);
            }
        }
        self.remember(&format!("{lines} lines: a letter and its completion"), &times);
        self.server.remember_memory(&format!("{lines} lines: memory"));
    }

    fn remember(&mut self, what: &str, times: &[f64]) {
        self.server.rows.push((what.to_owned(), format!("{:.1} ms", median(times))));
    }
}

/// Pauses as a user would. The server may use the time.
fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}
