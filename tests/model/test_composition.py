"""The operations by which mechanisms refine transitions, each on a system without a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from nbcc.model.machine.composition import Composition, NoTransition
from nbcc.model.machine.selection import Selection
from nbcc.model.machine.transition import Args, Changes, Guard, Transition, go_to, transition
from tests.search.counting import NEVER, WORKERS, Ran, Worker, double, note, system


class Tally(NamedTuple):
    """A record that a mechanism adds to a worker."""

    times: int = 0


class Fact(NamedTuple):
    actor: str
    what: str


# What is selected.


def test_transitions_are_selected_by_action_or_tag_and_by_actor() -> None:
    composition = system()
    assert [(each.actor, each.action) for each in composition.select("counts")] == [("w1", "counts"), ("w2", "counts")]
    assert composition.select("under lock", actors=["w2"]).keys == (("w2", "takes"), ("w2", "counts"))
    assert composition.select("takes", "releases", actors=["w1"]).keys == (("w1", "takes"), ("w1", "releases"))
    assert composition.select("releases", actors=["w1"]).one.at == "done"


def test_an_empty_selection_is_an_error_unless_it_may_be_empty() -> None:
    composition = system()
    with pytest.raises(NoTransition, match="a mechanism: any actor has no transition sleeps"):
        composition.select("sleeps")
    with pytest.raises(NoTransition, match=r"w1 has no transition coutns; did you mean counts\?"):
        composition.select("coutns", actors=["w1"])
    composition.add(transition("sleeps", "w1", at="idle"))
    with pytest.raises(NoTransition, match="w2 has no transition sleeps"):
        composition.select("sleeps", actors=["w1", "w2"])
    assert not composition.find("sleeps", actors=["w2"])
    assert composition.find("sleeps", actors=["w1", "w2"]).keys == (("w1", "sleeps"),)


def test_a_selection_leaves_out_transitions_with_a_tag() -> None:
    composition = system()
    composition.select("counts").tag("counting")
    assert composition.select("under lock", actors=["w1"]).without("counting").keys == (("w1", "takes"),)


def test_a_tag_is_added_for_later_selections() -> None:
    composition = system()
    composition.select("releases", actors=["w1"]).tag("under lock")
    assert len(composition.select("under lock", actors=["w1"]).keys) == 3
    assert len(composition.select("under lock", actors=["w2"]).keys) == 2


def test_a_tag_is_removed_when_another_transition_has_it() -> None:
    composition = system()
    composition.select("takes", actors=["w1"]).untag("under lock")
    assert composition.select("under lock", actors=["w1"]).keys == (("w1", "counts"),)
    assert len(composition.select("under lock", actors=["w2"]).keys) == 2


# Operations on a selection.


def test_a_required_condition_must_hold_too() -> None:
    composition = system()
    composition.select("takes", actors=["w1"]).require(NEVER)
    assert Ran(composition).possible == []
    assert [guard.reason for guard in composition.select("takes", actors=["w1"]).one.guards] == [
        "the lock must be free", "this must never happen",
    ]  # fmt: skip
    assert len(composition.select("takes", actors=["w2"]).one.guards) == 1, "the other worker is not selected"


def test_an_effect_is_added_behind_the_others_or_before_them() -> None:
    behind, before = system(), system()
    behind.select("counts").extend(double, "count")
    before.select("counts").precede(double, "count")
    assert Ran(behind, "takes", "counts")["count"] == (1 + 1) * 2
    assert Ran(before, "takes", "counts")["count"] == 1 * 2 + 1


def test_an_added_effect_changes_further_components() -> None:
    composition = system()
    composition.select("counts").extend(note, "noted").precede(go_to("holding"))
    assert Ran(composition, "takes", "counts")["noted"] == 2
    assert composition.select("counts", actors=["w1"]).one.changes == ("own", "count", "noted")


def test_an_added_effect_changes_its_own_actor_by_default() -> None:
    composition = system()
    composition.add(transition("moves", "w1", effect=double, changes=("count",)))
    composition.select("moves").extend(go_to("moved"))
    assert Ran(composition, "moves")["w1"].step == "moved"


def test_an_argument_is_added_in_every_combination() -> None:
    def colours() -> Iterable[Args]:
        return ((("colour", "red"),), (("colour", "blue"),))

    def sizes(count: int) -> Iterable[Args]:
        return ((("size", count),), (("size", count + 1),))

    composition = system()
    composition.select("takes").add_argument(colours).add_argument(sizes)
    assert sorted((each["colour"], each["size"]) for each in Ran(composition).arguments) == [
        ("blue", 1), ("blue", 2), ("red", 1), ("red", 2),
    ]  # fmt: skip


def test_a_transition_is_replaced_perhaps_by_another_action() -> None:
    composition = system()
    composition.select("counts", actors=["w1"]).replace(lambda each: each.renamed("counts twice").extend(double))
    assert Ran(composition, "takes").possible == ["counts twice"]
    assert Ran(composition, "takes", "counts twice")["count"] == 4
    assert composition.select("counts").keys == (("w2", "counts"),)
    with pytest.raises(ValueError, match="w1 has two transitions takes"):
        composition.select("counts twice").replace(lambda each: each.renamed("takes"))


def test_a_transition_is_split_in_two() -> None:
    composition = system()
    composition.select("counts").split(
        lambda whole: whole.renamed("begins to count", to="counting"),
        lambda whole: transition("ends counting", whole.actor, at="counting", to=whole.to, effect=double,
                                 changes=("own", "count")),
    )  # fmt: skip
    assert Ran(composition, "takes").possible == ["begins to count"]
    assert Ran(composition, "takes", "begins to count").possible == ["ends counting"]
    assert Ran(composition, "takes", "begins to count", "ends counting", "releases")["count"] == 4


def test_a_transition_is_inserted_before_and_after() -> None:
    composition = system()
    composition.select("counts").insert_before("warm", lambda later: transition("warms up", later))
    composition.select("counts").insert_after("tired", lambda earlier: transition("rests", earlier))
    ran = ("takes", "warms up", "counts", "rests", "releases")
    for number, action in enumerate(ran):
        assert Ran(composition, *ran[:number]).possible == [action]
    assert Ran(composition, "takes", "warms up", "counts")["w1"].step == "tired"


def test_nothing_is_inserted_after_a_transition_whose_effects_decide_what_follows() -> None:
    composition = system()
    composition.select("releases").replace(lambda each: each.renamed("releases", to="").extend(go_to("idle")))
    with pytest.raises(ValueError, match="releases of w1 leads to a step that its effects decide"):
        composition.select("releases").insert_after("tired", lambda earlier: transition("rests", earlier))


def test_an_alternative_exit_starts_at_the_same_step() -> None:
    composition = system()
    composition.select("counts").exit(lambda start: transition("gives up", start, to="done"))
    assert Ran(composition, "takes").possible == ["counts", "gives up"]
    assert Ran(composition, "takes", "gives up")["count"] == 1
    assert Ran(composition, "takes", "gives up").possible == ["releases"]


# Operations on the composition.


def test_actors_are_found_by_kind() -> None:
    assert system().actors_of("worker") == WORKERS
    assert system().actors_of("robot") == ()


def test_each_action_of_an_actor_is_added_once() -> None:
    composition = system()
    composition.add(transition("sleeps", "w1", at="idle"))
    assert Ran(composition).possible == ["takes", "sleeps"]
    with pytest.raises(ValueError, match="w1 has two transitions sleeps"):
        composition.add(transition("sleeps", "w1", at="done"))


def test_each_component_is_added_once() -> None:
    composition = system()
    composition.add_component("colour", "red")
    assert Ran(composition)["colour"] == "red"
    with pytest.raises(ValueError, match="the component 'colour' is added twice"):
        composition.add_component("colour", "blue")


def test_a_field_of_an_actor_is_a_record_inside_its_component() -> None:
    def tally(own_tally: Tally) -> Changes:
        return {"own_tally": Tally(own_tally.times + 1)}

    composition = system()
    composition.add_field("worker", "tally", Tally())
    composition.select("counts").extend(tally, "own")
    assert Ran(composition)["w1"] == Worker(records=(Tally(),))
    counted = Ran(composition, "takes", "counts", "releases", "takes", "counts")
    assert counted["w1"] == Worker("done", (Tally(2),))
    assert counted["w2"] == Worker(records=(Tally(),))
    with pytest.raises(ValueError, match="the field 'tally' of a worker is added twice"):
        composition.add_field("worker", "tally", Tally(7))


def test_a_record_has_its_first_value_again_when_the_operation_ends() -> None:
    def tally(own_tally: Tally) -> Changes:
        return {"own_tally": Tally(own_tally.times + 1)}

    def start_again() -> Changes:
        return {"own": Worker()}

    composition = system()
    composition.add_field("worker", "tally", Tally())
    composition.select("counts").extend(tally, "own")
    composition.select("releases").extend(start_again)
    assert Ran(composition, "takes", "counts", "releases")["w1"] == Worker(records=(Tally(),))


def test_a_view_is_mapped_for_some_actors_or_for_all() -> None:
    def none() -> tuple[int, ...]:
        return ()

    def counted(numbers: tuple[int, ...], count: int) -> tuple[int, ...]:
        return (*numbers, count)

    def enough(numbers: tuple[int, ...]) -> bool:
        return len(numbers) == 2

    composition = system()
    composition.map_view("numbers", none)
    composition.map_view("numbers", counted)
    composition.select("takes").require(Guard("two numbers must be counted", enough))
    assert Ran(composition).possible == []
    composition.map_view("numbers", counted, actors=["w2"])
    assert Ran(composition).possible == []
    composition.map_view("numbers", counted, actors=["w1"])
    assert Ran(composition).possible == ["takes"]


def test_facts_are_registered_by_type_and_actor() -> None:
    composition = system()
    composition.register(Fact("w1", "counts"))
    composition.register(Fact("w2", "sleeps"))
    composition.register(Fact("w2", "counts"))
    assert composition.facts(Fact) == {"w1": Fact("w1", "counts"), "w2": Fact("w2", "counts")}
    assert composition.facts(Guard) == {}


def test_every_operation_is_named_in_a_test() -> None:
    """A new operation needs a test; `refine` is what the operations themselves use."""
    operations = {name for kind in (Selection, Composition) for name, each in vars(kind).items()
                  if callable(each) and not name.startswith("_")}  # fmt: skip
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*composition*.py"))
    assert [name for name in sorted(operations) if f".{name}(" not in text] == ["refine"]


def test_transitions_are_values() -> None:
    """A refinement makes another transition; the first one does not change."""
    composition = system()
    first: Transition = composition.select("counts", actors=["w1"]).one
    composition.select("counts").require(NEVER)
    assert first.guards == ()
