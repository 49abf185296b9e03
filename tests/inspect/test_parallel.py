"""File groups judged in two processes: the same diagnostics as in one, in any order of arrival."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import pytest

from nbcc.simulator.audit import parallel, validate
from nbcc.simulator.audit.history import GroupHistory, Histories, Planned, Written
from nbcc.simulator.audit.judge import MAX_REFUSALS, Judgement, judge

from .golden import good_table

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
