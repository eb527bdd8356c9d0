"""The edits that writers of frames and of members of a collection share."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _engine, indexing, options
from .arguments import members_raise_ours, refused
from .casting import check_held
from .errors import InvalidArgument, InvalidType
from .metadata import Edit, EngineWriter
from .readable import Readable
from .view import View, bytes_of, check_unmasked


class StagedViews:
    """The views of staged edits that exist. Threads may share it.

    A view that the traceback of an exception keeps, keeps writers out, so their end drops all.
    """

    __slots__ = ("_lock", "_views")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._views: weakref.WeakSet[View] = weakref.WeakSet()

    def add(self, view: View) -> View:
        """Takes note of a view, and returns it."""
        with self._lock:
            self._views.add(view)
        return view

    def drop(self) -> None:
        """Ends all views. Reading them fails from then on."""
        with self._lock:
            views = list(self._views)
        for view in views:
            view.drop()


@members_raise_ours
class Edits(Readable):
    """Stages edits, and reads with them applied."""

    __slots__ = ()

    _engine: EngineWriter
    _dtype: Optional[np.dtype]
    _path: Optional[str]
    _views: StagedViews

    def _view(self) -> View:
        return self._views.add(View(self._engine.staged(), self._dtype, self._path))

    @property
    def _where(self) -> str:
        return self._path or "frame in memory"

    def _edit(self) -> Edit:
        return lambda change: change(self._engine)

    def __setitem__(self, key: Any, value: Any) -> None:
        view = self._view()
        check_unmasked(value)
        if hasattr(value, "__array__") and not isinstance(value, np.generic):
            value = np.asarray(value)  # once, for others may compute or read it each time
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
            if (is_typed or loses) and not np.can_cast(given.dtype, view.dtype, "same_kind"):
                raise refused("items", items, view.dtype, TypeError())
            check_held("items", items if isinstance(items, (list, tuple)) else given, view.dtype)
            try:
                given = given.astype(view.dtype) if is_typed or loses else np.asarray(items, view.dtype)
            except (TypeError, ValueError) as error:
                raise refused("items", items, view.dtype, error) from error
    if view.is_array and view.shape:
        other = view.shape[:axis] + view.shape[axis + 1 :]
        if given.shape == other:
            given = np.expand_dims(given, axis)
        elif given.ndim != len(view.shape) or given.shape[:axis] + given.shape[axis + 1 :] != other:
            raise InvalidArgument(f"shape {given.shape} does not append to {view.shape} along axis {axis}")
    return np.ascontiguousarray(given)
