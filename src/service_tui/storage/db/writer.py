"""The one writing thread: writes that wait at the same time share one commit.

A work is a function of the connection that neither begins nor ends a transaction, and may be run
again after a rollback; its future is
done only after the COMMIT is on disk. What differs between databases is the writer's `Port`.
"""

import asyncio
import concurrent.futures
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from service_tui.storage.errors import DamagedFileError, StorageBusyError, StorageError

_READ_MAX: Final = 4096

Answer = Callable[[], None]
"""Settles one future; runs on the loop."""


class LoopWaker:
    """Delivers results from the writer's thread to one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._answers: deque[Answer] = deque()
        self._ear, self._rope = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._rope, False)
        loop.add_reader(self._ear, self._on_wake)

    def wake(self, answers: Iterable[Answer]) -> None:
        """Deliver these results on the loop. Called from the writer's thread."""
        self._answers.extend(answers)
        # A full pipe has not been read yet: that wake-up will do for this one too.
        with suppress(BlockingIOError):
            os.write(self._rope, b"!")

    def close(self) -> None:
        """Deliver the remaining results and close the pipe.

        Called from any thread, after the writer ended.
        """
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._take_down)
        else:
            self._take_down()

    def _on_wake(self) -> None:
        os.read(self._ear, _READ_MAX)
        self._give()

    def _give(self) -> None:
        while self._answers:
            self._answers.popleft()()

    def _take_down(self) -> None:
        # A closed loop has forgotten its readers, and no task waits on it.
        with suppress(RuntimeError):
            self._loop.remove_reader(self._ear)
        self._give()
        os.close(self._ear)
        os.close(self._rope)


T = TypeVar("T")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)
C_contra = TypeVar("C_contra", contravariant=True)
Work: TypeAlias = Callable[[C], T]
"""What runs inside a transaction: reads and writes, and returns what the waiter is to know."""


class Port(Protocol[C_co]):
    """One database as its writer uses it. `failures` are what its driver raises."""

    failures: tuple[type[Exception], ...]

    @property
    def connection(self) -> C_co:
        """What works write through."""
        ...

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is open: what it wrote can be taken back in part."""
        ...

    def attempt(self, parts: Iterator[Sequence[Callable[[C_co], object]]]) -> bool:
        """Begin a transaction and run all works in it, each part in as few round trips as can be.

        Returns:
            False if that is not possible, or if anything was refused: then no transaction is open,
            nothing was written, and the works are to be run one by one, each with its own error.
        """
        ...

    def begin(self) -> None:
        """Begin a transaction, or refuse by a `StorageError` that ends the writer."""
        ...

    def execute(self, sql: str) -> None:
        """Run COMMIT, ROLLBACK or a statement of a savepoint."""
        ...

    def confirm(self) -> None:
        """Refuse by an error, after a commit, where it may have gone nowhere."""
        ...

    def is_final(self, error: Exception, *, is_committing: bool) -> bool:
        """True if what is on disk is known only by opening it again."""
        ...

    def named(self, error: Exception) -> StorageError:
        """The error as one of ours, with a plain sentence."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


WAITING_MAX: Final = 4096
"""Works that may wait; more means that the disk has stopped answering."""

GROUP_MAX: Final = 256
"""Works in one transaction, so that the first of a crowd does not wait for the last."""


class _Waiting(Protocol[C_contra]):
    """A work in the queue, whatever it returns."""

    waker: LoopWaker | None
    error: Exception | None

    def run(self, connection: C_contra) -> None: ...

    def settle(self) -> None: ...


class _Job(Generic[C, T]):
    """A work with the future of its waiter. `waker` is None where a thread waits."""

    __slots__ = ("_future", "_result", "_work", "error", "waker")

    def __init__(
        self,
        work: Work[C, T],
        future: "asyncio.Future[T] | concurrent.futures.Future[T]",
        waker: LoopWaker | None,
    ) -> None:
        self.waker = waker
        self.error: Exception | None = None
        self._work = work
        self._future = future
        self._result: T

    def run(self, connection: C) -> None:
        self._result = self._work(connection)

    def settle(self) -> None:
        # A waiter that gave up gets no result; the work is done all the same.
        if self._future.cancelled():
            return
        if self.error is None:
            self._future.set_result(self._result)
        else:
            self._future.set_exception(self.error)


class Writer(Generic[C]):
    """Runs works on its connection, one group after the other, in the order of their coming."""

    def __init__(self, port: Port[C]) -> None:
        self._port = port
        self._queue: SimpleQueue[_Waiting[C] | None] = SimpleQueue()
        self._failure: Exception | None = None
        self.met_damage = False
        self._is_closed = False
        self._wakers: dict[asyncio.AbstractEventLoop, LoopWaker] = {}
        self._thread = Thread(target=self._run, name="storage-writer", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> StorageError | None:
        """Reason why this writer accepts nothing more; None while it works."""
        return None if self._failure is None else self._port.named(self._failure)

    def write(self, work: Work[C, T]) -> asyncio.Future[T]:
        """Queue a work from the event loop.

        Refused at once by `StorageError` when the writer is closed or has failed, and by
        `StorageBusyError` when too many works wait.

        Returns:
            What the work returned, as a future that is done once it is on disk. To stop waiting
            does not take the work back.
        """
        self._refuse()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Job(work, future, self._wakers.get(loop) or self._add_waker(loop)))
        return future

    def submit(self, work: Work[C, T]) -> concurrent.futures.Future[T]:
        """Queue a work from any thread; refused as `write` refuses.

        Returns:
            What the work returned, once it is on disk. It cannot be cancelled.
        """
        self._refuse()
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        self._queue.put(_Job(work, future, None))
        return future

    def close(self) -> None:
        """Write what waits, then close the connection. A second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._queue.put(None)
        self._thread.join()
        self._port.close()
        for waker in self._wakers.values():
            waker.close()

    def _add_waker(self, loop: asyncio.AbstractEventLoop) -> LoopWaker:
        waker = self._wakers[loop] = LoopWaker(loop)
        return waker

    def _refuse(self) -> None:
        if self._failure is not None:
            raise self._port.named(self._failure)
        if self._is_closed:
            raise StorageError("the database is closed")
        if self._queue.qsize() >= WAITING_MAX:
            raise StorageBusyError(f"{WAITING_MAX} writes wait for the disk; try again")

    def _run(self) -> None:
        queue = self._queue
        while (job := queue.get()) is not None:
            group = [job]
            self._join(group)
            self._write(group)
            _settle(group)

    def _join(self, group: list[_Waiting[C]]) -> None:
        """Take what waits into a group."""
        while len(group) < GROUP_MAX and not self._queue.empty():
            job = self._queue.get_nowait()
            if job is None:
                # Closing: this group is the last one.
                self._queue.put(None)
                break
            group.append(job)

    def _parts(self, group: list[_Waiting[C]]) -> Iterator[Sequence[Callable[[C], object]]]:
        """The works of a group, then of those that joined it meanwhile: one commit for both.

        The first work of a crowd would else have a commit of its own, for which the crowd waits.

        Yields:
            Works.
        """
        yield [job.run for job in group]
        count = len(group)
        self._join(group)
        if len(group) > count:
            yield [job.run for job in group[count:]]

    def _write(self, group: list[_Waiting[C]]) -> None:
        """Run one transaction; True if a damaged page was met in it."""
        self._carry_out(group)
        self.met_damage |= any(isinstance(job.error, DamagedFileError) for job in group)

    def _carry_out(self, group: list[_Waiting[C]]) -> None:
        """One transaction: all of the group, but for works that fail by themselves."""
        if self._failure is not None:
            self._fail(group, self._failure)
            return
        port = self._port
        is_committing = False
        try:
            if not port.attempt(self._parts(group)):
                port.begin()
                self._run_group(group)
            is_committing = any(job.error is None for job in group)
            port.execute("COMMIT" if is_committing else "ROLLBACK")
            # After the commit, so that whatever is acknowledged was in the file under its name.
            port.confirm()
        except (StorageError, OSError) as error:
            self._fail(group, error)
            self._failure = error
            self._roll_back()
        except port.failures as error:
            self._fail(group, error)
            self._roll_back()
            # Before the COMMIT, and after a busy one, nothing is in doubt. After any other, what
            # is on disk is known only by opening it again.
            if port.is_final(error, is_committing=is_committing):
                self._failure = error

    def _roll_back(self) -> None:
        with suppress(*self._port.failures):
            if self._port.in_transaction:
                self._port.execute("ROLLBACK")

    def _run_group(self, group: list[_Waiting[C]]) -> None:
        """Run each work; who fails takes back only its own rows.

        An error of the driver leaves only when the database has rolled back everything, as it may
        on a full disk.
        """
        if len(group) == 1:
            # The plain path: no savepoint, as there are no other rows to protect.
            self._run_one(group[0])
            return
        for job in group:
            self._port.execute("SAVEPOINT work")
            if not self._run_one(job):
                self._port.execute("ROLLBACK TO work")
            self._port.execute("RELEASE work")

    def _run_one(self, job: _Waiting[C]) -> bool:
        """True if the work succeeded; its exception stays with its waiter."""
        try:
            job.run(self._port.connection)
        except self._port.failures as error:
            if not self._port.in_transaction:
                raise
            job.error = self._port.named(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to who waits
            job.error = error
        return job.error is None

    def _fail(self, group: list[_Waiting[C]], error: Exception) -> None:
        for job in group:
            job.error = job.error or self._port.named(error)


def _settle(group: list[_Waiting[C]]) -> None:
    """Deliver every result, waking each event loop once."""
    answers: dict[LoopWaker, list[Answer]] = {}
    for job in group:
        if job.waker is None:
            job.settle()
        else:
            answers.setdefault(job.waker, []).append(job.settle)
    for waker, of_loop in answers.items():
        waker.wake(of_loop)
