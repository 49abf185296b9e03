"""Shrinks traces: finds a smaller trace that shows the same violation or disagreement.

A trace with fewer context switches, actors and rows is easier to read. A violation is shortened by searching all
interleavings of the trace's steps on the model. A disagreement is shortened by removing or regrouping steps as long as
a replay shows that system and model still disagree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations, count, groupby
from typing import Any, Protocol, TypeVar

from nbcc.model import Model, Step, World
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.model.promises import PROMISES

from ..observables import Batch, model_timeline
from ..symbols import Symbols
from ..trace import Batches, Trace, context_switches

Fails = Callable[[Trace], "Trace | None"]
"""Plays a trace. Returns it as it was played if it still shows the same, else None."""


MOST_NODES = 200_000


def shortest_violation(model: Model, steps: Sequence[Step], promise: str) -> tuple[Step, ...] | None:
    """Return the violating interleaving with the fewest context switches, then the fewest actors, then the fewest
    steps.

    Each actor's steps in the result are a prefix of its steps in ``steps``. The result is None if the search finds no
    violation within `MOST_NODES` search nodes.
    """
    return fewest_switches(model, steps, PROMISES[promise].holds)


def fewest_switches(
    model: Model, steps: Sequence[Step], shows: Callable[..., str | None]
) -> tuple[Step, ...] | None:
    """Like `shortest_violation`, but the last step of the run must make the function ``shows`` return a message."""
    programs = _programs(steps)
    # A number breaks ties of equal costs, because states and steps have no order that `heapq` could use.
    tie = count()
    start = (model.initial, "", frozenset[str](), tuple(0 for _ in programs))
    queue: list[tuple[Any, ...]] = [((0, 0, 0), next(tie), start, ())]
    seen: set[Any] = set()
    while queue and len(seen) < MOST_NODES:
        (switches, _, length), _, node, path = heapq.heappop(queue)
        # A node may be in the queue several times, and its cheapest entry comes first.
        if node in seen:
            continue
        seen.add(node)
        state, last, used, places = node
        if path and shows(model, path[-1][0], path[-1][1], state):
            return tuple(step for _, step in path)
        for step, after in model.successors(state):
            place = _place(programs, step, places)
            if place is None:
                continue
            actors = used | {step.actor}
            cost = (switches + (last not in {"", step.actor}), len(actors), length + 1)
            heapq.heappush(queue, (cost, next(tie), (after, step.actor, actors, place), (*path, (state, step))))
    return None


def _programs(steps: Sequence[Step]) -> dict[str, list[str]]:
    programs: dict[str, list[str]] = {}
    for step in steps:
        programs.setdefault(step.actor, []).append(step.action)
    return programs


def _place(programs: Mapping[str, Sequence[str]], step: Step, places: tuple[int, ...]) -> tuple[int, ...] | None:
    for index, (actor, program) in enumerate(programs.items()):
        if actor == step.actor and places[index] < len(program) and program[places[index]] == step.action:
            return (*places[:index], places[index] + 1, *places[index + 1 :])
    return None


def fewer_switches(trace: Trace, fails: Fails) -> Trace:
    """Remove steps, and move steps of one actor next to each other, as long as model and system still disagree."""
    return simplest(trace, lambda best, steps: _retry(best, steps, fails))


class HasSteps(Protocol):
    """A history with steps."""

    @property
    def steps(self) -> tuple[Step, ...]: ...


Run = TypeVar("Run", bound=HasSteps)


Steps = tuple[Step, ...]


def simplest(
    run: Run, retry: Callable[[Run, Steps], Run | None], neighbours: Callable[[Steps], Iterator[Steps]] | None = None
) -> Run:
    """Return the run with the fewest context switches, then steps, that `retry` accepts. `retry` plays the best run so
    far with other steps, and returns it as it was played if it still shows the same. `neighbours` yields the steps to
    try.
    """
    best, progress = run, True
    while progress:
        progress = False
        for steps in (neighbours or _neighbours)(best.steps):
            if (context_switches(steps), len(steps)) >= (context_switches(best.steps), len(best.steps)):
                continue
            if (played := retry(best, steps)) is not None:
                best, progress = played, True
                break
    return best


def _neighbours(steps: Steps) -> Iterator[Steps]:
    """Yield sequences that lack consecutive steps of one actor, most steps first. After these, yield sequences in which
    two blocks of one actor's steps are moved together.
    """
    blocks = _blocks(steps)
    for first, last in sorted(_runs([len(block) for block in blocks]), key=lambda run: run[0] - run[1]):
        yield (*steps[:first], *steps[last:])
    yield from _moved_together(blocks)


def without_a_block(steps: Steps) -> Iterator[Steps]:
    """Yield sequences that lack one block of consecutive steps of one actor, then those in which two blocks of one
    actor's steps are moved together.
    """
    blocks = _blocks(steps)
    for index in range(len(blocks)):
        yield _joined([*blocks[:index], *blocks[index + 1 :]])
    yield from _moved_together(blocks)


def _blocks(steps: Steps) -> list[list[Step]]:
    return [list(block) for _, block in groupby(steps, key=lambda step: step.actor)]


def _moved_together(blocks: Sequence[Sequence[Step]]) -> Iterator[Steps]:
    for index, block in enumerate(blocks):
        for other in range(index + 2, len(blocks)):
            if blocks[other][0].actor == block[0].actor:
                yield _joined([*blocks[: index + 1], blocks[other], *blocks[index + 1 : other], *blocks[other + 1 :]])
                yield _joined([*blocks[:index], *blocks[index + 1 : other], block, *blocks[other:]])
                break


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    for begin, length in zip(accumulate(lengths, initial=0), lengths, strict=False):
        yield from combinations(range(begin, begin + length + 1), 2)


def _joined(blocks: Sequence[Sequence[Step]]) -> Steps:
    return tuple(step for block in blocks for step in block)


def fewer_rows(trace: Trace, fails: Fails) -> Trace:
    """Remove rows one at a time, as long as every log file has a row and the trace still shows the same disagreement.
    """
    best, progress = trace, True
    while progress:
        progress = False
        for batches in _thinner(best.batches):
            if (played := fails(replace(best, batches=batches, observed=()))) is not None:
                best, progress = played, True
                break
    return best


def _thinner(batches: Batches) -> Iterator[dict[tuple[str, int], Batch]]:
    for write, batch in batches.items():
        for file, records in batch.items():
            for key in records if len(records) > 1 else ():
                left = {other: record for other, record in records.items() if other != key}
                yield {**batches, write: {**batch, file: left}}


def smaller_world(trace: Trace) -> Trace:
    """Return the trace in a smaller world (search configuration), without the actors and limits that its steps do not
    use.
    """
    world = trace.world
    used = {step.actor for step in trace.steps}
    counts = {
        kind: max((actors.index(name) + 1 for name in used if name in actors), default=0)
        for kind, actors in Model(world, trace.protocol).actors.items()
    }
    writes = {write: shape for write, shape in world.writes.items() if write in trace.batches}
    crashes = sum(step.action == ACTOR_CRASHES for step in trace.steps)
    small = world.replace(actors=counts, writes=writes, crashes=crashes)
    # A smaller limit may forbid a step or change its times.
    return replace(trace, world=small) if _fits(small, trace) else trace


def _fits(world: World, trace: Trace) -> bool:
    model = Model(world, trace.protocol)
    return realised(model, trace.steps) == trace.steps


def realised(model: Model, steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """Return the steps as the model executes them, with each time replaced by a symbol. Returns None if the model
    cannot take a step.

    Times in the given steps may be clock ticks of the model, or symbols such as ``r1``. If a step's arguments are
    impossible, the first possible arguments of the same action are used.
    """
    state, named, symbols = model.initial, [], Symbols(())
    for wanted in steps:
        symbols = symbols.then(model_timeline(model, state))
        able = [s for s in model.enabled(state) if (s.actor, s.action) == (wanted.actor, wanted.action)]
        if not able:
            return None
        # Without the removed steps the times differ, so arguments that contain times may no longer be possible.
        step = next((s for s in able if wanted in (s, symbols.step(s))), able[0])
        named.append(symbols.step(step))
        state = model.apply(state, step)
    return tuple(named)


def _retry(trace: Trace, steps: tuple[Step, ...], fails: Fails) -> Trace | None:
    possible = realised(Model(trace.world, trace.protocol), steps)
    return None if not possible else fails(replace(trace, steps=possible, observed=()))


def shrink_disagreement(trace: Trace, fails: Fails) -> Trace:
    """Reduce a disagreement's context switches, then its rows, then the actors and limits of its world. Each reduction
    is tested by a replay on the system.
    """
    best = fewer_rows(fewer_switches(trace, fails), fails)
    small = smaller_world(best)
    return best if small is best else (fails(small) or best)
