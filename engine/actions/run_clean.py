"""Runs a planned clean: deletes the planned files, one file group after the other, then publishes the completed clean.
"""

from __future__ import annotations

import time

from ..config import TableConfig
from ..context import Context
from ..errors import Unsupported
from ..file_names import in_partition, parse_base, parse_log
from ..files.group_files import Group
from ..reads.times import Time
from ..services.resume import completed, resumed
from ..timeline import Instant, put_inflight
from ..timeline.cleans import CleanPlan, encode_clean

ACTION = "clean"


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Delete the files listed in the plan of a clean, and publish the completed clean. Any process may run the pending
    plan. The plan may list files that no longer exist.

    `instant` is the clean or its requested time (default: the oldest pending clean). Returns the completed clean, even
    if another process completed the clean; None if no clean is pending.
    """
    config.check_writable()
    _, found, plan = resumed(context, ACTION, instant, context.commits.clean)
    if found is None or plan is None:
        return found
    requested, begun = found.requested, time.monotonic_ns()
    put_inflight(context.storage, requested, ACTION, again=True)
    for paths in by_group(plan).values():
        context.storage.delete_all(paths)
    took = (time.monotonic_ns() - begun) // 1_000_000
    return completed(context, ACTION, requested, encode_clean(plan, requested, took))


def by_group(plan: CleanPlan) -> dict[Group, list[str]]:
    """Return the paths of the files in a clean plan, grouped by file group, in the order of partition and file id."""
    groups: dict[Group, list[str]] = {}
    for partition, names in plan.files.items():
        for name in names:
            parsed = parse_base(name) or parse_log(name)
            if parsed is None:
                raise Unsupported(
                    "carry out a clean",
                    f"its plan lists {in_partition(partition, name)}, which is neither a base file nor a log file",
                    "carry it out with the engine that planned it",
                )
            groups.setdefault((partition, parsed.file_id), []).append(in_partition(partition, name))
    return dict(sorted(groups.items()))
