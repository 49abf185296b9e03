"""One search by several processes: each walks every state and watches a part of the promises; and cells on Spark.

Judging promises takes most of the time of a search with all of them, and the states of one are the states of each: so
the parts agree on sizes, or something is wrong, and together say what one process would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from .cells import Cell, search_cell, search_cells, watched
from .result import PromiseResult, Result

Search = Callable[..., Iterator[tuple[Cell, Result]]]
MOST_JOBS = 64
"""Cells of a matrix that Spark is given at once; it runs as many as it has cores."""


def explore_in_parts(cell: Cell, parts: int, search: Search = search_cells, **bounds: Any) -> Result:
    """What `search_cell` finds, by at most so many processes; `search` and `bounds` as of `search_cells`.

    `memory` (GiB) is divided among them. Which of several shortest counterexamples is told may differ.
    """
    names = [promise.name for promise in watched(cell.system(), cell.promises)[0]]
    shares = [tuple(names[part::parts]) for part in range(min(parts, len(names)))]
    cells = [replace(cell, promises=share, beside=tuple(names)) for share in shares]
    return _together([result for _, result in search(cells, workers=len(cells), **bounds)], names)


def _together(results: Sequence[Result], names: Iterable[str]) -> Result:
    """The first result with the promises of all. A part that was stopped has its own reason."""
    first = results[0]
    ended = [result for result in results if result.stopped is None]
    if sizes := {(r.distinct, r.generated, r.depth) for r in ended} - {_sizes(ended[0])} if ended else ():
        raise AssertionError(f"parts of one search found other sizes: {sizes} beside {_sizes(ended[0])}")
    found: dict[str, PromiseResult] = {}
    for result in results:
        found |= result.promises
    covered = first.coverage and replace(
        first.coverage, untested=tuple(name for r in results if r.coverage for name in r.coverage.untested)
    )
    return replace(
        first,
        seconds=max(result.seconds for result in results),
        stopped=next((result.stopped for result in results if result.stopped), None),
        canary=None if first.canary is None else all(result.canary for result in results),
        promises={name: found[name] for name in (*names, *found) if name in found},
        coverage=covered,
    )


def _sizes(result: Result) -> tuple[int, int, int]:
    return result.distinct, result.generated, result.depth


def search_on_spark(
    spark: Any,
    cells: Sequence[Cell],
    *,
    done: Callable[[Cell, Result], None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[Cell, Result]]:
    """As `search_cells`, each cell a job of a Spark cluster whose workers can import nbcc; `memory` is that of a cell.

    How far a search is, is not known here; `workers` is what the cluster has.
    """
    bounds = {name: value for name, value in bounds.items() if name not in ("workers", "progress")}
    for cell, result in on_spark(spark, partial(search_cell, **bounds), cells):
        if done:
            done(cell, result)
        yield cell, result


def on_spark(spark: Any, work: Callable[[Any], Any], values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Every value with what `work` makes of it on the cluster, in the order given, as many at once as it has cores."""

    def one(value: Any) -> Any:
        return spark.sparkContext.parallelize([value], 1).map(work).collect()[0]

    with ThreadPoolExecutor(MOST_JOBS) as jobs:
        yield from zip(values, jobs.map(one, values), strict=True)
