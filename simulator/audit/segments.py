"""Divides the history of a file group into segments: short parts, each of which the model replays in about a
millisecond.

A segment contains a few adjacent writes, and the compaction plans that are close to them in time or include their logs.
If a plan includes logs of writes outside the segment, a placeholder write just before the plan represents these writes.
Each segment can be checked separately, because whether a plan must include a log does not depend on other logs. Most
segments repeat the events of an earlier segment, so their verdicts come from a cache. Tests confirm that the verdicts
on the segments together agree with the verdict on the whole history.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from functools import cache
from itertools import pairwise
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from nbcc.engine.files.group_files import Group

from .history import GroupHistory, LogPlanned, Planned, Written
from .plan_index import PlanIndex, order_of

WRITES = 4  # in a segment; neighbouring segments share one
AXES: Final = ("completion", "requested")
Kind = Literal["request", "complete", "plan", "done", "replace", "replaced", "compact logs", "logs compacted"]


class Event(NamedTuple):
    """An event in a file group's history, such as the request of a write. `actor` numbers the writes, plans and log
    compactions of a segment; all events of one of them have the same number.
    """

    kind: Kind
    actor: int


_PLACE: Final = itemgetter(0, 1)
event = cache(Event)
"""Events are shared, because segments have few different ones."""


class Inputs(NamedTuple):
    """The files that a compaction plan merges. `logs` contains a pair for each log: the index of its write in the
    segment, and the log version. For the output of the segment's n-th log compaction, the pair is (-n, 1).

    `base_is_last` is True if the plan merges its logs into the base file that the preceding plan created.
    """

    logs: tuple[tuple[int, int], ...]
    base_is_last: bool
    unplanned: bool


class SegmentShape(NamedTuple):
    """The events and plans of a segment (a short part of a file group's history), without times. Segments that differ
    only in their times have equal shapes, and therefore the same verdict.

    `versions` contains the number of logs of each write. `early` states for each write whether a plan included one of
    its logs before the write completed. `log_plans` lists the logs that each log compaction merged, in the format of
    `Inputs.logs`. `tied` contains the indexes of events with the same time as the previous event.
    """

    events: tuple[Event, ...]
    versions: tuple[int, ...]
    plans: tuple[Inputs, ...]
    inflight: tuple[bool, ...]
    early: tuple[bool, ...]
    log_plans: tuple[tuple[tuple[int, int], ...], ...] = ()
    tied: frozenset[int] = frozenset()


class Segment(NamedTuple):
    """A short part of a file group's history: a few adjacent writes, and the plans near them in time or with their
    logs. `times` contains the time of each event. `writes` and `plans` contain requested times. The requested time of a
    placeholder write is ''.
    """

    group: Group
    shape: SegmentShape
    times: tuple[str, ...]
    writes: tuple[str, ...]
    plans: tuple[str, ...]
    log_plans: tuple[str, ...] = ()


def segments(history: GroupHistory, axis: str) -> Iterator[Segment]:
    """Yield the segments (short parts) of a file group's history. `axis` ("completion" or "requested") is the time by
    which writes are sorted before the history is divided.
    """
    logs = PlanIndex(history, axis)
    for chunk in _chunks(history, axis):
        yield _of_writes(history, chunk, logs)
    yield from _of_plans(history, logs)


def segments_by_axes(history: GroupHistory) -> Iterator[tuple[Segment, tuple[str, ...]]]:
    """Yield the segments (short parts) of a file group's history, for both sort orders of its writes: completion time
    and requested time. Each segment is paired with the sort orders in which it occurs.
    """
    if history.in_one_order:
        yield from ((segment, AXES) for segment in segments(history, AXES[0]))
    elif history.log_plans:  # their placeholders depend on the axis, too
        yield from ((segment, (axis,)) for axis in AXES for segment in segments(history, axis))
    else:
        logs = PlanIndex(history, AXES[0])
        for chunks in zip(*(_chunks(history, axis) for axis in AXES), strict=True):
            if {*chunks[0]} == {*chunks[1]}:
                yield _of_writes(history, chunks[0], logs), AXES
            else:
                yield from ((_of_writes(history, c, logs), (axis,)) for c, axis in zip(chunks, AXES, strict=True))
        yield from ((segment, AXES) for segment in _of_plans(history, logs))


def _chunks(history: GroupHistory, axis: str) -> Iterator[list[Written]]:
    barriers, rank = [plan.barrier for plan in history.plans], order_of(axis)
    order = sorted(history.writes, key=lambda write: (bisect_right(barriers, write.completed or "~"), rank(write)))
    for start in range(0, max(len(order) - 1, 1), WRITES - 1):
        if chunk := order[start : start + WRITES]:
            yield chunk


def _of_writes(history: GroupHistory, chunk: list[Written], logs: PlanIndex) -> Segment:
    log_plans = logs.near(chunk)
    chosen = logs.around(log_plans).union(*[logs.links[write.requested].near for write in chunk])
    return _segment(history, chunk, sorted(chosen), logs, log_plans)


def _of_plans(history: GroupHistory, logs: PlanIndex) -> Iterator[Segment]:
    for first, second in pairwise(range(len(history.plans))):
        yield _segment(history, [], [first, second], logs)
    for number in range(len(history.log_plans)):
        log_plans = logs.with_later({max(number - 1, 0), number})
        yield _segment(history, [], sorted(logs.around(log_plans)), logs, log_plans)


def whole(history: GroupHistory, axis: str) -> Segment:
    numbers, log_plans = range(len(history.plans)), {*range(len(history.log_plans))}
    return _segment(history, [*history.writes], [*numbers], PlanIndex(history, axis), log_plans)


def _segment(
    history: GroupHistory, chunk: list[Written], numbers: list[int], logs: PlanIndex, log_plans: Collection[int] = ()
) -> Segment:
    links = [logs.links[write.requested] for write in chunk]
    placed: dict[int, list[tuple[int, tuple[int, int]]]] = {}  # by plan: position among its logs, and the log
    for w, link in enumerate(links):
        for number, place, version in link.taken:
            placed.setdefault(number, []).append((place, (w, version)))
    compactions = [history.log_plans[number] for number in sorted(log_plans)]
    for m, compaction in enumerate(compactions):
        for number, place in logs.listed.get(compaction.made, ()) if compaction.made else ():
            placed.setdefault(number, []).append((place, (-1 - m, 1)))
    log = _logs_of(chunk, compactions) if compactions else {}
    writes = [*chunk, *(write for each in compactions for write in logs.placeholders_for(each, log))]
    timed = [*_of_writing(writes), *_of_compacting(compactions)]
    inputs, placeholders = [], 0
    for p, number in enumerate(numbers):
        plan = history.plans[number]
        taken = tuple([at for _, at in sorted(placed[number])]) if number in placed else ()
        if len(taken) < len(plan.names) or plan.unplanned:
            w = len(writes) + placeholders
            placeholders += 1
            timed += (plan.barrier, -1, event("request", w)), (plan.barrier, 0, event("complete", w))
        timed += _of_plan(p, plan)
        inputs.append(Inputs(taken, logs.from_last[number], plan.unplanned))
    timed.sort(key=_PLACE)
    times, _, events = zip(*timed, strict=True)
    plans = [history.plans[number] for number in numbers]
    shape = SegmentShape(
        events,
        (*[len(write.names) for write in writes], *[1] * placeholders),
        tuple(inputs),
        tuple([plan.inflight for plan in plans]),
        tuple([link.early for link in links]),
        tuple(tuple(log[name] for name in each.names if name in log) for each in compactions),
        _tied([*map(_PLACE, timed)]),
    )
    named = (*[write.requested for write in writes], *[""] * placeholders)
    barriers = tuple([plan.barrier for plan in plans])
    return Segment(history.group, shape, times, named, barriers, tuple([each.requested for each in compactions]))


def _logs_of(chunk: list[Written], compactions: list[LogPlanned]) -> dict[str, tuple[int, int]]:
    written = {name: (w, v) for w, write in enumerate(chunk) for v, name in enumerate(write.names, start=1)}
    return written | {each.made: (-1 - m, 1) for m, each in enumerate(compactions) if each.made}


def _of_writing(writes: list[Written]) -> Iterator[tuple[str, int, Event]]:
    for w, write in enumerate(writes):
        yield write.requested, 1, event("request", w)
        if write.completed is not None:
            yield write.completed, 1, event("complete", w)


def _of_compacting(compactions: list[LogPlanned]) -> Iterator[tuple[str, int, Event]]:
    for m, each in enumerate(compactions):
        yield each.requested, 1, event("compact logs", m)
        if each.completed is not None:
            yield each.completed, 1, event("logs compacted", m)


def _tied(times: list[tuple[str, int]]) -> frozenset[int]:
    """Return the indexes of events that have the same time as the previous event."""
    if len({*times}) == len(times):
        return frozenset()
    return frozenset(n + 1 for n, (one, other) in enumerate(pairwise(times)) if one == other and one[1] == 1)


def _of_plan(p: int, plan: Planned) -> Iterator[tuple[str, int, Event]]:
    yield plan.barrier, 1, event("replace" if plan.replaces else "plan", p)
    if plan.completed is None:
        return
    if plan.unplanned:  # a base file without a compaction exists from its barrier on
        yield plan.barrier, 2, event("done", p)
    else:
        yield plan.completed, 1, event("replaced" if plan.replaces else "done", p)
