"""Compactors: a plan made under the lock while writers go on, base files, a completed instant; plans of the dead.

RFC-66, "Non-Serial Compaction Plan Schedule". A plan fixes its inputs when it is made; whoever runs it writes the same
base files, so that another compactor can take it up again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..clock import requests_of
from ..conditions import at, lock_is_free
from ..planning import plan
from ..publication import publication_actions, publication_rows
from ..step import Action, Args, Guard, Row
from ..table import Compaction, Instant, Plan, table_of
from . import Setting
from .writer import KIND as WRITER
from .writer import unpublished

KIND, PREFIX = "compactor", "c"
IN_RANDOM_WORLDS = 2
SERVICE = True
ACTIONS = (
    Action("compactor_schedules_plan", "under the lock: takes a requested time and puts the plan",
           "{actor} schedules a plan"),
    Action("compactor_starts_plan", "puts the inflight instant of the plan it scheduled", "{actor} starts its plan"),
    Action("compactor_resumes_plan", "takes up the oldest pending plan whose runner died",
           "{actor} takes up the plan of a dead compactor"),
    Action("compactor_writes_base", "puts the base file of one file group", "{actor} writes the base of group {group}"),
    *publication_actions(KIND),
)  # fmt: skip


class Compactor(NamedTuple):
    """`plan` is the requested time of the plan it scheduled or runs, `groups` those it works on, `bases` those done."""

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    bases: int = 0
    completed: int = 0
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    return {"plans": (), **{me: Compactor() for me in setting.of(KIND)}}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _scheduling(me, setting)
        yield _resuming(me, setting)
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Row:
    world, protocol = setting.world, setting.protocol
    times = requests_of(setting, me)
    looks_at_writers = protocol.plan_takes == "any_log" or protocol.scheduling == "serial" or times.reads
    writers = setting.of(WRITER) if looks_at_writers else ()

    def inputs(barrier: int, published: tuple[Any, ...], plans: tuple[Plan, ...], others: tuple[Any, ...]) -> Any:
        seen = protocol.plan_takes == "any_log"
        logs = unpublished(setting, dict(zip(writers, others, strict=True))) if seen else ()
        return plan(table_of(published, plans, logs), world.groups, barrier, protocol)

    def readings(own: Compactor, lock: None, clock: int, published: Any, plans: Any, *others: Any) -> Iterator[Args]:
        """Those by which there is a log to compact: one that a clock behind gives may lie before every completion."""
        for args in times.clock.readings():
            ahead = next((value for _, value in args if isinstance(value, int)), 0)
            time, _ = times.take("commit", clock, (published, plans, *others), ahead)
            if inputs(time, published, plans, others):
                yield args

    def schedules(
        own: Compactor, lock: None, clock: int, published: Any, plans: Any, *others: Any, ahead: int = 0
    ) -> tuple[Any, ...]:
        barrier, later = times.take("commit", clock, (published, plans, *others), ahead)
        parts = inputs(barrier, published, plans, others)
        own = Compactor("about to start its plan", barrier, tuple(part.group for part in parts))
        return own, later, (*plans, Plan(barrier, me, False, parts))

    guards = [
        lock_is_free(),
        Guard("a compaction must be left", lambda *v: len(v[4]) < world.compactions, budget=True),
        Guard("there must be a log to compact", lambda *v: next(iter(readings(*v)), None) is not None),
    ]
    if protocol.scheduling == "serial":
        guards.append(Guard("nobody may be writing", lambda *v: not any(writer.requested for writer in v[5:])))
    reads = (me, "lock", "clock", "published", "plans", *writers)
    return Row("compactor_schedules_plan", me, reads, (me, "clock", "plans"), (at(me, "idle"),),
               schedules, tuple(guards), readings)  # fmt: skip


def _resuming(me: str, setting: Setting) -> Row:
    others = tuple(name for name in setting.of(KIND) if name != me)

    def orphan(published: tuple[Any, ...], plans: tuple[Plan, ...], peers: tuple[Compactor, ...]) -> Plan | None:
        done = {entry.requested for entry in published if isinstance(entry, Compaction)}
        dead = {name for name, peer in zip(others, peers, strict=True) if peer.dead}
        return next((p for p in plans if p.requested not in done and p.runner in dead), None)

    def resumes(own: Compactor, published: Any, plans: tuple[Plan, ...], *peers: Compactor) -> tuple[Any, ...]:
        found = orphan(published, plans, peers)
        assert found is not None, "the guard saw the same plans"
        return _started(me, found, plans)

    guard = Guard("a plan must be pending whose runner died", lambda own, done, plans, *p: bool(orphan(done, plans, p)))
    reads = (me, "published", "plans", *others)
    return Row("compactor_resumes_plan", me, reads, (me, "plans"), (at(me, "idle"),), resumes, (guard,))


def _running(me: str, setting: Setting) -> Iterator[Row]:
    def starts(own: Compactor, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        return _started(me, next(p for p in plans if p.requested == own.plan), plans)

    def next_group(own: Compactor) -> Iterable[Args]:
        return ((("group", own.groups[own.bases]),),)

    def writes(own: Compactor, group: int) -> tuple[Any, ...]:
        last = own.bases + 1 == len(own.groups)
        return (own._replace(step="written" if last else "running its plan", bases=own.bases + 1),)

    def publish(own: Compactor) -> tuple[Compactor, Compaction]:
        return Compactor(), Compaction(own.plan, own.completed, me)

    yield Row("compactor_starts_plan", me, (me, "plans"), (me, "plans"), (at(me, "about to start its plan"),), starts)
    yield Row("compactor_writes_base", me, (me,), (me,), (at(me, "running its plan"),), writes, choices=next_group)
    yield from publication_rows(KIND, me, "written", setting, publish, requested=lambda own: own.plan)


def _started(me: str, started: Plan, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
    own = Compactor("running its plan", started.requested, tuple(part.group for part in started.groups))
    return own, tuple(p._replace(runner=me, inflight=True) if p == started else p for p in plans)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"]}
    for each in values["plans"]:
        if each.requested not in done:
            yield Instant(each.requested, "compaction", "inflight" if each.inflight else "requested", None)
