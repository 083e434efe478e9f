//! Reads the names of kernel parameters from a SPIR-V module, because OpenCL reports them only for sources.

use std::collections::HashMap;

const NAME: u32 = 5;
const ENTRY_POINT: u32 = 15;
const FUNCTION: u32 = 54;
const FUNCTION_PARAMETER: u32 = 55;
const HEADER: usize = 5;

/// The parameters of each kernel, by kernel name. Unnamed parameters have their index as name.
pub(crate) fn parameters(module: &[u8]) -> HashMap<String, Vec<String>> {
    let words: Vec<u32> =
        module.chunks_exact(4).map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect();
    let mut names = HashMap::new();
    let mut kernels = HashMap::new();
    let mut functions: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut function = 0;
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some((instruction, after)) =
        rest.first().and_then(|word| rest.split_at_checked((word >> 16).max(1) as usize))
    {
        rest = after;
        match (instruction[0] & 0xffff, &instruction[1..]) {
            (NAME, [id, text @ ..]) => drop(names.insert(*id, string(text))),
            (ENTRY_POINT, [_, id, text @ ..]) => drop(kernels.insert(string(text), *id)),
            (FUNCTION, [_, id, ..]) => function = *id,
            (FUNCTION_PARAMETER, [_, id]) => functions.entry(function).or_default().push(*id),
            _ => {}
        }
    }
    let name = |(index, id): (usize, &u32)| names.get(id).cloned().unwrap_or_else(|| index.to_string());
    let of = |id| functions.get(&id).map_or(Vec::new(), |ids| ids.iter().enumerate().map(name).collect());
    kernels.into_iter().map(|(kernel, id)| (kernel, of(id))).collect()
}

/// A literal string: the bytes before the nul terminator.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
