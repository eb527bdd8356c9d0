#!/usr/bin/env python3
"""Compares the virtual table with a plain table of SQLite that has the same rows.

    python3 tools/bench/sqlite/table.py BUILD [FOLDER]

Prints a table in Markdown: medians of some runs, of which each takes both tables in turn, in FOLDER,
by default that for temporary files. The plain table has the time as its key. This Python's sqlite3
must load extensions.
"""

import argparse
import os
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time

ROWS = 2_000_000
RUNS = 11
BEGIN = 1_795_514_400_000  # milliseconds
FIELDS = ["time:timestamp[ms]", "inside:f4", "outside:f4", "humidity:f4", "power:f4", "state:u1", "room:bytes[8]"]
COLUMNS = "time INTEGER PRIMARY KEY, inside REAL, outside REAL, humidity REAL, power REAL, state INTEGER, room TEXT"
ROOMS = ["hall", "kitchen", "attic", "cellar"]

QUERIES = {
    "sum over one column": "SELECT sum(power) FROM {table}",
    "count of rare values": "SELECT count(*) FROM {table} WHERE humidity > 95",
    "a minute of time": "SELECT time, inside, outside FROM {table} WHERE time >= {t} AND time < {t} + 60000",
    "an hour of time": "SELECT time, inside, outside FROM {table} WHERE time >= {t} AND time < {t} + 3600000",
    "mean of a day": "SELECT avg(inside) FROM {table} WHERE time >= {t} AND time < {t} + 86400000",
    "groups of all rows": "SELECT state, avg(inside) FROM {table} GROUP BY state",
    "one row": "SELECT * FROM {table} WHERE {one}",
}


def rows():
    dice = random.Random(1)
    inside, outside, humidity = 20.0, 5.0, 50.0
    for i in range(ROWS):
        inside += dice.uniform(-0.05, 0.05) + (20 - inside) * 0.001
        outside += dice.uniform(-0.02, 0.02) + (5 - outside) * 0.0005
        humidity = min(100, max(0, humidity + dice.uniform(-0.5, 0.5)))
        power = dice.choice((0, 0, 0, 40, 1200))
        # Numbers as sensors give them: of two decimals, and a power that changes now and then.
        yield (BEGIN + i * 1000, round(inside, 2), round(outside, 2), round(humidity, 1),
               power, i // 600 % 4, ROOMS[i // 900 % 4])  # fmt: skip


def connect(path, extension):
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(extension)
    return db


def run(db, query):
    begin = time.perf_counter()
    found = db.execute(query).fetchall()
    return time.perf_counter() - begin, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        frame, plain = os.path.join(folder, "log.b2frame"), os.path.join(folder, "plain.db")
        fields = [word for field in FIELDS for word in ("--field", field)]
        subprocess.run([f"{build}/tools/cairn", "log", "create", frame, "--quiet", *fields], check=True)
        db = connect(plain, f"{build}/tools/sqlite/cairn_sqlite.so")
        db.execute(f"CREATE TABLE plain({COLUMNS})")
        db.execute(f"CREATE VIRTUAL TABLE temp.frame USING cairn('{frame}', writable=1)")
        # The frame first, so that both have the same numbers: those of 4-byte floats.
        db.executemany("INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?, ?)", rows())
        db.commit()
        db.execute("INSERT INTO plain SELECT * FROM frame")
        db.commit()
        db.execute("VACUUM")

        print("| query | frame, ms | plain table, ms | ratio |")
        print("|---|---|---|---|")
        dice = random.Random(2)
        for name, query in QUERIES.items():
            times = {"frame": [], "plain": []}
            for _ in range(RUNS):
                row = dice.randrange(ROWS - 90_000)
                results = []
                for table in times:
                    one = f"rowid = {row}" if table == "frame" else f"time = {BEGIN + row * 1000}"
                    taken, found = run(db, query.format(table=table, t=BEGIN + row * 1000, one=one))
                    times[table].append(taken)
                    results.append(found)
                if results[0] != results[1]:
                    raise SystemExit(f"{name}: {results[0][:3]} and {results[1][:3]}")
            ours, peers = (statistics.median(times[table]) * 1e3 for table in times)
            print(f"| {name} | {ours:.3f} | {peers:.3f} | {ours / peers:.2f} |")
        sizes = [os.path.getsize(path) / 2**20 for path in (frame, plain)]
        print(f"| size, MiB | {sizes[0]:.1f} | {sizes[1]:.1f} | {sizes[0] / sizes[1]:.2f} |")


if __name__ == "__main__":
    main()
