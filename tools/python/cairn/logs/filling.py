"""Values for the buckets of an aggregation that have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import numpy as np

from ..arguments import is_number, told
from ..errors import InvalidArgument, InvalidType, ResourceExhausted

# "none", "null", "previous", "linear" or a number.
FillLike = Union[str, float]
_WORDS = ("none", "null", "previous", "linear")
MAX_ROWS = 10_000_000
# Functions that are 0 without values.
_COUNTS = ("count", "sum")


def check_fill(fill: FillLike) -> FillLike:
    """Returns what buckets without values get, if there is such a thing."""
    if isinstance(fill, str):
        if fill not in _WORDS:
            raise InvalidArgument(f"fill: expected none, null, previous, linear or a number, got {told(fill)}")
    elif not is_number(fill):
        raise InvalidType(f"fill: expected a text or a number, got {told(fill)}")
    elif not np.isfinite(fill):
        raise InvalidArgument(f"fill: expected a finite number, got {told(fill)}")
    return fill


class Filler:
    """Spreads the rows of each group over all buckets, and fills those that get none."""

    def __init__(self, fill: FillLike, bounds: np.ndarray, begins: np.ndarray, groups: Sequence[np.ndarray]):
        """Takes the begins of all buckets, those of the rows, and the columns that say their group."""
        self._fill = fill
        self._bounds = bounds
        new = np.zeros(len(begins), bool)
        for column in groups:
            new[1:] |= column[1:] != column[:-1]
        group = np.cumsum(new)
        self.first = np.append(0, np.flatnonzero(new))[: len(begins)] if groups else np.zeros(1, np.intp)
        self._shape = (len(self.first), len(bounds))
        place = np.searchsorted(bounds, begins)
        inside = place < len(bounds)
        if len(self) > MAX_ROWS:
            raise ResourceExhausted(
                f"fill: {len(self)} rows are more than {MAX_ROWS}: choose greater buckets, a shorter range or fewer groups"
            )
        self._rows = np.flatnonzero(inside)
        self._places = (group * len(bounds) + place)[inside]

    def __len__(self) -> int:
        return self._shape[0] * self._shape[1]

    def tiled(self, values: np.ndarray) -> np.ndarray:
        """Returns the values of all buckets once for each group."""
        return np.tile(values, self._shape[0])

    def repeated(self, values: np.ndarray) -> np.ndarray:
        """Returns a column that says the group, for all rows."""
        return np.repeat(values[self.first] if len(values) else values, self._shape[1])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Returns numbers of rows, with 0 for those that there were not."""
        found = np.zeros(len(self), values.dtype)
        found[self._places] = values[self._rows]
        return found

    def filled(self, fields: np.ndarray) -> np.ndarray:
        """Returns the functions of a field for all rows. Those of a dtype that cannot be missing may become floats."""
        columns = {name: self._filled(name, fields[name]) for name in fields.dtype.names or ()}
        found = np.empty(len(self), [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            found[name] = column
        return found

    def _filled(self, name: str, values: np.ndarray) -> np.ndarray:
        found = self.spread(values)
        if name in _COUNTS:
            return found
        exists = np.zeros(len(self), bool)
        exists[self._places] = ~np.isnan(values[self._rows]) if values.dtype.kind in "fMm" else True
        if exists.all():
            return found
        if self._fill == "linear":
            return self._linear(found, exists)
        if self._fill == "previous":
            rows = np.where(exists, np.arange(len(self)), -1).reshape(self._shape)
            places = np.maximum.accumulate(rows, axis=1).ravel()
            found, exists = found[places], places >= 0
        elif self._fill != "null":
            number = float(self._fill)
            whole = isinstance(self._fill, (int, np.integer)) or number.is_integer()
            if found.dtype.kind == "f" or not whole or (found.dtype.kind == "u" and number < 0):
                found = found.astype("f8")
            found[~exists] = self._fill
            return found
        if not exists.all():
            times = found.dtype.kind in "Mm"
            found = found if times else found.astype("f8")
            found[~exists] = np.array("NaT", found.dtype) if times else np.nan
        return found

    def _linear(self, values: np.ndarray, exists: np.ndarray) -> np.ndarray:
        if values.dtype.kind in "Mm":  # relative to one of them, so that floats are exact enough
            first = values[exists][:1].view("i8").sum()
            found = self._linear(values.view("i8") - first, exists)
            none = np.isnan(found)
            whole = np.round(np.where(none, 0, found)).astype("i8") + first
            return np.where(none, np.iinfo("i8").min, whole).view(values.dtype)
        found = values.astype("f8").reshape(self._shape)
        counts = self._bounds.view("u8")  # of which great ones may be equal as floats, but not their distances
        times = (counts - counts[:1]).astype("f8")
        for row, known in zip(found, exists.reshape(self._shape)):
            if known.any():
                row[~known] = np.interp(times[~known], times[known], row[known], left=np.nan, right=np.nan)
            else:
                row[:] = np.nan
        return found.ravel()
