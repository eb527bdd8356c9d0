"""What the stores of one Zarr store's path share: the collection, and the transaction."""

from __future__ import annotations

import collections
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Optional, TypeVar

from ..collection import Collection, open_collection
from ..collection_writer import CollectionWriter
from ..errors import FailedPrecondition, Unavailable
from .keys import Keys
from .states import Committed, Staged

_Result = TypeVar("_Result")
# A change, and what waits for it.
_Change = tuple[Callable[[Staged], None], "Future[None]"]


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
        self._staged: Optional[Staged] = None
        self._waiting: collections.deque[_Change] = collections.deque()
        self._worker: Optional[ThreadPoolExecutor] = None
        self._has_written = False

    def open(self) -> Collection:
        """Opens the collection, and makes one if there is none and the store can be changed."""
        if self._process != os.getpid():  # a forked child has neither the threads nor the writer
            self._begin()
        with self._opening:
            if self._collection is None:
                self._collection = open_collection(self.path, "a" if self._can_write else "r", wait=self.wait)
            return self._collection

    def committed(self) -> Committed:
        """Returns the keys of the newest state alone, which no later commit changes."""
        collection = self.open()
        collection.refresh()
        return Committed(collection.snapshot(), self.path)

    def newest(self) -> Committed:
        """Returns the keys of the newest state. They go on to newer ones."""
        collection = self.open()
        with self._opening:
            collection.refresh()
            state = collection.snapshot()
            if self._newest is None:
                self._newest = Committed(state, self.path)
            elif self._newest.number != state.number:
                self._newest.show(state)
            return self._newest

    @property
    def in_transaction(self) -> bool:
        """True between the begin and the end of a transaction in this process."""
        return self._staged is not None and self._process == os.getpid()

    def read(self, read: Callable[[Keys], _Result], kept: Optional[Committed]) -> _Result:
        """Reads keys: those of the transaction, or those of the state `kept`, or the newest."""
        if self.in_transaction:
            with self._staging:
                if self._staged is not None:
                    return read(self._staged)
        keys = self.newest() if kept is None else kept
        with keys.held():
            return read(keys)

    def change(self, change: Callable[[Staged], None]) -> Optional[Future[None]]:
        """Makes a change in the transaction, or a commit of its own, which is made when the future is done."""
        self.open()
        if self.in_transaction:
            with self._staging:
                if self._staged is not None:
                    change(self._staged)
                    return None
        made: Future[None] = Future()
        self._waiting.append((change, made))
        with self._opening:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, "cairn-zarr")
            self._worker.submit(self._commit_waiting)
        return made

    def _commit_waiting(self) -> None:
        """Commits the changes that wait. Those that come together share a commit."""
        with self._writing:
            made = []
            while self._waiting:
                change, future = self._waiting.popleft()
                if future.set_running_or_notify_cancel():
                    made.append((change, future))
            self._commit_together(made)

    def _commit_together(self, made: list[_Change]) -> None:
        if not made:
            return
        try:
            with self._writer() as writer:
                staged = Staged(self.newest(), writer, self.path)
                for change, _ in made:
                    change(staged)
                self._commit(staged, writer)
        except BaseException as error:  # noqa: BLE001: those who wait raise it
            if len(made) > 1 and not isinstance(error, Unavailable):  # one of them may be to blame, and not the others
                for one in made:
                    self._commit_together([one])
                return
            for _, future in made:
                future.set_exception(error)
        else:
            for _, future in made:
                future.set_result(None)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes all changes of its block one commit, or none after an exception."""
        self.open()
        if self.in_transaction:
            raise FailedPrecondition(f"{self.path}: the store is in a transaction already")
        with self._writing, self._writer() as writer:
            staged = Staged(self.newest(), writer, self.path)
            self._staged = staged
            try:
                yield
            except BaseException:
                with self._staging:
                    self._staged = None
                raise
            with self._staging:
                try:
                    self._commit(staged, writer)
                finally:
                    self._staged = None

    @contextlib.contextmanager
    def _writer(self) -> Iterator[CollectionWriter]:
        writer = self.open().writer()
        try:
            yield writer
        finally:
            writer.release()

    def _commit(self, staged: Staged, writer: CollectionWriter) -> None:
        newest = self.newest()
        staged.finish()
        newest.show(writer.commit(), staged)
        self._has_written = True

    def finish(self) -> None:
        """Leaves complete frames for other libraries, if this session has written and nobody else does."""
        if self._process != os.getpid() or not self._has_written or self.in_transaction:
            return
        with self._writing, contextlib.suppress(Unavailable):
            self.open().writer(wait=0).close()
            self._has_written = False

    def __reduce__(self) -> Any:
        if self.in_transaction:
            raise FailedPrecondition(f"{self.path}: the store is in a transaction, which other processes cannot take part in")
        return Session, (self.path, self._can_write, self.wait)
