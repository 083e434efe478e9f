// The examples of the page. The launch is in the comment at the beginning.
export const EXAMPLES = [
    {
        name: "A picture",
        source: `// The Mandelbrot set.
//
// kiln run --kernel mandelbrot --global 320,200 --arg buf:uchar4[64000] --arg int:60
kernel void mandelbrot(global uchar4 *pixels, int rounds)
{
    int x = get_global_id(0), y = get_global_id(1);
    int width = get_global_size(0), height = get_global_size(1);
    float2 c = (float2)(3.5f * x / width - 2.5f, 2.0f * y / height - 1.0f), z = 0.0f;
    int i = 0;
    while (i < rounds && dot(z, z) < 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        i++;
    }
    uchar shade = i == rounds ? 0 : 255 * i / rounds;
    pixels[y * width + x] = (uchar4)(shade, shade / 2, 255 - shade, 255);
}
`,
    },
    {
        name: "A data race",
        source: `// Every work-item reads what its neighbor writes. Without the barrier, nothing orders the accesses.
// Remove the comment from the barrier, and run it again.
//
// kiln run --kernel turn --global 8 --local 8 --arg buf:int[8]=iota --print out[0..8]
kernel void turn(global int *out)
{
    int i = get_local_id(0);
    int next = out[(i + 1) % 8];
    // barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = next;
}
`,
    },
    {
        name: "A message between work-groups",
        source: `// The first work-group publishes a value with release; the second one waits for it with acquire.
//
// kiln run --kernel pass --global 2 --local 1 --arg buf:int[1] --arg buf:int[1] --arg buf:int[1] --print out[0..1]
kernel void pass(global atomic_int *flag, global int *message, global int *out)
{
    if (get_group_id(0) == 0) {
        *message = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else {
        while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 0)
            ;
        *out = *message;
    }
}
`,
    },
    {
        name: "A scan with <kiln/scan.h>",
        source: `// Sums of all elements up to each one.
//
// kiln run --kernel scan --global 64 --arg buf:uint[1000]=iota --arg buf:uint[1000] --arg uint:1000 --arg buf:ulong[4] --print out[0..8]
#define KILN_NAME sum
#define KILN_TYPE uint
#define KILN_OP(a, b) ((a) + (b))
#define KILN_IDENTITY 0u
#include <kiln/scan.h>

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scan(const global uint *in, global uint *out, uint n, global ulong *state)
{
    local uint scratch[KILN_SCAN_SCRATCH];
    sum_scan_inclusive(in, out, n, state, scratch);
}
`,
    },
    {
        name: "A mistake",
        source: `// A store cannot have acquire order.
//
// kiln run --kernel publish --global 1 --arg buf:int[1]
kernel void publish(global atomic_int *flag)
{
    atomic_store_explicit(flag, 1, memory_order_acquire, memory_scope_device);
}
`,
    },
    {
        name: "printf",
        source: `// kiln run --kernel greet --global 4 --local 2
kernel void greet(void)
{
    printf("work-item %d of group %d\\n", (int)get_local_id(0), (int)get_group_id(0));
}
`,
    },
];
