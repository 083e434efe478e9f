/* Spreads heat over a square field with cold edges.
 *
 * opencl/main.c runs this kernel with any OpenCL driver, and includes the same settings. rust/src/main.rs runs it on Vulkan.
 *
 * kiln run --kernel spread --global 4,4 --arg buf:float[16]=iota --arg buf:float[16] --arg struct:{4,0.25}
 *     --check to[5..7]=5,6 --check to[0]=1.25
 */
#include "settings.h"

static float cell(global const float *field, int x, int y, int size) {
    return x < 0 || y < 0 || x >= size || y >= size ? 0.0f : field[y * size + x];
}

kernel void spread(global const float *from, global float *to, settings with) {
    int x = get_global_id(0), y = get_global_id(1), size = with.size;
    float here = cell(from, x, y, size);
    float around = cell(from, x - 1, y, size) + cell(from, x + 1, y, size) + cell(from, x, y - 1, size) + cell(from, x, y + 1, size);
    to[y * size + x] = here + with.rate * (around - 4 * here);
}
