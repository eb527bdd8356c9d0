"""Times and spans of time, as people write them and as the counts of units that logs hold."""

from __future__ import annotations

import datetime
import re
import time
import zoneinfo
from typing import Any, Optional, Union

import numpy as np

from . import _engine
from .arguments import told
from .errors import FailedPrecondition, InvalidArgument, InvalidType
from .options import integer

# A count of the log's unit, a time of NumPy, `datetime` or pandas, or ISO 8601 text.
TimeLike = Union[int, str, datetime.date, np.datetime64]
# A count of the log's unit, a span of `datetime` or NumPy, or text such as "15m" and "500ms".
SpanLike = Union[int, str, datetime.timedelta, np.timedelta64]

# The name of a zone, or a zone of `zoneinfo` or pytz.
ZoneLike = Union[str, datetime.tzinfo]

_FIRST, _LAST = -(2**63), 2**63 - 1
_SECONDS = {"s": 1, "m": 60, "h": 3600, "D": 86_400, "W": 604_800}
_ATTOSECONDS = {"as": 1, "fs": 10**3, "ps": 10**6, "ns": 10**9, "us": 10**12, "ms": 10**15}
_ATTOSECONDS.update({name: seconds * 10**18 for name, seconds in _SECONDS.items()})
# Units of the calendar: their number in the engine, and how many of those they are.
_CALENDAR = {"h": (1, 1), "d": (2, 1), "w": (3, 1), "mo": (4, 1), "q": (4, 3), "y": (5, 1)}
_BUCKET = re.compile(r"(\d+)\s*(h|d|w|mo|q|y)")
_SPAN = re.compile(r"(-?\d+)\s*(ns|us|ms|s|m|min|h|d|w)")
UNITS = ("s", "ms", "us", "ns")


def to_datetime64(value: Any) -> np.datetime64:
    """Returns a time that is neither a count nor text in UTC, as exact as it is given."""
    if hasattr(value, "to_datetime64"):  # a time of pandas
        value = value.to_datetime64()
    elif isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = np.datetime64(value.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    elif isinstance(value, datetime.date):
        value = np.datetime64(value)
    if not isinstance(value, np.datetime64):
        raise InvalidType(f"{told(value)} is not a time: give text, a datetime or a datetime64")
    if np.isnat(value):
        raise InvalidArgument("NaT is not a time")
    return value


def without_zone(values: Any) -> Any:
    """Returns times of pandas with a zone as NumPy has them, in UTC. Other values stay as they are."""
    dtype: Any = getattr(values, "dtype", None)
    return values if getattr(dtype, "tz", None) is None else values.to_numpy(f"M8[{dtype.unit}]")


def _attoseconds(value: Union[np.datetime64, np.timedelta64]) -> int:
    unit, step = np.datetime_data(value.dtype)
    if unit in ("Y", "M"):  # their length varies
        if isinstance(value, np.timedelta64):
            raise InvalidArgument(f"{value}: months and years have no one length")
        value, unit, step = value.astype("M8[D]"), "D", 1
    if unit not in _ATTOSECONDS:
        raise InvalidArgument(f"{value}: has no unit: give text such as 500ms, or a timedelta")
    return int(value.astype(np.int64)) * step * _ATTOSECONDS[unit]


def span_text(value: Any) -> str:
    """Returns a span as text that `Clock.span` takes. Other values are shown as they are."""
    if not isinstance(value, np.timedelta64):
        return str(value)
    exact = _attoseconds(value)
    for name in ("D", "h", "m", "s", "ms", "us"):
        if exact % _ATTOSECONDS[name] == 0:
            return f"{exact // _ATTOSECONDS[name]}{name.lower()}"
    return f"{exact // _ATTOSECONDS['ns']}ns"


def zone_name(tz: Optional[ZoneLike]) -> str:
    """Returns the name of a zone, as the engine takes it. None means UTC."""
    if tz is not None and not isinstance(tz, (str, datetime.tzinfo)):
        raise InvalidType(f"tz: expected the name of a zone, or a tzinfo, got {told(tz)}")
    return "" if tz is None else str(tz)


def in_zone(time: np.datetime64, tz: ZoneLike) -> str:
    """Returns a time as the clocks of a zone show it, or in UTC if Python does not know the zone or the year."""
    try:
        zone = tz if isinstance(tz, datetime.tzinfo) else zoneinfo.ZoneInfo(tz)
        since = datetime.timedelta(microseconds=int(time.astype("M8[us]").astype(np.int64)))
        return (datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + since).astimezone(zone).isoformat()
    except (KeyError, OSError, ValueError, OverflowError):
        return str(time)


class Clock:
    """Counts the times of a field, which is a timestamp with a unit or an integer without one."""

    __slots__ = ("_unit",)

    def __init__(self, dtype: np.dtype):
        self._unit: Optional[str] = np.datetime_data(dtype)[0] if dtype.kind == "M" else None

    def count(
        self, value: TimeLike, *, up: bool = True, stored: bool = False, bound: bool = False, tz: Optional[ZoneLike] = None
    ) -> int:
        """Returns a time as a count. Between two counts, `up` gives the later one, else the earlier.

        A text without a zone is in `tz`. A bound may be relative to the clock: "now-15m".

        Raises `InvalidArgument` for a number that reads as a time of our days in another unit, or
        as a date such as 20261124. A time that is no text may lie beyond all counts, unless it is
        to be stored: as a bound it is the nearest.
        """
        if isinstance(value, (int, np.integer)):
            if self._unit is None or value == _FIRST:
                return int(value)
            value = str(int(value))
        unit = self._attoseconds()
        if tz is not None and isinstance(value, datetime.date) and getattr(value, "tzinfo", None) is None:
            value = value.isoformat()
        if isinstance(value, str):
            now = time.time_ns() * 10**9 // unit if bound else None
            return _engine.parse_time(value, UNITS.index(self._unit or ""), up, zone_name(tz), now)
        exact = _attoseconds(to_datetime64(value))
        found = -(-exact // unit) if up else exact // unit
        if stored and not _FIRST < found <= _LAST:
            raise InvalidArgument(f"{value} is too far from 1970 for a count of {self._unit}")
        return min(max(found, _FIRST), _LAST)

    def check_counts(self, counts: np.ndarray) -> None:
        """Raises `InvalidArgument` if neither the least nor the greatest count can be a time."""
        if self._unit is None or not counts.size:
            return
        problem = None
        for count in {int(counts.min()), int(counts.max())}:
            try:
                self.count(count)
            except InvalidArgument as error:
                problem = error
            else:
                return
        raise InvalidArgument(
            f"{problem}; as an array of type M8[{self._unit}] it is taken as it is"
        ) from None

    def range(
        self, begin: Optional[TimeLike], end: Optional[TimeLike], tz: Optional[ZoneLike] = None
    ) -> tuple[int, int]:
        """Returns the counts of a range. None means no bound."""
        return (
            _FIRST if begin is None else self.count(begin, bound=True, tz=tz),
            _LAST if end is None else self.count(end, bound=True, tz=tz),
        )

    def bucket(self, value: SpanLike, tz: Optional[ZoneLike], origin: int) -> tuple[int, int]:
        """Returns the length of buckets, and the number of the unit of the calendar that it counts or 0.

        With a zone, hours, days and more are those of its calendar.
        """
        parts = _BUCKET.fullmatch(value.strip()) if isinstance(value, str) and self._unit else None
        name = parts[2] if parts else ""
        if parts and (tz is not None or name not in "hdw" or (name == "w" and not origin)):
            unit, times = _CALENDAR[name]
            if origin:
                raise InvalidArgument(f"bucket: expected a duration beside origin, got {value}")
            if unit == 1 and int(parts[1]) not in (1, 2, 3, 4, 6, 8, 12):
                raise InvalidArgument(
                    f"bucket: expected 1, 2, 3, 4, 6, 8 or 12 hours beside tz, got {value}; its days are 1d"
                )
            return integer(int(parts[1]), "bucket", 1, 100_000) * times, unit
        length = integer(self.span(value), "bucket", 1, _LAST)
        if tz is not None and not parts and length % max(self.span("1h"), 1) == 0:
            raise InvalidArgument(f"bucket: expected a text such as 6h, 1d or 1mo beside tz, got {told(value)}")
        return length, 0

    def span(self, value: SpanLike) -> int:
        """Returns a span of time as a count."""
        if isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64):
            return int(value)
        if isinstance(value, str):
            parts = _SPAN.fullmatch(value.strip())
            if parts is None:
                raise InvalidArgument(f"{told(value)} is not a span of time, such as 500ms, 15m or 2d")
            number, name = int(parts[1]), parts[2]
            unit = {"min": "m", "d": "D", "w": "W"}.get(name, name)
            exact = number * _ATTOSECONDS[unit]
        elif isinstance(value, (datetime.timedelta, np.timedelta64)):
            exact = _attoseconds(np.timedelta64(value))
        else:
            raise InvalidType(f"{told(value)} is not a span of time, such as 500ms, 15m or 2d")
        count, left = divmod(exact, self._attoseconds())
        if left:
            raise InvalidArgument(f"{value}: the times of the log are counts of {self._unit}")
        return count

    def time(self, count: int) -> Any:
        """Returns a count as a time: a datetime64, or the number itself."""
        return count if self._unit is None else self.times(np.array([count], np.int64))[0]

    def times(self, counts: np.ndarray) -> np.ndarray:
        """Returns counts as times."""
        return counts if self._unit is None else counts.view(f"M8[{self._unit}]")

    def duration(self, count: int) -> Any:
        """Returns a count as a span: a timedelta64, or the number itself."""
        return count if self._unit is None else np.array([count]).astype(f"m8[{self._unit}]")[0]

    def _attoseconds(self) -> int:
        if self._unit is None:
            raise FailedPrecondition("the times of the log are plain numbers: give such ones")
        return _ATTOSECONDS[self._unit]
