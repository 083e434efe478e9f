//! Validates SPIR-V modules of any compiler.
//!
//! `verify` returns findings, each with the identifier of the rule, a message and a position. It never panics. The
//! module's memory model determines the environment. Rules for graphics stages are not checked.
//!
//! Only the verifier creates a [`VerifiedModule`]: the compiler returns one, and the runtime loads it without another
//! check. Must not depend on the compiler, except for the OpenCL vocabulary and the description of the target.
//!
//! ```
//! // Version 1.3, and no instruction after the header.
//! let findings = kiln_verify::verify(&[0x0723_0203, 0x0001_0300, 0, 1, 0], None);
//! assert!(findings.iter().any(|finding| finding.rule == "SPIRV-OpMemoryModel"));
//! ```
//!
//! The rules: each family is a file and has negative tests in `tests/`.
//!
//! Words (`module.rs`)
//! - `SPIRV-header`: a module begins with the magic number, a version from 1.0 to 1.6, a generator, a bound and a zero
//! - `SPIRV-framing`: each instruction has at least one word and ends inside the module
//! - `SPIRV-grammar`: each instruction is known and has the operands of its grammar
//! - `SPIRV-OpSpecConstantOp`: OpSpecConstantOp takes only the instructions listed for it
//!
//! Structure (`structure.rs`)
//! - `SPIRV-id-bound`: ids are above 0 and below the bound
//! - `SPIRV-id-once`: an id is defined once
//! - `SPIRV-id-defined`: a used id is defined, before its use unless forward references are allowed
//! - `SPIRV-layout`: the sections of a module are in order
//! - `SPIRV-result-type`: a result type is a type
//! - `SPIRV-operand`: the operands of the instructions in a block are values, except where they name labels or functions
//! - `SPIRV-block`: a block begins with a label and ends with its only termination instruction
//! - `SPIRV-function`: a function has its parameters, then its blocks, then an end, and has the parameters of its type
//! - `SPIRV-OpVariable-function`: Function variables are at the beginning of the first block, other variables outside functions
//! - `SPIRV-merge`: a merge instruction is immediately before a branch, OpSelectionMerge before a conditional branch
//! - `SPIRV-merge-control`: a merge instruction does not have a control and its opposite, such as Unroll and DontUnroll
//! - `SPIRV-branch`: branches and merge instructions name blocks of the same function, but not its first
//! - `SPIRV-type-once`: types other than aggregates and pointers are declared once
//!
//! Declarations (`declarations.rs`)
//! - `SPIRV-type`: the parts of a type are types, and those of a vector scalars; integers have 8, 16, 32 or 64 bits, and floats 16, 32 or 64
//! - `SPIRV-vector-size`: a vector has 2 to 4 components, or 8 or 16 with Vector16
//! - `SPIRV-constant`: a constant has a type that its instruction allows, and a composite constant has a constituent for each member
//! - `SPIRV-literal-bits`: the unused bits of a literal number are 0, or the sign of a signed integer
//! - `SPIRV-OpEntryPoint`: OpEntryPoint names a function, and an execution mode names an entry point
//! - `SPIRV-decoration-target`: a decoration has a target that allows it, and a member decoration names an existing member
//! - `SPIRV-OpVariable`: the type of a variable is a pointer with the same storage class, and its initializer is a constant or a variable of the pointee type
//!
//! Control flow (`control_flow.rs`)
//! - `SPIRV-dominance`: the block that defines an id dominates the blocks that use it; for OpPhi, it dominates the parent
//! - `SPIRV-block-order`: a block comes before the blocks that it dominates
//! - `SPIRV-OpPhi`: the parents of OpPhi are the predecessors of its block, and a parent has one value
//! - `SPIRV-OpPhi-form`: OpPhi is at the beginning of its block, and has each parent once
//! - `SPIRV-merge-block`: a block is the merge block of at most one header
//! - `SPIRV-construct-header`: a header strictly structurally dominates its merge block, and structurally dominates its continue target, which is another block
//! - `SPIRV-back-edge`: back edges go to loop headers, and each loop header has exactly one
//! - `SPIRV-continue-target`: a continue target structurally dominates its back-edge block, which structurally post-dominates it
//! - `SPIRV-selection`: a merge instruction precedes OpSwitch, and a conditional branch to two blocks of its construct
//! - `SPIRV-construct`: branches enter a construct only through its header, and leave it only for its merge block, the merge block of the innermost loop or switch, the continue target, or, from the back-edge block, the loop header
//!
//! Numbers, and values that are passed on (`numbers.rs`)
//! - `SPIRV-number-types`: the operands and results of arithmetic, bit, comparison, logical and conversion instructions have the required types
//! - `SPIRV-OpSelect`: the condition of OpSelect is a Boolean or has a Boolean for each component, and the objects have the type of the result
//! - `SPIRV-condition`: the condition of a branch is a Boolean, and the selector of OpSwitch an integer
//! - `SPIRV-OpPhi-type`: the values of OpPhi have the type of its result
//! - `SPIRV-OpFunctionCall`: OpFunctionCall names a function, and its result and arguments have the types of the function
//! - `SPIRV-return`: OpReturnValue returns a value of the function's result type, and OpReturn is only in functions without a result
//! - `SPIRV-generic-cast`: casts to and from Generic take and return pointers: one to Generic, one to Workgroup, CrossWorkgroup or Function
//!
//! Composites and access chains (`composites.rs`)
//! - `SPIRV-member`: an instruction that extracts or replaces a part of a composite names an existing part, and uses its type
//! - `SPIRV-OpCompositeConstruct`: a composite has a constituent for each member, of the member's type
//! - `SPIRV-OpVectorShuffle`: OpVectorShuffle selects existing components of two vectors that have the component type of its result
//! - `SPIRV-access-chain`: the indexes of an access chain name existing members, and its result points to the last one
//!
//! Extended instructions (`extended.rs`)
//! - `SPIRV-OpExtInst-set`: OpExtInst names a set that OpExtInstImport imports
//! - `SPIRV-OpExtInst`: an instruction of GLSL.std.450 or OpenCL.std exists in the set, and has the correct number of operands
//! - `GLSL.std.450-types`: the operands of a componentwise instruction of GLSL.std.450 have the type of the result
//!
//! Signatures (`signatures.rs`)
//! - `OpenCL.std-types`: the operands and the result of an instruction of OpenCL.std have the required types, and its literals are valid
//! - `SPIRV-pipe-types`: the operands and the result of a pipe instruction have the required types, and the pipe has the required access qualifier
//! - `SPIRV-enqueue-types`: the operands and the result of an instruction for device-side enqueue have the required types
//!
//! Images (`images.rs`)
//! - `SPIRV-OpTypeImage`: in an image type, Depth and Sampled are at most 2, Arrayed and MS at most 1
//! - `SPIRV-image-operand`: an image instruction takes an image, or a sampled image if it needs a sampler
//! - `SPIRV-image-query-type`: an image query returns integers, and a size query one for each dimension; OpSampledImage has the required types
//! - `SPIRV-image-format`: reads and writes of storage images without a format need StorageImageReadWithoutFormat or StorageImageWriteWithoutFormat
//! - `SPIRV-ImageOperands`: an image instruction has the image operands that it requires, and none that it does not allow or that exclude each other
//! - `SPIRV-ImageOperands-type`: image operands have the required types, and constant offsets are constants
//! - `SPIRV-ImageOperands-image`: Bias, Lod, Grad and MinLod need an image with levels, and Sample a multisampled one; cubes allow no offsets
//! - `SPIRV-texel-type`: texels have the sampled type of the image, and four components if they are sampled or fetched
//! - `SPIRV-image-coordinate`: coordinates have enough components, and are integers for single texels, otherwise floats, or also integers in kernels
//! - `VUID-StandaloneSpirv-OpTypeImage-04656`: the sampled type of an image is a 32-bit float, or a 32- or 64-bit integer
//! - `VUID-StandaloneSpirv-OpTypeImage-04657`: the Sampled operand of an image type is 1 or 2
//! - `VUID-StandaloneSpirv-OpTypeSampledImage-06671`: OpTypeSampledImage has an image type whose Sampled operand is 1
//! - `VUID-StandaloneSpirv-Offset-04865`: Offset, ConstOffset and ConstOffsets are for images whose Sampled operand is 1
//! - `VUID-StandaloneSpirv-OpImageQuerySizeLod-04659`: OpImageQuerySizeLod, OpImageQueryLod and OpImageQueryLevels take images whose Sampled operand is 1
//!
//! Explicit layouts (`layouts.rs`)
//! - `SPIRV-explicit-layout`: in buffers and push constants, members have Offset, arrays have ArrayStride, and matrices have MatrixStride and RowMajor or ColMajor
//! - `VUID-StandaloneSpirv-None-10684`: in buffers and push constants, offsets and strides are multiples of the scalar alignment
//! - `SPIRV-layout-overlap`: the members of an explicitly laid out structure do not overlap
//! - `SPIRV-layout-stride`: a stride is at least the size of an element or matrix vector
//! - `SPIRV-OpPtrAccessChain-ArrayStride`: the type of the base of OpPtrAccessChain into a buffer is decorated ArrayStride
//!
//! Capabilities (`capabilities.rs`)
//! - `SPIRV-capability-instruction`: a capability that enables the instruction is declared or implied
//! - `SPIRV-capability-operand`: a capability that enables the operand is declared or implied
//! - `SPIRV-VulkanMemoryModel`: the VulkanMemoryModel capability is declared if and only if the memory model is Vulkan
//! - `SPIRV-capability-width`: integers and floats of 8, 16 and 64 bits need the capability for their width, or at least a storage capability for it
//!
//! Limits (`limits.rs`)
//! - `SPIRV-limit-id-bound`: the id bound is at most 4194303
//! - `SPIRV-limit-string`: a literal string has at most 65535 characters
//! - `SPIRV-limit-members`: a structure has at most 16383 members
//! - `SPIRV-limit-structure-nesting`: structures are nested in structures at most 255 deep
//! - `SPIRV-limit-global-variables`: a module has at most 65535 variables outside functions
//! - `SPIRV-limit-local-variables`: a module has at most 524287 variables in functions
//! - `SPIRV-limit-execution-modes`: an entry point has at most 255 execution modes
//! - `SPIRV-limit-indexes`: an access chain, OpCompositeExtract or OpCompositeInsert has at most 255 indexes
//! - `SPIRV-limit-parameters`: a function has at most 255 parameters
//! - `SPIRV-limit-arguments`: OpFunctionCall and OpExtInst have at most 255 arguments
//! - `SPIRV-limit-cases`: OpSwitch has at most 16383 cases
//! - `SPIRV-limit-nesting`: at most 1023 selections and loops are open at any point of a function
//!
//! Values of constants, which specialization can change (`values.rs`)
//! - `SPIRV-OpTypeArray-length`: the length of an array is an integer constant of at least 1
//! - `SPIRV-work-group-size`: each dimension of LocalSize, LocalSizeId and WorkgroupSize is at least 1
//! - `SPIRV-ClusterSize`: the size of a cluster is a constant power of two
//!
//! Environment (`environment.rs`)
//! - `SPIRV-OpMemoryModel`: a module has exactly one OpMemoryModel
//! - `Kiln-environment`: the memory model is that of the target environment
//! - `VUID-StandaloneSpirv-None-04635`: the addressing model is Logical or PhysicalStorageBuffer64
//! - `VUID-StandaloneSpirv-None-04633`: entry points return nothing and take no arguments
//! - `VUID-StandaloneSpirv-None-04634`: the call graph of an entry point has no cycles
//! - `VUID-StandaloneSpirv-None-04643`: only the storage classes of Vulkan are used
//! - `VUID-StandaloneSpirv-None-04644`: GLCompute has no Output variables
//! - `VUID-StandaloneSpirv-OpTypeForwardPointer-04711`: the storage class of OpTypeForwardPointer is PhysicalStorageBuffer
//! - `VUID-StandaloneSpirv-OpVariable-04651`: only Output, Private, Function and Workgroup variables have initializers
//! - `VUID-StandaloneSpirv-OpVariable-06673`: an entry point lists at most one PushConstant variable
//! - `VUID-StandaloneSpirv-OpEntryPoint-06674`: an entry point statically uses at most one PushConstant variable
//! - `OpenCL-addressing-model`: the addressing model is Physical32 or Physical64
//! - `OpenCL-execution-model`: the execution model is Kernel
//! - `OpenCL-entry-point-call`: entry points are not called and return nothing
//! - `OpenCL-recursion`: the call graph of an entry point has no cycles
//! - `OpenCL-OpTypeInt`: the signedness of integer types is 0
//! - `OpenCL-OpTypeImage`: image types have the sampled type void, Sampled 0, MS 0, no format and an access qualifier; arrays are 1D or 2D
//! - `SPIRV-OpEntryPoint-interface`: since SPIR-V 1.4 an entry point lists every module-scope variable that it uses; before, only Input and Output
//!
//! Numbers of scopes and semantics (`masks.rs`)
//! - `VUID-StandaloneSpirv-MemorySemantics-10865`: at most one of Acquire, Release and AcquireRelease
//! - `VUID-StandaloneSpirv-MemorySemantics-10866`: no SequentiallyConsistent on Vulkan
//! - `VUID-StandaloneSpirv-MemorySemantics-10867`: no Acquire or AcquireRelease with OpAtomicStore
//! - `VUID-StandaloneSpirv-MemorySemantics-10868`: no Release or AcquireRelease with OpAtomicLoad
//! - `VUID-StandaloneSpirv-MemorySemantics-10869`: OpMemoryBarrier is not relaxed
//! - `VUID-StandaloneSpirv-MemorySemantics-10870`: an order that is not relaxed names at least one storage class of Vulkan
//! - `VUID-StandaloneSpirv-MemorySemantics-10871`: a mask that names a storage class has an order that is not relaxed
//! - `VUID-StandaloneSpirv-MemorySemantics-10872`: MakeAvailable requires Release or AcquireRelease
//! - `VUID-StandaloneSpirv-MemorySemantics-10873`: MakeVisible requires Acquire or AcquireRelease
//! - `VUID-StandaloneSpirv-MemorySemantics-13551`: no Volatile on barriers
//! - `VUID-StandaloneSpirv-UnequalMemorySemantics-10875`: Unequal is neither Release nor AcquireRelease
//! - `VUID-StandaloneSpirv-UnequalMemorySemantics-10876`: Unequal is no stronger than Equal
//! - `VUID-StandaloneSpirv-UnequalMemorySemantics-10877`: Unequal names no storage class that Equal does not name
//! - `VUID-StandaloneSpirv-UnequalMemorySemantics-10878`: Unequal has MakeVisible only if Equal has it
//! - `VUID-StandaloneSpirv-UnequalMemorySemantics-10879`: both Equal and Unequal have Volatile, or neither has it
//! - `VUID-StandaloneSpirv-None-04636`: the execution scope is Workgroup or Subgroup
//! - `VUID-StandaloneSpirv-None-04638`: the memory scope is Device, QueueFamily, Workgroup, ShaderCallKHR, Subgroup or Invocation
//! - `VUID-StandaloneSpirv-None-04641`: with memory scope Invocation, the order is relaxed
//! - `VUID-StandaloneSpirv-None-04642`: the scope of group operations is Subgroup
//! - `SPIRV-MemorySemantics-bits`: a memory semantics mask has only bits that SPIR-V defines
//! - `SPIRV-MemorySemantics-order`: at most one of Acquire, Release, AcquireRelease and SequentiallyConsistent
//! - `OpenCL-atomic-store-order`: a store is neither Acquire nor AcquireRelease (OpenCL C 6.15.12.7.1)
//! - `OpenCL-atomic-load-order`: a load is neither Release nor AcquireRelease (OpenCL C 6.15.12.7.2)
//! - `SPIRV-MemorySemantics-VulkanMemoryModel`: MakeAvailable, MakeVisible, Volatile and OutputMemory need the VulkanMemoryModel capability
//! - `SPIRV-OpAtomicCompareExchange-Unequal-release`: Unequal is neither Release nor AcquireRelease
//! - `SPIRV-OpAtomicCompareExchange-Unequal-stronger`: Unequal is no stronger than Equal
//! - `OpenCL-execution-scope`: the execution scope is Workgroup or Subgroup (OpenCL SPIR-V environment, validation rules)
//! - `OpenCL-memory-scope`: the memory scope is CrossDevice, Device, Workgroup, Subgroup or Invocation
//! - `OpenCL-atomic-scope`: the memory scope of an atomic operation is not Invocation
//! - `OpenCL-async-scope`: the scope of OpGroupAsyncCopy and OpGroupWaitEvents is Workgroup
//!
//! Scopes and semantics in the module (`synchronization.rs`)
//! - `SPIRV-Scope-constant`: with the Shader capability, scopes and memory semantics are 32-bit constants, but not specialization constants
//! - `SPIRV-VulkanMemoryModelDeviceScope`: under the Vulkan memory model, Device scope needs the VulkanMemoryModelDeviceScope capability
//! - `VUID-RuntimeSpirv-vulkanMemoryModel-06265`: no Device scope if the device lacks vulkanMemoryModelDeviceScope
//! - `SPIRV-QueueFamily`: QueueFamily scope needs the VulkanMemoryModel capability
//! - `VUID-StandaloneSpirv-SubgroupVoteKHR-07951`: Subgroup memory scope needs GroupNonUniform, SubgroupBallotKHR or SubgroupVoteKHR
//! - `SPIRV-OpControlBarrier-1.3`: before SPIR-V 1.3, only TessellationControl, GLCompute and Kernel entry points use OpControlBarrier
//!
//! Atomics (`atomics.rs`)
//! - `VUID-StandaloneSpirv-None-04686`: atomic objects are in Uniform, Workgroup, Image, StorageBuffer, PhysicalStorageBuffer or TaskPayloadWorkgroupEXT memory
//! - `OpenCL-atomic-storage-class`: atomic objects are in Workgroup, CrossWorkgroup or Function memory, or in Generic memory with GenericPointer; in Function memory the behavior is undefined
//! - `SPIRV-atomic-pointer`: the first operand of an atomic is a pointer
//! - `SPIRV-atomic-type`: the object of an atomic is an integer of 32 bits or more, or a float for loads, stores, exchanges and the floating-point atomics
//! - `SPIRV-atomic-match`: result, value and comparator have the type of the object
//! - `SPIRV-Int64Atomics`: atomics of 64-bit integers need the Int64Atomics capability
//! - `SPIRV-narrow-atomics`: there are no atomics of 8- and 16-bit integers
//! - `SPIRV-float-atomics`: floating-point addition, minimum and maximum need the capability of their width
//! - `SPIRV-OpAtomicFlag`: OpAtomicFlagTestAndSet and OpAtomicFlagClear take a 32-bit integer
//!
//! Loads and stores (`accesses.rs`)
//! - `VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708`: accesses through physical pointers have the Aligned operand
//! - `VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314`: Aligned is a multiple of the size of the largest scalar in the pointed-to type
//! - `SPIRV-Aligned`: the operand of Aligned is a power of two
//! - `VUID-StandaloneSpirv-PhysicalStorageBuffer64-04710`: OpConvertUToPtr and OpConvertPtrToU use 64-bit integers
//! - `SPIRV-MemoryAccess-VulkanMemoryModel`: NonPrivatePointer, MakePointerAvailable and MakePointerVisible need the VulkanMemoryModel capability
//! - `SPIRV-MemoryAccess-NonPrivatePointer`: MakePointerAvailable and MakePointerVisible require NonPrivatePointer
//! - `SPIRV-MemoryAccess-direction`: a load does not make memory available, and a store does not make memory visible
//! - `SPIRV-Coherent-VulkanMemoryModel`: under the Vulkan memory model, no object is decorated Coherent or Volatile
//! - `SPIRV-access-type`: the value of OpLoad or OpStore has the type that the pointer points to
//!
//! Variables and work-groups (`variables.rs`)
//! - `VUID-StandaloneSpirv-OpVariable-04734`: the initializer of a Workgroup variable is OpConstantNull
//! - `VUID-StandaloneSpirv-PushConstant-06808`: a PushConstant variable is a structure
//! - `VUID-StandaloneSpirv-PushConstant-06675`: PushConstant and StorageBuffer variables are decorated Block
//! - `VUID-StandaloneSpirv-Uniform-06676`: Uniform variables are decorated Block or BufferBlock
//! - `VUID-StandaloneSpirv-UniformConstant-06677`: UniformConstant, StorageBuffer and Uniform variables have DescriptorSet and Binding
//! - `VUID-StandaloneSpirv-Uniform-06925`: no instruction stores to a Uniform variable decorated Block
//! - `VUID-StandaloneSpirv-OpEntryPoint-09658`: the Input interface of an entry point has each BuiltIn at most once
//! - `VUID-StandaloneSpirv-None-04645`: only task, mesh and compute entry points use Workgroup variables
//! - `VUID-StandaloneSpirv-None-04637`: only task, mesh, tessellation control and compute entry points use Workgroup as execution scope
//! - `VUID-StandaloneSpirv-None-07321`: only task, mesh, tessellation control and compute entry points use Workgroup as memory scope
//! - `VUID-StandaloneSpirv-None-10685`: a compute entry point has LocalSize or LocalSizeId, or an object is decorated WorkgroupSize
//! - `VUID-StandaloneSpirv-Base-07650`: the base of OpPtrAccessChain is in Workgroup, StorageBuffer or PhysicalStorageBuffer
//! - `VUID-StandaloneSpirv-Base-07651`: OpPtrAccessChain into Workgroup needs VariablePointers
//! - `VUID-StandaloneSpirv-Base-07652`: OpPtrAccessChain into StorageBuffer needs VariablePointers or VariablePointersStorageBuffer
//! - `VUID-StandaloneSpirv-OpReadClockKHR-04652`: the scope of OpReadClockKHR is Subgroup or Device
//!
//! Built-in variables (`builtins.rs`)
//! - `VUID-GlobalInvocationId-GlobalInvocationId-04237`: GlobalInvocationId is an Input variable
//! - `VUID-GlobalInvocationId-GlobalInvocationId-04238`: GlobalInvocationId is a vector of 3 32-bit integers
//! - `VUID-LocalInvocationId-LocalInvocationId-04282`: LocalInvocationId is an Input variable
//! - `VUID-LocalInvocationId-LocalInvocationId-04283`: LocalInvocationId is a vector of 3 32-bit integers
//! - `VUID-LocalInvocationIndex-LocalInvocationIndex-04285`: LocalInvocationIndex is an Input variable
//! - `VUID-LocalInvocationIndex-LocalInvocationIndex-04286`: LocalInvocationIndex is a 32-bit integer
//! - `VUID-NumWorkgroups-NumWorkgroups-04297`: NumWorkgroups is an Input variable
//! - `VUID-NumWorkgroups-NumWorkgroups-04298`: NumWorkgroups is a vector of 3 32-bit integers
//! - `VUID-WorkgroupId-WorkgroupId-04423`: WorkgroupId is an Input variable
//! - `VUID-WorkgroupId-WorkgroupId-04424`: WorkgroupId is a vector of 3 32-bit integers
//! - `VUID-NumSubgroups-NumSubgroups-04294`: NumSubgroups is an Input variable
//! - `VUID-NumSubgroups-NumSubgroups-04295`: NumSubgroups is a 32-bit integer
//! - `VUID-SubgroupId-SubgroupId-04368`: SubgroupId is an Input variable
//! - `VUID-SubgroupId-SubgroupId-04369`: SubgroupId is a 32-bit integer
//! - `VUID-SubgroupLocalInvocationId-SubgroupLocalInvocationId-04380`: SubgroupLocalInvocationId is an Input variable
//! - `VUID-SubgroupLocalInvocationId-SubgroupLocalInvocationId-04381`: SubgroupLocalInvocationId is a 32-bit integer
//! - `VUID-SubgroupSize-SubgroupSize-04382`: SubgroupSize is an Input variable
//! - `VUID-SubgroupSize-SubgroupSize-04383`: SubgroupSize is a 32-bit integer
//! - `VUID-SubgroupEqMask-SubgroupEqMask-04370`: SubgroupEqMask is an Input variable
//! - `VUID-SubgroupEqMask-SubgroupEqMask-04371`: SubgroupEqMask is a vector of 4 32-bit integers
//! - `VUID-SubgroupGeMask-SubgroupGeMask-04372`: SubgroupGeMask is an Input variable
//! - `VUID-SubgroupGeMask-SubgroupGeMask-04373`: SubgroupGeMask is a vector of 4 32-bit integers
//! - `VUID-SubgroupGtMask-SubgroupGtMask-04374`: SubgroupGtMask is an Input variable
//! - `VUID-SubgroupGtMask-SubgroupGtMask-04375`: SubgroupGtMask is a vector of 4 32-bit integers
//! - `VUID-SubgroupLeMask-SubgroupLeMask-04376`: SubgroupLeMask is an Input variable
//! - `VUID-SubgroupLeMask-SubgroupLeMask-04377`: SubgroupLeMask is a vector of 4 32-bit integers
//! - `VUID-SubgroupLtMask-SubgroupLtMask-04378`: SubgroupLtMask is an Input variable
//! - `VUID-SubgroupLtMask-SubgroupLtMask-04379`: SubgroupLtMask is a vector of 4 32-bit integers
//! - `VUID-WorkgroupSize-WorkgroupSize-04426`: WorkgroupSize is a constant
//! - `VUID-WorkgroupSize-WorkgroupSize-04427`: WorkgroupSize is a vector of 3 32-bit integers

mod accesses;
mod atomics;
mod builtins;
mod capabilities;
mod composites;
mod control_flow;
mod declarations;
mod environment;
mod extended;
mod finding;
mod graph;
mod images;
mod layouts;
mod limits;
pub mod masks;
mod module;
mod numbers;
mod numeric_type;
mod operand;
mod signatures;
mod structure;
mod synchronization;
#[cfg(test)]
mod tests;
mod values;
mod variables;
mod verified;

pub use finding::{Finding, Position, Severity, SourceLine};
pub use values::ValueRules;
pub use verified::{InvalidModule, VerifiedModule};

use environment::Calls;
use extended::Sets;
use finding::TOLERATED_IN_KERNELS;
use module::{Decoded, Module};
use rspirv::spirv::{
    ExecutionModel::{GLCompute, Kernel},
    Op,
};

use kiln_vocabulary::{opencl::Environment, target::Target};

/// A rule that a module can break.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The identifier: a VUID of the Vulkan specification, or a name that begins with the specification it
    /// is from.
    pub id: &'static str,
    /// What the rule requires.
    pub text: &'static str,
}

/// The rules of every family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        module::RULES,
        structure::RULES,
        declarations::RULES,
        control_flow::RULES,
        numbers::RULES,
        composites::RULES,
        extended::RULES,
        signatures::RULES,
        images::RULES,
        layouts::RULES,
        capabilities::RULES,
        limits::RULES,
        values::RULES,
        environment::RULES,
        masks::RULES,
        synchronization::RULES,
        atomics::RULES,
        accesses::RULES,
        variables::RULES,
        builtins::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The input of the checks.
struct Context<'m> {
    module: &'m Module<'m>,
    calls: Calls,
    sets: Sets,
    environment: Environment,
    target: Option<&'m Target>,
    /// Whether every entry point is a compute shader or a kernel.
    only_compute: bool,
}

/// The violations of a module, in the order of its words. With a target, also uses of features that it lacks.
pub fn verify(words: &[u32], target: Option<&Target>) -> Vec<Finding> {
    examine(words, target).0
}

/// The violations of a module, and the rules that the values of its specialization constants must follow.
pub fn examine(words: &[u32], target: Option<&Target>) -> (Vec<Finding>, ValueRules) {
    let mut findings = Vec::new();
    let Some(decoded) = Decoded::read(words, &mut findings).filter(|_| findings.is_empty()) else {
        return (findings, ValueRules::default());
    };
    let module = Module::new(&decoded);
    let only_compute = module.preamble().iter().filter(|entry| entry.op() == Op::EntryPoint).all(|entry| {
        use operand::Operand::ExecutionModel;
        matches!(entry.operands().first(), Some(ExecutionModel(GLCompute | Kernel)))
    });
    let context = Context {
        environment: environment::environment_of(&module),
        module: &module,
        calls: Calls::collect(&module),
        sets: Sets::collect(&module),
        target,
        only_compute,
    };
    structure::check(&context, &mut findings);
    // These need ids that are defined, and blocks that end.
    if findings.iter().all(|finding| TOLERATED_IN_KERNELS.contains(&finding.rule)) {
        declarations::check(&context, &mut findings);
        control_flow::check(&context, &mut findings);
        numbers::check(&context, &mut findings);
        composites::check(&context, &mut findings);
        extended::check(&context, &mut findings);
        signatures::check(&context, &mut findings);
        images::check(&context, &mut findings);
        layouts::check(&context, &mut findings);
    }
    capabilities::check(&context, &mut findings);
    limits::check(&context, &mut findings);
    let value_rules = values::check(&context, &mut findings);
    environment::check(&context, &mut findings);
    synchronization::check(&context, &mut findings);
    atomics::check(&context, &mut findings);
    accesses::check(&context, &mut findings);
    variables::check(&context, &mut findings);
    builtins::check(&context, &mut findings);
    if context.environment == Environment::OpenCl {
        for finding in findings.iter_mut().filter(|finding| TOLERATED_IN_KERNELS.contains(&finding.rule)) {
            finding.severity = Severity::Warning;
        }
    }
    findings.sort_by_key(|finding| finding.position.as_ref().map(|position| position.offset));
    (findings, value_rules)
}
