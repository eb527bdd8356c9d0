#!/usr/bin/env python3
"""Prints coverage by floor from what llvm-cov exports; fails below the bounds.

usage: coverage.py EXPORT LINES BRANCHES    (the bounds in per cent)
"""

import collections
import json
import sys

KINDS = ("lines", "branches")


def main(export, *bounds):
    floors = collections.defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    with open(export, encoding="utf-8") as file:
        files = json.load(file)["data"][0]["files"]
    for entry in files:
        _, is_engine, path = entry["filename"].rpartition("/engine/")
        if not is_engine:
            continue
        for floor in (path.split("/")[0], "engine"):
            for kind in KINDS:
                floors[floor][kind][0] += entry["summary"][kind]["covered"]
                floors[floor][kind][1] += entry["summary"][kind]["count"]
    print(f"{'':<10}{'lines':>8}{'run':>8}{'branches':>10}{'taken':>8}")
    for floor, counts in sorted(floors.items(), key=lambda item: item[1]["lines"][1]):
        shares = {kind: 100 * run / max(total, 1) for kind, (run, total) in counts.items()}
        print(f"{floor:<10}{counts['lines'][1]:>8}{shares['lines']:>7.1f}%"
              f"{counts['branches'][1]:>10}{shares['branches']:>7.1f}%")
    enough = True
    for kind, bound in zip(KINDS, bounds):
        run, total = floors["engine"][kind]
        if run * 100 < total * float(bound):
            print(f"too few {kind}: {bound}% is the least")
            enough = False
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
