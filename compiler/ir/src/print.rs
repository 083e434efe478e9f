//! Prints the text form, which `parse` reads back. Values and constructs are numbered in the order of the text, so
//! that equal programs print equally. Source positions are comments, on request.

use std::fmt::{self, Display, Formatter, Write};

use kiln_syntax::Span;
use kiln_types::{binary16, index::Id};
use kiln_vocabulary::opencl::{FenceFlags, Linkage};
use rustc_hash::FxHashMap;

use super::{
    Access, Argument, ArgumentKind, ArgumentLocation, Atomic, BlockId, BuiltinParam, Const, Convert, Data,
    Format, FuncId, Function, ImageAction, ImageFact, Inst, InstId, Interface, Kernel, Known, Module, Op,
    SamplerFact, Scalar, Texel, Type, ValueDef, ValueId, Var, WrittenLevels,
    text::{Word, convert_word},
};

/// Formats a source position. `None` for code without one.
pub type Positions<'p> = &'p dyn Fn(Span) -> Option<String>;

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, None)
    }
}

impl Module {
    /// The text form, with a comment above each instruction whose position differs from the previous one. It parses back
    /// to the same module, without positions.
    pub fn text_with_positions(&self, positions: Positions<'_>) -> String {
        struct Text<'a>(&'a Module, Positions<'a>);
        impl Display for Text<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.print(f, Some(self.1))
            }
        }
        Text(self, positions).to_string()
    }

    fn print(&self, f: &mut Formatter<'_>, positions: Option<Positions<'_>>) -> fmt::Result {
        for (id, var) in self.vars.entries() {
            write!(f, "var @{} ", id.index())?;
            print_var(f, var)?;
        }
        for (id, function) in self.functions.entries() {
            if id.index() != 0 || !self.vars.is_empty() {
                writeln!(f)?;
            }
            print_function(f, id, function, positions)?;
        }
        print_interface(f, &self.interface)
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.word()),
            Self::Vector(scalar, count) => write!(f, "{}x{count}", scalar.word()),
            Self::Pointer(space) => write!(f, "ptr<{}>", space.word()),
            Self::Image(image) => {
                write!(f, "image<\"{}\" {}", image.dim.word(), image.access.word())?;
                let flags =
                    [(image.is_array, " array"), (image.is_depth, " depth"), (image.is_msaa, " msaa")];
                flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, word)| f.write_str(word))?;
                f.write_char('>')
            }
            Self::Sampler => f.write_str("sampler"),
            Self::Handle(handle) => f.write_str(handle.word()),
        }
    }
}

impl Function {
    /// The text of one function.
    pub fn text(&self, id: FuncId) -> String {
        struct Text<'a>(FuncId, &'a Function);
        impl Display for Text<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                print_function(f, self.0, self.1, None)
            }
        }
        Text(id, self).to_string()
    }
}

fn print_interface(f: &mut Formatter<'_>, interface: &Interface) -> fmt::Result {
    for (state, word) in &interface.state {
        writeln!(f, "state {} {word}", state.word())?;
    }
    for (id, locations) in &interface.arguments {
        let locations: Vec<String> = locations.iter().map(location_text).collect();
        writeln!(f, "arguments #{} [{}]", id.index(), locations.join(", "))?;
    }
    if interface.variables != Data::default() {
        f.write_str("variables")?;
        print_data(f, &interface.variables)?;
        f.write_char('\n')?;
    }
    for (id, offset) in &interface.offsets {
        writeln!(f, "offset @{} {offset}", id.index())?;
    }
    for Format { text, sizes } in &interface.formats {
        f.write_str("format ")?;
        quote(f, text)?;
        let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
        writeln!(f, " [{}]", sizes.join(", "))?;
    }
    for SamplerFact { kernel, argument, memory, byte } in &interface.sampler_facts {
        writeln!(f, "sampler_fact #{} {argument} {} {byte}", kernel.index(), memory.word())?;
    }
    for WrittenLevels { kernel, argument, descriptor } in &interface.written_levels {
        writeln!(f, "written_levels #{} {argument} {descriptor}", kernel.index())?;
    }
    interface.image_facts.iter().try_for_each(|fact| {
        let ImageFact { kernel, argument, what, memory, byte } = *fact;
        let kernel = kernel.index();
        writeln!(f, "image_fact #{kernel} {argument} {} {} {byte}", action_text(what), memory.word())
    })
}

fn location_text(location: &ArgumentLocation) -> String {
    match location {
        ArgumentLocation::Bytes(memory, first) => format!("{} {first}", memory.word()),
        ArgumentLocation::Local(var) => format!("@{}", var.index()),
        ArgumentLocation::Descriptor(number) => format!("descriptor {number}"),
        ArgumentLocation::Nowhere => "nowhere".to_owned(),
    }
}

fn print_data(f: &mut Formatter<'_>, data: &Data) -> fmt::Result {
    f.write_str(" init \"")?;
    data.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
    f.write_char('"')?;
    data.relocations.iter().try_for_each(|(offset, target, addend)| {
        write!(f, " relocation {offset} @{} {addend}", target.index())
    })
}

fn linkage_word(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Exported => " exported",
        Linkage::Imported => " imported",
        Linkage::LinkOnce => " once",
    }
}

fn print_var(f: &mut Formatter<'_>, var: &Var) -> fmt::Result {
    quote(f, var.name.as_bytes())?;
    write!(f, "{} {} size {} align {}", linkage_word(var.linkage), var.space.word(), var.size, var.align)?;
    if let Some(argument) = var.argument {
        write!(f, " argument {argument}")?;
    }
    if let Some(parameter) = var.parameter {
        write!(f, " parameter {parameter}")?;
    }
    if let Some(element) = var.element {
        write!(f, " element {element}")?;
    }
    if let Some(init) = &var.init {
        print_data(f, init)?;
    }
    f.write_char('\n')
}

fn print_function(
    f: &mut Formatter<'_>,
    id: FuncId,
    function: &Function,
    positions: Option<Positions<'_>>,
) -> fmt::Result {
    write!(f, "{} #{} ", if function.kernel.is_some() { "kernel" } else { "function" }, id.index())?;
    quote(f, function.name.as_bytes())?;
    f.write_str(linkage_word(function.linkage))?;
    let mut printer = Printer {
        f,
        function,
        values: FxHashMap::default(),
        labels: FxHashMap::default(),
        positions,
        position: String::new(),
    };
    printer.params(function.body)?;
    if let Some(result) = function.result {
        write!(printer.f, " -> {result}")?;
    }
    printer.f.write_str(" {\n")?;
    if let Some(kernel) = &function.kernel {
        printer.kernel(kernel)?;
    }
    for (id, var) in function.vars.entries() {
        write!(printer.f, "  var ${} ", id.index())?;
        print_var(printer.f, var)?;
    }
    for (number, var) in &function.objects {
        writeln!(printer.f, "  points {number} into @{}", var.index())?;
    }
    printer.block(function.body, 1)?;
    f.write_str("}\n")
}

struct Printer<'a, 'f> {
    f: &'a mut Formatter<'f>,
    function: &'a Function,
    values: FxHashMap<ValueId, usize>,
    labels: FxHashMap<InstId, usize>,
    positions: Option<Positions<'a>>,
    /// The position of the last instruction that has one.
    position: String,
}

impl Printer<'_, '_> {
    fn kernel(&mut self, kernel: &Kernel) -> fmt::Result {
        for (word, size) in [("required_size", kernel.required_size), ("size_hint", kernel.size_hint)] {
            if let Some([x, y, z]) = size {
                writeln!(self.f, "  {word} {x} {y} {z}")?;
            }
        }
        if !kernel.attributes.is_empty() {
            self.f.write_str("  attributes ")?;
            quote(self.f, kernel.attributes.as_bytes())?;
            self.f.write_char('\n')?;
        }
        kernel.arguments.iter().try_for_each(|argument| self.argument(argument))
    }

    fn argument(&mut self, argument: &Argument) -> fmt::Result {
        self.f.write_str("  argument ")?;
        quote(self.f, argument.name.as_bytes())?;
        self.f.write_char(' ')?;
        quote(self.f, argument.type_name.as_bytes())?;
        match argument.kind {
            ArgumentKind::Pointer { space, align } => {
                write!(self.f, " pointer {} align {align}", space.word())?;
            }
            ArgumentKind::Local { element_size, align } => {
                write!(self.f, " local size {element_size} align {align}")?;
            }
            ArgumentKind::Value { size, align } => write!(self.f, " value size {size} align {align}")?,
            ArgumentKind::Aggregate { size, align } => {
                write!(self.f, " aggregate size {size} align {align}")?;
            }
            ArgumentKind::Image(image) => write!(self.f, " image {}", Type::Image(image))?,
            ArgumentKind::Sampler => self.f.write_str(" sampler")?,
            ArgumentKind::Pipe { is_written: false } => self.f.write_str(" read_pipe")?,
            ArgumentKind::Pipe { is_written: true } => self.f.write_str(" write_pipe")?,
            ArgumentKind::Queue => self.f.write_str(" queue")?,
            ArgumentKind::Captures { size, align } => write!(self.f, " captures size {size} align {align}")?,
        }
        let flags = [
            (argument.is_const, " const"),
            (argument.is_volatile, " volatile"),
            (argument.is_restrict, " restrict"),
        ];
        flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, word)| self.f.write_str(word))?;
        self.f.write_char('\n')
    }

    fn define(&mut self, value: ValueId) -> fmt::Result {
        let number = self.values.len();
        self.values.insert(value, number);
        write!(self.f, "%{number}: {}", self.function.ty(value))
    }

    fn params(&mut self, block: BlockId) -> fmt::Result {
        let params = &self.function.blocks[block].params;
        if params.is_empty() && block != self.function.body {
            return Ok(());
        }
        self.f.write_char('(')?;
        for (index, &param) in params.iter().enumerate() {
            self.f.write_str(if index == 0 { "" } else { ", " })?;
            self.define(param)?;
        }
        self.f.write_char(')')
    }

    fn block(&mut self, block: BlockId, depth: usize) -> fmt::Result {
        self.function.blocks[block].insts.iter().try_for_each(|&inst| self.inst(inst, depth))
    }

    /// ` head (params) {`, the block, `}`.
    fn nested(&mut self, head: &str, block: BlockId, depth: usize) -> fmt::Result {
        self.f.write_str(head)?;
        if !self.function.blocks[block].params.is_empty() {
            self.f.write_char(' ')?;
        }
        self.params(block)?;
        self.f.write_str(" {\n")?;
        self.block(block, depth + 1)?;
        self.indent(depth)?;
        self.f.write_char('}')
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        (0..depth).try_for_each(|_| self.f.write_str("  "))
    }

    fn inst(&mut self, id: InstId, depth: usize) -> fmt::Result {
        let function = self.function;
        let inst = &function.insts[id];
        self.position(inst.span, depth)?;
        self.indent(depth)?;
        if inst.op.is_construct() {
            self.labels.insert(id, self.labels.len());
        }
        if !inst.results.is_empty() {
            let arguments = self.arguments(&inst.args);
            for (index, &result) in inst.results.iter().enumerate() {
                self.f.write_str(if index == 0 { "" } else { ", " })?;
                self.define(result)?;
            }
            self.f.write_str(" = ")?;
            self.op(id, inst)?;
            self.f.write_str(&arguments)?;
        } else {
            self.op(id, inst)?;
            let arguments = self.arguments(&inst.args);
            self.f.write_str(&arguments)?;
        }
        match &inst.op {
            Op::If { then, otherwise } => {
                self.nested("", *then, depth)?;
                self.nested(" else", *otherwise, depth)?;
            }
            Op::Loop { body, continuing, .. } => {
                self.nested("", *body, depth)?;
                self.nested(" continuing", *continuing, depth)?;
            }
            Op::Switch { cases, default } => {
                self.f.write_str(" {\n")?;
                for case in cases {
                    self.indent(depth + 1)?;
                    let bits = function.ty(inst.args[0]).scalar().map_or(64, Scalar::bits);
                    let values: Vec<String> =
                        case.values.iter().map(|&value| signed(value, bits).to_string()).collect();
                    self.nested(&format!("case {}", values.join(", ")), case.block, depth + 1)?;
                    self.f.write_char('\n')?;
                }
                self.indent(depth + 1)?;
                self.nested("default", *default, depth + 1)?;
                self.f.write_char('\n')?;
                self.indent(depth)?;
                self.f.write_char('}')?;
            }
            Op::Block(body) => self.nested("", *body, depth)?,
            _ => {}
        }
        self.f.write_char('\n')
    }

    /// A comment with the position, if it differs from the last one.
    fn position(&mut self, span: Span, depth: usize) -> fmt::Result {
        let Some(position) = self.positions.and_then(|positions| positions(span)) else { return Ok(()) };
        if position == self.position {
            return Ok(());
        }
        self.indent(depth)?;
        // Names of files may contain any character.
        let shown: String = position.chars().filter(|c| !c.is_control()).collect();
        self.position = position;
        writeln!(self.f, "// {shown}")
    }

    fn arguments(&self, args: &[ValueId]) -> String {
        let mut text = String::new();
        for (index, &arg) in args.iter().enumerate() {
            text.push_str(if index == 0 { " " } else { ", " });
            text.push_str(&self.value(arg));
        }
        text
    }

    fn value(&self, id: ValueId) -> String {
        let Some(value) = self.function.values.get(id) else { return format!("%none{}", id.index()) };
        match (&value.def, self.values.get(&id)) {
            (ValueDef::Const(constant), _) => const_text(value.ty, constant),
            (_, Some(number)) => format!("%{number}"),
            (_, None) => format!("%unseen{}", id.index()),
        }
    }

    fn label(&self, id: InstId) -> String {
        self.labels.get(&id).map_or_else(|| format!("Lunseen{}", id.index()), |number| format!("L{number}"))
    }

    /// The operation without its arguments and blocks.
    fn op(&mut self, id: InstId, inst: &Inst) -> fmt::Result {
        let label = self.label(inst.op.target().unwrap_or(id));
        let f = &mut *self.f;
        match &inst.op {
            Op::Unary(op) => f.write_str(op.word()),
            Op::Binary(op) => f.write_str(op.word()),
            Op::Exact(op) => write!(f, "exact {}", op.word()),
            Op::Compare(compare) => write!(f, "compare {} {}", compare.op.word(), compare.kind.word()),
            Op::Select => f.write_str("select"),
            Op::Convert(convert) => {
                f.write_str(convert_word(*convert))?;
                if let Convert::Number { conversion, from_signed, to_signed } = convert {
                    if let Some(rounding) = conversion.rounding {
                        write!(f, " {}", rounding.word())?;
                    }
                    let flags = [
                        (conversion.saturate, " saturate"),
                        (*from_signed, " from_signed"),
                        (*to_signed, " to_signed"),
                    ];
                    flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, word)| f.write_str(word))?;
                }
                Ok(())
            }
            Op::Bitcast => f.write_str("bitcast"),
            Op::Construct => f.write_str("construct"),
            Op::Extract(component) => write!(f, "extract {component}"),
            Op::ExtractDynamic => f.write_str("extract_dynamic"),
            Op::Insert(component) => write!(f, "insert {component}"),
            Op::InsertDynamic => f.write_str("insert_dynamic"),
            Op::Shuffle(components) => {
                let components: Vec<String> = components.iter().map(u8::to_string).collect();
                write!(f, "shuffle [{}]", components.join(", "))
            }
            Op::Any => f.write_str("any"),
            Op::All => f.write_str("all"),
            Op::ModuleVar(var) => write!(f, "module_var @{}", var.index()),
            Op::ElementCount(var) => write!(f, "element_count @{}", var.index()),
            Op::PrivateVar(var) => write!(f, "private_var ${}", var.index()),
            Op::Offset { stride, count: None } => write!(f, "offset {stride}"),
            Op::Offset { stride, count: Some(count) } => write!(f, "offset {stride} of {count}"),
            Op::Element => f.write_str("element"),
            Op::LaunchWord(memory, word) => write!(f, "launch_word {} {word}", memory.word()),
            Op::LaunchAddress(state) => write!(f, "launch_address {}", state.word()),
            Op::Descriptor(number) => write!(f, "descriptor {number}"),
            Op::Input(input) => write!(f, "input {}", input.word()),
            Op::PointerCast => f.write_str("pointer_cast"),
            Op::PointerToInt => f.write_str("pointer_to_int"),
            Op::IntToPointer => f.write_str("int_to_pointer"),
            Op::Load(access) => write!(f, "load {}", AccessText(*access)),
            Op::Store(access) => write!(f, "store {}", AccessText(*access)),
            Op::Copy { size, access } => write!(f, "copy {size} {}", AccessText(*access)),
            Op::Zero { size, access } => write!(f, "zero {size} {}", AccessText(*access)),
            Op::Atomic(atomic) => print_atomic(f, atomic),
            Op::Fence { flags, order, scope } => {
                write!(f, "fence flags {} order {} scope {}", known_flags(flags), known(order), known(scope))
            }
            Op::Barrier { execution, flags, scope } => {
                write!(f, "barrier {} flags {} scope {}", execution.word(), known_flags(flags), known(scope))
            }
            Op::Function(function) => write!(f, "function #{}", function.index()),
            Op::Call(callee) => write!(f, "call #{}", callee.index()),
            Op::Builtin(builtin, params) => {
                let params: Vec<String> = params.iter().map(param_text).collect();
                write!(f, "builtin {builtin} ({})", params.join(", "))
            }
            Op::WorkItem(item) => f.write_str(item.word()),
            Op::Printf(format) => {
                f.write_str("printf ")?;
                quote(f, format)
            }
            Op::Trap(message) => {
                f.write_str("trap ")?;
                quote(f, message)
            }
            Op::Image(action) => write!(f, "image {}", action_text(*action)),
            Op::If { .. } => write!(f, "if {label}"),
            Op::Loop { hints, .. } => {
                write!(f, "loop {label}")?;
                hints.unroll.map_or(Ok(()), |count| write!(f, " unroll {count}"))
            }
            Op::Switch { .. } => write!(f, "switch {label}"),
            Op::Block(_) => write!(f, "block {label}"),
            Op::Exit(_) => write!(f, "exit {label}"),
            Op::Continue(_) => write!(f, "continue {label}"),
            Op::Next(_) => write!(f, "next {label}"),
            Op::Return => f.write_str("return"),
            Op::Unreachable => f.write_str("unreachable"),
        }
    }
}

fn action_text(action: ImageAction) -> String {
    let texel = |word: &str, texel: Texel| {
        format!("{word} {}{}", texel.kind.word(), if texel.is_shared { " shared" } else { "" })
    };
    match action {
        ImageAction::Load(it) => texel("load", it),
        ImageAction::Sample => "sample".to_owned(),
        ImageAction::Store(it) => texel("store", it),
        ImageAction::Size => "size".to_owned(),
        ImageAction::ChannelOrder => "channel_order".to_owned(),
        ImageAction::ChannelType => "channel_type".to_owned(),
        ImageAction::Levels => "levels".to_owned(),
    }
}

fn param_text(param: &BuiltinParam) -> String {
    match *param {
        BuiltinParam::Value(scalar, 1) => scalar.spelling().to_owned(),
        BuiltinParam::Value(scalar, count) => format!("{} {count}", scalar.spelling()),
        BuiltinParam::Pointer(scalar, 1) => format!("{} *", scalar.spelling()),
        BuiltinParam::Pointer(scalar, count) => format!("{} {count} *", scalar.spelling()),
        BuiltinParam::Other => "other".to_owned(),
    }
}

fn print_atomic(f: &mut Formatter<'_>, atomic: &Atomic) -> fmt::Result {
    write!(f, "atomic {} {}", atomic.op.word(), atomic.ty.word())?;
    f.write_str(if atomic.is_signed { " signed" } else { "" })?;
    write!(f, " order {}", known(&atomic.order))?;
    if let Some(failure) = &atomic.failure {
        write!(f, " failure {}", known(failure))?;
    }
    write!(f, " scope {}", known(&atomic.scope))?;
    if let Some(spaces) = atomic.spaces {
        write!(f, " spaces {}", flags_text(spaces))?;
    }
    f.write_str(if atomic.is_volatile { " volatile" } else { "" })
}

struct AccessText(Access);

impl Display for AccessText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "align {}", self.0.align)?;
        f.write_str(if self.0.is_shared { " shared" } else { "" })?;
        f.write_str(if self.0.is_volatile { " volatile" } else { "" })
    }
}

fn known<T: Word>(value: &Known<T>) -> &'static str {
    match value {
        Known::Constant(value) => value.word(),
        Known::Dynamic => "dynamic",
    }
}

fn known_flags(flags: &Known<FenceFlags>) -> String {
    match flags {
        Known::Constant(flags) => flags_text(*flags),
        Known::Dynamic => "dynamic".to_owned(),
    }
}

/// The names of the flags.
pub(super) const FLAGS: [(FenceFlags, &str); 3] =
    [(FenceFlags::LOCAL, "local"), (FenceFlags::GLOBAL, "global"), (FenceFlags::IMAGE, "image")];

fn flags_text(flags: FenceFlags) -> String {
    let names: Vec<&str> =
        FLAGS.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| *name).collect();
    format!("[{}]", names.join(", "))
}

/// The value of these bits in two's complement.
fn signed(bits: u64, width: u32) -> i64 {
    ((bits << (64 - width)) as i64) >> (64 - width)
}

fn const_text(ty: Type, constant: &Const) -> String {
    let bits = match constant {
        Const::Undefined => return format!("{ty} undefined"),
        Const::Bits(bits) => bits,
    };
    let components: Vec<String> = bits.iter().map(|&bits| component_text(ty.scalar(), bits)).collect();
    if components.iter().all(|component| *component == components[0]) {
        format!("{ty} {}", components[0])
    } else {
        format!("{ty} ({})", components.join(", "))
    }
}

fn component_text(scalar: Option<Scalar>, bits: u64) -> String {
    match scalar {
        Some(Scalar::Bool) => (bits != 0).to_string(),
        Some(Scalar::F16) => float_text(binary16::to_f64(bits as u16), bits),
        Some(Scalar::F32) => {
            let value = f32::from_bits(bits as u32);
            if value.is_finite() { format!("{value:?}") } else { float_text(f64::from(value), bits) }
        }
        Some(Scalar::F64) => float_text(f64::from_bits(bits), bits),
        Some(scalar) => signed(bits, scalar.bits()).to_string(),
        None => bits.to_string(),
    }
}

/// A float as the shortest decimal that parses to the same value, or as its bits if there is none.
fn float_text(value: f64, bits: u64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("0x{bits:x}") }
}

/// Bytes in quotation marks, with other than printable ASCII in hexadecimal.
fn quote(f: &mut dyn Write, bytes: &[u8]) -> fmt::Result {
    f.write_char('"')?;
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => write!(f, "\\{}", byte as char)?,
            0x20..=0x7e => f.write_char(byte as char)?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_char('"')
}
