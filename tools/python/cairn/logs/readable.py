"""The part of `Log` and `LogSnapshot` that reads."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union, cast

import numpy as np

from .. import _engine, indexing, options
from ..arguments import members_raise_ours
from ..errors import InvalidArgument
from ..keys import names_of
from ..opened import Immutable
from ..readable import Snapshot
from ..times import SpanLike, TimeLike, ZoneLike, zone_name
from ..view import View
from .aggregates import Aggregates, FieldStatistics, Wanted, statistics_of
from .filling import MAX_ROWS, FillLike, check_fill
from .info import LogInfo, Retention, Rotation
from .plot import Plot, draw
from .records import Columns, Records, shown
from .scan import Scan
from .view import LogView
from .where import WhereLike, conditions

_ALL = 2**63 - 1  # records


@members_raise_ours
class LogReadable:
    """Reads records of a log by time, by number and by their values.

    `len` counts the records that the log holds. `log[5]`, `log[-100:]`, `log[[7, 2]]`, `log[mask]`
    and `log["temp"]` read records, or the values of a field, as from a NumPy array of all records.
    Record 0 of that array is the oldest one that the log still holds. Deleted records are not in
    that array, so a position in it is not the number of a record.
    """

    __slots__ = ()

    def _view(self) -> LogView:
        raise NotImplementedError

    @property
    def _where(self) -> str:
        """The beginning of messages."""
        return self._view().where

    @property
    def dtype(self) -> np.dtype:
        """The type of a record."""
        return self._view().dtype

    @property
    def time_field(self) -> Optional[str]:
        """The name of the field with the time, or None."""
        return self._view().time

    @property
    def first_record(self) -> int:
        """The number of the oldest record that the log holds. Records keep their numbers."""
        return self._view().engine.first_record()

    @property
    def end_record(self) -> int:
        """The number that follows that of the newest record."""
        return self._view().engine.end_record()

    @property
    def deleted(self) -> list[range]:
        """The numbers of deleted records, from `first_record` on."""
        return [range(begin, end) for begin, end in self._view().deleted.tolist()]

    @property
    def times(self) -> Optional[tuple[Any, Any]]:
        """The earliest and the latest time, or None if there are no records."""
        view = self._view()
        clock = view.need_clock()
        found = view.engine.times()
        return None if found is None else (clock.time(found[0]), clock.time(found[2]))

    @property
    def retention(self) -> Retention:
        """The limits that say which records are dropped."""
        view = self._view()
        age, records, nbytes = view.engine.retention()
        return Retention(age if view.clock is None else view.clock.duration(age), records, nbytes)

    @property
    def rotation(self) -> Rotation:
        """The limits that say when a new file is begun."""
        view = self._view()
        nbytes, period = view.engine.rotation()
        return Rotation(nbytes, period if view.clock is None else view.clock.duration(period))

    @property
    def frames(self) -> list[Snapshot]:
        """The frames that hold the records. The oldest comes first: `log.frames[0].verify()`."""
        view = self._view()
        # Files from before a field was added have records of their own.
        size = view.dtype.itemsize
        frames = [(frame, frame.info()["typesize"]) for frame in view.engine.frames()]
        return [Snapshot(View(frame, view.dtype if found == size else None)) for frame, found in frames]

    @property
    def info(self) -> LogInfo:
        """The fields, the times, the sizes and the limits of the log."""
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
        """Returns the number of the first record at `time` or later, or `end_record` if there is none.

        Records that are later than the clock of this machine count only if `time` is, too.
        """
        view = self._view()
        return view.engine.find_time(view.need_clock().count(time, bound=True))

    def query(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        order: str = "time",
        limit: Optional[int] = None,
    ) -> Records:
        """Returns the records from time `begin` to before `end` that meet all conditions.

        begin, end
            The times: `datetime`, `datetime64`, ISO 8601 text, or a count of the unit of the time
            field. None means no bound. Text may be relative to the clock of this machine: "-15m",
            "now-1d", "today", "yesterday+8h".
        last
            The length of the range, instead of `begin` and `end`: "15m", a `timedelta` or a count.
            The range ends with the newest record. Records that are later than the clock of this
            machine do not count and are left out.
        tz
            The zone of texts and dates that name none, such as "Europe/Berlin". None means UTC.
        fields
            The names of the fields to read. None means all.
        where
            Conditions as text, "temp > 20 and (host == 'a' or host in ('b', 'c'))", or a list of
            tuples that must all hold, [("temp", ">", 20), ("host", "in", ["a", "b"])].
        order
            "time", or "record" for the order in which the records were committed.
        limit
            The maximum number of records. None means no limit.

        Chunks that the statistics exclude are not read.
        """
        view, chosen, cursor = self._cursor(begin, end, last, tz, fields, where, order, limit)
        columns = Columns(chosen, view)
        while (batch := cursor.next())[0]:
            columns.add(*batch)
        return columns.take()

    def scan(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        order: str = "time",
        limit: Optional[int] = None,
    ) -> Scan:
        """Iterates over the records that `query` finds, also if memory cannot hold all of them.

        The arguments are those of `query`:

        begin, end, last, tz
            The times of the records.
        fields
            The names of the fields to read. None means all.
        where
            The conditions that the records must meet.
        order
            "time" or "record".
        limit
            The maximum number of records. None means no limit.
        """
        return Scan(*self._cursor(begin, end, last, tz, fields, where, order, limit))

    def _cursor(
        self,
        begin: Optional[TimeLike],
        end: Optional[TimeLike],
        last: Optional[SpanLike],
        tz: Optional[ZoneLike],
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
            *view.range(begin, end, last, tz),
            list(chosen),
            *conditions(where, view.fields),
            by_time,
            _ALL if limit is None else limit,
        )
        return view, chosen, cursor

    def latest(
        self,
        by: Union[str, Sequence[str]],
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        max_groups: int = 100_000,
    ) -> Records:
        """Returns the latest record of each key, in the order of the keys.

        by
            The names of the fields that make the key: integers, booleans, times, bytes or texts.
        begin, end, last, tz
            The times of the records, as in `query`.
        fields
            The names of the fields to read. None means all.
        where
            The conditions that the records must meet, as in `query`.
        max_groups
            The maximum number of keys.

        The latest record is that with the greatest time, and the last of those by number. If `by`
        is one field of texts, chunks in which no key can have a later record are not read.
        """
        view = self._view()
        chosen = view.choose(fields)
        found = view.engine.latest(
            list(view.choose(by)),
            *view.range(begin, end, last, tz),
            list(chosen),
            *conditions(where, view.fields),
            options.integer(max_groups, "max_groups", 1, _ALL),
        )
        columns = Columns(chosen, view)
        columns.add(*found)
        return columns.take()

    def aggregate(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        bucket: Optional[SpanLike] = None,
        origin: TimeLike = 0,
        fill: FillLike = "none",
        by: Union[str, Sequence[str], None] = None,
        what: Union[str, Sequence[str], None] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        max_groups: int = 100_000,
        max_memory: int = 2**30,
    ) -> Aggregates:
        """Returns count, minimum, maximum, sum, mean, first and last value of fields for each bucket.

        begin, end, last
            The times of the records, as in `query`.
        tz
            The zone of times as in `query`, and of buckets in text: "1h", "1d" and more are then
            those of its calendar, so a day has 23 or 25 hours when the clocks change.
        bucket
            The length of a bucket: "15m", a `timedelta`, or a count of the unit of the time field;
            "1d", "1w" from Monday, "1mo", "1q" or "1y" of the calendar. None makes one bucket of
            everything. Buckets without a record are left out, unless `fill` says otherwise.
        origin
            A time at which a bucket begins. Only for lengths that are always the same.
        fields
            The names of fields of numbers, or of times, whose sums and means are counts. None means
            all fields of numbers.
        where
            The conditions that the records must meet, as in `query`.
        what
            The functions to return instead, "mean,p95" or ["temp:p95", "count"]: count, min, max, sum,
            first, last, mean, range, median, p95 and other percentiles, stddev, increase, rate. One
            with the name of a field is of that field, others are of all `fields`.
        fill
            What buckets without a value get: "null", which is NaN, "previous", "linear", by the times
            at which they begin, or a number. Counts and sums are 0 there. Integers may become floats.
            The buckets are those from `begin` to `end`, or from the first to the last with records.
        by
            The names of fields of integers, booleans, times, bytes or texts. Records whose values of
            them are equal are a group, with rows of its own. `groups` of the result has the values for each row.
        max_groups
            The maximum number of groups.
        max_memory
            The bytes that the values of one bucket may take, which percentiles need. A value takes 8.

        Parts of chunks that lie in one bucket are taken from the statistics if there is no `where`.
        For percentiles, stddev, increase and rate the records are read.
        """
        view = self._view()
        clock = view.need_clock()
        grouped = {} if by is None else view.choose(by)
        chosen = view.choose(fields).items()
        numbers = [name for name, one in chosen if fields is not None or (one.kind not in "SMO" and name not in grouped)]
        wanted = Wanted(what, numbers, list(view.fields))
        types = {name: view.fields[name] for name in wanted.words}
        first = clock.count(origin, tz=tz)
        length, calendar = (0, 0) if bucket is None else clock.bucket(bucket, tz, first)
        if check_fill(fill) != "none" and bucket is None:
            raise InvalidArgument("fill: expected bucket as well")
        times = view.range(begin, end, last, tz)
        buckets = length, first, calendar, zone_name(tz) if calendar else ""
        found = view.engine.aggregate(
            times[0],
            times[1],
            *buckets,
            list(types),
            *conditions(where, view.fields),
            [measure for _, _, measure in wanted.measures],
            options.integer(max_memory, "max_memory", 1, _ALL),
            list(grouped),
            options.integer(max_groups, "max_groups", 1, _ALL),
        )
        result = Aggregates._of(found, types, wanted, view.time or "", clock, tz, grouped)
        if fill == "none":
            return result
        begins = result.begin.view("i8")
        first, last = times[0], max(times[1], -_ALL) - 1
        if times[0] == -_ALL - 1:
            first = int(begins.min()) if len(begins) else last + 1
        if times[1] == _ALL:
            last = int(begins.max()) if len(begins) else first - 1
        bounds = [np.frombuffer(one, "i8") for one in view.engine.buckets(first, last, *buckets, MAX_ROWS)]
        return result._filled(fill, *map(clock.times, bounds))

    @property
    def statistics(self) -> dict[str, FieldStatistics]:
        """The count, min, max, sum, first, last and mean of each field of numbers."""
        return statistics_of(self.aggregate())

    def plot(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        fields: Union[str, Sequence[str], None] = None,
        where: WhereLike = None,
        title: Optional[str] = None,
        units: Optional[Mapping[str, str]] = None,
    ) -> Plot:
        """Draws fields of numbers over time: the mean of each, in a band from its least to its greatest value.

        begin, end, last, tz
            The times of the records, as in `query`. The axis of the picture is in UTC.
        fields
            The names of the fields. None means all fields of numbers.
        where
            The conditions that the records must meet, as in `query`.
        title
            The title. None means the name of the log.
        units
            The units of values by the names of the fields: {"temp": "°C"}.
        """
        view = self._view()
        clock = view.need_clock()

        def aggregate(first: int, after: int, bucket: int) -> Aggregates:
            of_state = LogSnapshot(view)
            return of_state.aggregate(clock.time(first), clock.time(after), bucket=bucket, fields=fields, where=where)

        return draw(view, view.range(begin, end, last, tz), aggregate, title, units or {})

    def verify_statistics(self) -> list[str]:
        """Compares the statistics with the records, and returns a line for each difference."""
        return self._view().engine.verify_statistics()

    def tail(self, count: int = 10) -> Records:
        """Returns the newest `count` records, in the order in which they were committed."""
        view = self._view()
        end = view.engine.end_record()
        held = len(self)
        left = held - min(options.integer(count, "count", 0, _ALL), held)
        return view.records(end if left == held else int(view.numbers(np.array(left))), end)

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

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.scan().__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, tz: Optional[ZoneLike] = None) -> Any:
        """Returns all records as a DataFrame of pandas, in the order of time.

        tz
            The zone of its times, as `Records.to_pandas` takes it.
        """
        return self.query().to_pandas(tz=tz)

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


class LogSnapshot(Immutable[LogView], LogReadable):
    """One state of a log. It reads the same whatever is committed or dropped later."""

    __slots__ = ()
