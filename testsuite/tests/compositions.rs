//! Random compositions of atomic objects on every device: the results are those of the reference device, which executes
//! modules of the OpenCL environment. `cargo xtask differential --oracle compositions` runs any range of seeds, and
//! `--oracle compositions-intel` also compares with other implementations.

use std::{collections::HashMap, fs, path::Path};

use kiln_testsuite::{
    device::Device,
    differential::Comparison,
    kiln, nightly,
    programs::{self, Program, Sort},
};
use rspirv::spirv::{Op, StorageClass};

#[test]
fn compositions_give_the_same_results_on_every_device() {
    let count = nightly::count("compositions", 60, 2000) as u64;
    let jobs = std::thread::available_parallelism().map_or(1, |it| it.get());
    let mut complaints = Vec::new();
    let tally = Comparison::of_compositions()
        .survey(0..count, jobs, |seed, _, reason| complaints.push(format!("program {seed}:\n{reason}")));
    println!("{tally}");
    assert!(complaints.is_empty(), "{}\n{tally}", complaints.join("\n"));
    for (way, count) in &tally.ways {
        let all = count.same + count.different + count.refused + count.late + count.failed;
        assert_eq!(count.late, 0, "{way} is late: {:?}", count.seeds);
        // SwiftShader has no 64-bit atomic operations, which half of the programs need.
        assert!(count.same * 3 > all, "{way}: only {} of {all} runs are right", count.same);
    }
}

/// Modules with a wrong element type in local memory: each index is computed as if the elements had twice their size, so that
/// neighbors share an element. The compositions must detect that.
#[test]
fn wrong_elements_of_local_objects_are_detected() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (mut changed, mut detected) = (0, Vec::new());
    for seed in 0..24 {
        let program = programs::program(seed, Sort::Composition);
        let Some(words) = module(scratch.path(), &program) else { continue };
        let Some(mutant) = with_halved_indices(&words) else { continue };
        // The device reports some loops on words of which only a part was written (`reports_unwritten`).
        let Ok(right) = results(scratch.path(), &words, &program) else { continue };
        changed += 1;
        if results(scratch.path(), &mutant, &program).as_ref() != Ok(&right) {
            detected.push(seed);
        }
    }
    println!("{} of {changed} modules are detected: {detected:?}", detected.len());
    assert!(changed >= 10, "only {changed} modules are changed");
    assert!(detected.len() * 4 >= changed * 3, "only {detected:?} of {changed} modules are detected");
}

/// The module for the strict Vulkan device.
fn module(folder: &Path, program: &Program) -> Option<Vec<u32>> {
    let (source, module) = (folder.join("program.cl"), folder.join("program.spv"));
    fs::write(&source, &program.source).expect("a source");
    let mut command = kiln::command();
    command.args(["compile", "-w", "--device-profile", "lavapipe", &format!("-cl-std={}", program.std)]);
    let finished = kiln::run(command.arg("-o").arg(&module).arg(&source)).expect("kiln runs");
    let bytes = fs::read(&module).ok().filter(|_| finished.status.success())?;
    Some(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

/// The results of a module on the strict Vulkan device.
fn results(folder: &Path, words: &[u32], program: &Program) -> Result<String, String> {
    let module = folder.join("program.spv");
    fs::write(&module, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
        .expect("a module");
    let mut command = kiln::command();
    Device::named("vulkan-reference").ok_or("there is no such device")?.only(&mut command)?;
    let finished = kiln::run(command.arg("run").arg(&module).args(program.launch()))?;
    if finished.status.success() { Ok(finished.text()) } else { Err(finished.stderr) }
}

/// Halves the indices of all accesses to arrays in local memory, if there are any.
fn with_halved_indices(words: &[u32]) -> Option<Vec<u32>> {
    let (header, mut rest) = words.split_at(5);
    let mut instructions = Vec::new();
    while let Some(&first) = rest.first() {
        let (instruction, others) = rest.split_at(first as usize >> 16);
        instructions.push((Op::from_u32(first & 0xffff), instruction));
        rest = others;
    }
    let variables: Vec<u32> = instructions
        .iter()
        .filter(|(op, it)| *op == Some(Op::Variable) && it[3] == StorageClass::Workgroup as u32)
        .map(|(_, it)| it[2])
        .collect();
    let mut bound = header[3];
    let mut fresh = || {
        bound += 1;
        bound - 1
    };
    let head = |op: Op, length: u32| length << 16 | op as u32;
    let mut types = HashMap::new();
    let mut ones: HashMap<u32, u32> = HashMap::new();
    let (mut globals, mut functions) = (header.to_vec(), Vec::new());
    for (op, instruction) in instructions {
        let to =
            if op == Some(Op::Function) || !functions.is_empty() { &mut functions } else { &mut globals };
        // Results of these instructions are indices.
        if let Some(
            Op::Constant
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::UMod
            | Op::UConvert
            | Op::Phi
            | Op::Select
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::ShiftRightLogical
            | Op::ShiftLeftLogical
            | Op::CompositeExtract
            | Op::FunctionParameter,
        ) = op
        {
            types.insert(instruction[2], instruction[1]);
        }
        match (op, instruction) {
            (Some(Op::AccessChain), &[first, ty, id, base, index]) if variables.contains(&base) => {
                let of_index = *types.get(&index)?;
                let (half, one) = (fresh(), *ones.entry(of_index).or_insert_with(&mut fresh));
                to.extend([head(Op::ShiftRightLogical, 5), of_index, half, index, one]);
                to.extend([first, ty, id, base, half]);
            }
            _ => to.extend_from_slice(instruction),
        }
    }
    let has_changed = !ones.is_empty();
    for (ty, one) in ones {
        globals.extend([head(Op::Constant, 4), ty, one, 1]);
    }
    globals[3] = bound;
    globals.extend(functions);
    has_changed.then_some(globals)
}
