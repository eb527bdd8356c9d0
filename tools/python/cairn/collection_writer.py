"""Writers, which change collections."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _engine, options
from .arguments import members_raise_ours, told
from .edits import Edits, StagedViews
from .errors import Error, FailedPrecondition, InvalidArgument, InvalidType, NoSuchMember, NotFound
from .metadata import NO_LAYERS, Layers, RawVlMeta, VlMeta, attributes_name
from .opened import ClosingWriter
from .options import FilterLike
from .paths import is_uri
from .recipe import make_recipe
from .source import fill, source_of
from .view import View

if TYPE_CHECKING:
    from .collection import CollectionSnapshot


class MemberWriter(Edits):
    """Stages edits of one member, which the collection's writer commits. It goes on after a commit."""

    __slots__ = ("_dtype", "_engine", "_path", "_views")

    def __init__(self, engine: _engine.MemberWriter, dtype: Optional[np.dtype], path: str, views: StagedViews):
        self._engine = engine
        self._dtype = dtype
        self._path = path
        self._views = views


@members_raise_ours
class CollectionWriter(ClosingWriter):
    """Stages edits of any number of members, which no reader sees, and commits them all at once.

    As a context manager it commits the staged edits at the end of its block, and drops them after
    an exception.
    """

    __slots__ = ("_closed", "_committed", "_engine", "_number", "_views", "_where")

    def __init__(
        self,
        engine: _engine.CollectionWriter,
        committed: Callable[[Optional[int]], CollectionSnapshot],
        where: str,
    ):
        self._engine = engine
        # Called with the number of a commit, which the collection then shows. None is the newest.
        self._committed = committed
        self._number = 0  # of the last commit
        self._where = where
        self._closed = False
        self._views = StagedViews()

    def __getitem__(self, name: str) -> MemberWriter:
        """Returns what stages edits of a member, and reads it with them applied."""
        name = _text_of(name)
        with _told():
            engine = self._engine.edit(name)
        return MemberWriter(engine, None, self._where + name, self._views)

    def add(
        self,
        name: str,
        items: Any = None,
        *,
        shape: Union[int, Sequence[int], None] = (0,),
        dtype: Any = None,
        chunks: Union[int, Sequence[int], None] = None,
        blocks: Union[int, Sequence[int], None] = None,
        codec: str = "lz4",
        clevel: int = 5,
        codec_meta: int = 0,
        filters: Iterable[FilterLike] = ("shuffle",),
        chunksize: int = 1 << 20,
        blocksize: int = 0,
        use_dict: bool = False,
        meta: Optional[Mapping[str, Any]] = None,
        raw_meta: Optional[Mapping[str, bytes]] = None,
    ) -> MemberWriter:
        """Stages a new member, and returns what stages its content.

        name
            The name, such as "/day/temp": a slash stands before each part.
        items
            The content, as `cairn.asarray` takes it. By default it is made as `shape` and `dtype`
            say.
        shape
            The number of items along each dimension of an array of zeros, which can grow. None
            makes a plain frame.
        dtype
            The type of an item. The default is the type that `items` has, or uint8.

        The other arguments are those of `cairn.create`:

        chunks, blocks
            The shapes of chunks and of blocks, in items.
        codec, clevel, codec_meta, filters, use_dict
            How chunks are compressed.
        chunksize, blocksize
            The sizes of chunks and blocks in bytes, where no shape says them.
        meta, raw_meta
            The metalayers, as Python values and as bytes.
        """
        name = _text_of(name)
        source = None if items is None else source_of(items)
        if source is not None:
            if shape != (0,):
                raise InvalidArgument("shape: the items have one; give either")
            shape = tuple(source.shape)
            dtype = source.dtype if dtype is None else dtype
        known = options.check_dtype("u1" if dtype is None else dtype)
        recipe = make_recipe(
            known, shape, chunks=chunks, blocks=blocks, codec=codec, clevel=clevel,
            codec_meta=codec_meta, filters=filters, chunksize=chunksize, blocksize=blocksize,
            use_dict=use_dict, sparse=False, meta=meta, raw_meta=raw_meta, overwrite=False,
        )  # fmt: skip
        engine = self._engine.add(name, recipe)
        if source is not None:
            try:
                fill(engine, source, known, None)
            except BaseException:
                self._engine.remove(name)
                raise
        return MemberWriter(engine, known, self._where + name, self._views)

    def remove(self, name: str) -> None:
        """Stages the removal of the member `name`. Another one may be added under its name in the same commit."""
        with _told():
            self._engine.remove(_text_of(name))

    def copy(self, name: str, to: str) -> None:
        """Stages a copy of the member `name`, as it was committed last, under the name `to`."""
        with _told():
            self._engine.copy(_text_of(name), _text_of(to))

    def move(self, name: str, to: str) -> None:
        """Stages the move of the member `name` to the name `to`. Older snapshots keep it under its old name."""
        with _told():
            self._engine.move(_text_of(name), _text_of(to))

    def compact(self, name: str) -> None:
        """Stages a copy of the member `name`, without its dead bytes, that takes its place."""
        with _told():
            self._engine.compact(_text_of(name))

    def attributes(self, group: str = "/") -> VlMeta:
        """The attributes of `group`, such as "/" or "/day". Changes of them are staged."""
        group = _text_of(group)
        name = attributes_name(group)

        def view() -> Layers:
            with contextlib.suppress(NotFound):
                engine = self._engine.edit(name)
                return self._views.add(View(engine.staged(), None, self._where + name))
            return NO_LAYERS

        def edit(change: Callable[[Any], None]) -> None:
            change(self._engine.edit_attributes(group))

        return VlMeta(RawVlMeta(view, edit, self._where + group))

    def commit(self) -> CollectionSnapshot:
        """Makes all staged edits visible and durable, or none, and returns the newest state.

        Beside other writers, that may be the state of a later commit; see `number`.
        """
        self._number = self._engine.commit()
        return self._committed(self._number)

    @property
    def number(self) -> int:
        """The number of the last commit that this writer has made, or 0."""
        return self._number

    def rollback(self) -> None:
        """Drops all staged edits."""
        self._engine.rollback()

    def close(self) -> None:
        """Commits the staged edits, and makes each member a frame that any Blosc2 library reads.

        Others may then write the collection.
        """
        if self._closed:
            return
        self.commit()  # before the end, so that what the collection has shown needs no files any more
        self._engine.close()
        self._closed = True
        self._views.drop()
        # In a directory, closing may commit once more.
        self._committed(self._number if is_uri(self._where) else None)

    def has_waiters(self) -> bool:
        """Returns True if another writer, in any process, waits for the collection."""
        return self._engine.has_waiters()

    def release(self) -> None:
        """Drops the staged edits, and lets others write the collection.

        Unlike `close`, it leaves the newest commits in the journals of the members, where Cairn
        reads them, and other Blosc2 libraries do not. So it takes the same time however large the
        members are.
        """
        self._closed = True
        self._views.drop()
        self._engine.release()

    def _check_open(self) -> None:
        if self._closed:
            raise FailedPrecondition(f"{self._where}: the writer is closed")

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        try:
            if kind is not None and not self._closed:
                self._engine.rollback()
            self.close()
        except Error:
            with contextlib.suppress(Error):
                self._engine.rollback()
                self.close()
            raise
        finally:
            self._closed = True
            self._views.drop()
            self._engine.release()


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Makes a member that is not there also a KeyError."""
    try:
        yield
    except NotFound as error:
        raise NoSuchMember(str(error)) from None


def _text_of(name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidType(f"name: expected that of a member, a str, got {told(name)}")
    return name
