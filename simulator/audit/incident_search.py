"""Finds the shortest run of the model that leaves the timeline of an incident.

A diagnostic names a few instants. The search takes them, their order of times and the inputs of their plans as its goal
(`incident_shape`), and builds a small world with exactly the actors that made them. It first searches under the
protocol of the writers. If no run of that protocol leaves such a timeline, it searches under the weaker protocol that
is named for the diagnostic. States that cannot lead to the goal are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from nbcc.engine.audit import Audit
from nbcc.engine.files.group_files import Group
from nbcc.model import Model, State, Step, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.clustering import CLUSTERER
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.restores.mechanism import RESTORER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.savepoints import SAVEPOINTER
from nbcc.model.promises import PROMISES
from nbcc.model.world import limit_names

from .. import specs
from ..lockstep.replay import play
from ..lockstep.shrink import realised
from ..lockstep.systems.registry import factory
from ..lockstep.witness import witness
from ..search.verdicts.search_bounds import pins
from ..trace import Trace
from .diagnostics import Diagnostic
from .incident_shape import Shape, instants_of, is_goal, leads_to, of_audit, of_state, taken_by, undone_in

STATES: Final = 5_000
"""The most states of one search."""
INSTANTS: Final = 5
"""The most instants of a goal."""
SHOWN: Final = ("published", "plans", "log_plans", "rollbacks", "restores")
_TIMES: Final = re.compile(r"\d{17}")
OF_DECISION: Final = {"log": "decision-log", "free": "free-commits", "shared": "shared-commits"}
FOUND_BY: Final = "nbcc incident"


class Searched(NamedTuple):
    """The result of one search: the protocol, the number of states, and the shortest run; None if no run was found.

    `whole` is True if all states that can lead to the goal were visited, so that no run exists in this world.
    """

    protocol: str
    states: int
    whole: bool
    run: Trace | None

    @property
    def text(self) -> str:
        if self.run is not None:
            breaks = f", which breaks {self.run.promise}" if self.run.promise else ", which breaks no promise"
            return f"{self.protocol}: a run of {len(self.run.steps)} steps leaves them{breaks}"
        bound = "" if self.whole else ", and the search ended there"
        return f"{self.protocol}: no run leaves them in {self.states:,} states{bound}"


class Evidence(NamedTuple):
    """The searches for the instants of a diagnostic: under the protocol of the writers first, then under weaker ones.
    """

    instants: tuple[str, ...]
    searches: tuple[Searched, ...]

    @property
    def run(self) -> Trace | None:
        """The run of the last search that found one."""
        return next((each.run for each in reversed(self.searches) if each.run is not None), None)

    @property
    def confirms(self) -> bool:
        """True if a weaker protocol leaves the timeline, and that of the writers does not."""
        return self.searches[0].run is None and any(each.run is not None for each in self.searches)

    @property
    def refutes(self) -> bool:
        """True if no searched protocol leaves the timeline."""
        return all(each.whole and each.run is None for each in self.searches)


def evidence_of(
    audit: Audit, places: Iterable[Diagnostic], named: Sequence[str], others: Iterable[str] = ()
) -> Evidence | None:
    """Search for the instants of a diagnostic, at the first of its places that has instants of the model.

    `named` are the protocols that may be its cause, and `others` are searched one by one if no run is found before.
    Returns None if no place names an instant that the model has.
    """
    for place in places:
        chosen, groups = _part(audit, place)
        goal = of_audit(audit, chosen, groups)
        if 0 < len(goal) <= INSTANTS:
            searches = [searched(goal, name) for name in dict.fromkeys((own_protocol(audit), *named))]
            for name in others if all(each.run is None for each in searches) else ():
                if (found := searched(goal, name)).run is not None:
                    searches.append(found)
                    break
            return Evidence(tuple(sorted(chosen)), tuple(searches))
    return None


def evidence_of_newest(audit: Audit) -> Evidence | None:
    """Search for the newest writes and compactions of one file group under the protocol of the writers. Returns None if
    the table has none.
    """
    files = sorted(audit.files.values(), key=lambda file: (file.requested, file.path))
    if not files:
        return None
    group = files[-1].partition, files[-1].file_id
    plans = {r for r, plan in {**audit.plans, **audit.log_plans}.items() if group in plan.groups}
    known = {file.requested for file in files if (file.partition, file.file_id) == group} | plans
    shown = sorted({i.requested for i in instants_of(audit)} & known)
    newest = frozenset(shown[1 - INSTANTS :])
    # A plan of the model takes at least one log.
    chosen = frozenset(r for r in newest if r not in plans or taken_by(audit, r, frozenset([group])) & newest)
    goal = of_audit(audit, chosen, frozenset([group]))
    return Evidence(tuple(sorted(chosen)), (searched(goal, own_protocol(audit)),)) if goal else None


def own_protocol(audit: Audit) -> str:
    """Return the name of the protocol that the properties of a table imply."""
    if not audit.own:
        return "hudi-1.2.0"
    return OF_DECISION.get(audit.properties.get("nbcc.decision", ""), "default")


@lru_cache(maxsize=1 << 10)
def searched(goal: Shape, name: str) -> Searched:
    """Search the small worlds of a goal under one protocol, until a run is found."""
    states, whole = 0, True
    for model in _models(goal, name):
        found = _search(goal, model, name)
        states, whole = states + found.states, whole and found.whole
        if found.run is not None:
            return found
    return Searched(name, states, whole, None)


def _part(audit: Audit, place: Diagnostic) -> tuple[frozenset[str], frozenset[Group]]:
    """Return the requested times of the instants that a diagnostic is about, and its file group."""
    completions = {i.completed: i.requested for i in instants_of(audit)}
    known = {i.requested for i in instants_of(audit)}
    named = (each for time in _TIMES.findall(f"{place.file} {place.because}") for each in (time, completions.get(time)))
    chosen: dict[str, None] = dict.fromkeys(time for time in named if time in known)
    file = audit.files.get(place.file)
    groups = {(file.partition, file.file_id)} if file else set(_groups_of(audit, chosen))
    for requested in [*chosen]:
        chosen |= dict.fromkeys(r.savepoint for r in audit.restores if r.requested == requested)
        undoing = (i.requested for i in instants_of(audit) if requested in undone_in(audit, i.requested))
        chosen |= dict.fromkeys((*undoing, *sorted(undone_in(audit, requested))[:1]))
        taken = taken_by(audit, requested, frozenset(groups))
        if taken and not taken & {*chosen}:
            chosen[max(taken)] = None  # a plan of the model takes at least one log
    return frozenset([*chosen][:INSTANTS]), frozenset(groups)


def _groups_of(audit: Audit, chosen: Iterable[str]) -> Iterator[Group]:
    for requested in chosen:
        plans = [plans[requested] for plans in (audit.plans, audit.log_plans) if requested in plans]
        found = sorted((each.partition, each.file_id) for plan in plans for each in plan.operations)
        yield from found[:1]


def _models(goal: Shape, protocol: str) -> Iterator[Model]:
    """Yield the models of the small worlds of a goal that the protocol fits."""
    for given in _worlds(goal, protocol):
        with suppress(ValueError):  # such as a mechanism that is not modelled under this protocol
            yield Model(World(**given), specs.protocol(protocol))


def _worlds(goal: Shape, protocol: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of small worlds with the actors that made the instants: without faults, and with those in which
    the protocol is weak.
    """
    kinds = Counter(kind for _, kind in {(mark.requested, mark.kind or WRITER.name) for mark in goal})
    actors, limits = dict(kinds), {"compactions": kinds[COMPACTOR.name] + kinds[CLUSTERER.name]}
    limits["log_compactions"] = kinds[LOG_COMPACTOR.name]
    limits["rollbacks"] = limits["stalls"] = kinds[ROLLBACKER.name]
    if kinds[CLEANER.name]:
        limits |= {"cleans": kinds[CLEANER.name], "commits_retained": 1}
    if kinds[RESTORER.name]:
        actors[SAVEPOINTER.name] = 1
        limits |= {"restores": kinds[RESTORER.name], "savepoints": 1}
    actors.setdefault(WRITER.name, 0)
    calm: dict[str, Any] = {"actors": actors, "writes_per_writer": 1, **limits}
    yield calm
    pin = pins().get(protocol)
    pinned = specs.world(pin["world"]).flat() if pin else {}
    more = {n: max(limits.get(n, 0), v) for n in limit_names() if isinstance(v := pinned.get(n), int)}
    crew = {k: max(n, pinned["actors"].get(k, 0)) if k != WRITER.name else n for k, n in actors.items() if pinned}
    more = {n: v for n, v in more.items() if v}
    if pinned or not more:
        faulty = {**calm, **limits, **more, "actors": crew or actors}
        faulty |= {"crashes": max(1, more.get("crashes", 0))} if not pinned else {}
        if faulty != calm:
            yield faulty


class _Towards:
    """The states of a model that can still lead to a timeline of the given shape."""

    def __init__(self, model: Model, goal: Shape) -> None:
        self.model, self.goal, self.initial = model, goal, model.initial
        names = {*model.pending_reads, *(name for name in SHOWN if name in model.components)}
        self._key, self._shapes = model.projection(tuple(sorted(names))), dict[Any, Shape]()

    def shape(self, state: State) -> Shape:
        key = self._key(state)
        if key not in self._shapes:
            self._shapes[key] = of_state(self.model, state)
        return self._shapes[key]

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        for step, after in self.model.successors(state):
            if leads_to(self.shape(after), self.goal):
                yield step, after


def _search(goal: Shape, model: Model, protocol: str) -> Searched:
    """Visit the states that can lead to the goal, breadth first, until one is the goal."""
    system = _Towards(model, goal)
    parents: dict[Any, tuple[Any, Step] | None] = {system.initial: None}
    level = [system.initial]
    while level and len(parents) < STATES:
        following = []
        for state in level:
            for step, after in system.successors(state):
                if after in parents:
                    continue
                parents[after] = state, step
                if is_goal(system.shape(after), goal):
                    return Searched(protocol, len(parents), False, _trace(system.model, _path(parents, after)))
                following.append(after)
        level = following
    return Searched(protocol, len(parents), not level, None)


def _path(parents: dict[Any, tuple[Any, Step] | None], state: Any) -> tuple[Step, ...]:
    steps: list[Step] = []
    while (came := parents[state]) is not None:
        state, step = came
        steps.append(step)
    return tuple(reversed(steps))


def _trace(model: Model, steps: tuple[Step, ...]) -> Trace:
    named = realised(model, steps)
    assert named is not None, "the search took these steps"
    title = "the shortest run that leaves the timeline of the incident"
    bare = Trace(
        world=model.world, protocol=model.protocol, steps=named, batches=witness(model, steps), title=title,
        promise=_broken_by(model, steps), found_by=FOUND_BY,
    )  # fmt: skip
    played = play(bare, "model", factory("model")).trace
    return played if bare.promise else replace(played, verdict="")


def _broken_by(model: Model, steps: Sequence[Step]) -> str:
    """Return the name of the first promise that a run breaks; '' if it breaks none."""
    judged = [p for p in PROMISES.values() if p.kind != "run" and p.unfit(model) is None]
    before = model.initial
    for step in steps:
        after = model.apply(before, step)
        for promise in judged:
            if promise.holds(model, before, step, after):
                return promise.name
        before = after
    return ""
