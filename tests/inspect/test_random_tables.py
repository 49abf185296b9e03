"""Random tables of the engine: nothing is broken in a right one; of a mutant's, those that show it are told."""

from __future__ import annotations

import json
import os
import random
from collections import Counter

import pytest

from nbcc.simulator import mutants, specs
from nbcc.simulator.validate import validate
from nbcc.simulator.validate.text import render

from . import detections
from .campaign import fuzzed
from .tables import engine_table, played_table

NIGHTLY = os.environ.get("NBCC_BUDGET") == "nightly"
RIGHT = 1000 if NIGHTLY else 25
FUZZED = 10_000 if NIGHTLY else 200
OF_A_MUTANT = 1000 if NIGHTLY else 20
ONCE_MISSED = (211, 236, 5036, 5176, 5995, 6189, 6361)  # plans of cleans, lost schemas, commits that lack a field

ONCE_CALLED_BROKEN = (
    ("partial_updates", 0),  # a log compaction counted keys, not the records in its file
    ("replaces", 17), ("occ_replaces", 1),  # a replace hid a log, as it is to
)  # fmt: skip

# Mutants of the engine whose defect lies in files and times; the others are in a reader, or in how steps interleave.
IN_THE_TABLE = {"compaction-drops-log": "compaction-left-logs-out", "plan-takes-inflight-log": "log-in-two-slices"}


def test_nothing_is_broken_in_a_right_table() -> None:
    for seed in range(RIGHT):
        found = validate(engine_table(seed), opened=True)
        assert found.verdict == "OK", f"table {seed}\n{render(found)}"


@pytest.mark.parametrize("name", ["log_compaction", "replaces"])
def test_log_compactions_and_replaces_are_played(name: str) -> None:
    world = specs.world(name).replace(name="")
    for seed in range(RIGHT // 5):
        found = validate(played_table(world, random.Random(seed)), opened=True)
        assert found.verdict == "OK", f"table {seed}\n{render(found)}"


@pytest.mark.parametrize(("world", "seed"), ONCE_CALLED_BROKEN)
def test_a_right_table_that_was_once_called_broken_is_right(world: str, seed: int) -> None:
    found = validate(engine_table(seed, detections.right_worlds()[world]), opened=True)
    assert found.verdict == "OK", render(found)


def test_what_is_known_of_mutants_is_what_their_tables_tell() -> None:
    """The page is made of the kept figures; nightly, they are of all mutants, and a table that is told is made anew."""
    found = json.loads(detections.KEPT.read_text("utf-8"))
    known, there = {*found["mutants"]}, {mutant.name for mutant in detections.engine_mutants()}
    worlds, all_worlds = {*found["right"]}, {*detections.right_worlds()}
    assert known == there if NIGHTLY else known <= there
    assert worlds == all_worlds if NIGHTLY else worlds <= all_worlds
    assert sum(row["tables"] for row in found["right"].values()) >= 1000
    assert sum(row["tables"] for row in found["mutants"].values()) >= 1000
    assert not [name for name, row in found["right"].items() if row["broken"]]
    assert detections.page(found) in detections.PAGE.read_text("utf-8")
    for mutant in detections.engine_mutants() if NIGHTLY else ():
        row = found["mutants"].get(mutant.name, {"told": 0, "first": None})
        assert bool(row["told"]) == (row["first"] is not None)
        if row["told"]:
            assert detections.told(mutant, row["first"]), mutant.name


@pytest.mark.parametrize("name", IN_THE_TABLE)
def test_a_mutant_is_told_by_its_tables(name: str) -> None:
    mutant = mutants.load(name)
    rules: Counter[str] = Counter()
    with mutants.applied(mutant):
        tables = [engine_table(seed, mutant) for seed in range(OF_A_MUTANT)]
    for table in tables:
        rules.update({c.rule for c in validate(table, opened=True).diagnostics if c.gravity == "BROKEN"})
    assert rules[IN_THE_TABLE[name]] >= OF_A_MUTANT // 5, f"{name}: {rules} of {OF_A_MUTANT}"


def test_a_broken_table_is_never_called_fine_and_never_fails() -> None:
    """What may change unnoticed is what readers do not look at either: see `wrongly_fine`."""
    said, wrong = fuzzed([*range(FUZZED), *ONCE_MISSED])
    assert not wrong, wrong
    assert said.total() == FUZZED + len(ONCE_MISSED)
