"""Histories under a record index, by engine and model: updates and deletes of known keys, and inserts that are refused.
`nbcc check` draws no world with new keys.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.users_factory import CannotPlay

WORLDS = (
    "record_index", "record_index_known_keys", "record_index_crash", "record_index_rollback", "record_index_readers",
    "record_index_cleaned", "record_index_three_writers",
)  # fmt: skip
HISTORIES = 20
UPDATES_ONLY = Protocol(inserts="updates_only")


def play(name: str, histories: int, protocol: Protocol = UPDATES_ONLY) -> Counter[str]:
    """Play histories of a world, and return how often they take each action."""
    taken: Counter[str] = Counter()
    check = Check(CheckOptions(
        world=specs.world(name), protocol=protocol, factory=lambda world, protocol, _: EngineSystem(world, protocol),
        readers=[lambda history, tally: taken.update(step.action for step in history.steps)],
    ))  # fmt: skip
    for seed in range(histories):
        check.play(random.Random(seed).randrange)
    assert not check.tally.skipped
    return taken


@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_model(name: str) -> None:
    taken = play(name, HISTORIES)
    assert taken["writer_refuses_insert"]
    assert taken["writer_finds_keys"] or name not in ("record_index_known_keys", "record_index_cleaned")


@pytest.mark.nightly
@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_model_in_many_histories(name: str) -> None:
    play(name, 150)


@pytest.mark.parametrize(("name", "inserts", "why"), [
    ("record_index", "first_completed", "its upserts insert no key under a record index"),
    ("record_index_updated", "updates_only", "it compacts no record index"),
])  # fmt: skip
def test_what_the_engine_does_otherwise_is_not_played(name: str, inserts: str, why: str) -> None:
    with pytest.raises(CannotPlay, match=why):
        play(name, 1, Protocol.from_mapping({"inserts": inserts}))
