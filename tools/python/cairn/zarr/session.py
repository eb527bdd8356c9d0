"""What the stores of one Zarr store's path share: the collection, and the transaction."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Optional, TypeVar

from ..attempts import repeat
from ..collection import Collection, CollectionSnapshot, open_collection
from ..collection_writer import CollectionWriter
from ..errors import FailedPrecondition, Unavailable
from ..paths import is_uri
from .keys import Keys
from .states import Committed, Staged

_Result = TypeVar("_Result")
# A change, and what waits for it.
_Change = tuple[Callable[[Staged], None], "Future[None]"]

# Seconds. A change that comes so soon after a commit is one of a run, whose commits share a writer.
_RUN = 0.005
# The same of transactions, and how long such a run keeps the writer for the next one.
_RUN_OF_TRANSACTIONS = 1.0
_KEPT = 0.1


class _Transaction:
    """A transaction of a session, which tasks that were begun in it may outlive."""

    __slots__ = ("session",)

    def __init__(self, session: Session):
        self.session = weakref.ref(session)  # threads remember transactions for longer than sessions last


# The transactions that a thread or a task is in, and those whose rollback it has seen. zarr makes
# changes in tasks, which have the variables of the thread that began them.
_begun: contextvars.ContextVar[tuple[_Transaction, ...]] = contextvars.ContextVar("cairn_begun", default=())
_undone: contextvars.ContextVar[tuple[_Transaction, ...]] = contextvars.ContextVar("cairn_undone", default=())


class Session:
    """Reads and changes the keys of a store. Threads may share it."""

    def __init__(self, path: str, can_write: bool, wait: float):
        self.path = path
        self.wait = wait
        self._can_write = can_write
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._opening = threading.RLock()
        self._writing = threading.Lock()  # of who opens the writer
        self._staging = threading.RLock()  # of the transaction
        self._collection: Optional[Collection] = None
        self._newest: Optional[Committed] = None
        self._is_base = False  # whether changes are staged on that, which must stay as it is meanwhile
        self._beside: Optional[Committed] = None  # what is read then, if others have committed
        self._staged: Optional[Staged] = None
        self._transaction: Optional[_Transaction] = None  # the last one
        self._is_undone = False  # whether that was rolled back, and its thread has changed nothing since
        self._looks: dict[asyncio.AbstractEventLoop, asyncio.Future[None]] = {}  # that have not begun
        self._waiting: collections.deque[_Change] = collections.deque()
        self._worker: Optional[ThreadPoolExecutor] = None
        self._wakes = threading.Event()  # the worker that has a writer, while no change waits
        self._kept: Optional[CollectionWriter] = None  # during a run of changes
        self._last_commit = -_RUN
        self._last_transaction = -_RUN_OF_TRANSACTIONS  # when it ended
        self._claims = 0  # of threads that want the writer, and for which a run ends
        self._has_written = False

    def open(self) -> Collection:
        """Opens the collection, and makes one if there is none and the store can be changed."""
        if self._process != os.getpid():  # a forked child has neither the threads nor the writer
            self._begin()
        with self._opening:
            if self._collection is None:
                collection = open_collection(self.path, "a" if self._can_write else "r", wait=self.wait)
                if not collection.has_ledger:
                    raise FailedPrecondition(f"{self.path}: a store of python-blosc2, which has no keys of Zarr")
                self._collection = collection
            return self._collection

    def committed(self) -> Committed:
        """Returns the keys of the newest state alone, which no later commit changes."""
        collection = self.open()
        collection.refresh()
        return Committed(collection.snapshot(), self.path)

    def newest(self, looks: bool = True) -> Committed:
        """Returns the keys of the newest state, or of the newest that was seen. They go on to newer ones."""
        collection = self.open()
        with self._opening:
            if looks:
                collection.refresh()
            return self._showing(collection.snapshot())

    def _showing(self, state: CollectionSnapshot) -> Committed:
        """Returns the keys of a state. If changes are being staged, those they build on do not go on to it."""
        if self._newest is None:
            self._newest = Committed(state, self.path)
        if self._newest.number == state.number:
            return self._newest
        if not self._is_base:
            self._newest.show(state)
            return self._newest
        if self._beside is None:
            self._beside = Committed(state, self.path)
        elif self._beside.number != state.number:
            self._beside.show(state)
        return self._beside

    @property
    def in_transaction(self) -> bool:
        """True between the begin and the end of a transaction in this process."""
        return self._staged is not None and self._process == os.getpid()

    async def look(self) -> bool:
        """Looks for a newer state, once for all tasks of a loop that ask for it before it begins.

        Each of them then reads at least what was committed when it asked. zarr reads several keys at
        the same time, and in an object store each look is a request. Returns False without a look in
        a transaction, whose readers need none.
        """
        if self.in_transaction:
            return False
        loop = asyncio.get_running_loop()
        begun = self._looks.get(loop)
        if begun is None:
            begun = self._looks[loop] = loop.create_future()
            loop.call_soon(self._look_in, loop, begun)
        await asyncio.shield(begun)  # others wait for it, too
        return True

    def _look_in(self, loop: asyncio.AbstractEventLoop, begun: asyncio.Future[None]) -> None:
        del self._looks[loop]  # whoever asks from here on may miss what is committed meanwhile
        try:
            self.newest()
        except Exception as error:  # noqa: BLE001: those who wait raise it
            begun.set_exception(error)
        except BaseException:
            begun.cancel()
            raise
        else:
            begun.set_result(None)

    def read(self, read: Callable[[Keys], _Result], kept: Optional[Committed], has_looked: bool = False) -> _Result:
        """Reads keys: those of the state `kept`, or those of the transaction, or the newest, after `look` the one that it saw."""
        if kept is None and self.in_transaction:
            with self._staging:
                if self._staged is not None:
                    return read(self._staged)
        keys = self.newest(not has_looked) if kept is None else kept
        with keys.held():
            return read(keys)

    def change(self, change: Callable[[Staged], None]) -> Optional[Future[None]]:
        """Makes a change in the transaction, or a commit of its own, which is made when the future is done."""
        self.open()
        if self.in_transaction:
            with self._staging:
                if self._staged is not None:
                    self._check_not_late()
                    change(self._staged)
                    return None
        self._check_not_late()
        made: Future[None] = Future()
        self._waiting.append((change, made))
        self._wakes.set()
        self._submit(self._commit_waiting)
        return made

    def _check_not_late(self) -> None:
        """Refuses a change that was begun in a transaction which was rolled back.

        zarr goes on with the chunks of an array after an exception, and so does Dask. A change of a
        task that was begun in an earlier transaction is late. After a rollback, so is one that may
        come from anywhere, until the thread that has seen the rollback makes a change itself.
        """
        begun = [one for one in _begun.get() if one.session() is self]
        if begun:
            is_late = self._is_undone or begun[-1] is not self._transaction
        else:
            is_late = self._is_undone and self._transaction not in _undone.get()
            self._is_undone = is_late
        if is_late:
            raise FailedPrecondition(
                f"{self.path}: the change may belong to a transaction that was rolled back or is over; "
                "the thread that began that must make the next change, or any thread a new transaction"
            )

    def _commit_waiting(self) -> None:
        """Commits the changes that wait. Those that come together share a commit, and a run of them a writer."""
        with self._writing:
            try:
                while made := self._taken():
                    is_run = time.monotonic() - self._last_commit < _RUN
                    self._commit_together(made, is_run)
                    self._last_commit = time.monotonic()
                    if self._kept is None or self._claims or self._kept.has_waiters():
                        break
                    self._wakes.wait(_RUN)
            finally:
                self._release()

    def _taken(self) -> list[_Change]:
        self._wakes.clear()
        made = []
        while self._waiting:
            change, future = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                made.append((change, future))
        return made

    def _commit_together(self, made: list[_Change], is_run: bool) -> None:
        try:
            self._commit_at_last([change for change, _ in made], is_run)
        except BaseException as error:  # noqa: BLE001: those who wait raise it
            if len(made) > 1 and not isinstance(error, Unavailable):  # one of them may be to blame, and not the others
                for one in made:
                    self._commit_together([one], is_run)
                return
            for _, future in made:
                future.set_exception(error)
        else:
            for _, future in made:
                future.set_result(None)

    def _commit_at_last(self, changes: list[Callable[[Staged], None]], is_run: bool) -> None:
        """Commits changes, and makes them again where another writer's commit came before.

        In an object store writers do not wait for each other, and two that set new keys of one array
        change the same page. A change means the same on top of any commit, so it can be repeated.
        """

        def attempt() -> None:
            with self._changing(is_run) as staged:
                for change in changes:
                    change(staged)
                self._commit(staged)

        repeat(attempt, self.wait)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes all changes of its block one commit, or none after an exception."""
        self.open()
        if self.in_transaction:
            raise FailedPrecondition(f"{self.path}: the store is in a transaction already")
        is_run = time.monotonic() - self._last_transaction < _RUN_OF_TRANSACTIONS
        keeps = is_run or is_uri(self.path)  # in an object store the writer keeps nobody waiting
        with self._turn(), self._changing(keeps) as staged:
            transaction = _Transaction(self)
            before = _begun.get()
            with self._staging:
                self._staged, self._transaction, self._is_undone = staged, transaction, False
            _begun.set((*before, transaction))
            is_made = False
            try:
                yield
                with self._staging:
                    self._commit(staged)
                is_made = True
            finally:
                with self._staging:
                    self._staged, self._is_undone = None, not is_made
                _begun.set(before)
                if not is_made:
                    others = (one for one in _undone.get() if one.session() not in (None, self))
                    _undone.set((*others, transaction))
                self._last_transaction = time.monotonic()
        if keeps:
            self._submit(self._watch)

    def _watch(self) -> None:
        """Keeps the writer for the next transaction, until others want it or none comes."""
        with self._writing:
            end = time.monotonic() + _KEPT
            while self._kept is not None:
                self._wakes.clear()
                if self._claims or self._waiting:
                    return  # the next one in this process takes the writer over
                if time.monotonic() >= end or self._kept.has_waiters():
                    break
                self._wakes.wait(_RUN)
            self._release()

    def _submit(self, work: Callable[[], None]) -> None:
        with self._opening:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, "cairn-zarr")
            self._worker.submit(work)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Ends a run of changes, and has the turn to write."""
        with self._opening:
            self._claims += 1
        self._wakes.set()
        try:
            self._writing.acquire()
        except BaseException:
            self._submit(self._watch)  # which may have left the writer to this thread
            raise
        finally:
            with self._opening:
                self._claims -= 1
        try:
            yield
        finally:
            self._writing.release()

    @contextlib.contextmanager
    def _changing(self, keeps: bool) -> Iterator[Staged]:
        """Has the writer and stages changes of the newest state.

        Keeps the writer for the next change if that is said, nothing fails and nobody waits.
        """
        try:
            staged = self._begin_staging()
            try:
                yield staged
            finally:
                with self._opening:
                    self._is_base, self._beside = False, None
        except BaseException:
            self._release()
            raise
        # Those that wait are asked for here, since the next transaction may take the writer over before
        # _watch looks. Who opens it again comes after them.
        if not keeps or staged.writer.has_waiters():
            self._release()

    def _begin_staging(self) -> Staged:
        """Opens the writer, unless it is kept, and begins with the state that its edits build on.

        In an object store others commit at any time. If the tables of keys were those of another
        state, a value would be appended to another place than its page says. The writer tells its
        state by a commit of nothing, which takes no request.
        """
        collection = self.open()
        is_shared = is_uri(self.path)
        if is_shared and self._kept is not None:
            collection.refresh()
        while True:
            if self._kept is None:
                self._kept = collection.writer()
            writer = self._kept
            with self._opening:
                state = writer.commit() if is_shared else None
                if state is None or state.number == writer._number:
                    base = self.newest() if state is None else self._showing(state)
                    self._is_base = True
                    return Staged(base, writer, self.path)
            self._release()  # the collection has shown a later commit, of another writer

    def _release(self) -> None:
        writer, self._kept = self._kept, None
        if writer is not None:
            writer.release()

    def _commit(self, staged: Staged) -> None:
        staged.finish()
        staged.base.show(staged.writer.commit(), staged)
        self._has_written = True

    def finish(self) -> None:
        """Leaves complete frames for other libraries, if this session has written and nobody else does."""
        if self._process != os.getpid() or not self._has_written or self.in_transaction:
            return
        with self._turn(), contextlib.suppress(Unavailable):
            try:
                if self._kept is None:
                    self._kept = self.open().writer(wait=0)
                self._kept.close()
                self._has_written = False
            finally:
                self._release()

    def __reduce__(self) -> Any:
        if self.in_transaction:
            raise FailedPrecondition(f"{self.path}: the store is in a transaction, which other processes cannot take part in")
        return Session, (self.path, self._can_write, self.wait)
