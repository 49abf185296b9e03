"""Replays runs of the lock models on the engine's real locks, and compares model and locks after every step.

A run is a sequence of the model's steps. Each contender (actor that competes for the lock) has a lock object of the
engine on one shared store. The clocks of the lock objects advance only at the run's `clock_ticks` steps. After each
step, model and engine must agree on the stored lock, the holders of the lock, and the next storage access of each
operation.
"""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from nbcc.engine.lock.numbered import FOLDER, NumberedLock
from nbcc.engine.lock.storage_lock import StorageLock, lease_of
from nbcc.engine.storage.conditional import ConditionalObject
from nbcc.model import Step
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from nbcc.simulator.search.locks import numbered_lock, storage_lock
from nbcc.simulator.search.locks.numbered_lock import NumberedLockModel, newest
from nbcc.simulator.search.locks.storage_lock import StorageLockModel

from .lock_stepper import MemoryObject, SteppedObject, SteppedStorage, Stepper

BEGAN_MS: Final = 1_700_000_000_000
TICK_MS: Final = 500
NEVER_SECONDS: Final = 1e6
"""The locks renew only where a run says so."""


class LocksDiffer(AssertionError):
    """The engine's lock and the model differ after a step of a run."""


class _Contenders:
    """The engine's lock objects of one run, one for each contender, each with a simulated clock."""

    faults: Sequence[str] = ("answer_is_lost", "request_is_lost", "check_fails")
    own_accesses: Sequence[str] = ()
    """The accesses at which a step of the model ends. The operation passes all others without a stop."""

    def __init__(self, model: Any, chance: random.Random) -> None:
        self.model, self.chance = model, chance
        self.ticks = dict.fromkeys(model.contenders, 0)
        self.steppers = {name: Stepper() for name in model.contenders}
        self.locks: dict[str, Any] = {}
        self.owners: dict[str, tuple[str, int]] = {}

    def now(self, name: str) -> int:
        return BEGAN_MS + self.ticks[name] * TICK_MS

    def valid_seconds(self) -> float:
        """Return the validity of a lease in seconds. It is one millisecond longer than the model's lease, which is
        still valid at the tick at which it ends.
        """
        lease: int = self.model.limits.lease
        return (lease * TICK_MS + 1) / 1000

    def take(self, step: Step, before: int, after: int) -> None:
        """Take one step of the model, and execute the corresponding accesses of the engine's locks. Raises
        `LocksDiffer` if the states of model and engine differ.
        """
        name, stepper = step.actor, self.steppers[step.actor]
        if step.action == "clock_ticks":
            self.ticks[name] += 1
        elif step.action == "contender_crashes":
            stepper.crash()
        elif (start := self.operation(name, step.action)) is not None:
            stepper.start(start)
            if step.action.startswith("contender_finds"):
                self.advance(stepper)
            self.pass_on(stepper)
        else:
            self.fail_or_advance(stepper, step.action)
        self.compare(step, after)

    def fail_or_advance(self, stepper: Stepper, action: str) -> None:
        """Execute the next storage access. If `action` is a fault, simulate the fault during this access."""
        if action not in self.faults:
            self.advance(stepper)
        elif action == "check_fails":
            stepper.advance("drop")
        else:
            stepper.advance("lose" if action == "answer_is_lost" else "drop", refuses=self.refuses())
        self.pass_on(stepper)

    def refuses(self) -> bool:
        """Choose at random whether a failing put reports a failed precondition instead of raising an error."""
        return self.chance.random() < 0.5

    def advance(self, stepper: Stepper) -> None:
        stepper.advance()

    def pass_on(self, stepper: Stepper) -> None:
        """Execute storage accesses until the operation ends or its next access is in `own_accesses`."""
        while stepper.parked and stepper.parked not in self.own_accesses:
            stepper.advance()

    def close(self) -> None:
        for name, lock in self.locks.items():
            self.steppers[name].crash()
            if lock.left():
                self.steppers[name].start(lock.give_back)

    def operation(self, name: str, action: str) -> Callable[[], object] | None:
        """Return the lock operation that the action begins, or None if the action continues an operation."""
        starts = {
            "contender_finds_lease_free": "try_once", "contender_finds_lease_taken": "try_once",
            "contender_replaces_its_release": "try_once", "contender_finds_number_free": "try_once",
            "contender_finds_number_taken": "try_once", "contender_finds_lease_expired": "try_once",
            "contender_begins_renewal": "renew", "contender_begins_release": "give_back",
            "contender_releases_lost_lease": "give_back", "contender_releases_lost_lock": "give_back",
        }  # fmt: skip
        return getattr(self.locks[name], starts[action]) if action in starts else None

    def compare(self, step: Step, state: int) -> None:
        """Compare the engine's locks with a state of the model. Raises `LocksDiffer` if the locks differ from the
        model.
        """
        for name in self.model.contenders:
            own = self.model.contender(state, name)
            if not own.is_alive:
                continue
            self.name_owner(name, own)
            self.same(step, f"the access of {name}", self.steppers[name].parked, self.awaited(own))
            self.same(step, f"whether {name} holds the lock", self.locks[name].left() > 0, own.holds)
        self.same(step, "the stored lock", self.stored(), self.expected(state))

    def same(self, step: Step, what: str, engine: object, model: object) -> None:
        if engine != model:
            raise LocksDiffer(f"after {step.actor} {step.action}: {what}: the engine has {engine}, the model {model}")

    # The parts that depend on the protocol.

    def name_owner(self, name: str, own: Any) -> None:
        """If the contender's next storage access writes an owner name, record which contender and attempt use this
        name.
        """
        raise NotImplementedError

    def awaited(self, own: Any) -> str:
        """Return the storage access that the contender performs next in the model, or '' if no operation is in
        progress.
        """
        raise NotImplementedError

    def stored(self) -> Any:
        """Return the lock in the store, converted to a value of the model."""
        raise NotImplementedError

    def expected(self, state: int) -> Any:
        """Return the model's stored lock, in the format that `stored` returns."""
        raise NotImplementedError

    def _owner(self, content: bytes, own: tuple[str, int]) -> None:
        owner = json.loads(content)["owner"]
        if self.owners.setdefault(owner, own) != own:
            raise LocksDiffer(f"the put of {own} names the owner of {self.owners[owner]}")


class StorageLocks(_Contenders):
    """The engine's storage-based locks, like Hudi's `StorageBasedLockProvider`. By default, the lock object is in
    memory.
    """

    own_accesses = ("read", "write")

    def __init__(
        self, model: StorageLockModel, chance: random.Random, target: ConditionalObject | None = None
    ) -> None:
        super().__init__(model, chance)
        self.target = target or MemoryObject()
        for name, stepper in self.steppers.items():
            self.locks[name] = StorageLock(
                MemoryStorage(), 0.0, self.valid_seconds(), NEVER_SECONDS, now=partial(self.now, name),
                file=SteppedObject(self.target, stepper),
            )  # fmt: skip

    def name_owner(self, name: str, own: storage_lock.Contender) -> None:
        if own.step == storage_lock.PUTTING and own.put is not None and self.steppers[name].parked == "write":
            self._owner(self.steppers[name].content, (name, own.put.attempt))

    def awaited(self, own: storage_lock.Contender) -> str:
        return {storage_lock.PUTTING: "write", storage_lock.CHECKING: "read"}.get(own.step, "")

    def stored(self) -> Any:
        version = self.target.read()
        lease = None if version is None else lease_of(version)
        return None if lease is None else (*self.owners[lease.owner], lease.until, lease.expired)

    def expected(self, state: int) -> Any:
        lease = self.model.component(state, "lease")
        if lease is None:
            return None
        until = BEGAN_MS + lease.until * TICK_MS + 1
        return lease.owner, lease.attempt, until, lease.released


class NumberedLocks(_Contenders):
    """The engine's numbered locks on one in-memory folder."""

    def __init__(self, model: NumberedLockModel, chance: random.Random) -> None:
        super().__init__(model, chance)
        self.storage = MemoryStorage()
        self.states = dict.fromkeys(model.contenders, "")
        for name, stepper in self.steppers.items():
            self.locks[name] = NumberedLock(
                SteppedStorage(self.storage, stepper), 0.0, self.valid_seconds(), NEVER_SECONDS,
                now=partial(self.now, name),
            )  # fmt: skip

    def take(self, step: Step, before: int, after: int) -> None:
        self.step = self.model.contender(after, step.actor).step
        super().take(step, before, after)

    def pass_on(self, stepper: Stepper) -> None:
        """Execute storage accesses until the operation ends or its next access belongs to the contender's step in the
        model.
        """
        while stepper.parked and stepper.parked != _ACCESS.get(self.step, ""):
            stepper.advance()

    def refuses(self) -> bool:
        """Return True, so that a failing `put_if_absent` returns False, as it does if the file exists."""
        return True

    def name_owner(self, name: str, own: numbered_lock.NumberedContender) -> None:
        if own.step == numbered_lock.CREATING and self.steppers[name].parked == "acquired":
            self._owner(self.steppers[name].content, (name, own.tries))

    def awaited(self, own: numbered_lock.NumberedContender) -> str:
        return _ACCESS.get(own.step, "")

    def stored(self) -> Any:
        names = [entry.path.rpartition("/")[2].partition(".") for entry in self.storage.list(FOLDER)]
        if not names:
            return None
        last = max(number for number, _, _ in names)
        kinds = {kind for number, _, kind in names if number == last}
        files = {kind: self.storage.get(f"{FOLDER}/{last}.{kind}") for kind in kinds}
        taken = json.loads(files["acquired"])
        since = json.loads(files.get("heartbeat", files["acquired"]))["since"]
        return int(last), *self.owners[taken["owner"]], since, "released" in kinds

    def expected(self, state: int) -> Any:
        numbers = self.model.component(state, "numbers")
        if not numbers:
            return None
        last = newest(numbers)
        return last._replace(since=BEGAN_MS + last.since * TICK_MS)


_ACCESS: Final = {
    numbered_lock.CLEARING: "released", numbered_lock.CREATING: "acquired", numbered_lock.CHECKING: "get",
    numbered_lock.VERIFYING: "list", numbered_lock.TIDYING: "list", numbered_lock.RENEWING: "heartbeat",
    numbered_lock.RELEASING: "released",
}  # fmt: skip
"""Step of a contender -> the access before which its operation waits."""


def play(locks: _Contenders, longest: int) -> Counter[str]:
    """Play one random run of at most `longest` steps on the locks. Returns how often each action was taken.

    Only a third of the steps advance a clock, so that most steps belong to the lock protocol.
    """
    state, taken = locks.model.initial, Counter[str]()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the lock of .* was not released")
        try:
            for _ in range(longest):
                enabled = list(locks.model.successors(state))
                ticks = [pair for pair in enabled if pair[0].action == "clock_ticks"]
                others = [pair for pair in enabled if pair[0].action != "clock_ticks"]
                if not enabled:
                    break
                wants_tick = bool(ticks) and (not others or locks.chance.random() < 1 / 3)
                step, after = locks.chance.choice(ticks if wants_tick else others)
                locks.take(step, state, after)
                taken[step.action] += 1
                state = after
        finally:
            locks.close()
    return taken
