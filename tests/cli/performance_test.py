"""The tables and pictures of docs/performance.md are those that tools/bench/draw.py makes of the data."""

import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

MOST_BYTES = 60_000


class Performance(unittest.TestCase):
    root = None

    def setUp(self):
        """Copies what the program reads, so that it may be changed."""
        folder = tempfile.TemporaryDirectory(prefix="cairn-test.")
        self.addCleanup(folder.cleanup)
        self.copy = folder.name
        shutil.copytree(f"{self.root}/docs/performance", f"{self.copy}/docs/performance")
        shutil.copy(f"{self.root}/docs/performance.md", f"{self.copy}/docs")
        shutil.copytree(f"{self.root}/tools/bench/drawing", f"{self.copy}/tools/bench/drawing")
        shutil.copy(f"{self.root}/tools/bench/draw.py", f"{self.copy}/tools/bench")

    def run_draw(self, *words, python=()):
        command = [sys.executable, "-B", *python, f"{self.copy}/tools/bench/draw.py", *words]
        return subprocess.run(command, capture_output=True, encoding="utf-8")

    def draw(self, *words, python=()):
        done = self.run_draw(*words, python=python)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def told_by_check(self):
        done = self.run_draw("--check")
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def need_matplotlib(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is not installed")

    def read(self, name):
        with open(f"{self.copy}/{name}", encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(f"{self.copy}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def replace(self, name, old, new):
        text = self.read(name)
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def leave(self, *names):
        """Leaves these tables and pictures alone: it takes seconds to draw all."""
        for path in glob.glob(f"{self.copy}/docs/performance/*"):
            if os.path.basename(path).split(".")[0] not in names:
                os.remove(path)
        page = self.read("docs/performance.md")
        others = rf"(?s)<!-- table: (?!(?:{'|'.join(names)}) ).*?<!-- end of table -->\n"
        self.write("docs/performance.md", re.sub(others, "", page))

    def score(self):
        """The first number of Cairn in the table of read.json, and its ratio."""
        table = self.read("docs/performance.md").partition("<!-- table: read -->")[2]
        cells = re.findall(r"([0-9.]+) us \(([0-9.]+x)\)", table)  # the limit, Cairn, and others
        return cells[1]

    def test_tables_and_pictures_are_those_of_the_data(self):
        self.draw("--check")

    def test_another_number_in_the_data_is_found_and_drawn(self):
        self.leave("read", "items")
        before = self.read("docs/performance.md")
        told, ratio = self.score()
        data = json.loads(self.read("docs/performance/read.json"))
        next(one for one in data["results"][0]["scores"] if one["name"] == "Cairn")["value"] = 7.654
        self.write("docs/performance/read.json", json.dumps(data))
        self.assertIn("performance.md: its tables are not those of", self.told_by_check())
        self.draw()
        self.assertEqual(self.read("docs/performance.md"), before.replace(f"| {told} us ({ratio})", f"| 7.654 us ({ratio})"))
        self.draw("--check")

    def test_data_without_a_place_in_the_page_are_refused(self):
        shutil.copy(f"{self.copy}/docs/performance/read.json", f"{self.copy}/docs/performance/more.json")
        done = self.run_draw()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no place for the table: more", done.stderr)

    def test_another_number_in_a_picture_is_found(self):
        self.leave("read", "items")
        self.need_matplotlib()
        told, ratio = self.score()
        self.replace("docs/performance/read.svg", f"{told} ({ratio})", f"7.654 ({ratio})")
        self.assertIn("read.svg: not what read.json gives", self.told_by_check())

    def test_a_missing_picture_is_found(self):
        self.leave("read", "items")
        self.need_matplotlib()
        os.remove(f"{self.copy}/docs/performance/items.svg")
        self.assertIn("items.svg: missing", self.told_by_check())

    def test_tables_need_no_matplotlib(self):
        self.leave("read", "items")
        for path in glob.glob(f"{self.copy}/docs/performance/*.svg"):
            os.remove(path)
        told = self.draw(f"{self.copy}/docs/performance", python=["-S", "-E"])  # without installed packages
        self.assertIn("no pictures: matplotlib is not installed", told)
        told, ratio = self.score()
        self.assertIn(f"| {told} us ({ratio}) |", self.read("docs/performance/read.md"))
        self.assertEqual(glob.glob(f"{self.copy}/docs/performance/*.svg"), [])

    def test_one_contestant_gets_no_bar(self):
        self.need_matplotlib()
        alone = {"question": "q", "unit": "us", "better": "lower", "scores": [{"name": "Cairn", "value": 2.5}]}
        os.mkdir(f"{self.copy}/results")
        self.write("results/one.json", json.dumps({"command": "", "results": [alone], "growth": [], "notes": []}))
        self.draw(f"{self.copy}/results")
        self.assertEqual(sorted(os.listdir(f"{self.copy}/results")), ["one.json", "one.md"])
        self.assertIn("| q | 2.500 us |", self.read("results/one.md"))

    def test_pictures_are_small_and_have_a_background(self):
        pictures = glob.glob(f"{self.copy}/docs/performance/*.svg")
        self.assertGreater(len(pictures), 10)
        for path in pictures:
            with self.subTest(os.path.basename(path)):
                self.assertLess(os.path.getsize(path), MOST_BYTES)
                with open(path, encoding="utf-8") as file:
                    svg = file.read()
                width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()
                first = re.search(r'<path d="([^"]*)" style="fill: #ffffff"/>', svg)[1]
                self.assertEqual(first, f"M 0 {height} L {width} {height} L {width} 0 L 0 0 z")
                self.assertRegex(svg, r"(lower|higher) is better")

    def test_texts_lie_within_the_pictures(self):
        self.need_matplotlib()
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextToPath

        for path in glob.glob(f"{self.copy}/docs/performance/*.svg"):
            with open(path, encoding="utf-8") as file:
                svg = file.read()
            size = tuple(map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()))
            texts = re.findall(r"<text([^>]*)>([^<]*)</text>", svg)
            self.assertGreater(len(texts), 5)
            for how, text in texts:
                upright = "rotate(-90" in how
                x, y = map(float, re.search(r'(?:translate\(| x=")([\d.]+)(?: |" y=")([\d.]+)', how).groups())
                weight = "bold" if "font-weight: 700" in how else "normal"
                font = FontProperties(family="DejaVu Sans", size=9, weight=weight)
                length = TextToPath().get_text_width_height_descent(text, font, False)[0]
                before = length / 2 if "anchor: middle" in how else length if "anchor: end" in how else 0
                begin = size[1] - y - before if upright else x - before
                with self.subTest(picture=os.path.basename(path), text=text):
                    self.assertGreaterEqual(begin, 0)
                    self.assertLessEqual(begin + length, size[1] if upright else size[0])


if __name__ == "__main__":
    Performance.root = os.path.abspath(sys.argv[1])
    tap.main(__name__)
