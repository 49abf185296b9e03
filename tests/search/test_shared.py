"""The matrix searches a world once for all protocols between which no search sees a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Result
from nbcc.simulator.search.jobs import SearchJob, failed_search
from nbcc.simulator.search.verdicts import judge
from nbcc.simulator.search.verdicts.shared import results_of

DEMO = specs.world("demo")


def job(**options: Any) -> SearchJob:
    return SearchJob(world=DEMO, protocol=Protocol(**options))


DEFAULT, LOCKED, BY_START = job(), job(concurrency="occ"), job(concurrency="occ", conflict_window="requested")
UNREAD, BOTH_UNREAD = job(conflict_window="requested"), job(concurrency="occ", plan_takes="any_log")
JOBS = [DEFAULT, UNREAD, LOCKED, BY_START, BOTH_UNREAD]


class Searches:
    """In place of searches: each reads `concurrency`, and `conflict_window` only where that is optimistic."""

    def __init__(self, stopped: Sequence[SearchJob] = ()) -> None:
        self.rounds: list[list[tuple[SearchJob, bool]]] = []
        self.stopped = stopped

    def __call__(self, jobs: Sequence[SearchJob]) -> Mapping[SearchJob, Result]:
        plain = {each: next(known for known in JOBS if known.protocol == each.protocol) for each in jobs}
        self.rounds.append([(known, each.records) for each, known in plain.items()])
        return {each: self.search(known) for each, known in plain.items()}

    def search(self, searched: SearchJob) -> Result:
        assert isinstance(searched.protocol, Protocol)
        values = searched.protocol.to_mapping()
        optimistic = values["concurrency"] == "occ"
        options = ("concurrency", *(("conflict_window",) if optimistic else ()))
        if searched in self.stopped:
            return failed_search("it died")
        states = 10 + optimistic + (optimistic and values["conflict_window"] == "requested")
        return Result(distinct=states, generated=0, depth=0, seconds=0.0, promises={}, reads=(options, ()))


def test_a_job_takes_the_result_of_a_search_that_reads_no_difference() -> None:
    searches, taken = Searches(), list[None]()
    found = results_of(JOBS, searches, lambda: taken.append(None))
    assert {each: shared.result.distinct for each, shared in found.items()} == {
        each: searches.search(each).distinct for each in JOBS
    }
    assert [each for each in JOBS if found[each].taken] == [UNREAD, BOTH_UNREAD]
    assert len(taken) == 2
    # The second search reads an option that the first did not: the third job has another value there.
    assert searches.rounds == [[(DEFAULT, True)], [(LOCKED, True)], [(BY_START, False)]]


def test_a_search_that_failed_says_nothing_of_other_protocols() -> None:
    searches = Searches(stopped=[DEFAULT])
    found = results_of(JOBS, searches, lambda: None)
    assert not any(shared.taken for shared in found.values())
    assert [each for each, shared in found.items() if shared.result.stopped] == [DEFAULT]
    assert len(searches.rounds) == 2, "the others are searched at once"


def test_a_job_alone_in_its_world_is_searched_without_a_record() -> None:
    searches = Searches()
    results_of([LOCKED], searches, lambda: None)
    assert searches.rounds == [[(LOCKED, False)]]


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("rfc-22-option-1", "rfc-22-option-2"), 2),
        (("free-commits", "parallel-commits"), 0),
        (("occ", "occ-by-start-time", "occ-reads-ignored"), 0),
    ],
)
def test_protocols_have_the_cells_that_they_have_alone(
    names: tuple[str, ...], taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default protocol is not among them: their own searches record what they read."""
    monkeypatch.setattr(judge, "worlds_of", lambda name, depth: {DEMO: False, specs.world("occ_two_groups"): False})
    files = [specs.protocol_file(name) for name in names]
    together = judge.matrix("quick", files)
    alone = [judge.matrix("quick", [file])[0] for file in files]
    assert [row.cells for row in together] == [row.cells for row in alone]
    sizes = [[(each.result.distinct, each.result.generated) for each in row.searched] for row in together]
    assert sizes == [[(each.result.distinct, each.result.generated) for each in row.searched] for row in alone]
    assert sum(each.taken for row in together for each in row.searched) == taken
