"""Following a frame as it grows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Optional

import numpy as np

if TYPE_CHECKING:
    from .frame import Frame


class Follower:
    """An iterator, and an async iterator, over what is appended: an array for each commit seen."""

    def __init__(self, frame: Frame, start: Optional[int], poll: float, timeout: Optional[float]):
        self._frame = frame
        self._next = len(frame) if start is None else start
        self._poll = poll
        self._timeout = timeout

    def _look(self, wait: float) -> Optional[np.ndarray]:
        self._frame.refresh(wait=wait)
        now = self._frame.snapshot()
        begin, end = self._next, len(now)
        if begin < end:
            items: np.ndarray = now[begin:end]
            self._next = end
            return items
        self._next = min(begin, end)  # it may have been cut
        return None

    def _deadline(self) -> float:
        return float("inf") if self._timeout is None else time.monotonic() + self._timeout

    def __iter__(self) -> Iterator[np.ndarray]:
        deadline = self._deadline()
        wait = 0.0
        while wait >= 0:
            items = self._look(wait)
            if items is None:
                wait = min(self._poll, deadline - time.monotonic())
            else:
                yield items
                deadline = self._deadline()
                wait = 0.0

    async def __aiter__(self) -> AsyncIterator[np.ndarray]:
        deadline = self._deadline()
        wait = 0.0
        while wait >= 0:
            items = await asyncio.to_thread(self._look, wait)
            if items is None:
                wait = min(self._poll, deadline - time.monotonic())
            else:
                yield items
                deadline = self._deadline()
                wait = 0.0
