"""Runs lock operations of the engine in threads, and pauses each operation before every storage access."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from nbcc.engine.errors import StorageError
from nbcc.engine.storage import Entry, NotFound, StorageWrapper
from nbcc.engine.storage.conditional import ConditionalObject, Version
from nbcc.simulator.lockstep.control.storage import MemoryStorage

T = TypeVar("T")
PATIENCE_SECONDS: Final = 10.0


class Stopped(BaseException):
    """Ends the thread of a contender that has crashed."""


class Stepper:
    """Runs one contender's lock operation, one storage access at a time.

    `parked` names the access that the paused operation will execute next, or is '' if no operation is in progress.
    `content` is the data that the access will write. `fault` is the fault of the next access. With ``lose``, the store
    executes the access, but its answer is lost. With ``drop``, the store does not execute the access. In both cases,
    the access raises an error or, if `refuses` is True, reports that its condition failed.
    """

    def __init__(self) -> None:
        self.parked, self.content, self.fault, self.refuses = "", b"", "", False
        self.result: object = None
        self.error: BaseException | None = None
        self.dead = False
        self._thread: threading.Thread | None = None
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)

    def start(self, operation: Callable[[], object]) -> None:
        """Start an operation, and run it up to its first storage access."""
        assert not self.parked, "the last operation has ended"
        self.result, self.error = None, None
        self._thread = threading.Thread(target=self._main, args=(operation,), daemon=True)
        self._thread.start()
        self._wait()

    def advance(self, fault: str = "", refuses: bool = False) -> None:
        """Execute the pending access, and run the operation up to its next access or its end."""
        assert self.parked, "an operation is under way"
        self.fault, self.refuses = fault, refuses
        self._go.release()
        self._wait()

    def crash(self) -> None:
        """Simulate a crash: end the current operation, and execute no further access of the contender."""
        self.dead = True
        if self.parked:
            self._go.release()
            self._wait()

    def access(self, name: str, execute: Callable[[], T], refusal: T, content: bytes = b"") -> T:
        """Wait until `advance` is called, then execute the access or simulate the pending fault."""
        if threading.current_thread() is not self._thread:
            raise Stopped  # a renewal by the lock's own thread: the runs of the model contain every renewal
        if self.dead:
            raise Stopped
        self.parked, self.content = name, content
        self._back.release()
        self._go.acquire()
        self.parked = ""
        if self.dead:
            raise Stopped
        fault, self.fault = self.fault, ""
        done = execute() if fault != "drop" else refusal
        if not fault:
            return done
        if self.refuses:
            return refusal
        raise StorageError("reach the store", "no answer arrived", "try again", operation="put", unsure=True)

    def _wait(self) -> None:
        if not self._back.acquire(timeout=PATIENCE_SECONDS):
            raise TimeoutError(f"an operation of a lock was silent for {PATIENCE_SECONDS:g} s")

    def _main(self, operation: Callable[[], object]) -> None:
        try:
            self.result = operation()
        except (Exception, Stopped) as error:
            self.error = error
        finally:
            self.parked = ""
            self._back.release()


class MemoryObject:
    """An in-memory object that is updated by compare-and-swap. The version tag is a counter; like an ETag, it is
    different after every put.
    """

    def __init__(self) -> None:
        self.version: Version | None = None
        self._puts = 0

    def read(self) -> Version | None:
        """Return the current version of the object, or None if it does not exist."""
        return self.version

    def write(self, data: bytes, known: Version | None) -> Version | None:
        """Replace the object if `known` is its current version; otherwise, return None."""
        if (self.version and self.version.mark) != (known and known.mark):
            return None
        self._puts += 1
        self.version = Version(data, self._puts)
        return self.version


class SteppedObject:
    """Wraps the lease object for one contender, which pauses before each access."""

    def __init__(self, inner: ConditionalObject, stepper: Stepper) -> None:
        self._inner, self._stepper = inner, stepper

    def read(self) -> Version | None:
        return self._stepper.access("read", self._inner.read, None)

    def write(self, data: bytes, known: Version | None) -> Version | None:
        return self._stepper.access("write", lambda: self._inner.write(data, known), None, data)


class SteppedStorage(StorageWrapper):
    """Wraps the storage of numbered lock files for one contender, which pauses before each access except deletions."""

    def __init__(self, inner: MemoryStorage, stepper: Stepper) -> None:
        super().__init__(inner)
        self._stepper = stepper

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create the file if it is absent. The suffix of the file is the name of this access in `Stepper.parked`."""
        name = path.rpartition(".")[2]
        return self._stepper.access(name, lambda: self.inner.put_if_absent(path, data), False, data)

    def put(self, path: str, data: bytes) -> None:
        """Create or replace a heartbeat file."""
        self._stepper.access("heartbeat", lambda: self.inner.put(path, data), None, data)

    def get(self, path: str) -> bytes:
        def content() -> bytes | None:
            try:
                return self.inner.get(path)
            except NotFound:
                return None

        found = self._stepper.access("get", content, None)
        if found is None:
            raise NotFound(path)
        return found

    def list(self, prefix: str) -> list[Entry]:
        return self._stepper.access("list", lambda: self.inner.list(prefix), [])
