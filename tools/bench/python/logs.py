#!/usr/bin/env python3
"""Times a log of Cairn beside other stores of time-series, those that are installed.

    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/logs.py [--records N] [--decimals N] [--plot FILE.svg]

All hold the same year of records {time, 4 float64}, which a sensor walk gives, are written 1,000 at a
time and handed to the kernel each time, and are asked in the page cache. Parquet, which takes no
records once it is written, gets row groups of 100,000. Each question is asked of all of them in turns.
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
NAMES = ("a", "b", "c", "d")
RECORD = np.dtype([("time", "<M8[us]"), *((name, "<f8") for name in NAMES)])
DAY = 86_400_000_000
QUESTIONS = {
    "take in": ("million records/s", 1e-6),
    "size": ("bytes a record", 1),
    "1,000 records of a time": ("µs", 1e6),
    "all values of a field": ("GB/s", 1e-9),
    "means by day": ("ms", 1e3),
}


def sensor_walk(count, decimals):
    """A year of records, at times that jitter by half a millisecond."""
    dice = np.random.default_rng(1)
    records = np.empty(count, RECORD)
    steps = 365 * DAY // count + dice.integers(-500, 500, count)
    records["time"] = (1_700_000_000_000_000 + np.cumsum(steps)).astype("M8[us]")
    for name, begin in zip(NAMES, (20, 50, 1013, 230)):
        values = begin + np.cumsum(dice.normal(0, 0.05, count))
        records[name] = values if decimals is None else np.round(values, decimals)
    return records


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

        log = cairn.Log.create(path, RECORD, codec=self.codec)
        with log.writer(commit_records=BATCH) as writer:
            for batch in batches(records):
                writer.append(batch)

    def open(self, path):
        import cairn

        self.log = cairn.Log.open(path)

    def range(self, begin, end):
        return len(self.log.query(begin, end))

    def scan(self):
        return self.log["c"]

    def by_day(self):
        return len(self.log.aggregate(bucket="1d", fields=NAMES))

    def close(self):
        self.log.close()


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
        self.base.execute("CREATE TABLE log (time INTEGER PRIMARY KEY, a REAL, b REAL, c REAL, d REAL)")
        for batch in batches(records):
            with self.base:
                self.base.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", self.rows(batch))
        self.close()

    @staticmethod
    def rows(batch):
        return zip(batch["time"].astype("i8").tolist(), *(batch[name].tolist() for name in NAMES))

    def open(self, path):
        self.base = sqlite3.connect(path)

    def range(self, begin, end):
        query = "SELECT * FROM log WHERE time >= ? AND time < ?"
        return len(self.base.execute(query, (int(begin.astype("i8")), int(end.astype("i8")))).fetchall())

    def scan(self):
        return np.fromiter((value for (value,) in self.base.execute("SELECT c FROM log")), "f8")

    def by_day(self):
        means = ", ".join(f"avg({name})" for name in NAMES)
        return len(self.base.execute(f"SELECT time / {DAY}, {means} FROM log GROUP BY 1").fetchall())

    def close(self):
        self.base.close()


class Lmdb:
    """Records of 32 bytes under their times."""

    name = "LMDB"

    def write(self, path, records):
        self.open(path)
        for batch in batches(records):
            keys = batch["time"].astype(">i8").tobytes()
            rest = np.stack([batch[name] for name in NAMES], 1).tobytes()
            with self.env.begin(write=True) as transaction:
                with transaction.cursor() as cursor:
                    pairs = [(keys[8 * i : 8 * i + 8], rest[32 * i : 32 * i + 32]) for i in range(len(batch))]
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
        np.frombuffer(b"".join(value for _, value in found), "f8")
        return len(found)

    def scan(self):
        return np.frombuffer(b"".join(value for _, value in self.values()), "f8").reshape(-1, 4)[:, 2].copy()

    def by_day(self):
        pairs = list(self.values())
        days = np.frombuffer(b"".join(key for key, _ in pairs), ">i8") // DAY
        rows = np.frombuffer(b"".join(value for _, value in pairs), "f8").reshape(-1, 4)
        cuts = np.flatnonzero(np.diff(days, prepend=days[0] - 1))
        return len(np.add.reduceat(rows, cuts))

    def close(self):
        self.env.close()


class Blosc2:
    """An array of records; its user searches for times, here with a copy of them in memory."""

    name = "python-blosc2"

    def write(self, path, records):
        import blosc2

        blosc2.set_nthreads(1)
        chunk = (1 << 20) // RECORD.itemsize
        array = blosc2.empty((0,), RECORD, urlpath=path, mode="w", chunks=(chunk,),
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
        return self.array[:]["c"].copy()

    def by_day(self):
        rows = self.array[:]
        days = rows["time"].astype("i8") // DAY
        cuts = np.flatnonzero(np.diff(days, prepend=days[0] - 1))
        return len(np.stack([np.add.reduceat(rows[name], cuts) for name in NAMES], 1))

    def close(self):
        del self.array, self.times


class Parquet:
    name = "Parquet, zstd"

    @staticmethod
    def table(records):
        import pyarrow

        return pyarrow.table({name: np.ascontiguousarray(records[name]) for name in RECORD.names})

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
        return self.read(columns=["c"])["c"].to_numpy()

    def by_day(self):
        import pyarrow.compute as compute

        table = self.read()
        days = compute.floor_temporal(table["time"], unit="day")
        grouped = table.append_column("day", days).group_by("day", use_threads=False)
        return len(grouped.aggregate([(name, "mean") for name in NAMES]))

    def close(self):
        pass


class DuckDb(Parquet):
    name = "DuckDB"

    def write(self, path, records):
        self.open(path)
        self.base.execute("CREATE TABLE log (time TIMESTAMP, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE)")
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
        return len(self.base.execute(query, [begin.item(), end.item()]).fetchnumpy()["c"])

    def scan(self):
        return self.base.execute("SELECT c FROM log").fetchnumpy()["c"]

    def by_day(self):
        means = ", ".join(f"avg({name})" for name in NAMES)
        return len(self.base.execute(f"SELECT time_bucket(INTERVAL 1 DAY, time), {means} FROM log GROUP BY 1").fetchall())

    def close(self):
        self.base.close()


class InfluxDb:
    """A server of its own, spoken to by HTTP; it syncs what it takes in."""

    name = "InfluxDB 1"

    def write(self, path, records):
        self.open(path)
        self.ask("CREATE DATABASE bench", "POST")
        for batch in batches(records):
            lines = (f"log a={a},b={b},c={c},d={d} {when}" for when, a, b, c, d in Sqlite.rows(batch))
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
        return np.array([line.rsplit(",", 1)[1] for line in self.ask("SELECT c FROM log").splitlines()[1:]], "f8")

    def by_day(self):
        found = self.ask("SELECT mean(*) FROM log WHERE time > 0 AND time < now() GROUP BY time(1d) FILL(none)")
        return found.count("\n") - 1

    def close(self):
        self.server.terminate()
        self.server.wait()


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
        note(one, "size", tree_size(one.path) / len(records))
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
            note(one, "all values of a field", 8 * len(records) / spent)
            if number == 0 and not np.array_equal(values, records["c"]):
                raise AssertionError(f"{one.name}: other values")
            spent, days = seconds(one.by_day)
            note(one, "means by day", spent)
            if days not in (365, 366):
                raise AssertionError(f"{one.name}: {days} days")
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
    parser.add_argument("--decimals", type=int, help="round the values to so many")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plot", metavar="FILE", help="also draw the table; needs matplotlib")
    options = parser.parse_args()

    everyone = [Cairn(), CairnZstd(), Sqlite(), Lmdb(), Blosc2(), Parquet(), DuckDb(), InfluxDb()]
    contestants = [one for one in everyone if is_there(one)]
    for one in everyone:
        if one not in contestants:
            print(f"{one.name}: not found, skipped", file=sys.stderr)
    records = sensor_walk(options.records, options.decimals)
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
