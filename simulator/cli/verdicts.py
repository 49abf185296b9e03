"""`nbcc verdicts`: prints the matrix of protocols and promises, each cell with the bound of its search."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .command import (
    WORKERS,
    FileToWrite,
    FiniteNumber,
    WholeNumber,
    answer,
    debug_option,
    echo,
    json_option,
    on_option,
    users_words,
)
from .locks import LockReport
from .matrix import differences, table
from .outcome import Exit, gravest

if TYPE_CHECKING:
    from nbcc.simulator.search.verdicts import Depth, Kill, MatrixRow, ResultCache
    from nbcc.simulator.specs import ProtocolFile


@click.command(short_help="Which protocol keeps which promise, up to which bound.")
@click.option(
    "--depth",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="Size of the worlds; specs/verdicts.toml lists them.",
)
@click.option(
    "--accept",
    is_flag=True,
    help="Write the accepted matrices up to this depth.",
)
@click.option(
    "--promise",
    "promises",
    multiple=True,
    metavar="NAME",
    help="Search for this promise only (repeatable); --accept then replaces its column alone.",
)
@click.option(
    "--protocol",
    "named",
    multiple=True,
    metavar="NAME",
    help="Search for this protocol only (repeatable); --accept then replaces its row alone.",
)
@click.option("--locks", is_flag=True, help="Judge only the locks and the stores of specs/locks.toml.")
@click.option("--workers", type=WORKERS, metavar="N", help="Number of processes.  [default: one a core]")
@on_option
@click.option(
    "--max-states", type=WholeNumber(min=1), help="Stop a search after so many states; its cells are then UNDETERMINED."
)
@click.option(
    "--memory",
    type=FiniteNumber(min=0.1),
    metavar="G",
    help="Stop when all searches together need more than G GiB of memory.",
)
@click.option(
    "--checkpoint",
    type=FileToWrite(),
    metavar="FILE",
    help="Save each finished search in FILE; the same command continues from there.",
)
@click.option(
    "--picture",
    type=FileToWrite(),
    metavar="FILE",
    help="Also draw the matrix, as a .png or .svg file.",
)
@click.option(
    "--options",
    "options",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE ...",
    help="Print the row for writers with these hoodie.* options (properties or JSON), without a search.",
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
    promises: tuple[str, ...],
    named: tuple[str, ...],
    locks: bool,
    workers: int | None,
    master: str | None,
    max_states: int | None,
    memory: float | None,
    checkpoint: Path | None,
    picture: Path | None,
    as_json: bool,
) -> Exit:  # fmt: skip
    """Check every protocol against every promise, in the worlds that --depth selects.

    A cell of the matrix is `holds` (every interleaving keeps the promise), the number of steps to a violation, ?
    (undetermined) or – (not applicable). The matrix is compared with the accepted one, specs/verdicts.json or
    specs/verdicts-full.json. The exit code is 1 if the two matrices differ, 3 if a cell is undetermined, and 4 if a
    search failed. A violation that is in both matrices does not change the exit code. If a search failed, --accept
    writes no file.

    Locks, stores and mutants of locks are checked too, and their verdicts are compared with specs/locks.json.

    \b
    Examples:
      nbcc verdicts
      nbcc verdicts --picture verdicts.png
      nbcc verdicts --promise ANSWER --promise FRESH --accept
      nbcc verdicts --protocol mine --accept
      nbcc verdicts --depth full --workers 2 --checkpoint searches.jsonl
      nbcc verdicts --options writer-a.properties writer-b.json
    """
    if more and not options:
        raise click.UsageError(f"Got unexpected extra argument ({more[0]}); files of options come after --options")
    if options:
        return _row_of_options((*options, *more), as_json)
    from nbcc.simulator.search import verdicts as judged
    from nbcc.simulator.search.jobs import known_promises
    from nbcc.simulator.view.verdict_matrix import drawing

    with users_words():
        promises = known_promises(promises)
        chosen = judged.chosen(named)
        cache = judged.ResultCache(checkpoint) if checkpoint else None
        draw = drawing(picture) if picture else None
    workers, level = workers or os.cpu_count() or 1, judged.depth_of(depth)
    judged_locks, judging = LockReport(level, accept, locks), _Matrix(level, accept, cache, promises, chosen)
    try:
        found = () if locks else judging.search(workers, master, max_states=max_states, memory=memory)
        judged_locks.search(promises, workers, max_states=max_states)
        if locks:
            return judged_locks.report(as_json)
        return judging.report(found, judged_locks, draw, as_json)
    except KeyboardInterrupt:
        echo(judging.interrupted(), err=True)
        return Exit.INTERRUPTED


def _row_of_options(files: tuple[Path, ...], as_json: bool) -> Exit:
    from .row_of_options import row_of

    return row_of(files, as_json)


_NOT_INSTALLED = "specs/verdicts-full.json is in the repository of nbcc only."


class _Matrix:
    def __init__(
        self,
        level: Depth,
        accept: bool,
        cache: ResultCache | None,
        promises: tuple[str, ...],
        chosen: tuple[ProtocolFile, ...],
    ) -> None:
        from nbcc.simulator.search import verdicts as judged

        self.level, self.accept, self.cache, self.promises, self.chosen = level, accept, cache, promises, chosen
        self.total, self.ended = judged.searches(level, chosen), 0
        self.kills: tuple[Kill, ...] = judged.accepted()

    def search(self, workers: int, master: str | None, **bounds: Any) -> tuple[MatrixRow, ...]:
        from nbcc.simulator.search import verdicts as judged

        from .search import spark_of

        spark = spark_of(master) if master else None
        with _progress(f"{len(self.chosen)} protocols, {self.total} searches", self.total) as tick:

            def done() -> None:
                self.ended += 1
                tick()

            how = {"workers": workers, "spark": spark, "cache": self.cache, **bounds}
            return judged.matrix(self.level, self.chosen, promises=self.promises, done=done, **how)

    def report(
        self,
        found: tuple[MatrixRow, ...],
        locks: LockReport,
        draw: Callable[[tuple[MatrixRow, ...]], None] | None,
        as_json: bool,
    ) -> Exit:
        from nbcc.simulator.lockstep.findings import confirmed
        from nbcc.simulator.search import verdicts as judged

        found = confirmed(found)
        rows = judged.believable(found, self.kills)
        missing = judged.failed_searches(found)
        data = self._data(rows, self.level)
        changed = [] if self.accept or not self._has_accepted() else list(differences(self._accepted(), data))
        if self.accept and not missing:
            self._write(found)
            locks.write()
        if draw is not None:
            draw(rows)
        if as_json:
            answer({"protocols": judged.to_json(rows), "locks": locks.to_json(), "searches": self._searches(found)})
        else:
            uncompared = [] if self.accept or self._has_accepted() else [f"Not compared: {_NOT_INSTALLED}"]
            for line in [*table(rows), *changed, *uncompared, *locks.lines(), *self._cached(), *self._untouched(found)]:
                echo(line)
        for line in judged.messages(missing):
            echo(f"Error: {line}", err=True)
        if self.accept and missing:
            echo("Error: nothing was accepted, because some searches failed", err=True)
        doubts = missing or any(str(cell.verdict) == "UNDETERMINED" for row in rows for cell in row.cells.values())
        return gravest([
            Exit.AGREES, *([Exit.VIOLATED] if changed else []), *([Exit.UNDETERMINED] if doubts else []),
            *([Exit.COULD_NOT_RUN] if any(each.failed for each in missing) else []), locks.exit(),
        ])  # fmt: skip

    def _data(self, rows: tuple[MatrixRow, ...], depth: Depth) -> dict[str, Any]:
        """Return the matrix as JSON data. Rows and columns that were not searched come from the accepted matrix."""
        from nbcc.simulator.search import verdicts as judged

        found = judged.to_data(rows, depth)
        whole = not self.promises and len(self.chosen) == len(judged.protocols())
        if whole or not judged.data_path(depth).is_file():
            return found
        return judged.merged(json.loads(judged.data_path(depth).read_text("utf-8")), found, depth)

    def _accepted(self) -> Path:
        from nbcc.simulator.search import verdicts as judged

        return judged.data_path(self.level)

    def _has_accepted(self) -> bool:
        return self.level == "quick" or self._accepted().is_file()

    def interrupted(self) -> str:
        if self.cache:
            saved = f"they are saved in {self.cache.path}; the same command continues from there"
        else:
            saved = "nothing was saved; --checkpoint FILE saves each finished search"
        return f"interrupted after {self.ended:,} of {self.total:,} searches: {saved}"

    def _searches(self, found: tuple[MatrixRow, ...]) -> dict[str, int]:
        cached, untouched = self.cache.hits if self.cache else 0, _untouched(found)
        return {"cached": cached, "untouched": untouched, "made": self.total - cached - untouched}

    def _untouched(self, found: tuple[MatrixRow, ...]) -> Iterator[str]:
        if untouched := _untouched(found):
            yield ""
            yield f"{untouched:,} searches left out: they read nothing in which their protocol differs from another"

    def _cached(self) -> Iterator[str]:
        if self.cache:
            yield ""
            yield f"{self.cache.hits:,} searches taken from {self.cache.path}, {self.cache.misses:,} made"

    def _write(self, found: tuple[MatrixRow, ...]) -> None:
        """Write the verdict files of the search depth `--depth` and of all smaller depths."""
        from nbcc.simulator.lockstep.findings import confirmed
        from nbcc.simulator.search import verdicts as judged

        texts = {}
        for depth in judged.DEPTHS[: judged.DEPTHS.index(self.level) + 1]:
            rows = judged.believable(confirmed(judged.within(found, depth)), self.kills)
            texts[judged.data_path(depth)] = judged.to_text(self._data(rows, depth))
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


def _untouched(found: tuple[MatrixRow, ...]) -> int:
    return sum(each.taken for row in found for each in row.searched)
