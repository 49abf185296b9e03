"""Replacing writes (insert overwrite, delete partition): what completed in its partitions before K is out of sight.

K is the requested time. Beside non-blocking writers a replace is a plan at K that takes nothing, for all file groups of
its partitions, and base files with the new rows, or none: whoever completes after K has its log behind that barrier and
survives, whoever completed before lies before it (design, section 4). Apache Hudi names the file ids that it replaces
(`replacing = file_ids`), which hides the later writes to fixed buckets as well, and for ever.

An optimistic replace is a write like others: what completed in its partitions since it began stands against it, and it
against who completes later (RFC-22, steps 1 to 4; Hudi resolves conflicts of insert_overwrite before its commit).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..services.restoring import stands
from ..step import Action, Args, Guard, Row
from ..table import GroupPlan, Instant, Plan, Write, completes_plan
from ..timeline.clock import requests_of
from ..timeline.conflicts import file_ids
from ..timeline.looking import ABORTED, about_to_publish, found_nothing, looking_rows, looks_under_lock
from ..timeline.plans_by_log import planning_rows
from ..timeline.publication import Check, publication_actions, publication_rows
from ..world import World
from . import Setting

KIND, PREFIX = "replacer", "o"
CHOOSES = ("completion_time", "concurrency", "conflict_by", "conflict_check", "conflict_window", "priority")
ACTIONS = (
    Action("replacer_schedules_replace", "under the lock: takes a requested time and puts a plan that takes nothing",
           "{actor} schedules a replace"),
    Action("replacer_starts_replace", "puts the inflight instant of its replace", "{actor} starts its replace"),
    Action("replacer_writes_base", "puts the base file of a file group, with the new rows that there are",
           "{actor} writes a base file", joins=True),
    Action("replacer_takes_time", "under a lock that can be lost: looks for pending plans, takes a requested time",
           "{actor} takes a time for its replace"),
    Action("replacer_puts_plan", "puts the plan of that replace, or finds that something was decided meanwhile",
           "{actor} puts the plan of its replace"),
    Action("replacer_passes_check", "finds no conflicting write that completed since it began",
           "{actor} finds no conflict"),
    Action("replacer_aborts", "finds a conflicting write that completed since it began; gives the lock back",
           "{actor} aborts: a write conflicts that completed since it began"),
    Action("replacer_takes_back_replace", "deletes its files, then, under the lock, its plan",
           "{actor} takes its files and its plan back"),
    *publication_actions(KIND),
)  # fmt: skip


class Replacer(NamedTuple):
    """`partitions` are those that it replaces, `bases` counts the base files that are there. It replaces once.

    Under OCC, as of a writer: `mark`, `checked`, `conflict`; `file_ids` where these are not fixed by the bucket.
    `seen` (decision log only): how many decisions there were when it looked.
    """

    step: str = "idle"
    partitions: tuple[int, ...] = ()
    requested: int = 0
    completed: int = 0
    bases: int = 0
    dead: bool = False
    mark: int = 0
    checked: bool = False
    conflict: int = 0
    file_ids: tuple[tuple[int, int], ...] = ()
    seen: int = 0
    until: int = 0
    then: str = ""

    @property
    def number(self) -> int:
        """Of its replace among its writes."""
        return 1

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", "done", "gave up")


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
        yield from _scheduling(me, setting)
        yield from _running(me, setting)
        if setting.protocol_of(me).concurrency == "occ":
            yield from _looking(me, setting)


def _scheduling(me: str, setting: Setting) -> Iterator[Row]:
    partitions, groups = replaced_partitions(setting.world, me), replaced_groups(setting.world, me)
    times, protocol = requests_of(setting, me), setting.protocol_of(me)
    plans_it = protocol.replacing == "plan"

    def look(own: Replacer, clock: int, last: int, published: Any, plans: Any, *seen: Any, ahead: int = 0) -> Any:
        time, later = times.take("commit", clock, (published, plans, *seen) if times.reads else (), ahead, after=last)
        mark = len(published) if protocol.concurrency == "occ" else 0
        return Replacer("scheduled", partitions, time, mark=mark,
                        file_ids=file_ids(published, groups, time, protocol)), later  # fmt: skip

    def put(own: Replacer, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        new = Plan(own.requested, me, False, tuple(GroupPlan(group, None, ()) for group in groups))
        return own._replace(step="scheduled"), (*plans, new) if plans_it else plans

    def free(own: Replacer, lock: None, clock: int, published: Any, plans: tuple[Plan, ...], *_: Any) -> bool:
        done = {entry.requested for entry in published if completes_plan(entry)}
        return not any(plan.of(group) for plan in plans if plan.requested not in done for group in groups)

    alone = Guard("no plan may be pending in its partitions", free)
    others = tuple(name for name in times.reads if name not in ("published", "plans"))
    names = ("replacer_schedules_replace", "replacer_takes_time", "replacer_puts_plan")
    yield from planning_rows(me, setting, actions=names, reads=("published", "plans", *others), changes=("plans",),
                             guards=(alone,), look=look, put=put, requested=lambda own: own.requested,
                             too_late=Replacer("gave up"),
                             choices=lambda *_: times.clock.readings())  # fmt: skip


def _running(me: str, setting: Setting) -> Iterator[Row]:
    groups, protocol = replaced_groups(setting.world, me), setting.protocol_of(me)

    def starts(own: Replacer, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        started = tuple(p._replace(inflight=True) if p.requested == own.requested else p for p in plans)
        return own._replace(step="replacing"), started

    def writes(own: Replacer) -> tuple[Any, ...]:
        last = own.bases + 1 == len(groups)
        return (own._replace(step="written" if last else "replacing", bases=own.bases + 1),)

    def publish(own: Replacer) -> tuple[Replacer, Write]:
        files = tuple((group, 1) for group in groups)
        entry = Write(own.requested, own.completed, me, 1, files, file_ids=own.file_ids, loaded=groups, replaced=groups)
        return Replacer("done"), entry

    def in_turn(own: Replacer) -> Iterable[Args]:
        return ((),)

    yield Row("replacer_starts_replace", me, (me, "plans"), (me, "plans"), (at(me, "scheduled"),), starts)
    yield Row("replacer_writes_base", me, (me,), (me,), (at(me, "replacing"),), writes, choices=in_turn)
    yield from publication_rows(KIND, me, about_to_publish(protocol), setting, publish,
                                cleared=(found_nothing(me),) if protocol.concurrency == "occ" else (),
                                check=None if looks_under_lock(protocol) else still_stands(setting))  # fmt: skip


def _looking(me: str, setting: Setting) -> Iterator[Row]:
    groups = replaced_groups(setting.world, me)

    def takes_back(own: Replacer, lock: None, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        return Replacer("gave up"), tuple(plan for plan in plans if plan.requested != own.requested)

    yield from looking_rows(KIND, me, setting, lambda own: groups, stands=still_stands(setting))
    yield Row("replacer_takes_back_replace", me, (me, "lock", "plans"), (me, "plans"), (at(me, ABORTED),), takes_back,
              (lock_is_free(),))  # fmt: skip


def still_stands(setting: Setting) -> Check | None:
    """What it asks before it publishes, under OCC as it looks for conflicts: no restore has undone its plan."""
    return stands("requested") if setting.if_any("restores") else None


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    if setting.protocol.replacing == "plan":
        return  # then it is a pending plan like others
    for me in setting.of(KIND):
        own = values[me]
        if own.requested:
            yield Instant(own.requested, "commit", "requested" if own.step == "scheduled" else "inflight", None)
