"""A disk of 1 MiB on which other files take all that is free: frames there can be freed."""

import os
import random
import re
import subprocess
import sys

import small_disk
import tap
from cli import CliTest, noise


class FullDisk(CliTest):
    def setUp(self):
        super().setUp()
        small_disk.mount(self, self.path("disk"), "1m")
        self.frame = "disk/f.b2frame"

    def free(self):
        return os.statvfs(self.path("disk")).f_bfree

    def fill(self):
        small_disk.fill(self.path("disk"))
        self.assertEqual(self.free(), 0)

    def holds(self, data):
        self.assertIn(b": ok, sealed", self.ok("verify", self.frame))
        self.assertEqual(self.ok("cat", self.frame), data)

    def can_be_freed(self, data):
        """Of a frame with chunks of 1 KiB."""
        self.ok("chunk", "delete", self.frame, 0, 100)
        self.holds(data[100 << 10 :])
        self.ok("reclaim", self.frame)
        more = noise(20 << 10, seed=3)
        self.ok("append", self.frame, stdin=more)
        self.holds(data[100 << 10 :] + more)
        self.assertEqual([name for name in os.listdir(self.path("disk")) if name.endswith(".tmp")], [])

    def test_chunks_are_deleted_their_space_is_reclaimed_and_more_is_appended(self):
        for args in [[], ["--sparse"], ["--fingerprint", "none"]]:
            # A chunk file takes a full page.
            size = (150 if "--sparse" in args else 600) << 10
            with self.subTest(args=args):
                data = noise(size)
                self.pack(data, "--chunk-size", "1KiB", *args, name=self.frame)
                self.fill()
                message = self.fails(1, "append", self.frame, stdin=noise(size))
                self.assertIn("No space left on device", message)
                if "none" in args:
                    self.ok("chunk", "delete", self.frame, 0, 100)
                    self.ok("reclaim", self.frame)
                else:
                    self.holds(data)
                    self.can_be_freed(data)
                subprocess.run(["rm", "-rf", self.path(self.frame), self.path("disk/filler")], check=True)

    def test_appends_until_the_disk_is_full(self):
        data = noise(500 << 10)
        self.pack(data, "--chunk-size", "1KiB", name=self.frame)
        for seed in range(100):
            more = noise(10 << 10, seed)
            done = self.run_tool("append", self.frame, stdin=more)
            if done.returncode != 0:
                break
            data += more
        self.assertIn("No space left on device", self.fails(1, "append", self.frame, stdin=noise(50 << 10)))
        self.fill()
        self.holds(data)
        self.can_be_freed(data)

    def test_a_small_append_is_refused_where_it_would_leave_too_little(self):
        data = noise(500 << 10)
        self.pack(data, "--chunk-size", "1KiB", name=self.frame)
        self.fill()
        message = self.fails(1, "append", self.frame, stdin=b"one more")
        self.assertIn("kept so that chunks can be deleted", message)
        self.holds(data)

    def test_a_writer_that_is_killed_on_the_full_disk(self):
        for sparse in [False, True]:
            with self.subTest(sparse=sparse):
                count = 150 if sparse else 600
                data = noise(count << 10)
                self.pack(data, "--chunk-size", "1KiB", *["--sparse"][: int(sparse)], name=self.frame)
                tool = self.start("append", self.frame, "--commit-every", 1024, "--ack")
                for seed in range(20):
                    more = noise(1024, seed)
                    tool.stdin.write(more)
                    tool.stdin.flush()
                    data += more
                    ack = f"committed {len(data)}\n".encode()
                    self.assertEqual(self.receive(tool.stdout, len(ack)), ack)
                tool.stdin.write(noise(700))
                tool.stdin.flush()
                self.fill()
                tool.kill()
                tool.wait()
                self.assertEqual(self.ok("cat", self.frame), data)
                self.ok("recover", self.frame)
                self.can_be_freed(data)
                subprocess.run(["rm", "-rf", self.path(self.frame), self.path("disk/filler")], check=True)

    def test_commits_that_are_acknowledged_until_the_disk_is_full_stay(self):
        data = noise(500 << 10)
        self.pack(data, "--chunk-size", "1KiB", name=self.frame)
        more = noise(900 << 10)
        done = self.run_tool("append", self.frame, "--commit-every", 1024, "--ack", stdin=more)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left on device", done.stderr)
        committed = int(done.stdout.split()[-1])
        self.assertIn(f"; committed before that: {committed - len(data)} items of this input\n", done.stderr.decode())
        self.fill()
        self.holds((data + more)[:committed])
        self.can_be_freed((data + more)[:committed])

    def test_log_append_tells_how_many_records_are_committed(self):
        records = b"".join(n.to_bytes(8, "little") + noise(40, n).replace(b"\0", b".") for n in range(100_000))
        small_disk.mount(self, self.path("larger"), "3m")
        for log, count in [("disk/log", 30_000), ("larger/log", 100_000)]:
            with self.subTest(log=log):
                self.ok("log", "create", log, "--field", "n:i8", "--field", "noise:bytes[40]", "--quiet")
                data = records[: count * 48]
                message = self.fails(1, "log", "append", log, "--format", "raw", "--commit-every", 1000, stdin=data)
                self.assertIn("No space left on device", message)
                told = int(re.search(r"; (?:committed|appended) before that: (\d+) records", message)[1])
                self.assertGreater(told, 1000)
                self.assertEqual(self.ok("log", "query", log, "--by-number", "--format", "raw"), records[: told * 48])

    def test_a_log_takes_the_space_of_the_records_that_it_drops(self):
        rows = 100_000
        noisy = random.Random(1)
        lines = "".join(f"{i},{noisy.random()},{i}\n" for i in range(rows))
        for args in [
            ["append", "--commit-every", "20ms"],
            ["append", "--commit-every", "100"],
            ["append", "--commit-every", "2000"],
            ["append", "--commit-every", "50000"],
            ["import", "-"],
        ]:
            with self.subTest(args=args):
                fields = [word for field in ["t:timestamp[ms]", "v:f8", "n:i8"] for word in ["--field", field]]
                limits = ["--retain-records", "2000", "--chunk-size", "128KiB"]
                self.ok("log", "create", self.frame, "--quiet", *fields, *limits)
                for _ in range(2):
                    self.ok("log", args[0], self.frame, *args[1:], stdin=b"t,v,n\n" + lines.encode())
                kept = self.ok("log", "query", self.frame).decode().splitlines()[1:]
                self.assertEqual([row.split(",")[2] for row in kept[-2000:]], list(map(str, range(rows - 2000, rows))))
                os.remove(self.path(self.frame))

    def test_recover_writes_a_header_on_a_full_disk(self):
        data = noise(500 << 10)
        self.pack(data, "--chunk-size", "1KiB", name=self.frame)
        self.fill()
        with open(self.path(self.frame), "r+b") as file:
            file.write(bytes(50))
        self.assertIn(b"header", self.ok("recover", self.frame))
        self.holds(data)
        self.can_be_freed(data)

    def test_compact_fails_early_and_works_when_enough_was_reclaimed(self):
        data = noise(600 << 10)
        self.pack(data, "--chunk-size", "1KiB", name=self.frame)
        self.fill()
        self.assertIn("reclaim", self.fails(1, "compact", self.frame))
        self.assertEqual(sorted(os.listdir(self.path("disk"))), ["f.b2frame", "filler"])
        self.ok("chunk", "delete", self.frame, 0, 400)
        self.ok("reclaim", self.frame)
        self.ok("compact", self.frame)
        self.holds(data[400 << 10 :])

    def test_a_small_frame_takes_three_blocks_at_most(self):
        self.pack(b"data", name=self.frame)
        self.assertLessEqual(os.stat(self.path(self.frame)).st_blocks * 512, 3 * 4096)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
