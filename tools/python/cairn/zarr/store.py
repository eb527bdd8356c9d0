"""ZarrStore: a store of zarr-python whose keys are in a collection, with transactions.

See keys.py for where a collection has the value of a key.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import numpy as np

from .. import options
from ..conversion import package
from ..paths import Path, name_of
from .keys import Keys, Place, Value, place_of
from .session import Session
from .states import Committed, Staged

package("zarr", "ZarrStore")

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest  # noqa: E402
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype  # noqa: E402


class ZarrStore(Store):
    """A store of zarr-python 3 in a collection: `zarr.open_group(cairn.ZarrStore("weather.b2d"))`.

    A commit is one step: readers in any process see all of it or nothing, and a crash leaves no part
    of it. Each call that changes keys is a commit of its own. A transaction makes one of many:

        with store.transaction():
            ds.to_zarr(store, append_dim="time", consolidated=False)

    A store that is read-only shows one state, which it sees first, until `refresh`. So does what
    `zarr.open` makes of any store for mode "r". Any other store always shows the newest state, and
    in a transaction what is staged. A read-only store that sees its first state in a transaction of
    the same object shows what is staged, too, as long as the transaction lasts.

    zarr and Dask go on with other chunks after an exception. Changes of theirs that come after the
    end of a transaction which was rolled back are refused.

    path
        A directory. Its name ends with ".b2d" where python-blosc2 is to know it. A collection is
        made there if there is none, unless the store is read-only.
    read_only
        Refuses changes.
    wait
        The number of seconds that a change waits for another writer. In an object store, where
        writers do not wait, it is made again that long after the commits of others. After it, the
        call raises `Unavailable`.
    """

    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True

    def __init__(self, path: Path, *, read_only: bool = False, wait: float = 60.0) -> None:
        super().__init__(read_only=read_only)
        options.milliseconds(wait)
        self._session = Session(name_of(path), not read_only, wait)
        self._kept: Optional[Committed] = None

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        """Returns another store of the same collection, which takes part in the transactions of this one."""
        other = ZarrStore(self._session.path, read_only=read_only, wait=self._session.wait)
        if read_only or not self.read_only:
            other._session = self._session
        return other

    @contextmanager
    def transaction(self) -> Iterator[ZarrStore]:
        """Makes all changes of a `with` block one commit, or none of them after an exception.

        The store reads with the changes applied. Threads that use this object take part in the
        transaction. Other processes and threads that change the collection wait until it ends.

        In an object store they do not wait. If one of them has changed the same meanwhile, the
        end of the block raises `Aborted`: repeat all of it, since it may depend on what it has read.
        """
        self._check_writable()
        with self._session.transaction():
            yield self

    def refresh(self) -> None:
        """Shows the newest state from now on."""
        if self.read_only:
            self._kept = self._session.committed()

    def close(self) -> None:
        """Closes the store. If it was changed, members become frames that any Blosc2 library reads."""
        super().close()
        self._kept = None
        if not self.read_only:
            self._session.finish()

    async def _open(self) -> None:
        self._session.open()
        await super()._open()
        self._keep()

    def _keep(self) -> Optional[Committed]:
        if self.read_only and self._kept is None and not self._session.in_transaction:
            self._kept = self._session.committed()
        return self._kept

    def _read(self, read: Callable[[Keys], Any]) -> Any:
        return self._session.read(read, self._keep())

    async def _read_together(self, read: Callable[[Keys], Any]) -> Any:
        """Reads as `_read` does. Tasks that read at the same time look for a newer state once."""
        await self._ensure_open()
        kept = self._keep()
        has_looked = kept is None and await self._session.look()
        return self._session.read(read, kept, has_looked)

    # Reads and staged changes run in the thread of the caller, and wait for nobody.

    def get_sync(
        self, key: str, *, prototype: Optional[BufferPrototype] = None, byte_range: Optional[ByteRequest] = None
    ) -> Optional[Buffer]:
        """Returns the value of a key, or a part of it, or None if there is none."""
        place = place_of(key)
        return _buffer_of(self._read(lambda keys: _content(keys.find(place), byte_range)), prototype)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Sets the value of a key."""
        made = self._session.change(self._setting(key, value))
        if made is not None:
            made.result()

    def delete_sync(self, key: str) -> None:
        """Deletes a key, if there is one."""
        made = self._session.change(self._deleting(key))
        if made is not None:
            made.result()

    async def get(
        self, key: str, prototype: Optional[BufferPrototype] = None, byte_range: Optional[ByteRequest] = None
    ) -> Optional[Buffer]:
        """Returns the value of a key, or a part of it, or None if there is none."""
        place = place_of(key)
        return _buffer_of(await self._read_together(lambda keys: _content(keys.find(place), byte_range)), prototype)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, Optional[ByteRequest]]]
    ) -> list[Optional[Buffer]]:
        """Returns parts of values, as `get` does."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Returns True if there is such a key."""
        place = place_of(key)
        return bool(await self._read_together(lambda keys: keys.find(place) is not None))

    async def getsize(self, key: str) -> int:
        """Returns the number of bytes of a value. Raises FileNotFoundError if there is none."""
        place = place_of(key)
        value = await self._read_together(lambda keys: _nbytes(keys.find(place)))
        if value is None:
            raise FileNotFoundError(key)
        return int(value)

    async def set(self, key: str, value: Buffer) -> None:
        """Sets the value of a key."""
        await self._change(self._setting(key, value))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Sets the value of a key that is not there. Nobody can set it in between."""
        place, change = place_of(key), self._setting(key, value)
        await self._change(lambda staged: None if staged.find(place) is not None else change(staged))

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        changes = [self._setting(key, value) for key, value in values]

        def change_all(staged: Staged) -> None:
            for change in changes:
                change(staged)

        await self._change(change_all)

    async def delete(self, key: str) -> None:
        """Deletes a key, if there is one."""
        await self._change(self._deleting(key))

    async def delete_dir(self, prefix: str) -> None:
        """Deletes all keys below a folder."""
        self._check_writable()
        folder = _folder(prefix)
        await self._change(lambda staged: staged.delete_all(folder))

    async def _change(self, change: Callable[[Staged], None]) -> None:
        await self._ensure_open()
        made = self._session.change(change)
        if made is not None:
            await asyncio.wrap_future(made)

    def _setting(self, key: str, value: Buffer) -> Callable[[Staged], None]:
        self._check_writable()
        place = place_of(key)
        if not isinstance(value, Buffer):
            raise TypeError(f"value: expected a zarr Buffer, got {type(value).__name__}")
        content = np.ascontiguousarray(value.as_numpy_array()).reshape(-1).view(np.uint8)
        return lambda staged: staged.set(place, content)

    def _deleting(self, key: str) -> Callable[[Staged], None]:
        self._check_writable()
        place: Place = place_of(key)
        return lambda staged: staged.delete(place)

    async def list(self) -> AsyncIterator[str]:
        """Yields all keys."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yields the keys that begin with a prefix."""
        for key in await self._read_together(lambda keys: [*keys.keys(prefix)]):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yields the names of keys and of folders that are in a folder."""
        folder = _folder(prefix)
        for name in await self._read_together(lambda keys: keys.names_in(folder)):
            yield name

    async def is_empty(self, prefix: str) -> bool:
        """Returns True if there is no key below a folder."""
        folder = _folder(prefix)
        return bool(await self._read_together(lambda keys: next(keys.keys(folder), None) is None))

    def __reduce__(self) -> Any:
        return _unpickled, (self._session, self.read_only)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ZarrStore)
            and self._session.path == other._session.path
            and self.read_only == other.read_only
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"cairn://{self._session.path}"

    def __repr__(self) -> str:
        return f"ZarrStore({self._session.path!r}{', read_only=True' if self.read_only else ''})"


def _unpickled(session: Session, read_only: bool) -> ZarrStore:
    store = ZarrStore(session.path, read_only=read_only, wait=session.wait)
    store._session = session
    return store


def _folder(prefix: str) -> str:
    folder = prefix.rstrip("/")
    return folder + "/" if folder else ""


def _buffer_of(content: Optional[np.ndarray], prototype: Optional[BufferPrototype]) -> Optional[Buffer]:
    if content is None:
        return None
    return (prototype or default_buffer_prototype()).buffer.from_array_like(content)


def _nbytes(value: Optional[Value]) -> Optional[int]:
    return None if value is None else value.nbytes()


def _content(value: Optional[Value], byte_range: Optional[ByteRequest]) -> Optional[np.ndarray]:
    if byte_range is not None and not isinstance(byte_range, (RangeByteRequest, OffsetByteRequest, SuffixByteRequest)):
        raise ValueError(f"Unexpected byte_range, got {byte_range}.")
    if value is None:
        return None
    if byte_range is None:
        return value.read()
    if isinstance(byte_range, RangeByteRequest):
        part = slice(byte_range.start, byte_range.end)
    elif isinstance(byte_range, OffsetByteRequest):
        part = slice(byte_range.offset, None)
    else:
        part = slice(max(value.nbytes() - byte_range.suffix, 0), None)
    begin, end, _ = part.indices(value.nbytes())
    return value.read(begin, max(begin, end))
