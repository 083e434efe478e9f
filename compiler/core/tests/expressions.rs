//! Expressions: accepted ones with their typed trees, and rejected ones with their codes.

mod front;

/// Declarations for the statements of `data/expressions.txt`: objects of every kind, named after their types.
const PROGRAM: &str = "
struct S { int a; float b; }; struct T { int a; }; union U { int i; float f; }; typedef enum { EA, EB = 5 } EN;
int fi(int a) { return a; }
float ff(float x, float y) { return x + y; }
void fv(void) {}
int fp(global int *p) { return *p; }
int fg(int *p) { return *p; }
int fc(const global int *p) { return *p; }
struct S fs(void) { struct S s = {1, 2}; return s; }
kernel void k(global int *gi, global float *gf, constant int *ci, local int *li, const global int *cgi,
              global float4 *gf4, global int4 *gi4, global uchar4 *gc4, int n, float x, uint u, long l, ulong ul,
              global char *gc) {
    struct S s; struct S s2; struct T t; union U un; EN en; int a[4]; int i; char c; short sh; uchar uc; uint4 u4;
    int4 i4; float4 f4; float2 f2; float3 f3; int2 i2; int3 i3; char4 c4; uchar4 uc4; short4 s4; long4 l4; double d;
    double4 d4; bool b; private int *pi; int *ge; void *gv; global void *ggv; size_t sz; float16 f16; int8 i8;
    int16 i16; ulong4 ul4; ushort4 us4; float *gfe; global int *global *ggp; event_t ev;
";

/// `data/expressions.txt`: in each line the code of the first error, or `ok`, and statements; after `@` a program.
#[test]
fn expressions_are_accepted_or_rejected() {
    let mut problems = Vec::new();
    for (number, line) in include_str!("data/expressions.txt").lines().enumerate() {
        let (expected, text) = line.split_once(": ").expect("a code and statements");
        let source = match text.strip_prefix('@') {
            Some(program) => program.to_owned(),
            None => format!("{PROGRAM}{text}\n}}"),
        };
        let reported = front::check(&front::options(), &source).reported;
        let found = reported.iter().find_map(|(_, what)| what.strip_prefix("error: ["));
        let found = found.map_or("ok", |code| code.trim_end_matches(']'));
        if found != expected {
            problems.push(format!("line {}: expected {expected}, found {found}: {text}", number + 1));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The typed tree of the right side of `o[0] = …`.
#[track_caller]
fn value(statement: &str, expected: &str) {
    let source = format!(
        "void f(global int *o, int n, uint u, long l, uchar c, float x, bool b, float4 v, int4 w, global int *p,
                       uchar4 y) {{ {statement} }}"
    );
    let front = front::check(&front::options(), &source);
    assert!(front.reported.iter().all(|(_, what)| !what.starts_with("error")), "{:?}", front.reported);
    let line =
        front.hir.lines().rev().find(|line| line.contains(" = ") || line.contains("update")).unwrap_or("");
    let shown = line.trim();
    let shown = shown.strip_prefix("*(offset:global int * %0 0:long) = ").unwrap_or(shown);
    assert_eq!(shown, expected, "{statement}");
}

#[test]
fn conversions_are_explicit() {
    value("o[0] = c + 1;", "(add:int (convert:int %4) 1:int)");
    value("o[0] = n + u;", "(convert:int (add:uint (convert:uint %1) %2))");
    value("o[0] = n < l;", "(lt:int (convert:long %1) %3)");
    value("o[0] = x;", "(convert:int %5)");
    value("b = n;", "%6 = (convert:bool %1)");
    value("b = p;", "%6 = (convert:bool (ne:int %9 null:global int *))");
    value("v = n;", "%7 = (splat:float4 (convert:float %1))");
    value("w = b;", "%8 = (splat:int4 (neg:int (convert:int %6)))");
    value("w = v < x;", "%8 = (lt:int4 %7 (splat:float4 %5))");
    value("y = (uchar4)(1, 2, n, c);", "%10 = (vector:uchar4 1:uchar 2:uchar (convert:uchar %1) %4)");
}

#[test]
fn constants_are_exact() {
    value("o[0] = 7 / 2 * 2 + (1 << 33);", "8:int");
    value("o[0] = -7 % 3;", "-1:int");
    value("o[0] = 'a' + sizeof(float3);", "113:int");
    value("o[0] = (int)(0.1f * 10) + (0x1p-1f == 0.5f);", "2:int");
    value("o[0] = (char)300 + (uchar)-1;", "299:int");
    value("o[0] = 4294967295u + 1 == 0;", "1:int");
}

#[test]
fn updates_evaluate_their_lvalue_once() {
    value(
        "o[n++] += 2;",
        "(update *(offset:global int * %0 (convert:long (update-old %1 (add:int current 1:int)))) (add:int current 2:int))",
    );
    value("c += 300;", "(update %4 (convert:uchar (add:int (convert:int current) 300:int)))");
    value("p--;", "(update-old %9 (offset:global int * current -1:long))");
    value("v.xy *= x;", "(update %7.s01 (mul:float2 current (splat:float2 %5)))");
    value("y <<= (uchar)1;", "(update %10 (shl:uchar4 current (splat:uchar4 1:uchar)))");
}

#[test]
fn components_of_components_name_the_vector() {
    value("o[0] = v.wzyx.lo.y;", "(convert:int %7.s2)");
    value("v.hi.lo = 1;", "%7.s2 = 1.0:float");
    value("v.even = v.odd;", "%7.s02 = %7.s13");
    value("v[n] = 2;", "%7[(convert:long %1)] = 2.0:float");
}

#[test]
fn orders_and_scopes_are_known_where_they_can_be() {
    let atomic = |arguments: &str, expected: &str| {
        let source = format!(
            "kernel void k(global atomic_int *a, global int *o, memory_order order) {{
                 const memory_scope scope = memory_scope_work_group;
                 o[0] = atomic_load_explicit(a{arguments});
             }}"
        );
        let front = front::check(&front::options(), &source);
        assert!(front.hir.contains(expected), "{arguments}: {}", front.hir);
    };
    atomic(", memory_order_acquire", "memory_order_acquire memory_scope_device)");
    atomic(", memory_order_relaxed, scope", "memory_order_relaxed memory_scope_work_group)");
    atomic(", (memory_order)2", "memory_order_acquire memory_scope_device)");
    atomic(", order", "%2 memory_scope_device)");
}

#[test]
fn blocks_are_functions() {
    let source = "kernel void k(global int *o, int n) {
                      int (^add)(int) = ^(int m) { return m + n; };
                      o[0] = add(3);
                  }";
    let hir = front::check(&front::options(), source).hir;
    assert!(hir.contains("(call @1:int 3:int %"), "{hir}");
    assert!(hir.contains("return (add:int %0 %1)"), "{hir}");
}
