"""Logs and Arrow: tables, streams and files of Parquet, beside pyarrow, pandas and DuckDB."""

import os
import subprocess
import sys
import unittest

from support import PackageTest, cairn, np

try:
    import pyarrow as pa
    import pyarrow.parquet
except ImportError:
    pa = None
try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import pandas
except ImportError:
    pandas = None

FIELDS = {
    "time": "M8[ms]", "seen": "M8[s]", "ns": "M8[ns]", "ok": "?", "i1": "i1", "u8": "u8", "f2": "f2", "f4": "f4", "f8": "f8", "host": "S5",
}  # fmt: skip
COUNT = 5000

# The package as users have it who lack pyarrow.
WITHOUT = """
import sys
sys.modules["pyarrow"] = None
import cairn
log = cairn.Log.create(sys.argv[1], {"time": "M8[s]", "x": "f4"})
log.append({"time": [5], "x": [1]})
other = cairn.Log.create(sys.argv[1] + "2", {"time": "M8[s]", "x": "f4"})
other.append(log)
print(len(other), end=" ")
class Table:
    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError
for call in (lambda: log.query().to_arrow(), lambda: log.scan().to_arrow(), lambda: log.scan().to_parquet("x"), lambda: log.append(Table())):
    try:
        call()
    except cairn.Unimplemented as error:
        print("pip install pyarrow" in str(error), end=" ")
"""


def rows_of(count, seed=1):
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, list(FIELDS.items()))
    rows["time"] = np.datetime64("2026-01-01", "ms") + np.arange(count)
    rows["seen"] = np.datetime64("1969-12-31", "s") + rng.integers(0, 10**9, count)
    rows["ns"] = np.datetime64("2026-01-01", "ns") + rng.integers(-(2**60), 2**60, count)
    rows["ok"] = rng.integers(0, 2, count)
    rows["i1"] = rng.integers(-128, 128, count)
    rows["u8"] = rng.integers(2**62, 2**64, count, dtype="u8")
    for name in ("f2", "f4", "f8"):
        rows[name] = rng.normal(size=count)
        rows[name][rng.random(count) < 0.1] = np.nan
    rows["seen"][rng.random(count) < 0.1] = "NaT"
    rows["host"] = np.array([b"", b"a", "höh".encode(), b"abcde", b"a\0b"])[rng.integers(0, 5, count)]
    return rows


@unittest.skipIf(pa is None, "no pyarrow")
class ArrowTest(PackageTest):
    def create(self, rows=None, name="log", fields=FIELDS):
        log = cairn.Log.create(self.path(name), fields, chunksize=300 * 64)
        if rows is not None:
            log.append(rows)
        return log

    def assert_tables(self, got, expected):
        """NaN is NaN here."""
        self.assertEqual(got.schema.types, expected.schema.types)
        self.assertEqual(repr(got.to_pydict()), repr(expected.to_pydict()))

    def test_table_holds_what_the_query_found(self):
        rows = rows_of(COUNT)
        log = self.create(rows)
        table = log.query().to_arrow()
        self.assertEqual([str(one) for one in table.schema.types], [
            "timestamp[ms, tz=UTC]", "timestamp[s, tz=UTC]", "timestamp[ns, tz=UTC]", "bool", "int8", "uint64", "halffloat", "float", "double", "string",
        ])  # fmt: skip
        self.assertEqual(table["host"].to_pylist(), [one.decode() for one in rows["host"].tolist()])
        for name in rows.dtype.names[:-1]:
            column = table[name]
            if rows[name].dtype.kind == "M":
                self.assertEqual(column.null_count, np.isnat(rows[name]).sum())
                column = column.cast(pa.int64()).fill_null(-(2**63))
                self.assert_same(column.to_numpy(), rows[name].view("i8"), name)
            else:
                self.assertEqual(column.null_count, 0)  # NaN stays a number
                self.assert_same(column.to_numpy(), rows[name], name)
        some = log.query(fields=["f4", "time"], where="i1 > 100")
        self.assertEqual(some.to_arrow().column_names, ["f4", "time"])
        self.assert_same(some[::-3].to_arrow()["f4"].to_numpy(), some["f4"][::-3])
        self.assertEqual(log.query(limit=0).to_arrow().schema, table.schema)

    def test_nan_becomes_null_if_asked(self):
        log = cairn.Log.create(self.path("nan"), {"time": "M8[s]", "x": "f4", "n": "i4"})
        log.append({"time": np.arange(4).astype("M8[s]"), "x": [1, np.nan, np.inf, 3], "n": [1, 2, 3, 4]})
        self.assertEqual(log.query().to_arrow()["x"].null_count, 0)
        for table in (log.query().to_arrow(nan_to_null=True), log.scan().to_arrow(nan_to_null=True).read_all()):
            self.assertEqual(table["x"].to_pylist(), [1, None, float("inf"), 3])
            self.assertEqual(table["n"].null_count, 0)
        log.query().to_parquet(self.path("nan.parquet"), nan_to_null=True)
        self.assertEqual(pa.parquet.read_table(self.path("nan.parquet"))["x"].null_count, 1)

    def test_scan_is_a_reader_that_reads_piece_by_piece(self):
        log = self.create(rows_of(COUNT))
        reader = log.scan(where="ok == 1").to_arrow()
        self.assertIsInstance(reader, pa.RecordBatchReader)
        batches = list(reader)
        self.assertGreater(len(batches), 5)
        self.assert_tables(pa.Table.from_batches(batches), log.query(where="ok == 1").to_arrow())
        scan = log.scan()
        first = next(scan)
        self.assertEqual(len(first) + scan.to_arrow().read_all().num_rows, COUNT)
        self.assert_tables(pa.table(log), log.query().to_arrow())
        self.assert_tables(pa.table(log.snapshot()), pa.table(log.query()))
        self.assert_tables(log.query(limit=0).to_arrow(), log.scan(limit=0).to_arrow().read_all())

    def test_bytes_that_are_no_text_are_read_as_bytes(self):
        log = self.create(fields={"time": "M8[s]", "host": "S3"})
        log.append({"time": [1, 2, 3], "host": [b"a", b"\xff\0a", b""]})
        for read in (lambda: log.query().to_arrow(), lambda: log.scan().to_arrow().read_all(), lambda: log.scan().to_parquet(self.path("p"))):
            with self.assertRaisesRegex(cairn.InvalidArgument, "field 'host': bytes that are not UTF-8; text=False"):
                read()
        self.assertEqual(sorted(os.listdir(self.folder)), ["log"])
        table = log.query().to_arrow(text=False)
        self.assertEqual(table["host"].to_pylist(), [b"a", b"\xff\0a", b""])
        log.scan().to_parquet(self.path("p"), text=False)
        self.assertEqual(pa.parquet.read_table(self.path("p"))["host"], table["host"])

    def test_files_of_parquet_are_what_others_read(self):
        log = self.create(rows_of(COUNT))
        table = log.query().to_arrow()
        for number, save in enumerate((log.scan().to_parquet, log.query().to_parquet)):
            for compression in ("zstd", "snappy", "none"):
                path = self.path(f"p{number}{compression}")
                save(path, compression=compression)
                save = log.scan().to_parquet
                self.assert_tables(pa.parquet.read_table(path), table.cast(pa.parquet.read_schema(path)))
                self.assertEqual(pa.parquet.ParquetFile(path).metadata.num_row_groups, 1)
        log.query(limit=0).to_parquet(path)
        self.assertEqual(pa.parquet.read_table(path).num_rows, 0)
        with self.assertRaisesRegex(cairn.InvalidArgument, "compression: expected one of none, snappy"):
            log.scan().to_parquet(path, compression="zip")
        with self.assertRaises(cairn.NotFound):
            log.scan().to_parquet(self.path("none/p"))
        self.assertEqual([name for name in os.listdir(self.folder) if "part" in name], [])

    def test_tables_are_appended(self):
        rows = rows_of(COUNT)
        table = self.create(rows).query().to_arrow()
        items = [table, table.to_batches()[0], table.to_reader(100), table.slice(3, 50), dict(zip(table.column_names, table.columns)),
                 table.set_column(9, "host", table["host"].cast(pa.binary())), table.select(table.column_names[::-1]),
                 table.set_column(9, "host", table["host"].dictionary_encode()), table.set_column(0, "time", table["time"].cast(pa.timestamp("ns", "Asia/Tokyo"))),
                 table.set_column(0, "time", table["time"].cast(pa.timestamp("us")))]  # fmt: skip
        for number, item in enumerate(items):
            with self.subTest(number=number):
                log = self.create(name=f"other{number}")
                log.append(item)
                self.assert_same(log[:], rows[3:53] if number == 3 else rows)

    def test_values_that_a_field_does_not_hold_are_refused(self):
        log = self.create(fields={"time": "M8[s]", "n": "i4", "x": "f4", "host": "S3", "ok": "?", "seen": "M8[s]"})
        good = {"time": pa.array([1, 2]), "n": pa.array([1, 2]), "x": pa.array([1.5, None]), "host": pa.array(["a", None]), "ok": pa.array([True, False]),
                "seen": pa.array([5, None], pa.timestamp("s"))}  # fmt: skip
        for wrong in (
            {"n": pa.array([1, None])}, {"n": pa.array([1, 2**40])}, {"n": pa.array([1.5, 2])}, {"ok": pa.array([True, None])}, {"host": pa.array(["abcd", ""])},
            {"host": pa.array(["a\0", ""])}, {"time": pa.array([1, None], pa.timestamp("s"))}, {"x": pa.array(["a", "b"])}, {"n": pa.array([[1], [2]])},
            {"other": pa.array([1, 2])}, {"x": pa.array([1, 2], pa.duration("s"))},
        ):  # fmt: skip
            with self.subTest(wrong=wrong), self.assertRaises(cairn.InvalidArgument):
                log.append(pa.table({**good, **wrong}))
        with self.assertRaisesRegex(cairn.InvalidArgument, "expected each name once"):
            log.append(pa.Table.from_arrays([good["time"], good["time"]], ["time", "time"]))
        self.assertEqual(len(log), 0)
        log.append(pa.table(good))
        dates = {"time": pa.array([1, 2], pa.date32()), "seen": pa.array([None, 3], pa.date64()), "n": pa.array([1, 2], pa.decimal128(9, 2)), "x": pa.array(["1.25", None]).cast(pa.decimal128(9, 2))}
        log.append(pa.table({**good, **dates, "host": pa.nulls(2)}))
        self.assertEqual(log["n"].tolist(), [1, 2, 1, 2])
        self.assert_same(log["x"], np.array([1.5, np.nan, 1.25, np.nan], "f4"))
        self.assertEqual(log["host"].tolist(), [b"a", b"", b"", b""])
        self.assert_same(log["time"][2:], np.array(["1970-01-02", "1970-01-03"], "M8[s]"))
        self.assertEqual(np.isnat(log["seen"]).tolist(), [False, True, True, False])

    def test_large_whole_numbers_with_nulls_stay_exact(self):
        log = self.create(fields={"time": "M8[ns]", "u": "u8", "seen": "M8[ns]"})
        log.append({"time": pa.array([2**61 + 1, 2**61 + 3]), "u": pa.array([2**63 + 1, 2**64 - 1], pa.uint64()), "seen": pa.array([2**61 + 1, None])})
        self.assertEqual(log["u"].tolist(), [2**63 + 1, 2**64 - 1])
        self.assertEqual(log["seen"].view("i8").tolist(), [2**61 + 1, -(2**63)])
        self.assertEqual(log["time"].view("i8").tolist(), [2**61 + 1, 2**61 + 3])

    @unittest.skipIf(duckdb is None, "no duckdb")
    def test_duckdb_reads_logs_and_logs_take_what_it_finds(self):
        rows = rows_of(COUNT)
        fields = {name: one for name, one in FIELDS.items() if name != "f2"}  # which it does not know
        log = self.create(rows[list(fields)], fields=fields)
        rows = rows[rows["i1"] > 0]
        found = duckdb.sql("select host, count(*), sum(u8), max(time) from log where i1 > 0 group by host order by host").fetchall()
        self.assertEqual(len(found), 5)
        for host, count, total, last in found:
            here = rows[rows["host"] == host.encode()]
            self.assertEqual((count, int(total)), (len(here), sum(here["u8"].tolist())))
            self.assertEqual(last.timestamp() * 1000, here["time"].max().view("i8"))
        reader = log.scan(fields=["time", "f4"], where="i1 > 0").to_arrow()
        self.assertEqual(duckdb.sql("select count(*) from reader").fetchall(), [(len(rows),)])
        other = self.create(name="other", fields={"time": "M8[s]", "n": "i8", "u": "f8", "host": "S5"})
        other.append(duckdb.sql("select time_bucket(interval '1 second', time) as time, count(*) as n, sum(u8) as u, min(host) as host from log group by 1"))
        self.assertEqual((other["n"].sum(), len(other)), (COUNT, 5))
        log.scan().to_parquet(self.path("p.parquet"))
        self.assertEqual(duckdb.sql(f"select count(*), count(distinct host) from '{self.path('p.parquet')}'").fetchall(), [(COUNT, 5)])

    @unittest.skipIf(pandas is None, "no pandas")
    def test_pandas_reads_the_same_table(self):
        log = self.create(rows_of(COUNT))
        ours = log.to_pandas()
        theirs = log.query().to_arrow().to_pandas().set_index("time")
        self.assertEqual(str(theirs.index.dtype), "datetime64[ms, UTC]")
        for name in ours:
            left, right = ours[name], theirs[name]
            if right.dtype.kind == "M":
                right = right.dt.tz_localize(None)
            pandas.testing.assert_series_equal(left, right, check_index=False, check_dtype=False)

    def test_its_absence_is_told(self):
        done = subprocess.run([sys.executable, "-c", WITHOUT, self.path()], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["1"] + ["True"] * 4)


class MemoryTest(PackageTest):
    @unittest.skipIf(pa is None, "no pyarrow")
    def test_reader_holds_few_batches(self):
        log = cairn.Log.create(self.path(), {"time": "M8[ms]", "x": "f8"}, chunksize=1 << 16)
        with log.writer() as writer:
            for part in range(20):
                times = np.datetime64("2026-01-01", "ms") + np.arange(part * 50_000, (part + 1) * 50_000)
                writer.append({"time": times, "x": np.arange(50_000.0)})
        before, most, count = pa.total_allocated_bytes(), 0, 0
        for batch in log.scan().to_arrow():
            count += batch.num_rows
            most = max(most, batch.nbytes)
        self.assertEqual(count, 1_000_000)
        self.assertLess(most, 1 << 20)
        self.assertLess(pa.total_allocated_bytes() - before, 1 << 20)


if __name__ == "__main__":
    unittest.main()
