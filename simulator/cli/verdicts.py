"""`nbcc verdicts`: settings by promises, each cell with the bounds up to which it was searched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command import FileToWrite, Finite, answer, debug_option, json_option, on_option, users_words
from .matrix import differences, table
from .outcome import Exit, gravest

if TYPE_CHECKING:
    from nbcc.simulator.verdicts import Depth, Kill, MatrixRow, ResultCache


@click.command(short_help="Which setting keeps which promise, up to which bound.")
@click.option(
    "--depth",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="How large the worlds are: specs/verdicts.toml has them.",
)
@click.option(
    "--accept",
    is_flag=True,
    help="Write the pages of the matrix up to this depth.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes at once; one a core unless given.")
@on_option
@click.option("--max-states", type=click.IntRange(min=1), help="Leave a world beyond so many states (UNDETERMINED).")
@click.option("--memory", type=Finite(min=0.1), metavar="G", help="Stop beyond so many GiB in all.")
@click.option(
    "--checkpoint",
    type=FileToWrite(),
    metavar="FILE",
    help="Keep each search in FILE as it ends; the same command goes on from there.",
)
@click.option(
    "--picture",
    type=FileToWrite(),
    metavar="FILE",
    help="Draw the matrix as well: a .png or .svg file.",
)
@click.option(
    "--options",
    "options",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE ...",
    help="Which row is mine? Of writers with these hoodie.* options (properties or JSON); nothing is searched.",
)
@click.argument("more", nargs=-1, type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="")
@json_option
@debug_option
def command(
    *,
    options: tuple[Path, ...],
    more: tuple[Path, ...],
    depth: str,
    accept: bool,
    workers: int | None,
    master: str | None,
    max_states: int | None,
    memory: float | None,
    checkpoint: Path | None,
    picture: Path | None,
    as_json: bool,
) -> Exit:  # fmt: skip
    """Judge every setting by every promise, in all worlds of a depth.

    A cell says holds (in every interleaving of its worlds), how many steps break the promise, ? (undetermined) or
    – (not applicable). The matrix is held against the page that was accepted, specs/verdicts.md: what differs is
    printed, exit code 1. A violation that the page expects is no failure; one that has gone is. While a cell is
    undetermined the exit code is 3. A search that fails is told, exit code 4, and leaves its cells undetermined; all
    others are judged, and nothing is accepted.

    \b
    Examples:
      nbcc verdicts
      nbcc verdicts --picture verdicts.png
      nbcc verdicts --depth full --workers 2 --checkpoint searches.jsonl
      nbcc verdicts --options writer-a.properties writer-b.json
    """
    if more and not options:
        raise click.UsageError(f"Got unexpected extra argument ({more[0]}); files of options come after --options")
    if options:
        from .row_of_options import row_of

        return row_of((*options, *more), as_json)
    from nbcc.simulator import verdicts as judged

    with users_words():
        kept = judged.ResultCache(checkpoint) if checkpoint else None
        draw = judged.drawing(picture) if picture else None
    sitting = _Sitting(judged.depth_of(depth), accept, kept)
    try:
        found = sitting.search(workers or os.cpu_count() or 1, master, max_states=max_states, memory=memory)
        return sitting.tell(found, draw, as_json)
    except KeyboardInterrupt:
        click.echo(sitting.interrupted(), err=True)
        return Exit.INTERRUPTED


class _Sitting:
    """One run of the command: how far it is, and what it makes of what was found."""

    def __init__(self, level: Depth, accept: bool, kept: ResultCache | None) -> None:
        from nbcc.simulator import verdicts as judged

        self.level, self.accept, self.kept = level, accept, kept
        self.total, self.ended = judged.searches(level), 0
        self.kills: tuple[Kill, ...] = judged.accepted()

    def search(self, workers: int, master: str | None, **bounds: Any) -> tuple[MatrixRow, ...]:
        """Search all worlds of all settings."""
        from nbcc.simulator import verdicts as judged
        from nbcc.simulator.explore.jobs import run_jobs

        from .search import on_cluster

        across = on_cluster(master) if master else run_jobs
        search = partial(self.kept.search, across=across) if self.kept else across
        with _progress(f"{len(judged.protocols())} settings, {self.total} searches", self.total) as tick:

            def done() -> None:
                self.ended += 1
                tick()

            return judged.matrix(self.level, workers=workers, done=done, search=search, **bounds)

    def tell(
        self, found: tuple[MatrixRow, ...], draw: Callable[[tuple[MatrixRow, ...]], None] | None, as_json: bool
    ) -> Exit:
        """The answer; pages are written if no search is missing, and all of them or none."""
        from nbcc.simulator import verdicts as judged

        rows = judged.believable(found, self.kills)
        missing = judged.failed_searches(found)
        changed = [] if self.accept else list(differences(judged.page_path(self.level), judged.page(rows, self.level)))
        if self.accept and not missing:
            self._write(found)
        if draw is not None:
            draw(rows)
        if as_json:
            answer({"protocols": judged.to_json(rows), "searches": self._searches()})
        else:
            for line in [*table(rows), *changed, *self._kept()]:
                click.echo(line)
        for line in judged.messages(missing):
            click.echo(f"Error: {line}", err=True)
        if self.accept and missing:
            click.echo("Error: nothing was accepted, because not all was judged", err=True)
        doubts = missing or any(str(cell.verdict) == "UNDETERMINED" for row in rows for cell in row.cells.values())
        return gravest([
            Exit.AGREES, *([Exit.VIOLATED] if changed else []), *([Exit.UNDETERMINED] if doubts else []),
            *([Exit.COULD_NOT_RUN] if any(each.failed for each in missing) else []),
        ])  # fmt: skip

    def interrupted(self) -> str:
        """How far it came, and how to go on."""
        if self.kept:
            lasts = f"they are kept in {self.kept.path}, the same command goes on from there"
        else:
            lasts = "nothing was kept; --checkpoint FILE keeps each search as it ends"
        return f"interrupted after {self.ended:,} of {self.total:,} searches: {lasts}"

    def _searches(self) -> dict[str, int]:
        taken_up = self.kept.hits if self.kept else 0
        return {"taken_up": taken_up, "made": self.total - taken_up}

    def _kept(self) -> Iterator[str]:
        if self.kept:
            yield f"\n{self.kept.hits:,} searches taken up from {self.kept.path}, {self.kept.misses:,} made"

    def _write(self, found: tuple[MatrixRow, ...]) -> None:
        """The page of this depth, and of each lesser one, whose worlds were searched as well."""
        from nbcc.simulator import verdicts as judged

        texts = {}
        for depth in judged.DEPTHS[: judged.DEPTHS.index(self.level) + 1]:
            rows = judged.believable(judged.within(found, depth), self.kills)
            texts[judged.page_path(depth)] = judged.page(rows, depth)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
