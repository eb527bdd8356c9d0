"""The paths of frames and logs: files, and URIs, which lead to object stores."""

from __future__ import annotations

import os
import re
import threading
from typing import Optional, Union

from .errors import InvalidArgument, InvalidType, NotFound, Unimplemented

Path = Union[str, bytes, "os.PathLike[str]"]

_SCHEMES = ("s3://", "https://", "http://")  # those of the engine's IsObjectUri
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.:-]*)://")  # also those of fsspec, such as simplecache::s3

_files: Optional[object] = None
_turn = threading.Lock()


def is_uri(name: str) -> bool:
    """Returns True if a path leads to an object store or a web server."""
    return name.startswith(_SCHEMES)


_LONGEST = 4096  # bytes of a path, with the zero byte at its end


def text_of(path: Path) -> str:
    """Returns a path as text. If it is not a path, the message does not show its content."""
    if isinstance(path, str) and path.isascii() and 0 < len(path) < _LONGEST and not ("\0" in path or "://" in path):
        return str(path)
    try:
        name = os.fsdecode(path)
    except TypeError:
        kind = type(path).__name__
        raise InvalidType(f"path: expected str, bytes or os.PathLike, got {kind}") from None
    if not name:
        raise NotFound("path: is empty")
    if len(name) >= _LONGEST:
        raise InvalidArgument(f"path: expected less than {_LONGEST} bytes, got {len(name)}: {name[:40]!r}...")
    try:
        raw = os.fsencode(name)
    except UnicodeEncodeError:
        raise InvalidArgument(f"path: {name[:40]!r} has a character that no name of a file can have") from None
    if b"\0" in raw:
        raise InvalidArgument(f"path: a frame begins otherwise, and no path has a zero byte: {raw[:40]!r}")
    scheme = None if is_uri(name) else _SCHEME.match(name)
    if scheme is not None:
        advice = "fsspec copies from other stores"
        if scheme[1] == "gs":
            advice = (
                "for Google's store, set AWS_ENDPOINT_URL_S3=https://storage.googleapis.com and its HMAC key, "
                f"and name s3{name[2:]}"
            )
        raise InvalidArgument(
            f"{name.partition('?')[0]}: scheme {scheme[1]!r}: expected a path of a file, or a URI of s3, https or http; {advice}"
        )
    return name


def shown_path(name: str) -> str:
    """Returns a path as text for people: without the query of a URL, which may be a secret."""
    return name.partition("?")[0] if name.startswith(("https://", "http://")) else name


def name_of(path: Path) -> str:
    """Returns a path that does not depend on the working directory. URIs stay as they are."""
    name = text_of(path)
    return name if is_uri(name) else os.path.abspath(name)


def files_of(name: str) -> Optional[object]:
    """Returns the file system of a path, as the calls of the engine take it. It is None for files.

    All URIs share one, which is made from the environment when the first URI is used.
    """
    if not is_uri(name):
        return None
    global _files
    with _turn:
        if _files is None:
            _files = _open_files(name)
        return _files


def _open_files(name: str) -> object:
    try:
        from . import _s3
    except ImportError as error:
        raise Unimplemented(f"{name}: this build of cairn has no object stores: {error}") from error
    return _s3.open_files()


def _start_anew() -> None:
    """Drops it in a forked process, which lacks the threads that make requests or hold locks."""
    global _files, _turn
    _files = None
    _turn = threading.Lock()


os.register_at_fork(after_in_child=_start_anew)
