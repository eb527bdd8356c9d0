"""Runs a program with C-Blosc2 itself and with Cairn's library, and compares what it prints.

Usage: same_output_test.py PROGRAM GENUINE OURS
"""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile


def output(program, library, syncs="1"):
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [program],
            env=dict(os.environ, LD_PRELOAD=library, CAIRN_BLOSC2_SYNC=syncs),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
    return ran.stdout.splitlines() + [f"exit {ran.returncode}"]


def main():
    program, genuine, ours = sys.argv[1:]
    program = str(pathlib.Path(program).resolve())
    expected = output(program, str(pathlib.Path(genuine).resolve()))
    differs = False
    for syncs in "1", "0":
        got = output(program, str(pathlib.Path(ours).resolve()), syncs)
        difference = list(difflib.unified_diff(expected, got, "C-Blosc2", f"Cairn, syncs {syncs}", lineterm="", n=2))
        print("\n".join(difference[:200]))
        differs = differs or bool(difference)
    print(f"{len(expected)} lines")
    if differs or expected[-1] != "exit 0" or len(expected) < 100:
        sys.exit(1)


main()
