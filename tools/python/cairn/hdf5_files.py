"""Conversions from HDF5's datasets and to them, by h5py."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Optional, Union

import numpy as np

from .arguments import raises_ours
from .conversion import Source, copy_out, file_beside, into_frame, package, reading, told
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, InvalidType
from .frame import Frame
from .options import FilterLike, extents
from .paths import Path, name_of
from .readable import Readable

# Attributes by which HDF5 ties datasets to their dimension scales.
_OF_NETCDF = ("_Netcdf4Dimid", "_Netcdf4Coordinates")
_OF_SCALES = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_Netcdf4Dimid", "_Netcdf4Coordinates")


@raises_ours
def from_hdf5(
    file: Path,
    dataset: str,
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
    """Makes a frame of a dataset in an HDF5 or netCDF-4 file, and opens it with mode "r+".

    Attributes become vlmetalayers. Names of dimensions, which are their labels or the names of their
    scales, and the fill value are kept for `to_hdf5` and xarray. A scale has its own name. Attributes
    of netCDF with one item become scalars. The dataset is read in boxes of 32 MiB, or of a chunk if
    that is larger. The frame appears when it is complete.

    file
        The path of the file.
    dataset
        The name of the dataset in it, such as "run1/temp".
    path
        The path of the frame, as `create` takes it.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no frame is made.

    The other arguments are those of `create`:

    chunks, blocks
        The shapes of chunks and of blocks, in items. Chunks are those of the dataset by default.
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
    h5py = package("h5py", "from_hdf5")
    name = name_of(file)
    where = f"{name}: dataset {dataset!r}"
    with contextlib.ExitStack() as stack:
        with told(where):
            items = stack.enter_context(h5py.File(name, "r"))[dataset]
            _check_items(h5py, where, items)
            dims = [_dimension_of(one) for one in items.dims]
            if dims and dims[0] is None and items.is_scale:
                dims[0] = os.path.basename(items.name)
            attrs = {key: _as_value(h5py, where, key, items.attrs[key]) for key in items.attrs if key not in _OF_SCALES}
            if _is_of_netcdf(items):
                attrs = {key: _as_scalar(value) for key, value in attrs.items()}
            source = Source(where, items, items.chunks, dims, items.fillvalue, attrs)
        return into_frame(source, path, how, overwrite, threads, progress)


def _check_items(h5py: Any, where: str, items: Any) -> None:
    if not isinstance(items, h5py.Dataset):
        raise InvalidArgument(f"{where}: expected a dataset, got a {type(items).__name__.lower()}")
    if items.shape is None:
        raise InvalidArgument(f"{where}: has no items, and not even a shape")
    names = h5py.check_enum_dtype(items.dtype)
    if names is not None:
        raise InvalidType(
            f"{where}: its items are of an enumeration, {names}, whose names a frame would lose; pass its integers to "
            "cairn.asarray"
        )


def _dimension_of(dimension: Any) -> Optional[str]:
    if dimension.label:
        return str(dimension.label)
    for scale in dimension.values():
        return str(os.path.basename(scale.name))
    return None


def _is_of_netcdf(items: Any) -> bool:
    """Returns True for a variable in a file of netCDF."""
    return "_NCProperties" in items.file.attrs or any(name in items.attrs for name in _OF_NETCDF)


def _as_scalar(value: Any) -> Any:
    """Returns the only item of an array of one. netCDF has no scalar attributes, so its readers do that."""
    return value[0] if isinstance(value, np.ndarray) and value.shape == (1,) and value.dtype.names is None else value


def _as_value(h5py: Any, where: str, name: str, value: Any) -> Any:
    """Returns an attribute as metadata of frames have it."""
    if isinstance(value, h5py.Empty):
        return None
    if isinstance(value, np.void) and value.dtype.names is None:
        return value.tobytes()
    if isinstance(value, bytes):  # a text of a fixed length
        with contextlib.suppress(UnicodeDecodeError):
            return value.decode()
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        if all(isinstance(one, str) for one in value.flat):
            return value.tolist()
        raise InvalidType(f"{where}: attribute {name!r}: its items are {type(value.flat[0]).__name__}, which metadata do not have")
    if isinstance(value, (np.generic, str, bytes)) and not isinstance(value, np.void):
        return value
    if isinstance(value, np.ndarray):
        return value
    raise InvalidType(f"{where}: attribute {name!r}: is a {type(value).__name__}, which metadata do not have")


@raises_ours
def to_hdf5(
    path: Union[Path, Readable],
    file: Path,
    dataset: str,
    *,
    chunks: Union[int, Sequence[int], None] = None,
    compression: Union[str, int, None] = None,
    compression_opts: Any = None,
    shuffle: bool = False,
    overwrite: bool = False,
    threads: int = 1,
    progress: Optional[Callable[[int], object]] = None,
) -> None:
    """Writes a frame as a dataset of an HDF5 file, in boxes of 32 MiB, or of a chunk if that is larger.

    The vlmetalayers that are values become attributes, and names of dimensions their labels. What
    HDF5 does not have is refused, such as dicts and texts of NumPy's type U.

    path
        A frame, or its path as `cairn.open` takes it.
    file
        The path of the file. It is made if there is none, and then appears when it is complete.
    dataset
        The name of the dataset in it. Groups are made.
    chunks
        The shape of a chunk, in items. The default is that of the frame.
    compression, compression_opts, shuffle
        How HDF5 compresses, as h5py's `create_dataset` takes it. By default it does not.
    overwrite
        Replaces a dataset of that name. Otherwise one that exists raises `AlreadyExists`.
    threads
        The number of threads that decompress blocks, if `path` is not an open frame.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no dataset is made.
    """
    h5py = package("h5py", "to_hdf5")
    name = name_of(file)
    where = f"{name}: dataset {dataset!r}"
    with reading(path, threads) as state, _opened_for_writing(h5py, name) as opened:
        items = state.items
        cut = items.chunks if chunks is None else tuple(extents(chunks, "chunks"))
        cut = tuple(min(edge, max(size, 1)) for edge, size in zip(cut, items.shape))
        dtype = _type_in_hdf5(h5py, where, items.dtype)
        beside = f"{dataset}.{uuid.uuid4().hex[:16]}.tmp"
        with told(where):
            if dataset in opened and not isinstance(opened[dataset], h5py.Dataset):
                raise FailedPrecondition(f"{where}: not replaced: expected a dataset, got a group")
            if dataset in opened and not overwrite:
                raise AlreadyExists(f"{where}: already exists; overwrite=True replaces it")
            made = opened.create_dataset(
                beside, items.shape, dtype, chunks=cut if items.size and items.shape else None,
                compression=compression, compression_opts=compression_opts, shuffle=shuffle, fillvalue=state.fill,
            )  # fmt: skip
        try:
            for key, value in state.attrs.items():
                _set_attribute(h5py, where, made, key, value)
            for axis, one in enumerate(state.dims or []):
                made.dims[axis].label = one
            copy_out(items, made, cut, progress, dtype)
            with told(where):
                if dataset in opened:
                    del opened[dataset]
                opened.move(beside, dataset)
        except BaseException:
            del opened[beside]
            raise


@contextlib.contextmanager
def _opened_for_writing(h5py: Any, name: str) -> Iterator[Any]:
    """Opens a file, or makes one, which appears at the end."""
    if os.path.lexists(name):
        with told(name):
            opened = h5py.File(name, "r+")
        with opened:
            yield opened
        return
    with file_beside(name, False) as beside:
        with told(name):
            opened = h5py.File(beside, "w")
        with opened:
            yield opened


def _type_in_hdf5(h5py: Any, where: str, dtype: np.dtype) -> np.dtype:
    if dtype.kind == "U":
        raise InvalidType(f"{where}: HDF5 has no items of type {dtype}; store bytes, such as items.astype('S20')")
    return h5py.opaque_dtype(dtype) if dtype.kind in "mM" else dtype


def _set_attribute(h5py: Any, where: str, made: Any, name: str, value: Any) -> None:
    kept = value
    if value is None:
        kept = h5py.Empty("f4")
    elif isinstance(value, bytes):
        kept = np.void(value) if value else h5py.Empty("S1")
    elif isinstance(value, (list, tuple)):
        with told(f"{where}: attribute {name!r}"):
            kept = np.asarray(value) if value else np.empty(0)
        is_text = kept.dtype.kind == "U" and all(isinstance(one, str) for one in np.asarray(value, object).flat)
        if kept.dtype.kind not in "biufc" and not is_text:
            kept = None
    elif not isinstance(value, (bool, int, float, complex, str, np.ndarray)):
        kept = None
    if isinstance(kept, np.ndarray) and kept.dtype.kind == "U":
        kept = kept.astype(h5py.string_dtype())
    if kept is None:
        raise InvalidType(f"{where}: attribute {name!r}: HDF5 has no {type(value).__name__} of these values")
    with told(f"{where}: attribute {name!r}"):
        made.attrs[name] = kept
