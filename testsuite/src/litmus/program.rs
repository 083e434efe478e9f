//! Interprets the SPIR-V module of a litmus test, and enumerates the memory events of its work-items for all values
//! that reads can return. Supports the instructions that the compiler emits for litmus tests. Must not depend on
//! memory models.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::{
    grammar::{INSTRUCTION_TABLE, OperandKind},
    spirv::{MemoryAccess, Op, StorageClass},
};

use super::{Space, sources::MARK};

/// A location in shared memory: an object and a byte offset.
pub type Location = (u64, u64);

/// The action of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A load, or a compare-exchange that fails.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Modify,
    /// A fence.
    Fence,
}

/// An event: a step of a work-item that others can observe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The action.
    pub action: Action,
    /// The location; `None` for fences.
    pub location: Option<Location>,
    /// The memory of the location.
    pub space: Space,
    /// The value read.
    pub read: u64,
    /// The value written.
    pub written: u64,
    /// Whether it is an atomic operation.
    pub is_atomic: bool,
    /// The SPIR-V scope.
    pub scope: u32,
    /// The SPIR-V memory semantics.
    pub semantics: u32,
    /// Whether Vulkan's memory model orders it with other work-items (non-private).
    pub is_shared: bool,
}

/// A run of a work-item: its events and registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The observable events.
    pub events: Vec<Event>,
    /// The values stored to `result`.
    pub registers: BTreeMap<u64, u64>,
    /// The object `result`. Lower object numbers are the module's own.
    pub result: u64,
}

/// More events than a litmus test without an infinite loop has.
const LONGEST: usize = 9;

/// Addresses contain the object in the upper half. Arguments are numbered from here, by parameter or by push constant
/// offset.
const ARGUMENT: u64 = 0x1000;
const VARIABLE: u64 = 0x4000_0000;
/// Vulkan's local arguments, by number.
const LOCAL: u64 = 0x2000;

#[derive(Clone, Debug)]
struct Instruction {
    op: Op,
    words: Vec<u32>,
}

/// A parsed module.
pub struct Program {
    instructions: Vec<Instruction>,
    /// The types of ids, and the definitions outside functions.
    types: BTreeMap<u32, u32>,
    definitions: BTreeMap<u32, usize>,
    labels: BTreeMap<u32, usize>,
    /// The index of the kernel's OpFunction.
    entry: usize,
    /// The variables for the local id.
    local_ids: BTreeSet<u32>,
    /// The specialization constants that size local arguments, with the number of the argument.
    specialized: BTreeMap<u32, u32>,
}

/// Why an interpretation stopped.
enum Stop {
    /// It reads a location, and no value is chosen yet.
    Asks(Location),
    /// It exceeds the limit on events.
    Long,
    /// It reaches an unsupported instruction.
    Unknown(String),
}

type Value = Vec<u64>;

impl Program {
    /// Parses a module.
    pub fn read(words: &[u32]) -> Self {
        let mut instructions = Vec::new();
        let mut at = 5;
        while at < words.len() {
            let length = (words[at] >> 16).max(1) as usize;
            let op = Op::from_u32(words[at] & 0xffff).unwrap_or(Op::Nop);
            instructions.push(Instruction { op, words: words[at + 1..at + length].to_vec() });
            at += length;
        }
        let (mut types, mut definitions, mut labels) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (mut entry, mut entry_id) = (0, 0);
        let (mut local_ids, mut specialized) = (BTreeSet::new(), BTreeMap::new());
        for (index, instruction) in instructions.iter().enumerate() {
            let words = &instruction.words;
            match instruction.op {
                Op::EntryPoint => entry_id = words[1],
                Op::Function if words[1] == entry_id => entry = index,
                Op::Label => {
                    labels.insert(words[0], index);
                }
                // BuiltIn LocalInvocationId
                Op::Decorate if words[1..] == [11, 27] => {
                    local_ids.insert(words[0]);
                }
                // SpecId
                Op::Decorate if words[1] == 1 => {
                    specialized.insert(words[0], words[2]);
                }
                _ => {}
            }
            let operands = INSTRUCTION_TABLE.iter().find(|row| row.opcode == instruction.op);
            match operands.map(|row| row.operands).unwrap_or_default() {
                [first, ..] if first.kind == OperandKind::IdResult => {
                    definitions.insert(words[0], index);
                }
                [first, ..] if first.kind == OperandKind::IdResultType => {
                    types.insert(words[1], words[0]);
                    definitions.insert(words[1], index);
                }
                _ => {}
            }
        }
        let mut program = Self { instructions, types, definitions, labels, entry, local_ids, specialized };
        program.number_local_arguments();
        program
    }

    /// Reads from NonSemantic.ClspvReflection which SpecId sizes which argument.
    fn number_local_arguments(&mut self) {
        const ARGUMENT_WORKGROUP: u32 = 11;
        let arguments: BTreeMap<u32, u32> = self
            .instructions
            .iter()
            .filter(|it| it.op == Op::ExtInst && it.words[3] == ARGUMENT_WORKGROUP)
            .map(|it| (self.constant(it.words[6])[0] as u32, self.constant(it.words[5])[0] as u32))
            .collect();
        self.specialized.retain(|_, number| arguments.contains_key(number));
        for number in self.specialized.values_mut() {
            *number = arguments[number];
        }
    }

    /// Every run of every work-item, for all values that the work-items can write.
    pub fn traces(&self, work_items: usize) -> Result<Vec<Vec<Trace>>, String> {
        let mut values: BTreeMap<Location, BTreeSet<u64>> = BTreeMap::new();
        for round in 0.. {
            let mut all = Vec::new();
            for work_item in 0..work_items {
                let mut found = Vec::new();
                self.explore(work_item as u64, &mut Vec::new(), &mut values, &mut found)?;
                all.push(found);
            }
            let mut is_new = false;
            for event in all.iter().flatten().flat_map(|trace| &trace.events) {
                if let (Some(location), Action::Write | Action::Modify) = (event.location, event.action) {
                    is_new |= values.entry(location).or_default().insert(event.written);
                }
            }
            // The number of writes bounds the useful values: without that limit, additions would produce new values
            // forever.
            let writes = |trace: &Trace| trace.events.iter().filter(|it| it.action != Action::Read).count();
            let most = |traces: &Vec<Trace>| traces.iter().map(writes).max().unwrap_or_default();
            if !is_new || round > all.iter().map(most).sum::<usize>() {
                return Ok(all);
            }
        }
        unreachable!("the rounds are not counted up to an end")
    }

    fn explore(
        &self,
        work_item: u64,
        choices: &mut Vec<u64>,
        values: &mut BTreeMap<Location, BTreeSet<u64>>,
        found: &mut Vec<Trace>,
    ) -> Result<(), String> {
        match self.run(work_item, choices) {
            Ok(trace) => found.push(trace),
            Err(Stop::Long) => {}
            Err(Stop::Unknown(what)) => return Err(what),
            Err(Stop::Asks(location)) => {
                let known = values.entry(location).or_insert_with(|| BTreeSet::from([0])).clone();
                for value in known {
                    choices.push(value);
                    self.explore(work_item, choices, values, found)?;
                    choices.pop();
                }
            }
        }
        Ok(())
    }

    fn run(&self, work_item: u64, choices: &[u64]) -> Result<Trace, Stop> {
        let mut run = Run {
            program: self,
            work_item,
            choices: choices.iter().copied(),
            values: BTreeMap::new(),
            private: BTreeMap::new(),
            events: Vec::new(),
        };
        run.to_the_end()?;
        let is_mark = |event: &&Event| event.location.is_some_and(|(_, offset)| offset == MARK * 4);
        let result = run.events.iter().find(is_mark).and_then(|event| event.location).map(|it| it.0);
        let is_result = |event: &Event| event.location.is_some_and(|(object, _)| Some(object) == result);
        let registers = run
            .events
            .iter()
            .filter(|event| is_result(event))
            .filter_map(|event| Some((event.location?.1 / 4, event.written)))
            .collect();
        let events = run.events.iter().filter(|event| !is_result(event)).cloned().collect();
        Ok(Trace { events, registers, result: result.unwrap_or_default() })
    }

    fn definition(&self, id: u32) -> &Instruction {
        &self.instructions[self.definitions[&id]]
    }

    /// The storage class and pointee of a pointer type.
    fn pointer(&self, ty: u32) -> (StorageClass, u32) {
        let words = &self.definition(ty).words;
        (StorageClass::from_u32(words[1]).unwrap_or(StorageClass::Generic), words[2])
    }

    /// The object of a module-scope variable.
    fn object(&self, variable: u32) -> u64 {
        let (_, ty) = self.pointer(self.types[&variable]);
        let definition = self.definition(ty);
        let size = (definition.op == Op::TypeArray).then(|| definition.words[2]);
        match size.and_then(|size| self.specialized.get(&size)) {
            Some(number) => LOCAL + u64::from(*number),
            None => VARIABLE + u64::from(variable),
        }
    }

    fn size(&self, ty: u32) -> u64 {
        let definition = self.definition(ty);
        let words = &definition.words;
        match definition.op {
            Op::TypeInt | Op::TypeFloat => u64::from(words[1]) / 8,
            Op::TypeVector => self.size(words[1]) * if words[2] == 3 { 4 } else { u64::from(words[2]) },
            Op::TypeArray => self.size(words[1]) * self.constant(words[2])[0],
            Op::TypeStruct => words[1..].iter().map(|member| self.size(*member)).sum(),
            _ => 8,
        }
    }

    /// The member types of a composite type; empty for a scalar.
    fn parts(&self, ty: u32) -> Vec<u32> {
        let definition = self.definition(ty);
        let words = &definition.words;
        match definition.op {
            Op::TypeStruct => words[1..].to_vec(),
            Op::TypeVector => vec![words[1]; words[2] as usize],
            Op::TypeArray => vec![words[1]; self.constant(words[2])[0] as usize],
            _ => Vec::new(),
        }
    }

    /// The number of scalars in a value of this type.
    fn scalars(&self, ty: u32) -> usize {
        let parts = self.parts(ty);
        if parts.is_empty() { 1 } else { parts.iter().map(|part| self.scalars(*part)).sum() }
    }

    /// The index of the first scalar of a part of a composite value.
    fn first_scalar(&self, ty: u32, indices: &[u32]) -> usize {
        let Some((&index, rest)) = indices.split_first() else { return 0 };
        let parts = self.parts(ty);
        let (before, part) = (&parts[..index as usize], parts[index as usize]);
        before.iter().map(|it| self.scalars(*it)).sum::<usize>() + self.first_scalar(part, rest)
    }

    /// The push constants at this offset: each pair of words is the address of a separate object.
    fn pushed(&self, ty: u32, offset: u64) -> Value {
        let parts = self.parts(ty);
        if !parts.is_empty() {
            let mut at = offset;
            let mut next = |part: &u32| {
                let value = self.pushed(*part, at);
                at += self.size(*part);
                value
            };
            return parts.iter().flat_map(&mut next).collect();
        }
        let word = offset / 4;
        let high = ARGUMENT + word / 2;
        vec![match (self.size(ty), word % 2) {
            (8, _) => high << 32,
            (_, 0) => 0,
            _ => high,
        }]
    }

    fn constant(&self, id: u32) -> Value {
        let definition = self.definition(id);
        let words = &definition.words;
        match definition.op {
            Op::Constant | Op::SpecConstant => {
                vec![words[2..].iter().rev().fold(0, |all, word| all << 32 | u64::from(*word))]
            }
            Op::ConstantTrue => vec![1],
            Op::ConstantComposite | Op::SpecConstantComposite => {
                words[2..].iter().flat_map(|part| self.constant(*part)).collect()
            }
            _ => vec![0; 4],
        }
    }
}

/// A run of a work-item.
struct Run<'p, I> {
    program: &'p Program,
    work_item: u64,
    choices: I,
    values: BTreeMap<u32, Value>,
    private: BTreeMap<u64, u64>,
    events: Vec<Event>,
}

impl<I: Iterator<Item = u64>> Run<'_, I> {
    fn to_the_end(&mut self) -> Result<(), Stop> {
        let program = self.program;
        let (mut at, mut from, mut label) = (program.entry + 1, 0, 0);
        let mut parameter = 0;
        loop {
            let Instruction { op, words } = &program.instructions[at];
            at += 1;
            let target = match op {
                Op::FunctionParameter => {
                    self.values.insert(words[1], vec![(ARGUMENT + parameter) << 32]);
                    parameter += 1;
                    continue;
                }
                Op::Label => {
                    (from, label) = (label, words[0]);
                    continue;
                }
                Op::Phi => {
                    let source = words[2..].chunks(2).find(|pair| pair[1] == from).map_or(0, |pair| pair[0]);
                    let value = self.value(source);
                    self.values.insert(words[1], value);
                    continue;
                }
                Op::LoopMerge | Op::SelectionMerge | Op::Line | Op::NoLine => continue,
                Op::Branch => words[0],
                Op::BranchConditional => words[if self.value(words[0])[0] != 0 { 1 } else { 2 }],
                Op::Switch => {
                    let selector = self.number(words[0]);
                    // Literals have the width of the selector.
                    let width = program.size(program.types[&words[0]]).div_ceil(4) as usize;
                    let is_chosen = |case: &&[u32]| {
                        case[..width].iter().rev().fold(0, |all, word| all << 32 | u64::from(*word))
                            == selector
                    };
                    let case = words[2..].chunks(width + 1).find(is_chosen);
                    case.map_or(words[1], |case| case[width])
                }
                Op::Return => return Ok(()),
                _ => {
                    self.step(*op, words)?;
                    if self.events.len() > LONGEST + 6 {
                        return Err(Stop::Long);
                    }
                    continue;
                }
            };
            at = program.labels[&target];
        }
    }

    fn value(&self, id: u32) -> Value {
        match self.values.get(&id) {
            Some(value) => value.clone(),
            None if self.program.definition(id).op == Op::Variable => vec![self.program.object(id) << 32],
            None => self.program.constant(id),
        }
    }

    fn number(&self, id: u32) -> u64 {
        self.value(id).first().copied().unwrap_or_default()
    }

    fn step(&mut self, op: Op, words: &[u32]) -> Result<(), Stop> {
        let operand = |index: usize| words.get(index).copied().unwrap_or_default();
        let (a, b) = (|run: &Self| run.number(operand(2)), |run: &Self| run.number(operand(3)));
        let value = match op {
            Op::Variable => return Ok(()),
            Op::Load => self.load(words)?,
            Op::Store => return self.store(words),
            Op::AccessChain | Op::InBoundsAccessChain => vec![self.chain(operand(2), &words[3..])],
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let (_, element) = self.program.pointer(self.type_of(operand(2)));
                let moved = b(self).wrapping_mul(self.program.size(element));
                vec![a(self).wrapping_add(moved)]
            }
            Op::Bitcast if self.value(operand(2)).len() == 2 => {
                let parts = self.value(operand(2));
                vec![parts[0] | parts[1] << 32]
            }
            Op::Bitcast | Op::ConvertUToPtr | Op::ConvertPtrToU | Op::UConvert | Op::CopyObject => {
                vec![a(self)]
            }
            Op::SConvert => vec![a(self) as u32 as i32 as i64 as u64],
            Op::IAdd => vec![self.narrow(operand(0), a(self).wrapping_add(b(self)))],
            Op::ISub => vec![self.narrow(operand(0), a(self).wrapping_sub(b(self)))],
            Op::IMul => vec![self.narrow(operand(0), a(self).wrapping_mul(b(self)))],
            Op::IEqual => vec![u64::from(a(self) == b(self))],
            Op::INotEqual => vec![u64::from(a(self) != b(self))],
            Op::LogicalNot => vec![u64::from(a(self) == 0)],
            Op::Select => self.value(operand(if a(self) != 0 { 3 } else { 4 })),
            Op::CompositeConstruct => words[2..].iter().flat_map(|part| self.value(*part)).collect(),
            Op::CompositeExtract => {
                let first = self.program.first_scalar(self.type_of(operand(2)), &words[3..]);
                let count = self.program.scalars(operand(0));
                self.value(operand(2))[first..first + count].to_vec()
            }
            Op::MemoryBarrier => {
                let [scope, semantics] = [self.number(words[0]) as u32, self.number(words[1]) as u32];
                self.events.push(Event {
                    action: Action::Fence,
                    location: None,
                    space: Space::Global,
                    read: 0,
                    written: 0,
                    is_atomic: false,
                    scope,
                    semantics,
                    is_shared: true,
                });
                return Ok(());
            }
            Op::AtomicStore | Op::AtomicFlagClear => {
                let written = if op == Op::AtomicStore { self.number(words[3]) } else { 0 };
                return self.atomic(Action::Write, words[0], words[1], words[2], written).map(|_| ());
            }
            Op::AtomicLoad => vec![self.atomic(Action::Read, words[2], words[3], words[4], 0)?],
            Op::AtomicCompareExchange => {
                let pointer = self.number(words[2]);
                let old = self.choose(pointer)?;
                let is_equal = old == self.number(words[7]);
                let (action, semantics) =
                    if is_equal { (Action::Modify, words[4]) } else { (Action::Read, words[5]) };
                let written = self.number(words[6]);
                self.push_atomic(action, words[2], words[3], semantics, (old, written));
                vec![old]
            }
            Op::AtomicExchange
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicOr
            | Op::AtomicAnd
            | Op::AtomicFlagTestAndSet => {
                let old = self.choose(self.number(words[2]))?;
                let by = words.get(5).map_or(1, |operand| self.number(*operand));
                let new = match op {
                    Op::AtomicExchange | Op::AtomicFlagTestAndSet => by,
                    Op::AtomicISub | Op::AtomicIDecrement => old.wrapping_sub(by),
                    Op::AtomicOr => old | by,
                    Op::AtomicAnd => old & by,
                    _ => old.wrapping_add(by),
                };
                self.push_atomic(Action::Modify, words[2], words[3], words[4], (old, new & 0xffff_ffff));
                vec![if op == Op::AtomicFlagTestAndSet { u64::from(old != 0) } else { old }]
            }
            other => return Err(Stop::Unknown(format!("Op{other:?} is not known to the explorer"))),
        };
        self.values.insert(words[1], value);
        Ok(())
    }

    fn type_of(&self, id: u32) -> u32 {
        self.program.types[&id]
    }

    fn narrow(&self, ty: u32, value: u64) -> u64 {
        if self.program.size(ty) < 8 { value & 0xffff_ffff } else { value }
    }

    /// The address computed from a base and indices.
    fn chain(&self, base: u32, indices: &[u32]) -> u64 {
        let mut address = self.number(base);
        let (_, mut ty) = self.program.pointer(self.type_of(base));
        for &index in indices {
            let definition = self.program.definition(ty);
            let index = self.number(index);
            if definition.op == Op::TypeStruct {
                let members = &definition.words[1..];
                address += members[..index as usize].iter().map(|it| self.program.size(*it)).sum::<u64>();
                ty = members[index as usize];
            } else {
                ty = definition.words[1];
                address = address.wrapping_add(index.wrapping_mul(self.program.size(ty)));
            }
        }
        address
    }

    fn load(&mut self, words: &[u32]) -> Result<Value, Stop> {
        let address = self.number(words[2]);
        let (object, offset) = (address >> 32, address & 0xffff_ffff);
        let (class, ty) = self.program.pointer(self.type_of(words[2]));
        Ok(match class {
            StorageClass::PushConstant => self.program.pushed(ty, offset),
            StorageClass::Input => {
                let is_local_id = self.program.local_ids.contains(&((object - VARIABLE) as u32));
                let id = if is_local_id && offset == 0 { self.work_item } else { 0 };
                vec![id, 0, 0]
            }
            StorageClass::Function | StorageClass::Private => {
                vec![self.private.get(&address).copied().unwrap_or_default()]
            }
            _ => {
                let read = self.choose(address)?;
                let event = self.plain(Action::Read, words[2], words.get(3), (read, 0));
                self.events.push(event);
                vec![read]
            }
        })
    }

    fn store(&mut self, words: &[u32]) -> Result<(), Stop> {
        let (address, value) = (self.number(words[0]), self.number(words[1]));
        let (class, _) = self.program.pointer(self.type_of(words[0]));
        if matches!(class, StorageClass::Function | StorageClass::Private) {
            self.private.insert(address, value);
        } else {
            let event = self.plain(Action::Write, words[0], words.get(2), (0, value));
            self.events.push(event);
        }
        Ok(())
    }

    fn plain(&self, action: Action, pointer: u32, access: Option<&u32>, values: (u64, u64)) -> Event {
        let access = MemoryAccess::from_bits_truncate(access.copied().unwrap_or_default());
        Event {
            is_atomic: false,
            is_shared: access.contains(MemoryAccess::NON_PRIVATE_POINTER),
            ..self.event(action, pointer, values)
        }
    }

    fn event(&self, action: Action, pointer: u32, (read, written): (u64, u64)) -> Event {
        let address = self.number(pointer);
        let (class, _) = self.program.pointer(self.type_of(pointer));
        Event {
            action,
            location: Some((address >> 32, address & 0xffff_ffff)),
            space: if class == StorageClass::Workgroup { Space::Local } else { Space::Global },
            read,
            written,
            is_atomic: true,
            scope: 0,
            semantics: 0,
            is_shared: true,
        }
    }

    fn atomic(
        &mut self,
        action: Action,
        pointer: u32,
        scope: u32,
        semantics: u32,
        written: u64,
    ) -> Result<u64, Stop> {
        let read = if action == Action::Read { self.choose(self.number(pointer))? } else { 0 };
        self.push_atomic(action, pointer, scope, semantics, (read, written));
        Ok(read)
    }

    fn push_atomic(&mut self, action: Action, pointer: u32, scope: u32, semantics: u32, values: (u64, u64)) {
        let [scope, semantics] = [self.number(scope) as u32, self.number(semantics) as u32];
        let event = Event { scope, semantics, ..self.event(action, pointer, values) };
        self.events.push(event);
    }

    fn choose(&mut self, address: u64) -> Result<u64, Stop> {
        self.choices.next().ok_or(Stop::Asks((address >> 32, address & 0xffff_ffff)))
    }
}
