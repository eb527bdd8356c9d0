"""What `Log` and `LogSnapshot` share: everything that reads."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any, Optional, Union, cast

import numpy as np

from . import _engine, indexing, options
from .aggregates import Aggregates, FieldStatistics, statistics_of
from .arguments import members_raise_ours
from .errors import InvalidArgument
from .keys import names_of
from .log_info import LogInfo, Retention, Rotation
from .log_view import LogView
from .opened import Immutable
from .readable import Snapshot
from .records import Columns, Records, shown
from .times import SpanLike, TimeLike
from .view import View
from .where import WhereLike, conditions

_ALL = 2**63 - 1  # records


@members_raise_ours
class LogReadable:
    """Reads records of a log by time, by number and by their values.

    `len` counts the records that are there. `log[5]`, `log[-100:]`, `log[[7, 2]]`, `log[mask]` and
    `log["temp"]` read records, or the values of fields, as from a NumPy array of all records: 0 is
    the oldest record that is there.
    """

    __slots__ = ()

    def _view(self) -> LogView:
        raise NotImplementedError

    @property
    def _where(self) -> str:
        """What messages begin with."""
        return self._view().where

    @property
    def dtype(self) -> np.dtype:
        """The type of a record."""
        return self._view().dtype

    @property
    def time_field(self) -> Optional[str]:
        """The field with the time."""
        return self._view().time

    @property
    def first_record(self) -> int:
        """The number of the oldest record that is there. Records keep their numbers for ever."""
        return self._view().engine.first_record()

    @property
    def end_record(self) -> int:
        """The number of the newest record, and one more."""
        return self._view().engine.end_record()

    @property
    def times(self) -> Optional[tuple[Any, Any]]:
        """The least and the greatest time; None without records."""
        view = self._view()
        clock = view.need_clock()
        found = view.engine.times()
        return None if found is None else (clock.time(found[0]), clock.time(found[1] - 1))

    @property
    def retention(self) -> Retention:
        """Which records are dropped."""
        view = self._view()
        age, records, nbytes = view.engine.retention()
        return Retention(age if view.clock is None else view.clock.duration(age), records, nbytes)

    @property
    def rotation(self) -> Rotation:
        """When a new file is begun."""
        view = self._view()
        nbytes, period = view.engine.rotation()
        return Rotation(nbytes, period if view.clock is None else view.clock.duration(period))

    @property
    def frames(self) -> list[Snapshot]:
        """The frames that hold the records, the oldest first: `log.frames[0].verify()`."""
        view = self._view()
        return [Snapshot(View(frame, view.dtype)) for frame in view.engine.frames()]

    @property
    def info(self) -> LogInfo:
        """What the log holds, how large it is and what it is told to drop."""
        infos = [frame.info for frame in self.frames]
        return LogInfo(
            files=len(infos),
            records=len(self),
            first_record=self.first_record,
            fields=self._view().fields,
            time_field=self.time_field,
            times=None if self.time_field is None else self.times,
            future=0 if self.time_field is None else self._view().engine.count_future(),
            nbytes=sum(info.nbytes for info in infos),
            file_size=sum(info.frame_size + info.journal_size for info in infos),
            codec=infos[-1].codec,
            clevel=infos[-1].clevel,
            retention=self.retention,
            rotation=self.rotation,
        )

    def find_time(self, time: TimeLike) -> int:
        """The least number of a record of this time or later; `end_record` where there is none.

        Records that are later than the clock of this machine count only for such a time.
        """
        view = self._view()
        return view.engine.find_time(view.need_clock().count(time))

    def query(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        order: str = "time",
        limit: Optional[int] = None,
    ) -> Records:
        """The records from time `begin` to before `end`, of which all conditions hold.

        begin, end
            A `datetime`, a `datetime64`, ISO 8601 text, or a count of the unit of the time field;
            None has no bound. Without a zone times are UTC.
        last
            Instead of these: up to how long before the newest record, "15m" or a `timedelta`.
            Records that are later than the clock of this machine do not count, and are left out.
        fields
            Names of the fields to read; None: all.
        where
            Text, "temp > 20 and (host == 'a' or host in ('b', 'c'))", or tuples of which all have
            to hold, [("temp", ">", 20)].
        order
            "time", or "record" for the order in which they were committed.
        limit
            Most records.

        Chunks that the statistics exclude are not read.
        """
        view, chosen, cursor = self._cursor(begin, end, last, fields, where, order, limit)
        columns = Columns(chosen)
        while (batch := cursor.next())[0]:
            columns.add(*batch)
        return columns.take(view.time)

    def scan(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        order: str = "time",
        limit: Optional[int] = None,
    ) -> Iterator[Records]:
        """What `query` finds, some records after the other: more than memory can hold."""
        return _batches(*self._cursor(begin, end, last, fields, where, order, limit))

    def _cursor(
        self,
        begin: Optional[TimeLike],
        end: Optional[TimeLike],
        last: Optional[SpanLike],
        fields: Union[str, Sequence[str], None],
        where: WhereLike,
        order: str,
        limit: Optional[int],
    ) -> tuple[LogView, dict[str, np.dtype], _engine.LogCursor]:
        if limit is not None and limit < 0:
            raise InvalidArgument(f"limit: expected 0 or more, got {limit}")
        view = self._view()
        chosen = view.choose(fields)
        by_time = options.number_of(order, {"record": 0, "time": 1}, "order") == 1
        cursor = view.engine.query(
            *view.range(begin, end, last),
            list(chosen),
            *conditions(where, view.fields),
            by_time,
            _ALL if limit is None else limit,
        )
        return view, chosen, cursor

    def aggregate(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        bucket: Optional[SpanLike] = None,
        origin: TimeLike = 0,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
    ) -> Aggregates:
        """Count, least, greatest, sum, mean, first and last value of fields, bucket by bucket.

        begin, end, last
            Which records, as in `query`.
        bucket
            "15m", a `timedelta`, or a count of the unit of the time field; None: one bucket of
            everything. Those without a record are left out.
        origin
            A time where a bucket begins.
        fields
            Names of fields of numbers, or of times, as counts; None: all of numbers.

        Parts of chunks that lie in one bucket come from the statistics, unless there is a `where`.
        """
        view = self._view()
        clock = view.need_clock()
        chosen = view.choose(fields).items()
        numbers = {name: one for name, one in chosen if fields is not None or one.kind not in "SM"}
        length = 0 if bucket is None else options.integer(clock.span(bucket), "bucket", 1, _ALL)
        found = view.engine.aggregate(
            *view.range(begin, end, last),
            length,
            clock.count(origin),
            list(numbers),
            *conditions(where, view.fields),
        )
        return Aggregates._of(found, numbers, view.time or "", clock)

    @property
    def statistics(self) -> dict[str, FieldStatistics]:
        """Of the values of each field of numbers: count, min, max, sum, first, last, mean."""
        return statistics_of(self.aggregate())

    def verify_statistics(self) -> list[str]:
        """Compares the statistics with the records: a line for each difference."""
        return self._view().engine.verify_statistics()

    def tail(self, count: int = 10) -> Records:
        """The newest records, in the order in which they were committed."""
        view = self._view()
        end = view.engine.end_record()
        first = max(end - options.integer(count, "count", 0, _ALL), view.engine.first_record())
        return view.records(first, end - first)

    def __len__(self) -> int:
        return self._view().shape[0]

    def __getitem__(self, key: Any) -> Any:
        view = self._view()
        names = names_of(key, view.dtype)
        if isinstance(key, str):
            return view.column(key)
        if names:
            columns = {name: view.column(name) for name in names}
            return Records(columns, np.arange(view.shape[0]), view.time).to_numpy()
        return indexing.read(cast(View, view), key)  # it reads as a frame that is no array

    def __iter__(self) -> Iterator[Any]:
        for records in self.scan(order="record"):
            yield from records

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise InvalidArgument("reading a log makes a copy")
        rows: np.ndarray = self[:]
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def to_pandas(self) -> Any:
        """All records as a DataFrame, in the order of time."""
        return self.query().to_pandas()

    def _title(self) -> str:
        return f"{len(self):,} records of {', '.join(map(shown, self._view().fields))}"

    def __repr__(self) -> str:
        return f"<cairn.{type(self).__name__} {self._title()}>"

    def _repr_html_(self) -> str:
        title = html.escape(self._title())
        told = [(name, html.escape(value)) for name, value in self.info._rows()]
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in told)
        newest = self.tail(5)._repr_html_() if len(self) else ""
        return f"<div><strong>{title}</strong><table>{rows}</table>{newest}</div>"


def _batches(view: LogView, chosen: dict[str, np.dtype], cursor: _engine.LogCursor) -> Iterator[Records]:
    while (batch := cursor.next())[0]:
        columns = Columns(chosen)
        columns.add(*batch)
        yield columns.take(view.time)


class LogSnapshot(Immutable[LogView], LogReadable):
    """One state of a log: it reads the same whatever is committed or dropped later."""

    __slots__ = ()
