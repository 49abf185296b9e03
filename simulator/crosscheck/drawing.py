"""Hypothesis as the driver: it draws the numbers that a history asks for, and shrinks them when a history fails."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from ..schedule import Choose


def given_choices(
    play: Callable[[Choose], None],
    examples: int,
    seed: int,
    shrinks: bool,
    expected: type[Exception],
) -> None:
    """Call ``play`` up to ``examples`` times with fresh choices; after a failure, again with simpler ones.

    Failures of the type ``expected`` are kept by whoever raised them; the last call is the simplest. Others propagate.
    """
    phases = (Phase.generate, Phase.shrink) if shrinks else (Phase.generate,)

    @with_seed(seed)
    @settings(
        max_examples=examples,
        phases=phases,
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

        play(choose)

    try:
        drawn()
    except expected:
        return
