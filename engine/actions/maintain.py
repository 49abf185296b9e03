"""Runs each table service that is due under a maintenance policy."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..config import TableConfig
from ..config.maintenance import MaintenancePolicy
from ..context import Context
from ..errors import BadInput, Conflict, LockTimeout, NbccError
from ..lock import InProcessLock
from ..services.collecting import Listing, leftovers
from ..services.triggers import (
    Reasons,
    archive_due,
    checkpoint_due,
    clean_due,
    compaction_due,
    log_compaction_due,
    measure,
)
from ..storage import TRANSIENT
from ..storage.recording import Recording
from ..timeline import CompactionPlan, Instant, Timeline, load
from ..writes.decision_log import uses_decision_log
from . import (
    archive,
    checkpoint_state,
    collect,
    rollback,
    run_clean,
    run_compaction,
    run_log_compaction,
    schedule_clean,
    schedule_compaction,
    schedule_log_compaction,
)

_WOULD: Final = {
    "undid failed writes": "would undo failed writes",
    "ran": "would run",
    "planned": "would plan",
    "deleted files": "would delete files",
    "archived": "would archive",
    "deleted leftovers": "would delete leftovers",
    "put": "would put",
}
"""What a step did -> the same in a dry run."""

STATE: Final = "state"
"""The service of the last step of a pass, which only measures the table."""


@dataclass(frozen=True, slots=True)
class ServiceStep:
    """One action of a maintenance pass, which runs every due table service once.

    `service` is rollback, compact, log_compact, clean, archive, checkpoint, collect or state. `did` states the result
    of the step, such as "ran" or "planned", or "would plan" in a dry run. `instants` lists the requested times of the
    step's instants. `counts` contains the numbers of files, rows or instants that the step processed. `because`
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
    context: Context, config: TableConfig, policy: MaintenancePolicy | None = None, dry_run: bool = False
) -> tuple[ServiceStep, ...]:
    """Run the table services that are due, and return one `ServiceStep` for each service run. An additional last
    `ServiceStep` contains measurements of the table.

    The services run in the order rollback, compaction, log compaction, clean, archiving, state checkpoint, collection
    of leftover files. Several processes may maintain one table at the same time; plans completed by another process are
    not run again. If `dry_run` is True, nothing is changed, and each `ServiceStep` describes what the service would do.
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


class _Pass:
    def __init__(self, context: Context, config: TableConfig, policy: MaintenancePolicy, dry_run: bool) -> None:
        self.context, self.config, self.policy, self.dry_run = context, config, policy, dry_run

    def services(self) -> tuple[Callable[[], Iterator[ServiceStep]], ...]:
        """Return the services in the order in which they run."""
        compactions = self.compact, self.log_compact
        return self.rollback, *compactions, self.clean, self.archive, self.checkpoint, self.collect

    def rollback(self) -> Iterator[ServiceStep]:
        if self.policy.rollback:
            begun = time.monotonic()
            if undone := rollback.run(self.context, self.config):
                yield self._step("rollback", "undid failed writes", undone, begun, {"writes": len(undone)})

    def compact(self) -> Iterator[ServiceStep]:
        if self.config.merge_on_read and self.policy.compaction != "off":
            commits = self.context.commits
            yield from self._planned(
                "compact", self.policy.compaction, commits.plan, self._compactions, compaction_due,
                schedule_compaction.run, run_compaction.run,
            )  # fmt: skip

    def log_compact(self) -> Iterator[ServiceStep]:
        if self.config.merge_on_read and self.policy.log_compaction != "off":
            commits = self.context.commits
            yield from self._planned(
                "log_compact", self.policy.log_compaction, commits.log_plan,
                lambda timeline: [i for i in timeline.log_compactions if not i.completed],
                log_compaction_due, schedule_log_compaction.run, run_log_compaction.run,
            )  # fmt: skip

    def clean(self) -> Iterator[ServiceStep]:
        if not self.policy.clean:
            return
        for pending in [i for i in self._active().pending if i.action == "clean"]:
            yield from self._cleaned(pending, {})
        arguments: dict[str, Any] = {"policy": self.policy.clean_policy, "retained": self.policy.clean_retained}
        timeline = self._timeline()
        because = clean_due(self.context, timeline, self.policy)
        if not because or not schedule_clean.is_useful(self.context, self.config, timeline=timeline, **arguments):
            return
        if planned := schedule_clean.run(self.context, self.config, **arguments):
            yield from self._cleaned(planned, because)

    def archive(self) -> Iterator[ServiceStep]:
        if self.policy.archive and (because := archive_due(self._active(), self.policy)):
            begun = time.monotonic()
            if moved := archive.run(self.context, self.config, self.policy.archive_least):
                yield self._step("archive", "archived", moved, begun, {"instants": len(moved)}, because)

    def checkpoint(self) -> Iterator[ServiceStep]:
        """Put a state checkpoint if one is due. A failure causes only a warning, as after an operation of a table."""
        if because := checkpoint_due(self.context):
            begun, time_of_state = time.monotonic(), None
            try:
                time_of_state = checkpoint_state.run(self.context, self.config)
            except (NbccError, *TRANSIENT) as refused:
                warnings.warn(f"no state checkpoint was put: {refused}", stacklevel=2)
            if time_of_state is not None:
                yield self._step("checkpoint", "put", (), begun, {}, because)

    def collect(self) -> Iterator[ServiceStep]:
        if self.policy.collect and self._has_leftovers():
            begun = time.monotonic()
            hours, seconds = self.policy.batch_hours, self.policy.leftover_seconds
            counts = collect.run(self.context, self.config, batch_hours=hours, leftover_seconds=seconds).counts()
            if any(counts.values()):
                yield self._step("collect", "deleted leftovers", (), begun, counts)

    def _has_leftovers(self) -> bool:
        """Return whether a collection of leftover files is due. The check does not take the table's lock, so it blocks
        no writer.
        """
        hours, seconds = self.policy.batch_hours, self.policy.leftover_seconds
        listing = Listing.of(self.context)
        counts = leftovers(self.context, self._timeline(), listing, hours, seconds).counts()
        return uses_decision_log(self.context) or any(counts.values())

    def measured(self) -> ServiceStep:
        begun = time.monotonic()
        counts = measure(self.context, self._active())
        return ServiceStep(STATE, "measured", (), counts, {}, time.monotonic() - begun)

    def _compactions(self, timeline: Timeline) -> list[Instant]:
        return [i for i in timeline.pending_compactions if not self.context.commits.plan(i.requested).replaces]

    def _planned(
        self,
        service: str,
        mode: str,
        plan_of: Callable[[str], CompactionPlan],
        pending_of: Callable[[Timeline], list[Instant]],
        due: Callable[[Context, Timeline, MaintenancePolicy], Reasons],
        schedule: Callable[[Context, TableConfig], Instant | None],
        execute: Callable[[Context, TableConfig, str], Instant | None],
    ) -> Iterator[ServiceStep]:
        """Run the pending plans of a service, oldest first. If the service is due, make a new plan and run the plan."""

        def ran(plan: Instant, because: Reasons) -> ServiceStep:
            begun = time.monotonic()
            operations = plan_of(plan.requested).operations
            counts = {"file_groups": len(operations), "logs": sum(len(each.logs) for each in operations)}
            try:
                if not self.dry_run:
                    execute(self.context, self.config, plan.requested)
                did = "ran"
            except LockTimeout:
                raise
            except (Conflict, BadInput):  # docs/contract.md, Rivals; or a restore has removed the plan
                did = "left to another runner"
            return self._step(service, did, (plan,), begun, counts, because)

        if mode == "run":
            for plan in pending_of(self._active()):
                yield ran(plan, {"pending": 1})
        if because := due(self.context, self._timeline(), self.policy):
            begun = time.monotonic()
            if (planned := schedule(self.context, self.config)) is not None:
                if mode == "run":
                    yield ran(planned, because)
                else:
                    groups = {"file_groups": len(plan_of(planned.requested).operations)}
                    yield self._step(service, "planned", (planned,), begun, groups, because)

    def _cleaned(self, plan: Instant, because: Reasons) -> Iterator[ServiceStep]:
        begun = time.monotonic()
        files = len(self.context.commits.clean(plan.requested).paths)
        run_clean.run(self.context, self.config, plan.requested)
        yield self._step("clean", "deleted files", (plan,), begun, {"files": files}, because)

    def _active(self) -> Timeline:
        return self.context.without_late_states(load(self.context.storage))

    def _timeline(self) -> Timeline:
        return self.context.unretired(load(self.context.storage))

    def _step(
        self, service: str, did: str, instants: tuple[Instant, ...], begun: float, counts: Reasons,
        because: Reasons | None = None,
    ) -> ServiceStep:  # fmt: skip
        requested = tuple(instant.requested for instant in instants)
        did = _WOULD[did] if self.dry_run and did in _WOULD else did
        return ServiceStep(service, did, requested, counts, because or {}, time.monotonic() - begun)
