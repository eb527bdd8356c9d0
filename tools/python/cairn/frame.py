"""Frames: reading, changing and following them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from . import _engine, options
from .arguments import members_raise_ours
from .errors import InvalidType, ReadOnly
from .follow import Follower
from .info import Generation
from .metadata import Edit
from .opened import Opened
from .paths import Path, files_of, text_of
from .readable import Readable, Snapshot
from .view import View
from .writer import Writer


@members_raise_ours
class Frame(Opened[View], Readable):
    """A frame: a file, a directory, or bytes in memory.

    It shows the state that it has seen last; `refresh` looks for a newer one, and its own commits
    it sees at once. Threads may share it.
    """

    __slots__ = ("_dtype", "_kept", "_mode", "_options", "_turn", "__weakref__")

    _kind = "frame"

    def __init__(
        self,
        engine: _engine.Frame,
        path: Optional[str],
        mode: str,
        dtype: Optional[np.dtype],
        opened_with: dict[str, Any],
    ):
        view = View(engine.snapshot(), dtype, path)
        array = None if dtype is None else view.engine.array()
        if array is not None:
            options.check_said_dtype(array[3], view.dtype)
        super().__init__(engine, path, view)
        self._mode = mode
        self._dtype = dtype
        self._options = opened_with
        # The writer of the last single edit, suspended: resuming it is cheaper than opening one.
        self._kept: Optional[_engine.Writer] = None
        self._turn = threading.RLock()  # of single edits

    def _view(self) -> View:
        state = self._state  # as `_shown`, but without another call: every read begins here
        if state is None:
            return self._shown()
        return state

    def _seen(self, engine: _engine.Snapshot) -> View:
        return View(engine, self._dtype, self._path)

    def _read_only(self) -> ReadOnly:
        how = "write its bytes into a file" if self._path is None else "open it with mode 'r+'"
        return ReadOnly(f"{self._where}: opened for reading; {how}")

    def _edit(self) -> Edit:
        if self._mode == "r":
            return None

        return lambda change: self._change(lambda writer: change(writer._engine))

    def _change(self, edit: Callable[[Writer], None]) -> None:
        """Makes a single edit, and commits it; the threads that share this frame take turns."""
        with self._turn:
            kept, self._kept = self._kept, None
            if kept is None or self._state is None:
                writer = self.writer()
            else:
                kept.resume()
                writer = Writer(kept, self._dtype, self._go_on, self._path)
            with writer:
                edit(writer)
                if writer._suspend():
                    with self._lock:
                        self._kept = writer._engine if self._state is not None else None

    @property
    def path(self) -> Optional[str]:
        """Where the frame is; None in memory."""
        return self._path

    @property
    def mode(self) -> str:
        """"r", or "r+" where the frame can be changed."""
        return self._mode

    def snapshot(self) -> Snapshot:
        """The state that is shown now; it stays when the frame goes on."""
        return Snapshot(self._view())

    def refresh(self, *, wait: float = 0.0) -> bool:
        """Goes on to the newest commit; returns whether there was a newer one.

        Waits up to `wait` seconds for one; a signal is handled after that.
        """
        before = self._view()
        if wait > 0:
            self._engine.wait_for_commit(before.engine, options.milliseconds(wait))
        else:
            self._engine.refresh()
        found = self._go_on()
        if found:
            self._kept = None  # it would keep what others have replaced since
        return found

    def writer(
        self, *, wait: float = 0.0, keep_generations: int = 0, max_file_size: int = 0
    ) -> Writer:
        """Opens the one writer of the frame, over all processes; use it as a context manager.

        Waits `wait` seconds for another writer, then raises `Unavailable`; a signal is handled
        after that. `keep_generations` older states stay readable, see `history`. `max_file_size`
        bounds the file; 0 means no limit.
        """
        self._view()
        if self._mode == "r":
            raise self._read_only()
        self._kept = None
        engine = self._engine.open_writer(
            options.milliseconds(wait),
            options.integer(keep_generations, "keep_generations"),
            options.integer(max_file_size, "max_file_size", 0, 2**63 - 1),
        )
        return Writer(engine, self._dtype, self._go_on, self._path)

    def append(self, items: Any, axis: int = 0) -> None:
        """Adds items, or slices along an axis, and commits. Use a `writer` for many of them."""
        self._change(lambda writer: writer.append(items, axis))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._change(lambda writer: writer.__setitem__(key, value))

    def resize(self, *shape: int) -> None:
        """Grows or shrinks an array along any axes, and commits."""
        self._change(lambda writer: writer.resize(*shape))

    @property
    def history(self) -> list[Generation]:
        """The states that `cairn.open(path, generation=...)` can open, the oldest first."""
        self._view()
        return [Generation(*one) for one in self._engine.history(None, 2**63 - 1)]

    def follow(
        self, start: Optional[int] = None, *, poll: float = 0.05, timeout: Optional[float] = None
    ) -> Follower:
        """What is appended from now on, or from item `start`: `for items in f.follow()`.

        Ends when there was nothing new for `timeout` seconds. Each commit is seen at once, and a
        signal after `poll` seconds. Also an async iterator: `async for items in f.follow()`.
        """
        return Follower(self, start, poll, timeout)

    def compact(
        self, *, wait: float = 0.0, progress: Optional[Callable[[int], object]] = None
    ) -> tuple[int, int]:
        """Writes the frame anew without unused bytes; returns its sizes before and after."""
        self._view()
        if self._mode == "r":
            raise self._read_only()
        self._kept = None
        sizes: tuple[int, int] = self._engine.compact(options.milliseconds(wait), progress)
        self._go_on()
        return sizes

    def backup(
        self,
        path: Path,
        *,
        overwrite: bool = False,
        progress: Optional[Callable[[int], object]] = None,
    ) -> None:
        """Copies the newest state to another path, also while it is being written."""
        self._view()
        name = text_of(path)
        self._engine.copy_to(name, overwrite, progress, files_of(name))

    def to_bytes(self) -> bytes:
        """The newest state as one contiguous frame, which any Blosc2 reads."""
        self._view()
        content: bytes = self._engine.to_bytes()
        return content

    def close(self) -> None:
        """Closes the frame. Snapshots and writers stay open, and keep the file open."""
        super().close()
        self._kept = None

    def __reduce__(self) -> Any:
        if self._path is None:
            raise InvalidType("frame in memory: it cannot be pickled; to_bytes gives its bytes")
        from .opening import reopened

        return reopened, (self._path, self._mode, self._dtype, self._options)

    def __repr__(self) -> str:
        if self._state is None:
            return f"<cairn.Frame {self._path!r}, closed>"
        where = "in memory" if self._path is None else repr(self._path)
        return f"<cairn.Frame {where}, mode {self._mode!r}, {self._title()}>"
