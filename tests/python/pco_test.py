"""The codec for numbers: what comes back, and PyPI's pcodec as a judge of its streams."""

import struct
import unittest

from support import PackageTest, cairn, np

try:
    from pcodec import wrapped
except ImportError:
    wrapped = None

DTYPES = ["u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "bool", "M8[us]", "m8[s]", ">f8"]
NAMES = {"u": "u", "i": "i", "f": "f", "b": "u", "M": "i", "m": "i"}


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


def varint(stream, at):
    value = shift = 0
    while True:
        value |= (stream[at] & 0x7F) << shift
        shift += 7
        at += 1
        if stream[at - 1] < 0x80:
            return value, at


def decoded_by_pcodec(stream, size, dtype):
    """The numbers of one stream of Cairn."""
    decoded, at = varint(stream, 1)
    page_log = stream[at]
    columns, at = varint(stream, at + 1)
    assert (stream[0], decoded, columns) == (1, size, 1)
    width = 1 << (stream[at] >> 2)
    file, read = wrapped.FileDecompressor.new(stream[at + 1 : at + 3])
    assert read == 2
    described, at = varint(stream, at + 3)
    chunk, read = file.chunk_decompressor(stream[at : at + described], dtype)
    assert read == described
    at += described
    count = size // width
    pages = []
    for begin in range(0, count, 1 << page_log):
        length, at = varint(stream, at)
        pages.append((min(1 << page_log, count - begin), length))
    out = []
    for page, length in pages:
        part = np.zeros(page, dtype[0] + str(width))
        progress, read = chunk.read_page_into(stream[at : at + length], page, part)
        assert (progress.n_processed, read) == (page, length)
        out.append(part)
        at += length
    return np.concatenate(out)


def streams(chunk):
    """The blocks of a chunk: each a stream, or bytes that are stored as they are, and its decoded size."""
    nbytes, blocksize = struct.unpack_from("<ii", chunk, 4)
    for block in range(-(-nbytes // blocksize)):
        (start,) = struct.unpack_from("<i", chunk, 32 + 4 * block)
        (size,) = struct.unpack_from("<i", chunk, start)
        yield chunk[start + 4 : start + 4 + size], min(blocksize, nbytes - block * blocksize)


class PcoTest(PackageTest):
    def test_numbers_of_every_type_come_back(self):
        for dtype in DTYPES:
            with self.subTest(dtype=dtype):
                values = numbers(dtype)
                frame = cairn.asarray(values, self.path(), codec="pco", chunks=6000, overwrite=True)
                self.assert_same(frame[...], values)
                self.assert_same(frame[5990:6020], values[5990:6020])
                self.assert_same(frame[[3, 12_000, 7, 19_999]], values[[3, 12_000, 7, 19_999]])
                frame.append(values[:100])
                frame[10:20] = values[100:110]
                self.assert_same(frame[20_000:], values[:100])
                self.assert_same(cairn.open(self.path())[5:25], np.concatenate([values[5:10], values[100:110], values[20:25]]).astype(values.dtype))
                self.assertTrue(frame.verify().ok)
                self.assertEqual(frame.info.codec, "pco")

    def test_it_is_smaller_than_zstd_where_numbers_have_few_decimals(self):
        values = numbers("f8", 100_000)
        sizes = {}
        for codec, filters in [("pco", []), ("zstd", ["shuffle"])]:
            sizes[codec] = cairn.asarray(values, self.path(codec), codec=codec, filters=filters).info.cbytes
        self.assertLess(sizes["pco"], sizes["zstd"] * 0.6)

    def test_what_takes_numbers_apart_is_refused(self):
        for arguments in [{"filters": ["shuffle"]}, {"filters": ["bitshuffle"]}, {"filters": [], "dtype": "S3"}]:
            with self.subTest(arguments=arguments), self.assertRaises(cairn.InvalidArgument):
                cairn.create(self.path(), shape=10, codec="pco", **{"dtype": "f8", **arguments})

    @unittest.skipIf(wrapped is None, "no pcodec")
    def test_pcodec_decodes_the_streams(self):
        for dtype in ["u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "M8[us]"]:
            with self.subTest(dtype=dtype):
                values = numbers(dtype)
                frame = cairn.asarray(values, self.path(), codec="pco", overwrite=True)
                name = f"{NAMES[values.dtype.kind]}{8 * values.dtype.itemsize}"
                got = np.concatenate(
                    [decoded_by_pcodec(stream, size, name) for stream, size in streams(frame.chunk(0))]
                )
                self.assertEqual(got.tobytes()[: values.nbytes], values.tobytes())


if __name__ == "__main__":
    unittest.main()
