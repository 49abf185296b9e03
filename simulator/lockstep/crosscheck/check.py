"""Plays random histories (sequences of steps) on the model and on a system under test. Hypothesis generates and shrinks
the histories. If model and system agree, this is evidence, not proof, that the model is right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbcc.model import Model, Protocol, Step, World
from nbcc.model.assembly import is_modelled

from ... import trace as traces
from ...search.explore.quotient import Quotient
from ..mapping import MAPPING
from ..mechanism import MappingRow
from ..schedule import AtomicPhases, Choose, Limited, Pct, Random, Replay, Schedule, Swarm, no_choice
from ..shrink import shrink_disagreement
from ..systems import Impossible, System
from ..systems.played import unplayed
from .coverage import PINNED, EdgeCoverage, all_edges, pinned
from .disagreement import Disagreement
from .generators import draw_batches, draw_world, modelled_part
from .history import PlayedHistory
from .overlaps import overlapping_kinds
from .readers import Reader, standard_readers
from .report import CheckReport, Tally
from .themes import themed

Factory = Callable[[World, Protocol, traces.Batches], System]
SCHEDULES: tuple[Callable[[], Schedule], ...] = (
    Random,
    lambda: Swarm(Random()),
    Pct,
    Random,
    lambda: Swarm(Random()),
    lambda: Swarm(Pct()),
)
"""Each history picks one at random. PCT rarely switches actors, by design, so it has a third of the entries."""
PINNED_ONE_IN = 5
IN_FLIGHT_ONE_IN = 4
LONGEST_IN_FLIGHT = 32
"""One history in so many stops after at most so many steps, perhaps with actors within their operations."""


@dataclass
class CheckOptions:
    """The options of a check (a comparison of model and system). If ``world`` is None, each history runs in a random
    world (a set of actors and limits).
    """

    factory: Factory
    protocol: Protocol = field(default_factory=Protocol)
    world: World | None = None
    mapping: Sequence[MappingRow] = field(default_factory=lambda: MAPPING)
    readers: Sequence[Reader] = field(default_factory=standard_readers)  # of the table, at the end
    model: Callable[[World, Protocol], Model] = Model
    fitted: Callable[[World], World] = lambda world: world  # reduces a world to what the system can play
    schedules: Sequence[Callable[[], Schedule]] = SCHEDULES
    kinds: Collection[str] | None = None  # of actors in random worlds; None: of every mechanism
    found_by: str = ""
    system: str = ""  # the name of the factory
    repeats: bool = True  # whether a batch may hold several records of a key

    @property
    def widened(self) -> bool:
        """True if random histories may add mechanisms, repeat keys or end with pending operations. Apache Hudi's client
        supports none of these.
        """
        return self.kinds is None and self.system != "hudi"


class Check:
    """Plays random histories and counts their steps, faults and skipped reads. `disagreed` is the trace of the last
    history in which model and system differed.
    """

    def __init__(self, options: CheckOptions) -> None:
        self.options = options
        self.tally = Tally()
        self.coverage = EdgeCoverage()
        self.disagreed: traces.Trace | None = None

    def play(self, choose: Choose) -> None:
        """Play one random history on the model and the system. Every random decision is made by ``choose(n)``, which
        returns a number from 0 to n - 1.

        Raises:
            Disagreement: If model and system differ.
        """
        options = self.options
        world = options.fitted(options.world or self._drawn_world(choose))
        # Edges are counted only where all of them are known, and only for the model itself, not for a mutant of it.
        graph = None
        if world == options.fitted(PINNED) and options.model is Model:
            graph = pinned(world, options.protocol)
        model = graph.model if graph else options.model(world, options.protocol)
        batches = draw_batches(choose, world, repeats=options.widened and options.repeats)
        # A new one for each history: a schedule has a state, and a history must not depend on the ones before it.
        schedule = options.schedules[choose(len(options.schedules))]()
        if options.widened and choose(IN_FLIGHT_ONE_IN) == IN_FLIGHT_ONE_IN - 1:
            schedule = Limited(schedule, 1 + choose(LONGEST_IN_FLIGHT))
        self.walk(model, batches, schedule, choose, graph)

    def _drawn_world(self, choose: Choose) -> World:
        """Return a random world, or its part that is modelled under the protocol and played by histories."""
        fitted, protocol = self.options.fitted, self.options.protocol

        def fits(world: World) -> bool:
            return is_modelled(fitted(world), protocol) and not unplayed(fitted(world), protocol)

        world = self._any_world(choose)
        return world if fits(world) else modelled_part(choose, world, fits) or PINNED

    def _any_world(self, choose: Choose) -> World:
        options = self.options
        # The last number and not 0: a choice that shrinks to 0 then shrinks away from the pinned world.
        if choose(PINNED_ONE_IN) == PINNED_ONE_IN - 1:
            return PINNED
        world = draw_world(choose, options.kinds)
        return themed(choose, world) if options.widened else world

    def walk(
        self,
        model: Model,
        batches: traces.Batches,
        schedule: Schedule,
        choose: Choose = no_choice,
        graph: Quotient | None = None,
    ) -> None:
        """Play one history; ``schedule`` selects its steps. If a state graph is given as ``graph``, count the edges of
        this graph that the history covers.

        Raises:
            Disagreement: If model and system differ.
        """
        system = self.options.factory(model.world, self.options.protocol, batches)
        # A system with phases that it cannot interrupt is given the schedules that it can play.
        if coarse := getattr(system, "coarse", ()):
            schedule = AtomicPhases(schedule, coarse)
        history = PlayedHistory(model, system, batches, self.options.mapping)
        tally = Tally() if self.disagreed else self.tally  # histories of the shrinking do not count
        try:
            overlapped = self._steps(history, schedule, choose, graph)
            self._end(history, tally)
        except Disagreement as disagreement:
            self.disagreed = trace_of(history, batches, disagreement, self.options.found_by)
            raise
        except Impossible as impossible:  # the system lacks an operation of this history: it is left out
            tally.skipped[str(impossible)] += 1
            return
        finally:
            close(system)
        tally.add(history.steps, overlapped, overlapping_kinds(history))
        tally.skipped.update(history.skipped)
        tally.faults.update(getattr(system, "faults", {}))

    def again(self, trace: traces.Trace) -> traces.Trace | None:
        """Replay a trace. If the replay ends in the same disagreement, return its trace, otherwise None."""
        options = self.options
        model = options.model(trace.world, options.protocol)
        system = options.factory(trace.world, options.protocol, trace.batches)
        history = PlayedHistory(model, system, trace.batches, options.mapping)
        try:
            schedule = Replay(trace.steps, history.resolved)
            self._steps(history, schedule, no_choice)
            if schedule.complete:
                self._end(history, Tally())
        except Disagreement as disagreement:
            # The same if the beginning of the title is: numbers of steps, times and rows change while a trace shrinks.
            again = trace_of(history, trace.batches, disagreement, options.found_by)
            return again if again.title.split()[:7] == trace.title.split()[:7] else None
        finally:
            close(system)
        return None

    def _end(self, history: PlayedHistory, tally: Tally) -> None:
        history.finish()
        for reader in self.options.readers:
            reader(history, tally)

    def _steps(self, history: PlayedHistory, schedule: Schedule, choose: Choose, graph: Quotient | None = None) -> bool:
        model, overlapped = history.model, False
        actors = [actor for actors in model.actors.values() for actor in actors]
        possible: set[str] = {each.action for each in getattr(model, "transitions", ())}
        # Only the actions of this world, by name: other mechanisms do not change what a seed draws.
        schedule.begin(choose, actors, sorted(possible) or [row.action for row in self.options.mapping])
        impossible: Mapping[str, str] = getattr(history.system, "impossible", {})
        # Counted once a history, so that a report shows what the agreement does not cover.
        for action in sorted({step.action for step in history.enabled()} & impossible.keys()):
            history.skipped[f"{action}: {impossible[action]}"] += 1
        otherwise: Callable[..., bool] = getattr(history.system, "does_otherwise", lambda *_: False)

        def playable() -> list[Step]:
            # Left out before the schedule sees them: a schedule that picks one would have drawn a number for nothing.
            ours = (step for step in history.enabled() if step.action not in impossible)
            return [step for step in ours if not otherwise(model, history.state, step)]

        while enabled := playable():
            step = schedule.next(choose, enabled)
            if step is None:
                break
            # Shrinking repeats one history, which says nothing about how much of the graph random ones reach.
            if graph and not self.disagreed:
                self.coverage.visit(graph, history.state, step)
            history.take(step)
            overlapped = overlapped or history.compaction_overlaps_write
        return overlapped


def close(system: System) -> None:
    """Release the threads and files of a system."""
    end = getattr(system, "close", None)
    if end is not None:
        end()


def trace_of(
    history: PlayedHistory, batches: traces.Batches, disagreement: Disagreement, found_by: str
) -> traces.Trace:
    """Return the trace of a history in which model and system differed, including the rows of all writes."""
    difference = disagreement.difference
    return traces.Trace(
        world=history.model.world,
        protocol=history.model.protocol,
        steps=tuple(history.steps),
        batches={write: batch for write, batch in batches.items() if write in history.written},
        observed=tuple(history.observed),
        title=f"the model and the system differ: {difference.what}",
        verdict="DISAGREED",
        because=str(disagreement),
        found_by=found_by,
    )


def run(
    options: CheckOptions,
    *,
    examples: int,
    seed: int = 0,
    seconds: float | None = None,
    shrinks: bool = True,
    progress: Callable[[int], None] | None = None,
    traces_dir: Path | None = None,
) -> CheckReport:
    """Play up to ``examples`` histories; start no new history after ``seconds``. Stop at the first disagreement.

    With ``shrinks``, Hypothesis searches for a shorter history after a disagreement. The same seed produces the same
    histories.
    """
    # Imported here, because only a check needs Hypothesis installed.
    from .hypothesis_driver import TimeIsUp, given_choices

    check = Check(options)
    began = time.monotonic()

    def one(choose: Choose) -> None:
        # Once a disagreement is found its shrinking may take longer: a short counterexample is worth the time.
        if seconds is not None and time.monotonic() - began >= seconds and not check.disagreed:
            raise TimeIsUp
        check.play(choose)
        if progress is not None:
            progress(len(check.tally.lengths))

    given_choices(one, examples=examples, seed=seed, shrinks=shrinks, expected=Disagreement)
    if check.disagreed is not None and shrinks:
        # Hypothesis shrinks the numbers that were drawn; this shrinks the steps, to which one number may be a whole
        # change.
        check.disagreed = shrink_disagreement(check.disagreed, check.again)
    report = _report(check, seed, time.monotonic() - began)
    if report.disagreement is not None and traces_dir is not None:
        traces.save(report.disagreement, traces_dir)
    return report


def _report(check: Check, seed: int, seconds: float) -> CheckReport:
    tally = check.tally
    return CheckReport(
        histories=len(tally.lengths),
        steps=sum(tally.lengths),
        lengths=tuple(tally.lengths),
        switches=tuple(tally.switches),
        overlapping=tally.overlapping,
        edges=check.coverage.count(),
        all_edges=all_edges(check.options.fitted(PINNED), check.options.protocol),
        seconds=seconds,
        seed=seed,
        differences=tally.differences,
        skipped=tally.skipped,
        faults=tally.faults,
        disagreement=check.disagreed,
    )
