"""States of a frame that newer ones have replaced, and the space that they take."""

import json
import os
import sys

import tap
from cli import CliTest, noise, sample

ITEM = 4


class History(CliTest):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(b"", "--typesize", ITEM, "--chunk-size", "4KiB")
        self.data = noise(40_000)

    def history(self, name=None):
        return json.loads(self.ok("history", name or self.frame, "--json"))

    def append(self, begin, end):
        self.ok("append", self.frame, "--keep", 1000, "--quiet", stdin=self.data[begin:end])

    def readable(self, state):
        generation = state["generation"]
        data = self.ok("cat", self.frame, "--generation", generation)
        self.assertEqual(data, self.data[: state["nbytes"]])
        info = self.info(self.frame, "--generation", generation)
        for key in ["generation", "nbytes", "nchunks"]:
            self.assertEqual(info[key], state[key])


class States(History):
    def test_every_checkpoint_is_there(self):
        ends = [5000, 5004, 20_000, 33_000]
        for begin, end in zip([0] + ends, ends):
            self.append(begin, end)
        states = self.history()
        self.assertEqual([state["nbytes"] for state in states][-len(ends) :], ends)
        self.assertEqual([state["kind"] for state in states], ["checkpoint"] * len(states))
        generations = [state["generation"] for state in states]
        self.assertEqual(generations, sorted(set(generations)))
        self.assertEqual(states[-1]["end"], os.path.getsize(self.path(self.frame)))
        for state in states:
            self.readable(state)

    def test_pages(self):
        for begin in range(0, 28_000, 4000):
            self.append(begin, begin + 4000)
        states = self.history()
        page = json.loads(self.ok("history", self.frame, "--json", "--limit", 3))
        self.assertEqual(page, states[-3:])
        before = page[0]["generation"]
        page = json.loads(self.ok("history", self.frame, "--json", "--limit", 2, "--before", before))
        self.assertEqual(page, states[-5:-3])
        text = self.ok("history", self.frame, "--limit", 1).decode()
        self.assertEqual(len(text.splitlines()), 2)
        everything = json.loads(self.ok("history", self.frame, "--json", "--before", before))
        self.assertEqual(everything, states[:-3])

    def test_every_commit_of_the_journal_too(self):
        self.append(0, 8000)
        tool = self.start("append", self.frame, "--commit-every", 500, "--ack")
        tool.stdin.write(self.data[8000:20_000])
        tool.stdin.flush()
        for items in range(2500, 5001, 500):
            self.assertEqual(self.receive(tool.stdout, 15), b"committed %d\n" % items)
        for stopped in [False, True]:
            if stopped:
                tool.kill()
                tool.wait()
            states = self.history()
            commits = [state["nbytes"] for state in states if state["kind"] == "commit"]
            self.assertEqual(commits, list(range(10_000, 20_001, 2000)))
            for state in states:
                self.readable(state)

    def test_nothing_is_kept_unless_asked_for(self):
        self.append(0, 8192)
        self.ok("chunk", "update", self.frame, 0, "--quiet", stdin=bytes(4096))
        self.assertEqual(len(self.history()), 1)

    def test_edits(self):
        self.append(0, 8192)
        before = self.history()[-1]["generation"]
        self.ok("chunk", "update", self.frame, 0, "--keep", 9, "--quiet", stdin=bytes(4096))
        self.ok("chunk", "delete", self.frame, 1, "--keep", 9, "--quiet")
        self.ok("meta", "set", self.frame, "key", "--keep", 9, stdin=b"value")
        self.assertEqual(self.ok("cat", self.frame), bytes(4096))
        self.assertEqual(self.ok("cat", self.frame, "--generation", before), self.data[:8192])
        self.assertEqual(self.ok("cat", self.frame, "--generation", before, "--first-item", 1024, "--items", 2),
                         self.data[4096:4104])  # fmt: skip
        self.assertEqual(self.info(self.frame, "--generation", before)["vlmetalayers"], {})

    def test_states_that_are_not_there(self):
        self.append(0, 8000)
        newest = self.history()[-1]["generation"]
        for generation in [newest + 1, 2**63]:
            for command in ["cat", "info"]:
                self.assertIn(str(generation), self.fails(1, command, self.frame, "--generation", generation))
        self.fails(2, "cat", self.frame, "--generation", "first")

    def test_text_for_people(self):
        self.append(0, 8000)
        lines = self.ok("history", self.frame).decode().splitlines()
        states = self.history()
        self.assertEqual(lines[0].split(), ["generation", "kind", "chunks", "data", "end"])
        self.assertEqual(len(lines), 1 + len(states))
        last = states[-1]
        self.assertEqual(lines[-1].split(),
                         [str(last["generation"]), "checkpoint", "2", "7.81", "KiB", str(last["end"])])  # fmt: skip

    def test_json_has_exactly_these_keys(self):
        self.assertEqual(list(self.history()[0]), ["generation", "kind", "nchunks", "nbytes", "end"])

    def test_frames_that_tell_only_one_state(self):
        for name in [self.pack(self.data, "--sparse", name="sparse"), self.copy_vector("cframes/one-lz4.b2frame")]:
            states = self.history(name)
            self.assertEqual(len(states), 1)
            self.assertEqual(states[0]["nbytes"], self.info(name)["nbytes"])

    def test_frames_that_are_not_there(self):
        for command in ["history", "reclaim"]:
            self.assertIn("nofile", self.fails(1, command, "nofile"))
        self.assertEqual(self.files(), [self.frame])


class Reclaim(History):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(noise(1 << 20), "--chunk-size", "64KiB", "--force")
        for i in range(5):
            self.ok("chunk", "update", self.frame, i, "--keep", 9, "--quiet", stdin=noise(1 << 16, i + 10))  # fmt: skip
        self.data = self.ok("cat", self.frame)

    def allocated(self):
        return os.stat(self.path(self.frame)).st_blocks * 512

    def test_frees_what_only_old_states_need(self):
        before = self.allocated()
        report = json.loads(self.ok("reclaim", self.frame, "--json"))
        self.assertEqual(list(report), ["freed", "blocked", "oldest_generation", "holders"])
        self.assertFalse(report["blocked"])
        self.assertGreater(report["freed"], 4 << 16)
        self.assertLessEqual(self.allocated(), before - (4 << 16))
        self.assertEqual(self.ok("cat", self.frame), self.data)
        self.ok("verify", self.frame)
        states = self.history()
        self.assertEqual(states[0]["generation"], report["oldest_generation"])
        for state in states:
            self.readable(state)
        self.fails(1, "cat", self.frame, "--generation", 1)

    def test_keeps_as_many_as_asked_for(self):
        newest = self.history()[-1]["generation"]
        self.ok("reclaim", self.frame, "--keep", 3, "--quiet")
        states = self.history()
        self.assertGreaterEqual(len(states), 4)
        self.assertIn(newest - 2, [state["generation"] for state in states])
        for state in states:
            size = len(self.ok("cat", self.frame, "--generation", state["generation"]))
            self.assertEqual(size, state["nbytes"])
        self.ok("verify", self.frame)

    def test_says_what_it_did(self):
        self.assertRegex(self.ok("reclaim", self.frame).decode(),
                         r"\Af\.b2frame: \S+ KiB freed, generation \d+ is the oldest now\n\Z")  # fmt: skip
        self.assertEqual(self.ok("reclaim", self.frame, "--quiet"), b"")
        self.fails(2, "reclaim", self.frame, "--quiet", "--json")

    def test_a_reader_of_an_older_state_is_left_alone(self):
        old = self.history()[0]["generation"]
        data = self.ok("cat", self.frame, "--generation", old)
        reader = self.start("cat", self.frame, "--generation", old)
        self.assertEqual(self.receive(reader.stdout, 10), data[:10])
        self.assertRegex(self.ok("reclaim", self.frame).decode(),
                         rf"\Af\.b2frame: 0 B freed, generation \d+ is the oldest now\n"
                         rf"  still read: generation {old}, by process {reader.pid}, which has run for \d+ s\n\Z")  # fmt: skip
        self.assertEqual(reader.communicate(timeout=60)[0], data[10:])
        self.assertGreater(json.loads(self.ok("reclaim", self.frame, "--json"))["freed"], 0)
        self.ok("verify", self.frame)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
