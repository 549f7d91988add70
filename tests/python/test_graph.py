"""The graph builder: every function, operators, subscripts, parameters, constants, and models."""
import inspect
import re
import unittest

import cases
import numpy as np
import tensorcc


def graph(inputs, build):
    """A graph with an input an array, and outputs of what `build` gives."""
    g = tensorcc.Graph("case")
    values = [g.input(f"x{i}", np.asarray(x).dtype, np.shape(x)) for i, x in enumerate(inputs)]
    results = build(g, *values)
    for i, value in enumerate(results if isinstance(results, tuple) else (results,)):
        g.output(f"y{i}", value)
    return g


def built(inputs, build):
    return graph(inputs, build).compile(params="random:1")


def run(inputs, build):
    y = built(inputs, build).open(threads=1)(*inputs)
    return y[0] if len(y) == 1 else tuple(y)


class Functions(unittest.TestCase):
    def test_every_function_has_a_case(self):
        self.assertEqual(sorted(cases.CASES), sorted(tensorcc.functions()))

    def test_none_is_hidden_by_a_method_of_ours(self):
        g = tensorcc.Graph()
        for name in tensorcc.functions():
            self.assertEqual(getattr(g, name).__name__, name)
            self.assertEqual(getattr(g.tensor([1]), name).__name__, name)

    def test_every_function(self):
        for name, (inputs, build, reference) in cases.CASES.items():
            with self.subTest(name):
                unit = built(inputs, build)
                self.assertTrue(all(result.agrees for result in unit.check(*inputs)))
                if reference:
                    self.compare(unit.open(threads=1)(*inputs), reference(*inputs))

    def compare(self, got, expected):
        expected = expected if isinstance(expected, tuple) else (expected,)
        self.assertEqual(len(got), len(expected))
        for y, z in zip(got, expected):
            self.assertEqual((y.shape, y.dtype.kind), (np.shape(z), np.asarray(z).dtype.kind))
            np.testing.assert_allclose(y, z, rtol=2e-5, atol=2e-6)

    def test_every_op(self):
        """All core ops of the reference come out of some call, but those that passes alone make."""
        g = tensorcc.Graph("ops")
        n = g.dim("N", 1, 8)
        x = g.input("x", "f32", [n])
        g.output("of_dims", x[:1] * n.cast("f32"))
        c = g.input("c", "bool")
        g.output("cond", g.cond(c, lambda: x, lambda: -x))
        g.output("loop", g.loop(0, lambda i: i < 3, lambda i: i + 1, limit=9))
        g.output("scan", g.scan(lambda s: s, g.ones([4])))
        found = set(re.findall(r"^ *%\d+ = (\w+)", g.text(), re.M))
        for inputs, build, _ in cases.CASES.values():
            found |= self.ops_of(graph(inputs, build))
        named = set(re.findall(r"^\* `(\w+)\(", tensorcc.reference("ops"), re.M))
        self.assertEqual(named - found, {"call", "kernel", "conv_winograd"})

    def ops_of(self, made):
        text = made.compile(params="random:1", passes="inline").text("ir")
        return set(re.findall(r"^ *%\d+ = (\w+)", text, re.M))

    def test_arguments(self):
        g = tensorcc.Graph()
        x = g.input("x", "f32", [3])
        for call, words in ((lambda: x.topk(), r"topk\(x, k, axis\?, largest\?\) needs k"),
                            (lambda: x.relu(1), "takes 1 arguments, 2 were given"),
                            (lambda: x.sum(axes=1), "takes no further argument 'axes'"),
                            (lambda: x.sum(x=x), "no further argument 'x'")):
            with self.assertRaisesRegex(TypeError, words):
                call()
        for thing in (g, x):
            with self.assertRaisesRegex(AttributeError, "no function of the language"):
                thing.no_such_function
        self.assertIn("softmax", dir(x))
        self.assertIn("softmax(x, axis=-1)", g.softmax.__doc__)
        self.assertEqual(str(inspect.signature(g.sum)), "(x, axis=None, keep=None, dtype=None)")
        with self.assertRaises(tensorcc.InvalidError):
            g.call("no_such_function")


class Operators(unittest.TestCase):
    def test_of_floats(self):
        x, y = cases.X, cases.P
        for function in (lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
                         lambda x, y: x // y, lambda x, y: x % y, lambda x, y: y ** x, lambda x, y: -x + +y,
                         lambda x, y: 2 - x, lambda x, y: 2 / y, lambda x, y: 0.5 * x, lambda x, y: 1 + x,
                         lambda x, y: x ** 2.0, lambda x, y: x * -2, lambda x, y: -1.5 - x, lambda x, y: abs(x),
                         lambda x, y: x @ y.T, lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x > y,
                         lambda x, y: x >= 0, lambda x, y: x == y, lambda x, y: 0 != x, lambda x, y: x // -2.0):
            got = run((x, y), lambda g, x, y: function(x, y))
            np.testing.assert_allclose(got, function(x, y), rtol=1e-5, atol=1e-6)

    def test_of_integers(self):
        i, j = cases.I, cases.J
        for function in (lambda i, j: i & j, lambda i, j: i | 6, lambda i, j: i ^ j, lambda i, j: ~i,
                         lambda i, j: i << j, lambda i, j: i >> 1, lambda i, j: 3 & i, lambda i, j: 7 // j,
                         lambda i, j: 1 << j, lambda i, j: (i < 0) & (j > 3), lambda i, j: -7 % j):
            self.assertEqual(run((i, j), lambda g, i, j: function(i, j)).tolist(), function(i, j).tolist())

    def test_arrays_beside_values(self):
        a, big = np.array([1, 2, 3, 4], "f4"), cases._normal(30, 4)
        self.assertEqual(run((cases.X,), lambda g, x: a * x).tolist(), (a * cases.X).tolist())
        np.testing.assert_allclose(run((cases.X,), lambda g, x: x @ big.T), cases.X @ big.T, rtol=1e-4, atol=1e-5)

    def test_subscripts(self):
        x = np.arange(2 * 5 * 6, dtype="f4").reshape(2, 5, 6)
        for key in (0, -1, (slice(None), 2), slice(1, 2), (slice(None), slice(1, 5, 2)), (0, slice(None, None, -1)),
                    (slice(None), None), (slice(None), slice(None), slice(-3, None)), (1, 2, 3)):
            self.assertEqual(run((x,), lambda g, x: x[key]).tolist(), x[key].tolist(), key)
        for key in ((..., 0), (0, ...), (..., None), (0, ..., slice(2, None)), ...):
            self.assertEqual(run((x,), lambda g, x: x[key]).tolist(), x[key].tolist(), key)
        with self.assertRaisesRegex(tensorcc.InvalidError, "one ... at most"):
            run((x,), lambda g, x: x[..., ...])
        with self.assertRaisesRegex(tensorcc.GraphError, "index 5"):
            run((x,), lambda g, x: x[0, 5])

    def test_arrays_as_subscripts(self):
        x, i = np.arange(2 * 5 * 6, dtype="f4").reshape(2, 5, 6), np.array([[4, 0], [-1, 2]])
        for key in (i % 2, (slice(None), i), (..., i), (slice(None), slice(1, None), i), (None, slice(None), [1, 0])):
            self.assertEqual(run((x,), lambda g, x: x[key]).tolist(), x[key].tolist(), key)
        self.assertEqual(run((x, i), lambda g, x, i: x[:, i]).tolist(), x[:, i].tolist())
        for key in ((0, i), (i % 2, i)):
            with self.assertRaisesRegex(tensorcc.InvalidError, "beside an array"):
                run((x,), lambda g, x: x[key])

    def test_members(self):
        x = cases.X
        self.assertEqual(run((x,), lambda g, x: x.T).tolist(), x.T.tolist())
        self.assertEqual(run((x,), lambda g, x: x.astype("f16").astype(np.float32)).dtype, np.float32)
        flat = run((x,), lambda g, x: x.reshape([x.shape[0] * x.shape[1]]))
        self.assertEqual(flat.tolist(), x.reshape(-1).tolist())
        self.assertEqual(run((x,), lambda g, x: g.zeros([2], dtype=x.dtype)).dtype, x.dtype)

    def test_what_is_known(self):
        g = tensorcc.Graph()
        n = g.dim("N", 2, 8)
        x = g.input("x", "f16", [n, 3, "N + 1"])
        self.assertEqual((x.ndim, x.dtype, x.shape[1], x.label), (3, tensorcc.f16, 3, "x"))
        self.assertEqual(repr(x.shape[2]), "<tensorcc.Value x.shape[2]: N + 1>")
        self.assertEqual(x[0].T.shape[1], 3)
        self.assertEqual(repr(x), "<tensorcc.Value x: f16[N, 3, N + 1]>")
        self.assertEqual((x.sum().shape, g.zeros([2, 4]).shape), ((), (2, 4)))
        self.assertTrue(n < 9 and not n > 8)
        self.assertEqual([int(g.dim("four", 4, 4)), range(9)[g.dim("five", 5, 5)]], [4, 5])
        for use in (lambda: bool(n < 5), lambda: int(n), lambda: range(x)):
            with self.assertRaises(TypeError):
                use()
        with self.assertRaisesRegex(tensorcc.InvalidError, "no tensor"):
            n.dtype

    def test_what_values_are_not(self):
        g = tensorcc.Graph()
        x = g.input("x", "f32", [3])
        with self.assertRaisesRegex(TypeError, r"select\(c, x, y\)"):
            bool(x > 0)
        with self.assertRaises(TypeError):
            iter(x)
        with self.assertRaises(TypeError):
            np.sin(x)
        self.assertEqual(len({x, x.relu(), x}), 2)
        other = tensorcc.Graph().input("x", "f32", [3])
        for use in (lambda: x + other, lambda: g.concat([x, other]), lambda: g.output("y", other)):
            with self.assertRaisesRegex(tensorcc.InvalidError, "another graph"):
                use()


class Constants(unittest.TestCase):
    def test_dtypes(self):
        for dtype in tensorcc.dtypes.ALL:
            for shape in ((3,), (90,), (), (0, 2)):
                bits = np.arange(1, int(np.prod(shape)) + 1).reshape(shape) % (2 if dtype.name == "bool" else 7)
                array = np.asarray(bits).astype(dtype.numpy)
                got = run((), lambda g: g.constant(array, dtype))
                self.assertEqual((got.dtype, got.shape, got.tobytes()), (array.dtype, shape, array.tobytes()), dtype)

    def test_extremes(self):
        for array in (np.array([np.inf, -np.inf, -0.0, 1e-45, 3.4028235e38, 0.1], "f4"),
                      np.array([5e-324, 1.7976931348623157e308, -0.0, np.inf], "f8"),
                      np.array([-2**63, 2**63 - 1], "i8"), np.array([2**64 - 1], "u8"), np.array([True, False])):
            self.assertEqual(run((), lambda g: g.constant(array)).tobytes(), array.tobytes())
        self.assertTrue(np.isnan(run((), lambda g: g.constant(np.float32("nan")))))

    def test_dtypes_of_numbers(self):
        for value, name in ((1.5, "f32"), ([[1, 2.5]], "f32"), (3, "i64"), ([True], "bool"), (np.float64(1), "f64"),
                            (np.arange(2, dtype="i2"), "i16")):
            self.assertEqual(run((), lambda g: g.constant(value)).dtype, tensorcc.dtypes.of(name).numpy)

    def test_numbers(self):
        y = run((cases.X,), lambda g, x: x * float("inf"))
        self.assertEqual(y.tolist(), (cases.X * np.inf).tolist())
        self.assertEqual(run((cases.X,), lambda g, x: x + np.float32(0.5)).tolist(), (cases.X + np.float32(0.5)).tolist())


class Models(unittest.TestCase):
    def test_parameters(self):
        w, v, s = cases._normal(4, 5), cases._normal(5, 70), np.float32(3)
        g = tensorcc.Graph("net", dims={"N": (1, 9, 4)})
        x = g.input("x", "f32", ["N", 4])
        h = x @ g.param("first.weight", w)
        h = h @ g.param("second", dims=[5, 70], dtype="f32") * g.param("scale", s) + g.param("zero", dims=[70], init=0)
        g.output("y", g.linear(h, 2, scope="out"))
        weight, bias = cases._normal(2, 70), cases._normal(2)
        unit = g.compile(weights={"second": v, "out.weight": weight, "out.bias": bias})
        y = unit.open()(cases.X).y
        np.testing.assert_allclose(y, cases.X @ w @ v * s @ weight.T + bias, rtol=1e-3, atol=1e-3)
        with self.assertRaises(tensorcc.GraphError) as caught:
            g.compile()
        self.assertIn("second", str(caught.exception))

    def test_weights_are_of_one_compilation(self):
        g = tensorcc.Graph("net")
        x = g.input("x", "f32", [3])
        g.output("y", x * g.param("gain", np.full(3, 2, "f4")) + g.param("offset", dims=[3], init=1))
        y = [g.compile(weights=weights).open()(np.ones(3, "f4")).y[0]
             for weights in (None, {"gain": np.full(3, 5, "f4")}, {"offset": [7, 7, 7]}, None)]
        self.assertEqual(y, [3, 6, 9, 3])
        unit = g.compile(weights={"none": np.ones(2, "f4")})
        self.assertEqual([d.id for d in unit.diagnostics], ["weights-unused"])
        with self.assertRaisesRegex(tensorcc.GraphError, r'parameter "gain" is f32\[3\], not f32\[2\]'):
            g.compile(weights={"gain": np.ones(2, "f4")})
        self.assertEqual(g.compile().open()(np.ones(3, "f4")).y[0], 3)

    def test_a_graph_grows(self):
        g = tensorcc.Graph("grows")
        x = g.input("x", "f32", [2])
        g.output("y", x + 1.0)
        first = g.compile()
        g.output("z", x * 3.0)
        self.assertEqual((len(first.open().outputs), g.compile().open()([1, 2]).z.tolist()), (1, [3, 6]))

    def test_narrow_parameters(self):
        for name in ("bf16", "f16", "f8e4m3", "i4", "u8"):
            dtype = tensorcc.dtypes.of(name)
            array = (np.arange(80) % 7).astype(dtype.numpy)
            self.assertEqual(run((), lambda g: g.param("p", array, dtype=name)).tobytes(), array.tobytes())

    def test_dims(self):
        g = tensorcc.Graph()
        n = g.dim("N", 1, 8, tune=4)
        x = g.input("x", "f32", [n, "M", 2])
        z = g.input("z", "f32", ["N + 1"])
        g.output("y", x.reshape([n, -1]))
        g.output("s", z[1:] * n.cast("f32"))
        g.output("w", g.ones(shape=["N", "M"]))
        model = g.compile().open()
        self.assertEqual([str(port) for port in model.inputs], ["x: f32[N, M, 2]", "z: f32[N + 1]"])
        self.assertEqual((model.inputs[0].dims[0].hi, model.inputs[0].dims[1].hi), (8, 65536))
        y = model(np.ones((3, 5, 2), "f4"), np.ones(4, "f4"))
        self.assertEqual((y.y.shape, y.s.tolist(), y.w.shape), ((3, 10), [3, 3, 3], (3, 5)))

    def test_names(self):
        g = tensorcc.Graph("names")
        x = g.input("relu", "f32", [3])
        a = (x + 1.0).named("fine")
        b = (a * 2.0).named("no name at all")
        c = (b - 1.0).named("softmax")
        g.output("softmax", c)
        g.output("y", c.exp().softmax())
        g.output("same", c)
        g.output("input_again", x)
        g.output("fine", b)
        y = g.compile().open()(np.zeros(3, "f4"))
        self.assertEqual([y[name][0] for name in ("softmax", "same", "input_again", "fine")], [1, 1, 0, 2])
        self.assertEqual(y.keys(), ("softmax", "y", "same", "input_again", "fine"))
        self.assertEqual(x.relu().shape, (3,))

    def test_text_is_the_model(self):
        g = tensorcc.Graph("again")
        g.output("y", g.input("x", "f32", ["N"]).exp())
        self.assertEqual(tensorcc.compile(g.text()).open()([0.0]).y.tolist(), [1.0])

    def test_wrong_names(self):
        g = tensorcc.Graph()
        g.input("x", "f32")
        g.param("p", 1.0)
        g.output("o", 1.0)
        g.dim("N", 1, 2)
        for make in (lambda: g.input("x", "f32"), lambda: g.input("", "f32"), lambda: g.input("a\nb", "f32"),
                     lambda: g.input("y", "f33"), lambda: g.input("y", "c8"), lambda: g.param("p", 1.0),
                     lambda: g.dim("1", 1, 2), lambda: g.dim("N", 1, 2), lambda: tensorcc.Graph(""),
                     lambda: g.input("y", "f32", ["N +"]), lambda: g.input("y", "f32", ["x.y"]),
                     lambda: g.input("y", "f32", [-1]), lambda: g.input("y", "f32", ["f(N)"]),
                     lambda: g.einsum('"', g.ones([1]), g.ones([1])), lambda: g.add(object(), 1),
                     lambda: g.constant([[1], [2, 3]]), lambda: g.constant(1, "f32") + 2**63):
            with self.assertRaises(tensorcc.InvalidError):
                make()
        g.compile()
        for name in ("o", ""):
            with self.assertRaises(tensorcc.GraphError):
                g.output(name, 1.0)
        with self.assertRaisesRegex(tensorcc.GraphError, "no output"):
            tensorcc.Graph("nothing").compile()
