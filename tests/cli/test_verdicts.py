"""`nbcc verdicts`: bounds, cells, data, the command; tests/search/test_verdicts.py searches the matrix itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Step, World
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.search import verdicts
from nbcc.simulator.search.explore import PromiseResult, Result, Verdict
from nbcc.simulator.search.verdicts import (
    bound_of,
    data,
    exceeds,
    facts,
    judge,
    load,
    lock_data,
    locks,
    matrix,
    to_data,
    to_text,
)
from nbcc.simulator.search.verdicts.bound import covers, sentence
from nbcc.simulator.search.verdicts.judge import SearchedWorld, cell
from nbcc.simulator.search.verdicts.search_bounds import all_bounds, from_mapping, large, services

DEMO, READERS = specs.world("demo"), specs.world("readers")


def test_a_bound_counts_actors_limits_and_groups() -> None:
    world = specs.world("crash_resume").replace(buckets=2, partitions=3)
    found = bound_of(world)
    assert found == {
        "writer": 2, "compactor": 2, "groups": 6, "writes_per_writer": 1, "compactions": 2, "crashes": 1,
        "log_versions": 1,
    }  # fmt: skip
    assert sentence(found) == "2 writers × 1 write, 2 compactors × 2 compactions, 6 groups, 1 crash"
    assert "compactions" not in bound_of(World(actors={"writer": 2}))


def test_one_bound_is_beyond_another_if_nothing_is_smaller_and_something_larger() -> None:
    demo, more = bound_of(DEMO), bound_of(DEMO.replace(buckets=2))
    assert exceeds(more, demo)
    assert not exceeds(demo, more)
    assert not exceeds(demo, demo)
    assert covers(demo, demo)
    assert not exceeds(bound_of(DEMO.replace(buckets=2, actors={"writer": 1, "compactor": 1})), demo)


def test_the_bounds_grow() -> None:
    bounds = [each.bound for each in all_bounds()]
    assert not [(a, b) for i, a in enumerate(bounds) for b in bounds[i:] if exceeds(a, b)]
    with pytest.raises(ValueError, match="unknown field 'limit'; did you mean 'limits'"):
        from_mapping({"limit": {}})
    with pytest.raises(ValueError, match="depth = 'fast'"):
        from_mapping({"depth": "fast"})


def searched(world: World, verdict: Verdict, *, steps: int = 0, stopped: str | None = None) -> SearchedWorld:
    trace = (Step("w1", "x"),) * steps if steps else None
    found = PromiseResult(name="SNAP", verdict=verdict, because=stopped or "so it is", trace=trace)
    result = Result(distinct=12, generated=20, depth=3, seconds=0, stopped=stopped, promises={"SNAP": found})
    return SearchedWorld(world=world, result=result)


def test_violated_in_one_world_is_violated_by_the_shortest_trace() -> None:
    found = cell("SNAP", [
        searched(DEMO, Verdict.HOLDS),
        searched(DEMO, Verdict.VIOLATED, steps=9),
        searched(READERS, Verdict.VIOLATED, steps=7),
        searched(DEMO, Verdict.UNDETERMINED, stopped="too many"),
    ])  # fmt: skip
    assert (found.verdict, found.steps, found.bounds) == (Verdict.VIOLATED, 7, (bound_of(READERS),))


def test_a_search_that_stopped_leaves_the_cell_undetermined_with_the_count_reached() -> None:
    found = cell("SNAP", [searched(DEMO, Verdict.HOLDS), searched(READERS, Verdict.UNDETERMINED, stopped="no room")])
    assert found.verdict is Verdict.UNDETERMINED
    assert found.because is not None
    assert found.because.endswith("no room, after 12 states")


def test_holds_needs_one_world_that_says_so_and_names_all_that_do() -> None:
    found = cell("SNAP", [
        searched(DEMO, Verdict.NOT_APPLICABLE), searched(READERS, Verdict.HOLDS), searched(DEMO, Verdict.UNDETERMINED),
    ])  # fmt: skip
    assert (found.verdict, found.bounds) == (Verdict.HOLDS, (bound_of(READERS),))
    assert cell("SNAP", [searched(DEMO, Verdict.NOT_APPLICABLE)]).verdict is Verdict.NOT_APPLICABLE
    assert cell("SNAP", [searched(DEMO, Verdict.UNDETERMINED)]).verdict is Verdict.UNDETERMINED
    assert cell("SNAP", []).verdict is Verdict.UNDETERMINED


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The default and one weaker protocol, in the world of the demo alone; the data is in an empty folder."""
    found = tmp_path / "verdicts.json"
    chosen = tuple(specs.protocol_file(name) for name in ("default", "tombstones-dropped"))
    monkeypatch.setattr(verdicts, "protocols", lambda: chosen)
    monkeypatch.setattr(verdicts, "data_path", lambda depth: found)
    monkeypatch.setattr(verdicts, "judge_locks", lambda depth, **bounds: ())
    monkeypatch.setattr(verdicts, "believable", lambda rows, known: rows)
    monkeypatch.setattr(data, "protocols", lambda: chosen)
    monkeypatch.setattr(judge, "protocols", lambda: chosen)
    for module in (judge, data):
        monkeypatch.setattr(module, "worlds_of", lambda name, depth: {DEMO: False})
    return found


def nbcc(*line: str) -> int:
    return int(run(["verdicts", "--workers", "1", *line]))


def test_the_matrix_is_held_against_what_was_accepted(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nbcc() == 1, "nothing was accepted yet"
    assert nbcc("--accept") == 0
    assert nbcc() == 0
    text = small.read_text("utf-8")
    for right, wrong in CHANGES:
        assert right in text
        small.write_text(text.replace(right, wrong, 1), encoding="utf-8")
        capsys.readouterr()
        assert nbcc() == 1, wrong
        assert "Find out why" in capsys.readouterr().out


def test_the_row_of_one_protocol_is_searched_and_accepted_alone(small: Path) -> None:
    assert nbcc("--accept") == 0
    right = small.read_text("utf-8")
    of_default = right.replace('"SNAP": {"verdict": "HOLDS"}', '"SNAP": {"verdict": "NOT_APPLICABLE"}')
    both = of_default.replace('"steps": 18', '"steps": 1')
    assert both != of_default != right
    small.write_text(both, "utf-8")
    assert nbcc("--protocol", "tombstones-dropped", "--accept") == 0
    assert small.read_text("utf-8") == of_default
    assert nbcc("--protocol", "none-such") == 2


def test_the_column_of_one_promise_is_searched_and_accepted_alone(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nbcc("--accept") == 0
    right = small.read_text("utf-8")
    wrong = right.replace('"SNAP": {"verdict": "HOLDS"}', '"SNAP": {"verdict": "NOT_APPLICABLE"}')
    small.write_text(wrong.replace('"RO": {"verdict": "HOLDS"}', '"RO": {"verdict": "NOT_APPLICABLE"}'), "utf-8")
    capsys.readouterr()
    assert nbcc("--promise", "RO") == 1
    shown = capsys.readouterr().out
    assert "RO: verdict HOLDS" in shown
    assert "SNAP" not in shown
    assert nbcc("--promise", "RO", "--accept") == 0
    assert small.read_text("utf-8") == wrong
    assert nbcc("--promise", "RA") == 2
    assert "no promise is called 'RA'" in capsys.readouterr().err


CHANGES = (
    ('"SNAP": {"verdict": "HOLDS"}', '"SNAP": {"verdict": "UNDETERMINED", "because": "no room"}'),
    ('"steps": 18', '"steps": 19'),
    ('"bound": "2 writers', '"bound": "3 writers'),
    ('"because": "', '"because": "not '),
    ('"tombstones": "drop"', '"tombstones": "keep"'),
    ('"lost update": 12', '"lost update": 13'),
    ('"lost update": 12, ', ""),
    ('"states": ', '"states": 1'),
    ('"for": ["every protocol"]', '"for": ["default"]'),
)
"""One change of each field of the accepted data."""


def test_the_data_keeps_every_fact() -> None:
    for depth in verdicts.DEPTHS:
        data = load(depth)
        assert json.loads(to_text(data)) == data
        assert len(set(facts(data))) == len(list(facts(data)))


def test_the_answer_in_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nbcc("--accept", "--json")
    given: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert given["format"] == 1
    cells = given["protocols"]["tombstones-dropped"]
    assert {"verdict", "bound", "steps", "trace"} <= cells["SNAP"].keys()
    assert (cells["SNAP"]["verdict"], cells["SNAP"]["steps"]) == ("VIOLATED", len(cells["SNAP"]["trace"]))
    assert cells["SNAP"]["bound"] == [bound_of(DEMO)]
    assert given["protocols"]["default"]["SNAP"]["verdict"] == "HOLDS"


@pytest.mark.usefixtures("small")
def test_a_search_that_is_cut_off_is_not_green(capsys: pytest.CaptureFixture[str]) -> None:
    assert nbcc("--accept", "--max-states", "100") == 3
    assert "?" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
def test_the_picture_is_drawn(tmp_path: Path) -> None:
    assert nbcc("--accept", "--picture", str(tmp_path / "matrix.svg")) == 0
    assert "</svg>" in (tmp_path / "matrix.svg").read_text("utf-8")


def test_what_cannot_be_drawn_is_reported_before_any_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(verdicts, "matrix")
    assert nbcc("--picture", str(tmp_path / "matrix.txt")) == 2
    assert "matrix.txt is not a picture; name a file that ends in .png or .svg" in capsys.readouterr().err


@pytest.mark.usefixtures("small")
def test_the_data_has_the_reason_for_no_verdict() -> None:
    rows = matrix("quick", verdicts.protocols(), max_states=50)
    cell = to_data(rows, "quick")["protocols"]["default"]["promises"]["SNAP"]
    assert cell["verdict"] == "UNDETERMINED"
    assert "more than 50 distinct states" in cell["because"]


def test_services_are_searched_each_alone_and_every_two_together() -> None:
    every = [service.actors for service in services()]
    crews = [each.world.actors for each in large() if each.world.groups == 2]
    together = [each.world.actors for each in large() if each.world.groups == 1]
    for number, service in enumerate(every):
        assert {"writer": 2, "compactor": 1, **service} in crews
        for other in every[:number]:
            assert {"writer": 2, "compactor": 1, **service, **other} in together
    assert len(together) == len(every) * (len(every) - 1) // 2


def test_the_default_setting_alone_climbs_to_the_large_worlds() -> None:
    default, weaker = (judge.worlds_of(name, "full") for name in ("default", "tombstones-dropped"))
    core = World(actors={"writer": 3, "compactor": 1, "rollbacker": 1}, buckets=2, compactions=2, crashes=1)
    assert any(covers(bound_of(world), bound_of(core)) for world in default)
    assert not any(covers(bound_of(world), bound_of(core)) for world in weaker)
    assert {each.world for each in large()}.isdisjoint(judge.worlds_of("default", "quick"))


@pytest.fixture
def few_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The mutants of the storage lock; the accepted verdicts are in an empty folder."""
    chosen = [row for row in locks.rows() if row.name.startswith("storage-lock-without")]
    monkeypatch.setattr(locks, "rows", lambda: chosen)
    monkeypatch.setattr(verdicts, "locks_path", lambda: tmp_path / "locks.json")
    monkeypatch.setattr(lock_data, "locks_path", lambda: tmp_path / "locks.json")
    return tmp_path / "locks.json"


def test_the_locks_are_held_against_what_was_accepted(few_locks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nbcc("--locks") == 1, "nothing was accepted yet"
    assert nbcc("--locks", "--accept") == 0
    capsys.readouterr()
    assert nbcc("--locks") == 0
    assert capsys.readouterr().out == "\nlocks:\n  storage-lock-without-margin  MUTEX 7, LEASE holds\n"
    few_locks.write_text(few_locks.read_text("utf-8").replace('"steps": 7', '"steps": 8'), "utf-8")
    assert nbcc("--locks") == 1
    changed = "-storage-lock-without-margin, storage-lock, quick: MUTEX: verdict VIOLATED; steps 8"
    assert changed in capsys.readouterr().out
    assert nbcc("--locks", "--json") == 1
    (row,) = json.loads(capsys.readouterr().out)["locks"]
    assert (row["promises"]["MUTEX"]["steps"], len(row["promises"]["MUTEX"]["trace"])) == (7, 7)


def test_locks_that_were_not_judged_to_the_end_are_not_accepted(
    few_locks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nbcc("--locks", "--accept", "--max-states", "100") == 3
    assert "MUTEX ?, LEASE ?" in capsys.readouterr().out
    assert not few_locks.exists()
    assert nbcc("--locks", "--promise", "SNAP") == 2
