"""Questions to logs: buckets of the calendar, times relative to the clock."""

import datetime
import unittest
import zoneinfo

from support import PackageTest, cairn, np

try:
    import pandas
except ImportError:
    pandas = None


class QuestionsTest(PackageTest):
    """Of a record each hour from 27 to 31 March 2026. In Berlin the clocks change on 29 March."""

    def setUp(self):
        super().setUp()
        self.log = cairn.Log.create(self.path("log"), {"time": "M8[ms]", "n": "i4"})
        self.times = np.datetime64("2026-03-27T00", "ms") + np.arange(120) * np.timedelta64(1, "h")
        self.log.append({"time": self.times, "n": np.arange(120)})

    def test_days_follow_the_clocks_of_a_zone(self):
        for tz in ("Europe/Berlin", zoneinfo.ZoneInfo("Europe/Berlin")):
            found = self.log.aggregate(bucket="1d", tz=tz)
            self.assertEqual(found.records.tolist(), [23, 24, 23, 24, 24, 2])
            self.assertEqual((found.end - found.begin)[2], np.timedelta64(23, "h"))
            self.assertEqual(str(found.begin[2]), "2026-03-28T23:00:00.000")
        for bucket in ("1d", "24h", datetime.timedelta(days=1)):
            self.assertEqual(self.log.aggregate(bucket=bucket).records.tolist(), [24] * 5)
        self.assertEqual(self.log.aggregate(bucket="15m", tz="Asia/Kathmandu").records.tolist(), [1] * 120)

    @unittest.skipIf(pandas is None, "no pandas")
    def test_pandas_shows_them_in_the_zone(self):
        frame = self.log.aggregate(bucket="1mo", tz="Europe/Berlin").to_pandas()
        self.assertEqual([str(time) for time in frame.index], ["2026-03-01 00:00:00+01:00", "2026-04-01 00:00:00+02:00"])

    def test_lengths_that_could_mean_two_things_are_refused(self):
        for bucket in ("24h", "5h", "0d", "1d12h", datetime.timedelta(hours=6), 3_600_000, "200000mo"):
            with self.subTest(bucket=bucket), self.assertRaisesRegex(cairn.InvalidArgument, "bucket|span"):
                self.log.aggregate(bucket=bucket, tz="Europe/Berlin")
        with self.assertRaisesRegex(cairn.InvalidArgument, "beside origin"):
            self.log.aggregate(bucket="1y", origin="2026-04-01")
        with self.assertRaisesRegex(cairn.InvalidArgument, "Europe/Nowhere"):
            self.log.aggregate(bucket="1d", tz="Europe/Nowhere")
        with self.assertRaisesRegex(TypeError, "tz"):
            self.log.aggregate(bucket="1d", tz=1)

    def test_functions_of_chosen_fields(self):
        found = self.log.aggregate(bucket="1d", what=["n:p50", "n:range", "max", "n:increase", "n:rate"], fields=["n", "time"])
        self.assertEqual(found["n"].dtype.names, ("p50", "range", "max", "increase", "rate"))
        self.assertEqual(found["n"]["p50"].tolist(), [11.5, 35.5, 59.5, 83.5, 107.5])
        self.assertEqual(found["n"]["range"].tolist(), [23] * 5)
        self.assertEqual(found["n"]["range"].dtype.kind, "i")
        self.assertEqual(found["n"]["increase"].tolist(), [23, 24, 24, 24, 24])
        self.assertEqual(found["n"]["rate"].tolist(), [1 / 3600] * 5)
        self.assertEqual(found["time"].dtype.names, ("max",))
        self.assertIn("p50", repr(found))
        whole = self.log.aggregate(what="mean,stddev")
        self.assertEqual(whole["n"]["mean"][0], 59.5)
        self.assertAlmostEqual(whole["n"]["stddev"][0], np.std(np.arange(120), ddof=1))
        self.assertEqual(len(self.log.aggregate("2030-01-01", what="median,range")["n"]), 0)

    def test_values_of_times_are_times(self):
        for by in (None, "n"):
            found = self.log.aggregate(by=by, what="first,last,min,max,range,count", fields="time", last="3h")["time"]
            expected = [self.times[-4:]] if by is None else self.times[-4:, np.newaxis]
            for what, of in [("first", np.min), ("min", np.min), ("last", np.max), ("max", np.max), ("range", np.ptp)]:
                self.assertEqual(found[what].dtype, np.dtype("m8[ms]" if what == "range" else "M8[ms]"))
                self.assertEqual(found[what].tolist(), [of(times).item() for times in expected])

    def test_times_that_are_none_are_no_values(self):
        log = cairn.Log.create(self.path("seen"), {"time": "M8[s]", "seen": "M8[s]", "host": "S2"})
        seen = np.array(["NaT", "2026-03-01", "NaT", "2026-03-02", "2026-03-03", "NaT"], "M8[s]")
        log.append({"time": self.times[:6].astype("M8[s]"), "seen": seen, "host": ["a", "b"] * 3})
        self.assertEqual(log.verify_statistics(), [])
        whole = log.aggregate(fields="seen")["seen"]
        self.assertEqual((whole["count"], whole["min"][0], whole["first"][0], whole["last"][0]), (3, seen[1], seen[1], seen[4]))
        for how in ({}, {"bucket": "2h"}, {"where": "host != 'x'"}, {"bucket": "1h", "where": "host != 'x'"}, {"by": "host"}):
            found = log.aggregate(fields="seen", **how)["seen"]
            with self.subTest(how=how):
                self.assertEqual(found["count"].sum(), 3)
                self.assertEqual(found["min"][found["count"] > 0].min(), seen[1])
        self.assertEqual(log.aggregate(what="seen:median")["seen"]["median"][0], seen[3].astype(float))
        for where, count in (("seen < '2026-03-03'", 2), ("seen <= '2027-01-01'", 3), ("seen != '2026-03-02'", 5), ("not seen < '2026-03-03'", 4), ("seen is null", 3), ("seen is not null", 3)):
            with self.subTest(where=where):
                self.assertEqual(len(log.query(where=where)), count)
        log.append({"time": self.times[6:7].astype("M8[s]"), "seen": [np.datetime64("NaT")], "host": ["a"]})
        self.assertEqual(log.aggregate(self.times[6], fields="seen")["seen"]["count"].tolist(), [0])

    def test_times_of_empty_buckets_are_filled(self):
        log = self.sparse()
        for fill, middle in [("null", ["NaT"] * 2), ("previous", ["2026-03-29T00:45"] * 2), ("linear", ["2026-03-29T01:33:20", "2026-03-29T02:21:40"])]:
            found = log.aggregate(bucket="1h", what="last", fields="time", fill=fill)["time"]["last"]
            np.testing.assert_array_equal(found, np.array(["2026-03-29T00:45", *middle, "2026-03-29T03:10", "2026-03-29T04:10"], "M8[s]"))

    def test_aggregates_show_their_zone(self):
        found = self.log.aggregate("2026-03-29", bucket="6h", tz="Europe/Berlin", what="last", fields="time")
        self.assertIn("2026-03-29T00:00:00+01:00", repr(found))
        self.assertIn("2026-03-29T06:00:00+02:00", repr(found))
        self.assertIn("+02:00", found._repr_html_())
        if pandas is not None:
            self.assertEqual(str(found.to_pandas()["time", "last"].iloc[0]), "2026-03-29 05:00:00+02:00")

    def test_lists_of_names_may_be_one_text(self):
        log = cairn.Log.create(self.path("names"), {"time": "M8[s]", "a,b": "i4", "c": "i4"}, key="host, room")
        self.assertEqual(log.dtype.names, ("time", "a,b", "c", "host", "room"))
        log.append([(0, 1, 2, "x", "y")])
        self.assertEqual(list(log.query(fields="c, host").columns), ["c", "host"])
        self.assertEqual(list(log.query(fields="a,b").columns), ["a,b"])
        self.assertEqual(list(log.aggregate(by="host,room").groups), ["host", "room"])

    def test_greatest_time_of_all_is_the_last(self):
        for greatest in (2**63 - 1, 2**63 - 2):
            log = cairn.Log.create(self.path(f"log{greatest}"), {"time": "i8", "x": "f4"}, time="time")
            log.append({"time": [1, greatest], "x": [1, 2]})
            self.assertEqual(log.times, (1, greatest))
            self.assertEqual(log.upsert({"time": [greatest], "x": [3]}), (0, 1, 0, 1))

    def test_values_between_the_greatest_times_are_linear(self):
        log = cairn.Log.create(self.path("far"), {"time": "i8", "x": "f4"}, time="time")
        log.append({"time": [2**63 - 5, 2**63 - 1], "x": [1, 5]})
        found = log.aggregate(bucket=1, fill="linear", what="max")["x"]["max"]
        np.testing.assert_array_equal(found, [1, 2, 3, 4, 5])

    def test_functions_that_do_not_exist_are_refused(self):
        for what in ("p101", "avg", "", "n:", "p-1", "p1e1", "mean,,max", ["n:p"]):
            with self.subTest(what=what), self.assertRaisesRegex(cairn.InvalidArgument, "what: expected"):
                self.log.aggregate(what=what)
        with self.assertRaises(KeyError):
            self.log.aggregate(what="x:mean")
        with self.assertRaisesRegex(cairn.Error, "max_memory"):
            self.log.aggregate(what="p95", max_memory=100)
        self.assertEqual(len(self.log.aggregate(what="p95", max_memory=8, bucket="1h")), 120)

    def sparse(self):
        log = cairn.Log.create(self.path("sparse"), {"time": "M8[s]", "n": "u8", "x": "f4", "host": "S2", "ok": "?"})
        times = np.array(["2026-03-29T00:30", "2026-03-29T00:45", "2026-03-29T03:10", "2026-03-29T04:10"], "M8[s]")
        log.append({"time": times, "n": [2**60 + 1, 5, 2**60 + 7, 9], "x": [1, 2, 4, np.nan], "host": ["a", "b", "a", "b"], "ok": [True, False, True, True]})
        return log

    def test_empty_buckets_are_filled(self):
        log = self.sparse()
        hourly = {"bucket": "1h", "tz": "Europe/Berlin", "what": "n:last,x:mean,x:sum,x:count"}
        found = log.aggregate(**hourly, fill="previous")
        self.assertEqual(found.begin.tolist(), [datetime.datetime(2026, 3, 29, hour) for hour in range(5)])
        self.assertEqual(found.records.tolist(), [2, 0, 0, 1, 1])
        self.assertEqual(found["n"]["last"].tolist(), [5, 5, 5, 2**60 + 7, 9])
        self.assertEqual(found["n"]["last"].dtype, np.dtype("u8"))
        self.assertEqual(found["x"]["mean"].tolist(), [1.5, 1.5, 1.5, 4, 4])
        self.assertEqual(found["x"]["sum"].tolist(), [3, 0, 0, 4, 0])
        self.assertEqual(found["x"]["count"].tolist(), [2, 0, 0, 1, 0])
        self.assertEqual(log.aggregate(**hourly, fill=3)["n"]["last"].tolist(), [5, 3, 3, 2**60 + 7, 9])
        self.assertEqual(log.aggregate(**hourly, fill=0.5)["n"]["last"].dtype.kind, "f")
        np.testing.assert_array_equal(log.aggregate(**hourly, fill="linear")["x"]["mean"], [1.5, 1.5 + 2.5 / 3, 1.5 + 5 / 3, 4, np.nan])
        np.testing.assert_array_equal(log.aggregate(**hourly, fill="null")["x"]["mean"], [1.5, np.nan, np.nan, 4, np.nan])
        self.assertEqual(len(log.aggregate("2026-03-28", "2026-03-30", fill="null", **hourly)), 47)
        self.assertEqual(len(log.aggregate("2025-03-28", "2025-03-29", fill=0, **{**hourly, "tz": None})), 24)
        self.assertEqual(len(log.aggregate("2030-03-28", fill=0, **hourly)), 0)

    def test_groups_have_rows_of_their_own(self):
        log = self.sparse()
        found = log.aggregate(by=["host", "ok"], what="x:mean,n:max,count")
        self.assertEqual(found.groups["host"].tolist(), [b"a", b"b", b"b"])
        self.assertEqual(found.groups["ok"].tolist(), [True, False, True])
        self.assertEqual(found["n"]["max"].tolist(), [2**60 + 7, 5, 9])
        self.assertEqual(list(found.fields), ["x", "n"])
        filled = log.aggregate(by="host", bucket="1h", fill=0, what="n:last")
        self.assertEqual(filled.groups["host"].tolist(), [b"a"] * 5 + [b"b"] * 5)
        self.assertEqual(filled["n"]["last"].tolist(), [2**60 + 1, 0, 0, 2**60 + 7, 0, 5, 0, 0, 0, 9])
        self.assertEqual(len(log.aggregate("2030-01-01", by="host", bucket="1h", fill=0)), 0)
        self.assertIn("host", repr(filled))
        latest = log.aggregate(by="host", what="last", fields=["time", "n"])
        self.assertEqual(latest["n"]["last"].tolist(), [2**60 + 7, 9])

    def test_what_would_take_all_memory_is_refused(self):
        log = self.sparse()
        for how in ({"bucket": 1}, {"bucket": "1s", "by": "host"}):
            with self.subTest(how=how), self.assertRaisesRegex(cairn.ResourceExhausted, "fill"):
                log.aggregate("1900-01-01", "2100-01-01", fill="linear", **how)
        with self.assertRaisesRegex(cairn.ResourceExhausted, "max_groups"):
            log.aggregate(by="n", max_groups=3)
        for wrong in ({"fill": "nothing", "bucket": "1h"}, {"fill": np.nan, "bucket": "1h"}, {"fill": "null"}, {"by": "x"}):
            with self.subTest(wrong=wrong), self.assertRaises(cairn.InvalidArgument):
                log.aggregate(**wrong)
        with self.assertRaises(KeyError):
            log.aggregate(by="nothing")
        with self.assertRaises(TypeError):
            log.aggregate(fill=[], bucket="1h")

    def test_times_without_a_zone_are_of_the_zone(self):
        for begin in ("2026-03-30", datetime.date(2026, 3, 30), datetime.datetime(2026, 3, 30), "2026-03-29T22:00Z"):
            with self.subTest(begin=begin):
                found = self.log.query(begin, "2026-03-30T01:00", tz="Europe/Berlin")
                self.assertEqual(found["n"].tolist(), [70])

    def test_times_may_be_relative_to_the_clock(self):
        log = cairn.Log.create(self.path("new"), {"time": "M8[s]", "n": "i4"})
        now = np.datetime64(datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None), "s")
        log.append({"time": now - np.arange(100)[::-1] * np.timedelta64(60, "s"), "n": np.arange(100)[::-1]})
        self.assertEqual(log.query("-150s")["n"].tolist(), [2, 1, 0])
        self.assertEqual(log.query("now-3590s", "now-3510s")["n"].tolist(), [59])
        self.assertEqual(len(log.query("yesterday", "tomorrow+1d", tz="Pacific/Auckland")), 100)
        self.assertEqual(log.aggregate("-150s").records.tolist(), [3])
        self.assertEqual(log.find_time("now+1h"), 100)
        with self.assertRaises(cairn.InvalidArgument):
            log.append({"time": "now", "n": 1})


if __name__ == "__main__":
    unittest.main()
