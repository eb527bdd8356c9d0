"""How variables of xarray become numbers in frames, and what may be added to those that are there."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Optional

import numpy as np
import xarray
from xarray import conventions
from xarray.coding.strings import EncodedStringCoder

from . import datasets
from .boxes import boxes_of
from .dataset_attributes import RESERVED, check_names
from .datasets import COLLECTION, SUFFIX
from .errors import Error, InvalidArgument
from .paths import is_uri
from .recipe import losing

_STORAGE = ("chunks", "blocks", "codec", "clevel", "codec_meta", "filters", "chunksize", "blocksize", "use_dict")
_CF = (
    "dtype", "scale_factor", "add_offset", "_FillValue", "missing_value", "units", "calendar", "_Unsigned",
    "_Encoding",     "coordinates", "grid_mapping", "bounds",
)  # fmt: skip
# The attributes without which a stored number has another meaning.
_MEANING = ("units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "_Encoding", "dtype")
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


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
                raise InvalidArgument(f"save has no argument {given!r}; {_instead_of(given)}")
        for name in self.encoding:
            if name not in names:
                raise InvalidArgument(f"encoding of {name!r}: the dataset has {', '.join(map(repr, names))}")
        _check_dims(self.common, {dim for one in names.values() for dim in one.dims}, "the dataset")
        for name, own in self.encoding.items():
            _check_dims(own, names[name].dims, f"variable {name!r}")


def _instead_of(given: str) -> str:
    """Returns what to do without an argument that `save` lacks, such as those of `to_zarr`."""
    if given == "region":
        return (
            "it writes whole slices; change items in the frame of a variable: cairn.open(f'{path}/temp.b2nd', 'r+')[...] = items; "
            "in a collection: with cairn.open_collection(path, 'r+').writer() as writer: writer['/temp'][...] = items"
        )
    if given == "mode":
        return "append_dim adds to what is there, and overwrite=True replaces it"
    near = difflib.get_close_matches(given, (*_STORAGE, "append_dim", "overwrite", "encoding", "wait", "threads"), 1)
    return f"did you mean {near[0]!r}?" if near else f"storage is {', '.join(_STORAGE)}"


def _check_dims(storage: Mapping[str, Any], dims: Collection[Any], what: str) -> None:
    """Refuses shapes of chunks along dimensions that there are not."""
    for key in ("chunks", "blocks"):
        extents = storage.get(key)
        for dim in extents if isinstance(extents, Mapping) else ():
            if dim not in dims:
                near = difflib.get_close_matches(str(dim), [str(one) for one in dims], 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(map(repr, sorted(map(str, dims)))) or 'none'}"
                raise InvalidArgument(f"{key}: {what} has no dimension {dim!r}; {hint}")


class Encoded(NamedTuple):
    """A dataset as it is stored."""

    variables: dict[str, xarray.Variable]
    coords: list[str]
    attrs: dict[str, Any]


def encode(dataset: xarray.Dataset, how: Storage, dim: Optional[str] = None) -> Encoded:
    """Returns the variables with times, masks and scales as numbers, by the conventions of CF. They will grow along `dim`."""
    how.check(dataset.variables)
    given = dataset.copy(deep=False)
    for name, variable in given.variables.items():
        own = {key: value for key, value in how.encoding.get(name, {}).items() if key not in _STORAGE}
        unknown = [key for key in own if key not in _CF]
        if unknown:
            raise InvalidArgument(f"encoding of {name!r}: {unknown[0]!r} is none of {', '.join(_CF + _STORAGE)}")
        variable.encoding = {**{key: value for key, value in variable.encoding.items() if key in _CF}, **own}
    _share_units_with_bounds(given.variables)
    for variable in given.variables.values():
        if dim in variable.dims and variable.dtype.kind in "mM" and not {"units", "dtype"} & {*variable.encoding}:
            variable.encoding.update(_unit_of(variable.dtype))
    _share_units_with_bounds(given.variables)
    try:
        variables, attrs = conventions.encode_dataset_coordinates(given)
        variables, attrs = conventions.cf_encoder({name: _in_units(name, one) for name, one in variables.items()}, attrs)
    except (OverflowError, TypeError, ValueError) as error:  # of xarray, which names the variable
        if isinstance(error, Error):
            raise
        raise InvalidArgument(" ".join(str(error).split())) from error
    check_names([*variables, *dataset.dims], attrs, RESERVED)
    stored = {}
    for name, variable in variables.items():
        check_names([], variable.attrs, RESERVED)
        if len({*variable.dims}) < len(variable.dims):
            raise InvalidArgument(f"variable {name!r}: has a dimension twice: {variable.dims}")
        stored[name] = _without_objects(name, variable)
        if variable.size:
            _check_encoded(name, dataset.variables[name], stored[name], _time_attrs_of(name, variables))
    return Encoded(stored, [name for name in variables if name in dataset.coords], dict(attrs))


def check_fill(name: str, variable: xarray.Variable, storage: Mapping[str, Any]) -> None:
    """Refuses compression that changes the value which marks items as missing, for it would no longer do so."""
    for key in ("_FillValue", "missing_value"):
        fill = variable.attrs.get(key)
        if fill is None or np.ndim(fill) or fill != fill:
            continue
        lossy = losing(np.asarray(fill, variable.dtype), storage)
        if lossy:
            raise InvalidArgument(
                f"variable {name!r}: {lossy} changes its {key}, {fill}, so that missing items become numbers: encode them as NaN, "
                f"by encoding={{{name!r}: {{'_FillValue': np.nan}}}}{', without missing_value' if key == 'missing_value' else ''}"
            )


def _unit_of(dtype: np.dtype) -> dict[str, Any]:
    """Returns the encoding of times by which their numbers stay as they are, so that all others of the type fit.

    xarray would choose a unit for the first ones, such as days for midnights.
    """
    unit = _UNITS[np.datetime_data(dtype)[0]]
    return {"units": f"{unit} since 1970-01-01" if dtype.kind == "M" else unit, "dtype": np.dtype("i8")}


def _bounds_in(variables: Mapping[Any, xarray.Variable]) -> dict[Any, xarray.Variable]:
    """Returns the variables of times that have bounds, by the names of these."""
    times = [one for one in variables.values() if one.dtype.kind == "M" or "since" in str(one.attrs.get("units"))]
    return {one.attrs["bounds"]: one for one in times if one.attrs.get("bounds") in variables}


def _share_units_with_bounds(variables: Mapping[Any, xarray.Variable]) -> None:
    """Gives bounds of times the units of these, as CF does with bounds that say none."""
    for name, times in _bounds_in(variables).items():
        for key in ("units", "calendar"):
            if key in times.encoding:
                variables[name].encoding.setdefault(key, times.encoding[key])


def _time_attrs_of(name: str, encoded: Mapping[Any, xarray.Variable]) -> dict[str, Any]:
    """Returns the units and the calendar of encoded times, which bounds have from the variable that they belong to."""
    times = _bounds_in(encoded).get(name, encoded[name])
    own = encoded[name].attrs
    return {key: one[key] for key in ("units", "calendar") for one in (times.attrs, own) if key in one}


def _in_units(name: str, variable: xarray.Variable) -> xarray.Variable:
    """Returns times that will be counted in finer units as times of these, for xarray does not multiply them."""
    unit = {long: short for short, long in _UNITS.items()}.get(str(variable.encoding.get("units")).split(" ")[0])
    if variable.dtype.kind not in "mM" or unit is None:
        return variable
    dtype = np.dtype(f"{variable.dtype.kind}8[{unit}]")
    try:
        finer = variable.to_base_variable().astype(np.promote_types(variable.dtype, dtype))
        finer.encoding = variable.encoding
        if not bool(((finer.astype(variable.dtype) != variable) & variable.notnull()).any()):
            return finer
    except OverflowError:  # some versions of NumPy tell
        pass
    raise InvalidArgument(f"variable {name!r}: its encoding, in {variable.encoding['units']}, does not hold each of its times")


def _check_encoded(name: str, given: xarray.Variable, encoded: xarray.Variable, time_attrs: Mapping[str, Any]) -> None:
    """Refuses values that the encoding changes by more than its precision."""
    kinds = given.dtype.kind, encoded.dtype.kind
    where = f"variable {name!r}: its encoding, {encoded.dtype} with {encoded.attrs},"
    if kinds[0] == "c" != kinds[1]:
        raise InvalidArgument(f"{where} has no imaginary part")
    if kinds[0] in "mM":
        try:
            complete = encoded.copy()
            complete.attrs.update(time_attrs)
            back = conventions.decode_cf_variable(name, complete, decode_timedelta=kinds[0] == "m").to_numpy()
        except (ValueError, OverflowError) as error:
            raise InvalidArgument(f"{where} gives times that cannot be read back: {error}") from error
        items = given.to_numpy()
        try:
            fits = bool(((back == items) | np.isnat(items)).all())
        except OverflowError:  # some versions of NumPy tell
            fits = False
        if not fits:
            raise InvalidArgument(f"{where} does not hold each of its times")
        return
    if kinds[0] not in "fiu" or kinds[1] not in "fiu":
        return
    found: dict[str, xarray.Variable] = {}
    if not np.can_cast(given.dtype, encoded.dtype, "safe"):
        packed = (given - encoded.attrs.get("add_offset", 0)) / encoded.attrs.get("scale_factor", 1)
        found.update(least=packed.min(), most=packed.max())
    fill = encoded.attrs.get("_FillValue")
    if fill is not None and fill == fill:
        found["hits"] = ((encoded == fill) & given.notnull()).any()
    loaded = xarray.Dataset(found).compute()  # dask then makes the items once
    if "least" in found:
        limits = np.finfo(encoded.dtype) if kinds[1] == "f" else np.iinfo(_meant_by(encoded))
        least, most = float(loaded["least"]), float(loaded["most"])
        is_infinite = kinds[1] == "f" and np.isinf([least, most]).any()  # which a float holds
        if not is_infinite and (least < float(limits.min) - 0.5 or most > float(limits.max) + 0.5):
            raise InvalidArgument(f"{where} does not hold values from {given.min().to_numpy()} to {given.max().to_numpy()}")
    if "hits" in found and bool(loaded["hits"]):
        raise InvalidArgument(f"{where} makes a value missing that is not")


def _meant_by(encoded: xarray.Variable) -> np.dtype:
    """Returns the type of integers that the numbers stand for, which the attribute `_Unsigned` may change."""
    kind = {"true": "u", "false": "i"}.get(str(encoded.attrs.get("_Unsigned")), encoded.dtype.kind)
    return np.dtype(f"{kind}{encoded.dtype.itemsize}")


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
    coder = EncodedStringCoder(allows_unicode=True)  # type: ignore[no-untyped-call, unused-ignore]
    return coder.encode(variable, name=name)


def _numbers_of(name: str, items: np.ndarray, there: np.ndarray) -> np.ndarray:
    for one in items[there]:
        if not isinstance(one, (bool, int, float, np.number, np.bool_)):
            raise InvalidArgument(f"variable {name!r}: has an object of type {type(one).__name__}, which no frame holds")
    if there.all():
        return np.array(items.tolist())
    numbers = np.full(items.shape, np.nan)
    numbers[there] = items[there]
    return numbers


def like_stored(
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


def check_fits(encoded: Encoded, stored: datasets.Stored, dim: str, path: str) -> None:
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
        if name not in encoded.coords or name in given:
            _check_slices(name, variable, kept, dim, path)
        else:
            if not np.array_equal(items_of(variable), as_array(kept), equal_nan=variable.dtype.kind == "f"):
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
    return np.array_equal(times[0], times[1])


def _holds(dtype: np.dtype, variable: xarray.Variable) -> bool:
    """Returns True if a type holds all items of a variable as they are."""
    if np.can_cast(variable.dtype, dtype, "safe") or not variable.size:
        return True
    if dtype.kind not in "iu" or variable.dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return limits.min <= int(variable.min()) and int(variable.max()) <= limits.max


def only_variable(encoded: Encoded, path: str) -> str:
    names = [name for name in encoded.variables if name not in encoded.coords]
    if len(names) != 1:
        instead = f"save the dataset as a directory, by a path that does not end with {SUFFIX}"
        if is_uri(path):
            instead = f"an object store takes no directory of frames: save the dataset as a collection, by a name that ends with {COLLECTION}"
        raise InvalidArgument(f"{path}: one frame holds one variable, not {len(names)}: {instead}")
    return names[0]




def sizes_of(variables: Mapping[str, xarray.Variable]) -> dict[str, int]:
    """Returns the sizes of all dimensions."""
    return {str(dim): size for one in variables.values() for dim, size in one.sizes.items()}


def items_of(variable: xarray.Variable) -> np.ndarray:
    """Returns the items in memory."""
    return np.asarray(variable.to_numpy())


def same_items(variable: xarray.Variable, kept: datasets.Variable) -> bool:
    """Returns True if a variable has the items of the stored one, box by box."""
    assert isinstance(kept.data, datasets.Part)
    for box in boxes_of(variable.shape, kept.data.frame.chunks, variable.dtype.itemsize):
        if not np.array_equal(items_of(variable[box]), kept.data[box], equal_nan=variable.dtype.kind in "fc"):
            return False
    return True
