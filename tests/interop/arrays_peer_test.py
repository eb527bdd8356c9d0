"""N-dimensional arrays go back and forth between the cairn tool and python-blosc2.

    CAIRN=BUILD/tools/cairn python3 tests/interop/arrays_peer_test.py

Skipped, with a message, where there is no python-blosc2 or no CAIRN.
"""

import os
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import blosc2
    import numpy as np
    from numpy.lib import recfunctions

    MISSING = None
except ImportError as error:
    MISSING = f"no python-blosc2: {error}"
TOOL = os.environ.get("CAIRN")
if MISSING is None and not TOOL:
    MISSING = "CAIRN does not name the cairn tool"

CASES = 30
EDITS = 6


@unittest.skipIf(MISSING is not None, MISSING)
class ArraysPeer(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(17)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.frame = os.path.join(directory.name, "a.b2nd")
        self.items = os.path.join(directory.name, "items")

    def cairn(self, *arguments):
        done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done.stdout

    def write_items(self, array):
        with open(self.items, "wb") as file:
            file.write(array.tobytes())

    def shape(self, dimensions):
        return tuple(self.random.randint(1, (200, 40, 14, 8)[dimensions - 1]) for _ in range(dimensions))

    def values(self, shape):
        seed = self.random.randint(0, 2**31)
        return np.random.default_rng(seed).integers(1, 100, shape).astype("<i4")

    def pack(self, expected):
        if os.path.exists(self.frame):
            os.remove(self.frame)
        self.write_items(expected)
        extents = ",".join(map(str, expected.shape))
        chunk = self.random.choice([64, 300, 4096])
        with open(self.items, "rb") as file:
            command = [TOOL, *self.pack_words(), "--typesize", "4", "--shape", extents, "--dtype", "<i4"]
            done = subprocess.run(
                [*command, "--chunk-size", str(chunk)], stdin=file, capture_output=True, check=False
            )
        self.assertEqual(done.returncode, 0, done.stderr)

    def pack_words(self):
        """IN OUT or OUT IN, as this tool has it."""
        out_first = b"[OPTIONS] OUT" in self.cairn("pack", "--help")
        return ["pack", self.frame, "-"] if out_first else ["pack", "-", self.frame]

    def same(self, expected):
        """Both read it whole, and Cairn finds nothing to complain of."""
        peer = blosc2.open(self.frame, mode="r")
        self.assertEqual(peer.shape, expected.shape)
        self.assertEqual(peer.dtype, expected.dtype)
        np.testing.assert_array_equal(peer[:], expected)
        mine = self.cairn("cat", self.frame, "--box", ",".join(":" * expected.ndim))
        self.assertEqual(mine, expected.tobytes())
        self.cairn("verify", self.frame)

    def resized(self, array, shape):
        new = np.zeros(shape, array.dtype)
        kept = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, shape))
        new[kept] = array[kept]
        return new

    def resize(self, array):
        shape = tuple(self.random.choice([n, self.random.randint(1, 2 * n + 1)]) for n in array.shape)
        self.cairn("resize", self.frame, ",".join(map(str, shape)))
        return self.resized(array, shape)

    def append(self, array):
        axis = self.random.randrange(array.ndim)
        shape = list(array.shape)
        shape[axis] = self.random.randint(1, 5)
        added = self.values(shape)
        self.write_items(added)
        self.cairn("append", self.frame, self.items, "--axis", axis)
        return np.concatenate([array, added], axis)

    def write_by_peer(self, array):
        begin = [self.random.randrange(extent) for extent in array.shape]
        end = [self.random.randint(first + 1, extent) for first, extent in zip(begin, array.shape)]
        box = tuple(map(slice, begin, end))
        items = self.values([last - first for first, last in zip(begin, end)])
        blosc2.open(self.frame, mode="a")[box] = items
        array = array.copy()
        array[box] = items
        return array

    def grow_by_peer(self, array):
        shape = tuple(n + self.random.randint(0, 5) for n in array.shape)
        blosc2.open(self.frame, mode="a").resize(shape)
        return self.resized(array, shape)

    def edit(self, expected):
        for _ in range(EDITS):
            edit = self.random.choice([self.resize, self.append, self.write_by_peer, self.grow_by_peer])
            with self.subTest(edit=edit.__name__, shape=expected.shape):
                expected = edit(expected)
                self.same(expected)

    def test_peer_reads_and_edits_what_cairn_made(self):
        for case in range(CASES):
            with self.subTest(case=case):
                expected = self.values(self.shape(1 + case % 4))
                self.pack(expected)
                self.same(expected)
                self.edit(expected)

    def test_cairn_reads_and_edits_what_the_peer_made(self):
        for case in range(CASES):
            with self.subTest(case=case):
                expected = self.values(self.shape(1 + case % 4))
                blosc2.asarray(expected, urlpath=self.frame, mode="w", contiguous=True)
                self.same(expected)
                self.edit(expected)

    def test_cairn_knows_the_fields_of_what_the_peer_made(self):
        fields = np.dtype([("when", "<M8[ms]"), ("ok", "?"), ("x", "<f4"), ("s", "S5")], align=True)
        records = np.zeros(500, fields)
        records["when"] = 1_764_024_302_500 + np.arange(500)
        records["ok"] = np.arange(500) % 3 == 0
        records["x"] = np.arange(500) / 7
        records["s"] = np.arange(500).astype("S5")
        for array in [records, recfunctions.repack_fields(records)]:
            blosc2.asarray(array, urlpath=self.frame, mode="w", chunks=(200,), blocks=(30,))
            rows = [line.split(",") for line in self.cairn("cat", self.frame, "--csv").decode().splitlines()]
            self.assertEqual(rows[0], list(fields.names))
            for i, name in enumerate(fields.names):
                column = [row[i].removesuffix("Z") for row in rows[1:]]
                if name == "ok":
                    column = [value == "true" for value in column]
                self.assertEqual(np.array(column).astype(fields[name]).tolist(), array[name].tolist())

    def test_cairn_shows_no_item_that_the_peer_cut_off(self):
        expected = self.values((7, 10))
        array = blosc2.asarray(expected, chunks=(3, 4), blocks=(2, 3), urlpath=self.frame, mode="w")
        array.resize((4, 6))
        self.cairn("resize", self.frame, "7,10")
        self.same(self.resized(expected[:4, :6], (7, 10)))


if __name__ == "__main__":
    if MISSING is not None:
        print("1..0 # SKIP " + MISSING)
        sys.exit(0)
    unittest.main()
