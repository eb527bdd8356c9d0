"""The attributes of datasets and variables, and the layers that keep them; see cairn.datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Optional

import numpy as np

from .errors import InvalidArgument, InvalidType, Unimplemented
from .paths import is_uri
from .readable import Readable

DIMENSIONS = "_ARRAY_DIMENSIONS"
DATASET = "_DATASET"
SIZES = "_DIMENSIONS"
APPENDS = "_APPENDS"
FILL = "_FILL_VALUE"
NAMES = "_VARIABLES"
PART = "_PART"
MORE = "_ATTRIBUTES"
RESERVED = (DIMENSIONS, DATASET, SIZES, APPENDS, FILL, NAMES, PART, MORE)

# The number of vlmetalayers that a member of a collection in an object store can have.
_ROOM = 14


def layers_of(frame: Readable) -> dict[str, Any]:
    """Returns the vlmetalayers that are values of Python. python-blosc2 also keeps objects there."""
    layers = {}
    for name in frame.vlmeta:
        try:
            layers[name] = frame.vlmeta[name]
        except (InvalidArgument, Unimplemented):
            continue
    return joined(layers)


def joined(layers: Mapping[str, Any]) -> dict[str, Any]:
    """Returns layers, with the attributes that share one."""
    more = layers.get(MORE)
    if not isinstance(more, dict):  # another program's
        return dict(layers)
    return {**{name: value for name, value in layers.items() if name != MORE}, **more}


def put_attributes(layers: MutableMapping[str, Any], attrs: Mapping[str, Any], path: str) -> None:
    """Sets attributes of a member of the collection at `path`. Those that have the value already are not written.

    Each is a layer of its own. In an object store a member can have few layers, so the last one
    holds all attributes for which there is no room.
    """
    more = layers.get(MORE)
    rest = dict(more) if isinstance(more, dict) else {}
    room = _ROOM - (more is None) - len(layers) if is_uri(path) else len(attrs)
    is_changed = False
    for name, value in attrs.items():
        if name in layers:
            if not np.array_equal(layers[name], value):
                layers[name] = value
        elif name in rest or room <= 0:
            is_changed = is_changed or name not in rest or not np.array_equal(rest[name], value)
            rest[name] = value
        else:
            layers[name] = value
            room -= 1
    if is_changed:
        layers[MORE] = rest


def check_names(names: Iterable[Any], attrs: Mapping[Any, Any], reserved: tuple[str, ...]) -> None:
    """Refuses names that cannot be those of files and layers."""
    for name in names:
        if not isinstance(name, str) or not name or name.startswith(".") or "/" in name or "\0" in name:
            raise InvalidType(f"variable or dimension {name!r}: expected a name that a file can have")
    for name in attrs:
        if not isinstance(name, str) or name in reserved or name.startswith("cairn."):
            raise InvalidType(f"attribute {name!r}: expected text, and none of the names {', '.join(reserved)}")
