//! Negative tests of built-in variables.

use super::{VULKAN, accepts, findings, vulkan_rejects};

/// A module with an object of this type that is decorated as a built-in variable.
fn decorated(builtin: &str, object: &str) -> [(&'static str, String); 2] {
    [
        ("OpDecorate %block Block\n", format!("OpDecorate %block Block\nOpDecorate %it BuiltIn {builtin}\n")),
        (
            "globals",
            format!(
                "%vec2 = OpTypeVector %uint 2\n%vec3 = OpTypeVector %uint 3\n%vec4 = OpTypeVector %uint 4\n{object}"
            ),
        ),
    ]
}

fn variable(class: &str, ty: &str) -> String {
    format!("%in = OpTypePointer {class} {ty}\n%it = OpVariable %in {class}")
}

#[test]
fn built_in_variables() {
    // The name, the rules for the storage class and the type, the type, and a wrong type.
    for (builtin, class, ty, right, wrong) in [
        (
            "GlobalInvocationId",
            "VUID-GlobalInvocationId-GlobalInvocationId-04237",
            "VUID-GlobalInvocationId-GlobalInvocationId-04238",
            "%vec3",
            "%vec2",
        ),
        (
            "LocalInvocationId",
            "VUID-LocalInvocationId-LocalInvocationId-04282",
            "VUID-LocalInvocationId-LocalInvocationId-04283",
            "%vec3",
            "%vec2",
        ),
        (
            "LocalInvocationIndex",
            "VUID-LocalInvocationIndex-LocalInvocationIndex-04285",
            "VUID-LocalInvocationIndex-LocalInvocationIndex-04286",
            "%uint",
            "%float",
        ),
        (
            "NumWorkgroups",
            "VUID-NumWorkgroups-NumWorkgroups-04297",
            "VUID-NumWorkgroups-NumWorkgroups-04298",
            "%vec3",
            "%vec2",
        ),
        (
            "WorkgroupId",
            "VUID-WorkgroupId-WorkgroupId-04423",
            "VUID-WorkgroupId-WorkgroupId-04424",
            "%vec3",
            "%vec2",
        ),
        (
            "NumSubgroups",
            "VUID-NumSubgroups-NumSubgroups-04294",
            "VUID-NumSubgroups-NumSubgroups-04295",
            "%uint",
            "%float",
        ),
        (
            "SubgroupId",
            "VUID-SubgroupId-SubgroupId-04368",
            "VUID-SubgroupId-SubgroupId-04369",
            "%uint",
            "%float",
        ),
        (
            "SubgroupLocalInvocationId",
            "VUID-SubgroupLocalInvocationId-SubgroupLocalInvocationId-04380",
            "VUID-SubgroupLocalInvocationId-SubgroupLocalInvocationId-04381",
            "%uint",
            "%float",
        ),
        (
            "SubgroupSize",
            "VUID-SubgroupSize-SubgroupSize-04382",
            "VUID-SubgroupSize-SubgroupSize-04383",
            "%uint",
            "%float",
        ),
        (
            "SubgroupEqMask",
            "VUID-SubgroupEqMask-SubgroupEqMask-04370",
            "VUID-SubgroupEqMask-SubgroupEqMask-04371",
            "%vec4",
            "%vec3",
        ),
        (
            "SubgroupGeMask",
            "VUID-SubgroupGeMask-SubgroupGeMask-04372",
            "VUID-SubgroupGeMask-SubgroupGeMask-04373",
            "%vec4",
            "%vec3",
        ),
        (
            "SubgroupGtMask",
            "VUID-SubgroupGtMask-SubgroupGtMask-04374",
            "VUID-SubgroupGtMask-SubgroupGtMask-04375",
            "%vec4",
            "%vec3",
        ),
        (
            "SubgroupLeMask",
            "VUID-SubgroupLeMask-SubgroupLeMask-04376",
            "VUID-SubgroupLeMask-SubgroupLeMask-04377",
            "%vec4",
            "%vec3",
        ),
        (
            "SubgroupLtMask",
            "VUID-SubgroupLtMask-SubgroupLtMask-04378",
            "VUID-SubgroupLtMask-SubgroupLtMask-04379",
            "%vec4",
            "%vec3",
        ),
    ] {
        let with = |class, ty| decorated(builtin, &variable(class, ty));
        accept(&with("Input", right));
        reject(class, &with("Private", right));
        reject(ty, &with("Input", wrong));
    }
}

fn borrowed<'a>(changes: &'a [(&'static str, String); 2]) -> [(&'a str, &'a str); 2] {
    [(changes[0].0, &changes[0].1), (changes[1].0, &changes[1].1)]
}

#[track_caller]
fn accept(changes: &[(&'static str, String); 2]) {
    accepts(&findings((1, 5), VULKAN, &borrowed(changes)));
}

#[track_caller]
fn reject(rule: &str, changes: &[(&'static str, String); 2]) {
    vulkan_rejects(rule, &borrowed(changes));
}

#[test]
fn sizes_of_work_groups() {
    let size = |object| decorated("WorkgroupSize", object);
    accept(&size("%it = OpConstantComposite %vec3 #1 #1 #1"));
    reject("VUID-WorkgroupSize-WorkgroupSize-04427", &size("%it = OpConstantComposite %vec2 #1 #1"));
    reject("VUID-WorkgroupSize-WorkgroupSize-04426", &size(&variable("Input", "%vec3")));
}
