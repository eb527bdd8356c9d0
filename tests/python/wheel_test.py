"""`pip` builds a wheel that works alone, as docs/python.md says.

It is configured, and built only where CAIRN_TEST_WHEEL is set: that takes minutes.
"""

import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
MISSING = [name for name in ("nanobind", "mesonpy", "numpy") if importlib.util.find_spec(name) is None]
# As engine/object/s3/meson.build looks for them.
HAS_STORES = subprocess.run(["pkg-config", "--exists", "libcurl >= 7.85", "libcrypto", "expat", "absl_time"],
                            check=False).returncode == 0  # fmt: skip


@unittest.skipIf(MISSING, f"no {', '.join(MISSING)}")
class WheelTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name
        # The Python that runs this is the one that builds.
        self.env = dict(os.environ, PATH=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
        sources = glob.glob(f"{SOURCE}/tools/python/cairn/*.py")
        self.package = {f"cairn/{os.path.basename(name)}" for name in sources} | {"cairn/py.typed", "cairn/_engine.pyi", "cairn/_s3.pyi"}

    def ok(self, *command, **more):
        done = subprocess.run(command, capture_output=True, text=True, check=False, **{"env": self.env, **more})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def assert_package(self, names, modules):
        found = {name for name in names if name.endswith(".so")}
        self.assertEqual({name.split(".")[0] for name in found}, {f"cairn/{name}" for name in modules})
        self.assertEqual(set(names) - found, self.package)

    def check_plan(self, modules, *options):
        self.ok("meson", "setup", f"{self.folder}/b", f"{SOURCE}/tools/python", *options)
        with open(f"{self.folder}/b/meson-info/intro-install_plan.json", encoding="utf-8") as file:
            plan = json.load(file)
        with open(f"{SOURCE}/tools/python/pyproject.toml", encoding="utf-8") as file:
            self.assertIn('["--tags=runtime,python-runtime"]', file.read())
        places = [one["destination"] for group in plan.values() for one in group.values()
                  if one["tag"] in ("runtime", "python-runtime")]  # fmt: skip
        self.assert_package([f"cairn/{os.path.basename(place)}" for place in places], modules)

    def test_wheel_installs_the_package_and_nothing_else(self):
        self.check_plan(["_engine", "_s3"] if HAS_STORES else ["_engine"])

    def test_wheel_without_stores_has_one_module(self):
        self.check_plan(["_engine"], "-Dcairn:s3=disabled")

    @unittest.skipUnless(os.environ.get("CAIRN_TEST_WHEEL"), "CAIRN_TEST_WHEEL is not set")
    def test_wheel_works_alone(self):
        self.ok(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                "--wheel-dir", self.folder, f"{SOURCE}/tools/python")  # fmt: skip
        (wheel,) = glob.glob(f"{self.folder}/*.whl")
        self.assertLess(os.path.getsize(wheel), 6_000_000)
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if ".dist-info/" not in name]
            self.assert_package(names, ["_engine", "_s3"] if HAS_STORES else ["_engine"])
            archive.extractall(f"{self.folder}/package")
        told = self.ok(sys.executable, "-c", "import cairn; print(cairn.asarray(range(9))[2:4], cairn.__file__)",
                       env={"PYTHONPATH": f"{self.folder}/package"}, cwd=self.folder)  # fmt: skip
        self.assertEqual(told, f"[2 3] {self.folder}/package/cairn/__init__.py\n")
