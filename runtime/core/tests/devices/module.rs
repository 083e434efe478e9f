//! Modules for the tests, in SPIR-V assembly around a common frame.
//!
//! The frame reads addresses as pairs of words, so that it runs on devices without 64-bit integers.

use std::io::Write;
use std::process::{Command, Stdio};

/// The parts that a module adds to the frame.
#[derive(Clone, Copy, Default)]
pub(crate) struct Parts {
    pub(crate) capabilities: &'static str,
    /// Variables of the entry point.
    pub(crate) variables: &'static str,
    /// Execution modes.
    pub(crate) modes: &'static str,
    pub(crate) strings: &'static str,
    pub(crate) decorations: &'static str,
    /// The words of push constants that the module declares.
    pub(crate) push_words: u32,
    /// Types, constants, variables.
    pub(crate) types: &'static str,
    pub(crate) body: &'static str,
    pub(crate) reflection: &'static str,
}

/// Loads push-constant words: `%pcN` is word N.
fn loads(words: u32) -> String {
    (0..words)
        .map(|word| {
            format!("%pp{word} = OpAccessChain %ptr_push_word %push %n0 %n{word}\n%pc{word} = OpLoad %uint %pp{word}\n")
        })
        .collect()
}

/// Assembles a module with one kernel, `k`.
pub(crate) fn assemble(parts: &Parts) -> Vec<u32> {
    let Parts { capabilities, variables, modes, strings, decorations, push_words, types, body, reflection } =
        *parts;
    let numbers: String = (0..100).map(|n| format!("%n{n} = OpConstant %uint {n}\n")).collect();
    let loads = loads(push_words);
    // Defines `%gid` and `%gx`, `%wid` and `%wx`, `%lid` and `%lx`, if the body uses them.
    let (mut inputs, mut input_decorations) = (String::new(), String::new());
    let (mut input_variables, mut input_loads) = (String::new(), String::new());
    for (letter, built_in) in [('g', "GlobalInvocationId"), ('w', "WorkgroupId"), ('l', "LocalInvocationId")]
    {
        let names = [format!("%{letter}id"), format!("%{letter}x")];
        if body.split_whitespace().any(|word| names.iter().any(|name| name == word)) {
            inputs += &format!("%in_{letter} ");
            input_decorations += &format!("OpDecorate %in_{letter} BuiltIn {built_in}\n");
            input_variables += &format!("%in_{letter} = OpVariable %ptr_in3 Input\n");
            input_loads += &format!("%{letter}id = OpLoad %uint3 %in_{letter}\n");
            input_loads += &format!("%{letter}x = OpCompositeExtract %uint %{letter}id 0\n");
        }
    }
    let text = format!(
        r#"
OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpCapability PhysicalStorageBufferAddresses
{capabilities}
OpExtension "SPV_KHR_non_semantic_info"
%reflect = OpExtInstImport "NonSemantic.ClspvReflection.5"
OpMemoryModel PhysicalStorageBuffer64 Vulkan
OpEntryPoint GLCompute %main "k" %push {inputs} {variables}
{modes}
%name_k = OpString "k"
%empty = OpString ""
{strings}
{input_decorations}
OpDecorate %words ArrayStride 4
OpDecorate %push_block Block
OpMemberDecorate %push_block 0 Offset 0
OpDecorate %ptr_uint ArrayStride 4
{decorations}
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%function = OpTypeFunction %void
{numbers}
%acq_rel_global = OpConstant %uint 24648
%acq_rel_local = OpConstant %uint 24840
%push_count = OpConstant %uint {push_words}
%words = OpTypeArray %uint %push_count
%push_block = OpTypeStruct %words
%ptr_push = OpTypePointer PushConstant %push_block
%ptr_push_word = OpTypePointer PushConstant %uint
%ptr_in3 = OpTypePointer Input %uint3
%ptr_uint = OpTypePointer PhysicalStorageBuffer %uint
%push = OpVariable %ptr_push PushConstant
{input_variables}
{types}
%main = OpFunction %void None %function
%entry = OpLabel
{input_loads}
{loads}
{body}
OpReturn
OpFunctionEnd
{reflection}
"#
    );
    spirv_as(&text, ("spv1.5", "vulkan1.2"))
}

/// Assembles and validates a module, as the compiler's own tests do.
pub(crate) fn spirv_as(text: &str, (version, environment): (&str, &str)) -> Vec<u32> {
    let bytes = filter("spirv-as", &["--target-env", version, "-o", "-", "-"], text.as_bytes());
    filter("spirv-val", &["--target-env", environment, "-"], &bytes);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn filter(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} of spirv-tools must be installed: {error}"));
    child.stdin.take().expect("it is piped").write_all(input).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The work-group's size by specialization constants 0, 1, 2, for `decorations`.
pub(crate) const SIZE_DECORATIONS: &str = "
OpDecorate %size_x SpecId 0
OpDecorate %size_y SpecId 1
OpDecorate %size_z SpecId 2
OpDecorate %size BuiltIn WorkgroupSize
";

/// The work-group's size by specialization constants 0, 1, 2, for `types`.
pub(crate) const SIZE_TYPES: &str = "
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
";

/// out[i] = in[i] for i < n; arguments in words 3 to 7, the region's offset in words 0 to 2.
pub(crate) fn copy() -> Vec<u32> {
    assemble(&Parts {
        strings: r#"
%name_in = OpString "in"
%name_out = OpString "out"
%name_n = OpString "n"
%type_ptr = OpString "uint*"
%type_uint = OpString "uint"
"#,
        decorations: SIZE_DECORATIONS,
        push_words: 9,
        types: SIZE_TYPES,
        body: "
%i = OpIAdd %uint %gx %pc0
%in_bits = OpCompositeConstruct %uint2 %pc4 %pc5
%out_bits = OpCompositeConstruct %uint2 %pc6 %pc7
%inside = OpULessThan %bool %i %pc8
OpSelectionMerge %end None
OpBranchConditional %inside %then %end
%then = OpLabel
%in = OpBitcast %ptr_uint %in_bits
%out = OpBitcast %ptr_uint %out_bits
%from = OpPtrAccessChain %ptr_uint %in %i
%to = OpPtrAccessChain %ptr_uint %out %i
%value = OpLoad %uint %from Aligned 4
OpStore %to %value Aligned 4
OpBranch %end
%end = OpLabel
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n3 %n0 %empty
%info_in = OpExtInst %void %reflect ArgumentInfo %name_in %type_ptr
%info_out = OpExtInst %void %reflect ArgumentInfo %name_out %type_ptr
%info_n = OpExtInst %void %reflect ArgumentInfo %name_n %type_uint
%r0 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n16 %n8 %info_in
%r1 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n1 %n24 %n8 %info_out
%r2 = OpExtInst %void %reflect ArgumentPodPushConstant %kernel %n2 %n32 %n4 %info_n
%r3 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
%r4 = OpExtInst %void %reflect PushConstantRegionOffset %n0 %n12
",
        ..Parts::default()
    })
}

/// The 25 words that `ids` writes for each work-item.
pub(crate) const ID_WORDS: usize = 25;

/// Each work-item writes its ids and sizes at its linear id.
pub(crate) fn ids() -> Vec<u32> {
    assemble(&Parts {
        decorations: "
OpDecorate %size_x SpecId 10
OpDecorate %size_y SpecId 11
OpDecorate %size_z SpecId 12
OpDecorate %work_dim SpecId 13
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %record ArrayStride 4
OpDecorate %ptr_record ArrayStride 100
",
        push_words: 20,
        types: "
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%work_dim = OpSpecConstant %uint 7
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%record = OpTypeArray %uint %n25
%ptr_record = OpTypePointer PhysicalStorageBuffer %record
",
        body: "
%offset = OpCompositeConstruct %uint3 %pc0 %pc1 %pc2
%enqueued = OpCompositeConstruct %uint3 %pc3 %pc4 %pc5
%global = OpCompositeConstruct %uint3 %pc6 %pc7 %pc8
%region = OpCompositeConstruct %uint3 %pc9 %pc10 %pc11
%groups = OpCompositeConstruct %uint3 %pc12 %pc13 %pc14
%region_group = OpCompositeConstruct %uint3 %pc15 %pc16 %pc17
%id = OpIAdd %uint3 %gid %region
%group = OpIAdd %uint3 %wid %region_group
%at = OpISub %uint3 %id %offset
%ax = OpCompositeExtract %uint %at 0
%ay = OpCompositeExtract %uint %at 1
%az = OpCompositeExtract %uint %at 2
%zy = OpIMul %uint %az %pc7
%zyy = OpIAdd %uint %zy %ay
%zyx = OpIMul %uint %zyy %pc6
%linear = OpIAdd %uint %zyx %ax
%ix = OpCompositeExtract %uint %id 0
%iy = OpCompositeExtract %uint %id 1
%iz = OpCompositeExtract %uint %id 2
%jx = OpCompositeExtract %uint %group 0
%jy = OpCompositeExtract %uint %group 1
%jz = OpCompositeExtract %uint %group 2
%ly = OpCompositeExtract %uint %lid 1
%lz = OpCompositeExtract %uint %lid 2
%sx = OpCompositeExtract %uint %size 0
%sy = OpCompositeExtract %uint %size 1
%sz = OpCompositeExtract %uint %size 2
%bits = OpCompositeConstruct %uint2 %pc18 %pc19
%out = OpBitcast %ptr_record %bits
%mine = OpPtrAccessChain %ptr_record %out %linear
%all = OpCompositeConstruct %record %ix %iy %iz %jx %jy %jz %lx %ly %lz %sx %sy %sz %pc3 %pc4 %pc5 %pc6 %pc7 %pc8 %pc12 %pc13 %pc14 %pc0 %pc1 %pc2 %work_dim
OpStore %mine %all Aligned 4
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n1 %n0 %empty
%r0 = OpExtInst %void %reflect PushConstantGlobalOffset %n0 %n12
%r1 = OpExtInst %void %reflect PushConstantEnqueuedLocalSize %n12 %n12
%r2 = OpExtInst %void %reflect PushConstantGlobalSize %n24 %n12
%r3 = OpExtInst %void %reflect PushConstantRegionOffset %n36 %n12
%r4 = OpExtInst %void %reflect PushConstantNumWorkgroups %n48 %n12
%r5 = OpExtInst %void %reflect PushConstantRegionGroupOffset %n60 %n12
%r6 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n72 %n8
%r7 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n10 %n11 %n12
%r8 = OpExtInst %void %reflect SpecConstantWorkDim %n13
",
        ..Parts::default()
    })
}

/// Each work-group reverses its part of a buffer through local memory that the host sizes.
pub(crate) fn reverse() -> Vec<u32> {
    assemble(&Parts {
        variables: "%scratch",
        decorations: "
OpDecorate %size_x SpecId 0
OpDecorate %size_y SpecId 1
OpDecorate %size_z SpecId 2
OpDecorate %count SpecId 3
OpDecorate %size BuiltIn WorkgroupSize
",
        push_words: 6,
        types: "
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%count = OpSpecConstant %uint 1
%array = OpTypeArray %uint %count
%ptr_array = OpTypePointer Workgroup %array
%ptr_local = OpTypePointer Workgroup %uint
%scratch = OpVariable %ptr_array Workgroup
",
        body: "
%bits = OpCompositeConstruct %uint2 %pc4 %pc5
%data = OpBitcast %ptr_uint %bits
%i = OpIAdd %uint %gx %pc0
%element = OpPtrAccessChain %ptr_uint %data %i
%value = OpLoad %uint %element Aligned 4
%slot = OpAccessChain %ptr_local %scratch %lx
OpStore %slot %value NonPrivatePointer
OpControlBarrier %n2 %n2 %acq_rel_local
%width = OpCompositeExtract %uint %size 0
%last = OpISub %uint %width %n1
%other = OpISub %uint %last %lx
%from = OpAccessChain %ptr_local %scratch %other
%mirrored = OpLoad %uint %from NonPrivatePointer
OpStore %element %mirrored Aligned 4
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n2 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n16 %n8
%r1 = OpExtInst %void %reflect ArgumentWorkgroup %kernel %n1 %n3 %n4
%r2 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
%r3 = OpExtInst %void %reflect PushConstantRegionOffset %n0 %n12
",
        ..Parts::default()
    })
}

/// Arguments in a uniform block: a pointer at 0, a value at 24, a value of 8 bytes at 40; out[0..3] = the three words.
pub(crate) fn block() -> Vec<u32> {
    assemble(&Parts {
        variables: "%block",
        decorations: "
OpDecorate %size_x SpecId 0
OpDecorate %size_y SpecId 1
OpDecorate %size_z SpecId 2
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %vectors ArrayStride 16
OpDecorate %block_type Block
OpMemberDecorate %block_type 0 Offset 0
OpDecorate %block DescriptorSet 0
OpDecorate %block Binding 0
",
        push_words: 1,
        types: "
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%uint4 = OpTypeVector %uint 4
%vectors = OpTypeArray %uint4 %n3
%block_type = OpTypeStruct %vectors
%ptr_block = OpTypePointer Uniform %block_type
%ptr_vector = OpTypePointer Uniform %uint4
%block = OpVariable %ptr_block Uniform
",
        body: "
%p0 = OpAccessChain %ptr_vector %block %n0 %n0
%p1 = OpAccessChain %ptr_vector %block %n0 %n1
%p2 = OpAccessChain %ptr_vector %block %n0 %n2
%v0 = OpLoad %uint4 %p0
%v1 = OpLoad %uint4 %p1
%v2 = OpLoad %uint4 %p2
%bits = OpVectorShuffle %uint2 %v0 %v0 0 1
%out0 = OpBitcast %ptr_uint %bits
%out1 = OpPtrAccessChain %ptr_uint %out0 %n1
%out2 = OpPtrAccessChain %ptr_uint %out0 %n2
%a = OpCompositeExtract %uint %v1 2
%b = OpCompositeExtract %uint %v2 2
%c = OpCompositeExtract %uint %v2 3
OpStore %out0 %a Aligned 4
OpStore %out1 %b Aligned 4
OpStore %out2 %c Aligned 4
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n3 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentPointerUniform %kernel %n0 %n0 %n0 %n0 %n8
%r1 = OpExtInst %void %reflect ArgumentPodUniform %kernel %n1 %n0 %n0 %n24 %n4
%r2 = OpExtInst %void %reflect ArgumentPodUniform %kernel %n2 %n0 %n0 %n40 %n8
%r3 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
",
        ..Parts::default()
    })
}

/// A binding of an entire buffer, as clspv creates it: every work-item adds 1 to its element.
pub(crate) fn bound() -> Vec<u32> {
    assemble(&Parts {
        variables: "%buffer",
        decorations: "
OpDecorate %size_x SpecId 0
OpDecorate %size_y SpecId 1
OpDecorate %size_z SpecId 2
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %elements ArrayStride 4
OpDecorate %buffer_type Block
OpMemberDecorate %buffer_type 0 Offset 0
OpDecorate %buffer DescriptorSet 1
OpDecorate %buffer Binding 2
",
        push_words: 1,
        types: "
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%elements = OpTypeRuntimeArray %uint
%buffer_type = OpTypeStruct %elements
%ptr_buffer = OpTypePointer StorageBuffer %buffer_type
%ptr_element = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %ptr_buffer StorageBuffer
",
        body: "
%counter = OpAccessChain %ptr_element %buffer %n0 %gx
%old = OpAtomicIAdd %uint %counter %n1 %n0 %n1
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k
%r0 = OpExtInst %void %reflect ArgumentStorageBuffer %kernel %n0 %n1 %n2
%r1 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
",
        ..Parts::default()
    })
}

/// Program-scope data: a counter (5 at first) and a pointer to it; out[0] = the counter before 1 is added through the pointer,
/// out[1] = the second word of the constants.
pub(crate) fn variables() -> Vec<u32> {
    assemble(&Parts {
        strings: r#"
%data_a = OpString "05000000ffffffff"
%data_b = OpString "0000000000000000"
%table = OpString "010000002a000000"
"#,
        decorations: "
OpDecorate %size_x SpecId 0
OpDecorate %size_y SpecId 1
OpDecorate %size_z SpecId 2
OpDecorate %size BuiltIn WorkgroupSize
",
        push_words: 6,
        types: "
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%ptr_uint2 = OpTypePointer PhysicalStorageBuffer %uint2
",
        body: "
%variable_bits = OpCompositeConstruct %uint2 %pc0 %pc1
%constant_bits = OpCompositeConstruct %uint2 %pc2 %pc3
%out_bits = OpCompositeConstruct %uint2 %pc4 %pc5
%variables = OpBitcast %ptr_uint %variable_bits
%stored = OpPtrAccessChain %ptr_uint %variables %n2
%stored_bits = OpBitcast %uint2 %stored
%stored2 = OpBitcast %ptr_uint2 %stored_bits
%counter_bits = OpLoad %uint2 %stored2 Aligned 8
%counter = OpBitcast %ptr_uint %counter_bits
%old = OpAtomicIAdd %uint %counter %n1 %n0 %n1
%out0 = OpBitcast %ptr_uint %out_bits
OpStore %out0 %old Aligned 4
%constants = OpBitcast %ptr_uint %constant_bits
%second = OpPtrAccessChain %ptr_uint %constants %n1
%answer = OpLoad %uint %second Aligned 4
%out1 = OpPtrAccessChain %ptr_uint %out0 %n1
OpStore %out1 %answer Aligned 4
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n1 %n0 %empty
%r0 = OpExtInst %void %reflect ProgramScopeVariablePointerPushConstant %n0 %n8 %data_a
%r1 = OpExtInst %void %reflect ProgramScopeVariablePointerPushConstant %n0 %n8 %data_b
%r2 = OpExtInst %void %reflect ConstantDataPointerPushConstant %n8 %n8 %table
%r3 = OpExtInst %void %reflect ProgramScopeVariablePointerRelocation %n0 %n8 %n8
%r4 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n16 %n8
%r5 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
",
        ..Parts::default()
    })
}

/// Each work-item adds 1 to a counter the given number of times; 0 means forever.
pub(crate) fn spin() -> Vec<u32> {
    assemble(&Parts {
        decorations: SIZE_DECORATIONS,
        push_words: 3,
        types: SIZE_TYPES,
        body: "
%bits = OpCompositeConstruct %uint2 %pc0 %pc1
%counter = OpBitcast %ptr_uint %bits
%start = OpISub %uint %pc2 %n1
OpBranch %head
%head = OpLabel
%left = OpPhi %uint %start %entry %next %again
OpLoopMerge %done %again None
OpBranch %work
%work = OpLabel
%old = OpAtomicIAdd %uint %counter %n1 %n0 %n1
%over = OpIEqual %bool %left %n0
OpBranchConditional %over %done %again
%again = OpLabel
%less = OpISub %uint %left %n1
%endless = OpIEqual %bool %pc2 %n0
%next = OpSelect %uint %endless %n1 %less
OpBranch %head
%done = OpLabel
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n2 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n0 %n8
%r1 = OpExtInst %void %reflect ArgumentPodPushConstant %kernel %n1 %n8 %n4
%r2 = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
",
        ..Parts::default()
    })
}

/// A kernel with a required size of 4 × 2 × 1, as a literal; each work-item adds 1 to the element of its column.
pub(crate) fn required() -> Vec<u32> {
    assemble(&Parts {
        modes: "OpExecutionMode %main LocalSize 4 2 1",
        push_words: 2,
        body: "
%bits = OpCompositeConstruct %uint2 %pc0 %pc1
%data = OpBitcast %ptr_uint %bits
%element = OpPtrAccessChain %ptr_uint %data %gx
%old = OpAtomicIAdd %uint %element %n1 %n0 %n1
",
        reflection: "
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n1 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n0 %n8
%r1 = OpExtInst %void %reflect PropertyRequiredWorkgroupSize %kernel %n4 %n2 %n1
",
        ..Parts::default()
    })
}
