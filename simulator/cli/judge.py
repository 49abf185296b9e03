"""`nbcc judge`: judges one protocol in the worlds of the matrix, and says what it changes against another one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nbcc.engine.terminal import printable

from . import names
from .command import (
    WORKERS,
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
    users_words,
)
from .outcome import Exit, gravest
from .progress import on_stderr

if TYPE_CHECKING:
    from nbcc.simulator.search.comparison import Comparison, JudgedPromise
    from nbcc.simulator.search.verdicts.judge import SearchedWorld
    from nbcc.simulator.trace import Trace

WIDTH = 80
WORDS = {
    "broken": "newly broken", "sooner": "broken sooner", "later": "broken later", "kept": "no longer broken",
    "unknown": "another verdict", "same": "",
}  # fmt: skip


@click.command(cls=Teaching, sections=names.sections("protocols", "worlds", "promises"),
               short_help="What a protocol breaks, compared with another one.")  # fmt: skip
@click.argument("protocol", shell_complete=names.completes("protocols"))
@click.option("--against", metavar="NAME", help="Compare with this protocol.  [default: the one that PROTOCOL extends]")
@click.option("--promise", "promises", multiple=True, metavar="NAME", help="Judge this promise only; may be repeated.")
@click.option("--world", "worlds", multiple=True, metavar="NAME",
              help="Judge both protocols in this world only, a name or a .toml file; may be repeated.")  # fmt: skip
@click.option("--depth", type=click.Choice(["quick", "full"]), default="quick", show_default=True,
              help="Size of the worlds, as of `nbcc verdicts`.")  # fmt: skip
@click.option("--workers", type=WORKERS, metavar="N", help="Number of processes.  [default: one a core]")
@click.option("--max-states", type=WholeNumber(min=1), default=1_000_000, show_default=True,
              help="Stop a search after so many states; what it has not broken is then undetermined.")  # fmt: skip
@click.option("--memory", type=FiniteNumber(min=0.1), metavar="G",
              help="Stop when all searches together need more than G GiB of memory.")  # fmt: skip
@click.option("--checkpoint", type=FileToWrite(), metavar="FILE",
              help="Save each finished search in FILE; the same command continues from there.")  # fmt: skip
@click.option("--markdown", is_flag=True, help="Print the answer as Markdown, for a review.")
@click.option("--html", type=FileToWrite(), metavar="FILE",
              help="Also write a page with the table and the picture of the first change for the worse.")  # fmt: skip
@traces_option
@module_option
@json_option
@debug_option
def command(
    *,
    protocol: str,
    against: str | None,
    promises: tuple[str, ...],
    worlds: tuple[str, ...],
    depth: str,
    workers: int | None,
    max_states: int,
    memory: float | None,
    checkpoint: Path | None,
    markdown: bool,
    html: Path | None,
    traces: Path,
    as_json: bool,
) -> Exit:
    """Judge PROTOCOL, the name or .toml file of a protocol, by every promise in the worlds of the matrix.

    The table has a line for each promise: the verdict under the other protocol, the verdict under PROTOCOL, and the
    command that replays a shortest run. Changed lines come first. A cell is `holds`, the number of steps to a
    violation, ? (undetermined) or - (not applicable). Each violation is reported on standard error when it is found,
    the smallest worlds first.

    The exit code is 1 if PROTOCOL newly breaks a promise or breaks one sooner, 3 if a verdict is newly undetermined,
    and 4 if a search failed.

    \b
    Examples:
      nbcc judge mine.toml
      nbcc judge mine.toml --against hudi-1.2.0 --markdown
      nbcc judge rfc-66-slicing --promise SNAP --promise TRAVEL
    """
    if markdown and as_json:
        raise click.UsageError("--markdown and --json are two forms of one answer: leave one out")
    from nbcc.simulator.search import verdicts as judged
    from nbcc.simulator.search.jobs import known_promises

    with users_words():
        known_promises(promises)
        comparison = _comparison(protocol, against, promises, worlds, depth)
        cache = judged.ResultCache(checkpoint) if checkpoint else None
    search = _Search(comparison)
    try:
        search.run(workers=workers or os.cpu_count() or 1, memory=memory, max_states=max_states, cache=cache)
    except KeyboardInterrupt:
        echo(search.interrupted(checkpoint), err=True)
        return Exit.INTERRUPTED
    report = _Report(comparison, protocol, search.seconds)
    if as_json:
        answer(report.to_json())
    else:
        echo(*(report.markdown() if markdown else report.lines()))
    report.save(traces)
    if html is not None:
        html.write_text(report.page(), encoding="utf-8")
    for line in report.failed():
        echo(f"Error: {line}", err=True)
    return report.exit()


def _comparison(
    protocol: str, against: str | None, promises: tuple[str, ...], worlds: tuple[str, ...], depth: str
) -> Comparison:
    from nbcc.simulator import specs
    from nbcc.simulator.search.comparison import Comparison
    from nbcc.simulator.search.verdicts import depth_of

    mine, (_, *parents) = specs.protocol_file(protocol), [*specs.ancestors(protocol)]
    base = specs.protocol_file(against or (parents[0] if parents else "default"))
    if mine.protocol == base.protocol:
        raise ValueError(
            f"{protocol} and {base.name} have the same options, so there is nothing to compare: "
            "change an option, or name another protocol with --against"
        )
    chosen = tuple(dict.fromkeys(promises))
    found = Comparison(mine=mine, base=base, depth=depth_of(depth), promises=chosen, only=worlds)
    assert found.worlds, "an unknown world ends the command here"
    return found


def _is_undetermined(judged: JudgedPromise) -> bool:
    return str(judged.mine.verdict) == "UNDETERMINED"


class _Search:
    """The search of a comparison, with its progress on standard error."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison, self.began = comparison, time.monotonic()
        self.total, self.ended = len(comparison.begin()), 0
        self.shortest: dict[str, int] = {}

    def run(self, **how: Any) -> None:
        comparison = self.comparison
        taken = f"; {len(comparison.taken)} more read nothing that changes" if comparison.taken else ""
        names = f"{comparison.mine.name} against {comparison.base.name}"
        echo(f"{names}, worlds to search: {self.total}, smallest first{taken}", err=True)
        with on_stderr() as show:

            def found(each: SearchedWorld) -> None:
                show("worlds", self.ended, self.total)
                self.ended += 1
                self._tell(each)

            comparison.search(found, **how)

    def _tell(self, each: SearchedWorld) -> None:
        from nbcc.simulator.search.comparison import place, violated_in

        for promise, steps in violated_in(each):
            if steps < self.shortest.get(promise, steps + 1):
                self.shortest[promise] = steps
                echo(f"{self.seconds:6.1f} s  {promise}: {steps} steps in {place(each.world)}", err=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def interrupted(self, checkpoint: Path | None) -> str:
        saved = "nothing was saved; --checkpoint FILE saves each finished search"
        if checkpoint:
            saved = f"they are saved in {checkpoint}; the same command continues from there"
        return f"interrupted after {self.ended} of {self.total} worlds: {saved}"


class _Report:
    """The answer: the table, the saved runs of the changes, and the picture of the first change for the worse."""

    def __init__(self, comparison: Comparison, asked: str, seconds: float) -> None:
        self.comparison, self.asked, self.seconds = comparison, asked, seconds
        self.judged = comparison.judged()
        self.runs = dict(self._runs())

    def _runs(self) -> Iterator[tuple[str, Trace]]:
        """Yield the run of each change that has one, as a trace."""
        shown = [each for each in self.judged if each.change in ("broken", "sooner", "later") and each.found]
        if not shown:
            return
        from nbcc.model import Model
        from nbcc.simulator.lockstep.counterexample import counterexample
        from nbcc.simulator.trace_text import module_words

        by = f"nbcc judge {self.asked} --against {self.comparison.base.name}{module_words()}"
        for each in shown:
            if each.found is not None and each.world is not None:
                model = Model(each.world, self.comparison.mine.protocol)
                path, cycle = each.found.trace or (), each.found.cycle
                yield each.promise, counterexample(model, path, each.promise, by, cycle)

    @property
    def first(self) -> Trace | None:
        worse = (each.promise for each in self.judged if each.change in ("broken", "sooner"))
        return next((self.runs[promise] for promise in worse if promise in self.runs), None)

    def _table(self) -> Iterator[tuple[str, ...]]:
        from nbcc.simulator.trace_text import replay_command

        yield "promise", self.comparison.base.name, self.comparison.mine.name, "change", "replay"
        for each in self.judged:
            replay = replay_command(self.runs[each.promise]) if each.promise in self.runs else ""
            change = WORDS[each.change] or ("not touched" if each.taken else "")
            change = "undetermined" if _is_undetermined(each) else change
            yield each.promise, each.base.sign, each.mine.sign, change, replay

    def lines(self) -> Iterator[str]:
        from nbcc.simulator.trace_text import render, screen_width, wrapped

        rows = [*self._table()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        yield ""
        for line in self._summary():
            yield from wrapped(line, screen_width() or WIDTH).split("\n")
        if self.first is not None:
            yield from ("", *render(self.first, width=screen_width()).split("\n"))

    def markdown(self) -> Iterator[str]:
        from nbcc.simulator.trace_text import render

        head, *rows = self._table()
        for row in (head, ("---",) * len(head), *rows):
            yield f"| {' | '.join(printable(text).replace('|', '&#124;') for text in row)} |"
        yield ""
        yield from self._summary()
        if self.first is not None:
            yield from ("", "```text", *render(self.first).split("\n"), "```")

    def _summary(self) -> Iterator[str]:
        from nbcc.simulator.trace_text import counted

        searched, comparison = self.comparison.searched, self.comparison
        states = sum(each.result.stands_for or each.result.distinct for each in searched)
        yield f"{counted(len(searched), 'world')}, {states:,} states of {comparison.mine.name} in {self.seconds:.0f} s."
        if comparison.taken:
            taken = f"{counted(len(comparison.taken), 'world')} not searched"
            yield f"{taken}: no option or rule that they read is changed in the default protocol (footprints.json)."
        if comparison.row is None:
            yield f"{comparison.base.name} was searched in the same worlds."
        elif comparison.of_base:
            more = counted(len(comparison.of_base), "world")
            yield f"Verdicts on {comparison.base.name}: the accepted matrix, and searches of {more} that it leaves out."
        else:
            yield f"Verdicts on {comparison.base.name}: the accepted matrix."
        if quiet := comparison.without_effect:
            names = ", ".join(printable(world.name) for world in quiet)
            yield f"{comparison.mine.name} changed no step in {names}: the same states, steps and verdicts."
        for action in comparison.never_taken:
            yield f"{action} was never taken in any world."
        reasons: dict[str, list[str]] = {}
        for each in self.judged:
            if (each.change != "same" or _is_undetermined(each)) and each.cell.because:
                reasons.setdefault(printable(self._because(each)), []).append(each.promise)
        for because, promises in reasons.items():
            yield f"{', '.join(promises)}: {because}"
        if any(each.result.stopped and each.result.distinct for each in searched):
            yield "A search that stopped leaves promises undetermined (?). --max-states and --memory are its limits."
        if comparison.only and {"–", "?"} & {each.mine.sign for each in self.judged}:
            yield "– does not apply in these worlds, ? is undetermined. Without --world, all worlds are searched."

    def _because(self, each: JudgedPromise) -> str:
        trace = self.runs.get(each.promise)
        return trace.because if trace and trace.because else each.cell.because or ""

    def to_json(self) -> dict[str, Any]:
        comparison = self.comparison
        return {
            "protocol": comparison.mine.name,
            "against": comparison.base.name,
            "options": dict(comparison.mine.protocol.differences()),
            "worlds": {"searched": len(comparison.searched), "recorded": len(comparison.taken)},
            "seconds": round(self.seconds, 1),
            "promises": {
                each.promise: {
                    "change": each.change,
                    "searched": not each.taken,
                    "against": {"verdict": str(each.base.verdict), "steps": each.base.steps},
                    **each.cell.to_json(),
                    "handle": self.runs[each.promise].handle if each.promise in self.runs else None,
                }
                for each in self.judged
            },
        }

    def page(self) -> str:
        from nbcc.simulator.view.judged import page

        return page([*self._table()], [*self._summary()], self.first)

    def save(self, folder: Path) -> None:
        if self.runs:
            from nbcc.simulator.trace import save

            for trace in {trace.handle: trace for trace in self.runs.values()}.values():
                save(trace, folder)

    def failed(self) -> Sequence[str]:
        from nbcc.simulator.search.verdicts import failed_searches, messages
        from nbcc.simulator.search.verdicts.judge import row

        comparison = self.comparison
        both = ((comparison.mine, comparison.searched), (comparison.base, comparison.of_base))
        return [*messages(failed_searches(row(file, searched) for file, searched in both))]

    def exit(self) -> Exit:
        changes = {each.change for each in self.judged}
        doubts = any(_is_undetermined(each) and each.change != "same" for each in self.judged)
        return gravest([
            Exit.AGREES, *([Exit.VIOLATED] if changes & {"broken", "sooner"} else []),
            *([Exit.UNDETERMINED] if doubts else []), *([Exit.COULD_NOT_RUN] if self.failed() else []),
        ])  # fmt: skip
