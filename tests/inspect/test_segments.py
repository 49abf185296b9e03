"""A segment is played as the whole history would be: on random interleavings, right ones and ones with another plan."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from nbcc.engine.audit import gather
from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.audit.history import GroupHistory, Planned, Written, histories
from nbcc.simulator.audit.play import MIN_ACTORS, _Play, play, traced
from nbcc.simulator.audit.segments import AXES, WRITES, Event, Inputs, Segment, SegmentShape, segments, segments_by_axes
from nbcc.simulator.audit.view import TableView
from tools.detection.tables import engine_table

NOW = "20250101000000000"
DEFAULT = traced(Protocol())


def shape(*events: Event, plans: tuple[Inputs, ...], writes: int) -> SegmentShape:
    return SegmentShape(events, (1,) * writes, plans, (True,) * len(plans), (False,) * writes)


LATE = (
    Event("request", 0), Event("complete", 0), Event("request", 1), Event("plan", 0), Event("complete", 1),
)  # fmt: skip


def test_a_plan_takes_what_completed_before_it() -> None:
    right = shape(*LATE, plans=(Inputs(((0, 1),), True, False),), writes=2)
    assert play(right, DEFAULT) is None


@pytest.mark.parametrize(
    ("logs", "reason"),
    [
        ((), "the log 1 of w1 must be taken"),
        (((0, 1), (1, 1)), "the log 1 of w2 must not be taken"),
    ],
)
def test_a_plan_that_takes_something_else_is_refused(logs: tuple[tuple[int, int], ...], reason: str) -> None:
    refused = play(shape(*LATE, plans=(Inputs(logs, True, False),), writes=2), DEFAULT)
    assert refused is not None
    assert refused.event == 3
    assert reason in refused.reasons[0]
    assert refused.enabled


def test_the_order_of_a_plans_logs_distinguishes_protocols() -> None:
    events = (
        Event("request", 0), Event("request", 1), Event("complete", 1), Event("complete", 0), Event("plan", 0),
    )  # fmt: skip
    by_request = shape(*events, plans=(Inputs(((0, 1), (1, 1)), True, False),), writes=2)
    assert play(by_request, traced(specs.protocol("hudi-1.2.0"))) is None
    refused = play(by_request, DEFAULT)
    assert refused is not None
    assert "in this order: w2.1, w1.1" in refused.reasons[0]


def test_two_plans_of_one_group_cannot_be_pending_at_once() -> None:
    events = (
        Event("request", 0), Event("complete", 0), Event("plan", 0), Event("request", 1), Event("complete", 1),
        Event("plan", 1),
    )  # fmt: skip
    refused = play(
        shape(*events, plans=(Inputs(((0, 1),), True, False), Inputs(((1, 1),), True, False)), writes=2), DEFAULT
    )
    assert refused is not None
    assert refused.reasons == ("there must be a log to compact",)


def test_a_plan_must_start_from_the_newest_base() -> None:
    events = (
        Event("request", 0), Event("complete", 0), Event("plan", 0), Event("done", 0), Event("request", 1),
        Event("complete", 1), Event("plan", 1),
    )  # fmt: skip
    two = (Inputs(((0, 1),), True, False), Inputs(((1, 1),), False, False))
    refused = play(shape(*events, plans=two, writes=2), DEFAULT)
    assert refused is not None
    assert "newest base file" in refused.reasons[0]


def test_times_outside_the_lock_explain_a_plan_that_left_a_log_out() -> None:
    events = (
        Event("request", 0), Event("complete", 0), Event("request", 1), Event("complete", 1), Event("plan", 0),
    )  # fmt: skip
    odd = shape(*events, plans=(Inputs(((1, 1),), True, False),), writes=2)
    assert play(odd, DEFAULT) is not None
    assert play(odd, traced(specs.protocol("completion-outside-lock"))) is None


def test_actors_that_never_act_change_nothing() -> None:
    """Idle actors change no verdict, neither of right segments nor of wrong ones."""
    whole = {segment.shape for seed in range(12) for segment in _segments_of(seed)}
    wrong = {s._replace(plans=tuple(plan._replace(logs=plan.logs[1:]) for plan in s.plans)) for s in whole}
    settings = ("default", "hudi-1.2.0", "completion-outside-lock", "single-writer", "occ")
    verdicts = Counter[bool]()
    for shape in sorted(whole | wrong)[::3]:
        for protocol in (traced(specs.protocol(name)) for name in settings):
            alone = _Play(shape, protocol).refused() is None
            assert (_Play(shape, protocol, MIN_ACTORS).refused() is None) == alone, shape
            verdicts[alone] += 1
    assert min(verdicts[True], verdicts[False]) > 10


def _segments_of(seed: int) -> Iterator[Segment]:
    for history in histories(TableView(gather(engine_table(seed)), NOW)).groups:
        yield from segments(history, "completion")


def test_segments_of_the_engines_tables_are_small_and_right() -> None:
    seen = 0
    for seed in range(40):
        found = histories(TableView(gather(engine_table(seed)), NOW))
        assert not found.left_out
        for history in found.groups:
            covered = set()
            for segment in segments(history, "completion"):
                assert sum(map(bool, segment.writes)) <= WRITES
                assert [*segment.times] == sorted(segment.times)
                covered |= {w for w in segment.writes if w}
                assert play(segment.shape, DEFAULT) is None
                seen += 1
            assert covered == {write.requested for write in history.writes}
    assert seen > 60


def test_a_segment_of_both_orders_is_made_once_and_stands_for_that_of_each() -> None:
    draw = random.Random(2)
    shared = 0
    for _ in range(200):
        history = _overlapping(draw, writes=draw.randrange(2, 12))
        by_axes = [*segments_by_axes(history)]
        for axis in AXES:
            mine = [_summary(segment) for segment, axes in by_axes if axis in axes]
            assert sorted(mine) == sorted(map(_summary, segments(history, axis)))
        shared += sum(axes == AXES for _, axes in by_axes) if not history.in_one_order else 0
    assert shared > 100


def _overlapping(draw: random.Random, writes: int) -> GroupHistory:
    """Writes of one log each that overlap a few others, and a plan of what completed before it."""
    begun = sorted(draw.sample(range(0, 1000, 10), writes))
    ended = {time: time + draw.randrange(40) * 10 + 1 + number for number, time in enumerate(begun)}
    barrier = draw.randrange(0, 1200, 10) + 9
    taken = tuple(f"{time}" for time in sorted(begun, key=ended.__getitem__) if ended[time] < barrier)
    plans = (Planned(f"{barrier:05}", f"{barrier + 5:05}", None, taken, True),) if taken else ()
    written = tuple(Written(f"{time:05}", f"{ended[time]:05}", (f"{time}",), True) for time in begun)
    return GroupHistory(("", "group"), written, plans)


def _summary(segment: Segment) -> tuple[object, ...]:
    """A segment by its times and the instants in it, however they are numbered; and what the model says of it."""
    named = sorted((time, event.kind) for time, event in zip(segment.times, segment.shape.events, strict=True))
    refused = play(segment.shape, DEFAULT)
    return named, sorted(segment.writes), segment.plans, () if refused is None else (refused.event,)


def test_a_segment_with_another_plan_is_refused() -> None:
    """Each log that a plan of the engine took is taken out of it: no segment with that plan is possible any more."""
    draw, refused = random.Random(1), 0
    for seed in range(40):
        for history in histories(TableView(gather(engine_table(seed)), NOW)).groups:
            for number, plan in enumerate(history.plans):
                if len(plan.names) < 2:
                    continue
                fewer = plan._replace(names=tuple(n for n in plan.names if n != draw.choice(plan.names)))
                if fewer == plan:
                    continue
                plans = (*history.plans[:number], fewer, *history.plans[number + 1 :])
                changed = type(history)(history.group, history.writes, plans)
                verdicts = [play(segment.shape, DEFAULT) for segment in segments(changed, "completion")]
                assert any(verdict is not None for verdict in verdicts), (seed, history, fewer)
                refused += 1
    assert refused > 10
