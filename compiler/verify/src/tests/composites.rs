//! Negative tests of composites and access chains.

use super::{OPENCL, VULKAN, accepts, findings, rejects, vulkan_rejects};

const TYPES: &str = "%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%float2 = OpTypeVector %float 2
%one = OpConstant %float 0x3f800000
%long_one = OpConstant %ulong 1 0
%row = OpTypeArray %uint #4
%record = OpTypeStruct %uint %float %row
%local_record = OpTypePointer Workgroup %record
%local_float = OpTypePointer Workgroup %float
%records = OpVariable %local_record Workgroup";

const VALUES: &str = "%pair = OpCompositeConstruct %uint2 #1 #2
%three = OpCompositeConstruct %uint3 %pair #1
%floats = OpCompositeConstruct %float2 %one %one
%list = OpCompositeConstruct %row #1 #2 #4 #4
%all = OpCompositeConstruct %record #1 %one %list";

/// Checks the module with these instructions.
fn changes(body: &str) -> [(&'static str, String); 3] {
    [
        ("globals", TYPES.to_owned()),
        ("body", format!("{VALUES}\n{body}")),
        ("%push %shared\n", "%push %shared %records\n".to_owned()),
    ]
}

#[track_caller]
fn rejects_body(rule: &str, body: &str) {
    let changes = changes(body);
    vulkan_rejects(rule, &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
}

/// Enables untyped pointers, with types and a variable of them.
fn with_untyped_pointers(body: &str) -> [(&str, &str); 3] {
    const ENABLED: &str =
        "OpCapability UntypedPointersKHR\nOpExtension \"SPV_KHR_untyped_pointers\"\nOpMemoryModel";
    const DECLARED: &str = "%untyped = OpTypeUntypedPointerKHR CrossWorkgroup\n\
        %untyped_local = OpTypeUntypedPointerKHR Workgroup\n\
        %pair = OpTypeStruct %uint %uint\n%pairs = OpUntypedVariableKHR %untyped_local Workgroup %pair";
    [("OpMemoryModel", ENABLED), ("globals", DECLARED), ("body", body)]
}

#[test]
fn wrong_untyped_pointers_are_rejected() {
    let found = |body| findings((1, 4), OPENCL, &with_untyped_pointers(body));
    accepts(&found(
        "%x = OpUntypedAccessChainKHR %untyped_local %pair %pairs #1\n%y = OpUntypedPtrAccessChainKHR %untyped_local %uint %x #1",
    ));
    for body in [
        "%x = OpUntypedAccessChainKHR %untyped_local %pair %pairs #2",
        "%x = OpUntypedAccessChainKHR %untyped %pair %pairs #1",
        "%x = OpUntypedAccessChainKHR %untyped_local %pair #1 #1",
        "%x = OpUntypedPtrAccessChainKHR %untyped_local %pair %pairs %pairs",
    ] {
        rejects("SPIRV-access-chain", &found(body));
    }
    for variable in [
        "%other = OpUntypedVariableKHR %untyped CrossWorkgroup %uint #1",
        "%other = OpUntypedVariableKHR %untyped CrossWorkgroup %pair #1",
        "%other = OpUntypedVariableKHR %untyped Workgroup %uint",
        "%other = OpUntypedVariableKHR %untyped CrossWorkgroup #1",
    ] {
        let mut edits = with_untyped_pointers("");
        let declared = format!("{}\n{variable}", edits[1].1);
        edits[1].1 = &declared;
        match variable.ends_with("%uint #1") {
            true => accepts(&findings((1, 4), OPENCL, &edits)),
            false => rejects("SPIRV-OpVariable", &findings((1, 4), OPENCL, &edits)),
        }
    }
}

#[test]
fn parts_that_exist_are_valid() {
    let body = "%a = OpCompositeExtract %uint %all 2 3
        %b = OpCompositeInsert %record %one %all 1
        %c = OpVectorShuffle %uint3 %pair %three 0 4 4294967295
        %d = OpVectorExtractDynamic %uint %three #2
        %e = OpVectorInsertDynamic %uint2 %pair #1 #1
        %f = OpAccessChain %local_uint %records #2 #1
        %g = OpAccessChain %local_float %records #1";
    let changes = changes(body);
    accepts(&findings((1, 5), VULKAN, &changes.each_ref().map(|(at, text)| (*at, text.as_str()))));
}

#[test]
fn members_that_do_not_exist_are_rejected() {
    for body in [
        "%a = OpCompositeExtract %uint %all 1",
        "%a = OpCompositeExtract %uint %all 3",
        "%a = OpCompositeExtract %uint %all 2 4",
        "%a = OpCompositeExtract %uint %pair 2",
        "%a = OpCompositeExtract %uint #1 0",
        "%a = OpCompositeInsert %record #1 %all 1",
        "%a = OpCompositeInsert %uint2 #1 %three 1",
        "%a = OpVectorExtractDynamic %float %pair #1",
        "%a = OpVectorExtractDynamic %uint %pair %one",
        "%a = OpVectorInsertDynamic %uint2 %pair %one #1",
        "%a = OpVectorInsertDynamic %uint3 %pair #1 #1",
    ] {
        rejects_body("SPIRV-member", body);
    }
}

#[test]
fn wrong_constituents_are_rejected() {
    for body in [
        "%a = OpCompositeConstruct %uint2 #1",
        "%a = OpCompositeConstruct %uint2 #1 %one",
        "%a = OpCompositeConstruct %uint2 %pair #1",
        "%a = OpCompositeConstruct %row #1 #1",
        "%a = OpCompositeConstruct %record #1 #1 %list",
        "%a = OpCompositeConstruct %record #1 %one",
    ] {
        rejects_body("SPIRV-OpCompositeConstruct", body);
    }
    for body in [
        "%a = OpVectorShuffle %uint2 %pair %pair 0 4",
        "%a = OpVectorShuffle %uint2 %pair %pair 0",
        "%a = OpVectorShuffle %uint2 %pair %floats 0 1",
        "%a = OpVectorShuffle %float2 %pair %pair 0 1",
    ] {
        rejects_body("SPIRV-OpVectorShuffle", body);
    }
}

#[test]
fn wrong_access_chains_are_rejected() {
    for body in [
        "%a = OpAccessChain %local_uint %records #1",
        "%a = OpAccessChain %local_uint %records #4",
        "%a = OpAccessChain %local_uint %records #2 %one",
        "%a = OpAccessChain %local_uint %records #2 #1 #1",
        "%a = OpAccessChain %private_uint %records #2 #1",
        "%a = OpAccessChain %local_uint %all #2 #1",
        "%a = OpAccessChain %uint %records #2 #1",
    ] {
        rejects_body("SPIRV-access-chain", body);
    }
}
