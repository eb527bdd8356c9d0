"""Datasets of xarray that are changed: by appends, by several savers at once, and under handles that were pickled."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import unittest
import unittest.mock
import warnings

from support import PackageTest, cairn, np

try:
    import xarray as xr

    import cairn.xarray
except ImportError:
    xr = None

try:
    import dask
except ImportError:
    dask = None

try:
    import zarr
except ImportError:
    zarr = None

# Saves a dataset at argv[1] again and again, whose variables are called as argv[2] says and hold argv[3].
SAVER = """
import sys, numpy as np, xarray as xr, cairn, cairn.xarray
number = int(sys.argv[3])
ds = xr.Dataset({name: (("x",), np.full(7, number)) for name in sys.argv[2].split(",")}, attrs={"number": number})
for _ in range(int(sys.argv[4])):
    ds.cairn.save(sys.argv[1], overwrite=True, wait=20)
"""

# Saves a dataset at argv[1], and stops before it is complete.
SLEEPER = """
import sys, time, numpy as np, xarray as xr, cairn, cairn.xarray
from cairn import dataset_writer
real = dataset_writer._put
def put(*how):
    real(*how)
    print("there", flush=True)
    time.sleep(100)
dataset_writer._put = put
xr.Dataset({"a": ("x", np.arange(5))}).cairn.save(sys.argv[1], overwrite=True)
"""


def series(days=3, first=0, **attrs):
    return xr.Dataset(
        {"temp": (("time", "x"), np.arange(first * 4, (first + days) * 4).reshape(days, 4) * 0.5), "calm": ("x", np.arange(4))},
        coords={"time": np.datetime64("2026-01-01", "ns") + np.arange(first, first + days) * np.timedelta64(1, "D")},
        attrs=attrs,
    )


@unittest.skipIf(xr is None, "no xarray")
class ChangesTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start(self, program, *arguments, **how):
        started = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], env=self.environment, **how)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def read(self, path, **how):
        with xr.open_dataset(path, engine="cairn", **how) as found:
            return found.load()

    # Appends

    @unittest.skipIf(zarr is None, "no zarr")
    def test_append_overwrites_and_updates_what_to_zarr_does(self):
        first = series(3, title="first", kept=1)
        then = series(2, 3, title="then").assign(calm=("x", np.arange(4) * 10))
        then["temp"].attrs["long_name"] = "temperature"
        for ds in (first, then):
            ds.cairn.save(self.path("ours"), append_dim="time")
            ds.to_zarr(self.path("theirs"), append_dim="time" if ds is then else None, consolidated=False)
        with xr.open_zarr(self.path("theirs"), consolidated=False) as theirs:
            expected = theirs.load().assign_attrs(title="then", kept=1)  # zarr also drops what is not given again
        xr.testing.assert_identical(self.read(self.path("ours")), expected)

    def test_append_updates_attributes_of_one_frame(self):
        path = self.path("temp.b2nd")
        for ds in (series(3, title="first", kept=1), series(2, 3, title="then")):
            ds.drop_vars("calm").cairn.save(path, append_dim="time")
        self.assertEqual(self.read(path).attrs, {"title": "then", "kept": 1})

    def test_append_does_not_commit_a_variable_that_stays_the_same(self):
        for ds in (series(3), series(2, 3)):
            ds.cairn.save(self.path("ours"), append_dim="time")
        self.assertEqual(cairn.open(self.path("ours/calm.b2nd")).generation, 1)

    def test_append_refuses_a_variable_of_another_size(self):
        series(3).cairn.save(self.path("ours"), append_dim="time")
        with self.assertRaisesRegex(cairn.InvalidArgument, "'(calm|temp)' has 4 items along 'x', not 5"):
            wrong = series(2, 3).rename(x="y").assign(calm=("x", np.arange(5)))
            wrong.assign(temp=(("time", "x"), np.ones((2, 5)))).cairn.save(self.path("ours"), append_dim="time")
        xr.testing.assert_identical(self.read(self.path("ours")), series(3))

    def test_times_of_a_dataset_that_grows_have_the_unit_of_their_type(self):
        for unit in ("s", "ms", "us", "ns"):
            with self.subTest(unit=unit):
                path = self.path(f"times_{unit}")
                day = series(2).assign_coords(time=np.array(["2026-01-01", "2026-01-02"], f"M8[{unit}]"))
                day["wait"] = ("time", np.array([1, 2], "m8[D]").astype(f"m8[{unit}]"))
                later = day.assign_coords(time=day["time"] + np.array([200000 * 24 * 3600 // 24 // 60 + 1], "m8[s]"))
                later = later.assign_coords(time=later["time"] + np.array(1, f"m8[{unit}]"))
                later["wait"] = ("time", np.array([1, "NaT"], f"m8[{unit}]"))
                for ds in (day, later):
                    ds.cairn.save(path, append_dim="time")
                coder = xr.coders.CFDatetimeCoder(time_unit=unit)
                with xr.open_dataset(path, engine="cairn", decode_times=coder, decode_timedelta=xr.coders.CFTimedeltaCoder(time_unit=unit)) as found:
                    expected = xr.concat([day, later], "time", data_vars="minimal")
                    xr.testing.assert_identical(found.load(), expected)

    def test_times_of_coarser_types_are_appended_to_finer_ones(self):
        path = self.path("times")
        expected = []
        for day, unit in enumerate(("us", "s", "ms", "us"), 1):
            when = np.array([f"2026-01-0{day}"], f"M8[{unit}]")
            span = np.array([day], f"m8[{unit}]")
            xr.Dataset({"n": ("time", [day]), "span": ("time", span)}, coords={"time": when}).cairn.save(path, append_dim="time")
            expected.append((when[0], span[0]))
        found = self.read(path, decode_timedelta=True)
        self.assertEqual(found["time"].values.tolist(), np.array([when for when, _ in expected], "M8[ns]").tolist())
        self.assertEqual(found["span"].values.astype("m8[ns]").tolist(), np.array([span for _, span in expected], "m8[ns]").tolist())
        for far in ("300000-01-01", "-300000-01-01"):
            with warnings.catch_warnings(), self.assertRaisesRegex(cairn.InvalidArgument, "'time'"):
                warnings.simplefilter("ignore")
                late = xr.Dataset({"n": ("time", [9]), "span": ("time", span)}, coords={"time": np.array([far], "M8[s]")})
                late.cairn.save(path, append_dim="time")

    def test_time_that_is_missing_and_units_that_are_said_stay(self):
        path = self.path("times")
        when = np.array(["2026-01-01", "NaT", "1800-01-01"], "M8[ns]")
        ds = xr.Dataset({"when": ("n", when), "said": ("n", when[[0, 0, 0]])})
        ds["said"].encoding["units"] = "hours since 2000-01-01"
        for _ in range(2):
            ds.cairn.save(path, append_dim="n")
        xr.testing.assert_identical(self.read(path), xr.concat([ds, ds], "n"))
        self.assertEqual(cairn.open(f"{path}/said.b2nd").attrs["units"], "hours since 2000-01-01")

    # Texts

    def test_bounds_of_times_have_the_units_of_these(self):
        days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[ns]")

        def made(encoding=None, first=0):
            time = ("time", days[first : first + 2] + np.timedelta64(12, "h"), {"bounds": "time_bnds"}, encoding or {})
            bounds = np.stack([days[first : first + 2], days[first : first + 2] + np.timedelta64(1, "D")], axis=1)
            return xr.Dataset({"time_bnds": (("time", "b"), bounds)}, {"time": time})

        said = ({}, {"units": "days since 1850-01-01", "dtype": "f8"}, {"units": "hours since 1850-01-01", "dtype": "i4"})
        for number, encoding in enumerate(said):
            for dim in (None, "time"):
                with self.subTest(encoding=encoding, dim=dim):
                    where = self.path(f"bounds {number} {dim}.b2d")
                    made(encoding).cairn.save(where, **({"append_dim": dim} if dim else {}))
                    with xr.open_dataset(where, engine="cairn") as found:
                        xr.testing.assert_identical(found.load(), made())
                    if encoding:
                        self.assertNotIn("units", cairn.open_collection(where)["/time_bnds"].attrs)
                    made(first=1).cairn.save(where, append_dim="time")
                    with xr.open_dataset(where, engine="cairn") as found:
                        both = xr.concat([made(), made(first=1)], "time", data_vars="all")
                        xr.testing.assert_identical(found.load(), both)

    def test_signed_numbers_may_stand_for_unsigned_ones(self):
        ds = xr.Dataset({"a": ("x", [1.0, 250, np.nan, 3])})
        ds.a.encoding = {"dtype": "i1", "_Unsigned": "true", "_FillValue": np.int8(-1)}
        where = self.path("unsigned.b2d")
        ds.cairn.save(where)
        self.assertEqual(cairn.open_collection(where)["/a"].dtype, np.int8)
        with xr.open_dataset(where, engine="cairn") as found:
            xr.testing.assert_identical(found.load(), ds)
            found.cairn.save(self.path("again.b2d"))
        ds.a[0] = 256
        with self.assertRaisesRegex(cairn.InvalidArgument, "does not hold values"):
            ds.cairn.save(self.path("no.b2d"))

    def test_texts_of_either_byte_order_keep_their_length(self):
        for kind in (">U5", "<U5", ">f4", ">i2"):
            with self.subTest(kind=kind):
                path = self.path(f"texts{kind[1:]}{ord(kind[0])}")
                ds = xr.Dataset({"v": ("x", np.array([1, 22, 333]).astype(kind))})
                ds.cairn.save(path, append_dim="x")
                ds.cairn.save(path, append_dim="x")
                found = self.read(path)["v"]
                self.assertEqual(found.dtype, np.dtype(kind).newbyteorder("="))
                self.assertEqual(found.values.tolist(), ds["v"].values.tolist() * 2)
                found.to_dataset().cairn.save(path + "again")
                self.assertEqual(self.read(path + "again")["v"].dtype, found.dtype)

    # Several savers

    def test_readers_beside_savers_find_one_dataset_or_none(self):
        path = self.path("d")
        for turn in range(3):
            target = f"{path}{turn}"
            savers = [self.start(SAVER, target, names, number, 25) for number, names in enumerate(("a,b,c", "c,d", "e"))]
            found = 0
            while any(saver.poll() is None for saver in savers):
                try:
                    ds = self.read(target)
                except cairn.NotFound:
                    self.assertEqual(found, 0)  # before the first one is there
                    continue
                found += 1
                self.assertEqual(set(ds.data_vars), [{"a", "b", "c"}, {"c", "d"}, {"e"}][ds.attrs["number"]])
                for one in ds.data_vars.values():
                    self.assertEqual(one.values.tolist(), [ds.attrs["number"]] * 7)
            self.assertEqual([saver.returncode for saver in savers], [0, 0, 0])
            self.assertGreater(found, 0)
        self.assertFalse([one for one in os.listdir(self.folder) if one.endswith(".tmp")])

    def test_append_beside_savers_adds_to_one_dataset(self):
        path = self.path("d")
        appender = """
import sys, numpy as np, xarray as xr, cairn, cairn.xarray
for n in range(60):
    xr.Dataset({"a": (("t",), [n]), "b": (("t",), [n])}).cairn.save(sys.argv[1], append_dim="t", wait=20)
"""
        saver = """
import sys, numpy as np, xarray as xr, cairn, cairn.xarray
for n in range(1, 30):
    xr.Dataset({"a": (("t",), np.arange(50)), "b": (("t",), np.arange(50))}).cairn.save(sys.argv[1], append_dim=None, overwrite=True, wait=20)
"""
        both = [self.start(program, path) for program in (appender, saver, appender)]
        self.assertEqual([one.wait() for one in both], [0, 0, 0])
        found = self.read(path)
        np.testing.assert_array_equal(found["a"], found["b"])
        np.testing.assert_array_equal(found["a"][:50], np.arange(50))

    def test_what_a_killed_saver_left_goes_with_the_next_one_and_that_of_a_living_one_stays(self):
        path = self.path("d")
        dead, living = (self.start(SLEEPER, path, stdout=subprocess.PIPE, text=True) for _ in range(2))
        for one in (dead, living):
            self.assertEqual(one.stdout.readline(), "there\n")
        os.mkdir(self.path("other." + "0" * 16 + ".tmp"))  # of another name
        os.mkdir(f"{path}.notes.tmp")
        mine = {"d", "other." + "0" * 16 + ".tmp", "d.notes.tmp"}
        self.assertEqual(len(os.listdir(self.folder)), 4)
        dead.send_signal(signal.SIGKILL)
        dead.wait()
        for how in ({"overwrite": True}, {"append_dim": "time"}):
            series().cairn.save(path, **how)
            self.assertEqual(len({*os.listdir(self.folder)} - mine), 1)
        living.send_signal(signal.SIGKILL)
        living.wait()
        series(1, 3).cairn.save(path, append_dim="time")
        self.assertEqual({*os.listdir(self.folder)}, mine)
        for one in (dead, living):
            one.stdout.close()

    def test_dataset_whose_append_was_killed_is_overwritten(self):
        path = self.path("d")
        for count in (1, 3, 40):
            series().cairn.save(path, overwrite=True)
            program = """
import os, signal, sys, cairn
writer = cairn.open(sys.argv[1], "r+").writer()
for number in range(int(sys.argv[2])):
    writer.vlmeta["_APPENDS"] = {"id": "x", "spans": {str(one): [number, None] for one in range(5000)}}
    writer.commit(durable=False)
os.kill(os.getpid(), signal.SIGKILL)
"""
            self.start(program, f"{path}/__vlmeta__.b2f", count).wait()
            series(2).cairn.save(path, overwrite=True)
            xr.testing.assert_identical(self.read(path), series(2))
            self.assertEqual(os.listdir(self.folder), ["d"])

    def test_dataset_replaces_a_frame(self):
        path = self.path("d")
        for _ in range(2):
            cairn.asarray(np.arange(5), path).close()
            with self.assertRaises(cairn.AlreadyExists):
                series().cairn.save(path)
            series().cairn.save(path, overwrite=True)
            xr.testing.assert_identical(self.read(path), series())
            self.assertEqual(os.listdir(self.folder), ["d"])
            shutil.rmtree(path)

    def test_nothing_but_datasets_and_frames_is_replaced(self):
        for name in ("notes", "notes.b2nd"):
            with open(self.path(name), "w") as file:
                file.write("mine")
            with self.subTest(name=name):
                with self.assertRaisesRegex(cairn.AlreadyExists, "already exists, and is no frame"):
                    series()["temp"].cairn.save(self.path(name))
                with self.assertRaisesRegex(cairn.FailedPrecondition, "not replaced: expected a dataset or a frame"):
                    series()["temp"].cairn.save(self.path(name), overwrite=True)
                with open(self.path(name)) as file:
                    self.assertEqual(file.read(), "mine")

    def test_append_and_overwrite_exclude_each_other(self):
        path = self.path("d")
        series(3).cairn.save(path)
        with self.assertRaisesRegex(cairn.InvalidArgument, "pass one of them"):
            series(4).cairn.save(path, append_dim="time", overwrite=True)
        xr.testing.assert_identical(self.read(path), series(3))

    # Lost parts

    def test_lost_variable_is_missed(self):
        path = self.path("d")
        series(3).cairn.save(path, append_dim="time")
        os.remove(f"{path}/temp.b2nd")
        with self.assertRaisesRegex(cairn.DataLoss, "variable 'temp' is lost: there is no temp.b2nd; drop_variables='temp'"):
            xr.open_dataset(path, engine="cairn")
        with self.assertRaisesRegex(cairn.DataLoss, "'temp' is lost"):
            series(3).cairn.save(path, append_dim="time")
        for drop in ("temp", ["temp"]):
            xr.testing.assert_identical(self.read(path, drop_variables=drop), series(3).drop_vars("temp"))

    def test_lost_attributes_are_missed(self):
        path = self.path("d")
        series(3).cairn.save(path)
        os.remove(f"{path}/__vlmeta__.b2f")
        with self.assertWarnsRegex(UserWarning, "__vlmeta__.b2f is lost"):
            found = self.read(path)
        xr.testing.assert_equal(found, series(3))
        other = self.path("other")  # frames that no dataset was made of
        os.mkdir(other)
        cairn.asarray(np.arange(3), f"{other}/a.b2nd").close()
        self.read(other)

    def test_saving_one_frame_that_fails_leaves_what_was_there(self):
        path = self.path("a.b2nd")
        good = series()["temp"]
        bad = good.assign_attrs(odd=object())
        with self.assertRaises(cairn.InvalidType):
            bad.cairn.save(path)
        self.assertEqual(os.listdir(self.folder), [])
        good.cairn.save(path)
        with self.assertRaises(cairn.InvalidType):
            bad.cairn.save(path, overwrite=True)
        xr.testing.assert_identical(self.read(path)["temp"], good)
        self.assertEqual(os.listdir(self.folder), ["a.b2nd"])

    # Pickled handles

    def test_pickled_handle_reads_the_state_that_was_opened_or_tells(self):
        path = self.path("d")
        gone = "has changed since .* open the dataset again"

        def edit(ds):
            with cairn.open(f"{path}/temp.b2nd", "r+") as frame:
                frame[0, 0] = 99.0

        changes = {
            "append": (lambda ds: series(2, 3).cairn.save(path, append_dim="time"), True),
            "another append": (lambda ds: [series(1, 3 + n).cairn.save(path, append_dim="time") for n in range(3)], True),
            "rewriting": (lambda ds: series(3).cairn.save(path, overwrite=True), True),
            "overwriting": (lambda ds: (series(3) + 1).cairn.save(path, overwrite=True), False),
            "editing": (edit, False),
            "editing and append": (lambda ds: (edit(ds), series(2, 3).cairn.save(path, append_dim="time")), False),
            "append and editing": (lambda ds: (series(2, 3).cairn.save(path, append_dim="time"), edit(ds)), False),
        }
        for name, (change, is_there) in changes.items():
            with self.subTest(change=name):
                series(3).cairn.save(path, append_dim=None, overwrite=True)
                with xr.open_dataset(path, engine="cairn") as found:
                    pickled = pickle.dumps(found)
                    expected = found.copy(deep=True).load()
                    change(found)
                    self.assertEqual(found["temp"].values.tolist(), expected["temp"].values.tolist())
                    late = pickle.dumps(found)
                for one in (pickled, late):
                    if is_there:
                        with pickle.loads(one) as again:
                            xr.testing.assert_identical(again.load(), expected)
                    else:
                        with self.assertRaisesRegex(cairn.FailedPrecondition, gone):
                            pickle.loads(one).load()

    def test_pickled_handle_of_one_frame_reads_a_state_that_its_history_has(self):
        path = self.path("a.b2nd")
        series(3)["temp"].cairn.save(path)
        with xr.open_dataset(path, engine="cairn") as found:
            pickled = [pickle.dumps(found)]
            for day in (3, 4, 5):
                series(1, day)["temp"].cairn.save(path, append_dim="time")
                with xr.open_dataset(path, engine="cairn") as later:
                    pickled.append(pickle.dumps(later))
                for days, one in enumerate(pickled, 3):
                    with pickle.loads(one) as again:
                        xr.testing.assert_identical(again.load(), series(days)[["temp"]])
            with cairn.open(path, "r+") as frame:
                frame[0, 0] = 99.0
            for turn in range(2):
                for one in (*pickled, pickle.dumps(found)):
                    with self.subTest(turn=turn), self.assertRaisesRegex(cairn.FailedPrecondition, "has changed since"):
                        pickle.loads(one).load()
                series(1, 6)["temp"].cairn.save(path, append_dim="time")
        series(3)["temp"].cairn.save(path, overwrite=True)
        with xr.open_dataset(path, engine="cairn") as found:
            pickled = pickle.dumps(found)
        with cairn.open(path, "r+") as frame, frame.writer(keep_generations=3) as writer:
            writer[0, 0] = 99.0
        with pickle.loads(pickled) as again:
            self.assertEqual(again["temp"].values.tolist(), series(3)["temp"].values.tolist())
        with cairn.open(path, "r+") as frame, frame.writer() as writer:
            writer[0, 0] = 98.0
            writer.checkpoint()
        with self.assertRaisesRegex(cairn.FailedPrecondition, "has changed since"):
            pickle.loads(pickled).load()

    def test_pickled_handle_outlives_appends_that_make_no_checkpoint(self):
        path = self.path("a.b2nd")
        dice = np.random.default_rng(1)
        parts = [xr.DataArray(dice.random((1, 100_000)), dims=("time", "x"), name="a") for _ in range(4)]
        pickled = []
        for part in parts:
            part.cairn.save(path, append_dim="time")
            with xr.open_dataset(path, engine="cairn") as found:
                pickled.append(pickle.dumps(found))
            for days, one in enumerate(pickled, 1):
                with pickle.loads(one) as again:
                    xr.testing.assert_identical(again["a"].load(), xr.concat(parts[:days], "time"))
        with cairn.open(path, "r+") as frame, frame.writer() as writer:
            writer[0, 0] = 9
            writer.commit()
        for one in pickled:
            with self.assertRaises(cairn.FailedPrecondition):
                pickle.loads(one).load()

    # Dask

    @unittest.skipIf(xr is None or dask is None, "no dask")
    def test_chunks_of_dask_that_cut_those_of_the_frame_are_joined_first(self):
        shape = (60, 30, 20)
        items = np.random.default_rng(1).random(shape)
        for cut in ({"t": 1}, {"t": 7}, {"t": (1, 20, 30, 9)}, {"t": 16, "y": 7}, {"t": -1, "y": 4, "x": 3}, {"t": 32}):
            with self.subTest(cut=cut):
                path = self.path("d" + "_".join(map(str, [*cut.values()])).replace(" ", ""))
                ds = xr.Dataset({"v": (("t", "y", "x"), items)}).chunk(cut)
                how = {"chunks": {"t": 16, "y": 10, "x": 20}}
                written = []
                put = cairn.Writer.__setitem__

                def note(writer, box, values):
                    written.append(box)
                    put(writer, box, values)

                with unittest.mock.patch.object(cairn.Writer, "__setitem__", note):
                    ds.cairn.save(path, **how)
                    ds.cairn.save(path, append_dim="t")
                for axis, (edge, size) in enumerate(zip((16, 10, 20), (60, 30, 20))):
                    ends = {end for box in written for end in (box[axis].start, box[axis].stop)} - {size, 2 * size}
                    self.assertFalse([end for end in ends if end % edge], axis)
                np.testing.assert_array_equal(cairn.open(f"{path}/v.b2nd")[:], np.concatenate([items, items]))


if __name__ == "__main__":
    unittest.main()
