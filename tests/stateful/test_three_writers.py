"""RFC-22's three writers: who starves under which mode, on the engine, and that the model says so, too."""

from __future__ import annotations

import pytest

from nbcc.model import Model, Protocol, State, World
from nbcc.simulator.explore import Verdict, explore
from nbcc.simulator.smallest import Never
from nbcc.simulator.three_writers import measure


def test_under_optimistic_concurrency_control_all_but_the_quickest_starve() -> None:
    got = {each.does: (each.completed, each.aborted) for each in measure("occ", 20.0).values()}
    assert got == {"ingestion": (15, 0), "encryption": (0, 4), "backfill": (0, 1)}


def test_without_blocking_everybody_gets_done_what_fits_into_the_time() -> None:
    got = {each.does: (each.completed, each.aborted) for each in measure("nbcc", 20.0).values()}
    assert got == {"ingestion": (16, 0), "encryption": (4, 0), "backfill": (1, 0)}


@pytest.mark.parametrize(("mode", "can"), [("occ", True), ("nbcc", False)])
def test_that_the_slow_one_may_give_up_although_nobody_fails_is_found_by_the_search(mode: str, can: bool) -> None:
    """It has tried as often as it may, each time somebody else had completed meanwhile, and nothing of it is there."""
    model = Model(World(actors={"writer": 3}, retries=1), Protocol.from_mapping({"concurrency": mode}))

    def gave_up(model: Model, before: object, step: object, after: State) -> str | None:
        own, published = model.component(after, "w3"), model.component(after, "published")
        done = own.number == 1 and own.step == "idle"
        return "w3 gave up" if done and not any(entry.actor == "w3" for entry in published) else None

    never = Never("state", gave_up)
    found = explore(model, [never], reduce=False).promises[never.name]
    assert (found.verdict is Verdict.VIOLATED) == can
