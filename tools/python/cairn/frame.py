"""Frames: reading, changing and following them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _engine, options
from .arguments import members_raise_ours
from .errors import InvalidType, ReadOnly
from .follow import Follower
from .info import Generation
from .metadata import Edit
from .opened import Opened
from .paths import Path, files_of, shown_path, text_of
from .readable import Readable, Snapshot
from .view import View
from .writer import Writer


@members_raise_ours
class Frame(Opened[View], Readable):
    """A frame: a file, a directory, or bytes in memory.

    A frame shows the state that it saw last. `refresh` looks for a newer one. A frame sees its own
    commits at once. Threads may share it.
    """

    __slots__ = ("_dtype", "_kept", "_mode", "_options", "_turn", "_wait", "__weakref__")

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
        super().__init__(engine, path, view)
        self._mode = mode
        self._dtype = dtype
        self._options = opened_with
        self._wait = options.milliseconds(opened_with["wait"])  # for another writer
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
        """Makes a single edit and commits it. The threads that share this frame take turns."""
        with self._turn:
            kept, self._kept = self._kept, None
            if kept is None or self._state is None:
                writer = self.writer()
            else:
                kept.resume(self._wait)
                writer = self._writer_of(kept)
            with writer:
                edit(writer)
                if writer._suspend():
                    with self._lock:
                        self._kept = writer._engine if self._state is not None else None

    @property
    def path(self) -> Optional[str]:
        """The path of the frame. It is None in memory."""
        return self._path

    @property
    def mode(self) -> str:
        """"r", or "r+" if the frame can be changed."""
        return self._mode

    def snapshot(self) -> Snapshot:
        """Returns the state that is shown now, which stays as it is."""
        return Snapshot(self._view())

    def refresh(self, *, wait: float = 0.0) -> bool:
        """Shows the newest commit, and returns True if there was a newer one.

        `wait` is the number of seconds to wait for one. Signals are handled meanwhile.
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
        self, *, wait: Optional[float] = None, keep_generations: int = 0, max_file_size: int = 0
    ) -> Writer:
        """Opens the writer of the frame. A frame has one writer at a time, over all processes.

        Use it as a context manager, so that many edits become one commit.

        wait
            The number of seconds to wait for another writer. After it, the call raises
            `Unavailable`. Signals are handled meanwhile. The default is the `wait` that the frame
            was opened with.
        keep_generations
            The number of older states that stay readable; see `history`.
        max_file_size
            The maximum size of the file in bytes. 0 means no limit.
        """
        self._view()
        if self._mode == "r":
            raise self._read_only()
        self._kept = None
        engine = self._engine.open_writer(
            self._wait if wait is None else options.milliseconds(wait),
            options.integer(keep_generations, "keep_generations"),
            options.integer(max_file_size, "max_file_size", 0, 2**63 - 1),
        )
        return self._writer_of(engine)

    def _writer_of(self, engine: _engine.Writer) -> Writer:
        shown = self._view()
        return Writer(engine, self._dtype, self._go_on, self._path, (shown.dtype, len(shown.shape)))

    def append(self, items: Any, axis: int = 0) -> None:
        """Adds items at the end, or slices along `axis` of an array, and commits durably.

        `items` is what NumPy makes an array of. Use a `writer` for many appends.
        """
        self._change(lambda writer: writer.append(items, axis))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._change(lambda writer: writer.__setitem__(key, value))

    def resize(self, shape: Union[int, Sequence[int]]) -> None:
        """Grows or shrinks an array along any axes, and commits. New items are zeros.

        `shape` is the number of items along each dimension.
        """
        self._change(lambda writer: writer.resize(shape))

    @property
    def history(self) -> list[Generation]:
        """The states that `cairn.open(path, generation=...)` can open. The oldest comes first."""
        self._view()
        return [Generation(*one) for one in self._engine.history(None, 2**63 - 1)]

    def follow(
        self, start: Optional[int] = None, *, poll: float = 0.05, timeout: Optional[float] = None
    ) -> Follower:
        """Iterates over the items that are appended: `for items in f.follow()`.

        `async for` does so beside other tasks. Each commit is seen at once.

        start
            The number of the first item. By default, only items that are appended from now on are
            given.
        poll
            The number of seconds after which a signal is handled.
        timeout
            The iterator ends when nothing was appended for this many seconds. None means never.
        """
        return Follower(self, start, poll, timeout)

    def compact(
        self, *, wait: Optional[float] = None, progress: Optional[Callable[[int], object]] = None
    ) -> tuple[int, int]:
        """Writes the frame again without unused bytes, and returns its sizes before and after in bytes.

        wait
            The number of seconds to wait for another writer. After it, the call raises
            `Unavailable`. The default is the `wait` that the frame was opened with.
        progress
            A function that is called with the number of chunks done. An exception that it raises
            stops the call, and the frame is unchanged.
        """
        self._view()
        if self._mode == "r":
            raise self._read_only()
        self._kept = None
        sizes: tuple[int, int] = self._engine.compact(
            self._wait if wait is None else options.milliseconds(wait), progress
        )
        self._go_on()
        return sizes

    def backup(
        self,
        path: Path,
        *,
        overwrite: bool = False,
        progress: Optional[Callable[[int], object]] = None,
    ) -> None:
        """Copies the newest state to another path. A writer may be open meanwhile.

        path
            The path of the copy, as `cairn.open` takes it.
        overwrite
            Replaces a frame of that path. Otherwise one that exists raises `AlreadyExists`.
        progress
            A function that is called with the number of chunks done. An exception that it raises
            stops the copy.
        """
        self._view()
        name = text_of(path)
        self._engine.copy_to(name, overwrite, progress, files_of(name))

    def to_bytes(self) -> bytes:
        """Returns the newest state as the bytes of a contiguous frame, which any Blosc2 library reads."""
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
            return f"<cairn.Frame {None if self._path is None else shown_path(self._path)!r}, closed>"
        where = "in memory" if self._path is None else repr(shown_path(self._path))
        return f"<cairn.Frame {where}, mode {self._mode!r}, {self._title()}>"
