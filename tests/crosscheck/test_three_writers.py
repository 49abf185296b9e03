"""RFC-22's three writers: engine and model agree which writer starves in which mode."""

from __future__ import annotations

import pytest

from examples.three_writers import conflicts, measure
from nbcc.model import Model, Protocol, State, World
from nbcc.simulator.lockstep.minimal_examples import Never
from nbcc.simulator.search.explore import Verdict, explore


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
    found = explore(model, [never], reduce=False).promises[never.name]
    assert (found.verdict is Verdict.VIOLATED) == can
