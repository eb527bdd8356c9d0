"""Reading, growing and looking into frames."""

import json
import os
import random
import re
import subprocess
import sys

import tap
from cli import CliTest, sample

FRAME_KEYS = [
    "path", "kind", "era", "format_version", "codec", "level", "filters", "split_mode",
    "typesize", "blocksize", "chunksize", "nchunks", "nitems", "nbytes", "cbytes", "frame_size", "journal_size",
    "journal_damaged", "stranded_commits", "trailer_damaged", "header_len",
    "dead_bytes", "fingerprint", "sealed", "changed_metalayers", "generation", "holders", "array", "recipe", "fields", "columns", "requests", "metalayers", "vlmetalayers",
]  # fmt: skip
CHUNK_KEYS = ["index", "offset", "file", "nbytes", "cbytes", "blocksize", "special", "fingerprint"]


class Cat(CliTest):
    def setUp(self):
        super().setUp()
        self.data = sample(100_000)
        self.frame = self.pack(self.data, "--typesize", 4, "--chunk-size", "4KiB")

    def test_items(self):
        for first, count in [(0, 1), (1023, 2), (1024, 1024), (5, 20_000), (24_999, 1), (7, 0)]:
            with self.subTest(first=first, count=count):
                part = self.ok("cat", self.frame, "--first-item", first, "--items", count)
                self.assertEqual(part, self.data[first * 4 : (first + count) * 4])

    def test_items_up_to_the_end(self):
        self.assertEqual(self.ok("cat", self.frame, "--first-item", 24_990), self.data[99_960:])
        self.assertEqual(self.ok("cat", self.frame, "--first-item", 25_000), b"")

    def test_one_chunk(self):
        self.assertEqual(self.ok("cat", self.frame, "--chunk", 3), self.data[12288:16384])
        self.assertEqual(self.ok("cat", self.frame, "--chunk", 24), self.data[98304:])

    def test_numbers_past_the_end(self):
        self.assertIn("first item 25001: the frame has 25000 items", self.fails(1, "cat", self.frame, "--first-item", 25_001))
        self.assertIn("25000", self.fails(1, "cat", self.frame, "--items", 25_001))
        self.assertIn("25", self.fails(1, "cat", self.frame, "--chunk", 25))

    def test_contradictions(self):
        self.fails(2, "cat", self.frame, "--chunk", 1, "--items", 3)
        self.fails(2, "cat", self.frame, "--chunk", 1, "--first-item", 3)
        self.fails(2, "cat", self.frame, "--items", -1)
        self.fails(2, "cat", self.frame, "--first-item", "many")

    def test_large_chunks_in_pieces(self):
        data = sample(9_000_000)
        frame = self.pack(data, "--chunk-size", "8MiB", name="large.b2frame")
        self.assertEqual(self.ok("cat", frame), data)
        part = self.ok("cat", frame, "--first-item", 4_000_000, "--items", 4_900_000)
        self.assertEqual(part, data[4_000_000:8_900_000])

    def test_items_of_variable_blocks(self):
        for name in ["vlblocks-var-disk", "vlblocks-fixed-disk"]:
            frame = self.copy_vector(f"cframes/{name}.b2frame")
            data = b"".join(self.ok("cat", frame, "--chunk", i) for i in range(self.info(frame)["nchunks"]))
            for first, items in [(0, len(data)), (1, len(data) - 1), (1999, 2), (3000, 5000), (len(data), 0)]:
                with self.subTest(name=name, first=first, items=items):
                    got = self.ok("cat", frame, "--first-item", first, "--items", items)
                    self.assertEqual(got, data[first : first + items])

    def test_a_reader_that_goes_away_is_no_failure(self):
        frame = self.pack(sample(2_000_000), name="long.b2frame")
        with subprocess.Popen([self.tool, "cat", frame], cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as tool:  # fmt: skip
            tool.stdout.read(10)
            tool.stdout.close()
            self.assertEqual(tool.stderr.read(), b"")
            self.assertEqual(tool.wait(60), 0)


class Append(CliTest):
    def test_goes_on_with_the_short_tail(self):
        parts = [sample(5000, 1), sample(3000, 2), sample(10_000, 3), sample(1, 4)]
        frame = self.pack(parts[0], "--chunk-size", "4KiB")
        for i, part in enumerate(parts[1:], 2):
            self.ok("append", frame, self.write("part", part))
            self.assertEqual(self.ok("cat", frame), b"".join(parts[:i]))
        info = self.info(frame)
        self.assertEqual((info["nbytes"], info["nchunks"]), (18_001, 5))
        self.ok("verify", frame)

    def test_from_standard_input(self):
        frame = self.pack(b"one,")
        self.ok("append", frame, "-", stdin=b"two,")
        self.ok("append", frame, stdin=b"three")
        self.assertEqual(self.ok("cat", frame), b"one,two,three")

    def test_to_an_empty_frame(self):
        frame = self.pack(b"")
        self.ok("append", frame, stdin=sample(9999))
        self.assertEqual(self.ok("cat", frame), sample(9999))

    def test_nothing(self):
        frame = self.pack(sample(5000))
        self.ok("append", frame, stdin=b"")
        self.assertEqual(self.ok("cat", frame), sample(5000))

    def test_keeps_codec_filters_and_metadata(self):
        args = ["--codec", "zstd", "--filters", "delta,shuffle", "--typesize", 8]
        frame = self.pack(sample(8000), *args, "--meta", "a=1", "--vlmeta", "b=2")
        before = self.info(frame)
        self.ok("append", frame, stdin=sample(8000))
        after = self.info(frame)
        for key in ["codec", "level", "filters", "typesize", "metalayers", "vlmetalayers"]:
            self.assertEqual(after[key], before[key], key)
        self.assertGreater(after["generation"], before["generation"])
        self.assertTrue(after["sealed"])

    def test_a_frame_to_itself(self):
        frame = self.pack(sample(5000))
        self.assertIn("itself", self.fails(2, "append", frame, frame))
        with open(self.path(frame), "rb") as stdin:
            done = subprocess.run([self.tool, "append", frame], cwd=self.dir, stdin=stdin,
                                  capture_output=True, timeout=60, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.ok("cat", frame), sample(5000))

    def test_says_what_it_did(self):
        frame = self.pack(sample(5000))
        self.assertRegex(self.ok("append", frame, stdin=sample(2048)).decode(),
                         r"\Af\.b2frame: 2 KiB appended, now 6\.88 KiB in .*, 1 chunk\n\Z")
        self.assertEqual(self.ok("append", frame, "--quiet", stdin=b"x"), b"")

    def test_the_ratio_counts_what_only_the_journal_has(self):
        frame = self.pack(b"", "--typesize", 8)
        self.assertIn(b"(x1.00)", self.ok("append", frame, stdin=random.Random(1).randbytes(800_000)))
        self.assertRegex(self.ok("info", frame).decode(), r"frame +\d+ B, ratio x1\.00\n")


class Info(CliTest):
    def test_json_has_exactly_these_keys(self):
        frame = self.pack(sample(10_000), "--chunk-size", "4KiB")
        self.assertEqual(list(self.info(frame)), FRAME_KEYS)
        info = self.info(frame, "--chunks")
        self.assertEqual(list(info), FRAME_KEYS + ["chunks"])
        self.assertEqual(len(info["chunks"]), 3)
        for chunk in info["chunks"]:
            self.assertEqual(list(chunk), CHUNK_KEYS)

    def test_json_values(self):
        frame = self.pack(sample(10_000), "--chunk-size", "4KiB", "--codec", "zstd", "--level", 7,
                          "--typesize", 2, "--split-mode", "never")  # fmt: skip
        info = self.info(frame)
        expected = {
            "path": frame, "kind": "contiguous", "era": "current", "format_version": 2,
            "codec": "zstd", "level": 7, "filters": [[1, 0]], "split_mode": "never", "typesize": 2, "chunksize": 4096,
            "nchunks": 3, "nbytes": 10_000, "dead_bytes": 0, "fingerprint": "xxh3-64",
            "sealed": True, "metalayers": {}, "vlmetalayers": {},
            "frame_size": os.path.getsize(self.path(frame)),
        }  # fmt: skip
        self.assertEqual({key: info[key] for key in expected}, expected)

    def test_older_formats(self):
        vectors = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")
        for era, name in [("2019", "old/b2019/frames/meta2.b2frame"),
                          ("beta", "old/beta2/frames/usermeta.b2frame"),
                          ("packed-2015", "packed/blosclz-meta-user.packed")]:  # fmt: skip
            with self.subTest(era=era):
                info = self.info(os.path.join(vectors, name))
                self.assertEqual(info["era"], era)
                self.assertGreaterEqual(info["dead_bytes"], 0)

    def test_json_of_chunks(self):
        frame = self.pack(sample(10_000), "--chunk-size", "4KiB")
        info = self.info(frame, "--chunks")
        chunks = info["chunks"]
        self.assertEqual([chunk["index"] for chunk in chunks], [0, 1, 2])
        self.assertEqual([chunk["nbytes"] for chunk in chunks], [4096, 4096, 1808])
        self.assertEqual(sum(chunk["cbytes"] for chunk in chunks), info["cbytes"])
        self.assertEqual(chunks[0]["offset"], info["header_len"])
        for chunk in chunks:
            self.assertIsNone(chunk["special"])
            self.assertRegex(chunk["fingerprint"], r"\A[0-9a-f]{16}\Z")

    def test_chunks_without_fingerprints(self):
        frame = self.pack(sample(10_000), "--fingerprint", "none")
        self.assertIsNone(self.info(frame, "--chunks")["chunks"][0]["fingerprint"])

    def test_json_of_an_empty_frame(self):
        info = self.info(self.pack(b""), "--chunks")
        self.assertEqual((info["nchunks"], info["nbytes"], info["chunks"]), (0, 0, []))

    def test_metadata(self):
        content = bytes(range(256)) * 40
        frame = self.pack(b"data", "--meta", "unit=K", "--meta", "empty=", "--vlmeta",
                          "blob=@" + self.write("blob", content), "--vlmeta", "eq=a=b")  # fmt: skip
        info = self.info(frame)
        self.assertEqual(info["metalayers"], {"unit": "4b", "empty": ""})
        self.assertEqual(info["vlmetalayers"], {"blob": content.hex(), "eq": b"a=b".hex()})

    def test_text_for_people(self):
        frame = self.pack(sample(3 << 20), "--typesize", 4, "--meta", "unit=K")
        text = self.ok("info", frame).decode()
        for line in [r"data +3 MiB \(3145728 B\)", r"frame .*ratio x\d+\.\d\d", r"items +786432 of 4 bytes",
                     r"chunks +3 of 1 MiB", r"codec +lz4, level 5", r"filters +shuffle",
                     r"sealed +yes, xxh3-64", r'metalayers +unit: 1 B, "K"']:  # fmt: skip
            self.assertRegex(text, line)
        table = self.ok("info", frame, "--chunks").decode()
        self.assertEqual(len(table.splitlines()), len(text.splitlines()) + 5)

    def test_dead_bytes_are_told_with_what_removes_them(self):
        frame = self.pack(b"", "--codec", "zlib", "--level", 0)
        self.ok("append", frame, "--commit-every", 10_000, stdin=sample(300_000))
        text = self.ok("info", frame).decode()
        self.assertRegex(text, r"ratio x0\.\d\d, without dead bytes x1\.00\n")
        self.assertRegex(text, r"dead bytes +\d\d\d KiB; `cairn compact` removes them\n")
        self.ok("compact", frame)
        self.assertRegex(self.ok("info", frame).decode(), r"dead bytes +0 B\n")

    def test_items_in_a_journal_are_not_dead(self):
        frame = self.pack(b"", "--typesize", 4, "--chunk-size", "1MiB")
        tool = self.start("append", frame, "-", "--commit-every", 1000, "--ack")
        tool.stdin.write(sample(400_000))
        tool.stdin.flush()
        self.receive(tool.stdout, len(b"committed 1000\n") + 8 * len(b"committed 2000\n") + 91 * len(b"committed 10000\n"))
        tool.kill()
        tool.wait(60)
        info = self.info(frame)
        self.assertGreater(info["journal_size"], 400_000)
        self.assertLess(info["dead_bytes"], 20_000)
        self.assertNotIn("without dead bytes", self.ok("info", frame).decode())

    def test_several_frames(self):
        good, other = self.pack(sample(3000), name="good"), self.pack(sample(10), name="other")
        done = self.run_tool("info", good, "nofile", other)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout.decode(), r"(?s)\Agood: .*\n\nother: .*\n\Z")
        self.assertIn(b"nofile: cannot open", done.stderr)
        self.assertIn(b"1 of 3 frames cannot be read, or only in part", done.stderr)
        done = self.run_tool("info", good, "nofile", other, "--json", "--chunks")
        first, second, third = json.loads(done.stdout)
        self.assertEqual((first["nbytes"], len(first["chunks"]), third["nbytes"]), (3000, 1, 10))
        self.assertEqual((list(second), second["code"]), (["path", "error", "code"], "NOT_FOUND"))
        self.assertEqual(self.run_tool("info", good, other).returncode, 0)

    def test_metrics(self):
        good, cut = self.pack(sample(3000), name='g "o\\od'), self.pack(sample(30_000), name="cut")
        self.write("cut", self.read(cut)[:20_000])
        done = self.run_tool("info", "--metrics", good, cut)
        # A frame that cannot be read is a metric. Scripts that end at errors publish it.
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (0, 1))
        metrics = {}
        name = ""
        for line in done.stdout.decode().splitlines():
            if line.startswith("# TYPE "):
                name = line.removeprefix("# TYPE ").removesuffix(" gauge")
                self.assertNotIn(name, metrics)
            elif not line.startswith("# HELP "):
                found = re.fullmatch(r'(\w+)\{path="((?:[^"\\]|\\.)*)"\} (\S+)', line)
                self.assertEqual(found[1], name)
                metrics.setdefault(name, {})[found[2]] = float(found[3])
        escaped = 'g \\"o\\\\od'
        self.assertEqual(metrics["cairn_frame_readable"], {escaped: 1, "cut": 0})
        self.assertEqual(metrics["cairn_frame_data_bytes"], {escaped: 3000})
        self.assertEqual(metrics["cairn_frame_sealed"], {escaped: 1})
        self.assertEqual(metrics["cairn_frame_disk_bytes"], {escaped: 512 * os.stat(self.path(good)).st_blocks})


class Offset(CliTest):
    def test_a_frame_inside_a_file(self):
        data = sample(20_000)
        frame = self.read(self.pack(data, "--chunk-size", "4KiB"))
        self.write("box", b"before" * 100 + frame + b"behind" * 100)
        at = ["box", "--offset", 600]
        self.assertEqual(self.ok("cat", *at), data)
        self.assertEqual(self.ok("cat", *at, "--chunk", 1), data[4096:8192])
        self.assertEqual(self.info(*at)["nbytes"], 20_000)
        self.assertIn(b"ok, sealed", self.ok("verify", *at))

    def test_where_no_frame_is(self):
        frame = self.pack(sample(20_000))
        for command in ["cat", "info", "verify"]:
            for offset in [1, "1GiB"]:
                with self.subTest(command=command, offset=offset):
                    self.fails(1, command, frame, "--offset", offset)


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
