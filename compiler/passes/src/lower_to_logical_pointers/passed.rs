//! Private objects as call arguments: the objects that each parameter can be, and the position in them that it points to.
//!
//! A parameter has one type, so all objects that it can be have the same layout and length. The parameter is the whole
//! object; the position is an index in an additional parameter, unless it is the same for all calls.

use kiln_ir::{FuncId, Function, InstId, Module, Op, Type, ValueDef, ValueId, Var, VarId};
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use super::{
    defects::Defects,
    pointers::{Form, Forms},
};
use crate::origins::{Object, base};

/// Objects that have one layout in several functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shared {
    /// A local object of the module.
    Module(VarId),
    /// A class of private objects that share parameters.
    Passed(usize),
}

/// The private and local objects that are call arguments.
#[derive(Default)]
pub(super) struct PassedObjects {
    /// The parameters of each function that point to private objects, by number.
    params: Vec<Vec<u32>>,
    /// The parameters that point into local objects, with their objects. Each becomes an index.
    locals: Vec<Vec<(u32, VarId)>>,
    numbers: FxHashMap<(FuncId, Object), usize>,
    /// Union-find over objects with the same layout: the parent of each, or itself for the representative.
    parents: Vec<usize>,
    /// The maximum size of each class.
    sizes: Vec<u64>,
    /// The byte offset of each parameter in its object, if it is the same for all calls.
    starts: FxHashMap<(FuncId, u32), Option<i64>>,
    /// Dummy variables for arguments that are null or undefined.
    dummy_objects: FxHashMap<(FuncId, InstId, u32), Object>,
}

impl PassedObjects {
    /// Finds the objects that calls pass, and creates the dummy variables.
    pub(super) fn find(module: &mut Module, forms: &[Forms], defects: Defects) -> Self {
        let params = module.functions.iter().map(private_params).collect();
        let locals = module.functions.iter().map(|function| function.objects.clone()).collect();
        let mut passed = Self { params, locals, ..Self::default() };
        let start = |start: Option<i64>| if defects.assumes_starts() { Some(0) } else { start };
        if passed.params.iter().all(Vec::is_empty) {
            return passed;
        }
        // Callers first, so that the offsets of a caller's own parameters are known.
        for id in module.callees_first().into_iter().rev() {
            for call in module.functions[id].inst_order() {
                let function = &mut module.functions[id];
                let Op::Call(callee) = function.insts[call].op else { continue };
                for number in passed.params[callee.index()].clone() {
                    let arg = function.insts[call].args[number as usize];
                    let object = match forms[id.index()].form(arg) {
                        Some(Form::Index(object)) => {
                            passed.record_start(callee, number, start(passed.start_of(id, function, arg)));
                            object
                        }
                        _ => {
                            debug_assert!(function.constant(arg).is_some(), "an argument of several objects");
                            let var = Var::new("", AddressSpace::Private, (0, 1), function.insts[call].span);
                            let object = Object::Private(function.vars.push(var));
                            passed.dummy_objects.insert((id, call, number), object);
                            object
                        }
                    };
                    passed.merge_sets((id, object), (callee, Object::Param(AddressSpace::Private, number)));
                }
            }
        }
        passed.find_sizes(module, defects);
        passed
    }

    /// The class of an object that has one layout in several functions.
    pub(super) fn shared(&self, id: FuncId, object: Object) -> Option<Shared> {
        match object {
            Object::Module(var) => Some(Shared::Module(var)),
            _ => self.numbers.get(&(id, object)).map(|&number| Shared::Passed(self.root_of(number))),
        }
    }

    /// The common size of the objects of a class.
    pub(super) fn size(&self, class: Shared) -> Option<u64> {
        match class {
            Shared::Module(_) => None,
            Shared::Passed(root) => Some(self.sizes[root]),
        }
    }

    /// The parameters of a function that are private objects, by number.
    pub(super) fn params(&self, id: FuncId) -> &[u32] {
        self.params.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// The parameters of a function that point into local objects.
    pub(super) fn locals(&self, id: FuncId) -> &[(u32, VarId)] {
        self.locals.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// The byte offset of a parameter in its object, if known.
    pub(super) fn start(&self, id: FuncId, number: u32) -> Option<i64> {
        self.starts.get(&(id, number)).copied().unwrap_or(Some(0))
    }

    /// The dummy variable for a null or undefined argument.
    pub(super) fn dummy_object(&self, id: FuncId, call: InstId, number: u32) -> Option<Object> {
        self.dummy_objects.get(&(id, call, number)).copied()
    }

    /// All dummy variables of a function.
    pub(super) fn dummy_objects(&self, id: FuncId) -> impl Iterator<Item = Object> {
        self.dummy_objects
            .iter()
            .filter(move |((function, ..), _)| *function == id)
            .map(|(_, &object)| object)
    }

    fn record_start(&mut self, callee: FuncId, number: u32, start: Option<i64>) {
        let known = self.starts.entry((callee, number)).or_insert(start);
        if *known != start {
            *known = None;
        }
    }

    /// The byte offset of a pointer in its object.
    fn start_of(&self, id: FuncId, function: &Function, pointer: ValueId) -> Option<i64> {
        let (base, bytes) = base(function, pointer)?;
        match function.values[base].def {
            ValueDef::Param(block, number) if block == function.body => {
                self.start(id, number)?.checked_add(bytes)
            }
            ValueDef::Result(inst, _) if matches!(function.insts[inst].op, Op::PrivateVar(_)) => Some(bytes),
            _ => None,
        }
    }

    fn set_of(&mut self, member: (FuncId, Object)) -> usize {
        let new = self.parents.len();
        let number = *self.numbers.entry(member).or_insert(new);
        if number == new {
            self.parents.push(new);
        }
        self.root_of(number)
    }

    fn root_of(&self, mut number: usize) -> usize {
        while self.parents[number] != number {
            number = self.parents[number];
        }
        number
    }

    fn merge_sets(&mut self, one: (FuncId, Object), other: (FuncId, Object)) {
        let (one, other) = (self.set_of(one), self.set_of(other));
        self.parents[one.max(other)] = one.min(other);
    }

    fn find_sizes(&mut self, module: &Module, defects: Defects) {
        let mut sizes: Vec<Option<u64>> = vec![None; self.parents.len()];
        for (&(id, object), &number) in &self.numbers {
            if let Object::Private(var) = object {
                let root = self.root_of(number);
                let size = module.functions[id].vars[var].size;
                sizes[root] = Some(sizes[root].map_or(size, |known| defects.common_size(known, size)));
            }
        }
        self.sizes = sizes.into_iter().map(Option::unwrap_or_default).collect();
    }
}

/// The parameters that point to private objects, by number.
fn private_params(function: &Function) -> Vec<u32> {
    let is_private = |&value: &ValueId| function.ty(value) == Type::Pointer(AddressSpace::Private);
    (0..).zip(function.params()).filter(|(_, param)| is_private(param)).map(|(number, _)| number).collect()
}
