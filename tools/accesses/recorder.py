"""Records the storage requests of one operation of the real engine, with the round in which each request is sent.

Requests that the engine sends at the same time share a round. A request that waits for an answer is in a later round.
The recorder runs such requests one after the other, so that a busy machine records the same rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar
from unittest.mock import patch

from obstore.store import MemoryStore

from nbcc.engine.storage import ByteRange, Entry, LocalStorage, ObjectStorage, ahead
from nbcc.simulator.lockstep.control.calls import kind_of
from nbcc.simulator.lockstep.control.clock import instant_of
from nbcc.simulator.lockstep.control.storage import MemoryStorage

T = TypeVar("T")
_NUMBERS: Final = count()

VERBS: Final = {"create": "put", "write": "put", "replace": "put", "read": "get"}
"""An operation of an object store -> the verb by which it is billed, where the two differ."""


class Request(NamedTuple):
    """One request. `verb` is put, get, list or delete. `kind` is the kind of the requested object."""

    round: int
    verb: str
    kind: str


class Stage:
    """The requests between two changes of the lock. `takes` is the number of times that the clock is read in the stage.
    """

    def __init__(self, locked: bool) -> None:
        self.locked = locked
        self.requests: list[Request] = []
        self.takes = 0

    @property
    def rounds(self) -> int:
        """The number of rounds, which is the number of requests in sequence."""
        return len({request.round for request in self.requests})


class Recorder:
    """The stages of one operation. The storage, lock and clock of the operation report to the recorder."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self._next = 0
        self._is_recording = False

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Record only the requests that are sent within the block."""
        self.stages, self._next, self._is_recording = [Stage(False)], 0, True
        try:
            with patch.object(ahead, "in_parallel", self._together), patch.object(ahead, "ListedAhead", self._listed):
                yield
        finally:
            self._is_recording = False
            self.stages = [stage for stage in self.stages if stage.requests or stage.takes]

    def request(self, verb: str, path: str) -> None:
        """Record a request in the round after the previous request."""
        if self._is_recording:
            self.stages[-1].requests.append(Request(self._next, VERBS.get(verb, verb), object_kind(path)))
            self._next += 1

    def take(self) -> None:
        """Record that the clock is read."""
        if self._is_recording:
            self.stages[-1].takes += 1

    def lock(self, locked: bool) -> None:
        """Begin a new stage."""
        if self._is_recording:
            self.stages.append(Stage(locked))

    def _together(self, requests: Iterable[Callable[[], T]]) -> list[T]:
        began, last, answers = self._next, self._next, []
        for call in requests:
            self._next = began
            answers.append(call())
            last = max(last, self._next)
        self._next = last
        return answers

    def ahead(self, call: Callable[[], T]) -> T:
        """Return the answer of a request that is sent at the same time as the next one."""
        began = self._next
        answer = call()
        self._next = began
        return answer

    def _listed(self, storage: ObjectStorage, folders: Sequence[str]) -> ObjectStorage:
        keys = [(folder, storage.last_seen(folder)) for folder in folders]
        answers = self._together(partial(storage.list, *key) for key in keys)
        return _Listed(storage, dict(zip(keys, answers, strict=True)), self)


class _Listed(ahead.ListedAhead):
    """An object store with the answers of listings that have ended."""

    def __init__(self, storage: ObjectStorage, answers: dict[tuple[str, str], list[Entry]], recorder: Recorder) -> None:
        vars(self).update(vars(storage))
        self._storage, self._recorder = storage, recorder
        self._listings = {}
        for key, answer in answers.items():
            self._answer(key, answer)

    def list_ahead(self, folder: str) -> None:
        key = (folder, self._storage.last_seen(folder))
        self._answer(key, self._recorder.ahead(partial(self._storage.list, *key)))

    def _answer(self, key: tuple[str, str], answer: list[Entry]) -> None:
        self._listings[key] = Future()
        self._listings[key].set_result(answer)


def object_kind(path: str) -> str:
    """Return the kind of an object in one word, for example `log` or `deltacommit.requested`."""
    for folder, kind in ((".hoodie/.heartbeat", "heartbeat"), (".hoodie/.locks", "lock")):
        if path.startswith(folder):
            return kind
    return kind_of(path)


class RecordedObjects(ObjectStorage):
    """An object store in memory whose requests are recorded. The engine sends independent requests at the same time."""

    def __init__(self, recorder: Recorder, memory: MemoryStore) -> None:
        super().__init__("s3://recorded/table")
        self._recorder, self._memory = recorder, memory
        # The engine copies the attributes of an object store into another object, whose requests count, too.
        vars(self)["_ask"] = self._recorded
        vars(self)["_reach"] = lambda: self._memory

    def _recorded(self, operation: str, path: str, request: Callable[[Any], Any]) -> Any:
        self._recorder.request(operation, path)
        return ObjectStorage._ask(self, operation, path, request)


class RecordedFiles(LocalStorage):
    """The files of a local table in memory. The requests for these files are recorded one after the other.

    The engine reads a local table in other ways than an object store: it reads each commit that it lists for the first
    time, for example. Each actor has a URL of its own, by which the engine remembers what it has read.
    """

    def __init__(self, recorder: Recorder, memory: MemoryStorage) -> None:
        super().__init__(f"memory://table-{next(_NUMBERS)}")
        self._recorder, self._memory = recorder, memory

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self._recorder.request("put", path)
        return self._memory.put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        self._recorder.request("put", path)
        self._memory.put(path, data)

    def get(self, path: str) -> bytes:
        self._recorder.request("get", path)
        return self._memory.get(path)

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        data = self.get(path)
        return [data[start:end] for start, end in ranges]

    def list(self, prefix: str) -> list[Entry]:
        self._recorder.request("list", prefix)
        return self._memory.list(prefix)

    def paths(self, prefix: str) -> Sequence[str]:
        return [entry.path for entry in self.list(prefix)]

    def delete(self, path: str) -> None:
        self._recorder.request("delete", path)
        self._memory.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.delete(path)


class RecordedLock:
    """A lock without requests, which records when it is held."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def acquire(self) -> None:
        self._recorder.lock(True)

    def release(self) -> None:
        self._recorder.lock(False)


class RecordedClock:
    """A clock without waits, which records each time that an operation takes. `now` is the common time of all actors.
    """

    def __init__(self, recorder: Recorder, now: list[int]) -> None:
        self._recorder, self._now = recorder, now

    def take(self) -> str:
        self._recorder.take()
        self._now[0] += 1
        return instant_of(self._now[0])

    def read(self) -> str:
        return self.take()

    def take_unlocked(self) -> str:
        return self.take()

    def not_before(self, instant: str) -> None:
        """Do nothing: the recorded actors share one time."""

    def pause(self, seconds: float) -> None:
        """Do nothing: no other actor goes on while one is recorded."""
