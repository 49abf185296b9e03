"""Pieces against the whole: a file group's history is possible if and only if all of its segments are.

Histories come from the model under weaker settings and are judged under the default, cut into segments and uncut.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.kernel.table import Write
from nbcc.model.mechanisms.insert_overwrite import replaced
from nbcc.model.mechanisms.log_compaction.rules import LogCompaction
from nbcc.model.variants.order import Order
from nbcc.simulator.audit.history import GroupHistory, LogPlanned, Planned, Written
from nbcc.simulator.audit.play import play, traced
from nbcc.simulator.audit.segments import segments, whole
from tests.builders.by_day import NIGHTLY

HISTORIES = 1000 if NIGHTLY else 40
DEFAULT = traced(Protocol())
BY_REQUEST = traced(Protocol(merge_order="requested"))
SETTINGS = {
    "default": Protocol(),
    "requested-time-slicing": Protocol(slicing="requested"),
    "any-log": Protocol(plan_takes="any_log"),
    "outside-the-lock": Protocol(completion_time="outside_lock"),
    "requested-merge-order": Protocol(merge_order="requested"),
}
SERVICES: dict[str, dict[str, int]] = {
    "compactions": {},
    "log-compactions": {"log_compactor": 2},
    "replaces": {"overwriter": 2},
    "both": {"log_compactor": 2, "overwriter": 2},
}


def time(tick: int | None) -> str | None:
    return None if not tick else f"{tick:05d}"


def log_name(requested: int, version: int) -> str:
    return f"{requested:05d}.{version}"


def history(protocol: Protocol, seed: int, services: dict[str, int]) -> GroupHistory:
    """One file group, up to six writers and three compactions, by random steps."""
    draw = random.Random(seed)
    world = World(
        actors={"writer": 6, "compactor": 2, **services},
        compactions=3,
        log_versions=1 + draw.randrange(2),
        log_compactions=3 if "log_compactor" in services else 0,
    )
    model = Model(world, protocol)
    state = model.initial
    for _ in range(draw.randrange(20, 70 + 30 * len(services))):
        steps = list(model.successors(state))
        if not steps:
            break
        state = draw.choice(steps)[1]
    return group_history_of(model, state)


def group_history_of(model: Model, state: object) -> GroupHistory:
    published = model.component(state, "published")  # type: ignore[arg-type]
    done = {entry.requested: entry.completed for entry in published}
    plans = tuple(
        Planned(
            f"{plan.requested:05d}", time(done.get(plan.requested)), time(plan.groups[0].base),
            tuple(log_name(*log) for log in plan.groups[0].logs), plan.inflight,
            replaces=plan.runner in model.actors.get("overwriter", ()),
        )
        for plan in model.component(state, "plans")  # type: ignore[arg-type]
    )  # fmt: skip
    log_plans = model.component(state, "log_plans") if "log_plans" in model.components else ()  # type: ignore[arg-type]
    compacted = {entry.requested for entry in published if isinstance(entry, LogCompaction)}
    writes = [
        Written(f"{w.requested:05d}", time(w.completed), tuple(log_name(*log) for log in w.files_in(0)), True)
        for w in published
        if isinstance(w, Write) and not replaced(w)
    ]
    for actor in model.actors["writer"]:
        own = model.component(state, actor)  # type: ignore[arg-type]
        if own.requested and own.files:
            names = tuple(log_name(own.requested, version) for version in range(1, own.files + 1))
            writes.append(Written(f"{own.requested:05d}", None, names, True))
    logs = tuple(
        LogPlanned(
            f"{plan.requested:05d}", time(done.get(plan.requested)),
            tuple(log_name(*log) for log in plan.groups[0].logs),
            log_name(plan.requested, 1) if plan.requested in compacted else "",
        )
        for plan in log_plans
    )  # fmt: skip
    return GroupHistory(("", "g"), tuple(sorted(writes)), plans, logs)


def judged(found: GroupHistory, protocol: Protocol = DEFAULT) -> tuple[bool, bool]:
    """Whether a history is possible: uncut, and in segments."""
    axis = protocol[Order].merge_order
    uncut = play(whole(found, axis).shape, protocol) is None
    return uncut, all(play(segment.shape, protocol) is None for segment in segments(found, axis))


@pytest.mark.parametrize("services", SERVICES)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_history_is_possible_iff_its_segments_are(name: str, services: str) -> None:
    verdicts: Counter[bool] = Counter()
    for seed in range(HISTORIES if services == "compactions" else HISTORIES // 2):
        found = history(SETTINGS[name], seed, SERVICES[services])
        if not found.writes:
            continue
        uncut, cut = judged(found)
        assert cut == uncut, f"seed {seed}: uncut {uncut}, in segments {cut}\n{found}"
        verdicts[uncut] += 1
        uncut, cut = judged(found, BY_REQUEST)
        # The logs of a log compaction are not adjacent by request if pending writes are between (specs/boundary.md).
        assert cut == uncut or (cut and found.log_plans), f"seed {seed}, by request: uncut {uncut}, in segments {cut}"
    assert verdicts[True]
    assert name == "default" or verdicts[False], "no history was refused"
    assert name != "default" or not verdicts[False]


def wrote(requested: int, completed: int) -> Written:
    return Written(time(requested) or "", time(completed), tuple(log_name(requested, v) for v in (1, 2)), True)


def took(barrier: int, *writes: int, base: int | None = None, replaces: bool = False) -> Planned:
    """The plan of a compaction, or a replace, that is done two ticks later."""
    names = tuple(log_name(write, version) for write in writes for version in (1, 2))
    return Planned(time(barrier) or "", time(barrier + 2), time(base), names, True, replaces=replaces)


def compacted(requested: int, completed: int, write: int) -> LogPlanned:
    names = tuple(log_name(write, version) for version in (1, 2))
    return LogPlanned(time(requested) or "", time(completed), names, log_name(requested, 1))


def history_of(writes: Iterable[Written], plans: Iterable[Planned], logs: Iterable[LogPlanned] = ()) -> GroupHistory:
    return GroupHistory(("", "g"), tuple(writes), tuple(plans), tuple(logs))


@pytest.mark.parametrize("protocol", [DEFAULT, BY_REQUEST], ids=["by completion", "by request"])
def test_what_a_log_compaction_made_stays_in_its_slice(protocol: Protocol) -> None:
    """Between the slices of two log compactions lies another: its plan does not take what the first one made."""
    made = Planned("00009", "00011", None, (log_name(5, 1),), True)
    found = history_of(
        [wrote(1, 2), wrote(12, 13), wrote(17, 18)],
        [made, took(14, 12, base=9)],
        [compacted(5, 6, 1), compacted(20, 21, 17)],
    )
    assert judged(found, protocol) == (True, True)


def test_a_compaction_waits_for_a_log_compaction_that_replaces_hid() -> None:
    """Two replaces, and three writes between them, keep what the log compaction takes and the compaction apart."""
    writes = [wrote(1, 2), wrote(8, 9), wrote(10, 11), wrote(12, 13), wrote(17, 18)]
    plans = [took(5, replaces=True), took(14, replaces=True), took(20, 17, base=14)]
    for completed, possible in ((19, True), (21, False)):
        found = history_of(writes, plans, [compacted(3, completed, 1)])
        assert judged(found) == (possible, possible), completed


def test_logs_of_a_plan_are_neighbours_with_any_request_between_them() -> None:
    """Three writes are requested between the two that the first plan takes, and complete after it."""
    writes = [wrote(1, 7), wrote(2, 11), wrote(3, 12), wrote(4, 13), wrote(5, 6)]
    for order, possible in (((1, 5), True), ((5, 1), False)):
        found = history_of(writes, [took(8, *order), took(14, 2, 3, 4, base=8)])
        assert judged(found, BY_REQUEST) == (possible, possible), order
