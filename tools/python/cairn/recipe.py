"""How to make a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _engine
from .errors import InvalidArgument
from .metadata import packed
from .options import CODECS, FILTERS, FilterLike, dtype_text, extents, integer, number_of

NUMBER_CODECS = ("pco", "bitpack", "auto")
_LOSSY_CODECS = ("zfp_acc", "zfp_prec", "zfp_rate")
# Filters after which the bits of a float are no longer where it has them.
_MOVING = ("shuffle", "bitshuffle", "delta", "bytedelta", "bytedelta_buggy")


def _check_floats(what: str, dtype: np.dtype) -> None:
    """Refuses items whose bits are not those of a float, since other values would be lost."""
    raw = dtype.kind == "V" and dtype.names is None
    if dtype not in (np.dtype("<f4"), np.dtype("<f8")) and not raw:
        raise InvalidArgument(f"{what}: expected items of float32 or float64, got {dtype.str if dtype.names is None else dtype}")


def losing(value: np.ndarray, storage: Mapping[str, Any]) -> str:
    """Returns the name of the codec or the filter that changes a value, or nothing."""
    codec, filters = storage.get("codec"), storage.get("filters", ())
    if codec in _LOSSY_CODECS:
        return f"codec {codec!r}"
    for one in [filters] if isinstance(filters, str) else filters:
        name, bits = (one, 0) if isinstance(one, str) else one
        if name == "ndmean":  # mixes it with the items beside it
            return f"filter {name!r}"
        if name in ("trunc_prec", "int_trunc"):
            width = 8 * value.dtype.itemsize if name == "int_trunc" else np.finfo(value.dtype).nmant
            cleared = width - bits if bits >= 0 else -bits
            if cleared < 0 or int.from_bytes(value.tobytes(), "little") % (1 << cleared):
                return f"filter {name!r}"
    return ""


def _check_integers(what: str, dtype: np.dtype) -> None:
    """Refuses items whose lowest bits are not those of an integer."""
    raw = dtype.kind == "V" and dtype.names is None
    if not raw and (dtype.kind not in "iumM" or dtype != dtype.newbyteorder("<")):
        raise InvalidArgument(f"{what}: expected integers or times, got {dtype.str if dtype.names is None else dtype}")


def check_lossy(filters: Sequence[str], dtype: np.dtype) -> None:
    """Refuses filters that would lose other bits than those which are asked for."""
    for lossy, check in (("trunc_prec", _check_floats), ("ndmean", _check_floats), ("int_trunc", _check_integers)):
        if lossy in filters:
            check(f"filter {lossy!r}", dtype)
            before = [name for name in filters[: filters.index(lossy)] if name in _MOVING]
            if before:
                raise InvalidArgument(f"filters: {lossy!r} must come before {before[0]!r}, which moves bits")


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
    number = number_of(codec, CODECS, "codec")
    if codec in _LOSSY_CODECS:
        _check_floats(f"codec {codec!r}", dtype)
        if codec_meta == 0 and codec != "zfp_acc":
            raise InvalidArgument(f"codec_meta: expected what {codec!r} keeps, got 0")
    if codec in (*_LOSSY_CODECS, *NUMBER_CODECS) and filters == ("shuffle",):  # the default, which takes numbers apart
        filters = ()
    recipe.set_compression(
        number,
        integer(clevel, "clevel", -(2**31)),
        integer(codec_meta, "codec_meta", -128, 255) & 255,
        dtype.itemsize,
        integer(blocksize, "blocksize"),
        use_dict,
    )
    stages = [filters] if isinstance(filters, str) else filters
    pairs = [(one, 0) if isinstance(one, str) else one for one in stages]
    recipe.set_filters([(number_of(name, FILTERS, "filter"), value & 255) for name, value in pairs])
    check_lossy([name for name, _ in pairs], dtype)
    recipe.set_place(integer(chunksize, "chunksize"), sparse, overwrite)
    if shape is not None:
        chunkshape = [] if chunks is None else extents(chunks, "chunks", 2**31 - 1)
        blockshape = [] if blocks is None else extents(blocks, "blocks", 2**31 - 1)
        recipe.set_array(extents(shape), chunkshape, blockshape, dtype_text(dtype))
    layers = {name: packed(f"metalayer {name!r}", value) for name, value in (meta or {}).items()}
    for name, content in {**layers, **(raw_meta or {})}.items():
        recipe.add_metalayer(name, content)
    return recipe
