"""Diagnostics of instants and of their contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nbcc.engine.audit.amounts import several
from nbcc.engine.clock import to_millis

from ..view import TIMELINE, TableView, timeline_file
from .diagnostic import READS, RESTORE, RESTORE_COMPLETED, UNDO, Rule, Spot, undo
from .properties import without_checksum

STALE_MS: Final = 3_600_000
"""After this time without a heartbeat, the writer of a pending instant has failed."""
_COMPARE: Final = "compare its files with the source, and write missing rows again"
_RESTORE_OR: Final = f"if it had completed, {RESTORE_COMPLETED}; else "
_MARKS: Final = ("put the nbcc.* properties back", "run the services of this table with nbcc",
                 "overwrite the partition again")  # fmt: skip
_CONCERNED: Final = {
    "commit": (*READS, "ATOM"), "plan": ("QUIET", "PROGRESS"), "archive": ("ARCH",), "clean": ("CLEAN",),
    "restore": ("REC",), "savepoint": ("CLEAN",), "properties": READS,
}  # fmt: skip


def unreadable(view: TableView) -> Iterator[Spot]:
    """Yield files of the timeline or archive that cannot be parsed."""
    for fault in view.audit.serious_faults:
        if fault.kind != "instant" and not (fault.kind == "properties" and without_checksum(view)):
            yield Spot(fault.path, fault.because, RESTORE, promises=_CONCERNED.get(fault.kind, ("REC",)))


def undone(view: TableView) -> Iterator[Spot]:
    """Yield instants with a completed rollback, or that completed after their restore was requested (promise REC)."""
    # A clean of Hudi can plan the rollback of a write that has completed since it chose the write.
    undoing = [(target, "", f"rollback {each.instant.requested}") for each in view.audit.rollbacks
               for target in each.undone]  # fmt: skip
    undoing += [(target, restore, f"restore {restore}") for target, restore in view.audit.undone.items()]
    for target, since, what in undoing:
        for instant in view.actions.get(target, ()):
            if instant.completed and instant.writes and instant.completed > since:
                because = f"the {what} undid it, and yet it completed"
                yield Spot(timeline_file(instant), because, _COMPARE)


def stale(view: TableView) -> Iterator[Spot]:
    """Yield writes that have been pending for an hour without a heartbeat. Once later instants are archived, Hudi
    treats the rows of an abandoned write as committed.
    """
    for instant in view.audit.timeline.pending:
        beats = f".hoodie/.heartbeat/{instant.requested}" in view.audit.listing
        undone = instant.requested in view.audit.undone  # by a restore that is to be finished
        if beats or undone or instant.action not in ("deltacommit", "commit"):
            continue
        try:
            waited = to_millis(view.now) - to_millis(instant.requested)
        except ValueError:
            continue
        if waited > STALE_MS:
            because = (
                f"it has been {instant.state} for {_duration(waited)} without a heartbeat: its writer failed, or its"
                " completed file was removed"
            )
            remedy = _RESTORE_OR + undo(view, instant.requested)
            yield Spot(timeline_file(instant), because, remedy, "AT RISK")


def _duration(millis: int) -> str:
    hours = millis // 3_600_000
    return several(hours // 24, "day") if hours >= 48 else several(hours, "hour")


def marks(view: TableView) -> Iterator[Spot]:
    """Yield instants whose writer follows other rules for reading files than the table. The `nbcc.*` table properties
    select nbcc's rules; without them, Hudi's rules apply.
    """
    for commit in view.audit.commits.values():
        if commit.own and not view.audit.own:
            because = "nbcc wrote it, but the table's properties lack nbcc's mark: readers apply Hudi's rules"
            yield Spot(timeline_file(commit.instant), because, _MARKS[0], promises=("LAWS", "SNAP", "INCR", "RO"))
        elif view.audit.own and not commit.own and commit.operation in ("COMPACT", "CLUSTER", "LOG_COMPACT"):
            because = "a service of another engine wrote it: Hudi's rules apply to its file groups from its barrier on"
            yield Spot(timeline_file(commit.instant), because, _MARKS[1], "AT RISK")
        plan = view.audit.plans.get(commit.instant.requested)
        if view.audit.own and not commit.own and plan is not None and plan.replaces:
            because = "another engine took this replace for a compaction, and completed it without effect"
            yield Spot(timeline_file(commit.instant), because, _MARKS[2], promises=("SNAP", "ACK", "INCR", "RO"))
    for clean in view.audit.cleans:
        if view.audit.own and clean.retained and not clean.own:
            because = "a clean of another engine: it published no horizon before it deleted, so that reads could fail"
            yield Spot(timeline_file(clean.instant), because, _MARKS[1], "AT RISK")


def names(view: TableView) -> Iterator[Spot]:
    """Yield instants whose recorded operation contradicts the action in their file name."""
    for requested, commit in view.audit.commits.items():
        compacts = commit.operation == "COMPACT"
        plain = commit.instant.action == "deltacommit" and compacts
        shared = requested in view.audit.shared_requests  # then the plan may be another instant's
        plan = None if shared else view.audit.plans.get(requested)
        if plain or (commit.active and plan is not None and not compacts and not plan.replaces):
            because = f"it is a {commit.instant.action} whose operation is {commit.operation or 'not named'}"
            yield Spot(timeline_file(commit.instant), because, RESTORE)


def nothing_pending(view: TableView) -> Iterator[Spot]:
    """Yield pending compactions that no compactor can resume, because the inflight file exists but the plan is missing.
    """
    for instant in view.audit.timeline.pending_compactions:
        path = f"{TIMELINE}/{instant.requested}.compaction.requested"
        if instant.requested in view.audit.undone:
            continue  # its restore is pending
        if instant.requested not in view.audit.plans and not any(fault.path == path for fault in view.audit.faults):
            yield Spot(path, "a compaction is pending, but its plan is missing", RESTORE)


RULES: Final = (
    Rule("unreadable", "a file of the timeline cannot be understood",
         (*READS, "ATOM", "QUIET", "CLEAN", "ARCH", "REC", "PROGRESS"), unreadable, (RESTORE,)),
    Rule("name-and-content", "an instant whose operation contradicts its name", ("PART", "QUIET"), names, (RESTORE,)),
    Rule("undone-and-completed", "an instant that was rolled back and completed", ("REC",), undone, (_COMPARE,)),
    Rule("writer-gone", "a pending write whose writer is dead", ("ARCH", "PROGRESS"), stale,
         tuple(_RESTORE_OR + each for each in UNDO)),
    Rule("marks-disagree", "instants and properties disagree about the rules that apply", ("LAWS",), marks, _MARKS,
         ("SNAP", "ACK", "INCR", "RO")),
    Rule("plan-missing", "a pending compaction without a plan", ("PROGRESS", "QUIET"), nothing_pending, (RESTORE,)),
)
