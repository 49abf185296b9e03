"""Generated mutants of the model: what is changed, that it is put back, and that what was killed is killed."""

from __future__ import annotations

import ast
import os
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import pytest

from nbcc.model import Model, World
from nbcc.simulator import specs
from nbcc.simulator.explore import explore
from nbcc.simulator.mutation import Generated, generated, hunt, record
from nbcc.simulator.mutation.all import hunt_all
from nbcc.simulator.mutation.operators import changes
from nbcc.simulator.mutation.record import Record, load, page, survivors

ALL = {mutant.name: mutant for mutant in generated()}
KNOWN = load()
EVERY = 13
UNSEEN = ("", "setting", "sizes", "world", "check")
SAMPLE = [
    # Whom no promise sees has been through every world and every choice of the protocol: minutes.
    pytest.param(name, marks=pytest.mark.nightly if KNOWN.mutants[name][1].by in UNSEEN else ())
    for name in [name for name in sorted(KNOWN.mutants) if name in ALL][::EVERY]
]


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


DEMO, CRASH = specs.world("demo"), World(actors={"writer": 1, "compactor": 2}, crashes=1)


def sizes(world: World = DEMO) -> tuple[int, int, int]:
    result = explore(Model(world))
    return result.distinct, result.generated, result.depth


@pytest.mark.parametrize(
    "name",
    [
        "writer_takes_lock: without guard: the lock must be free",
        "conditions.holds_lock: values[position] == me -> values[position] != me",
    ],
)
def test_a_mutant_is_another_model_and_is_put_back(name: str) -> None:
    before, crash = sizes(), sizes(CRASH)
    with ALL[name].applied():
        assert (sizes(), sizes(CRASH)) != (before, crash)
    assert (sizes(), sizes(CRASH)) == (before, crash)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_was_killed_is_killed(name: str) -> None:
    by = KNOWN.mutants[name][1].by
    found = hunt(ALL[name], check=False)
    assert bool(found.by) == (by not in ("", "check")), (found, by)


def test_a_mutant_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("nbcc.simulator.mutation.hunt")
    at_once = tuple(case for case in module._weaker_cases() if case.value == "test_and_set")
    assert at_once
    monkeypatch.setattr(module, "_batches", lambda: [(False, at_once)])
    monkeypatch.setattr(module, "ENOUGH", 0.5)
    found = hunt(ALL["timeline.clock.Requests.take: time in requested -> time not in requested"], check=False)
    assert (found.by, found.how) == ("error", "TimeoutError")


def test_what_changes_nothing_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the model as it is comes to a deadlock: the locks of the dead that never expire."""
    module = import_module("nbcc.simulator.mutation.hunt")
    never = [case for case in module._weaker_cases() if case.value == "never"]
    batches = [(True, (module.Case(0),)), (False, tuple(never)), (False, (module.Case("copy_on_write"),))]
    monkeypatch.setattr(module, "_batches", lambda: batches)
    assert any(case.search().deadlock is not None for case in never)
    assert hunt(Generated("nothing", "none", nullcontext), check=False) == module.LIVES


def test_whoever_lives_is_explained() -> None:
    assert list(KNOWN.unexplained()) == []
    assert set(survivors()) == set(KNOWN.alive)


def test_the_page_says_what_was_found() -> None:
    """NBCC_SNAPSHOTS=write makes it anew."""
    path = record.path_of("generated-mutants.md")
    if os.environ.get("NBCC_SNAPSHOTS") == "write":
        path.write_text(page(KNOWN), encoding="utf-8")
    assert path.read_text("utf-8") == page(KNOWN)


def test_a_survivor_needs_one_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "survivors.toml").write_text('[[survivor]]\nmutant = "m"\n')
    monkeypatch.setattr(record, "path_of", lambda name: tmp_path / name)
    with pytest.raises(ValueError, match="'m' needs redundant or gap, and not both"):
        survivors()


def test_a_change_of_fate_is_said() -> None:
    name = next(iter(KNOWN.mutants))
    operator, fate = KNOWN.mutants[name]
    flipped = Record({**KNOWN.mutants, name: (operator, fate._replace(by="" if fate.by else "SNAP"))}, KNOWN.all)
    assert list(flipped.differences(KNOWN)) == [f"{'alive' if fate.by else 'killed'} now: {name}"]
    assert list(Record({}, 1).differences(Record({name: (operator, fate)}, 1))) == [f"gone: {name}"]


@pytest.mark.nightly
def test_all_of_them_hunted_anew() -> None:
    *_, found = hunt_all(os.cpu_count() or 1)
    assert [*found.unexplained(), *found.differences(KNOWN)] == []
