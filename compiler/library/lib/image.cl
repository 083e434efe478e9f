// The texels that a sampler reads, one dimension at a time (OpenCL API 8.2 and 8.3). Vulkan's samplers round differently, and
// support unnormalized coordinates only for some kinds of images. Positions outside 0 .. size - 1 have the border color.
//
// Defines: image_nearest image_lower image_upper image_weight image_layer image_border

#define NORMALIZED(sampler) ((sampler) & CLK_NORMALIZED_COORDS_TRUE)
// These macros exist since OpenCL C 2.0.
#define SRGB 0x10BF
#define MODE(sampler) ((sampler) & 0xe)

// The coordinate in texels.
float texels(float s, int size, int sampler) {
    if (!NORMALIZED(sampler))
        return s;
    if (MODE(sampler) == CLK_ADDRESS_REPEAT)
        s = s - floor(s);
    else if (MODE(sampler) == CLK_ADDRESS_MIRRORED_REPEAT)
        s = fabs(s - 2.0f * rint(0.5f * s));
    return s * (float)size;
}

// Converts a whole number of texels to an integer; values outside the image stay outside.
int whole(float u, int size) {
    return (int)fmin(fmax(u, -2.0f), (float)size + 1.0f);
}

int place(int i, int size, int sampler) {
    if (MODE(sampler) == CLK_ADDRESS_CLAMP)
        return i;
    if (MODE(sampler) == CLK_ADDRESS_REPEAT && i < 0)
        i += size;
    if (MODE(sampler) == CLK_ADDRESS_REPEAT && i >= size)
        i -= size;
    return min(max(i, 0), size - 1);
}

int image_nearest_float(float s, int size, int sampler) {
    return place(whole(floor(texels(s, size, sampler)), size), size, sampler);
}

// Integer coordinates are never normalized.
int image_nearest_int(int s, int size, int sampler) {
    return MODE(sampler) == CLK_ADDRESS_CLAMP ? s : min(max(s, 0), size - 1);
}

// The two texels of a linear filter, and the weight of the second.
int image_lower_float(float s, int size, int sampler) {
    return place(whole(floor(texels(s, size, sampler) - 0.5f), size), size, sampler);
}

int image_upper_float(float s, int size, int sampler) {
    return place(whole(floor(texels(s, size, sampler) - 0.5f), size) + 1, size, sampler);
}

float image_weight_float(float s, int size, int sampler) {
    float u = texels(s, size, sampler) - 0.5f;
    return u - floor(u);
}

// The layer of an array is never outside.
int image_layer_float(float s, int size) {
    return (int)fmin(fmax(rint(s), 0.0f), (float)(size - 1));
}

int image_layer_int(int s, int size) {
    return min(max(s, 0), size - 1);
}

// The last component of the border color: 1 for images without alpha.
int image_border_int(int order) {
    return order == CLK_R || order == CLK_RG || order == CLK_RGB || order == CLK_LUMINANCE || order == SRGB;
}
