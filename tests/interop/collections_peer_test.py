"""python-blosc2 opens a collection of Cairn's as a TreeStore.

    CAIRN_WEATHER=BUILD/tests/cli/example_weather_collection \
        python3 tests/interop/collections_peer_test.py

Skipped, with a message, where there is no python-blosc2 or no CAIRN_WEATHER.
"""

import os
import subprocess
import tempfile
import unittest

try:
    import blosc2
    import numpy as np

    MISSING = None if hasattr(blosc2, "TreeStore") else "python-blosc2 has no TreeStore"
except ImportError as error:
    MISSING = f"no python-blosc2: {error}"
PROGRAM = os.environ.get("CAIRN_WEATHER")
if MISSING is None and not PROGRAM:
    MISSING = "CAIRN_WEATHER does not name the example"


@unittest.skipIf(MISSING is not None, MISSING)
class CollectionsPeer(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        subprocess.run([os.path.abspath(PROGRAM)], cwd=directory.name, check=True, capture_output=True)
        self.path = os.path.join(directory.name, "weather.b2d")

    def check(self, store):
        temp = store["/day/temp"][:]
        self.assertEqual(temp.shape, (7, 180))
        self.assertTrue(np.array_equal(temp[:, 3], np.arange(15, 22, dtype="f4")))
        self.assertTrue(np.array_equal(store["/day/rain"][:][:, 5], np.array([0, 1, 2, 3, 0, 1, 3], "f4")))

    def test_tree_store_reads_all_members(self):
        with blosc2.TreeStore(self.path, mode="r") as store:
            self.assertEqual(sorted(store.keys()), ["/day", "/day/rain", "/day/temp"])
            self.check(store)

    def test_tree_store_keeps_members_when_it_adds_its_own(self):
        with blosc2.TreeStore(self.path, mode="a") as store:
            store["/other/values"] = np.arange(1000)
        with blosc2.TreeStore(self.path, mode="r") as store:
            self.assertEqual(int(store["/other/values"][999]), 999)
            self.check(store)


if __name__ == "__main__":
    unittest.main()
