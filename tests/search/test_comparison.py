"""Comparison of two protocols: what counts as a change, and which verdicts come from the accepted matrix."""

from __future__ import annotations

import pytest

from nbcc.model import Protocol, World
from nbcc.model.assembly import is_modelled
from nbcc.simulator import specs
from nbcc.simulator.search import comparison
from nbcc.simulator.search.comparison import BriefVerdict, Change, Comparison, JudgedPromise, place
from nbcc.simulator.search.explore import Verdict
from nbcc.simulator.search.verdicts.judge import Cell, SearchedWorld, worlds_of

HOLDS, UNKNOWN = Verdict.HOLDS, Verdict.UNDETERMINED
DEMO, FUNCTIONS = specs.world("demo"), specs.world("functions_that_meet")


def violated(steps: int) -> Cell:
    return Cell(verdict=Verdict.VIOLATED, trace=(None,) * steps)


@pytest.mark.parametrize(
    ("base", "mine", "change"),
    [
        (BriefVerdict(HOLDS), violated(3), "broken"),
        (BriefVerdict(UNKNOWN), violated(3), "broken"),
        (BriefVerdict(Verdict.VIOLATED, 4), violated(3), "sooner"),
        (BriefVerdict(Verdict.VIOLATED, 3), violated(3), "same"),
        (BriefVerdict(Verdict.VIOLATED, 2), violated(3), "later"),
        (BriefVerdict(Verdict.VIOLATED, 2), Cell(verdict=HOLDS), "kept"),
        (BriefVerdict(Verdict.VIOLATED, 2), Cell(verdict=UNKNOWN), "unknown"),
        (BriefVerdict(HOLDS), Cell(verdict=UNKNOWN), "unknown"),
        (BriefVerdict(HOLDS), Cell(verdict=HOLDS), "same"),
    ],
)
def test_a_change_is_named(base: BriefVerdict, mine: Cell, change: Change) -> None:
    assert JudgedPromise(promise="SNAP", base=base, cell=mine).change == change


def compared(mine: str, base: str, worlds: tuple[World, ...], monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """Compare two protocols in a few of the worlds in which the matrix judges them."""
    found = Comparison(
        mine=specs.protocol_file(mine), base=specs.protocol_file(base), promises=("PART", "TRAVEL", "FREE")
    )
    assert {*worlds} <= found.worlds.keys()
    monkeypatch.setattr(Comparison, "worlds", dict.fromkeys(worlds, False))
    found.search(lambda each: None)
    return found


def test_a_change_against_the_default_needs_no_search_of_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared("rfc-66-temporal-order", "default", (DEMO,), monkeypatch)
    assert not found.of_base
    worst = found.judged()[0]
    assert (worst.promise, worst.change, worst.mine.sign, worst.base.sign) == ("PART", "broken", "13", "holds")
    assert worst.world == DEMO


def test_a_violation_where_the_matrix_did_not_judge_the_base_is_searched_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise what the base breaks anyway, in a world that its row does not cover, would look like a change."""
    assert FUNCTIONS not in worlds_of("hudi-1.2.0", "quick")
    base = specs.protocol_file("hudi-1.2.0").protocol
    row = {"options": base.differences(), "promises": {"TRAVEL": {"verdict": "HOLDS"}, "PART": {"verdict": "HOLDS"}}}
    monkeypatch.setattr(Comparison, "row", row)
    mine = base.replace(plan_takes="any_log")
    monkeypatch.setattr(specs, "protocol_file", _file_of(mine, base))
    found = compared("mine", "hudi-1.2.0", (FUNCTIONS,), monkeypatch)
    assert [each.world for each in found.of_base] == [FUNCTIONS]
    changes = {each.promise: each for each in found.judged()}
    assert changes["PART"].change == "broken"
    assert changes["TRAVEL"].base.verdict is Verdict.VIOLATED, "found in the search, not in the row"
    assert changes["TRAVEL"].change in ("same", "sooner", "later")


def _file_of(mine: Protocol, base: Protocol):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    known = specs.protocol_file("hudi-1.2.0")
    return lambda name: replace(known, name=name, protocol=mine if name == "mine" else base)


def test_the_smallest_worlds_come_first_and_cover_those_of_the_matrix() -> None:
    found = Comparison(mine=specs.protocol_file("local-clocks"), base=specs.protocol_file("hudi-1.2.0"))
    worlds = [*found.worlds]
    of_matrix = {*worlds_of("hudi-1.2.0", "quick"), *worlds_of("default", "quick")}
    assert {world for world in of_matrix if is_modelled(world, found.mine.protocol)} == {*worlds}
    sizes = [comparison._states(world) for world in worlds]
    assert sizes == sorted(sizes)
    assert sizes[0] < 200


def test_endless_worlds_are_left_out_where_they_are_not_modelled() -> None:
    shared = Comparison(mine=specs.protocol_file("shared-log"), base=specs.protocol_file("default"))
    assert not any("endless" in place(world) for world in shared.worlds)


def test_a_world_of_the_user_is_judged_alone_and_for_both() -> None:
    alone = Comparison(
        mine=specs.protocol_file("rfc-66-temporal-order"),
        base=specs.protocol_file("default"),
        promises=("PART",),
        only=("demo",),
    )
    seen: list[SearchedWorld] = []
    alone.search(seen.append)
    assert [each.world for each in seen] == [DEMO] == [each.world for each in alone.of_base]
    [judged] = alone.judged()
    assert (judged.base.verdict, judged.mine.steps) == (HOLDS, 13)
