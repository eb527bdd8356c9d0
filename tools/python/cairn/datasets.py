"""Datasets: arrays with named dimensions, coordinates and attributes, in one frame or in a directory.

A frame that stands alone holds one variable. Its vlmetalayers are:

_ARRAY_DIMENSIONS
    The names of the dimensions, as Zarr and netCDF-C store them.
_DATASET
    A dict with the "name" of the variable, the "attrs" of the dataset, and its "coords", which map
    names to dicts of "dims", "data" and "attrs".
any other name
    An attribute of the variable.

A directory has a frame `NAME.b2nd` for each variable, coordinates included, and the frame
`__vlmeta__.b2f` without items. Its vlmetalayers are the attributes of the dataset and:

_DIMENSIONS
    The sizes of the dimensions that count. An append commits every variable first and this layer
    last. Until then, and if it never happens, readers ignore what the variables hold beyond it.

A frame or a directory without these layers is read all the same: the dimensions then get names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from .errors import DataLoss, InvalidArgument, InvalidType, Unimplemented
from .frame import Frame
from .opening import open as open_frame
from .paths import is_uri
from .readable import Readable

DIMENSIONS = "_ARRAY_DIMENSIONS"
DATASET = "_DATASET"
SIZES = "_DIMENSIONS"
GROUP = "__vlmeta__.b2f"
SUFFIX = ".b2nd"

Data = Union[np.ndarray, "Part"]


class Part(NamedTuple):
    """The first items of a frame along each dimension, which are read when they are indexed."""

    frame: Readable
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype:
        """The type of an item."""
        return self.frame.dtype

    def __getitem__(self, key: tuple[Any, ...]) -> np.ndarray:
        """Reads integers, slices and at most one array of integers, each along its own dimension."""
        parts: list[Any] = []
        single: list[Any] = []
        for one, size in zip(key, self.shape):
            if isinstance(one, slice):
                begin, end, step = one.indices(size)
                parts.append(slice(begin, None if end < 0 else end, step))
                single.append(slice(None))
                continue
            numbers = np.asarray(one)
            if numbers.size and not (-size <= numbers.min() and numbers.max() < size):
                raise IndexError(f"index {one} is out of range of a dimension of {size}")
            numbers = np.where(numbers < 0, numbers + size, numbers)
            if numbers.ndim:
                parts.append(numbers)
                single.append(slice(None))
            else:  # a slice, for beside an array NumPy would take an integer for one, too
                parts.append(slice(int(numbers), int(numbers) + 1))
                single.append(0)
        items: np.ndarray = np.asarray(self.frame[tuple(parts)])
        return items[tuple(single)]


class Variable(NamedTuple):
    """An array with the names of its dimensions and its attributes, as they are stored."""

    dims: tuple[str, ...]
    data: Data
    attrs: dict[str, Any]
    frame: Optional[Readable]  # None for what a frame keeps in its metadata


class Stored(NamedTuple):
    """What a frame or a directory holds."""

    name: Optional[str]  # of the variable of a frame that stands alone
    variables: dict[str, Variable]
    attrs: dict[str, Any]
    sizes: dict[str, int]  # of the dimensions of a directory
    frames: list[Frame]  # which the variables read from

    def close(self) -> None:
        """Closes the frames."""
        for frame in self.frames:
            frame.close()


def is_directory_of_frames(path: str) -> bool:
    """Returns True if `path` is a directory that holds a dataset, or frames with names of arrays."""
    if is_uri(path) or not os.path.isdir(path):
        return False
    return any(name == GROUP or name.endswith(SUFFIX) for name in os.listdir(path))


def read(path: str, opened_with: Mapping[str, Any]) -> Stored:
    """Opens the frame or the directory of frames at `path`. Its items are read later."""
    while is_directory_of_frames(path):
        begun = os.stat(path)
        stored = _read_directory(path, opened_with)
        if os.path.samestat(begun, os.stat(path)):
            return stored
        stored.close()  # it was replaced meanwhile
    frame = open_frame(path, **opened_with)
    try:
        return _of_frame(frame, path)
    except BaseException:
        frame.close()
        raise


def _of_frame(frame: Frame, path: str) -> Stored:
    layers = _layers_of(frame)
    rest = layers.pop(DATASET, {})
    name = os.path.basename(path.rstrip("/"))
    name = rest.get("name", name[: -len(SUFFIX)] if name.endswith(SUFFIX) else name)
    variable = _variable_of(frame, layers, {}, path)
    variables = {name: variable}
    for coordinate, kept in rest.get("coords", {}).items():
        variables[coordinate] = Variable(tuple(kept["dims"]), kept["data"], kept["attrs"], None)
    return Stored(name, variables, rest.get("attrs", {}), dict(zip(variable.dims, variable.data.shape)), [frame])


def _read_directory(path: str, opened_with: Mapping[str, Any]) -> Stored:
    frames: list[Frame] = []
    names = sorted(os.listdir(path))
    try:
        attrs: dict[str, Any] = {}
        if GROUP in names:  # first, so that each variable holds at least what it says
            frames.append(open_frame(os.path.join(path, GROUP)))
            attrs = _layers_of(frames[0])
        sizes = attrs.pop(SIZES, {})
        variables = {}
        for name in names:
            if name.endswith(SUFFIX):
                frame = open_frame(os.path.join(path, name), **opened_with)
                frames.append(frame)
                name = name[: -len(SUFFIX)]
                variables[name] = _variable_of(frame, _layers_of(frame), sizes, name)
        return Stored(None, variables, attrs, sizes, frames)
    except BaseException:
        Stored(None, {}, {}, {}, frames).close()
        raise


def _variable_of(frame: Frame, attrs: dict[str, Any], sizes: Mapping[str, int], path: str) -> Variable:
    if frame.dtype.names:
        raise Unimplemented(f"{path}: items with fields are no variable; open it with cairn.open or cairn.Log.open")
    prefix = f"{path}_" if sizes else ""
    dims = tuple(attrs.pop(DIMENSIONS, [f"{prefix}dim_{axis}" for axis in range(frame.ndim)]))
    if len(dims) != frame.ndim:
        raise DataLoss(f"{path}: {len(dims)} names of dimensions, {dims}, for an array of {frame.ndim}")
    shape = tuple(sizes.get(name, size) for name, size in zip(dims, frame.shape))
    if any(size > there for size, there in zip(shape, frame.shape)):
        raise DataLoss(f"{path}: holds {frame.shape} where the dataset says {shape}")
    return Variable(dims, Part(frame, shape), attrs, frame)


def _layers_of(frame: Frame) -> dict[str, Any]:
    """Returns the vlmetalayers that are values of Python. python-blosc2 also keeps objects there."""
    layers = {}
    for name in frame.vlmeta:
        try:
            layers[name] = frame.vlmeta[name]
        except (InvalidArgument, Unimplemented):
            continue
    return layers


def check_names(names: Iterable[Any], attrs: Mapping[Any, Any], reserved: tuple[str, ...]) -> None:
    """Refuses names that cannot be those of files and layers."""
    for name in names:
        if not isinstance(name, str) or not name or name.startswith(".") or "/" in name or "\0" in name:
            raise InvalidType(f"variable or dimension {name!r}: expected a name that a file can have")
    for name in attrs:
        if not isinstance(name, str) or name in reserved or name.startswith("cairn."):
            raise InvalidType(f"attribute {name!r}: expected text, and none of the names {', '.join(reserved)}")
