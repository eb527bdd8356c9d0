"""Upserts of records in logs, beside what pandas keeps."""

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

FIELDS = {"time": "M8[s]", "host": "S4", "temp": "f8"}
START = np.datetime64("2026-01-02T03:04:05")


def readings(*rows):
    """Rows of seconds, host and temperature."""
    return {"time": START + np.array([row[0] for row in rows], "i8"), "host": [row[1] for row in rows], "temp": [row[2] for row in rows]}


class UpsertTest(PackageTest):
    def create(self, name="log", **how):
        return cairn.Log.create(self.path(name), FIELDS, **how)

    def rows(self, log):
        return [((time - START).astype(int), host.decode(), temp) for time, host, temp in log.query().to_numpy()]

    def test_replaces_and_inserts(self):
        log = self.create()
        log.append(readings((0, "a", 1), (1, "a", 2), (1, "b", 3), (2, "a", 4)))
        done = log.upsert(readings((1, "b", 30), (2, "b", 5), (2, "a", 4)), key="host")
        self.assertEqual(done, cairn.UpsertReport(inserted=1, replaced=1, unchanged=1, removed=1))
        self.assertEqual(self.rows(log), [(0, "a", 1), (1, "a", 2), (1, "b", 30), (2, "a", 4), (2, "b", 5)])
        self.assertEqual(log.deleted, [range(2, 3)])
        # Without a key, times alone tell records apart.
        self.assertEqual(log.upsert(readings((1, "c", 6), (1, "d", 7))), (0, 1, 0, 2))
        self.assertEqual(self.rows(log), [(0, "a", 1), (1, "d", 7), (2, "a", 4), (2, "b", 5)])
        self.assertEqual(log.upsert(readings((2, "a", 9), (2, "b", 9)), key=["time", "host"]).replaced, 2)
        self.assertEqual(log.upsert(log[:], key="host"), (0, 0, 4, 0))

    def test_takes_what_append_takes(self):
        log = self.create()
        log.append(readings(*((second, "a", second) for second in range(20))))
        kinds = [readings((3, "x", 1), (4, "x", 2)), [(START + 3, b"x", 2.5), (START + 4, b"x", 2.5)], {"time": "2026-01-02T03:04:08Z", "host": "y", "temp": 7}]
        if pd is not None:
            kinds.append(pd.DataFrame(readings((3, "z", 8), (5, "z", 9))).set_index("time"))
        if pa is not None:
            kinds.append(pa.table({"time": pa.array(START + np.arange(3), pa.timestamp("s")), "host": ["w"] * 3, "temp": [1.0, 2.0, 3.0]}))
        for records in kinds:
            with self.subTest(kind=type(records)):
                done = log.upsert(records)
                self.assertEqual((done.inserted, done.unchanged), (0, 0))
                self.assertGreater(done.replaced, 0)
        self.assertEqual(len(log), 20)

    def test_bad_records_and_keys_change_nothing(self):
        log = self.create()
        log.append(readings((0, "a", 1)))
        for error, records, key in [
            (cairn.InvalidArgument, readings((0, "a", 2)), "temp"),
            (cairn.NotFound, readings((0, "a", 2)), ["host", "room"]),
            (cairn.InvalidArgument, {"time": np.array(["NaT"], "M8[s]"), "host": ["a"], "temp": [1.0]}, None),
            (cairn.InvalidType, {"time": START, "host": "a", "temp": "warm"}, None),
        ]:
            with self.subTest(error=error, key=key), self.assertRaises(error):
                log.upsert(records, key=key)
        self.assertEqual(self.rows(log), [(0, "a", 1)])
        plain = cairn.Log.create(self.path("plain"), {"n": "i4"})
        with self.assertRaises(cairn.FailedPrecondition):
            plain.upsert({"n": [1, 2]})

    def test_the_writer_takes_both(self):
        log = self.create()
        with log.writer() as writer:
            writer.append(readings((0, "a", 1), (1, "a", 2)))
            self.assertEqual(writer.upsert(readings((1, "a", 3), (2, "a", 4))), (1, 1, 0, 1))
            self.assertEqual(writer.end_record, 4)
            with self.assertRaises(cairn.Unavailable):
                cairn.Log.open(log.path).upsert(readings((0, "a", 5)))
        self.assertEqual(self.rows(log), [(0, "a", 1), (1, "a", 3), (2, "a", 4)])

    def test_readers_see_the_old_records_or_the_new_ones(self):
        for rotation in (cairn.Rotation(), cairn.Rotation(period="100s")):
            log = self.create(f"log{rotation.period}", rotation=rotation)
            log.append(readings(*((second, "a", 0) for second in range(250))))
            ended = threading.Event()
            seen = set()

            def read(path=log.path, ended=ended, seen=seen):
                reader = cairn.Log.open(path)
                while not ended.is_set():
                    reader.refresh()
                    temps = reader.query(fields="temp")["temp"]
                    seen.add((len(temps), temps.min(), temps.max()))

            thread = threading.Thread(target=read)
            thread.start()
            try:
                with log.writer() as writer:
                    for turn in range(1, 25):
                        writer.upsert(readings(*((second, "a", turn) for second in range(250))))
            finally:
                ended.set()
                thread.join()
            self.assertGreater(len(seen), 1)
            self.assertEqual({count for count, _, _ in seen}, {250})
            self.assertEqual([one for one in seen if one[1] != one[2]], [])

    @unittest.skipIf(pd is None, "pandas is missing")
    def test_holds_what_pandas_keeps(self):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            key = [["time"], ["time", "host"]][seed % 2]
            rotation = cairn.Rotation(period="200s") if seed % 4 > 1 else cairn.Rotation()
            log = self.create(f"log{seed}", rotation=rotation, chunksize=2000)
            kept = pd.DataFrame(readings())
            for turn in range(12):
                count = rng.choice([1, 20, 300])
                seconds = np.sort(rng.integers(0, 100 * (turn + 1), count)) if turn % 3 else rng.integers(0, 400, count)
                more = pd.DataFrame({"time": START + seconds, "host": rng.choice(["a", "b", "c"], count), "temp": rng.normal(size=count).round(1)})
                before = len(kept)
                kept = pd.concat([kept, more]).drop_duplicates(key, keep="last").sort_values(["time", "host"])
                with self.subTest(seed=seed, turn=turn):
                    done = log.upsert(more, key=key[1:])
                    self.assertEqual(done.inserted, len(kept) - before)
                    self.assertEqual(sum(done[:3]), len(more.drop_duplicates(key)))
                    found = log.query().to_pandas().reset_index().sort_values(["time", "host"])
                    np.testing.assert_array_equal(found["time"].dt.tz_localize(None).to_numpy("M8[s]"), kept["time"].to_numpy("M8[s]"))
                    self.assertEqual(found["host"].map(lambda host: host if isinstance(host, str) else host.decode()).tolist(), kept["host"].tolist())
                    self.assertEqual(found["temp"].tolist(), kept["temp"].tolist())


if __name__ == "__main__":
    unittest.main()
