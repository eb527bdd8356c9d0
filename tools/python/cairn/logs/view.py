"""One state of a log as NumPy sees it: the types of its fields, and times of its unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional, Union

import numpy as np

from .. import _engine, options
from ..arguments import told
from ..errors import FailedPrecondition, InvalidArgument
from ..indexing import FEW
from ..keys import check_fields, list_of
from ..times import Clock, SpanLike, TimeLike, ZoneLike
from ..view import View, bytes_of
from .records import Records, fields_of, missing_of


class LogView:
    """Reads one state of a log, and knows the types of its fields. It is immutable."""

    is_array = False  # for `indexing`

    __slots__ = ("_deleted", "_first_with_value", "_texts", "clock", "dtype", "engine", "fields", "stored", "texts", "time", "where")

    def __init__(self, engine: _engine.LogSnapshot, path: str):
        self.engine = engine
        self.where = path  # the beginning of messages
        self.dtype = options.written_dtype(engine.dtype())
        self.stored = fields_of(self.dtype)
        self.texts = engine.text_fields()  # the fields whose records hold codes of texts
        self.fields = {**self.stored, **dict.fromkeys(self.texts, np.dtype(object))}
        self.time = engine.time_field()
        self.clock = None if self.time is None else Clock(self.fields[self.time])
        self._deleted: Optional[np.ndarray] = None
        self._first_with_value: Optional[dict[str, int]] = None
        self._texts: dict[str, np.ndarray] = {}

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

    def selection(
        self,
        begin: Optional[TimeLike],
        end: Optional[TimeLike],
        last: Optional[SpanLike],
        tz: Optional[ZoneLike],
        where: Optional[str],
    ) -> tuple[int, int, list[str]]:
        """Returns what says which records are deleted."""
        if begin is None and end is None and last is None and where is None:
            raise InvalidArgument("delete: expected times or a condition")
        if where is not None and not isinstance(where, str):
            raise InvalidArgument(f"where: expected a text, got {told(where)}")
        return (*self.range(begin, end, last, tz), [] if where is None else [where])

    def choose(self, fields: Union[str, Sequence[str], None]) -> dict[str, np.dtype]:
        """Returns the fields of these names. None means all."""
        if fields is None:
            return self.fields
        names = list_of(fields, self.fields)
        check_fields(names, self.fields)
        return {name: self.fields[name] for name in names}

    @property
    def deleted(self) -> np.ndarray:
        """The ranges of the numbers of deleted records: a row with begin and end for each."""
        if self._deleted is None:
            self._deleted = np.frombuffer(self.engine.deleted(), np.int64).reshape(-1, 2)
        return self._deleted

    @property
    def first_with_value(self) -> dict[str, int]:
        """The number of the first record that has a value of each field."""
        if self._first_with_value is None:
            self._first_with_value = dict(zip(self.fields, self.engine.first_with_value()))
        return self._first_with_value

    def decoded(self, name: str, column: np.ndarray) -> np.ndarray:
        """Returns the texts of a column of codes, and any other column as it is."""
        if name not in self.texts:
            return column
        if name not in self._texts:
            self._texts[name] = np.array(self.engine.texts(name, 0), object)
        return self._texts[name].take(column, mode="clip")

    @property
    def shape(self) -> tuple[int]:
        """The number of records that the log holds."""
        return (self.engine.nrecords(),)

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """Returns the numbers of the records at these positions among all that are not deleted."""
        first = self.engine.first_record()
        begins, ends = self.deleted.T
        skipped = np.concatenate(([0], np.cumsum(ends - begins)))
        places = begins - first - skipped[:-1]  # the positions that follow the ranges
        return positions + first + skipped[np.searchsorted(places, positions, side="right")]

    def _runs(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Gives the ranges of records from number `begin` to before `end` that are not deleted."""
        begins, ends = self.deleted.T
        for start, stop in self.deleted[(ends > begin) & (begins < end)].tolist():
            if begin < start:
                yield begin, start
            begin = stop
        if begin < end:
            yield begin, end

    def room(self, shape: Sequence[int]) -> np.ndarray:
        """Returns memory for records."""
        return np.empty(shape, self.dtype)

    def read(self, start: Sequence[int], out: np.ndarray) -> None:
        """Reads consecutive records. Number 0 is the oldest one that the log holds."""
        if len(out) == 0:
            return
        first, last = self.numbers(np.array([start[0], start[0] + len(out) - 1])).tolist()
        done = 0
        for begin, end in self._runs(first, last + 1):
            self.engine.read_records(begin, bytes_of(out[done : done + end - begin]))
            done += end - begin

    def read_at(self, numbers: np.ndarray, out: np.ndarray) -> None:
        """Reads single records by the same numbers, which may be unsorted and repeated."""
        flat = out.reshape(-1)
        least, greatest = int(numbers.min()), int(numbers.max())
        if greatest - least < numbers.size * FEW:
            rows = self.room((greatest - least + 1,))
            self.read((least,), rows)
            flat[:] = rows[numbers - least]
            return
        numbers = self.numbers(numbers) - self.engine.first_record()
        begin = 0
        for frame in self.engine.frames():
            array = frame.array()
            assert array is not None  # every file of a log is an array
            end = begin + array[0][0]
            here = np.flatnonzero((begin <= numbers) & (numbers < end))
            if here.size and frame.info()["typesize"] == self.dtype.itemsize:
                part = self.room(here.shape)
                View(frame, self.dtype).read_at(numbers[here] - begin, part)
                flat[here] = part
            elif here.size:  # the frame lacks fields of the log
                for place in here.tolist():
                    number = int(numbers[place]) + self.engine.first_record()
                    self.engine.read_records(number, bytes_of(flat[place : place + 1]))
            begin = end

    def column(self, name: str) -> np.ndarray:
        """Returns the values of a field of all records."""
        self.choose(name)
        values = np.empty(self.shape, self.stored[name])
        done = 0
        for begin, end in self._runs(self.engine.first_record(), self.engine.end_record()):
            self.engine.read_column(name, begin, bytes_of(values[done : done + end - begin]))
            done += end - begin
        return self.decoded(name, values)

    def records(self, first: int, end: int) -> Records:
        """Returns the records from number `first` to before `end` that are not deleted."""
        runs = list(self._runs(first, end))
        rows = self.room((sum(stop - start for start, stop in runs),))
        numbers = np.empty(len(rows), np.int64)
        done = 0
        for start, stop in runs:
            here = slice(done, done + stop - start)
            self.engine.read_records(start, bytes_of(rows[here]))
            numbers[here] = np.arange(start, stop)
            done += stop - start
        columns = {name: self.decoded(name, rows[name]) if name else rows for name in self.fields}
        return Records(columns, numbers, self.time, missing_of(columns, numbers, self.first_with_value))
