//! Kernels that access memory, for `builtins`: copies of structures, images, atomic operations.

use crate::kernels::{Argument, Benchmark, Contents, Step, noise};

/// A kernel named `calls`. Its arguments are an object, then a zeroed buffer of 4 bytes for each work-item.
struct Row {
    name: &'static str,
    source: &'static str,
    object: Object,
}

enum Object {
    /// A buffer with this many bytes for each work-item.
    Buffer(usize),
    /// An RGBA image with 8 bits for each channel.
    Image,
}

/// Work-items.
const ITEMS: usize = 1 << 20;
/// The width and the height of the image.
const SIDE: usize = 2048;

const ROWS: &[Row] = &[
    Row {
        name: "copy, two float4, one changed",
        source: "typedef struct { float4 position, velocity; } body;
kernel void calls(global body *b, global uint *out) {
    size_t g = get_global_id(0);
    body x = b[g];
    x.position += x.velocity * 0.01f;
    b[g] = x;
}",
        object: Object::Buffer(32),
    },
    Row {
        name: "copy, members of several types",
        source: "typedef struct { float x, y; int n; uint m; long l; float z, w; } __attribute__((aligned(16))) body;
kernel void calls(global body *b, global uint *out) {
    size_t g = get_global_id(0);
    body x = b[g];
    x.n++;
    x.l += x.m;
    b[g] = x;
}",
        object: Object::Buffer(32),
    },
    Row {
        name: "copy, member by member",
        source: "typedef struct { float x, y, z, w; } __attribute__((aligned(16))) point;
kernel void calls(global point *p, global uint *out) {
    size_t g = get_global_id(0);
    p[g].x += 1;
    p[g].y += 2;
    p[g].z += 3;
    p[g].w += 4;
}",
        object: Object::Buffer(16),
    },
    Row {
        name: "copy, 128 bytes to another element",
        source: "typedef struct { float4 a[8]; } block;
kernel void calls(global block *b, global uint *out) {
    size_t g = get_global_id(0), half_of = get_global_size(0) / 2;
    if (g < half_of)
        b[g] = b[g + half_of];
}",
        object: Object::Buffer(128),
    },
    Row {
        name: "copy, aligned only as float",
        source: "typedef struct { float x, y, z, w; } point;
kernel void calls(global point *p, global uint *out) {
    size_t g = get_global_id(0);
    point x = p[g];
    x.y += x.z;
    p[g] = x;
}",
        object: Object::Buffer(16),
    },
    Row {
        name: "vload4 and vstore4 of float",
        source: "kernel void calls(global float *p, global uint *out) {
    size_t g = get_global_id(0);
    vstore4(vload4(g, p) * 2.0f, g, p);
}",
        object: Object::Buffer(16),
    },
    Row {
        name: "vload_half4 and vstore_half4",
        source: "kernel void calls(global half *p, global uint *out) {
    size_t g = get_global_id(0);
    vstore_half4(vload_half4(g, p) * 2.0f, g, p);
}",
        object: Object::Buffer(8),
    },
    Row {
        name: "image, 5 by 5 neighbors",
        source: "kernel void calls(read_only image2d_t image, global uint *out) {
    int g = get_global_id(0), x = g & 1023, y = g >> 10;
    float4 sum = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += read_imagef(image, (int2)(x + dx, y + dy)) * (float)(dx * 5 + dy);
    out[g] = as_uint(sum.x + sum.y + sum.z + sum.w);
}",
        object: Object::Image,
    },
    Row {
        name: "local tables, indexed by bytes",
        source: "kernel void calls(global const uint *words, global uint *out) {
    local uint table[1024];
    for (uint i = get_local_id(0); i < 1024; i += 256)
        table[i] = (words[i] + i) * 0x9e3779b9u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint left = get_global_id(0), right = ~left;
    for (int i = 0; i < 64; i++) {
        uint sum = table[left >> 24] + table[256 + (left >> 16 & 255)];
        uint next = ((sum ^ table[512 + (left >> 8 & 255)]) + table[768 + (left & 255)]) ^ right;
        right = left;
        left = next;
    }
    out[get_global_id(0)] = left ^ right;
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "calls with private arrays",
        source: "#define STEP(a, b, c, d, k) a += (b & c | ~b & d) + k + 0x5a827999u; a = rotate(a, 7u) + b; b ^= rotate(c, 13u);
void absorb(const uint *words, uint *state) {
    uint a = state[0], b = state[1], c = state[2], d = state[3];
    STEP(a, b, c, d, words[0]) STEP(d, a, b, c, words[1]) STEP(c, d, a, b, words[2]) STEP(b, c, d, a, words[3])
    STEP(a, b, c, d, words[4]) STEP(d, a, b, c, words[5]) STEP(c, d, a, b, words[6]) STEP(b, c, d, a, words[7])
    STEP(a, b, c, d, words[1]) STEP(d, a, b, c, words[3]) STEP(c, d, a, b, words[5]) STEP(b, c, d, a, words[7])
    state[0] += a; state[1] += b; state[2] += c; state[3] += d;
}
kernel void calls(global const uint *words, global uint *out) {
    uint g = get_global_id(0), key[8] = {g, 2, 3, 4, 5, 6, 7, words[g]}, block[8] = {0}, state[4] = {1, 2, 3, 4};
    for (int i = 0; i < 16; i++) {
        absorb(key, state);
        for (int k = 0; k < 4; k++)
            block[k] = state[k];
        absorb(block, state);
    }
    out[g] = state[0] ^ state[1] ^ state[2] ^ state[3];
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, relaxed addition",
        source: "kernel void calls(global atomic_int *a, global uint *out) {
    for (int i = 0; i < 64; i++)
        atomic_fetch_add_explicit(&a[get_global_id(0)], i, memory_order_relaxed, memory_scope_device);
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, acquire load",
        source: "kernel void calls(global atomic_int *a, global uint *out) {
    uint sum = 0;
    for (int i = 0; i < 64; i++)
        sum += atomic_load_explicit(&a[get_global_id(0)], memory_order_acquire, memory_scope_device);
    out[get_global_id(0)] = sum;
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, release store",
        source: "kernel void calls(global atomic_int *a, global uint *out) {
    for (int i = 0; i < 64; i++)
        atomic_store_explicit(&a[get_global_id(0)], i, memory_order_release, memory_scope_device);
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, seq_cst load",
        source: "kernel void calls(global atomic_int *a, global uint *out) {
    uint sum = 0;
    for (int i = 0; i < 64; i++)
        sum += atomic_load_explicit(&a[get_global_id(0)], memory_order_seq_cst, memory_scope_device);
    out[get_global_id(0)] = sum;
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, seq_cst store",
        source: "kernel void calls(global atomic_int *a, global uint *out) {
    for (int i = 0; i < 64; i++)
        atomic_store_explicit(&a[get_global_id(0)], i, memory_order_seq_cst, memory_scope_device);
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, relaxed local stores, with a seq_cst kernel",
        source: "kernel void other(global atomic_int *a, global uint *out) {
    out[get_global_id(0)] = atomic_load(&a[get_global_id(0)]);
}
kernel void calls(global int *a, global uint *out) {
    local atomic_int l[256];
    for (int i = 0; i < 64; i++)
        atomic_store_explicit(&l[get_local_id(0)], i, memory_order_relaxed, memory_scope_work_group);
    out[get_global_id(0)] = atomic_load_explicit(&l[get_local_id(0)], memory_order_relaxed, memory_scope_work_group);
}",
        object: Object::Buffer(4),
    },
    Row {
        name: "atomic, relaxed global stores, with a seq_cst kernel",
        source: "kernel void other(global atomic_int *a, global uint *out) {
    out[get_global_id(0)] = atomic_load(&a[get_global_id(0)]);
}
kernel void calls(global atomic_int *a, global uint *out) {
    for (int i = 0; i < 64; i++)
        atomic_store_explicit(&a[get_global_id(0)], i, memory_order_relaxed, memory_scope_work_group);
}",
        object: Object::Buffer(4),
    },
];

/// A loop that reads 16 texels in each work-item.
struct ImageRow {
    name: &'static str,
    /// Declares the coordinates `x` and `y` of work-item `g`, below 1024.
    place: &'static str,
    /// The properties of the sampler; empty for reads without one.
    sampler: &'static str,
    /// The coordinates of texel `i`.
    coordinates: &'static str,
}

/// The work-items of a group are side by side.
const BY_ROWS: &str = "x = g & 1023, y = g >> 10";
const BY_COLUMNS: &str = "x = g >> 10, y = g & 1023";
/// Groups are squares of 16 by 16 work-items.
const BY_SQUARES: &str = "l = get_local_id(0), square = g >> 8, x = (square & 63) * 16 + (l & 15), y = (square >> 6) * 16 + (l >> 4)";

const NEAREST: &str = "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST";
const LINEAR: &str = "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR";
const REPEAT: &str = "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR";
const INTEGER: &str = "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST";
const BORDER: &str = "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR";

const TEXELS: &str = "(int2)(x + i * 64, y + i * 64)";
const NORMALIZED: &str = "(float2)(x, y) / 1024.0f + i * 0.01f";
const REPEATED: &str = "(float2)(x, y) / 1024.0f + i * 0.1f";
const ROTATED: &str = "(float2)(x * 0.8f - y * 0.6f, x * 0.6f + y * 0.8f) / 1024.0f + i * 0.01f";
const BETWEEN: &str = "(float2)(x, y) + i * 64.5f";

const fn image(
    name: &'static str,
    place: &'static str,
    sampler: &'static str,
    coordinates: &'static str,
) -> ImageRow {
    ImageRow { name, place, sampler, coordinates }
}

const IMAGE_ROWS: &[ImageRow] = &[
    image("image, integer coordinates", BY_ROWS, "", TEXELS),
    image("image, integer coordinates, squares of work-items", BY_SQUARES, "", TEXELS),
    image("image, integer coordinates, columns of work-items", BY_COLUMNS, "", TEXELS),
    image("image, integer coordinates, sampler", BY_ROWS, INTEGER, TEXELS),
    image("image, normalized, nearest", BY_ROWS, NEAREST, NORMALIZED),
    image("image, normalized, nearest, squares of work-items", BY_SQUARES, NEAREST, NORMALIZED),
    image("image, normalized, linear, edge", BY_ROWS, LINEAR, NORMALIZED),
    image("image, normalized, linear, edge, columns of work-items", BY_COLUMNS, LINEAR, NORMALIZED),
    image("image, normalized, linear, edge, rotated", BY_ROWS, LINEAR, ROTATED),
    image("image, normalized, linear, repeat", BY_ROWS, REPEAT, REPEATED),
    image("image, normalized, linear, repeat, squares of work-items", BY_SQUARES, REPEAT, REPEATED),
    image("image, unnormalized, linear, border", BY_ROWS, BORDER, BETWEEN),
];

impl ImageRow {
    fn source(&self) -> String {
        let Self { place, sampler, coordinates, .. } = self;
        let (declaration, argument) = match *sampler {
            "" => (String::new(), ""),
            sampler => (format!("constant sampler_t s = {sampler};\n"), "s, "),
        };
        format!(
            "{declaration}kernel void calls(read_only image2d_t image, global uint *out) {{
    uint g = get_global_id(0), {place};
    float4 sum = 0;
    for (uint i = 0; i < 16; i++)
        sum += read_imagef(image, {argument}{coordinates});
    out[g] = as_uint(sum.x + sum.y + sum.z + sum.w);
}}"
        )
    }
}

/// A kernel of one of the tables.
pub(crate) struct Kernel {
    name: &'static str,
    source: String,
    object: &'static Object,
}

/// The kernels of both tables.
pub(crate) fn kernels() -> Vec<Kernel> {
    let rows =
        ROWS.iter().map(|row| Kernel { name: row.name, source: row.source.to_owned(), object: &row.object });
    let images =
        IMAGE_ROWS.iter().map(|row| Kernel { name: row.name, source: row.source(), object: &Object::Image });
    rows.chain(images).collect()
}

/// A kernel as a benchmark, with its name.
pub(crate) fn benchmark(kernel: &Kernel) -> (&str, Benchmark<'_>) {
    let object = match kernel.object {
        Object::Buffer(bytes) => Contents::Zeros(bytes * ITEMS),
        Object::Image => {
            let texels = noise(SIDE * SIDE).into_iter().flat_map(u32::to_le_bytes).collect();
            Contents::Image { size: [SIDE, SIDE], texels }
        }
    };
    let benchmark = Benchmark {
        name: kernel.name,
        source: &kernel.source,
        options: if kernel.source.contains("atomic_") { "-cl-std=CL3.0" } else { "" },
        buffers: vec![object, Contents::Zeros(4 * ITEMS)],
        steps: vec![Step {
            kernel: "calls",
            arguments: vec![Argument::Buffer(0), Argument::Buffer(1)],
            global: [ITEMS, 1],
            local: [256, 1],
        }],
        result: 1,
        check: Box::new(|_| Ok(())),
    };
    (kernel.name, benchmark)
}
