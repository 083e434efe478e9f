"""Adds two vectors with PyOpenCL on Kiln's platform.

    pip install kiln-opencl pyopencl
    python vector_sum.py
"""

import numpy
import pyopencl
import pyopencl.array

SOURCE = """
kernel void add(global const float *a, global const float *b, global float *sums)
{
    size_t i = get_global_id(0);
    sums[i] = a[i] + b[i];
}
"""

[platform] = [platform for platform in pyopencl.get_platforms() if platform.name == "Kiln"]
context = pyopencl.Context(platform.get_devices()[:1])
queue = pyopencl.CommandQueue(context)
program = pyopencl.Program(context, SOURCE).build()

random = numpy.random.default_rng(1)
a, b = (pyopencl.array.to_device(queue, random.random(50000, numpy.float32)) for _ in range(2))
sums = pyopencl.array.empty_like(a)
program.add(queue, sums.shape, None, a.data, b.data, sums.data)
assert numpy.array_equal(sums.get(), a.get() + b.get())
print("the sums are correct on", platform.name)
