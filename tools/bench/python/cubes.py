#!/usr/bin/env python3
"""Compares collections with other stores of several arrays that belong together, those that are installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/cubes.py [cube] [kills] [reader] [many] [--json FILE]

cube    ten variables of a weather cube, to which a day is appended 365 times; each day is one commit
kills   the same with small days, where the writer is killed; counts what is lost or torn then
reader  a process that reads the newest state beside the writer; counts torn states
many    10,000 small arrays: create all, open one, list the names

Peers are those that are installed: `pip install numpy zarr icechunk obstore h5py hdf5plugin blosc2`.
Each array has a chunk for each day, and each chunk is compressed with zstd, level 5 of Blosc, after
SHUFFLE, by one thread. Times are taken in turns. Syncs are counted in another run, if `strace` is there.
"""

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import cube_crashes
from cube_stores import HOURS, KILLED, KINDS, READ_BESIDE, TIMED, VARIABLES, Weather

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402

QUESTIONS = ("cube", "kills", "reader", "many")
SYNCS = "fsync,fdatasync,sync,syncfs,msync,sync_file_range"
FEW = 5  # days that the count of syncs leaves out: those of creating and of closing, and the first ones
ITEMS = 100  # of each of many arrays
OPENED = 200  # of many arrays, in each round


def seconds(call, *words):
    begin = time.perf_counter()
    result = call(*words)
    return time.perf_counter() - begin, result


def note_size(medians, name, path):
    """Notes the bytes of the files, those of their blocks on the disk, and how many files there are."""
    files = [os.path.join(folder, file) for folder, _, names in os.walk(path) for file in names] or [path]
    there = [os.stat(file) for file in files]
    medians.add("size", "MB", name, sum(file.st_size for file in there) / 1e6)
    medians.add("on disk", "MB", name, sum(512 * file.st_blocks for file in there) / 1e6)
    medians.add("files", "", name, len(files))


def year(kind, path, weather, grid, days):
    """Appends the days. Returns the seconds of each, those of creating and closing, and the processor's."""
    store = kind(path, grid)
    busy = -time.process_time()
    around, _ = seconds(store.create)
    taken = []
    for number in range(days):
        busy += time.process_time()
        arrays = weather.all_of(number)
        busy -= time.process_time()
        taken.append(seconds(store.append, arrays)[0])
    around += seconds(store.close)[0]
    return taken, around, busy + time.process_time()


def last_day(kind, path, grid):
    store = kind(path, grid)
    values = [array[-1] for array in store.state()]
    store.close()
    return values


class Medians:
    """Collects values over the rounds, and reports the medians."""

    def __init__(self):
        self.values = {}

    def add(self, question, unit, name, value):
        self.values.setdefault((question, unit), {}).setdefault(name, []).append(value)

    def report(self, report, group):
        for (question, unit), scores in self.values.items():
            medians = {name: statistics.median(values) for name, values in scores.items()}
            report.add(question, unit, "lower", medians, group)


def syncs_per_day(kind, folder, grid, days):
    """Syncs of a day after the first ones, in the mean, or None where strace does not work."""
    counts = []
    for number in (FEW, days + FEW):
        path, trace = os.path.join(folder, "traced"), os.path.join(folder, "trace")
        words = ["--append", kind.__name__, path, *map(str, (*grid, number))]
        command = [sys.executable, os.path.abspath(__file__), *words]
        traced = ["strace", "-f", "--seccomp-bpf", "-c", "-o", trace, "-e", f"trace={SYNCS}", *command]
        try:
            subprocess.run(traced, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        with open(trace, encoding="utf-8") as file:
            calls = re.findall(rf"^ *\S+ +\S+ +\S+ +(\d+) .*?(?:{SYNCS.replace(',', '|')})$", file.read(), re.M)
        counts.append(sum(map(int, calls)))
        cube_crashes.remove(path)
    return (counts[1] - counts[0]) / days


def cube(report, kinds, folder, options, grid):
    weather = Weather(grid)
    medians = Medians()
    path = os.path.join(folder, "cube")
    for number in range(options.rounds):
        for kind in kinds:
            taken, around, busy = year(kind, path, weather, grid, options.days)
            spent, values = seconds(last_day, kind, path, grid)
            if not all(map(np.array_equal, values, weather.all_of(options.days - 1))):
                raise AssertionError(f"{kind.name}: other values")
            medians.add(f"{options.days} days", "s", kind.name, sum(taken) + around)
            medians.add("processor", "s", kind.name, busy)
            medians.add("a day, median", "ms", kind.name, statistics.median(taken) * 1e3)
            medians.add("a day, p99", "ms", kind.name, np.quantile(taken, 0.99) * 1e3)
            medians.add("open, read the last day", "ms", kind.name, spent * 1e3)
            note_size(medians, kind.name, path)
            print(f"cube of {grid}, round {number}: {kind.name}: {sum(taken) + around:.1f} s", file=sys.stderr)
            cube_crashes.remove(path)
    for kind in kinds:
        count = syncs_per_day(kind, folder, grid, options.days)
        if count is not None:
            medians.add("syncs a day", "", kind.name, count)
    shape = " x ".join(map(str, (HOURS, *grid)))
    medians.report(report, f"ten variables, a day of {shape} float32 of each")


def counted(report, group, found):
    """Reports the counts {kind: {question: number}}."""
    for question in next(iter(found.values()), {}):
        better = "higher" if question.startswith(("days", "states")) else "lower"
        report.add(question, "", better, {kind.name: counts[question] for kind, counts in found.items()}, group)


def tell_errors(kind, errors):
    for error in sorted(set(errors)):
        print(f"{kind.name}: {errors.count(error)} times: {error[:300]}", file=sys.stderr)


def kills(report, kinds, folder, options):
    found = {}
    for kind in kinds:
        spent, (found[kind], errors) = seconds(cube_crashes.kills, kind, folder, options.kills)
        print(f"kills: {kind.name}: {found[kind]}, {spent:.0f} s", file=sys.stderr)
        tell_errors(kind, errors)
    counted(report, f"the writer is killed {options.kills} times", found)


def reader(report, kinds, folder, options):
    found = {}
    for kind in kinds:
        found[kind], errors = cube_crashes.beside_writer(kind, folder, options.seconds)
        print(f"reader: {kind.name}: {found[kind]}", file=sys.stderr)
        tell_errors(kind, errors)
    counted(report, f"a reader beside the writer, for {options.seconds:g} s", found)


def create_many(kind, path, arrays):
    store = kind(path)
    store.create_many(arrays)
    store.close()


def opened_many(kind, path):
    store = kind(path)
    store.open_many()
    return store


def ask_many(kind, path, arrays, chosen):
    """Returns what opening and reading the chosen ones takes for one, in the median, with a new handle."""
    store = opened_many(kind, path)
    opening, reading = [], []
    for name in chosen:
        spent, array = seconds(store.one_of_many, name)
        more, values = seconds(lambda: array[:])
        if not np.array_equal(values, arrays[name]):
            raise AssertionError(f"{kind.name}: other values")
        opening.append(spent)
        reading.append(spent + more)
    store.close()
    return statistics.median(opening), statistics.median(reading)


def list_many(kind, path, arrays):
    """Returns how long opening the store, and then listing takes."""
    opening, store = seconds(opened_many, kind, path)
    listing, names = seconds(store.names_of_many)
    if len(names) != len(arrays):
        raise AssertionError(f"{kind.name}: {len(names)} names")
    store.close()
    return opening, listing


def many(report, kinds, folder, options):
    """Creates the stores once, because that takes long, and asks them in turns."""
    dice = np.random.default_rng(5)
    values = np.round(dice.normal(size=(options.arrays, ITEMS)), 1).astype("f4")
    arrays = {f"array{number:05}": one for number, one in enumerate(values)}
    names = random.Random(4)
    medians = Medians()
    paths = {kind: os.path.join(folder, kind.__name__) for kind in kinds}
    for kind, path in paths.items():
        busy = -time.process_time()
        spent, _ = seconds(create_many, kind, path, arrays)
        medians.add("create all", "s", kind.name, spent)
        medians.add("processor", "s", kind.name, busy + time.process_time())
        note_size(medians, kind.name, path)
        print(f"many: {kind.name}: created in {spent:.1f} s", file=sys.stderr)
    for _ in range(options.rounds):
        chosen = names.sample(list(arrays), min(OPENED, len(arrays)))
        for kind, path in paths.items():
            opening, listing = list_many(kind, path, arrays)
            one, one_read = ask_many(kind, path, arrays, chosen)
            medians.add("open the store", "ms", kind.name, opening * 1e3)
            medians.add("open one", "us", kind.name, one * 1e6)
            medians.add("open and read one", "us", kind.name, one_read * 1e6)
            medians.add("list", "ms", kind.name, listing * 1e3)
    for path in paths.values():
        cube_crashes.remove(path)
    medians.report(report, f"{options.arrays:,} arrays of {ITEMS} float32")


def append_for_strace(words):
    """Appends days, as syncs_per_day asks for it under strace."""
    name, path, *grid, days = words
    kind = next(kind for kind in KINDS if kind.__name__ == name)
    grid = tuple(map(int, grid))
    year(kind, path, Weather(grid), grid, int(days))


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", help=f"of {', '.join(QUESTIONS)} (default: all)")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--grids", nargs="+", default=["30x60", "6x12"], help="latitudes x longitudes of the cubes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=200, help="of the writer of each store (default: 200)")
    parser.add_argument("--seconds", type=float, default=4, help="of a reader beside a writer (default: 4)")
    parser.add_argument("--arrays", type=int, default=10_000, help="small ones (default: 10,000)")
    parser.add_argument("--folder", help="where the stores are made (default: that of temporary files)")
    parser.add_argument("--only", nargs="+", default=[""], help="stores whose names have one of these in them")
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    parser.add_argument("--append", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"no question: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parsed()
    if options.append:
        append_for_strace(options.append)
        return
    report = results.Report()
    for kind in KINDS:
        if kind.missing():
            report.note(f"{kind.name}: {', '.join(kind.missing())} not found, skipped")
    if shutil.which("strace") is None:
        report.note("strace: not found, syncs are not counted")

    def there(kinds):
        return [kind for kind in kinds if not kind.missing() and any(one in kind.name for one in options.only)]

    asked = options.questions or QUESTIONS
    with tempfile.TemporaryDirectory(prefix="cairn-bench.", dir=options.folder) as folder:
        if "cube" in asked:
            for grid in options.grids:
                cube(report, there(TIMED), folder, options, tuple(map(int, grid.split("x"))))
        if "kills" in asked:
            kills(report, there(KILLED), folder, options)
        if "reader" in asked:
            reader(report, there(READ_BESIDE), folder, options)
        if "many" in asked:
            many(report, there(TIMED), folder, options)
    print(tables.tables(report.data), end="")
    if options.json:
        results.save(options.json, report.data)


if __name__ == "__main__":
    main()
