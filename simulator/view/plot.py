"""Draws tables, traces and verdicts with matplotlib (extra ``viz``).

A picture shows a Hudi table (a `Table`, a path or an `Inventory`) or a trace of the model (a `Trace` or a ``.json``
file). Times are named t1, t2, ... in chronological order. A time has the same name in all pictures of a table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .scene import Files, Times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nbcc.engine.audit import Inventory
    from nbcc.engine.reads.times import Time
    from nbcc.engine.table import Table
    from nbcc.simulator.search.explore import Result
    from nbcc.simulator.trace import Trace

    Drawable = Table | Inventory | Trace | str | os.PathLike[str]
    Verdicts = Mapping[str, Result | Mapping[str, Any]]


def draw_timeline(
    table_or_trace: Drawable, ax: Axes | None = None, *, as_of: Time | None = None, step: int | None = None
) -> Axes:
    """Draw every instant as a bar from its requested time (hollow circle) to its completion (filled circle).

    A pending instant is dashed. A cross marks the end of an instant whose actor crashed. The requested time of a
    compaction (barrier) is a line through all lanes. A trace has one lane for each actor. A table does not record its
    writers, so overlapping writes get different lanes. Use `as_of` to show a table at an earlier time. Use `step` to
    show a trace after this number of steps; the default is the step that violates the trace's promise. If `ax` is None,
    a new figure is created.
    """
    from .matplotlib_painter import paint
    from .timeline import timeline

    return paint(timeline(_scenes(table_or_trace, as_of, step)[0]), ax)


def draw_slices(
    table_or_trace: Drawable, ax: Axes | None = None, *, as_of: Time | None = None, step: int | None = None
) -> Axes:
    """Draw every file group as a stack of file slices, newest on top, separated by barriers (requested times of
    compactions).

    A base file is drawn as a wide block, and a log file as a small box in the colour of its writer. A log's box is
    filled if a snapshot reads the log, and outlined if a base file contains the log's rows. A log's box is dashed while
    its write is pending. Hatched files are not read by any snapshot. The arguments `as_of`, `step` and `ax` are the
    same as in `draw_timeline`.
    """
    from .matplotlib_painter import paint
    from .slices import slices

    return paint(slices(_scenes(table_or_trace, as_of, step)[1]), ax)


def draw_verdicts(results: Verdicts, ax: Axes | None = None) -> Axes:
    """Draw a matrix of protocols and promises, with a shape for each verdict. A violation is labelled with the number
    of steps of a shortest counterexample.

    `results` maps the name of a protocol to a result of `explore` or to {promise: verdict}. A verdict is a word, or a
    mapping with the keys ``verdict`` and ``steps``. `results` may also be the JSON value that ``nbcc verdicts --json``
    prints.
    """
    from .matplotlib_painter import paint
    from .verdict_matrix import verdict_matrix

    return paint(verdict_matrix(results), ax)


def _scenes(given: Drawable, as_of: Time | None, step: int | None) -> tuple[Times, Files]:
    from ..trace import Trace, load

    if isinstance(given, (str, os.PathLike)) and os.fspath(given).endswith(".json"):
        given = load(os.fspath(given))
    if not isinstance(given, Trace):
        from .table_scene import scenes_of_table

        if step is not None:
            raise TypeError("step= is for traces; use as_of= for an earlier time of a table")
        return scenes_of_table(given, as_of)
    if as_of is not None:
        raise TypeError("as_of= is for tables; use step= for an earlier moment of a trace")
    from .figure import scenes_of_trace

    return scenes_of_trace(given, step)
