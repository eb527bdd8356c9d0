"""Databases of SQLite in frames, for Python's own sqlite3 module.

    db = cairn.sqlite.connect("app.db", codec="zstd")

`connect` is sqlite3.connect: it finds Cairn's extension of SQLite, loads it and connects. Other
programs in Python are run with databases in frames, whether they know of Cairn or not:

    python -m cairn.sqlite datasette app.db

See docs/sqlite.md, which also says what the parameters mean.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import runpy
import shutil
import sqlite3
import sys
import sysconfig
import zipfile
from typing import Any, Optional, Union
from urllib.parse import quote

from .arguments import raises_ours
from .errors import InvalidArgument, NotFound, Unimplemented

_NAME = "cairn_sqlite" + (sysconfig.get_config_var("SHLIB_SUFFIX") or ".so")


def _places() -> list[str]:
    """Returns the possible paths of the extension: CAIRN_SQLITE, the package, its build, libraries."""
    named = os.environ.get("CAIRN_SQLITE")
    if named:
        return [named]
    package = os.path.dirname(os.path.abspath(__file__))
    places = [package, os.path.join(package, os.pardir, os.pardir, "sqlite")]
    for prefix in dict.fromkeys([sys.prefix, sys.base_prefix, "/usr/local", "/usr"]):
        for library in ("lib", "lib64", os.path.join("lib", "*")):
            places += glob.glob(os.path.join(prefix, library, "cairn"))
    return [os.path.join(place, _NAME) for place in places]


def extension() -> str:
    """Returns the path of Cairn's extension of SQLite."""
    places = _places()
    for path in places:
        if os.path.exists(path):
            return os.path.abspath(path)
    raise NotFound(
        f"{_NAME}: not found in {', '.join(os.path.dirname(place) or '.' for place in places)}; "
        "build and install Cairn, or set CAIRN_SQLITE to its path"
    )


def load(connection: Optional[sqlite3.Connection] = None, *, default: bool = False) -> None:
    """Loads the extension for all connections of the process.

    `connection` gets the tables and functions about frames. With `default` databases that are made
    from now on, by any code of the process, are frames unless their URI names another VFS.
    """
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        raise Unimplemented(
            "sqlite3: this Python's module cannot load extensions; use a Python that was built with "
            "--enable-loadable-sqlite-extensions, as those of Debian, Fedora, conda and uv are"
        )
    path = extension()
    loader = sqlite3.connect(":memory:") if connection is None else connection
    try:
        loader.enable_load_extension(True)
        try:
            if default:
                # The argument `entrypoint` came with Python 3.12.
                loader.execute("SELECT load_extension(?, 'sqlite3_cairndefault_init')", (path,))
            else:
                loader.load_extension(path)
        finally:
            loader.enable_load_extension(False)
    finally:
        if connection is None:
            loader.close()


def _quoted(text: str) -> str:
    """Returns a path or a value as a part of a URI. It may have any bytes."""
    if "\0" in text:
        raise InvalidArgument(f"{text!r}: embedded null character, at which SQLite ends a name")
    return quote(os.fsencode(text))


def _uri_of(path: str) -> str:
    # Two slashes at the beginning would begin the name of a machine.
    return ("file://" if path.startswith("/") else "file:") + _quoted(path)


def _with_parameters(uri: str, parameters: dict[str, Any]) -> str:
    """Returns the URI with the parameters that are not None."""
    for name, value in parameters.items():
        if value is None:
            continue
        if isinstance(value, (bytes, os.PathLike)):
            value = os.fsdecode(value)
        value = int(value) if isinstance(value, bool) else value
        uri += f"{'&' if '?' in uri else '?'}{name}={_quoted(str(value))}"
    return uri


@raises_ours
def connect(
    database: Union[str, bytes, "os.PathLike[Any]"],
    timeout: float = 5.0,
    detect_types: int = 0,
    isolation_level: Optional[str] = "",
    check_same_thread: bool = True,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
    cached_statements: int = 128,
    uri: bool = False,
    *,
    autocommit: Union[bool, int, None] = None,
    codec: Optional[str] = None,
    level: Optional[int] = None,
    chunksize: Optional[int] = None,
    generation: Optional[int] = None,
    history: Optional[int] = None,
    durability: Optional[str] = None,
    mmap: Optional[bool] = None,
    tmpdir: Union[str, bytes, "os.PathLike[Any]", None] = None,
) -> sqlite3.Connection:
    """Connects to a database in a frame, as `sqlite3.connect` does, and makes it if there is none.

    A database of SQLite's own stays one, and so does one in memory. The connection has the tables
    and functions about frames.

    timeout, detect_types, isolation_level, check_same_thread, factory, cached_statements
        As in `sqlite3.connect`. `timeout` is in seconds.
    uri
        As in `sqlite3.connect`: a `database` that begins with `file:` is a URI.
    autocommit
        As in `sqlite3.connect` of Python 3.12 and later. None leaves it out.
    codec, level
        How a new frame is compressed, by default as docs/sqlite.md says.
    chunksize
        The size of a chunk of a new frame in bytes.
    generation
        Opens an older state, read-only.
    history
        The number of older generations that are kept.
    durability
        When a transaction survives a power cut; see docs/sqlite.md.
    mmap
        False reads without a memory map.
    tmpdir
        The directory for temporary files.
    """
    parameters = {
        "codec": codec,
        "level": level,
        "chunksize": chunksize,
        "generation": generation,
        "history": history,
        "durability": durability,
        "mmap": mmap,
        "tmpdir": tmpdir,
    }
    how: dict[str, Any] = {
        "timeout": timeout,
        "detect_types": detect_types,
        "isolation_level": isolation_level,
        "check_same_thread": check_same_thread,
        "factory": factory,
        "cached_statements": cached_statements,
        **({} if autocommit is None else {"autocommit": autocommit}),
    }
    load()
    name = os.fsdecode(database)
    if name in ("", ":memory:"):
        return _prepared(sqlite3.connect(database, uri=uri, **how))
    # For SQLite a name is a URI if it also begins as one.
    name = name.partition("#")[0] if uri and name.startswith("file:") else _uri_of(name)
    if "&vfs=" not in "&" + name.partition("?")[2]:
        parameters = {"vfs": "cairn", **parameters}
    return _prepared(sqlite3.connect(_with_parameters(name, parameters), uri=True, **how))


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        load(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_python(path: str) -> bool:
    """Returns true if Python can run the file: source, compiled source, a folder or an archive."""
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        return True
    with open(path, "rb") as file:
        text = file.read()
    if text.startswith(importlib.util.MAGIC_NUMBER):
        return True
    if b"\0" in text:
        return False
    first_line = text.partition(b"\n")[0]
    if not first_line.startswith(b"#!") or b"python" in first_line:
        return True
    # Installers write programs that both a shell and Python can read.
    try:
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _find_program(name: str) -> str:
    """Returns the path of a program that is written in Python. Ends the process if there is none."""
    found: Optional[str] = name
    if not os.path.exists(name):
        # Those of this Python, whose environment need not be activated, first.
        places = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
        found = shutil.which(name, path=places)
    if found is None:
        sys.exit(f"cairn.sqlite: {name}: no such program")
    try:
        if _is_python(found):
            return found
    except OSError as error:
        sys.exit(f"cairn.sqlite: {found}: cannot read: {error.strerror}")
    sys.exit(
        f"cairn.sqlite: {found}: not a program in Python; load the extension cairn_default into its SQLite"
    )


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def main(arguments: list[str]) -> None:
    """Runs another program of Python, whose databases are frames from the beginning.

    Python processes that it starts are not reached: they load the extension themselves.
    """
    if not arguments or (arguments[0] == "-m" and len(arguments) == 1):
        sys.exit("usage: python -m cairn.sqlite PROGRAM|FILE.py|-m MODULE [ARGUMENTS]")
    program = None if arguments[0] == "-m" else _find_program(arguments[0])
    load(default=True)
    # It brings a SQLite of its own, which has no such VFS. Where it cannot be imported, programs that
    # prefer it take that of the standard library.
    sys.modules["pysqlite3"] = None  # type: ignore[assignment]
    if program is None:
        sys.argv = arguments[1:]
        if not _has_module(sys.argv[0]):
            sys.exit(f"cairn.sqlite: {sys.argv[0]}: no such module")
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    sys.argv = [program, *arguments[1:]]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
