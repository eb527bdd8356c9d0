"""What `aggregate` and `statistics` say about the values of fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .records import Records
from .times import Clock

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

_VALUES = ("min", "max", "sum", "first", "last")
_STORED = np.dtype([("count", "i8"), *((name, "f8") for name in _VALUES)])
_SHOWN = np.dtype([*_STORED.descr, ("mean", "f8")])


@dataclasses.dataclass(frozen=True)
class FieldStatistics:
    """Of the values of a field that are no NaN; without any, all but `count` and `sum` are NaN."""

    count: int
    min: float
    max: float
    sum: float
    first: float  # by time
    last: float
    mean: float


class Aggregates:
    """The buckets of an aggregation, by time: `a["temp"]["mean"]` is an array of a value for each.

    `a["temp"]` has the fields count, min, max, sum, first, last and mean.
    """

    __slots__ = ("_time", "begin", "fields", "records")

    begin: np.ndarray
    records: np.ndarray
    fields: dict[str, np.ndarray]

    def __init__(
        self, begin: np.ndarray, records: np.ndarray, fields: dict[str, np.ndarray], time: str
    ):
        self.begin = begin  # times
        self.records = records  # their number
        self.fields = fields  # by their names
        self._time = time

    @classmethod
    def _of(
        cls,
        found: tuple[bytes, bytes, Sequence[bytes]],
        names: Sequence[str],
        time: str,
        clock: Clock,
    ) -> Aggregates:
        begins, records = (np.frombuffer(one, np.int64) for one in found[:2])
        values = found[2] or [b""] * len(names)
        return cls(clock.times(begins), records, dict(zip(names, map(_with_mean, values))), time)

    def __len__(self) -> int:
        return len(self.begin)

    def __getitem__(self, field: str) -> np.ndarray:
        return self.fields[field]

    def _columns(self) -> dict[tuple[str, str], np.ndarray]:
        return {
            (name, what): values[what]
            for name, values in self.fields.items()
            for what in _SHOWN.names or ()
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with the begins of the buckets as index, and columns such as (temp, mean)."""
        import pandas

        columns = {("records", ""): self.records, **self._columns()}
        return pandas.DataFrame(columns, index=pandas.Index(self.begin, name=self._time))

    def _table(self) -> Records:
        columns = {self._time: self.begin, "records": self.records}
        for name, values in self.fields.items():
            columns.update({f"{name} {what}": values[what] for what in ("min", "mean", "max")})
        return Records(columns, np.arange(len(self)), None)

    def __repr__(self) -> str:
        return self._table()._shown("bucket")

    def _repr_html_(self) -> str:
        return self._table()._shown_as_html("bucket")


def _with_mean(stored: bytes) -> np.ndarray:
    given = np.frombuffer(stored, _STORED)
    found = np.empty(len(given), _SHOWN)
    for name in _STORED.names or ():
        found[name] = given[name]
    none = given["count"] == 0
    for name in ("min", "max", "first", "last"):
        found[name][none] = np.nan
    with np.errstate(invalid="ignore"):
        found["mean"] = found["sum"] / np.where(none, np.nan, found["count"])
    return found


def statistics_of(found: Aggregates) -> dict[str, FieldStatistics]:
    """Of the one bucket of everything, if there are records."""
    fields = found.fields.items()
    return {name: FieldStatistics(*values[0].item()) for name, values in fields if len(values)}
