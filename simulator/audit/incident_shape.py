"""The shape of a timeline: its instants with the order of their times and the inputs of their plans.

Two timelines of one shape differ in names, sizes and clock readings alone. The shape of a part of an incident is the
goal of a search (`incident_search`), and the shape of a state of the model says whether the state is the goal, or may
still lead to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from nbcc.engine.audit import Audit
from nbcc.engine.file_names import parse_log
from nbcc.engine.timeline import Instant
from nbcc.model import Model, State
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.mechanism import Kind
from nbcc.model.mechanisms import kind_of
from nbcc.model.mechanisms.bulk_insert.mechanism import BULK_INSERTER
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.clustering import CLUSTERER
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.restores.mechanism import RESTORER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER

OF_OPERATION: Final[Mapping[str, Kind]] = {
    "BULK_INSERT": BULK_INSERTER, "INSERT_OVERWRITE": OVERWRITER, "INSERT_OVERWRITE_TABLE": OVERWRITER,
    "DELETE_PARTITION": OVERWRITER, "CLUSTER": CLUSTERER, "COMPACT": COMPACTOR, "LOG_COMPACT": LOG_COMPACTOR,
}  # fmt: skip
"""The kind of actor that completes an operation; all others are operations of writers."""
OF_ACTION: Final[Mapping[str, Kind]] = {
    "clean": CLEANER, "rollback": ROLLBACKER, "restore": RESTORER, "compaction": COMPACTOR,
    "logcompaction": LOG_COMPACTOR, "clustering": CLUSTERER,
}  # fmt: skip
"""The kind of actor that an action belongs to; their operation distinguishes the other actions."""
WRITERS: Final = frozenset({WRITER.name, BULK_INSERTER.name, OVERWRITER.name, ""})
"""The kinds whose pending instants look alike. '' is a write that was undone: nothing shows what it was."""


class Mark(NamedTuple):
    """One instant: the kind of its actor, its times, and the requested times of the instants that it takes or undoes.

    `completed` is None for a pending instant. `undone` is True for an instant that a rollback or restore names and that
    is not on the timeline.
    """

    requested: int
    completed: int | None
    kind: str
    takes: tuple[int, ...] = ()
    undone: bool = False

    @property
    def times(self) -> tuple[int, ...]:
        return (self.requested,) if self.completed is None else (self.requested, self.completed)


Shape = tuple[Mark, ...]


def ranked(marks: Iterable[Mark]) -> Shape:
    """Return the marks with the ranks of their times in the place of the times, sorted. Equal times have one rank."""
    given = sorted(marks, key=lambda mark: (mark.requested, mark.completed or 0, mark.kind))
    times = sorted({time for mark in given for time in (*mark.times, *mark.takes)})
    rank = {time: number for number, time in enumerate(times)}
    return tuple(
        Mark(rank[m.requested], None if m.completed is None else rank[m.completed], m.kind,
             tuple(sorted(rank[t] for t in m.takes)), m.undone)
        for m in given
    )  # fmt: skip


def of_audit(audit: Audit, chosen: frozenset[str], groups: frozenset[tuple[str, str]]) -> Shape:
    """Return the shape of the chosen instants of an incident. Only the plans of the given file groups count."""
    return ranked(_marks_of(audit, chosen, groups))


def _marks_of(audit: Audit, chosen: frozenset[str], groups: frozenset[tuple[str, str]]) -> Iterator[Mark]:
    shown = set()
    for instant in instants_of(audit):
        if instant.requested in chosen and instant.action != "savepoint":
            shown.add(instant.requested)
            takes = [int(time) for time in taken_by(audit, instant.requested, groups) if time in chosen]
            completed = None if instant.completed is None else int(instant.completed)
            yield Mark(int(instant.requested), completed, kind_in(audit, instant), tuple(sorted({*takes})))
    undone = {time for requested in chosen for time in undone_in(audit, requested)}
    yield from (Mark(int(time), None, "", undone=True) for time in sorted((undone & chosen) - shown))


def instants_of(audit: Audit) -> tuple[Instant, ...]:
    """Return the active and archived instants; an instant with two completed files appears twice."""
    active = {each.requested for each in audit.timeline.instants}
    pending = tuple(i for i in audit.timeline.instants if i.completed is None)
    return (*audit.completions, *pending, *(i for i in audit.archive if i.completed and i.requested not in active))


def kind_in(audit: Audit, instant: Instant) -> str:
    """Return the name of the kind of actor that an instant of a table belongs to."""
    commit, plan = audit.commits.get(instant.requested), audit.plans.get(instant.requested)
    if plan is not None and plan.replaces:
        return OVERWRITER.name
    operation = commit.operation if commit is not None else ""
    kind = OF_OPERATION.get(operation or "") or OF_ACTION.get(instant.action)
    if kind is None and plan is not None:
        kind = COMPACTOR
    return (kind or WRITER).name


def undone_in(audit: Audit, requested: str) -> frozenset[str]:
    """Return the requested times of the instants that a rollback or restore undoes."""
    rollbacks = (each.undone for each in audit.rollbacks if each.instant.requested == requested)
    restores = ([time for time, _ in each.undone] for each in audit.restores if each.requested == requested)
    return frozenset(time for undone in (*rollbacks, *restores) for time in undone)


def taken_by(audit: Audit, requested: str, groups: frozenset[tuple[str, str]]) -> frozenset[str]:
    """Return the requested times of the writes whose logs a plan takes in the given file groups, and of the instants
    that a rollback undoes.
    """
    plans = (plans[requested] for plans in (audit.plans, audit.log_plans) if requested in plans)
    operations = (each for plan in plans for each in plan.operations if (each.partition, each.file_id) in groups)
    logs = (parse_log(name) for each in operations for name in each.logs)
    # A log that an earlier compaction wrote keeps deletes: it is part of the base file of that compaction.
    taken = frozenset(log.instant for log in logs if log is not None and log.instant not in audit.plans)
    return taken | undone_in(audit, requested)


def of_state(model: Model, state: State) -> Shape:
    """Return the shape of the timeline of a state of the model."""
    return ranked(_marks_in(model, state))


def _marks_in(model: Model, state: State) -> Iterator[Mark]:
    named = {name: model.component(state, name) for name in ("plans", "log_plans", "rollbacks", "restores")
             if name in model.components}  # fmt: skip
    plans = {plan.requested: plan for component in ("plans", "log_plans") for plan in named.get(component, ())}
    takes = {r: tuple({log[0] for part in plan.groups for log in part.logs}) for r, plan in plans.items()}
    undoing = {each.requested: (each.target,) for each in named.get("rollbacks", ())}
    undoing |= {each.requested: tuple(each.undone) for each in named.get("restores", ())}
    shown = set()
    for entry in model.component(state, "published"):
        shown.add(entry.requested)
        taken = undoing.get(entry.requested) or takes.get(entry.requested, ())
        yield Mark(entry.requested, entry.completed, kind_of(entry.actor), taken)
    for instant in model.pending(state):
        if instant.action != "savepoint" and instant.requested not in shown:
            shown.add(instant.requested)
            taken = undoing.get(instant.requested) or takes.get(instant.requested, ())
            kind = (OF_ACTION.get(instant.action) or WRITER).name
            kind = kind_of(plans[instant.requested].runner) if instant.requested in plans else kind
            yield Mark(instant.requested, None, kind, taken)
    undone = {time for times in undoing.values() for time in times} - shown
    yield from (Mark(time, None, "", undone=True) for time in undone)


@lru_cache(maxsize=1 << 16)
def leads_to(now: Shape, goal: Shape) -> bool:
    """Return True if each instant of `now` can be an instant of the goal that has not gone further: the same kind, the
    same order of times, and a plan of the same inputs.
    """
    return _embeds(now, goal, (), done=False)


def is_goal(now: Shape, goal: Shape) -> bool:
    return len(now) == len(goal) and _embeds(now, goal, (), done=True)


def _embeds(now: Shape, goal: Shape, places: tuple[int, ...], *, done: bool) -> bool:
    number = len(places)
    if number == len(now):
        return _inputs_fit(now, goal, places)
    for place, mark in enumerate(goal):
        if place in places or not _fits(now[number], mark, done):
            continue
        chosen = (*places, place)
        if _in_order(now, goal, chosen) and _embeds(now, goal, chosen, done=done):
            return True
    return False


def _fits(mark: Mark, wanted: Mark, done: bool) -> bool:
    alike = mark.kind == wanted.kind or (mark.completed is None and {mark.kind, wanted.kind} <= WRITERS)
    if done:
        return alike and mark.undone == wanted.undone and (mark.completed is None) == (wanted.completed is None)
    if mark.undone:  # a stalled writer may publish although its instant was removed
        return wanted.kind in WRITERS
    return alike and (mark.completed is None or wanted.completed is not None)


def _in_order(now: Shape, goal: Shape, places: tuple[int, ...]) -> bool:
    """Return True if the newest placed instant has the same order to the others as in the goal."""
    newest, at = now[len(places) - 1], goal[places[-1]]
    own = _paired(newest, at)
    known = [pair for mark, place in zip(now, places, strict=False) for pair in _paired(mark, goal[place])]
    return all(
        (time < other) == (wanted < aim) and (time == other) == (wanted == aim)
        for time, wanted in own
        for other, aim in known
    )


def _paired(mark: Mark, wanted: Mark) -> tuple[tuple[int, int], ...]:
    return tuple(zip(mark.times, wanted.times, strict=False))


def _inputs_fit(now: Shape, goal: Shape, places: tuple[int, ...]) -> bool:
    time_of = {mark.requested: goal[place].requested for mark, place in zip(now, places, strict=True)}
    return all(
        not mark.takes or tuple(sorted(time_of.get(time, -1) for time in mark.takes)) == goal[place].takes
        for mark, place in zip(now, places, strict=True)
    )
