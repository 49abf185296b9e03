"""Random tables: no table of the right engine is called broken, and defects are detected; also in two processes."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from nbcc.simulator import specs
from nbcc.simulator.audit import parallel, validate
from nbcc.simulator.audit.history import GroupHistory, Histories, Planned, Written
from nbcc.simulator.audit.judge import MAX_REFUSALS, Judgement, judge
from nbcc.simulator.audit.text import render
from nbcc.simulator.search import mutants
from tests.builders.by_day import NIGHTLY
from tools.detection import figures
from tools.detection.campaign import judge_defects
from tools.detection.tables import engine_table, played_table

from .golden import good_table

RIGHT = 25
DEFECTS = 200
PARTS = range(40) if NIGHTLY else range(1)
"""Each part judges so many tables, so that a night that is cut short says how many it judged."""
OF_A_MUTANT = 1000 if NIGHTLY else 20
SEEDS = [range(part * DEFECTS, (part + 1) * DEFECTS) for part in PARTS]
ONCE_MISSED = (211, 236, 5036, 5176, 5995, 6189, 6361)  # plans of cleans, lost schemas, commits that lack a field

ONCE_CALLED_BROKEN = (
    ("partial_updates", 0),  # a log compaction counted keys, not the records in its file
    ("replaces", 17), ("occ_replaces", 1),  # a replace hid a log, as it is to
)  # fmt: skip

# Mutants of the engine whose defect lies in files and times; the others are in a reader, or in how steps interleave.
IN_THE_TABLE = {"compaction-drops-log": "compaction-left-logs-out", "plan-takes-inflight-log": "log-in-two-slices"}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_broken_in_a_right_table(part: int) -> None:
    for seed in range(part * RIGHT, (part + 1) * RIGHT):
        found = validate(engine_table(seed), opened=True)
        assert found.verdict == "OK", f"table {seed}\n{render(found)}"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ["log_compaction", "replaces"])
def test_log_compactions_and_replaces_are_played(name: str, part: int) -> None:
    world = specs.world(name).replace(name="")
    for seed in range(part * RIGHT // 5, (part + 1) * RIGHT // 5):
        found = validate(played_table(world, random.Random(seed)), opened=True)
        assert found.verdict == "OK", f"table {seed}\n{render(found)}"


@pytest.mark.parametrize(("world", "seed"), ONCE_CALLED_BROKEN)
def test_a_right_table_that_was_once_called_broken_is_right(world: str, seed: int) -> None:
    found = validate(engine_table(seed, figures.right_worlds()[world]), opened=True)
    assert found.verdict == "OK", render(found)


def test_the_page_shows_the_recorded_figures() -> None:
    """At night the figures are of all mutants, and each first detection is repeated."""
    recorded = figures.recorded()
    known, mutants_now = {*recorded["mutants"]}, {mutant.name for mutant in figures.engine_mutants()}
    worlds, worlds_now = {*recorded["right"]}, {*figures.right_worlds()}
    assert known == mutants_now if NIGHTLY else known <= mutants_now
    assert worlds == worlds_now if NIGHTLY else worlds <= worlds_now
    assert sum(row["tables"] for row in recorded["right"].values()) >= 1000
    assert sum(row["tables"] for row in recorded["mutants"].values()) >= 1000
    assert not [name for name, row in recorded["right"].items() if row["broken"]]
    assert figures.page() == figures.PAGE.read_text("utf-8")
    for mutant in figures.engine_mutants() if NIGHTLY else ():
        row = recorded["mutants"].get(mutant.name, {"detected": 0, "first": None})
        assert bool(row["detected"]) == (row["first"] is not None)
        if row["detected"]:
            assert figures.broken_rules(mutant, row["first"]), mutant.name


@pytest.mark.parametrize("name", IN_THE_TABLE)
def test_a_mutant_is_detected_by_its_tables(name: str) -> None:
    mutant = mutants.load(name)
    rules: Counter[str] = Counter()
    with mutants.applied(mutant):
        tables = [engine_table(seed, mutant) for seed in range(OF_A_MUTANT)]
    for table in tables:
        rules.update({c.rule for c in validate(table, opened=True).diagnostics if c.gravity == "BROKEN"})
    assert rules[IN_THE_TABLE[name]] >= OF_A_MUTANT // 5, f"{name}: {rules} of {OF_A_MUTANT}"


@pytest.mark.parametrize("seeds", [*SEEDS, ONCE_MISSED], ids=str)
def test_a_broken_table_is_never_called_fine_and_never_fails(seeds: Sequence[int]) -> None:
    """Excepted are changes that readers cannot detect either: see `wrongly_fine`."""
    counts, wrong = judge_defects([*seeds])
    assert not wrong, wrong
    assert counts.total() == len(seeds)


GROUPS = 24
LATE = (7, 15, 16)  # whose plan takes a log that completed after it


def history(number: int) -> GroupHistory:
    """Two writes and a plan, at the same times in every group."""
    writes = (Written("01", "02", ("a",), True), Written("03", "06", ("b",), True))
    names = ("a", "b") if number in LATE else ("a",)
    return GroupHistory(("", f"{number:02}"), writes, (Planned("05", "07", None, names, True),))


def test_what_is_found_of_parts_is_what_is_found_of_all() -> None:
    groups = [history(number) for number in range(GROUPS)]
    found = judge(groups, "default")
    assert found.refusals == len(LATE)
    assert found.earliest is not None
    assert found.earliest[1].group == groups[LATE[0]].group
    for some, others in ((groups[:8], groups[8:]), (groups[8:], groups[:8]), (groups[:4], groups[4:])):
        assert judge(some, "default").joined(judge(others, "default")) == found
    assert found.joined(Judgement()) == Judgement().joined(found) == found


def test_two_processes_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "AT_ONCE", 5)
    groups = {("", f"{number:02}"): history(number) for number in range(GROUPS)}
    every = Histories((*groups,), Counter(), groups.__getitem__)
    seen: list[int] = []
    assert parallel.judge_in_parallel(every, "default", seen.append, helpers=1) == judge(every.groups, "default")
    assert seen == [0, 5, 10, 15, 20]


def test_who_would_have_stopped_is_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many refusals one process stops: what several have counted beyond that is not reported."""
    possible = importlib.import_module("nbcc.simulator.audit.history_check")
    good = good_table(tmp_path / "t")
    monkeypatch.setattr(possible, "BIG", 1)
    monkeypatch.setattr(possible, "judge_in_parallel", lambda *given: Judgement(refusals=MAX_REFUSALS - 1))
    now = "20261122000000000"
    assert validate(good, now=now, workers=2).history != validate(good, now=now).history
    monkeypatch.setattr(possible, "judge_in_parallel", lambda *given: Judgement(refusals=MAX_REFUSALS))
    assert validate(good, now=now, workers=2) == validate(good, now=now)
