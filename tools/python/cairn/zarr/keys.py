"""The keys of a Zarr store, and where a collection has their values.

A *node* is an array or a group of Zarr, such as "day/temp"; that of the root is "".

- A document of a node, such as "day/temp/zarr.json", is an attribute of the group /day/temp. It is
  text, so every library that reads the attributes can read it.
- Every other key of a node, such as "day/temp/c/0/0", is a chunk of the member /day/temp/c, a frame
  of variable chunks. Zarr has coded the value already, so it is stored as it is.

So an array is two files, however many chunks it has. A node whose name no member can have, such as
one that begins with a dot, has its keys in the member of the node above.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, Optional, Protocol

import numpy as np

from .. import _engine
from ..arguments import told
from ..errors import InvalidArgument, InvalidType
from ..metadata import attributes_name

DOCUMENTS = frozenset((".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json"))

_NUMBER = re.compile(r"[0-9]+")
_BAD_PART = re.compile(r"\.|__vlmeta__$|.*[\x00-\x1f\x7f\\]|.*\.b2(nd|f|e)$", re.DOTALL)
_MAX_PART, _MAX_NODE = 249, 1000  # bytes; a name of a member has at most 1,024


class Place(NamedTuple):
    """Where the value of a key is."""

    node: str
    rest: str  # what follows the node in the key

    @property
    def is_document(self) -> bool:
        """True if the value is an attribute, and not a chunk."""
        return self.rest in DOCUMENTS


def group_of(node: str) -> str:
    """Returns the group whose attributes are the documents of a node."""
    return "/" + node


def member_of(node: str) -> str:
    """Returns the name of the member that has the chunks of a node."""
    return f"/{node}/c" if node else "/c"


def document_member_of(node: str) -> str:
    """Returns the name of the member that has the attributes of a node's group."""
    return attributes_name(group_of(node))


def _is_nameable(part: str) -> bool:
    return part != "" and _BAD_PART.match(part) is None and len(part.encode()) <= _MAX_PART


def place_of(key: str) -> Place:
    """Returns the place of a key. Two keys never have the same."""
    if not isinstance(key, str):
        raise InvalidType(f"key: expected a str, got {told(key)}")
    try:
        key.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"key: {key[:40]!r} has a character that no name can have") from None
    parts = key.split("/")
    end = len(parts) - 1
    if parts[-1] not in DOCUMENTS and (parts[-1] == "c" or _NUMBER.fullmatch(parts[-1])):
        while end > 0 and _NUMBER.fullmatch(parts[end]) and _NUMBER.fullmatch(parts[end - 1]):
            end -= 1
        if end > 0 and _NUMBER.fullmatch(parts[end]) and parts[end - 1] == "c":
            end -= 1
    size = -1
    for number, part in enumerate(parts[:end]):
        size += len(part.encode()) + 1
        if not _is_nameable(part) or size > _MAX_NODE:
            end = number
            break
    return Place("/".join(parts[:end]), "/".join(parts[end:]))


class Chunks(Protocol):
    """The keys of one node that are chunks, as one state has them."""

    def find(self, rest: str) -> Optional[int]:
        """Returns the number of a key's chunk, 0 if the value is empty, and None without one."""

    def keys(self) -> Collection[str]:
        """Returns what follows the node in the keys."""

    def engine(self) -> _engine.Snapshot:
        """Returns what reads the chunks."""


class Keys:
    """Reads the keys of one state."""

    def nodes(self) -> Collection[str]:
        """Returns the nodes that may have keys."""
        raise NotImplementedError

    def documents(self, node: str) -> Mapping[str, bytes]:
        """Returns the documents of a node by their names."""
        raise NotImplementedError

    def chunks(self, node: str) -> Optional[Chunks]:
        """Returns the chunks of a node, or None if it has none."""
        raise NotImplementedError

    def find(self, place: Place) -> Optional[Value]:
        """Returns the value of a key, which is not read yet, or None without one."""
        if place.is_document:
            content = self.documents(place.node).get(place.rest)
            return None if content is None else Value(content, None, 0)
        chunks = self.chunks(place.node)
        number = None if chunks is None else chunks.find(place.rest)
        if chunks is None or number is None:
            return None
        return Value(b"", None, 0) if number == 0 else Value(b"", chunks.engine(), number)

    def keys_of(self, node: str) -> Iterator[str]:
        """Returns what follows a node in its keys."""
        yield from sorted(self.documents(node))
        chunks = self.chunks(node)
        if chunks is not None:
            yield from chunks.keys()

    def keys(self, prefix: str) -> Iterator[str]:
        """Returns the keys that begin with a prefix."""
        for node in self.nodes():
            base = node + "/" if node else ""
            if base.startswith(prefix):
                for rest in self.keys_of(node):
                    yield base + rest
            elif prefix.startswith(base):
                for rest in self.keys_of(node):
                    if rest.startswith(prefix[len(base) :]):
                        yield base + rest

    def names_in(self, folder: str) -> list[str]:
        """Returns the parts of keys that follow a folder, which ends with a slash or is "", in order."""
        found: set[str] = set()
        for node in self.nodes():
            base = node + "/" if node else ""
            if folder.startswith(base):
                rest = folder[len(base) :]
                found.update(one[len(rest) :].split("/", 1)[0] for one in self.keys_of(node) if one.startswith(rest))
            elif base.startswith(folder):
                found.add(base[len(folder) :].split("/", 1)[0])
        return sorted(found)


class Value(NamedTuple):
    """The value of a key: bytes that are here, or a chunk."""

    content: bytes
    engine: Optional[_engine.Snapshot]
    nchunk: int

    def nbytes(self) -> int:
        """Returns the number of bytes."""
        return len(self.content) if self.engine is None else self.engine.chunk_sizes(self.nchunk, 1)[0][1]

    def read(self, begin: int = 0, end: Optional[int] = None) -> np.ndarray:
        """Returns the bytes from `begin` to `end`, or fewer if there are not so many."""
        size = self.nbytes()
        end = size if end is None else min(end, size)
        if self.engine is None:
            return np.frombuffer(self.content, np.uint8)[begin:end]
        content = np.empty(max(end - begin, 0), np.uint8)
        if content.size:
            self.engine.read_part(self.nchunk, begin, content)
        return content
