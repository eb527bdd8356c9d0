"""Writers of logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

from .. import _engine
from ..arguments import members_raise_ours
from ..errors import FailedPrecondition
from ..opened import ClosingWriter
from ..times import SpanLike, TimeLike, ZoneLike
from .info import Retention, Rotation, UpsertReport
from .readable import LogSnapshot
from .record_input import to_records
from .records import added_field
from .view import LogView


@members_raise_ours
class LogWriter(ClosingWriter):
    """Takes records, sorts those of one commit by time, and commits them as its options say.

    As a context manager it commits its records at the end of its block, also after an exception, so
    that no measurement is lost. A writer that is dropped without `close` loses the records that are
    not committed. Threads may share it.
    """

    __slots__ = ("__weakref__", "_clock", "_dtype", "_engine", "_moved", "_texts", "_where")

    def __init__(
        self,
        engine: _engine.LogWriter,
        view: LogView,
        moved: Callable[[], object],
    ):
        self._engine: Optional[_engine.LogWriter] = engine
        self._dtype = view.dtype
        self._texts = view.texts
        self._clock = view.clock
        self._where = view.where
        self._moved = moved

    def _open(self) -> _engine.LogWriter:
        engine = self._engine
        if engine is None:
            raise FailedPrecondition(f"{self._where}: the writer is closed")
        return engine

    def _check_open(self) -> None:
        self._open()

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._engine is None

    def append(self, records: Any) -> None:
        """Takes all `records`, or none after an exception.

        They are a structured array, a DataFrame, a table or stream of Arrow, a dict of columns or of
        the values of one record, or a list of tuples. Times without a zone are UTC. Values are converted if that loses only
        the precision of floats and times.
        """
        engine = self._open()
        engine.append(to_records(records, self._dtype, self._texts, engine.codes_of))

    def commit(self) -> LogSnapshot:
        """Commits all records, also those that `reorder_window` holds back, and returns the new state."""
        self._open().commit()
        return self.snapshot()

    def checkpoint(self) -> None:
        """Commits durably, and makes the files frames in which any Blosc2 library sees everything."""
        self._open().checkpoint()

    def set_retention(self, retention: Retention) -> None:
        """Changes the `retention`, which says which records are dropped, from the next commit on."""
        self._open().set_retention(retention._counts(self._clock))

    def set_rotation(self, rotation: Rotation) -> None:
        """Changes the `rotation` of a log that is a directory, from the next commit on."""
        self._open().set_rotation(rotation._counts(self._clock))

    def apply_retention(self) -> None:
        """Drops all records that the retention says. A commit drops only as many as is fast."""
        self._open().apply_retention()

    def add_field(self, name: str, dtype: Any, *, unit: str = "us") -> None:
        """Commits all records and adds a field, as `Log.add_field` does. Records are taken with it from now on.

        name, dtype, unit
            The field.
        """
        engine = self._open()
        engine.add_field(*added_field(name, dtype, unit))
        view = LogView(engine.snapshot(), self._where)
        self._dtype = view.dtype
        self._texts = view.texts
        self._moved()

    def delete(
        self,
        begin: Optional[TimeLike] = None,
        end: Optional[TimeLike] = None,
        *,
        last: Optional[SpanLike] = None,
        tz: Optional[ZoneLike] = None,
        where: Optional[str] = None,
    ) -> int:
        """Commits all records, and deletes some as `Log.delete` does. Returns how many there were.

        begin, end, last, tz
            The times of the records, as in `Log.query`.
        where
            Conditions as text.
        """
        engine = self._open()
        view = LogView(engine.snapshot(), self._where)
        return engine.delete(*view.selection(begin, end, last, tz, where))

    def upsert(self, records: Any, *, key: Union[str, Sequence[str], None] = None) -> UpsertReport:
        """Commits all records, and upserts these in one commit, as `Log.upsert` does.

        key
            The names of fields that tell records of the same time apart. None means the fields of
            the type "text", and [] none.
        """
        engine = self._open()
        view = LogView(engine.snapshot(), self._where)
        names = [] if key is None else list(view.choose(key))
        given = to_records(records, self._dtype, self._texts, engine.codes_of)
        return UpsertReport(*engine.upsert(given, names, key is not None))

    @property
    def end_record(self) -> int:
        """The number that the next record gets."""
        return self._open().end_record()

    def snapshot(self) -> LogSnapshot:
        """Returns the newest commit."""
        return LogSnapshot(LogView(self._open().snapshot(), self._where))

    def close(self) -> None:
        """Commits durably. Others may then write the log."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        try:
            engine.close()
        finally:
            del engine  # the traceback of an exception would keep it, and that keeps writers out
            self._moved()
