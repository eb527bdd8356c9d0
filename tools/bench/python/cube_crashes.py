"""What is left of the stores of cubes.py after kills, and what a reader sees beside a writer."""

import contextlib
import dataclasses
import multiprocessing
import os
import random
import shutil
import time

import numpy as np

from cube_stores import Weather

GRID = (6, 12)  # small days, so that kills come in many places of a commit
MOST_SEEN = 8  # messages of a writer before it is killed
FIRST = 0.1  # seconds from the first message, before anything is opened, to the kill at most
MOST_DAYS = 24  # then a new store is begun, so that checking all days stays quick
PATIENCE = 30  # seconds that a check may take

# The children that are killed leave semaphores of their libraries, of which Python warns.
os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker:UserWarning"

# Children are forked from a process that has imported the stores and has no threads. That is quick.
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(
    ["numpy", "cube_stores", "cairn", "zarr", "obstore", "icechunk", "h5py", "hdf5plugin", "blosc2"]
)


@dataclasses.dataclass
class Wrong:
    """What a state of a store shows that no commit made."""

    days: list  # of each variable
    values: set  # days of which a variable has other values

    @property
    def torn(self):
        return len(set(self.days)) > 1 or bool(self.values)

    def lost(self, acknowledged):
        return min(self.days) < acknowledged or any(day < acknowledged for day in self.values)


def examined(arrays, weather, chosen=None):
    """Compares the chosen days of a state, or all, with what was written."""
    days = [array.shape[0] for array in arrays]
    found = Wrong(days, set())
    for variable, array in enumerate(arrays):
        numbers = range(days[variable]) if chosen is None else [day for day in chosen if day < days[variable]]
        there = array[:] if chosen is None else {day: array[day] for day in numbers}
        found.values |= {day for day in numbers if not np.array_equal(there[day], weather.day(day, variable))}
    return found


def append_until_killed(kind, path, begin, pipe):
    """Tells the number of days after each commit. What exists is opened again when it has told that it begins."""
    weather = Weather(GRID)
    store = kind(path, GRID)
    if begin:
        store.create()
    pipe.send(0)
    day = 0 if begin else store.reopen()
    while True:
        store.append(weather.all_of(day))
        day += 1
        pipe.send(day)


def check(kind, path, pipe):
    """Sends what the newest state shows, or the error of reading it."""
    try:
        store = kind(path, GRID)
        pipe.send(examined(store.state(), Weather(GRID)))
    except BaseException as error:  # noqa: BLE001  each store has exceptions of its own
        pipe.send(f"{type(error).__name__}: {error}")


def received(pipe):
    """Yields what comes until the other end is closed."""
    with contextlib.suppress(EOFError, ConnectionResetError):
        while True:
            yield pipe.recv()


def started(target, *words):
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*words, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def killed_once(kind, path, begin, dice):
    """Kills a writer at a random time, within opening or within a commit. Returns the days that it acknowledged,
    or None if it failed before."""
    process, pipe = started(append_until_killed, kind, path, begin)
    seen = []
    try:
        for _ in range(dice.randrange(1, MOST_SEEN)):
            if not pipe.poll(PATIENCE):
                return None
            seen.append((time.monotonic(), pipe.recv()))
        commit = seen[-1][0] - seen[-2][0] if len(seen) > 1 else FIRST
        time.sleep(dice.uniform(0, 1.5 * commit))
        if not process.is_alive():
            return None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()
    return max([seen[-1][1], *received(pipe)])


def left_over(kind, path):
    process, pipe = started(check, kind, path)
    found = "no answer"
    if pipe.poll(PATIENCE):
        with contextlib.suppress(EOFError):
            found = pipe.recv()
    process.kill()
    process.join()
    return found


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def judged(found, days, counts):
    """Counts what is wrong after a kill. Returns an error, or None if the store can be read."""
    if days is None:
        found = "the writer failed"
    if isinstance(found, str):
        counts["unreadable"] += 1
        return found
    counts["lost"] += found.lost(days)
    counts["torn"] += found.torn
    return None


def kills(kind, folder, count, seed=3):
    """Counts the kills after which a store was unreadable, lacked an acknowledged day, or was torn.

    The next writer continues with a store that is right, until it has MOST_DAYS days.
    """
    counts = {"days acknowledged": 0, "lost": 0, "torn": 0, "unreadable": 0}
    path = os.path.join(folder, "killed")
    dice = random.Random(seed)
    known = 0  # days of the store that the next writer continues with
    errors = []
    for _ in range(count):
        if not known:
            remove(path)
        days = killed_once(kind, path, not known, dice)
        if days is not None:
            days = max(days, known)
            counts["days acknowledged"] += days - known
        found = left_over(kind, path)
        error = judged(found, days, counts)
        errors += [] if error is None else [error]
        wrong = error is not None or found.torn or found.lost(days)
        known = 0 if wrong or not kind.reopens or found.days[0] >= MOST_DAYS else found.days[0]
    remove(path)
    return counts, errors


def append_for(kind, path, seconds, pipe):
    weather = Weather(GRID)
    store = kind(path, GRID)
    store.create()
    day = 0
    end = None
    while end is None or time.monotonic() < end:
        store.append(weather.all_of(day))
        day += 1
        if end is None:
            pipe.send("begun")
            end = time.monotonic() + seconds
    pipe.send(day)
    store.close()


def read_for(kind, path, seconds, pipe):
    """Reads the newest state again and again: the lengths, and the last day of each variable."""
    weather = Weather(GRID)
    counts = {"states read": 0, "torn": 0, "failed": 0}
    errors = set()
    store = None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            store = store or kind(path, GRID)
            arrays = store.state()
            found = examined(arrays, weather, {max(array.shape[0] for array in arrays) - 1})
            counts["states read"] += 1
            counts["torn"] += found.torn
        except Exception as error:  # noqa: BLE001  each store has exceptions of its own
            counts["failed"] += 1
            errors.add(f"{type(error).__name__}: {error}")
            store = None
    pipe.send((counts, sorted(errors)))


def beside_writer(kind, folder, seconds):
    path = os.path.join(folder, "beside")
    writer, days = started(append_for, kind, path, seconds)
    days.recv()
    reader, read = started(read_for, kind, path, seconds)
    counts, errors = read.recv()
    counts["days written"] = days.recv()
    for process in (writer, reader):
        process.join(PATIENCE)
        process.kill()
    remove(path)
    return counts, errors
