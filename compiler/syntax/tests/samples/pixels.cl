// Images and colours: a blur, a histogram, a palette.
const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

union Colour {
    uint packed;
    uchar4 parts;
    struct { uchar r, g, b, a; } named;
};

typedef float (*unused_t)(float, int);

static float luma(float4 c) { return dot(c.xyz, (float3)(0.2126f, 0.7152f, 0.0722f)); }

uint pack(float4 c)
{
    union Colour colour;
    colour.parts = convert_uchar4_sat_rte(c * 255.0f);
    colour.named.a = 0xFF;
    return colour.packed;
}

kernel void blur(read_only image2d_t source, write_only image2d_t target, constant float *weights, int radius)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    float weight = 0;
    for (int y = -radius; y <= radius; y++) {
        for (int x = -radius; x <= radius; x++) {
            float w = weights[abs(x)] * weights[abs(y)];
            sum += w * read_imagef(source, nearest, at + (int2)(x, y));
            weight += w;
        }
    }
    if (weight > 0.0f) {
        sum /= weight;
    } else if (radius < 0) {
        sum = (float4)(1.0f).xyzw;
    } else {
        sum.w = 1.0f;
    }
    write_imagef(target, at, sum);
}

kernel void histogram(read_only image2d_t source, global uint *bins, local uint *counts)
{
    const int lid = get_local_id(0) + get_local_id(1) * get_local_size(0);
    const int size = get_local_size(0) * get_local_size(1);
    for (int i = lid; i < 256; i += size) counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = get_global_id(0), y = get_global_id(1);
    if (x < get_image_width(source) && y < get_image_height(source)) {
        float4 c = read_imagef(source, nearest, (int2)(x, y));
        int bin = clamp((int)(luma(c) * 256.0f), 0, 255);
        atomic_inc(&counts[bin]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = lid; i < 256; i += size) {
        if (!counts[i]) continue;
        atomic_add(&bins[i], counts[i]);
    }
}

kernel void palette(global uint *out, float phase)
{
    size_t i = get_global_id(0);
    float t = (float)i / 255.0f;
    float4 c = { t, t * t, sin(phase + t * 6.2831853f), 1.0f };
    float *first = &((float *)&c)[0];
    out[i] = i & 1 ? pack(c) : pack(c.zyxw) ^ ~(uint)sizeof(*first);
    goto done;
done:
    return;
}
