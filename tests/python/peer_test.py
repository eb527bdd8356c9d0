"""The package and python-blosc2 take turns with the same files."""

import random
import shutil
import subprocess
import unittest

from support import PackageTest, blosc2, cairn, np

DTYPES = [
    "<i4",
    ">f8",
    "<c8",
    "S3",
    "<M8[ms]",
    [("a", "<i4"), ("b", "<f8", (2,)), ("c", "<U3")],
    [("nested", [("x", "u1"), ("y", "<i2")]), ("z", "<f4")],
]
SEQUENCES = 200


def values(dice, shape, dtype):
    """Any bytes that both print and compare alike."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    items = np.random.default_rng(dice.randint(0, 2**31)).integers(0, 60, count, "u1")
    return items.view(dtype).reshape(shape) if "U" not in str(dtype) else np.zeros(shape, dtype)


@unittest.skipIf(blosc2 is None, "no python-blosc2")
class PeerTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.dice = random.Random(22)

    def test_arrays_of_the_peer_have_their_type_and_items(self):
        for dtype in DTYPES:
            for shape in ((), (17,), (5, 8), (3, 4, 5)):
                with self.subTest(dtype=dtype, shape=shape):
                    items = values(self.dice, shape, dtype)
                    blosc2.asarray(items, urlpath=self.path(), mode="w")
                    self.assert_same(cairn.open(self.path())[...], items)

    def test_arrays_of_cairn_have_their_type_and_items_there(self):
        for dtype in DTYPES:
            for shape in ((), (17,), (5, 8), (3, 4, 5)):
                with self.subTest(dtype=dtype, shape=shape):
                    items = values(self.dice, shape, dtype)
                    cairn.asarray(items, self.path(), overwrite=True)
                    self.assert_same(blosc2.open(self.path())[...], items)

    def test_record_arrays_of_cairn_have_their_fields_there(self):
        for dtype in ([("t", "<M8[us]"), ("x", "<f8")], [("a", "i1"), ("b", np.dtype((np.record, [("c", ">i2")])))]):
            items = np.zeros(5, dtype).view(np.recarray)
            items[dtype[0][0]] = np.arange(5).astype(items.dtype[0])
            cairn.asarray(items, self.path(), overwrite=True)
            self.assertEqual(blosc2.open(self.path()).dtype.names, items.dtype.names)
            self.assertEqual(blosc2.open(self.path())[...].tolist(), items.tolist())

    def test_items_are_counted_without_padding(self):
        for shape, chunks, blocks in (((10,), (7,), (3,)), ((10, 10), (4, 4), (3, 3)), ((), None, None)):
            items = np.arange(int(np.prod(shape)), dtype="<i4").reshape(shape)
            blosc2.asarray(items, urlpath=self.path(), mode="w", chunks=chunks, blocks=blocks)
            frame = cairn.open(self.path())
            self.assertEqual((frame.info.nitems, frame.size), (items.size, items.size))

    def test_arrays_of_up_to_16_dimensions_go_both_ways(self):
        for ndim in range(9, 17):
            items = np.arange(2**ndim, dtype="<i4").reshape((2,) * ndim)
            cairn.asarray(items, self.path("ours"), overwrite=True)
            self.assert_same(cairn.open(self.path("ours"))[...], items)
            try:
                blosc2.asarray(items, urlpath=self.path("theirs"), mode="w")
            except (ValueError, RuntimeError):
                continue  # an older python-blosc2
            self.assert_same(cairn.open(self.path("theirs"))[...], items)
            self.assertEqual(cairn.open(self.path("theirs"))[(1,) * ndim], 2**ndim - 1)
            self.assert_same(blosc2.open(self.path("ours"))[...], items)

    def test_recipes_of_the_peer_are_no_data(self):
        def double(inputs, output, offset):
            output[:] = inputs[0] * 2

        source = blosc2.asarray(np.arange(1000.0), urlpath=self.path("source"), mode="w")
        (source + 2).save(self.path("LazyExpr"))
        blosc2.lazyudf(double, (source,), dtype=source.dtype).save(urlpath=self.path("LazyUDF"))
        blosc2.Proxy(source, urlpath=self.path("Proxy"), mode="w")
        for kind in ("LazyExpr", "LazyUDF", "Proxy"):
            with self.subTest(kind=kind):
                frame = cairn.open(self.path(kind))
                self.assertEqual(frame.info.recipe, kind)
                for read in (
                    lambda f=frame: f[1:4],
                    lambda f=frame: f[[1, 3]],
                    lambda f=frame: next(iter(f)),
                    lambda f=frame: np.asarray(f),
                    lambda f=frame: f.read_chunk(0),
                    lambda f=frame: f.verify(),
                ):
                    with self.assertRaisesRegex(cairn.FailedPrecondition, f"{kind} of python-blosc2"):
                        read()

    def test_a_layer_over_the_limit_hides_no_other(self):
        array = blosc2.asarray(np.arange(10), urlpath=self.path(), mode="w")
        array.schunk.vlmeta["big"] = bytes(70 << 20)
        array.schunk.vlmeta["small"] = "x"
        frame = cairn.open(self.path())
        self.assertEqual(list(frame.vlmeta), ["big", "small"])
        self.assertEqual(frame.attrs["small"], "x")
        with self.assertRaisesRegex(cairn.ResourceExhausted, "limit of 67108864 for metadata"):
            frame.vlmeta["big"]
        report = frame.verify()
        self.assertTrue(report.ok)
        self.assertTrue(any("vlmetalayer big" in note for note in report.notes))

    def test_a_hole_is_an_error_there_too(self):
        items = np.arange(1000, dtype="<i4")
        cairn.asarray(items, self.path(), chunks=100).close()
        with open(self.path(), "r+b") as file:
            content = bytearray(file.read())
            chunk = cairn.open(self.path()).chunk(3)
            place = bytes(content).index(chunk) + 40
            file.seek(place)
            file.write(bytes([content[place] ^ 16]))
        saved = self.path("saved")
        tool = shutil.which("cairn")
        if tool is None:
            self.skipTest("no tool")
        subprocess.run([tool, "recover", "--salvage", self.path(), saved], check=True, capture_output=True)
        with self.assertRaises(cairn.DataLoss):
            cairn.open(saved)[:]
        with self.assertRaises((RuntimeError, ValueError)):
            blosc2.open(saved)[300:400]
        array = blosc2.open(saved)
        self.assert_same(array[400:], items[400:])
        self.assertEqual(array.schunk.vlmeta["lost_chunks"], "3")

    def test_special_values_of_the_peer_are_read(self):
        for sparse in (False, True):
            for make, expected in (
                (lambda **how: blosc2.zeros((70, 50), "<f4", **how), 0),
                (lambda **how: blosc2.full((70, 50), 2.5, "<f4", **how), 2.5),
                (lambda **how: blosc2.full((70, 50), np.nan, "<f4", **how), np.nan),
                (lambda **how: blosc2.uninit((70, 50), "<f4", **how), None),
            ):
                path = self.path(f"{sparse}{expected}")
                make(urlpath=path, mode="w", contiguous=not sparse, chunks=(20, 20), blocks=(7, 9))
                read = cairn.open(path)[:]
                self.assertEqual(read.shape, (70, 50))
                if expected is not None:
                    self.assert_same(read, np.full((70, 50), expected, "<f4"))

    def test_special_values_of_cairn_are_read_there(self):
        path = self.path("s.b2frame")
        frame = cairn.create(path, None, "<f4", chunksize=400)
        with frame.writer() as writer:
            for value in ("zeros", "nan", "uninit"):
                writer.append_special(value, 100)
        items = np.frombuffer(blosc2.open(path)[:], "<f4")
        self.assertEqual(len(items), 300)
        self.assertTrue((items[:100] == 0).all() and np.isnan(items[100:200]).all())

    def test_metadata_go_both_ways(self):
        path = self.path()
        array = blosc2.asarray(np.arange(10), urlpath=path, mode="w", meta={"fixed": [1, 2]})
        array.schunk.vlmeta["theirs"] = {"a": [1, 2.5, "x", None, b"y"]}
        frame = cairn.open(path, "r+")
        self.assertEqual(set(frame.meta), {"b2nd", "fixed"})
        self.assertEqual(frame.attrs["theirs"], {"a": [1, 2.5, "x", None, b"y"]})
        frame.attrs["ours"] = ["k", {"v": 1}]
        frame.vlmeta.raw["large"] = b"\xc5\x00\x05hello"
        del frame.attrs["theirs"]
        frame.close()
        there = blosc2.open(path)
        self.assertEqual(there.schunk.vlmeta["ours"], ["k", {"v": 1}])
        self.assertEqual(there.schunk.vlmeta["large"], b"hello")
        self.assertNotIn("theirs", there.schunk.vlmeta)
        self.assertEqual(there.schunk.meta["fixed"], [1, 2])

    def test_all_vlmetalayers_are_shown_there(self):
        for items in (np.arange(10), np.zeros(10), np.zeros(0)):
            with self.subTest(items=items):
                path = self.path()
                frame = cairn.asarray(items, path, overwrite=True)
                frame.attrs["ours"] = [1, "k"]
                frame.close()
                there = blosc2.open(path, mode="r")
                self.assertEqual(there.schunk.vlmeta.getall()["ours"], [1, "k"])

    def test_all_vlmetalayers_of_a_log_are_shown_there(self):
        path = self.path()
        fields = [("time", "M8[s]"), ("v", "<f8")]
        with cairn.Log.create(path, fields, key="host", chunksize=2000, codec="zstd") as log:
            with log.writer() as writer:
                for i in range(400):
                    writer.append({"time": np.datetime64(i, "s"), "v": i, "host": f"h{i % 7}"})
            log.delete(where="v<10")
            log.add_field("w", "<i4")
        there = blosc2.open(path, mode="r")
        layers = there.schunk.vlmeta.getall()
        names = {"cairn", "cairn.fp"} | {f"cairn.log{each}" for each in ("", ".edits", ".fields", ".keys0", ".stats0")}
        self.assertEqual(set(layers), names)
        self.assertEqual({type(value) for value in layers.values()}, {bytes})

    def test_open_handle_sees_what_others_change_in_place(self):
        """C-Blosc2 replaces a chunk by one of the same size where it lies, and the file keeps its size."""
        for made_by in ("ours", "theirs"):
            for sparse in (False, True):
                for size in (1, 3, 8, 100, 4096):
                    path = self.path(f"{made_by} {sparse} {size}")
                    items = np.arange(size)
                    if made_by == "ours":
                        cairn.asarray(items, path, sparse=sparse).close()
                    else:
                        blosc2.asarray(items, urlpath=path, contiguous=not sparse, mode="w")
                    handle = cairn.open(path)
                    for step in range(6):
                        with self.subTest(made_by=made_by, sparse=sparse, size=size, step=step):
                            if step == 3:  # from now on the file is ours again
                                with cairn.open(path, "r+").writer() as writer:
                                    writer[0] = items[0] = 99
                                    writer.checkpoint()
                                handle.refresh()
                                self.assert_same(handle[...], items)
                            # It writes the number of its threads into the header, of which ours has 1.
                            there = blosc2.open(path, mode="a", cparams={"nthreads": 1}, dparams={"nthreads": 1})
                            place = self.dice.randrange(size)
                            there[place] = items[place] = self.dice.randrange(100, 200)
                            if size == 3:  # the others keep the size of their trailer
                                there.schunk.vlmeta["step"] = step
                            del there
                            handle.refresh()
                            self.assert_same(handle[...], items)
                            if size == 3:
                                self.assertEqual(handle.attrs["step"], step)

    def test_plain_frames_are_edited_in_turn(self):
        # From the start of a chunk on, the peer cannot assign as many items as a short last chunk
        # has: see docs/errata.md.
        for sequence in range(SEQUENCES // 2):
            dice = random.Random(1000 + sequence)
            path = self.path(f"{sequence}.b2frame")
            chunk = dice.choice([4, 25, 100])
            expected = np.arange(dice.randint(1, 300), dtype="<i4")
            if dice.random() < 0.5:
                schunk = blosc2.SChunk(chunksize=chunk * 4, urlpath=path, mode="w", cparams={"typesize": 4},
                                       contiguous=dice.random() < 0.7)  # fmt: skip
                for begin in range(0, len(expected), chunk):
                    schunk.append_data(expected[begin : begin + chunk].copy())
            else:
                frame = cairn.create(path, None, "<i4", chunksize=chunk * 4,
                                     sparse=dice.random() < 0.3)  # fmt: skip
                frame.append(expected)
            for _ in range(dice.randint(2, 6)):
                begin = dice.randint(0, len(expected) - 1)
                count = dice.randint(1, min(60, len(expected) - begin))
                news = np.random.default_rng(dice.randint(0, 9999)).integers(0, 999, count, "<i4")
                end = begin + count
                expected[begin:end] = news
                start = end // chunk * chunk  # of the chunk in which it ends
                cuts = begin <= start < end < len(expected) and (end - len(expected)) % chunk == 0
                if dice.random() < 0.5 and not cuts:
                    schunk = blosc2.open(path, mode="a")
                    schunk[begin:end] = news
                else:
                    with cairn.open(path, "r+", dtype="<i4").writer() as writer:
                        writer[begin:end] = news
                        if dice.random() < 0.6:
                            more = np.arange(dice.randint(1, 150), dtype="<i4")
                            writer.append(more)
                            expected = np.concatenate([expected, more])
                self.assert_same(cairn.open(path, dtype="<i4")[:], expected, sequence)
                self.assert_same(np.frombuffer(blosc2.open(path)[:], "<i4"), expected, sequence)

    def test_arrays_are_edited_in_turn(self):
        for sequence in range(SEQUENCES // 2):
            dice = random.Random(2000 + sequence)
            path = self.path(f"{sequence}.b2nd")
            shape = [dice.randint(1, (60, 20, 9)[i]) for i in range(dice.randint(1, 3))]
            dtype = np.dtype(dice.choice(DTYPES))
            expected = values(dice, shape, dtype)
            chunks = tuple(dice.randint(1, extent) for extent in shape)
            if dice.random() < 0.5:
                blosc2.asarray(expected, chunks=chunks, urlpath=path, mode="w", contiguous=dice.random() < 0.7)
            else:
                cairn.asarray(expected, path, chunks=chunks, sparse=dice.random() < 0.3)
            for _ in range(dice.randint(2, 5)):
                key = tuple(slice(a, dice.randint(a, n)) for a, n in ((dice.randint(0, n), n) for n in expected.shape))
                news = values(dice, expected[key].shape, dtype)
                larger = [extent + dice.choice([0, 0, 3]) for extent in expected.shape]
                grown = np.zeros(larger, dtype)
                grown[tuple(slice(0, extent) for extent in expected.shape)] = expected
                grown[key] = news
                expected = grown
                if dice.random() < 0.5:
                    array = blosc2.open(path, mode="a")
                    array.resize(larger)
                    array[key] = news
                else:
                    with cairn.open(path, "r+").writer() as writer:
                        writer.resize(larger)
                        writer[key] = news
                self.assert_same(cairn.open(path)[...], expected, sequence)
                self.assert_same(blosc2.open(path)[...], expected, sequence)
