"""Conditions on the fields of records, as people write them and as the engine takes them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any, Union

import numpy as np

from .errors import InvalidArgument, NotFound
from .times import Clock

# "temp > 20 and host == 'a'", or ("temp", ">", 20), or several of these.
WhereLike = Union[str, tuple[str, str, Any], Iterable[tuple[str, str, Any]], None]
Condition = tuple[str, int, Union[int, float, str]]

_NUMBERS = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def conditions(where: WhereLike, fields: Mapping[str, np.dtype]) -> list[Condition]:
    """What the engine takes; all of them have to hold."""
    if where is None:
        return []
    if isinstance(where, str):
        where = _parse(where)
    elif isinstance(where, tuple) and len(where) == 3 and isinstance(where[0], str):
        where = [(where[0], where[1], where[2])]
    return [_condition(field, sign, value, fields) for field, sign, value in where]


def _parse(text: str) -> list[tuple[str, str, Any]]:
    try:
        return list(_terms(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError) as error:
        raise InvalidArgument(
            f"{text!r}: {error}; write comparisons with fields: temp > 20 and host == 'a'"
        ) from None


def _terms(node: ast.expr) -> Iterable[tuple[str, str, Any]]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _terms(value)
        return
    if not isinstance(node, ast.Compare):
        raise InvalidArgument(f"{ast.unparse(node)!r} is no comparison")
    left = node.left
    for operator, right in zip(node.ops, node.comparators):
        sign = _SIGNS.get(type(operator))
        if sign is None or isinstance(left, ast.Name) == isinstance(right, ast.Name):
            raise InvalidArgument(f"{ast.unparse(node)!r} compares no field with a value")
        if isinstance(left, ast.Name):
            yield left.id, sign, ast.literal_eval(right)
        elif isinstance(right, ast.Name):
            yield right.id, _TURNED.get(sign, sign), ast.literal_eval(left)
        left = right


def _condition(field: str, sign: str, value: Any, fields: Mapping[str, np.dtype]) -> Condition:
    if sign not in _NUMBERS:
        raise InvalidArgument(f"{sign!r} is none of {', '.join(_NUMBERS)}")
    if field not in fields:
        raise NotFound(f"no field {field!r}, the log has {', '.join(fields)}")
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
        raise InvalidArgument(f"{value!r} is no number and no text")
    return value
