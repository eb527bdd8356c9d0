"""The common part of frames, logs and their writers: they show one state, and can be closed."""

from __future__ import annotations

import threading
import warnings
from types import TracebackType
from typing import Any, Generic, Optional, TypeVar

from .arguments import members_raise_ours
from .errors import FailedPrecondition

_View = TypeVar("_View")
_Self = TypeVar("_Self", bound="Closing")


class Closing:
    """A context manager that calls `close` at the end of its block."""

    __slots__ = ()

    def _check_open(self) -> None:
        """Raises FailedPrecondition after `close`."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class ClosingWriter(Closing):
    """A writer. One that is dropped without `close` loses what it has not committed, and says so."""

    __slots__ = ()

    def __del__(self) -> None:
        try:
            self._check_open()
        except FailedPrecondition:
            return
        warnings.warn(
            f"{self._where}: a writer was not closed, and what it had not committed is lost; "  # type: ignore[attr-defined]
            "use it in a `with` block, or call close()",
            ResourceWarning,
            stacklevel=2,
            source=self,
        )


@members_raise_ours
class Opened(Closing, Generic[_View]):
    """Shows the newest state that was seen, until `close`. Threads may share it."""

    __slots__ = ("_engine", "_lock", "_path", "_state")

    _kind: str  # the word for it in messages

    def __init__(self, engine: Any, path: Optional[str], state: _View):
        self._engine = engine
        self._path = path
        self._lock = threading.Lock()  # of `_state`, which only goes forward
        self._state: Optional[_View] = state

    def _seen(self, engine: Any) -> _View:
        """Returns the view of a state of the engine."""
        raise NotImplementedError

    @property
    def _where(self) -> str:
        """The beginning of messages."""
        return self._path or f"{self._kind} in memory"

    def _shown(self) -> _View:
        """Returns the state that is shown. Raises FailedPrecondition after `close`."""
        state = self._state
        if state is None:
            raise FailedPrecondition(f"{self._where}: the {self._kind} is closed")
        return state

    def _check_open(self) -> None:
        self._shown()

    def _go_on(self) -> bool:
        """Shows the newest state that the engine has seen. Returns False if it is shown already."""
        with self._lock:
            engine = self._engine.snapshot()
            if self._state is None or engine.is_same(self._state.engine):  # type: ignore[attr-defined]
                return False
            self._state = self._seen(engine)
            return True

    def close(self) -> None:
        """Closes it. Snapshots and writers stay open, and keep the file open."""
        with self._lock:
            self._state = None


@members_raise_ours
class Immutable(Generic[_View]):
    """One state. It reads the same whatever is committed later."""

    __slots__ = ("_state",)

    def __init__(self, state: _View):
        self._state = state

    def _view(self) -> _View:
        return self._state

    def __eq__(self, other: object) -> bool:
        """Returns True if both are the same state, seen through the same `Frame` or `Log`."""
        if type(other) is not type(self):
            return NotImplemented
        return self._state.engine.is_same(other._state.engine)  # type: ignore[attr-defined, no-any-return]

    __hash__ = None  # type: ignore[assignment]
