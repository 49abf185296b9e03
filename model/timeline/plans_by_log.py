"""How a plan is put: at once under the lock; in two steps where locks can be lost; by a number where a log decides.

In the first of the two steps it looks and takes the plan's time, in the second it puts what it has made of that. Where
decisions are logged the plan takes the next number: who finds that one taken has looked at what is old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..actions import Setting
from ..conditions import at, lock_is_free
from ..step import Args, Guard, Row
from .decisions import ALL_PUBLISHED, last_time, undecided
from .publication import given_back, put_by_another
from .waiting import reading

TIMED = "given a time for its plan"


def planning_rows(
    me: str,
    setting: Setting,
    *,
    actions: tuple[str, str, str],
    reads: tuple[str, ...],
    changes: tuple[str, ...],
    guards: tuple[Guard, ...],
    look: Callable[..., tuple[Any, int]],
    put: Callable[..., tuple[Any, ...]],
    requested: Callable[[Any], int],
    too_late: Any,
    choices: Callable[..., Iterable[Args]],
) -> Iterator[Row]:
    """`actions`: the one step; or the look and the put. `reads`, `published` among them, come after (me, lock, clock),
    in `guards` and `choices` too; `changes` are those of them that the plan changes, the plans of its kind first.

    `look(own, clock, last, *reads, **args)`: the actor with all that its plan says, and the clock; the plan's time is
    greater than `last`. `put(own, *changes)`: the actor and `changes` once the plan is there; `requested(own)`: its
    time. `too_late`: the actor whose number is taken.
    """
    log, fence = ("decisions",) if setting.protocol.decision == "log" else (), put_by_another(setting)
    places = [reads.index(name) for name in changes]

    def looks(own: Any, lock: None, clock: int, *seen: Any, **args: Any) -> tuple[Any, int]:
        return look(own, clock, last_time(seen[-1]) if log else 0, *seen[: len(reads)], **args)

    def at_once(own: Any, lock: None, clock: int, *seen: Any, **args: Any) -> tuple[Any, ...]:
        new, later = looks(own, lock, clock, *seen, **args)
        after, *changed = put(new, *(seen[place] for place in places))
        return after, later, *changed, *((*each, requested(new)) for each in seen[len(reads) :])

    def takes_time(own: Any, lock: None, clock: int, *seen: Any, **args: Any) -> tuple[Any, ...]:
        new, later = looks(own, lock, clock, *seen, **args)
        return new._replace(step=TIMED, seen=len(seen[-1]) if log else 0), me, later, *((),) * len(fence)

    def puts(own: Any, lock: str | None, *seen: Any) -> tuple[Any, ...]:
        decisions = seen[len(changes) :]
        there = any(plan.requested == requested(own) for plan in seen[0])
        # The number is taken, perhaps by what its plan rests on; or a plan of the same kind has the same time.
        if there or any(len(each) > own.seen for each in decisions):
            return too_late, given_back(me, lock), *seen
        after, *changed = put(own._replace(seen=0), *seen[: len(changes)])
        return after, given_back(me, lock), *changed, *((*each, requested(own)) for each in decisions)

    conditions = [lock_is_free(), *guards]
    if log:
        known = 3 + reads.index("published")
        conditions.append(Guard(ALL_PUBLISHED, lambda *values: not undecided(values[-1], values[known])))
    looked_at = (me, "lock", "clock", *reads, *log)
    if not setting.world.lock_losses:
        yield Row(actions[0], me, looked_at, (me, "clock", *changes, *log), (at(me, "idle"),), at_once,
                  tuple(conditions), choices)  # fmt: skip
        return
    yield reading(setting, Row(actions[1], me, looked_at, (me, "lock", "clock", *fence), (at(me, "idle"),), takes_time,
                               tuple(conditions), choices))  # fmt: skip
    put_at = (me, "lock", *changes, *log)
    yield Row(actions[2], me, put_at, put_at, (at(me, TIMED),), puts)
