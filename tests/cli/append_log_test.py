"""Appending items as they arrive, in commits that survive."""

import os
import signal
import sys
import time

import tap
from cli import CliTest, noise, sample

ITEM = 4


class Log(CliTest):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(b"", "--typesize", ITEM, "--chunk-size", "4KiB")
        self.data = sample(100_000)
        self.sent = 0

    def append(self, every, *args):
        return self.start("append", self.frame, "-", "--commit-every", every, *args)

    def send(self, tool, size):
        tool.stdin.write(self.data[self.sent : self.sent + size])
        tool.stdin.flush()
        self.sent += size

    def acknowledged(self, tool, items):
        line = b"committed %d\n" % items
        self.assertEqual(self.receive(tool.stdout, len(line)), line)

    def ends(self, tool, status=0):
        tool.stdin.close()
        out, err = tool.stdout.read(), tool.stderr.read().decode()
        self.assertEqual(tool.wait(60), status, err)
        return out, err

    def holds(self, size):
        self.assertEqual(self.ok("cat", self.frame), self.data[:size])
        self.ok("verify", self.frame)


class Acknowledged(Log):
    def test_each_commit_is_seen_at_once(self):
        tool = self.append(3, "--ack")
        for i in range(1, 15):
            self.send(tool, 3 * ITEM)
            self.acknowledged(tool, 3 * i)
            self.holds(self.sent)
        self.assertEqual(self.ends(tool), (b"", ""))
        self.holds(self.sent)

    def test_items_that_come_in_pieces(self):
        tool = self.append(2, "--ack")
        for size in [3, 4]:
            self.send(tool, size)
            time.sleep(0.1)
            self.assertEqual(self.ok("cat", self.frame), b"")
        self.send(tool, 1 + 2 * ITEM + 1)
        self.acknowledged(tool, 2)
        self.acknowledged(tool, 4)
        self.holds(4 * ITEM)

    def test_the_rest_at_the_end(self):
        tool = self.append(2, "--ack")
        self.send(tool, 5 * ITEM)
        self.assertEqual(self.ends(tool), (b"committed 2\ncommitted 4\ncommitted 5\n", ""))
        self.holds(5 * ITEM)
        self.assertEqual(self.info(self.frame)["journal_size"], 0)

    def test_nothing_to_commit(self):
        before = self.read(self.frame)
        self.assertEqual(self.ends(self.append(2, "--ack")), (b"", ""))
        self.assertEqual(self.ok("cat", self.frame), b"")
        self.assertEqual(self.info(self.frame)["nbytes"], 0)
        self.assertEqual(len(self.read(self.frame)), len(before))

    def test_numbers_go_on_with_those_of_the_frame(self):
        self.ok("append", self.frame, "--quiet", stdin=self.data[:40])
        self.sent = 40
        tool = self.append(3, "--ack")
        self.send(tool, 7 * ITEM)
        self.assertEqual(self.ends(tool)[0], b"committed 13\ncommitted 16\ncommitted 17\n")
        self.holds(self.sent)

    def test_an_item_of_the_frame_that_is_short_is_filled_up(self):
        self.ok("append", self.frame, "--quiet", "--allow-partial", stdin=self.data[:10])
        self.sent = 10
        tool = self.append(1, "--ack")
        self.send(tool, 2)
        self.acknowledged(tool, 3)
        self.send(tool, ITEM)
        self.acknowledged(tool, 4)
        self.ends(tool)
        self.holds(self.sent)

    def test_an_input_that_ends_within_an_item(self):
        tool = self.append(2, "--ack")
        self.send(tool, 3 * ITEM + 3)
        out, err = self.ends(tool, 1)
        self.assertEqual(out, b"committed 2\ncommitted 3\n")
        self.assertRegex(err, r"\Acairn: f\.b2frame: standard input ends with 3 bytes of an incomplete item; [^\n]+\n\Z")
        self.holds(3 * ITEM)
        self.assertEqual(self.info(self.frame)["journal_size"], 0)

    def test_acknowledgements_that_are_not_read(self):
        tool = self.append(1, "--ack")
        tool.stdout.close()
        self.send(tool, ITEM)
        self.assertEqual(tool.wait(60), 1)
        self.assertRegex(tool.stderr.read().decode(), r"\Acairn: f\.b2frame: standard output was closed; committed before that: 1 item of this input\n\Z")
        self.holds(ITEM)

    def test_sparse_frames(self):
        self.frame = self.pack(b"", "--sparse", "--typesize", ITEM, "--chunk-size", "1KiB", name="sparse")
        tool = self.append(100, "--ack")
        for i in range(1, 6):
            self.send(tool, 100 * ITEM)
            self.acknowledged(tool, 100 * i)
            self.holds(self.sent)
        self.ends(tool)
        self.holds(self.sent)

    def test_each_commit_makes_a_chunk_where_chunks_differ_in_size(self):
        self.frame = self.copy_vector("cframes/varchunks-disk.b2frame")
        old, nchunks = self.ok("cat", self.frame), self.info(self.frame)["nchunks"]
        typesize = self.info(self.frame)["typesize"]
        tool = self.append(3, "--ack")
        self.send(tool, 7 * typesize)
        items = len(old) // typesize
        self.assertEqual(self.ends(tool)[0], b"".join(b"committed %d\n" % (items + n) for n in [3, 6, 7]))
        self.assertEqual(self.ok("cat", self.frame), old + self.data[: self.sent])
        chunks = self.info(self.frame, "--chunks")["chunks"][nchunks:]
        self.assertEqual([chunk["nbytes"] // typesize for chunk in chunks], [3, 3, 1])
        self.ok("verify", self.frame)


class Killed(Log):
    def killed(self, tool):
        tool.send_signal(signal.SIGKILL)
        self.assertEqual(tool.wait(60), -signal.SIGKILL)

    def test_what_was_acknowledged_is_there(self):
        for durability in ["machine", "process"]:
            with self.subTest(durability=durability):
                self.sent = 0
                self.frame = self.pack(b"", "--typesize", ITEM, "--chunk-size", "4KiB", "--force")
                tool = self.append(150, "--ack", "--durability", durability)
                for i in range(1, 31):
                    self.send(tool, 150 * ITEM)
                    self.acknowledged(tool, 150 * i)
                self.send(tool, 149 * ITEM + 3)
                time.sleep(0.1)
                self.killed(tool)
                acknowledged = 30 * 150 * ITEM
                self.holds(acknowledged)
                self.assertGreater(self.info(self.frame)["journal_size"], 0)
                self.assertIn(b"only Cairn reads", self.ok("info", self.frame))
                self.assertIn(b"30 commits", self.ok("recover", self.frame))
                self.assertEqual(self.info(self.frame)["journal_size"], 0)
                self.assertNotIn(b"journal", self.ok("info", self.frame))
                self.holds(acknowledged)

    def test_in_the_middle_of_a_stream(self):
        for seconds in [0.02, 0.05, 0.1, 0.2]:
            with self.subTest(seconds=seconds):
                self.frame = self.pack(b"", "--typesize", ITEM, "--chunk-size", "4KiB", "--force")
                tool = self.start("append", self.frame, self.write("in", self.data), "--commit-every", 5, "--ack")
                time.sleep(seconds)
                self.killed(tool)
                lines = tool.stdout.read().decode().splitlines()
                last = int(lines[-1].split()[1]) if lines else 0
                left = len(self.ok("cat", self.frame)) // ITEM
                self.assertIn(left, [last, min(last + 5, 25_000)])
                self.holds(left * ITEM)
                self.ok("recover", self.frame)
                self.holds(left * ITEM)

    def test_the_next_appender_goes_on(self):
        tool = self.append(10, "--ack")
        self.send(tool, 20 * ITEM)
        self.acknowledged(tool, 10)
        self.acknowledged(tool, 20)
        self.killed(tool)
        tool = self.append(10, "--ack")
        self.send(tool, 10 * ITEM)
        self.acknowledged(tool, 30)
        self.ends(tool)
        self.holds(30 * ITEM)

    def test_without_commits_on_the_way_nothing_is_there(self):
        tool = self.start("append", self.frame)
        self.send(tool, 50_000)
        time.sleep(0.1)
        self.killed(tool)
        self.holds(0)


class Many(Log):
    def test_a_file_in_commits(self):
        text = self.ok("append", self.frame, self.write("in", self.data), "--commit-every", 1000,
                       "--durability", "process").decode()  # fmt: skip
        self.assertRegex(text, r"\Af\.b2frame: 97\.7 KiB appended, now 97\.7 KiB in .*, 25 chunks\n\Z")
        self.holds(len(self.data))

    def test_commits_larger_than_what_is_read_at_a_time(self):
        self.data = noise(5_000_000)
        text = self.ok("append", self.frame, "--commit-every", 400_000, "--ack", stdin=self.data)
        self.assertEqual(text, b"committed 400000\ncommitted 800000\ncommitted 1200000\ncommitted 1250000\n")
        self.holds(len(self.data))


class Wait(Log):
    def test_for_another_writer(self):
        self.ok("meta", "set", self.frame, "old", stdin=b"value")
        first = self.append(1, "--ack")
        self.send(first, ITEM)
        self.acknowledged(first, 1)
        self.assertIn(self.frame, self.fails(1, "append", self.frame, stdin=b"none"))
        self.assertIn(self.frame, self.fails(1, "append", self.frame, "--wait", "0.2", stdin=b"none"))
        waiting = [
            self.start("append", self.frame, "--wait", 60),
            self.start("chunk", "delete", self.frame, 0, "--wait", "60"),
            self.start("meta", "set", self.frame, "key", "--wait", 60),
            self.start("meta", "rm", self.frame, "old", "--wait", 60),
            self.start("reclaim", self.frame, "--wait", 60),
        ]
        time.sleep(0.3)
        self.assertEqual([tool.poll() for tool in waiting], [None] * len(waiting))
        for tool in waiting:
            tool.stdin.close()
        self.ends(first)
        for tool in waiting:
            err = tool.stderr.read().decode()
            tool.wait(60)
            self.assertNotIn("another writer", err)
            self.assertEqual(tool.returncode, 0, (tool.args, err))
        self.ok("verify", self.frame)

    def test_others_get_the_frame_between_two_commits(self):
        first = self.append(1, "--ack")
        self.send(first, ITEM)
        self.acknowledged(first, 1)
        waiting = [
            self.start("compact", self.frame, "--wait", 60),
            self.start("reclaim", self.frame, "--wait", 60),
        ]
        # Whoever asks before the writer sleeps over its input gets the frame at once, the others after a commit.
        items = 1
        while any(tool.poll() is None for tool in waiting):
            self.send(first, ITEM)
            items += 1
            self.acknowledged(first, items)
            time.sleep(0.01)
        self.assertEqual([tool.returncode for tool in waiting], [0] * len(waiting))
        self.assertIsNone(first.poll())
        self.send(first, ITEM)
        self.acknowledged(first, items + 1)
        self.ends(first)
        self.holds((items + 1) * ITEM)

    def test_seconds_that_are_none(self):
        for seconds in ["-1", "soon", "1e300", "nan", "-nan", "inf"]:
            self.fails(2, "append", self.frame, "--wait", seconds, stdin=b"none")


class Usage(Log):
    def test_contradictions(self):
        for args in [["--ack"], ["--durability", "process"], ["--commit-every", 0], ["--commit-every", -1],
                     ["--commit-every", "some"], ["--commit-every", 2**31],
                     ["--commit-every", 1, "--durability", "none"]]:  # fmt: skip
            with self.subTest(args=args):
                self.fails(2, "append", self.frame, *args, stdin=b"data")
        self.holds(0)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
