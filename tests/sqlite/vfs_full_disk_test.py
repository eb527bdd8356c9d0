"""Databases on a disk of 2 MiB that is full, or beside a temporary folder that is.

    CAIRN_SQLITE=BUILD/tools/sqlite/cairn_sqlite.so PYTHONPATH=tests/cli \
        python3 tests/sqlite/vfs_full_disk_test.py
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import small_disk

if not hasattr(sqlite3.Connection, "enable_load_extension") and sys.executable != "/usr/bin/python3":
    if os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

EXTENSION = os.environ.get("CAIRN_SQLITE", "")


@unittest.skipUnless(hasattr(sqlite3.Connection, "enable_load_extension"),
                     "sqlite3 of this Python loads no extensions")
class FullDiskTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        loader = sqlite3.connect(":memory:")
        loader.enable_load_extension(True)
        loader.load_extension(EXTENSION)
        loader.close()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cairn-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.disk = os.path.join(self.folder, "disk")
        small_disk.mount(self, self.disk, "2m")

    def uri(self, path, parameters=""):
        return f"file:{path}?vfs=cairn{parameters}"

    def connect(self, path, parameters=""):
        db = sqlite3.connect(self.uri(path, parameters), uri=True, isolation_level=None)
        self.addCleanup(db.close)
        return db

    def fill(self):
        small_disk.fill(self.disk)
        self.assertEqual(os.statvfs(self.disk).f_bavail, 0)

    def empty(self):
        for name in os.listdir(self.disk):
            os.remove(os.path.join(self.disk, name))

    def attach(self, main, other):
        db = self.connect(main)
        db.execute("ATTACH ? AS other", (self.uri(other),))
        return db

    def update_both(self, main, other, pragmas):
        """Updates a row here, and all pages there that are full; whether COMMIT said so, and what
        is there then."""
        db = self.attach(main, other)
        db.execute("CREATE TABLE main.one(a)")
        db.execute("CREATE TABLE other.many(a INTEGER PRIMARY KEY, b)")
        db.execute("BEGIN")
        big = "main" if os.path.dirname(main) == self.disk else "other"
        db.execute(f"CREATE TABLE {big}.big(b)")
        db.executemany(f"INSERT INTO {big}.big VALUES(zeroblob(?))", [(1000,)] * 1200)
        db.execute("INSERT INTO main.one VALUES(0)")
        db.execute("INSERT INTO other.many VALUES(0, 0)")
        db.execute("COMMIT")
        for pragma in pragmas:
            db.execute(f"PRAGMA main.{pragma}")
            db.execute(f"PRAGMA other.{pragma}")
        self.fill()
        told = True
        try:
            db.execute("BEGIN")
            db.execute("UPDATE main.one SET a = 1")
            db.execute("UPDATE other.many SET b = 1")
            db.execute(f"UPDATE {big}.big SET b = randomblob(1000)")
            db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            told = False
            self.assertIn("full", str(error))
            if db.in_transaction:
                db.execute("ROLLBACK")
        state = self.state(db, big)
        db.close()
        again = self.attach(main, other)
        self.assertEqual(self.state(again, big), state)
        for name in ("main", "other"):
            self.assertEqual(again.execute(f"PRAGMA {name}.integrity_check").fetchone(), ("ok",))
        again.close()
        return told, state

    def state(self, db, big):
        one = db.execute("SELECT a FROM main.one").fetchone()[0]
        many = db.execute("SELECT b FROM other.many").fetchone()[0]
        changed = db.execute(
            f"SELECT count(*) FROM {big}.big WHERE b <> zeroblob(1000)").fetchone()[0]
        return one, many, changed

    def test_a_transaction_over_two_databases_is_in_both_or_in_none(self):
        free = os.path.join(self.folder, "free.db")
        full = os.path.join(self.disk, "full.db")
        for journal in ("delete", "truncate", "persist", "memory"):
            for synchronous in ("FULL", "OFF"):
                for main, other in ((free, full), (full, free)):
                    with self.subTest(journal=journal, synchronous=synchronous, main=main):
                        pragmas = (f"journal_mode={journal}", f"synchronous={synchronous}")
                        told, state = self.update_both(main, other, pragmas)
                        self.assertEqual(state, (1, 1, 1200) if told else (0, 0, 0))
                    os.remove(free)
                    self.empty()

    def test_a_transaction_over_two_databases_that_shrinks_one_leaves_its_pages(self):
        """SQLite cuts the file only after it has decided to commit."""
        first = os.path.join(self.folder, "a.db")
        second = os.path.join(self.folder, "b.db")
        db = self.attach(first, second)
        for name in ("main", "other"):
            db.execute(f"PRAGMA {name}.auto_vacuum=FULL")
            db.execute(f"CREATE TABLE {name}.t(a INTEGER PRIMARY KEY, b)")
            db.executemany(f"INSERT INTO {name}.t(b) VALUES(randomblob(?))", [(3000,)] * 100)
        pages = db.execute("PRAGMA other.page_count").fetchone()[0]
        db.execute("BEGIN")
        db.execute("DELETE FROM main.t WHERE a > 50")
        db.execute("DELETE FROM other.t WHERE a % 4")
        db.execute("COMMIT")
        self.assertLess(db.execute("PRAGMA other.page_count").fetchone()[0], pages / 2)
        db.close()
        db = self.attach(first, second)
        self.assertEqual(db.execute("SELECT count(*) FROM main.t").fetchone(), (50,))
        self.assertEqual(db.execute("SELECT count(*) FROM other.t").fetchone(), (25,))
        for name in ("main", "other"):
            self.assertEqual(db.execute(f"PRAGMA {name}.integrity_check").fetchone(), ("ok",))

    def test_a_disk_that_is_full_of_the_database_is_freed_by_way_of_another(self):
        path = os.path.join(self.disk, "app.db")
        copy = os.path.join(self.folder, "copy.db")
        db = self.connect(path)
        db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        with self.assertRaisesRegex(sqlite3.OperationalError, "full"):
            while True:
                db.execute("INSERT INTO t(b) VALUES(randomblob(9000))")
        self.fill()
        rows = db.execute("SELECT count(*) FROM t").fetchone()[0]
        self.assertGreater(rows, 100)
        db.execute(f"PRAGMA cairn_backup('{copy}')")
        db.close()
        smaller = self.connect(copy)
        smaller.execute("DELETE FROM t WHERE a % 2")
        smaller.execute("VACUUM")
        smaller.close()
        os.remove(path)
        shutil.copy(copy, path)
        db = self.connect(path)
        db.execute("INSERT INTO t(b) VALUES(randomblob(9000))")
        self.assertEqual(db.execute("SELECT count(*) FROM t").fetchone(), (rows // 2 + 1,))
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def large_update(self, statements):
        """In a process whose temporary folder is full: what 18 MB of updates leave."""
        self.fill()
        code = f"""
import sqlite3
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension({EXTENSION!r})
db = sqlite3.connect({self.uri(os.path.join(self.folder, "app.db"))!r}, uri=True, isolation_level=None)
db.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
db.execute("BEGIN")
db.executemany("INSERT INTO t(b) VALUES(randomblob(?))", [(1500,)] * 12000)
db.execute("COMMIT")
before = db.execute("SELECT sum(length(b)), min(b), max(b) FROM t").fetchone()
for statement in {statements!r}:
    db.execute(statement)
after = db.execute("SELECT sum(length(b)), min(b), max(b) FROM t").fetchone()
print(before == after, after[0], db.execute("PRAGMA integrity_check").fetchone()[0])
"""
        environment = {**os.environ, "SQLITE_TMPDIR": self.disk, "TMPDIR": self.disk}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_a_full_temporary_folder_stops_no_large_transaction(self):
        statement = "UPDATE t SET b = randomblob(1501)"
        self.assertEqual(self.large_update([statement]), ["False", "18012000", "ok"])

    def test_nor_its_rollback(self):
        statements = ["BEGIN", "UPDATE t SET b = randomblob(1501)", "ROLLBACK"]
        self.assertEqual(self.large_update(statements), ["True", "18000000", "ok"])

    def test_nor_savepoints_within_it(self):
        statements = ["BEGIN", "UPDATE t SET b = randomblob(1500) WHERE a % 3 = 0", "SAVEPOINT s",
                      "UPDATE t SET b = randomblob(1501)", "UPDATE t SET b = randomblob(1502)",
                      "ROLLBACK TO s", "ROLLBACK"]
        self.assertEqual(self.large_update(statements), ["True", "18000000", "ok"])

    def test_nor_pages_that_are_spilled(self):
        for mode in ("truncate", "persist", "delete"):
            with self.subTest(mode=mode):
                statements = ["PRAGMA cache_size=20", f"PRAGMA journal_mode={mode}", "BEGIN",
                              "UPDATE t SET b = randomblob(1501)", "ROLLBACK", "BEGIN",
                              "UPDATE t SET b = randomblob(1501) WHERE a % 2", "SAVEPOINT s",
                              "UPDATE t SET b = randomblob(1502)", "ROLLBACK TO s", "ROLLBACK"]
                self.assertEqual(self.large_update(statements), ["True", "18000000", "ok"])
                os.remove(os.path.join(self.folder, "app.db"))


if __name__ == "__main__":
    unittest.main()
