"""The isolation level of every mode, anomaly by anomaly: which can happen, and the interleaving that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import ANOMALIES, PROMISES
from nbcc.simulator.explore import Verdict, explore

from .test_actions import reachable

BLIND: dict[str, Any] = {"actors": {"writer": 2}}
SKEWED: dict[str, Any] = {
    "actors": {"writer": 2}, "partitions": 2, "writes": {("w1", 1): (1, 0), ("w2", 1): (0, 1)},
    "reads": {("w1", 1): (0, 1), ("w2", 1): (0, 1)},
}  # fmt: skip
LOST, SKEW = "lost update", "write skew"
LEVELS: dict[tuple[str, ...], tuple[set[str], set[str]]] = {
    # choices -> what can happen where two writers update one group, and where each reads both and writes one
    (): ({LOST}, {SKEW}),
    ("concurrency=single_writer",): ({LOST}, {SKEW}),
    ("concurrency=occ",): (set(), set()),
    ("concurrency=occ", "conflict_reads=ignored"): (set(), {SKEW}),
    ("concurrency=occ", "conflict_check=before_lock"): ({LOST}, {SKEW}),
    ("concurrency=occ", "early_detection=on"): (set(), set()),
    ("visibility=any",): ({"dirty read", "non-repeatable read", "phantom read", LOST}, {"dirty read", SKEW}),
    ("completion_time=outside_lock",): ({"non-repeatable read", "phantom read", LOST}, {SKEW}),
    ("as_of_axis=requested",): ({"non-repeatable read", "phantom read", LOST}, {SKEW}),
}


def can_happen(world: dict[str, Any], choices: tuple[str, ...], groups: int) -> set[str]:
    protocol = Protocol.from_mapping(dict(choice.split("=") for choice in choices))
    found = explore(Model(World(**world), protocol), list(ANOMALIES.values())).promises
    kept = {"non-repeatable read", "phantom read"} if groups > 1 else set()  # a group alone shows these
    return {name for name, each in found.items() if each.verdict is Verdict.VIOLATED} - kept


@pytest.mark.parametrize("choices", LEVELS, ids=lambda choices: " ".join(choices) or "default")
def test_the_level_of_a_setting(choices: tuple[str, ...]) -> None:
    assert (can_happen(BLIND, choices, 1), can_happen(SKEWED, choices, 2)) == LEVELS[choices]


def test_reading_modifying_and_writing_without_a_check_loses_an_update_and_it_is_said() -> None:
    found = explore(Model(World(**BLIND)), [ANOMALIES[LOST]]).promises[LOST]
    assert found.because == (
        "lost update: w1's write (requested t1, completed t3) and w2's write (requested t2, completed t4) both read "
        "and wrote group 0, and neither saw the other"
    )
    assert found.steps == 12


def test_a_write_that_says_what_it_read_aborts_when_that_has_changed() -> None:
    model = Model(World(**SKEWED), Protocol(concurrency="occ"))
    result = explore(model, [PROMISES["ISO"], PROMISES["FIRST"]])
    assert {found.verdict for found in result.promises.values()} == {Verdict.HOLDS}
    blind = Model(World(**{**SKEWED, "reads": {}}), Protocol(concurrency="occ"))
    aborts = [
        any(step.action == "writer_aborts" for s in reachable(m) for step in m.enabled(s)) for m in (model, blind)
    ]
    assert aborts == [True, False]
