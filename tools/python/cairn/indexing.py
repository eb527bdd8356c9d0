"""NumPy's indexing over boxes: which items a key selects, and reading and writing them.

A key becomes one selection for each axis, a range or sorted item numbers. Their product is read
into an array no larger than what the key selects, and NumPy itself applies the rest of the key to
that. Only keys of several index arrays are read point by point, chunk after chunk.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple, Union

import numpy as np

from .view import View

Axis = Union[range, np.ndarray]  # ascending, without repeats


class Selection(NamedTuple):
    """What a key selects."""

    axes: list[Axis]
    rest: tuple[Any, ...]  # the key that is left to apply to the product of the axes


def expand(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """The key with one entry for each axis: an int, a slice or an array of ints; and Nones."""
    entries: list[Any] = []
    for entry in key if isinstance(key, tuple) else (key,):
        if isinstance(entry, (list, range, tuple)):
            entry = np.asarray(entry, dtype=None if len(entry) else np.intp)
        if isinstance(entry, np.ndarray) and entry.dtype == bool:
            if entry.ndim == 0:
                raise IndexError("a single bool is no index")
            first = sum(1 for one in entries if one is not None and one is not Ellipsis)
            if Ellipsis not in _identities(entries) and entry.shape != shape[first : first + entry.ndim]:
                raise IndexError(f"a mask of shape {entry.shape} does not fit axes of {shape}")
            entries.extend(entry.nonzero())
        elif isinstance(entry, np.ndarray):
            if entry.dtype.kind not in "iu":
                raise IndexError(f"an array of {entry.dtype} is no index")
            entries.append(entry if entry.ndim else int(entry))
        elif entry is None or entry is Ellipsis or isinstance(entry, slice):
            entries.append(entry)
        elif isinstance(entry, (bool, np.bool_)):
            raise IndexError("a single bool is no index")
        else:
            try:
                entries.append(operator.index(entry))
            except TypeError:
                raise IndexError(f"{entry!r} is no index") from None
    given = sum(1 for one in entries if one is not None and one is not Ellipsis)
    if given > len(shape):
        raise IndexError(f"{given} indices for {len(shape)} dimensions")
    missing = [slice(None)] * (len(shape) - given)
    places = [place for place, one in enumerate(entries) if one is Ellipsis]
    if len(places) > 1:
        raise IndexError("more than one ellipsis")
    place = places[0] if places else len(entries)
    entries[place : place + 1] = missing
    return entries


def _identities(entries: list[Any]) -> list[Any]:
    return [one for one in entries if one is Ellipsis]


def _from_start(numbers: Any, extent: int, axis: int) -> Any:
    """Item numbers without negative ones."""
    low, high = np.min(numbers, initial=0), np.max(numbers, initial=-1)
    if low < -extent or high >= extent:
        wrong = low if low < -extent else high
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} of {extent} items")
    return np.where(numbers < 0, numbers + extent, numbers).astype(np.int64)


def select(key: Any, shape: tuple[int, ...]) -> Selection:
    """The selection of a key."""
    axes: list[Axis] = []
    rest: list[Any] = []
    for entry in expand(key, shape):
        if entry is None:
            rest.append(None)
            continue
        extent = shape[len(axes)]
        if isinstance(entry, int):
            if not -extent <= entry < extent:
                raise IndexError(
                    f"index {entry} is out of bounds for axis {len(axes)} of {extent} items"
                )
            number = entry + extent if entry < 0 else entry
            axes.append(range(number, number + 1))
            rest.append(0)
        elif isinstance(entry, slice):
            numbers = range(*entry.indices(extent))
            axes.append(numbers if numbers.step > 0 else numbers[::-1])
            rest.append(slice(None, None, 1 if numbers.step > 0 else -1))
        else:
            unique, inverse = np.unique(_from_start(entry, extent, len(axes)), return_inverse=True)
            axes.append(unique)
            rest.append(inverse.reshape(entry.shape))
    return Selection(axes, tuple(rest))


def _is_dense(axis: Axis) -> bool:
    return isinstance(axis, range) and (axis.step == 1 or len(axis) <= 1)


class _Piece(NamedTuple):
    """The part of an axis that lies in one chunk."""

    begin: int  # of the items
    end: int
    target: slice  # where they go in the product
    picked: Union[slice, np.ndarray]  # of the items


def _pieces(axis: Axis, extent: int) -> Iterator[_Piece]:
    numbers = np.asarray(axis, dtype=np.int64)
    borders = np.flatnonzero(np.diff(numbers // extent)) + 1
    for begin, end in itertools.pairwise([0, *borders.tolist(), len(numbers)]):
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
    """The items of the product of the axes."""
    out = np.empty(tuple(len(axis) for axis in axes), view.dtype)
    if out.size == 0:
        return out
    if all(_is_dense(axis) for axis in axes):
        view.read([int(axis[0]) for axis in axes], out)
    elif not view.is_array:
        view.read_at(np.asarray(axes[0], dtype=np.int64), out)
    else:
        for box in _boxes(view, axes):
            items = np.empty(tuple(piece.end - piece.begin for piece in box), view.dtype)
            view.read([piece.begin for piece in box], items)
            out[tuple(piece.target for piece in box)] = items[_picked(box)]
    return out


def read(view: View, key: Any) -> Any:
    """What NumPy gives for array[key]."""
    entries = expand(key, view.shape)
    if sum(isinstance(entry, np.ndarray) for entry in entries) > 1:
        return _read_points(view, entries)
    axes, rest = select(tuple(entries), view.shape)
    if Ellipsis in _identities(list(key) if isinstance(key, tuple) else [key]):
        rest = (*rest, ...)  # an array, also where no dimension is left
    return read_product(view, axes)[rest]


def _read_points(view: View, entries: list[Any]) -> np.ndarray:
    """Reads several index arrays, broadcast together: the points in each chunk at once."""
    is_index = [isinstance(entry, (int, np.ndarray)) for entry in entries]
    axes: list[Any] = []
    lengths: list[int] = []  # of the dimensions that are no points
    rest: list[Any] = []
    for entry in entries:
        if entry is None:
            lengths.append(1)
            continue
        axis = len(axes)
        if isinstance(entry, slice):
            selected = select((entry,), view.shape[axis : axis + 1])
            axes.append(selected.axes[0])
            rest.append(selected.rest[0])
            lengths.append(len(selected.axes[0]))
        else:
            axes.append(_from_start(np.asarray(entry), view.shape[axis], axis))
    pointed = [axis for axis, one in enumerate(axes) if isinstance(one, np.ndarray)]
    numbers = np.broadcast_arrays(*(axes[axis] for axis in pointed))
    shape = numbers[0].shape
    points = [one.reshape(-1) for one in numbers]
    out = np.empty(
        (len(points[0]), *(len(one) for one in axes if not isinstance(one, np.ndarray))), view.dtype
    )
    chunks = np.stack([one // view.chunks[axis] for one, axis in zip(points, pointed)])
    _, chunk_of = np.unique(chunks, axis=1, return_inverse=True)
    order = np.argsort(chunk_of, kind="stable")
    borders = np.flatnonzero(np.diff(chunk_of[order])) + 1
    for group in np.split(order, borders) if out.size else []:
        inverse = []
        for axis, one in zip(pointed, points):
            axes[axis], places = np.unique(one[group], return_inverse=True)
            inverse.append(places)
        product = np.moveaxis(read_product(view, axes), pointed, range(len(pointed)))
        out[group] = product[tuple(inverse)]
    out = out[(slice(None), *rest)].reshape(*shape, *lengths)
    # Indices side by side leave their dimensions where they are; others come first.
    first = is_index.index(True)
    count = sum(is_index)
    if all(is_index[first : first + count]):
        out = np.moveaxis(out, range(len(shape)), range(first, first + len(shape)))
    return out


def write(view: View, key: Any, value: Any) -> Iterator[tuple[list[int], np.ndarray]]:
    """The boxes, each with where it begins, that make array[key] = value."""
    axes, rest = select(key, view.shape)
    shape = tuple(len(axis) for axis in axes)
    if 0 in shape:
        return
    dense = all(_is_dense(axis) for axis in axes)
    if dense and isinstance(value, np.ndarray) and value.dtype == view.dtype and value.shape == shape:
        if not any(isinstance(entry, slice) and entry.step == -1 or entry is None for entry in rest):
            yield [int(axis[0]) for axis in axes], value
            return
    # Several index arrays select no more than their product, and the rest of it stays.
    covers = sum(isinstance(entry, np.ndarray) for entry in rest) <= 1
    product = np.empty(shape, view.dtype) if covers else read_product(view, axes)
    product[rest] = value
    if dense:
        yield [int(axis[0]) for axis in axes], product
        return
    for box in _boxes(view, axes):
        items = np.empty(tuple(piece.end - piece.begin for piece in box), view.dtype)
        begin = [piece.begin for piece in box]
        view.read(begin, items)
        items[_picked(box)] = product[tuple(piece.target for piece in box)]
        yield begin, items
