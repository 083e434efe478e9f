"""The driver: calls libkiln_opencl through the OpenCL API, without a loader. Must not depend on NumPy."""

from __future__ import annotations

import ctypes
import functools
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_ulong, c_void_p
from typing import Any

from ._compiler import NATIVE, CompileError

_LIBRARY = NATIVE / "libkiln_opencl.so"
_Notify = ctypes.CFUNCTYPE(None, c_char_p, c_void_p, c_size_t, c_void_p)

# The names of the errors that a launch can meet (OpenCL API, appendix F).
_ERRORS = {
    -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    -5: "CL_OUT_OF_RESOURCES",
    -6: "CL_OUT_OF_HOST_MEMORY",
    -11: "CL_BUILD_PROGRAM_FAILURE",
    -43: "CL_INVALID_BUILD_OPTIONS",
    -46: "CL_INVALID_KERNEL_NAME",
    -52: "CL_INVALID_KERNEL_ARGS",
    -54: "CL_INVALID_WORK_GROUP_SIZE",
    -55: "CL_INVALID_WORK_ITEM_SIZE",
    -61: "CL_INVALID_BUFFER_SIZE",
    -63: "CL_INVALID_GLOBAL_WORK_SIZE",
}
_BUILD_FAILURE = -11
_DEVICE_NOT_FOUND = -1


class LaunchError(RuntimeError):
    """A command failed on a device, or a kernel had undefined behavior on the reference device."""


def opencl_icd() -> str:
    """The path of the OpenCL driver, for loaders of OpenCL.

    PyOpenCL's wheel finds the driver by itself. Debian's loader and Khronos' find it by one of these variables:

        export OCL_ICD_VENDORS=$(python -c "import kiln; print(kiln.opencl_icd())")
        export OCL_ICD_FILENAMES=$(python -c "import kiln; print(kiln.opencl_icd())")
    """
    return str(_LIBRARY)


@functools.lru_cache(maxsize=None)
def _platform() -> tuple[Any, c_void_p]:
    """The function that finds functions, and the platform."""
    library = ctypes.CDLL(str(_LIBRARY))
    find = library.clIcdGetFunctionAddressForPlatformKHR
    find.restype, find.argtypes = c_void_p, (c_void_p, c_char_p)
    platform = c_void_p()
    _succeed("clIcdGetPlatformIDsKHR", library.clIcdGetPlatformIDsKHR(1, byref(platform), None))
    return find, platform


@functools.lru_cache(maxsize=None)
def _function(name: str, result: Any, *arguments: Any) -> Any:
    find, platform = _platform()
    return ctypes.CFUNCTYPE(result, *arguments)(find(platform, name.encode()))


def _succeed(name: str, code: int, messages: list[str] | None = None) -> None:
    if code != 0:
        reason = "\n".join(messages or [])
        if messages is not None:
            messages.clear()
        raise LaunchError(reason or f"{name} returned {_ERRORS.get(code, code)}")


class Device:
    """A device that runs kernels; `kiln.devices()` has all of them."""

    def __init__(self, handle: int, is_reference: bool) -> None:
        self.handle = handle
        self.is_reference = is_reference
        """Whether it is the reference device, which reports races and other undefined behavior."""
        self.name = self._name()
        """The name, as `kiln devices` prints it."""

    def _name(self) -> str:
        info = _function("clGetDeviceInfo", c_int, c_void_p, c_uint, c_size_t, c_void_p, c_void_p)
        size = c_size_t()
        _succeed("clGetDeviceInfo", info(self.handle, 0x102B, 0, None, byref(size)))
        text = ctypes.create_string_buffer(size.value)
        _succeed("clGetDeviceInfo", info(self.handle, 0x102B, size, text, None))
        return text.value.decode()

    def __repr__(self) -> str:
        return f"<kiln.Device {self.name!r}>"

    @functools.cached_property
    def context(self) -> Context:
        """The context and the queue of this device."""
        return Context(self)


@functools.lru_cache(maxsize=None)
def _devices() -> tuple[Device, ...]:
    _, platform = _platform()
    identify = _function("clGetDeviceIDs", c_int, c_void_p, c_ulong, c_uint, c_void_p, c_void_p)
    found: list[Device] = []
    # CL_DEVICE_TYPE_ALL, which does not include custom devices, and CL_DEVICE_TYPE_CUSTOM.
    for kind, is_reference in [(0xFFFFFFFF, False), (1 << 4, True)]:
        count = c_uint()
        code = identify(platform, kind, 0, None, byref(count))
        if code == _DEVICE_NOT_FOUND:
            continue
        _succeed("clGetDeviceIDs", code)
        handles = (c_void_p * count.value)()
        _succeed("clGetDeviceIDs", identify(platform, kind, count, handles, None))
        found.extend(Device(handle, is_reference) for handle in handles if handle is not None)
    return tuple(found)


def devices() -> list[Device]:
    """All devices: those of Vulkan first, then the reference device.

    >>> kiln.devices()[-1].is_reference
    True
    """
    return list(_devices())


def device(wanted: Device | str | None) -> Device:
    """The first device whose name contains this text; without a text, the first device."""
    if isinstance(wanted, Device):
        return wanted
    for known in _devices():
        if wanted is None or wanted in known.name or (wanted == "reference" and known.is_reference):
            return known
    names = ", ".join(repr(known.name) for known in _devices())
    raise ValueError(f"there is no device {wanted!r}; the devices are {names}")


class Context:
    """A context with an in-order queue. Contexts live as long as the process."""

    def __init__(self, device: Device) -> None:
        self.messages: list[str] = []
        self.lock = threading.RLock()
        # The driver calls it on another thread. It must live as long as the context.
        self._notify = _Notify(lambda text, *_: self.messages.append(text.decode()))
        code = c_int()
        create = _function(
            "clCreateContext", c_void_p, c_void_p, c_uint, c_void_p, _Notify, c_void_p, c_void_p
        )
        self.handle = create(
            None, 1, byref(c_void_p(device.handle)), self._notify, None, byref(code)
        )
        _succeed("clCreateContext", code.value)
        queue = _function("clCreateCommandQueue", c_void_p, c_void_p, c_void_p, c_ulong, c_void_p)
        self.queue = queue(self.handle, device.handle, 0, byref(code))
        _succeed("clCreateCommandQueue", code.value)
        self.device = device

    def succeed(self, name: str, code: int) -> None:
        """Raises an exception for an error code, with the driver's messages."""
        _succeed(name, code, self.messages)

    def buffer(self, size: int) -> int:
        """A new buffer. No buffer is empty (OpenCL API 5.2.1)."""
        create = _function("clCreateBuffer", c_void_p, c_void_p, c_ulong, c_size_t, c_void_p, c_void_p)
        code = c_int()
        handle = create(self.handle, 1, max(size, 1), None, byref(code))
        self.succeed("clCreateBuffer", code.value)
        return int(handle)

    def write(self, buffer: int, address: int, size: int) -> None:
        """Copies memory to a buffer."""
        self._transfer("clEnqueueWriteBuffer", buffer, address, size)

    def read(self, buffer: int, address: int, size: int) -> None:
        """Copies a buffer to memory."""
        self._transfer("clEnqueueReadBuffer", buffer, address, size)

    def _transfer(self, name: str, buffer: int, address: int, size: int) -> None:
        transfer = _function(
            name, c_int, c_void_p, c_void_p, c_uint, c_size_t, c_size_t, c_void_p, c_uint, c_void_p, c_void_p
        )
        if size != 0:
            self.succeed(name, transfer(self.queue, buffer, 1, 0, size, address, 0, None, None))

    def release(self, buffer: int) -> None:
        """Releases a buffer."""
        _function("clReleaseMemObject", c_int, c_void_p)(buffer)

    def program(self, source: str, options: str) -> int:
        """Builds a program."""
        create = _function("clCreateProgramWithSource", c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_void_p)
        text, code = source.encode(), c_int()
        size = c_size_t(len(text))
        program = create(self.handle, 1, byref(c_char_p(text)), byref(size), byref(code))
        self.succeed("clCreateProgramWithSource", code.value)
        build = _function("clBuildProgram", c_int, c_void_p, c_uint, c_void_p, c_char_p, c_void_p, c_void_p)
        status = build(program, 0, None, options.encode(), None, None)
        try:
            if status == _BUILD_FAILURE:
                raise CompileError(self._log(program))
            self.succeed("clBuildProgram", status)
        except Exception:
            self.release_program(program)
            raise
        return int(program)

    def _log(self, program: int) -> str:
        info = _function(
            "clGetProgramBuildInfo", c_int, c_void_p, c_void_p, c_uint, c_size_t, c_void_p, c_void_p
        )
        size = c_size_t()
        arguments = (program, self.device.handle, 0x1183)
        self.succeed("clGetProgramBuildInfo", info(*arguments, 0, None, byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.succeed("clGetProgramBuildInfo", info(*arguments, size, text, None))
        return text.value.decode()

    def kernel(self, program: int, name: str) -> int:
        """A kernel of a program."""
        code = c_int()
        create = _function("clCreateKernel", c_void_p, c_void_p, c_char_p, c_void_p)
        kernel = create(program, name.encode(), byref(code))
        self.succeed("clCreateKernel", code.value)
        return int(kernel)

    def release_kernel(self, kernel: int, program: int) -> None:
        """Releases a kernel and its program."""
        _function("clReleaseKernel", c_int, c_void_p)(kernel)
        self.release_program(program)

    def release_program(self, program: int) -> None:
        """Releases a program."""
        _function("clReleaseProgram", c_int, c_void_p)(program)

    def set_argument(self, kernel: int, index: int, size: int, value: Any) -> None:
        """Sets an argument: bytes, a buffer, or None for local memory."""
        set_argument = _function("clSetKernelArg", c_int, c_void_p, c_uint, c_size_t, c_void_p)
        if isinstance(value, int):
            value = byref(c_void_p(value))
        self.succeed("clSetKernelArg", set_argument(kernel, index, size, value))

    def launch(self, kernel: int, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> None:
        """Launches a kernel and waits for its end."""
        enqueue = _function(
            "clEnqueueNDRangeKernel",
            *(c_int, c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_void_p, c_uint, c_void_p, POINTER(c_void_p)),
        )
        sizes = (c_size_t * len(global_size))(*global_size)
        local = None if local_size is None else (c_size_t * len(local_size))(*local_size)
        event = c_void_p()
        code = enqueue(self.queue, kernel, len(global_size), None, sizes, local, 0, None, byref(event))
        self.succeed("clEnqueueNDRangeKernel", code)
        try:
            wait = _function("clWaitForEvents", c_int, c_uint, c_void_p)
            self.succeed("clWaitForEvents", wait(1, byref(event)))
        finally:
            _function("clReleaseEvent", c_int, c_void_p)(event)
