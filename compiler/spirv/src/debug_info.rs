//! Emits `NonSemantic.Shader.DebugInfo.100` for Vulkan: files, functions with their types, the variables that are
//! still in memory, and the scope and line of each instruction.
//!
//! OpenCL drivers support only `OpLine`, which both environments get (`body.rs`). The types of variables are those of
//! their memory layout.

use kiln_ir::{Argument, ArgumentKind, FuncId, Function, Type, Var};
use kiln_syntax::Span;
use kiln_types::ty;
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::{
    dr::{Instruction, Operand},
    spirv::{Op, SourceLanguage, StorageClass, Word},
};

use super::{Emitter, SourcePosition, body::Body, globals::size_of};

const SET: &str = "NonSemantic.Shader.DebugInfo.100";

/// The instruction numbers of the set.
mod number {
    pub(super) const COMPILATION_UNIT: u32 = 1;
    pub(super) const TYPE_BASIC: u32 = 2;
    pub(super) const TYPE_POINTER: u32 = 3;
    pub(super) const TYPE_ARRAY: u32 = 5;
    pub(super) const TYPE_VECTOR: u32 = 6;
    pub(super) const TYPE_FUNCTION: u32 = 8;
    pub(super) const GLOBAL_VARIABLE: u32 = 18;
    pub(super) const FUNCTION: u32 = 20;
    pub(super) const SCOPE: u32 = 23;
    pub(super) const LOCAL_VARIABLE: u32 = 26;
    pub(super) const DECLARE: u32 = 28;
    pub(super) const EXPRESSION: u32 = 31;
    pub(super) const SOURCE: u32 = 35;
    pub(super) const FUNCTION_DEFINITION: u32 = 101;
    pub(super) const LINE: u32 = 103;
}

/// The version of the set, and the version of DWARF whose constants it uses.
const VERSIONS: [u32; 2] = [100, 4];
/// The encoding of a type that is not a number.
const UNSPECIFIED: u32 = 0;
/// The flag of a function with a body.
const IS_DEFINITION: u32 = 8;
/// The flag of a local variable.
const IS_LOCAL: u32 = 4;

impl Emitter<'_> {
    /// The source position of a span, if debug information is requested.
    fn debug_position(&self, span: Span) -> Option<SourcePosition> {
        if self.is_vulkan() { self.positions.and_then(|positions| positions(span)) } else { None }
    }

    fn debug_operands(&mut self, number: u32, words: &[Word]) -> Vec<Operand> {
        self.writer.extension("SPV_KHR_non_semantic_info");
        let set = self.writer.import_set(SET);
        let head = [Operand::IdRef(set), Operand::LiteralExtInstInteger(number)];
        head.into_iter().chain(words.iter().copied().map(Operand::IdRef)).collect()
    }

    /// A module-scope debug instruction. Equal ones are shared.
    fn module_debug_instruction(&mut self, number: u32, words: &[Word]) -> Word {
        let operands = self.debug_operands(number, words);
        let void = self.void();
        self.writer.interned(Op::ExtInst, Some(void), operands)
    }

    fn debug_source(&mut self, file: &str) -> Word {
        let file = self.writer.string(file);
        self.module_debug_instruction(number::SOURCE, &[file])
    }

    /// The compilation unit, named after the file of the first function.
    fn debug_unit(&mut self, file: &str) -> Word {
        let module = self.module;
        let position = module.functions.iter().find_map(|function| self.debug_position(function.span));
        let source = self.debug_source(position.as_ref().map_or(file, |(file, ..)| file));
        let [version, dwarf] = VERSIONS.map(|it| self.u32(it));
        let language = self.u32(SourceLanguage::OpenCL_C as u32);
        self.module_debug_instruction(number::COMPILATION_UNIT, &[version, dwarf, source, language])
    }

    /// The debug information of a function with a source position.
    pub(super) fn debug_function(&mut self, id: FuncId) -> Option<Word> {
        let module = self.module;
        let function = &module.functions[id];
        let (file, line, column) = self.debug_position(function.span)?;
        let ty = self.debug_signature(function);
        let (source, unit) = (self.debug_source(&file), self.debug_unit(&file));
        let name = self.writer.string(&function.name);
        let [line, column, flags] = [line, column, IS_DEFINITION].map(|it| self.u32(it));
        Some(self.module_debug_instruction(
            number::FUNCTION,
            &[name, ty, source, line, column, unit, name, flags, line],
        ))
    }

    fn debug_signature(&mut self, function: &Function) -> Word {
        let result = match function.result {
            Some(ty) => self.debug_type(ty),
            None => self.void(),
        };
        let mut words = vec![self.u32(0), result];
        match &function.kernel {
            Some(kernel) => words.extend(kernel.arguments.iter().map(|it| self.debug_argument(it))),
            None => words.extend(function.params().iter().map(|&it| self.debug_type(function.ty(it)))),
        }
        self.module_debug_instruction(number::TYPE_FUNCTION, &words)
    }

    fn debug_argument(&mut self, argument: &Argument) -> Word {
        let space = match argument.kind {
            ArgumentKind::Pointer { space, .. } => space,
            ArgumentKind::Local { .. } => AddressSpace::Local,
            _ => return self.debug_named(&argument.type_name),
        };
        let base = self.debug_pointee(argument.type_name.strip_suffix('*').unwrap_or_default());
        self.debug_pointer(base, space)
    }

    fn debug_pointer(&mut self, base: Word, space: AddressSpace) -> Word {
        let class: StorageClass = self.storage_class(space);
        let [class, flags] = [class as u32, 0].map(|it| self.u32(it));
        self.module_debug_instruction(number::TYPE_POINTER, &[base, class, flags])
    }

    /// A type by name. User-defined types have no further information.
    fn debug_named(&mut self, name: &str) -> Word {
        match numeric_type(name) {
            Some((scalar, count)) => {
                let base = self.debug_basic(scalar.spelling(), scalar.size(), encoding_of(scalar));
                self.debug_vector(base, count)
            }
            None => self.debug_basic(name, 0, UNSPECIFIED),
        }
    }

    /// The pointee type. The set requires a basic type, so a vector is represented by its name.
    fn debug_pointee(&mut self, name: &str) -> Word {
        match numeric_type(name) {
            Some((scalar, 1)) => self.debug_basic(name, scalar.size(), encoding_of(scalar)),
            Some((scalar, count)) => {
                let bytes = scalar.size() * u64::from(count.next_power_of_two());
                self.debug_basic(name, bytes, UNSPECIFIED)
            }
            None => self.debug_basic(name, 0, UNSPECIFIED),
        }
    }

    fn debug_type(&mut self, ty: Type) -> Word {
        if let Type::Pointer(space) = ty {
            let base = self.debug_basic("void", 0, UNSPECIFIED);
            return self.debug_pointer(base, space);
        }
        let Some(scalar) = ty.scalar() else { return self.debug_basic(&ty.to_string(), 0, UNSPECIFIED) };
        let shown = scalar.opencl(false);
        let base = self.debug_basic(shown.spelling(), scalar.size(), encoding_of(shown));
        self.debug_vector(base, ty.count())
    }

    fn debug_basic(&mut self, name: &str, bytes: u64, encoding: u32) -> Word {
        let name = self.writer.string(name);
        let [bits, encoding, flags] = [8 * bytes as u32, encoding, 0].map(|it| self.u32(it));
        self.module_debug_instruction(number::TYPE_BASIC, &[name, bits, encoding, flags])
    }

    fn debug_vector(&mut self, base: Word, count: u8) -> Word {
        if count == 1 {
            return base;
        }
        let count = self.u32(count.into());
        self.module_debug_instruction(number::TYPE_VECTOR, &[base, count])
    }

    /// The type of an object, from its layout.
    fn debug_layout(&mut self, var: &Var) -> Word {
        let element = var.element.unwrap_or(Type::I32);
        let base = self.debug_type(element);
        if !Self::is_array(var) {
            return base;
        }
        // The launch decides the length of an argument.
        let count = if var.argument.is_some() { 0 } else { var.size.div_ceil(size_of(element)) };
        let count = self.u32(u32::try_from(count).unwrap_or(u32::MAX));
        self.module_debug_instruction(number::TYPE_ARRAY, &[base, count])
    }

    /// The debug information of an object in local memory.
    pub(super) fn debug_global(&mut self, word: Word, var: &Var) {
        let Some((file, line, column)) = self.debug_position(var.span) else { return };
        let ty = self.debug_layout(var);
        let (source, unit) = (self.debug_source(&file), self.debug_unit(&file));
        let name = self.writer.string(&var.name);
        let [line, column, flags] = [line, column, IS_LOCAL].map(|it| self.u32(it));
        self.module_debug_instruction(
            number::GLOBAL_VARIABLE,
            &[name, ty, source, line, column, unit, name, word, flags],
        );
    }
}

/// The number or vector type with this OpenCL C name.
fn numeric_type(name: &str) -> Option<(ty::Scalar, u8)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let scalar = ty::Scalar::ALL.into_iter().find(|scalar| scalar.spelling() == stem)?;
    let digits = &name[stem.len()..];
    Some((scalar, if digits.is_empty() { 1 } else { digits.parse().ok()? }))
}

/// The encoding of a number in the set's table.
const fn encoding_of(scalar: ty::Scalar) -> u32 {
    match scalar {
        ty::Scalar::Bool => 2,
        ty::Scalar::Half | ty::Scalar::Float | ty::Scalar::Double => 3,
        ty::Scalar::Short | ty::Scalar::Int | ty::Scalar::Long => 4,
        ty::Scalar::Char => 5,
        ty::Scalar::UShort | ty::Scalar::UInt | ty::Scalar::ULong => 6,
        ty::Scalar::UChar => 7,
    }
}

impl Body<'_, '_> {
    fn debug_instruction(&mut self, number: u32, words: &[Word]) -> Instruction {
        let operands = self.emitter.debug_operands(number, words);
        let void = self.emitter.void();
        let word = self.emitter.writer.id();
        Instruction::new(Op::ExtInst, Some(void), Some(word), operands)
    }

    /// The debug instructions at the start of a function's first block: the function definition and its variables.
    pub(super) fn debug_head(&mut self, function: Word) -> Vec<Instruction> {
        let Some(scope) = self.debug_scope else { return Vec::new() };
        let mut head = vec![self.debug_instruction(number::FUNCTION_DEFINITION, &[scope, function])];
        let mut variables: Vec<_> = self.variable_ids.iter().map(|(&var, &word)| (word, var)).collect();
        variables.sort_unstable();
        for (word, var) in variables {
            let var = &self.function.vars[var];
            let Some((file, line, column)) = self.emitter.debug_position(var.span) else { continue };
            if var.name.is_empty() {
                continue;
            }
            let (ty, source) = (self.emitter.debug_layout(var), self.emitter.debug_source(&file));
            let name = self.emitter.writer.string(&var.name);
            let [line, column, flags] = [line, column, IS_LOCAL].map(|it| self.emitter.u32(it));
            let words = [name, ty, source, line, column, scope, flags];
            let local = self.emitter.module_debug_instruction(number::LOCAL_VARIABLE, &words);
            let expression = self.emitter.module_debug_instruction(number::EXPRESSION, &[]);
            head.push(self.debug_instruction(number::DECLARE, &[local, word, expression]));
        }
        head
    }

    /// The line of the following instructions, with the scope if it is the first in the basic block.
    pub(super) fn debug_line(&mut self, (file, line, column): &SourcePosition, is_first: bool) {
        let Some(scope) = self.debug_scope else { return };
        if is_first {
            let scope = self.debug_instruction(number::SCOPE, &[scope]);
            self.push(scope);
        }
        let source = self.emitter.debug_source(file);
        let [line, column] = [*line, *column].map(|it| self.emitter.u32(it));
        let line = self.debug_instruction(number::LINE, &[source, line, line, column, column]);
        self.push(line);
    }
}
