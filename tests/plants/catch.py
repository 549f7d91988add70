#!/usr/bin/env python3
"""catch.py BUILD --long [NUMBER...]: builds the planted copy and runs the fast tests with each fault
until one fails. What a fault was caught by is kept in BUILD/plants/caught and asked for again only
after a new build. catch.py BUILD --table prints what is kept as the table of README.md.

The order of the tests is the same for all faults: by the processor time that each takes when there
is no fault, which is measured first."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import plant

OPS_SHARES, GRAPH_BATCHES, GRAPHS_A_BATCH = 12, 8, 75
SKIPPED = 77
CORES = len(os.sched_getaffinity(0))


@dataclass
class Test:
    name: str
    command: list
    seconds: float = 0.0


@dataclass
class Outcome:
    good: bool
    seconds: float  # of the processor
    text: str


class Copy:
    """The planted copy in BUILD/plants: `src`, `build`, and what was found out with them."""

    def __init__(self, build):
        self.folder = Path(build).resolve() / "plants"
        self.source, self.build = self.folder / "src", self.folder / "build"

    def make(self):
        plant.write(self.source)
        log = self.folder / "build.log"
        commands = [["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DTCC_WERROR=OFF",
                     "-DCMAKE_C_FLAGS=-w"], ["ninja", "-C", self.build]]
        with open(log, "w") as out:
            for command in commands:
                if subprocess.run(command, stdout=out, stderr=out).returncode != 0:
                    sys.exit(f"the planted copy does not build, see {log}")

    def made_at(self):
        return max(p.stat().st_mtime for p in [self.build / "libtensorcc.so.0",
                                               *self.build.glob("tests/*-*")])

    def run(self, command, number, limit):
        env = dict(os.environ, TCC_PLANT=str(number), BUILD=str(self.build))
        with open(self.folder / f"output-{number}-{threading.get_ident()}", "w+", errors="replace") as out:
            process = subprocess.Popen(command, cwd=self.source, env=env, stdout=out, stderr=out,
                                       stdin=subprocess.DEVNULL, start_new_session=True)
            timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
        os.unlink(out.name)
        good = process.returncode in (0, SKIPPED)
        return Outcome(good, usage.ru_utime + usage.ru_stime, text)


def fast_tests(copy):
    """Unit tests, the corpus and some random graphs, and the sample of ops. The emulator holds no
    fault, and its own tests none of what does."""
    listed = subprocess.run(["ctest", "--test-dir", copy.build, "--show-only=json-v1"],
                            capture_output=True, check=True).stdout
    tests = [Test(t["name"], t["command"]) for t in json.loads(listed)["tests"]
             if "emulator" not in t["name"]]
    graphs, matrix = copy.build / "tests/fuzz-graphs", copy.build / "tests/ops-matrix"
    corpus = sorted(str(p) for p in (copy.source / "tests/fuzz/corpus").glob("*.tir"))
    tests.append(Test("fuzz/corpus", [graphs, *corpus]))
    for k in range(OPS_SHARES):
        tests.append(Test(f"ops/sample {k}", [matrix, "sample", f"{k}/{OPS_SHARES}"]))
    for k in range(GRAPH_BATCHES):
        words = [f"--seed={1 + k * GRAPHS_A_BATCH}", f"--count={GRAPHS_A_BATCH}", "--minutes=60"]
        tests.append(Test(f"fuzz/graphs {k}", [graphs, *words]))
    return tests


def limit_of(test):
    return 120 + 20 * test.seconds


def measure(copy, tests, pool):
    """Runs all tests with no fault; those that fail are told of and left out."""
    kept = copy.folder / "unplanted.json"
    if kept.exists() and kept.stat().st_mtime > copy.made_at():
        known = json.loads(kept.read_text())
    else:
        outcomes = list(pool.map(lambda t: copy.run(t.command, 0, 1800), tests))
        known = {t.name: o.seconds if o.good else None for t, o in zip(tests, outcomes)}
        kept.write_text(json.dumps(known, indent=1))
    bad = [t.name for t in tests if known.get(t.name) is None]
    for name in bad:
        print(f"FAILED {name}, with no fault")
    for test in tests:
        test.seconds = known.get(test.name) or 0
    return sorted((t for t in tests if t.name not in bad), key=lambda t: t.seconds), len(bad)


def first_complaint(text):
    words = ("FAIL", "rror", "wrong", "rash", "expected")
    lines = [line.strip() for line in text.splitlines() if any(w in line for w in words)]
    return lines[0][:160] if lines else "ends with a signal or takes too long"


def catch(copy, tests, fault):
    """The number, what caught it or None, processor seconds, and what the test said."""
    kept = copy.folder / "caught" / f"{fault.number}.json"
    if kept.exists() and kept.stat().st_mtime > copy.made_at():
        return json.loads(kept.read_text())
    found, said, begin, seconds = None, "", time.time(), 0.0
    for test in tests:
        outcome = copy.run(test.command, fault.number, limit_of(test))
        seconds += outcome.seconds
        if not outcome.good:
            found, said = test.name, first_complaint(outcome.text)
            break
    result = {"number": fault.number, "name": fault.name, "part": fault.part, "by": found,
              "seconds": round(seconds, 1), "wall": round(time.time() - begin, 1), "said": said}
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(result))
    return result


def print_table(copy):
    print("| | fault | part | what goes wrong | caught by | s |\n|---|---|---|---|---|---|")
    for fault in plant.read_table():
        kept = copy.folder / "caught" / f"{fault.number}.json"
        known = json.loads(kept.read_text()) if kept.exists() else {"by": None, "seconds": 0}
        print(f"| {fault.number} | {fault.name} | {fault.part} | {fault.story} | "
              f"{known['by'] or 'nothing'} | {known['seconds']:.0f} |")
    return 0


def report(results, bad, begin):
    caught = sum(r["by"] is not None for r in results)
    seconds = sum(r["seconds"] for r in results)
    print(f"{caught} of {len(results)} planted faults caught, {seconds / 60:.1f} minutes of a processor, "
          f"{(time.time() - begin) / 60:.1f} minutes now")
    print(f"{caught} passed, {len(results) - caught + bad} failed")
    return 1 if caught < len(results) or bad else 0


def main(build, words):
    begin = time.time()
    numbers = {int(w) for w in words if w.isdigit()}
    copy = Copy(build)
    if words == ["--table"]:
        return print_table(copy)
    copy.make()
    faults = [f for f in plant.read_table() if not numbers or f.number in numbers]
    results = []
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        tests, bad = measure(copy, fast_tests(copy), pool)
        for r in pool.map(lambda fault: catch(copy, tests, fault), faults):
            results.append(r)
            print(f"{r['number']:2} {r['name']} ({r['part']}): " +
                  (f"caught by {r['by']} after {r['seconds']:.0f} s: {r['said']}" if r["by"]
                   else f"FAILED, no test of {len(tests)} sees it"), flush=True)
    return report(results, bad, begin)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
