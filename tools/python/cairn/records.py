"""Records of a log in memory, and the conversion of values to records."""

from __future__ import annotations

import html
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _engine, arrow, options
from .arguments import members_raise_ours, raise_ours, told
from .errors import InvalidArgument, InvalidType
from .keys import check_fields
from .paths import Path
from .times import UNITS, Clock, ZoneLike, without_zone, zone_name
from .view import bytes_of, is_masked

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]
    import pyarrow  # type: ignore[import-untyped]

    from .log_view import LogView

_SHOWN = 10


def fields_of(dtype: np.dtype) -> dict[str, np.dtype]:
    """Returns the names and types of the fields. A plain type is one field without a name."""
    if dtype.names is None:
        return {"": dtype}
    return {name: dtype[name] for name in dtype.names}


def record_type(dtype: Any, unit: str) -> np.dtype:
    """Returns the type in little endian, with a unit for each time."""
    if isinstance(dtype, Mapping) and not {"names", "formats"} <= set(dtype):
        dtype = list(dtype.items())
    known = options.check_dtype(dtype).newbyteorder("<")
    if known.names is None:
        raise InvalidArgument(f"type {known}: records need fields with names")
    fields = fields_of(known)
    if np.dtype("M8") not in fields.values():
        return known
    options.number_of(unit, dict.fromkeys(UNITS, 0), "unit")
    timed = np.dtype(f"<M8[{unit}]")
    return np.dtype([(name, timed if one == "M8" else one) for name, one in fields.items()])


def keyed_type(dtype: Any, unit: str, key: Union[str, Sequence[str], None] = None) -> tuple[np.dtype, list[str]]:
    """Returns the type, in which fields of the type "text" have codes, and their names."""
    if isinstance(dtype, Mapping) and not {"names", "formats"} <= set(dtype):
        dtype = list(dtype.items())
    keys = [] if key is None else [key] if isinstance(key, str) else list(key)
    texts = []
    if isinstance(dtype, list):
        pairs = [one for one in dtype if isinstance(one, tuple) and len(one) == 2]
        texts = [one[0] for one in pairs if isinstance(one[1], str) and one[1] == "text"]
        dtype = [(one[0], "<u4") if one in pairs and one[0] in texts else one for one in dtype]
        dtype += [(name, "<u4") for name in keys]
    elif keys:
        dtype = [*fields_of(np.dtype(dtype)).items(), *((name, "<u4") for name in keys)]
    return record_type(dtype, unit), [*texts, *keys]


def added_field(name: str, dtype: Any, unit: str) -> tuple[str, int, list[str]]:
    """Returns a new field as the engine takes it: a type with one field, its size, and its name if it has texts."""
    known, texts = keyed_type([(name, dtype)], unit)
    return options.dtype_text(known), known.itemsize, texts


@members_raise_ours
class Records:
    """Holds records of a log in memory: `r["temp"]` is a column, `r[5]` a record, `r[2:9]` some records.

    `np.asarray(r)` is a structured array, `r.columns` a dict of arrays and `r.to_pandas()` a
    DataFrame.
    """

    __slots__ = ("_time", "columns", "missing", "numbers")

    columns: dict[str, np.ndarray]
    missing: dict[str, np.ndarray]
    numbers: np.ndarray
    _where = ""

    def __init__(
        self,
        columns: dict[str, np.ndarray],
        numbers: np.ndarray,
        time: Optional[str],
        missing: Optional[dict[str, np.ndarray]] = None,
    ):
        self.columns = columns  # by the names of the fields
        self.numbers = numbers  # the numbers of the records in the log, which never change
        # For each field that is younger than some of the records, True where a record has no value.
        # Its column has NaN, NaT, an empty text, 0 or False there.
        self.missing = missing or {}
        self._time = time

    @property
    def dtype(self) -> np.dtype:
        """The type of one record."""
        if list(self.columns) == [""]:
            return self.columns[""].dtype
        return np.dtype([(name, column.dtype) for name, column in self.columns.items()])

    def to_numpy(self) -> np.ndarray:
        """Returns the records as a structured array."""
        dtype = self.dtype
        if dtype.names is None:
            return self.columns[""]
        rows = np.empty(len(self), dtype)
        for name, column in self.columns.items():
            rows[name] = column
        return rows

    def to_pandas(self, *, tz: Optional[ZoneLike] = None) -> pandas.DataFrame:
        """Returns a DataFrame of pandas, whose index is the time if it was read. Bytes become text.

        Where records have no value because they are older than a field, there is NaN, NaT or NA.

        tz
            The zone of its times: a name such as "Europe/Berlin", or a `tzinfo`. By default, times
            are in UTC and have no zone.
        """
        import pandas

        frame = pandas.DataFrame(
            {name: _for_pandas(one, self.missing.get(name)) for name, one in self.columns.items()}
        )
        if tz is not None:
            zone_name(tz)  # refuses other types
            for name in frame.columns[[one.dtype.kind == "M" for one in self.columns.values()]]:
                try:
                    frame[name] = frame[name].dt.tz_localize("UTC").dt.tz_convert(tz)
                except (KeyError, OSError) as error:
                    raise InvalidArgument(f"tz: {told(tz)} is not the name of a zone such as Europe/Berlin") from error
        return frame.set_index(self._time) if self._time in self.columns else frame

    def to_arrow(self, *, text: bool = True) -> pyarrow.Table:
        """Returns a table of pyarrow. Its times are in UTC, and NaN of a float stays NaN.

        Where records have no value because they are older than a field, there is null.

        text
            Reads fields of bytes as text, and raises `InvalidArgument` where it is not UTF-8. False
            reads them as bytes.
        """
        return self._reader(text).read_all()

    def to_parquet(self, path: Path, *, text: bool = True, compression: str = "zstd") -> None:
        """Writes the records into a file of Parquet, which appears when it is complete.

        path
            The path of the file.
        text
            Writes fields of bytes as text, as in `to_arrow`.
        compression
            The codec of Parquet: "zstd", "snappy", "gzip", "brotli", "lz4" or "none".
        """
        arrow.write_parquet(self._reader(text), path, compression)

    def _reader(self, text: bool = True) -> pyarrow.RecordBatchReader:
        types = {name: column.dtype for name, column in self.columns.items()}
        return arrow.reader_of(types, [self._masked()], text)

    def _masked(self) -> dict[str, np.ndarray]:
        """Returns the columns. Those that lack values are masked arrays."""
        missing = {name: np.ma.MaskedArray(self.columns[name], mask) for name, mask in self.missing.items()}
        return {**self.columns, **missing}

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._reader().__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        shared = list(self.columns) == [""]  # else `to_numpy` makes new memory
        rows = self.to_numpy()
        if copy is False and not (shared and dtype in (None, rows.dtype)):
            raise InvalidArgument("an array of these records, or of this dtype, is a copy")
        return rows.astype(rows.dtype if dtype is None else dtype, copy=shared and bool(copy))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            check_fields([key], self.columns)
            return self.columns[key]
        if isinstance(key, (int, np.integer)):
            return self[[key]].to_numpy()[0]
        chosen = {name: column[key] for name, column in self.columns.items()}
        missing = {name: mask[key] for name, mask in self.missing.items()}
        return Records(chosen, self.numbers[key], self._time, missing)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_numpy())

    def _rows(self, what: str) -> list[list[str]]:
        """Returns the rows of the table that is shown: a head, and some records at both ends."""
        half = _SHOWN // 2
        cut = len(self) > _SHOWN
        some = self[np.r_[:half, len(self) - half : len(self)]] if cut else self
        texts = [[shown(value) for value in column] for column in some._masked().values()]
        rows = [[str(number), *row] for number, *row in zip(some.numbers, *texts)]
        if cut:
            rows.insert(half, ["..."] * (len(self.columns) + 1))
        return [[what, *map(shown, self.columns)], *rows]

    def _shown(self, what: str) -> str:
        rows = self._rows(what)
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
        return "\n".join([*lines, f"[{len(self):,} {what}{'' if len(self) == 1 else 's'}]"])

    def _shown_as_html(self, what: str) -> str:
        head, *rows = [[html.escape(cell) for cell in row] for row in self._rows(what)]
        body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
        count = f"{len(self):,} {what}{'' if len(self) == 1 else 's'}"
        return f"<div><table><tr><th>{'</th><th>'.join(head)}</th></tr>{body}</table>{count}</div>"

    def __repr__(self) -> str:
        return self._shown("record")

    def _repr_html_(self) -> str:
        return self._shown_as_html("record")


def shown(value: Any) -> str:
    """Returns a value as printable text, since a log may hold codes that control a terminal."""
    if value is np.ma.masked:
        return "NA"
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _for_pandas(column: np.ndarray, missing: Optional[np.ndarray] = None) -> Any:
    if column.dtype.kind == "O":
        import pandas

        return pandas.Categorical(column if missing is None else np.where(missing, None, column))
    if column.dtype.kind == "S":
        column = np.array([value.decode("utf-8", "replace") for value in column], object)
        if missing is not None:
            column[missing] = None
    elif missing is not None and column.dtype.kind in "biu":
        import pandas

        array = pandas.arrays.BooleanArray if column.dtype.kind == "b" else pandas.arrays.IntegerArray
        return array(column.astype(column.dtype.newbyteorder("=")), missing.copy())
    return column


class Columns:
    """Puts the columns of records together piece by piece."""

    def __init__(self, fields: Iterable[str], view: LogView):
        self._fields = {name: view.stored[name] for name in fields}
        self._view = view
        self._numbers = bytearray()
        self._columns = [bytearray() for _ in fields]

    def add(self, numbers: bytes, columns: Sequence[bytes]) -> None:
        """Adds records in the form in which a log holds them."""
        self._numbers += numbers
        for column, more in zip(self._columns, columns):
            column += more

    def take(self) -> Records:
        """Returns all records that were added."""
        values = zip(self._fields.items(), self._columns)
        columns = {name: self._view.decoded(name, np.frombuffer(column, dtype)) for (name, dtype), column in values}
        numbers = np.frombuffer(self._numbers, np.int64)
        return Records(columns, numbers, self._view.time, missing_of(self._fields, numbers, self._view.first_with_value))


def missing_of(
    fields: Iterable[str], numbers: np.ndarray, first_with_value: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Returns the fields that some of the records lack, with the records that do."""
    missing = {name: numbers < first_with_value[name] for name in fields}
    return {name: mask for name, mask in missing.items() if mask.any()}


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
        name = items.index.name
        if name is None and items.index.dtype.kind == "M":  # it can only be the time
            times = (one for one, type_ in fields_of(dtype).items() if type_.kind == "M")
            name = next((one for one in times if one not in columns), None)
        if name is not None:
            columns[name] = items.index
        items = columns
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
        return codes[places]
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
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"field {name!r}: a text that is not UTF-8") from error
    return np.frombuffer(found, "<u4")[places]


def _from_tuples(items: Any, dtype: np.dtype) -> dict[str, Any]:
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise InvalidType(f"records: expected an array, a DataFrame, a table, a dict or a list of tuples, got {told(items)}")
    rows = [items] if isinstance(items, tuple) else list(items)
    names = dtype.names or ()
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list, np.void, np.ndarray)):
            raise InvalidType(f"record {number}: expected a tuple of {len(names)} values, got {told(row)}")
        if len(row) != len(names):
            raise InvalidArgument(f"record {number}: {len(row)} values, the log has {len(names)} fields")
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
        got = ", ".join(map(str, items))
        raise InvalidArgument(f"fields {got}; the log has {', '.join(dtype.names)}")
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
        values = np.where(values.mask, None, values.data.astype(object)).tolist()
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
