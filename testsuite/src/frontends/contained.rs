//! Finds SPIR-V modules in programs: compilers of SYCL put them into the program's data.

use std::{fs, path::Path};

/// The first word of a module.
const MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

/// The size of a module's header in bytes.
const HEADER: usize = 20;

/// The opcodes OpEntryPoint and OpFunction.
const ENTRY_POINT: u16 = 15;
const FUNCTION: u16 = 54;

/// The module with this kernel in the files of a folder.
pub(super) fn module(folder: &Path, kernel: &str) -> Result<Vec<u8>, String> {
    search(folder, kernel)?
        .ok_or_else(|| format!("no module in {} has the kernel `{kernel}`", folder.display()))
}

fn search(folder: &Path, kernel: &str) -> Result<Option<Vec<u8>>, String> {
    let unreadable = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let found = if path.is_dir() {
            search(&path, kernel)?
        } else {
            in_file(&fs::read(&path).map_err(unreadable)?, kernel).map(<[u8]>::to_vec)
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn in_file<'b>(bytes: &'b [u8], kernel: &str) -> Option<&'b [u8]> {
    let mut at = 0;
    while let Some(start) = bytes.get(at..).and_then(|rest| position(rest, &MAGIC)).map(|it| at + it) {
        let module = whole(&bytes[start..]);
        if has_kernel(module, kernel) {
            return Some(module);
        }
        // The word can occur by chance, before a module.
        at = start + MAGIC.len();
    }
    None
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

/// The bytes up to the next module, or to the first word that begins no instruction.
fn whole(bytes: &[u8]) -> &[u8] {
    let mut end = HEADER.min(bytes.len());
    while let Some((op, length)) = instruction(&bytes[end..])
        && op != 0
        && length > 0
        && !bytes[end..].starts_with(&MAGIC)
        && end + length <= bytes.len()
    {
        end += length;
    }
    &bytes[..end]
}

/// The opcode and the length in bytes.
fn instruction(bytes: &[u8]) -> Option<(u16, usize)> {
    let half = |at| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    Some((half(0)?, 4 * usize::from(half(2)?)))
}

fn has_kernel(module: &[u8], kernel: &str) -> bool {
    let mut rest = module.get(HEADER..).unwrap_or_default();
    while let Some((op, length)) = instruction(rest)
        && op != FUNCTION
    {
        let name = rest.get(12..length).unwrap_or_default();
        if op == ENTRY_POINT
            && name.strip_prefix(kernel.as_bytes()).is_some_and(|end| end.first() == Some(&0))
        {
            return true;
        }
        rest = &rest[length.max(4).min(rest.len())..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_found_in_other_data() {
        let words = [
            0x0723_0203,
            0x1_0400,
            0,
            9,
            0,
            5 << 16 | 15,
            6,
            1,
            u32::from_le_bytes(*b"abc\0"),
            2,
            1 << 16 | 56,
            0,
        ];
        let module: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let bytes = [&b"text"[..], &MAGIC, b"other", &module, b"end"].concat();
        assert_eq!(in_file(&bytes, "abc"), Some(&module[..44]));
        // A module that ends where the next one begins.
        let renamed: Vec<u8> = [&module[..32], b"xyz\0", &module[36..44], &module].concat();
        assert_eq!(in_file(&renamed, "abc"), Some(&module[..44]));
        assert_eq!(in_file(&bytes, "ab"), None);
    }
}
