"""Writers, which change frames."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Optional

import numpy as np

from . import _engine, options
from .arguments import members_raise_ours
from .edits import Edits, StagedViews
from .errors import Error, FailedPrecondition
from .opened import ClosingWriter
from .readable import Snapshot
from .view import View

_FrameWriter = _engine.Writer  # which the member `_engine` hides in the class


@members_raise_ours
class Writer(ClosingWriter, Edits):
    """Stages edits, which no reader sees, and commits them all at once.

    A writer reads as a `Frame` does, with the staged edits applied. As a context manager it commits
    the staged edits at the end of its block, and drops them after an exception.
    """

    __slots__ = ("_closed", "_committed", "_dtype", "_engine", "_kind", "_path", "_views")

    _engine: _FrameWriter

    def __init__(
        self,
        engine: _FrameWriter,
        dtype: Optional[np.dtype],
        committed: Callable[[], object],
        path: Optional[str],
        kind: Optional[tuple[np.dtype, int]] = None,
    ):
        self._engine = engine
        self._dtype = dtype
        self._committed = committed  # called after a commit, which the frame then shows
        self._path = path
        self._kind = kind  # the type and the number of dimensions that the caller saw
        self._closed = False
        self._views = StagedViews()

    def _view(self) -> View:
        view = super()._view()
        kind = self._kind
        if kind is not None and (view.dtype != kind[0] or len(view.shape) != kind[1]):
            raise FailedPrecondition(
                f"{self._where}: was replaced: its items are {view.dtype} in {len(view.shape)} dimensions now, "
                f"and the edit is of {kind[0]} in {kind[1]}; nothing was changed"
            )
        return view

    def commit(self, durable: bool = True) -> Snapshot:
        """Makes all staged edits visible, or none, and returns the new state.

        The commit survives a power cut if `durable` is true, and otherwise a killed process only.
        """
        committed = self._engine.commit(durable)
        self._committed()
        return Snapshot(View(committed, self._dtype, self._path))

    def checkpoint(self) -> None:
        """Commits, and makes the file a frame that any Blosc2 library reads. `close` does so if it is cheap."""
        self._engine.checkpoint()
        self._committed()

    def rollback(self) -> None:
        """Drops the staged edits."""
        self._engine.rollback()

    def reclaim(self, keep_generations: int = 0) -> int:
        """Gives unused space back to the file system, and returns the number of bytes.

        `keep_generations` is the number of older states whose space is kept.
        """
        freed, _, _ = self._engine.reclaim(options.integer(keep_generations, "keep_generations"))
        return freed

    def close(self) -> None:
        """Commits the staged edits. Others may then write the frame."""
        if self._closed:
            return
        self._engine.close()
        self._end()

    def _suspend(self) -> bool:
        """Ends as `close` does, except that the engine's writer can be resumed.

        Returns False for a sparse frame, whose writer stays as it is: resuming it would cost as
        much as opening it again.
        """
        self._engine.flush()
        is_sparse = self._engine.staged().info()["layout"] == 1
        if not is_sparse:
            self._engine.suspend()
            self._end()
        return not is_sparse

    def _end(self) -> None:
        self._closed = True
        self._views.drop()
        self._committed()

    def _drop(self) -> None:
        """Ends without a commit. A frame that is not there yet is then not made."""
        self._closed = True
        self._views.drop()
        del self._engine

    def _check_open(self) -> None:
        if self._closed:
            raise FailedPrecondition(f"{self._where}: the writer is closed")

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if kind is not None and not self._closed:
            self._engine.rollback()
        try:
            self.close()
        except Error:
            with contextlib.suppress(Error):
                self._engine.rollback()
                self.close()
            raise
