"""What a signal leaves: no frame that is incomplete, and no temporary file."""

import os
import signal
import socket
import subprocess
import sys

import tap
from cli import CliTest, noise

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


class Signals(CliTest):
    def start_ignoring(self, number, *args):
        """Starts the tool as nohup does."""
        tool = subprocess.Popen([self.tool, *args], cwd=self.dir, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))  # fmt: skip
        self.addCleanup(tool.stderr.close)
        return tool

    def ends_by(self, tool, number):
        """Kills the tool while it makes a frame; it ends as it would have without cleaning up."""
        self.wait_for_temporary()
        tool.send_signal(number)
        self.assertEqual((tool.wait(60), tool.stderr.read()), (-number, b""))


class Pack(Signals):
    def test_leaves_nothing(self):
        for number in SIGNALS:
            for args in [[], ["--sparse"], ["--threads", 1]]:
                with self.subTest(signal=number, args=args):
                    tool = self.start("pack", "-", "new", *args)
                    tool.stdin.write(noise(10 << 20))
                    self.ends_by(tool, number)
                    self.assertEqual(self.files(), [])

    def test_leaves_the_frame_that_it_was_to_replace(self):
        frame = self.pack(b"old")
        for number in SIGNALS:
            self.ends_by(self.start("pack", "-", frame, "--force"), number)
        self.assertEqual((self.ok("cat", frame), self.files()), (b"old", [frame]))

    def test_goes_on_when_the_signal_is_ignored(self):
        for number in SIGNALS:
            with self.subTest(signal=number):
                tool = self.start_ignoring(number, "pack", "-", "new", "--quiet", "--force")
                self.wait_for_temporary()
                tool.send_signal(number)
                self.assertEqual(tool.communicate(b"data", 60)[1], b"")
                self.assertEqual((tool.returncode, self.ok("cat", "new")), (0, b"data"))


class Others(Signals):
    def is_ended(self, number, *args, made=None):
        """Whether the signal came while the tool was at work; it leaves nothing then. It does its work soon."""
        before = self.files()
        tool = self.start(*args)
        while tool.poll() is None and self.files() == before:
            pass
        tool.send_signal(number)
        self.assertIn(tool.wait(60), [0, -number])
        self.assertEqual(tool.stderr.read(), b"")
        if made in self.files():
            self.ok("verify", made)
            self.assertEqual(self.files(), sorted([*before, made]))
            return False
        self.assertEqual(self.files(), before)
        return tool.returncode != 0

    def test_copy_leaves_nothing(self):
        frame = self.pack(os.urandom(4 << 20).hex().encode(), "--level", 0, "--chunk-size", "64KiB")
        for number in SIGNALS:
            with self.subTest(signal=number):
                recoded = ["--codec", "zstd", "--level", 9, "--threads", 1]
                names = [f"{number}-{i}" for i in range(100)]
                self.assertTrue(any(self.is_ended(number, "copy", frame, name, *recoded, made=name) for name in names))

    def test_compact_leaves_the_frame_as_it_was(self):
        data = noise(4 << 20)
        frame = self.pack(data, "--chunk-size", 16, "--typesize", 16, "--fingerprint", "none")
        for number in SIGNALS:
            with self.subTest(signal=number):
                self.assertTrue(any(self.is_ended(number, "compact", frame) for _ in range(100)))
                self.assertEqual(self.ok("cat", frame), data)

    def test_salvage_leaves_nothing(self):
        frame = self.pack(noise(4 << 20), "--chunk-size", 16, "--typesize", 16, "--fingerprint", "none")
        for number in SIGNALS:
            with self.subTest(signal=number):
                names = [f"{number}-{i}" for i in range(100)]
                self.assertTrue(any(self.is_ended(number, "recover", "--salvage", frame, name, made=name) for name in names))


class Waiting(Signals):
    def told_before_it_ends(self, number, *args):
        """What the tool says while it waits; a signal ends it then."""
        tool = self.start(*args)
        told = tool.stderr.readline().decode()
        tool.send_signal(number)
        self.assertEqual((tool.wait(60), tool.stderr.read()), (-number, b""), args)
        return told

    def test_for_another_writer_is_told_and_ends(self):
        frame = self.pack(bytes(1000))
        log = "a.log"
        self.ok("log", "create", log, "--quiet", "--field", "time:timestamp[us]", "--field", "value:f4")
        # They wait for what looks whether they are there.
        held = [self.start("append", frame, "-", "--wait", 60), self.start("log", "append", log, "-", "--wait", 60)]
        for writer, busy in zip(held, [("reclaim", frame), ("log", "append", log, os.devnull)], strict=True):
            while self.run_tool(*busy, "--quiet").returncode == 0:
                self.assertIsNone(writer.poll())
            self.assertIn("another writer", self.fails(1, *busy))
        for args in [
            ("compact", frame),
            ("reclaim", frame),
            ("append", frame, os.devnull),
            ("meta", "set", frame, "name", os.devnull),
            ("log", "retain", log),
            ("log", "append", log, os.devnull),
        ]:
            with self.subTest(args=args):
                told = self.told_before_it_ends(signal.SIGINT, *args, "--wait", 3600)
                self.assertRegex(told, "^cairn: waiting: .*another writer")
        for writer in held:
            writer.kill()

    def test_for_a_store_is_told_and_ends(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/frame"
            if b"No such file" in self.run_tool("info", "http://").stderr:
                self.skipTest("a tool without object stores")
            for args in [("info", url), ("copy", url, "copy"), ("backup", url, "copy")]:
                for number in SIGNALS:
                    with self.subTest(args=args, signal=number):
                        told = self.told_before_it_ends(number, *args)
                        self.assertRegex(told, f"^cairn: waiting for {os.path.dirname(url)}")
                        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    # The tool inherits what this process ignores, under nohup for one.
    for ended_by in SIGNALS:
        signal.signal(ended_by, signal.SIG_DFL)
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
