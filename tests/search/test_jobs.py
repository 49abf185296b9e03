"""Cells in processes of their own give what a search here gives, and a process that dies loses one job only."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import pytest

from nbcc.simulator.explore import Result, Verdict
from nbcc.simulator.explore.failed import failed_search, transient
from nbcc.simulator.explore.jobs import SearchJob, run_jobs
from nbcc.simulator.explore.memory import MemoryBound

JOBS = [
    SearchJob(world="demo", protocol="tombstones-dropped"),
    SearchJob(world="demo", promises=("SNAP", "MONO")),
    SearchJob(world="examples.two_phase_commit:TwoPhaseCommit"),
    SearchJob(world="demo", mutant="search-drops-a-successor"),
]


def timeless(result: Result) -> Result:
    return replace(result, seconds=0)


def test_two_workers_find_what_one_finds_in_the_order_given() -> None:
    alone = [(job, timeless(found)) for job, found in run_jobs(JOBS)]
    heard: list[SearchJob] = []
    together = run_jobs(JOBS, workers=2, done=lambda job, found: heard.append(job))

    assert [(job, timeless(found)) for job, found in together] == alone
    assert [job for job, _ in alone] == JOBS
    assert sorted(map(repr, heard)) == sorted(map(repr, JOBS))
    assert [str(found.verdict) for _, found in alone] == ["VIOLATED", "HOLDS", "HOLDS", "UNDETERMINED"]
    assert alone[3][1].distinct < alone[1][1].distinct


def test_a_mistake_in_a_cell_is_told_to_the_caller() -> None:
    with pytest.raises(ValueError, match="no world is called 'dmo'") as told:
        list(run_jobs([SearchJob(world="dmo")], workers=2))
    assert told.value.__notes__ == [f"in the search of {SearchJob(world='dmo')}"]


class Deadly:
    """A world that ends the process which takes it out of its envelope."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


def test_a_process_that_dies_loses_its_own_cell_only() -> None:
    failed_search = SearchJob(world=Deadly())  # type: ignore[arg-type]  # the very point
    (_, dead), (_, alive) = run_jobs([failed_search, JOBS[1]], workers=2)

    assert (dead.verdict, dead.stopped) == (Verdict.UNDETERMINED, "the process that searched it died (exit 9)")
    assert alive.verdict is Verdict.HOLDS


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mistake_in_a_cell_is_its_own_where_nobody_wants_to_see_it(workers: int) -> None:
    some = run_jobs([SearchJob(world="dmo"), JOBS[1]], workers=workers, raises=False)
    (_, failed), (_, alive) = some

    assert failed.verdict is Verdict.UNDETERMINED
    assert re.match(
        r"the search failed: ValueError: no world is called 'dmo'.* \(\w+.py, line \d+\)$", failed.stopped or ""
    )
    assert alive.verdict is Verdict.HOLDS


def test_what_fails_or_is_short_of_memory_says_nothing_that_lasts() -> None:
    (_, whole), (_, cut) = (*run_jobs([JOBS[1]]), *run_jobs([JOBS[1]], max_states=9))
    assert (transient(whole), transient(cut)) == (None, None)
    assert transient(failed_search("it died")) == "it died"
    no_room = MemoryBound(1e-9).reached({})
    assert no_room is not None
    assert transient(replace(cut, stopped=no_room)) == no_room
    short = replace(whole.promises["SNAP"], because="one row (not proven shortest: more than 2 GiB of memory)")
    assert transient(replace(whole, promises={"SNAP": short})) == short.because
