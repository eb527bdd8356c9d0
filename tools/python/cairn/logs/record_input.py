"""Makes records, as the engine takes them, of the values that programs have."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Optional

import numpy as np

from .. import _engine
from ..arguments import raise_ours, told
from ..errors import InvalidArgument, InvalidType
from ..keys import check_fields
from ..times import Clock, without_zone
from ..view import bytes_of, is_masked
from . import arrow
from .records import Records, fields_of

# Gives the codes of texts for a field.
CodesOf = Callable[[str, list[str]], bytes]


def to_records(items: Any, dtype: np.dtype, texts: Sequence[str] = (), codes_of: Optional[CodesOf] = None) -> np.ndarray:
    """Records as the engine takes them: of this type, contiguous. `texts` are the fields of codes.

    From a structured array, a DataFrame, a table of Arrow, a mapping of names to values, or a
    sequence of tuples.
    """
    if hasattr(items, "time_field"):  # a log
        items = items.query(order="record")
    if isinstance(items, Records):
        items = items._masked()
    if is_masked(items):
        items = {name: items[name] for name in items.dtype.names or ()} or items
    elif isinstance(items, (np.ndarray, np.void)):
        given = np.atleast_1d(np.asarray(items))
        if given.dtype == dtype:
            return bytes_of(np.ascontiguousarray(given))
        items = {name: given[name] for name in given.dtype.names or ()} or given
    elif hasattr(items, "columns") and hasattr(items, "reset_index"):  # of pandas
        columns = {name: items[name] for name in items.columns}
        items = {**columns, **_columns_of_index(items.index, dtype, columns)}
    elif dtype.names is not None and arrow.has_columns(items):
        items = arrow.columns_of(items)
    elif not isinstance(items, Mapping) and dtype.names is not None:
        items = _from_tuples(items, dtype)
    if codes_of is not None and texts and isinstance(items, Mapping):
        items = {name: _coded(one, name, codes_of) if name in texts else one for name, one in items.items()}
        if dtype.names is not None and items:
            lengths = [len(one) for name, one in items.items() if name in texts]
            items.update({name: np.zeros(lengths[0] if lengths else _length(items), "<u4") for name in texts if name not in items})
    return bytes_of(_from_columns(items, dtype))


def _columns_of_index(index: Any, dtype: np.dtype, columns: Collection[Any]) -> dict[Any, Any]:
    """Returns the levels of an index of pandas as columns. One level without a name is no column, if it is not the time."""
    if index.nlevels > 1:
        if None in index.names:
            raise InvalidArgument(f"records: a level of the index has no name; there are {', '.join(map(repr, index.names))}")
        return {name: index.get_level_values(name) for name in index.names}
    name = index.name
    if name is None and index.dtype.kind == "M":  # it can only be the time
        times = (one for one, type_ in fields_of(dtype).items() if type_.kind == "M")
        name = next((one for one in times if one not in columns), None)
    return {} if name is None else {name: index}


def _length(columns: Mapping[str, Any]) -> int:
    one = next(iter(columns.values()))
    return len(one) if hasattr(one, "__len__") and not isinstance(one, (str, bytes)) else 1


def _coded(values: Any, name: str, codes_of: CodesOf) -> np.ndarray:
    """Returns the codes of a column of texts."""
    if hasattr(values, "cat") or hasattr(values, "categories"):  # categories of pandas
        values = getattr(values, "cat", values)
        places = np.asarray(values.codes)
        known = list(values.categories)
        used = np.unique(places)
        codes = np.zeros(len(known) + 1, "<u4")  # the last is for -1, which is no value
        some = [int(place) for place in used if place >= 0]
        codes[some] = _codes([known[place] for place in some], name, codes_of)
        chosen: np.ndarray = codes[places]
        return chosen
    if arrow.is_column(values):
        values = arrow.to_numpy(values)
    if is_masked(values):
        values = np.where(values.mask, None, values.data.astype(object))
    return _codes(np.atleast_1d(np.asarray(values, object)).tolist(), name, codes_of)


def _codes(values: list[Any], name: str, codes_of: CodesOf) -> np.ndarray:
    texts: dict[str, int] = {}
    places = np.empty(len(values), np.intp)
    for number, value in enumerate(values):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "surrogateescape")
        elif not isinstance(value, str):
            if not _is_none(value):
                raise InvalidType(f"field {name!r}: record {number}: expected a text, got {told(value)}")
            value = ""
        places[number] = texts.setdefault(value, len(texts))
    try:
        found = codes_of(name, list(texts))
    except (UnicodeEncodeError, TypeError) as error:
        wrong = next((place for text, place in texts.items() if not _is_utf8(text)), None)
        if wrong is None:
            raise
        record = int(np.flatnonzero(places == wrong)[0])
        raise InvalidArgument(f"field {name!r}: record {record}: a text that is not UTF-8") from error
    return np.frombuffer(found, "<u4")[places]


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_tuples(items: Any, dtype: np.dtype) -> dict[str, Any]:
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise InvalidType(f"records: expected an array, a DataFrame, a table, a dict or a list of tuples, got {told(items)}")
    rows = [items] if isinstance(items, tuple) else list(items)
    names = dtype.names or ()
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list, np.void, np.ndarray)):
            raise InvalidType(f"record {number}: expected a tuple of {len(names)} values, got {told(row)}")
        count = len(row)  # type: ignore[arg-type, unused-ignore]
        if count != len(names):
            raise InvalidArgument(f"record {number}: {count} values, the log has {len(names)} fields")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _from_columns(items: Any, dtype: np.dtype) -> np.ndarray:
    if dtype.names is None:
        if isinstance(items, Mapping):
            check_fields(items, [""])
            items = items.get("", [])
        return _converted(items, dtype, "items")
    if not isinstance(items, Mapping):
        raise InvalidArgument(f"no fields, the log has {', '.join(dtype.names)}")
    given = [name for name in dtype.names if name in items]
    if len(given) < len(items) or not given:
        other = ", ".join(repr(one) for one in map(str, items) if one not in given)
        wrong = f"no field {other}" if other else "no fields"
        raise InvalidArgument(f"{wrong}; there are {', '.join(dtype.names)}: leave other columns out")
    columns = {name: _converted(items[name], dtype[name], name) for name in given}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        counts = ", ".join(f"{len(column)} of {name}" for name, column in columns.items())
        raise InvalidArgument(f"columns of different lengths: {counts}")
    rows = np.zeros(lengths.pop(), dtype)
    for name in dtype.names:
        rows[name] = columns[name] if name in columns else _no_value(dtype[name], name, dtype.names)
    return rows


def _no_value(dtype: np.dtype, name: str, names: Sequence[str] = ()) -> Any:
    """Returns the value that means none in a field. `names` are all fields, for the message."""
    if dtype.kind not in "fMS":
        fields = f"; the log has {', '.join(names)}" if names else ""
        raise InvalidArgument(
            f"field {name!r}: no value; integers and booleans always have one{fields}"
        )
    return {"f": np.nan, "M": np.datetime64("NaT"), "S": b""}[dtype.kind]


# By the kind of the field, the kinds of arrays that NumPy makes of values of several types and that
# lose something: texts also replace None, and doubles do not hold all integers.
_MIXED = {"S": "SUf", "M": "f", "i": "f", "u": "f"}


def _is_none(value: Any) -> bool:
    """Returns True for None, NaN, NaT and the NA of pandas."""
    if isinstance(value, (float, np.floating, np.datetime64)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _lacks_some(values: Any) -> bool:
    """Returns True for a column of pandas with NA, of which NumPy would make floats."""
    own = getattr(values, "dtype", np.dtype(float))
    return not isinstance(own, np.dtype) and hasattr(values, "isna") and bool(values.isna().any())


def _converted(values: Any, dtype: np.dtype, name: str) -> np.ndarray:
    """Returns a column in the type of a field. Only the precision of floats and times may be lost."""
    try:
        return _as_field(values, dtype, name)
    except Exception as error:  # noqa: BLE001: it is raised again
        raise_ours(error, f"field {name!r}")


def _as_field(values: Any, dtype: np.dtype, name: str) -> np.ndarray:
    values = arrow.to_numpy(values) if arrow.is_column(values) else without_zone(values)
    if is_masked(values):
        nothing: Any = None
        values = np.where(values.mask, nothing, values.data.astype(object)).tolist()
    own = hasattr(values, "dtype") and not isinstance(values, (str, bytes))
    # NumPy would make texts of bytes that stand among texts.
    kind = object if dtype.kind == "S" and not own or dtype.kind != "f" and _lacks_some(values) else None
    given = np.atleast_1d(np.asarray(values, kind))
    if given.ndim != 1:
        raise InvalidArgument(f"field {name!r}: values of {given.ndim} dimensions")
    if not own and given.dtype.kind in _MIXED.get(dtype.kind, ""):
        given = np.atleast_1d(np.asarray(values, object))
    if given.dtype == dtype or given.size == 0:
        return np.ascontiguousarray(given, dtype)
    if given.dtype == object:
        given = _filled(given, dtype, name)
    return {"M": _as_times, "S": _as_bytes, "f": _as_floats}.get(dtype.kind, _as_integers)(given, dtype)


def _filled(given: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """Returns Python values in which none is replaced by the value that means it in the field."""
    values = given.tolist()
    for place, value in enumerate(values):
        if _is_none(value):
            values[place] = _no_value(dtype, name)
        elif dtype.kind in "iu" and isinstance(value, (float, np.floating)) and value.is_integer():
            values[place] = int(value)
    if dtype.kind in "MS":
        filled = np.empty(len(values), object)
        filled[:] = values
        return filled
    if dtype.kind in "iu" and all(isinstance(value, (int, np.integer)) for value in values):
        limits = np.iinfo(dtype)
        if min(values) < limits.min or max(values) > limits.max:
            raise InvalidArgument(f"field {name!r}: values that {dtype} does not hold")
        return np.array(values, dtype)
    is_real = dtype.kind == "f" and all(isinstance(value, numbers.Real) for value in values)
    return np.asarray(values, float if is_real else None)


def _as_times(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    clock = Clock(dtype)
    if given.dtype.kind in "iu":
        clock.check_counts(given)
        return _as_integers(given, np.dtype(np.int64)).view(dtype)
    if given.dtype.kind == "M":
        found = given.astype(dtype)
        unit = np.promote_types(given.dtype, dtype)
        back = found.astype(given.dtype)
        if unit == dtype and (back.view(np.int64) != given.view(np.int64)).any():
            raise InvalidArgument(f"times that {dtype} does not reach")
        return found
    counts = [
        -(2**63) if _is_none(value) else clock.count(value, up=False, stored=True)
        for value in given.tolist()
    ]
    return np.array(counts, np.int64).view(dtype)


def _as_bytes(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    found = given.tolist()
    for place, one in enumerate(found):
        if isinstance(one, str):
            found[place] = one = one.encode("utf-8", "surrogateescape")
        if not isinstance(one, bytes):
            raise InvalidType(f"record {place}: expected a text, got {told(one)}")
        if len(one) > dtype.itemsize:
            raise InvalidArgument(f"a text of {len(one)} bytes, it takes {dtype.itemsize}")
        try:
            _engine.check_padded_text(one)
        except InvalidArgument as error:
            raise InvalidArgument(f"record {place}: {error}") from None
    return np.array(found, dtype)


def _check_numbers(given: np.ndarray, dtype: np.dtype) -> None:
    if given.dtype.kind in "biuf":
        return
    wrong = (one for one in given.tolist() if not isinstance(one, (int, float)))
    raise InvalidType(f"expected numbers for {dtype}, got {told(next(wrong, given))}")


def _as_floats(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    _check_numbers(given, dtype)
    with np.errstate(over="ignore"):
        found = given.astype(dtype, casting="same_kind")
    if (np.isinf(found) & ~np.isinf(given)).any():
        raise InvalidArgument(f"values that {dtype} does not hold")
    return found


def _as_integers(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    _check_numbers(given, dtype)
    with np.errstate(invalid="ignore"):
        found = given.astype(dtype)
    if (found != given).any():
        raise InvalidArgument(f"values that {dtype} does not hold")
    return found
