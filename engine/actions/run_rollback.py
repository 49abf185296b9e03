"""Run a planned rollback: delete the write's data files, then its instant, then complete the rollback."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..file_names import marker, split_path
from ..lock import held
from ..reads.times import Time
from ..services.resume import completed, plan_to_resume, timeline_with
from ..timeline import Instant, encode_rollback, load_rollback_plan, put_inflight
from ..writes.commit_protocol import ROLLBACK, marked_files, remove_pending


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Undo the write named in the plan of a rollback. Any process may run a pending plan, also while another process
    runs the same plan.

    The markers and the plan stay until all files are deleted, so that an interrupted rollback can be repeated. If the
    writer of the undone write puts files after the rollback, these files have markers, but no completed instant lists
    them. Readers of nbcc ignore files that no completed instant lists.

    `instant` is the rollback, or its requested time; by default the oldest pending rollback. Returns the completed
    instant, also if another process completed it; None if no rollback is pending.
    """
    config.check_writable()
    timeline = timeline_with(context, ROLLBACK, instant)
    found = plan_to_resume(timeline, ROLLBACK, instant)
    if found is None or found.completed:
        return found
    requested = found.requested
    plan = load_rollback_plan(context.storage, requested)
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
