"""Replacing writes (insert overwrite, delete partition): what completed in its partitions before K is out of sight.

K is the requested time. Beside non-blocking writers a replace is a plan at K that takes nothing, for all file groups of
its partitions, and base files with the new rows, or none: whoever completes after K has its log behind that barrier and
survives, whoever completed before lies before it (design, section 4). Apache Hudi names the file ids that it replaces
(`replacing = file_ids`), which hides the later writes to fixed buckets as well, and for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..clock import requests_of
from ..conditions import at, lock_is_free
from ..publication import publication_actions, publication_rows
from ..step import Action, Args, Guard, Row
from ..table import GroupPlan, Instant, Plan, Write, completes_plan
from ..world import World
from . import Setting

KIND, PREFIX = "replacer", "o"
ACTIONS = (
    Action("replacer_schedules_replace", "under the lock: takes a requested time and puts a plan that takes nothing",
           "{actor} schedules a replace"),
    Action("replacer_starts_replace", "puts the inflight instant of its replace", "{actor} starts its replace"),
    Action("replacer_writes_base", "puts the base file of a file group, with the new rows that there are",
           "{actor} writes a base file", joins=True),
    *publication_actions(KIND),
)  # fmt: skip


class Replacer(NamedTuple):
    """`partitions` are those that it replaces, `bases` counts the base files that are there. It replaces once."""

    step: str = "idle"
    partitions: tuple[int, ...] = ()
    requested: int = 0
    completed: int = 0
    bases: int = 0
    dead: bool = False

    @property
    def number(self) -> int:
        """Of its replace among its writes."""
        return 1

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", "done")


def components(setting: Setting) -> dict[str, Any]:
    return {me: Replacer() for me in setting.of(KIND)}


def replaced_groups(world: World, me: str) -> tuple[int, ...]:
    """All file groups of the partitions in which its write has rows."""
    partitions = replaced_partitions(world, me)
    return tuple(group for group in range(world.groups) if group // world.buckets in partitions)


def replaced_partitions(world: World, me: str) -> tuple[int, ...]:
    """Those in which its write has rows."""
    return tuple(sorted({group // world.buckets for group, _ in world.files(me, 1)}))


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _scheduling(me, setting)
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Row:
    partitions, groups = replaced_partitions(setting.world, me), replaced_groups(setting.world, me)
    times = requests_of(setting, me)
    plans_it = setting.protocol.replacing == "plan"

    def schedules(own: Replacer, lock: None, clock: int, published: Any, plans: Any, *seen: Any, ahead: int = 0) -> Any:
        time, later = times.take("commit", clock, (published, plans, *seen) if times.reads else (), ahead)
        new = Plan(time, me, False, tuple(GroupPlan(group, None, ()) for group in groups))
        return Replacer("scheduled", partitions, time), later, (*plans, new) if plans_it else plans

    def free(own: Replacer, lock: None, clock: int, published: Any, plans: tuple[Plan, ...], *_: Any) -> bool:
        done = {entry.requested for entry in published if completes_plan(entry)}
        return not any(plan.of(group) for plan in plans if plan.requested not in done for group in groups)

    alone = Guard("no plan may be pending in its partitions", free)
    others = tuple(name for name in times.reads if name not in ("published", "plans"))
    reads = (me, "lock", "clock", "published", "plans", *others)
    return Row("replacer_schedules_replace", me, reads, (me, "clock", "plans"), (at(me, "idle"),), schedules,
               (lock_is_free(), alone), lambda *_: times.clock.readings())  # fmt: skip


def _running(me: str, setting: Setting) -> Iterator[Row]:
    groups = replaced_groups(setting.world, me)

    def starts(own: Replacer, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        started = tuple(p._replace(inflight=True) if p.requested == own.requested else p for p in plans)
        return own._replace(step="replacing"), started

    def writes(own: Replacer) -> tuple[Any, ...]:
        last = own.bases + 1 == len(groups)
        return (own._replace(step="written" if last else "replacing", bases=own.bases + 1),)

    def publish(own: Replacer) -> tuple[Replacer, Write]:
        files = tuple((group, 1) for group in groups)
        return Replacer("done"), Write(own.requested, own.completed, me, 1, files, loaded=groups, replaced=groups)

    def in_turn(own: Replacer) -> Iterable[Args]:
        return ((),)

    yield Row("replacer_starts_replace", me, (me, "plans"), (me, "plans"), (at(me, "scheduled"),), starts)
    yield Row("replacer_writes_base", me, (me,), (me,), (at(me, "replacing"),), writes, choices=in_turn)
    yield from publication_rows(KIND, me, "written", setting, publish)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    if setting.protocol.replacing == "plan":
        return  # then it is a pending plan like others
    for me in setting.of(KIND):
        own = values[me]
        if own.requested:
            yield Instant(own.requested, "commit", "requested" if own.step == "scheduled" else "inflight", None)
