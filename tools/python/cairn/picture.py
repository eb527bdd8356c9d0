"""Pictures in notebooks: the compression of each chunk of a frame, and the chunks that a check found damaged."""

from __future__ import annotations

import html
import re

from . import _engine, options
from .info import Info, Report

_BARS = 120
_HEIGHT = 40
_FINDINGS = 10


def as_html(title: str, info: Info, engine: _engine.Snapshot) -> str:
    """Returns a table and a picture with a bar for each chunk, or for chunks evenly spread."""
    rows = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in info._rows())
    return (
        f"<div><strong>{html.escape(title)}</strong><table>{rows}</table>{_bars(info, engine)}</div>"
    )


def _bars(info: Info, engine: _engine.Snapshot) -> str:
    count = min(info.nchunks, _BARS)
    bars = []
    for place in range(count):
        nchunk = place * info.nchunks // count
        ((cbytes, nbytes, special),) = engine.chunk_sizes(nchunk, 1)
        share = cbytes / nbytes if nbytes else 0.0
        height = max(1.0, min(share, 1.0) * _HEIGHT)
        what = (
            f"{cbytes:,} of {nbytes:,} bytes"
            if not special
            else f"{nbytes:,} bytes, {options.name_of(special, options.SPECIAL_VALUES)}"
        )
        bars.append(
            f'<rect x="{place * 4}" y="{_HEIGHT - height:.1f}" width="3" height="{height:.1f}" '
            f'fill="{"#bbb" if special else "#47a"}"><title>chunk {nchunk}: {what}</title></rect>'
        )
    told = "each chunk" if count == info.nchunks else f"{count} chunks"
    return _picture("stored size of chunks", bars, count) + f"<div>stored size of {told}, of the decoded one</div>"


def _picture(title: str, bars: list[str], count: int) -> str:
    width = max(count * 4, 4)
    return (
        f'<svg width="{width}" height="{_HEIGHT}" role="img" style="background:#8882">'
        f"<title>{title}</title>{''.join(bars)}</svg>"
    )


def report_as_html(report: Report) -> str:
    """Returns a picture with a bar for each chunk, or for some in a row, and the first findings."""
    nchunks, findings = report.nchunks, report.findings
    numbers = (re.fullmatch(r"chunk (\d+)", one.section) for one in findings)
    damaged = {int(one[1]) for one in numbers if one is not None}
    count = min(nchunks, _BARS)
    bars = []
    for place in range(count):
        chunks = range(place * nchunks // count, (place + 1) * nchunks // count)
        bad = sorted(damaged.intersection(chunks))
        what = f"damaged: chunk {', '.join(map(str, bad))}" if bad else f"chunk {chunks[0]}: no damage"
        bars.append(
            f'<rect x="{place * 4}" y="0" width="3" height="{_HEIGHT}" '
            f'fill="{"#c22" if bad else "#47a"}"><title>{what}</title></rect>'
        )
    rows = "".join(f"<tr><td>{html.escape(one.reason)}</td></tr>" for one in findings[:_FINDINGS])
    total = len(findings) + report.omitted
    title = f"{total:,} places are damaged" if total > 1 else "1 place is damaged" if total else "no damage"
    more = f"<div>and {total - _FINDINGS:,} more</div>" if total > _FINDINGS else ""
    shown = _picture("damaged chunks", bars, count)
    return f"<div><strong>{title}, {nchunks:,} chunks</strong><div>{shown}</div><table>{rows}</table>{more}</div>"
