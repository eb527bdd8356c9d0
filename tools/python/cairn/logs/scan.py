"""What a query of a log finds, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _engine
from ..arguments import members_raise_ours
from ..paths import Path
from . import arrow
from .records import Columns, Records
from .view import LogView

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]


@members_raise_ours
class Scan:
    """Iterates over the records that a query finds: `for records in log.scan()`.

    It holds one piece of them in memory, and gives each piece once. Programs that take streams of
    Arrow, such as DuckDB and polars, take it as one.
    """

    __slots__ = ("_cursor", "_fields", "_view", "_where")

    def __init__(self, view: LogView, fields: dict[str, np.dtype], cursor: _engine.LogCursor):
        self._fields = fields
        self._cursor = cursor
        self._view = view
        self._where = view.where

    def __iter__(self) -> Scan:
        return self

    def __next__(self) -> Records:
        batch = self._cursor.next()
        if not batch[0]:
            raise StopIteration
        columns = Columns(self._fields, self._view)
        columns.add(*batch)
        return columns.take()

    def to_arrow(self, *, text: bool = True, nan_to_null: bool = False) -> pyarrow.RecordBatchReader:
        """Returns a reader of pyarrow for the records that are left.

        text
            Reads fields of bytes as text, and raises `InvalidArgument` where it is not UTF-8. False
            reads them as bytes.
        nan_to_null
            Makes null of NaN, which other programs take for a value: `avg` of a column with one is NaN.
        """
        return arrow.reader_of(self._fields, (records._masked() for records in self), text, nan_to_null)

    def to_parquet(
        self, path: Path, *, text: bool = True, nan_to_null: bool = False, compression: str = "zstd"
    ) -> None:
        """Writes the records that are left into a file of Parquet, which appears when it is complete.

        path
            The path of the file.
        text
            Writes fields of bytes as text, as in `to_arrow`.
        nan_to_null
            Makes null of NaN, as in `to_arrow`.
        compression
            The codec of Parquet: "zstd", "snappy", "gzip", "brotli", "lz4" or "none".
        """
        arrow.write_parquet(self.to_arrow(text=text, nan_to_null=nan_to_null), path, compression)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
