//! Malformed modules: findings, never a panic.

use super::{OPENCL, VULKAN, accepts, assemble, fill, findings, rejects, verify};

#[test]
fn wrong_headers_are_rejected() {
    rejects("SPIRV-header", &verify(&[], None));
    rejects("SPIRV-header", &verify(&[0x0723_0203, 0x0001_0500, 0, 1], None));
    rejects("SPIRV-header", &verify(&[0x0302_2307, 0x0001_0500, 0, 1, 0], None));
    rejects("SPIRV-header", &verify(&[0x0723_0203, 0x0002_0000, 0, 1, 0], None));
    rejects("SPIRV-header", &verify(&[0x0723_0203, 0x0001_0500, 0, 1, 7], None));
    let empty = verify(&[0x0723_0203, 0x0001_0500, 0, 1, 0], None);
    rejects("SPIRV-OpMemoryModel", &empty);
}

#[test]
fn wrong_instructions_are_rejected() {
    let with = |words: &[u32]| {
        let mut module = assemble((1, 5), &fill(VULKAN, &[]));
        module.extend(words);
        verify(&module, None)
    };
    rejects("SPIRV-framing", &with(&[0]));
    rejects("SPIRV-framing", &with(&[9 << 16 | 1, 1]));
    rejects("SPIRV-grammar", &with(&[1 << 16 | 0xffff]));
    rejects("SPIRV-grammar", &with(&[1 << 16 | 61]));
    rejects("SPIRV-grammar", &with(&[3 << 16 | 253, 1, 1]));
    rejects("SPIRV-OpSpecConstantOp", &with(&[5 << 16 | 52, 1, 2, 43, 1]));
    rejects("SPIRV-OpSpecConstantOp", &with(&[4 << 16 | 52, 1, 2, 251]));
    rejects("SPIRV-grammar", &with(&[3 << 16 | 52, 1, 2]));
}

#[test]
fn specialized_operations_keep_their_operands() {
    let sum = "%n = OpSpecConstant %uint 1\n%sum = OpSpecConstantOp %uint IAdd %n #1";
    accepts(&findings((1, 5), VULKAN, &[("globals", sum)]));
    let missing = "%sum = OpSpecConstantOp %uint IAdd %n #1\n%n = OpSpecConstant %uint 1";
    rejects("SPIRV-id-defined", &findings((1, 5), VULKAN, &[("globals", missing)]));
}

#[test]
fn findings_have_lines_of_the_source() {
    let body = "OpLine %file 7 43\nOpMemoryBarrier #1 #0";
    let changes = [("OpName %main", "%file = OpString \"flag.cl\"\nOpName %main"), ("body", body)];
    let found = findings((1, 5), VULKAN, &changes);
    assert!(found[0].to_string().starts_with("flag.cl:7:43: word "), "{}", found[0]);
}

/// Replaces each word of two modules by invalid values, and truncates the modules after each word.
#[test]
fn malformed_words_never_panic() {
    let body = "OpLine %file 1 1\n%x = OpAtomicCompareExchange %uint %pointer #1 #0x6048 #0x4042 #1 #0\n\
                OpControlBarrier #2 #2 #0x6108\n%y = OpLoad %uint %pointer 0x22 4\n%z = OpSelect %uint %true #1 #2\n\
                OpSelectionMerge %done 0\nOpSwitch %z %done 1 %done\n%done = OpLabel";
    let sum = "%n = OpSpecConstant %uint 1\n%sum = OpSpecConstantOp %uint IAdd %n #1";
    let vulkan =
        [("OpName %main", "%file = OpString \"flag.cl\"\nOpName %main"), ("body", body), ("globals", sum)];
    let modules = [
        assemble((1, 5), &fill(VULKAN, &vulkan)),
        assemble((1, 2), &fill(OPENCL, &[("body", "OpControlBarrier #2 #1 #0x308")])),
    ];
    for module in modules {
        accepts(&verify(&module, None));
        for at in 0..module.len() {
            verify(&module[..at], None);
            let word = module[at];
            for broken in [
                0,
                1,
                u32::MAX,
                word ^ 1,
                word.wrapping_add(1),
                word.wrapping_sub(1),
                word.wrapping_add(1 << 16),
                word.wrapping_sub(1 << 16),
                word & 0xffff_0000 | 43,
                word & 0xffff_0000 | 54,
                word & 0xffff_0000 | 56,
                word & 0xffff_0000 | 248,
            ] {
                let mut module = module.clone();
                module[at] = broken;
                verify(&module, None);
            }
        }
    }
}
