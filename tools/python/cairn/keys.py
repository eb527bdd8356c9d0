"""Keys of NumPy: the selection of a key is a range, or sorted item numbers, for each axis."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple, Union

import numpy as np

from .arguments import told
from .errors import NoSuchField, OutOfRange

Axis = Union[range, np.ndarray]  # ascending, without repeats

_EXPECTED = "index: expected ints, slices, lists of ints or masks, got"


class Selection(NamedTuple):
    """The items that a key selects."""

    axes: list[Axis]
    rest: tuple[Any, ...]  # the key that is left to apply to the product of the axes


def check_fields(names: Iterable[str], fields: Iterable[str]) -> None:
    """Refuses names that are not of these fields."""
    there = list(fields)
    for name in names:
        if name not in there:
            raise NoSuchField(f"no field {name!r}; there are {', '.join(there)}")


def list_of(names: Union[str, Iterable[str]], known: Iterable[str] = ()) -> list[str]:
    """Returns a list of names. A text is one name, or several with commas between unless it is `known`."""
    if not isinstance(names, str):
        return list(names)
    return [names] if names in known else [name.strip() for name in names.split(",")]


def names_of(key: Any, dtype: np.dtype) -> list[str]:
    """Returns the fields that a key names. Other keys name none."""
    names = [key] if isinstance(key, str) else key if isinstance(key, list) else []
    if not names or not all(isinstance(one, str) for one in names):
        return []
    if dtype.names is None:
        raise OutOfRange(f"index: items of {dtype} have no fields, got {told(key)}")
    check_fields(names, dtype.names)
    return names


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype == bool


def has_ellipsis(entries: Any) -> bool:
    return any(one is Ellipsis for one in entries)


def _entry(one: Any) -> Any:
    """Returns an entry of a key as an int, a slice, None, an ellipsis, or an array of ints or bools."""
    if one is None or one is Ellipsis or isinstance(one, slice):
        return one
    if isinstance(one, (list, range, tuple)) or hasattr(one, "__array__"):
        # For NumPy an empty list holds ints.
        is_nothing = isinstance(one, (list, range, tuple)) and not len(one)
        one = np.asarray(one, dtype=np.intp if is_nothing else None)
        if one.dtype.kind not in "iub":
            raise OutOfRange(f"{_EXPECTED} an array of {one.dtype}")
        if one.ndim:
            return one
        one = one[()]
    if isinstance(one, (bool, np.bool_)):
        raise OutOfRange(f"{_EXPECTED} a single bool")
    try:
        return operator.index(one)
    except TypeError:
        raise OutOfRange(f"{_EXPECTED} {told(one)}") from None


def expand(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """Returns the key with an int, a slice or an array of ints for each axis, and with its Nones.

    An ellipsis that stands for no axis stays: index arrays on both sides of it are not side by side.
    """
    entries = [_entry(one) for one in (key if isinstance(key, tuple) else (key,))]
    places = [place for place, one in enumerate(entries) if one is Ellipsis]
    if len(places) > 1:
        raise OutOfRange("more than one ellipsis")
    given = sum(
        one.ndim if _is_mask(one) else 1 for one in entries if one is not None and one is not Ellipsis
    )
    if given > len(shape):
        raise OutOfRange(f"{given} indices for {len(shape)} dimensions")
    place = places[0] if places else len(entries)
    if given < len(shape):
        entries[place : place + 1] = [slice(None)] * (len(shape) - given)
    found: list[Any] = []
    axis = 0
    for one in entries:
        if _is_mask(one):
            axes = shape[axis : axis + one.ndim]
            if one.shape != axes:
                raise OutOfRange(f"a mask of shape {one.shape} does not fit axes of {axes}")
            found.extend(one.nonzero())
            axis += one.ndim
        else:
            found.append(one)
            axis += one is not None and one is not Ellipsis
    return found


def from_start(numbers: Any, extent: int, axis: int) -> Any:
    """Returns item numbers that count from the start, without negative ones."""
    # Python's ints and int64, as the type of an index array may hold neither -1 nor the extent.
    low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, -1)
    if low < -extent or high >= extent:
        wrong = low if low < -extent else high
        raise OutOfRange(f"index {wrong} is out of bounds for axis {axis} of {extent} items")
    numbers = numbers.astype(np.int64)
    return np.where(numbers < 0, numbers + extent, numbers)


def select(key: Any, shape: tuple[int, ...]) -> Selection:
    """Returns the selection of a key."""
    axes: list[Axis] = []
    rest: list[Any] = []
    for entry in expand(key, shape):
        if entry is None or entry is Ellipsis:
            rest.append(entry)
            continue
        extent = shape[len(axes)]
        if isinstance(entry, int):
            if not -extent <= entry < extent:
                raise OutOfRange(
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
            unique, inverse = np.unique(from_start(entry, extent, len(axes)), return_inverse=True)
            axes.append(unique)
            rest.append(inverse.reshape(entry.shape))
    return Selection(axes, tuple(rest))
