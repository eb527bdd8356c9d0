"""States of a Zarr store in a collection: those that are committed, and those that are staged."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Optional

import numpy as np

from .. import _engine
from ..collection import CollectionSnapshot
from ..collection_writer import CollectionWriter
from ..errors import FailedPrecondition
from ..metadata import RawVlMeta
from ..packing import pack, unpack
from .keys import DOCUMENTS, Chunks, Keys, Place, document_member_of, group_of, member_of
from .tables import MARK, VERSION, StagedTable, Table, is_marked

_MAX_OPEN = 256  # members whose snapshots stay open


class _CommittedChunks:
    """The chunks of one node in a committed state."""

    __slots__ = ("_engine", "_lock", "_table")

    def __init__(self, table: Table, engine: _engine.Snapshot, lock: threading.RLock):
        self._table = table
        self._engine = engine
        self._lock = lock

    def find(self, rest: str) -> Optional[int]:
        slot = self._table.slots.get(rest)
        return None if slot is None else max(slot, 0)

    def keys(self) -> Collection[str]:
        with self._lock:
            return list(self._table.slots)

    def engine(self) -> _engine.Snapshot:
        return self._engine


class Committed(Keys):
    """The keys of a committed state. It can go on to newer ones. Threads may share it."""

    def __init__(self, state: CollectionSnapshot, where: str):
        self._where = where
        self._lock = threading.RLock()
        self._state = state
        self._nodes: Optional[list[str]] = None
        self._documents: dict[str, dict[str, bytes]] = {}
        self._open: dict[str, Optional[_CommittedChunks]] = {}
        self._tables: dict[str, Table] = {}
        self._current: set[str] = set()  # nodes whose tables are those of this state

    def show(self, state: CollectionSnapshot, staged: Optional[Staged] = None) -> None:
        """Goes on to another state: to the one that `staged` has made, or one of which nothing is known."""
        with self._lock:
            # In an object store, others may have committed since the last look.
            is_next = state.number <= self._state.number + 1
            self._state = state
            self._open.clear()
            if staged is None or not is_next:
                self._nodes = None
                self._documents.clear()
                self._current.clear()
                return
            self._documents.update(staged.changed_documents)
            if staged.changes_nodes:
                self._nodes = None
            for node, chunks in staged.changed_chunks.items():
                self._tables.pop(node, None)
                if chunks is not None:
                    chunks.merge()
                    self._tables[node] = chunks.table
                    self._current.add(node)

    @property
    def number(self) -> int:
        """The number of the commit."""
        return self._state.number

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keeps other threads from going on to another state."""
        with self._lock:
            yield

    def nodes(self) -> Collection[str]:
        with self._lock:
            if self._nodes is None:
                engine = self._state._view().engine
                found = {name[1:-2] for name in engine.members("/") if name.endswith("/c") and name != "/c"}
                found.update(one[1:] for one in engine.groups() if engine.has_member(document_member_of(one[1:])))
                if engine.has_member("/c"):
                    found.add("")
                self._nodes = sorted(found)
            return self._nodes

    def documents(self, node: str) -> Mapping[str, bytes]:
        with self._lock:
            if node not in self._documents:  # damage is told each time
                found = {}
                if self._state._view().engine.has_member(document_member_of(node)):
                    raw = self._state.attributes(group_of(node)).raw
                    found = {one: _bytes_of(raw[one]) for one in raw if one in DOCUMENTS}
                self._documents[node] = found
            return self._documents[node]

    def chunks(self, node: str) -> Optional[Chunks]:
        with self._lock:
            if node not in self._open:
                if len(self._open) >= _MAX_OPEN:
                    self._open.clear()
                self._open[node] = self._opened(node)
            return self._open[node]

    def table(self, node: str) -> Optional[Table]:
        """Returns the keys of a node that are chunks."""
        with self._lock:
            return self._tables[node] if self.chunks(node) is not None else None

    def has_member(self, name: str) -> bool:
        """Returns True if the collection has a member of that name, whether it belongs to the store or not."""
        return self._state._view().engine.has_member(name)

    def _opened(self, node: str) -> Optional[_CommittedChunks]:
        name = member_of(node)
        if not self._state._view().engine.has_member(name):
            return None
        engine = self._state[name]._view().engine
        where = self._where + name
        if not is_marked(engine, where):
            return None
        table = self._tables.pop(node, None) or Table(where)
        if node not in self._current:
            table.update(engine)
            self._current.add(node)
        self._tables[node] = table
        return _CommittedChunks(table, engine, self._lock)


class Staged(Keys):
    """The keys with staged changes applied, which a writer then commits. One thread uses it at a time."""

    def __init__(self, base: Committed, writer: CollectionWriter, where: str):
        self.base = base
        self.writer = writer
        self._where = where
        self.changed_documents: dict[str, dict[str, bytes]] = {}
        self.changed_chunks: dict[str, Optional[StagedTable]] = {}  # None for a member that is removed
        self.changes_nodes = False

    def nodes(self) -> Collection[str]:
        if not self.changes_nodes:
            return self.base.nodes()
        return sorted({*self.base.nodes(), *self.changed_documents, *self.changed_chunks})

    def documents(self, node: str) -> Mapping[str, bytes]:
        if node in self.changed_documents:
            return self.changed_documents[node]
        return self.base.documents(node)

    def chunks(self, node: str) -> Optional[Chunks]:
        if node in self.changed_chunks:
            return self.changed_chunks[node]
        return self.base.chunks(node)

    def names_in(self, folder: str) -> list[str]:
        if self.changes_nodes:  # a node may have lost all its keys
            start = len(folder)
            return sorted({key[start:].split("/", 1)[0] for key in self.keys(folder)})
        return super().names_in(folder)

    def set(self, place: Place, value: np.ndarray) -> None:
        """Stages the value of a key."""
        if place.is_document:
            content = value.tobytes()
            self._layers(place.node)[place.rest] = _layer_of(content)
            self._changed(place.node)[place.rest] = content
        else:
            self._table(place.node, True).set(place.rest, value)  # type: ignore[union-attr]

    def delete(self, place: Place) -> None:
        """Stages the removal of a key, if there is one."""
        if self.find(place) is None:
            return
        if place.is_document:
            del self._layers(place.node)[place.rest]
            del self._changed(place.node)[place.rest]
        else:
            self._table(place.node, False).delete(place.rest)  # type: ignore[union-attr]

    def delete_all(self, prefix: str) -> None:
        """Stages the removal of all keys that begin with a prefix."""
        for node in list(self.nodes()):
            base = node + "/" if node else ""
            if not base.startswith(prefix) and not prefix.startswith(base):
                continue
            rest = prefix[len(base) :]
            for name in [one for one in self.documents(node) if one.startswith(rest)]:
                self.delete(Place(node, name))
            chunks = self.chunks(node)
            if chunks is not None and not rest:
                self._remove_chunks(node)
            elif chunks is not None:
                for key in [one for one in chunks.keys() if one.startswith(rest)]:
                    self.delete(Place(node, key))

    def finish(self) -> None:
        """Stages the tables of keys, and the removal of members that have no key left."""
        for node, chunks in self.changed_chunks.items():
            if chunks is not None and chunks.has_keys():
                chunks.write_pages()
            elif chunks is not None:
                self._remove_chunks(node)
        for node, documents in self.changed_documents.items():
            if not documents and not len(self._layers(node)):
                self.writer.remove(document_member_of(node))

    def _layers(self, node: str) -> RawVlMeta:
        raw: RawVlMeta = self.writer.attributes(group_of(node)).raw  # type: ignore[assignment]
        return raw

    def _changed(self, node: str) -> dict[str, bytes]:
        if node not in self.changed_documents:
            self.changed_documents[node] = dict(self.base.documents(node))
            self.changes_nodes = True
        return self.changed_documents[node]

    def _table(self, node: str, make: bool) -> Optional[StagedTable]:
        found = self.changed_chunks.get(node)
        if found is not None:
            return found
        name = member_of(node)
        table = None if node in self.changed_chunks else self.base.table(node)
        if table is not None:
            member = self.writer[name]
        elif not make:
            return None
        elif node not in self.changed_chunks and self.base.has_member(name):
            raise FailedPrecondition(f"{self._where}{name}: is a member that no Zarr store has made, so it takes no chunks")
        else:
            member = self.writer.add(name, shape=None, clevel=0, filters=(), chunksize=0, raw_meta={MARK: VERSION})
            table = Table(self._where + name)
            self.changes_nodes = True
        self.changed_chunks[node] = staged = StagedTable(table, member._engine)  # type: ignore[arg-type]
        return staged

    def _remove_chunks(self, node: str) -> None:
        self.writer.remove(member_of(node))
        self.changed_chunks[node] = None
        self.changes_nodes = True


def _layer_of(content: bytes) -> bytes:
    """Returns the layer of a document: text as other libraries read it, and bytes if it is none."""
    try:
        return pack(content.decode())
    except UnicodeDecodeError:
        return pack(content)


def _bytes_of(layer: bytes) -> bytes:
    value = unpack(layer)
    return value if isinstance(value, bytes) else str(value).encode()
