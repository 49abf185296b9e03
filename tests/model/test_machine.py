"""The machine of named transitions: names are resolved when a model is built, and no function reads anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from nbcc.model.machine.binding import ParameterNames
from nbcc.model.machine.bound import BoundTransition, UnknownName, ViewStep
from nbcc.model.machine.state import Coding
from nbcc.model.machine.stepper import Stepper
from nbcc.model.machine.transition import Args, Branch, Changes, Component, Guard, Step, Transition, preset, transition


class Worker(NamedTuple):
    step: str = "idle"
    done: int = 0


FIRST: dict[str, Any] = {"lock": None, "count": 0, "w1": Worker(), "w2": Worker()}
ACTORS = {"worker": ("w1", "w2"), "robot": ()}


def names(views: Mapping[str, Any] | None = None) -> ParameterNames:
    return ParameterNames(FIRST, ACTORS, lambda actor: {"most": 3}, views)


def steps(*bound: BoundTransition) -> list[Step]:
    stepper = Stepper(Coding(FIRST, ACTORS.values()), bound)
    return [step for step, _ in stepper.successors(0)]


def is_free(lock: str | None) -> bool:
    return lock is None


def take_lock(me: str) -> Changes:
    return {"lock": me}


FREE = Guard("the lock must be free", is_free)
TAKES = transition("takes lock", "w1", at="idle", to="busy", guards=(FREE,), effect=take_lock, changes=("own", "lock"))


def test_parameters_are_the_footprint_the_own_component_first() -> None:
    bound = names().bind(TAKES)
    assert bound.reads == ("w1", "lock")
    assert bound.writes == ("w1", "lock")
    assert [guard.reason for guard in bound.actor_guards] == ["w1 must be idle"]
    assert [(guard.reason, guard.reads) for guard in bound.guards] == [("the lock must be free", ("lock",))]


def test_a_transition_leads_to_its_next_step() -> None:
    stepper = Stepper(coding := Coding(FIRST, ACTORS.values()), [names().bind(TAKES)])
    ((step, after),) = stepper.successors(0)
    assert step == Step("w1", "takes lock")
    assert coding.read(after, (0, 2)) == ["w1", Worker("busy")]


def test_constants_are_given_by_name_and_defaults_stand_for_components_that_are_missing() -> None:
    def few(count: int, most: int, absent: tuple[int, ...] = (1, 2)) -> bool:
        return count + len(absent) < most

    bound = names().bind(TAKES.require(Guard("few", few)))
    assert bound.guards[1].reads == ("count",)
    assert bound.guards[1].holds(0)
    assert not bound.guards[1].holds(1)


def test_all_actors_of_a_kind_come_as_a_mapping() -> None:
    def all_idle(every_worker: Mapping[str, Worker], every_robot: Mapping[str, Worker]) -> bool:
        return not every_robot and {name: worker.step for name, worker in every_worker.items()} == {
            "w1": "idle",
            "w2": "idle",
        }

    bound = names().bind(TAKES.require(Guard("all must be idle", all_idle)))
    assert bound.guards[1].reads == ("w1", "w2")
    assert steps(bound) == [Step("w1", "takes lock")]


def test_a_later_function_of_a_view_replaces_its_value_and_may_name_it() -> None:
    def first(count: int) -> Iterable[int]:
        return (count, count + 1)

    def second(both: tuple[Any, ...], lock: str | None) -> Iterable[Any]:
        return (*both, lock)

    def of_another(both: tuple[Any, ...]) -> Iterable[Any]:
        return ()

    def seen(both: tuple[Any, ...]) -> bool:
        return both == (0, 1, None)

    both = [ViewStep(first), ViewStep(second), ViewStep(of_another, frozenset({"w2"}))]
    bound = names({"both": both}).bind(TAKES.require(Guard("seen", seen)))
    assert bound.guards[1].reads == ("count", "lock")
    assert steps(bound)


def test_arguments_are_combined_and_each_effect_takes_its_own() -> None:
    def colours() -> Iterable[Args]:
        return ((("colour", "red"),), (("colour", "blue"),))

    def sizes(count: int) -> Iterable[Args]:
        return ((("size", count + 1),),)

    def paint(*, colour: str) -> Changes:
        return {"lock": colour}

    def grow(own: Worker, lock: str, *, size: int) -> Changes:
        return {"own": own._replace(done=size + len(lock))}

    both = transition("paints", "w2", effect=paint, changes=("lock",), arguments=colours)
    both = both.add_argument(sizes).extend(grow, "own")
    stepper = Stepper(coding := Coding(FIRST, ACTORS.values()), [names().bind(both)])
    found = {step.args: coding.read(after, (0, 3)) for step, after in stepper.successors(0)}
    assert found == {
        (("colour", "red"), ("size", 1)): ["red", Worker(done=4)],
        (("colour", "blue"), ("size", 1)): ["blue", Worker(done=5)],
    }


def test_an_effect_that_comes_first_is_seen_by_those_behind_it() -> None:
    def count_up(count: int) -> Changes:
        return {"count": count + 1}

    def note(own: Worker, count: int) -> Changes:
        return {"own": own._replace(done=count)}

    stepper = Stepper(
        coding := Coding(FIRST, ACTORS.values()),
        [names().bind(transition("notes", "w1", effect=note).precede(count_up, "count"))],
    )
    ((_, after),) = stepper.successors(0)
    assert coding.read(after, (1, 2)) == [1, Worker(done=1)]


def test_conditions_are_joined_and_negated() -> None:
    def none_counted(count: int) -> bool:
        return count == 0

    both = FREE & Guard("nothing may be counted", none_counted)
    passes, fails = (names().bind(transition("acts", "w1", guards=(guard,))) for guard in (both, ~both))
    assert [guard.reason for guard in (*passes.guards, *fails.guards)] == [
        "the lock must be free; nothing may be counted",
        "not: the lock must be free; nothing may be counted",
    ]
    assert passes.guards[0].holds(None, 0)
    assert not fails.guards[0].holds(None, 0)
    assert fails.guards[0].holds(None, 1)
    with pytest.raises(ValueError, match="a limit, or a negated condition, cannot be part of another"):
        _ = FREE & ~both


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (TAKES.require(Guard("g", lambda lokc: lokc is None)), "'lokc' .* did you mean 'lock'?"),
        (TAKES.require(Guard("g", lambda every_wroker: True)), "did you mean 'every_worker'?"),
        (transition("acts", "w1", effect=take_lock, changes=("lcok",)), "'lcok' is not a component"),
        (TAKES.require(Guard("g", lambda *values: True)), "must name what it reads"),
    ],
)
def test_a_name_that_does_not_exist_is_an_error_when_the_model_is_built(wrong: Transition, message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        names().bind(wrong)


def test_a_change_that_is_not_declared_is_an_error() -> None:
    with pytest.raises(UnknownName, match="lock is changed, and not declared"):
        steps(names().bind(transition("acts", "w1", effect=take_lock)))


def test_a_memo_hit_calls_no_function() -> None:
    calls = 0

    def count_calls(lock: str | None) -> bool:
        nonlocal calls
        calls += 1
        return True

    stepper = Stepper(Coding(FIRST, ACTORS.values()), [names().bind(TAKES.require(Guard("counted", count_calls)))])
    assert list(stepper.successors(0)) == list(stepper.successors(0))
    assert calls == 1


def test_an_effect_with_two_outcomes_takes_one_of_them() -> None:
    def is_counted(number: int) -> bool:
        return number > 0

    def reset() -> Changes:
        return {"count": 0}

    def count_up(count: int) -> Changes:
        return {"count": count + 1}

    choice = Branch(preset(is_counted, number=Component("count")), (reset,), (count_up, count_up))
    stepper = Stepper(
        coding := Coding(FIRST, ACTORS.values()),
        [names().bind(transition("counts", "w1", effect=choice, changes=("count",)))],
    )
    ((_, after),) = stepper.successors(0)
    assert coding.read(after, (1,)) == [2]
    ((_, again),) = stepper.successors(after)
    assert coding.read(again, (1,)) == [0]


def test_what_is_only_computed_stays_as_it_is() -> None:
    def count_up(count: int) -> Changes:
        return {"count": count + 1}

    def note(own: Worker, count: int) -> Changes:
        return {"own": own._replace(done=count)}

    notes = transition("notes", "w1", effect=count_up, changes=("count",)).extend(note, "own").make_scratch("count")
    stepper = Stepper(coding := Coding(FIRST, ACTORS.values()), [names().bind(notes)])
    ((_, after),) = stepper.successors(0)
    assert coding.read(after, (1, 2)) == [0, Worker(done=1)]
