"""Records of a log as Arrow has them, in both directions. pyarrow does it, which is optional."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Error, InvalidArgument, Unimplemented, of_os_error
from ..options import number_of
from ..paths import Path, text_of

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

_TEXT_NBYTES = 1 << 30  # of a batch, since Arrow counts the bytes of texts with 31 bits
_GROUP_RECORDS = 1 << 20  # of a row group of Parquet, unless it has more bytes than this:
_GROUP_NBYTES = 64 << 20
_COMPRESSIONS = dict.fromkeys(("none", "snappy", "gzip", "brotli", "lz4", "zstd"), 0)


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise Unimplemented(f"{what} needs pyarrow: install it, as by pip install pyarrow") from error
    return pyarrow


def _schema_of(fields: Mapping[str, np.dtype], text: bool) -> pyarrow.Schema:
    pa = _pyarrow("Arrow")

    def type_of(dtype: np.dtype) -> Any:
        if dtype.kind == "M":
            return pa.timestamp(np.datetime_data(dtype)[0], "UTC")
        if dtype.kind == "O":
            return pa.dictionary(pa.int32(), pa.string())
        if dtype.kind == "S":
            return pa.string() if text else pa.binary()
        return pa.from_numpy_dtype(dtype.newbyteorder("="))

    return pa.schema([(name, type_of(dtype)) for name, dtype in fields.items()])


def _array_of(column: np.ndarray, name: str, type_: Any, nan_to_null: bool) -> Any:
    import pyarrow as pa

    if column.dtype.kind == "O":
        mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        return pa.array(np.asarray(column), pa.string(), mask=mask).dictionary_encode()
    if isinstance(column, np.ma.MaskedArray):  # of records that have no value
        from pyarrow import compute

        found = _array_of(column.data, name, type_, nan_to_null)
        return compute.if_else(pa.array(np.ma.getmaskarray(column)), pa.scalar(None, type_), found)
    column = np.ascontiguousarray(column, column.dtype.newbyteorder("="))
    if column.dtype.kind == "M":
        none = np.isnat(column)
        counts = pa.array(column.view(np.int64), mask=none if none.any() else None)
        return counts.view(type_)
    if column.dtype.kind != "S":
        return pa.array(column, type_, from_pandas=nan_to_null)
    # pyarrow itself ends a text of NumPy at the first zero.
    lengths = np.char.str_len(column)
    width = column.dtype.itemsize
    ends = np.zeros(len(column) + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    content = column.view(np.uint8).reshape(-1, width)[np.arange(width) < lengths[:, None]]
    found = pa.Array.from_buffers(pa.binary(), len(column), [None, pa.py_buffer(ends), pa.py_buffer(content)])
    try:
        return found.cast(type_)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(f"field {name!r}: bytes that are not UTF-8; text=False reads the field as bytes") from error


def _batches_of(columns: Mapping[str, np.ndarray], schema: Any, nan_to_null: bool) -> Iterator[Any]:
    import pyarrow as pa

    width = max((one.dtype.itemsize for one in columns.values()), default=1)
    count = len(next(iter(columns.values()), ()))
    step = max(_TEXT_NBYTES // width, 1)
    for begin in range(0, count, step):
        parts = {name: one[begin : begin + step] for name, one in columns.items()}
        arrays = [_array_of(part, name, type_, nan_to_null) for (name, part), type_ in zip(parts.items(), schema.types)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def reader_of(
    fields: Mapping[str, np.dtype],
    pieces: Iterable[Mapping[str, np.ndarray]],
    text: bool,
    nan_to_null: bool,
) -> pyarrow.RecordBatchReader:
    """Returns a reader of columns that come piece by piece. It reads a piece when it is asked for one."""
    schema = _schema_of(fields, text)
    batches = (batch for columns in pieces for batch in _batches_of(columns, schema, nan_to_null))
    return _pyarrow("Arrow").RecordBatchReader.from_batches(schema, batches)


def write_parquet(reader: pyarrow.RecordBatchReader, path: Path, compression: str) -> None:
    """Writes everything that the reader gives. The file appears when it is complete."""
    pa = _pyarrow("to_parquet")
    import pyarrow.parquet as parquet  # type: ignore[import-untyped, unused-ignore]

    number_of(compression, _COMPRESSIONS, "compression")
    name = text_of(path)
    part = f"{name}.part"
    try:
        with open(part, "wb") as file, parquet.ParquetWriter(file, reader.schema, compression=compression) as writer:
            for group in _groups(reader):
                writer.write_table(pa.Table.from_batches(group))
        os.replace(part, name)
    except Error:
        raise
    except OSError as error:
        raise of_os_error(error) from error
    finally:
        if os.path.isfile(part):
            os.unlink(part)


def _groups(reader: Iterable[Any]) -> Iterator[list[Any]]:
    group: list[Any] = []
    records = nbytes = 0
    for batch in reader:
        group.append(batch)
        records += batch.num_rows
        nbytes += batch.nbytes
        if records >= _GROUP_RECORDS or nbytes >= _GROUP_NBYTES:
            yield group
            group, records, nbytes = [], 0, 0
    if group:
        yield group


def has_columns(items: Any) -> bool:
    """Returns True for tables of Arrow, and for what gives them by Arrow's protocol."""
    return hasattr(items, "__arrow_c_stream__") or hasattr(items, "__arrow_c_array__")


def columns_of(items: Any) -> dict[str, Any]:
    """Returns the columns of a table, of a record batch, or of all that a reader gives."""
    table = _pyarrow("a table of Arrow").table(items)
    names = table.column_names
    if len(set(names)) < len(names):
        raise InvalidArgument(f"fields {', '.join(names)}: expected each name once")
    return dict(zip(names, table.columns))


def is_column(values: Any) -> bool:
    """Returns True for an array of pyarrow."""
    pa = sys.modules.get("pyarrow")  # there are none before it is imported
    return pa is not None and isinstance(values, (pa.Array, pa.ChunkedArray))


def to_numpy(values: Any) -> np.ndarray:
    """Returns an array of pyarrow as NumPy has it. Times are UTC. Where values are missing, it holds None or NaT."""
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if kinds.is_timestamp(values.type):
        counts = values.cast(pa.int64()).fill_null(-(2**63))
        return np.asarray(counts, np.int64).view(f"M8[{values.type.unit}]")
    if kinds.is_decimal(values.type):
        found = [None if one is None else int(one) if one == int(one) else float(one) for one in values.to_pylist()]
    elif values.null_count and not kinds.is_floating(values.type) and not kinds.is_date(values.type):
        found = values.to_pylist()
    elif kinds.is_floating(values.type) or kinds.is_integer(values.type) or kinds.is_boolean(values.type) or kinds.is_date(values.type):
        return np.asarray(values)
    else:
        found = values.to_pylist()
    items = np.empty(len(found), object)
    items[:] = found
    return items
