//! The programs: a kernel for each address space, with one line for each call.

use std::collections::BTreeSet;

use kiln_testsuite::module;

use super::{
    configurations::Configuration,
    rules::{self, Call, Fence, Has},
};

/// The address space of the object.
const SPACES: [&str; 4] = ["global", "local", "generic", "private"];

/// The call in the macro of each line.
pub(crate) struct Statement {
    /// The kernel that contains it.
    space: &'static str,
    /// The statement.
    pub(crate) text: String,
    /// The codes of the diagnostics that may reject it.
    pub(crate) rejections: BTreeSet<&'static str>,
    /// Whether it is compiled to at least one instruction.
    pub(crate) is_visible: bool,
}

/// A program of calls that have a function and a type in common.
pub(crate) struct Program {
    /// For messages.
    pub(crate) name: String,
    /// The type of the object, without `atomic_`, or the plain type for functions of OpenCL C 1.x.
    ty: String,
    is_legacy: bool,
    pub(crate) calls: Vec<Statement>,
}

/// Every program for this configuration. Calls that can be seq_cst are in separate programs, because they change how others
/// are compiled.
pub(crate) fn all(configuration: &Configuration) -> Vec<Program> {
    let has = configuration.has();
    let mut programs = Vec::new();
    for function in rules::functions() {
        for ty in &function.types {
            if !configuration.has_type(ty) {
                continue;
            }
            for seq_cst in [false, true] {
                let calls: Vec<Call<'_>> =
                    Call::all(&function).into_iter().filter(|it| it.may_be_seq_cst() == seq_cst).collect();
                for space in SPACES {
                    let name = format!("{} {ty} {space} {seq_cst}", function.name);
                    let statements = calls.iter().map(|call| statement(call, space, &has)).collect();
                    programs.push(Program {
                        name,
                        ty: (*ty).to_owned(),
                        is_legacy: false,
                        calls: statements,
                    });
                }
            }
        }
    }
    programs.extend(legacy(configuration));
    for seq_cst in [false, true] {
        let fences = Fence::all().into_iter().filter(|it| it.may_be_seq_cst() == seq_cst);
        let calls = fences.map(|fence| fence_statement(&fence, &has)).collect();
        let name = format!("fences {seq_cst}");
        programs.push(Program { name, ty: "int".to_owned(), is_legacy: false, calls });
    }
    programs
}

fn statement(call: &Call<'_>, space: &'static str, has: &Has) -> Statement {
    Statement {
        space,
        text: call.text("uint"),
        rejections: call.rejections(has),
        is_visible: space != "private",
    }
}

fn fence_statement(fence: &Fence, has: &Has) -> Statement {
    // Relaxed fences, fences without flags, and image fences on Vulkan emit no instructions.
    let is_visible = fence.name.ends_with("barrier");
    Statement { space: "global", text: fence.text(), rejections: fence.rejections(has), is_visible }
}

/// The functions of OpenCL C 1.x; `atom_` and its 64 bits are extensions of their own.
fn legacy(configuration: &Configuration) -> Vec<Program> {
    let mut programs = Vec::new();
    for (ty, prefix) in
        [("int", "atomic"), ("uint", "atomic"), ("float", "atomic"), ("long", "atom"), ("ulong", "atom")]
    {
        if !configuration.has_type(ty) {
            continue;
        }
        let mut calls = Vec::new();
        for (name, operands, takes_floats) in rules::legacy_functions() {
            if ty == "float" && !takes_floats {
                continue;
            }
            let name = name.replace("atomic_", &format!("{prefix}_"));
            let operands = ["", ", v", ", e, v"][operands];
            for space in ["global", "local"] {
                let text = format!("*r += (uint){name}(p{operands});");
                calls.push(Statement { space, text, rejections: BTreeSet::new(), is_visible: true });
            }
        }
        programs.push(Program { name: format!("legacy {ty}"), ty: ty.to_owned(), is_legacy: true, calls });
    }
    programs
}

impl Program {
    /// The source with the calls that are wanted, and the line of each.
    pub(crate) fn text(&self, wanted: &[bool]) -> (String, Vec<Option<usize>>) {
        let mut text = String::from(
            "#ifdef cl_khr_int64_base_atomics\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n\
             #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n#endif\n",
        );
        let mut line = text.lines().count();
        let mut lines = vec![None; self.calls.len()];
        for space in SPACES {
            let inside: Vec<usize> =
                (0..self.calls.len()).filter(|&it| wanted[it] && self.calls[it].space == space).collect();
            if inside.is_empty() {
                continue;
            }
            let head = self.head(space);
            line += head.lines().count();
            text.push_str(&head);
            for index in inside {
                line += 1;
                lines[index] = Some(line);
                text.push_str(&format!("    {}\n", self.calls[index].text));
            }
            line += 1;
            text.push_str("}\n");
        }
        (text, lines)
    }

    fn head(&self, space: &str) -> String {
        let object = self.object();
        let value = if self.ty == "flag" { "int" } else { &self.ty };
        let (parameters, declaration) = match space {
            "generic" => (
                format!("global {object} *g, local {object} *l"),
                format!("{object} *p = w & 1 ? ({object} *)g : ({object} *)l;"),
            ),
            "private" => ("global uint *unused".to_owned(), format!("{object} x; private {object} *p = &x;")),
            _ => (format!("{space} {object} *p"), String::new()),
        };
        format!(
            "kernel void in_{space}({parameters}, global uint *r, uint w, int o, int f, int s) {{\n    {declaration}\n    \
             {value} v = ({value})w, e = ({value})s;\n"
        )
    }

    fn object(&self) -> String {
        if self.is_legacy { self.ty.clone() } else { format!("atomic_{}", self.ty) }
    }
}

/// The number of atomic operations and barriers in a module.
pub(crate) fn synchronizing_instructions(words: &[u32]) -> usize {
    // OpControlBarrier, OpMemoryBarrier, OpAtomicLoad to OpAtomicXor, the flags, OpAtomicFAddEXT and similar instructions.
    let synchronizes = |opcode| matches!(opcode, 224 | 225 | 227..=242 | 318 | 319 | 5614 | 5615 | 6035);
    module::instructions(words).filter(|&at| synchronizes(module::opcode(words, at))).count()
}
