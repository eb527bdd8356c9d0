"""Runs unittest cases and prints TAP, so that each of them counts: `tap.py FILE`, or main()."""

import importlib
import os
import sys
import unittest


class _TapResult(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self._verdict = "ok"
        self._note = ""

    def stopTest(self, test):
        super().stopTest(test)
        name = test.id().split(".", 1)[1]
        print(f"{self._verdict} {self.testsRun} - {name}{self._note}", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note = f" # SKIP {reason}"

    def addError(self, test, err):
        super().addError(test, err)
        self._fail(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fail(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            print(f"# in {subtest.id()}")
            self._fail(test, err)

    def _fail(self, test, err):
        self._verdict = "not ok"
        for line in self._exc_info_to_string(err, test).splitlines():
            print(f"# {line}")


def main(module):
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    print(f"1..{suite.countTestCases()}")
    result = _TapResult()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    folder, name = os.path.split(os.path.splitext(sys.argv[1])[0])
    sys.path.insert(0, folder)
    importlib.import_module(name)
    main(name)
