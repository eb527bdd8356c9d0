#!/usr/bin/env python3
"""Compares Cairn's libblosc2 with C-Blosc2's: one program in C, compiled once and run with both.

    tools/bench/blosc2/same_program.py OURS GENUINE HEADERS [FOLDER]

Prints a table in Markdown. Each library runs in turn, in its own process, for some rounds. A figure is the
median of the rounds, and a ratio the median of the ratios within a round. Files are made in FOLDER, by
default that for temporary files.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROUNDS = 5
FILES = {"directory.b2d": ("100 chunks in a directory", 100), "1k.b2frame": ("1,000 chunks", 1_000),
         "100k.b2frame": ("100,000 chunks", 100_000), "1m.b2frame": ("1,000,000 chunks", 1_000_000)}  # fmt: skip
MODES = {"CAIRN_BLOSC2_SYNC": "0", "CAIRN_BLOSC2_JOURNAL": "1"}
HERE = pathlib.Path(__file__).resolve().parent


def run(program, library, arguments, **variables):
    """What the program measures with a library, by name."""
    env = dict(os.environ, LD_PRELOAD=str(library), **variables)
    done = subprocess.run([program, *map(str, arguments)], env=env, capture_output=True, text=True, check=True)
    lines = (line.rsplit(" ", 1) for line in done.stdout.splitlines())
    return {name: float(figure) for name, figure in lines}


def measure(program, libraries, command, file=None):
    """The rounds of a command: for each library, what it measured in each round."""
    rounds = {name: [] for name in libraries}
    for number in range(ROUNDS):
        order = list(libraries) if number % 2 == 0 else list(reversed(libraries))
        for name in order:
            library, variables = libraries[name]
            with tempfile.TemporaryDirectory(dir=file.parent if file else None) as folder:
                if command == "edit":
                    (shutil.copytree if file.is_dir() else shutil.copyfile)(file, pathlib.Path(folder) / file.name)
                    arguments = [command, pathlib.Path(folder) / file.name]
                else:
                    arguments = [command, *([file] if file else [folder] if command == "arrays" else [])]
                rounds[name].append(run(program, library, arguments, **variables))
    return rounds


def shown(microseconds):
    return f"{microseconds:,.0f}" if microseconds >= 100 else f"{microseconds:.3g}"


def rows(rounds, suffix=""):
    """A row of the table for each measurement: the genuine library, then the others with their ratios."""
    for measured in rounds["genuine"][0]:
        figures = {name: [one[measured] for one in each] for name, each in rounds.items()}
        cells = [shown(statistics.median(figures["genuine"]))]
        for name in figures:
            if name == "genuine":
                continue
            ratio = statistics.median(a / b for a, b in zip(figures[name], figures["genuine"]))
            cells.append(f"{shown(statistics.median(figures[name]))} ({ratio:.2f})")
        yield f"| {measured}{suffix} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours", type=pathlib.Path)
    parser.add_argument("genuine", type=pathlib.Path)
    parser.add_argument("headers", type=pathlib.Path)
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    ours, genuine = options.ours.resolve(), options.genuine.resolve()
    two = {"genuine": (genuine, {}), "ours": (ours, {})}
    # The genuine library makes the lock file when it opens a file.
    under_locking = {name: (library, {"BLOSC_LOCKING": "1"}) for name, (library, _) in two.items()}
    all_modes = two | {name: (ours, {name: value}) for name, value in MODES.items()}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        program = pathlib.Path(folder) / "calls"
        subprocess.run(
            ["cc", "-std=c99", "-D_GNU_SOURCE", "-O2", f"-I{options.headers}", HERE / "calls.c", "-o", program,
             genuine, f"-Wl,-rpath,{genuine.parent}"], check=True)
        print("| µs | C-Blosc2 | Cairn |", *(f"`{name}={value}` |" for name, value in MODES.items()))
        print("|---|---|---|" + "---|" * len(MODES))
        for name, (title, count) in FILES.items():
            file = pathlib.Path(folder) / name
            run(program, ours, ["make", file, count], CAIRN_BLOSC2_JOURNAL="1")
            print(*rows(measure(program, all_modes, "edit", file), f", {title}"), sep="\n", flush=True)
            for libraries, suffix in ((two, ""), (under_locking, ", under locking")):
                reads = rows(measure(program, libraries, "read", file), f", {title}{suffix}")
                print(*(row + " |" * len(MODES) for row in reads), sep="\n", flush=True)
            (shutil.rmtree if file.is_dir() else os.remove)(file)
        for command in ("arrays", "codecs"):
            print(*(row + " |" * len(MODES) for row in rows(measure(program, two, command))), sep="\n", flush=True)


main()
