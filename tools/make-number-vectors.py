#!/usr/bin/env python3
"""Writes tests/vectors/bitpack or tests/vectors/auto: streams of this codec, and list.txt.

    PYTHONPATH=BUILD/tools/python python3 tools/make-number-vectors.py tests/vectors/bitpack

Needs numpy, xxhash and Cairn. A line of list.txt has the name of a file, the bytes that the stream decodes to, and
XXH3 of these. The streams of bitpack are of integers, bits of floats and decimals, with and without deltas and
exceptions, and of records; those of auto are of columns that are coded in each way.
"""

import os
import struct
import sys

import cairn
import numpy as np
import xxhash

COUNT = 1200  # a whole vector, and a part of one


def samples():
    rng = np.random.default_rng(228)
    steps = rng.integers(-20, 40, COUNT)
    for dtype in ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"]:
        least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
        yield f"{dtype}-range", rng.integers(greatest // 3, greatest // 2, COUNT, dtype=dtype)
        yield f"{dtype}-walk", (np.cumsum(steps) + least // 2).astype(dtype)
        yield f"{dtype}-exceptions", np.where(np.arange(COUNT) % 80 == 9, least, 5 + steps % 8).astype(dtype)
    for dtype in ["f2", "f4", "f8"]:
        yield f"{dtype}-bits", (1 + rng.random(COUNT) / 1000).astype(dtype)
        yield f"{dtype}-divided", (rng.integers(-5000, 5000, COUNT) / 100).astype(dtype)
        yield f"{dtype}-multiplied", (rng.integers(0, 500, COUNT) * np.dtype(dtype).type(0.1)).astype(dtype)
        yield f"{dtype}-walk", np.round(np.cumsum(rng.normal(size=COUNT)), 1).astype(dtype)
        mixed = (rng.integers(0, 500, COUNT) / 10).astype(dtype)
        mixed[::150] = [np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny, np.finfo(dtype).max, np.nan, 5]
        yield f"{dtype}-exceptions", mixed
    records = np.zeros(COUNT, [("time", "M8[us]"), ("value", "f8"), ("name", "S5"), ("at", "f4", 9), ("on", "?")])
    records["time"] = np.datetime64("2026-01-01", "us") + np.cumsum(1000 + steps)
    records["value"] = np.round(np.cumsum(steps) / 7, 2)
    records["name"] = rng.choice([b"north", b"south"], COUNT)
    records["at"] = np.round(rng.random((COUNT, 9)), 1)
    records["on"] = steps > 30
    yield "records", records


def samples_of_auto():
    rng = np.random.default_rng(229)
    noise = rng.integers(0, 256, 200, dtype="u1").tobytes()
    words = [b"Rotterdam", b"Valparaiso", b"Antwerp"]
    levels = np.repeat([3, 700000, 80, 1999], COUNT // 4)
    columns = {
        "pco": (50 * rng.exponential(3, COUNT) ** 2).astype("i8"),
        "bitpack": np.round(rng.random(COUNT) * 50, 1),
        "zstd": rng.choice(words, COUNT).astype("S12"),
        "lz4": np.frombuffer(noise * (COUNT * 4 // 200), "<i4"),
        "levels": levels.astype("i4"),
        "bytes": np.frombuffer(noise * (COUNT * 5 // 200), "V5"),
        # Records of which nobody says what they are:
        "counters": np.cumsum(rng.integers(90, 92, (COUNT, 3)), axis=0).astype("<i4").view("V12").ravel(),
        "shuffled": np.outer(np.arange(COUNT) // 3, [1, 2]).astype("<i8").view("V16").ravel(),
    }
    for name, column in columns.items():
        yield name, column
    records = np.zeros(COUNT, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        records[name] = column
    yield "records", records


def stream_of(codec, values):
    """The stream of a chunk of one block, or nothing if it is stored as it is."""
    chunk = cairn.asarray(values, codec=codec, chunks=COUNT, blocks=COUNT).chunk(0)
    if len(chunk) >= values.nbytes:
        return None
    (start,) = struct.unpack_from("<i", chunk, 32)
    (size,) = struct.unpack_from("<i", chunk, start)
    return chunk[start + 4 : start + 4 + size]


def main(folder):
    os.makedirs(folder, exist_ok=True)
    codec = os.path.basename(os.path.normpath(folder))
    lines = []
    for name, values in samples_of_auto() if codec == "auto" else samples():
        stream = stream_of(codec, values)
        if stream is None:
            continue
        with open(os.path.join(folder, f"{name}.stream"), "wb") as file:
            file.write(stream)
        lines.append(f"{name}.stream {values.nbytes} {xxhash.xxh3_64_hexdigest(values.tobytes())}")
    with open(os.path.join(folder, "list.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
