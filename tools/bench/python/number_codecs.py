#!/usr/bin/env python3
"""Times the codecs pco, bitpack and auto beside PyPI's pcodec, and zstd with shuffle, on columns of numbers.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/number_codecs.py [--numbers N] [--json FILE]

Cairn makes an array in memory with one thread. pcodec codes each block of an array apart, as Cairn does.
All contestants of a question take turns in each round; a figure is the median of the rounds, and a ratio
is the median of the ratios within a round. `cairn-bench numbers` compares chunks with other codecs.
Records {int64 time, float64 of two decimals} are also read one by one, 1,000 anywhere, and as a whole.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

import numpy as np

import cairn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402

try:
    from pcodec import ChunkConfig, standalone
except ImportError:
    standalone = None


def columns(count):
    dice = np.random.default_rng(43)
    walk = np.cumsum(dice.normal(size=count))
    return {
        "decimals": np.round(walk, 2),
        "walk": walk,
        "single": np.round(walk, 1).astype("f4"),
        "times": 1_700_000_000_000_000 + np.cumsum(1_000_000 + dice.integers(-500, 500, count)),
        "counter": np.cumsum(dice.integers(0, 1000, count)).astype("u8"),
        "level": np.cumsum(np.round(5 * dice.normal(size=count))).astype("i4"),
        "ids": (50_000 * dice.random(count) ** 3).astype("u4"),
    }


class Ours:
    def __init__(self, codec, filters, numbers, block):
        self.how = {"codec": codec, "filters": filters, "chunks": len(numbers), "blocks": block}
        self.numbers = numbers
        self.code()
        self.size = self.frame.info.cbytes

    def code(self):
        self.frame = cairn.asarray(self.numbers, **self.how)

    def decode(self):
        return self.frame[:]


class Theirs:
    def __init__(self, numbers, block):
        self.numbers = numbers
        self.block = block
        self.code()
        self.size = sum(map(len, self.coded))

    def blocks(self, numbers):
        return [numbers[at : at + self.block] for at in range(0, len(numbers), self.block)]

    def code(self):
        self.coded = [standalone.simple_compress(block, ChunkConfig()) for block in self.blocks(self.numbers)]

    def decode(self):
        decoded = np.empty_like(self.numbers)  # new memory, as a frame returns
        for coded, block in zip(self.coded, self.blocks(decoded)):
            standalone.simple_decompress_into(coded, block)
        return decoded


def compare(report, name, numbers, block, rounds):
    contestants = {
        "pco": Ours("pco", [], numbers, block),
        "bitpack": Ours("bitpack", [], numbers, block),
        "auto": Ours("auto", [], numbers, block),
        "zstd + shuffle": Ours("zstd", ["shuffle"], numbers, block),
    }
    if standalone is not None:
        contestants["pcodec"] = Theirs(numbers, block)
    where = f"{name}, blocks of {block:,}"
    report.add(f"{where}: ratio", "x", "higher", {key: numbers.nbytes / one.size for key, one in contestants.items()})
    for verb in ("code", "decode"):
        times = {key: [] for key in contestants}
        for _ in range(rounds):
            for key, one in contestants.items():
                begin = time.perf_counter()
                back = getattr(one, verb)()
                times[key].append(time.perf_counter() - begin)
                assert verb == "code" or (back == numbers).all()
        scores = {
            key: {
                "value": numbers.nbytes / statistics.median(taken) / 1e9,
                "ratio": statistics.median(one / first for one, first in zip(taken, times["pco"])),
            }
            for key, taken in times.items()
        }
        report.add(f"{where}: {verb}", "GB/s", "higher", scores)


def series(count):
    """Records as a logger writes them: times with jitter, and values of two decimals."""
    dice = np.random.default_rng(1)
    records = np.zeros(count, [("time", "i8"), ("value", "f8")])
    records["time"] = 1_700_000_000_000_000_000 + np.cumsum(1_000_000 + dice.integers(-50_000, 50_000, count))
    records["value"] = np.round(np.cumsum(dice.normal(size=count)), 2)
    return records


def median_time(call, times):
    """The median time of call(0), call(1) and so on, in seconds."""
    taken = []
    for i in range(times):
        begin = time.perf_counter()
        call(i)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def compare_reads(report, records, rounds):
    dice = np.random.default_rng(2)
    sets = dice.integers(0, len(records), (rounds * 3, 1000))
    with tempfile.TemporaryDirectory() as folder:
        frames = {}
        for codec in ("auto", "bitpack", "pco", "zstd", "lz4"):
            frames[codec] = cairn.asarray(records, f"{folder}/{codec}.b2nd", codec=codec)
            assert (frames[codec][sets[0]] == records[sets[0]]).all()

        def open_and_read(codec, i):
            with cairn.open(f"{folder}/{codec}.b2nd") as frame:
                return frame[int(sets[0][i])]

        questions = [
            ("1,000 records anywhere", "ms", 1e3, rounds * 3, lambda codec, i: frames[codec][sets[i]]),
            ("a record", "us", 1e6, 1000, lambda codec, i: frames[codec][int(sets[0][i])]),
            ("open, and a record", "us", 1e6, 200, open_and_read),
            ("all records", "ms", 1e3, rounds, lambda codec, i: frames[codec][:]),
        ]
        where = f"{len(records):,} records"
        ratios = {codec: records.nbytes / frame.info.cbytes for codec, frame in frames.items()}
        report.add(f"{where}: ratio", "x", "higher", ratios)
        for question, unit, factor, times, call in questions:
            scores = {codec: median_time(lambda i: call(codec, i), times) * factor for codec in frames}
            report.add(f"{where}: {question}", unit, "lower", scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numbers", type=int, default=1 << 18)
    parser.add_argument("--records", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    args = parser.parse_args()
    report = results.Report("questions")
    if standalone is None:
        report.note("pcodec: not installed, skipped")
    for name, numbers in columns(args.numbers).items():
        for block in (1 << 13, 1 << 17):
            compare(report, name, numbers, block, args.rounds)
    compare_reads(report, series(args.records), args.rounds)
    print(tables.tables(report.data), end="")
    if args.json:
        results.save(args.json, report.data)


if __name__ == "__main__":
    main()
