"""Generated mutants of the model: what is changed, that it is put back, and that what was killed is killed."""

from __future__ import annotations

import ast
import os
import random
from contextlib import nullcontext
from importlib import import_module
from pkgutil import walk_packages

import pytest
from rich.progress import Progress

from nbcc.model import Model, World
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.explore import explore
from tools.mutation import Fate, Generated, generated, hunt, record
from tools.mutation.__main__ import _confirmed
from tools.mutation.cases import Case, cases
from tools.mutation.hunt import Hunt
from tools.mutation.operators import changes
from tools.mutation.probes import Probe
from tools.mutation.record import Record, load, page
from tools.mutation.resume import kills_again, place_of
from tools.mutation.source import modules

ALL = {mutant.name: mutant for mutant in generated()}
KNOWN = load()
EVERY = 13
QUICK = (*PROMISES, "deadlock", "error")
SAMPLE = [name for name in sorted(KNOWN.mutants) if name in ALL and KNOWN.mutants[name][1].by in QUICK][::EVERY]
LOOKED_THROUGH = 20
"""Searches that those who live are held against once more at night."""


def texts(source: str) -> list[str]:
    return [f"{operator}: {ast.unparse(instead)}" for operator, _, instead in changes(ast.parse(source))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b <= c", ["comparison flipped: a <= b <= c", "comparison flipped: a < b < c"]),
        ("a and b and c", [f"conjunct dropped: {rest}" for rest in ("b and c", "a and c", "a and b")]),
        ("x or y", ["conjunct dropped: y", "conjunct dropped: x"]),
        ("not x", ["negation dropped: x"]),
        ("w.requested", ["times swapped: w.completed"]),
        ("max(a)", ["extreme swapped: min(a)"]),
        ("own._replace(a=1, b=2)", [f"part of an effect skipped: own._replace({k})" for k in ("b=2", "a=1")]),
        ("own._replace(a=1)", []),
        ("f'{a < b}'", []),
        ("assert a < b", []),
    ],
)
def test_every_change_of_an_expression(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_filters_are_dropped_one_at_a_time() -> None:
    assert [operator for operator, _, _ in changes(ast.parse("[x for x in y if a if b]"))] == ["filter dropped"] * 2


def test_guards_and_effects_of_every_action_are_among_them() -> None:
    names = set(ALL)
    assert "writer_takes_lock: without guard: the lock must be free" in names
    assert "writer_publishes_instant: without effect on lock" in names
    assert not [name for name in names if "must be left" in name], "limits of a world are no rules"


def test_every_module_of_the_model_is_mutated_but_those_that_judge() -> None:
    infos = walk_packages(import_module("nbcc.model").__path__, "nbcc.model.")
    every = {info.name.removeprefix("nbcc.model.") for info in infos}

    assert {name for name in every if name.partition(".")[0] != "promises"} == set(modules())


DEMO, CRASH = specs.world("demo"), World(actors={"writer": 1, "compactor": 2}, crashes=1)


def sizes(world: World = DEMO) -> tuple[int, int, int]:
    result = explore(Model(world))
    return result.distinct, result.generated, result.depth


@pytest.mark.parametrize(
    "name",
    [
        "writer_takes_lock: without guard: the lock must be free",
        "kernel.lock.is_held_by: lock == me -> lock != me",
    ],
)
def test_a_mutant_is_another_model_and_is_put_back(name: str) -> None:
    before, crash = sizes(), sizes(CRASH)
    with ALL[name].applied():
        assert (sizes(), sizes(CRASH)) != (before, crash)
    assert (sizes(), sizes(CRASH)) == (before, crash)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_was_killed_is_killed(name: str) -> None:
    """Where it is said to be."""
    fate = KNOWN.mutants[name][1]
    place = place_of(fate)
    assert isinstance(place, Case)
    assert hunt(ALL[name], False, [place]).by == fate.by


def test_a_mutant_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = [case for case in cases() if case.value == "test_and_set"][:1]
    assert at_once
    monkeypatch.setattr(import_module("tools.mutation.hunt"), "ENOUGH", 0.5)
    found = hunt(ALL["mechanisms.clocks._take_listed: time in taken -> time not in taken"], False, at_once)
    assert found == Fate("error", f"TimeoutError in {at_once[0].where}")


def test_what_changes_nothing_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the model as it is comes to a deadlock, the locks of the dead that never expire, and where a search
    is made, because it is taken to differ."""
    never = [case for case in cases() if case.value == "never"]
    some = (Case(0), *never, Case("copy_on_write"))
    monkeypatch.setattr(Probe, "differing", property(lambda probe: {"nothing"}, lambda probe, given: None), False)
    assert any(import_module("tools.mutation.hunt").baseline_of(case, ()).figures.deadlock for case in never)
    assert hunt(Generated("nothing", "none", nullcontext), False, some) == Fate(differs=len(some))


def test_survivors_that_never_differ_are_equivalent() -> None:
    rows = {"same": ("none", Fate()), "other": ("none", Fate(differs=2)), "dead": ("none", Fate("SNAP", "x"))}
    record_ = Record(rows, 3)
    assert (record_.survivors, record_.equivalent) == (("same", "other"), ("same",))


def test_a_hunt_goes_on_where_it_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was killed stays so, what lives is held against what is left, what is new against everything."""
    looked: list[tuple[Case, list[str]]] = []
    both = {name: Generated(name, "none", nullcontext) for name in ("old", "new", "dead")}
    begun = Hunt(both, {"old": Fate(differs=1), "dead": Fate("SNAP", "before")}, {"old": 1, "dead": 1})
    monkeypatch.setattr(begun, "_case", lambda case, wanted: looked.append((case, [*wanted])))
    assert list(begun.through([Case(0), Case(1)])) == [1, 2]
    assert looked == [(Case(0), ["new"]), (Case(1), ["old", "new"])]
    assert begun.fates["dead"] == Fate("SNAP", "before")


def test_the_page_says_what_was_found() -> None:
    """NBCC_SNAPSHOTS=write makes it anew."""
    path = record.path_of("generated-mutants.md")
    if os.environ.get("NBCC_SNAPSHOTS") == "write":
        path.write_text(page(KNOWN), encoding="utf-8")
    assert path.read_text("utf-8") == page(KNOWN)


def test_a_change_of_fate_is_said() -> None:
    name = next(iter(KNOWN.mutants))
    operator, fate = KNOWN.mutants[name]
    flipped = Record({**KNOWN.mutants, name: (operator, fate._replace(by="" if fate.by else "SNAP"))}, KNOWN.cases)
    assert list(flipped.differences(KNOWN)) == [f"{'survives' if fate.by else 'killed'} now: {name}"]
    assert list(Record({}, 1).differences(Record({name: (operator, fate)}, 1))) == [f"removed: {name}"]


def test_a_kill_that_is_none_any_more_is_said() -> None:
    """Before a function was split, a mutant of it may have been another one by the same name."""
    name = "writer_takes_lock: without guard: the lock must be free"
    fate = KNOWN.mutants[name][1]
    assert [*kills_again(Record({name: ("guard dropped", fate)}, 1, 1))] == [(name, fate)]
    elsewhere = fate._replace(how=f"1 steps of {cases()[0].where}")
    assert [found.by for _, found in kills_again(Record({name: ("guard dropped", elsewhere)}, 1, 1))] == [""]


def test_a_kill_by_another_promise_is_recorded() -> None:
    name = "writer_takes_lock: without guard: the lock must be free"
    operator, fate = KNOWN.mutants[name]
    other = Record({name: (operator, fate._replace(by="WAIT"))}, 1, 1)
    with Progress(disable=True) as progress:
        assert _confirmed(other, progress).mutants == {name: (operator, fate)}


def test_the_summary_counts_mutants_that_are_not_hunted() -> None:
    partial = Record({"x": ("none", Fate())}, 3, 1, unhunted=2)
    assert "1 mutants (2 more are not hunted yet), 1 of 3 cases" in partial.summary()


def test_the_place_of_a_kill_is_one_of_today() -> None:
    whole, part = (f"4 steps of {case.where}" for case in (Case("cleaning"), Case(0)))
    assert place_of(Fate("SNAP", whole)) == Case("cleaning")
    assert place_of(Fate("SNAP", part)) == Case(0)
    assert place_of(Fate("check", "the engine disagrees in histories of restores_rollback")).where.endswith("rollback")
    with pytest.raises(ValueError, match="killed in a case that does not exist any more"):
        place_of(Fate("SNAP", "4 steps of a world that nobody knows"))


@pytest.mark.nightly
def test_every_kill_is_seen_again() -> None:
    """If one is not: `python -m tools.mutation --write --again`."""
    assert [name for name, found in kills_again(KNOWN) if not found.by] == []


@pytest.mark.nightly
def test_who_lives_is_not_killed_where_nothing_killed_it() -> None:
    """In a few searches, others every night."""
    seed = random.randrange(1_000_000)
    print(f"searches drawn with seed {seed}")
    some = random.Random(seed).sample(cases()[: KNOWN.searched], LOOKED_THROUGH)
    living = Hunt({name: ALL[name] for name in KNOWN.survivors})
    assert [*living.through(some)][-1:] == [LOOKED_THROUGH]
    assert [(name, fate) for name, fate in living.fates.items() if fate.by] == []


def test_who_was_played_against_the_engine_is_not_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that is new and dies changes nothing for those that live; one that is new and lives is played."""
    lives = next(name for name in KNOWN.survivors if name in ALL)
    dies = next(name for name in KNOWN.mutants if name not in KNOWN.survivors and name in ALL)
    everything = import_module("tools.mutation.resume")
    monkeypatch.setattr(everything, "generated", lambda: tuple(ALL[name] for name in (dies, lives)))
    monkeypatch.setattr(everything, "cases", lambda: ())
    monkeypatch.setattr(Hunt, "through", lambda hunt: hunt.fates.setdefault(dies, Fate("SNAP")) and iter(()))
    monkeypatch.setattr(Hunt, "check", lambda hunt: iter([1]))  # the first of several checks
    known = Record({lives: ("none", Fate())}, 0, 0, True)
    assert [found.checked for found in everything.resume(known=known)] == [True]
    monkeypatch.setattr(Hunt, "through", lambda hunt: hunt.fates.setdefault(lives, Fate()) and iter(()))
    assert [found.checked for found in everything.resume(known=Record({}, 0, 0, True))] == [False]
