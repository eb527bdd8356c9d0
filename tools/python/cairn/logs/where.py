"""Conditions on the fields of records, as people write them and as the engine takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Union

import numpy as np

from ..arguments import told
from ..errors import InvalidArgument, InvalidType
from ..keys import check_fields
from ..times import Clock

# Text such as "temp > 20 and host == 'a'", a tuple ("temp", ">", 20) or ("host", "in", ["a", "b"]), or
# several tuples.
WhereLike = Union[str, tuple[str, str, Any], Iterable[tuple[str, str, Any]], None]
Condition = tuple[str, int, Union[int, float, str]]

_NUMBERS = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_LISTS = ("in", "not in")


def conditions(
    where: WhereLike, fields: Mapping[str, np.dtype]
) -> tuple[list[Condition], list[str]]:
    """Returns the conditions as the engine takes them, and the texts that it parses. All must hold."""
    if where is None:
        return [], []
    if isinstance(where, str):
        return [], [where]
    if isinstance(where, tuple) and len(where) == 3 and isinstance(where[0], str):
        where = [(where[0], where[1], where[2])]
    tests = [(field, str(sign), value) for field, sign, value in where]
    texts = [_membership(*one, fields) for one in tests if one[1] in _LISTS]
    return [_condition(*one, fields) for one in tests if one[1] not in _LISTS], texts


def _membership(field: str, sign: str, values: Any, fields: Mapping[str, np.dtype]) -> str:
    """Returns a condition on a list of values as text."""
    check_fields([field], fields)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidType(f"where: {sign}: expected a list of values, got {told(values)}")
    dtype = fields[field]
    known: list[Any] = [_value("==", one, dtype) for one in values]
    if dtype.kind == "M":
        unit: Any = np.datetime_data(dtype)[0]
        known = [str(np.datetime64(one, unit)) for one in known]
    known = [one for one in known if one == one]  # nothing is equal to a NaN
    name = _quoted(field or "value")
    if not known:
        return f"{name} is null {'and' if sign == 'in' else 'or'} {name} is not null"
    return f"{name} {sign} ({', '.join(_quoted(one) if isinstance(one, str) else repr(one) for one in known)})"


def _quoted(text: str) -> str:
    """Returns a text as the engine reads it in quotes."""
    escaped = "".join(f"\\x{byte:02x}" if byte < 32 or byte > 126 or byte in b"\\'" else chr(byte) for byte in text.encode("utf-8", "surrogateescape"))
    return f"b'{escaped}'"


def _condition(field: str, sign: str, value: Any, fields: Mapping[str, np.dtype]) -> Condition:
    if sign not in _NUMBERS:
        raise InvalidArgument(f"where: expected one of {', '.join([*_NUMBERS, *_LISTS])}, got {sign!r}")
    check_fields([field], fields)
    return field, _NUMBERS[sign], _value(sign, value, fields[field])


def _value(sign: str, value: Any, dtype: np.dtype) -> Union[int, float, str]:
    if dtype.kind == "M":
        clock = Clock(dtype)
        count = clock.count(value, up=sign in ("<", ">="))
        if sign in ("==", "!=") and count != clock.count(value):
            raise InvalidArgument(f"{value} lies between two times of the log")
        return count
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value)
    if not isinstance(value, (int, float, str)):
        raise InvalidType(f"where: expected a number or a text, got {told(value)}")
    return value
