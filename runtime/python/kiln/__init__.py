"""Kiln: compiles OpenCL C to SPIR-V, and launches kernels on NumPy arrays.

>>> import kiln, numpy
>>> scale = kiln.Kernel('''
... kernel void scale(global float *data, float factor)
... {
...     data[get_global_id(0)] *= factor;
... }
... ''')
>>> data = numpy.arange(4, dtype=numpy.float32)
>>> scale(data, 0.5)
>>> data
array([0. , 0.5, 1. , 1.5], dtype=float32)
"""

from ._compiler import CompileError, Diagnostic, Fix, Location, Module, check, compile, version
from ._driver import Device, LaunchError, devices, opencl_icd
from ._kernel import Buffer, Kernel, Local

__version__ = version()
__all__ = [
    "Buffer",
    "CompileError",
    "Device",
    "Diagnostic",
    "Fix",
    "Kernel",
    "LaunchError",
    "Local",
    "Location",
    "Module",
    "check",
    "compile",
    "devices",
    "opencl_icd",
]

# Messages and documentation have the names that users write.
for _name in __all__:
    globals()[_name].__module__ = __name__
