"""Conditions on the fields of records, as people write them and as the engine takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Union

import numpy as np

from .arguments import told
from .errors import InvalidArgument, InvalidType
from .keys import check_fields
from .times import Clock

# Text such as "temp > 20 and host == 'a'", a tuple ("temp", ">", 20), or several tuples.
WhereLike = Union[str, tuple[str, str, Any], Iterable[tuple[str, str, Any]], None]
Condition = tuple[str, int, Union[int, float, str]]

_NUMBERS = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}


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
    return [_condition(field, sign, value, fields) for field, sign, value in where], []


def _condition(field: str, sign: str, value: Any, fields: Mapping[str, np.dtype]) -> Condition:
    if sign not in _NUMBERS:
        raise InvalidArgument(f"where: expected one of {', '.join(_NUMBERS)}, got {sign!r}")
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
