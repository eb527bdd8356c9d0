"""Names of codecs and filters, checks of arguments, and the names of NumPy's types in frames."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from .arguments import construction_raises_ours, is_integer, is_number, told
from .errors import InvalidArgument, InvalidType

CODECS = {
    "blosclz": 0,
    "lz4": 1,
    "lz4hc": 2,
    "zlib": 4,
    "zstd": 5,
    "ndlz": 32,
    "zfp_acc": 33,
    "zfp_prec": 34,
    "zfp_rate": 35,
    "pco": 227,
    "bitpack": 228,
    "auto": 229,
}
FILTERS = {
    "none": 0,
    "shuffle": 1,
    "bitshuffle": 2,
    "delta": 3,
    "trunc_prec": 4,
    "ndcell": 32,
    "ndmean": 33,
    "bytedelta_buggy": 34,
    "bytedelta": 35,
    "int_trunc": 36,
}
SPECIAL_VALUES = {"none": 0, "zeros": 1, "nan": 2, "repeat": 3, "uninit": 4}
VERIFY_POLICIES = {"first": 0, "always": 1, "never": 2}
VERIFY_DEPTHS = {"structure": 0, "fingerprints": 1, "contents": 2}

_LONGEST = 10.0 * 365 * 24 * 3600  # seconds

# The name of a filter, or a pair of a name and its parameter.
FilterLike = Union[str, tuple[str, int]]


@construction_raises_ours
class Limits(NamedTuple):
    """Bounds on what a file that nobody trusts may cost. A call that would pass one raises `ResourceExhausted`.

    max_chunk_nbytes
        The maximum size of one chunk in bytes, decoded.
    max_metadata_nbytes
        The maximum size of one vlmetalayer in bytes, decoded.
    max_nchunks
        The maximum number of chunks of a frame.
    max_decode_memory
        The maximum number of bytes that one call allocates to decode blocks of which only a part is
        read. Reads of complete chunks need none.
    """

    max_chunk_nbytes: int = 2**31 - 33
    max_metadata_nbytes: int = 64 << 20
    max_nchunks: int = 1 << 28
    max_decode_memory: int = 256 << 20

    def _counts(self) -> tuple[int, int, int, int]:
        """The limits as the engine takes them."""
        most = 2**63 - 1
        return (
            integer(self.max_chunk_nbytes, "max_chunk_nbytes", 0, most),
            integer(self.max_metadata_nbytes, "max_metadata_nbytes", 0, most),
            integer(self.max_nchunks, "max_nchunks", 0, most),
            integer(self.max_decode_memory, "max_decode_memory", 0, most),
        )


def number_of(name: str, numbers: Mapping[str, int], what: str) -> int:
    """Returns the number that the format has for a name."""
    try:
        return numbers[name]
    except (KeyError, TypeError):  # what has no hash
        raise InvalidArgument(f"{what}: expected one of {', '.join(numbers)}, got {told(name)}") from None


def name_of(number: int, numbers: Mapping[str, int]) -> str:
    """Returns the name of a number of the format, or the number as text if a program registered it."""
    return next((name for name, known in numbers.items() if known == number), str(number))


def seconds(value: Any, what: str) -> float:
    """Returns a time to wait in seconds."""
    if type(value) is float and 0 <= value <= _LONGEST:
        return value
    if not is_number(value):
        raise InvalidType(f"{what}: expected a number of seconds, got {told(value)}")
    return float(min(max(value, 0.0), _LONGEST))


def milliseconds(value: Any, what: str = "wait") -> int:
    """Returns a time to wait in milliseconds, of which the shortest is one."""
    return math.ceil(seconds(value, what) * 1000)


def extents(shape: Any, what: str = "shape", most: int = 2**63 - 1) -> list[int]:
    """Returns the numbers of a shape. A single number is the shape of an array of one dimension."""
    if is_integer(shape):
        shape = (shape,)
    if isinstance(shape, (str, bytes)) or not hasattr(shape, "__iter__") or isinstance(shape, np.ndarray) and not shape.ndim:
        raise InvalidType(f"{what}: expected an int, or a sequence of ints, got {told(shape)}")
    return [integer(one, what, 0, most) for one in shape]


def integer(value: Any, what: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """Returns an argument as an int from `least` to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidType(f"{what}: expected an int, got {told(value)}") from None
    if not least <= number <= most:
        raise InvalidArgument(f"{what}: expected {least} to {most}, got {told(number)}")
    return number


def dtype_text(dtype: np.dtype) -> str:
    """Returns the name of a type in the metalayer `b2nd`, which is that of python-blosc2."""
    if dtype.names is None:
        return dtype.str
    text = str(dtype)
    # NumPy does not read back what it writes of aligned records in others.
    return text if _reads_back(text, dtype) else str(_spelled(dtype))


def _reads_back(text: str, dtype: np.dtype) -> bool:
    try:
        return bool(written_dtype(text) == dtype)
    except (ValueError, TypeError, SyntaxError):
        return False


def _spelled(dtype: np.dtype) -> Any:
    """Returns what NumPy makes the type of, with the place of each field. Titles are left out."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return (_spelled(base), shape)
    if dtype.fields is None or dtype.names is None:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    return {
        "names": list(dtype.names),
        "formats": [_spelled(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }


def parse_dtype(text: bytes, typesize: int) -> np.dtype:
    """Returns the type that a metalayer `b2nd` names, or raw bytes if that is not a type of this size.

    A file may say anything: types that hold pointers are never taken from one.
    """
    dtype = _said_dtype(text, typesize)
    return raw_dtype(typesize) if dtype is None else dtype


def _said_dtype(text: bytes, typesize: int) -> Optional[np.dtype]:
    try:
        dtype = written_dtype(text.decode())
    except Exception:  # noqa: BLE001: NumPy raises many classes for text that is not a type
        return None
    if dtype.hasobject or dtype.subdtype is not None or dtype.itemsize != typesize:
        return None
    return dtype


def check_said_dtype(text: bytes, dtype: np.dtype) -> None:
    """Refuses a type that is not the one that a metalayer `b2nd` names.

    Items would be read, and new ones stored, as those of another type. Raw bytes may be of any.
    """
    said = _said_dtype(text, dtype.itemsize)
    if said is not None and said != dtype and (said.kind != "V" or said.names is not None):
        raise InvalidArgument(f"items of type {said} are not {dtype}: give no dtype")


def written_dtype(text: str) -> np.dtype:
    """Returns the type that NumPy writes as this text."""
    return np.dtype(_said_fields(text) if text.startswith(("[", "{")) else text)


@functools.lru_cache(maxsize=64)  # it takes a third of the time to open a frame
def _said_fields(text: str) -> Any:
    return ast.literal_eval(text)


def raw_dtype(typesize: int) -> np.dtype:
    """Returns the type of items whose size alone is known."""
    return np.dtype(np.uint8) if typesize == 1 else np.dtype(f"V{typesize}")


def check_dtype(dtype: Any) -> np.dtype:
    """Returns the type without the class of its items, which no file can name. Objects are refused."""
    checked: np.dtype = np.dtype(dtype)
    if checked.hasobject or checked.subdtype is not None or checked.itemsize == 0:
        raise InvalidArgument(f"items of type {checked} have no fixed bytes: give a dtype of numbers, bytes or times")
    return _without_class(checked)


def _without_class(dtype: np.dtype) -> np.dtype:
    """Returns the same fields in `np.void`. Record arrays of NumPy have them in `np.record`."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inner: np.dtype = np.dtype((_without_class(base), shape))
        return inner
    if dtype.kind != "V":
        return np.dtype(dtype.str)  # numbers whose bytes have names stay numbers
    if dtype.fields is None or dtype.names is None:
        return dtype
    fields: list[Any] = [dtype.fields[name] for name in dtype.names]
    said: dict[str, Any] = {
        "names": dtype.names,
        "formats": [_without_class(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "titles": [field[2] if len(field) > 2 else None for field in fields],
        "itemsize": dtype.itemsize,
    }
    known: np.dtype = np.dtype(said, align=dtype.isalignedstruct)  # type: ignore[call-overload, unused-ignore]
    return known
