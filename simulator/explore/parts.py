"""One search by several machines: each walks every state and watches a part of the promises; and cells on Spark.

Judging promises takes most of the time of a search with all of them, and the states of one are the states of each: so
the parts agree on sizes, or something is wrong, and together say what one process would. Processes of one machine can
talk to each other and need not all walk: `judges`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from typing import Any

from .cells import Cell, search_cell, search_cells, try_cell, watched
from .lost import lost
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
    raises: bool = True,
    done: Callable[[Cell, Result], None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[Cell, Result]]:
    """As `search_cells`, each cell a job of a Spark cluster whose workers can import nbcc; `memory` is that of a cell.

    How far a search is, is not known here; `workers` is what the cluster has.
    """
    bounds = {name: value for name, value in bounds.items() if name not in ("workers", "progress")}
    work = partial(search_cell if raises else try_cell, **bounds)
    yield from on_spark(spark, work, cells, done=done, failed=None if raises else lost)


def on_spark(
    spark: Any,
    work: Callable[[Any], Any],
    values: Sequence[Any],
    *,
    done: Callable[[Any, Any], None] | None = None,
    failed: Callable[[Exception], Any] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Every value with what `work` makes of it on the cluster, in the order given, as many at once as it has cores.

    `done` hears of each as soon as it is made. `failed` says what there is of one whose job failed; without it, that is
    an error.
    """

    def one(value: Any) -> Any:
        try:
            return spark.sparkContext.parallelize([value], 1).map(work).collect()[0]
        except Exception as error:  # a job fails in any way; what is left of its value is for the caller to say
            if failed is None:
                raise
            return failed(error)

    told = 0
    with ThreadPoolExecutor(MOST_JOBS) as jobs:
        running = [jobs.submit(one, value) for value in values]
        of = dict(zip(running, values, strict=True))
        try:
            for job in as_completed(running):
                made = job.result()
                if done:
                    done(of[job], made)
                while told < len(running) and running[told].done():
                    yield values[told], running[told].result()
                    told += 1
        except BaseException:  # an error or Ctrl-C: nobody waits for those that have not begun, nor for the others
            jobs.shutdown(wait=False, cancel_futures=True)
            spark.sparkContext.cancelAllJobs()
            raise
