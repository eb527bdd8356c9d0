"""cairn log: records with times, from creation to sums."""

import datetime
import json
import os
import random
import resource
import signal
import statistics
import struct
import sys
import time

import tap
from cli import CliTest

START = datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)


class LogTest(CliTest):
    def create(self, *fields, name="log", args=()):
        fields = fields or ["time:timestamp[us]", "temp:f8", "n:i4"]
        self.ok("log", "create", name, "--quiet", *(word for field in fields for word in ["--field", field]), *args)
        return name

    def append(self, text, *args, name="log"):
        self.ok("log", "append", name, "--quiet", *args, stdin=text.encode())

    def wait_for_writer(self, name):
        end = time.monotonic() + 60
        while b"held by another" not in self.run_tool("log", "append", name, "--quiet").stderr:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def rows(self, *args, name="log", command="query"):
        """As texts, without the names."""
        text = self.ok("log", command, name, "--no-header", *args).decode()
        return [line.split(",") for line in text.splitlines()]

    def stat(self, name="log"):
        return json.loads(self.ok("log", "stat", name, "--json"))

    def fill(self, count, step=60, name="log"):
        """Readings, one each `step` seconds; gives their temperatures."""
        rng = random.Random(1)
        temps = [round(rng.uniform(-10, 40), 3) for _ in range(count)]
        lines = [f"{(START + datetime.timedelta(seconds=i * step)).isoformat()},{temps[i]},{i}" for i in range(count)]
        self.append("time,temp,n\n" + "\n".join(lines), name=name)
        return temps


class Upsert(LogTest):
    READINGS = "time,temp,n\n2026-11-01T00:01:00Z,7,1\n2026-11-01T00:05:30Z,8,2\n"

    def test_replaces_records_of_the_same_time(self):
        for name, args in [("log", []), ("many", ["--rotate-every", "3m", "--chunk-size", "1KiB"])]:
            with self.subTest(name=name):
                self.create(name=name, args=args)
                temps = self.fill(10, name=name)
                done = self.ok("log", "append", name, "--upsert", stdin=self.READINGS.encode())
                self.assertIn(f"{name}: 1 record inserted, 1 replaced, 0 unchanged, now 11 records in".encode(), done)
                expected = [[temp, n] for n, temp in enumerate(temps)]
                expected[1] = [7, 1]
                expected.insert(6, [8, 2])
                self.assertEqual([[float(temp), int(n)] for _, temp, n in self.rows(name=name)], expected)
                self.write("again.csv", self.READINGS.encode())
                self.write("more.csv", self.READINGS.replace("8,2", "9,2").encode())
                done = self.ok("log", "import", name, "again.csv", "--upsert")
                self.assertIn(b": 0 records inserted, 0 replaced, 2 unchanged, now 11 records", done)
                # The last of the same time stays, in whatever file it is.
                done = self.ok("log", "import", name, "again.csv", "more.csv", "--upsert")
                self.assertIn(b": 0 records inserted, 1 replaced, 1 unchanged, now 11 records", done)
                self.assertEqual(self.rows(name=name)[6][1:], ["9", "2"])
                files = [f"{name}/{file}" for file in os.listdir(self.path(name))] if args else [name]
                self.ok("verify", *files)

    def test_key_tells_records_apart(self):
        self.create("time:timestamp[s]", "room:bytes[8]", "temp:f4")
        rows = "time,room,temp\n2026-11-01T00:00:00Z,{},1\n2026-11-01T00:00:00Z,{},2\n"
        self.append(rows.format("hall", "attic"))
        self.append(rows.format("attic", "cellar"), "--upsert", "--key", "room")
        self.assertEqual(self.rows("--fields", "room,temp"), [["hall", "1"], ["attic", "1"], ["cellar", "2"]])
        self.append(rows.format("hall", "hall"), "--upsert", "--key", "time,room")
        self.assertEqual(self.rows("--fields", "room,temp"), [["attic", "1"], ["cellar", "2"], ["hall", "2"]])

    def test_lines_before_a_bad_one_are_written(self):
        self.create()
        self.write("bad.csv", (self.READINGS + "never,1,2\n").encode())
        self.assertIn("upserted before that: 2 records", self.fails(1, "log", "import", "log", "bad.csv", "--upsert"))
        self.assertEqual(self.stat()["records"], 2)
        done = self.run_tool("log", "import", "log", "bad.csv", "--upsert", "--bad", "skip")
        self.assertIn(b"2 unchanged, 1 bad line skipped, now 2 records", done.stdout)

    def test_says_what_it_wants(self):
        self.create()
        self.assertIn("--upsert", self.fails(2, "log", "append", "log", "--key", "n"))
        self.fails(2, "log", "append", "log", "--upsert", "--commit-every", "5")
        self.fails(2, "log", "append", "log", "--upsert", "--late-window", "5s")
        self.assertIn("--late-window: '5' is not", self.fails(2, "log", "append", "log", "--late-window", "5"))
        self.assertIn("'room'", self.fails(1, "log", "append", "log", "--upsert", "--key", "room"))
        self.write("log.csv", self.READINGS.encode())
        self.assertIn("'temp' has floats", self.fails(2, "log", "import", "log", "log.csv", "--upsert", "--key", "temp"))
        self.assertEqual(self.stat()["records"], 0)


class Delete(LogTest):
    def test_deletes_what_is_chosen(self):
        for name, args in [("log", []), ("many", ["--rotate-bytes", "4KiB", "--chunk-size", "1KiB"])]:
            with self.subTest(name=name):
                self.create(name=name, args=args)
                self.fill(400, name=name)
                self.assertIn(b"would delete 20", self.ok("log", "delete", name, "--where", "n < 20", "--dry-run"))
                self.assertEqual(self.stat(name)["records"], 400)
                self.assertEqual(self.ok("log", "delete", name, "--where", "n < 20"), f"{name}: 20 records deleted, now 380 records\n".encode())
                self.assertEqual(self.ok("log", "delete", name, "--where", "n < 20"), f"{name}: 0 records deleted, now 380 records\n".encode())
                self.ok("log", "delete", name, "--from", "2026-11-01T05:00", "--to", "2026-11-01T06:00", "--quiet")
                rest = [*range(20, 300), *range(360, 400)]
                self.assertEqual([int(row[2]) for row in self.rows(name=name)], rest)
                self.assertEqual([int(row[2]) for row in self.rows("-n", 60, name=name, command="tail")], rest[-60:])
                self.assertEqual([int(row[0]) for row in self.rows("--numbers", name=name)], rest)
                stat = self.stat(name)
                self.assertEqual((stat["records"], stat["deleted_records"], stat["end_record"]), (320, 80, 400))
                self.assertEqual((stat["fields"][2]["count"], stat["fields"][2]["min"]), (320, 20))
                self.assertEqual(stat["first_time"], "2026-11-01T00:20:00.000000Z")
                (row,) = self.rows("--what", "count,min", "--fields", "n", name=name, command="agg")
                self.assertEqual(row[1:], ["320", "320", "20"])
                self.ok("log", "delete", name, "--last", "10m", "--quiet")
                self.assertEqual(self.stat(name)["last_time"], "2026-11-01T06:28:00.000000Z")
                self.ok("log", "delete", name, "--all", "--quiet")
                self.assertEqual((self.stat(name)["records"], self.rows(name=name)), (0, []))
                self.append("2026-11-02T00:00:00Z,1,400\n", "--columns", "time,temp,n", name=name)
                self.assertEqual([row[0] for row in self.rows("--numbers", name=name)], ["400"])

    def test_values_stay_gone_in_copies_and_after_a_compaction(self):
        self.create()
        self.fill(300)
        self.ok("log", "delete", "log", "--where", "n in (5, 77)", "--quiet")
        rest = [i for i in range(300) if i not in (5, 77)]
        self.ok("compact", "log")
        self.ok("copy", "log", "copy")
        for name in ("log", "copy"):
            self.assertEqual([int(row[2]) for row in self.rows(name=name)], rest)
        self.ok("verify", "log")

    def test_says_what_it_wants(self):
        self.create()
        self.fill(10)
        self.assertIn("--all", self.fails(2, "log", "delete", "log"))
        self.fails(2, "log", "delete", "log", "--all", "--where", "n = 1")
        self.fails(2, "log", "delete", "log", "--where", "n >")
        self.assertEqual(self.stat()["records"], 10)

    def test_a_writer_that_runs_carries_it_out(self):
        self.create()
        self.fill(10)
        writer = self.start("log", "append", "log", "--columns", "time,temp,n", "--commit-every", "1", "--quiet")
        self.wait_for_writer(writer)
        refused = self.run_tool("log", "delete", "log", "--where", "n = 3", "--wait", 0)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("with its next commit", refused.stderr.decode())
        time.sleep(0.05)
        self.send(writer, 101)
        self.assertEqual([int(row[2]) for row in self.rows()], [0, 1, 2, *range(4, 10), 100, 101])
        deleter = self.start("log", "delete", "log", "--where", "n = 4", "--wait", "60s")
        for i in range(102, 1000):
            self.send(writer, i)
            if deleter.poll() is not None:
                break
        out, err = deleter.communicate(timeout=60)
        self.assertEqual((deleter.returncode, err), (0, b""))
        self.assertIn(b"1 record deleted", out)
        writer.stdin.close()
        self.assertEqual(writer.wait(), 0)

    def test_a_writer_without_input_carries_it_out(self):
        self.create()
        self.fill(10)
        writer = self.start("log", "append", "log", "--columns", "time,temp,n", "--quiet")
        self.wait_for_writer(writer)
        self.assertIn(b"1 record deleted", self.ok("log", "delete", "log", "--where", "n = 4", "--wait", "60s"))
        writer.stdin.close()
        self.assertEqual(writer.wait(), 0)

    def wait_for_writer(self, writer):
        self.send(writer, 100)

    def send(self, writer, number):
        """Sends a record, and waits until it is committed."""
        writer.stdin.write(f"2026-11-03T00:00:00Z,1,{number}\n".encode())
        writer.stdin.flush()
        for _ in range(1000):
            if [str(number)] in self.rows("-n", 1, "--fields", "n", command="tail"):
                return
            time.sleep(0.01)
        self.fail(f"record {number} is not there")


class Create(LogTest):
    def test_makes_a_frame_that_says_what_its_records_are(self):
        self.create("time:timestamp[ms]", "temp:f4", "host:bytes[16]", "ok:bool", "n:u8")
        info = self.info("log")
        self.assertEqual(info["array"]["dtype"], "[('time', '<M8[ms]'), ('temp', '<f4'), ('host', '|S16'), ('ok', '|b1'), ('n', '<u8')]")
        self.assertEqual([field["name"] for field in info["fields"]], ["time", "temp", "host", "ok", "n"])
        self.assertEqual(info["fields"][2], {"name": "host", "type": "|S16", "offset": 12, "size": 16})

    def test_an_unknown_type_lists_those_that_there_are(self):
        for command in (["create", "log", "--field"], ["add-field", "other"]):
            message = self.fails(2, "log", *command, "temp:double")
            self.assertIn("--field: field 'temp': dtype: type double is unknown; types are timestamp[s]", message)

    def test_refuses_what_is_no_field(self):
        for field in ["temp", "temp:", ":f4", "temp:f3", "temp:complex64", "time:timestamp", "time:timestamp[m]"]:
            with self.subTest(field=field):
                self.assertNotEqual(self.run_tool("log", "create", "log", "--field", field).returncode, 0)
                self.assertEqual(self.files(), [])
        self.fails(2, "log", "create", "log")
        self.fails(2, "log", "create", "log", "--field", "a:f4", "--field", "a:f4")

    def test_leaves_what_is_there(self):
        self.write("log", b"mine")
        self.fails(1, "log", "create", "log", "--field", "a:f4")
        self.assertEqual(self.read("log"), b"mine")

    def test_a_limit_of_time_needs_a_time(self):
        self.assertIn("no time", self.fails(1, "log", "create", "log", "--field", "a:f4", "--retain-age", "1d"))
        self.assertIn("whole number of s", self.fails(2, "log", "create", "log", "--field", "t:timestamp[s]", "--retain-age", "1500ms"))

    def test_keeps_what_its_options_say(self):
        self.create("t:timestamp[s]", args=["--retain-age", "30d", "--retain-records", 5, "--retain-bytes", "1MiB"])
        stat = self.stat()
        self.assertEqual([stat[f"retain_{what}"] for what in ["age", "records", "bytes"]], [30 * 86400, 5, 1 << 20])
        self.create("t:timestamp[ms]", args=["--rotate-every", "1d12h", "--rotate-bytes", "1MB"], name="many")
        self.assertEqual(os.listdir(self.path("many")), ["log.000000.b2frame"])
        self.assertEqual([self.stat("many")[f"rotate_{what}"] for what in ["every", "bytes"]], [36 * 3600 * 1000, 10**6])


class Future(LogTest):
    """A record of the year 2099 in the middle of those of the last hour."""

    def setUp(self):
        super().setUp()
        self.create("time:timestamp[s]", "n:i4")
        self.now = int(time.time())
        times = [*range(self.now - 3600, self.now - 1800, 60), 4070908800, *range(self.now - 1800, self.now, 60)]
        for part in (range(30), range(30, 31), range(31, 61)):  # those of one commit would be sorted
            self.append("time,n\n" + "".join(f"{times[i]},{i}\n" for i in part))

    def test_the_last_minutes_are_those_before_now(self):
        result = self.run_tool("log", "query", "log", "--last", "10m", "--fields", "n", "--no-header")
        self.assertEqual(result.stdout.split(), [str(i).encode() for i in range(50, 61)])
        self.assertIn(b"--last leaves out 1 record later than the clock", result.stderr)
        agg = self.run_tool("log", "agg", "log", "--last", "10m", "--what", "max", "--fields", "n", "--no-header")
        self.assertTrue(agg.stdout.endswith(b",11,60\n"), agg)

    def test_stat_reports_it(self):
        self.assertEqual(self.stat()["future_records"], 1)
        self.assertIn("1 record later than the clock", self.ok("log", "stat", "log").decode())

    def test_metrics_leave_it_out(self):
        metrics = self.ok("log", "stat", "log", "--metrics").decode()
        self.assertIn(f'cairn_log_newest_time_seconds{{path="log"}} {self.now - 60}\n', metrics)
        self.assertIn('cairn_log_last_value{path="log",field="n"} 60\n', metrics)

    def test_the_last_value_is_that_of_the_newest_record_before_it(self):
        fields = {field["name"]: field for field in self.stat()["fields"]}
        self.assertEqual((fields["n"]["max"], fields["n"]["last"]), (60, 60))

    def test_follow_begins_with_the_time_asked_for(self):
        begin = datetime.datetime.fromtimestamp(self.now - 600, datetime.timezone.utc).isoformat()
        follow = self.start("log", "follow", "log", "--from", begin, "--fields", "n", "--no-header")
        self.assertEqual(follow.stdout.readline(), b"51\n")

    def test_a_plot_of_the_last_hour_ends_now(self):
        self.run_tool("log", "query", "log", "--last", "59m", "--plot", "log.svg")
        self.assertIn(b"60 records", self.read("log.svg"))
        self.assertNotIn(b"2099", self.read("log.svg"))


class Metrics(LogTest):
    def test_of_several_logs(self):
        self.create("time:timestamp[ms]", "x:f8", name="one")
        self.append("time,x\n1795514497100,0.1\n", name="one")
        self.create(name="many", args=["--rotate-every", "1d"])
        self.fill(3000, name="many")
        done = self.run_tool("log", "stat", "--metrics", "one", "many", "gone")
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (0, 1))
        self.assertIn(b"gone: cannot open", done.stderr)
        text = done.stdout.decode()
        for path, readable in [("one", 1), ("many", 1), ("gone", 0)]:
            self.assertIn(f'cairn_log_readable{{path="{path}"}} {readable}\n', text)
        self.assertIn('cairn_log_newest_time_seconds{path="one"} 1795514497.1\n', text)
        self.assertIn('cairn_log_last_value{path="one",field="x"} 0.1\n', text)
        blocks = sum(os.stat(self.path(name)).st_blocks for name in ["many", *(f"many/{name}" for name in os.listdir(self.path("many")))])
        self.assertIn(f'cairn_log_disk_bytes{{path="many"}} {512 * blocks}\n', text)
        self.assertEqual(text.count("# TYPE cairn_log_files "), 1)
        self.assertIn("--metrics", self.fails(2, "log", "stat", "one", "many"))

    def test_frames_of_a_log_of_many_files(self):
        self.create(name="many", args=["--rotate-every", "1d"])
        self.fill(3000, name="many")
        files = sorted(f"many/{name}" for name in os.listdir(self.path("many")))
        self.assertGreater(len(files), 1)
        text = self.ok("info", "--metrics", "many").decode()
        for file in files:
            self.assertIn(f'cairn_frame_readable{{path="{file}"}} 1\n', text)
        self.assertEqual([frame["path"] for frame in json.loads(self.ok("info", "many", "--json"))], files)


class Retain(LogTest):
    def test_a_limit_that_is_lifted_drops_nothing_any_more(self):
        for option, lifted in (("--retain-records", "0"), ("--retain-records", "3000"), ("--retain-bytes", "0")):
            with self.subTest(option, lifted=lifted):
                name = f"{option[2:]}-{lifted}"
                self.create("time:timestamp[s]", "n:i4", name=name, args=["--chunk-size", "600", option, "50"])
                lines = "time,n\n" + "".join(f"{1_800_000_000 + i},{i}\n" for i in range(2001))
                self.append(lines, "--commit-every", "1000000", name=name)
                self.assertEqual(self.stat(name)["records"], 2001)
                self.assertIn(b"0 records dropped, now 2001 records", self.ok("log", "retain", name, option, lifted))
                self.assertIn(b"1950 records dropped", self.ok("log", "retain", name, "--retain-records", "50"))


class ManyFiles(LogTest):
    def test_more_than_the_soft_limit_of_open_files(self):
        self.create("time:timestamp[s]", "n:i4", args=["--rotate-every", "1m"])
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))}
        lines = "time,n\n" + "".join(f"{1_800_000_000 + 60 * i},{i}\n" for i in range(100))
        done = self.run_tool("log", "append", "log", "--quiet", stdin=lines.encode(), **limited)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        done = self.run_tool("log", "query", "log", "--no-header", "--fields", "n", **limited)
        self.assertEqual(done.stdout.decode().split(), [str(i) for i in range(100)])

    def test_records_that_the_late_window_holds_back_survive_a_rotation(self):
        self.create("time:timestamp[s]", "n:i4", args=["--rotate-every", "1m"])
        lines = "time,n\n" + "".join(f"{1_800_000_000 + 7 * i},{i}\n" for i in range(300))
        self.append(lines, "--late-window", "30s", "--commit-every", "10")
        self.assertEqual([int(row[0]) for row in self.rows("--fields", "n")], list(range(300)))


class Integers(LogTest):
    """Those that no double holds."""

    def setUp(self):
        super().setUp()
        self.create("time:timestamp[ns]", "id:i8", "u:u8", "seen:timestamp[ns]", "x:f4", args=["--chunk-size", "4000B"])
        self.first = 1795514400000000001
        lines = [f"{self.first + i},{2**53 + 1 + i},{2**64 - 1 - i},{self.first + 2 * i},1.5" for i in range(1000)]
        self.append("time,id,u,seen,x\n" + "\n".join(lines), "--quiet")

    def test_are_summed_up_exactly(self):
        what = ["min", "max", "first", "last", "sum"]
        found = json.loads(self.ok("log", "agg", "log", "--what", ",".join(what), "--fields", "id,u,x", "--format", "jsonl"))
        ids = [2**53 + 1 + i for i in range(1000)]
        self.assertEqual([found[f"{one}(id)"] for one in what], [ids[0], ids[-1], ids[0], ids[-1], sum(ids)])
        us = [2**64 - 1 - i for i in range(1000)]
        self.assertEqual([found[f"{one}(u)"] for one in what[:4]], [us[-1], us[0], us[0], us[-1]])
        self.assertEqual(found["sum(x)"], 1500)
        rows = self.rows("--bucket", "100ns", "--what", "last", "--fields", "id", command="agg")
        self.assertEqual([int(row[2]) for row in rows], [ids[i] for i in range(98, 1000, 100)] + [ids[-1]])

    def test_times_are_shown_as_times(self):
        (row,) = self.rows("--what", "min,last", "--fields", "seen", command="agg")
        self.assertEqual(row[2:], ["2026-11-24T10:00:00.000000001Z", "2026-11-24T10:00:00.000001999Z"])

    def test_are_told_by_stat(self):
        fields = {field["name"]: field for field in self.stat()["fields"]}
        self.assertEqual((fields["id"]["min"], fields["u"]["max"], fields["seen"]["last"]), (2**53 + 1, 2**64 - 1, self.first + 1998))
        text = self.ok("log", "stat", "log").decode()
        for number in (2**53 + 1, 2**64 - 1, "2026-11-24T10:00:00.000001999Z"):
            self.assertIn(str(number), text)

    def test_buckets_have_a_length(self):
        for bucket in ("0s", "0ns", "0h0m"):
            self.assertIn("--bucket: expected more than 0", self.fails(2, "log", "agg", "log", "--bucket", bucket))


class Query(LogTest):
    def setUp(self):
        super().setUp()
        self.create()
        self.temps = self.fill(3000)

    def numbers(self, *args):
        return [int(row[0]) for row in self.rows("--fields", "n", *args)]

    def test_a_range_of_times(self):
        for args, numbers in [
            (["--from", "2026-11-01T01:00", "--to", "2026-11-01T02:00"], range(60, 120)),
            (["--from", "2026-11-01T01:00:00.000001Z", "--to", "2026-11-01T02:00:01+00:00"], range(61, 121)),
            (["--from", "2026-11-01T03:00:00+01:30"], range(90, 3000)),
            (["--to", "2026-11-01T00:02"], range(2)),
            (["--from", str(int(START.timestamp() * 10**6) + 60 * 10**6), "--to", "2026-11-01T00:03"], range(1, 3)),
            (["--last", "5m"], range(2994, 3000)),
            (["--last", "0s"], range(2999, 3000)),
            (["--last", "1000w"], range(3000)),
            (["--from", "2027-01-01"], []),
        ]:
            with self.subTest(args=args):
                self.assertEqual(self.numbers(*args), list(numbers))

    def test_conditions(self):
        temps = self.temps
        for args, holds in [
            (["temp > 20"], lambda n: temps[n] > 20),
            (["temp>=20", "temp < 21.5"], lambda n: 20 <= temps[n] < 21.5),
            (["n = 17"], lambda n: n == 17),
            (["n == 17"], lambda n: n == 17),
            (["'n' != 17", "n <= 20"], lambda n: n != 17 and n <= 20),
            (["n < 3.5"], lambda n: n < 3.5),
            (["time >= 2026-11-02"], lambda n: n >= 1440),
            (["n > 1e9"], lambda n: False),
            (["temp > 20 and n < 100"], lambda n: temps[n] > 20 and n < 100),
            (["n < 3 or n in (7, 9) or not n < 2998"], lambda n: n < 3 or n in (7, 9) or n >= 2998),
            (["not (n > 5 and temp > -50) AND 1 < n", "n != 3"], lambda n: n in (2, 4, 5)),
            (["'n' not in [1] and n<3"], lambda n: n in (0, 2)),
            (["time < 2026-11-01 00:02:00.000001"], lambda n: n < 3),
        ]:
            with self.subTest(args=args):
                words = [word for condition in args for word in ["--where", condition]]
                self.assertEqual(self.numbers(*words), [n for n in range(3000) if holds(n)])

    def test_conditions_that_are_none(self):
        for status, condition in [(2, "temp"), (2, "temp ~ 5"), (2, "temp > warm"), (2, "temp >"), (1, "nope > 5"), (2, ""),
                                  (2, "temp > 20 adn n = 1"), (2, "(temp > 20"), (2, "temp > 20)"), (2, "temp in 20"), (2, "temp > n"), (2, "temp > 20 and")]:  # fmt: skip
            with self.subTest(condition=condition):
                self.assertIn("at character ", self.fails(status, "log", "query", "log", "--where", condition))

    def test_fields_numbers_and_a_limit(self):
        self.assertEqual(self.ok("log", "query", "log", "--limit", 2, "--fields", "n,temp", "--numbers"),
                         f"record,n,temp\n0,0,{self.temps[0]}\n1,1,{self.temps[1]}\n".encode())  # fmt: skip
        self.assertIn("there are time, temp, n", self.fails(1, "log", "query", "log", "--fields", "n,tmp"))

    def test_records_that_came_late_are_where_their_time_is(self):
        self.append("time,temp,n\n2026-11-01T00:00:30,1,-1\n")
        self.assertEqual(self.numbers("--limit", 3), [0, -1, 1])
        self.assertEqual(self.numbers("--by-number")[-2:], [2999, -1])

    def test_words_that_are_no_times(self):
        for args in [["--from", "someday"], ["--to", "2026-13-01"], ["--from", "2026-02-29"], ["--last", "15"],
                     ["--last", "5x"], ["--last", ""], ["--from", "2026-01-01", "--last", "5m"], ["--to", "2026-01-01T24:01"],
                     ["--from", "2026-01-01T00:00+1"], ["--to", "9" * 30]]:  # fmt: skip
            with self.subTest(args=args):
                self.fails(2, "log", "query", "log", *args) if args != ["--last", ""] else None

    def test_sums_by_time(self):
        rows = self.rows("--bucket", "1h", "--what", "count,min,max,mean,sum,first,last", "--fields", "temp", command="agg")
        self.assertEqual(len(rows), 50)
        for hour, row in enumerate(rows):
            temps = self.temps[60 * hour : 60 * hour + 60]
            self.assertEqual(row[0], (START + datetime.timedelta(hours=hour)).strftime("%Y-%m-%dT%H:%M:%S.000000Z"))
            self.assertEqual([float(value) for value in row[1:5]], [60, 60, min(temps), max(temps)])
            self.assertAlmostEqual(float(row[5]), statistics.fmean(temps), 9)
            self.assertAlmostEqual(float(row[6]), sum(temps), 6)
            self.assertEqual([float(value) for value in row[7:]], [temps[0], temps[-1]])

    def test_sums_of_what_fulfils_conditions(self):
        rows = self.rows("--where", "temp > 20", "--what", "count,min", "--fields", "temp", command="agg")
        warm = [temp for temp in self.temps if temp > 20]
        self.assertEqual(rows, [[rows[0][0], str(len(warm)), str(len(warm)), str(min(warm))]])

    def test_sums_have_the_types_of_their_fields(self):
        text = self.ok("log", "agg", "log", "--what", "max,mean", "--fields", "n,time", "--to", "2026-11-01T00:03", "--format", "jsonl")
        self.assertEqual(json.loads(text), {"time": "2026-11-01T00:00:00.000000Z", "records": 3, "max(n)": 2, "mean(n)": 1,
                         "max(time)": "2026-11-01T00:02:00.000000Z", "mean(time)": START.timestamp() * 1e6 + 60e6})  # fmt: skip

    def test_the_newest_records(self):
        self.assertEqual([row[2] for row in self.rows("-n", 3, command="tail")], ["2997", "2998", "2999"])
        self.assertEqual(len(self.rows(command="tail")), 10)
        self.assertEqual(len(self.rows("--count", 10**9, command="tail")), 3000)

    def test_stat_says_what_there_is(self):
        stat = self.stat()
        self.assertEqual((stat["records"], stat["first_record"], stat["end_record"], stat["record_size"]), (3000, 0, 3000, 20))
        self.assertEqual((stat["first_time"], stat["last_time"]), ("2026-11-01T00:00:00.000000Z", "2026-11-03T01:59:00.000000Z"))
        temp = stat["fields"][1]
        self.assertEqual((temp["count"], temp["min"], temp["max"], temp["first"], temp["last"]),
                         (3000, min(self.temps), max(self.temps), self.temps[0], self.temps[-1]))  # fmt: skip
        text = self.ok("log", "stat", "log").decode()
        self.assertIn("3000 records", text)
        self.assertIn("2026-11-03T01:59:00.000000Z", text)


class Other(LogTest):
    def test_records_without_a_time(self):
        self.create("x:f8")
        self.append("x\n3\n1\n2\n")
        self.assertEqual(self.rows("--where", "x > 1"), [["3"], ["2"]])
        self.assertEqual(self.stat()["records"], 3)
        self.assertIn("no time", self.fails(1, "log", "query", "log", "--last", "5m"))
        self.assertIn("no time", self.fails(1, "log", "agg", "log"))

    def test_times_that_are_integers(self):
        self.create("step:i8", "x:f8", args=["--time-field", "step"])
        self.append("step,x\n10,1\n20,2\n35,3\n")
        self.assertEqual(self.rows("--from", 15, "--to", 35), [["20", "2"]])
        self.assertEqual(self.rows("--last", 15), [["20", "2"], ["35", "3"]])
        self.assertEqual(self.rows("--bucket", 20, "--what", "count", command="agg"), [["0", "1", "1"], ["20", "2", "2"]])
        self.assertEqual((self.stat()["first_time"], self.stat()["last_time"]), (10, 35))

    def test_an_empty_log(self):
        self.create()
        self.assertEqual(self.ok("log", "query", "log"), b"time,temp,n\n")
        self.assertEqual(self.ok("log", "tail", "log"), b"time,temp,n\n")
        self.assertEqual(self.rows(command="agg"), [])
        self.assertEqual(self.rows("--last", "5m"), [])
        self.assertEqual(self.stat()["records"], 0)
        self.append("")
        self.append("time,temp,n\n")
        self.assertEqual(self.stat()["records"], 0)

    def test_what_is_no_log(self):
        self.pack(b"data")
        for command in ["query", "tail", "stat", "agg", "append", "retain", "follow"]:
            with self.subTest(command=command):
                self.assertIn("nofile", self.fails(1, "log", command, "nofile"))
                self.assertIn("f.b2frame", self.fails(1, "log", command, "f.b2frame"))

    def test_a_typed_frame_is_a_log(self):
        records = b"".join(struct.pack("<qf", 1000 * i, i / 2) for i in range(100))
        self.ok("pack", "-", "frame", "--quiet", "--typesize", 12, "--shape", 100, "--dtype", "[('t', '<i8'), ('x', '<f4')]", stdin=records)
        self.assertEqual(self.rows("--where", "x >= 49", name="frame"), [["98000", "49"], ["99000", "49.5"]])
        self.assertEqual(self.rows("--time-field", "t", "--from", 98500, name="frame"), [["99000", "49.5"]])


class Calendar(LogTest):
    """A record each hour from 27 to 31 March 2026, and in Berlin the clocks change on 29 March."""

    def setUp(self):
        super().setUp()
        self.create("time:timestamp[ms]", "n:i4")
        start = datetime.datetime(2026, 3, 27, tzinfo=datetime.timezone.utc)
        rows = [f"{(start + datetime.timedelta(hours=i)).isoformat()},{i}" for i in range(120)]
        self.append("\n".join(["time,n", *rows]))

    def counts(self, *args):
        return [(row[0], int(row[1])) for row in self.rows("--what", "count", *args, command="agg")]

    def test_a_day_of_a_zone_has_23_hours_when_its_clocks_change(self):
        days = [("27T00:00:00.000+01:00", 23), ("28T00:00:00.000+01:00", 24), ("29T00:00:00.000+01:00", 23), ("30T00:00:00.000+02:00", 24)]
        days = [(f"2026-03-{day}", count) for day, count in days]
        self.assertEqual(self.counts("--bucket", "1d", "--tz", "Europe/Berlin", "--to", "2026-03-31"), days)
        self.assertEqual([count for _, count in self.counts("--bucket", "1d")], [24] * 5)
        self.assertEqual([count for _, count in self.counts("--bucket", "24h")], [24] * 5)
        self.assertEqual([count for _, count in self.counts("--bucket", "6h", "--tz", "Europe/Berlin")][7:11], [6, 5, 6, 6])

    def test_weeks_begin_on_monday_and_months_on_their_first_day(self):
        self.assertEqual(self.counts("--bucket", "1w"), [("2026-03-23T00:00:00.000Z", 72), ("2026-03-30T00:00:00.000Z", 48)])
        berlin = ["--tz", "Europe/Berlin"]
        self.assertEqual(self.counts("--bucket", "1mo", *berlin), [("2026-03-01T00:00:00.000+01:00", 118), ("2026-04-01T00:00:00.000+02:00", 2)])
        self.assertEqual(self.counts("--bucket", "1q"), [("2026-01-01T00:00:00.000Z", 120)])
        self.assertEqual(self.counts("--bucket", "1y"), [("2026-01-01T00:00:00.000Z", 120)])
        self.assertEqual(self.counts("--bucket", "1w", "--origin", "2026-03-27"), [("2026-03-27T00:00:00.000Z", 120)])

    def test_offsets_may_have_seconds(self):
        self.create("time:timestamp[s]", "n:i4", name="old")
        self.append("time,n\n1971-06-01T12:00:00Z,1\n1972-06-01T12:00:00Z,2\n", name="old")
        query = ["log", "query", "old", "--tz", "Africa/Monrovia"]
        lines = self.ok(*query).decode().splitlines()
        self.assertEqual(lines[1:], ["1971-06-01T11:15:30-00:44:30,1", "1972-06-01T12:00:00+00:00,2"])
        self.create("time:timestamp[s]", "n:i4", name="copy")
        self.append("\n".join(lines), name="copy")
        self.assertEqual(self.ok("log", "query", "copy"), self.ok("log", "query", "old"))

    def test_raw_output_has_counts_of_time(self):
        raw = self.ok("log", "agg", "log", "--bucket", "1mo", "--tz", "Europe/Berlin", "--what", "count", "--format", "raw")
        self.assertEqual([time for time, _, _ in struct.iter_unpack("<qqq", raw)], [1772319600000, 1774994400000])

    def test_lengths_that_could_mean_two_things_are_refused(self):
        for bucket, what in [("24h", "or 1d with --tz"), ("5h", "12h or 1d"), ("1d12h", "one unit"), ("0d", "more than 0"), ("0mo", "more than 0")]:
            self.assertIn(what, self.fails(2, "log", "agg", "log", "--bucket", bucket, "--tz", "Europe/Berlin"))
        self.assertIn("beside --origin", self.fails(2, "log", "agg", "log", "--bucket", "1y", "--origin", "2026-01-01"))
        self.assertIn("--bucket: expected", self.fails(2, "log", "agg", "log", "--bucket", "99999999999999999999mo"))
        self.assertIn(", 1mo,", self.fails(2, "log", "agg", "log", "--bucket", "1M"))
        self.assertIn("1 to 100000", self.fails(2, "log", "agg", "log", "--bucket", "200000mo"))

    def test_a_zone_that_does_not_exist_is_named(self):
        for command in ("agg", "query"):
            for zone in ("Europe/Nowhere", "../../etc/passwd"):
                self.assertIn(f"'{zone}'", self.fails(2, "log", command, "log", "--tz", zone))

    def test_times_are_read_and_shown_in_the_zone(self):
        berlin = ["--tz", "Europe/Berlin"]
        first = ["2026-03-30T00:00:00.000+02:00", "70"]
        self.assertEqual(self.rows("--from", "2026-03-30", "--to", "2026-03-30T01:00", *berlin), [first])
        line = self.ok("log", "query", "log", "--from", "2026-03-30", "--limit", "1", "--format", "jsonl", *berlin)
        self.assertEqual(json.loads(line), {"time": first[0], "n": 70})
        raw = self.ok("log", "query", "log", "--from", "2026-03-30", "--limit", "1", "--format", "raw", *berlin)
        self.assertEqual(struct.unpack("<q", raw[:8]), (1774821600000,))
        last = ["2026-04-01T01:00:00.000+02:00", "119"]
        self.assertEqual(self.rows("-n", "1", *berlin, command="tail"), [last])
        self.assertEqual(self.rows("--by", "n", "--from", "2026-04-01T01:00", *berlin, command="latest"), [last])
        follow = self.start("log", "follow", "log", "--from", "2026-04-01T01:00", "--no-header", *berlin)
        line = (",".join(last) + "\n").encode()
        self.assertEqual(self.receive(follow.stdout, len(line)), line)

    def test_a_log_is_made_again_of_its_times_in_a_zone(self):
        text = self.ok("log", "query", "log", "--tz", "Asia/Kathmandu")
        self.assertIn(b"+05:45", text)
        self.create("time:timestamp[ms]", "n:i4", name="again")
        self.ok("log", "append", "again", "--quiet", stdin=text)
        self.assertEqual(self.rows(name="again"), self.rows())

    def test_times_are_relative_to_the_clock(self):
        self.create("time:timestamp[s]", "n:i4", name="new")
        now = int(time.time())
        self.append("time,n\n" + "".join(f"{now - 60 * i},{i}\n" for i in reversed(range(100))), name="new")
        self.assertEqual([row[1] for row in self.rows("--from", "-150s", name="new")], ["2", "1", "0"])
        self.assertEqual([row[1] for row in self.rows("--from", "now-3590s", "--to", "now-3510s", name="new")], ["59"])
        self.assertEqual(self.rows("--from", "now+1m", name="new"), [])
        self.assertEqual(self.rows("--to", "yesterday-1d", name="new"), [])
        self.assertEqual(len(self.rows("--from", "yesterday", "--to", "tomorrow+1d", name="new")), 100)
        self.assertIn("'now-'", self.fails(2, "log", "query", "new", "--from", "now-"))
        self.assertNotEqual(self.run_tool("log", "append", "new", "--quiet", stdin=b"time,n\nnow,1\n").returncode, 0)

    def test_a_plot_has_days(self):
        self.ok("log", "agg", "log", "--bucket", "1d", "--tz", "Europe/Berlin", "--plot", "log.svg")
        self.assertIn(b"120 records", self.read("log.svg"))


class Retention(LogTest):
    def test_drops_whole_chunks_and_keeps_numbers(self):
        self.create(args=["--chunk-size", 2000])
        self.fill(1000)
        done = self.ok("log", "retain", "log", "--retain-records", 250).decode()
        self.assertIn("700 records dropped, now 300 records from number 700 on", done)
        self.assertEqual((self.stat()["first_record"], self.stat()["end_record"]), (700, 1000))
        self.assertEqual(self.rows("--limit", 1, "--numbers", "--fields", "n"), [["700", "700"]])

    def test_by_age(self):
        self.create(args=["--chunk-size", 2000])
        self.fill(1000)
        self.ok("log", "retain", "log", "--retain-age", "2h", "--quiet")
        self.assertEqual(self.stat()["first_record"], 800)
        self.ok("log", "retain", "log", "--retain-age", "0s", "--quiet")
        self.assertEqual(self.stat()["retain_age"], 0)

    def test_of_many_files(self):
        self.create(args=["--rotate-every", "1d", "--retain-age", "2d"])
        self.fill(5000)
        self.assertEqual(sorted(os.listdir(self.path("log"))), [f"log.00000{i}.b2frame" for i in range(1, 4)])
        self.assertEqual(self.stat()["files"], 3)
        self.assertEqual(self.rows("--fields", "n", "--limit", 1), [["1440"]])

    def test_a_log_of_one_file_has_no_rotation(self):
        self.create()
        expected = "a log of one file; --rotate-every and --rotate-bytes are for"
        self.assertIn(expected, self.fails(1, "log", "retain", "log", "--rotate-bytes", "1MB"))
        self.start("log", "append", "log", "--wait", 60)
        self.wait_for_writer("log")
        self.assertIn(expected, self.fails(1, "log", "retain", "log", "--rotate-bytes", "1MB"))


class Arriving(LogTest):
    def wait_for(self, records, name="log"):
        end = time.monotonic() + 60
        while self.stat(name)["records"] < records:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def send(self, tool, text):
        tool.stdin.write(text.encode())
        tool.stdin.flush()

    def test_records_are_committed_after_a_time(self):
        self.create()
        tool = self.start("log", "append", "log", "--commit-every", "20ms", "--columns", "time,temp,n")
        self.send(tool, "2026-01-01,1,1\n2026-01-02,2,2\n")
        self.wait_for(2)
        self.send(tool, "2026-01-03,3,3\n2026-01-0")
        self.wait_for(3)
        self.send(tool, "4,4,4")
        out, err = tool.communicate(timeout=60)
        self.assertEqual((tool.returncode, err), (0, b""))
        self.assertIn(b"log: 4 records appended, now 4 records", out)

    def test_records_are_committed_by_number(self):
        self.create()
        tool = self.start("log", "append", "log", "--commit-every", "3", "--columns", "time,temp,n")
        self.send(tool, "2026-01-01,1,1\n2026-01-02,2,2\n")
        time.sleep(0.2)
        self.assertEqual(self.stat()["records"], 0)
        self.send(tool, "2026-01-03,3,3\n")
        self.wait_for(3)

    def test_a_time_is_not_a_number_of_records(self):
        self.create()
        tool = self.start("log", "append", "log", "--commit-every", "1h", "--columns", "time,temp,n")
        self.send(tool, "2026-01-01,1,1\n")
        self.wait_until_read(tool.stdin)
        time.sleep(0.2)
        self.assertEqual(self.stat()["records"], 0)

    def test_a_signal_commits_what_has_come(self):
        self.create()
        tool = self.start("log", "append", "log", "--commit-every", "1h", "--columns", "time,temp,n")
        self.send(tool, "2026-01-01,1,1\n2026-01-02,2,2\n2026-01-03")
        self.wait_until_read(tool.stdin)
        tool.send_signal(signal.SIGTERM)
        tool.communicate(timeout=60)
        self.assertEqual(tool.returncode, -signal.SIGTERM)
        self.assertEqual(self.stat()["records"], 2)

    def test_late_records_are_sorted_in(self):
        self.create()
        self.append("time,temp,n\n" + "".join(f"{(i ^ 1) * 10**6},0,{i}\n" for i in range(100)), "--late-window", "5s", "--commit-every", "1")
        self.assertEqual([int(row[2]) for row in self.rows("--by-number")], [i ^ 1 for i in range(100)])

    def test_a_name_that_is_too_long_for_a_request(self):
        name = "n" * 250
        self.create(name=name)
        tool = self.start("log", "append", name, "--columns", "time,temp,n", "--commit-every", "1")
        self.send(tool, "1,1,1\n")
        self.wait_for(1, name)
        for command in [["retain", name, "--retain-records", 5], ["delete", name, "--to", "2030-01-01"]]:
            message = self.fails(1, "log", *command)
            self.assertIn("name: too long for a request to the writer: expected", message)
        self.send(tool, "2,2,2\n")
        tool.stdin.close()
        self.assertEqual(tool.wait(60), 0)
        # Without a writer it needs no request.
        self.ok("log", "delete", name, "--to", "2030-01-01")
        self.assertEqual(self.stat(name)["records"], 0)
        # Such requests have room.
        name = "n" * 220
        self.create(name=name)
        tool = self.start("log", "append", name, "--columns", "time,temp,n", "--commit-every", "20ms")
        self.send(tool, "1,1,1\n")
        self.wait_for(1, name)
        self.ok("log", "retain", name, "--retain-records", 5)

    def test_a_second_writer_waits(self):
        self.create()
        tool = self.start("log", "append", "log", "--columns", "time,temp,n", "--commit-every", "1")
        self.send(tool, "1,1,1\n")
        self.wait_for(1)
        self.assertIn("held by another writer; --wait SECONDS waits", self.fails(1, "log", "append", "log"))
        other = self.start("log", "append", "log", "--columns", "time,temp,n", "--wait", 60, "--quiet")
        self.send(other, "2,2,2\n")
        other.stdin.close()
        time.sleep(0.1)
        tool.stdin.close()
        self.assertEqual((tool.wait(60), other.wait(60)), (0, 0))
        self.assertEqual([row[2] for row in self.rows()], ["1", "2"])

    def test_limits_change_while_a_writer_runs(self):
        for name, args in (("log", []), ("many", ["--rotate-bytes", "1GiB"])):
            with self.subTest(name=name):
                self.create("time:timestamp[us]", "temp:f8", "n:i4", name=name, args=args)
                tool = self.start("log", "append", name, "--columns", "time,temp,n", "--commit-every", "1")
                self.send(tool, "1,1,1\n")
                self.wait_for_records(1, name)
                said = self.ok("log", "retain", name, "--retain-records", 5).decode()
                self.assertIn("with its next commit", said)
                self.ok("log", "retain", name, "--retain-age", "1h", "--quiet")
                self.assertEqual(self.stat(name)["retain_records"], 0)
                time.sleep(0.02)  # the writer looks every 10 ms
                self.send(tool, "2,2,2\n")
                self.wait_for_records(2, name)
                stat = self.stat(name)
                self.assertEqual((stat["retain_records"], stat["retain_age"]), (5, 3600 * 10**6))
                tool.stdin.close()
                self.assertEqual(tool.wait(60), 0)
                self.assertEqual([file for file in self.files() + os.listdir(self.path(name) if args else self.dir) if "request" in file], [])

    def wait_for_records(self, count, name):
        end = time.monotonic() + 60
        while self.stat(name)["records"] < count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_limits_that_a_dead_writer_did_not_take_over_hold_for_the_next(self):
        self.create()
        tool = self.start("log", "append", "log", "--columns", "time,temp,n", "--commit-every", "1")
        self.send(tool, "1,1,1\n")
        self.wait_for_records(1, "log")
        self.ok("log", "retain", "log", "--retain-records", 5, "--quiet")
        tool.kill()
        tool.wait()
        self.ok("log", "retain", "log", "--retain-bytes", "1MiB", "--quiet")
        stat = self.stat()
        self.assertEqual((stat["retain_records"], stat["retain_bytes"]), (5, 1 << 20))
        self.assertEqual([file for file in self.files() if "request" in file], [])

    def test_what_is_no_policy(self):
        self.create()
        for word in ["0", "-5", "x", "0s", "5,", "1.5"]:
            with self.subTest(word=word):
                self.assertIn("--commit-every", self.fails(2, "log", "append", "log", f"--commit-every={word}"))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
