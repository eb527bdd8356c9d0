"""Times contestants in turns: all of them in each round."""

import statistics
import sys
import time


def in_turns(contestants, rounds):
    """The times of each contestant, in seconds, a list over the rounds."""
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            begin = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begin)
    return times


def note(report, question, times, operations):
    """Adds what the contestants took, in microseconds for each of so many operations."""
    first = next(iter(times.values()))
    scores = {}
    for name, taken in times.items():
        ratio = statistics.median(one / base for one, base in zip(taken, first))
        scores[name] = {"value": statistics.median(taken) * 1e6 / operations, "ratio": ratio}
        print(f"{question}: {name}: {scores[name]['value']:.2f} us ({ratio:.2f}x)", file=sys.stderr)
    report.add(question, "us", "lower", scores)
