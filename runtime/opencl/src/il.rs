//! Programs of SPIR-V (OpenCL API 5.8.1): their specialization constants, and their builds.
//!
//! A module of the OpenCL environment is translated for a Vulkan device. The reference device runs it as it is, unless the
//! application set specialization constants. A module of the Vulkan environment is loaded as it is.

use std::sync::{Mutex, PoisonError};

use kiln_compiler::{Emit, Il, is_kernel_module, needs_reader, translate};
use kiln_report::{Format, plain, report};
use opencl_sys::*;

use crate::build::{self, Build};
use crate::device::Device;
use crate::error::{Result, ensure, fail};
use crate::options::Parsed;

/// The module of a program.
pub(crate) struct Module {
    words: Vec<u32>,
    /// The specialization constants that the module has: their ids and sizes in bytes.
    constants: Vec<(u32, usize)>,
    /// The constants that the application has set, with their bits.
    set: Mutex<Vec<(u32, u64)>>,
}

impl Module {
    pub(crate) fn new(words: Vec<u32>) -> Self {
        let constants = constants(&words);
        Self { words, constants, set: Mutex::default() }
    }

    /// The words, as the application passed them.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Sets a specialization constant, for later builds (`clSetProgramSpecializationConstant`).
    pub(crate) fn set(&self, id: u32, bytes: &[u8]) -> Result<()> {
        let Some(&(_, size)) = self.constants.iter().find(|(known, _)| *known == id) else {
            return fail(CL_INVALID_SPEC_ID);
        };
        ensure(bytes.len() == size, CL_INVALID_VALUE)?;
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(bytes);
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.retain(|(known, _)| *known != id);
        set.push((id, u64::from_le_bytes(bits)));
        Ok(())
    }

    fn specialization(&self) -> Vec<(u32, u64)> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Builds an executable.
    pub(crate) fn executable(&self, text: &str, parsed: &Parsed, device: &Device) -> Result<Build> {
        let is_reference = device.target().environment == kiln_compiler::opencl::Environment::OpenCl;
        let is_kernels = is_kernel_module(&self.words);
        if !is_kernels || is_reference && self.specialization().is_empty() && !needs_reader(&self.words) {
            return build::load(&self.words, text, device);
        }
        match self.translated(parsed, &Emit::Spirv)? {
            Ok((output, log)) => {
                let part = || Ok(self.translated(parsed, &Emit::Part)?.ok());
                build::finish((&output, log), text, parsed, device, part)
            }
            Err(log) => Ok(Build::failed(text, log)),
        }
    }

    /// Compiles to a part, for linking.
    pub(crate) fn object(&self, text: &str, parsed: &Parsed) -> Result<Build> {
        let (output, log) = match self.translated(parsed, &Emit::Part)? {
            Ok(translated) => translated,
            Err(log) => return Ok(Build::failed(text, log)),
        };
        Ok(build::finish_object(output, log, text, parsed))
    }

    /// The output of the compiler and its log, or the error in the module.
    fn translated(
        &self,
        parsed: &Parsed,
        emit: &Emit,
    ) -> Result<std::result::Result<(kiln_compiler::Output, String), String>> {
        let specialization = self.specialization();
        let il = Il { name: "program.spv", words: &self.words, specialization: &specialization };
        build::on_stack(|| match translate(&il, &parsed.options, emit) {
            Ok(output) => {
                let log = plain(&report(Format::Rich, &output));
                Ok((output, log))
            }
            Err(problems) => {
                Err(problems.iter().map(|problem| format!("program.spv: error: {problem}\n")).collect())
            }
        })
    }
}

/// The specialization constants of a module: their ids, and the sizes of their types. A boolean is one byte.
fn constants(words: &[u32]) -> Vec<(u32, usize)> {
    const HEADER: usize = 5;
    const TYPE_INT: u32 = 21;
    const TYPE_FLOAT: u32 = 22;
    const SPEC_CONSTANT_TRUE: u32 = 48;
    const SPEC_CONSTANT_FALSE: u32 = 49;
    const SPEC_CONSTANT: u32 = 50;
    const DECORATE: u32 = 71;
    const SPEC_ID: u32 = 1;
    let (mut ids, mut sizes, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        let length = ((first >> 16) as usize).clamp(1, rest.len());
        let (instruction, after) = rest.split_at(length);
        rest = after;
        let id_of = |target: u32| ids.iter().find(|(id, _)| *id == target).map(|(_, number)| *number);
        match (first & 0xffff, &instruction[1..]) {
            (DECORATE, &[target, SPEC_ID, number]) => ids.push((target, number)),
            (TYPE_INT | TYPE_FLOAT, &[id, width, ..]) => sizes.push((id, (width / 8) as usize)),
            (SPEC_CONSTANT_TRUE | SPEC_CONSTANT_FALSE, &[_, id]) => {
                found.extend(id_of(id).map(|number| (number, 1)));
            }
            (SPEC_CONSTANT, &[ty, id, ..]) => {
                let size = sizes.iter().find(|(known, _)| *known == ty).map(|(_, size)| *size);
                found.extend(id_of(id).zip(size.filter(|size| (1..=8).contains(size))));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with constants of `SpecId` 7, an integer of 16 bits, and 9, a boolean.
    fn module() -> Vec<u32> {
        let instruction = |op: u32, operands: &[u32]| {
            let mut words = vec![(operands.len() as u32 + 1) << 16 | op];
            words.extend(operands);
            words
        };
        let mut words = vec![0x0723_0203, 0x0001_0000, 0, 9, 0];
        words.extend(instruction(71, &[4, 1, 7]));
        words.extend(instruction(71, &[5, 1, 9]));
        words.extend(instruction(21, &[1, 16, 0]));
        words.extend(instruction(20, &[2]));
        words.extend(instruction(50, &[1, 4, 3]));
        words.extend(instruction(48, &[2, 5]));
        words
    }

    #[test]
    fn specialization_constants_are_set() {
        let module = Module::new(module());
        assert_eq!(module.constants, [(7, 2), (9, 1)]);
        assert!(module.set(7, &[1, 2]).is_ok());
        assert!(module.set(9, &[0]).is_ok());
        assert!(module.set(7, &[3, 4]).is_ok());
        assert_eq!(module.specialization(), [(9, 0), (7, 0x403)]);
        assert_eq!(module.set(8, &[0]).err().map(|code| code.0), Some(CL_INVALID_SPEC_ID));
        assert_eq!(module.set(7, &[0; 4]).err().map(|code| code.0), Some(CL_INVALID_VALUE));
    }

    /// Invalid modules have no constants and cause no panic.
    #[test]
    fn damaged_words_never_panic() {
        let whole = module();
        for end in 0..whole.len() {
            constants(&whole[..end]);
        }
        assert_eq!(constants(&[0; 8]), []);
        assert_eq!(constants(&[0, 0, 0, 0, 0, u32::MAX]), []);
    }
}
