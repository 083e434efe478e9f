//! Modules in the form that clspv generates: descriptors instead of pointers, and the device's samplers.
//!
//! Written for these tests from the specification of NonSemantic.ClspvReflection. They contain each instruction that Kiln's
//! own modules do not use.

use std::io::Write;
use std::sync::{Arc, Mutex};

use kiln_runtime::{
    Addressing, ChannelOrder, ChannelType, Device, Error, Filter, ImageDesc, ImageFormat, NdRange, Program,
    Sampler,
};

use crate::launch;
use crate::module::spirv_as;

/// What all of them have: words, the kernel `k`, work-groups whose size is specialized.
fn assemble(interface: &str, strings: &str, decorations: &str, types: &str, rest: &str) -> Vec<u32> {
    let numbers: String = [0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 18, 65536]
        .iter()
        .map(|n| format!("%n{n} = OpConstant %uint {n}\n"))
        .collect();
    let text = format!(
        r#"
OpCapability Shader
OpExtension "SPV_KHR_non_semantic_info"
OpExtension "SPV_KHR_storage_buffer_storage_class"
%reflect = OpExtInstImport "NonSemantic.ClspvReflection.5"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "k" {interface}
%name_k = OpString "k"
%empty = OpString ""
{strings}
OpDecorate %size_x SpecId 0
OpDecorate %size_y SpecId 1
OpDecorate %size_z SpecId 2
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %uints ArrayStride 4
OpDecorate %uint_block Block
OpMemberDecorate %uint_block 0 Offset 0
OpDecorate %float4s ArrayStride 16
OpDecorate %float4_block Block
OpMemberDecorate %float4_block 0 Offset 0
{decorations}
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%uint3 = OpTypeVector %uint 3
%uint4 = OpTypeVector %uint 4
%float2 = OpTypeVector %float 2
%float3 = OpTypeVector %float 3
%float4 = OpTypeVector %float 4
%function = OpTypeFunction %void
{numbers}
%f0 = OpConstant %float 0
%half = OpConstant %float 0.5
%size_x = OpSpecConstant %uint 1
%size_y = OpSpecConstant %uint 1
%size_z = OpSpecConstant %uint 1
%size = OpSpecConstantComposite %uint3 %size_x %size_y %size_z
%uints = OpTypeRuntimeArray %uint
%uint_block = OpTypeStruct %uints
%ptr_uint_block = OpTypePointer StorageBuffer %uint_block
%ptr_uint = OpTypePointer StorageBuffer %uint
%float4s = OpTypeRuntimeArray %float4
%float4_block = OpTypeStruct %float4s
%ptr_float4_block = OpTypePointer StorageBuffer %float4_block
%ptr_float4 = OpTypePointer StorageBuffer %float4
{types}
%main = OpFunction %void None %function
%entry = OpLabel
{rest}
%sizes = OpExtInst %void %reflect SpecConstantWorkgroupSize %n0 %n1 %n2
"#
    );
    spirv_as(&text, ("spv1.3", "vulkan1.1"))
}

/// `k(image2d_t, sampler_t, global float4 *out)`: out[0] is read with a literal sampler at (1.5, 0.5) of coordinates that
/// are not normalized, out[1] with the argument at (1.375, 0.5).
fn samples() -> Vec<u32> {
    assemble(
        "",
        "",
        "
OpDecorate %literal DescriptorSet 0
OpDecorate %literal Binding 0
OpDecorate %image DescriptorSet 1
OpDecorate %image Binding 0
OpDecorate %sampler DescriptorSet 1
OpDecorate %sampler Binding 1
OpDecorate %out DescriptorSet 1
OpDecorate %out Binding 2
",
        "
%image_type = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampler_type = OpTypeSampler
%sampled_type = OpTypeSampledImage %image_type
%ptr_image = OpTypePointer UniformConstant %image_type
%ptr_sampler = OpTypePointer UniformConstant %sampler_type
%literal = OpVariable %ptr_sampler UniformConstant
%image = OpVariable %ptr_image UniformConstant
%sampler = OpVariable %ptr_sampler UniformConstant
%out = OpVariable %ptr_float4_block StorageBuffer
%at_1 = OpConstant %float 1.5
%at_2 = OpConstant %float 1.375
%place_1 = OpConstantComposite %float2 %at_1 %half
%place_2 = OpConstantComposite %float2 %at_2 %half
",
        "
%i = OpLoad %image_type %image
%s1 = OpLoad %sampler_type %literal
%s2 = OpLoad %sampler_type %sampler
%with_1 = OpSampledImage %sampled_type %i %s1
%with_2 = OpSampledImage %sampled_type %i %s2
%texel_1 = OpImageSampleExplicitLod %float4 %with_1 %place_1 Lod %f0
%texel_2 = OpImageSampleExplicitLod %float4 %with_2 %place_2 Lod %f0
%out_1 = OpAccessChain %ptr_float4 %out %n0 %n0
%out_2 = OpAccessChain %ptr_float4 %out %n0 %n1
OpStore %out_1 %texel_1
OpStore %out_2 %texel_2
OpReturn
OpFunctionEnd
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n3 %n0 %empty
%r0 = OpExtInst %void %reflect LiteralSampler %n0 %n0 %n18
%r1 = OpExtInst %void %reflect ArgumentSampledImage %kernel %n0 %n1 %n0
%r2 = OpExtInst %void %reflect ArgumentSampler %kernel %n1 %n1 %n1
%r3 = OpExtInst %void %reflect ArgumentStorageBuffer %kernel %n2 %n1 %n2
",
    )
}

/// `k(image3d_t, sampler_t, global float4 *out)`: the texel at (1.5, 0.5, 0.5), whose coordinates the kernel divides by the
/// sizes, and the bits of the sampler.
fn samples_a_volume() -> Vec<u32> {
    let words = assemble(
        "",
        "",
        "
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 0
OpDecorate %sampler DescriptorSet 0
OpDecorate %sampler Binding 1
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 2
OpDecorate %push_block Block
OpMemberDecorate %push_block 0 Offset 0
OpMemberDecorate %push_block 1 Offset 4
",
        "
%image_type = OpTypeImage %float 3D 0 0 0 1 Unknown
%sampler_type = OpTypeSampler
%sampled_type = OpTypeSampledImage %image_type
%ptr_image = OpTypePointer UniformConstant %image_type
%ptr_sampler = OpTypePointer UniformConstant %sampler_type
%image = OpVariable %ptr_image UniformConstant
%sampler = OpVariable %ptr_sampler UniformConstant
%out = OpVariable %ptr_float4_block StorageBuffer
%push_block = OpTypeStruct %uint %uint
%ptr_push = OpTypePointer PushConstant %push_block
%ptr_push_word = OpTypePointer PushConstant %uint
%push = OpVariable %ptr_push PushConstant
%at = OpConstant %float 0.375
%coordinate = OpConstantComposite %float3 %at %half %half
",
        "
%i = OpLoad %image_type %image
%s = OpLoad %sampler_type %sampler
%with = OpSampledImage %sampled_type %i %s
%texel = OpImageSampleExplicitLod %float4 %with %coordinate Lod %f0
%out_1 = OpAccessChain %ptr_float4 %out %n0 %n0
%out_2 = OpAccessChain %ptr_float4 %out %n0 %n1
OpStore %out_1 %texel
%bits_at = OpAccessChain %ptr_push_word %push %n1
%bits = OpLoad %uint %bits_at
%number = OpConvertUToF %float %bits
%numbers = OpCompositeConstruct %float4 %number %number %number %number
OpStore %out_2 %numbers
OpReturn
OpFunctionEnd
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n3 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentSampledImage %kernel %n0 %n0 %n0
%r1 = OpExtInst %void %reflect ArgumentSampler %kernel %n1 %n0 %n1
%r2 = OpExtInst %void %reflect ArgumentStorageBuffer %kernel %n2 %n0 %n2
%r3 = OpExtInst %void %reflect ArgumentPodPushConstant %kernel %n1 %n4 %n4
",
    );
    // Debian's assembler supports the set up to version 5; `NormalizedSamplerMaskPushConstant` is of version 6, with the
    // operands of `ArgumentPodPushConstant`.
    version_6(words, 7, 41)
}

/// Makes a module one of version 6 of the set, with one of its instructions replaced.
fn version_6(mut words: Vec<u32>, from: u32, to: u32) -> Vec<u32> {
    const EXT_INST_IMPORT: u32 = 11;
    const EXT_INST: u32 = 12;
    let mut at = 5;
    while at < words.len() {
        let (count, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        match opcode {
            EXT_INST_IMPORT => {
                let bytes: Vec<u8> =
                    words[at + 2..at + count].iter().flat_map(|word| word.to_le_bytes()).collect();
                let dot = bytes.iter().rposition(|&byte| byte == b'5').expect("version 5");
                words[at + 2 + dot / 4] += 1 << (8 * (dot % 4));
            }
            EXT_INST if words[at + 4] == from => words[at + 4] = to,
            _ => {}
        }
        at += count;
    }
    words
}

/// `k()`: each work-item prints its number and a string, into a buffer that is bound.
fn prints() -> Vec<u32> {
    assemble(
        "%gid",
        r#"
%format = OpString "%u is %s
"
%string = OpString "here"
"#,
        "
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 3
",
        "
%ptr_in3 = OpTypePointer Input %uint3
%gid = OpVariable %ptr_in3 Input
%buffer = OpVariable %ptr_uint_block StorageBuffer
",
        "
%id = OpLoad %uint3 %gid
%x = OpCompositeExtract %uint %id 0
%head = OpAccessChain %ptr_uint %buffer %n0 %n0
%first = OpAtomicIAdd %uint %head %n1 %n0 %n3
%at_0 = OpIAdd %uint %first %n1
%at_1 = OpIAdd %uint %first %n2
%at_2 = OpIAdd %uint %first %n3
%word_0 = OpAccessChain %ptr_uint %buffer %n0 %at_0
%word_1 = OpAccessChain %ptr_uint %buffer %n0 %at_1
%word_2 = OpAccessChain %ptr_uint %buffer %n0 %at_2
OpStore %word_0 %n4
OpStore %word_1 %x
OpStore %word_2 %n5
OpReturn
OpFunctionEnd
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n0 %n1 %empty
%r0 = OpExtInst %void %reflect PrintfBufferStorageBuffer %n0 %n3 %n65536
%r1 = OpExtInst %void %reflect PrintfInfo %n4 %format %n4 %n4
%r2 = OpExtInst %void %reflect PrintfInfo %n5 %string
",
    )
}

/// `k(global uint *out, uint n)` with constants in a uniform buffer, variables and `n` in storage buffers, and the offset and
/// the size of sub-groups as specialization constants.
fn data() -> Vec<u32> {
    assemble(
        "",
        r#"
%constant_bytes = OpString "07000000000000000000000000000000"
%variable_bytes = OpString "0500000000000000"
"#,
        "
OpDecorate %offset SpecId 3
OpDecorate %offset_y SpecId 4
OpDecorate %offset_z SpecId 5
OpDecorate %width SpecId 6
OpDecorate %constant_block Block
OpMemberDecorate %constant_block 0 Offset 0
OpDecorate %constants DescriptorSet 0
OpDecorate %constants Binding 0
OpDecorate %variables DescriptorSet 0
OpDecorate %variables Binding 1
OpDecorate %out DescriptorSet 1
OpDecorate %out Binding 0
OpDecorate %values DescriptorSet 1
OpDecorate %values Binding 1
",
        "
%offset = OpSpecConstant %uint 0
%offset_y = OpSpecConstant %uint 0
%offset_z = OpSpecConstant %uint 0
%width = OpSpecConstant %uint 1
%constant_block = OpTypeStruct %uint4
%ptr_constant_block = OpTypePointer Uniform %constant_block
%ptr_uint4 = OpTypePointer Uniform %uint4
%constants = OpVariable %ptr_constant_block Uniform
%variables = OpVariable %ptr_uint_block StorageBuffer
%out = OpVariable %ptr_uint_block StorageBuffer
%values = OpVariable %ptr_uint_block StorageBuffer
",
        "
%constant_at = OpAccessChain %ptr_uint4 %constants %n0
%constant4 = OpLoad %uint4 %constant_at
%seven = OpCompositeExtract %uint %constant4 0
%n_at = OpAccessChain %ptr_uint %values %n0 %n1
%n = OpLoad %uint %n_at
%sum = OpIAdd %uint %seven %n
%counter = OpAccessChain %ptr_uint %variables %n0 %n0
%old = OpAtomicIAdd %uint %counter %n1 %n0 %n1
%out_0 = OpAccessChain %ptr_uint %out %n0 %n0
%out_1 = OpAccessChain %ptr_uint %out %n0 %n1
%out_2 = OpAccessChain %ptr_uint %out %n0 %n2
%out_3 = OpAccessChain %ptr_uint %out %n0 %n3
OpStore %out_0 %sum
OpStore %out_1 %old
OpStore %out_2 %offset
OpStore %out_3 %width
OpReturn
OpFunctionEnd
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n2 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentStorageBuffer %kernel %n0 %n1 %n0
%r1 = OpExtInst %void %reflect ArgumentPodStorageBuffer %kernel %n1 %n1 %n1 %n4 %n4
%r2 = OpExtInst %void %reflect ConstantDataUniform %n0 %n0 %constant_bytes
%r3 = OpExtInst %void %reflect ProgramScopeVariablesStorageBuffer %n0 %n1 %variable_bytes
%r4 = OpExtInst %void %reflect SpecConstantGlobalOffset %n3 %n4 %n5
%r5 = OpExtInst %void %reflect SpecConstantSubgroupMaxSize %n6
",
    )
}

const RGBA: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Float);

fn row() -> Vec<[f32; 4]> {
    (0..4).map(|i| [10.0 + i as f32, 1.0, 2.0, 3.0]).collect()
}

pub(crate) fn samplers_are_bound(device: &Device) {
    let program = Program::from_spirv(device, &samples()).unwrap();
    let queue = device.queue().unwrap();
    let image = device.image_from(&ImageDesc::d2(RGBA, 4, 1), &row()).unwrap();
    let out = device.buffer_from(&[[0f32; 4]; 2]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &image).unwrap().set(2, &out).unwrap();
    let near = |normalized, addressing| Sampler {
        normalized,
        addressing,
        filter: Filter::Nearest,
        ..Sampler::default()
    };
    let linear = Sampler { filter: Filter::Linear, ..near(true, Addressing::Repeat) };
    // The coordinate is 1.375. Without normalization, it is in texel 1. With normalization, it is outside the image: `ClampToEdge`
    // reads texel 3, `Clamp` the border, repetition texel 1 (0.375), and mirrored repetition texel 2 (0.625).
    for (sampler, expected) in [
        (near(false, Addressing::ClampToEdge), 11.0),
        (near(false, Addressing::Clamp), 11.0),
        (near(true, Addressing::ClampToEdge), 13.0),
        (near(true, Addressing::Clamp), 0.0),
        (near(true, Addressing::Repeat), 11.0),
        (near(true, Addressing::MirroredRepeat), 12.0),
        (linear, 11.0),
    ] {
        kernel.set(1, sampler).unwrap();
        launch(&queue, &kernel, 1).unwrap();
        let [literal, argument] = queue.read(&out).unwrap()[..] else { panic!("two texels") };
        assert_eq!(literal, [11.0, 1.0, 2.0, 3.0]);
        assert!((argument[0] - expected).abs() < 0.05, "{sampler:?}: {argument:?}, not {expected}");
    }
    let repeats = kernel.set(1, near(false, Addressing::Repeat)).map(|_| ()).unwrap_err();
    assert!(repeats.to_string().contains("normalized coordinates"), "{repeats}");
    assert!(matches!(kernel.set(1, 0xffffu32), Err(Error::WrongArgument { .. })));
}

pub(crate) fn sampler_parameters_are_reflected(device: &Device) {
    let program = Program::from_spirv(device, &samples_a_volume()).unwrap();
    let queue = device.queue().unwrap();
    let image = device.image_from(&ImageDesc::d3(RGBA, 4, 1, 1), &row()).unwrap();
    let out = device.buffer_from(&[[0f32; 4]; 2]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    let sampler = Sampler {
        normalized: false,
        addressing: Addressing::Clamp,
        filter: Filter::Nearest,
        ..Sampler::default()
    };
    kernel.set(0, &image).unwrap().set(1, sampler).unwrap().set(2, &out).unwrap();
    launch(&queue, &kernel, 1).unwrap();
    let [texel, bits] = queue.read(&out).unwrap()[..] else { panic!("two texels") };
    assert_eq!((texel[0], bits[0]), (11.0, sampler.bits() as f32));
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn printf_buffers_are_bound(device: &Device) {
    let text = Text::default();
    device.print_to(text.clone());
    let queue = device.queue().unwrap();
    let kernel = Program::from_spirv(device, &prints()).unwrap().kernel("k").unwrap();
    for _ in 0..2 {
        launch(&queue, &kernel, NdRange::from(3).local(3)).unwrap().wait().unwrap();
        let printed = String::from_utf8(std::mem::take(&mut *text.0.lock().unwrap())).unwrap();
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["0 is here", "1 is here", "2 is here"]);
    }
    device.print_to(std::io::stdout());
}

pub(crate) fn program_data_is_bound(device: &Device) {
    let program = Program::from_spirv(device, &data()).unwrap();
    let queue = device.queue().unwrap();
    let out = device.buffer_from(&[0u32; 4]).unwrap();
    let mut kernel = program.kernel("k").unwrap();
    kernel.set(0, &out).unwrap().set(1, 100u32).unwrap();
    let width = device.capabilities().sub_groups.as_ref().map_or(1, |groups| groups.max_size);
    for round in 0..3 {
        launch(&queue, &kernel, NdRange::from(1).offset(9 + round)).unwrap();
        assert_eq!(queue.read(&out).unwrap(), [107, 5 + round as u32, 9 + round as u32, width]);
    }
}
