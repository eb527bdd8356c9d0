"""Keys of logs: texts that many records share, and the latest record of each."""

import json
import os
import random
import sys

import tap
from cli import CliTest

LONG = "ein Name, so lang, dass er in kein Feld fester Breite passt " + "x" * 100


class Keys(CliTest):
    def lines(self, *args):
        return self.ok("log", *args).decode().splitlines()

    def logs(self):
        """Gives a log of one file and one of many, with its records."""
        for name, args in [("one", []), ("many", ["--rotate-bytes", "8KiB"])]:
            self.ok("log", "create", name, "--quiet", "--field", "time:timestamp[s]", "--field", "n:i4", "--key", "host,status",
                    "--chunk-size", "1KiB", *args)  # fmt: skip
            dice = random.Random(1)
            rows = [(i, i % 7, dice.choice(["a", "b,c", "", LONG]), dice.choice(["ok", "down"])) for i in range(500)]
            for begin in (0, 100, 300):
                end = {0: 100, 100: 300, 300: 500}[begin]
                records = [{"time": t, "n": n, "host": host, "status": status} for t, n, host, status in rows[begin:end]]
                text = "\n".join(map(json.dumps, records)).encode()
                self.ok("log", "append", name, "--quiet", "--format", "jsonl", stdin=text)
            yield name, rows

    def test_texts_come_back(self):
        for name, rows in self.logs():
            found = [json.loads(line) for line in self.lines("query", name, "--format", "jsonl")]
            self.assertEqual([(row["n"], row["host"], row["status"]) for row in found], [row[1:] for row in rows])
            csv = self.lines("tail", name, "-n", "500", "--fields", "host")
            quoted = {"a": "a", "b,c": '"b,c"', "": '""', LONG: f'"{LONG}"'}
            self.assertEqual(csv, ["host", *(quoted[row[2]] for row in rows)])
            self.assertIn("host", json.dumps(json.loads(self.ok("log", "stat", name, "--json"))["fields"]))
            copy = name + ".copy"
            self.ok("log", "create", copy, "--quiet", "--field", "time:timestamp[s]", "--field", "host:text", "--field", "n:i4", "--field", "status:text")
            self.ok("log", "append", copy, "--quiet", stdin=self.ok("log", "query", name))
            self.assertEqual(self.lines("query", copy, "--fields", "host,status"), self.lines("query", name, "--fields", "host,status"))

    def test_conditions_and_groups(self):
        for name, rows in self.logs():
            for where, holds in [("host == 'a'", lambda h: h == "a"), ("host != 'a'", lambda h: h != "a"), ("host > 'b'", lambda h: h > "b"),
                                 ("host in ('a', 'b,c')", lambda h: h in ("a", "b,c")), ("host == 'nobody'", lambda h: False)]:  # fmt: skip
                found = self.lines("query", name, "--no-header", "--numbers", "--fields", "n", "--where", where)
                self.assertEqual([int(line.split(",")[0]) for line in found], [row[0] for row in rows if holds(row[2])], where)
            found = self.lines("agg", name, "--by", "host", "--what", "sum", "--fields", "n", "--format", "jsonl")
            sums = {row["host"]: (row["records"], row["sum(n)"]) for row in map(json.loads, found)}
            hosts = {row[2] for row in rows}
            self.assertEqual(sums, {host: (sum(r[2] == host for r in rows), sum(r[1] for r in rows if r[2] == host)) for host in hosts})

    def test_latest(self):
        for name, rows in self.logs():
            for by, key in [("host", lambda r: (r[2],)), ("status,host", lambda r: (r[3], r[2])), ("n", lambda r: (r[1],))]:
                newest = {key(row): row for row in rows}
                found = [json.loads(line) for line in self.lines("latest", name, "--by", by, "--format", "jsonl", "--numbers")]
                self.assertEqual([(row["record"], row["n"], row["host"], row["status"]) for row in found], [newest[one] for one in sorted(newest)])
            self.assertEqual(self.lines("latest", name, "--by", "host", "--where", "n == 99"), ["time,n,host,status"])
            self.assertEqual(len(self.lines("latest", name, "--by", "n", "--last", "3s", "--fields", "n", "--no-header")), 4)
            self.assertIn("'when'", self.fails(1, "log", "latest", name, "--by", "when"))
            self.assertIn("max_groups", self.fails(1, "log", "latest", name, "--by", "n", "--max-groups", "3"))

    def test_upserts_go_by_the_keys_unless_others_are_named(self):
        for name, rows in self.logs():
            changed = ["time,n,host,status", *(f"{t},99,{host},ok" for t in range(200, 210) for host in "xy")]
            self.write("more.csv", "\n".join(changed).encode())
            self.assertIn(b": 20 records inserted, 0 replaced, 0 unchanged, now 520 records", self.ok("log", "import", name, "more.csv", "--upsert"))
            self.assertIn(b": 0 records inserted, 0 replaced, 20 unchanged, now 520 records", self.ok("log", "import", name, "more.csv", "--upsert"))
            self.assertEqual(len(self.lines("query", name, "--no-header")), len(rows) + 20)
            done = self.ok("log", "import", name, "more.csv", "--upsert", "--key", "")
            self.assertIn(b": 0 records inserted, 10 replaced, 0 unchanged, 20 old records removed, now 500 records", done)
            self.assertIn("--key: no field 'when'; there are time, n, host, status", self.fails(1, "log", "import", name, "more.csv", "--upsert", "--key", "when"))

    def test_followers_show_texts(self):
        self.ok("log", "create", "log", "--quiet", "--field", "time:timestamp[s]", "--key", "host")
        tool = self.start("log", "follow", "log", "--from", 0)
        for number, host in enumerate(["a", "new", "a"]):
            self.ok("log", "append", "log", "--quiet", stdin=f"time,host\n{number},{host}\n".encode())
        expected = b"time,host\n1970-01-01T00:00:00Z,a\n1970-01-01T00:00:01Z,new\n1970-01-01T00:00:02Z,a\n"
        self.assertEqual(self.receive(tool.stdout, len(expected)), expected)

    def test_texts_that_cannot_be_keys_are_bad_rows(self):
        self.ok("log", "create", "log", "--quiet", "--field", "time:timestamp[s]", "--key", "host")
        self.assertIn("UTF-8", self.fails(1, "log", "append", "log", stdin=b"time,host\n1,a\xff\n"))
        self.ok("log", "append", "log", "--quiet", stdin=b"time,host\n1,a\n")
        self.assertEqual(self.lines("query", "log", "--no-header", "--fields", "host"), ["a"])


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
