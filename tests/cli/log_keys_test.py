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

    def test_a_log_that_was_cut_off(self):
        self.ok("log", "create", "log", "--quiet", "--field", "time:timestamp[ms]", "--field", "w:i8", "--key", "k")
        rows = "".join(f"{1761350000000 + i * 1000},{i},host{i % 3}\n" for i in range(100))
        self.ok("log", "append", "log", "--quiet", stdin=f"time,w,k\n{rows}".encode())
        self.ok("log", "delete", "log", "--quiet", "--where", "w in (5,6)")
        content = self.read("log")
        hosts = [f"{i},host{i % 3}" for i in range(100) if i not in (5, 6)]
        news = "".join(f"{1861350000000 + i * 1000},{i},new{i}\n" for i in range(3))
        for missing in (*range(20, 1000, 70), 500, 700):
            self.write("cut", content[:-missing])
            told = self.ok("recover", "--salvage", "cut", "saved").decode()
            self.assertEqual(self.lines("query", "saved", "--fields", "w,k")[1:], hosts, (missing, told))
            self.ok("log", "append", "saved", "--quiet", stdin=f"time,w,k\n{news}".encode())
            self.assertEqual(self.lines("query", "saved", "--fields", "w,k")[1:], [*hosts, "0,new0", "1,new1", "2,new2"])
            os.remove(self.path("saved"))

    def test_texts_that_are_lost(self):
        """A log that has no older state of its keys."""
        self.ok("log", "create", "log", "--quiet", "--field", "time:timestamp[ms]", "--field", "w:i8", "--key", "k")
        rows = "".join(f"{1761350000000 + i * 1000},{i},host{i % 3}\n" for i in range(100))
        self.ok("log", "append", "log", "--quiet", stdin=f"time,w,k\n{rows}".encode())
        self.ok("compact", "log", "--quiet")
        content = self.read("log")
        begin = content.rindex(b"host0")
        self.write("cut", content[:begin])
        told = self.ok("recover", "--salvage", "cut", "saved").decode()
        self.assertIn("  lost: metalayer cairn.log.keys0", told)
        self.assertIn("  log: texts of keys are lost", told)
        os.remove(self.path("saved"))
        report = json.loads(self.ok("recover", "--salvage", "cut", "saved", "--json"))
        self.assertIn("cairn.log.keys0", report["lost_metalayers"])
        self.assertEqual(report["older_metalayers"], [])
        groups = self.lines("agg", "saved", "--by", "k", "--what", "count", "--format", "jsonl")
        self.assertEqual([json.loads(line)["k"] for line in groups], ["?1", "?2", "?3"])
        self.assertEqual(self.lines("query", "saved", "--fields", "w", "--where", "k == '?2'")[1:3], ["1", "4"])
        self.ok("log", "append", "saved", "--quiet", stdin=b"time,w,k\n1861350000000,7,new\n")
        found = self.lines("query", "saved", "--fields", "w,k")[1:]
        self.assertEqual(found, [*(f"{i},?{i % 3 + 1}" for i in range(100)), "7,new"])

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
