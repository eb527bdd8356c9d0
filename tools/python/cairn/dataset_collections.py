"""Saves datasets of xarray in collections, where one commit changes all variables; see cairn.datasets."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import Any, Optional

import numpy as np
import xarray

from . import _engine, datasets
from .collection import open_collection
from .collection_writer import CollectionWriter, MemberWriter
from .dataset_encoding import Encoded, Storage, check_fill, check_fits, encode, like_stored, same_items
from .errors import AlreadyExists, FailedPrecondition
from .folders import folder_beside

# Puts a variable into a member behind the first items along an axis, whose number is given.
Put = Callable[[MemberWriter, xarray.Variable, int, int], None]


def create(encoded: Encoded, path: str, dim: Optional[str], overwrite: bool, how: Storage, put: Put) -> None:
    """Saves a dataset where nothing is, or in place of what a collection has, in one commit. It will grow along `dim`."""
    if not os.path.lexists(path):
        with folder_beside(path) as beside:
            with open_collection(beside, "a", threads=how.threads) as new, new.writer() as writer:
                _add(encoded, writer, dim, how, put)
            try:
                return _engine.move_to(beside, path, False)
            except AlreadyExists:  # another process has just made it
                if not overwrite:
                    raise
    if not overwrite:
        raise AlreadyExists(f"{path}: already exists; overwrite=True replaces it, append_dim adds to it")
    if not datasets.is_collection(path):
        raise FailedPrecondition(f"{path}: is not replaced, for it is no collection")
    # It waits for an append at least so long.
    with open_collection(path, "r+", threads=how.threads) as old, old.writer(wait=max(how.wait, 1.0)) as writer:
        old.refresh()  # nobody else commits from here on
        for name in old.members():
            writer.remove(name)
        attributes = writer.attributes()
        for name in list(attributes):
            del attributes[name]
        _add(encoded, writer, dim, how, put)


def _add(encoded: Encoded, writer: CollectionWriter, dim: Optional[str], how: Storage, put: Put) -> None:
    for name, variable in encoded.variables.items():
        storage = {key: value for key, value in how.of(name, variable).items() if key != "threads"}
        check_fill(name, variable, storage)
        shape = [0 if one == dim else size for one, size in variable.sizes.items()]  # decides on the chunks
        member = writer.add("/" + name, shape=shape, dtype=variable.dtype, **storage)
        if dim in variable.dims:
            member.resize(variable.shape)
        member.vlmeta[datasets.DIMENSIONS] = list(variable.dims)
        for key, value in variable.attrs.items():
            member.vlmeta[key] = value
        put(member, variable, 0, 0)
    _set(writer, encoded.attrs)
    if dim is not None:
        contents = {name: (0, writer["/" + name].content_hash()) for name in encoded.variables}
        _tell(writer, datasets.Appends(uuid.uuid4().hex, 0, contents))


def _tell(writer: CollectionWriter, appends: datasets.Appends) -> None:
    """Says what was appended; see cairn.datasets."""
    members = {name: list(told) for name, told in appends.members.items()}
    writer.attributes()[datasets.APPENDS] = {"id": appends.id, "count": appends.number, "members": members}


def _set(writer: CollectionWriter, attrs: dict[str, Any]) -> None:
    attributes = writer.attributes()
    for name, value in attrs.items():
        if name not in attributes or not np.array_equal(attributes[name], value):
            attributes[name] = value


def append(
    dataset: xarray.Dataset,
    path: str,
    dim: str,
    how: Storage,
    as_xarray: Callable[[datasets.Variable], xarray.Variable],
    put: Put,
) -> None:
    """Adds a dataset along a dimension to the one that is saved, in one commit."""
    with open_collection(path, "r+", threads=how.threads) as collection, collection.writer(wait=how.wait) as writer:
        collection.refresh()  # nobody else commits from here on
        stored = datasets.stored_in(collection.snapshot(), path, "/", {})
        encoded = encode(like_stored(dataset, stored, as_xarray), Storage({}, {}, how.wait, how.threads))
        check_fits(encoded, stored, dim, path)
        before = datasets.appends_of(collection.snapshot().attributes())
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
        _set(writer, encoded.attrs)
        _tell(writer, datasets.Appends(before.id or uuid.uuid4().hex, count, contents))
