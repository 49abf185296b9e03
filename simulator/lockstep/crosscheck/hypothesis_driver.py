"""Runs histories under Hypothesis, which generates the random numbers of each history and simplifies them after a
failure.

Hypothesis varies each history a few times before it generates another. Without shrinking, `random.Random` generates the
numbers instead of Hypothesis, and each history is independent of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition

from ..schedule import Choose


class TimeIsUp(BaseException):
    """Raised by a history when the time is up, to end the generation of histories. `TimeIsUp` derives from
    `BaseException`, because Hypothesis treats every `Exception` as a failure.
    """


def given_choices(
    play: Callable[[Choose], None],
    examples: int,
    seed: int,
    shrinks: bool,
    expected: type[Exception],
) -> None:
    """Call ``play`` up to ``examples`` times, each time with new random numbers.

    After a failure, Hypothesis repeats ``play`` with fewer or smaller numbers. The last failing call of ``play`` is the
    simplest failure that Hypothesis found. An exception of type ``expected`` is a failure of the history and is caught;
    all other exceptions propagate. `TimeIsUp` ends the generation without a failure.
    """
    if not shrinks:
        _independent(play, examples, seed, expected)
        return
    over = False

    @with_seed(seed)
    @settings(
        max_examples=examples,
        phases=(Phase.generate, Phase.shrink),
        deadline=None,
        # Nothing is stored next to the caller: the same seed plays the same histories, also after a failure.
        database=None,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        # A history on a real engine is slow and draws much: both are meant here.
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def drawn(data: st.DataObject) -> None:
        def choose(n: int) -> int:
            return data.draw(st.integers(0, n - 1)) if n > 1 else 0

        nonlocal over
        try:
            play(choose)
        except TimeIsUp:
            over = True
            raise

    try:
        drawn()
    except (expected, TimeIsUp):
        return
    except FlakyStrategyDefinition:
        if not over:  # after TimeIsUp Hypothesis reports that the last history drew nothing
            raise


def _independent(play: Callable[[Choose], None], examples: int, seed: int, expected: type[Exception]) -> None:
    random = Random(seed)
    try:
        for _ in range(examples):
            play(random.randrange)
    except (expected, TimeIsUp):
        return
