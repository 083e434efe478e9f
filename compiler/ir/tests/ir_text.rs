//! The text form: printed modules parse back to the same module, and the verifier rejects invalid ones.

use std::cell::Cell;

use fastrand::Rng;
use kiln_ir::{
    Access, BinaryOp, Builder, CompareKind, Convert, Data, FuncId, Function, InstId, Module, Op, Scalar,
    Type, ValueId, Var, parse, verify,
};
use kiln_syntax::Span;
use kiln_types::{
    index::Table,
    ops::{CompareOp, LoopHints},
};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};

/// Every operation once, written by hand.
const EVERYTHING: &str = include_str!("ir_text/everything.ir");

fn assert_round_trip(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(module.to_string(), text);
    module
}

#[test]
fn every_operation_round_trips_and_is_valid() {
    let module = assert_round_trip(EVERYTHING);
    assert_eq!(verify(&module), Vec::<String>::new());
}

#[test]
fn random_modules_round_trip_and_are_valid() {
    for seed in 1..200 {
        let module = random_module(seed);
        assert_eq!(verify(&module), Vec::<String>::new(), "seed {seed}\n{module}");
        let again = assert_round_trip(&module.to_string());
        assert_eq!(verify(&again), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn positions_are_comments() {
    for seed in 1..20 {
        let module = random_module(seed);
        let count = Cell::new(0usize);
        // Two instructions have the same position, and every third has none.
        let text = module.text_with_positions(&|_| {
            count.set(count.get() + 1);
            (!count.get().is_multiple_of(3)).then(|| format!("a\n.cl:{}:1", count.get() / 3))
        });
        let comments = text.lines().filter(|line| line.trim_start().starts_with("// a.cl:")).count();
        // A function repeats the position at which the one before ended.
        let distinct = count.get().div_ceil(3);
        let most = distinct + module.functions.len();
        assert!(distinct > 0 && (distinct..=most).contains(&comments), "{count:?}\n{text}");
        let again = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.to_string(), module.to_string());
    }
}

/// A function with this body.
fn problems(body: &str) -> Vec<String> {
    let text = format!("function #0 \"f\"(%0: i32, %1: f32, %2: bool, %3: ptr<global>) {{\n{body}\n}}\n");
    verify(&parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

#[test]
fn invalid_modules_are_rejected() {
    for body in [
        "",
        "return %0",
        "%4: i32 = add %0, %1 return",
        "%4: f32 = add %1, %1 return",
        "%4: i32 = fadd %0, %0 return",
        "%4: bool = compare less signed %1, %1 return",
        "%4: bool = compare less float %0, %0 return",
        "%4: i32 = compare less signed %0, %0 return",
        "%4: i32 = select %0, %0, %0 return",
        "%4: i64 = truncate %0 return",
        "%4: i16 = sign_extend %0 return",
        "%4: f64 = bitcast %0 return",
        "%4: i32x4 = construct %0, %0, %0 return",
        "%4: i32x2 = construct %0, %1 return",
        "%4: i32 = extract 2 i32x2 (1, 2) return",
        "%4: i32x2 = shuffle [0, 4] i32x2 (1, 2), i32x2 (1, 2) return",
        "%4: ptr<global> = module_var @0 return",
        "%4: ptr<private> = private_var $0 return",
        "%4: ptr<local> = offset 4 %3, %0 return",
        "%4: ptr<global> = offset 4 %3, %1 return",
        "%4: bool = load align 1 %3 return",
        "%4: i32 = load align 3 %3 return",
        "store align 4 %0, %3 return",
        "%4: i32 = atomic load i32 order relaxed scope device %3, i32 1 return",
        "%4: i32 = atomic fetch_add i32 order dynamic scope device %3, i32 1 return",
        "%4: f32 = atomic fetch_add i32 order relaxed scope device %3, i32 1 return",
        "barrier work_group flags dynamic scope work_group return",
        "call #0 %0 return",
        "call #1 return",
        "if L0 %0 { exit L0 } else { exit L0 } return",
        "if L0 %2 { exit L0 } else { } return",
        "if L0 %2 { exit L0 %0 } else { exit L0 } return",
        "%4: i32 = if L0 %2 { exit L0 %1 } else { exit L0 %0 } return",
        "if L0 %2 { %4: i32 = add %0, %0 exit L0 } else { %5: i32 = add %4, %0 exit L0 } return",
        "if L0 %2 { %4: i32 = add %0, %0 exit L0 } else { exit L0 } store align 4 %3, %4 return",
        "if L0 %2 { exit L0 } else { exit L0 } exit L0",
        "switch L0 %0 { case 1 { exit L0 } case 2, 1 { exit L0 } default { exit L0 } } return",
        "loop L0 %0 { exit L0 } continuing { next L0 } return",
        "loop L0 %0 (%4: i32) { continue L0 %4 } continuing { next L0 %0 } return",
        "loop L0 { %4: i32 = add %0, %0 continue L0 } continuing { store align 4 %3, %4 next L0 } return",
        "loop L0 { continue L0 } continuing { exit L0 } return",
        "loop L0 { continue L0 } continuing { return } return",
        "loop L0 { next L0 } continuing { next L0 } return",
        "return return",
    ] {
        let found = std::panic::catch_unwind(|| problems(body));
        // The parser rejects modules that have no text form.
        assert!(found.is_err() || found.is_ok_and(|problems| !problems.is_empty()), "accepted: {body}");
    }
}

#[test]
fn valid_functions_are_accepted() {
    for body in [
        "return",
        "unreachable",
        "loop L0 { continue L0 } continuing { if L1 %2 { next L0 } else { exit L1 } next L0 } return",
        "block L0 { loop L1 { exit L0 } continuing { next L1 } return } return",
        "loop L0 { block L1 { continue L0 } exit L0 } continuing { next L0 } return",
    ] {
        assert_eq!(problems(body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn parse_errors_have_a_line() {
    let error = parse("var @0 \"a\" local size 4 align 4\nfunction #0 \"f\"() {\n  %0: i32 = add %1\n}\n");
    assert_eq!(error.err().map(|error| error.line), Some(3));
}

#[test]
fn unknown_built_in_functions_are_rejected() {
    for name in ["none", "sin #9"] {
        let text = format!("function #0 \"f\"(%0: f32) {{\n  %1: f32 = builtin {name} (float) %0\n}}\n");
        let error = parse(&text).expect_err(name);
        assert!(error.to_string().contains("no built-in function"), "{error}");
    }
}

/// A random one of the items.
fn pick<T: Copy>(random: &mut Rng, items: &[T]) -> T {
    items[random.usize(..items.len())]
}

const SCALARS: [Scalar; 7] =
    [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64];

fn random_module(seed: u64) -> Module {
    let mut random = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut module = Module::default();
    for number in 0..random.usize(..4) {
        let space = pick(&mut random, &[AddressSpace::Global, AddressSpace::Constant, AddressSpace::Local]);
        let size = 8 + random.usize(..16) as u64;
        let init = (space != AddressSpace::Local && random.usize(..2) == 0).then(|| Data {
            bytes: (0..size).map(|_| random.usize(..256) as u8).collect(),
            relocations: module
                .vars
                .ids()
                .map(|id| (0, id, random.usize(..100) as i64 - 50))
                .take(1)
                .collect(),
        });
        let linkage =
            pick(&mut random, &[Linkage::Internal, Linkage::Exported, Linkage::Imported, Linkage::LinkOnce]);
        let name = format!("v{number}\"\u{e9}");
        module.vars.push(Var { init, linkage, ..Var::new(&name, space, (size, 4), Span::default()) });
    }
    for number in 0..1 + random.usize(..3) {
        let function = random_function(&mut random, &module, number);
        module.functions.push(function);
    }
    module
}

struct Maker<'f> {
    random: &'f mut Rng,
    builder: Builder<'f>,
    values: Vec<ValueId>,
    constructs: Vec<InstId>,
    callees: Vec<(FuncId, Vec<Type>, Option<Type>)>,
}

fn random_function(random: &mut Rng, module: &Module, number: usize) -> Function {
    let result = [None, Some(Type::I32), Some(Type::Vector(Scalar::F32, 4))][random.usize(..3)];
    let params = [Type::I32, Type::Pointer(AddressSpace::Global), Type::Vector(Scalar::F16, 3)];
    let params: Vec<Type> = (0..random.usize(..4)).map(|_| pick(random, &params)).collect();
    let mut function = Function::new(format!("f{number}"), &params, result, Span::default());
    function.vars = Table::new();
    function.linkage = pick(random, &[Linkage::Internal, Linkage::Exported, Linkage::LinkOnce]);
    function.vars.push(Var::new("x", AddressSpace::Private, (16, 16), Span::default()));
    let values = function.params().to_vec();
    let signature = |(id, function): (FuncId, &Function)| {
        let params = function.params().iter().map(|&param| function.ty(param)).collect();
        (id, params, function.result)
    };
    let callees = module.functions.entries().map(signature).collect();
    let builder = Builder::new(&mut function);
    let mut maker = Maker { random, builder, values, constructs: Vec::new(), callees };
    for (id, var) in module.vars.entries() {
        let address = maker.builder.module_var(id, var.space);
        maker.values.push(address);
    }
    maker.block(3);
    maker.builder.ret(None);
    let undefined = result.map(|ty| maker.builder.undefined(ty));
    let last = *function.blocks[function.body].insts.last().expect("a terminator");
    function.insts[last].args.extend(undefined);
    function
}

impl Maker<'_> {
    fn block(&mut self, depth: usize) {
        let visible = self.values.len();
        for _ in 0..self.random.usize(..8) {
            match self.random.usize(..9) {
                0 if depth > 0 => self.choice(depth),
                1 if depth > 0 => self.repetition(depth),
                2 if depth > 0 => self.cases(depth),
                3 => self.memory(),
                4 => self.call(),
                _ => self.arithmetic(),
            }
        }
        if depth < 3 {
            self.values.truncate(visible);
        }
    }

    fn any_value(&mut self, ty: Type) -> ValueId {
        let fitting: Vec<ValueId> =
            self.values.iter().copied().filter(|&value| self.builder.ty(value) == ty).collect();
        match self.random.usize(..4) {
            0 => self.builder.undefined(ty),
            1 => {
                let bits = (self.random.usize(..1 << 30) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.builder.bits(ty, if ty.is_pointer() { 0 } else { bits })
            }
            _ if fitting.is_empty() => self.builder.bits(ty, 1),
            _ => pick(self.random, &fitting),
        }
    }

    fn arithmetic(&mut self) {
        let scalar = pick(self.random, &SCALARS);
        let ty = Type::vector(scalar, pick(self.random, &[1, 2, 3, 4, 8, 16]));
        let (a, b) = (self.any_value(ty), self.any_value(ty));
        let value = match self.random.usize(..5) {
            0 => {
                let kind = if scalar.is_float() { CompareKind::Float } else { CompareKind::Unsigned };
                let condition = self.builder.compare(CompareOp::LessEqual, kind, a, b);
                self.builder.select(condition, a, b)
            }
            1 if ty.is_vector() => self.builder.shuffle(a, b, &[0, 1]),
            2 if scalar.is_int() && scalar != Scalar::I64 => {
                self.builder.convert(Convert::SignExtend, a, ty.with_scalar(Scalar::I64))
            }
            _ if scalar.is_float() => self.builder.binary(BinaryOp::FMul, a, b),
            _ => self.builder.binary(BinaryOp::Xor, a, b),
        };
        self.values.push(value);
    }

    fn memory(&mut self) {
        let space = pick(self.random, &[AddressSpace::Global, AddressSpace::Local, AddressSpace::Private]);
        let pointer = match space {
            AddressSpace::Private => {
                let var = self.builder.function.vars.ids().next().expect("a variable");
                self.builder.private_var(var)
            }
            _ => self.any_value(Type::Pointer(space)),
        };
        let (is_shared, is_volatile) = (self.random.usize(..2) == 0, self.random.usize(..2) == 0);
        let access = Access { is_shared, align: 4, is_volatile };
        let ty = Type::vector(Scalar::I32, pick(self.random, &[1, 4]));
        let value = self.builder.load(pointer, ty, access);
        self.builder.store(pointer, value, access);
        self.values.push(value);
    }

    fn call(&mut self) {
        if self.callees.is_empty() {
            return;
        }
        let number = self.random.usize(..self.callees.len());
        let (callee, params, result) = self.callees[number].clone();
        let arguments: Vec<ValueId> = params.into_iter().map(|ty| self.any_value(ty)).collect();
        self.values.extend(self.builder.call(callee, &arguments, result));
    }

    /// Fills a block and ends it with an exit of this construct or of an enclosing one.
    fn arm(&mut self, block: kiln_ir::BlockId, construct: InstId, result: Type, depth: usize) {
        let after = self.builder.insertion_point();
        self.builder.at_end(block);
        self.constructs.push(construct);
        self.block(depth - 1);
        let value = self.any_value(result);
        self.builder.exit(construct, &[value]);
        self.constructs.pop();
        self.builder.at(after.0, after.1);
    }

    fn choice(&mut self, depth: usize) {
        let condition = self.any_value(Type::BOOL);
        let ty = Type::vector(pick(self.random, &SCALARS), 2);
        let open = self.builder.open_if(condition, &[ty]);
        self.arm(open.then, open.inst, ty, depth);
        self.arm(open.otherwise, open.inst, ty, depth);
        self.values.push(self.builder.function.result(open.inst));
    }

    fn cases(&mut self, depth: usize) {
        let value = self.any_value(Type::I32);
        let lists = (0..self.random.usize(..3) as u64).map(|n| vec![n, 0xffff_fff0 + n]).collect();
        let open = self.builder.open_switch(value, lists, &[Type::I32]);
        for block in open.cases.into_iter().chain([open.default]) {
            self.arm(block, open.inst, Type::I32, depth);
        }
        self.values.push(self.builder.function.result(open.inst));
    }

    fn repetition(&mut self, depth: usize) {
        let first = self.any_value(Type::I32);
        let hints = LoopHints { unroll: [None, Some(0), Some(4)][self.random.usize(..3)] };
        let open = self.builder.open_loop(&[first], &[Type::I64], &[Type::I32], hints);
        let after = self.builder.insertion_point();
        self.builder.at_end(open.body);
        self.block(depth - 1);
        let condition = self.any_value(Type::BOOL);
        let leave = self.builder.open_if(condition, &[]);
        self.builder.unreachable();
        self.builder.at_end(leave.then);
        let counter = self.builder.function.blocks[open.body].params[0];
        self.builder.exit(open.inst, &[counter]);
        self.builder.at_end(leave.otherwise);
        let wide = self.builder.convert(Convert::SignExtend, counter, Type::I64);
        self.builder.continue_loop(open.inst, &[wide]);
        self.builder.at_end(open.continuing);
        let param = self.builder.function.blocks[open.continuing].params[0];
        let narrow = self.builder.convert(Convert::Truncate, param, Type::I32);
        self.builder.next(open.inst, &[narrow]);
        self.builder.at(after.0, after.1);
        self.values.push(self.builder.function.result(open.inst));
    }
}

#[test]
fn order_and_uses_follow_the_text() {
    let mut module = parse(
        "function #0 \"f\"(%0: i32, %1: bool) -> i32 {\n  %2: i32 = if L0 %1 {\n    %3: i32 = add %0, %0\n    \
         exit L0 %3\n  } else {\n    exit L0 %0\n  }\n  return %2\n}\n",
    )
    .expect("it is well-formed");
    let id = module.functions.ids().next().expect("a function");
    let function = &mut module.functions[id];
    let words: Vec<bool> = function
        .inst_order()
        .into_iter()
        .map(|inst| matches!(function.insts[inst].op, Op::Binary(BinaryOp::Add)))
        .collect();
    assert_eq!(words, [false, false, true, false, false]);
    let (from, to) = (function.params()[0], Builder::new(function).i32(7));
    function.replace_uses(&[(from, to)].into_iter().collect());
    assert!(module.to_string().contains("add i32 7, i32 7"));
}
