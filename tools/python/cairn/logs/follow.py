"""Following logs as they grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Optional

import numpy as np

from ..follow import Following
from .records import Records
from .view import LogView

if TYPE_CHECKING:
    from .log import Log

_AT_ONCE = 1 << 16  # records
_WAIT = 0.1  # seconds, after which a signal is seen


class LogFollower(Following[Records]):
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
