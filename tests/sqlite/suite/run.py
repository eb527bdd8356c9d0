"""Runs SQLite's own test-suite with Cairn as the default VFS and judges it by a list of exceptions.

A file is right where its tests pass, and where what fails is listed in the exceptions or fails with
SQLite's own VFS too. A listed exception that passes is wrong: the list says what is so.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

SUMMARY = re.compile(r"^(\d+) errors out of (\d+) tests", re.MULTILINE)
FAILURES = re.compile(r"^!Failures on these tests:(.*)$", re.MULTILINE)

# The name of a failure for a file that ends before its last test.
CRASH, TIMEOUT = "(crash)", "(time-out)"

MOST_COMPLAINTS = 8  # printed for a file

Outcome = collections.namedtuple("Outcome", "tests failures seconds log")
ListedException = collections.namedtuple("ListedException", "line file patterns reason")


def read_exceptions(path):
    """Lines of `FILE | TEST... | REASON`; names of tests are patterns of the shell."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", 2)]
        if len(parts) != 3 or not all(parts):
            sys.exit(f"{path}:{number}: not of the form FILE | TEST... | REASON")
        found.append(ListedException(number, parts[0], parts[1].split(), parts[2]))
    return found


def read_chosen(path):
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return [pattern for line in lines for pattern in line]


class Suite:
    def __init__(self, options):
        self.fixture = options.fixture.resolve()
        self.tests = options.tests.resolve()
        self.script = pathlib.Path(__file__).resolve().parent / "run.tcl"
        self.scratch = options.scratch.resolve()
        self.timeout = options.timeout
        self.extension = options.extension and options.extension.resolve()
        # Some files test what permissions forbid, which root does not feel.
        self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []} \
            if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.scratch, "nobody", "nogroup")

    def files(self):
        listed = subprocess.run([self.fixture, self.script, self.tests], check=True, text=True,
                                stdout=subprocess.PIPE, cwd=self.scratch, **self.user)
        return [pathlib.Path(line) for line in listed.stdout.split()]

    def run(self, path, with_cairn):
        """One file in a folder and a process group of its own."""
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        environment.pop("CAIRN_SQLITE", None)
        if with_cairn:
            environment["CAIRN_SQLITE"] = str(self.extension)
        folder = self.scratch / f"{path.stem}-{'cairn' if with_cairn else 'unix'}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if self.user:
            shutil.chown(folder, "nobody", "nogroup")
        start = time.monotonic()
        late = False
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen([self.fixture, self.script, self.tests, path], cwd=folder,
                                       stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, env=environment,
                                       start_new_session=True, **self.user)
            try:
                process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                late = True
            # It may also have left children behind.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        text = (folder / "log").read_text(errors="replace")
        summary = SUMMARY.search(text)
        failed = FAILURES.search(text)
        failures = failed[1].split() if failed else []
        if late:
            failures.append(TIMEOUT)
        elif not summary:
            failures.append(CRASH)
        if not failures:
            shutil.rmtree(folder, ignore_errors=True)  # children may still be ending
        return Outcome(int(summary[2]) if summary else 0, failures, time.monotonic() - start, text)


def select(files, patterns):
    """The files that a pattern names."""
    return [path for path in files if any(fnmatch.fnmatchcase(path.name, p) for p in patterns)]


def judge(path, outcome, baseline, exceptions):
    """What is wrong with the file: failures that nothing explains, exceptions that have passed."""
    wrong = []
    unexplained = [name for name in outcome.failures
                   if not any(fnmatch.fnmatchcase(name, pattern)
                              for exception in exceptions for pattern in exception.patterns)]
    if unexplained:
        known = set(baseline())
        wrong += [f"{name} fails" for name in unexplained if name not in known]
    # What comes after the end of a file cannot tell.
    if not {CRASH, TIMEOUT} & set(outcome.failures):
        wrong += [f"{pattern} passes, but line {exception.line} says: {exception.reason}"
                  for exception in exceptions for pattern in exception.patterns
                  if not fnmatch.filter(outcome.failures, pattern)]
    return wrong


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixture", type=pathlib.Path, required=True, help="SQLite's testfixture")
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="the folder test/")
    parser.add_argument("--extension", type=pathlib.Path, help="cairn_sqlite.so; else VFS unix")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--exceptions", type=pathlib.Path, default=here / "exceptions.txt")
    parser.add_argument("--full", action="store_true", help="all files, not those of chosen.txt")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one file")
    parser.add_argument("--times", action="store_true", help="print what each file takes")
    parser.add_argument("patterns", nargs="*", help="names of files")
    options = parser.parse_args()

    suite = Suite(options)
    exceptions = collections.defaultdict(list)
    if suite.extension:
        for exception in read_exceptions(options.exceptions):
            exceptions[exception.file].append(exception)
    # It waits for a lock that its own process holds, for ever.
    files = [path for path in suite.files() if path.name != "lock4.test"]
    patterns = options.patterns or (None if options.full else read_chosen(here / "chosen.txt"))
    if patterns:
        files = select(files, patterns)
    missing = [] if options.patterns else exceptions.keys() - {path.name for path in files}
    if options.full and missing:
        print(f"exceptions of files that the suite lacks: {', '.join(sorted(missing))}")

    def baseline(path):
        return suite.run(path, with_cairn=False).failures if suite.extension else []

    def examine(path):
        outcome = suite.run(path, with_cairn=suite.extension is not None)
        return path, outcome, judge(path, outcome, lambda: baseline(path), exceptions[path.name])

    right = wrong = tests = 0
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, outcome, complaints in pool.map(examine, files):
            tests += outcome.tests
            right, wrong = (right, wrong + 1) if complaints else (right + 1, wrong)
            if options.times:
                print(f"{outcome.seconds:7.2f} {path.name}", flush=True)
            for complaint in complaints[:MOST_COMPLAINTS]:
                print(f"{path.name}: {complaint}", flush=True)
            if len(complaints) > MOST_COMPLAINTS:
                print(f"{path.name}: and {len(complaints) - MOST_COMPLAINTS} more", flush=True)
    print(f"{len(files)} files, {tests} tests in {time.monotonic() - start:.0f} s")
    print(f"{right} passed, {wrong} failed")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
