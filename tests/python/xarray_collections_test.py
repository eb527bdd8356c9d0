"""Datasets of xarray in collections, in directories and in an object store, where each save and each append is one commit."""

import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import unittest
from unittest import mock

from support import PackageTest, blosc2, cairn, needs_blosc2, np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
sys.path.append(os.path.join(SOURCE, "tests", "support"))
from fake_store import FakeStore  # noqa: E402

try:
    import xarray as xr

    import cairn.xarray
    from xarray_test import cube
except ImportError:
    xr = None

HAS_STORES = cairn is not None and importlib.util.find_spec("cairn._s3") is not None

# Appends days to the dataset at argv[1]. Each item of a day is the day's number.
APPENDER = """
import sys, numpy as np, xarray as xr, cairn.xarray
day, last = int(sys.argv[2]), int(sys.argv[3])
while day != last:
    items = np.full((1, 40, 50), float(day))
    ds = xr.Dataset({"a": (("time", "y", "x"), items), "b": (("time",), [day])}, coords={"time": [day]})
    ds.cairn.save(sys.argv[1], append_dim="time", wait=60)
    print(day, flush=True)
    day += 1
"""


def setUpModule():
    global STORE
    STORE = FakeStore.serving(unittest.addModuleCleanup)


class _DatasetTest(PackageTest):
    """Saves datasets at `self.where`."""

    def read(self, **how):
        with xr.open_dataset(self.where, engine="cairn", **how) as found:
            return found.load()

    def start(self, first, last=-1):
        return subprocess.Popen([sys.executable, "-c", APPENDER, self.where, str(first), str(last)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip

    def test_dataset_round_trips(self):
        cube().cairn.save(self.where, codec="zstd", encoding={"temp": {"chunks": (2, 4, 5)}})
        xr.testing.assert_identical(self.read(), cube())
        made = cairn.open_collection(self.where)
        self.assertEqual(made.members(), [f"/{name}" for name in sorted(cube().variables)])
        self.assertEqual((made["/temp"].info.codec, made["/temp"].chunks), ("zstd", (2, 4, 5)))
        attributes = {name: value for name, value in made.attributes().items() if name != "_APPENDS"}
        self.assertEqual(attributes, {"title": "weather", "levels": 3})

    def test_xarray_finds_the_engine(self):
        cube().cairn.save(self.where)
        with xr.open_dataset(self.where) as found:
            self.assertEqual(found["temp"].shape, (10, 4, 5))

    def test_append_is_one_commit(self):
        days = cube(12)
        days.isel(time=slice(0, 10)).cairn.save(self.where, append_dim="time")
        made = cairn.open_collection(self.where)
        before = made.snapshot()
        days.isel(time=slice(10, 12)).cairn.save(self.where, append_dim="time")
        made.refresh()
        grown = [name for name, one in made.items() if one.shape != before[name].shape]
        self.assertEqual(grown, ["/rain", "/station", "/temp", "/time"])
        self.assertEqual(made.number, before.number + self.commits)
        xr.testing.assert_identical(self.read(), days)

    def test_append_encodes_as_what_is_there(self):
        days = cube(4)
        packed = {"temp": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -9999}}
        days.isel(time=[0, 1, 2]).cairn.save(self.where, append_dim="time", encoding=packed)
        days.isel(time=[3]).cairn.save(self.where, append_dim="time")
        self.assertEqual(cairn.open_collection(self.where)["/temp"].dtype, "<i2")
        xr.testing.assert_allclose(self.read(), days, atol=0.006)

    def test_append_that_does_not_fit_changes_nothing(self):
        cube().cairn.save(self.where)
        number = cairn.open_collection(self.where).number
        for wrong in (cube(2).drop_vars("rain"), cube(2).isel(lat=[0, 1]), cube(2).assign(lat=np.arange(4.0))):
            with self.assertRaises(cairn.InvalidArgument):
                wrong.cairn.save(self.where, append_dim="time")
        xr.testing.assert_identical(self.read(), cube())
        self.assertLessEqual(cairn.open_collection(self.where).number, number + 3)

    def test_overwrite_replaces_in_one_commit_and_readers_keep_what_they_opened(self):
        cube().cairn.save(self.where)
        with self.assertRaises(cairn.AlreadyExists):
            cube(2).cairn.save(self.where)
        with xr.open_dataset(self.where, engine="cairn") as opened:
            other = cube(3, seed=2).drop_vars("calm").assign_attrs(title="other")
            other.cairn.save(self.where, overwrite=True)
            xr.testing.assert_identical(opened.load(), cube())
        xr.testing.assert_identical(self.read(), other)

    def test_overwrite_drops_all_members_and_attributes(self):
        with cairn.open_collection(self.where, "a").writer() as writer:
            writer.add("/day/deep/x", [1, 2])
            writer.add("/temp", [3])
            writer["/temp"].vlmeta["units"] = "F"
            writer.attributes("/day")["hours"] = 24
            writer.attributes()["title"] = "old"
        cube(2).drop_attrs().cairn.save(self.where, overwrite=True)
        made = cairn.open_collection(self.where)
        self.assertEqual((made.groups(), self.read().attrs), (["/"], {}))
        self.assertEqual(made.members(), [f"/{name}" for name in sorted(cube().variables)])
        self.assertNotIn("units", made["/temp"].vlmeta)

    def test_save_that_fails_leaves_no_dataset(self):
        for dim in (None, "time"):
            with self.assertRaises(cairn.InvalidArgument):
                cube().cairn.save(self.where, append_dim=dim, encoding={"temp": {"chunks": (2, 2)}})
            with self.assertRaises(cairn.NotFound):
                self.read()
            with self.assertRaises(cairn.InvalidArgument):
                cube().cairn.save(self.where, append_dim=dim, encoding={"none": {}})
        with self.assertRaises(cairn.InvalidArgument):
            cube().cairn.save(self.where, append_dim="day")
        cube().cairn.save(self.where)
        xr.testing.assert_identical(self.read(), cube())

    def test_region_is_written_in_one_commit_beside_readers(self):
        cube().cairn.save(self.where, append_dim="time", chunks={"time": 4})
        expected = cube().load()
        with xr.open_dataset(self.where, engine="cairn") as opened:
            with cairn.open_collection(self.where, "r+").writer() as writer:
                writer["/temp"][3:6, 1:] = np.full((3, 3, 5), 7.0, "f4")
                writer["/rain"][:, 3:6] = 9
                writer["/height"][1] = 0.0
            xr.testing.assert_identical(opened.load(), cube())
        expected["temp"][3:6, 1:] = 7
        expected["rain"][:, 3:6] = 9
        expected["height"][1] = 0
        xr.testing.assert_identical(self.read(), expected)
        cube(12).isel(time=[10, 11]).assign_coords(height=expected["height"]).cairn.save(self.where, append_dim="time")
        self.assertEqual(self.read().sizes["time"], 12)

    def test_many_attributes_round_trip_and_grow(self):
        def many(count, title):
            attrs = {f"attribute{number:02}": [number, np.arange(number)] for number in range(count)}
            found = cube(3).assign_attrs({**attrs, "title": title})
            found["temp"].attrs = {"units": "K", **{f"note{number:02}": f"{number} notes" for number in range(count)}}
            return found

        for count in (9, 10, 11, 12, 13, 14, 15, 40):
            with self.subTest(count=count):
                many(count, "first").cairn.save(self.where, overwrite=True)
                xr.testing.assert_identical(self.read(), many(count, "first"))
        days = many(50, "second").assign_coords(time=cube(6).time[3:])
        days.cairn.save(self.where, append_dim="time")
        found = self.read()
        self.assertEqual(found.sizes["time"], 6)
        xr.testing.assert_identical(xr.Dataset(attrs=found.attrs), xr.Dataset(attrs=days.attrs))
        self.assertEqual(found["temp"].attrs, many(40, "first")["temp"].attrs)

    def test_small_datasets_round_trip(self):
        for dataset in (xr.Dataset(), xr.Dataset(attrs={"a": 1}), xr.Dataset({"one": ((), 3.5)}), xr.Dataset({"none": ("x", [])})):
            with self.subTest(dataset=dataset):
                dataset.cairn.save(self.where, overwrite=True)
                xr.testing.assert_identical(self.read(), dataset)
                with self.assertRaises(cairn.AlreadyExists):
                    dataset.cairn.save(self.where)

    def test_reader_beside_writers_that_are_killed_sees_whole_days(self):
        first = xr.Dataset({"a": (("time", "y", "x"), np.zeros((1, 40, 50))), "b": (("time",), [0])}, coords={"time": [0]})
        first.cairn.save(self.where, append_dim="time")
        day = 1
        for _ in range(4):
            writer = self.start(day)
            for _ in range(3):
                day = int(writer.stdout.readline()) + 1
                self.check_days(day)
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
            day = self.check_days(day)
        self.assertGreaterEqual(day, 13)

    def check_days(self, least):
        found = self.read()
        days = found.sizes["time"]
        self.assertGreaterEqual(days, least, "an acknowledged day is lost")
        for name in ("a", "b"):
            numbers = found[name].values.reshape(days, -1)
            self.assertTrue((numbers == np.arange(days)[:, None]).all(), name)
        return days

    def test_appends_of_several_processes_wait_for_each_other(self):
        first = xr.Dataset({"a": (("time", "y", "x"), np.zeros((1, 40, 50))), "b": (("time",), [0])}, coords={"time": [0]})
        first.cairn.save(self.where, append_dim="time")
        writers = [self.start(100 * number, 100 * number + 5) for number in range(1, 4)]
        for writer in writers:
            self.assertEqual((writer.communicate()[1], writer.returncode), ("", 0))
        found = self.read()
        self.assertEqual(sorted(found["b"].values), [0, *(100 * number + step for number in range(1, 4) for step in range(5))])
        self.assertTrue((found["a"].values == found["b"].values[:, None, None]).all())

    def test_groups_of_any_collection_open(self):
        with cairn.open_collection(self.where, "a").writer() as writer:
            writer.add("/day/temp", np.arange(6.0).reshape(2, 3))
            writer.add("/day/deep/x", [1, 2])
            writer.add("/day/records", np.zeros(3, [("a", "i4")]))
            writer.add("/top", [1])
            writer.attributes("/day")["hours"] = 24
        found = self.read(group="/day")
        self.assertEqual((list(found.variables), found["temp"].dims, found.attrs), (["temp"], ("temp_dim_0", "temp_dim_1"), {"hours": 24}))
        self.assertEqual(list(self.read().variables), ["top"])
        with self.assertRaisesRegex(cairn.NotFound, "no group 'night'; there are /, /day, /day/deep"):
            self.read(group="night")
        with self.assertRaisesRegex(cairn.InvalidArgument, "a collection has none"):
            self.read(generation=2)

    def test_pickled_dataset_reads_what_was_opened_or_tells(self):
        cube().cairn.save(self.where)
        opened = xr.open_dataset(self.where, engine="cairn")
        pickled = pickle.dumps(opened)
        xr.testing.assert_identical(pickle.loads(pickled).load(), cube())
        with cairn.open_collection(self.where, "r+").writer() as writer:
            writer.add("/other", [1])
        self.assertEqual(pickle.loads(pickled)["temp"].values.tobytes(), cube()["temp"].values.tobytes())
        with cairn.open_collection(self.where, "r+").writer() as writer:
            writer["/temp"][0] = 0
        with self.assertRaisesRegex(cairn.FailedPrecondition, "/temp has changed since commit"):
            pickle.loads(pickled)
        self.assertEqual(opened["temp"].values.tobytes(), cube()["temp"].values.tobytes())

    def days(self, first, last):
        return cube(12).isel(time=slice(first, last))

    def test_pickled_dataset_outlives_appends(self):
        pickled = []
        for day in range(4):
            self.days(day, day + 1).cairn.save(self.where, append_dim="time")
            with xr.open_dataset(self.where, engine="cairn") as opened:
                pickled.append(pickle.dumps(opened))
        with cairn.open_collection(self.where, "r+").writer() as writer:
            writer.add("/other", [1])
        for days, one in enumerate(pickled, 1):
            with self.subTest(days=days):
                found = pickle.loads(one)
                again = pickle.loads(pickle.dumps(found))
                xr.testing.assert_identical(found.load(), self.days(0, days))
                xr.testing.assert_identical(again.load(), self.days(0, days))

    def test_pickled_dataset_tells_changes_between_appends(self):
        def pickled():
            with xr.open_dataset(self.where, engine="cairn") as opened:
                return pickle.dumps(opened)

        self.days(0, 1).cairn.save(self.where, append_dim="time")
        first = pickled()
        with cairn.open_collection(self.where, "r+").writer() as writer:
            writer["/temp"][0] = 0
        changed = pickled()
        self.days(1, 2).cairn.save(self.where, append_dim="time")
        later = pickled()
        self.days(2, 3).cairn.save(self.where, append_dim="time")
        for one in (first, changed):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "/temp has changed since commit"):
                pickle.loads(one)
        self.assertEqual(pickle.loads(later).sizes["time"], 2)
        with cairn.open_collection(self.where, "r+").writer() as writer:
            writer["/temp"].vlmeta["units"] = "F"
        with self.assertRaisesRegex(cairn.FailedPrecondition, "/temp has changed since commit"):
            pickle.loads(later)
        self.days(0, 3).cairn.save(self.where, overwrite=True)
        with self.assertRaisesRegex(cairn.FailedPrecondition, "has changed since commit"):
            pickle.loads(later)

    def test_dask_reads_what_was_opened_beside_appends(self):
        try:
            import dask  # noqa: F401
        except ImportError:
            self.skipTest("no dask")
        self.days(0, 4).cairn.save(self.where, append_dim="time")
        with xr.open_dataset(self.where, engine="cairn", chunks={"time": 1}) as opened:
            graph = pickle.dumps(opened["temp"].max())
            expected = float(self.days(0, 4)["temp"].max())
            self.days(4, 6).cairn.save(self.where, append_dim="time")
            self.assertEqual(float(pickle.loads(graph).compute(scheduler="processes", num_workers=2)), expected)


@unittest.skipIf(xr is None, "no xarray")
class DirectoryTest(_DatasetTest):
    commits = 2  # of an append: its own, and one that lists the checkpoints of its end

    def setUp(self):
        super().setUp()
        self.where = self.path("weather.b2d")

    def test_nothing_is_left_beside_the_dataset(self):
        with self.assertRaises(cairn.InvalidArgument):
            cube().cairn.save(self.where, encoding={"temp": {"chunks": (2, 2)}})
        self.assertEqual(os.listdir(self.folder), [])
        cube().cairn.save(self.where)
        self.assertEqual(os.listdir(self.folder), ["weather.b2d"])

    def test_directories_of_frames_are_no_collections(self):
        cube(2).cairn.save(self.path("plain"))
        with self.assertRaisesRegex(cairn.InvalidArgument, "it is no collection"):
            xr.open_dataset(self.path("plain"), engine="cairn", group="/day")
        os.rename(self.path("plain"), self.path("plain.b2d"))
        with self.assertRaisesRegex(cairn.FailedPrecondition, "it is no collection"):
            cube(2).cairn.save(self.path("plain.b2d"), overwrite=True)

    def test_packed_collection_opens(self):
        where = self.path("packed.b2d")
        xr.Dataset({"t": ("x", [1.0, 2.0])}, attrs={"title": "a"}).cairn.save(where)
        cairn.open_collection(where).backup(self.path("packed.b2z"))
        with xr.open_dataset(self.path("packed.b2z")) as found:
            xr.testing.assert_identical(found.load(), xr.open_dataset(where, engine="cairn").load())
        with self.assertRaisesRegex(cairn.NotFound, "no group '/day'"):
            xr.open_dataset(self.path("packed.b2z"), engine="cairn", group="/day")

    @needs_blosc2
    def test_stores_of_python_blosc2_open_as_before(self):
        with blosc2.TreeStore(self.where, mode="w") as store:
            store["/a"] = np.arange(10_000)
        self.assertEqual(self.read()["a"].values[9_999], 9_999)
        cube().cairn.save(self.path("ours.b2d"))
        with blosc2.TreeStore(self.path("ours.b2d"), mode="r") as store:
            self.assert_same(store["/temp"][:], cube()["temp"].values)
            self.assertEqual(store.vlmeta["title"], "weather")


@unittest.skipIf(xr is None or not HAS_STORES, "no xarray, or no module cairn._s3")
class StoreTest(_DatasetTest):
    commits = 1

    def setUp(self):
        super().setUp()
        self.where = f"s3://bucket/{self.id().rpartition('.')[2]}.b2d"

    def test_collection_without_a_commit_is_no_dataset(self):
        cairn.open_collection(self.where, "x").close()  # as a saver leaves it that is killed before its commit
        with self.assertRaisesRegex(cairn.NotFound, "nothing is committed there"):
            self.read()
        cube().cairn.save(self.where)
        xr.testing.assert_identical(self.read(), cube())

    def test_name_may_end_with_a_slash(self):
        self.days(0, 2).cairn.save(self.where + "/", append_dim="time")
        self.days(2, 3).cairn.save(self.where, append_dim="time")
        self.days(3, 4).cairn.save(self.where + "/", append_dim="time")
        xr.testing.assert_identical(self.read(), self.days(0, 4))
        with xr.open_dataset(self.where + "/", engine="cairn") as opened:
            xr.testing.assert_identical(pickle.loads(pickle.dumps(opened)).load(), self.days(0, 4))

    def test_what_is_no_collection_stays_and_is_told(self):
        name = self.where[len("s3://bucket/") :] + "/other"
        STORE.objects[name] = b"of another program"
        for how in ({}, {"overwrite": True}, {"append_dim": "time"}):
            with self.subTest(how), mock.patch.object(cairn.collection, "_MAKING", 0.1):
                with self.assertRaisesRegex(cairn.AlreadyExists, "other is there"):
                    cube().cairn.save(self.where, **how)
        self.assertEqual(STORE.objects[name], b"of another program")

    def save_beside(self, dataset, others, **how):
        """Saves a dataset, and calls `others` once before the commit."""
        called = []
        real = cairn.collection_writer.CollectionWriter.close

        def close(writer):
            if not called:
                called.append(writer)
                others()
            real(writer)

        with mock.patch.object(cairn.collection_writer.CollectionWriter, "close", close):
            dataset.cairn.save(self.where, **how)
        self.assertTrue(called)

    def append(self, first, last):
        self.days(first, last).cairn.save(self.where, append_dim="time")

    def test_append_is_made_again_on_top_of_those_of_others(self):
        self.append(0, 2)
        self.save_beside(self.days(3, 4), lambda: self.append(2, 3), append_dim="time", wait=10)
        xr.testing.assert_identical(self.read(), self.days(0, 4))

    def test_append_that_collides_is_refused_unless_it_may_wait(self):
        self.append(0, 2)
        with self.assertRaisesRegex(cairn.Unavailable, "another writer's commit came before.*tried once in 0 s"):
            self.save_beside(self.days(2, 3), lambda: self.append(2, 3), append_dim="time")
        xr.testing.assert_identical(self.read(), self.days(0, 3))

    def test_append_checks_again_what_it_is_made_on(self):
        self.append(0, 2)
        other = self.days(0, 2).transpose("lon", ...)
        with self.assertRaisesRegex(cairn.InvalidArgument, "has the dimensions"):
            self.save_beside(
                self.days(2, 3), lambda: other.cairn.save(self.where, overwrite=True), append_dim="time", wait=10
            )
        xr.testing.assert_identical(self.read(), other)

    def test_append_beside_a_commit_of_another_variable_stands(self):
        self.append(0, 2)

        def others():
            with cairn.open_collection(self.where, "r+").writer() as writer:
                writer.add("/other", [1.0])

        self.save_beside(self.days(2, 3), others, append_dim="time")
        self.assertEqual((self.read().sizes["time"], self.read()["other"].shape), (3, (1,)))

    def test_overwrite_replaces_what_others_have_appended_meanwhile(self):
        self.append(0, 2)
        other = cube(3, seed=2)
        self.save_beside(other, lambda: self.append(2, 3), overwrite=True)
        xr.testing.assert_identical(self.read(), other)

    def test_one_of_several_first_savers_stands(self):
        one, other = xr.Dataset({"a": ("x", [1.0])}), xr.Dataset({"b": ("x", [2.0])})
        with self.assertRaises(cairn.AlreadyExists):
            self.save_beside(one, lambda: other.cairn.save(self.where))
        xr.testing.assert_identical(self.read(), other)


del _DatasetTest  # it is run by its classes alone

if __name__ == "__main__":
    unittest.main()
