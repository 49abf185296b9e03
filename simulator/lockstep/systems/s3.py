"""The engine on a local S3 server as a system under test. Requests fail at random, and the engine must still agree with
the model.

The server is `nbcc.simulator.lockstep.s3`, on 127.0.0.1 in this process. Actors access the server through
`ObjectStorage`; the comparison with the model reads the stored objects directly. A failed request is not a step of the
model. Within one storage call, the engine retries the request, or finds out that only the response was lost.
"""

from __future__ import annotations

import atexit
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from itertools import count
from typing import Any, Final, TypeVar

from nbcc.engine.storage import Entry
from nbcc.engine.storage.object_storage import ObjectStorage
from nbcc.model import Protocol, World
from nbcc.model.mechanisms.decision_log import TOGETHER, DecisionLog

from ..control.harness import Handle, Harness
from ..control.storage import ControlledStorage, MemoryStorage
from ..s3.faults import Fault, Kind
from ..s3.server import Bucket, s3_server
from .announcing import AnnouncingOperation, AnnouncingSystem
from .engine import EngineSystem
from .engine_operation import EngineOperation

T = TypeVar("T")

FAULTS: Final[Mapping[str, tuple[Kind, ...]]] = {
    "PUT": ("lose", "refuse", "conflict", "slow", "drop"),
    "GET": ("slow", "drop"),
    "LIST": ("slow", "drop"),
    "DELETE": ("lose", "slow", "drop"),
}
"""Method of a request -> how the request may fail. Only a conditional put may be executed and answered 412."""

FAULT_ONE_IN: Final = 12
"""One call of an actor to its storage in so many meets a fault."""

PAGES: Final = (1, 3, 1000)
"""The most keys of a page of a listing; each history has one of these sizes."""

_BACKOFF: Final = {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=2), "base": 2}
_RETRIES: Final = {"backoff": _BACKOFF, "max_retries": 10, "retry_timeout": timedelta(seconds=30)}

Choose = Callable[[random.Random, str], Kind | None]
"""Returns the fault of the next request of a method, or None."""

_SERVERS: dict[int, tuple[ExitStack, Bucket]] = {}
_NUMBERS: Final = count(1)


def one_in_some(chance: random.Random, method: str) -> Kind | None:
    """Return a random fault for one in `FAULT_ONE_IN` requests, otherwise None."""
    return chance.choice(FAULTS[method]) if chance.randrange(FAULT_ONE_IN) == 0 else None


def every_answer(chance: random.Random, method: str) -> Kind | None:
    """Return the fault ``lose`` (execute the request, lose the answer) for every put, and None for other requests."""
    return "lose" if method == "PUT" else None


class _Objects(MutableMapping[str, bytes]):
    def __init__(self, bucket: Bucket, folder: str) -> None:
        self._bucket, self._folder = bucket, folder

    def __getitem__(self, path: str) -> bytes:
        return self._bucket.objects[self._folder + path].data

    def __setitem__(self, path: str, data: bytes) -> None:
        self._bucket.put(self._folder + path, data)

    def __delitem__(self, path: str) -> None:
        del self._bucket.objects[self._folder + path]

    def __iter__(self) -> Iterator[str]:
        return (key.removeprefix(self._folder) for key in list(self._bucket.objects) if key.startswith(self._folder))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class BucketView(MemoryStorage):
    """Gives direct access to a folder of the bucket, without requests to the server."""

    def __init__(self, bucket: Bucket, folder: str) -> None:
        super().__init__()
        self.objects = _Objects(bucket, folder)


class S3Storage(MemoryStorage):
    """The actors' storage: a folder of the S3 server's bucket. Each access sends a request to the S3 server. `faults`
    counts the injected faults by the model's action, the HTTP method and the kind of fault.

    Faults depend only on the sequence of storage calls, so that replaying a trace repeats the faults.
    """

    def __init__(self, view: BucketView, remote: ObjectStorage, bucket: Bucket, choose: Choose) -> None:
        super().__init__()
        self.faults: Counter[tuple[str, str]] = Counter()
        self.action = ""
        self.is_new = False  # whether the object of the last conditional put was absent before
        self.deleted = view.deleted
        self._view, self._remote, self._bucket, self._choose = view, remote, bucket, choose
        self._calls = 0

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self.is_new = path not in self._view.objects
        return self._ask("PUT", path, lambda: self._remote.put_if_absent(path, data))

    def put(self, path: str, data: bytes) -> None:
        self._ask("PUT", path, lambda: self._remote.put(path, data), is_conditional=False)

    def get(self, path: str) -> bytes:
        return self._ask("GET", path, lambda: self._remote.get(path))

    def list(self, prefix: str) -> list[Entry]:
        return [entry._replace(modified=0.0) for entry in self._ask("LIST", prefix, lambda: self._remote.list(prefix))]

    def delete(self, path: str) -> None:
        self.delete_all([path])

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            if path in self._view.objects:
                self.deleted[path] = Entry(path, len(self._view.objects[path]))
        if paths:
            self._ask("DELETE", paths[0], lambda: self._remote.delete_all(paths))

    def _ask(self, method: str, path: str, request: Callable[[], T], *, is_conditional: bool = True) -> T:
        self._calls += 1
        kind = self._choose(random.Random(f"{self._calls} {method} {path}"), method)
        if kind == "refuse" and not is_conditional:
            kind = "lose"
        self._bucket.faults[:] = [Fault(kind, "", method)] if kind else []
        try:
            return request()
        finally:
            self._view.changes += method in ("PUT", "DELETE")
            if kind and not self._bucket.faults[0].times:
                self.faults[self.action, f"{method} {kind}"] += 1
            self._bucket.faults.clear()
            self._bucket.requests.clear()


class _ServedStorage(ControlledStorage):
    """The storage as used by one actor. After a lost answer, the store answers a put of what is there like the first.
    """

    def __init__(self, store: S3Storage, handle: Handle) -> None:
        super().__init__(store, handle)
        self._store = store

    def is_new(self, created: bool) -> bool:
        return created and self._store.is_new


class S3System(EngineSystem):
    """A table of the engine on the local S3 server. The function `choose` decides which requests fail."""

    name = "s3"

    def __init__(self, world: World, protocol: Protocol, choose: Choose = one_in_some) -> None:
        self._bucket = _bucket()
        self._folder = f"t{next(_NUMBERS)}/"
        view = BucketView(self._bucket, self._folder)
        url = f"s3://lake/{self._folder.rstrip('/')}"
        remote = ObjectStorage(url, {**self._bucket.options, "retry_config": _RETRIES})
        self.store = S3Storage(view, remote, self._bucket, choose)
        super().__init__(world, protocol, harness=Harness(view))
        self._bucket.page = random.Random(repr(world)).choice(PAGES)

    def operation(self, name: str, handle: Handle) -> EngineOperation:
        return _Operation(self, name, self.on_server(handle))

    def on_server(self, handle: Handle) -> Handle:
        """Return the handle of an operation whose storage sends requests to the server."""
        handle.storage = _ServedStorage(self.store, handle)
        return handle

    @property
    def faults(self) -> Counter[str]:
        """Return how often requests failed, by HTTP method and kind of fault."""
        counts: Counter[str] = Counter()
        for (_, what), number in self.store.faults.items():
            counts[what] += number
        return counts

    def close(self) -> None:
        super().close()
        for path in list(self.harness.storage.list("")):
            self.harness.storage.delete(path.path)


class _Operation(EngineOperation):
    system: S3System

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        self.system.store.action = action
        return super().step(action, args)


class AnnouncingS3System(AnnouncingSystem, S3System):
    """The same with announced commits."""

    def operation(self, name: str, handle: Handle) -> EngineOperation:
        return _AnnouncingOperation(self, name, self.on_server(handle))


class _AnnouncingOperation(AnnouncingOperation, _Operation):
    system: AnnouncingS3System


def s3_system(world: World, protocol: Protocol, choose: Choose = one_in_some) -> S3System:
    system = AnnouncingS3System if protocol[DecisionLog].decision in TOGETHER else S3System
    return system(world, protocol, choose=choose)


def losing_answers(world: World, protocol: Protocol, batches: object) -> S3System:
    """Return a system in which the response to every put is lost, for `nbcc check --on
    nbcc.simulator.lockstep.systems.s3:losing_answers`.
    """
    return s3_system(world, protocol, every_answer)


def _bucket() -> Bucket:
    if os.getpid() not in _SERVERS:
        stack = ExitStack()
        _SERVERS[os.getpid()] = (stack, stack.enter_context(s3_server()))
        atexit.register(stack.close)
    return _SERVERS[os.getpid()][1]
