#!/usr/bin/env python3
"""Makes tables and pictures of what the benchmarks measured, without measuring again.

    tools/bench/draw.py                 the tables and pictures of docs/performance.md
    tools/bench/draw.py --check         fails if those in the checkout are not what the data give
    tools/bench/draw.py RESULTS         RESULTS/*.md and *.svg of the *.json there

docs/performance/NAME.json has the data, docs/performance/NAME.svg its picture, and the tables of it stand
in the page between <!-- table: NAME --> and <!-- end of table -->. A new measurement is taken over by
copying its JSON file there. Pictures need matplotlib; without it only tables are made.
"""

import argparse
import glob
import importlib.util
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from drawing import results, tables  # noqa: E402

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
PAGE = os.path.normpath(os.path.join(DOCS, "performance.md"))
DATA = os.path.normpath(os.path.join(DOCS, "performance"))
TABLE = r"(?s)(<!-- table: (\w+) -->\n).*?(<!-- end of table -->\n)"


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def read_all(folder):
    return {name_of(path): results.load(path) for path in sorted(glob.glob(os.path.join(folder, "*.json")))}


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def have_matplotlib():
    return importlib.util.find_spec("matplotlib") is not None


def draw_all(measured, folder):
    """Returns the names of those of which there is a picture."""
    from drawing import pictures

    return [name for name, data in measured.items() if pictures.draw(data, os.path.join(folder, f"{name}.svg"))]


def page_with_tables(page, measured):
    places = {name for _, name, _ in re.findall(TABLE, page)}
    missing = [name for name, data in measured.items() if tables.tables(data) and name not in places]
    if missing:
        raise SystemExit(f"draw: {PAGE}: no place for the table: {', '.join(missing)}")

    def fill(match):
        if match[2] not in measured:
            raise SystemExit(f"draw: {PAGE}: table {match[2]}: no {DATA}/{match[2]}.json")
        return f"{match[1]}\n{tables.tables(measured[match[2]])}\n{match[3]}"

    return re.sub(TABLE, fill, page)


def shown_in(svg):
    """Returns the texts of a picture. Versions of matplotlib differ in where they place them."""
    return sorted(re.findall(r"<text[^>]*>(.*?)</text>", svg, re.S))


def version_of(svg):
    return re.search(r"Matplotlib v([\w.]+)", svg)[1]


def differences():
    """Tells what in the checkout differs from what the data give."""
    measured = read_all(DATA)
    page = read_text(PAGE)
    if page_with_tables(page, measured) != page:
        yield f"{PAGE}: its tables are not those of {DATA}/*.json"
    if not have_matplotlib():
        return
    with tempfile.TemporaryDirectory() as folder:
        drawn = set(draw_all(measured, folder))
        kept = {name_of(path) for path in glob.glob(os.path.join(DATA, "*.svg"))}
        for name in sorted(drawn ^ kept):
            yield f"{DATA}/{name}.svg: " + ("missing" if name in drawn else "no data give it")
        for name in sorted(drawn & kept):
            new, old = (read_text(os.path.join(place, f"{name}.svg")) for place in (folder, DATA))
            same = new == old if version_of(new) == version_of(old) else shown_in(new) == shown_in(old)
            if not same:
                yield f"{DATA}/{name}.svg: not what {name}.json gives"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", help="a folder of results (default: docs/performance, and its page)")
    parser.add_argument("--check", action="store_true", help="compare the checkout with the data, write nothing")
    options = parser.parse_args()
    if options.check:
        found = list(differences())
        for difference in found:
            print(f"draw: {difference}; run tools/bench/draw.py", file=sys.stderr)
        return 1 if found else 0
    folder = options.results or DATA
    measured = read_all(folder)
    if options.results:
        for name, data in measured.items():
            notes = "".join(f"\n* {note}\n" for note in data["notes"])
            write_text(os.path.join(folder, f"{name}.md"), tables.tables(data) + notes)
    else:
        write_text(PAGE, page_with_tables(read_text(PAGE), measured))
    if have_matplotlib():
        draw_all(measured, folder)
    else:
        print("draw: no pictures: matplotlib is not installed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
