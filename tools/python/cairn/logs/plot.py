"""The picture of values of a log over time."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Optional

import numpy as np

from .. import _engine
from ..arguments import members_raise_ours
from ..errors import FailedPrecondition, InvalidArgument, of_os_error
from ..keys import check_fields
from ..paths import Path, shown_path, text_of
from ..times import UNITS
from .aggregates import Aggregates
from .view import LogView

_OTHER_PICTURES = (".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".png", ".ps", ".tif", ".tiff", ".webp")
_LAST = 2**63 - 1  # of all times
_MOST = 1000  # points of a line, which is more than a picture has columns


@members_raise_ours
class Plot:
    """A picture as SVG. Notebooks show it, and `save` writes it."""

    __slots__ = ("svg",)

    svg: str
    _where = ""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: Path) -> None:
        """Writes the picture.

        path
            The path of the file, whose name should end with ".svg". Names of other kinds of pictures
            are refused. A file that exists is replaced.
        """
        name = text_of(path)
        ending = os.path.splitext(name)[1].lower()
        if ending in _OTHER_PICTURES:
            raise InvalidArgument(
                f"{name}: a plot is saved as SVG: expected a name that ends with '.svg', got {ending!r}; browsers show SVG, "
                "and programs such as rsvg-convert make other pictures of it"
            )
        try:
            with open(name, "w", encoding="utf-8") as file:
                file.write(self.svg)
        except OSError as error:
            raise of_os_error(error, name) from error

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<cairn.Plot, {len(self.svg):,} bytes of SVG>"


def draw(
    view: LogView,
    times: tuple[int, int],
    aggregate: Callable[[int, int, int], Aggregates],
    title: Optional[str],
    units: Mapping[str, str],
) -> Plot:
    """Draws values of a log. `aggregate` takes the begin and the end of the times, and the length of a bucket."""
    clock, whole = view.need_clock(), view.engine.times()
    # The last time is included, because there may be none after it.
    first, final = (1, 0) if whole is None else (max(times[0], whole[0]), whole[2])
    if times[1] < _LAST:
        final = min(final, times[1] - 1)
    if first > final:
        raise FailedPrecondition("plot: there are no records of these times")
    end = min(final + 1, _LAST)
    bucket = (final - first) // _MOST + 1
    found = aggregate(first, end, bucket)
    if bucket > 1 and found.records.sum() <= _MOST:
        bucket = 1
        found = aggregate(first, end, bucket)
    if not found.fields:
        raise FailedPrecondition("plot: no field is a number")
    check_fields(units, found.fields)
    middles = np.clip(np.minimum(found.begin.view(np.int64), _LAST - bucket // 2) + bucket // 2, first, final)
    series = [(name, units.get(name, ""), _points_of(middles, values)) for name, values in found.fields.items()]
    note = f"{int(found.records.sum()):,} records, {clock.time(first)} to {clock.time(final)}"
    if bucket > 1:
        note += ": mean, and band from least to greatest value"
    type_ = view.fields[view.time or ""]
    unit = UNITS.index(np.datetime_data(type_)[0]) if type_.kind == "M" else None
    name = os.path.basename(shown_path(view.where)) if title is None else title
    first = min(first, _LAST - 1)  # so that the axis has a length
    return Plot(_engine.draw_plot(name, note, unit, first, max(final, first + 1), series))


def _points_of(times: np.ndarray, values: np.ndarray) -> list[tuple[int, float, float, float]]:
    columns = [values[what].astype(float) for what in ("mean", "min", "max")]
    fine = (values["count"] > 0) & np.logical_and.reduce([np.isfinite(one) for one in columns])
    return list(zip(*(one[fine].tolist() for one in (times, *columns))))
