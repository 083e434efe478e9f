//! The binary form of a function, which is faster to read than the text. `kiln-library` stores the bodies of built-in
//! functions in this form.
//!
//! Numbers are LEB128 (little-endian groups of seven bits). A variant starts with its number. Values are numbered
//! in the order in which blocks and instructions define or, for constants, first use them. An operand is its distance
//! from the next number: 0 defines a constant. The form changes with the IR; stored functions must then be regenerated.
//! Source positions are not part of it.
//!
//! ```
//! use kiln_ir::Function;
//! use kiln_syntax::Span;
//!
//! let text = "function #0 \"f\"(%0: i32) -> i32 {\n  %1: i32 = add %0, %0\n  return %1\n}\n";
//! let mut module = kiln_ir::parse(text).expect("valid text");
//! let function = module.functions.iter_mut().next().expect("a function");
//! let bytes = function.to_bytes();
//! *function = Function::from_bytes(&bytes, "f", Span::default()).expect("what `to_bytes` wrote");
//! assert_eq!(module.to_string(), text);
//! ```

mod codec;

use kiln_syntax::Span;
use kiln_types::index::{Id as _, Table};
use smallvec::SmallVec;

use self::codec::Codec;
use super::{Block, BlockId, Function, Inst, InstId, Linkage, Op, Type, Value, ValueDef, ValueId, Var};

impl Function {
    /// The binary form of a function that is not a kernel, without its name and positions. Renumbers it first.
    ///
    /// # Panics
    ///
    /// If the function is a kernel, if other modules can refer to it, or if a pass has specialized it for local objects.
    pub fn to_bytes(&mut self) -> Vec<u8> {
        assert!(self.kernel.is_none() && self.objects.is_empty() && self.linkage == Linkage::Internal);
        self.renumber();
        let mut out = Vec::new();
        self.result.write(&mut out);
        self.vars.len().write(&mut out);
        for var in self.vars.iter() {
            write_var(var, &mut out);
        }
        let mut next = 0;
        // Blocks and instructions are numbered in program order.
        self.blocks.len().write(&mut out);
        self.insts.len().write(&mut out);
        self.values.len().write(&mut out);
        for Block { params, insts } in self.blocks.iter() {
            self.write_definitions(params, &mut next, &mut out);
            insts.len().write(&mut out);
            for &inst in insts {
                let Inst { op, args, results, .. } = &self.insts[inst];
                op.write(&mut out);
                args.len().write(&mut out);
                for &arg in args {
                    self.write_operand(arg, &mut next, &mut out);
                }
                self.write_definitions(results, &mut next, &mut out);
            }
        }
        out
    }

    fn write_operand(&self, value: ValueId, next: &mut usize, out: &mut Vec<u8>) {
        (*next - value.index()).write(out);
        if value.index() == *next {
            *next += 1;
            let constant =
                self.constant(value).unwrap_or_else(|| unreachable!("a value is defined before its use"));
            self.ty(value).write(out);
            constant.write(out);
        }
    }

    fn write_definitions(&self, values: &[ValueId], next: &mut usize, out: &mut Vec<u8>) {
        values.len().write(out);
        for &value in values {
            assert_eq!(value.index(), *next, "values are numbered in the order of their definitions");
            *next += 1;
            self.ty(value).write(out);
        }
    }

    /// Reads what `to_bytes` wrote. All instructions get the same position. `None` if the bytes are not a function.
    pub fn from_bytes(mut bytes: &[u8], name: &str, span: Span) -> Option<Self> {
        let input = &mut bytes;
        let mut function = Self::new(name.to_owned(), &[], Codec::read(input)?, span);
        for _ in 0..usize::read(input)? {
            function.vars.push(read_var(input, span)?);
        }
        let blocks = usize::read(input)?;
        // Each of them takes at least a byte.
        let [insts, values] = [usize::read(input)?, usize::read(input)?].map(|count| count.min(input.len()));
        function.blocks = Table::with_capacity(blocks.min(input.len()));
        function.insts = Table::with_capacity(insts);
        function.values = Table::with_capacity(values);
        for block in 0..blocks {
            let block = BlockId::from_index(block);
            let params =
                read_definitions(input, &mut function.values, |number| ValueDef::Param(block, number))?;
            let count = usize::read(input)?;
            let first = function.insts.len();
            for _ in 0..count {
                let id = InstId::from_index(function.insts.len());
                let op = Op::read(input)?;
                let args = read_operands(input, &mut function.values)?;
                let results =
                    read_definitions(input, &mut function.values, |number| ValueDef::Result(id, number))?;
                function.insts.push(Inst { op, args, results, span });
            }
            let insts = (first..first + count).map(InstId::from_index).collect();
            function.blocks.push(Block { params: params.into_vec(), insts });
        }
        (!function.blocks.is_empty() && input.is_empty()).then_some(function)
    }
}

fn read_operands(input: &mut &[u8], values: &mut Table<ValueId, Value>) -> Option<SmallVec<[ValueId; 4]>> {
    let mut args = SmallVec::new();
    for _ in 0..usize::read(input)? {
        args.push(match usize::read(input)? {
            0 => {
                let ty = Type::read(input)?;
                values.push(Value { ty, def: ValueDef::Const(Codec::read(input)?) })
            }
            distance => ValueId::from_index(values.len().checked_sub(distance)?),
        });
    }
    Some(args)
}

fn read_definitions(
    input: &mut &[u8],
    values: &mut Table<ValueId, Value>,
    def: impl Fn(u32) -> ValueDef,
) -> Option<SmallVec<[ValueId; 1]>> {
    let mut defined = SmallVec::new();
    for number in 0..u32::read(input)? {
        defined.push(values.push(Value { ty: Type::read(input)?, def: def(number) }));
    }
    Some(defined)
}

fn write_var(var: &Var, out: &mut Vec<u8>) {
    let Var { name, space, size, align, init, argument, parameter, element, linkage, span: _ } = var;
    assert!(argument.is_none() && parameter.is_none() && *linkage == Linkage::Internal);
    name.write(out);
    space.write(out);
    size.write(out);
    align.write(out);
    // A private object has no initial bytes (`Var::init`).
    init.is_some().write(out);
    element.write(out);
}

fn read_var(input: &mut &[u8], span: Span) -> Option<Var> {
    let (name, space) = (String::read(input)?, Codec::read(input)?);
    let layout = (Codec::read(input)?, Codec::read(input)?);
    let init = bool::read(input)?.then(Default::default);
    let element = Option::<Type>::read(input)?;
    Some(Var { init, element, ..Var::new(&name, space, layout, span) })
}
