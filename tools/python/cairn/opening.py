"""Opening and making frames."""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _engine, options
from .arguments import raise_of_call, raise_ours, raises_ours
from .errors import Error, InvalidArgument, InvalidType, NotFound
from .frame import Frame
from .metadata import packed
from .options import FilterLike
from .paths import Path, files_of, is_uri, name_of
from .times import without_zone
from .view import View, bytes_of, check_unmasked

_MAGIC = b"b2frame"  # from the third byte of a frame on
_MODES = ("r", "r+", "a", "w", "x")


def reopened(path: str, mode: str, dtype: Optional[np.dtype], opened_with: dict[str, Any]) -> Frame:
    return open(path, mode, dtype=dtype, **opened_with)


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
    **new: Any,
) -> Frame:
    """Opens a frame that any Blosc2 wrote, or makes one.

    path
        A file, the directory of a sparse frame, "s3://bucket/name" in an object store, or, for
        reading, "https://host/name". Settings of stores are those of the environment, such as
        AWS_ACCESS_KEY_ID, when the first one is used. Or the bytes of a frame, such as those of
        `Frame.to_bytes`, of which a copy in memory is read.
    mode
        "r" reads; "r+" also changes; "a" is "r+" and makes the frame where there is none; "w" makes
        it, in place of one that is there; "x" makes it where there is none.
    dtype
        The type of the items of a frame that does not say it, such as a super-chunk of C-Blosc2; by
        default uint8, or raw bytes ("V8"). Any other type than that which an array says is refused.
    generation
        An older state, see `Frame.history`; read-only.
    durable_only
        Shows only commits that no power cut takes back; read-only.
    mmap
        False reads by system calls, and so copies what is read.
    verify
        When fingerprints are checked: at the "first" read of a chunk, "always" or "never".
    threads
        Threads that compress and decompress blocks; 0 means one for each core.
    new
        What `create` takes, in modes "a", "w" and "x".
    """
    if mode not in _MODES:
        raise InvalidArgument(f"mode {mode!r} is not one of {', '.join(_MODES)}")
    content = _content_of(path)
    name = "frame in memory" if content is not None else name_of(path)
    if content is not None and (mode != "r" or new):
        raise InvalidArgument(f"{name}: bytes are only read, with mode 'r'; write them into a file to change them")
    if mode in ("w", "x") or mode == "a" and not _is_there(name):
        return create(name, dtype="u1" if dtype is None else dtype, threads=threads, overwrite=mode == "w", **new)
    if new and mode != "a":
        raise InvalidType(f"{name}: mode {mode!r} does not take {', '.join(new)}")
    opened_with = {
        "generation": generation,
        "durable_only": durable_only,
        "mmap": mmap,
        "verify": verify,
        "threads": threads,
    }
    try:
        if content is not None:
            return _open_content(content, dtype, opened_with)
        return Frame(_engine_of(name, opened_with), name, "r" if mode == "r" else "r+", _known(dtype), opened_with)
    except Exception as error:  # noqa: BLE001: it is raised again
        if isinstance(path, bytes) and isinstance(error, NotFound):
            error.args = (f"{error}; bytes that do not begin as a frame are a path",)
        raise_ours(error, name)


def _known(dtype: Any) -> Optional[np.dtype]:
    return None if dtype is None else options.check_dtype(dtype)


def _engine_of(
    name: str, opened_with: Mapping[str, Any]
) -> _engine.Frame:
    generation = opened_with["generation"]
    return _engine.open(
        name,
        None if generation is None else options.integer(generation, "generation", 0, 2**63 - 1),
        opened_with["durable_only"],
        opened_with["mmap"],
        options.number_of(opened_with["verify"], options.VERIFY_POLICIES, "verify"),
        options.integer(opened_with["threads"], "threads"),
        files_of(name),
    )


def _content_of(source: Any) -> Optional[memoryview]:
    """The bytes of a frame in memory; None where `source` is a path, which may be bytes, too."""
    if isinstance(source, (str, os.PathLike)) or isinstance(source, bytes) and source[2:9] != _MAGIC:
        return None
    try:
        return memoryview(source).cast("B")
    except (TypeError, ValueError):  # of items that are not side by side, or no bytes at all: `name_of` refuses it
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
) -> Frame:
    """Makes a frame, and opens it with mode "r+".

    path
        As `open` takes it. None makes a frame in memory.
    shape
        An array of zeros, which take no space; it can grow. None makes a plain frame, C-Blosc2's
        super-chunk: small appends are cheapest there, but it does not keep the dtype.
    chunks, blocks
        Shapes of chunks, the unit of storing, and of blocks, the unit of reading. By default chunks
        have at most `chunksize` bytes, and blocks as the codec likes them.
    codec, clevel, codec_meta, filters, use_dict
        How chunks are compressed: "blosclz", "lz4", "lz4hc", "zlib" or "zstd", level 0 to 9, and
        names of filters, or pairs of a name and its parameter. "ndlz", "zfp_acc", "zfp_prec" and
        "zfp_rate" need `codec_meta`, see docs/cpp-api.md; ZFP loses bits.
    sparse
        Makes a directory with a file for each chunk.
    meta
        Metalayers: names and values, as `Frame.meta` has them. Their number and sizes stay.
    raw_meta
        Metalayers as the bytes to store.
    """
    name = None if path is None else name_of(path)
    known = options.check_dtype(dtype)
    recipe = _recipe(
        known, shape, chunks=chunks, blocks=blocks, codec=codec, clevel=clevel,
        codec_meta=codec_meta, filters=filters, chunksize=chunksize, blocksize=blocksize,
        use_dict=use_dict, sparse=sparse, meta=meta, raw_meta=raw_meta, overwrite=overwrite,
    )  # fmt: skip
    threads = options.integer(threads, "threads")
    if name is None:
        return Frame(_engine.create_in_memory(recipe, threads), None, "r+", known, {})
    _engine.build(name, recipe, threads, files_of(name)).close()
    return open(name, "r+", dtype=known, threads=threads)


def _recipe(
    dtype: np.dtype,
    shape: Any,
    *,
    meta: Optional[Mapping[str, Any]],
    raw_meta: Optional[Mapping[str, bytes]],
    **new: Any,
) -> _engine.Recipe:
    """Of what `create` takes."""
    try:
        layers = {name: packed(f"metalayer {name!r}", value) for name, value in (meta or {}).items()}
        return options.make_recipe(dtype, shape, meta={**layers, **(raw_meta or {})}, **new)
    except Exception as error:  # noqa: BLE001: it is raised again
        raise_of_call(error, "", create, (), {"meta": meta, "raw_meta": raw_meta, **new})


@raises_ours
def asarray(items: Any, path: Optional[Path] = None, **new: Any) -> Frame:
    """A frame of an array: anything with `shape`, `dtype` and slices, or what NumPy makes one of.

    It appears under `path` when it is complete. `new` is what `create` takes. A `Frame` without a
    path and options is returned as it is.
    """
    if path is None and not new and isinstance(items, Frame):
        return items
    check_unmasked(items)
    items = without_zone(items)
    is_array = hasattr(items, "shape") and isinstance(getattr(items, "dtype", None), np.dtype)
    source = items if is_array else np.asarray(items)
    known = options.check_dtype(new.pop("dtype", source.dtype))
    threads = new.pop("threads", 1)
    shape = tuple(source.shape)
    if path is None:
        frame = create(None, shape, known, threads=threads, **new)
        with frame.writer() as writer:
            _fill(writer._engine, source, known)
        return frame
    name = name_of(path)
    recipe = _recipe(known, shape, **{**_NEW, **new})
    engine = _engine.build(name, recipe, options.integer(threads, "threads"), files_of(name))
    _fill(engine, source, known)
    engine.close()
    return open(name, "r+", dtype=known, threads=threads)


_NEW: dict[str, Any] = {
    name: one.default
    for name, one in inspect.signature(create).parameters.items()
    if one.kind is one.KEYWORD_ONLY and name != "threads"
}


def _fill(engine: _engine.Writer, source: Any, dtype: np.dtype) -> None:
    """Writes the source row of chunks by row of chunks: no more of it is copied at once."""
    shape = tuple(source.shape)
    if 0 in shape:
        return
    chunks = View(engine.staged(), dtype).chunks
    step = chunks[0] if shape else 1
    for begin in range(0, shape[0] if shape else 1, step):
        part = source[begin : begin + step] if shape else source
        items = np.ascontiguousarray(part, dtype)
        start = [begin] + [0] * (len(shape) - 1) if shape else []
        engine.write_box(start, list(items.shape) if shape else [], bytes_of(items))
