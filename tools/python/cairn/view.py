"""One state of a frame as NumPy sees it: shape, type, and boxes of items."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from . import _engine, options
from .errors import FailedPrecondition, InvalidArgument

# Number of items of a plain frame that are read at once if only some of them are wanted.
_PLAIN_PIECE = 1 << 16


def bytes_of(items: np.ndarray) -> np.ndarray:
    """Returns the memory of a contiguous array as bytes, also if NumPy makes no buffer of its type."""
    return items.reshape(-1).view(np.uint8)


def is_masked(items: Any) -> bool:
    """Returns True for a masked array of NumPy that hides items."""
    module = sys.modules.get("numpy.ma")  # there are none before it is imported
    return module is not None and isinstance(items, module.MaskedArray) and _hides(items.mask)


def _hides(mask: np.ndarray) -> bool:
    names = np.asarray(mask).dtype.names
    return any(_hides(mask[name]) for name in names) if names else bool(np.any(mask))


def check_unmasked(items: Any) -> None:
    """Refuses a masked array that hides items, since a frame would show them."""
    if is_masked(items):
        raise InvalidArgument("a masked array hides items: fill them, as by items.filled(0)")


class View:
    """Reads one state of a frame for `Snapshot`, `Frame` and `Writer`. It is immutable."""

    __slots__ = ("engine", "dtype", "shape", "chunks", "blocks", "is_array", "typesize", "where", "__weakref__")

    def __init__(self, engine: _engine.Snapshot, dtype: Optional[np.dtype], path: Optional[str] = None):
        self.engine = engine
        self.where = path or "frame in memory"  # the beginning of messages
        array = engine.array()
        self.is_array = array is not None
        if array is not None:
            shape, chunks, blocks, name, typesize = array
            self.shape = tuple(shape)
            self.chunks = tuple(max(extent, 1) for extent in chunks)
            self.blocks = tuple(blocks)
            if dtype is None:
                dtype = options.parse_dtype(name, typesize)
            else:
                options.check_said_dtype(name, dtype)
            self.dtype = dtype
        else:
            info = engine.info()
            typesize = info["typesize"]
            self.dtype = dtype or options.raw_dtype(typesize)
            # A type given by the user may have another size than the frame's items: see read_at.
            self.shape = (info["nitems"] * typesize // self.dtype.itemsize,)
            self.chunks = ((info["chunksize"] or 0) // self.dtype.itemsize or _PLAIN_PIECE,)
            self.blocks = ((info["blocksize"] or 0) // self.dtype.itemsize or self.chunks[0],)
        self.typesize = typesize
        if self.dtype.itemsize != typesize and (self.is_array or typesize != 1):
            raise InvalidArgument(
                f"{self.where}: items of {typesize} bytes are not {self.dtype}: give no dtype, or one of that size"
            )

    def drop(self) -> None:
        """Releases the engine's snapshot. Reading fails from then on."""
        with contextlib.suppress(AttributeError):
            del self.engine

    def __getattr__(self, name: str) -> Any:
        if name == "engine":
            raise FailedPrecondition(f"{self.where}: the writer is closed")
        raise AttributeError(name)

    def room(self, shape: Sequence[int], dtype: Optional[np.dtype] = None) -> np.ndarray:
        """Returns memory for items of that shape. Raises DataLoss if a damaged shape asks for too much."""
        try:
            return np.empty(shape, self.dtype if dtype is None else dtype)
        except (MemoryError, ValueError):
            if self.is_array:
                none = [0] * len(self.shape)
                self.engine.read_box(none, none, np.empty(0, np.uint8))
            raise

    def read(self, start: Sequence[int], out: np.ndarray) -> None:
        """Reads the box that begins at `start` and has the shape of `out`."""
        if self.is_array:
            self.engine.read_box(list(start), list(out.shape), bytes_of(out))
        else:
            self.engine.read_bytes(start[0] * self.dtype.itemsize, bytes_of(out))

    def read_fields(self, names: Sequence[str]) -> list[np.ndarray]:
        """Reads fields of all items of the only dimension, each into an array of its own."""
        assert self.dtype.fields is not None
        columns = []
        parts = []
        for name in names:
            dtype, offset = self.dtype.fields[name][:2]
            columns.append(self.room(self.shape, dtype))
            parts.append((offset, dtype.itemsize, bytes_of(columns[-1])))
        self.engine.read_fields(parts)
        return columns

    def read_at(self, numbers: np.ndarray, out: np.ndarray) -> None:
        """Reads single items by their numbers, which count in C order. They may be unsorted and repeated."""
        itemsize = self.dtype.itemsize
        if itemsize != self.typesize:  # items of single bytes
            numbers = (numbers[:, None] * itemsize + np.arange(itemsize)).reshape(-1)
        self.engine.read_items_at(numbers, bytes_of(out))
