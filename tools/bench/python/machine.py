#!/usr/bin/env python3
"""Prints real metrics of this Linux machine as CSV, a line each tenth of a second.

    tools/bench/python/machine.py [--seconds N] | cairn log append machine.b2frame

--create prints the command that makes such a log. tools/bench/data/machine.b2frame, which logs.py can
use instead of the sensor walk, is an hour of this.
"""

import argparse
import os
import sys
import time

# Shares of the time since the line before, in percent; gauges; counters since the machine was started.
FIELDS = {
    "time": "timestamp[us]",
    "user": "f4",
    "system": "f4",
    "iowait": "f4",
    "load": "f4",
    "running": "u2",
    "available": "u8",
    "dirty": "u8",
    "switches": "u8",
    "interrupts": "u8",
    "forks": "u8",
    "disk_read": "u8",
    "disk_written": "u8",
    "net_in": "u8",
    "net_out": "u8",
}
SECTOR = 512


def read(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def disks():
    """Bytes read and written, of whole disks."""
    taken = [0, 0]
    for line in read("/proc/diskstats").splitlines():
        words = line.split()
        if os.path.exists(f"/sys/block/{words[2]}") and not words[2].startswith(("loop", "ram", "dm-", "md")):
            taken[0] += int(words[5]) * SECTOR
            taken[1] += int(words[9]) * SECTOR
    return taken


def network():
    """Bytes received and sent."""
    taken = [0, 0]
    for line in read("/proc/net/dev").splitlines()[2:]:
        words = line.partition(":")[2].split()
        taken[0] += int(words[0])
        taken[1] += int(words[8])
    return taken


class Machine:
    def __init__(self):
        self.ticks = None

    def line(self):
        lines = dict(line.split(None, 1) for line in read("/proc/stat").splitlines())
        ticks = [int(word) for word in lines["cpu"].split()[:8]]
        spent = [new - old for new, old in zip(ticks, self.ticks or ticks)]
        whole = sum(spent) or 1
        self.ticks = ticks
        memory = dict(line.split(":", 1) for line in read("/proc/meminfo").splitlines())
        kib = {name: int(memory[name].split()[0]) << 10 for name in ("MemAvailable", "Dirty")}
        return [
            time.time_ns() // 1000,
            *(f"{100 * spent[i] / whole:.2f}" for i in (0, 2, 4)),
            read("/proc/loadavg").split()[0],
            lines["procs_running"],
            kib["MemAvailable"],
            kib["Dirty"],
            lines["ctxt"],
            lines["intr"].split()[0],
            lines["processes"],
            *disks(),
            *network(),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600, help="how long (default: 3600)")
    parser.add_argument("--create", action="store_true", help="print the command that makes a log of these fields")
    options = parser.parse_args()
    if options.create:
        fields = " ".join(f"--field '{name}:{kind}'" for name, kind in FIELDS.items())
        print(f"cairn log create machine.b2frame --codec zstd {fields}")
        return
    print(",".join(FIELDS))
    machine = Machine()
    begin = time.monotonic()
    for number in range(round(10 * options.seconds)):
        time.sleep(max(0, begin + number / 10 - time.monotonic()))
        print(",".join(map(str, machine.line())), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.stderr.close()
