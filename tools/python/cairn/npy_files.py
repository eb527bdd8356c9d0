"""Conversions from NumPy's files and to them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, Optional, Union

import numpy as np

from .arguments import raises_ours
from .conversion import Source, copy_out, file_beside, into_frame, reading, told
from .errors import InvalidArgument, NotFound, of_os_error
from .frame import Frame
from .options import FilterLike
from .paths import Path, is_uri, name_of
from .readable import Readable


@raises_ours
def from_npy(
    file: Path,
    path: Path,
    *,
    member: Optional[str] = None,
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
    """Makes a frame of an array in a file of NumPy, and opens it with mode "r+".

    The array is read in boxes of 32 MiB, or of a chunk if that is larger. The frame appears when it
    is complete.

    file
        The path of a file ".npy" or ".npz". An array in ".npz" is first decompressed into a file
        without a name, in the folder of the frame.
    path
        The path of the frame, as `create` takes it.
    member
        The name of the array in a file ".npz". It may be missing if there is only one.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no frame is made.

    The other arguments are those of `create`:

    chunks, blocks
        The shapes of chunks and of blocks, in items.
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
    name, to = name_of(file), name_of(path)
    with told(name), _mapped(name, member, None if is_uri(to) else os.path.dirname(to)) as items:
        source = Source(name, items)
    return into_frame(source, to, how, overwrite, threads, progress)


@contextlib.contextmanager
def _mapped(name: str, member: Optional[str], folder: Optional[str]) -> Iterator[np.ndarray]:
    """Maps an array into memory."""
    if not zipfile.is_zipfile(name):
        if member is not None:
            raise InvalidArgument(f"{name}: member: expected None for a file that is not a '.npz', got {member!r}")
        yield np.load(name, mmap_mode="r")
        return
    with zipfile.ZipFile(name) as archive, _file_in(folder) as whole:
        with archive.open(_member_of(name, archive, member)) as packed:
            shutil.copyfileobj(packed, whole, 1 << 20)
        whole.flush()
        yield np.load(f"/proc/self/fd/{whole.fileno()}", mmap_mode="r")


def _file_in(folder: Optional[str]) -> IO[bytes]:
    """Opens a file without a name."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise of_os_error(error, None if folder is None else os.path.join(folder, "")) from error


def _member_of(name: str, archive: zipfile.ZipFile, member: Optional[str]) -> str:
    names = [one.removesuffix(".npy") for one in archive.namelist()]
    if member is None and len(names) == 1:
        return archive.namelist()[0]
    if member in names:
        return archive.namelist()[names.index(member)]
    kind = InvalidArgument if member is None else NotFound
    raise kind(f"{name}: member: expected one of {', '.join(map(repr, names))}, got {member!r}")


@raises_ours
def to_npy(
    path: Union[Path, Readable],
    file: Path,
    *,
    overwrite: bool = False,
    threads: int = 1,
    progress: Optional[Callable[[int], object]] = None,
) -> None:
    """Writes the items of a frame into a file of NumPy, in boxes of 32 MiB, or of a chunk if that is larger.

    path
        A frame, or its path as `cairn.open` takes it.
    file
        The path of the file, which appears when it is complete. It keeps no metadata.
    overwrite
        Replaces a file of that name. Otherwise one that exists raises `AlreadyExists`.
    threads
        The number of threads that decompress blocks, if `path` is not an open frame.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no file is made.
    """
    name = name_of(file)
    with reading(path, threads) as state, file_beside(name, overwrite) as beside:
        items = state.items
        with told(name):
            target = np.lib.format.open_memmap(beside, mode="w+", dtype=items.dtype, shape=items.shape)
        copy_out(items, target, items.chunks, progress)
        target.flush()
        del target
