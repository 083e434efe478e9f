//! Compares `kiln lsp` with clangd, through the protocol and in one run: the results for the same files without
//! configuration, the delay after an edit, and times and memory for generated sources of 1,000 and 5,000 lines.
//!
//! The servers alternate, so that other load affects both equally. Must not depend on either server, only on results
//! that users see.

mod sizes;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use clap::Args;
use kiln_testsuite::editor::{self, Client, capabilities, position};
use serde_json::{Value, json};

use crate::median::median;

#[derive(Args)]
pub(crate) struct Editors {
    /// Sources without errors, for measuring times
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// The binary `kiln`
    #[arg(long, default_value = "kiln")]
    kiln: PathBuf,
    /// The other servers
    #[arg(long, default_value = "clangd-15")]
    clangd: Vec<PathBuf>,
    /// Folder with `invalid/` and `valid/`, programs written from the specification
    #[arg(long)]
    conformance: Option<PathBuf>,
    /// Number of edits of each source
    #[arg(long, default_value_t = 10)]
    edits: usize,
}

/// A running server and its results.
struct Server {
    name: String,
    client: Client,
    /// The number of errors in valid sources, by source.
    false_errors: Vec<usize>,
    /// The milliseconds from an edit to its diagnostics, by source.
    delays: Vec<Vec<f64>>,
    /// Additional rows of the table.
    rows: Vec<(String, String)>,
}

pub(crate) fn editors(options: &Editors) -> Result<(), String> {
    let sources = options.sources.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let mut servers = started(options);
    for (path, text) in &sources {
        for server in &mut servers {
            server.edit(path, text, options.edits);
        }
    }
    for server in &mut servers {
        server.probe();
        if let Some(folder) = &options.conformance {
            server.conformance(folder)?;
        }
        server.remember_memory("memory at the end");
    }
    sizes::measure(options, &mut servers);
    print(&sources, &servers);
    Ok(())
}

/// A server of each kind, Kiln first.
fn started(options: &Editors) -> Vec<Server> {
    let mut kiln = Command::new(&options.kiln);
    kiln.arg("lsp");
    let mut servers = vec![Server::new("kiln lsp".to_owned(), kiln)];
    for path in &options.clangd {
        let mut clangd = Command::new(path);
        clangd.arg("--log=error");
        servers.push(Server::new(version(path), clangd));
    }
    servers
}

/// `clangd` and its version, as it prints them.
fn version(path: &Path) -> String {
    let printed = Command::new(path).arg("--version").output().map(|output| output.stdout);
    let printed = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
    let number = printed.split("version ").nth(1).and_then(|rest| rest.split([' ', '\n', '-']).next());
    format!("clangd {}", number.unwrap_or("of an unknown version"))
}

fn read(path: &Path) -> Result<(PathBuf, String), String> {
    let failed = |e| format!("cannot read `{}`: {e}", path.display());
    let bytes = fs::read(path).map_err(failed)?;
    Ok((path.canonicalize().map_err(failed)?, String::from_utf8_lossy(&bytes).into_owned()))
}

/// A URI with the escapes that servers use, so that URIs compare equal.
fn uri(path: &Path) -> String {
    editor::uri(path).replace('+', "%2B")
}

impl Server {
    fn new(name: String, command: Command) -> Self {
        let client = Client::start(command, None, capabilities(), Value::Null);
        Self { name, client, false_errors: Vec::new(), delays: Vec::new(), rows: Vec::new() }
    }

    /// Opens a source and types: inserts a line with an error at the end, removes it, and so on.
    fn edit(&mut self, path: &Path, text: &str, edits: usize) {
        let uri = uri(path);
        let text = format!("{}\n", text.trim_end());
        let end = text.lines().count();
        self.client.open(&uri, &text);
        let found = self.client.diagnostics(&uri);
        self.false_errors.push(errors(&found.diagnostics));
        let mut delays = Vec::new();
        for number in 0..edits {
            let (from, to, typed) = match number % 2 {
                0 => (end, end, format!("int probe{number} = missing{number};\n")),
                _ => (end, end + 1, String::new()),
            };
            let range = json!({ "start": position(from, 0), "end": position(to, 0) });
            let begin = Instant::now();
            self.client.change(&uri, json!([{ "range": range, "text": typed }]));
            let published = self.client.diagnostics(&uri);
            delays.push(published.at.saturating_duration_since(begin).as_secs_f64() * 1e3);
            // Pauses as a user would, to look at the result.
            std::thread::sleep(Duration::from_millis(20));
        }
        self.client.close(&uri);
        self.delays.push(delays);
    }

    fn remember_memory(&mut self, what: &str) {
        let peak = format!("{} MB", peak_memory(self.client.process()) / 1024);
        self.rows.push((what.to_owned(), peak));
    }

    /// Sends typical requests.
    fn probe(&mut self) {
        for (number, probe) in PROBES.iter().enumerate() {
            let (line, column) = line_and_column(probe.source);
            let text = probe.source.replace(CURSOR, "");
            let uri = format!("file:///probe/{number}.cl");
            self.client.open(&uri, &text);
            self.client.diagnostics(&uri);
            let parameters = json!({ "textDocument": { "uri": uri }, "position": position(line, column) });
            let answer = self.client.request(probe.method, parameters).unwrap_or(Value::Null);
            let offered = match probe.method {
                COMPLETION => words(&answer),
                _ => vec![answer.to_string()],
            };
            let has = |word: &&str| match probe.method {
                COMPLETION => offered.iter().any(|offer| offer == word),
                _ => offered[0].contains(*word),
            };
            let missing = probe.wanted.iter().filter(|word| !has(word)).count();
            // Suggestions that do not apply may be offered after those that do.
            let rank = |word: &&str| offered.iter().position(|offer| offer == word);
            let last = probe.wanted.iter().filter_map(rank).max().unwrap_or_default();
            let unwanted = probe.unwanted.iter().filter_map(rank).filter(|rank| *rank < last).count();
            let row = if missing == 0 && unwanted == 0 {
                "yes".to_owned()
            } else if missing == probe.wanted.len() {
                "no".to_owned()
            } else {
                format!("{} of {}, {unwanted} wrong", probe.wanted.len() - missing, probe.wanted.len())
            };
            self.rows.push((probe.what.to_owned(), row));
            self.client.close(&uri);
        }
    }

    /// Opens programs written from the specification: some with one error, whose line the first line names, and some
    /// without.
    fn conformance(&mut self, folder: &Path) -> Result<(), String> {
        let (mut found, mut all) = (0, 0);
        for path in programs(&folder.join("invalid"))? {
            let (path, text) = read(&path)?;
            let mut head = text.lines();
            let (first, second) = (head.next().unwrap_or_default(), head.next().unwrap_or_default());
            // Errors that depend on options are not errors here.
            let is_about_options = second.contains("features:") || second.contains("CL1.2");
            if !first.contains("[error]") || is_about_options {
                continue;
            }
            let line =
                first.split("line ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
            let is_there = |one: &Value| {
                one["severity"] == 1 && one["range"]["start"]["line"].as_u64().map(|it| it + 1) == line
            };
            all += 1;
            found += usize::from(self.look(&path, &text).iter().any(is_there));
        }
        self.rows.push((
            "invalid programs without an error on its line".to_owned(),
            format!("{} of {all}", all - found),
        ));
        let valid = programs(&folder.join("valid"))?;
        let mut wrong = 0;
        for path in &valid {
            let (path, text) = read(path)?;
            wrong += usize::from(errors(&self.look(&path, &text)) > 0);
        }
        self.rows
            .push(("valid programs with a false error".to_owned(), format!("{wrong} of {}", valid.len())));
        Ok(())
    }

    /// Opens a source briefly; returns its diagnostics.
    fn look(&mut self, path: &Path, text: &str) -> Vec<Value> {
        let uri = uri(path);
        self.client.open(&uri, text);
        let found = self.client.diagnostics(&uri);
        self.client.close(&uri);
        found.diagnostics
    }
}

fn programs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "cl"));
    paths.sort();
    Ok(paths)
}

fn errors(diagnostics: &[Value]) -> usize {
    diagnostics.iter().filter(|diagnostic| diagnostic["severity"] == 1).count()
}

/// The words of a completion list, in order, without decorations.
fn words(answer: &Value) -> Vec<String> {
    let mut items = answer.get("items").unwrap_or(answer).as_array().cloned().unwrap_or_default();
    let key =
        |item: &Value| item.get("sortText").unwrap_or(&item["label"]).as_str().unwrap_or_default().to_owned();
    items.sort_by_key(key);
    let word = |item: &Value| {
        let text = item["label"].as_str().unwrap_or_default();
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        text.trim_start_matches(|letter| !is_name(letter))
            .split(|letter| !is_name(letter))
            .next()
            .map(str::to_owned)
    };
    items.iter().filter_map(word).collect()
}

/// Marks the cursor of a probe.
const CURSOR: char = '¦';

fn line_and_column(source: &str) -> (usize, usize) {
    let lines = source.lines().enumerate();
    lines
        .filter_map(|(number, line)| Some((number, line.find(CURSOR)?)))
        .next()
        .expect("a probe has a cursor")
}

/// A request, and the contents of a correct answer.
struct Probe {
    what: &'static str,
    method: &'static str,
    source: &'static str,
    wanted: &'static [&'static str],
    unwanted: &'static [&'static str],
}

const COMPLETION: &str = "textDocument/completion";
const HOVER: &str = "textDocument/hover";

const PROBES: &[Probe] = &[
    Probe {
        what: "completion of built-in functions",
        method: COMPLETION,
        source: "kernel void k(global int *o) { o[0] = get_glo¦ }\n",
        wanted: &["get_global_id", "get_global_size", "get_global_offset", "get_global_linear_id"],
        unwanted: &[],
    },
    Probe {
        what: "completion of atomic functions",
        method: COMPLETION,
        source: "kernel void k(global atomic_int *a) { atomic_fetch_¦ }\n",
        wanted: &["atomic_fetch_add", "atomic_fetch_add_explicit", "atomic_fetch_max"],
        unwanted: &[],
    },
    Probe {
        what: "completion of orders, first those that a store can have",
        method: COMPLETION,
        source: "kernel void k(global atomic_int *a) { atomic_store_explicit(a, 1, memory_order_¦); }\n",
        wanted: &["memory_order_relaxed", "memory_order_release", "memory_order_seq_cst"],
        unwanted: &["memory_order_acquire", "memory_order_acq_rel"],
    },
    Probe {
        what: "completion of scopes",
        method: COMPLETION,
        source: "kernel void k(global atomic_int *a) { atomic_store_explicit(a, 1, memory_order_release, memory_scope_¦); }\n",
        wanted: &["memory_scope_work_group", "memory_scope_device", "memory_scope_sub_group"],
        unwanted: &[],
    },
    Probe {
        what: "completion of fence flags",
        method: COMPLETION,
        source: "kernel void k(global int *a) { work_group_barrier(CLK_¦); }\n",
        wanted: &["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"],
        unwanted: &[],
    },
    Probe {
        what: "completion of swizzles",
        method: COMPLETION,
        source: "kernel void k(global float4 *a) { float4 v = a[0]; a[1] = v.¦; }\n",
        wanted: &["x", "y", "z", "w", "xyzw", "s0", "lo", "even"],
        unwanted: &[],
    },
    Probe {
        what: "completion of members",
        method: COMPLETION,
        source: "struct p { float mass; float3 place; };\nkernel void k(global struct p *a) { a->¦ }\n",
        wanted: &["mass", "place"],
        unwanted: &[],
    },
    Probe {
        what: "signature help of a built-in function",
        method: "textDocument/signatureHelp",
        source: "kernel void k(global int *o) { o[0] = mad24(1, ¦ }\n",
        wanted: &["mad24("],
        unwanted: &[],
    },
    Probe {
        what: "hover on a built-in function shows its description",
        method: HOVER,
        source: "kernel void k(global int *o) { o[0] = get_glob¦al_id(0); }\n",
        wanted: &["get_global_id", "work-item"],
        unwanted: &[],
    },
    Probe {
        what: "hover on an atomic function shows its legal orders",
        method: HOVER,
        source: "kernel void k(global atomic_int *a) { atomic_sto¦re_explicit(a, 1, memory_order_release); }\n",
        wanted: &["atomic_store_explicit", "release", "seq_cst", "relaxed"],
        unwanted: &[],
    },
    Probe {
        what: "definition of a user's function",
        method: "textDocument/definition",
        source: "int twice(int a) { return 2 * a; }\nkernel void k(global int *o) { o[0] = twi¦ce(1); }\n",
        wanted: &["\"line\":0", "\"character\":4"],
        unwanted: &[],
    },
];

/// The peak memory of a process in kilobytes.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn print(sources: &[(PathBuf, String)], servers: &[Server]) {
    let largest = (0..sources.len()).max_by_key(|&index| sources[index].1.len()).unwrap_or_default();
    let all = |server: &Server| server.delays.concat();
    let row = |what: &str, of: &dyn Fn(&Server) -> String| {
        let cells: Vec<String> = servers.iter().map(of).collect();
        println!("| {what} | {} |", cells.join(" | "));
    };
    row("", &|server| server.name.clone());
    println!("|---|{}", "---|".repeat(servers.len()));
    let count = sources.len();
    row(&format!("false errors in {count} sources without configuration"), &|server| {
        let sources = server.false_errors.iter().filter(|errors| **errors > 0).count();
        format!("{} in {sources} sources", server.false_errors.iter().sum::<usize>())
    });
    row("from an edit to its diagnostics, median", &|server| format!("{:.1} ms", median(&all(server))));
    row("the slowest", &|server| format!("{:.1} ms", all(server).into_iter().fold(0.0, f64::max)));
    let lines = sources[largest].1.lines().count();
    row(&format!("on the largest source, {lines} lines, median"), &|server| {
        format!("{:.1} ms", median(&server.delays[largest]))
    });
    for index in 0..servers[0].rows.len() {
        row(&servers[0].rows[index].0, &|server| server.rows[index].1.clone());
    }
    println!("\nsource: false errors and median delay in ms of each server");
    for (index, (path, _)) in sources.iter().enumerate() {
        for server in servers {
            print!("{:3} {:7.1}  ", server.false_errors[index], median(&server.delays[index]));
        }
        println!("{}", path.display());
    }
}
