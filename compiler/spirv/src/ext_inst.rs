//! Emits built-in functions. Most are one extended instruction, as their table row states; the files for groups, images, pipes and
//! enqueues have the others.

use kiln_builtins::{self as builtins, AsyncCopy, BuiltinId, Instruction, Library, Lowering, Object, Vulkan};
use kiln_ir::{BuiltinParam, Inst, Type, ValueId};
use kiln_vocabulary::{
    opencl::{AddressSpace, Environment, Scope},
    precision::Precision,
    target::Target,
};
use rspirv::{
    dr::Operand,
    grammar::{GLSL_STD_450_INSTRUCTION_TABLE, OPENCL_STD_100_INSTRUCTION_TABLE},
    spirv::{Capability, Op, OpenclStd100Op, Word},
};

use super::{arithmetic::rounding_mode, body::Body, group::has_group_instruction};

const OPENCL: &str = "OpenCL.std";
const GLSL: &str = "GLSL.std.450";

impl Body<'_, '_> {
    /// Emits a built-in function. Earlier passes have lowered or rejected those without instructions.
    pub(super) fn builtin(&mut self, inst: &Inst, builtin: BuiltinId, params: &[BuiltinParam]) {
        let row = builtins::row(builtin);
        match row.lowering {
            Lowering::ToSpace => return self.to_space(inst),
            Lowering::GetFence => return self.get_fence(inst),
            Lowering::Async(copy) => return self.asynchronous(inst, copy, params),
            Lowering::Collective(scope, collective, participants) => {
                return self.collective(inst, scope, collective, participants, params);
            }
            Lowering::Image(operation) => return self.image(inst, operation),
            Lowering::Pipe(pipe, scope) => return self.pipe(inst, pipe, scope),
            Lowering::Enqueue(enqueue) => return self.enqueue(inst, enqueue, row.name),
            Lowering::Clock(scope) => return self.emit_clock(inst, scope),
            Lowering::VectorLoad(object) => return self.half_load(inst, object),
            Lowering::VectorStore(object) => return self.half_store(inst, object),
            _ => {}
        }
        let number = ext_inst_number(row.lowering, self.emitter.target, params, true);
        let number = number.unwrap_or_else(|| unreachable!("`{}` reached the emitter", row.name));
        let set = self.emitter.writer.import_set(if self.is_vulkan() { GLSL } else { OPENCL });
        let mut operands = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(number)];
        for (&arg, &param) in inst.args.iter().zip(params) {
            operands.push(Operand::IdRef(self.operand(arg, param)));
        }
        self.result(inst, Op::ExtInst, operands);
        self.relax(inst);
    }

    /// An argument. A pointer gets the pointee type of the parameter.
    pub(super) fn operand(&mut self, arg: ValueId, param: BuiltinParam) -> Word {
        match param {
            BuiltinParam::Pointer(scalar, count) => self.pointer(arg, Type::scalar_or_vector(scalar, count)),
            BuiltinParam::Value(..) | BuiltinParam::Other => self.value(arg),
        }
    }

    /// `vload_half` and its variants.
    fn half_load(&mut self, inst: &Inst, object: Object) {
        let count = self.type_of(inst.results[0]).count();
        let op = match count {
            1 => OpenclStd100Op::vload_half,
            _ if object.is_aligned => OpenclStd100Op::vloada_halfn,
            _ => OpenclStd100Op::vload_halfn,
        };
        let mut operands = self.opencl_ext_inst(op);
        let pointer = self.pointer_to_half(inst.args[1]);
        operands.extend([Operand::IdRef(self.value(inst.args[0])), Operand::IdRef(pointer)]);
        operands.extend((count != 1).then_some(Operand::LiteralBit32(count.into())));
        self.result(inst, Op::ExtInst, operands);
    }

    /// `vstore_half` and its variants.
    fn half_store(&mut self, inst: &Inst, Object { is_aligned, rounding, .. }: Object) {
        let is_vector = self.type_of(inst.args[0]).is_vector();
        let op = match (is_vector, is_aligned, rounding.is_some()) {
            (false, _, false) => OpenclStd100Op::vstore_half,
            (false, _, true) => OpenclStd100Op::vstore_half_r,
            (true, false, false) => OpenclStd100Op::vstore_halfn,
            (true, false, true) => OpenclStd100Op::vstore_halfn_r,
            (true, true, false) => OpenclStd100Op::vstorea_halfn,
            (true, true, true) => OpenclStd100Op::vstorea_halfn_r,
        };
        let mut operands = self.opencl_ext_inst(op);
        let pointer = self.pointer_to_half(inst.args[2]);
        operands.extend([inst.args[0], inst.args[1]].map(|arg| Operand::IdRef(self.value(arg))));
        operands.push(Operand::IdRef(pointer));
        operands.extend(rounding.map(|it| Operand::FPRoundingMode(rounding_mode(it))));
        let void = self.emitter.void();
        self.typed(Op::ExtInst, void, operands);
    }

    /// Reads a clock. SPIR-V has no clock of a work-group, so the device's clock is used.
    fn emit_clock(&mut self, inst: &Inst, scope: Scope) {
        let scope = match scope {
            Scope::SubGroup => rspirv::spirv::Scope::Subgroup,
            _ => rspirv::spirv::Scope::Device,
        };
        self.emitter.writer.require(Capability::ShaderClockKHR);
        self.emitter.writer.extension("SPV_KHR_shader_clock");
        let scope = self.emitter.u32(scope as u32);
        self.result(inst, Op::ReadClockKHR, vec![Operand::IdRef(scope)]);
    }

    fn opencl_ext_inst(&mut self, op: OpenclStd100Op) -> Vec<Operand> {
        let set = self.emitter.writer.import_set(OPENCL);
        vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(op as u32)]
    }

    /// `prefetch`, the only function of its family in the extended instruction set.
    pub(super) fn prefetch(&mut self, inst: &Inst, params: &[BuiltinParam]) {
        let mut operands = self.opencl_ext_inst(OpenclStd100Op::prefetch);
        for (&arg, &param) in inst.args.iter().zip(params) {
            operands.push(Operand::IdRef(self.operand(arg, param)));
        }
        let void = self.emitter.void();
        self.typed(Op::ExtInst, void, operands);
    }

    /// `to_global` and similar functions (OpenCL C 6.15.10), which take a generic pointer here.
    fn to_space(&mut self, inst: &Inst) {
        let Type::Pointer(space) = self.type_of(inst.results[0]) else {
            unreachable!("`to_global` gives a pointer")
        };
        self.emitter.writer.require(Capability::GenericPointer);
        let class = self.emitter.storage_class(space);
        let pointer = self.cast_to_generic(inst.args[0]);
        let operands = vec![Operand::IdRef(pointer), Operand::StorageClass(class)];
        self.result(inst, Op::GenericCastToPtrExplicit, operands);
    }

    /// Casts a pointer to generic.
    fn cast_to_generic(&mut self, arg: ValueId) -> Word {
        let pointer = self.value(arg);
        let generic = Type::Pointer(AddressSpace::Generic);
        if self.type_of(arg) == generic {
            return pointer;
        }
        self.op(Op::PtrCastToGeneric, generic, vec![Operand::IdRef(pointer)])
    }

    /// `get_fence`: the bits for local and global memory are adjacent in both masks.
    fn get_fence(&mut self, inst: &Inst) {
        const WORKGROUP_MEMORY_BIT: u32 = 8;
        self.emitter.writer.require(Capability::GenericPointer);
        let pointer = self.cast_to_generic(inst.args[0]);
        let mask = self.op(Op::GenericPtrMemSemantics, Type::I32, vec![Operand::IdRef(pointer)]);
        let [shift, flags] = [WORKGROUP_MEMORY_BIT, 3].map(|it| Operand::IdRef(self.emitter.u32(it)));
        let mask = self.op(Op::ShiftRightLogical, Type::I32, vec![Operand::IdRef(mask), shift]);
        self.result(inst, Op::BitwiseAnd, vec![Operand::IdRef(mask), flags]);
    }

    /// `printf` of the OpenCL environment: the format is a constant in memory.
    pub(super) fn printf(&mut self, inst: &Inst, format: &[u8]) {
        let mut operands = self.printf_operands(format);
        operands.extend(inst.args.iter().map(|&arg| Operand::IdRef(self.value(arg))));
        self.result(inst, Op::ExtInst, operands);
    }

    fn printf_operands(&mut self, format: &[u8]) -> Vec<Operand> {
        let set = self.emitter.writer.import_set(OPENCL);
        let format = self.emitter.format_string(format);
        let format =
            self.op(Op::Bitcast, Type::Pointer(AddressSpace::Constant), vec![Operand::IdRef(format)]);
        vec![
            Operand::IdRef(set),
            Operand::LiteralExtInstInteger(OpenclStd100Op::printf as u32),
            Operand::IdRef(format),
        ]
    }

    /// A trap in the OpenCL environment, which has no traps: prints the message. A device may recognize the
    /// function's name as a trap, as Kiln's reference device does.
    pub(super) fn trap(&mut self, message: &[u8]) {
        let mut format = message.to_vec();
        for at in (0..message.len()).rev().filter(|&at| message[at] == b'%') {
            format.insert(at, b'%');
        }
        format.push(b'\n');
        let operands = self.printf_operands(&format);
        let printed = self.op(Op::ExtInst, Type::I32, operands);
        self.emitter.writer.name(printed, "kiln.trap");
    }
}

/// Whether the emitter supports a call as it is, or with lower accuracy.
pub fn has_instruction(
    lowering: Lowering,
    target: &Target,
    params: &[BuiltinParam],
    is_relaxed: bool,
) -> bool {
    let is_vulkan = target.environment == Environment::Vulkan;
    match lowering {
        Lowering::Library(_) => ext_inst_number(lowering, target, params, is_relaxed).is_some(),
        // On Vulkan, passes resolve these from the origins of pointers.
        Lowering::ToSpace | Lowering::GetFence => true,
        Lowering::Clock(_) => target.features.clock,
        Lowering::Image(_) | Lowering::Pipe(..) | Lowering::Enqueue(_) => !is_vulkan,
        Lowering::Async(copy) => {
            !is_vulkan && !matches!(copy, AsyncCopy::Fence | AsyncCopy::Copy2d | AsyncCopy::Copy3d)
        }
        Lowering::Collective(scope, collective, _) => {
            has_group_instruction(scope, collective, target, params)
        }
        _ => false,
    }
}

fn ext_inst_number(
    lowering: Lowering,
    target: &Target,
    params: &[BuiltinParam],
    is_relaxed: bool,
) -> Option<u32> {
    let Lowering::Library(Library { opencl, vulkan }) = lowering else { return None };
    let first = params.iter().find_map(|param| match param {
        BuiltinParam::Value(scalar, _) => Some(*scalar),
        BuiltinParam::Pointer(..) | BuiltinParam::Other => None,
    });
    let is_signed = first.is_some_and(|scalar| scalar.is_signed());
    if target.environment == Environment::OpenCl {
        let name = opcode_name(opencl?, is_signed, ["s_", "u_"]);
        let found = OPENCL_STD_100_INSTRUCTION_TABLE.iter().find(|it| it.opname == name);
        return found.map(|it| it.opcode.into());
    }
    let instruction = match vulkan {
        Vulkan::Glsl(instruction) => instruction,
        Vulkan::GlslNotDouble(instruction) if first != Some(kiln_types::ty::Scalar::Double) => instruction,
        Vulkan::OwnOrGlsl(instruction)
            if first == Some(kiln_types::ty::Scalar::Float)
                && (is_relaxed && is_precise_if_relaxed(target.precision, instruction)
                    || is_precise(target.precision, instruction)) =>
        {
            instruction
        }
        Vulkan::OwnOrFused(instruction)
            if first != Some(kiln_types::ty::Scalar::Half) && target.precision.is_fma_fused =>
        {
            instruction
        }
        Vulkan::OwnOrGlsl(_)
        | Vulkan::OwnOrFused(_)
        | Vulkan::GlslNotDouble(_)
        | Vulkan::Core
        | Vulkan::Own => return None,
    };
    let name = opcode_name(instruction, is_signed, ["S", "U"]);
    let found = GLSL_STD_450_INSTRUCTION_TABLE.iter().find(|it| it.opname == name);
    found.map(|it| it.opcode.into())
}

/// Whether the driver executes an instruction of `float` within the error bounds of OpenCL C 7.4.
fn is_precise(precision: Precision, instruction: Instruction) -> bool {
    match instruction.name {
        "Exp2" => precision.is_exp2_precise,
        "Sqrt" => precision.is_sqrt_precise && precision.defines_all_roots,
        "InverseSqrt" => precision.defines_all_roots,
        _ => false,
    }
}

/// Whether the driver executes it within the error bounds for unsafe math optimizations. Vulkan allows Exp and Exp2 an error
/// of 3 + 2 |x| ulp; OpenCL allows only 3 + floor(2 |x|). Vulkan allows Sqrt about 4.5 ulp; OpenCL allows 3.
fn is_precise_if_relaxed(precision: Precision, instruction: Instruction) -> bool {
    match instruction.name {
        "Exp" | "Exp2" => precision.is_exp2_precise,
        "Log" | "Log2" => precision.has_subnormal_logarithms,
        "Sqrt" => precision.is_sqrt_precise,
        _ => true,
    }
}

/// The name of an instruction in the grammar. `signs` are the prefixes for signed and unsigned operands.
fn opcode_name(instruction: Instruction, is_signed: bool, signs: [&str; 2]) -> String {
    let sign = match (instruction.by_sign, is_signed) {
        (false, _) => "",
        (true, true) => signs[0],
        (true, false) => signs[1],
    };
    format!("{sign}{}", instruction.name)
}
