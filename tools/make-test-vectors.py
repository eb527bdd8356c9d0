#!/usr/bin/env python3
"""Picks the golden vectors that stand in tests/vectors out of a full set.

    tools/make-test-vectors.py FULL_SET [tests/vectors]

For every trait that a vector can have (producer, codec, filters, type size, special values, …) the
smallest file that shows it is kept, all hostile files are, and so is every small frame of the
current format. Old files in the target stay. The manifest is written again, with the entries that
tools/make-array-vectors.py added.
"""

import argparse
import collections
import json
import pathlib
import shutil

LARGEST_FRAME = 12_000  # of those kept for themselves alone, bytes
ARRAY_CODECS = ("ndlz", "zfp_acc", "zfp_prec", "zfp_rate")


def chunk_traits(entry):
    """The things that only this chunk and its likes show."""
    filters = json.dumps(entry.get("filters"))
    codec = entry.get("codec")
    family = (entry["path"].rsplit("/", 1)[0], entry["class"])
    if entry["class"] in ("threads", "large", "b1compat"):
        yield family + (codec if entry["class"] == "threads" else None,)
        return
    yield family + (codec, filters, entry.get("memcpyed"))
    if entry["path"].startswith("old/"):
        return
    yield family + ("typesize", entry.get("typesize_req"), entry.get("extended_header"))
    yield family + ("split", entry.get("splitmode"), entry.get("split"))
    yield family + ("flags", entry.get("chunk_version"), entry.get("blosc2_flags"), codec)
    if entry["class"] in ("tiny", "special", "refbug"):
        yield (entry["path"],)


def frame_traits(entry):
    kinds = json.dumps(sorted({kind for kind, _ in entry.get("specials") or []}))
    family = (entry["producer"], entry["class"])
    yield family + (kinds,)
    yield family + ("offset", entry.get("offset"))
    yield family + ("filters", json.dumps(entry.get("filters")))
    if entry["class"] in ("old-frame", "packed"):
        layers = ("metalayers", "usermeta", "packed_metadata", "packed_userdata")
        yield family + tuple(bool(entry.get(key)) for key in layers) + (entry["nchunks"] == 0,)
        yield family + (entry.get("expect"), entry.get("use_dict"))
        yield family + (entry["class"] == "packed" and entry["codec"],)
    if entry["class"] == "dict":
        yield family + ("codec", entry.get("codec"))


def size_of(path):
    if path.is_dir():
        return sum(size_of(file) for file in path.iterdir())
    return path.stat().st_size


def choose(entries, size):
    chosen = {}
    by_trait = collections.defaultdict(list)
    for entry in entries:
        path = entry["path"]
        if entry["class"] == "hostile":
            chosen[path] = entry
        elif entry["kind"] == "chunk":
            for trait in chunk_traits(entry):
                by_trait[trait].append(entry)
        else:
            if path.startswith("cframes/") and size[path] <= LARGEST_FRAME:
                chosen[path] = entry
            for trait in frame_traits(entry):
                by_trait[trait].append(entry)
    for candidates in by_trait.values():
        best = min(candidates, key=lambda e: (size[e["path"]], e["path"]))
        chosen[best["path"]] = best
    return [entry for entry in entries if entry["path"] in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("full", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path, nargs="?", default="tests/vectors")
    options = parser.parse_args()

    entries = json.loads((options.full / "manifest.json").read_text())
    size = {entry["path"]: size_of(options.full / entry["path"]) for entry in entries}
    chosen = choose(entries, size)

    for entry in chosen:
        target = options.target / entry["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        source = options.full / entry["path"]
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)
    manifest = options.target / "manifest.json"
    added = [entry for entry in json.loads(manifest.read_text()) if entry.get("codec") in ARRAY_CODECS]
    lines = ",\n".join(json.dumps(entry) for entry in chosen + added)
    manifest.write_text(f"[\n{lines}\n]\n")
    total = sum(size[entry["path"]] for entry in chosen) + len(lines)
    print(f"{len(chosen)} of {len(entries)} vectors, {total} bytes with the manifest")


if __name__ == "__main__":
    main()
