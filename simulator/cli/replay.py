"""`nbcc replay`: plays a trace on the model and on systems."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import names
from .command import (
    FileToWrite,
    Teaching,
    answer,
    debug_option,
    echo,
    json_option,
    module_option,
    system_option,
    traces_option,
    users_words,
)
from .outcome import OF_VERDICT, Exit, gravest

if TYPE_CHECKING:
    from nbcc.simulator.lockstep.replay import Outcome

EXPECTED = {"violated": "VIOLATED", "disagreed": "DISAGREED", "agreed": "AGREED"}


@click.command(cls=Teaching, sections=names.sections("actions", "protocols"),
               short_help="Play a saved interleaving on the model or on the engine.")  # fmt: skip
@click.argument("trace", shell_complete=names.completes("traces"))
@click.option("--on", "systems", multiple=True, metavar="SYSTEM",
              help="model, engine, s3, spark, hudi, or package.module:factory; may be repeated.  "
                   "[default: model, or those of --system]"
)  # fmt: skip
@system_option
@click.option("--protocol", shell_complete=names.completes("protocols"),
              help="Play the steps under this protocol instead of the trace's.")  # fmt: skip
@click.option(
    "--expect", type=click.Choice([*EXPECTED]), help="Exit with 0 if every system has this verdict, else with 1."
)
@click.option("--html", type=FileToWrite(), metavar="FILE",
              help="Write a page that shows each step. It needs no server and no network.")  # fmt: skip
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Keep the engine's table in this folder, which must be empty.")  # fmt: skip
@traces_option
@module_option
@json_option
@debug_option
def command(
    *,
    trace: str,
    systems: tuple[str, ...],
    drivers: tuple[str, ...],
    protocol: str | None,
    expect: str | None,
    html: Path | None,
    keep: Path | None,
    traces: Path,
    as_json: bool,
) -> Exit:
    """Play the steps of TRACE, which is a file, a folder of saved traces, or the handle of a saved trace.

    For each system, the command reports whether the steps are still possible, whether the observations equal the
    recorded ones, and whether the promise holds. A handle names a trace in the folder --traces or in nbcc. For a
    folder, each trace has one line: kept traces are regression tests.

    \b
    Examples:
      nbcc replay traces/1f3a9c.json
      nbcc replay 1f3a9c --on engine --on spark
      nbcc replay 1f3a9c --expect violated
      nbcc replay traces --on my_table:MyTable --expect agreed
      nbcc replay 1f3a9c --on engine --keep table
    """
    from dataclasses import replace
    from importlib.resources import files

    from nbcc.simulator import specs
    from nbcc.simulator.lockstep.replay import replay, side_by_side
    from nbcc.simulator.lockstep.systems.driver import Command
    from nbcc.simulator.lockstep.systems.registry import factory
    from nbcc.simulator.trace import load
    from nbcc.simulator.view import page, trace_content

    if Path(trace).is_dir():
        return _replay_all(Path(trace), [*systems, *map(Command, drivers)] or ["model"], protocol, expect, as_json)
    with users_words():
        folders = [traces, Path(str(files("nbcc") / "specs" / "traces"))]
        asked = load(trace, folders)
        if protocol is not None:
            asked = replace(asked, protocol=specs.protocol(protocol), observed=())
        asked_systems = [*systems, *map(Command, drivers)] or ["model"]
        for system in asked_systems:
            factory(system)
        _refuse_to_overwrite(trace, html, keep)
        if keep is not None and "engine" not in asked_systems:
            raise click.UsageError("--keep needs --on engine")
    outcomes = replay(asked, asked_systems, keep).outcomes
    if html is not None:
        html.write_text(page.render(trace_content.content_of(side_by_side(outcomes))), encoding="utf-8")
    if as_json:
        answer({"handle": asked.handle, "systems": {outcome.system: _plain(outcome) for outcome in outcomes}})
    else:
        _print(outcomes, _again(outcomes[0].trace.handle, folders, trace, protocol))
    if expect is not None:
        met = all(outcome.fits and outcome.verdict == EXPECTED[expect] for outcome in outcomes)
        return Exit.AGREES if met else Exit.VIOLATED
    return gravest(OF_VERDICT[outcome.verdict] if outcome.fits else Exit.VIOLATED for outcome in outcomes)


def _print(outcomes: Sequence[Outcome], again: str | None) -> None:
    from nbcc.simulator import trace_text

    echo(*trace_text.render(outcomes[0].trace, again, trace_text.screen_width()).split("\n"))
    for outcome in outcomes:
        echo(outcome.sentence)
    echo(*_also_broken(outcomes[0]))


def _also_broken(outcome: Outcome) -> Iterator[str]:
    """Yield a line with the other promises that the run breaks, if any. Promises with one shortest run share a handle.
    """
    from nbcc.model import Model
    from nbcc.simulator.view.judge import judged
    from nbcc.simulator.view.run import play

    trace = outcome.trace
    if outcome.verdict == "VIOLATED":
        broken = judged(play(Model(trace.world, trace.protocol), trace.steps), trace.promise)
        names = [each.name for each in broken if each.step and each.name != trace.promise]
        yield from [f"this run also breaks {', '.join(names)}"] if names else []


def _replay_all(
    folder: Path, systems: Sequence[Any], protocol: str | None, expect: str | None, as_json: bool
) -> Exit:
    """Play every trace in a folder, and print one line for each. The exit code is that of the gravest outcome."""
    from dataclasses import replace

    from nbcc.simulator import specs
    from nbcc.simulator.lockstep.replay import replay
    from nbcc.simulator.lockstep.systems.registry import factory
    from nbcc.simulator.trace import load

    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise click.UsageError(f"{folder} has no trace (*.json)")
    with users_words():
        traces = {path: load(str(path), [folder]) for path in paths}
        other = specs.protocol(protocol) if protocol is not None else None
        for system in systems:
            factory(system)
    exits, document = [], {}
    for path, found in traces.items():
        asked = found if other is None else replace(found, protocol=other, observed=())
        outcomes = replay(asked, systems, None).outcomes
        for outcome in outcomes:
            met = outcome.fits and (expect is None or outcome.verdict == EXPECTED[expect])
            exits.append((Exit.AGREES if expect else OF_VERDICT[outcome.verdict]) if met else Exit.VIOLATED)
            if not as_json:
                verdict = outcome.verdict if outcome.fits else "does not fit"
                echo(f"{'ok ' if met else 'BAD'}  {path.name}  {outcome.system}: {verdict}")
        document[path.name] = {outcome.system: _plain(outcome) for outcome in outcomes}
    if as_json:
        answer({"traces": document})
    return gravest(exits)


def _refuse_to_overwrite(trace: str, html: Path | None, keep: Path | None) -> None:
    if keep is not None and keep.is_dir() and any(keep.iterdir()):
        raise click.UsageError(f"{keep} is not empty: use a new folder")
    if html is not None and Path(trace).is_file() and html.resolve() == Path(trace).resolve():
        raise click.UsageError(f"--html would overwrite the trace {trace}: use another file")


def _again(handle: str, folders: Sequence[Path], trace: str, protocol: str | None) -> str | None:
    from nbcc.simulator.trace import load

    try:
        load(handle, folders)
    except ValueError:
        return f"nbcc replay {shlex.quote(trace)}" + (f" --protocol {shlex.quote(protocol)}" if protocol else "")
    return None


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {
        "fits": outcome.fits,
        "stopped_at": outcome.stopped_at or None,
        "reasons": list(outcome.reasons),
        "same": outcome.same,
        "verdict": outcome.verdict,
        "because": outcome.because,
    }
