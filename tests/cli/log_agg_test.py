"""cairn log agg: functions of chosen fields."""

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


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
