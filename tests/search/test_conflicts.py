"""Optimistic writers: each weaker choice breaks what it must, disjoint writes never meet, modes live side by side."""

from __future__ import annotations

import re

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore
from tests.builders.reachable import reachable

from .pins import OPTIMISTIC, search, violated

WORLDS = {"priority": "demo", "conflict_window": "occ_three_writes", "conflict_reads": "write_skew"}
BREAKS: dict[tuple[str, str], set[str]] = {
    ("conflict_check", "before_lock"): {"FIRST", "ISO"},
    ("conflict_window", "requested"): {"FIRST", "ISO"},
    ("conflict_reads", "ignored"): {"ISO"},
    ("conflict_by", "file_id"): set(),  # as long as the bucket fixes the file id
    ("timeline", "reloaded"): {"FIRST", "ISO"},
    ("priority", "first"): {"FIRST"},
    ("early_detection", "on"): {"FIRST"},
}


def test_every_choice_of_optimistic_writers_is_judged() -> None:
    assert {field for field, _ in BREAKS} == OPTIMISTIC


@pytest.mark.parametrize(("field", "value"), BREAKS)
def test_each_weaker_choice_breaks_exactly_these(field: str, value: str) -> None:
    world = specs.world(WORLDS.get(field, "occ_two_groups"))
    protocol = Protocol.from_mapping({"concurrency": "occ", field: value})
    assert violated(search(Model(world, protocol))).keys() == BREAKS[field, value]


def test_disjoint_writes_never_abort_each_other() -> None:
    world = World(actors={"writer": 2}, buckets=2, writes={("w1", 1): (1, 0), ("w2", 1): (0, 1)})
    model = Model(world, Protocol(concurrency="occ"))
    assert search(model).promises["FIRST"].verdict is Verdict.HOLDS
    taken = {step.action for state in reachable(model) for step in model.enabled(state)}
    assert "writer_passes_check" in taken
    assert "writer_aborts" not in taken


def test_of_two_writers_the_optimistic_one_aborts_and_the_other_never_does() -> None:
    world = specs.world("occ_beside_nbcc").replace(actors={"writer": 2})
    model = Model(world)
    assert {row.actor for row in model.transitions if row.action == "writer_aborts"} == {"w2"}
    assert search(model).promises["FIRST"].verdict is Verdict.HOLDS


def test_of_an_optimistic_replace_and_a_writer_either_aborts_and_never_both() -> None:
    model = Model(specs.world("occ_replaces"))
    taken = {step.action for state in reachable(model) for step in model.enabled(state)}
    assert {"overwriter_aborts", "overwriter_takes_back_replace", "writer_aborts"} <= taken
    assert search(model).promises["FIRST"].verdict is Verdict.HOLDS


def test_an_unchecked_replace_publishes_what_an_optimistic_one_undoes() -> None:
    world = specs.world("occ_replaces").replace(settings={"overwriter": {"concurrency": "single_writer"}})
    assert violated(search(Model(world))).keys() == {"FIRST"}


def test_an_optimistic_writer_that_was_undone_gives_up_instead_of_waiting() -> None:
    """It finds so in the look for conflicts, which is also where it is asked whether it lives."""
    model = Model(specs.world("occ_restores"))
    taken = {step.action for state in reachable(model) for step in model.enabled(state)}
    assert {"writer_is_refused", "writer_aborts"} <= taken
    assert search(model).promises["PROGRESS"].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"w1": {"commits_retained": 2}}, "world [actor.w1], a writer: unknown field 'commits_retained'"),
        (
            {"clean1": {"commits_retained": 0}},
            "world [actor.clean1]: commits_retained: a whole number from 1 to 10000 is needed",
        ),
        ({"writr": {"concurrency": "occ"}}, "world [actor.writr]: there is no such actor; did you mean 'writer'?"),
        ({"w1": {"concurency": "occ"}}, "w1], a writer: unknown field 'concurency'; did you mean 'concurrency'?"),
        ({"w1": {"concurrency": "pessimistic"}}, "protocol: concurrency = 'pessimistic'"),
    ],
)
def test_settings_of_an_actor_that_cannot_be_say_what_can(given: dict[str, dict[str, str]], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        World(settings=given)


def test_settings_of_actors_survive_the_file() -> None:
    world = specs.world("occ_beside_nbcc")
    assert World.from_mapping(world.to_mapping()) == world
    assert World.from_mapping(world.to_mapping()).settings == {"w2": {"concurrency": "occ"}}


def test_early_detection_is_modelled_beyond_the_death_of_a_writer() -> None:
    """A search evaluates every guard of a dead writer, which may have put all its files."""
    world = World.from_mapping(
        {"actors": {"writer": 1, "compactor": 1}, "limits": {"writes_per_writer": 1, "compactions": 1, "crashes": 1}}
    )
    assert explore(Model(world, specs.protocol("occ-early-detection"))).distinct == 28
