"""Frames and logs at URIs: over a web server of this process, and over the bucket that
CAIRN_TEST_S3_BUCKET names, with the settings of the environment, where there is one."""

import doctest
import importlib.util
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import unittest
import uuid

from support import PackageTest, cairn, np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
sys.path.append(os.path.join(SOURCE, "tests", "support"))
from range_server import RangeServer  # noqa: E402

try:
    import xarray as xr

    import cairn.xarray
except ImportError:
    xr = None

BUCKET = os.environ.get("CAIRN_TEST_S3_BUCKET")
HAS_STORES = cairn is not None and importlib.util.find_spec("cairn._s3") is not None


def sum_of(path):
    return float(cairn.open(path)[:].sum())


def run_python(code, *arguments):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *arguments],
                          capture_output=True, text=True, check=False)  # fmt: skip
    return done.returncode, done.stdout + done.stderr


class PathsTest(PackageTest):
    def test_build_without_stores_says_so(self):
        code = """
            import sys
            sys.modules["cairn._s3"] = None
            import cairn
            for call in (cairn.open, cairn.create, lambda path: cairn.Log.create(path, {"a": "u1"})):
                try:
                    call("s3://bucket/frame")
                except cairn.Unimplemented as error:
                    print(error)
            print(cairn.asarray(range(3), sys.argv[1])[:])
        """
        status, told = run_python(code, self.path())
        self.assertEqual(status, 0, told)
        lines = told.splitlines()
        self.assertEqual(len(lines), 4, told)
        for line in lines[:3]:
            self.assertRegex(line, "^s3://bucket/frame: this build of cairn has no object stores: .*_s3")
        self.assertEqual(lines[3], "[0 1 2]")

    def test_schemes_that_lead_nowhere_are_no_paths(self):
        for uri in ("gs://bucket/frame", "file:///frame", "S3://bucket/frame", "simplecache::s3://bucket/frame"):
            for call in (cairn.open, cairn.create, cairn.Log.open, lambda uri: cairn.to_npy(cairn.asarray([1]), uri), cairn.asarray([1]).backup):
                with self.subTest(uri=uri), self.assertRaises(cairn.InvalidArgument) as caught:
                    call(uri)
                self.assertIn(f"{uri}: scheme '{uri.partition('://')[0]}': expected a path", str(caught.exception))
        with self.assertRaisesRegex(cairn.InvalidArgument, "set AWS_ENDPOINT_URL_S3=https://storage.googleapis.com .* name s3://bucket/frame$"):
            cairn.open("gs://bucket/frame")

    def test_store_module_is_loaded_at_the_first_uri(self):
        code = """
            import sys, cairn
            cairn.asarray(range(3), sys.argv[1])
            print("cairn._s3" in sys.modules, any("libcurl" in line for line in open("/proc/self/maps")))
        """
        status, told = run_python(code, self.path())
        self.assertEqual((status, told), (0, "False False\n"))


@unittest.skipUnless(HAS_STORES, "no module cairn._s3")
class WebTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.server = RangeServer(self.folder)
        self.addCleanup(self.server.close)

    def url(self, name="a.b2nd"):
        return f"{self.server.url}/{name}"

    def test_array_reads_as_the_file_does(self):
        items = np.arange(60_000.0).reshape(300, 200)
        cairn.asarray(items, self.path(), chunks=(20, 30))
        frame = cairn.open(self.url())
        self.assert_same(frame[:], items)
        self.assert_same(frame[17, 5:9], items[17, 5:9])
        self.assert_same(frame[[3, 250], [7, 8]], items[[3, 250], [7, 8]])
        self.assertEqual(frame.path, self.url())
        self.assertTrue(frame.verify().ok)

    def test_opening_takes_three_requests(self):
        cairn.asarray(np.arange(100_000), self.path(), chunks=1000)
        cairn.open(self.url())
        self.assertLessEqual(len(self.server.requests), 3, self.server.requests)

    def test_frame_is_copied_to_a_file(self):
        cairn.asarray(np.arange(1000), self.path())
        cairn.open(self.url()).backup(self.path("copy.b2nd"))
        self.assert_same(cairn.open(self.path("copy.b2nd"))[:], np.arange(1000))

    def test_log_is_queried(self):
        log = cairn.Log.create(self.path("a.log"), {"time": "M8[s]", "value": "f4"})
        log.append({"time": np.datetime64("2026-01-01", "s") + np.arange(100), "value": np.arange(100)})
        with log.writer() as writer:
            writer.checkpoint()
        served = cairn.Log.open(self.url("a.log"))
        self.assertEqual(served.query(where="value >= 98")["value"].tolist(), [98, 99])
        self.assertIn(self.url("a.log"), repr(served))

    def test_frame_is_not_changed(self):
        cairn.asarray(np.arange(10), self.path())
        with self.assertRaises(cairn.Error):
            cairn.open(self.url(), "r+").append([1])
        with self.assertRaises(cairn.Error):
            cairn.create(self.url("new.b2nd"), (3,))

    def test_missing_file_is_not_found(self):
        with self.assertRaises(FileNotFoundError) as raised:
            cairn.open(self.url("nowhere.b2nd"))
        self.assertIn("nowhere.b2nd", str(raised.exception))

    def test_damage_is_data_loss(self):
        cairn.asarray(np.random.default_rng(1).integers(0, 256, 100_000, np.uint8), self.path())
        with open(self.path(), "r+b") as file:
            file.seek(50_000)
            file.write(b"damage")
        with self.assertRaises(cairn.DataLoss):
            cairn.open(self.url())[:]

    def test_pickled_frames_open_where_they_are_unpickled(self):
        cairn.asarray(np.arange(10.0), self.path())
        frame = pickle.loads(pickle.dumps(cairn.open(self.url())))
        self.assertEqual((frame.path, frame[:].sum()), (self.url(), 45.0))
        code = "import pickle, sys; print(pickle.loads(bytes.fromhex(sys.argv[1]))[:].sum())"
        self.assertEqual(run_python(code, pickle.dumps(frame).hex()), (0, "45.0\n"))

    def test_representation_has_the_uri(self):
        cairn.asarray(np.arange(10.0), self.path())
        self.assertIn(f"<cairn.Frame {self.url()!r}, mode 'r', shape=(10,)", repr(cairn.open(self.url())))

    def test_uris_do_not_depend_on_the_working_directory(self):
        cairn.asarray(np.arange(10.0), self.path())
        frame = cairn.open(self.url())
        before = os.getcwd()
        os.chdir("/")
        self.addCleanup(os.chdir, before)
        self.assertEqual(pickle.loads(pickle.dumps(frame))[3], 3.0)

    def test_threads_share_a_frame(self):
        cairn.asarray(np.arange(10_000), self.path(), chunks=100)
        frame = cairn.open(self.url())
        sums = []
        readers = [threading.Thread(target=lambda: sums.append(int(frame[:].sum()))) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertEqual(sums, [49_995_000] * 4)

    @unittest.skipUnless("fork" in multiprocessing.get_all_start_methods(), "no fork")
    def test_forked_process_opens_frames_of_its_own(self):
        cairn.asarray(np.arange(10.0), self.path())
        self.assertEqual(sum_of(self.url()), 45.0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map_async(sum_of, [self.url()] * 4).get(60), [45.0] * 4)


@unittest.skipUnless(HAS_STORES, "no module cairn._s3")
@unittest.skipUnless(BUCKET, "CAIRN_TEST_S3_BUCKET names no bucket")
class StoreTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.prefix = f"s3://{BUCKET}/python_{uuid.uuid4().hex}"

    def test_modes_open_change_and_make(self):
        path = f"{self.prefix}/modes"
        with self.assertRaises(FileNotFoundError):
            cairn.open(path, "r+")
        with cairn.open(path, "a", dtype="<i2", shape=(3,)) as made:
            made[1] = 5
        self.assertEqual(cairn.open(path, "a", dtype="<i2", shape=(9,))[:].tolist(), [0, 5, 0])
        with self.assertRaises(FileExistsError):
            cairn.open(path, "x")
        with self.assertRaises(cairn.FailedPrecondition):
            cairn.open(path)[0] = 1
        self.assertEqual(cairn.open(path, "w", dtype="<f8").shape, (0,))

    def test_array_comes_back(self):
        items = np.arange(60_000.0).reshape(300, 200)
        frame = cairn.asarray(items, f"{self.prefix}/array", chunks=(20, 30))
        self.assert_same(frame[:], items)
        frame.append(np.ones((10, 200)))
        with frame.writer() as writer:
            writer[5] = 7
            writer.vlmeta["unit"] = b"kelvin"
        again = cairn.open(f"{self.prefix}/array")
        self.assertEqual((again.shape, again[5, 5], again[305, 5]), ((310, 200), 7, 1))
        self.assertEqual(dict(again.vlmeta), {"unit": b"kelvin"})
        self.assertTrue(again.verify().ok)
        again.backup(self.path("copy"))
        self.assert_same(cairn.open(self.path("copy"))[:], again[:])

    def test_writers_append_side_by_side(self):
        path = f"{self.prefix}/appended"
        cairn.create(path, None, "<i8", chunksize=80)
        frames = [cairn.open(path, "r+", dtype="<i8") for _ in range(3)]

        def append(frame, number):
            for _ in range(4):
                frame.append(np.full(10, number))

        writers = [threading.Thread(target=append, args=(frame, n)) for n, frame in enumerate(frames)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        items = cairn.open(path, dtype="<i8")[:]
        self.assertEqual(np.bincount(items).tolist(), [40, 40, 40])

    def test_others_see_commits(self):
        path = f"{self.prefix}/followed"
        frame = cairn.create(path, (0,), "<i4")
        reader = cairn.open(path)
        self.assertFalse(reader.refresh())
        frame.append([1, 2, 3])
        self.assertTrue(reader.refresh(wait=10))
        self.assertEqual(reader[:].tolist(), [1, 2, 3])
        self.assertEqual([items.tolist() for items in reader.follow(start=1, timeout=0)], [[2, 3]])

    def test_log_is_written_queried_and_pickled(self):
        path = f"{self.prefix}/log"
        log = cairn.Log.create(path, {"time": "M8[s]", "value": "f4"})
        seconds = np.datetime64("2026-01-01", "s") + np.arange(100)
        with log.writer() as writer:
            writer.append({"time": seconds, "value": np.arange(100)})
        log = pickle.loads(pickle.dumps(log))
        self.assertEqual(log.query("2026-01-01T00:01:38")["value"].tolist(), [98, 99])
        self.assertEqual(log.path, path)
        same = cairn.Log.create(path, {"time": "M8[s]", "value": "f4"}, exist_ok=True)
        self.assertEqual(len(same), 100)

    @unittest.skipIf(xr is None, "no xarray")
    def test_collection_opens_as_a_dataset(self):
        path = f"{self.prefix}/cube.b2d"
        temp = np.arange(6.0).reshape(2, 3)
        with cairn.open_collection(path, "a") as made, made.writer() as writer:
            writer.add("/day/temp", temp)
            writer.commit()
            writer["/day/temp"].attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
        with xr.open_dataset(path, engine="cairn", group="/day") as found:
            self.assertEqual(found.temp.dims, ("y", "x"))
            self.assert_same(found.temp.values, temp)
        alone = f"{self.prefix}/alone.b2nd"  # a frame
        xr.DataArray(temp, dims=("y", "x"), name="temp").cairn.save(alone)
        with xr.open_dataset(alone, engine="cairn") as found:
            self.assert_same(found.temp.values, temp)

    @unittest.skipIf(xr is None, "no xarray")
    def test_dataset_is_saved_and_appended_to_as_a_collection(self):
        path = f"{self.prefix}/days.b2d"
        items = np.arange(24.0).reshape(4, 6)
        days = xr.Dataset({"temp": (("time", "x"), items), "rain": (("time",), np.arange(4))}, {"time": np.arange(4)}, {"title": "a"})
        for first in range(3):
            days.isel(time=[first]).cairn.save(path, append_dim="time")
        with xr.open_dataset(path, engine="cairn") as opened:
            days.isel(time=[3]).cairn.save(path, append_dim="time")
            xr.testing.assert_identical(opened.load(), days.isel(time=[0, 1, 2]))
        with xr.open_dataset(path, engine="cairn") as found:
            xr.testing.assert_identical(found.load(), days)
        with self.assertRaises(cairn.AlreadyExists):
            days.cairn.save(path)
        days.isel(time=[1]).cairn.save(path, overwrite=True)
        with xr.open_dataset(path, engine="cairn") as found:
            xr.testing.assert_identical(found.load(), days.isel(time=[1]))
        self.assertTrue(cairn.open_collection(path).verify().ok)

    def test_collection_commits_all_members_at_once(self):
        path = f"{self.prefix}/weather.b2d"
        made = cairn.open_collection(path, "a")
        reader = cairn.open_collection(path)
        with made.writer() as writer:
            writer.add("/day/temp", np.full((2, 180), 20.5, "f4"))
            writer.add("/day/rain", np.zeros((2, 180), "f4"))
            writer.add("/day/mean", np.zeros(1, "f4"))
        self.assertEqual(list(reader), [])
        reader.refresh()
        self.assertEqual((sorted(reader), reader.number), (["/day/mean", "/day/rain", "/day/temp"], 1))
        other = cairn.open_collection(path, "r+")
        with made.writer() as ours, other.writer() as theirs:
            ours["/day/mean"].append([1, 2])
            theirs["/day/rain"].append(np.ones((1, 180), "f4"))
            theirs["/day/mean"].append([3])
        made.refresh()
        self.assertEqual((made["/day/mean"][:].tolist(), made["/day/rain"].shape), ([0, 3, 1, 2], (3, 180)))
        self.assertTrue(made.verify().ok)
        made.backup(self.path("copy.b2d"))
        copy = cairn.open_collection(self.path("copy.b2d"))
        self.assert_same(copy["/day/temp"][:], made["/day/temp"][:])
        with self.assertRaisesRegex(cairn.Unimplemented, "cairn backup"):
            copy.backup(f"{self.prefix}/again.b2d")
        made.backup(f"{self.prefix}/again.b2d")
        self.assertEqual(sorted(cairn.open_collection(f"{self.prefix}/again.b2d")), sorted(made))

    def test_python_page_shows_what_happens(self):
        with open(os.path.join(SOURCE, "docs", "python.md"), encoding="utf-8") as file:
            (block,) = re.findall(r"(?ms)^```python s3\n(.*?)^```$", file.read())
        block = block.replace("s3://weather", self.prefix)
        test = doctest.DocTestParser().get_doctest(block, {"cairn": cairn, "np": np}, "python.md", "python.md", 0)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        told = []
        failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
        self.assertEqual(failed, 0, "".join(told))
        self.assertGreater(tried, 2)


if __name__ == "__main__":
    unittest.main()
