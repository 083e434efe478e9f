//! Lowers `printf` for Vulkan (OpenCL C 6.15.14). A call reserves words in a buffer and writes its format number and
//! arguments there. The host formats the text when the launch is complete.
//!
//! The buffer consists of 32-bit words. The first counts the reserved words that follow. A record is the format number
//! followed by the arguments, each padded to whole words; a string argument is its number. A call whose record does not
//! fit writes only its format number, if that fits, and the output ends there. Numbers are indices into
//! `Interface::formats`.
//!
//! A trap record follows those words. The first trap of a launch writes its number and the work-item there.

use std::collections::VecDeque;

use kiln_ir::{
    Access, Atomic, BinaryOp, Builder, CompareKind, Convert, Format, Function, Interface, Module, Op,
    PRINTF_BUFFER_SIZE, Scalar, State, Trap, Type, ValueId, Var, VarId, WorkItem,
};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, NO_STRING_LITERAL, Sink},
};
use kiln_syntax::Span;
use kiln_types::{
    index::Table,
    ops::{CompareOp, Conversion},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FetchKey};

use crate::rewrite::rewrite;

/// The size of the counter in bytes.
const HEAD: u32 = 4;
const WORD: Access = Access { is_shared: false, align: 4, is_volatile: false };

pub(super) fn lower_printf(module: &mut Module, _: &Options, sink: &mut Sink) {
    let Module { vars, functions, interface, .. } = module;
    let has = |function: &Function, predicate: fn(&Op) -> bool| {
        function.may_contain(predicate)
            && function.inst_order().into_iter().any(|inst| predicate(&function.insts[inst].op))
    };
    let prints = functions.iter().any(|function| has(function, |op| matches!(op, Op::Printf(_))));
    interface.printed = if prints { PRINTF_BUFFER_SIZE } else { HEAD };
    let mut pass = Pass { vars, interface, sink };
    for function in functions.iter_mut() {
        if !has(function, |op| matches!(op, Op::Printf(_) | Op::Trap(_))) {
            continue;
        }
        rewrite(function, |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            match inst.op {
                Op::Printf(format) => {
                    let result = pass.call(builder, &format, &inst.args);
                    replaced.insert(inst.results[0], result);
                }
                Op::Trap(message) => pass.lower_trap(builder, &message),
                _ => builder.insert(id),
            }
        });
    }
}

struct Pass<'a> {
    vars: &'a Table<VarId, Var>,
    interface: &'a mut Interface,
    sink: &'a mut Sink,
}

impl Pass<'_> {
    /// The number of a format or string.
    fn format_number(&mut self, text: &[u8], sizes: Vec<u32>) -> i32 {
        let format = Format { text: text.to_vec(), sizes };
        let formats = &mut self.interface.formats;
        let known = formats.iter().position(|known| *known == format);
        let number = known.unwrap_or_else(|| {
            formats.push(format);
            formats.len() - 1
        });
        i32::try_from(number).unwrap_or(i32::MAX)
    }

    /// Writes a trap record, if it is the first.
    fn lower_trap(&mut self, builder: &mut Builder<'_>, message: &[u8]) {
        let traps = &mut self.interface.traps;
        let number = builder.i32(i32::try_from(traps.len()).unwrap_or(i32::MAX));
        let message = String::from_utf8_lossy(message).into_owned();
        traps.push(Trap { span: builder.span, position: String::new(), message });
        let head = buffer_start(builder);
        let record = builder.offset_bytes(head, self.interface.printed.into());
        let [zero, one] = [0, 1].map(|it| builder.i32(it));
        let first = Op::Atomic(Atomic::counting(AtomicOp::Exchange));
        let before = builder.value(first, &[record, one], Type::I32);
        let is_first = builder.compare(CompareOp::Equal, CompareKind::Unsigned, before, zero);
        let open = builder.open_if(is_first, &[]);
        let after = builder.insertion_point();
        builder.at_end(open.then);
        let mut words = vec![number];
        for dimension in 0..3 {
            let dimension = builder.i32(dimension);
            let id = builder.value(Op::WorkItem(WorkItem::GlobalId), &[dimension], Type::I64);
            words.push(builder.resize(id, Scalar::I32, false));
        }
        for (index, word) in (1..).zip(words) {
            let address = builder.offset_bytes(record, 4 * index);
            builder.store(address, word, WORD);
        }
        builder.exit(open.inst, &[]);
        builder.at_end(open.otherwise);
        builder.exit(open.inst, &[]);
        builder.at(after.0, after.1);
    }

    /// Lowers a call of `printf`. Returns its result.
    fn call(&mut self, builder: &mut Builder<'_>, format: &[u8], arguments: &[ValueId]) -> ValueId {
        let mut strings: VecDeque<usize> = string_arguments(format).into();
        let (mut words, mut sizes) = (Vec::new(), Vec::new());
        let mut is_known = true;
        for (index, &argument) in arguments.iter().enumerate() {
            let first = words.len();
            if strings.front() == Some(&index) {
                strings.pop_front();
                let number = self.string_number(builder.function, argument);
                is_known &= number.is_some();
                words.push(builder.i32(number.unwrap_or_default()));
            } else {
                append_words(builder, argument, &mut words);
            }
            sizes.push(4 * (words.len() - first) as u32);
        }
        if !is_known {
            self.unknown_string(builder.span);
        }
        let number = self.format_number(format, sizes);
        words.insert(0, builder.i32(number));
        write_record(builder, &words)
    }

    /// The number of the string literal that a pointer refers to. `None` if it is not known.
    fn string_number(&mut self, function: &Function, pointer: ValueId) -> Option<i32> {
        let text = self.string_literal(function, pointer)?;
        Some(self.format_number(&text, Vec::new()))
    }

    fn string_literal(&self, function: &Function, pointer: ValueId) -> Option<Vec<u8>> {
        if function.constant_bits(pointer) == Some(0) {
            return Some(b"(null)".to_vec());
        }
        let inst = function.def(pointer)?;
        match inst.op {
            Op::PointerCast => self.string_literal(function, inst.args[0]),
            Op::ModuleVar(var) if self.vars[var].space == AddressSpace::Constant => {
                let var = &self.vars[var];
                let bytes = var.init.as_ref().map_or(&[][..], |data| &data.bytes[..]);
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                Some(bytes[..end].to_vec())
            }
            _ => None,
        }
    }

    /// `span` is the call. If the type checker has warned about arguments of the call, the error replaces the warnings.
    fn unknown_string(&mut self, span: Span) {
        let message = "`%s` prints strings that are known at compile time, and this one is not";
        let is_warning = |it: &Diagnostic| {
            it.code == Code::PrintfArgument
                && it.message == NO_STRING_LITERAL
                && span.lo <= it.span.lo
                && it.span.hi <= span.hi
        };
        let errors = self.sink.errors();
        self.sink.replace(0, |found| {
            let code = Code::TargetFeature;
            is_warning(found).then(|| Diagnostic { code, message: message.to_owned(), ..found.clone() })
        });
        if self.sink.errors() != errors {
            return;
        }
        self.sink.report(
            Diagnostic::new(Code::TargetFeature, span, message)
                .help("print a string literal, or choose among several calls of `printf`")
                .note("OpenCL C 6.15.14.2: the argument of the conversion s shall be a literal string"),
        );
    }
}

/// The arguments that `%s` prints. The format has been checked: a directive ends in a letter or `%`.
fn string_arguments(format: &[u8]) -> Vec<usize> {
    let (mut found, mut index, mut at) = (Vec::new(), 0, 0);
    while let Some(percent) = format[at..].iter().position(|byte| *byte == b'%') {
        at += percent + 1;
        let length = format[at..].iter().position(|byte| b"diouxXfFeEgGaAcsp%".contains(byte));
        let Some(length) = length else { break };
        at += length + 1;
        match format[at - 1] {
            b'%' => {}
            letter => {
                if letter == b's' {
                    found.push(index);
                }
                index += 1;
            }
        }
    }
    found
}

/// Converts a value to words: the components in order, padded to whole words.
fn append_words(builder: &mut Builder<'_>, value: ValueId, words: &mut Vec<ValueId>) {
    let mut value = undo_promotion(builder.function, value);
    if builder.ty(value).is_pointer() {
        value = builder.value(Op::PointerToInt, &[value], Type::I64);
    }
    let ty = builder.ty(value);
    let Some(scalar) = ty.scalar() else { return };
    let scalar = if scalar == Scalar::Bool { Scalar::I8 } else { scalar };
    let parts: Vec<ValueId> = if ty.is_vector() {
        (0..ty.count()).map(|it| builder.extract(value, it)).collect()
    } else {
        vec![value]
    };
    let bits: Vec<ValueId> = parts
        .into_iter()
        .map(|part| match builder.ty(part) {
            Type::BOOL => builder.convert(Convert::ZeroExtend, part, Type::I32),
            _ => builder.bitcast(part, Type::Scalar(Scalar::int_of_size(scalar.size()))),
        })
        .collect();
    let per_word = (4 / scalar.size()).max(1) as usize;
    for group in bits.chunks(per_word) {
        if scalar.size() == 8 {
            let high = builder.binary_bits(BinaryOp::LShr, group[0], 32);
            words.extend([group[0], high].map(|half| builder.resize(half, Scalar::I32, false)));
            continue;
        }
        let word = group.iter().enumerate().map(|(index, &part)| {
            let part = builder.resize(part, Scalar::I32, false);
            match 8 * scalar.size() * index as u64 {
                0 => part,
                shift => builder.binary_bits(BinaryOp::Shl, part, shift),
            }
        });
        let word: Vec<ValueId> = word.collect();
        let joined = word.into_iter().reduce(|all, part| builder.binary(BinaryOp::Or, all, part));
        words.extend(joined);
    }
}

/// A `float` that was promoted to `double` is written as `float`; the host promotes it.
fn undo_promotion(function: &Function, value: ValueId) -> ValueId {
    const PLAIN: Conversion = Conversion { rounding: None, saturate: false };
    let Some(inst) = function.def(value) else { return value };
    let is_promotion = matches!(inst.op, Op::Convert(Convert::Number { conversion: PLAIN, .. }))
        && function.ty(value) == Type::Scalar(Scalar::F64)
        && function.ty(inst.args[0]) == Type::Scalar(Scalar::F32);
    if is_promotion { inst.args[0] } else { value }
}

/// The start of the buffer.
fn buffer_start(builder: &mut Builder<'_>) -> ValueId {
    let buffer = builder.value(Op::LaunchAddress(State::Printf), &[], Type::I64);
    builder.value(Op::IntToPointer, &[buffer], Type::Pointer(AddressSpace::Global))
}

/// Reserves space and writes the words. Returns 0, or -1 if there is no space.
fn write_record(builder: &mut Builder<'_>, words: &[ValueId]) -> ValueId {
    let count = words.len() as u32;
    let capacity = PRINTF_BUFFER_SIZE / 4 - 1;
    let head = buffer_start(builder);
    let reserve = Atomic::counting(AtomicOp::Fetch(FetchKey::Add));
    let amount = builder.i32(count as i32);
    let first = builder.value(Op::Atomic(reserve), &[head, amount], Type::I32);
    let at_most = |builder: &mut Builder<'_>, limit: u32| {
        let limit = builder.i32(limit as i32);
        builder.compare(CompareOp::LessEqual, CompareKind::Unsigned, first, limit)
    };
    let starts = at_most(builder, capacity - 1);
    let fits = at_most(builder, capacity.saturating_sub(count));
    let data = builder.offset_bytes(head, 4);
    let outer = builder.open_if(starts, &[]);
    let after = builder.insertion_point();
    builder.at_end(outer.then);
    let address = builder.offset(data, first, 4);
    builder.store(address, words[0], WORD);
    let inner = builder.open_if(fits, &[]);
    builder.exit(outer.inst, &[]);
    builder.at_end(inner.then);
    for (number, &word) in words.iter().enumerate().skip(1) {
        let address = builder.offset_bytes(address, 4 * number as i64);
        builder.store(address, word, WORD);
    }
    builder.exit(inner.inst, &[]);
    builder.at_end(inner.otherwise);
    builder.exit(inner.inst, &[]);
    builder.at_end(outer.otherwise);
    builder.exit(outer.inst, &[]);
    builder.at(after.0, after.1);
    let [printed, lost] = [0, -1].map(|it| builder.i32(it));
    builder.select(fits, printed, lost)
}
