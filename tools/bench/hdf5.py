#!/usr/bin/env python3
"""Compares the HDF5 plugin with hdf5plugin: the same data, written and read with h5py.

    build-peer/bin/python tools/bench/hdf5.py BUILD/tools/hdf5 [FOLDER]

Prints a table in Markdown: the best of some runs in FOLDER, by default that for temporary files. Both
use one thread.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

RUNS = 5
SHAPE = (2048, 4096)  # of 4-byte integers: 32 MiB
CHUNKS = [(16, 64), (256, 512), (1024, 2048)]
CODECS = {"blosclz": 0, "lz4": 1, "zlib": 4, "zstd": 5}

# One program a plugin, for a process has one of a number.
MEASURE = f"""
import json, os, sys, time
if sys.argv[1] == "hdf5plugin":
    import hdf5plugin
import h5py
import numpy as np

assert h5py.h5z.filter_avail(32026)
noise = np.random.default_rng(1).normal(0, 1, {SHAPE})
array = (np.cumsum(noise, 1) * 100).astype("<i4")
results = []
for chunks in {CHUNKS}:
    for codec in {list(CODECS.values())}:
        writes, reads = [], []
        for _ in range({RUNS}):
            begin = time.perf_counter()
            with h5py.File(sys.argv[2], "w") as file:
                made = file.create_dataset("a", data=array, chunks=chunks, compression=32026,
                                           compression_opts=(0, 0, 0, 0, 5, 1, codec))
                size = made.id.get_storage_size()
            writes.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            with h5py.File(sys.argv[2]) as file:
                read = file["a"][()]
            reads.append(time.perf_counter() - begin)
            assert (read == array).all()
        results.append((array.nbytes / min(writes) / 2**20, array.nbytes / min(reads) / 2**20, size))
print(json.dumps(results))
"""


def measure(plugin, folder, path):
    env = dict(os.environ, HDF5_PLUGIN_PATH=folder)
    command = [sys.executable, "-c", MEASURE, plugin, path]
    return json.loads(subprocess.run(command, env=env, capture_output=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("plugin")
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = os.path.join(folder, "bench.h5")
        mine = measure("cairn", os.path.abspath(options.plugin), path)
        theirs = measure("hdf5plugin", folder, path)
    print("| chunk | codec | write, MiB/s | hdf5plugin | read, MiB/s | hdf5plugin | size, MiB | hdf5plugin |")
    print("|---|---|---|---|---|---|---|---|")
    cases = [(chunk, codec) for chunk in CHUNKS for codec in CODECS]
    for ((rows, columns), codec), ours, peers in zip(cases, mine, theirs):
        cells = [f"{rows} x {columns}", codec]
        cells += [f"{ours[0]:.0f}", f"{peers[0]:.0f}", f"{ours[1]:.0f}", f"{peers[1]:.0f}"]
        cells += [f"{ours[2] / 2**20:.1f}", f"{peers[2] / 2**20:.1f}"]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
