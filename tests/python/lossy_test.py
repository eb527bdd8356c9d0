"""Compression that loses bits: the errors that it makes, and what it must not touch."""

import unittest

from support import PackageTest, blosc2, cairn, needs_blosc2, np


def walk(dtype, shape=(200, 300)):
    return np.cumsum(np.random.default_rng(1).normal(size=shape), axis=-1).astype(dtype)


class LossyTest(PackageTest):
    def make(self, items, **how):
        try:
            return cairn.asarray(items, **how)
        except cairn.Unimplemented as error:
            self.skipTest(str(error))

    def test_zfp_needs_no_other_argument(self):
        for dtype in ("f4", "f8"):
            items = walk(dtype)
            for exponent in (-4, -2, 0, 1):
                frame = self.make(items, codec="zfp_acc", codec_meta=exponent)
                self.assertLessEqual(np.abs(frame[...] - items).max(), 10.0**exponent)
                self.assertEqual(frame.info.filters, ())
                self.assertGreater(frame.info.ratio, cairn.asarray(items, codec="zstd").info.ratio)
            for codec, meta in (("zfp_prec", 16), ("zfp_rate", 40)):
                frame = self.make(items, codec=codec, codec_meta=meta)
                self.assertLess(np.abs(frame[...] - items).max(), 1)
            with self.assertRaisesRegex(cairn.InvalidArgument, "takes apart"):
                cairn.asarray(items, codec="zfp_acc", filters=["bitshuffle"])

    def test_truncation_keeps_the_bits_that_it_says(self):
        for dtype, digits in (("f4", 23), ("f8", 52)):
            items = walk(dtype)
            for bits in (8, 16):
                for value in (bits, bits - digits):
                    frame = cairn.asarray(items, filters=[("trunc_prec", value), "shuffle"], codec="zstd")
                    self.assertLessEqual(np.abs(frame[...] / items - 1).max(), 2.0**-bits)
                    self.assertGreater(frame.info.ratio, cairn.asarray(items, codec="zstd").info.ratio)

    def test_zfp_keeps_what_is_not_finite_and_all_around_it(self):
        for dtype in ("f4", "f8"):
            items = 280 + walk(dtype)
            items[50, 60:90] = np.nan
            items[51, 61] = -np.inf
            around = np.isfinite(items)
            for codec, meta in (("zfp_acc", -2), ("zfp_prec", 16), ("zfp_rate", 40)):
                with self.subTest(dtype=dtype, codec=codec):
                    frame = self.make(items, path=self.path(dtype + codec), codec=codec, codec_meta=meta, blocks=(20, 30))
                    found = frame[...]
                    self.assert_same(found[~around], items[~around])
                    self.assertLess(np.abs(found[around] - items[around]).max(), 0.1)
                    self.assertGreater(frame.info.ratio, 1.5)  # the other blocks are coded
                    if blosc2 is not None:
                        self.assert_same(blosc2.open(frame.path)[...], found)

    def test_zfp_keeps_its_accuracy_beside_fill_values(self):
        items = 280 + walk("f4")
        items[50, 61] = 9.96921e36  # that of netCDF
        found = self.make(items, codec="zfp_acc", codec_meta=-2)[...]
        self.assertEqual(found[50, 61], items[50, 61])
        self.assertLess(np.abs(found - items).max(), 0.01)

    def test_truncation_leaves_every_nan_one(self):
        for dtype, low in (("f4", 0x7F800001), ("f8", 0x7FF00000000007A2)):
            items = walk(dtype)
            items.view(f"u{items.itemsize}")[50, ::7] = low
            for bits in (1, 10):
                found = cairn.asarray(items, filters=[("trunc_prec", bits), "shuffle"], codec="zstd")[...]
                np.testing.assert_array_equal(np.isnan(found), np.isnan(items))
                self.assertTrue(np.isfinite(found[~np.isnan(items)]).all())

    @needs_blosc2
    def test_the_peer_finds_the_same(self):
        items = walk("f4")
        for name, how in (("zfp", {"codec": "zfp_acc", "codec_meta": -2}), ("trunc", {"filters": [("trunc_prec", 10), "shuffle"]})):
            frame = self.make(items, path=self.path(name), **how)
            self.assert_same(blosc2.open(self.path(name))[...], frame[...])

    def test_items_that_are_no_floats_are_refused(self):
        """Their bits are not those of a float: whole numbers became zeros."""
        for dtype in ("i4", "i8", "u8", ">f4", ">f8", "c8", "M8[s]", "f2", "S8", [("a", "f4"), ("b", "f4")]):
            items = np.zeros((8, 8), dtype)
            for how in ({"codec": "zfp_acc", "codec_meta": 1}, {"codec": "zfp_prec", "codec_meta": 9}, {"codec": "zfp_rate", "codec_meta": 50}, {"filters": [("trunc_prec", 8)]}, {"filters": [("ndmean", 2)]}):
                with self.subTest(dtype=dtype, how=how), self.assertRaisesRegex(cairn.InvalidArgument, "expected items of float32 or float64"):
                    cairn.asarray(items, self.path(), **how)
        cairn.create(self.path("plain"), None, "V4", filters=[("trunc_prec", 8)])  # whose items may be floats

    def test_truncation_comes_before_filters_that_move_bytes(self):
        for first in ("shuffle", "bitshuffle", "bytedelta", "delta"):
            for name, dtype in (("trunc_prec", "f4"), ("ndmean", "f4"), ("int_trunc", "i4")):
                with self.subTest(first=first), self.assertRaisesRegex(cairn.InvalidArgument, f"'{name}' must come before '{first}'"):
                    cairn.asarray(walk(dtype), filters=[first, (name, 8)])

    def test_integers_are_truncated_and_nothing_else(self):
        for dtype in ("f4", "f8", ">i4", "c8", "S4", "?", [("a", "i4")]):
            with self.subTest(dtype=dtype), self.assertRaisesRegex(cairn.InvalidArgument, "'int_trunc': expected integers or times"):
                cairn.asarray(np.zeros(8, dtype), filters=[("int_trunc", 8), "shuffle"])
        for dtype in ("i4", "u8", "M8[s]"):
            items = np.arange(100_000).astype(dtype)
            found = cairn.asarray(items, filters=[("int_trunc", -4), "shuffle"])[...]
            self.assert_same(found, (np.arange(100_000) // 16 * 16).astype(dtype))

    def test_parameters_that_keep_nothing_are_refused(self):
        for codec in ("zfp_prec", "zfp_rate"):
            with self.subTest(codec=codec), self.assertRaisesRegex(cairn.InvalidArgument, "codec_meta: expected what"):
                cairn.asarray(walk("f4"), codec=codec)


if __name__ == "__main__":
    unittest.main()
