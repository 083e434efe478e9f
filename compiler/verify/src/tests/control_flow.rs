//! Negative tests of the order of blocks and of structured control flow.

use super::{OPENCL, VULKAN, accepts, findings, opencl_rejects, rejects, vulkan_rejects};

/// An `if` with two branches that join.
const IF: &str = "
OpSelectionMerge %join 0
OpBranchConditional %true %then %else
%then = OpLabel
%a = OpIAdd %uint #1 #1
OpBranch %join
%else = OpLabel
%b = OpIAdd %uint #1 #1
OpBranch %join
%join = OpLabel
%c = OpPhi %uint %a %then %b %else";

/// A loop with a test, a body that can continue or break early, and a continue construct of two blocks.
const LOOP: &str = "
OpBranch %header
%header = OpLabel
OpLoopMerge %after %continue 0
OpBranchConditional %true %test %after
%test = OpLabel
OpSelectionMerge %rest 0
OpBranchConditional %true %early %late
%early = OpLabel
OpBranch %continue
%late = OpLabel
OpBranchConditional %true %rest %after
%rest = OpLabel
OpBranch %continue
%continue = OpLabel
OpBranch %last
%last = OpLabel
OpBranchConditional %true %header %after
%after = OpLabel";

/// A switch in a loop, with a case that falls through, one that breaks, and one that continues.
const SWITCH: &str = "
OpBranch %header
%header = OpLabel
OpLoopMerge %after %continue 0
OpBranch %select
%select = OpLabel
OpSelectionMerge %end 0
OpSwitch #1 %default 1 %one 2 %two
%one = OpLabel
OpBranch %two
%two = OpLabel
OpSelectionMerge %three 0
OpBranchConditional %true %four %three
%four = OpLabel
OpBranchConditional %true %end %three
%three = OpLabel
OpBranch %end
%default = OpLabel
OpBranch %continue
%end = OpLabel
OpBranch %continue
%continue = OpLabel
OpBranchConditional %true %header %after
%after = OpLabel";

/// The text with one change.
#[track_caller]
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "there is no {from:?}");
    text.replacen(from, to, 1)
}

#[track_caller]
fn rejects_change(rule: &str, text: &str, from: &str, to: &str) {
    vulkan_rejects(rule, &[("body", &changed(text, from, to))]);
}

#[test]
fn structured_control_flow_is_valid() {
    for body in [IF, LOOP, SWITCH] {
        accepts(&findings((1, 5), VULKAN, &[("body", body)]));
    }
    let alone = "OpBranch %header
        %header = OpLabel
        OpLoopMerge %after %header 0
        OpBranchConditional %true %header %after
        %after = OpLabel";
    accepts(&findings((1, 5), VULKAN, &[("body", alone)]));
    // Nothing branches to the merge block or to the continue target.
    let endless = "OpBranch %header
        %header = OpLabel
        OpLoopMerge %after %continue 0
        OpBranch %inside
        %inside = OpLabel
        OpReturn
        %continue = OpLabel
        OpBranch %header
        %after = OpLabel";
    accepts(&findings((1, 5), VULKAN, &[("body", endless)]));
}

#[test]
fn definitions_dominate_uses() {
    rejects_change(
        "SPIRV-dominance",
        IF,
        "%b %else",
        "%b %else
%d = OpIAdd %uint %a %a",
    );
    rejects_change("SPIRV-dominance", IF, "%a %then %b %else", "%b %then %a %else");
    let other = "%other = OpFunction %void 0 %procedure
        %first = OpLabel
        %sum = OpIAdd %uint #1 #1
        OpReturn
        OpFunctionEnd";
    let edits = [("functions", other), ("body", "%twice = OpIAdd %uint %sum %sum")];
    rejects("SPIRV-id-defined", &findings((1, 5), VULKAN, &edits));
    let late = "OpBranchConditional %true %one %two
        %one = OpLabel
        %a = OpIAdd %uint #1 #1
        OpBranch %two
        %two = OpLabel
        %b = OpIAdd %uint %a %a";
    opencl_rejects("SPIRV-dominance", &[("body", late)]);
}

/// Kernels of OpenCL have any control flow.
#[test]
fn kernels_are_not_structured() {
    let edits = [(
        "body",
        "OpBranchConditional %true %one %two
        %one = OpLabel
        OpBranchConditional %true %one %two
        %two = OpLabel
        OpBranchConditional %true %one %three
        %three = OpLabel",
    )];
    accepts(&findings((1, 2), OPENCL, &edits));
}

#[test]
fn wrong_orders_of_blocks_are_rejected() {
    let body = "OpBranch %second
        %third = OpLabel
        OpReturn
        %second = OpLabel
        OpBranch %third
        %unused = OpLabel";
    vulkan_rejects("SPIRV-block-order", &[("body", body)]);
    opencl_rejects("SPIRV-block-order", &[("body", body)]);
}

#[test]
fn wrong_phis_are_rejected() {
    rejects_change("SPIRV-OpPhi", IF, "%a %then %b %else", "%a %then");
    rejects_change("SPIRV-OpPhi", IF, "%a %then %b %else", "%a %then #1 %then %b %else");
    rejects_change("SPIRV-OpPhi", IF, "%a %then %b %else", "%a %then %b %else #1 %entry");
    rejects_change("SPIRV-OpPhi", IF, "%then = OpLabel", "%then = OpLabel\n%d = OpPhi %uint #1 %then");
    rejects_change("SPIRV-OpPhi-form", IF, "%a %then %b %else", "%a %then %a %then %b %else");
    rejects_change("SPIRV-OpPhi-form", IF, "%c = OpPhi", "%d = OpIAdd %uint #1 #1\n%c = OpPhi");
}

#[test]
fn wrong_headers_are_rejected() {
    let twice = "OpSelectionMerge %join 0
        OpBranchConditional %true %then %join
        %then = OpLabel
        OpSelectionMerge %join 0
        OpBranchConditional %true %inner %join
        %inner = OpLabel
        OpBranch %join
        %join = OpLabel";
    let found = findings((1, 5), VULKAN, &[("body", twice)]);
    assert!(found.iter().any(|finding| finding.rule == "SPIRV-merge-block"), "{found:?}");
    rejects_change("SPIRV-construct-header", LOOP, "OpSelectionMerge %rest", "OpSelectionMerge %continue");
    let same = changed(LOOP, "OpLoopMerge %after %continue", "OpLoopMerge %after %after");
    let found = findings((1, 5), VULKAN, &[("body", &same)]);
    assert!(found.iter().any(|finding| finding.message.contains("also the continue target")), "{found:?}");
}

#[test]
fn wrong_back_edges_are_rejected() {
    // The header of no loop.
    let plain = "OpBranch %header
        %header = OpLabel
        OpBranchConditional %true %header %after
        %after = OpLabel";
    vulkan_rejects("SPIRV-back-edge", &[("body", plain)]);
    // No back edge, and two.
    rejects_change("SPIRV-back-edge", LOOP, "OpBranchConditional %true %header %after", "OpBranch %after");
    let two = changed(
        LOOP,
        "%continue = OpLabel\nOpBranch %last",
        "%continue = OpLabel\nOpBranchConditional %true %last %header",
    );
    let found = findings((1, 5), VULKAN, &[("body", &two)]);
    assert!(found.iter().any(|finding| finding.rule == "SPIRV-back-edge"), "{found:?}");
}

#[test]
fn wrong_continue_targets_are_rejected() {
    rejects_change(
        "SPIRV-continue-target",
        LOOP,
        "%continue = OpLabel\nOpBranch %last",
        "%continue = OpLabel\nOpBranchConditional %true %last %after",
    );
    rejects_change(
        "SPIRV-continue-target",
        LOOP,
        "OpLoopMerge %after %continue",
        "OpLoopMerge %after %early",
    );
}

#[test]
fn wrong_selections_are_rejected() {
    rejects_change("SPIRV-selection", IF, "OpSelectionMerge %join 0\n", "");
    vulkan_rejects("SPIRV-selection", &[("body", "OpSwitch #1 %end 1 %end\n%end = OpLabel")]);
}

#[test]
fn wrong_constructs_are_rejected() {
    // Out of two selections at once.
    let out = "OpSelectionMerge %join 0
        OpBranchConditional %true %then %join
        %then = OpLabel
        OpSelectionMerge %inner 0
        OpBranchConditional %true %both %inner
        %both = OpLabel
        OpBranch %join
        %inner = OpLabel
        OpBranch %join
        %join = OpLabel";
    vulkan_rejects("SPIRV-construct", &[("body", out)]);
    // Into the middle of a branch of a selection that has ended.
    let middle =
        changed(SWITCH, "%default = OpLabel\nOpBranch %continue", "%default = OpLabel\nOpBranch %four");
    vulkan_rejects("SPIRV-construct-header", &[("body", &middle)]);
    let unused = changed(
        LOOP,
        "%continue = OpLabel\n",
        "%unused = OpLabel\nOpBranch %continue\n%continue = OpLabel\n",
    );
    vulkan_rejects("SPIRV-construct", &[("body", &unused)]);
    // From the loop to the merge block of the switch around it.
    let around = "OpSelectionMerge %end 0
        OpSwitch #1 %end 1 %one
        %one = OpLabel
        OpBranch %header
        %header = OpLabel
        OpLoopMerge %after %continue 0
        OpBranchConditional %true %continue %end
        %continue = OpLabel
        OpBranchConditional %true %header %after
        %after = OpLabel
        OpBranch %end
        %end = OpLabel";
    vulkan_rejects("SPIRV-construct", &[("body", around)]);
}
