"""Carry out a planned rollback: the write's data files go, then its instant, then the rollback is completed."""

from __future__ import annotations

from ..config import TableConfig
from ..context import Context
from ..errors import BadInput
from ..files.names import marker, split_path
from ..lock import held
from ..reads.times import Time
from ..timeline import Instant, Timeline, encode_rollback, load, load_rollback_plan, put_inflight
from ..writing import ROLLBACK, complete, load_with, marked_files, named, remove_pending


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Undo what a plan says. Anybody may take up a pending plan, also while another is at work on it.

    Markers and the plan stay until all files are gone, so that a rollback that dies half way can be done again. Files
    of the write that land later keep their markers; no completed instant lists them, so that nobody of ours reads them.

    `instant`: the rollback's, as an Instant or its requested time; by default the oldest pending one. Returns the
    completed instant; that of another runner if it was faster; None if no rollback is pending.
    """
    config.check_writable()
    timeline = load(context.storage) if instant is None else load_with(context, named(instant), ROLLBACK)
    requested = _chosen(timeline, instant)
    if requested is None:
        return None
    if done := _completed(timeline, requested):
        return done
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
    return complete(
        context,
        requested,
        ROLLBACK,
        files=(),
        commit=encode_rollback(requested, plan, files, context.storage.url),
        completed_by_another=lambda: _completed(load_with(context, requested, ROLLBACK), requested),
        beats=False,
    )


def _chosen(timeline: Timeline, instant: Time | None) -> str | None:
    pending = [each.requested for each in timeline.pending if each.action == ROLLBACK]
    if instant is None:
        return next(iter(pending), None)
    requested = named(instant)
    if timeline.find(requested, ROLLBACK) is None:
        raise BadInput(
            f"run the rollback {requested}",
            "the timeline has no rollback with that requested time",
            f"name one that is pending ({', '.join(pending)})" if pending else "schedule one first; none is pending",
        )
    return requested


def _completed(timeline: Timeline, requested: str) -> Instant | None:
    found = timeline.find(requested, ROLLBACK)
    return found if found is not None and found.completed else None
