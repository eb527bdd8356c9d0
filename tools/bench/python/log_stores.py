"""The stores of time series that logs.py compares."""

import importlib.util
import os
import shutil
import socket
import sqlite3
import subprocess
import time
import urllib.parse
import urllib.request

import numpy as np

from log_data import BATCH, DAY, batches


class Store:
    """Holds the records of `data`, and answers questions about them."""

    name = ""
    module = None  # of Python, which it needs

    def __init__(self, data):
        self.data = data

    @classmethod
    def is_there(cls):
        return cls.module is None or importlib.util.find_spec(cls.module) is not None


class Cairn(Store):
    name = "Cairn, LZ4"
    codec = "lz4"

    def write(self, path, records):
        import cairn

        log = cairn.Log.create(path, self.data.record, codec=self.codec)
        with log.writer(commit_records=BATCH) as writer:
            for batch in batches(records):
                writer.append(batch)

    def open(self, path):
        import cairn

        self.log = cairn.Log.open(path)

    def range(self, begin, end):
        return len(self.log.query(begin, end))

    def scan(self):
        return self.log[self.data.scanned]

    def means(self):
        return len(self.log.aggregate(bucket=np.timedelta64(self.data.bucket, "us"), fields=self.data.names))

    def close(self):
        self.log.close()

    def smallest(self):
        """Its size when the space that waits to be used again is given back."""
        import cairn

        copy = self.path + ".copy"
        shutil.copy(self.path, copy)
        with cairn.open(copy, "r+") as frame:
            return frame.compact()[1]


class CairnZstd(Cairn):
    name = "Cairn, zstd"
    codec = "zstd"


class CairnPco(Cairn):
    name = "Cairn, pco"
    codec = "pco"


class CairnAuto(Cairn):
    name = "Cairn, auto"
    codec = "auto"


class Sqlite(Store):
    """The time is the key of the rows, as integer."""

    name = "SQLite"

    def write(self, path, records):
        self.open(path)
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("PRAGMA synchronous = OFF")
        columns = ", ".join(f"{name} {'REAL' if self.data.is_float(name) else 'INTEGER'}" for name in self.data.names)
        self.base.execute(f"CREATE TABLE log (time INTEGER PRIMARY KEY, {columns})")
        places = ", ".join("?" * len(self.data.record))
        for batch in batches(records):
            with self.base:
                self.base.executemany(f"INSERT INTO log VALUES ({places})", self.data.rows(batch))
        self.close()

    def open(self, path):
        self.base = sqlite3.connect(path)

    def range(self, begin, end):
        query = "SELECT * FROM log WHERE time >= ? AND time < ?"
        return len(self.base.execute(query, (int(begin.astype("i8")), int(end.astype("i8")))).fetchall())

    def scan(self):
        return np.fromiter((value for (value,) in self.base.execute(f"SELECT {self.data.scanned} FROM log")), "f8")

    def means(self):
        means = ", ".join(f"avg({name})" for name in self.data.names)
        return len(self.base.execute(f"SELECT time / {self.data.bucket}, {means} FROM log GROUP BY 1").fetchall())

    def close(self):
        self.base.close()


class Lmdb(Store):
    """The other fields, packed, under their times."""

    name = "LMDB"
    module = "lmdb"

    def write(self, path, records):
        self.open(path)
        for batch in batches(records):
            keys = batch["time"].astype(">i8").tobytes()
            rest = np.empty(len(batch), self.data.values)
            for name in self.data.names:
                rest[name] = batch[name]
            size = self.data.values.itemsize
            rest = rest.tobytes()
            with self.env.begin(write=True) as transaction:
                with transaction.cursor() as cursor:
                    pairs = [(keys[8 * i : 8 * i + 8], rest[size * i : size * i + size]) for i in range(len(batch))]
                    cursor.putmulti(pairs, append=True)
        self.close()

    def open(self, path):
        import lmdb

        self.env = lmdb.open(path, map_size=1 << 36, subdir=False, sync=False)

    def values(self, begin=b"", end=None):
        with self.env.begin(buffers=False) as transaction, transaction.cursor() as cursor:
            cursor.set_range(begin)
            for key, value in cursor:
                if end is not None and key >= end:
                    return
                yield key, value

    def range(self, begin, end):
        first, last = (one.astype("i8").byteswap().tobytes() for one in (begin, end))
        found = list(self.values(first, last))
        np.frombuffer(b"".join(value for _, value in found), self.data.values)
        return len(found)

    def scan(self):
        return np.frombuffer(b"".join(value for _, value in self.values()), self.data.values)[self.data.scanned].copy()

    def means(self):
        pairs = list(self.values())
        times = np.frombuffer(b"".join(key for key, _ in pairs), ">i8")
        return len(self.data.means(times, np.frombuffer(b"".join(value for _, value in pairs), self.data.values)))

    def close(self):
        self.env.close()


class Blosc2(Store):
    """An array of records; its user searches for times, here with a copy of them in memory."""

    name = "python-blosc2, times in memory"
    module = "blosc2"

    def write(self, path, records):
        import blosc2

        blosc2.set_nthreads(1)
        chunk = (1 << 20) // self.data.record.itemsize
        array = blosc2.empty((0,), self.data.record, urlpath=path, mode="w", chunks=(chunk,),
                             cparams={"codec": blosc2.Codec.LZ4, "clevel": 5, "nthreads": 1})  # fmt: skip
        for batch in batches(records):
            size = array.shape[0]
            array.resize((size + len(batch),))
            array[size:] = batch

    def open(self, path):
        import blosc2

        self.array = blosc2.open(path, mode="r")
        self.times = self.array[:]["time"].copy()

    def range(self, begin, end):
        first, last = np.searchsorted(self.times, [begin, end])
        return len(self.array[int(first) : int(last)])

    def scan(self):
        return self.array[:][self.data.scanned].copy()

    def means(self):
        rows = self.array[:]
        return len(self.data.means(rows["time"].astype("i8"), rows))

    def close(self):
        del self.array, self.times


class Parquet(Store):
    name = "Parquet, zstd, groups of 100,000"
    module = "pyarrow"

    def table(self, records):
        import pyarrow

        return pyarrow.table({name: np.ascontiguousarray(records[name]) for name in self.data.record.names})

    def write(self, path, records):
        from pyarrow import parquet

        with parquet.ParquetWriter(path, self.table(records[:0]).schema, compression="zstd") as writer:
            for batch in batches(records, 100 * BATCH):
                writer.write_table(self.table(batch))

    def open(self, path):
        import pyarrow
        from pyarrow import parquet

        pyarrow.set_cpu_count(1)
        parquet.read_metadata(path)
        self.path = path

    def read(self, **how):
        from pyarrow import parquet

        return parquet.read_table(self.path, use_threads=False, **how)

    def range(self, begin, end):
        return len(self.read(filters=[("time", ">=", begin), ("time", "<", end)]))

    def scan(self):
        return self.read(columns=[self.data.scanned])[self.data.scanned].to_numpy()

    def means(self):
        import pyarrow.compute as compute

        table = self.read()
        buckets = compute.floor_temporal(table["time"], unit="day" if self.data.bucket == DAY else "minute")
        grouped = table.append_column("bucket", buckets).group_by("bucket", use_threads=False)
        return len(grouped.aggregate([(name, "mean") for name in self.data.names]))

    def close(self):
        pass


class DuckDb(Parquet):
    name = "DuckDB"
    module = "duckdb"

    def write(self, path, records):
        self.open(path)
        kinds = {"f8": "DOUBLE", "f4": "FLOAT", "u2": "USMALLINT", "u8": "UBIGINT", "i8": "BIGINT"}
        columns = ", ".join(f"{name} {kinds[self.data.record[name].str[1:]]}" for name in self.data.names)
        self.base.execute(f"CREATE TABLE log (time TIMESTAMP, {columns})")
        for batch in batches(records):
            table = self.table(batch)
            self.base.register("batch", table)
            self.base.execute("INSERT INTO log SELECT * FROM batch")
            self.base.unregister("batch")
        self.base.execute("CHECKPOINT")
        self.close()

    def open(self, path):
        import duckdb

        self.base = duckdb.connect(path, config={"threads": 1})

    def range(self, begin, end):
        query = "SELECT * FROM log WHERE time >= ? AND time < ?"
        return len(self.base.execute(query, [begin.item(), end.item()]).fetchnumpy()["time"])

    def scan(self):
        return self.base.execute(f"SELECT {self.data.scanned} FROM log").fetchnumpy()[self.data.scanned]

    def means(self):
        means = ", ".join(f"avg({name})" for name in self.data.names)
        span = "1 DAY" if self.data.bucket == DAY else "1 MINUTE"
        return len(self.base.execute(f"SELECT time_bucket(INTERVAL {span}, time), {means} FROM log GROUP BY 1").fetchall())

    def close(self):
        self.base.close()


class InfluxDb(Store):
    """A server of its own, spoken to by HTTP; it syncs what it takes in."""

    name = "InfluxDB 1, by HTTP"

    @classmethod
    def is_there(cls):
        return shutil.which("influxd") is not None

    def write(self, path, records):
        self.open(path)
        self.ask("CREATE DATABASE bench", "POST")
        for batch in batches(records):
            marks = ["" if self.data.is_float(name) else "i" for name in self.data.names]
            pairs = ",".join(f"{name}={{}}{mark}" for name, mark in zip(self.data.names, marks))
            lines = (f"log {pairs.format(*values)} {when}" for when, *values in self.data.rows(batch))
            self.call("write?db=bench&precision=u", "\n".join(lines).encode())
        self.close()

    def open(self, path):
        with socket.socket() as one, socket.socket() as other:
            for each in (one, other):
                each.bind(("127.0.0.1", 0))
            self.port, rpc = one.getsockname()[1], other.getsockname()[1]
        own = {f"INFLUXDB_{name}": value for name, value in {
            "META_DIR": f"{path}/meta", "DATA_DIR": f"{path}/data", "DATA_WAL_DIR": f"{path}/wal",
            "HTTP_BIND_ADDRESS": f"127.0.0.1:{self.port}", "BIND_ADDRESS": f"127.0.0.1:{rpc}",
            "REPORTING_DISABLED": "true", "HTTP_LOG_ENABLED": "false",
        }.items()}  # fmt: skip
        self.server = subprocess.Popen(["influxd"], env={**os.environ, **own},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        for _ in range(600):
            try:
                return self.call("ping")
            except OSError:
                time.sleep(0.1)
        raise OSError("influxd does not answer")

    def call(self, what, data=None):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{what}", data) as answer:
            return answer.read().decode()

    def ask(self, query, method="GET"):
        what = "query?" + urllib.parse.urlencode({"db": "bench", "epoch": "u", "q": query})
        # As CSV, which costs the server and this program less than JSON.
        url = f"http://127.0.0.1:{self.port}/{what}"
        with urllib.request.urlopen(
            urllib.request.Request(url, method=method, headers={"Accept": "application/csv"})
        ) as answer:
            return answer.read().decode()

    def range(self, begin, end):
        found = self.ask(f"SELECT * FROM log WHERE time >= '{begin}Z' AND time < '{end}Z'")
        return found.count("\n") - 1

    def scan(self):
        found = self.ask(f'SELECT "{self.data.scanned}" FROM log')
        return np.array([line.rsplit(",", 1)[1] for line in found.splitlines()[1:]], "f8")

    def means(self):
        span = "1d" if self.data.bucket == DAY else "1m"
        first, last = self.data.records["time"][[0, -1]]
        during = f"time >= '{first}Z' AND time <= '{last}Z'"  # it refuses to look for more buckets
        found = self.ask(f"SELECT mean(*) FROM log WHERE {during} GROUP BY time({span}) FILL(none)")
        return found.count("\n") - 1

    def close(self):
        self.server.terminate()
        self.server.wait()


EVERYONE = [Cairn, CairnZstd, CairnPco, CairnAuto, Sqlite, Lmdb, Blosc2, Parquet, DuckDb, InfluxDb]
