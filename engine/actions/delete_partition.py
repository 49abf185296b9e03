"""Deletes all rows of the given partitions.

Raises `BadInput` and publishes nothing if one of the partitions has no completed write.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from ..arguments import texts
from ..config import TableConfig
from ..context import Context
from ..errors import BadInput
from ..files.slices import find_files
from ..services.replacing import replace_partitions
from ..timeline import Instant

OPERATION = "DELETE_PARTITION"


def run(context: Context, config: TableConfig, partitions: Collection[str]) -> Instant:
    """Delete all rows of the partitions with the paths `partitions`, like `insert_overwrite` with no rows."""
    config.check_writable()
    # A single text would otherwise be taken for a collection of its letters.
    listed = [partitions] if isinstance(partitions, str) else partitions
    named = set(texts(listed, f"delete the partitions {partitions!r}"))
    asked = f"delete the partitions {', '.join(sorted(named)) or '(none)'}"
    files = find_files(context.storage, context.history().whole, context.commits, context.rules)
    there = {file.partition for file in files}
    unknown = sorted(named - there)
    if unknown or not named:
        near = get_close_matches(unknown[0], there, 1) if unknown else []
        known = ", ".join(sorted(filter(None, there))) or "no partitions"
        raise BadInput(asked, f"the table has {known}", f"did you mean {near[0]!r}" if near else "name some of these")
    return replace_partitions(context, config, named, None, OPERATION)
