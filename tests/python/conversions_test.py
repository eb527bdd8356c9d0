"""Conversions from Zarr, HDF5 and NumPy's files and back, beside these libraries."""

import os
import subprocess
import sys
import unittest
import zipfile

from support import PackageTest, blosc2, cairn, np

try:
    import zarr
except ImportError:
    zarr = None
try:
    import h5py
except ImportError:
    h5py = None
try:
    import xarray as xr

    import cairn.xarray
except ImportError:
    xr = None

# Types that all formats have.
KINDS = ("?", "i1", "<u2", ">i4", "<i8", "<u8", "f2", ">f4", "<f8", "c8", "c16", "S5")
SHAPES = ((), (1,), (0,), (7,), (3, 0, 2), (30, 4), (5, 6, 7))

# Copies an array of 192 MB by argv[1:], and prints how much more memory of its own the process took, in MB.
MEASURED = """
import sys, threading, time, cairn, numpy
try:
    import zarr, h5py
except ImportError:
    pass

def own():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

call, *arguments = sys.argv[1:]
before = own()
most = [before]
getattr(cairn, call)(*arguments, progress=lambda done: most.append(own()))
print(int(max(most) - before))
"""


def items_of(shape, kind, seed=1):
    numbers = np.random.default_rng(seed).integers(0, 99, shape)
    return np.asarray(numbers * (1 + 0.5j) if np.dtype(kind).kind == "c" else numbers, kind)


class ConversionsTest(PackageTest):
    def assert_frame(self, frame, items, what=None):
        self.assert_same(np.asarray(frame), items, what)
        self.assertTrue(frame.verify().ok)
        self.assertEqual(frame.mode, "r+")

    # Zarr

    @unittest.skipIf(zarr is None, "no zarr")
    def test_arrays_of_zarr_come_and_go(self):
        for number, (version, shape) in enumerate((version, shape) for version in (2, 3) for shape in SHAPES):
            for kind in (*KINDS, "<U3", "<M8[s]"):
                with self.subTest(version=version, shape=shape, kind=kind):
                    items = items_of(shape, "i8").view(kind) if "M" in kind else items_of(shape, kind)
                    name = f"{number}{kind[-4:]}"
                    chunks = tuple(max(size // 2, 1) for size in shape)
                    theirs = zarr.create_array(self.path(f"z{name}"), shape=shape, dtype=items.dtype, chunks=chunks, zarr_format=version)
                    theirs[...] = items
                    items = items.astype(zarr.open_array(self.path(f"z{name}"), mode="r").dtype)  # version 3 has the order of bytes elsewhere
                    with cairn.from_zarr(self.path(f"z{name}"), self.path(f"f{name}")) as frame:
                        self.assert_frame(frame, items)
                        self.assertEqual(frame.chunks, chunks)
                        cairn.to_zarr(frame, self.path(f"b{name}"), zarr_format=version)
                    back = zarr.open_array(self.path(f"b{name}"), mode="r")
                    self.assert_same(np.asarray(back[...], back.dtype), items)
                    self.assertEqual((back.chunks, back.metadata.zarr_format), (chunks, version))

    @unittest.skipIf(zarr is None, "no zarr")
    def test_zarr_keeps_attributes_dimensions_and_fill_value(self):
        attrs = {"units": "K", "n": [1, 2.5, None], "nested": {"a": {"b": True}}, "text": "Ü"}
        for version in (2, 3):
            with self.subTest(version=version):
                how = {"dimension_names": ["time", None, "lon"]} if version == 3 else {}
                theirs = zarr.create_array(
                    self.path(f"z{version}"), shape=(4, 3, 2), dtype="f4", chunks=(2, 3, 1), fill_value=-9.5, attributes=dict(attrs), zarr_format=version, **how
                )
                if version == 2:
                    theirs.attrs["_ARRAY_DIMENSIONS"] = ["time", "dim_1", "lon"]
                theirs[0] = 1  # the other chunks are not there
                frame = cairn.from_zarr(self.path(f"z{version}"), self.path(f"f{version}.b2nd"), codec="zstd", clevel=3)
                self.assertEqual((frame.info.codec, frame.info.clevel), ("zstd", 3))
                self.assertEqual({name: frame.attrs[name] for name in attrs}, attrs)
                self.assertEqual(frame.attrs["_ARRAY_DIMENSIONS"], ["time", "dim_1", "lon"])
                self.assert_same(frame[:], theirs[:])
                if xr is not None:
                    with xr.open_dataset(frame.path, engine="cairn") as found:
                        one = found[f"f{version}"]
                        self.assertEqual((one.dims, one.attrs), (("time", "dim_1", "lon"), attrs))
                for to in (2, 3):
                    cairn.to_zarr(frame.path, self.path(f"b{version}{to}"), zarr_format=to)
                    back = zarr.open_array(self.path(f"b{version}{to}"), mode="r")
                    kept = dict(back.attrs)
                    dims = kept.pop("_ARRAY_DIMENSIONS") if to == 2 else list(back.metadata.dimension_names)
                    self.assertEqual((dims, kept, back.fill_value), (["time", "dim_1", "lon"], attrs, -9.5))
                    self.assert_same(back[:], theirs[:])

    @unittest.skipIf(zarr is None or xr is None, "no zarr or no xarray")
    def test_variable_that_xarray_wrote_is_the_same_one(self):
        items = np.where(np.arange(12) == 5, np.nan, np.arange(12)).reshape(3, 4)
        for version in (2, 3):
            for fill in (None, np.nan, -99.0):
                with self.subTest(version=version, fill=fill):
                    ds = xr.Dataset({"temp": (("time", "x"), items, {"units": "K"})}, coords={"time": [3, 4, 5]})
                    how = {"temp": {"_FillValue": fill}} if version == 3 and fill is not None else {}
                    ds.to_zarr(self.path("z"), zarr_format=version, consolidated=False, encoding=how, mode="w")
                    cairn.from_zarr(self.path("z/temp"), self.path("temp.b2nd"), overwrite=True).close()
                    with xr.open_dataset(self.path("temp.b2nd"), engine="cairn") as found:
                        xr.testing.assert_identical(found["temp"].load().drop_vars("time", errors="ignore"), ds["temp"].drop_vars("time"))
                    os.makedirs(self.path("back"), exist_ok=True)
                    zarr.create_group(self.path("back"), zarr_format=version, overwrite=True)
                    cairn.to_zarr(self.path("temp.b2nd"), self.path("back/temp"), zarr_format=version)
                    with xr.open_zarr(self.path("back"), consolidated=False) as found:
                        xr.testing.assert_identical(found["temp"].load(), ds["temp"].drop_vars("time"))

    @unittest.skipIf(zarr is None, "no zarr")
    def test_shards_and_stores_of_zarr(self):
        items = items_of((64, 30), "i4")
        store = zarr.storage.MemoryStore()
        theirs = zarr.create_array(store, shape=items.shape, dtype=items.dtype, chunks=(8, 10), shards=(32, 30))
        theirs[:] = items
        frame = cairn.from_zarr(store, self.path("f"))
        self.assert_frame(frame, items)
        self.assertEqual(frame.chunks, (8, 10))
        other = zarr.storage.MemoryStore()
        cairn.to_zarr(frame, other, chunks=(16, 30))
        self.assertEqual(zarr.open_array(other).chunks, (16, 30))
        self.assert_same(zarr.open_array(other)[:], items)
        with self.assertRaises(cairn.Error):
            cairn.to_zarr(frame, other)

    @unittest.skipIf(zarr is None, "no zarr")
    def test_zarr_that_no_frame_holds_is_refused_by_name(self):
        group = zarr.create_group(self.path("g"))
        group.create_array("texts", shape=(3,), dtype=str)
        group.create_array("n", shape=(3,), dtype="i4", attributes={"cairn.x": 1})
        wrong = {
            "items of type .* have no fixed bytes": (cairn.InvalidType, "g/texts"), "expected an array, got a group of n, texts": (cairn.InvalidArgument, "g"),
            "attribute 'cairn.x'": (cairn.InvalidType, "g/n"), "nowhere": (cairn.NotFound, "nowhere"),
        }  # fmt: skip
        for text, (kind, name) in wrong.items():
            with self.subTest(text=text), self.assertRaisesRegex(kind, text) as caught:
                cairn.from_zarr(self.path(name), self.path("f"))
            self.assertIn(self.path(name), str(caught.exception))
        self.assertEqual(os.listdir(self.folder), ["g"])

    @unittest.skipIf(zarr is None, "no zarr")
    def test_attributes_that_json_has_not_are_refused_by_name(self):
        frame = cairn.asarray(np.arange(3), self.path("f"))
        for value in (b"x", 1j, {1, 2}, [b"x"], {b"a": 1}, np.array([1j])):
            frame.attrs["odd"] = value
            with self.subTest(value=value), self.assertRaisesRegex(cairn.InvalidType, "attribute 'odd': JSON has no"):
                cairn.to_zarr(frame, self.path("z"))
        frame.attrs["odd"] = (1, np.arange(2), "x")
        cairn.to_zarr(frame, self.path("z"))
        self.assertEqual(zarr.open_array(self.path("z")).attrs["odd"], [1, [0, 1], "x"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["f", "z"])

    @unittest.skipIf(zarr is None, "no zarr")
    def test_overwriting_zarr_replaces_arrays_only(self):
        frame = cairn.asarray(np.arange(3), self.path("f"))
        cairn.to_zarr(frame, self.path("z"))
        with self.assertRaises(cairn.AlreadyExists):
            cairn.to_zarr(frame, self.path("z"))
        frame[:] = 7
        cairn.to_zarr(frame, self.path("z"), overwrite=True, zarr_format=2)
        self.assertEqual(zarr.open_array(self.path("z"))[:].tolist(), [7, 7, 7])
        zarr.create_group(self.path("g"))
        os.mkdir(self.path("d"))
        for name in ("g", "d", "f"):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "not an array of Zarr"):
                cairn.to_zarr(frame, self.path(name), overwrite=True)
        self.assertEqual(sorted(os.listdir(self.folder)), ["d", "f", "g", "z"])

    @unittest.skipIf(zarr is None, "no zarr")
    def test_groups_on_the_way_to_an_array_are_made(self):
        frame = cairn.asarray(np.arange(3), self.path("f"))
        for version in (2, 3):
            cairn.to_zarr(frame, self.path(f"z{version}.zarr/run1/temp"), zarr_format=version)
            group = zarr.open_group(self.path(f"z{version}.zarr"), mode="r")
            self.assertEqual((group["run1/temp"][:].tolist(), group.metadata.zarr_format), ([0, 1, 2], version))
        zarr.create_group(self.path("g"))
        cairn.to_zarr(frame, self.path("g/run1/temp"))
        self.assertEqual(zarr.open_group(self.path("g"), mode="r")["run1/temp"][:].tolist(), [0, 1, 2])

    @unittest.skipIf(h5py is None or zarr is None, "no h5py or no zarr")
    def test_folder_that_is_not_there_is_told(self):
        frame = cairn.asarray(np.arange(3))
        np.savez(self.path("a.npz"), np.arange(3))
        calls = {
            "a.npy": lambda path: cairn.to_npy(frame, path), "a.h5": lambda path: cairn.to_hdf5(frame, path, "x"), "a": lambda path: cairn.to_zarr(frame, path),
            "": lambda path: cairn.from_npy(self.path("a.npz"), f"{path}f"), "b": lambda path: cairn.create(path),
        }  # fmt: skip
        for name, call in calls.items():
            path = self.path(f"nowhere/{name}")
            with self.subTest(name=name), self.assertRaises(cairn.NotFound) as caught:
                call(path)
            self.assertIn(f"{path}: cannot create: ", str(caught.exception))
            self.assertNotIn(".tmp", str(caught.exception))
        self.assertEqual(os.listdir(self.folder), ["a.npz"])

    @unittest.skipIf(h5py is None, "no h5py")
    def test_overwriting_removes_no_folder_and_no_group(self):
        frame = cairn.asarray(np.arange(3))
        os.makedirs(self.path("mine/inner"))
        for call in (lambda: cairn.to_npy(frame, self.path("mine"), overwrite=True), lambda: cairn.to_npy(frame, self.path("mine"))):
            with self.assertRaisesRegex(cairn.FailedPrecondition, "mine: not replaced: expected a file, got a folder"):
                call()
        self.assertTrue(os.path.isdir(self.path("mine/inner")))
        cairn.to_hdf5(frame, self.path("h"), "g/x")
        with self.assertRaisesRegex(cairn.FailedPrecondition, "dataset 'g': not replaced: expected a dataset, got a group"):
            cairn.to_hdf5(frame, self.path("h"), "g", overwrite=True)
        with h5py.File(self.path("h"), "r") as file:
            self.assertEqual(file["g/x"][:].tolist(), [0, 1, 2])

    # HDF5

    @unittest.skipIf(h5py is None or xr is None, "no h5py or no xarray")
    def test_coordinates_and_scalars_of_netcdf_are_those_of_xarray(self):
        with h5py.File(self.path("h"), "w") as file:  # as netCDF's library writes it
            file.attrs["_NCProperties"] = "version=2"
            for name, values in (("time", np.arange(3.0)), ("temp", np.arange(3, dtype="i2"))):
                file[name] = values
            file["time"].make_scale("time")
            file["time"].attrs["_Netcdf4Dimid"] = np.int32(0)
            file["temp"].dims[0].attach_scale(file["time"])
            file["time"].attrs["units"] = np.bytes_("days since 2026-01-01")
            for name, value in (("scale_factor", 0.5), ("_FillValue", np.int16(-1)), ("valid_range", np.array([0, 9], "i2"))):
                file["temp"].attrs[name] = np.atleast_1d(value)
        os.mkdir(self.path("d"))
        for name in ("time", "temp"):
            cairn.from_hdf5(self.path("h"), name, self.path(f"d/{name}.b2nd")).close()
        temp = cairn.open(self.path("d/temp.b2nd"))
        self.assertEqual((temp.attrs["scale_factor"], temp.attrs["_FillValue"], temp.attrs["valid_range"].tolist()), (0.5, -1, [0, 9]))
        self.assertEqual(temp.attrs["_ARRAY_DIMENSIONS"], ["time"])
        with xr.open_dataset(self.path("d"), engine="cairn") as found:
            self.assertEqual((found["time"].dims, found["temp"].dims, dict(found.sizes)), (("time",), ("time",), {"time": 3}))
            self.assertEqual(str(found["time"].values[1])[:10], "2026-01-02")
            self.assertEqual(found["temp"].values.tolist(), [0, 0.5, 1])

    @unittest.skipIf(h5py is None, "no h5py")
    def test_arrays_of_one_in_other_files_stay_arrays(self):
        with h5py.File(self.path("h"), "w") as file:
            file["a"] = np.arange(3)
            file["a"].attrs["one"] = np.array([5])
        self.assert_same(cairn.from_hdf5(self.path("h"), "a", self.path("f")).attrs["one"], np.array([5]))

    @unittest.skipIf(h5py is None, "no h5py")
    def test_datasets_of_hdf5_come_and_go(self):
        records = np.dtype([("a", "<i4"), ("b", ">f8", (2,)), ("c", "S3")])
        with h5py.File(self.path("h"), "w") as file:
            for number, shape in enumerate(SHAPES):
                for kind in (*KINDS, records, "<M8[s]", "V4"):
                    items = np.zeros(shape, kind) if np.dtype(kind).kind in "MV" else items_of(shape, kind)
                    stored = h5py.opaque_dtype(items.dtype) if items.dtype.kind == "M" else items.dtype
                    chunks = tuple(max(size // 2, 1) for size in shape) if shape and 0 not in shape and number % 2 else None
                    file.create_dataset(f"{number}/{np.dtype(kind).str}", data=items.view(stored), chunks=chunks)
        for number, shape in enumerate(SHAPES):
            for kind in (*KINDS, records, "<M8[s]", "V4"):
                with self.subTest(shape=shape, kind=kind):
                    name = f"{number}/{np.dtype(kind).str}"
                    frame = cairn.from_hdf5(self.path("h"), name, self.path("f"), overwrite=True)
                    with h5py.File(self.path("h"), "r") as file:
                        items, chunks = np.asarray(file[name]), file[name].chunks
                    self.assert_frame(frame, items)
                    if chunks is not None:
                        self.assertEqual(frame.chunks, chunks)
                    cairn.to_hdf5(frame, self.path("back"), name)
                    with h5py.File(self.path("back"), "r") as file:
                        self.assert_same(np.asarray(file[name]), items)
                        if chunks is not None:
                            self.assertEqual(file[name].chunks, chunks)
        self.assertEqual(sorted(os.listdir(self.folder)), ["back", "f", "h"])

    @unittest.skipIf(h5py is None, "no h5py")
    def test_hdf5_keeps_attributes_dimensions_and_fill_value(self):
        attrs = {"units": "K", "n": 5, "x": 2.5, "both": np.arange(3), "texts": ["a", "bÜ"], "none": None, "raw": b"a\0b\0", "yes": True, "c": 1j}
        with h5py.File(self.path("h"), "w") as file:
            items = file.create_dataset("g/temp", (6, 4, 2), "f4", chunks=(3, 4, 1), fillvalue=-9.5, compression="gzip", shuffle=True)
            items[:3] = 1
            file["g/lat"] = np.arange(4)
            file["g/lat"].make_scale("the latitude")
            items.dims[1].attach_scale(file["g/lat"])
            items.dims[0].label = "time"
            for name, value in attrs.items():
                items.attrs[name] = h5py.Empty("f4") if value is None else np.void(value) if name == "raw" else value
            expected = items[:]
        frame = cairn.from_hdf5(self.path("h"), "g/temp", self.path("f.b2nd"), threads=2)
        self.assert_frame(frame, expected)

        def same(got):
            for name, value in attrs.items():
                with self.subTest(name=name):
                    np.testing.assert_array_equal(got[name], value)

        same(frame.attrs)
        self.assertEqual(frame.attrs["_ARRAY_DIMENSIONS"], ["time", "lat", "dim_2"])
        cairn.to_hdf5(frame.path, self.path("back"), "deep/er/temp", compression="gzip", compression_opts=4, shuffle=True)
        with h5py.File(self.path("back"), "r") as file:
            back = file["deep/er/temp"]
            self.assert_same(back[:], expected)
            self.assertEqual([one.label for one in back.dims], ["time", "lat", "dim_2"])
            self.assertEqual((back.chunks, back.fillvalue, back.compression, back.shuffle), ((3, 4, 1), -9.5, "gzip", True))
        again = cairn.from_hdf5(self.path("back"), "deep/er/temp", self.path("again.b2nd"))
        same(again.attrs)
        self.assertEqual(dict(again.attrs).keys(), dict(frame.attrs).keys())

    @unittest.skipIf(h5py is None or xr is None, "no h5py or no xarray")
    def test_texts_of_netcdf_are_texts(self):
        with h5py.File(self.path("h"), "w") as file:  # as netCDF's library writes it
            file["time"] = np.arange(3)
            file["time"].attrs["units"] = np.bytes_("days since 2026-01-01")
            file["time"].attrs["_FillValue"] = np.array([-1])
            file["time"].attrs["odd"] = np.bytes_(b"\xff")
        frame = cairn.from_hdf5(self.path("h"), "time", self.path("time.b2nd"))
        self.assertEqual((frame.attrs["units"], frame.attrs["odd"]), ("days since 2026-01-01", b"\xff"))
        with xr.open_dataset(frame.path, engine="cairn") as found:
            self.assertEqual(found["time"].values.astype("M8[D]").tolist(), np.arange("2026-01-01", "2026-01-04", dtype="M8[D]").tolist())

    @unittest.skipIf(h5py is None or zarr is None or xr is None, "no h5py, zarr or xarray")
    def test_missing_value_of_netcdf_goes_on_to_zarr(self):
        with h5py.File(self.path("h"), "w") as file:
            file["v"] = np.array([1.0, -9.0], "f4")
            file["v"].attrs["_FillValue"] = np.array([-9.0], "f4")
            file["v"].dims[0].label = "x"
        cairn.from_hdf5(self.path("h"), "v", self.path("v.b2nd")).close()
        zarr.create_group(self.path("z"))
        cairn.to_zarr(self.path("v.b2nd"), self.path("z/v"))
        for opened in (xr.open_dataset(self.path("v.b2nd"), engine="cairn"), xr.open_zarr(self.path("z"), consolidated=False)):
            with opened as found:
                np.testing.assert_array_equal(found["v"], [1, np.nan])

    @unittest.skipIf(h5py is None, "no h5py")
    def test_hdf5_that_no_frame_holds_is_refused_by_name(self):
        with h5py.File(self.path("h"), "w") as file:
            file["texts"] = ["a", "bc"]
            file["enum"] = np.zeros(3, h5py.enum_dtype({"a": 0, "b": 1}))
            file.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
            file.create_dataset("refs", (2,), h5py.ref_dtype)
            file["empty"] = h5py.Empty("f4")
            file["n"] = np.arange(3)
            file["n"].attrs["ref"] = file["texts"].ref
            file["m"] = np.arange(3)
            file["m"].attrs["lists"] = np.array([np.arange(2), np.arange(3)], object).astype(h5py.vlen_dtype("i8"))
            file.create_group("g")
        with open(self.path("text"), "w") as file:
            file.write("no HDF5")
        wrong = {
            "texts": "items of type object", "enum": "enumeration, {'a': 0, 'b': 1}", "lists": "items of type object", "refs": "items of type object",
            "empty": "has no items", "n": "attribute 'ref'", "m": "attribute 'lists'", "g": "expected a dataset, got a group",
        }  # fmt: skip
        for name, text in wrong.items():
            with self.subTest(name=name), self.assertRaises(cairn.InvalidArgument) as caught:
                cairn.from_hdf5(self.path("h"), name, self.path("f"))
            self.assertIn(f"{self.path('h')}: dataset '{name}': ", str(caught.exception))
            self.assertIn(text, str(caught.exception))
        for name, dataset, kind in (("h", "nowhere", cairn.NotFound), ("nowhere", "x", cairn.NotFound), ("text", "x", cairn.InvalidArgument)):
            with self.subTest(name=name), self.assertRaises(kind):
                cairn.from_hdf5(self.path(name), dataset, self.path("f"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["h", "text"])

    @unittest.skipIf(h5py is None, "no h5py")
    def test_frames_that_hdf5_does_not_hold_are_refused_by_name(self):
        frame = cairn.asarray(np.array(["a", "bc"]), self.path("texts"))
        with self.assertRaisesRegex(cairn.InvalidType, "no items of type <U2"):
            cairn.to_hdf5(frame, self.path("h"), "x")
        frame = cairn.asarray(np.arange(3), self.path("f"))
        for value in ({"a": 1}, {1}, [1, "x"], ["x", None], "a\0b", [[1], [2, 3]], np.zeros(100_000)):
            frame.attrs["odd"] = value
            with self.subTest(value=str(value)[:20]), self.assertRaisesRegex(cairn.InvalidArgument, "dataset 'x': attribute 'odd': "):
                cairn.to_hdf5(frame, self.path("h"), "x")
        self.assertEqual(sorted(os.listdir(self.folder)), ["f", "texts"])

    @unittest.skipIf(h5py is None, "no h5py")
    def test_overwriting_a_dataset_leaves_the_others(self):
        frame = cairn.asarray(np.arange(3), self.path("f"))
        for name in ("a/x", "b"):
            cairn.to_hdf5(frame, self.path("h"), name)
        with self.assertRaisesRegex(cairn.AlreadyExists, "dataset 'b'"):
            cairn.to_hdf5(frame, self.path("h"), "b")
        cairn.to_hdf5(cairn.asarray(np.ones(2)), self.path("h"), "b", overwrite=True)

        def stop(done):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            cairn.to_hdf5(frame, self.path("h"), "a/x", overwrite=True, progress=stop)
        with h5py.File(self.path("h"), "r") as file:
            self.assertEqual((list(file), list(file["a"])), (["a", "b"], ["x"]))
            self.assertEqual((file["b"][:].tolist(), file["a/x"][:].tolist()), ([1, 1], [0, 1, 2]))

    # NumPy

    def test_files_of_numpy_come_and_go(self):
        records = np.dtype([("a", "<i4"), ("b", ">f8", (2,)), ("c", "<U3")])
        for shape in SHAPES:
            for kind in (*KINDS, records, "<U3", "<M8[s]", "V4"):
                with self.subTest(shape=shape, kind=kind):
                    items = np.zeros(shape, kind) if np.dtype(kind).kind in "MV" else items_of(shape, kind)
                    for order in "CF":
                        np.save(self.path("a.npy"), np.asarray(items, order=order))
                        with cairn.from_npy(self.path("a.npy"), self.path("f"), overwrite=True) as frame:
                            self.assert_frame(frame, items)
                            cairn.to_npy(frame, self.path("b.npy"), overwrite=True)
                        self.assert_same(np.load(self.path("b.npy")), items)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npy", "b.npy", "f"])

    def test_members_of_npz(self):
        one, two = np.arange(10.0), items_of((3, 4), "i4")
        for save in (np.savez, np.savez_compressed):
            save(self.path("a.npz"), one=one, two=two)
            for name, items in (("one", one), ("two", two)):
                self.assert_frame(cairn.from_npy(self.path("a.npz"), self.path("f"), member=name, overwrite=True), items)
            for member, kind in ((None, cairn.InvalidArgument), ("three", cairn.NotFound)):
                with self.assertRaisesRegex(kind, f"member: expected one of 'one', 'two', got {member!r}"):
                    cairn.from_npy(self.path("a.npz"), self.path("g"), member=member)
        np.savez(self.path("b.npz"), two)
        self.assert_frame(cairn.from_npy(self.path("b.npz"), self.path("f"), overwrite=True), two)
        np.save(self.path("c.npy"), one)
        with self.assertRaisesRegex(cairn.InvalidArgument, "member: expected None"):
            cairn.from_npy(self.path("c.npy"), self.path("g"), member="one")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npz", "b.npz", "c.npy", "f"])

    def test_files_of_numpy_that_no_frame_holds_are_refused(self):
        np.save(self.path("objects.npy"), np.array([{}]))
        np.savez(self.path("objects.npz"), np.array([{}]))
        with open(self.path("text.npy"), "w") as file:
            file.write("no array")
        with open(self.path("cut.npy"), "wb") as file:
            np.save(file, np.arange(1000))
            file.truncate(500)
        with zipfile.ZipFile(self.path("none.npz"), "w"):
            pass
        for name in ("objects.npy", "objects.npz", "text.npy", "cut.npy", "none.npz"):
            with self.subTest(name=name), self.assertRaisesRegex(cairn.InvalidArgument, name):
                cairn.from_npy(self.path(name), self.path("f"))
        with self.assertRaises(cairn.NotFound):
            cairn.from_npy(self.path("nowhere.npy"), self.path("f"))
        self.assertFalse(os.path.exists(self.path("f")))

    # All

    def conversions(self):
        """By name: what makes a file of that format, and the arguments of the calls that read and write it."""
        found = {"npy": (lambda items: np.save(self.path("a.npy"), items), (self.path("a.npy"),), (self.path("b.npy"),))}
        found["npz"] = (lambda items: np.savez_compressed(self.path("a.npz"), items), (self.path("a.npz"),), None)
        if zarr is not None:
            found["zarr"] = (lambda items: zarr.save_array(self.path("a.zarr"), items), (self.path("a.zarr"),), (self.path("b.zarr"),))
        if h5py is not None:

            def make(items):
                with h5py.File(self.path("a.h5"), "w") as file:
                    file["x"] = items

            found["hdf5"] = (make, (self.path("a.h5"), "x"), (self.path("b.h5"), "x"))
        return found

    def test_progress_counts_chunks_and_stops(self):
        items = items_of((100, 300), "f8")

        def stop(done):
            raise InterruptedError("enough")

        for name, (make, source, target) in self.conversions().items():
            make(items)
            before = sorted(os.listdir(self.folder))
            convert = getattr(cairn, f"from_{name.replace('npz', 'npy')}")
            with self.subTest(name=name):
                with self.assertRaises(InterruptedError):
                    convert(*source, self.path("f"), progress=stop)
                self.assertEqual(sorted(os.listdir(self.folder)), before)
                told = []
                with convert(*source, self.path("f"), chunks=(50, 100), progress=told.append) as frame:
                    self.assertEqual(told[-1], 6)
                    with self.assertRaises(cairn.AlreadyExists):
                        convert(*source, self.path("f"))
                    if target is not None:
                        with self.assertRaises(InterruptedError):
                            getattr(cairn, f"to_{name}")(frame, *target, progress=stop)
                        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, "f"]))
                        told.clear()
                        getattr(cairn, f"to_{name}")(frame, *target, progress=told.append)
                        self.assertEqual(told[-1], 6)
                os.unlink(self.path("f"))

    def test_conversion_takes_the_memory_of_some_boxes(self):
        items = np.random.default_rng(1).integers(0, 1000, (6000, 4000))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

        def measure(*arguments):
            command = [sys.executable, "-c", MEASURED, *arguments]
            return int(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)

        for name, (make, source, target) in self.conversions().items():
            make(items)
            with self.subTest(name=name):
                path = self.path(f"f{name}")
                self.assertLess(measure(f"from_{name.replace('npz', 'npy')}", *source, path), 120)
                if target is not None:
                    self.assertLess(measure(f"to_{name}", path, *target), 120)
                self.assertEqual(cairn.open(path)[5999, 3999], items[-1, -1])

    def test_what_a_killed_conversion_left_goes_with_the_next_one(self):
        program = """
import os, signal, sys, cairn
getattr(cairn, sys.argv[1])(*sys.argv[2:], progress=lambda done: os.kill(os.getpid(), signal.SIGKILL))
"""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        items = items_of((1000, 100), "f8")
        for name, (make, source, target) in self.conversions().items():
            make(items)
            path = self.path(f"f{name}")
            calls = [(f"from_{name.replace('npz', 'npy')}", *source, path)]
            if target is not None:
                calls.append((f"to_{name}", path, *target))
            for call, *arguments in calls:
                with self.subTest(call=call):
                    before = sorted(os.listdir(self.folder))
                    ran = subprocess.run([sys.executable, "-c", program, call, *arguments], env=environment)
                    self.assertEqual(ran.returncode, -9)
                    self.assertFalse(os.path.exists(arguments[-1] if call != "to_hdf5" else arguments[1]))
                    getattr(cairn, call)(*arguments)
                    self.assertEqual(len(os.listdir(self.folder)), len(before) + 1, os.listdir(self.folder))

    def test_plain_frame_goes_as_an_array_of_one_dimension(self):
        frame = cairn.create(self.path("f"), None, "<f4")
        frame.append(np.arange(10, dtype="f4"))
        cairn.to_npy(frame, self.path("a.npy"))
        self.assert_same(np.load(self.path("a.npy")), np.arange(10, dtype="f4"))

    def test_missing_library_is_named(self):
        program = """
import sys
sys.modules["zarr"] = sys.modules["h5py"] = None
import cairn
for call, arguments in ((cairn.from_zarr, "ab"), (cairn.to_zarr, "ab"), (cairn.from_hdf5, "abc"), (cairn.to_hdf5, "abc")):
    try:
        call(*arguments)
    except cairn.Unimplemented as error:
        print(str(error).partition("needs the package ")[2][:4])
"""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.split(), ["zarr", "zarr", "h5py", "h5py"])

    @unittest.skipIf(blosc2 is None, "no python-blosc2")
    def test_frame_that_was_converted_is_one_of_python_blosc2(self):
        np.save(self.path("a.npy"), np.arange(10))
        cairn.from_npy(self.path("a.npy"), self.path("f.b2nd")).close()
        np.testing.assert_array_equal(blosc2.open(self.path("f.b2nd"))[:], np.arange(10))


if __name__ == "__main__":
    unittest.main()
