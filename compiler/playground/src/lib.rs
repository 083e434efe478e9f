//! `kiln-playground`: compiles, formats and runs OpenCL C for a page in the browser, and is its language server.
//!
//! A request and its answer are JSON. Owns the requests; `launch` runs kernels on the reference device, `ffi` passes
//! texts from and to JavaScript. Must not depend on files, time or threads, which WebAssembly does not have.
//!
//! ```
//! let answer = kiln_playground::answer(r#"{"action": "check", "source": "kernel void k(global int *p) { *p = q; }"}"#);
//! assert!(answer.contains("`q` is not declared"));
//! ```

mod arguments;
mod exit;
mod ffi;
#[path = "../../cli/src/run/fill.rs"]
#[allow(dead_code, reason = "the page has no files")]
mod fill;
#[path = "../../cli/src/run/header.rs"]
mod header;
mod launch;
#[path = "../../cli/src/paths.rs"]
#[allow(dead_code, reason = "the page has no files")]
mod paths;
#[path = "../../cli/src/run/value.rs"]
#[allow(dead_code, reason = "shared with the command line")]
mod value;

use kiln_compiler::{
    Artifact, Emit, Output, compile,
    diag::Severity,
    opencl::{Environment, LanguageVersion, Overflow},
    session::{NoFiles, Options, Source},
    target::Target,
};
use serde_json::{Value, json};

/// The name of the source.
const NAME: &str = "kernel.cl";

/// The answer to a request.
pub fn answer(request: &str) -> String {
    let Ok(request) = serde_json::from_str::<Value>(request) else {
        return json!({ "error": "the request is not JSON" }).to_string();
    };
    let source = request["source"].as_str().unwrap_or_default();
    let answer = match request["action"].as_str() {
        Some("check") => check(source, &request),
        Some("assembly") => assembly(source, &request),
        Some("format") => json!({ "text": kiln_fmt::format(source, &kiln_fmt::Style::default()) }),
        Some("run") => run(source, &request),
        Some("language") => language(source, &request),
        _ => json!({ "error": "there is no such action" }),
    };
    answer.to_string()
}

/// The options of a request.
fn options(request: &Value, environment: Environment) -> Options {
    let std = request["std"].as_str().and_then(LanguageVersion::parse).unwrap_or_default();
    Options { std, target: Target::full(environment), ..Options::default() }
}

fn compiled(source: &str, options: &Options, emit: &Emit) -> Output {
    let source = Source { name: NAME.to_owned(), text: source.as_bytes().to_vec() };
    compile(source, options, &NoFiles, emit)
}

fn check(source: &str, request: &Value) -> Value {
    let output = compiled(source, &options(request, Environment::OpenCl), &Emit::Nothing);
    json!({ "diagnostics": diagnostics(&output), "report": report(&output) })
}

fn assembly(source: &str, request: &Value) -> Value {
    let environment =
        if request["environment"] == "opencl" { Environment::OpenCl } else { Environment::Vulkan };
    let output = compiled(source, &options(request, environment), &Emit::Assembly);
    let text = match &output.artifact {
        Some(Artifact::Text(text)) => text.as_str(),
        _ => "",
    };
    json!({ "text": text, "diagnostics": diagnostics(&output), "report": report(&output) })
}

fn run(source: &str, request: &Value) -> Value {
    let mut options = options(request, Environment::OpenCl);
    (options.debug, options.overflow) = (true, Overflow::Marked);
    let output = compiled(source, &options, &Emit::Spirv);
    let report = report(&output);
    let Some(Artifact::Module(module)) = &output.artifact else {
        return json!({ "diagnostics": diagnostics(&output), "report": report });
    };
    let launched = launch::run(module.words(), source);
    let mut answer = json!({ "diagnostics": diagnostics(&output), "report": report });
    match launched {
        Ok(launched) => {
            answer["output"] = json!(launched.output);
            answer["undefined"] = json!(launched.report);
            answer["line"] = json!(launched.line);
            answer["picture"] = json!(launched.picture.map(|picture| {
                json!({ "width": picture.width, "height": picture.height, "pixels": picture.pixels })
            }));
        }
        Err(exit::Failure(why)) => answer["error"] = json!(why),
    }
    answer
}

/// The answer of the language server to a request about the source.
fn language(source: &str, request: &Value) -> Value {
    let std = request["std"].as_str().map(|std| format!("-cl-std={std}"));
    let flags: Vec<String> = std.into_iter().collect();
    let method = request["method"].as_str().unwrap_or_default();
    match kiln_lsp::answer(source, &flags, method, request["parameters"].clone()) {
        Ok(result) => json!({ "result": result }),
        Err(why) => json!({ "error": why }),
    }
}

fn report(output: &Output) -> String {
    kiln_report::plain(&kiln_report::report(kiln_report::Format::Rich, output))
}

/// Severity, message and position of each diagnostic in the source, for marks in the editor. `from` and `to` are offsets
/// of JavaScript's strings.
fn diagnostics(output: &Output) -> Value {
    let shown = output.diagnostics.iter().filter_map(|diagnostic| {
        let location = output.sources.resolve(diagnostic.span)?;
        let file = output.sources.file(location.file);
        if *file.name != *NAME {
            return None;
        }
        let offset = |byte: usize| file.text.get(..byte).map(|text| text.encode_utf16().count());
        let position = output.sources.position(location.file, location.range.start);
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        Some(json!({
            "severity": severity,
            "message": diagnostic.message,
            "code": diagnostic.code.name(),
            "line": position.line,
            "from": offset(location.range.start),
            "to": offset(location.range.end),
        }))
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(request: &Value) -> Value {
        serde_json::from_str(&answer(&request.to_string())).expect("JSON")
    }

    #[test]
    fn a_mistake_has_a_position() {
        let answer = ask(
            &json!({ "action": "check", "source": "// é𝕂\nkernel void k(global int *p) {\n  *p = q;\n}" }),
        );
        let mark = &answer["diagnostics"][0];
        assert_eq!((&mark["line"], &mark["severity"]), (&json!(3), &json!("error")));
        assert_eq!((&mark["from"], &mark["to"]), (&json!(45), &json!(46)));
        let answer = ask(&json!({ "action": "run", "source": "kernel void" }));
        assert_eq!(answer["diagnostics"][0]["severity"], "error");
        assert_eq!(ask(&json!({ "action": "fly" }))["error"], "there is no such action");
    }

    #[test]
    fn the_language_server_answers() {
        let request = json!({
            "action": "language", "method": "textDocument/hover", "std": "CL2.0", "source": "int next(int i);",
            "parameters": { "position": { "line": 0, "character": 5 } },
        });
        let hover = ask(&request)["result"]["contents"]["value"].to_string();
        assert!(hover.contains("int next(int i)"), "{hover}");
        assert!(ask(&json!({ "action": "language", "method": "fly" }))["error"].is_string());
    }

    #[test]
    fn a_module_is_shown() {
        let source = "kernel void k(global int *p) { *p = 1; }";
        let text = ask(&json!({ "action": "assembly", "source": source }))["text"].to_string();
        assert!(text.contains("OpEntryPoint GLCompute"), "{text}");
        let text = ask(&json!({ "action": "assembly", "source": source, "environment": "opencl" }))["text"]
            .to_string();
        assert!(text.contains("OpEntryPoint Kernel"), "{text}");
        let text = ask(&json!({ "action": "format", "source": source }))["text"].to_string();
        assert!(text.contains("\\n    *p = 1;\\n"), "{text}");
    }

    #[test]
    fn a_kernel_prints_and_draws() {
        let source = "// kiln run --kernel k --global 4,2 --arg buf:uchar4[8] --arg int:3 --print p[0..1]\n\
                      kernel void k(global uchar4 *p, int n) {\n\
                      int i = get_global_id(1) * 4 + get_global_id(0);\n\
                      p[i] = (uchar4)(i, n, 0, 255); if (i == 1) printf(\"%d\\n\", n); }";
        let answer = ask(&json!({ "action": "run", "source": source }));
        assert_eq!(answer["output"], "3\np[0..1] = 0 3 0 255\n");
        assert_eq!((&answer["picture"]["width"], &answer["picture"]["height"]), (&json!(4), &json!(2)));
        assert_eq!(answer["picture"]["pixels"].as_array().map(Vec::len), Some(32));
        assert_eq!(answer["picture"]["pixels"][28], 7);
    }

    #[test]
    fn a_race_is_reported_with_its_line() {
        let source = "// kiln run --kernel k --global 2 --local 2 --arg buf:int[1]\n\
                      kernel void k(global int *p) {\n*p = get_global_id(0);\n}";
        let answer = ask(&json!({ "action": "run", "source": source }));
        assert!(answer["undefined"].as_str().is_some_and(|it| it.contains("[data-race]")), "{answer}");
        assert_eq!(answer["line"], 3);
    }

    #[test]
    fn launches_share_buffers() {
        let source = "// kiln run --kernel a --global 2 --arg buf:int[2]=iota then --kernel a --global 2 --arg p --check p[0..2]=2,3\n\
                      kernel void a(global int *p) { p[get_global_id(0)] += 1; }";
        let answer = ask(&json!({ "action": "run", "source": source }));
        assert_eq!((&answer["error"], &answer["output"]), (&Value::Null, &json!("")));
        let wrong = source.replace("=2,3", "=2,4");
        let answer = ask(&json!({ "action": "run", "source": wrong }));
        assert_eq!(answer["output"], "check failed: p[1] is 3, not 4\n");
    }
}
