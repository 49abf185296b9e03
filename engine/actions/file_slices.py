"""Lists the file slices of every file group, including superseded slices."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..files.slices import FileSlice
from ..reads.tasks import slices_as_of
from ..reads.times import Time, instant_of
from ..reads.travel import settled_at
from ..timeline import load_settled

ASKED = "look at the file slices as of"


def run(context: Context, config: TableConfig, as_of: Time | None = None) -> tuple[FileSlice, ...]:
    """Return all file slices, at present or as of the time `as_of`. The slices are ordered by partition, file id and
    barrier (the requested time of the base file). The result includes the slice that begins with a pending compaction
    plan.
    """
    if as_of is None:
        return slices_as_of(context, load_settled(context.storage, context.rules, commits=context.commits))
    time = instant_of(as_of, ASKED)
    return slices_as_of(context, settled_at(context, time, ASKED), time)
