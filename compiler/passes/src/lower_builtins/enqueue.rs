//! Lowers device-side enqueue on Vulkan (OpenCL C 6.15.19). A launch passes the address of a queue in memory, which
//! `device_queue.rs` of `kiln-vocabulary` describes; `library/lib/enqueue.cl` has its operations. A block becomes a number: the
//! index of its kernel in `Pass::blocks`. Its captured values are an argument of that kernel.
//!
//! Queues and events are 64-bit integers. An index space consists of ten of them: dimensions, offset, local size and global
//! size.

use kiln_builtins::Enqueue;
use kiln_ir::{
    Access, Argument, ArgumentKind, Builder, CompareKind, FuncId, Function, Handle, Inst, InstId, Kernel,
    Module, Op, Replacements, Scalar, State, Type, ValueId,
};
use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;
use kiln_types::ops::CompareOp;
use kiln_vocabulary::{
    device_queue::{MAX_CAPTURE_BYTES, PROFILE_BLOCK},
    opencl::AddressSpace,
};

use super::Pass;

const HEADER: u64 = ArgumentKind::CAPTURES;
const GLOBAL: Type = Type::Pointer(AddressSpace::Global);
const PAIR: Type = Type::Vector(Scalar::I32, 2);
const WORD: Access = Access { is_shared: false, align: 4, is_volatile: false };
const LONG: Access = Access { is_shared: false, align: 8, is_volatile: false };
/// `CLK_ENQUEUE_FAILURE`
const FAILURE: i32 = -101;

/// Replaces the types of queues and events, and passes captured values without their header.
pub(super) fn number_handles(function: &mut Function) {
    let plain = |ty: Type| match ty {
        Type::Handle(Handle::Queue | Handle::DeviceEvent) => Type::I64,
        other => other,
    };
    for value in function.values.iter_mut() {
        value.ty = plain(value.ty);
    }
    function.result = function.result.map(plain);
    if function.kernel.as_ref().is_some_and(Kernel::is_block) {
        drop_header(function);
    }
}

/// The parameter of a block's kernel becomes a private pointer to the captured values.
fn drop_header(function: &mut Function) {
    let body = function.body;
    let values = function.params()[0];
    function.values[values].ty = Type::Pointer(AddressSpace::Private);
    let mut builder = Builder::new(function);
    builder.at(body, 0);
    let generic = builder.value(Op::PointerCast, &[values], Type::Pointer(AddressSpace::Generic));
    let cast = builder.function.blocks[body].insts[0];
    for id in builder.function.inst_order() {
        let inst = &builder.function.insts[id];
        if id == cast || !inst.args.contains(&values) {
            continue;
        }
        let offset = matches!(inst.op, Op::Offset { .. }).then(|| inst.args[1]);
        for arg in &mut builder.function.insts[id].args {
            *arg = if *arg == values { generic } else { *arg };
        }
        if let Some(bytes) = offset.and_then(|index| builder.function.constant_bits(index)) {
            let index = builder.i64((bytes - HEADER) as i64);
            builder.function.insts[id].args[1] = index;
        }
    }
}

/// The kernels of blocks, in the order of the module. The index of each is its number.
pub(super) fn number_blocks(module: &Module) -> Vec<FuncId> {
    let is_block = |function: &Function| function.kernel.as_ref().is_some_and(Kernel::is_block);
    module.functions.ids().filter(|&id| is_block(&module.functions[id])).collect()
}

/// The kernels of the blocks that load an image from their captured values.
pub(super) fn image_blocks(module: &Module, blocks: &[FuncId]) -> Vec<FuncId> {
    let loads_image = |id: &&FuncId| {
        let function = &module.functions[**id];
        let mut loads = function.insts.iter().filter(|inst| matches!(inst.op, Op::Load(_)));
        loads.any(|inst| matches!(function.ty(inst.results[0]), Type::Image(_)))
    };
    blocks.iter().filter(loads_image).copied().collect()
}

impl Pass<'_> {
    /// Lowers a function of OpenCL C 6.15.19. Returns its result.
    pub(super) fn enqueue(
        &mut self,
        builder: &mut Builder<'_>,
        inst: InstId,
        op: Enqueue,
        name: &str,
    ) -> Option<Option<ValueId>> {
        if self.options.bounds_checks {
            let message = "device-side enqueue is not supported in programs with bounds checks";
            let diagnostic = Diagnostic::new(Code::TargetFeature, builder.span, message);
            self.sink.report(
                diagnostic
                    .help("compile without them, or run on the reference device, which checks every access"),
            );
        }
        let args = builder.function.insts[inst].args.to_vec();
        let result = builder.function.insts[inst].results.first().map(|&result| builder.ty(result));
        let long = Some(Type::I64);
        let int = Some(Type::I32);
        Some(match op {
            Enqueue::Kernel => {
                let status = self.enqueue_kernel(builder, &args)?;
                Some(self.status(builder, status))
            }
            Enqueue::Marker => {
                let command = command(builder);
                let args = [args[0], args[1], args[2], args[3], command];
                let status = self.call_queue_function(builder, "marker", &args, int)??;
                Some(self.status(builder, status))
            }
            Enqueue::WorkGroupSize => self.call_queue_function(builder, "group_size", &[], int)?,
            Enqueue::PreferredMultiple | Enqueue::MaxSubGroupSize => {
                self.call_queue_function(builder, "sub_group_size", &[], int)?
            }
            Enqueue::SubGroupCount => {
                self.call_queue_function(builder, "sub_group_count", &args[..1], int)?
            }
            Enqueue::CreateUserEvent => self.call_queue_function(builder, "create_event", &[], long)?,
            Enqueue::RetainEvent => self.call_queue_function(builder, "retain_event", &args, None)?,
            Enqueue::ReleaseEvent => self.call_queue_function(builder, "release_event", &args, None)?,
            Enqueue::IsValidEvent => {
                let count = self.call_queue_function(builder, "has_event", &args, int)??;
                let zero = builder.i32(0);
                let is_valid = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, count, zero);
                Some(if result == Some(Type::BOOL) { is_valid } else { count })
            }
            Enqueue::SetUserEventStatus => self.call_queue_function(builder, "set_status", &args, None)?,
            Enqueue::CaptureProfilingInfo => {
                let block = self.profile();
                let block = builder.i32(block);
                self.call_queue_function(builder, "profile", &[args[0], args[2], block], None)?
            }
            Enqueue::DefaultQueue => self.call_queue_function(builder, "default", &[], long)?,
            Enqueue::NdRange => {
                index_space(builder, name, &args);
                None
            }
        })
    }

    /// Keeps a call in a module for OpenCL, except for its status.
    pub(super) fn keep_enqueue(&self, builder: &mut Builder<'_>, inst: InstId, replaced: &mut Replacements) {
        let Inst { op, args, results, .. } = builder.function.insts[inst].clone();
        let status = builder.value(op, &args, Type::I32);
        replaced.insert(results[0], self.status(builder, status));
    }

    /// Calls a function of `enqueue.cl`, whose first argument is the queue.
    fn call_queue_function(
        &mut self,
        builder: &mut Builder<'_>,
        name: &str,
        args: &[ValueId],
        result: Option<Type>,
    ) -> Option<Option<ValueId>> {
        let address = builder.value(Op::LaunchAddress(State::Queue), &[], Type::I64);
        let queue = builder.value(Op::IntToPointer, &[address], GLOBAL);
        let args: Vec<ValueId> = [queue].into_iter().chain(args.iter().copied()).collect();
        self.library_call(builder, "queue", name, &args, result)
    }

    /// `enqueue_kernel`: queue, flags, index space, wait list with its length, event, block, and sizes of local memory. All
    /// children start when their parent has ended, which every flag allows.
    fn enqueue_kernel(&mut self, builder: &mut Builder<'_>, args: &[ValueId]) -> Option<ValueId> {
        let [on, _, space, count, waits, event, block, literal, size, _] =
            *args.first_chunk::<{ Enqueue::FIXED_ARGUMENTS }>()?;
        let Op::Function(kernel) = builder.function.def(block)?.op else { return None };
        let number = self.blocks.iter().position(|known| *known == kernel)?;
        let captures = builder.function.constant_bits(size)? - HEADER;
        self.check_captures(builder, kernel, captures);
        let sizes: Vec<ValueId> = args[Enqueue::FIXED_ARGUMENTS..]
            .iter()
            .map(|&address| {
                let size = builder.load(address, Type::I64, LONG);
                builder.resize(size, Scalar::I32, false)
            })
            .collect();
        let add = self.callee("queue", "local_size", builder.span)?;
        let mut total = builder.i32(0);
        for &size in &sizes {
            total = builder.call(add, &[total, size], Some(Type::I32))?;
        }
        let [number, locals, bytes] =
            [number as i32, sizes.len() as i32, captures as i32].map(|it| builder.i32(it));
        let command = command(builder);
        let args = [on, space, count, waits, event, command, number, locals, total, bytes];
        let written = self.call_queue_function(builder, "kernel", &args, Some(PAIR))??;
        let (status, word) = (builder.extract(written, 0), builder.extract(written, 1));
        let zero = builder.i32(0);
        let is_written = builder.compare(CompareOp::Equal, CompareKind::Unsigned, status, zero);
        let open = builder.open_if(is_written, &[]);
        let after = builder.insertion_point();
        builder.at_end(open.then);
        self.write_payload(builder, word, &sizes, (literal, captures));
        builder.exit(open.inst, &[]);
        builder.at_end(open.otherwise);
        builder.exit(open.inst, &[]);
        builder.at(after.0, after.1);
        Some(status)
    }

    /// Writes the sizes of local memory and the captured values to a record, starting at this word.
    fn write_payload(
        &self,
        builder: &mut Builder<'_>,
        word: ValueId,
        sizes: &[ValueId],
        (literal, captures): (ValueId, u64),
    ) {
        let address = builder.value(Op::LaunchAddress(State::Queue), &[], Type::I64);
        let queue = builder.value(Op::IntToPointer, &[address], GLOBAL);
        let word_address = |builder: &mut Builder<'_>, word: ValueId| {
            let word = builder.resize(word, Scalar::I64, false);
            builder.offset(queue, word, 4)
        };
        for (index, &size) in (0..).zip(sizes) {
            let first = word_address(builder, word);
            let to = builder.offset_bytes(first, 4 * index);
            builder.store(to, size, WORD);
        }
        if captures > 0 {
            // The next multiple of 8 bytes: records and the part before the wait list are such multiples.
            let end = builder.binary_bits(kiln_ir::BinaryOp::Add, word, sizes.len() as u64 + 1);
            let even = builder.binary_bits(kiln_ir::BinaryOp::And, end, 0xffff_fffe);
            let to = word_address(builder, even);
            let to = builder.value(Op::PointerCast, &[to], Type::Pointer(AddressSpace::Generic));
            let from = builder.offset_bytes(literal, HEADER as i64);
            builder.inst(Op::Copy { size: captures, access: LONG }, &[to, from], &[]);
        }
    }

    /// The status that the program gets. Without `-g`, every error is `CLK_ENQUEUE_FAILURE` (OpenCL C 6.15.19.1).
    fn status(&self, builder: &mut Builder<'_>, status: ValueId) -> ValueId {
        if self.options.debug {
            return status;
        }
        let [success, failure] = [0, FAILURE].map(|status| builder.i32(status));
        let is_success = builder.compare(CompareOp::Equal, CompareKind::Unsigned, status, success);
        builder.select(is_success, success, failure)
    }

    /// Rejects captured values that do not fit into a record, and images, which have no address.
    fn check_captures(&mut self, builder: &Builder<'_>, kernel: FuncId, bytes: u64) {
        let rejected = if bytes > MAX_CAPTURE_BYTES {
            format!(
                "an enqueued block uses {bytes} bytes of variables, and the limit on Vulkan is {MAX_CAPTURE_BYTES}"
            )
        } else if self.image_blocks.contains(&kernel) {
            "an enqueued block that uses an image is not supported on Vulkan".to_owned()
        } else {
            return;
        };
        let diagnostic = Diagnostic::new(Code::TargetFeature, builder.span, rejected);
        self.sink.report(diagnostic.help("pass the data in global memory"));
    }

    /// The number of the block for `capture_event_profiling_info`, which stores two time stamps.
    fn profile(&mut self) -> i32 {
        let function = *self.profile.get_or_insert_with(|| {
            let function = self.module.functions.push(profile_block());
            self.blocks.push(function);
            function
        });
        self.blocks.iter().position(|known| *known == function).unwrap_or_default() as i32
    }
}

/// The number of the command that runs the kernel.
fn command(builder: &mut Builder<'_>) -> ValueId {
    let number = builder.value(Op::LaunchAddress(State::Command), &[], Type::I64);
    builder.resize(number, Scalar::I32, false)
}

/// Builds a block that stores its second and third captured values at the address in its first.
fn profile_block() -> Function {
    let mut function = Function::new(
        PROFILE_BLOCK.to_owned(),
        &[Type::Pointer(AddressSpace::Private)],
        None,
        Span::default(),
    );
    let argument = Argument {
        kind: ArgumentKind::Captures { size: HEADER + 24, align: 8 },
        name: String::new(),
        type_name: "void*".to_owned(),
        is_const: false,
        is_volatile: false,
        is_restrict: false,
    };
    function.kernel = Some(Kernel { arguments: vec![argument], ..Kernel::default() });
    let values = function.params()[0];
    let mut builder = Builder::new(&mut function);
    builder.at_end(builder.function.body);
    let [address, first, second] = [0, 8, 16].map(|offset| {
        let address = builder.offset_bytes(values, offset);
        builder.load(address, Type::I64, LONG)
    });
    let target = builder.value(Op::IntToPointer, &[address], GLOBAL);
    builder.store(target, first, LONG);
    let next = builder.offset_bytes(target, 8);
    builder.store(next, second, LONG);
    builder.ret(None);
    function
}

/// `ndrange_1D` and its variants: stores the index space, with an offset of 0 and sizes of 1 in dimensions that it does not have.
fn index_space(builder: &mut Builder<'_>, name: &str, args: &[ValueId]) {
    let dims: u64 = match name {
        "ndrange_1D" => 1,
        "ndrange_2D" => 2,
        _ => 3,
    };
    let [target, global, local, offset] = [0, 1, 2, 3].map(|index| args[index]);
    let is_zero = |builder: &Builder<'_>, value| builder.function.constant_bits(value) == Some(0);
    let store = |builder: &mut Builder<'_>, index: u64, value| {
        let address = builder.offset_bytes(target, 8 * index as i64);
        builder.store(address, value, LONG);
    };
    let count = builder.i64(dims as i64);
    store(builder, 0, count);
    for (first, values, otherwise) in [(1, offset, 0), (4, local, 1), (7, global, 1)] {
        for dimension in 0..3 {
            let value = if dimension >= dims {
                builder.i64(otherwise)
            } else if is_zero(builder, values) {
                builder.i64(0)
            } else if dims == 1 {
                values
            } else {
                let address = builder.offset_bytes(values, 8 * dimension as i64);
                builder.load(address, Type::I64, LONG)
            };
            store(builder, first + dimension, value);
        }
    }
}
