//! Parses the text form that `print` writes, for tests and for trying a pass by hand. This file parses declarations and types.

mod body;
mod tokens;

use std::fmt::{self, Display, Formatter};

use kiln_builtins::BuiltinId;
use kiln_syntax::Span;
use kiln_types::{
    binary16,
    index::Id as _,
    ops::Conversion,
    ty::{self, ImageTy},
};
use kiln_vocabulary::opencl::{FenceFlags, Linkage};

use self::{
    body::Body,
    tokens::{Parser, integer},
};
use super::{
    Access, Argument, ArgumentKind, ArgumentLocation, Atomic, BuiltinParam, Convert, Data, Format, FuncId,
    Function, ImageAction, ImageFact, Kernel, Known, Module, SamplerFact, Scalar, Texel, Type, Var, VarId,
    WrittenLevels, lex::Token, print::FLAGS, text::Word,
};

/// Why a text could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, starting at 1.
    pub line: usize,
    /// What is wrong there, such as the expected token.
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
    let mut parser = Parser::new(text);
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
        BuiltinId::from_name(name, index as usize)
            .ok_or_else(|| self.error_before(format!("there is no built-in function `{name}` #{index}")))
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
        let mut reader = Body::new(self, function);
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
