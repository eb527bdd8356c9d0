"""Logs: opening, making, writing and following them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np

from .. import _engine, options
from ..arguments import members_raise_ours, raises_ours
from ..errors import AlreadyExists, FailedPrecondition, InvalidArgument
from .follow import LogFollower
from ..opened import Opened
from ..options import Limits
from ..paths import Path, files_of, name_of, shown_path
from ..times import Clock, SpanLike, TimeLike, ZoneLike
from .info import Retention, Rotation, UpsertReport, span_of
from .readable import LogReadable, LogSnapshot
from .records import added_field, fields_of, keyed_type
from .view import LogView
from .writer import LogWriter


@members_raise_ours
class Log(Opened[LogView], LogReadable):
    """A log of records with times: a frame, which other Blosc2 libraries open too, or a directory of them.

    A log shows the state that it saw last. `refresh` looks for a newer one. A log sees the commits
    of its own writer at once. Threads may share it.
    """

    __slots__ = ("_opened_with", "_wait", "_writer", "__weakref__")

    _kind = "log"
    _path: str

    def __init__(self, engine: _engine.Log, path: str, opened_with: dict[str, Any]):
        super().__init__(engine, path, LogView(engine.snapshot(), path))
        self._opened_with = opened_with
        self._wait = options.milliseconds(opened_with["wait"])  # for another writer
        self._writer: Optional[weakref.ref[LogWriter]] = None

    @staticmethod
    @raises_ours
    def open(
        path: Path,
        *,
        time: Optional[str] = None,
        durable_only: bool = False,
        mmap: bool = True,
        verify: str = "first",
        threads: int = 1,
        limits: Limits = Limits(),
        wait: float = 0.0,
    ) -> Log:
        """Opens a log, or any frame of one dimension and a type with fields.

        path
            The path of the log, as `cairn.open` takes it.
        time
            The name of the field with the time, if another program made the log. By default it is
            the first timestamp.
        durable_only
            Shows only commits that no power cut can take back. The log is then read-only.
        mmap
            Reads through a memory map. False reads by system calls, which copy.
        verify
            When fingerprints are checked: at the "first" read of a chunk, "always" or "never".
        threads
            The number of threads that compress and decompress blocks. 1 is the calling thread, and
            0 means one thread for each core.
        limits
            Bounds on what each file may cost, for files that nobody trusts.
        wait
            The number of seconds that `append` waits for another writer, and also `writer` if it
            does not say it itself. After it they raise `Unavailable`. The default does not wait.
        """
        opened_with = {
            "time": time,
            "durable_only": durable_only,
            "mmap": mmap,
            "verify": verify,
            "threads": threads,
            "limits": limits,
            "wait": wait,
        }
        name = name_of(path)
        policy = options.number_of(verify, options.VERIFY_POLICIES, "verify")
        engine = _engine.open_log(
            name,
            time or "",
            durable_only,
            mmap,
            policy,
            limits._counts(),
            options.integer(threads, "threads"),
            files_of(name),
        )
        return Log(engine, name, opened_with)

    @staticmethod
    @raises_ours
    def create(
        path: Path,
        dtype: Any,
        *,
        key: Union[str, Sequence[str], None] = None,
        time: Optional[str] = None,
        unit: str = "us",
        codec: str = "lz4",
        clevel: int = 5,
        chunksize: int = 0,
        retention: Retention = Retention(),
        rotation: Rotation = Rotation(),
        exist_ok: bool = False,
        threads: int = 1,
        wait: float = 0.0,
    ) -> Log:
        """Makes a log, and opens it.

        path
            The path of the log, as `cairn.open` takes it.
        dtype
            The fields of a record: a NumPy type with fields, a list of pairs or a dict of names and
            types. Types are booleans, integers, floats, bytes ("S16"), times ("M8[us]") and "text".
        key
            The names of fields of the type "text", which are added after the others: `["host"]`.
            They hold texts of any length that many records share, and the log keeps each text once.
        time
            The name of the field with the time, which is a timestamp or an integer. By default it
            is the first timestamp.
        unit
            The unit of timestamps whose type has none ("M8"): "s", "ms", "us" or "ns".
        codec, clevel
            How chunks are compressed, as in `cairn.create`.
        chunksize
            The size of a chunk in bytes, decoded. 0 chooses a size.
        retention
            Says which records are dropped: `Retention(max_age="30d")`.
        rotation
            Makes a directory with many files, and says when a new one is begun:
            `Rotation(period="1d")`.
        exist_ok
            Opens the log that exists, if it has the same fields. Otherwise it raises
            `AlreadyExists`.
        threads
            The number of threads that compress and decompress blocks, as in `open`.
        wait
            The number of seconds that `append` waits for another writer, as in `open`.
        """
        name = name_of(path)
        known, texts = keyed_type(dtype, unit, key)
        clock = _clock_of(known, time)
        options.milliseconds(wait)  # before anything is made
        try:
            _engine.create_log(
                name,
                options.dtype_text(known),
                known.itemsize,
                texts,
                time or "",
                options.number_of(codec, options.CODECS, "codec"),
                options.integer(clevel, "clevel", -(2**31)),
                options.integer(chunksize, "chunksize"),
                retention._counts(clock),
                rotation._counts(clock),
                files_of(name),
            )
        except AlreadyExists:
            if not exist_ok:
                raise
        log = Log.open(name, threads=threads, wait=wait)
        if log.dtype != known or set(log._view().texts) != set(texts):
            raise AlreadyExists(f"{name}: is a log of {log.dtype}")
        return log

    def _view(self) -> LogView:
        writer = None if self._writer is None else self._writer()
        if writer is not None and not writer.closed:
            self.refresh()
        return self._shown()

    def _seen(self, engine: _engine.LogSnapshot) -> LogView:
        return LogView(engine, self._path)

    @property
    def path(self) -> str:
        """The path of the log."""
        return self._path

    def snapshot(self) -> LogSnapshot:
        """Returns the state that is shown now, which stays as it is."""
        return LogSnapshot(self._view())

    def refresh(self, *, wait: float = 0.0) -> bool:
        """Shows the newest commit, and returns True if there was a newer one.

        `wait` is the number of seconds to wait for one. Signals are handled meanwhile.
        """
        seen = self._shown()
        self._engine.wait_for_commit(seen.engine, options.milliseconds(wait))
        return self._go_on()

    def _committed(self) -> None:
        if self._state is not None:
            self.refresh()

    def writer(
        self,
        *,
        commit_records: int = 0,
        commit_interval: float = 0.0,
        durable: bool = False,
        reorder_window: SpanLike = 0,
        max_buffered_bytes: int = 16 << 20,
        wait: Optional[float] = None,
        timer: Optional[_engine.CommitTimer] = None,
        codec: Optional[str] = None,
        clevel: Optional[int] = None,
    ) -> LogWriter:
        """Opens the writer of the log. A log has one writer at a time, over all processes.

        Use it as a context manager.

        commit_records, commit_interval
            When records are committed: as soon as there are this many, and this many seconds after
            the first of them. By default only `commit` and a full buffer commit them.
        durable
            Makes each commit survive a power cut, and not only a killed process.
        reorder_window
            Holds back records whose time is less than this before the newest, and commits them in
            the order of time. It is a span of time: "2s", a `timedelta` or a count.
        max_buffered_bytes
            The maximum size in bytes of the records that wait. An `append` that passes it commits
            all of them.
        wait
            The number of seconds to wait for another writer. After it, the call raises
            `Unavailable`. Signals are handled meanwhile. The default is the `wait` that the log was
            opened with.
        timer
            A `CommitTimer` that makes the commits of `commit_interval` of many writers.
        codec, clevel
            How new chunks are compressed. By default they are compressed as the log says.
        """
        view = self._view()
        engine = self._engine.open_writer(
            options.integer(commit_records, "commit_records", 0, 2**63 - 1),
            options.milliseconds(commit_interval, "commit_interval"),
            durable,
            span_of(reorder_window, view.clock, "reorder_window"),
            options.integer(max_buffered_bytes, "max_buffered_bytes", 0, 2**63 - 1),
            self._wait if wait is None else options.milliseconds(wait),
            timer,
            None if codec is None else options.number_of(codec, options.CODECS, "codec"),
            None if clevel is None else options.integer(clevel, "clevel", -(2**31)),
        )
        writer = LogWriter(engine, view, self._committed)
        self._writer = weakref.ref(writer)
        return writer

    def append(self, records: Any) -> None:
        """Adds `records`, as `LogWriter.append` takes them, and commits durably. Use a `writer` for many."""
        with self.writer() as writer:
            writer.append(records)

    def upsert(self, records: Any, *, key: Union[str, Sequence[str], None] = None) -> UpsertReport:
        """Replaces records of the log by `records` of the same times, adds the others, and commits durably.

        key
            The names of fields of integers, booleans, times, bytes or texts, such as "host,sensor".
            Only records whose values of these fields are equal, too, replace each other. None means
            all fields of the type "text". [] means no field, so that times alone count.

        It is one commit: readers see the old records or the new ones. `records` are what `append`
        takes. If several of them have the same key, the last of them stays. If the log has several
        records of a key, the new one replaces all of them. Records that the log holds already stay
        as they are, with their numbers, so a repeated call changes nothing. Others get new numbers.
        """
        with self.writer() as writer:
            return writer.upsert(records, key=key)

    def delete(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        where: Optional[str] = None,
        wait: float = 10.0,
    ) -> int:
        """Deletes the records from time `begin` to before `end` for which `where` holds, durably.

        Returns how many there were. The other records keep their numbers. If the log has a writer,
        in any process, that writer deletes them with its next commit. Records that are committed
        after the call stay.

        begin, end, last, tz
            The times of the records, as in `query`.
        where
            Conditions as text, as in `query`. At least one argument must say which records.
        wait
            The number of seconds that a writer may take. After it, the call raises `Unavailable`,
            and the writer deletes the records later. It raises `Error` if the writer failed to.

        The values of deleted records are overwritten, their times are not.
        """
        view = self._view()
        which = view.selection(begin, end, last, tz, where)
        count: int = self._engine.delete(*which, options.milliseconds(wait))
        self.refresh()
        return count

    def add_field(self, name: str, dtype: Any, *, unit: str = "us", wait: float = 0.0) -> None:
        """Adds a field after the others, durably. Records that are there have no value in it.

        Queries, aggregations and statistics leave such values out, and a comparison with one is
        false, except `!=`. `Records.missing`, pandas and Arrow show them as missing.

        name, dtype
            The name and the type of the field, as `create` takes them.
        unit
            The unit of a timestamp whose type has none.
        wait
            The number of seconds to wait for a writer of the log to end. After it, the call raises
            `Unavailable`. `LogWriter.add_field` adds a field as the writer.

        A log of many files begins a new file. A log of one file is written again, which takes as
        much time and space as a copy of it.
        """
        self._engine.add_field(*added_field(name, dtype, unit), options.milliseconds(wait))
        self.refresh()

    def request_retention(self, retention: Retention) -> None:
        """Asks the writer of the log, in any process, for a `retention` from its next commit on.

        A writer that is opened later follows the request as well. `LogWriter.set_retention` changes
        the retention in this process.
        """
        self._engine.request_limits(retention._counts(self._view().clock), (-1, -1))

    def follow(
        self,
        start: Union[int, TimeLike, None] = None,
        *,
        timeout: Optional[float] = None,
        on_delete: Optional[Callable[[list[range]], object]] = None,
    ) -> LogFollower:
        """Iterates over the records that are appended, commit by commit: `for records in log.follow()`.

        `async for` does so beside other tasks. Records that are dropped are left out.

        start
            The number of the first record, or a time as text, `datetime` or `datetime64`. By
            default, only records that are appended from now on are given.
        timeout
            The iterator ends when nothing was appended for this many seconds. None means never.
        on_delete
            Is called with the numbers of records that were given before and are deleted now. Under
            `async for` another thread calls it.
        """
        if start is None:
            start = self.end_record
        elif not isinstance(start, (int, np.integer)):
            start = self.find_time(start)
        return LogFollower(self, int(start), timeout, on_delete)

    def __reduce__(self) -> Any:
        return _reopen, (self._path, self._opened_with)

    def __repr__(self) -> str:
        what = "closed" if self._state is None else self._title()
        return f"<cairn.Log {shown_path(self._path)!r}, {what}>"


def _reopen(path: str, opened_with: dict[str, Any]) -> Log:
    return Log.open(path, **opened_with)


def _clock_of(dtype: np.dtype, time: Optional[str]) -> Optional[Clock]:
    fields = fields_of(dtype)
    name = time or next((name for name, one in fields.items() if one.kind == "M"), "")
    return Clock(fields[name]) if name in fields else None
