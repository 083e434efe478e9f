//! docs/mistakes.md and docs/mistakes-from-other-languages.md: typical mistakes, with the messages of Kiln and of clang 22.
//!
//! testsuite/data/mistakes.txt contains the mistakes, and mistakes-clang.tsv next to it what clang reports. With
//! `--nightly`, clang runs and is compared with that file; `cargo xtask bless book` rewrites it.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use kiln_testsuite::{
    kiln::{self, LIMIT},
    nightly, process, root,
};
use serde_json::Value;

/// The compiler to compare with.
const CLANG: &str = "clang-22";

/// A mistake, in a source.
struct Mistake {
    title: String,
    /// Words of the remedy, one of which a message must contain.
    remedy: Vec<String>,
    source: String,
    /// The line of the mistake, from 1.
    line: usize,
    code: String,
}

/// The messages for a mistake.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    /// The line of the first message.
    line: usize,
    /// The number of messages.
    count: usize,
    /// The first message.
    message: String,
    /// The first message with its labels, notes and fix.
    text: String,
}

impl Report {
    /// One point each for the line, the remedy, and a single message. Without a message on the line there is none for
    /// the last one.
    fn points(&self, mistake: &Mistake) -> usize {
        if self.count == 0 {
            return 0;
        }
        let is_there = self.line == mistake.line;
        let text = self.text.to_lowercase();
        let has_remedy = mistake.remedy.iter().any(|word| text.contains(&word.to_lowercase()));
        usize::from(is_there) + usize::from(has_remedy) + usize::from(is_there && self.count == 1)
    }
}

fn mistakes() -> Vec<Mistake> {
    let text = fs::read_to_string(root().join("testsuite/data/mistakes.txt")).expect("the mistakes");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(mistake).collect()
}

fn mistake(line: &str) -> Mistake {
    let parts: Vec<&str> = line.splitn(3, " ;; ").collect();
    let [title, remedy, code] = parts[..] else { panic!("{line}") };
    let (code, first) = match code.strip_prefix('!') {
        Some(code) => (code.to_owned(), 0),
        None => (format!("kernel void k(global int *out, global float *f, int n) {{⏎{code}⏎}}"), 1),
    };
    let lines: Vec<&str> = code.split('⏎').collect();
    let marked = lines.iter().position(|line| line.starts_with('@')).unwrap_or(first);
    let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix('@').unwrap_or(line)).collect();
    Mistake {
        title: title.to_owned(),
        remedy: remedy.split('|').map(str::to_owned).collect(),
        source: lines.join("\n") + "\n",
        line: marked + 1,
        code: lines[marked].trim().to_owned(),
    }
}

/// The report of Kiln.
fn of_kiln(path: &Path) -> Report {
    let mut command = kiln::command();
    command.args(["check", "--no-config", "--diagnostic-format", "json"]).arg(path);
    let finished = process::finish(&mut command, LIMIT);
    let all: Vec<Value> =
        finished.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let Some(first) = all.first() else { return Report::default() };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| {
        value.as_array().map_or(String::new(), |all| {
            all.iter().map(|one| word(one) + &word(&one["text"]) + " ").collect()
        })
    };
    let parts = [
        word(&first["message"]),
        word(&first["label"]),
        list(&first["labels"]),
        list(&first["help"]),
        list(&first["notes"]),
        word(&first["fix"]["replacement"]),
    ];
    Report {
        line: first["location"]["line"].as_u64().unwrap_or(0) as usize,
        count: all.len(),
        message: word(&first["message"]),
        text: parts.join(" "),
    }
}

/// The report of clang, with its header of built-in functions.
fn of_clang(path: &Path) -> Report {
    let mut command = Command::new(CLANG);
    // Messages contain the name of the source.
    let (folder, path) = (path.parent().expect("a folder"), path.file_name().expect("a name"));
    command.current_dir(folder);
    command.args(["-x", "cl", "-cl-std=CL2.0", "-target", "spir64", "-Xclang", "-finclude-default-header"]);
    command.args(["-fsyntax-only", "-fno-caret-diagnostics", "-fdiagnostics-parseable-fixits"]).arg(path);
    let finished = process::finish(&mut command, LIMIT);
    let mut report = Report::default();
    for line in finished.stderr.lines() {
        let rest = line.strip_prefix(&format!("{}:", path.to_string_lossy()));
        let message = ["fatal error: ", "error: ", "warning: "].iter().find_map(|kind| line.split_once(kind));
        if let Some((_, message)) = message {
            report.count += 1;
            if report.count == 1 {
                let number = rest.and_then(|rest| rest.split(':').next()).and_then(|it| it.parse().ok());
                report.line = number.unwrap_or(0);
                report.message = message.to_owned();
                report.text = message.to_owned();
            }
        } else if report.count == 1 {
            let further = line.split_once("note: ").map(|(_, note)| note);
            let fix =
                line.strip_prefix("fix-it:").and_then(|fix| fix.rsplit_once(":\"")).map(|(_, text)| text);
            for part in further.into_iter().chain(fix) {
                let _ = write!(report.text, " {part}");
            }
        }
    }
    report
}

/// The reports of clang: read from the file, or from a run of clang, which is compared with the file or written to it.
fn reports_of_clang(paths: &[std::path::PathBuf], blesses: bool) -> Vec<Report> {
    let file = root().join("testsuite/data/mistakes-clang.tsv");
    if blesses || nightly::is_on() {
        let found = paths.iter().map(|path| of_clang(path));
        let rows = found.map(|it| format!("{}\t{}\t{}\t{}\n", it.line, it.count, it.message, it.text));
        let rows: String = rows.collect();
        if blesses {
            fs::write(&file, &rows).expect("written");
        }
        assert!(fs::read_to_string(&file).expect("the reports") == rows, "clang reports something else");
    }
    let text = fs::read_to_string(&file).expect("the reports of clang");
    let rows = text.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [line, count, message, text] = parts[..] else { panic!("{line}") };
        let number = |text: &str| text.parse().expect("a number");
        Report {
            line: number(line),
            count: number(count),
            message: message.to_owned(),
            text: text.to_owned(),
        }
    });
    rows.collect()
}

/// The mistakes for which clang has more points.
const WORSE: [&str; 0] = [];

/// The languages whose mistakes have a page of their own.
const LANGUAGES: [&str; 8] = ["C++", "CUDA", "GLSL", "HLSL", "Metal", "Pascal", "Python", "Rust"];

/// The rows of a page, and how many of them are better.
#[derive(Default)]
struct Rows {
    text: String,
    count: usize,
    better: usize,
}

/// The pages with their names. Fails if Kiln is worse than clang for any other mistake.
pub(crate) fn pages(blesses: bool) -> [(&'static str, String); 2] {
    let mistakes = mistakes();
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> = (0..mistakes.len()).map(|index| folder.path().join(format!("{index}.cl"))).collect();
    for (mistake, path) in mistakes.iter().zip(&paths) {
        fs::write(path, &mistake.source).expect("written");
    }
    let clang = reports_of_clang(&paths, blesses);
    assert_eq!(clang.len(), mistakes.len(), "`cargo xtask bless book` runs clang on new mistakes");
    let (mut of_c, mut of_others, mut worse) = (Rows::default(), Rows::default(), Vec::new());
    for ((mistake, path), clang) in mistakes.iter().zip(&paths).zip(&clang) {
        let kiln = of_kiln(path);
        let points = (kiln.points(mistake), clang.points(mistake));
        if points.0 < points.1 {
            worse.push(mistake.title.as_str());
        }
        let language = mistake.title.split(':').next().unwrap_or_default();
        let rows = if LANGUAGES.contains(&language) { &mut of_others } else { &mut of_c };
        rows.count += 1;
        rows.better += usize::from(points.0 > points.1);
        // Between backticks, Markdown keeps a backslash before `<`.
        let cell = |text: &str| {
            let parts = text.split('`').enumerate();
            let parts = parts.map(|(index, part)| match index % 2 {
                0 => part.replace('<', "\\<"),
                _ => part.to_owned(),
            });
            parts.collect::<Vec<_>>().join("`").replace('|', "\\|")
        };
        let shown =
            |report: &Report| if report.count == 0 { "–".to_owned() } else { cell(&report.message) };
        let code = mistake.code.replace('|', "\\|");
        let (title, ours, theirs) = (cell(&mistake.title), shown(&kiln), shown(clang));
        let _ =
            writeln!(rows.text, "| {title} | `{code}` | {ours} | {theirs} | {} : {} |", points.0, points.1);
    }
    assert_eq!(worse, WORSE, "the mistakes for which Kiln is worse than clang");
    let others = "Mistakes from other languages";
    [
        (
            "mistakes.md",
            page(
                "Typical mistakes",
                "[Another page](mistakes-from-other-languages.md) has mistakes from C++, CUDA and other languages.",
                &of_c,
            ),
        ),
        (
            "mistakes-from-other-languages.md",
            page(
                others,
                "The mistakes are typical of people who write C++, CUDA, shaders, Python or Rust.",
                &of_others,
            ),
        ),
    ]
}

fn page(title: &str, scope: &str, rows: &Rows) -> String {
    let Rows { text, count, better } = rows;
    let equal = count - better;
    format!(
        "# {title}\n\n\
         By the points below, Kiln's messages are better than those of clang 22 for {better} of {count} mistakes, equal \
         for {equal}, and worse for none. {scope}\n\n\
         The table shows the first message of `kiln check` and of clang (`-cl-std=CL2.0 -finclude-default-header`), both \
         without options for warnings. The last column has the points of Kiln and of clang, one for each of these:\n\n\
         - The first message is on the line of the mistake.\n\
         - The first message, its notes or its fix name the remedy (`testsuite/data/mistakes.txt` has the words).\n\
         - There is no further message.\n\n\
         The points do not say how well a message explains. A test compares this page with the compiler.\n\n\
         | mistake | line | Kiln | clang 22 | points |\n|---|---|---|---|---|\n{text}"
    )
}
