"""One state of a log as NumPy sees it: the types of its fields, and times of its unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

import numpy as np

from . import _engine, options
from .errors import FailedPrecondition, InvalidArgument, NotFound
from .records import Records, fields_of
from .times import Clock, SpanLike, TimeLike
from .view import bytes_of


class LogView:
    """One state of a log, with the types of its fields; immutable."""

    __slots__ = ("clock", "dtype", "engine", "fields", "time")

    def __init__(self, engine: _engine.LogSnapshot):
        self.engine = engine
        self.dtype = options.written_dtype(engine.dtype())
        self.fields = fields_of(self.dtype)
        self.time = engine.time_field()
        self.clock = None if self.time is None else Clock(self.fields[self.time])

    def need_clock(self) -> Clock:
        """How times are counted."""
        if self.clock is None:
            raise FailedPrecondition("the records of the log have no time")
        return self.clock

    def range(
        self, begin: Optional[TimeLike], end: Optional[TimeLike], last: Optional[SpanLike]
    ) -> tuple[int, int]:
        """The times from begin to end, or those up to so long before the newest."""
        if begin is None and end is None and last is None:
            return -(2**63), 2**63 - 1
        clock = self.need_clock()
        if last is None:
            return clock.range(begin, end)
        if begin is not None or end is not None:
            raise InvalidArgument("the last records have no other begin or end")
        return self.engine.last(min(clock.span(last), 2**63 - 1))

    def choose(self, fields: Union[str, Sequence[str], None]) -> dict[str, np.dtype]:
        """The fields of these names; None: all."""
        if fields is None:
            return self.fields
        names = [fields] if isinstance(fields, str) else list(fields)
        for name in names:
            if name not in self.fields:
                raise NotFound(f"no field {name!r}, the log has {', '.join(self.fields)}")
        return {name: self.fields[name] for name in names}

    def rows(self, first: int, count: int) -> np.ndarray:
        """Records from number `first` on."""
        rows = np.empty(count, self.dtype)
        self.engine.read_records(first, bytes_of(rows))
        return rows

    def records(self, first: int, count: int) -> Records:
        """The same, with their numbers."""
        rows = self.rows(first, count)
        columns = {name: rows[name] if name else rows for name in self.fields}
        return Records(columns, np.arange(first, first + count), self.time)
