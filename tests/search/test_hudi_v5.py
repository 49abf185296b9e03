"""The published model of Hudi's version 5: each of its configurations has the size and the verdicts that TLC gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples.hudi_v5 import INVARIANTS, Constants, HudiV5
from nbcc.model import Model, Protocol, World
from nbcc.simulator.search.explore import Verdict, explore

from .pins import search, violated

BASE: dict[str, Any] = {"operations": 2, "concurrency": "optimistic"}
# As TLC 1.1.0 reports them for the published module with 2 writers, 2 keys, 2 values and 2 operations: distinct,
# generated, depth, and for each invariant the number of states of its counterexample.
CONFIGURATIONS: dict[str, tuple[dict[str, Any], tuple[int, int, int], dict[str, int]]] = {
    "optimistic": ({}, (5271, 9169, 17), {}),
    "optimistic, two file groups": ({"file_groups": 2}, (12491, 22737, 17), {}),
    "optimistic, no primary key check": (
        {"file_groups": 2, "primary_key_check": False}, (12843, 23121, 17),
        {"ConsistentRead": 17, "NoDuplicateKeysAcrossFiles": 17},
    ),
    "pessimistic": ({"file_groups": 2, "concurrency": "pessimistic"}, (9843, 17505, 15), {}),
    "pessimistic, no primary key check": (
        {"file_groups": 2, "concurrency": "pessimistic", "primary_key_check": False}, (10291, 18145, 15),
        {"ConsistentRead": 15, "NoDuplicateKeysAcrossFiles": 15},
    ),
    "no control": ({"concurrency": "none"}, (5251, 9257, 15), {"ConsistentRead": 15}),
    "colliding": ({"monotonic": False}, (7062, 12529, 17), {"ConsistentRead": 14}),
    "colliding, put if absent": ({"monotonic": False, "put_if_absent": True}, (5276, 9697, 17), {}),
    "colliding, salted": ({"monotonic": False, "salt": True}, (9424, 16433, 17), {}),
    "colliding, put if absent, no control": (
        {"monotonic": False, "put_if_absent": True, "concurrency": "none"}, (5316, 9841, 15), {"ConsistentRead": 15},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_configuration_has_the_size_and_the_verdicts_of_tlc(name: str) -> None:
    given, size, broken = CONFIGURATIONS[name]
    result = explore(HudiV5(Constants(**{**BASE, **given})), INVARIANTS)

    assert (result.distinct, result.generated, result.depth) == size
    assert {n: found.steps + 1 for n, found in result.promises.items() if found.steps is not None} == broken


PAGE = (Path(__file__).parents[2] / "docs" / "hudi-v5-in-tla.md").read_text("utf-8")
OURS: dict[str, dict[str, str]] = {
    "optimistic": {},
    "optimistic, no primary key check": {"file_ids": "generated", "conflict_by": "file_id"},
    "no concurrency control": {"concurrency": "single_writer"},
    "timestamps collide": {"clock": "seconds"},
    "timestamps collide, put if absent": {"clock": "seconds", "uniqueness": "test_and_set"},
}


def test_the_page_holds_every_configuration_with_its_figures() -> None:
    for size, broken in ((size, broken) for _, size, broken in CONFIGURATIONS.values()):
        figures = ", ".join(f"{name} {states}" for name, states in broken.items()) or "–"
        assert f"| {' | '.join(f'{n:,}' for n in size)} | {figures} |" in PAGE


@pytest.mark.parametrize("name", OURS)
def test_the_page_says_what_our_settings_break(name: str) -> None:
    """But for INCR, which every copy-on-write world of ours breaks."""
    world = World(actors={"writer": 2}, table_type="COPY_ON_WRITE", merge_mode="COMMIT_TIME_ORDERING")
    found = violated(search(Model(world, Protocol.from_mapping({"concurrency": "occ", **OURS[name]}))))
    del found["INCR"]
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| {name} | `concurrency")]
    cell = line.split(" | ")[2].removesuffix(" |")
    assert {each for each in cell.split(", ") if each != "–"} == {f"{promise} {n}" for promise, n in found.items()}


def test_three_operations_with_and_without_symmetry() -> None:
    """11,849 is what TLC keeps with SYMMETRY over writers, keys and values."""
    whole, less = explore(HudiV5(Constants()), INVARIANTS), explore(HudiV5(Constants()), INVARIANTS, reduce=True)

    assert (whole.distinct, whole.generated, whole.depth) == (93_264, 163_121, 25)
    assert (less.distinct, less.stands_for) == (11_849, 93_264)
    assert whole.verdict is less.verdict is Verdict.HOLDS


@pytest.mark.nightly
def test_four_operations() -> None:
    whole = explore(HudiV5(Constants(operations=4)), INVARIANTS)

    assert (whole.distinct, whole.generated, whole.depth) == (1_486_597, 2_646_209, 33)
