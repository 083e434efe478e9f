//! Binds a launch to a module: arguments, push constants and specialization constants.
//!
//! An address is the number of an object in its upper half, and a byte offset in the lower half.

use std::collections::{BTreeMap, BTreeSet};

use spirv::{Op, StorageClass};

use super::{Argument, Instruction, Launch, Module, Unsupported, layout::Value};
use crate::event::Object;

/// The kinds of objects, in the upper four bits of an address.
const ARGUMENT: u64 = 1;
const PROGRAM: u64 = 2;
const LOCAL_ARGUMENT: u64 = 3;
const LOCAL_VARIABLE: u64 = 4;
const OWN: u64 = 5;

/// A launch, bound to a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Bound {
    pub(super) launch: Launch,
    pub(super) function: u32,
    pub(super) specialized: BTreeMap<u32, u64>,
    pub(super) push_constants: Vec<u8>,
    /// The labels of loop headers: blocks with a branch from a later instruction.
    pub(super) headers: BTreeSet<u32>,
    /// The values of the constants by id.
    pub(super) constants: Vec<Option<Value>>,
    /// The initial bytes of the program-scope variables.
    pub(super) program: BTreeMap<u32, u8>,
    /// The initial bytes of private and constant variables.
    own: BTreeMap<u64, u8>,
    /// The local arguments by the SpecId that sizes them.
    locals: BTreeMap<u32, u32>,
    /// The initial bytes of variables and parameters by id, if the launch sets them instead of arguments.
    objects: BTreeMap<u32, Vec<u8>>,
}

/// The address of an object.
pub(super) fn address(object: Object) -> u64 {
    let (kind, rest) = match object {
        Object::Argument(number) => (ARGUMENT, number),
        Object::Program => (PROGRAM, 0),
        Object::LocalArgument(number, group) => (LOCAL_ARGUMENT, group << 8 | number),
        Object::LocalVariable(id, group) => (LOCAL_VARIABLE, group << 20 | id),
        // Unshared memory has no address.
        Object::Unshared(..) => (0, 0),
    };
    kind << 60 | u64::from(rest) << 32
}

/// The address of a private or constant variable.
pub(super) fn own_address(id: u32) -> u64 {
    OWN << 60 | u64::from(id) << 32
}

/// The private, constant or built-in variable that contains an address.
pub(super) fn own_variable(address: u64) -> Option<u32> {
    (address >> 60 == OWN).then_some((address >> 32) as u32 & 0x0fff_ffff)
}

/// The object and the offset of an address; `None` for memory of a work-item alone, and for null pointers.
pub(super) fn object(address: u64) -> Option<(Object, u32)> {
    let rest = (address >> 32) as u32 & 0x0fff_ffff;
    let object = match address >> 60 {
        ARGUMENT => Object::Argument(rest),
        PROGRAM => Object::Program,
        LOCAL_ARGUMENT => Object::LocalArgument(rest & 0xff, rest >> 8),
        LOCAL_VARIABLE => Object::LocalVariable(rest & 0xf_ffff, rest >> 20),
        _ => return None,
    };
    Some((object, address as u32))
}

/// Numbers of `NonSemantic.ClspvReflection`.
mod number {
    pub(super) const KERNEL: u32 = 1;
    pub(super) const POD_PUSH_CONSTANT: u32 = 7;
    pub(super) const WORKGROUP: u32 = 11;
    pub(super) const WORKGROUP_SIZE: u32 = 12;
    pub(super) const WORK_DIM: u32 = 14;
    pub(super) const GLOBAL_OFFSET: u32 = 15;
    pub(super) const ENQUEUED_LOCAL_SIZE: u32 = 16;
    pub(super) const GLOBAL_SIZE: u32 = 17;
    pub(super) const REGION_OFFSET: u32 = 18;
    pub(super) const NUM_WORKGROUPS: u32 = 19;
    pub(super) const REGION_GROUP_OFFSET: u32 = 20;
    pub(super) const POINTER_PUSH_CONSTANT: u32 = 26;
    pub(super) const VARIABLE_RELOCATION: u32 = 29;
    pub(super) const VARIABLES_POINTER: u32 = 37;
}

impl Module {
    /// Binds a launch to the module.
    pub(super) fn bind(&self, launch: &Launch) -> Result<Bound, Unsupported> {
        let function = self.entry(&launch.kernel)?;
        let headers = self.headers();
        let mut bound = Bound { launch: launch.clone(), function, headers, ..Bound::default() };
        bound.launch.max_iterations = launch.max_iterations.max(1);
        let [x, y, z] = launch.local;
        if launch.local.contains(&0) || (0..3).any(|it| !launch.global[it].is_multiple_of(launch.local[it])) {
            let what = format!("the global size is not a multiple of the work-group size {x}, {y}, {z}");
            return Err(Unsupported::Other(what));
        }
        if launch.arguments.len() > 0xff {
            return Err(Unsupported::Other("there are too many arguments".to_owned()));
        }
        if launch.objects.is_some() {
            self.initialize_objects(&mut bound)?;
        } else if !self.is_vulkan {
            self.initialize(&mut bound)?;
        }
        if self.is_vulkan {
            self.reflect(&mut bound)?;
        }
        self.initialize_own(&mut bound)?;
        bound.constants = self.constants(&bound);
        Ok(bound)
    }

    /// The headers of loops.
    fn headers(&self) -> BTreeSet<u32> {
        let mut headers = BTreeSet::new();
        for (at, it) in self.instructions.iter().enumerate() {
            let targets = match it.op {
                Op::Branch => it.words.get(..1),
                Op::BranchConditional => it.words.get(1..3),
                Op::Switch => it.words.get(1..),
                _ => None,
            };
            // The numbers of a switch can look like labels, which does no harm.
            let is_earlier = |label: &&u32| self.position(**label).is_some_and(|it| it < at);
            headers.extend(targets.unwrap_or_default().iter().filter(is_earlier));
        }
        headers
    }

    /// Reads the interface of a Vulkan module.
    fn reflect(&self, bound: &mut Bound) -> Result<(), Unsupported> {
        let import = self.instructions.iter().position(|it| {
            it.op == Op::ExtInstImport && it.text(1).starts_with("NonSemantic.ClspvReflection")
        });
        let has_objects = bound.launch.objects.is_some();
        let Some(import) = import.map(|at| self.instructions[at].word(0)) else {
            if has_objects {
                return Ok(());
            }
            return Err(Unsupported::Other("the module does not describe its arguments".to_owned()));
        };
        let mut kernel = 0;
        let mut texts = 0;
        for it in self.instructions.iter().filter(|it| it.op == Op::ExtInst && it.word(2) == import) {
            let operands = self.numbers(it, bound);
            match it.word(3) {
                number::KERNEL if it.word(4) == bound.function => kernel = it.word(1),
                number::POD_PUSH_CONSTANT | number::POINTER_PUSH_CONSTANT | number::WORKGROUP
                    if has_objects => {}
                number::POD_PUSH_CONSTANT | number::POINTER_PUSH_CONSTANT if it.word(4) == kernel => {
                    let [ordinal, offset, size] = [1, 2, 3].map(&operands);
                    let bytes = argument(bound, ordinal, size)?;
                    bound.push(offset, &bytes);
                }
                number::WORKGROUP if it.word(4) == kernel => {
                    let [ordinal, spec, size] = [1, 2, 3].map(&operands);
                    let Some(Argument::Local(bytes)) = bound.launch.arguments.get(ordinal as usize) else {
                        return Err(Unsupported::Other(format!("argument {ordinal} is not local memory")));
                    };
                    bound.specialized.insert(spec, u64::from(bytes.div_ceil(size.max(1)).max(1)));
                    bound.locals.insert(spec, ordinal);
                }
                number::VARIABLES_POINTER => {
                    bound.push(operands(0), &address(Object::Program).to_le_bytes());
                    texts += self.variables(it.word(6), texts, bound)?;
                }
                number::VARIABLE_RELOCATION => {
                    let value = address(Object::Program) + u64::from(operands(0));
                    bound.set(operands(1), &value.to_le_bytes());
                }
                other => set_launch_state(other, operands, bound),
            }
        }
        Ok(())
    }

    /// The numbers among the operands of a reflection instruction, by index; others are 0 here.
    fn numbers(&self, instruction: &Instruction, bound: &Bound) -> impl Fn(usize) -> u32 + use<> {
        let number = |id: &u32| {
            let is_number = self.definition(*id).is_ok_and(|it| it.op == Op::Constant);
            let value = if is_number { self.constant(*id, bound).ok() } else { None };
            value.and_then(|value| value.first().copied()).unwrap_or_default() as u32
        };
        let numbers: Vec<u32> = instruction.words.iter().skip(4).map(number).collect();
        move |index| numbers.get(index).copied().unwrap_or_default()
    }

    /// The next piece of the initial bytes of the program-scope variables, in hexadecimal. Returns its length.
    fn variables(&self, text: u32, from: u32, bound: &mut Bound) -> Result<u32, Unsupported> {
        let text = self.definition(text)?.text(1);
        let mut count = 0;
        for pair in text.as_bytes().chunks_exact(2) {
            let byte = std::str::from_utf8(pair).ok().and_then(|it| u8::from_str_radix(it, 16).ok());
            bound.set(from + count, &[byte.unwrap_or_default()]);
            count += 1;
        }
        Ok(count)
    }

    /// Initializes the program-scope variables of an OpenCL module.
    fn initialize(&self, bound: &mut Bound) -> Result<(), Unsupported> {
        for it in self.instructions.iter().filter(|it| it.op == Op::Variable && it.words.len() > 3) {
            if it.word(2) != StorageClass::CrossWorkgroup as u32 {
                continue;
            }
            let (_, ty) = self.pointer(it.word(0))?;
            let value = self.constant(it.word(3), bound)?;
            let base = self.program_offset(it.word(1));
            for ((offset, size), scalar) in self.leaves(ty, bound)?.into_iter().zip(value) {
                bound.set(base + offset as u32, &scalar.to_le_bytes()[..size as usize]);
            }
        }
        Ok(())
    }

    /// Initializes the variables that are objects themselves.
    fn initialize_objects(&self, bound: &mut Bound) -> Result<(), Unsupported> {
        bound.objects = bound.launch.objects.clone().unwrap_or_default();
        for it in self.instructions.iter().filter(|it| it.op == Op::Variable) {
            let (id, class) = (it.word(1), it.word(2));
            if class == StorageClass::PushConstant as u32 {
                let bytes = bound.objects.get(&id).cloned().unwrap_or_default();
                bound.push(0, &bytes);
            } else if it.words.len() > 3 && is_shared(class) {
                let (_, ty) = self.pointer(it.word(0))?;
                let value = self.constant(it.word(3), bound)?;
                let mut bytes = Vec::new();
                for ((offset, size), scalar) in self.leaves(ty, bound)?.into_iter().zip(value) {
                    bytes.resize(offset as usize, 0);
                    bytes.extend(&scalar.to_le_bytes()[..size as usize]);
                }
                bound.objects.insert(id, bytes);
            }
        }
        Ok(())
    }

    /// Initializes the module's private and constant variables.
    fn initialize_own(&self, bound: &mut Bound) -> Result<(), Unsupported> {
        let is_own = |class: u32| {
            [StorageClass::Private, StorageClass::UniformConstant, StorageClass::Input]
                .into_iter()
                .any(|it| it as u32 == class)
        };
        for it in self.instructions.iter().filter(|it| it.op == Op::Variable && it.words.len() > 3) {
            if is_own(it.word(2)) {
                let (_, ty) = self.pointer(it.word(0))?;
                let value = self.constant(it.word(3), bound)?;
                for ((offset, size), scalar) in self.leaves(ty, bound)?.into_iter().zip(value) {
                    let from = own_address(it.word(1)) + offset;
                    bound.own.extend((from..).zip(scalar.to_le_bytes()).take(size as usize));
                }
            }
        }
        Ok(())
    }

    /// The offset of a program-scope variable of an OpenCL module: each has 64 KiB.
    fn program_offset(&self, id: u32) -> u32 {
        let is_earlier = |it: &&super::Instruction| {
            it.op == Op::Variable && it.word(2) == StorageClass::CrossWorkgroup as u32 && it.word(1) < id
        };
        (self.instructions.iter().filter(is_earlier).count() as u32) << 16
    }

    /// The index of a local variable among those that are not arguments.
    pub(super) fn local_rank(&self, id: u32, bound: &Bound) -> u32 {
        let is_earlier = |it: &&super::Instruction| {
            it.op == Op::Variable && it.word(2) == StorageClass::Workgroup as u32 && it.word(1) < id
        };
        let is_variable = |it: &super::Instruction| {
            self.variable(it.word(1), 0, bound).is_ok_and(|at| at >> 60 == LOCAL_VARIABLE)
        };
        self.instructions.iter().filter(is_earlier).filter(|it| is_variable(it)).count() as u32
    }

    /// The address of a variable.
    pub(super) fn variable(&self, id: u32, group: u32, bound: &Bound) -> Result<u64, Unsupported> {
        let it = self.definition(id)?;
        let is = |class: StorageClass| it.word(2) == class as u32;
        if bound.launch.objects.is_some() && is_shared(it.word(2)) {
            return Ok(address(Object::Argument(id)));
        }
        if is(StorageClass::CrossWorkgroup) {
            return Ok(address(Object::Program) + u64::from(self.program_offset(id)));
        }
        if !is(StorageClass::Workgroup) {
            return Ok(own_address(id));
        }
        let (_, ty) = self.pointer(it.word(0))?;
        // An array whose length is an argument's SpecId is that argument.
        let length = self.definition(ty).ok().filter(|it| it.op == Op::TypeArray).map(|it| it.word(2));
        let number = length.and_then(|length| bound.locals.get(self.spec_ids.get(&length)?));
        Ok(address(match number {
            Some(number) if bound.launch.shared_local.is_some() => Object::LocalArgument(*number, 0),
            Some(number) => Object::LocalArgument(*number, group),
            None => Object::LocalVariable(id, group),
        }))
    }
}

/// Whether the variables of a storage class are global memory.
fn is_shared(class: u32) -> bool {
    [
        StorageClass::Uniform,
        StorageClass::StorageBuffer,
        StorageClass::Output,
        StorageClass::CrossWorkgroup,
        StorageClass::AtomicCounter,
    ]
    .into_iter()
    .any(|it| it as u32 == class)
}

/// The bytes that are passed for an argument.
fn argument(bound: &Bound, ordinal: u32, size: u32) -> Result<Vec<u8>, Unsupported> {
    match bound.launch.arguments.get(ordinal as usize) {
        Some(Argument::Buffer(_)) => Ok(address(Object::Argument(ordinal)).to_le_bytes().to_vec()),
        Some(Argument::Value(bytes)) => {
            let mut bytes = bytes.clone();
            bytes.resize(size as usize, 0);
            Ok(bytes)
        }
        _ => Err(Unsupported::Other(format!("argument {ordinal} is missing or of another kind"))),
    }
}

fn words(values: [u32; 3]) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Sets the value that a reflection instruction with this number describes, if it is one of the launch.
fn set_launch_state(instruction: u32, operands: impl Fn(usize) -> u32, bound: &mut Bound) {
    let [global, local] = [bound.launch.global, bound.launch.local];
    match instruction {
        number::WORKGROUP_SIZE => {
            for (dimension, size) in local.into_iter().enumerate() {
                bound.specialized.insert(operands(dimension), u64::from(size));
            }
        }
        number::WORK_DIM => {
            let dimensions = bound.launch.dimensions();
            bound.specialized.insert(operands(0), u64::from(dimensions));
        }
        number::GLOBAL_OFFSET | number::REGION_OFFSET | number::REGION_GROUP_OFFSET => {
            bound.push(operands(0), &words([0; 3]));
        }
        number::ENQUEUED_LOCAL_SIZE => bound.push(operands(0), &words(local)),
        number::GLOBAL_SIZE => bound.push(operands(0), &words(global)),
        number::NUM_WORKGROUPS => {
            let groups = [0, 1, 2].map(|it| global[it] / local[it]);
            bound.push(operands(0), &words(groups));
        }
        _ => {}
    }
}

impl Bound {
    fn push(&mut self, offset: u32, bytes: &[u8]) {
        let (from, end) = (offset as usize, offset as usize + bytes.len());
        if end <= 1 << 16 {
            self.push_constants.resize(self.push_constants.len().max(end), 0);
            self.push_constants[from..end].copy_from_slice(bytes);
        }
    }

    /// The bytes of a parameter that is a value.
    pub(super) fn bytes(&self, id: u32) -> &[u8] {
        self.objects.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    fn set(&mut self, offset: u32, bytes: &[u8]) {
        self.program.extend((offset..).zip(bytes.iter().copied()));
    }

    /// The initial value of a byte.
    pub(super) fn initial(&self, address: u64) -> u8 {
        let of = |id: u32, offset: u32| {
            self.objects.get(&id).and_then(|bytes| bytes.get(offset as usize)).copied().unwrap_or_default()
        };
        match object(address) {
            Some((Object::Argument(id) | Object::LocalVariable(id, _), offset))
                if self.launch.objects.is_some() =>
            {
                of(id, offset)
            }
            Some((Object::Argument(number), offset)) => match self.launch.arguments.get(number as usize) {
                Some(Argument::Buffer(bytes)) => bytes.get(offset as usize).copied().unwrap_or_default(),
                _ => 0,
            },
            Some((Object::Program, offset)) => self.program.get(&offset).copied().unwrap_or_default(),
            _ => self.own.get(&address).copied().unwrap_or_default(),
        }
    }
}
