"""What the package says of types holds: mypy finds nothing, however strict it is."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

from support import MISSING, cairn

# Without them mypy does not know what the package does with theirs.
NEEDED = ("mypy", "dask", "fsspec", "pandas", "pyarrow", "xarray", "zarr")


@unittest.skipIf(MISSING is not None, MISSING)
class TypingTest(unittest.TestCase):
    def setUp(self):
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"no {', '.join(missing)}")
        self.folder = os.path.dirname(os.path.dirname(os.path.abspath(cairn.__file__)))
        if os.path.basename(self.folder) == "site-packages":
            self.skipTest("mypy takes no package that is installed")
        if not os.path.exists(os.path.join(self.folder, "cairn", "_engine.pyi")):
            self.skipTest("no types of the module _engine")

    def complaints(self, *what):
        """Returns what mypy finds."""
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *what], cwd=self.folder,
                                  capture_output=True, text=True, timeout=280, check=False)  # fmt: skip
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [line for line in done.stdout.splitlines() if ": error: " in line]

    def test_types_of_the_package_hold(self):
        self.assertEqual(self.complaints("-p", "cairn"), [])

    def test_wrong_use_is_found(self):
        found = self.complaints("-c", "import cairn; cairn.open('a').resize('b'); cairn.open('a').nothing")
        self.assertEqual(len(found), 2, found)
