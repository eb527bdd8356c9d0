"""Damaged frames, full disks, closed streams."""

import contextlib
import json
import os
import pty
import random
import resource
import shutil
import struct
import subprocess
import sys
import time

import tap
from cli import CliTest, noise, sample


class ClosedStreams(CliTest):
    """A file that is opened gets the lowest number that is free: 0, 1 or 2 when that stream is closed."""

    def test_standard_input_that_is_closed_is_no_input(self):
        message = self.fails(1, "pack", "-", "f", preexec_fn=lambda: os.close(0))
        self.assertIn("standard input: cannot read", message)
        self.assertEqual(self.files(), [])

    def test_nothing_is_printed_into_a_frame(self):
        frame = self.pack(b"old ")
        for stream in [1, 2]:
            with self.subTest(stream=stream):
                before = self.ok("cat", frame)
                self.run_tool("append", frame, "--commit-every", 1, "--ack", stdin=b"new",
                              preexec_fn=lambda s=stream: os.close(s))  # fmt: skip
                self.ok("verify", frame)
                self.assertTrue(self.ok("cat", frame).startswith(before))

    def test_standard_output_that_is_closed_takes_nothing(self):
        frame = self.pack(b"data")
        self.assertIn("standard output: cannot write", self.fails(1, "cat", frame, preexec_fn=lambda: os.close(1)))


class Truncated(CliTest):
    def test_a_cut_file_says_what_it_lacks_and_what_to_try(self):
        frame = self.pack(noise(50_000), "--chunk-size", 4096)
        whole = self.read(frame)
        for left in [len(whole) - 1, len(whole) // 2, 200]:
            with self.subTest(left=left):
                self.write(frame, whole[:left])
                for command in [["cat"], ["info"], ["verify"], ["copy"]]:
                    out = ["out"] if command == ["copy"] else []
                    done = self.run_tool(*command, frame, *out)
                    text = (done.stdout + done.stderr).decode()
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("the file is truncated", text)
                    self.assertIn(f"the last {len(whole) - left} are missing", text)
                    self.assertIn("copy it again", text)
                    self.assertIn("salvage", text)
        self.write(frame, whole[:60])
        message = self.fails(1, "info", frame)
        self.assertIn("the file is truncated: expected", message)
        self.assertIn("; see 'cairn recover --help'", message)


class Json(CliTest):
    def test_failures_are_objects_too(self):
        frame = self.pack(noise(9000), "--chunk-size", 4096)
        cut = self.write("cut", self.read(frame)[:3000])
        noframe = self.write("noframe", noise(3000))
        for words, status in [
            (["info", "nofile"], 1), (["info", cut], 1), (["info", noframe], 1), (["history", cut], 1),
            (["meta", "ls", "nofile"], 1), (["meta", "get", frame, "none"], 1), (["cat", cut], 1),
            (["recover", noframe], 1), (["backup", "nofile", "out"], 1), (["compact", "nofile"], 1),
            (["reclaim", "nofile"], 1), (["log", "stat", "nofile"], 1), (["info", frame, "--generation", 99], 1),
            (["info", frame, "--nonsense"], 2), (["info"], 2),
        ]:  # fmt: skip
            with self.subTest(words=words):
                done = self.run_tool(*words, "--json")
                self.assertEqual(done.returncode, status)
                said = json.loads(done.stdout)
                self.assertEqual(list(said), ["error", "code", "exit_status"])
                self.assertRegex(said["code"], "^(NOT_FOUND|DATA_LOSS|INVALID_ARGUMENT|OUT_OF_RANGE)$")
                self.assertEqual(said["exit_status"], status)
                self.assertEqual(done.stderr.decode(), f"cairn: {said['error']}\n")

    def test_what_was_printed_is_all_there_is(self):
        frame = self.pack(noise(9000), "--chunk-size", 4096)
        self.flip_byte(frame, self.info(frame, "--chunks")["chunks"][1]["offset"] + 40)
        self.flip_byte(frame, len(self.read(frame)) - 30)
        for words in [["verify"], ["info"], ["info", "--chunks"], ["history"], ["meta", "ls"]]:
            with self.subTest(words=words):
                done = self.run_tool(*words, frame, "--json")
                self.assertEqual(done.returncode, 1)
                self.assertNotIn("exit_status", json.loads(done.stdout))


class Names(CliTest):
    def test_names_may_be_as_long_as_the_file_system_takes(self):
        for name in ["x" * 255, "é" * 127, "x" * 235, "y" * 248]:
            with self.subTest(size=len(name.encode())):
                frame = self.pack(sample(9000), "--chunk-size", 4096, name=name)
                self.ok("append", frame, "-", "--quiet", stdin=sample(9000))
                self.ok("copy", frame, name[:-1] + "z", "--quiet")
                self.ok("compact", frame, "--quiet")
                self.ok("copy", frame, name[:-1] + "z", "--quiet", "--sparse", "--force")
                self.ok("verify", frame, name[:-1] + "z")
                self.assertEqual(self.ok("cat", frame), 2 * sample(9000))
                self.assertEqual(self.files(), sorted([frame, name[:-1] + "z"]))
                os.remove(self.path(frame))
                shutil.rmtree(self.path(name[:-1] + "z"))


class Empty(CliTest):
    def test_a_header_that_denies_its_chunks_is_found(self):
        frame = self.copy_vector("cframes/one-lz4.b2frame")
        whole = bytearray(self.read(frame))
        self.ok("verify", frame)
        for nbytes, cbytes in [(0, None), (0, 0)]:
            with self.subTest(cbytes=cbytes):
                content = bytearray(whole)
                content[0x1E : 0x26] = struct.pack(">q", nbytes)
                if cbytes is not None:
                    content[0x27 : 0x2F] = struct.pack(">q", cbytes)
                self.write(frame, bytes(content))
                done = self.run_tool("verify", frame)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(b"header: nbytes 0", done.stdout)


class Files(CliTest):
    def test_pack_replaces_only_when_forced(self):
        frame = self.pack(b"old")
        before = self.read(frame)
        self.assertRegex(self.fails(1, "pack", "-", frame, stdin=b"new"), f"{frame}.*--force")
        self.assertEqual(self.read(frame), before)
        self.ok("pack", "-", frame, "--force", stdin=b"new")
        self.assertEqual(self.ok("cat", frame), b"new")
        self.assertEqual(self.files(), [frame])

    def test_pack_says_what_it_did(self):
        text = self.ok("pack", "-", "f", "--chunk-size", "4KiB", stdin=sample(5000)).decode()
        self.assertRegex(text, r"\Af: 4\.88 KiB in \S+ \w+ \(x\d+\.\d\d\), 2 chunks, \d+\.\d s\n\Z")

    def test_input_that_is_not_there(self):
        self.assertIn("nofile", self.fails(1, "pack", "nofile", "f"))
        self.assertIn("nofile", self.fails(1, "pack", "-", "f", "--meta", "a=@nofile"))
        self.assertIn("nofile", self.fails(1, "encode", "nofile"))
        self.assertEqual(self.files(), [])

    def test_a_directory_is_no_input(self):
        os.mkdir(self.path("dir"))
        self.fails(1, "pack", "dir", "f")
        for command in ("cat", "info", "recover"):
            reason = "dir: a directory without chunks.b2frame is not a Blosc2 frame"
            advice = "of a log, name one of its files, or see 'cairn log --help'"
            self.assertEqual(self.fails(1, command, "dir"), f"cairn: {reason}; {advice}")
        self.assertEqual(self.files(), ["dir"])

    def test_an_output_that_cannot_be(self):
        self.assertIn("nodir", self.fails(1, "pack", "-", "nodir/f", stdin=b"x"))

    def test_names_that_look_like_lists(self):
        for name in ["[a,b]", "[f]", "[]", "{}", "%%"]:
            self.pack(b"data", name=name)
        self.assertEqual(self.ok("verify", *self.files()).count(b": ok"), len(self.files()))
        for name in self.files():
            with self.subTest(name=name):
                self.assertIn(f"{name}: ok".encode(), self.ok("verify", name))
                self.assertIn(f"{name}: ok".encode(), self.ok("verify", "--", name))
                self.assertEqual(self.ok("cat", name), b"data")

    def test_names_that_are_part_of_a_message(self):
        for name in ["a", "chunk", "c"]:
            frame = self.pack(noise(5000), name=name)
            self.flip_byte(frame, 1000)
            self.assertRegex(self.fails(1, "cat", frame), f"\\Acairn: {name}: chunk 0")
        self.pack(b"data", "--sparse", name="s")
        os.remove(self.path("s/00000000.chunk"))
        self.assertRegex(self.fails(1, "cat", "s"), r"\Acairn: s(/00000000.chunk)?: ")

    def test_frames_that_are_not_there(self):
        for command in ["cat", "info", "append", "verify", "decode"]:
            with self.subTest(command=command):
                self.fails(1, command, "nofile")
                self.assertEqual(self.files(), [])

    def test_files_that_are_no_frame(self):
        frame = self.read(self.pack(sample(50_000)))
        for name, content in {"empty": b"", "short": b"x", "noise": noise(5000),
                              "half": frame[: len(frame) // 2], "head": frame[:100]}.items():  # fmt: skip
            self.write(name, content)
            for command in ["cat", "info", "append", "verify"]:
                with self.subTest(command=command, name=name):
                    self.fails(1, command, name)
            self.assertEqual(self.read(name), content)


class OthersWords(CliTest):
    """Names and texts from files and command lines shall not steer a terminal."""

    STEERS = "up\n\t\x1b[2J\x7f\x9b2Jdown"

    def is_one_line(self, output):
        text = output.decode()
        self.assertEqual(text[-1], "\n")
        self.assertNotRegex(text[:-1], "[\x00-\x1f\x7f-\x9f]")
        return text

    def test_in_complaints(self):
        done = self.run_tool("cat", self.STEERS)
        self.assertIn("down", self.is_one_line(done.stderr))

    def test_in_summaries(self):
        frame = self.STEERS
        for command in [["pack", "-", frame, "--chunk-size", "1KiB"], ["append", frame], ["chunk", "insert", frame, 0],
                        ["compact", frame], ["reclaim", frame], ["recover", frame]]:  # fmt: skip
            with self.subTest(command=command):
                self.assertIn("down: ", self.is_one_line(self.ok(*command, stdin=noise(1024))))
        self.assertIn("down: ", self.is_one_line(self.ok("copy", frame, frame + "down")))
        for line in self.ok("info", frame).splitlines(True):
            self.is_one_line(line)
        for line in self.ok("recover", "--salvage", frame, frame + "saved").splitlines(True):
            self.is_one_line(line)

    def test_in_the_lines_of_verify(self):
        done = self.run_tool("verify", self.STEERS)
        self.assertIn("down: not checked", self.is_one_line(done.stdout))

    def test_in_the_name_of_a_layer_that_is_damaged(self):
        frame = self.pack(b"data", "--fingerprint", "none", "--vlmeta", "up.....down=text")
        content = self.read(frame)
        at = content.index(b"up.....down")
        content = content.replace(b"up.....down", b"up\n\0\x1b[2down")
        content = bytearray(content)
        chunk = content.index(b"\xc6", at)
        content[chunk + 9] ^= 0x40  # its size
        self.write(frame, content)
        self.assertIn("down", self.is_one_line(self.run_tool("info", frame).stderr))
        for line in self.run_tool("verify", frame).stdout.splitlines(True):
            self.is_one_line(line)

    def test_letters_of_all_languages_stay(self):
        self.assertIn("grün \u00a0€", self.fails(1, "cat", "grün \u00a0€"))


class Damage(CliTest):
    def setUp(self):
        super().setUp()
        self.data = noise(40_000)
        self.frame = self.pack(self.data, "--chunk-size", "4KiB")
        chunk = self.info(self.frame, "--chunks")["chunks"][3]
        self.begin, self.end = chunk["offset"], chunk["offset"] + chunk["cbytes"]
        self.flip_byte(self.frame, self.begin + 1000)

    def test_verify_names_the_chunk_and_its_bytes(self):
        done = self.run_tool("verify", self.frame)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, b"cairn: 1 of 1 frame failed the check\n")
        first, second = done.stdout.decode().splitlines()
        self.assertRegex(first, r"\Af\.b2frame: DAMAGED: 1 finding, sealed, 10 chunks, ")
        self.assertRegex(second, rf"\A  \[{self.begin}, {self.end}\) chunk 3: ")

    def test_verify_goes_on_to_the_other_frames(self):
        self.pack(b"fine", name="good")
        done = self.run_tool("verify", "good", "nofile", self.frame, "good")
        lines = [line for line in done.stdout.decode().splitlines() if not line.startswith(" ")]
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split(": ")[:2] for line in lines][1:3],
                         [["nofile", "not checked"], [self.frame, "DAMAGED"]])  # fmt: skip
        self.assertRegex(lines[0], r"\Agood: ok, sealed, 1 chunk, \d+ B\Z")
        self.assertEqual(lines[3], lines[0])
        self.assertIn(b"2 of 4 frames", done.stderr)

    def test_verify_checks_each_file_of_a_log(self):
        self.ok("log", "create", "log", "--quiet", "--field", "n:i4", "--rotate-bytes", "1KiB", "--chunk-size", "512")
        for begin in (0, 4000):
            rows = "".join(f"{n * 7919 % 10007}\n" for n in range(begin, begin + 4000))
            self.ok("log", "append", "log", "--quiet", "--columns", "n", stdin=rows.encode())
        names = sorted(os.listdir(self.path("log")))
        names = [f"log/{name}" for name in names if name.endswith(".b2frame")]
        self.assertGreater(len(names), 1)
        lines = self.ok("verify", "log").decode().splitlines()
        self.assertEqual([line.split(": ")[:1] for line in lines], [[name] for name in names])
        self.assertTrue(all(": ok, " in line for line in lines), lines)
        self.flip_byte(names[0], 10)
        done = self.run_tool("verify", "log", self.frame)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"2 of {len(names) + 1} frames failed the check".encode(), done.stderr)
        self.assertRegex(done.stdout.decode().splitlines()[0], rf"\A{names[0]}: (DAMAGED|not checked)")

    def test_verify_tells_the_journal(self):
        self.pack(random.Random(5).randbytes(10_000), name="live")
        writer = self.start("append", "live", "--commit-every", 1, "--ack")
        writer.stdin.write(random.Random(6).randbytes(50))
        writer.stdin.flush()
        self.receive(writer.stdout, 100)
        writer.kill()
        writer.wait()
        self.assertRegex(self.ok("verify", "live").decode(), r"\Alive: ok, sealed, \d+ chunks?, [\d.]+ KiB and a journal of [\d.]+ \w+\n\Z")
        (told,) = json.loads(self.ok("verify", "live", "--json"))
        info = self.info("live")
        self.assertEqual((told["size"], told["journal_size"]), (info["frame_size"], info["journal_size"]))
        self.assertGreater(told["journal_size"], 50)
        self.ok("recover", "live")
        self.assertRegex(self.ok("verify", "live").decode(), r" KiB\n\Z")

    def test_verify_for_programs(self):
        self.pack(b"fine", name="good")
        done = self.run_tool("verify", "--json", "good", "nofile", self.frame)
        self.assertEqual((done.returncode, done.stderr), (1, b"cairn: 2 of 3 frames failed the check\n"))
        good, missing, damaged = json.loads(done.stdout)
        self.assertEqual(good, {"path": "good", "verdict": "ok", "sealed": True, "nchunks": 1,
                                "size": len(self.read("good")), "journal_size": 0, "findings": [], "omitted": 0, "notes": []})  # fmt: skip
        self.assertEqual((missing["path"], missing["verdict"]), ("nofile", "not checked"))
        self.assertIn("No such file", missing["error"])
        self.assertEqual((damaged["path"], damaged["verdict"], damaged["nchunks"]), (self.frame, "damaged", 10))
        (finding,) = damaged["findings"]
        self.assertEqual({key: finding[key] for key in ["begin", "end", "section"]},
                         {"begin": self.begin, "end": self.end, "section": "chunk 3"})  # fmt: skip
        self.assertRegex(finding["reason"], r"\Afingerprint: ")
        self.assertRegex(self.run_tool("verify", self.frame).stdout.decode(), r"\n  \[\d+, \d+\) chunk 3: fingerprint: ")
        self.assertEqual(missing["error"], "cannot open: No such file or directory")
        self.write(self.frame, self.read(self.frame)[:50])
        (broken,) = json.loads(self.run_tool("verify", "--json", self.frame).stdout)
        self.assertEqual((broken["verdict"], "error" in broken), ("damaged", True))

    def verify_unread(self, *frames):
        """Runs verify, whose output is not read."""
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as output:
            return self.run_tool("verify", *frames, stdout=output)

    def test_verify_is_not_fine_when_its_reader_went_away_before_all_was_checked(self):
        self.pack(b"fine", name="good")
        for frames, checked in [([self.frame], "1 of 1 frame failed"), (["good", "good"], "only 1 of 2 frames were checked, 0 "),
                                ([self.frame, "good"], "only 1 of 2 frames were checked, 1 ")]:  # fmt: skip
            with self.subTest(frames=frames):
                done = self.verify_unread(*frames)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr.decode(), rf"\Acairn: [^\n]*{checked}[^\n]*\n\Z")
        done = self.verify_unread("good")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_cat_names_it_too(self):
        message = self.fails(1, "cat", self.frame)
        self.assertIn("chunk 3", message)
        self.assertIn(self.frame, message)

    def test_info_goes_on_past_the_headers_of_chunks_that_cannot_be_read(self):
        self.flip_byte(self.frame, self.begin + 4)  # its size
        done = self.run_tool("info", self.frame, "--chunks", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"\Acairn: f\.b2frame: 1 of 10 chunks cannot be read[^\n]*\n\Z")
        chunks = json.loads(done.stdout)["chunks"]
        self.assertEqual([chunk["index"] for chunk in chunks], list(range(10)))
        self.assertEqual([chunk["index"] for chunk in chunks if "error" in chunk], [3])
        self.assertEqual(list(chunks[3]), ["index", "error"])
        text = self.run_tool("info", self.frame, "--chunks").stdout.decode()
        self.assertRegex(text, r"\n +3  chunk 3 [^\n]+\n +4 +\d")

    def test_verify_counts_what_it_does_not_list(self):
        frame = self.pack(noise(1100 * 32), "--chunk-size", 32, name="many")
        content = bytearray(self.read(frame))
        for chunk in self.info(frame, "--chunks")["chunks"]:
            content[chunk["offset"] + chunk["cbytes"] - 1] ^= 1
        self.write(frame, content)
        lines = self.run_tool("verify", frame).stdout.decode().splitlines()
        self.assertIn("DAMAGED: 1100 findings", lines[0])
        self.assertEqual((len(lines), lines[-1]), (1002, "  and 100 more"))

    def test_all_other_chunks_stay_readable(self):
        for i in [0, 2, 4, 9]:
            self.assertEqual(self.ok("cat", self.frame, "--chunk", i),
                             self.data[i * 4096 : (i + 1) * 4096])  # fmt: skip
        self.fails(1, "cat", self.frame, "--chunk", 3)

    def test_every_13th_byte_that_is_flipped_leaves_a_frame_not_sealed_or_not_well(self):
        """Some bytes of the header are others' to edit: there the frame is no longer sealed."""
        frame = self.pack(sample(300), name="small")
        self.assertIn(b"small: ok, sealed", self.ok("verify", frame))
        for position in range(0, len(self.read(frame)), 13):
            with self.subTest(position=position):
                self.flip_byte(frame, position)
                done = self.run_tool("verify", frame)
                self.assertNotIn(b": ok, sealed", done.stdout)
                self.assertIn(done.returncode, [0, 1])
                self.flip_byte(frame, position)


class Bounds(CliTest):
    def test_cat_prints_no_more_than_asked(self):
        frame = self.pack(sample(100_000), "--chunk-size", "4KiB", "--typesize", "4")
        for size, args in {100_000: [], 4096: ["--chunk", 1], 400: ["--items", 100]}.items():
            with self.subTest(size=size):
                self.assertEqual(len(self.ok("cat", frame, "--max-bytes", size, *args)), size)
                message = self.fails(1, "cat", frame, "--max-bytes", size - 1, *args)
                self.assertIn(f"{size} bytes are more than --max-bytes {size - 1}", message)
        self.assertEqual(self.run_tool("cat", frame, "--max-bytes", 99_999).stdout, b"")
        self.fails(2, "cat", frame, "--max-bytes", 9, "--follow")

    def test_a_few_bytes_that_mean_a_gigabyte(self):
        """A chunk of zeros has 32 bytes, whatever it decodes to."""
        size = 1 << 30
        self.write("bomb", struct.pack("<4B3i15xB", 5, 1, 5, 1, size, 1 << 16, 32, 0x10))
        message = self.fails(1, "decode", "bomb", "--max-bytes", "1MiB")
        self.assertIn(f"{size} bytes are more than --max-bytes 1048576", message)
        self.assertEqual(self.run_tool("decode", "bomb", "--max-bytes", "1MiB").stdout, b"")

    def test_a_few_bytes_that_mean_a_million_chunks(self):
        """An index of one value repeated: every chunk is the first, or all are zeros."""
        zeros = 0x81 << 56
        for nchunks, entry, dead in [(17, 0, -1), (268_000_000, 0, -1), (1_000_000, zeros, 33), (1_000_001, zeros, -1)]:
            with self.subTest(nchunks=nchunks, entry=entry):
                self.write("many", self.repeat_entry(nchunks, entry))
                info = self.info("many")
                self.assertEqual((info["nchunks"], info["dead_bytes"]), (nchunks, dead))
                byte = b"\0" if entry == zeros else b"\xff"
                self.assertEqual(self.ok("cat", "many", "--first-item", nchunks - 1), byte)

    def repeat_entry(self, nchunks, entry):
        """A frame with one chunk, of one byte, and an index that says the same of each of `nchunks` chunks."""
        template = self.read(self.copy_vector("cframes/chunk1byte.b2frame"))
        header, chunk, trailer = bytearray(template[:97]), template[97 : 97 + 33], template[-35:]
        index = struct.pack("<4B3i15xBQ", 5, 1, 5, 8, 8 * nchunks, 16384, 40, 0x30, entry)
        struct.pack_into(">Q", header, 0x10, len(header) + len(chunk) + len(index) + len(trailer))
        struct.pack_into(">q", header, 0x1E, nchunks)
        struct.pack_into(">q", header, 0x27, len(chunk))
        return bytes(header) + chunk + index + trailer

    def test_a_frame_that_claims_all_bytes_that_can_be_counted(self):
        frame = self.copy_vector("cframes/varchunks-disk.b2frame")
        claims = bytearray(self.read(frame))
        struct.pack_into(">q", claims, 0x1E, 2**63 - 1)
        self.write(frame, claims)
        for first in [0, 2**61 - 1]:
            message = self.fails(1, "cat", frame, "--first-item", first, "--max-bytes", 2**63 - 1)
            self.assertIn(f"its header says {2**63 - 1}", message)
        self.assertIn("more than 2^63", self.fails(2, "append", frame, "--commit-every", 3, stdin=bytes(17)))

    def test_a_frame_that_is_cut_short_while_it_is_read(self):
        frame = self.pack(noise(32 << 20), "--chunk-size", "64KiB")
        tool = self.start("cat", frame)
        self.receive(tool.stdout, 1000)
        os.truncate(self.path(frame), 4096)
        self.receive(tool.stdout, 64 << 20)
        self.assertEqual(tool.wait(60), 1)
        self.assertRegex(tool.stderr.read().decode(), r"\Acairn: [^\n]+ truncated [^\n]+\n\Z")


def _small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


class Limits(CliTest):
    """A process that may not have more memory, or no thread more, fails with one line."""

    def limited(self, limits, *args):
        """Runs the tool as a user of its own if this one is not bound by limits, which root is not."""

        def limit():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(54_321)
                os.setuid(54_321)
            for kind, most in limits.items():
                resource.setrlimit(kind, (most, most))

        return self.run_tool(*args, preexec_fn=limit)

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o777)
        if not self.starts({}):
            self.skipTest("another user cannot run the tool")

    def starts(self, limits):
        try:
            return self.limited(limits, "-V").returncode == 0
        except (PermissionError, subprocess.SubprocessError):
            return False

    def skip_unless_limits_count(self):
        if not self.starts({resource.RLIMIT_AS: 64 << 20}):
            self.skipTest("this tool needs more memory to start, as with sanitizers")

    def test_a_lack_of_memory_ends_a_writer(self):
        self.skip_unless_limits_count()
        self.ok("log", "create", "log", "--field", "time:timestamp[ms]", "--field", "v:i8", "--key", "k", "--quiet")
        rows = [f"{1767225600000 + i},{i * 0x9E3779B97F4A7C15 >> 3 & 2**60 - 1},k{i % 7}\n" for i in range(100_000)]
        self.write("big.csv", "".join(["time,v,k\n", *rows]).encode())
        os.chmod(f"{self.dir}/log", 0o666)
        ends = set()
        for mib in range(16, 64, 4):
            for command in (["append", "log", "big.csv"], ["import", "log", "big.csv", "--upsert"]):
                with self.subTest(mib=mib, command=command):
                    done = self.limited({resource.RLIMIT_AS: mib << 20}, "log", *command)
                    if done.returncode == 127:
                        continue  # not even its libraries fit
                    ends.add((done.returncode, b"out of memory" in done.stderr))
                    self.assertIn(done.returncode, (0, 1), done)
                    self.ok("log", "query", "log", "--from", "2026-01-01", "--to", "2026-01-02")
        if ends == {(1, False)} or not ends:
            self.skipTest(f"such limits end this tool in another way: {ends}")
        self.assertIn((1, True), ends)
        self.ok("log", "append", "log", "--quiet", stdin=b"time,v,k\n1767225600000,1,last\n")

    def test_a_lack_of_memory_is_an_object_for_programs(self):
        self.skip_unless_limits_count()
        frame = self.pack(bytes(range(256)) * (1 << 17), "--chunk-size", 32 << 20)
        for mib in range(20, 60, 4):
            with self.subTest(mib=mib):
                done = self.limited({resource.RLIMIT_AS: mib << 20}, "verify", frame, "--json")
                if done.returncode == 127:
                    continue  # not even its libraries fit
                self.assertIn(done.returncode, (0, 1), done)
                if b"out of memory" in done.stderr:
                    said = {"error": "out of memory", "code": "RESOURCE_EXHAUSTED", "exit_status": 1}
                    self.assertEqual(json.loads(done.stdout), said)

    def test_no_thread_is_needed(self):
        frame = self.pack(noise(3 << 20), "--chunk-size", 1 << 20)
        for command in (["verify", frame], ["cat", frame], ["copy", frame, "copied", "--codec", "zstd"],
                        ["pack", frame, "packed"], ["recover", "--salvage", frame, "saved"]):  # fmt: skip
            with self.subTest(command=command):
                done = self.limited({resource.RLIMIT_NPROC: 1}, *command)
                self.assertEqual((done.returncode, done.stderr), (0, b""))


class FullDisk(CliTest):
    def setUp(self):
        super().setUp()
        self.frame = self.pack(b"old state")
        self.before = self.read(self.frame)
        self.big = noise(1_000_000)

    def test_pack_keeps_the_old_frame_and_leaves_nothing(self):
        message = self.fails(1, "pack", "-", self.frame, "--force", stdin=self.big,
                             preexec_fn=_small_files)  # fmt: skip
        self.assertIn("file size limit", message.lower())
        self.assertEqual(self.read(self.frame), self.before)
        self.assertEqual(self.files(), [self.frame])

    def test_pack_of_a_new_frame_leaves_nothing(self):
        self.fails(1, "pack", "-", "new", stdin=self.big, preexec_fn=_small_files)
        self.assertEqual(self.files(), [self.frame])

    def test_append_keeps_the_old_state(self):
        self.fails(1, "append", self.frame, stdin=self.big, preexec_fn=_small_files)
        self.assertEqual(self.ok("cat", self.frame), b"old state")
        self.ok("verify", self.frame)
        self.ok("append", self.frame, stdin=b", new state")
        self.assertEqual(self.ok("cat", self.frame), b"old state, new state")

    def test_cat_to_a_full_device(self):
        with open("/dev/full", "wb") as full:
            message = self.fails(1, "cat", self.frame, stdout=full)
        self.assertIn("standard output", message)


class ProgressBar(CliTest):
    def test_not_drawn_through_the_data_on_a_terminal(self):
        frame = self.pack(bytes(64 << 10), "--chunk-size", "16KiB")
        array = self.copy_vector("cframes/nd2-i4.b2nd")
        ends = []
        for args in [[frame], [frame, "--chunk", 1], [array, "--box", "0:100,0:33"], [frame, "--follow"]]:
            master, terminal = pty.openpty()
            tool = subprocess.Popen([self.tool, "cat", *map(str, args)], cwd=self.dir, stdout=terminal, stderr=terminal)
            os.close(terminal)
            ends.append((tool, master))
        time.sleep(1.1)  # meanwhile the data is not read
        for tool, master in ends:
            shown = b""
            while len(shown) < 13_000:
                shown += os.read(master, 65536)
            tool.terminate()
            tool.wait(60)
            os.close(master)
            self.assertNotIn(b"\x1b[K", shown)

    def slow_pack(self, stderr):
        tool = subprocess.Popen([self.tool, "pack", "-", "f", "--quiet", "--chunk-size", "4KiB"],
                                cwd=self.dir, stdin=subprocess.PIPE, stderr=stderr)  # fmt: skip
        piece = sample(5 << 20)
        tool.stdin.write(piece)
        tool.stdin.flush()
        time.sleep(1.3)
        tool.stdin.write(piece)
        tool.stdin.close()
        return tool

    def test_shown_on_a_terminal_when_it_takes_long(self):
        master, terminal = pty.openpty()
        with self.slow_pack(terminal) as tool:
            self.assertEqual(tool.wait(60), 0)
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # once all is read
            while piece := os.read(master, 65536):
                shown += piece
        os.close(master)
        self.assertRegex(shown, rb"\rpacking \d[\d.]* [KM]iB, \d[\d.]* [KM]iB/s\x1b\[K")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)

    def test_not_shown_when_piped(self):
        with self.slow_pack(subprocess.PIPE) as tool:
            self.assertEqual(tool.stderr.read(), b"")
            self.assertEqual(tool.wait(60), 0)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
