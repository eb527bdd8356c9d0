"""Saves datasets of xarray, and appends to those that are saved; see cairn.datasets."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional

import numpy as np
import xarray
from xarray import conventions
from xarray.coding.strings import EncodedStringCoder

from . import _engine, datasets
from .boxes import copy_boxes
from .datasets import DATASET, DIMENSIONS, GROUP, SIZES, SUFFIX
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument
from .opening import begin_create
from .opening import open as open_frame
from .paths import is_uri
from .writer import Writer

_STORAGE = ("chunks", "blocks", "codec", "clevel", "codec_meta", "filters", "chunksize", "blocksize", "use_dict")
_CF = (
    "dtype", "scale_factor", "add_offset", "_FillValue", "missing_value", "units", "calendar", "_Unsigned",
    "_Encoding",     "coordinates", "grid_mapping", "bounds",
)  # fmt: skip
# The attributes without which a stored number has another meaning.
_MEANING = ("units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "_Encoding", "dtype")
_RESERVED = (DIMENSIONS, DATASET, SIZES)


class Storage(NamedTuple):
    """How variables are encoded and stored."""

    common: Mapping[str, Any]  # of all variables
    encoding: dict[Any, Mapping[str, Any]]  # of single ones
    wait: float
    threads: int

    def of(self, name: str, variable: xarray.Variable) -> dict[str, Any]:
        """Returns the arguments of `begin_create` for a variable."""
        own = {key: value for key, value in self.encoding.get(name, {}).items() if key in _STORAGE}
        found = {**self.common, **own, "threads": self.threads}
        for key in ("chunks", "blocks"):
            if isinstance(extents := found.get(key), Mapping):
                known = {*variable.dims} & {*extents}
                found[key] = [extents.get(dim, max(size, 1)) for dim, size in variable.sizes.items()] if known else None
            elif extents is not None and key not in own and len(variable.dims) != np.size(extents):
                raise InvalidArgument(
                    f"{key}: {extents} does not fit the dimensions of variable {name!r}, {variable.dims}; give a dict by dimension"
                )
        return found

    def check(self, names: Mapping[Any, Any]) -> None:
        """Refuses storage that no frame has, and encodings of variables that there are not."""
        for given in self.common:
            if given not in _STORAGE:
                raise InvalidArgument(f"save has no argument {given!r}; storage is {', '.join(_STORAGE)}")
        for name in self.encoding:
            if name not in names:
                raise InvalidArgument(f"encoding of {name!r}: the dataset has {', '.join(map(repr, names))}")


class Encoded(NamedTuple):
    """A dataset as it is stored."""

    variables: dict[str, xarray.Variable]
    coords: list[str]
    attrs: dict[str, Any]


def create(dataset: xarray.Dataset, path: str, dim: Optional[str], overwrite: bool, how: Storage) -> None:
    """Saves a dataset where nothing is, or in place of what is there. It will grow along `dim`."""
    if dim is not None and dim not in dataset.dims:
        raise InvalidArgument(f"append_dim: no dimension {dim!r}, but {', '.join(map(repr, dataset.dims))}")
    encoded = _encode(dataset, how)
    if path.endswith(SUFFIX) or is_uri(path):
        return _create_frame(encoded, path, dim, overwrite, how)
    _check_replaceable(path, overwrite)
    beside = f"{path}.{uuid.uuid4().hex[:16]}.tmp"
    os.mkdir(beside)
    try:
        for name, variable in encoded.variables.items():
            _begin(os.path.join(beside, name + SUFFIX), variable, dim, how.of(name, variable)).close()
        with begin_create(os.path.join(beside, GROUP), None, np.dtype("u1")) as group:
            for name, value in encoded.attrs.items():
                group.vlmeta[name] = value
            group.vlmeta[SIZES] = _sizes_of(encoded.variables)
        _engine.move_to(beside, path, overwrite)
    finally:  # it is what was replaced, or not complete
        shutil.rmtree(beside, ignore_errors=True)


def _check_replaceable(path: str, overwrite: bool) -> None:
    """Refuses a directory that holds anything but a dataset, for what is replaced is removed."""
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise AlreadyExists(f"{path}: already exists; overwrite=True replaces it, append_dim adds to it")
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            if name != GROUP and not name.endswith((SUFFIX, ".b2lock")):
                raise FailedPrecondition(f"{path}: is not replaced, for it also holds {name!r}")


def _create_frame(encoded: Encoded, path: str, dim: Optional[str], overwrite: bool, how: Storage) -> None:
    name = _only_variable(encoded, path)
    variable = encoded.variables[name]
    with _begin(path, variable, dim, {**how.of(name, variable), "overwrite": overwrite}) as writer:
        coords = {one: _kept(encoded.variables[one]) for one in encoded.coords}
        writer.vlmeta[DATASET] = {"name": name, "coords": coords, "attrs": encoded.attrs}


def append(
    dataset: xarray.Dataset,
    path: str,
    dim: str,
    how: Storage,
    as_xarray: Callable[[datasets.Variable], xarray.Variable],
) -> None:
    """Adds a dataset along a dimension to the one that is saved at `path`."""
    is_directory = datasets.is_directory_of_frames(path)
    if is_directory and not os.path.exists(os.path.join(path, GROUP)):
        raise InvalidArgument(f"{path}: holds frames, but no dataset that `save` made")
    last = open_frame(os.path.join(path, GROUP) if is_directory else path, "r+", threads=how.threads)
    # The writer of the frame that is committed last keeps other processes out.
    with last, last.writer(wait=how.wait) as writer, contextlib.closing(datasets.read(path, {})) as stored:
        encoded = _encode(_like_stored(dataset, stored, as_xarray), Storage({}, {}, how.wait, how.threads))
        _check_fits(encoded, stored, dim, path)
        if is_directory:
            _append_to_directory(encoded, stored, path, dim, how, writer)
        else:
            _append_to_frame(encoded, stored, path, dim, writer)


def _append_to_frame(
    encoded: Encoded, stored: datasets.Stored, path: str, dim: str, writer: Writer
) -> None:
    name = _only_variable(encoded, path)
    _grow(writer, encoded.variables[name], dim, stored.sizes[dim])
    rest = {"name": name, "coords": {}, "attrs": {}, **writer.vlmeta.get(DATASET, {})}
    for one in encoded.coords:
        more = encoded.variables[one]
        if dim in more.dims:
            kept = stored.variables[one]
            joined = np.concatenate([np.asarray(kept.data), _items_of(more)], more.dims.index(dim))
            rest["coords"] = {**rest["coords"], one: {"dims": list(kept.dims), "data": joined, "attrs": kept.attrs}}
    writer.vlmeta[DATASET] = rest


def _append_to_directory(
    encoded: Encoded, stored: datasets.Stored, path: str, dim: str, how: Storage, group: Writer
) -> None:
    begin = stored.sizes[dim]
    added = 0
    for name, variable in encoded.variables.items():
        if dim in variable.dims:
            added = variable.sizes[dim]
            with open_frame(os.path.join(path, name + SUFFIX), "r+", threads=how.threads) as frame:
                with frame.writer(wait=how.wait) as writer:
                    _grow(writer, variable, dim, begin)
    group.vlmeta[SIZES] = {**stored.sizes, dim: begin + added}


def _grow(writer: Writer, variable: xarray.Variable, dim: str, begin: int) -> None:
    """Puts a variable behind the first `begin` items along `dim`, in place of what an append left there."""
    axis = variable.dims.index(dim)
    shape = list(writer.shape)
    shape[axis] = begin + variable.shape[axis]
    writer.resize(shape)
    _put(writer, variable, axis, begin)


def _encode(dataset: xarray.Dataset, how: Storage) -> Encoded:
    """Returns the variables with times, masks and scales as numbers, by the conventions of CF."""
    how.check(dataset.variables)
    given = dataset.copy(deep=False)
    for name, variable in given.variables.items():
        own = {key: value for key, value in how.encoding.get(name, {}).items() if key not in _STORAGE}
        unknown = [key for key in own if key not in _CF]
        if unknown:
            raise InvalidArgument(f"encoding of {name!r}: {unknown[0]!r} is none of {', '.join(_CF + _STORAGE)}")
        variable.encoding = {**{key: value for key, value in variable.encoding.items() if key in _CF}, **own}
    variables, attrs = conventions.cf_encoder(*conventions.encode_dataset_coordinates(given))
    datasets.check_names([*variables, *dataset.dims], attrs, _RESERVED)
    stored = {}
    for name, variable in variables.items():
        datasets.check_names([], variable.attrs, _RESERVED)
        if len({*variable.dims}) < len(variable.dims):
            raise InvalidArgument(f"variable {name!r}: has a dimension twice: {variable.dims}")
        stored[name] = _without_objects(name, variable)
        if variable.size:
            _check_encoded(name, given.variables[name], stored[name])
    return Encoded(stored, [name for name in variables if name in dataset.coords], dict(attrs))


def _check_encoded(name: str, given: xarray.Variable, encoded: xarray.Variable) -> None:
    """Refuses values that the encoding changes by more than its precision."""
    kinds = given.dtype.kind, encoded.dtype.kind
    where = f"variable {name!r}: its encoding, {encoded.dtype} with {encoded.attrs},"
    if kinds[0] == "c" != kinds[1]:
        raise InvalidArgument(f"{where} has no imaginary part")
    if kinds[0] in "mM":
        try:
            back = conventions.decode_cf_variable(name, encoded.copy(), decode_timedelta=kinds[0] == "m").to_numpy()
        except (ValueError, OverflowError) as error:
            raise InvalidArgument(f"{where} gives times that cannot be read back: {error}") from error
        items = given.to_numpy()
        if not ((back == items) | np.isnat(items)).all():
            raise InvalidArgument(f"{where} does not hold each of its times")
        return
    if kinds[0] not in "fiu" or kinds[1] not in "fiu":
        return
    if not np.can_cast(given.dtype, encoded.dtype, "safe"):
        limits = np.finfo(encoded.dtype) if kinds[1] == "f" else np.iinfo(encoded.dtype)
        packed = (given - encoded.attrs.get("add_offset", 0)) / encoded.attrs.get("scale_factor", 1)
        least, most = float(packed.min()), float(packed.max())
        is_infinite = kinds[1] == "f" and np.isinf([least, most]).any()  # which a float holds
        if not is_infinite and (least < float(limits.min) - 0.5 or most > float(limits.max) + 0.5):
            raise InvalidArgument(f"{where} does not hold values from {given.min().item()} to {given.max().item()}")
    fill = encoded.attrs.get("_FillValue")
    if fill is not None and fill == fill and bool(((encoded == fill) & given.notnull()).any()):
        raise InvalidArgument(f"{where} makes a value missing that is not")


def _without_objects(name: str, variable: xarray.Variable) -> xarray.Variable:
    """Returns texts of any length as texts of the longest one's length, and other objects as numbers.

    A missing value becomes an empty text or NaN.
    """
    if variable.dtype.kind in "OT":
        items = variable.to_numpy().astype(object)
        missing = np.asarray(xarray.Variable(variable.dims, items).isnull())
        there = items[~missing]
        for kind, empty in ((str, ""), (bytes, b"")):
            if there.size and all(isinstance(one, kind) for one in there):
                items[missing] = empty
                variable = xarray.Variable(variable.dims, items.astype(kind), variable.attrs, variable.encoding)
                break
        else:
            variable = xarray.Variable(variable.dims, _numbers_of(name, items, ~missing), variable.attrs)
    return EncodedStringCoder(allows_unicode=True).encode(variable, name=name)


def _numbers_of(name: str, items: np.ndarray, there: np.ndarray) -> np.ndarray:
    for one in items[there]:
        if not isinstance(one, (bool, int, float, np.number, np.bool_)):
            raise InvalidArgument(f"variable {name!r}: has an object of type {type(one).__name__}, which no frame holds")
    if there.all():
        return np.array(items.tolist())
    numbers = np.full(items.shape, np.nan)
    numbers[there] = items[there]
    return numbers


def _like_stored(
    dataset: xarray.Dataset,
    stored: datasets.Stored,
    as_xarray: Callable[[datasets.Variable], xarray.Variable],
) -> xarray.Dataset:
    """Returns the dataset, to be encoded as the stored variables are."""
    given = dataset.copy(deep=False)
    for name, variable in given.variables.items():
        if name not in stored.variables:
            continue
        kept = as_xarray(stored.variables[name])
        kind = variable.dtype.kind
        known = conventions.decode_cf_variable(name, kept, decode_times=kind in "mMO", decode_timedelta=kind == "m")
        variable.encoding = known.encoding
        # Without one of these, a type would only cut off what it does not hold.
        if not {"units", "scale_factor", "add_offset", "_FillValue", "missing_value", "_Encoding"} & {*known.encoding}:
            variable.encoding.pop("dtype", None)
    return given


def _check_fits(encoded: Encoded, stored: datasets.Stored, dim: str, path: str) -> None:
    """Refuses an append that would leave variables of different sizes, or lose a value."""
    if dim not in stored.sizes:
        raise InvalidArgument(f"{path}: has no dimension {dim!r}, but {', '.join(map(repr, stored.sizes))}")
    there = {name for name, one in stored.variables.items() if dim in one.dims}
    given = {name for name, one in encoded.variables.items() if dim in one.dims}
    if there != given:
        odd = min(there ^ given)
        raise InvalidArgument(
            f"{path}: variable {odd!r} along {dim!r} is {'missing in what is appended' if odd in there else 'not there'}"
        )
    for name, variable in encoded.variables.items():
        kept = stored.variables.get(name)
        if kept is None:
            raise InvalidArgument(f"{path}: variable {name!r} is not there, and does not have the dimension {dim!r}")
        if name in given:
            _check_slices(name, variable, kept, dim, path)
        elif name in encoded.coords:
            if not np.array_equal(_items_of(variable), as_array(kept), equal_nan=variable.dtype.kind == "f"):
                raise InvalidArgument(f"{path}: coordinate {name!r} is another one in what is appended")


def as_array(variable: datasets.Variable) -> np.ndarray:
    """Returns all items of a stored variable."""
    data = variable.data
    return data[tuple(slice(None) for _ in data.shape)] if isinstance(data, datasets.Part) else data


def _check_slices(
    name: str, variable: xarray.Variable, kept: datasets.Variable, dim: str, path: str
) -> None:
    where = f"{path}: variable {name!r}"
    if variable.dims != kept.dims:
        raise InvalidArgument(f"{where} has the dimensions {kept.dims}, not {variable.dims}")
    for one, size, there in zip(kept.dims, variable.shape, kept.data.shape):
        if one != dim and size != there:
            raise InvalidArgument(f"{where} has {there} items along {one!r}, not {size}")
    for key in _MEANING:
        given, there = variable.attrs.get(key), kept.attrs.get(key)
        same = given == there or given != given and there != there  # NaN is what NaN is here
        if not same and not (key == "units" and _count_alike(variable.attrs, kept.attrs)):
            raise InvalidArgument(f"{where} is stored with {key} {there!r}, which what is appended does not fit: {given!r}")
    if not _holds(kept.data.dtype, variable):
        raise InvalidArgument(f"{where} is stored as {kept.data.dtype}, which does not hold what is appended, {variable.dtype}")


def _count_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Returns True if both units count the same spans since the same time, perhaps written differently."""
    times = []
    for attrs in (one, other):
        if " since " not in str(attrs.get("units")):
            return False
        counted = {key: attrs[key] for key in ("units", "calendar") if key in attrs}
        times.append(conventions.decode_cf_variable("", xarray.Variable("n", [0, 1], counted)).values)
    return np.array_equal(*times)


def _holds(dtype: np.dtype, variable: xarray.Variable) -> bool:
    """Returns True if a type holds all items of a variable as they are."""
    if np.can_cast(variable.dtype, dtype, "safe") or not variable.size:
        return True
    if dtype.kind not in "iu" or variable.dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return limits.min <= int(variable.min()) and int(variable.max()) <= limits.max


def _only_variable(encoded: Encoded, path: str) -> str:
    names = [name for name in encoded.variables if name not in encoded.coords]
    if len(names) != 1:
        raise InvalidArgument(
            f"{path}: one frame holds one variable, not {len(names)}: save the dataset as a directory, "
            f"by a path that does not end with {SUFFIX}"
        )
    return names[0]


def _sizes_of(variables: Mapping[str, xarray.Variable]) -> dict[str, int]:
    return {str(dim): size for one in variables.values() for dim, size in one.sizes.items()}


def _begin(path: str, variable: xarray.Variable, dim: Optional[str], storage: Mapping[str, Any]) -> Writer:
    """Begins a frame and writes a variable that will grow along `dim` into it, but does not commit."""
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
    return {"dims": list(variable.dims), "data": _items_of(variable), "attrs": dict(variable.attrs)}


def _items_of(variable: xarray.Variable) -> np.ndarray:
    return np.asarray(variable.to_numpy())


def _put(writer: Writer, variable: xarray.Variable, axis: int, begin: int) -> None:
    """Writes a variable, never more of it in memory than some chunks, or some blocks of dask."""
    target = _Shifted(writer, axis, begin)
    if 0 in variable.shape:
        return
    if hasattr(variable.data, "dask"):
        from dask.array import store

        # Threads of this process, for a writer belongs to it.
        store([variable.data], [target], lock=False, scheduler="threads")
        return
    copy_boxes(
        variable.shape, writer.chunks, variable.dtype.itemsize,
        lambda box: target.__setitem__(box, _items_of(variable[box])),
    )  # fmt: skip


class _Shifted:
    """A writer whose items along one dimension are counted from another one than the first."""

    def __init__(self, writer: Writer, axis: int, begin: int):
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
