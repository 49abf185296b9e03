"""Histories under a record index, by engine and model: updates and deletes of known keys, inserts that are refused, and
inserts whose records are moved. `nbcc check` draws no world with new keys.
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

MOVED = Protocol(inserts="moved")
WORLDS_OF_MOVES = tuple(name for name in WORLDS if name != "record_index_cleaned")
MOVES = 10
"""Histories of each world."""


def play(name: str, histories: int, protocol: Protocol = UPDATES_ONLY) -> Counter[str]:
    """Play histories of a world, and return how often they take each action."""
    taken: Counter[str] = Counter()
    check = Check(CheckOptions(
        world=specs.world(name), protocol=protocol, factory=lambda world, protocol, _: EngineSystem(world, protocol),
        readers=[lambda history, tally: taken.update(step.action for step in history.steps)],
    ))  # fmt: skip
    for seed in range(histories):
        check.play(random.Random(seed).randrange)
    assert check.tally.skipped.keys() <= {"the engine moves no logs that a rollback has deleted"}
    return taken


@pytest.mark.parametrize("name", WORLDS)
def test_the_engine_agrees_with_the_model(name: str) -> None:
    taken = play(name, HISTORIES)
    assert taken["writer_refuses_insert"]
    assert taken["writer_finds_keys"] or name not in ("record_index_known_keys", "record_index_cleaned")


@pytest.mark.parametrize("name", WORLDS_OF_MOVES)
def test_the_engine_agrees_where_records_are_moved(name: str) -> None:
    taken = play(name, MOVES, MOVED)
    assert taken["writer_inserts_keys"]
    assert taken["writer_finds_keys_inserted"] or name not in ("record_index", "record_index_three_writers")


@pytest.mark.nightly
@pytest.mark.parametrize(("protocol", "name"), [
    *((UPDATES_ONLY, name) for name in WORLDS), *((MOVED, name) for name in WORLDS_OF_MOVES),
])  # fmt: skip
def test_the_engine_agrees_with_the_model_in_many_histories(protocol: Protocol, name: str) -> None:
    play(name, 150, protocol)


@pytest.mark.parametrize(("name", "inserts", "why"), [
    ("record_index", "first_completed", "its readers merge no record in another partition"),
    ("record_index_updated", "updates_only", "it compacts no record index"),
    ("record_index_cleaned", "moved", "one write of known and new keys"),
])  # fmt: skip
def test_what_the_engine_does_otherwise_is_not_played(name: str, inserts: str, why: str) -> None:
    with pytest.raises(CannotPlay, match=why):
        play(name, 1, Protocol.from_mapping({"inserts": inserts}))
