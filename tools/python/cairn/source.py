"""What new frames are filled from: an array, or what has slices as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from .arguments import refused
from .boxes import Box, copy_boxes, part_of
from .casting import check_held
from .metadata import EngineWriter
from .times import without_zone
from .view import View, bytes_of, check_unmasked


def source_of(items: Any) -> Any:
    """Returns what has a shape, a dtype and slices, of anything that NumPy makes an array of."""
    check_unmasked(items)
    items = without_zone(items)
    is_array = hasattr(items, "shape") and isinstance(getattr(items, "dtype", None), np.dtype)
    return items if is_array else np.asarray(items)


def fill(
    engine: EngineWriter, source: Any, dtype: np.dtype, progress: Optional[Callable[[int], object]]
) -> None:
    """Writes the source box by box, so that no more of it is copied at once."""
    shape = tuple(source.shape)

    def copy(box: Box) -> None:
        part = np.asarray(part_of(source, box))  # once, for others may compute or read it each time
        check_held("items", part, dtype)
        try:
            items = np.ascontiguousarray(part, dtype)
        except (TypeError, ValueError) as error:
            raise refused("items", part, dtype, error) from error
        engine.write_box([one.start for one in box], list(items.shape) if shape else [], bytes_of(items))

    copy_boxes(shape, View(engine.staged(), dtype).chunks, dtype.itemsize, copy, progress)
