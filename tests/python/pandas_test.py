"""Logs and DataFrames of pandas, there and back: zones, types with NA, and None among texts."""

import datetime
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

FIELDS = {"time": "M8[us]", "n": "i8", "u": "u8", "x": "f8", "f": "f4", "ok": "?", "host": "S8", "seen": "M8[ms]"}
ZONES = ["UTC", "Asia/Tokyo", "Europe/Lisbon", "America/St_Johns"]
COUNT = 200


def frame_of(zone, nullable, seed=1):
    rng = np.random.default_rng(seed)
    times = pd.date_range("2026-03-28 22:00", periods=COUNT, freq="17min", tz=zone, unit="us", name="time")
    none = rng.random(COUNT) < 0.2
    columns = {
        "n": pd.Series(rng.integers(-(2**63), 2**63 - 1, COUNT)), "u": pd.Series(rng.integers(0, 2**64, COUNT, "u8")),
        "x": pd.Series(rng.normal(size=COUNT)), "f": pd.Series(rng.normal(size=COUNT).astype("f4")), "ok": pd.Series(rng.random(COUNT) < 0.5),
        "host": pd.Series(rng.choice(["a", "höh", "", "lisbon"], COUNT), dtype=object), "seen": pd.Series(times[::-1].as_unit("ms")),
    }  # fmt: skip
    types = {
        "numpy": {},
        "masked": {"n": "Int64", "u": "UInt64", "x": "Float64", "f": "Float32", "ok": "boolean", "host": "string"},
        "category": {"host": "category"},
        "arrow": {},
    }[nullable]
    if nullable == "arrow":
        types = {"n": "int64[pyarrow]", "u": "uint64[pyarrow]", "x": "double[pyarrow]", "f": "float[pyarrow]", "ok": "bool[pyarrow]", "host": "string[pyarrow]",
                 "seen": pd.ArrowDtype(pa.timestamp("ms", zone))}  # fmt: skip
    frame = pd.DataFrame({name: column.astype(types.get(name, column.dtype)) for name, column in columns.items()}).set_axis(times)
    for name in ("x", "f", "host", "seen"):
        frame.loc[none, name] = None
    return frame, none


@unittest.skipIf(pd is None, "no pandas")
class IndexTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.frame = pd.DataFrame(
            {"time": pd.to_datetime([0, 1000, 2000], unit="ms"), "temp": [1.0, 2.0, 3.0], "host": list("aba"), "place": list("xyx")}
        )
        self.log = cairn.Log.create(self.path(), {"time": "M8[ms]", "temp": "f8", "host": "text", "place": "text"})

    def rows(self):
        return sorted(map(tuple, self.log.query().to_pandas().reset_index().to_numpy().tolist()))

    def test_levels_of_an_index_are_columns(self):
        whole = None
        for levels in ([], ["host"], ["host", "place"], ["time", "host"], ["temp", "time", "place"]):
            with self.subTest(levels=levels):
                self.log.delete(last="1000d")
                self.log.append(self.frame.set_index(levels) if levels else self.frame)
                whole = whole or self.rows()
                self.assertEqual(self.rows(), whole)

    def test_upsert_finds_keys_in_an_index(self):
        self.log.append(self.frame)
        newest = self.frame.groupby(["host", "place"]).last().assign(temp=9.0)
        done = self.log.upsert(newest)
        self.assertEqual((done.inserted, done.replaced), (0, 2))

    def test_levels_without_a_name_are_refused(self):
        given = self.frame.set_index(["host", "place"])
        given.index.names = ["host", None]
        with self.assertRaisesRegex(cairn.InvalidArgument, "a level of the index has no name"):
            self.log.append(given)

    def test_text_that_is_not_utf8_is_named(self):
        with self.assertRaisesRegex(cairn.InvalidArgument, "field 'host': record 2: a text that is not UTF-8"):
            self.log.append({"time": [1, 2, 3], "temp": [1.0] * 3, "host": ["a", "b", "\ud800"], "place": list("xyx")})


@unittest.skipIf(pd is None, "no pandas")
class PandasTest(PackageTest):
    def create(self, name="log", fields=FIELDS):
        return cairn.Log.create(self.path(name), fields)

    def kinds(self):
        return ("numpy", "masked", "category", *(["arrow"] if pa else []))

    def test_frames_go_there_and_back(self):
        for number, zone in enumerate([None, *ZONES]):
            for nullable in self.kinds():
                if zone is None and nullable == "arrow":
                    continue
                with self.subTest(zone=zone, nullable=nullable):
                    frame, none = frame_of(zone, nullable)
                    log = self.create(f"{number}{nullable}")
                    log.append(frame)
                    utc = frame.index if zone is None else frame.index.tz_convert("UTC").tz_localize(None)
                    self.assert_same(log["time"], utc.to_numpy())
                    for name in ("n", "u", "ok"):
                        self.assertEqual(log[name].tolist(), frame[name].tolist(), name)
                    for name in ("x", "f"):
                        self.assertEqual(np.isnan(log[name]).tolist(), none.tolist())
                        self.assertEqual(log[name][~none].tolist(), frame[name][~none].tolist())
                    self.assertEqual([one.decode() for one in log["host"].tolist()], ["" if gone else one for one, gone in zip(frame["host"], none)])
                    self.assertEqual(np.isnat(log["seen"]).tolist(), none.tolist())
                    back = log.to_pandas() if zone is None else log.to_pandas(tz=zone)
                    pd.testing.assert_index_equal(back.index, frame.index, exact=True)
                    self.assertEqual(back["seen"].dropna().tolist(), frame["seen"].dropna().tolist())
                    other = self.create(f"back{number}{nullable}")
                    other.append(back)
                    self.assert_same(other[:], log[:])

    def test_times_come_in_the_zone_that_is_asked_for(self):
        log = self.create()
        log.append(frame_of("UTC", "numpy")[0])
        naive = log.to_pandas()
        self.assertIsNone(naive.index.tz)
        for zone in (*ZONES, datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=2))):
            with self.subTest(zone=zone):
                for found in (log.to_pandas(tz=zone), log.query().to_pandas(tz=zone), log.snapshot().to_pandas(tz=zone)):
                    pd.testing.assert_index_equal(found.index, naive.index.tz_localize("UTC").tz_convert(zone))
                    pd.testing.assert_series_equal(found["seen"], naive["seen"].dt.tz_localize("UTC").dt.tz_convert(zone).set_axis(found.index))
        some = log.query(fields=["seen", "n"], limit=3).to_pandas(tz="Asia/Tokyo")
        self.assertEqual(str(some["seen"].dt.tz), "Asia/Tokyo")
        for wrong in ("Mars/Base", 5):
            with self.subTest(wrong=wrong), self.assertRaises(cairn.Error):
                log.to_pandas(tz=wrong)

    def test_what_a_field_cannot_lack_is_refused(self):
        log = self.create()
        good = frame_of("UTC", "masked")[0]
        for name in ("n", "u", "ok"):
            wrong = good.copy()
            wrong.loc[wrong.index[3], name] = pd.NA
            with self.subTest(name=name), self.assertRaisesRegex(cairn.InvalidArgument, f"field '{name}': no value"):
                log.append(wrong)
        with self.assertRaises(cairn.InvalidArgument):
            log.append(good.set_axis(good.index[:-1].append(pd.DatetimeIndex([pd.NaT], tz="UTC")).rename("time")))
        self.assertEqual(len(log), 0)

    def test_counts_beside_na_stay_exact(self):
        log = self.create(fields={"time": "M8[ns]", "seen": "M8[ns]"})
        big = 2**60 + 1
        columns = [pd.array([big, None], "Int64"), pd.Series([big, None], dtype="Int64")]
        if pa:
            columns.append(pd.Series([big, None], dtype="int64[pyarrow]"))
        for column in columns:
            with self.subTest(column=column):
                log.append({"time": [big, big], "seen": column})
                self.assertEqual(log["seen"][-2:].view("i8").tolist(), [big, -(2**63)])


if __name__ == "__main__":
    unittest.main()
