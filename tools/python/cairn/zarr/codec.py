"""Blosc2Codec: a codec of zarr-python that codes chunks as those of a Blosc2 frame."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Optional

import numpy as np

from .. import _engine, options
from ..arguments import raises_ours
from ..conversion import package
from ..errors import DataLoss, InvalidArgument
from ..opening import recipe_of
from ..recipe import NUMBER_CODECS, check_lossy

package("zarr", "Blosc2Codec")

from zarr.abc.codec import BytesBytesCodec  # noqa: E402
from zarr.core.array_spec import ArraySpec  # noqa: E402
from zarr.core.buffer import Buffer  # noqa: E402
from zarr.registry import register_codec  # noqa: E402

_NAME = "blosc2"
_SETTINGS = ("codec", "clevel", "filters", "typesize")


@dataclass(frozen=True)
class Blosc2Codec(BytesBytesCodec):
    """Codes the chunks of a Zarr array of version 3: `zarr.create_array(..., compressors=[Blosc2Codec()])`.

    A chunk is one of Blosc2, which any Blosc2 library with the codec decodes. zarr-python knows the
    codec by the name "blosc2" wherever Cairn is installed.

    codec, clevel, filters
        As those of `cairn.create`, without the codecs ZFP and NDLZ and the filters of arrays. pco,
        bitpack, auto and filters that lose bits are for numbers in little-endian order, which
        Zarr's codec "bytes" gives by default, and for arrays whose type has such numbers. The
        default of `filters` is "shuffle", and none for pco, bitpack and auto.
    typesize
        The bytes of an item. It is the size of the array's type if it is None.
    """

    is_fixed_size = False

    codec: str = "zstd"
    clevel: int = 5
    filters: tuple[Any, ...] = ("shuffle",)
    typesize: Optional[int] = None

    def __init__(
        self,
        *,
        codec: str = "zstd",
        clevel: int = 5,
        filters: Optional[Sequence[Any]] = None,
        typesize: Optional[int] = None,
    ) -> None:
        if filters is None:
            filters = () if codec in NUMBER_CODECS else ("shuffle",)
        stages = [filters] if isinstance(filters, str) else filters
        object.__setattr__(self, "codec", codec)
        object.__setattr__(self, "clevel", options.integer(clevel, "clevel"))
        object.__setattr__(self, "filters", tuple(one if isinstance(one, str) else tuple(one) for one in stages))
        object.__setattr__(self, "typesize", typesize)
        # Refuses what no chunk can have. The size is that of a type which every codec takes, if it is not known yet.
        _recipe_of(codec, clevel, self.filters, 8 if typesize is None else typesize)
        if self._names().count("delta") > 1:
            raise InvalidArgument("filters: 'delta' may be there once, since other libraries decode two of them wrongly")

    def _recipe(self) -> _engine.Recipe:
        return _recipe_of(self.codec, self.clevel, self.filters, 1 if self.typesize is None else self.typesize)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Blosc2Codec:
        said = data.get("configuration", {})
        unknown = [name for name in said if name not in _SETTINGS]
        if unknown:
            raise InvalidArgument(f"codec {_NAME!r}: unknown settings: {', '.join(map(repr, unknown))}")
        return cls(**said)

    def to_dict(self) -> dict[str, Any]:
        filters = [one if isinstance(one, str) else list(one) for one in self.filters]
        said = {"codec": self.codec, "clevel": self.clevel, "filters": filters, "typesize": self.typesize or 1}
        return {"name": _NAME, "configuration": said}

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Blosc2Codec:
        if self.typesize is not None:
            return self  # an array that is there, or a size that is known better
        self._check_dtype(array_spec)
        size = getattr(array_spec.dtype, "item_size", 1)
        return replace(self, typesize=size if 1 <= size <= 255 else 1)

    def _names(self) -> list[str]:
        return [one if isinstance(one, str) else one[0] for one in self.filters]

    def _check_dtype(self, spec: ArraySpec) -> None:
        """Refuses items of which a filter would lose other bits than the last ones of a number."""
        with_dtype = getattr(spec.dtype, "to_native_dtype", lambda: np.dtype("O"))
        check_lossy(self._names(), with_dtype())

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        raise NotImplementedError

    async def _encode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Optional[Buffer]:
        self._check_dtype(chunk_spec)
        content = chunk_data.as_numpy_array()
        if content.nbytes > _most_bytes(chunk_spec):
            raise InvalidArgument(f"chunk: has {content.nbytes} bytes, expected at most {_most_bytes(chunk_spec)}")
        chunk = await asyncio.to_thread(_compress, content, self._recipe())
        return chunk_spec.prototype.buffer.from_bytes(chunk)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        content = await asyncio.to_thread(_decompress, chunk_data.as_numpy_array(), _most_bytes(chunk_spec))
        return chunk_spec.prototype.buffer.from_array_like(content)


@raises_ours
@lru_cache(maxsize=64, typed=True)
def _recipe_of(codec: str, clevel: int, filters: tuple[Any, ...], typesize: int) -> _engine.Recipe:
    size = options.integer(typesize, "typesize", 1, 255)
    recipe = recipe_of(np.dtype(f"V{size}"), codec=codec, clevel=clevel, filters=filters)
    _engine.compress_chunk(bytes(size), recipe)  # fails where no chunk can be made
    return recipe


@raises_ours
def _compress(content: np.ndarray, recipe: _engine.Recipe) -> bytes:
    return _engine.compress_chunk(np.ascontiguousarray(content), recipe)


@raises_ours
def _decompress(chunk: np.ndarray, most: float) -> np.ndarray:
    chunk = np.ascontiguousarray(chunk)
    stored = int.from_bytes(chunk[12:16].tobytes(), "little")
    if len(chunk) >= 16 and stored != len(chunk):
        raise DataLoss(f"chunk: says that it is stored in {stored} bytes, got {len(chunk)}")
    size = _engine.decompressed_size(chunk)
    if size > most:
        raise DataLoss(f"chunk: says that it has {size} bytes, expected at most {most}")
    content = np.empty(size, np.uint8)
    _engine.decompress_chunk(chunk, content)
    return content


def _most_bytes(spec: ArraySpec) -> float:
    """Returns more bytes than codecs that come before this one make of a chunk of the array.

    These may be shards of one item each, with what other codecs and the index add.
    """
    size = getattr(spec.dtype, "item_size", None)
    return math.inf if size is None else math.prod(spec.shape) * (2 * size + 128) + 4096


register_codec(_NAME, Blosc2Codec)  # an installed package has an entry point that loads this module
