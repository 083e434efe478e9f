//! The variables of a program and their types, for a debugger.
//!
//! Extracts this data from the HIR. Must not depend on the form of the module.

use std::sync::Arc;

use kiln_session::source::SourceMap;
use kiln_syntax::{Interner, Span, Symbol};
use kiln_types::ty::{EnumId, RecordId, Scalar, Ty, TyId};
use kiln_vocabulary::{
    debug::{Function, Kind, Member, Number, Storage, Type, Variable, Variables},
    opencl::AddressSpace,
};
use rustc_hash::FxHashMap;

use crate::hir::{self, LocalId, Module, Stmt, StmtKind};

/// Extracts the variables of a program without errors.
pub fn variables(module: &Module, sources: &SourceMap, interner: &Interner) -> Variables {
    let mut reader =
        Reader { module, sources, interner, known: FxHashMap::default(), found: Variables::default() };
    for global in module.globals.iter() {
        let Some(name) = global.name else { continue };
        let ty = reader.ty(global.ty.ty);
        let line = reader.presumed_line(global.span).map_or(0, |(_, line)| line);
        let name = reader.text(name);
        reader.found.globals.push(Variable { name, ty, storage: Storage::Global, lines: (line, u32::MAX) });
    }
    for function in module.functions.iter() {
        reader.function(function);
    }
    for (_, list) in module.types.enums.entries() {
        let values = list.enumerators.iter().map(|&(name, value)| (reader.text(name), value));
        reader.found.enumerators.extend(values.collect::<Vec<_>>());
    }
    reader.found
}

struct Reader<'a> {
    module: &'a Module,
    sources: &'a SourceMap,
    interner: &'a Interner,
    known: FxHashMap<TyId, usize>,
    found: Variables,
}

impl Reader<'_> {
    fn text(&self, name: Symbol) -> String {
        self.interner.text(name).to_owned()
    }

    /// The presumed file and line of a position.
    fn presumed_line(&self, span: Span) -> Option<(Arc<str>, u32)> {
        let storage = self.sources.resolve(span)?;
        let (file, line) = self.sources.presumed(storage.file, storage.range.start);
        Some((file.clone(), line))
    }

    fn last_line(&self, span: Span) -> u32 {
        let storage = self.sources.resolve(span);
        storage.map_or(u32::MAX, |storage| self.sources.presumed(storage.file, storage.range.end).1)
    }

    fn function(&mut self, function: &hir::Function) {
        let (Some(body), Some((file, line))) = (&function.body, self.presumed_line(function.span)) else {
            return;
        };
        let mut scopes = FxHashMap::default();
        self.scopes(body, u32::MAX, &mut scopes);
        let first = body.iter().find_map(|stmt| self.presumed_line(stmt.span)).map_or(line, |(_, line)| line);
        // An aggregate result is stored through an additional first parameter.
        let mut parameter = u32::from(self.is_aggregate(function.result));
        let mut found = Vec::new();
        for (id, local) in function.locals.entries() {
            let storage = match () {
                () if function.parameters.contains(&id) => {
                    parameter += 1;
                    match self.module.types.get(local.ty.ty) {
                        Ty::Image(_) | Ty::Sampler | Ty::Pipe(..) => Storage::Parameter(parameter - 1),
                        _ if self.is_aggregate(local.ty.ty) => Storage::Pointee(parameter - 1),
                        _ => Storage::Private,
                    }
                }
                () if local.ty.quals.space == Some(AddressSpace::Local) => Storage::Local,
                () => Storage::Private,
            };
            let Some(name) = local.name else { continue };
            let declared = self.presumed_line(local.span).map_or(0, |(_, line)| line);
            let is_parameter = function.parameters.contains(&id);
            let begin = if is_parameter { 0 } else { declared };
            let lines = (begin, scopes.get(&id).copied().unwrap_or(u32::MAX));
            let (name, ty) = (self.text(name), self.ty(local.ty.ty));
            found.push(Variable { name, ty, storage, lines });
        }
        let (name, file) = (self.text(function.name), file.to_string());
        self.found.functions.push(Function { name, file, line, first_line: first, variables: found });
    }

    fn is_aggregate(&self, id: TyId) -> bool {
        matches!(self.module.types.get(id), Ty::Array(..) | Ty::Record(_) | Ty::NdRange)
    }

    /// Collects the last line of each variable's scope.
    fn scopes(&self, stmts: &[Stmt], last: u32, scopes: &mut FxHashMap<LocalId, u32>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Declare(local) => drop(scopes.insert(*local, last)),
                StmtKind::Block(body) => self.scopes(body, self.last_line(stmt.span).min(last), scopes),
                StmtKind::If(branch) => {
                    self.scopes(&branch.then, last, scopes);
                    self.scopes(&branch.otherwise, last, scopes);
                }
                StmtKind::Loop(node) => self.scopes(&node.body, self.last_line(stmt.span).min(last), scopes),
                StmtKind::Switch(switch) => {
                    self.scopes(&switch.body, self.last_line(stmt.span).min(last), scopes);
                }
                _ => {}
            }
        }
    }

    /// The index of a type.
    fn ty(&mut self, id: TyId) -> usize {
        if let Some(&index) = self.known.get(&id) {
            return index;
        }
        let types = &self.module.types;
        let index = self.found.types.len();
        self.known.insert(id, index);
        let name = types.show(id, self.interner);
        let size = types.size_of(id).unwrap_or(0);
        self.found.types.push(Type { name, size, kind: Kind::Opaque });
        let kind = match *types.get(id) {
            Ty::Scalar(scalar) | Ty::Atomic(scalar) => Kind::Number(number_format(scalar)),
            Ty::AtomicFlag => Kind::Number(Number::Signed),
            Ty::Enum(id) => self.enumeration(id),
            Ty::Vector(element, count) => Kind::Vector(number_format(element), count),
            Ty::Pointer(to) => Kind::Pointer(self.ty(to.ty)),
            Ty::Array(element, Some(count)) => Kind::Array(self.ty(element.ty), count),
            Ty::Record(id) => self.record(id),
            _ => Kind::Opaque,
        };
        self.found.types[index].kind = kind;
        index
    }

    fn enumeration(&self, id: EnumId) -> Kind {
        let list = &self.module.types.enums[id];
        let values = list.enumerators.iter().map(|&(name, value)| (self.text(name), value)).collect();
        Kind::Enum(number_format(list.underlying), values)
    }

    fn record(&mut self, id: RecordId) -> Kind {
        let module = self.module;
        let mut members = Vec::new();
        for field in module.types.records[id].fields.iter().flatten() {
            let name = field.name.map_or_else(String::new, |name| self.text(name));
            members.push(Member { name, ty: self.ty(field.ty.ty), offset: field.offset });
        }
        Kind::Record(members)
    }
}

fn number_format(scalar: Scalar) -> Number {
    match scalar {
        Scalar::Bool => Number::Bool,
        Scalar::Char | Scalar::Short | Scalar::Int | Scalar::Long => Number::Signed,
        Scalar::UChar | Scalar::UShort | Scalar::UInt | Scalar::ULong => Number::Unsigned,
        Scalar::Half | Scalar::Float | Scalar::Double => Number::Float,
    }
}
