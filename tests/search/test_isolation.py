"""The isolation level of every mode, anomaly by anomaly: which can happen, and the interleaving that shows it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from nbcc.model import Model, Protocol, Step
from nbcc.model.mechanisms.conditions import FINDS
from nbcc.model.promises import PROMISES
from nbcc.model.promises.isolation import ANOMALIES
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck import check
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.hypothesis_driver import given_choices
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.search.verdicts.isolation import SKEWED, UPDATES, anomalies, anomalies_in
from tests.builders.reachable import reachable
from tools.change_rows import PAGE, VERBS, anomalies_of_verb, page
from tools.regenerate import stale

LOST, SKEW, SURVIVES = "lost update", "write skew", "row survives delete"
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


VERB_ROW = re.compile(r"^\| (`.+?`) \| (.+) \| (.+) \|$", re.MULTILINE)


def test_the_page_of_verbs_has_the_anomalies_that_searches_find() -> None:
    assert stale({PAGE: page()}) == [], "python -m tools.regenerate change-rows"


def test_what_the_page_says_of_each_verb_and_mode_is_what_searches_find() -> None:
    """An optimistic verb is serializable. A sentence on a blind verb names what the search of that verb finds."""
    text = PAGE.read_text("utf-8")
    sentences_of = {verb: (occ, nbcc) for verb, occ, nbcc in VERB_ROW.findall(text)}
    for verbs in VERBS:
        optimistic, blind = (set(anomalies_of_verb(verbs, mode)) for mode in ("occ", "nbcc"))
        assert optimistic == set()
        for verb in verbs.split(", "):
            sentences = next(each for name, each in sentences_of.items() if verb in name)
            assert any(word in sentences[0] for word in ("Conflict", "the same"))
            assert ("also if it completes before the delete" in sentences[1]) == (SURVIVES in blind)
            loses = any(word in sentences[1] for word in ("lost", "as `update`", "deletes what matched"))
            assert loses == (LOST in blind)


def test_a_row_that_is_written_during_a_delete_survives_it() -> None:
    world = UPDATES.replace(condition_deletes=1)
    found = explore(Model(world), [ANOMALIES[SURVIVES]]).promises[SURVIVES]
    assert found.because == (
        "the snapshot in group 0 shows the row of w2, which was written before w1's write (requested t1, completed t4) "
        "deleted the rows that match: a key that w2 upserts with ordering value 1"
    )
    result = explore(Model(world, Protocol(concurrency="occ")), [PROMISES["ERASED"]]).promises["ERASED"]
    assert result.verdict is Verdict.HOLDS


def test_a_row_that_a_delete_has_read_and_left_may_be_shown() -> None:
    """w2 writes first. The delete of w1 reads the row and leaves it, because it does not match its condition."""
    model = Model(UPDATES.replace(condition_deletes=1))
    state = model.initial
    for actor in ("w2", "w1"):
        while step := next((s for s in model.enabled(state) if s.actor == actor), None):
            state = model.apply(state, step)
    assert len(model.component(state, "published")) == 2
    assert ANOMALIES[SURVIVES].holds(model, None, None, state) is None


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"condition_deletes": 3}, "3 writers change rows by a condition, and the world has 2 writers"),
        ({"condition_deletes": 1, "retries": 1}, "together with retries are not modelled"),
        ({"condition_updates": 1, "table_type": "COPY_ON_WRITE"}, "together with copy-on-write tables"),
        ({"condition_updates": 1, "actors": {"writer": 2, "log_compactor": 1}}, "other actors than writers"),
    ],
)
def test_worlds_of_changes_by_condition_that_are_not_modelled(limits: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        UPDATES.replace(**limits)


def test_changes_by_condition_request_their_instants_under_the_lock() -> None:
    with pytest.raises(ValueError, match="request their instants under the lock"):
        Model(UPDATES.replace(condition_deletes=1), Protocol(requests="put_if_absent"))


@pytest.mark.parametrize("protocol", ["default", "occ", "decision-log"])
def test_histories_of_the_verbs_agree_on_the_engine(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Counter[str]()

    class Counted(PlayedHistory):
        def take(self, step: Step) -> None:
            super().take(step)
            taken[step.action] += 1

    monkeypatch.setattr(check, "PlayedHistory", Counted)
    world = specs.world("conditional_changes")
    options = CheckOptions(factory=factory("engine"), protocol=specs.protocol(protocol), world=world, readers=())
    checked = Check(options)
    given_choices(checked.play, 20, 1, False, Disagreement)
    assert checked.disagreed is None
    finds = [taken[action] for action in FINDS.values()]
    assert min(finds) >= 4
    assert taken["writer_aborts"] + taken["writer_publishes_instant"] > sum(finds)
    assert bool(taken["writer_aborts"]) == (protocol == "occ")
