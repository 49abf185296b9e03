"""Rollback of failed writes."""

from __future__ import annotations

from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.rollback.rules import Rollbacks
from nbcc.model.variants.visibility import Visibility

from ..mechanism import (
    FAULT,
    INSTANT,
    LOOKS_FOR_ROLLBACKS,
    Feature,
    Lockstep,
    MappingRow,
    Runs,
    ServiceLabel,
    calls,
    no_call,
)  # fmt: skip

HEARTBEAT = "a writer checks its heartbeat under the lock"
RUNS = no_call("`run_rollback` puts the inflight instant, deletes, and publishes")

LOCKSTEP = Lockstep(
    features=(
        Feature("heartbeats",
            about="A writer renews its heartbeat until it ends; a writer that stalled too long detects that under the "
                  "lock and undoes its write.",
            source="RFC-22, inline rollback; HoodieHeartbeatClient",
            model=("heartbeat_expires", "writer_looks_at_heartbeat", "writer_is_refused", "writer_gives_up"),
            options=("commit_check", "world.stalls"),
            engine=("writes.commit_protocol:publication_conflict", "timeline.heartbeats:StoredHeartbeats"),
            hudi=("start", "data", "stall", "clean", "commit", "gone"), mutants=("commit-of-rolled-back",),
            verdicts=("commit-checked-early", "commit-unchecked"), promises=("REC", "SNAP"), trace="21-sleeping-writer",
            boundary="heartbeats"),
        Feature("rollback",
            about="A rollback is planned under the lock and run separately, by any rollbacker, possibly twice: files "
                  "first, then the instant.",
            source="RFC-22, inline rollback; hoodie.clean.failed.writes.policy",
            model=("rollbacker_chooses_write", "rollbacker_plans_rollback", "rollbacker_starts_rollback",
                   "rollbacker_resumes_rollback", "rollbacker_deletes_log", "rollbacker_removes_instant",
                   "rollbacker_finds_it_done", "rollbacker_takes_lock", "rollbacker_takes_completion_time",
                   "rollbacker_publishes_instant"),
            options=("failed_writes", "rollback_check", "rollback_plans", *names_of(Visibility), "world.rollbacks",
                     "world.crashes"),
            engine=("schedule_rollback", "run_rollback", "rollback"),
            hudi=("stall", "choose_rollback", "plan_rollback", "run_rollback", "clean"),
            mutants=("rollback-of-the-living", "rollback-leaves-files"),
            verdicts=("eager-rollback", "rollback-chosen-early", "rollback-exclusive", "rollback-several-plans",
                      "archived-by-absence"),
            promises=("REC", "QUIET", "ATOM"), trace="20-dead-writer", boundary="rollback of failed writes"),
    ),
    service=ServiceLabel("rollback"),
    runs=Runs(
        ROLLBACKER,
        begins=MappingRow("rollbacker_plans_rollback", "schedule_rollback", starts=True,
                          hudi=calls("plan_rollback", takes=True)),
        # If the write has put files, the listing is that of its markers.
        inflight=MappingRow("rollbacker_starts_rollback", "run_rollback", ends_after="list.end marker", starts=True,
                            arguments=((INSTANT, "rollback"),), hudi=RUNS),
        # Under the lock it first checks whether another rollbacker has completed the rollback.
        publishes="run_rollback",
        hudi=(RUNS, no_call("`run_rollback` takes the lock, the time, and publishes", takes=True),
              calls("run_rollback")),
    ),
    rows=(
        MappingRow("heartbeat_expires", FAULT, hudi=calls("stall")),
        # only under options that the engine does not support
        MappingRow("writer_looks_at_heartbeat", "upsert",
                   hudi=no_call("`commit` checks the beats that its client remembers")),
        # under the lock: its instant is off the timeline, or its rollback is planned
        MappingRow("writer_is_refused", "upsert", ends_after="list.end timeline",
                   also=(*LOOKS_FOR_ROLLBACKS, "lock.release"), hudi=calls("gone")),
        # deletes its files and then, under the lock, its instant
        MappingRow("writer_gives_up", "upsert", raises="Conflict",
                   hudi=no_call("its rollback has left nothing to undo")),
        # under an option that the engine does not support
        MappingRow("rollbacker_chooses_write", "schedule_rollback", starts=True, hudi=calls("choose_rollback")),
        MappingRow("rollbacker_resumes_rollback", "run_rollback", ends_after="list.end marker", starts=True,
                   arguments=((INSTANT, "rollback"),), hudi=RUNS),
        MappingRow("rollbacker_deletes_log", "run_rollback", ends_after="delete log", hudi=RUNS),
        # with the markers of the deleted files
        MappingRow("rollbacker_removes_instant", "run_rollback", ends_after="lock.release", also=("delete marker",),
                   hudi=RUNS),
        MappingRow("rollbacker_finds_it_done", "run_rollback",
                   hudi=no_call("its client reads the timeline and makes no call")),
    ),
    refuses={
        Rollbacks(rollback_check="before_lock"): "failed writes are chosen under the lock",
        Rollbacks(rollback_plans="exclusive"): "any rollbacker resumes a pending rollback",
        Rollbacks(rollback_plans="several"): "a pending rollback is resumed",
        Rollbacks(commit_check="before_lock"): HEARTBEAT,
        Rollbacks(commit_check="none"): HEARTBEAT,
    },
    traceless="no segment has a failed write",
    examples=(("commit-checked-early", "failed_writer"), ("rollback-chosen-early", "failed_writer")),
)  # fmt: skip
