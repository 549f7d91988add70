"""The package as others get it: a wheel beside an installed library; docs/python.md; type hints."""
import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tensorcc

TOP = Path.cwd()
PACKAGE = TOP / "bindings" / "python"
BUILD = TOP / os.environ.get("BUILD", "build")
HELLO = "import tensorcc; print(tensorcc.compile('model f(x: f32[2]) -> (y) { y = x + 1.0 }').open()([1, 2]).y)"


def python(*words, **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TENSORCC_LIBRARY")}
    return subprocess.run([sys.executable, *map(str, words)], env={**kept, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/")


class Wheel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_installed(self):
        for module in ("pip", "setuptools", "wheel"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"{module} is not installed")
        source, site, prefix = (self.folder / name for name in ("source", "site", "prefix"))
        shutil.copytree(PACKAGE, source)
        made = python("-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir",
                      self.folder, source)
        self.assertEqual(made.returncode, 0, made.stdout)
        wheel, = self.folder.glob("tensorcc-*-py3-none-any.whl")
        put = python("-m", "pip", "install", "--no-deps", "--no-index", "--no-build-isolation", "--target", site, wheel)
        self.assertEqual(put.returncode, 0, put.stdout)
        self.assertTrue((site / "tensorcc" / "py.typed").exists())
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        library, = prefix.rglob("libtensorcc.so")
        self.finds_its_library(site, library)

    def finds_its_library(self, site, library):
        """By the variable, where the loader looks, beside the package; else it says what to do."""
        good = "[2. 3.]\n"
        self.assertEqual(python("-c", HELLO, PYTHONPATH=str(site), TENSORCC_LIBRARY=str(library)).stdout, good)
        self.assertEqual(python("-c", HELLO, PYTHONPATH=str(site), LD_LIBRARY_PATH=str(library.parent)).stdout, good)
        lost = python("-c", HELLO, PYTHONPATH=str(site))
        self.assertIn("LibraryNotFoundError: could not load libtensorcc: set TENSORCC_LIBRARY", lost.stdout)
        shutil.copy(library, site / "tensorcc" / "libtensorcc.so")
        self.assertEqual(python("-c", HELLO, PYTHONPATH=str(site)).stdout, good)
        wrong = python("-c", HELLO, PYTHONPATH=str(site), TENSORCC_LIBRARY="/nowhere/libtensorcc.so")
        self.assertIn("LibraryNotFoundError", wrong.stdout)
        other = python("-c", HELLO, PYTHONPATH=str(site), TENSORCC_LIBRARY=self.other_library())
        self.assertIn("it is not a libtensorcc of this version", other.stdout)

    def other_library(self):
        path = self.folder / "other.so"
        subprocess.run(["cc", "-shared", "-x", "c", "-o", path, "-"], input=b"int other;\n", check=True)
        return str(path)


class Page(unittest.TestCase):
    """Blocks of python in docs/python.md run one after the other; a block of text is what the one
    before it prints, `…` standing for any text."""

    def test_page(self):
        page = (TOP / "docs" / "python.md").read_text()
        names = {"__name__": "page"}
        printed = ""
        blocks = re.findall(r"^```(python|text)[^\n]*\n(.*?)^```$", page, re.M | re.S)
        self.assertGreater(len(blocks), 10)
        with tempfile.TemporaryDirectory() as scratch, folder(scratch):
            for language, body in blocks:
                if language == "python":
                    output = io.StringIO()
                    with contextlib.redirect_stdout(output):
                        exec(compile(body, "page.py", "exec"), names)
                    printed = output.getvalue()
                else:
                    pattern = ".*".join(map(re.escape, body.split("…")))
                    self.assertRegex(printed, re.compile(rf"\A{pattern}\Z", re.S))

    def test_first_model_is_short(self):
        page = (TOP / "docs" / "python.md").read_text()
        first = re.search(r"^```python[^\n]*\n(.*?)^```$", page, re.M | re.S).group(1)
        self.assertLessEqual(len(first.splitlines()), 10)

    def test_names_are_explained(self):
        page = (TOP / "docs" / "python.md").read_text()
        dtypes = {*tensorcc.dtypes.BY_NAME, "bool_"}
        missing = [name for name in tensorcc.__all__ if name not in dtypes and not re.search(rf"\b{name}\b", page)]
        self.assertEqual(missing, [])


@contextlib.contextmanager
def folder(path):
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


class Names(unittest.TestCase):
    def test_all(self):
        self.assertEqual(sorted(tensorcc.__all__), tensorcc.__all__)
        for name in tensorcc.__all__:
            self.assertTrue(hasattr(tensorcc, name), name)

    def test_structs_are_those_of_the_headers(self):
        """Sizes and offsets of every field, by the C compiler."""
        from tensorcc import capi
        lines = ["#include <stdio.h>", "#include <tcc/graph.h>", "int main(void) {"]
        structs = {"tcc_tensor": capi.Tensor, "tcc_port": capi.Port, "tcc_open_options": capi.OpenOptions,
                   "tcc_run_info": capi.RunInfo, "tcc_option": capi.Option, "tcc_diagnostic": capi.Diagnostic,
                   "tcc_check_result": capi.CheckResult, "tcc_model_api": capi.ModelApi,
                   "tcc_call": capi.Call, "tcc_value_info": capi.ValueInfo}
        expected = []
        for name, struct in structs.items():
            for field, *_ in struct._fields_:
                lines.append(f'printf("%zu ", offsetof({name}, {field}));')
                expected.append(getattr(struct, field).offset)
            lines.append(f'printf("%zu ", sizeof({name}));')
            expected.append(tensorcc.model.c.sizeof(struct))
        lines.append("return 0; }")
        with tempfile.TemporaryDirectory() as scratch:
            program = Path(scratch) / "sizes"
            subprocess.run(["cc", "-include", "stddef.h", "-x", "c", f"-I{TOP}/include", "-o", program, "-"],
                           input="\n".join(lines).encode(), check=True)
            found = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(list(map(int, found.split())), expected)

    def test_functions_are_those_of_the_headers(self):
        from tensorcc import capi
        headers = "".join((TOP / "include" / "tcc" / name).read_text() for name in ("tcc.h", "graph.h"))
        declared = set(re.findall(r"\b(tcc_\w+)\(", headers))
        self.assertLessEqual(set(capi.FUNCTIONS), declared)
        codes = re.findall(r"^    TCC_(\w+),?$", re.search(r"enum tcc_dtype \{(.*?)\}", (
            TOP / "include" / "tcc" / "model.h").read_text(), re.S).group(1), re.M)
        self.assertEqual([code.lower() for code in codes], [dtype.name for dtype in tensorcc.dtypes.ALL])

    def test_type_hints(self):
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as scratch:
            found = python("-m", "mypy", "--strict", "--cache-dir", scratch, PACKAGE / "tensorcc")
        self.assertEqual(found.returncode, 0, found.stdout)
