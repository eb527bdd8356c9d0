"""Frames: opening, making and changing them."""

from __future__ import annotations

import inspect
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union

import numpy as np

from . import _engine, options
from .arguments import members_raise_ours, raise_of_call, raise_ours, raises_ours
from .errors import Error, FailedPrecondition, InvalidArgument, InvalidType, NotFound, ReadOnly
from .follow import Follower
from .info import Generation
from .metadata import Edit, packed
from .options import FilterLike
from .paths import Path, files_of, is_uri, name_of, text_of
from .readable import Readable, Snapshot
from .times import without_zone
from .view import View, bytes_of, check_unmasked
from .writer import Writer

_MAGIC = b"b2frame"  # from the third byte of a frame on
_MODES = ("r", "r+", "a", "w", "x")


@members_raise_ours
class Frame(Readable):
    """A frame: a file, a directory, or bytes in memory.

    It shows the state that it has seen last; `refresh` looks for a newer one, and its own commits
    it sees at once. Threads may share it.
    """

    __slots__ = (
        "_dtype", "_engine", "_kept", "_lock", "_mode", "_options", "_path", "_state", "_turn",
        "__weakref__",
    )  # fmt: skip

    def __init__(
        self,
        engine: _engine.Frame,
        path: Optional[str],
        mode: str,
        dtype: Optional[np.dtype],
        opened_with: dict[str, Any],
    ):
        self._engine = engine
        self._path = path
        self._mode = mode
        self._dtype = dtype
        self._options = opened_with
        self._lock = threading.Lock()  # of `_state`, which only goes forward
        view = View(engine.snapshot(), dtype, path)
        array = None if dtype is None else view.engine.array()
        if array is not None:
            options.check_said_dtype(array[3], view.dtype)
        self._state: Optional[View] = view
        # The writer of the last single edit, suspended: resuming it is cheaper than opening one.
        self._kept: Optional[_engine.Writer] = None
        self._turn = threading.RLock()  # of single edits

    def _view(self) -> View:
        state = self._state
        if state is None:
            raise FailedPrecondition(f"{self._where}: the frame is closed")
        return state

    @property
    def _where(self) -> str:
        return self._path or "frame in memory"

    def _go_on(self) -> bool:
        """To the newest state that the engine has seen, if that is another; unless closed."""
        with self._lock:
            engine = self._engine.snapshot()
            if self._state is None or engine.is_same(self._state.engine):
                return False
            self._state = View(engine, self._dtype, self._path)
            return True

    def _read_only(self) -> ReadOnly:
        how = "write its bytes into a file" if self._path is None else "open it with mode 'r+'"
        return ReadOnly(f"{self._where}: opened for reading; {how}")

    def _edit(self) -> Edit:
        if self._mode == "r":
            return None

        return lambda change: self._change(lambda writer: change(writer._engine))

    def _change(self, edit: Callable[[Writer], None]) -> None:
        """Makes a single edit, and commits it; the threads that share this frame take turns."""
        with self._turn:
            kept, self._kept = self._kept, None
            if kept is None or self._state is None:
                writer = self.writer()
            else:
                kept.resume()
                writer = Writer(kept, self._dtype, self._go_on, self._path)
            with writer:
                edit(writer)
                if writer._suspend():
                    with self._lock:
                        self._kept = writer._engine if self._state is not None else None

    @property
    def path(self) -> Optional[str]:
        """Where the frame is; None in memory."""
        return self._path

    @property
    def mode(self) -> str:
        """"r", or "r+" where the frame can be changed."""
        return self._mode

    def snapshot(self) -> Snapshot:
        """The state that is shown now; it stays when the frame goes on."""
        return Snapshot(self._view())

    def refresh(self, *, wait: float = 0.0) -> bool:
        """Goes on to the newest commit; returns whether there was a newer one.

        Waits up to `wait` seconds for one; a signal is handled after that.
        """
        before = self._view()
        if wait > 0:
            self._engine.wait_for_commit(before.engine, options.milliseconds(wait))
        else:
            self._engine.refresh()
        found = self._go_on()
        if found:
            self._kept = None  # it would keep what others have replaced since
        return found

    def writer(
        self, *, wait: float = 0.0, keep_generations: int = 0, max_file_size: int = 0
    ) -> Writer:
        """Opens the one writer of the frame, over all processes; use it as a context manager.

        Waits `wait` seconds for another writer, then raises `Unavailable`; a signal is handled
        after that. `keep_generations` older states stay readable, see `history`. `max_file_size`
        bounds the file; 0 means no limit.
        """
        self._view()
        if self._mode == "r":
            raise self._read_only()
        self._kept = None
        engine = self._engine.open_writer(
            options.milliseconds(wait),
            options.integer(keep_generations, "keep_generations"),
            options.integer(max_file_size, "max_file_size", 0, 2**63 - 1),
        )
        return Writer(engine, self._dtype, self._go_on, self._path)

    def append(self, items: Any, axis: int = 0) -> None:
        """Adds items, or slices along an axis, and commits. Use a `writer` for many of them."""
        self._change(lambda writer: writer.append(items, axis))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._change(lambda writer: writer.__setitem__(key, value))

    def resize(self, *shape: int) -> None:
        """Grows or shrinks an array along any axes, and commits."""
        self._change(lambda writer: writer.resize(*shape))

    @property
    def history(self) -> list[Generation]:
        """The states that `cairn.open(path, generation=...)` can open, the oldest first."""
        self._view()
        return [Generation(*one) for one in self._engine.history(None, 2**63 - 1)]

    def follow(
        self, start: Optional[int] = None, *, poll: float = 0.05, timeout: Optional[float] = None
    ) -> Follower:
        """What is appended from now on, or from item `start`: `for items in f.follow()`.

        Ends when there was nothing new for `timeout` seconds. Each commit is seen at once, and a
        signal after `poll` seconds. Also an async iterator: `async for items in f.follow()`.
        """
        return Follower(self, start, poll, timeout)

    def compact(
        self, *, wait: float = 0.0, progress: Optional[Callable[[int], object]] = None
    ) -> tuple[int, int]:
        """Writes the frame anew without unused bytes; returns its sizes before and after."""
        self._view()
        if self._mode == "r":
            raise self._read_only()
        self._kept = None
        sizes = self._engine.compact(options.milliseconds(wait), progress)
        self._go_on()
        return sizes

    def backup(
        self,
        path: Path,
        *,
        overwrite: bool = False,
        progress: Optional[Callable[[int], object]] = None,
    ) -> None:
        """Copies the newest state to another path, also while it is being written."""
        self._view()
        name = text_of(path)
        self._engine.copy_to(name, overwrite, progress, files_of(name))

    def to_bytes(self) -> bytes:
        """The newest state as one contiguous frame, which any Blosc2 reads."""
        self._view()
        return self._engine.to_bytes()

    def close(self) -> None:
        """Lets go of the file; snapshots keep it."""
        with self._lock:
            self._state = None
            self._kept = None

    def __enter__(self) -> Frame:
        self._view()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        if self._path is None:
            raise InvalidType("frame in memory: it cannot be pickled; to_bytes gives its bytes")
        return _reopen, (self._path, self._mode, self._dtype, self._options)

    def __repr__(self) -> str:
        if self._state is None:
            return f"<cairn.Frame {self._path!r}, closed>"
        where = "in memory" if self._path is None else repr(self._path)
        return f"<cairn.Frame {where}, mode {self._mode!r}, {self._title()}>"


def _reopen(path: str, mode: str, dtype: Optional[np.dtype], opened_with: dict[str, Any]) -> Frame:
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
