"""The results of `aggregate` and `statistics`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np

from .arguments import members_raise_ours
from .keys import check_fields
from .records import Records
from .times import Clock, ZoneLike, zone_name

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

_VALUES = ("min", "max", "sum", "first", "last")
_STORED = np.dtype([("count", "i8"), *((name, "f8") for name in _VALUES)])
# Exact results for integers. `fits` is 1 if the sum fits into 64 bits with a sign, 2 without one.
_WHOLE = np.dtype([("min", "i8"), ("max", "i8"), ("sum", "i8"), ("first", "i8"), ("last", "i8"), ("fits", "i8")])


@dataclasses.dataclass(frozen=True)
class FieldStatistics:
    """Describes the values of a field that are not NaN.

    Without any, all members except `count` and `sum` are NaN.
    """

    count: int
    min: float  # an int for integers, like max, sum, first and last
    max: float
    sum: float
    first: float  # the value of the earliest record
    last: float
    mean: float


@members_raise_ours
class Aggregates:
    """Holds the buckets of an aggregation: `a["temp"]["mean"]` is an array with a value for each.

    `a["temp"]` has the fields count, min, max, sum, first, last and mean. For integers and times,
    all of them except the mean are integers. A sum that does not fit into 64 bits is a float.
    """

    __slots__ = ("_time", "_zone", "begin", "end", "fields", "records")

    begin: np.ndarray
    end: np.ndarray
    records: np.ndarray
    fields: dict[str, np.ndarray]
    _where = ""

    def __init__(
        self,
        begin: np.ndarray,
        end: np.ndarray,
        records: np.ndarray,
        fields: dict[str, np.ndarray],
        time: str,
        zone: Optional[ZoneLike] = None,
    ):
        self.begin = begin  # the times at which the buckets begin, in UTC
        self.end = end  # the times at which the buckets end
        self.records = records  # the number of records in each bucket
        self.fields = fields  # by their names
        self._time = time
        self._zone = zone

    @classmethod
    def _of(
        cls,
        found: tuple[bytes, bytes, bytes, Sequence[tuple[bytes, bytes]]],
        types: Mapping[str, np.dtype],
        time: str,
        clock: Clock,
        zone: Optional[ZoneLike],
    ) -> Aggregates:
        begins, ends, records = (np.frombuffer(one, np.int64) for one in found[:3])
        values = found[3] or [(b"", b"")] * len(types)
        fields = {name: _shown(*one, types[name]) for name, one in zip(types, values)}
        return cls(clock.times(begins), clock.times(ends), records, fields, time, zone)

    def __len__(self) -> int:
        return len(self.begin)

    def __getitem__(self, field: str) -> np.ndarray:
        check_fields([field], self.fields)
        return self.fields[field]

    def _columns(self) -> dict[tuple[str, str], np.ndarray]:
        return {
            (name, what): values[what]
            for name, values in self.fields.items()
            for what in values.dtype.names or ()
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a DataFrame of pandas with columns such as (temp, mean).

        The index is the begin of a bucket, in the zone that the aggregation was given.
        """
        import pandas

        columns = {("records", ""): self.records, **self._columns()}
        index = pandas.Index(self.begin, name=self._time)
        if self._zone is not None:
            index = index.tz_localize("UTC").tz_convert(zone_name(self._zone))
        return pandas.DataFrame(columns, index=index)

    def _table(self) -> Records:
        columns = {self._time: self.begin, "records": self.records}
        for name, values in self.fields.items():
            columns.update({f"{name} {what}": values[what] for what in ("min", "mean", "max")})
        return Records(columns, np.arange(len(self)), None)

    def __repr__(self) -> str:
        return self._table()._shown("bucket")

    def _repr_html_(self) -> str:
        return self._table()._shown_as_html("bucket")


def _shown(stored: bytes, wholes: bytes, dtype: np.dtype) -> np.ndarray:
    """Returns the aggregates of a field with the means. Those of integers are exact."""
    given, exact = np.frombuffer(stored, _STORED), np.frombuffer(wholes, _WHOLE)
    value, total = "f8", "f8"
    if dtype.kind != "f":
        value = "u8" if dtype.kind == "u" else "i8"
        total = {1: "i8", 2: "u8"}.get(int(exact["fits"].max(initial=1)), "f8")
        if not exact["fits"].all() or (total == "u8" and (exact["sum"][exact["fits"] == 1] < 0).any()):
            total = "f8"
    types = [(name, total if name == "sum" else value) for name in _VALUES]
    found = np.empty(len(given), [("count", "i8"), *types, ("mean", "f8")])
    found["count"] = given["count"]
    for name, type_ in types:
        found[name] = given[name] if type_ == "f8" else exact[name].view(type_)
    none = given["count"] == 0
    if value == "f8":
        for name in ("min", "max", "first", "last"):
            found[name][none] = np.nan
    with np.errstate(invalid="ignore"):
        found["mean"] = found["sum"] / np.where(none, np.nan, found["count"])
    return found


def statistics_of(found: Aggregates) -> dict[str, FieldStatistics]:
    """Returns the statistics in the one bucket of everything. Without records there are none."""
    fields = found.fields.items()
    return {name: FieldStatistics(*values[0].item()) for name, values in fields if len(values)}
