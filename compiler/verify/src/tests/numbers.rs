//! Negative tests of the types of operands.

use super::{OPENCL, VULKAN, accepts, findings, opencl_rejects, rejects, vulkan_rejects};

const VECTORS: &str = "%uint2 = OpTypeVector %uint 2
%bool2 = OpTypeVector %bool 2
%pair = OpConstantComposite %uint2 #1 #1
%bools = OpConstantComposite %bool2 %true %true
%one = OpConstant %float 0x3f800000
%long_one = OpConstant %ulong 1 0";

/// The body with vectors and constants breaks this rule.
#[track_caller]
fn rejects_body(rule: &str, body: &str) {
    vulkan_rejects(rule, &[("globals", VECTORS), ("body", body)]);
}

#[test]
fn operands_of_their_types_are_valid() {
    let body = "%a = OpIAdd %uint #1 #2
        %b = OpShiftLeftLogical %uint2 %pair %pair
        %c = OpShiftLeftLogical %ulong %long_one #1
        %d = OpUConvert %uint %long_one
        %e = OpConvertUToF %float %long_one
        %f = OpULessThan %bool2 %pair %pair
        %g = OpFOrdLessThan %bool %one %one
        %h = OpLogicalNot %bool %true
        %i = OpSelect %uint2 %true %pair %pair
        %j = OpSelect %uint2 %bools %pair %pair
        %k = OpULessThan %bool %long_one %long_one
        %l = OpBitcast %ulong %pair
        %m = OpBitcast %float #1
        %n = OpBitcast %global_float %pointer";
    accepts(&findings((1, 5), VULKAN, &[("globals", VECTORS), ("body", body)]));
}

#[test]
fn wrong_numbers_are_rejected() {
    for body in [
        "%a = OpIAdd %uint #1 %one",
        "%a = OpIAdd %uint #1 %long_one",
        "%a = OpIAdd %uint2 %pair #1",
        "%a = OpIAdd %float %one %one",
        "%a = OpFAdd %float %one #1",
        "%a = OpIAdd %uint #1 %true",
        "%a = OpShiftLeftLogical %uint %long_one #1",
        "%a = OpShiftLeftLogical %uint2 %pair #1",
        "%a = OpConvertUToF %float %one",
        "%a = OpConvertFToU %float %one",
        "%a = OpULessThan %bool #1 %long_one",
        "%a = OpULessThan %uint #1 #1",
        "%a = OpULessThan %bool %pair %pair",
        "%a = OpFOrdLessThan %bool #1 #1",
        "%a = OpIEqual %bool %pointer %pointer",
        "%a = OpLogicalNot %bool #1",
        "%a = OpLogicalAnd %bool2 %bools %true",
        "%a = OpINotEqual %bool %true %true",
        "%a = OpUConvert %uint #1",
        "%a = OpSConvert %ulong %long_one",
        "%a = OpBitcast %ulong #1",
        "%a = OpBitcast %uint %true",
        "%a = OpBitcast %bool #1",
        "%a = OpBitcast %procedure #1",
    ] {
        rejects_body("SPIRV-number-types", body);
    }
}

#[test]
fn wrong_selections_of_values_are_rejected() {
    for body in [
        "%a = OpSelect %uint #1 #1 #1",
        "%a = OpSelect %uint %bools #1 #1",
        "%a = OpSelect %uint %true #1 %long_one",
        "%a = OpSelect %uint2 %true #1 #1",
    ] {
        rejects_body("SPIRV-OpSelect", body);
    }
}

#[test]
fn wrong_conditions_are_rejected() {
    let branch = "OpSelectionMerge %end 0\nOpBranchConditional #1 %then %end\n%then = OpLabel\nOpBranch %end\n%end = OpLabel";
    rejects_body("SPIRV-condition", branch);
    rejects_body("SPIRV-condition", &branch.replace("#1", "%bools"));
    rejects_body("SPIRV-condition", "OpSelectionMerge %end 0\nOpSwitch %true %end\n%end = OpLabel");
    let phi = "OpBranch %end\n%end = OpLabel\n%a = OpPhi %uint %long_one %entry";
    rejects_body("SPIRV-OpPhi-type", phi);
}

#[test]
fn wrong_calls_and_returns_are_rejected() {
    let with = |result: &str, call: &str| {
        let function = format!(
            "%callee = OpFunction %uint 0 %unary
            %parameter = OpFunctionParameter %uint
            %first = OpLabel
            {result}
            OpFunctionEnd"
        );
        let globals = format!("%unary = OpTypeFunction %uint %uint\n{VECTORS}");
        findings((1, 5), VULKAN, &[("globals", &globals), ("functions", &function), ("body", call)])
    };
    let (result, call) = ("OpReturnValue %parameter", "%a = OpFunctionCall %uint %callee #1");
    accepts(&with(result, call));
    rejects("SPIRV-OpFunctionCall", &with(result, "%a = OpFunctionCall %uint %callee %long_one"));
    rejects("SPIRV-OpFunctionCall", &with(result, "%a = OpFunctionCall %uint %callee"));
    rejects("SPIRV-OpFunctionCall", &with(result, "%a = OpFunctionCall %ulong %callee #1"));
    rejects("SPIRV-OpFunctionCall", &with(result, "%a = OpFunctionCall %uint %push #1"));
    rejects("SPIRV-return", &with("OpReturnValue %long_one", call));
    rejects("SPIRV-return", &with("OpReturn", call));
    rejects_body("SPIRV-return", "OpReturnValue #1\n%next = OpLabel");
}

#[test]
fn casts_of_pointers() {
    let types = "%generic_uint = OpTypePointer Generic %uint";
    let valid = "%a = OpPtrCastToGeneric %generic_uint %private\n%b = OpGenericCastToPtr %global_uint %a\n\
                 %c = OpGenericCastToPtrExplicit %private_uint %a 7";
    accepts(&findings((1, 2), OPENCL, &[("globals", types), ("body", valid)]));
    for body in [
        "%a = OpPtrCastToGeneric %global_uint %private",
        "%a = OpPtrCastToGeneric %generic_uint #1",
        "%a = OpGenericCastToPtr %global_uint %private",
        "%a = OpGenericCastToPtr %uint %private",
        "%g = OpPtrCastToGeneric %generic_uint %private\n%a = OpPtrCastToGeneric %generic_uint %g",
        "%g = OpPtrCastToGeneric %generic_uint %private\n%a = OpGenericCastToPtr %generic_uint %g",
        "%a = OpGenericCastToPtrExplicit %private_uint %pointer 7",
    ] {
        opencl_rejects("SPIRV-generic-cast", &[("globals", types), ("body", body)]);
    }
}
