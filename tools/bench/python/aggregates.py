#!/usr/bin/env python3
"""Times the summary of one column of a log, beside DuckDB, where that is installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/aggregates.py [--records N] [--json FILE]

The records are {time, float64}, each second a reading with two decimals. A summary is the count, the least,
the greatest, the first and the last value, and the sum. Cairn takes it from the statistics of its chunks,
unless a condition on the values rules that out: "v > 20" holds for most records, but for all of few chunks.
DuckDB has the records in a table of its own file. It uses one thread or two, and Cairn one. All contestants
take turns in each round; a figure is the median of the rounds, and a ratio is the median of the ratios within
a round.
"""

import argparse
import os
import sys
import tempfile

import numpy as np

import cairn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402
from turns import in_turns, note  # noqa: E402

try:
    import duckdb
except ImportError:
    duckdb = None

RECORD = np.dtype([("time", "<M8[us]"), ("v", "<f8")])
BATCH = 100_000
CODECS = ("bitpack", "lz4", "auto", "pco", "zstd")
SUMMARY = "count(v), min(v), max(v), first(v), last(v), sum(v)"
SUM = "sum(v)"


def make_records(count):
    dice = np.random.default_rng(1)
    records = np.empty(count, RECORD)
    records["time"] = np.arange(count) * 1_000_000
    records["v"] = np.round(20 + np.cumsum(dice.normal(size=count)) * 0.01, 2)
    return records


def write_log(path, records, codec):
    with cairn.Log.create(path, RECORD, codec=codec) as log, log.writer(commit_records=BATCH) as writer:
        for begin in range(0, len(records), BATCH):
            writer.append(records[begin : begin + BATCH])


def write_table(path, records):
    with duckdb.connect(path) as table:
        columns = {name: records[name] for name in RECORD.names}  # DuckDB finds it by its name
        table.execute("create table t as select * from columns")


def ask(report, question, logs, table, where, rounds):
    condition = f" where {where}" if where else ""

    def theirs(threads, wanted):
        table.execute(f"set threads = {threads}")
        table.execute(f"select {wanted} from t{condition}").fetchall()

    contestants = {}
    if table is not None:
        contestants["DuckDB, a thread"] = lambda: theirs(1, SUMMARY)
        contestants["DuckDB, 2 threads"] = lambda: theirs(2, SUMMARY)
        contestants["DuckDB, a thread, sum alone"] = lambda: theirs(1, "sum(v)")
    for codec, log in logs.items():
        contestants[f"Cairn, {codec}"] = lambda log=log: log.aggregate(fields="v", where=where)
    for run in contestants.values():
        run()
    note(report, question, in_turns(contestants, rounds), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    args = parser.parse_args()
    records = make_records(args.records)
    report = results.Report("questions")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        logs = {}
        for codec in CODECS:
            write_log(f"{folder}/{codec}.b2frame", records, codec)
            logs[codec] = cairn.Log.open(f"{folder}/{codec}.b2frame")
        table = None
        if duckdb is not None:
            write_table(f"{folder}/duck.db", records)
            table = duckdb.connect(f"{folder}/duck.db", read_only=True)
        ask(report, "summary of a column", logs, table, None, args.rounds)
        ask(report, "summary of a column where v > 20", logs, table, "v > 20", args.rounds)
        for one in [*logs.values(), *([] if table is None else [table])]:
            one.close()
    print(tables.tables(report.data), end="")
    if args.json:
        results.save(args.json, report.data)


if __name__ == "__main__":
    main()
