"""The schedule that delays publications: other actors step first, unless the draw decides otherwise."""

from __future__ import annotations

from nbcc.model import Step
from nbcc.simulator.lockstep.schedule import Random
from tools.delayed_publication import DELAYS, DelayedPublication

PUBLISHES, RUNS, BEGINS = Step("w1", "writer_takes_lock"), Step("roll1", "rollbacker_resumes_rollback"), Step("w2", "x")
SCHEDULE = DelayedPublication(Random())


def test_others_go_first() -> None:
    assert SCHEDULE.next(lambda n: 0, [PUBLISHES, RUNS, BEGINS]) == BEGINS


def test_now_and_then_it_does_not_linger() -> None:
    draws = iter([DELAYS, 0, 0])
    assert SCHEDULE.next(lambda n: next(draws), [PUBLISHES, RUNS, BEGINS]) == PUBLISHES


def test_alone_it_goes_on() -> None:
    assert SCHEDULE.next(lambda n: 0, [RUNS]) == RUNS
