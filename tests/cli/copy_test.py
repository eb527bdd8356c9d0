"""Copies: as they are, coded again, laid out in another way."""

import glob
import os
import struct
import sys

import tap
from cli import VECTORS, CliTest, noise, sample

CHUNK = 4096


class Copy(CliTest):
    def copy(self, frame, *args, out="out"):
        self.ok("copy", frame, out, "--quiet", "--force", *args)
        self.assertEqual(self.ok("cat", out), self.ok("cat", frame))
        self.ok("verify", out)
        return self.info(out, "--chunks")


class AsTheyAre(Copy):
    def test_chunks_are_the_same_bytes(self):
        frame = self.pack(sample(50_000), "--codec", "zstd", "--filters", "delta,bitshuffle", "--typesize",
                          8, "--chunk-size", CHUNK, "--block-size", 1024, "--level", 7)  # fmt: skip
        before, after = self.info(frame, "--chunks"), self.copy(frame)
        for key in ["path", "generation"]:
            del before[key], after[key]
        self.assertEqual(after, before)

    def test_metadata_comes_along(self):
        frame = self.pack(b"data", "--meta", "unit=K", "--meta", "place=x", "--vlmeta", "note=text",
                          "--vlmeta", "blob=@" + self.write("blob", noise(9000)))  # fmt: skip
        before, after = self.info(frame), self.copy(frame)
        for key in ["metalayers", "vlmetalayers"]:
            self.assertEqual(list(after[key].items()), list(before[key].items()))

    def test_metadata_is_added_and_replaced(self):
        frame = self.pack(b"data", "--meta", "unit=K", "--vlmeta", "note=text")
        info = self.copy(frame, "--meta", "unit=degrees", "--meta", "new=1", "--vlmeta", "note=", "--vlmeta", "b=c")
        self.assertEqual(info["metalayers"], {"unit": b"degrees".hex(), "new": "31"})
        self.assertEqual(info["vlmetalayers"], {"note": "", "b": "63"})

    def test_an_empty_frame(self):
        frame = self.pack(b"", "--meta", "unit=K", "--typesize", 4)
        info = self.copy(frame)
        self.assertEqual((info["nchunks"], info["typesize"], info["metalayers"]), (0, 4, {"unit": "4b"}))

    def test_dead_bytes_stay(self):
        frame = self.pack(sample(1000), "--chunk-size", CHUNK)
        self.ok("append", frame, "--quiet", stdin=noise(10_000))
        self.assertGreater(self.info(frame)["dead_bytes"], 0)
        self.assertEqual(self.copy(frame)["dead_bytes"], 0)

    def test_fingerprints(self):
        frame = self.pack(sample(9000), "--fingerprint", "none")
        self.assertTrue(self.copy(frame)["sealed"])
        self.assertFalse(self.copy(frame, "--fingerprint", "none")["sealed"])

    def test_a_frame_inside_a_file(self):
        data = sample(9000)
        self.write("box", b"b" * 77 + self.read(self.pack(data)))
        self.ok("copy", "box", "out", "--offset", 77, "--quiet")
        self.assertEqual(self.ok("cat", "out"), data)

    def test_to_itself(self):
        frame = self.pack(sample(50_000), "--chunk-size", CHUNK)
        self.fails(1, "copy", frame, frame)
        self.ok("copy", frame, frame, "--force", "--codec", "zstd")
        self.assertEqual(self.ok("cat", frame), sample(50_000))
        self.assertEqual(self.info(frame)["codec"], "zstd")


class Recode(Copy):
    def setUp(self):
        super().setUp()
        self.data = sample(50_000)
        self.frame = self.pack(self.data, "--typesize", 4, "--chunk-size", CHUNK, "--level", 3)

    def test_what_is_not_given_stays(self):
        before = self.info(self.frame)
        after = self.copy(self.frame, "--codec", "zstd")
        self.assertEqual(after["codec"], "zstd")
        for key in ["level", "typesize", "filters", "chunksize", "blocksize", "split_mode", "nchunks"]:
            self.assertEqual(after[key], before[key], key)

    def test_each_option(self):
        for args, key, value in [
            (["--level", 9], "level", 9), (["--typesize", 8], "typesize", 8),
            (["--filters", "bitshuffle"], "filters", [[2, 0]]), (["--filters", "none"], "filters", []),
            (["--filters", "shuffle,bytedelta"], "filters", [[1, 0], [35, 4]]),
            (["--block-size", 1024], "blocksize", 1024), (["--split-mode", "never"], "split_mode", "never"),
            (["--chunk-size", 10_000], "chunksize", 10_000), (["--chunk-size", "1MiB"], "nchunks", 1),
            (["--codec", "lz4hc", "--dict"], "codec", "lz4hc"),
        ]:  # fmt: skip
            with self.subTest(args=args):
                self.assertEqual(self.copy(self.frame, *args)[key], value)

    def test_codecs_of_numbers_take_blocks_that_were_split(self):
        self.ok("copy", self.frame, "split", "--split-mode", "always", "--quiet")
        after = self.copy(self.path("split"), "--codec", "pco")
        self.assertEqual((after["codec"], after["split_mode"]), ("pco", "never"))
        self.assertEqual(self.ok("cat", "split"), self.data)
        self.assertIn("cannot be split", self.fails(2, "copy", "split", "no", "--codec", "pco", "--split-mode", "always"))

    def test_info_says_what_auto_chose(self):
        lines = "".join(f"{i // 3},{'north' if i % 7 < 3 else 'south'}\n" for i in range(70_000))
        self.ok("log", "create", "log", "--field", "time:timestamp[s]", "--field", "place:bytes[8]", "--codec", "auto")
        self.ok("log", "append", "log", "--columns", "time,place", "--quiet", stdin=lines.encode())
        columns = self.info("log")["columns"]
        self.assertEqual([(one["name"], one["offset"], one["size"]) for one in columns], [("time", 0, 8), ("place", 8, 8)])
        self.assertIn(columns[1]["codec"], ("zstd", "lz4"))
        self.assertIn(f"place: {columns[1]['codec']}", self.ok("info", "log").decode())
        self.assertEqual(self.info(self.frame)["columns"], [])

    def test_a_lossy_filter_loses(self):
        self.ok("copy", self.frame, "out", "--filters", "int_trunc:-8", "--quiet")
        self.assertNotEqual(self.ok("cat", "out"), self.data)

    def test_is_smaller_at_a_higher_level(self):
        low = self.copy(self.frame, "--codec", "zstd", "--level", 1, "--chunk-size", "1MiB")
        high = self.copy(self.frame, "--codec", "zstd", "--level", 9, "--chunk-size", "1MiB")
        self.assertLess(high["cbytes"], low["cbytes"])

    def test_special_chunks_stay_special(self):
        frame = self.pack(bytes(3 * CHUNK) + self.data, "--typesize", 4, "--chunk-size", CHUNK, name="zeros")
        for args in [[], ["--codec", "zstd"], ["--typesize", 8]]:
            with self.subTest(args=args):
                info = self.copy(frame, *args)
                self.assertEqual([c["special"] for c in info["chunks"]][:4], ["zeros"] * 3 + [None])


class Sparse(Copy):
    """Frames that are directories."""

    def setUp(self):
        super().setUp()
        self.data = sample(50_000)
        self.frame = self.pack(self.data, "--sparse", "--typesize", 4, "--chunk-size", CHUNK, "--meta",
                               "unit=K", "--vlmeta", "note=text", name="s")  # fmt: skip

    def test_pack_makes_a_file_for_each_chunk(self):
        self.assertEqual(sorted(os.listdir(self.path("s"))),
                         sorted([f"{i:08X}.chunk" for i in range(13)] + ["chunks.b2frame"]))  # fmt: skip
        info = self.info("s", "--chunks")
        self.assertEqual((info["kind"], info["sealed"]), ("sparse", True))
        self.assertEqual([chunk["file"] for chunk in info["chunks"]], list(range(13)))
        self.assertEqual(sum(chunk["cbytes"] for chunk in info["chunks"]), info["cbytes"])
        self.assertIn(b"0000000C.chunk", self.ok("info", "s", "--chunks"))
        self.assertIn(b"s: ok, sealed, 13 chunks, ", self.ok("verify", "s"))

    def test_the_size_that_is_told_has_the_chunks(self):
        size = sum(entry.stat().st_size for entry in os.scandir(self.path("s")))
        self.assertIn(f"({size} B), ratio".encode(), self.ok("info", "s"))

    def test_there_and_back(self):
        whole = self.copy("s", out="whole")
        again = self.copy("whole", "--sparse", out="again")
        before = self.info("s", "--chunks")
        for info in [whole, again]:
            for key in ["nbytes", "cbytes", "metalayers", "vlmetalayers", "codec", "typesize"]:
                self.assertEqual(info[key], before[key], key)
            self.assertEqual([c["cbytes"] for c in info["chunks"]], [c["cbytes"] for c in before["chunks"]])
        self.assertEqual([whole["kind"], again["kind"]], ["contiguous", "sparse"])

    def test_coded_again(self):
        info = self.copy("s", "--sparse", "--codec", "zstd", "--chunk-size", 10_000)
        self.assertEqual((info["kind"], info["codec"], info["nchunks"]), ("sparse", "zstd", 5))

    def test_replaces_only_when_forced(self):
        self.pack(b"old", name="file")
        for out in ["file", "s"]:
            for args in [[], ["--sparse"]]:
                with self.subTest(out=out, args=args):
                    self.assertIn("--force", self.fails(1, "pack", "-", out, *args, stdin=b"new"))
        self.assertEqual(self.ok("cat", "s"), self.data)
        self.ok("pack", "-", "s", "--force", "--sparse", stdin=b"new")
        self.assertEqual(self.ok("cat", "s"), b"new")
        self.assertEqual(self.files(), ["file", "s"])

    def test_to_itself(self):
        for args in [[], ["--sparse"]]:
            self.assertIn("own copy", self.fails(1, "copy", "s", "s", "--force", *args))
        self.assertEqual(self.ok("cat", "s"), self.data)

    def test_edits_leave_no_other_file(self):
        chunks = [self.data[i : i + CHUNK] for i in range(0, 50_000, CHUNK)]
        self.ok("chunk", "update", "s", 0, "--quiet", stdin=noise(CHUNK))
        self.ok("chunk", "delete", "s", 1, 2, "--quiet")
        self.ok("chunk", "insert", "s", 2, "--quiet", stdin=chunks[0])
        self.ok("append", "s", "--quiet", stdin=b"appended")
        self.ok("meta", "set", "s", "note", stdin=b"other")
        self.ok("meta", "rm", "s", "note")
        self.ok("compact", "s", "--quiet")
        expected = [noise(CHUNK), chunks[3], chunks[0], *chunks[4:], b"appended"]
        self.assertEqual(self.ok("cat", "s"), b"".join(expected))
        self.ok("verify", "s")
        files = os.listdir(self.path("s"))
        self.assertEqual(len(files), self.info("s")["nchunks"] + 1, files)


class Vectors(Copy):
    """Frames that C-Blosc2 wrote."""

    def test_special_values(self):
        for name in ["fill-zeros-small", "fill-nans", "fill-uninit", "special-mixed-disk", "special3-mem"]:
            frame = self.copy_vector(f"cframes/{name}.b2frame")
            before = self.info(frame, "--chunks")
            for args in [[], ["--codec", "zstd"]]:
                with self.subTest(name=name, args=args):
                    after = self.copy(frame, *args)
                    # A repeated value in a short last chunk is coded like other items.
                    whole = before["nbytes"] // before["chunksize"]
                    self.assertEqual([c["special"] for c in after["chunks"]][:whole],
                                     [c["special"] for c in before["chunks"]][:whole])  # fmt: skip

    def test_nans_keep_their_bytes_in_items_of_another_size(self):
        frame = self.copy_vector("cframes/fill-nans.b2frame")
        self.copy(frame, "--typesize", 8)
        chunk = struct.pack("<4B3i15xB", 5, 1, 5, 8, CHUNK, 1024, 32, 0x20)
        frame = self.pack(bytes(CHUNK), "--typesize", 8, "--chunk-size", CHUNK, name="nans")
        self.ok("chunk", "update", frame, 0, "--compressed", "--quiet", stdin=chunk)
        self.assertEqual(self.info(frame, "--chunks")["chunks"][0]["special"], "nans")
        self.copy(frame, "--typesize", 4)

    def test_nans_keep_their_bytes_when_their_items_are_not_those_of_the_frame(self):
        self.ok("pack", "-", "s", "--sparse", "--quiet", "--fingerprint", "none", "--typesize", 8, "--chunk-size", CHUNK,
                stdin=noise(CHUNK))  # fmt: skip
        self.write("s/00000000.chunk", struct.pack("<4B3i15xB", 5, 1, 5, 4, CHUNK, 1024, 32, 0x20))
        self.copy("s")

    def test_a_huge_frame_of_zeros_costs_nothing(self):
        frame = self.copy_vector("cframes/fill-zeros-huge.b2frame")
        before = self.info(frame)
        for args in [[], ["--codec", "zstd"], ["--chunk-size", "1GiB"]]:
            self.ok("copy", frame, "out", "--quiet", "--force", *args)
            after = self.info("out")
            self.assertEqual(after["nbytes"], before["nbytes"])
            self.assertLess(after["frame_size"], 100_000)

    def test_chunks_that_differ_in_size(self):
        frame = self.copy_vector("cframes/varchunks-disk.b2frame")
        before = self.info(frame, "--chunks")
        for args in [[], ["--codec", "zstd", "--level", 1]]:
            with self.subTest(args=args):
                after = self.copy(frame, *args)
                self.assertEqual(after["chunksize"], 0)
                self.assertEqual([c["nbytes"] for c in after["chunks"]],
                                 [c["nbytes"] for c in before["chunks"]])  # fmt: skip
        self.assertEqual(self.copy(frame, "--chunk-size", 8192)["chunksize"], 8192)

    def test_blocks_that_differ_in_size(self):
        for name in ["vlblocks-var-disk", "vlblocks-fixed-disk"]:
            frame = self.copy_vector(f"cframes/{name}.b2frame")
            before, after = self.info(frame, "--chunks"), self.copy(frame)
            self.assertEqual([c["cbytes"] for c in after["chunks"]], [c["cbytes"] for c in before["chunks"]])
            for args in [["--codec", "zstd"], ["--chunk-size", 999]]:
                self.assertIn("as it is", self.fails(1, "copy", frame, "new", *args))
        self.assertNotIn("new", self.files())

    def test_arrays(self):
        frame = self.copy_vector("cframes/nd2-i4.b2nd")
        before = self.info(frame)
        self.assertEqual(self.copy(frame)["metalayers"], before["metalayers"])
        for args in [["--chunk-size", 4096], ["--typesize", 1], ["--codec", "lz4", "--block-size", 512]]:
            self.assertIn("array", self.fails(1, "copy", frame, "new", *args))

    def test_an_array_whose_blocks_cannot_be(self):
        extents = lambda n, code: b"\x92" + struct.pack(">" + f"B{code}" * 2, *[0xD3 if code == "q" else 0xD2, n] * 2)
        geometry = extents(65536, "q") + extents(65536, "i") * 2
        self.write("b2nd", b"\x97\x00\x02" + geometry + b"\x00\xdb\x00\x00\x00\x03|u1")
        frame = self.pack(sample(5000), "--meta", "b2nd=@b2nd")
        self.assertEqual(self.info(frame)["array"]["blockshape"], [65536, 65536])
        self.assertIn("65536 x 65536", self.fails(1, "copy", frame, "new", "--codec", "zstd"))
        self.assertNotIn("new", self.files())

    def test_arrays_coded_again(self):
        frame = self.copy_vector("cframes/nd2-i4.b2nd")
        before = self.info(frame, "--chunks")
        after = self.copy(frame, "--codec", "zstd", "--level", 9)
        self.assertEqual((after["codec"], after["level"]), ("zstd", 9))
        self.assertEqual(after["metalayers"], before["metalayers"])
        for key in ["nbytes", "blocksize"]:
            self.assertEqual([c[key] for c in after["chunks"]], [c[key] for c in before["chunks"]])

    def test_filters_of_arrays(self):
        frame = self.copy_vector("cframes/nd2-ndcell-f8.b2nd")
        before, after = self.info(frame, "--chunks"), self.copy(frame)
        self.assertEqual([c["cbytes"] for c in after["chunks"]], [c["cbytes"] for c in before["chunks"]])
        after = self.copy(frame, "--level", 9)
        self.assertEqual(after["filters"], before["filters"])
        self.copy(frame, "--filters", "shuffle")

    def check_all(self, pattern, *args, step=1):
        paths = sorted(glob.glob(os.path.join(VECTORS, pattern)))
        self.assertTrue(paths)
        # Each costs several processes; what a frame reads as is tested in the engine for all.
        for path in paths[::step]:
            name = os.path.relpath(path, VECTORS)
            if "huge" in name or "lizard" in name:
                continue
            with self.subTest(name=name):
                info = self.copy(self.copy_vector(name), *args)
                # C-Blosc2 could not write more than 14 and Cairn's own two.
                self.assertEqual(info["sealed"], len(info["vlmetalayers"]) <= 14)
                self.assertEqual(info["dead_bytes"], 0)

    def test_frames_of_today(self):
        self.check_all("cframes/*.b2*", step=10)

    def test_frames_of_the_past(self):
        for pattern in ["packed/*", "old/*/frames/*", "old/*/cframes/*.b2*"]:
            self.check_all(pattern, step=3)
            self.check_all(pattern, "--codec", "zstd", step=6)

    def test_metadata_of_the_past_comes_along(self):
        for name in ["packed/blosclz-meta-user.packed", "old/b2019/frames/meta2.b2frame"]:
            frame = self.copy_vector(name)
            before, after = self.info(frame), self.copy(frame)
            self.assertTrue(before["metalayers"] or before["vlmetalayers"])
            for key in ["metalayers", "vlmetalayers"]:
                self.assertEqual(after[key], before[key])

    def test_chunks_by_old_rules_are_coded_again(self):
        frame = self.copy_vector("packed/lz4-delta.packed")
        for chunk in self.copy(frame)["chunks"]:
            self.assertLess(chunk["cbytes"], chunk["nbytes"] // 2)

    def test_a_codec_that_this_build_lacks(self):
        frame = self.copy_vector("old/beta5/frames/lizard.b2frame")
        self.assertIn(frame, self.fails(1, "copy", frame, "new"))
        self.assertEqual(self.files(), [frame])


class SkipDamaged(Copy):
    def setUp(self):
        super().setUp()
        self.data = b"".join(struct.pack("<f", i) for i in range(1000))
        self.frame = self.pack(self.data, "--shape", "100,10", "--typesize", 4, "--dtype", "<f4",
                               "--chunk-shape", "30,10")  # fmt: skip
        self.flip_byte(self.frame, self.info(self.frame, "--chunks")["chunks"][1]["offset"] + 40)

    def skip(self, *args):
        return self.ok("copy", self.frame, "out", "--skip-damaged", "--force", *args).decode()

    def test_says_what_would_help(self):
        self.assertIn("--skip-damaged", self.fails(1, "copy", self.frame, "out"))
        self.assertEqual(self.files(), [self.frame])
        self.assertIn("--skip-damaged", self.fails(2, "copy", self.frame, "out", "--fill", "0"))

    def test_leaves_a_hole_and_lists_it(self):
        for options in [[], ["--codec", "zstd"], ["--sparse"]]:
            with self.subTest(options=options):
                self.assertRegex(self.skip("--quiet", *options), r"\A  lost: chunk 1\b.+\n\Z")
                self.assertEqual(self.info("out")["array"]["shape"], [100, 10])
                self.assertEqual(self.ok("meta", "get", "out", "lost_chunks"), b'"1"\n')
                self.assertEqual(self.ok("cat", "out", "--box", ":30,:"), self.data[:1200])
                self.assertIn("a hole", self.fails(1, "cat", "out"))
                self.assertEqual(self.ok("cat", "out", "--box", "60:,:"), self.data[2400:])
                self.assertIn(b"chunk 1: a hole", self.run_tool("verify", "out").stdout)

    def test_fills_it_with_a_value(self):
        for value, item in [("0", 0.0), ("nan", float("nan")), ("-2.5", -2.5)]:
            for options in [[], ["--codec", "zstd"]]:
                with self.subTest(value=value, options=options):
                    self.skip("--fill", value, *options)
                    expected = self.data[:1200] + struct.pack("<f", item) * 300 + self.data[2400:]
                    self.assertEqual(self.ok("cat", "out"), expected)
                    self.assertEqual(self.ok("meta", "get", "out", "lost_chunks"), b'"1"\n')
                    self.ok("verify", "out")
        self.assertIn("--fill", self.fails(2, "copy", self.frame, "o", "--skip-damaged", "--fill", "x"))

    def test_of_an_intact_frame_it_lists_nothing(self):
        frame = self.pack(sample(9000), "--chunk-size", CHUNK, name="intact")
        self.assertEqual(self.ok("copy", frame, "out", "--quiet", "--skip-damaged"), b"")
        self.assertEqual(self.info("out")["vlmetalayers"], {})
        self.assertEqual(self.ok("cat", "out"), sample(9000))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
