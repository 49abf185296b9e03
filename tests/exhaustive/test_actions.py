"""The table of actions against itself, on every reachable state of small worlds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from nbcc.model import Model, Protocol, Query, Record, Refused, State, Step, World
from nbcc.model.step import Guard, Row
from nbcc.simulator import specs

SMALL = {
    "demo": specs.world("demo"),
    "two groups": replace(specs.world("demo"), buckets=2),
    "crashes": replace(specs.world("crash_resume"), compactions=1),
    "a rollback": replace(specs.world("failed_writer"), crashes=0),
    "a reader": replace(specs.world("readers"), actors={"writer": 2, "reader": 1}),
    "a metadata table": specs.world("metadata_readers"),
}
PROTOCOLS = {
    "default": Protocol(),
    "everything weaker": Protocol(
        slicing="base_instant", completion_time="outside_lock", listing="once", read_time="clock",
        scheduling="serial", plan_takes="any_log", visibility="any",
        failed_writes="eager", rollback_check="before_lock", commit_check="before_lock",
    ),
}  # fmt: skip
CASES = [pytest.param(SMALL[w], PROTOCOLS[p], id=f"{w}, {p}") for w in SMALL for p in PROTOCOLS]


def reachable(model: Model) -> list[State]:
    seen, queue = {model.initial: None}, deque([model.initial])
    while queue:
        for _, after in model.successors(queue.popleft()):
            if after not in seen:
                seen[after] = None
                queue.append(after)
    return list(seen)


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_enabled_apply_and_refusals_agree(world: World, protocol: Protocol) -> None:
    model = Model(world, protocol)
    states = reachable(model)
    universe = sorted({step for state in states for step in model.enabled(state)}, key=repr)
    for state in states:
        after = dict(model.successors(state))
        assert list(after) == model.enabled(state)
        for step in universe:
            reasons = model.refusal(state, step)
            assert (step in after) == (not reasons), (step, reasons)
            if step in after:
                assert model.apply(state, step) == after[step]
            else:
                with pytest.raises(Refused) as refused:
                    model.apply(state, step)
                assert refused.value.reasons == reasons


def outcome(row: Row, values: dict[str, Any]) -> object:
    """What a row does, run afresh, without any memo, on the components that it declares."""
    read = [values[name] for name in row.reads]
    if not all(guard.holds(read[0]) for guard in row.own) or not all(guard.holds(*read) for guard in row.guards):
        return None
    return [(args, row.effect(*read, **dict(args))) for args in row.choices(*read)]


def undeclared(model: Model, rows: Iterable[Row], states: list[State]) -> Iterator[str]:
    """Rows, and conditions of theirs, that rest on more than they declare: the same footprint, and something else
    happens.

    A row is given nothing but its declared values. What it could look at besides is whatever its own functions hold on
    to, and then its outcome varies between states that agree on the footprint.
    """
    for row in rows:
        seen: dict[object, object] = {}
        for state in states:
            values = {name: model.component(state, name) for name in model.components}
            found = outcome(row, values)
            if seen.setdefault(tuple(values[name] for name in row.reads), found) != found:
                yield f"{row.action} of {row.actor} rests on more than {row.reads}"
                break
        yield from (f"{g.reason} rests on more than {g.rests_on}" for g in row.guards if peeks(g, row, model, states))


def peeks(guard: Guard, row: Row, model: Model, states: list[State]) -> bool:
    """Whether a condition says different things of states that agree on what it declares."""
    seen: dict[object, bool] = {}
    for state in states if guard.rests_on else ():
        values = {name: model.component(state, name) for name in model.components}
        holds = guard.holds(*(values[name] for name in row.reads))
        if seen.setdefault(tuple(values[name] for name in guard.rests_on), holds) != holds:
            return True
    return False


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_no_step_reads_what_it_did_not_declare(world: World, protocol: Protocol) -> None:
    model = Model(world, protocol)
    assert list(undeclared(model, model.table_of_rows, reachable(model))) == []


def test_a_step_that_peeks_is_caught() -> None:
    model = Model(SMALL["demo"])
    states = reachable(model)
    calls = iter(range(10**9))
    honest = next(row for row in model.table_of_rows if row.action == "writer_starts_writing")
    peeking = honest._replace(effect=lambda own: (own._replace(files=next(calls)),))

    assert list(undeclared(model, (peeking,), states)) == [
        "writer_starts_writing of w1 rests on more than ('w1',)",
    ]


def test_a_condition_that_peeks_is_caught() -> None:
    model = Model(SMALL["demo"])
    honest = next(row for row in model.table_of_rows if row.action == "compactor_schedules_plan")
    peeking = honest._replace(guards=tuple(guard._replace(rests_on=("lock",)) for guard in honest.guards))

    assert list(undeclared(model, (peeking,), reachable(model))) == [
        "a compaction must be left rests on more than ('lock',)",
        "there must be a log to compact rests on more than ('lock',)",
    ]


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_a_step_changes_only_what_it_declares(world: World, protocol: Protocol) -> None:
    model = Model(world, protocol)
    writes = {(row.actor, row.action): set(row.writes) for row in model.table_of_rows}
    for state in reachable(model):
        for step, after in model.successors(state):
            changed = {n for n in model.components if model.component(state, n) != model.component(after, n)}
            assert changed <= writes[step.actor, step.action]


def test_an_unknown_step_is_refused_by_name() -> None:
    model = Model(SMALL["demo"])
    with pytest.raises(Refused, match="w9 has no action writer_requests_instant in this world"):
        model.apply(model.initial, Step("w9", "writer_requests_instant"))


def test_row_values_change_answers_and_no_enabled_action() -> None:
    """Data is given to reads, never to the model: other values, the same state, the same actions."""
    model = Model(SMALL["two groups"])
    answers = set()
    for state in reachable(model):
        before = model.enabled(state)
        for deleted in (False, True):
            data = {r: {(g, 1): {(g, "k"): Record(r, "v", deleted)} for g in (0, 1)} for r in range(1, 9)}
            answers.add((deleted, bool(model.rows(state, Query("snapshot"), data))))
            assert model.enabled(state) == before
    assert answers == {(False, False), (False, True), (True, False)}


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_a_state_holds_no_row_value(world: World, protocol: Protocol) -> None:
    model = Model(world, protocol)
    values = (model.component(state, name) for state in reachable(model) for name in model.components)
    assert {type(leaf) for value in values for leaf in leaves(value)} <= {int, str, bool, type(None)}


def leaves(value: Any) -> Iterator[object]:
    """What a component's value is made of in the end."""
    if isinstance(value, tuple | frozenset):
        for part in value:
            yield from leaves(part)
    else:
        yield value
