"""Lists the file slices of every file group, including superseded slices.

The result includes the slice that begins with a pending compaction plan.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..files.slices import FileSlice
from ..reads.tasks import slices_as_of
from ..reads.times import Time, instant_of
from ..reads.travel import settled, settled_at

ASKED = "look at the file slices as of"


def run(context: Context, config: TableConfig, as_of: Time | None = None) -> tuple[FileSlice, ...]:
    """Return all file slices at present or as of a time, sorted by partition, file group and barrier (requested
    time of the base file).
    """
    if as_of is None:
        return slices_as_of(context, settled(context))
    time = instant_of(as_of, ASKED)
    return slices_as_of(context, settled_at(context, time, ASKED), time)
