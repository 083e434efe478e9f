//! Initializers of program-scope variables in the OpenCL environment: bytes and addresses.

use kiln_ir::{Const, Data, Scalar, Type, Var, VarId};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::{
    dr::Operand,
    spirv::{Decoration, Op, Word},
};

use super::{Emitter, globals::size_of};

/// The maximum number of elements of an array constant. An instruction has at most 65535 words.
const MAX_ELEMENTS: usize = 32_768;

/// The maximum number of members of a structure (SPIR-V 2.17).
const MAX_MEMBERS: usize = 16_383;

impl Emitter<'_> {
    /// The type and initializer of a variable: an array of its elements, or a structure if the initializer contains
    /// addresses.
    pub(super) fn initializer(&mut self, var: &Var) -> Option<(Word, Word)> {
        if self.is_vulkan() || !matches!(var.space, AddressSpace::Global | AddressSpace::Constant) {
            return None;
        }
        let element = var.element.unwrap_or(Type::Scalar(Scalar::I8));
        match &var.init {
            None => {
                let (ty, _) = self.array_of(element, var.size);
                Some((ty, self.writer.interned(Op::ConstantNull, Some(ty), Vec::new())))
            }
            Some(data) if data.relocations.is_empty() => Some(self.bytes_constant(element, &data.bytes)),
            Some(data) => Some(self.with_addresses(data)),
        }
    }

    fn array_of(&mut self, element: Type, size: u64) -> (Word, u64) {
        let count = size.div_ceil(size_of(element).max(1)).max(1);
        let ty = self.ty(element);
        let array =
            if count > 1 { self.array_type(ty, u32::try_from(count).unwrap_or(u32::MAX)) } else { ty };
        (array, count)
    }

    /// An array of elements; a structure of arrays if one instruction cannot have all elements.
    fn bytes_constant(&mut self, element: Type, bytes: &[u8]) -> (Word, Word) {
        let max = MAX_ELEMENTS * size_of(element).max(1) as usize;
        if bytes.len() > max {
            let members = bytes.chunks(max).map(|part| self.bytes_constant(element, part)).collect();
            return self.packed(members);
        }
        let (ty, count) = self.array_of(element, bytes.len() as u64);
        let parts: Vec<Word> = bytes
            .chunks(size_of(element).max(1) as usize)
            .map(|chunk| {
                let mut bits = [0; 8];
                bits[..chunk.len().min(8)].copy_from_slice(&chunk[..chunk.len().min(8)]);
                self.constant(element, &Const::Bits([u64::from_le_bytes(bits)].into_iter().collect()))
            })
            .collect();
        let value = match parts.as_slice() {
            [only] if count == 1 => *only,
            _ => {
                let parts = parts.into_iter().map(Operand::IdRef).collect();
                self.writer.interned(Op::ConstantComposite, Some(ty), parts)
            }
        };
        (ty, value)
    }

    /// A packed structure of addresses and the bytes between them.
    fn with_addresses(&mut self, data: &Data) -> (Word, Word) {
        let mut relocations = data.relocations.clone();
        relocations.sort_by_key(|(at, ..)| *at);
        let mut members = Vec::new();
        let mut end = 0;
        for (at, var, addend) in relocations {
            let at = at as usize;
            if at > end {
                members.push(self.bytes_constant(Type::I8, &data.bytes[end..at]));
            }
            members.push(self.address_of(var, addend));
            end = at + 8;
        }
        if end < data.bytes.len() {
            members.push(self.bytes_constant(Type::I8, &data.bytes[end..]));
        }
        self.packed(members)
    }

    /// A structure of these types and values, without padding.
    fn packed(&mut self, mut members: Vec<(Word, Word)>) -> (Word, Word) {
        while members.len() > MAX_MEMBERS {
            members = members.chunks(MAX_MEMBERS).map(|part| self.packed(part.to_vec())).collect();
        }
        let (types, values): (Vec<_>, Vec<_>) =
            members.into_iter().map(|(ty, value)| (Operand::IdRef(ty), Operand::IdRef(value))).unzip();
        let ty = self.writer.global(Op::TypeStruct, None, types);
        self.writer.decorate(ty, Decoration::CPacked, []);
        (ty, self.writer.global(Op::ConstantComposite, Some(ty), values))
    }

    /// The type and value of an address at a byte offset in a variable.
    fn address_of(&mut self, var: VarId, addend: i64) -> (Word, Word) {
        let variable = self.module_variable(var);
        let ty = self.ty(Type::Pointer(self.module.vars[var].space));
        let cast = vec![Operand::LiteralSpecConstantOpInteger(Op::Bitcast), Operand::IdRef(variable)];
        let base = self.writer.interned(Op::SpecConstantOp, Some(ty), cast);
        if addend == 0 {
            return (ty, base);
        }
        let addend = self.constant(Type::I64, &Const::scalar(addend as u64));
        let step = vec![
            Operand::LiteralSpecConstantOpInteger(Op::InBoundsPtrAccessChain),
            Operand::IdRef(base),
            Operand::IdRef(addend),
        ];
        (ty, self.writer.interned(Op::SpecConstantOp, Some(ty), step))
    }
}
