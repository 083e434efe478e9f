//! Parses the body of a function: blocks, instructions and their operands.

use kiln_syntax::Span;
use kiln_types::ops::LoopHints;
use kiln_vocabulary::opencl::Scope;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Parser, Result};
use crate::{
    BlockId, Case, Compare, Const, Convert, Function, InstId, Op, Scalar, Type, UnaryOp, Value, ValueDef,
    ValueId, WorkItem, lex::Token, text::Word,
};

/// Parses a function body. Maps numbers in the text to ids.
pub(super) struct Body<'p, 't> {
    pub(super) parser: &'p mut Parser<'t>,
    pub(super) function: Function,
    values: FxHashMap<u32, ValueId>,
    constants: FxHashMap<(Type, Const), ValueId>,
    labels: FxHashMap<String, InstId>,
}

impl<'p, 't> Body<'p, 't> {
    /// The body of a function without instructions.
    pub(super) fn new(parser: &'p mut Parser<'t>, function: Function) -> Self {
        Self {
            parser,
            function,
            values: FxHashMap::default(),
            constants: FxHashMap::default(),
            labels: FxHashMap::default(),
        }
    }

    /// Parses the parameters of a block.
    pub(super) fn params(&mut self, block: BlockId) -> Result<()> {
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

    /// Parses instructions up to the closing brace.
    pub(super) fn insts(&mut self, block: BlockId) -> Result<()> {
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
        match *self.parser.peek() {
            _ if !self.parser.continues_line() => false,
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
                None => Err(self.parser.error_before(format!("%{number} is not defined above"))),
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
