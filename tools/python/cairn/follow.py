"""Following frames and logs as they grow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Optional

import numpy as np

from . import options

if TYPE_CHECKING:
    from .frame import Frame
    from .log import Log
    from .records import Records

_AT_ONCE = 1 << 16  # records
_WAIT = 0.1  # seconds, after which a signal is seen


class Follower:
    """An iterator, and an async iterator, over what is appended: an array for each commit seen."""

    def __init__(self, frame: Frame, start: Optional[int], poll: float, timeout: Optional[float]):
        self._frame = frame
        self._next = len(frame) if start is None else options.integer(start, "start", -(2**63), 2**63 - 1)
        self._poll = options.seconds(poll, "poll")
        self._timeout = None if timeout is None else options.seconds(timeout, "timeout")

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


class LogFollower:
    """An iterator, and an async iterator, over the records that are appended, as `Records`.

    `next` is the number of the record that comes next: `log.follow(follower.next)` goes on there.
    """

    def __init__(self, log: Log, start: int, timeout: Optional[float]):
        self.next = start
        self._log = log
        self._timeout = float("inf") if timeout is None else options.seconds(timeout, "timeout")

    def _read(self) -> Optional[Records]:
        view = self._log._view()
        end = view.engine.end_record()
        first = max(view.engine.first_record(), min(self.next, end))  # a power cut may take records
        count = min(end - first, _AT_ONCE)
        self.next = first + count
        return view.records(first, count) if count > 0 else None

    def _wait(self, deadline: float) -> bool:
        """Waits for a commit; returns whether there is time for more."""
        left = deadline - time.monotonic()
        return self._log.refresh(wait=min(left, _WAIT)) or left > 0

    def __iter__(self) -> Iterator[Records]:
        deadline = time.monotonic() + self._timeout
        while True:
            records = self._read()
            if records is not None:
                yield records
                deadline = time.monotonic() + self._timeout
            elif not self._wait(deadline):
                return

    async def __aiter__(self) -> AsyncIterator[Records]:
        deadline = time.monotonic() + self._timeout
        while True:
            records = await asyncio.to_thread(self._read)
            if records is not None:
                yield records
                deadline = time.monotonic() + self._timeout
            elif not await asyncio.to_thread(self._wait, deadline):
                return
