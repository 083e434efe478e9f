// The Buddhabrot: a histogram of the orbits that escape under the Mandelbrot iteration. Each work-item computes one orbit
// and counts its pixels with relaxed atomics at device scope, which lose no counts if several orbits hit one pixel.

#include "view.h"

// One round of the PCG hash: a random number from a counter.
static uint pcg(uint state)
{
    state = state * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

static float2 next(float2 z, float2 c)
{
    return (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
}

kernel void trace(struct view view, uint seed, global atomic_uint *hits)
{
    uint number = pcg((uint)get_global_id(0) ^ seed);
    float2 c = (float2)(pcg(number), pcg(number + 1u)) * 0x1p-32f;
    c = c * (float2)(3.5f, 3.2f) - (float2)(2.3f, 1.6f);

    // First determine whether and when the orbit escapes.
    float2 z = 0.0f;
    uint steps = 0;
    while (steps < MAX_STEPS && dot(z, z) < 16.0f) {
        z = next(z, c);
        ++steps;
    }
    if (steps == MAX_STEPS)
        return;

    z = c;
    for (uint step = 1; step < steps; ++step) {
        z = next(z, c);
        // The picture is upright: the real axis points down.
        float2 place = ((float2)(z.y, z.x) - (float2)(view.center.y, view.center.x)) / view.width;
        place = place * (float)view.columns + (float2)(view.columns, view.rows) * 0.5f;
        int2 pixel = convert_int2_rtn(place);
        if (all(pixel >= 0) && pixel.x < (int)view.columns && pixel.y < (int)view.rows)
            atomic_fetch_add_explicit(&hits[(uint)pixel.y * view.columns + (uint)pixel.x], 1u,
                                      memory_order_relaxed, memory_scope_device);
    }
}

kernel void brightest(global const uint *hits, global atomic_uint *most)
{
    uint of_group = work_group_reduce_max(hits[get_global_id(0)]);
    if (get_local_id(0) == 0)
        atomic_fetch_max_explicit(most, of_group, memory_order_relaxed, memory_scope_device);
}

// A pixel is four bytes: red, green, blue, alpha.
kernel void tone(global const uint *hits, global const uint *most, global uint *pixels)
{
    size_t i = get_global_id(0);
    float light = sqrt((float)hits[i] / (float)max(*most, 1u));
    float3 color = (float3)(light * light, light, sqrt(light)) * (float3)(0.9f, 0.95f, 1.0f);
    uint3 bytes = convert_uint3_sat_rte(color * 255.0f);
    pixels[i] = bytes.x | bytes.y << 8 | bytes.z << 16 | 0xff000000u;
}
