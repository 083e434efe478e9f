//! Assigns kernel arguments to launch memory, for targets whose entry points have no parameters.
//!
//! The push constants start with the launch state that kernels read, at the same offsets in all kernels. The
//! arguments of the kernel follow; those that do not fit go into a uniform buffer. Pointers to local memory become
//! local variables whose size the launch decides. Program-scope variables become parts of one buffer.

mod binder;
mod branch_on_samplers;
mod load;

use kiln_ir::{
    Argument, ArgumentKind, ArgumentLocation, Builder, CompareKind, Data, FuncId, Function, ImageAction,
    ImageFact, Interface, LaunchMemory, Module, Op, Replacements, State, Type, ValueId, Var, VarId,
    WrittenLevels,
};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_syntax::Span;
use kiln_types::{index::Id as _, ops::CompareOp, ty};
use kiln_vocabulary::{
    opencl::AddressSpace,
    target::{Features, Target},
};

use self::{
    binder::{ArgumentBlocks, Binder},
    load::{Source, load_pointer, load_word, load_word_pair},
};
use crate::{lower_work_items::states, reject_unsupported::with_profile, rewrite::rewrite_only};

/// The maximum total size of program-scope variables in bytes. The module contains their initial values.
const MAX_VARIABLES_SIZE: u64 = 1 << 30;

pub(super) fn bind_arguments(module: &mut Module, options: &Options, sink: &mut Sink) {
    let mut interface = std::mem::take(&mut module.interface);
    let mut words = assign_state(module, &mut interface);
    words = lay_out_variables(module, &mut interface, words, sink);
    let features = &options.target.features;
    for id in module.functions.ids().collect::<Vec<_>>() {
        if module.functions[id].kernel.is_some() {
            branch_on_samplers::branch_on_samplers(&mut module.functions[id]);
            let locations = bind_kernel(module, id, 4 * words, features, &mut interface);
            interface.arguments.push((id, locations));
            reject_excess_images(&module.functions[id], id, &interface, &options.target, sink);
            reject_unbound_samplers(&module.functions[id], sink);
        }
        name_addresses(&mut module.functions[id], &interface, features.int64);
    }
    module.interface = interface;
}

/// Assigns push constants to every launch state that a function reads. Returns the first free word.
fn assign_state(module: &Module, interface: &mut Interface) -> u32 {
    let mut word = 0u32;
    for function in module.functions.iter() {
        for id in function.insts_where(|op| matches!(op, Op::WorkItem(_) | Op::LaunchAddress(_))) {
            let read = match &function.insts[id].op {
                Op::WorkItem(query) => states(*query),
                Op::LaunchAddress(state) => std::slice::from_ref(state),
                _ => continue,
            };
            for &state in read {
                if interface.first_word(state).is_none() {
                    word = if state.is_address() { word.next_multiple_of(2) } else { word };
                    interface.state.push((state, word));
                    word += state.words();
                }
            }
        }
    }
    word
}

/// Lays out the buffer of program-scope variables: those that functions refer to, and those that their initializers
/// refer to.
fn lay_out_variables(module: &Module, interface: &mut Interface, word: u32, sink: &mut Sink) -> u32 {
    let is_program =
        |var: VarId| matches!(module.vars[var].space, AddressSpace::Global | AddressSpace::Constant);
    let mut work: Vec<VarId> = Vec::new();
    for function in module.functions.iter() {
        for id in function.insts_where(|op| matches!(op, Op::ModuleVar(_))) {
            if let Op::ModuleVar(var) = function.insts[id].op
                && is_program(var)
            {
                work.push(var);
            }
        }
    }
    let data = &mut interface.variables;
    while let Some(id) = work.pop() {
        if interface.offsets.iter().any(|(known, _)| *known == id) {
            continue;
        }
        let var = &module.vars[id];
        let offset = (data.bytes.len() as u64).next_multiple_of(var.align.max(1));
        interface.offsets.push((id, offset));
        if var.size > MAX_VARIABLES_SIZE - offset.min(MAX_VARIABLES_SIZE) {
            let message = format!(
                "program-scope variables can have at most {MAX_VARIABLES_SIZE} bytes in total on Vulkan"
            );
            let diagnostic = Diagnostic::new(Code::TargetFeature, var.span, message);
            sink.report(diagnostic.help("take a buffer as an argument of the kernel"));
            continue;
        }
        data.bytes.resize(offset as usize, 0);
        if let Some(Data { bytes, relocations }) = &var.init {
            data.bytes.extend_from_slice(bytes);
            for &(at, target, addend) in relocations {
                data.relocations.push((offset + at, target, addend));
                work.push(target);
            }
        }
        data.bytes.resize((offset + var.size) as usize, 0);
    }
    if interface.offsets.is_empty() {
        return word;
    }
    let word = word.next_multiple_of(2);
    interface.state.push((State::Variables, word));
    word + State::Variables.words()
}

/// Replaces addresses of program-scope variables with offsets into their buffer, whose address the launch passes in
/// two words.
fn name_addresses(function: &mut Function, interface: &Interface, has_wide: bool) {
    let source = Source { memory: LaunchMemory::PushConstants, has_wide };
    let is_address = |op: &Op| matches!(op, Op::LaunchAddress(_) | Op::ModuleVar(_));
    rewrite_only(function, is_address, |builder, id, replaced| {
        let variable = |var: VarId| interface.offsets.iter().find(|(known, _)| *known == var);
        let (state, offset) = match builder.function.insts[id].op {
            Op::LaunchAddress(state) => (state, None),
            Op::ModuleVar(var) => match variable(var) {
                Some((_, offset)) => (State::Variables, Some(*offset)),
                None => return builder.insert(id),
            },
            _ => return builder.insert(id),
        };
        let Some(word) = interface.first_word(state) else { return builder.insert(id) };
        let result = builder.function.insts[id].results[0];
        let ty = builder.ty(result);
        let value = match offset {
            None => load_word_pair(builder, source, word, ty),
            Some(offset) => {
                let base = load_pointer(builder, source, word, ty);
                builder.offset_bytes(base, offset as i64)
            }
        };
        replaced.insert(result, value);
    });
}

/// Replaces the parameters of a kernel. Its arguments start at byte `start` of the push constants.
fn bind_kernel(
    module: &mut Module,
    id: FuncId,
    start: u32,
    features: &Features,
    interface: &mut Interface,
) -> Vec<ArgumentLocation> {
    let Module { functions, vars, .. } = module;
    let function = &mut functions[id];
    let arguments = function.kernel.as_ref().map(|kernel| kernel.arguments.clone()).unwrap_or_default();
    let params = std::mem::take(&mut function.blocks[function.body].params);
    let body = function.body;
    let samples = function.insts_where(|op| *op == Op::Image(ImageAction::Sample));
    let written = images_with_written_levels(function);
    let mut builder = Builder::new(function);
    builder.at(body, 0);
    let mut binder = Binder {
        kernel: id,
        builder,
        vars,
        interface,
        has_wide: features.int64,
        blocks: ArgumentBlocks::new(start, features),
        descriptors: 0,
        samples,
        written,
    };
    let mut locations = Vec::new();
    let mut replaced = Replacements::default();
    for (number, (argument, &param)) in (0..).zip(arguments.iter().zip(&params)) {
        let (location, value) = binder.bind(number, argument, param);
        locations.push(location);
        replaced.insert(param, value);
    }
    let Binder { mut builder, mut blocks, interface, written, .. } = binder;
    bind_image_queries(&mut builder, (id, &params), &mut blocks, &mut replaced, interface);
    function.replace_uses(&replaced);
    if !written.is_empty() {
        select_written_levels(function);
    }
    locations
}

/// Replaces the queries of images whose results the launch passes as arguments.
fn bind_image_queries(
    builder: &mut Builder<'_>,
    (kernel, params): (FuncId, &[ValueId]),
    blocks: &mut ArgumentBlocks,
    replaced: &mut Replacements,
    interface: &mut Interface,
) {
    for (argument, what, queries) in image_queries(builder.function, params) {
        let (memory, byte) = blocks.next(4, 4);
        let property = load_word(builder, memory, byte / 4);
        replaced.extend(queries.into_iter().map(|query| (query, property)));
        interface.image_facts.push(ImageFact { kernel, argument, what, memory, byte });
        blocks.occupy(memory, byte + 4);
    }
}

/// The images that a kernel writes to at a level.
fn images_with_written_levels(function: &Function) -> Vec<ValueId> {
    let stores = function.insts_where(|op| matches!(op, Op::Image(ImageAction::Store(_))));
    let stores = stores.into_iter().map(|id| &function.insts[id].args);
    stores.filter(|args| args.len() > 3).map(|args| args[0]).collect()
}

/// Replaces writes at a level by a choice among the descriptors of the levels.
fn select_written_levels(function: &mut Function) {
    let is_store = |op: &Op| matches!(op, Op::Image(ImageAction::Store(_)));
    rewrite_only(function, is_store, |builder, id, _| {
        let inst = builder.function.insts[id].clone();
        let first = builder.function.def(inst.args[0]).map(|def| def.op.clone());
        let (&[image, position, texel, level], Some(Op::Descriptor(first))) = (inst.args.as_slice(), first)
        else {
            return builder.insert(id);
        };
        let ty = builder.ty(image);
        let store = |builder: &mut Builder<'_>, level: u32| {
            let target = builder.value(Op::Descriptor(first + level), &[], ty);
            builder.inst(inst.op.clone(), &[target, position, texel], &[]);
        };
        if let Some(level) = builder.function.constant_bits(level) {
            return store(builder, (level as u32).min(WrittenLevels::COUNT - 1));
        }
        for number in 0..WrittenLevels::COUNT {
            let wanted = builder.i32(number as i32);
            let is_wanted = builder.compare(CompareOp::Equal, CompareKind::Unsigned, level, wanted);
            let choice = builder.open_if(is_wanted, &[]);
            let after = builder.insertion_point();
            builder.at_end(choice.then);
            store(builder, number);
            builder.exit(choice.inst, &[]);
            builder.at_end(choice.otherwise);
            builder.exit(choice.inst, &[]);
            builder.at(after.0, after.1);
        }
    });
}

/// Reports a kernel with more images than the device can bind.
fn reject_excess_images(
    function: &Function,
    id: FuncId,
    interface: &Interface,
    target: &Target,
    sink: &mut Sink,
) {
    let arguments = function.kernel.iter().flat_map(|kernel| &kernel.arguments);
    let images = arguments.filter_map(|argument| match argument.kind {
        ArgumentKind::Image(image) => Some(image.access),
        _ => None,
    });
    let (read, written): (Vec<_>, Vec<_>) = images.partition(|access| *access == ty::Access::ReadOnly);
    // Each level that a kernel writes is a separate image.
    let leveled = interface.written_levels.iter().filter(|levels| levels.kernel == id).count();
    let levels = leveled * (WrittenLevels::COUNT as usize - 1);
    for (count, limit, verb) in [
        (read.len(), target.features.read_images, "read"),
        (written.len() + levels, target.features.written_images, "written"),
    ] {
        if count > limit as usize {
            let message = format!(
                "this kernel has {count} {verb} images, and a kernel can have at most {limit} on this device"
            );
            let mut diagnostic = Diagnostic::new(Code::TargetFeature, function.span, message)
                .help("use arrays of images, or several kernels");
            if verb == "written" && leveled > 0 {
                let counted =
                    format!("an image whose levels are written counts as {} images", WrittenLevels::COUNT);
                diagnostic = diagnostic.note(counted);
            }
            sink.report(with_profile(diagnostic, target));
        }
    }
}

/// Reports samplers that are neither constants nor arguments: a launch cannot bind those.
fn reject_unbound_samplers(function: &Function, sink: &mut Sink) {
    for id in function.insts_where(|op| *op == Op::Image(ImageAction::Sample)) {
        let inst = &function.insts[id];
        if function.constant_bits(inst.args[2]).is_none() && function.ty(inst.args[2]) != Type::Sampler {
            let message = "a sampler that is chosen at run time is not supported on Vulkan";
            let diagnostic = Diagnostic::new(Code::TargetFeature, inst.span, message);
            sink.report(diagnostic.help("choose between two reads, or compile with `--exact-images`"));
        }
    }
}

/// The local variable for an argument of a kernel.
pub(super) fn local_argument(argument: &Argument, number: u32, size: (u64, u64), span: Span) -> Var {
    let var = Var::new(&argument.name, AddressSpace::Local, size, span);
    Var { argument: Some(number), ..var }
}

/// The image properties that a kernel queries and that only the launch can provide: the argument, the property, and the
/// results of the queries.
fn image_queries(function: &Function, params: &[ValueId]) -> Vec<(u32, ImageAction, Vec<ValueId>)> {
    let is_query = |op: &Op| matches!(op, Op::Image(ImageAction::ChannelOrder | ImageAction::ChannelType));
    let queries = function.insts_where(is_query);
    if queries.is_empty() {
        return Vec::new();
    }
    let uses = function.use_counts();
    let mut questions: Vec<(u32, ImageAction, Vec<ValueId>)> = Vec::new();
    for id in queries {
        let inst = &function.insts[id];
        let Op::Image(what) = inst.op else { continue };
        let Some(argument) = params.iter().position(|param| *param == inst.args[0]) else { continue };
        if uses[inst.results[0].index()] == 0 {
            continue;
        }
        let argument = argument as u32;
        match questions.iter_mut().find(|known| (known.0, known.1) == (argument, what)) {
            Some((.., queries)) => queries.push(inst.results[0]),
            None => questions.push((argument, what, vec![inst.results[0]])),
        }
    }
    questions
}
