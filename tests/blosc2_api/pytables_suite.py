"""Runs all of PyTables' own tests with the C-Blosc2 of its wheel and with Cairn's library, and compares.

Usage: pytables_suite.py LIBRARY, by the Python that has PyTables

LIBRARY is Cairn's, and is preloaded. Exit status 1 if a test passes with C-Blosc2 and not with it.
"""

import collections
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import time
import unittest

FEWEST = 6000  # tests that pass; PyTables 3.11 has 6,649
LONGEST = 3600  # seconds for one run

# Compresses something.
TRIAL = """
import tables
with tables.open_file("trial.h5", "w") as file:
    file.create_carray("/", "x", obj=list(range(10000)), filters=tables.Filters(5, "blosc2"))
"""


class Recorder(unittest.TextTestResult):
    """Writes each test's name, result and errors to a file as a line of JSON.

    A crash of the process keeps the lines of the tests before it.
    """

    path = None

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.lines = open(self.path, "w", encoding="utf-8", buffering=1)
        self.seen = collections.Counter()
        self.name = None

    def startTest(self, test):
        super().startTest(test)
        # PyTables may run a class several times, and forgets the name of a test that has ended.
        self.seen[test.id()] += 1
        self.name = f"{test.id()} #{self.seen[test.id()]}"
        self.outcome, self.errors_of_test = "passed", ""

    def stopTest(self, test):
        super().stopTest(test)
        self.write(self.name, self.outcome, self.errors_of_test)
        self.name = None

    def write(self, name, outcome, errors):
        self.lines.write(json.dumps([name, outcome, errors]) + "\n")

    def note(self, test, outcome, error):
        text = self._exc_info_to_string(error, test)
        if self.name is None:  # the error of a class or a module
            self.write(str(test), outcome, text)
        else:
            self.outcome, self.errors_of_test = outcome, self.errors_of_test + text

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error", err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = "skipped"

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.outcome = "failed as expected"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcome = "passed unexpectedly"


def record(path):
    """Runs the tests in this process, as `python -m tables.tests.test_all` does."""
    Recorder.path = path
    unittest.TextTestRunner.resultclass = Recorder
    sys.argv = ["test_all"]
    runpy.run_module("tables.tests.test_all", run_name="__main__", alter_sys=True)


def preloading(library):
    return dict(os.environ, LD_PRELOAD=library) if library else dict(os.environ)


def run(title, library):
    """The results of all tests by name, and their errors."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as notes:
        lines = pathlib.Path(notes, "results")
        begin = time.monotonic()
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", os.path.abspath(__file__), "--record", lines],
            env=preloading(library),
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
        )
        took = time.monotonic() - begin
        results = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    outcomes = {name: outcome for name, outcome, _ in results}
    counts = ", ".join(f"{count:,} {what}" for what, count in collections.Counter(outcomes.values()).most_common())
    print(f"{title}: {len(outcomes):,} tests in {took:.0f} s: {counts}", flush=True)
    if ran.returncode not in (0, 1):
        print(f"{title}: ended with {ran.returncode}:\n{ran.stderr[-3000:]}")
    return outcomes, {name: errors for name, _, errors in results}


def uses(library):
    """True if what PyTables compresses goes through the library that is preloaded."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", TRIAL],
            env=dict(preloading(library), LD_DEBUG="bindings", LD_DEBUG_OUTPUT="bindings"),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        told = "".join(path.read_text(errors="replace") for path in pathlib.Path(folder).glob("bindings.*"))
    bindings = re.findall(r"binding file \S+/(\w+extension\S*) \[0\] to (\S+) \[0\]: .*`(?:blosc2|b2nd)_", told)
    # The modules of PyTables have functions of such names, too.
    used = {target for module, target in bindings if not target.endswith(module)}
    if ran.returncode != 0 or used != {library}:
        print(f"{library}: not used, but {used}", ran.stderr[-3000:])
    return ran.returncode == 0 and used == {library}


def compare(genuine, ours, errors):
    """Prints what differs. True if each test that passes with the genuine library passes with ours."""
    for name in sorted({*genuine, *ours}):
        before, after = genuine.get(name, "not run"), ours.get(name, "not run")
        if before != after:
            print(f"{name}: {before} with C-Blosc2, {after} with Cairn\n{errors.get(name, '')}")
    passed = [name for name, outcome in genuine.items() if outcome == "passed"]
    worse = [name for name in passed if ours.get(name) != "passed"]
    print(f"{len(passed):,} tests pass with C-Blosc2; {len(worse):,} of them do not with Cairn")
    if len(passed) < FEWEST:
        print(f"expected at least {FEWEST:,} tests to pass with C-Blosc2")
    return not worse and len(passed) >= FEWEST


def main():
    if sys.argv[1] == "--record":
        record(sys.argv[2])
        return
    library = str(pathlib.Path(sys.argv[1]).resolve())
    if not uses(library):
        sys.exit(1)
    genuine, _ = run("C-Blosc2", None)
    ours, errors = run("Cairn", library)
    sys.exit(0 if compare(genuine, ours, errors) else 1)


main()
