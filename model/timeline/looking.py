"""An optimistic actor's look for conflicts before it publishes, as rows: it goes on, or takes its own back (RFC-22).

Whoever writes looks alike, whatever it writes: a replace stands against the writes of its partitions like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..actions import Setting
from ..conditions import at
from ..protocol import Protocol
from ..step import Args, Guard, Row
from .conflicts import Attempt, conflicting
from .publication import CHECKED, READY, UNDER_LOCK, Check

ABORTED = "aborted"


def looks_under_lock(protocol: Protocol) -> bool:
    """Whether an actor looks for conflicts under the lock that covers its publication."""
    return protocol.concurrency == "occ" and protocol.conflict_check == "under_lock"


def about_to_publish(protocol: Protocol) -> str:
    """The step from which an actor goes for the lock."""
    return CHECKED if protocol.concurrency == "occ" and protocol.conflict_check == "before_lock" else "written"


def found_nothing(me: str) -> Guard:
    """The condition of its last steps."""
    return Guard(f"{me} must have found no conflict", lambda own: own.checked)


def not_looked(me: str) -> Guard:
    """The condition of the look, and of whatever is asked together with it."""
    return Guard(f"{me} must not have looked for conflicts yet", lambda own: not own.checked)


def looking_rows(
    kind: str,
    me: str,
    setting: Setting,
    touches: Callable[[Any], tuple[int, ...]],
    *,
    stands: Check | None = None,
    new: Check | None = None,
) -> Iterator[Row]:
    """The rows of the look; the actor's component has `checked`, `conflict`, `mark` and `file_ids`.

    `touches(own)`: the file groups that its instant writes or rests on. `stands`: what must be so for the look to be
    worth while; `new`: what must be so, besides, where it is made under the lock.
    """
    protocol = setting.protocol_of(me)
    looks_at_plans = protocol.priority == "first" and "plans" in setting.first
    early = protocol.conflict_check == "before_lock"
    known = (me, "published", "plans") if looks_at_plans else (me, "published")
    alive = stands if stands and stands.under_lock and not early else None
    lives = (alive.guard(len(known)),) if alive else ()
    reads = (*known, *alive.reads) if alive else known

    def conflict(own: Any, published: Any, *more: Any) -> int | None:
        plans = more[0] if looks_at_plans else ()
        return conflicting(published, plans, Attempt(touches(own), own.file_ids, own.mark), protocol)

    def against(*values: Any) -> tuple[Args, ...]:
        return ((("against", (conflict(*values),)),),)

    def aborts(own: Any, *values: Any, against: tuple[int, ...]) -> tuple[Any, ...]:
        own = own._replace(step=ABORTED, conflict=against[0])
        return (own,) if early else (own, None)

    asked_at = "written" if early else READY if protocol.completion_time == "outside_lock" else UNDER_LOCK
    here = (at(me, asked_at), not_looked(me))
    newly = (new.guard(1),) if new and not early else ()
    none = Guard("no conflicting write may have completed since it began", lambda *v: conflict(*v) is None)
    some = Guard("a conflicting write must have completed since it began", lambda *v: conflict(*v) is not None)
    then = CHECKED if early else None
    yield Row(f"{kind}_passes_check", me, reads, (me,), here,
              lambda own, *v: (own._replace(step=then or own.step, checked=True),), (*lives, none, *newly))  # fmt: skip
    yield Row(f"{kind}_aborts", me, reads, (me,) if early else (me, "lock"), here, aborts, (*lives, some, *newly),
              against)  # fmt: skip
