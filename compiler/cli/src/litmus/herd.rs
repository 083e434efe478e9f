//! Litmus tests in herd's formats for OpenCL and C11, as kernels with a launch.
//!
//! ```text
//! OPENCL MP
//! { [x]=0; [y]=0; }
//! P0@wg 0, dev 0 (global atomic_int* x, global int* y) { … }
//! P1@wg 1, dev 0 (global atomic_int* x, global int* y) { int r0 = …; }
//! exists (1:r0=1 /\ y=0)
//! ```
//!
//! Each process is a work-item, and its variables are elements of the buffer `registers`, which outcomes name `1:r0`. A barrier
//! of a work-group is one barrier in the kernel. Instead of `@wg 0, dev 0`, a `scopeTree` after the processes can list the
//! work-groups. Without either, as in C11, each process has its own work-group.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use kiln_memory_model::{scope, text::Condition};

use super::claim::Claim;
use crate::exit::{Failure, failure};

/// Functions of C11 and of older tests.
const FUNCTIONS: [(&str, &str); 2] = [
    (
        "atomic_thread_fence",
        "(order) atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, order, memory_scope_device)",
    ),
    ("fence", " atomic_work_item_fence"),
];

/// A test as a kernel.
pub(super) struct Kernel {
    /// The source, with the launch in the leading comment.
    pub(super) source: String,
    pub(super) test: Test,
}

/// The parts of a test that a kernel with a launch cannot express.
#[derive(Default)]
pub(super) struct Test {
    /// The names of the elements of the kernel's last parameter.
    pub(super) registers: Vec<String>,
    /// The condition.
    pub(super) claim: Option<Claim>,
    /// The device of each work-group; empty if there is one.
    pub(super) devices: Vec<u32>,
    /// If several work-groups use a local object: the scope of the operations on it. A name in a test denotes one
    /// object, so these work-groups share it.
    pub(super) shared_local: Option<u32>,
}

/// A process.
struct Process {
    /// The device and the number of its work-group.
    group: (u32, u32),
    parameters: String,
    body: String,
}

impl Process {
    /// The names of the parameters, with their declarations.
    fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.parameters.split(',').map(str::trim);
        let named = all.map(|it| (it.rsplit(|c: char| !is_word(c)).next().unwrap_or_default(), it));
        named.filter(|(name, _)| !name.is_empty())
    }
}

/// The names of the parameters in conditions: `0:x`.
fn addresses(processes: &[Process]) -> BTreeSet<String> {
    let all = processes.iter().enumerate();
    all.flat_map(|(number, process)| process.named().map(move |(name, _)| format!("{number}:{name}")))
        .collect()
}

/// The parameters of a kernel: from names to address spaces.
type Parameters = BTreeMap<String, &'static str>;

/// Whether a source is a test in one of herd's formats.
pub(super) fn is_test(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|word| word == "C" || word.eq_ignore_ascii_case("opencl"))
}

/// The kernel of a test.
pub(super) fn kernel(text: &str) -> Result<Kernel, Failure> {
    let text = without_comments(text);
    let wrong = |what: &str| Failure(format!("the litmus test has no {what}"));
    let (_, rest) = text.split_once('{').ok_or_else(|| wrong("initial state"))?;
    let end = closing_brace(rest).ok_or_else(|| wrong("initial state"))?;
    let (initial, rest) = (&rest[..end], &rest[end + 1..]);
    let processes = processes(rest)?;
    let initial = initial_values(initial);
    let mut parameters = Parameters::new();
    for (name, parameter) in processes.iter().flat_map(Process::named) {
        let space = if parameter.contains("local ") { "local" } else { "global" };
        parameters.insert(name.to_owned(), space);
    }
    let mut groups: Vec<(u32, u32)> = processes.iter().map(|process| process.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let members = |group: (u32, u32)| processes.iter().filter(move |process| process.group == group).count();
    let size = groups.iter().map(|group| members(*group)).max().unwrap_or(1);
    let (code, registers) = body(&processes, &groups, &parameters)?;
    let mut kernel = format!("// kiln run --global {} --local {size}", size * groups.len());
    for (name, space) in &parameters {
        let _ = match *space {
            "local" => write!(kernel, " --arg local:4"),
            _ => match initial.get(name) {
                Some(Initial { values, length }) if *length > 1 => {
                    let values: Vec<String> = values.iter().map(i64::to_string).collect();
                    write!(kernel, " --arg buf:int[{length}]={{{}}}", values.join(","))
                }
                one => {
                    let value = one.and_then(|it| it.values.first()).copied().unwrap_or(0);
                    write!(kernel, " --arg buf:int[1]={value}")
                }
            },
        };
    }
    let _ = writeln!(kernel, " --arg buf:int[{}]=0", registers.len().max(1));
    let declared: Vec<String> =
        parameters.iter().map(|(name, space)| format!("{space} int *{name}")).collect();
    let used = words(&code);
    for (name, definition) in FUNCTIONS.iter().filter(|(name, _)| used.contains(name)) {
        let _ = writeln!(kernel, "#define {name}{definition}");
    }
    let _ = writeln!(kernel, "kernel void litmus({}, global int *registers) {{", declared.join(", "));
    kernel.push_str(&code);
    kernel.push_str("}\n");
    let users = |name: &str| {
        let uses = |process: &&Process| words(&process.parameters).contains(&name);
        let mut users: Vec<_> = processes.iter().filter(uses).map(|process| process.group).collect();
        users.dedup();
        users.len()
    };
    let is_shared = |(name, space): (&String, &&str)| *space == "local" && users(name) > 1;
    let mut devices: Vec<u32> = groups.iter().map(|group| group.0).collect();
    devices = if devices.iter().all(|it| *it == devices[0]) { Vec::new() } else { devices };
    // The compiler narrows the scope of operations on local objects, because only their work-group reaches them, so the
    // scope comes from the test. The default is the device scope.
    let has_group_scope = text.contains("memory_scope_work_group");
    let shared = if has_group_scope { scope::WORKGROUP } else { scope::DEVICE };
    let shared_local = parameters.iter().any(is_shared).then_some(shared);
    let claim = Condition::parse(&text).map(|condition| {
        let initial = initial.iter().filter(|(_, it)| it.length == 1);
        let initial = initial.filter_map(|(name, it)| Some((name.clone(), *it.values.first()?))).collect();
        Claim { condition, initial, addresses: addresses(&processes) }
    });
    Ok(Kernel { source: kernel, test: Test { registers, claim, devices, shared_local } })
}

/// The position of the brace that closes the block whose contents start this text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.find(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text without `(* … *)` and `// …`. White space follows the start of a comment: `(*p)` is an expression.
fn without_comments(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("(*") {
        result.push_str(before);
        if inside.starts_with(char::is_whitespace) {
            rest = inside.split_once("*)").map_or("", |(_, after)| after);
        } else {
            result.push_str("(*");
            rest = inside;
        }
    }
    result.push_str(rest);
    result.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The initial values of an object, and its number of elements.
struct Initial {
    values: Vec<i64>,
    length: usize,
}

/// `[x] = 1; y = 2; atomic_int z[2] = {0, 0};`
fn initial_values(text: &str) -> BTreeMap<String, Initial> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if let Some(list) = value.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            let (name, length) = name.rsplit(' ').next()?.split_once('[')?;
            let values: Option<Vec<i64>> = list.split(',').map(|it| it.trim().parse().ok()).collect();
            return Some((
                name.to_owned(),
                Initial { values: values?, length: length.trim_end_matches(']').parse().ok()? },
            ));
        }
        let name = name.trim_matches(|c| c == '[' || c == ']');
        let values = vec![value.parse().ok()?];
        Some((name.rsplit(' ').next()?.to_owned(), Initial { values, length: 1 }))
    };
    text.split(';').filter_map(pair).collect()
}

/// `P0@wg 0, dev 0 (…) { … }` or `P0 (…) { … }`, and then the work-groups:
/// `scopeTree (device (work_group P0 P1) (work_group P2))`.
fn processes(mut rest: &str) -> Result<Vec<Process>, Failure> {
    let mut processes = Vec::new();
    loop {
        rest = rest.trim_start();
        let after = rest.strip_prefix('P').map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
        let Some(after) = after.filter(|it| it.trim_start().starts_with(['@', '('])) else { break };
        let parts = after.split_once('(').and_then(|(scope, rest)| {
            let (parameters, rest) = rest.split_once(')')?;
            Some((scope, parameters, rest.trim_start().strip_prefix('{')?))
        });
        let Some((scope, parameters, inside)) = parts else {
            return failure("a process of the litmus test has no parameters or no body");
        };
        let number = |word: &str| -> u32 {
            let digits = scope.split_once(word).map_or("", |(_, rest)| rest.trim_start());
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse().unwrap_or(0)
        };
        let Some(end) = closing_brace(inside) else {
            return failure("a process of the litmus test has no end");
        };
        let has_group = scope.trim_start().starts_with('@');
        let process = Process {
            group: if has_group { (number("dev"), number("wg")) } else { (0, processes.len() as u32) },
            parameters: parameters.to_owned(),
            body: inside[..end].to_owned(),
        };
        processes.push(process);
        rest = &inside[end + 1..];
    }
    if let Some((_, tree)) = rest.split_once("scopeTree") {
        set_groups(&mut processes, tree);
    }
    if processes.is_empty() {
        failure("the litmus test has no process, such as `P0@wg 0, dev 0 (…) { … }` or `P0 (…) { … }`")
    } else {
        Ok(processes)
    }
}

/// Sets the work-groups to those of a scope tree.
fn set_groups(processes: &mut [Process], tree: &str) {
    let (mut device, mut group) = (0, 0);
    for word in words(tree) {
        match word {
            "device" => device += 1,
            "work_group" => group += 1,
            "exists" | "forall" => return,
            _ => {
                let number = word.strip_prefix('P').and_then(|it| it.parse::<usize>().ok());
                if let Some(process) = number.and_then(|it| processes.get_mut(it)) {
                    process.group = (device, group);
                }
            }
        }
    }
}

/// The kernel's body: the statements of all processes, divided by their barriers; and the names of the registers.
fn body(
    processes: &[Process],
    groups: &[(u32, u32)],
    parameters: &Parameters,
) -> Result<(String, Vec<String>), Failure> {
    let mut code = String::new();
    let mut registers = Vec::new();
    let split: Vec<Vec<String>> = processes.iter().map(|process| segments(&process.body)).collect();
    for (number, segments) in split.iter().enumerate() {
        for name in segments.iter().flat_map(|segment| declared(segment)) {
            if !registers.contains(&(number, name.clone())) {
                registers.push((number, name));
            }
        }
    }
    for (index, (number, name)) in registers.iter().enumerate() {
        let _ = writeln!(code, "int p{number}_{name} = 0; // registers[{index}]");
    }
    let group = |number: usize| groups.iter().position(|it| *it == processes[number].group).unwrap_or(0);
    let condition = |number: usize| {
        let rank = processes[..number].iter().filter(|it| it.group == processes[number].group).count();
        format!("if (get_group_id(0) == {} && get_local_id(0) == {rank})", group(number))
    };
    let max = split.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..max {
        let mut barriers: BTreeMap<usize, &str> = BTreeMap::new();
        for (number, segments) in split.iter().enumerate() {
            let Some(segment) = segments.get(at) else { continue };
            if at % 2 == 0 {
                let renamed = rename_variables(segment, number, &registers, parameters);
                let _ = writeln!(code, "{} {{ {renamed} }}", condition(number));
            } else if *barriers.entry(group(number)).or_insert(segment) != segment {
                return failure("the work-items of a group in the litmus test have different barriers");
            }
        }
        for (group, barrier) in barriers {
            let _ = writeln!(code, "if (get_group_id(0) == {group}) {barrier};");
        }
    }
    for (index, (number, name)) in registers.iter().enumerate() {
        let _ = writeln!(code, "{} registers[{index}] = p{number}_{name};", condition(*number));
    }
    Ok((code, registers.into_iter().map(|(number, name)| format!("{number}:{name}")).collect()))
}

/// The statements between barriers, and the barriers without their labels, alternately.
fn segments(body: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    for statement in body.split_inclusive(';') {
        let text = statement.trim();
        let call = text.rsplit_once(':').map_or(text, |(_, call)| call.trim()).trim_end_matches(';');
        if call.starts_with("barrier") || call.starts_with("work_group_barrier") {
            segments.push(call.to_owned());
            segments.push(String::new());
        } else if let Some(last) = segments.last_mut() {
            last.push_str(statement);
        }
    }
    segments
}

/// Divides a text into words and the text between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

fn is_type(word: &str) -> bool {
    ["int", "uint"].contains(&word)
}

/// The variables that a text declares.
fn declared(text: &str) -> Vec<String> {
    let words = words(text);
    let is_declared = |three: &&[&str]| is_type(three[0]) && three[1].trim().is_empty();
    words.windows(3).filter(is_declared).map(|three| three[2].to_owned()).collect()
}

/// The text with the variables of a process renamed, and with casts of the objects of atomic operations to an atomic type.
fn rename_variables(
    text: &str,
    number: usize,
    registers: &[(usize, String)],
    parameters: &Parameters,
) -> String {
    let mut result = String::new();
    let mut previous = "";
    let mut is_argument = false;
    let mut skips_space = false;
    for word in words(text) {
        let is_register = registers.iter().any(|(owner, name)| *owner == number && name == word);
        if is_type(word) {
            skips_space = true;
        } else if is_register {
            let _ = write!(result, "p{number}_{word}");
        } else if let Some(space) = parameters.get(word).filter(|_| is_argument) {
            let _ = write!(result, "(volatile {space} atomic_int *){word}");
        } else if !(skips_space && word.trim().is_empty()) {
            result.push_str(word);
        }
        skips_space &= is_type(word);
        is_argument = previous.starts_with("atomic_") && word.trim() == "(";
        previous = word;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_becomes_a_kernel() {
        let text = "OPENCL MP (* a comment *)\n{ [x]=0; [y]=2; }\n\
            P0@wg 0, dev 0 (global int* x, local atomic_int* y) { *x = 1; B1: barrier(CLK_LOCAL_MEM_FENCE); }\n\
            P1@wg 0, dev 0 (global int* x, local atomic_int* y) { B1: barrier(CLK_LOCAL_MEM_FENCE);\n\
            int r0 = atomic_load_explicit(y, memory_order_acquire); // read\n if (r0) { r0 = (*x); } }\nexists (1:r0=1)\n";
        assert!(is_test(text));
        let Kernel { source: kernel, test } = kernel(text).unwrap_or_else(|failure| panic!("{}", failure.0));
        let claim = test.claim.expect("a condition");
        assert_eq!((test.registers, claim.condition.numbers()), (vec!["1:r0".to_owned()], vec![1]));
        assert_eq!(claim.initial["y"], 2);
        assert!(claim.addresses.iter().eq(["0:x", "0:y", "1:x", "1:y"]), "{:?}", claim.addresses);
        assert!(test.devices.is_empty() && test.shared_local.is_none());
        for part in [
            "// kiln run --global 2 --local 2 --arg buf:int[1]=0 --arg local:4 --arg buf:int[1]=0\n",
            "kernel void litmus(global int *x, local int *y, global int *registers) {\n",
            "if (get_group_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);\n",
            "p1_r0 = atomic_load_explicit((volatile local atomic_int *)y, memory_order_acquire)",
            "if (p1_r0) { p1_r0 = (*x); }",
            "if (get_group_id(0) == 0 && get_local_id(0) == 1) registers[0] = p1_r0;\n",
        ] {
            assert!(kernel.contains(part), "{part}\n{kernel}");
        }
    }

    #[test]
    fn tests_can_have_arrays_several_devices_and_shared_local_objects() {
        let text = "OPENCL a\n{ atomic_int x[2] = {3, 4}; [y]=0; }\n\
            P0@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) { int r = 0; }\n\
            P1@wg 0, dev 1 (global atomic_int* x, local atomic_int* y) { int r = 0; }\nexists (x=1)\n";
        let Kernel { source, test } = kernel(text).unwrap_or_else(|failure| panic!("{}", failure.0));
        assert!(source.contains("--global 2 --local 1 --arg buf:int[2]={3,4} --arg local:4"), "{source}");
        assert_eq!((test.devices, test.shared_local), (vec![0, 1], Some(scope::DEVICE)));
    }

    #[test]
    fn a_scope_tree_assigns_processes_to_groups() {
        let processes = "{ [x]=0; }\nP0 (atomic_int* x) { atomic_thread_fence(memory_order_release); }\n\
            P1 (volatile int *x) { int r = *x; }\nP2 (__global int* x) { *x = 1; }\n";
        for (tree, launch) in [
            ("", "--global 3 --local 1 "),
            ("scopeTree\n(device (work_group P2 P0) (work_group P1))\n", "--global 4 --local 2 "),
        ] {
            let text = format!("C a\n{processes}{tree}exists (x=1)\n");
            let Kernel { source, test } = kernel(&text).unwrap_or_else(|failure| panic!("{}", failure.0));
            assert!(source.contains(launch), "{source}");
            assert!(source.contains("#define atomic_thread_fence(order) "), "{source}");
            assert!(!source.contains("#define fence"), "{source}");
            assert!(test.devices.is_empty() && is_test(&text));
        }
        let tree = "scopeTree (device (work_group P0)) (device (work_group P1 P2)) exists (x=1)";
        let Kernel { test, .. } =
            kernel(&format!("OpenCL a {processes} {tree}")).unwrap_or_else(|failure| panic!("{}", failure.0));
        assert_eq!(test.devices, [1, 2]);
    }

    #[test]
    fn invalid_tests_are_errors() {
        for text in ["OPENCL a", "OPENCL a {} exists", "OPENCL a {} P0@wg 0 () {"] {
            assert!(kernel(text).is_err(), "{text}");
        }
        assert!(!is_test("kernel void k() {}"));
    }
}
