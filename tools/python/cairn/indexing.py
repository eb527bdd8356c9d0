"""NumPy's indexing over boxes: reading and writing the items that a key selects.

A key becomes one selection for each axis, a range or sorted item numbers. Their product is read
into an array no larger than what the key selects, and NumPy itself applies the rest of the key to
that. Only keys of several index arrays are read and written point by point, chunk after chunk.

Where few items of a chunk are selected, their numbers go to the engine, which decompresses each block
that holds one of them once, in whatever order the numbers are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from .arguments import refused
from .casting import check_held
from .errors import OutOfRange
from .keys import Axis, expand, from_start, has_ellipsis, select
from .view import View

# Reading one item by its number costs as much as reading this many of a box.
FEW = 8


def _all_of(axis: Axis) -> np.ndarray:
    if isinstance(axis, range):  # NumPy would take its items one after the other
        return np.arange(axis.start, axis.stop, axis.step, dtype=np.int64)
    return np.asarray(axis, np.int64)


def _is_dense(axis: Axis) -> bool:
    return isinstance(axis, range) and (axis.step == 1 or len(axis) <= 1)


class _Piece(NamedTuple):
    """The part of an axis that lies in one chunk."""

    begin: int  # number of the first item
    end: int
    target: slice  # where they go in the product
    picked: Union[slice, np.ndarray]  # the wanted ones of these items


def _pieces(axis: Axis, extent: int) -> Iterator[_Piece]:
    numbers = _all_of(axis)
    borders = np.flatnonzero(np.diff(numbers // extent)) + 1
    cuts = [0, *borders.tolist(), len(numbers)]
    for begin, end in zip(cuts, cuts[1:]):
        part = numbers[begin:end]
        first = int(part[0])
        picked: Union[slice, np.ndarray] = part - first
        if isinstance(axis, range):
            picked = slice(0, None, axis.step)
        yield _Piece(first, int(part[-1]) + 1, slice(begin, end), picked)


def _boxes(view: View, axes: list[Axis]) -> Iterator[tuple[_Piece, ...]]:
    pieces = [list(_pieces(axis, extent)) for axis, extent in zip(axes, view.chunks)]
    return itertools.product(*pieces)


def _picked(box: tuple[_Piece, ...]) -> tuple[Any, ...]:
    if all(isinstance(piece.picked, slice) for piece in box):
        return tuple(piece.picked for piece in box)
    return np.ix_(*(np.arange(piece.end - piece.begin)[piece.picked] for piece in box))


def read_product(view: View, axes: list[Axis]) -> np.ndarray:
    """Reads the items of the product of the axes."""
    out = view.room(tuple(len(axis) for axis in axes))
    if out.size == 0:
        return out
    if all(_is_dense(axis) for axis in axes):
        view.read([int(axis[0]) for axis in axes], out)
    elif not view.is_array and isinstance(axes[0], range) and axes[0].step < FEW:
        first, last = axes[0][0], axes[0][-1]
        items = view.room((last - first + 1,))
        view.read([first], items)
        out[:] = items[:: axes[0].step]
    elif not view.is_array:
        view.read_at(_all_of(axes[0]), out)
    else:
        for box in _boxes(view, axes):
            target = tuple(piece.target for piece in box)
            out[target] = _read_picked(view, box, out[target].shape)
    return out


def _read_picked(view: View, box: tuple[_Piece, ...], shape: tuple[int, ...]) -> np.ndarray:
    """Reads the items that the pieces pick, from all of their box or item by item."""
    extents = tuple(piece.end - piece.begin for piece in box)
    if _is_sparse(view, box, math.prod(shape)):
        picked = view.room(shape)
        numbers = [np.arange(piece.begin, piece.end)[piece.picked] for piece in box]
        view.read_at(_numbers_of(view, np.ix_(*numbers)), picked)
        return picked
    items = view.room(extents)
    view.read([piece.begin for piece in box], items)
    chosen: np.ndarray = items[_picked(box)]
    return chosen


def _is_sparse(view: View, box: tuple[_Piece, ...], count: int) -> bool:
    """Returns True if `count` items are better read by number than out of the box that holds them.

    That is so if they leave out a block, or are few.
    """
    if count * FEW < math.prod(piece.end - piece.begin for piece in box):
        return True
    return any(
        isinstance(piece.picked, slice)
        and piece.picked.step > block
        or isinstance(piece.picked, np.ndarray)
        and len(piece.picked) > 1
        and int(np.diff((piece.picked + piece.begin) % chunk // block).max()) > 1
        for piece, chunk, block in zip(box, view.chunks, view.blocks)
    )


def _numbers_of(view: View, places: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the numbers, in C order, of items at these places, which are broadcast together."""
    numbers: Any = 0
    for at, extent in zip(places, view.shape):
        numbers = numbers * extent + at
    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


def _read_line(view: View, entries: list[Any]) -> np.ndarray:
    """Reads items of the only axis in the order of an index array, without sorting."""
    numbers = next(entry for entry in entries if isinstance(entry, np.ndarray))
    out = view.room(numbers.shape)
    if out.size:
        view.read_at(from_start(numbers, view.shape[0], 0).reshape(-1), out)
    rest: list[Any] = []
    for entry in entries:
        if isinstance(entry, np.ndarray):
            rest.extend([slice(None)] * numbers.ndim)
        else:
            rest.append(entry)
    found: np.ndarray = out[tuple(rest)]
    return found


def _read_all(view: View, key: Union[str, list[str]]) -> np.ndarray:
    """Reads all items, and returns these fields of them."""
    items: np.ndarray = read(view, ...)[key]
    return items


def read_fields(view: View, key: Union[str, list[str]]) -> np.ndarray:
    """Returns array[key] for the name of a field, or for a list of names."""
    if len(view.shape) != 1 or view.dtype.itemsize != view.typesize:
        return _read_all(view, key)
    if isinstance(key, str):
        return view.read_fields([key])[0]
    # NumPy leaves the chosen fields where they are in an item. It takes time to put them there.
    chosen = np.empty(0, view.dtype)[key].dtype
    if 2 * sum(chosen[name].itemsize for name in key) > view.typesize:
        return _read_all(view, key)
    out = np.zeros(view.shape, chosen)
    for name, column in zip(key, view.read_fields(key)):
        out[name] = column
    return out


def _place_of(key: Any, shape: tuple[int, ...]) -> Optional[list[int]]:
    """Returns where the only item is that a key of ints selects, or nothing for all other keys."""
    numbers = key if type(key) is tuple else (key,)
    if len(numbers) != len(shape):
        return None
    place = []
    for number, extent in zip(numbers, shape):
        if type(number) is not int and not isinstance(number, np.integer):
            return None
        number = int(number)
        if not -extent <= number < extent:
            return None
        place.append(number + extent if number < 0 else number)
    return place


def read(view: View, key: Any) -> Any:
    """Returns array[key] as NumPy defines it."""
    place = _place_of(key, view.shape)
    if place:  # a short way for loops over items
        item = np.empty((1,) * len(place), view.dtype)
        view.read(place, item)
        return item[(0,) * len(place)]
    entries = expand(key, view.shape)
    if _counts_points(entries):
        return _Points(view, entries).read()
    if len(view.shape) == 1 and any(isinstance(entry, np.ndarray) for entry in entries):
        return _read_line(view, entries)
    axes, rest = select(tuple(entries), view.shape)
    if has_ellipsis(key if isinstance(key, tuple) else (key,)) and not has_ellipsis(rest):
        rest = (*rest, ...)  # an array, also where no dimension is left
    return read_product(view, axes)[rest]


def _counts_points(entries: list[Any]) -> bool:
    return sum(isinstance(entry, np.ndarray) for entry in entries) > 1


class _Part(NamedTuple):
    """The points that lie in one chunk, or a row of chunks, and the items of the slices there."""

    group: np.ndarray  # numbers of points
    begin: list[int]  # of the box that holds them
    extents: list[int]
    picked: tuple[Any, ...]  # of the box whose pointed axes come first
    target: tuple[Any, ...]  # of the points' items


class _Points:
    """Reads and writes the items of several index arrays, and of slices beside them, chunk by chunk."""

    def __init__(self, view: View, entries: list[Any]):
        self._view = view
        self._axes: list[Any] = []
        self._lengths: list[int] = []  # of the dimensions that are no points
        self._rest: list[Any] = []
        self._is_index = [isinstance(entry, (int, np.ndarray)) for entry in entries]
        self._is_ellipsis = [entry is Ellipsis for entry in entries]
        for entry in entries:
            axis = len(self._axes)
            if entry is None:
                self._lengths.append(1)
            elif entry is Ellipsis:
                pass
            elif isinstance(entry, slice):
                selected = select((entry,), view.shape[axis : axis + 1])
                self._axes.append(selected.axes[0])
                self._rest.append(selected.rest[0])
                self._lengths.append(len(selected.axes[0]))
            else:
                self._axes.append(from_start(np.asarray(entry), view.shape[axis], axis))
        self._pointed = [axis for axis, one in enumerate(self._axes) if isinstance(one, np.ndarray)]
        numbers = [self._axes[axis] for axis in self._pointed]
        try:
            numbers = list(np.broadcast_arrays(*numbers))
        except ValueError:
            shapes = " and ".join(str(one.shape) for one in numbers)
            raise OutOfRange(f"index arrays of {shapes} do not fit each other") from None
        self._shape = numbers[0].shape
        self._points = [one.reshape(-1) for one in numbers]
        sliced = [len(one) for one in self._axes if not isinstance(one, np.ndarray)]
        self._selected = (len(self._points[0]), *sliced)

    def read(self) -> np.ndarray:
        out = self._view.room(self._selected)
        if len(self._pointed) == len(self._axes) and out.size:
            self._view.read_at(_numbers_of(self._view, self._points), out)
        elif out.size:
            for part in self._parts():
                out[(part.group, *part.target)] = self._read_part(part)
        out = out[(slice(None), *self._rest)].reshape(*self._shape, *self._lengths)
        first, last = self._place()
        return np.moveaxis(out, range(len(self._shape)), range(first, last))

    def write(self, value: Any) -> Iterator[tuple[list[int], np.ndarray]]:
        """Iterates over boxes, with their begins, in which the points have these values."""
        first, last = self._place()
        shape = (*self._lengths[:first], *self._shape, *self._lengths[first:])
        values = self._view.room(shape)
        values[...] = _items_of(value, self._view.dtype)
        values = np.moveaxis(values, range(first, last), range(len(self._shape)))
        values = values.reshape(self._selected)[(slice(None), *self._rest)]
        for part in self._parts():
            items = self._read_box(part)
            self._first(items)[part.picked] = values[(part.group, *part.target)]
            yield part.begin, items

    def _place(self) -> tuple[int, int]:
        """Returns the dimensions of the points: in place if the index arrays are side by side, else first."""
        before = self._is_index.index(True)
        count = sum(self._is_index)
        are_together = all(self._is_index[before : before + count])
        first = before - sum(self._is_ellipsis[:before]) if are_together else 0
        return first, first + len(self._shape)

    def _first(self, items: np.ndarray) -> np.ndarray:
        return np.moveaxis(items, self._pointed, range(len(self._pointed)))

    def _read_box(self, part: _Part) -> np.ndarray:
        items = self._view.room(part.extents)
        self._view.read(part.begin, items)
        return items

    def _read_part(self, part: _Part) -> np.ndarray:
        """Reads the items. The points are the first dimension, and the slices follow."""
        sliced = [axis for axis in range(len(self._axes)) if axis not in self._pointed]
        places: list[Any] = [None] * len(self._axes)
        for axis, points in zip(self._pointed, self._points):
            places[axis] = points[part.group].reshape(-1, *[1] * len(sliced))
        for dimension, (axis, target) in enumerate(zip(sliced, part.target), 1):
            numbers = _all_of(self._axes[axis])[target]
            places[axis] = numbers.reshape(-1, *[1] * (len(sliced) - dimension))
        shape = np.broadcast_shapes(*(place.shape for place in places))
        # A point may be wanted many times, but the box has each item once.
        if math.prod(shape) >= math.prod(part.extents):
            picked: np.ndarray = self._first(self._read_box(part))[part.picked]
            return picked
        items = self._view.room(shape)
        self._view.read_at(_numbers_of(self._view, places), items)
        return items

    def _parts(self) -> Iterator[_Part]:
        """Iterates over the parts. The points of a chunk keep their order, since the last value wins."""
        if 0 in self._selected:
            return
        chunks = np.stack([p // self._view.chunks[axis] for p, axis in zip(self._points, self._pointed)])
        _, chunk_of = np.unique(chunks, axis=1, return_inverse=True)
        chunk_of = chunk_of.reshape(-1)
        order = np.argsort(chunk_of, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(chunk_of[order])) + 1):
            axes = list(self._axes)
            points = [one[group] for one in self._points]
            for axis, one in zip(self._pointed, points):
                axes[axis] = range(int(one.min()), int(one.max()) + 1)
            at = [one - axes[axis][0] for axis, one in zip(self._pointed, points)]
            for box in _boxes(self._view, axes):
                others = [piece for axis, piece in enumerate(box) if axis not in self._pointed]
                yield _Part(
                    group,
                    [piece.begin for piece in box],
                    [piece.end - piece.begin for piece in box],
                    (*at, *(piece.picked for piece in others)),
                    tuple(piece.target for piece in others),
                )


def _items_of(value: Any, dtype: np.dtype) -> np.ndarray:
    check_held("value", value, dtype)
    try:
        return np.asarray(value, dtype)
    except (TypeError, ValueError) as error:
        raise refused("value", value, dtype, error) from error


def write(view: View, key: Any, value: Any) -> Iterator[tuple[list[int], np.ndarray]]:
    """Iterates over the boxes, with their begins, that make array[key] = value.

    NumPy itself assigns the value to what is selected, so it takes and refuses what NumPy does.
    """
    entries = expand(key, view.shape)
    if _counts_points(entries):
        yield from _Points(view, entries).write(value)
        return
    axes, rest = select(tuple(entries), view.shape)
    shape = tuple(len(axis) for axis in axes)
    dense = all(_is_dense(axis) for axis in axes)
    if dense and isinstance(value, np.ndarray) and value.dtype == view.dtype and value.shape == shape:
        if not any(isinstance(entry, slice) and entry.step == -1 or entry is None for entry in rest):
            if value.size:
                yield [int(axis[0]) for axis in axes], value
            return
    check_held("value", value, view.dtype)
    product = view.room(shape)
    try:
        product[rest] = value
    except (TypeError, ValueError):
        _items_of(value, view.dtype)  # which says more, but of shapes
        raise
    if not product.size:
        return
    if dense:
        yield [int(axis[0]) for axis in axes], product
        return
    for box in _boxes(view, axes):
        items = view.room(tuple(piece.end - piece.begin for piece in box))
        begin = [piece.begin for piece in box]
        view.read(begin, items)
        items[_picked(box)] = product[tuple(piece.target for piece in box)]
        yield begin, items
