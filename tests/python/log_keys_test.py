"""Logs with keys: fields of texts that many records share."""

import random
import unittest

from support import PackageTest, cairn, np

try:
    import pandas as pd
except ImportError:
    pd = None
try:
    import pyarrow as pa
except ImportError:
    pa = None

LONG = "ein Name, der länger ist als jedes Feld fester Breite: " + "x" * 300


def times(count, first=0):
    return np.arange(first, first + count).astype("M8[s]")


class KeysTest(PackageTest):
    def logs(self, count=1000):
        """Gives logs of one file and of many, with what their records hold."""
        for number, rotation in enumerate([cairn.Rotation(), cairn.Rotation(period="5m")]):
            dice = random.Random(number)
            log = cairn.Log.create(self.path(f"log{number}"), {"time": "M8[s]", "temp": "f8"}, key=["host", "status"],
                                   rotation=rotation, chunksize=2000)  # fmt: skip
            rows = {
                "time": times(count),
                "temp": np.round(np.random.default_rng(number).normal(size=count), 3),
                "host": [dice.choice(["a", "bé", "", LONG, f"h{dice.randrange(50)}"]) for _ in range(count)],
                "status": [dice.choice(["ok", "down"]) for _ in range(count)],
            }
            with log.writer() as writer:
                for begin in range(0, count, 170):
                    writer.append({name: column[begin : begin + 170] for name, column in rows.items()})
                    writer.commit()
            yield log, rows

    def test_texts_come_back(self):
        for log, rows in self.logs():
            self.assertEqual(log.query()["host"].tolist(), rows["host"])
            self.assertEqual(log["host"].tolist(), rows["host"])
            self.assertEqual(log.tail(7)["status"].tolist(), rows["status"][-7:])
            self.assertEqual([text for records in log.scan(fields="host") for text in records["host"]], rows["host"])
            self.assertEqual(log.query()[3:5]["host"].tolist(), rows["host"][3:5])
            self.assertEqual(log.query()[3]["host"], rows["host"][3])
            self.assertEqual([text for records in log.follow(0, timeout=0) for text in records["host"]], rows["host"])
            self.assertIn(rows["status"][0], repr(log.query()))

    def test_conditions(self):
        for log, rows in self.logs():
            hosts = np.array(rows["host"], object)
            for where, expected in [
                ("host == 'a'", hosts == "a"), (("host", "!=", LONG), hosts != LONG), ("host in ('h1', 'h2')", np.isin(hosts, ["h1", "h2"])),
                ("host >= 'h' and status = 'ok'", (hosts >= "h") & (np.array(rows["status"]) == "ok")), ("host == 'nobody'", hosts == "nobody"),
                ("not host < 'b'", ~(hosts < "b")), (("host", "==", ""), hosts == ""),
            ]:  # fmt: skip
                self.assertEqual(log.query(where=where).numbers.tolist(), np.flatnonzero(expected).tolist(), where)
            with self.assertRaises(cairn.InvalidArgument):
                log.query(where="host > 5")

    def test_tuples_take_lists(self):
        for log, rows in self.logs():
            for values in (["a", LONG, "no'b\\ody"], [b"b\xc3\xa9"], [], ("h1", "h2")):
                texts = {one.decode() if isinstance(one, bytes) else one for one in values}
                within = np.array([host in texts for host in rows["host"]])
                for sign, holds in [("in", within), ("not in", ~within)]:
                    found = log.query(where=[("host", sign, values), ("temp", ">", 0)])
                    np.testing.assert_array_equal(found.numbers, np.flatnonzero(holds & (rows["temp"] > 0)))
            for field, values in [("temp", rows["temp"][[3, 5]]), ("temp", [np.nan, rows["temp"][9]]), ("time", rows["time"][[2, 7]])]:
                found = log.query(where=(field, "in", values))
                np.testing.assert_array_equal(found.numbers, np.flatnonzero(np.isin(rows[field], values)))
            for wrong in ("a", 5):
                with self.assertRaisesRegex(cairn.InvalidType, "where: in: expected a list"):
                    log.query(where=("host", "in", wrong))

    def test_latest_record_of_each_key(self):
        for log, rows in self.logs():
            for by in (["host"], ["status"], ["status", "host"]):
                newest = {}
                for number in range(1000):
                    newest[tuple(rows[name][number] for name in by)] = number
                found = log.latest(by=by)
                self.assertEqual(list(zip(*(found[name] for name in by))), sorted(newest))
                self.assertEqual(found.numbers.tolist(), [newest[key] for key in sorted(newest)])
                self.assertEqual(found["temp"].tolist(), [rows["temp"][newest[key]] for key in sorted(newest)])
            found = log.latest("status", last="100s", where="host != 'a'", fields=["temp", "status"])
            self.assertEqual(list(found.columns), ["temp", "status"])
            with self.assertRaises(cairn.InvalidArgument):
                log.latest(by="temp")
            with self.assertRaises(cairn.ResourceExhausted):
                log.latest(by="host", max_groups=3)

    @unittest.skipIf(pd is None, "no pandas")
    def test_beside_pandas(self):
        for log, rows in self.logs():
            frame = pd.DataFrame({name: rows[name] for name in ("temp", "host", "status")}, index=pd.Index(rows["time"], name="time"))
            found = log.to_pandas()
            self.assertEqual(str(found["host"].dtype), "category")
            texts = {"host": object, "status": object}
            pd.testing.assert_frame_equal(found.astype(texts), frame.astype(texts), check_index_type=False, check_freq=False)
            sums = log.aggregate(by="host", fields="temp").to_pandas().droplevel("time")
            expected = frame.groupby("host")["temp"]
            self.assertEqual(sums.index.tolist(), expected.sum().index.tolist())
            np.testing.assert_allclose(sums[("temp", "sum")], expected.sum())
            self.assertEqual(sums[("temp", "last")].tolist(), expected.last().tolist())
            # Categories go in, and None is an empty text.
            more = pd.DataFrame({"time": times(4, 5000), "temp": 1.0, "host": pd.Categorical(["new", None, "a", "new"], categories=["unused", "new", "a"]),
                                 "status": ["ok", None, float("nan"), pd.NA]})  # fmt: skip
            log.append(more)
            self.assertEqual(log.tail(4)["host"].tolist(), ["new", "", "a", "new"])
            self.assertEqual(log.tail(4)["status"].tolist(), ["ok", "", "", ""])
            self.assertEqual(len(log.query(where="host == 'unused'")), 0)

    @unittest.skipIf(pa is None, "no pyarrow")
    def test_arrow_dictionaries_go_in_and_out(self):
        for log, rows in self.logs():
            for table in (log.query().to_arrow(), log.scan().to_arrow().read_all(), pa.table(log)):
                self.assertEqual(table["host"].type, pa.dictionary(pa.int32(), pa.string()))
                self.assertEqual(table["host"].to_pylist(), rows["host"])
            copy = cairn.Log.create(self.path("copy" + log.path[-1]), {"time": "M8[s]", "host": "text", "temp": "f8", "status": "text"})
            copy.append(log.query().to_arrow())
            self.assertEqual(copy.query()["host"].tolist(), rows["host"])
            again = cairn.Log.create(self.path("again" + log.path[-1]), {"time": "M8[s]", "host": "text"})
            again.append(log.query(fields=["time", "host"]))
            self.assertEqual(again["host"].tolist(), rows["host"])

    def test_a_key_that_is_added_later(self):
        for log, rows in self.logs():
            with log.writer() as writer:
                writer.add_field("zone", "text")
                writer.append({"time": times(2, 5000), "temp": [1, 2], "host": ["a", "b"], "status": ["ok", "ok"], "zone": ["north", ""]})
            found = log.query()
            self.assertEqual(found["zone"].tolist(), [""] * 1000 + ["north", ""])
            self.assertEqual(found.missing["zone"].sum(), 1000)
            self.assertEqual(log.aggregate(by="zone", fields="temp").groups["zone"].tolist(), ["", "north", None])
            self.assertEqual(log.latest(by=["zone"]).numbers.tolist(), [1001, 1000, 999])
            if pd is not None:
                self.assertEqual(log.to_pandas()["zone"].isna().sum(), 1000)
            if pa is not None:
                self.assertEqual(log.query().to_arrow()["zone"].null_count, 1000)

    def test_upserts_replace_records_of_a_key(self):
        for log, rows in self.logs():
            with log.writer() as writer:
                done = writer.upsert({"time": times(3, 998), "temp": [5.0, 6.0, 7.0], "host": [rows["host"][998], "other", "new"],
                                      "status": ["up"] * 3}, key="host")  # fmt: skip
            self.assertEqual((done.inserted, done.replaced), (2, 1))
            self.assertEqual(len(log), 1002)
            self.assertEqual(log.latest(by="host", where="status == 'up'")["temp"].tolist(), [x for _, x in sorted(zip([rows["host"][998], "other", "new"], [5.0, 6.0, 7.0]))])

    def test_upserts_go_by_all_texts_unless_a_key_is_named(self):
        for log, _ in self.logs():
            more = {"time": times(4, 500).repeat(2), "temp": np.arange(8.0), "host": ["x", "y"] * 4, "status": ["ok"] * 8}
            self.assertEqual(log.upsert(more), (8, 0, 0, 0))
            self.assertEqual(log.upsert(more), (0, 0, 8, 0))
            self.assertEqual(len(log), 1008)
            self.assertEqual(log.upsert({**more, "temp": np.arange(8.0) + 1}, key=[]).inserted, 0)
            self.assertEqual(len(log), 1000)

    def test_refusals(self):
        log = cairn.Log.create(self.path("log"), {"time": "M8[s]"}, key="host")
        for value, error in [(5, cairn.InvalidType), ("a\0", cairn.InvalidArgument), ("x" * 65_536, cairn.InvalidArgument), ("\udc80", cairn.InvalidArgument)]:
            with self.assertRaises(error):
                log.append({"time": [0], "host": [value]})
        with self.assertRaises(cairn.InvalidArgument):  # a code that has no text
            log.append(np.array([(0, 7)], log.dtype))
        self.assertEqual(len(log), 0)
        log.append({"time": "2026-01-01", "host": "one"})
        log.append({"time": "2026-01-02"})
        self.assertEqual(log["host"].tolist(), ["one", ""])
        with self.assertRaises(cairn.AlreadyExists):
            cairn.Log.create(self.path("log"), {"time": "M8[s]", "host": "u4"}, exist_ok=True)
        self.assertEqual(len(cairn.Log.create(self.path("log"), {"time": "M8[s]", "host": "text"}, exist_ok=True)), 2)


if __name__ == "__main__":
    unittest.main()
