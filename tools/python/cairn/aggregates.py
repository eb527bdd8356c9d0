"""What `aggregate` and `statistics` say about the values of fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .arguments import members_raise_ours
from .keys import check_fields
from .records import Records
from .times import Clock

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

_VALUES = ("min", "max", "sum", "first", "last")
_STORED = np.dtype([("count", "i8"), *((name, "f8") for name in _VALUES)])
# The same of integers, exact, and whether a sum has 64 bits: 1 with a sign, 2 without.
_WHOLE = np.dtype([("min", "i8"), ("max", "i8"), ("sum", "i8"), ("first", "i8"), ("last", "i8"), ("fits", "i8")])


@dataclasses.dataclass(frozen=True)
class FieldStatistics:
    """Of the values of a field that are no NaN; without any, all but `count` and `sum` are NaN."""

    count: int
    min: float  # of integers an int, like max, sum, first and last
    max: float
    sum: float
    first: float  # by time
    last: float
    mean: float


@members_raise_ours
class Aggregates:
    """The buckets of an aggregation, by time: `a["temp"]["mean"]` is an array of a value for each.

    `a["temp"]` has the fields count, min, max, sum, first, last and mean. Of integers and times all
    but the mean are integers; a sum that 64 bits do not hold is a float.
    """

    __slots__ = ("_time", "begin", "fields", "records")

    begin: np.ndarray
    records: np.ndarray
    fields: dict[str, np.ndarray]
    _where = ""

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
        found: tuple[bytes, bytes, Sequence[tuple[bytes, bytes]]],
        types: Mapping[str, np.dtype],
        time: str,
        clock: Clock,
    ) -> Aggregates:
        begins, records = (np.frombuffer(one, np.int64) for one in found[:2])
        values = found[2] or [(b"", b"")] * len(types)
        fields = {name: _shown(*one, types[name]) for name, one in zip(types, values)}
        return cls(clock.times(begins), records, fields, time)

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


def _shown(stored: bytes, wholes: bytes, dtype: np.dtype) -> np.ndarray:
    """The aggregates of a field, with the means; of integers exact."""
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
    """Of the one bucket of everything, if there are records."""
    fields = found.fields.items()
    return {name: FieldStatistics(*values[0].item()) for name, values in fields if len(values)}
