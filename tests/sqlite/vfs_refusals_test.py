"""What opening a database refuses, and what the pragmas do: the files stay as they were.

    CAIRN_SQLITE=BUILD/tools/sqlite/cairn_sqlite.so python3 tests/sqlite/vfs_refusals_test.py
"""

import os
import shutil
import sqlite3
import sys
import tempfile
import unittest

if not hasattr(sqlite3.Connection, "enable_load_extension") and sys.executable != "/usr/bin/python3":
    if os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

EXTENSION = os.environ.get("CAIRN_SQLITE", "")


@unittest.skipUnless(hasattr(sqlite3.Connection, "enable_load_extension"),
                     "sqlite3 of this Python loads no extensions")
class FolderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        loader = sqlite3.connect(":memory:")
        loader.enable_load_extension(True)
        loader.load_extension(EXTENSION)
        loader.close()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cairn-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def uri(self, name, parameters=""):
        return f"file:{self.path(name)}?vfs=cairn{parameters}"

    def connect(self, name, parameters=""):
        db = sqlite3.connect(self.uri(name, parameters), uri=True, isolation_level=None)
        self.addCleanup(db.close)
        return db

    def make_frame(self, name, parameters=""):
        db = self.connect(name, parameters)
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES(7)")
        return db

    def make_plain(self, name):
        db = sqlite3.connect(self.path(name))
        db.execute("CREATE TABLE t(a)")
        db.close()

    def make_file(self, name, content=b""):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def files(self):
        """The names and contents of all files."""
        found = {}
        for name in os.listdir(self.folder):
            with open(self.path(name), "rb") as file:
                found[name] = file.read()
        return found

    def assert_refused(self, code, words, act):
        """`act` fails so, and changes no file."""
        before = self.files()
        with self.assertRaisesRegex(sqlite3.DatabaseError, words) as caught:
            act()
        if hasattr(caught.exception, "sqlite_errorname"):  # since Python 3.11
            self.assertEqual(caught.exception.sqlite_errorname, code)
        self.assertEqual(self.files(), before)


# A state of the past, and what else is only read.
READS = ("&generation=1", "&generation=5", "&mode=ro&generation=1", "&mode=rwc&generation=1",
         "&generation=1&history=3&codec=zstd", "&immutable=1", "&immutable=1&generation=1", "&mode=ro")


class ReadOnlyTest(FolderTest):
    def test_a_missing_file_is_not_made(self):
        for parameters in READS:
            with self.subTest(parameters=parameters):
                self.assert_refused("SQLITE_CANTOPEN", "^unable to open database file$",
                                    lambda: self.connect("none.db", parameters))

    def test_nothing_is_made_by_attaching_it_or_vacuuming_into_it(self):
        db = self.make_frame("app.db")
        for parameters in READS:
            with self.subTest(parameters=parameters):
                self.assert_refused(
                    "SQLITE_CANTOPEN", "unable to open database",
                    lambda: db.execute("ATTACH ? AS other", (self.uri("none.db", parameters),)))
                self.assert_refused(
                    "SQLITE_CANTOPEN", "unable to open database",
                    lambda: db.execute("VACUUM INTO ?", (self.uri("none.db", parameters),)))

    def test_an_empty_file_stays_empty(self):
        self.make_file("empty.db")
        for parameters in READS:
            with self.subTest(parameters=parameters):
                if "generation" in parameters:
                    # SQLite itself looks at an immutable file before it asks for the message.
                    words = "unable to open" if "immutable" in parameters else "empty.db: expected a frame"
                    self.assert_refused("SQLITE_CANTOPEN", words,
                                        lambda: self.connect("empty.db", parameters))
                    continue
                db = self.connect("empty.db", parameters)
                self.assertEqual(db.execute("SELECT count(*) FROM sqlite_master").fetchone(), (0,))
                self.assert_refused("SQLITE_READONLY", "readonly", lambda: db.execute("CREATE TABLE t(a)"))

    def test_an_empty_file_is_not_vacuumed_into(self):
        db = self.make_frame("app.db")
        self.make_file("empty.db")
        for parameters in READS:
            with self.subTest(parameters=parameters):
                before = self.files()
                with self.assertRaises(sqlite3.DatabaseError):
                    db.execute("VACUUM INTO ?", (self.uri("empty.db", parameters),))
                self.assertEqual(self.files(), before)

    def test_a_generation_of_a_file_that_is_not_a_frame_is_told(self):
        self.make_plain("plain.db")
        self.make_file("other.db", b"neither a frame nor a database" * 100)
        for name in ("plain.db", "other.db"):
            for parameters in ("&generation=1", "&generation=0", "&generation=x", "&mode=ro&generation=1"):
                with self.subTest(name=name, parameters=parameters):
                    self.assert_refused("SQLITE_CANTOPEN", f"{name}: expected a frame",
                                        lambda: self.connect(name, parameters))

    def test_a_generation_is_only_read(self):
        db = self.make_frame("app.db", "&history=5")
        newest = db.execute("PRAGMA cairn_history").fetchone()[0].split("\n")[-1].split()[0]
        old = self.connect("app.db", f"&generation={newest}")
        self.assertEqual(old.execute("SELECT a FROM t").fetchone(), (7,))
        self.assert_refused("SQLITE_READONLY", "readonly", lambda: old.execute("INSERT INTO t VALUES(8)"))


class RefusedTest(FolderTest):
    def test_wrong_parameters_leave_every_file_as_it_was(self):
        self.make_frame("app.db").close()
        self.make_file("empty.db")
        for name in ("app.db", "empty.db", "none.db"):
            for parameters in ("&codec=none-such", "&level=99", "&chunksize=1", "&history=-1",
                               "&durability=full", "&mmap=maybe", "&tmpdir=/no/such", "&codc=zstd"):
                with self.subTest(name=name, parameters=parameters):
                    self.assert_refused("SQLITE_CANTOPEN", "URI parameter cod|URI parameter " + parameters[1:4],
                                        lambda: self.connect(name, parameters))

    def test_a_parameter_that_is_given_twice_is_refused(self):
        for name in ("codec", "history", "mode"):
            with self.subTest(name=name):
                self.assert_refused("SQLITE_CANTOPEN", f"URI parameter {name}: given twice",
                                    lambda: self.connect("none.db", f"&{name}=rwc&_own=1&_own=2&{name}=rwc"))

    def test_a_table_of_a_missing_frame_does_not_make_it(self):
        db = sqlite3.connect(":memory:")
        self.addCleanup(db.close)
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)
        for options in ("", ", writable=1", ", writable=1, wait=5"):
            with self.subTest(options=options), self.assertRaises(sqlite3.DatabaseError):
                db.execute(f"CREATE VIRTUAL TABLE x USING cairn('{self.path('none')}'{options})")
            self.assertEqual(os.listdir(self.folder), [])


class PragmaTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.db = self.make_frame("app.db")

    def pragma(self, words):
        return self.db.execute(f"PRAGMA {words}").fetchone()

    def test_a_backup_over_a_file_is_an_error_that_names_it(self):
        self.make_file("there.db")
        for name in ("there.db", "app.db"):
            with self.subTest(name=name):
                self.assert_refused("SQLITE_ERROR", f"{name}.*exists",
                                    lambda: self.pragma(f"cairn_backup('{self.path(name)}')"))

    def test_an_unknown_pragma_of_cairn_is_a_usage_error(self):
        for words in ("cairn_inf", "cairn_backups('copy.db')", "main.Cairn_Reclaim = 1"):
            with self.subTest(words=words):
                self.assert_refused("SQLITE_ERROR", "cairn_[a-z]*: expected one of cairn_backup, ",
                                    lambda: self.pragma(words))

    def test_a_backup_without_a_path_is_a_usage_error(self):
        for words in ("cairn_backup", "cairn_backup('')", "cairn_backup = ''", "main.cairn_backup"):
            with self.subTest(words=words):
                self.assert_refused("SQLITE_ERROR", r"cairn_backup: expected .*cairn_backup\('copy.db'\)",
                                    lambda: self.pragma(words))

    def test_a_backup_to_what_is_not_a_path_is_refused(self):
        for target in (f"file:{self.path('copy.db')}", f"file:{self.path('copy.db')}?vfs=cairn",
                       "file:copy.db", ":memory:"):
            with self.subTest(target=target):
                self.assert_refused("SQLITE_ERROR", "cairn_backup: expected the path of a file",
                                    lambda: self.pragma(f"cairn_backup('{target}')"))
        self.assertFalse([name for name in os.listdir(".") if name.startswith(("file:", ":memory:"))])

    def test_a_backup_into_a_folder_that_is_not_there_cannot_be_opened(self):
        self.assert_refused("SQLITE_CANTOPEN", "no/copy.db",
                            lambda: self.pragma(f"cairn_backup('{self.path('no/copy.db')}')"))

    def test_a_backup_to_a_path_is_made(self):
        self.assertEqual(self.pragma(f"cairn_backup('{self.path('copy.db')}')"), (self.path("copy.db"),))
        self.assertEqual(self.connect("copy.db").execute("SELECT a FROM t").fetchone(), (7,))

    def test_pragmas_that_take_no_argument_refuse_one(self):
        for name in ("cairn_info", "cairn_history", "cairn_verify"):
            for argument in ("('other.db')", "=1", "('')"):
                with self.subTest(name=name, argument=argument):
                    self.assert_refused("SQLITE_ERROR", f"{name}: expected no argument",
                                        lambda: self.pragma(name + argument))
            self.assertTrue(self.pragma(name)[0])


if __name__ == "__main__":
    unittest.main()
