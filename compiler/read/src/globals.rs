//! Variables of the module.

use kiln_ir::{Const, Data, Var};
use kiln_syntax::Span;
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rspirv::spirv::{BuiltIn, Decoration, LinkageType, Op};

use crate::{
    Reader,
    constants::{Constant, data, write},
    problem::{Outcome, Problem},
    types::Ty,
    words::Instruction,
};

impl<'w> Reader<'w> {
    /// The type of a variable's object, and the id of its initializer.
    pub(crate) fn object_of(&self, inst: &Instruction<'_>) -> Outcome<(u32, Option<u32>)> {
        // Behind the storage class.
        match inst.op {
            Op::UntypedVariableKHR => {
                let ty = inst.operands.get(1).copied();
                let ty = ty.ok_or_else(|| Problem::new("a variable of a kernel module needs a data type"))?;
                Ok((ty, inst.operands.get(2).copied()))
            }
            _ => Ok((self.types.pointee(inst.result_type()?)?, inst.operands.get(1).copied())),
        }
    }

    /// Reads a variable of the module.
    pub(crate) fn global(&mut self, inst: &Instruction<'w>) -> Outcome<()> {
        let id = inst.result()?;
        let built_in = self.words.decoration(id, Decoration::BuiltIn);
        let built_in = built_in.and_then(|decorated| BuiltIn::from_u32(*decorated.operands.first()?));
        let space = match (self.types.get(inst.result_type()?)?, built_in) {
            // Translators declare inputs as imported variables of UniformConstant or CrossWorkgroup.
            (Ty::Pointer { .. }, Some(built_in)) => {
                self.inputs.insert(id, built_in);
                return Ok(());
            }
            (Ty::Pointer { space: Some(space), .. }, _) => *space,
            (Ty::Pointer { space: None, .. }, None) => {
                return Err(Problem::new("an Input variable needs a BuiltIn"));
            }
            _ => return Err(Problem::new("its type is not a pointer")),
        };
        let (pointee, init) = self.object_of(inst)?;
        if space == AddressSpace::Private {
            // SPIR-V does not allow it, but llvm-spirv writes it for variables from which clang initializes objects. No
            // front end writes to them.
            if init.is_none() {
                return Err(Problem::new("a Function variable of the module must have an initializer"));
            }
            self.private_constants.push(*inst);
            return Ok(());
        }
        let (size, align) = self.types.layout(pointee)?;
        let align = self.words.alignment(id).unwrap_or(align);
        let linkage = self.linkage(id);
        let name = match &linkage {
            Some((name, _)) => name.clone(),
            None => self.words.name(id).to_owned(),
        };
        let init = match init {
            Some(init) if space != AddressSpace::Local => self.initializer(init, pointee, size)?,
            _ => None,
        };
        let linkage = linkage.map_or(Linkage::Internal, |(_, linkage)| linkage);
        let var = Var { init, linkage, ..Var::new(&name, space, (size, align), Span::default()) };
        let var = self.module.vars.push(var);
        let ty = self.types.value(inst.result_type()?)?;
        self.constants.insert(id, Constant::Address(var, 0, ty));
        Ok(())
    }

    /// The initial bytes of an object. `None` for zeros.
    fn initializer(&self, id: u32, ty: u32, size: u64) -> Outcome<Option<Data>> {
        let constant = self.constant(id)?;
        self.expect(constant, ty)?;
        let is_zero = match constant {
            Constant::Value(_, Const::Undefined) | Constant::Undefined(_) => true,
            Constant::Value(_, Const::Bits(bits)) => bits.iter().all(|bits| *bits == 0),
            Constant::Address(..) => false,
            Constant::Aggregate(_, data) => {
                data.relocations.is_empty() && data.bytes.iter().all(|byte| *byte == 0)
            }
        };
        if is_zero {
            return Ok(None);
        }
        let mut bytes = data(size)?;
        write(&mut bytes, 0, constant)?;
        Ok(Some(bytes))
    }

    /// The name and the linkage of a function or variable. `None` without LinkageAttributes.
    pub(crate) fn linkage(&self, id: u32) -> Option<(String, Linkage)> {
        let decorated = self.words.decoration(id, Decoration::LinkageAttributes)?;
        let name = decorated.operands.iter().flat_map(|word| word.to_le_bytes());
        let name: Vec<u8> = name.take_while(|byte| *byte != 0).collect();
        let kind = decorated.operands.get(name.len() / 4 + 1).and_then(|&word| LinkageType::from_u32(word));
        let linkage = match kind {
            Some(LinkageType::Import) => Linkage::Imported,
            Some(LinkageType::Export) => Linkage::Exported,
            Some(LinkageType::LinkOnceODR) => Linkage::LinkOnce,
            // Each module has its own copy.
            _ => Linkage::Internal,
        };
        Some((String::from_utf8_lossy(&name).into_owned(), linkage))
    }
}
