"""Saves datasets of xarray, and appends to those that are saved; see cairn.datasets."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import numpy as np
import xarray

from . import _engine, dataset_collections, datasets
from .boxes import copy_boxes
from .dataset_attributes import APPENDS, DATASET, DIMENSIONS, NAMES, PART, SIZES
from .dataset_encoding import Encoded, Storage, check_fill, check_fits, encode, items_of, like_stored, only_variable, same_items, sizes_of
from .datasets import COLLECTION, GROUP, INDEX, SUFFIX
from .edits import Edits
from .errors import AlreadyExists, Error, FailedPrecondition, InvalidArgument, Unavailable
from .folders import folder_beside, remove_leftovers, without_temporary_end
from .frame import Frame
from .opening import MAGIC, begin_create
from .opening import open as open_frame
from .paths import is_uri
from .writer import Writer

# Bytes of a variable that costs more time on the disk than in the processor.
_SMALL = 1 << 20
# The disk makes the files of several threads durable in about the time of one.
_THREADS = 8


def create(dataset: xarray.Dataset, path: str, dim: Optional[str], overwrite: bool, how: Storage) -> None:
    """Saves a dataset where nothing is, or in place of what is there. It will grow along `dim`."""
    if dim is not None and dim not in dataset.dims:
        raise dataset_collections.no_dimension(dataset, dim)
    encoded = encode(dataset, how, dim)
    if path.endswith(COLLECTION):
        return dataset_collections.save(encoded, path, dim, overwrite, how, _put)
    if not is_uri(path):
        _check_replaceable(path, overwrite)
    if path.endswith(SUFFIX) or is_uri(path):
        return _create_frame(encoded, path, dim, overwrite, how)
    with folder_beside(path) as beside:
        _save_into(beside, encoded, path, dim, how)
        _give_name(beside, path, overwrite, how.wait)


def save_in_store(
    dataset: xarray.Dataset,
    path: str,
    dim: Optional[str],
    overwrite: bool,
    how: Storage,
    as_xarray: Callable[[datasets.Variable], xarray.Variable],
) -> None:
    """Saves a dataset in a collection in an object store, or adds it to the one that is there."""
    dataset_collections.save_in_store(dataset, path, dim, overwrite, how, as_xarray, _put)


def _save_into(folder: str, encoded: Encoded, path: str, dim: Optional[str], how: Storage) -> None:
    """Writes a dataset into a folder that will have the name `path`, which messages have already."""

    def begin(name: str, variable: xarray.Variable) -> None:
        with _told(path, name, folder), _begin(os.path.join(folder, name + SUFFIX), name, variable, dim, how.of(name, variable)) as writer:
            writer.vlmeta[PART] = True

    _for_each(encoded.variables, begin)
    with _told(path, None, folder), begin_create(os.path.join(folder, GROUP), None, np.dtype("u1")) as group:
        for name, value in encoded.attrs.items():
            group.vlmeta[name] = value
        group.vlmeta[SIZES] = sizes_of(encoded.variables)
        group.vlmeta[NAMES] = list(encoded.variables)
        group.vlmeta[APPENDS] = _new_id()


@contextlib.contextmanager
def _told(path: str, name: Optional[str], folder: str = "") -> Iterator[None]:
    """Makes errors name the dataset and the variable, in place of a frame in a folder that is not there later."""
    try:
        yield
    except Error as error:
        text = str(error)
        for where in (os.path.join(folder, GROUP if name is None else name + SUFFIX), path):
            text = text.removeprefix(f"{where}: ")
        error.args = (f"{path}: {'' if name is None else f'variable {name!r}: '}{text}", *error.args[1:])
        raise


def _give_name(beside: str, path: str, overwrite: bool, wait: float) -> None:
    while True:
        is_there = overwrite and os.path.lexists(path)
        try:
            with _appends_kept_out(path, wait) if is_there else contextlib.nullcontext():
                return _engine.move_to(beside, path, is_there)
        except AlreadyExists:  # another process has just made it
            if not overwrite:
                raise


@contextlib.contextmanager
def _appends_kept_out(path: str, wait: float) -> Iterator[None]:
    """Waits for an append to what will be replaced. It would go on in the new dataset, which is another one."""
    writer = None
    try:
        with open_frame(os.path.join(path, GROUP), "r+") as last:
            # Others who replace it have it for a moment only.
            writer = last.writer(wait=max(wait, 1.0))
    except Unavailable:
        raise
    except Error:  # nothing is there, or no dataset, or a damaged one: nobody appends to it
        pass
    try:
        yield
    finally:
        if writer is not None:
            writer._drop()  # closing it would write a checkpoint into a frame that has lost its name


def _for_each(variables: Mapping[str, xarray.Variable], work: Callable[[str, xarray.Variable], object]) -> None:
    """Calls `work` with each variable. Small ones are written by several threads, which wait for the disk together."""
    with ThreadPoolExecutor(_THREADS) as pool:
        tasks = []
        try:
            for name, variable in variables.items():
                if variable.nbytes <= _SMALL and not _is_of_dask(variable):
                    tasks.append(pool.submit(work, name, variable))
            for name, variable in variables.items():
                if variable.nbytes > _SMALL or _is_of_dask(variable):
                    work(name, variable)
            for task in tasks:
                task.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _check_replaceable(path: str, overwrite: bool) -> None:
    """Refuses what is neither a dataset nor a frame, for what is replaced is removed."""
    if not os.path.lexists(path):
        return
    reason = _why_not_ours(path)
    if not overwrite:
        rest = "; overwrite=True replaces it, append_dim adds to it" if reason is None else f", and {reason}"
        raise AlreadyExists(f"{path}: already exists{rest}")
    if reason is not None:
        raise FailedPrecondition(f"{path}: not replaced: expected a dataset or a frame, but it {reason}; remove it before")


def _why_not_ours(path: str) -> Optional[str]:
    """Returns None for a frame and for a directory of frames, and otherwise what is there."""
    if os.path.isdir(path):
        names = os.listdir(path)
        if path.endswith(SUFFIX) or any(name == INDEX for name in names):  # a sparse frame, which the engine checks
            return None
        for one in names:
            name = without_temporary_end(one)
            if name != GROUP and not name.endswith((SUFFIX, ".b2lock")):
                return f"also holds {one!r}"
        return None
    try:
        with open(path, "rb") as file:
            is_frame = MAGIC in file.read(16)
    except OSError:
        is_frame = False
    return None if is_frame else "is no frame"


def _create_frame(encoded: Encoded, path: str, dim: Optional[str], overwrite: bool, how: Storage) -> None:
    name = only_variable(encoded, path)
    variable = encoded.variables[name]
    with _told(path, name), _begin(path, name, variable, dim, {**how.of(name, variable), "overwrite": overwrite}) as writer:
        coords = {one: _kept(encoded.variables[one]) for one in encoded.coords}
        writer.vlmeta[DATASET] = {"name": name, "coords": coords, "attrs": encoded.attrs}
        writer.vlmeta[APPENDS] = _new_id()


def append(
    dataset: xarray.Dataset,
    path: str,
    dim: str,
    how: Storage,
    as_xarray: Callable[[datasets.Variable], xarray.Variable],
) -> None:
    """Adds a dataset along a dimension to the one that is saved at `path`."""
    how.check(dataset.variables)
    if not is_uri(path):
        remove_leftovers(path)
    if datasets.is_collection(path):
        return dataset_collections.append(dataset, path, dim, how, as_xarray, _put)
    is_directory = datasets.is_directory_of_frames(path)
    if is_directory and not os.path.exists(os.path.join(path, GROUP)):
        raise InvalidArgument(f"{path}: holds frames, but no dataset that `save` made")
    opened_with: dict[str, Any] = {"mode": "r+", "threads": how.threads, "wait": how.wait}
    last = open_frame(os.path.join(path, GROUP) if is_directory else path, **opened_with)
    # The writer of the frame that is committed last keeps other processes out, also those that replace the dataset.
    with last, last.writer() as writer, contextlib.closing(datasets.read(path, opened_with)) as stored:
        encoded = encode(like_stored(dataset, stored, as_xarray), Storage({}, {}, how.wait, how.threads))
        check_fits(encoded, stored, dim, path)
        if is_directory:
            _append_to_directory(encoded, stored, dim, writer)
        else:
            _append_to_frame(encoded, stored, path, dim, writer)


def _append_to_frame(
    encoded: Encoded, stored: datasets.Stored, path: str, dim: str, writer: Writer
) -> None:
    name = only_variable(encoded, path)
    _grow(writer, encoded.variables[name], dim, stored.sizes[dim])
    rest = {"name": name, "coords": {}, "attrs": {}, **writer.vlmeta.get(DATASET, {})}
    for one in encoded.coords:
        more = encoded.variables[one]
        if dim in more.dims:
            kept = stored.variables[one]
            joined = np.concatenate([np.asarray(kept.data), items_of(more)], more.dims.index(dim))
            rest["coords"] = {**rest["coords"], one: {"dims": list(kept.dims), "data": joined, "attrs": kept.attrs}}
    rest["attrs"] = {**rest["attrs"], **encoded.attrs}
    writer.vlmeta[DATASET] = rest
    before = writer.generation
    kept_id = writer.vlmeta.get(APPENDS, _new_id())
    # The commit makes the next generation. A later one is that of another change.
    spans = {"": [_begin_of_appends(kept_id["spans"].get(""), before), before + 1]}
    writer.vlmeta[APPENDS] = {**kept_id, "spans": spans}


def _new_id() -> dict[str, Any]:
    return {"id": uuid.uuid4().hex, "spans": {}}


def _begin_of_appends(span: Optional[Sequence[int]], before: int) -> int:
    """Returns the first generation that has been changed by nothing but appends, before the next one."""
    return span[0] if span is not None and span[1] == before else before


def _append_to_directory(encoded: Encoded, stored: datasets.Stored, dim: str, group: Writer) -> None:
    begin = stored.sizes[dim]
    growing = {name: one for name, one in encoded.variables.items() if dim in one.dims}
    replaced = {
        name: one
        for name, one in encoded.variables.items()
        if name not in growing and not same_items(one, stored.variables[name])
    }
    kept = group.vlmeta.get(APPENDS, _new_id())
    spans = {name: span for name, span in kept["spans"].items() if name not in replaced}
    for name in growing:
        spans[name] = [_begin_of_appends(spans.get(name), _frame_of(stored, name).generation), None]
    group.vlmeta[APPENDS] = {**kept, "spans": spans}
    group.commit(durable=False)

    def grow(name: str, variable: xarray.Variable) -> None:
        frame = _frame_of(stored, name)
        with frame.writer() as writer:
            _grow(writer, variable, dim, begin)
        spans[name][1] = frame.generation

    _for_each(growing, grow)
    for name, variable in replaced.items():
        with _frame_of(stored, name).writer() as writer:
            _put(writer, variable, 0, 0)
    for name, value in encoded.attrs.items():
        if name not in group.vlmeta or not np.array_equal(group.vlmeta[name], value):
            group.vlmeta[name] = value
    group.vlmeta[APPENDS] = {**kept, "spans": spans}
    group.vlmeta[SIZES] = {**stored.sizes, dim: begin + sizes_of(growing)[dim]}


def _frame_of(stored: datasets.Stored, name: str) -> Frame:
    """Returns the frame of a variable in a directory."""
    frame = stored.variables[name].frame
    assert isinstance(frame, Frame)
    return frame


def _grow(writer: Writer, variable: xarray.Variable, dim: str, begin: int) -> None:
    """Puts a variable behind the first `begin` items along `dim`, in place of what an append left there."""
    axis = variable.dims.index(dim)
    shape = list(writer.shape)
    shape[axis] = begin + variable.shape[axis]
    writer.resize(shape)
    _put(writer, variable, axis, begin)


def _begin(path: str, name: str, variable: xarray.Variable, dim: Optional[str], storage: Mapping[str, Any]) -> Writer:
    """Begins a frame and writes a variable that will grow along `dim` into it, but does not commit."""
    check_fill(name, variable, storage)
    shape = [0 if one == dim else size for one, size in variable.sizes.items()]  # decides on the chunks
    writer = begin_create(path, shape, variable.dtype, **storage)
    try:
        if dim in variable.dims:
            writer.resize(variable.shape)
        writer.vlmeta[DIMENSIONS] = list(variable.dims)
        for name, value in variable.attrs.items():
            writer.vlmeta[name] = value
        _put(writer, variable, 0, 0)
    except BaseException as error:
        writer.__exit__(type(error), error, None)
        raise
    return writer


def _kept(variable: xarray.Variable) -> dict[str, Any]:
    return {"dims": list(variable.dims), "data": items_of(variable), "attrs": dict(variable.attrs)}


def _put(writer: Edits, variable: xarray.Variable, axis: int, begin: int) -> None:
    """Writes a variable, never more of it in memory than some chunks, or some blocks of dask."""
    target = _Shifted(writer, axis, begin)
    if 0 in variable.shape:
        return
    if _is_of_dask(variable):
        from dask.array import store

        first = [begin if one == axis else 0 for one in range(variable.ndim)]
        cuts = [_joined(*one) for one in zip(variable.data.chunks, writer.chunks, first)]
        # Threads of this process, for a writer belongs to it.
        targets: list[Any] = [target]
        store([variable.data.rechunk(tuple(cuts))], targets, lock=False, scheduler="threads")
        return
    copy_boxes(
        variable.shape, writer.chunks, variable.dtype.itemsize,
        lambda box: target.__setitem__(box, items_of(variable[box])),
    )  # fmt: skip


def _joined(sizes: tuple[int, ...], edge: int, first: int) -> tuple[int, ...]:
    """Returns the sizes of dask's chunks along a dimension that begins at item `first` of a frame.

    Dask's own chunks are joined or cut again if they would end within a chunk of the frame, which
    would then be compressed more than once.
    """
    ends = np.cumsum(sizes)
    if not ((ends[:-1] + first) % edge).any():
        return sizes
    step = -(-max(sizes) // edge) * edge
    cuts = np.arange((-first) % edge or step, ends[-1], step)
    return tuple(np.diff([0, *cuts, ends[-1]]).tolist())


def _is_of_dask(variable: xarray.Variable) -> bool:
    return hasattr(variable._data, "dask")


class _Shifted:
    """A writer whose items along one dimension are counted from another one than the first."""

    def __init__(self, writer: Edits, axis: int, begin: int):
        self._writer = writer
        self._axis = axis
        self._begin = begin

    def __setitem__(self, key: tuple[slice, ...], items: Any) -> None:
        box = list(key) + [slice(0, None)] * (len(np.shape(items)) - len(key))
        for axis, size in enumerate(np.shape(items)):
            begin = box[axis].start or 0
            begin += self._begin if axis == self._axis else 0
            box[axis] = slice(begin, begin + size)
        self._writer[tuple(box)] = np.asarray(items)
