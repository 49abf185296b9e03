"""A Hypothesis test for your own table: random histories of a `System`, compared with the model."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

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
from nbcc.simulator.trace import save
from nbcc.simulator.view.text import render

__all__ = ["machine"]


def machine(
    factory: Factory,
    world: World | str | None = None,
    protocol: Protocol | str = "default",
    mapping: Sequence[MappingRow] = MAPPING,
    examples: int | None = None,
    traces: str | Path = "traces",
) -> Callable[[], None]:
    """Return a test function for pytest: ``test_my_table = machine(MyTable, world="demo")``.

    ``factory(world, protocol, batches)`` sets up a fresh `System` for each history (docs/test-your-own-table.md).
    ``world`` and ``protocol`` are values, or names of those that nbcc ships. Without a world each history draws one.
    ``mapping`` states which operation of the system each action of the model belongs to. ``examples`` is the number of
    histories; its default, the seed and the database of failures come from Hypothesis's profile.

    If model and system differ, Hypothesis shrinks the interleaving. The test saves it in the folder ``traces`` and
    fails with its text and with the command that replays it.
    """
    check = Check(
        CheckOptions(
            factory=factory,
            protocol=specs.protocol(protocol) if isinstance(protocol, str) else protocol,
            world=specs.world(world) if isinstance(world, str) else world,
            mapping=mapping,
            readers=(),
            found_by=f"nbcc.testing.machine --on {_name(factory)}",
            repeats=False,
        )
    )
    saved: list[Path] = []

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
            for larger in saved:  # Hypothesis fails again for each smaller interleaving; the last one is the smallest
                larger.unlink(missing_ok=True)
            saved[:] = [save(check.disagreed, Path(traces))]
            raise AssertionError(render(check.disagreed, _replay(saved[0], factory))) from disagreement

    return test_agrees_with_the_model


def _replay(trace: Path, factory: Factory) -> str:
    """The command that replays a trace on the system; it imports the factory from the folder that holds its package."""
    module, command = factory.__module__, f"nbcc replay {shlex.quote(str(trace))} --on {_name(factory)}"
    file = getattr(sys.modules.get(module), "__file__", None)
    root = Path(file).resolve().parents[module.count(".")] if file else Path.cwd()
    return command if root == Path.cwd() else f"PYTHONPATH={shlex.quote(os.path.relpath(root))} {command}"


def _name(factory: Factory) -> str:
    """``module:factory``; a placeholder for a function that no module holds under its name, such as a lambda."""
    name = getattr(factory, "__qualname__", "")
    return f"{factory.__module__}:{name}" if name.isidentifier() else "MODULE:FACTORY"
