"""Maps each action of the model to a segment: the consecutive engine calls that perform the action.

A segment ends after the first call whose text (`Call.text`) is in ``ends_after``. Calls immediately after that call
still belong to the segment if their text is in ``also``. The default value of ``ends_after``, RETURN, means all
remaining calls of the operation. To map a new action, append a row to `MAPPING`; the rows for readers are in
`mapping_reads`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from nbcc.model import World
from nbcc.model.mechanisms import kind_of
from nbcc.model.mechanisms.archiving.options import ArchiveLimits
from nbcc.model.mechanisms.cleaning.options import Cleans

from .mapping_reads import AFTER_LISTING, READS
from .mapping_row import CRASH, FAULT, SPARK, MappingRow

__all__ = ["CRASH", "FAULT", "MAPPING", "SPARK", "MappingRow", "by_action"]

DECIDED: Final = ("put deltacommit", "put commit", "put rollback", "put clean", "put restore")
"""The completed instants that a decision log decides."""

CHECKS_CUT: Final = ("list.begin cut", "list.end cut")
"""The calls by which the creator of an entry checks that its number was not used before. Then it publishes."""

LOOKS_FOR_ROLLBACKS: Final = ("get version", "get archive", "get rollback.requested", "get restore.requested")
"""The calls by which a writer that has listed the timeline checks whether its write was rolled back."""


def retained(world: World, actor: str) -> int:
    """Return how many commits a cleaner retains. For an archiver, return how many instants it leaves on the active
    timeline.
    """
    if kind_of(actor) == "archiver":
        return world[ArchiveLimits].instants_retained
    return world.limits_of(actor, Cleans).commits_retained


def waiting(kind: str, operation: str) -> tuple[MappingRow, ...]:
    """Return the mapping rows of an actor that reads its clock and then waits for slower clocks. If another actor has
    already taken that time, the actor reads the clock again.
    """
    return (
        MappingRow(f"{kind}_waits", operation, ends_after="clock.wait", also=("put claim", "get claim")),
        MappingRow(f"{kind}_reads_clock_again", operation, ends_after="clock.take"),
    )


def giving_way(kind: str, operation: str) -> tuple[MappingRow, ...]:
    """Return the mapping rows of steps in which an actor checks whether another actor has already completed its plan.
    """
    return (
        # Before it starts its plan it has made no call. Otherwise it deletes its files under the lock.
        MappingRow(f"{kind}_finds_it_done", operation),
        # only under options that the engine does not support
        MappingRow(f"{kind}_checks_plan", operation),
    )


def losing_files(kind: str, operation: str) -> tuple[MappingRow, ...]:
    """Return the mapping rows of steps in which an actor finds that another actor has deleted files of its plan."""
    return (
        # A file of its plan is deleted. It deletes its files without the lock.
        MappingRow(f"{kind}_finds_input_cleaned", operation),
        # under the lock: another runner has deleted its files, and has not completed the plan
        MappingRow(f"{kind}_misses_files", operation, raises="Conflict", always=True),
    )


# fmt: off
MAPPING: Final[list[MappingRow]] = [
    # under the lock: list the timeline, take the requested time, publish the request
    MappingRow("writer_requests_instant",         "upsert", ends_after="lock.release", starts=True),
    # the same in three steps, if the lock can be lost in between
    MappingRow("writer_takes_time",               "upsert", ends_after="clock.take", starts=True),
    *waiting("writer",                     "upsert"),
    MappingRow("writer_puts_request",             "upsert", ends_after="lock.release"),
    # only if times are not claimed
    MappingRow("writer_finds_request",            "upsert", raises="Conflict"),
    MappingRow("writer_starts_writing",           "upsert", ends_after=("put deltacommit.inflight", "put inflight")),
    MappingRow("writer_writes_log",               "upsert", ends_after="put log"),
    MappingRow("writer_writes_base",              "upsert", ends_after="put base"),
    # Its next accesses under the lock are private: it checks its instant and deletes files of late attempts.
    MappingRow("writer_takes_lock",               "upsert", ends_after="lock.acquire"),
    MappingRow("writer_publishes_decided",        "upsert", ends_after=DECIDED),
    MappingRow("writer_takes_completion_time",    "upsert", ends_after="clock.take"),
    MappingRow("writer_decides_instant",          "upsert", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("writer_publishes_instant",        "upsert"),
    # a batch that was sent again, and was committed before it begins or while it writes
    MappingRow("writer_skips_batch",              "upsert", starts=True),
    MappingRow("writer_finds_batch",              "upsert", ends_after="lock.release"),
    MappingRow("writer_takes_back_repeat",        "upsert"),
    # other rows are committed under the id of the batch
    MappingRow("writer_refuses_batch",            "upsert", starts=True, raises="Conflict", always=True),
    MappingRow("writer_takes_back_other_rows",    "upsert", raises="Conflict", always=True),
    MappingRow("writer_stops_waiting",            "upsert", raises="LockTimeout"),
    # only under options that the engine does not support
    MappingRow("writer_looks_at_heartbeat",       "upsert"),
    # the put succeeds, and its answer is "exists"
    MappingRow("answer_is_lost",                  "upsert", ends_after="put deltacommit"),
    MappingRow("writer_recognises_instant",       "upsert"),
    MappingRow("answer_to_decision_is_lost",         "upsert", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("writer_recognises_decision",      "upsert"),
    # only under options that the engine does not support
    MappingRow("writer_reports_failure",          "upsert"),
    # under the lock: its instant is off the timeline, or its rollback is planned
    MappingRow("writer_is_refused",               "upsert", ends_after="list.end timeline",
        also=(*LOOKS_FOR_ROLLBACKS, "lock.release")),
    # deletes its files and then, under the lock, its instant
    MappingRow("writer_gives_up",                 "upsert", raises="Conflict"),

    # Optimistic writers. The objects that a listing names never change, so reading them later is safe.
    # Under the lock it first checks its heartbeat and its rollback.
    MappingRow("writer_passes_check",             "upsert", ends_after="list.end timeline", also=LOOKS_FOR_ROLLBACKS),
    MappingRow("writer_aborts",                   "upsert", ends_after="list.end timeline",
        also=(*LOOKS_FOR_ROLLBACKS, "get deltacommit", "get commit", "lock.release")),
    MappingRow("writer_meets_marker",             "upsert", ends_after="list.end marker"),
    MappingRow("writer_takes_back_write",         "upsert", raises="Conflict",
        ends_after=("delete deltacommit.requested", "delete commit.requested"), also=("lock.release",)),
    MappingRow("writer_retries",                  "upsert", ends_after="lock.release"),

    MappingRow("compactor_schedules_plan",        "schedule_compaction", starts=True),
    # the same in two steps, if the lock can be lost in between
    MappingRow("compactor_takes_barrier",         "schedule_compaction", ends_after="clock.take", starts=True),
    MappingRow("compactor_puts_plan",             "schedule_compaction", raises="Conflict"),
    *waiting("compactor",                  "run_compaction"),
    MappingRow("compactor_starts_plan",           "run_compaction", ends_after="put compaction.inflight", starts=True,
        arguments=(("instant", "plan"),)),
    MappingRow("compactor_resumes_plan",          "run_compaction", ends_after="put compaction.inflight", starts=True,
        arguments=(("instant", "plan"),)),
    *giving_way("compactor",               "run_compaction"),
    *losing_files("compactor",             "run_compaction"),
    # The log holds the deletes that the compaction keeps.
    MappingRow("compactor_writes_base",  "run_compaction", ends_after="put base", also=("put marker", "put log")),
    MappingRow("compactor_takes_lock",            "run_compaction", ends_after="lock.acquire"),
    MappingRow("compactor_publishes_decided",     "run_compaction", ends_after=DECIDED),
    # Under the lock it checks whether another compactor has completed the plan.
    MappingRow("compactor_takes_completion_time", "run_compaction", ends_after="clock.take"),
    MappingRow("compactor_decides_instant",       "run_compaction", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("compactor_publishes_instant",     "run_compaction"),

    MappingRow("log_compactor_schedules_plan",        "schedule_log_compaction", starts=True),
    MappingRow("log_compactor_starts_plan",  "run_log_compaction", starts=True, ends_after="put logcompaction.inflight",
        arguments=(("instant", "plan"),)),
    MappingRow("log_compactor_resumes_plan", "run_log_compaction", starts=True, ends_after="put logcompaction.inflight",
        arguments=(("instant", "plan"),)),
    *giving_way("log_compactor",           "run_log_compaction"),
    *losing_files("log_compactor",         "run_log_compaction"),
    MappingRow("log_compactor_writes_log",            "run_log_compaction", ends_after="put log"),
    MappingRow("log_compactor_takes_time",            "schedule_log_compaction", ends_after="clock.take", starts=True),
    MappingRow("log_compactor_puts_plan",             "schedule_log_compaction", raises="Conflict"),
    *waiting("log_compactor",              "run_log_compaction"),
    MappingRow("log_compactor_takes_lock",            "run_log_compaction", ends_after="lock.acquire"),
    MappingRow("log_compactor_publishes_decided",     "run_log_compaction", ends_after=DECIDED),
    MappingRow("log_compactor_takes_completion_time", "run_log_compaction", ends_after="clock.take"),
    MappingRow("log_compactor_decides_instant",       "run_log_compaction", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("log_compactor_publishes_instant",     "run_log_compaction"),

    # under the lock: put the properties with one more column; then a commit without files
    MappingRow("schema_evolver_adds_column",      "alter_schema", ends_after="lock.release", starts=True,
        arguments=(("columns", "columns"),)),
    MappingRow("schema_evolver_requests_instant", "alter_schema", ends_after="lock.release"),
    MappingRow("schema_evolver_starts_commit",    "alter_schema", ends_after="put deltacommit.inflight"),
    MappingRow("schema_evolver_takes_lock",       "alter_schema", ends_after="lock.acquire"),
    MappingRow("schema_evolver_takes_completion_time", "alter_schema", ends_after="clock.take"),
    MappingRow("schema_evolver_publishes_instant", "alter_schema"),

    MappingRow("bulk_inserter_requests_instant",  "bulk_insert", ends_after="lock.release", starts=True),
    MappingRow("bulk_inserter_takes_time",        "bulk_insert", ends_after="clock.take", starts=True),
    *waiting("bulk_inserter",              "bulk_insert"),
    MappingRow("bulk_inserter_puts_request",      "bulk_insert", ends_after="lock.release"),
    MappingRow("bulk_inserter_finds_request",     "bulk_insert", raises="Conflict"),
    MappingRow("bulk_inserter_starts_writing",    "bulk_insert", ends_after="put deltacommit.inflight"),
    MappingRow("bulk_inserter_writes_base",       "bulk_insert", ends_after="put base"),
    MappingRow("bulk_inserter_writes_log",        "bulk_insert", ends_after="put log"),
    MappingRow("bulk_inserter_takes_lock",        "bulk_insert", ends_after="lock.acquire"),
    MappingRow("bulk_inserter_looks_again",       "bulk_insert", ends_after="list.end timeline"),
    MappingRow("bulk_inserter_gives_up",          "bulk_insert", ends_after="lock.release"),
    MappingRow("bulk_inserter_withdraws_instant", "bulk_insert", raises="Conflict"),
    MappingRow("bulk_inserter_publishes_decided", "bulk_insert", ends_after=DECIDED),
    MappingRow("bulk_inserter_takes_completion_time", "bulk_insert", ends_after="clock.take"),
    MappingRow("bulk_inserter_decides_instant",   "bulk_insert", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("bulk_inserter_publishes_instant", "bulk_insert"),

    # With fixed file ids a clustering is a compaction that sorts.
    MappingRow("clusterer_schedules_plan",        "schedule_compaction", starts=True),
    MappingRow("clusterer_starts_plan",           "run_compaction", ends_after="put compaction.inflight", starts=True,
        arguments=(("instant", "plan"),)),
    MappingRow("clusterer_writes_base",  "run_compaction", ends_after="put base", also=("put marker", "put log")),
    MappingRow("clusterer_takes_lock",            "run_compaction", ends_after="lock.acquire"),
    MappingRow("clusterer_takes_completion_time", "run_compaction", ends_after="clock.take"),
    MappingRow("clusterer_publishes_instant",     "run_compaction"),
    # only under options that the engine does not support
    MappingRow("clusterer_gives_up",              "run_compaction"),

    # under the lock: list the timeline, read its pending plans, take K, put the plan
    MappingRow("overwriter_schedules_replace",    "insert_overwrite", ends_after="lock.release", starts=True,
        arguments=(("partitions", "partitions"),)),
    MappingRow("overwriter_starts_replace",       "insert_overwrite", ends_after="put compaction.inflight"),
    MappingRow("overwriter_writes_base",          "insert_overwrite", ends_after="put base"),
    MappingRow("overwriter_takes_time",           "insert_overwrite", ends_after="clock.take", starts=True,
        arguments=(("partitions", "partitions"),)),
    MappingRow("overwriter_puts_plan",            "insert_overwrite", ends_after="lock.release", raises="Conflict"),
    *waiting("overwriter",                 "insert_overwrite"),
    MappingRow("overwriter_takes_lock",           "insert_overwrite", ends_after="lock.acquire"),
    # an optimistic overwriter, as an optimistic writer
    MappingRow("overwriter_passes_check",         "insert_overwrite", ends_after="list.end timeline",
        also=LOOKS_FOR_ROLLBACKS),
    MappingRow("overwriter_aborts",               "insert_overwrite", ends_after="list.end timeline",
        also=(*LOOKS_FOR_ROLLBACKS, "get deltacommit", "get commit", "lock.release")),
    MappingRow("overwriter_takes_back_replace",   "insert_overwrite", raises="Conflict"),
    MappingRow("overwriter_publishes_decided",    "insert_overwrite", ends_after=DECIDED),
    MappingRow("overwriter_takes_completion_time", "insert_overwrite", ends_after="clock.take"),
    MappingRow("overwriter_decides_instant",      "insert_overwrite", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("overwriter_publishes_instant",    "insert_overwrite"),

    # only under options that the engine does not support
    MappingRow("rollbacker_chooses_write",        "schedule_rollback", starts=True),
    MappingRow("rollbacker_plans_rollback",       "schedule_rollback", starts=True),
    # the same in two steps, if the lock can be lost in between
    MappingRow("rollbacker_takes_time",           "schedule_rollback", ends_after="clock.take", starts=True),
    MappingRow("rollbacker_puts_plan",            "schedule_rollback", raises="Conflict"),
    *waiting("rollbacker",                 "run_rollback"),
    # If the write has put files, the listing is that of its markers.
    MappingRow("rollbacker_starts_rollback",      "run_rollback", ends_after="list.end marker", starts=True,
        arguments=(("instant", "rollback"),)),
    MappingRow("rollbacker_resumes_rollback",     "run_rollback", ends_after="list.end marker", starts=True,
        arguments=(("instant", "rollback"),)),
    MappingRow("rollbacker_deletes_log",          "run_rollback", ends_after="delete log"),
    # only under options that the engine does not support
    MappingRow("rollbacker_appends_rollback_block", "run_rollback"),
    # with the markers of the deleted files
    MappingRow("rollbacker_removes_instant",      "run_rollback", ends_after="lock.release", also=("delete marker",)),
    # Under the lock it first checks whether another rollbacker has completed the rollback.
    MappingRow("rollbacker_takes_lock",           "run_rollback", ends_after="lock.acquire"),
    MappingRow("rollbacker_finds_it_done",        "run_rollback"),
    MappingRow("rollbacker_publishes_decided",    "run_rollback", ends_after=DECIDED),
    MappingRow("rollbacker_takes_completion_time","run_rollback", ends_after="clock.take"),
    MappingRow("rollbacker_decides_instant",      "run_rollback", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("rollbacker_publishes_instant",    "run_rollback"),
    MappingRow("cleaner_schedules_clean",         "schedule_clean", starts=True, arguments=(("retained", retained),)),
    # the same in two steps, if the lock can be lost in between
    MappingRow("cleaner_takes_time",              "schedule_clean", ends_after="clock.take", starts=True,
        arguments=(("retained", retained),)),
    MappingRow("cleaner_puts_plan",               "schedule_clean", raises="Conflict"),
    *waiting("cleaner",                    "run_clean"),
    MappingRow("cleaner_starts_clean",            "run_clean", ends_after="put clean.inflight", starts=True,
        arguments=(("instant", "clean"),)),
    MappingRow("cleaner_resumes_clean",           "run_clean", ends_after="put clean.inflight", starts=True,
        arguments=(("instant", "clean"),)),
    *giving_way("cleaner",                 "run_clean"),
    MappingRow("cleaner_deletes_files",           "run_clean", ends_after="delete.all"),
    MappingRow("cleaner_takes_lock",              "run_clean", ends_after="lock.acquire"),
    MappingRow("cleaner_publishes_decided",       "run_clean", ends_after=DECIDED),
    MappingRow("cleaner_takes_completion_time",   "run_clean", ends_after="clock.take"),
    MappingRow("cleaner_decides_instant",         "run_clean", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("cleaner_publishes_instant",       "run_clean"),

    # under one lock: list the timeline, put the inflight instant; take the time, put the completed instant
    MappingRow("savepointer_pins_instant",        "savepoint", ends_after="put savepoint.inflight", starts=True),
    MappingRow("savepointer_publishes_savepoint", "savepoint"),
    MappingRow("savepointer_drops_savepoint",     "delete_savepoint", starts=True),

    MappingRow("restorer_plans_restore",          "schedule_restore", starts=True),
    MappingRow("restorer_starts_restore",         "run_restore", ends_after="put restore.inflight", starts=True,
        arguments=(("instant", "restore"),)),
    MappingRow("restorer_resumes_restore",        "run_restore", ends_after="put restore.inflight", starts=True,
        arguments=(("instant", "restore"),)),
    *giving_way("restorer",                "run_restore"),
    # deletes the data files of the instant, then its timeline files
    MappingRow("restorer_undoes_instant",         "run_restore", ends_after="delete.all", also=("delete.all",)),
    MappingRow("restorer_takes_time",             "schedule_restore", ends_after="clock.take", starts=True),
    MappingRow("restorer_puts_plan",              "schedule_restore", raises="Conflict"),
    *waiting("restorer",                   "run_restore"),
    MappingRow("restorer_takes_lock",             "run_restore", ends_after="lock.acquire"),
    MappingRow("restorer_publishes_decided",      "run_restore", ends_after=DECIDED),
    MappingRow("restorer_takes_completion_time",  "run_restore", ends_after="clock.take"),
    MappingRow("restorer_decides_instant",        "run_restore", ends_after="put decision", also=CHECKS_CUT),
    MappingRow("restorer_publishes_instant",      "run_restore"),
    MappingRow("compactor_finds_plan_gone",       "run_compaction", starts=True, raises="BadInput",
        arguments=(("instant", "plan"),)),
    MappingRow("compactor_misses_input",          "run_compaction", raises="Conflict"),
    MappingRow("compactor_is_refused",            "run_compaction", ends_after="list.end timeline",
        also=(*LOOKS_FOR_ROLLBACKS, "lock.release")),
    MappingRow("compactor_gives_up",              "run_compaction", raises="Conflict"),
    MappingRow("log_compactor_finds_plan_gone",   "run_log_compaction", starts=True, raises="BadInput",
        arguments=(("instant", "plan"),)),
    MappingRow("log_compactor_misses_input",      "run_log_compaction", raises="Conflict"),
    MappingRow("log_compactor_is_refused",        "run_log_compaction", ends_after="list.end timeline",
        also=(*LOOKS_FOR_ROLLBACKS, "lock.release")),
    MappingRow("log_compactor_gives_up",          "run_log_compaction", raises="Conflict"),
    MappingRow("overwriter_is_refused",           "insert_overwrite", ends_after="list.end timeline",
        also=(*LOOKS_FOR_ROLLBACKS, "lock.release")),
    MappingRow("overwriter_gives_up",             "insert_overwrite", raises="Conflict"),

    # under the lock: put the archive's file, its manifest and its version; delete requested and inflight files
    MappingRow("archiver_archives_instants",      "archive", ends_after="lock.release", starts=True,
        arguments=(("retained", retained),)),
    MappingRow("archiver_resumes_archiving",      "archive", ends_after="lock.release", starts=True,
        arguments=(("retained", retained),)),
    MappingRow("archiver_removes_instant",        "archive",
        ends_after=("delete deltacommit", "delete commit", "delete clean", "delete rollback")),

    # As a reader, it lists twice; then it reads commits, which never change, and puts the checkpoint.
    MappingRow("checkpointer_takes_time",         "checkpoint_state", ends_after="list.end timeline",
        also=AFTER_LISTING, starts=True),
    MappingRow("checkpointer_lists_again",        "checkpoint_state", ends_after="list.end timeline",
        also=AFTER_LISTING),
    MappingRow("checkpointer_puts_checkpoint",    "checkpoint_state", raises="Cleaned"),

    *READS,
    # Only in worlds with a metadata table. The engine refuses to write such tables, and reads them by listing.
    MappingRow("reader_lists_files",              "snapshot", starts=True),
    MappingRow("actor_begins_metadata",           "upsert"),
    MappingRow("actor_commits_metadata",          "upsert"),

    # Under the decision log a service first publishes what dead actors have decided.
    MappingRow("compactor_finishes_decided",      "publish_decided", starts=True),
    MappingRow("rollbacker_finishes_decided",     "publish_decided", starts=True),
    MappingRow("log_compactor_finishes_decided",  "publish_decided", starts=True),
    MappingRow("restorer_finishes_decided",       "publish_decided", starts=True),

    MappingRow("actor_crashes", CRASH),
    MappingRow("lock_expires",  FAULT),
    MappingRow("heartbeat_expires", FAULT),
    MappingRow("late_file_lands", FAULT),
    MappingRow("lock_is_lost",  FAULT),
]
# fmt: on


def by_action(rows: Iterable[MappingRow]) -> dict[str, MappingRow]:
    """Return the rows as a dictionary from each row's action to the row.

    Raises:
        ValueError: If two of the given rows have the same action.
    """
    table: dict[str, MappingRow] = {}
    for row in rows:
        if row.action in table:
            raise ValueError(f"the mapping has two rows for {row.action}")
        table[row.action] = row
    return table
