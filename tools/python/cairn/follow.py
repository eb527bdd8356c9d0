"""Following frames and logs as they grow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Generic, Optional, TypeVar, Union

import numpy as np

from . import options

if TYPE_CHECKING:
    from .frame import Frame
    from .logs.log import Log

_Items = TypeVar("_Items")


class Following(Generic[_Items]):
    """An iterator, and an async iterator, over what is appended."""

    def __init__(self, followed: Union[Frame, Log], poll: float, timeout: Optional[float]):
        self._followed = followed
        self._poll = poll
        self._timeout = float("inf") if timeout is None else options.seconds(timeout, "timeout")

    def _read(self) -> Optional[_Items]:
        """Returns what is new in the state that is shown now, or None."""
        raise NotImplementedError

    def _deadline(self) -> float:
        return time.monotonic() + self._timeout

    def _wait(self, deadline: float) -> bool:
        """Waits for a commit, and returns False if nothing came until the deadline."""
        left = deadline - time.monotonic()
        return self._followed.refresh(wait=min(left, self._poll)) or left > 0

    def __iter__(self) -> Iterator[_Items]:
        deadline = self._deadline()
        while True:
            items = self._read()
            if items is not None:
                yield items
                deadline = self._deadline()
            elif not self._wait(deadline):
                return

    async def __aiter__(self) -> AsyncIterator[_Items]:
        deadline = self._deadline()
        while True:
            items = await asyncio.to_thread(self._read)
            if items is not None:
                yield items
                deadline = self._deadline()
            elif not await asyncio.to_thread(self._wait, deadline):
                return


class Follower(Following[np.ndarray]):
    """An iterator, and an async iterator, over the items that are appended to a frame.

    It gives an array for each commit that it sees.
    """

    def __init__(self, frame: Frame, start: Optional[int], poll: float, timeout: Optional[float]):
        super().__init__(frame, options.seconds(poll, "poll"), timeout)
        self._frame = frame
        self._next = len(frame) if start is None else options.integer(start, "start", -(2**63), 2**63 - 1)

    def _read(self) -> Optional[np.ndarray]:
        now = self._frame.snapshot()
        begin, end = self._next, len(now)
        self._next = end if begin < end else min(begin, end)  # the frame may have been cut
        return now[begin:end] if begin < end else None
