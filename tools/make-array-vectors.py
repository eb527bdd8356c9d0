#!/usr/bin/env python3
"""Writes the golden vectors of the codecs for arrays, NDLZ and ZFP, with python-blosc2, and adds them
to the manifest.

    build-peer/bin/python tools/make-array-vectors.py CAIRN [tests/vectors]

Needs xxhsum. The hashes are of what python-blosc2 reads.
"""

import argparse
import json
import pathlib
import subprocess

import blosc2
import numpy as np

Codec = blosc2.Codec
NAMES = {Codec.NDLZ: "ndlz", Codec.ZFP_ACC: "zfp_acc", Codec.ZFP_PREC: "zfp_prec", Codec.ZFP_RATE: "zfp_rate"}
# File, codec, its parameter, type, shape, shape of chunks, shape of blocks.
VECTORS = [
    ("nd2-ndlz4-u1", Codec.NDLZ, 4, "|u1", (50, 41), (32, 30), (16, 15)),
    ("nd2-ndlz8-i4", Codec.NDLZ, 8, "<i4", (40, 33), (40, 24), (19, 24)),
    ("nd1-zfp-acc-f4", Codec.ZFP_ACC, -3 & 0xFF, "<f4", (700,), (300,), (70,)),
    ("nd2-zfp-prec-f8", Codec.ZFP_PREC, 20, "<f8", (30, 25), (20, 25), (10, 9)),
    ("nd3-zfp-rate-f4", Codec.ZFP_RATE, 30, "<f4", (12, 11, 10), (8, 11, 10), (4, 6, 5)),
    ("nd4-zfp-acc-f8", Codec.ZFP_ACC, 0, "<f8", (6, 7, 8, 5), (6, 4, 8, 5), (4, 4, 4, 5)),
]


def items(codec, dtype, shape):
    sums = np.indices(shape).sum(0)
    if codec != Codec.NDLZ:
        return (100 * np.sin(sums * 0.05)).astype(dtype)
    # Cells that repeat others, runs, rows that repeat others, and literal ones.
    rows, columns = np.indices(shape)
    noise = np.random.default_rng(5).integers(0, 256, shape)
    kinds = [noise, noise[rows % 8, columns % 8], noise[rows % 3, columns], 7 + 0 * noise]
    return np.choose((rows // 8 + columns // 16) % 4, kinds).astype(dtype)


def xxh128(content):
    return subprocess.run(["xxhsum", "-H2"], input=content, capture_output=True, check=True).stdout.split()[0].decode()


def make(tool, folder, name, codec, meta, dtype, shape, chunks, blocks):
    path = folder / "cframes" / f"{name}.b2nd"
    path.unlink(missing_ok=True)
    lossy = codec != Codec.NDLZ
    cparams = {"codec": codec, "codec_meta": meta, "clevel": 5, "nthreads": 1, "filters": [], "filters_meta": []}
    if not lossy and np.dtype(dtype).itemsize > 1:
        cparams |= {"filters": [blosc2.Filter.NOFILTER] * 5 + [blosc2.Filter.SHUFFLE], "filters_meta": [0] * 6}
    cparams["splitmode"] = blosc2.SplitMode.NEVER_SPLIT if lossy else blosc2.SplitMode.ALWAYS_SPLIT
    blosc2.asarray(
        items(codec, dtype, shape), chunks=chunks, blocks=blocks, cparams=cparams, urlpath=str(path), mode="w"
    )
    frame = blosc2.open(str(path), mode="r")
    info = json.loads(subprocess.run([tool, "info", "--json", path], capture_output=True, check=True).stdout)
    content = b"".join(frame.schunk.decompress_chunk(i) for i in range(frame.schunk.nchunks))
    return {
        "path": f"cframes/{name}.b2nd",
        "kind": "cframe",
        "class": "b2nd",
        "producer": f"c-blosc2 {blosc2.blosclib_version.split()[0]}",
        "codec": NAMES[codec],
        "clevel": 5,
        "use_dict": False,
        "splitmode": cparams["splitmode"].value,
        "typesize": np.dtype(dtype).itemsize,
        "nchunks": frame.schunk.nchunks,
        "nbytes": len(content),
        "content_xxh128": xxh128(content),
        "lossy": lossy,
        "metalayers": info["metalayers"],
        "vlmetalayers": {},
        "b2nd": {
            "ndim": frame.ndim,
            "dtype": dtype,
            "shape": list(shape),
            "chunkshape": list(chunks),
            "blockshape": list(blocks),
            "array_xxh128": xxh128(frame[:].tobytes()),
        },
        "notes": "",
        "chunksize": frame.schunk.chunksize,
        "blocksize": frame.schunk.blocksize,
        "frame_len": path.stat().st_size,
        "header_len": info["header_len"],
        "frame_version": info["format_version"],
        "filters": [[1, 0]] if cparams["filters"] else [],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("target", type=pathlib.Path, nargs="?", default="tests/vectors")
    options = parser.parse_args()
    manifest = options.target / "manifest.json"
    made = [make(options.tool, options.target, *vector) for vector in VECTORS]
    paths = {entry["path"] for entry in made}
    kept = [entry for entry in json.loads(manifest.read_text()) if entry["path"] not in paths]
    lines = ",\n".join(json.dumps(entry) for entry in kept + made)
    manifest.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
