"""Values of metadata as bytes: MessagePack with the extension types of python-blosc2."""

from __future__ import annotations

import math
import struct
from typing import Any, NoReturn

import numpy as np
from numpy.lib.recfunctions import repack_fields

from . import options
from .errors import InvalidArgument, InvalidType, Unimplemented

# Codes of extension types. python-blosc2 also has types for frames (42) and for references to other
# data (43), which it does not read from a file unless it is told to trust that file.
_TIMESTAMP, _COMPLEX, _SET, _ARRAY = -1, 44, 45, 46
_REFUSED = {42: "a Blosc2 frame", 43: "a reference of python-blosc2"}

_TUPLE = "__tuple__"  # the first item of a list that was a tuple
_DEEPEST = 511  # containers inside each other; python-blosc2 writes no more
_MOST_DIMENSIONS = 64  # of NumPy

# Codes of sizes of 1, 2 and 4 bytes. 0 means that there is none.
_TEXT, _BYTES, _LIST, _MAP, _EXT = (
    (0xD9, 0xDA, 0xDB),
    (0xC4, 0xC5, 0xC6),
    (0, 0xDC, 0xDD),
    (0, 0xDE, 0xDF),
    (0xC7, 0xC8, 0xC9),
)
_SIZED = {
    code: (form, 1 << place)
    for form in (_TEXT, _BYTES, _LIST, _MAP, _EXT)
    for place, code in enumerate(form)
    if code
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_SCALARS = ((np.bool_, bool), (np.integer, int), (np.floating, float), (np.complexfloating, complex))


def pack(value: Any) -> bytes:
    """Returns the bytes of a value, as python-blosc2 writes and reads them."""
    out = bytearray()
    try:
        _pack(value, out, 0)
    except RecursionError:
        _refuse_depth()
    return bytes(out)


def unpack(packed: bytes) -> Any:
    """Returns the value of such bytes. Bytes that nobody trusts cost memory of their own size only."""
    try:
        return _Reader(memoryview(packed)).whole(0)
    except RecursionError:
        _refuse_depth()


def _refuse_depth() -> NoReturn:
    raise InvalidArgument(f"containers are nested too deep: expected at most {_DEEPEST}") from None


def _pack(value: Any, out: bytearray, depth: int) -> None:
    if depth > _DEEPEST:
        _refuse_depth()
    if isinstance(value, np.generic):
        value = _of_scalar(value)
    if value is None:
        out.append(0xC0)
    elif isinstance(value, bool):
        out.append(0xC3 if value else 0xC2)
    elif isinstance(value, int):
        _pack_int(value, out)
    elif isinstance(value, float):
        out += struct.pack(">Bd", 0xCB, value)
    elif isinstance(value, complex):
        _pack_ext(_COMPLEX, struct.pack(">dd", value.real, value.imag), out)
    elif isinstance(value, str):
        _pack_text(value, out)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        content = bytes(value)
        _pack_size(_BYTES, len(content), out)
        out += content
    elif isinstance(value, list):
        if value and isinstance(value[0], str) and value[0] == _TUPLE:
            raise InvalidArgument(f"a list that begins with {_TUPLE!r} would be read as a tuple")
        _pack_size(_LIST, len(value), out, 0x90, 16)
        for one in value:
            _pack(one, out, depth + 1)
    elif isinstance(value, tuple):
        _pack_size(_LIST, len(value) + 1, out, 0x90, 16)
        _pack_text(_TUPLE, out)
        for one in value:
            _pack(one, out, depth + 1)
    elif isinstance(value, dict):
        _pack_size(_MAP, len(value), out, 0x80, 16)
        for key, one in value.items():
            if not isinstance(key, (str, bytes)):
                raise InvalidType(f"keys of dicts must be str or bytes, got {_type_of(key)}")
            _pack(key, out, depth + 1)
            _pack(one, out, depth + 1)
    elif isinstance(value, (set, frozenset)):
        _pack_set(value, out, depth)
    elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        _pack_array(np.asarray(value), out, depth)
    else:
        raise InvalidType(
            f"{_type_of(value)} cannot be stored: expected None, bool, int, float, complex, str, "
            "bytes, list, tuple, dict, set, or a NumPy array or number"
        )


def _type_of(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _of_scalar(value: np.generic) -> Any:
    """Returns Python's own value of a scalar. Scalars without a type in Python are refused later."""
    if isinstance(value, np.timedelta64):
        raise InvalidType(f"{_type_of(value)} cannot be stored: store an array, np.asarray(value)")
    for kind, convert in _SCALARS:
        if isinstance(value, kind):
            return convert(value)  # type: ignore[call-overload, unused-ignore]
    if isinstance(value, (str, bytes)):
        return value
    raise InvalidType(f"{_type_of(value)} cannot be stored: store an array, np.asarray(value)")


def _pack_int(value: int, out: bytearray) -> None:
    if -32 <= value < 128:
        out.append(value & 0xFF)
        return
    for code in (0xCC, 0xCD, 0xCE, 0xCF) if value > 0 else (0xD0, 0xD1, 0xD2, 0xD3):
        try:
            out += bytes([code]) + struct.pack(_NUMBERS[code], value)
        except struct.error:
            continue
        return
    raise InvalidArgument(f"an int of {value.bit_length()} bits cannot be stored: expected at most 64 bits")


def _pack_text(value: str, out: bytearray) -> None:
    try:
        content = value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"a str cannot be stored as UTF-8: {error}; store bytes") from None
    _pack_size(_TEXT, len(content), out, 0xA0, 32)
    out += content


def _pack_size(form: tuple[int, int, int], size: int, out: bytearray, fixed: int = 0, below: int = 0) -> None:
    """Writes a size. A size less than `below` is part of the code `fixed`."""
    if size < below:
        out.append(fixed | size)
        return
    for place, code in enumerate(form):
        width = 1 << place
        if code and size < 1 << 8 * width:
            out.append(code)
            out += size.to_bytes(width, "big")
            return
    raise InvalidArgument(f"size {size} cannot be stored: expected less than {1 << 32}")


def _pack_ext(code: int, content: bytes | bytearray, out: bytearray) -> None:
    size = len(content)
    if size in (1, 2, 4, 8, 16):
        out.append(0xD3 + size.bit_length())
    else:
        _pack_size(_EXT, size, out)
    out.append(code)
    out += content


def _pack_set(value: set[Any] | frozenset[Any], out: bytearray, depth: int) -> None:
    content = bytearray()
    # The text may be in a set, but must not begin the list of its items.
    _pack(sorted(value, key=lambda one: isinstance(one, str) and one == _TUPLE), content, depth + 1)
    try:
        set(unpack(bytes(content)))
    except TypeError as error:
        raise InvalidType(f"a {_type_of(value)} that holds sets cannot be read again: {error}") from None
    _pack_ext(_SET, content, out)


def _pack_array(items: np.ndarray, out: bytearray, depth: int) -> None:
    shape = list(items.shape)
    said: dict[str, Any]
    if items.dtype == object:
        said = {"values": items.ravel().tolist(), "shape": shape}
    else:
        options.check_dtype(items.dtype)
        if items.dtype.names is not None:
            items = repack_fields(items, recurse=True)  # without padding
        dtype = items.dtype
        kind = {"str": dtype.str} if dtype.names is None else {"descr": dtype.descr}
        said = {"dtype": kind, "shape": shape, "data": items.tobytes()}
    content = bytearray()
    _pack(said, content, depth + 1)
    _pack_ext(_ARRAY, content, out)


class _Reader:
    """Reads one value after the other, from bytes that nobody trusts."""

    __slots__ = ("at", "data")

    def __init__(self, data: memoryview):
        self.data = data
        self.at = 0

    def whole(self, depth: int) -> Any:
        """Reads the value that takes all the bytes."""
        value = self.value(depth)
        if self.at != len(self.data):
            raise InvalidArgument(f"a value of {self.at} bytes has {len(self.data) - self.at} bytes after it")
        return value

    def take(self, size: int) -> memoryview:
        self.check(size)
        self.at += size
        return self.data[self.at - size : self.at]

    def check(self, size: int) -> None:
        """Refuses a size that the rest of the bytes cannot hold, before anything is made."""
        left = len(self.data) - self.at
        if size > left:
            raise InvalidArgument(f"byte {self.at}: expected {size} more bytes, got {left}")

    def value(self, depth: int) -> Any:
        """Reads the next value. It calls itself for each container, so Python bounds their depth."""
        if depth > _DEEPEST:
            _refuse_depth()
        code = self.take(1)[0]
        if code < 0x80:
            return code
        if code >= 0xE0:
            return code - 0x100
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in _NUMBERS:
            form = _NUMBERS[code]
            return struct.unpack(form, self.take(struct.calcsize(form)))[0]
        kind, size = self.size(code)
        if kind is _TEXT:
            return self.text(size)
        if kind is _BYTES:
            return bytes(self.take(size))
        if kind is _EXT:
            return self.ext(size, depth)
        if kind is _LIST:
            self.check(size)
            items = []
            for _ in range(size):
                items.append(self.value(depth + 1))
            is_tuple = items and isinstance(items[0], str) and items[0] == _TUPLE
            return tuple(items[1:]) if is_tuple else items
        self.check(2 * size)
        mapping = {}
        for _ in range(size):
            key = self.value(depth + 1)
            if not isinstance(key, (str, bytes, int, float)):
                raise InvalidArgument(f"byte {self.at}: a key of type {_type_of(key)}")
            mapping[key] = self.value(depth + 1)
        return mapping

    def size(self, code: int) -> tuple[tuple[int, int, int], int]:
        """Returns the kind of a value that has a size, and the size."""
        if code < 0x90:
            return _MAP, code & 0x0F
        if code < 0xA0:
            return _LIST, code & 0x0F
        if code < 0xC0:
            return _TEXT, code & 0x1F
        if 0xD4 <= code <= 0xD8:
            return _EXT, 1 << code - 0xD4
        if code not in _SIZED:
            raise InvalidArgument(f"byte {self.at - 1}: no value begins with 0x{code:02x}")
        kind, width = _SIZED[code]
        return kind, int.from_bytes(self.take(width), "big")

    def text(self, size: int) -> str:
        try:
            return str(self.take(size), "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidArgument(f"byte {self.at - size}: text that is not UTF-8: {error}") from None

    def ext(self, size: int, depth: int) -> Any:
        self.check(size + 1)
        at = self.at
        code = int.from_bytes(self.take(1), "big", signed=True)
        content = self.take(size)
        try:
            if code == _COMPLEX:
                return complex(*struct.unpack(">dd", content))
            if code == _SET:
                return set(_Reader(content).whole(depth + 1))
            if code == _ARRAY:
                return _array_of(_Reader(content).whole(depth + 1))
            if code == _TIMESTAMP:
                return _time_of(content)
        except (AttributeError, KeyError, TypeError, ValueError, struct.error) as error:
            raise InvalidArgument(f"byte {at}: extension type {code}: {error}") from error
        known = _REFUSED.get(code, "unknown")
        raise Unimplemented(f"byte {at}: extension type {code}, {known}, cannot be read")


def _array_of(said: Any) -> np.ndarray:
    shape, values = said["shape"], said.get("values")
    if not (isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS) or any(
        type(extent) is not int or extent < 0 for extent in shape
    ):
        raise ValueError("a wrong shape")
    count = math.prod(shape)
    if values is not None:
        if not isinstance(values, list) or len(values) != count:
            raise ValueError(f"expected {count} values")
        items = np.empty(shape, object)
        flat = items.reshape(-1)
        for number, one in enumerate(values):
            flat[number] = one
        return items
    dtype = options.check_dtype(_dtype_of(said["dtype"]))
    data = said["data"]
    if not isinstance(data, bytes) or len(data) != count * dtype.itemsize:
        raise ValueError(f"expected {count * dtype.itemsize} bytes of items")
    return np.ndarray(shape, dtype, bytearray(data))


def _dtype_of(said: Any) -> np.dtype:
    name = said.get("str")
    if isinstance(name, str):
        return np.dtype(name)
    return np.dtype([_field_of(one) for one in said["descr"]])


def _field_of(said: Any) -> Any:
    name, kind, *shape = said
    if isinstance(kind, list):
        kind = [_field_of(one) for one in kind]
    return (name, kind, *map(tuple, shape))


def _time_of(content: memoryview) -> np.datetime64:
    if len(content) == 12:
        nanoseconds, seconds = struct.unpack(">Iq", content)
    elif len(content) in (4, 8):
        both = int.from_bytes(content, "big")
        nanoseconds, seconds = (both >> 34, both & (1 << 34) - 1) if len(content) == 8 else (0, both)
    else:
        raise ValueError(f"a time of {len(content)} bytes")
    total = seconds * 1_000_000_000 + nanoseconds
    if not -(1 << 63) < total < 1 << 63:
        raise ValueError(f"{seconds} s is not a time in nanoseconds")
    return np.datetime64(total, "ns")
