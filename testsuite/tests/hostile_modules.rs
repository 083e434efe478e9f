//! Modules with random mistakes: the reference device returns a result or an error, and the reader a module or its problems.
//! They never panic or hang.

use std::{
    panic,
    time::{Duration, Instant},
};

use kiln_compiler::{
    Artifact, Emit, Il,
    opencl::{Environment, LanguageVersion},
    session::{Loader, Options, Source},
    target::Target,
    translate,
};
use kiln_reference::{
    Argument, Buffer, Checks, Format, Image, ImageDesc, Launch, Memory, ParameterKind, Pipe, Pipeline,
    Program, Region,
};
use kiln_testsuite::{nightly, random::Random};

/// Sources that use most features of modules.
const SOURCES: &[&str] = &[
    "typedef struct { int a[3]; float4 f; } data;
     constant int table[4] = {1, 2, 3, 4};
     int add(int a, int b) { return a + b; }
     kernel void k(global int *out, global const float *in, int n, data d) {
         int i = get_global_id(0), few[8];
         for (int j = 0; j < 8; j++)
             few[j] = j % 3 ? add(table[j & 3], j) : convert_int_sat(in[j] * 2.5f);
         switch (n & 3) {
         case 0: out[i] = few[i & 7]; break;
         case 1: out[i] = as_int(sin(in[i])) / (n | 1); break;
         default: out[i] = d.a[1] + (int)dot(d.f, (float4)(1, 2, 3, 4)); break;
         }
     }",
    "kernel void k(global int *out, local int *tile, global atomic_int *count) {
         int l = get_local_id(0);
         tile[l] = l;
         barrier(CLK_LOCAL_MEM_FENCE);
         out[get_global_id(0)] = tile[3 - (l & 3)] + work_group_reduce_add(l);
         atomic_fetch_add_explicit(count, 1, memory_order_acq_rel, memory_scope_device);
         printf(\"%d %v4d\\n\", l, (int4)(l));
     }",
    "kernel void k(read_only image2d_t from, write_only image2d_array_t to, sampler_t s, global float4 *out) {
         int2 at = (int2)(get_global_id(0), 1);
         const sampler_t own = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
         float4 texel = read_imagef(from, s, convert_float2(at) * 0.3f) + read_imagef(from, own, (float2)(0.4f));
         write_imagef(to, (int4)(at, 1, 0), texel + read_imagef(from, at));
         out[at.x] = texel * get_image_width(from) + get_image_array_size(to) + get_image_channel_order(from);
     }",
    "kernel void k(read_only pipe int from, write_only pipe int to, global int *out) {
         int packet, sum = get_pipe_num_packets(from);
         if (read_pipe(from, &packet) == 0) sum += packet;
         reserve_id_t id = reserve_write_pipe(to, 2);
         if (is_valid_reserve_id(id)) {
             write_pipe(to, id, 1, &sum);
             write_pipe(to, id, 0, &sum);
             commit_write_pipe(to, id);
         }
         id = work_group_reserve_read_pipe(from, 4);
         if (is_valid_reserve_id(id)) {
             read_pipe(from, id, get_local_id(0), &packet);
             work_group_commit_read_pipe(from, id);
         }
         out[get_global_id(0)] = sum;
     }",
    "int twice(int a) { return a * 2; }
     kernel void k(global int *out, global const int *in, local int *tile, float f) {
         int l = get_local_id(0);
         event_t events[2];
         events[0] = async_work_group_copy(tile, in, 4, 0);
         events[1] = async_work_group_strided_copy(tile + 4, in, 2, 3, events[0]);
         wait_group_events(2, events);
         out[l] = twice(tile[l]) + convert_int(clamp(f, -1.0f, 1.0f) * 7.0f) + sub_group_reduce_add(l);
         barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
         out[8 + l] = work_group_broadcast(out[l ^ 1], 2) + sub_group_scan_inclusive_max(tile[3 - (l & 3)]);
         atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
         events[0] = async_work_group_copy(out + 16, tile, 4, 0);
         wait_group_events(1, events);
     }",
    "kernel void k(global int *out, int n) {
         size_t sizes[2] = {4, 2};
         clk_event_t first, user = create_user_event();
         void (^block)(void) = ^{ out[get_global_linear_id()] = n; };
         enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_2D(sizes), 1, &user, &first, block);
         enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4, 4), 1, &first, NULL,
                        ^(local void *scratch) { ((local int *)scratch)[get_local_id(0)] = n; out[n] = n; }, 16);
         set_user_event_status(user, CL_COMPLETE);
         release_event(user);
         out[8 + get_local_id(0)] = get_kernel_work_group_size(block) + is_valid_event(first);
         release_event(first);
     }",
];

struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
}

fn module(text: &str) -> Vec<u32> {
    let source = Source { name: "k.cl".to_owned(), text: text.as_bytes().to_vec() };
    let options = Options {
        target: Target::full(Environment::OpenCl),
        std: LanguageVersion::Cl20,
        debug: true,
        ..Options::default()
    };
    match kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv).artifact {
        Some(Artifact::Module(module)) => module.into_words(),
        _ => panic!("the source compiles"),
    }
}

fn mutated(words: &[u32], random: &mut Random) -> Vec<u32> {
    let mut words = words.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = 5 + random.below(words.len() - 5);
        match random.below(6) {
            0 => words[at] = words[5 + random.below(words.len() - 5)],
            1 => words[at] = words[at].wrapping_add(1),
            2 => words[at] ^= 1 << random.below(32),
            3 => words[at] = random.below(words[3] as usize) as u32,
            4 => drop(words.remove(at)),
            _ => words.swap(at, 5 + random.below(at - 4)),
        }
    }
    words
}

/// `CL_RGBA`, `CL_FLOAT`
const RGBA: u32 = 0x10B5;
const FLOAT: u32 = 0x10DE;

fn handle(handle: Option<u64>) -> Argument {
    Argument::Bytes(handle.unwrap_or_default().to_le_bytes().to_vec())
}

/// Loads and launches a module; returns whether it could be loaded.
fn run(words: &[u32], checks: Checks, threads: usize) -> bool {
    let memory = Memory::default();
    let Ok(program) = Program::new(words, &memory, checks) else { return false };
    for (kernel, described) in program.kernels().iter().enumerate() {
        let mut buffers: Vec<Buffer> = Vec::new();
        let (mut images, mut pipes) = (Vec::new(), Vec::new());
        let arguments: Vec<Argument> = described
            .parameters
            .iter()
            .map(|parameter| match parameter.kind {
                ParameterKind::Local => Argument::Local(64),
                ParameterKind::Value { size, .. } => Argument::Bytes(vec![1; size.min(4096) as usize]),
                ParameterKind::Image { dims, is_array, .. } => {
                    let format = Format::new(RGBA, FLOAT).expect("a format");
                    let rank = dims + u8::from(is_array);
                    let size = [0, 1, 2].map(|lane| if lane < rank { 8 } else { 1 });
                    images.extend(memory.image(ImageDesc { format, size, dimensions: dims, levels: 3 }));
                    handle(images.last().map(Image::handle))
                }
                ParameterKind::Pipe { .. } => {
                    pipes.extend(memory.pipe(4, 8));
                    handle(pipes.last().map(Pipe::handle))
                }
                ParameterKind::Sampler => handle(Some(0x21)),
                _ => {
                    buffers.extend(memory.allocate(256));
                    Argument::Bytes(buffers.last().map_or(0, Buffer::address).to_le_bytes().to_vec())
                }
            })
            .collect();
        let region = Region {
            local: [4, 1, 1],
            groups: [2, 1, 1],
            first_group: [0; 3],
            first_item: [0; 3],
            pipeline: 0,
        };
        let options = kiln_reference::Options {
            checks,
            threads,
            steps: 20_000,
            deadline: Some(Instant::now() + Duration::from_millis(500)),
            ..kiln_reference::Options::default()
        };
        let launch = Launch {
            pipelines: &[Pipeline { program: &program, push_constants: &[], bound: &[] }],
            kernel,
            arguments: &arguments,
            buffers: &[],
            dims: 1,
            global: [8, 1, 1],
            offset: [0; 3],
            local: [4, 1, 1],
            groups: [2, 1, 1],
            regions: &[region],
        };
        launch.run(&memory, &options);
    }
    true
}

/// A small function is decoded at its calls. The decoder drops its names after the call, but not its lines.
#[test]
fn line_numbers_are_not_used_as_ids() {
    for line in 1..64 {
        let text = format!(
            "int twice(int a);
             kernel void k(global int *out, int n) {{ out[0] = twice(n) == 2; out[1] = n; }}
             int twice(int a) {{ return
             #line {line}
                 2 * a; }}"
        );
        assert!(run(&module(&text), Checks::On, 1), "with line {line}");
    }
}

#[test]
fn modules_with_mistakes_never_panic_and_never_hang() {
    let count = nightly::count("mutants of each hostile module", 3000, 170_000);
    panic::set_hook(Box::new(|_| {}));
    let mut random = Random::new(1);
    let mut failures = Vec::new();
    for text in SOURCES {
        let words = module(text);
        assert!(run(&words, Checks::On, 1), "the module itself is whole");
        let mut loaded = 0;
        for number in 0..count {
            let mutant = mutated(&words, &mut random);
            let checks = if number % 2 == 0 { Checks::On } else { Checks::Off };
            let begin = Instant::now();
            // Threads cost more than most mutants.
            let threads = if number % 16 == 1 { 2 } else { 1 };
            let outcome = panic::catch_unwind(|| run(&mutant, checks, threads));
            loaded += usize::from(*outcome.as_ref().unwrap_or(&false));
            if let Err(reason) = outcome {
                let text = reason.downcast_ref::<String>().cloned();
                let text = text.or_else(|| reason.downcast_ref::<&str>().map(|it| (*it).to_owned()));
                failures.push(format!("mutant {number}: panic: {}", text.unwrap_or_default()));
            }
            if begin.elapsed() > Duration::from_secs(10) {
                failures.push(format!("mutant {number}: {:?}", begin.elapsed()));
            }
        }
        assert!(loaded > count / 12, "only {loaded} of {count} mutants are executed");
    }
    let _ = panic::take_hook();
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures[..failures.len().min(20)].join("\n")
    );
}

#[test]
fn translations_of_modules_with_mistakes_never_panic() {
    let count = nightly::count("translated mutants of each hostile module", 250, 20_000);
    let mut random = Random::new(2);
    for text in SOURCES {
        let words = module(text);
        let read = |words: &[u32]| {
            let il = Il { name: "mutant.spv", words, specialization: &[] };
            translate(&il, &Options::default(), &Emit::Ir)
        };
        // Kernels that device code enqueues are rejected.
        let is_supported = read(&words).is_ok();
        assert!(is_supported || text.contains("enqueue_kernel"), "the module itself is whole");
        let (mut whole, mut rejected) = (0, 0);
        for number in 0..count {
            let mutant = mutated(&words, &mut random);
            match panic::catch_unwind(|| read(&mutant)) {
                Ok(Ok(_)) => whole += 1,
                Ok(Err(problems)) => {
                    assert!(!problems.is_empty(), "mutant {number}: rejected without a reason");
                    rejected += 1;
                }
                Err(_) => panic!("mutant {number}: the reader panics, in a mutant of\n{text}"),
            }
        }
        assert!(
            (whole > 0 || !is_supported) && rejected > 0,
            "{whole} mutants are read, and {rejected} are rejected"
        );
    }
}
