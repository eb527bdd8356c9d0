"""The stores of several arrays that cubes.py compares."""

import importlib.util
import os

import numpy as np

HOURS = 24
VARIABLES = tuple(f"v{number}" for number in range(10))
LEVEL = 5  # of zstd in Blosc, after SHUFFLE, for all
COMMIT_OF_MANY = 400  # new members in one commit of Cairn, which an `ulimit -n` of 1024 allows


class Weather:
    """The days of a cube. Every process computes the same values, so each can check what it reads."""

    def __init__(self, grid):
        self.shape = (HOURS, *grid)
        dice = np.random.default_rng(7)
        hour, lat, lon = np.meshgrid(*(np.linspace(0, 6, size) for size in self.shape), indexing="ij")
        smooth = 15 + 10 * np.sin(lat) * np.cos(lon + hour)
        self.fields = [smooth + dice.normal(scale=0.5, size=self.shape) for _ in range(31)]

    def day(self, number, variable):
        field = self.fields[(number + 3 * variable) % len(self.fields)]
        return np.round(field + 5 * variable + number % 100, 1).astype("<f4")

    def all_of(self, number):
        return [self.day(number, variable) for variable in range(len(VARIABLES))]


class Store:
    """Holds the ten variables of a cube, or many small arrays.

    One object either writes or reads. `create` and `reopen` begin writing, `state` reads, and `close` ends
    both. The methods with `many` are about small arrays, of which `open_many` reads.
    """

    name = ""
    modules = ()  # of Python, which it needs
    reopens = True  # also after the writer was killed

    def __init__(self, path, grid=None):
        self.path = path
        self.shape = None if grid is None else (HOURS, *grid)

    @classmethod
    def missing(cls):
        return [module for module in cls.modules if importlib.util.find_spec(module) is None]

    def close(self):
        pass


class Cairn(Store):
    name = "Cairn, Collection"
    modules = ("cairn",)
    how = {"codec": "zstd", "clevel": LEVEL, "filters": ("shuffle",)}

    def create(self):
        self.begin("x")
        for name in VARIABLES:
            self.writer.add("/" + name, shape=(0, *self.shape), dtype="f4", chunks=(1, *self.shape), **self.how)
        self.writer.commit()

    def reopen(self):
        self.begin("r+")
        return self.collection["/" + VARIABLES[0]].shape[0]

    def begin(self, mode):
        import cairn

        self.collection = cairn.open_collection(self.path, mode)
        self.writer = self.collection.writer()

    def append(self, arrays):
        for name, values in zip(VARIABLES, arrays):
            self.writer["/" + name].append(values[np.newaxis])
        self.writer.commit()

    def close(self):
        if hasattr(self, "writer"):
            self.writer.close()
        self.collection.close()

    def state(self):
        if not hasattr(self, "collection"):
            self.open_many()
        self.collection.refresh()
        now = self.collection.snapshot()
        return [now["/" + name] for name in VARIABLES]

    def create_many(self, arrays):
        self.begin("x")
        for number, (name, values) in enumerate(arrays.items(), 1):
            self.writer.add("/" + name, values, **self.how)
            if number % COMMIT_OF_MANY == 0:
                self.writer.commit()

    def open_many(self):
        import cairn

        self.collection = cairn.open_collection(self.path)

    def one_of_many(self, name):
        return self.collection["/" + name]

    def names_of_many(self):
        return self.collection.members()


class Zarr(Store):
    """Zarr 3 in the store that `store` opens."""

    modules = ("zarr",)

    def store(self, write):
        raise NotImplementedError

    def make(self, store):
        import zarr

        group = zarr.create_group(store)
        return [group.create_array(name, shape=(0, *self.shape), chunks=(1, *self.shape), dtype="f4",
                                   compressors=self.codec()) for name in VARIABLES]  # fmt: skip

    def codec(self):
        import zarr

        return zarr.codecs.BloscCodec(cname="zstd", clevel=LEVEL, shuffle="shuffle", typesize=4)

    def group(self, store, mode):
        import zarr

        return zarr.open_group(store, mode=mode)

    def create(self):
        self.arrays = self.make(self.store(True))

    def reopen(self):
        group = self.group(self.store(True), "r+")
        self.arrays = [group[name] for name in VARIABLES]
        return self.arrays[0].shape[0]

    def append(self, arrays):
        for array, values in zip(self.arrays, arrays):
            array.append(values[np.newaxis])

    def state(self):
        group = self.group(self.store(False), "r")
        return [group[name] for name in VARIABLES]

    def create_many(self, arrays):
        self.fill(self.store(True), arrays)

    def fill(self, store, arrays):
        import zarr

        group = zarr.open_group(store, mode="a")
        for name, values in arrays.items():
            group.create_array(name, data=values, compressors=self.codec())

    def open_many(self):
        self.many = self.group(self.store(False), "r")

    def one_of_many(self, name):
        return self.many[name]

    def names_of_many(self):
        return list(self.many.array_keys())


class ZarrStore(Zarr):
    name = "Cairn, ZarrStore"
    modules = ("cairn", "zarr")

    def store(self, write):
        import cairn

        self.opened = cairn.ZarrStore(self.path, read_only=not write)
        return self.opened

    def create(self):
        store = self.store(True)
        with store.transaction():
            self.arrays = self.make(store)

    def append(self, arrays):
        with self.opened.transaction():
            super().append(arrays)

    def state(self):
        if hasattr(self, "opened"):
            self.opened.refresh()
        else:
            self.store(False)
        group = self.group(self.opened, "r")
        return [group[name] for name in VARIABLES]

    def create_many(self, arrays):
        store = self.store(True)
        pairs = list(arrays.items())
        step = COMMIT_OF_MANY // 2  # since a new array has two members
        for at in range(0, len(pairs), step):
            with store.transaction():
                self.fill(store, dict(pairs[at : at + step]))

    def close(self):
        self.opened.close()


class ZarrLocal(Zarr):
    name = "Zarr, LocalStore"

    def store(self, write):
        import zarr

        return zarr.storage.LocalStore(self.path, read_only=not write)


class ZarrObstore(Zarr):
    name = "Zarr, obstore"
    modules = ("zarr", "obstore")

    def store(self, write):
        import obstore
        import zarr

        os.makedirs(self.path, exist_ok=True)
        return zarr.storage.ObjectStore(obstore.store.LocalStore(self.path), read_only=not write)


class Icechunk(Zarr):
    """A session and a commit for each day, as a program that appends one day has them."""

    name = "Icechunk"
    modules = ("icechunk", "zarr")

    def repository(self, create=False):
        import icechunk

        icechunk.set_logs_filter("error")
        storage = icechunk.local_filesystem_storage(self.path)
        return icechunk.Repository.create(storage) if create else icechunk.Repository.open(storage)

    def create(self):
        self.opened = self.repository(create=True)
        self.commit(self.make)

    def reopen(self):
        self.opened = self.repository()
        return self.state()[0].shape[0]

    def commit(self, change):
        session = self.opened.writable_session("main")
        change(session.store)
        session.commit("a day")

    def append(self, arrays):
        def change(store):
            group = self.group(store, "r+")
            for name, values in zip(VARIABLES, arrays):
                group[name].append(values[np.newaxis])

        self.commit(change)

    def state(self):
        if not hasattr(self, "opened"):
            self.opened = self.repository()
        return super().state()

    def store(self, write):
        return self.opened.readonly_session("main").store

    def create_many(self, arrays):
        self.opened = self.repository(create=True)
        self.commit(lambda store: self.fill(store, arrays))

    def open_many(self):
        self.opened = self.repository()
        super().open_many()


class Hdf5(Store):
    """A day is handed to the kernel by a flush."""

    name = "h5py, flush"
    modules = ("h5py", "hdf5plugin")
    version = None  # of the format: the oldest that can hold it
    swmr = False

    def open(self, mode, swmr=False):
        import h5py
        import hdf5plugin  # noqa: F401  registers Blosc

        self.file = h5py.File(self.path, mode, libver=self.version, swmr=swmr)
        return self.file

    def compression(self):
        import hdf5plugin

        return hdf5plugin.Blosc(cname="zstd", clevel=LEVEL, shuffle=hdf5plugin.Blosc.SHUFFLE)

    def create(self):
        file = self.open("w")
        self.arrays = [file.create_dataset(name, shape=(0, *self.shape), maxshape=(None, *self.shape), dtype="f4",
                                           chunks=(1, *self.shape), compression=self.compression())
                       for name in VARIABLES]  # fmt: skip
        file.flush()

    def reopen(self):
        file = self.open("r+")
        self.arrays = [file[name] for name in VARIABLES]
        return len(self.arrays[0])

    def append(self, arrays):
        for array, values in zip(self.arrays, arrays):
            array.resize(len(array) + 1, axis=0)
            array[-1] = values
        self.file.flush()

    def close(self):
        self.file.close()

    def state(self):
        file = self.open("r")
        self.arrays = [file[name] for name in VARIABLES]
        return self.arrays

    def create_many(self, arrays):
        file = self.open("w")
        for name, values in arrays.items():
            file.create_dataset(name, data=values, chunks=values.shape, compression=self.compression())
        file.flush()

    def open_many(self):
        self.open("r")

    def one_of_many(self, name):
        return self.file[name]

    def names_of_many(self):
        return list(self.file)


class Hdf5Synced(Hdf5):
    """A flush, then fsync of the file."""

    name = "h5py, flush + fsync"

    def append(self, arrays):
        super().append(arrays)
        self.sync()

    def create_many(self, arrays):
        super().create_many(arrays)
        self.sync()

    def sync(self):
        os.fsync(self.file.id.get_vfd_handle())


class Hdf5Swmr(Hdf5):
    """The mode of HDF5 for readers beside the writer. A file whose writer was killed is refused for
    writing until the program h5clear has run."""

    name = "h5py, SWMR"
    version = "latest"
    reopens = False

    def create(self):
        super().create()
        self.file.swmr_mode = True

    def state(self):
        if not hasattr(self, "file"):
            file = self.open("r", swmr=True)
            self.arrays = [file[name] for name in VARIABLES]
        for array in self.arrays:
            array.refresh()
        return self.arrays


class Tree(Store):
    """TreeStore of python-blosc2 in a directory."""

    name = "python-blosc2, TreeStore"
    modules = ("blosc2",)
    locking = False

    def open(self, mode):
        import blosc2

        blosc2.set_nthreads(1)
        self.tree = blosc2.TreeStore(self.path, mode=mode, locking=self.locking)
        return self.tree

    def cparams(self):
        import blosc2

        return {"codec": blosc2.Codec.ZSTD, "clevel": LEVEL, "filters": [blosc2.Filter.SHUFFLE], "nthreads": 1}

    def create(self):
        import blosc2

        tree = self.open("w")
        for name in VARIABLES:
            tree["/" + name] = blosc2.zeros((0, *self.shape), dtype="f4", chunks=(1, *self.shape),
                                            cparams=self.cparams())  # fmt: skip
        self.arrays = [tree["/" + name] for name in VARIABLES]

    def reopen(self):
        tree = self.open("a")
        self.arrays = [tree["/" + name] for name in VARIABLES]
        return self.arrays[0].shape[0]

    def append(self, arrays):
        for array, values in zip(self.arrays, arrays):
            days = array.shape[0]
            array.resize((days + 1, *self.shape))
            array[days] = values

    def state(self):
        tree = self.open("r")
        return [tree["/" + name] for name in VARIABLES]

    def close(self):
        self.arrays = None
        self.tree.close()

    def create_many(self, arrays):
        import blosc2

        tree = self.open("w")
        for name, values in arrays.items():
            tree["/" + name] = blosc2.asarray(values, cparams=self.cparams())

    def open_many(self):
        self.open("r")

    def one_of_many(self, name):
        return self.tree["/" + name]

    def names_of_many(self):
        return list(self.tree.keys())


class LockingTree(Tree):
    """A TreeStore that several processes may use. Others are for one."""

    name = "python-blosc2, TreeStore, locking"
    locking = True


KINDS = (Cairn, ZarrStore, ZarrLocal, ZarrObstore, Icechunk, Hdf5, Hdf5Synced, Hdf5Swmr, Tree, LockingTree)
TIMED = tuple(kind for kind in KINDS if kind not in (Hdf5Swmr, LockingTree))
# A kill leaves the pages of the kernel as they are, so a sync changes nothing.
KILLED = tuple(kind for kind in KINDS if kind not in (Hdf5Synced, LockingTree))
# A file of HDF5 without SWMR locks readers out.
READ_BESIDE = tuple(kind for kind in KINDS if kind not in (Hdf5, Hdf5Synced, Tree))
