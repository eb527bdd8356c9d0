"""Frames through the package `cairn`."""

import asyncio
import errno
import gc
import inspect
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest

from support import PackageTest, cairn, np

RECORD = [("when", "<M8[ms]"), ("what", "<U5"), ("values", "<f4", (3,))]


class FrameTest(PackageTest):
    def test_asarray_copies_no_large_part_of_its_source_at_once(self):
        class Source:
            """Zeros of more bytes than memory has room for, as a file of another format gives them."""

            def __init__(self, shape):
                self.shape, self.dtype, self.most = shape, np.dtype("f8"), 0

            def __getitem__(self, key):
                key = key if isinstance(key, tuple) else (key,)
                key = key + (slice(None),) * (len(self.shape) - len(key))
                shape = [len(range(*one.indices(size))) for one, size in zip(key, self.shape)]
                self.most = max(self.most, 8 * int(np.prod(shape)))
                return np.zeros(shape)

        done = []
        for shape, chunks in (((10, 50_000_000), (10, 10_000)), ((4, 1000, 20_000), (1, 1000, 100)), ((30_000_000,), (1000,))):
            with self.subTest(shape=shape):
                source = Source(shape)
                frame = cairn.asarray(source, self.path(), chunks=chunks, overwrite=True, progress=done.append)
                self.assertLessEqual(source.most, 32 << 20)
                self.assertEqual((frame.shape, done[-1]), (shape, frame.info.nchunks))
                self.assertEqual(done, sorted(done))
                done.clear()

    def test_progress_of_asarray_can_stop_it(self):
        def stop(done):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            cairn.asarray(np.zeros(100), self.path(), progress=stop)
        self.assertEqual(os.listdir(self.folder), [])

    def test_modes_open_change_and_make(self):
        path = self.path()
        with self.assertRaises(FileNotFoundError):
            cairn.open(path)
        with self.assertRaises(cairn.NotFound):
            cairn.open(path, "r+")
        with cairn.open(path, "a", dtype="<i2", shape=(3,)) as made:
            made[1] = 5
        self.assertEqual(cairn.open(path, "a", dtype="<i2", shape=(9,))[:].tolist(), [0, 5, 0])
        with self.assertRaises(FileExistsError):
            cairn.open(path, "x")
        with self.assertRaises(cairn.FailedPrecondition):
            cairn.open(path)[0] = 1
        self.assertEqual(cairn.open(path, "w", dtype="<f8").shape, (0,))
        for wrong in ("rw", "", "b"):
            with self.assertRaises(ValueError):
                cairn.open(path, wrong)
        with self.assertRaises(TypeError):
            cairn.open(path, "r", shape=(3,))

    def test_every_plain_type_comes_back(self):
        for name in ("?", "u1", "<i8", ">i4", "<f2", ">f8", "<c16", "S3", "<U7", "<M8[ns]", "<m8[s]", "V5"):
            with self.subTest(dtype=name):
                items = np.frombuffer(os.urandom(np.dtype(name).itemsize * 9), "u1")
                items = (items % 2 if name == "?" else items).view(name) if name != "<U7" else np.array(["snow", ""] * 4, name)
                path = self.path()
                cairn.asarray(items, path, overwrite=True)
                self.assert_same(cairn.open(path)[:], items)

    def test_records_come_back_with_their_fields(self):
        items = np.zeros(10, RECORD)
        items["what"] = "rain"
        items["values"] = np.arange(30).reshape(10, 3)
        path = self.path()
        frame = cairn.asarray(items, path)
        frame.append(items[:2])
        read = cairn.open(path)
        self.assertEqual(read.dtype, np.dtype(RECORD))
        self.assert_same(read["values"], np.concatenate([items, items[:2]])["values"])
        self.assert_same(read[3:5], items[3:5])
        self.assertEqual(read[["what"]].dtype.names, ("what",))
        for dtype in (np.dtype(RECORD, align=True), np.dtype({"names": ["x"], "formats": ["<i4"], "offsets": [4], "itemsize": 12})):
            cairn.asarray(np.zeros(3, dtype), path, overwrite=True)
            self.assertEqual(cairn.open(path).dtype, dtype)

    def test_aligned_records_in_others_keep_their_fields(self):
        # NumPy does not read back the text that it makes of these.
        aligned = np.dtype([("a", "<i2"), ("b", "S11")], align=True)
        packed = np.dtype([("u", "u1"), ("h", "<f8")])
        for given in (
            np.dtype([("in", aligned), ("t", "<i8")]),
            np.dtype([("in", aligned, (2, 3)), ("t", "<i8")]),
            np.dtype([("a", "<i4"), ("in", packed), ("b", "<i8")], align=True),
            np.dtype([("a", "<i8"), ("in", np.dtype([("x", aligned), ("y", packed)]))], align=True),
        ):
            items = np.frombuffer(bytes(i % 251 for i in range(30 * given.itemsize)), given)
            for codec in ("zstd", "auto"):
                with self.subTest(dtype=given, codec=codec):
                    frame = cairn.asarray(items, self.path(), overwrite=True, codec=codec)
                    frame.append(items[:4])
                    read = cairn.open(self.path())
                    self.assertEqual(read.dtype, given)
                    self.assertEqual(read[...].tobytes(), items.tobytes() + items[:4].tobytes())

    def test_fields_of_record_arrays_keep_their_names_and_types(self):
        # NumPy writes the class of such a type, which no reader of the metalayer takes for one.
        plain = np.dtype([("at", "<M8[us]"), ("x", "<f8")])
        nested = np.dtype([("one", plain), ("two", plain, (2,))])
        gaps = np.dtype({"names": ["b", "a"], "formats": ["<i2", "<f4"], "offsets": [6, 0], "itemsize": 12})
        record = lambda dtype: np.dtype((np.record, dtype))  # noqa: E731
        for given, expected in (
            (record(plain), plain),
            (record(gaps), gaps),
            (record(np.dtype([("a", "i1"), ("b", "<f8")], align=True)), np.dtype([("a", "i1"), ("b", "<f8")], align=True)),
            (np.dtype([("one", record(plain)), ("two", record(plain), (2,))]), nested),
            (record([("one", record(plain)), ("two", record(plain), (2,))]), nested),
            (np.dtype([(("the title", "a"), "<i4")]), np.dtype([(("the title", "a"), "<i4")])),
        ):  # fmt: skip
            items = np.frombuffer(bytes(range(3 * given.itemsize)), given)
            for make in (lambda path: cairn.asarray(items, path, overwrite=True), self._appended(items)):
                with self.subTest(dtype=given):
                    frame = make(self.path())
                    for one in (frame, cairn.open(self.path()), cairn.open(self.path(), dtype=given)):
                        self.assertEqual((one.dtype, one.dtype.type), (expected, np.void))
                        self.assertEqual(str(one.dtype), str(expected))
                        self.assertEqual([one[name].tolist() for name in expected.names],
                                         [items.view(expected)[name].tolist() for name in expected.names])  # fmt: skip
        numbers = np.arange(3, dtype="<i4").view(np.dtype((np.int32, {"low": ("<i2", 0), "high": ("<i2", 2)})))
        cairn.asarray(numbers, self.path(), overwrite=True).append(numbers)
        self.assert_same(cairn.open(self.path())[:], np.array([0, 1, 2, 0, 1, 2], "<i4"))

    @staticmethod
    def _appended(items):
        def make(path):
            frame = cairn.create(path, dtype=items.dtype, overwrite=True)
            frame.append(items[:2])
            frame.append(items[2:])
            return frame

        return make

    def test_arrays_are_not_opened_as_items_of_another_type(self):
        for said, others in (
            ("<i8", ("<f8", "<u8", ">i8", "<M8[s]", "S8", "V8", [("a", "<i4"), ("b", "<i4")])),
            ("u1", ("i1", "?", "S1", "V1")),
            ([("a", "<i4"), ("b", "<f4")], ("<i8", [("b", "<i4"), ("a", "<f4")], [("a", "<f4"), ("b", "<i4")])),
        ):
            frame = cairn.create(self.path(), (3,), said, overwrite=True)
            for mode in ("r", "r+", "a"):
                self.assertEqual(cairn.open(self.path(), mode, dtype=said).dtype, np.dtype(said))
                for other in others:
                    with self.assertRaisesRegex(ValueError, "items of type .* are not .*give no dtype"):
                        cairn.open(self.path(), mode, dtype=other)
                    with self.assertRaises(ValueError):
                        cairn.open(frame.to_bytes(), dtype=other)
            self.assertFalse(frame.refresh())
        raw = cairn.asarray(np.arange(3.0).view("V8"), self.path(), overwrite=True)
        self.assertEqual(raw.dtype, np.dtype("V8"))
        self.assertEqual(cairn.open(self.path(), dtype="<f8")[:].tolist(), [0, 1, 2])

    def test_types_that_are_no_bytes_are_refused(self):
        for dtype in ("O", [("a", "O")], "V0", "S0"):
            with self.assertRaises(ValueError, msg=dtype):
                cairn.create(None, (3,), dtype)

    def test_no_file_makes_numpy_follow_pointers(self):
        from cairn import options

        hostile = [b"O", b"|O", b"[('a', 'O')]", b"[" * 5000, b"{'names'", b"\xff", b"", b"<f8,O",
                   b"(2,)<f4", b"<U999999999999", b"{'names': ['a'], 'formats': ['O'], 'itemsize': 8}"]  # fmt: skip
        for text in hostile:
            with self.subTest(text=text[:40]):
                self.assertEqual(options.parse_dtype(text, 8), np.dtype("V8"))

    def test_plain_frames_have_the_type_that_the_user_says(self):
        path = self.path("plain.b2frame")
        frame = cairn.create(path, None, "<f8")
        frame.append([1.0, 2.0, 3.0])
        self.assertFalse(frame.is_array)
        self.assertEqual(frame[1:].tolist(), [2, 3])
        self.assertEqual(cairn.open(path).dtype, np.dtype("V8"))
        again = cairn.open(path, "r+", dtype="<f8")
        self.assertEqual(again[-1], 3)
        again.append(np.array([4, 5], "<f4"))
        self.assertEqual(again[::2].tolist(), [1, 3, 5])
        with self.assertRaises(ValueError):
            cairn.open(path, dtype="<f4")
        with self.assertRaisesRegex(TypeError, "float32 does not fit items of 8 bytes"):
            cairn.open(path, "r+").append(np.ones(3, "<f4"))

    def test_bytes_can_be_read_as_items_of_any_type(self):
        path = self.path("bytes.b2frame")
        frame = cairn.create(path, None)
        frame.append(np.arange(100, dtype="<f8").tobytes())
        frame.append(b"odd")
        self.assertEqual((frame.dtype, frame.shape), (np.uint8, (803,)))
        read = cairn.open(path, "r+", dtype="<f8")
        self.assertEqual(read.shape, (100,))
        self.assertEqual(read[::33].tolist(), [0, 33, 66, 99])
        read[5:7] = [-1, -2]
        self.assertEqual(read[4:8].tolist(), [4, -1, -2, 7])

    def test_raw_items_take_any_array_of_their_size(self):
        frame = cairn.create(None, None, "V8")
        frame.append(np.arange(3.0))
        self.assertEqual(frame[:].view("<f8").tolist(), [0, 1, 2])

    def test_array_of_many_dimensions_grows_along_any_axis(self):
        items = np.arange(24, dtype="<i4").reshape(4, 6)
        path = self.path()
        frame = cairn.asarray(items, path, chunks=(3, 4), blocks=(2, 2))
        self.assertEqual((frame.chunks, frame.blocks, frame.ndim, frame.size), ((3, 4), (2, 2), 2, 24))
        frame.append(items[:2])
        frame.append(items[0])
        frame.append(np.full((7, 2), 9, "<i4"), axis=1)
        expected = np.hstack([np.vstack([items, items[:2], items[:1]]), np.full((7, 2), 9, "<i4")])
        self.assert_same(cairn.open(path)[:], expected)
        frame.resize((2, 3))
        frame.resize((3, 3))
        self.assert_same(frame[:], np.vstack([items[:2, :3], np.zeros((1, 3), "<i4")]))
        with self.assertRaises(ValueError):
            frame.append(np.zeros((2, 2), "<i4"))

    def test_slices_without_items_make_an_array_longer(self):
        for shape, more, axis in (((5, 0), (2, 0), 0), ((0, 3), (0, 2), 1), ((0, 3), (0, 2), -1), ((2, 0, 3), (2, 0, 4), 2),
                                  ((0, 0), (7, 0), 0), ((0,), (0,), 0), ((0, 3), (0, 3), 0), ((4, 2), (0, 2), 0)):  # fmt: skip
            for way in ("frame", "writer"):
                with self.subTest(shape=shape, axis=axis, way=way):
                    frame = cairn.create(self.path(), shape, "<i4", chunks=[2] * len(shape), overwrite=True)
                    items = np.zeros(more, "<i4")
                    if way == "frame":
                        frame.append(items, axis)
                    else:
                        with frame.writer() as writer:
                            writer.append(items, axis)
                    expected = np.concatenate([np.zeros(shape, "<i4"), items], axis)
                    self.assert_same(frame[...], expected)
                    self.assert_same(cairn.open(self.path())[...], expected)

    def test_numbers_are_never_cut_silently(self):
        frame = cairn.create(None, (0,), "<i4")
        for wrong in (np.array([1.5]), [1.5], 1.5, [1, 2.0], np.float32(1), [1j]):
            with self.assertRaises(TypeError, msg=wrong):
                frame.append(wrong)
        with self.assertRaises(TypeError):
            cairn.create(None, (0,), "<f8").append([1j])
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
            with self.assertRaises(OverflowError):
                cairn.create(None, (0,), "u1").append([256])
        frame.append([])
        frame.append([1, 2])
        frame.append(np.array([3], "<i2"))
        self.assertEqual(frame[:].tolist(), [1, 2, 3])

    def test_codecs_filters_and_layouts_keep_the_data(self):
        items = np.arange(5000, dtype="<f4")
        for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
            for filters in ((), ("shuffle",), ("bitshuffle",), ("delta", "shuffle"), (("bytedelta", 4),)):
                frame = cairn.asarray(items, codec=codec, filters=filters, clevel=9)
                self.assertEqual(frame.info.codec, codec)
                self.assert_same(frame[:], items)
        sparse = cairn.asarray(items, self.path("d"), sparse=True)
        self.assertTrue(os.path.isdir(sparse.path))
        self.assertEqual(sparse.info.layout, "sparse")
        self.assert_same(cairn.open(self.path("d"))[:], items)
        for wrong in ({"codec": "x"}, {"filters": ["x"]}):
            with self.assertRaises(cairn.InvalidArgument):
                cairn.create(None, **wrong)

    def test_shapes_axes_and_waits_may_be_of_any_kind(self):
        many, two = np.int64(5), np.array([5, 6])
        self.assertEqual(cairn.create(None, many, chunks=many, blocks=np.uint8(2)).shape, (5,))
        frame = cairn.create(None, two, "<i4", chunks=two // 2)
        self.assertEqual((frame.shape, frame.chunks), ((5, 6), (2, 3)))
        for shape in (two + 1, (many, 6), [5, 6], (6, many)):
            frame.resize(shape)
        self.assertEqual(frame.shape, (6, 5))
        frame.append(np.ones((6, 2), "<i4"), axis=-1)
        frame.append(np.ones((1, 7), "<i4"), axis=-2)
        self.assertEqual((frame.shape, frame[:].sum()), ((7, 7), 19))
        for axis in (2, -3):
            with self.assertRaises((ValueError, cairn.OutOfRange)):
                frame.append(np.ones((7, 1), "<i4"), axis=axis)
        for wait in (-1, 0, 1e-9, 1e300, float("inf"), np.float32(0.5)):
            frame.writer(wait=wait).close()
        with self.assertRaises(ValueError):
            frame.writer(wait=float("nan"))
        with self.assertRaises(ValueError):
            cairn.create(self.path(), threads=-1)
        self.assertFalse(os.path.exists(self.path()))

    def test_paths_with_zero_bytes_lead_nowhere(self):
        cairn.create(self.path())
        for call in (cairn.open, cairn.create, lambda path: cairn.open(path, "a")):
            with self.assertRaisesRegex(ValueError, "zero byte"):
                call(self.path() + "\0x")
        self.assertEqual(os.listdir(self.folder), ["a.b2nd"])

    def test_an_empty_path_leads_nowhere(self):
        # Not to the working directory, which may be a sparse frame, and would be replaced.
        here = self.path("sparse")
        cairn.asarray([1, 2], here, sparse=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(here)
        log = {"time": "M8[s]", "v": "f4"}
        for path in ("", b""):
            for call in (
                cairn.open, cairn.create, lambda path: cairn.open(path, "r+"), lambda path: cairn.open(path, "a"),
                lambda path: cairn.open(path, "w"), lambda path: cairn.create(path, overwrite=True),
                lambda path: cairn.asarray([3], path, overwrite=True), cairn.Log.open,
                lambda path: cairn.Log.create(path, log), lambda path: cairn.asarray([3]).backup(path, overwrite=True),
            ):  # fmt: skip
                with self.assertRaisesRegex(cairn.NotFound, "path: is empty"):
                    call(path)
        self.assertEqual(cairn.open(here)[:].tolist(), [1, 2])

    def test_takes_anything_that_looks_like_an_array(self):
        self.assertEqual(cairn.asarray([[1, 2], [3, 4]])[1].tolist(), [3, 4])
        self.assertEqual(cairn.asarray(range(5), dtype="<i2")[:].tolist(), [0, 1, 2, 3, 4])
        fortran = np.asfortranarray(np.arange(600).reshape(20, 30))
        frame = cairn.asarray(fortran[::-1, ::3], chunks=(7, 3))
        self.assert_same(frame[:], np.ascontiguousarray(fortran[::-1, ::3]))
        self.assertIs(cairn.asarray(frame), frame)
        self.assert_same(cairn.asarray(frame, chunks=(4, 4))[:], frame[:])
        self.assert_same(np.asarray(frame), frame[:])
        self.assertEqual((np.asarray(frame, "<f4") + frame).dtype, np.float64)

    def test_other_threads_run_while_data_is_read(self):
        frame = cairn.asarray(np.random.default_rng(1).random(1 << 21), codec="zlib", clevel=1)
        threads = [threading.Thread(target=lambda: self.assertEqual(len(frame[:]), 1 << 21)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def test_threads_share_a_writer(self):
        frame = cairn.create(self.path("plain"), None, "<i4")
        with frame.writer() as writer:
            def add(number):
                for _ in range(50):
                    writer.append(np.full(10, number, "<i4"))
                    writer.commit(durable=False)

            threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(np.bincount(frame[:]).tolist(), [500] * 4)

    def test_threads_share_frames_and_everything_of_them(self):
        path = self.path()
        frames = [cairn.create(path, (0,), "<i8", chunks=(64,)), cairn.open(path, "r+")]
        rounds, failures, done = 30, [], threading.Event()

        def wait_for_turn(edit):
            while True:
                try:
                    return edit()
                except cairn.Unavailable:  # the other frame's
                    time.sleep(0.0005)

        def write(number):
            frame = frames[number % 2]
            for step in range(rounds):
                wait_for_turn(lambda: frame.append([number] * 5))
                if step % 10 == 0:
                    wait_for_turn(lambda: frame.vlmeta.__setitem__(f"v{number}", bytes([step])))

        def read(frame):
            while not done.is_set():
                now = frame.snapshot()
                items = now[:]
                # Whole edits, of which a snapshot has each writer's first ones.
                assert (items.reshape(-1, 5) == items[::5, None]).all()
                assert (np.bincount(items, minlength=4) <= 5 * rounds).all()
                if len(items):
                    assert now[-1] == items[-1] and (now[[0, -1]] == items[[0, -1]]).all()
                frame.refresh()
                assert len(frame) >= len(now)
                assert frame.info.nbytes >= 8 * len(now)
                dict(frame.vlmeta), frame.history, repr(frame)
                cairn.open(path)[-1:]

        def run(call, *arguments):
            try:
                call(*arguments)
            except BaseException as error:  # noqa: BLE001: of a thread
                failures.append(error)

        writers = [threading.Thread(target=run, args=(write, number)) for number in range(4)]
        readers = [threading.Thread(target=run, args=(read, frame)) for frame in frames for _ in range(2)]
        for thread in readers + writers:
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        for thread in readers:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(np.bincount(cairn.open(path)[:]).tolist(), [5 * rounds] * 4)
        self.assertEqual(dict(cairn.open(path).vlmeta), {f"v{number}": b"\x14" for number in range(4)})

    def test_refresh_does_not_go_back_behind_what_a_thread_commits_meanwhile(self):
        class Engine:
            def __getattr__(self, name):
                return getattr(engine, name)

            def refresh(self):
                frame._engine = engine
                found = engine.refresh()
                thread = threading.Thread(target=frame.append, args=([2],))
                thread.start()
                thread.join()
                return found

        frame = cairn.create(self.path(), dtype="<i4")
        cairn.open(self.path(), "r+").append([1])
        engine = frame._engine
        frame._engine = Engine()
        frame.refresh()
        self.assertEqual(frame[:].tolist(), [1, 2])

    def test_threads_of_the_engine_read_the_same(self):
        items = np.arange(1 << 18)
        path = self.path()
        cairn.asarray(items, path, threads=0)
        self.assert_same(cairn.open(path, threads=2)[:], items)

    @unittest.skipIf((os.cpu_count() or 1) < 2, "one core")
    def test_threads_compress_what_is_made(self):
        for path in ("None", repr(self.path())):
            script = f"""
import cairn, numpy as np, os
items = np.arange(1 << 21)
cairn.asarray(items[:9])
before = len(os.listdir("/proc/self/task"))
frame = cairn.asarray(items, {path}, threads=2)
assert len(os.listdir("/proc/self/task")) > before
assert (frame[:] == items).all()"""
            subprocess.run([sys.executable, "-c", script], check=True)

    def test_metadata_are_mappings_of_bytes(self):
        path = self.path()
        frame = cairn.create(path, meta={"fixed": b"12345"})
        frame.meta["fixed"] = b"54321"
        frame.vlmeta["free"] = b"x" * 10_000
        frame.vlmeta["gone"] = bytearray(b"?")
        del frame.vlmeta["gone"]
        read = cairn.open(path)
        self.assertEqual(read.meta["fixed"], b"54321")
        self.assertEqual(set(read.meta), {"fixed", "b2nd"})
        self.assertEqual(dict(read.vlmeta), {"free": b"x" * 10_000})
        for broken in (lambda: read.vlmeta["none"], lambda: read.meta["none"], lambda: frame.vlmeta.pop("none")):
            with self.assertRaises(KeyError):
                broken()
        with self.assertRaises(TypeError):
            read.vlmeta["free"] = b""
        with self.assertRaises(KeyError):
            frame.meta["none"] = b""
        with self.assertRaises(cairn.InvalidArgument):
            frame.meta["fixed"] = b"longer than it was"

    def test_names_may_be_any_bytes(self):
        path = os.fsdecode(os.fsencode(self.folder) + b"/f\xff")
        frame = cairn.create(path)
        frame.vlmeta["\udcff\udcfe"] = b"1"
        self.assertEqual(dict(cairn.open(path).vlmeta), {"\udcff\udcfe": b"1"})
        with self.assertRaisesRegex(cairn.AlreadyExists, "\udcff"):
            cairn.create(path)

    def test_follows_what_another_handle_commits(self):
        path = self.path()
        writing = cairn.create(path, dtype="<i4")
        reading = cairn.open(path)
        before = reading.snapshot()
        self.assertFalse(reading.refresh())
        writing.append([1, 2])
        self.assertEqual(len(reading), 0)
        self.assertTrue(reading.refresh())
        self.assertEqual(reading[:].tolist(), [1, 2])
        self.assertEqual(len(before), 0)
        self.assertNotEqual(before, reading.snapshot())
        self.assertEqual(reading.snapshot(), reading.snapshot())

    def test_refresh_waits_for_a_commit(self):
        path = self.path()
        writing = cairn.create(path, dtype="<i4")
        reading = cairn.open(path)
        self.assertFalse(reading.refresh(wait=0.02))
        thread = threading.Timer(0.02, writing.append, [[1, 2]])
        thread.start()
        while len(reading) == 0:
            self.assertTrue(reading.refresh(wait=60))
        thread.join()
        self.assertEqual(reading[:].tolist(), [1, 2])

    def test_follow_yields_what_is_appended(self):
        path = self.path()
        writing = cairn.create(path, dtype="<i4")
        writing.append([0])

        def write():
            for number in range(1, 6):
                writing.append([number] * number)

        for start, expected in ((None, 15), (0, 16)):
            with self.subTest(start=start):
                writing.resize(1)
                follower = cairn.open(path).follow(start, poll=0.005, timeout=60)
                thread = threading.Thread(target=write)
                thread.start()
                got = []
                for items in follower:
                    got += items.tolist()
                    if len(got) >= expected:
                        break
                thread.join()
                self.assertEqual(len(got), expected)
                self.assertEqual(got[-5:], [5] * 5)
        self.assertEqual(list(cairn.open(path).follow(timeout=0.01)), [])

    def test_follow_is_an_async_iterator(self):
        path = self.path()
        writing = cairn.create(path, dtype="<i4")

        async def read():
            got = []
            async for items in cairn.open(path).follow(0, poll=0.005, timeout=60):
                got += items.tolist()
                if len(got) >= 3:
                    break
            return got, [items async for items in cairn.open(path).follow(timeout=0.01)]

        async def both():
            task = asyncio.create_task(read())
            await asyncio.to_thread(writing.append, [1, 2, 3])
            return await task

        self.assertEqual(asyncio.run(both()), ([1, 2, 3], []))

    def test_single_edits_let_others_write_in_between(self):
        for sparse in (False, True):
            with self.subTest(sparse=sparse):
                path = self.path(f"{sparse}")
                one = cairn.create(path, dtype="<i4", sparse=sparse)
                two = cairn.open(path, "r+")
                for number in range(0, 40, 4):
                    one.append([number])
                    two.append([number + 1, 0])
                    one[-1] = number + 2
                    with two.writer() as writer:
                        writer.append([number + 3])
                two.compact()
                one.append([40])
                two.append([41])
                self.assertEqual(cairn.open(path)[:].tolist(), list(range(42)))

    def test_single_edits_that_fail_change_nothing_and_let_others_write(self):
        path = self.path()
        frame = cairn.create(path, (0, 3), "<i4")
        other = cairn.open(path, "r+")
        frame.append(np.zeros((1, 3), "<i4"))
        for wrong in (lambda: frame.append(np.zeros((1, 2), "<i4")), lambda: frame.__setitem__(9, 1)):
            with self.assertRaises((ValueError, IndexError)):
                wrong()
            other.append(np.ones((1, 3), "<i4"))
            frame.append(np.ones((1, 3), "<i4"))
        with other.writer():
            with self.assertRaises(cairn.Unavailable):
                frame.append(np.ones((1, 3), "<i4"))
        frame.append(np.ones((1, 3), "<i4"))
        self.assertEqual(cairn.open(path)[:].sum(), 15)

    def test_single_edits_leave_a_checkpoint_where_that_is_cheap(self):
        for place in (self.path(), None):
            frame = cairn.create(place, dtype="<i4")
            for number in range(3):
                frame.append([number])
                frame.vlmeta["count"] = str(number).encode()
                self.assertEqual(frame.info.journal_size, 0)
            self.assertEqual((frame[:].tolist(), frame.vlmeta["count"]), ([0, 1, 2], b"2"))

    def test_closed_frames_keep_no_file_open(self):
        path = os.path.realpath(self.path())

        def opened():
            links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
            return sum(os.path.lexists(link) and os.readlink(link) == path for link in links)

        cairn.create(path, dtype="<i4").close()
        for leave in (lambda: frame.close(), lambda: cairn.open(path, "r+").append([3]) or frame.refresh()):
            frame = cairn.open(path, "r+")
            frame.append([1])
            held = opened()
            leave()
            gc.collect()
            self.assertLess(opened(), held)
            frame.close()
        del frame
        self.assertEqual(opened(), 0)

    def test_forked_processes_leave_a_writer_to_their_parent(self):
        path = self.path()
        script = f"""
import cairn, os
frame = cairn.create({path!r}, dtype="<i4")
frame.append([1])
child = os.fork()
if child == 0:
    try:
        frame.append([2])
    except cairn.FailedPrecondition:
        frame.close()
        os._exit(7)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
frame.append([3])"""
        subprocess.run([sys.executable, "-c", script], check=True)
        self.assertEqual(cairn.open(path)[:].tolist(), [1, 3])

    def test_older_generations_can_be_opened(self):
        path = self.path()
        frame = cairn.create(path, dtype="<i4")
        with frame.writer(keep_generations=10) as writer:
            for number in range(5):
                writer.append([number])
                writer.commit()
            for one in frame.history[-5:]:
                old = cairn.open(path, generation=one.generation)
                self.assertEqual(old.generation, one.generation)
                self.assertEqual(len(old), one.generation - frame.generation + 5)
        with self.assertRaises(cairn.Error):
            cairn.open(path, generation=10**6)

    def test_pickle_opens_the_same_file(self):
        path = self.path("plain")
        frame = cairn.create(path, None, "<i4")
        frame.append([1, 2, 3])
        for mode in ("r", "r+"):
            again = pickle.loads(pickle.dumps(cairn.open(path, mode, dtype="<i4", mmap=False)))
            self.assertEqual((again.mode, again.dtype, again[:].tolist()), (mode, np.dtype("<i4"), [1, 2, 3]))
        with self.assertRaises(TypeError):
            pickle.dumps(cairn.create(None))

    def test_verify_names_damage(self):
        path = self.path()
        frame = cairn.asarray(np.random.default_rng(2).random(4000), path, chunks=(1000,))
        done = []
        report = frame.verify(progress=done.append)
        self.assertTrue(report)
        self.assertTrue(report.sealed)
        self.assertEqual(done[-1], 4)
        frame.close()
        with open(path, "r+b") as file:
            file.seek(20_000)
            file.write(b"damage")
        damaged = cairn.open(path)
        report = damaged.verify()
        self.assertFalse(report)
        self.assertEqual([one.section for one in report.findings], ["chunk 2"])
        with self.assertRaisesRegex(cairn.DataLoss, "chunk 2"):
            damaged[2500]
        self.assertEqual(len(damaged[:2000]), 2000)

    def test_exceptions_of_callbacks_reach_the_caller(self):
        frame = cairn.asarray(np.zeros(4000), self.path(), chunks=(10,))

        def stop(done):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            frame.verify(progress=stop)
        with self.assertRaises(KeyboardInterrupt):
            frame.backup(self.path("copy"), progress=stop)
        self.assertFalse(os.path.exists(self.path("copy")))

    def test_backup_compact_and_bytes_keep_the_data(self):
        frame = cairn.asarray(np.arange(1000), self.path())
        for _ in range(5):
            frame[:] = np.arange(1000)
        before, after = frame.compact()
        self.assertLess(after, before)
        frame.backup(self.path("copy"))
        with open(self.path("bytes"), "wb") as file:
            file.write(frame.to_bytes())
        for name in ("copy", "bytes"):
            self.assert_same(cairn.open(self.path(name))[:], np.arange(1000))
        self.assertEqual(cairn.open(self.path("copy")).content_hash(), frame.content_hash())

    def test_attrs_say_which_layer_is_no_msgpack(self):
        frame = cairn.create(self.path())
        frame.attrs["fine"] = [1, {"a": None}]
        frame.vlmeta.raw["other"] = b"\xc1"
        self.assertEqual(frame.attrs["fine"], [1, {"a": None}])
        with self.assertRaisesRegex(ValueError, "other"):
            dict(frame.attrs)

    def test_paths_may_be_bytes(self):
        path = os.fsencode(self.path()) + b"\xff"
        cairn.asarray([1, 2], path).backup(path + b"2")
        self.assertEqual(cairn.open(path + b"2")[:].tolist(), [1, 2])

    def test_one_filter_needs_no_list(self):
        for filters in ("bitshuffle", ("bitshuffle",), [("bitshuffle", 0)]):
            self.assertEqual(cairn.create(filters=filters).info.filters, (("bitshuffle", 0),))

    def test_codecs_for_arrays_take_their_parameter(self):
        plane = np.arange(32 * 32, dtype="u1").reshape(32, 32) // 8
        with self.assertRaises(cairn.InvalidArgument):
            cairn.asarray(plane, codec="ndlz", filters=())
        frame = cairn.asarray(plane, codec="ndlz", codec_meta=4, filters=())
        self.assertEqual(frame.info.codec, "ndlz")
        self.assert_same(frame[:], plane)

    def test_filters_for_arrays_take_the_side_of_a_cell(self):
        plane = np.arange(32 * 32, dtype="f4").reshape(32, 32)
        for filters in (["ndcell"], [("ndmean", 200)]):
            with self.assertRaises(cairn.InvalidArgument):
                cairn.asarray(plane, filters=filters)
        self.assert_same(cairn.asarray(plane, filters=[("ndcell", 4), "shuffle"])[:], plane)
        means = plane.reshape(8, 4, 8, 4).mean((1, 3)).repeat(4, 0).repeat(4, 1)
        self.assert_same(cairn.asarray(plane, blocks=(16, 16), filters=[("ndmean", 4), "shuffle"])[:], means)

    def test_errors_that_python_has_have_their_number(self):
        with self.assertRaises(OSError) as caught:
            cairn.open(self.path("none"))
        self.assertEqual(caught.exception.errno, errno.ENOENT)
        self.assertIn("none", str(caught.exception))

    def test_errors_have_section_and_numbers(self):
        path = self.path()
        items = np.arange(1000)
        cairn.asarray(items, path, chunks=(100,))
        with open(path, "r+b") as file:
            offset = file.read().index(cairn.open(path).chunk(7))
            file.seek(offset + 40)
            file.write(b"damaged")
        with self.assertRaises(cairn.DataLoss) as caught:
            cairn.open(path)[:]
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((error.section, error.numbers[:2]), ("chunk", (7, offset)))
        with self.assertRaises(cairn.NotFound) as caught:
            cairn.open("nowhere")
        self.assertEqual((caught.exception.section, caught.exception.numbers), ("", ()))

    def test_errors_have_classes(self):
        path = self.path()
        with open(path, "wb") as file:
            file.write(b"text, no frame")
        with self.assertRaisesRegex(cairn.InvalidArgument, "not a Blosc2 frame") as caught:
            cairn.open(path)
        self.assertIsInstance(caught.exception, (cairn.Error, ValueError))
        frame = cairn.create(path, overwrite=True)
        with frame.writer():
            with self.assertRaises(cairn.Unavailable):
                frame.writer()
            with self.assertRaises(cairn.Unavailable):
                frame.append([1])
        frame.close()
        with self.assertRaises(cairn.FailedPrecondition):
            frame[:]
        self.assertIn("closed", repr(frame))

    def test_representations_say_what_is_there(self):
        frame = cairn.create(None, (100, 100), [("<x>", "<f8")], chunks=(10, 100))
        frame[:30] = np.ones((30, 100)).view([("<x>", "<f8")])
        self.assertIn("shape=(100, 100)", repr(frame))
        page = frame._repr_html_()
        self.assertEqual(page.count("<rect"), 10)
        self.assertIn("zeros", page)
        self.assertNotIn("<x>", page)
        self.assertIn("lz4", str(frame.info))

    def test_everything_public_is_documented(self):
        self.assertIn("asarray", cairn.__doc__)
        for name in cairn.__all__:
            one = getattr(cairn, name)
            self.assertTrue(name.startswith("_") or inspect.getdoc(one), name)
            for member, body in vars(one).items() if inspect.isclass(one) else ():
                if callable(body) and not member.startswith("_"):
                    self.assertTrue(inspect.getdoc(body), (name, member))

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "AddressSanitizer keeps freed memory")
    def test_calls_leak_no_memory(self):
        frame = cairn.asarray(np.arange(10_000.0), self.path())
        frame.vlmeta["a"] = b"1"

        def calls(count):
            for _ in range(count):
                frame[5], frame[3:9], frame.info, frame.vlmeta["a"], frame.refresh()
                try:
                    frame.vlmeta.raw._read().read_chunk(99)
                except IndexError:
                    pass
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        before = calls(2000)
        self.assertLess(calls(170_000) - before, 1 << 20)  # a million calls


class WriterTest(PackageTest):
    def test_commits_at_the_end_and_drops_after_an_exception(self):
        frame = cairn.create(self.path(), dtype="<i4")
        with frame.writer() as writer:
            writer.append([1])
        with self.assertRaises(ZeroDivisionError):
            with frame.writer() as writer:
                writer.append([2])
                1 / 0
        self.assertEqual(frame[:].tolist(), [1])

    def test_no_reader_sees_what_is_staged(self):
        frame = cairn.create(self.path(), dtype="<i4")
        with frame.writer() as writer:
            writer.append([1, 2, 3])
            self.assertEqual((len(writer), len(frame)), (3, 0))
            self.assertEqual(writer[1], 2)
            committed = writer.commit()
            self.assertEqual(committed[:].tolist(), frame[:].tolist())
            writer[0] = 9
            writer.rollback()
            self.assertEqual(writer[0], 1)

    def test_edits_chunks_of_plain_frames(self):
        frame = cairn.create(self.path(), None, "<i4", chunksize=16)
        with frame.writer() as writer:
            writer.append(range(12))
            writer.delete_chunks(1)
            writer.insert_chunk(0, [7, 7, 7, 7])
            writer.update_chunk(2, [5, 5, 5, 5])
            writer.append_special("zeros", 4)
            writer.append_chunk(writer.chunk(0))
        self.assertEqual(frame[:].tolist(), [7] * 4 + [0, 1, 2, 3] + [5] * 4 + [0] * 4 + [7] * 4)
        self.assertEqual(frame.read_chunk(0), np.full(4, 7, "<i4").tobytes())

    def test_limits_the_size_of_the_file(self):
        frame = cairn.create(self.path(), None, "u1")
        with self.assertRaises(cairn.ResourceExhausted):
            with frame.writer(max_file_size=100_000) as writer:
                writer.append(os.urandom(200_000))
        self.assertEqual(len(frame), 0)

    def test_waits_for_another_writer(self):
        path = self.path()
        frame = cairn.create(path, dtype="<i4")
        other = cairn.open(path, "r+")
        writer = frame.writer()
        threading.Timer(0.05, writer.close).start()
        with other.writer(wait=30) as second:
            second.append([1])
        self.assertEqual(len(other), 1)

    def test_killed_process_leaves_what_it_committed(self):
        path = self.path()
        cairn.create(path, dtype="<i4")
        script = f"""
import cairn, os
writer = cairn.open({path!r}, "r+").writer()
writer.append([1, 2]); writer.commit(); writer.append([3])
os._exit(9)"""
        subprocess.run([sys.executable, "-c", script], check=False)
        self.assertEqual(cairn.open(path)[:].tolist(), [1, 2])

    def test_failed_writers_let_others_write(self):
        path = self.path()
        frame = cairn.create(path, (10,), "<i4")
        kept = []
        try:
            with frame.writer() as writer:
                writer[2] = 5
                writer[:] = range(3)
        except ValueError as error:
            kept.append(error)  # and with it all local variables of the package
        try:
            with frame.writer(max_file_size=frame.info.frame_size) as writer:
                writer.resize(100_000)
                writer[:] = np.random.default_rng(1).integers(0, 2**30, 100_000)
        except cairn.ResourceExhausted as error:
            kept.append(error)
        self.assertEqual(len(kept), 2)
        with cairn.open(path, "r+").writer() as writer:
            writer[0] = 1
        frame.refresh()
        self.assertEqual(frame[:4].tolist(), [1, 0, 0, 0])

    def test_closed_writers_say_so(self):
        frame = cairn.create(self.path(), dtype="<i4")
        with frame.writer() as writer:
            writer.close()
        for call in (lambda: writer.append([1]), writer.commit, writer.__enter__):
            with self.assertRaises(cairn.FailedPrecondition):
                call()

    def test_items_of_closed_writers_end_with_an_error_that_says_so(self):
        with cairn.create(self.path(), (100,), "<i4", chunks=(10,)).writer() as writer:
            items = iter(writer)
            next(items)
        with self.assertRaisesRegex(cairn.FailedPrecondition, "closed"):
            list(items)

    def test_writers_commit_after_their_frame_was_closed(self):
        path = self.path()
        frame = cairn.create(path, dtype="<i4")
        with frame.writer() as writer:
            writer.append([1, 2])
            frame.close()
        self.assertEqual(cairn.open(path)[:].tolist(), [1, 2])
        with self.assertRaises(cairn.FailedPrecondition):
            frame.append([3])
