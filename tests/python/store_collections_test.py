"""Collections in an object store, which is one in the memory of this process: what collides, and what is refused."""

import importlib.util
import os
import pickle
import subprocess
import sys
import textwrap
import unittest

from support import PackageTest, cairn, np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
sys.path.append(os.path.join(SOURCE, "tests", "support"))
from fake_store import FakeStore  # noqa: E402

HAS_STORES = cairn is not None and importlib.util.find_spec("cairn._s3") is not None


def setUpModule():
    global STORE
    STORE = FakeStore.serving(unittest.addModuleCleanup)


@unittest.skipUnless(HAS_STORES, "no module cairn._s3")
class StoreTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.uri = f"s3://bucket/{self.id().rpartition('.')[2]}"

    def run_python(self, code, **settings):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, **settings},
                              capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class ErrorsTest(StoreTest):
    def test_edits_that_collide_are_aborted(self):
        path = self.uri + ".b2d"
        with cairn.open_collection(path, "x").writer() as writer:
            writer.add("/m", np.zeros((2, 3)))
        first, second = (cairn.open_collection(path, "r+").writer() for _ in range(2))
        first["/m"][0, 0] = 1
        second["/m"][0, 0] = 2
        first.commit()
        with self.assertRaisesRegex(cairn.Aborted, "/m") as caught:
            second.commit()
        self.assertIsInstance(caught.exception, cairn.Error)
        self.assertIs(type(pickle.loads(pickle.dumps(caught.exception))), cairn.Aborted)
        second.rollback()
        second["/m"][0, 0] += 2
        second.commit()
        self.assertEqual(cairn.open_collection(path)["/m"][0, 0], 3)

    def test_edits_of_a_frame_that_collide_are_aborted(self):
        path = self.uri + ".b2frame"
        cairn.create(path, (2, 3))
        first, second = (cairn.open(path, "r+").writer() for _ in range(2))
        first[0, 0] = 1
        second[0, 0] = 2
        first.commit()
        with self.assertRaises(cairn.Aborted):
            second.commit()
        second.rollback()
        second.close()

    def test_commit_without_an_answer_is_told(self):
        STORE.unanswered = "/embed.b2e/journal/"
        self.addCleanup(setattr, STORE, "unanswered", None)
        code = """
            import cairn, pickle
            with cairn.open_collection("s3://bucket/a.b2d", "x") as c:
                writer = c.writer()
                writer.add("/m", [1, 2])
                try:
                    writer.commit()
                except cairn.DeadlineExceeded as error:
                    assert isinstance(error, (cairn.Error, TimeoutError)) and error.errno, error
                    print(type(pickle.loads(pickle.dumps(error))).__name__)
                writer.release()
        """
        self.assertEqual(self.run_python(code, CAIRN_CALL_TIMEOUT="0.7"), "DeadlineExceeded\n")


class ModesTest(StoreTest):
    def test_emptied_collection_has_no_attributes(self):
        for path in (self.uri + ".b2d", self.path("a.b2d")):
            with cairn.open_collection(path, "x").writer() as writer:
                writer.add("/g/m", np.arange(3))
                writer.add("/h/m", np.arange(3))
                writer.attributes("/g")["unit"] = "K"
                writer.attributes("/g/deep")["unit"] = "K"
                writer.attributes()["title"] = "old"
            emptied = cairn.open_collection(path, "w")
            with self.subTest(path):
                self.assertEqual((emptied.members(), emptied.groups()), ([], ["/"]))
                with emptied.writer() as writer:
                    writer.add("/g/m", np.arange(3))
                    self.assertEqual(dict(writer.attributes("/g")), {})
                    writer.attributes()["new"] = 1
                self.assertEqual(dict(emptied.attributes("/g")), {})
                self.assertEqual(dict(emptied.attributes()), {"new": 1})

    @unittest.skipUnless(importlib.util.find_spec("xarray"), "no xarray")
    def test_dataset_is_saved_as_a_frame_unless_the_name_is_that_of_a_collection(self):
        import xarray as xr

        import cairn.xarray

        dataset = xr.Dataset({"temp": (("time",), np.arange(3.0))})
        for path in (self.uri, self.uri + ".b2d"):
            dataset.cairn.save(path)
            self.assertEqual(xr.open_dataset(path, engine="cairn").temp.shape, (3,))
        self.assertEqual(cairn.open(self.uri).shape, (3,))
        self.assertEqual(cairn.open_collection(self.uri + ".b2d").members(), ["/temp"])
        with self.assertRaisesRegex(cairn.InvalidArgument, "as a collection, by a name that ends with .b2d"):
            dataset.assign(rain=dataset.temp).cairn.save(self.uri + "/two")


if __name__ == "__main__":
    unittest.main()
