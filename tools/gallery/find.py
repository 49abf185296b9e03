"""Searches the run of each entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from nbcc.model import Model, State, Step
from nbcc.model.mechanisms.conditions import reads_rows
from nbcc.model.promises import PROMISES
from nbcc.simulator.lockstep.counterexample import counterexample
from nbcc.simulator.lockstep.minimal_examples import Never
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.shrink import fewest_switches, realised
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.lockstep.witness import candidates, witness
from nbcc.simulator.search.explore import explore
from nbcc.simulator.trace import Batches, Trace
from nbcc.simulator.view.run import play as run
from nbcc.simulator.view.trace_content import content_of

from .catalogue import BROKEN, Entry
from .goals import GOALS

COMMAND = "python -m tools.regenerate gallery"


class NotFound(ValueError):
    """Raised if no run satisfies an entry of the catalogue."""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry with its run. ``states`` is the number of states of the world if the promise holds in all of them. It is
    0 if the promise is broken, or if the run follows an order that no search found.
    """

    entry: Entry
    trace: Trace
    states: int = 0


def found(entries: Sequence[Entry]) -> list[Found]:
    """Return the runs of all entries, in the order of the catalogue.

    Raises:
        NotFound: a search ended without a run, or a promise that should hold is violated.
    """
    runs = {entry.name: _searched(entry) for entry in entries if not entry.steps_of}
    for entry in entries:
        if entry.steps_of:
            runs[entry.name] = _played_again(entry, runs)
    return [Found(entry, runs[entry.name], _states(entry)) for entry in entries]


def _searched(entry: Entry) -> Trace:
    model = Model(entry.world, entry.protocol)
    if entry.order:
        run_of_order = _answer_cells(entry, _Run(model, tuple(steps_in(model, entry.order))))
        return run_of_order if entry.keeps else _visible(model, run_of_order)
    if entry.find == BROKEN:
        path = explore(model, [PROMISES[entry.promise]], until_all_broken=True).promises[entry.promise].trace
        if path is None:
            raise NotFound(f"{entry.name}: no interleaving breaks {entry.promise}")
        candidate = replace(counterexample(model, path, entry.promise, COMMAND), title=entry.title)
        return _visible(model, candidate)
    goal = GOALS[entry.find]

    def reached(model: Model, before: Any, step: Step | None, after: Any) -> str | None:
        return "reached" if goal(model, after) else None

    never = Never("state", reached)
    path = explore(model, [never], until_all_broken=True).promises[never.name].trace
    if path is None:
        raise NotFound(f"{entry.name}: no run reaches {entry.find}")
    return _answer_cells(entry, _Run(model, fewest_switches(model, path, reached) or tuple(path)))


def steps_in(model: Model, order: Sequence[tuple[str, str]]) -> Iterator[Step]:
    """Yield the steps of an order: each actor takes its first possible step until it has taken the action.

    Raises:
        NotFound: the actor can take no step.
    """
    state: State = model.initial
    for actor, last in order:
        action = ""
        while action != last:
            step = next((each for each in model.enabled(state) if each.actor == actor), None)
            if step is None:
                raise NotFound(f"{actor} can take no step, and has not taken {last}")
            yield step
            state, action = model.apply(state, step), step.action


NOT_OF_ROWS = frozenset({"FIRST", "ACK", "KEY", "ISO", "CLEAN", "ARCH", "REC", "ONCE", "FREE", "MONO", "SAME"})
"""Promises whose violation no row of a picture shows. No picture shows reads through a checkpoint (SAME)."""


class _Run(NamedTuple):
    model: Model
    steps: tuple[Step, ...]


def _visible(model: Model, candidate: Trace) -> Trace:
    steps = run(model, candidate.steps).steps
    for batches in [candidate.batches, *candidates(model, steps)]:
        shown = (
            candidate
            if batches is candidate.batches
            else play(replace(candidate, batches=batches, observed=()), "model", factory("model")).trace
        )
        keys = {key for batch in batches.values() for rows in batch.values() for key in rows}
        if content_of(shown).key in keys:
            return shown
    if candidate.promise in NOT_OF_ROWS:
        return candidate
    raise NotFound(f"{candidate.title}: no rows show it")


def _answer_cells(entry: Entry, run: _Run) -> Trace:
    named = realised(run.model, run.steps)
    assert named is not None, "the search took these steps"
    batches = witness(run.model, run.steps)
    if reads_rows(entry.world):  # the picture shows a row at the end
        batches = next(each for each in candidates(run.model, run.steps) if _ends_with_rows(entry, named, each))
    return _played(entry, Trace(world=entry.world, protocol=entry.protocol, steps=named, batches=batches))


def _ends_with_rows(entry: Entry, steps: tuple[Step, ...], batches: Batches) -> bool:
    trace = Trace(world=entry.world, protocol=entry.protocol, steps=steps, batches=batches)
    return bool(play(trace, "model", factory("model")).answered[-1].get("snapshot"))


def _played_again(entry: Entry, runs: Mapping[str, Trace]) -> Trace:
    return _played(entry, replace(runs[entry.steps_of], world=entry.world, protocol=entry.protocol))


def _played(entry: Entry, trace: Trace) -> Trace:
    asked = replace(trace, observed=(), promise=entry.promise, title=entry.title, verdict="", found_by=COMMAND)
    outcome = play(asked, "model", factory("model"))
    if not outcome.fits or outcome.verdict != ("VIOLATED" if entry.find == BROKEN else "AGREED"):
        raise NotFound(f"{entry.name}: {outcome.sentence}")
    return outcome.trace


def _states(entry: Entry) -> int:
    if not entry.keeps or entry.order:
        return 0
    result = explore(Model(entry.world, entry.protocol), [PROMISES[entry.promise]])
    if result.promises[entry.promise].verdict != "HOLDS":
        raise NotFound(f"{entry.name}: {entry.promise} is {result.promises[entry.promise].verdict}")
    return result.distinct
