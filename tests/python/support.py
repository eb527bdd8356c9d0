"""What the tests of the package share."""

import os
import tempfile
import unittest

try:
    import numpy as np

    import cairn

    MISSING = None
except ImportError as error:
    np = cairn = None
    MISSING = f"no package cairn: {error}"

try:
    import blosc2
except ImportError:
    blosc2 = None


@unittest.skipIf(MISSING is not None, MISSING)
class PackageTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name

    def path(self, name="a.b2nd"):
        return os.path.join(self.folder, name)

    def assert_same(self, got, expected, what=None):
        got, expected = np.asarray(got), np.asarray(expected)
        self.assertEqual(got.dtype, expected.dtype, what)
        self.assertEqual(got.shape, expected.shape, what)
        self.assertEqual(got.tobytes(), expected.tobytes(), what)


needs_blosc2 = unittest.skipIf(blosc2 is None, "no python-blosc2")
