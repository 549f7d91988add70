"""The graph builder's blocks: cond, loop and scan with functions for their bodies."""
import unittest

import numpy as np
import tensorcc


def run(build, *inputs):
    g = tensorcc.Graph("blocks")
    values = [g.input(f"x{i}", np.asarray(x).dtype, np.shape(x)) for i, x in enumerate(inputs)]
    results = build(g, *values)
    for i, value in enumerate(results if isinstance(results, tuple) else (results,)):
        g.output(f"y{i}", value)
    y = g.compile().open(threads=1)(*inputs)
    return [z.tolist() for z in y]


class Cond(unittest.TestCase):
    def test_both_sides(self):
        x = np.array([1, 2, 3], "f4")
        for side in (False, True):
            y, = run(lambda g, c, x: g.cond(c, lambda: x * 2.0 + 10.0, lambda: -x), np.array(side), x)
            self.assertEqual(y, (x * 2 + 10 if side else -x).tolist())

    def test_several_results(self):
        y = run(lambda g, c, x: g.cond(c, lambda: (x, x + 1.0), lambda: (0.0, 1)), np.array(False), np.array(3, "f4"))
        self.assertEqual(y, [0, 1])
        one = run(lambda g, c: g.cond(c, lambda: [c], lambda: [~c]), np.array(False))
        self.assertEqual(one, [True])


class Loop(unittest.TestCase):
    def test_carried(self):
        def build(g, x, most):
            return g.loop((x, 0), lambda x, n: x < most, lambda x, n: (x * 2.0, n + 1), limit=10)

        x, count = run(build, np.array(3, "f4"), np.array(50, "f4"))
        self.assertEqual((x, count), (96, 5))

    def test_one_value(self):
        self.assertEqual(run(lambda g, x: g.loop(x, lambda x: x < 9, lambda x: x + 4, limit=5), np.array(0)), [12])


class Scan(unittest.TestCase):
    def test_recurrence(self):
        x, half = np.arange(1, 6, dtype="f4"), np.array(0.5, "f4")
        for reverse in (False, True):
            def body(h, x, half):
                h = h * half + x
                return h, h * 10.0

            h, stack = run(lambda g, xs, half: g.scan(lambda h, x: body(h, x, half), xs, 0.0, reverse=reverse), x, half)
            state, want = 0, np.zeros(5)
            for i in reversed(range(5)) if reverse else range(5):
                state = state * 0.5 + x[i]
                want[i] = state * 10
            self.assertEqual((h, stack), (state, want.tolist()))

    def test_sequences_alone(self):
        a, b = np.arange(6, dtype="i8").reshape(3, 2), np.array([10, 20, 30])
        self.assertEqual(run(lambda g, a, b: g.scan(lambda a, b: a * b, (a, b)), a, b), [(a * b[:, None]).tolist()])

    def test_nested(self):
        x, base = np.arange(1, 5), np.array(100)
        y, = run(lambda g, xs, far: g.scan(lambda x: g.cond(x > 2, lambda: x + far, lambda: -1), xs), x, base)
        self.assertEqual(y, [-1, -1, 103, 104])

    def test_layers(self):
        """Parameters of a body are the model's."""
        x, w = np.ones((3, 2), "f4"), np.array([[1, 2], [3, 4]], "f4")
        g = tensorcc.Graph("rnn")
        xs = g.input("xs", "f32", [3, 2])
        h = g.scan(lambda h, x: g.linear(h[None], 2, scope="cell")[0] + x, xs, g.zeros([2]))
        g.output("h", h)
        y = g.compile(weights={"cell.weight": w, "cell.bias": np.zeros(2, "f4")}).open()(x).h
        want = np.zeros(2)
        for row in x:
            want = w @ want + row
        self.assertEqual(y.tolist(), want.tolist())


class Failures(unittest.TestCase):
    """Whatever a body raises, its blocks are closed and the graph goes on."""

    def setUp(self):
        self.g = tensorcc.Graph("fails")
        self.x = self.g.input("x", "f32", [3])
        self.c = self.g.input("c", "bool")

    def works(self):
        self.g.output("y", self.x + 1.0)
        model = self.g.compile().open()
        self.assertEqual(model(np.zeros(3, "f4"), np.array(True)).y.tolist(), [1, 1, 1])

    def test_of_the_host(self):
        def bad(*_):
            raise KeyError("the host's own")

        g, x, c = self.g, self.x, self.c
        for call in (lambda: g.cond(c, bad, lambda: x), lambda: g.cond(c, lambda: x, bad),
                     lambda: g.loop(x, bad, lambda x: x, limit=3), lambda: g.loop(x, lambda x: c, bad, limit=3),
                     lambda: g.scan(bad, x), lambda: g.scan(lambda s: g.cond(c, bad, lambda: s), x)):
            with self.assertRaises(KeyError):
                call()
        self.works()

    def test_of_the_graph(self):
        g, x, c = self.g, self.x, self.c
        for call, words in ((lambda: g.cond(x, lambda: x, lambda: x), "condition of cond"),
                            (lambda: g.cond(c, lambda: x, lambda: x.cast("i32")), "not f32"),
                            (lambda: g.cond(c, lambda: (x, x), lambda: x), "gives 1 values, not 2"),
                            (lambda: g.loop(x, lambda x: c, lambda x: x[:2], limit=3), "loop"),
                            (lambda: g.loop(x, lambda x: c, lambda x: x, limit=-1), "limit"),
                            (lambda: g.scan(lambda s: s, c), "scan"),
                            (lambda: g.cond(c, lambda: g.input("z", "f32"), lambda: x), "belongs to the model")):
            with self.assertRaisesRegex(tensorcc.GraphError, words):
                call()
        self.works()

    def test_values_of_closed_blocks(self):
        kept = []
        g, x, c = self.g, self.x, self.c
        g.cond(c, lambda: kept.append(x + 2.0) or x, lambda: x)
        with self.assertRaisesRegex(tensorcc.GraphError, "belongs to a block that is closed"):
            x + kept[0]
        self.works()

    def test_names_of_parameters_are_free_again(self):
        def bad():
            self.g.linear(self.x, 2, scope="fc")
            raise KeyError

        with self.assertRaises(KeyError):
            self.g.cond(self.c, bad, lambda: self.x)
        self.g.output("fc", self.g.linear(self.x, 2, scope="fc"))
        self.g.compile(params="random:1")
