#!/usr/bin/env python3
"""Times the codecs pco, bitpack and auto beside PyPI's pcodec, and zstd with shuffle, on columns of numbers.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/number_codecs.py [--numbers N] [--json FILE]

Cairn makes an array in memory with one thread. pcodec codes each block of an array apart, as Cairn does.
All contestants of a question take turns in each round; a figure is the median of the rounds, and a ratio
is the median of the ratios within a round. `cairn-bench numbers` compares chunks with other codecs.
Records {int64 time, float64 of two decimals} are also read one by one, 1,000 anywhere, and as a whole,
beside PyPI's vortex-data, where that is installed, and its form "compact", which has pco inside.
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
from turns import in_turns, note  # noqa: E402

try:
    from pcodec import ChunkConfig, standalone
except ImportError:
    standalone = None

try:
    import pyarrow
    import vortex
except ImportError:
    vortex = None

CODECS = ("auto", "bitpack", "pco", "zstd", "lz4")


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


class Frame:
    """Records in an array of a file of Cairn's."""

    def __init__(self, path, records, codec):
        self.path = path
        self.frame = cairn.asarray(records, path, codec=codec)
        self.size = self.frame.info.cbytes

    def rows(self, rows):
        return self.frame[rows]

    def row(self, row):
        return self.frame[row]

    def open_row(self, row):
        with cairn.open(self.path) as frame:
            return frame[row]

    def all(self):
        return self.frame[:]


class VortexFile:
    """Records in a file of Vortex, a column for each field, read as tables of Arrow."""

    def __init__(self, path, records, options):
        self.path = path
        options.write(pyarrow.table({name: records[name] for name in records.dtype.names}), path)
        self.file = self.open()
        self.size = os.path.getsize(path)

    def open(self):
        return vortex.open(self.path, memory_map=True)

    def rows(self, rows):
        return read(self.file, rows)

    def row(self, row):
        return read(self.file, np.array([row]))

    def open_row(self, row):
        return read(self.open(), np.array([row]))

    def all(self):
        return read(self.file)


def read(file, rows=None):
    """Reads rows, or all of them, of a file of Vortex."""
    indices = None if rows is None else vortex.array(pyarrow.array(rows))
    return file.scan(indices=indices).to_arrow().read_all()


def stores(folder, records):
    """The same records by each codec, and in files of Vortex, which is told to use one thread."""
    made = {codec: Frame(f"{folder}/{codec}.b2nd", records, codec) for codec in CODECS}
    if vortex is not None:
        vortex.set_worker_threads(0)  # what is left is the thread that asks
        options = vortex.io.VortexWriteOptions
        made["Vortex"] = VortexFile(f"{folder}/vortex", records, options.default())
        made["Vortex, compact"] = VortexFile(f"{folder}/compact", records, options.compact())
    return made


def compare_reads(report, records, rounds):
    dice = np.random.default_rng(2)
    # Vortex wants rows in their order.
    sets = [np.sort(dice.choice(len(records), 1000, replace=False)) for _ in range(rounds)]
    where = f"{len(records):,} records"
    with tempfile.TemporaryDirectory() as folder:
        made = stores(folder, records)
        for store in made.values():
            assert (np.asarray(store.rows(sets[0])["value"]) == records[sets[0]]["value"]).all()
        report.add(f"{where}: ratio", "x", "higher", {name: records.nbytes / one.size for name, one in made.items()})

        def each(call):
            return lambda rows: [call(int(row)) for row in rows[::20]]

        questions = {
            "1,000 records anywhere": (1, lambda store: store.rows),
            "a record": (50, lambda store: each(store.row)),
            "open, and a record": (50, lambda store: each(store.open_row)),
            "all records": (1, lambda store: lambda _: store.all()),
        }
        for question, (operations, call_of) in questions.items():
            contestants = {name: over(call_of(store), sets) for name, store in made.items()}
            note(report, f"{where}: {question}", in_turns(contestants, rounds), operations)


def over(call, sets):
    """Calls with the next set of rows each time."""
    following = iter(sets)
    return lambda: call(next(following))


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
    if vortex is None:
        report.note("vortex-data: not installed, skipped")
    for name, numbers in columns(args.numbers).items():
        for block in (1 << 13, 1 << 17):
            compare(report, name, numbers, block, args.rounds)
    compare_reads(report, series(args.records), args.rounds)
    print(tables.tables(report.data), end="")
    if args.json:
        results.save(args.json, report.data)


if __name__ == "__main__":
    main()
