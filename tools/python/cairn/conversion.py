"""The common part of conversions, which copy arrays of other formats into frames and back, box by box."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _engine, options
from .boxes import Box, copy_boxes
from .dataset_attributes import DIMENSIONS, FILL, RESERVED, check_names, layers_of
from .errors import AlreadyExists, Error, FailedPrecondition, InvalidArgument, InvalidType, NotFound, PermissionDenied, Unavailable, Unimplemented
from .folders import folder_beside
from .frame import Frame
from .opening import begin_create
from .opening import open as open_frame
from .paths import Path, name_of
from .readable import Readable
from .source import fill

Progress = Optional[Callable[[int], object]]

# Bytes of the largest chunk that a frame can have.
_LARGEST_CHUNK = 2**31 - 33


class Source(NamedTuple):
    """An array of another format."""

    where: str  # the beginning of messages
    items: Any  # has `shape`, `dtype` and slices
    chunks: Optional[tuple[int, ...]] = None  # None if it is not cut
    dims: Sequence[Optional[str]] = ()  # names of the dimensions, if they have any
    fill: Any = None  # the value of items that were never written
    attrs: Mapping[str, Any] = {}


def into_frame(
    source: Source, path: Path, how: dict[str, Any], overwrite: bool, threads: int, progress: Progress
) -> Frame:
    """Makes a frame of an array, and opens it with mode "r+". `how` is as in `create`."""
    name, shape = name_of(path), tuple(source.items.shape)
    dtype = known_type(source.where, source.items.dtype)
    if how["chunks"] is None and source.chunks is not None:
        if np.prod(source.chunks, dtype=object) * dtype.itemsize <= _LARGEST_CHUNK:
            how = {**how, "chunks": source.chunks}
    items = source.items if shape else np.asarray(source.items[()])
    with begin_create(name, shape, dtype, overwrite=overwrite, threads=threads, **how) as writer:
        try:
            check_names([], source.attrs, RESERVED)
            for key, value in source.attrs.items():
                writer.vlmeta[key] = value
        except Error as error:
            error.args = (f"{source.where}: {error}",)
            raise
        if any(source.dims):
            writer.vlmeta[DIMENSIONS] = [one or f"dim_{axis}" for axis, one in enumerate(source.dims)]
        if source.fill is not None:
            value = np.asarray(source.fill, dtype)
            if any(value.tobytes()):  # zeros are what a frame has anyway
                writer.vlmeta[FILL] = value
        fill(writer._engine, items, dtype, progress)
    return open_frame(name, "r+", dtype=dtype, threads=threads)


def known_type(where: str, dtype: Any) -> np.dtype:
    """Returns the type of items in a frame. Types without fixed bytes are refused."""
    if getattr(dtype, "kind", "O") in "OT":
        raise InvalidType(
            f"{where}: items of type {dtype} have no fixed bytes; make an array of texts of one length, such as "
            "items.astype('S20'), and pass it to cairn.asarray"
        )
    try:
        return options.check_dtype(dtype)
    except Error as error:
        raise InvalidType(f"{where}: {error}") from error


class State(NamedTuple):
    """One state of a frame, with what other formats have names for."""

    items: Readable
    dims: Optional[list[str]]
    fill: Any  # None for zeros
    attrs: dict[str, Any]


@contextlib.contextmanager
def reading(path: Union[Path, Readable], threads: int) -> Iterator[State]:
    """Reads one state of a frame that is open, or of that of a path."""
    with contextlib.ExitStack() as stack:
        frame = path if isinstance(path, Readable) else stack.enter_context(open_frame(path, threads=threads))
        items: Readable = frame.snapshot() if isinstance(frame, Frame) else frame
        attrs = layers_of(items)
        dims = attrs.pop(DIMENSIONS, None)
        value = attrs.pop(FILL, None)
        for name in RESERVED:
            attrs.pop(name, None)
        yield State(items, dims, None if value is None else value[()], attrs)


def copy_out(
    items: Readable, target: Any, chunks: Sequence[int], progress: Progress, dtype: Optional[np.dtype] = None
) -> None:
    """Writes all items of a frame to what takes slices, box by box, seen as items of `dtype`."""

    def copy(box: Box) -> None:
        part = np.asarray(items[box] if box else items)  # a scalar would lose its byte order
        target[box] = part if dtype is None else part.view(dtype)

    copy_boxes(items.shape, chunks, items.dtype.itemsize, copy, progress)


def package(name: str, call: str) -> Any:
    """Returns the module of another library. Raises Unimplemented without it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unimplemented(f"{call}: needs the package {name}: {error}") from error


@contextlib.contextmanager
def told(where: str) -> Iterator[None]:
    """Raises what another library raises as an exception of ours."""
    try:
        yield
    except Error:
        raise
    except (FileNotFoundError, KeyError) as error:
        raise NotFound(f"{where}: {_text_of(error)}") from error
    except FileExistsError as error:
        raise AlreadyExists(f"{where}: {_text_of(error)}") from error
    except BlockingIOError as error:  # h5py, if another process has the file
        raise Unavailable(f"{where}: {_text_of(error)}") from error
    except PermissionError as error:
        raise PermissionDenied(f"{where}: {_text_of(error)}") from error
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidArgument(f"{where}: {_text_of(error)}") from error


def _text_of(error: Exception) -> str:
    text = " ".join(str(error.args[0] if isinstance(error, KeyError) and error.args else error).split())
    return text if len(text) < 300 else f"{text[:300]}..."


@contextlib.contextmanager
def file_beside(path: str, overwrite: bool) -> Iterator[str]:
    """Gives the name of a file that gets the name `path` at the end, durably, or is removed."""
    if os.path.isdir(path) and not os.path.islink(path):
        raise FailedPrecondition(f"{path}: not replaced: expected a file, got a folder")
    if not overwrite and os.path.lexists(path):
        raise AlreadyExists(f"{path}: already exists; overwrite=True replaces it")
    with folder_beside(path) as folder:
        beside = os.path.join(folder, os.path.basename(path))
        yield beside
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        _engine.move_to(beside, path, overwrite)
