"""The package, used rightly and wrongly. Needs a device; run with the folder of the package in PYTHONPATH."""

import doctest
import pathlib
import re
import tempfile
import threading
import unittest

import kiln
import numpy

ADD_ONE = "kernel void add_one(global int *p) { p[get_global_id(0)] += 1; }"


def load_tests(_loader, tests, _pattern):
    """Adds the examples in the documentation."""
    names = {"kiln": kiln, "numpy": numpy}
    tests.addTests(doctest.DocTestSuite(kiln, extraglobs=names))
    page = pathlib.Path(__file__).resolve().parents[3] / "docs/python.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), names, "python.md", str(page), 0)
    assert len(examples.examples) > 10
    tests.addTest(doctest.DocTestCase(examples))
    return tests


class Compile(unittest.TestCase):
    def test_options_are_checked(self):
        for arguments, message in [
            ({"options": "-frobnicate"}, "there is no option `-frobnicate`"),
            ({"environment": "cuda"}, "not 'cuda'"),
            ({"profile": "cuda"}, "the device profile `cuda` is neither"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                kiln.compile(ADD_ONE, **arguments)

    def test_macros(self):
        source = "kernel void k(global int *p) { *p = N + IS_ON; }"
        kiln.compile(source, "-Werror", defines={"N": 4, "IS_ON": True})

    def test_files_include_their_neighbors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "k.cl")
            path.write_text('#include "n.h"\nkernel void k(global int *p) { p[0] = N; }')
            path.with_name("n.h").write_text("#define N 7")
            self.assertEqual(kiln.compile(path).dependencies, (str(path.with_name("n.h")),))
            data = numpy.zeros(1, numpy.int32)
            kiln.Kernel(path)(data)
            self.assertEqual(data[0], 7)

    def test_an_exception_of_a_callback_arrives(self):
        def find(path):
            raise KeyError(path)

        with self.assertRaisesRegex(KeyError, "a.h"):
            kiln.compile('#include "a.h"', includes=find)

    def test_warnings_are_diagnostics(self):
        module = kiln.compile("kernel void k(void) { int unused; }", "-Wall")
        self.assertEqual([one.code for one in module.diagnostics], ["unused-variable"])
        self.assertEqual(module.diagnostics[0].severity, "warning")
        self.assertEqual(module.diagnostics[0].location.line, 1)

    def test_threads(self):
        sources = [f"kernel void k{i}(global int *p) {{ *p = {i}; }}" for i in range(8)]
        names = [None] * 8

        def work(i):
            names[i] = kiln.compile(sources[i]).kernels

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(names, [(f"k{i}",) for i in range(8)])


class Kernel(unittest.TestCase):
    def test_arrays_of_any_layout(self):
        add = kiln.Kernel(ADD_ONE)
        data = numpy.zeros((4, 6), numpy.int32)
        add(data[:, ::2])
        self.assertEqual(data.sum(), 12)
        self.assertTrue((data[:, ::2] == 1).all())
        empty = numpy.zeros(0, numpy.int32)
        add(empty, global_size=0)

    def test_one_array_as_two_arguments(self):
        copy = kiln.Kernel(
            "kernel void f(global const int *in, global int *out) { size_t i = get_global_id(0); out[i] = in[i] + 1; }"
        )
        data = numpy.arange(4, dtype=numpy.int32)
        copy(data, data)
        self.assertEqual(data.tolist(), [1, 2, 3, 4])

    def test_two_dimensions(self):
        fill = kiln.Kernel(
            "kernel void f(global int *p) { p[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_group_id(1); }"
        )
        data = numpy.zeros((4, 2), numpy.int32)
        fill(data, global_size=(2, 4), local_size=(2, 2))
        self.assertEqual(data.tolist(), [[0, 0], [0, 0], [1, 1], [1, 1]])

    def test_values(self):
        kernel = kiln.Kernel(
            """
            typedef struct { int a; float b; } Pair;
            kernel void f(global float *p, float3 v, uchar n, Pair pair)
            {
                p[0] = v.x + v.y + v.z; p[1] = n; p[2] = pair.a; p[3] = pair.b;
            }
            """
        )
        pair = numpy.array((7, 0.5), [("a", "i4"), ("b", "f4")])
        data = numpy.zeros(4, numpy.float32)
        kernel(data, (1, 2, 3), 255, pair.tobytes(), global_size=1)
        self.assertEqual(data.tolist(), [6, 255, 7, 0.5])
        for wrong in [((1, 2), 1, pair.tobytes()), ((1, 2, 3), 256, pair.tobytes()), ((1, 2, 3), 1, b"123")]:
            with self.assertRaises(TypeError):
                kernel(data, *wrong, global_size=1)

    def test_wrong_arguments(self):
        add = kiln.Kernel(ADD_ONE)
        with self.assertRaisesRegex(TypeError, "1 parameters, not 2"):
            add(1, 2)
        with self.assertRaisesRegex(TypeError, "needs a NumPy array"):
            add(1, global_size=1)
        with self.assertRaisesRegex(TypeError, "float32; `global int \\*` needs int32"):
            add(numpy.zeros(1, numpy.float32))
        fixed = numpy.zeros(1, numpy.int32)
        fixed.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            add(fixed)
        with self.assertRaisesRegex(ValueError, "one to three numbers"):
            add(numpy.zeros(1, numpy.int32), global_size=(1, 1, 1, 1))
        with self.assertRaisesRegex(kiln.LaunchError, "CL_INVALID_WORK_(GROUP|ITEM)_SIZE"):
            add(numpy.zeros(1, numpy.int32), local_size=1 << 30)

    def test_the_name_of_the_kernel(self):
        two = ADD_ONE + "kernel void other(global int *p) { }"
        with self.assertRaisesRegex(ValueError, "add_one, other"):
            kiln.Kernel(two)
        self.assertEqual(repr(kiln.Kernel(two, "other")), "<kiln.Kernel other(global int *)>")
        with self.assertRaisesRegex(kiln.CompileError, "`q`") as caught:
            kiln.Kernel("kernel void k(global int *p) { *p = q; }")
        self.assertEqual(caught.exception.diagnostics[0].code, "undeclared-name")

    def test_threads_share_a_kernel(self):
        add = kiln.Kernel(ADD_ONE)
        arrays = [numpy.full(100, i, numpy.int32) for i in range(4)]
        threads = [threading.Thread(target=add, args=(array,)) for array in arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, array in enumerate(arrays):
            self.assertTrue((array == i + 1).all())

    def test_buffers(self):
        add = kiln.Kernel(ADD_ONE, device="reference")
        buffer = kiln.Buffer(numpy.zeros((2, 2), numpy.int32), device="reference")
        add(buffer)
        add(buffer)
        self.assertEqual(buffer.read().tolist(), [[2, 2], [2, 2]])
        with self.assertRaisesRegex(ValueError, "4 elements of int32"):
            buffer.write(numpy.zeros(4))
        with self.assertRaisesRegex(ValueError, "there is no device 'abacus'"):
            kiln.Buffer(numpy.zeros(1), device="abacus")


if __name__ == "__main__":
    unittest.main()
