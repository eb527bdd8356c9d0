"""Datasets of xarray in frames, beside xarray itself and NumPy."""

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

from support import PackageTest, blosc2, cairn, np

try:
    import pandas as pd
    import xarray as xr

    import cairn.xarray
except ImportError:
    xr = None

try:
    import dask
except ImportError:
    dask = None

HERE = os.path.dirname(os.path.abspath(__file__))

# Appends days to the dataset at argv[1] until it is killed. Each item of a day is the day's number.
APPENDER = """
import sys, numpy as np, pandas as pd, xarray as xr, cairn.xarray
day = int(sys.argv[2])
while True:
    items = np.full((1, 40, 50), float(day))
    ds = xr.Dataset({"a": (("time", "y", "x"), items), "b": (("time",), [day])}, coords={"time": [day]})
    ds.cairn.save(sys.argv[1], append_dim="time", wait=20, chunks=None)
    print(day, flush=True)
    day += 1
"""


def cube(days=10, first="2026-01-01", seed=1):
    """Variables of each kind: of several dimensions, of one, without any; numbers, texts, truths and times."""
    dice = np.random.default_rng(seed)
    return xr.Dataset(
        {
            "temp": (("time", "lat", "lon"), dice.normal(280, 9, (days, 4, 5)).astype("f4"), {"units": "K"}),
            "rain": (("lon", "time"), dice.integers(0, 9, (5, days))),
            "station": (("time",), [f"s{i:03}" for i in range(days)]),
            "calm": ((), True),
        },
        coords={
            "time": pd.date_range(first, periods=days),
            "lat": np.linspace(-1, 1, 4),
            "lon": list("abcde"),
            "height": (("lat", "lon"), dice.random((4, 5)), {"long_name": "height of the ground"}),
        },
        attrs={"title": "weather", "levels": 3},
    )


@unittest.skipIf(xr is None, "no xarray")
class XarrayTest(PackageTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("error", DeprecationWarning)
        self.addCleanup(warnings.resetwarnings)

    def read(self, path, **how):
        with xr.open_dataset(path, engine="cairn", **how) as found:
            return found.load()

    def test_dataset_round_trips_as_a_directory(self):
        path = self.path("weather")
        cube().cairn.save(path, codec="zstd", chunksize=1 << 16)
        xr.testing.assert_identical(self.read(path), cube())
        self.assertEqual(cairn.open(f"{path}/temp.b2nd").attrs["units"], "K")
        self.assertEqual(cairn.open(f"{path}/temp.b2nd").info.codec, "zstd")
        self.assertEqual(os.listdir(os.path.dirname(path)), ["weather"])

    def test_array_round_trips_as_one_frame(self):
        for array in (cube()["temp"], cube()["rain"], cube()["calm"], cube()["station"]):
            with self.subTest(array=array.name):
                path = self.path(f"{array.name}.b2nd")
                array.cairn.save(path)
                found = self.read(path)
                self.assertEqual(list(found.data_vars), [array.name])
                xr.testing.assert_identical(found[array.name], array)

    def test_array_without_a_name_gets_that_of_the_file(self):
        path = self.path("unnamed.b2nd")
        xr.DataArray(np.arange(3)).cairn.save(path)
        self.assertEqual(list(self.read(path).data_vars), ["unnamed"])

    def test_indexing_reads_what_numpy_reads(self):
        path = self.path("weather")
        cube().cairn.save(path, encoding={"temp": {"chunks": (3, 2, 2), "blocks": (2, 1, 2)}})
        items = cube()["temp"]
        points = xr.DataArray([0, 3, 1], dims="p")
        keys = [
            np.s_[-1], np.s_[::-1, 1], np.s_[2:8:3, [2, 0], -1], np.s_[[1, 1, -1], :, [0, 3, 2]], np.s_[7:2:-2, :, 1],
            np.s_[:, 3, [4, 0]], np.s_[[], :, 0], np.s_[5:5], (points, points, points), (slice(None), points, 2), np.s_[...],
        ]  # fmt: skip
        for key in keys:
            with self.subTest(key=key), xr.open_dataset(path, engine="cairn") as found:
                xr.testing.assert_identical(found["temp"][key], items[key])
        with xr.open_dataset(path, engine="cairn") as found:
            with self.assertRaises(IndexError):
                found["temp"][:, 4].load()
            xr.testing.assert_identical(found.sel(time="2026-01-03", lat=1).load(), cube().sel(time="2026-01-03", lat=1))

    def test_opening_reads_no_item_of_a_variable(self):
        path = self.path("weather")
        cube().cairn.save(path)
        with open(f"{path}/temp.b2nd", "r+b") as file:
            chunk = cairn.open(f"{path}/temp.b2nd").chunk(0)
            content = file.read()
            file.seek(content.index(chunk) + 40)
            file.write(bytes(len(chunk) - 40))
        with xr.open_dataset(path, engine="cairn") as found:
            xr.testing.assert_identical(found["rain"].load(), cube()["rain"])
            with self.assertRaisesRegex(cairn.DataLoss, "temp.b2nd"):
                found["temp"].load()

    def test_append_adds_to_all_variables(self):
        for name, pick in (("weather", lambda ds: ds), ("temp.b2nd", lambda ds: ds[["temp"]])):
            with self.subTest(name=name):
                path = self.path(name)
                parts = [pick(cube(days, first, seed)) for days, first, seed in ((3, "2026-01-01", 1), (1, "2026-01-04", 2), (4, "2026-01-05", 3))]
                parts = [part.assign_coords(height=parts[0]["height"]) for part in parts]
                for part in parts:
                    part.cairn.save(path, append_dim="time")
                expected = xr.concat(parts, "time", data_vars="minimal", coords="minimal", compat="override", join="override")
                xr.testing.assert_identical(self.read(path), expected)

    def test_append_encodes_as_what_is_there(self):
        path = self.path("weather")
        how = {"temp": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -1}, "time": {"units": "hours since 2000-01-01"}}
        cube(2).cairn.save(path, encoding=how)
        more = cube(2, "2026-01-03").assign_coords(height=cube(2)["height"])
        more["temp"][0, 0, 0] = np.nan
        more.cairn.save(path, append_dim="time")
        raw = cairn.open(f"{path}/temp.b2nd")
        self.assertEqual((raw.dtype, raw.shape, raw[2, 0, 0]), (np.dtype("i2"), (4, 4, 5), -1))
        found = self.read(path)
        np.testing.assert_allclose(found["temp"][2:], more["temp"], atol=0.0051)
        self.assertEqual(list(found["time"].values), list(pd.date_range("2026-01-01", periods=4).values))
        with warnings.catch_warnings(), self.assertRaisesRegex(cairn.InvalidArgument, "'time' is stored with units"):
            warnings.simplefilter("ignore")  # xarray's, which takes other units
            more.assign_coords(time=more["time"] + np.timedelta64(30, "m")).cairn.save(path, append_dim="time")
        xr.testing.assert_identical(self.read(path), found)

    def test_values_that_an_encoding_does_not_hold_are_refused(self):
        packed = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1}
        series = xr.Dataset({"v": ("time", [1.0, 2.0])}, coords={"time": pd.date_range("2026-01-01", periods=2)})
        days = {"dtype": "i2", "units": "days since 2026-01-01"}
        values = {"1e6": 1e6, "inf": np.inf, "the fill value": -0.5, "i": 1 + 2j}
        for name in ("first", "first.b2nd"):
            series.cairn.save(self.path(name), append_dim="time", encoding={"v": packed, "time": days})
            for text, value in values.items():
                with self.subTest(name=name, value=text), self.assertRaisesRegex(cairn.InvalidArgument, "'v'"):
                    later = series.assign(v=("time", [value] * 2)).assign_coords(time=series["time"] + np.timedelta64(2, "D"))
                    later.cairn.save(self.path(name), append_dim="time")
            for year in ("1700", "2300"):
                with self.subTest(name=name, year=year), warnings.catch_warnings(), self.assertRaisesRegex(cairn.InvalidArgument, "'time'"):
                    warnings.simplefilter("ignore")
                    series.assign_coords(time=np.array([f"{year}-01-01", f"{year}-01-02"], "M8[s]")).cairn.save(self.path(name), append_dim="time")
            xr.testing.assert_identical(self.read(self.path(name)), series)
        with self.assertRaisesRegex(cairn.InvalidArgument, "does not hold values"):
            series.assign(v=("time", [1.0, 1e300])).cairn.save(self.path("f4"), encoding={"v": {"dtype": "f4"}})
        with self.assertRaisesRegex(cairn.InvalidArgument, "'m' is not there"):
            series.assign(m=("x", [9, 9])).cairn.save(self.path("first"), append_dim="time")
        with self.assertRaisesRegex(cairn.InvalidArgument, "twice"):
            xr.Dataset({"m": (("x", "x"), np.eye(2))}).cairn.save(self.path("twice"))

    def test_overwrite_of_a_link_replaces_what_it_leads_to(self):
        cube(3).cairn.save(self.path("real"))
        os.symlink("real", self.path("link"))
        cube(4).cairn.save(self.path("link"), overwrite=True)
        self.assertTrue(os.path.islink(self.path("link")))
        xr.testing.assert_identical(self.read(self.path("real")), cube(4))
        self.assertEqual(sorted(os.listdir(self.folder)), ["link", "real"])

    def test_append_narrows_integers_that_fit_and_refuses_others(self):
        path = self.path("n.b2nd")
        numbers = xr.DataArray([1, 2], dims="x", name="n")
        numbers.cairn.save(path, encoding={"n": {"dtype": "i2"}})
        (numbers + 300).cairn.save(path, append_dim="x")
        for wrong in (numbers + 40_000, numbers - 40_000):
            with self.assertRaisesRegex(cairn.InvalidArgument, "stored as int16"):
                wrong.cairn.save(path, append_dim="x")
        self.assertEqual(self.read(path)["n"].values.tolist(), [1, 2, 301, 302])

    def test_append_that_does_not_fit_changes_nothing(self):
        path = self.path("weather")
        cube(3).cairn.save(path)
        after = cube(1, "2026-01-04").assign_coords(height=cube(3)["height"])
        wrong = {
            "missing": after.drop_vars("rain"), "not there": after.assign(other=("time", [1])), "has 4 items": after.isel(lat=slice(3)),
            "'lat' is another one": after.assign_coords(lat=after["lat"] + 1), "'height' is": after.assign_coords(height=after["height"] + 1),
            "dimensions": after.assign(rain=after["rain"].T),
            "'station' is stored as <U4": after.assign(station=("time", ["a longer text"])), "float64": after.assign(rain=after["rain"] * 1.5),
            "'rain' is stored with units None": after.assign(rain=after["rain"].assign_attrs(units="mm")),
        }  # fmt: skip
        for text, dataset in wrong.items():
            with self.subTest(text=text), self.assertRaisesRegex(cairn.InvalidArgument, text):
                dataset.cairn.save(path, append_dim="time")
        with self.assertRaisesRegex(cairn.InvalidArgument, "no dimension 'tim'"):
            after.cairn.save(path, append_dim="tim")
        xr.testing.assert_identical(self.read(path), cube(3))

    def test_append_that_fails_half_way_is_not_seen_and_the_next_one_replaces_it(self):
        path = self.path("weather")
        cube(3).cairn.save(path)
        more = cube(5, "2026-01-04", 2).assign_coords(height=cube(3)["height"])
        with cairn.open(f"{path}/rain.b2nd", "r+").writer():
            with self.assertRaises(cairn.Unavailable):
                more.cairn.save(path, append_dim="time")
        self.assertEqual(cairn.open(f"{path}/temp.b2nd").shape, (8, 4, 5))
        xr.testing.assert_identical(self.read(path), cube(3))
        less = more.isel(time=slice(2))
        less.cairn.save(path, append_dim="time")
        self.assertEqual(cairn.open(f"{path}/temp.b2nd").shape, (5, 4, 5))
        xr.testing.assert_identical(self.read(path).isel(time=slice(3, 5)), less)

    def test_reader_beside_writers_that_are_killed_sees_whole_days(self):
        path = self.path("days")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        dice = random.Random(41)
        told = 0
        for _ in range(6):
            command = [sys.executable, "-c", APPENDER, path, str(told)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
                lines = dice.randint(1, 5)
                for _ in range(lines):
                    told = int(writer.stdout.readline()) + 1
                    self.check_days(path, told)
                time.sleep(dice.random() / 50)
                writer.send_signal(signal.SIGKILL)
                rest = writer.stdout.read().split()
                told = int(rest[-1]) + 1 if rest else told
            found = self.check_days(path, told)
            self.assertLessEqual(found, told + 1)  # it was killed before it could tell
            told = found

    def check_days(self, path, least):
        found = self.read(path)
        days = found.sizes["time"]
        self.assertGreaterEqual(days, least)
        for name in ("a", "b", "time"):
            self.assertTrue((found[name].values.reshape(days, -1) == np.arange(days)[:, None]).all(), name)
        return days

    def test_appends_of_several_processes_wait_for_each_other(self):
        path = self.path("days")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        once = APPENDER.replace("while True:", "for _ in range(4):")
        writers = [
            subprocess.Popen([sys.executable, "-c", once, path, str(10 * i)], stdout=subprocess.DEVNULL, env=environment)
            for i in range(3)
        ]
        self.assertEqual([writer.wait() for writer in writers], [0, 0, 0])
        found = self.read(path)
        self.assertEqual(found.sizes["time"], 12)
        self.assertEqual(sorted(found["time"].values), sorted(found["b"].values))
        np.testing.assert_array_equal(found["a"].values[:, 0, 0], found["b"].values)

    def test_overwrite_replaces_and_leaves_nothing_behind(self):
        for name, pick in (("weather", lambda ds: ds), ("temp.b2nd", lambda ds: ds[["temp"]])):
            with self.subTest(name=name):
                path = self.path(name)
                pick(cube(3)).cairn.save(path)
                with self.assertRaises(cairn.AlreadyExists):
                    pick(cube(4)).cairn.save(path)
                with xr.open_dataset(path, engine="cairn") as before:
                    pick(cube(4)).cairn.save(path, overwrite=True)
                    xr.testing.assert_identical(before.load(), pick(cube(3)))
                xr.testing.assert_identical(self.read(path), pick(cube(4)))
                self.assertFalse([one for one in os.listdir(os.path.dirname(path)) if one.endswith(".tmp")])

    def test_overwrite_removes_nothing_else(self):
        path = self.path("weather")
        cube(3).cairn.save(path)
        os.mkdir(f"{path}/inner")
        with open(f"{path}/inner/notes", "w") as file:
            file.write("mine")
        with self.assertRaisesRegex(cairn.FailedPrecondition, "also holds 'inner'"):
            cube(4).cairn.save(path, overwrite=True)
        self.assertTrue(os.path.exists(f"{path}/inner/notes"))
        xr.testing.assert_identical(self.read(path), cube(3))

    def test_chunks_are_those_of_the_dimensions_and_of_growth(self):
        path = self.path("weather")
        cube().cairn.save(path, chunks={"time": 4, "lat": 2})
        found = {name: cairn.open(f"{path}/{name}.b2nd").chunks for name in ("temp", "rain", "time", "height")}
        self.assertEqual(found, {"temp": (4, 2, 5), "rain": (5, 4), "time": (4,), "height": (2, 5)})
        path = self.path("growing")
        cube(1).cairn.save(path, append_dim="time")
        self.assertGreater(cairn.open(f"{path}/time.b2nd").chunks[0], 1000)
        self.assertGreater(cairn.open(f"{path}/temp.b2nd").chunks[0], 10)

    def test_saving_what_fails_leaves_nothing(self):
        bad = cube().assign(odd=("lat", [object()] * 4))
        for path in (self.path("weather"), self.path("odd.b2nd")):
            with self.assertRaisesRegex(cairn.InvalidArgument, "'odd': has an object of type object"):
                (bad if path.endswith("weather") else bad[["odd"]]).cairn.save(path)
        with self.assertRaisesRegex(cairn.InvalidType, "when"):
            cube().assign_attrs(when=np.datetime64("2026-01-01")).cairn.save(self.path("weather"))
        self.assertEqual(os.listdir(os.path.dirname(self.path("weather"))), [])

    def test_wrong_arguments_are_told(self):
        ds, path = cube(), self.path("weather")
        wrong = {
            "no argument 'codek'": lambda: ds.cairn.save(path, codek="zstd"),
            "encoding of 'tem'": lambda: ds.cairn.save(path, encoding={"tem": {}}),
            "'compressor' is none of": lambda: ds.cairn.save(path, encoding={"temp": {"compressor": 1}}),
            "holds one variable, not 4": lambda: ds.cairn.save(self.path("weather.b2nd")),
            "expected a name that a file can have": lambda: ds.rename(temp="a/b").cairn.save(path),
            "dict by dimension": lambda: ds.cairn.save(path, chunks=(2, 2, 2)),
            "no dimension 'tim'": lambda: ds.cairn.save(path, append_dim="tim"),
            "none of the names": lambda: ds.assign_attrs(_DIMENSIONS=1).cairn.save(path),
        }
        for text, call in wrong.items():
            with self.subTest(text=text), self.assertRaisesRegex(cairn.InvalidArgument, text):
                call()
        with self.assertRaises(cairn.NotFound):
            xr.open_dataset(path, engine="cairn")

    def test_dimensions_of_chunks_are_those_of_the_dataset(self):
        ds, path = cube(), self.path("weather")
        for call in (
            lambda: ds.cairn.save(path, chunks={"tme": 4}),
            lambda: ds.cairn.save(path, blocks={"tme": 4}),
            lambda: ds.cairn.save(path, encoding={"temp": {"chunks": {"tme": 4}}}),
        ):
            with self.assertRaisesRegex(cairn.InvalidArgument, "no dimension 'tme'; did you mean 'time'"):
                call()
        with self.assertRaisesRegex(cairn.InvalidArgument, "variable 'station' has no dimension 'lat'; there is 'time'"):
            ds.cairn.save(path, encoding={"station": {"chunks": {"lat": 4}}})
        ds.cairn.save(path, append_dim="time")
        with self.assertRaisesRegex(cairn.InvalidArgument, "did you mean 'time'"):
            ds.cairn.save(path, append_dim="time", chunks={"tme": 4})

    def test_errors_of_compression_name_the_variable(self):
        ds = cube()
        for name, pick in (("weather", ds), ("temp.b2nd", ds[["temp"]])):
            path = self.path(name)
            with self.assertRaisesRegex(cairn.InvalidArgument, f"{path}: variable 'temp': codec_meta: expected"):
                pick.cairn.save(path, encoding={"temp": {"codec": "zfp_prec"}})
        with self.assertRaisesRegex(cairn.InvalidArgument, f"{self.path('weather')}: variable .*: codec 'zfp_acc': expected items of float32"):
            ds.cairn.save(self.path("weather"), codec="zfp_acc", codec_meta=-2)
        with self.assertRaisesRegex(cairn.InvalidType, f"{self.path('weather')}: variable 'temp': vlmetalayer 'odd'"):
            ds.assign(temp=ds["temp"].assign_attrs(odd=object())).cairn.save(self.path("weather"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_compression_that_changes_the_fill_value_is_refused(self):
        ds = xr.Dataset({"temp": (("y", "x"), np.where(np.eye(20) > 0, np.nan, 280.5).astype("f4"))})
        lossy = {"trunc_prec": {"filters": [("trunc_prec", 10), "shuffle"]}, "zfp_acc": {"codec": "zfp_acc", "codec_meta": -2}}
        with self.assertRaisesRegex(cairn.InvalidArgument, "variable 'temp': .*'ndmean' changes its _FillValue"):
            ds.cairn.save(self.path("weather"), encoding={"temp": {"filters": [("ndmean", 2)], "_FillValue": 1e20}})
        for what, how in lossy.items():
            for fill in (-9999.9, 1e20):
                with self.subTest(what=what, fill=fill), self.assertRaisesRegex(cairn.InvalidArgument, f"variable 'temp': .*'{what}' changes its _FillValue"):
                    ds.cairn.save(self.path("weather"), encoding={"temp": {**how, "_FillValue": fill}})
            try:
                ds.cairn.save(self.path(what), encoding={"temp": {**how, "_FillValue": np.nan}})
            except cairn.Unimplemented:  # a build without libzfp
                continue
            found = self.read(self.path(what))["temp"]
            np.testing.assert_array_equal(found.isnull(), ds["temp"].isnull())
            np.testing.assert_allclose(found, ds["temp"], atol=0.3)
        kept = {"filters": [("trunc_prec", 10), "shuffle"], "_FillValue": 9.969209968386869e36}  # that of netCDF, which ten bits hold
        ds.cairn.save(self.path("kept"), encoding={"temp": kept})
        np.testing.assert_array_equal(self.read(self.path("kept"))["temp"].isnull(), ds["temp"].isnull())

    def test_what_is_no_dataset_is_told(self):
        os.mkdir(self.path("folder"))
        for held in ("nothing", "'notes.txt'"):
            with self.assertRaisesRegex(cairn.InvalidArgument, f"folder: no dataset: expected frames .*, but it holds {held}"):
                xr.open_dataset(self.path("folder"), engine="cairn")
            open(self.path("folder/notes.txt"), "w").close()
        cube(3).cairn.save(self.path("weather"))
        with self.assertRaisesRegex(cairn.InvalidArgument, "is a dataset of 8 frames: xarray.open_dataset"):
            cairn.open(self.path("weather"))
        with self.assertRaisesRegex(cairn.InvalidArgument, "s3://b/weather: one frame holds one variable, not 4: an object store"):
            cube(3).cairn.save("s3://b/weather")

    def test_arguments_that_save_lacks_are_told(self):
        for name, hint in (("region", "in the frame of a variable"), ("mode", "append_dim adds"), ("codek", "did you mean 'codec'"), ("x", "storage is chunks")):
            with self.subTest(name=name), self.assertRaisesRegex(cairn.InvalidArgument, f"no argument '{name}'; .*{hint}"):
                cube(3).cairn.save(self.path("weather"), **{name: "a"})

    def test_append_beside_another_one_tells_how_to_wait(self):
        cube(3).cairn.save(self.path("weather"))
        with cairn.open(self.path("weather/__vlmeta__.b2f"), "r+").writer():
            with self.assertRaisesRegex(cairn.Unavailable, "held by another writer; to wait for it pass wait=10"):
                cube(3).cairn.save(self.path("weather"), append_dim="time")

    def test_folder_that_is_not_there_is_told(self):
        for name in ("nowhere/weather", "nowhere/temp.b2nd"):
            with self.subTest(name=name), self.assertRaises(cairn.NotFound) as caught:
                cube(3)[["temp"]].cairn.save(self.path(name))
            self.assertIn(f"{self.path(name)}: ", str(caught.exception))
            self.assertNotIn(".tmp", str(caught.exception))

    def test_registration_has_the_form_of_the_xarray_that_is_there(self):
        """Until 2023.02 xarray has classes where it later has pairs of a module and a class."""
        make_old = "for name, one in known.items(): known[name] = one[1] if isinstance(one, tuple) else one\n"
        for old, kind in ((make_old, "False"), ("", "True")):
            if not old and not isinstance(xr.backends.common.BACKEND_ENTRYPOINTS["store"], tuple):
                continue
            code = (
                f"import xarray\nfrom xarray.backends.common import BACKEND_ENTRYPOINTS as known\n{old}import cairn.xarray\n"
                "print({isinstance(one, tuple) for one in known.values()}, 'cairn' in known)"
            )
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
            self.assertEqual(printed, f"{{{kind}}} True\n")

    def test_xarray_that_has_listed_its_engines_gets_this_one(self):
        code = "import xarray\nxarray.backends.list_engines()\nimport cairn.xarray\nprint('cairn' in xarray.backends.list_engines())"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed, "True\n")

    def test_every_array_opens(self):
        path = self.path("plain.b2nd")
        frame = cairn.asarray(np.arange(12.0).reshape(3, 4), path)
        frame.vlmeta["units"] = "m"
        found = self.read(path)["plain"]
        self.assertEqual((found.dims, found.attrs), (("dim_0", "dim_1"), {"units": "m"}))
        np.testing.assert_array_equal(found, frame[:])
        records = cairn.create(self.path("records.b2nd"), dtype=[("a", "i4")])
        with self.assertRaisesRegex(cairn.Unimplemented, "cairn.Log.open"):
            xr.open_dataset(records.path, engine="cairn")

    @unittest.skipIf(blosc2 is None, "no python-blosc2")
    def test_arrays_of_python_blosc2_open_and_it_opens_ours(self):
        path = self.path("theirs.b2nd")
        theirs = blosc2.asarray(np.arange(10), urlpath=path)
        theirs.vlmeta["units"] = "m"
        self.assertEqual(self.read(path)["theirs"].attrs, {"units": "m"})
        cube().cairn.save(self.path("weather"))
        ours = blosc2.open(self.path("weather") + "/temp.b2nd")
        np.testing.assert_array_equal(ours[:], cube()["temp"])
        self.assertEqual(ours.vlmeta["_ARRAY_DIMENSIONS"], ["time", "lat", "lon"])

    def test_times_decode_by_their_units(self):
        path = self.path("t.b2nd")
        frame = cairn.asarray(np.array([0, 24]), path)
        frame.vlmeta["units"] = "hours since 2026-01-01"
        self.assertEqual(list(self.read(path)["t"].values), list(pd.date_range("2026-01-01", periods=2).values))
        self.assertEqual(list(self.read(path, decode_times=False)["t"].values), [0, 24])

    def test_opened_dataset_can_be_pickled(self):
        path = self.path("weather")
        cube().cairn.save(path)
        with xr.open_dataset(path, engine="cairn") as found:
            again = pickle.loads(pickle.dumps(found))
            xr.testing.assert_identical(again.load(), cube())

    @unittest.skipIf(xr is None or dask is None, "no dask")
    def test_dask_reads_and_writes_chunk_by_chunk(self):
        path = self.path("weather")
        cube().chunk({"time": 3, "lat": 2}).cairn.save(path, encoding={"temp": {"chunks": (3, 2, 5)}})
        with xr.open_dataset(path, engine="cairn", chunks={}) as found:
            self.assertEqual(found["temp"].chunks, ((3, 3, 3, 1), (2, 2), (5,)))
            xr.testing.assert_identical(found.compute(), cube())
            self.assertAlmostEqual(float(found["temp"].mean()), float(cube()["temp"].mean()), places=3)
            found.assign_coords(time=found["time"] + np.timedelta64(10, "D")).cairn.save(path, append_dim="time")
        self.assertEqual(self.read(path).sizes["time"], 20)

    def test_own_tests_of_xarray_pass(self):
        suite = os.path.join(HERE, "xarray_suite.py")
        try:
            import pytest  # noqa: F401
            from xarray.tests import test_backends  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "pytest", "-q", "--disable-warnings", "-p", "no:cacheprovider", "--rootdir", cache, suite]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
            ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cache)
        self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + ran.stderr[-1000:])
        self.assertRegex(ran.stdout, r"\b3\d passed")
