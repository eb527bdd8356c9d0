"""Cutting an array into boxes of whole chunks, so that copying it takes little memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

# Bytes of a box, unless a single chunk is larger.
_MOST = 32 << 20

Box = tuple[slice, ...]


def boxes_of(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> Iterator[Box]:
    """Cuts an array into boxes, in C order. Each is a chunk, or as many neighbours as fit into 32 MiB."""
    edges = list(chunks)
    for axis in reversed(range(len(shape))):
        others = math.prod(edge for other, edge in enumerate(edges) if other != axis)
        fit = _MOST // max(others * itemsize, 1)
        edges[axis] = max(fit // chunks[axis] * chunks[axis], chunks[axis])
        if edges[axis] < shape[axis]:
            break
        edges[axis] = max(shape[axis], 1)
    starts = [range(0, size, edge) for size, edge in zip(shape, edges)]
    for start in itertools.product(*starts):
        yield tuple(slice(begin, min(begin + edge, size)) for begin, edge, size in zip(start, edges, shape))


def copy_boxes(
    shape: Sequence[int],
    chunks: Sequence[int],
    itemsize: int,
    copy: Callable[[Box], object],
    progress: Optional[Callable[[int], object]] = None,
) -> None:
    """Calls `copy` with each box, and `progress` with the number of chunks that are done."""
    done = 0
    for box in boxes_of(shape, chunks, itemsize):
        copy(box)
        done += math.prod(-(-(one.stop - one.start) // edge) for one, edge in zip(box, chunks))
        if progress is not None:
            progress(done)


def part_of(source: Any, box: Box) -> Any:
    """Returns a box of a source that may know slices of its first axis only."""
    key = list(box)
    while key and key[-1] == slice(0, source.shape[len(key) - 1]):
        key.pop()
    if not key:
        return source[:] if box else source
    return source[key[0]] if len(key) == 1 else source[tuple(key)]
