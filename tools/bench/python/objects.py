#!/usr/bin/env python3
"""Compares Cairn's frames in an object store with what else keeps arrays there: requests, bytes and time.

    eval "$(tools/ceph.sh env DIR)"       # or other variables of S3 clients; AWS_ENDPOINT_URL is needed
    python3 tools/bench/python/objects.py BUCKET BUILD/tools/cairn [--latencies 0 10 50] [--rounds N]

The same float64 values lie there in chunks of 256 KiB. Each contestant opens them anew for each question.
A proxy of this script counts requests and bytes, and adds the latency to each request. It is a process of
its own, on loopback, and only for http:// endpoints.

Peers are those that are installed: `pip install numpy s3fs blosc2 zarr obstore icechunk`. They keep their
connections and their imports from one question to the next; Cairn is run as the program `cairn`, whose
start is in its times. What reads many chunks does up to 64 requests at once.
"""

import argparse
import collections
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import numpy as np

CHUNK = 1 << 15  # values
PARALLEL = 64
QUESTIONS = ("open, read one value", "open, read all", "open, append a chunk")


def walk(count):
    return (np.random.default_rng(5).integers(-3, 4, count).cumsum() / 8).astype("<f8")


# The proxy.


class Counts:
    """What the proxy shares with the script."""

    def __init__(self):
        self.requests = multiprocessing.Value("q")
        self.sent = multiprocessing.Value("q")
        self.received = multiprocessing.Value("q")
        self.latency = multiprocessing.Value("d")

    @staticmethod
    def add(counter, number):
        with counter.get_lock():
            counter.value += number

    def read(self):
        return self.requests.value, self.sent.value + self.received.value


class Ended(Exception):
    """A side has closed the connection."""


def pass_answers(client, server, counts):
    try:
        while data := server.recv(1 << 18):
            client.sendall(data)
            counts.add(counts.received, len(data))
    except OSError:
        pass
    for end in (client, server):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def pass_request(reader, server, counts):
    """The next request, its body too."""

    def line():
        found = reader.readline()
        if not found.endswith(b"\n"):
            raise Ended
        return found

    def pass_on(data):
        server.sendall(data)
        counts.add(counts.sent, len(data))

    def pass_body(size):
        while size > 0:
            data = reader.read1(min(size, 1 << 18))
            if not data:
                raise Ended
            pass_on(data)
            size -= len(data)

    head = [line()]
    while head[-1] != b"\r\n":
        head.append(line())
    fields = dict(field.lower().strip().split(b":", 1) for field in head[1:-1])
    counts.add(counts.requests, 1)
    time.sleep(counts.latency.value)
    pass_on(b"".join(head))
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        while True:
            size = line()
            pass_on(size)
            if int(size.split(b";")[0], 16) == 0:
                break
            pass_body(int(size.split(b";")[0], 16) + 2)
        while (trailer := line()) != b"\r\n":
            pass_on(trailer)
        pass_on(b"\r\n")
    else:
        pass_body(int(fields.get(b"content-length", b"0")))


def pass_requests(client, to, counts):
    server = socket.create_connection(to)
    for end in (client, server):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=pass_answers, args=(client, server, counts), daemon=True).start()
    reader = client.makefile("rb")
    try:
        while True:
            pass_request(reader, server, counts)
    except (Ended, OSError):
        # The answers end, and close what is left.
        try:
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def serve(listener, to, counts):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=pass_requests, args=(client, to, counts), daemon=True).start()


class Proxy:
    def __init__(self, endpoint):
        parts = urllib.parse.urlsplit(endpoint)
        if parts.scheme != "http":
            sys.exit(f"objects.py: the proxy goes to http:// endpoints, not to {endpoint}")
        self.counts = Counts()
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.process = multiprocessing.get_context("fork").Process(
            target=serve, args=(listener, (parts.hostname, parts.port or 80), self.counts), daemon=True
        )
        self.process.start()


# The contestants. Each is made once, and asked with `way` as the endpoint.


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


def ask(one, question, values, added, dice):
    """Asks it once, and checks the answer; how many chunks are there then."""
    if question == QUESTIONS[0]:
        at = int(dice.integers(len(values)))
        return one.value(at) == values[at], added
    if question == QUESTIONS[1]:
        return np.array_equal(one.all()[: len(values)], values), added
    one.append(values[:CHUNK])
    return True, added + 1


def measure(one, values, proxy, latencies, rounds):
    """{(question, latency): (requests, bytes, seconds)}, medians."""
    one.make(values)
    dice = np.random.default_rng(1)
    added = 0
    results = {}
    for latency in latencies:
        proxy.counts.latency.value = latency / 1000
        for question in QUESTIONS:
            if question == QUESTIONS[2] and one.append is None:
                continue
            taken = collections.defaultdict(list)
            for number in range(rounds + 1):
                requests, size = proxy.counts.read()
                begin = time.perf_counter()
                right, added = ask(one, question, values, added, dice)
                seconds = time.perf_counter() - begin
                if not right:
                    raise AssertionError(f"{one.name}: other values")
                time.sleep(0.05)  # the proxy counts what it has passed on
                if number > 0:  # the first warms up
                    after, size_after = proxy.counts.read()
                    for name, value in zip(("requests", "bytes", "seconds"), (after - requests, size_after - size, seconds)):
                        taken[name].append(value)
            results[question, latency] = tuple(statistics.median(taken[name]) for name in ("requests", "bytes", "seconds"))
    proxy.counts.latency.value = 0
    if one.append is not None and one.all().size != len(values) + added * CHUNK:
        raise AssertionError(f"{one.name}: what was appended is not there")
    return results


def shown_size(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def shown_time(seconds):
    return f"{seconds * 1e3:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"


def print_table(question, everyone, latencies):
    print(f"\n{question}\n")
    print("| store | requests | bytes |" + "".join(f" {latency} ms added |" for latency in latencies))
    print("|" + "---|" * (3 + len(latencies)))
    for name, results in everyone.items():
        cells = [results.get((question, latency)) for latency in latencies]
        if None in cells:
            print(f"| {name} |" + " not there |" * (2 + len(latencies)))
            continue
        requests = sorted({int(cell[0]) for cell in cells})
        count = str(requests[0]) if len(requests) == 1 else f"{requests[0]}-{requests[-1]}"
        row = [name, count, shown_size(cells[0][1]), *(shown_time(cell[2]) for cell in cells)]
        print("| " + " | ".join(row) + " |")


def remove(bucket):
    import s3fs

    files = s3fs.S3FileSystem()
    place = f"{bucket}/cairn-bench-{os.getpid()}"
    if files.exists(place):
        files.rm(place, recursive=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bucket")
    parser.add_argument("tool", help="the program cairn")
    parser.add_argument("--chunks", type=int, default=320, help="of 256 KiB (default: 320)")
    parser.add_argument("--latencies", type=int, nargs="+", default=[0, 10, 50], metavar="MS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="contestants whose name has this in it")
    options = parser.parse_args()
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        print("objects.py: AWS_ENDPOINT_URL names no object store: skipped", file=sys.stderr)
        return
    Cairn.tool = os.path.abspath(options.tool)
    proxy = Proxy(endpoint)  # before there are threads
    values = walk(options.chunks * CHUNK)
    everyone = {}
    with tempfile.TemporaryDirectory(prefix="cairn-bench.") as folder:
        try:
            for kind in KINDS:
                if options.only and options.only not in kind.name:
                    continue
                try:
                    one = kind(options.bucket, proxy.url, folder)
                except ImportError as error:
                    print(f"{kind.name}: skipped, {error}", file=sys.stderr)
                    continue
                everyone[kind.name] = measure(one, values, proxy, options.latencies, options.rounds)
        finally:
            remove(options.bucket)
    for question in QUESTIONS:
        print_table(question, everyone, options.latencies)
    start = statistics.median(timed(lambda: subprocess.run([Cairn.tool, "--version"], capture_output=True, check=True))
                              for _ in range(20))  # fmt: skip
    print(f"\nThe start of the program cairn takes {start * 1e3:.1f} ms.")


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
