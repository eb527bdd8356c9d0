"""Runs golden_tests over the golden files: golden_test.py PROGRAM FOLDER. With CAIRN_VECTORS=DIR over those in DIR.

The program reads a table of what manifest.json says, a line for each entry: kind, expectation, where the frame begins,
chunks, bytes, hash of the content, path; "-" and -1 stand for what there is not.
"""

import json
import os
import subprocess
import sys
import tempfile


def row(entry):
    content = entry.get("content_xxh128") or entry.get("content_xxh128_uninit_as_zero")
    if entry.get("tolerable") == "same-content":
        content = entry["base_content_xxh128"]
    if entry.get("ambiguous_bitshuffle"):
        content = None  # the chunk does not tell which rule it follows
    counts = [entry.get("nchunks", -1), entry.get("nbytes", -1)]
    if None in counts:
        counts = [-1, -1]
    fields = [entry["kind"], entry.get("expect", "ok"), entry.get("offset", 0), *counts, content or "-", entry["path"]]
    return "\t".join(map(str, fields)) + "\n"


program, folder = os.path.abspath(sys.argv[1]), os.environ.get("CAIRN_VECTORS") or sys.argv[2]
with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
    table = [row(entry) for entry in json.load(file)]
with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    file.writelines(table)
    file.flush()
    sys.exit(subprocess.run([program, file.name], cwd=folder, check=False).returncode)
