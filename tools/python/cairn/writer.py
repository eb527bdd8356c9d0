"""Writers, which change frames."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Optional, Union

import numpy as np

from . import _engine, indexing, options
from .arguments import members_raise_ours, refused
from .errors import Error, FailedPrecondition, InvalidArgument, InvalidType
from .metadata import Edit
from .opened import ClosingWriter
from .readable import Readable, Snapshot
from .view import View, bytes_of, check_unmasked


@members_raise_ours
class Writer(ClosingWriter, Readable):
    """Stages edits, which no reader sees, and commits them all at once.

    A writer reads as a `Frame` does, with the staged edits applied. As a context manager it commits
    the staged edits at the end of its block, and drops them after an exception.
    """

    __slots__ = ("_closed", "_committed", "_dtype", "_engine", "_lock", "_path", "_views")

    def __init__(
        self,
        engine: _engine.Writer,
        dtype: Optional[np.dtype],
        committed: Callable[[], object],
        path: Optional[str],
    ):
        self._engine = engine
        self._dtype = dtype
        self._committed = committed  # called after a commit, which the frame then shows
        self._path = path
        self._closed = False
        self._lock = threading.Lock()  # of `_views`
        self._views: weakref.WeakSet[View] = weakref.WeakSet()

    def _view(self) -> View:
        view = View(self._engine.staged(), self._dtype, self._path)
        with self._lock:
            self._views.add(view)
        return view

    @property
    def _where(self) -> str:
        return self._path or "frame in memory"

    def _edit(self) -> Edit:
        return lambda change: change(self._engine)

    def __setitem__(self, key: Any, value: Any) -> None:
        view = self._view()
        if isinstance(value, Readable):
            value = np.asarray(value)
        check_unmasked(value)
        for start, items in indexing.write(view, key, value):
            raw = bytes_of(np.ascontiguousarray(items))
            if view.is_array:
                self._engine.write_box(start, list(items.shape), raw)
            else:
                typesize = view.engine.info()["typesize"]
                self._engine.write_items(start[0] * view.dtype.itemsize // typesize, raw)

    def append(self, items: Any, axis: int = 0) -> None:
        """Adds items at the end, or slices along `axis` of an array.

        `items` is what NumPy makes an array of. A plain frame also takes bytes, and items of any
        type of the right size if its type is not known.
        """
        view = self._view()
        if view.is_array and -len(view.shape) <= axis < 0:
            axis += len(view.shape)
        items = _items_for(view, items, axis)
        if not view.is_array:
            self._engine.append(bytes_of(items))
        elif items.size:
            self._engine.append_slices(axis, bytes_of(items))
        elif items.ndim and items.shape[axis]:  # slices without items, which no bytes tell of
            shape = list(view.shape)
            shape[axis] += items.shape[axis]
            self._engine.resize(shape)

    def append_special(self, value: str, nitems: int) -> None:
        """Adds items that take no space to a plain frame.

        `value` is "zeros", "nan" or "uninit", and `nitems` the number of items.
        """
        number = options.number_of(value, options.SPECIAL_VALUES, "special value")
        self._engine.append_special(number, nitems, b"")

    def resize(self, shape: Union[int, Sequence[int]]) -> None:
        """Grows or shrinks an array along any axes. New items are zeros.

        `shape` is the number of items along each dimension.
        """
        self._engine.resize(options.extents(shape))

    def append_chunk(self, chunk: bytes) -> None:
        """Adds one compressed `chunk` to a plain frame, and stores its bytes as they are."""
        self._engine.append_chunk(chunk)

    def insert_chunk(self, nchunk: int, items: Any) -> None:
        """Makes one chunk of `items` in a plain frame, before chunk number `nchunk`."""
        self._engine.insert_chunk(nchunk, bytes_of(_items_for(self._view(), items)))

    def update_chunk(self, nchunk: int, items: Any) -> None:
        """Replaces chunk number `nchunk` by `items`.

        The items of an array's chunk are in the order of its blocks.
        """
        self._engine.update_chunk(nchunk, bytes_of(_items_for(self._view(), items)))

    def delete_chunks(self, first: int, count: int = 1) -> None:
        """Deletes `count` chunks of a plain frame from number `first` on. Later chunks move down."""
        self._engine.delete_chunks(first, count)

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
        self._drop_views()
        self._committed()

    def _drop_views(self) -> None:
        # A view of staged edits, which the traceback of an exception may keep, keeps writers out.
        with self._lock:
            views = list(self._views)
        for view in views:
            view.drop()

    def _drop(self) -> None:
        """Ends without a commit. A frame that is not there yet is then not made."""
        self._closed = True
        self._drop_views()
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


def _items_for(view: View, items: Any, axis: int = 0) -> np.ndarray:
    """Items as the frame takes them: of its type, contiguous, complete slices of an array."""
    if not view.is_array and isinstance(items, (bytes, bytearray, memoryview)):
        return np.frombuffer(items, np.uint8)
    check_unmasked(items)
    given = np.asarray(items)
    if given.dtype != view.dtype:
        unknown = view.dtype.kind == "V" and view.dtype.names is None
        if unknown and given.dtype.itemsize == view.dtype.itemsize and not given.dtype.hasobject:
            given = np.ascontiguousarray(given).view(view.dtype)
        elif unknown:
            raise InvalidType(
                f"{given.dtype} does not fit items of {view.dtype.itemsize} bytes of no known type: "
                "open the frame with its dtype"
            )
        else:
            # Integers that Python made, of no type of their own, become those of the frame that
            # hold them; NumPy refuses others.
            is_typed = isinstance(items, (np.ndarray, np.generic, Readable))
            loses = given.dtype.kind in "fc" and view.dtype.kind in "biuf" and given.size
            try:
                if is_typed or loses:
                    given = given.astype(view.dtype, casting="same_kind")
                else:
                    given = np.asarray(items, view.dtype)
            except (TypeError, ValueError) as error:
                raise refused("items", items, view.dtype, error) from error
    if view.is_array and view.shape:
        other = view.shape[:axis] + view.shape[axis + 1 :]
        if given.shape == other:
            given = np.expand_dims(given, axis)
        elif given.ndim != len(view.shape) or given.shape[:axis] + given.shape[axis + 1 :] != other:
            raise InvalidArgument(f"shape {given.shape} does not append to {view.shape} along axis {axis}")
    return np.ascontiguousarray(given)
