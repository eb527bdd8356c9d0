"""Databases in frames as their users have them: Python's sqlite3, the sqlite3 shell, a program in C.

    CAIRN_SQLITE=BUILD/tools/sqlite/cairn_sqlite.so CAIRN_SQLITE_USE=BUILD/tests/sqlite/sqlite_use \
    CAIRN_TOOL=BUILD/tools/cairn python3 tests/sqlite/vfs_use_test.py

A Python whose sqlite3 loads no extensions leaves the tests to Debian's.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

if not hasattr(sqlite3.Connection, "enable_load_extension") and sys.executable != "/usr/bin/python3":
    if os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

EXTENSION = os.environ.get("CAIRN_SQLITE", "")
PROGRAM = os.environ.get("CAIRN_SQLITE_USE", "")
TOOL = os.environ.get("CAIRN_TOOL", "")


def load_extension():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.close()


@unittest.skipUnless(hasattr(sqlite3.Connection, "enable_load_extension"),
                     "sqlite3 of this Python loads no extensions")
class PythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        load_extension()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cairn-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "app.db")

    def connect(self, parameters="", path=None, **options):
        db = sqlite3.connect(f"file:{path or self.path}?vfs=cairn{parameters}", uri=True, **options)
        self.addCleanup(db.close)
        return db

    def fill(self, count=1000, parameters=""):
        db = self.connect(parameters)
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)")
        db.executemany("INSERT INTO t VALUES(?, ?)", ((i, f"row {i} " * 10) for i in range(count)))
        db.commit()
        return db

    def test_rows_are_there_when_it_is_opened_again(self):
        self.fill().close()
        self.assertEqual(self.connect().execute("SELECT sum(a) FROM t").fetchone(), (499500,))

    def test_the_file_is_a_frame_smaller_than_the_database(self):
        self.fill(20000).close()
        pages, size = (self.connect().execute(f"PRAGMA {name}").fetchone()[0]
                       for name in ("page_count", "page_size"))
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(10)[2:], b"b2frame\0")
        self.assertLess(os.stat(self.path).st_blocks * 512, pages * size / 2)

    def test_no_journal_is_left_and_none_is_seen(self):
        db = self.fill()
        db.execute("INSERT INTO t VALUES(-1, '')")
        self.assertFalse([name for name in os.listdir(self.folder) if "-journal" in name])
        db.rollback()
        self.assertEqual(db.execute("SELECT min(a) FROM t").fetchone(), (0,))

    def test_codecs_of_uri(self):
        for codec in ("lz4", "zstd"):
            with self.subTest(codec=codec):
                self.path = os.path.join(self.folder, codec + ".db")
                self.fill(100, f"&codec={codec}").close()
                self.assertEqual(self.connect().execute("PRAGMA integrity_check").fetchone(),
                                 ("ok",))

    def test_bad_parameters_are_refused_with_a_message_that_names_them(self):
        self.fill(1).close()
        for path in (self.path, os.path.join(self.folder, "new.db")):
            for parameters, told in (
                ("&codec=none-such", "codec=none-such: expected blosclz, lz4"),
                ("&codec=", "codec=: expected"),
                ("&level=99", "level=99: expected 0 to 9"),
                ("&level=x", "level=x: expected 0 to 9"),
                ("&history=-1", "history=-1: expected 0 to"),
                ("&generation=x", "generation=x: expected 0 to"),
                ("&chunksize=33554433", "chunksize=33554433: expected 512 to"),
                ("&durability=full", "durability=full: expected machine or process"),
                ("&mmap=maybe", "mmap=maybe: expected 0 or 1"),
                ("&tmpdir=/no/such", "tmpdir=/no/such: expected a folder"),
                ("&codc=zstd", "codc: expected one of codec, level"),
                ("&codec=zstd&hystory=2", "hystory: expected one of"),
            ):
                with self.subTest(parameters=parameters):
                    with self.assertRaisesRegex(sqlite3.OperationalError, told):
                        self.connect(parameters, path=path)
                    if path != self.path:
                        self.assertFalse(os.path.exists(path))

    def test_a_generation_that_is_gone_is_told(self):
        self.fill(1).close()
        with self.assertRaisesRegex(
                sqlite3.OperationalError, r"generation 999: the frame holds generations \d to \d"):
            self.connect("&generation=999")

    def test_parameters_of_sqlite_and_of_drivers_are_taken(self):
        self.fill(3).close()
        for parameters in ("&mode=rw", "&mode=ro", "&cache=private", "&cache=shared", "&psow=0",
                           "&nolock=1", "&immutable=1", f"&modeof={self.path}",
                           "&_busy_timeout=5000"):
            with self.subTest(parameters=parameters):
                db = self.connect(parameters)
                self.assertEqual(db.execute("SELECT count(*) FROM t").fetchone(), (3,))

    def test_a_database_of_sqlite_itself_takes_any_parameter(self):
        plain = sqlite3.connect(self.path)
        plain.execute("CREATE TABLE t(a)")
        plain.close()
        db = self.connect("&codec=none-such&unknown=1")
        self.assertEqual(db.execute("SELECT count(*) FROM t").fetchone(), (0,))

    def test_a_refused_database_is_not_attached(self):
        db = self.fill(1)
        with self.assertRaisesRegex(sqlite3.OperationalError, "unable to open database"):
            db.execute("ATTACH ? AS other", (f"file:{self.folder}/new.db?vfs=cairn&codec=foo",))
        for nolock in ("", "&nolock=1"):
            with self.assertRaisesRegex(sqlite3.OperationalError, "unable to open database"):
                db.execute("VACUUM INTO ?",
                           (f"file:{self.folder}/new.db?vfs=cairn&codec=foo{nolock}",))
        self.assertEqual(os.listdir(self.folder), ["app.db"])
        self.assertEqual(db.execute("SELECT count(*) FROM t").fetchone(), (1,))

    def test_paths_that_the_system_refuses_are_told_in_the_words_of_sqlite(self):
        db = self.fill(1)
        missing = f"{self.folder}/none/app.db"
        with self.assertRaisesRegex(sqlite3.OperationalError, "^unable to open database file$"):
            self.connect(path=missing)
        with self.assertRaisesRegex(sqlite3.OperationalError, f"open database: file:{missing}"):
            db.execute("ATTACH ? AS other", (f"file:{missing}?vfs=cairn",))

    def test_a_damaged_frame_is_told_when_it_is_opened(self):
        self.fill(3).close()
        with open(self.path, "r+b") as file:
            file.truncate(200)
        with self.assertRaisesRegex(sqlite3.DatabaseError, "cairn: .*frame"):
            self.connect()

    def test_temporary_files_lie_in_the_folder_of_the_database(self):
        folder = os.path.join(self.folder, "temporary")
        os.mkdir(folder)
        db = self.fill(1000, f"&tmpdir={folder}")
        db.isolation_level = None
        db.execute("CREATE TEMP TABLE u(a, b)")
        db.execute("PRAGMA temp.cache_size=5")
        db.execute("INSERT INTO u SELECT a, hex(randomblob(2000)) FROM t")
        opened = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                  if os.path.lexists(f"/proc/self/fd/{fd}")]
        self.assertTrue([name for name in opened if name.startswith(folder)], opened)
        self.assertEqual(db.execute("SELECT sum(a) FROM u").fetchone(), (499500,))
        self.assertEqual(os.listdir(folder), [])
        db.execute("VACUUM")
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_pages_are_read_without_maps(self):
        self.fill(1000, "&mmap=0").close()
        db = self.connect("&mmap=0")
        self.assertEqual(db.execute("SELECT sum(a) FROM t").fetchone(), (499500,))
        with open("/proc/self/maps", encoding="utf-8") as maps:
            self.assertNotIn(self.path, maps.read())
        db.execute("UPDATE t SET a = a + 1 WHERE a = 999")
        db.commit()
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    @unittest.skipUnless(TOOL, "CAIRN_TOOL is not set")
    def test_a_packed_database_in_write_ahead_mode_is_opened_and_written(self):
        plain = os.path.join(self.folder, "plain.db")
        db = sqlite3.connect(plain)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES(7)")
        db.commit()
        db.close()
        with open(plain, "rb") as file:
            self.assertEqual(file.read(20)[18:], b"\2\2")
        for number, size in enumerate(("4096", "512", "16384")):
            with self.subTest(size=size):
                packed = os.path.join(self.folder, f"packed-{number}.db")
                subprocess.run([TOOL, "pack", plain, packed, "--typesize", "1", "--chunk-size", size,
                                "--quiet"], check=True)
                db = self.connect(path=packed)
                self.assertEqual(db.execute("SELECT a FROM t").fetchone(), (7,))
                self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))
                db.execute("INSERT INTO t VALUES(8)")
                db.commit()
                self.assertEqual(db.execute("PRAGMA journal_mode").fetchone(), ("delete",))
                again = self.connect(path=packed)
                self.assertEqual(again.execute("SELECT sum(a) FROM t").fetchone(), (15,))

    def test_a_read_only_database_refuses_writes(self):
        self.fill().close()
        db = self.connect("&mode=ro")
        self.assertEqual(db.execute("SELECT count(*) FROM t").fetchone(), (1000,))
        with self.assertRaises(sqlite3.OperationalError):
            db.execute("DELETE FROM t")

    def test_a_database_of_sqlite_itself_stays_one(self):
        plain = sqlite3.connect(self.path)
        plain.execute("CREATE TABLE t(a)")
        plain.commit()
        db = self.connect()
        db.execute("INSERT INTO t VALUES(1)")
        db.commit()
        self.assertEqual(plain.execute("SELECT a FROM t").fetchone(), (1,))
        plain.close()

    def test_frames_of_other_items_or_chunks_are_read_only(self):
        plain = os.path.join(self.folder, "plain.db")
        db = sqlite3.connect(plain)
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES(7)")
        db.commit()
        db.close()
        for number, options in enumerate((["--typesize", "4"], ["--chunk-size", "33554433"], ["--shape", "8192"])):
            with self.subTest(options=options):
                packed = os.path.join(self.folder, f"packed-{number}.db")
                if "--typesize" not in options:
                    options += ["--typesize", "1"]
                subprocess.run([TOOL, "pack", plain, packed, "--quiet", *options], check=True)
                db = self.connect(path=packed)
                self.assertEqual(db.execute("SELECT a FROM t").fetchone(), (7,))
                with self.assertRaisesRegex(sqlite3.OperationalError, "readonly"):
                    db.execute("INSERT INTO t VALUES(8)")
                self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_others_see_each_commit_of_an_exclusive_connection(self):
        other = self.fill(3)
        reader = self.connect(isolation_level=None)
        writer = self.connect(isolation_level=None)
        writer.execute("PRAGMA locking_mode=EXCLUSIVE")
        for count in range(4, 9):
            writer.execute("INSERT INTO t(b) VALUES(?)", (f"row {count}",))
            self.assertEqual(reader.execute("SELECT count(*) FROM t").fetchone(), (count,))
            if count == 6:
                writer.execute("PRAGMA cache_size=1")
                writer.execute("BEGIN")
                writer.executemany("INSERT INTO t(b) VALUES(?)", (("x" * 2000,) for _ in range(90)))
                writer.execute("ROLLBACK")
        writer.execute("PRAGMA locking_mode=NORMAL")
        self.assertEqual(writer.execute("SELECT count(*) FROM t").fetchone(), (8,))
        reader.execute("DELETE FROM t WHERE a = 0")
        self.assertEqual(writer.execute("SELECT count(*) FROM t").fetchone(), (7,))
        self.assertEqual(other.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_backup_from_and_to_files_of_sqlite_itself(self):
        db = self.fill()
        plain = sqlite3.connect(os.path.join(self.folder, "plain.db"))
        db.backup(plain)
        back = self.connect(path=os.path.join(self.folder, "back.db"))
        plain.backup(back)
        rows = db.execute("SELECT * FROM t").fetchall()
        self.assertEqual(plain.execute("SELECT * FROM t").fetchall(), rows)
        self.assertEqual(back.execute("SELECT * FROM t").fetchall(), rows)
        plain.close()

    def test_backup_of_a_database_in_write_ahead_mode_is_used_by_the_connection_that_has_it(self):
        plain = sqlite3.connect(os.path.join(self.folder, "plain.db"), isolation_level=None)
        self.addCleanup(plain.close)
        self.assertEqual(plain.execute("PRAGMA journal_mode=WAL").fetchone(), ("wal",))
        plain.execute("CREATE TABLE t(a)")
        for begun in (False, True):
            with self.subTest(begun=begun):
                plain.execute("INSERT INTO t VALUES(5)")
                db = self.connect(path=os.path.join(self.folder, f"{begun}.db"), isolation_level=None)
                if begun:
                    db.execute("CREATE TABLE old(b)")
                plain.backup(db)
                rows = plain.execute("SELECT * FROM t").fetchall()
                self.assertEqual(db.execute("SELECT * FROM t").fetchall(), rows)
                self.assertEqual(db.execute("PRAGMA journal_mode").fetchone(), ("delete",))
                db.execute("INSERT INTO t VALUES(6)")
                self.assertEqual(db.execute("SELECT * FROM t").fetchall(), [*rows, (6,)])

    def test_vacuum_into_and_attach(self):
        db = self.fill()
        copy = os.path.join(self.folder, "copy.db")
        db.execute("VACUUM INTO ?", (f"file:{copy}?vfs=cairn",))
        db.execute("ATTACH ? AS copy", (f"file:{copy}?vfs=cairn",))
        self.assertEqual(db.execute("SELECT count(*) FROM t JOIN copy.t USING(a, b)").fetchone(),
                         (1000,))

    def test_a_vacuum_keeps_rows_and_changes_page_size(self):
        db = self.fill()
        db.isolation_level = None
        db.execute("DELETE FROM t WHERE a % 2")
        db.execute("PRAGMA page_size=8192")
        db.execute("VACUUM")
        self.assertEqual(db.execute("SELECT count(*) FROM t").fetchone(), (500,))
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_asked_for_a_write_ahead_log_sqlite_answers_the_mode_that_holds(self):
        db = self.fill()
        for locking in ("normal", "exclusive"):
            db.execute(f"PRAGMA locking_mode={locking}")
            for mode in ("delete", "memory", "off", "truncate", "persist"):
                db.execute(f"PRAGMA journal_mode={mode}")
                for asked in ("WAL", "wal", "'Wal'"):
                    with self.subTest(locking=locking, mode=mode, asked=asked):
                        answer = db.execute(f"PRAGMA main.journal_mode={asked}").fetchone()
                        self.assertEqual(answer, (mode,))
                        self.assertEqual(db.execute("PRAGMA journal_mode").fetchone(), (mode,))
                db.execute("INSERT INTO t(b) VALUES(1)")
                db.commit()
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_two_connections_of_a_process(self):
        writer = self.fill()
        reader = self.connect()
        writer.execute("DELETE FROM t")
        self.assertEqual(reader.execute("SELECT count(*) FROM t").fetchone(), (1000,))
        writer.commit()
        self.assertEqual(reader.execute("SELECT count(*) FROM t").fetchone(), (0,))

    def test_a_commit_that_changes_nothing_hides_no_later_one(self):
        first = self.fill()
        first.isolation_level = None
        first.execute("SELECT sum(length(b)) FROM t").fetchone()  # it knows all pages
        first.execute("PRAGMA user_version=0")  # as it was: only the change counter is written
        second = self.connect()
        second.execute("UPDATE t SET b = '' WHERE a = 500")
        second.commit()
        self.assertEqual(first.execute("SELECT b FROM t WHERE a = 500").fetchone(), ("",))

    def test_a_commit_stores_no_first_page_of_which_only_the_counter_changes(self):
        db = self.fill()
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)
        stored = 'SELECT "offset" FROM cairn_chunks(?) WHERE chunk = 0'
        before = db.execute(stored, (self.path,)).fetchone()
        for _ in range(3):
            db.execute("UPDATE t SET b = b || '.' WHERE a = 500")
            db.commit()
        self.assertEqual(db.execute(stored, (self.path,)).fetchone(), before)

    @unittest.skipUnless(TOOL, "CAIRN_TOOL is not set")
    def test_what_the_frame_holds_is_a_database_of_sqlite_itself(self):
        db = self.fill()
        db.execute("UPDATE t SET b = 'new' WHERE a = 500")
        db.commit()
        plain = os.path.join(self.folder, "plain.db")
        with open(plain, "wb") as file:
            subprocess.run([TOOL, "cat", self.path], check=True, stdout=file)
        copy = sqlite3.connect(plain)
        self.assertEqual(copy.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        self.assertEqual(copy.execute("SELECT b FROM t WHERE a = 500").fetchone(), ("new",))
        copy.close()

    def test_a_second_writer_is_busy(self):
        first = self.fill()
        first.execute("DELETE FROM t WHERE a = 0")
        second = self.connect(timeout=0)
        with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
            second.execute("DELETE FROM t WHERE a = 1")
        first.commit()
        second.execute("DELETE FROM t WHERE a = 1")
        second.commit()
        self.assertEqual(first.execute("SELECT count(*) FROM t").fetchone(), (998,))

    @unittest.skipUnless(TOOL, "CAIRN_TOOL is not set")
    def test_the_tool_verifies_a_database(self):
        self.fill().close()
        subprocess.run([TOOL, "verify", self.path], check=True, stdout=subprocess.DEVNULL)


def examples(language):
    """Those of docs/sqlite.md about databases in frames."""
    path = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "sqlite.md")
    with open(path, encoding="utf-8") as file:
        section = file.read().split("\n## A database in a frame\n")[1].split("\n## ")[0]
    programs = [part.split("```")[0] for part in section.split(f"```{language}\n")[1:]]
    return [program.replace("./cairn_sqlite", EXTENSION.removesuffix(".so")) for program in programs]


class DocsTest(unittest.TestCase):
    def run_twice(self, command, program):
        """What it prints at the first time and, with the database there, at the second."""
        with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
            return [subprocess.run(command, cwd=folder, input=program, text=True, check=True,
                                   stdout=subprocess.PIPE).stdout for _ in range(2)]

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3 shell")
    def test_in_the_shell(self):
        (program,) = examples("sql")
        printed = self.run_twice(["sqlite3", "-batch", "-bail"], program)
        self.assertEqual([text.splitlines()[0] for text in printed], ["2", "4"])
        self.assertIn("chunksize 4096", printed[0])

    @unittest.skipUnless(hasattr(sqlite3.Connection, "enable_load_extension"),
                         "sqlite3 of this Python loads no extensions")
    def test_in_python(self):
        (program,) = examples("python")
        self.assertEqual(self.run_twice([sys.executable, "-"], program), ["1\n", "2\n"])

    @unittest.skipUnless(shutil.which("sqlite3") and TOOL, "no sqlite3 shell, or no tool")
    def test_into_a_frame_and_out_again(self):
        (program,) = examples("sh")
        with tempfile.TemporaryDirectory(prefix="cairn-") as folder:
            def rows(name):
                db = sqlite3.connect(os.path.join(folder, name))
                try:
                    return db.execute("SELECT a FROM t").fetchall()
                finally:
                    db.close()

            plain = sqlite3.connect(os.path.join(folder, "plain.db"))
            plain.execute("CREATE TABLE t(a)")
            plain.execute("INSERT INTO t VALUES(7)")
            plain.commit()
            plain.close()
            tool = f"cairn() {{ '{TOOL}' \"$@\"; }}\n"
            subprocess.run(["sh", "-e", "-c", tool + program], cwd=folder, check=True)
            with open(os.path.join(folder, "packed.db"), "rb") as file:
                self.assertEqual(file.read(9)[2:], b"b2frame")
            self.assertEqual([rows("again.db"), rows("pages.db")], [[(7,)], [(7,)]])


class ShellTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cairn-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "app.db")

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3 shell")
    def test_shell_loads_the_extension_and_opens_a_database(self):
        opened = [f".load {EXTENSION}", f".open file:{self.path}?vfs=cairn"]
        for statement, printed in (("CREATE TABLE t(a); INSERT INTO t VALUES(7);", ""),
                                   ("SELECT a FROM t;", "7\n")):
            shell = subprocess.run(["sqlite3", "-batch", "-bail", ":memory:"], text=True,
                                   input="\n".join([*opened, statement, ""]), check=True,
                                   stdout=subprocess.PIPE)
            self.assertEqual(shell.stdout, printed)

    @unittest.skipUnless(PROGRAM, "CAIRN_SQLITE_USE is not set")
    def test_program_in_c(self):
        for printed in ("1\n", "2\n"):
            program = subprocess.run([PROGRAM, EXTENSION, self.path], check=True, text=True,
                                     stdout=subprocess.PIPE)
            self.assertEqual(program.stdout, printed)


if __name__ == "__main__":
    unittest.main()
