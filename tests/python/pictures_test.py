"""Pictures for notebooks: plots of logs, and the damage of frames."""

import os
import unittest
from unittest import mock
from xml.etree import ElementTree

from support import PackageTest, cairn, np

COUNT = 5000


class PlotTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.log = cairn.Log.create(self.path("sensor.log"), {"time": "M8[s]", "temp": "f8", "n": "i4", "ok": "?", "host": "S4"}, chunksize=4000)
        rng = np.random.default_rng(1)
        self.rows = np.zeros(COUNT, self.log.dtype)
        self.rows["time"] = np.datetime64("2026-01-01", "s") + 3 * np.arange(COUNT)
        self.rows["temp"] = rng.normal(size=COUNT)
        self.rows["temp"][1000:2000] = np.nan
        self.rows["n"] = rng.integers(-5, 5, COUNT)
        self.log.append(self.rows)

    def drawn(self, *given, **named):
        with mock.patch("cairn.logs.plot._engine.draw_plot", return_value="<svg/>") as draw:
            self.log.plot(*given, **named)
        return draw.call_args.args

    def check(self, points, name, rows, bucket):
        """Compares the points with those that NumPy finds."""
        counts = rows["time"].view("i8")
        rows = rows[np.isfinite(rows[name].astype(float))]
        number = rows["time"].view("i8") // bucket
        expected = []
        for one in np.unique(number):
            values = rows[name][number == one].astype(float)
            middle = min(max(int(one) * bucket + bucket // 2, counts[0]), counts[-1])
            expected.append((middle, values.mean(), values.min(), values.max()))
        np.testing.assert_allclose(np.array(points), np.array(expected))

    def test_points_are_those_of_the_records(self):
        title, note, unit, begin, end, series = self.drawn(units={"temp": "°C"})
        self.assertEqual((title, unit), ("sensor.log", 0))
        self.assertEqual((begin, end), (self.rows["time"][0].astype(int), self.rows["time"][-1].astype(int)))
        self.assertEqual([one[:2] for one in series], [("temp", "°C"), ("n", ""), ("ok", "")])
        self.assertTrue(note.startswith("5,000 records, 2026-01-01T00:00:00 to 2026-01-01T04:09:57: mean"), note)
        for name, _, points in series:
            self.check(points, name, self.rows, (end - begin + 1) // 1000 + 1)

    def test_few_records_are_points_of_their_own(self):
        *_, series = self.drawn("2026-01-01T00:10", "2026-01-01T00:20", fields="n", where="n > 0")
        rows = self.rows[200:400]
        rows = rows[rows["n"] > 0]
        self.assertEqual(series, [("n", "", [(time, n, n, n) for time, n in zip(rows["time"].view("i8").tolist(), rows["n"].tolist())])])
        *_, series = self.drawn(last="30s", fields=["n"], title="x")
        self.assertEqual(len(series[0][2]), 11)

    def test_picture_is_svg(self):
        plot = self.log.plot(title="a <b> & c", units={"n": "m/s"})
        root = ElementTree.fromstring(plot.svg)
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        texts = ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("a <b> & c", texts)
        self.assertIn("n (m/s)", texts)
        self.assertEqual(plot._repr_svg_(), plot.svg)
        plot.save(self.path("p.svg"))
        with open(self.path("p.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read(), plot.svg)
        with self.assertRaisesRegex(cairn.NotFound, "none/p.svg: cannot create: there is no folder .*none'; make it first"):
            plot.save(self.path("none/p.svg"))

    def test_pictures_of_other_kinds_are_refused(self):
        plot = self.log.plot()
        for name in ("p.png", "p.PDF"):
            with self.subTest(name=name), self.assertRaisesRegex(cairn.InvalidArgument, "saved as SVG: expected a name that ends with '.svg'"):
                plot.save(self.path(name))
            self.assertFalse(os.path.exists(self.path(name)))
        plot.save(self.path("p"))

    def test_what_cannot_be_drawn_is_told(self):
        for call, kind in (
            (lambda: self.log.plot("2030-01-01"), cairn.FailedPrecondition), (lambda: self.log.plot(fields="none"), cairn.NotFound),
            (lambda: self.log.plot(units={"host": "x"}), cairn.NotFound), (lambda: self.log.plot(units=5), cairn.InvalidType),
            (lambda: cairn.Log.create(self.path("empty"), self.log.dtype).plot(), cairn.FailedPrecondition),
            (lambda: cairn.Log.create(self.path("text"), {"time": "M8[s]", "host": "S4"}).plot(), cairn.FailedPrecondition),
        ):  # fmt: skip
            with self.assertRaises(kind):
                call()

    def test_greatest_and_least_times_of_all(self):
        for number, times in enumerate([[2**63 - 1], [2**63 - 4, 2**63 - 3, 2**63 - 1], [1 - 2**63, 0, 2**63 - 1], [1 - 2**63, 3 - 2**63]]):
            log = cairn.Log.create(self.path(f"far{number}"), {"time": "i8", "x": "f4"}, time="time")
            log.append({"time": times, "x": range(len(times))})
            with self.subTest(times=times), mock.patch("cairn.logs.plot._engine.draw_plot", return_value="") as draw:
                log.plot()
                title, note, unit, begin, end, series = draw.call_args.args
                self.assertEqual([point[0] for point in series[0][2]], times)
                self.assertEqual((begin, end), (min(times[0], 2**63 - 2), times[-1]))
                self.assertIn(f"records, {times[0]} to {times[-1]}", note)
            ElementTree.fromstring(log.plot().svg)
        with self.assertRaises(cairn.FailedPrecondition):
            log.plot(end=1 - 2**63)

    def test_times_may_be_plain_numbers(self):
        log = cairn.Log.create(self.path("plain"), {"time": "i8", "x": "f4"}, time="time")
        log.append({"time": [1, 2, 5000], "x": [1, 2, 3]})
        with mock.patch("cairn.logs.plot._engine.draw_plot", return_value="") as draw:
            log.plot()
        self.assertEqual(draw.call_args.args[2:5], (None, 1, 5000))
        self.assertEqual([point[0] for point in draw.call_args.args[5][0][2]], [1, 2, 5000])
        ElementTree.fromstring(log.plot().svg)


class DamageTest(PackageTest):
    def test_report_shows_the_damaged_chunks(self):
        items = np.random.default_rng(1).normal(size=100_000)
        frame = cairn.asarray(items, self.path(), chunks=500)
        self.assertIn("no damage, 200 chunks", frame.verify()._repr_html_())
        self.assertNotIn("#c22", frame.verify()._repr_html_())
        self.assertEqual(frame._repr_html_().count("bytes</title>"), 120)
        chunk = frame.chunk(77)
        frame.close()
        with open(self.path(), "r+b") as file:
            file.seek(file.read().index(chunk) + 100)
            file.write(bytes(50))
        frame = cairn.open(self.path())
        page = frame.verify()._repr_html_()
        self.assertIn("1 place is damaged, 200 chunks", page)
        self.assertEqual(page.count("#c22"), 1)
        self.assertIn("damaged: chunk 77</title>", page)
        ElementTree.fromstring(page)
        ElementTree.fromstring(frame._repr_html_())
        self.assertIn("no damage, 0 chunks", cairn.create(self.path("none")).verify()._repr_html_())


if __name__ == "__main__":
    unittest.main()
