"""Adds the native files to the wheel: the command, the two libraries, and the file by which PyOpenCL finds the driver.

Builds them by cargo, unless the variable KILN_BUILT names a folder that has them.
"""

import os
import pathlib
import platform
import re
import subprocess

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ["libkiln.so", "libkiln_opencl.so"]


def build() -> pathlib.Path:
    """Builds the files, and returns their folder."""
    packages = ["--package=kiln", "--package=kiln-capi", "--package=kiln-opencl"]
    subprocess.run(["cargo", "build", "--release", "--locked", *packages], cwd=ROOT, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def tag(files: "list[pathlib.Path]") -> str:
    """The wheel's tag: any Python 3, and the oldest C library that has all functions (PEP 600)."""
    used = [re.findall(rb"GLIBC_2\.(\d+)", file.read_bytes()) for file in files]
    newest = max(int(version) for versions in used for version in versions)
    return f"py3-none-manylinux_2_{max(newest, 17)}_{platform.machine()}"


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        folder = pathlib.Path(os.environ.get("KILN_BUILT") or build())
        files = [folder / name for name in ["kiln", *LIBRARIES]]
        build_data["pure_python"] = False
        build_data["tag"] = tag(files)
        build_data["shared_scripts"][str(files[0])] = "kiln"
        for file in files[1:]:
            build_data["force_include"][str(file)] = f"kiln/_native/{file.name}"
        # The loader in PyOpenCL's wheel reads this folder besides the system's.
        build_data["force_include"][str(ROOT / "runtime/python/kiln.icd")] = "pyopencl/.libs/kiln.icd"
