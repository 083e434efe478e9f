//! Hostile sources: deeply nested, truncated, shuffled, random. A compilation always ends with an artifact or with errors,
//! in a thread with a stack of two megabytes.

use fastrand::Rng;
use kiln_compiler::{
    Emit, compile,
    diag::Severity,
    opencl::Environment,
    session::{NoFiles, Options, Source},
    target::Target,
};

/// Compiles to IR with a small stack, and expects a result or an error.
fn survive(texts: Vec<Vec<u8>>) {
    let work = move || {
        for (number, text) in texts.into_iter().enumerate() {
            let environment = if number % 2 == 0 { Environment::OpenCl } else { Environment::Vulkan };
            let options = Options { target: Target::full(environment), ..Options::default() };
            let shown = String::from_utf8_lossy(&text).chars().take(2000).collect::<String>();
            let source = Source { name: "hostile.cl".into(), text };
            let output = compile(source, &options, &NoFiles, &Emit::Ir);
            let is_rejected =
                output.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
            assert_ne!(output.artifact.is_some(), is_rejected, "{shown}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn deep_nesting_is_an_error() {
    let around = [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("-", ""),
        ("!", ""),
        ("1 ? 1 : ", ""),
        ("if (1) ", ";"),
        ("for (;;) ", ";"),
        ("switch (1) ", ";"),
        ("sizeof ", ""),
        ("(int)", ""),
        ("struct {", "} m;"),
        ("1 + ", ""),
        ("x = ", ""),
        ("f(", ")"),
        ("int *", ""),
        ("a[0] + ", ""),
        ("a[0] ? a[1] : ", ""),
        ("a[0] < 1 ? a[1] * 2 : ", ""),
        ("a[0] && ", ""),
        ("a[0] += ", ""),
        ("a[0]++, ", ""),
        ("(float)-", ""),
        ("(long)(char)", ""),
        ("1.0f * ", ""),
        ("if (a[0]) a[1] = 2; else ", ";"),
        ("if (a[0]) { a[1] = 2; } else ", "{}"),
        ("do ", "while (0);"),
        ("case 1: ", ";"),
        ("#if 1\n", "#endif\n"),
    ];
    let mut texts = Vec::new();
    for (open, close) in around {
        for begin in [
            "",
            "int x = ",
            "kernel void k(global int *a) { int x; ",
            "kernel void k(global int *a) { a[0] = ",
        ] {
            for depth in [100, 240, 480, 5000] {
                let (open, close) = (open.repeat(depth), close.repeat(depth));
                texts.push(format!("{begin}{open}1{close};}}").into_bytes());
            }
        }
    }
    survive(texts);
}

const WHOLE: &str = r#"
#define TWICE(x) ((x) + (x))
#if defined(cl_khr_fp64) && TWICE(1) == 2
typedef struct node { int value; struct node *next; float4 data[3]; union { int i; float f; } u; } node_t;
#endif
constant int table[] = { 1, 2, 3, [5] = 4 };
enum kind { FIRST, SECOND = 4, THIRD };
int help(int a, local float *b) { return a > 3 ? (int)b[a] : TWICE(a); }
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k(global int *out, local float *shared, float3 v) {
    size_t i = get_global_id(0);
    float4 w = (float4)(v.xy, 1.0f, 2e3f);
    for (int n = 0; n < 10; ++n) {
        switch (n) { case 1: continue; case 2 ... 4: w.s01 *= 2; break; default: goto end; }
        do { w.lo = w.hi; } while (any(w < v.x));
    end:;
    }
    shared[i] = dot(w, w) + as_float(table[i & 3]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = help(atomic_add(&out[1], SECOND), shared) << 3 | sizeof(node_t);
    printf("%d %v4f\n", out[i], w);
}
"#;

#[test]
fn mutants_terminate() {
    let tokens = pieces(WHOLE);
    let mut random = Rng::with_seed(1);
    let texts = (0..400).map(|_| {
        let mut tokens = tokens.clone();
        for _ in 0..=random.usize(..6) {
            let (at, from) = (random.usize(..tokens.len()), random.usize(..tokens.len()));
            match random.usize(..5) {
                0 => drop(tokens.remove(at)),
                1 => tokens.insert(at, tokens[from]),
                2 => tokens.swap(at, from),
                3 => drop(tokens.drain(at..(at + 12).min(tokens.len()))),
                _ => tokens[at] = tokens[from],
            }
        }
        tokens.concat().into_bytes()
    });
    survive(texts.collect());
}

#[test]
fn random_tokens_and_bytes_terminate() {
    let tokens = pieces(WHOLE);
    let mut random = Rng::with_seed(2);
    let mut texts = Vec::new();
    for _ in 0..100 {
        let soup: Vec<&str> =
            (0..random.usize(..300)).map(|_| tokens[random.usize(..tokens.len())]).collect();
        texts.push(soup.join(" ").into_bytes());
        texts.push((0..random.usize(..500)).map(|_| random.u8(..)).collect());
    }
    survive(texts);
}

/// Words, spaces and single other characters.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
