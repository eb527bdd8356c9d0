"""Values that a type does not hold. NumPy wraps integers, cuts texts and makes infinities of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import TooLarge


def check_held(what: str, given: np.ndarray, dtype: np.dtype) -> None:
    """Refuses values that would become others as items of `dtype`.

    Fractions are rounded and cut as NumPy does, and so are times between two counts of a unit.
    Values of which NumPy makes no such items at all are left for it to refuse.
    """
    if given.dtype == dtype or not given.size:
        return
    if dtype.names is not None:
        if given.dtype.names is not None and len(given.dtype.names) == len(dtype.names):
            for name, target in zip(given.dtype.names, dtype.names):  # NumPy takes fields by their place
                check_held(f"{what}, field {target}", given[name], dtype[target].base)
        return
    lost = given[_is_lost(given, dtype)]
    if lost.size:
        raise TooLarge(f"{what}: items of {dtype} do not hold {lost.flat[0]}")


def _is_lost(given: np.ndarray, dtype: np.dtype) -> Any:
    """Returns for each value whether the type does not hold it, or nothing at all if it holds all."""
    nothing = np.zeros(given.shape, bool)
    kinds = given.dtype.kind + dtype.kind
    if kinds in ("ii", "iu", "ui", "uu", "fi", "fu"):
        if np.can_cast(given.dtype, dtype):
            return nothing
        limits = np.iinfo(dtype)
        if kinds[0] == "f":  # floats have the powers of two that are the least, and past the greatest
            whole = np.trunc(given)
            return ~((whole >= float(limits.min)) & (whole < float(limits.max) + 1))
        least, most = int(given.min()), int(given.max())
        if limits.min <= least and most <= limits.max:
            return nothing
        fits = [limits.min <= one <= limits.max for one in given.reshape(-1).tolist()]
        return ~np.array(fits).reshape(given.shape)
    if kinds in ("ff", "fc", "cf", "cc", "if", "uf", "ic", "uc"):
        if np.can_cast(given.dtype, dtype):
            return nothing
        with np.errstate(over="ignore"):
            return np.isinf(given.astype(dtype)) & ~np.isinf(given)
    if kinds in ("SS", "UU", "SU", "US"):
        most = _length(dtype)
        return nothing if _length(given.dtype) <= most else np.char.str_len(given) > most
    if kinds in ("MM", "mm") and np.promote_types(given.dtype, dtype) == dtype:
        with np.errstate(over="ignore"):
            try:
                back = given.astype(dtype).astype(given.dtype)
            except (OverflowError, ValueError):  # some versions of NumPy tell
                return ~nothing
        return back.view(np.int64) != given.view(np.int64)
    return nothing


def _length(dtype: np.dtype) -> int:
    """Returns the most characters of a text."""
    return dtype.itemsize // (4 if dtype.kind == "U" else 1)
