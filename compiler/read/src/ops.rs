//! Instructions that compute: each family is a file, and produces the IR that OpenCL C's operators and built-in
//! functions are lowered to.
//!
//! A family gets an [`Operation`], whose operands are IR values, and a builder. It must not depend on the module that
//! is read. An error is a message; the caller adds the instruction and its position.

mod atomic;
mod barrier;
mod call;
mod cast;
mod clock;
mod convert;
mod dot;
mod float;
mod group;
mod image;
mod integer;
mod pipe;
mod relational;
mod semantics;
mod std;
mod vector;

use kiln_ir::{Builder, Function, Type, ValueId};
use kiln_syntax::Span;
use kiln_types::ops::Rounding;
use rspirv::spirv::Op;
use smallvec::{SmallVec, smallvec};

pub(crate) use self::{
    group::mask,
    std::{extended, print, rounding},
};

/// An instruction with the operands that it computes with.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// The instruction.
    pub(crate) op: Op,
    /// Its operands that are values, in order. A sampled image counts as two: the image and the sampler.
    pub(crate) args: SmallVec<[ValueId; 4]>,
    /// For each of `args`: the pointee of a pointer, if it is a number or a vector.
    pub(crate) pointees: SmallVec<[Option<Type>; 4]>,
    /// Its literal operands, in order: masks, enumerants, component numbers.
    pub(crate) literals: SmallVec<[u32; 4]>,
    /// The type of its result; for a structure, the type of the first member.
    pub(crate) result: Option<Type>,
    /// The decorations of its result.
    pub(crate) decorations: Decorations,
}

/// The decorations that affect the result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decorations {
    /// `FPRoundingMode`
    pub(crate) rounding: Option<Rounding>,
    /// `SaturatedConversion`
    pub(crate) saturates: bool,
    /// `NoSignedWrap`, if the target checks for overflow.
    pub(crate) no_signed_wrap: bool,
    /// `NoContraction`, or the execution mode `ContractionOff`.
    pub(crate) no_contraction: bool,
}

/// The results of an instruction: none, one, or one for each member of its structure. Or why it is not supported.
pub(crate) type Lowered = Result<SmallVec<[ValueId; 2]>, String>;

/// A single result.
pub(crate) fn one(value: ValueId) -> Lowered {
    Ok(smallvec![value])
}

/// No results.
pub(crate) fn none() -> Lowered {
    Ok(SmallVec::new())
}

impl Operation {
    /// The operands. The verifier has checked their number, which versions of the grammar may extend.
    pub(crate) fn args<const N: usize>(&self) -> Result<[ValueId; N], String> {
        let args = self.args.get(..N).and_then(|args| <[ValueId; N]>::try_from(args).ok());
        args.ok_or_else(|| format!("it has {} operands, and needs {N}", self.args.len()))
    }

    /// The result type.
    pub(crate) fn result(&self) -> Result<Type, String> {
        self.result.ok_or_else(|| "its result has no type that a value can have".to_owned())
    }

    /// The pointee of a pointer operand, if it is known to be a number or a vector.
    pub(crate) fn pointee(&self, index: usize) -> Option<Type> {
        self.pointees.get(index).copied().flatten()
    }
}

/// Lowers an instruction of one of the families. `None` if it belongs to none.
pub(crate) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    let families = [
        integer::lower,
        float::lower,
        relational::lower,
        convert::lower,
        vector::lower,
        cast::lower,
        clock::lower,
        dot::lower,
        atomic::lower,
        barrier::lower,
        group::lower,
        image::lower,
        pipe::lower,
    ];
    families.into_iter().find_map(|family| family(builder, operation))
}

/// Whether an instruction belongs to a family. Lowering it without operands is then an error instead of `None`.
pub(crate) fn is_supported(op: Op) -> bool {
    let mut function = Function::new(String::new(), &[], None, Span::default());
    let operation = Operation {
        op,
        args: SmallVec::new(),
        pointees: SmallVec::new(),
        literals: SmallVec::new(),
        result: None,
        decorations: Decorations::default(),
    };
    lower(&mut Builder::new(&mut function), &operation).is_some()
}
