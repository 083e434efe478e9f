//! Negative tests of images and image operands.

use super::{OPENCL, VULKAN, accepts, findings, opencl_rejects, vulkan_rejects};

const CAPABILITIES: &str = "OpCapability ImageQuery
OpCapability ImageGatherExtended
OpCapability MinLod
OpCapability StorageImageMultisample
OpCapability Int64\n";

const TYPES: &str = "%float2 = OpTypeVector %float 2
%float3 = OpTypeVector %float 3
%float4 = OpTypeVector %float 4
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%uint4 = OpTypeVector %uint 4
%four_offsets = OpTypeArray %uint2 #4
%plane = OpTypeImage %float Dim2D 0 0 0 1 Unknown
%cube = OpTypeImage %float DimCube 0 0 0 1 Unknown
%planes = OpTypeImage %float Dim2D 0 1 0 1 Unknown
%samples = OpTypeImage %float Dim2D 0 0 1 1 Unknown
%storage = OpTypeImage %float Dim2D 0 0 0 2 Rgba32f
%numbers = OpTypeImage %uint Dim2D 0 0 0 2 Rgba32ui
%sampled_plane = OpTypeSampledImage %plane
%sampled_cube = OpTypeSampledImage %cube
%sampled_planes = OpTypeSampledImage %planes
%zero = OpConstant %float 0
%offset = OpConstantComposite %uint2 #1 #1
%offsets = OpConstantComposite %four_offsets %offset %offset %offset %offset";

const VALUES: &str = "%p = OpUndef %plane
%c = OpUndef %cube
%a = OpUndef %planes
%m = OpUndef %samples
%s = OpUndef %storage
%n = OpUndef %numbers
%sp = OpUndef %sampled_plane
%sc = OpUndef %sampled_cube
%sa = OpUndef %sampled_planes
%f = OpUndef %float
%f2 = OpUndef %float2
%f3 = OpUndef %float3
%f4 = OpUndef %float4
%i = OpUndef %uint
%i2 = OpUndef %uint2
%i3 = OpUndef %uint3
%i4 = OpUndef %uint4
%i8 = OpUndef %four_offsets";

/// The bits of image operands.
const LOD: u32 = 0x2;

fn changes(body: &str) -> [(&'static str, String); 3] {
    [
        ("OpCapability Int64\n", CAPABILITIES.to_owned()),
        ("globals", TYPES.to_owned()),
        ("body", format!("{VALUES}\n{body}")),
    ]
}

#[track_caller]
fn rejects_body(rule: &str, body: &str) {
    let changes = changes(body);
    vulkan_rejects(rule, &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
}

#[test]
fn valid_image_instructions_are_accepted() {
    let body = "%1 = OpImageSampleExplicitLod %float4 %sp %f2 0x2 %f
        %2 = OpImageSampleExplicitLod %float4 %sp %f2 0x4 %f2 %f2
        %3 = OpImageSampleExplicitLod %float4 %sc %f3 0x2 %f
        %4 = OpImageSampleExplicitLod %float4 %sa %f3 0xc %f2 %f2 %offset
        %5 = OpImageSampleExplicitLod %float4 %sp %f2 0x12 %f %i2
        %6 = OpImageFetch %float4 %p %i2 0x2 %i
        %7 = OpImageFetch %float4 %m %i2 0x40 %i
        %8 = OpImageRead %float4 %s %i2 0xe00 #2
        %9 = OpImageRead %uint4 %n %i3
        OpImageWrite %s %i2 %f4 0xd00 #2
        OpImageWrite %n %i2 %i4
        %10 = OpImageGather %float4 %sp %f2 #1 0x20 %offsets
        %11 = OpImageSampleExplicitLod %float4 %sp %f2 0x84 %f2 %f2 %f
        %12 = OpImageQueryLevels %uint %p"
        .replace("0xe00", "0x600")
        .replace("0xd00", "0x500");
    let changes = changes(&body);
    accepts(&findings((1, 5), VULKAN, &changes.each_ref().map(|(at, text)| (*at, text.as_str()))));
}

#[test]
fn wrong_combinations_of_image_operands_are_rejected() {
    for body in [
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x8 %offset",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x6 %f %f2 %f2",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x3 %f %f",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x1a %f %offset %i2",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x82 %f %f",
        "%x = OpImageFetch %float4 %p %i2 0x4 %f2 %f2",
        "%x = OpImageFetch %float4 %m %i2",
        "%x = OpImageRead %float4 %s %i2 0x200 #2",
        "%x = OpImageRead %float4 %s %i2 0x500 #2",
        "OpImageWrite %s %i2 %f4 0x100 #2",
        "OpImageWrite %s %i2 %f4 0x600 #2",
    ] {
        rejects_body("SPIRV-ImageOperands", body);
    }
    let extended = [("OpCapability Int64\n", CAPABILITIES), ("globals", TYPES)];
    let both = format!("{VALUES}\n%x = OpImageRead %uint4 %n %i2 0x3000");
    let changes = [extended[0], extended[1], ("body", both.as_str())];
    vulkan_rejects("SPIRV-ImageOperands", &changes);
}

#[test]
fn wrong_types_of_image_operands_are_rejected() {
    for body in [
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x2 %i",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x2 %f2",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x4 %f2 %f3",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x4 %f %f",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0xa %f %i2",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0xa %f #1",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x12 %f %f2",
        "%x = OpImageSampleExplicitLod %float4 %sp %f2 0x84 %f2 %f2 %i",
        "%x = OpImageFetch %float4 %p %i2 0x2 %f",
        "%x = OpImageFetch %float4 %m %i2 0x40 %f",
        "%x = OpImageGather %float4 %sp %f2 #1 0x20 %i8",
        "%x = OpImageGather %float4 %sp %f2 #1 0x20 %offset",
    ] {
        rejects_body("SPIRV-ImageOperands-type", body);
    }
}

#[test]
fn image_operands_for_wrong_images_are_rejected() {
    for body in ["%x = OpImageFetch %float4 %m %i2 0x42 %i %i", "%x = OpImageFetch %float4 %p %i2 0x40 %i"] {
        rejects_body("SPIRV-ImageOperands-image", body);
    }
    rejects_body("VUID-StandaloneSpirv-Offset-04865", "%x = OpImageRead %float4 %s %i2 0x8 %offset");
}

#[test]
fn wrong_texels_and_coordinates_are_rejected() {
    for body in [
        "%x = OpImageSampleExplicitLod %float3 %sp %f2 0x2 %f",
        "%x = OpImageSampleExplicitLod %float %sp %f2 0x2 %f",
        "%x = OpImageSampleExplicitLod %uint4 %sp %f2 0x2 %f",
        "%x = OpImageFetch %float2 %p %i2",
        "%x = OpImageRead %uint4 %s %i2",
        "OpImageWrite %s %i2 %i4",
        "OpImageWrite %n %i2 %true",
    ] {
        rejects_body("SPIRV-texel-type", body);
    }
    for body in [
        "%x = OpImageSampleExplicitLod %float4 %sp %f 0x2 %f",
        "%x = OpImageSampleExplicitLod %float4 %sp %i2 0x2 %f",
        "%x = OpImageSampleExplicitLod %float4 %sa %f2 0x2 %f",
        "%x = OpImageSampleExplicitLod %float4 %sc %f2 0x2 %f",
        "%x = OpImageFetch %float4 %p %f2",
        "%x = OpImageFetch %float4 %a %i2",
        "OpImageWrite %s %i %f4",
    ] {
        rejects_body("SPIRV-image-coordinate", body);
    }
}

#[test]
fn operands_that_are_not_images_are_rejected() {
    for body in [
        "%x = OpImageSampleExplicitLod %float4 %p %f2 0x2 %f",
        "%x = OpImageFetch %float4 %sp %i2",
        "%x = OpImageRead %float4 %f4 %i2",
        "OpImageWrite %i %i2 %f4",
        "%x = OpImageQueryLevels %uint %sp",
        "%x = OpImage %plane %p",
    ] {
        rejects_body("SPIRV-image-operand", body);
    }
    for body in [
        "%x = OpImageQuerySizeLod %uint %p #1",
        "%x = OpImageQuerySizeLod %uint2 %a #1",
        "%x = OpImageQuerySize %float2 %s",
        "%x = OpImageQuerySizeLod %uint2 %p %f",
        "%x = OpImageQueryLevels %uint2 %p",
        "%x = OpImage %cube %sp",
        "%x = OpSampledImage %sampled_cube %p %sampler_value",
        "%x = OpSampledImage %sampled_plane %p %f",
    ] {
        let body = format!("%sampler_value = OpUndef %sampler\n{body}");
        let mut changes = changes(&body);
        changes[1].1 += "\n%sampler = OpTypeSampler";
        vulkan_rejects("SPIRV-image-query-type", &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
    }
}

#[test]
fn wrong_image_types_for_vulkan_are_rejected() {
    for operands in ["3 0 0 1", "0 2 0 1", "0 0 2 1", "0 0 0 3"] {
        let image = format!("%image = OpTypeImage %float Dim2D {operands} Unknown");
        vulkan_rejects("SPIRV-OpTypeImage", &[("globals", &image)]);
    }
    let with = |ty: &'static str| [("globals", ty)];
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpTypeImage-04656",
        &with("%image = OpTypeImage %void Dim2D 0 0 0 1 Unknown"),
    );
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpTypeImage-04657",
        &with("%image = OpTypeImage %float Dim2D 0 0 0 0 Unknown"),
    );
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpTypeSampledImage-06671",
        &with("%image = OpTypeImage %float Dim2D 0 0 0 2 Rgba32f\n%both = OpTypeSampledImage %image"),
    );
    rejects_body("VUID-StandaloneSpirv-OpImageQuerySizeLod-04659", "%x = OpImageQueryLevels %uint %s");
}

#[test]
fn wrong_formats_are_rejected() {
    let storage = "OpTypeImage %float Dim2D 0 0 0 2";
    for body in ["%x = OpImageRead %float4 %s %i2", "OpImageWrite %s %i2 %f4"] {
        let mut changes = changes(body);
        changes[1].1 = TYPES.replace(&format!("{storage} Rgba32f"), &format!("{storage} Unknown"));
        vulkan_rejects("SPIRV-image-format", &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
        changes[0].1 +=
            "OpCapability StorageImageReadWithoutFormat\nOpCapability StorageImageWriteWithoutFormat\n";
        accepts(&findings((1, 5), VULKAN, &changes.each_ref().map(|(at, text)| (*at, text.as_str()))));
    }
}

/// Kernels sample with integers, and read depth as a scalar.
#[test]
fn wrong_images_of_kernels_are_rejected() {
    let types = "%float = OpTypeFloat 32
%float2 = OpTypeVector %float 2
%float4 = OpTypeVector %float 4
%uint2 = OpTypeVector %uint 2
%zero = OpConstant %float 0
%image = OpTypeImage %void Dim2D 0 0 0 0 Unknown ReadOnly
%combined = OpTypeSampledImage %image";
    let values = "%s = OpUndef %combined
%f2 = OpUndef %float2
%i2 = OpUndef %uint2";
    let with = |body: &str| {
        [
            ("OpCapability Int64\n", "OpCapability Int64\nOpCapability ImageBasic\n".to_owned()),
            ("globals", types.to_owned()),
            ("body", format!("{values}\n{body}")),
        ]
    };
    for body in [
        format!("%x = OpImageSampleExplicitLod %float4 %s %i2 {LOD} %zero"),
        format!("%x = OpImageSampleExplicitLod %float %s %f2 {LOD} %zero"),
        "%x = OpImageSampleExplicitLod %float4 %s %f2 4 %f2 %f2".to_owned(),
    ] {
        let changes = with(&body);
        accepts(&findings((1, 2), OPENCL, &changes.each_ref().map(|(at, text)| (*at, text.as_str()))));
    }
    let changes = with("%x = OpImageSampleExplicitLod %float4 %s %f2 0");
    opencl_rejects("SPIRV-ImageOperands", &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
}
