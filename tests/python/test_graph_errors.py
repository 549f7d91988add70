"""The graph builder's errors: raised at the line that is wrong, with the names that it gives."""
import inspect
import unittest
from pathlib import Path

import numpy as np
import tensorcc

HERE = Path(__file__).name


def line():
    """The number of the caller's line."""
    return inspect.currentframe().f_back.f_lineno


class Places(unittest.TestCase):
    def raised(self, call):
        with self.assertRaises(tensorcc.GraphError) as caught:
            call()
        return caught.exception

    def test_at_the_call(self):
        g = tensorcc.Graph("wrong")
        x = g.input("x", "f32", [4, 3])
        w = g.input("w", "f32", [4, 5])
        with self.assertRaises(tensorcc.GraphError) as caught:
            product = x @ w
        place = line() - 1
        error = caught.exception
        first = error.diagnostics[0]
        self.assertEqual((error.id, first.label, Path(first.place[0]).name, first.place[1]),
                         ("matmul-shape", "product", HERE, place))
        self.assertRegex(str(error), rf"{HERE}:{place}: error: .*f32\[4, 3\] @ f32\[4, 5\].*"
                         r'\(value "product"\) \[matmul-shape\]')
        g.output("y", x + 1.0)  # the graph is as it was
        self.assertEqual(g.compile().open()(np.zeros((4, 3), "f4"), np.zeros((4, 5), "f4")).y[0, 0], 1)

    def test_inside_the_library(self):
        g = tensorcc.Graph("wrong")
        x = g.input("x", "f32", [4, 3])
        error = self.raised(lambda: g.layer_norm(x.cast("i32"), scope="norm").named("h"))
        self.assertRegex(str(error), rf'{HERE}:{line() - 1}: error: .*\(value "h"\)')
        self.assertIn("library/", str(error))

    def test_operands_are_named(self):
        g = tensorcc.Graph("table")
        price, count = g.input("price", "f32", ["N"]), g.input("count", "i32", ["N"])
        taxed = price * 1.25
        error = self.raised(lambda: taxed * count)
        self.assertRegex(str(error), rf'{HERE}:{line() - 2}: note: this is f32\[N\] \(value "taxed"\)')

    def test_parameters(self):
        g = tensorcc.Graph("wrong")
        x = g.input("x", "f32", [4])
        self.raised(lambda: x * g.param("deep.gain", np.ones(5, "f4")))
        g.output("y", x)
        with self.assertRaises(tensorcc.InvalidError):
            g.compile(weights={"deep.gain": np.ones(5, "f8")})
        g = tensorcc.Graph("missing")
        g.output("y", g.param("deep.gain", dims=[4]))
        place = line() - 1
        with self.assertRaisesRegex(tensorcc.GraphError, rf"{HERE}:{place}: .*deep\.gain"):
            g.compile()

    def test_a_run_names_the_line(self):
        g = tensorcc.Graph("pick")
        chosen = g.input("x", "f32", [4])[g.input("i", "i64", [1])]
        place = line() - 1
        g.output("y", chosen)
        with self.assertRaisesRegex(tensorcc.IndexOutOfRangeError, rf'{HERE}:{place} \(value "chosen"\)'):
            g.compile().open()(np.zeros(4, "f4"), np.array([9]))


class Names(unittest.TestCase):
    """What a result is stored to is its label."""

    def setUp(self):
        self.g = tensorcc.Graph("names")
        self.x = self.g.input("x", "f32", [4, 4])

    def test_variables(self):
        x = self.x
        h = x + 1.0
        self.attribute = h.relu()
        values, places = x.topk(2)
        again = later = x.exp()
        if (walrus := x.log()) is not None:
            pass
        labels = [v.label for v in (h, self.attribute, values, places, later, walrus)]
        self.assertEqual(labels, ["h", "attribute", "values", "places", "again", "walrus"])
        self.assertIs(again, later)

    def test_without_a_name(self):
        made = [self.x.exp(), (self.x + 1.0) * 2.0]
        self.assertEqual([value.label.split("#")[0] for value in made], ["exp", "*"])

    def test_named(self):
        a = self.x.exp().named("first")
        b = self.x.log()
        for i in range(2):
            c = self.x.sin().named(f"number {i}")
        self.assertEqual([a.label, b.label, c.label], ["first", "b", "number 1"])
        self.assertEqual(b.named("second").label, "second")
        with self.assertRaisesRegex(tensorcc.GraphError, 'value "number 1"'):
            c @ self.g.ones([5])

    def test_in_functions(self):
        def layer(x):
            inner = x * 2.0
            return inner.relu()

        y = layer(self.x)
        self.assertEqual(y.label.split("#")[0], "relu")


class Lifetimes(unittest.TestCase):
    def test_any_order(self):
        g = tensorcc.Graph("lives")
        x = g.input("x", "f32", [2])
        g.output("y", x.exp())
        unit = g.compile()
        del g
        self.assertEqual(x.label, "x")  # a value keeps its graph
        del x
        self.assertEqual(unit.open()([0, 0]).y.tolist(), [1, 1])
