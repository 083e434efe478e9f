//! Checks files and prints what is wrong: a tool of development.
use kiln_compiler::{diag::*, opencl::LanguageVersion, session::*, source::SourceMap};
use kiln_syntax::Interner;
fn main() {
    let mut options = Options { std: LanguageVersion::Cl20, ..Default::default() };
    let mut hir = false;
    let mut quiet = false;
    for arg in std::env::args().skip(1) {
        if let Some(std) = arg.strip_prefix("-cl-std=") {
            options.std = LanguageVersion::parse(std).unwrap();
            continue;
        }
        if let Some(list) = arg.strip_prefix("-cl-ext=") {
            for e in list.split(',') {
                let (on, n) = (e.starts_with('+'), &e[1..]);
                options.extensions.push((n.into(), on));
            }
            continue;
        }
        if arg == "--hir" {
            hir = true;
            continue;
        }
        if arg == "-q" {
            quiet = true;
            continue;
        }
        if let Some(w) = arg.strip_prefix("-W") {
            options.warnings.switches.push(WarningSwitch { name: w.into(), action: WarningAction::Enable });
            continue;
        }
        if let Some(d) = arg.strip_prefix("-D") {
            options.macros.push(MacroOption::Define(d.into()));
            continue;
        }
        if let Some(d) = arg.strip_prefix("-I") {
            options.include_dirs.push(d.into());
            continue;
        }
        let text = std::fs::read(&arg).unwrap();
        let mut options = options.clone();
        options.warnings.error_limit = 0;
        let head = String::from_utf8_lossy(&text).lines().take(3).collect::<Vec<_>>().join("\n");
        if let Some(i) = head.find("// std: ") {
            let rest = head[i + 8..].lines().next().unwrap();
            let word = rest.split(|c: char| c == ' ' || c == ',').next().unwrap();
            if let Some(v) = LanguageVersion::parse(word.trim_end_matches(',')) {
                options.std = v;
            }
            if let Some(i) = rest.find("features: ") {
                for e in rest[i + 10..].split(|c: char| c == ',' || c == ' ') {
                    let e = e.trim();
                    if let Some(n) = e.strip_prefix('-') {
                        options.extensions.push((n.into(), false));
                    } else if let Some(n) = e.strip_prefix('+') {
                        options.extensions.push((n.into(), true));
                    }
                }
            }
        }
        struct Files;
        impl Loader for Files {
            fn load(&self, p: &str) -> Option<Vec<u8>> {
                std::fs::read(p).ok()
            }
        }
        let mut interner = Interner::new();
        let mut map = SourceMap::default();
        let mut sink = Sink::new(options.warnings.clone());
        let out = kiln_compiler::pp::preprocess(
            &options,
            Source { name: arg.clone(), text },
            &Files,
            &mut map,
            &mut interner,
            &mut sink,
        );
        let parsed = kiln_syntax::parse(&out.tokens, &mut interner);
        for e in &parsed.errors {
            sink.report(Diagnostic::new(Code::Syntax, e.span, format!("syntax {:?}", e.kind)));
        }
        let module = kiln_compiler::sema::check(&parsed.unit, &options, &mut interner, &mut sink);
        if hir && !sink.has_errors() {
            println!("{}", kiln_compiler::hir::print(&module, &interner));
        }
        let (diags, _) = sink.finish();
        if quiet {
            continue;
        }
        for d in diags {
            let line = map
                .resolve(d.span)
                .map(|p| map.position(p.file, p.range.start))
                .map(|p| format!("{}:{}", p.line, p.column))
                .unwrap_or_default();
            println!(
                "{arg}:{line}: {}: [{}] {}",
                if d.severity == Severity::Error { "error" } else { "warning" },
                d.code.name(),
                d.message
            );
        }
    }
}
