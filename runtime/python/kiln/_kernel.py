"""Kernels as functions of NumPy arrays."""

from __future__ import annotations

import os
import weakref
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy
from numpy.typing import NDArray

from ._compiler import Source, interface_of, macro_value, text_of
from ._driver import Context, Device, device as find_device

Size = Union[int, Sequence[int]]

# The types of the elements that kernels read and write. C's names are those of the interface.
_TYPES = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
}


class Local:
    """The size in bytes of a `local` argument.

    >>> total = kiln.Kernel('''
    ... kernel void total(global const int *in, global int *out, local int *part)
    ... {
    ...     size_t i = get_local_id(0);
    ...     part[i] = in[i];
    ...     for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
    ...         barrier(CLK_LOCAL_MEM_FENCE);
    ...         if (i < step)
    ...             part[i] += part[i + step];
    ...     }
    ...     if (i == 0)
    ...         out[0] = part[0];
    ... }''')
    >>> out = numpy.zeros(1, numpy.int32)
    >>> total(numpy.arange(64, dtype=numpy.int32), out, kiln.Local(4 * 64), local_size=64)
    >>> int(out[0])
    2016
    """

    def __init__(self, size: int) -> None:
        self.size = size


class Buffer:
    """An array in the memory of a device, for several launches.

    >>> buffer = kiln.Buffer(numpy.ones(3, numpy.float32))
    >>> double = kiln.Kernel("kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }")
    >>> for _ in range(3):
    ...     double(buffer)
    >>> buffer.read()
    array([8., 8., 8.], dtype=float32)
    """

    def __init__(self, array: NDArray[Any], device: Device | str | None = None) -> None:
        self.context: Context = find_device(device).context
        self.dtype, self.shape, self.size, self.nbytes = array.dtype, array.shape, array.size, array.nbytes
        self.handle = self.context.buffer(array.nbytes)
        weakref.finalize(self, self.context.release, self.handle)
        self.write(array)

    def write(self, array: NDArray[Any]) -> None:
        """Copies an array of the same type and size to the device."""
        if (array.dtype, array.size) != (self.dtype, self.size):
            raise ValueError(f"the buffer has {self.size} elements of {self.dtype}, the array {array.size} of {array.dtype}")
        array = numpy.ascontiguousarray(array)
        self.context.write(self.handle, array.ctypes.data, array.nbytes)

    def read(self) -> NDArray[Any]:
        """Copies the buffer to a new array."""
        array: NDArray[Any] = numpy.empty(self.shape, self.dtype)
        self.context.read(self.handle, array.ctypes.data, array.nbytes)
        return array


class Kernel:
    """A kernel of a source, as a function.

    The source is a text, or the file at a `pathlib.Path`. The name can be omitted if there is only one kernel. The language is
    OpenCL C 2.0 unless the options say `-cl-std=`. The device is one of `kiln.devices()`, or a part of its name.

    The function takes NumPy arrays and `kiln.Buffer` for pointers, numbers and sequences for values, and `kiln.Local` for
    local memory. It copies arrays to the device and, unless the parameter is `const` or `constant`, back after the launch. The types of
    the elements must be those of the kernel. The global size is that of the first array unless it is given.

    >>> saxpy = kiln.Kernel('''
    ... kernel void saxpy(global float *y, global const float *x, float a)
    ... {
    ...     size_t i = get_global_id(0);
    ...     y[i] += a * x[i];
    ... }''')
    >>> y = numpy.ones(3, numpy.float32)
    >>> saxpy(y, numpy.array([1, 2, 3], numpy.float32), 10)
    >>> y
    array([11., 21., 31.], dtype=float32)
    >>> saxpy(y, numpy.zeros(3), 10)
    Traceback (most recent call last):
    TypeError: argument `x` has elements of float64; `global const float *` needs float32

    The reference device reports undefined behavior:

    >>> race = kiln.Kernel("kernel void race(global int *p) { *p = (int)get_global_id(0); }", device="reference")
    >>> race(numpy.zeros(1, numpy.int32), global_size=64) # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kiln.LaunchError: ...[data-race]...
    """

    def __init__(
        self,
        source: Source,
        name: str | None = None,
        options: str = "",
        *,
        device: Device | str | None = None,
        defines: Mapping[str, object] | None = None,
        include_folders: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        if "-cl-std=" not in options:
            options += " -cl-std=CL2.0"
        for macro, value in (defines or {}).items():
            options += f" -D {_quoted(f'{macro}={macro_value(value)}')}"
        # The driver gets the text of a file without its path, so its folder must be an include folder.
        beside = [] if isinstance(source, str) else [os.path.dirname(source) or "."]
        for folder in [*beside, *include_folders]:
            options += f" -I {_quoted(os.fspath(folder))}"
        interface = interface_of(source, options)
        kernels = {kernel["name"]: kernel for kernel in interface["kernels"]}
        if name is None and len(kernels) == 1:
            name = next(iter(kernels))
        if name is None or name not in kernels:
            known = ", ".join(kernels) or "none"
            raise ValueError(f"the kernel is {name!r}, but the kernels of the source are: {known}")
        self.name: str = name
        self.context: Context = find_device(device).context
        self._parameters = [_Parameter(one, interface["records"]) for one in kernels[name]["parameters"]]
        program = self.context.program(text_of(source)[1], options)
        try:
            self._handle = self.context.kernel(program, name)
        except Exception:
            self.context.release_program(program)
            raise
        weakref.finalize(self, self.context.release_kernel, self._handle, program)

    @property
    def device(self) -> Device:
        """The device that runs the kernel."""
        return self.context.device

    def __repr__(self) -> str:
        return f"<kiln.Kernel {self.name}({', '.join(one.type for one in self._parameters)})>"

    def __call__(self, *arguments: Any, global_size: Size | None = None, local_size: Size | None = None) -> None:
        """Launches the kernel and waits for its end. Sizes are numbers, or sequences of up to three numbers."""
        if len(arguments) != len(self._parameters):
            raise TypeError(f"{self.name} has {len(self._parameters)} parameters, not {len(arguments)}")
        if global_size is None:
            sizes = (one.size for one in arguments if isinstance(one, (numpy.ndarray, Buffer)))
            global_size = next(sizes, None)
            if global_size is None:
                raise TypeError("global_size is missing: no argument is an array")
        with self.context.lock, _Launch(self.context, self._handle) as launch:
            for index, (parameter, argument) in enumerate(zip(self._parameters, arguments)):
                launch.argument(index, parameter, argument)
            launch.run(_size(global_size), None if local_size is None else _size(local_size))


class _Parameter:
    """A parameter, as the interface describes it."""

    def __init__(self, data: dict[str, Any], records: list[dict[str, Any]]) -> None:
        self.name: str = data["name"]
        self.type: str = data["type"]
        self.kind: str = data["kind"]
        self.is_read_only: bool = data.get("read_only", False)
        self.size: int = data.get("size", 0)
        layout = data.get("layout")
        element = layout.get("vector") if isinstance(layout, dict) else layout
        self.element: numpy.dtype[Any] | None = None
        if isinstance(element, str) and element in _TYPES:
            self.element = numpy.dtype(_TYPES[element])
        self.record: int | None = None
        if isinstance(layout, dict) and "record" in layout:
            self.record = records[layout["record"]]["size"]

    def check(self, dtype: numpy.dtype[Any]) -> None:
        """Raises an exception unless elements of this type are those of the parameter."""
        if self.kind not in ("global", "constant"):
            raise TypeError(f"argument `{self.name}` is an array; the parameter is `{self.type}`")
        if self.element is not None and dtype != self.element:
            raise TypeError(f"argument `{self.name}` has elements of {dtype}; `{self.type}` needs {self.element}")
        if self.record is not None and dtype.itemsize not in (1, self.record):
            raise TypeError(
                f"argument `{self.name}` has elements of {dtype.itemsize} bytes; those of `{self.type}` have {self.record}"
            )

    def value(self, argument: Any) -> bytes:
        """The bytes of a value."""
        if self.kind != "value":
            wanted = "kiln.Local" if self.kind == "local" else "a NumPy array or kiln.Buffer"
            if self.kind not in ("local", "global", "constant"):
                wanted = "an object of PyOpenCL: launch this kernel there"
            raise TypeError(f"argument `{self.name}` is {type(argument).__name__}; `{self.type}` needs {wanted}")
        if self.element is None:
            data = bytes(argument)
            if len(data) != self.size:
                raise TypeError(f"argument `{self.name}` has {len(data)} bytes; `{self.type}` has {self.size}")
            return data
        data = self._converted(argument).tobytes()
        # Three components have the size of four (OpenCL C 6.3.5).
        if self.element.itemsize * 3 == len(data) and self.size == self.element.itemsize * 4:
            data += bytes(self.element.itemsize)
        if len(data) != self.size:
            raise TypeError(f"argument `{self.name}` has {len(data)} bytes; `{self.type}` has {self.size}")
        return data

    def _converted(self, argument: Any) -> NDArray[Any]:
        """A value with the type of the parameter. Numbers may be rounded to floats, but not to integers."""
        assert self.element is not None
        found = numpy.asarray(argument)
        if found.dtype.kind in "biuf":
            with numpy.errstate(over="ignore", invalid="ignore"):
                data = found.astype(self.element)
            if self.element.kind == "f" or numpy.array_equal(found, data):
                return data
        raise TypeError(f"argument `{self.name}` is {argument!r}, which is no `{self.type}`")


class _Launch:
    """The buffers of one launch."""

    def __init__(self, context: Context, kernel: int) -> None:
        self.context = context
        self.kernel = kernel
        self.buffers: dict[tuple[int, int], tuple[int, NDArray[Any]]] = {}
        self.results: list[tuple[int, NDArray[Any], NDArray[Any]]] = []

    def __enter__(self) -> _Launch:
        return self

    def __exit__(self, *_: object) -> None:
        for handle, _array in self.buffers.values():
            self.context.release(handle)

    def argument(self, index: int, parameter: _Parameter, argument: Any) -> None:
        """Sets an argument."""
        if isinstance(argument, Local) and parameter.kind == "local":
            self.context.set_argument(self.kernel, index, argument.size, None)
        elif isinstance(argument, Buffer):
            parameter.check(argument.dtype)
            if argument.context is not self.context:
                raise ValueError(f"argument `{parameter.name}` is on another device")
            self.context.set_argument(self.kernel, index, 8, argument.handle)
        elif isinstance(argument, numpy.ndarray) and parameter.kind != "value":
            parameter.check(argument.dtype)
            self.context.set_argument(self.kernel, index, 8, self.array(parameter, argument))
        else:
            data = parameter.value(argument)
            self.context.set_argument(self.kernel, index, len(data), data)

    def array(self, parameter: _Parameter, array: NDArray[Any]) -> int:
        """The buffer of an array. An array that is several arguments has one."""
        if not parameter.is_read_only and not array.flags.writeable:
            raise ValueError(f"argument `{parameter.name}` is read-only; the kernel may write to `{parameter.type}`")
        key = (array.ctypes.data, array.nbytes)
        if key not in self.buffers:
            copy = numpy.ascontiguousarray(array)
            handle = self.context.buffer(copy.nbytes)
            self.buffers[key] = (handle, copy)
            self.context.write(handle, copy.ctypes.data, copy.nbytes)
        handle, copy = self.buffers[key]
        if not parameter.is_read_only:
            self.results.append((handle, copy, array))
        return handle

    def run(self, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> None:
        """Launches the kernel, and copies back what it may have written."""
        self.context.launch(self.kernel, global_size, local_size)
        for handle, copy, array in self.results:
            self.context.read(handle, copy.ctypes.data, copy.nbytes)
            if copy is not array:
                array[...] = copy.reshape(array.shape)


def _size(size: Size) -> tuple[int, ...]:
    numbers = (size,) if isinstance(size, (int, numpy.integer)) else tuple(size)
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"a size has one to three numbers, not {len(numbers)}")
    return tuple(int(number) for number in numbers)


def _quoted(text: str) -> str:
    """A word of build options."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
