"""Members of collections as tables of SQLite.

    CAIRN_SQLITE=BUILD/tools/sqlite/cairn_sqlite.so CAIRN_COLLECT=BUILD/tests/sqlite/collect \
        python3 tests/sqlite/members_test.py

This Python's sqlite3 must load extensions.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zipfile

EXTENSION = os.environ.get("CAIRN_SQLITE", "")
COLLECT = os.environ.get("CAIRN_COLLECT", "")


@unittest.skipUnless(EXTENSION and COLLECT, "CAIRN_SQLITE and CAIRN_COLLECT name the extension and the program")
class MembersTest(unittest.TestCase):
    """The members /day/temp and /day/rain have the items 0 to 3, and /wind those from 0 to 4,999."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.where = os.path.join(directory.name, "weather.b2d")
        self.collect("add", "/day/temp", "4", "add", "/day/rain", "4", "add", "/wind", "5000")
        self.db = self.connect()

    def connect(self, file=":memory:"):
        db = sqlite3.connect(file, isolation_level=None)
        self.addCleanup(db.close)
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)
        return db

    def collect(self, *commands, where=None):
        subprocess.run([COLLECT, where or self.where, *commands], check=True, timeout=60)

    def table(self, member, *options, db=None):
        """Makes a table that is called as the last part of the member's name."""
        words = ", ".join([f"'{self.where}{member}'", *options])
        (db or self.db).execute(f"CREATE VIRTUAL TABLE temp.{member.rsplit('/', 1)[1]} USING cairn({words})")

    def items(self, name, db=None):
        return [item for (item,) in (db or self.db).execute(f"SELECT item FROM {name} ORDER BY rowid")]

    def refuse(self, message, query, db=None):
        with self.assertRaisesRegex(sqlite3.Error, message):
            (db or self.db).execute(query).fetchall()


class ReadingTest(MembersTest):
    def test_member_is_a_table(self):
        self.table("/day/temp")
        self.table("/wind")
        self.assertEqual(self.items("temp"), [0, 1, 2, 3])
        self.assertEqual(self.db.execute("SELECT count(*), sum(item) FROM wind WHERE rowid >= 10").fetchone(),
                         (4990, sum(range(10, 5000))))  # fmt: skip

    def test_commits_of_others_are_seen(self):
        self.table("/day/temp")
        self.assertEqual(self.items("temp"), [0, 1, 2, 3])
        self.collect("append", "/day/temp", "7")
        self.assertEqual(self.items("temp"), [0, 1, 2, 3, 7])
        self.collect("append", "/day/rain", "8")  # a commit of others
        self.assertEqual(self.items("temp"), [0, 1, 2, 3, 7])

    def test_statement_reads_one_state_of_all_members(self):
        self.table("/day/temp")
        self.table("/day/rain")
        running = self.db.execute("SELECT item FROM temp")
        self.assertEqual(running.fetchone(), (0,))
        self.collect("append", "/day/temp", "7", "append", "/day/rain", "7")
        # Statements of a connection that run at the same time share the state of the first.
        self.assertEqual(self.items("rain"), [0, 1, 2, 3])
        self.assertEqual(self.items("temp"), [0, 1, 2, 3])
        self.assertEqual(self.items("temp", self.other("temp")), [0, 1, 2, 3, 7])
        self.assertEqual(running.fetchall(), [(1,), (2,), (3,)])
        self.assertEqual((self.items("rain"), self.items("temp")), ([0, 1, 2, 3, 7], [0, 1, 2, 3, 7]))

    def other(self, name):
        db = self.connect()
        self.table(f"/day/{name}", db=db)
        return db

    def test_join_sees_both_members_of_one_commit(self):
        self.table("/day/temp")
        self.table("/day/rain")
        running = subprocess.Popen(["sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" "$1" append /day/temp $i append /day/rain $i || exit 1; done',
                                    COLLECT, self.where])  # fmt: skip
        while running.poll() is None:
            temp, rain = self.db.execute("SELECT (SELECT count(*) FROM temp), (SELECT count(*) FROM rain)").fetchone()
            self.assertEqual(temp, rain)
        self.assertEqual(running.returncode, 0)
        self.assertEqual(len(self.items("temp")), 14)

    def test_members_of_a_packed_store_are_read(self):
        packed = self.where[: -len("b2d")] + "b2z"
        with zipfile.ZipFile(packed, "w") as archive:
            for folder, _, names in os.walk(self.where):
                for name in names:
                    path = os.path.join(folder, name)
                    archive.write(path, os.path.relpath(path, self.where))
        self.assertEqual(self.db.execute(f"SELECT * FROM cairn_members('{packed}')").fetchall(),
                         self.db.execute(f"SELECT * FROM cairn_members('{self.where}')").fetchall())  # fmt: skip
        self.db.execute(f"CREATE VIRTUAL TABLE temp.packed USING cairn('{packed}/day/temp')")
        self.assertEqual(self.items("packed"), [0, 1, 2, 3])
        self.db.execute(f"CREATE VIRTUAL TABLE temp.wind USING cairn('{packed}/wind', writable=1)")
        self.refuse("only reads", "INSERT INTO wind VALUES (1)")
        self.refuse("no member", f"CREATE VIRTUAL TABLE temp.n USING cairn('{packed}/none')")

    def test_functions_take_members(self):
        self.assertEqual(self.db.execute(f"SELECT nitems, dtype FROM cairn_info('{self.where}/day/temp')").fetchall(), [(4, "<i4")])
        self.assertEqual(self.db.execute(f"SELECT sum(nbytes) FROM cairn_chunks('{self.where}/wind')").fetchone()[0] % 4, 0)
        self.assertEqual(self.db.execute(f"SELECT * FROM cairn_members('{self.where}')").fetchall(),
                         [("/day/rain", 4, "<i4", "[4]"), ("/day/temp", 4, "<i4", "[4]"), ("/wind", 5000, "<i4", "[5000]")])  # fmt: skip
        self.assertEqual([name for (name,) in self.db.execute(f"SELECT name FROM cairn_members('{self.where}/day')")],
                         ["/day/rain", "/day/temp"])  # fmt: skip
        self.refuse("read as of its newest commit", f"SELECT * FROM cairn_history('{self.where}/wind')")
        self.refuse("wind: no collection", f"SELECT * FROM cairn_members('{self.where}/wind')")

    def test_what_is_no_member_is_refused(self):
        for place, message in (("", "a collection: name one of its members, which cairn_members"), ("/day", "a collection: name one"),
                               ("/x", "/x: no member of the collection"), ("/day/temp/x", "no member")):  # fmt: skip
            self.refuse(message, f"CREATE VIRTUAL TABLE temp.t USING cairn('{self.where}{place}')")
        self.refuse("leave out time=", f"CREATE VIRTUAL TABLE temp.t USING cairn('{self.where}/wind', time=item)")

    def test_member_that_was_removed_or_lost_is_told(self):
        self.table("/day/temp")
        self.table("/day/rain")
        self.collect("remove", "/day/temp")
        self.refuse("/day/temp: no member", "SELECT * FROM temp")
        os.remove(self.where + "/day/rain.b2nd")
        self.collect("append", "/wind", "1")
        self.refuse("rain.b2nd: member: the file is missing", "SELECT * FROM rain")


class WritingTest(MembersTest):
    def setUp(self):
        super().setUp()
        self.table("/day/temp", "writable=1")
        self.table("/day/rain", "writable=1")
        self.reader = self.connect()
        self.table("/day/temp", db=self.reader)
        self.table("/day/rain", db=self.reader)

    def seen(self):
        """What another connection sees after the first four items."""
        return self.items("temp", self.reader)[4:], self.items("rain", self.reader)[4:]

    def commits(self):
        """The number of commits, as the generations of the ledger count them."""
        frame = os.path.join(self.where, "embed.b2e")
        return self.reader.execute(f"SELECT generation FROM cairn_info('{frame}')").fetchone()[0]

    def test_insert_is_a_commit(self):
        self.db.execute("INSERT INTO temp VALUES (7), (8)")
        self.assertEqual((self.items("temp"), self.seen()), ([0, 1, 2, 3, 7, 8], ([7, 8], [])))
        self.assertEqual(self.db.execute("SELECT last_insert_rowid()").fetchone(), (5,))

    def test_transaction_over_members_is_one_commit(self):
        other = self.connect()
        self.table("/day/temp", db=other)
        self.table("/day/rain", db=other)
        self.db.execute("BEGIN")
        self.db.execute("INSERT INTO temp VALUES (7)")
        self.db.execute("INSERT INTO rain SELECT item + 10 FROM temp WHERE rowid >= 3")
        self.assertEqual((self.items("temp")[4:], self.items("rain")[4:]), ([7], [13, 17]))
        self.assertEqual(self.seen(), ([], []))
        self.collect_is_kept_out()
        self.db.execute("COMMIT")
        self.assertEqual(self.seen(), ([7], [13, 17]))

    def collect_is_kept_out(self):
        """Another writer waits until the transaction ends."""
        waiting = subprocess.Popen([COLLECT, self.where, "append", "/wind", "1"])
        self.addCleanup(waiting.wait)
        with self.assertRaises(subprocess.TimeoutExpired):
            waiting.wait(0.2)

    def test_no_reader_sees_a_part_of_a_transaction(self):
        script = """
import os, sqlite3, sys
db = sqlite3.connect(":memory:", isolation_level=None)
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
for name in ("temp", "rain"):
    db.execute(f"CREATE VIRTUAL TABLE temp.{name} USING cairn('{sys.argv[2]}/day/{name}', writable=1)")
for number in range(20):
    db.execute("BEGIN")
    db.execute("INSERT INTO rain VALUES (?)", (number,))
    db.execute("INSERT INTO temp VALUES (?)", (number,))
    db.execute("COMMIT")
"""
        running = subprocess.Popen([sys.executable, "-c", script, EXTENSION, self.where])
        while running.poll() is None:
            counts = self.reader.execute("SELECT (SELECT count(*) FROM temp), (SELECT count(*) FROM rain)").fetchone()
            self.assertEqual(*counts)
        self.assertEqual(running.returncode, 0)
        self.assertEqual(self.seen(), ([*range(20)], [*range(20)]))

    def test_rollback_drops_the_rows_of_all_members(self):
        self.db.execute("BEGIN")
        self.db.execute("INSERT INTO temp VALUES (7)")
        self.db.execute("INSERT INTO rain VALUES (7)")
        self.db.execute("ROLLBACK")
        self.assertEqual((self.items("temp"), self.seen()), ([0, 1, 2, 3], ([], [])))
        self.collect("append", "/day/rain", "9")  # nobody holds the collection
        self.assertEqual(self.seen(), ([], [9]))

    def test_savepoints_work(self):
        self.db.executescript("""
            BEGIN; INSERT INTO temp VALUES (7); SAVEPOINT s; INSERT INTO temp VALUES (8); INSERT INTO rain VALUES (8);
            ROLLBACK TO s; INSERT INTO rain VALUES (9); COMMIT""")
        self.assertEqual(self.seen(), ([7], [9]))

    def test_rows_are_numbered_after_commits_of_others(self):
        running = self.db.execute("SELECT item FROM temp")
        running.fetchone()
        self.collect("append", "/day/temp", "5")
        self.db.execute("INSERT INTO temp VALUES (6)")
        self.assertEqual(self.db.execute("SELECT last_insert_rowid()").fetchone(), (5,))
        self.assertEqual(self.seen(), ([5, 6], []))
        running.fetchall()

    def test_failed_commit_of_the_database_is_tried_again_or_taken_back(self):
        path = os.path.join(os.path.dirname(self.where), "plain.db")
        for end, expected in (("COMMIT", ([7], [7])), ("ROLLBACK", ([], []))):
            with self.subTest(end):
                db, blocker = self.connect(path), self.connect(path)
                for name in ("temp", "rain"):
                    self.table(f"/day/{name}", "writable=1", db=db)
                db.execute("PRAGMA busy_timeout = 0")
                db.execute("CREATE TABLE IF NOT EXISTS plain(x)")
                before = self.seen()
                blocker.execute("BEGIN")
                blocker.execute("SELECT * FROM plain").fetchall()
                db.execute("BEGIN")
                db.execute("INSERT INTO plain VALUES (1)")
                db.execute("INSERT INTO temp VALUES (7)")
                db.execute("INSERT INTO rain VALUES (7)")
                self.refuse("locked", "COMMIT", db=db)
                blocker.execute("COMMIT")
                db.execute(end)
                seen = tuple(now[len(old):] for now, old in zip(self.seen(), before))
                self.assertEqual(seen, expected)
                self.collect("append", "/wind", "1")

    def test_another_writer_makes_it_busy(self):
        with subprocess.Popen([COLLECT, self.where, "hold"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            self.assertEqual(holder.stdout.readline(), b"held\n")
            self.refuse("locked|writer", "INSERT INTO temp VALUES (7)")
            holder.stdin.close()
        self.db.execute("INSERT INTO temp VALUES (7)")
        self.assertEqual(self.seen(), ([7], []))

    def test_two_tables_of_one_member_exclude_each_other(self):
        self.db.execute(f"CREATE VIRTUAL TABLE temp.again USING cairn('{self.where}/day/temp', writable=1)")
        self.db.execute("BEGIN")
        self.db.execute("INSERT INTO temp VALUES (7)")
        self.refuse("another table of this transaction appends", "INSERT INTO again VALUES (8)")
        self.db.execute("COMMIT")
        self.assertEqual(self.seen(), ([7], []))
        self.db.execute("INSERT INTO again VALUES (8)")
        self.assertEqual(self.seen(), ([7, 8], []))

    def test_read_only_tables_and_other_changes_are_refused(self):
        self.table("/wind")
        self.refuse("read-only; writable=1", "INSERT INTO wind VALUES (1)")
        self.refuse("appended, not changed or deleted", "DELETE FROM temp")
        self.refuse("mismatch|does not fit|range", "INSERT INTO temp VALUES (1 << 40)")
        self.assertEqual(self.seen(), ([], []))

    def test_member_removed_meanwhile_fails_the_transaction(self):
        self.items("temp")
        self.collect("remove", "/day/temp")
        self.refuse("no member", "INSERT INTO temp VALUES (7)")
        self.db.execute("INSERT INTO rain VALUES (8)")
        self.assertEqual(self.items("rain"), [0, 1, 2, 3, 8])


if __name__ == "__main__":
    unittest.main()
