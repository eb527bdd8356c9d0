"""Following frames and logs as they grow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Generic, Optional, TypeVar, Union

import numpy as np

from . import options

if TYPE_CHECKING:
    from .frame import Frame
    from .log import Log
    from .log_view import LogView
    from .records import Records

_AT_ONCE = 1 << 16  # records
_WAIT = 0.1  # seconds, after which a signal is seen

_Items = TypeVar("_Items")


class _Following(Generic[_Items]):
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


class Follower(_Following[np.ndarray]):
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


class LogFollower(_Following["Records"]):
    """An iterator, and an async iterator, over the records that are appended, as `Records`.

    `next` is the number of the record that comes next: `log.follow(follower.next)` continues there.
    """

    def __init__(
        self,
        log: Log,
        start: int,
        timeout: Optional[float],
        on_delete: Optional[Callable[[list[range]], object]],
    ):
        super().__init__(log, _WAIT, timeout)
        self.next = start
        self._log = log
        self._first = start
        self._on_delete = on_delete
        self._seen: Optional[LogView] = None

    def _tell_deleted(self, view: LogView) -> None:
        """Tells of records that were given and are deleted in this state."""
        seen, self._seen = self._seen, view
        if self._on_delete is None or seen is None or seen.engine.is_same(view.engine):
            return
        ranges = np.frombuffer(view.engine.deleted_since(seen.engine), np.int64).reshape(-1, 2)
        told = [range(max(a, self._first), min(b, self.next)) for a, b in ranges.tolist()]
        if any(told):
            self._on_delete([numbers for numbers in told if numbers])

    def _read(self) -> Optional[Records]:
        view = self._log._view()
        self._tell_deleted(view)
        while True:
            end = view.engine.end_record()
            first = max(view.engine.first_record(), min(self.next, end))  # a power cut may take some
            self.next = min(end, first + _AT_ONCE)
            if first == end:
                return None
            records = view.records(first, self.next)
            if len(records):
                return records
