"""Pictures of tables, traces and verdicts with matplotlib, in the encodings of the page (extra ``viz``).

What is drawn is a Hudi table (a `Table`, its path, or what `inspect` found in it) or a trace of the model (a `Trace` or
its ``.json`` file). Times are named t1, t2, ... in the order of the table's one clock, so that the two pictures of a
table and those of a trace speak of the same times.
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
    from nbcc.simulator.explore import Result
    from nbcc.simulator.trace import Trace

    Drawable = Table | Inventory | Trace | str | os.PathLike[str]
    Verdicts = Mapping[str, Result | Mapping[str, Any]]


def draw_timeline(
    table_or_trace: Drawable, ax: Axes | None = None, *, as_of: Time | None = None, step: int | None = None
) -> Axes:
    """Every instant as a bar in time: hollow circle where it was requested, filled where it completed.

    A pending instant is dashed, a cross ends one whose actor died, and the requested time of a compaction is a line
    through all lanes, the barrier. A trace has a lane an actor; of a table it is not known who wrote, so that writes
    that overlap lie on different lanes. `as_of`: a table as it was then; `step`: a trace after so many steps, by
    default where it breaks its promise. Without `ax` a figure of its own is made.
    """
    from .matplotlib_painter import paint
    from .timeline import timeline

    return paint(timeline(_scenes(table_or_trace, as_of, step)[0]), ax)


def draw_slices(
    table_or_trace: Drawable, ax: Axes | None = None, *, as_of: Time | None = None, step: int | None = None
) -> Axes:
    """Every file group as a stack of file slices, the newest on top, parted by barriers.

    A base file is a wide block, a log file a chip in the hue of its writer: filled while a snapshot merges it, outlined
    once a base file holds its rows, dashed while its write is not completed. What no snapshot reads is hatched.
    `as_of`, `step`, `ax` as in `draw_timeline`.
    """
    from .matplotlib_painter import paint
    from .slices import slices

    return paint(slices(_scenes(table_or_trace, as_of, step)[1]), ax)


def draw_verdicts(results: Verdicts, ax: Axes | None = None) -> Axes:
    """Settings by promises: a verdict has a shape as well as a colour, a violation the length of its shortest trace.

    `results` maps the name of a setting to the result of `explore`, or to {promise: verdict}, where a verdict is its
    word, or a mapping with ``verdict`` and ``steps``; the value of ``nbcc verdicts --json`` is understood as well.
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
            raise TypeError("step= is for traces; of a table, as_of= is an earlier time")
        return scenes_of_table(given, as_of)
    if as_of is not None:
        raise TypeError("as_of= is for tables; of a trace, step= is an earlier moment")
    from .trace_scene import scenes_of_trace

    return scenes_of_trace(given, step)
