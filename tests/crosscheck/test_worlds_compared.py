"""Worlds in which engine and model are compared: clocks, three writers, conditions, a missing file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples.three_writers import conflicts, measure
from nbcc.model import Model, Protocol, State, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.control.footprints import Access, violations
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.minimal_examples import Never
from nbcc.simulator.lockstep.replay import replay
from nbcc.simulator.lockstep.systems import changes, engine
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search.explore import Verdict, explore
from nbcc.simulator.trace import load

HISTORIES = 25


@pytest.mark.parametrize(
    ("world", "clock"),
    [
        ("skewed_clocks", "true_time"),
        ("skewed_clocks", "local"),
        ("skewed_clocks", "time_service"),
        ("clocks_beyond_bound", "true_time"),
    ],
)
def test_engine_and_model_agree_under_skew(world: str, clock: str) -> None:
    protocol = Protocol.from_mapping({"clock": clock})
    setting = CheckOptions(factory("engine"), protocol=protocol, world=specs.world(world), readers=())
    report = run(setting, examples=HISTORIES, seed=3)
    assert report.disagreement is None, report.text
    assert report.histories >= HISTORIES


def test_under_optimistic_concurrency_control_all_but_the_quickest_starve() -> None:
    got = {each.does: (each.completed, each.aborted) for each in measure("occ", 20.0).values()}
    assert got == {"ingestion": (15, 0), "encryption": (0, 4), "backfill": (0, 1)}


def test_without_blocking_everybody_gets_done_what_fits_into_the_time() -> None:
    got = {each.does: (each.completed, each.aborted) for each in measure("nbcc", 20.0).values()}
    assert got == {"ingestion": (16, 0), "encryption": (4, 0), "backfill": (1, 0)}


def test_conflicts_that_were_met_and_what_aborted_for_them() -> None:
    """A backfill without a conflict check is overtaken and completes. Other writers that are overtaken abort."""
    measured = {"occ, backfill nbcc": measure("occ, backfill nbcc", 20.0)}
    [backfill] = [each for each in measured["occ, backfill nbcc"].values() if each.does == "backfill"]
    assert (backfill.completed, backfill.met, backfill.aborted) == (1, 1, 0)
    looking = [each for each in measured["occ, backfill nbcc"].values() if each is not backfill]
    assert [each.met for each in looking] == [each.aborted for each in looking]
    head, line = conflicts(measured).splitlines()
    assert head.split() == ["mode", "completed", "met", "a", "conflict", "aborted", "thrown", "away"]
    met, aborted = (sum(getattr(each, name) for each in (*looking, backfill)) for name in ("met", "aborted"))
    assert line.split()[4:6] == [str(met), str(aborted)]
    assert met == aborted + 1


@pytest.mark.parametrize(("mode", "can"), [("occ", True), ("nbcc", False)])
def test_the_search_finds_that_the_slow_writer_may_give_up_without_any_failure(mode: str, can: bool) -> None:
    """It used all its retries, another writer had completed in each, and it left no file."""
    model = Model(World(actors={"writer": 3}, retries=1), Protocol.from_mapping({"concurrency": mode}))

    def gave_up(model: Model, before: object, step: object, after: State) -> str | None:
        own, published = model.component(after, "w3"), model.component(after, "published")
        done = own.number == 1 and own.step == "idle"
        return "w3 gave up" if done and not any(entry.actor == "w3" for entry in published) else None

    never = Never("state", gave_up)
    found = explore(model, [never], until_all_broken=True).promises[never.name]
    assert (found.verdict is Verdict.VIOLATED) == can


FOLDER = Path(__file__).parents[2] / "specs" / "traces"


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, bool]]:
    """The verbs that were played, each with whether it was played as a merge."""
    found: set[tuple[str, bool]] = set()

    def change(verb: str, *arguments: Any) -> Any:
        run, given = changes.change(verb, *arguments)
        found.add((verb, run is changes.merge))
        return run, given

    monkeypatch.setattr(engine, "change", change)
    return found


@pytest.mark.parametrize(
    ("name", "as_merge"),
    [("113-row-survives-delete", {("delete", True)}), ("114-update-is-lost", {("update", True), ("update", False)})],
)
def test_a_change_is_played_by_its_verb_and_by_a_merge(
    name: str, as_merge: set[tuple[str, bool]], played: set[tuple[str, bool]]
) -> None:
    [outcome] = replay(load(name, [FOLDER]), ["engine"]).outcomes
    assert outcome.fits
    assert outcome.same, outcome.because
    assert played == as_merge


TIMELINE = ".hoodie/timeline"
LOG = ".00000000-0000-0000-0000-000000000000-0_20240101000000001.log.1_2301-1-1"
OTHER = LOG.replace("log.1", "log.2")
PLAN = f"{TIMELINE}/20240101000000004.clean.requested"

REQUESTED = f"{TIMELINE}/20240101000000001.deltacommit.requested"
BEGUN = Access("w1", 0, "put", REQUESTED, False)
PUBLISHED = Access("w1", 0, "put", f"{TIMELINE}/20240101000000001_20240101000000002.deltacommit", False)
DELETED = [Access("d1", 1, "delete", path, False) for path in (LOG, OTHER)]
MISSED = Access("r1", 2, "get", LOG, False, "missing")
ASKED = [
    Access("r1", 2, "list.begin", TIMELINE, False),
    Access("r1", 2, "list.end", TIMELINE, False),
    Access("r1", 2, "get", PLAN, False),
]


def test_to_ask_why_a_file_is_gone_is_atomic() -> None:
    assert violations([PUBLISHED, DELETED[0], MISSED, *ASKED]) == []


@pytest.mark.parametrize(
    "segment",
    [
        [MISSED, *ASKED, MISSED._replace(path=OTHER)],
        [MISSED, *ASKED, MISSED._replace(path=OTHER, outcome="done")],
        [MISSED._replace(outcome="done"), MISSED, *ASKED, Access("r1", 2, "put", OTHER, False)],
        [MISSED._replace(path=REQUESTED), *ASKED],
    ],
    ids=["reads on and misses", "reads on", "writes", "missed a file that no actor deletes"],
)
def test_a_reader_that_goes_on_with_what_it_asked_for_is_found(segment: list[Access]) -> None:
    """A listing that anything follows, or that follows anything but a missing data file, is one of its own."""
    found = violations([BEGUN, PUBLISHED, *DELETED, *segment])
    assert len([sentence for sentence in found if "of r1 is not atomic" in sentence]) == 1
