"""Keeps the readings of two rooms in a log, finds some of them, and computes means.

Run it in an empty folder with the Python package of Cairn: python time_series.py

Prints:
    48 readings
    record                 time   room   temp
        14  2025-12-01T07:00:00   hall  21.75
        15  2025-12-01T07:30:00  attic  16.75
    [2 records]
    warm in the hall: 24 of 24
    2025-12-01T00:00:00 18.88
    2025-12-01T12:00:00 21.88
    the follower got 1 reading
"""

import numpy as np

import cairn

START = np.datetime64("2025-12-01T00:00:00")
FIELDS = {"time": "M8[s]", "room": "S8", "temp": "f4"}


def append_readings(log: cairn.Log) -> None:
    """Appends one reading after the other. A commit is due half a second after the first reading
    that is not committed yet, and when the block ends.
    """
    with log.writer(commit_interval=0.5) as writer:
        for i in range(48):
            room, base = [("hall", 20), ("attic", 15)][i % 2]
            time = START + i * np.timedelta64(30, "m")
            writer.append({"time": time, "room": room, "temp": base + i // 2 / 4})


def main() -> None:
    # The log keeps the readings of 30 days. Each reading has a time, a name and a number.
    log = cairn.Log.create("rooms.b2frame", FIELDS, retention=cairn.Retention(max_age="30d"))
    append_readings(log)
    print(len(log), "readings")

    # A range has its begin, not its end. Times are text here; datetime and datetime64 work too.
    print(log.query("2025-12-01T07:00", "2025-12-01T08:00"))

    # Conditions are text. Only chunks that can hold such readings are read.
    warm = log.query(where="room == 'hall' and temp >= 20", fields="temp")
    print("warm in the hall:", len(warm["temp"]), "of", len(log) // 2)

    # The log stores the sums of each chunk, so these means read little of the data.
    halves = log.aggregate(bucket="12h", fields="temp")
    for begin, mean in zip(halves.begin, halves["temp"]["mean"]):
        print(begin, f"{mean:.2f}")

    # A follower gets what is appended after it began, also by other processes. It waits at most
    # `timeout` seconds for more.
    follower = log.follow(timeout=0)
    log.append([(START + np.timedelta64(1, "D"), "hall", 20.5)])
    for readings in follower:
        print("the follower got", len(readings), "reading")


if __name__ == "__main__":
    main()
