"""Hypothesis as the driver: it draws the numbers that a history asks for, and shrinks them when a history fails.

It varies each history a few times before it draws a new one. Where nothing is to be shrunk, each is drawn for itself.
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
    """Ends the drawing from inside a play. Not an Exception: Hypothesis would take it for a failure of the history."""


def given_choices(
    play: Callable[[Choose], None],
    examples: int,
    seed: int,
    shrinks: bool,
    expected: type[Exception],
) -> None:
    """Call ``play`` up to ``examples`` times with fresh choices; after a failure, again with simpler ones.

    Failures of the type ``expected`` are kept by whoever raised them; the last call is the simplest. Others propagate;
    `TimeIsUp` ends the drawing in peace.
    """
    if not shrinks:
        _each_for_itself(play, examples, seed, expected)
        return
    over = False

    @with_seed(seed)
    @settings(
        max_examples=examples,
        phases=(Phase.generate, Phase.shrink),
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
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
        if not over:  # Hypothesis wonders why the last history drew nothing
            raise


def _each_for_itself(play: Callable[[Choose], None], examples: int, seed: int, expected: type[Exception]) -> None:
    """Plays with numbers that are all equally likely; the same seed draws the same."""
    random = Random(seed)
    try:
        for _ in range(examples):
            play(random.randrange)
    except (expected, TimeIsUp):
        return
