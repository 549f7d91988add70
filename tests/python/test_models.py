"""Units, models and sessions: what they tell, their lives, threads, and errors."""
import gc
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
import tensorcc

DOUBLE = "dim N in 0..64\nmodel double(x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }"
NORM = """
dim N in 1..512
model norm(x: f32[N, 96], w: f32[96, 64]) -> (y) { y = softmax(x @ w) }
"""
PICK = "model pick(x: f32[4], i: i64[2]) -> (y) {\n    y = gather(x, i)\n}\n"
CHOOSE = """tir 1
graph @choose {
  %0 = input index=0 name="p" : bool[]
  %1 = input index=1 name="x" : f32[4]
  %2 = cond %0, %1 : f32[4] {
    %0 = input index=0 name="" : f32[4]
    %1 = abs %0 : f32[4]
    return %1
  } {
    %0 = input index=0 name="" : f32[4]
    %1 = neg %0 : f32[4]
    return %1
  }
  return y = %2
}
"""
X = np.arange(4, dtype="f4")


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


class Compiling(Folder):
    def test_texts_and_files(self):
        path = self.write("double.g", DOUBLE)
        graph = self.write("double.tir", tensorcc.compile(DOUBLE, O=0, passes="inline").text("ir"))
        for source in (DOUBLE, DOUBLE.encode(), path, str(path), graph, graph.read_text()):
            self.assertEqual(tensorcc.compile(source).open()(X).y.tolist(), [0, 2, 4, 6])

    def test_regions(self):
        model = tensorcc.compile(CHOOSE).open()
        self.assertEqual((model(True, X).y.tolist(), model(False, X).y.tolist()), ([0, 1, 2, 3], [0, -1, -2, -3]))

    def test_path_of_a_text(self):
        with self.assertRaises(tensorcc.InvalidError) as caught:
            tensorcc.compile("model f() -> (y) { y = z }", path=self.folder / "place.g")
        self.assertEqual(caught.exception.diagnostics[0].path, str(self.folder / "place.g"))

    def test_options(self):
        names = {option.name for option in tensorcc.options()}
        self.assertLessEqual({"O", "D", "target", "fstrict-sums"}, names)
        unit = tensorcc.compile(DOUBLE, options={"O": 1}, D={"N": (2, 8, 4)}, fstrict_sums=True,
                                strip_info=False, entry=None)
        dim = unit.open().inputs[0].dims[0]
        self.assertEqual((dim.lo, dim.hi), (2, 8))
        self.assertEqual(tensorcc.compile(DOUBLE, D={"N": 8}).open().inputs[0].dims, (8,))
        self.assertEqual(tensorcc.compile(DOUBLE, D={"N": range(3, 6)}).open().inputs[0].dims[0].hi, 5)
        for wrong in ({"O": 9}, {"no_such": True}):
            with self.assertRaises(tensorcc.InvalidError):
                tensorcc.compile(DOUBLE, **wrong)

    def test_what_a_unit_tells(self):
        unit = tensorcc.compile(DOUBLE, dump_after=["fuse"])
        self.assertIn("graph @double", unit.text("ir"))
        self.assertIn("define", unit.text("llvm"))
        self.assertIn("graph @double", unit.dumps)
        self.assertTrue(unit.explain() and unit.explain("memory") in unit.explain())
        self.assertEqual(unit.diagnostics, [])
        with self.assertRaises(tensorcc.InvalidError):
            unit.text("no such level")

    def test_warnings(self):
        unit = tensorcc.compile("dim N in 1..9\ndim M in 1..9\nmodel f(x: f32[N], z: f32[M]) -> (y) { y = x + z }")
        warning = unit.diagnostics[0]
        self.assertEqual((warning.severity, warning.line), ("warning", 3))

    def test_check(self):
        unit = tensorcc.compile(NORM)
        random = np.random.default_rng(0)
        x, w = random.standard_normal((9, 96), "f4"), random.standard_normal((64, 96), "f4").T
        results = unit.check(x, w=w)
        self.assertEqual((results[-1].kernel, results[-1].output, results[-1].elements), ("norm", "y", 9 * 64))
        self.assertTrue(all(result.agrees for result in results))

    def test_write_and_load(self):
        unit = tensorcc.compile(DOUBLE)
        unit.write(self.folder / "double.so")
        unit.write_object(self.folder / "double.o")
        self.assertTrue((self.folder / "double.o").stat().st_size)
        model = tensorcc.load(self.folder / "double.so", threads=1)
        self.assertEqual(model(X).y.tolist(), [0, 2, 4, 6])
        self.assertEqual(model.metadata["model"], "double")
        self.assertEqual(json.loads(tensorcc.read_artefact(self.folder / "double.so")), model.metadata)
        self.assertIn("graph @double", tensorcc.read_artefact(self.folder / "double.so", "graph"))

    def test_references(self):
        self.assertIn("`neg(1 operand)`", tensorcc.reference("ops"))
        self.assertRegex(tensorcc.version(), r"^\d+\.\d+\.\d+$")
        self.assertEqual(tensorcc.version(), tensorcc.__version__)
        with self.assertRaises(tensorcc.InvalidError):
            tensorcc.reference("nothing")

    def test_load_needs_no_libtensorcc(self):
        tensorcc.compile(DOUBLE).write(self.folder / "double.so")
        code = ("import sys, tensorcc\n"
                f"print(tensorcc.load({str(self.folder / 'double.so')!r})([1, 2]).y.tolist())\n"
                "try: tensorcc.compile('x.g')\n"
                "except tensorcc.LibraryNotFoundError as error: print('TENSORCC_LIBRARY' in str(error))")
        environment = {**os.environ, "TENSORCC_LIBRARY": str(self.folder / "none.so")}
        result = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
        self.assertEqual((result.stdout, result.stderr), ("[2.0, 4.0]\nTrue\n", ""))


class Errors(Folder):
    def test_places(self):
        with self.assertRaises(tensorcc.InvalidError) as caught:
            tensorcc.compile("model f(x: f32[4]) -> (y) {\n    y = relu(x) + z\n    w = x @ [1]\n}", path="f.g")
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        first = error.diagnostics[0]
        self.assertEqual((first.severity, first.id, first.path, first.line, first.column),
                         ("error", "unknown-name", "f.g", 2, 19))
        self.assertEqual((error.id, error.status), ("unknown-name", 1))
        self.assertIn("f.g:2:19: error: there is no 'z' [unknown-name]\n    2 |", str(error))
        self.assertGreater(len({d.line for d in error.diagnostics}), 1)

    def test_of_the_environment(self):
        for make in (lambda: tensorcc.compile(self.folder / "none.g"),
                     lambda: tensorcc.compile(DOUBLE).write(self.folder / "none" / "x.so"),
                     lambda: tensorcc.load(self.folder / "none.so")):
            with self.assertRaisesRegex(tensorcc.EnvironmentError, "none") as caught:
                make()
            self.assertIsInstance(caught.exception, OSError)

    def test_names_with_a_zero_byte(self):
        unit = tensorcc.compile(DOUBLE)
        for call in (lambda: unit.write(self.folder / "a\0b.so"), lambda: unit.text("ir\0"),
                     lambda: unit.open(device="cpu\0"), lambda: tensorcc.compile(DOUBLE, D="N=2\0"),
                     lambda: tensorcc.compile(DOUBLE, path="a\0b.g"),
                     lambda: tensorcc.Graph("g").input("a\0b", "f32", [4])):
            with self.assertRaisesRegex(tensorcc.InvalidError, "a zero byte in"):
                call()
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_of_runs(self):
        model = tensorcc.compile(DOUBLE).open()
        with self.assertRaises(tensorcc.InvalidError) as caught:
            model(np.zeros(65, "f4"))
        self.assertEqual(caught.exception.id, "dim-range")
        for arguments, words in (((np.zeros(4),), "input 'x': the dtype is float64, not f32"),
                                 ((np.zeros(4, ">f4"),), "order"), ((["a"],), "input 'x'")):
            with self.assertRaisesRegex(tensorcc.InvalidError, words):
                model(*arguments)
        self.assertEqual(model(X).y.tolist(), [0, 2, 4, 6])

    def test_of_calls(self):
        model = tensorcc.compile(DOUBLE).open()
        for call, words in ((lambda: model(), "no value for input 'x'"), (lambda: model(X, X), "2 were given"),
                            (lambda: model(z=X), "no input 'z': it has x"), (lambda: model(X, x=X), "twice")):
            with self.assertRaisesRegex(TypeError, words):
                call()

    def test_of_indices(self):
        model = tensorcc.compile(PICK, path="pick.g").open()
        self.assertEqual(model(X, np.array([3, -4])).y.tolist(), [3, 0])
        with self.assertRaisesRegex(tensorcc.IndexOutOfRangeError, "pick.g:2") as caught:
            model(X, np.array([0, 4]))
        self.assertIsInstance(caught.exception, IndexError)

    def test_no_model(self):
        path = self.write("empty.c", "int nothing;\n")
        subprocess.run(["cc", "-shared", "-o", self.folder / "empty.so", path], check=True)
        with self.assertRaisesRegex(tensorcc.InvalidError, "no compiled model"):
            tensorcc.load(self.folder / "empty.so")

    def test_closed(self):
        unit = tensorcc.compile(DOUBLE)
        with unit.open() as model, model.session() as session:
            session(X)
        unit.close()
        for use in (lambda: model(X), lambda: session(X), model.session, unit.open, lambda: unit.text("ir")):
            with self.assertRaisesRegex(tensorcc.InvalidError, "is closed"):
                use()


class Lives(Folder):
    def handles(self):
        unit = tensorcc.compile(NORM)
        unit.write(self.folder / "norm.so")
        loaded = tensorcc.load(self.folder / "norm.so")
        model = unit.open()
        return {"unit": unit, "model": model, "session": model.session(), "loaded": loaded,
                "loaded session": loaded.session()}

    def test_closed_in_any_order(self):
        x, w = np.ones((3, 96), "f4"), np.ones((96, 64), "f4")
        for order in itertools.islice(itertools.permutations(range(5)), 0, None, 7):
            handles = list(self.handles().values())
            left = set(order)
            for i in order:
                handles[i].close()
                left.discard(i)
                for session in left & {2, 4}:
                    self.assertEqual(handles[session](x, w).y.shape, (3, 64))

    def test_dropped_in_any_order(self):
        x, w = np.ones((3, 96), "f4"), np.ones((96, 64), "f4")
        for order in itertools.islice(itertools.permutations(("unit", "model", "session", "loaded",
                                                              "loaded session")), 0, None, 11):
            handles = self.handles()
            for name in order:
                del handles[name]
                gc.collect()
                for session in ("session", "loaded session"):
                    if session in handles:
                        handles[session](x, w)

    def test_dropped_as_a_cycle(self):
        for _ in range(3):
            handles = self.handles()
            handles["model"](np.ones((1, 96), "f4"), np.ones((96, 64), "f4"))
            handles["itself"] = handles
            del handles
            gc.collect()

    def test_alive_at_the_end_of_the_interpreter(self):
        code = (f"import tensorcc\nunit = tensorcc.compile({DOUBLE!r})\nmodel = unit.open()\n"
                "session = model.session()\nprint(session([1]).y, model([2]).y)")
        result = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "[2.] [4.]\n", ""))

    def test_nothing_leaks(self):
        def once():
            unit = tensorcc.compile(DOUBLE, O=1)
            model = unit.open()
            model(X), model.session()(X)
            loaded = tensorcc.load(path, threads=1)
            for _ in range(20):
                loaded(X)
            with self.assertRaises(tensorcc.InvalidError):
                tensorcc.compile("model f() -> (y) { y = z }")

        path = self.folder / "double.so"
        tensorcc.compile(DOUBLE).write(path)
        for _ in range(20):
            once()
        gc.disable()  # all of it is freed by counting references
        self.addCleanup(gc.enable)
        before = resident()
        for _ in range(60):
            once()
        self.assertLess(resident() - before, 3 << 20)


def resident():
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


class Threads(unittest.TestCase):
    def in_threads(self, body, count=8):
        failures = []

        def guarded(index):
            try:
                body(index)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def setUp(self):
        self.model = tensorcc.compile(NORM).open(threads=2)
        random = np.random.default_rng(3)
        self.w = random.standard_normal((96, 64)).astype("f4")
        self.x = [random.standard_normal((17 + i, 96)).astype("f4") for i in range(8)]
        self.expected = [self.model(x, self.w).y for x in self.x]

    def test_a_session_each(self):
        def body(index):
            with self.model.session() as session:
                for _ in range(30):
                    self.assertEqual(session(self.x[index], self.w).y.tobytes(), self.expected[index].tobytes())

        self.in_threads(body)

    def test_calls_of_one_model(self):
        def body(index):
            for _ in range(30):
                self.assertEqual(self.model(self.x[index], self.w).y.tobytes(), self.expected[index].tobytes())

        self.in_threads(body)

    def test_one_session_for_all(self):
        session = self.model.session()

        def body(index):
            for _ in range(10):
                self.assertEqual(session(self.x[index], self.w).y.tobytes(), self.expected[index].tobytes())

        self.in_threads(body)
        self.assertGreater(session.info.launches, 0)

    def test_compiling(self):
        unit = tensorcc.compile(NORM, O=0)

        def body(index):
            scale = float(index + 1)
            model = tensorcc.compile(f"model f(x: f32[3]) -> (y) {{ y = x * {scale} }}").open(threads=1)
            self.assertEqual(model(np.ones(3, "f4")).y.tolist(), [scale] * 3)
            self.assertIn("graph @norm", unit.text("ir"))

        self.in_threads(body)
