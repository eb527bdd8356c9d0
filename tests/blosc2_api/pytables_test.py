"""Runs PyTables' own tests of compressed data, with Cairn's library instead of C-Blosc2.

Usage: pytables_test.py LIBRARY, by the Python that may have PyTables
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def run(module, library):
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tables.tests." + module],
            env=dict(os.environ, LD_PRELOAD=library),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
        )
    count = re.search(r"^Ran (\d+) tests", ran.stderr, re.MULTILINE)
    passed = re.search(r"^OK", ran.stderr, re.MULTILINE)
    print(module, count.group(0) if count else "no tests", "OK" if passed else ran.stderr[-3000:])
    return ran.returncode == 0 and passed and count and int(count.group(1)) > 300


def main():
    if importlib.util.find_spec("tables") is None:
        print("skipped: no PyTables")
        sys.exit(SKIPPED)
    library = str(pathlib.Path(sys.argv[1]).resolve())
    results = [run(module, library) for module in ("test_carray", "test_indexes")]
    sys.exit(0 if all(results) else 1)


main()
