//! Program binaries (`CL_PROGRAM_BINARIES`): modules with their kernels, or parts for linking.
//!
//! The format is little-endian words and length-prefixed bytes. A binary names the driver's version and the device's,
//! and other versions reject it. Any bytes are safe to read: the module is verified before a device gets it.

use kiln_compiler::Part;
use opencl_sys::*;

use crate::build::Build;
use crate::device::Device;
use crate::limits;
use crate::signature::{KernelSignature, Kind, Parameter};

/// The first bytes of every binary.
const MAGIC: &[u8; 8] = b"KILN-CL1";

/// The words of SPIR-V in the byte order of its magic number; `None` if the bytes are not SPIR-V.
pub(crate) fn words(bytes: &[u8]) -> Option<Vec<u32>> {
    const SPIRV: u32 = 0x0723_0203;
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let little: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    match little.first() {
        Some(&SPIRV) => Some(little),
        Some(first) if first.swap_bytes() == SPIRV => Some(little.into_iter().map(u32::swap_bytes).collect()),
        _ => None,
    }
}

/// The version of the driver that a binary is valid for.
fn stamp() -> String {
    format!("kiln-opencl {}", limits::VERSION)
}

/// Appends values to a binary.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn word(&mut self, word: u32) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads values of a binary; `None` at its end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// A list, which has at least one word for each element.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.word()? as usize;
        if count > self.0.len() / 4 {
            return None;
        }
        (0..count).map(|_| read(self)).collect()
    }
}

/// The binary of a build; empty if there is none.
pub(crate) fn write(build: &Build) -> Vec<u8> {
    if build.binary_type == CL_PROGRAM_BINARY_TYPE_NONE {
        return Vec::new();
    }
    let mut writer = Writer(MAGIC.to_vec());
    writer.bytes(stamp().as_bytes());
    writer.word(build.binary_type);
    writer.bytes(build.options.as_bytes());
    writer.word(u32::from(build.has_partial_groups));
    writer.word(build.words.len() as u32);
    build.words.iter().for_each(|word| writer.word(*word));
    writer.word(build.signatures.len() as u32);
    for signature in &build.signatures {
        write_signature(&mut writer, signature);
    }
    writer.word(build.parts.len() as u32);
    build.parts.iter().for_each(|part| writer.bytes(&part.to_bytes()));
    writer.0
}

fn write_signature(writer: &mut Writer, signature: &KernelSignature) {
    writer.bytes(signature.name.as_bytes());
    writer.bytes(signature.attributes.as_bytes());
    writer.word(u32::from(signature.is_described));
    writer.word(signature.parameters.len() as u32);
    for parameter in &signature.parameters {
        writer.bytes(parameter.name.as_bytes());
        writer.bytes(parameter.type_name.as_bytes());
        let [kind, size] = parameter.kind.encode();
        for word in [parameter.address, parameter.access, parameter.qualifier as u32, kind, size] {
            writer.word(word);
        }
    }
}

fn read_signature(reader: &mut Reader<'_>) -> Option<KernelSignature> {
    Some(KernelSignature {
        name: reader.text()?,
        attributes: reader.text()?,
        is_described: reader.word()? != 0,
        parameters: reader.list(|reader| {
            Some(Parameter {
                name: reader.text()?,
                type_name: reader.text()?,
                address: reader.word()?,
                access: reader.word()?,
                qualifier: reader.word()?.into(),
                kind: Kind::decode([reader.word()?, reader.word()?])?,
            })
        })?,
    })
}

/// Reads a binary, of this driver or of SPIR-V; `None` if it is broken, or the device cannot use it. An executable has
/// no program until it is built.
pub(crate) fn read(bytes: &[u8], device: &Device) -> Option<Build> {
    let loaded = match words(bytes) {
        Some(words) => Build { words, has_partial_groups: true, ..executable() },
        None => decode(bytes)?,
    };
    let is_executable = loaded.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    // One without kernels has no words.
    if is_executable && !(loaded.words.is_empty() && loaded.signatures.is_empty()) {
        // The device rejects an invalid module, one of another environment, and one with missing features.
        kiln_runtime::Program::from_spirv(&device.open().ok()?.device, &loaded.words).ok()?;
    }
    Some(loaded)
}

fn executable() -> Build {
    let binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    Build { status: CL_BUILD_NONE, binary_type, ..Build::failed("", String::new()) }
}

fn decode(bytes: &[u8]) -> Option<Build> {
    let mut reader = Reader(bytes.strip_prefix(MAGIC)?);
    if reader.bytes()? != stamp().as_bytes() {
        return None;
    }
    let binary_type = reader.word()?;
    let options = reader.text()?;
    let has_partial_groups = reader.word()? != 0;
    let words = reader.list(Reader::word)?;
    let signatures = reader.list(read_signature)?;
    let parts = reader.list(|reader| Part::read(reader.bytes()?).ok())?;
    // An object or a library is complete; an executable must be built.
    let status = if parts.is_empty() { CL_BUILD_NONE } else { CL_BUILD_SUCCESS };
    reader.0.is_empty().then_some(())?;
    Some(Build { status, binary_type, options, has_partial_groups, words, signatures, parts, ..executable() })
}

#[cfg(test)]
mod tests {
    use kiln_compiler::session::{NoFiles, Options, Source};
    use kiln_compiler::{Artifact, Emit, compile};

    use super::*;

    fn object() -> Build {
        let source = Source { name: "a.cl".to_owned(), text: b"int f(int x) { return x; }".to_vec() };
        let output = compile(source, &Options::default(), &NoFiles, &Emit::Part);
        let Some(Artifact::Part(part)) = output.artifact else { panic!("it compiles") };
        let binary_type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
        Build { binary_type, parts: vec![*part], ..Build::failed("-w", String::new()) }
    }

    #[test]
    fn objects_are_read_back() {
        let bytes = write(&object());
        let read = decode(&bytes).expect("it is whole");
        assert_eq!((read.parts.len(), read.options.as_str()), (1, "-w"));
        assert_eq!(read.parts[0].to_bytes(), object().parts[0].to_bytes());
    }

    #[test]
    fn broken_binaries_are_rejected() {
        let bytes = write(&object());
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_none(), "{length} bytes");
        }
        let mut other = bytes.clone();
        other[12] ^= 1;
        assert!(decode(&other).is_none(), "it is of another version");
        assert!(decode(&[&bytes[..], &[0]].concat()).is_none(), "it is too long");
    }

    #[test]
    fn spirv_is_found_in_either_byte_order() {
        assert_eq!(words(&0x0723_0203u32.to_le_bytes()), Some(vec![0x0723_0203]));
        assert_eq!(words(&0x0723_0203u32.to_be_bytes()), Some(vec![0x0723_0203]));
        assert_eq!(words(b"abcd"), None);
        assert_eq!(words(b"abc"), None);
    }
}
