"""When two states look the same to every promise: equal but for how late things happened and what actors are called.

Promises compare times with each other and never with a number, and they look at what was written, not at who wrote it.
So the times of a state may be replaced by their ranks, and the names left out: several times fewer states are left to
be judged. A test holds this against judging every state by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from ..model import Model
from ..packed import State
from ..shared_log import LOGS
from ..table import Cleaned, Compaction, GroupPlan, Plan, Rollback, RolledBack, Write

KNOWN = {
    Write: ("requested", "completed", "actor", "number", "files", "bases", "file_ids", "onto", "loaded", "replaced",
            "into", "places", "columns"),
    Compaction: ("requested", "completed", "actor", "clustered"),
    RolledBack: ("requested", "completed", "actor"),
    Cleaned: ("requested", "completed", "actor"),
    Rollback: ("requested", "target", "planner", "inflight", "deleted", "forgotten", "removed"),
    Plan: ("requested", "runner", "inflight", "groups", "clusters", "columns"),
    GroupPlan: ("group", "base", "logs"),
}
"""The fields of what is known here. Whoever adds one decides here whether it is a time; a test asks for it."""


def shape_of(model: Model, *states: State) -> Hashable | None:
    """What promises can tell of these states; None where something is in them that is not known here."""
    if {"restores", "schemas", LOGS} & {*model.components}:
        return None
    if set(model.table_reads) - {"rollbacks"} != {"published", "plans"} or model.world.settings:
        return None
    if model.setting.of("clusterer") and model.protocol.clustering == "file_ids":
        return None
    read = ("published", "plans", "clock", *model.setting.of("reader"))
    undone = "rollbacks" in model.components
    values = [[model.component(state, name) for name in read] for state in states]
    rollbacks = [model.component(state, "rollbacks") if undone else () for state in states]
    entries = [each for published, plans, *_ in values for each in (*published, *plans)]
    entries += [each for some in rollbacks for each in some]
    if any(KNOWN.get(type(each)) != each._fields or getattr(each, "file_ids", ()) for each in entries):
        return None
    by_clock = model.protocol.read_time == "clock"
    found = sorted({time for each in values for time in _times(each, by_clock)})
    rank = {time: place for place, time in enumerate(found)}
    ranked = tuple(_ranked(each, rank, by_clock) for each in values)
    return (ranked, tuple(_undone(some, rank) for some in rollbacks)) if undone else ranked


def _times(values: list[Any], by_clock: bool) -> Iterator[int]:
    published, plans, clock, *readers = values
    for entry in published:
        yield from (entry.requested, entry.completed)
        yield from (base for base in getattr(entry, "bases", ()) if base is not None)
        yield from (base for _, base in getattr(entry, "onto", ()) if base is not None)
    for plan in plans:
        yield plan.requested
        for part in plan.groups:
            # A plan may hold what never completed, where the protocol lets it.
            yield from (requested for requested, _ in part.logs)
            yield from () if part.base is None else (part.base,)
    if by_clock:
        yield clock
    yield from (reader.time for reader in _answered(readers))


def _ranked(values: list[Any], rank: dict[int, int], by_clock: bool) -> Hashable:
    published, plans, clock, *readers = values
    return (
        tuple(_entry(entry, rank) for entry in published),
        tuple((rank[plan.requested], tuple(_part(part, rank) for part in plan.groups)) for plan in plans),
        rank[clock] if by_clock else None,
        # Who of the readers answered what does not matter, nor what is between.
        frozenset((rank[r.time], r.plans, tuple(rank[kept] for kept in r.kept)) for r in _answered(readers)),
    )


def _entry(entry: Any, rank: dict[int, int]) -> Hashable:
    times = (rank[entry.requested], rank[entry.completed])
    if isinstance(entry, Write):
        bases = tuple(base if base is None else rank[base] for base in entry.bases)
        onto = tuple((group, base if base is None else rank[base]) for group, base in entry.onto)
        return (*times, entry.files, bases, onto, entry.loaded, entry.replaced)
    return times if isinstance(entry, Compaction) else (*times, entry.action)


def _undone(rollbacks: tuple[Rollback, ...], rank: dict[int, int]) -> Hashable:
    """How many files of what is published are gone; what becomes of a write that is not, no read can tell."""
    gone: dict[int, int] = {}
    for rollback in rollbacks:
        if rollback.target in rank:
            target = rank[rollback.target]
            gone[target] = max(rollback.deleted, gone.get(target, 0))
    return bool(rollbacks), frozenset(gone.items())


def _part(part: GroupPlan, rank: dict[int, int]) -> Hashable:
    base = None if part.base is None else rank[part.base]
    return part.group, base, tuple((rank[requested], version) for requested, version in part.logs)


def _answered(readers: Iterable[Any]) -> Iterator[Any]:
    return (reader for reader in readers if reader.step == "answered")
