"""How to make a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _engine
from .metadata import packed
from .options import CODECS, FILTERS, FilterLike, dtype_text, extents, integer, number_of


def make_recipe(
    dtype: np.dtype,
    shape: Union[int, Sequence[int], None],
    *,
    chunks: Union[int, Sequence[int], None],
    blocks: Union[int, Sequence[int], None],
    codec: str,
    clevel: int,
    codec_meta: int,
    filters: Iterable[FilterLike],
    chunksize: int,
    blocksize: int,
    use_dict: bool,
    sparse: bool,
    meta: Optional[Mapping[str, Any]],
    raw_meta: Optional[Mapping[str, bytes]],
    overwrite: bool,
) -> _engine.Recipe:
    """Returns the options of a new frame, which `create` documents, as the engine takes them."""
    recipe = _engine.Recipe()
    recipe.set_compression(
        number_of(codec, CODECS, "codec"),
        integer(clevel, "clevel", -(2**31)),
        integer(codec_meta, "codec_meta", -128, 255) & 255,
        dtype.itemsize,
        integer(blocksize, "blocksize"),
        use_dict,
    )
    stages = [filters] if isinstance(filters, str) else filters
    pairs = [(one, 0) if isinstance(one, str) else one for one in stages]
    recipe.set_filters([(number_of(name, FILTERS, "filter"), value & 255) for name, value in pairs])
    recipe.set_place(integer(chunksize, "chunksize"), sparse, overwrite)
    if shape is not None:
        chunkshape = [] if chunks is None else extents(chunks, "chunks", 2**31 - 1)
        blockshape = [] if blocks is None else extents(blocks, "blocks", 2**31 - 1)
        recipe.set_array(extents(shape), chunkshape, blockshape, dtype_text(dtype))
    layers = {name: packed(f"metalayer {name!r}", value) for name, value in (meta or {}).items()}
    for name, content in {**layers, **(raw_meta or {})}.items():
        recipe.add_metalayer(name, content)
    return recipe
