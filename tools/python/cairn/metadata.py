"""The metadata of a frame as mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Optional

from . import _engine

# Edits a writer of the engine; None where the frame is only read.
Edit = Optional[Callable[[Callable[[_engine.Writer], None]], None]]
Read = Callable[[], _engine.Snapshot]


class _Layers(MutableMapping[str, bytes]):
    def __init__(self, read: Read, edit: Edit):
        self._read = read
        self._edit = edit

    def _change(self, change: Callable[[_engine.Writer], None]) -> None:
        if self._edit is None:
            raise TypeError("metadata of what is only read cannot be changed")
        self._edit(change)

    def _names(self) -> list[str]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._names()}>"


class Meta(_Layers):
    """The metalayers, of the header: made with the frame, each of a fixed size. Values are bytes."""

    def _names(self) -> list[str]:
        return list(self._read().metalayers())

    def __getitem__(self, name: str) -> bytes:
        return self._read().metalayers()[name]

    def __setitem__(self, name: str, content: bytes) -> None:
        if self._edit is not None and name not in self:
            raise KeyError(name)
        self._change(lambda writer: writer.set_metalayer(name, content))

    def __delitem__(self, name: str) -> None:
        raise TypeError("metalayers cannot be deleted")


class VlMeta(_Layers):
    """The vlmetalayers, of the trailer: they come, change and go at any time. Values are bytes."""

    def _names(self) -> list[str]:
        return self._read().vlmetalayers()

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise KeyError(name)
        return self._read().get_vlmetalayer(name)

    def __setitem__(self, name: str, content: bytes) -> None:
        self._change(lambda writer: writer.set_vlmetalayer(name, content))

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._change(lambda writer: writer.delete_vlmetalayer(name))


class Attrs(MutableMapping[str, Any]):
    """The vlmetalayers as Python objects, packed with msgpack as python-blosc2 packs them."""

    def __init__(self, layers: VlMeta):
        self._layers = layers

    def __getitem__(self, name: str) -> Any:
        import msgpack  # type: ignore[import-untyped]

        packed = self._layers[name]
        try:
            return msgpack.unpackb(packed, strict_map_key=False)
        except ValueError as error:
            raise ValueError(f"vlmetalayer {name!r} is no msgpack: {error!r}") from error

    def __setitem__(self, name: str, value: Any) -> None:
        import msgpack  # type: ignore[import-untyped]

        self._layers[name] = msgpack.packb(value)

    def __delitem__(self, name: str) -> None:
        del self._layers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def __contains__(self, name: object) -> bool:
        return name in self._layers

    def __repr__(self) -> str:
        return f"<Attrs {list(self)}>"
