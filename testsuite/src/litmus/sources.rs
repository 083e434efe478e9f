//! Generates the kernels of litmus tests: a plain one for exploration, and one that runs many instances of the test.

use super::{Kind, Object, Setting, Space, Test};

/// The number of distinct values of each part of an outcome.
pub const VALUES: u32 = 4;

impl Test {
    /// The kernel `test`: each work-item, in one or several groups, executes its part and stores its registers in
    /// `result`.
    pub fn plain_source(&self, setting: Setting) -> String {
        let mut text = self.macros(setting);
        let objects: Vec<String> = self
            .objects
            .iter()
            .map(|object| format!("{} {} *{}", object.space_in(setting).name(), object.ty(), object.name))
            .collect();
        text.push_str(&format!(
            "kernel void test(global int *result, {}, int seq_cst, int acq_rel, int scope, int flags) {{\n    \
             switch (get_global_id(0)) {{\n",
            objects.join(", ")
        ));
        let parts = self.parts();
        for (index, body) in self.work_items.iter().enumerate() {
            text.push_str(&format!("    case {index}: {{\n"));
            let registers = self.registers(index);
            text.push_str(&indented(&declarations(&registers)));
            text.push_str(&indented(&indented(body)));
            for register in registers {
                let index = parts.iter().position(|part| *part == register).unwrap_or_default();
                text.push_str(&format!("        result[{index}] = {register};\n"));
            }
            text.push_str("        break;\n    }\n");
        }
        text.push_str("    }\n}\n");
        text
    }

    /// Defines the macros for scope and flags. The total order of seq_cst operations needs device scope (OpenCL API
    /// 3.3.6).
    fn macros(&self, setting: Setting) -> String {
        let is_seq_cst = self.work_items.iter().any(|text| text.contains("seq_cst"));
        let scope = if setting.one_group && !is_seq_cst { "work_group" } else { "device" };
        let is_mixed = self.objects.iter().any(|object| object.space.is_some());
        let flags = match setting.space {
            _ if is_mixed => "(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)",
            Space::Global => "CLK_GLOBAL_MEM_FENCE",
            Space::Local => "CLK_LOCAL_MEM_FENCE",
        };
        format!("#define SCOPE memory_scope_{scope}\n#define FLAGS {flags}\n")
    }

    /// The kernel `test`, which runs instances of the test, and the kernel `count`, which counts outcomes.
    ///
    /// Every group takes part in `rounds` rounds. In each round, work-item `i` of every role executes its part of
    /// instance `i`. Roles are groups, or parts of one group. Work-items synchronize loosely before each round.
    pub fn stress_source(&self, setting: Setting) -> String {
        let mut text = self.macros(setting);
        let roles = self.work_items.len();
        let parts = self.parts();
        text.push_str(&format!(
            "#define ROLES {roles}u\n#define PARTS {}u\n#define SPINS 900\n\n",
            parts.len()
        ));
        // Odd factors, so that adjacent instances are not adjacent in memory.
        for (index, object) in self.objects.iter().enumerate() {
            let factor = [0x9e37_79b1_u32, 0x85eb_ca6b, 0xc2b2_ae3d, 0x27d4_eb2f][index % 4];
            text.push_str(&format!(
                "#define PLACE_{}(i) (((i) * {factor}u + {index}u) & mask)\n",
                object.name
            ));
        }
        let globals: Vec<String> = self
            .objects
            .iter()
            .map(|object| format!("global {} *all_{}", object.ty(), object.name))
            .collect();
        let locals: Vec<String> = self
            .objects
            .iter()
            .filter(|object| object.space_in(setting) == Space::Local)
            .map(|object| format!("local {} *near_{}", object.ty(), object.name))
            .collect();
        let parameters = [&globals[..], &locals].concat().join(", ");
        text.push_str(&format!(
            "kernel void test({parameters}, global int *result, global atomic_int *latch, uint mask, uint all_rounds, uint first, uint rounds,\n\
             \x20                int seq_cst, int acq_rel, int scope, int flags) {{\n"
        ));
        text.push_str(&self.positions(setting));
        text.push_str("    for (uint round = first; round < first + rounds; round++) {\n");
        text.push_str("        uint instance = (team * all_rounds + round) * width + item;\n");
        for object in &self.objects {
            let Object { name, .. } = object;
            let ty = object.ty();
            if object.space_in(setting) == Space::Local {
                text.push_str(&format!("        local {ty} *{name} = near_{name} + item;\n"));
                text.push_str(&format!("        if (role == 0) *(local int *){name} = 0;\n"));
            } else {
                text.push_str(&format!(
                    "        global {ty} *{name} = all_{name} + PLACE_{name}(instance);\n"
                ));
            }
        }
        text.push_str(&meet(setting));
        text.push_str("        switch (role) {\n");
        for (index, body) in self.work_items.iter().enumerate() {
            text.push_str(&format!("        case {index}: {{\n"));
            let registers = self.registers(index);
            text.push_str(&indented(&declarations(&registers)));
            text.push_str(&indented(&indented(&indented(body))));
            for register in registers {
                let index = parts.iter().position(|part| *part == register).unwrap_or_default();
                text.push_str(&format!("            result[instance * PARTS + {index}] = {register};\n"));
            }
            text.push_str("            break;\n        }\n");
        }
        text.push_str("        }\n");
        if setting.one_group {
            text.push_str("        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n");
        }
        for object in self.objects.iter().filter(|object| object.space_in(setting) == Space::Local) {
            let name = &object.name;
            text.push_str(&format!(
                "        if (role == 0) *(global int *)(all_{name} + PLACE_{name}(instance)) = *(local int *){name};\n"
            ));
        }
        text.push_str("    }\n}\n\n");
        text.push_str(&self.count(&globals));
        text
    }

    /// Computes the role and the instance of a work-item.
    fn positions(&self, setting: Setting) -> String {
        let (role, team, item, width) = if setting.one_group {
            (
                "get_local_id(0) / width",
                "get_group_id(0)",
                "get_local_id(0) % width",
                "get_local_size(0) / ROLES",
            )
        } else {
            ("get_group_id(0) % ROLES", "get_group_id(0) / ROLES", "get_local_id(0)", "get_local_size(0)")
        };
        format!("    uint width = {width}, role = {role}, team = {team}, item = {item};\n")
    }

    fn count(&self, globals: &[String]) -> String {
        let mut text = format!(
            "kernel void count({}, global int *result, global atomic_uint *histogram, uint mask) {{\n    \
             uint instance = get_global_id(0), code = 0, strange = 0;\n",
            globals.join(", ")
        );
        for (index, part) in self.parts().iter().enumerate() {
            let value = match self.finals.contains(part) {
                true => format!("*(global uint *)(all_{part} + PLACE_{part}(instance))"),
                false => format!("result[instance * PARTS + {index}]"),
            };
            text.push_str(&format!(
                "    {{ uint value = {value}; strange |= value / {VALUES}; code = code * {VALUES} + value % {VALUES}; }}\n"
            ));
        }
        let buckets = VALUES.pow(self.parts().len() as u32);
        text.push_str(&format!(
            "    atomic_fetch_add_explicit(histogram + (strange ? {buckets} : code), 1, memory_order_relaxed, \
             memory_scope_device);\n}}\n"
        ));
        text
    }
}

/// Synchronizes the work-items: a barrier within a group, and a latch with a timeout between groups. The order of the
/// roles varies.
fn meet(setting: Setting) -> String {
    if setting.one_group {
        return "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n".to_owned();
    }
    "        if (item == 0) {\n            \
     atomic_fetch_add_explicit(latch + team, 1, memory_order_relaxed, memory_scope_device);\n            \
     for (int spin = 0; spin < SPINS; spin++)\n                \
     if (atomic_load_explicit(latch + team, memory_order_relaxed, memory_scope_device) >= (int)((round + 1) * ROLES))\n                    \
     break;\n        }\n        barrier(0);\n        \
     for (uint delay = (round * 0x9e3779b1u >> (28 - 4 * role)) % 16; delay > 0; delay--)\n            \
     if (atomic_load_explicit(latch + team, memory_order_relaxed, memory_scope_device) < 0) break;\n"
        .to_owned()
}

fn declarations(registers: &[String]) -> String {
    registers.iter().map(|register| format!("    int {register} = 0;\n")).collect()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

impl Object {
    /// The OpenCL C type.
    pub fn ty(&self) -> &'static str {
        match self.kind {
            Kind::Atomic => "atomic_int",
            Kind::Flag => "atomic_flag",
            Kind::Plain => "int",
        }
    }

    /// The object's memory in this setting.
    pub fn space_in(&self, setting: Setting) -> Space {
        self.space.unwrap_or(setting.space)
    }
}
