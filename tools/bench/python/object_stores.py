"""The stores of arrays that objects.py compares. Each is made once, and asked by way of `endpoint`."""

import os
import subprocess

import numpy as np

CHUNK = 1 << 15  # values
PARALLEL = 64


class Contestant:
    def __init__(self, bucket, endpoint, folder):
        self.bucket = bucket
        self.endpoint = endpoint
        self.folder = folder
        self.place = f"cairn-bench-{os.getpid()}/{type(self).__name__}"
        self.uri = f"s3://{bucket}/{self.place}"
        self.prepare()

    def prepare(self):
        pass


class Cairn(Contestant):
    """An object frame, by the program."""

    name = "Cairn, object frame"
    tool = ""

    def run(self, *words, **how):
        environment = os.environ | {"AWS_ENDPOINT_URL": self.endpoint}
        return subprocess.run([self.tool, *words], env=environment, check=True, capture_output=True, **how).stdout

    def make(self, values):
        self.run("pack", "-", self.uri, "--typesize", "8", "--chunk-size", str(8 * CHUNK), "--quiet",
                 input=values.tobytes())  # fmt: skip

    def value(self, at):
        return np.frombuffer(self.run("cat", self.uri, "--first-item", str(at), "--items", "1"), "<f8")[0]

    def all(self):
        return np.frombuffer(self.run("cat", self.uri), "<f8")

    def append(self, values):
        self.run("append", self.uri, "-", "--quiet", input=values.tobytes())


class CairnContiguous(Cairn):
    """The same frame as one object, which is only read there."""

    name = "Cairn, contiguous"
    append = None

    def make(self, values):
        import s3fs

        path = os.path.join(self.folder, "frame")
        self.run("pack", "-", path, "--typesize", "8", "--chunk-size", str(8 * CHUNK), "--quiet",
                 input=values.tobytes())  # fmt: skip
        s3fs.S3FileSystem(endpoint_url=self.endpoint).put_file(path, f"{self.bucket}/{self.place}")


class Blosc2(Contestant):
    """blosc2.open of an s3:// URL, which goes by fsspec and s3fs: a RemoteArray reads ranges of the cframe."""

    name = "python-blosc2 + s3fs, ranges"

    def prepare(self):
        import blosc2
        import s3fs

        self.blosc2 = blosc2
        self.files = s3fs.S3FileSystem(endpoint_url=self.endpoint)
        self.key = f"{self.bucket}/{self.place}.b2nd"

    def make(self, values):
        cparams = {"codec": self.blosc2.Codec.LZ4, "clevel": 5}
        array = self.blosc2.asarray(values, chunks=(CHUNK,), cparams=cparams, contiguous=True)
        self.files.pipe_file(self.key, array.to_cframe())

    def open(self):
        self.files.invalidate_cache()
        return self.blosc2.open(f"s3://{self.key}", lazy=True, max_concurrency=PARALLEL,
                                storage_options={"endpoint_url": self.endpoint})  # fmt: skip

    def value(self, at):
        return self.open()[at]

    def all(self):
        return self.open()[:]

    append = None


class Blosc2Whole(Blosc2):
    """The cframe is downloaded, and uploaded again when it has changed."""

    name = "python-blosc2 + s3fs, whole"

    def open(self):
        self.files.invalidate_cache()
        return self.blosc2.ndarray_from_cframe(self.files.cat_file(self.key), copy=True)

    def append(self, values):
        array = self.open()
        size = array.shape[0]
        array.resize((size + len(values),))
        array[size:] = values
        self.files.pipe_file(self.key, array.to_cframe())


class Zarr(Contestant):
    name = "zarr 3 + s3fs"

    def prepare(self):
        import s3fs
        import zarr

        self.zarr = zarr
        zarr.config.set({"async.concurrency": PARALLEL})
        self.files = s3fs.S3FileSystem(endpoint_url=self.endpoint, asynchronous=True)

    def store(self):
        self.files.invalidate_cache()
        return self.zarr.storage.FsspecStore(self.files, path=f"{self.bucket}/{self.place}")

    def create(self, store, values):
        codec = self.zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
        array = self.zarr.create_array(store, shape=values.shape, chunks=(CHUNK,), dtype="<f8", compressors=codec)
        array[:] = values

    def make(self, values):
        self.create(self.store(), values)

    def open(self, mode="r"):
        return self.zarr.open_array(self.store(), mode=mode)

    def value(self, at):
        return self.open()[at]

    def all(self):
        return self.open()[:]

    def append(self, values):
        self.open("r+").append(values)


class ZarrObstore(Zarr):
    name = "zarr 3 + obstore"

    def prepare(self):
        import obstore
        import zarr

        self.zarr = zarr
        zarr.config.set({"async.concurrency": PARALLEL})
        self.objects = obstore.store.S3Store(
            self.bucket, prefix=self.place, endpoint=self.endpoint, region="us-east-1",
            access_key_id=os.environ["AWS_ACCESS_KEY_ID"], secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
            virtual_hosted_style_request=False, client_options={"allow_http": True})  # fmt: skip

    def store(self):
        return self.zarr.storage.ObjectStore(self.objects)


class Icechunk(Zarr):
    name = "icechunk"

    def prepare(self):
        import icechunk
        import zarr

        self.icechunk = icechunk
        self.zarr = zarr
        zarr.config.set({"async.concurrency": PARALLEL})
        self.storage = icechunk.s3_storage(
            bucket=self.bucket, prefix=self.place, region="us-east-1", endpoint_url=self.endpoint, allow_http=True,
            force_path_style=True, access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
            secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])  # fmt: skip

    def make(self, values):
        session = self.icechunk.Repository.create(self.storage).writable_session("main")
        self.create(session.store, values)
        session.commit("made")

    def store(self):
        return self.icechunk.Repository.open(self.storage).readonly_session("main").store

    def append(self, values):
        session = self.icechunk.Repository.open(self.storage).writable_session("main")
        self.zarr.open_array(session.store, mode="r+").append(values)
        session.commit("appended")


KINDS = (Cairn, CairnContiguous, Blosc2, Blosc2Whole, Zarr, ZarrObstore, Icechunk)
