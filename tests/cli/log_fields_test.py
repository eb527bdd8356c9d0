"""cairn log add-field: fields that are added to logs while they are read."""

import json
import os
import signal
import sys

import tap
from cli import CliTest

OLD = "time,temp\n2026-11-24T10:00:00Z,20.5\n2026-11-24T10:00:01Z,21\n"
NEW = "time,temp,level,room\n2026-11-24T10:00:02Z,22,7,\n2026-11-24T10:00:03Z,23,0,hall\n"


class AddField(CliTest):
    def create(self, name, *args):
        self.ok("log", "create", name, "--quiet", "--field", "time:timestamp[s]", "--field", "temp:f4", *args)
        self.append(name, OLD)

    def append(self, name, text):
        self.ok("log", "append", name, "--quiet", stdin=text.encode())

    def lines(self, *args):
        return self.ok("log", *args).decode().splitlines()

    def logs(self):
        """Gives a log of one file and one of many, with old and new records."""
        for name, args in [("one", []), ("many", ["--rotate-bytes", "64KiB"])]:
            self.create(name, *args)
            self.assertEqual(self.lines("add-field", name, "level:i4"),
                             [f"{name}: field 'level' added, records have 16 bytes; 2 older records without a value"])  # fmt: skip
            self.ok("log", "add-field", name, "room:bytes[8]", "--quiet")
            self.append(name, NEW)
            yield name

    def test_deleted_records_are_not_counted(self):
        self.create("log")
        self.ok("log", "delete", "log", "--where", "temp = 21", "--quiet")
        self.assertIn("; 1 older record without a value", self.lines("add-field", "log", "level:i4")[0])

    def test_old_records_have_no_value(self):
        for name in self.logs():
            self.assertEqual(self.lines("query", name, "--no-header", "--fields", "level,room"), [",", ",", '7,""', "0,hall"])
            self.assertEqual(self.lines("tail", name, "-n", "3", "--no-header", "--fields", "level,room"), [",", '7,""', "0,hall"])
            rows = [json.loads(line) for line in self.lines("query", name, "--format", "jsonl")]
            self.assertEqual([(row["level"], row["room"]) for row in rows], [(None, None), (None, None), (7, ""), (0, "hall")])
            self.assertEqual(self.lines("query", name, "--no-header", "--fields", "temp", "--where", "level < 5"), ["23"])
            self.assertEqual(self.lines("query", name, "--no-header", "--fields", "temp", "--where", "level != 7"), ["20.5", "21", "23"])
            self.assertEqual(self.lines("agg", name, "--no-header", "--by", "level", "--what", "count", "--fields", "temp"),
                             ["2026-11-24T10:00:03Z,0,1,1", "2026-11-24T10:00:02Z,7,1,1", "2026-11-24T10:00:00Z,,2,2"])  # fmt: skip
            (level,) = [field for field in json.loads(self.ok("log", "stat", name, "--json"))["fields"] if field["name"] == "level"]
            self.assertEqual((level["count"], level["min"], level["max"]), (2, 0, 7))

    def test_what_a_log_shows_can_be_read_into_another(self):
        for name in self.logs():
            shown = self.ok("log", "query", name, "--fields", "time,temp,room")
            copy = f"{name}.copy"
            self.ok("log", "create", copy, "--quiet", "--field", "time:timestamp[s]", "--field", "temp:f4", "--field", "room:bytes[8]")
            self.append(copy, shown.decode())
            self.assertEqual(self.lines("query", copy, "--no-header", "--fields", "room"), ['""', '""', '""', "hall"])

    def test_an_upsert_takes_what_a_log_shows(self):
        for name in self.logs():
            self.ok("log", "add-field", name, "open:bool", "--quiet")
            before = self.ok("log", "query", name)
            for form in ["csv", "jsonl"]:
                shown = self.ok("log", "query", name, "--format", form)
                done = self.ok("log", "import", name, "-", "--format", form, "--upsert", stdin=shown)
                self.assertIn(b"0 records inserted, 0 replaced, 4 unchanged", done)
                self.assertEqual(self.ok("log", "query", name), before)
            # A corrected record is a new one, and has a value of each such field.
            done = self.ok("log", "import", name, "-", "--upsert", stdin=before.replace(b",20.5,", b",20.6,"))
            self.assertIn(b"0 records inserted, 1 replaced, 3 unchanged", done)
            self.assertEqual(self.lines("query", name, "--no-header", "--fields", "temp,level,open"), ["20.6,0,false", "21,,", "22,7,", "23,0,"])
            # Records of an append need a value, and so do those that do not name the field.
            self.assertIn("field 'level': no value", self.fails(1, "log", "append", name, stdin=before))
            self.assertIn("field 'level': no value", self.fails(1, "log", "append", name, "--upsert", stdin=OLD.encode()))
            no_level = b'{"time":"2026-11-24T10:00:00Z","temp":1,"open":null}'
            self.assertIn("field 'level': no value", self.fails(1, "log", "append", name, "--upsert", "--format", "jsonl", stdin=no_level))

    def test_followers_show_the_field(self):
        for name, args in [("one", []), ("many", ["--rotate-bytes", "64KiB"])]:
            self.create(name, *args)
            csv = self.start("log", "follow", name, "--from", 0)
            jsonl = self.start("log", "follow", name, "--from", 0, "--format", "jsonl")
            chosen = self.start("log", "follow", name, "--from", 0, "--fields", "temp", "--no-header")
            raw = self.start("log", "follow", name, "--from", 0, "--format", "raw")
            self.assertEqual(self.receive(csv.stdout, len(OLD)), OLD.encode())
            self.assertEqual(len(self.receive(raw.stdout, 24)), 24)
            self.ok("log", "add-field", name, "level:i4", "--quiet")
            self.ok("log", "add-field", name, "room:bytes[8]", "--quiet")
            self.append(name, NEW)
            expected = NEW.replace(",22,7,\n", ',22,7,""\n').encode()
            self.assertEqual(self.receive(csv.stdout, len(expected)), expected)
            text = b""
            while text.count(b"\n") < 4:
                text += self.receive(jsonl.stdout, 1)
            rows = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([list(row) for row in rows], [["time", "temp"]] * 2 + [["time", "temp", "level", "room"]] * 2)
            self.assertEqual(self.receive(chosen.stdout, len(b"20.5\n21\n22\n23\n")), b"20.5\n21\n22\n23\n")
            self.assertEqual(len(self.receive(raw.stdout, 24)), 24)
            for tool in (csv, jsonl, chosen, raw):
                tool.send_signal(signal.SIGTERM)
                tool.communicate(timeout=60)

    def test_refusals_change_nothing(self):
        self.create("log")
        for status, field, complaint in [(1, "temp:f8", "has a field 'temp' already"), (2, "level", "NAME:TYPE"), (2, "level:i3", "i3")]:
            self.assertIn(complaint, self.fails(status, "log", "add-field", "log", field))
        writer = self.start("log", "append", "log", "--columns", "time,temp", "--commit-every", "1")
        writer.stdin.write(b"2026-11-24T10:00:02Z,22\n")
        writer.stdin.flush()
        while len(self.lines("query", "log", "--no-header")) < 3:
            pass
        self.assertIn("writer", self.fails(1, "log", "add-field", "log", "level:i4"))
        writer.communicate(timeout=60)
        self.assertEqual(self.lines("query", "log")[0], "time,temp")


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
