"""The exceptions of the package.

Each is an `Error`. If Python has a class for the same failure, the exception belongs to that class,
too, so `except FileNotFoundError` works. The message names the file, the section or chunk, and the
numbers. `section` and `numbers` have these as values.
"""

from __future__ import annotations

import errno
import os
from typing import Optional


class Error(Exception):
    """A call of the engine failed."""

    section: str = ""
    """The place that the message names first, without its number: "chunk", "frame header", "trailer", ..."""
    numbers: tuple[int, ...] = ()
    """The numbers of the message in their order. For the section "chunk", the first is the chunk's."""


class Cancelled(Error):
    """A progress callback stopped the call."""


class InvalidArgument(Error, ValueError):
    """The arguments are wrong, or the file is not a Blosc2 frame."""


class InvalidType(InvalidArgument, TypeError):
    """A value has a type that the call does not take."""


class TooLarge(InvalidArgument, OverflowError):
    """A number is too large for the type of the items or of the argument."""


class NotFound(Error, FileNotFoundError):
    """There is no such file."""

    errno = errno.ENOENT


class AlreadyExists(Error, FileExistsError):
    """The name is taken."""

    errno = errno.EEXIST


class PermissionDenied(Error, PermissionError):
    """This process lacks the permission for the file."""

    errno = errno.EACCES


class ResourceExhausted(Error):
    """A limit would be passed, or the disk is full. All commits are unchanged."""


class FailedPrecondition(Error):
    """The frame is closed, an earlier write failed, or an array forbids the edit."""


class ReadOnly(FailedPrecondition, TypeError):
    """The frame is opened for reading and cannot be changed."""


class NoSuchLayer(Error, KeyError):
    """The frame has no metalayer, or no vlmetalayer, of that name."""

    __str__ = Exception.__str__  # KeyError's quotes the message


class NoSuchField(NotFound, KeyError):
    """The records, or the items, have no field of that name."""


class NoSuchMember(NotFound, KeyError):
    """The collection has no member of that name."""


class OutOfRange(Error, IndexError):
    """There is no such item or chunk."""


class Unimplemented(Error, NotImplementedError):
    """The call or file is valid, but this build lacks the codec, filter or version that the message names."""


class Unavailable(Error):
    """Another writer holds the frame, or it is being replaced. Try again, or pass `wait`."""


class Aborted(Error):
    """Another writer's commit came before, and changes the same. Nothing is committed: drop the edits, and make them again."""


class DeadlineExceeded(Error, TimeoutError):
    """An object store gave no answer in time. It is not known whether the commit is there."""

    errno = errno.ETIMEDOUT


class DataLoss(Error):
    """The bytes are damaged."""


# The classes by the numbers of absl::StatusCode.
_CLASSES: dict[int, type[Error]] = {
    1: Cancelled,
    3: InvalidArgument,
    4: DeadlineExceeded,
    5: NotFound,
    6: AlreadyExists,
    7: PermissionDenied,
    8: ResourceExhausted,
    9: FailedPrecondition,
    10: Aborted,
    11: OutOfRange,
    12: Unimplemented,
    14: Unavailable,
    15: DataLoss,
}


# The end of the engine's message about a call that did not wait.
_HELD = "is held by another writer"


def of_status(code: int, message: str, section: str, numbers: tuple[int, ...]) -> Error:
    """Returns the exception for a status of the engine."""
    if message.endswith(_HELD):
        message += "; to wait for it pass wait=10, or open the file with that"
    error = _CLASSES.get(code, Error)(message)
    error.section = section
    error.numbers = numbers
    return error


def of_os_error(error: OSError, path: Optional[str] = None) -> Error:
    """Returns the exception for a failure of the operating system, when it made the file or folder `path`."""
    kinds: dict[Optional[int], type[Error]] = {
        errno.ENOENT: NotFound,
        errno.EACCES: PermissionDenied,
        errno.EPERM: PermissionDenied,
        errno.ENOSPC: ResourceExhausted,
    }
    text = " ".join(str(error).split())
    if path is not None:
        text = f"{path}: cannot create: {error.strerror}"
        folder = os.path.dirname(path) or "."
        if error.errno == errno.ENOENT and not os.path.exists(folder):
            text = f"{path}: cannot create: there is no folder {folder!r}; make it first"
    return kinds.get(error.errno, Error)(text)
