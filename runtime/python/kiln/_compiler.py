"""The compiler: calls libkiln (docs/c-api.md)."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import pathlib
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from typing import Any, Callable, Iterable, Mapping, Optional, Union

NATIVE = pathlib.Path(__file__).with_name("_native")

_library = ctypes.CDLL(str(NATIVE / "libkiln.so"))

Source = Union[str, "os.PathLike[str]"]
Includes = Union[Mapping[str, str], Callable[[str], Optional[str]]]


class _Location(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("line", c_uint32),
        ("column", c_uint32),
        ("end_line", c_uint32),
        ("end_column", c_uint32),
        ("start", c_size_t),
        ("end", c_size_t),
    ]


class _Label(Structure):
    _fields_ = [("location", _Location), ("text", c_char_p)]


class _Fix(Structure):
    _fields_ = [("title", c_char_p), ("location", _Location), ("replacement", c_char_p)]


class _Diagnostic(Structure):
    _fields_ = [
        ("severity", c_uint32),
        ("code", c_char_p),
        ("message", c_char_p),
        ("location", _Location),
        ("label", c_char_p),
        ("labels", POINTER(_Label)),
        ("label_count", c_size_t),
        ("help", POINTER(c_char_p)),
        ("help_count", c_size_t),
        ("notes", POINTER(c_char_p)),
        ("note_count", c_size_t),
        ("fix", POINTER(_Fix)),
    ]


class _File(Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t), ("handle", c_void_p)]


_Find = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, POINTER(_File))


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_library, f"kiln_{name}")
    function.restype, function.argtypes = result, arguments
    return function


_version = _function("version", c_char_p)
_options_new = _function("options_new", c_void_p)
_options_free = _function("options_free", None, c_void_p)
_options_error = _function("options_error", c_char_p, c_void_p)
_options_parse = _function("options_parse", c_uint32, c_void_p, c_char_p)
_options_define = _function("options_define", c_uint32, c_void_p, c_char_p, c_char_p)
_set_environment = _function("options_set_environment", c_uint32, c_void_p, c_uint32)
_set_profile = _function("options_set_profile", c_uint32, c_void_p, c_char_p)
_set_output = _function("options_set_output", c_uint32, c_void_p, c_uint32)
_add_include_folder = _function("options_add_include_folder", c_uint32, c_void_p, c_char_p)
_set_callbacks = _function("options_set_include_callbacks", c_uint32, c_void_p, _Find, c_void_p, c_void_p)
_compile = _function("compile", c_void_p, c_char_p, c_size_t, c_char_p, c_void_p)
_result_free = _function("result_free", None, c_void_p)
_status = _function("result_status", c_uint32, c_void_p)
_words = _function("result_words", c_void_p, c_void_p)
_word_count = _function("result_word_count", c_size_t, c_void_p)
_interface = _function("result_interface", c_char_p, c_void_p)
_messages = _function("result_messages", c_char_p, c_void_p)
_diagnostic_count = _function("result_diagnostic_count", c_size_t, c_void_p)
_diagnostic = _function("result_diagnostic", POINTER(_Diagnostic), c_void_p, c_size_t)
_dependency_count = _function("result_dependency_count", c_size_t, c_void_p)
_dependency = _function("result_dependency", c_char_p, c_void_p, c_size_t)

_SUCCESS, _ERRORS, _INVALID_ARGUMENT = 0, 1, 2
_ENVIRONMENTS = {"vulkan": 0, "opencl": 1}
_SPIRV, _NOTHING = 0, 3


@dataclasses.dataclass(frozen=True)
class Location:
    """A range of a file. Lines and columns begin at 1; `start` and `end` are offsets of bytes."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclasses.dataclass(frozen=True)
class Fix:
    """A change of a file that repairs a mistake."""

    title: str
    location: Location
    replacement: str

    def apply(self, text: str) -> str:
        """The text of the file, changed."""
        data = text.encode()
        return (data[: self.location.start] + self.replacement.encode() + data[self.location.end :]).decode()


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message about a source. `kiln explain CODE` explains its code."""

    severity: str
    code: str
    message: str
    location: Location | None
    label: str
    labels: tuple[tuple[Location | None, str], ...]
    help: tuple[str, ...]
    notes: tuple[str, ...]
    fix: Fix | None

    def __str__(self) -> str:
        place = "" if self.location is None else f"{self.location}: "
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class CompileError(ValueError):
    """A source has errors. The text of the exception has them with source lines."""

    def __init__(self, messages: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(messages)
        self.diagnostics = diagnostics


@dataclasses.dataclass(frozen=True, repr=False)
class Module:
    """A compiled source."""

    spirv: bytes
    """The SPIR-V module, as the bytes of a file."""
    interface: dict[str, Any]
    """The kernels, their parameters and types, as `kiln compile --emit json` prints them."""
    diagnostics: tuple[Diagnostic, ...]
    """The warnings."""
    dependencies: tuple[str, ...]
    """The files that the source includes."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(kernel["name"] for kernel in self.interface["kernels"])

    def __repr__(self) -> str:
        return f"<kiln.Module of {', '.join(self.kernels) or 'no kernels'}, {len(self.spirv)} bytes>"


def version() -> str:
    """The version of the compiler."""
    return _text(_version())


def compile(
    source: Source,
    options: str = "",
    *,
    environment: str = "vulkan",
    profile: str | None = None,
    defines: Mapping[str, object] | None = None,
    include_folders: Iterable[str | os.PathLike[str]] = (),
    includes: Includes | None = None,
) -> Module:
    """Compiles a text, or the file at a `pathlib.Path`, to SPIR-V.

    `options` are those of `clBuildProgram` and clang, such as `-cl-std=CL3.0 -DN=4 -Wall -g -O0`. The environment is
    `vulkan` or `opencl`; the profile is the device that the module is for (`kiln compile --device-profile`). `includes`
    finds included files instead of the file system: a dictionary, or a function that returns a text or None.

    >>> module = kiln.compile('''
    ... #include "size.h"
    ... kernel void fill(global int *out) { out[get_global_id(0)] = SIZE; }
    ... ''', includes={"size.h": "#define SIZE 4"})
    >>> module.kernels
    ('fill',)
    >>> module.spirv[:4].hex()
    '03022307'

    A mistake in the source is an exception with diagnostics:

    >>> source = "kernel void half_of(global float *x) { x[0] = sqr(x[0]); }"
    >>> try:
    ...     kiln.compile(source)
    ... except kiln.CompileError as error:
    ...     for diagnostic in error.diagnostics:
    ...         print(diagnostic)
    kernel.cl:1:47: error[undeclared-function]: there is no function `sqr`
    """
    result = _run(source, options, environment, profile, defines, include_folders, includes, _SPIRV)
    if result.status != _SUCCESS:
        raise CompileError(result.messages, result.diagnostics)
    return Module(result.spirv, result.interface, result.diagnostics, result.dependencies)


def check(
    source: Source,
    options: str = "",
    *,
    environment: str = "opencl",
    profile: str | None = None,
    defines: Mapping[str, object] | None = None,
    include_folders: Iterable[str | os.PathLike[str]] = (),
    includes: Includes | None = None,
) -> list[Diagnostic]:
    """Returns the errors and warnings of a source, without compiling it to a module.

    >>> source = "kernel void f(global atomic_int *x) { atomic_store_explicit(x, 1, memory_order_acquire); }"
    >>> [mistake] = kiln.check(source)
    >>> mistake.code, mistake.help
    ('atomic-order-store', ('use memory_order_release to publish the writes before this store',))
    >>> print(mistake.fix.apply(source))
    kernel void f(global atomic_int *x) { atomic_store_explicit(x, 1, memory_order_release); }
    """
    result = _run(source, options, environment, profile, defines, include_folders, includes, _NOTHING)
    return list(result.diagnostics)


def text_of(source: Source) -> tuple[str, str]:
    """The name and the text of a source."""
    if isinstance(source, str):
        return "kernel.cl", source
    path = pathlib.Path(source)
    return str(path), path.read_text(encoding="utf-8")


def interface_of(source: Source, options: str) -> dict[str, Any]:
    """The interface of a source. Raises an exception if it has errors."""
    result = _run(source, options, "opencl", None, None, (), None, _NOTHING)
    if result.status != _SUCCESS:
        raise CompileError(result.messages, result.diagnostics)
    return result.interface


@dataclasses.dataclass
class _Result:
    status: int
    spirv: bytes
    interface: dict[str, Any]
    messages: str
    diagnostics: tuple[Diagnostic, ...]
    dependencies: tuple[str, ...]


def _run(
    source: Source,
    options: str,
    environment: str,
    profile: str | None,
    defines: Mapping[str, object] | None,
    include_folders: Iterable[str | os.PathLike[str]],
    includes: Includes | None,
    output: int,
) -> _Result:
    name, text = text_of(source)
    if environment not in _ENVIRONMENTS:
        raise ValueError(f"the environment is 'vulkan' or 'opencl', not {environment!r}")
    finder = _Finder(includes)
    handle = _options_new()
    try:

        def apply(status: int) -> None:
            if status != _SUCCESS:
                raise ValueError(_text(_options_error(handle)))

        apply(_set_environment(handle, _ENVIRONMENTS[environment]))
        if profile is not None:
            apply(_set_profile(handle, profile.encode()))
        for macro, value in (defines or {}).items():
            apply(_options_define(handle, macro.encode(), macro_value(value).encode()))
        for folder in include_folders:
            apply(_add_include_folder(handle, os.fspath(folder).encode()))
        apply(_options_parse(handle, options.encode()))
        if includes is not None:
            apply(_set_callbacks(handle, finder.function, None, None))
        apply(_set_output(handle, output))
        data = text.encode()
        result = _compile(data, len(data), name.encode(), handle)
    finally:
        _options_free(handle)
    try:
        if finder.error is not None:
            raise finder.error
        return _read(result)
    finally:
        _result_free(result)


def macro_value(value: object) -> str:
    """The text of a macro's value."""
    return str(int(value)) if isinstance(value, bool) else str(value)


class _Finder:
    """Finds included files for the compiler, and keeps their texts until it is deleted."""

    def __init__(self, includes: Includes | None) -> None:
        self.error: BaseException | None = None
        find = includes if callable(includes) else (includes or {}).get
        kept = []

        def function(_data: object, path: bytes, file: Any) -> int:
            # An exception cannot pass through the compiler.
            try:
                text = find(path.decode())
            except BaseException as error:
                self.error = error
                return 0
            if text is None:
                return 0
            kept.append(text.encode())
            file.contents.text, file.contents.length = kept[-1], len(kept[-1])
            return 1

        self.function = _Find(function)


def _read(result: int) -> _Result:
    """Copies a result."""
    if _status(result) not in (_SUCCESS, _ERRORS):
        error = ValueError if _status(result) == _INVALID_ARGUMENT else RuntimeError
        raise error(_text(_messages(result)))
    diagnostics = (_diagnostic(result, index).contents for index in range(_diagnostic_count(result)))
    dependencies = (_dependency(result, index) for index in range(_dependency_count(result)))
    interface = _interface(result)
    return _Result(
        status=_status(result),
        spirv=ctypes.string_at(_words(result), 4 * _word_count(result)) if _word_count(result) else b"",
        interface={} if interface is None else json.loads(interface),
        messages=_text(_messages(result)),
        diagnostics=tuple(map(_read_diagnostic, diagnostics)),
        dependencies=tuple(map(_text, dependencies)),
    )


def _read_diagnostic(data: _Diagnostic) -> Diagnostic:
    fix = None
    if data.fix:
        change = data.fix.contents
        place = _read_location(change.location)
        if place is not None:
            fix = Fix(_text(change.title), place, _text(change.replacement))
    labels = (data.labels[index] for index in range(data.label_count))
    return Diagnostic(
        severity="error" if data.severity else "warning",
        code=_text(data.code),
        message=_text(data.message),
        location=_read_location(data.location),
        label=_text(data.label),
        labels=tuple((_read_location(label.location), _text(label.text)) for label in labels),
        help=tuple(_text(data.help[index]) for index in range(data.help_count)),
        notes=tuple(_text(data.notes[index]) for index in range(data.note_count)),
        fix=fix,
    )


def _read_location(data: _Location) -> Location | None:
    if data.file is None:
        return None
    return Location(
        _text(data.file), data.line, data.column, data.end_line, data.end_column, data.start, data.end
    )


def _text(data: bytes) -> str:
    return data.decode()
