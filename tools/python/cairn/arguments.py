"""The exceptions of calls: they are ours, and name the file and the argument that was wrong.

No call checks its arguments beforehand. One that fails is asked for the annotation of each argument,
so what works by any other name goes on to work.
"""

from __future__ import annotations

import datetime
import difflib
import functools
import inspect
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, Optional, TypeVar

import numpy as np

from .errors import Error, InvalidArgument, InvalidType, OutOfRange, TooLarge
from .paths import name_of

_Is = Callable[[Any], bool]

_SHOWN = 40  # characters of a value


def told(value: Any) -> str:
    """Returns a value as messages show it."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        text = repr(value)
        if len(text) <= _SHOWN:
            return text
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def refused(what: str, value: Any, dtype: np.dtype, error: Exception) -> InvalidArgument:
    """Returns the exception for values of which NumPy cannot make items of `dtype`, because of `error`."""
    kind = InvalidType if isinstance(error, TypeError) else InvalidArgument
    return kind(f"{what}: expected what becomes items of {dtype}, got {told(value)}")


def is_integer(value: Any) -> bool:
    """Returns True for an int and for what counts as one."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def is_number(value: Any) -> bool:
    """Returns True for a number that is not NaN."""
    return isinstance(value, numbers.Real) and value == value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bytes(value: Any) -> bool:
    try:
        memoryview(value)
    except (TypeError, ValueError):  # ValueError: NumPy makes no buffer of the items
        return False
    return True


def _is_time(value: Any) -> bool:
    return is_integer(value) or isinstance(value, (str, datetime.date, np.datetime64)) or hasattr(value, "to_datetime64")


def _is_zone(value: object) -> bool:
    return isinstance(value, (str, datetime.tzinfo))


def _is_span(value: Any) -> bool:
    return is_integer(value) or isinstance(value, (str, datetime.timedelta, np.timedelta64))


def _is_condition(value: Any) -> bool:
    return isinstance(value, Sequence) and len(value) == 3 and _is_text(value[0]) and _is_text(value[1])


def _is_filter(value: Any) -> bool:
    return _is_text(value) or isinstance(value, Sequence) and len(value) == 2 and _is_text(value[0]) and is_integer(value[1])


def _one_or_all(is_one: _Is) -> _Is:
    return lambda value: is_one(value) or isinstance(value, Iterable) and all(map(is_one, value))


def _mapping(is_value: _Is) -> _Is:
    return lambda value: isinstance(value, Mapping) and all(map(_is_text, value)) and all(map(is_value, value.values()))


def _named(name: str) -> _Is:
    """Makes a check for objects of a class of the package, or of a class that is derived from it."""
    return lambda value: any(one.__name__ == name for one in type(value).__mro__)


# By annotation: the values that such parameters take, in words, and a check for them.
KINDS: dict[str, tuple[str, _Is]] = {
    "bool": ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "int": ("an int", is_integer),
    "float": ("a number", is_number),
    "str": ("a str", _is_text),
    "bytes": ("bytes", _is_bytes),
    "Callable[[int], object]": ("a function that takes a number", callable),
    "Callable[[list[range]], object]": ("a function that takes a list of ranges", callable),
    "Iterable[FilterLike]": ("names of filters, or pairs of a name and an int", _one_or_all(_is_filter)),
    "Mapping[str, Any]": ("a dict of names and values", _mapping(lambda _: True)),
    "Mapping[str, str]": ("a dict of names and texts", _mapping(_is_text)),
    "Mapping[str, bytes]": ("a dict of names and bytes", _mapping(_is_bytes)),
    "Limits": ("a cairn.Limits", _named("Limits")),
    "Retention": ("a cairn.Retention", _named("Retention")),
    "Rotation": ("a cairn.Rotation", _named("Rotation")),
    "Members": ("a collection or a state of one", _named("Members")),
    "SpanLike": ("a span such as '15m', a timedelta, or a count", _is_span),
    "TimeLike": ("a time such as '2026-01-02T03:04:05', a datetime, or a count", _is_time),
    "Union[int, Sequence[int]]": ("an int, or a sequence of ints", _one_or_all(is_integer)),
    "Union[int, TimeLike]": ("the number of a record, or a time as text, datetime or datetime64", _is_time),
    "Union[str, Sequence[str]]": ("the name of a field, or a sequence of names", _one_or_all(_is_text)),
    "WhereLike": (
        "text such as \"temp > 20\", or tuples such as ('temp', '>', 20)",
        lambda value: value is None or _is_text(value) or _is_condition(value) or _one_or_all(_is_condition)(value),
    ),
    "FillLike": ("none, null, previous, linear or a number", lambda value: isinstance(value, str) or is_number(value)),
    "ZoneLike": ("the name of a zone such as 'Europe/Berlin', or a tzinfo", _is_zone),
    "_engine.CommitTimer": ("a cairn.CommitTimer", _named("CommitTimer")),
}  # fmt: skip

# Annotations whose values are checked, under their names, by the code that takes them.
CHECKED = ("Any", "Path", "object", "Union[Path, bytearray, memoryview]")


def kind_of(annotation: str) -> tuple[str, bool]:
    """Returns the annotation without None, and True if it takes None."""
    if annotation.startswith("Optional["):
        return annotation[len("Optional[") : -1], True
    if annotation.startswith("Union[") and annotation.endswith(", None]"):
        return f"{annotation[: -len(', None]')]}]", True
    return annotation, False


def _wrong(name: str, annotation: str, value: Any) -> Optional[Error]:
    kind, takes_none = kind_of(annotation)
    if kind not in KINDS or takes_none and value is None:
        return None
    expected, is_it = KINDS[kind]
    if not is_it(value):
        return InvalidType(f"{name}: expected {expected}{' or None' if takes_none else ''}, got {told(value)}")
    if is_integer(value) and not -(2**63) <= operator.index(value) < 2**64:
        return TooLarge(f"{name}: expected an int of 64 bits, got one of {operator.index(value).bit_length()}")
    return None


def _wrong_argument(
    call: Callable[..., Any], called: str, given: tuple[Any, ...], named: dict[str, Any]
) -> Optional[Error]:
    """Returns the error for the first argument that has an unknown name or not the type of its annotation."""
    signature = inspect.signature(call)
    known = signature.parameters
    for name in named:
        if name not in known:
            return _unknown(called, name, [one for one in known if one not in ("self", "_cls")])
    try:
        arguments = signature.bind(*given, **named).arguments
    except TypeError:  # there is one too many, or too few
        return None
    for name, value in arguments.items():
        wrong = _wrong(name, str(known[name].annotation), value)
        if wrong is not None:
            return wrong
    return None


def _unknown(called: str, name: str, known: list[str]) -> Error:
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known) or 'none'}"
    return InvalidType(f"{called} has no argument {name!r}; {hint}")


# Classes of Python and NumPy, and the classes of ours that replace them. The first that fits counts.
_OURS: tuple[tuple[type[Exception], type[Error]], ...] = (
    (OverflowError, TooLarge),
    (TypeError, InvalidType),
    (IndexError, OutOfRange),
    (ValueError, InvalidArgument),
)
_NO_OVERLOAD = "incompatible function arguments"


def raise_ours(error: Exception, where: str) -> NoReturn:
    """Raises an exception that was caught as one of ours, with the file in its message.

    Exceptions of Python and NumPy about arguments become the class of ours that is derived from
    theirs. Others stay as they are, since they may come from the caller's own objects.
    """
    begin = f"{where}: " if where else ""
    try:
        if isinstance(error, Error):
            if where not in str(error):
                error.args = (f"{begin}{error}", *error.args[1:])
            raise error
        for theirs, kind in _OURS:
            if isinstance(error, theirs):
                text = " ".join(str(error).split())
                if _NO_OVERLOAD in text:  # the extension module lists all overloads
                    text = f"{text.partition('(')[0]}: an argument has the wrong type or is too large"
                raise kind(begin + text) from error
        raise error
    finally:
        # An exception that its own traceback refers to would keep what the caller had, such as a writer.
        del error


def raise_of_call(
    error: Exception, where: str, call: Callable[..., Any], called: str, given: tuple[Any, ...], named: dict[str, Any]
) -> NoReturn:
    """Raises the exception of a call, or one about the wrong argument, which says more.

    `called` is the name of the call in messages.
    """
    wrong = None
    try:
        if isinstance(error, InvalidArgument) or not isinstance(error, Error):
            wrong = _wrong_argument(call, called, given, named)
            is_told = isinstance(error, Error) and ": expected " in str(error)
            if wrong is not None and not is_told:
                wrong.__cause__ = error
                error = wrong
        raise_ours(error, where)
    finally:
        del error, wrong  # see raise_ours


_Call = TypeVar("_Call", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)

# Methods of the language that users call through operators and functions.
_OPERATORS = ("__array__", "__contains__", "__delitem__", "__getitem__", "__len__", "__setitem__")


def _member(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def guarded(self: Any, *given: Any, **named: Any) -> Any:
        try:
            return call(self, *given, **named)
        except Exception as error:  # noqa: BLE001: it is raised again
            called = f"{type(self).__name__}.{call.__name__}"
            raise_of_call(error, self._where, call, called, (self, *given), named)

    return guarded


def members_raise_ours(kind: _Class) -> _Class:
    """Makes public methods and properties of a class raise only exceptions of ours that name its `_where`."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name not in _OPERATORS:
            continue
        if inspect.isfunction(member):
            setattr(kind, name, _member(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(kind, name, property(_member(member.fget)))
    return kind


def construction_raises_ours(kind: _Class) -> _Class:
    """Makes the constructor of a named tuple say which argument has an unknown name."""
    kind.__new__ = staticmethod(raises_ours(kind.__new__))  # type: ignore[method-assign, assignment]
    return kind


def raises_ours(call: _Call) -> _Call:
    """Makes a function raise only exceptions of ours that name its argument `path`, if it has one."""

    @functools.wraps(call)
    def guarded(*given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except Exception as error:  # noqa: BLE001: it is raised again
            called = call.__qualname__.removesuffix(".__new__")
            raise_of_call(error, _where_of(call, given, named), call, called, given, named)

    return guarded  # type: ignore[return-value]


def _where_of(call: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> str:
    names = list(inspect.signature(call).parameters)
    if "path" not in names:
        return ""
    place = names.index("path")
    path = given[place] if place < len(given) else named.get("path")
    try:
        return "frame in memory" if path is None else name_of(path)
    except Error:  # no path, which the message says
        return ""
