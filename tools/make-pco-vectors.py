#!/usr/bin/env python3
"""Writes tests/vectors/pco: streams of PyPI's pcodec, each mode with each delta encoding, and list.txt.

    python3 tools/make-pco-vectors.py tests/vectors/pco

Needs numpy, pcodec and xxhash. A line of list.txt has the name of a file, the kind and size of its numbers, how many
there are, and XXH3 of their bytes.
"""

import os
import sys

import numpy as np
import xxhash
from pcodec import ChunkConfig, DeltaSpec, ModeSpec, standalone

COUNT = 300
MODES = {
    "classic": ModeSpec.classic(),
    "intmult": ModeSpec.try_int_mult(7),
    "floatmult": ModeSpec.try_float_mult(0.01),
    "floatquant": ModeSpec.try_float_quant(4),
    "dict": ModeSpec.try_dict(),
}
DELTAS = {
    "none": DeltaSpec.no_op(),
    "first": DeltaSpec.try_consecutive(1),
    "seventh": DeltaSpec.try_consecutive(7),
    "lookback": DeltaSpec.try_lookback(),
    "conv": DeltaSpec.try_conv1(3),
}


def numbers(dtype):
    rng = np.random.default_rng(np.dtype(dtype).num)
    walk = np.cumsum(rng.normal(0, 3, COUNT))
    if dtype[0] == "f":
        values = np.round(walk, 2).astype(dtype)
        values[200:206] = [np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny, np.finfo(dtype).max]
    else:
        values = ((np.abs(walk) if dtype[0] == "u" else walk) * 7).astype(dtype)
        values[200:202] = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    return values


def main(folder):
    os.makedirs(folder, exist_ok=True)
    lines = []
    for dtype in ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]:
        values = numbers(dtype)
        for mode, mode_spec in MODES.items():
            for delta, delta_spec in DELTAS.items():
                if mode.startswith("float") != (dtype[0] == "f") and mode in ["intmult", "floatmult", "floatquant"]:
                    continue
                config = ChunkConfig(mode_spec=mode_spec, delta_spec=delta_spec, enable_8_bit=True)
                try:
                    stream = standalone.simple_compress(values, config)
                except RuntimeError as error:
                    print(f"{dtype} {mode} {delta}: {error}", file=sys.stderr)
                    continue
                name = f"{dtype}-{mode}-{delta}.pco"
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(stream)
                lines.append(f"{name} {dtype[0]} {dtype[1]} {len(values)} {xxhash.xxh3_64_hexdigest(values.tobytes())}")
    with open(os.path.join(folder, "list.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
