"""Commits that are made again where another writer's came before, as it happens in object stores."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from .errors import Aborted, Unavailable

_Result = TypeVar("_Result")

# Seconds: the longest pause before the second attempt, and before any. A commit in an object store
# takes some tens of milliseconds.
_FIRST_PAUSE = 0.02
_MAX_PAUSE = 0.5


def repeat(attempt: Callable[[], _Result], wait: float) -> _Result:
    """Calls `attempt` until it is not `Aborted`. Raises Unavailable if it still is after `wait` seconds.

    Nothing of an attempt that was aborted may be left, neither staged nor committed.
    """
    end = time.monotonic() + wait
    tries, pause = 0, _FIRST_PAUSE
    while True:
        tries += 1
        try:
            return attempt()
        except Aborted as error:
            if time.monotonic() >= end:
                times = "once" if tries == 1 else f"{tries} times"
                raise Unavailable(f"{error}; tried {times} in {wait:g} s, a longer wait may help") from None
        time.sleep(random.uniform(0, pause))
        pause = min(2 * pause, _MAX_PAUSE)
