//! Parses the text form that `print` writes, for tests and for trying a pass by hand.

use std::fmt::{self, Display, Formatter};

use kiln_builtins::BuiltinId;
use kiln_syntax::Span;
use kiln_types::{
    binary16,
    index::Id,
    ops::{Conversion, LoopHints},
    ty::{self, ImageTy},
};
use kiln_vocabulary::opencl::{FenceFlags, Linkage, Scope};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{
    Access, Argument, ArgumentKind, ArgumentLocation, Atomic, BlockId, BuiltinParam, Case, Compare, Const,
    Convert, Data, Format, FuncId, Function, ImageAction, ImageFact, InstId, Kernel, Known, Module, Op,
    SamplerFact, Scalar, Texel, Type, UnaryOp, Value, ValueDef, ValueId, Var, VarId, WorkItem, WrittenLevels,
    lex::{Token, lex},
    print::FLAGS,
    text::Word,
};

/// Why a text could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, starting at 1.
    pub line: usize,
    /// The expected token.
    pub message: String,
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

type Result<T> = std::result::Result<T, ParseError>;

/// Parses a module. Does not verify its structure.
pub fn parse(text: &str) -> Result<Module> {
    let mut parser = Parser { tokens: lex(text), next: 0 };
    let mut module = Module::default();
    loop {
        if parser.eat_word("var") {
            let var = parser.var('@', module.vars.len())?;
            module.vars.push(var);
        } else if parser.eat_word("kernel") {
            let function = parser.function(module.functions.len(), true)?;
            module.functions.push(function);
        } else if parser.eat_word("function") {
            let function = parser.function(module.functions.len(), false)?;
            module.functions.push(function);
        } else if parser.eat_word("state") {
            module.interface.state.push((parser.keyword("a state")?, parser.parse_number()?));
        } else if parser.eat_word("arguments") {
            let arguments = (parser.id('#')?, parser.enclosed(['[', ']'], Parser::argument_location)?);
            module.interface.arguments.push(arguments);
        } else if parser.eat_word("variables") {
            parser.word("init")?;
            module.interface.variables = parser.data()?;
        } else if parser.eat_word("offset") {
            module.interface.offsets.push((parser.id('@')?, parser.parse_number()?));
        } else if parser.eat_word("format") {
            let (text, sizes) = (parser.text()?, parser.enclosed(['[', ']'], Parser::parse_number)?);
            module.interface.formats.push(Format { text, sizes });
        } else if parser.eat_word("image_fact") {
            let fact = ImageFact {
                kernel: parser.id('#')?,
                argument: parser.parse_number()?,
                what: parser.image_action()?,
                memory: parser.keyword("a kind of memory")?,
                byte: parser.parse_number()?,
            };
            module.interface.image_facts.push(fact);
        } else if parser.eat_word("sampler_fact") {
            let fact = SamplerFact {
                kernel: parser.id('#')?,
                argument: parser.parse_number()?,
                memory: parser.keyword("a kind of memory")?,
                byte: parser.parse_number()?,
            };
            module.interface.sampler_facts.push(fact);
        } else if parser.eat_word("written_levels") {
            let levels = WrittenLevels {
                kernel: parser.id('#')?,
                argument: parser.parse_number()?,
                descriptor: parser.parse_number()?,
            };
            module.interface.written_levels.push(levels);
        } else if parser.is_at_end() {
            return Ok(module);
        } else {
            return parser.expected("`var`, `function` or `kernel`");
        }
    }
}

struct Parser<'t> {
    tokens: Vec<(Token<'t>, usize)>,
    next: usize,
}

/// Tokens.
impl<'t> Parser<'t> {
    fn peek(&self) -> &Token<'t> {
        &self.tokens[self.next].0
    }

    fn is_at_end(&self) -> bool {
        self.next + 1 == self.tokens.len()
    }

    fn advance(&mut self) {
        if !self.is_at_end() {
            self.next += 1;
        }
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let message = format!("expected {what}, found {:?}", self.peek());
        Err(ParseError { line: self.tokens[self.next].1, message })
    }

    fn undefined<T>(&self, number: u32) -> Result<T> {
        let message = format!("%{number} is not defined above");
        Err(ParseError { line: self.tokens[self.next - 1].1, message })
    }

    fn eat(&mut self, token: &Token<'_>) -> bool {
        let is_there = self.peek() == token;
        if is_there {
            self.advance();
        }
        is_there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.eat(&Token::Word(word))
    }

    fn eat_mark(&mut self, mark: char) -> bool {
        self.eat(&Token::Mark(mark))
    }

    fn mark(&mut self, mark: char) -> Result<()> {
        if self.eat_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn any_word(&mut self) -> Result<&'t str> {
        let Token::Word(word) = *self.peek() else { return self.expected("a word") };
        self.advance();
        Ok(word)
    }

    fn text(&mut self) -> Result<Vec<u8>> {
        let Token::Text(bytes) = self.peek().clone() else { return self.expected("a quoted text") };
        self.advance();
        Ok(bytes)
    }

    fn name(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.text()?).into_owned())
    }

    fn parse_number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let Token::Number(text) = *self.peek() else { return self.expected("a number") };
        let Some(number) = integer(text).and_then(|number| T::try_from(number).ok()) else {
            return self.expected("a number in range");
        };
        self.advance();
        Ok(number)
    }

    /// A punctuator and a number: `@1`.
    fn id<I: Id>(&mut self, mark: char) -> Result<I> {
        self.mark(mark)?;
        Ok(I::from_index(self.parse_number::<u32>()? as usize))
    }

    /// `word number`
    fn named<T: TryFrom<i128>>(&mut self, word: &str) -> Result<T> {
        self.word(word)?;
        self.parse_number()
    }

    fn keyword<T: Word>(&mut self, what: &str) -> Result<T> {
        let Token::Word(word) = *self.peek() else { return self.expected(what) };
        let Some(value) = T::parse(word) else { return self.expected(what) };
        self.advance();
        Ok(value)
    }

    fn comma_separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_mark(',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list of items between delimiters. May be empty.
    fn enclosed<T>(
        &mut self,
        [open, close]: [char; 2],
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.mark(open)?;
        if self.eat_mark(close) {
            return Ok(Vec::new());
        }
        let items = self.comma_separated(item)?;
        self.mark(close)?;
        Ok(items)
    }
}

fn integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Declarations outside function bodies, and types.
impl Parser<'_> {
    fn var(&mut self, mark: char, number: usize) -> Result<Var> {
        if self.id::<VarId>(mark)?.index() != number {
            return self.expected("objects in order");
        }
        let name = self.name()?;
        let linkage = self.linkage();
        let space = self.keyword("an address space")?;
        let (size, align) = (self.named("size")?, self.named("align")?);
        let argument = if self.eat_word("argument") { Some(self.parse_number()?) } else { None };
        let parameter = if self.eat_word("parameter") { Some(self.parse_number()?) } else { None };
        let element = if self.eat_word("element") { Some(self.ty()?) } else { None };
        let init = if self.eat_word("init") { Some(self.data()?) } else { None };
        let span = Span::default();
        Ok(Var { name, space, size, align, init, argument, parameter, element, linkage, span })
    }

    fn linkage(&mut self) -> Linkage {
        if self.eat_word("exported") {
            Linkage::Exported
        } else if self.eat_word("imported") {
            Linkage::Imported
        } else if self.eat_word("once") {
            Linkage::LinkOnce
        } else {
            Linkage::Internal
        }
    }

    fn image_action(&mut self) -> Result<ImageAction> {
        Ok(match self.any_word()? {
            "load" => ImageAction::Load(self.texel()?),
            "sample" => ImageAction::Sample,
            "store" => ImageAction::Store(self.texel()?),
            "size" => ImageAction::Size,
            "channel_order" => ImageAction::ChannelOrder,
            "channel_type" => ImageAction::ChannelType,
            "levels" => ImageAction::Levels,
            _ => return self.expected("an image operation before this"),
        })
    }

    fn texel(&mut self) -> Result<Texel> {
        Ok(Texel { kind: self.keyword("a kind of texel")?, is_shared: self.eat_word("shared") })
    }

    /// A name, and the index among its rows: `sin`, `prefetch #1`.
    fn builtin(&mut self) -> Result<BuiltinId> {
        let name = self.any_word()?;
        let index = if self.eat_mark('#') { self.parse_number::<u32>()? } else { 0 };
        BuiltinId::from_name(name, index as usize).ok_or_else(|| ParseError {
            line: self.tokens[self.next - 1].1,
            message: format!("there is no built-in function `{name}` #{index}"),
        })
    }

    fn builtin_param(&mut self) -> Result<BuiltinParam> {
        let word = self.any_word()?;
        if word == "other" {
            return Ok(BuiltinParam::Other);
        }
        let Some(scalar) = ty::Scalar::ALL.into_iter().find(|scalar| scalar.spelling() == word) else {
            return self.expected("a type of OpenCL C before this");
        };
        let count = if matches!(self.peek(), Token::Number(_)) { self.parse_number()? } else { 1 };
        let make = if self.eat_mark('*') { BuiltinParam::Pointer } else { BuiltinParam::Value };
        Ok(make(scalar, count))
    }

    fn argument_location(&mut self) -> Result<ArgumentLocation> {
        if self.peek() == &Token::Mark('@') {
            Ok(ArgumentLocation::Local(self.id('@')?))
        } else if self.eat_word("descriptor") {
            Ok(ArgumentLocation::Descriptor(self.parse_number()?))
        } else if self.eat_word("nowhere") {
            Ok(ArgumentLocation::Nowhere)
        } else {
            Ok(ArgumentLocation::Bytes(self.keyword("an argument location")?, self.parse_number()?))
        }
    }

    fn data(&mut self) -> Result<Data> {
        let digits = self.name()?;
        let bytes: Option<Vec<u8>> = (0..digits.len().div_ceil(2))
            .map(|index| u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok())
            .collect();
        let Some(bytes) = bytes else { return self.expected("hexadecimal bytes before this") };
        let mut relocations = Vec::new();
        while self.eat_word("relocation") {
            relocations.push((self.parse_number()?, self.id('@')?, self.parse_number()?));
        }
        Ok(Data { bytes, relocations })
    }

    fn function(&mut self, number: usize, is_kernel: bool) -> Result<Function> {
        if self.id::<FuncId>('#')?.index() != number {
            return self.expected("functions in order");
        }
        let name = self.name()?;
        let mut function = Function::new(name, &[], None, Span::default());
        function.linkage = self.linkage();
        let body = function.body;
        let mut reader = Body {
            parser: self,
            function,
            values: FxHashMap::default(),
            constants: FxHashMap::default(),
            labels: FxHashMap::default(),
        };
        reader.params(body)?;
        if reader.parser.eat(&Token::Arrow) {
            reader.function.result = Some(reader.parser.ty()?);
        }
        reader.parser.mark('{')?;
        if is_kernel {
            reader.function.kernel = Some(reader.parser.kernel()?);
        }
        while reader.parser.eat_word("var") {
            let var = reader.parser.var('$', reader.function.vars.len())?;
            reader.function.vars.push(var);
        }
        while reader.parser.eat_word("points") {
            let number = reader.parser.parse_number()?;
            reader.parser.word("into")?;
            let var = reader.parser.id('@')?;
            reader.function.objects.push((number, var));
        }
        reader.insts(body)?;
        Ok(reader.function)
    }

    fn kernel(&mut self) -> Result<Kernel> {
        let mut kernel = Kernel::default();
        loop {
            if self.eat_word("required_size") {
                kernel.required_size =
                    Some([self.parse_number()?, self.parse_number()?, self.parse_number()?]);
            } else if self.eat_word("size_hint") {
                kernel.size_hint = Some([self.parse_number()?, self.parse_number()?, self.parse_number()?]);
            } else if self.eat_word("attributes") {
                kernel.attributes = self.name()?;
            } else if self.eat_word("argument") {
                kernel.arguments.push(self.argument()?);
            } else {
                return Ok(kernel);
            }
        }
    }

    fn argument(&mut self) -> Result<Argument> {
        let (name, type_name) = (self.name()?, self.name()?);
        let kind = match self.any_word()? {
            "pointer" => ArgumentKind::Pointer {
                space: self.keyword("an address space")?,
                align: self.named("align")?,
            },
            "local" => ArgumentKind::Local { element_size: self.named("size")?, align: self.named("align")? },
            "value" => ArgumentKind::Value { size: self.named("size")?, align: self.named("align")? },
            "aggregate" => ArgumentKind::Aggregate { size: self.named("size")?, align: self.named("align")? },
            "image" => match self.ty()? {
                Type::Image(image) => ArgumentKind::Image(image),
                _ => return self.expected("an image before this"),
            },
            "sampler" => ArgumentKind::Sampler,
            "read_pipe" => ArgumentKind::Pipe { is_written: false },
            "write_pipe" => ArgumentKind::Pipe { is_written: true },
            "queue" => ArgumentKind::Queue,
            "captures" => ArgumentKind::Captures { size: self.named("size")?, align: self.named("align")? },
            _ => return self.expected("a kind of argument before this"),
        };
        let is_const = self.eat_word("const");
        let is_volatile = self.eat_word("volatile");
        let is_restrict = self.eat_word("restrict");
        Ok(Argument { kind, name, type_name, is_const, is_volatile, is_restrict })
    }

    fn ty(&mut self) -> Result<Type> {
        let word = self.any_word()?;
        match word {
            "ptr" => {
                self.mark('<')?;
                let space = self.keyword("an address space")?;
                self.mark('>')?;
                Ok(Type::Pointer(space))
            }
            "image" => self.image(),
            "sampler" => Ok(Type::Sampler),
            _ => {
                if let Some(handle) = Word::parse(word) {
                    return Ok(Type::Handle(handle));
                }
                let (scalar, count) = match word.split_once('x') {
                    Some((scalar, count)) => (scalar, count.parse().ok()),
                    None => (word, Some(1)),
                };
                match (Scalar::parse(scalar), count) {
                    (Some(scalar), Some(count)) => Ok(Type::vector(scalar, count)),
                    _ => self.expected("a type before this"),
                }
            }
        }
    }

    fn image(&mut self) -> Result<Type> {
        self.mark('<')?;
        let Some(dim) = Word::parse(&self.name()?) else { return self.expected("dimensions before this") };
        let access = self.keyword("an access qualifier")?;
        let is_array = self.eat_word("array");
        let is_depth = self.eat_word("depth");
        let is_msaa = self.eat_word("msaa");
        self.mark('>')?;
        Ok(Type::Image(ImageTy { dim, is_array, is_depth, is_msaa, access }))
    }

    fn access(&mut self) -> Result<Access> {
        let align = self.named("align")?;
        let is_shared = self.eat_word("shared");
        let is_volatile = self.eat_word("volatile");
        Ok(Access { is_shared, align, is_volatile })
    }

    fn known<T: Word>(&mut self, word: &str) -> Result<Known<T>> {
        self.word(word)?;
        if self.eat_word("dynamic") { Ok(Known::Dynamic) } else { Ok(Known::Constant(self.keyword(word)?)) }
    }

    fn flags(&mut self) -> Result<FenceFlags> {
        let words = self.enclosed(['[', ']'], Self::any_word)?;
        words.into_iter().try_fold(FenceFlags::NONE, |flags, word| {
            match FLAGS.iter().find(|(_, name)| *name == word) {
                Some((flag, _)) => Ok(flags.union(*flag)),
                None => self.expected("fence flags before this"),
            }
        })
    }

    fn known_flags(&mut self) -> Result<Known<FenceFlags>> {
        self.word("flags")?;
        if self.eat_word("dynamic") { Ok(Known::Dynamic) } else { Ok(Known::Constant(self.flags()?)) }
    }

    fn atomic(&mut self) -> Result<Atomic> {
        let op = self.keyword("an atomic operation")?;
        let ty = self.keyword("a scalar")?;
        let is_signed = self.eat_word("signed");
        let order = self.known("order")?;
        let failure = match self.peek() {
            Token::Word("failure") => Some(self.known("failure")?),
            _ => None,
        };
        let scope = self.known("scope")?;
        let spaces = if self.eat_word("spaces") { Some(self.flags()?) } else { None };
        let is_volatile = self.eat_word("volatile");
        Ok(Atomic { op, ty, is_signed, order, failure, scope, spaces, is_volatile })
    }

    fn convert_number(&mut self) -> Convert {
        let rounding = match *self.peek() {
            Token::Word(word) => Word::parse(word),
            _ => None,
        };
        if rounding.is_some() {
            self.advance();
        }
        let saturate = self.eat_word("saturate");
        let from_signed = self.eat_word("from_signed");
        let to_signed = self.eat_word("to_signed");
        Convert::Number { conversion: Conversion { rounding, saturate }, from_signed, to_signed }
    }

    /// The bits of a component of this scalar type, or of an opaque type.
    fn bits(&mut self, scalar: Option<Scalar>) -> Result<u64> {
        let text = match *self.peek() {
            Token::Number(text) | Token::Word(text @ ("true" | "false")) => text,
            _ => return self.expected("a number"),
        };
        let bits = match (scalar, integer(text)) {
            (Some(Scalar::Bool), _) => Some(u64::from(text == "true")),
            (Some(scalar), Some(bits)) if scalar.is_int() || text.starts_with("0x") => {
                Some(bits as u64 & scalar.mask())
            }
            (None, bits) => bits.map(|bits| bits as u64),
            (Some(Scalar::F16), _) => text.parse().ok().map(|value| u64::from(binary16::from_f64(value))),
            (Some(Scalar::F32), _) => text.parse::<f32>().ok().map(|value| u64::from(value.to_bits())),
            (Some(Scalar::F64), _) => text.parse::<f64>().ok().map(f64::to_bits),
            _ => None,
        };
        let Some(bits) = bits else { return self.expected("a number of the type") };
        self.advance();
        Ok(bits)
    }
}

/// Parses a function body. Maps numbers in the text to ids.
struct Body<'p, 't> {
    parser: &'p mut Parser<'t>,
    function: Function,
    values: FxHashMap<u32, ValueId>,
    constants: FxHashMap<(Type, Const), ValueId>,
    labels: FxHashMap<String, InstId>,
}

impl Body<'_, '_> {
    fn params(&mut self, block: BlockId) -> Result<()> {
        let params = self.parser.enclosed(['(', ')'], |parser| {
            parser.mark('%')?;
            let number: u32 = parser.parse_number()?;
            parser.mark(':')?;
            Ok((number, parser.ty()?))
        })?;
        for (number, ty) in params {
            let value = self.function.add_param(block, ty);
            self.values.insert(number, value);
        }
        Ok(())
    }

    /// Parses `(params) { instructions }` into an existing block.
    fn fill(&mut self, block: BlockId) -> Result<()> {
        if self.parser.peek() == &Token::Mark('(') {
            self.params(block)?;
        }
        self.parser.mark('{')?;
        self.insts(block)
    }

    fn block(&mut self) -> Result<BlockId> {
        let block = self.function.add_block(&[]);
        self.fill(block)?;
        Ok(block)
    }

    fn insts(&mut self, block: BlockId) -> Result<()> {
        while !self.parser.eat_mark('}') {
            self.inst(block)?;
        }
        Ok(())
    }

    fn inst(&mut self, block: BlockId) -> Result<()> {
        let mut results = Vec::new();
        if self.parser.peek() == &Token::Mark('%') {
            results = self.parser.comma_separated(|parser| {
                parser.mark('%')?;
                let number: u32 = parser.parse_number()?;
                parser.mark(':')?;
                Ok((number, parser.ty()?))
            })?;
            self.parser.mark('=')?;
        }
        let inst = self.function.add_inst(Op::Unreachable, &[], &[], Span::default());
        self.function.blocks[block].insts.push(inst);
        let op = self.op(inst)?;
        let args = if self.is_at_argument() { self.arguments()? } else { SmallVec::new() };
        for (number, ty) in results {
            let value = self.function.add_result(inst, ty);
            self.values.insert(number, value);
        }
        let switched = args.first().and_then(|&value| self.function.ty(value).scalar());
        self.function.insts[inst].args = args;
        self.function.insts[inst].op = self.nested(op, switched)?;
        Ok(())
    }

    /// Parses the blocks of a construct.
    fn nested(&mut self, mut op: Op, switched: Option<Scalar>) -> Result<Op> {
        match &mut op {
            Op::If { then, otherwise } => {
                self.fill(*then)?;
                self.parser.word("else")?;
                self.fill(*otherwise)?;
            }
            Op::Loop { body, continuing, .. } => {
                self.fill(*body)?;
                self.parser.word("continuing")?;
                self.fill(*continuing)?;
            }
            Op::Switch { cases, default } => {
                self.parser.mark('{')?;
                while self.parser.eat_word("case") {
                    let values = self.parser.comma_separated(|parser| parser.bits(switched))?;
                    cases.push(Case { values, block: self.block()? });
                }
                self.parser.word("default")?;
                self.fill(*default)?;
                self.parser.mark('}')?;
            }
            Op::Block(body) => self.fill(*body)?,
            _ => {}
        }
        Ok(op)
    }

    /// Arguments are on the same line as their operation.
    fn is_at_argument(&self) -> bool {
        let [(_, before), (_, line)] = self.parser.tokens[self.parser.next - 1..=self.parser.next] else {
            return false;
        };
        if before != line {
            return false;
        }
        match *self.parser.peek() {
            Token::Mark('%') => true,
            Token::Word(word) => {
                let scalar = word.split_once('x').map_or(word, |(scalar, _)| scalar);
                Scalar::parse(scalar).is_some() || matches!(word, "ptr" | "image" | "sampler" | "event")
            }
            _ => false,
        }
    }

    fn arguments(&mut self) -> Result<SmallVec<[ValueId; 4]>> {
        let mut args = SmallVec::new();
        loop {
            args.push(self.argument()?);
            if !self.parser.eat_mark(',') {
                return Ok(args);
            }
        }
    }

    fn argument(&mut self) -> Result<ValueId> {
        if self.parser.eat_mark('%') {
            let number: u32 = self.parser.parse_number()?;
            return match self.values.get(&number) {
                Some(value) => Ok(*value),
                None => self.parser.undefined(number),
            };
        }
        let ty = self.parser.ty()?;
        let constant = if self.parser.eat_word("undefined") {
            Const::Undefined
        } else if self.parser.peek() == &Token::Mark('(') {
            let bits = self.parser.enclosed(['(', ')'], |parser| parser.bits(ty.scalar()))?;
            Const::Bits(SmallVec::from_vec(bits))
        } else {
            let bits = self.parser.bits(ty.scalar())?;
            Const::Bits(SmallVec::from_elem(bits, usize::from(ty.count())))
        };
        let values = &mut self.function.values;
        let new = || values.push(Value { ty, def: ValueDef::Const(constant.clone()) });
        Ok(*self.constants.entry((ty, constant.clone())).or_insert_with(new))
    }

    fn label(&mut self) -> Result<InstId> {
        let label = self.parser.any_word()?;
        match self.labels.get(label) {
            Some(inst) => Ok(*inst),
            None => self.parser.expected("the label of a construct before this"),
        }
    }

    fn new_label(&mut self, inst: InstId) -> Result<()> {
        let label = self.parser.any_word()?;
        self.labels.insert(label.to_owned(), inst);
        Ok(())
    }

    /// Parses the operation without its arguments and blocks.
    fn op(&mut self, inst: InstId) -> Result<Op> {
        let word = self.parser.any_word()?;
        if let Some(op) = UnaryOp::parse(word) {
            return Ok(Op::Unary(op));
        }
        if let Some(op) = Word::parse(word) {
            return Ok(Op::Binary(op));
        }
        if let Some(item) = WorkItem::parse(word) {
            return Ok(Op::WorkItem(item));
        }
        if matches!(word, "if" | "loop" | "switch" | "block") {
            self.new_label(inst)?;
        }
        let parser = &mut *self.parser;
        Ok(match word {
            "compare" => {
                Op::Compare(Compare { op: parser.keyword("a comparison")?, kind: parser.keyword("a kind")? })
            }
            "select" => Op::Select,
            "truncate" => Op::Convert(Convert::Truncate),
            "sign_extend" => Op::Convert(Convert::SignExtend),
            "zero_extend" => Op::Convert(Convert::ZeroExtend),
            "number" => Op::Convert(parser.convert_number()),
            "bitcast" => Op::Bitcast,
            "construct" => Op::Construct,
            "extract" => Op::Extract(parser.parse_number()?),
            "extract_dynamic" => Op::ExtractDynamic,
            "insert" => Op::Insert(parser.parse_number()?),
            "insert_dynamic" => Op::InsertDynamic,
            "shuffle" => {
                let components = parser.enclosed(['[', ']'], Parser::parse_number)?;
                Op::Shuffle(SmallVec::from_vec(components))
            }
            "any" => Op::Any,
            "all" => Op::All,
            "exact" => Op::Exact(parser.keyword("an operation")?),
            "module_var" => Op::ModuleVar(parser.id('@')?),
            "element_count" => Op::ElementCount(parser.id('@')?),
            "private_var" => Op::PrivateVar(parser.id('$')?),
            "offset" => {
                let stride = parser.parse_number()?;
                let count = if parser.eat_word("of") { Some(parser.parse_number()?) } else { None };
                Op::Offset { stride, count }
            }
            "element" => Op::Element,
            "launch_word" => Op::LaunchWord(parser.keyword("a kind of memory")?, parser.parse_number()?),
            "launch_address" => Op::LaunchAddress(parser.keyword("a state")?),
            "descriptor" => Op::Descriptor(parser.parse_number()?),
            "image" => Op::Image(parser.image_action()?),
            "input" => Op::Input(parser.keyword("an input")?),
            "pointer_cast" => Op::PointerCast,
            "pointer_to_int" => Op::PointerToInt,
            "int_to_pointer" => Op::IntToPointer,
            "load" => Op::Load(parser.access()?),
            "store" => Op::Store(parser.access()?),
            "copy" => Op::Copy { size: parser.parse_number()?, access: parser.access()? },
            "zero" => Op::Zero { size: parser.parse_number()?, access: parser.access()? },
            "atomic" => Op::Atomic(parser.atomic()?),
            "fence" => Op::Fence {
                flags: parser.known_flags()?,
                order: parser.known("order")?,
                scope: parser.known("scope")?,
            },
            "barrier" => Op::Barrier {
                execution: parser.keyword::<Scope>("a scope")?,
                flags: parser.known_flags()?,
                scope: parser.known("scope")?,
            },
            "call" => Op::Call(parser.id('#')?),
            "function" => Op::Function(parser.id('#')?),
            "builtin" => {
                Op::Builtin(parser.builtin()?, parser.enclosed(['(', ')'], Parser::builtin_param)?.into())
            }
            "printf" => Op::Printf(parser.text()?.into_boxed_slice()),
            "trap" => Op::Trap(parser.text()?.into_boxed_slice()),
            "if" => Op::If { then: self.function.add_block(&[]), otherwise: self.function.add_block(&[]) },
            "loop" => {
                let unroll = if parser.eat_word("unroll") { Some(parser.parse_number()?) } else { None };
                Op::Loop {
                    body: self.function.add_block(&[]),
                    continuing: self.function.add_block(&[]),
                    hints: LoopHints { unroll },
                }
            }
            "switch" => Op::Switch { cases: Vec::new(), default: self.function.add_block(&[]) },
            "block" => Op::Block(self.function.add_block(&[])),
            "exit" => Op::Exit(self.label()?),
            "continue" => Op::Continue(self.label()?),
            "next" => Op::Next(self.label()?),
            "return" => Op::Return,
            "unreachable" => Op::Unreachable,
            _ => return parser.expected("an operation before this"),
        })
    }
}
