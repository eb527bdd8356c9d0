"""Records of a log in memory."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from .. import options
from ..arguments import members_raise_ours, told
from ..errors import InvalidArgument
from ..keys import check_fields, list_of
from ..paths import Path
from ..times import UNITS, ZoneLike, zone_name
from . import arrow

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]
    import pyarrow  # type: ignore[import-untyped]

    from .view import LogView

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
    keys = [] if key is None else list_of(key)
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

    def to_arrow(self, *, text: bool = True, nan_to_null: bool = False) -> pyarrow.Table:
        """Returns a table of pyarrow. Its times are in UTC.

        Where records have no value because they are older than a field, there is null.

        text
            Reads fields of bytes as text, and raises `InvalidArgument` where it is not UTF-8. False
            reads them as bytes.
        nan_to_null
            Makes null of NaN, which other programs take for a value: `avg` of a column with one is NaN.
        """
        return self._reader(text, nan_to_null).read_all()

    def to_parquet(
        self, path: Path, *, text: bool = True, nan_to_null: bool = False, compression: str = "zstd"
    ) -> None:
        """Writes the records into a file of Parquet, which appears when it is complete.

        path
            The path of the file.
        text
            Writes fields of bytes as text, as in `to_arrow`.
        nan_to_null
            Makes null of NaN, as in `to_arrow`.
        compression
            The codec of Parquet: "zstd", "snappy", "gzip", "brotli", "lz4" or "none".
        """
        arrow.write_parquet(self._reader(text, nan_to_null), path, compression)

    def _reader(self, text: bool = True, nan_to_null: bool = False) -> pyarrow.RecordBatchReader:
        types = {name: column.dtype for name, column in self.columns.items()}
        return arrow.reader_of(types, [self._masked()], text, nan_to_null)

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
        some = self[shown_places(len(self))]
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


def shown_places(count: int) -> np.ndarray:
    """Returns which of so many rows a table shows."""
    half = _SHOWN // 2
    return np.r_[:half, count - half : count] if count > _SHOWN else np.arange(count)


def shown(value: Any) -> str:
    """Returns a value as printable text, since a log may hold codes that control a terminal."""
    if value is np.ma.masked:
        return "NA"
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _for_pandas(column: np.ndarray, missing: Optional[np.ndarray] = None) -> Any:
    if column.dtype.kind == "O":
        import pandas

        nothing: Any = None
        return pandas.Categorical(column if missing is None else np.where(missing, nothing, column))
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
