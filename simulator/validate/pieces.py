"""A file group's history cut into pieces so small that the model plays each in a millisecond, and few differ.

Why that is enough: a planner looks at each file group by itself, and in it decides on each log by itself; the order of
a plan's logs is right if neighbours are. A piece has a few neighbouring writes and the plans that could take them. What
else a plan took is stood for by one write that completes right before it. `tests` hold pieces against whole histories.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from nbcc.engine.files.group_files import Group

from .history import GroupHistory, Planned, Written

WRITES = 4  # in a piece; neighbours share one
Kind = Literal["request", "complete", "plan", "done"]


class Event(NamedTuple):
    """`who` counts writes and plans of the piece by themselves."""

    kind: Kind
    who: int


class Inputs(NamedTuple):
    """What a plan took of the writes in the piece, as (write, version), and whether it starts from the base before."""

    logs: tuple[tuple[int, int], ...]
    base_is_last: bool
    given: bool


class Shape(NamedTuple):
    """A piece without its times: equal shapes have equal verdicts. `versions` per write, `inflight` per plan.

    `early`: the writes whose logs a plan took before they completed, so that they must have been there.
    """

    events: tuple[Event, ...]
    versions: tuple[int, ...]
    plans: tuple[Inputs, ...]
    inflight: tuple[bool, ...]
    early: tuple[bool, ...]


class Piece(NamedTuple):
    """`times` are those of the events, `writes` and `plans` requested times by number; '' is a write stood in."""

    group: Group
    shape: Shape
    times: tuple[str, ...]
    writes: tuple[str, ...]
    plans: tuple[str, ...]


def pieces(history: GroupHistory, axis: str) -> Iterator[Piece]:
    """The pieces of a group. `axis`, requested or completion, is the order in which neighbours are looked for."""
    order = sorted(history.writes, key=(lambda w: w.requested) if axis == "requested" else _completion)
    barriers = [plan.barrier for plan in history.plans]
    listed: dict[str, list[int]] = {}
    for number, plan in enumerate(history.plans):
        for name in plan.names:
            listed.setdefault(name, []).append(number)
    for start in range(0, max(len(order) - 1, 1), WRITES - 1):
        chunk = order[start : start + WRITES]
        chosen = {number for write in chunk for number in _near(write, barriers, listed)}
        if chunk:
            yield _piece(history, chunk, sorted(chosen))
    for first, second in pairwise(range(len(history.plans))):
        yield _piece(history, [], [first, second])


def _completion(write: Written) -> tuple[str, str]:
    return write.completed or "~", write.requested


def _near(write: Written, barriers: list[str], listed: dict[str, list[int]]) -> set[int]:
    """The plans that have to do with a write: around its request and its completion, and all that list it."""
    around = {bisect_right(barriers, write.requested) - 1}
    if write.completed is not None:
        behind = bisect_right(barriers, write.completed)
        around |= {behind - 1, behind}
    else:
        around.add(len(barriers) - 1)
    around.update(number for name in write.names for number in listed.get(name, ()))
    return {number for number in around if 0 <= number < len(barriers)}


def _piece(history: GroupHistory, chunk: list[Written], numbers: list[int]) -> Piece:
    plans = [history.plans[number] for number in numbers]
    log = {name: (w, v) for w, write in enumerate(chunk) for v, name in enumerate(write.names, start=1)}
    timed: list[tuple[str, int, Event]] = []
    for w, write in enumerate(chunk):
        timed.append((write.requested, 1, Event("request", w)))
        if write.completed is not None:
            timed.append((write.completed, 1, Event("complete", w)))
    inputs, stood_in = [], 0
    for p, (number, plan) in enumerate(zip(numbers, plans, strict=True)):
        taken = tuple(log[name] for name in plan.names if name in log)
        if len(taken) < len(plan.names) or plan.given:
            w = len(chunk) + stood_in
            stood_in += 1
            timed += [(plan.barrier, -1, Event("request", w)), (plan.barrier, 0, Event("complete", w))]
        timed.append((plan.barrier, 1, Event("plan", p)))
        if plan.completed is not None:
            # A base file that was just put there, and is no compaction's, is there from its barrier on.
            timed.append((plan.barrier, 2, Event("done", p)) if plan.given else (plan.completed, 1, Event("done", p)))
        inputs.append(Inputs(taken, _from_last(history, number), plan.given))
    timed.sort(key=lambda each: each[:2])
    shape = Shape(
        tuple(event for _, _, event in timed),
        (*(len(write.names) for write in chunk), *[1] * stood_in),
        tuple(inputs),
        tuple(plan.inflight for plan in plans),
        tuple(_early(write, plans) for write in chunk),
    )
    writes = (*(write.requested for write in chunk), *[""] * stood_in)
    return Piece(history.group, shape, tuple(t for t, _, _ in timed), writes, tuple(p.barrier for p in plans))


def _from_last(history: GroupHistory, number: int) -> bool:
    before = history.plans[number - 1].barrier if number else None
    return history.plans[number].base == before


def _early(write: Written, plans: list[Planned]) -> bool:
    return any(
        name in plan.names and (write.completed is None or plan.barrier < write.completed)
        for plan in plans
        for name in write.names
    )
