"""Maps each action of the model to the Apache Hudi client call that performs it.

To map a new action, append a row to `STEPS`. One call of Hudi's client performs several steps of the model. With the
world's option `granularity = call`, the model executes all steps of a call atomically.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PeerStep:
    """Maps one action of the model to a step of the Hudi process (peer).

    ``call`` is the step of the Hudi process that performs the action. ``because`` states why the action needs no call
    or cannot be performed. ``takes`` is True if the action takes a time from the clock. If ``impossible`` is True, the
    peer cannot replay histories that contain this action.
    """

    action: str
    call: str | None = None
    because: str = ""
    takes: bool = False
    impossible: bool = False


# fmt: off
STEPS: Final[tuple[PeerStep, ...]] = (
    PeerStep("writer_requests_instant",         "start", takes=True),
    PeerStep("writer_starts_writing",           "data"),
    PeerStep("writer_writes_log",               because="`data` has put the inflight instant and every log file"),
    PeerStep("writer_writes_base",              impossible=True, because="the tables of the peer are MERGE_ON_READ"),
    PeerStep("writer_takes_lock",               because="`commit` takes the lock, the time, and publishes"),
    PeerStep("writer_takes_completion_time",    because="`commit` takes the lock, the time, and publishes", takes=True),
    PeerStep("writer_publishes_instant",        "commit"),

    PeerStep("writer_passes_check",             because="`commit` takes the lock, looks for conflicts, and publishes"),
    PeerStep("writer_aborts",                   "commit"),
    PeerStep("writer_takes_back_write",         impossible=True, because="Hudi leaves it pending until a rollback"),
    PeerStep("writer_retries",                  impossible=True, because="Hudi's data source retries, not its client"),
    PeerStep("writer_meets_marker",             impossible=True, because="early conflict detection is off"),

    PeerStep("compactor_schedules_plan",        "plan", takes=True),
    PeerStep("compactor_starts_plan",           "compact"),
    PeerStep("compactor_resumes_plan",          "compact"),
    PeerStep("compactor_writes_base",           because="`compact` has put the inflight instant and every base file"),
    PeerStep("compactor_takes_lock",            because="`commit_compaction` takes the lock, the time, and publishes"),
    PeerStep("compactor_takes_completion_time", because="`commit_compaction` takes the lock, the time, and publishes",
             takes=True),
    PeerStep("compactor_publishes_instant",     "commit_compaction"),

    *(PeerStep(action, impossible=True,
               because="a second compactor of Hudi's first rolls back the first one's run and deletes its files")
      for action in ("compactor_finds_it_done", "compactor_checks_plan", "compactor_misses_files",
                     "compactor_finds_input_cleaned")),

    PeerStep("bulk_inserter_requests_instant",  "start", takes=True),
    PeerStep("bulk_inserter_starts_writing",    "bulk"),
    PeerStep("bulk_inserter_writes_base",       because="`bulk` has put the inflight instant and every file"),
    PeerStep("bulk_inserter_writes_log",        because="`bulk` has put the inflight instant and every file"),
    PeerStep("bulk_inserter_takes_lock",        because="`commit` takes the lock, looks, takes the time, publishes"),
    PeerStep("bulk_inserter_looks_again",       because="`commit` takes the lock, looks, takes the time, publishes"),
    PeerStep("bulk_inserter_gives_up",          because="`refused` meets the conflict and rolls back"),
    PeerStep("bulk_inserter_withdraws_instant", "refused"),
    PeerStep("bulk_inserter_takes_completion_time", because="`commit` takes the lock, looks, takes the time, publishes",
             takes=True),
    PeerStep("bulk_inserter_publishes_instant", "commit"),

    *(PeerStep(action, impossible=True, because="Hudi's reader lists and reads in one call")
      for action in ("reader_starts_listing", "reader_ends_listing", "reader_starts_listing_again",
                     "reader_ends_listing_again", "reader_looks_into_archive", "reader_opens_archive",
                     "reader_reads", "consumer_takes_window", "consumer_lists_window",
                     "consumer_reads_window", "querier_asks_as_of", "querier_asks_window", "querier_asks_changes",
                     "querier_asks_read_optimized", "querier_settles", "querier_lists_again", "querier_reads")),

    *(PeerStep(f"stream_{action}", impossible=True, because="Hudi's streaming source and sink run inside a Spark query")
      for action in ("chooses_offset", "logs_offset", "sends_batch", "is_refused", "commits_batch", "restarts",
                     "loses_checkpoint", "copies_checkpoint", "restores_checkpoint")),

    *(PeerStep(action, impossible=True, because="Hudi's own storage layer answers this peer; no answer is lost")
      for action in ("answer_is_lost", "answer_to_decision_is_lost", "writer_recognises_instant",
                     "writer_recognises_decision", "writer_reports_failure")),
    PeerStep("heartbeat_expires",               "stall"),
    PeerStep("writer_looks_at_heartbeat", because="`commit` checks the beats that its client remembers"),
    PeerStep("writer_is_refused",               "gone"),
    PeerStep("writer_gives_up",                 because="its rollback has left nothing to undo"),

    PeerStep("rollbacker_plans_rollback",       "plan_rollback", takes=True),
    *(PeerStep(action, because="`run_rollback` puts the inflight instant, deletes, and publishes")
      for action in ("rollbacker_starts_rollback", "rollbacker_resumes_rollback", "rollbacker_deletes_log",
                     "rollbacker_removes_instant", "rollbacker_takes_lock")),
    PeerStep("rollbacker_takes_completion_time", because="`run_rollback` takes the lock, the time, and publishes",
             takes=True),
    PeerStep("rollbacker_publishes_instant",    "run_rollback"),
    PeerStep("rollbacker_finds_it_done",        because="its client reads the timeline and makes no call"),
    PeerStep("rollbacker_appends_rollback_block", impossible=True, because="each log belongs to one instant"),
    *(PeerStep(action, impossible=True, because="Hudi chooses and plans in one call")
      for action in ("rollbacker_chooses_write", "rollbacker_takes_time", "rollbacker_puts_plan")),
    PeerStep("late_file_lands", impossible=True,
             because="`data` returns when all its tasks have ended; findings show what Hudi makes of a late file"),
    PeerStep("writer_stops_waiting", impossible=True,
             because="a commit waits for the lock inside its call and gets it"),
    *(PeerStep(action, impossible=True, because="only Hudi's streaming sink knows batches, not the client of the peer")
      for action in ("writer_skips_batch", "writer_finds_batch", "writer_takes_back_repeat", "writer_refuses_batch",
                     "writer_takes_back_other_rows")),

    *(PeerStep(action, impossible=True, because="Hudi's clean also rolls back failed writes, and counts requests")
      for action in ("cleaner_schedules_clean", "cleaner_starts_clean", "cleaner_resumes_clean",
                     "cleaner_finds_it_done", "cleaner_checks_plan",
                     "cleaner_deletes_files", "cleaner_takes_lock", "cleaner_takes_completion_time",
                     "cleaner_publishes_instant")),
    *(PeerStep(action, impossible=True, because="Hudi savepoints and restores in one call, by its own rules")
      for action in ("savepointer_pins_instant", "savepointer_publishes_savepoint", "savepointer_drops_savepoint",
                     "restorer_plans_restore", "restorer_starts_restore", "restorer_resumes_restore",
                     "restorer_finds_it_done", "restorer_checks_plan", "restorer_undoes_instant",
                     "restorer_takes_lock", "restorer_takes_completion_time",
                     "restorer_publishes_instant", "compactor_finds_plan_gone", "compactor_misses_input",
                     "compactor_is_refused", "compactor_gives_up", "log_compactor_finds_plan_gone",
                     "log_compactor_misses_input", "log_compactor_is_refused", "log_compactor_gives_up",
                     "overwriter_is_refused", "overwriter_gives_up")),
    *(PeerStep(action, impossible=True, because="Hudi refuses to cluster a table with a simple bucket index")
      for action in ("clusterer_schedules_plan", "clusterer_starts_plan", "clusterer_writes_base", "clusterer_gives_up",
                     "clusterer_takes_lock", "clusterer_takes_completion_time", "clusterer_publishes_instant")),
    *(PeerStep(action, impossible=True, because="Hudi refuses insert_overwrite under non-blocking concurrency control")
      for action in ("overwriter_schedules_replace", "overwriter_starts_replace", "overwriter_writes_base",
                     "overwriter_takes_lock", "overwriter_takes_completion_time", "overwriter_publishes_instant",
                     "overwriter_passes_check", "overwriter_aborts", "overwriter_takes_back_replace")),
    *(PeerStep(action, impossible=True, because="Hudi stamps its log compactions; the protocol is not fitted to them")
      for action in ("log_compactor_schedules_plan", "log_compactor_starts_plan", "log_compactor_resumes_plan",
                     "log_compactor_finds_it_done", "log_compactor_checks_plan", "log_compactor_misses_files",
                     "log_compactor_finds_input_cleaned", "log_compactor_writes_log",
                     "log_compactor_takes_lock", "log_compactor_takes_completion_time",
                     "log_compactor_publishes_instant")),
    *(PeerStep(action, impossible=True, because="Hudi archives in one call, by its own rules")
      for action in ("archiver_archives_instants", "archiver_resumes_archiving", "archiver_removes_instant")),
    *(PeerStep(action, impossible=True, because="Hudi's readers begin at no checkpoint of ours, and Hudi puts none")
      for action in ("checkpointer_takes_time", "checkpointer_lists_again", "checkpointer_puts_checkpoint")),
    *(PeerStep(action, impossible=True, because="Hudi publishes under a lock and has no log of decisions")
      for action in ("cleaner_decides_instant",
                     "cleaner_publishes_decided",
                     "cleaner_puts_plan",
                     "cleaner_takes_time",
                     "compactor_decides_instant",
                     "compactor_finishes_decided",
                     "compactor_publishes_decided",
                     "compactor_puts_plan",
                     "compactor_takes_barrier",
                     "bulk_inserter_decides_instant",
                     "bulk_inserter_publishes_decided",
                     "lock_is_lost",
                     "log_compactor_decides_instant",
                     "log_compactor_finishes_decided",
                     "log_compactor_publishes_decided",
                     "log_compactor_puts_plan",
                     "log_compactor_takes_time",
                     "overwriter_decides_instant",
                     "overwriter_publishes_decided",
                     "overwriter_puts_plan",
                     "overwriter_takes_time",
                     "restorer_decides_instant",
                     "restorer_finishes_decided",
                     "restorer_publishes_decided",
                     "restorer_puts_plan",
                     "restorer_takes_time",
                     "rollbacker_decides_instant",
                     "rollbacker_finishes_decided",
                     "rollbacker_publishes_decided",
                     "writer_decides_instant",
                     "writer_publishes_decided")),

    *(PeerStep(action, impossible=True, because="Hudi's client takes a time and uses it in one call, under its lock")
      for action in ("cleaner_waits",
                     "cleaner_reads_clock_again",
                     "compactor_waits",
                     "compactor_reads_clock_again",
                     "bulk_inserter_waits",
                     "bulk_inserter_reads_clock_again",
                     "log_compactor_waits",
                     "log_compactor_reads_clock_again",
                     "overwriter_waits",
                     "overwriter_reads_clock_again",
                     "restorer_waits",
                     "restorer_reads_clock_again",
                     "rollbacker_waits",
                     "rollbacker_reads_clock_again",
                     "writer_waits",
                     "writer_reads_clock_again",
                     "bulk_inserter_takes_time",
                     "bulk_inserter_puts_request",
                     "bulk_inserter_finds_request",
                     "writer_takes_time",
                     "writer_puts_request",
                     "writer_finds_request")),

    *(PeerStep(action, impossible=True, because="Spark SQL's ALTER TABLE does it in one call, on a table in a catalog")
      for action in ("schema_evolver_adds_column", "schema_evolver_requests_instant", "schema_evolver_starts_commit",
                     "schema_evolver_takes_lock", "schema_evolver_takes_completion_time",
                     "schema_evolver_publishes_instant")),

    *(PeerStep(action, impossible=True, because="`commit` commits to the metadata table and then to the table, in one "
               "call under its lock")
      for action in ("actor_begins_metadata", "actor_commits_metadata", "reader_lists_files")),

    PeerStep("actor_crashes", because="`crash` ends the client and its heartbeat"),
    PeerStep("lock_expires",  because="Hudi holds its lock inside one call, so a dead client holds none"),
)
# fmt: on

IMPOSSIBLE: Final = {step.action: step.because for step in STEPS if step.impossible}
"""Action that cannot be played -> the reason."""
BY_HAND: Final = (
    "archive", "clean", "cluster", "commit_log_compaction", "configured",
    "give_back", "hold", "log_compact", "plan_clustering",
    "plan_log_compaction", "procedure",
)  # fmt: skip
"""Calls of the peer that only tests in tests/interop make; no random history contains them."""
