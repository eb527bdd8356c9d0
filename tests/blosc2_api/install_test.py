"""Puts Cairn's library into copies of PyTables' wheel by tools/blosc2/install.sh, and takes it out.

Usage: install_test.py INSTALL LIBRARY GENUINE, by the Python that may have PyTables

LIBRARY is Cairn's, and GENUINE the one of C-Blosc2 with the same soname. PyTables may be compiled
for another one: then its copy gets GENUINE first, as a newer wheel would have it.
"""

import base64
import hashlib
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

SKIPPED = 77

USE = """
import numpy, tables, tempfile, os
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.h5")
    data = numpy.arange(200000).reshape(200, 1000)
    with tables.open_file(path, "w") as file:
        file.create_carray("/", "x", obj=data, filters=tables.Filters(5, "blosc2:zstd"), chunkshape=(10, 100))
    with tables.open_file(path) as file:
        assert (file.root.x[:] == data).all() and (file.root.x[7:99, 33:444] == data[7:99, 33:444]).all()
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libblosc2" in line}
print(*sorted(os.path.basename(path) for path in maps))
"""


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.venv = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True)
        (self.site,) = self.venv.glob("lib/python*/site-packages")
        peers = pathlib.Path(sysconfig.get_path("platlib"))
        (self.site / "peers.pth").write_text(f"{peers}\n")
        for source in (peers / "tables", peers / "tables.libs", *peers.glob("tables-*.dist-info")):
            shutil.copytree(source, self.site / source.name, ignore=shutil.ignore_patterns("tests", "*.pyc"))
        (self.record,) = self.site.glob("tables-*.dist-info/RECORD")
        (linked,) = self.site.glob("tables.libs/libblosc2-*.so.*")
        self.paths = [linked, self.site / "tables" / "libblosc2.so"]
        # PyTables imports its tests.
        (self.site / "tables" / "tests").mkdir()
        (self.site / "tables" / "tests" / "__init__.py").write_text("print_versions = test = None\n")
        for path in self.paths:
            shutil.copy(genuine, path)
            self.note(path)
        self.before = self.contents()

    def note(self, path):
        """Makes RECORD say that the wheel brought this file."""
        name = path.relative_to(self.site).as_posix()
        hashed = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
        kept = [line for line in self.record.read_text().splitlines() if not line.startswith(name + ",")]
        self.record.write_text("\n".join([*kept, f"{name},sha256={hashed},{path.stat().st_size}"]) + "\n")

    def contents(self):
        return {
            path.relative_to(self.site): path.read_bytes()
            for path in self.site.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def install(self, *arguments):
        return subprocess.run([install, *arguments], capture_output=True, text=True, timeout=120)

    def expect_done(self, *arguments):
        ran = self.install(*arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def expect_refused(self, words, *arguments):
        before = self.contents()
        ran = self.install(*arguments)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn(words, ran.stderr)
        self.assertEqual(self.contents(), before)

    def use(self):
        return subprocess.run(
            [self.venv / "bin" / "python", "-c", USE], capture_output=True, text=True, check=True
        ).stdout

    def test_pytables_uses_the_library_until_it_is_removed(self):
        self.expect_done("--into", self.venv, library)
        for path in self.paths:
            self.assertEqual(path.read_bytes(), library.read_bytes())
        self.assertIn(self.paths[0].name, self.use())
        self.expect_done("--remove", self.venv)
        self.assertEqual(self.contents(), self.before)
        self.use()

    def test_second_library_is_refused(self):
        self.expect_done("--into", self.venv, library)
        self.expect_refused("there already", "--into", self.venv, library)

    def test_what_is_not_there_is_not_removed(self):
        self.expect_refused("expected a library of Cairn", "--remove", self.venv)

    def test_folder_that_is_no_environment_is_refused(self):
        (self.venv / "pyvenv.cfg").unlink()
        self.expect_refused("expected a virtual environment", "--into", self.venv, library)
        self.expect_refused("expected a virtual environment", "--remove", self.venv)

    def test_environment_without_pytables_is_refused(self):
        empty = self.folder / "empty"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", empty], check=True)
        self.expect_refused("expected PyTables", "--into", empty, library)
        (self.record.parent.parent / self.record.parent.name).rename(self.folder / "elsewhere")
        self.expect_refused("is not in the environment", "--into", self.venv, library)

    def test_other_layout_is_refused(self):
        self.paths[1].unlink()
        self.expect_refused("as a wheel has them", "--into", self.venv, library)

    def test_library_that_was_replaced_is_refused(self):
        with self.paths[0].open("ab") as file:
            file.write(b"x")
        self.expect_refused("it was replaced", "--into", self.venv, library)

    def test_other_soname_is_refused(self):
        for path in self.paths:
            content = path.read_bytes()
            path.write_bytes(content.replace(soname(), soname()[:-1] + b"5"))
            self.note(path)
        self.expect_refused("got libblosc2.so.5", "--into", self.venv, library)

    def test_library_of_another_soname_is_refused(self):
        other = self.folder / "libblosc2.so"
        other.write_bytes(library.read_bytes().replace(soname() + b"\0", soname()[:-1] + b"5\0"))
        self.expect_refused("which PyTables was compiled for", "--into", self.venv, other)
        self.expect_refused("build Cairn with the header of C-Blosc2 ", "--into", self.venv, other)

    def test_library_that_does_not_load_is_taken_out_again(self):
        broken = self.folder / "libblosc2.so"
        broken.write_bytes(library.read_bytes().replace(b"\0blosc2_schunk_new\0", b"\0blosc2_schunk_old\0"))
        self.expect_refused("does not work with it", "--into", self.venv, broken)
        self.assertEqual(self.contents(), self.before)

    def test_removal_after_an_interrupted_installation_puts_back_what_was_replaced(self):
        for done in self.paths:
            with self.subTest(replaced=done.name):
                self.expect_done("--into", self.venv, library)
                (other,) = {*self.paths} - {done}
                shutil.copy(genuine, other)
                other.with_name(other.name + ".tmp").write_bytes(b"half")
                self.expect_done("--remove", self.venv)
                self.assertEqual(self.contents(), self.before)

    def test_removal_that_was_interrupted_is_finished(self):
        for done in self.paths:
            with self.subTest(back=done.name):
                self.expect_done("--into", self.venv, library)
                done.with_name(done.name + ".before-cairn").replace(done)
                self.expect_done("--remove", self.venv)
                self.assertEqual(self.contents(), self.before)

    def test_upgraded_pytables_stays(self):
        self.expect_done("--into", self.venv, library)
        for path in self.paths:
            path.write_bytes(genuine.read_bytes() + b"newer")
            self.note(path)
        self.expect_done("--remove", self.venv)
        for path in self.paths:
            self.assertEqual(path.read_bytes(), genuine.read_bytes() + b"newer")

    def test_removal_without_the_original_is_refused(self):
        self.expect_done("--into", self.venv, library)
        self.paths[0].with_name(self.paths[0].name + ".before-cairn").unlink()
        self.expect_refused("install PyTables", "--remove", self.venv)

    def test_package_that_brings_the_header_is_named(self):
        named = subprocess.run(
            [self.venv / "bin" / "python", install.with_name("pytables_library.py"), "header"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertRegex(named, r"^blosc2==\d+\.\d+\.\d+\n$")


def soname():
    listed = subprocess.run(["readelf", "-d", genuine], capture_output=True, text=True, check=True).stdout
    return next(line for line in listed.splitlines() if "(SONAME)" in line).split("[")[1].rstrip("]").encode()


if importlib.util.find_spec("tables") is None:
    print("skipped: no PyTables")
    sys.exit(SKIPPED)
install, library, genuine = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
unittest.main(argv=sys.argv[:1], verbosity=2)
