"""Random convolutions: compiled for both instruction sets, compared with the evaluator, and their
bits between instruction sets and numbers of threads.

usage: cases.py TCC FOLDER SEED COUNT; a case that fails stays in FOLDER, and is named with its text.
"""

import os
import random
import subprocess
import sys

TARGETS = ("x86-64-v4", "x86-64-v3")
with open("/proc/cpuinfo") as info:
    if " avx512bw " not in info.read():
        print("skipped: cases for x86-64-v4: this processor has no AVX-512")
        TARGETS = TARGETS[1:]
SIZES = (1, 2, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 28, 29, 31, 56, 57)
EPILOGUES = ("y = c", "y = relu(c)", "y = c * 2.0 + c", "y = relu(c)\n    z = c + c")


WINOGRAD_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17)


def brackets(values):
    return "[" + ", ".join(map(str, values)) + "]"


class Case:
    """A model of one convolution, and the options that it is run with."""

    def __init__(self, rng):
        self.rng = rng
        self.rank = rng.choice((1, 2, 2, 2, 2, 3))
        self.groups = rng.choice((1, 1, 1, 2, 3, 5, 16, 17, 32))
        few = self.groups > 3
        self.channels = rng.choice((1, 1, 2, 4) if few else (1, 2, 3, 4, 5, 8, 16, 17, 64, 65, 96, 128))
        self.outputs = rng.choice((1, 1, 2, 4, 8) if few else (1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 48, 65, 100))
        self.batch = rng.choice((1, 1, 2, 3))
        self.dtype = rng.choice(("f32",) * 7 + ("f64", "i32", "f16", "bf16"))
        self.last = rng.random() < 0.6  # images are channels-last outside
        self.constant = rng.random() < 0.7  # weights are
        self.axes = [self.axis() for _ in range(self.rank)]
        self.varying = rng.choice(("", "", "", "size", "batch"))
        if rng.random() < 0.4:
            self.make_winograd()
        self.choose_size()
        floats = self.dtype in ("f32", "f64")
        self.epilogue = rng.choice(EPILOGUES) if floats else "y = c"
        self.computed = floats and rng.random() < 0.15  # what is convolved
        self.outs = ["y", "z"] if "z =" in self.epilogue else ["y"]

    def make_winograd(self):
        """Turns it into one of those that may be made by transforms, or nearly so."""
        pick = self.rng.choice
        self.rank, self.groups, self.dtype, self.constant = 2, 1, "f32", True
        self.last = self.rng.random() < 0.9
        self.channels = pick((1, 3, 7, 15, 16, 17, 31, 32, 64, 65, 100, 144))
        self.outputs = pick((1, 7, 15, 16, 17, 32, 33, 48, 64, 65, 96))
        self.batch = pick((1, 1, 2, 3, 5))
        self.axes = [self.axis() for _ in range(2)]
        for a in self.axes:
            a["size"] = pick(WINOGRAD_SIZES)
            a["kernel"], a["stride"], a["dilation"] = 3, 1, 1
            a["least"] = max(3 - a["lo"] - a["hi"], 1)
            a["size"] = max(a["size"], a["least"])
        self.varying = pick(("", "", "", "size", "batch", "batch"))

    def axis(self):
        pick = self.rng.choice
        small = self.rank == 3
        a = {
            "size": pick(SIZES[:7] if small else SIZES),
            "kernel": pick((1, 2, 3) if small else (1, 1, 2, 3, 3, 3, 4, 5, 7)),
            "stride": pick((1, 1, 1, 2, 3)),
            "dilation": pick((1, 1, 1, 1, 2, 3)),
            "lo": pick((0, 0, 1, 1, 2, 3)),
            "hi": pick((0, 0, 1, 1, 2, 3)),
        }
        a["least"] = max(a["dilation"] * (a["kernel"] - 1) + 1 - a["lo"] - a["hi"], 1)
        a["size"] = max(a["size"], a["least"])
        return a

    def choose_size(self):
        """The range of the dim that varies, and what it is."""
        self.dim, self.size = "", None
        if self.varying == "batch":
            self.dim, self.size = "dim V in 1..9 tune 2\n", self.rng.choice((1, 2, 5))
        if self.varying == "size":
            self.moving = self.rng.randrange(self.rank)
            a = self.axes[self.moving]
            self.dim = f"dim V in {a['least']}..{a['size'] + 9} tune {a['size']}\n"
            self.size = self.rng.randint(a["least"], a["size"] + 9)

    def out_size(self, i):
        a = self.axes[i]
        more = a["lo"] + a["hi"] - a["dilation"] * (a["kernel"] - 1) - 1
        if self.varying == "size" and i == self.moving:
            last = f"V + {more}" if more >= 0 else f"V - {-more}"
            return f"({last}) // {a['stride']} + 1"
        return (a["size"] + more) // a["stride"] + 1

    def image(self, channels, sizes):
        batch = "V" if self.varying == "batch" else self.batch
        dims = [batch] + sizes + [channels] if self.last else [batch, channels] + sizes
        return f"{self.dtype}{brackets(dims)}"

    def text(self):
        rank, axes = self.rank, self.axes
        sizes = [a["size"] for a in axes]
        if self.varying == "size":
            sizes[self.moving] = "V"
        x = self.image(self.groups * self.channels, sizes)
        y = self.image(self.groups * self.outputs, [self.out_size(i) for i in range(rank)])
        kernel = [self.groups * self.outputs, self.channels] + [a["kernel"] for a in axes]
        w = f"w: {self.dtype}{brackets(kernel)}"
        source = f"permute(x, {brackets([0, rank + 1] + list(range(1, rank + 1)))})" if self.last else "x"
        if self.computed:
            source = f"relu({source})"
        lists = {name: brackets([a[name[:-1] if name.endswith("s") else name] for a in axes])
                 for name in ("strides", "dilations", "lo", "hi")}
        conv = f"conv({source}, w, groups={self.groups}, " + ", ".join(f"{k}={v}" for k, v in lists.items()) + ")"
        results = ", ".join(f"{out}: {y}" for out in self.outs)
        lines = [f"    {self.epilogue}"]
        if self.last:
            back = brackets([0] + list(range(2, rank + 2)) + [1])
            lines = [f"    {self.epilogue}".replace("y =", "yy =").replace("z =", "zz =")]
            lines += [f"    {out} = permute({out * 2}, {back})" for out in self.outs]
        if self.constant:
            head = f"fn f(x) {{\n    param {w}\n    return {conv}\n}}\nmodel m(x: {x})"
            conv = 'f(x) as "f"'
        else:
            head = f"model m(x: {x}, {w})"
        return f"{self.dim}{head} -> ({results}) {{\n    c = {conv}\n" + "\n".join(lines) + "\n}\n"


def fails(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-800:]}"


def run_case(case, tcc, folder, number):
    """What is wrong, or nothing."""
    path = os.path.join(folder, f"case-{number}.g")
    with open(path, "w") as file:
        file.write(case.text())
    size = ["-D", f"V={case.size}"] if case.size else []
    inputs = ["-i", "x=random:3"] + ([] if case.constant else ["-i", "w=random:4"])
    arrays = [os.path.join(folder, f"case-{number}-{out}.npy") for out in case.outs]
    first = None
    for target in TARGETS:
        common = [path, "--params=random", f"--target={target}"]
        wrong = fails([tcc, "check"] + common + size)
        if wrong:
            return wrong
        for threads in (1, 2, 7) if target == TARGETS[0] else (1,):
            outputs = [word for out, array in zip(case.outs, arrays) for word in ("-o", f"{out}={array}")]
            wrong = fails([tcc, "run"] + common + [f"--threads={threads}"] + size + inputs + outputs)
            if wrong:
                return wrong
            data = b"".join(open(array, "rb").read() for array in arrays)
            if first is None:
                first = data
            elif data != first:
                return f"{path}: other bits for {target} with {threads} threads"
    for made in [path] + arrays:
        os.remove(made)
    return ""


def main():
    tcc, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    passed = failed = 0
    for number in range(seed, seed + count):
        wrong = run_case(Case(random.Random(number)), tcc, folder, number)
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print(f"FAILED case {number}: {wrong}\n{Case(random.Random(number)).text()}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
