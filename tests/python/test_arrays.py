"""Arrays in and out: dtypes, strides, shapes, out=, DLPack."""
import ctypes
import unittest

import numpy as np
import tensorcc
from tensorcc import dlpack

DIMS = "dim N in 0..64\ndim M in 0..64\n"


def copies(dtype, dims="N, M"):
    text = f"{DIMS}model copies(x: {dtype}[{dims}]) -> (y: {dtype}[{dims}]) {{ y = x }}"
    return tensorcc.compile(text).open(threads=1)


def values(dtype, shape, seed=0):
    """All kinds of bits, but those of NaN, whose payload is nobody's promise."""
    random = np.random.default_rng(seed)
    if dtype.name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.is_packed:
        low = -8 if dtype.name == "i4" else 0
        return random.integers(low, low + 16, shape).astype(dtype.numpy)
    bits = random.integers(0, 256, (*shape, dtype.bits // 8)).astype(np.uint8)
    if "f" in dtype.name:
        bits[..., -1] &= 0xBF
    return np.ascontiguousarray(bits).view(dtype.numpy).reshape(shape)


class RoundTrips(unittest.TestCase):
    def test_dtypes(self):
        for dtype in tensorcc.dtypes.ALL:
            with self.subTest(dtype=dtype.name):
                model = copies(dtype)
                for shape in ((3, 5), (1, 1), (0, 4), (7, 8)):
                    x = values(dtype, shape)
                    y = model(x).y
                    self.assertEqual((y.dtype, y.shape), (dtype.numpy, shape))
                    self.assertEqual(y.tobytes(), x.tobytes())

    def test_numbers_of_each_dtype(self):
        for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"):
            text = f"model twice(x: {name}[3]) -> (y) {{ y = x + x }}"
            y = tensorcc.compile(text).open()(np.array([1, 2, 3], tensorcc.dtypes.of(name).numpy)).y
            self.assertEqual(y.tolist(), [2, 4, 6], name)

    def test_nibbles_are_values(self):
        model = tensorcc.compile("model wide(x: i4[5], z: u4[5]) -> (y, w) { y = i8(x); w = u8(z) }").open()
        x, z = np.array([-8, -1, 0, 1, 7], "i1"), np.array([0, 1, 8, 9, 15], "u1")
        y = model(x, z)
        self.assertEqual((y.y.tolist(), y.w.tolist()), (x.tolist(), z.tolist()))

    def test_bits_of_bf16(self):
        model = tensorcc.compile("model up(x: bf16[2]) -> (y) { y = f32(x) }").open()
        self.assertEqual(model(np.array([0x3F80, 0xC040], "u2")).y.tolist(), [1.0, -3.0])

    def test_numbers_and_lists(self):
        model = tensorcc.compile("model f(x: f32[2, 2], s: i64) -> (y) { y = x * f32(s) }").open()
        self.assertEqual(model([[1, 2], [3, 4]], 3).y.tolist(), [[3, 6], [9, 12]])
        self.assertEqual(model([[1, 2], [3, 4]], np.int64(3)).y.tolist(), [[3, 6], [9, 12]])


class Strides(unittest.TestCase):
    def setUp(self):
        self.model = copies("f32")

    def views(self):
        base = np.arange(4 * 6 * 2, dtype="f4").reshape(4, 6, 2)
        record = np.zeros((4, 6), [("a", "f4"), ("b", "i1")])
        record["a"] = np.arange(24).reshape(4, 6)
        raw = np.arange(4 * 24 + 1, dtype="u1")[1:].view("f4").reshape(4, 6)
        return {
            "dense": base[:, :, 0].copy(), "every second": base[:, :, 1], "reversed": base[::-1, ::-1, 0],
            "one reversed": base[:, ::-1, 1], "transposed": base[:, :, 0].T, "steps": base[::2, 1::2, 0],
            "a row spread": np.broadcast_to(base[0, :, 0], (5, 6)),
            "a column spread": np.broadcast_to(base[:, :1, 0], (4, 9)),
            "one element spread": np.broadcast_to(np.float32(7), (3, 4)), "unaligned": raw,
            "no whole strides": record["a"], "one row": base[1:2, ::3, 0], "empty": base[:0, :, 0],
        }

    def test_inputs(self):
        for name, x in self.views().items():
            with self.subTest(name):
                self.assertEqual(self.model(x).y.tobytes(), np.ascontiguousarray(x).tobytes())

    def test_outputs(self):
        for name, view in self.views().items():
            if "spread" in name:
                continue
            with self.subTest(name):
                x = np.random.default_rng(1).random(view.shape).astype("f4")
                out = np.ndarray(view.shape, "f4", bytearray(4096), 2048, view.strides)
                y = self.model(x, out=out).y
                self.assertIs(y, out)
                self.assertEqual(y.tolist(), x.tolist())

    def test_nothing_beside_an_output_is_written(self):
        around = np.full((9, 9), 5, "f4")
        self.model(np.ones((3, 3), "f4"), out=around[2:8:2, 6:0:-2])
        self.assertEqual(around.sum(), 5 * (81 - 9) + 9)

    def test_inputs_are_not_copied(self):
        x = np.ones((8, 8), "f4")
        tensor = tensorcc.model.capi.Tensor()
        for view in (x, x[::-1, ::2], x.T):
            tensorcc.arrays.bind_input(tensor, view, tensorcc.f32, "x")
            self.assertEqual(tensor.data, view.ctypes.data)


class Outs(unittest.TestCase):
    def setUp(self):
        text = "dim N in 1..9\nmodel two(x: f32[N]) -> (a, b) { a = x + 1.0; b = sum(x) }"
        self.model = tensorcc.compile(text).open()
        self.x = np.arange(4, dtype="f4")

    def test_kinds_of_out(self):
        a, b = np.empty(4, "f4"), np.empty((), "f4")
        for out in ((a, b), [a, b], {"b": b, "a": a}):
            a[:], b[...] = 0, 0
            y = self.model(self.x, out=out)
            self.assertIs(y.a, a)
            self.assertIs(y["b"], b)
            self.assertEqual((a.tolist(), float(b)), ([1, 2, 3, 4], 6))
        self.assertIs(self.model(self.x, out={"a": a}).a, a)
        self.assertIs(self.model(self.x, out=(None, b)).b, b)
        self.assertIs(self.model(self.x, out=a).a, a)

    def test_outputs_of_the_last_call(self):
        first = self.model(self.x)
        again = self.model(self.x * 2, out=first)
        self.assertIs(first.a, again.a)
        self.assertEqual(first.a.tolist(), [1, 3, 5, 7])

    def test_in_place(self):
        x = self.x.copy()
        self.model(x, out={"a": x})
        self.assertEqual(x.tolist(), [1, 2, 3, 4])

    def test_wrong_outs(self):
        read_only = np.empty(4, "f4")
        read_only.flags.writeable = False
        for out, words in ((np.empty(5, "f4"), r"output 'a': the shape is \(5,\), not \(4,\)"),
                           (np.empty(4, "f8"), "output 'a': the dtype is float64, not f32"),
                           (read_only, "read-only"), ([[1, 2, 3, 4], None], "out= takes arrays, not list")):
            with self.assertRaisesRegex(tensorcc.InvalidError, words):
                self.model(self.x, out=out)
        for out in ({"c": np.empty(4, "f4")}, [None] * 3):
            with self.assertRaises(TypeError):
                self.model(self.x, out=out)


class Inputs(unittest.TestCase):
    def test_names_that_are_ours(self):
        model = tensorcc.compile("model f(out: f32[1], self: f32[1]) -> (keys) { keys = out - self }").open()
        self.assertEqual(model([5], self=[3])["keys"].tolist(), [2])
        self.assertEqual(model.session().run(named={"out": [5], "self": [3]})["keys"].tolist(), [2])


class Dims(unittest.TestCase):
    def test_any_size(self):
        model = tensorcc.compile("dim N in 0..99\nmodel f(x: f32[N, 3]) -> (y, z) "
                                 "{ y = concat([x, x]); z = sum(x, axis=1) }").open()
        for n in (0, 1, 2, 7, 64, 99):
            x = np.random.default_rng(n).integers(0, 9, (n, 3)).astype("f4")
            y, z = model(x)
            self.assertEqual((y.tolist(), z.tolist()), (np.concatenate([x, x]).tolist(), x.sum(axis=1).tolist()))

    def test_ports(self):
        model = tensorcc.compile("dim N in 2..9\nmodel f(x: f32[N, 3], k: i64) -> (y) "
                                 "{ y = concat([x, x])[1:] * f32(k) }").open()
        x, k = model.inputs
        self.assertEqual((x.name, x.dtype, x.dims), ("x", tensorcc.f32, (tensorcc.Dim("N", 2, 9), 3)))
        self.assertEqual((k.dtype, k.dims), (tensorcc.i64, ()))
        y, = model.outputs
        self.assertEqual((y.dims[0].lo, y.dims[0].hi, y.dims[1]), (3, 17, 3))
        self.assertIn("N", y.dims[0].name)
        self.assertIn("x: f32[N, 3]", repr(model))


class Exporter:
    """A tensor of another library, with the bits of `array`."""

    def __init__(self, array, code, bits, device=1):
        self.array, self.device, self.deleted = array, device, 0
        self._shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self._strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        managed = self._managed = dlpack._Managed()
        tensor = managed.tensor
        tensor.data, tensor.byte_offset = array.ctypes.data - 64, 64
        tensor.device_type, tensor.ndim, tensor.lanes = device, array.ndim, 1
        tensor.code, tensor.bits = code, bits
        tensor.shape, tensor.strides = self._shape, self._strides
        self._deleter = dlpack._Deleter(self._delete)
        managed.deleter = ctypes.cast(self._deleter, ctypes.c_void_p).value

    def _delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, stream=None):
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi))
        return new(ctypes.addressof(self._managed), b"dltensor", None)


class NumpyExporter:
    """Hides that it is numpy's."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


class DLPack(unittest.TestCase):
    def test_of_numpy(self):
        x = np.arange(24, dtype="f4").reshape(4, 6)
        for view in (x, x[:, ::-2], x.T):
            self.assertEqual(copies("f32")(NumpyExporter(view)).y.tolist(), view.tolist())

    def test_it_is_a_view_that_is_given_back(self):
        exporter = Exporter(np.arange(6, dtype="f4").reshape(2, 3).T, 2, 32)
        view = dlpack.view(exporter, "x")
        self.assertEqual((view.ctypes.data, view.tolist()), (exporter.array.ctypes.data, exporter.array.tolist()))
        part = view[1:]
        del view
        self.assertEqual(exporter.deleted, 0)
        del part
        self.assertEqual(exporter.deleted, 1)

    def test_dtypes(self):
        for name, code in (("bf16", 4), ("f16", 2), ("u8", 1), ("i64", 0), ("bool", 6), ("f8e4m3", 10),
                           ("f8e5m2", 12)):
            dtype = tensorcc.dtypes.of(name)
            exporter = Exporter(values(dtype, (3, 4)), code, dtype.bits)
            self.assertEqual(copies(name)(exporter).y.tobytes(), exporter.array.tobytes(), name)
            self.assertEqual(exporter.deleted, 1)

    def test_out(self):
        exporter = Exporter(np.zeros((2, 2), "f4"), 2, 32)
        copies("f32")(np.ones((2, 2), "f4"), out=exporter)
        self.assertEqual(exporter.array.tolist(), [[1, 1], [1, 1]])

    def test_refused(self):
        with self.assertRaisesRegex(tensorcc.InvalidError, "not in the processor's memory .DLPack device 2"):
            copies("f32")(Exporter(np.zeros((2, 2), "f4"), 2, 32, device=2))
        with self.assertRaisesRegex(tensorcc.InvalidError, "type code 5 of 64 bits"):
            copies("f32")(Exporter(np.zeros((2, 2), "c8"), 5, 64))
        for field, value, why in (("lanes", 4, "32 bits and 4 lanes"), ("ndim", 2**31 - 1, "2147483647 axes"),
                                  ("ndim", -1, "-1 axes")):
            exporter = Exporter(np.zeros((2, 2), "f4"), 2, 32)
            setattr(exporter._managed.tensor, field, value)
            with self.assertRaisesRegex(tensorcc.InvalidError, why):
                copies("f32")(exporter)

    def test_a_capsule_is_used_once(self):
        exporter = Exporter(np.zeros((2, 2), "f4"), 2, 32)
        capsule = exporter.__dlpack__()
        exporter.__dlpack__ = lambda: capsule
        copies("f32")(exporter)
        with self.assertRaisesRegex(tensorcc.InvalidError, "no fresh"):
            copies("f32")(exporter)


