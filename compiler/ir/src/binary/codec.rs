//! Encodes and decodes the parts of a function.

use kiln_builtins::{self as builtins, BuiltinId};
use kiln_types::{
    index::Id as _,
    ops::{CompareOp, Conversion, LoopHints, Rounding},
    ty::{self, ImageDim, ImageTy},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FenceFlags, FetchKey, Order, Scope};
use smallvec::{Array, SmallVec};

use crate::{
    Access, Atomic, BinaryOp, BlockId, BuiltinParam, Case, Compare, CompareKind, Const, Convert, FuncId,
    Handle, ImageAction, Input, InstId, Known, LaunchMemory, Op, Scalar, State, Texel, TexelKind, Type,
    UnaryOp, ValueId, VarId, WorkItem,
};

/// A type with a binary form.
pub(super) trait Codec: Sized {
    fn write(&self, out: &mut Vec<u8>);
    /// Reads what `write` wrote, and removes it from the input.
    fn read(input: &mut &[u8]) -> Option<Self>;
}

/// A struct: its members in order.
macro_rules! record {
    ($($ty:ident { $($member:ident),* })*) => {$(
        impl Codec for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                let Self { $($member),* } = self;
                $($member.write(out);)*
            }

            fn read(input: &mut &[u8]) -> Option<Self> {
                $(let $member = Codec::read(input)?;)*
                Some(Self { $($member),* })
            }
        }
    )*};
}

/// An enum: the number of the variant, and its members.
macro_rules! choice {
    ($($ty:ty { $($variant:ident $(($($field:ident),*))? $({$($member:ident),*})?),* $(,)? })*) => {$(
        impl Codec for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                #[allow(clippy::enum_variant_names)]
                enum Number { $($variant),* }
                match self {
                    $(Self::$variant $(($($field),*))? $({$($member),*})? => {
                        out.push(Number::$variant as u8);
                        $($($field.write(out);)*)?
                        $($($member.write(out);)*)?
                    })*
                }
            }

            #[inline]
            #[allow(non_upper_case_globals)]
            fn read(input: &mut &[u8]) -> Option<Self> {
                #[allow(clippy::enum_variant_names)]
                enum Number { $($variant),* }
                $(const $variant: u8 = Number::$variant as u8;)*
                Some(match byte(input)? {
                    $($variant => {
                        $($(let $field = Codec::read(input)?;)*)?
                        $($(let $member = Codec::read(input)?;)*)?
                        Self::$variant $(($($field),*))? $({$($member),*})?
                    })*
                    _ => return None,
                })
            }
        }
    )*};
}

/// An id: its number.
macro_rules! id {
    ($($ty:ident)*) => {$(
        impl Codec for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                self.index().write(out);
            }

            #[inline]
            fn read(input: &mut &[u8]) -> Option<Self> {
                Some(Self::from_index(u32::read(input)? as usize))
            }
        }
    )*};
}

id! { BlockId FuncId InstId ValueId VarId }

record! {
    Access { is_shared, align, is_volatile }
    Atomic { op, ty, is_signed, order, failure, scope, spaces, is_volatile }
    Case { values, block }
    Compare { op, kind }
    Conversion { rounding, saturate }
    ImageTy { dim, is_array, is_depth, is_msaa, access }
    LoopHints { unroll }
    Texel { kind, is_shared }
}

choice! {
    AddressSpace { Private, Local, Global, Constant, Generic }
    AtomicOp {
        Load, Store, Exchange, CompareExchangeStrong, CompareExchangeWeak, Fetch(key), FlagTestAndSet, FlagClear,
    }
    BinaryOp {
        Add, Sub, Mul, UMulHigh, SDiv, UDiv, SRem, URem, Shl, AShr, LShr, And, Or, Xor, FAdd, FSub, FMul, FDiv, FRem,
    }
    BuiltinParam { Value(scalar, count), Pointer(scalar, count), Other }
    CompareKind { Signed, Unsigned, Float }
    CompareOp { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual }
    Const { Bits(bits), Undefined }
    Convert { Truncate, SignExtend, ZeroExtend, Number { conversion, from_signed, to_signed } }
    FetchKey { Add, Sub, Or, Xor, And, Min, Max }
    Handle { Event, Pipe { is_written }, ReserveId, Queue, DeviceEvent, Function }
    ImageAction { Load(texel), Sample, Store(texel), Size, ChannelOrder, ChannelType, Levels }
    ImageDim { D1, Buffer, D2, D3 }
    Input {
        LocalId, LocalSize, GroupId, GlobalId, WorkDim, LocalIndex, SubGroupSize, SubGroupId,
        SubGroupLocalId,
    }
    LaunchMemory { PushConstants, Uniform }
    Op {
        Unary(op), Binary(op), Exact(op), Compare(compare), Select, Convert(convert), Bitcast, Construct,
        Extract(component), ExtractDynamic, Insert(component), InsertDynamic, Shuffle(components), Any, All,
        ModuleVar(var), PrivateVar(var), Offset { stride, count }, Element, LaunchWord(memory, word),
        LaunchAddress(state), Descriptor(number), Input(input), PointerCast, PointerToInt, IntToPointer,
        Load(access), Store(access), Copy { size, access }, Zero { size, access }, Atomic(atomic),
        Fence { flags, order, scope }, Barrier { execution, flags, scope }, Function(function), Call(function),
        Builtin(builtin, params), WorkItem(item), Printf(format), Trap(message), Image(action),
        If { then, otherwise }, Loop { body, continuing, hints }, Switch { cases, default }, Block(block),
        Exit(target), Continue(target), Next(target), Return, Unreachable, ElementCount(var),
    }
    Order { Relaxed, Acquire, Release, AcqRel, SeqCst }
    Rounding { ToEven, ToZero, ToPositive, ToNegative }
    Scalar { Bool, I8, I16, I32, I64, F16, F32, F64 }
    Scope { WorkItem, WorkGroup, Device, AllSvmDevices, SubGroup }
    State {
        GlobalOffset, GlobalSize, EnqueuedLocalSize, NumGroups, RegionOffset, RegionGroupOffset, Variables,
        Printf, Queue, Command,
    }
    TexelKind { Float, Signed, Unsigned }
    Type { Scalar(scalar), Vector(scalar, count), Pointer(space), Image(image), Sampler, Handle(handle) }
    UnaryOp { Neg, FNeg, Not, BitCount }
    WorkItem {
        WorkDim, GlobalSize, GlobalId, LocalSize, EnqueuedLocalSize, LocalId, NumGroups, GroupId, GlobalOffset,
        GlobalLinearId, LocalLinearId, SubGroupSize, MaxSubGroupSize, NumSubGroups, EnqueuedNumSubGroups,
        SubGroupId, SubGroupLocalId,
    }
    ty::Access { ReadOnly, WriteOnly, ReadWrite }
    ty::Scalar { Bool, Char, UChar, Short, UShort, Int, UInt, Long, ULong, Half, Float, Double }
}

#[inline]
fn byte(input: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = input.split_first()?;
    *input = rest;
    Some(first)
}

fn bytes<'i>(input: &mut &'i [u8]) -> Option<&'i [u8]> {
    let length = usize::read(input)?;
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(bytes)
}

impl Codec for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    #[inline]
    fn read(input: &mut &[u8]) -> Option<Self> {
        let first = byte(input)?;
        if first < 0x80 {
            return Some(first.into());
        }
        let mut all = Self::from(first & 0x7f);
        for shift in (7..Self::BITS).step_by(7) {
            let next = byte(input)?;
            all |= Self::from(next & 0x7f) << shift;
            if next < 0x80 {
                return Some(all);
            }
        }
        None
    }
}

/// Narrower unsigned numbers, which are written like 64-bit ones.
macro_rules! number {
    ($($ty:ident)*) => {$(
        impl Codec for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                (*self as u64).write(out);
            }

            #[inline]
            fn read(input: &mut &[u8]) -> Option<Self> {
                Self::try_from(u64::read(input)?).ok()
            }
        }
    )*};
}

number! { u8 u32 usize }

impl Codec for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    #[inline]
    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(byte(input)? != 0)
    }
}

impl Codec for String {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        out.extend(self.as_bytes());
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(std::str::from_utf8(bytes(input)?).ok()?.to_owned())
    }
}

impl Codec for Box<[u8]> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        out.extend(self);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(bytes(input)?.into())
    }
}

impl<T: Codec> Codec for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.iter().for_each(|it| it.write(out));
    }

    #[inline]
    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(input)? { Some(T::read(input)?) } else { None })
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|it| it.write(out));
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        (0..usize::read(input)?).map(|_| T::read(input)).collect()
    }
}

impl<A: Array<Item: Codec>> Codec for SmallVec<A> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|it| it.write(out));
    }

    #[inline]
    fn read(input: &mut &[u8]) -> Option<Self> {
        let mut all = Self::new();
        for _ in 0..usize::read(input)? {
            all.push(Codec::read(input)?);
        }
        Some(all)
    }
}

impl<T: Codec> Codec for Known<T> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Constant(constant) => (true.write(out), constant.write(out)).1,
            Self::Dynamic => false.write(out),
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(input)? { Self::Constant(T::read(input)?) } else { Self::Dynamic })
    }
}

impl Codec for FenceFlags {
    fn write(&self, out: &mut Vec<u8>) {
        self.bits().write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Self::from_value(byte(input)?.into())
    }
}

/// The name, and the index among the rows of that name, so that new rows of other names do not change the form.
impl Codec for BuiltinId {
    fn write(&self, out: &mut Vec<u8>) {
        let name = builtins::row(*self).name;
        let index = (0..).find(|&index| Self::from_name(name, index) == Some(*self));
        name.to_owned().write(out);
        index.unwrap_or_else(|| unreachable!("a row of its name")).write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(bytes(input)?).ok()?;
        Self::from_name(name, usize::read(input)?)
    }
}
