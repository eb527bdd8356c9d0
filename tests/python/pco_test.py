"""The codecs for numbers: what comes back, and PyPI's pcodec as a judge of the streams of pco."""

import os
import struct
import unittest

import bitpack_streams
from support import PackageTest, cairn, np

try:
    from pcodec import wrapped
except ImportError:
    wrapped = None

DTYPES = ["u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "bool", "M8[us]", "m8[s]", ">f8"]


def numbers(dtype, count=20_000):
    rng = np.random.default_rng(7)
    walk = np.cumsum(rng.normal(0, 3, count))
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        values = np.round(walk, 2).astype(dtype)
        values[50:56] = [np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny, np.finfo(dtype).max]
        return values
    if dtype.kind == "b":
        return walk > 0
    return (np.abs(walk) * 7).astype("i8").astype(dtype)


def records(count=20_000):
    """Records whose fields are numbers of several types, text, and arrays."""
    rng = np.random.default_rng(11)
    values = np.zeros(
        count,
        [("time", "M8[us]"), ("temp", "f8"), ("count", "u4"), ("host", "S6"), ("half", "f2"), ("at", "f4", 3)]
        + [("swapped", ">i4"), ("spectrum", "i2", 12)],
    )
    values["time"] = np.datetime64("2026-01-01", "us") + np.cumsum(1000 + rng.integers(-20, 20, count))
    for name in ("temp", "count", "half"):
        values[name] = numbers(values.dtype[name], count)
    values["host"] = rng.choice([b"north", b"south"], count)
    values["at"] = np.round(np.cumsum(rng.normal(0, 1, (count, 3)), axis=0), 1)
    values["swapped"] = np.arange(count)
    values["spectrum"] = np.cumsum(rng.integers(-9, 10, (count, 12)), axis=1)
    return values


def varint(stream, at):
    value = shift = 0
    while True:
        value |= (stream[at] & 0x7F) << shift
        shift += 7
        at += 1
        if stream[at - 1] < 0x80:
            return value, at


def columns_of(stream, size):
    """The columns of a stream of Cairn, decoded by pcodec: arrays of a row for each record."""
    decoded, at = varint(stream, 1)
    page = 1 << stream[at]
    count, at = varint(stream, at + 1)
    assert (stream[0], decoded) == (1, size)
    types = []
    for _ in range(count):
        kind = stream[at]
        numbers, at = varint(stream, at + 1)
        types.append(("uifS"[kind & 3], 1 << (kind >> 2), numbers))
    file, read = wrapped.FileDecompressor.new(stream[at : at + 2])
    assert read == 2
    at += 2
    records = size // sum(width * numbers for _, width, numbers in types)
    for kind, width, numbers in types:
        if kind == "S":
            stored, at = varint(stream, at)
            column = stream[at : at + stored]  # as zstd codes them, unless that does not make them smaller
            at += stored
            yield np.frombuffer(column, "u1").reshape(records, numbers) if stored == records * numbers else None
            continue
        described, at = varint(stream, at)
        chunk, read = file.chunk_decompressor(stream[at : at + described], f"{kind}{8 * width}")
        assert read == described
        at += described
        pages = []
        for begin in range(0, records * numbers, page):
            length, at = varint(stream, at)
            pages.append((min(page, records * numbers - begin), length))
        out = []
        for in_page, length in pages:
            part = np.zeros(in_page, kind + str(width))
            progress, read = chunk.read_page_into(stream[at : at + length], in_page, part)
            assert (progress.n_processed, read) == (in_page, length)
            out.append(part)
            at += length
        yield np.concatenate(out).reshape(records, numbers)


def streams(chunk):
    """The blocks of a chunk: each a stream, or bytes that are stored as they are, and its decoded size."""
    nbytes, blocksize = struct.unpack_from("<ii", chunk, 4)
    for block in range(-(-nbytes // blocksize)):
        (start,) = struct.unpack_from("<i", chunk, 32 + 4 * block)
        (size,) = struct.unpack_from("<i", chunk, start)
        yield chunk[start + 4 : start + 4 + size], min(blocksize, nbytes - block * blocksize)


class NumberCodecTest:
    """What holds for each codec of numbers."""

    def test_numbers_of_every_type_come_back(self):
        for dtype in DTYPES:
            with self.subTest(dtype=dtype):
                values = numbers(dtype)
                frame = cairn.asarray(values, self.path(), codec=self.codec, chunks=6000, overwrite=True)
                self.assert_same(frame[...], values)
                self.assert_same(frame[5990:6020], values[5990:6020])
                self.assert_same(frame[[3, 12_000, 7, 19_999]], values[[3, 12_000, 7, 19_999]])
                frame.append(values[:100])
                frame[10:20] = values[100:110]
                self.assert_same(frame[20_000:], values[:100])
                self.assert_same(cairn.open(self.path())[5:25], np.concatenate([values[5:10], values[100:110], values[20:25]]).astype(values.dtype))
                self.assertTrue(frame.verify().ok)
                self.assertEqual(frame.info.codec, self.codec)

    def test_it_is_smaller_than_zstd_where_numbers_have_few_decimals(self):
        values = numbers("f8", 100_000)
        sizes = {}
        for codec, filters in [(self.codec, []), ("zstd", ["shuffle"])]:
            sizes[codec] = cairn.asarray(values, self.path(codec), codec=codec, filters=filters).info.cbytes
        self.assertLess(sizes[self.codec], sizes["zstd"] * 0.6)

    def test_records_of_every_type_come_back(self):
        values = records()
        frame = cairn.asarray(values, self.path(), codec=self.codec, chunks=6000)
        self.assert_same(frame[...], values)
        self.assert_same(frame[5990:6020], values[5990:6020])
        self.assert_same(frame[[3, 12_000, 7, 19_999]], values[[3, 12_000, 7, 19_999]])
        for name in values.dtype.names:
            with self.subTest(field=name):
                self.assert_same(frame[name][...], values[name])
                self.assert_same(frame[name][100:7000], values[name][100:7000])
        frame.append(values[:100])
        frame[10:20] = values[100:110]
        self.assert_same(frame[20_000:], values[:100])
        self.assert_same(cairn.open(self.path())[10:20], values[100:110])
        self.assertTrue(frame.verify().ok)

    def test_numbers_after_the_last_column_are_bytes(self):
        values = np.zeros(1000, [(f"f{i}", "<i4") for i in range(515)])
        for number, name in enumerate(values.dtype.names):
            values[name] = np.arange(1000) * number
        frame = cairn.asarray(values, self.path(), codec=self.codec)
        self.assert_same(frame[...], values)
        columns = frame.coded_columns()
        self.assertEqual(len(columns), 513)
        self.assertEqual({column.size for column in columns[:512]}, {4})
        self.assertEqual(columns[512].field, "f512")

    def test_rows_anywhere_are_those_of_the_whole(self):
        rng = np.random.default_rng(3)
        edges = [border + near for border in (0, 256, 512, 1024, 5120, 6000, 12_000) for near in (-2, -1, 0, 1, 255)]
        for values in [records()] + [numbers(dtype) for dtype in DTYPES]:
            with self.subTest(dtype=values.dtype):
                frame = cairn.asarray(values, self.path(), codec=self.codec, chunks=6000, overwrite=True)
                for rows in (np.array(edges) % len(values), rng.integers(0, len(values), 300), np.arange(0, 9000, 257)):
                    self.assert_same(frame[rows], values[rows])
                    self.assert_same(frame[rows[::-1]], values[rows[::-1]])
                for row in edges[5:]:
                    self.assert_same(frame[row : row + 1], values[row : row + 1])
                for name in values.dtype.names or ():
                    self.assert_same(frame[name][700:701], values[name][700:701])

    def test_logs_of_records_are_smaller_and_read_field_by_field(self):
        found = records()
        values = np.empty(len(found), [(name, found.dtype[name]) for name in ("time", "temp", "count", "host", "half")])
        for name in values.dtype.names:
            values[name] = found[name]
        sizes = {}
        for codec in ("zstd", self.codec):
            log = cairn.Log.create(self.path(codec), values.dtype, time="time", codec=codec, chunksize=56_000)
            with log.writer() as writer:
                for begin in range(0, len(values), 7000):
                    writer.append(values[begin : begin + 7000])
                    writer.commit()
            self.assert_same(cairn.Log.open(self.path(codec))[:], values)
            self.assert_same(log.query(fields="temp")["temp"], values["temp"])
            self.assert_same(log.query(fields=["count", "host"], where="count < 50")["host"], values["host"][values["count"] < 50])
            sizes[codec] = os.path.getsize(self.path(codec))
            with log.writer(codec=self.codec if codec == "zstd" else "lz4") as writer:
                writer.append(values[:5000])
            self.assert_same(log[-5000:], values[:5000])
        self.assertLess(sizes[self.codec], sizes["zstd"] * 0.8)

    def test_what_takes_numbers_apart_is_refused(self):
        for arguments in [{"filters": ["shuffle"]}, {"filters": ["bitshuffle"]}, {"filters": [], "dtype": "S3"}]:
            with self.subTest(arguments=arguments), self.assertRaises(cairn.InvalidArgument):
                cairn.create(self.path(), shape=10, codec=self.codec, **{"dtype": "f8", **arguments})


class BitpackTest(NumberCodecTest, PackageTest):
    codec = "bitpack"

    def test_streams_are_as_the_documents_say(self):
        for dtype in ["u1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "M8[us]"]:
            with self.subTest(dtype=dtype):
                values = numbers(dtype)
                frame = cairn.asarray(values, self.path(), codec="bitpack", chunks=len(values), overwrite=True)
                got = b""
                for stream, size in streams(frame.chunk(0)):
                    stored = len(stream) == size
                    got += stream if stored else next(bitpack_streams.columns_of(stream, size)).tobytes()
                self.assertEqual(got[: values.nbytes], values.tobytes())

    def test_columns_are_as_the_documents_say(self):
        values = records()
        frame = cairn.asarray(values, self.path(), codec="bitpack", chunks=len(values))
        blocks = [list(bitpack_streams.columns_of(stream, size)) for stream, size in streams(frame.chunk(0))]
        for index, name in [(0, "time"), (1, "temp"), (2, "count"), (4, "half"), (9, "spectrum")]:
            with self.subTest(field=name):
                got = np.concatenate([block[index] for block in blocks])[: len(values)]
                self.assertEqual(got.tobytes(), values[name].tobytes())


class AutoTest(NumberCodecTest, PackageTest):
    codec = "auto"

    def test_what_takes_numbers_apart_is_refused(self):
        with self.assertRaises(cairn.InvalidArgument):
            cairn.create(self.path(), shape=10, codec="auto", dtype="f8", filters=["bitshuffle"])

    def test_items_of_any_type_come_back(self):
        words = b"of which nobody knows more than its bytes, " * 300
        for dtype in ["S3", "V24", "S300"]:
            with self.subTest(dtype=dtype):
                values = np.frombuffer(words, dtype, len(words) // np.dtype(dtype).itemsize)
                frame = cairn.asarray(values, self.path(), codec="auto", overwrite=True)
                self.assert_same(cairn.open(self.path())[...], values)
                self.assertIn(frame.coded_columns()[0].codec, ("zstd", "lz4"))

    def test_each_field_is_coded_by_what_suits_it(self):
        dice = np.random.default_rng(4)
        values = np.zeros(30_000, [("even", "i8"), ("uneven", "i4"), ("place", "S9")])
        values["even"] = dice.integers(0, 1000, len(values))
        values["uneven"] = dice.exponential(100, len(values)) ** 2
        values["place"] = dice.choice([b"Rotterdam", b"Antwerp"], len(values))
        frame = cairn.asarray(values, self.path(), codec="auto")
        columns = frame.coded_columns()
        self.assertEqual([column.field for column in columns], ["even", "uneven", "place"])
        self.assertEqual([column.codec for column in columns[:2]], ["bitpack", "pco"])
        self.assertIn(columns[2].codec, ("zstd", "lz4"))
        self.assertEqual(cairn.asarray(values, codec="zstd").coded_columns(), [])


class PcoTest(NumberCodecTest, PackageTest):
    codec = "pco"

    @unittest.skipIf(wrapped is None, "no pcodec")
    def test_pcodec_decodes_the_streams(self):
        for dtype in ["u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "M8[us]"]:
            with self.subTest(dtype=dtype):
                values = numbers(dtype)
                frame = cairn.asarray(values, self.path(), codec="pco", overwrite=True)
                got = b"".join(
                    column.tobytes() for stream, size in streams(frame.chunk(0)) for column in columns_of(stream, size)
                )
                self.assertEqual(got[: values.nbytes], values.tobytes())

    @unittest.skipIf(wrapped is None, "no pcodec")
    def test_pcodec_decodes_the_columns(self):
        values = records()
        frame = cairn.asarray(values, self.path(), codec="pco", chunks=len(values))
        blocks = [list(columns_of(stream, size)) for stream, size in streams(frame.chunk(0))]
        self.assertEqual(len(blocks[0]), 10)
        for index, name in [(0, "time"), (1, "temp"), (2, "count"), (4, "half"), (9, "spectrum")]:
            with self.subTest(field=name):
                got = np.concatenate([block[index] for block in blocks])[: len(values)]
                self.assertEqual(got.tobytes(), values[name].tobytes())


if __name__ == "__main__":
    unittest.main()
