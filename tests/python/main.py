"""Runs test_*.py, or the modules named, and ends with the line that tests/run reads."""
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).parent


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(names or sorted(path.stem for path in HERE.glob("test_*.py")))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    for test, reason in result.skipped:
        print(f"skipped {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    passed = result.testsRun - failed - len(result.skipped)
    print(f"{passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed > 0


sys.path.insert(0, str(HERE))
sys.exit(main())
