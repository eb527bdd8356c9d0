#!/usr/bin/env python3
"""Times reads of random rows: all at once, in a loop, and beside python-blosc2, where that is installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/gathers.py [--rows N] [--only TEXT] [--json FILE]

The rows are {time i64, value f64}, a clock with jitter and a random walk, in chunks of 65,536. The limit:
each block that holds a wanted row is decoded once, and nothing is taken from it. All contestants of a
question take turns in each round; a figure is the median of the rounds, and a ratio is the median of the
ratios within a round.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np

import cairn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402
from turns import in_turns, note  # noqa: E402

try:
    import blosc2
except ImportError:
    blosc2 = None

CHUNK = 1 << 16  # rows
WANTED = 1000
ROW = np.dtype([("time", "<i8"), ("value", "<f8")])


def make_rows(count):
    dice = np.random.default_rng(39)
    rows = np.empty(count, ROW)
    rows["time"] = 1_700_000_000_000_000 + np.arange(count) * 1_000_000 + dice.integers(0, 1000, count)
    rows["value"] = np.cumsum(dice.normal(size=count))
    return rows


def decode_blocks(frame, rows):
    """The floor: the blocks that hold the rows, one after the other."""
    view = frame._view()
    step = view.blocks[0]
    block = np.empty(step * ROW.itemsize, np.uint8)
    for number in np.unique(rows // step).tolist():
        view.engine.read_bytes(number * block.size, block)


def read_each(frame, rows):
    for row in rows.tolist():
        frame[row]


def gathers(report, question, path, plain, rows, rounds):
    dice = np.random.default_rng(7)
    wanted = dice.integers(0, len(rows), WANTED)
    mask = np.zeros(len(rows), bool)
    mask[wanted] = True
    frame, flat = cairn.open(path), cairn.open(plain, dtype=ROW)
    assert (frame[wanted] == rows[wanted]).all() and (flat[wanted] == rows[wanted]).all()
    contestants = {
        "limit: its blocks": lambda: decode_blocks(flat, wanted),
        "Cairn, f[rows]": lambda: frame[wanted],
        "Cairn, f[rows], plain frame": lambda: flat[wanted],
        "Cairn, f[mask]": lambda: frame[mask],
        "Cairn, a loop": lambda: read_each(frame, wanted),
    }
    if blosc2 is not None:
        peer = blosc2.open(path)
        contestants["python-blosc2"] = lambda: peer[wanted]
    note(report, question, in_turns(contestants, rounds), 1)


def single_rows(report, question, path, count, rounds):
    """Rows of blocks that no read has met before, each of which the floor decodes as a whole."""
    dice = np.random.default_rng(8)
    few = dice.integers(0, count, 200)
    frame = cairn.open(path)
    read_each(frame, np.arange(0, count, CHUNK))  # fingerprints
    contestants = {
        "limit: its block": lambda: [decode_blocks(frame, few[i : i + 1]) for i in range(len(few))],
        "Cairn, f[row]": lambda: read_each(frame, few),
    }
    if blosc2 is not None:
        peer = blosc2.open(path)
        contestants["python-blosc2"] = lambda: read_each(peer, few)
    note(report, question, in_turns(contestants, rounds), len(few))


def open_and_read(report, question, path, rounds):
    def ours():
        for row in range(0, 50_000, 1000):
            cairn.open(path)[row]

    def theirs():
        for row in range(0, 50_000, 1000):
            blosc2.open(path, mode="r")[row]

    if blosc2 is not None:
        note(report, question, in_turns({"python-blosc2": theirs, "Cairn": ours}, rounds), 50)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="questions that contain this text")
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    args = parser.parse_args()
    rows = make_rows(args.rows)
    report = results.Report("questions")
    if blosc2 is not None:
        blosc2.set_nthreads(1)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for codec in ("zstd", "lz4"):
            for block in (512, 4096):
                name = f"{codec}, blocks of {block} rows"
                path, plain = f"{folder}/{codec}-{block}.b2nd", f"{folder}/{codec}-{block}.b2frame"
                if args.only not in name:
                    continue
                cairn.asarray(rows, path, chunks=CHUNK, blocks=block, codec=codec).close()
                size = {"chunksize": CHUNK * ROW.itemsize, "blocksize": block * ROW.itemsize}
                with cairn.create(plain, None, ROW, codec=codec, **size) as frame:
                    frame.append(rows)
                gathers(report, f"{WANTED} rows, {name}", path, plain, rows, args.rounds)
                single_rows(report, f"a row, {name}", path, len(rows), args.rounds)
                open_and_read(report, f"open and a row, {name}", path, args.rounds)
                if blosc2 is not None:
                    theirs = f"{folder}/theirs.b2nd"
                    cparams = {"codec": blosc2.Codec[codec.upper()], "clevel": 5, "nthreads": 1}
                    blosc2.asarray(
                        rows, chunks=(CHUNK,), blocks=(block,), urlpath=theirs, mode="w", cparams=cparams
                    )
                    open_and_read(report, f"open and a row of its file, {name}", theirs, args.rounds)
    print(tables.tables(report.data), end="")
    if args.json:
        results.save(args.json, report.data)


if __name__ == "__main__":
    main()
