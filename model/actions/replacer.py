"""Replacing writes (insert overwrite, delete partition): what completed in its partitions before K is out of sight.

K is the requested time. Beside non-blocking writers a replace is a plan at K that takes nothing, for all file groups of
its partitions, and base files with the new rows, or none: whoever completes after K has its log behind that barrier and
survives, whoever completed before lies before it (design, section 4). Apache Hudi names the file ids that it replaces
(`replacing = file_ids`), which hides the later writes to fixed buckets as well, and for ever.

An optimistic replace is a write like others: what completed in its partitions since it began stands against it, and it
against who completes later (RFC-22, steps 1 to 4; Hudi resolves conflicts of insert_overwrite before its commit).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import CompletesAs, GroupPlan, Instant, Plan, Write, completes_plan
from ..machine.marks import marks
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..mechanisms.bulk_insert import Loaded
from ..mechanisms.file_ids import MintedIds
from ..mechanisms.replacing import Replaced
from ..mechanisms.restores.checks import stands
from ..protocol import Protocol
from ..timeline.clock import requests_of
from ..timeline.conflicts import file_ids
from ..timeline.decisions import last_time
from ..timeline.looking import ABORTED, FOUND_NOTHING, about_to_publish, looking, looks_under_lock
from ..timeline.plans_by_log import Planning, planning
from ..timeline.publication import Check, publication, publication_actions
from ..world import World
from . import Setting

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]

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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield from planning(me, setting, Planning(
            actions=("replacer_schedules_replace", "replacer_takes_time", "replacer_puts_plan"),
            guards=(Guard("no plan may be pending in its partitions", no_plan_is_pending),),
            look=look, put=put, plans="plans", requested="requested", too_late=give_up,
        ))  # fmt: skip
        yield transition("replacer_starts_replace", me, at="scheduled", to="replacing", effect=start,
                         changes=("own", "plans"))  # fmt: skip
        yield transition("replacer_writes_base", me, at="replacing", effect=write_base)
        yield from _publishing(me, setting)


def _publishing(me: str, setting: Setting) -> Iterator[Transition]:
    world, protocol = setting.world, setting.protocol_of(me)
    optimistic = protocol.concurrency == "occ"
    yield from publication(KIND, me, about_to_publish(protocol), setting, partial(published_replace, world, me),
                           cleared=(FOUND_NOTHING,) if optimistic else (),
                           check=None if looks_under_lock(protocol) else still_stands(setting))  # fmt: skip
    if optimistic:
        yield from looking(KIND, me, setting, partial(touched_groups, world, me), stands=still_stands(setting))
        yield transition("replacer_takes_back_replace", me, at=ABORTED, guards=(LOCK_IS_FREE,), effect=take_back,
                         changes=("own", "plans"))  # fmt: skip


def no_plan_is_pending(me: str, world: World, published: Published, plans: Plans) -> bool:
    done = {entry.requested for entry in published if completes_plan(entry)}
    pending = [plan for plan in plans if plan.requested not in done]
    return not any(plan.of(group) for plan in pending for group in replaced_groups(world, me))


def look(
    own: Replacer, me: str, clock: int, setting: Setting, protocol: Protocol, published: Published,
    listed_instants: list[Any], decisions: tuple[Any, ...] = (), *, ahead: int = 0,
) -> Changes:  # fmt: skip
    """Take the requested time: what completed before it in the partitions will be hidden."""
    world, times = setting.world, requests_of(setting.world, setting.protocol)
    time, later = times.take("commit", clock, listed_instants, ahead, after=last_time(decisions))
    mark = len(published) if protocol.concurrency == "occ" else 0
    ids = file_ids(published, replaced_groups(world, me), time, protocol)
    return {"own": Replacer("scheduled", replaced_partitions(world, me), time, mark=mark, file_ids=ids), "clock": later}


def put(own: Replacer, me: str, setting: Setting, plans: Plans) -> Changes:
    """Put a plan that takes nothing, for all file groups of the partitions."""
    groups = tuple(GroupPlan(group, None, ()) for group in replaced_groups(setting.world, me))
    new = (Plan(own.requested, me, False, groups),) if setting.protocol.replacing == "plan" else ()
    return {"own": own._replace(step="scheduled"), "plans": (*plans, *new)}


def give_up() -> Changes:
    return {"own": Replacer("gave up")}


def start(own: Replacer, plans: Plans) -> Changes:
    """Put the inflight instant."""
    return {"plans": tuple(p._replace(inflight=True) if p.requested == own.requested else p for p in plans)}


def write_base(own: Replacer, me: str, world: World) -> Changes:
    """Put the base file of the next file group, with the new rows that there are."""
    last = own.bases + 1 == len(replaced_groups(world, me))
    return {"own": own._replace(step="written" if last else "replacing", bases=own.bases + 1)}


def published_replace(world: World, me: str, own: Replacer) -> tuple[Replacer, Write]:
    """The replacer after its replace is published, and the write."""
    groups = replaced_groups(world, me)
    files = tuple((group, 1) for group in groups)
    added = marks(CompletesAs("commit"), MintedIds(own.file_ids), Loaded(groups), Replaced(groups))
    entry = Write(own.requested, own.completed, me, 1, files, added)
    return Replacer("done"), entry


def touched_groups(world: World, me: str, own: Replacer) -> tuple[int, ...]:
    """All file groups of its partitions."""
    return replaced_groups(world, me)


def take_back(own: Replacer, plans: Plans) -> Changes:
    """Delete the files, then, under the lock, the plan."""
    return {"own": Replacer("gave up"), "plans": tuple(plan for plan in plans if plan.requested != own.requested)}


def still_stands(setting: Setting) -> Check | None:
    """What it asks before it publishes, under OCC as it looks for conflicts: no restore has undone its plan."""
    return stands("requested") if setting.if_any("restores") else None


def pending(every_replacer: Mapping[str, Replacer], setting: Setting) -> Iterator[Instant]:
    """The pending replaces, unless each is a pending plan like others."""
    if setting.protocol.replacing == "plan":
        return
    for own in every_replacer.values():
        if own.requested:
            yield Instant(own.requested, "commit", "requested" if own.step == "scheduled" else "inflight", None)
