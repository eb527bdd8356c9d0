"""The report of `verify` on a collection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Optional

from . import _engine
from .errors import DataLoss
from .info import Finding, Report
from .metadata import attributes_name
from .opening import open as open_frame
from .readable import Readable, Snapshot
from .view import View

_LEDGER = "embed.b2e"
_MAX_FINDINGS = 1000


def _frames(engine: _engine.CollectionSnapshot, where: str) -> Iterator[tuple[str, Callable[[], Readable]]]:
    """Yields the names of all frames of a state, and what opens them."""

    def shown(name: str, opened: Callable[[str], _engine.Snapshot], of: str) -> Snapshot:
        return Snapshot(View(opened(of), None, where + name))

    yield _LEDGER, partial(open_frame, os.path.join(where, _LEDGER))
    for name in engine.members("/"):
        yield name, partial(shown, name, engine.open_member, name)
    for group in engine.groups():
        name = attributes_name(group)
        if engine.has_member(name):
            yield name, partial(shown, name, engine.open_attributes, group)


def verify_members(
    engine: _engine.CollectionSnapshot, where: str, depth: str, progress: Optional[Callable[[int], object]]
) -> Report:
    """Makes one report of all members and of the ledger."""
    nchunks = nbytes = omitted = 0
    sealed = True
    findings: list[Finding] = []
    notes: list[str] = []

    def add(chunks: int) -> None:
        if progress is not None:
            progress(nchunks + chunks)

    for name, opened in _frames(engine, where):
        try:
            found = opened().verify(depth, add)
        except DataLoss as error:
            found = Report(0, 0, True, (Finding(0, 0, "file", str(error)),), 0, ())
        nchunks += found.nchunks
        nbytes += found.bytes_read
        sealed = sealed and found.sealed
        findings += [one._replace(section=f"{name}: {one.section}") for one in found.findings]
        omitted += found.omitted + max(len(findings) - _MAX_FINDINGS, 0)
        del findings[_MAX_FINDINGS:]
        notes += [f"{name}: {one}" for one in found.notes]
    return Report(nchunks, nbytes, sealed, tuple(findings), omitted, tuple(notes))
