"""Saves datasets of xarray in collections, where one commit changes all variables; see cairn.datasets."""

from __future__ import annotations

import contextlib
import functools
import os
import uuid
from collections.abc import Callable
from typing import Any, Optional

import xarray

from . import _engine, datasets
from .attempts import repeat
from .collection import Collection, CollectionSnapshot, open_collection, remove_all
from .collection_writer import CollectionWriter, MemberWriter
from .dataset_attributes import APPENDS, DIMENSIONS, put_attributes
from .dataset_encoding import Encoded, Storage, check_fill, check_fits, encode, like_stored, same_items
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound
from .folders import folder_beside
from .paths import is_uri

# Puts a variable into a member behind the first items along an axis, whose number is given.
Put = Callable[[MemberWriter, xarray.Variable, int, int], None]
AsXarray = Callable[[datasets.Variable], xarray.Variable]

# Seconds that replacing a dataset waits at least for another writer, or is done again after its commits.
_REPLACING = 1.0


def save(encoded: Encoded, path: str, dim: Optional[str], overwrite: bool, how: Storage, put: Put) -> None:
    """Saves a dataset where nothing is, or in place of what a collection has, in one commit. It will grow along `dim`."""
    if not os.path.lexists(path):
        with folder_beside(path) as beside:
            with open_collection(beside, "a", threads=how.threads) as new, new.writer() as writer:
                _add(encoded, writer, path, dim, how, put)
            try:
                return _engine.move_to(beside, path, False)
            except AlreadyExists:  # another process has just made it
                if not overwrite:
                    raise
    if not overwrite:
        raise _is_taken(path)
    if not datasets.is_collection(path):
        raise FailedPrecondition(f"{path}: is not replaced, for it is no collection")
    with open_collection(path, "r+", threads=how.threads) as old, old.writer(wait=max(how.wait, _REPLACING)) as writer:
        old.refresh()  # nobody else commits from here on
        remove_all(writer, old.snapshot())
        _add(encoded, writer, path, dim, how, put)


def save_in_store(
    dataset: xarray.Dataset, path: str, dim: Optional[str], overwrite: bool, how: Storage, as_xarray: AsXarray, put: Put
) -> None:
    """Saves a dataset in an object store, or adds it along `dim` to the one that is there, in one commit.

    Writers do not wait for each other there. What collides with the commit of another one is done
    again on top of it.
    """

    @functools.lru_cache(None)
    def encoded() -> Encoded:
        if dim is not None and dim not in dataset.dims:
            raise no_dimension(dataset, dim)
        return encode(dataset, how, dim)

    def attempt() -> None:
        with collection.writer() as writer:
            state = writer.commit()  # of nothing: it is the state that the edits will build on
            is_new = datasets.is_unfilled(state)
            if dim is not None and not is_new and not overwrite:
                return _append(state, writer, dataset, path, dim, how, as_xarray, put)
            if not is_new and not overwrite:
                raise _is_taken(path)
            remove_all(writer, state)
            _add(encoded(), writer, path, dim, how, put)
            return None

    how.check(dataset.variables)
    with _opened(path, dim is None, how, encoded) as collection:
        repeat(attempt, max(how.wait, _REPLACING) if dim is None else how.wait)


def _opened(path: str, is_new: bool, how: Storage, check: Callable[[], object]) -> Collection:
    """Opens a collection in an object store. If it has to be made, `check` first refuses what would leave it empty."""
    if not is_new:
        with contextlib.suppress(NotFound, InvalidArgument):
            return open_collection(path, "r+", threads=how.threads)
    check()
    return open_collection(path, "a", threads=how.threads)


def no_dimension(dataset: xarray.Dataset, dim: str) -> InvalidArgument:
    return InvalidArgument(f"append_dim: no dimension {dim!r}, but {', '.join(map(repr, dataset.dims))}")


def _is_taken(path: str) -> AlreadyExists:
    return AlreadyExists(f"{path}: already exists; overwrite=True replaces it, append_dim adds to it")


def _add(encoded: Encoded, writer: CollectionWriter, path: str, dim: Optional[str], how: Storage, put: Put) -> None:
    for name, variable in encoded.variables.items():
        storage = {key: value for key, value in how.of(name, variable).items() if key != "threads"}
        check_fill(name, variable, storage)
        shape = [0 if one == dim else size for one, size in variable.sizes.items()]  # decides on the chunks
        member = writer.add("/" + name, shape=shape, dtype=variable.dtype, **storage)
        if dim in variable.dims:
            member.resize(variable.shape)
        member.vlmeta[DIMENSIONS] = list(variable.dims)
        put_attributes(member.vlmeta, variable.attrs, path)
        put(member, variable, 0, 0)
    # In an object store it is the layer that two writers who make a dataset, or add to it, collide by.
    if dim is not None or is_uri(path):
        contents = {name: (0, writer["/" + name].content_hash()) for name in encoded.variables}
        _tell(writer, datasets.Appends(uuid.uuid4().hex, 0, contents))
    put_attributes(writer.attributes(), encoded.attrs, path)


def _tell(writer: CollectionWriter, appends: datasets.Appends) -> None:
    """Says what was appended; see cairn.datasets."""
    members = {name: list(told) for name, told in appends.members.items()}
    writer.attributes()[APPENDS] = {"id": appends.id, "count": appends.number, "members": members}


def append(dataset: xarray.Dataset, path: str, dim: str, how: Storage, as_xarray: AsXarray, put: Put) -> None:
    """Adds a dataset along a dimension to the one that is saved, in one commit."""
    with open_collection(path, "r+", threads=how.threads) as collection, collection.writer(wait=how.wait) as writer:
        collection.refresh()  # nobody else commits from here on
        _append(collection.snapshot(), writer, dataset, path, dim, how, as_xarray, put)


def _append(
    state: CollectionSnapshot,
    writer: CollectionWriter,
    dataset: xarray.Dataset,
    path: str,
    dim: str,
    how: Storage,
    as_xarray: AsXarray,
    put: Put,
) -> None:
    stored = datasets.stored_in(state, path, "/", {})
    encoded = encode(like_stored(dataset, stored, as_xarray), Storage({}, {}, how.wait, how.threads))
    check_fits(encoded, stored, dim, path)
    before = datasets.appends_of(state.attributes())
    count = before.number + 1
    contents: dict[str, tuple[int, int]] = {}
    for name, variable in encoded.variables.items():
        since, content = before.members.get(name, (count, None))
        if content != writer["/" + name].content_hash():
            since = count  # others have changed it
        if dim in variable.dims:
            axis, member = variable.dims.index(dim), writer["/" + name]
            shape = list(stored.variables[name].data.shape)
            shape[axis] += variable.shape[axis]
            member.resize(shape)
            put(member, variable, axis, stored.sizes[dim])
        elif not same_items(variable, stored.variables[name]):
            put(writer["/" + name], variable, 0, 0)
            since = count
        contents[name] = since, writer["/" + name].content_hash()
    _tell(writer, datasets.Appends(before.id or uuid.uuid4().hex, count, contents))
    put_attributes(writer.attributes(), encoded.attrs, path)
