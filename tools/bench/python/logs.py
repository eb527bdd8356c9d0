#!/usr/bin/env python3
"""Times a log of Cairn beside other stores of time-series, those that are installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/logs.py [--records N] [--decimals N] [--json FILE]
    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/logs.py --data tools/bench/data/machine.b2frame

All hold the same year of records {time, 4 float64}, which a sensor walk gives, or those of a log; are
written 1,000 at a time and handed to the kernel each time, and are asked in the page cache. Parquet,
which takes no records once it is written, gets row groups of 100,000. Each question is asked of all of
them in turns.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time

import numpy as np

from log_data import BATCH, DAY, real_metrics, sensor_walk
from log_stores import EVERYONE, Cairn, Parquet

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402

QUESTIONS = {
    "take in": ("million records/s", 1e-6, "higher"),
    "size": ("bytes a record", 1, "lower"),
    "size without unused space": ("bytes a record", 1, "lower"),
    "1,000 records of a time": ("us", 1e6, "lower"),
    "one field": ("GB/s", 1e-9, "higher"),
    "means": ("ms", 1e3, "lower"),
}


def tree_size(path):
    if not os.path.isdir(path):
        return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def seconds(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def compare(contestants, data, folder, rounds):
    """For each contestant and question what it reached: the median of the rounds."""
    records = data.records
    taken = {one.name: {} for one in contestants}
    dice = random.Random(2)

    def note(contestant, question, value):
        taken[contestant.name].setdefault(question, []).append(value)

    for one in contestants:
        one.path = os.path.join(folder, one.name)
        spent, _ = seconds(lambda: one.write(one.path, records))
        note(one, "take in", len(records) / spent)
        size = tree_size(one.path)
        note(one, "size", size / len(records))
        if isinstance(one, Cairn):
            note(one, "size without unused space", one.smallest() / len(records))
        one.open(one.path)
    for number in range(rounds):
        starts = [dice.randrange(len(records) - BATCH) for _ in range(100)]
        for one in contestants:
            for at in starts[: 5 if isinstance(one, Parquet) else None]:
                begin, end = records["time"][at], records["time"][at + BATCH]
                spent, found = seconds(lambda: one.range(begin, end))
                if found != BATCH:
                    raise AssertionError(f"{one.name}: found {found} records of {BATCH}")
                note(one, "1,000 records of a time", spent)
            spent, values = seconds(one.scan)
            note(one, "one field", data.record[data.scanned].itemsize * len(records) / spent)
            if number == 0 and not np.array_equal(values.astype(data.record[data.scanned]), records[data.scanned]):
                raise AssertionError(f"{one.name}: other values")
            spent, buckets = seconds(one.means)
            note(one, "means", spent)
            if buckets != data.buckets:
                raise AssertionError(f"{one.name}: {buckets} buckets")
    for one in contestants:
        one.close()
    return {name: {question: statistics.median(all_of_it) for question, all_of_it in answers.items()}
            for name, answers in taken.items()}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000, help="in each store (default: 1,000,000)")
    parser.add_argument("--data", metavar="LOG", help="the records of this log instead")
    parser.add_argument("--decimals", type=int, help="round the values to so many")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    options = parser.parse_args()

    report = results.Report()
    for kind in EVERYONE:
        if not kind.is_there():
            report.note(f"{kind.name}: not found, skipped")
    data = real_metrics(options.data) if options.data else sensor_walk(options.records, options.decimals)
    contestants = [kind(data) for kind in EVERYONE if kind.is_there()]
    with tempfile.TemporaryDirectory(prefix="cairn-bench.") as folder:
        reached = compare(contestants, data, folder, options.rounds)
    for question, (unit, factor, better) in QUESTIONS.items():
        scores = {name: answers[question] * factor for name, answers in reached.items() if question in answers}
        title = f"means by {'day' if data.bucket == DAY else 'minute'}" if question == "means" else question
        report.add(title, unit, better, scores)
    print(tables.tables(report.data), end="")
    if options.json:
        results.save(options.json, report.data)


if __name__ == "__main__":
    main()
