"""What questions to logs come to, beside DuckDB, in zones whose clocks change."""

import unittest

from support import PackageTest, cairn, np

try:
    import duckdb
    import pandas
except ImportError:
    duckdb = None

# A zone, and times around which its clocks change, or its calendar.
ZONES = [
    ("Europe/Berlin", "2026-03-27", "2026-10-24"),
    ("America/New_York", "2026-03-07", "2026-10-31"),
    ("Australia/Lord_Howe", "2026-04-03", "2026-10-02"),
    ("Pacific/Apia", "2011-12-28", "2012-03-30"),
    ("Asia/Kathmandu", "2026-01-01", "2025-12-30"),
    ("UTC", "1969-12-30", "2024-02-27"),
]
UNITS = {"1h": "hour", "1d": "day", "1w": "week", "1mo": "month", "1q": "quarter", "1y": "year"}


@unittest.skipIf(duckdb is None, "there is no DuckDB")
class DuckDbTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.logs = 0
        self.rng = np.random.default_rng(7)
        self.base = duckdb.connect()
        self.addCleanup(self.base.close)

    def fill(self, days, hours=72, count=3000):
        """A log of records around these days, and the same as a table of DuckDB."""
        rng = self.rng
        starts = rng.choice(np.array(days, "M8[ms]"), count)
        time = starts + rng.integers(0, hours * 3600 * 1000, count).astype("m8[ms]")
        time[rng.random(count) < 0.2] = time[0]  # many at once
        time = np.where(rng.random(count) < 0.8, np.sort(time), time)  # some late
        x = np.where(rng.random(count) < 0.3, np.nan, rng.normal(20, 5, count).round(2))
        n = np.cumsum(rng.integers(0, 50, count))
        n = np.where(rng.random(count) < 0.01, 0, n)
        host = rng.choice(np.array([b"a", b"bb", b"", b"c,c"], "S4"), count)
        self.logs += 1
        log = cairn.Log.create(self.path(f"{self.logs}.log"), {"time": "M8[ms]", "x": "f8", "n": "i8", "host": "S4"}, chunksize=4000)
        with log.writer() as writer:
            for part in np.array_split(np.arange(count), 7):
                writer.append({"time": time[part], "x": x[part], "n": n[part], "host": host[part]})
        # DuckDB takes a NaN of pandas for NULL.
        frame = pandas.DataFrame({"r": np.arange(count), "t": time, "x": x, "n": n, "host": host.astype("U4")})
        self.base.register("frame", frame)
        self.base.execute("set TimeZone = 'UTC'")
        self.base.execute("create or replace table t as select r, t::timestamptz as t, x, n, host from frame")
        return log

    def rows(self, select):
        return self.base.execute(select).fetchall()

    def test_buckets_of_the_calendar(self):
        for zone, *days in ZONES:
            log = self.fill(days)
            for bucket, unit in UNITS.items():
                with self.subTest(zone=zone, bucket=bucket):
                    # DuckDB counts an hour that clocks show twice as one, and a log as two.
                    twice = bucket == "1h" and zone not in ("Australia/Lord_Howe", "Asia/Kathmandu")
                    self.base.execute(f"set TimeZone = '{'UTC' if twice else zone}'")
                    expected = self.rows(
                        f"select epoch_ms(date_trunc('{unit}', t)::timestamptz) as b, count(*), count(x), min(x), max(x), "
                        "sum(n)::bigint, arg_min(n, (t, r)), arg_max(n, (t, r)) from t group by b order by b"
                    )
                    found = log.aggregate(bucket=bucket, tz=zone, fields=["x", "n"])
                    x, n = found["x"], found["n"]
                    columns = [found.begin.astype("i8"), found.records, x["count"], x["min"], x["max"], n["sum"], n["first"], n["last"]]
                    self.assertEqual(
                        [tuple(None if value != value else value for value in row) for row in zip(*(one.tolist() for one in columns))],
                        expected,
                    )
                    self.assertTrue((found.begin < found.end).all() and (found.end[:-1] <= found.begin[1:]).all())

    def test_measures(self):
        percentiles = {"p0": 0, "median": 0.5, "p95": 0.95, "p99.9": 0.999, "p100": 1}
        for zone, *days in ZONES[:4]:
            log = self.fill(days)
            self.base.execute(f"set TimeZone = '{zone}'")
            for unit in ("day", "month"):
                quantiles = "".join(f", quantile_cont(x, {part}) as \"{name}\"" for name, part in percentiles.items())
                expected = self.rows(
                    "with steps as (select *, lag(n) over w as before, lag(t) over w as since from t window w as (order by t, r)), "
                    "grown as (select *, case when n < before then n else n - before end as step from steps) "
                    f"select count(x), max(x) - min(x), stddev_samp(x), sum(step), sum(step) / "
                    "case when epoch_ms(max(t)) > epoch_ms(min(since)) then (epoch_ms(max(t)) - epoch_ms(min(since))) / 1000.0 end "
                    f"{quantiles} from grown group by date_trunc('{unit}', t) order by min(t)"
                )
                what = ["x:count", "x:range", "x:stddev", "n:increase", "n:rate", *(f"x:{name}" for name in percentiles)]
                found = log.aggregate(bucket={"day": "1d", "month": "1mo"}[unit], tz=zone, what=what)
                self.assertEqual(len(found), len(expected))
                names = [one.split(":") for one in what]
                for row, wanted in enumerate(expected):
                    for (field, name), value in zip(names, wanted):
                        with self.subTest(zone=zone, unit=unit, row=row, name=name):
                            got = float(found[field][name][row])
                            np.testing.assert_allclose(got, np.nan if value is None else float(value), rtol=1e-9, atol=1e-9)

    def test_groups(self):
        for zone, *days in ZONES[:3]:
            log = self.fill(days)
            self.base.execute(f"set TimeZone = '{zone}'")
            expected = self.rows(
                "select host, epoch_ms(date_trunc('day', t)::timestamptz) as b, count(*), count(x), quantile_cont(x, 0.9), max(n), arg_max(n, (t, r)) "
                "from t group by host, b order by host, b"
            )
            found = log.aggregate(bucket="1d", tz=zone, by="host", what="x:count,x:p90,n:max,n:last")
            x, n = found["x"], found["n"]
            columns = [found.groups["host"].astype("U4"), found.begin.astype("i8"), found.records, x["count"], x["p90"], n["max"], n["last"]]
            self.assertEqual([column.tolist() for column in columns[:4]], [list(column) for column in list(zip(*expected))[:4]])
            for column, wanted in zip(columns[4:], list(zip(*expected))[4:]):
                np.testing.assert_allclose(column.astype("f8"), np.array(wanted, "f8"), rtol=1e-12)
            # The newest of each group.
            latest = log.aggregate(by="host", what="last", fields=["time", "n"])
            expected = self.rows("select host, make_timestamp_ms(epoch_ms(max(t))), arg_max(n, (t, r)) from t group by host order by host")
            columns = [latest.groups["host"].astype("U4"), latest["time"]["last"], latest["n"]["last"]]
            self.assertEqual(list(zip(*(column.tolist() for column in columns))), expected)

    def test_filled_buckets_are_those_of_pandas(self):
        for zone, *days in ZONES[:4]:
            log = self.fill(days, count=40)
            for by in (None, "host"):
                how = {"bucket": "6h", "tz": zone, "by": by, "what": "x:mean,x:count,n:max"}
                rows = log.aggregate(**how).to_pandas()
                empty = log.aggregate(**how, fill="null").to_pandas()
                values = [("x", "mean"), ("n", "max")]
                groups = [rows] if by is None else [rows.loc[name] for name in rows.index.unique(0)]
                spans = [empty] if by is None else [empty.loc[name] for name in rows.index.unique(0)]
                for fill in ("null", "previous", "linear", 7, 0.5):
                    with self.subTest(zone=zone, by=by, fill=fill):
                        found = log.aggregate(**how, fill=fill).to_pandas()
                        parts = []
                        for group, span in zip(groups, spans):
                            part = group.reindex(span.index)[values].astype("f8")
                            if fill == "previous":
                                part = part.ffill()
                            elif fill == "linear":
                                part = part.set_index(span.index.as_unit("ms").astype("i8"))
                                part = part.interpolate(method="index", limit_area="inside")
                            elif fill != "null":
                                part = part.fillna(fill)
                            parts.append(part.to_numpy())
                        np.testing.assert_allclose(found[values].to_numpy("f8"), np.concatenate(parts), rtol=1e-9)
                        self.assertEqual(found["records"].sum(), 40)
                        self.assertEqual(found[("x", "count")].sum(), rows[("x", "count")].sum())

    def test_where_ranges_begin_and_end(self):
        for zone, *days in ZONES:
            log = self.fill(days)
            self.base.execute(f"set TimeZone = '{zone}'")
            for day in days:
                for end in [np.datetime64(day) + 1, np.datetime64(day) + 3]:
                    with self.subTest(zone=zone, day=day, end=end):
                        ((expected,),) = self.rows(
                            f"select count(*) from t where t >= '{day}'::timestamptz and t < '{end}'::timestamptz"
                        )
                        self.assertEqual(len(log.query(day, str(end), tz=zone)), expected)
                        self.assertGreater(expected, 0)


if __name__ == "__main__":
    unittest.main()
