#!/usr/bin/env python3
"""Compares Cairn's frames in an object store with what else keeps arrays there: requests, bytes and time.

    eval "$(tools/ceph.sh env DIR)"       # or other variables of S3 clients; AWS_ENDPOINT_URL is needed
    python3 tools/bench/python/objects.py BUCKET BUILD/tools/cairn [--latencies 0 10 50] [--json FILE]

The same float64 values lie there in chunks of 256 KiB. Each contestant opens them again for each question.
A proxy of this script counts requests and bytes, and adds the latency to each request. It is a process of
its own, on loopback, and only for http:// endpoints.

Peers are those that are installed: `pip install numpy s3fs blosc2 zarr obstore icechunk`. They keep their
connections and their imports from one question to the next; Cairn is run as the program `cairn`, whose
start is in its times. What reads many chunks does up to 64 requests at once.
"""

import argparse
import collections
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from counting_proxy import Proxy
from object_stores import CHUNK, KINDS, Cairn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from drawing import results, tables  # noqa: E402

QUESTIONS = ("open, read one value", "open, read all", "open, append a chunk")


def walk(count):
    return (np.random.default_rng(5).integers(-3, 4, count).cumsum() / 8).astype("<f8")


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
    reached = {}
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
            reached[question, latency] = tuple(statistics.median(taken[name]) for name in ("requests", "bytes", "seconds"))
    proxy.counts.latency.value = 0
    if one.append is not None and one.all().size != len(values) + added * CHUNK:
        raise AssertionError(f"{one.name}: what was appended is not there")
    return reached


def report_of(everyone, latencies, notes):
    report = results.Report()
    for note in notes:
        report.note(note)
    for question in QUESTIONS:
        there = {name: reached for name, reached in everyone.items() if (question, latencies[0]) in reached}
        requests, size = {}, {}
        for name, reached in there.items():
            counts = [reached[question, latency][0] for latency in latencies]
            requests[name] = {"value": min(counts)} | ({"most": max(counts)} if max(counts) > min(counts) else {})
            size[name] = reached[question, latencies[0]][1] / 1e3
        report.add("requests", "", "lower", requests, question)
        report.add("bytes", "kB", "lower", size, question)
        for latency in latencies:
            took = {name: reached[question, latency][2] * 1e3 for name, reached in there.items()}
            report.add(f"{latency} ms added", "ms", "lower", took, question)
    return report


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
    parser.add_argument("--json", metavar="FILE", help="keep the results, which tools/bench/draw.py draws")
    options = parser.parse_args()
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        print("objects.py: AWS_ENDPOINT_URL names no object store: skipped", file=sys.stderr)
        return
    Cairn.tool = os.path.abspath(options.tool)
    proxy = Proxy(endpoint)  # before there are threads
    values = walk(options.chunks * CHUNK)
    everyone = {}
    notes = []
    with tempfile.TemporaryDirectory(prefix="cairn-bench.") as folder:
        try:
            for kind in KINDS:
                if options.only and options.only not in kind.name:
                    continue
                try:
                    one = kind(options.bucket, proxy.url, folder)
                except ImportError as error:
                    notes.append(f"{kind.name}: skipped, {error}")
                    continue
                everyone[kind.name] = measure(one, values, proxy, options.latencies, options.rounds)
        finally:
            remove(options.bucket)
    start = statistics.median(timed(lambda: subprocess.run([Cairn.tool, "--version"], capture_output=True, check=True))
                              for _ in range(20))  # fmt: skip
    notes.append(f"The start of the program cairn takes {start * 1e3:.1f} ms.")
    report = report_of(everyone, options.latencies, notes)
    print(tables.tables(report.data), end="")
    if options.json:
        results.save(options.json, report.data)


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
