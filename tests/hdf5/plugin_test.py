"""The HDF5 plugin beside those of hdf5plugin and PyTables, and in HDF5's own tools.

    CAIRN_HDF5_PLUGIN=BUILD/tools/hdf5/libh5cairn.so python3 tests/hdf5/plugin_test.py

Each program is a process of its own, for a process has one plugin of a number. Skips what it has no
h5py, hdf5plugin, PyTables or h5repack for.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PLUGIN = os.environ.get("CAIRN_HDF5_PLUGIN")
BLOSC2 = 32026
CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}

# What every program begins with: data sets of each kind, by name.
DATA = f"""
import sys
import numpy as np

BLOSC2 = {BLOSC2}
CODECS = {CODECS}


def numbers(dtype, shape):
    count = int(np.prod(shape))
    return (np.arange(count) ** 2 // 7 % 251).astype(dtype).reshape(shape)


def data():
    for dtype in ("u1", "<i2", "<i4", ">i4", "<i8", "<f4", "<f8", "<c16", "S5", "S300"):
        yield "type " + np.dtype(dtype).str, numbers("i4", (50, 40)).astype(dtype), (20, 30)
    record = np.zeros(500, dtype=[("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    record["a"] = np.arange(500)
    record["b"] = np.sqrt(np.arange(500))
    yield "record", record, (120,)
    for ndim, shape in enumerate([(3000,), (90, 70), (20, 30, 11), (9, 8, 7, 6), (5, 4, 3, 6, 7)], 1):
        # Chunks that do not divide the data set, and one that holds all of it.
        yield f"shape {{ndim}}", numbers("<i4", shape), tuple(extent // 3 + 1 for extent in shape)
        yield f"chunk {{ndim}}", numbers("<f4", shape), shape
    yield "many dimensions", numbers("<i4", (2,) * 10), (2,) * 10
    yield "zeros", np.zeros((100, 100)), (40, 40)
    yield "noise", np.random.default_rng(1).integers(0, 256, (200, 210), dtype="u1"), (64, 64)
    yield "large", numbers("<i4", (1000, 900)), (700, 800)


def options():
    for codec in CODECS.values():
        for level in (0, 1, 5, 9):
            for filter in (0, 1, 2, 3):
                yield f"codec {{codec}} level {{level}} filter {{filter}}", (0, 0, 0, 0, level, filter, codec)


# What hdf5plugin writes and cannot read: items of over 255 bytes in n dimensions, which Cairn cannot read either, and
# more than 8 dimensions, which it stores as an array.
ONLY_OURS = ("type |S300", "many dimensions")


def same(read, expected):
    if read.tobytes() != expected.tobytes():
        raise AssertionError(f"{{read.dtype}} {{read.shape}}")
"""

WRITE = """
import h5py
with h5py.File(sys.argv[1], "w") as file:
    for name, array, chunks in data():
        if "theirs" not in sys.argv or name not in ONLY_OURS:
            file.create_dataset(name, data=array, chunks=chunks, compression=BLOSC2)
    array = numbers("<i4", (90, 70))
    for name, values in options():
        file.create_dataset(name, data=array, chunks=(40, 30), compression=BLOSC2, compression_opts=values)
        file.create_dataset("flat " + name, data=array.ravel(), chunks=(4000,), compression=BLOSC2,
                            compression_opts=values)
    # Items that are arrays.
    kind = h5py.h5t.array_create(h5py.h5t.STD_I32LE, (6,))
    space = h5py.h5s.create_simple((40, 30))
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((16, 30))
    made.set_filter(BLOSC2, 0, (0, 0, 0, 0, 5, 1, 1))
    written = h5py.h5d.create(file.id, b"arrays", kind, space, made)
    written.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers("<i4", (40, 30, 6)), kind)
"""

READ = """
import h5py
with h5py.File(sys.argv[1]) as file:
    for name, array, chunks in data():
        if "theirs" in sys.argv and name in ONLY_OURS:
            continue
        same(file[name][()], array)
        same(file[name][1:3], array[1:3])
    array = numbers("<i4", (90, 70))
    for name, _ in options():
        same(file[name][()], array)
        same(file["flat " + name][()], array.ravel())
    same(file["arrays"][()], numbers("<i4", (40, 30, 6)))
"""

WRITE_TABLES = """
import tables
with tables.open_file(sys.argv[1], "w") as file:
    for codec in CODECS:
        for kind, extra in (("shuffle", {}), ("bits", {"bitshuffle": True}), ("plain", {"shuffle": False})):
            filters = tables.Filters(complevel=5, complib="blosc2:" + codec, **extra)
            for name, array, chunks in data():
                if name.startswith(("shape", "chunk")):
                    file.create_carray("/", f"{codec}_{kind}_{name}".replace(" ", "_"), obj=array, chunkshape=chunks,
                                       filters=filters)
    table = np.zeros(5000, dtype=[("a", "<i4"), ("b", "<f8")])
    table["a"] = np.arange(5000)
    file.create_table("/", "table", obj=table, chunkshape=1000, filters=tables.Filters(complevel=5, complib="blosc2"))
"""

READ_TABLES = """
import h5py
with h5py.File(sys.argv[1]) as file:
    for codec in CODECS:
        for kind in ("shuffle", "bits", "plain"):
            for name, array, chunks in data():
                if name.startswith(("shape", "chunk")):
                    same(file[f"{codec}_{kind}_{name}".replace(" ", "_")][()], array)
    assert (file["table"]["a"] == np.arange(5000)).all()
"""

TABLES_READ_OURS = """
import tables
with tables.open_file(sys.argv[1]) as file:
    for name, array, chunks in data():
        if name.startswith(("shape", "chunk")):
            same(file.get_node("/", name)[:], array)
    for name, _ in options():
        same(file.get_node("/", name)[:], numbers("<i4", (90, 70)))
"""

DAMAGE = """
import h5py
array = numbers("<i4", (90, 70))
with h5py.File(sys.argv[1], "w") as file:
    made = file.create_dataset("a", data=array, chunks=(90, 70), compression=BLOSC2)
    _, chunk = made.id.read_direct_chunk((0, 0))
with h5py.File(sys.argv[1], "w") as file:
    for name, bytes_ in (("cut", chunk[: len(chunk) // 2]), ("none", b"x"), ("zeros", bytes(len(chunk)))):
        made = file.create_dataset(name, array.shape, array.dtype, chunks=array.shape, compression=BLOSC2)
        made.id.write_direct_chunk((0, 0), bytes_)
    # A chunk of another shape, which HDF5 would read past its end.
    made = file.create_dataset("small", (91, 70), array.dtype, chunks=(91, 70), compression=BLOSC2)
    made.id.write_direct_chunk((0, 0), chunk)
with h5py.File(sys.argv[1]) as file:
    for name in ("cut", "none", "zeros", "small"):
        try:
            file[name][()]
        except OSError:
            continue
        raise AssertionError(name)
"""


SIZE = """
import h5py
for array, chunks in ((numbers("<i4", (90, 70)), (90, 70)), (numbers("<i4", (6300,)), (6300,))):
    with h5py.File(sys.argv[1], "w") as file:
        made = file.create_dataset("a", data=array, chunks=chunks, compression=BLOSC2, compression_opts=(0, 0, 0, 0, 0))
        _, chunk = made.id.read_direct_chunk((0,) * array.ndim)
    # The header of a frame, with the metalayer of an array, a chunk that is not compressed, and the trailer.
    assert len(chunk) - array.nbytes < 420, len(chunk) - array.nbytes
"""


def has(module):
    return importlib.util.find_spec(module) is not None


@unittest.skipUnless(PLUGIN, "CAIRN_HDF5_PLUGIN does not name the plugin")
class PluginTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = os.path.join(directory.name, "a.h5")
        self.other = os.path.join(directory.name, "b.h5")

    def require(self, *modules):
        for module in modules:
            if not has(module):
                self.skipTest(f"no {module}")

    def run_python(self, program, *arguments, ours):
        """With our plugin, or with that of the program's own."""
        env = dict(os.environ, HDF5_PLUGIN_PATH=os.path.dirname(PLUGIN) if ours else "/nonexistent")
        check = f"import h5py\nassert {ours} == h5py.h5z.filter_avail({BLOSC2})\n" if "import h5py" in program else ""
        theirs = "" if ours else "import hdf5plugin\n"
        if "import tables" in program:
            check = theirs = ""
        done = subprocess.run(
            [sys.executable, "-c", check + theirs + DATA + program, *arguments],
            env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def run_tool(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"no {command[0]}")
        env = dict(os.environ, HDF5_PLUGIN_PATH=os.path.dirname(PLUGIN))
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-1000:] + done.stderr[-1000:])
        return done.stdout

    def test_reads_what_it_wrote(self):
        self.require("h5py")
        self.run_python(WRITE, self.file, ours=True)
        self.run_python(READ, self.file, ours=True)

    def test_reads_files_of_hdf5plugin(self):
        self.require("h5py", "hdf5plugin")
        self.run_python(WRITE, self.file, "theirs", ours=False)
        self.run_python(READ, self.file, "theirs", ours=True)

    def test_hdf5plugin_reads_ours(self):
        self.require("h5py", "hdf5plugin")
        self.run_python(WRITE, self.file, ours=True)
        self.run_python(READ, self.file, ours=False)

    def test_reads_files_of_pytables(self):
        self.require("h5py", "tables")
        self.run_python(WRITE_TABLES, self.file, ours=True)
        self.run_python(READ_TABLES, self.file, ours=True)

    def test_pytables_reads_ours(self):
        self.require("h5py", "tables")
        self.run_python(WRITE, self.file, ours=True)
        self.run_python(TABLES_READ_OURS, self.file, ours=False)

    def test_refuses_damaged_chunks(self):
        self.require("h5py")
        self.run_python(DAMAGE, self.file, ours=True)

    def test_chunks_have_no_more_than_a_frame_needs(self):
        self.require("h5py")
        self.run_python(SIZE, self.file, ours=True)

    def test_h5repack_and_h5dump_use_it(self):
        self.require("h5py")
        self.run_python(WRITE, self.file, ours=True)
        self.run_tool("h5repack", "-f", "NONE", self.file, self.other)
        self.run_python(READ, self.other, ours=True)
        self.run_tool("h5repack", "-f", f"UD={BLOSC2},0,7,0,0,0,0,9,1,5", self.other, self.file)
        self.run_python(READ, self.file, ours=True)
        self.assertIn("USER_DEFINED_FILTER", self.run_tool("h5dump", "-p", "-H", "-d", "shape 2", self.file))
        # Counted by squares, as the program above does.
        self.assertIn("(0,0): 0, 0, 0, 1, 2, 3,", self.run_tool("h5dump", "-d", "shape 2", self.file))

    def test_h5repack_reads_files_of_hdf5plugin(self):
        self.require("h5py", "hdf5plugin")
        self.run_python(WRITE, self.file, "theirs", ours=False)
        self.run_tool("h5repack", "-f", "NONE", self.file, self.other)
        self.run_python(READ, self.other, "theirs", ours=True)


if __name__ == "__main__":
    unittest.main()
