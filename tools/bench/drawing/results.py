"""The form in which benchmarks keep what they measured: one JSON file for each command.

    {
    "command": "cairn-bench read --rounds 3",
    "rows": "contestants",
    "results": [
      {"group": "open", "question": "random chunk read, 4 KiB", "unit": "us", "better": "lower",
       "scores": [{"name": "Cairn", "value": 1.525, "ratio": 0.93, "p99": 2.1}]}],
    "growth": [
      {"question": "memory of an open frame", "x": "chunks read", "y": "KiB on the heap",
       "curves": [{"name": "10000 chunks", "points": [[1, 34.5], [10, 113]]}]}],
    "notes": ["HDF5: not found when this was built, skipped"]
    }

A result is one question, and its scores are what the contestants reached. `ratio` compares the time
with that of the first contestant within a round. `most` is given where values vary: then `value` is
the least. A growth says how a cost depends on something. `rows`, `group`, `ratio`, `p99` and `most` may be
missing. `cairn-bench --json FILE` writes the same form.
"""

import json
import math
import os
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def rounded(value, digits=5):
    """Returns the value without digits that mean nothing in a measurement."""
    if value == 0 or not math.isfinite(value):
        return value
    after = digits - 1 - math.floor(math.log10(abs(value)))
    return round(value, after) if after > 0 else round(value)


def save(path, data):
    """Writes one entry a line, so that changes of the file are read easily."""
    parts = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        parts.append(f"{json.dumps(key)}: {text}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(parts) + "\n}\n")


class Report:
    """Collects what a benchmark in Python measures."""

    def __init__(self, rows="contestants"):
        self.data = {"command": command(), "rows": rows, "results": [], "growth": [], "notes": []}

    def add(self, question, unit, better, scores, group=None):
        """Adds a question. `scores` maps names to numbers, or to the fields of a score."""
        result = {} if group is None else {"group": group}
        result |= {"question": question, "unit": unit, "better": better, "scores": []}
        for name, score in scores.items():
            fields = score if isinstance(score, dict) else {"value": score}
            result["scores"].append({"name": name} | {key: rounded(value) for key, value in fields.items()})
        self.data["results"].append(result)

    def note(self, text):
        print(text, file=sys.stderr)
        self.data["notes"].append(text)


def command():
    """Returns the command of this process without the file of the results, which says nothing about them."""
    words = [os.path.basename(sys.argv[0])]
    skip = False
    for word in sys.argv[1:]:
        if not skip and word != "--json" and not word.startswith("--json="):
            words.append(word)
        skip = word == "--json"
    return " ".join(words)
