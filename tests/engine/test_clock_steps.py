"""A clock that is set back during the wait for the skew: the lock is held then, so that the wait stays short."""

from __future__ import annotations

import pytest

from nbcc.engine.clock import WallClock
from nbcc.engine.errors import Conflict


class Stepping:
    """A clock that is set back by `step_ms` after its `after`-th reading; sleeping moves it on, and is counted."""

    def __init__(self, step_ms: int, after: int) -> None:
        self.ns, self.slept, self._step, self._left = 1_700_000_000_000_000_000, 0.0, step_ms, after

    def now(self) -> int:
        self._left -= 1
        if self._left == 0:
            self.ns -= self._step * 1_000_000
        return self.ns

    def sleep(self, seconds: float) -> None:
        assert seconds < 10, "asleep with the lock held"
        self.slept += seconds
        self.ns += round(seconds * 1e9)


@pytest.mark.parametrize("skew", [0, 200])
@pytest.mark.parametrize("after", [2, 3, 4])
def test_a_clock_that_steps_back_during_the_wait_is_refused(skew: int, after: int) -> None:
    time = Stepping(20_000, after)
    with pytest.raises(Conflict, match=r"stepped back by about 20\d\d\d ms|ms ahead of this machine's clock"):
        WallClock(skew, time.now, time.sleep).take()
    assert time.slept < 1


@pytest.mark.parametrize("after", [2, 3, 4])
def test_a_small_step_is_waited_out(after: int) -> None:
    time = Stepping(150, after)
    taken = WallClock(200, time.now, time.sleep).take()
    assert taken == "20231114221320000"
    assert 0.15 <= time.slept < 1


def test_a_clock_that_does_not_move_is_not_waited_for() -> None:
    time = Stepping(0, 0)

    def sleep(seconds: float) -> None:
        time.slept += seconds

    with pytest.raises(Conflict, match="stepped back"):
        WallClock(200, time.now, sleep).take()
    assert time.slept < 2
