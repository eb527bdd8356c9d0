"""The one object that changes a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from . import _engine
from .arguments import members_raise_ours
from .errors import FailedPrecondition
from .log_info import Retention, Rotation
from .log_readable import LogSnapshot
from .log_view import LogView
from .opened import Closing
from .records import to_records


@members_raise_ours
class LogWriter(Closing):
    """Takes records, sorts those of one commit by time, and commits them as its options say.

    As a context manager it commits what it has at the end, also after an exception: what was
    measured stays. One that is dropped without `close` loses what is not committed. Threads may
    share it.
    """

    __slots__ = ("__weakref__", "_clock", "_dtype", "_engine", "_moved", "_where")

    def __init__(
        self,
        engine: _engine.LogWriter,
        view: LogView,
        moved: Callable[[], object],
    ):
        self._engine: Optional[_engine.LogWriter] = engine
        self._dtype = view.dtype
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
        """Whether `close` was called."""
        return self._engine is None

    def append(self, records: Any) -> None:
        """Takes records; all of them or, after an exception, none.

        A structured array, a DataFrame, a dict of columns or of the values of one record, or a list
        of tuples. Times without a zone are UTC. Values are converted where that loses nothing but
        the precision of floats and times.
        """
        self._open().append(to_records(records, self._dtype))

    def commit(self) -> LogSnapshot:
        """Commits all records, also those of the window."""
        self._open().commit()
        return self.snapshot()

    def checkpoint(self) -> None:
        """Commits, durably, and leaves frames in which any Blosc2 sees everything."""
        self._open().checkpoint()

    def set_retention(self, retention: Retention) -> None:
        """Says which records are dropped; counts from the next commit on."""
        self._open().set_retention(retention._counts(self._clock))

    def set_rotation(self, rotation: Rotation) -> None:
        """Says when a new file is begun, of a log that is a directory; from the next commit on."""
        self._open().set_rotation(rotation._counts(self._clock))

    def apply_retention(self) -> None:
        """Drops all that the retention says; a commit drops only as much as is fast."""
        self._open().apply_retention()

    @property
    def end_record(self) -> int:
        """The number that the next record gets."""
        return self._open().end_record()

    def snapshot(self) -> LogSnapshot:
        """The newest commit."""
        return LogSnapshot(LogView(self._open().snapshot(), self._where))

    def close(self) -> None:
        """Commits, durably; others may then write the log."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        try:
            engine.close()
        finally:
            del engine  # which the traceback of an exception would keep, and with it writers out
            self._moved()
