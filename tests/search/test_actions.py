"""The table of actions against itself, on every reachable state of small worlds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from nbcc.model import Model, Protocol, Query, Record, Refused, State, Step, World
from nbcc.model.machine.bound import BoundGuard, BoundTransition
from nbcc.simulator import specs
from tests.builders.reachable import reachable

SMALL = {
    "demo": specs.world("demo"),
    "two groups": specs.world("demo").replace(buckets=2),
    "crashes": specs.world("crash_resume").replace(compactions=1),
    "a rollback": specs.world("failed_writer").replace(crashes=0),
    "a reader": specs.world("readers").replace(actors={"writer": 2, "reader": 1}),
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
AT_NIGHT = {("crashes", "everything weaker"), ("a rollback", "everything weaker")}  # they have the most states
CASES = [
    pytest.param(SMALL[w], PROTOCOLS[p], id=f"{w}, {p}", marks=pytest.mark.nightly if (w, p) in AT_NIGHT else ())
    for w in SMALL
    for p in PROTOCOLS
]


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


def outcome(row: BoundTransition, values: dict[str, Any]) -> object:
    """What a transition does, without any memo, on the components that it declares."""

    def given(names: Iterable[str]) -> list[Any]:
        return [values[name] for name in names]

    if not all(guard.holds(*given(guard.reads)) for guard in (*row.actor_guards, *row.guards)):
        return None
    listed = row.arguments.call(*given(row.arguments.reads))
    return [(args, dict(row.effect.call(*given(row.effect.reads), **dict(args)))) for args in listed]


def undeclared(model: Model, rows: Iterable[BoundTransition], states: list[State]) -> Iterator[str]:
    """Transitions, and conditions of theirs, with two outcomes for equal values of what they declare.

    A function is given nothing but its declared values. It can still read what it closes over, and then its outcome
    varies between states that agree on the footprint.
    """
    for row in rows:
        seen: dict[object, object] = {}
        for state in states:
            values = {name: model.component(state, name) for name in model.components}
            found = outcome(row, values)
            if seen.setdefault(tuple(values[name] for name in row.reads), found) != found:
                yield f"{row.action} of {row.actor} rests on more than {row.reads}"
                break
        guards = (*row.actor_guards, *row.guards)
        yield from (f"{g.reason} rests on more than {g.reads}" for g in guards if peeks(g, model, states))


def peeks(guard: BoundGuard, model: Model, states: list[State]) -> bool:
    """Whether a condition has two values for equal values of what it declares."""
    seen: dict[object, bool] = {}
    for state in states:
        values = tuple(model.component(state, name) for name in guard.reads)
        with suppress(IndexError, KeyError, AttributeError, TypeError, StopIteration):  # another condition is false
            holds = bool(guard.holds(*values))
            if seen.setdefault(values, holds) != holds:
                return True
    return False


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_no_step_reads_what_it_did_not_declare(world: World, protocol: Protocol) -> None:
    model = Model(world, protocol)
    assert list(undeclared(model, model.transitions, reachable(model))) == []


def test_a_step_that_peeks_is_caught() -> None:
    model = Model(SMALL["demo"])
    states = reachable(model)
    calls = iter(range(10**9))
    honest = next(row for row in model.transitions if row.action == "writer_starts_writing")

    def effect(own: Any) -> dict[str, Any]:
        return {"w1": own._replace(files=next(calls))}

    peeking = honest._replace(effect=honest.effect._replace(call=effect))

    assert list(undeclared(model, (peeking,), states)) == [
        "writer_starts_writing of w1 rests on more than ('w1',)",
    ]


def test_a_condition_that_peeks_is_caught() -> None:
    model = Model(SMALL["demo"])
    honest = next(row for row in model.transitions if row.action == "compactor_schedules_plan")
    calls = count()
    free = next(guard for guard in honest.guards if guard.reason == "the lock must be free")
    peeking = free._replace(holds=lambda *_: next(calls) % 2 == 0)

    assert list(undeclared(model, (honest._replace(guards=(peeking,)),), reachable(model))) == [
        f"compactor_schedules_plan of c1 rests on more than {honest.reads}",
        f"the lock must be free rests on more than {free.reads}",
    ]


@pytest.mark.parametrize(("world", "protocol"), CASES)
def test_a_step_changes_only_what_it_declares(world: World, protocol: Protocol) -> None:
    model = Model(world, protocol)
    writes = {(row.actor, row.action): set(row.writes) for row in model.transitions}
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
