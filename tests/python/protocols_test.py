"""NumPy's protocols for arrays of others: copies are made where they are asked for, and only there."""

import unittest

from support import PackageTest, cairn, np

NEW = int(np.__version__.partition(".")[0]) >= 2 if np else False


class ArrayTest(PackageTest):
    def subjects(self):
        """All that becomes an array, and the array."""
        items = np.arange(24, dtype="<i4").reshape(4, 6)
        frame = cairn.asarray(items, self.path("frame"), chunks=(2, 3), overwrite=True)
        yield frame, items
        yield frame.snapshot(), items
        yield cairn.asarray(np.array(7.5), self.path("none"), overwrite=True), np.array(7.5)
        rows = np.array([(1, 2.5), (2, 3.5)], [("time", "M8[s]"), ("x", "f8")])
        log = cairn.Log.create(self.path("log"), rows.dtype, exist_ok=True)
        if not len(log):
            log.append(rows)
        yield log, rows
        yield log.snapshot(), rows
        yield log.query(), rows
        plain = cairn.asarray(np.arange(9.0), self.path("plain"), overwrite=True)
        yield plain, np.arange(9.0)
        yield cairn.Log.open(self.path("plain")).query(), np.arange(9.0)

    def test_arrays_are_made_as_numpy_says(self):
        for it, expected in self.subjects():
            with self.subTest(it=it):
                for found in (np.asarray(it), np.array(it), np.array(it, copy=True), it.__array__(), it.__array__(copy=None)):
                    self.assertIs(type(found), np.ndarray)
                    self.assert_same(found, expected)
                if expected.dtype.names is None:
                    self.assert_same(np.asarray(it, "c16"), expected.astype("c16"))
                    self.assert_same(np.array(it, "f8", copy=True), expected.astype("f8"))

    def test_copies_are_ones_own(self):
        for it, expected in self.subjects():
            with self.subTest(it=it):
                copy = np.array(it, copy=True)
                copy.view("u1" if copy.ndim else copy.dtype)[...] = 1
                self.assert_same(np.array(it), expected)

    @unittest.skipUnless(NEW, "NumPy 1 does not ask for it")
    def test_copies_are_refused_where_one_is_needed(self):
        for it, expected in self.subjects():
            shares = isinstance(it, cairn.Records) and expected.dtype.names is None
            with self.subTest(it=it):
                if shares:
                    self.assertTrue(np.shares_memory(np.array(it, copy=False), it.columns[""]))
                    with self.assertRaises(ValueError):
                        np.array(it, "f4", copy=False)
                else:
                    with self.assertRaisesRegex(ValueError, "copy"):
                        np.array(it, copy=False)


class DlpackTest(PackageTest):
    def test_items_are_decoded_into_memory_of_the_consumer(self):
        items = np.arange(24, dtype="<f4").reshape(4, 6)
        for dtype in ("<f4", ">f4", "i1", "<u8", "<c16", "?", "<f2"):
            frame = cairn.asarray(items.astype(dtype), chunks=(2, 3))
            for it in (frame, frame.snapshot()):
                with self.subTest(dtype=dtype, it=it):
                    found = np.from_dlpack(it)
                    self.assert_same(found, items.astype(dtype).astype(np.dtype(dtype).newbyteorder("=")))
                    self.assertEqual(it.__dlpack_device__(), found.__dlpack_device__())
        first = np.from_dlpack(frame)
        self.assertFalse(np.shares_memory(first, np.from_dlpack(frame)))
        if NEW:
            first[...] = 0
        self.assert_same(frame[...], items.astype("<f2"))

    def test_what_it_cannot_give_is_a_buffer_error(self):
        for items in (np.array(["2026"], "M8[s]"), np.array([b"a"]), np.array([(1, 2)], "i4,i4")):
            with self.subTest(dtype=items.dtype), self.assertRaises((BufferError, TypeError)):
                np.from_dlpack(cairn.asarray(items))
        frame = cairn.asarray(np.arange(9.0))
        with self.assertRaisesRegex(BufferError, "copy"):
            frame.__dlpack__(copy=False)
        with self.assertRaises((BufferError, RuntimeError, ValueError)):
            frame.__dlpack__(stream=1)
        with self.assertRaises(TypeError):
            memoryview(frame)
        frame.close()
        with self.assertRaises(cairn.FailedPrecondition):
            np.from_dlpack(frame)


if __name__ == "__main__":
    unittest.main()
