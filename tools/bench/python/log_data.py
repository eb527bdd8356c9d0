"""The records that logs.py writes into the stores."""

import numpy as np

BATCH = 1000
DAY = 86_400_000_000


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

    def rows(self, batch):
        """Tuples of numbers, the time first."""
        return zip(batch["time"].astype("i8").tolist(), *(batch[name].tolist() for name in self.names))

    def means(self, times, rows):
        """A row for each bucket."""
        buckets = times // self.bucket
        cuts = np.flatnonzero(np.diff(buckets, prepend=buckets[0] - 1))
        counts = np.diff(cuts, append=len(times))
        return np.stack([np.add.reduceat(rows[name].astype("f8"), cuts) / counts for name in self.names], 1)

    def is_float(self, name):
        return self.record[name].kind == "f"


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
