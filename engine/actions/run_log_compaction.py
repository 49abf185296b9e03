"""Runs a log compaction plan: in each file group, one new log replaces the planned logs.

Any process may run a pending plan. The operation returns the completed log compaction, even if another process
completed it.
"""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..data.shape import table_shape
from ..data.tasks import LogCompactTask, ReadTask, WrittenFile
from ..definition.load import with_current_schema
from ..reads.times import Time
from ..services.inputs import PlanInputs
from ..services.resume import completed, files_or_completed, resumed
from ..timeline import LOG_COMPACTION, CompactionOperation, Instant, Timeline, put_inflight
from ..writes.commits import log_compaction_commit


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Run a pending log compaction plan, by default the oldest plan. Returns None if no plan is pending."""
    config.check_writable()
    # Another process may have added columns since this one opened the table.
    config = with_current_schema(context.storage, config)
    timeline, found, plan = resumed(
        context, LOG_COMPACTION, instant, context.commits.log_plan, Timeline.is_log_compaction
    )
    if found is None or plan is None:
        return found
    requested = found.requested
    put_inflight(context.storage, requested, LOG_COMPACTION, again=True)

    def compact() -> list[WrittenFile]:
        inputs = PlanInputs(context, timeline, requested)
        return context.jobs.compact([_task(config, inputs, operation, requested) for operation in plan.operations])

    files = files_or_completed(context, LOG_COMPACTION, requested, compact)
    if isinstance(files, Instant):
        return files
    return completed(context, LOG_COMPACTION, requested, log_compaction_commit(config, plan, files), files)


def _task(config: TableConfig, inputs: PlanInputs, operation: CompactionOperation, requested: str) -> LogCompactTask:
    shape = table_shape(config, inputs.context.rules)
    logs = tuple(inputs.logs(operation))
    return LogCompactTask(ReadTask(shape, operation.partition, operation.file_id, logs=logs), requested)
