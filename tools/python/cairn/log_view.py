"""One state of a log as NumPy sees it: the types of its fields, and times of its unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

import numpy as np

from . import _engine, options
from .errors import FailedPrecondition, InvalidArgument
from .indexing import FEW
from .keys import check_fields
from .records import Records, fields_of
from .times import Clock, SpanLike, TimeLike, ZoneLike
from .view import View, bytes_of


class LogView:
    """Reads one state of a log, and knows the types of its fields. It is immutable."""

    is_array = False  # for `indexing`

    __slots__ = ("clock", "dtype", "engine", "fields", "time", "where")

    def __init__(self, engine: _engine.LogSnapshot, path: str):
        self.engine = engine
        self.where = path  # the beginning of messages
        self.dtype = options.written_dtype(engine.dtype())
        self.fields = fields_of(self.dtype)
        self.time = engine.time_field()
        self.clock = None if self.time is None else Clock(self.fields[self.time])

    def need_clock(self) -> Clock:
        """Returns the clock, which says how times are counted, or raises FailedPrecondition."""
        if self.clock is None:
            raise FailedPrecondition("the records of the log have no time")
        return self.clock

    def range(
        self,
        begin: Optional[TimeLike],
        end: Optional[TimeLike],
        last: Optional[SpanLike],
        tz: Optional[ZoneLike] = None,
    ) -> tuple[int, int]:
        """Returns the range of times from begin to end, or of the span `last` before the newest time."""
        if begin is None and end is None and last is None:
            return -(2**63), 2**63 - 1
        clock = self.need_clock()
        if last is None:
            return clock.range(begin, end, tz)
        if begin is not None or end is not None:
            raise InvalidArgument("the last records have no other begin or end")
        return self.engine.last(min(clock.span(last), 2**63 - 1))

    def choose(self, fields: Union[str, Sequence[str], None]) -> dict[str, np.dtype]:
        """Returns the fields of these names. None means all."""
        if fields is None:
            return self.fields
        names = [fields] if isinstance(fields, str) else list(fields)
        check_fields(names, self.fields)
        return {name: self.fields[name] for name in names}

    @property
    def shape(self) -> tuple[int]:
        """The number of records that the log holds."""
        return (self.engine.end_record() - self.engine.first_record(),)

    def room(self, shape: Sequence[int]) -> np.ndarray:
        """Returns memory for records."""
        return np.empty(shape, self.dtype)

    def read(self, start: Sequence[int], out: np.ndarray) -> None:
        """Reads consecutive records. Number 0 is the oldest one that the log holds."""
        self.engine.read_records(self.engine.first_record() + start[0], bytes_of(out))

    def read_at(self, numbers: np.ndarray, out: np.ndarray) -> None:
        """Reads single records by the same numbers, which may be unsorted and repeated."""
        flat = out.reshape(-1)
        least, greatest = int(numbers.min()), int(numbers.max())
        if greatest - least < numbers.size * FEW:
            rows = self.room((greatest - least + 1,))
            self.read((least,), rows)
            flat[:] = rows[numbers - least]
            return
        begin = 0
        for frame in self.engine.frames():
            view = View(frame, self.dtype)
            end = begin + view.shape[0]
            here = np.flatnonzero((begin <= numbers) & (numbers < end))
            if here.size:
                part = self.room(here.shape)
                view.read_at(numbers[here] - begin, part)
                flat[here] = part
            begin = end

    def column(self, name: str) -> np.ndarray:
        """Returns the values of a field of all records."""
        (values,) = (np.empty(self.shape, dtype) for dtype in self.choose(name).values())
        self.engine.read_column(name, self.engine.first_record(), bytes_of(values))
        return values

    def records(self, first: int, count: int) -> Records:
        """Returns `count` records from number `first` on."""
        rows = self.room((count,))
        self.engine.read_records(first, bytes_of(rows))
        columns = {name: rows[name] if name else rows for name in self.fields}
        return Records(columns, np.arange(first, first + count), self.time)
