"""The relation that is proved is the model: the same states, the same steps, the same counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import cache
from random import Random
from typing import Any

import pytest

from nbcc.model import Model
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.prove.evidence import relations, stale
from nbcc.simulator.search.prove.lemmas import LEMMAS
from nbcc.simulator.search.prove.lemmas.state import COMPACTOR, WRITE
from nbcc.simulator.search.prove.logic import at
from nbcc.simulator.search.prove.system import Move, ProvedSystem
from nbcc.simulator.search.prove.worlds import MOST, SMALL, models, reachable
from tests.search.pins import SIZES
from tests.search.relations import BY_NAME, LEMMAS_OF, OF_FILE, difference
from tools import proofs
from tools.proofs.bridge import Compared, compare, present, uncovered
from tools.proofs.finite import Explorer, Instance
from tools.proofs.interpretation import instance
from tools.proofs.rows import with_records
from tools.proofs.worlds import elements_of, random_world

CORE = BY_NAME["core"]
DYING = ("crashes", "expires", "resumes")


def alive(system: ProvedSystem) -> ProvedSystem:
    """The system in a world without crashes."""
    return replace(system, actions=tuple(a for a in system.actions if not any(word in a.name for word in DYING)))


def within(world: Instance, crashes: int) -> Instance:
    def few(s: Any) -> bool:
        dead = (
            [s.dead_writer(w) for w in world.elements[WRITE]],
            [s.dead_compactor(c) for c in world.elements[COMPACTOR]],
        )
        return sum(map(sum, dead)) <= crashes

    return replace(world, limit=few)


@cache
def compared(name: str, most: int | None = MOST) -> list[Compared]:
    """The comparisons of a relation with the model in its small worlds."""
    system = BY_NAME[name]
    return [compare(model, system, most, elements_of(model, system)) for model in models(name, OF_FILE[name])]


@pytest.mark.parametrize("name", BY_NAME)
def test_the_enabled_steps_in_every_visited_state_are_those_of_the_model(name: str) -> None:
    assert [each.difference for each in compared(name) if each.difference] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_the_accepted_comparison_is_the_present_one(name: str) -> None:
    """`nbcc prove` says PROVED only of what specs/proofs.json records as compared."""
    seen = relations()[name]
    assert (seen["states"], seen["steps"]) == (
        sum(each.states for each in compared(name)), sum(each.steps for each in compared(name))
    ), "python -m tools.regenerate proofs"  # fmt: skip
    pytest.importorskip("z3", reason="NO Z3 HERE: pip install 'nbcc[proof]'; the fingerprints are NOT COMPARED")
    assert stale(LEMMAS_OF[name]) == ()


@pytest.mark.parametrize("name", BY_NAME)
def test_the_small_worlds_take_every_action_and_need_every_declaration(name: str) -> None:
    """An action that is never taken was not compared. A declared excess that never occurs hides a later one."""
    assert uncovered(BY_NAME[name], compared(name)) == ()


@pytest.mark.parametrize(("name", "mutant", "action"), [
    ("cleaning", "cleaner-never-plans", "cleaner schedules clean"),
    ("archiving", "archiver-archives-nothing", "archiver archives instants"),
])  # fmt: skip
def test_a_declared_excess_does_not_hide_a_model_that_never_takes_the_step(
    name: str, mutant: str, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No state of these models differs, because `WIDER` allows the step everywhere."""
    monkeypatch.setattr(proofs, "MOST", 200)
    with mutants.applied(mutants.load(mutant)), pytest.raises(ValueError, match=f"the action {action!r} in any world"):
        proofs.same_steps(LEMMAS_OF[name])


def test_limits_do_not_excuse_a_step_that_the_state_of_its_actor_prevents() -> None:
    """An idle rollbacker deletes no log, however high the limits are. A writer without writes left requests none."""
    model = Model(SMALL["heartbeats"][0])
    assert not model.only_limits_stop(model.initial, ["rollbacker_deletes_log"])
    assert not model.only_limits_stop(model.initial, ["writer_requests_instant"])
    assert any(model.only_limits_stop(state, ["writer_requests_instant"]) for state, _ in reachable(model))


MECHANISMS = {
    "heartbeats": ("rollbacker",), "cleaning": ("cleaner",), "archiving": ("archiver",),
    "log_compaction": ("log_compactor",), "replaces": ("overwriter",), "resizes": ("resizer",),
    "resizes_rolled_back": ("resizer", "rollbacker"), "resizes_cleaned": ("resizer", "cleaner"),
    "resizes_by_range": ("resizer",),
}  # fmt: skip


ONE_COMPACTOR = ("free_commits", "free_rollbacks")
"""The files whose protocol is not modelled with a second compactor. Their relation has one, too."""


@pytest.mark.parametrize("name", BY_NAME)
def test_the_small_worlds_have_company(name: str) -> None:
    """A rule that is right only in one file group, or without a reader, must meet the second group and the reader."""
    worlds = SMALL[name]
    assert any(world.groups > 1 for world in worlds)
    assert any(world.actors["compactor"] > 1 for world in worlds) or name in ONE_COMPACTOR
    assert any(world.actors.get("reader") and world.actors["compactor"] for world in worlds)
    for kind in MECHANISMS.get(name, ()):
        counts = [(world.actors.get(kind, 0), world) for world in worlds]
        assert max(count for count, _ in counts) > 1
        assert any(count and world.actors["compactor"] for count, world in counts)
        assert any(count and world.actors.get("reader") for count, world in counts)
        assert any(count and world.groups > 1 for count, world in counts)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", BY_NAME)
def test_the_enabled_steps_in_every_state_are_those_of_the_model(name: str) -> None:
    assert [each.difference for each in compared(name, None) if each.difference] == []


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "world"), [(each.name, world) for each in LEMMAS for world in each.worlds])
def test_every_state_and_step_of_a_larger_world_is_one_of_the_relation(name: str, world: str) -> None:
    model = Model(specs.world(world), OF_FILE[name])
    seen = compare(model, BY_NAME[name], elements=elements_of(model, BY_NAME[name]))
    assert seen.difference is None
    if LEMMAS_OF[name].protocol == "default":
        assert seen.states == SIZES["worlds"][world]["distinct"]


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", BY_NAME)
def test_the_enabled_steps_in_random_worlds_are_those_of_the_model(name: str) -> None:
    """Other worlds each night; the seed is the day."""
    seed = date.today().toordinal()
    for number in range(10):
        world = random_world(name, Random(f"{name} {seed} {number}"))
        model = Model(world, OF_FILE[name])
        seen = compare(model, BY_NAME[name], 2_000, elements_of(model, BY_NAME[name], seed + number))
        assert seen.difference is None, f"seed {seed}, world {number}: {world.to_mapping()}"


@pytest.mark.parametrize("option", [{"merge_order": "requested"}, {"tombstones": "drop"}])
def test_a_relation_that_merges_otherwise_differs_from_the_model(option: dict[str, str]) -> None:
    model = Model(specs.world("demo"))
    [ranks] = [lemmas for lemmas in LEMMAS if lemmas.name == "ranks"]
    seeds = (with_records(instance(model), seed) for seed in range(20))
    assert any(compare(model, ranks.system(any_plan=False, **option), elements=each).difference for each in seeds)


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


def changed(name: str, system: ProvedSystem = CORE, **parts: Any) -> ProvedSystem:
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


OF_MECHANISMS: dict[str, tuple[str, str, dict[str, Any]]] = {
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
    "a writer puts no log again": ("resizes", "writer finds another mapping", {"updates": nothing}),
    "late logs are forgotten": ("resizes", "resizer finds late logs", {"updates": nothing}),
    "a resize has no plan": ("resizes", "resizer schedules resize", {"updates": nothing}),
    "with resizes no rollback is planned": ("resizes_rolled_back", "rollbacker plans rollback", {
        "updates": nothing}),
    "with resizes a clean has no plan": ("resizes_cleaned", "cleaner schedules clean", {"updates": nothing}),
    "a resize by range has no plan": ("resizes_by_range", "resizer schedules resize", {"updates": nothing}),
    "an entry decides nothing": ("free_commits", "author puts entry", {"updates": nothing}),
    "a failed author has not failed": ("free_commits", "author finds its number taken", {"updates": nothing}),
    "an entry rolls nothing back": ("free_rollbacks", "author publishes rollback", {"updates": nothing}),
    "a plan is announced and not decided": ("free_commits", "author publishes plan", {"updates": nothing}),
    "a lost lock is never free": ("decisions", "lock of a writer is lost", {"updates": nothing}),
}


@pytest.mark.parametrize("mutant", OF_MECHANISMS)
def test_a_changed_mechanism_differs_from_the_model(mutant: str) -> None:
    name, action, parts = OF_MECHANISMS[mutant]
    assert difference(name, changed(action, BY_NAME[name], **parts))


def test_a_false_clause_is_detected_in_a_reachable_state() -> None:
    wrong = replace(
        CORE, clauses={**CORE.clauses, "no write is published": lambda s: s.every(WRITE, lambda w: s.phase(w) < 5)}
    )
    assert "'no write is published' is false" in str(compare(Model(specs.world("demo")), wrong).difference)


def test_an_action_that_no_model_step_is_stands_for_nothing() -> None:
    assert all(isinstance(action, Move) and action.stands_for for action in CORE.actions)
