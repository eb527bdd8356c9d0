"""What goes into a frame or a chunk comes out again."""

import os
import sys

import tap
from cli import CODECS, CliTest, noise, sample

CHUNK = 4096


class RoundTrip(CliTest):
    def check(self, data, *args):
        frame = self.pack(data, "--force", *args)
        self.assertEqual(self.ok("cat", frame), data)
        self.ok("verify", frame)

    def check_codec(self, codec):
        for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7]:
            with self.subTest(size=size):
                self.check(sample(size), "--codec", codec, "--chunk-size", CHUNK)
                self.assertEqual(self.info("f.b2frame")["nchunks"], -(-size // CHUNK))

    def test_default_options(self):
        self.check(sample(3_000_001))

    def test_bytes_that_do_not_compress(self):
        self.check(noise(100_000), "--chunk-size", "32KiB")

    def test_a_file_of_zeros(self):
        self.check(bytes(1_000_000), "--chunk-size", "64KiB")

    def test_levels(self):
        for level in [0, 1, 9]:
            with self.subTest(level=level):
                self.check(sample(50_000), "--level", level)
                self.assertEqual(self.info("f.b2frame")["level"], level)

    def test_split_modes(self):
        for mode in ["always", "never", "auto", "forward"]:
            with self.subTest(mode=mode):
                self.check(sample(50_000), "--typesize", 4, "--split-mode", mode)
                self.assertEqual(self.info("f.b2frame")["split_mode"], mode)

    def test_typesizes(self):
        for typesize in [2, 3, 4, 8, 16, 255, 256, 1000]:
            with self.subTest(typesize=typesize):
                self.check(sample(typesize * 300), "--typesize", typesize, "--chunk-size", "10KiB")
                self.assertEqual(self.info("f.b2frame")["typesize"], typesize)

    def test_a_last_item_that_is_short(self):
        for size in [3, 4097, 9999]:
            with self.subTest(size=size):
                self.check(sample(size), "--typesize", 4, "--chunk-size", "4KiB", "--allow-partial")
                last = self.ok("cat", "f.b2frame", "--first-item", size // 4)
                self.assertEqual(last, sample(size)[size // 4 * 4 :])

    def test_dictionaries(self):
        text = b"".join(b"station %d, value %d\n" % (i % 97, i * i) for i in range(20_000))
        for codec in ["lz4", "lz4hc", "zstd"]:
            with self.subTest(codec=codec):
                self.check(text, "--codec", codec, "--dict", "--block-size", "8KiB")

    def test_fingerprints(self):
        for kind in ["none", "xxh32", "xxh3-64", "xxh3-128"]:
            with self.subTest(kind=kind):
                self.check(sample(20_000), "--fingerprint", kind)
                info = self.info("f.b2frame")
                self.assertEqual((info["fingerprint"], info["sealed"]), (kind, kind != "none"))

    def test_threads(self):
        for threads in [0, 1, 3]:
            with self.subTest(threads=threads):
                self.check(sample(500_000), "--threads", threads)


for _codec in CODECS:
    setattr(RoundTrip, f"test_sizes_with_{_codec}", lambda self, c=_codec: self.check_codec(c))


class Filters(CliTest):
    def stored(self, filters, typesize=4):
        data = sample(40_000)
        frame = self.pack(data, "--filters", filters, "--typesize", typesize, "--force")
        return self.ok("cat", frame) == data, self.info(frame)["filters"]

    def test_lossless_filters_in_the_order_of_application(self):
        for text, expected in {
            "none": [],
            "shuffle": [[1, 0]],
            "bitshuffle": [[2, 0]],
            "delta": [[3, 0]],
            "delta,shuffle": [[3, 0], [1, 0]],
            "shuffle,bytedelta": [[1, 0], [35, 4]],
            "shuffle,bytedelta:2": [[1, 0], [35, 2]],
            "1,35:4": [[1, 0], [35, 4]],
        }.items():
            with self.subTest(filters=text):
                self.assertEqual(self.stored(text), (True, expected))

    def test_bytedelta_takes_the_typesize(self):
        self.assertEqual(self.stored("shuffle,bytedelta", 8), (True, [[1, 0], [35, 8]]))

    def test_lossy_filters_carry_signed_numbers_of_bits(self):
        for text, meta in {"trunc_prec:10": 10, "trunc_prec:-10": 246, "int_trunc:-3": 253}.items():
            with self.subTest(filters=text):
                _, filters = self.stored(text)
                self.assertEqual(filters[0][1], meta)

    def test_text_that_is_no_pipeline(self):
        for text in ["", "shufle", "shuffle,", "none,shuffle", "trunc_prec", "int_trunc",
                     "bytedelta:x", "bytedelta:", "shuffle:256", "256", "1,1,1,1,1,1,1"]:
            with self.subTest(filters=text):
                self.fails(2, "pack", "-", "f", "--filters", text)
                self.assertEqual(self.files(), [])

    def test_filters_that_this_build_lacks(self):
        self.assertIn("200", self.fails(1, "pack", "-", "f", "--filters", "200:3", stdin=b"x" * 999))
        self.assertEqual(self.files(), [])


class Chunks(CliTest):
    def test_each_codec(self):
        data = sample(100_000)
        for codec in CODECS:
            with self.subTest(codec=codec):
                chunk = self.ok("encode", "--codec", codec, "--typesize", 4, stdin=data)
                self.assertEqual(self.ok("decode", self.write("chunk", chunk)), data)

    def test_from_a_file_and_back_from_standard_input(self):
        data = sample(1000)
        chunk = self.ok("encode", self.write("raw", data))
        self.assertEqual(self.ok("decode", "-", stdin=chunk), data)

    def test_no_bytes_at_all(self):
        chunk = self.ok("encode")
        self.assertEqual(self.ok("decode", "-", stdin=chunk), b"")

    def test_threads_do_not_change_the_chunk(self):
        data = sample(1_000_000)
        args = ["encode", "--codec", "zstd", "--block-size", "32KiB", "--threads"]
        self.assertEqual(self.ok(*args, 1, stdin=data), self.ok(*args, 4, stdin=data))

    def test_a_chunk_inside_a_frame(self):
        data = sample(30_000)
        frame = self.pack(data, "--chunk-size", "10000")
        chunk = self.info(frame, "--chunks")["chunks"][1]
        self.assertEqual(self.ok("decode", frame, "--offset", chunk["offset"]), data[10_000:20_000])

    def test_bytes_that_are_no_chunk(self):
        for bad in [b"", b"x" * 7, noise(500)]:
            with self.subTest(size=len(bad)):
                self.fails(1, "decode", self.write("bad", bad))
                self.fails(1, "decode", "-", stdin=bad)

    def test_an_offset_past_the_end(self):
        self.assertIn("33", self.fails(1, "decode", self.write("c", b"x" * 32), "--offset", 33))


if __name__ == "__main__":
    CliTest.tool = os.path.abspath(sys.argv[1])
    tap.main(__name__)
