"""The part of `Snapshot`, `Frame` and `Writer` that reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np

from . import indexing, options
from .arguments import members_raise_ours
from .errors import InvalidArgument, InvalidType
from .info import CodedColumn, Info, Report
from .keys import names_of
from .metadata import Edit, Meta, RawMeta, RawVlMeta, VlMeta
from .opened import Immutable
from .picture import as_html
from .view import View


# Bytes that an iterator holds in memory, unless a single row is larger.
_ROWS_NBYTES = 32 << 20


def _rows_at_once(view: View) -> int:
    """The number of rows that are read together: those of a chunk, or of some of its blocks."""
    row_nbytes = math.prod(view.shape[1:]) * view.dtype.itemsize
    count = min(max(_ROWS_NBYTES // max(row_nbytes, 1), 1), view.chunks[0])
    if view.blocks[0] <= count < view.chunks[0]:
        count -= count % view.blocks[0]
    return count


def _field_at(dtype: np.dtype, offset: int) -> str:
    """The name of the field that has the byte at an offset, or "" if there is none."""
    for name, (field, begin, *_) in (dtype.fields or {}).items():
        if begin <= offset < begin + field.itemsize:
            return name
    return ""


@members_raise_ours
class Readable:
    """Reads like a NumPy array: `f[10:20]`, `f[::7]`, `f[-1]`, `f[[3, 1]]`, `f[mask]`, `f[2, :, 5]`.

    Reading gives a copy in memory. Only the blocks that hold the items are decompressed.
    """

    __slots__ = ()

    def _view(self) -> View:
        raise NotImplementedError

    def _edit(self) -> Edit:
        return None

    @property
    def _where(self) -> str:
        """The beginning of messages."""
        return self._view().where

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of items along each dimension. A plain frame has one dimension."""
        return self._view().shape

    @property
    def dtype(self) -> np.dtype:
        """The type of an item."""
        return self._view().dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of items."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """The size of all items in bytes, decoded."""
        return self.size * self.dtype.itemsize

    @property
    def is_array(self) -> bool:
        """True if the frame is an n-dimensional array, which python-blosc2 calls an NDArray."""
        return self._view().is_array

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk, in items."""
        return self._view().chunks

    @property
    def blocks(self) -> tuple[int, ...]:
        """The shape of a block in items. A block is the smallest piece that is decompressed."""
        return self._view().blocks

    @property
    def info(self) -> Info:
        """The sizes, the codec and the state of the frame."""
        return Info._of(self._view().engine.info())

    @property
    def generation(self) -> int:
        """The number of this state. It grows with each commit."""
        return int(self._view().engine.info()["generation"])

    @property
    def meta(self) -> Meta:
        """The metalayers as Python values. `meta.raw` has them as bytes."""
        return Meta(RawMeta(self._view, self._edit(), self._where))

    @property
    def vlmeta(self) -> VlMeta:
        """The vlmetalayers as Python values, which python-blosc2 reads. `vlmeta.raw` has them as bytes."""
        return VlMeta(RawVlMeta(self._view, self._edit(), self._where))

    @property
    def attrs(self) -> VlMeta:
        """The vlmetalayers, as `vlmeta` has them."""
        return self.vlmeta

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise InvalidType(f"{self._where}: an array without dimensions has no length")
        return shape[0]

    def __getitem__(self, key: Any) -> Any:
        view = self._view()
        if names_of(key, view.dtype):
            return indexing.read_fields(view, key)
        return indexing.read(view, key)

    def __iter__(self) -> Iterator[Any]:
        view = self._view()
        if not view.shape:
            raise InvalidType(f"{view.where}: an array without dimensions has no items")
        count = _rows_at_once(view)
        for begin in range(0, view.shape[0], count):
            yield from indexing.read(view, slice(begin, begin + count))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise InvalidArgument("reading a frame makes a copy")
        items: np.ndarray = indexing.read(self._view(), ...)
        return items if dtype is None else items.astype(dtype, copy=False)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None
    ) -> Any:
        """Gives the items, decoded into new memory that the consumer owns: `torch.from_dlpack(f)`."""
        if copy is False:
            raise BufferError(f"{self._where}: reading a frame makes a copy")
        items = self.__array__()
        items = items.astype(items.dtype.newbyteorder("="), copy=False)
        said = {"stream": stream, "max_version": max_version, "dl_device": dl_device}
        return items.__dlpack__(**{name: value for name, value in said.items() if value is not None})

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the memory of the processor

    def chunk(self, nchunk: int) -> bytes:
        """Returns chunk number `nchunk` as it is stored, compressed."""
        return self._view().engine.get_chunk(nchunk)

    def coded_columns(self, nchunk: int = 0) -> list[CodedColumn]:
        """Returns what codes each column of chunk number `nchunk`, of a codec of numbers or "auto".

        There are none in chunks of other codecs, and in those that are stored as they are.
        """
        view = self._view()
        return [
            CodedColumn(_field_at(view.dtype, offset), offset, size, options.name_of(codec, options.CODECS), shuffled)
            for offset, size, codec, shuffled in view.engine.coded_columns(nchunk)
        ]

    def read_chunk(self, nchunk: int) -> bytes:
        """Returns the bytes of chunk number `nchunk`, decompressed."""
        return self._view().engine.read_chunk(nchunk)

    def verify(
        self, depth: str = "contents", progress: Optional[Callable[[int], object]] = None
    ) -> Report:
        """Checks the frame, and continues past damage.

        depth
            "structure" checks the sections of the frame, "fingerprints" every stored byte too, and
            "contents" also that every chunk decompresses.
        progress
            A function that is called with the number of chunks done. An exception that it raises
            stops the check.
        """
        return Report._of(self._view().engine, depth, progress)

    def content_hash(self) -> int:
        """Returns a number that is equal for frames with equal data and metadata in equal chunks."""
        return self._view().engine.content_hash()

    def _title(self) -> str:
        view = self._view()
        return f"shape={view.shape}, dtype={view.dtype}, chunks={view.chunks}"

    def __repr__(self) -> str:
        return f"<cairn.{type(self).__name__} {self._title()}>"

    def _repr_html_(self) -> str:
        view = self._view()
        return as_html(self._title(), self.info, view.engine)


class Snapshot(Immutable[View], Readable):
    """One state of a frame. It reads the same whatever is committed later."""

    __slots__ = ()
