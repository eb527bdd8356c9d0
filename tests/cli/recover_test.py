"""Frames that a dead writer or a bad disk left."""

import json
import os
import sys
import time

import tap
from cli import CliTest, noise, sample

ITEM = 4
CHUNK = 4096


class Recover(CliTest):
    def setUp(self):
        super().setUp()
        self.data = noise(30_000)
        self.frame = self.pack(self.data[:20_000], "--typesize", ITEM, "--chunk-size", CHUNK, "--meta", "unit=K")

    def zero(self, begin, end):
        content = bytearray(self.read(self.frame))
        content[begin:end] = bytes(end - begin)
        self.write(self.frame, content)

    def holds(self, data):
        self.assertEqual(self.ok("cat", self.frame), data)
        self.assertEqual(self.info(self.frame)["journal_size"], 0)
        self.assertIn(b": ok, sealed", self.ok("verify", self.frame))

    def is_well(self):
        before = self.read(self.frame)
        self.assertRegex(self.ok("recover", self.frame).decode(),
                         r"\Af\.b2frame: generation \d+, nothing to recover \(cairn verify checks the chunks\)\n\Z")  # fmt: skip
        self.assertEqual(self.read(self.frame), before)

    def leave_a_journal(self):
        """Two commits of 4,000 bytes after the checkpoint."""
        tool = self.start("append", self.frame, "--commit-every", 1000, "--ack")
        tool.stdin.write(self.data[20_000:28_000])
        tool.stdin.flush()
        self.assertEqual(self.receive(tool.stdout, 30), b"committed 6000\ncommitted 7000\n")
        tool.kill()
        tool.wait()


class Journal(Recover):
    def test_a_frame_that_is_well(self):
        self.is_well()

    def test_commits_are_checkpointed(self):
        self.leave_a_journal()
        text = self.ok("recover", self.frame).decode()
        self.assertRegex(text, r"\Af\.b2frame: generation \d+, recovered, \S+ \w+ before, \S+ \w+ now\n"
                               r"  2 commits after the checkpoint of generation \d+, now checkpointed\n")
        self.holds(self.data[:28_000])
        self.is_well()

    def test_commits_after_damage_are_dropped_only_on_request(self):
        size = len(self.read(self.frame))
        self.leave_a_journal()
        begin = self.read(self.frame).index(b"CAIRNJNL", size)
        self.zero(begin + 24, begin + 32)
        before = self.read(self.frame)
        for args in [(), ("--dry-run",)]:
            self.assertIn("2 commits after generation", self.fails(1, "recover", self.frame, *args))
        message = self.fails(1, "append", self.frame, "-")
        self.assertRegex(message, "2 commits after generation .*; save first .*'cairn recover --salvage FRAME OUT'; then 'cairn recover --drop-stranded")
        self.assertEqual(self.read(self.frame), before)
        dry = self.ok("recover", self.frame, "--drop-stranded", "--dry-run").decode()
        self.assertRegex(dry, r"\n  2 commits after generation \d+ that cannot be read because the journal is damaged\n")
        self.assertEqual(self.read(self.frame), before)
        dropped = json.loads(self.ok("recover", self.frame, "--drop-stranded", "--json"))
        self.assertEqual((dropped["stranded_commits"], dropped["commits"], dropped["well"]), (2, 0, False))
        self.holds(self.data[:20_000])

    def test_waits_for_a_writer(self):
        self.zero(0, 50)
        self.assertIn("needs recovery", self.ok("recover", self.frame, "--dry-run").decode())
        self.ok("recover", self.frame)
        writer = self.start("append", self.frame, "--commit-every", 1000, "--ack", "--durability", "process")
        writer.stdin.write(self.data[20_000:28_000])
        writer.stdin.flush()
        self.assertEqual(self.receive(writer.stdout, 30), b"committed 6000\ncommitted 7000\n")
        self.assertIn("--wait SECONDS waits", self.fails(1, "recover", self.frame))
        waiting = self.start("recover", self.frame, "--wait", 60)
        time.sleep(0.3)
        self.assertIsNone(waiting.poll())
        writer.kill()
        out, _ = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0)
        self.assertIn(b"2 commits", out)
        self.holds(self.data[:28_000])

    def test_a_dry_run_changes_nothing(self):
        self.leave_a_journal()
        before = self.read(self.frame)
        text = self.ok("recover", self.frame, "--dry-run").decode()
        self.assertRegex(text, r"\Af\.b2frame: generation \d+, Cairn needs no recovery; nothing was changed\n"
                               r"  2 commits after the checkpoint of generation \d+, which another Blosc2 sees only once")
        self.assertEqual(self.read(self.frame), before)
        self.assertEqual(self.ok("cat", self.frame), self.data[:28_000])

    def test_for_programs(self):
        well = json.loads(self.ok("recover", self.frame, "--json"))
        size = len(self.read(self.frame))
        self.assertEqual(well, {"path": self.frame, "dry_run": False, "well": True, "header_restored": False,
                                "checkpoint_generation": well["generation"], "generation": well["generation"],
                                "commits": 0, "stranded_commits": 0, "cut": 0, "size_before": size, "size_after": size,
                                "missing_checkpoint_end": 0})  # fmt: skip
        self.leave_a_journal()
        size = len(self.read(self.frame))
        dry = json.loads(self.ok("recover", self.frame, "--json", "--dry-run"))
        self.assertEqual({key: dry[key] - well[key] for key in ["checkpoint_generation", "generation", "commits"]},
                         {"checkpoint_generation": 0, "generation": 2, "commits": 2})  # fmt: skip
        self.assertEqual((dry["dry_run"], dry["well"], dry["size_before"], dry["size_after"]), (True, False, size, size))
        done = json.loads(self.ok("recover", self.frame, "--json"))
        self.assertEqual((done["dry_run"], done["well"], done["commits"], done["cut"]), (False, False, 2, dry["cut"]))
        self.assertEqual((done["size_before"], done["size_after"]), (size, len(self.read(self.frame))))
        self.holds(self.data[:28_000])

    def test_bytes_that_no_commit_wrote(self):
        self.write(self.frame, self.read(self.frame) + noise(5000))
        text = self.ok("recover", self.frame).decode()
        self.assertIn("4.88 KiB at the end that hold no commit, cut off\n", text)
        self.holds(self.data[:20_000])
        self.is_well()

    def test_a_writer_that_still_writes(self):
        tool = self.start("append", self.frame, "--commit-every", 1, "--ack")
        tool.stdin.write(self.data[20_000:20_004])
        tool.stdin.flush()
        self.assertEqual(self.receive(tool.stdout, 15), b"committed 5001\n")
        self.assertIn(self.frame, self.fails(1, "recover", self.frame))
        tool.stdin.close()
        self.assertEqual(tool.wait(60), 0)
        self.holds(self.data[:20_004])


class DamagedJournal(Recover):
    def setUp(self):
        super().setUp()
        begin = len(self.read(self.frame))
        self.leave_a_journal()
        # In the record of the first commit; the second one shows that it was durable.
        first = self.read(self.frame).index(self.data[23_000:23_040], begin)
        self.zero(first, first + 40)

    def test_what_can_be_read_is_not_passed_off_as_everything(self):
        tool = self.run_tool("cat", self.frame)
        self.assertEqual((tool.returncode, tool.stdout), (1, self.data[:20_000]))
        self.assertIn(b"cannot be read", tool.stderr)
        tool = self.run_tool("cat", self.frame, "--follow")
        self.assertEqual((tool.returncode, tool.stdout), (1, self.data[:20_000]))
        self.assertIn("cannot be read", self.fails(1, "copy", self.frame, "copy", "--quiet"))
        self.assertEqual(self.ok("cat", "copy"), self.data[:20_000])

    def test_an_older_state_is_not_told_as_the_newest(self):
        for shown, *args in [
            ("2 commits after them cannot be read", "info", self.frame), ('"journal_damaged": true', "info", self.frame, "--json"),
            ("checkpoint", "history", self.frame), ('"checkpoint"', "history", self.frame, "--json"),
            ("unit", "meta", "ls", self.frame), ('"unit"', "meta", "ls", self.frame, "--json"),
            ("K\n", "meta", "get", self.frame, "unit", "--fixed"),
        ]:  # fmt: skip
            with self.subTest(args=args):
                self.assertIn("cannot be read", self.fails(1, *args))
                self.assertIn(shown, self.run_tool(*args).stdout.decode())
        self.assertNotIn(b"cairn recover", self.run_tool("info", self.frame).stdout)

    def test_a_layer_that_is_not_there_may_be_after_the_damage(self):
        self.assertIn("journal: ", self.fails(1, "meta", "get", self.frame, "station"))


class DamagedTrailer(Recover):
    """Without it damage of a memcpyed chunk goes unseen."""

    def setUp(self):
        super().setUp()
        self.ok("meta", "set", self.frame, "station", stdin=b"Lisbon")
        content = self.read(self.frame)
        begin = content.index(self.data[8000:8040])
        self.flip_byte(self.frame, begin)
        self.flip_byte(self.frame, len(content) - 1)
        self.damaged = bytearray(self.data[:20_000])
        self.damaged[8000] ^= 0x10

    def test_data_that_cannot_be_checked_is_not_passed_off_as_sound(self):
        for args in [[], ["--follow"]]:
            tool = self.run_tool("cat", self.frame, *args)
            self.assertEqual((tool.returncode, tool.stdout), (1, self.damaged))
            self.assertIn(b"f.b2frame: trailer: damaged", tool.stderr)
        self.assertIn("trailer: damaged", self.fails(1, "copy", self.frame, "copy"))
        self.assertEqual(self.files(), [self.frame])

    def test_recover_does_not_call_it_well(self):
        for args in [[], ["--dry-run"]]:
            message = self.fails(1, "recover", self.frame, *args)
            self.assertRegex(message, "f.b2frame: trailer: .*; 'cairn recover --salvage FRAME OUT' saves what is intact")
            self.assertEqual(self.run_tool("recover", self.frame, *args).stdout, b"")

    def test_what_is_told_of_it_is_told_as_damage(self):
        for shown, *args in [
            ("damaged: chunks are read unchecked", "info", self.frame),
            ('"trailer_damaged": true', "info", self.frame, "--json"), ("checkpoint", "history", self.frame),
            ("unit", "meta", "ls", self.frame), ("K\n", "meta", "get", self.frame, "unit", "--fixed"),
            ("", "meta", "get", self.frame, "station"),
        ]:  # fmt: skip
            with self.subTest(args=args):
                self.assertIn("f.b2frame: trailer: ", self.fails(1, *args))
                self.assertIn(shown, self.run_tool(*args).stdout.decode())


class Header(Recover):
    def test_comes_back_from_its_copy(self):
        for journal in [False, True]:
            for end in [8, 87, 512]:
                with self.subTest(journal=journal, end=end):
                    self.frame = self.pack(self.data[:20_000], "--typesize", ITEM, "--chunk-size", CHUNK,
                                           "--meta", "unit=K", "--force")  # fmt: skip
                    if journal:
                        self.leave_a_journal()
                    self.check_zeroed(min(end, self.info(self.frame)["header_len"]))

    def check_zeroed(self, end):
        whole = self.ok("cat", self.frame)
        self.zero(0, end)
        before = self.read(self.frame)
        self.fails(1, "cat", self.frame)
        text = self.ok("recover", self.frame, "--dry-run").decode()
        self.assertIn("the header is unusable or older than the file, and would be restored", text)
        self.assertEqual(self.read(self.frame), before)
        text = self.ok("recover", self.frame).decode()
        self.assertRegex(text, r"\n  the header is unusable or older than the file, and was restored from the trailer of generation \d+\n")
        self.holds(whole)
        self.is_well()

    def test_files_that_hold_no_frame(self):
        for name, content in {"empty": b"", "noise": noise(5000)}.items():
            self.write(name, content)
            self.assertIn(name, self.fails(1, "recover", name))
            self.assertEqual(self.read(name), content)
        self.assertIn("nofile", self.fails(1, "recover", "nofile"))


class Salvage(Recover):
    def test_chunks_without_header_index_and_trailer(self):
        chunks = self.info(self.frame, "--chunks")["chunks"]
        end = chunks[-1]["offset"] + chunks[-1]["cbytes"]
        self.zero(0, chunks[0]["offset"])
        self.zero(end, len(self.read(self.frame)))
        before = self.read(self.frame)
        self.fails(1, "recover", self.frame)
        text = self.ok("recover", "--salvage", self.frame, "saved").decode()
        self.assertTrue(text.startswith("saved: 5 chunks, 19.5 KiB saved\n"), text)
        self.assertEqual(self.ok("cat", "saved"), self.data[:20_000])
        self.ok("verify", "saved")
        self.assertEqual(self.read(self.frame), before)
        # Nothing was left that could prove a chunk.
        self.assertTrue(text.endswith("  not proven by a fingerprint: chunk 0-4\n"), text)
        self.assertEqual(self.ok("meta", "get", "saved", "unproven_chunks"), b'"0-4"\n')

    def test_tells_what_is_lost(self):
        chunks = self.info(self.frame, "--chunks")["chunks"]
        lost = chunks[2]["offset"]
        self.zero(lost, lost + chunks[2]["cbytes"])
        lines = self.ok("recover", "--salvage", self.frame, "saved").decode().splitlines()
        end = lost + chunks[2]["cbytes"]
        self.assertEqual(lines[0], "saved: 4 chunks, 15.5 KiB saved")
        self.assertRegex(lines[1], rf"\A  \[{lost}, {end}\): chunk 2: .+\Z")
        self.assertEqual(lines[2:], ["  holes, which cannot be read: chunk 2"])

    def test_every_chunk_keeps_its_place_and_a_lost_one_is_a_hole(self):
        chunks = self.info(self.frame, "--chunks")["chunks"]
        for nchunk, chunk in enumerate(chunks):
            for place in [0, 5, 20, 40, chunk["cbytes"] - 1]:
                with self.subTest(chunk=nchunk, place=place):
                    good = self.read(self.frame)
                    self.flip_byte(self.frame, chunk["offset"] + place)
                    self.ok("recover", "--salvage", self.frame, "saved")
                    self.write(self.frame, good)
                    info = self.info("saved")
                    self.assertEqual((info["nchunks"], info["nbytes"]), (5, 20_000))
                    self.assertEqual(info["metalayers"], {"unit": b"K".hex()})
                    self.assertEqual(self.ok("meta", "get", "saved", "lost_chunks"), b'"%d"\n' % nchunk)
                    for i in range(5):
                        if i != nchunk:
                            part = self.data[i * CHUNK : min(i * CHUNK + CHUNK, 20_000)]
                            self.assertEqual(self.ok("cat", "saved", "--chunk", i), part)
                    self.assertIn("a hole", self.fails(1, "cat", "saved", "--chunk", nchunk))
                    done = self.run_tool("verify", "saved")
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(b"chunk %d: a hole" % nchunk, done.stdout)
                    os.remove(self.path("saved"))

    def test_dead_chunks_are_left_out(self):
        self.write("new", noise(CHUNK, 7))
        self.ok("chunk", "update", self.frame, 1, "new", "--quiet", "--keep", 5)
        self.flip_byte(self.frame, self.info(self.frame, "--chunks")["chunks"][3]["offset"] + 40)
        self.ok("recover", "--salvage", self.frame, "saved")
        self.assertEqual(self.info("saved")["nchunks"], 5)
        self.assertEqual(self.ok("cat", "saved", "--chunk", 1), noise(CHUNK, 7))
        self.assertEqual(self.ok("cat", "saved", "--chunk", 4), self.data[4 * CHUNK : 20_000])
        self.assertEqual(self.ok("meta", "get", "saved", "lost_chunks"), b'"3"\n')

    def test_attributes_and_shape_come_along(self):
        frame = self.pack(noise(4000), "--shape", "100,10", "--typesize", 4, "--dtype", "<f4", "--chunk-shape",
                          "30,10", "--vlmeta", "unit=K", name="array")  # fmt: skip
        self.flip_byte(frame, self.info(frame, "--chunks")["chunks"][2]["offset"] + 40)
        self.ok("recover", "--salvage", frame, "saved")
        self.assertEqual(self.info("saved")["array"], self.info(frame)["array"])
        self.assertEqual(self.ok("meta", "get", "saved", "unit"), self.ok("meta", "get", frame, "unit"))
        self.assertEqual(self.ok("cat", "saved", "--box", ":60,:"), noise(4000)[:2400])
        self.assertIn("a hole", self.fails(1, "cat", "saved", "--box", "60:61,:"))
        self.assertEqual(self.ok("cat", "saved", "--box", "90:,:"), noise(4000)[3600:])

    def test_metalayer_that_was_not_sealed_so_is_named(self):
        frame = self.pack(noise(4000), "--chunk-size", 1000, "--meta", "unit=kelvin", name="named")
        self.flip_byte(frame, self.read(frame).index(b"kelvin"))
        self.assertIn(b"changed the metalayer unit", self.ok("verify", frame))
        self.assertEqual(self.info(frame)["changed_metalayers"], ["unit"])
        saved = self.ok("recover", "--salvage", frame, "saved").decode().splitlines()
        self.assertEqual(saved[1:], ["  not proven by a seal: metalayer unit"])
        self.assertEqual(self.ok("meta", "get", "saved", "unproven_metalayers"), b'"unit"\n')
        for command in ["copy", "backup"]:
            with self.subTest(command):
                done = self.run_tool(command, frame, command)
                self.assertEqual(done.returncode, 0)
                self.assertIn(b"changed metalayers (unit)", done.stderr)

    def test_shape_that_does_not_fit_is_the_sealed_one(self):
        frame = self.pack(noise(5120), "--shape", 640, "--typesize", 8, "--chunk-shape", 64, name="array")
        shape = self.read(frame).index((640).to_bytes(8, "big"))
        self.flip_byte(frame, shape + 6)
        text = self.ok("recover", "--salvage", frame, "saved").decode()
        self.assertIn("metalayer b2nd: array: needs", text)
        self.ok("verify", "saved")
        self.assertEqual(self.ok("cat", "saved"), noise(5120))

    def test_for_programs(self):
        lost = self.info(self.frame, "--chunks")["chunks"][2]
        self.zero(lost["offset"], lost["offset"] + lost["cbytes"])
        saved = json.loads(self.ok("recover", "--salvage", self.frame, "saved", "--json"))
        self.assertEqual((saved["path"], saved["nchunks"], saved["nbytes"]), ("saved", 4, 20_000 - CHUNK))
        self.assertEqual({tuple(part) for part in saved["lost"]}, {("begin", "end", "reason")})
        self.assertTrue(any(part["begin"] <= lost["offset"] < part["end"] for part in saved["lost"]))
        self.assertEqual((saved["holes"], saved["unproven"]), ([2], []))
        self.assertEqual(saved["unproven_metalayers"], [])

    def test_never_over_something(self):
        self.write("there", b"mine")
        self.assertIn("there", self.fails(1, "recover", "--salvage", self.frame, "there"))
        self.assertEqual(self.read("there"), b"mine")

    def test_a_file_without_a_chunk(self):
        self.write("noise", noise(5000))
        self.assertIn("noise", self.fails(1, "recover", "--salvage", "noise", "saved"))
        self.assertEqual(self.files(), [self.frame, "noise"])


class Usage(Recover):
    def test_contradictions(self):
        for args in [[], [self.frame, "out"], [self.frame, "--salvage"], [self.frame, "--threads", 1],
                     [self.frame, "out", "--salvage", "--dry-run"]]:  # fmt: skip
            with self.subTest(args=args):
                self.fails(2, "recover", *args)
        self.assertEqual(self.files(), [self.frame])


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
