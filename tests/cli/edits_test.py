"""Editing whole chunks, and compaction."""

import json
import os
import random
import resource
import sys

import tap
from cli import CliTest, noise, sample

CHUNK = 4096
CHUNKS = [sample(CHUNK, seed) for seed in range(5)]
SHORT = sample(1000, 9)
NEW = noise(CHUNK)


class Edits(CliTest):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(b"".join(CHUNKS) + SHORT, "--chunk-size", CHUNK, "--typesize", 4)

    def edit(self, verb, *args, stdin=b""):
        self.ok("chunk", verb, self.frame, *args, "--quiet", stdin=stdin)

    def holds(self, *chunks):
        self.assertEqual(self.ok("cat", self.frame), b"".join(chunks))
        info = self.info(self.frame)
        self.assertEqual((info["nchunks"], info["sealed"]), (len(chunks), True))
        self.ok("verify", self.frame)

    def unchanged(self):
        self.holds(*CHUNKS, SHORT)


class Insert(Edits):
    def test_before_the_first_and_in_the_middle(self):
        self.edit("insert", 0, self.write("new", NEW))
        self.holds(NEW, *CHUNKS, SHORT)
        self.edit("insert", 3, stdin=CHUNKS[4])
        self.holds(NEW, *CHUNKS[:2], CHUNKS[4], *CHUNKS[2:], SHORT)

    def test_the_number_of_chunks_appends(self):
        self.edit("delete", 5)
        self.edit("insert", 5, "-", stdin=NEW)
        self.holds(*CHUNKS, NEW)
        self.edit("insert", 6, stdin=b"last")
        self.holds(*CHUNKS, NEW, b"last")

    def test_to_an_empty_frame(self):
        self.frame = self.pack(b"", name="empty")
        self.edit("insert", 0, stdin=SHORT)
        self.holds(SHORT)

    def test_a_chunk_of_zeros_takes_no_room(self):
        self.edit("insert", 1, stdin=bytes(CHUNK))
        self.holds(CHUNKS[0], bytes(CHUNK), *CHUNKS[1:], SHORT)
        self.assertEqual(self.info(self.frame, "--chunks")["chunks"][1]["special"], "zeros")

    def test_a_compressed_chunk_as_it_is(self):
        chunk = self.ok("encode", "--typesize", 4, "--codec", "zstd", "--level", 9, stdin=CHUNKS[3])
        self.edit("insert", 2, "--compressed", stdin=chunk)
        self.holds(*CHUNKS[:2], CHUNKS[3], *CHUNKS[2:], SHORT)
        stored = self.info(self.frame, "--chunks")["chunks"][2]
        at = stored["offset"]
        self.assertEqual(self.read(self.frame)[at : at + stored["cbytes"]], chunk)

    def test_says_what_it_did(self):
        text = self.ok("chunk", "insert", self.frame, 2, stdin=NEW).decode()
        self.assertRegex(text, r"\Af\.b2frame: chunk 2 inserted, now 7 chunks, 25\.0 KiB in .* \w+\n\Z")

    def test_numbers_past_the_end(self):
        for verb in ["insert", "update"]:
            self.assertIn("7", self.fails(1, "chunk", verb, self.frame, 7, stdin=NEW))
            self.fails(1, "chunk", verb, self.frame, 2**62, stdin=NEW)
        self.unchanged()

    def test_chunks_of_another_size(self):
        for verb in ["insert", "update"]:
            for data in [b"", SHORT]:
                with self.subTest(verb=verb, size=len(data)):
                    done = self.run_tool("chunk", verb, self.frame, 1, stdin=data)
                    self.assertIn(done.returncode, [1, 2])
            message = self.fails(1, "chunk", verb, self.frame, 1, stdin=NEW + b"x")
            self.assertIn(str(CHUNK), message)
        self.unchanged()

    def test_nothing_follows_a_short_chunk(self):
        self.fails(1, "chunk", "insert", self.frame, 6, stdin=NEW)
        self.unchanged()

    def test_bytes_that_are_no_chunk(self):
        chunk = self.ok("encode", "--typesize", 4, stdin=NEW)
        other = self.ok("encode", "--typesize", 8, stdin=NEW)
        for bad in [b"", b"short", noise(5000), chunk[:-1], chunk + b"x", other]:
            for verb in ["insert", "update"]:
                with self.subTest(verb=verb, size=len(bad)):
                    done = self.run_tool("chunk", verb, self.frame, 1, "--compressed", stdin=bad)
                    self.assertIn(done.returncode, [1, 2])
                    self.assertTrue(done.stderr.startswith(b"cairn: "))
        self.unchanged()

    def test_a_frame_into_itself(self):
        self.assertIn("itself", self.fails(2, "chunk", "insert", self.frame, 0, self.frame))
        self.unchanged()

    def test_a_full_disk_keeps_the_old_state(self):
        frame = self.pack(sample(CHUNK), "--chunk-size", "1MiB", name="old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        self.fails(1, "chunk", "update", frame, 0, stdin=noise(1_000_000), preexec_fn=limit)
        self.assertEqual(self.ok("cat", frame), sample(CHUNK))
        self.ok("verify", frame)


class Update(Edits):
    def test_any_chunk(self):
        self.edit("update", 0, stdin=NEW)
        self.edit("update", 4, self.write("new", NEW))
        self.holds(NEW, *CHUNKS[1:4], NEW, SHORT)

    def test_the_last_chunk_may_change_its_size(self):
        self.edit("update", 5, stdin=NEW)
        self.holds(*CHUNKS, NEW)
        self.edit("update", 5, stdin=SHORT[:500])
        self.holds(*CHUNKS, SHORT[:500])

    def test_a_compressed_chunk_as_it_is(self):
        chunk = self.ok("encode", "--typesize", 4, "--codec", "blosclz", stdin=NEW)
        self.edit("update", 1, self.write("chunk", chunk), "--compressed")
        self.holds(CHUNKS[0], NEW, *CHUNKS[2:], SHORT)

    def test_numbers_past_the_end(self):
        self.assertIn("6", self.fails(1, "chunk", "update", self.frame, 6, stdin=NEW))
        self.unchanged()


class Delete(Edits):
    def test_one_and_several(self):
        self.edit("delete", 1)
        self.holds(CHUNKS[0], *CHUNKS[2:], SHORT)
        self.edit("delete", 2, 3)
        self.holds(CHUNKS[0], CHUNKS[2])

    def test_all(self):
        self.edit("delete", 0, 6)
        self.assertEqual(self.ok("cat", self.frame), b"")
        self.assertEqual(self.info(self.frame)["nchunks"], 0)
        self.edit("insert", 0, stdin=NEW)
        self.holds(NEW)

    def test_numbers_past_the_end(self):
        for args in [[6], [7], [0, 7], [5, 2], [2**62, 2**62]]:
            with self.subTest(args=args):
                self.fails(1, "chunk", "delete", self.frame, *args)
        self.fails(2, "chunk", "delete", self.frame, 0, 0)
        self.unchanged()

    def test_says_what_it_did(self):
        text = self.ok("chunk", "delete", self.frame, 1, 2).decode()
        self.assertRegex(text, r"\Af\.b2frame: 2 chunks deleted, now 4 chunks, ")


class ReorderChunks(Edits):
    def test_any_permutation(self):
        self.edit("reorder", "2,0,1,4,3,5")
        self.holds(CHUNKS[2], CHUNKS[0], CHUNKS[1], CHUNKS[4], CHUNKS[3], SHORT)

    def test_what_is_no_permutation(self):
        for order in ["0,1,2,3,4", "0,1,2,3,4,4", "0,1,2,3,4,6", "0,1,2,3,4,5,6", "0,1,2,3,4,x",
                      "1,0,2,3,4,-5", "0"]:  # fmt: skip
            with self.subTest(order=order):
                done = self.run_tool("chunk", "reorder", self.frame, order)
                self.assertIn(done.returncode, [1, 2])
                self.assertTrue(done.stderr.startswith(b"cairn: "))
        self.unchanged()

    def test_the_short_chunk_stays_last(self):
        self.fails(2, "chunk", "reorder", self.frame, "5,0,1,2,3,4")
        self.unchanged()


class ManyEdits(Edits):
    def test_against_a_list(self):
        rng = random.Random(7)
        model = list(CHUNKS)
        self.edit("delete", 5)
        for step in range(40):
            kind = rng.choice(["insert", "insert", "update", "delete", "reorder"])
            new = sample(CHUNK, 100 + step)
            if kind == "insert":
                at = rng.randint(0, len(model))
                self.edit("insert", at, stdin=new)
                model.insert(at, new)
            elif kind == "reorder":
                order = rng.sample(range(len(model)), len(model))
                if order:
                    self.edit("reorder", ",".join(map(str, order)))
                    model = [model[i] for i in order]
            elif model:
                at = rng.randrange(len(model))
                if kind == "update":
                    self.edit("update", at, stdin=new)
                    model[at] = new
                else:
                    self.edit("delete", at)
                    del model[at]
        self.holds(*model)
        self.ok("compact", self.frame, "--quiet")
        self.holds(*model)


class ReadOnly(CliTest):
    def test_frames_that_are_not_there(self):
        for args in [["insert", "no", 0], ["update", "no", 0], ["delete", "no", 0], ["reorder", "no", 0]]:
            self.assertIn("no", self.fails(1, "chunk", *args, stdin=b"x"))
        self.fails(1, "compact", "no")
        self.assertEqual(self.files(), [])

    def test_old_frames_are_not_edited(self):
        for name in ["old/beta5/frames/meta2.b2frame", "old/b2019/frames/meta2.b2frame",
                     "packed/blosclz-meta-user.packed"]:  # fmt: skip
            self.check_read_only(self.copy_vector(name))

    def check_read_only(self, frame):
        before = self.read(frame)
        for args in [["chunk", "insert", frame, 0], ["chunk", "update", frame, 0],
                     ["chunk", "delete", frame, 0], ["chunk", "reorder", frame, 0],
                     ["meta", "set", frame, "x"], ["compact", frame]]:  # fmt: skip
            with self.subTest(args=args):
                self.assertIn(frame, self.fails(1, *args, stdin=b"data"))
        self.assertEqual(self.read(frame), before)

    def test_command_lines_that_are_wrong(self):
        for args in [["chunk"], ["chunk", "nope"], ["chunk", "insert"], ["chunk", "insert", "f"],
                     ["chunk", "insert", "f", "-1"], ["chunk", "insert", "f", "one"],
                     ["chunk", "delete", "f"], ["chunk", "delete", "f", "0", "-1"],
                     ["chunk", "reorder", "f"], ["compact"]]:  # fmt: skip
            with self.subTest(args=args):
                self.fails(2, *args)


class Compact(Edits):
    def test_tells_what_a_writer_that_died_had_reserved(self):
        tool = self.start("append", self.frame, "-", "--commit-every", 1000, "--ack")
        tool.stdin.write(sample(100_000))
        tool.stdin.flush()
        self.receive(tool.stdout, 10)
        tool.kill()
        tool.wait(60)
        before = os.stat(self.path(self.frame)).st_blocks * 512
        freed = json.loads(self.ok("reclaim", self.frame, "--json"))["freed"]
        self.assertGreater(freed, 0)
        self.assertEqual(freed, before - os.stat(self.path(self.frame)).st_blocks * 512)

    def test_frees_dead_bytes(self):
        self.edit("update", 2, stdin=NEW)
        self.edit("delete", 0, 2)
        self.assertGreater(self.info(self.frame)["dead_bytes"], 0)
        before = os.path.getsize(self.path(self.frame))
        report = json.loads(self.ok("compact", self.frame, "--json"))
        after = os.path.getsize(self.path(self.frame))
        self.assertEqual(report, {"size_before": before, "size_after": after})
        self.assertLess(after, before)
        self.assertEqual(self.info(self.frame)["dead_bytes"], 0)
        self.holds(NEW, *CHUNKS[3:], SHORT)
        self.assertEqual(self.files(), [self.frame])

    def test_says_what_it_did(self):
        self.assertRegex(self.ok("compact", self.frame).decode(),
                         r"\Af\.b2frame: \S+ \w+ before, \S+ \w+ now\n\Z")  # fmt: skip
        self.assertEqual(self.ok("compact", self.frame, "--quiet"), b"")
        self.fails(2, "compact", self.frame, "--quiet", "--json")

    def test_damage_changes_nothing(self):
        chunk = self.info(self.frame, "--chunks")["chunks"][1]
        self.flip_byte(self.frame, chunk["offset"] + 100)
        before = self.read(self.frame)
        self.assertIn("chunk 1", self.fails(1, "compact", self.frame))
        self.assertEqual(self.read(self.frame), before)
        self.assertEqual(self.files(), [self.frame])


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
