"""The relation that is proved is the model: the same states, the same steps, the same counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nbcc.model import Model
from nbcc.simulator import specs
from nbcc.simulator.prove.bridge import compare, present
from nbcc.simulator.prove.finite import Explorer, Instance
from nbcc.simulator.prove.interpretation import instance
from nbcc.simulator.prove.lemmas import LEMMAS, Lemmas
from nbcc.simulator.prove.lemmas.state import COMPACTOR, WRITE
from nbcc.simulator.prove.logic import at
from nbcc.simulator.prove.rows import with_records
from nbcc.simulator.prove.system import Action, System
from tests.search.pins import SIZES

BY_NAME = {lemmas.name: lemmas.system(any_plan=False) for lemmas in LEMMAS}
CORE = BY_NAME["core"]
DYING = ("crashes", "expires", "resumes")


def alive(system: System) -> System:
    """The system in a world without crashes."""
    return replace(system, actions=tuple(a for a in system.actions if not any(word in a.name for word in DYING)))


def within(world: Instance, crashes: int) -> Instance:
    """The world with a limit on crashes."""

    def few(s: Any) -> bool:
        dead = (
            [s.dead_writer(w) for w in world.elements[WRITE]],
            [s.dead_compactor(c) for c in world.elements[COMPACTOR]],
        )
        return sum(map(sum, dead)) <= crashes

    return replace(world, limit=few)


def test_every_state_and_step_of_the_demo_is_one_of_the_relation() -> None:
    seen = compare(Model(specs.world("demo")), CORE)
    assert seen.difference is None
    assert (seen.states, seen.steps) == (415, 594)


@pytest.mark.parametrize(
    ("name", "world"),
    [
        ("batches", "sent_again"),
        ("optimistic", "occ_beside_nbcc"),
        ("cleaning", "cleaning_crash"),
        ("archiving", "archiving"),
        ("log_compaction", "log_compaction_crash"),
        pytest.param("log_compaction", "log_compaction", marks=pytest.mark.nightly),
        pytest.param("replaces", "replaces", marks=pytest.mark.nightly),
        pytest.param("archiving", "archiving_crash", marks=pytest.mark.nightly),
        pytest.param("archiving", "archiving_readers", marks=pytest.mark.nightly),
        pytest.param("heartbeats", "failed_writer", marks=pytest.mark.nightly),
        pytest.param("heartbeats", "rollback_resumed", marks=pytest.mark.nightly),
        pytest.param("optimistic", "occ_two_groups", marks=pytest.mark.nightly),
        pytest.param("cleaning", "cleaning", marks=pytest.mark.nightly),
    ],
)
def test_every_state_and_step_with_a_mechanism_is_one_of_its_relation(name: str, world: str) -> None:
    seen = compare(Model(specs.world(world)), BY_NAME[name])
    assert seen.difference is None
    assert seen.states == SIZES["worlds"][world]["distinct"]


@pytest.mark.parametrize("most", [400, pytest.param(None, marks=pytest.mark.nightly)])
def test_every_state_and_step_where_locks_are_lost_is_one_of_the_relation(most: int | None) -> None:
    seen = compare(Model(specs.world("lost_lock"), specs.protocol("decision-log")), BY_NAME["decisions"], most)
    assert seen.difference is None
    assert seen.states == (most or 13_305)


@pytest.mark.parametrize(
    ("world", "seed"),
    [("demo", 1), *(pytest.param("demo", seed, marks=pytest.mark.nightly) for seed in (2, 3, 4)),
     *(pytest.param("core_small", seed, marks=pytest.mark.nightly) for seed in (1, 2))],
)  # fmt: skip
def test_the_base_files_keep_the_records_that_the_merge_of_the_model_keeps(world: str, seed: int) -> None:
    model = Model(specs.world(world))
    seen = compare(model, BY_NAME["ranks"], elements=with_records(instance(model), seed))
    assert seen.difference is None
    assert seen.states == SIZES["worlds"][world]["distinct"]


@pytest.mark.parametrize("option", [{"merge_order": "requested"}, {"tombstones": "drop"}])
def test_a_relation_that_merges_otherwise_differs_from_the_model(option: dict[str, str]) -> None:
    model = Model(specs.world("demo"))
    [ranks] = [lemmas for lemmas in LEMMAS if lemmas.name == "ranks"]
    seeds = (with_records(instance(model), seed) for seed in range(20))
    assert any(compare(model, ranks.system(any_plan=False, **option), elements=each).difference for each in seeds)


@pytest.mark.nightly
@pytest.mark.parametrize("world", ["readers", "two_groups", "crash_resume", "core_small"])
def test_every_state_and_step_of_larger_worlds_is_one_of_the_relation(world: str) -> None:
    seen = compare(Model(specs.world(world)), CORE)
    assert seen.difference is None
    assert seen.states == SIZES["worlds"][world]["distinct"]


@pytest.mark.parametrize("world", ["demo"])
def test_the_relation_reaches_as_many_states_as_the_model(world: str) -> None:
    states, _ = Explorer(alive(CORE), instance(Model(specs.world(world)))).reachable()
    assert len(states) == SIZES["worlds"][world]["distinct"]


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("world", ["readers", "two_groups", "core_small"])
def test_the_relation_reaches_as_many_states_as_larger_models(world: str) -> None:
    states, _ = Explorer(alive(CORE), instance(Model(specs.world(world)))).reachable()
    assert len(states) == SIZES["worlds"][world]["distinct"]


@pytest.mark.nightly
def test_the_relation_reaches_as_many_states_where_actors_die() -> None:
    explorer = Explorer(CORE, within(instance(Model(specs.world("crash_resume"))), 1))
    states, possible = explorer.reachable()
    assert len({present(explorer, each) for each in states}) == SIZES["worlds"]["crash_resume"]["distinct"]
    assert possible == {action.name for action in CORE.actions if not action.name.startswith("reader")}


def changed(name: str, system: System = CORE, **parts: Callable[..., Any]) -> System:
    """The system with one action changed."""
    assert name in {action.name for action in system.actions}
    return replace(system, actions=tuple(replace(a, **parts) if a.name == name else a for a in system.actions))


MUTANTS = {
    "publication keeps the lock": changed(
        "writer publishes instant", updates=lambda s, w: {"phase": at(s.phase, w, to=5)}
    ),
    "a plan takes no time": changed(
        "compactor schedules plan", updates=lambda s, c, p: {"planned": at(s.planned, p, to=True)}
    ),
    "a log is not put": changed("writer writes log", updates=lambda s, log: {}),
    "nothing is written before the lock": changed("writer takes lock", guard=lambda s, w: s.phase(w) == 0),
    "only one plan may ever be scheduled": changed("compactor schedules plan", guard=lambda s, c, p: False),
    "a request needs a free clock": changed("writer requests instant", guard=lambda s, w: s.clock() == 0),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_changed_relation_differs_from_the_model(mutant: str) -> None:
    assert compare(Model(specs.world("demo")), MUTANTS[mutant]).difference is not None


def nothing(*_: Any) -> dict[str, Any]:
    return {}


OF_MECHANISMS = {
    "a repeat is not given up": ("batches", "writer finds its batch completed", {"updates": nothing}),
    "a batch is never skipped": ("batches", "writer skips batch", {"guard": lambda s, w: False}),
    "files of a repeat stay": ("batches", "writer takes back its write", {"updates": nothing}),
    "a timeline is not sealed": ("optimistic", "writer passes check", {"updates": nothing}),
    "no writer aborts": ("optimistic", "writer aborts", {"guard": lambda s, w: False}),
    "a clean has no plan": ("cleaning", "cleaner schedules clean", {"updates": nothing}),
    "a clean deletes nothing": ("cleaning", "cleaner deletes files", {"updates": nothing}),
    "a rollback is not planned": ("heartbeats", "rollbacker plans rollback", {"updates": nothing}),
    "a heartbeat does not expire": ("heartbeats", "heartbeat expires", {"guard": lambda s, w: False}),
    "an archive stays empty": ("archiving", "archiver archives instants", {"updates": nothing}),
    "an archived instant stays active": ("archiving", "archiver removes write", {"updates": nothing}),
    "a decision counts for nothing": ("decisions", "writer decides", {"updates": nothing}),
    "a log compaction covers nothing": ("log_compaction", "log compactor schedules plan", {"updates": nothing}),
    "a replace hides nothing": ("replaces", "overwriter schedules replace", {"updates": nothing}),
    "a lost lock is never free": ("decisions", "lock of a writer is lost", {"updates": nothing}),
}
WORLDS = {"batches": "sent_again", "optimistic": "occ_beside_nbcc", "cleaning": "cleaning_crash",
          "heartbeats": "failed_writer", "archiving": "archiving", "decisions": "lost_lock",
          "log_compaction": "log_compaction", "replaces": "replaces"}  # fmt: skip
PROTOCOLS = {lemmas.name: lemmas.protocol for lemmas in LEMMAS}


@pytest.mark.parametrize("mutant", OF_MECHANISMS)
def test_a_changed_mechanism_differs_from_the_model(mutant: str) -> None:
    name, action, parts = OF_MECHANISMS[mutant]
    model = Model(specs.world(WORLDS[name]), specs.protocol(PROTOCOLS[name]))
    assert compare(model, changed(action, BY_NAME[name], **parts)).difference is not None


@pytest.mark.nightly
@pytest.mark.parametrize("lemmas", [each for each in LEMMAS if each.worlds], ids=lambda lemmas: lemmas.name)
def test_each_action_of_a_mechanism_is_taken_in_its_worlds(lemmas: Lemmas) -> None:
    system = BY_NAME[lemmas.name]
    of_the_core = set() if lemmas.name == "core" else {action.name for action in CORE.actions}
    models = [Model(specs.world(world), specs.protocol(lemmas.protocol)) for world in lemmas.worlds]
    taken = set().union(*(compare(model, system).actions for model in models))
    assert {action.name for action in system.actions} - of_the_core <= taken


def test_a_false_clause_is_detected_in_a_reachable_state() -> None:
    wrong = replace(
        CORE, clauses={**CORE.clauses, "no write is published": lambda s: s.every(WRITE, lambda w: s.phase(w) < 5)}
    )
    assert "'no write is published' is false" in str(compare(Model(specs.world("demo")), wrong).difference)


def test_an_action_that_no_model_step_is_stands_for_nothing() -> None:
    assert all(isinstance(action, Action) and action.stands_for for action in CORE.actions)
