//! The sources of a stress run: a kernel that runs many instances of the user's launch, and one that counts outcomes.
//!
//! The user's source is compiled unchanged: macros replace the functions that return ids, and a kernel calls the user's
//! kernel with pointers to the memory of an instance. This call is not in a loop, and no store or memory order
//! surrounds it, so the compiler has no more reason to strengthen the test's operations than in the module that was
//! explored.

use std::fmt::Write as _;

use kiln_compiler::interface::{Kernel, ParameterKind};
use kiln_memory_model::{Argument, Launch};

use super::Part;

/// Whether the memory of an argument is constant.
fn is_constant(kind: &ParameterKind) -> bool {
    matches!(kind, ParameterKind::Buffer { is_constant: true, .. })
}

/// The bytes of an argument's memory for one instance: whole words.
pub(super) fn stride(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(if bytes.is_multiple_of(8) { 8 } else { 4 })
}

/// The kernel `kiln_litmus_test`. Its parameters are those of the user's kernel with memory for many instances, and
/// then the memory for the other work-items, the latches, and the parameters of a launch.
pub(super) fn test(name: &str, text: &str, kernel: &Kernel, launch: &Launch) -> String {
    let mut source = String::new();
    let [x, y, z] = launch.local;
    let groups: Vec<u32> = (0..3).map(|it| launch.global[it] / launch.local[it].max(1)).collect();
    let _ = writeln!(source, "#define KILN_X {x}u\n#define KILN_Y {y}u\n#define KILN_Z {z}u");
    for (letter, count) in ["X", "Y", "Z"].iter().zip(&groups) {
        let _ = writeln!(source, "#define KILN_GROUPS_{letter} {count}u");
    }
    let _ = writeln!(source, "#define KILN_ITEMS {}u", x * y * z);
    let _ = writeln!(source, "#define KILN_ADJACENT {}", u32::from(launch.sub_group > 1));
    source.push_str(include_str!("slot.cl"));
    source.push_str(include_str!("prelude.cl"));
    let _ = writeln!(source, "#line 1 \"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    source.push_str(text);
    source.push_str("\n#line 1 \"kiln litmus --run\"\n");
    for builtin in ["get_local_id", "get_local_size", "get_group_id", "get_num_groups"] {
        let _ = writeln!(source, "#undef {builtin}");
    }
    let _ = writeln!(source, "#define KILN_GROUPS {}u", groups.iter().product::<u32>());
    wrapper(&mut source, kernel, launch);
    source
}

/// Adds the kernel that calls the user's kernel with the memory of an instance.
///
/// All names begin with `kiln_`: the user's source can have a kernel or a macro with any other name.
fn wrapper(source: &mut String, kernel: &Kernel, launch: &Launch) {
    let (mut parameters, mut passed, mut cleared) = (String::new(), Vec::new(), String::new());
    for (index, (parameter, argument)) in kernel.parameters.iter().zip(&launch.arguments).enumerate() {
        match argument {
            Argument::Buffer(bytes) => {
                let space = if is_constant(&parameter.kind) { "constant" } else { "global" };
                let _ = write!(parameters, "{space} uchar *kiln_p{index}, ");
                passed.push(format!(
                    "({space} void *)(kiln_p{index} + \
                     (ulong)kiln_litmus_slot(kiln_instance, {index}, kiln_mask, kiln_seed) * {}u)",
                    stride(bytes.len())
                ));
            }
            Argument::Local(bytes) => {
                let stride = stride(*bytes as usize);
                let _ = write!(parameters, "local uchar *kiln_p{index}, ");
                let _ = writeln!(
                    cleared,
                    "    for (uint kiln_i = kiln_litmus_item(); kiln_i < {}u; kiln_i += KILN_ITEMS)\n        \
                     ((local uint *)(kiln_p{index} + kiln_slot * {stride}u))[kiln_i] = 0;",
                    stride / 4
                );
                passed.push(format!("(local void *)(kiln_p{index} + kiln_slot * {stride}u)"));
            }
            Argument::Value(_) => {
                let _ = write!(parameters, "{} kiln_p{index}, ", parameter.type_name);
                passed.push(format!("kiln_p{index}"));
            }
        }
    }
    if !cleared.is_empty() {
        cleared.push_str("    barrier(CLK_LOCAL_MEM_FENCE);\n");
    }
    let _ = write!(
        source,
        "kernel void kiln_litmus_test({parameters}global atomic_uint *kiln_scratch, global atomic_uint *kiln_latch, \
         uint kiln_mask, uint kiln_window, uint kiln_seed, uint kiln_spins, uint kiln_noise) {{
    uint kiln_role = get_group_id(0), kiln_row = get_group_id(1), kiln_lane = get_local_id(0);
    uint kiln_place = kiln_seed + kiln_row * (uint)get_num_groups(0) + kiln_role;
    uint kiln_chance = kiln_litmus_mix(kiln_litmus_mix(kiln_place) + kiln_lane);
    if (kiln_role >= KILN_GROUPS) {{
        kiln_litmus_add_traffic(kiln_scratch, kiln_chance, kiln_noise * 8 + 64);
        return;
    }}
    uint kiln_width = (uint)get_local_size(0) / KILN_ITEMS;
#if KILN_ADJACENT
    uint kiln_slot = kiln_lane / KILN_ITEMS;
#else
    uint kiln_slot = kiln_lane % kiln_width;
#endif
    uint kiln_at = kiln_row * kiln_width + kiln_slot, kiln_pairing = kiln_litmus_mix(kiln_seed ^ ~kiln_role);
    uint kiln_partner = kiln_at * (kiln_pairing | 1) + (kiln_pairing >> 8);
    uint kiln_instance = (kiln_at & ~kiln_window) | (kiln_partner & kiln_window);
{cleared}    if (kiln_lane == 0 && KILN_GROUPS > 1) {{
        atomic_fetch_add_explicit(kiln_latch + kiln_row, 1, memory_order_relaxed, memory_scope_device);
        for (uint kiln_spin = 0; kiln_spin < kiln_spins; kiln_spin++)
            if (atomic_load_explicit(kiln_latch + kiln_row, memory_order_relaxed, memory_scope_device) >= KILN_GROUPS)
                break;
    }}
    barrier(0);
    kiln_litmus_add_traffic(kiln_scratch, kiln_chance, (kiln_chance >> 8) % (kiln_noise + 1));
    {}({});
}}
",
        kernel.name,
        passed.join(", ")
    );
}

/// The kernel `kiln_litmus_count`: each work-item compares the outcome of an instance with the numbered known outcomes.
/// `counts` has an element for each known outcome, and one for all others. `others` starts with the number of other
/// outcomes, and then contains the first ones.
pub(super) fn count(parts: &[Part], outcomes: usize) -> String {
    let mut text = include_str!("slot.cl").to_owned();
    let mut buffers: Vec<usize> = parts.iter().map(|part| part.argument).collect();
    buffers.dedup();
    let parameters: String = buffers.iter().map(|index| format!("global const uchar *p{index}, ")).collect();
    let _ = write!(
        text,
        "kernel void kiln_litmus_count({parameters}global const ulong *known, global atomic_uint *counts, \
         global ulong *others, local atomic_uint *near, uint mask, uint seed) {{
    uint instance = (uint)get_global_id(0), found = {outcomes}u;
    for (uint i = (uint)get_local_id(0); i <= {outcomes}u; i += (uint)get_local_size(0))
        atomic_store_explicit(near + i, 0, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
"
    );
    for (number, part) in parts.iter().enumerate() {
        let ty = match part.size {
            1 => "uchar",
            2 => "ushort",
            4 => "uint",
            _ => "ulong",
        };
        let _ = writeln!(
            text,
            "    ulong v{number} = *(global const {ty} *)(p{0} + (ulong)kiln_litmus_slot(instance, {0}, mask, seed) * {1}u + {2}u);",
            part.argument, part.stride, part.offset
        );
    }
    let width = parts.len();
    let same: Vec<String> = (0..width).map(|it| format!("known[k * {width} + {it}] == v{it}")).collect();
    let stored: String =
        (0..width).map(|it| format!("            others[1 + at * {width} + {it}] = v{it};\n")).collect();
    let _ = write!(
        text,
        "    for (uint k = 0; k < {outcomes}u; k++)
        if ({}) {{
            found = k;
            break;
        }}
    atomic_fetch_add_explicit(near + found, 1, memory_order_relaxed, memory_scope_work_group);
    if (found == {outcomes}u) {{
        uint at = atomic_fetch_add_explicit((volatile global atomic_uint *)others, 1, memory_order_relaxed, memory_scope_device);
        if (at < {}u) {{
{stored}        }}
    }}
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i <= {outcomes}u; i += (uint)get_local_size(0)) {{
        uint seen = atomic_load_explicit(near + i, memory_order_relaxed, memory_scope_work_group);
        if (seen)
            atomic_fetch_add_explicit(counts + i, seen, memory_order_relaxed, memory_scope_device);
    }}
}}
",
        same.join(" && "),
        super::EXAMPLES
    );
    text
}
