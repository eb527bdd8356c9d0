"""cat --follow: a frame as it grows."""

import os
import signal
import subprocess
import sys
import time

import tap
from cli import CliTest, noise, sample

ITEM = 4
CHUNK = 4096


class Follow(CliTest):
    def setUp(self):
        super().setUp()
        self.data = sample(40_000)
        self.frame = self.pack(self.data[:10_000], "--typesize", ITEM, "--chunk-size", CHUNK)

    def follow(self, *args):
        return self.start("cat", self.frame, "--follow", *args)

    def append(self, data):
        self.ok("append", self.frame, "--quiet", "--allow-partial", stdin=data)

    def shows(self, tool, data):
        self.assertEqual(self.receive(tool.stdout, len(data)), data)

    def complains(self, tool):
        """The next line on stderr, once it is there."""
        line = b""
        while not line.endswith(b"\n"):
            byte = self.receive(tool.stderr, 1)
            self.assertNotEqual(byte, b"", line)
            line += byte
        return line.decode()

    def ends(self, tool, sent=signal.SIGTERM):
        """Gives what it still wrote, and what it said on stderr."""
        tool.send_signal(sent)
        out, err = tool.communicate(timeout=60)
        self.assertEqual(tool.returncode, 0)
        return out, err.decode()


class Growing(Follow):
    def test_everything_and_then_what_comes(self):
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        for begin in range(10_000, 40_000, 6000):
            self.append(self.data[begin : begin + 6000])
            self.shows(tool, self.data[begin : begin + 6000])
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_commits_that_no_checkpoint_has(self):
        tool = self.follow()
        writer = self.start("append", self.frame, "--commit-every", 5, "--ack")
        self.shows(tool, self.data[:10_000])
        for begin in range(10_000, 12_000, 20):
            writer.stdin.write(self.data[begin : begin + 20])
            writer.stdin.flush()
            self.shows(tool, self.data[begin : begin + 20])
        writer.stdin.close()
        self.assertEqual(writer.wait(60), 0)
        time.sleep(0.3)
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_whole_items_only(self):
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        self.append(self.data[10_000:10_003])
        time.sleep(0.3)
        self.append(self.data[10_003:10_006])
        self.shows(tool, self.data[10_000:10_004])
        time.sleep(0.3)
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_from_an_item_on(self):
        tool = self.follow("--first-item", 2400)
        self.shows(tool, self.data[9600:10_000])
        self.append(self.data[10_000:20_000])
        self.shows(tool, self.data[10_000:20_000])
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_an_empty_frame(self):
        self.frame = self.pack(b"", "--typesize", ITEM, "--force")
        tool = self.follow()
        time.sleep(0.1)
        self.append(self.data)
        self.shows(tool, self.data)
        self.ends(tool)

    def test_chunks_of_different_sizes(self):
        self.frame = self.copy_vector("cframes/varchunks-disk.b2frame")
        old = self.ok("cat", self.frame)
        tool = self.follow()
        self.shows(tool, old)
        for new in [noise(800), noise(8000)]:
            self.append(new)
            self.shows(tool, new)
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_sparse_frames(self):
        self.frame = self.pack(self.data[:10_000], "--sparse", "--typesize", ITEM, "--chunk-size", CHUNK, name="s")
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        self.append(self.data[10_000:])
        self.shows(tool, self.data[10_000:])
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_what_changes_no_item_is_no_change(self):
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        self.ok("meta", "set", self.frame, "key", stdin=b"value")
        time.sleep(0.2)
        self.ok("compact", self.frame, "--quiet")
        time.sleep(1.3)
        self.append(self.data[10_000:])
        self.shows(tool, self.data[10_000:])
        self.assertEqual(self.ends(tool), (b"", ""))


class Changed(Follow):
    def test_a_frame_that_shrinks(self):
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        self.ok("chunk", "delete", self.frame, 1, 2, "--quiet")
        self.assertRegex(self.complains(tool),
                         r"\Acairn: f\.b2frame: the frame was changed: [^\n]*2500 [^\n]*1024 [^\n]*\n\Z")  # fmt: skip
        self.append(b"new!")
        self.shows(tool, b"new!")
        self.assertEqual(self.ends(tool), (b"", ""))

    def test_items_that_are_others_now(self):
        for chunk, size in [(0, CHUNK), (2, 10_000 - 2 * CHUNK)]:
            with self.subTest(chunk=chunk):
                self.frame = self.pack(self.data[:10_000], "--typesize", ITEM, "--chunk-size", CHUNK, "--force")
                tool = self.follow()
                self.shows(tool, self.data[:10_000])
                self.ok("chunk", "update", self.frame, chunk, "--quiet", stdin=noise(size))
                self.assertRegex(self.complains(tool),
                                 r"\Acairn: f\.b2frame: the frame was changed: [^\n]* 2500 [^\n]*\n\Z")  # fmt: skip
                self.append(self.data[10_000:10_400])
                self.shows(tool, self.data[10_000:10_400])
                self.assertEqual(self.ends(tool), (b"", ""))

    def test_another_frame_of_that_name(self):
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        self.pack(noise(400), "--typesize", ITEM, "--force")
        self.assertIn("the frame was changed", self.complains(tool))
        self.append(b"more")
        self.shows(tool, b"more")
        self.assertEqual(self.ends(tool), (b"", ""))


    def test_another_frame_without_fingerprints(self):
        self.data = noise(20_000)
        options = ["--typesize", ITEM, "--fingerprint", "none", "--force"]
        self.frame = self.pack(self.data[:10_000], *options)
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        # Its only chunk is as large and lies where the other did.
        self.pack(self.data[10_000:], *options)
        self.assertIn("are different now", self.complains(tool))
        self.assertEqual(self.ends(tool), (b"", ""))


class Ending(Follow):
    def test_signals(self):
        for sent in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(signal=sent):
                tool = self.follow()
                self.shows(tool, self.data[:10_000])
                self.assertEqual(self.ends(tool, sent), (b"", ""))

    def test_a_signal_while_the_data_is_not_read(self):
        self.frame = self.pack(noise(2_000_000), name="long.b2frame")
        tool = self.follow()
        self.assertEqual(len(self.receive(tool.stdout, 1000)), 1000)
        tool.send_signal(signal.SIGTERM)
        self.assertEqual(tool.wait(60), 0)

    def test_a_reader_that_goes_away(self):
        tool = self.follow()
        self.shows(tool, self.data[:10_000])
        tool.stdout.close()
        self.assertEqual(tool.wait(60), 0)
        self.assertEqual(tool.stderr.read(), b"")

    def test_a_reader_that_goes_away_in_the_middle(self):
        self.frame = self.pack(noise(2_000_000), name="long.b2frame")
        done = subprocess.run(f"{self.tool} cat long.b2frame --follow | head -c 4", shell=True, cwd=self.dir,
                              capture_output=True, timeout=60, check=True)  # fmt: skip
        self.assertEqual((len(done.stdout), done.stderr), (4, b""))


class Usage(Follow):
    def test_contradictions(self):
        for args in [["--items", 3], ["--chunk", 1], ["--box", "0:1"], ["--generation", 1]]:
            with self.subTest(args=args):
                self.fails(2, "cat", self.frame, "--follow", *args)

    def test_items_past_the_end(self):
        self.assertIn("2500", self.fails(1, "cat", self.frame, "--follow", "--first-item", 2501))

    def test_an_item_that_is_not_whole_is_past_the_end(self):
        self.append(b"xy")
        self.fails(1, "cat", self.frame, "--follow", "--first-item", 2501)

    def test_frames_that_are_not_there(self):
        self.assertIn("nofile", self.fails(1, "cat", "nofile", "--follow"))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
