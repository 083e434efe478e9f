//! Lowers calls of built-in functions: to an extended instruction of the target with the operands that it expects, or
//! to a call of a function of Kiln's library. Rejects the others with a message that names the function.

mod conversions;
mod divisions;
mod enqueue;
mod groups;
mod images;
mod int64_divisions;
mod pipes;
mod rounding;
mod sub_groups;
mod subnormals;

use self::conversions::Number;
use kiln_builtins::{self as builtins, BuiltinId, Enqueue, Lowering};
use kiln_ir::{
    Access, Builder, BuiltinParam, Convert, FuncId, Function, Inst, InstId, Module, Op, Replacements, Scalar,
    Type, ValueId, Var, VarId,
};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_syntax::Span;
use kiln_types::{ops::Conversion, ty};
use kiln_vocabulary::{
    driver_bugs::DriverBug,
    opencl::{AddressSpace, Environment, Scope},
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    Providers,
    reject_unsupported::with_profile,
    rewrite::{rewrite, rewrite_only},
};

pub(super) fn lower_builtins(module: &mut Module, options: &Options, providers: &Providers, sink: &mut Sink) {
    let converts_to_srgb = images::converts_to_srgb(module, options);
    let mut pass = Pass {
        module,
        options,
        providers,
        sink,
        library: FxHashMap::default(),
        scratch: FxHashMap::default(),
        blocks: Vec::new(),
        image_blocks: Vec::new(),
        profile: None,
        converts_to_srgb,
    };
    if options.target.environment == Environment::Vulkan {
        pass.module.functions.iter_mut().for_each(groups::remove_events);
        pass.module.functions.iter_mut().for_each(images::number_samplers);
        pass.module.functions.iter_mut().for_each(pipes::number_pipes);
        pass.module.functions.iter_mut().for_each(enqueue::number_handles);
        pass.blocks = enqueue::number_blocks(pass.module);
        pass.image_blocks = enqueue::image_blocks(pass.module, &pass.blocks);
    }
    // Library functions follow those of the program, and may call built-in functions too.
    let programs = pass.module.functions.ids().count();
    let mut next = 0;
    while let Some(id) = pass.module.functions.ids().nth(next) {
        if next < programs {
            pass.divisions(id);
        }
        let before = pass.module.functions[id].insts.len();
        pass.int64_divisions(id);
        pass.function(id);
        if next < programs {
            // After conversions that round have become `floor` and `ceil`.
            pass.floors_of_subnormals(id);
        }
        // Every replacement has instructions.
        let function = &mut pass.module.functions[id];
        function.is_simplified &= function.insts.len() == before;
        next += 1;
    }
}

struct Pass<'a> {
    module: &'a mut Module,
    options: &'a Options,
    providers: &'a Providers,
    sink: &'a mut Sink,
    /// Library functions in the module, by name.
    library: FxHashMap<String, FuncId>,
    /// Local memory for work-group functions.
    scratch: FxHashMap<Type, VarId>,
    /// The kernels of blocks, by number.
    blocks: Vec<FuncId>,
    /// The kernels of blocks that capture images.
    image_blocks: Vec<FuncId>,
    /// The block for `capture_event_profiling_info`, if it is used.
    profile: Option<FuncId>,
    /// Whether writes to sRGB images convert the colors.
    converts_to_srgb: bool,
}

/// A library function, and how to call it.
#[derive(Clone, Copy)]
struct LibraryCall {
    function: FuncId,
    /// Call it once for each component.
    is_by_component: bool,
    /// Call the `float` version for `half` operands.
    is_for_half: bool,
}

impl Pass<'_> {
    fn function(&mut self, id: FuncId) {
        let empty = Function::new(String::new(), &[], None, Span::default());
        let mut function = std::mem::replace(&mut self.module.functions[id], empty);
        // First, because a conversion may need a built-in function.
        let needs_expansion = |this: &Self, function: &Function, inst: &Inst| {
            conversion(function, inst)
                .is_some_and(|(from, to, number)| this.needs_expansion(from, to, number))
        };
        if function.insts.iter().any(|inst| needs_expansion(self, &function, inst)) {
            rewrite(&mut function, |builder, id, replaced| {
                let inst = &builder.function.insts[id];
                if needs_expansion(self, builder.function, inst)
                    && let Some((_, to, number)) = conversion(builder.function, inst)
                {
                    let (value, result) = (inst.args[0], inst.results[0]);
                    if let Some(new) = self.convert_number(builder, value, to, number) {
                        replaced.insert(result, new);
                        return;
                    }
                }
                builder.insert(id);
            });
        }
        let is_builtin = |op: &Op| matches!(op, Op::Builtin(..));
        rewrite_only(&mut function, is_builtin, |builder, inst, replaced| {
            if let Op::Builtin(builtin, params) = builder.function.insts[inst].op.clone() {
                self.call(builder, inst, builtin, &params, replaced);
            }
        });
        self.module.functions[id] = function;
    }

    fn call(
        &mut self,
        builder: &mut Builder<'_>,
        inst: InstId,
        builtin: BuiltinId,
        params: &[BuiltinParam],
        replaced: &mut Replacements,
    ) {
        let row = builtins::row(builtin);
        let is_vulkan = self.options.target.environment == Environment::Vulkan;
        if !is_vulkan && matches!(row.lowering, Lowering::Enqueue(Enqueue::Kernel | Enqueue::Marker)) {
            return self.keep_enqueue(builder, inst, replaced);
        }
        let math = &self.options.math;
        let is_rounded = math.correctly_rounded_divide_sqrt && is_vulkan;
        let is_exact = is_rounded && row.name == "sqrt";
        let is_relaxed = math.unsafe_optimizations && !is_exact;
        if self.options.target.workarounds.contains(DriverBug::RoundDoubles)
            && let Some(direction) = rounding::rounding_mode(row.name)
            && let Some(&result) = builder.function.insts[inst].results.first()
            && builder.ty(result).scalar() == Some(Scalar::F64)
        {
            let value = builder.function.insts[inst].args[0];
            replaced.insert(result, rounding::round(builder, direction, value));
            return;
        }
        if !is_exact
            && (self.providers.has_instruction)(row.lowering, &self.options.target, params, is_relaxed)
            && !is_multisampled(builder, inst, row.lowering)
        {
            if matches!(row.lowering, Lowering::Library(_)) {
                widen(builder, inst, builtin, params);
            }
            return builder.insert(inst);
        }
        let together = match row.lowering {
            Lowering::Image(operation) if is_vulkan => self.image(builder, inst, row.name, operation),
            Lowering::Async(copy) if is_vulkan => groups::asynchronous(builder, inst, copy, params).map(Some),
            Lowering::Pipe(operation, scope) if is_vulkan => self.pipe(builder, inst, operation, scope),
            Lowering::Enqueue(operation) if is_vulkan => self.enqueue(builder, inst, operation, row.name),
            Lowering::Collective(Scope::WorkGroup, ..) => {
                self.work_group(builder, inst, row.name, params).map(Some)
            }
            Lowering::Collective(_, collective, _) => {
                if is_vulkan && !self.options.target.features.subgroups {
                    self.reject(builder, format!("`{}` needs sub-groups, which the device lacks", row.name));
                    return builder.insert(inst);
                }
                sub_groups::sub_group(builder, inst, builtin, collective, params)
            }
            _ => None,
        };
        if let Some(new) = together {
            if let (Some(&old), Some(new)) = (builder.function.insts[inst].results.first(), new) {
                replaced.insert(old, new);
            }
            return;
        }
        let name = if is_exact { "rounded_sqrt".to_owned() } else { plain_name(row) };
        if let Some(own) = self.find_library_call(&name, params, builder.span) {
            let result = expand(builder, inst, own, params);
            if let (Some(&old), Some(new)) = (builder.function.insts[inst].results.first(), result) {
                replaced.insert(old, new);
            }
            return;
        }
        let environment = if is_vulkan { "Vulkan" } else { "the OpenCL environment" };
        self.reject(
            builder,
            format!(
                "the built-in function `{}` is not available for {environment} with these types",
                row.name
            ),
        );
        builder.insert(inst);
    }

    fn reject(&mut self, builder: &Builder<'_>, message: String) {
        let diagnostic = Diagnostic::new(Code::TargetFeature, builder.span, message).note(
            "the target has no instruction for it, and Kiln has no function of its own for these types",
        );
        self.sink.report(with_profile(diagnostic, &self.options.target));
    }

    /// The library function for these parameters: for whole vectors, or else for components.
    fn find_library_call(&mut self, name: &str, params: &[BuiltinParam], span: Span) -> Option<LibraryCall> {
        for is_for_half in [false, true] {
            let types: Vec<(ty::Scalar, u8)> =
                params.iter().filter_map(|param| numeric(*param, is_for_half)).collect();
            let Some(&(first, count)) = types.first() else {
                let function = self.callee(name, "", span)?;
                return Some(LibraryCall { function, is_by_component: false, is_for_half });
            };
            if is_for_half && !params.iter().any(|param| is_half(*param)) {
                break;
            }
            let joined: Vec<String> =
                types.iter().map(|&(scalar, count)| type_suffix(scalar, count)).collect();
            // For parameters of the same width, one type represents all. `step(float, float4)` only has a
            // componentwise version.
            let is_uniform = types.iter().all(|&(_, other)| other == count);
            let candidates = [Some(joined.join("_")), is_uniform.then(|| type_suffix(first, count))];
            if let Some(function) =
                candidates.iter().flatten().find_map(|types| self.callee(name, types, span))
            {
                return Some(LibraryCall { function, is_by_component: false, is_for_half });
            }
            if let Some(function) = self.callee(name, &type_suffix(first, 1), span) {
                return Some(LibraryCall { function, is_by_component: true, is_for_half });
            }
        }
        None
    }

    /// Calls the library function `name_suffix`. `None` if the library does not have it.
    fn library_call(
        &mut self,
        builder: &mut Builder<'_>,
        name: &str,
        suffix: &str,
        args: &[ValueId],
        result: Option<Type>,
    ) -> Option<Option<ValueId>> {
        let function = self.callee(name, suffix, builder.span)?;
        Some(builder.call(function, args, result))
    }

    /// A library function in this module, which is added at its first call. Its instructions get the position of that call.
    fn callee(&mut self, name: &str, types: &str, span: Span) -> Option<FuncId> {
        let key = format!("{name}_{types}");
        if let Some(&known) = self.library.get(&key) {
            return Some(known);
        }
        let Options { math, target, .. } = self.options;
        let is_relaxed = math.unsafe_optimizations;
        let function = (self.providers.library_function)(name, types, is_relaxed, target.precision, span)?;
        let function = self.module.functions.push(Function { is_simplified: true, ..function });
        self.library.insert(key, function);
        Some(function)
    }
}

/// A numeric conversion: source type, target type, and kind.
fn conversion(function: &Function, inst: &Inst) -> Option<(Type, Type, Number)> {
    let Op::Convert(Convert::Number { conversion, from_signed, to_signed }) = inst.op else { return None };
    let number = Number { conversion, from_signed, to_signed };
    Some((function.ty(inst.args[0]), function.ty(inst.results[0]), number))
}

/// Whether this is an operation on a multisampled image, which Vulkan does not have in this form.
fn is_multisampled(builder: &Builder<'_>, inst: InstId, lowering: Lowering) -> bool {
    let image = builder.function.insts[inst].args.first().map(|&image| builder.ty(image));
    matches!((lowering, image), (Lowering::Image(_), Some(Type::Image(image))) if image.is_msaa)
}

/// The name in the library. Sub-group functions that differ only in the work-items that may call them share one.
fn plain_name(row: &builtins::Row) -> String {
    match row.lowering {
        Lowering::Collective(Scope::SubGroup, ..) => {
            row.name.replace("intel_", "").replace("non_uniform_", "")
        }
        _ => row.name.to_owned(),
    }
}

fn is_half(param: BuiltinParam) -> bool {
    matches!(param, BuiltinParam::Value(ty::Scalar::Half, _) | BuiltinParam::Pointer(ty::Scalar::Half, _))
}

/// The numeric type of a parameter, with `float` for `half` if requested.
fn numeric(param: BuiltinParam, is_for_half: bool) -> Option<(ty::Scalar, u8)> {
    let BuiltinParam::Value(scalar, count) = param else { return None };
    let scalar = if is_for_half && scalar == ty::Scalar::Half { ty::Scalar::Float } else { scalar };
    Some((scalar, count))
}

fn type_suffix(scalar: ty::Scalar, count: u8) -> String {
    match count {
        1 => scalar.spelling().to_owned(),
        _ => format!("{}{count}", scalar.spelling()),
    }
}

/// Widens scalar operands among vectors: instructions require operands of equal width.
fn widen(builder: &mut Builder<'_>, inst: InstId, builtin: BuiltinId, params: &[BuiltinParam]) {
    let widths = params.iter().map(|param| match param {
        BuiltinParam::Value(_, count) => *count,
        _ => 1,
    });
    let count = widths.max().unwrap_or(1);
    let mut widened: SmallVec<[BuiltinParam; 4]> = SmallVec::new();
    for (index, &param) in params.iter().enumerate() {
        widened.push(match param {
            BuiltinParam::Value(scalar, 1) if count > 1 => {
                let arg = builder.function.insts[inst].args[index];
                builder.function.insts[inst].args[index] = builder.splat(arg, count);
                BuiltinParam::Value(scalar, count)
            }
            other => other,
        });
    }
    builder.function.insts[inst].op = Op::Builtin(builtin, widened);
}

/// Replaces a call by a call of a library function. Returns the result.
fn expand(
    builder: &mut Builder<'_>,
    inst: InstId,
    own: LibraryCall,
    params: &[BuiltinParam],
) -> Option<ValueId> {
    let args = builder.function.insts[inst].args.clone();
    let result = builder.function.insts[inst].results.first().map(|&result| builder.ty(result));
    let count = if own.is_by_component { widest(params) } else { 1 };
    // For a pointer parameter, pass the address of a private object, and then copy its value to the target.
    let out_objects: Vec<Option<(ValueId, Type)>> = params
        .iter()
        .map(|&param| {
            let BuiltinParam::Pointer(scalar, width) = param else { return None };
            let ty = value_type(scalar, if own.is_by_component { 1 } else { width }, own.is_for_half);
            let size = ty.size().unwrap_or(8).next_power_of_two();
            let var =
                builder.function.vars.push(Var::new("", AddressSpace::Private, (size, size), builder.span));
            Some((builder.private_var(var), ty))
        })
        .collect();
    let mut results = Vec::new();
    let mut stored: Vec<Vec<ValueId>> = vec![Vec::new(); params.len()];
    for component in 0..count {
        let values: Vec<ValueId> = args
            .iter()
            .zip(&out_objects)
            .map(|(&arg, out)| match out {
                Some((pointer, _)) => *pointer,
                None => {
                    let is_part = own.is_by_component && builder.ty(arg).is_vector();
                    let part = if is_part { builder.extract(arg, component) } else { arg };
                    from_half(builder, part, own)
                }
            })
            .collect();
        let ty = result.map(|ty| {
            let ty = if own.is_by_component { ty.with_count(1) } else { ty };
            if own.is_for_half && ty.scalar() == Some(Scalar::F16) { ty.with_scalar(Scalar::F32) } else { ty }
        });
        results.extend(builder.call(own.function, &values, ty));
        for (index, out) in out_objects.iter().enumerate() {
            if let Some((pointer, ty)) = *out {
                let align = ty.size().unwrap_or(8).next_power_of_two() as u32;
                stored[index].push(builder.load(
                    pointer,
                    ty,
                    Access { is_shared: false, align, is_volatile: false },
                ));
            }
        }
    }
    for (index, &param) in params.iter().enumerate() {
        if let BuiltinParam::Pointer(scalar, width) = param {
            let ty = value_type(scalar, width, false);
            let value = joined(builder, &stored[index], ty);
            let align = scalar.size() as u32 * u32::from(width.next_power_of_two());
            builder.store(args[index], value, Access { is_shared: false, align, is_volatile: false });
        }
    }
    result.map(|ty| joined(builder, &results, ty))
}

fn widest(params: &[BuiltinParam]) -> u8 {
    let widths = params.iter().map(|param| match param {
        BuiltinParam::Value(_, count) | BuiltinParam::Pointer(_, count) => *count,
        BuiltinParam::Other => 1,
    });
    widths.max().unwrap_or(1)
}

fn value_type(scalar: ty::Scalar, count: u8, is_for_half: bool) -> Type {
    let is_widened = is_for_half && scalar == ty::Scalar::Half;
    Type::scalar_or_vector(if is_widened { ty::Scalar::Float } else { scalar }, count)
}

const PLAIN: Convert = Convert::Number {
    conversion: Conversion { rounding: None, saturate: false },
    from_signed: false,
    to_signed: false,
};

fn from_half(builder: &mut Builder<'_>, value: ValueId, own: LibraryCall) -> ValueId {
    let ty = builder.ty(value);
    if own.is_for_half && ty.scalar() == Some(Scalar::F16) {
        return builder.convert(PLAIN, value, ty.with_scalar(Scalar::F32));
    }
    value
}

/// Calls `make` for each component and builds a vector of the results.
fn component_wise(
    builder: &mut Builder<'_>,
    value: ValueId,
    count: u8,
    mut make: impl FnMut(&mut Builder<'_>, ValueId) -> ValueId,
) -> ValueId {
    if count == 1 {
        return make(builder, value);
    }
    let parts: Vec<ValueId> = (0..count)
        .map(|component| {
            let part = builder.extract(value, component);
            make(builder, part)
        })
        .collect();
    let ty = builder.ty(parts[0]).with_count(count);
    builder.construct(&parts, ty)
}

/// Builds a value of this type from components.
fn joined(builder: &mut Builder<'_>, parts: &[ValueId], ty: Type) -> ValueId {
    let parts: Vec<ValueId> = parts
        .iter()
        .map(|&part| {
            let from = builder.ty(part);
            if from.scalar() == Some(Scalar::F32) && ty.scalar() == Some(Scalar::F16) {
                return builder.convert(PLAIN, part, from.with_scalar(Scalar::F16));
            }
            part
        })
        .collect();
    if parts.len() == 1 { parts[0] } else { builder.construct(&parts, ty) }
}
