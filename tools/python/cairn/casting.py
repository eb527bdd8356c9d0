"""Values that a type does not hold. NumPy wraps integers, cuts texts and makes infinities of floats."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .errors import TooLarge


def check_held(what: str, value: Any, dtype: np.dtype) -> None:
    """Refuses values that would become others as items of `dtype`.

    Fractions are rounded and cut as NumPy does, and so are times between two counts of a unit.
    Values of which NumPy makes no such items at all are left for it to refuse.
    """
    given = _array_of(value, dtype)
    if given is None or given.dtype == dtype or not given.size:
        return
    if dtype.names is not None:
        names = given.dtype.names
        if names is not None and len(names) != len(dtype.names):
            return
        for place, name in enumerate(dtype.names):  # NumPy takes fields by their place, and a number for all of them
            part = given if names is None else given[names[place]]
            check_held(f"{what}, field {name}", part, dtype[name].base)
        return
    lost = given[_is_lost(given, dtype)]
    if lost.size:
        raise TooLarge(f"{what}: items of {dtype} do not hold {lost.flat[0]}")


def _array_of(value: Any, dtype: np.dtype) -> Optional[np.ndarray]:
    """Returns the values in a type of their own, or None where NumPy finds none."""
    try:
        if isinstance(value, (np.ndarray, np.generic)):
            given = np.asarray(value)
            return np.asarray(given.tolist()) if given.dtype.kind == "O" else given
        return np.asarray(value, _of_objects(dtype))
    except (TypeError, ValueError):
        return None


def _of_objects(dtype: np.dtype) -> Optional[np.dtype]:
    """Returns the same fields with objects in them, or None for a type without fields."""
    if dtype.names is None:
        return None
    fields = [(name, _of_objects(dtype[name].base) or object, dtype[name].shape) for name in dtype.names]
    return np.dtype(fields)


def _is_lost(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns for each value whether the type does not hold it."""
    nothing = np.zeros(given.shape, bool)
    kind, kept = given.dtype.kind, dtype.kind
    if kind == "c" and kept in "iuf":
        return (given.imag != 0) | _is_lost(given.real, dtype)  # type: ignore[no-any-return]
    if kept in "Mm" and kind == kept:
        return _is_time_lost(given, dtype)
    if np.can_cast(given.dtype, dtype):
        return nothing
    if kept in "iu" and kind == "f":
        limits = np.iinfo(dtype)  # floats have the powers of two that are the least, and past the greatest
        whole = np.trunc(given)
        return ~((whole >= float(limits.min)) & (whole < float(limits.max) + 1))  # type: ignore[no-any-return]
    if kept in "iu" and kind in "iu":
        limits = np.iinfo(dtype)
        if limits.min <= int(given.min()) and int(given.max()) <= limits.max:
            return nothing
        fits = [limits.min <= one <= limits.max for one in given.reshape(-1).tolist()]
        return ~np.array(fits).reshape(given.shape)
    if kept in "fc" and kind in "iufc":
        with np.errstate(over="ignore"):
            return np.isinf(given.astype(dtype)) & ~np.isinf(given)  # type: ignore[no-any-return]
    if kept in "SU" and kind in "SU":
        return np.char.str_len(given) > dtype.itemsize // (4 if kept == "U" else 1)
    return nothing


def _is_time_lost(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    try:
        if np.promote_types(given.dtype, dtype) != dtype:  # a coarser unit has the greater range
            return np.zeros(given.shape, bool)
        with np.errstate(over="ignore"):
            back = given.astype(dtype).astype(given.dtype)
    except (OverflowError, ValueError):  # some versions of NumPy tell
        return np.ones(given.shape, bool)
    except TypeError:  # years and days have no common unit
        return np.zeros(given.shape, bool)
    return back.view(np.int64) != given.view(np.int64)  # type: ignore[no-any-return]
