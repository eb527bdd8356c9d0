"""The limits of a log, and the description of its state."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Optional

import numpy as np

from .. import options
from ..arguments import construction_raises_ours
from ..errors import FailedPrecondition
from ..info import readable
from ..times import Clock, SpanLike, span_text
from .records import shown


@construction_raises_ours
class Retention(NamedTuple):
    """Says which records a log drops. It drops whole chunks, the oldest first. 0 means no limit.

    max_age
        The maximum age of a record: "30d", a `timedelta`, or a count of the unit of its time. It
        counts back from the newest time that the clock of this machine has reached.
    max_records
        The maximum number of records.
    max_bytes
        The maximum size of all chunks in bytes, as they are stored.
    """

    max_age: SpanLike = 0
    max_records: int = 0
    max_bytes: int = 0

    def _counts(self, clock: Optional[Clock]) -> tuple[int, int, int]:
        return (
            span_of(self.max_age, clock, "max_age"),
            options.integer(self.max_records, "max_records", 0, 2**63 - 1),
            options.integer(self.max_bytes, "max_bytes", 0, 2**63 - 1),
        )


@construction_raises_ours
class Rotation(NamedTuple):
    """Says when a log of many files begins a new one. 0 means never.

    max_bytes
        The maximum size of one file in bytes.
    period
        The span of time of one file: "1d", a `timedelta`, or a count of the unit of the time. Late
        records may be in a file of another period.
    """

    max_bytes: int = 0
    period: SpanLike = 0

    def _counts(self, clock: Optional[Clock]) -> tuple[int, int]:
        return options.integer(self.max_bytes, "max_bytes", 0, 2**63 - 1), span_of(self.period, clock, "period")


class UpsertReport(NamedTuple):
    """Says what an upsert did. Records that a later one of the same call replaces do not count.

    inserted
        The number of records whose key the log did not hold.
    replaced
        The number of records that replaced one or more of the log.
    unchanged
        The number of records that the log held already, with the same values.
    removed
        The number of records of the log that were deleted. It is more than `replaced` where the log
        held several records of a key.
    """

    inserted: int
    replaced: int
    unchanged: int
    removed: int


def span_of(value: SpanLike, clock: Optional[Clock], what: str) -> int:
    """Returns a span of time as a count."""
    if isinstance(value, (int, np.integer)) and value == 0:
        return 0
    if clock is None:
        raise FailedPrecondition("the records of the log have no time")
    return options.integer(clock.span(value), what, 0, 2**63 - 1)


@dataclasses.dataclass(frozen=True)
class LogInfo:
    """Describes one state of a log. Sizes are in bytes."""

    files: int
    records: int
    first_record: int
    fields: dict[str, np.dtype]
    time_field: Optional[str]
    times: Optional[tuple[Any, Any]]
    future: int  # number of records that are later than the clock of this machine
    nbytes: int  # decoded
    file_size: int  # of all files
    codec: str
    clevel: int
    retention: Retention
    rotation: Rotation

    @property
    def ratio(self) -> float:
        """How many times smaller the files are than the records."""
        return self.nbytes / self.file_size

    def _rows(self) -> list[tuple[str, str]]:
        fields = ", ".join(f"{shown(name)} {dtype}".strip() for name, dtype in self.fields.items())
        since = f" from {self.first_record:,} on" if self.first_record else ""
        rows = [("records", f"{self.records:,}{since}")]
        if self.times is not None:
            rows.append(("times", f"{self.times[0]} to {self.times[1]}"))
        if self.future:
            rows.append(("future", f"{self.future:,} later than the clock of this machine"))
        rows += [
            ("fields", fields),
            ("data", readable(self.nbytes)),
            ("files", f"{self.files:,}, {readable(self.file_size)}, {self.ratio:.1f}x smaller"),
            ("codec", f"{self.codec}, level {self.clevel}"),
        ]
        for name, limits in (("retention", self.retention), ("rotation", self.rotation)):
            named = limits._asdict().items()
            told = ", ".join(f"{what} {span_text(limit)}" for what, limit in named if limit)
            rows += [(name, told)] if told else []
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{name:<11}{value}" for name, value in self._rows())
