"""Logs through the package `cairn`."""

import asyncio
import datetime
import os
import pickle
import random
import subprocess
import sys
import threading
import unittest

from support import PackageTest, cairn, needs_blosc2, np

try:
    import pandas
except ImportError:
    pandas = None

SENSOR = [("time", "<M8[us]"), ("temp", "<f8"), ("count", "<i4"), ("host", "S8")]
START = "2026-01-02T03:04:05"
CHUNK = 100  # records


def sensor(count, first=0, step=1_000_000):
    """A record each second."""
    rows = np.zeros(count, SENSOR)
    numbers = np.arange(first, first + count)
    rows["time"] = np.datetime64(START, "us") + numbers * np.timedelta64(step, "us")
    rows["temp"] = np.sin(numbers / 50) * 20
    rows["count"] = numbers
    rows["host"] = np.array([b"alpha", b"beta", b"gamma"])[numbers % 3]
    return rows


class LogTest(PackageTest):
    def create(self, rows=None, name="log", **how):
        how.setdefault("chunksize", CHUNK * np.dtype(SENSOR).itemsize)
        log = cairn.Log.create(self.path(name), SENSOR, **how)
        if rows is not None:
            log.append(rows)
        return log


class DeleteTest(LogTest):
    def test_every_way_to_read_leaves_deleted_records_out(self):
        for seed, rotation in enumerate([cairn.Rotation(), cairn.Rotation(period="4m")]):
            dice = random.Random(seed)
            rows = sensor(1200)
            log = self.create(rows, f"log{seed}", rotation=rotation)
            live = np.ones(len(rows), bool)
            for turn in range(6):
                begin = dice.randrange(1200)
                end = min(begin + dice.choice([1, 5, 150, 400]), 1199)
                chosen = live & (np.arange(1200) >= begin) & (np.arange(1200) < end)
                where = dice.choice([None, "host = 'beta'"])
                if where:
                    chosen &= rows["host"] == b"beta"
                with self.subTest(seed=seed, turn=turn):
                    times = rows["time"][begin], rows["time"][end]
                    self.assertEqual(log.delete(*times, where=where), chosen.sum())
                    live &= ~chosen
                    self.check(log, rows, live, dice)

    def check(self, log, rows, live, dice):
        kept = rows[live]
        numbers = np.flatnonzero(live)
        self.assertEqual((len(log), log.first_record, log.end_record), (len(kept), 0, len(rows)))
        self.assertEqual([n for part in log.deleted for n in part], np.flatnonzero(~live).tolist())
        np.testing.assert_array_equal(log[:], kept)
        np.testing.assert_array_equal(np.asarray(log), kept)
        np.testing.assert_array_equal(log["count"], kept["count"])
        np.testing.assert_array_equal(log[["temp", "host"]], kept[["temp", "host"]])
        np.testing.assert_array_equal(log[::-7], kept[::-7])
        np.testing.assert_array_equal(log[37:900:3], kept[37:900:3])
        self.assertEqual(log[-1], kept[-1])
        picked = [dice.randrange(-len(kept), len(kept)) for _ in range(20)]
        np.testing.assert_array_equal(log[picked], kept[picked])
        np.testing.assert_array_equal(log[[5, -5]], kept[[5, -5]])
        mask = kept["count"] % 11 == 3
        np.testing.assert_array_equal(log[mask], kept[mask])
        for count in (0, 1, 300, 5000):
            tail = log.tail(count)
            np.testing.assert_array_equal(tail.to_numpy(), kept[len(kept) - min(count, len(kept)) :])
            np.testing.assert_array_equal(tail.numbers, numbers[len(kept) - min(count, len(kept)) :])
        found = log.query(fields="count", where="temp > 3")
        np.testing.assert_array_equal(found["count"], kept["count"][kept["temp"] > 3])
        self.assertEqual(len(list(log)), len(kept))
        self.assertEqual(log.times, (kept["time"].min(), kept["time"].max()))
        self.assertEqual(log.statistics["count"].count, len(kept))
        self.assertEqual(log.statistics["count"].sum, kept["count"].sum())
        self.assertEqual(log.verify_statistics(), [])
        (given,) = log.follow(0, timeout=0)
        np.testing.assert_array_equal(given.to_numpy(), kept)

    def test_a_deletion_says_what_it_wants(self):
        log = self.create(sensor(10))
        with self.assertRaises(cairn.InvalidArgument):
            log.delete()
        with self.assertRaises(cairn.InvalidArgument):
            log.delete(where=[("count", ">", 3)])
        with self.assertRaises(cairn.NotFound):
            log.delete(where="nothing = 3")
        self.assertEqual(len(log), 10)
        self.assertEqual(log.delete(last="2s"), 3)
        self.assertEqual(log.delete("2026-01-02T04:04:10", tz="Europe/Berlin"), 2)
        self.assertEqual(log.delete("1970-01-01"), 5)
        self.assertEqual((len(log), log.times, list(log), len(log.tail())), (0, None, [], 0))
        self.assertEqual(log[:].shape, (0,))

    def test_the_writer_deletes_what_it_has_taken(self):
        log = self.create(sensor(50))
        with log.writer() as writer:
            writer.append(sensor(10, 50))
            self.assertEqual(writer.delete(where="count >= 45"), 15)
            with self.assertRaises(cairn.Unavailable):
                log.delete(where="count < 5", wait=0)
        self.assertEqual(len(log), 40)

    def test_a_writer_that_runs_is_asked(self):
        log = self.create(sensor(50))
        with log.writer(commit_interval=0.02) as writer:
            ended = threading.Event()

            def write():
                while not ended.wait(0.03):
                    writer.append(sensor(1, writer.end_record))

            thread = threading.Thread(target=write)
            thread.start()
            try:
                other = cairn.Log.open(log.path)
                self.assertEqual(other.delete(where="10 <= count < 20"), 10)
            finally:
                ended.set()
                thread.join()
        self.assertEqual(log.deleted, [range(10, 20)])

    def test_a_follower_is_told(self):
        log = self.create(sensor(50))
        told = []
        records = iter(log.follow(20, timeout=0.2, on_delete=told.append))
        self.assertEqual(len(next(records)), 30)
        log.delete(where="count in (3, 30, 31)")
        log.append(sensor(5, 50))
        self.assertEqual(next(records)["count"].tolist(), [50, 51, 52, 53, 54])
        self.assertEqual(told, [[range(30, 32)]])
        log.append(sensor(5, 55))
        log.delete(where="count in (40, 57)")
        self.assertEqual(next(records)["count"].tolist(), [55, 56, 58, 59])
        self.assertEqual(told[1:], [[range(40, 41)]])


class CreateTest(LogTest):
    def test_log_has_the_fields_that_it_was_made_with(self):
        log = self.create()
        self.assertEqual((log.dtype, log.time_field, len(log)), (np.dtype(SENSOR), "time", 0))
        self.assertIsNone(log.times)
        self.assertEqual(len(log.query()), 0)
        self.assertEqual(log[:].dtype, np.dtype(SENSOR))

    def test_times_without_a_unit_get_one(self):
        log = cairn.Log.create(self.path(), {"at": "M8", "x": ">f4"}, unit="ms")
        self.assertEqual(log.dtype, np.dtype([("at", "<M8[ms]"), ("x", "<f4")]))
        self.assertEqual(log.time_field, "at")

    def test_records_may_have_gaps(self):
        aligned = np.dtype([("ok", "?"), ("time", "<M8[s]"), ("level", "<i2")], align=True)
        log = cairn.Log.create(self.path(), aligned)
        rows = np.array([(True, "2026-01-01", -3)], aligned)
        log.append(rows)
        self.assertEqual(cairn.Log.open(self.path())[:].tolist(), rows.tolist())

    def test_fields_may_have_any_printed_name(self):
        for number, name in enumerate(("a'b", 'q"', "both'\"", "back\\slash", "ünï 🙂", "two words", "x[1]", "{0}")):
            with self.subTest(name=name):
                path = self.path(str(number))
                cairn.Log.create(path, [("time", "M8[s]"), (name, "f4")]).append({"time": START, name: 1})
                log = cairn.Log.open(path)
                self.assertEqual(log.query(where=[(name, "==", 1)])[name].tolist(), [1])
                self.assertEqual(cairn.open(path).dtype, log.dtype)

    def test_existing_log_is_opened_only_when_it_is_the_same(self):
        self.create(sensor(3))
        with self.assertRaises(cairn.AlreadyExists):
            self.create()
        self.assertEqual(len(self.create(exist_ok=True)), 3)
        with self.assertRaisesRegex(cairn.AlreadyExists, "host"):
            cairn.Log.create(self.path("log"), {"time": "M8[us]"}, exist_ok=True)

    def test_what_is_no_log_is_refused(self):
        for wrong in ("f4", {"time": "O"}, {"x": "c8"}, {"a": ("f4", (2,))}, {"time": "M8[D]"}):
            with self.subTest(dtype=wrong), self.assertRaises((cairn.Error, ValueError)):
                cairn.Log.create(self.path(), wrong)
        with self.assertRaisesRegex(cairn.NotFound, "clock"):
            cairn.Log.create(self.path(), SENSOR, time="clock")
        with self.assertRaisesRegex(cairn.InvalidArgument, "codec"):
            cairn.Log.create(self.path(), SENSOR, codec="x")
        with self.assertRaises(FileNotFoundError):
            cairn.Log.open(self.path("none"))
        cairn.create(self.path("plain"), None)
        with self.assertRaises(cairn.FailedPrecondition):
            cairn.Log.open(self.path("plain"))

    def test_array_of_records_is_a_log(self):
        cairn.asarray(sensor(250), self.path())
        log = cairn.Log.open(self.path())
        self.assert_same(log.query(log.times[0], fields=["count"])["count"], sensor(250)["count"])
        other = cairn.Log.open(self.path(), time="count")
        self.assertEqual(other.times, (0, 249))
        self.assertEqual(len(other.query(10, 20)), 10)

    def test_plain_numbers_are_a_log_without_time(self):
        cairn.asarray(np.arange(10.0), self.path())
        log = cairn.Log.open(self.path())
        log.append([10, 11])
        self.assertEqual(log[:].tolist(), list(range(12)))
        self.assertEqual(np.asarray(log.query(where=("", ">=", 9))).tolist(), [9, 10, 11])
        with self.assertRaisesRegex(cairn.FailedPrecondition, "no time"):
            log.query("2026-01-01")


class AppendTest(LogTest):
    def test_takes_records_of_its_type(self):
        log = self.create(sensor(250))
        log.append(sensor(1, 250)[0])
        self.assert_same(log[:], sensor(251))

    def test_takes_columns_by_name(self):
        rows = sensor(5)
        log = self.create()
        log.append({name: rows[name] for name in reversed(rows.dtype.names)})
        log.append({"time": rows["time"].astype("M8[ns]"), "temp": rows["temp"].tolist(),
                    "count": rows["count"].astype(">i8"), "host": rows["host"].astype("U")})  # fmt: skip
        log.append(rows[["host", "count", "temp", "time"]])
        self.assert_same(log[:], np.concatenate([rows] * 3))

    def test_takes_one_record_or_tuples(self):
        utc = datetime.timezone.utc
        log = self.create()
        log.append({"time": START, "temp": 1, "count": 2, "host": "ä"})
        log.append((datetime.datetime(2026, 1, 2, 3, 4, 6), 1.5, 3, b"b"))
        log.append([(datetime.datetime(2026, 1, 2, 3, 4, 7, tzinfo=utc), 1.5, 4, "c"), ("2026-01-02T04:04:08+01:00", 2, 5, "d")])
        seconds = np.datetime64(START, "us") + np.arange(4) * np.timedelta64(1, "s")
        self.assert_same(log["time"], seconds.astype("M8[us]"))
        self.assertEqual(log["host"].tolist(), ["ä".encode(), b"b", b"c", b"d"])

    def test_takes_what_a_mask_hides_for_no_value(self):
        log = self.create()
        hidden = np.ma.masked_array
        log.append({"time": [START] * 2, "temp": hidden([1.0, 2.0], [0, 1]), "count": hidden([1, 2], False), "host": hidden(["a", "b"], [1, 0])})
        self.assertEqual(log["host"].tolist(), [b"", b"b"])
        self.assertEqual(np.isnan(log["temp"]).tolist(), [False, True])
        self.assertEqual(log["count"].tolist(), [1, 2])
        for name in ("time", "count"):
            values = {"time": [START], "temp": [1.0], "count": [1], "host": ["a"]}
            with self.subTest(name=name), self.assertRaises(ValueError):
                log.append({**values, name: hidden(np.asarray(sensor(1)[name]), [1])})

    def test_takes_nothing_of_what_does_not_fit(self):
        good = {"time": [START], "temp": [1.0], "count": [1], "host": ["a"], "small": [1.0]}
        wrong = [
            {"count": [2**31]}, {"count": [1.5]}, {"count": ["1"]}, {"host": ["a" * 9]}, {"host": [1]}, {"temp": ["hot"]},
            {"temp": [1j]}, {"small": [70_000.0]}, {"time": ["soon"]}, {"time": [None]}, {"time": [np.datetime64("NaT")]}, {"time": [1.5]},
            {"time": np.array(["300000-01-01"], "M8[D]")}, {"temp": [1.0, 2.0]}, {"temp": [[1.0]]}, {"more": [1]},
        ]  # fmt: skip
        log = cairn.Log.create(self.path(), [*SENSOR, ("small", "f2")])
        with log.writer() as writer:
            for change in wrong:
                with self.subTest(change=change), self.assertRaises((ValueError, TypeError)):
                    writer.append({**good, **change})
            with self.assertRaisesRegex(ValueError, "time, temp, count, host"):
                writer.append({"time": [START]})
            with self.assertRaises(ValueError):
                writer.append([(START, 1.0)])
            self.assertEqual(writer.end_record, 0)

    def test_refuses_texts_that_end_with_a_zero(self):
        """A field of fixed width is padded with zeros: such a text came back shorter."""
        log = cairn.Log.create(self.path(), {"time": "M8[s]", "host": "S4", "note": "S4"})
        for text in ("a\0", b"a\0", "\0", b"\0\0", "abc\0", np.str_("a\0"), np.bytes_(b"a\0")):
            rows = [{"time": 5, "host": text}, {"time": [5, 5], "host": ["a", text]}, [(5, "a", ""), (5, text, "")],
                    {"time": [5, 5], "host": np.array(["a", text], object)}, np.array([(5, "a"), (5, text)], [("time", "M8[s]"), ("host", "O")])]  # fmt: skip
            if pandas is not None:
                rows += [pandas.DataFrame({"time": [5, 5], "host": pandas.Series(["a", text], dtype=object)})]
                if isinstance(text, str):
                    rows += [pandas.DataFrame({"time": 5, "host": pandas.array(["a", text], "string")})]
            for number, given in enumerate(rows):
                with self.subTest(text=text, number=number), self.assertRaisesRegex(cairn.InvalidArgument, "field 'host': record [01]: a text that ends with a zero"):
                    log.append(given)
        self.assertEqual(len(log), 0)
        log.append({"time": [5, 5], "host": ["\0a", b"a\0b"]})
        log.append({"time": [5], "host": np.array(["c\0"])})  # of NumPy's own, which has no such text
        self.assertEqual(log["host"].tolist(), [b"\0a", b"a\0b", b"c"])

    def test_hidden_fields_of_records_are_no_values(self):
        log = cairn.Log.create(self.path(), {"time": "M8[s]", "temp": "f8", "count": "i4"})
        dtype = [("time", "M8[s]"), ("temp", "f8"), ("count", "i4")]
        log.append(np.ma.array([(5, 7.0, 1), (6, 8.0, 2)], mask=[(0, 1, 0), (0, 0, 0)], dtype=dtype))
        self.assertTrue(np.isnan(log["temp"][0]))
        self.assertEqual((log["temp"][1], log["count"].tolist()), (8.0, [1, 2]))
        with self.assertRaisesRegex(cairn.InvalidArgument, "field 'count': no value"):
            log.append(np.ma.array([(7, 7.0, 99)], mask=[(0, 0, 1)], dtype=dtype))
        with self.assertRaisesRegex(cairn.InvalidArgument, "hides items"):
            cairn.asarray(np.ma.array([(7, 7.0, 99)], mask=[(0, 0, 1)], dtype=dtype))

    def test_takes_bytes_among_texts(self):
        log = cairn.Log.create(self.path(), {"time": "M8[s]", "host": "S4"})
        log.append({"time": [5, 5], "host": [b"\xff", "é"]})
        log.append({"time": [6], "host": [None]})
        self.assertEqual(log["host"].tolist(), [b"\xff", "é".encode(), b""])

    @unittest.skipIf(pandas is None, "no pandas")
    def test_takes_and_gives_data_frames(self):
        rows = sensor(50)
        log = self.create(rows)
        frame = log.to_pandas()
        self.assertEqual((frame.index.name, list(frame)), ("time", ["temp", "count", "host"]))
        self.assertEqual(frame["host"].tolist()[:3], ["alpha", "beta", "gamma"])
        for change in (lambda f: f, lambda f: f.reset_index(), lambda f: f.tz_localize("UTC").tz_convert("Asia/Tokyo")):
            other = self.create(name=f"log{len(os.listdir(self.folder))}")
            other.append(change(frame))
            self.assert_same(other[:], rows)


class WriterTest(LogTest):
    def test_commits_when_its_options_say(self):
        log = self.create()
        reader = cairn.Log.open(log.path)
        with log.writer(commit_records=10, reorder_window="0s") as writer:
            writer.append(sensor(9))
            self.assertEqual((len(log), writer.end_record), (0, 9))
            writer.append(sensor(1, 9))
            self.assertEqual(len(log), 10)
            self.assertTrue(reader.refresh())
            writer.append(sensor(1, 10))
            self.assertEqual(len(writer.commit()), 11)
            writer.append(sensor(1, 11))
        self.assertEqual((len(log), len(reader)), (12, 10))

    def test_commits_what_is_due_by_itself(self):
        timer = cairn.CommitTimer()
        for how in ({}, {"timer": timer}):
            log = self.create(name=f"log{len(how)}")
            with log.writer(commit_interval=0.02, **how) as writer:
                writer.append(sensor(3))
                reader = cairn.Log.open(log.path)
                self.assertEqual(len(next(iter(reader.follow(0, timeout=30)))), 3)

    def test_sorts_late_records_in(self):
        log = self.create()
        with log.writer(commit_records=1, reorder_window="3s") as writer:
            for number in (0, 2, 1, 3, 9):
                writer.append(sensor(1, number))
            self.assertEqual(log["count"].tolist(), [0, 1, 2, 3])
        self.assertEqual(log["count"].tolist(), [0, 1, 2, 3, 9])

    def test_keeps_what_it_took_after_an_exception(self):
        log = self.create()
        with self.assertRaises(KeyboardInterrupt):
            with log.writer() as writer:
                writer.append(sensor(5))
                raise KeyboardInterrupt
        self.assertEqual(len(cairn.Log.open(log.path)), 5)

    def test_loses_what_was_not_committed_without_close(self):
        log = self.create()
        writer = log.writer()
        writer.append(sensor(5))
        del writer
        log.append(sensor(2))
        self.assertEqual(len(log), 2)

    def test_is_the_only_one(self):
        log = self.create()
        writer = log.writer()
        for other in (log, cairn.Log.open(log.path)):
            with self.assertRaises(cairn.Unavailable):
                other.append(sensor(1))
        later = threading.Timer(0.05, writer.close)
        later.start()
        with log.writer(wait=30) as second:
            second.append(sensor(1))
        later.join()
        self.assertEqual(len(log), 1)

    def test_closed_writer_says_so(self):
        log = self.create()
        with log.writer() as writer:
            writer.close()
        self.assertTrue(writer.closed)
        append = lambda: writer.append(sensor(1))
        for call in (append, writer.commit, writer.apply_retention, writer.snapshot, writer.__enter__):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "closed"):
                call()

    def test_may_compress_otherwise(self):
        rows = sensor(20_000)
        log = self.create(chunksize=1 << 18)
        with log.writer(codec="zstd", clevel=9) as writer:
            writer.append(rows)
        self.assert_same(log[:], rows)
        self.assertEqual(log.info.codec, "lz4")
        stored = self.create(rows, name="other", chunksize=1 << 18).frames[0].info.cbytes
        self.assertLess(log.frames[0].info.cbytes, stored)

    def test_killed_process_loses_no_commit(self):
        log = self.create()
        script = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
from logs_test import cairn, sensor
import os
writer = cairn.Log.open({log.path!r}).writer(commit_records=100)
writer.append(sensor(100)); writer.append(sensor(7, 100))
os._exit(9)"""
        self.assertEqual(subprocess.run([sys.executable, "-c", script], check=False).returncode, 9)
        self.assert_same(cairn.Log.open(log.path)[:], sensor(100))

    def test_threads_share_it(self):
        log = self.create()
        with log.writer(commit_records=50) as writer:
            threads = [threading.Thread(target=lambda t=t: [writer.append(sensor(5, t * 100 + i * 5)) for i in range(20)]) for t in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(log["count"].tolist()), list(range(400)))


class ReadTest(LogTest):
    def setUp(self):
        super().setUp()
        self.rows = sensor(1050)
        self.log = self.create(self.rows)

    def test_reads_like_an_array(self):
        log, rows = self.log, self.rows
        for key in (0, -1, 500, np.int64(7), slice(3, 9), slice(None), slice(-5, None), slice(10, 900, 70), slice(900, 10, -70),
                    slice(None, None, -1), slice(5, 5), "temp", "host"):  # fmt: skip
            with self.subTest(key=key):
                self.assert_same(log[key], rows[key])
        self.assert_same(np.asarray(log), rows)
        self.assertEqual([int(row["count"]) for row in log], list(range(1050)))
        for wrong, error in ((1050, IndexError), (-1051, IndexError), ("none", cairn.NotFound)):
            with self.assertRaises(error):
                log[wrong]

    def test_times_may_be_of_any_kind(self):
        rows = self.rows[60:121]
        zone = datetime.timezone(datetime.timedelta(hours=-5))
        begins = [
            "2026-01-02T03:05:05", "2026-01-02 03:05:05.000000000", "2026-01-02T03:05:05Z", "2026-01-02T04:05:05+01",
            "2026-01-01T22:05:05-05:00", "2026-01-02T08:50:05+0545", np.datetime64("2026-01-02T03:05:05", "ns"), "2026-01-02T03:05:04.0000001",
            datetime.datetime(2026, 1, 2, 3, 5, 5), datetime.datetime(2026, 1, 1, 22, 5, 5, tzinfo=zone), int(rows["time"][0].astype(int)),
        ]  # fmt: skip
        if pandas is not None:
            begins.append(pandas.Timestamp("2026-01-02 03:05:05"))
            begins.append(pandas.Timestamp("2026-01-02 12:05:05", tz="Asia/Tokyo"))
        begins[7] = "2026-01-02T03:05:04.0000001"
        for begin in begins:
            with self.subTest(begin=begin):
                self.assert_same(self.log.query(begin, "2026-01-02T03:06:06").to_numpy(), rows)
        for wrong in ("someday", 1.5, [], np.datetime64("NaT")):
            with self.subTest(wrong=wrong), self.assertRaises((TypeError, ValueError)):
                self.log.query(wrong)

    def test_times_beyond_all_counts_are_bounds(self):
        self.assertEqual(len(self.log.query("0001-01-01", datetime.datetime.max)), 1050)
        self.assertEqual(len(self.log.query(np.datetime64("999999-01-01"))), 0)

    def test_conditions_select_records(self):
        rows = self.rows
        cases = {
            "temp > 10": rows["temp"] > 10,
            "10 < temp <= 15.5": (rows["temp"] > 10) & (rows["temp"] <= 15.5),
            "temp > 10 and host == 'beta' and count < 700": (rows["temp"] > 10) & (rows["host"] == b"beta") & (rows["count"] < 700),
            "count != -1": rows["count"] >= 0,
            f"time < '{START}' ": rows["count"] < 0,
            ("host", "!=", b"beta"): rows["host"] != b"beta",
            (("time", ">=", "2026-01-02T03:05:05.0000005"), ("count", "<=", np.int16(99))): (rows["count"] > 60) & (rows["count"] < 100),
            ("count", "<", 10**30): rows["count"] >= 0,
        }  # fmt: skip
        for where, expected in cases.items():
            with self.subTest(where=where):
                self.assert_same(self.log.query(where=where).to_numpy(), rows[expected])
        for wrong in ("temp", "temp >", "temp > count", "1 < 2", "temp > __import__('os')", "none == 1", "", "temp > 1 and",
                      "temp == 'a'", "host > 1", "f(temp) > 1", [("temp", "=", 1)], ("temp", ">", None)):  # fmt: skip
            with self.subTest(where=wrong), self.assertRaises(cairn.Error):
                self.log.query(where=wrong)

    def test_text_that_is_no_condition_is_refused_with_its_place(self):
        for where, place in (("temp > 1 adn host = 'a'", "character 8"), ("(temp > 1", "character 10"), ("host = 'a", "character 8"),
                             ("temp > 1 & temp < 2", "character 10"), ("host in ('a' 'b')", "character 14"), ("time > noon", "character 8")):  # fmt: skip
            with self.subTest(where=where), self.assertRaises(cairn.InvalidArgument) as raised:
                self.log.query(where=where)
            self.assertIn(place.split(":")[0], str(raised.exception))

    def test_random_conditions_hold_where_numpy_says_so(self):
        rng = random.Random(7)
        rows = self.rows.copy()
        rows["temp"][::17] = np.nan
        log = self.create(rows, name="random")
        signs = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal, "!=": np.not_equal}

        def test():
            name = rng.choice(["temp", "count", "host"])
            if name == "host":
                values = [rng.choice(["alpha", "beta", "gamma", "o'hara"]) for _ in range(rng.randrange(1, 4))]
                quoted = [repr(value) if rng.random() < 0.5 else "'" + value.replace("'", "''") + "'" for value in values]
                negated = rng.random() < 0.5
                held = np.isin(rows["host"], np.array(values, "S8"))
                return f"host {'not ' * negated}in ({', '.join(quoted)})", held != negated
            sign, value = rng.choice(list(signs)), rng.choice([0, 5, -7.25, 1e3, 12.5, 500])
            return f"{name} {sign} {value}", signs[sign](rows[name], value)

        def expression(depth):
            if depth == 0:
                return test()
            kind = rng.choice(["and", "or", "not", "test"])
            if kind == "test":
                return test()
            text, held = expression(depth - 1)
            if kind == "not":
                return f"not ({text})", ~held
            other, too = expression(depth - 1)
            return f"({text}) {kind} ({other})", held & too if kind == "and" else held | too

        for _ in range(300):
            where, expected = expression(rng.randrange(4))
            with self.subTest(where=where):
                self.assertEqual(log.query(where=where).numbers.tolist(), np.flatnonzero(expected).tolist())
                self.assertEqual(log.aggregate(where=where).records.sum(), expected.sum())

    def test_query_gives_the_fields_in_their_order(self):
        found = self.log.query(limit=7, fields=["host", "time"])
        self.assertEqual(list(found.columns), ["host", "time"])
        self.assert_same(np.asarray(found)["time"], self.rows["time"][:7])
        self.assertEqual(list(self.log.query(fields="temp").columns), ["temp"])
        with self.assertRaisesRegex(cairn.NotFound, "time, temp, count, host"):
            self.log.query(fields=["none"])

    def test_limits_are_not_negative(self):
        for limit in (-1, -(2**63)):
            with self.assertRaisesRegex(cairn.InvalidArgument, f"limit: expected 0 or more, got {limit}"):
                self.log.query(limit=limit)
            with self.assertRaises(ValueError):
                next(self.log.scan(limit=limit))
        self.assertEqual((len(self.log.query(limit=0)), len(self.log.query(limit=2))), (0, 2))

    def test_query_is_in_the_order_of_time_or_number(self):
        late = sensor(30, -10)
        self.log.append(late)
        everything = np.concatenate([self.rows, late])
        self.assert_same(self.log.query(order="record").to_numpy(), everything)
        by_time = np.argsort(everything["time"], kind="stable")
        found = self.log.query()
        self.assert_same(found.to_numpy(), everything[by_time])
        self.assert_same(found.numbers, by_time)
        with self.assertRaises(cairn.InvalidArgument):
            self.log.query(order="size")

    def test_scan_gives_what_query_gives_in_pieces(self):
        pieces = list(self.log.scan(where="count >= 5", fields=["count"]))
        self.assertGreater(len(pieces), 5)
        self.assert_same(np.concatenate([one["count"] for one in pieces]), self.rows["count"][5:])

    def test_records_are_arrays_columns_and_rows(self):
        found = self.log.query()
        self.assertEqual((len(found), found.dtype), (1050, np.dtype(SENSOR)))
        self.assertEqual(found[3].tolist(), self.rows[3].tolist())
        self.assert_same(found[found["temp"] > 5].to_numpy(), self.rows[self.rows["temp"] > 5])
        self.assert_same(found[::-100].numbers, np.arange(1050)[::-100])
        self.assertEqual([row["count"] for row in found[2:4]], [2, 3])
        found["temp"][0] = 5  # one's own
        self.assertEqual(self.log[0]["temp"], 0)

    def test_text_is_a_time_that_the_unit_holds(self):
        log = cairn.Log.create(self.path("ns"), {"time": "M8[ns]", "seen": "M8[s]", "x": "f4"})
        for text in ("2262-04-12T00:00:00Z", "1600-01-01", "999999-01-01", "+20261-11-24", "20261124", "202611241000", "noon", "1795514400"):
            with self.subTest(text=text):
                with self.assertRaises(cairn.InvalidArgument):
                    log.append({"time": text})
                for bounds in ((text,), (None, text)):
                    with self.assertRaises(cairn.InvalidArgument):
                        log.query(*bounds)
        for value in (datetime.datetime(2300, 1, 1), np.datetime64("1600-01-01"), "2300-01-01"):
            with self.subTest(value=value), self.assertRaises(cairn.InvalidArgument):
                log.append({"time": [value]})
        self.assertEqual(len(log), 0)

    def test_counts_of_another_unit_are_refused(self):
        for unit, right in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
            log = cairn.Log.create(self.path(unit), {"time": f"M8[{unit}]"})
            for scale in (1, 10**3, 10**6, 10**9):
                for counts in (1795514400 * scale, np.arange(3) * scale + 1795514400 * scale):
                    with self.subTest(unit=unit, scale=scale):
                        if scale == right:
                            log.append({"time": counts})
                        else:
                            with self.assertRaisesRegex(cairn.InvalidArgument, "our days"):
                                log.append({"time": counts})
            log.append({"time": np.arange(0, 10**10, 10**9)})  # of no days
            log.append({"time": np.array([1795514400], f"M8[{unit}]")})

    def test_numbers_in_doubt_are_refused_wherever_they_stand(self):
        """Numbers in lists with others than numbers, and bounds, were taken as they are."""
        log = cairn.Log.create(self.path("doubt"), {"time": "M8[ms]", "seen": "M8[ms]"})
        for number in (1795514400, 1795514400 * 10**6, 20261124, 2026112410, 202611241000, 20261124100000, 20261124100000125, 20261124100000125000):
            for times in (number, [number], [number, None], (number, float("nan")), [number, datetime.datetime(2026, 1, 1)], np.array([number], object),
                          np.array([number, None], object), [str(number)], [np.uint64(number) if number < 2**64 else number, None]):  # fmt: skip
                for name in ("time", "seen"):
                    if times is not number and len(times) > 1 and name == "time":
                        continue
                    given = {"time": [START] * len(np.atleast_1d(np.asarray(times, object))), name: times}
                    with self.subTest(given=given), self.assertRaises(cairn.InvalidArgument):
                        log.append(given)
            for ask in (lambda n: log.query(n), lambda n: log.query(None, n), lambda n: log.query(where=[("seen", ">", n)]), lambda n: log.query(where=f"seen > {n}"),
                        lambda n: log.find_time(n), lambda n: log.aggregate(n), lambda n: log.aggregate(bucket="1h", origin=n)):  # fmt: skip
                with self.subTest(number=number), self.assertRaises(cairn.InvalidArgument):
                    ask(number)
        self.assertEqual(len(log), 0)
        log.append({"time": [1795514400000, 5], "seen": [None, 1795514400000]})
        self.assertEqual((len(log.query(5, 6)), len(log.query(1795514400000))), (1, 1))

    @unittest.skipIf(pandas is None, "no pandas")
    def test_random_digits_are_refused_or_the_counts_that_pandas_reads(self):
        """As dates they would be times of their own: no count may be one of these days by chance."""
        rng = random.Random(4)
        for unit in ("s", "ms", "us", "ns"):
            log = cairn.Log.create(self.path(f"{unit}.digits"), {"time": f"M8[{unit}]"})
            refused = 0
            for _ in range(200):
                at = datetime.datetime(1900, 1, 1) + datetime.timedelta(seconds=rng.randrange(9 * 10**9))
                digits = int(at.strftime(rng.choice(["%Y%m%d", "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S"])))
                count = None
                try:
                    count = pandas.Timestamp(digits, unit=unit)
                except (ValueError, OverflowError):  # too far for nanoseconds
                    pass
                if count is not None and 1990 <= count.year < 2100:
                    log.append({"time": [digits, digits]})
                    self.assertEqual(log["time"][-1], count.as_unit(unit).to_datetime64())
                    continue
                refused += 1
                with self.subTest(unit=unit, digits=digits), self.assertRaisesRegex(cairn.InvalidArgument, "reads as a date"):
                    log.append({"time": [digits, digits]})
            self.assertGreater(refused, 100)

    @unittest.skipIf(pandas is None, "no pandas")
    def test_random_texts_are_the_times_that_pandas_reads(self):
        rng = random.Random(3)
        texts = []
        for _ in range(400):
            at = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=rng.randrange(-(10**9), 4 * 10**9))
            text = at.strftime(rng.choice(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y%m%dT%H%M%S", "%Y-%m-%d"]))
            if "S" not in text and text.count(":") == 2 and rng.random() < 0.5:
                text += "." + "".join(rng.choices("0123456789", k=rng.randrange(1, 10)))
            if ":" in text:
                text += rng.choice(["", "Z", "+00:00", "-0730", "+05:45", "+02"])
            texts.append(text)
        for unit in ("s", "ms", "us", "ns"):
            log = cairn.Log.create(self.path(f"{unit}.log"), {"time": f"M8[{unit}]"})
            with log.writer() as writer:
                for text in texts:
                    writer.append({"time": text})
                    writer.commit()
            for text, time in zip(texts, log["time"]):
                read = pandas.Timestamp(text)
                expected = (read if read.tz is None else read.tz_convert(None)).as_unit("ns").to_datetime64()
                self.assertEqual(time, expected.astype(f"M8[{unit}]"), text)

    def test_values_of_several_types_are_taken_each_as_it_is(self):
        nan = float("nan")
        fields = {"time": "M8[s]", "seen": "M8[s]", "host": "S8", "n": "i8", "bits": "u8"}
        log = cairn.Log.create(self.path("mixed"), fields)
        log.append({"time": [1, 2], "seen": [5, nan], "host": ["a", nan], "n": [2**53 + 1, 1.0], "bits": [2**64 - 1, np.float32(1)]})
        log.append([(3, nan, nan, 1.0, 1), (4, nan, b"b", -(2**53) - 1, 2**63 + 1)])
        self.assertEqual(np.isnat(log["seen"]).tolist(), [False, True, True, True])
        self.assertEqual(log["host"].tolist(), [b"a", b"", b"", b"b"])
        self.assertEqual(log["n"].tolist(), [2**53 + 1, 1, 1, -(2**53) - 1])
        self.assertEqual(log["bits"].tolist(), [2**64 - 1, 1, 1, 2**63 + 1])
        good = {"time": [5, 6], "seen": [5, 6], "host": ["a", "b"], "n": [1, 2], "bits": [1, 2]}
        for wrong in ({"host": ["a", 5]}, {"host": ["a", True]}, {"host": [b"a", 1.5]}, {"host": [1.5, 2.5]}, {"n": [1, 1.5]}, {"n": [1, nan]},
                      {"n": [1, 1e19]}, {"n": [1, 1e300]}, {"n": [1, "2"]}, {"bits": [2**64 - 1, -1.0]}, {"seen": [5, 1.5]}):  # fmt: skip
            with self.subTest(wrong=wrong), self.assertRaises((ValueError, TypeError)):
                log.append({**good, **wrong})
        self.assertEqual(len(log), 4)

    def test_what_is_not_there_is_no_value(self):
        log = cairn.Log.create(self.path("none"), {"time": "M8[s]", "x": "f4", "seen": "M8[s]", "host": "S4", "n": "i4"})
        log.append({"time": START, "n": 1})
        log.append({"time": [START] * 2, "x": [None, 1.5], "seen": [None, START], "host": [None, "a"], "n": [2, 3]})
        rows = log[:]
        self.assertEqual(np.isnan(rows["x"]).tolist(), [True, True, False])
        self.assertEqual(np.isnat(rows["seen"]).tolist(), [True, True, False])
        self.assertEqual(rows["host"].tolist(), [b"", b"", b"a"])
        for wrong in ({"time": START}, {"time": START, "n": None}, {"n": 1}, {"time": None, "n": 1}, {"time": START, "n": 1, "more": 2}, {}):
            with self.subTest(wrong=wrong), self.assertRaises((ValueError, TypeError)):
                log.append(wrong)
        self.assertEqual(len(log), 3)

    @unittest.skipIf(pandas is None, "no pandas")
    def test_columns_of_pandas_may_have_no_value(self):
        times = pandas.date_range("2026-01-01", periods=3, freq="s", tz="Europe/Lisbon")  # an index without a name
        frame = pandas.DataFrame({"n": pandas.array([1, 2, 3], "Int64"), "x": pandas.array([1, None, 3], "Int64"), "host": ["a", pandas.NA, None]}, times)
        log = cairn.Log.create(self.path("frame"), {"time": "M8[ms]", "n": "i4", "x": "f4", "host": "S4", "seen": "M8[s]"})
        log.append(frame)
        self.assertEqual(log["time"].tolist(), times.tz_convert(None).to_pydatetime().tolist())
        self.assertEqual((log["n"].tolist(), log["host"].tolist()), ([1, 2, 3], [b"a", b"", b""]))
        self.assertTrue(np.isnan(log["x"][1]))
        with self.assertRaises(cairn.InvalidArgument):
            log.append(frame.assign(n=frame["x"]))

    def test_integers_are_summed_up_as_integers(self):
        log = cairn.Log.create(self.path("big"), {"time": "M8[ns]", "i": "i8", "u": "u8", "ok": "?", "seen": "M8[ns]", "x": "f4"}, chunksize=4000)
        rng = np.random.default_rng(1)
        rows = np.zeros(1000, log.dtype)
        rows["time"] = np.datetime64("2026-11-24T10:00", "ns") + np.arange(1000)
        rows["i"] = rng.integers(-(2**62), 2**62, 1000) // 1000
        rows["u"] = rng.integers(2**63, 2**64, 1000, dtype="u8")
        rows["ok"] = rng.integers(0, 2, 1000)
        rows["seen"] = rows["time"] + np.timedelta64(7, "ns")
        log.append(rows)
        for bucket in (None, 130):
            found = log.aggregate(bucket=bucket, origin=rows["time"][0], fields=["i", "u", "ok", "seen"])
            parts = [rows] if bucket is None else [rows[at : at + bucket] for at in range(0, 1000, bucket)]
            for name, type_ in (("i", "i8"), ("u", "u8"), ("ok", "i8"), ("seen", "i8")):
                values = [part[name].astype(type_) for part in parts]
                for what, pick in (("min", np.min), ("max", np.max), ("first", lambda v: v[0]), ("last", lambda v: v[-1])):
                    with self.subTest(bucket=bucket, name=name, what=what):
                        self.assertEqual(found[name][what].tolist(), [int(pick(one)) for one in values])
                exact = [sum(one.tolist()) for one in values]
                if name in ("i", "ok"):
                    self.assertEqual(found[name]["sum"].tolist(), exact)
                else:
                    np.testing.assert_allclose(found[name]["sum"].astype(float), np.array(exact, float))
        self.assertEqual(log.statistics["u"].max, int(rows["u"].max()))
        for bucket in (0, "0s", -5, datetime.timedelta(0)):
            with self.subTest(bucket=bucket), self.assertRaises(cairn.InvalidArgument):
                log.aggregate(bucket=bucket)

    def test_record_from_the_future_is_not_the_newest(self):
        now = np.datetime64("now", "us")
        log = self.create(name="future")
        for time in (now - np.timedelta64(30, "s"), now + np.timedelta64(36_500, "D"), now):
            log.append({"time": time, "temp": 1.0, "count": 1, "host": "a"})
        self.assertEqual(log.query(last="20s").numbers.tolist(), [2])
        self.assertEqual(log.aggregate(last="1m").records.tolist(), [2])
        self.assertEqual(log.find_time(now), 2)
        self.assertEqual(log.info.future, 1)
        self.assertIn("1 later than the clock", str(log.info))

    def test_last_counts_back_from_the_newest(self):
        for last in ("1m", datetime.timedelta(minutes=1), 60_000_000):
            self.assert_same(self.log.query(last=last).to_numpy(), self.rows[-61:])
        self.assertEqual(self.log.aggregate(last="1m").records.tolist(), [61])
        self.assertEqual(len(self.log.query(last=2**70)), 1050)
        self.assertEqual(len(self.create(name="empty").query(last="1m")), 0)
        with self.assertRaises(cairn.InvalidArgument):
            self.log.query(START, last="1m")

    def test_tail_has_the_newest(self):
        self.assert_same(self.log.tail(20).to_numpy(), self.rows[-20:])
        self.assertEqual(self.log.tail(2).numbers.tolist(), [1048, 1049])
        self.assertEqual((len(self.log.tail(9999)), len(self.log.tail(0))), (1050, 0))

    def test_times_are_found(self):
        self.assertEqual(self.log.times, (self.rows["time"][0], self.rows["time"][-1]))
        self.assertEqual(self.log.find_time("2026-01-02T03:04:15"), 10)
        self.assertEqual(self.log.find_time("2027-01-01"), self.log.end_record)

    def test_aggregates_are_those_of_the_values(self):
        rows = self.rows
        found = self.log.aggregate(bucket="1m", fields=["temp", "count"])
        minutes = rows["time"].astype("M8[m]")
        self.assert_same(found.begin, np.unique(minutes).astype("M8[us]"))
        for number, minute in enumerate(np.unique(minutes)):
            values = rows["temp"][minutes == minute]
            one = found["temp"][number]
            self.assertEqual(one.tolist()[:3], (len(values), values.min(), values.max()))
            self.assertEqual((one["first"], one["last"]), (values[0], values[-1]))
            self.assertAlmostEqual(one["mean"], values.mean())
            self.assertEqual(found.records[number], len(values))
        shifted = self.log.aggregate(START, bucket=datetime.timedelta(seconds=50), origin=START, where="count < 200")
        self.assertEqual(shifted.records.tolist(), [50] * 4)
        self.assertEqual(list(shifted.fields), ["temp", "count"])
        self.assertEqual(len(self.log.aggregate("2030-01-01", bucket=1)), 0)

    def test_statistics_are_those_of_the_values(self):
        found = self.log.statistics
        self.assertEqual(list(found), ["temp", "count"])
        self.assertEqual(found["count"], cairn.FieldStatistics(1050, 0, 1049, 1049 * 525, 0, 1049, 524.5))
        self.assertEqual(self.log.verify_statistics(), [])
        self.assertEqual(self.create(name="empty").statistics, {})
        rows = sensor(2)
        rows["temp"] = np.nan
        none = self.create(rows, name="none").statistics["temp"]
        self.assertEqual((none.count, none.sum), (0, 0))
        self.assertTrue(all(map(np.isnan, (none.min, none.max, none.first, none.last, none.mean))))

    def test_spans_have_to_be_whole_units(self):
        for bucket, count in (("2h", 1), ("90 s", 12), (np.timedelta64(90, "s"), 12), (90_000_000, 12)):
            self.assertEqual(len(self.log.aggregate(bucket=bucket, origin=START)), count, bucket)
        for wrong in ("1.5h", "", "5ns", np.timedelta64(1, "M"), -1):
            with self.subTest(bucket=wrong), self.assertRaises(cairn.Error):
                self.log.aggregate(bucket=wrong)

    @unittest.skipIf(pandas is None, "no pandas")
    def test_aggregates_become_a_data_frame(self):
        frame = self.log.aggregate(bucket="10m", fields="temp").to_pandas()
        self.assertEqual(frame.index.name, "time")
        self.assertEqual(frame["records"].sum(), 1050)
        self.assertEqual(frame["temp", "count"].sum(), 1050)

    def test_representations_say_what_is_there(self):
        log = cairn.Log.create(self.path("html"), [("time", "M8[s]"), ("<b>", "S8")], retention=cairn.Retention(max_age="30d"))
        log.append([(START, "<i>")] * 20)
        for page in (log._repr_html_(), log.query()._repr_html_()):
            self.assertIn("&lt;i&gt;", page)
            self.assertNotIn("<b>", page)
            self.assertNotIn("<i>", page)
        log.append([(START, "\x1b[1m\0a")])
        self.assertIn("\\x1b[1m\\x00a", repr(log.query()))
        self.assertIn("21 records", repr(log))
        self.assertIn("...", repr(log.query()))
        self.assertIn("30d", str(log.info))
        self.assertIn("mean", repr(self.log.aggregate(bucket="1m")))
        self.assertIn("mean", self.log.aggregate()._repr_html_())
        log.close()
        self.assertIn("closed", repr(log))

    def test_closed_log_says_so_and_snapshots_stay(self):
        with self.log as log:
            kept = log.snapshot()
        self.assertEqual(len(kept.query()), 1050)
        for call in (lambda: len(log), log.query, log.refresh, log.writer):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "closed"):
                call()

    def test_pickle_opens_the_same_log(self):
        again = pickle.loads(pickle.dumps(cairn.Log.open(self.log.path, time="count", mmap=False)))
        self.assertEqual((again.time_field, len(again)), ("count", 1050))

    def test_damage_is_an_error(self):
        with open(self.log.path, "r+b") as file:
            file.seek(file.read().index(self.log.frames[0].chunk(3)) + 40)
            file.write(b"damaged")
        damaged = cairn.Log.open(self.log.path)
        with self.assertRaisesRegex(cairn.DataLoss, "chunk 3"):
            damaged.query()
        self.assertEqual(len(damaged.query("2026-01-02T03:20:00")), 95)
        self.assertFalse(damaged.frames[0].verify())


class KeysTest(LogTest):
    def test_keys_are_those_of_numpy(self):
        cairn.asarray(np.arange(250.0), self.path("numbers")).close()
        rng = np.random.default_rng(7)
        dropped = self.create(name="dropped", retention=cairn.Retention(max_records=300))
        files = self.create(name="files", rotation=cairn.Rotation(period="2m"), retention=cairn.Retention(max_records=500))
        for log in (dropped, files):
            for part in range(5):
                log.append(sensor(200, part * 200))
        self.assertGreater(min(dropped.first_record, files.first_record), 0)
        self.assertGreater(files.info.files, 2)
        for log in (self.create(sensor(250), "all"), dropped, dropped.snapshot(), files, self.create(name="none"), cairn.Log.open(self.path("numbers"))):
            rows = log[:]
            keys = [
                slice(None, None, 3), slice(-7, None), slice(200, 20, -9), slice(200, 20, -50), slice(9, 2), ..., [], None, (..., slice(2, 5)), (), np.zeros(len(rows), bool),
            ]  # fmt: skip
            if len(rows):
                keys += [0, -1, np.int8(5), np.array(7), [0, -1], [[3, 3], [-2, 0]], (5, None), np.arange(len(rows)) % 7 == 2, rows["temp"] > 5 if rows.dtype.names else rows > 5]
                keys += [rng.integers(-len(rows), len(rows), count) for count in (3, 40, 900)]
            keys += [["temp"], ["host", "temp"], ["time", "temp", "count", "host"]] if rows.dtype.names else []
            for key in keys:
                with self.subTest(log=repr(log), key=key):
                    got, expected = log[key], rows[key]
                    if isinstance(key, list) and key and isinstance(key[0], str):
                        expected = np.array(expected.tolist(), got.dtype)  # which NumPy leaves its gaps
                    self.assert_same(got, expected)
                    self.assertIs(type(got), type(expected))
            for wrong in (len(rows), -len(rows) - 1, [len(rows)], (0, 0), np.ones(len(rows) + 1, bool), 1.5, [1.5], ["temp", 5], "x" if rows.dtype.names is None else ["temp", 5], object(), True):
                with self.subTest(log=repr(log), wrong=wrong), self.assertRaises((cairn.OutOfRange, cairn.NoSuchField)):
                    log[wrong]

    def test_names_that_are_no_fields_are_told_with_those_that_are(self):
        log = self.create(sensor(3))
        frame = cairn.asarray(sensor(3), self.path("frame"))
        for ask in (lambda: log["x"], lambda: log[["temp", "x"]], lambda: frame["x"], lambda: frame[["temp", "x"]], lambda: log.query()["x"], lambda: log.aggregate(fields="temp")["x"],
                    lambda: log.query(fields="x"), lambda: log.query(where=[("x", ">", 5)])):  # fmt: skip
            with self.subTest(line=ask.__code__.co_firstlineno), self.assertRaisesRegex(KeyError, "no field 'x'; there are .*temp") as caught:
                ask()
            self.assertIsInstance(caught.exception, cairn.NoSuchField)
            self.assertIsInstance(pickle.loads(pickle.dumps(caught.exception)), cairn.NoSuchField)


class FollowTest(LogTest):
    def test_yields_what_is_appended(self):
        log = self.create(sensor(10))
        for start, expected in ((None, 60), (3, 67), ("2026-01-02T03:04:10", 65)):
            with self.subTest(start=start):
                follower = cairn.Log.open(log.path).follow(start, timeout=60)
                thread = threading.Thread(target=lambda: [log.append(sensor(20, 10 + n * 20)) for n in range(3)])
                thread.start()
                got = []
                for records in follower:
                    got += records["count"].tolist()
                    if len(got) >= expected:
                        break
                thread.join()
                self.assertEqual(len(got), expected)
                self.assertEqual(got[-60:], list(range(10, 70)))
                os.unlink(log.path)
                log = self.create(sensor(10))

    def test_goes_on_where_another_ended(self):
        log = self.create(sensor(10))
        follower = log.follow(0, timeout=0)
        self.assertEqual([len(one) for one in follower], [10])
        log.append(sensor(5, 10))
        (records,) = log.follow(follower.next, timeout=0)
        self.assertEqual(records.numbers.tolist(), [10, 11, 12, 13, 14])

    def test_is_an_async_iterator(self):
        log = self.create()

        async def read():
            async for one in cairn.Log.open(log.path).follow(0, timeout=60):
                return len(one), [more async for more in cairn.Log.open(log.path).follow(timeout=0.01)]

        async def both():
            task = asyncio.create_task(read())
            await asyncio.sleep(0.05)
            await asyncio.to_thread(log.append, sensor(7))
            return await task

        self.assertEqual(asyncio.run(both()), (7, []))

    def test_wait_ends_with_a_commit(self):
        log = self.create()
        reader = cairn.Log.open(log.path)
        self.assertFalse(reader.refresh(wait=0.01))
        later = threading.Timer(0.05, log.append, [sensor(1)])
        later.start()
        while len(reader) == 0:  # a writer that opens may end it, too
            self.assertTrue(reader.refresh(wait=60))
        later.join()
        self.assertEqual(len(reader), 1)

    def test_sees_each_commit_of_another_process(self):
        log = self.create()
        script = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
from logs_test import cairn, sensor
with cairn.Log.open({log.path!r}).writer() as writer:
    for number in range(30):
        writer.append(sensor(10, number * 10)); writer.commit()"""
        writing = subprocess.Popen([sys.executable, "-c", script])
        got = []
        for records in log.follow(0, timeout=60):
            got += records["count"].tolist()
            if len(got) >= 300:
                break
        self.assertEqual(writing.wait(), 0)
        self.assertEqual(got, list(range(300)))

    def test_snapshots_stay_as_they_are(self):
        log = self.create(sensor(3))
        before = log.snapshot()
        log.append(sensor(3, 3))
        self.assertEqual((len(before), len(log)), (3, 6))
        self.assertNotEqual(before, log.snapshot())
        self.assertEqual(log.snapshot(), log.snapshot())
        self.assertFalse(log.refresh())


class RetentionTest(LogTest):
    def test_writer_takes_over_what_another_handle_asks_for(self):
        log = self.create(sensor(10))
        with log.writer() as writer:
            cairn.Log.open(self.path("log")).request_retention(cairn.Retention(max_age="5m", max_records=7))
            self.assertEqual(log.retention, (0, 0, 0))
            writer.append(sensor(1, first=10))
            writer.commit()
            self.assertEqual(cairn.Log.open(self.path("log")).retention[:2], (np.timedelta64(300, "s"), 7))
        self.assertEqual([name for name in os.listdir(self.folder) if "request" in name], [])
        with self.assertRaises(cairn.InvalidArgument):
            log.request_retention(cairn.Retention(max_records=-2))

    def test_old_records_are_dropped_and_keep_their_numbers(self):
        log = self.create(retention=cairn.Retention(max_records=300))
        for part in range(5):
            log.append(sensor(200, part * 200))
        with log.writer() as writer:
            writer.apply_retention()
        self.assertEqual(log.first_record, 700)
        self.assertEqual((len(log), log[0]["count"]), (300, 700))
        self.assert_same(log["count"], np.arange(700, 1000, dtype="<i4"))
        self.assertEqual(log.tail(3).numbers.tolist(), [997, 998, 999])
        self.assertEqual(log.query().numbers[0], 700)

    def test_limits_may_be_changed(self):
        log = self.create(sensor(1000))
        self.assertEqual(log.retention, (0, 0, 0))
        with log.writer() as writer:
            writer.set_retention(cairn.Retention(max_age="5m"))
            writer.apply_retention()
        self.assertEqual(log.retention.max_age, np.timedelta64(300, "s"))
        self.assertEqual(log.first_record, 600)
        with log.writer() as writer:
            with self.assertRaises(cairn.FailedPrecondition):
                writer.set_rotation(cairn.Rotation(period="1d"))
            with self.assertRaises(cairn.InvalidArgument):
                writer.set_retention(cairn.Retention(max_records=-1))

    def test_rotation_makes_files(self):
        log = self.create(rotation=cairn.Rotation(period="10m"), retention=cairn.Retention(max_age="20m"))
        follower = cairn.Log.open(log.path).follow(0, timeout=0)
        for part in range(10):
            log.append(sensor(600, part * 600))
        self.assertEqual(log.rotation.period, np.timedelta64(600, "s"))
        self.assertTrue(os.path.isdir(log.path))
        files = sorted(os.listdir(log.path))
        self.assertEqual(log.info.files, len(files))
        self.assertLess(len(files), 6)
        self.assertEqual(log.end_record, 6000)
        self.assertLessEqual(log.times[0], log.times[1] - np.timedelta64(20, "m"))
        got = np.concatenate([one.numbers for one in follower])
        self.assert_same(got, np.arange(log.first_record, 6000))
        self.assert_same(log.query().to_numpy(), sensor(len(log), log.first_record))


@needs_blosc2
class PeerTest(LogTest):
    def test_peer_sees_the_records_of_each_checkpoint(self):
        import blosc2

        log = self.create()
        with log.writer() as writer:
            for part in range(4):
                writer.append(sensor(130, part * 130))
                writer.checkpoint()
                seen = blosc2.open(log.path)
                self.assertEqual(seen.dtype, np.dtype(SENSOR))
                self.assert_same(seen[:], sensor((part + 1) * 130))
        self.assert_same(blosc2.open(log.path)["temp"][:], log["temp"])

    def test_peer_sees_what_retention_and_rotation_left(self):
        import blosc2

        log = self.create(retention=cairn.Retention(max_records=250))
        log.append(sensor(600))
        self.assert_same(blosc2.open(log.path)[:], log[:])
        many = self.create(name="many", rotation=cairn.Rotation(period="5m"))
        many.append(sensor(900))
        files = sorted(os.path.join(many.path, name) for name in os.listdir(many.path))
        self.assertGreater(len(files), 2)
        self.assert_same(np.concatenate([blosc2.open(name)[:] for name in files]), many[:])

    def test_array_of_the_peer_is_a_log(self):
        import blosc2

        blosc2.asarray(sensor(1000), urlpath=self.path(), mode="w", chunks=(90,), blocks=(40,))
        log = cairn.Log.open(self.path())
        found = log.query("2026-01-02T03:05:05", where="temp > 0", fields=["count"])
        rows = sensor(1000)[60:]
        self.assert_same(found["count"], rows["count"][rows["temp"] > 0])
        log.append(sensor(10, 1000))
        self.assert_same(log[:], sensor(1010))


if __name__ == "__main__":
    unittest.main()
