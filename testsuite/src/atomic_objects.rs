//! Kernels with one atomic operation each: every operation, on an object of every type, in every container. Each kernel
//! checks its result.

/// The type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    /// The type of the value; `flag` for `atomic_flag`.
    pub name: &'static str,
    /// Whether functions of OpenCL C 1.x access it.
    pub is_legacy: bool,
}

impl Ty {
    /// All types: of OpenCL C 2.0, and of OpenCL C 1.x.
    pub fn all() -> Vec<Self> {
        let new = [
            "int",
            "uint",
            "long",
            "ulong",
            "float",
            "double",
            "half",
            "size_t",
            "intptr_t",
            "uintptr_t",
            "ptrdiff_t",
            "flag",
        ];
        let old = ["int", "uint", "long", "ulong", "float"];
        let new = new.map(|name| Self { name, is_legacy: false });
        let old = old.map(|name| Self { name, is_legacy: true });
        [&new[..], &old].concat()
    }

    /// The type of the object.
    pub fn object(self) -> String {
        if self.is_legacy { self.name.to_owned() } else { format!("atomic_{}", self.name) }
    }

    fn is_float(self) -> bool {
        matches!(self.name, "float" | "double" | "half")
    }
}

/// The container of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// None: the object is not a part of another one.
    Alone,
    /// In a structure, with members of other types.
    Struct,
    /// In an array, with an index known at run time.
    Array,
    /// In a union with integers.
    Union,
    /// A generic pointer points to it.
    Generic,
}

impl Container {
    /// All containers, with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Alone, "alone"),
        (Self::Struct, "in a struct"),
        (Self::Array, "in an array"),
        (Self::Union, "in a union"),
        (Self::Generic, "through a generic pointer"),
    ];
}

/// A source with a kernel for each operation, each on one line. A kernel `k(global int *out, int at, global OBJECT *g)` writes
/// 1 to `out[0]` if all of its results are correct; `at` must be 2, and `g` has 256 bytes.
#[derive(Clone, Debug)]
pub struct Source {
    head: String,
    /// The name of the operation and its kernel.
    pub kernels: Vec<(String, String)>,
}

impl Source {
    /// The source with the selected kernels, and their lines.
    pub fn text(&self, is_wanted: impl Fn(usize) -> bool) -> (String, Vec<(usize, usize)>) {
        let mut text = self.head.clone();
        let mut lines = Vec::new();
        for (number, (_, kernel)) in self.kernels.iter().enumerate().filter(|(number, _)| is_wanted(*number))
        {
            lines.push((number, text.lines().count() + 1));
            text += kernel;
            text.push('\n');
        }
        (text, lines)
    }

    /// The kernels for objects of a type in a container, in local or in global memory.
    pub fn new(ty: Ty, container: Container, is_local: bool) -> Self {
        let object = ty.object();
        let mut head = String::from(
            "#ifdef cl_khr_int64_base_atomics\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n\
             #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n#endif\n\
             #ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#endif\n",
        );
        let other = if ty.is_float() || ty.name.ends_with("long") { "int" } else { "float" };
        head += &match container {
            Container::Struct => {
                format!("typedef struct {{ uchar before; {object} a; {other} after; }} D;\n")
            }
            Container::Union => format!("typedef union {{ {object} a; uint words[2]; }} D;\n"),
            _ => format!("typedef {object} D;\n"),
        };
        let (member, count) = match container {
            Container::Struct | Container::Union => (".a", ""),
            Container::Array => ("[at]", "[4]"),
            _ => ("", ""),
        };
        let base = match (is_local, container) {
            (_, Container::Generic) => "(*p)",
            (true, _) => "o",
            (false, Container::Array) => "g",
            (false, _) => "(*g)",
        };
        let local = match (is_local, container) {
            (_, Container::Generic) => "local D o; D *p = at & 1 ? (D *)&o : (D *)g; ".to_owned(),
            (true, _) => format!("local D o{count}; "),
            (false, _) => String::new(),
        };
        let (before, after) = match container {
            Container::Struct => (
                format!("{base}.before = 5; {base}.after = 7; "),
                format!("ok = ok && {base}.before == 5 && {base}.after == 7; "),
            ),
            Container::Union => (String::new(), format!("out[1] = {base}.words[0]; ")),
            _ => (String::new(), String::new()),
        };
        let pointer = format!("&{base}{member}");
        let kernels = operations(ty, &pointer, container == Container::Generic).into_iter().map(|(name, body)| {
            let kernel = format!(
                "kernel void k_{name}(global int *out, int at, global D *g) {{ {local}int ok = 1; {before}{body} \
                 {after}out[0] = ok; }}"
            );
            (name, kernel)
        });
        Self { head, kernels: kernels.collect() }
    }
}

/// The operations on an object of a type, with their statements.
fn operations(ty: Ty, p: &str, is_generic: bool) -> Vec<(String, String)> {
    match ty {
        Ty { name: "flag", .. } => flag(p),
        // These functions have no generic forms.
        Ty { is_legacy: true, .. } if is_generic => Vec::new(),
        Ty { is_legacy: true, .. } => legacy(ty, p),
        _ => modern(ty, p),
    }
}

/// The order and the scope of all operations.
const ORDER_AND_SCOPE: &str = "memory_order_relaxed, memory_scope_device";

fn flag(p: &str) -> Vec<(String, String)> {
    let (clear, set) = (
        format!("atomic_flag_clear_explicit({p}, {ORDER_AND_SCOPE});"),
        format!("atomic_flag_test_and_set_explicit({p}, {ORDER_AND_SCOPE})"),
    );
    vec![
        ("flag_test_and_set".to_owned(), format!("{clear} ok = !{set}; ok = ok && {set};")),
        ("flag_clear".to_owned(), format!("{clear} ok = !{set}; {clear} ok = ok && !{set};")),
    ]
}

fn modern(ty: Ty, p: &str) -> Vec<(String, String)> {
    let t = ty.name;
    // There is no `atomic_init` for `half`.
    let initialize = match t {
        "half" => format!("atomic_store_explicit({p}, (half)6, {ORDER_AND_SCOPE});"),
        _ => format!("atomic_init({p}, ({t})6);"),
    };
    let load = format!("atomic_load_explicit({p}, {ORDER_AND_SCOPE})");
    let exchange = |strength: &str, new: u32| {
        format!(
            "atomic_compare_exchange_{strength}_explicit({p}, &e, ({t}){new}, memory_order_relaxed, {ORDER_AND_SCOPE})"
        )
    };
    let mut all = vec![
        ("init", String::new(), 6),
        ("store", format!("atomic_store_explicit({p}, ({t})3, {ORDER_AND_SCOPE});"), 3),
        ("load", format!("ok = {load} == 6;"), 6),
        ("exchange", format!("ok = atomic_exchange_explicit({p}, ({t})3, {ORDER_AND_SCOPE}) == 6;"), 3),
        (
            "compare_exchange_strong",
            format!(
                "{t} e = 6; ok = {}; e = 5; ok = ok && !{} && e == 3;",
                exchange("strong", 3),
                exchange("strong", 9)
            ),
            3,
        ),
        ("compare_exchange_weak", format!("{t} e = 6; while (!{}) {{}}", exchange("weak", 3)), 3),
    ];
    let fetches = [
        ("fetch_add", 3, 9),
        ("fetch_sub", 3, 3),
        ("fetch_min", 3, 3),
        ("fetch_max", 9, 9),
        ("fetch_or", 9, 15),
        ("fetch_xor", 3, 5),
        ("fetch_and", 3, 2),
    ];
    for (name, operand, result) in fetches {
        // Floats have no bitwise operations.
        if !ty.is_float() || !matches!(name, "fetch_or" | "fetch_xor" | "fetch_and") {
            all.push((
                name,
                format!("ok = atomic_{name}_explicit({p}, ({t}){operand}, {ORDER_AND_SCOPE}) == 6;"),
                result,
            ));
        }
    }
    // `half` is neither initialized nor compared (cl_ext_float_atomics).
    all.retain(|(name, ..)| t != "half" || *name != "init" && !name.starts_with("compare"));
    let end = |(name, body, result): (&str, String, u32)| {
        (name.to_owned(), format!("{initialize} {body} ok = ok && {load} == {result};"))
    };
    all.into_iter().map(end).collect()
}

fn legacy(ty: Ty, p: &str) -> Vec<(String, String)> {
    let prefix = if ty.name.ends_with("long") { "atom" } else { "atomic" };
    let all = [
        ("add", ", 3", 9),
        ("sub", ", 3", 3),
        ("xchg", ", 3", 3),
        ("inc", "", 7),
        ("dec", "", 5),
        ("cmpxchg", ", 6, 3", 3),
        ("min", ", 3", 3),
        ("max", ", 9", 9),
        ("and", ", 3", 2),
        ("or", ", 9", 15),
        ("xor", ", 3", 5),
    ];
    let all = all.into_iter().filter(|(name, ..)| !ty.is_float() || *name == "xchg");
    let kernel = |(name, operands, result): (&str, &str, u32)| {
        let body =
            format!("*{p} = 6; ok = {prefix}_{name}({p}{operands}) == 6; ok = ok && *{p} == {result};");
        (format!("{prefix}_{name}"), body)
    };
    all.map(kernel).collect()
}
