#!/usr/bin/env python3
"""Times the package `cairn` beside python-blosc2, h5py, zarr and lmdb, those that are installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/compare.py [--items N] [--json FILE] [--chunks N]

Each stores the same float64 items, compressed in chunks of the same size (lmdb: as they are), and
answers the same questions, in the page cache and with one thread. What a peer has appended is handed
to the kernel after each append; "cairn, durable" also waits for the disk, which no peer does.
"""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402

CHUNK = 1 << 14  # items
APPEND = 1 << 10
QUESTIONS = {
    "open and read an item": ("us", 1e6),
    "read 100 items anywhere": ("us", 1e6),
    "append 1024 items": ("us", 1e6),
    "update 100 items anywhere": ("us", 1e6),
    "scan": ("GB/s", 1e-9),
}


class Cairn:
    """A plain frame: items that fill no chunk wait for more."""

    name = "cairn"
    durable = False

    def make(self, path, items):
        import cairn

        frame = cairn.create(path, None, items.dtype, chunksize=CHUNK * items.itemsize, codec="lz4")
        frame.append(items)

    def open(self, path):
        import cairn

        self.frame = cairn.open(path, "r+", dtype="<f8")
        self.writer = None

    def change(self):
        self.writer = self.frame.writer()

    def read(self, begin, end):
        return self.frame[begin:end]

    def append(self, items):
        self.writer.append(items)
        self.writer.commit(self.durable)

    def update(self, begin, items):
        self.writer[begin : begin + len(items)] = items
        self.writer.commit(self.durable)

    def close(self):
        if self.writer:
            self.writer.close()
        self.frame.close()


class CairnArray(Cairn):
    """An array, as python-blosc2's NDArray."""

    name = "cairn, array"

    def make(self, path, items):
        import cairn

        cairn.asarray(items, path, chunks=(CHUNK,), codec="lz4")


class CairnDurable(Cairn):
    name = "cairn, durable"
    durable = True


class Blosc2:
    name = "python-blosc2"

    def make(self, path, items):
        import blosc2

        blosc2.set_nthreads(1)
        cparams = {"codec": blosc2.Codec.LZ4, "clevel": 5, "nthreads": 1}
        blosc2.asarray(items, chunks=(CHUNK,), urlpath=path, mode="w", cparams=cparams)

    def open(self, path):
        import blosc2

        self.array = blosc2.open(path, mode="a")

    def change(self):
        pass

    def read(self, begin, end):
        return self.array[begin:end]

    def append(self, items):
        size = self.array.shape[0]
        self.array.resize((size + len(items),))
        self.array[size:] = items

    def update(self, begin, items):
        self.array[begin : begin + len(items)] = items

    def close(self):
        del self.array


class H5py(Blosc2):
    name = "h5py, gzip 1"

    def make(self, path, items):
        import h5py

        with h5py.File(path, "w") as file:
            file.create_dataset("a", data=items, chunks=(CHUNK,), maxshape=(None,), compression="gzip",
                                compression_opts=1, shuffle=True)  # fmt: skip

    def open(self, path):
        import h5py

        self.file = h5py.File(path, "r+")
        self.array = self.file["a"]

    def append(self, items):
        super().append(items)
        self.file.flush()

    def update(self, begin, items):
        super().update(begin, items)
        self.file.flush()

    def close(self):
        self.file.close()


class Zarr(Blosc2):
    name = "zarr"

    def make(self, path, items):
        import zarr

        array = zarr.create_array(store=path, shape=items.shape, chunks=(CHUNK,), dtype=items.dtype)
        array[:] = items

    def open(self, path):
        import zarr

        self.array = zarr.open_array(path, mode="r+")

    def append(self, items):
        self.array.append(items)


class Lmdb:
    """Values of CHUNK items under their numbers."""

    name = "lmdb, uncompressed"

    def make(self, path, items):
        self.open(path)
        for begin in range(0, len(items), CHUNK):
            self.update(begin, items[begin : begin + CHUNK])
        self.close()

    def open(self, path):
        import lmdb

        self.env = lmdb.open(path, map_size=1 << 36, subdir=False, sync=False)
        with self.env.begin() as transaction:
            last = transaction.stat()["entries"] - 1
            value = transaction.get(last.to_bytes(8, "big")) if last >= 0 else b""
        self.size = max(last, 0) * CHUNK + len(value) // 8

    def change(self):
        pass

    def read(self, begin, end):
        parts = []
        with self.env.begin(buffers=True) as transaction:
            for number in range(begin // CHUNK, (end - 1) // CHUNK + 1):
                first = number * CHUNK
                value = np.frombuffer(transaction.get(number.to_bytes(8, "big")), "<f8")
                parts.append(value[max(begin - first, 0) : end - first].copy())
        return np.concatenate(parts)

    def update(self, begin, items):
        with self.env.begin(write=True) as transaction:
            done = 0
            while done < len(items):
                number, offset = divmod(begin + done, CHUNK)
                count = min(CHUNK - offset, len(items) - done)
                key = number.to_bytes(8, "big")
                value = np.frombuffer(transaction.get(key, b""), "<f8")
                changed = np.empty(max(offset + count, len(value)))
                changed[: len(value)] = value
                changed[offset : offset + count] = items[done : done + count]
                transaction.put(key, changed.tobytes())
                done += count
        self.size = max(getattr(self, "size", 0), begin + len(items))

    def append(self, items):
        self.update(self.size, items)

    def close(self):
        self.env.close()


def seconds(call, times):
    """The median of so many calls."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def answer(contestant, path, items):
    """The seconds, or for the scan the bytes a second, for each question."""
    dice = random.Random(3)
    more, news = items[:APPEND].copy(), items[:100].copy()
    contestant.make(path, items)

    def open_and_read():
        contestant.open(path)
        contestant.read(len(items) // 2, len(items) // 2 + 1)

    def reopen():
        open_and_read()
        contestant.close()

    def read_anywhere():
        begin = dice.randrange(len(items) - 100)
        contestant.read(begin, begin + 100)

    def scan():
        for begin in range(0, len(items), 16 * CHUNK):
            contestant.read(begin, min(begin + 16 * CHUNK, len(items)))

    answers = {"open and read an item": seconds(reopen, 20)}
    contestant.open(path)
    answers["read 100 items anywhere"] = seconds(read_anywhere, 500)
    answers["scan"] = items.nbytes / seconds(scan, 3)
    contestant.change()
    answers["append 1024 items"] = seconds(lambda: contestant.append(more), 300)
    answers["update 100 items anywhere"] = seconds(
        lambda: contestant.update(dice.randrange(len(items) - 100), news), 200
    )
    contestant.close()
    contestant.open(path)
    total = len(items) + 300 * APPEND
    if not np.array_equal(contestant.read(total - APPEND, total), more):
        raise AssertionError(f"{contestant.name}: what was appended is not there")
    contestant.close()
    return answers


def many_chunks(count):
    """Times a frame of so many chunks of 16 items, and a copy of it by python-blosc2, in turns."""
    import blosc2
    import cairn

    item = np.zeros(16, "<i8")
    taken = {}

    def note(question, call, times):
        taken.setdefault(question, []).append(seconds(call, times))

    with tempfile.TemporaryDirectory(prefix="cairn-bench.") as folder:
        own, copy = os.path.join(folder, "own"), os.path.join(folder, "copy")
        with cairn.create(own, None, "<i8", chunksize=item.nbytes).writer() as writer:
            writer.append(np.arange(count * len(item)))
        shutil.copy(own, copy)
        for _ in range(5):
            note("open and read an item: cairn", lambda: cairn.open(own, dtype="<i8")[7], 5)
            note("open and read an item: python-blosc2", lambda: blosc2.open(copy, mode="r")[7], 5)
        peer = blosc2.open(copy, mode="a")
        with cairn.open(own, "r+", dtype="<i8").writer() as writer:

            def append(durable):
                writer.append(item)
                writer.commit(durable)

            for _ in range(5):
                note("append a chunk: cairn", lambda: append(False), 20)
                note("append a chunk: cairn, durable", lambda: append(True), 20)
                note("append a chunk: python-blosc2", lambda: peer.append_data(item), 5)
    for question, values in taken.items():
        print(f"{count} chunks, {question}: {statistics.median(values) * 1e6:.1f} µs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1 << 23, help="float64 items in each file (default: 2^23)")
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    parser.add_argument("--chunks", type=int, help="only open and append to a frame of so many small chunks")
    options = parser.parse_args()
    if options.chunks:
        return many_chunks(options.chunks)

    walk = np.random.default_rng(5).integers(-3, 4, options.items).cumsum()
    items = walk.astype("<f8") / 8
    reached = {}
    report = results.Report()
    for kind in (Cairn, CairnArray, CairnDurable, Blosc2, H5py, Zarr, Lmdb):
        folder = tempfile.mkdtemp(prefix="cairn-bench.")
        try:
            reached[kind.name] = answer(kind(), os.path.join(folder, "a.b2nd"), items)
        except ImportError as error:
            report.note(f"{kind.name}: skipped, {error}")
        finally:
            shutil.rmtree(folder)

    for question, (unit, factor) in QUESTIONS.items():
        better = "higher" if unit == "GB/s" else "lower"
        report.add(question, unit, better, {name: answers[question] * factor for name, answers in reached.items()})
    print(f"{items.nbytes / 1e6:.0f} MB\n\n{tables.tables(report.data)}", end="")
    if options.json:
        results.save(options.json, report.data)


if __name__ == "__main__":
    main()
