"""Compiles a SYCL source to a kernel module with DPC++, which the Python package intel-sycl-rt contains as the library libsycl-jit.

Usage: dpcpp.py FOLDER SOURCE MODULE. The folder has the files of intel-sycl-rt and of intel-cmplr-lib-rt, on which it depends.
"""

import ctypes
import pathlib
import sys

SPIRV = 2
SUCCESS = 0


class File(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("contents", ctypes.c_char_p)]


class Array(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Image(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_uint32),
        ("address_bits", ctypes.c_uint64),
        ("start", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        ("symbols", Array),
        ("properties", Array),
    ]


class Result(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_int),
        ("images", Array),
        ("options", ctypes.c_char_p),
        ("bitcode", Array),
        ("log", ctypes.c_char_p),
    ]


def library(folder, name, mode=ctypes.DEFAULT_MODE):
    paths = sorted(folder.rglob(name))
    if not paths:
        sys.exit(f"{folder} does not contain {name}")
    return ctypes.CDLL(str(paths[0]), mode=mode)


def main(folder, source, module):
    # The package is installed without paths to the libraries that it needs.
    for name in ["libintlc.so.5", "libimf.so", "libirng.so", "libsvml.so"]:
        library(pathlib.Path(folder), name, ctypes.RTLD_GLOBAL)
    compile_sycl = library(pathlib.Path(folder), "libsycl-jit.so").compileSYCL
    compile_sycl.restype = Result
    compile_sycl.argtypes = [File, Array, Array, Array, ctypes.c_bool, ctypes.c_uint32]
    none = Array(None, 0)
    text = pathlib.Path(source).read_bytes()
    result = compile_sycl(File(source.encode(), text), none, none, none, False, SPIRV)
    if result.code != SUCCESS:
        sys.exit(result.log.decode())
    images = (Image * result.images.size).from_address(result.images.start)
    if len(images) != 1:
        sys.exit(f"{len(images)} modules instead of one")
    pathlib.Path(module).write_bytes(ctypes.string_at(images[0].start, images[0].size))


main(*sys.argv[1:])
