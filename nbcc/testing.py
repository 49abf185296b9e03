"""A Hypothesis test for your own table: random histories of a `System` or of a driver, compared with the model."""

from __future__ import annotations

import os
import shlex
import shutil
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
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions, Factory
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.mapping import MAPPING
from nbcc.simulator.lockstep.mechanism import MappingRow
from nbcc.simulator.lockstep.systems.driver import DriverFactory
from nbcc.simulator.trace import Trace, save
from nbcc.simulator.trace_text import render
from nbcc.simulator.view import page, trace_content

__all__ = ["driver", "machine"]


def driver(command: str) -> DriverFactory:
    """Return the factory of a driver: a program that takes the steps, asked over a pipe (docs/drivers.md)."""
    return DriverFactory(command)


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
    ``driver("java Driver.java")`` is the factory of a program that is asked over a pipe (docs/drivers.md).
    ``world`` and ``protocol`` are values, or names of those that nbcc ships. Without a world each history draws one.
    ``mapping`` states which operation of the system each action of the model belongs to. ``examples`` is the number of
    histories; its default, the seed and the database of failures come from Hypothesis's profile.

    If model and system differ, Hypothesis shrinks the interleaving. The test saves it in the folder ``traces``, with a
    page (``.html``) that shows each step, and fails with its text and with the command that replays it.
    """
    check = Check(
        CheckOptions(
            factory=factory,
            protocol=specs.protocol(protocol) if isinstance(protocol, str) else protocol,
            world=specs.world(world) if isinstance(world, str) else world,
            mapping=mapping,
            readers=(),
            found_by=f"nbcc.testing.machine {_option(factory)}",
            kinds=factory.kinds if isinstance(factory, DriverFactory) and world is None else None,
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
            saved.append(saved[0].with_suffix(".html"))
            saved[1].write_text(page.render(trace_content.content_of(check.disagreed)), encoding="utf-8")
            raise HistoryDiffers(check.disagreed, saved[0], _replay(saved[0], factory)) from disagreement

    return test_agrees_with_the_model


class HistoryDiffers(AssertionError):
    """The model and a system differ after a step of a history, which is saved as a trace and as a page."""

    def __init__(self, trace: Trace, path: Path, command: str) -> None:
        super().__init__(render(trace, command))
        self._trace, self._path, self._command = trace, path, command

    def nbcc_interleaving(self) -> str:
        """The text that nbcc's plugin of pytest shows: the interleaving within the terminal, and the path of the page.
        """
        width = min(shutil.get_terminal_size().columns, 110)
        text = render(self._trace, self._command, width).replace("; see it again: ", "; see it again:\n")
        return f"{text}\nthe same as a page: {self._path.with_suffix('.html')}"


def _replay(trace: Path, factory: Factory) -> str:
    """The command that replays a trace on the system; it imports the factory from the folder that holds its package."""
    module, command = factory.__module__, f"nbcc replay {shlex.quote(str(trace))} {_option(factory)}"
    if isinstance(factory, DriverFactory):
        return command
    file = getattr(sys.modules.get(module), "__file__", None)
    root = Path(file).resolve().parents[module.count(".")] if file else Path.cwd()
    return command if root == Path.cwd() else f"PYTHONPATH={shlex.quote(os.path.relpath(root))} {command}"


def _option(factory: Factory) -> str:
    """The option of `nbcc replay` that names the factory. MODULE:FACTORY stands for a function that no module holds
    under its name, such as a lambda.
    """
    if isinstance(factory, DriverFactory):
        return f"--system {shlex.quote(factory.command)}"
    name = getattr(factory, "__qualname__", "")
    return f"--on {factory.__module__}:{name}" if name.isidentifier() else "--on MODULE:FACTORY"
