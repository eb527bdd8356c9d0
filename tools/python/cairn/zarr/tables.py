"""Tables of keys: which chunk of a member holds the value of a key.

The chunks 0, 256, 512, ... of such a member are *pages*. A page is a JSON list of the keys whose
values are in the 255 chunks after it: `null` for a chunk that is free, and a list with the key for a
value without bytes, since no chunk is empty. A page may end early. So a key that is set for the
first time changes one page, and one that is set again none. A new state is read by comparing pages.

In an object store the chunks that two writers append both stand, one after the other. The chunks of
the second one are then not where its pages say, and a page that it begins is no page. So both must
change one chunk, too, which makes them collide: the last page that was there before.

The metalayer `cairn.zarr` of the member has the version of this table, which is 1.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Optional, Union

import numpy as np

from .. import _engine
from ..errors import DataLoss, Unimplemented

PAGE = 256
MARK = "cairn.zarr"
VERSION = b"\x01"

Entry = Union[str, list[str], None]


def is_marked(engine: _engine.Snapshot, where: str) -> bool:
    """Returns True if a member has a table of keys."""
    version = engine.metalayers().get(MARK)
    if version is not None and version != VERSION:
        raise Unimplemented(f"{where}: metalayer {MARK!r}: this version of the table of keys is not known: {version!r}")
    return version is not None


class Table:
    """The keys of a member as they are committed."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.pages: list[list[Entry]] = []
        self.not_full: set[int] = set()  # pages that have free chunks
        self.slots: dict[str, int] = {}  # the number of the chunk by key, negative if the value is empty
        self.nchunks = 0
        self._raw: list[bytes] = []

    def update(self, engine: _engine.Snapshot) -> None:
        """Takes over the keys of another state of the member."""
        self.nchunks = int(engine.info()["nchunks"])
        count = -(-self.nchunks // PAGE)
        for page in range(count, len(self.pages)):
            self._forget(page)
            self.not_full.discard(page)
        del self.pages[count:], self._raw[count:]
        for page in range(count):
            raw = engine.read_chunk(page * PAGE)
            if page >= len(self._raw) or raw != self._raw[page]:
                self.replace(page, self._parsed(page, raw), raw)

    def replace(self, page: int, entries: list[Entry], raw: bytes) -> None:
        """Replaces a page, or adds it."""
        if page == len(self.pages):
            self.pages.append([])
            self._raw.append(b"")
        self._forget(page)
        self.pages[page] = entries
        self._raw[page] = raw
        has_free = len(entries) < PAGE - 1
        for slot, entry in enumerate(entries, page * PAGE + 1):
            if isinstance(entry, str):
                self.slots[entry] = slot
            elif entry is not None:
                self.slots[entry[0]] = -slot
            else:
                has_free = True
        (self.not_full.add if has_free else self.not_full.discard)(page)

    def _forget(self, page: int) -> None:
        for slot, entry in enumerate(self.pages[page], page * PAGE + 1):
            key = entry[0] if isinstance(entry, list) else entry
            if key is not None and abs(self.slots.get(key, 0)) == slot:
                del self.slots[key]

    def _parsed(self, page: int, raw: bytes) -> list[Entry]:
        try:
            entries: Any = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise DataLoss(f"{self._where}: chunk {page * PAGE}: is no page of keys: {error}") from None
        room = min(PAGE - 1, self.nchunks - page * PAGE - 1)
        if not isinstance(entries, list) or len(entries) > room or not all(map(_is_entry, entries)):
            raise DataLoss(f"{self._where}: chunk {page * PAGE}: is no page of at most {room} keys")
        return entries


def _is_entry(entry: Any) -> bool:
    return entry is None or isinstance(entry, str) or isinstance(entry, list) and len(entry) == 1 and isinstance(entry[0], str)


class StagedTable:
    """Stages changes of a table of keys and of the chunks."""

    def __init__(self, table: Table, member: _engine.MemberWriter) -> None:
        self.table = table
        self._member = member
        self._slots: dict[str, Optional[int]] = {}  # as those of the table; None for keys that are deleted
        self._pages: dict[int, list[Entry]] = {}
        self._not_full = set(table.not_full)
        self._nchunks = table.nchunks

    def find(self, rest: str) -> Optional[int]:
        """Returns the number of a key's chunk, 0 if the value is empty, and None without one."""
        slot = self._slots[rest] if rest in self._slots else self.table.slots.get(rest)
        return None if slot is None else max(slot, 0)

    def keys(self) -> Collection[str]:
        """Returns the keys."""
        keys = dict.fromkeys(self.table.slots)
        for key, slot in self._slots.items():
            if slot is None:
                keys.pop(key, None)
            else:
                keys[key] = None
        return list(keys)

    def has_keys(self) -> bool:
        """Returns True if there is a key."""
        return len(self._slots) < len(self.table.slots) or bool(self.keys())

    def engine(self) -> _engine.Snapshot:
        """Returns what reads the staged chunks."""
        return self._member.staged()

    def set(self, key: str, value: np.ndarray) -> None:
        """Stages the value of a key."""
        slot = self._slots[key] if key in self._slots else self.table.slots.get(key)
        content = value if value.size else np.zeros(1, np.uint8)
        if slot is None:
            slot = self._new_slot(content)
        else:
            self._member.update_chunk(abs(slot), content)
        self._put(abs(slot), key if value.size else [key])
        self._slots[key] = abs(slot) if value.size else -abs(slot)

    def delete(self, key: str) -> None:
        """Stages the removal of a key. Its chunk stays as one byte, and is used for the next new key."""
        slot = self._slots[key] if key in self._slots else self.table.slots.get(key)
        if slot is not None:
            self._member.update_chunk(abs(slot), np.zeros(1, np.uint8))
            self._put(abs(slot), None)
            self._not_full.add(abs(slot) // PAGE)
            self._slots[key] = None

    def write_pages(self) -> None:
        """Stages the pages that changed, and the last one that was there before a new one."""
        before = len(self.table.pages) - 1
        if self._nchunks > self.table.nchunks and before >= 0 and before not in self._pages:
            self._pages[before] = list(self.table.pages[before])
        self._written = {page: json.dumps(entries, separators=(",", ":")).encode() for page, entries in self._pages.items()}
        for page, raw in self._written.items():
            self._member.update_chunk(page * PAGE, np.frombuffer(raw, np.uint8))

    def merge(self) -> None:
        """Changes the table as it was committed."""
        self.table.nchunks = self._nchunks
        for page in sorted(self._pages):
            self.table.replace(page, self._pages[page], self._written[page])

    def _entries(self, page: int) -> list[Entry]:
        if page in self._pages or page >= len(self.table.pages):
            return self._pages.setdefault(page, [])
        return self.table.pages[page]

    def _put(self, slot: int, entry: Entry) -> None:
        page, place = divmod(slot, PAGE)
        entries = self._entries(page)
        if place <= len(entries) and entries[place - 1] == entry:
            return
        if page not in self._pages:
            entries = self._pages[page] = list(entries)
        entries.extend([None] * (place - len(entries)))
        entries[place - 1] = entry

    def _new_slot(self, content: np.ndarray) -> int:
        for page in sorted(self._not_full):
            entries = self._entries(page)
            free = entries.index(None) if None in entries else len(entries)
            slot = page * PAGE + 1 + free
            if free < PAGE - 1 and slot < self._nchunks:
                self._member.update_chunk(slot, content)
                return slot
            if free == PAGE - 1:
                self._not_full.discard(page)
        if self._nchunks % PAGE == 0:
            self._member.append(np.frombuffer(b"[]", np.uint8))
            self._not_full.add(self._nchunks // PAGE)
            self._nchunks += 1
        self._member.append(content)
        self._nchunks += 1
        return self._nchunks - 1
