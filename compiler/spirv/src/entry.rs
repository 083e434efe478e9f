//! Emits the module header: capabilities, memory model, entry points, execution modes.

use kiln_ir::FuncId;
use kiln_vocabulary::driver_bugs::DriverBug;
use rspirv::{
    dr::{Instruction, Operand},
    spirv::{AddressingModel, Capability, ExecutionMode, ExecutionModel, MemoryModel, Op, SourceLanguage},
};

use super::Emitter;

impl Emitter<'_> {
    /// Emits the addressing and memory model, with their capabilities.
    pub(super) fn environment(&mut self) {
        let (addressing, memory) = if self.is_vulkan() {
            self.writer.require(Capability::Shader);
            self.writer.require(Capability::VulkanMemoryModel);
            self.writer.require(Capability::PhysicalStorageBufferAddresses);
            (AddressingModel::PhysicalStorageBuffer64, MemoryModel::Vulkan)
        } else {
            self.writer.require(Capability::Kernel);
            self.writer.require(Capability::Addresses);
            self.writer.require(Capability::Linkage);
            (AddressingModel::Physical64, MemoryModel::OpenCL)
        };
        let operands = vec![Operand::AddressingModel(addressing), Operand::MemoryModel(memory)];
        self.writer.module.memory_model = Some(Instruction::new(Op::MemoryModel, None, None, operands));
        // Consumers use it to choose between the atomic functions of OpenCL C 1.2 and 2.0. Only the latter accept all
        // pointers.
        let operands =
            vec![Operand::SourceLanguage(SourceLanguage::OpenCL_C), Operand::LiteralBit32(200_000)];
        let source = Instruction::new(Op::Source, None, None, operands);
        self.writer.module.debug_string_source.push(source);
    }

    /// Emits one entry point for each kernel.
    pub(super) fn entry_points(&mut self) {
        let module = self.module;
        let mut kernels = module.functions.iter().filter_map(|function| function.kernel.as_ref());
        let is_required = kernels.all(|kernel| kernel.required_size.is_some());
        if self.is_vulkan() && !is_required {
            // The work-group size is a specialization constant that the runtime sets.
            self.local_size();
        }
        for (id, function) in module.functions.entries() {
            if let Some(kernel) = &function.kernel {
                self.entry_point(id, &function.name);
                if !self.has_local_size() {
                    self.size_modes(id, kernel.required_size, ExecutionMode::LocalSize);
                }
                if !self.is_vulkan() {
                    self.size_modes(id, kernel.size_hint, ExecutionMode::LocalSizeHint);
                }
            }
        }
    }

    fn entry_point(&mut self, id: FuncId, name: &str) {
        let model = if self.is_vulkan() { ExecutionModel::GLCompute } else { ExecutionModel::Kernel };
        let mut interface: Vec<_> = self.globals.interfaces[&id].iter().copied().collect();
        interface.sort_unstable();
        let mut operands = vec![
            Operand::ExecutionModel(model),
            Operand::IdRef(self.globals.functions[&id]),
            Operand::LiteralString(name.to_owned()),
        ];
        // Before SPIR-V 1.4, the interface contains only inputs; other variables are an error.
        let inputs = self.input_words();
        let all = self.target.spirv >= (1, 4);
        operands.extend(interface.into_iter().filter(|it| all || inputs.contains(it)).map(Operand::IdRef));
        self.writer.module.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
        if !self.is_vulkan() && !self.contracts {
            self.execution_mode(id, ExecutionMode::ContractionOff, &[]);
        }
        if self.is_vulkan() {
            self.float_controls(id);
        }
    }

    /// Float controls: required behavior that devices otherwise need not implement. OpenCL C 7.2 requires signed
    /// zeros, infinities and NaNs. 7.5.3 requires denormals of `half` and `double`, and those of `float` if the
    /// device supports them; 7.1 requires rounding to the nearest number.
    fn float_controls(&mut self, id: FuncId) {
        let features = &self.target.features;
        let is_free = self.math.finite_only && self.math.no_signed_zeros;
        let values = [
            (features.float_controls_preserve16, features.float_controls_denorm_preserve16, 16),
            (features.float_controls_preserve32, features.float_controls_denorm_preserve32, 32),
            (features.float_controls_preserve64, features.float_controls_denorm_preserve64, 64),
        ];
        let rounds =
            [features.float_controls_rte16, features.float_controls_rte32, features.float_controls_rte64];
        for ((keeps_values, keeps_denormals, width), rounds) in values.into_iter().zip(rounds) {
            let is_used = match width {
                16 => self.writer.has_capability(Capability::Float16),
                64 => self.writer.has_capability(Capability::Float64),
                _ => self.globals.computes_floats,
            };
            if is_used && keeps_values && !is_free {
                self.writer.require(Capability::SignedZeroInfNanPreserve);
                self.execution_mode(id, ExecutionMode::SignedZeroInfNanPreserve, &[width]);
            }
            if is_used && keeps_denormals && !self.math.denorms_are_zero {
                self.writer.require(Capability::DenormPreserve);
                self.execution_mode(id, ExecutionMode::DenormPreserve, &[width]);
            }
            if is_used && rounds && !self.target.workarounds.contains(DriverBug::OmitRoundingMode) {
                self.writer.require(Capability::RoundingModeRTE);
                self.execution_mode(id, ExecutionMode::RoundingModeRTE, &[width]);
            }
        }
    }

    fn size_modes(&mut self, id: FuncId, size: Option<[u32; 3]>, mode: ExecutionMode) {
        if let Some(size) = size {
            self.execution_mode(id, mode, &size);
        }
    }

    fn execution_mode(&mut self, id: FuncId, mode: ExecutionMode, numbers: &[u32]) {
        let mut operands = vec![Operand::IdRef(self.globals.functions[&id]), Operand::ExecutionMode(mode)];
        operands.extend(numbers.iter().copied().map(Operand::LiteralBit32));
        self.writer.module.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
    }
}
