"""Counts the requests of collections in an object store, which is one in the memory of this process."""

import collections
import importlib.util
import os
import sys
import time
import unittest

from support import PackageTest, cairn, np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
sys.path.append(os.path.join(SOURCE, "tests", "support"))
from fake_store import FakeStore  # noqa: E402

HAS_STORES = cairn is not None and importlib.util.find_spec("cairn._s3") is not None
HAS_ZARR = importlib.util.find_spec("zarr") is not None
NAMES = [f"v{number}" for number in range(10)]


def setUpModule():
    global STORE
    STORE = FakeStore.serving(unittest.addModuleCleanup)


class RequestsTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.path = f"s3://bucket/{self.id().rpartition('.')[2]}.b2d"

    def taken(self):
        """Returns how many requests of each kind were made since the last call."""
        return dict(collections.Counter(one.partition(" ")[0] for one in STORE.taken()))

    def check_taken(self, message=None, **expected):
        self.assertEqual(self.taken(), expected, message)


@unittest.skipUnless(HAS_STORES, "no module cairn._s3")
class CollectionRequestsTest(RequestsTest):
    def setUp(self):
        super().setUp()
        self.day = np.random.default_rng(1).random((1, 30, 60))
        with cairn.open_collection(self.path, "a") as made, made.writer() as writer:
            for name in NAMES:
                writer.add("/" + name, self.day, chunks=(1, 30, 60))
        self.taken()

    def append(self, writer):
        for name in NAMES:
            writer["/" + name].append(self.day)

    def test_commit_is_a_put_for_each_chunk_and_one(self):
        with cairn.open_collection(self.path, "r+") as opened, opened.writer() as writer:
            self.append(writer)
            writer.commit()
            for number in range(3):
                self.taken()
                self.append(writer)
                committed = writer.commit()
                self.check_taken(PUT=11)
                self.assertEqual((committed.number, opened.number), (number + 3, number + 3))
                self.assertEqual(opened.snapshot(), committed)
            self.taken()
            self.assertFalse(opened.refresh())
            self.check_taken(GET=1)
            writer.close()
            self.check_taken()
            self.assertEqual(opened["/v0"].shape, (5, 30, 60))
        self.assertEqual(cairn.open_collection(self.path)["/v9"].shape, (5, 30, 60))

    def test_program_that_appends_a_day_reads_each_commit_once(self):
        for commits in range(1, 5):
            self.taken()
            with cairn.open_collection(self.path, "r+") as opened, opened.writer() as writer:
                self.append(writer)
            # The ledger and its commits, which have the indexes of the members, and the look for news of the writer.
            self.check_taken(GET=1 + commits + 1, LIST=1, PUT=11)

    def test_commits_of_others_are_shown(self):
        ours, theirs = cairn.open_collection(self.path, "r+"), cairn.open_collection(self.path, "r+")
        with ours.writer() as writer:
            for number in range(3):
                with theirs.writer() as other:
                    other["/v1"].append(self.day)
                writer["/v0"].append(self.day)
                committed = writer.commit()
                self.assertEqual(committed.number, 3 + 2 * number)
                self.assertEqual((committed["/v1"].shape[0], ours["/v1"].shape[0]), (2 + number, 2 + number))


@unittest.skipUnless(HAS_STORES and HAS_ZARR, "no module cairn._s3, or no zarr")
class ZarrRequestsTest(RequestsTest):
    def setUp(self):
        super().setUp()
        import zarr

        self.day = np.random.default_rng(1).random((1, 30, 60))
        self.store = cairn.ZarrStore(self.path)
        with self.store.transaction():
            group = zarr.create_group(self.store)
            self.arrays = [group.create_array(name, shape=(0, 30, 60), chunks=(1, 30, 60), dtype="f8") for name in NAMES]
        for _ in range(2):
            self.append()
        self.taken()

    def append(self):
        with self.store.transaction():
            for array in self.arrays:
                array.append(self.day)

    def test_transaction_reads_nothing_that_it_has_written(self):
        self.append()
        self.check_taken("one after another", GET=1, PUT=21)
        time.sleep(0.3)  # the writer is released
        self.append()
        self.check_taken("after a pause", GET=1, PUT=21)
        self.assertEqual(self.arrays[3][:].shape, (4, 30, 60))

    def test_store_that_is_opened_for_a_day_reads_each_commit_once(self):
        import zarr

        self.store.close()
        for commits in range(3, 7):
            self.taken()
            store = cairn.ZarrStore(self.path)
            group = zarr.open_group(store, mode="r+")
            arrays = [group[name] for name in NAMES]
            with store.transaction():
                for array in arrays:
                    array.append(self.day)
            store.close()
            # The ledger and its commits, and looks for news: for the group, each array and the writer.
            self.check_taken(GET=1 + commits + 1 + 10 + 1, LIST=1, PUT=21)
        with cairn.ZarrStore(self.path) as store, store.transaction():
            group = zarr.open_group(store, mode="r+")
            for name in NAMES:
                group[name].append(self.day)
        self.check_taken("all in the transaction", GET=1 + 7 + 1, LIST=1, PUT=21)
        group = zarr.open_group(cairn.ZarrStore(self.path, read_only=True), mode="r")
        for name in NAMES:
            self.assert_same(group[name][:], np.repeat(self.day, 7, axis=0))

    def test_tasks_that_read_together_look_for_news_once(self):
        import asyncio

        async def read(*keys):
            return await asyncio.gather(*(self.store.exists(key) for key in keys))

        self.assertEqual(asyncio.run(read("v0/zarr.json", "v1/zarr.json", "v1/none", "v0/c/1/0/0")), [True, True, False, True])
        self.check_taken(GET=1)
        self.assertEqual([asyncio.run(read("v0/zarr.json")) for _ in range(2)], [[True], [True]])
        self.check_taken("one after the other", GET=2)

    def test_transaction_shows_what_others_have_committed(self):
        import zarr

        others = cairn.ZarrStore(self.path)
        theirs = zarr.open_group(others, mode="r+")["v1"]
        with self.store.transaction():
            theirs.append(self.day + 1)
            self.arrays[0].append(self.day)
        group = zarr.open_group(self.store, mode="r+")
        self.assertEqual([group[name].shape[0] for name in ("v0", "v1")], [3, 3])
        self.assert_same(group["v1"][2], self.day[0] + 1)
        with self.store.transaction():
            group["v1"].append(self.day + 2)
        self.assert_same(zarr.open_group(others, mode="r")["v1"][3], self.day[0] + 2)


if __name__ == "__main__":
    unittest.main()
