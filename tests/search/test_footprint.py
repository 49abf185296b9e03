"""Footprints: a world that reads nothing of what a protocol changes has the same states and verdicts under it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol, World, extensions
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search import footprint
from nbcc.simulator.search.comparison import Comparison
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.verdicts import judge
from nbcc.simulator.search.verdicts.data import load
from nbcc.simulator.search.verdicts.judge import worlds_of
from tests.builders import by_day
from tools import footprints

DEMO = specs.world("demo")
ROOT = Path(__file__).parents[2]
SMALL = ("demo", "occ_two_groups")


@pytest.mark.parametrize("name", SMALL)
def test_the_recorded_footprint_is_found_again(name: str) -> None:
    """`python -m tools.regenerate footprints` writes them again: find out why first."""
    assert footprint.recorded()[footprint.key_of(specs.world(name))] == footprints.footprint(specs.world(name))


@pytest.mark.nightly
def test_every_recorded_footprint_is_found_again() -> None:
    for world in worlds_of("default", "quick"):
        assert footprint.recorded().get(footprint.key_of(world)) == footprints.footprint(world), world


def test_footprints_are_of_worlds_of_the_matrix_and_say_what_it_says() -> None:
    worlds = {footprint.key_of(world) for world in worlds_of("default", "quick")}
    assert len(worlds & {*footprint.recorded()}) > 0.8 * len(worlds), "python -m tools.regenerate footprints"
    row = load("quick")["protocols"]["default"]["promises"]
    holds = {name for name, cell in row.items() if cell["verdict"] == "HOLDS"}
    assert {name for each in footprint.recorded().values() for name in each.holds} == holds


@pytest.mark.parametrize("name", by_day.one_of(12, specs.protocol_names()[1:]))
def test_an_untouched_world_has_the_same_result(name: str) -> None:
    protocol = specs.protocol(name)
    for world in map(specs.world, SMALL):
        known = footprint.untouched(world, protocol, [])
        if known is not None:
            result = explore(Model(world, protocol), [*PROMISES.values()])
            assert result.distinct == known.distinct
            assert {n for n, p in result.promises.items() if p.verdict is Verdict.HOLDS} == {*known.promises}


def test_the_matrix_takes_over_the_results_of_worlds_that_a_protocol_does_not_touch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Row by row, without the default protocol, every world is searched under every protocol."""
    worlds = {specs.world(name): False for name in ("demo", "archiving_readers", "failed_writer")}
    monkeypatch.setattr(judge, "worlds_of", lambda name, depth: worlds)
    files = [specs.protocol_file(name) for name in ("default", "archive-past-pending", "commit-checked-early")]
    together = judge.matrix("quick", files)
    assert [[each.taken for each in row.searched] for row in together] == [
        [False] * 3, [True, False, True], [True, True, False],
    ]  # fmt: skip
    alone = [judge.matrix("quick", [file])[0] for file in files]
    assert not any(each.taken for row in alone for each in row.searched)
    assert [row.cells for row in together] == [row.cells for row in alone]
    sizes = [[(each.result.distinct, each.result.generated) for each in row.searched] for row in together]
    assert sizes == [[(each.result.distinct, each.result.generated) for each in row.searched] for row in alone]


def test_an_option_that_is_read_touches_a_world() -> None:
    assert footprint.untouched(DEMO, Protocol(plan_takes="any_log"), []) is None
    assert footprint.untouched(DEMO, Protocol(archive_bound="none"), []) is not None
    assert footprint.untouched(World(actors={"writer": 1}), Protocol(archive_bound="none"), []) is None, "not recorded"


@pytest.mark.parametrize(
    "name",
    [
        "batch-ids-ignored",
        "bulk-insert-unchecked",
        "fenced-store",
        "function-not-associative",
        "log-compaction-delivered",
        "partial-by-row",
        "single-listing",
    ],
)
def test_an_option_of_a_mechanism_that_a_world_lacks_does_not_touch_it(name: str) -> None:
    """An option is read only where its mechanism acts. Otherwise the matrix searches the world for each value of it."""
    assert footprint.untouched(DEMO, specs.protocol(name), []) is not None


def test_a_rule_that_is_called_touches_a_world_although_no_option_of_it_is_read() -> None:
    known = footprint.recorded()[footprint.key_of(DEMO)]
    protocol = Protocol(merge_order="requested")
    assert "merge_order" not in known.options
    assert footprint.is_touched(((), known.rules), protocol)
    assert footprint.untouched(DEMO, protocol, []) is None


def test_an_option_that_is_newer_than_the_record_touches_every_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "known_options", lambda: ("plan_takes",))
    assert footprint.untouched(DEMO, Protocol(archive_bound="none"), []) is None


def test_a_promise_of_an_extension_is_not_recorded() -> None:
    assert footprint.untouched(DEMO, Protocol(archive_bound="none"), ["CALM"]) is None


@pytest.mark.parametrize("adds", [True, False])
def test_an_extension_touches_the_worlds_that_it_changes(monkeypatch: pytest.MonkeyPatch, adds: bool) -> None:
    compose = (lambda composition: composition.add_component("quota", 0)) if adds else (lambda composition: None)
    module = type(extensions)("quotas")
    module.MECHANISM = Mechanism(compose=compose)  # type: ignore[attr-defined]
    monkeypatch.setattr(extensions, "_loaded", {"quotas": module})
    assert (footprint.untouched(DEMO, Protocol(archive_bound="none"), []) is None) == adds


def test_a_rule_calls_the_previous_rule_of_its_own_name_only() -> None:
    """`super().x` is not recorded. It is called by a rule of the name `x`, whose call is."""
    other = [
        f"{path.name}: {method.name} calls {call.attr}"
        for path in (ROOT / "model").rglob("*.py")
        for rules in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(rules, ast.ClassDef)
        for method in rules.body
        if isinstance(method, ast.FunctionDef)
        for call in ast.walk(method)
        if isinstance(call, ast.Attribute)
        and isinstance(call.value, ast.Call)
        and getattr(call.value.func, "id", "") == "super"
        and call.attr != method.name
    ]
    assert other == []


def test_a_comparison_searches_only_what_the_protocol_touches() -> None:
    found = Comparison(mine=specs.protocol_file("archive-past-pending"), base=specs.protocol_file("default"))
    left = found.begin()
    assert DEMO in {each.world for each in found.taken}
    assert specs.world("archiving") in left
    assert len(found.taken) > len(left)
    assert {each.world for each in found.taken} | left.keys() == found.worlds.keys()
