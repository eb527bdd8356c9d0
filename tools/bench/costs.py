"""Counts instructions and allocations of operations, and compares them with a table: see costs.sh."""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import subprocess
import sys
import tempfile

GROWTH = 0.02  # of the instructions of a row, up or down
ALLOCATION = 0.75  # of an operation, on average; of many allocations GROWTH
ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"}
ROW = re.compile(r"^\| (.+?) \| ([\d,]+) \| ([\d.]+) \|$")


@dataclasses.dataclass
class Program:
    """One that names operations, and does one of them in a folder."""

    command: list[str]
    objects: tuple[str, ...] = ("",)  # what is in files whose names begin so counts, and nothing else
    starts = False  # the process counts from its start; else it says itself from when on

    def operations(self):
        """Pairs of names and how often each is done."""
        listed = subprocess.run(self.command, capture_output=True, text=True, check=True).stdout
        return [(name, int(times)) for times, name in (line.split("\t") for line in listed.splitlines())]

    def doing(self, name, folder):
        """The command line that does the operation."""
        return [*self.command, name, folder]


class Tool:
    """The command-line tool, of which all counts that a whole process does."""

    objects = ("",)
    starts = True

    def __init__(self, tool):
        self.tool = tool

    def operations(self):
        return [("cairn info of a small frame", 1)]

    def doing(self, name, folder):
        frame = f"{folder}/frame"
        subprocess.run([self.tool, "pack", "-", frame, "--quiet"], input=bytes(1000), check=True)
        return [self.tool, "info", frame]


def sums(profile, objects):
    """Instructions, and calls of allocators, in a profile that callgrind wrote."""
    names = {}
    counts, called, instructions, allocations = True, "", 0, 0
    of_call = False  # the next line counts what a call cost, which its own lines do, too
    for line in profile:
        if match := re.match(r"^c?(?:fn|ob)=\((\d+)\) (.*)$", line):
            names[line.lstrip("c")[:2], match[1]] = match[2]
        if match := re.match(r"^ob=\((\d+)\)", line):
            counts = os.path.basename(names["ob", match[1]]).startswith(objects)
        elif match := re.match(r"^cfn=\((\d+)\)", line):
            called = names["fn", match[1]].split("'")[0].split("@")[0]
        elif match := re.match(r"^calls=(\d+) ", line):
            of_call = True
            # The library of C++ asks for memory in the name of who calls it.
            allocates = called in ALLOCATORS or (objects != ("",) and called.startswith("operator new"))
            allocations += int(match[1]) if counts and allocates else 0
        elif match := re.match(r"^[+*-]?\d* (\d+)$", line):
            instructions += int(match[1]) if counts and not of_call else 0
            of_call = False
    return instructions, allocations


def count(program, name, times, folder):
    """Instructions and allocations of one operation."""
    profile = f"{folder}/profile"
    store = f"{folder}/store"
    os.mkdir(store)
    # Addresses are the same in each run, for some hashes depend on them.
    run = subprocess.run(
        ["setarch", "-R", "valgrind", "--tool=callgrind", f"--instr-atstart={'yes' if program.starts else 'no'}",
         f"--callgrind-out-file={profile}", *program.doing(name, store)],
        capture_output=True, text=True, env=os.environ | {"MALLOC_ARENA_MAX": "1", "PYTHONHASHSEED": "0"})  # fmt: skip
    if run.returncode:
        sys.exit(f"costs: {name}: {run.stderr[-1000:]}")
    with open(profile) as file:
        instructions, allocations = sums(file, program.objects)
    return instructions / times, allocations / times


def count_all(programs, wanted):
    """A dict of names and what they cost, of those that are wanted."""
    operations = [(program, *operation) for program in programs for operation in program.operations()]

    def one(operation):
        program, name, times = operation
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            return name, count(program, name, times, folder)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(one, (operation for operation in operations if wanted(operation[1]))))


def read_table(path):
    with open(path) as file:
        rows = [match for line in file if (match := ROW.match(line))]
    return {row[1]: (int(row[2].replace(",", "")), float(row[3])) for row in rows}


def table(costs):
    lines = ["| operation | instructions | allocations |", "|---|---:|---:|"]
    lines += [f"| {name} | {round(cost[0]):,} | {cost[1]:.1f} |" for name, cost in costs.items()]
    return "\n".join(lines) + "\n"


def write_table(path, costs):
    """Puts the new rows where the old ones are."""
    with open(path) as file:
        text = file.read()
    before, after = text.split("| operation |", 1)
    rest = after.split("\n\n", 1)[1] if "\n\n" in after else ""
    with open(path, "w") as file:
        file.write(before + table(costs) + ("\n" + rest if rest else ""))


def differences(counted, known):
    """Pairs of names and what a reader has to be told: of each row that is another one now."""
    for name, (instructions, allocated) in counted.items():
        if name not in known:
            yield name, "has no row yet"
            continue
        was, was_allocated = known[name]
        if abs(instructions - was) > GROWTH * was:
            yield name, f"{was:,} instructions before, {round(instructions):,} now ({instructions / was - 1:+.1%})"
        if abs(allocated - was_allocated) >= max(ALLOCATION, GROWTH * was_allocated):
            yield name, f"{was_allocated:.1f} allocations before, {allocated:.1f} now"


def settled(counted, known):
    """The new rows: those that are no other ones keep their figures, so that small growth does not add up."""
    other = {name for name, _ in differences(counted, known)}
    return {name: costs if name in other else known[name] for name, costs in counted.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="cairn-costs")
    parser.add_argument("tool", help="cairn")
    parser.add_argument("table", help="the page with the table")
    parser.add_argument("--python", nargs=2, metavar=("PYTHON", "SWITCH"), help="count calls of the package, too")
    parser.add_argument("--update", action="store_true", help="write the rows that are other ones into the table")
    parser.add_argument("--only", default="", metavar="TEXT", help="print the operations whose names contain this")
    options = parser.parse_args()
    programs = [Program([options.program]), Tool(options.tool)]
    if options.python:
        python, switch = options.python
        calls = os.path.join(os.path.dirname(__file__), "costs", "python_calls.py")
        programs.append(Program([python, calls, switch], objects=("libcairn", "_engine")))
    counted = count_all(programs, lambda name: options.only in name)
    if options.only:
        print(table(counted), end="")
    else:
        known = read_table(options.table)
        if not options.python:
            known = {name: costs for name, costs in known.items() if not name.startswith("Python: ")}
        # Some trees are balanced by chance, and on a busy machine a database gives its writer up and
        # takes it again more often: what differs once does not count yet.
        for _ in range(4):
            again = {name for name, _ in differences(counted, known)}
            counted |= count_all(programs, again.__contains__)
        if options.update:
            write_table(options.table, settled(counted, known))
            return 0
        told = [f"{name}: {what}" for name, what in differences(counted, known)]
        told += [f"{name}: is not counted any more" for name in known.keys() - counted.keys()]
        print("\n".join(told + [f"{len(counted)} operations, {len(told)} differences"]))
        return 1 if told else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
