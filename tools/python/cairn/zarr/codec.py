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
from ..errors import DataLoss
from ..opening import recipe_of

package("zarr", "Blosc2Codec")

from zarr.abc.codec import BytesBytesCodec  # noqa: E402
from zarr.core.array_spec import ArraySpec  # noqa: E402
from zarr.core.buffer import Buffer  # noqa: E402
from zarr.registry import register_codec  # noqa: E402

_NAME = "blosc2"


@dataclass(frozen=True)
class Blosc2Codec(BytesBytesCodec):
    """Codes the chunks of a Zarr array of version 3: `zarr.create_array(..., compressors=[Blosc2Codec()])`.

    A chunk is one of Blosc2, which any Blosc2 library with the codec decodes. zarr-python knows the
    codec by the name "blosc2" wherever Cairn is installed.

    codec, clevel, filters
        As those of `cairn.create`. pco, bitpack and auto are for numbers in the order of bytes of
        this machine, which Zarr's codec "bytes" gives by default.
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
        filters: Sequence[Any] = ("shuffle",),
        typesize: Optional[int] = None,
    ) -> None:
        stages = [filters] if isinstance(filters, str) else filters
        object.__setattr__(self, "codec", codec)
        object.__setattr__(self, "clevel", clevel)
        object.__setattr__(self, "filters", tuple(one if isinstance(one, str) else tuple(one) for one in stages))
        object.__setattr__(self, "typesize", typesize)
        # Refuses what no chunk can have. The size is that of a type which every codec takes, if it is not known yet.
        _recipe_of(codec, clevel, self.filters, 8 if typesize is None else typesize)

    def _recipe(self) -> _engine.Recipe:
        return _recipe_of(self.codec, self.clevel, self.filters, 1 if self.typesize is None else self.typesize)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Blosc2Codec:
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        filters = [one if isinstance(one, str) else list(one) for one in self.filters]
        said = {"codec": self.codec, "clevel": self.clevel, "filters": filters, "typesize": self.typesize or 1}
        return {"name": _NAME, "configuration": said}

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Blosc2Codec:
        if self.typesize is not None:
            return self
        size = getattr(array_spec.dtype, "item_size", 1)
        return replace(self, typesize=size if 1 <= size <= 255 else 1)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        raise NotImplementedError

    async def _encode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Optional[Buffer]:
        chunk = await asyncio.to_thread(_compress, chunk_data.as_numpy_array(), self._recipe())
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
    size = _engine.decompressed_size(chunk)
    if size > most:
        raise DataLoss(f"chunk: says that it has {size} bytes, expected at most {most}")
    content = np.empty(size, np.uint8)
    _engine.decompress_chunk(chunk, content)
    return content


def _most_bytes(spec: ArraySpec) -> float:
    """Returns more bytes than codecs that come before this one make of a chunk of the array."""
    size = getattr(spec.dtype, "item_size", None)
    return math.inf if size is None else 2 * math.prod(spec.shape) * size + 4096


register_codec(_NAME, Blosc2Codec)  # an installed package has an entry point that loads this module
