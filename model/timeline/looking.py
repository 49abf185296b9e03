"""The conflict check of an optimistic actor before it publishes: it goes on, or takes its write back (RFC-22).

Writers and replacers check alike: a replace conflicts with the writes of its partitions like any other write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..actions import Setting
from ..kernel.table import Plan
from ..machine.transition import Args, Changes, Guard, Transition, given, transition
from ..protocol import Protocol
from .conflicts import Attempt, conflicting
from .publication import CHECKED, READY, UNDER_LOCK, Check

ABORTED = "aborted"


def looks_under_lock(protocol: Protocol) -> bool:
    """Whether an actor looks for conflicts under the lock that covers its publication."""
    return protocol.concurrency == "occ" and protocol.conflict_check == "under_lock"


def about_to_publish(protocol: Protocol) -> str:
    """The step from which an actor goes for the lock."""
    return CHECKED if protocol.concurrency == "occ" and protocol.conflict_check == "before_lock" else "written"


def has_checked(own: Any) -> bool:
    return bool(own.checked)


def has_not_checked(own: Any) -> bool:
    return not own.checked


FOUND_NOTHING = Guard("{me} must have found no conflict", has_checked)
"""The condition of the last steps of an optimistic actor."""
NOT_LOOKED = Guard("{me} must not have looked for conflicts yet", has_not_checked)
"""The condition of the look, and of whatever is asked together with it."""

Touches = Callable[[Any], tuple[int, ...]]
"""The file groups that an actor's instant writes or rests on."""


def looking(
    kind: str, me: str, setting: Setting, touches: Touches, *, stands: Check | None = None, new: Check | None = None
) -> Iterator[Transition]:
    """The transitions of the look; the actor's component has `checked`, `conflict`, `mark` and `file_ids`.

    `stands`: what must hold for the look to be worthwhile; `new`: what must hold besides, if it is made under the lock.
    """
    protocol = setting.protocol_of(me)
    early = protocol.conflict_check == "before_lock"
    by_plans = protocol.priority == "first" and "plans" in setting.first
    parameters: dict[str, Any] = {"touches": touches} if by_plans else {"touches": touches, "plans": ()}
    conflict = given(find_conflict, **parameters)
    lives = (stands.guard,) if stands and stands.under_lock and not early else ()
    newly = (new.guard,) if new and not early else ()
    asked_at = "written" if early else READY if protocol.completion_time == "outside_lock" else UNDER_LOCK
    no_conflict = Guard("no conflicting write may have completed since it began", conflict, negated=True)
    a_conflict = Guard("a conflicting write must have completed since it began", conflict)
    yield transition(f"{kind}_passes_check", me, at=asked_at, to=CHECKED if early else "", effect=pass_check,
                     guards=(NOT_LOOKED, *lives, no_conflict, *newly))  # fmt: skip
    aborts = transition(f"{kind}_aborts", me, at=asked_at, to=ABORTED, effect=abort,
                        guards=(NOT_LOOKED, *lives, a_conflict, *newly),
                        arguments=given(list_conflict, **parameters))  # fmt: skip
    yield aborts if early else aborts.extend(free_lock, "lock")


def find_conflict(
    own: Any, published: tuple[Any, ...], protocol: Protocol, touches: Touches, plans: tuple[Plan, ...]
) -> int | None:
    """The requested time of a conflicting write that completed since the actor began, None if there is none."""
    return conflicting(published, plans, Attempt(touches(own), own.file_ids, own.mark), protocol)


def list_conflict(
    own: Any, published: tuple[Any, ...], protocol: Protocol, touches: Touches, plans: tuple[Plan, ...]
) -> Iterable[Args]:
    return ((("against", (find_conflict(own, published, protocol, touches, plans),)),),)


def pass_check(own: Any) -> Changes:
    return {"own": own._replace(checked=True)}


def abort(own: Any, *, against: tuple[int, ...]) -> Changes:
    """The actor gives its write up, because of the one that conflicts."""
    return {"own": own._replace(conflict=against[0])}


def free_lock() -> Changes:
    return {"lock": None}
