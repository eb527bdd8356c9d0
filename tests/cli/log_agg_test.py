"""cairn log agg: functions of chosen fields, empty spans and groups."""

import datetime
import json
import os
import sys

import tap
from cli import CliTest
from log_test import LogTest

START = datetime.datetime(2026, 3, 27, tzinfo=datetime.timezone.utc)


class AggTest(LogTest):
    def rows_of_agg(self, *args):
        """As JSON has them."""
        return [json.loads(line) for line in self.ok("log", "agg", "log", "--format", "jsonl", *args).splitlines()]


class What(AggTest):
    """A temperature each minute, and a counter that begins again after 90 records."""

    def setUp(self):
        super().setUp()
        self.create("time:timestamp[s]", "temp:f8", "n:u8", "name:bytes[4]")
        rows = [f"{(START + datetime.timedelta(minutes=i)).isoformat()},{i % 60},{2**60 + 3 * i if i < 90 else 3 * i},x" for i in range(120)]
        self.append("\n".join(["time,temp,n,name", *rows]))

    def test_functions_of_chosen_fields(self):
        rows = self.rows_of_agg("--bucket", "1h", "--what", "temp:median,temp:p95,n:max,temp:range,temp:stddev")
        self.assertEqual(list(rows[0]), ["time", "records", "median(temp)", "p95(temp)", "max(n)", "range(temp)", "stddev(temp)"])
        for row in rows:
            self.assertEqual((row["median(temp)"], row["p95(temp)"], row["range(temp)"]), (29.5, 56.05, 59))
            self.assertAlmostEqual(row["stddev(temp)"], (sum((i - 29.5) ** 2 for i in range(60)) / 59) ** 0.5)
        self.assertEqual([row["max(n)"] for row in rows], [2**60 + 177, 2**60 + 267])

    def test_what_names_no_field_is_of_all_that_fields_names(self):
        (row,) = self.rows_of_agg("--what", "count,p50,n:min,last", "--fields", "temp,n")
        self.assertEqual(list(row)[2:], ["count(temp)", "p50(temp)", "count(n)", "p50(n)", "min(n)", "last(temp)", "last(n)"])
        self.assertEqual((row["min(n)"], row["last(n)"]), (270, 357))
        (row,) = self.rows_of_agg("--what", "range")
        self.assertEqual(row, {"time": "2026-03-27T00:00:00Z", "records": 120, "range(temp)": 59, "range(n)": 2**60 + 267 - 270})

    def test_a_counter_that_begins_again_counts_in_full(self):
        rows = self.rows_of_agg("--bucket", "1h", "--what", "n:increase,n:rate")
        self.assertEqual([row["increase(n)"] for row in rows], [59 * 3, 30 * 3 + 270 + 29 * 3])
        self.assertEqual([row["rate(n)"] for row in rows], [59 * 3 / 3540, 447 / 3600])
        (row,) = self.rows_of_agg("--what", "n:increase,n:rate", "--to", "2026-03-27T00:01")
        self.assertEqual((row["increase(n)"], row["rate(n)"]), (None, None))

    def test_functions_that_do_not_exist_are_refused(self):
        for what in ["", "avg", "p101", "p-1", "p", "temp:", "mean,,max", "temp:pp5", "p1e1", "pnan"]:
            with self.subTest(what=what):
                self.assertIn("--what: expected count", self.fails(2, "log", "agg", "log", "--what", what))
        self.assertIn("'y'", self.fails(1, "log", "agg", "log", "--what", "y:mean"))
        self.assertIn("not numeric", self.fails(2, "log", "agg", "log", "--what", "name:max"))

    def test_memory_is_bounded(self):
        message = self.fails(1, "log", "agg", "log", "--what", "p95", "--max-memory", 800, "--fields", "temp")
        self.assertIn("choose smaller buckets", message)
        self.assertEqual(len(self.rows_of_agg("--what", "p95", "--max-memory", 800, "--fields", "temp", "--bucket", "1h")), 2)


class Sparse(AggTest):
    """Two hosts, whose records have hours without any between them."""

    def setUp(self):
        super().setUp()
        self.create("time:timestamp[s]", "x:f8", "n:u8", "host:bytes[4]", "ok:bool")
        rows = [("00:30", 1, 2**60 + 1, "a", 1), ("00:45", 2, 5, "b", 0), ("03:10", 4, 2**60 + 7, "a", 1), ("04:10", "nan", 9, "b", 1)]
        self.append("\n".join(["time,x,n,host,ok", *(f"2026-03-29T{clock},{x},{n},{host},{ok}" for clock, x, n, host, ok in rows)]))

    def column(self, name, *args):
        return [row[name] for row in self.rows_of_agg("--bucket", "1h", "--what", "x:mean,x:sum,n:last", *args)]

    def test_spans_are_filled_up_to_the_greatest_time(self):
        self.ok("log", "create", "wide", "--field", "time:timestamp[ns]", "--field", "x:f8")
        last = "2262-04-11T23:47:16.85477580"
        self.ok("log", "append", "wide", "-", stdin=f"time,x\n{last}4Z,1\n{last}7Z,2\n".encode())
        for bucket, expected in (("1ns", [1, 0, 0, 1]), ("2ns", [1, 1]), ("3ns", [1, 1])):
            with self.subTest(bucket=bucket):
                table = self.ok("log", "agg", "wide", "--bucket", bucket, "--fill", "null", "--what", "count")
                self.assertEqual([int(line.split(b",")[1]) for line in table.splitlines()[1:]], expected)

    def test_values_between_the_greatest_times_are_linear(self):
        self.ok("log", "create", "far", "--field", "time:timestamp[ns]", "--field", "n:i4")
        last = "2262-04-11T23:47:16.85477580"
        self.ok("log", "append", "far", "-", stdin=f"time,n\n{last}3Z,10\n{last}7Z,50\n".encode())
        table = self.ok("log", "agg", "far", "--bucket", "1ns", "--fill", "linear", "--what", "max")
        self.assertEqual([float(line.split(b",")[2]) for line in table.splitlines()[1:]], [10, 20, 30, 40, 50])

    def test_empty_spans_are_filled(self):
        x, n = "mean(x)", "last(n)"
        self.assertEqual(self.column("records", "--fill", "none"), [2, 1, 1])
        self.assertEqual(self.column("records", "--fill", "null"), [2, 0, 0, 1, 1])
        self.assertEqual(self.column("sum(x)", "--fill", "previous"), [3, 0, 0, 4, 0])
        self.assertEqual(self.column(x, "--fill", "null"), [1.5, None, None, 4, None])
        self.assertEqual(self.column(n, "--fill", "null"), [5, None, None, 2**60 + 7, 9])
        self.assertEqual(self.column(n, "--fill", "previous"), [5, 5, 5, 2**60 + 7, 9])
        linear = self.column(x, "--fill", "linear")
        self.assertEqual([value and round(value, 9) for value in linear], [1.5, 2.333333333, 3.166666667, 4, None])
        self.assertEqual(self.column(n, "--fill", "7"), [5, 7, 7, 2**60 + 7, 9])
        self.assertEqual(self.column(n, "--fill", "-0.5")[1], -0.5)
        self.assertEqual(self.rows("--bucket", "1h", "--what", "n:last", "--fill", "null", command="agg")[1], ["2026-03-29T01:00:00Z", "0", ""])

    def test_the_range_that_is_asked_for_is_filled(self):
        day = ["--from", "2026-03-29", "--to", "2026-03-30", "--tz", "Europe/Berlin"]
        self.assertEqual(self.column("records", "--fill", "0", *day), [0, 2, 0, 0, 1, 1, *[0] * 17])
        self.assertEqual(self.column("mean(x)", "--fill", "0", "--from", "2030-01-01", "--to", "2030-01-01T02:30"), [0, 0, 0])
        self.assertEqual(self.column("records", "--fill", "0", "--from", "2030-01-01"), [])

    def test_enormous_ranges_are_streamed(self):
        """In memory they would take more than there is."""
        agg = self.start("log", "agg", "log", "--bucket", "1s", "--fill", "linear", "--from", "0001-01-01", "--what", "n:max")
        for _ in range(10_000):
            line = agg.stdout.readline()
        self.assertEqual(line, b"0001-01-01T02:46:38Z,0,nan\n")
        with open(f"/proc/{agg.pid}/statm", encoding="ascii") as statm:
            self.assertLess(int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), 100 << 20)

    def test_groups_have_rows_of_their_own(self):
        rows = self.rows_of_agg("--by", "host,ok", "--what", "x:max,n:last")
        self.assertEqual([(row["host"], row["ok"], row["records"], row["last(n)"]) for row in rows],
                         [("a", True, 2, 2**60 + 7), ("b", False, 1, 5), ("b", True, 1, 9)])  # fmt: skip
        rows = self.rows("--by", "host", "--bucket", "1h", "--what", "n:last", "--fill", "0", command="agg")
        self.assertEqual([row[1] for row in rows], ["a"] * 5 + ["b"] * 5)
        self.assertEqual([row[3] for row in rows], [str(2**60 + 1), "0", "0", str(2**60 + 7), "0", "5", "0", "0", "0", "9"])
        self.assertEqual(list(self.rows_of_agg("--by", "n", "--what", "mean")[0])[1:4], ["n", "records", "mean(x)"])

    def test_the_newest_value_of_each_group(self):
        rows = self.rows("--by", "host", "--what", "last", "--fields", "time,n", command="agg")
        self.assertEqual([row[1::2] for row in rows], [["a", "2026-03-29T03:10:00Z"], ["b", "2026-03-29T04:10:00Z"]])
        self.assertEqual([row[4] for row in rows], [str(2**60 + 7), "9"])

    def test_groups_without_a_record_have_no_rows(self):
        nothing = ["--bucket", "1h", "--fill", "null", "--from", "2026-03-29", "--to", "2026-03-29T02:00", "--what", "count", "--where", "x > 9"]
        self.assertEqual([row["records"] for row in self.rows_of_agg(*nothing)], [0, 0])
        self.assertEqual(self.rows_of_agg(*nothing, "--by", "host"), [])

    def test_means_of_integers_are_those_of_exact_sums(self):
        for values, mean in [((-(2**63), 2**63 - 1, 5), 4 / 3), ((2**53 + 1, -(2**53)), 0.5), ((2**63 - 1,) * 3, 2**63), ((2**62 + 2**10 - 1,) * 7, 2**62 + 2**10)]:
            with self.subTest(values=values):
                self.ok("log", "create", "exact", "--quiet", "--field", "time:timestamp[s]", "--field", "n:i8", "--field", "k:u1")
                rows = [f"2026-03-29T00:00:0{i},{value},1" for i, value in enumerate(values)]
                self.ok("log", "append", "exact", "--quiet", "--columns", "time,n,k", stdin="\n".join(rows).encode())
                for by in ([], ["--by", "k"]):
                    (row,) = self.ok("log", "agg", "exact", "--no-header", "--what", "mean", "--fields", "n", *by).splitlines()
                    self.assertEqual(float(row.split(b",")[-1]), mean)
                os.remove(self.path("exact"))

    def test_messages_name_the_log(self):
        for command in ("agg", "latest"):
            message = self.fails(2, "log", command, self.path("log"), "--by", "x")
            self.assertIn(f"{self.path('log')}: by: expected integers, booleans, timestamps, bytes or texts, 'x' has floats", message)
        for option, wrong in [("--by", "y"), ("--what", "y:mean"), ("--fields", "y")]:
            self.assertIn(f"{option}: no field 'y'; there are time, x, n, host, ok", self.fails(1, "log", "agg", "log", option, wrong))

    def test_what_cannot_be_is_refused(self):
        agg = ("log", "agg", "log")
        self.assertIn("more than 1 groups", self.fails(1, *agg, "--by", "host", "--max-groups", 1))
        self.assertIn("'x' has floats", self.fails(2, *agg, "--by", "x"))
        self.assertIn("'y'", self.fails(1, *agg, "--by", "y"))
        for wrong in (["--fill", "null"], ["--fill", "nil", "--bucket", "1h"], ["--fill", "inf", "--bucket", "1h"], ["--fill", "0", "--bucket", "1h", "--format", "raw"],
                      ["--by", "host", "--plot", "a.svg"], ["--fill", "0", "--bucket", "1h", "--plot", "a.svg"]):  # fmt: skip
            with self.subTest(wrong=wrong):
                self.assertIn(wrong[0], self.fails(2, *agg, *wrong))


class LeastTime(LogTest):
    def test_a_bucket_that_begins_before_it(self):
        self.create("time:timestamp[ns]", "n:i4")
        self.append("time,n\n1677-09-21T00:12:44Z,1\n1677-09-22T00:00:00Z,2\n")
        for bucket in ["1d", "7d", "1mo"]:
            with self.subTest(bucket=bucket):
                rows = self.rows("--bucket", bucket, command="agg")
                self.assertEqual(rows[0][0], "1677-09-21T00:12:43.145224193Z")


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
