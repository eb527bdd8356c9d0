"""cairn.Blosc2Codec: arrays of zarr-python whose chunks are those of Blosc2."""

import json
import os
import pickle
import unittest
import warnings

from support import PackageTest, blosc2, cairn, needs_blosc2, np

try:
    import zarr

    NO_ZARR = None if int(zarr.__version__.split(".")[0]) >= 3 else f"zarr-python {zarr.__version__}, and not 3"
except ImportError as missing:
    NO_ZARR = f"no zarr-python: {missing}"

TYPES = ("i1", "<u2", "i4", "<i8", "f4", "<f8", "f2", "c16", "?", "M8[s]")


@unittest.skipIf(NO_ZARR is not None, NO_ZARR)
class CodecTest(PackageTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")  # zarr tells of what its specification lacks
        self.addCleanup(warnings.resetwarnings)

    def items(self, dtype):
        dice = np.random.default_rng(7)
        items = dice.integers(0, 100, (50, 40)).astype("i8").astype(dtype)
        if np.dtype(dtype).kind == "f":
            items[3, :4] = np.nan, np.inf, -0.0, 1e-3
        return items

    def write(self, items, **how):
        codec = cairn.Blosc2Codec(**how)
        array = zarr.create_array(
            self.path("a.zarr"), shape=items.shape, chunks=(20, 30), dtype=items.dtype, compressors=[codec], overwrite=True
        )
        array[:] = items
        return array

    def test_items_of_each_type_come_back(self):
        for dtype in TYPES:
            items = self.items(dtype)
            for how in ({}, {"codec": "lz4", "filters": "bitshuffle"}, {"codec": "blosclz", "filters": ["shuffle", "delta"]}, {"clevel": 0}):
                with self.subTest(dtype=dtype, how=how):
                    self.write(items, **how)
                    found = zarr.open_array(self.path("a.zarr"), mode="r")
                    self.assertEqual(found[:].tobytes(), items.tobytes())
                    self.assertEqual(found[7:33:2, 5].tobytes(), items[7:33:2, 5].tobytes())

    def test_codecs_of_numbers_code_numbers(self):
        for dtype in ("<i8", "<f8", "f4", "<u2"):
            items = self.items(dtype)
            for codec in ("pco", "bitpack", "auto"):
                with self.subTest(dtype=dtype, codec=codec):
                    self.write(items, codec=codec)
                    self.assertEqual(zarr.open_array(self.path("a.zarr"), mode="r")[:].tobytes(), items.tobytes())

    def test_metadata_tell_the_codec_and_the_size_of_items(self):
        self.write(self.items("f4"), codec="zstd", clevel=7, filters=[("trunc_prec", 12), "shuffle"])
        with open(os.path.join(self.path("a.zarr"), "zarr.json")) as file:
            said = json.load(file)["codecs"][-1]
        expected = {"codec": "zstd", "clevel": 7, "filters": [["trunc_prec", 12], "shuffle"], "typesize": 4}
        self.assertEqual(said, {"name": "blosc2", "configuration": expected})

    def test_filters_that_lose_bits_take_only_the_numbers_that_they_are_for(self):
        for dtype in ("i4", "u1", "M8[s]", "c8", ">f8", "S8", "f2"):
            with self.subTest(dtype=dtype), self.assertRaisesRegex(cairn.InvalidArgument, "expected items of float32"):
                self.write(np.zeros((50, 40), dtype), filters=[("trunc_prec", 10), "shuffle"])
        with self.assertRaisesRegex(cairn.InvalidArgument, "expected integers"):
            self.write(np.zeros((50, 40)), filters=[("int_trunc", 10), "shuffle"])
        items = self.items("i4")
        array = self.write(items)
        made = cairn.Blosc2Codec(filters=[("trunc_prec", 10)], typesize=4)  # as a file may say
        spec = array.metadata.codecs[-1]
        with self.assertRaises(cairn.InvalidArgument):
            made._check_dtype(type("Spec", (), {"dtype": array.metadata.data_type}))
        self.assertEqual(spec.filters, ("shuffle",))

    def test_chunks_of_the_smallest_shards_come_back(self):
        items = np.random.default_rng(1).integers(0, 256, (64, 64), dtype="u1")
        shards = zarr.codecs.ShardingCodec(chunk_shape=(4, 4), codecs=[zarr.codecs.BytesCodec(), cairn.Blosc2Codec()])
        array = zarr.create(
            store={}, shape=items.shape, chunks=(64, 64), dtype="u1", zarr_format=3, codecs=[shards, cairn.Blosc2Codec()]
        )
        array[:] = items
        self.assertEqual(array[:].tobytes(), items.tobytes())

    def test_codecs_of_numbers_have_no_filters_by_default(self):
        self.assertEqual(cairn.Blosc2Codec(codec="pco").filters, ())
        self.assertEqual(cairn.Blosc2Codec(codec="zstd").filters, ("shuffle",))
        self.assertEqual(cairn.Blosc2Codec.from_dict({"configuration": {"filters": None}}).filters, ("shuffle",))
        with self.assertRaisesRegex(cairn.InvalidArgument, "unknown settings: 'speed'"):
            cairn.Blosc2Codec.from_dict({"name": "blosc2", "configuration": {"speed": 1}})
        with self.assertRaisesRegex(cairn.InvalidArgument, "'delta' may be there once"):
            cairn.Blosc2Codec(filters=["delta", "shuffle", "delta"])

    def test_bytes_after_a_chunk_are_damage(self):
        self.write(self.items("f4"))
        path = os.path.join(self.path("a.zarr"), "c", "0", "0")
        with open(path, "ab") as file:
            file.write(b"more")
        with self.assertRaisesRegex(cairn.DataLoss, "says that it is stored in"):
            zarr.open_array(self.path("a.zarr"), mode="r")[:]

    @needs_blosc2
    def test_chunks_are_those_of_blosc2(self):
        items = self.items("<f8")
        self.write(items)
        with open(os.path.join(self.path("a.zarr"), "c", "0", "0"), "rb") as file:
            chunk = file.read()
        self.assertEqual(blosc2.decompress2(chunk), items[:20, :30].tobytes())

    def test_damaged_chunks_are_told(self):
        self.write(self.items("<f8"))
        place = os.path.join(self.path("a.zarr"), "c", "0", "0")
        with open(place, "r+b") as file:
            file.truncate(100)
        with self.assertRaises(cairn.DataLoss):
            zarr.open_array(self.path("a.zarr"), mode="r")[:]

    def test_chunks_that_say_to_be_huge_take_no_memory(self):
        self.write(self.items("<f8"))
        bomb = cairn.asarray(np.zeros(1 << 28, "u1"), chunks=1 << 28).chunk(0)
        self.assertLess(len(bomb), 100)
        with open(os.path.join(self.path("a.zarr"), "c", "0", "0"), "wb") as file:
            file.write(bomb)
        with self.assertRaisesRegex(cairn.DataLoss, "268435456 bytes"):
            zarr.open_array(self.path("a.zarr"), mode="r")[:]

    def test_what_no_chunk_can_have_is_refused(self):
        for how in ({"codec": "x"}, {"clevel": 99}, {"filters": ["nothing"]}, {"typesize": 256}, {"typesize": 0}, {"codec": "zfp_acc", "typesize": 3}):
            with self.subTest(how=how), self.assertRaises(cairn.Error):
                cairn.Blosc2Codec(**how)

    def test_a_codec_can_be_pickled(self):
        codec = cairn.Blosc2Codec(codec="pco", typesize=8)
        self.assertEqual(pickle.loads(pickle.dumps(codec)), codec)

    def test_chunks_in_a_collection_are_stored_as_coded(self):
        items = self.items("<f8")
        with cairn.ZarrStore(self.path("a.b2d")) as store:
            array = zarr.create_array(store, name="x", shape=items.shape, chunks=(20, 30), dtype="f8", compressors=[cairn.Blosc2Codec()])
            array[:] = items
            self.assertEqual(zarr.open_array(store, path="x", mode="r")[:].tobytes(), items.tobytes())


if __name__ == "__main__":
    unittest.main()
