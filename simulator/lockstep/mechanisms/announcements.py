"""Commits that are announced and decided together."""

from __future__ import annotations

from collections.abc import Iterator

from nbcc.model.kernel.compactor import COMPACTOR, COMPACTOR_SCHEDULES_PLAN
from nbcc.model.kernel.writer import WRITER_REQUESTS_INSTANT
from nbcc.model.machine.options import ProtocolOptions
from nbcc.model.mechanisms.announcements.cut import CUTTER, cut_actions
from nbcc.model.mechanisms.announcements.restoring import SAVEPOINTER_ANNOUNCES
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER, CLEANER_SCHEDULES_CLEAN
from nbcc.model.mechanisms.decision_log import TOGETHER, DecisionLog
from nbcc.model.mechanisms.occ.mechanism import WRITER_ABORTS
from nbcc.model.mechanisms.queries import QUERIER, QUERIER_SETTLES
from nbcc.model.mechanisms.restores.mechanism import RESTORER, RESTORER_PLANS_RESTORE
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.savepoints import SAVEPOINTER, SAVEPOINTER_PINS_INSTANT

from ..mechanism import AFTER_LISTING, Feature, Lockstep, MappingRow, Runs
from .decision_log import CHECKS_CUT, DECIDED, NOT_IN_HUDI, PUT_DECISION

PUBLISHED = (*DECIDED, "put compaction.requested", "put clean.requested", "put rollback.requested",
             "put restore.requested", "put savepoint")  # fmt: skip
"""The items of an entry, as they are put on the timeline."""

LOOKS = ("list.begin timeline", "list.begin announced")
"""The first call after an actor has learnt the tail: it looks whether the tail is published."""

CLEANS_UP = ("delete.all", "list.begin marker")
"""The calls by which an actor whose instant is published begins to delete announcements and markers."""

GOES_ON = (*LOOKS, "get announced", *PUBLISHED, *CLEANS_UP)
"""The first call after an actor has learnt the tail."""


def refined(runs: Runs) -> Iterator[MappingRow]:
    """Yield the rows of an actor that announces its instant and has it decided by an entry of the log."""
    kind, operation = runs.kind.name, runs.publishes
    yield MappingRow(f"{kind}_announces", operation, ends_after="put announced")
    yield MappingRow(f"{kind}_takes_lock", operation, ends_after="lock.acquire")
    yield from decided(kind, operation)
    yield MappingRow(f"{kind}_checks_cut", operation, ends_after=CHECKS_CUT[-1])
    if runs.kind is COMPACTOR:
        yield MappingRow("compactor_begins_plan", runs.begins.operation, before=GOES_ON, starts=True)
        yield MappingRow("compactor_finds_nothing_to_plan", runs.begins.operation)
        yield MappingRow("compactor_finds_refused", runs.begins.operation)  # it returns None
    elif runs.kind is CLEANER:
        yield MappingRow("cleaner_begins_plan", runs.begins.operation, before=GOES_ON, starts=True,
                         arguments=runs.begins.arguments)  # fmt: skip
        yield MappingRow("cleaner_finds_nothing_to_plan", runs.begins.operation)
        yield MappingRow("cleaner_finds_refused", runs.begins.operation)  # it returns None
    elif runs.kind is ROLLBACKER:
        yield MappingRow("rollbacker_begins_plan", runs.begins.operation, before=GOES_ON, starts=True)
        yield MappingRow("rollbacker_finds_nothing_to_plan", runs.begins.operation)
        yield MappingRow("rollbacker_finds_refused", operation, raises="Conflict")
    elif runs.kind is not RESTORER:
        yield MappingRow(f"{kind}_finds_refused", operation, raises="Conflict")


def decided(kind: str, operation: str) -> Iterator[MappingRow]:
    """Yield the rows of an actor that has announced, until it finds its announcement decided."""
    # No call after a failed create: the actor has read the entry, which decides what it announced or equals its own.
    # Neither this nor the failed create has a call if the actor's listing has shown that its instant is published.
    yield MappingRow(f"{kind}_learns_tail", operation, before=GOES_ON)
    yield MappingRow(f"{kind}_publishes_item", operation, ends_after=PUBLISHED, in_vain=False)
    yield MappingRow(f"{kind}_starts_listing_announced", operation, ends_after="list.begin announced")
    yield MappingRow(f"{kind}_ends_listing_announced", operation, ends_after="list.end timeline", also=AFTER_LISTING)
    yield MappingRow(f"{kind}_creates_entry", operation, ends_after=PUT_DECISION, also=(*CHECKS_CUT, "get decision"),
                     before=CLEANS_UP)  # fmt: skip
    yield MappingRow(f"{kind}_finds_decided", operation)


def without_lock(protocol: ProtocolOptions) -> Iterator[MappingRow]:
    """Yield the rows of the actions that need no lock if commits are announced, in the place of those that do."""
    if protocol[DecisionLog].decision in TOGETHER:
        yield MappingRow(WRITER_ABORTS, "upsert", before=CLEANS_UP)
        yield MappingRow(WRITER_REQUESTS_INSTANT, "upsert", ends_after="put deltacommit.requested", starts=True)
    if protocol[DecisionLog].decision == "shared":
        yield MappingRow("writer_finds_refused", "upsert", ends_after="lock.release", also=("delete.all",))
        yield MappingRow(COMPACTOR_SCHEDULES_PLAN, "schedule_compaction", before=(PUT_DECISION,))
        yield MappingRow(f"{ROLLBACKER.name}_plans_rollback", "schedule_rollback", before=(PUT_DECISION,))
        for kind, operation in ((COMPACTOR.name, "run_compaction"), (ROLLBACKER.name, "run_rollback")):
            yield MappingRow(f"{kind}_creates_entry", operation, ends_after=PUT_DECISION, also=CHECKS_CUT)
    else:
        yield MappingRow(COMPACTOR_SCHEDULES_PLAN, "schedule_compaction", ends_after="put announced")
        yield MappingRow(CLEANER_SCHEDULES_CLEAN, "schedule_clean", ends_after="put announced")
        yield MappingRow(f"{ROLLBACKER.name}_plans_rollback", "schedule_rollback", ends_after="put announced",
                         starts=True)  # fmt: skip
        yield MappingRow(QUERIER_SETTLES, "as_of", before=("list.begin timeline",), raises="BadInput")
        yield MappingRow(RESTORER_PLANS_RESTORE, "schedule_restore", ends_after="put announced", starts=True)
        yield MappingRow(SAVEPOINTER_PINS_INSTANT, "savepoint", ends_after="put announced", starts=True)
        yield MappingRow(f"{ROLLBACKER.name}_removes_instant", "run_rollback", before=("list.begin timeline",))


def cutting() -> Iterator[MappingRow]:
    """Yield the rows of cutters. No history plays them: an archiver also archives, which the model does not do here."""
    for action in cut_actions():
        if action.name.startswith(CUTTER.name):
            yield MappingRow(action.name, "archive", starts=not action.continues_call)


def savepointing() -> Iterator[MappingRow]:
    """Yield the rows of a savepointer, which has its savepoint decided. No history plays one that announces in a
    separate step, or that is refused (`played`).
    """
    yield MappingRow(SAVEPOINTER_ANNOUNCES, "savepoint", ends_after="put announced")
    yield MappingRow("savepointer_finds_refused", "savepoint")
    yield from decided(SAVEPOINTER.name, "savepoint")


def settling() -> Iterator[MappingRow]:
    """Yield the rows of a querier that creates an entry to settle its time."""
    yield from (row for row in decided(QUERIER.name, "as_of") if not row.action.endswith("_finds_decided"))


LOCKSTEP = Lockstep(
    features=(
        Feature("announced-commits",
            about="Actors announce their commits, and one entry of the decision log decides them all: a dead writer "
                  "stops no other one, and without a lock a live one fails to create an entry at most twice.",
            source="RFC-22, 'Lock Free-ish Concurrency Control'; Herlihy 1991; docs/contract.md, BOUNDED",
            includes=("crashes", "rollback"),
            engine=("writes.announced:complete_announced", "writes.deciding:decide_announced",
                    "writes.candidates:Candidates", "convert", "archive", "restore", "savepoint"),
            hudi_impossible="its client decides by its lock alone",
            mutants=("announcements-decided-alone", "announcements-listed-late",
                     "announcements-listed-before-the-tail", "newest-announcement-decided-alone",
                     "announcement-decided-again", "entry-published-in-any-order", "completion-before-its-request",
                     "entry-commits-and-rolls-back", "rollback-without-an-entry", "barrier-by-own-clock",
                     "announcements-of-others-ignored", "entry-published-in-descending-order", "tail-left-unpublished",
                     "plan-by-own-clock", "entry-commits-what-was-undone",
                     "cut-unchecked", "cut-checked-before-create", "cut-deletes-first",
                     "cut-forgets-rollbacks", "rollbacks-not-carried", "committed-write-rolled-back",
                     "next-entry-before-the-last-is-published",
                     "footprint-ignored", "rivals-in-one-entry", "request-behind-its-listing",
                     "restored-instant-put-again", "restore-at-its-announcement", "entry-commits-what-was-restored",
                     "entry-commits-what-it-restores", "restore-considered-after-writes",
                     "restore-at-the-last-time", "service-before-the-last-entry-is-published",
                     "equal-entry-taken-for-ones-own",
                     "clean-time-not-reserved", "savepoint-decided-behind-a-clean", "clean-planned-by-own-clock"),
            verdicts=("free-commits", "shared-commits"), promises=("BOUNDED", "SNAP", "MONO", "REC"),
            trace="101-committed-by-another",
            boundary="**Announced commits**"),
    ),
    rows=(*cutting(), *savepointing(), *settling()), refines=refined, hudi_cannot=NOT_IN_HUDI,
)  # fmt: skip
