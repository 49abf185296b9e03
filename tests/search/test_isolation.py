"""The isolation level of every mode, anomaly by anomaly: which can happen, and the interleaving that shows it."""

from __future__ import annotations

import pytest

from nbcc.model import Model, Protocol
from nbcc.model.promises import PROMISES
from nbcc.model.promises.isolation import ANOMALIES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.verdicts.isolation import SKEWED, UPDATES, anomalies, anomalies_in
from tests.builders.reachable import reachable

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


@pytest.mark.parametrize("choices", LEVELS, ids=lambda choices: " ".join(choices) or "default")
def test_the_level_of_a_setting(choices: tuple[str, ...]) -> None:
    protocol = Protocol.from_mapping(dict(choice.split("=") for choice in choices))
    found = tuple(set(anomalies_in(world, protocol)) for world in (UPDATES, SKEWED))
    assert found == LEVELS[choices]


def test_the_matrix_has_the_shortest_run_to_each_anomaly() -> None:
    possible = {name: anomalies(specs.protocol(name)) for name in ("default", "occ", "unsettled-read")}
    assert possible == {
        "default": {LOST: 12, SKEW: 12},
        "occ": {},
        "unsettled-read": {"non-repeatable read": 12, "phantom read": 6, LOST: 12, SKEW: 12},
    }


def test_reading_modifying_and_writing_without_a_check_is_reported_as_a_lost_update() -> None:
    found = explore(Model(UPDATES), [ANOMALIES[LOST]]).promises[LOST]
    assert found.because == (
        "lost update: w1's write (requested t1, completed t3) and w2's write (requested t2, completed t4) both read "
        "and wrote group 0, and neither saw the other"
    )
    assert found.steps == 12


def test_a_write_that_says_what_it_read_aborts_when_that_has_changed() -> None:
    model = Model(SKEWED, Protocol(concurrency="occ"))
    result = explore(model, [PROMISES["ISO"], PROMISES["FIRST"]])
    assert {found.verdict for found in result.promises.values()} == {Verdict.HOLDS}
    blind = Model(SKEWED.replace(reads={}), Protocol(concurrency="occ"))
    aborts = [
        any(step.action == "writer_aborts" for s in reachable(m) for step in m.enabled(s)) for m in (model, blind)
    ]
    assert aborts == [True, False]
