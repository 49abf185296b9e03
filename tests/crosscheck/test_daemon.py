"""Table services of the lockstep run in a daemon, which forgets what it holds for superfluous during the history."""

from __future__ import annotations

import pytest

from nbcc.engine.rules import Rules
from nbcc.engine.services import retirement
from nbcc.engine.services.retirement import RETIRED
from nbcc.engine.timeline.commits import Commits
from nbcc.engine.timeline.history import Current
from nbcc.engine.timeline.instant import Instant
from nbcc.model import World
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.daemon import Daemon
from nbcc.simulator.lockstep.systems.registry import factory

SERVED = World(
    actors={"writer": 2, "compactor": 1, "log_compactor": 1, "overwriter": 1, "cleaner": 1, "archiver": 1},
    buckets=1, writes_per_writer=2, compactions=2, log_compactions=1, cleans=2, commits_retained=1, archives=2,
    instants_retained=1,
)  # fmt: skip
HISTORIES = 120


def agrees() -> bool:
    report = run(CheckOptions(factory("engine"), world=SERVED, readers=()), examples=HISTORIES, shrinks=False)
    return report.disagreement is None


def retire_all(timeline: Current, commits: Commits, slices: object, rules: Rules) -> tuple[Instant, ...]:
    """Every archived commit, also one that has files in a slice of today."""
    old = (each for each in timeline.completed if each.action in RETIRED)
    return tuple(each for each in old if commits.archive.holds(each))


def test_a_daemon_that_forgets_too_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retirement, "not_needed", retire_all)
    assert not agrees()


@pytest.mark.nightly
def test_a_process_of_one_operation_never_meets_what_a_daemon_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retirement, "not_needed", retire_all)
    monkeypatch.setattr(Daemon, "commits", lambda *_: None)
    assert agrees()


@pytest.mark.nightly
def test_the_daemon_agrees() -> None:
    assert agrees()
