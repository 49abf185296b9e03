"""Drawn worlds: their figures, that each shows what no other does, and how they are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol
from nbcc.simulator.components import is_assumed
from nbcc.simulator.explore import explore
from tools.mutation import Fate, drawing, drawn
from tools.mutation import __main__ as command
from tools.mutation.cases import cases
from tools.mutation.drawn import Drawn
from tools.mutation.hunt import Right
from tools.mutation.record import load

from .pins import search, violated

DRAWN = drawn.drawn()


@pytest.fixture
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No world was drawn yet, and what is written down goes to a folder of the test."""
    monkeypatch.setattr(drawn, "PATH", tmp_path / "drawn.json")
    drawn.PATH.write_text("[]", encoding="utf-8")
    drawn.drawn.cache_clear()
    yield
    monkeypatch.undo()
    drawn.drawn.cache_clear()


@pytest.mark.parametrize("name", DRAWN)
def test_its_figures_are_the_pinned_ones(name: str) -> None:
    kept = DRAWN[name]
    result = search(Model(kept.world, kept.protocol))

    assert (result.distinct, result.generated, result.depth) == kept.sizes
    assert violated(result) == kept.violated
    assert (result.deadlock is not None) == kept.deadlock


def test_the_default_protocol_breaks_nothing_where_all_is_as_it_assumes() -> None:
    assumed = [each for each in DRAWN.values() if is_assumed(each.world) and each.protocol == Protocol()]
    assert assumed
    assert not [each for each in assumed if each.violated or each.deadlock]


def test_some_mutant_is_seen_in_each() -> None:
    if not load().complete:
        pytest.skip("the hunt goes on: python -m tools.mutation --write")
    seen = {fate.how for _, fate in load().mutants.values()}
    idle = [case.own for case in cases() if case.own in DRAWN and not any(case.where in how for how in seen)]
    assert idle == []


def test_a_seed_says_what_is_drawn() -> None:
    one, again, other = (list(islice(drawing.draw_models(seed), 3)) for seed in (1, 1, 2))
    assert one == again != other
    assert all(explore(Model(*each)).distinct in drawing.STATES for each in one)


def test_kinds_of_actors_can_be_asked_for() -> None:
    found = list(islice(drawing.draw_models(1, ("savepointer", "compactor")), 4))
    assert all(world.actors["savepointer"] and world.actors["compactor"] for world, _ in found)


def test_a_write_may_leave_a_file_group_out() -> None:
    shaped = next(world for world, _ in drawing.draw_models(1) if world.writes)
    assert shaped.groups == 2
    assert any(0 in versions for versions in shaped.writes.values())


@pytest.mark.usefixtures("nothing_kept")
def test_a_world_in_which_a_mutant_is_seen_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command draws one world at least, and says in which of them somebody was seen."""
    mutant = "writer_publishes_instant: without effect on lock"
    record = replace(load(), mutants={mutant: ("effect skipped", Fate())})
    assert command.draw_worlds(3, 0, record) == 0

    assert capsys.readouterr().out == f"drawn 1: 1, of 1 worlds\n  {mutant}\n"
    (kept,) = drawn.drawn().values()
    result = explore(Model(kept.world, kept.protocol))
    assert (result.distinct, result.generated, result.depth) == kept.sizes


@pytest.mark.usefixtures("nothing_kept")
def test_a_fault_of_the_model_itself_is_told_with_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Right:
        raise KeyError("a component")

    monkeypatch.setattr(drawing, "look", fails)
    with pytest.raises(KeyError) as failed:
        next(drawing.draw(1, {}))
    assert failed.value.__notes__[0].startswith("in Trial(world=World(")


def test_what_is_kept_is_read_again() -> None:
    for each in DRAWN.values():
        assert Drawn.from_mapping(each.to_mapping()) == each
