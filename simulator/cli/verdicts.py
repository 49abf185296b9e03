"""`nbcc verdicts`: settings by promises, each cell with the bounds up to which it was searched."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command import answer, debug_option, json_option, on_option, users_words
from .outcome import Exit, gravest

if TYPE_CHECKING:
    from nbcc.simulator.verdicts import Depth, Kill, Row


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
    help="Kill new mutants, write the page of kills and those of the matrix up to this depth anew.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes at once; one a core unless given.")
@on_option
@click.option("--max-states", type=click.IntRange(min=1), help="Leave a world beyond so many states (UNDETERMINED).")
@click.option("--memory", type=click.FloatRange(min=0.1), metavar="G", help="Stop beyond so many GiB in all.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
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
    picture: Path | None,
    as_json: bool,
) -> Exit:  # fmt: skip
    """Judge every setting by every promise, in all worlds of a depth.

    A cell says holds (in every interleaving of its worlds), how many steps break the promise, ? (undetermined) or
    – (not applicable). The matrix is held against the page that was accepted, specs/verdicts.md: what differs is
    printed, exit code 1. A violation that the page expects is no failure; one that has gone is. While a cell is
    undetermined the exit code is 3.

    \b
    Examples:
      nbcc verdicts
      nbcc verdicts --picture verdicts.png
      nbcc verdicts --depth full --workers 2 --json
      nbcc verdicts --options writer-a.properties writer-b.json
    """
    if more and not options:
        raise click.UsageError(f"Got unexpected extra argument ({more[0]}); files of options come after --options")
    if options:
        return _row_of((*options, *more), as_json)
    from nbcc.simulator import verdicts as judged

    level = judged.depth_of(depth)
    if accept:
        judged.write_kills(_kill())
    found = _search(level, workers, master, max_states=max_states, memory=memory)
    rows = judged.believable(found, judged.accepted())
    changed = [] if accept else list(_differences(judged.page_path(level), judged.page(rows, level)))
    if accept:
        _write(found, level)
    if picture is not None:
        judged.draw(rows, picture)
    if as_json:
        answer({"protocols": judged.to_json(rows)})
    else:
        for line in [*_table(rows), *changed]:
            click.echo(line)
    doubts = any(str(cell.verdict) == "UNDETERMINED" for row in rows for cell in row.cells.values())
    return gravest([Exit.AGREES, *([Exit.VIOLATED] if changed else []), *([Exit.UNDETERMINED] if doubts else [])])


def _row_of(paths: tuple[Path, ...], as_json: bool) -> Exit:
    """Which row the options of the writers lead to; UNDETERMINED where none tells what they do together."""
    from nbcc.simulator.options import judge

    with users_words():
        found = judge(paths)
    if as_json:
        answer(found.to_mapping())
        return Exit.AGREES if found.row else Exit.UNDETERMINED
    for writer in found.writers:
        click.echo(f"{writer.file}: {writer.row or f'no row, {writer.because}'}")
        for option, value, given in writer.decided:
            click.echo(f"  decided by {option} = {value or '(none)'}{'' if given else ', by default'}")
        for option, nearest in writer.unknown:
            click.echo(f"  unknown: {option}" + (f"; did you mean {nearest}?" if nearest else ""))
    if found.row is None:
        click.echo(f"UNDETERMINED: {found.because}")
        return Exit.UNDETERMINED
    from nbcc.simulator import specs

    click.echo(f"row {found.row}: {specs.about('protocols', found.row)}")
    click.echo(f"  its verdicts: specs/verdicts.md, or nbcc verdicts; what it is: nbcc explain {found.row}")
    return Exit.AGREES


def _kill() -> tuple[Kill, ...]:
    """Those that are accepted, if they are still where they were, and those of new mutants."""
    from nbcc.simulator import verdicts as judged

    subjects = len(judged.subjects())
    with _progress(f"{subjects} mutants", subjects) as tick:
        return judged.kill_all(tick, judged.still_good())


def _write(found: Sequence[Row], level: Depth) -> None:
    """The page of this depth, and of each lesser one, whose worlds were searched as well."""
    from nbcc.simulator import verdicts as judged

    for depth in judged.DEPTHS[: judged.DEPTHS.index(level) + 1]:
        rows = judged.believable(judged.within(found, depth), judged.accepted())
        judged.page_path(depth).write_text(judged.page(rows, depth), encoding="utf-8")


def _search(level: Depth, workers: int | None, master: str | None, **bounds: Any) -> tuple[Row, ...]:
    from nbcc.simulator import verdicts as judged

    if master:
        from .search import on_cluster

        bounds["search"] = on_cluster(master)
    total = judged.searches(level)
    with _progress(f"{len(judged.settings())} settings, {total} searches", total) as tick:
        return judged.matrix(level, workers=workers or os.cpu_count() or 1, done=tick, **bounds)


@contextlib.contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def _table(rows: Sequence[Row]) -> Iterator[str]:
    from nbcc.simulator.verdicts import sign

    promises = list(rows[0].cells)
    width = max(len(row.name) for row in rows)
    widths = [max(len(name), *(len(sign(row.cells[name])) for row in rows)) for name in promises]
    yield " " * width + "  " + "  ".join(f"{name:^{w}}" for name, w in zip(promises, widths, strict=True))
    for row in rows:
        cells = (f"{sign(cell):^{w}}" for cell, w in zip(row.cells.values(), widths, strict=True))
        yield f"{row.name:{width}}  {'  '.join(cells)}".rstrip()


def _differences(path: Path, text: str) -> Iterator[str]:
    """What was accepted and what was found, line by line, where they differ."""
    accepted = path.read_text("utf-8") if path.is_file() else ""
    lines = difflib.unified_diff(accepted.splitlines(), text.splitlines(), "accepted", "found", lineterm="", n=0)
    changed = [line for line in lines if not line.startswith("@@")]
    if changed:
        yield ""
        yield f"This is not what {path.name} says; look at why, then `nbcc verdicts --accept`:"
        yield from changed
