"""Checks that Cairn's library exports each function of C-Blosc2's, and nothing that is not of its kind.

Usage: symbols_test.py GENUINE OURS
"""

import re
import subprocess
import sys

KIND = re.compile(r"(blosc|blosc1|blosc2|b2nd)_\w+")


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {tuple(line.split()[-2:]) for line in listed.stdout.splitlines()}


def main():
    genuine = {(kind, name) for kind, name in exported(sys.argv[1]) if KIND.fullmatch(name)}
    ours = exported(sys.argv[2])
    missing = sorted(genuine - ours)
    other = sorted(name for _, name in ours if not KIND.fullmatch(name))
    print(f"{len(genuine)} symbols of C-Blosc2, {len(ours)} of Cairn; missing: {missing}; other: {other}")
    if missing or other or len(genuine) < 100:
        sys.exit(1)


main()
