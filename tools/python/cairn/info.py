"""The reports of calls about a frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Optional, Union

from . import _engine, options


@dataclasses.dataclass(frozen=True)
class Info:
    """Describes one state of a frame by its header, index and trailer. Sizes are in bytes."""

    layout: str  # "contiguous" or "sparse"
    format_version: int
    nchunks: int
    nitems: int
    nbytes: int  # decoded
    cbytes: int  # size of the stored chunks
    frame_size: int  # from the header to the trailer
    journal_size: int  # size of the commits after the last checkpoint, which only Cairn reads
    dead_bytes: Optional[int]  # None if it is not known
    typesize: int
    chunksize: Optional[int]  # decoded, of every chunk except the last
    blocksize: Optional[int]  # None if it is chosen for each chunk
    variable_chunks: bool
    vlblocks: bool
    codec: str
    clevel: int
    filters: tuple[tuple[str, int], ...]
    use_dict: bool
    sealed: bool  # fingerprints cover every live byte
    trailer_damaged: bool
    journal_damaged: bool
    stranded_commits: int
    generation: int
    read_only_format: bool  # from before Blosc2 2.0
    recipe: str  # "LazyExpr", "Proxy", … if python-blosc2 computes the data; "" if the chunks hold it

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Info:
        known = {field.name for field in dataclasses.fields(cls)}
        values = {name: value for name, value in fields.items() if name in known}
        values["layout"] = ("contiguous", "sparse")[fields["layout"]]
        values["codec"] = options.name_of(fields["codec"], options.CODECS)
        values["filters"] = tuple(
            (options.name_of(number, options.FILTERS), value) for number, value in fields["filters"]
        )
        values["read_only_format"] = fields["era"] != 3
        return cls(**values)

    @property
    def ratio(self) -> float:
        """The decoded size of the chunks divided by their stored size."""
        return self.nbytes / self.cbytes if self.cbytes else float("inf") if self.nbytes else 1.0

    def _rows(self) -> list[tuple[str, str]]:
        filters = " + ".join(f"{name}({value})" if value else name for name, value in self.filters)
        rows = [
            ("chunks", f"{self.nchunks:,}"),
            ("data", readable(self.nbytes)),
            ("stored", f"{readable(self.cbytes)}, {self.ratio:.1f}x smaller"),
            ("codec", f"{self.codec}, level {self.clevel}" + (f", {filters}" if filters else "")),
            ("layout", f"{self.layout}, {'sealed' if self.sealed else 'not sealed'}"),
            ("generation", f"{self.generation:,}"),
        ]
        if self.journal_size:
            rows.append(("journal", readable(self.journal_size)))
        if self.dead_bytes:
            rows.append(("dead", readable(self.dead_bytes)))
        if self.trailer_damaged or self.journal_damaged:
            rows.append(("damaged", "trailer" if self.trailer_damaged else "journal"))
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{name:<11}{value}" for name, value in self._rows())


class CodedColumn(NamedTuple):
    """Describes what codes a column of the items of a chunk. Sizes are in bytes."""

    field: str  # "" if the items have no fields
    offset: int  # from the start of the item
    size: int  # of the column in each item
    codec: str  # "pco", "bitpack", "zstd" or "lz4"
    shuffled: bool  # for "zstd" and "lz4"


class Finding(NamedTuple):
    """Describes damage in bytes [begin, end) of the frame, or of the chunk's own file in a sparse frame."""

    begin: int
    end: int
    section: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Report:
    """The report of `verify`. It is true if there is no damage."""

    nchunks: int  # number of chunks that were checked
    bytes_read: int
    sealed: bool
    findings: tuple[Finding, ...]  # the first 1000
    omitted: int  # number of further findings
    notes: tuple[str, ...]  # observations that are not damage

    @classmethod
    def _of(
        cls,
        engine: Union[_engine.Snapshot, _engine.CollectionSnapshot],
        depth: str,
        progress: Optional[Callable[[int], object]],
    ) -> Report:
        number = options.number_of(depth, options.VERIFY_DEPTHS, "depth")
        nchunks, nbytes, sealed, findings, omitted, notes = engine.verify(number, progress)
        return cls(nchunks, nbytes, sealed, tuple(Finding(*one) for one in findings), omitted, tuple(notes))

    @property
    def ok(self) -> bool:
        """True if there is no damage."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.ok

    def _repr_html_(self) -> str:
        from .picture import report_as_html

        return report_as_html(self)


class Generation(NamedTuple):
    """Describes a state that `cairn.open(path, generation=...)` can still open."""

    generation: int
    checkpoint: bool  # False for a commit in the journal, which only Cairn reads
    nchunks: int
    nbytes: int  # decoded
    end: int  # position in the file after its last byte


class Commit(NamedTuple):
    """Describes a commit of a collection that `Collection.at` can still open."""

    number: int
    added: list[str]  # members, in order; one that was replaced is added and removed
    removed: list[str]
    changed: list[str]
    attributes: list[str]  # groups whose attributes it changed


def readable(nbytes: float) -> str:
    """Returns a size as people read it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if nbytes < 1024:
            return f"{nbytes:.1f} {unit}" if unit != "B" else f"{nbytes} B"
        nbytes /= 1024
    return f"{nbytes:.1f} TiB"
