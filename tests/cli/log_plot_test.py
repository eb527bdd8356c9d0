"""--plot: what a log looks like, as a picture and as a page."""

import datetime
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib

import tap
from cli import CliTest

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert('&\"')</script>"

# Appended to a page: what a person does to it, and what it looks like then.
HARNESS = """<script>
const seen = {};
const look = name => {
  seen[name] = {
    lines: [...document.querySelectorAll('.line')].map(line => line.getAttribute('d')),
    labels: [...document.querySelectorAll('.xticks text')].map(text => text.textContent).filter(text => text),
    values: [...document.querySelectorAll('.yticks text')].map(text => text.textContent),
  };
};
const box = document.querySelector('svg').getBoundingClientRect();
const at = {clientX: box.left + box.width / 2, clientY: box.top + box.height * 0.3, bubbles: true, cancelable: true};
look('first');
for (let i = 0; i < 20; ++i) svg.dispatchEvent(new WheelEvent('wheel', {...at, deltaY: -200}));
look('near');
svg.dispatchEvent(new PointerEvent('pointermove', at));
seen.tip = document.getElementById('tip').textContent;
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
look('moved');
svg.dispatchEvent(new MouseEvent('dblclick', at));
look('all');
seen.title = document.title;
seen.legend = [...document.querySelectorAll('.legend')].map(text => text.textContent);
document.body.setAttribute('data-seen', JSON.stringify(seen));
</script>
"""


def find_browser():
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    return next(filter(None, map(shutil.which, names)), None)


# It talks to nothing and leaves nothing.
BROWSER_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1"]  # fmt: skip


def pixels_of(png):
    """Rows of (red, green, blue) of a picture of eight bits a channel."""
    width, height, depth, colour = struct.unpack_from(">IIBB", png, 16)
    channels = {2: 3, 6: 4}[colour]
    if depth != 8:
        raise ValueError(f"{depth} bits a channel")
    packed, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        packed += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw, before, rows = zlib.decompress(packed), bytes(width * channels), []
    for y in range(height):
        filtered, *line = raw[y * (width * channels + 1) : (y + 1) * (width * channels + 1)]
        for i, value in enumerate(line):
            left = line[i - channels] if i >= channels else 0
            corner = before[i - channels] if i >= channels else 0
            rough = left + before[i] - corner
            paeth = min((left, before[i], corner), key=lambda one: abs(rough - one))
            line[i] = value + (0, left, before[i], (left + before[i]) // 2, paeth)[filtered] & 0xFF
        rows.append([tuple(line[x : x + 3]) for x in range(0, len(line), channels)])
        before = line
    return rows


class PlotTest(CliTest):
    def create(self, *fields, name="log", time="time:timestamp[ms]"):
        self.ok("log", "create", name, "--quiet", *(word for field in [time, *fields] for word in ["--field", field]))

    def append(self, rows, columns, name="log"):
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        self.ok("log", "append", name, "--quiet", "--columns", columns, stdin=text.encode())

    def svg(self, *args, command="query", name="log"):
        self.assertEqual(self.ok("log", command, name, "--plot", "plot.svg", *args), b"")
        return ElementTree.fromstring(self.read("plot.svg").decode())

    def html(self, *args, command="query"):
        self.ok("log", command, "log", "--plot", "plot.html", *args)
        return self.read("plot.html").decode()

    def data(self, page):
        return json.loads(re.search(r'(?s)<script type="application/json" id="data">(.*?)</script>', page).group(1))

    def found(self, root, kind):
        return [node for node in root.iter() if node.get("class") == kind]

    def texts(self, root):
        return [node.text for node in root.iter(SVG + "text")]

    def points(self, line):
        return [tuple(map(float, point.split())) for point in re.findall(r"[ML]([-\d. ]+)", line.get("d"))]


    def browse(self, file, *flags):
        """What the browser prints."""
        browser = find_browser()
        if browser is None:
            self.skipTest("no browser found")
        done = subprocess.run([browser, *BROWSER_FLAGS, "--user-data-dir=" + self.path("profile"), *flags, "file://" + self.path(file)],
                              capture_output=True, timeout=120, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
        return done.stdout.decode()

    def photo(self, file, width, height):
        """What the browser shows: pixels, row by row."""
        self.browse(file, "--screenshot=" + self.path("shown.png"), f"--window-size={width},{height}")
        return pixels_of(self.read("shown.png"))


class Pictures(PlotTest):
    def test_few_records_are_all_there(self):
        self.create("x:f4")
        self.append([(i * 1000, i * i) for i in range(100)], "time,x")
        (line,) = self.found(self.svg(), "line")
        points = self.points(line)
        self.assertEqual(len(points), 100)
        left, right = points[0][0], points[-1][0]
        bottom, top = points[0][1], points[-1][1]
        for i, (x, y) in enumerate(points):
            self.assertAlmostEqual(x, left + (right - left) * i / 99, delta=0.1)
            self.assertAlmostEqual(y, bottom + (top - bottom) * i * i / 99**2, delta=0.1)

    def test_what_says_what_the_lines_are(self):
        self.create("x:f4", "n:i4")
        self.append([(i * 1000, i % 60, i) for i in range(3600)], "time,x,n")
        root = self.svg("--bucket", "10m", "--what", "x:p95,n:increase", "--unit", "x=K", command="agg")
        x, n = self.found(root, "line")
        self.assertEqual({y for _, y in self.points(self.found(root, "band")[0])}, {self.points(x)[0][1]})
        self.assertEqual([len(self.points(line)) for line in (x, n)], [6, 6])
        self.assertEqual(len({y for _, y in self.points(x)}), 1)
        self.assertEqual(len({y for _, y in self.points(n)}), 2)  # the first has no record before it
        texts = self.texts(root)
        self.assertIn("p95(x) (K)", texts)
        self.assertTrue(any("of each 10m" in text for text in texts if text), texts)
        page = self.data(self.html("--bucket", "10m", "--what", "max", command="agg"))
        self.assertEqual([series["name"] for panel in page["panels"] for series in panel["series"]], ["max(x)", "max(n)"])

    def test_many_records_become_a_line_in_a_band(self):
        self.create("x:f4")
        self.append([(i * 1000, i % 100) for i in range(50_000)], "time,x")
        root = self.svg()
        (line,), (band,) = self.found(root, "line"), self.found(root, "band")
        points = self.points(line)
        self.assertTrue(900 <= len(points) <= 1001, len(points))
        heights = [y for _, y in self.points(band)]
        self.assertLess(len(self.read("plot.svg")), 200_000)
        self.assertGreater(max(heights) - min(heights), 200)
        self.assertLess(max(y for _, y in points[1:-1]) - min(y for _, y in points[1:-1]), 150)

    def test_times_and_values_are_named(self):
        self.create("x:f4")
        self.append([("2026-11-24T23:30", 18), ("2026-11-25T02:30", 22)], "time,x")
        texts = self.texts(self.svg("--title", "Cellar", "--unit", "x=°C"))
        for text in ["Cellar", "x (°C)", "00:00", "01:00", "02:00", "2026-11-25", "18", "20", "22", "UTC"]:
            self.assertIn(text, texts)

    def test_ticks_of_every_span(self):
        self.create("x:f4", time="time:timestamp[us]")
        self.append([("2020-01-01", 1), ("2026-11-25", 2)], "time,x")
        for begin, end, labels in [("2026-11-24T10:00:00", "2026-11-24T10:00:00.00001", "10:00:00.000002"), ("2026-11-24T10:00:00", "2026-11-24T10:00:02", "10:00:00.5"),
                                   ("2026-11-24T10:00:00", "2026-11-24T10:01", "10:00:30"), ("2026-11-24", "2026-11-26", "06:00"),
                                   ("2026-11-01", "2026-12-01", "11-12"), ("2026-01-01", "2026-12-01", "2026-07"), ("2005-01-01", "2026-12-01", "2020")]:  # fmt: skip
            with self.subTest(begin=begin, end=end):
                name = begin + end
                self.create("x:f4", name=name, time="time:timestamp[us]")
                self.append([(begin, 1), (end, 2)], "time,x", name=name)
                self.assertTrue(any((text or "").startswith(labels) for text in self.texts(self.svg(name=name))), self.texts(self.svg(name=name)))

    def test_lines_have_gaps(self):
        self.create("x:f4")
        self.append([(i * 1000, 1) for i in range(200) if not 50 < i < 150], "time,x")
        (line,) = self.found(self.svg(), "line")
        self.assertEqual(line.get("d").count("M"), 2)

    def test_fields_share_a_panel_when_they_are_alike(self):
        self.create("inside:f4", "outside:f4", "pressure:f4", "room:bytes[4]")
        self.append([(i * 1000, 20 + i % 7, 10 + i % 9, 1000 + i % 5) for i in range(100)], "time,inside,outside,pressure")
        root = self.svg()
        self.assertEqual([len(self.found(panel, "line")) for panel in self.found(root, "panel")], [2, 1])
        self.assertEqual([node.text for node in self.found(root, "legend")], ["inside", "outside", "pressure"])
        self.assertEqual(len(self.found(self.svg("--fields", "outside"), "line")), 1)

    def test_conditions_and_ranges(self):
        self.create("x:f4")
        self.append([(i * 1000, i) for i in range(100)], "time,x")
        (line,) = self.found(self.svg("--where", "x > 10", "--from", "1970-01-01T00:00:05", "--to", "1970-01-01T00:00:20"), "line")
        self.assertEqual(len(self.points(line)), 9)

    def test_sums_are_drawn_as_they_are_asked_for(self):
        self.create("x:f4")
        self.append([(i * 60_000, i % 60) for i in range(6000)], "time,x")
        (line,) = self.found(self.svg("--bucket", "1h", command="agg"), "line")
        self.assertEqual(len(self.points(line)), 100)

    def test_values_that_cannot_be_drawn_are_left_out(self):
        self.create("x:f8", "y:f8")
        self.append([(1, "nan", 1), (2, "inf", 1), (3, "-inf", 1), (4, 1e308, 1), (5, -1e308, 1), (6, 5, 1)], "time,x,y")
        root = self.svg()
        self.assertEqual([len(self.points(line)) for line in self.found(root, "line")], [3, 6])
        self.assertNotIn("nan", self.read("plot.svg").decode())

    def test_times_that_are_integers(self):
        self.create("x:f4", time="step:i8")
        self.ok("log", "query", "log", "--time-field", "step", "--limit", 0)
        self.append([(i, i) for i in range(0, 100, 10)], "step,x")
        root = self.svg("--time-field", "step")
        self.assertIn("40", self.texts(root))
        self.assertNotIn("UTC", self.texts(root))

    def test_one_record(self):
        self.create("x:f4")
        self.append([(5, 7)], "time,x")
        (line,) = self.found(self.svg(), "line")
        self.assertEqual(len(self.points(line)), 1)

    def test_greatest_and_least_times_of_all(self):
        for unit in ["i8", "timestamp[ns]"]:
            for times in [(2**63 - 1,), (2**63 - 4, 2**63 - 3, 2**63 - 1), (1 - 2**63, 2**63 - 1), (1 - 2**63, 3 - 2**63)]:
                with self.subTest(unit=unit, times=times):
                    name = f"{unit} {times}"
                    self.ok("log", "create", name, "--quiet", "--field", f"time:{unit}", "--field", "x:f4", "--time-field", "time")
                    values = times if unit == "i8" else [self.iso(time) for time in times]
                    self.append([(value, i) for i, value in enumerate(values)], "time,x", name=name)
                    (line,) = self.found(self.svg(name=name), "line")
                    points = self.points(line)
                    self.assertEqual(len(points), len(times))
                    if len(times) > 1:
                        left, right = points[0][0], points[-1][0]
                        self.assertEqual((left, right), (80, 876))
                        for (x, _), time in zip(points, times):
                            self.assertAlmostEqual(x, left + (right - left) * (time - times[0]) / (times[-1] - times[0]), delta=0.1)
                    (note,) = [text for text in self.texts(self.svg(name=name)) if text and " record" in text]
                    self.assertIn(f"{values[0]} to {values[-1]}", note)
                    (all_of_them,) = self.found(self.svg("--bucket", "9223372036854775807ns"[: 19 + 2 * (unit != "i8")], command="agg", name=name), "line")
                    self.assertLessEqual(1, len(self.points(all_of_them)))

    def iso(self, nanoseconds):
        seconds, rest = divmod(nanoseconds, 10**9)
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)).isoformat() + f".{rest:09}Z"

    def test_names_are_only_text(self):
        self.create(f"{HOSTILE}:f4", name="log")
        self.append([(1, 2), (3, 4)], "time,\"" + HOSTILE.replace('"', '""') + '"')
        root = self.svg("--title", HOSTILE, "--unit", f"{HOSTILE}=<b>")
        self.assertEqual(list(root.iter(SVG + "script")), [])
        self.assertIn(HOSTILE, self.texts(root))
        page = self.html("--title", HOSTILE, "--unit", f"{HOSTILE}=<!--")
        self.assertEqual(page.count("<script"), 2)
        self.assertEqual(self.data(page)["panels"][0]["series"][0]["name"], HOSTILE + " (<!--)")

    def test_a_browser_shows_the_values_where_they_are(self):
        # Low for the first half of the time, high for the second.
        self.create("x:f4")
        self.append([(i * 1000, 100 if i >= 500 else 0) for i in range(1000)], "time,x")
        self.ok("log", "query", "log", "--plot", "plot.svg")
        self.ok("log", "query", "log", "--plot", "plot.html")
        for file in ["plot.svg", "plot.html"]:
            with self.subTest(file=file):
                rows = self.photo(file, 900, 600)
                blue = [[y for y, row in enumerate(rows) if row[x][2] > row[x][0] + 100] for x in range(900)]
                frame = [x for x in range(900) if blue[x]]
                left, width = frame[0], frame[-1] - frame[0]
                self.assertGreater(width, 600)
                low, high = (blue[left + width * part // 8] for part in (3, 5))
                self.assertTrue(low and high)
                self.assertGreater(min(low), max(high) + 80, "greater values are not higher")

    def test_what_cannot_be_drawn(self):
        self.create("x:f4", "s:bytes[4]")
        self.assertIn("no records", self.fails(1, "log", "query", "log", "--plot", "a.svg"))
        self.append([(1, 2)], "time,x")
        self.assertIn("no records", self.fails(1, "log", "query", "log", "--plot", "a.svg", "--from", "2020-01-01"))
        self.assertIn("neither with .svg nor with .html", self.fails(2, "log", "query", "log", "--plot", "a.png"))
        self.assertIn("--unit", self.fails(2, "log", "query", "log", "--plot", "a.svg", "--unit", "y=K"))
        self.assertIn("none/a.svg", self.fails(1, "log", "query", "log", "--plot", "none/a.svg"))
        self.assertIn("is not numeric", self.run_tool("log", "query", "log", "--plot", "a.svg", "--fields", "s").stderr.decode())
        self.fails(2, "log", "query", "log", "--title", "x")
        self.assertEqual(self.files(), ["log"])


class Pages(PlotTest):
    def setUp(self):
        super().setUp()
        self.create("x:f4", "y:f4")
        self.append([(i * 1000, i % 100, 5000 + i) for i in range(20_000)], "time,x,y")

    def test_a_page_holds_its_data(self):
        data = self.data(self.html())
        x, y = data["panels"][0]["series"] + data["panels"][1]["series"]
        self.assertEqual((x["name"], y["name"]), ("x", "y"))
        self.assertTrue(3000 <= len(x["t"]) <= 4001)
        self.assertEqual((min(x["min"]), max(x["max"])), (0, 99))
        self.assertEqual(data["length"], 19_999_000)

    def test_numbers_of_a_page_are_not_rounded(self):
        self.ok("log", "create", "far", "--quiet", "--field", "step:i8", "--field", "x:f4", "--time-field", "step")
        self.append([(2**63 - 9 + i, i) for i in range(9)], "step,x", name="far")
        self.ok("log", "query", "far", "--plot", "far.html")
        page = self.read("far.html").decode()
        self.assertEqual(self.data(page)["begin"], str(2**63 - 9))
        self.write("test.html", page.replace("</html>", HARNESS + "</html>").encode())
        dumped = self.browse("test.html", "--window-size=1200,900", "--dump-dom")
        seen = json.loads(re.search(r'data-seen="(.*?)"', dumped).group(1).replace("&quot;", '"'))
        self.assertEqual(seen["first"]["labels"], [str(2**63 - 9 + i) for i in range(9)])
        self.assertRegex(seen["tip"], r"^92233720368547758\d\d\nx: \d")

    def test_a_page_needs_nothing_else(self):
        page = self.html()
        self.assertEqual(set(re.findall(r"https?://[^'\"\s]*", page)), {"http://www.w3.org/2000/svg"})
        self.assertNotIn("src=", page)
        self.assertNotIn("href=", page)

    def test_a_browser_reacts(self):
        page = self.html("--title", HOSTILE)
        self.write("test.html", page.replace("</html>", HARNESS + "</html>").encode())
        dumped = re.search(r'data-seen="(.*?)"', self.browse("test.html", "--window-size=1200,900", "--dump-dom"))
        self.assertIsNotNone(dumped)
        seen = json.loads(dumped.group(1).replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        first, near, moved, everything = (seen[name] for name in ["first", "near", "moved", "all"])
        self.assertEqual((seen["title"], seen["legend"]), (HOSTILE, ["x", "y"]))
        self.assertEqual(first, everything)
        self.assertIn("01:00", first["labels"])
        for view in [first, near, moved]:
            self.assertNotIn("NaN", "".join(view["lines"]))
            self.assertTrue(view["labels"] and view["values"])
        self.assertGreater(first["lines"][0].count("L"), 500)
        self.assertLess(near["lines"][0].count("L"), 200)
        self.assertRegex(near["labels"][0], r"^\d\d:\d\d:\d\d")
        self.assertNotEqual(near["lines"], moved["lines"])
        self.assertRegex(seen["tip"], r"1970-01-01 02:34:\d\d.*Z\n[xy]: \d")


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
