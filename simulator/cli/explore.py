"""`nbcc explore`: searches all interleavings of the actors in a world (a search configuration) within the world's
limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nbcc.engine.terminal import printable

from . import names
from .command import (
    FileToWrite,
    FiniteNumber,
    Teaching,
    WholeNumber,
    answer,
    debug_option,
    echo,
    json_option,
    module_option,
    traces_option,
)
from .outcome import OF_VERDICT, Exit, gravest

if TYPE_CHECKING:
    from nbcc.simulator.search.explore import PromiseResult, Result
    from nbcc.simulator.trace import Trace

    from .search import FinishedSearch


ONE_PROCESS = "one search is one process; 'nbcc verdicts' takes --workers and --on"


@click.command(
    cls=Teaching, sections=names.sections("worlds", "protocols", "promises"),
    elsewhere={"--workers": ONE_PROCESS, "--on": ONE_PROCESS},
    short_help="Every interleaving of a small world, up to its limits.",
)  # fmt: skip
@click.argument("world", shell_complete=names.completes("worlds"))
@click.option("--protocol", default="default", show_default=True, shell_complete=names.completes("protocols"),
              help="Name or .toml file of the protocol.")  # fmt: skip
@click.option("--promise", "promises", multiple=True, metavar="NAME", shell_complete=names.completes("promises"),
              help="Check this promise only; may be repeated.")  # fmt: skip
@click.option(
    "--max-states",
    type=WholeNumber(min=1),
    help="Stop after so many distinct states; the verdict is then UNDETERMINED.",
)
@click.option(
    "--memory", type=FiniteNumber(min=0.1), metavar="G", help="Stop when the search needs more than G GiB of memory."
)
@click.option("--no-reduction", is_flag=True, help="Search without symmetry and without fused steps.")
@click.option("--checkpoint", type=FileToWrite(), metavar="FILE",
              help="Save the search in FILE from time to time; the same command continues from there.")  # fmt: skip
@traces_option
@module_option
@json_option
@debug_option
def command(
    *,
    world: str,
    protocol: str,
    promises: tuple[str, ...],
    max_states: int | None,
    memory: float | None,
    no_reduction: bool,
    checkpoint: Path | None,
    traces: Path,
    as_json: bool,
) -> Exit:
    """Search every interleaving of WORLD under a protocol and report whether each promise HOLDS.

    WORLD is a name from the list below, a .toml file, or package.module:factory of your own model. A promise HOLDS if
    every interleaving within the world's limits keeps it. For a VIOLATED promise the command prints the shortest
    interleaving that breaks it, and saves it as a trace for `nbcc replay`.

    \b
    Examples:
      nbcc explore demo
      nbcc explore demo --protocol requested-time-slicing
      nbcc explore readers --protocol single-listing --promise SNAP --json
    """
    from .search import search

    try:
        found = search(
            world, protocol, promises, max_states=max_states, memory=memory, reduce=not no_reduction,
            checkpoint=checkpoint,
        )  # fmt: skip
    except KeyboardInterrupt:
        echo(_interrupted(checkpoint), err=True)
        return Exit.INTERRUPTED
    broken = _counterexamples(found)
    if as_json:
        document = found.result.to_json(world, protocol)
        for name, trace in broken.items():
            document["promises"][name]["handle"] = trace.handle
        answer(document)
    else:
        for line in report(found, broken):
            echo(line)
    _save(broken, traces)  # after the answer, so that an unwritable folder does not lose it
    outcomes = [OF_VERDICT[str(promise.verdict)] for promise in found.result.promises.values()]
    # A deadlock breaks none of these promises, but it is not a success either.
    return gravest([*outcomes, *([Exit.UNDETERMINED] if found.result.deadlock is not None else [])])


def _interrupted(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "interrupted: nothing was saved; --checkpoint FILE saves a long search from time to time"
    if not checkpoint.exists():
        return f"interrupted before the search was saved in {checkpoint} for the first time"
    return f"interrupted: the search was saved in {checkpoint}; the same command continues from there"


def _counterexamples(found: FinishedSearch) -> dict[str, Trace]:
    """Map each violated promise to its counterexample as a trace. Return an empty mapping if the system is not the Hudi
    model.
    """
    from nbcc.model import Model

    broken = {name: promise for name, promise in found.result.promises.items() if promise.trace is not None}
    if not broken or not isinstance(found.system, Model):
        return {}
    # Imported only when it is needed: the import takes longer than a small search.
    from nbcc.simulator.lockstep.counterexample import counterexample

    by = f"nbcc explore {found.world} --protocol {found.protocol}"
    return {
        name: counterexample(found.system, each.trace or (), name, by, each.cycle) for name, each in broken.items()
    }


def _save(broken: dict[str, Trace], folder: Path) -> None:
    if broken:
        from nbcc.simulator.trace import save

        for trace in {trace.handle: trace for trace in reversed(broken.values())}.values():
            save(trace, folder)


def report(found: FinishedSearch, broken: dict[str, Trace]) -> Iterator[str]:
    """Yield the lines of the answer: one line per promise, the bound of the search, and the shortest counterexample."""
    from nbcc.simulator.trace_text import render, screen_width, wrapped

    width = screen_width()
    for line in _summary(found, broken):
        yield from wrapped(printable(line), width).split("\n")
    if broken:
        yield ""
        yield from render(min(broken.values(), key=lambda trace: len(trace.steps)), width=width).split("\n")
    else:
        yield from steps_of_users_model(found.result)


def steps_of_users_model(result: Result) -> Iterator[str]:
    """Yield the steps of the shortest counterexample of a user's own model, for which there is no trace file."""
    broken = [promise for promise in result.promises.values() if promise.trace is not None]
    if not broken:
        return
    shortest = min(broken, key=lambda promise: promise.steps or 0)
    steps = shortest.trace or ()
    yield from ("", f"{shortest.verdict}  {shortest.name}")
    for number, step in enumerate(steps, 1):
        if number == len(steps) - shortest.cycle + 1:
            yield "  the following steps repeat permanently:"
        args = "".join(f" {name}={value}" for name, value in step.args)
        yield printable(f"  {number:>3}  {step.actor}  {step.action}{args}")


def _summary(found: FinishedSearch, broken: dict[str, Trace]) -> Iterator[str]:
    from nbcc.simulator.trace_text import replay_command

    result = found.result
    verdict_width = max((len(str(promise.verdict)) for promise in result.promises.values()), default=0)
    name_width = max(map(len, result.promises), default=0)
    for name, promise in result.promises.items():
        trace = broken.get(name)
        steps = f" ({promise.steps} steps, {replay_command(trace)})" if trace else ""
        reason = f"  {_because(promise, trace)}" if promise.because else ""
        yield f"{promise.verdict!s:{verdict_width}}  {name:{name_width}}{reason}{steps}".rstrip()
    if result.deadlock is not None:
        last = f", the last: {result.deadlock[-1].actor} {result.deadlock[-1].action}" if result.deadlock else ""
        yield f"DEADLOCK after {len(result.deadlock)} steps{last}"
    every = "" if result.stopped else "; every interleaving within the limits"
    yield f"{found.world} under {found.protocol}: {result.bound}{every}"
    yield from seen(result)


def _because(promise: PromiseResult, trace: Trace | None) -> str:
    from nbcc.simulator.search.explore.exhaustive import NOT_SHORTEST

    reason, mark, why = (promise.because or "").partition(NOT_SHORTEST)
    return f"{trace.because if trace else reason}{mark}{why}"


def seen(result: Result) -> Iterator[str]:
    """Yield lines that name the reductions of the search and the actions that it covered."""
    if result.reductions:
        yield f"reduced: {'; '.join(result.reductions)}"
    if (covered := result.coverage) and covered.actions:
        taken = len(covered.actions) - len(covered.never_taken)
        never = f"; never: {', '.join(covered.never_taken)}" if covered.never_taken else ""
        yield f"covered: {taken} of {len(covered.actions)} actions were possible{never}"
        reasons = Counter(reason for _, reason in covered.never_false)
        if reasons:
            from nbcc.simulator.trace_text import counted

            times = ", ".join(f"{reason} (in {counted(count, 'action')})" for reason, count in reasons.items())
            yield f"conditions that were never the only false one: {times}"
