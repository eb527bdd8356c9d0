"""Conversions from Zarr's arrays and to them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _engine
from .arguments import raises_ours
from .conversion import Source, copy_out, into_frame, package, reading, told
from .dataset_attributes import DIMENSIONS
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, InvalidType
from .folders import folder_beside
from .frame import Frame
from .options import FilterLike, extents
from .paths import Path, name_of
from .readable import Readable

# xarray's attribute of missing floats, which it writes as base64 in version 3, since JSON has no NaN.
_MISSING = "_FillValue"


@raises_ours
def from_zarr(
    store: Any,
    path: Path,
    *,
    chunks: Union[int, Sequence[int], None] = None,
    blocks: Union[int, Sequence[int], None] = None,
    codec: str = "lz4",
    clevel: int = 5,
    codec_meta: int = 0,
    filters: Iterable[FilterLike] = ("shuffle",),
    chunksize: int = 1 << 20,
    blocksize: int = 0,
    use_dict: bool = False,
    sparse: bool = False,
    overwrite: bool = False,
    threads: int = 1,
    progress: Optional[Callable[[int], object]] = None,
) -> Frame:
    """Makes a frame of an array of Zarr, version 2 or 3, and opens it with mode "r+".

    Attributes become vlmetalayers. Names of dimensions and the fill value are kept for `to_zarr`
    and xarray. The array is read in boxes of 32 MiB, or of a chunk if that is larger. The frame
    appears when it is complete.

    store
        The path of the array, such as "weather.zarr/temp", or what `zarr.open_array` takes.
    path
        The path of the frame, as `create` takes it.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no frame is made.

    The other arguments are those of `create`:

    chunks, blocks
        The shapes of chunks and of blocks, in items. Chunks are those of the array by default.
    codec, clevel, codec_meta, filters, use_dict
        How chunks are compressed.
    chunksize, blocksize
        The sizes of chunks and blocks in bytes, where no shape says them.
    sparse
        Makes a directory with one file for each chunk.
    overwrite
        Replaces a frame of that path. Otherwise one that exists raises `AlreadyExists`.
    threads
        The number of threads that compress and decompress blocks.
    """
    how: dict[str, Any] = {
        "chunks": chunks, "blocks": blocks, "codec": codec, "clevel": clevel, "codec_meta": codec_meta,
        "filters": filters, "chunksize": chunksize, "blocksize": blocksize, "use_dict": use_dict, "sparse": sparse,
    }  # fmt: skip
    zarr = package("zarr", "from_zarr")
    where = _where(store)
    with told(where):
        array = zarr.open(_plain(store), mode="r")
        if not isinstance(array, zarr.Array):
            raise InvalidArgument(f"{where}: expected an array, got a group of {', '.join(sorted(array.keys())) or 'nothing'}")
        attrs = dict(array.attrs)
        dims = attrs.pop(DIMENSIONS, None) or getattr(array.metadata, "dimension_names", None) or ()
        if array.metadata.zarr_format == 3 and array.dtype.kind == "f" and isinstance(attrs.get(_MISSING), str):
            with contextlib.suppress(ValueError, struct.error):
                attrs[_MISSING] = struct.unpack("<d", base64.b64decode(attrs[_MISSING]))[0]
        source = Source(where, array, tuple(array.chunks), dims, array.fill_value, attrs)
    return into_frame(source, path, how, overwrite, threads, progress)


@raises_ours
def to_zarr(
    path: Union[Path, Readable],
    store: Any,
    *,
    zarr_format: int = 3,
    chunks: Union[int, Sequence[int], None] = None,
    compressors: Any = "auto",
    overwrite: bool = False,
    threads: int = 1,
    progress: Optional[Callable[[int], object]] = None,
) -> None:
    """Writes a frame as an array of Zarr, in boxes of 32 MiB, or of a chunk if that is larger.

    The vlmetalayers that are values become attributes. One that JSON does not have is refused.

    path
        A frame, or its path as `cairn.open` takes it.
    store
        The path of the array, which appears when it is complete, or what `zarr.create_array` takes
        as `store`. Groups on the way are made inside a group, and from a name such as "a.zarr" on.
    zarr_format
        The version of the format, 2 or 3.
    chunks
        The shape of a chunk, in items. The default is that of the frame.
    compressors
        How Zarr compresses, as `zarr.create_array` takes it.
    overwrite
        Replaces an array of that path. Otherwise one that exists raises `AlreadyExists`.
    threads
        The number of threads that decompress blocks, if `path` is not an open frame.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no array is made.
    """
    zarr = package("zarr", "to_zarr")
    where = _where(store)
    with reading(path, threads) as state:
        attrs = {key: _as_json(where, key, value) for key, value in state.attrs.items()}
        if isinstance(attrs.get(_MISSING), list) and len(attrs[_MISSING]) == 1:  # as netCDF has it
            attrs[_MISSING] = attrs[_MISSING][0]
        if zarr_format == 3 and state.items.dtype.kind == "f" and isinstance(attrs.get(_MISSING), (int, float)):
            attrs[_MISSING] = base64.b64encode(struct.pack("<d", attrs[_MISSING])).decode()
        shape = state.items.shape
        cut = tuple(state.items.chunks if chunks is None else extents(chunks, "chunks"))
        how: dict[str, Any] = {"shape": shape, "dtype": state.items.dtype, "chunks": cut, "compressors": compressors}
        if state.fill is not None:
            how["fill_value"] = state.fill
        if state.dims is not None and zarr_format == 2:
            attrs[DIMENSIONS] = state.dims
        elif state.dims is not None:
            how["dimension_names"] = state.dims

        def write(to: Any, is_new: bool) -> None:
            with told(where):
                array = zarr.create_array(to, zarr_format=zarr_format, attributes=attrs, overwrite=not is_new, **how)
            copy_out(state.items, array, cut, progress)

        if not _is_path(store):
            return write(store, not overwrite)
        name = name_of(store)
        _check_replaceable(name, overwrite)
        with told(where):
            _make_groups(zarr, os.path.dirname(name), zarr_format)
        with folder_beside(name) as beside:
            write(beside, True)
            _engine.move_to(beside, name, overwrite)


def _make_groups(zarr: Any, folder: str, zarr_format: int) -> None:
    """Makes the groups that lead to an array, inside a group that is there or from a name like "a.zarr" on."""
    missing = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    in_group = any(os.path.exists(os.path.join(folder, name)) for name in ("zarr.json", ".zgroup"))
    for one in reversed(missing):
        in_group = in_group or one.endswith(".zarr")
        if in_group:
            zarr.open_group(one, mode="a", zarr_format=zarr_format)


def _is_path(store: Any) -> bool:
    return isinstance(store, (str, os.PathLike)) and "://" not in os.fspath(store)


def _plain(store: Any) -> Any:
    return name_of(store) if _is_path(store) else store


def _where(store: Any) -> str:
    return str(_plain(store))


def _check_replaceable(name: str, overwrite: bool) -> None:
    """Refuses to replace anything but an array, for what is replaced is removed."""
    if not os.path.lexists(name):
        return
    if not overwrite:
        raise AlreadyExists(f"{name}: already exists; overwrite=True replaces it")
    if os.path.exists(os.path.join(name, ".zarray")):
        return
    try:
        with open(os.path.join(name, "zarr.json"), encoding="utf-8") as file:
            is_array = json.load(file).get("node_type") == "array"
    except (OSError, ValueError, AttributeError):
        is_array = False
    if not is_array:
        raise FailedPrecondition(f"{name}: is not replaced, for it is not an array of Zarr")


def _as_json(where: str, name: str, value: Any) -> Any:
    """Returns a value as JSON has it: arrays and tuples as lists."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_as_json(where, name, one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(where, name, one) for key, one in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InvalidType(f"{where}: attribute {name!r}: JSON has no {type(value).__name__}")
