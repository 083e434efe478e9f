//! Negative tests of extended instructions.

use super::{OPENCL, VULKAN, accepts, findings, vulkan_rejects};

const ONE: (&str, &str) =
    ("globals", "%one = OpConstant %float 0x3f800000\n%long_one = OpConstant %ulong 1 0");
const GLSL: (&str, &str) = ("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel");

#[track_caller]
fn rejects_body(rule: &str, body: &str) {
    vulkan_rejects(rule, &[GLSL, ONE, ("body", body)]);
}

#[test]
fn wrong_extended_instructions_are_rejected() {
    // Sqrt, FMin, and SMin, whose operands can differ in sign.
    let body = "%a = OpExtInst %float %glsl 31 %one\n%b = OpExtInst %float %glsl 37 %one %one\n%c = OpExtInst %uint %glsl 39 #1 #1";
    accepts(&findings((1, 5), VULKAN, &[GLSL, ONE, ("body", body)]));
    rejects_body("SPIRV-OpExtInst-set", "%a = OpExtInst %float %uint 31 %one");
    rejects_body("SPIRV-OpExtInst", "%a = OpExtInst %float %glsl 9999 %one");
    rejects_body("SPIRV-OpExtInst", "%a = OpExtInst %float %glsl 31");
    rejects_body("SPIRV-OpExtInst", "%a = OpExtInst %float %glsl 31 %one %one");
    rejects_body("GLSL.std.450-types", "%a = OpExtInst %float %glsl 31 #1");
    rejects_body("GLSL.std.450-types", "%a = OpExtInst %uint %glsl 37 %one %one");
    let set = ("OpMemoryModel", "%std = OpExtInstImport \"OpenCL.std\"\nOpMemoryModel");
    let found = findings((1, 2), OPENCL, &[set, ("body", "%a = OpExtInst %uint %std 5000 #1")]);
    assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["SPIRV-OpExtInst"]);
}
