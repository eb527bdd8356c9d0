"""Folders in which something is made before it appears under its name."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import uuid
from collections.abc import Iterator

from .errors import of_os_error

# The end of a name before what has it is complete, of frames too.
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp\Z")


@contextlib.contextmanager
def folder_beside(path: str) -> Iterator[str]:
    """Makes a folder beside `path`, and removes what has its name in the end. A lock shows that its maker lives."""
    remove_leftovers(path)
    with contextlib.ExitStack() as stack:
        while True:
            beside = f"{path}.{uuid.uuid4().hex[:16]}.tmp"
            try:
                os.mkdir(beside)
            except OSError as error:
                raise of_os_error(error, path) from error
            try:
                stack.enter_context(_locked(beside))
            except (BlockingIOError, FileNotFoundError):  # another process takes it for that of a dead one
                continue
            except OSError:  # no locks of folders here, so nobody removes one
                pass
            break
        # At the end it is what was replaced, or not complete.
        stack.callback(_remove, beside)
        yield beside


def remove_leftovers(path: str) -> None:
    """Removes the folders of makers of `path` that were killed."""
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError):
        for one in os.listdir(folder):
            if one != name and without_temporary_end(one) == name:
                left = os.path.join(folder, one)
                with contextlib.suppress(OSError), _locked(left):
                    _remove(left)


def _remove(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):  # a file, which a folder has replaced
        os.unlink(path)


def without_temporary_end(name: str) -> str:
    """Returns the name that a file or a folder will have when it is complete."""
    return _TEMPORARY.sub("", name)


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Locks a folder.

    Raises FileNotFoundError if it has lost its name, BlockingIOError if another process has locked
    it, and another OSError if the file system does not lock folders.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(file), os.stat(folder)):
            raise FileNotFoundError(folder)
        yield
    finally:
        os.close(file)
