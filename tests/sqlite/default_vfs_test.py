"""Databases in frames for programs that know of none: the VFS as the default one of the process.

    CAIRN_SQLITE=BUILD/tools/sqlite/cairn_sqlite.so PYTHONPATH=BUILD/tools/python \\
    python3 tests/sqlite/default_vfs_test.py

Needs a Python whose sqlite3 loads extensions.
"""

import contextlib
import importlib.util
import os
import py_compile
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zipfile

EXTENSION = os.environ.get("CAIRN_SQLITE", "")
# A link beside it.
DEFAULT = os.path.join(os.path.dirname(EXTENSION), "cairn_default")
HAS_PACKAGE = importlib.util.find_spec("cairn") is not None and importlib.util.find_spec("numpy") is not None
LOADS = hasattr(sqlite3.Connection, "enable_load_extension")


def begins_as(path):
    with open(path, "rb") as file:
        begin = file.read(16)
    return "frame" if begin[2:9] == b"b2frame" else "plain" if begin == b"SQLite format 3\0" else begin


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cairn-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = self.in_folder("app.db")

    def in_folder(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, command, *, check=True, env=None, **options):
        return subprocess.run(command, cwd=self.folder, text=True, check=check, capture_output=True,
                              timeout=300, env={**os.environ, **(env or {})}, **options)  # fmt: skip

    def run_python(self, program, *arguments, **options):
        return self.run_program([sys.executable, "-c", textwrap.dedent(program), *arguments], **options)


@unittest.skipUnless(LOADS, "sqlite3 of this Python loads no extensions")
class EntryPointTest(FolderTest):
    LOAD = """
        import sqlite3, sys
        def load(path, *entry):
            db = sqlite3.connect(":memory:")
            db.enable_load_extension(True)
            db.execute("SELECT load_extension(?)" if not entry else "SELECT load_extension(?, ?)", (path, *entry))
            db.close()
        """

    def test_new_databases_are_frames_and_old_ones_stay_what_they_are(self):
        plain = self.in_folder("plain.db")
        sqlite3.connect(plain).execute("CREATE TABLE t(a)").connection.close()
        done = self.run_python(self.LOAD + """
        load(sys.argv[1], "sqlite3_cairndefault_init")
        db = sqlite3.connect("app.db")
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES(7)")
        db.commit()
        db.execute("ATTACH 'plain.db' AS plain")
        db.execute("INSERT INTO plain.t SELECT a FROM main.t")
        db.commit()
        db.execute("VACUUM INTO 'into.db'")
        own = sqlite3.connect("file:own.db?vfs=unix", uri=True)
        own.execute("CREATE TABLE t(a)")
        own.execute("PRAGMA journal_mode=WAL")
        own.close()
        again = sqlite3.connect("own.db")
        assert again.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        again.execute("INSERT INTO t VALUES(1)")
        again.commit()
        import os
        assert os.path.exists("own.db-wal")
        sqlite3.connect(":memory:").execute("CREATE TABLE t(a)")
        sqlite3.connect("").execute("CREATE TABLE t(a)")
        """, EXTENSION)
        self.assertEqual(done.stdout, "")
        kinds = {name: begins_as(self.in_folder(name)) for name in ("app.db", "plain.db", "into.db", "own.db")}
        self.assertEqual(kinds, {"app.db": "frame", "plain.db": "plain", "into.db": "frame", "own.db": "plain"})
        self.assertEqual(sqlite3.connect(plain).execute("SELECT a FROM t").fetchone(), (7,))

    def test_the_name_of_the_file_chooses_the_entry_point(self):
        self.run_python(self.LOAD + """
        load(sys.argv[1])
        sqlite3.connect("app.db").execute("CREATE TABLE t(a)")
        """, DEFAULT)
        self.assertEqual(begins_as(self.path), "frame")

    def test_the_usual_entry_point_leaves_the_default_alone(self):
        self.run_python(self.LOAD + """
        load(sys.argv[1])
        sqlite3.connect("app.db").execute("CREATE TABLE t(a)")
        """, EXTENSION)
        self.assertEqual(begins_as(self.path), "plain")

    def test_the_default_can_be_asked_for_later(self):
        self.run_python(self.LOAD + """
        load(sys.argv[1])
        load(sys.argv[1], "sqlite3_cairndefault_init")
        sqlite3.connect("app.db").execute("CREATE TABLE t(a)")
        """, EXTENSION)
        self.assertEqual(begins_as(self.path), "frame")

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3 shell")
    def test_the_shell_opens_databases_by_their_paths(self):
        for statement, printed in (("CREATE TABLE t(a); INSERT INTO t VALUES(7);", ""), ("SELECT a FROM t;", "7\n")):
            done = self.run_program(["sqlite3", "-batch", "-bail", "-cmd", f".load {DEFAULT}", "-cmd",
                                     ".open app.db", ":memory:", statement])  # fmt: skip
            self.assertEqual(done.stdout, printed)
        self.assertEqual(begins_as(self.path), "frame")

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3 shell")
    def test_the_shell_says_what_is_wrong(self):
        done = self.run_program(["sqlite3", "-batch", "-cmd", f".load {EXTENSION}", ":memory:",
                                 ".open file:app.db?vfs=cairn&codec=foo"], check=False)  # fmt: skip
        self.assertIn("codec=foo: expected blosclz, lz4", done.stdout + done.stderr)


@unittest.skipUnless(LOADS and HAS_PACKAGE, "no sqlite3 that loads extensions, or no package cairn")
class HelperTest(FolderTest):
    def setUp(self):
        super().setUp()
        from cairn import sqlite

        self.sqlite = sqlite

    def connect(self, *args, **kwargs):
        db = self.sqlite.connect(*args, **kwargs)
        self.addCleanup(db.close)
        return db

    def test_it_makes_a_frame_and_has_the_functions_about_it(self):
        db = self.connect(self.path, codec="zstd", level=3)
        with db:
            db.execute("CREATE TABLE t(a)")
        self.assertEqual(begins_as(self.path), "frame")
        codec = db.execute("SELECT codec, clevel FROM cairn_info(?)", (self.path,)).fetchone()
        self.assertEqual(codec, ("zstd", 3))

    def test_arguments_of_sqlite3_pass_through(self):
        class Connection(sqlite3.Connection):
            pass

        db = self.connect(self.path, 1.5, factory=Connection, isolation_level=None, check_same_thread=False)
        self.assertIsInstance(db, Connection)
        self.assertIsNone(db.isolation_level)
        self.assertEqual(db.execute("PRAGMA busy_timeout").fetchone(), (1500,))
        db.execute("CREATE TABLE t(a)")
        read = self.connect(f"file:{self.path}?mode=ro", uri=True)
        with self.assertRaisesRegex(sqlite3.OperationalError, "readonly"):
            read.execute("INSERT INTO t VALUES(1)")
        positional = self.connect(f"file:{self.path}?mode=ro", 5, 0, None, True, sqlite3.Connection, 100, True)
        self.assertEqual(positional.execute("SELECT count(*) FROM t").fetchone(), (0,))

    def test_paths_of_any_kind_and_names(self):
        import pathlib

        for name in ("a b.db", "per%20cent.db", "what?.db", "sharp#.db", "Gr\u00fc\u00dfe.db", "a&b=c.db"):
            for kind in (str, pathlib.Path, os.fsencode):
                with self.subTest(name=name, kind=kind):
                    path = self.in_folder(name)
                    self.connect(kind(path)).execute("CREATE TABLE IF NOT EXISTS t(a)")
                    self.assertEqual(begins_as(path), "frame")

    def test_a_name_leads_to_the_file_that_sqlite3_opens(self):
        os.makedirs(self.in_folder("far/below"))
        os.symlink("far/below", self.in_folder("link"))
        path = self.path
        for name, uri in {
            path: True,
            self.in_folder("what?.db"): True,
            self.in_folder("sharp#.db"): True,
            "/" + self.in_folder("slashes.db"): False,
            self.in_folder("link/../beside.db"): False,
            os.fsencode(self.in_folder("bytes")) + b"\xff\xfe.db": False,
            f"file:{path}?_vfs=1": True,
        }.items():
            with self.subTest(name=name):
                self.connect(name, uri=uri).execute("CREATE TABLE IF NOT EXISTS t(a)")
                with contextlib.closing(sqlite3.connect(name, uri=uri)) as stock:
                    stock.text_factory = bytes
                    file = stock.execute("PRAGMA database_list").fetchone()[2]
                self.assertEqual(begins_as(file), "frame")
                os.remove(file)
        self.assertEqual(sorted(os.listdir(self.folder)), ["far", "link"])
        for name in ("", ":memory:"):
            self.connect(name, uri=True).execute("CREATE TABLE t(a)")
        self.assertEqual(sorted(os.listdir(self.folder)), ["far", "link"])

    def test_a_null_in_a_name_is_refused(self):
        for name, options in (("cut\0.db", {}), ("a.db", {"codec": "zstd\0"}), ("a.db", {"tmpdir": ".\0"})):
            with self.subTest(name=name, options=options), self.assertRaisesRegex(ValueError, "null character"):
                self.connect(self.in_folder(name), **options)
        self.assertEqual(os.listdir(self.folder), [])

    def test_plain_databases_and_those_in_memory_stay_what_they_are(self):
        sqlite3.connect(self.path).execute("CREATE TABLE t(a)").connection.close()
        self.connect(self.path).execute("SELECT * FROM t")
        self.assertEqual(begins_as(self.path), "plain")
        self.connect(":memory:").execute("CREATE TABLE t(a)")
        self.assertEqual(os.listdir(self.folder), ["app.db"])

    def test_generations_are_read_and_wrong_parameters_told(self):
        db = self.connect(self.path, history=10, isolation_level=None)
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES(1)")
        before = int(db.execute("PRAGMA cairn_info").fetchone()[0].split("generation ")[1].split()[0])
        db.execute("INSERT INTO t VALUES(2)")
        old = self.connect(self.path, generation=before)
        self.assertEqual(old.execute("SELECT count(*) FROM t").fetchone(), (1,))
        with self.assertRaisesRegex(sqlite3.OperationalError, "codec=foo"):
            self.connect(self.in_folder("new.db"), codec="foo")

    def test_an_extension_that_is_nowhere_is_told(self):
        done = self.run_python("import cairn.sqlite; cairn.sqlite.connect('app.db')", check=False,
                               env={"CAIRN_SQLITE": "/no/such/cairn_sqlite.so"})  # fmt: skip
        self.assertIn("cairn_sqlite.so: not found in /no/such", done.stderr)

    def test_a_python_that_loads_no_extensions_is_told(self):
        done = self.run_python(
            """
            import sqlite3
            class Connection: pass
            sqlite3.Connection = Connection
            import cairn.sqlite
            cairn.sqlite.connect("app.db")
            """, check=False)  # fmt: skip
        self.assertIn("--enable-loadable-sqlite-extensions", done.stderr)

    def test_a_program_runs_with_databases_in_frames(self):
        with open(self.in_folder("program.py"), "w", encoding="utf-8") as file:
            file.write("import sqlite3, sys\n"
                       "sqlite3.connect(sys.argv[1]).execute('CREATE TABLE t(a)')\n")  # fmt: skip
        self.run_program([sys.executable, "-m", "cairn.sqlite", "program.py", "app.db"])
        self.run_program([sys.executable, "-m", "cairn.sqlite", "-m", "program", "module.db"], env={
            "PYTHONPATH": os.pathsep.join([self.folder, os.environ.get("PYTHONPATH", "")])})  # fmt: skip
        self.assertEqual([begins_as(self.path), begins_as(self.in_folder("module.db"))], ["frame", "frame"])

    def test_what_is_not_a_program_in_python_is_told_in_one_line(self):
        def make(name, text):
            with open(self.in_folder(name), "wb") as file:
                file.write(text)
            os.chmod(self.in_folder(name), 0o755)

        make("shell", b"#!/bin/sh\nif true; then echo; fi\n")
        make("binary.py", b"\x7fELF\0\0\0")
        for name, words in (("ls", "ls: not a program in Python"),
                            ("./shell", "./shell: not a program in Python"),
                            ("binary.py", "binary.py: not a program in Python"),
                            ("no-such", "no-such: no such program"),
                            ("-m no.such", "no.such: no such module")):  # fmt: skip
            with self.subTest(name=name):
                done = self.run_program([sys.executable, "-m", "cairn.sqlite", *name.split()], check=False)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"\Acairn\.sqlite: [^\n]*{words}[^\n]*\n\Z")

    def test_programs_in_python_of_every_form_run(self):
        text = "import sqlite3\nsqlite3.connect('app.db').execute('CREATE TABLE t(a)')\n"
        # As installers begin it where the path of Python is long.
        both = "#!/bin/sh\n'''exec' no-such-interpreter \"$0\" \"$@\"\n' '''\n" + text
        os.mkdir(self.in_folder("folder"))
        for name, content in {"source.py": text, "folder/__main__.py": text, "both": both}.items():
            with open(self.in_folder(name), "w", encoding="utf-8") as file:
                file.write(content)
        py_compile.compile(self.in_folder("source.py"), self.in_folder("compiled.pyc"))
        with zipfile.ZipFile(self.in_folder("archive"), "w") as archive:
            archive.writestr("__main__.py", text)
        for name in ("source.py", "compiled.pyc", "both", "archive", "folder"):
            with self.subTest(name=name):
                self.run_program([sys.executable, "-m", "cairn.sqlite", name])
                self.assertEqual(begins_as(self.path), "frame")
                os.remove(self.path)

    def test_a_wrong_program_in_python_shows_its_own_error(self):
        with open(self.in_folder("wrong.py"), "w", encoding="utf-8") as file:
            file.write("if True print()\n")
        done = self.run_program([sys.executable, "-m", "cairn.sqlite", "wrong.py"], check=False)
        self.assertIn("SyntaxError", done.stderr)

    def test_a_program_that_prefers_pysqlite3_makes_frames_too(self):
        # Its SQLite is another one, which has not loaded the extension.
        with open(self.in_folder("pysqlite3.py"), "w", encoding="utf-8") as file:
            file.write("from sqlite3 import *\ndef connect(name): open(name, 'w').close()\n")
        with open(self.in_folder("program.py"), "w", encoding="utf-8") as file:
            file.write("try:\n import pysqlite3 as sqlite3\nexcept ImportError:\n import sqlite3\n"
                       "sqlite3.connect('app.db').execute('CREATE TABLE t(a)')\n")  # fmt: skip
        self.run_program([sys.executable, "-m", "cairn.sqlite", "program.py"])
        self.assertEqual(begins_as(self.path), "frame")

    @unittest.skipUnless(importlib.util.find_spec("sqlite_utils"), "no sqlite-utils")
    def test_sqlite_utils(self):
        run = [sys.executable, "-m", "cairn.sqlite", "sqlite-utils"]
        self.run_program([*run, "insert", "app.db", "t", "-"], input='[{"a": 1}, {"a": 2}]')
        self.assertEqual(begins_as(self.path), "frame")
        self.assertIn("3", self.run_program([*run, "app.db", "SELECT sum(a) FROM t"]).stdout)

    @unittest.skipUnless(importlib.util.find_spec("datasette"), "no datasette")
    def test_datasette(self):
        with self.connect(self.path) as db:
            db.execute("CREATE TABLE t(a)")
            db.execute("INSERT INTO t VALUES(7)")
        run = [sys.executable, "-m", "cairn.sqlite", "datasette"]
        done = self.run_program([*run, "app.db", "--get", "/app/t.json?_shape=array"])
        self.assertIn('"a": 7', done.stdout)


if __name__ == "__main__":
    unittest.main()
