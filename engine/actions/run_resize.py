"""Runs the plan of a resize: writes the new file groups, copies late logs in rounds, and replaces the old groups.

Any process may run a pending plan. A late log completes after the plan's requested time K in an old file group. Under
the lock, the resize looks for late logs that it has not copied. If there are some, it releases the lock, copies them
into the new file groups as logs of instant K, and tries again; otherwise it completes. So the new file groups hold
exactly what completed before the resize. A round copies what completes during the round before, so rounds shrink while
copies are faster than writers. Once `ROUNDS` rounds have not sufficed and rounds no longer shrink, the resize copies
the last late logs under the lock: a writer waits at most for the copies of one round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from typing import Final

from ..config import TableConfig
from ..context import Context
from ..data.tasks import WrittenFile
from ..definition.load import with_current_schema
from ..file_names import TOMBSTONES
from ..lock import HeldLock, held
from ..reads.times import Time
from ..services.resizing import FilesToCopy, LateLogs, base_tasks, empty_tasks, late_files
from ..services.resume import completed, files_or_completed, resumed
from ..timeline import Instant, Timeline, put_inflight
from ..timeline.history import Active
from ..timeline.resize_plans import CLUSTERING, ResizePlan
from ..writes.commits import resize_commit
from ..writes.mapping import move_tasks, put_partitions

ROUNDS: Final = 5
"""How often a resize at least tries to complete before it copies late logs under the lock."""

SHRINKS: Final = 0.75
"""A round shrinks if its late logs have at most this share of the bytes of the round before."""


def run(context: Context, config: TableConfig, instant: Time | None = None) -> Instant | None:
    """Run a pending resize. Returns None if no resize is pending. The completed resize is also returned if another
    process completed it.
    """
    config.check_writable()
    config = with_current_schema(context.storage, config)
    read = context.commits.resize_plan_or_none

    def is_ours(timeline: Timeline, plan: Instant) -> bool:
        return read(plan.requested) is not None

    active, found, plan = resumed(context, CLUSTERING, instant, read, is_ours)
    if found is None or plan is None:
        return found
    put_inflight(context.storage, found.requested, CLUSTERING, again=True)
    return _Resize(context, config, active, found.requested, plan).run()


class _Resize:
    """One run of a pending resize. `_files` are the files that it has put, and `_copied` is the completion time up to
    which it has copied late logs. `_partitions` are those in which it has put base files.
    """

    def __init__(
        self, context: Context, config: TableConfig, active: Active, requested: str, plan: ResizePlan
    ) -> None:
        self._context, self._config, self._active = context, config, active
        self._requested, self._plan = requested, plan
        self._files: list[WrittenFile] = []
        self._replaced = {*plan.groups}
        self._partitions: set[str] = set()
        # The first copies get the version after that of the logs with kept deletes.
        self._copied, self._version = requested, TOMBSTONES

    def run(self) -> Instant:
        # Infinite, so that the first round counts as one that has shrunk.
        done, rounds, size = self._put(self._bases), 0, inf
        while done is None:
            try:
                return self._complete(self._context)
            except LateLogs as found:
                done = self._put(partial(self._copies, found.late))
                rounds, before, size = rounds + 1, size, found.late.size
                # A fixed number of rounds would leave minutes of copies to the lock after a long first round.
                if done is None and rounds >= ROUNDS and size > SHRINKS * before:
                    return self._last_round()
        return done

    def _last_round(self) -> Instant:
        """Copy under the lock what has completed since the last round, and complete the resize."""
        context = self._context
        with held(context.lock):
            # Listed again under the lock, which is held from here to the publication: nothing completes in between.
            late = late_files(context, context.active(), self._copied)
            done = self._put(partial(self._copies, late)) if late.files else None
            lock, commits, heartbeats = HeldLock(context.lock), context.commits, context.heartbeats
            return done or self._complete(replace(context, lock=lock, own_commits=commits, own_heartbeats=heartbeats))

    def _put(self, work: Callable[[], list[WrittenFile]]) -> Instant | None:
        files = files_or_completed(self._context, CLUSTERING, self._requested, work)
        if isinstance(files, Instant):
            return files
        self._files += files
        return None

    def _bases(self) -> list[WrittenFile]:
        timeline = self._context.history(self._active).whole
        tasks = base_tasks(self._context, self._config, timeline, self._requested, self._plan.generation)
        self._partitions = {task.slice.partition for task in tasks}
        put_partitions(self._context, self._config, self._partitions, self._requested)
        self._replaced |= {(source.partition, source.file_id) for task in tasks for source in task.sources}
        return self._context.jobs.compact(tasks)

    def _copies(self, late: FilesToCopy) -> list[WrittenFile]:
        context, config, generation = self._context, self._config, self._plan.generation
        partitions = {partition for partition, _ in late.groups} - self._partitions
        self._partitions |= partitions
        empty = empty_tasks(context, config, partitions, self._requested, generation)
        self._version += 1
        copies = move_tasks(context, config, self._requested, late.files, generation, self._version)
        # A late write may have filled a group that did not exist when the resize was planned.
        self._replaced |= late.groups
        self._copied = late.until
        return context.jobs.compact([*empty, *copies])

    def _complete(self, context: Context) -> Instant:
        commit = resize_commit(self._config, self._requested, self._plan.generation, self._files, self._replaced)
        return completed(context, CLUSTERING, self._requested, commit, self._files, self._check)

    def _check(self, now: Active | None) -> None:
        late = late_files(self._context, now or self._context.active(), self._copied)
        if late.files:
            raise LateLogs(late)
