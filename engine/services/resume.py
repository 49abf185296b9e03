"""Finds the plan that a table service runs: the plan that the caller names, or the oldest pending plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from ..context import Context
from ..data.tasks import WrittenFile
from ..errors import BadInput, Cleaned, Conflict
from ..reads.times import Time
from ..storage import NotFound
from ..timeline import Instant, Timeline
from ..timeline.history import Active
from ..writes.announced import complete_plan
from ..writes.attempts import forget_markers, marked_files
from ..writes.commit_protocol import complete
from ..writes.decision_log import decides_without_lock

P = TypeVar("P")


def timelines_with(context: Context, action: str, instant: Time | None) -> tuple[Active, Timeline]:
    """Return the active timeline, and the timeline that shows `instant`: the active one, or else the whole. A pending
    state of an archived instant does not count, because a stalled actor put it late.
    """
    active = context.without_late_states(context.active())
    is_active = instant is None or active.find(_named(instant), action)
    return active, active if is_active else context.history(active).whole


class Resumed(NamedTuple, Generic[P]):
    """The plan that a service runs: the active timeline, the plan's instant, and the plan if it is pending. `instant`
    is None if no plan is pending.
    """

    active: Active
    instant: Instant | None
    plan: P | None


def resumed(
    context: Context,
    action: str,
    instant: Time | None,
    read: Callable[[str], P],
    among: Callable[[Timeline, Instant], bool] = lambda _, each: True,
) -> Resumed[P]:
    """Return what `plan_to_resume` returns, and the plan that `read` reads. If another process removes a plan after the
    listing, the timeline is listed again.
    """
    active, timeline = timelines_with(context, action, instant)
    while True:
        try:
            found = plan_to_resume(timeline, action, instant, partial(among, timeline))
            plan = None if found is None or found.completed else read(found.requested)
            return Resumed(active, found, plan)
        except (NotFound, Cleaned):
            listed = timeline
            active, timeline = timelines_with(context, action, instant)
            # The second listing shows the plan still there, so its file is lost. Otherwise another process removed it.
            if timeline.instants == listed.instants:
                raise


def plan_to_resume(
    timeline: Timeline, action: str, instant: Time | None, among: Callable[[Instant], bool] = lambda _: True
) -> Instant | None:
    """Return the instant with the requested time `instant` and the given action, whether pending or completed. If
    `instant` is None, return the oldest pending instant of the action, or None.

    Several services use the same timeline action, so the predicate `among` selects the instants of the caller's
    service.

    Raises `BadInput` if no instant of the caller's service has the given requested time.
    """
    pending = [each for each in timeline.pending if each.action == action and among(each)]
    if instant is None:
        return next(iter(pending), None)
    requested = _named(instant)
    named = timeline.find(requested, action)
    if named is not None and among(named):
        return named
    names = ", ".join(each.requested for each in pending)
    raise BadInput(
        f"run the {action} {requested}",
        f"the timeline has no {action} with that requested time",
        f"name one that is pending ({names})" if pending else "schedule one first; none is pending",
    )


def _completed_by_another(context: Context, action: str, requested: str) -> Instant | Conflict | None:
    """Return the instant if another process has completed it, None if it is pending, and `Conflict` if its plan was
    removed.
    """
    _, timeline = timelines_with(context, action, requested)
    there = timeline.find(requested, action)
    if there is None:
        return Conflict(
            f"complete the {action} {requested}",
            "its plan is no longer on the timeline: a restore has undone it, or it was dropped",
            f"plan another {action}, if there is anything to do",
        )
    return there if there.completed else None


def files_or_completed(
    context: Context, action: str, requested: str, work: Callable[[], Sequence[WrittenFile]]
) -> Sequence[WrittenFile] | Instant:
    """Return the files that `work` wrote for a plan. If `work` fails because another process has completed the plan,
    return the completed instant.

    Once another process has completed the plan, a clean may delete the plan's inputs, so that `work` fails.

    Raises `Conflict` if `work` fails after a restore has undone the plan.
    """
    try:
        return work()
    except Exception as error:  # Spark wraps the error of a missing input, so that its class is unknown
        there = _completed_by_another(context, action, requested)
        if there is None:
            raise
        if isinstance(there, Conflict):
            raise there from error
        listed = {stat.path for stat in context.commits.commit(there).stats}
        for path in marked_files(context, requested):
            # The markers name the files of all attempts, also of the one that has completed.
            if path not in listed:
                context.storage.delete(path)
        forget_markers(context, requested)
        return there


def completed(
    context: Context,
    action: str,
    requested: str,
    commit: bytes,
    files: Sequence[WrittenFile] = (),
    check: Callable[[Active | None], None] = lambda _: None,
) -> Instant:
    """Publish `files` as the result of a plan, and return the completed instant. If another process has completed the
    plan first, delete `files` and return that process's instant. `check` is called last under the lock; it may raise
    `LeavesLock`.
    """
    faster = partial(_completed_by_another, context, action, requested)
    if decides_without_lock(context):
        return complete_plan(context, requested, action, files=files, commit=commit, by_another=faster)
    return complete(
        context, requested, action, files=files, commit=commit, completed_by_another=faster, has_heartbeat=False,
        refused_by=check,
    )  # fmt: skip


def _named(instant: Time) -> str:
    return instant.requested if isinstance(instant, Instant) else str(instant)
