"""Opening and making frames."""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union

import numpy as np

from . import _engine, options
from .arguments import raise_ours, raises_ours
from .errors import Error, InvalidArgument, InvalidType, NotFound
from .frame import Frame
from .options import FilterLike, Limits
from .paths import Path, files_of, is_uri, name_of
from .recipe import make_recipe
from .source import fill, source_of
from .writer import Writer

MAGIC = b"b2frame"  # from the third byte of a frame on
_MODES = ("r", "r+", "a", "w", "x")


@raises_ours
def open(
    path: Union[Path, bytearray, memoryview],
    mode: str = "r",
    *,
    dtype: Any = None,
    generation: Optional[int] = None,
    durable_only: bool = False,
    mmap: bool = True,
    verify: str = "first",
    threads: int = 1,
    cache_memory: int = 8 << 20,
    limits: Limits = Limits(),
    wait: float = 0.0,
    shape: Union[int, Sequence[int], None] = (0,),
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
    meta: Optional[Mapping[str, Any]] = None,
    raw_meta: Optional[Mapping[str, bytes]] = None,
) -> Frame:
    """Opens a frame that any Blosc2 library wrote, or makes one.

    path
        A file, the directory of a sparse frame, "s3://bucket/name" in an object store, or, for
        reading only, "https://host/name". The settings of stores come from the environment, such as
        AWS_ACCESS_KEY_ID, when the first one is used. The path may also be the bytes of a frame,
        such as those of `Frame.to_bytes`. A copy of them in memory is then read.
    mode
        "r" opens the frame for reading, and "r+" also for changing it. "a" is "r+", and makes the
        frame if there is none. "w" makes it and replaces one that exists. "x" makes it, and raises
        `AlreadyExists` if there is one.
    dtype
        The type of the items of a frame that does not name it, such as a super-chunk of C-Blosc2.
        The default is uint8, or raw bytes ("V8"). If an array names its type, any other one is
        refused. A frame that is made gets this type.
    generation
        Opens an older state, read-only. `Frame.history` lists them.
    durable_only
        Shows only commits that no power cut can take back. The frame is then read-only.
    mmap
        Reads through a memory map. False reads by system calls, which copy.
    verify
        When fingerprints are checked: at the "first" read of a chunk, "always" or "never".
    threads
        The number of threads that compress and decompress blocks. 1 is the calling thread, and 0
        means one thread for each core.
    cache_memory
        The maximum number of bytes that the frame and its snapshots keep of decoded data: blocks of
        plain frames of which a small part is read, and chunks of up to 64 KiB that `read_chunk`
        reads. They are kept when they are read for the second time. 0 keeps none.
    limits
        Bounds on what the file may cost, for files that nobody trusts.
    wait
        The number of seconds that changes of the frame wait for another writer: `f[key] = values`,
        `append`, `resize` and changes of `vlmeta`, and also `writer` and `compact` if they do not
        say it themselves. After it they raise `Unavailable`. The default does not wait.

    The other arguments are those of `create`, and only modes that can make a frame take them:

    shape
        The number of items along each dimension, or None for a plain frame.
    chunks, blocks
        The shapes of chunks and of blocks, in items.
    codec, clevel, codec_meta, filters, use_dict
        How chunks are compressed.
    chunksize, blocksize
        The sizes of chunks and blocks in bytes, where no shape says them.
    sparse
        Makes a directory with one file for each chunk.
    meta, raw_meta
        The metalayers, as Python values and as bytes.
    """
    if mode not in _MODES:
        raise InvalidArgument(f"mode: expected one of {', '.join(_MODES)}, got {mode!r}")
    content = _content_of(path)
    name = "frame in memory" if content is not None else name_of(path)  # type: ignore[arg-type]
    new: dict[str, Any] = {
        "shape": shape, "chunks": chunks, "blocks": blocks, "codec": codec, "clevel": clevel,
        "codec_meta": codec_meta, "filters": filters, "chunksize": chunksize,
        "blocksize": blocksize, "use_dict": use_dict, "sparse": sparse, "meta": meta,
        "raw_meta": raw_meta,
    }  # fmt: skip
    if content is not None and (mode != "r" or _given(new, _OPEN)):
        raise InvalidArgument(f"{name}: bytes are only read, with mode 'r'; write them into a file to change them")
    if mode in ("w", "x") or mode == "a" and not _is_there(name):
        return create(
            name, dtype="u1" if dtype is None else dtype, overwrite=mode == "w", threads=threads,
            wait=wait, **new,
        )  # fmt: skip
    if mode != "a" and (given := _given(new, _OPEN)):
        raise InvalidType(f"{name}: mode {mode!r} does not take {', '.join(given)}")
    opened_with = {
        "generation": generation,
        "durable_only": durable_only,
        "mmap": mmap,
        "verify": verify,
        "threads": threads,
        "cache_memory": cache_memory,
        "limits": limits,
        "wait": wait,
    }
    try:
        if content is not None:
            return _open_content(content, dtype, opened_with)
        return Frame(_engine_of(name, opened_with), name, "r" if mode == "r" else "r+", _known(dtype), opened_with)
    except Exception as error:  # noqa: BLE001: it is raised again
        if isinstance(path, bytes) and isinstance(error, NotFound):
            error.args = (f"{error}; bytes that do not begin as a frame are a path",)
        if content is None and isinstance(error, InvalidArgument) and (hint := _hint_of_directory(name)):
            error.args = (f"{error}; {hint}",)
        raise_ours(error, name)


def _hint_of_directory(name: str) -> str:
    """Returns how to open what a directory holds that is not a frame."""
    try:
        names = sorted(os.listdir(name))
    except OSError:  # no directory
        return ""
    if any(one.startswith("log.") and one.endswith(".b2frame") for one in names):
        return f"it holds files of a log: cairn.Log.open({name!r})"
    arrays = [one for one in names if one.endswith(".b2nd")]
    if arrays:
        first = os.path.join(name, arrays[0])
        return f"it is a dataset of {len(arrays)} frames: xarray.open_dataset({name!r}, engine='cairn'), or cairn.open({first!r})"
    return f"it holds {', '.join(map(repr, names[:3]))}{', ...' if len(names) > 3 else ''}" if names else "it is empty"


def reopened(path: str, mode: str, dtype: Optional[np.dtype], opened_with: dict[str, Any]) -> Frame:
    """Opens the frame that was pickled."""
    return open(path, mode, dtype=dtype, **opened_with)


def _known(dtype: Any) -> Optional[np.dtype]:
    return None if dtype is None else options.check_dtype(dtype)


def _engine_of(name: str, opened_with: Mapping[str, Any]) -> _engine.Frame:
    generation = opened_with["generation"]
    return _engine.open(
        name,
        None if generation is None else options.integer(generation, "generation", 0, 2**63 - 1),
        opened_with["durable_only"],
        opened_with["mmap"],
        options.number_of(opened_with["verify"], options.VERIFY_POLICIES, "verify"),
        options.integer(opened_with["cache_memory"], "cache_memory", 0, 2**63 - 1),
        opened_with["limits"]._counts(),
        options.integer(opened_with["threads"], "threads"),
        files_of(name),
    )


def _content_of(source: Any) -> Optional[memoryview]:
    """Returns the bytes of a frame in memory, or None if `source` is a path, which may be bytes, too."""
    if isinstance(source, (str, os.PathLike)) or isinstance(source, bytes) and source[2:9] != MAGIC:
        return None
    try:
        return memoryview(source).cast("B")
    except (TypeError, ValueError):  # items that are not side by side, or no bytes: `name_of` refuses them
        return None


def _open_content(content: memoryview, dtype: Any, opened_with: dict[str, Any]) -> Frame:
    """Opens a copy of the bytes, in a file that has no name and ends with the frame."""
    file = os.memfd_create("cairn", os.MFD_CLOEXEC)
    name = f"/proc/self/fd/{file}"
    try:
        with os.fdopen(os.dup(file), "wb") as out:
            out.write(content)
        frame = Frame(_engine_of(name, opened_with), None, "r", _known(dtype), opened_with)
    except Exception as error:  # noqa: BLE001: it is raised again
        os.close(file)
        if isinstance(error, Error):
            error.args = (str(error).replace(name, f"frame in memory ({len(content)} bytes)"),)
        raise
    weakref.finalize(frame, os.close, file)
    return frame


def _is_there(name: str) -> bool:
    if not is_uri(name):
        return os.path.lexists(name)
    try:
        open(name).close()
    except NotFound:
        return False
    return True


@raises_ours
def create(
    path: Optional[Path] = None,
    shape: Union[int, Sequence[int], None] = (0,),
    dtype: Any = "u1",
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
    meta: Optional[Mapping[str, Any]] = None,
    raw_meta: Optional[Mapping[str, bytes]] = None,
    overwrite: bool = False,
    threads: int = 1,
    wait: float = 0.0,
) -> Frame:
    """Makes a frame, and opens it with mode "r+".

    path
        The path as `open` takes it. None makes a frame in memory.
    shape
        The number of items along each dimension of an array. Its items are zeros, which take no
        space, and it can grow. None makes a plain frame, which C-Blosc2 calls a super-chunk. Small
        appends are cheapest there, but it does not keep the dtype.
    dtype
        The type of an item, as NumPy takes it.
    chunks, blocks
        The shapes of chunks, the unit of storing, and of blocks, the unit of reading, in items. By
        default they follow from `chunksize` and `blocksize`.
    codec
        "blosclz", "lz4", "lz4hc", "zlib" or "zstd". "pco" and "bitpack" are for numbers, and
        "auto" chooses what codes each column; other Blosc2 libraries need a plug-in. "ndlz" is for arrays. "zfp_acc", "zfp_prec" and "zfp_rate" are for
        arrays of floats, and lose bits.
    clevel
        The compression level, 0 to 9: 0 stores, 1 is the fastest and 9 gives the smallest chunks.
    codec_meta
        The parameter of these: the side of a cell for "ndlz", the largest error as a power of 10 for
        "zfp_acc", the number of bits that are kept for "zfp_prec", and the size in per cent for
        "zfp_rate".
    filters
        Names of filters in their order, or pairs of a name and its parameter: "shuffle",
        "bitshuffle", "delta", "trunc_prec", "ndcell", "ndmean", "bytedelta" or "int_trunc".
        ("trunc_prec", 10) keeps 10 bits of the fraction of floats, and loses the others. With
        codecs of numbers and ZFP, the default is none.
    chunksize
        The maximum size of a chunk in bytes, decoded.
    blocksize
        The size of a block in bytes, decoded. 0 chooses a size by the codec and the level.
    use_dict
        Trains a dictionary for each chunk, for lz4, lz4hc and zstd.
    sparse
        Makes a directory with one file for each chunk.
    meta
        The metalayers: names and values, as `Frame.meta` has them. Their number and their sizes
        cannot change later.
    raw_meta
        More metalayers, as the bytes to store.
    overwrite
        Replaces a frame of that path. Otherwise one that exists raises `AlreadyExists`.
    threads
        The number of threads that compress and decompress blocks, as in `open`.
    wait
        The number of seconds that changes of the frame wait for another writer, as in `open`.
    """
    known = options.check_dtype(dtype)
    recipe = make_recipe(
        known, shape, chunks=chunks, blocks=blocks, codec=codec, clevel=clevel,
        codec_meta=codec_meta, filters=filters, chunksize=chunksize, blocksize=blocksize,
        use_dict=use_dict, sparse=sparse, meta=meta, raw_meta=raw_meta, overwrite=overwrite,
    )  # fmt: skip
    return _made(recipe, path, known, threads, wait)


@raises_ours
def asarray(
    items: Any,
    path: Optional[Path] = None,
    *,
    dtype: Any = None,
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
    meta: Optional[Mapping[str, Any]] = None,
    raw_meta: Optional[Mapping[str, bytes]] = None,
    overwrite: bool = False,
    threads: int = 1,
    wait: float = 0.0,
    progress: Optional[Callable[[int], object]] = None,
) -> Frame:
    """Makes a frame of an array, and opens it with mode "r+".

    The frame appears under `path` when it is complete.

    items
        Anything with `shape`, `dtype` and slices, or what NumPy makes an array of. It is read in
        boxes of 32 MiB, or of a chunk if that is larger. A `Frame` is returned as it is if no other
        argument is given.
    path
        The path as `open` takes it. None makes a frame in memory.
    dtype
        The type of an item in the frame. The default is the type that the items have.

    The other arguments are those of `create`:

    chunks, blocks
        The shapes of chunks and of blocks, in items.
    codec, clevel, codec_meta, filters, use_dict
        How chunks are compressed.
    chunksize, blocksize
        The sizes of chunks and blocks in bytes, where no shape says them.
    sparse
        Makes a directory with one file for each chunk.
    meta, raw_meta
        The metalayers, as Python values and as bytes.
    overwrite
        Replaces a frame of that path. Otherwise one that exists raises `AlreadyExists`.
    threads
        The number of threads that compress and decompress blocks.
    wait
        The number of seconds that changes of the frame wait for another writer.
    progress
        A function that is called with the number of chunks done. An exception that it raises stops
        the call, and no frame is made.
    """
    how: dict[str, Any] = {
        "chunks": chunks, "blocks": blocks, "codec": codec, "clevel": clevel,
        "codec_meta": codec_meta, "filters": filters, "chunksize": chunksize,
        "blocksize": blocksize, "use_dict": use_dict, "sparse": sparse, "meta": meta,
        "raw_meta": raw_meta, "overwrite": overwrite,
    }  # fmt: skip
    if path is None and isinstance(items, Frame):
        others = {"dtype": dtype, "threads": threads, "wait": wait, "progress": progress}
        if not _given({**how, **others}, _ASARRAY):
            return items
    source = source_of(items)
    known = options.check_dtype(source.dtype if dtype is None else dtype)
    return _made(make_recipe(known, tuple(source.shape), **how), path, known, threads, wait, source, progress)


def _made(
    recipe: _engine.Recipe,
    path: Optional[Path],
    dtype: np.dtype,
    threads: int,
    wait: float,
    source: Any = None,
    progress: Optional[Callable[[int], object]] = None,
) -> Frame:
    """Makes the frame, fills it from an array unless that is None, and opens it."""
    threads = options.integer(threads, "threads")
    options.milliseconds(wait)  # before anything is made
    if path is None:
        frame = Frame(_engine.create_in_memory(recipe, threads), None, "r+", dtype, {"wait": wait})
        if source is not None:
            with frame.writer() as writer:
                fill(writer._engine, source, dtype, progress)
        return frame
    name = name_of(path)
    engine = _engine.build(name, recipe, threads, files_of(name))
    if source is not None:
        fill(engine, source, dtype, progress)
    engine.close()
    return open(name, "r+", dtype=dtype, threads=threads, wait=wait)


def recipe_of(dtype: np.dtype, **how: Any) -> _engine.Recipe:
    """Returns the options of a plain frame. `how` is as in `create`."""
    return make_recipe(dtype, None, **{**_RECIPE, **how})


def begin_create(
    path: str, shape: Optional[Sequence[int]], dtype: np.dtype, *, threads: int = 1, **how: Any
) -> Writer:
    """Begins a frame that appears under `path` when its writer commits. `how` is as in `create`.

    After an exception in the block of the writer no frame is made, and one that is there stays.
    """
    threads = options.integer(threads, "threads")
    recipe = make_recipe(options.check_dtype(dtype), shape, **{**_RECIPE, **how})
    return _NewWriter(_engine.build(path, recipe, threads, files_of(path)), dtype, lambda: None, path)


class _NewWriter(Writer):
    """The writer of a frame that is not there yet. Closing it would make the frame, also without a commit."""

    __slots__ = ()

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if kind is None or self._closed:
            super().__exit__(kind, error, trace)
        else:
            self._drop()


def _defaults_of(call: Callable[..., Any]) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(call).parameters.items()}


_OPEN = _defaults_of(open)
_ASARRAY = _defaults_of(asarray)
_RECIPE = {name: _ASARRAY[name] for name in _defaults_of(make_recipe) if name in _ASARRAY and name != "dtype"}


def _given(arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """Returns the names of the arguments that are not the defaults themselves."""
    return [name for name, value in arguments.items() if value is not defaults[name]]
