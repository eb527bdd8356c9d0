"""Exceptions of the package are its own, name the file, and stay short; frames open from bytes."""

import os
import pickle
import unittest

from support import PackageTest, blosc2, cairn, needs_blosc2, np

LARGE = 2**63


class ErrorsTest(PackageTest):
    def assert_ours(self, call, names, kind):
        with self.assertRaises(kind) as caught:
            call()
        error = caught.exception
        self.assertIsInstance(error, cairn.Error)
        self.assertIn(names, str(error))
        self.assertLess(len(str(error)), 400)
        self.assertNotIn("incompatible function arguments", str(error))
        self.assertNotIn("\n", str(error))

    def test_options_of_new_frames_are_refused_by_name(self):
        for path in (None, self.path()):
            where = path or "frame in memory"
            for what, wrong, kind in (
                ("chunks", 2**31, ValueError), ("chunks", -1, ValueError), ("chunks", "x", TypeError), ("blocks", 2**40, ValueError),
                ("blocks", (1.5,), TypeError), ("chunksize", 2**31, ValueError), ("chunksize", -1, ValueError), ("chunksize", None, TypeError),
                ("blocksize", -1, ValueError), ("blocksize", 2**70, ValueError), ("clevel", 2**31, ValueError), ("clevel", "9", TypeError),
                ("shape", LARGE, ValueError), ("shape", (3, -1), ValueError), ("shape", 1.5, TypeError), ("threads", -1, ValueError), ("threads", 2**31, ValueError),
                ("dtype", "no such type", TypeError), ("codec", "x", ValueError), ("filters", ["x"], ValueError), ("filters", 5, TypeError),
                ("raw_meta", {"a": 5}, TypeError), ("meta", {"a": object()}, TypeError), ("meta", {5: b""}, TypeError), ("codec_meta", "x", TypeError),
            ):  # fmt: skip
                with self.subTest(path=path, what=what, wrong=wrong):
                    self.assert_ours(lambda: cairn.create(path, **{what: wrong}), where, kind)
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_of_opening_and_writing_are_refused_by_name(self):
        path = self.path()
        frame = cairn.create(path, dtype="<i4")
        for wrong in ({"generation": -1}, {"generation": 2**64}, {"generation": "7"}, {"threads": -1}, {"threads": 2**31}, {"verify": "x"}, {"dtype": "no type"}, {"dtype": "<f8"}):
            with self.subTest(wrong=wrong):
                self.assert_ours(lambda: cairn.open(path, **wrong), path, ValueError)
        for wrong in ({"keep_generations": -1}, {"keep_generations": 2**31}, {"max_file_size": LARGE}, {"wait": float("nan")}, {"wait": "x"}):
            with self.subTest(wrong=wrong):
                self.assert_ours(lambda: frame.writer(**wrong), path, ValueError)
        self.assert_ours(lambda: cairn.open(path, "r", shape=(3,)), path, TypeError)

    def test_edits_and_reads_name_the_file(self):
        path = self.path()
        for frame in (cairn.create(path, (4, 3), "<i4"), cairn.create(None, (4, 3), "<i4")):
            where = frame.path or "frame in memory"
            writer = frame.writer()
            for call, kind in (
                (lambda: frame[9], IndexError), (lambda: frame[0, 0, 0], IndexError), (lambda: frame["x"], IndexError), (lambda: frame[object()], IndexError),
                (lambda: frame[[1.5]], IndexError), (lambda: frame.chunk(9), IndexError), (lambda: frame.chunk(2**70), OverflowError), (lambda: frame.chunk("x"), TypeError),
                (lambda: frame.read_chunk(9), IndexError), (lambda: frame.read_chunk(None), TypeError), (lambda: frame.verify("x"), ValueError),
                (lambda: writer.__setitem__(9, 1), IndexError), (lambda: writer.__setitem__(0, "x"), ValueError), (lambda: writer.__setitem__(0, [1, 2]), ValueError),
                (lambda: writer.append(1.5), TypeError), (lambda: writer.append([1, 2]), ValueError), (lambda: writer.append([[1.5] * 3]), TypeError),
                (lambda: writer.append(np.ones((1, 3), "<f4")), TypeError),
                (lambda: writer.resize((LARGE, 3)), ValueError), (lambda: writer.resize((-1, 3)), ValueError), (lambda: writer.resize("x"), TypeError),
                (lambda: writer.append_special("x", 1), ValueError), (lambda: writer.update_chunk(2**70, np.zeros((4, 3), "<i4")), OverflowError),
                (lambda: writer.delete_chunks("x"), TypeError), (lambda: writer.append_chunk("x"), TypeError), (lambda: writer.reclaim("x"), TypeError),
            ):  # fmt: skip
                with self.subTest(where=where, line=call.__code__.co_firstlineno):
                    self.assert_ours(call, where, kind)
            writer.close()
            self.assert_ours(lambda: frame.append([[256] * 2]), where, ValueError)
            self.assert_ours(lambda: frame.resize((LARGE, 3)), where, ValueError)
            self.assert_ours(lambda: frame.backup(5), where, TypeError)
            frame.close()
            self.assert_ours(lambda: frame.shape, where, cairn.FailedPrecondition)
        read = cairn.open(path)
        for call in (lambda: read.writer(), lambda: read.append([[1] * 3]), lambda: read.__setitem__(0, 1), lambda: read.compact()):
            self.assert_ours(call, f"{path}: opened for reading; open it with mode 'r+'", cairn.ReadOnly)

    def test_bytes_and_texts_that_are_neither_a_frame_nor_a_path_are_told(self):
        for wrong, words, kind in (
            (b"hello world", "bytes that do not begin as a frame are a path", FileNotFoundError),
            (b"\x89PNG\r\n\x1a\n\0\0", "no path has a zero byte", ValueError),
            ("a\0b", "no path has a zero byte", ValueError),
            ("x\ud800y", "a character that no name of a file can have", ValueError),
        ):
            with self.subTest(wrong=wrong):
                self.assert_ours(lambda: cairn.open(wrong), words, kind)
        self.assert_ours(lambda: cairn.asarray(np.arange(3), "x\ud800y"), "no name of a file", ValueError)

    def test_masked_items_are_not_stored_as_if_they_were_not(self):
        hides = np.ma.masked_array([1, 2, 3], [False, True, False])
        frame = cairn.create(self.path(), (3,), "i8")
        for call in (
            lambda: frame.__setitem__(slice(None), hides), lambda: frame.__setitem__([0, 1, 2], hides), lambda: frame.append(hides),
            lambda: cairn.asarray(hides), lambda: cairn.asarray(hides, self.path()),
        ):  # fmt: skip
            with self.subTest(line=call.__code__.co_firstlineno):
                self.assert_ours(call, "a masked array hides items: fill them", ValueError)
        self.assertEqual(frame[:].tolist(), [0, 0, 0])
        frame[:] = np.ma.masked_array([1, 2, 3], False)
        self.assertEqual(frame[:].tolist(), [1, 2, 3])

    def test_damaged_shape_is_damage_and_no_lack_of_memory(self):
        path = self.path(".b2nd")
        cairn.asarray(np.arange(10.0), path)
        with open(path, "rb") as file:
            content = file.read()
        # Of the metalayer: a version, a number of dimensions, and a shape of 10 as 64 bits.
        at = content.index(b"b2nd")
        at = content.index((10).to_bytes(8, "big"), at)
        for shape in (2**33, 2**45, 2**59, 2**63 - 1):
            damaged = content[:at] + shape.to_bytes(8, "big") + content[at + 8 :]
            frame = cairn.open(damaged)
            self.assertEqual(frame.shape, (shape,))
            for key in (slice(None), slice(None, None, 2), slice(2, None), ...):
                with self.subTest(shape=shape, key=key):
                    self.assert_ours(lambda: frame[key], "array: ", cairn.DataLoss)

    @unittest.skipIf(np is None or np.lib.NumpyVersion(np.__version__) < "2.0.0", "an older NumPy wraps")
    def test_integers_that_the_type_does_not_hold_are_overflows(self):
        frame = cairn.create(self.path(), (3,), "u1")
        for call in (lambda: frame.append([256]), lambda: frame.__setitem__(0, 256), lambda: frame.append([-1])):
            self.assert_ours(call, self.path(), OverflowError)

    def test_values_are_refused_that_would_become_others(self):
        day = "2500-01-01"
        for dtype, given in (
            ("i4", np.array([2**40])),
            ("i8", np.array([2**63], "u8")),
            ("u1", np.array([5, 256], "u8")),
            ("i8", np.array([2.0**63])),
            ("i4", np.array([np.nan])),
            ("f4", np.array([1e300])),
            ("f2", np.array([70000])),
            ("U2", np.array(["ab", "abc"])),
            ("S2", np.array([b"abc"])),
            ("M8[ns]", np.array([day], "M8[s]")),
            ("f8", np.array([1 + 2j])),
            ("U2", np.array(["abc"], object)),
            ("i2", np.array([np.int64(70000)], object)),
            ([("a", "i2"), ("b", "f4")], np.array([(70000, 1)], [("a", "i8"), ("b", "f8")])),
            ([("a", "i2"), ("b", "i4", 2)], np.array([(7, [1, 2**40])], [("a", "i8"), ("b", "i8", 2)])),
            ([("a", "i4"), ("b", "U2")], [(1, "abc")]),
            ([("a", "i4"), ("b", [("c", "U2")])], np.array([(1, ("abc",))], [("a", "i4"), ("b", [("c", "U3")])])),
            ([("a", "i2"), ("b", "i8")], np.array([70000])),
        ):
            frame = cairn.create(self.path(), (3,), dtype, overwrite=True)
            before = frame[:]
            calls = [
                lambda: frame.__setitem__(slice(0, len(given)), given),
                lambda: frame.__setitem__(list(range(len(given))), given),
            ]
            if not isinstance(given, list):
                calls.append(lambda: cairn.asarray(given, dtype=dtype))
            if isinstance(given, list) or np.can_cast(given.dtype, frame.dtype, "same_kind"):
                calls.append(lambda: frame.append(given))
            for number, call in enumerate(calls):
                with self.subTest(dtype=dtype, call=number):
                    self.assert_ours(call, "do not hold", cairn.TooLarge)
                    self.assertEqual(frame[:].tobytes(), before.tobytes())

    def test_values_that_the_type_holds_are_taken(self):
        for dtype, given in (
            ("i1", np.array([-128, 127])),
            ("u8", np.array([2**64 - 1], "u8")),
            ("i8", np.array([-(2.0**63)])),
            ("i4", np.array([1.75, -2147483648.5])),
            ("f4", np.array([np.inf, np.nan, 0.1, 1e-300])),
            ("U2", np.array(["ab", "c"], "U9")),
            ("M8[ns]", np.array(["NaT", "2026-01-02"], "M8[s]")),
            ("M8[s]", np.array(["NaT", "2026-01-02T00:00:00.5"], "M8[ms]")),
            ("f8", np.array([1 + 0j])),
            ("U2", np.array(["ab"], object)),
            ([("a", "i2"), ("b", "i8"), ("c", "U2")], np.array([(7, 2**40, "ab")], "i8,i8,U5")),
        ):
            with self.subTest(dtype=dtype):
                frame = cairn.create(None, given.shape, dtype)
                frame[:] = given
                self.assertEqual(frame[:].tobytes(), given.astype(dtype).tobytes())

    def test_records_in_lists_are_held_field_by_field(self):
        frame = cairn.create(None, (1,), [("a", "i2"), ("b", "i8"), ("c", "U2")])
        frame.append([(7, 2**40, "ab")])
        frame[0:1] = [(8, 2**41, "cd")]
        self.assertEqual(frame[:].tolist(), [(8, 2**41, "cd"), (7, 2**40, "ab")])
        for wrong in (2**15, 1, "a"), (1, 1, "abc"):
            with self.assertRaises(cairn.TooLarge):
                frame.append([wrong])
            with self.assertRaises(cairn.TooLarge):
                frame[0] = wrong

    def test_a_source_is_computed_once(self):
        class Source:
            shape, dtype, times = (3,), np.dtype("i8"), 0

            def __getitem__(self, key):
                return self

            def __array__(self, dtype=None, copy=None):
                self.times += 1
                return np.arange(3, dtype=dtype)

        made, assigned = Source(), Source()
        frame = cairn.asarray(made, dtype="i4")
        frame[:] = assigned
        self.assertEqual((frame[:].tolist(), made.times, assigned.times), ([0, 1, 2], 1, 1))

    def test_exceptions_of_the_callers_objects_stay(self):
        class Mine(Exception):
            pass

        class Items:
            def __array__(self, *_, **__):
                raise Mine

        with self.assertRaises(Mine):
            cairn.create(None, (3,)).append(Items())

    def test_exceptions_can_be_copied_between_processes(self):
        for name in ("InvalidType", "TooLarge", "ReadOnly", "NoSuchLayer"):
            error = pickle.loads(pickle.dumps(getattr(cairn, name)("a.b2nd: b")))
            self.assertEqual((type(error).__name__, str(error)), (name, "a.b2nd: b"))

    def test_what_is_no_path_is_refused_in_a_few_words(self):
        huge = b"x" * 5_000_000
        for wrong in (None, 5, 1.5, object(), [self.path()], np.zeros(3), huge, huge.decode(), os.path.join(self.folder, "x" * 5000)):
            for call in (cairn.open, lambda path: cairn.open(path, "a"), lambda path: cairn.asarray([1], path), cairn.Log.open, cairn.create(None).backup):
                if wrong is None and "asarray" in call.__code__.co_names:
                    continue  # in memory
                with self.subTest(wrong=repr(wrong)[:20]), self.assertRaises(cairn.InvalidArgument) as caught:
                    call(wrong)
                self.assertLess(len(str(caught.exception)), 200)


class ContentTest(PackageTest):
    def test_bytes_of_a_frame_are_opened_as_one(self):
        items = np.arange(10_000.0)
        frame = cairn.asarray(items, self.path(), chunks=(999,))
        frame.vlmeta["unit"] = "kelvin"
        content = frame.to_bytes()
        for source in (content, bytearray(content), memoryview(content), np.frombuffer(content, "u1")):
            for options in ({}, {"mmap": False}, {"threads": 2}, {"verify": "always"}):
                read = cairn.open(source, **options)
                self.assert_same(read[:], items)
                self.assertEqual((read.path, read.mode, dict(read.vlmeta)), (None, "r", {"unit": "kelvin"}))
                self.assertTrue(read.verify().ok)
                self.assertIn("in memory", repr(read))
        self.assertEqual(read.to_bytes(), content)
        read.backup(self.path("copy"))
        self.assert_same(cairn.open(self.path("copy"))[:], items)

    def test_bytes_are_copied_and_stay_while_the_frame_does(self):
        content = bytearray(cairn.asarray(np.arange(1000), codec="lz4").to_bytes())
        before = len(os.listdir("/proc/self/fd"))
        frame = cairn.open(content)
        content[:] = bytes(len(content))
        others = [open(os.devnull, "rb") for _ in range(9)]
        self.assertFalse(frame.refresh())
        snapshot = frame.snapshot()
        self.assert_same(frame[:], np.arange(1000))
        frame.close()
        del frame
        self.assert_same(snapshot[:], np.arange(1000))
        del snapshot
        for other in others:
            other.close()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_bytes_are_only_read(self):
        content = cairn.asarray(np.arange(10)).to_bytes()
        for mode in ("r+", "a", "w", "x"):
            with self.assertRaisesRegex(cairn.InvalidArgument, "in memory.*write them into a file"):
                cairn.open(content, mode)
        frame = cairn.open(content)
        for change in (lambda: frame.append([1]), lambda: frame.vlmeta.update(a=1), lambda: frame.compact()):
            with self.assertRaises(cairn.ReadOnly):
                change()
        with self.assertRaises(TypeError):
            pickle.dumps(frame)

    def test_damaged_bytes_say_so_without_their_content(self):
        content = cairn.asarray(np.random.default_rng(1).random(100_000)).to_bytes()
        damaged = (content[:500], content[:50], content[:9], bytearray(), bytearray(content[1:]), bytearray(100))
        for number, wrong in enumerate(damaged * 3):
            if number == len(damaged):  # what is opened once stays
                before = len(os.listdir("/proc/self/fd"))
            with self.subTest(size=len(wrong)), self.assertRaises(cairn.Error) as caught:
                cairn.open(wrong)
            self.assertIn("frame in memory", str(caught.exception))
            self.assertNotIn("/proc", str(caught.exception))
            self.assertLess(len(str(caught.exception)), 300)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    @needs_blosc2
    def test_frames_that_python_blosc2_has_in_memory_are_opened(self):
        items = np.arange(600).reshape(20, 30)
        array = blosc2.asarray(items, chunks=(7, 8))
        array.schunk.vlmeta["unit"] = ("kelvin", 1)
        read = cairn.open(array.to_cframe())
        self.assert_same(read[:], items)
        self.assertEqual(read.vlmeta["unit"], ("kelvin", 1))
        content = read.to_bytes()  # which older versions of python-blosc2 do not keep
        self.assert_same(blosc2.ndarray_from_cframe(content)[:], items)


if __name__ == "__main__":
    unittest.main()
