//! Runs one work-item from the start of a kernel to its end, with chosen values for the reads of shared memory.

use std::collections::BTreeMap;

use smallvec::smallvec;
use spirv::{Op, StorageClass};

use super::{
    Module, Unsupported, alu, extended,
    interface::{self, Bound},
    layout::Value,
    memory::{Access, Operands, Shared},
};
use crate::event::{End, Event, Location, Object, Space, Trace};

/// The maximum number of instructions of a run.
const STEPS: u32 = 1 << 20;

/// Why a run stopped before its end.
pub(super) enum Stop {
    /// It reads a shared location, at this address and of this size, and no value is chosen. The run can be resumed with one
    /// more choice.
    Choose(u64, u64),
    /// A loop exceeds the maximum number of iterations.
    Long,
    /// An iteration of a loop changed nothing. Its events start at this index, and are only loads of atomic objects and fences.
    /// A run without this iteration exists too and has the same effects. If the iteration loads nothing, the loop never ends.
    Idle(usize),
    Unsupported(Unsupported),
}

impl From<Unsupported> for Stop {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}

/// The ids of a work-item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    pub(super) local: [u32; 3],
    pub(super) group: [u32; 3],
    pub(super) group_number: u32,
    pub(super) local_number: u32,
}

/// A function that is being called.
#[derive(Clone, Default)]
struct Call {
    /// The instruction after the call, and the id of its result.
    return_to: usize,
    result: u32,
    /// The labels of the current block and of its predecessor in this run.
    label: u32,
    predecessor: u32,
    /// For each block: its label, the number of events at the last visit, and the iterations with events since the first visit.
    visits: Vec<(u32, usize, u32)>,
    /// For each header of a loop: the private memory at the last visit.
    private: BTreeMap<u32, BTreeMap<u64, u8>>,
}

/// A run of a work-item.
pub(super) struct Run<'m> {
    pub(super) module: &'m Module,
    pub(super) bound: &'m Bound,
    pub(super) shared: &'m Shared,
    pub(super) choices: Vec<u64>,
    pub(super) chosen: usize,
    pub(super) item: Item,
    /// The values that functions have computed, by slot.
    values: Vec<Option<Value>>,
    pub(super) bytes: BTreeMap<u64, u8>,
    pub(super) accesses: Vec<Access>,
    /// The number of accesses that have been logged.
    pub(super) logged: usize,
    /// Chooses the values of reads instead of `choices`, if set.
    pub(super) observer: Option<&'m mut dyn super::Observer>,
    events: Vec<Event>,
    calls: Vec<Call>,
    at: usize,
    line: u32,
    steps: u32,
}

impl<'m> Run<'m> {
    /// A run that has entered the kernel.
    pub(super) fn new(
        module: &'m Module,
        bound: &'m Bound,
        shared: &'m Shared,
        choices: Vec<u64>,
        item: Item,
    ) -> Result<Self, Unsupported> {
        let mut run = Self {
            module,
            bound,
            shared,
            choices,
            chosen: 0,
            item,
            values: vec![None; module.slot_count as usize + 1],
            bytes: BTreeMap::new(),
            accesses: Vec::new(),
            logged: 0,
            observer: None,
            events: Vec::new(),
            calls: Vec::new(),
            at: 0,
            line: 0,
            steps: 0,
        };
        run.begin()?;
        Ok(run)
    }

    /// A copy of a run that stopped at a choice, with this choice.
    pub(super) fn with_choice(&self, value: u64) -> Self {
        let mut choices = self.choices.clone();
        choices.push(value);
        Self {
            choices,
            values: self.values.clone(),
            bytes: self.bytes.clone(),
            accesses: self.accesses.clone(),
            observer: None,
            events: self.events.clone(),
            calls: self.calls.clone(),
            ..*self
        }
    }

    /// Enters the kernel.
    fn begin(&mut self) -> Result<(), Unsupported> {
        let mut parameters = Vec::new();
        let entry = self.bound.function;
        let at = self.module.position(entry).unwrap_or_default();
        let declared = self.module.instructions[at + 1..].iter();
        for (ordinal, it) in declared.take_while(|it| it.op == Op::FunctionParameter).enumerate() {
            parameters.push(self.parameter(ordinal as u32, it)?);
        }
        self.call(entry, parameters, 0)
    }

    /// Runs the kernel to its end. The accesses are valid even if the run stops early.
    pub(super) fn resume(&mut self) -> Result<Trace, Stop> {
        while self.steps < STEPS {
            if self.calls.is_empty() {
                return Ok(self.trace(End::Done));
            }
            let (chosen, events) = (self.chosen, self.events.len());
            let result = self.step();
            if let Err(Stop::Choose(..)) = result {
                // The instruction starts over.
                self.chosen = chosen;
                self.events.truncate(events);
            }
            result?;
            self.steps += 1;
        }
        Err(Unsupported::Other("a loop runs too long without accessing shared memory".to_owned()).into())
    }

    /// The events until now.
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// The end of the run.
    pub(super) fn trace(&mut self, end: End) -> Trace {
        let results = self.results();
        Trace { events: std::mem::take(&mut self.events), results, end, is_assumed: false }
    }

    /// The value of a kernel parameter, in the OpenCL environment.
    fn parameter(&self, ordinal: u32, it: &super::Instruction) -> Result<Value, Unsupported> {
        use super::Argument;
        let (ty, id) = (it.word(0), it.word(1));
        let scalars = |bytes: &[u8]| {
            let scalar = |(offset, size): (u64, u64)| {
                (offset..offset + size).rev().fold(0, |all, at| {
                    all << 8 | u64::from(bytes.get(at as usize).copied().unwrap_or_default())
                })
            };
            Ok::<Value, Unsupported>(self.module.leaves(ty, self.bound)?.into_iter().map(scalar).collect())
        };
        if self.bound.launch.objects.is_some() {
            let object = match self.module.pointer(ty) {
                Err(_) => return scalars(self.bound.bytes(id)),
                Ok((class, _)) if class == StorageClass::Workgroup as u32 => {
                    Object::LocalVariable(id, self.item.group_number)
                }
                Ok(_) => Object::Argument(id),
            };
            return Ok(smallvec![interface::address(object)]);
        }
        let argument = self.bound.launch.arguments.get(ordinal as usize);
        Ok(match argument {
            Some(Argument::Buffer(_)) => smallvec![interface::address(Object::Argument(ordinal))],
            Some(Argument::Local(_)) => {
                let group = if self.bound.launch.shared_local.is_some() { 0 } else { self.item.group_number };
                smallvec![interface::address(Object::LocalArgument(ordinal, group))]
            }
            Some(Argument::Value(bytes)) => scalars(bytes)?,
            None => return Err(Unsupported::Other(format!("argument {ordinal} is missing"))),
        })
    }

    /// Appends an event.
    pub(super) fn push(&mut self, event: Event) {
        let event = Event { site: self.at as u32, line: self.line, ..event };
        if let Some(observer) = &mut self.observer {
            observer.event(&event);
        }
        self.events.push(event);
    }

    /// The location of the next event, if no other work-item accesses it.
    pub(super) fn unshared(&self, space: Space) -> Location {
        let item = self.item.group_number << 16 | self.item.local_number;
        Location { object: Object::Unshared(item, space), offset: self.events.len() as u32 }
    }

    fn call(&mut self, function: u32, arguments: Vec<Value>, result: u32) -> Result<(), Unsupported> {
        if self.calls.len() > 64 {
            return Err(Unsupported::Other("functions call each other too deeply".to_owned()));
        }
        self.calls.push(Call { return_to: self.at + 1, result, ..Call::default() });
        self.at = self.module.position(function).unwrap_or_default() + 1;
        for argument in arguments {
            let id = self.module.instructions[self.at].word(1);
            self.set(id, argument);
            self.at += 1;
        }
        Ok(())
    }

    fn set(&mut self, id: u32, value: Value) {
        if let Some(&slot) = self.module.slots.get(id as usize)
            && slot != 0
        {
            self.values[slot as usize] = Some(value);
        }
    }

    /// The value of an id, if an instruction has computed it or it is a constant.
    fn known(&self, id: u32) -> Option<&Value> {
        let slot = self.module.slots.get(id as usize).copied().unwrap_or_default();
        match slot {
            0 => self.bound.constants.get(id as usize)?.as_ref(),
            _ => self.values[slot as usize].as_ref(),
        }
    }

    /// The value of an id.
    pub(super) fn value(&self, id: u32) -> Result<Value, Unsupported> {
        if let Some(value) = self.known(id) {
            return Ok(value.clone());
        }
        match self.module.definition(id)?.op {
            Op::Variable => Ok(smallvec![self.module.variable(id, self.item.group_number, self.bound)?]),
            // The undefined value can differ between work-items.
            Op::Undef if !self.bound.bytes(id).is_empty() => {
                let value = self.module.constant(id, self.bound)?;
                Ok(smallvec![u64::from(self.item.local_number); value.len()])
            }
            _ => self.module.constant(id, self.bound),
        }
    }

    /// The first scalar of a value.
    pub(super) fn scalar(&self, id: u32) -> Result<u64, Unsupported> {
        let first = |value: &Value| value.first().copied().unwrap_or_default();
        match self.known(id) {
            Some(value) => Ok(first(value)),
            None => Ok(first(&self.value(id)?)),
        }
    }

    /// Executes an instruction.
    fn step(&mut self) -> Result<(), Stop> {
        let module = self.module;
        let Some(instruction) = module.instructions.get(self.at) else {
            return Err(Unsupported::Other("a function has no end".to_owned()).into());
        };
        let words = &instruction.words;
        match instruction.op {
            Op::Line => self.line = instruction.word(1),
            Op::Label => self.enter(words[0])?,
            Op::Branch => return self.branch_to(words[0]),
            Op::BranchConditional => {
                let is_true = self.scalar(words[0])? != 0;
                return self.branch_to(words[if is_true { 1 } else { 2 }]);
            }
            Op::Switch => {
                let target = self.case(words)?;
                return self.branch_to(target);
            }
            Op::Phi => self.phis()?,
            Op::Return | Op::ReturnValue => {
                let value =
                    if instruction.op == Op::ReturnValue { self.value(words[0])? } else { Value::new() };
                let Some(call) = self.calls.pop() else { return Ok(()) };
                self.set(call.result, value);
                self.at = call.return_to;
                return Ok(());
            }
            Op::FunctionCall => {
                let arguments =
                    words[3..].iter().map(|id| self.value(*id)).collect::<Result<_, Unsupported>>()?;
                self.call(words[2], arguments, words[1])?;
                return Ok(());
            }
            Op::LoopMerge | Op::SelectionMerge | Op::NoLine | Op::Nop => {}
            Op::Unreachable => {
                let what = "a work-item reaches OpUnreachable: the behavior is undefined";
                return Err(Unsupported::Other(what.to_owned()).into());
            }
            Op::LifetimeStart | Op::LifetimeStop | Op::AssumeTrueKHR => {}
            _ => self.execute(instruction.op, words)?,
        }
        self.at += 1;
        Ok(())
    }

    fn branch_to(&mut self, label: u32) -> Result<(), Stop> {
        self.at = self.module.position(label).unwrap_or_default();
        Ok(())
    }

    /// Enters a block, and counts the iterations of its loop that access shared memory.
    fn enter(&mut self, label: u32) -> Result<(), Stop> {
        let (events, max_iterations) = (self.events.len(), self.bound.launch.max_iterations);
        let Some(call) = self.calls.last_mut() else { return Ok(()) };
        (call.predecessor, call.label) = (call.label, label);
        let known = call.visits.iter().position(|it| it.0 == label).unwrap_or_else(|| {
            call.visits.push((label, events, 0));
            call.visits.len() - 1
        });
        let (_, last, iterations) = &mut call.visits[known];
        let before = *last;
        if before != events {
            *last = events;
            *iterations += 1;
        }
        if *iterations > max_iterations {
            return Err(Stop::Long);
        }
        if self.observer.is_none() && self.bound.headers.contains(&label) {
            let private = call.private.insert(label, self.bytes.clone());
            let writes_back = self.bound.launch.keeps_spins;
            let is_idle = self.events[before..].iter().all(|it| it.changes_nothing(writes_back));
            if is_idle && private.is_some_and(|it| it == self.bytes) && self.has_same_phis()? {
                return Err(Stop::Idle(before));
            }
        }
        Ok(())
    }

    /// Whether all `OpPhi` of the entered block have the values of its last visit.
    fn has_same_phis(&self) -> Result<bool, Unsupported> {
        let (_, values) = self.incoming(self.at + 1)?;
        Ok(values.iter().all(|(id, value)| self.known(*id) == Some(value)))
    }

    /// The target of `OpSwitch`. Literals have the width of the selector.
    fn case(&self, words: &[u32]) -> Result<u32, Stop> {
        let selector = self.scalar(words[0])?;
        let width = self.module.width(self.module.type_of(words[0])?)?;
        let length = width.div_ceil(32) as usize;
        let cases = words[2..].chunks_exact(length + 1);
        let literal = |case: &&[u32]| {
            let scalar = case[..length].iter().rev().fold(0, |all, word| all << 32 | u64::from(*word));
            alu::narrow(scalar, width) == selector
        };
        Ok(cases.clone().find(literal).map_or(words[1], |case| case[length]))
    }

    /// Assigns all `OpPhi` of a block in parallel. Moves to the last of them.
    fn phis(&mut self) -> Result<(), Stop> {
        let (last, values) = self.incoming(self.at)?;
        self.at = last;
        values.into_iter().for_each(|(id, value)| self.set(id, value));
        Ok(())
    }

    /// The position of the last `OpPhi` of the block at this position, and the new values of all of them.
    fn incoming(&self, at: usize) -> Result<(usize, Vec<(u32, Value)>), Unsupported> {
        let predecessor = self.calls.last().map_or(0, |call| call.predecessor);
        let mut values = Vec::new();
        let rest = &self.module.instructions[at..];
        let is_here = |it: &&super::Instruction| matches!(it.op, Op::Phi | Op::Line | Op::NoLine);
        let mut last = at;
        for (index, phi) in rest.iter().take_while(is_here).enumerate().filter(|(_, it)| it.op == Op::Phi) {
            last = at + index;
            let source = phi.words[2..].chunks_exact(2).find(|pair| pair[1] == predecessor);
            let value = source.map_or(Ok(smallvec![0]), |pair| self.value(pair[0]))?;
            values.push((phi.word(1), value));
        }
        Ok((last, values))
    }

    /// Executes an instruction that does not end a block.
    fn execute(&mut self, op: Op, words: &[u32]) -> Result<(), Stop> {
        let operand = |index: usize| words.get(index).copied().unwrap_or_default();
        let value = match op {
            Op::Variable => {
                if words.len() > 3 {
                    let (_, ty) = self.module.pointer(words[0])?;
                    let value = self.value(words[3])?;
                    self.store(ty, interface::own_address(words[1]), Operands::default(), &value)?;
                }
                return Ok(());
            }
            Op::Load => self.load_any(words)?,
            Op::Store => {
                let (address, value) = (self.scalar(words[0])?, self.value(words[1])?);
                let ty = self.module.type_of(words[1])?;
                let operands = self.operands(&words[2..])?;
                return self.store(ty, address, operands, &value);
            }
            Op::MemoryBarrier => return self.fence(words[0], words[1]),
            Op::ControlBarrier => return self.barrier(words),
            Op::AtomicStore | Op::AtomicFlagClear => return self.atomic_store(op, words),
            _ if is_atomic(op) => smallvec![self.atomic(op, words)?],
            Op::Constant
            | Op::ConstantTrue
            | Op::ConstantFalse
            | Op::ConstantNull
            | Op::ConstantComposite => {
                return Ok(());
            }
            // Debug information and reflection.
            Op::ExtInst if self.is_non_semantic(operand(2)) => return Ok(()),
            Op::AccessChain | Op::InBoundsAccessChain => smallvec![self.chain(words[2], &words[3..])?],
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let ty = self.module.type_of(words[2])?;
                let (_, element) = self.module.pointer(ty)?;
                let size = match self.module.strides.get(&ty) {
                    Some(stride) => u64::from(*stride),
                    None => self.module.size(element, self.bound)?,
                };
                let index = self.index(words[3])?.wrapping_mul(size);
                smallvec![displace(self.chain(words[2], &words[4..])?, index)]
            }
            _ => self.compute(op, words)?,
        };
        self.set(words[1], value);
        Ok(())
    }

    fn is_non_semantic(&self, set: u32) -> bool {
        self.module.definition(set).is_ok_and(|it| it.text(1).starts_with("NonSemantic"))
    }

    /// Instructions on values only, component by component.
    fn compute(&self, op: Op, words: &[u32]) -> Result<Value, Stop> {
        let operand = |index: usize| words.get(index).copied().unwrap_or_default();
        let module = self.module;
        Ok(match op {
            Op::Undef => module.constant(words[1], self.bound)?,
            Op::Bitcast => self.bitcast(words)?,
            Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::CopyLogical => self.value(words[2])?,
            Op::Select => {
                let (condition, a, b) = (self.value(words[2])?, self.value(words[3])?, self.value(words[4])?);
                let is_true = |index: usize| condition.get(index).unwrap_or(&condition[0]) & 1 != 0;
                (0..a.len()).map(|index| if is_true(index) { a[index] } else { b[index] }).collect()
            }
            Op::CompositeConstruct => {
                let mut all = Value::new();
                for id in &words[2..] {
                    all.extend(self.value(*id)?);
                }
                all
            }
            Op::CompositeExtract => {
                let ty = module.type_of(words[2])?;
                let (first, count) = module.range(ty, &words[3..], self.bound)?;
                Value::from_slice(self.value(words[2])?.get(first..first + count).unwrap_or_default())
            }
            Op::CompositeInsert => {
                let (first, count) = module.range(operand(0), &words[4..], self.bound)?;
                let (part, mut whole) = (self.value(words[2])?, self.value(words[3])?);
                whole.iter_mut().skip(first).take(count).zip(part).for_each(|(to, from)| *to = from);
                whole
            }
            Op::VectorExtractDynamic => {
                let index = self.scalar(words[3])? as usize;
                Value::from_slice(self.value(words[2])?.get(index..=index).unwrap_or(&[0]))
            }
            Op::VectorInsertDynamic => {
                let (mut vector, part) = (self.value(words[2])?, self.scalar(words[3])?);
                let index = self.scalar(words[4])? as usize;
                vector.iter_mut().skip(index).take(1).for_each(|it| *it = part);
                vector
            }
            Op::VectorShuffle => {
                let mut both = self.value(words[2])?;
                both.extend(self.value(words[3])?);
                words[4..].iter().map(|at| both.get(*at as usize).copied().unwrap_or_default()).collect()
            }
            Op::ExtInst => {
                let (set, width) = (module.definition(words[2])?.text(1), module.width(words[0])?);
                let a = self.value(operand(4))?;
                let b = if words.len() > 5 { self.value(words[5])? } else { Value::new() };
                let each = a.iter().enumerate().map(|(index, a)| {
                    let b = b.get(index).copied().unwrap_or_default();
                    extended::compute(&set, words[3], width, *a, b)
                });
                let all: Option<Value> = each.collect();
                all.ok_or_else(|| Unsupported::Instruction(format!("instruction {} of {set}", words[3])))?
            }
            _ => {
                let widths = (module.width(operand(0))?, module.width(module.type_of(operand(2))?)?);
                let a = self.value(words[2])?;
                let b = if words.len() > 3 { self.value(words[3])? } else { Value::new() };
                let each = a.iter().enumerate().map(|(index, a)| {
                    alu::compute(op, widths, *a, b.get(index).copied().unwrap_or_default())
                        .ok_or_else(|| Unsupported::Instruction(format!("Op{op:?}")))
                });
                each.collect::<Result<_, _>>()?
            }
        })
    }

    /// The bits of a value as components of another width.
    fn bitcast(&self, words: &[u32]) -> Result<Value, Stop> {
        let value = self.value(words[2])?;
        let from = self.module.width(self.module.type_of(words[2])?)?;
        let to = self.module.width(words[0])?;
        let bytes: Vec<u8> =
            value.iter().flat_map(|it| it.to_le_bytes().into_iter().take((from / 8) as usize)).collect();
        let join = |part: &[u8]| part.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
        Ok(bytes.chunks((to / 8).max(1) as usize).map(join).collect())
    }

    /// An index, which is signed.
    fn index(&self, id: u32) -> Result<u64, Unsupported> {
        let width = self.module.width(self.module.type_of(id)?)?;
        Ok(alu::compute(Op::SConvert, (64, width), self.scalar(id)?, 0).unwrap_or_default())
    }

    /// The address of a part of an object.
    fn chain(&self, base: u32, indices: &[u32]) -> Result<u64, Unsupported> {
        let mut address = self.scalar(base)?;
        let (_, mut ty) = self.module.pointer(self.module.type_of(base)?)?;
        for &index in indices {
            let definition = self.module.definition(ty)?;
            let index = self.index(index)?;
            if definition.op == Op::TypeStruct {
                address += self.module.offset(ty, index as u32, self.bound)?;
                ty = definition.word(1 + index as usize);
            } else {
                let element = definition.word(1);
                let stride = match definition.op {
                    Op::TypeVector => self.module.size(element, self.bound)?,
                    _ => self.module.stride(ty, self.bound)?,
                };
                address = displace(address, index.wrapping_mul(stride));
                ty = element;
            }
        }
        Ok(address)
    }

    /// `OpLoad` from any storage class.
    fn load_any(&mut self, words: &[u32]) -> Result<Value, Stop> {
        let address = self.scalar(words[2])?;
        let variable = interface::own_variable(address);
        let definition = variable.and_then(|id| self.module.definition(id).ok());
        let is = |class: StorageClass| definition.is_some_and(|it| it.word(2) == class as u32);
        let built_in = variable.and_then(|id| self.module.built_ins.get(&id));
        if let Some(built_in) = built_in {
            let count = self.module.leaves(words[0], self.bound)?.len();
            let all = self.built_in(*built_in)?;
            // A pointer to a component.
            let first = if count == 1 && all.len() == 3 { (address as u32 / 4) as usize } else { 0 };
            return Ok(all.into_iter().skip(first).take(count).collect());
        }
        if is(StorageClass::PushConstant) {
            let bytes = &self.bound.push_constants;
            let byte = |at: u64| u64::from(bytes.get(at as usize).copied().unwrap_or_default());
            let from = u64::from(address as u32);
            let leaves = self.module.leaves(words[0], self.bound)?;
            let scalar = |(offset, size): (u64, u64)| {
                (0..size).rev().fold(0, |all, at| all << 8 | byte(from + offset + at))
            };
            return Ok(leaves.into_iter().map(scalar).collect());
        }
        if is(StorageClass::Input) && definition.is_some_and(|it| it.words.len() < 4) {
            return Err(Unsupported::Other("an input variable is not a built-in".to_owned()).into());
        }
        let operands = self.operands(&words[3..])?;
        self.load(words[0], address, operands)
    }
}

/// The address at a distance in the same object, whose offsets have 32 bits.
fn displace(address: u64, by: u64) -> u64 {
    let offset = (address as u32).wrapping_add(by as u32);
    address & !u64::from(u32::MAX) | u64::from(offset)
}

/// Whether this is an atomic operation.
pub(super) fn is_atomic(op: Op) -> bool {
    // These opcodes are consecutive, except those of extensions.
    (Op::AtomicLoad as u32..=Op::AtomicXor as u32).contains(&(op as u32))
        || matches!(op, Op::AtomicFlagTestAndSet | Op::AtomicFMinEXT | Op::AtomicFMaxEXT | Op::AtomicFAddEXT)
}
