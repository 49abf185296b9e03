"""The options and limits of Flink jobs. The values that differ from the defaults are what Apache Hudi 1.2.0 does, as
read in the source of its Flink sink. The defaults are a corrected sink.
"""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class Flink(Options):
    """The options that decide what a Flink job saves in a checkpoint, and what it does after a failure."""

    coordinator_state: Literal["complete", "all"] = option(
        "complete",
        "which instants the coordinator of a Flink job saves in a checkpoint. complete: those for which it has the "
        "metadata of all tasks; all: also those without metadata, which replace the metadata in memory after a failure",
    )
    restored_id: Literal["of_checkpoint", "none"] = option(
        "of_checkpoint",
        "which checkpoint the tasks of a Flink job know after a restart by a new JobManager. of_checkpoint: the one "
        "that they restore; none: no checkpoint, so that their next commit names none",
    )
    recommit_check: Literal["since_request", "since_beginning"] = option(
        "since_request",
        "occ: with which commits a Flink job compares an instant that it recommits. since_request: those of other "
        "writers since the request; since_beginning: every commit of the table, also its own",
    )
    flink_rollback: Literal["by_owner", "by_heartbeat"] = option(
        "by_owner",
        "who rolls back a pending instant of a Flink job. by_owner: the job itself, after a restart that does not "
        "recommit it; by_heartbeat: the cleaning of any job, if the instant has no live heartbeat",
    )
    older_checkpoint: Literal["refused", "accepted"] = option(
        "refused",
        "whether a Flink job may start from a checkpoint after which it has committed. refused: it raises an error; "
        "accepted: it reads and commits the later rows again",
    )
    write_error: Literal["fails_checkpoint", "fails_commit"] = option(
        "fails_checkpoint",
        "what happens if a task of a Flink job cannot write a record. fails_checkpoint: the task fails before the "
        "checkpoint completes; fails_commit: the coordinator finds the error when it commits, and rolls the instant "
        "back",
    )


class FlinkLimits(Limits):
    """The limits on the failures of Flink jobs. `writes_per_writer` limits the batches that a job reads."""

    job_manager_deaths: int = limit(0, "how often the JobManager of each Flink job dies", needs="flink_job")
    task_manager_deaths: int = limit(0, "how often a TaskManager of each Flink job dies", needs="flink_job")
    commit_failures: int = limit(0, "how often a commit of each Flink job fails in the store", needs="flink_job")
    write_errors: int = limit(0, "how often a task of each Flink job cannot write a record", needs="flink_job")
    older_restarts: int = limit(0, "how often each Flink job starts from an older checkpoint", needs="flink_job")
    undone_instants: int = limit(0, "how many instants of Flink jobs are rolled back", needs="flink_job")
