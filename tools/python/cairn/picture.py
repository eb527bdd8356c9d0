"""The picture of a frame in notebooks: its description, and the compression of each chunk."""

from __future__ import annotations

import html

from . import _engine, options
from .info import Info

_BARS = 120
_HEIGHT = 40


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
    return (
        f'<svg width="{max(count * 4, 4)}" height="{_HEIGHT}" role="img">'
        f"<title>stored size of chunks</title>{''.join(bars)}</svg>"
    )
