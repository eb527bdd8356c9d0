"""The results of `aggregate` and `statistics`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from ..arguments import members_raise_ours
from ..errors import InvalidArgument
from ..keys import check_fields
from ..times import Clock, ZoneLike, in_zone, zone_name
from .filling import Filler, FillLike
from .records import Records, shown_places

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

_VALUES = ("min", "max", "sum", "first", "last")
_STORED = np.dtype([("count", "i8"), *((name, "f8") for name in _VALUES)])
# Exact results for integers. `fits` is 1 if the sum fits into 64 bits with a sign, 2 without one.
_WHOLE = np.dtype([("min", "i8"), ("max", "i8"), ("sum", "i8"), ("first", "i8"), ("last", "i8"), ("fits", "i8")])


# What an aggregation returns for each field if nothing else is asked for.
_USUAL = ("count", *_VALUES, "mean")
_MEASURES = {"median": (0, 0.5), "stddev": (1, 0.5), "increase": (2, 0.5), "rate": (3, 0.5)}
_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)")
Measure = tuple[str, int, float]


def _measure(word: str) -> Optional[tuple[int, float]]:
    """Returns a measure as the engine takes it, or None if it has another way to this function."""
    if word in _USUAL or word == "range":
        return None
    percentile = _PERCENTILE.fullmatch(word)
    if percentile is not None and float(percentile[1]) <= 100:
        return 0, float(percentile[1]) / 100
    if word not in _MEASURES:
        known = ", ".join([*_USUAL, "range", *_MEASURES])
        raise InvalidArgument(f"what: expected {known}, p95 or another percentile, got {word!r}")
    return _MEASURES[word]


class Wanted:
    """Says which functions of which fields an aggregation returns."""

    __slots__ = ("measures", "words")

    def __init__(self, what: Union[str, Sequence[str], None], fields: Sequence[str], all_fields: Sequence[str]):
        self.words: dict[str, list[str]] = {}  # functions of each field
        self.measures: list[tuple[str, str, Measure]] = []  # field, function, and both for the engine
        if what is None:
            self.words = {name: list(_USUAL) for name in fields}
            return
        items = what.split(",") if isinstance(what, str) else list(what)
        for item in items:
            field, _, word = item.rpartition(":")
            if field:
                check_fields([field], all_fields)
            for name in [field] if field else fields:
                words = self.words.setdefault(name, [])
                measure = _measure(word)
                if word in words:
                    continue
                words.append(word)
                if measure is not None:
                    self.measures.append((name, word, (name, *measure)))


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

    `a["temp"]` has the fields count, min, max, sum, first, last and mean, or those that `what` named.
    For integers, count, min, max, sum, first, last and range are integers. For times, min, max, first
    and last are times, NaT where there is none, and range is a `timedelta64`. A sum that does not fit
    into 64 bits is a float.
    """

    __slots__ = ("_time", "_zone", "begin", "end", "fields", "groups", "records")

    begin: np.ndarray
    end: np.ndarray
    records: np.ndarray
    fields: dict[str, np.ndarray]
    groups: dict[str, np.ndarray]
    _where = ""

    def __init__(
        self,
        begin: np.ndarray,
        end: np.ndarray,
        records: np.ndarray,
        fields: dict[str, np.ndarray],
        time: str,
        zone: Optional[ZoneLike] = None,
        groups: Optional[dict[str, np.ndarray]] = None,
    ):
        self.begin = begin  # the times at which the buckets begin, in UTC
        self.end = end  # the times at which the buckets end
        self.records = records  # the number of records in each bucket
        self.fields = fields  # by their names
        self._time = time
        self._zone = zone
        self.groups = groups or {}  # for each row the values of the fields that the groups are of

    @classmethod
    def _of(
        cls,
        found: tuple[
            bytes, bytes, bytes, Sequence[tuple[bytes, bytes]], Sequence[bytes], Sequence[Sequence[Union[int, bytes, None]]]
        ],
        types: Mapping[str, np.dtype],
        wanted: Wanted,
        time: str,
        clock: Clock,
        zone: Optional[ZoneLike],
        by: Mapping[str, np.dtype],
    ) -> Aggregates:
        begins, ends, records = (np.frombuffer(one, np.int64) for one in found[:3])
        values = found[3] or [(b"", b"")] * len(types)
        usual = {name: _shown(*one, types[name]) for name, one in zip(types, values)}
        measures: dict[str, dict[str, np.ndarray]] = {}
        for (name, word, _), one in zip(wanted.measures, found[4]):
            measures.setdefault(name, {})[word] = np.frombuffer(one, "f8")
        fields = {
            name: _chosen(usual[name], measures.get(name, {}), words) for name, words in wanted.words.items()
        }
        groups = {
            name: np.array([_text(one) for one in values] if dtype == object else values, object if None in values else dtype)
            for (name, dtype), values in zip(by.items(), found[5])
        }
        return cls(clock.times(begins), clock.times(ends), records, fields, time, zone, groups)

    def _filled(self, fill: FillLike, begins: np.ndarray, ends: np.ndarray) -> Aggregates:
        """Returns them with all buckets, which begin and end at these times."""
        filler = Filler(fill, begins, self.begin, list(self.groups.values()))
        return Aggregates(
            filler.tiled(begins),
            filler.tiled(ends),
            filler.spread(self.records),
            {name: filler.filled(values) for name, values in self.fields.items()},
            self._time,
            self._zone,
            {name: filler.repeated(values) for name, values in self.groups.items()},
        )

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

        The index is the group, if there are any, and the begin of a bucket, in the zone that the
        aggregation was given.
        """
        import pandas

        columns: dict[tuple[str, str], Any] = {("records", ""): self.records, **self._columns()}
        index = pandas.Index(self.begin, name=self._time)
        if self._zone is not None:
            index = index.tz_localize("UTC").tz_convert(zone_name(self._zone))
            for name, column in columns.items():
                if column.dtype.kind == "M":
                    columns[name] = pandas.DatetimeIndex(column, tz="UTC").tz_convert(zone_name(self._zone))
        if self.groups:
            names = [*self.groups, self._time]
            index = pandas.MultiIndex.from_arrays([*self.groups.values(), index], names=names)
        return pandas.DataFrame(columns, index=index)

    def _table(self) -> Records:
        columns = {**self.groups, self._time: self._in_zone(self.begin), "records": self.records}
        for name, values in self.fields.items():
            names = values.dtype.names or ()
            shown = ("min", "mean", "max") if names == _USUAL else names
            columns.update({f"{name} {what}": self._in_zone(values[what]) for what in shown})
        return Records(columns, np.arange(len(self)), None)

    def _in_zone(self, column: np.ndarray) -> np.ndarray:
        """Returns the times of a column that are shown as texts in the zone, if there is one."""
        if self._zone is None or column.dtype.kind != "M":
            return column
        texts = np.full(len(column), "", object)
        for place in shown_places(len(column)):
            texts[place] = in_zone(column[place], self._zone)
        return texts

    def __repr__(self) -> str:
        return self._table()._shown("bucket")

    def _repr_html_(self) -> str:
        return self._table()._shown_as_html("bucket")


def _shown(stored: bytes, wholes: bytes, dtype: np.dtype) -> np.ndarray:
    """Returns the aggregates of a field with the means. Those of integers and times are exact."""
    given, exact = np.frombuffer(stored, _STORED), np.frombuffer(wholes, _WHOLE)
    value: Union[str, np.dtype] = "f8"
    total = "f8"
    none = given["count"] == 0  # of integers only where all records are older than the field
    if dtype.kind == "M" or (dtype.kind != "f" and not none.any()):
        value = dtype.newbyteorder("=") if dtype.kind == "M" else "u8" if dtype.kind == "u" else "i8"
        total = {1: "i8", 2: "u8"}.get(int(exact["fits"].max(initial=1)), "f8")
        if not exact["fits"].all() or (total == "u8" and (exact["sum"][exact["fits"] == 1] < 0).any()):
            total = "f8"
    types = [(name, total if name == "sum" else value) for name in _VALUES]
    found = np.empty(len(given), [("count", "i8"), *types, ("mean", "f8")])
    found["count"] = given["count"]
    for name, type_ in types:
        found[name] = given[name] if type_ == "f8" else exact[name].view(type_)
    if none.any():
        for name in ("min", "max", "first", "last"):
            found[name][none] = np.datetime64("NaT") if dtype.kind == "M" else np.nan
    with np.errstate(invalid="ignore"):
        found["mean"] = found["sum"] / np.where(none, np.nan, found["count"])
    return found


def _text(value: Union[int, bytes, None]) -> Union[int, str, None]:
    return value.decode() if isinstance(value, bytes) else value


def _chosen(usual: np.ndarray, measures: Mapping[str, np.ndarray], words: Sequence[str]) -> np.ndarray:
    """Returns the functions of a field that were asked for."""
    if tuple(words) == _USUAL:
        return usual
    columns = {}
    for word in words:
        if word == "range":
            columns[word] = _range(usual["min"], usual["max"])
        else:
            columns[word] = measures[word] if word in measures else usual[word]
    found: np.ndarray = np.empty(len(usual), [(word, column.dtype) for word, column in columns.items()])
    for word, column in columns.items():
        found[word] = column
    return found


def _range(least: np.ndarray, greatest: np.ndarray) -> np.ndarray:
    if least.dtype.kind in "fM":
        between: np.ndarray = greatest - least
        return between
    distance: np.ndarray = greatest.astype("u8") - least.astype("u8")
    return distance if (distance > 2**63 - 1).any() else distance.astype("i8")


def statistics_of(found: Aggregates) -> dict[str, FieldStatistics]:
    """Returns the statistics in the one bucket of everything. Without records there are none."""
    fields = found.fields.items()
    return {name: FieldStatistics(*values[0].item()) for name, values in fields if len(values)}
