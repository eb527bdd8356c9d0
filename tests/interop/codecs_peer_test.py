"""Arrays of the codecs NDLZ and ZFP, and of the filters NDCELL and NDMEAN, go back and forth between the cairn tool and python-blosc2.

    CAIRN=BUILD/tools/cairn python3 tests/interop/codecs_peer_test.py

Skipped, with a message, where there is no python-blosc2 or no CAIRN; ZFP, too, where Cairn was built
without libzfp.
"""

import os
import random
import subprocess
import tempfile
import unittest

try:
    import blosc2
    import numpy as np

    MISSING = None
except ImportError as error:
    MISSING = f"no python-blosc2: {error}"
TOOL = os.environ.get("CAIRN")
if MISSING is None and not TOOL:
    MISSING = "CAIRN does not name the cairn tool"

CASES = 12


def joined(numbers):
    return ",".join(map(str, numbers))


@unittest.skipIf(MISSING is not None, MISSING)
class CodecsPeer(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(20)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.mine = os.path.join(directory.name, "mine.b2nd")
        self.peers = os.path.join(directory.name, "peers.b2nd")

    def cairn(self, *arguments, stdin=None):
        done = subprocess.run([TOOL, *map(str, arguments)], input=stdin, capture_output=True, check=False)
        if b"is not in this build" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done.stdout

    def extents(self, most):
        return tuple(self.random.randint(4, extent) for extent in most)

    def pack(self, array, chunks, blocks, *options):
        if os.path.exists(self.mine):
            os.remove(self.mine)
        shapes = ["--shape", joined(array.shape), "--chunk-shape", joined(chunks), "--block-shape", joined(blocks)]
        types = ["--typesize", array.dtype.itemsize, "--dtype", array.dtype.str]
        self.cairn("pack", "-", self.mine, *options, *shapes, *types, stdin=array.tobytes())

    def go_back_and_forth(self, codec, meta, array, filters, split):
        """Both write the same chunks and read each other's."""
        chunks = self.extents(array.shape)
        blocks = self.extents(chunks)
        slots = [blosc2.Filter.NOFILTER] * 5 + [filters]
        cparams = {"codec": codec, "codec_meta": meta, "filters": slots, "filters_meta": [0] * 6, "nthreads": 1}
        cparams["splitmode"] = blosc2.SplitMode.ALWAYS_SPLIT if split else blosc2.SplitMode.NEVER_SPLIT
        peers = blosc2.asarray(
            array, chunks=chunks, blocks=blocks, cparams=cparams, urlpath=self.peers, mode="w"
        )
        expected = peers[:].tobytes()
        self.assertEqual(self.cairn("cat", self.peers, "--box", joined(":" * array.ndim)), expected)
        self.cairn("verify", self.peers)
        # zfp_acc and so on, as python-blosc2 names them in capitals.
        options = ["--codec", codec.name.lower(), "--codec-meta", meta]
        options += ["--filters", "shuffle" if filters == blosc2.Filter.SHUFFLE else "none"]
        options += ["--split-mode", "always" if split else "never"]
        self.pack(array, chunks, blocks, *options)
        mine = blosc2.open(self.mine, mode="r")
        self.assertEqual(mine[:].tobytes(), expected)
        for i in range(peers.schunk.nchunks):
            theirs = peers.schunk.get_chunk(i)
            memcpyed = theirs[2] & 2  # C-Blosc2 gives up a little earlier, at the end of its buffer
            if not memcpyed:
                self.assertEqual(mine.schunk.get_chunk(i), theirs, (chunks, blocks, i))

    def test_cells_are_read_by_both(self):
        for case in range(CASES):
            shape = self.extents([[3000], [90, 90], [30, 30, 30], [12, 12, 12, 12]][case % 4])
            means = case % 2 == 1
            dtype = np.dtype(self.random.choice(["<f4", "<f8"] if means else ["u1", "<i2", "<f8", "S13"]))
            array = (np.random.default_rng(case).normal(0, 10, shape) * 8).astype("<i4").astype(dtype)
            chunks = self.extents(shape)
            blocks = self.extents(chunks)
            name, meta = "ndmean" if means else "ndcell", self.random.randint(1, 4)
            slots = [blosc2.Filter.NOFILTER] * 4 + [getattr(blosc2.Filter, name.upper()), blosc2.Filter.SHUFFLE]
            with self.subTest(case=case, shape=shape, chunks=chunks, blocks=blocks, dtype=dtype, meta=meta):
                cparams = {"codec": blosc2.Codec.ZSTD, "filters": slots, "filters_meta": [0] * 4 + [meta, 0]}
                peers = blosc2.asarray(array, chunks=chunks, blocks=blocks, cparams=cparams, urlpath=self.peers, mode="w")
                expected = peers[:].tobytes()
                self.assertEqual(expected == array.tobytes(), not means or meta == 1)
                self.assertEqual(self.cairn("cat", self.peers, "--box", joined(":" * array.ndim)), expected)
                self.pack(array, chunks, blocks, "--codec", "zstd", "--filters", f"{name}:{meta},shuffle")
                self.assertEqual(blosc2.open(self.mine, mode="r")[:].tobytes(), expected)
                self.assertEqual(self.cairn("cat", self.mine, "--box", joined(":" * array.ndim)), expected)

    def test_ndlz_is_the_same(self):
        for case in range(CASES):
            shape = self.extents((150, 150))
            dtype = np.dtype(self.random.choice(["u1", "<i4", "<f8"]))
            meta = self.random.choice([4, 8])
            noise = np.random.default_rng(case).integers(0, self.random.choice([2, 4, 20]), shape)
            rows = np.random.default_rng(case).integers(0, min(9, shape[0]), shape[0])
            array = noise[rows].astype(dtype) if case % 2 else noise.astype(dtype)
            filters = blosc2.Filter.NOFILTER if dtype.itemsize == 1 else blosc2.Filter.SHUFFLE
            with self.subTest(case=case, shape=shape, dtype=dtype, meta=meta):
                self.go_back_and_forth(blosc2.Codec.NDLZ, meta, array, filters, True)

    def test_zfp_is_the_same(self):
        metas = {
            # Floats of four bytes hold less than six decimals here, and Cairn then stores blocks as they are.
            blosc2.Codec.ZFP_ACC: lambda dtype: max(self.random.randint(-8, 2), -5 if dtype == "<f4" else -8) & 0xFF,
            blosc2.Codec.ZFP_PREC: lambda dtype: self.random.randint(1, 64),
            blosc2.Codec.ZFP_RATE: lambda dtype: self.random.randint(1, 100),
        }
        for codec, draw in metas.items():
            for case in range(CASES):
                ndim = 1 + case % 4
                shape = self.extents([[3000], [120, 120], [30, 30, 30], [12, 12, 12, 12]][ndim - 1])
                dtype = self.random.choice(["<f4", "<f8"])
                noise = np.random.default_rng(case).normal(0, 0.01, shape) * (case % 3 == 0)
                array = (10 * np.sin(np.indices(shape).sum(0) * 0.05) + noise).astype(dtype)
                meta = draw(dtype)
                with self.subTest(codec=codec, case=case, shape=shape, dtype=dtype, meta=meta):
                    self.go_back_and_forth(codec, meta, array, blosc2.Filter.NOFILTER, False)

    def test_what_zfp_does_not_hold_is_read_by_both(self):
        array = (10 * np.sin(np.indices((40, 50)).sum(0) * 0.05)).astype("<f4")
        array[7, 9], array[20, 30], array[33, 1] = np.nan, np.inf, 9.96921e36
        for codec, meta in (("zfp_acc", -2), ("zfp_acc", -8), ("zfp_prec", 12), ("zfp_rate", 40)):
            with self.subTest(codec=codec, meta=meta):
                self.pack(array, (40, 50), (8, 10), "--codec", codec, "--codec-meta", meta, "--filters", "none")
                found = blosc2.open(self.mine, mode="r")[:]
                self.assertEqual(self.cairn("cat", self.mine, "--box", ":,:"), found.tobytes())
                np.testing.assert_array_equal(np.isfinite(found), np.isfinite(array))
                near = np.isfinite(array) & (np.arange(40)[:, np.newaxis] < 32)  # the blocks without the fill value
                self.assertLess(np.abs(found[near] - array[near]).max(), 0.1)
                if codec == "zfp_acc":
                    fine = np.isfinite(array)
                    self.assertLessEqual(np.abs(found[fine] - array[fine]).max(), 10.0**meta)


if __name__ == "__main__":
    unittest.main()
