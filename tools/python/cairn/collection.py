"""Collections: directories of frames that change together."""

from __future__ import annotations

import contextlib
import difflib
import time
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from typing import Any, Optional

from . import _engine, options
from .arguments import members_raise_ours, raises_ours, told
from .collection_writer import CollectionWriter
from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, InvalidType, NoSuchMember, NotFound, ReadOnly, Unimplemented
from .info import Commit, Report
from .metadata import NO_LAYERS, Layers, RawVlMeta, VlMeta, attributes_name
from .opened import Immutable, Opened
from .options import Limits
from .paths import Path, files_of, is_uri, name_of
from .readable import Snapshot
from .view import View

_MODES = ("r", "r+", "a", "w", "x")
# The most seconds that another process takes to make a collection in an object store. It puts and
# removes a few objects, the last of which is the ledger's index.
_MAKING = 3.0


class State:
    """One state of a collection. It is immutable."""

    __slots__ = ("engine", "where")

    def __init__(self, engine: _engine.CollectionSnapshot, where: str):
        self.engine = engine
        self.where = where

    def check_member(self, name: Any) -> None:
        """Raises NoSuchMember, with the name that comes nearest."""
        if not isinstance(name, str):
            raise InvalidType(f"name: expected that of a member, a str, got {told(name)}")
        if self.engine.has_member(name):
            return
        near = difflib.get_close_matches(name, self.engine.members("/"), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {len(self.engine.members('/'))} others"
        raise NoSuchMember(f"{self.where}: no member {told(name)}; {hint}")


@members_raise_ours
class Members(Mapping[str, Snapshot]):
    """Maps the names of members, such as "/day/temp", to their snapshots."""

    __slots__ = ()

    def _view(self) -> State:
        raise NotImplementedError

    @property
    def _where(self) -> str:
        return self._view().where

    def __getitem__(self, name: str) -> Snapshot:
        state = self._view()
        state.check_member(name)
        return Snapshot(View(state.engine.open_member(name), None, state.where + name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._view().engine.has_member(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.members())

    def __len__(self) -> int:
        return len(self.members())

    def members(self, prefix: str = "/") -> list[str]:
        """Returns the names of the members that begin with `prefix`, in order."""
        return self._view().engine.members(prefix)

    def groups(self) -> list[str]:
        """Returns the groups that have members or attributes, such as "/day", in order. The first is "/"."""
        return self._view().engine.groups()

    def attributes(self, group: str = "/") -> VlMeta:
        """The attributes of `group`, such as "/" or "/day". The `attributes` of a writer change them."""
        state = self._view()
        if not isinstance(group, str):
            raise InvalidType(f"group: expected its name, a str, got {told(group)}")
        name = attributes_name(group)
        layers: Layers = NO_LAYERS
        if state.engine.has_member(name):
            layers = View(state.engine.open_attributes(group), None, state.where + name)
        return VlMeta(RawVlMeta(lambda: layers, None, state.where + group))

    def verify(
        self, depth: str = "contents", progress: Optional[Callable[[int], object]] = None
    ) -> Report:
        """Checks the ledger and all members, also those that hold attributes, and continues past damage.

        The sections of the report begin with the name of the member, or of the ledger.

        depth, progress
            As those of `Frame.verify`. The chunks of all members are counted together.
        """
        return Report._of(self._view().engine, depth, progress)

    def backup(self, path: Path, *, since: Optional[Members] = None) -> None:
        """Copies this state of all members to a new collection at `path`. A writer may be open meanwhile.

        If `path` ends with ".b2z", the copy is one file, a packed store. The backup of that file is
        a collection again.

        since
            An older state, or a copy. `path` then becomes an increment, a file that holds what is
            new since that state. `Collection.restore` brings any copy of that state up to date.
        """
        target = name_of(path)
        if since is not None:
            if not isinstance(since, Members):
                raise InvalidType(f"since: expected a collection or a state of one, got {told(since)}")
            return self._view().engine.write_increment(target, since._view().engine)
        if is_uri(target) and not is_uri(self._where):
            raise Unimplemented(f"{target}: `cairn backup` copies a collection of this machine to an object store")
        self._view().engine.copy_to(target)

    @property
    def number(self) -> int:
        """The number of the commit. Each has that of the one before, plus one. Stores of python-blosc2 have 0."""
        return self._view().engine.number()

    def _title(self) -> str:
        count = len(self)
        return f"{count} member{'' if count == 1 else 's'}, commit {self.number}"


class CollectionSnapshot(Immutable[State], Members):
    """One state of all members. It reads the same whatever is committed later."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<cairn.CollectionSnapshot {self._where!r}, {self._title()}>"


@members_raise_ours
class Collection(Opened[State], Members):
    """A directory of frames, its members, which change together.

    A collection shows the state that it saw last. `refresh` looks for a newer one. A collection
    sees its own commits at once. Threads may share it.
    """

    __slots__ = ("_mode", "_options", "_wait")

    _kind = "collection"

    def __init__(self, engine: _engine.Collection, path: str, mode: str, opened_with: dict[str, Any]):
        super().__init__(engine, path, State(engine.snapshot(), path))
        self._mode = mode
        self._options = opened_with
        self._wait = options.milliseconds(opened_with["wait"])  # for another writer

    # Two that are open are equal if they are the same object, whatever they show.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _view(self) -> State:
        return self._shown()

    @property
    def _where(self) -> str:
        return str(self._path)

    def _seen(self, engine: _engine.CollectionSnapshot) -> State:
        return State(engine, str(self._path))

    @property
    def path(self) -> str:
        """The path of the directory."""
        return str(self._path)

    @property
    def mode(self) -> str:
        """"r", or "r+" if the collection can be changed."""
        return self._mode

    @property
    def has_ledger(self) -> bool:
        """False for a store of python-blosc2. It has no commits: whoever changes it changes what is shown."""
        return bool(self._engine.has_ledger())

    def snapshot(self) -> CollectionSnapshot:
        """Returns the state that is shown now, which stays as it is."""
        return CollectionSnapshot(self._view())

    def refresh(self) -> bool:
        """Shows the newest commit, and returns True if there was a newer one. Never waits for a writer."""
        self._view()
        self._engine.refresh()
        return self._go_on()

    def keys(self) -> KeysView[str]:
        """The names of the members of the state that is shown now."""
        return self.snapshot().keys()

    def values(self) -> ValuesView[Snapshot]:
        """The members of the state that is shown now."""
        return self.snapshot().values()

    def items(self) -> ItemsView[str, Snapshot]:
        """The names and members of the state that is shown now."""
        return self.snapshot().items()

    def history(self) -> list[Commit]:
        """The commits that are kept. The oldest comes first, and tells nothing but its number.

        A collection keeps as many as its writer has said by `keep_commits`, at first none but the newest.
        The newest is listed also if it changed no content, as the commit that ends a writer.
        """
        self._view()
        return [Commit(*commit) for commit in self._engine.history()]

    def at(self, number: int) -> CollectionSnapshot:
        """Returns the state after the commit of that `number`. Raises `NotFound` if it is not kept.

        The number of a commit that changed no content leads to the commit before.
        """
        self._view()
        number = options.integer(number, "number", 0, 2**63 - 1)
        return CollectionSnapshot(self._seen(self._engine.open_commit(number)))

    def restore(self, increment: Path, *, wait: Optional[float] = None) -> bool:
        """Brings a copy up to date with an increment, in one commit.

        Returns False if the collection has the content of the increment already, so an interrupted
        restore can be repeated.

        increment
            The file that `backup` has made with `since`. The collection has the content that this
            state had. Otherwise the call raises `FailedPrecondition`.
        wait
            The number of seconds to wait for another writer, as in `writer`.
        """
        self._view()
        if self._mode == "r":
            raise ReadOnly(f"{self._where}: opened for reading; open it with mode 'r+'")
        opened = _engine_of(name_of(increment), "r", self._options)
        milliseconds = self._wait if wait is None else options.milliseconds(wait)
        applied = bool(self._engine.apply_increment(opened.snapshot(), milliseconds))
        self._committed(None)
        return applied

    def writer(
        self, *, wait: Optional[float] = None, keep_commits: Optional[int] = None, shared: bool = False
    ) -> CollectionWriter:
        """Opens the writer of the collection. A collection has one writer at a time, over all processes.

        Use it as a context manager, so that many edits become one commit.

        wait
            The number of seconds to wait for another writer. After it, the call raises
            `Unavailable`. Signals are handled meanwhile. The default is the `wait` that the
            collection was opened with.
        keep_commits
            The number of commits before the newest that stay readable; see `history`. The
            collection remembers it. Commits that change no content, as the end of a writer may
            make them, do not count.
        shared
            Lets other writers that share the collection write it at the same time. Each holds the
            members that it edits, removes or copies until its commit or rollback: what needs a
            member of another one waits, too. A commit raises `Aborted` if another writer has added
            a member of the same name.
        """
        self._view()
        if self._mode == "r":
            raise ReadOnly(f"{self._where}: opened for reading; open it with mode 'r+'")
        kept = None if keep_commits is None else options.integer(keep_commits, "keep_commits", 0, 2**63 - 1)
        engine = self._engine.open_writer(self._wait if wait is None else options.milliseconds(wait), kept, shared)
        return CollectionWriter(engine, self._committed, self._where)

    def _committed(self, number: Optional[int]) -> CollectionSnapshot:
        """Returns the state of a commit that was made here, or of a later one, and shows it."""
        seen = self._engine.snapshot()
        if number is None or seen.number() < number:  # in an object store the writer has shown it
            seen = self._engine.refresh()
        committed = self._seen(seen)
        self._go_on()
        return CollectionSnapshot(committed)

    def __reduce__(self) -> Any:
        return _reopened, (self._path, self._mode, self._options)

    def __repr__(self) -> str:
        if self._state is None:
            return f"<cairn.Collection {self._path!r}, closed>"
        return f"<cairn.Collection {self._path!r}, mode {self._mode!r}, {self._title()}>"


@raises_ours
def open_collection(
    path: Path,
    mode: str = "r",
    *,
    mmap: bool = True,
    verify: str = "first",
    threads: int = 1,
    cache_memory: int = 8 << 20,
    limits: Limits = Limits(),
    wait: float = 0.0,
) -> Collection:
    """Opens a collection, or makes one. Opens a store of python-blosc2 for reading.

    path
        A directory. Its name ends with ".b2d" where python-blosc2 is to know it. A store of
        python-blosc2 is such a directory, or a file: one that is packed (".b2z"), or an
        `EmbedStore` (".b2e"). Its `backup` is a collection.
    mode
        "r" opens the collection for reading, and "r+" also for changing it. "a" is "r+", and makes
        an empty one if there is none. "w" makes one without members, and removes those of one that
        exists, and the attributes of its groups, in one commit. "x" makes it, and raises `AlreadyExists` if there is one.
    wait
        The number of seconds that `writer` waits for another writer if it does not say it itself.

    The other arguments are those of `cairn.open`, for each member:

    mmap
        Reads through a memory map. False reads by system calls, which copy.
    verify
        When fingerprints are checked: at the "first" read of a chunk, "always" or "never".
    threads
        The number of threads that compress and decompress blocks.
    cache_memory
        The maximum number of bytes of decoded data that a member keeps.
    limits
        Bounds on what a file may cost, for files that nobody trusts.
    """
    if mode not in _MODES:
        raise InvalidArgument(f"mode: expected one of {', '.join(_MODES)}, got {mode!r}")
    name = name_of(path)
    opened_with = {
        "mmap": mmap,
        "verify": verify,
        "threads": threads,
        "cache_memory": cache_memory,
        "limits": limits,
        "wait": wait,
    }
    options.milliseconds(wait)  # before anything is made
    engine = _engine_of(name, mode, opened_with)
    if mode != "r" and not engine.has_ledger():
        raise FailedPrecondition(f"{name}: a store of python-blosc2, which is only read; its backup is a collection")
    collection = Collection(engine, name, "r" if mode == "r" else "r+", opened_with)
    if mode == "w":
        with collection.writer() as writer:
            collection.refresh()
            remove_all(writer, collection)
    return collection


def remove_all(writer: CollectionWriter, state: Members) -> None:
    """Stages the removal of all members, and of the attributes of all groups."""
    groups = [attributes_name(group) for group in state.groups()]
    there = [name for name in groups if name in state]  # not each group has attributes
    for member in state.members() + there:
        writer.remove(member)


@dataclass(frozen=True)
class CollectionRecovery:
    """What `recover_collection` has done."""

    ledger_lost: bool
    """Whether there is a new ledger, of what the members hold by themselves."""
    adopted: list[str]
    """The members that are listed as their files are: those that were changed outside, or all."""
    missing: list[str]
    """Members without a file, which are removed."""
    unreadable: list[str]
    """Files that cannot be members, and why. They are left as they are."""


@raises_ours
def recover_collection(path: Path) -> CollectionRecovery:
    """Makes the ledger and the members of a collection agree again.

    Use it after members were restored from different backups, removed or changed by other programs,
    or when the ledger is gone or damaged. Each member is then listed as its file is, which need not
    be one state of all of them.

    path
        The directory of the collection. Nobody may have it open.
    """
    return CollectionRecovery(*_engine.recover_collection(name_of(path)))


def _reopened(path: str, mode: str, opened_with: dict[str, Any]) -> Collection:
    return open_collection(path, mode, **opened_with)


def _engine_of(name: str, mode: str, opened_with: Mapping[str, Any]) -> _engine.Collection:
    def opened(create: bool) -> _engine.Collection:
        return _engine.open_collection(
            name,
            create,
            opened_with["mmap"],
            options.number_of(opened_with["verify"], options.VERIFY_POLICIES, "verify"),
            options.integer(opened_with["cache_memory"], "cache_memory", 0, 2**63 - 1),
            opened_with["limits"]._counts(),
            options.integer(opened_with["threads"], "threads"),
            files_of(name),
        )

    end = time.monotonic() + (_MAKING if is_uri(name) else 0)
    while mode in ("a", "w"):
        try:
            return opened(False)
        except NotFound:
            pass
        except InvalidArgument:
            if not is_uri(name):
                raise
        try:
            return opened(True)
        except AlreadyExists:  # another process has just made it, or makes it, or something else is there
            if time.monotonic() >= end:
                with contextlib.suppress(NotFound):
                    return opened(False)
                raise
        time.sleep(0.05)
    return opened(mode == "x")
