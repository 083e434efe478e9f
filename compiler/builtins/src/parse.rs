//! Parses the notation of the table.
//!
//! A row is `result names(parameters) = lowering`. Names with equal rows are separated by `|`, and `*` in the
//! lowering means the name. A directive applies until the next one with the same word:
//!
//! - `@family f` starts a family and resets all directives; `@attributes const pure convergent`
//! - `@when c | c`: alternative conditions for the rows; each is a list of `2.0` (since that version), `<2.0`,
//!   extensions, and `!extension`
//! - `@T`, `@n`, `@m`, `@P`, `@Q`, `@X`: the ranges of the variables
//!
//! In a type, `T`, `I`, `U`, `W` are the element type, the signed and unsigned integers of its size, and the integer
//! of twice its size. `n` or `m` after an element makes a vector: `Tn`, `Um`, `intn`. `atomicT` is an atomic type. A
//! pointer is `[const] [volatile] space type *`, where the address space may be `P` or `Q`. An image or `pipe` is
//! preceded by `ro`, `wo` or `rw`.
//!
//! An error in the table is a bug in the compiler, so the parser panics. A test parses every row.

use kiln_session::extensions::{Condition, Extension};
use kiln_types::{
    ops::Rounding,
    ty::{self, Access, EnumId, ImageTy, Scalar, Ty},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FetchKey, LanguageVersion, Scope};

use super::{
    pattern::{
        Base, ConcreteType, Element, Pattern, PointerPattern, Signature, SpacePattern, SpaceSet, Width,
    },
    row::{
        Arithmetic, AsyncCopy, AtomicForm, Attributes, Barrier, Bytes, Collective, Enqueue, Family, Fence,
        ImageOp, ImageQuery, Instruction, Library, Lowering, Mask, Object, Participants, PipeOp, Row, Vulkan,
        WorkItem,
    },
    table::Header,
};

/// The properties that directives set for all following rows.
#[derive(Debug)]
pub(super) struct Common {
    family: Family,
    attributes: Attributes,
    /// Without a result and parameters.
    signature: Signature,
}

/// Parses the directives.
pub(super) fn common(header: &Header) -> Common {
    let signature = Signature {
        elements: header.elements.split_whitespace().map(scalar).collect(),
        widths: header.widths.split_whitespace().map(parse_number).collect(),
        masks: header.masks.split_whitespace().map(parse_number).collect(),
        spaces: space_set(header.spaces),
        other_spaces: space_set(header.other_spaces),
        images: images(header.images),
        conditions: header.when.split('|').map(condition).collect(),
        ..Signature::default()
    };
    Common {
        family: Family::parse(header.family).unwrap_or_else(|| panic!("no family {}", header.family)),
        attributes: attributes(header.attributes),
        signature,
    }
}

/// Parses a row from its parts. `rest` starts with the parenthesis of the parameters.
pub(super) fn row(name: &'static str, result: &str, rest: &'static str, common: &Common) -> Row {
    let (parameters, lowering) = rest.split_once('=').unwrap_or_else(|| panic!("{name} has no lowering"));
    let parameters = parameters.trim().trim_start_matches('(').trim_end_matches(')');
    let mut signature = Signature { result: pattern(result), ..common.signature.clone() };
    for parameter in parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty()) {
        if parameter == "..." {
            signature.is_variadic = true;
        } else {
            signature.parameters.push(pattern(parameter));
        }
    }
    signature.clear_unused();
    let words: Vec<&'static str> = lowering.split_whitespace().collect();
    let lowering =
        self::lowering(name, &words).unwrap_or_else(|| panic!("{name} has no lowering {lowering}"));
    if let Lowering::Atomic(form) = lowering {
        signature.require_defaults(form);
    }
    Row { name, family: common.family, attributes: common.attributes, lowering, signature }
}

impl Signature {
    /// OpenCL C 6.15.12.7: the default order is seq_cst and the default scope is the device. Both are optional
    /// features.
    fn require_defaults(&mut self, form: AtomicForm) {
        let has = |id| self.parameters.iter().any(|it| it.base == Base::Fixed(ConcreteType::Enum(id)));
        let (has_order, has_scope) = (has(EnumId::MEMORY_ORDER), has(EnumId::MEMORY_SCOPE));
        for condition in self.conditions.iter_mut().filter(|_| !form.is_legacy) {
            if !has_order {
                condition.with.insert(Extension::OrderSeqCst);
            }
            if !has_scope {
                condition.with.insert(Extension::ScopeDevice);
            }
        }
    }

    /// Resets variables that do not occur in the row, so that they do not multiply its overloads.
    fn clear_unused(&mut self) {
        let patterns: Vec<Pattern> = self.parameters.iter().copied().chain([self.result]).collect();
        let has = |test: &dyn Fn(&Pattern) -> bool| patterns.iter().any(test);
        let is_generic = |element: Element| !matches!(element, Element::Fixed(_));
        if !has(&|it| match it.base {
            Base::Number(element, _) => is_generic(element),
            base => base == Base::Atomic,
        }) {
            self.elements.clear();
        }
        if !has(&|it| matches!(it.base, Base::Number(_, Width::N))) {
            self.widths.clear();
        }
        if !has(&|it| matches!(it.base, Base::Number(_, Width::M))) {
            self.masks.clear();
        }
        if !has(&|it| it.pointer.is_some_and(|pointer| pointer.space == SpacePattern::P)) {
            self.spaces = SpaceSet::Unused;
        }
        if !has(&|it| it.pointer.is_some_and(|pointer| pointer.space == SpacePattern::Q)) {
            self.other_spaces = SpaceSet::Unused;
        }
        if !has(&|it| it.base == Base::Image) {
            self.images.clear();
        }
    }
}

fn scalar(word: &str) -> Scalar {
    Scalar::parse(word).unwrap_or_else(|| panic!("no scalar type {word}"))
}

fn parse_number(word: &str) -> u8 {
    word.parse().unwrap_or_else(|_| panic!("no number {word}"))
}

fn space_set(word: &str) -> SpaceSet {
    match word {
        "" => SpaceSet::Unused,
        "any" => SpaceSet::Any,
        "readable" => SpaceSet::Readable,
        "default" => SpaceSet::Default,
        "shared" => SpaceSet::Shared,
        "named" => SpaceSet::Named,
        "atomic" => SpaceSet::Atomic,
        other => panic!("no set of address spaces {other}"),
    }
}

fn access(word: &str) -> Option<Access> {
    match word {
        "ro" => Some(Access::ReadOnly),
        "wo" => Some(Access::WriteOnly),
        "rw" => Some(Access::ReadWrite),
        _ => None,
    }
}

/// `ro wo image2d_t image3d_t`: all combinations of access and image.
fn images(text: &str) -> Vec<ImageTy> {
    let accesses: Vec<Access> = text.split_whitespace().filter_map(access).collect();
    let names = text.split_whitespace().filter(|word| access(word).is_none());
    let images = names.map(|name| ty::image(name).unwrap_or_else(|| panic!("no image {name}")));
    images.flat_map(|image| accesses.iter().map(move |access| ImageTy { access: *access, ..image })).collect()
}

fn condition(text: &str) -> Condition {
    let mut condition = Condition::ALWAYS;
    let extension =
        |name: &str| Extension::parse(name).unwrap_or_else(|| panic!("no extension or feature {name}"));
    let version = |text: &str| {
        LanguageVersion::parse(&format!("CL{text}")).unwrap_or_else(|| panic!("no version {text}"))
    };
    for word in text.split_whitespace() {
        if let Some(before) = word.strip_prefix('<') {
            condition.before = Some(version(before));
        } else if let Some(without) = word.strip_prefix('!') {
            condition.without.insert(extension(without));
        } else if word.starts_with(|first: char| first.is_ascii_digit()) {
            condition.since = Some(version(word));
        } else {
            condition.with.insert(extension(word));
        }
    }
    condition
}

fn attributes(text: &str) -> Attributes {
    let mut attributes = Attributes::default();
    for word in text.split_whitespace() {
        match word {
            "const" => attributes.is_const = true,
            "pure" => attributes.is_pure = true,
            "convergent" => attributes.is_convergent = true,
            other => panic!("no attribute {other}"),
        }
    }
    attributes
}

/// Parses a type with variables.
fn pattern(text: &str) -> Pattern {
    let (mut is_const, mut is_volatile, mut space, mut image_access) = (false, false, None, None);
    let mut base = None;
    let mut is_pointer = false;
    for word in text.split_whitespace() {
        match word {
            "const" => is_const = true,
            "volatile" => is_volatile = true,
            "global" => space = Some(SpacePattern::Fixed(AddressSpace::Global)),
            "local" => space = Some(SpacePattern::Fixed(AddressSpace::Local)),
            "private" => space = Some(SpacePattern::Fixed(AddressSpace::Private)),
            "constant" => space = Some(SpacePattern::Fixed(AddressSpace::Constant)),
            "generic" => space = Some(SpacePattern::Fixed(AddressSpace::Generic)),
            "P" => space = Some(SpacePattern::P),
            "Q" => space = Some(SpacePattern::Q),
            "*" => is_pointer = true,
            _ => match access(word) {
                Some(access) => image_access = Some(access),
                None => base = Some(self::base(word)),
            },
        }
    }
    let mut base = base.unwrap_or_else(|| panic!("no type in {text}"));
    match (&mut base, image_access) {
        (Base::Fixed(ConcreteType::Image(image)), Some(access)) => image.access = access,
        (Base::Fixed(ConcreteType::Pipe(pipe_access)), Some(access)) => *pipe_access = access,
        _ => {}
    }
    let pointer = is_pointer.then(|| PointerPattern {
        is_const,
        is_volatile,
        space: space.unwrap_or_else(|| panic!("no space in {text}")),
    });
    Pattern { base, pointer }
}

fn base(word: &str) -> Base {
    let element = |word: &str| match word {
        "T" => Some(Element::T),
        "I" => Some(Element::Signed),
        "U" => Some(Element::Unsigned),
        "W" => Some(Element::Wide),
        _ => Scalar::parse(word).map(Element::Fixed),
    };
    match word {
        "void" => return Base::Void,
        "atomicT" => return Base::Atomic,
        "X" => return Base::Image,
        "any" => return Base::Fixed(ConcreteType::Any),
        "block" => return Base::Fixed(ConcreteType::Block),
        "pipe" => return Base::Fixed(ConcreteType::Pipe(Access::ReadOnly)),
        _ => {}
    }
    if let Some(element) = element(word) {
        return Base::Number(element, Width::Fixed(1));
    }
    for (suffix, width) in [("n", Width::N), ("m", Width::M)] {
        if let Some(element) = word.strip_suffix(suffix).and_then(element) {
            return Base::Number(element, width);
        }
    }
    let digits = word.trim_end_matches(|last: char| last.is_ascii_digit());
    if let (Some(element), Ok(count)) = (element(digits), word[digits.len()..].parse()) {
        return Base::Number(element, Width::Fixed(count));
    }
    let (ty, _) = ty::meaning(word).unwrap_or_else(|| panic!("no type {word}"));
    match ty {
        Ty::Scalar(scalar) => Base::Number(Element::Fixed(scalar), Width::Fixed(1)),
        ty => {
            Base::Fixed(ConcreteType::from_ty(&ty).unwrap_or_else(|| panic!("no such type in a row: {word}")))
        }
    }
}

/// Parses the lowering after `=`.
fn lowering(name: &'static str, words: &[&'static str]) -> Option<Lowering> {
    let collective = |scope, text| {
        let participants =
            if name.contains("_non_uniform_") { Participants::Active } else { Participants::All };
        collective(text).map(|it| Lowering::Collective(scope, it, participants))
    };
    Some(match *words {
        ["std", opencl, ref vulkan @ ..] => {
            let opencl = Some(instruction(name, opencl));
            Lowering::Library(Library { opencl, vulkan: self::vulkan(name, vulkan)? })
        }
        ["core"] => Lowering::Library(Library { opencl: None, vulkan: Vulkan::Core }),
        ["own"] => Lowering::Library(Library { opencl: None, vulkan: Vulkan::Own }),
        ["glsl", it] => {
            Lowering::Library(Library { opencl: None, vulkan: Vulkan::Glsl(instruction(name, it)) })
        }
        ["workitem", item] => Lowering::WorkItem(WorkItem::parse(item)?),
        ["clock", "device"] => Lowering::Clock(Scope::Device),
        ["clock", "work_group"] => Lowering::Clock(Scope::WorkGroup),
        ["clock", "sub_group"] => Lowering::Clock(Scope::SubGroup),
        ["load"] => Lowering::VectorLoad(object(name)),
        ["store"] => Lowering::VectorStore(object(name)),
        ["atomic_init"] => Lowering::AtomicInit,
        ["atomic"] => Lowering::Atomic(atomic(name)?),
        ["legacy"] => Lowering::Atomic(legacy(name)?),
        ["fence", which] => Lowering::Fence(Fence::parse(which)?),
        ["barrier", "work_group"] => Lowering::Barrier(Barrier { execution: Scope::WorkGroup }),
        ["barrier", "sub_group"] => Lowering::Barrier(Barrier { execution: Scope::SubGroup }),
        ["get_fence"] => Lowering::GetFence,
        ["to_space"] => Lowering::ToSpace,
        ["async", which] => Lowering::Async(AsyncCopy::parse(which)?),
        ["work_group"] => collective(Scope::WorkGroup, name)?,
        ["sub_group"] => collective(Scope::SubGroup, name)?,
        ["sub_group", text] => collective(Scope::SubGroup, text)?,
        ["image", "read"] => Lowering::Image(ImageOp::Read),
        ["image", "write"] => Lowering::Image(ImageOp::Write),
        ["image", query] => Lowering::Image(ImageOp::Query(ImageQuery::parse(query)?)),
        ["pipe", which] => Lowering::Pipe(PipeOp::parse(which)?, pipe_scope(name)),
        ["enqueue", which] => Lowering::Enqueue(Enqueue::parse(which)?),
        ["shuffle"] => Lowering::Shuffle,
        ["printf"] => Lowering::Printf,
        ["trap"] => Lowering::Trap,
        ["prefetch"] => Lowering::Prefetch,
        ["bytes", which] => Lowering::Bytes(Bytes::parse(which)?),
        _ => return None,
    })
}

/// The instruction of the OpenCL set in the lowering of a row, if it has one.
pub(super) fn opencl_instruction(name: &'static str, line: &'static str) -> Option<Instruction> {
    let mut words = line.split_once('=')?.1.split_whitespace();
    (words.next()? == "std").then_some(())?;
    Some(instruction(name, words.next()?))
}

/// Parses the name of an instruction. `*` means the function's name; a preceding `?` means the sign.
fn instruction(name: &'static str, text: &'static str) -> Instruction {
    let (text, by_sign) = match text.strip_prefix('?') {
        Some(text) => (text, true),
        None => (text, false),
    };
    Instruction { name: if text == "*" { name } else { text }, by_sign }
}

fn vulkan(name: &'static str, words: &[&'static str]) -> Option<Vulkan> {
    Some(match *words {
        ["glsl", it] => Vulkan::Glsl(instruction(name, it)),
        ["glsl32", it] => Vulkan::GlslNotDouble(instruction(name, it)),
        ["own", it] => Vulkan::OwnOrGlsl(instruction(name, it)),
        ["fused", it] => Vulkan::OwnOrFused(instruction(name, it)),
        ["core"] => Vulkan::Core,
        ["own"] => Vulkan::Own,
        _ => return None,
    })
}

/// The scope of a pipe operation, from its name (OpenCL C 6.15.18.3, 6.15.20).
fn pipe_scope(name: &str) -> Scope {
    match () {
        () if name.starts_with("work_group_") => Scope::WorkGroup,
        () if name.starts_with("sub_group_") => Scope::SubGroup,
        () => Scope::WorkItem,
    }
}

/// The memory object of a vector load or store, from its name: `vload4`, `vstorea_half8_rtz` (OpenCL C 6.15.7).
fn object(name: &str) -> Object {
    Object {
        is_half: name.contains("_half"),
        is_aligned: name.contains("a_half"),
        rounding: Rounding::ALL.into_iter().find(|mode| name.ends_with(mode.suffix())),
    }
}

/// The atomic functions of OpenCL 2.0, by name.
fn atomic(name: &str) -> Option<AtomicForm> {
    let name = name.strip_prefix("atomic_")?;
    let (key, is_explicit) = match name.strip_suffix("_explicit") {
        Some(key) => (key, true),
        None => (name, false),
    };
    Some(AtomicForm { op: AtomicOp::from_spelling(key)?, is_explicit, is_legacy: false, by_one: false })
}

/// The atomic functions of OpenCL 1.x, by name.
fn legacy(name: &str) -> Option<AtomicForm> {
    let key = name.strip_prefix("atomic_").or_else(|| name.strip_prefix("atom_"))?;
    let (op, by_one) = match key {
        "inc" => (AtomicOp::Fetch(FetchKey::Add), true),
        "dec" => (AtomicOp::Fetch(FetchKey::Sub), true),
        "xchg" => (AtomicOp::Exchange, false),
        "cmpxchg" => (AtomicOp::CompareExchangeStrong, false),
        _ => (AtomicOp::from_spelling(&format!("fetch_{key}"))?, false),
    };
    Some(AtomicForm { op, is_explicit: false, is_legacy: true, by_one })
}

/// A group operation, from its name without a prefix such as `sub_group_`.
fn collective(text: &str) -> Option<Collective> {
    let text = text.strip_prefix("work_group_").or_else(|| text.strip_prefix("sub_group_")).unwrap_or(text);
    let text = text.strip_prefix("non_uniform_").unwrap_or(text);
    for (prefix, make) in [
        ("reduce_", Collective::Reduce as fn(Arithmetic) -> Collective),
        ("scan_inclusive_", Collective::ScanInclusive),
        ("scan_exclusive_", Collective::ScanExclusive),
        ("clustered_reduce_", Collective::ClusteredReduce),
    ] {
        if let Some(op) = text.strip_prefix(prefix) {
            return Arithmetic::parse(op).map(make);
        }
    }
    Some(match text {
        "all" => Collective::All,
        "any" => Collective::Any,
        "all_equal" => Collective::AllEqual,
        "elect" => Collective::Elect,
        "broadcast" => Collective::Broadcast,
        "broadcast_first" => Collective::BroadcastFirst,
        "ballot" => Collective::Ballot,
        "inverse_ballot" => Collective::InverseBallot,
        "ballot_bit_extract" => Collective::BallotBitExtract,
        "ballot_bit_count" => Collective::BallotBitCount,
        "ballot_inclusive_scan" => Collective::BallotScanInclusive,
        "ballot_exclusive_scan" => Collective::BallotScanExclusive,
        "ballot_find_lsb" => Collective::BallotFindLsb,
        "ballot_find_msb" => Collective::BallotFindMsb,
        "shuffle" => Collective::Shuffle,
        "shuffle_xor" => Collective::ShuffleXor,
        "shuffle_up" => Collective::ShuffleUp,
        "shuffle_down" => Collective::ShuffleDown,
        "shuffle_up_pair" => Collective::ShuffleUpPair,
        "shuffle_down_pair" => Collective::ShuffleDownPair,
        "rotate" => Collective::Rotate,
        "clustered_rotate" => Collective::ClusteredRotate,
        "block_read" => Collective::BlockRead,
        "block_write" => Collective::BlockWrite,
        _ => Collective::Mask(Mask::parse(text.strip_prefix("mask_")?)?),
    })
}
