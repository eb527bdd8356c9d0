#!/usr/bin/env python3
"""Where Cairn's time goes: shares by floor of the engine, as a table in Markdown.

    tools/bench/profile.py BUILD [KIND...]

Samples `cairn-bench work` with Linux perf; BUILD is a release build.
"""

import collections
import re
import subprocess
import sys
import tempfile

KINDS = ["append", "commit", "durable", "read", "read-large", "item"]
SECONDS = 6
SETTLED = 2000  # milliseconds until which frames are made

# The first pattern that "object symbol" matches gives the row.
ROWS = [
    ("codec (LZ4)", r"^liblz4|cairn::codec::|LZ4_"),
    ("filters", r"cairn::filter::"),
    ("copies (libc)", r"^libc\S* .*mem(cpy|move|set|cmp)"),
    ("fingerprints (XXH3)", r"^libxxhash|XXH|cairn::(HashOf|Fingerprint|Hash)"),
    ("chunk: headers, blocks, probes", r"cairn::chunk::|cairn::ChunkCompressor|cairn::ChunkDecompressor"),
    ("frame: index, journal, snapshots", r"cairn::(frame|format)::|cairn::(Frame|Snapshot|Writer)"),
    ("storage and system calls", r"cairn::storage::|kernel|vdso|\[k\]"),
    ("allocation (libc)", r"^libc\S* .*(alloc|free|cfree|_int_)|operator (new|delete)"),
    ("the benchmark", r"^cairn-bench"),
]
OTHER = "the rest"


def row_of(line):
    for name, pattern in ROWS:
        if re.search(pattern, line):
            return name
    return OTHER


def shares(build, kind):
    with tempfile.TemporaryDirectory() as folder:
        data = folder + "/perf.data"
        subprocess.run(
            ["perf", "record", "-q", "-F", "1999", "-e", "cpu-clock", "-D", str(SETTLED), "-o", data,
             build + "/tools/bench/cairn-bench", "work", "--kind", kind,
             "--seconds", str(SECONDS)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report = subprocess.run(
            ["perf", "report", "-i", data, "--stdio", "-F", "overhead,dso,symbol", "-w", "0,40,0",
             "--percent-limit", "0"],
            check=True, capture_output=True, text=True).stdout
    found = collections.Counter()
    for line in report.splitlines():
        match = re.match(r"\s*([\d.]+)%\s+(\S.*)", line)
        if match:
            found[row_of(match.group(2))] += float(match.group(1))
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, kinds = sys.argv[1], sys.argv[2:] or KINDS
    columns = [shares(build, kind) for kind in kinds]
    print("| share of the time | " + " | ".join(kinds) + " |")
    print("| --- |" + " --- |" * len(kinds))
    for name in [row for row, _ in ROWS] + [OTHER]:
        cells = [f"{column[name]:.0f}%" if column[name] >= 0.5 else "" for column in columns]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
