"""Fields that are added to logs. Records that are older than a field have no value in it."""

import threading
import unittest

from support import PackageTest, cairn, np

try:
    import pandas as pd
except ImportError:
    pd = None
try:
    import pyarrow as pa
except ImportError:
    pa = None

FIELDS = {"time": "M8[s]", "temp": "f4"}
ADDED = {"level": "i4", "ok": "?", "room": "S8", "seen": "M8[ms]", "flow": "f8", "hits": "u8"}
VALUES = {"level": -3, "ok": True, "room": b"hall", "seen": np.datetime64(5, "ms"), "flow": 0.5, "hits": 2**63}
OLD, NEW = 300, 200


def times(count, first=0):
    return np.arange(first, first + count).astype("M8[s]")


class AddedFieldTest(PackageTest):
    def logs(self):
        """Gives logs of one file and of many with old records, all fields, and new records."""
        for number, rotation in enumerate([cairn.Rotation(), cairn.Rotation(period="3m")]):
            log = cairn.Log.create(self.path(f"log{number}"), FIELDS, rotation=rotation, chunksize=1200)
            log.append({"time": times(OLD), "temp": np.arange(OLD)})
            with log.writer() as writer:
                for name, dtype in ADDED.items():
                    writer.add_field(name, dtype)
                columns = {name: [value] * NEW for name, value in VALUES.items()}
                writer.append({"time": times(NEW, OLD), "temp": np.arange(NEW), **columns})
            yield log

    def test_queries_tell_which_values_are_missing(self):
        for log in self.logs():
            found = log.query()
            expected = np.arange(OLD + NEW) < OLD
            self.assertEqual(set(found.missing), set(ADDED))
            for name, value in VALUES.items():
                self.assert_same(found.missing[name], expected, name)
                self.assertEqual(found[name][OLD:].tolist(), [np.array(value, found[name].dtype).item()] * NEW)
            self.assertEqual(found[OLD:].missing["level"].any(), False)
            self.assertEqual(found[:3].missing["level"].all(), True)
            self.assertEqual(log.query(where="level < 100").missing, {})
            self.assertEqual(len(log.query(where="level != -3")), OLD)
            self.assertEqual(len(log.query(where="room == ''")), 0)
            self.assertIn("NA", repr(found))
            self.assertEqual(set(log.tail(NEW + 1).missing), set(ADDED))
            self.assertEqual(log.tail(NEW).missing, {})

    def test_records_by_position_have_all_fields(self):
        for log in self.logs():
            rows = log[:]
            self.assertEqual(rows.dtype.names, (*FIELDS, *ADDED))
            for key in ([0, 5, OLD + 1], [OLD + NEW - 1, 1], slice(OLD - 2, OLD + 2), [3, OLD + NEW - 7] * 2):
                self.assert_same(log[key], rows[key])
            self.assertTrue(np.isnan(log["flow"][:OLD]).all())
            self.assertTrue(np.isnat(log["seen"][:OLD]).all())

    def test_files_of_before_are_shown_with_their_own_fields(self):
        for log in self.logs():
            frames = log.frames
            self.assertTrue(all(frame.verify().ok for frame in frames))
            self.assertEqual(log.info.files, len(frames))
            self.assertEqual(log.info.records, OLD + NEW)
            self.assertEqual(frames[-1].dtype.names, (*FIELDS, *ADDED))
            if len(frames) > 1:
                self.assertEqual(frames[0].dtype.names, tuple(FIELDS))

    def test_aggregates_leave_them_out(self):
        for log in self.logs():
            self.assertEqual(log.statistics["level"].count, NEW)
            self.assertEqual(log.statistics["level"].max, -3)
            found = log.aggregate(bucket=100, fields="level")["level"]
            self.assertEqual(found["count"].tolist(), [0, 0, 0, 100, 100])
            self.assertTrue(np.isnan(found["min"][:3]).all())
            self.assertEqual(found["min"][3:].tolist(), [-3, -3])
            groups = log.aggregate(by="room", fields="temp")
            self.assertEqual(groups.groups["room"].tolist(), [b"hall", None])
            self.assertEqual(groups.records.tolist(), [NEW, OLD])

    def test_conditions_ask_for_missing_values(self):
        for log in self.logs():
            first = log.end_record
            least = {"level": [-(2**31)] * 4, "ok": [False] * 4, "room": [""] * 4, "hits": [0] * 4}
            log.append({"time": times(4, 500), "temp": [1, np.nan, 2, np.nan], "flow": [1, 2, np.nan, np.inf],
                        "seen": np.array([1, "NaT", "NaT", 2], "M8[ms]"), **least})  # fmt: skip
            lacks = {name: set(range(OLD)) for name in ADDED} | {"temp": {first + 1, first + 3}, "time": set()}
            lacks["seen"] |= {first + 1, first + 2}
            lacks["flow"] |= {first + 2}
            everything = set(range(first + 4))
            for name, expected in lacks.items():
                self.assertEqual(set(log.query(where=f"{name} is null").numbers.tolist()), expected, name)
                self.assertEqual(set(log.query(where=f"{name} is not null").numbers.tolist()), everything - expected, name)
                self.assertEqual(len(log.query(where=f"{name} is null and not {name} is null")), 0)
                found = log.query(where=f"time >= 450 and ({name} is null or level = 7)").numbers
                self.assertEqual(set(found.tolist()), {number for number in expected if number >= 450}, name)

    @unittest.skipIf(pd is None, "no pandas")
    def test_pandas_has_na(self):
        for log in self.logs():
            frame = log.to_pandas()
            self.assertEqual({name: str(frame[name].dtype) for name in ("level", "ok", "hits", "flow")},
                             {"level": "Int32", "ok": "boolean", "hits": "UInt64", "flow": "float64"})  # fmt: skip
            for name in ADDED:
                self.assertEqual(frame[name].isna().tolist(), [True] * OLD + [False] * NEW, name)
            self.assertEqual(frame["hits"].iloc[-1], 2**63)
            # Where all have a value, the types are those without NA.
            self.assertEqual(str(log.query(where="level < 0").to_pandas()["level"].dtype), "int32")

    @unittest.skipIf(pa is None, "no pyarrow")
    def test_arrow_has_null(self):
        for log in self.logs():
            for table in (log.query().to_arrow(), log.scan().to_arrow().read_all(), pa.table(log)):
                for name in ADDED:
                    self.assertEqual(table[name].null_count, OLD, name)
                self.assertEqual(table["temp"].null_count, 0)
                self.assertEqual(table["hits"][OLD + 1].as_py(), 2**63)

    def test_followers_go_on_and_see_the_field(self):
        for number, rotation in enumerate([cairn.Rotation(), cairn.Rotation(period="1h")]):
            path = self.path(f"log{number}")
            cairn.Log.create(path, FIELDS, rotation=rotation).append({"time": times(2), "temp": [1, 2]})
            follower = cairn.Log.open(path).follow(0, timeout=10)
            seen = []

            def follow():
                for records in follower:
                    seen.append(records)
                    if sum(map(len, seen)) == 4:
                        return

            thread = threading.Thread(target=follow)
            thread.start()
            log = cairn.Log.open(path)
            log.add_field("level", "i4")
            log.append({"time": times(2, 2), "temp": [3, 4], "level": [7, 8]})
            thread.join()
            self.assertEqual(sum(map(len, seen)), 4)
            self.assertEqual(seen[-1]["level"].tolist()[-2:], [7, 8])

    def test_a_log_with_a_writer_refuses(self):
        log = cairn.Log.create(self.path("log"), FIELDS)
        with log.writer() as writer:
            with self.assertRaises(cairn.Unavailable):
                log.add_field("level", "i4")
            with self.assertRaises(cairn.AlreadyExists):
                writer.add_field("temp", "f8")
            with self.assertRaises(cairn.Unimplemented):
                writer.add_field("level", [("a", "i4"), ("b", "i4")])
            writer.append({"time": [0], "temp": [1]})
        self.assertEqual(log.dtype.names, ("time", "temp"))


if __name__ == "__main__":
    unittest.main()
