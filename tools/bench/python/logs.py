#!/usr/bin/env python3
"""Times a log of Cairn beside other stores of time-series, those that are installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/logs.py [--records N] [--decimals N] [--plot FILE.svg]
    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/logs.py --data tools/bench/data/machine.b2frame

All hold the same year of records {time, 4 float64}, which a sensor walk gives, or those of a log; are
written 1,000 at a time and handed to the kernel each time, and are asked in the page cache. Parquet,
which takes no records once it is written, gets row groups of 100,000. Each question is asked of all of
them in turns.
"""

import argparse
import os
import random
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import numpy as np

BATCH = 1000
DAY = 86_400_000_000
QUESTIONS = {
    "take in": ("million records/s", 1e-6),
    "size": ("bytes a record", 1),
    "without unused space": ("bytes a record", 1),
    "1,000 records of a time": ("µs", 1e6),
    "all values of a field": ("GB/s", 1e-9),
    "means": ("ms", 1e3),
}


class Data:
    """What all stores hold: numbers with a time in microseconds."""

    def __init__(self, records, bucket, scanned):
        self.records = records
        self.record = records.dtype
        self.names = tuple(name for name in records.dtype.names if name != "time")
        self.values = np.dtype([(name, records.dtype[name]) for name in self.names])
        self.bucket = bucket  # of means
        self.scanned = scanned  # the field of which all values are read
        self.buckets = len(np.unique(records["time"].astype("i8") // bucket))

    def is_float(self, name):
        return self.record[name].kind == "f"


DATA = None  # chosen by main


def sensor_walk(count, decimals):
    """A year of records, at times that jitter by half a millisecond."""
    dice = np.random.default_rng(1)
    names = ("a", "b", "c", "d")
    records = np.empty(count, [("time", "<M8[us]"), *((name, "<f8") for name in names)])
    steps = 365 * DAY // count + dice.integers(-500, 500, count)
    records["time"] = (1_700_000_000_000_000 + np.cumsum(steps)).astype("M8[us]")
    for name, begin in zip(names, (20, 50, 1013, 230)):
        values = begin + np.cumsum(dice.normal(0, 0.05, count))
        records[name] = values if decimals is None else np.round(values, decimals)
    return Data(records, DAY, "c")


def real_metrics(path):
    """Those of a log: its numbers."""
    import cairn

    log = cairn.Log.open(path)
    return Data(log[:], 60_000_000, next(name for name in log.dtype.names if log.dtype[name].kind == "f"))


def batches(records, size=BATCH):
    return (records[at : at + size] for at in range(0, len(records), size))


def tree_size(path):
    if not os.path.isdir(path):
        return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


class Cairn:
    name = "cairn, LZ4"
    codec = "lz4"

    def write(self, path, records):
        import cairn

        log = cairn.Log.create(path, DATA.record, codec=self.codec)
        with log.writer(commit_records=BATCH) as writer:
            for batch in batches(records):
                writer.append(batch)

    def open(self, path):
        import cairn

        self.log = cairn.Log.open(path)

    def range(self, begin, end):
        return len(self.log.query(begin, end))

    def scan(self):
        return self.log[DATA.scanned]

    def means(self):
        return len(self.log.aggregate(bucket=np.timedelta64(DATA.bucket, "us"), fields=DATA.names))

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
    name = "cairn, zstd"
    codec = "zstd"


class Sqlite:
    """The time is the key of the rows, as integer."""

    name = "SQLite"

    def write(self, path, records):
        self.open(path)
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("PRAGMA synchronous = OFF")
        columns = ", ".join(f"{name} {'REAL' if DATA.is_float(name) else 'INTEGER'}" for name in DATA.names)
        self.base.execute(f"CREATE TABLE log (time INTEGER PRIMARY KEY, {columns})")
        places = ", ".join("?" * len(DATA.record))
        for batch in batches(records):
            with self.base:
                self.base.executemany(f"INSERT INTO log VALUES ({places})", self.rows(batch))
        self.close()

    @staticmethod
    def rows(batch):
        return zip(batch["time"].astype("i8").tolist(), *(batch[name].tolist() for name in DATA.names))

    def open(self, path):
        self.base = sqlite3.connect(path)

    def range(self, begin, end):
        query = "SELECT * FROM log WHERE time >= ? AND time < ?"
        return len(self.base.execute(query, (int(begin.astype("i8")), int(end.astype("i8")))).fetchall())

    def scan(self):
        return np.fromiter((value for (value,) in self.base.execute(f"SELECT {DATA.scanned} FROM log")), "f8")

    def means(self):
        means = ", ".join(f"avg({name})" for name in DATA.names)
        return len(self.base.execute(f"SELECT time / {DATA.bucket}, {means} FROM log GROUP BY 1").fetchall())

    def close(self):
        self.base.close()


class Lmdb:
    """The other fields, packed, under their times."""

    name = "LMDB"

    def write(self, path, records):
        self.open(path)
        for batch in batches(records):
            keys = batch["time"].astype(">i8").tobytes()
            rest = np.empty(len(batch), DATA.values)
            for name in DATA.names:
                rest[name] = batch[name]
            size = DATA.values.itemsize
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
        np.frombuffer(b"".join(value for _, value in found), DATA.values)
        return len(found)

    def scan(self):
        return np.frombuffer(b"".join(value for _, value in self.values()), DATA.values)[DATA.scanned].copy()

    def means(self):
        pairs = list(self.values())
        times = np.frombuffer(b"".join(key for key, _ in pairs), ">i8")
        return len(means_of(times, np.frombuffer(b"".join(value for _, value in pairs), DATA.values)))

    def close(self):
        self.env.close()


class Blosc2:
    """An array of records; its user searches for times, here with a copy of them in memory."""

    name = "python-blosc2"

    def write(self, path, records):
        import blosc2

        blosc2.set_nthreads(1)
        chunk = (1 << 20) // DATA.record.itemsize
        array = blosc2.empty((0,), DATA.record, urlpath=path, mode="w", chunks=(chunk,),
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
        return self.array[:][DATA.scanned].copy()

    def means(self):
        rows = self.array[:]
        return len(means_of(rows["time"].astype("i8"), rows))

    def close(self):
        del self.array, self.times


class Parquet:
    name = "Parquet, zstd"

    @staticmethod
    def table(records):
        import pyarrow

        return pyarrow.table({name: np.ascontiguousarray(records[name]) for name in DATA.record.names})

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
        return self.read(columns=[DATA.scanned])[DATA.scanned].to_numpy()

    def means(self):
        import pyarrow.compute as compute

        table = self.read()
        buckets = compute.floor_temporal(table["time"], unit="day" if DATA.bucket == DAY else "minute")
        grouped = table.append_column("bucket", buckets).group_by("bucket", use_threads=False)
        return len(grouped.aggregate([(name, "mean") for name in DATA.names]))

    def close(self):
        pass


class DuckDb(Parquet):
    name = "DuckDB"

    def write(self, path, records):
        self.open(path)
        kinds = {"f8": "DOUBLE", "f4": "FLOAT", "u2": "USMALLINT", "u8": "UBIGINT", "i8": "BIGINT"}
        columns = ", ".join(f"{name} {kinds[DATA.record[name].str[1:]]}" for name in DATA.names)
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
        return self.base.execute(f"SELECT {DATA.scanned} FROM log").fetchnumpy()[DATA.scanned]

    def means(self):
        means = ", ".join(f"avg({name})" for name in DATA.names)
        span = "1 DAY" if DATA.bucket == DAY else "1 MINUTE"
        return len(self.base.execute(f"SELECT time_bucket(INTERVAL {span}, time), {means} FROM log GROUP BY 1").fetchall())

    def close(self):
        self.base.close()


class InfluxDb:
    """A server of its own, spoken to by HTTP; it syncs what it takes in."""

    name = "InfluxDB 1"

    def write(self, path, records):
        self.open(path)
        self.ask("CREATE DATABASE bench", "POST")
        for batch in batches(records):
            marks = ["" if DATA.is_float(name) else "i" for name in DATA.names]
            pairs = ",".join(f"{name}={{}}{mark}" for name, mark in zip(DATA.names, marks))
            lines = (f"log {pairs.format(*values)} {when}" for when, *values in Sqlite.rows(batch))
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
        return np.array([line.rsplit(",", 1)[1] for line in self.ask(f"SELECT {DATA.scanned} FROM log").splitlines()[1:]], "f8")

    def means(self):
        span = "1d" if DATA.bucket == DAY else "1m"
        found = self.ask(f"SELECT mean(*) FROM log WHERE time > 0 AND time < now() GROUP BY time({span}) FILL(none)")
        return found.count("\n") - 1

    def close(self):
        self.server.terminate()
        self.server.wait()


def means_of(times, rows):
    """A row for each bucket."""
    buckets = times // DATA.bucket
    cuts = np.flatnonzero(np.diff(buckets, prepend=buckets[0] - 1))
    counts = np.diff(cuts, append=len(times))
    return np.stack([np.add.reduceat(rows[name].astype("f8"), cuts) / counts for name in DATA.names], 1)


def seconds(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def is_there(contestant):
    try:
        if isinstance(contestant, InfluxDb):
            return shutil.which("influxd") is not None
        module = {Lmdb: "lmdb", Blosc2: "blosc2", Parquet: "pyarrow", DuckDb: "duckdb"}.get(type(contestant))
        if module is not None:
            __import__(module)
        return True
    except ImportError:
        return False


def compare(contestants, records, folder, rounds):
    """For each contestant and question what it reached: the median of the rounds."""
    taken = {one.name: {} for one in contestants}
    dice = random.Random(2)

    def note(contestant, question, value):
        taken[contestant.name].setdefault(question, []).append(value)

    for one in contestants:
        one.path = os.path.join(folder, one.name)
        spent, _ = seconds(lambda: one.write(one.path, records))
        note(one, "take in", len(records) / spent)
        size = tree_size(one.path)
        note(one, "size", size / len(records))
        note(one, "without unused space", (one.smallest() if isinstance(one, Cairn) else size) / len(records))
        one.open(one.path)
    for number in range(rounds):
        starts = [dice.randrange(len(records) - BATCH) for _ in range(100)]
        for one in contestants:
            for at in starts[: 5 if isinstance(one, Parquet) else None]:
                begin, end = records["time"][at], records["time"][at + BATCH]
                spent, found = seconds(lambda: one.range(begin, end))
                if found != BATCH:
                    raise AssertionError(f"{one.name}: found {found} records of {BATCH}")
                note(one, "1,000 records of a time", spent)
            spent, values = seconds(one.scan)
            note(one, "all values of a field", DATA.record[DATA.scanned].itemsize * len(records) / spent)
            if number == 0 and not np.array_equal(values.astype(DATA.record[DATA.scanned]), records[DATA.scanned]):
                raise AssertionError(f"{one.name}: other values")
            spent, buckets = seconds(one.means)
            note(one, "means", spent)
            if buckets != DATA.buckets:
                raise AssertionError(f"{one.name}: {buckets} buckets")
    for one in contestants:
        one.close()
    return {name: {question: statistics.median(all_of_it) for question, all_of_it in answers.items()}
            for name, answers in taken.items()}  # fmt: skip


def shown(question, value):
    unit, factor = QUESTIONS[question]
    return f"{value * factor:.3g} {unit}"


def plot(results, path):
    """Bars for each question; longer is better for what is a speed."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(QUESTIONS), 1, figsize=(8, 2.2 * len(QUESTIONS)))
    for axis, (question, (unit, factor)) in zip(axes, QUESTIONS.items()):
        values = [answers[question] * factor for answers in results.values()]
        bars = axis.barh(list(results), values, color=["C0" if "cairn" in name else "0.7" for name in results])
        axis.bar_label(bars, [f"{value:.3g}" for value in values], padding=3)
        axis.set_xscale("log")
        axis.margins(x=0.15)
        axis.set_title(f"{question}, {unit}")
        axis.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000, help="in each store (default: 1,000,000)")
    parser.add_argument("--data", metavar="LOG", help="the records of this log instead")
    parser.add_argument("--decimals", type=int, help="round the values to so many")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plot", metavar="FILE", help="also draw the table; needs matplotlib")
    options = parser.parse_args()

    everyone = [Cairn(), CairnZstd(), Sqlite(), Lmdb(), Blosc2(), Parquet(), DuckDb(), InfluxDb()]
    contestants = [one for one in everyone if is_there(one)]
    for one in everyone:
        if one not in contestants:
            print(f"{one.name}: not found, skipped", file=sys.stderr)
    global DATA
    DATA = real_metrics(options.data) if options.data else sensor_walk(options.records, options.decimals)
    records = DATA.records
    with tempfile.TemporaryDirectory(prefix="cairn-bench.") as folder:
        results = compare(contestants, records, folder, options.rounds)
    print("| " + " | ".join(["store", *QUESTIONS]) + " |")
    print("|" + "---|" * (1 + len(QUESTIONS)))
    for name, answers in results.items():
        print(f"| {name} | " + " | ".join(shown(question, answers[question]) for question in QUESTIONS) + " |")
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
