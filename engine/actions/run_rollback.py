"""Runs a planned rollback: deletes the write's data files and instant, then publishes the rollback."""

from __future__ import annotations

from functools import partial

from ..config import TableConfig
from ..context import Context
from ..file_names import marker, split_path
from ..lock import held
from ..reads.times import Time
from ..services.resume import completed, resumed
from ..timeline import Instant, encode_rollback, load_rollback_plan, put_inflight
from ..writes.commit_protocol import ROLLBACK, marked_files, remove_pending


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Undo the write named in a rollback plan. Any process may run a pending plan, even while another process runs the
    same plan.

    The markers and the plan are kept until all data files are deleted, so that an interrupted rollback can be repeated.
    If the failed writer creates more files after the rollback, readers ignore them, because no completed instant lists
    them.

    `instant` is the rollback or its requested time (default: the oldest pending rollback). Returns the completed
    rollback, even if another process completed the rollback; None if no rollback is pending.
    """
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
    with held(context.lock):
        remove_pending(context, plan.target, plan.action)
    for path in files:
        context.storage.delete(marker(plan.target, *split_path(path)))
    return completed(context, ROLLBACK, requested, encode_rollback(requested, plan, files, context.storage.url))
