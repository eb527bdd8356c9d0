"""cairn log follow: a log as it grows."""

import os
import select
import signal
import sys
import time

import tap
from cli import CliTest


class Follow(CliTest):
    def setUp(self):
        super().setUp()
        self.create()

    def create(self, *args):
        self.ok("log", "create", "log", "--quiet", "--field", "t:timestamp[s]", "--field", "n:i4", "--chunk-size", 1200, *args)

    def append(self, begin, end, *args):
        text = "".join(f"{i},{i}\n" for i in range(begin, end))
        self.ok("log", "append", "log", "--columns", "t,n", "--quiet", *args, stdin=text.encode())

    def follow(self, *args):
        return self.start("log", "follow", "log", "--no-header", "--fields", "n", *args)

    def shows(self, tool, begin, end):
        text = "".join(f"{i}\n" for i in range(begin, end)).encode()
        self.assertEqual(self.receive(tool.stdout, len(text)), text)

    def starts(self, tool, number):
        """Appends records from this number on, one by one, until the tool shows one; gives the next number."""
        begin = number
        while not select.select([tool.stdout], [], [], 0.05)[0]:
            self.assertLess(number, begin + 1000)
            self.append(number, number + 1)
            number += 1
        line = b""
        while not line.endswith(b"\n"):
            byte = self.receive(tool.stdout, 1)
            self.assertNotEqual(byte, b"", line)
            line += byte
        first = int(line)
        self.assertGreaterEqual(first, begin)
        self.shows(tool, first + 1, number)
        return number

    def ends(self, tool, complaint=b""):
        """With nothing more to show. It has shown something, so it takes the signal."""
        time.sleep(0.3)
        tool.send_signal(signal.SIGTERM)
        out, err = tool.communicate(timeout=60)
        self.assertEqual((tool.returncode, out), (0, b""))
        self.assertIn(complaint, err)
        if not complaint:
            self.assertEqual(err, b"")

    def test_new_records_only(self):
        self.append(0, 50)
        tool = self.follow()
        end = self.starts(tool, 50)
        for begin in range(end, end + 950, 190):
            self.append(begin, begin + 190)
            self.shows(tool, begin, begin + 190)
        self.ends(tool)

    def test_records_that_were_shown_and_are_deleted_now(self):
        self.append(0, 50)
        tool = self.follow("--from", 20)
        self.shows(tool, 20, 50)
        self.ok("log", "delete", "log", "--where", "n in (7, 30, 31, 33)", "--quiet")
        self.append(50, 60)
        self.shows(tool, 50, 60)
        time.sleep(0.3)
        tool.send_signal(signal.SIGTERM)
        out, err = tool.communicate(timeout=60)
        self.assertEqual((tool.returncode, out), (0, b""))
        self.assertEqual(err.decode().splitlines(), ["cairn: log: records 30 to 31 were deleted", "cairn: log: record 33 was deleted"])

    def test_from_a_record_or_a_time(self):
        self.append(0, 50)
        for start in ["51", "-1", "soon"]:
            with self.subTest(start=start):
                self.assertIn("--from", self.run_tool("log", "follow", "log", "--from", start).stderr.decode())
        for start, first in [("0", 0), ("30", 30), ("1970-01-01T00:00:20", 20)]:
            with self.subTest(start=start):
                tool = self.follow("--from", start)
                self.shows(tool, first, 50)
                self.ends(tool)
        in_2001 = 1_000_000_000
        for start, first in [("50", 50), ("2000-01-01", in_2001)]:
            with self.subTest(start=start):
                tool = self.follow("--from", start)
                self.append(first, first + 1)
                self.shows(tool, first, first + 1)
                self.ends(tool)

    def test_commits_of_one_writer(self):
        tool = self.follow("--from", "0")
        writer = self.start("log", "append", "log", "--columns", "t,n", "--commit-every", "1")
        for i in range(30):
            writer.stdin.write(f"{i},{i}\n".encode())
            writer.stdin.flush()
            self.shows(tool, i, i + 1)
        self.ends(tool)

    def test_compaction_and_other_writers(self):
        tool = self.follow("--from", "0")
        for begin in range(0, 500, 100):
            self.append(begin, begin + 100)
            self.ok("compact", "log", "--quiet")
            self.shows(tool, begin, begin + 100)
        self.ends(tool)

    def test_old_records_that_are_dropped(self):
        tool = self.follow("--from", "0")
        self.append(0, 1000)
        self.shows(tool, 0, 1000)
        self.ok("log", "retain", "log", "--retain-records", 100, "--quiet")
        self.append(1000, 2000)
        self.shows(tool, 1000, 2000)
        self.ends(tool)

    def test_records_that_were_dropped_before(self):
        self.append(0, 1000)
        self.ok("log", "retain", "log", "--retain-records", 150, "--quiet")
        tool = self.follow("--from", "0")
        self.shows(tool, 800, 1000)
        self.ends(tool)

    def test_files_that_are_begun(self):
        os.remove(self.path("log"))
        self.create("--rotate-every", "100s")
        tool = self.follow("--from", "0")
        for begin in range(0, 1000, 70):
            self.append(begin, begin + 70)
            self.shows(tool, begin, begin + 70)
        self.assertGreater(len(os.listdir(self.path("log"))), 9)
        self.ends(tool)

    def test_a_reader_that_has_enough(self):
        self.append(0, 1000)
        tool = self.follow("--from", "0")
        self.shows(tool, 0, 10)
        tool.stdout.close()
        self.assertEqual(tool.wait(60), 0)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
