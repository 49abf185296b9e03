"""Runs a planned rollback: deletes the write's data files and instant, then publishes the rollback.

Any process may run a pending plan, even while another process runs the same plan. The operation returns the completed
rollback, even if another process completed the rollback.

The markers and the plan are kept until all data files are deleted, so that an interrupted rollback can be repeated. If
the failed writer creates more files after the rollback, readers ignore them, because no completed instant lists them.
"""

from __future__ import annotations

from functools import partial

from ..config import TableConfig
from ..context import Context
from ..file_names import marker, split_path
from ..reads.times import Time
from ..services.resume import completed, resumed
from ..timeline import Instant, encode_rollback, load_rollback_plan, put_inflight
from ..writes.attempts import marked_files
from ..writes.commit_protocol import ROLLBACK, remove_pending
from ..writes.decision_log import in_order


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Run a pending rollback plan, by default the oldest. Returns None if no rollback is pending."""
    config.check_writable()
    read = partial(load_rollback_plan, context.storage)
    timeline, found, plan = resumed(context, ROLLBACK, instant, read)
    if found is None or plan is None:
        return found
    requested = found.requested
    put_inflight(context.storage, requested, ROLLBACK, again=True)
    # A failed writer of Hudi's may have announced its files in another way; then the plan alone knows them.
    left_to_undo = timeline.find(plan.target, plan.action) is not None
    files = marked_files(context, plan.target) or (list(plan.files) if left_to_undo else [])
    for path in files:
        context.storage.delete(path)
    with in_order(context):
        remove_pending(context, plan.target, plan.action)
    for path in files:
        context.storage.delete(marker(plan.target, *split_path(path)))
    return completed(context, ROLLBACK, requested, encode_rollback(requested, plan, files, context.storage.url))
