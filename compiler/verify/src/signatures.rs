//! The types of operands and results of OpenCL.std, pipes and device-side enqueue: one row for all instructions with the same
//! signature.

use rspirv::spirv::{AccessQualifier, FPRoundingMode, Op, OpenclStd100Op, StorageClass, Word};

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    numeric_type::{Kind, NumericType},
    operand::Operand,
};

pub(super) const RULES: &[Rule] = &[OPENCL_STD, PIPES, ENQUEUE];

const OPENCL_STD: Rule = Rule {
    id: "OpenCL.std-types",
    text: "the operands and the result of an instruction of OpenCL.std have the required types, and its literals are valid",
};
const PIPES: Rule = Rule {
    id: "SPIRV-pipe-types",
    text: "the operands and the result of a pipe instruction have the required types, and the pipe has the required access qualifier",
};
const ENQUEUE: Rule = Rule {
    id: "SPIRV-enqueue-types",
    text: "the operands and the result of an instruction for device-side enqueue have the required types",
};

/// A requirement for a type, or for a literal. Most are relative to the subject, the type T.
enum Form {
    /// T. The first one determines T, in the order result, operands.
    T,
    /// The scalar type of T's components.
    Element,
    /// A vector of T's components, or a scalar, with any number of components.
    Elements,
    /// The type of the first operand.
    First,
    /// Integers with the width and the number of T's components.
    IntOfT,
    /// Integers of half the width of T's components.
    HalfOfT,
    /// 32-bit integers, as many as T has components.
    Int32OfT,
    /// A scalar, of any width if `None`.
    Scalar(Kind, Option<u32>),
    /// A pointer to a type of this form. An untyped pointer has no type to compare.
    Pointer(&'static Self),
    /// A pointer with this storage class.
    PointerIn(StorageClass),
    /// A type that this instruction declares.
    Declared(Op),
    /// A pipe with this access qualifier.
    Pipe(AccessQualifier),
    Either(&'static [Self; 2]),
    Any,
    /// The literal number of T's components.
    Count,
    /// A literal rounding mode.
    Rounding,
    /// An id that is not a value, or a value that other rules check.
    Unchecked,
}

/// The types of an instruction.
struct Signature {
    /// The types that T can be.
    subject: Subject,
    result: Form,
    operands: &'static [Form],
    /// The form of all further operands.
    rest: Option<Form>,
}

/// The kind of T, and the widths that it can have; any if `None`.
struct Subject(&'static [Kind], Option<u32>);

const FLOAT: Subject = Subject(&[Kind::Float], None);
const FLOAT32: Subject = Subject(&[Kind::Float], Some(32));
const INT: Subject = Subject(&[Kind::Int], None);
const INT32: Subject = Subject(&[Kind::Int], Some(32));
const NUMBER: Subject = Subject(&[Kind::Int, Kind::Float], None);

const UINT: Form = Form::Scalar(Kind::Int, Some(32));
const INTEGER: Form = Form::Scalar(Kind::Int, None);
const REAL: Form = Form::Scalar(Kind::Float, None);
const VOID: Form = Form::Declared(Op::TypeVoid);
const QUEUE: Form = Form::Declared(Op::TypeQueue);
const RESERVATION: Form = Form::Declared(Op::TypeReserveId);
const READ: Form = Form::Pipe(AccessQualifier::ReadOnly);
const WRITE: Form = Form::Pipe(AccessQualifier::WriteOnly);
const EITHER_PIPE: Form = Form::Either(&[READ, WRITE]);
const BOOL: Form = Form::Scalar(Kind::Bool, None);
const EVENT: Form = Form::Declared(Op::TypeDeviceEvent);
const EVENTS: Form = Form::Pointer(&EVENT);
const HALF: Form = Form::Pointer(&Form::Scalar(Kind::Float, Some(16)));
const STRUCT: Form = Form::Declared(Op::TypeStruct);
/// SPIR-V requires the structure. llvm-spirv passes a pointer to it.
const INDEX_SPACE: Form = Form::Either(&[STRUCT, Form::Pointer(&STRUCT)]);
/// SPIR-V requires the integer. llvm-spirv passes a pointer to it.
const LOCAL_SIZE: Form = Form::Either(&[INTEGER, Form::Pointer(&INTEGER)]);
const BYTES: Form = Form::Pointer(&Form::Any);
const GLOBAL: Form = Form::PointerIn(StorageClass::CrossWorkgroup);
/// One size for all dimensions, or an array of sizes.
const SIZES: Form = Form::Either(&[INTEGER, Form::Declared(Op::TypeArray)]);

const fn signature(subject: Subject, result: Form, operands: &'static [Form]) -> Signature {
    Signature { subject, result, operands, rest: None }
}

/// The types of an instruction of OpenCL.std (OpenCL extended instructions, section 2).
fn opencl_signature(op: OpenclStd100Op) -> Signature {
    use Form::{Count, Element, Elements, First, HalfOfT, Int32OfT, IntOfT, Pointer, Rounding, T};
    use OpenclStd100Op::*;
    match op {
        acos | acosh | acospi | asin | asinh | asinpi | atan | atanh | atanpi | cbrt | ceil | cos | cosh
        | cospi | erfc | erf | exp | exp2 | exp10 | expm1 | fabs | floor | lgamma | log | log2 | log10
        | log1p | logb | rint | round | rsqrt | sin | sinh | sinpi | sqrt | tan | tanh | tanpi | tgamma
        | trunc | degrees | radians | sign | normalize | fast_normalize => signature(FLOAT, T, &[T]),
        atan2 | atan2pi | copysign | fdim | fmax | fmin | fmod | hypot | maxmag | minmag | nextafter
        | pow | powr | remainder | fmax_common | fmin_common | step | cross => signature(FLOAT, T, &[T, T]),
        fma | mad | fclamp | mix | smoothstep => signature(FLOAT, T, &[T, T, T]),
        half_cos | half_exp | half_exp2 | half_exp10 | half_log | half_log2 | half_log10 | half_recip
        | half_rsqrt | half_sin | half_sqrt | half_tan | native_cos | native_exp | native_exp2
        | native_exp10 | native_log | native_log2 | native_log10 | native_recip | native_rsqrt
        | native_sin | native_sqrt | native_tan => signature(FLOAT32, T, &[T]),
        half_divide | half_powr | native_divide | native_powr => signature(FLOAT32, T, &[T, T]),
        fract | modf | sincos => signature(FLOAT, T, &[T, Pointer(&T)]),
        frexp | lgamma_r => signature(FLOAT, T, &[T, Pointer(&Int32OfT)]),
        remquo => signature(FLOAT, T, &[T, T, Pointer(&Int32OfT)]),
        ilogb => signature(FLOAT, Int32OfT, &[T]),
        ldexp | pown | rootn => signature(FLOAT, T, &[T, Int32OfT]),
        nan => signature(FLOAT, T, &[IntOfT]),
        distance | fast_distance => signature(FLOAT, Element, &[T, T]),
        length | fast_length => signature(FLOAT, Element, &[T]),
        s_abs | u_abs | clz | ctz | popcount => signature(INT, T, &[T]),
        s_abs_diff | u_abs_diff | s_add_sat | u_add_sat | s_hadd | u_hadd | s_rhadd | u_rhadd | s_max
        | u_max | s_min | u_min | s_mul_hi | u_mul_hi | rotate | s_sub_sat | u_sub_sat => {
            signature(INT, T, &[T, T])
        }
        s_clamp | u_clamp | s_mad_hi | u_mad_hi | s_mad_sat | u_mad_sat => signature(INT, T, &[T, T, T]),
        s_upsample | u_upsample => signature(INT, T, &[HalfOfT, HalfOfT]),
        s_mad24 | u_mad24 => signature(INT32, T, &[T, T, T]),
        s_mul24 | u_mul24 => signature(INT32, T, &[T, T]),
        vloadn => signature(NUMBER, T, &[INTEGER, Pointer(&Element), Count]),
        vstoren => signature(NUMBER, VOID, &[T, INTEGER, Pointer(&Element)]),
        vload_half => signature(FLOAT, REAL, &[INTEGER, HALF]),
        vload_halfn | vloada_halfn => signature(FLOAT, T, &[INTEGER, HALF, Count]),
        vstore_half => signature(FLOAT, VOID, &[REAL, INTEGER, HALF]),
        vstore_half_r => signature(FLOAT, VOID, &[REAL, INTEGER, HALF, Rounding]),
        vstore_halfn | vstorea_halfn => signature(FLOAT, VOID, &[T, INTEGER, HALF]),
        vstore_halfn_r | vstorea_halfn_r => signature(FLOAT, VOID, &[T, INTEGER, HALF, Rounding]),
        shuffle => signature(NUMBER, T, &[Elements, IntOfT]),
        shuffle2 => signature(NUMBER, T, &[Elements, First, IntOfT]),
        bitselect => signature(NUMBER, T, &[T, T, T]),
        select => signature(NUMBER, T, &[T, T, IntOfT]),
        prefetch => signature(NUMBER, VOID, &[BYTES, INTEGER]),
        printf => Signature { rest: Some(Form::Any), ..signature(NUMBER, UINT, &[BYTES]) },
    }
}

/// The types of an instruction of pipes (SPIR-V 3.49.24). The last two operands are the size and the alignment of a packet.
/// `synchronization.rs` checks the scope of an instruction of groups.
fn pipe_signature(op: Op) -> Option<Signature> {
    use Form::Unchecked;
    let (result, operands): (Form, &[Form]) = match op {
        Op::ReadPipe => (UINT, &[READ, BYTES, UINT, UINT]),
        Op::WritePipe => (UINT, &[WRITE, BYTES, UINT, UINT]),
        Op::ReservedReadPipe => (UINT, &[READ, RESERVATION, UINT, BYTES, UINT, UINT]),
        Op::ReservedWritePipe => (UINT, &[WRITE, RESERVATION, UINT, BYTES, UINT, UINT]),
        Op::ReserveReadPipePackets => (RESERVATION, &[READ, UINT, UINT, UINT]),
        Op::ReserveWritePipePackets => (RESERVATION, &[WRITE, UINT, UINT, UINT]),
        Op::CommitReadPipe => (Unchecked, &[READ, RESERVATION, UINT, UINT]),
        Op::CommitWritePipe => (Unchecked, &[WRITE, RESERVATION, UINT, UINT]),
        Op::IsValidReserveId => (BOOL, &[RESERVATION]),
        Op::GetNumPipePackets | Op::GetMaxPipePackets => (UINT, &[EITHER_PIPE, UINT, UINT]),
        Op::GroupReserveReadPipePackets => (RESERVATION, &[Unchecked, READ, UINT, UINT, UINT]),
        Op::GroupReserveWritePipePackets => (RESERVATION, &[Unchecked, WRITE, UINT, UINT, UINT]),
        Op::GroupCommitReadPipe => (Unchecked, &[Unchecked, READ, RESERVATION, UINT, UINT]),
        Op::GroupCommitWritePipe => (Unchecked, &[Unchecked, WRITE, RESERVATION, UINT, UINT]),
        _ => return None,
    };
    Some(signature(NUMBER, result, operands))
}

/// The types of an instruction of device-side enqueue (SPIR-V 3.49.23).
fn enqueue_signature(op: Op) -> Option<Signature> {
    use Form::Unchecked;
    let (result, operands): (Form, &[Form]) = match op {
        Op::EnqueueMarker => (UINT, &[QUEUE, UINT, EVENTS, EVENTS]),
        Op::EnqueueKernel => {
            let operands = &[QUEUE, UINT, INDEX_SPACE, UINT, EVENTS, EVENTS, Unchecked, BYTES, UINT, UINT];
            return Some(Signature { rest: Some(LOCAL_SIZE), ..signature(NUMBER, UINT, operands) });
        }
        Op::GetKernelNDrangeSubGroupCount | Op::GetKernelNDrangeMaxSubGroupSize => {
            (UINT, &[INDEX_SPACE, Unchecked, BYTES, UINT, UINT])
        }
        Op::GetKernelWorkGroupSize
        | Op::GetKernelPreferredWorkGroupSizeMultiple
        | Op::GetKernelMaxNumSubgroups => (UINT, &[Unchecked, BYTES, UINT, UINT]),
        Op::GetKernelLocalSizeForSubgroupCount => (UINT, &[UINT, Unchecked, BYTES, UINT, UINT]),
        Op::RetainEvent | Op::ReleaseEvent => (Unchecked, &[EVENT]),
        Op::CreateUserEvent => (EVENT, &[]),
        Op::IsValidEvent => (BOOL, &[EVENT]),
        Op::SetUserEventStatus => (Unchecked, &[EVENT, INTEGER]),
        Op::CaptureEventProfilingInfo => (Unchecked, &[EVENT, UINT, GLOBAL]),
        Op::GetDefaultQueue => (QUEUE, &[]),
        Op::BuildNDRange => (STRUCT, &[SIZES, SIZES, SIZES]),
        _ => return None,
    };
    Some(signature(NUMBER, result, operands))
}

/// Checks the types of an instruction of OpenCL.std. Its number of operands must be correct.
pub(super) fn check_opencl(module: &Module<'_>, entry: &Entry<'_>, op: OpenclStd100Op) -> Option<Finding> {
    let operand = mismatch(module, entry, &entry.operands()[2..], &opencl_signature(op))?;
    Some(entry.finding(&OPENCL_STD, format!("{operand} of {op:?} has the wrong type or value")))
}

/// Checks the instructions of pipes and of device-side enqueue.
pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    for entry in module.functions.iter().flat_map(|function| module.body(function)) {
        let pipes = pipe_signature(entry.op()).map(|it| (&PIPES, it));
        let Some((rule, signature)) = pipes.or_else(|| Some((&ENQUEUE, enqueue_signature(entry.op())?)))
        else {
            continue;
        };
        if let Some(operand) = mismatch(module, entry, entry.operands(), &signature) {
            findings.push(entry.finding(rule, format!("{operand} has the wrong type")));
        }
    }
}

/// The first operand that does not match the signature, or the result.
fn mismatch(
    module: &Module<'_>,
    entry: &Entry<'_>,
    operands: &[Operand],
    signature: &Signature,
) -> Option<String> {
    let type_at = |index: usize| module.type_of(operands.get(index)?.id()?);
    let forms = || signature.operands.iter().chain(signature.rest.iter().cycle()).take(operands.len());
    let subject = match (&signature.result, forms().position(|form| matches!(form, Form::T))) {
        (Form::T, _) => entry.result_type,
        (_, Some(index)) => type_at(index),
        _ => None,
    };
    let Subject(kinds, bits) = signature.subject;
    let subject = subject.and_then(|ty| NumericType::of_type(module, ty));
    let subject = subject.filter(|it| kinds.contains(&it.kind) && bits.is_none_or(|bits| bits == it.bits));
    let types = Types { module, subject, first: type_at(0) };
    let matches = |form: &Form, operand: &Operand| match (form, operand.id()) {
        (Form::Unchecked, _) => true,
        (Form::Count, Some(number)) => subject.is_some_and(|it| it.count == number),
        (Form::Rounding, Some(number)) => FPRoundingMode::from_u32(number).is_some(),
        (_, Some(id)) => module.type_of(id).is_some_and(|ty| types.matches(form, ty)),
        (_, None) => false,
    };
    let result = &signature.result;
    if !matches!(result, Form::Unchecked) && !entry.result_type.is_some_and(|ty| types.matches(result, ty)) {
        return Some("the result".to_owned());
    }
    let wrong = forms().zip(operands).position(|(form, operand)| !matches(form, operand))?;
    Some(format!("operand {}", wrong + 1))
}

/// The types that the forms of an instruction refer to.
struct Types<'m> {
    module: &'m Module<'m>,
    /// T, if it is a type that it can be.
    subject: Option<NumericType>,
    /// The type of the first operand.
    first: Option<Word>,
}

impl Types<'_> {
    fn matches(&self, form: &Form, ty: Word) -> bool {
        let numeric = NumericType::of_type(self.module, ty);
        let is =
            |change: fn(NumericType) -> NumericType| numeric.is_some() && numeric == self.subject.map(change);
        match form {
            Form::T => is(|it| it),
            Form::Element => is(|it| NumericType { count: 1, ..it }),
            Form::Elements => {
                numeric.zip(self.subject).is_some_and(|(it, subject)| it.with_count(subject.count) == subject)
            }
            Form::First => Some(ty) == self.first,
            Form::IntOfT => is(|it| NumericType { kind: Kind::Int, ..it }),
            Form::HalfOfT => is(|it| NumericType { bits: it.bits / 2, ..it }),
            Form::Int32OfT => is(|it| NumericType { kind: Kind::Int, bits: 32, ..it }),
            Form::Scalar(kind, bits) => numeric.is_some_and(|it| {
                it.kind == *kind && it.count == 1 && bits.is_none_or(|bits| bits == it.bits)
            }),
            Form::Pointer(to) => match self.module.pointer(ty) {
                Some((_, pointee)) => self.matches(to, pointee),
                None => self.declares(ty, Op::TypeUntypedPointerKHR),
            },
            Form::PointerIn(class) => {
                let typed = self.module.pointer(ty).map(|(class, _)| class);
                typed.or_else(|| self.module.untyped_pointer(ty)) == Some(*class)
            }
            Form::Declared(op) => self.declares(ty, *op),
            Form::Pipe(access) => self.module.definition(ty).is_some_and(|it| {
                it.op() == Op::TypePipe && it.operands() == [Operand::AccessQualifier(*access)]
            }),
            Form::Either(forms) => forms.iter().any(|form| self.matches(form, ty)),
            Form::Any | Form::Unchecked => true,
            Form::Count | Form::Rounding => false,
        }
    }

    /// Whether this instruction declares the type.
    fn declares(&self, ty: Word, op: Op) -> bool {
        self.module.definition(ty).is_some_and(|it| it.op() == op)
    }
}
