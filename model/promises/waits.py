"""Promise WAIT: no live writer waits for the data phase of another actor (docs/contract.md).

The data phase of an actor consists of the actions that put or delete data files. While the lock is held, WAIT is
violated if its holder puts or deletes data files, or exceeds a limit of steps, before releasing it. While the lock is
free, WAIT is violated if a writer is blocked until another actor puts or deletes data files.

To check a state, the module follows the steps that each actor can take while no other actor acts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from ..kernel.writer import WRITER
from ..machine.state import State
from ..machine.transition import DEAD, Step
from ..mechanisms.crashes import ACTOR_CRASHES
from ..mechanisms.lost_locks import LOCK_IS_LOST
from ..mechanisms.rollback.heartbeat import HEARTBEAT_EXPIRES
from ..model import Model
from .promise import Promise

FAULTS = frozenset((ACTOR_CRASHES, HEARTBEAT_EXPIRES, LOCK_IS_LOST))
"""Actions that no actor takes to get ahead."""
UNDER_LOCK = 16
"""An actor holds the lock for at most this many of its own steps. The longest: a retry by the decision log, 13."""
ALONE = 64
"""States up to which the steps of one actor alone are followed."""


def waits(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Return a sentence that describes how a state violates promise WAIT; None if WAIT holds."""
    holder = model.component(after, "lock")
    if holder is not None:
        return _holds_on(model, after, holder)
    return next((why for me in model.actors_of(WRITER) if (why := _waits_for(model, after, me))), None)


def first_wait(model: Model, states: Sequence[State]) -> tuple[int, str] | None:
    """Return the index of the first state that violates promise WAIT, and the message; None if WAIT holds in all
    states.

    The check of an actor depends only on the components (state variables) that its transitions read. States with equal
    values of these components are checked once.
    """
    place = model.coding.place
    writers = [(me, _reads(model, me), set[State]()) for me in model.actors_of(WRITER)]
    holders = {me: (_reads(model, me), set[State]()) for me in _every_actor(model)}
    of_lock = model.coding.mask((place["lock"],))
    names: dict[State, str | None] = {}
    for number, state in enumerate(states):
        lock = state & of_lock
        if lock not in names:
            names[lock] = model.component(state, "lock")
        if (holder := names[lock]) is not None:
            mask, seen = holders[holder]
            if (key := state & mask) not in seen:
                seen.add(key)
                if message := _holds_on(model, state, holder):
                    return number, message
            continue
        for me, mask, seen in writers:
            if (key := state & mask) not in seen:
                if (halt := _halt(model, state, me)) is None:
                    seen.add(key)
                elif message := _blocked(model, halt, me):  # depends on the other actors as well
                    return number, message
    return None


def _every_actor(model: Model) -> Iterator[str]:
    return chain.from_iterable(model.actors.values())


def _reads(model: Model, me: str) -> State:
    names = {"lock", me, *(name for row in model.transitions if row.actor == me for name in row.reads)}
    return model.coding.mask(model.coding.place[name] for name in names)


def _steps(model: Model, state: State, me: str) -> list[tuple[Step, State]]:
    return [(step, after) for step, after in model.successors_of(state, me) if step.action not in FAULTS]


def _holds_on(model: Model, state: State, holder: str) -> str | None:
    if model.component(state, holder).step == DEAD:
        return None  # Its lock expires.
    here = [state]
    for _ in range(UNDER_LOCK):
        reached = []
        for each in here:
            following = _steps(model, each, holder)
            if not following:
                return f"{holder} holds the lock, and does not release it by any step of its own"
            for step, after in following:
                if model.is_data_phase(step):
                    return f"{model.describe(step)} while it holds the lock: every writer waits for that"
                if model.component(after, "lock") == holder:
                    reached.append(after)
        if not reached:
            return None
        here = list(dict.fromkeys(reached))
    return f"{holder} holds the lock for more than {UNDER_LOCK} of its steps"


def _waits_for(model: Model, state: State, me: str) -> str | None:
    return None if (halt := _halt(model, state, me)) is None else _blocked(model, halt, me)


def _blocked(model: Model, halt: State, me: str) -> str | None:
    """Return a sentence if a writer that is blocked in a state waits for a data phase; None otherwise."""
    reasons = " or ".join(_held_up(model, halt, me))
    needed: Step | None = None
    for name in _every_actor(model):
        if name != me and model.component(halt, name).step != DEAD:
            soon, data = _frees(model, halt, me, name)
            if soon:
                return None
            needed = needed or data
    return needed and f"{me} cannot go on: {reasons}; before that, {model.describe(needed)}"


def _halt(model: Model, state: State, me: str) -> State | None:
    """Return a state in which a writer that acts alone is blocked; None if there is none."""
    if model.component(state, me).step == DEAD:
        return None
    for each, following in _alone(model, state, me):
        if not following and _held_up(model, each, me):
            return each
    return None


def _held_up(model: Model, state: State, me: str) -> tuple[str, ...]:
    """Return the conditions, except limits of the world, that prevent an actor from acting; () if it can act."""
    own, reasons = model.component(state, me), dict[str, None]()
    for row in model.transitions:
        if row.actor == me and row.action not in FAULTS and all(guard.holds(own) for guard in row.actor_guards):
            false = [g for g in row.guards if not g.holds(*(model.component(state, name) for name in g.reads))]
            if not false:
                return ()
            if not any(guard.limit for guard in false):
                reasons.update(dict.fromkeys(guard.reason for guard in false))
    return tuple(reasons)


def _alone(model: Model, state: State, me: str) -> Iterator[tuple[State, list[tuple[Step, State]]]]:
    """Yield the states that an actor passes through when it runs alone to the end of its operation. Each state is
    paired with the actor's possible steps in it.
    """
    queue = [state]
    for each in queue:  # grows meanwhile
        following = _steps(model, each, me)
        yield each, following
        busy = (after for _, after in following if model.is_busy(me, model.component(after, me)))
        queue += [after for after in busy if after not in queue and len(queue) < ALONE]


def _frees(model: Model, state: State, me: str, other: str) -> tuple[bool, Step | None]:
    """Determine whether `other` can unblock `me`, and whether it must first put or delete data files.

    Return (True, None) if `other` can unblock `me` without steps that put or delete data files. Return (False, step) if
    such a step is necessary, and (False, None) if `other` cannot unblock `me`.
    """
    first: dict[State, Step | None] = {state: None}
    queue = [state]
    needed: Step | None = None
    for each in queue:  # grows meanwhile
        for step, after in _steps(model, each, other):
            if after in first or len(queue) >= ALONE:
                continue
            first[after] = first[each] or (step if model.is_data_phase(step) else None)
            queue.append(after)
            if not _held_up(model, after, me):
                if first[after] is None:
                    return True, None
                needed = needed or first[after]
    return False, needed


WAIT = Promise(
    name="WAIT",
    about="No live writer waits for the data phase of another actor; the lock is never held across one.",
    source="RFC-66, abstract: writers are not blocked; docs/contract.md, WAIT",
    kind="run",
    holds=waits,
    sometimes=lambda model, state: bool(model.component(state, "published")),
    reads=lambda model: ("published",),
    first=first_wait,
)
