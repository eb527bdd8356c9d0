"""Datasets: arrays with named dimensions, coordinates and attributes, in one frame or in a directory.

A frame that stands alone holds one variable. Its vlmetalayers are:

_ARRAY_DIMENSIONS
    The names of the dimensions, as Zarr and netCDF-C store them.
_DATASET
    A dict with the "name" of the variable, the "attrs" of the dataset, and its "coords", which map
    names to dicts of "dims", "data" and "attrs".
_APPENDS
    A dict with the "id" of the dataset, another one each time it is saved, and "spans", which maps "" to
    the first and the last generation between which nothing but appends has changed the frame. A
    handle that was pickled finds by it that the items which it had seen are there.
_FILL_VALUE
    The value that another format gives to items that were never written; see cairn.conversion.
any other name
    An attribute of the variable.

A directory has a frame `NAME.b2nd` for each variable, coordinates included, and the frame
`__vlmeta__.b2f` without items. Its vlmetalayers are the attributes of the dataset and:

_DIMENSIONS
    The sizes of the dimensions that count. An append commits every variable first and this layer
    last. Until then, and if it never happens, readers ignore what the variables hold beyond it.
_VARIABLES
    The names of the variables, so that one that is lost is missed.
_APPENDS
    As above, but "spans" has the names of the variables. The last generation is None during an append.

A frame of a variable in a directory has the layer _PART, so that `__vlmeta__.b2f` is missed, too.

A collection has a member for each variable, and the attributes of its group are those of the dataset. It needs
no _DIMENSIONS: one commit changes all variables. Its attribute is:

_APPENDS
    A dict with the "id" of the dataset, the "count" of its appends, and "members", which maps the names of
    variables to the count since which nothing but appends has changed them, and to the hash of their content.

In an object store a member of a collection has at most 14 layers. The attributes of a variable or of the dataset that do
not fit share one:

_ATTRIBUTES
    A dict with these attributes.

A frame, a directory or a collection without these layers is read all the same: the dimensions then get names.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
import warnings
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from .collection import CollectionSnapshot, open_collection
from .dataset_attributes import APPENDS, DATASET, DIMENSIONS, FILL, NAMES, PART, SIZES, joined, layers_of
from .errors import DataLoss, Error, FailedPrecondition, InvalidArgument, NotFound, Unimplemented
from .frame import Frame
from .opening import open as open_frame
from .paths import is_uri
from .readable import Readable, Snapshot

GROUP = "__vlmeta__.b2f"
SUFFIX = ".b2nd"
INDEX = "chunks.b2frame"  # the file that each sparse frame has
COLLECTION = ".b2d"
PACKED = ".b2z"
LEDGER = "embed.b2e"

Data = Union[np.ndarray, "Part"]


class Place(NamedTuple):
    """A member of a collection, in the state of a commit."""

    path: str
    name: str
    number: int
    opened_with: dict[str, Any]
    appends: Optional[tuple[str, int]] = None  # the "id" and the "count" of the dataset, if it is known to be of both


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """The first items of a frame along each dimension, which are read when they are indexed."""

    frame: Union[Frame, Snapshot]
    shape: tuple[int, ...]
    dataset: Optional[str]  # the "id" of the dataset, of which the frame is a variable
    place: Optional[Place] = None  # of a member

    @property
    def dtype(self) -> np.dtype:
        """The type of an item. Texts have the byte order of the machine, for xarray mistakes the size of others."""
        dtype = self.frame.dtype
        native: np.dtype = dtype.newbyteorder("=") if dtype.kind == "U" else dtype
        return native

    def __reduce__(self) -> Any:
        if self.place is not None:
            return _reopened_member, (self.place, self.shape, _content_of(self.frame, None))
        assert isinstance(self.frame, Frame)
        reopen, how = self.frame.__reduce__()
        state = self.frame.snapshot()
        content = _content_of(state, self.frame.path)
        return _reopened, (how, self.shape, self.dataset, state.generation, content)

    def __getitem__(self, key: tuple[Any, ...]) -> np.ndarray:
        """Reads integers, slices and at most one array of integers, each along its own dimension."""
        parts: list[Any] = []
        single: list[Any] = []
        for one, size in zip(key, self.shape):
            if isinstance(one, slice):
                begin, end, step = one.indices(size)
                parts.append(slice(begin, None if end < 0 else end, step))
                single.append(slice(None))
                continue
            numbers = np.asarray(one)
            if numbers.size and not (-size <= numbers.min() and numbers.max() < size):
                raise IndexError(f"index {one} is out of range of a dimension of {size}")
            numbers = np.where(numbers < 0, numbers + size, numbers)
            if numbers.ndim:
                parts.append(numbers)
                single.append(slice(None))
            else:  # a slice, for beside an array NumPy would take an integer for one, too
                parts.append(slice(int(numbers), int(numbers) + 1))
                single.append(0)
        items: np.ndarray = np.asarray(self.frame[tuple(parts)])
        found: np.ndarray = items[tuple(single)].astype(self.dtype, copy=False)
        return found


def _content_of(state: Readable, path: Optional[str]) -> Union[int, tuple[int, ...]]:
    """Returns what tells one content of a frame from another: a hash, or what the file system knows of the file."""
    if state.info.sealed:
        with contextlib.suppress(Error):  # a damaged frame is found to be so when it is read
            return state.content_hash()
    if path is None or is_uri(path) or not os.path.exists(path):
        return ()
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _reopened(
    how: tuple[Any, ...], shape: tuple[int, ...], dataset: Optional[str], generation: int, content: object
) -> Part:
    """Opens the state that was pickled, or a later one that holds the same items. Raises FailedPrecondition if it is gone."""
    path, mode, dtype, opened_with = how
    frame = open_frame(path, mode, dtype=dtype, **opened_with)
    if _content_of(frame, path) == content or dataset is not None and _only_grew(frame, path, dataset, generation):
        return Part(frame, shape, dataset)
    frame.close()
    with contextlib.suppress(Error):
        frame = open_frame(path, dtype=dtype, **{**opened_with, "generation": generation})
        if _content_of(frame, path) == content:
            return Part(frame, shape, dataset)
        frame.close()
    raise FailedPrecondition(
        f"{path}: has changed since generation {generation} was opened, which is not kept; open the dataset again"
    )


def _reopened_member(place: Place, shape: tuple[int, ...], content: object) -> Part:
    """Finds what was pickled in the newest state of the collection. Raises FailedPrecondition if it has changed."""
    with open_collection(place.path, **place.opened_with) as collection:
        state = collection.snapshot()
    member = state.get(place.name)
    is_same = state.number == place.number or member is not None and (
        content != () and _content_of(member, None) == content or _member_only_grew(state, member, place)
    )
    if member is None or not is_same:
        raise FailedPrecondition(
            f"{place.path}: {place.name} has changed since commit {place.number} was opened; open the dataset again"
        )
    return Part(member, shape, None, place._replace(number=state.number))


def _member_only_grew(state: CollectionSnapshot, member: Snapshot, place: Place) -> bool:
    """Returns True if nothing but appends of `save` has changed a variable since it was opened."""
    group, _, name = place.name.rpartition("/")
    newest = appends_of(dict(state.attributes(group or "/")))
    since, content = newest.members.get(name, (0, None))
    return (
        place.appends is not None
        and place.appends[0] == newest.id
        and since <= place.appends[1]
        and _content_of(member, None) == content
    )


def _only_grew(frame: Frame, path: str, dataset: str, generation: int) -> bool:
    """Returns True if nothing but appends of `save` has changed a variable of a dataset since a generation."""
    appends, name = frame.vlmeta.get(APPENDS, None), ""
    if appends is None:
        folder, name = os.path.split(path)
        try:
            group = open_frame(os.path.join(folder, GROUP))
        except Error:
            return False
        with group:
            appends = group.vlmeta.get(APPENDS, {})
    first, last = appends.get("spans", {}).get(name.removesuffix(SUFFIX), (generation + 1, 0))
    return bool(appends.get("id") == dataset and first <= generation and last in (None, frame.generation))


class Appends(NamedTuple):
    """What the attributes of a collection tell of the appends of `save`."""

    id: str
    number: int  # of them
    members: dict[str, tuple[int, int]]  # the count since which only appends have changed a variable, and its content


def appends_of(attrs: Mapping[str, Any]) -> Appends:
    """Returns what the attributes of a group tell of appends, or that there were none."""
    with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
        told = attrs[APPENDS]
        members = {str(name): (int(since), int(content)) for name, (since, content) in told["members"].items()}
        return Appends(str(told["id"]), int(told["count"]), members)
    return Appends("", 0, {})


class Variable(NamedTuple):
    """An array with the names of its dimensions and its attributes, as they are stored."""

    dims: tuple[str, ...]
    data: Data
    attrs: dict[str, Any]
    frame: Optional[Frame]  # None for what a frame keeps in its metadata, and for a member


class Stored(NamedTuple):
    """What a frame or a directory holds."""

    name: Optional[str]  # of the variable of a frame that stands alone
    variables: dict[str, Variable]
    attrs: dict[str, Any]
    sizes: dict[str, int]  # of the dimensions of a directory
    frames: list[Frame]  # which the variables read from

    def close(self) -> None:
        """Closes the frames."""
        for frame in self.frames:
            frame.close()


def is_collection(path: str) -> bool:
    """Returns True if `path` is a directory with the ledger of a collection, or with a file that has its name.

    In an object store the name decides, so that nothing is requested.
    """
    if is_uri(path):
        return path.rstrip("/").endswith(COLLECTION)
    with _Folder(path) as folder:
        return LEDGER in folder.names


def is_directory_of_frames(path: str) -> bool:
    """Returns True if `path` is a directory that holds a dataset, or frames with names of arrays."""
    with _Folder(path) as folder:
        return folder.is_dataset


class _Folder:
    """A directory that is there, also when another one takes its name, and what it holds.

    While it is open, no other directory has its number.
    """

    def __init__(self, path: str):
        self._path = path
        self._file: Optional[int] = None
        self.names: list[str] = []
        if is_uri(path):
            return
        with contextlib.suppress(NotADirectoryError, FileNotFoundError):
            self._file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self.names = sorted(os.listdir(self._file))

    @property
    def is_dataset(self) -> bool:
        """True if it holds frames with names of arrays."""
        return any(name == GROUP or name.endswith(SUFFIX) for name in self.names)

    def check_kind(self) -> None:
        """Refuses a directory that is neither a dataset nor a sparse frame."""
        if self._file is not None and not self.is_dataset and INDEX not in self.names:
            held = ", ".join(map(repr, self.names[:3])) or "nothing"
            raise InvalidArgument(f"{self._path}: no dataset: expected frames with names such as temp{SUFFIX}, but it holds {held}")

    def is_there(self) -> bool:
        """Returns False if another directory, or anything else, has its name now."""
        try:
            found = os.stat(self._path)
        except OSError:
            return self._file is None
        if self._file is None:
            return not stat.S_ISDIR(found.st_mode)
        return os.path.samestat(found, os.fstat(self._file))

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)


def read(path: str, opened_with: Mapping[str, Any], without: Collection[str] = (), group: str = "/") -> Stored:
    """Opens the frame, the directory of frames or the collection at `path`. Its items are read later.

    Variables of the names `without` may be lost. If the path is given to another dataset meanwhile, it
    starts again: the frames are of one dataset.
    """
    while True:
        with _Folder(path) as folder:
            try:
                is_named = is_collection(path) if is_uri(path) else path.rstrip("/").endswith(PACKED)
                if (is_named or LEDGER in folder.names) and (found := _read_collection(path, opened_with, group)):
                    return found
                if group.strip("/"):
                    raise InvalidArgument(f"{path}: has no group {group!r}, for it is no collection")
                folder.check_kind()
                if folder.is_dataset:
                    stored = _read_directory(path, folder.names, opened_with, without)
                else:
                    stored = _read_frame(path, opened_with)
            except Error:
                if is_uri(path) or folder.is_there():
                    raise
                continue
            if not folder.is_dataset or folder.is_there():
                return stored
            stored.close()


def _read_frame(path: str, opened_with: Mapping[str, Any]) -> Stored:
    frame = open_frame(path, **opened_with)
    try:
        return _of_frame(frame, path)
    except BaseException:
        frame.close()
        raise


def _of_frame(frame: Frame, path: str) -> Stored:
    layers = layers_of(frame)
    rest = layers.pop(DATASET, {})
    layers.pop(PART, None)
    dataset = layers.pop(APPENDS, {}).get("id")
    name = os.path.basename(path.rstrip("/"))
    name = rest.get("name", name[: -len(SUFFIX)] if name.endswith(SUFFIX) else name)
    variable = _variable_of(frame, layers, {}, dataset, path, "")
    variables = {name: variable}
    for coordinate, kept in rest.get("coords", {}).items():
        variables[coordinate] = Variable(tuple(kept["dims"]), kept["data"], kept["attrs"], None)
    return Stored(name, variables, rest.get("attrs", {}), dict(zip(variable.dims, variable.data.shape)), [frame])


def _read_collection(path: str, opened_with: Mapping[str, Any], group: str) -> Optional[Stored]:
    """Opens a group of a collection, or returns None for the directory of another program, or a frame in an object store."""
    how = {name: value for name, value in opened_with.items() if name in ("threads", "verify", "limits")}
    try:
        collection = open_collection(path, **how)
    except FailedPrecondition:
        return None
    except NotFound:
        if is_uri(path):
            return None
        raise
    if opened_with.get("generation") is not None:
        raise InvalidArgument(f"{path}: generations are of frames, and a collection has none")
    with collection:
        state = collection.snapshot()
        if is_uri(path) and is_unfilled(state):
            raise NotFound(f"{path}: nothing is committed there; it was just made, or a save of a dataset was ended")
        return stored_in(state, path, group, how)


def is_unfilled(state: CollectionSnapshot) -> bool:
    """Returns True for a collection without a commit, and which is no copy.

    In an object store the ledger is there before the first commit. Until that, nobody has saved a dataset.
    """
    return state.number == 0 and not state.members() and not state.attributes()


def stored_in(snapshot: CollectionSnapshot, path: str, group: str, opened_with: dict[str, Any]) -> Stored:
    """Returns the dataset that the members of a group are."""
    begin = f"/{group.strip('/')}/" if group.strip("/") else "/"
    attrs = joined(snapshot.attributes(begin.rstrip("/") or "/")) if begin.rstrip("/") in ["", *snapshot.groups()] else {}
    appends = appends_of(attrs)
    variables: dict[str, Variable] = {}
    sizes: dict[str, int] = {}
    for name in snapshot.members(begin):
        short = name[len(begin) :]
        if "/" in short:
            continue
        member = snapshot[name]
        if not member.is_array or member.dtype.names:
            continue
        found = _variable_of(member, layers_of(member), {}, None, short, f"{short}_")
        since, content = appends.members.get(short, (0, None))
        known = (appends.id, appends.number) if content is not None and _content_of(member, None) == content else None
        part = Part(member, member.shape, None, Place(path, name, snapshot.number, opened_with, known))
        variables[short] = found._replace(data=part)
        sizes.update(zip(found.dims, member.shape))
    if not variables and begin.rstrip("/") not in ["", *snapshot.groups()]:
        raise NotFound(f"{path}: no group {group!r}; there are {', '.join(snapshot.groups())}")
    attrs.pop(APPENDS, None)
    return Stored(None, variables, attrs, sizes, [])


def _read_directory(path: str, names: list[str], opened_with: Mapping[str, Any], without: Collection[str]) -> Stored:
    frames: list[Frame] = []
    try:
        attrs: dict[str, Any] = {}
        if GROUP in names:  # first, so that each variable holds at least what it says
            frames.append(open_frame(os.path.join(path, GROUP)))
            attrs = layers_of(frames[0])
        sizes = attrs.pop(SIZES, {})
        dataset = attrs.pop(APPENDS, {}).get("id")
        for name in attrs.pop(NAMES, []):
            if name + SUFFIX not in names and name not in without:
                file = name + SUFFIX
                raise DataLoss(f"{path}: variable {name!r} is lost: there is no {file}; drop_variables={name!r} opens the others")
        variables = {}
        is_part = False
        for name in names:
            if name.endswith(SUFFIX):
                frame = open_frame(os.path.join(path, name), **opened_with)
                frames.append(frame)
                name = name[: -len(SUFFIX)]
                layers = layers_of(frame)
                is_part = layers.pop(PART, False) or is_part
                prefix = f"{name}_" if sizes else ""
                variables[name] = _variable_of(frame, layers, sizes, dataset, name, prefix)
        if is_part and GROUP not in names:
            warnings.warn(
                f"{path}: {GROUP} is lost, with the attributes of the dataset; variables may show items of an append that was "
                "not completed",
                stacklevel=2,
            )
        return Stored(None, variables, attrs, sizes, frames)
    except BaseException:
        Stored(None, {}, {}, {}, frames).close()
        raise


def _variable_of(
    frame: Union[Frame, Snapshot],
    attrs: dict[str, Any],
    sizes: Mapping[str, int],
    dataset: Optional[str],
    path: str,
    prefix: str,
) -> Variable:
    """Returns a variable. Dimensions without names get some that begin with `prefix`."""
    if frame.dtype.names:
        raise Unimplemented(f"{path}: items with fields are no variable; open it with cairn.open or cairn.Log.open")
    attrs.pop(FILL, None)
    dims = tuple(attrs.pop(DIMENSIONS, [f"{prefix}dim_{axis}" for axis in range(frame.ndim)]))
    if len(dims) != frame.ndim:
        raise DataLoss(f"{path}: {len(dims)} names of dimensions, {dims}, for an array of {frame.ndim}")
    shape = tuple(sizes.get(name, size) for name, size in zip(dims, frame.shape))
    if any(size > there for size, there in zip(shape, frame.shape)):
        raise DataLoss(f"{path}: holds {frame.shape} where the dataset says {shape}")
    return Variable(dims, Part(frame, shape, dataset), attrs, frame if isinstance(frame, Frame) else None)
