"""The test harness of a table in the simulator: its store, lock, clock and heartbeats, and the handles of its actors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nbcc.engine.clock import Clock
from nbcc.engine.names import bucket_file_id
from nbcc.engine.storage import Storage

from .caller import Caller
from .calls import Call
from .clock import ActorsClock, VirtualClock
from .conductor import Task
from .footprints import Access
from .heartbeats import ControlledHeartbeats, VirtualHeartbeats
from .lock import ControlledLock, VirtualLock
from .storage import ControlledStorage, MemoryStorage

T = TypeVar("T")


class Harness:
    """The store, lock, clock and heartbeats that all actors of a history share. ``step`` is the number of the current
    model step.
    """

    def __init__(self, storage: Storage | None = None, patience: float = 10.0) -> None:
        self.storage: Storage = storage if storage is not None else MemoryStorage()
        self.lock = VirtualLock()
        self.clock = VirtualClock()
        self.heartbeats = VirtualHeartbeats()
        self.accesses: list[Access] = []
        self.crashed: dict[str, int] = {}  # actor -> the step in which it died
        self.settled_reads: set[tuple[str, int]] = set()  # the segments that read as of a settled time
        self.step = 0
        self.patience = patience
        self._started: dict[str, int] = {}

    def started(self, actor: str) -> int:
        """Return the number of operations that the actor has begun."""
        return self._started.get(actor, 0)

    def start(self, actor: str, operation: Callable[[Handle], object]) -> Handle:
        """Prepare an operation of an actor, and return its handle. The operation does not run before the first call of
        `Task.run`.

        Each operation gets a new handle, so that the handle of a crashed operation stays disabled.
        """
        number = self._started[actor] = self._started.get(actor, 0) + 1
        handle = Handle(self, actor, number)
        handle.task = Task(actor, lambda: operation(handle), self.patience)
        return handle


class Handle:
    """An actor's access to the harness (storage, lock, clock and heartbeats) during one operation."""

    task: Task

    def __init__(self, harness: Harness, actor: str, number: int) -> None:
        self.actor = actor
        self.harness = harness
        self.shows: Callable[[str], bool] = lambda path: True
        self.still_shows: Callable[[str], bool] = lambda path: False
        self.storage = ControlledStorage(harness.storage, self)
        self.lock = ControlledLock(harness.lock, self)
        self.own_clock = ActorsClock(harness.clock)
        self.clock: Clock = ControlledClock(self.own_clock, self)
        self.names = ControlledNames(actor, number)
        self.stops_waiting = False
        self.loses_answer: tuple[str, ...] = ()
        self.heartbeats = ControlledHeartbeats(harness.heartbeats, actor)

    def call(
        self,
        call: Call,
        execute: Callable[[], T],
        outcome: Callable[[T], str] = lambda result: "done",
        ready: Callable[[], bool] | None = None,
    ) -> T:
        """Make a call when the schedule permits it, and record the access."""

        def recorded() -> T:
            # Before the call, which may be the release of the lock.
            locked = self.harness.lock.holder == self.actor
            result = execute()
            self.harness.accesses.append(
                Access(self.actor, self.harness.step, call.verb, call.path, locked, outcome(result))
            )
            return result

        return self.task.call(call, recorded, ready, outcome)


class ControlledClock:
    """The table's clock, as used by one actor."""

    def __init__(self, clock: ActorsClock, caller: Caller) -> None:
        self._clock = clock
        self._caller = caller

    def take(self) -> str:
        """Return the next time of the clock. The schedule can suspend the actor before this call. If reading the clock
        and waiting are separate calls, the schedule can also suspend the actor between the two calls.
        """
        if not self._clock.in_two:
            return self._caller.call(Call("clock.take"), self._clock.take)
        instant = self._caller.call(Call("clock.take"), self._clock.read)
        self._caller.call(Call("clock.wait"), lambda: self._clock.wait(instant))
        return instant

    def read(self) -> str:
        """Return the next time of the clock, without the wait for slower clocks."""
        return self._caller.call(Call("clock.take"), self._clock.read)

    def take_unlocked(self) -> str:
        """Return a time for a request without the lock. The schedule can suspend the actor before this call."""
        return self._caller.call(Call("clock.read"), self._clock.take_unlocked)

    def not_before(self, instant: str) -> None:
        """Ensure that all times returned from now on are greater than `instant`."""
        self._clock.not_before(instant)

    def pause(self, seconds: float) -> None:
        """Do nothing: the schedule decides which actor goes on."""


class ControlledNames:
    """Generates write tokens from the actor, the operation's number and a counter, so that a replay has the same
    tokens.
    """

    def __init__(self, actor: str, number: int) -> None:
        self._prefix = f"{_digits(actor)}-{number}"
        self._count = 0

    def write_token(self) -> str:
        """Return a write token of three integers that is unique within a history, and equal in every replay of a trace.
        """
        self._count += 1
        return f"{self._prefix}-{self._count}"

    def file_id(self, bucket: int) -> str:
        """Return the fixed file id that non-blocking concurrency control assigns to a bucket."""
        return bucket_file_id(bucket)


def _digits(actor: str) -> str:
    """Convert an actor's name to digits: each letter's two-digit position in the alphabet, then the actor's number."""
    letters = actor.rstrip("0123456789")
    places = "".join(f"{ord(letter) - 96:02d}" for letter in letters)
    return f"{places}{int(actor.removeprefix(letters)):02d}".lstrip("0")
