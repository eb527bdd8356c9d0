"""Frames as tables of SQLite, from Python's own sqlite3 module and from the sqlite3 shell.

    CAIRN_SQLITE=BUILD/tools/sqlite/cairn_sqlite.so CAIRN_TOOL=BUILD/tools/cairn \
        python3 tests/sqlite/table_test.py

This Python's sqlite3 must load extensions.
"""

import glob
import math
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

EXTENSION = os.environ.get("CAIRN_SQLITE", "")
TOOL = os.environ.get("CAIRN_TOOL", "")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAN = float("nan")
NAT = -(2**63)

# What a process does with a hostile frame: everything, and no error ends it.
VISIT = """
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
for i, path in enumerate(sys.argv[2:]):
    def visit(query, *values):
        try:
            db.execute(query, values).fetchall()
        except sqlite3.Error:
            pass
    for kind in ("info", "chunks", "history"):
        visit(f"SELECT * FROM cairn_{kind}(?) LIMIT 500", path)
    for options in ("", ", time=time", ", a u1", ", writable=1"):
        visit(f"CREATE VIRTUAL TABLE t{i} USING cairn('{path}'{options})")
        visit(f"SELECT * FROM t{i} LIMIT 3000")
        visit(f"SELECT * FROM t{i} WHERE rowid >= 1000000 LIMIT 3000")
        visit(f"SELECT rowid, * FROM t{i} ORDER BY rowid DESC LIMIT 3000")
        visit(f"SELECT * FROM t{i} WHERE time BETWEEN 5 AND 4000 AND temp > 3 LIMIT 3000")
        visit(f"SELECT * FROM t{i} ORDER BY time LIMIT 3000")
        visit(f"SELECT * FROM t{i} WHERE i0 = 3 AND i1 = 2 LIMIT 3000")
        visit(f"DROP TABLE t{i}")
"""


@unittest.skipUnless(EXTENSION and TOOL, "CAIRN_SQLITE and CAIRN_TOOL name the extension and the tool")
class TableTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.db = self.connect()

    def path(self, name):
        return os.path.join(self.directory, name)

    def connect(self, name=":memory:", **options):
        db = sqlite3.connect(name if name == ":memory:" else self.path(name), **options)
        self.addCleanup(db.close)
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)
        return db

    def tool(self, *arguments, data=None):
        done = subprocess.run([TOOL, *arguments], input=data, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def pack(self, data, dtype="", shape=None, typesize=None, name="a.b2frame", more=()):
        arguments = ["--dtype", dtype] if dtype else []
        if shape:
            arguments += ["--shape", ",".join(map(str, shape))]
        if typesize:
            arguments += ["--typesize", str(typesize)]
        self.tool("pack", "-", self.path(name), "--quiet", "--force", *arguments, *more, data=data)
        return self.path(name)

    def table(self, path, *arguments, name="t", db=None):
        words = ", ".join([f"'{path}'", *arguments])
        (db or self.db).execute(f"CREATE VIRTUAL TABLE temp.{name} USING cairn({words})")

    def rows(self, query, *values):
        return self.db.execute(query, values).fetchall()

    def column(self, query, *values):
        return [row[0] for row in self.rows(query, *values)]

    def refuse(self, message, query, *values, db=None):
        with self.assertRaisesRegex(sqlite3.Error, message):
            (db or self.db).execute(query, values).fetchall()


class TypesTest(TableTest):
    def one(self, dtype, form, values):
        """The column `item` of an array of a plain type."""
        size = struct.calcsize("<" + form)
        data = b"".join(struct.pack((">" if dtype[0] == ">" else "<") + form, v) for v in values)
        self.pack(data, dtype, (len(values),), size)
        self.db.execute("DROP TABLE IF EXISTS t")
        self.table(self.path("a.b2frame"))
        return self.column("SELECT item FROM t")

    def test_integers(self):
        for order in "<>":
            for size, form in ((1, "b"), (2, "h"), (4, "i"), (8, "q")):
                bits = 8 * size
                values = [0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 100]
                self.assertEqual(self.one(f"{order}i{size}", form, values), values)
                values = [0, 1, 2**bits - 1, 2 ** (bits - 1)]
                expected = [v if v < 2**63 else float(v) for v in values]
                self.assertEqual(self.one(f"{order}u{size}", form.upper(), values), expected)

    def test_floats_and_nan_is_null(self):
        for order in "<>":
            for size, form in ((2, "e"), (4, "f"), (8, "d")):
                values = [0.0, 1.5, -2.25, math.inf, -math.inf, 1024.0, 2.0**-14]
                self.assertEqual(self.one(f"{order}f{size}", form, values), values)
                self.assertEqual(self.one(f"{order}f{size}", form, [NAN, 2.0]), [None, 2.0])

    def test_booleans(self):
        self.assertEqual(self.one("|b1", "B", [0, 1, 1, 0]), [0, 1, 1, 0])

    def test_times_are_counts_and_no_time_is_null(self):
        self.assertEqual(self.one("<M8[us]", "q", [0, -5, NAT]), [0, -5, None])
        self.assertEqual(self.one("<m8[s]", "q", [7, NAT]), [7, None])
        self.assertEqual(self.one(">M8[D]", "q", [7, NAT]), [7, None])

    def test_texts(self):
        texts = [b"abc", b"", "né".encode(), b"\xff\xfe"]
        self.assertEqual(self.one("|S4", "4s", texts), ["abc", "", "né", b"\xff\xfe"])
        self.assertEqual(self.one("|S4", "4s", [b"a\0b"]), [b"a\0b"])
        encoded = [text.encode("utf-32-le") for text in ("ab", "", "ü€😀")]
        self.assertEqual(self.one("<U3", "12s", encoded), ["ab", "", "ü€😀"])
        encoded = [text.encode("utf-32-be") for text in ("ab", "ü€😀")]
        self.assertEqual(self.one(">U3", "12s", encoded), ["ab", "ü€😀"])
        self.assertEqual(self.one("<U1", "4s", [b"\0\0\0\x7f"]), ["\ufffd"])

    def test_raw_bytes(self):
        self.assertEqual(self.one("|V3", "3s", [b"ab\0", b"\0\0\1"]), [b"ab\0", b"\0\0\1"])
        self.assertEqual(self.one("<f16", "16s", [b"x" * 16]), [b"x" * 16])

    def test_complex_numbers_are_two_columns(self):
        self.pack(struct.pack("<4d", 1, 2, 3, NAN), "<c16", (2,), 16)
        self.table(self.path("a.b2frame"))
        self.assertEqual(self.rows("SELECT item_re, item_im FROM t"), [(1, 2), (3, None)])

    def test_records_with_gaps_nested_records_and_arrays(self):
        dtype = (
            "{'names': ['a', 'pos', 'v', 'm', 'big'], 'formats': ['<i2', [('x', '<f4'), ('y', '>f4')], "
            "('<i2', (3,)), ('<u1', (2, 2)), ('|u1', (65,))], 'offsets': [0, 4, 12, 18, 22], 'itemsize': 90}"
        )
        item = struct.pack("<hxxf", -3, 1.5) + struct.pack(">f", 2.5) + struct.pack("<3h4B", 7, 8, 9, 1, 2, 3, 4)
        self.pack((item + b"z" * 65).ljust(90, b"!") * 3, dtype, (3,), 90)
        self.table(self.path("a.b2frame"))
        names = self.column("SELECT name FROM pragma_table_info('t')")
        self.assertEqual(names, ["a", "pos_x", "pos_y", "v_0", "v_1", "v_2", "m_0_0", "m_0_1", "m_1_0", "m_1_1", "big"])
        self.assertEqual(self.rows("SELECT * FROM t")[2], (-3, 1.5, 2.5, 7, 8, 9, 1, 2, 3, 4, b"z" * 65))

    def test_names_that_sqlite_takes_for_one_are_numbered(self):
        self.pack(bytes(4), "[('a', '|i1'), ('A', '|i1'), ('select \"x\"', '|i1'), ('a_2', '|i1')]", (1,), 4)
        self.table(self.path("a.b2frame"))
        names = self.column("SELECT name FROM pragma_table_info('t')")
        self.assertEqual(names, ["a", "A_2", 'select "x"', "a_2_2"])

    def test_untyped_items_are_blobs(self):
        self.pack(b"abcdef", typesize=3)
        self.table(self.path("a.b2frame"))
        self.assertEqual(self.rows("SELECT rowid, item FROM t"), [(0, b"abc"), (1, b"def")])

    def test_columns_are_declared(self):
        path = self.pack(struct.pack("<if", 5, 2.5) * 2 + struct.pack("<if", 6, NAN), typesize=8)
        self.table(path, "x i4", '"the y" float32')
        self.assertEqual(self.rows('SELECT x, "the y" FROM t'), [(5, 2.5), (5, 2.5), (6, None)])
        self.refuse("describes 4 bytes", f"CREATE VIRTUAL TABLE temp.u USING cairn('{path}', x i4)")
        self.refuse("type i5", f"CREATE VIRTUAL TABLE temp.u USING cairn('{path}', x i5, y i3)")
        self.refuse("expected NAME TYPE", f"CREATE VIRTUAL TABLE temp.u USING cairn('{path}', x)")
        self.refuse("the options are", f"CREATE VIRTUAL TABLE temp.u USING cairn('{path}', x=1)")
        self.refuse("expected a file", "CREATE VIRTUAL TABLE temp.u USING cairn()")

    def test_a_missing_file_is_named(self):
        self.refuse("nothing.b2frame", f"CREATE VIRTUAL TABLE temp.u USING cairn('{self.path('nothing.b2frame')}')")


class ArrayTest(TableTest):
    def make(self, shape, form="i", dtype="<i4", more=()):
        count = math.prod(shape)
        self.pack(struct.pack(f"<{count}{form}", *(i * 7 % 251 for i in range(count))), dtype, shape, more=more,
                  typesize=struct.calcsize(form))  # fmt: skip
        self.table(self.path("a.b2frame"))
        coordinates = []
        for i in range(count):
            index = []
            for extent in reversed(shape):
                index.insert(0, i % extent)
                i //= extent
            coordinates.append(tuple(index) if len(shape) > 1 else ())
        self.db.execute("DROP TABLE IF EXISTS plain")
        names = [f"i{i}" for i in range(len(shape))] if len(shape) > 1 else []
        self.db.execute(f"CREATE TABLE plain({', '.join(name + ' INTEGER' for name in [*names, 'item'])})")
        marks = ", ".join("?" * (len(names) + 2))
        self.db.executemany(
            f"INSERT INTO plain(rowid, {', '.join([*names, 'item'])}) VALUES ({marks})",
            [(i, *c, i * 7 % 251) for i, c in enumerate(coordinates)],
        )
        return names

    def same(self, rest):
        expected = self.rows(f"SELECT rowid, * FROM plain {rest}")
        self.assertEqual(self.rows(f"SELECT rowid, * FROM t {rest}"), expected, rest)

    def test_shapes_and_boxes(self):
        dice = random.Random(1)
        cases = [
            ((1000,), ["--chunk-shape", "300", "--block-shape", "70"]),
            ((40, 30), ["--chunk-shape", "17,11", "--block-shape", "5,4"]),
            ((11, 12, 13), ["--chunk-shape", "4,5,6", "--block-shape", "2,2,3"]),
            ((3, 700), []),
        ]
        for shape, more in cases:
            self.db.execute("DROP TABLE IF EXISTS t")
            names = self.make(shape, more=more)
            self.same("ORDER BY rowid")
            count = math.prod(shape)
            for _ in range(60):
                terms = []
                for name, extent in [("rowid", count), *zip(names, shape)]:
                    if dice.random() < 0.5:
                        low = dice.randint(-2, extent + 2)
                        high = dice.choice([low, low + 1, low + extent // 4, extent])
                        terms.append(f"{name} BETWEEN {low} AND {high}")
                    elif dice.random() < 0.3:
                        terms.append(f"{name} {dice.choice(['=', '<', '>=', '>', '<='])} {dice.randint(-1, extent)}")
                where = "WHERE " + " AND ".join(terms) if terms else ""
                order = dice.choice(["ORDER BY rowid", "ORDER BY rowid DESC", *[f"ORDER BY {', '.join(names)}"] * bool(names)])
                self.same(f"{where} {order}")
                self.same(f"{where} ORDER BY rowid LIMIT 7")

    def test_order_of_coordinates_needs_no_sorting(self):
        self.make((20, 30))
        plan = self.column("EXPLAIN QUERY PLAN SELECT * FROM t ORDER BY i0, i1")
        self.assertEqual(len(plan), 1)

    def test_records_in_two_dimensions(self):
        data = b"".join(struct.pack("<hf", i, i / 2) for i in range(12))
        self.pack(data, "[('i0', '<i2'), ('b', '<f4')]", (3, 4), 6)
        self.table(self.path("a.b2frame"))
        self.assertEqual(self.column("SELECT name FROM pragma_table_info('t')"), ["i0_2", "i1", "i0", "b"])
        self.assertEqual(self.rows("SELECT * FROM t WHERE i0_2 = 1 AND i1 = 2"), [(1, 2, 6, 3.0)])

    def test_an_empty_array(self):
        self.pack(b"", "<i4", (0, 5), 4)
        self.table(self.path("a.b2frame"))
        self.assertEqual(self.rows("SELECT * FROM t"), [])


class FunctionsTest(TableTest):
    def test_info(self):
        path = self.pack(struct.pack("<600i", *range(600)), "<i4", (20, 30), 4, more=["--codec", "zstd"])
        query = "SELECT nitems, typesize, dtype, shape, codec, filters, layout, nbytes >= 2400 FROM cairn_info(?)"
        self.assertEqual(self.rows(query, path), [(600, 4, "<i4", "[20,30]", "zstd", "shuffle", "contiguous", 1)])
        extents = "SELECT value FROM cairn_info(?), json_each(shape)"
        self.assertEqual(self.column(extents, path), [20, 30])

    def test_chunks(self):
        path = self.pack(bytes(4000) + os.urandom(4000), typesize=4, more=["--chunk-size", "4000"])
        found = self.rows("SELECT chunk, nbytes, special, cbytes > 4000 FROM cairn_chunks(?)", path)
        self.assertEqual(found, [(0, 4000, "zeros", 0), (1, 4000, None, 1)])
        self.assertEqual(self.column("SELECT length(fingerprint) FROM cairn_chunks(?) WHERE chunk = 1", path), [16])

    def test_history(self):
        path = self.pack(bytes(40), typesize=4)
        self.tool("append", path, "-", "--quiet", data=bytes(40))
        generations = self.column("SELECT generation FROM cairn_history(?)", path)
        self.assertEqual(generations, sorted(generations))
        self.assertEqual(self.column("SELECT nbytes FROM cairn_history(?) ORDER BY generation DESC", path)[0], 80)

    def test_a_join_gives_the_files(self):
        for i in range(3):
            self.pack(bytes(4 * (i + 1)), typesize=4, name=f"{i}.b2frame")
        self.db.execute("CREATE TABLE files(name)")
        self.db.executemany("INSERT INTO files VALUES (?)", [(self.path(f"{i}.b2frame"),) for i in range(3)])
        self.assertEqual(self.column("SELECT nitems FROM files, cairn_info(name)"), [1, 2, 3])

    def test_errors(self):
        self.refuse("none.b2frame", "SELECT * FROM cairn_info('none.b2frame')")
        for name in ("cairn_info", "cairn_chunks", "cairn_history"):
            for arguments in ("", "()", "('')"):
                self.refuse(rf"{name}: expected a file: {name}\('FILE'\)", f"SELECT * FROM {name}{arguments}")
        self.assertEqual(self.rows("SELECT * FROM cairn_info(NULL)"), [])


FIELDS = ["time:timestamp[ms]", "temp:f4", "hits:u2", "level:i8", "other:timestamp[s]", "on:bool", "room:bytes[6]"]
RECORD = struct.Struct("<qfHqq?6s")
COLUMNS = "time INTEGER, temp REAL, hits INTEGER, level INTEGER, other INTEGER, [on] INTEGER, room TEXT"


class LogCase(TableTest):
    def log(self, *options, name="log.b2frame", fields=FIELDS):
        words = [word for field in fields for word in ("--field", field)]
        self.tool("log", "create", self.path(name), "--quiet", *words, *options)
        return self.path(name)

    def fill(self, path, rows, db=None):
        db = db or self.db
        self.table(path, "writable=1", name="filling", db=db)
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO filling VALUES ({marks})", rows)
        db.commit()
        db.execute("DROP TABLE filling")

    def make_rows(self, dice, count, late=0.0):
        rows = []
        for i in range(count):
            time = i * 10 - (dice.randrange(5000) if dice.random() < late else 0)
            # Of 4-byte floats, so that both tables have the same.
            temp = None if dice.random() < 0.05 else dice.randrange(-400, 400) / 8 + i // 1000
            rows.append((time, temp, dice.randrange(100) + i // 50, dice.choice([i, 2**53 + i, -(2**63), 2**63 - 1]),
                         dice.choice([None, i]), i % 2, dice.choice(["hall", "attic", ""])))  # fmt: skip
        return rows


class LogTest(LogCase):
    def test_reads_what_the_tool_wrote(self):
        path = self.log(fields=["time:timestamp[s]", "temp:f8"])
        self.tool("log", "append", path, "-", "--quiet", data=b"time,temp\n5,1.5\n7,\n")
        self.table(path)
        self.assertEqual(self.rows("SELECT rowid, * FROM t"), [(0, 5, 1.5), (1, 7, None)])

    def both(self, dice, count, late, *options):
        """A log, and a plain table with the same rows."""
        path = self.log("--chunk-size", "16KiB", *options)
        self.fill(path, self.make_rows(dice, count // 2, late))
        self.fill(path, [(row[0] + count * 5, *row[1:]) for row in self.make_rows(dice, count // 2, late)])
        self.table(path)
        self.db.execute(f"CREATE TABLE plain(number INTEGER PRIMARY KEY, {COLUMNS})")
        self.db.execute("INSERT INTO plain SELECT rowid, * FROM t")

    def random_value(self, dice, column, count):
        scale = {"time": count * 10, "rowid": count, "temp": 50, "hits": 100 + count // 50, "level": count,
                 "other": count, "on": 2, "room": 10}[column]  # fmt: skip
        value = dice.randrange(-scale // 10 - 1, scale + scale // 10 + 2)
        return dice.choice([str(value), str(value), str(value), f"{value}.5", f"'{value}'", "NULL", "'hall'", "x'00'",
                            "1e30", "-1e30", "9223372036854775807", "-9223372036854775808",
                            "9223372036854775806", "9007199254740993"])  # fmt: skip

    def random_query(self, dice, count):
        terms = []
        for _ in range(dice.choice([0, 1, 1, 2, 2, 3])):
            column = dice.choice(["time", "time", "rowid", "temp", "hits", "level", "other", "on", "room"])
            quoted = f"[{column}]"
            if dice.random() < 0.3:
                low = dice.randrange(count * 10)
                terms.append(f"{quoted} BETWEEN {low} AND {low + dice.choice([0, 500, 5000])}")
            elif dice.random() < 0.1:
                terms.append(f"{quoted} IN ({self.random_value(dice, column, count)}, {dice.randrange(count)})")
            else:
                op = dice.choice(["=", "<", "<=", ">", ">=", "<>", "IS"])
                terms.append(f"{quoted} {op} {self.random_value(dice, column, count)}")
        where = " AND ".join(terms) if dice.random() < 0.85 else " OR ".join(terms)
        what = dice.choice(["rowid, time, temp, hits, level, other, [on], room", "rowid, time", "rowid, temp, room", "count(*)", "sum(hits), max(temp), min(time)",
                            "count(level), min(level)", "room, count(*)"])  # fmt: skip
        rest = "WHERE " + where if where else ""
        if what.startswith("room"):
            return f"SELECT {what} FROM {{}} {rest} GROUP BY room ORDER BY room"
        if not what.startswith("rowid"):
            return f"SELECT {what} FROM {{}} {rest}"
        order = dice.choice(["rowid", "rowid DESC", "time, rowid", "time DESC, rowid", "temp, rowid", "hits DESC, rowid"])
        limit = dice.choice(["", "", f"LIMIT {dice.randrange(20)}", f"LIMIT 5 OFFSET {dice.randrange(50)}"])
        return f"SELECT {what} FROM {{}} {rest} ORDER BY {order} {limit}"

    def test_random_queries_give_what_a_plain_table_gives(self):
        for seed, late in ((1, 0.0), (2, 0.1)):
            with self.subTest(late=late):
                dice = random.Random(seed)
                db = self.db = self.connect()
                count = 4000
                for path in glob.glob(self.path("log*")):
                    os.remove(path)
                self.both(dice, count, late)
                for i in range(400):
                    query = self.random_query(dice, count)
                    ours = db.execute(query.format("t")).fetchall()
                    expected = db.execute(query.format("plain").replace("rowid", "number")).fetchall()
                    self.assertEqual(ours, expected, f"query {i} of seed {seed}: {query}")

    def test_numbers_are_compared_as_the_columns_give_them(self):
        path = self.log(fields=["time:timestamp[s]", "half:f2", "single:f4", "real:f8", "hits:i8", "bits:u8"])
        rows = (b"0,2048,16777216,9007199254740992,9007199254740993,18446744073709551615\n"
                b"1,65504,0.3,0.3,9223372036854775807,10000000000000000001\n"
                b"2,0.1,0.1,0.1,-9223372036854775808,9223372036854775808\n")  # fmt: skip
        self.tool("log", "append", path, "-", "--quiet", data=b"time,half,single,real,hits,bits\n" + rows)
        self.table(path)
        self.db.execute("CREATE TABLE plain AS SELECT * FROM t")
        # Numbers that the columns have not, each beside one that they have.
        values = ["2049", "2048.5", "2047.5", "65519", "65520", "70000", "16777217", "16777216.5", "0.1", "0.3",
                  "0.30000001", "0.300000012", "0.0999756", "0.09997558", "9007199254740993", "9007199254740992.0",
                  "9223372036854775807", "9223372036854775808.0", "-9223372036854775808", "-9223372036854775809.0",
                  "1e19", "10000000000000000001", "18446744073709551615", "18446744073709549568.0", "-1e300", "1e300"]  # fmt: skip
        for column in ["half", "single", "real", "hits", "bits"]:
            for operator in ["=", "<", "<=", ">", ">="]:
                for value in values:
                    query = f"SELECT time FROM {{}} WHERE {column} {operator} {value}"
                    self.assertEqual(self.rows(query.format("t")), self.rows(query.format("plain")), query)

    def test_joins_of_a_table_with_itself(self):
        self.both(random.Random(3), 400, 0.0)
        query = "SELECT a.{0}, b.{0} FROM {1} a JOIN {1} b ON b.{0} = a.{0} + 1 AND b.temp > a.temp ORDER BY 1"
        self.assertEqual(self.rows(query.format("rowid", "t")), self.rows(query.format("number", "plain")))
        query = "SELECT count(*) FROM {0} a JOIN {0} b ON b.time BETWEEN a.time AND a.time + 100"
        self.assertEqual(self.rows(query.format("t")), self.rows(query.format("plain")))

    def damage(self, path, chunk):
        offset, size = self.rows("SELECT offset, cbytes FROM cairn_chunks(?) WHERE chunk = ?", path, chunk)[0]
        with open(path, "r+b") as file:
            file.seek(offset + size // 2)
            byte = file.read(1)[0]
            file.seek(offset + size // 2)
            file.write(bytes([byte ^ 0x55]))

    def test_chunks_that_cannot_match_are_not_decoded(self):
        path = self.log("--chunk-size", "16KiB")
        self.fill(path, self.make_rows(random.Random(4), 4000))
        rows_of_chunk = int(self.rows("SELECT json_extract(chunkshape, '$[0]') FROM cairn_info(?)", path)[0][0])
        self.damage(path, 2)
        self.table(path)
        first, last = 2 * rows_of_chunk, 3 * rows_of_chunk - 1
        for inside in (f"rowid = {first}", f"time = {first * 10}", "hits >= 0", f"time BETWEEN 0 AND {last * 10}"):
            self.refuse("chunk 2", f"SELECT sum(temp) FROM t WHERE {inside}")
        for outside in (f"rowid = {first - 1}", f"rowid > {last}", f"time < {first * 10}", f"time > {last * 10}",
                        f"hits >= 100 + {last // 50}", f"hits < {first // 50}", "time IN (0, 50)"):  # fmt: skip
            with self.subTest(outside):
                self.rows(f"SELECT sum(temp) FROM t WHERE {outside}")

    def test_only_the_named_columns_are_used(self):
        path = self.log()
        self.table(path)
        # The second number of the plan has a bit for each column.
        for query, bits in (("temp", 2), ("count(*)", 0), ("temp + hits", 6), ("*", 127)):
            plan = self.rows(f"EXPLAIN QUERY PLAN SELECT {query} FROM t")[0][3]
            self.assertRegex(plan, f"INDEX 0:0 {bits}$")

    def test_orders_that_need_no_sorting(self):
        path = self.log()
        self.table(path)
        for order, steps in (("rowid", 1), ("rowid DESC", 1), ("time", 1), ("time, rowid", 1), ("temp", 2), ("time DESC", 2)):
            plan = self.rows(f"EXPLAIN QUERY PLAN SELECT * FROM t ORDER BY {order}")
            self.assertEqual(len(plan), steps, order)

    def test_a_log_of_many_files_and_dropped_records(self):
        path = self.log("--rotate-bytes", "32KiB", "--retain-records", "2000", "--chunk-size", "8KiB", name="many")
        for part in range(4):
            rows = [(t + part * 10000, *row[1:]) for t, row in enumerate(self.make_rows(random.Random(5), 1000))]
            self.fill(path, rows)
        self.assertTrue(os.path.isdir(path))
        self.table(path)
        first, count, end = self.rows("SELECT min(rowid), count(*), max(rowid) FROM t")[0]
        self.assertGreater(first, 0)
        self.assertEqual((end, count), (3999, 4000 - first))
        self.assertEqual(self.rows("SELECT rowid, time FROM t WHERE time = 30500"), [(3500, 30500)])
        self.assertEqual(self.rows("SELECT * FROM t WHERE rowid = 0"), [])
        self.assertEqual(self.column("SELECT time FROM t WHERE rowid = 3500"), [30500])

    def test_records_older_than_a_field_have_null(self):
        for name, options in (("one", []), ("many", ["--rotate-bytes", "4KiB"])):
            path = self.log("--chunk-size", "2KiB", *options, name=name)
            self.fill(path, [(t, *row[1:]) for t, row in enumerate(self.make_rows(random.Random(5), 300))])
            self.table(path, name="early")
            self.tool("log", "add-field", path, "state:i4")
            self.tool("log", "add-field", path, "note:bytes[4]")
            self.fill(path, [(300 + t, *row[1:], t % 7, "abc"[t % 3]) for t, row in enumerate(self.make_rows(random.Random(6), 200))])
            self.table(path)
            self.assertEqual(self.rows("SELECT count(*), count(state), count(note), min(state) FROM t"), [(500, 200, 200, 0)])
            for where, count in {"state IS NULL": 300, "state >= 0": 200, "note = ''": 0, "note IS NULL AND rowid > 250": 49,
                                 "time >= 290 AND state IS NULL": 10, "time >= 290 AND note = 'a'": 67, "rowid = 299 AND state IS NULL": 1,
                                 "rowid = 300 AND state = 0": 1, "hits >= 0 AND state IS NULL": 300}.items():  # fmt: skip
                self.assertEqual(self.column(f"SELECT count(*) FROM t WHERE {where}"), [count], f"{name}: {where}")
            self.assertEqual(self.column("SELECT note FROM t ORDER BY time DESC LIMIT 3"), ["b", "a", "c"])
            self.assertEqual(self.column("SELECT state FROM t ORDER BY rowid LIMIT 2 OFFSET 299"), [None, 0])
            self.refuse("has other columns now", "SELECT * FROM early")
            self.db.execute("DROP TABLE t")
            self.db.execute("DROP TABLE early")

    def test_deleted_records_are_no_rows(self):
        path = self.log("--rotate-bytes", "32KiB", "--chunk-size", "8KiB", name="many")
        self.fill(path, [(t, *row[1:]) for t, row in enumerate(self.make_rows(random.Random(5), 1000))])
        self.table(path)
        gone = {*range(100, 180), *range(500, 503), 0, 2, 998, 999}
        for part in ("100 <= time < 180", "500 <= time < 503", "time in (0, 2, 998, 999)"):
            self.tool("log", "delete", path, "--quiet", "--where", part)
        rest = [i for i in range(1000) if i not in gone]
        for order in ("", " ORDER BY rowid DESC", " ORDER BY time", " ORDER BY time DESC", " WHERE time > 50", " WHERE rowid > 50"):
            with self.subTest(order=order):
                wanted = [i for i in rest if "50" not in order or i > 50]
                if "DESC" in order:
                    wanted.reverse()
                self.assertEqual(self.column("SELECT rowid FROM t" + order), wanted)
        self.assertEqual(self.rows("SELECT count(*), min(rowid), max(time) FROM t"), [(len(rest), 1, 997)])
        for row, found in ((2, []), (3, [3]), (179, []), (180, [180]), (999, [])):
            self.assertEqual(self.column(f"SELECT rowid FROM t WHERE rowid = {row}"), found)

    def test_the_time_is_named_for_frames_of_others(self):
        data = b"".join(struct.pack("<qf", 100 - i % 7 * 3 + i, i) for i in range(1000))
        path = self.pack(data, "[('when', '<i8'), ('x', '<f4')]", (1000,), 12)
        self.table(path, name="plain_frame")
        self.table(path, "time=when")
        query = "SELECT rowid, x FROM {} WHERE [when] BETWEEN 500 AND 520 ORDER BY [when], rowid"
        self.assertEqual(self.rows(query.format("t")), self.rows(query.format("plain_frame")))
        self.assertGreater(len(self.rows(query.format("t"))), 10)
        with self.assertRaisesRegex(sqlite3.DatabaseError, "no field 'y'") as refused:
            self.table(path, "time=y", name="u")
        # That of SQLITE_NOTADB; a file that is not there gives another one.
        self.assertIs(type(refused.exception), sqlite3.DatabaseError)


class SnapshotTest(LogCase):
    def setUp(self):
        super().setUp()
        self.file = self.log(fields=["time:timestamp[s]", "temp:f8"])
        self.append(range(5000))

    def append(self, times):
        lines = ["time,temp", *(f"{t},{t / 2}" for t in times)]
        self.tool("log", "append", self.file, "-", "--quiet", data="\n".join(lines).encode())

    def test_a_statement_reads_one_state(self):
        self.table(self.file)
        running = self.db.execute("SELECT rowid FROM t")
        self.assertEqual(next(running), (0,))
        self.append(range(5000, 5010))
        # It shares the state of the one that runs, as tables of SQLite do.
        self.assertEqual(self.column("SELECT count(*) FROM t"), [5000])
        self.assertEqual(len(running.fetchall()), 4999)
        self.assertEqual(self.column("SELECT count(*) FROM t"), [5010])

    def test_a_frame_with_other_fields_is_refused(self):
        self.table(self.file)
        os.remove(self.file)
        self.log(fields=["time:timestamp[s]", "x:i4"])
        import time

        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                self.rows("SELECT * FROM t")
            except sqlite3.Error as error:
                self.assertIn("other columns", str(error))
                return
            time.sleep(0.1)
        self.fail("the old fields stay")

    def test_readers_do_not_wait_for_a_writer(self):
        writer = subprocess.Popen([TOOL, "log", "append", self.file, "-", "--quiet"], stdin=subprocess.PIPE)
        self.addCleanup(writer.wait)
        self.addCleanup(writer.stdin.close)
        self.table(self.file)
        self.assertEqual(self.column("SELECT count(*) FROM t"), [5000])


class WriteTest(LogCase):
    def setUp(self):
        super().setUp()
        self.file = self.log(fields=["time:timestamp[s]", "temp:f8"])
        self.db = self.connect("main.db")
        self.table(self.file, "writable=1")
        self.db.execute("CREATE TABLE main.notes(x)")
        self.db.commit()
        self.other = self.connect()
        self.table(self.file, db=self.other)

    def seen(self):
        """By another connection."""
        return [row[0] for row in self.other.execute("SELECT time FROM t ORDER BY rowid")]

    def insert(self, *times):
        self.db.executemany("INSERT INTO t(time, temp) VALUES (?, ?)", [(t, t / 2) for t in times])

    def times(self):
        return self.column("SELECT time FROM t ORDER BY rowid")

    def test_rows_are_appended_in_one_commit(self):
        before = self.column("SELECT max(generation) FROM cairn_history(?)", self.file)[0]
        self.insert(1, 2)
        self.insert(3)
        self.assertEqual(self.seen(), [])
        self.db.commit()
        self.assertEqual(self.seen(), [1, 2, 3])
        self.assertEqual(self.times(), [1, 2, 3])
        after = self.column("SELECT max(generation) FROM cairn_history(?)", self.file)[0]
        self.assertLessEqual(after - before, 2)
        self.tool("verify", self.file)

    def test_keys_of_texts_are_inserted(self):
        """Beside an ordinary table, through commits, savepoints and what is rolled back."""
        path = self.log(fields=["time:timestamp[s]", "host:text", "n:i4", "room:text"], name="keys")
        self.table(path, "writable=1", name="keys")
        self.db.execute("CREATE TABLE main.plain(time INTEGER, host TEXT, n INTEGER, room TEXT)")
        self.db.commit()
        dice = random.Random(7)
        query = "SELECT time, host, n, room FROM {}"
        for step in range(300):
            action = dice.random()
            if action < 0.7:
                row = (step, dice.choice(["a", "b", f"host {dice.randrange(step + 1)}", "ü" * dice.randrange(99), ""]),
                       step, dice.choice([None, "hall", f"room {step // 20}"]))  # fmt: skip
                self.db.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", row)
                self.db.execute("INSERT INTO main.plain VALUES (?, ?, ?, ?)", (*row[:3], row[3] or ""))
            elif action < 0.8 and self.db.in_transaction:
                self.db.execute("SAVEPOINT before")
                self.db.execute("INSERT INTO keys VALUES (?, 'taken back', 0, 'lost')", (step,))
                self.assertIn("taken back", self.column("SELECT host FROM keys"))
                self.db.execute("ROLLBACK TO before")
            elif action < 0.85:
                self.db.rollback()
            else:
                self.db.commit()
            self.assertEqual(self.rows(query.format("keys")), self.rows(query.format("main.plain")))
            self.assertEqual(self.rows(query.format("keys") + " WHERE host = 'a'"),
                             self.rows(query.format("main.plain") + " WHERE host = 'a'"))  # fmt: skip
        self.db.commit()
        self.table(path, db=self.other, name="keys")
        self.assertEqual(self.other.execute(query.format("keys")).fetchall(), self.rows(query.format("main.plain")))
        self.tool("verify", path)

    def test_texts_that_are_no_keys_are_refused(self):
        path = self.log(fields=["time:timestamp[s]", "host:text"], name="keys")
        self.table(path, "writable=1", name="keys")
        for value, what in ((b"a", "column host: takes a text"), ("x" * 65536, "column host: .*65535"), ("a\0b", "column host: ")):
            with self.assertRaisesRegex(sqlite3.Error, what):
                self.db.execute("INSERT INTO keys VALUES (1, ?)", (value,))
        self.db.execute("INSERT INTO keys VALUES (1, 'a')")
        self.db.commit()
        self.assertEqual(self.rows("SELECT * FROM keys"), [(1, "a")])

    def test_a_transaction_reads_its_own_rows(self):
        self.insert(1)
        self.db.commit()
        self.insert(5, 3)
        self.assertEqual(self.rows("SELECT rowid, time, temp FROM t"), [(0, 1, 0.5), (1, 5, 2.5), (2, 3, 1.5)])
        self.assertEqual(self.column("SELECT rowid FROM t WHERE time >= 3 ORDER BY time"), [2, 1])
        self.assertEqual(self.column("SELECT rowid FROM t WHERE rowid > 0 AND temp < 2"), [2])
        self.assertEqual(self.column("SELECT rowid FROM t ORDER BY rowid DESC"), [2, 1, 0])
        self.db.execute("INSERT INTO t SELECT time + 10, temp FROM t")
        self.assertEqual(self.column("SELECT count(*) FROM t"), [6])

    def test_rollback_drops_them(self):
        self.insert(1, 2)
        self.db.rollback()
        self.assertEqual(self.times(), [])
        self.insert(3)
        self.db.commit()
        self.assertEqual(self.seen(), [3])

    def test_savepoints(self):
        self.db.isolation_level = None
        self.db.execute("BEGIN")
        self.db.execute("SAVEPOINT before")
        self.insert(1)
        self.db.execute("SAVEPOINT a")
        self.insert(2)
        self.db.execute("SAVEPOINT b")
        self.insert(3)
        self.db.execute("ROLLBACK TO b")
        self.insert(4)
        self.db.execute("RELEASE b")
        self.assertEqual(self.times(), [1, 2, 4])
        self.db.execute("ROLLBACK TO a")
        self.insert(5)
        self.assertEqual(self.times(), [1, 5])
        self.db.execute("ROLLBACK TO before")
        self.assertEqual(self.times(), [])
        self.insert(6)
        self.db.execute("COMMIT")
        self.assertEqual(self.seen(), [6])

    def test_a_statement_that_fails_leaves_no_row(self):
        self.insert(1)
        self.refuse("takes numbers only", "INSERT INTO t VALUES (2, 3), (3, 'x')")
        self.assertEqual(self.times(), [1])
        self.db.commit()
        self.assertEqual(self.seen(), [1])
        self.db.isolation_level = None
        self.refuse("takes numbers only", "INSERT INTO t VALUES (2, 3), (3, 'x')")
        self.insert(4)
        self.assertEqual(self.seen(), [1, 4])

    def test_a_table_with_rows_of_the_transaction_is_not_dropped(self):
        self.db.isolation_level = None
        reader = self.connect("main.db", isolation_level=None)
        self.db.execute("PRAGMA busy_timeout = 0")

        def refuse_to_drop():
            # The statement is taken back alone: the table takes more rows.
            self.refuse("database table is locked", "DROP TABLE t")
            self.insert(9)

        self.db.execute("BEGIN")
        self.insert(1)
        refuse_to_drop()
        self.db.execute("COMMIT")
        self.assertEqual(self.seen(), [1, 9])
        self.db.execute("BEGIN")
        self.insert(2)
        self.db.execute("SAVEPOINT a")
        refuse_to_drop()
        self.db.execute("ROLLBACK TO a")
        self.db.execute("COMMIT")
        self.assertEqual(self.seen(), [1, 9, 2])
        # The frame has the rows already, and SQLite's own part could not be committed.
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM notes").fetchall()
        self.db.execute("BEGIN")
        self.insert(3)
        self.db.execute("INSERT INTO notes VALUES (1)")
        with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
            self.db.execute("COMMIT")
        reader.execute("COMMIT")
        refuse_to_drop()
        self.db.execute("ROLLBACK")
        self.assertEqual(self.seen(), [1, 9, 2])
        # Without rows of the transaction it is dropped, and comes back by ROLLBACK.
        self.db.execute("BEGIN")
        self.db.execute("SAVEPOINT a")
        self.insert(4)
        self.db.execute("ROLLBACK TO a")
        self.db.execute("DROP TABLE t")
        self.db.execute("ROLLBACK")
        self.insert(5)
        self.db.execute("DROP TABLE t")
        self.assertEqual(self.seen(), [1, 9, 2, 5])

    def test_a_table_made_in_the_transaction(self):
        self.db.isolation_level = None
        self.db.execute("BEGIN")
        self.db.execute(f"CREATE VIRTUAL TABLE main.u USING cairn('{self.file}', writable=1)")
        self.db.execute("SAVEPOINT a")
        self.db.execute("INSERT INTO u VALUES (1, 2)")
        self.db.execute("COMMIT")
        self.assertEqual(self.seen(), [1])

    def test_a_commit_that_sqlite_cannot_make_is_taken_back(self):
        reader = self.connect("main.db")
        self.insert(1)
        self.db.commit()
        self.db.execute("PRAGMA busy_timeout = 0")
        for retried in (False, True):
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM notes").fetchall()
            self.insert(2, 3)
            self.db.execute("INSERT INTO notes VALUES (1)")
            with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
                self.db.commit()
            if retried:
                reader.rollback()
                self.db.commit()
                self.assertEqual(self.seen(), [1, 2, 3])
            else:
                self.db.rollback()
                reader.rollback()
                self.assertEqual(self.seen(), [1])
        self.tool("verify", self.file)

    def test_plain_frames_and_arrays(self):
        cases = [("<i4", (3,), 4), ("", None, 4), ("", None, 4)]
        for i, (dtype, shape, size) in enumerate(cases):
            more = ["--chunk-size", "8"] if i == 2 else []
            path = self.pack(struct.pack("<3i", 1, 2, 3), dtype, shape, size, name=f"{i}.b2frame", more=more)
            self.table(path, "writable=1", *([] if dtype else ["item i4"]), name=f"p{i}")
            reader = self.connect("main.db")
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM notes").fetchall()
            self.db.executemany(f"INSERT INTO p{i} VALUES (?)", [(4,), (5,)])
            self.assertEqual(self.column(f"SELECT item FROM p{i}"), [1, 2, 3, 4, 5])
            self.db.execute("INSERT INTO notes VALUES (1)")
            self.db.execute("PRAGMA busy_timeout = 0")
            with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
                self.db.commit()
            self.table(path, *([] if dtype else ["item i4"]), name=f"p{i}", db=self.other)
            self.assertEqual([row[0] for row in self.other.execute(f"SELECT item FROM p{i}")], [1, 2, 3, 4, 5])
            self.db.rollback()
            self.assertEqual([row[0] for row in self.other.execute(f"SELECT item FROM p{i}")], [1, 2, 3])
            reader.rollback()
            self.db.executemany(f"INSERT INTO p{i} VALUES (?)", [(6,)])
            self.db.commit()
            self.assertEqual([row[0] for row in self.other.execute(f"SELECT item FROM p{i}")], [1, 2, 3, 6])
            self.tool("verify", path)

    def test_every_type(self):
        fields = ["<i1", ">i2", "<i4", ">i8", "|u1", ">u2", "<u4", "<u8", "<f2", ">f4", "<f8", "|b1", "<M8[s]", "|S3", ">U2", "|V3"]
        dtype = str([(f"f{i}", field) for i, field in enumerate(fields)])
        self.pack(b"", dtype, (0,), 1 + 2 + 4 + 8 + 1 + 2 + 4 + 8 + 2 + 4 + 8 + 1 + 8 + 3 + 8 + 3)
        self.table(self.path("a.b2frame"), "writable=1", name="u")
        rows = [
            (-128, -(2**15), -(2**31), -(2**63), 255, 65535, 2**32 - 1, float(2**63), 1.5, 2.5, 0.1, 1, 5, "né", "€", b"abc"),
            (127, 2**15 - 1, 2**31 - 1, 2**63 - 1, 0, 0, 0, 7, None, None, None, 0, None, "", "", b"\0\0\0"),
            (0, 0, 0, 0, 0, 0, 0, 2**63 - 1, 65504.0, math.inf, -math.inf, 0, -1, b"\xff", "ab", b"a\0b"),
            (0, 0, 0, 0, 0, 0, 0, 0, 2.0**-24, 0.0, 0.0, 0, -1, "abc", "\U0001f600", b"\0\0a"),
        ]
        marks = ", ".join("?" * len(fields))
        self.db.executemany(f"INSERT INTO u VALUES ({marks})", rows)
        self.assertEqual(self.rows("SELECT * FROM u"), rows)
        self.db.commit()
        self.assertEqual(self.rows("SELECT * FROM u"), rows)
        good = list(rows[0])
        for column, value in ((0, 128), (0, "x"), (0, None), (1, 2**15), (2, 1.5), (4, -1), (4, 256), (6, 2**32), (7, -1),
                              (7, 2.0**64), (8, 65520), (8, -1e9), (9, 3.5e38), (9, -1e300), (10, b"x"), (11, 2), (12, "now"), (13, "abcd"), (14, "abc"), (14, b"\xff"), (14, b"a\xc3"), (15, "abc"), (15, b"abcd"),
                              (15, b"ab"), (15, b""), (13, "a\0"), (13, b"a\0"), (13, "\0"), (13, b"ab\0"), (14, "a\0"), (14, b"a\0"), (14, "\0")):  # fmt: skip
            bad = [*good[:column], value, *good[column + 1 :]]
            self.refuse(f"column f{column}: ", f"INSERT INTO u VALUES ({marks})", *bad)
        # The greatest that fit, and infinity itself.
        for column, value in ((8, 65519.9), (8, float("inf")), (9, 3.4028235e38), (9, float("-inf"))):
            self.db.execute(f"INSERT INTO u VALUES ({marks})", [*good[:column], value, *good[column + 1 :]])
        # The character that stands for what is none is a character, too.
        self.db.execute(f"INSERT INTO u VALUES ({marks})", [*good[:14], "\ufffd", good[15]])
        self.assertEqual(self.rows("SELECT f14 FROM u ORDER BY rowid DESC LIMIT 1"), [("\ufffd",)])
        no_text = f"INSERT INTO u VALUES ({', '.join('?' * 14)}, CAST(x'80' AS TEXT), ?)"
        self.refuse("column f14: takes UTF-8 only", no_text, *good[:14], good[15])
        # Numbers as texts, as a column of numbers takes them.
        self.db.execute(f"INSERT INTO u VALUES ({marks})", ["-5", *good[1:10], "2.5", *good[11:]])
        self.assertEqual(self.rows("SELECT f0, f10 FROM u ORDER BY rowid DESC LIMIT 1"), [(-5, 2.5)])

    def test_refuses(self):
        self.insert(1)
        self.db.commit()
        self.refuse("not changed or deleted", "UPDATE t SET temp = 1")
        self.refuse("not changed or deleted", "DELETE FROM t")
        self.refuse("the next number, 1", "INSERT INTO t(rowid, time, temp) VALUES (7, 1, 1)")
        self.refuse("a record has a time", "INSERT INTO t(temp) VALUES (1)")
        self.db.execute("INSERT INTO t(rowid, time, temp) VALUES (1, 2, 3)")
        self.db.commit()
        self.refuse("read-only", "INSERT INTO t VALUES (1, 2)", db=self.other)
        self.pack(bytes(16), "<i4", (2, 2), 4)
        self.table(self.path("a.b2frame"), "writable=1", name="grid")
        self.refuse("2 dimensions", "INSERT INTO grid VALUES (1, 1, 1)")
        self.assertEqual(self.seen(), [1, 2])

    def test_another_writer_makes_it_busy(self):
        self.db.isolation_level = None
        other = self.connect(isolation_level=None)
        self.table(self.file, "writable=1", "wait=20", db=other, name="w")
        self.db.execute("BEGIN")
        self.insert(1)
        self.refuse("writer", "INSERT INTO w VALUES (5, 5)", db=other)
        self.assertEqual(self.seen(), [])
        self.db.execute("COMMIT")
        other.execute("INSERT INTO w VALUES (5, 5)")
        self.assertEqual(self.seen(), [1, 5])


class HostileTest(LogCase):
    def visit(self, paths):
        for i in range(0, len(paths), 40):
            done = subprocess.run(
                [sys.executable, "-c", VISIT, EXTENSION, *paths[i : i + 40]],
                capture_output=True, text=True, check=False, timeout=100,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, (paths[i : i + 40], done.stderr[-2000:]))

    def copies(self, folder):
        """Frames that may be written."""
        paths = []
        for path in sorted(glob.glob(os.path.join(ROOT, "tests", "vectors", folder, "*.b2*"))):
            to = self.path(os.path.basename(path))
            (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, to)
            paths.append(to)
        self.assertGreater(len(paths), 5, folder)
        return paths

    def test_hostile_frames_give_errors(self):
        self.visit(self.copies("hostile"))

    def test_frames_of_other_libraries(self):
        self.visit(self.copies("cframes"))

    def test_flipped_bytes(self):
        dice = random.Random(6)
        sources = [self.log("--chunk-size", "4KiB", fields=["time:i8", "temp:f4", "room:bytes[4]"])]
        self.fill(sources[0], [(i, i / 2, "hall") for i in range(2000)])
        data = struct.pack("<1200i", *range(1200))
        sources.append(self.pack(data, "<i4", (30, 40), 4, name="grid.b2frame", more=["--chunk-shape", "7,9"]))
        sources.append(self.pack(data, "[('time', '<i4'), ('temp', '<i4')]", (600,), 8, name="records.b2frame"))
        paths = []
        for i in range(400):
            with open(dice.choice(sources), "rb") as file:
                bytes_ = bytearray(file.read())
            for _ in range(dice.choice([1, 1, 3])):
                # Headers and trailers more often than data.
                at = dice.choice([dice.randrange(300), len(bytes_) - 1 - dice.randrange(300), dice.randrange(len(bytes_))])
                at %= len(bytes_)
                bytes_[at] = dice.choice([bytes_[at] ^ (1 << dice.randrange(8)), 0, 255, 127])
            paths.append(self.path(f"flipped{i}.b2frame"))
            with open(paths[-1], "wb") as file:
                file.write(bytes_)
        self.visit(paths)

    def test_dtypes_that_are_none(self):
        # The metalayer of an array is text of the program that wrote it.
        good = "[('time', '<i4'), ('temp', '<f4'), ('x', [('y', '<i2'), ('z', '|S2')])]"
        with open(self.pack(bytes(120), "[('aa', '<i4'), ('bb', '<f4')]", (15,), 8), "rb") as file:
            frame = file.read()
        old = b"[('aa', '<i4'), ('bb', '<f4')]"
        self.assertIn(old, frame)
        dice = random.Random(7)
        paths = []
        pieces = ["(", ")", "[", "]", "{", "}", "'", ",", ":", "'<i4'", "'names'", "'formats'", "'offsets'", "'itemsize'",
                  "9999999999999999999", "2147483647", "-1", "0", "\\", "'|V8'", "<U9", "(3,)", "True", "\0", "\xff", good]  # fmt: skip
        for i in range(200):
            text = "".join(dice.choice(pieces) for _ in range(dice.randrange(1, 12))).encode("latin-1")
            if dice.random() < 0.3:
                text = dice.choice([b"(" * 30, b"[" * 30, b"[('a','<i4',(4294967296,4294967296))]"[:30], b"{'names':[],'formats':[]}"])
            paths.append(self.path(f"dtype{i}.b2frame"))
            with open(paths[-1], "wb") as file:
                file.write(frame.replace(old, text[: len(old)].ljust(len(old))))
        self.visit(paths)


def snippets(language):
    """The examples of the section of docs/sqlite.md about tables."""
    with open(os.path.join(ROOT, "docs", "sqlite.md"), encoding="utf-8") as file:
        section = file.read().split("## Frames as tables")[1].split("\n## ")[0]
    programs = [part.split("```")[0] for part in section.split(f"```{language}\n")[1:]]
    return [program.replace("./cairn_sqlite", EXTENSION.removesuffix(".so")) for program in programs]


class DocsTest(LogCase):
    def setUp(self):
        super().setUp()
        self.tool("log", "create", self.path("climate.b2frame"), "--quiet", "--field", "time:timestamp[ms]",
                  "--field", "inside:f4", "--field", "outside:f4")  # fmt: skip
        rows = "".join(f"{1795514400000 + i * 1000},{20 + i / 1000},{5 - i / 500}\n" for i in range(1000))
        self.tool("log", "append", self.path("climate.b2frame"), "-", "--quiet", data=("time,inside,outside\n" + rows).encode())

    def run_there(self, *command, data=None):
        done = subprocess.run(command, cwd=self.directory, input=data, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_in_the_shell(self):
        if shutil.which("sqlite3") is None:
            self.skipTest("no sqlite3")
        shown = snippets("sql")
        self.assertGreater(len(shown), 0)
        printed = self.run_there("sqlite3", "-bail", data="".join(shown))
        self.assertIn("20.0", printed)

    def test_in_python(self):
        self.assertEqual(len(snippets("python")), 1)
        for program in snippets("python"):
            self.assertIn("20.", self.run_there(sys.executable, "-c", program))

    def test_in_c(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no cc")
        self.assertEqual(len(snippets("c")), 1)
        for i, program in enumerate(snippets("c")):
            with open(self.path(f"{i}.c"), "w", encoding="utf-8") as file:
                file.write(program)
            self.run_there(compiler, "-Wall", "-Werror", f"{i}.c", "-lsqlite3", "-o", f"program{i}")
            self.assertIn("20.", self.run_there(self.path(f"program{i}")))


if __name__ == "__main__":
    unittest.main()
