"""Runs each table service that is due under a maintenance policy.

The services run in the order rollback, resize, compaction, log compaction, clean, archiving, state checkpoint,
collection of leftover files. Plans completed by another process are not run again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..config import TableConfig
from ..config.maintenance import Compaction, MaintenancePolicy
from ..context import Context
from ..errors import BadInput, Conflict, LockTimeout, NbccError
from ..lock import InProcessLock
from ..reads.times import Time
from ..services.collecting import MarkerPaths, leftovers
from ..services.retirement import retire_unneeded
from ..services.triggers import (
    Reasons,
    archive_due,
    checkpoint_due,
    clean_due,
    compaction_due,
    log_compaction_due,
    measure,
    resize_due,
)
from ..storage import TRANSIENT
from ..storage.recording import Recording
from ..timeline import CompactionPlan, Instant, Timeline
from ..timeline.commits import Commits
from ..timeline.history import Active, Current
from ..writes.decision_log import uses_decision_log
from ..writes.mapping import current_generation, pending_resize
from . import (
    Operation,
    archive,
    checkpoint_state,
    collect,
    rollback,
    run_clean,
    run_compaction,
    run_log_compaction,
    run_resize,
    schedule_clean,
    schedule_compaction,
    schedule_log_compaction,
    schedule_resize,
)

STATE: Final = "state"
"""The service of the last step of a pass, which only measures the table."""


@dataclass(frozen=True, slots=True)
class ServiceStep:
    """One action of a maintenance pass, which runs every due table service once.

    `service` is rollback, resize, compact, log_compact, clean, archive, checkpoint, collect or state. `did` states the
    result of the step, such as "ran" or "planned", or "would plan" in a dry run. `instants` lists the requested times
    of the step's instants. `counts` contains the numbers of files, rows or instants that the step processed. `because`
    contains the counts that made the service due, such as ``{"commits": 5}``.
    """

    service: str
    did: str
    instants: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    because: Reasons = field(default_factory=dict)
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """Return the step as a dictionary that can be written as JSON."""
        return {
            "service": self.service,
            "did": self.did,
            "instants": [*self.instants],
            "counts": dict(self.counts),
            "because": dict(self.because),
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        """Return a one-line report, such as ``compact 20260101120000000: ran, 8 logs (because 5 commits), 0.4 s``."""
        names = f" {' '.join(self.instants[:1])}{f' and {len(self.instants) - 1} more' if self.instants[1:] else ''}"
        counts = "".join(f", {count} {name}" for name, count in self.counts.items())
        because = f" (because {', '.join(f'{n} {name}' for name, n in self.because.items())})" if self.because else ""
        return f"{self.service}{names.rstrip()}: {self.did}{counts}{because}, {self.seconds:.1f} s"


def run(
    context: Context, config: TableConfig, policy: MaintenancePolicy | None = None, *, dry_run: bool = False
) -> tuple[ServiceStep, ...]:
    """Run all table services that are due: rollback, resize, compaction, clean, archiving and the deletion of leftover
    files.

    Returns a `ServiceStep` for each action, and a final step with the numbers of instants, writes and logs.
    `step.record()` can be written as JSON. Several processes may run `maintain` at the same time. If `dry_run` is
    True, `maintain` changes nothing. The command `nbcc serve TABLE` calls `maintain` repeatedly.
    """
    return tuple(steps(context, config, policy or MaintenancePolicy(), dry_run))


def steps(
    context: Context, config: TableConfig, policy: MaintenancePolicy, dry_run: bool = False
) -> Iterator[ServiceStep]:
    """Run all due table services once, and yield each step when it has ended. A caller may stop the iteration between
    two steps.
    """
    config.check_writable()
    if dry_run:
        # No lock is taken, because nothing is published. The pass reads what it would have put.
        context = replace(
            context, storage=Recording(context.storage, dry_run=True), lock=InProcessLock(f"dry run {id(context)}")
        )
    work = _Pass(context, config, policy, dry_run)
    for service in work.services():
        yield from service()
    yield work.measured()


def serve_writer(context: Context, config: TableConfig, policy: MaintenancePolicy) -> None:
    """Run the table services that are due after a writer's commit. If a service fails, the write stays committed, and a
    warning is issued.
    """
    try:
        for _ in steps(context, config, policy):
            pass
    except Exception as failed:  # also errors of Spark, whose class is unknown: the write has committed
        warnings.warn(f"the write is complete, but a service after it failed: {failed}", stacklevel=3)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A service whose plans any process may run. `schedule` and `execute` are its operations."""

    service: str
    schedule: Operation[[], Instant | None]
    execute: Operation[[Time | None], Instant | None]
    due: Callable[[Context, Current, MaintenancePolicy], Reasons]
    pending: Callable[[Context, Timeline], list[Instant]]
    plan: Callable[[Commits, str], CompactionPlan]


def _pending_compactions(context: Context, timeline: Timeline) -> list[Instant]:
    return [i for i in timeline.pending_compactions if not context.commits.plan(i.requested).replaces]


def _pending_log_compactions(_: Context, timeline: Timeline) -> list[Instant]:
    return [i for i in timeline.log_compactions if not i.completed]


COMPACTION: Final = _Planned(
    "compact", schedule_compaction, run_compaction, compaction_due, _pending_compactions, Commits.plan
)
LOG_COMPACTION: Final = _Planned(
    "log_compact", schedule_log_compaction, run_log_compaction, log_compaction_due, _pending_log_compactions,
    Commits.log_plan,
)  # fmt: skip
LEFT: Final = "left to another runner", "left to another runner"


class _Pass:
    def __init__(self, context: Context, config: TableConfig, policy: MaintenancePolicy, dry_run: bool) -> None:
        self.context, self.config, self.policy, self.dry_run = context, config, policy, dry_run

    def services(self) -> tuple[Callable[[], Iterator[ServiceStep]], ...]:
        """Return the services in the order in which they run."""
        return (
            self.rollback, self.resize, self.compact, self.log_compact, self.clean, self.archive, self.checkpoint,
            self.collect,
        )  # fmt: skip

    def rollback(self) -> Iterator[ServiceStep]:
        if self.policy.rollback:
            begun = time.monotonic()
            if undone := rollback.run(self.context, self.config):
                did = "undid failed writes", "would undo failed writes"
                yield self._step("rollback", did, undone, begun, {"writes": len(undone)})

    def resize(self) -> Iterator[ServiceStep]:
        """Run the pending resize, and plan one if the policy asks for it. It runs before the compactions, because none
        is planned while a resize is pending.
        """
        if (mode := self.policy.resize) == "off" or not self.config.merge_on_read:
            return
        if (most := self.policy.resize_bytes) is not None:
            schedule_resize.refuse_table(self.config, f"resize the table when a bucket has more than {most} bytes")
        active = self._active()
        if (pending := pending_resize(self.context, active)) is not None:
            if mode == "run":
                yield self._resized(pending[0], pending[1].generation.buckets, {"pending": 1})
            return
        if most is None:
            return
        now = current_generation(self.context, self.config, active).buckets
        buckets, because = resize_due(self.context, self.context.history(active).current, self.policy, now)
        begun = time.monotonic()
        if because and (planned := schedule_resize.run(self.context, self.config, buckets)) is not None:
            if mode == "run":
                yield self._resized(planned, buckets, because)
            else:
                did = "planned", "would plan"
                yield self._step("resize", did, (planned,), begun, {"buckets": buckets}, because)

    def compact(self) -> Iterator[ServiceStep]:
        yield from self._planned(COMPACTION, self.policy.compaction)

    def log_compact(self) -> Iterator[ServiceStep]:
        yield from self._planned(LOG_COMPACTION, self.policy.log_compaction)

    def clean(self) -> Iterator[ServiceStep]:
        if not self.policy.clean:
            return
        for pending in [i for i in self._active().pending if i.action == "clean"]:
            yield from self._cleaned(pending, {})
        policy, retained = self.policy.clean_policy, self.policy.clean_retained
        history = self.context.history()
        because = clean_due(self.context, history.current, self.policy)
        if not because or not schedule_clean.is_useful(self.context, self.config, policy, retained, history):
            return
        if planned := schedule_clean.run(self.context, self.config, policy, retained):
            yield from self._cleaned(planned, because)

    def archive(self) -> Iterator[ServiceStep]:
        if self.policy.archive and (because := archive_due(self._active(), self.policy)):
            begun = time.monotonic()
            if moved := archive.run(self.context, self.config, self.policy.archive_least):
                did = "archived", "would archive"
                yield self._step("archive", did, moved, begun, {"instants": len(moved)}, because)

    def checkpoint(self) -> Iterator[ServiceStep]:
        """Put a state checkpoint if one is due. A failure causes only a warning, as after an operation of a table."""
        if because := checkpoint_due(self.context):
            begun, time_of_state = time.monotonic(), None
            try:
                time_of_state = checkpoint_state.run(self.context, self.config)
            except (NbccError, *TRANSIENT) as refused:
                warnings.warn(f"no state checkpoint was put: {refused}", stacklevel=2)
            if time_of_state is not None:
                yield self._step("checkpoint", ("put", "would put"), (), begun, {}, because)

    def collect(self) -> Iterator[ServiceStep]:
        if self.policy.collect and self._has_leftovers():
            begun = time.monotonic()
            hours, seconds = self.policy.batch_hours, self.policy.leftover_seconds
            counts = collect.run(self.context, self.config, batch_hours=hours, leftover_seconds=seconds).counts()
            if any(counts.values()):
                yield self._step("collect", ("deleted leftovers", "would delete leftovers"), (), begun, counts)

    def _has_leftovers(self) -> bool:
        """Return whether a collection of leftover files is due. The check does not take the table's lock, so it blocks
        no writer.
        """
        hours, seconds = self.policy.batch_hours, self.policy.leftover_seconds
        listing = MarkerPaths.of(self.context)
        counts = leftovers(self.context, self.context.history(), listing, hours, seconds).counts()
        return uses_decision_log(self.context) or any(counts.values())

    def measured(self) -> ServiceStep:
        begun = time.monotonic()
        active = self._active()
        # A pass that plans nothing retires commits, too: another process may have planned and archived.
        slices = retire_unneeded(self.context, self.context.history(active).current, self.context.rules)
        counts = measure(self.context, active, slices)
        return ServiceStep(STATE, "measured", (), counts, {}, time.monotonic() - begun)

    def _planned(self, kind: _Planned, mode: Compaction) -> Iterator[ServiceStep]:
        """Run the pending plans of a service, oldest first. If the service is due, make a new plan and run the plan."""
        if not self.config.merge_on_read or mode == "off":
            return
        if mode == "run":
            for plan in kind.pending(self.context, self._active()):
                yield self._ran(kind, plan, {"pending": 1})
        if because := kind.due(self.context, self.context.history().current, self.policy):
            begun = time.monotonic()
            if (planned := kind.schedule.run(self.context, self.config)) is not None:
                if mode == "run":
                    yield self._ran(kind, planned, because)
                else:
                    groups = {"file_groups": len(kind.plan(self.context.commits, planned.requested).operations)}
                    yield self._step(kind.service, ("planned", "would plan"), (planned,), begun, groups, because)

    def _ran(self, kind: _Planned, plan: Instant, because: Reasons) -> ServiceStep:
        operations = kind.plan(self.context.commits, plan.requested).operations
        counts = {"file_groups": len(operations), "logs": sum(len(each.logs) for each in operations)}
        return self._executed(kind.service, kind.execute, plan, counts, because)

    def _resized(self, plan: Instant, buckets: int, because: Reasons) -> ServiceStep:
        return self._executed("resize", run_resize, plan, {"buckets": buckets}, because)

    def _executed(
        self, service: str, execute: Operation[[Time | None], Instant | None], plan: Instant, counts: Reasons,
        because: Reasons,
    ) -> ServiceStep:  # fmt: skip
        """Run a plan that any process may run."""
        begun = time.monotonic()
        did = "ran", "would run"
        try:
            if not self.dry_run:
                execute.run(self.context, self.config, plan.requested)
        # `LockTimeout` is a `Conflict`, too, but no other runner has done the work.
        except LockTimeout:
            raise
        except (Conflict, BadInput):  # docs/contract.md, Rivals; or a restore has removed the plan
            did = LEFT
        return self._step(service, did, (plan,), begun, counts, because)

    def _cleaned(self, plan: Instant, because: Reasons) -> Iterator[ServiceStep]:
        begun = time.monotonic()
        files = len(self.context.commits.clean(plan.requested).paths)
        run_clean.run(self.context, self.config, plan.requested)
        yield self._step("clean", ("deleted files", "would delete files"), (plan,), begun, {"files": files}, because)

    def _active(self) -> Active:
        return self.context.without_late_states(self.context.active())

    def _step(
        self, service: str, did: tuple[str, str], instants: tuple[Instant, ...], begun: float, counts: Reasons,
        because: Reasons | None = None,
    ) -> ServiceStep:  # fmt: skip
        """Return a step that ends now. `did` is what the step did, and what it would do, as a dry run says."""
        requested = tuple(instant.requested for instant in instants)
        done = did[self.dry_run]
        return ServiceStep(service, done, requested, counts, because or {}, time.monotonic() - begun)
