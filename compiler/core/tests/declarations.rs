//! Declarations, initializers and statements: accepted and rejected programs, and the lowering of initializers.

mod front;

/// `data/declarations.txt`: each line contains the code of the first error (or warning), or `ok`; optionally the version
/// (`std=`) and disabled extensions (`ext=`); and a program.
#[test]
fn programs_are_accepted_or_rejected() {
    let mut problems = Vec::new();
    for (number, line) in include_str!("data/declarations.txt").lines().enumerate() {
        let (head, source) = line.split_once(": ").expect("a code and a program");
        let mut words = head.split(' ');
        let expected = words.next().unwrap_or_default();
        let mut options = front::options();
        for word in words {
            front::configure(&mut options, &word.replace("ext=", "extensions="));
        }
        let reported = front::check(&options, source).reported;
        let first = |sort| reported.iter().find_map(|(_, what)| what.strip_prefix(sort));
        let found = first("error: [").or(first("warning: [")).map_or("ok", |code| code.trim_end_matches(']'));
        if found != expected && !(expected == "ok" && first("error: [").is_none()) {
            problems.push(format!("line {}: expected {expected}, found {found}: {source}", number + 1));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The lines of the typed tree that contain this text, without indentation.
fn lines(source: &str, start: &str) -> Vec<String> {
    let front = front::check(&front::options(), source);
    assert!(front.reported.is_empty(), "{:?} in {source}", front.reported);
    let lines = front.hir.lines().map(str::trim).filter(|line| line.starts_with(start));
    lines.map(str::to_owned).collect()
}

#[track_caller]
fn check(source: &str, start: &str, expected: &[&str]) {
    assert_eq!(lines(source, start), expected, "{source}");
}

#[test]
fn images_of_scalars_and_vectors() {
    check("constant int a = -2;", "global", &["global @0 a: constant int = feffffff"]);
    check("constant float a = 1;", "global", &["global @0 a: constant float = 0000803f"]);
    check("constant uchar4 a = {1, 2, 3, 4};", "global", &["global @0 a: constant uchar4 = 01020304"]);
    check("constant short3 a = (short3)(1);", "global", &["global @0 a: constant short3 = 0100010001000000"]);
    check("constant bool a = 5;", "global", &["global @0 a: constant bool = 01"]);
    check("global int zero = 0;", "global", &["global @0 zero: global int"]);
    check(
        "enum { A = 7 }; constant long a = A;",
        "global",
        &["global @0 a: constant long = 0700000000000000"],
    );
}

#[test]
fn images_of_aggregates() {
    check("constant char s[] = \"ab\";", "global", &["global @0 s: constant char[3] = 616200"]);
    check("constant char s[2] = \"ab\";", "global", &["global @0 s: constant char[2] = 6162"]);
    check("constant char s[4] = {[1] = 7, 8};", "global", &["global @0 s: constant char[4] = 00070800"]);
    check("constant char s[] = {[0 ... 2] = 7, 8};", "global", &["global @0 s: constant char[4] = 07070708"]);
    check("constant char s[3] = {1, 2, 3, [1] = 9};", "global", &["global @0 s: constant char[3] = 010903"]);
    check(
        "constant struct { char c; struct { short s[2]; char d; } in; } x = {1, {{2, 3}, 4}};",
        "global",
        &["global @0 x: constant struct without a name = 0100020003000400"],
    );
    check(
        "struct p { char x, y; }; constant struct p a[2] = {1, 2, 3};",
        "global",
        &["global @0 a: constant struct p[2] = 01020300"],
    );
    check(
        "struct p { char x, y; }; constant struct p a[] = {[1].y = 1, {5}};",
        "global",
        &["global @0 a: constant struct p[3] = 000000010500"],
    );
    check(
        "union u { char c; short s; }; constant union u a = {.s = 0x102};",
        "global",
        &["global @0 a: constant union u = 0201"],
    );
    check(
        "struct a { char x; union { char y; short z; }; }; constant struct a s = {.z = 3, .x = 1};",
        "global",
        &["global @0 s: constant struct a = 01000300"],
    );
}

#[test]
fn images_with_addresses() {
    check(
        "global int a[4]; global int *p = &a[2];",
        "global @1",
        &["global @1 p: global int *global = 0000000000000000 [0]=@0+8"],
    );
    check(
        "struct s { int a, b; }; global struct s x; global int *p = &x.b; global int *q = (global int *)&x + 3;",
        "global @",
        &[
            "global @0 x: global struct s",
            "global @1 p: global int *global = 0000000000000000 [0]=@0+4",
            "global @2 q: global int *global = 0000000000000000 [0]=@0+12",
        ],
    );
    check("global int *p = 0;", "global", &["global @0 p: global int *global"]);
}

#[test]
fn parts_of_private_aggregates() {
    check("kernel void k(int n) { int a[4] = {1, [2] = n}; }", "%1 =", &["%1 = {[0] 1:int, [8] %0}:int[4]"]);
    check(
        "struct s { float4 v; int i; }; kernel void k(float4 f) { struct s a = {f, 3}; struct s b[2] = {a, {f}}; }",
        "%2 =",
        &["%2 = {[0] %1, [32] %0}:struct s[2]"],
    );
    check(
        "kernel void k(int n) { float2 v[2] = {1.0f, {n, 2}}; }",
        "%1 =",
        &["%1 = {[0] (splat:float2 1.0:float), [8] (vector:float2 (convert:float %0) 2.0:float)}:float2[2]"],
    );
}

#[test]
fn variables_have_address_spaces_and_lifetimes() {
    let source = "int a; static int b; constant int c = 1;
        kernel void k(local int *p) {
            local int d; private int e; static int f; constant int g = 2; int *h; extern int a;
            d = e = f = g + a; h = &e; *p = *h;
        }";
    check(
        source,
        "global",
        &[
            "global @0 a: global int",
            "global @1 b: global int",
            "global @2 c: constant int = 01000000",
            "global @3 f: global int",
            "global @4 g: constant int = 02000000",
        ],
    );
    check(
        source,
        "%",
        &[
            "%1 d: local int",
            "%2 e: private int",
            "%3 h: generic int *private",
            "%1 = %2 = @3 = (add:int @4 @0)",
            "%3 = (pointer-cast:generic int * &%2)",
        ],
    );
}

#[test]
fn attributes_and_hints() {
    let source = "__attribute__((reqd_work_group_size(8, 4, 1), vec_type_hint(float4)))
        kernel void k(global int *p) {
            int x __attribute__((aligned(64))) = 1;
            __attribute__((opencl_unroll_hint(3))) while (x) --x;
            #pragma unroll
            for (;;) break;
        }";
    check(
        source,
        "kernel",
        &["kernel @0 k(%0 p: global int *private) -> void required_size(8, 4, 1) vec_type_hint(float4) {"],
    );
    check(source, "%1 x", &["%1 x: private int align 64"]);
    check(source, "while", &["while %1 unroll 3 {", "while true unroll 0 {"]);
}

#[test]
fn layout_by_attributes() {
    let size = |declaration: &str| {
        let source = format!("{declaration} constant ulong size = sizeof(struct s);");
        lines(&source, "global")[0].split(" = ").nth(1).map(|bytes| bytes[..2].to_owned())
    };
    for (declaration, expected) in [
        ("struct s { char c; int i; };", "08"),
        ("struct __attribute__((packed)) s { char c; int i; };", "05"),
        ("struct s { char c; int i __attribute__((packed)); };", "05"),
        ("struct s { char c; int i; } __attribute__((aligned(32)));", "20"),
        ("struct s { char c; char d __attribute__((aligned(4))); };", "08"),
        ("struct s { char c; float3 v; };", "20"),
        ("typedef int wide __attribute__((aligned(16))); struct s { char c; wide w; };", "20"),
        ("typedef int wide __attribute__((aligned(16))); struct s { char c; global wide *p; };", "10"),
        ("struct s { enum __attribute__((packed)) { A, B } e; };", "01"),
    ] {
        assert_eq!(size(declaration).as_deref(), Some(expected), "{declaration}");
    }
}

/// Each call of `barrier` is on its own line; `bad` marks those with a warning.
#[test]
fn divergent_barriers_are_reported() {
    let source = "
        kernel void conditions(global int *o, int n) {
            int lid = get_local_id(0);
            if (lid < 4) barrier(CLK_LOCAL_MEM_FENCE); // bad
            if (n) barrier(CLK_LOCAL_MEM_FENCE);
            if (o[0]) barrier(CLK_LOCAL_MEM_FENCE);
            if (o[lid]) barrier(CLK_LOCAL_MEM_FENCE); // bad
            if (get_group_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
            if (work_group_any(lid)) barrier(CLK_LOCAL_MEM_FENCE);
            switch (lid) { case 1:
                barrier(CLK_LOCAL_MEM_FENCE); // bad
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        kernel void loops(global int *o, int n) {
            int lid = get_local_id(0);
            for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
                if (lid < s) o[lid] += o[lid + s];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            for (int i = lid; i < n; i += 4)
                barrier(CLK_LOCAL_MEM_FENCE); // bad
            while (1) {
                barrier(CLK_LOCAL_MEM_FENCE); // bad
                if (lid == 3) break;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        kernel void returns(global int *o, int n) {
            if (n) return;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_global_id(0) >= 3) return;
            barrier(CLK_LOCAL_MEM_FENCE); // bad
        }
        kernel void variables(global int *o, global atomic_int *a) {
            local int last;
            int k = 0, m = 0, e = 0;
            if (get_local_id(0)) k = 1;
            if (k) barrier(CLK_LOCAL_MEM_FENCE); // bad
            if (m) barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) == 0) last = 1;
            if (last) barrier(CLK_LOCAL_MEM_FENCE);
            int old = atomic_fetch_add(a, 1);
            if (old) barrier(CLK_LOCAL_MEM_FENCE); // bad
            atomic_compare_exchange_strong(a, &e, 2);
            if (e) barrier(CLK_LOCAL_MEM_FENCE); // bad
        }
        void under(int x) { if (x)
            barrier(CLK_LOCAL_MEM_FENCE); // bad
        }
        void always(int x) { barrier(CLK_LOCAL_MEM_FENCE); }
        int lane(void) { return get_local_id(0); }
        kernel void calls(global int *o, int n) {
            under(lane());
            always(lane());
            if (lane()) always(1); // bad
        }";
    let expected: Vec<usize> = source
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains("// bad"))
        .map(|(_, number)| number)
        .collect();
    let reported = front::check(&front::options(), source).reported;
    assert!(reported.iter().all(|(_, what)| what == "warning: [divergent-barrier]"), "{reported:?}");
    let mut found: Vec<usize> = reported.into_iter().map(|(line, _)| line).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}
