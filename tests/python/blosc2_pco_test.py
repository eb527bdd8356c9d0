"""The plug-in for the codec pco: python-blosc2 and C-Blosc2 read and write what Cairn does."""

import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import examples_test
from pco_test import DTYPES, numbers, streams
from support import PackageTest, blosc2, cairn, np

LIBRARY = os.environ.get("BLOSC2_PCO_LIBRARY")
PROGRAM = os.environ.get("BLOSC2_PCO_PROGRAM")
PACKAGE = os.path.join(os.path.dirname(__file__), "../../tools/python/blosc2_pco/blosc2_pco")
THREADS = (1, 4)
FLIPS = 3000

READ = """
import sys
import blosc2
if sys.argv[2] == "plug-in":
    import blosc2_pco
print(blosc2.open(sys.argv[1])[:].sum())
"""


def missing():
    if blosc2 is None:
        return "no python-blosc2"
    return None if LIBRARY else "no plug-in, which is built where the headers of C-Blosc2 are"


FOLDER = tempfile.mkdtemp()  # has the package as a wheel installs it
unittest.addModuleCleanup(shutil.rmtree, FOLDER)
if cairn is not None and missing() is None:
    shutil.copytree(PACKAGE, f"{FOLDER}/blosc2_pco", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(LIBRARY, f"{FOLDER}/blosc2_pco")
    sys.path.append(FOLDER)
    import blosc2_pco


def values(dtype):
    """Returns numbers with those that codecs lose most easily among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return numbers("f4").view(dtype)
    items = numbers(dtype)
    bits = items.view(f"u{dtype.itemsize}")
    if dtype.kind != "b":
        bits[70:77] = [0, 1, 2, -1 % 256**dtype.itemsize, 2 ** (8 * dtype.itemsize - 1), 77, 0x7F]
    if dtype.kind == "f":
        # NaNs of both signs, quiet and not, with something in their other bits.
        infinity = np.array(np.inf, dtype.newbyteorder("=")).view(bits.dtype).item()
        sign = 2 ** (8 * dtype.itemsize - 1)
        nans = np.array([infinity + 1, infinity + 3, sign + infinity + 1, 2 * sign - 1, sign - 1, sign], bits.dtype)
        bits[80:86] = nans if dtype.isnative else nans.byteswap()
    return items


def in_child(*arguments, **variables):
    # Meson names the folders of all libraries, where a program would find this one.
    others = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    env = {**others, "PYTHONPATH": FOLDER, **variables}
    return subprocess.run(arguments, env=env, capture_output=True, text=True, check=False, timeout=120)


@unittest.skipIf(missing() is not None, missing())
class PlugInTest(PackageTest):
    def written_by_the_peer(self, items, threads=1, name="a.b2nd", **shapes):
        cparams = blosc2_pco.cparams(items.dtype, nthreads=threads)
        return blosc2.asarray(items, cparams=cparams, urlpath=self.path(name), mode="w", **shapes)

    def test_the_peer_reads_numbers_of_every_type(self):
        for dtype in [*DTYPES, ">i4", "c8"]:
            items = values(dtype)
            cairn.asarray(items, self.path(), codec="pco", chunks=6000, blocks=700, overwrite=True)
            for threads in THREADS:
                with self.subTest(dtype=dtype, threads=threads):
                    array = blosc2.open(self.path(), dparams=blosc2.DParams(nthreads=threads))
                    self.assert_same(array[:], items)
                    self.assert_same(array[5990:6020], items[5990:6020])
                    self.assert_same(array[7:8], items[7:8])
                    self.assertEqual(array.cparams.codec, blosc2_pco.CODEC)

    def test_the_peer_writes_numbers_of_every_type(self):
        for dtype in [*DTYPES, ">i4", "c8"]:
            items = values(dtype)
            for threads in THREADS:
                with self.subTest(dtype=dtype, threads=threads):
                    array = self.written_by_the_peer(items, threads, chunks=(6000,), blocks=(700,))
                    self.assert_same(array[:], items)
                    frame = cairn.open(self.path())
                    self.assertEqual(frame.info.codec, "pco")
                    self.assert_same(frame[...], items)
                    self.assert_same(frame[5990:6020], items[5990:6020])
                    self.assertTrue(frame.verify().ok)

    def test_the_other_codecs_of_numbers_go_both_ways(self):
        for name, codec in [("bitpack", blosc2_pco.BITPACK), ("auto", blosc2_pco.AUTO)]:
            for dtype in DTYPES:
                items = values(dtype)
                with self.subTest(codec=name, dtype=dtype):
                    cairn.asarray(items, self.path(), codec=name, chunks=6000, blocks=700, overwrite=True)
                    array = blosc2.open(self.path(), dparams=blosc2.DParams(nthreads=4))
                    self.assertEqual(array.cparams.codec, codec)
                    self.assert_same(array[:], items)
                    cparams = blosc2_pco.cparams(items.dtype, codec=codec, nthreads=4)
                    blosc2.asarray(items, cparams=cparams, urlpath=self.path("theirs"), mode="w", chunks=(6000,), blocks=(700,))
                    self.assertEqual(cairn.open(self.path("theirs")).info.codec, name)
                    self.assert_same(cairn.open(self.path("theirs"))[...], items)

    def test_the_peer_reads_records_whose_columns_are_coded_differently(self):
        dice = np.random.default_rng(4)
        items = np.zeros(30_000, [("even", "i8"), ("uneven", "i4"), ("place", "S9")])
        items["even"] = dice.integers(0, 1000, len(items))
        items["uneven"] = dice.exponential(100, len(items)) ** 2
        items["place"] = dice.choice([b"Rotterdam", b"Antwerp"], len(items))
        frame = cairn.asarray(items, self.path(), codec="auto")
        self.assertEqual(len({column.codec for column in frame.coded_columns()}), 3)
        self.assert_same(blosc2.open(self.path())[...], items)

    def test_both_write_the_same_streams(self):
        for dtype in [*DTYPES, ">i4"]:
            for level in (1, 5, 9):
                with self.subTest(dtype=dtype, level=level):
                    items = values(dtype)
                    shapes = {"chunks": (20_000,), "blocks": (4096,)}
                    frame = cairn.asarray(items, codec="pco", clevel=level, **shapes)
                    cparams = blosc2_pco.cparams(dtype, clevel=level, nthreads=1)
                    array = blosc2.asarray(items, cparams=cparams, **shapes)
                    self.assertEqual(array.cparams.codec_meta, frame.chunk(0)[23])
                    theirs, ours = streams(array.schunk.get_chunk(0)), streams(frame.chunk(0))
                    self.assertTrue(list(theirs) == list(ours))  # nobody reads how they differ

    def test_the_peer_reads_columns_of_records(self):
        items = np.empty(10_000, [("time", "M8[us]"), ("value", "f8"), ("host", "S6"), ("at", "c8")])
        for name, dtype in [("time", "i8"), ("value", "f8"), ("at", "c8")]:
            items[name] = values(dtype)[: len(items)]
        items["host"] = np.where(items["value"] > 0, b"north", b"south")
        for name, given in [("records", items), ("complex", np.ascontiguousarray(items["at"]))]:
            with self.subTest(name=name):
                cairn.asarray(given, self.path(name), codec="pco", chunks=7000, blocks=1000)
                self.assert_same(blosc2.open(self.path(name))[...], given)

    def test_arrays_of_dimensions_and_whole_frames_go_both_ways(self):
        items = values("f8").reshape(100, 200)
        cairn.asarray(items, self.path(), codec="pco", chunks=(40, 50), blocks=(7, 20))
        self.assert_same(blosc2.open(self.path())[...], items)
        self.assert_same(blosc2.open(self.path())[33:71, 5:190:3], items[33:71, 5:190:3])
        self.written_by_the_peer(items, 4, chunks=(30, 90), blocks=(10, 9))
        self.assert_same(cairn.open(self.path())[33:71, 5:190], items[33:71, 5:190])
        flat = items.ravel()
        schunk = blosc2.SChunk(80_000, flat, cparams=blosc2_pco.cparams("f8"), urlpath=self.path("b.b2frame"), mode="w")
        self.assertGreater(schunk.cratio, 2)
        self.assert_same(cairn.open(self.path("b.b2frame"), dtype="f8")[:], flat)
        cairn.create(self.path("c.b2frame"), None, "f8", codec="pco", chunksize=80_000, filters=[]).append(flat)
        self.assertEqual(blosc2.open(self.path("c.b2frame"))[:], flat.tobytes())

    def test_both_append_and_edit_in_turn(self):
        for dtype in ("i8", "f4", "u2"):
            for first in (True, False):
                with self.subTest(dtype=dtype, first=first):
                    items = values(dtype)
                    expected = items[:5000]
                    if first:
                        self.written_by_the_peer(expected, 4, chunks=(1500,), blocks=(256,))
                    else:
                        cairn.asarray(expected, self.path(), codec="pco", chunks=1500, blocks=256, overwrite=True)
                    for begin in range(5000, 9000, 1000):
                        cairn.open(self.path(), "r+").append(items[begin : begin + 500])
                        array = blosc2.open(self.path(), mode="a")
                        array.append(items[begin + 500 : begin + 1000])
                        array[10:20] = items[begin : begin + 10]
                        expected = np.concatenate([expected, items[begin : begin + 1000]])
                        expected[10:20] = items[begin : begin + 10]
                        self.assert_same(array[:], expected)
                        frame = cairn.open(self.path())
                        self.assert_same(frame[...], expected)
                        self.assertTrue(frame.verify().ok)
                        self.assertEqual((frame.info.codec, array.cparams.codec), ("pco", blosc2_pco.CODEC))
                    self.assertLess(frame.info.cbytes, expected.nbytes * 0.9)

    def test_threads_of_the_program_read_and_write_at_once(self):
        items = values("f8")
        frames = [self.written_by_the_peer(items, 4, f"{n}.b2nd", chunks=(9000,), blocks=(512,)) for n in range(4)]

        def work(array):
            for begin in range(0, 10_000, 400):
                array[begin : begin + 300] = items[begin + 300 : begin + 600]
                if array[begin : begin + 300].tobytes() != items[begin + 300 : begin + 600].tobytes():
                    return False
            return array[15_000:].tobytes() == items[15_000:].tobytes()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(work, frames)), [True] * 4)

    def test_filters_and_types_that_hold_no_numbers_come_back_too(self):
        items = values("f8")
        shuffled = blosc2.CParams(codec=blosc2_pco.CODEC, nthreads=1)
        blosc2.asarray(items, cparams=shuffled, urlpath=self.path(), mode="w")
        self.assert_same(cairn.open(self.path())[...], items)
        with self.assertRaisesRegex(cairn.InvalidArgument, "takes apart"):
            cairn.open(self.path(), "r+").append(items)
        texts = np.array([b"one", b"two", b"six"] * 1000)
        array = blosc2.asarray(texts, cparams=shuffled, urlpath=self.path(), mode="w")
        self.assert_same(array[:], texts)
        self.assert_same(cairn.open(self.path())[...], texts)
        with self.assertRaisesRegex(TypeError, "8 bytes, got"):
            blosc2_pco.cparams(texts.dtype)
        any_items = blosc2_pco.cparams(texts.dtype, codec=blosc2_pco.AUTO)
        array = blosc2.asarray(texts, cparams=any_items, urlpath=self.path(), mode="w")
        self.assert_same(array[:], texts)
        self.assertGreater(array.schunk.cratio, 20)
        self.assert_same(cairn.open(self.path())[...], texts)

    def test_damaged_streams_are_errors(self):
        dice = random.Random(9)
        for dtype in ("f8", "i4", "u2"):
            items = values(dtype)
            array = self.written_by_the_peer(items, chunks=(20_000,), blocks=(4000,))
            chunk = array.schunk.get_chunk(0)
            self.assertEqual(blosc2.decompress2(chunk), items.tobytes())
            places = [chunk.find(stream) for stream, _ in streams(chunk)]
            sizes = [len(stream) for stream, _ in streams(chunk)]
            errors = 0
            for flip in range(FLIPS // 3):
                damaged = bytearray(chunk)
                block = dice.randrange(len(places))
                begin, size = places[block], sizes[block]
                # The head and the description more often than the numbers.
                at = begin + dice.randrange(min(size, 60) if dice.random() < 0.6 else size)
                if dice.random() < 0.1:
                    damaged[at : begin + size] = dice.randbytes(begin + size - at)
                else:
                    damaged[at] ^= 1 << dice.randrange(8)
                try:
                    got = blosc2.decompress2(bytes(damaged), nthreads=dice.choice(THREADS))
                    self.assertEqual(len(got), items.nbytes, (dtype, flip))
                except ValueError:
                    errors += 1
            self.assertGreater(errors, FLIPS // 3 * 0.2)
            self.assertEqual(blosc2.decompress2(chunk), items.tobytes())
            with open(self.path(), "r+b") as file:
                file.seek(file.read().find(chunk) + places[2])
                file.write(b"\xff" * 3)
            with self.assertRaises(RuntimeError):
                blosc2.open(self.path())[9000:9010]
            with self.assertRaises((cairn.DataLoss, cairn.Unimplemented)):
                cairn.open(self.path())[9000:9010]
            self.assert_same(blosc2.open(self.path())[:8000], items[:8000])

    def test_the_peer_alone_names_the_codec_that_it_lacks(self):
        cairn.asarray(np.arange(1000.0), self.path(), codec="pco")
        done = in_child(sys.executable, "-c", READ, self.path(), "alone", BLOSC_TRACE="1")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("RuntimeError: Error while getting the buffer", done.stderr)
        self.assertIn("codec 227 not found during decompression", done.stderr)

    def test_no_other_program_is_asked_for_the_library(self):
        cairn.asarray(np.arange(1000.0), self.path(), codec="pco")
        done = in_child(sys.executable, "-c", READ, self.path(), "plug-in", PATH=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "499500.0\n"), done.stderr)

    @unittest.skipUnless(PROGRAM, "no program of C-Blosc2")
    def test_a_program_in_c_finds_the_library_by_its_name(self):
        cairn.asarray(np.arange(1000.0), self.path(), codec="pco")
        alone = in_child(PROGRAM, self.path(), PATH=self.folder)
        self.assertEqual((alone.returncode, alone.stdout), (1, ""))
        by_name = in_child(PROGRAM, self.path(), PATH=self.folder, LD_LIBRARY_PATH=f"{FOLDER}/blosc2_pco")
        self.assertEqual((by_name.returncode, by_name.stdout), (0, "1000 numbers, sum 499500\n"), by_name.stderr)
        # C-Blosc2 asks `python`.
        with open(self.path("python"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        os.chmod(self.path("python"), 0o755)
        asked = in_child(PROGRAM, self.path(), PATH=self.folder)
        self.assertEqual((asked.returncode, asked.stdout), (0, "1000 numbers, sum 499500\n"), asked.stderr)

    def test_python_page_shows_what_happens(self):
        examples_test.DocsTest.run_examples(self, "docs", "python.md", needs=["blosc2"])


if __name__ == "__main__":
    unittest.main()
