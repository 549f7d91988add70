#!/usr/bin/env python3
"""attention.py THREADS [LENGTH...]: attention of 8 x 12 heads of 64 by tcc, by tcc's own unfused graph and, where torch
is installed, by its scaled_dot_product_attention.

One process, contestants in turn, medians of ROUNDS turns (the environment's, 7). tcc's results are compared with those of
the unfused graph before anything is timed. Numbers of threads are one a process, since torch keeps its own.
"""
import os
import statistics
import sys
import time

try:
    import numpy as np
    import tensorcc
except ImportError as error:
    print(f"== attention: skipped: {error}")
    sys.exit(0)
try:
    import torch
except ImportError:
    torch = None

BATCH, HEADS, WIDTH = 8, 12, 64
LENGTHS = [128, 256, 512, 1024, 2048, 4096]
TURN_SECONDS, SETTLE_SECONDS = 0.1, 0.3  # a turn's time, and how long threads take to sleep after it
UNFUSED_GOAL, TORCH_GOAL, TORCH_FROM = 1.5, 1.0, 512
WHOLE = 1024  # heads of longer rows are timed on a batch of one: the unfused graph stores all scores


def text(batch, length):
    kind = f"f32[{batch}, {HEADS}, {length}, {WIDTH}]"
    return f"model m(q: {kind}, k: {kind}, v: {kind}) -> (y: {kind}) {{ y = attention(q, k, v) }}"


def tcc_runner(batch, length, arrays, threads, **options):
    unit = tensorcc.compile(text(batch, length), **options)
    session = unit.open(threads=threads).session()
    out = np.empty_like(arrays[0])

    def run():
        session(*arrays, out={"y": out})
    run()
    return run, out


def torch_runner(arrays):
    tensors = [torch.from_numpy(array) for array in arrays]

    def run():
        with torch.inference_mode():
            torch.nn.functional.scaled_dot_product_attention(*tensors)
    run()
    return run


def timed(run, count):
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin) / count


def medians(runners, rounds):
    counts = [max(1, int(TURN_SECONDS / timed(run, 1))) for run in runners]
    times = [[] for _ in runners]
    for _ in range(rounds):
        for run, count, mine in zip(runners, counts, times):
            time.sleep(SETTLE_SECONDS)
            run()
            mine.append(timed(run, count))
    return [statistics.median(mine) for mine in times]


def verdict(ratio, goal):
    return f"{ratio:5.2f} (goal {goal:g}: {'met' if ratio >= goal else 'MISSED'})"


def measure(length, threads, rounds):
    batch = BATCH if length <= WHOLE else 1
    rng = np.random.default_rng(length)
    arrays = [rng.standard_normal((batch, HEADS, length, WIDTH), dtype=np.float32) for _ in range(3)]
    fused, got = tcc_runner(batch, length, arrays, threads)
    plain, want = tcc_runner(batch, length, arrays, threads, skip="hoist")
    if not np.allclose(got, want, rtol=1e-4, atol=1e-5):
        sys.exit(f"attention.py: wrong results at length {length}")
    runners = [fused, plain] + ([torch_runner(arrays)] if torch else [])
    times = medians(runners, rounds)
    gflops = 4 * batch * HEADS * length * length * WIDTH / times[0] * 1e-9
    line = f"{batch} x {HEADS} x {length:4} x {WIDTH}: {times[0] * 1e3:9.3f} ms, {gflops:6.1f} GFLOP/s"
    line += f"; unfused / fused {verdict(times[1] / times[0], UNFUSED_GOAL)}"
    if torch:
        ratio = times[2] / times[0]
        line += f"; torch / tcc {verdict(ratio, TORCH_GOAL) if length >= TORCH_FROM else f'{ratio:5.2f}'}"
    print(line, flush=True)


def main():
    threads = int(sys.argv[1])
    lengths = [int(word) for word in sys.argv[2:]] or LENGTHS
    peer = f"torch {torch.__version__}" if torch else "torch is not installed: without it"
    print(f"== attention, {threads} thread{'s' if threads > 1 else ''}: tensorcc {tensorcc.version()}, {peer}")
    if torch:
        torch.set_num_threads(threads)
    for length in lengths:
        measure(length, threads, int(os.environ.get("ROUNDS", "7")))


if __name__ == "__main__":
    main()
