//! Tests of overload resolution, and of the table against clang's overload counts.

use kiln_session::extensions::Extension;
use kiln_syntax::Interner;
use kiln_types::ty::{Scalar, Ty, Types, parse_vector};
use kiln_vocabulary::opencl::{
    AddressSpace::{Constant, Generic, Global, Local, Private},
    LanguageVersion::{Cl12, Cl20, Cl30},
};

use super::*;

/// Names, with the number of overloads in clang 15 with all Khronos extensions, for each version.
const COUNTS: &str = include_str!("../tests/data/builtins.tsv");

fn everything(version: LanguageVersion) -> Context {
    Context { version, extensions: Extensions::all(version) }
}

/// The number of overloads of a name, in the rows for which `counts` is true.
fn overload_count(name: &str, context: &Context, counts: impl Fn(&Row) -> bool) -> usize {
    let mut count = 0;
    for (_, row) in lookup(name, context).iter().flat_map(Set::rows) {
        if counts(row) {
            row.signature.candidates(context, &mut |_| count += 1);
        }
    }
    count
}

#[test]
fn every_row_parses() {
    for name in table::names() {
        let (_, rows) = table::rows(name).unwrap();
        for id in rows {
            assert_eq!(row(id).name, name);
            assert!(!row(id).show_generic().is_empty());
        }
    }
}

#[test]
fn overloads_are_unique() {
    for version in [Cl12, Cl20, Cl30] {
        let context = everything(version);
        for name in table::names() {
            let mut seen = Vec::new();
            for (_, row) in lookup(name, &context).iter().flat_map(Set::rows) {
                row.signature.candidates(&context, &mut |candidate| {
                    assert!(!seen.contains(&candidate.parameters), "{name} in {version:?}: {candidate:?}");
                    seen.push(candidate.parameters);
                });
            }
        }
    }
}

/// The number of overloads of clang 15 that the table does not have. Negative if it has more.
fn missing_overloads(name: &str, version: LanguageVersion) -> isize {
    // clang's header overloads 64-bit operations on the signedness of the operand, so `atomic_fetch_add(p, 1)` with an
    // `atomic_ulong` is ambiguous. Here the operand is converted.
    let forms = if name.ends_with("_explicit") { 2 } else { 1 };
    let mixed = match (name.trim_end_matches("_explicit"), version) {
        ("atomic_fetch_add" | "atomic_fetch_sub", Cl20) => 1,
        ("atomic_fetch_add" | "atomic_fetch_sub", Cl30) => 3,
        ("atomic_fetch_and" | "atomic_fetch_or" | "atomic_fetch_xor" | "atomic_fetch_min", Cl30) => 4,
        ("atomic_fetch_max", Cl30) => 2,
        _ => 0,
    };
    // clang's header declares these for 2.0 and later only, but the extensions are for OpenCL C 1.0.
    let older = match name {
        "bit_reverse" | "bitfield_insert" | "bitfield_extract_signed" | "bitfield_extract_unsigned" => -48,
        "dot" | "dot_acc_sat" => -4,
        _ if name.starts_with("dot_") => -1,
        _ => 0,
    };
    forms * mixed + if version == Cl12 { older } else { 0 }
}

#[test]
fn overload_counts_match_clang() {
    let mut counts: std::collections::BTreeMap<&str, [isize; 3]> = Default::default();
    for line in COUNTS.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let entry = counts.entry(columns[1]).or_default();
        for (total, text) in entry.iter_mut().zip(&columns[2..5]) {
            *total += text.parse::<isize>().unwrap();
        }
    }
    assert_eq!(counts.len(), 1006);
    let mut wrong = Vec::new();
    for (name, expected) in &counts {
        for (expected, version) in expected.iter().zip([Cl12, Cl20, Cl30]) {
            let context = everything(version);
            let count = match rule(name) {
                // From every element type.
                Some(Rule::Convert { .. }) => Scalar::ALL.len() - 1,
                Some(Rule::As { .. }) => 1,
                None => overload_count(name, &context, |row| row.family != Family::Vendor),
            };
            if count as isize + missing_overloads(name, version) != *expected {
                wrong.push(format!("{name} in {version:?}: {count}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The result of a call with these argument types. `!` if it is ambiguous, `-` if there is no match.
fn call(text: &str, version: LanguageVersion) -> String {
    let context = everything(version);
    let (name, rest) = text.split_once('(').unwrap();
    let mut types = Types::new();
    let arguments: Vec<ArgTy> = rest
        .trim_end_matches(')')
        .split(", ")
        .filter(|argument| !argument.is_empty())
        .map(|argument| argument_type(argument, &mut types))
        .collect();
    let set = lookup(name, &context).unwrap_or_else(|| panic!("there is {name}"));
    match resolve(&set, &mut types, &arguments) {
        Ok(overload) => {
            let interner = Interner::new();
            let parameters: Vec<_> =
                overload.parameters.iter().map(|parameter| types.show(*parameter, &interner)).collect();
            format!("{}({})", types.show(overload.result, &interner), parameters.join(", "))
        }
        Err(Failure { kind: FailureKind::Ambiguous, .. }) => "!".into(),
        Err(_) => "-".into(),
    }
}

fn argument_type(text: &str, types: &mut Types) -> ArgTy {
    if text == "0" {
        return ArgTy { ty: TyId::INT, is_zero: true };
    }
    if let Some(packet) = text.strip_prefix("pipe ") {
        let packet = argument_type(packet, types).ty;
        return types.intern(Ty::Pipe(packet, kiln_types::ty::Access::ReadOnly)).into();
    }
    let mut quals = kiln_types::ty::Quals::default();
    let mut base = TyId::INT;
    for word in text.split(' ') {
        match word {
            "global" => quals.space = Some(Global),
            "local" => quals.space = Some(Local),
            "private" => quals.space = Some(Private),
            "constant" => quals.space = Some(Constant),
            "generic" => quals.space = Some(Generic),
            "const" => quals.is_const = true,
            "volatile" => quals.is_volatile = true,
            "*" => base = types.pointer(QualTy { ty: base, quals }),
            "wo" => {}
            "void" => base = TyId::VOID,
            _ => {
                base = match parse_vector(word) {
                    Some((element, count)) => types.vector(element, count),
                    None => types.predeclared(word).map_or_else(|| panic!("no type {word}"), |it| it.ty),
                };
            }
        }
    }
    if let (true, Ty::Image(image)) = (text.starts_with("wo "), types.get(base).clone()) {
        base = types.intern(Ty::Image(kiln_types::ty::ImageTy {
            access: kiln_types::ty::Access::WriteOnly,
            ..image
        }));
    }
    base.into()
}

/// The results of clang 15 for the same calls, with `-cl-std=CL2.0`.
#[test]
fn calls_resolve_as_in_clang() {
    for (text, expected) in [
        ("pow(float, int)", "float(float, float)"),
        ("pow(float, double)", "!"),
        ("pow(float4, float)", "float4(float4, float4)"),
        ("sin(int)", "!"),
        ("sqrt(uint)", "!"),
        ("sin(double)", "double(double)"),
        ("max(float, int)", "!"),
        ("max(uint, int)", "!"),
        ("max(uchar, int)", "!"),
        ("min(uchar, uchar)", "uchar(uchar, uchar)"),
        ("max(int4, int)", "int4(int4, int)"),
        ("max(int4, float)", "int4(int4, int)"),
        ("max(float4, int)", "float4(float4, float)"),
        ("clamp(float4, int, int)", "float4(float4, float, float)"),
        ("clamp(float, int, int)", "!"),
        ("clamp(float4, double, double)", "float4(float4, float, float)"),
        ("mix(float4, float4, double)", "float4(float4, float4, float)"),
        ("mix(float, float, double)", "!"),
        ("fmax(float, int)", "float(float, float)"),
        ("fma(float4, float4, float)", "float4(float4, float4, float4)"),
        ("select(float4, float4, int4)", "float4(float4, float4, int4)"),
        ("select(int4, int4, uint4)", "int4(int4, int4, uint4)"),
        ("select(float4, float4, short4)", "-"),
        ("native_sin(double)", "float(float)"),
        ("ldexp(float, uint)", "float(float, int)"),
        ("abs(long)", "ulong(long)"),
        ("shuffle(int4, int4)", "-"),
        ("shuffle(int4, uint4)", "int4(int4, uint4)"),
        ("shuffle(int4, uint2)", "int2(int4, uint2)"),
        ("any(int4)", "int(int4)"),
        ("all(uint4)", "-"),
        ("rotate(uint, int)", "!"),
        ("get_global_id(uchar)", "ulong(uint)"),
        ("isless(float, int)", "int(float, float)"),
        ("upsample(short, ushort)", "int(short, ushort)"),
        ("dot(float4, float)", "float(float4, float4)"),
        ("mul24(uchar, uchar)", "int(int, int)"),
        ("vload4(int, global const float *)", "float4(ulong, global const float *)"),
        ("vload4(int, constant float *)", "float4(ulong, constant const float *)"),
        ("vload4(int, global int *)", "int4(ulong, global const int *)"),
        ("vstore4(float4, int, global float *)", "void(float4, ulong, global float *)"),
        ("vstore4(int4, int, global float *)", "void(int4, ulong, global int *)"),
        ("vload_half4(int, global half *)", "float4(ulong, global const half *)"),
        ("fract(float, local float *)", "float(float, local float *)"),
        ("frexp(float, private int *)", "float(float, private int *)"),
        ("frexp(float, constant int *)", "-"),
        ("atomic_add(volatile global int *, uint)", "int(global volatile int *, int)"),
        ("atomic_add(global uint *, int)", "uint(global volatile uint *, uint)"),
        ("atomic_add(volatile local float *, int)", "int(local volatile int *, int)"),
        ("atomic_xchg(local float *, int)", "float(local volatile float *, float)"),
        ("atomic_add(private int *, int)", "-"),
        ("atomic_fetch_add(global atomic_int *, uint)", "int(global volatile atomic_int *, int)"),
        ("atomic_fetch_add(global atomic_ulong *, int)", "ulong(global volatile atomic_ulong *, ulong)"),
        (
            "atomic_compare_exchange_strong(global atomic_int *, private int *, int)",
            "bool(global volatile atomic_int *, private int *, int)",
        ),
        ("atomic_load(constant atomic_int *)", "-"),
        ("atomic_load(global const atomic_int *)", "int(global volatile atomic_int *)"),
        ("get_fence(global void *)", "uint(global void *)"),
        ("get_fence(global const int *)", "uint(global const void *)"),
        ("async_work_group_copy(local int *, global float *, int, 0)", "!"),
        (
            "atomic_store_explicit(local atomic_uint *, int, memory_order)",
            "void(local volatile atomic_uint *, uint, memory_order)",
        ),
        (
            "async_work_group_copy(local int *, global int *, int, 0)",
            "event_t(local int *, global const int *, ulong, event_t)",
        ),
        ("async_work_group_copy(local int *, local int *, int, 0)", "-"),
        ("read_imagef(image2d_t, sampler_t, int2)", "float4(read_only image2d_t, sampler_t, int2)"),
        ("read_imagef(image2d_t, sampler_t, float2)", "float4(read_only image2d_t, sampler_t, float2)"),
        ("read_imagef(image2d_t, int2)", "float4(read_only image2d_t, int2)"),
        ("read_imagef(wo image2d_t, int2)", "-"),
        ("get_image_width(wo image2d_t)", "int(write_only image2d_t)"),
        ("barrier(int)", "void(uint)"),
        ("barrier()", "-"),
        ("printf(constant char *, int, float4)", "int(constant const char *)"),
        ("work_group_reduce_add(short)", "int(int)"),
        ("to_global(generic int *)", "global int *(generic const volatile int *)"),
        ("to_local(local const float4 *)", "local const float4 *(local const volatile float4 *)"),
        ("to_private(constant int *)", "-"),
        ("read_pipe(pipe int, private int *)", "int(read_only pipe int, private int *)"),
        ("read_pipe(pipe int, private float *)", "-"),
        ("write_pipe(pipe int, private int *)", "-"),
        ("get_pipe_num_packets(pipe float4)", "uint(read_only pipe float4)"),
    ] {
        assert_eq!(call(text, Cl20), expected, "{text}");
    }
}

#[test]
fn named_spaces_replace_generic_if_unavailable() {
    assert_eq!(call("fract(float, local float *)", Cl12), "float(float, local float *)");
    assert_eq!(call("atomic_load(global atomic_int *)", Cl30), "int(global volatile atomic_int *)");
    assert_eq!(
        call("atomic_compare_exchange_weak(generic atomic_int *, private int *, int)", Cl30),
        "bool(generic volatile atomic_int *, private int *, int)"
    );
}

#[test]
fn failures_contain_the_reason() {
    let context = everything(Cl20);
    let mut types = Types::new();
    let mut fail = |name: &str, arguments: &[TyId]| {
        let arguments: Vec<ArgTy> = arguments.iter().map(|ty| (*ty).into()).collect();
        resolve(&lookup(name, &context).unwrap(), &mut types, &arguments).unwrap_err()
    };
    let failure = fail("sin", &[TyId::FLOAT, TyId::FLOAT]);
    assert_eq!(failure.kind, FailureKind::Count(vec![1]));
    assert_eq!(failure.candidates, ["gentype sin(gentype)"]);
    let failure = fail("pow", &[TyId::FLOAT, TyId::VOID]);
    assert_eq!(failure.kind, FailureKind::Argument(1));
    let failure = fail("sin", &[TyId::INT]);
    assert_eq!(failure.kind, FailureKind::Ambiguous);
    assert_eq!(failure.candidates, ["half sin(half)", "float sin(float)", "double sin(double)"]);
    let failure = fail("clamp", &[TyId::INT]);
    assert!(failure.candidates.contains(&"gentype clamp(gentype, sgentype, sgentype)".to_owned()));
    assert_eq!(fail("sin", &[TyId::ERROR]).kind, FailureKind::Reported);
}

#[test]
fn missing_requirements_of_names() {
    let none = |version| Context { version, extensions: kiln_session::extensions::Extensions::NONE };
    let needs = |name: &str, version| needs(name, &none(version)).unwrap_or_default().join(" and ");
    assert_eq!(needs("sub_group_reduce_add", Cl20), "cl_khr_subgroups");
    assert_eq!(needs("work_group_barrier", Cl12), "OpenCL C 2.0");
    assert_eq!(needs("atom_add", Cl12), "cl_khr_global_int32_base_atomics");
    assert_eq!(needs("convert_double4_rte", Cl12), "cl_khr_fp64");
    assert_eq!(needs("sin", Cl12), "");
    assert_eq!(needs("no_such_function", Cl12), "");
    assert!(lookup("work_group_barrier", &none(Cl12)).is_none());
    let mut context = none(Cl30);
    assert!(lookup("vload_half", &context).is_some(), "half in memory needs nothing");
    // OpenCL C 6.15.12.7.2: with order and scope, named address spaces need no feature. For int, uint and float.
    assert_eq!(overloads("atomic_load_explicit", &context), 6);
    assert_eq!(overloads("atomic_load", &context), 0);
    assert_eq!(
        super::needs("atomic_load", &context).unwrap(),
        ["__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device"]
    );
    context.extensions.insert(Extension::ScopeDevice);
    context.extensions.insert(Extension::GenericAddressSpace);
    assert_eq!(overloads("atomic_load_explicit", &context), 18);
}

fn overloads(name: &str, context: &Context) -> usize {
    overload_count(name, context, |_| true)
}
