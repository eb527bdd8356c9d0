"""Every key gives what NumPy gives."""

import math
import random
import tracemalloc
import unittest.mock
import warnings

from support import PackageTest, cairn, np

SHAPES = [(37,), (1,), (0,), (13, 21), (7, 0), (5, 9, 11), (3, 4, 5, 6)]


def random_slice(dice, extent):
    def bound():
        return dice.choice([None, dice.randint(-extent - 2, extent + 2)])

    return slice(bound(), bound(), dice.choice([None, 1, 2, 3, 7, -1, -2, -5]))


def random_key(dice, shape):
    """Slices, ints, index arrays, masks, None and an ellipsis, in any mixture that fits."""
    entries = []
    broadcast = dice.choice([(), (4,), (2, 3)])
    for axis, extent in enumerate(shape[: dice.randint(0, len(shape))]):
        kind = dice.choice(["slice", "slice", "int", "array", "mask"])
        if extent == 0 or kind == "slice":
            entries.append(random_slice(dice, extent))
        elif kind == "int":
            entries.append(dice.randint(-extent, extent - 1))
        elif kind == "array":
            size = dice.choice([broadcast, broadcast, (1,)])
            entries.append(np.array([dice.randint(-extent, extent - 1) for _ in range(np.prod(size, dtype=int))]).reshape(size))
        else:
            few = np.zeros(extent, bool)
            few[dice.sample(range(extent), min(extent, (broadcast or (1,))[-1]))] = True
            entries.append(few if not broadcast or few.sum() == broadcast[-1] else slice(None))
    if dice.random() < 0.2:
        entries.insert(dice.randint(0, len(entries)), None)
    if dice.random() < 0.3:
        entries.append(Ellipsis)
    return tuple(entries) if dice.random() < 0.8 or len(entries) != 1 else entries[0]


def any_key(dice, shape):
    """A key of which NumPy may refuse any part: masks and numbers may not fit.

    No mask is empty: NumPy takes such a one for any axis.
    """
    entries = []
    for axis in range(dice.randint(0, len(shape) + 1)):
        extent = shape[axis] if axis < len(shape) else 3
        near = max(extent + dice.choice([0, 0, 0, -1, 1]), 0)
        entries.append(dice.choice([
            lambda: random_slice(dice, extent),
            lambda: dice.randint(-near - 1, near),
            lambda: np.random.default_rng(dice.randint(0, 99)).random(max(near, 1)) < 0.3,
            lambda: np.random.default_rng(dice.randint(0, 99)).random([max(one, 1) for one in shape[axis : axis + 2]] or 3) < 0.3,
            lambda: [dice.randint(-near, near) for _ in range(dice.randint(0, 3))],
            lambda: None,
            lambda: Ellipsis,
            lambda: dice.choice([1.5, "a", np.array([0.5]), np.float32(1), [[0], [0, 1]], ()]),
        ])())  # fmt: skip
    return tuple(entries) if dice.random() < 0.8 or len(entries) != 1 else entries[0]


# Of which some fit no item of 4 bytes.
VALUES = [
    7, -1, 2**31, 2**40, -(2**31) - 1, 1.5, float("nan"), 1e20, "7", "x", None, 1j, [1], [2**40], [], [[1, 2], [3]],
    np.int64(5), np.int64(2**40), np.uint32(2**31), np.float64(1e20), np.float32(2.5), np.bool_(True),
    np.array(3), np.array([2**40]), np.arange(2), np.arange(3.0), np.array("x"), [np.int64(2**40)],
]  # fmt: skip


def outcome(call):
    """What a call gives, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (IndexError, OverflowError, TypeError, ValueError) as error:
            return type(error)


def replaced(items, key, value):
    copy = items.copy()
    copy[key] = value
    return copy


def becomes_another(value, dtype):
    """Returns True if NumPy would wrap a number, make an infinity of one, or cut a text."""
    given = np.asarray(value)
    if dtype.names is not None and given.dtype.names is None:  # a number for all fields
        return any(becomes_another(value, dtype[name]) for name in dtype.names)
    if dtype.kind in "iuf" and given.dtype.kind == "c":
        return bool((given.imag != 0).any())
    if dtype.kind in "iu" and given.dtype.kind in "iuf":
        limits = np.iinfo(dtype)
        return not all(one == one and limits.min <= int(one) <= limits.max for one in given.reshape(-1).tolist())
    if dtype.kind in "fc" and given.dtype.kind in "iufc":
        with np.errstate(all="ignore"):
            return bool((np.isfinite(given) & ~np.isfinite(given.astype(dtype))).any())
    if dtype.kind in "SU" and given.dtype.kind in "SU":
        return any(len(one) > np.dtype(dtype).itemsize // (4 if dtype.kind == "U" else 1) for one in given.reshape(-1).tolist())
    return False


class IndexingTest(PackageTest):
    def frames(self, dice):
        for shape in SHAPES:
            items = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
            chunks = [dice.randint(1, max(extent, 1)) for extent in shape]
            yield items, cairn.asarray(items, chunks=chunks)
        plain = cairn.create(None, None, "<i4", chunksize=40)
        plain.append(np.arange(91, dtype="<i4"))
        yield np.arange(91, dtype="<i4"), plain

    def test_random_keys_read_what_numpy_reads(self):
        dice = random.Random(7)
        compared = 0
        for items, frame in self.frames(dice):
            for _ in range(150):
                key = random_key(dice, items.shape)
                try:
                    expected = items[key]
                except IndexError:
                    with self.assertRaises(IndexError, msg=(items.shape, key)):
                        frame[key]
                    continue
                self.assert_same(frame[key], expected, (items.shape, key))
                compared += 1
        self.assertGreater(compared, 800)

    def test_random_keys_read_few_items_of_many_blocks(self):
        """Such items are read by their numbers, and not out of the box around them."""
        dice = random.Random(11)
        for shape in [(4000,), (90, 110), (30, 20, 25), (9, 11, 8, 10)]:
            items = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
            for _ in range(4):
                chunks = [dice.randint(extent // 2, extent) for extent in shape]
                blocks = [dice.randint(1, max(extent // 6, 1)) for extent in chunks]
                frame = cairn.asarray(items, chunks=chunks, blocks=blocks)
                for _ in range(40):
                    key = random_key(dice, shape)
                    try:
                        expected = items[key]
                    except IndexError:
                        continue
                    self.assert_same(frame[key], expected, (shape, chunks, blocks, key))

    def test_random_keys_write_what_numpy_writes(self):
        dice = random.Random(8)
        for items, frame in self.frames(dice):
            expected = items.copy()
            with frame.writer() as writer:
                for step in range(40):
                    key = random_key(dice, items.shape)
                    try:
                        shape = items[key].shape
                    except IndexError:
                        continue
                    # One value, for NumPy leaves it open which of several stays.
                    value = dice.choice([-step, np.full(shape, 1000 + step, "<i4")])
                    expected[key] = value
                    writer[key] = value
                    self.assert_same(writer[...], expected, (items.shape, key))
            self.assert_same(frame[...], expected)

    def test_whatever_numpy_refuses_is_refused(self):
        dice = random.Random(10)
        refused = 0
        for items, frame in self.frames(dice):
            for _ in range(300):
                key = any_key(dice, items.shape)
                told = (items.shape, key)
                expected = outcome(lambda: items[key])
                got = outcome(lambda: frame[key])
                if isinstance(expected, type):
                    refused += 1
                    self.assertIsInstance(got, type, told)
                elif expected.size or not isinstance(got, type):  # else nothing tells a wrong number
                    self.assert_same(got, expected, told)
        self.assertGreater(refused, 500)

    def test_values_that_numpy_refuses_are_refused_and_change_nothing(self):
        dice = random.Random(11)
        refused = 0
        for items, frame in self.frames(dice):
            with frame.writer() as writer:
                for _ in range(150):
                    key, value = any_key(dice, items.shape), dice.choice(VALUES)
                    told = (items.shape, key, value)
                    expected = outcome(lambda: replaced(items, key, value))
                    got = outcome(lambda: writer.__setitem__(key, value))
                    if isinstance(expected, type):
                        refused += 1
                        self.assertIsInstance(got, type, told)
                    elif got is cairn.TooLarge:
                        self.assertTrue(becomes_another(value, items.dtype), told)
                    elif items[key].size:  # else NumPy may not look at the value
                        self.assertFalse(becomes_another(value, items.dtype), told)
                        self.assertIsNone(got, told)
                        items = expected
                    self.assert_same(writer[...], items, told)
        self.assertGreater(refused, 300)

    def test_items_of_each_type_take_and_refuse_what_numpy_does(self):
        dice = random.Random(12)
        others = [np.datetime64("2026-11-24"), np.timedelta64(5, "s"), "2026-11-24", b"ab", "text", (1, 2.5), [(1, 2.5)],
                  np.array([(3, 4.5)], "i2,f8"), np.str_("y"), np.bytes_(b"z"), np.complex64(1j), True]  # fmt: skip
        for dtype in ("i1", "<u2", ">i4", "u8", "f2", "<f8", ">f4", "c16", "?", "S3", "U2", "M8[s]", "m8[ms]", "i2,f8"):
            items = np.zeros((3, 4), dtype)
            frame = cairn.asarray(items, chunks=(2, 3))
            with frame.writer() as writer:
                for _ in range(60):
                    key = dice.choice([0, (1, 2), slice(1), ..., ([0, 2], [1, 1]), [2, 0], (slice(None), 3)])
                    value = dice.choice(VALUES + others)
                    told = (dtype, key, value)
                    expected = outcome(lambda: replaced(items, key, value))
                    got = outcome(lambda: writer.__setitem__(key, value))
                    if isinstance(expected, type):
                        self.assertIsInstance(got, type, told)
                    elif becomes_another(value, items.dtype):
                        self.assertIs(got, cairn.TooLarge, told)
                    else:
                        self.assertIsNone(got, told)
                        items = expected
                    self.assert_same(writer[...], items, told)

    def test_distinct_values_are_written_where_numpy_writes_them(self):
        dice = random.Random(9)
        for items, frame in self.frames(dice):
            expected = items.copy()
            with frame.writer() as writer:
                for _ in range(30):
                    key = tuple(random_slice(dice, extent) for extent in items.shape)
                    value = np.random.default_rng(dice.randint(0, 999)).integers(0, 99, items[key].shape, "<i4")
                    expected[key] = value
                    writer[key] = value
            self.assert_same(frame[...], expected)

    def test_many_scattered_points_need_no_more_memory_than_chunks(self):
        frame = cairn.create(None, (40_000, 40_000), "<i4", chunks=(1000, 1000), blocks=(100, 100))
        with frame.writer() as writer:
            writer[12_345, 23_456] = 7
        rows = np.arange(0, 40_000, 45)
        columns = rows[::-1].copy()
        rows[3], columns[3] = 12_345, 23_456
        self.assertEqual(frame[rows, columns].sum(), 7)

    def test_wrong_keys_are_index_errors(self):
        frame = cairn.asarray(np.zeros((4, 5)))
        for key in (4, -5, (0, 5), (0, 0, 0), ([0, 9],), 1.5, True, "x", np.zeros(3, bool),
                    (..., ...), np.array([0.5]), object()):  # fmt: skip
            with self.assertRaises((IndexError, ValueError), msg=key):
                frame[key]

    def test_index_arrays_may_be_of_any_integer_type(self):
        # Axes that are longer than the smaller types can count, and types without a negative number.
        items = np.arange(300 * 200, dtype="<i4").reshape(300, 200)
        plain = cairn.create(None, None, "<i4", chunksize=400)
        plain.append(items[:, 0])
        frames = ((items, cairn.asarray(items, chunks=(70, 30))), (items[:, 0].copy(), plain))
        for name in ("i1", "u1", "<i2", ">i2", "<u2", ">u2", "i4", "u4", "<i8", ">i8", "<u8", ">u8"):
            least = -100 if np.dtype(name).kind == "i" else 0
            numbers = np.array([5, 127, 0, least, 5], name)
            for items, frame in frames:
                keys = [numbers, numbers[:0], numbers[:4].reshape(2, 2)]
                if items.ndim == 2:
                    keys += [(slice(2, 290, 9), numbers), (numbers, numbers), (numbers[:, None], numbers),
                             (-3, numbers), (numbers, slice(None, None, -1), None)]  # fmt: skip
                for key in keys:
                    self.assert_same(frame[key], items[key], (name, key))
                    frame[key] = -1
                    self.assert_same(frame[...], replaced(items, key, -1), (name, key))
                    frame[...] = items
            self.assertEqual(numbers.tolist(), [5, 127, 0, least, 5])

    def test_numbers_past_the_end_are_refused_in_index_arrays_of_any_type(self):
        frame = cairn.asarray(np.zeros((100, 3)))
        for name, number in (("i1", 127), ("i1", -128), ("u1", 200), ("u2", 65_535), ("i8", -(2**63)),
                             ("u8", 2**63), ("u8", 2**64 - 1)):  # fmt: skip
            wrong = np.array([0, number], name)
            for key in (wrong, (wrong, 0), (wrong, np.zeros(2, "u1")), (slice(None), wrong)):
                with self.assertRaisesRegex(cairn.OutOfRange, f"index {number} is out of bounds"):
                    frame[key]
                with self.assertRaisesRegex(cairn.OutOfRange, f"index {number} is out of bounds"):
                    frame[key] = 1

    def test_array_without_dimensions_holds_one_item(self):
        frame = cairn.asarray(np.float64(2.5))
        self.assertEqual(frame.shape, ())
        self.assertEqual(frame[()], 2.5)
        frame[...] = 3.5
        self.assertEqual(float(frame[()]), 3.5)
        with self.assertRaises(TypeError):
            len(frame)

    def test_fields_of_records_are_those_of_numpy(self):
        plain = np.dtype([("i", "<i8"), ("f", ">f4"), ("s", "S5"), ("v", "<f8", (2, 3)), ("n", [("x", "u1"), ("u", "S2")])])
        apart = np.dtype({"names": ["b", "a", "c"], "formats": ["<i2", "<f4", "?"], "offsets": [6, 0, 11], "itemsize": 16})
        for dtype in (plain, np.dtype(plain.descr, align=True), apart):
            for shape in [(0,), (1,), (3000,), (40, 30), ()]:
                raw = np.random.default_rng(3).integers(0, 100, (math.prod(shape), dtype.itemsize), np.uint8)
                items = raw.view(dtype).reshape(shape)
                for codec in ("pco", "bitpack", "lz4", "zstd"):
                    f = cairn.asarray(items, self.path("f"), codec=codec, overwrite=True)
                    names = list(dtype.names)
                    for key in [*names, *([name] for name in names), names, names[1::-1], names[::2]]:
                        with self.subTest(dtype=dtype, shape=shape, codec=codec, key=key):
                            found, expected = f[key], items[key]
                            self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
                            if isinstance(key, str):
                                self.assertEqual(found.tobytes(), expected.tobytes())
                            else:  # without what lies between the fields
                                self.assertEqual([found[name].tobytes() for name in key],
                                                 [expected[name].tobytes() for name in key])  # fmt: skip
                    with self.assertRaises(ValueError):
                        f[[names[0], names[0]]]

    def test_fields_are_read_without_the_others(self):
        items = np.zeros(1000, [("a", "i4"), ("b", "f8"), ("c", "f8")])
        items["b"] = np.arange(1000)
        f = cairn.asarray(items, self.path("f"), codec="pco")
        with unittest.mock.patch("cairn.indexing.read", side_effect=AssertionError("reads whole items")):
            self.assertEqual(f["b"].tolist(), items["b"].tolist())
            self.assertEqual(f[["a"]].tolist(), items[["a"]].tolist())

    def test_iterates_over_rows(self):
        items = np.arange(35).reshape(7, 5)
        rows = list(cairn.asarray(items, chunks=(2, 3)))
        self.assert_same(np.stack(rows), items)

    def test_rows_are_read_in_pieces_of_bounded_memory(self):
        frame = cairn.create(None, (1000, 40_000), "<f8", chunks=(1000, 1000), blocks=(10, 1000))
        with frame.writer() as writer:
            writer[:, 3] = np.arange(1000)
        tracemalloc.start()
        try:
            self.assertEqual([row[3] for row in frame], list(range(1000)))
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        self.assertLess(most, 100 << 20)  # the array has 305 MiB
