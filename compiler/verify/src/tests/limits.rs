//! Each universal limit: a module at the limit is valid, and one more is not.

use super::{VULKAN, accepts, assemble, fill, rejects, verify};

/// `text` for each number, in lines.
fn lines(count: u32, text: impl Fn(u32) -> String) -> String {
    (0..count).map(|number| text(number) + "\n").collect()
}

/// `count` words, separated by blanks.
fn many(word: &str, count: u32) -> String {
    vec![word; count as usize].join(" ")
}

/// The Vulkan module with these changes is valid at the limit, and breaks the rule with one more.
#[track_caller]
fn limit(rule: &str, limit: u32, changes: impl Fn(u32) -> Vec<(&'static str, String)>) {
    let findings = |count| {
        let changes = changes(count);
        let changes: Vec<(&str, &str)> = changes.iter().map(|(at, text)| (*at, text.as_str())).collect();
        verify(&assemble((1, 5), &fill(VULKAN, &changes)), None)
    };
    accepts(&findings(limit));
    rejects(rule, &findings(limit + 1));
}

/// The Vulkan module with variables of this type and storage class in place of an OpNop.
#[track_caller]
fn limit_of_variables(rule: &str, limit: u32, changes: &[(&str, &str)], variable: [u32; 2]) {
    let words = assemble((1, 5), &fill(VULKAN, changes));
    let nop = words.iter().position(|word| *word == 1 << 16).expect("an OpNop");
    let findings = |count: u32| {
        let mut changed = words[..nop].to_vec();
        for number in 0..count {
            changed.extend([4 << 16 | 59, variable[0], words[3] + number, variable[1]]);
        }
        changed.extend(&words[nop + 1..]);
        changed[3] += count;
        verify(&changed, None)
    };
    accepts(&findings(limit));
    rejects(rule, &findings(limit + 1));
}

#[test]
fn ids_are_limited() {
    let mut words = assemble((1, 5), &fill(VULKAN, &[]));
    words[3] = 4_194_303;
    accepts(&verify(&words, None));
    words[3] += 1;
    rejects("SPIRV-limit-id-bound", &verify(&words, None));
}

#[test]
fn strings_are_limited() {
    limit("SPIRV-limit-string", 65_535, |count| {
        let name = "ä".repeat(count as usize);
        vec![("OpName %main \"main\"", format!("OpName %main \"{name}\""))]
    });
}

#[test]
fn structures_are_limited() {
    limit("SPIRV-limit-members", 16_383, |count| {
        vec![("globals", format!("%wide_block = OpTypeStruct {}", many("%uint", count)))]
    });
    limit("SPIRV-limit-structure-nesting", 255, |count| {
        let nested = lines(count - 1, |n| {
            format!("%a{n} = OpTypeArray %s{n} #2\n%s{} = OpTypeStruct %uint %a{n}", n + 1)
        });
        vec![("globals", format!("%s0 = OpTypeStruct %uint\n{nested}"))]
    });
}

#[test]
fn variables_are_limited() {
    // The id that the assembler gives a type, and the change of the module that shows it.
    let id = |name: &str| {
        let words = assemble((1, 5), &fill(VULKAN, &[("OpName %main", &format!("OpName {name}"))]));
        let at = words.iter().position(|word| *word == 4 << 16 | 5).expect("an OpName");
        (words[at + 1], format!("OpName {name}"))
    };
    let (private, named) = id("%private_uint");
    let locals =
        [("OpName %main", named.as_str()), ("%private = OpVariable", "OpNop\n%private = OpVariable")];
    // The module has one.
    limit_of_variables("SPIRV-limit-local-variables", 524_286, &locals, [private, 7]);
    let (shared, named) = id("%local_uint");
    let globals = [("OpName %main", named.as_str()), ("globals", "OpNop")];
    // The module has two.
    limit_of_variables("SPIRV-limit-global-variables", 65_533, &globals, [shared, 4]);
}

#[test]
fn execution_modes_are_limited() {
    let mode = "OpExecutionMode %main LocalSize 1 1 1\n";
    limit("SPIRV-limit-execution-modes", 255, |count| vec![(mode, mode.repeat(count as usize))]);
}

#[test]
fn operands_are_limited() {
    // Arrays in arrays, as deep as there are indexes.
    let nested = |count, body: String| {
        let arrays = (1..=count).map(|depth| match depth {
            1 => "%n1 = OpTypeArray %uint #1\n".to_owned(),
            _ => format!("%n{depth} = OpTypeArray %n{} #1\n", depth - 1),
        });
        let types = arrays.chain([format!("%deep = OpTypePointer Function %n{count}")]).collect();
        vec![("globals", types), ("body", body)]
    };
    limit("SPIRV-limit-indexes", 255, |count| {
        let chain = format!("%c = OpAccessChain %private_uint %p {}", many("#0", count));
        nested(count, format!("%p = OpUndef %deep\n{chain}"))
    });
    limit("SPIRV-limit-indexes", 255, |count| {
        let extract = format!("%x = OpCompositeExtract %uint %all {}", many("0", count));
        nested(count, format!("%all = OpUndef %n{count}\n{extract}"))
    });
    limit("SPIRV-limit-indexes", 255, |count| {
        let insert = format!("%x = OpCompositeInsert %n{count} #1 %all {}", many("0", count));
        nested(count, format!("%all = OpUndef %n{count}\n{insert}"))
    });
    limit("SPIRV-limit-arguments", 255, |count| {
        let import = "%set = OpExtInstImport \"NonSemantic.Test\"\nOpMemoryModel";
        let extension = format!("OpExtension \"SPV_KHR_non_semantic_info\"\n{import}");
        let call = format!("%x = OpExtInst %void %set 1 {}", many("%void", count));
        vec![("OpMemoryModel", extension), ("body", call)]
    });
    limit("SPIRV-limit-parameters", 255, |count| {
        vec![("globals", format!("%many = OpTypeFunction %void {}", many("%uint", count)))]
    });
}

#[test]
fn control_flow_is_limited() {
    limit("SPIRV-limit-cases", 16_383, |count| {
        let cases: String = (0..count).map(|number| format!(" {number} %end")).collect();
        let switch = format!("OpSelectionMerge %end 0\nOpSwitch #1 %end{cases}\n%end = OpLabel");
        vec![("body", switch)]
    });
    // A selection that has ended does not count.
    limit("SPIRV-limit-nesting", 1_022, |count| {
        let one = "OpSelectionMerge %done 0\nOpBranchConditional %true %then %done\n%then = OpLabel\nOpBranch %done\n%done = OpLabel\n";
        let begin = lines(count, |n| {
            format!("OpSelectionMerge %m{n} 0\nOpBranchConditional %true %t{n} %m{n}\n%t{n} = OpLabel")
        });
        let end = lines(count, |n| format!("OpBranch %m{0}\n%m{0} = OpLabel", count - 1 - n));
        let inner = one.replace("done", "last").replace("then", "inner");
        vec![("body", format!("{one}{begin}{inner}{end}"))]
    });
}
