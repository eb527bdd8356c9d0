"""Every key gives what NumPy gives."""

import random

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

    def test_array_without_dimensions_holds_one_item(self):
        frame = cairn.asarray(np.float64(2.5))
        self.assertEqual(frame.shape, ())
        self.assertEqual(frame[()], 2.5)
        frame[...] = 3.5
        self.assertEqual(float(frame[()]), 3.5)
        with self.assertRaises(TypeError):
            len(frame)

    def test_iterates_over_rows(self):
        items = np.arange(35).reshape(7, 5)
        rows = list(cairn.asarray(items, chunks=(2, 3)))
        self.assert_same(np.stack(rows), items)
