"""The metadata of a frame as mappings from names to values, and to the bytes that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Generic, Optional, TypeVar, Union

from . import _engine, packing
from .arguments import members_raise_ours, told
from .errors import InvalidArgument, InvalidType, NoSuchLayer, ReadOnly, Unimplemented
from .view import View

# A writer of the engine, of a frame or of a member of a collection.
EngineWriter = Union[_engine.Writer, _engine.MemberWriter]
# Edits a writer of the engine. None means that the frame is only read.
Edit = Optional[Callable[[Callable[[EngineWriter], None]], None]]


class _NoLayers:
    """Stands for the view of a frame that is not there: the attributes of a group that has none."""

    engine: Any

    def __init__(self) -> None:
        self.engine = self

    def metalayers(self) -> dict[str, bytes]:
        return {}

    def vlmetalayers(self) -> list[str]:
        return []


NO_LAYERS = _NoLayers()
Layers = Union[View, _NoLayers]


def attributes_name(group: str) -> str:
    """Returns the name of the member of a collection whose vlmetalayers are the attributes of a group."""
    return ("" if group == "/" else group) + "/__vlmeta__"


# Names of layers that Cairn keeps for itself, such as that of logs.
_OWN = "cairn."

_Value = TypeVar("_Value")


@members_raise_ours
class _Layers(MutableMapping[str, _Value], Generic[_Value]):
    kind: str  # the word for a layer in messages
    _where: str  # the beginning of messages

    def _names(self) -> list[str]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._names()}>"


@members_raise_ours
class _RawLayers(_Layers[bytes]):
    """Maps the names of layers to the bytes that the file has."""

    def __init__(self, view: Callable[[], Layers], edit: Edit, where: str):
        self._view = view
        self._edit = edit
        self._where = where

    def _read(self) -> _engine.Snapshot:
        return self._view().engine

    def title(self, name: object) -> str:
        """Returns the beginning of messages about the layer called `name`."""
        return f"{self._where}: {self.kind} {told(name)}"

    def _missing(self, name: object) -> NoSuchLayer:
        return NoSuchLayer(f"{self.title(name)} does not exist: there is {', '.join(self._names()) or 'none'}")

    def _change(self, name: object, change: Callable[[EngineWriter], None]) -> None:
        if self._edit is None:
            raise ReadOnly(f"{self.title(name)}: opened for reading; open it with mode 'r+'")
        if not isinstance(name, str):
            raise InvalidType(f"{self.title(name)}: expected a name of type str")
        self._edit(change)

    def _bytes_of(self, name: object, content: Any) -> bytes:
        try:
            return bytes(memoryview(content))
        except (TypeError, ValueError):
            raise InvalidType(f"{self.title(name)}: expected bytes, got {told(content)}") from None


@members_raise_ours
class RawMeta(_RawLayers):
    """Maps the names of metalayers to their bytes."""

    kind = "metalayer"

    def _names(self) -> list[str]:
        return list(self._read().metalayers())

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise self._missing(name)
        return self._read().metalayers()[name]

    def __setitem__(self, name: str, content: bytes) -> None:
        stored = self._bytes_of(name, content)
        if self._edit is not None and name not in self:
            raise self._missing(name)
        self._change(name, lambda writer: writer.set_metalayer(name, stored))

    def __delitem__(self, name: str) -> None:
        raise InvalidType(f"{self.title(name)}: metalayers are made with the frame and cannot be deleted")


@members_raise_ours
class RawVlMeta(_RawLayers):
    """Maps the names of vlmetalayers to their bytes."""

    kind = "vlmetalayer"

    def _names(self) -> list[str]:
        return self._read().vlmetalayers()

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise self._missing(name)
        return self._read().get_vlmetalayer(name)

    def __setitem__(self, name: str, content: bytes) -> None:
        stored = self._bytes_of(name, content)
        self._change(name, lambda writer: writer.set_vlmetalayer(name, stored))

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise self._missing(name)
        self._change(name, lambda writer: writer.delete_vlmetalayer(name))


@members_raise_ours
class _PackedLayers(_Layers[Any]):
    """Maps the names of layers to Python values, which are packed as python-blosc2 packs them."""

    member: str  # the member of a frame that gives these layers

    def __init__(self, raw: _RawLayers):
        self.raw = raw
        self._where = raw._where

    def _names(self) -> list[str]:
        return [name for name in self.raw if not name.startswith(_OWN)]

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise self.raw._missing(name)
        try:
            return packing.unpack(self.raw[name])
        except (InvalidArgument, Unimplemented) as error:
            what = "is not msgpack: " if isinstance(error, InvalidArgument) else ""
            raise type(error)(
                f"{self.raw.title(name)} {what}{error}; {self.member}.raw[{name!r}] has its bytes"
            ) from error

    def __setitem__(self, name: str, value: Any) -> None:
        if isinstance(name, str) and name.startswith(_OWN):
            raise InvalidArgument(f"{self.raw.title(name)}: names that begin with {_OWN!r} are Cairn's own")
        self.raw[name] = packed(self.raw.title(name), value)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise self.raw._missing(name)
        del self.raw[name]


class Meta(_PackedLayers):
    """Maps the names of metalayers to Python values. They are made with the frame and keep their sizes.

    `raw` maps their names to the bytes that are stored.
    """

    member = "meta"


class VlMeta(_PackedLayers):
    """Maps the names of vlmetalayers to Python values. They may be added, changed and deleted at any time.

    `raw` maps their names to the bytes that are stored.
    """

    member = "vlmeta"


def packed(title: str, value: Any) -> bytes:
    """Returns the bytes of a value of the layer that messages call `title`."""
    try:
        return packing.pack(value)
    except InvalidArgument as error:
        raise type(error)(f"{title}: {error}") from None
