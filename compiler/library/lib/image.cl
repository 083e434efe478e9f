// The texels that a sampler reads, one dimension at a time (OpenCL API 8.2 and 8.3). Vulkan's samplers round differently, and
// support unnormalized coordinates only for some kinds of images. Positions outside 0 .. size - 1 have the border color.
//
// Defines: image_nearest image_lower image_upper image_weight image_layer image_border
// Defines: image_lod image_level image_between image_next image_extent image_spread image_detail
// Defines: image_gamma image_normalized

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

// Levels (cl_khr_mipmap_image). Bit 6 of a sampler is a linear filter between levels. Bits 8 to 19 are the least level of
// detail, and bits 20 to 31 the distance of the greatest from 0xfff, both in 256ths.
#define MIP_LINEAR(sampler) ((sampler) & 0x40)

// The level of detail within the limits of the sampler and of the image.
float image_lod_float(float lod, int levels, int sampler) {
    float least = (float)(sampler >> 8 & 0xfff) * 0.00390625f;
    float most = (float)(0xfff - (sampler >> 20 & 0xfff)) * 0.00390625f;
    return fmin(fmax(fmin(fmax(lod, least), most), 0.0f), (float)(levels - 1));
}

// The level that is read, or the first of two.
int image_level_float(float lod, int sampler) {
    return (int)(MIP_LINEAR(sampler) ? floor(lod) : ceil(lod + 0.5f) - 1.0f);
}

// The weight of the second level.
float image_between_float(float lod, int sampler) {
    return MIP_LINEAR(sampler) ? lod - floor(lod) : 0.0f;
}

// The second level.
int image_next_int(int level, int levels) {
    return min(level + 1, levels - 1);
}

// A dimension of a level. llvmpipe returns the size of the same level to all work-items that query it together.
int image_extent_int(int size, int level) {
    return max(size >> level, 1);
}

// A component of a gradient, in texels of the first level.
float image_spread_float(float gradient, int size, int sampler) {
    return NORMALIZED(sampler) ? gradient * (float)size : gradient;
}

// The level of detail of gradients with these squares of lengths.
float image_detail_float(float x, float y) {
    return 0.5f * native_log2(fmax(x, y));
}

// The last component of the border color: 1 for images without alpha.
int image_border_int(int order) {
    return order == CLK_R || order == CLK_RG || order == CLK_RGB || order == CLK_LUMINANCE || order == SRGB;
}

// OpenCL API 8.3.1.4: converts a linear channel to sRGB. NaN becomes 0.
float image_gamma_float(float c) {
    c = fmin(fmax(c, 0.0f), 1.0f);
    return c < 0.0031308f ? 12.92f * c : 1.055f * native_exp2(native_log2(c) * (1.0f / 2.4f)) - 0.055f;
}

// OpenCL API 8.3.1.1: rounds a channel of 8 bits to the nearest even value. Drivers round halves in either direction.
float image_normalized_float(float c) {
    return rint(fmin(fmax(c, 0.0f), 1.0f) * 255.0f) * (1.0f / 255.0f);
}
