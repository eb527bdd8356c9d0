#!/usr/bin/env python3
"""Counts the requests of a collection in an object store, beside Icechunk there.

    eval "$(tools/ceph.sh env DIR)"       # or other variables of S3 clients; AWS_ENDPOINT_URL is needed
    PYTHONPATH=BUILD/tools/python python3 tools/bench/python/cube_requests.py BUCKET [--json FILE]

The ten variables are those of cubes.py, and so are the values and how they are compressed. A day is one
chunk of each variable and one commit of all. The questions:

create             makes the store with ten empty variables, by one commit
after a pause      a writer that stays open appends a day
after another      the same, each day at once after the one before
open, append       what a program does that starts once a day: opens the store, appends a day, closes it
open, read         opens the store, and reads one value of one variable
look for news      an open reader asks for a newer state, and there is none

A proxy of this script counts requests and adds latency to each of them. It is a process of its own, on
loopback, and only for http:// endpoints. What opens has a new handle, but the imports and the connections
of the process, and Cairn has tried whether the store has conditions, which takes 5 requests of a process.
Requests are medians, also those of each method. Peers are those that are installed: `pip install numpy
zarr icechunk obstore`. The last one removes what was made.
"""

import argparse
import importlib.util
import os
import statistics
import sys
import time

import numpy as np

import cube_stores
from counting_proxy import KINDS, Proxy
from cube_stores import Weather

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402

CREATE = "create ten variables"
PAUSED = "append a day, after a pause"
IN_A_ROW = "append a day, one after another"
OPEN_APPEND = "open, append a day, close"
OPEN_READ = "open, read one value"
NEWS = "look for news without any"
QUESTIONS = (CREATE, PAUSED, IN_A_ROW, OPEN_APPEND, OPEN_READ, NEWS)
PAUSE = 0.3  # seconds; after 0.1 s a ZarrStore closes the writer that it keeps


class Cairn(cube_stores.Cairn):
    def reopen(self):
        self.begin("r+")

    def value(self, day):
        return self.collection["/v0"][day, 0, 0, 0]

    def open(self):
        self.open_many()

    def look(self):
        self.collection.refresh()


class ZarrStore(cube_stores.ZarrStore):
    def open(self):
        self.group_read = self.group(self.store(False), "r")

    def value(self, day):
        return self.group_read["v0"][day, 0, 0, 0]

    def look(self):
        self.opened.refresh()


class Icechunk(cube_stores.Icechunk):
    def repository(self, create=False):
        import icechunk

        icechunk.set_logs_filter("error")
        bucket, _, prefix = self.path.removeprefix("s3://").partition("/")
        storage = icechunk.s3_storage(
            bucket=bucket, prefix=prefix, region="us-east-1", endpoint_url=os.environ["AWS_ENDPOINT_URL"],
            allow_http=True, force_path_style=True, access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
            secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])  # fmt: skip
        return icechunk.Repository.create(storage) if create else icechunk.Repository.open(storage)

    def reopen(self):
        self.opened = self.repository()

    def open(self):
        self.opened = self.repository()
        self.group_read = self.group(self.store(False), "r")
        self.seen = self.opened.lookup_branch("main")

    def value(self, day):
        return self.group_read["v0"][day, 0, 0, 0]

    def look(self):
        if self.opened.lookup_branch("main") != self.seen:
            raise AssertionError("there is news")


CONTESTANTS = (Cairn, ZarrStore, Icechunk)


class Meter:
    """Notes the requests and the milliseconds of calls, for each question and latency."""

    def __init__(self, counts):
        self.counts = counts
        self.taken = {}

    def note(self, question, latency, call, *words):
        if question != IN_A_ROW:
            time.sleep(PAUSE)
        before = self.counts.read_kinds()
        begin = time.perf_counter()
        result = call(*words)
        spent = time.perf_counter() - begin
        after = self.counts.read_kinds()
        requests = {kind: after[kind] - before[kind] for kind in KINDS}
        self.taken.setdefault((question, latency), []).append((requests, spent * 1e3))
        return result

    def requests(self, question):
        return [one for (asked, _), notes in self.taken.items() if asked == question for one, _ in notes]

    def milliseconds(self, question, latency):
        return statistics.median(spent for _, spent in self.taken[question, latency])


def append_again(kind, path, grid, arrays):
    store = kind(path, grid)
    store.reopen()
    store.append(arrays)
    store.close()


def read_again(kind, path, grid, day):
    store = kind(path, grid)
    store.open()
    value = store.value(day)
    store.close()
    return value


def measure(kind, path, weather, grid, proxy, options):
    """Asks all questions. Every latency has a store of its own."""
    meter = Meter(proxy.counts)
    warm = kind(path + "-warm.b2d", grid)  # the first writer of a process asks what the store can do
    warm.create()
    warm.close()
    for latency in options.latencies:
        proxy.counts.latency.value = latency / 1000
        place = f"{path}-{latency}.b2d"
        writer = kind(place, grid)
        meter.note(CREATE, latency, writer.create)
        days = 0
        for question, count in ((PAUSED, options.rounds), (IN_A_ROW, options.days)):
            for _ in range(count):
                meter.note(question, latency, writer.append, weather.all_of(days))
                days += 1
        time.sleep(PAUSE)
        writer.close()
        for _ in range(options.rounds):
            meter.note(OPEN_APPEND, latency, append_again, kind, place, grid, weather.all_of(days))
            days += 1
        for number in range(options.rounds):
            day = number * 7 % days
            value = meter.note(OPEN_READ, latency, read_again, kind, place, grid, day)
            if value != weather.day(day, 0)[0, 0, 0]:
                raise AssertionError(f"{kind.name}: other values")
        reader = kind(place, grid)
        reader.open()
        for _ in range(options.rounds):
            meter.note(NEWS, latency, reader.look)
        reader.close()
        store = kind(place, grid)
        if not all(array.shape[0] == days and np.array_equal(array[-1], values)
                   for array, values in zip(store.state(), weather.all_of(days - 1))):  # fmt: skip
            raise AssertionError(f"{kind.name}: other values at the end")
        store.close()
    proxy.counts.latency.value = 0
    return meter


def remove(bucket, place, endpoint):
    if importlib.util.find_spec("obstore") is None:
        print(f"cube_requests.py: obstore not found, s3://{bucket}/{place} is left there", file=sys.stderr)
        return
    import obstore

    objects = obstore.store.S3Store(
        bucket, endpoint=endpoint, region="us-east-1", virtual_hosted_style_request=False,
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"], secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        client_options={"allow_http": True})  # fmt: skip
    found = [one["path"] for some in obstore.list(objects, prefix=place) for one in some]
    obstore.delete(objects, found)


def report_of(meters, latencies, notes):
    report = results.Report()
    for note in notes:
        report.note(note)
    for question in QUESTIONS:
        asked = {name: meter.requests(question) for name, meter in meters.items()}
        sums = {name: [sum(one.values()) for one in all_of_it] for name, all_of_it in asked.items()}
        for title, of in (("requests", statistics.median), ("most", max)):
            report.add(title, "", "lower", {name: of(counts) for name, counts in sums.items()}, question)
        for kind in KINDS:
            medians = {name: statistics.median(one[kind] for one in all_of_it) for name, all_of_it in asked.items()}
            if any(medians.values()):
                report.add(kind, "", "lower", medians, question)
        for latency in latencies:
            took = {name: meter.milliseconds(question, latency) for name, meter in meters.items()}
            report.add(f"{latency} ms added", "ms", "lower", took, question)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bucket")
    parser.add_argument("--days", type=int, default=30, help="one after another (default: 30)")
    parser.add_argument("--rounds", type=int, default=10, help="of the other questions (default: 10)")
    parser.add_argument("--grid", default="30x60", help="latitudes x longitudes of the cube (default: 30x60)")
    parser.add_argument("--latencies", type=int, nargs="+", default=[0, 20], metavar="MS")
    parser.add_argument("--only", default="", help="contestants whose name has this in it")
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    options = parser.parse_args()
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        print("cube_requests.py: AWS_ENDPOINT_URL names no object store: skipped", file=sys.stderr)
        return
    proxy = Proxy(endpoint)  # before there are threads
    os.environ["AWS_ENDPOINT_URL"] = proxy.url
    grid = tuple(map(int, options.grid.split("x")))
    weather = Weather(grid)
    place = f"cairn-bench-{os.getpid()}"
    meters, notes = {}, []
    try:
        for kind in CONTESTANTS:
            if kind.missing():
                notes.append(f"{kind.name}: {', '.join(kind.missing())} not found, skipped")
            elif options.only in kind.name:
                path = f"s3://{options.bucket}/{place}/{kind.__name__}"
                meters[kind.name] = measure(kind, path, weather, grid, proxy, options)
                print(f"{kind.name}: measured", file=sys.stderr)
    finally:
        remove(options.bucket, place, endpoint)
    report = report_of(meters, options.latencies, notes)
    print(tables.tables(report.data), end="")
    if options.json:
        results.save(options.json, report.data)


if __name__ == "__main__":
    main()
