"""What goes wrong, as exceptions.

Each is an `Error`; those that Python has a class of its own for are that as well, so
`except FileNotFoundError` works too. The message names the file, the section or chunk, and the
numbers; an error has section and numbers as values, too.
"""

from __future__ import annotations

import errno


class Error(Exception):
    """A call of the engine failed."""

    section: str = ""
    """What the message names first, without its number: "chunk", "frame header", "trailer", ..."""
    numbers: tuple[int, ...] = ()
    """Those of the message, in its order: for the section "chunk" the first is the chunk's."""


class Cancelled(Error):
    """A progress callback stopped the call."""


class InvalidArgument(Error, ValueError):
    """The arguments are wrong, or the file is not a Blosc2 frame."""


class InvalidType(InvalidArgument, TypeError):
    """A value of a type that the call does not take."""


class TooLarge(InvalidArgument, OverflowError):
    """A number that the type of the items, or of the argument, does not hold."""


class NotFound(Error, FileNotFoundError):
    """There is no such file."""

    errno = errno.ENOENT


class AlreadyExists(Error, FileExistsError):
    """The name is taken."""

    errno = errno.EEXIST


class PermissionDenied(Error, PermissionError):
    """This process may not do that to the file."""

    errno = errno.EACCES


class ResourceExhausted(Error):
    """More than a limit allows, or the disk is full. What is committed is unchanged."""


class FailedPrecondition(Error):
    """The frame is closed, an earlier write failed, or an array forbids the edit."""


class ReadOnly(FailedPrecondition, TypeError):
    """The frame is opened for reading and cannot be changed."""


class NoSuchLayer(Error, KeyError):
    """The frame has no metalayer, or no vlmetalayer, of that name."""

    __str__ = Exception.__str__  # KeyError's quotes the message


class NoSuchField(NotFound, KeyError):
    """The records, or the items, have no field of that name."""


class OutOfRange(Error, IndexError):
    """There is no such item or chunk."""


class Unimplemented(Error, NotImplementedError):
    """Valid, but this build lacks the codec, filter or version that the message names."""


class Unavailable(Error):
    """Another writer holds the frame, or it is just being replaced: try again."""


class DataLoss(Error):
    """The bytes are damaged."""


# By the numbers of absl::StatusCode.
_CLASSES: dict[int, type[Error]] = {
    1: Cancelled,
    3: InvalidArgument,
    5: NotFound,
    6: AlreadyExists,
    7: PermissionDenied,
    8: ResourceExhausted,
    9: FailedPrecondition,
    11: OutOfRange,
    12: Unimplemented,
    14: Unavailable,
    15: DataLoss,
}


def of_status(code: int, message: str, section: str, numbers: tuple[int, ...]) -> Error:
    """The exception for a status of the engine."""
    error = _CLASSES.get(code, Error)(message)
    error.section = section
    error.numbers = numbers
    return error
