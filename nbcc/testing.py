"""For the tests of other people's tables: random histories of a System against the model, as one Hypothesis test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

try:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
except ImportError:
    raise ImportError(
        "nbcc.testing needs hypothesis, which is not installed: pip install 'nbcc[test]'", name="hypothesis"
    ) from None

from nbcc.model import Protocol, World
from nbcc.simulator import specs
from nbcc.simulator.crosscheck.check import Check, CheckOptions, Factory
from nbcc.simulator.crosscheck.disagreement import Disagreement
from nbcc.simulator.crosscheck.mapping import MAPPING, MappingRow
from nbcc.simulator.view.text import render

__all__ = ["machine"]


def machine(
    factory: Factory,
    world: World | str | None = None,
    protocol: Protocol | str = "default",
    mapping: Sequence[MappingRow] = MAPPING,
    examples: int | None = None,
) -> Callable[[], None]:
    """A test function for pytest: ``test_my_table = machine(MyTable, world="demo")``.

    ``factory(world, protocol, batches)`` sets up a fresh system for each history (see `nbcc.simulator.systems`).
    ``world`` and ``protocol`` are values or names of those that nbcc ships; without a world each history draws its own.
    ``mapping`` says which of the system's operations each action of the model is a part of. ``examples`` histories are
    played; without it, and for the seed and where failures are kept, what Hypothesis's profile says holds.

    The test fails with the interleaving in fixed-width text; Hypothesis has shrunk it.
    """
    check = Check(
        CheckOptions(
            factory=factory,
            protocol=specs.protocol(protocol) if isinstance(protocol, str) else protocol,
            world=specs.world(world) if isinstance(world, str) else world,
            mapping=mapping,
            readers=(),
        )
    )

    @settings(
        max_examples=examples or settings().max_examples,
        deadline=None,
        # Hypothesis explains by playing many more histories; the interleaving says it better.
        phases=[phase for phase in settings().phases if phase is not Phase.explain],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.data())
    def test_agrees_with_the_model(data: st.DataObject) -> None:
        def choose(n: int) -> int:
            return data.draw(st.integers(0, n - 1)) if n > 1 else 0

        try:
            check.play(choose)
        except Disagreement as disagreement:
            assert check.disagreed is not None
            raise AssertionError(render(check.disagreed)) from disagreement

    return test_agrees_with_the_model
