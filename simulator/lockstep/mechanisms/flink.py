"""Flink jobs. The engine has none, and nothing of them ran on Apache Hudi or Apache Flink."""

from __future__ import annotations

from nbcc.model.mechanisms.flink.mechanism import MECHANISM
from nbcc.model.mechanisms.flink.options import Flink

from ..mechanism import FAULT, Feature, Lockstep, MappingRow

NOT_RUN = "Hudi's Flink sink runs inside a Flink job, and its modules are not in the bundle for Spark"
NO_JOBS = "it has no Flink job"

LOCKSTEP = Lockstep(
    features=(
        Feature("flink-jobs",
            about="A Flink job writes to the table: a checkpoint is a promise to commit, its notification commits, and "
                  "a restart recommits. Read in the source of Hudi 1.2.0, not run.",
            source="apache/hudi #18051, #19215, #19024, #14157; Carbone et al. 2015, 'Lightweight asynchronous "
                   "snapshots'; docs/flink.md",
            engine_refuses=NO_JOBS,
            hudi_impossible=NOT_RUN,
            mutants=("flink-checkpoint-without-metadata", "flink-commits-before-its-checkpoint",
                     "flink-recommits-again", "flink-source-skips-a-batch"),
            verdicts=("flink-1.2.0",), promises=("ONCE", "ACK", "REC", "FIRST"),
            trace="94-flink-commit-fails", boundary="**Flink jobs**"),
    ),
    rows=tuple(MappingRow(action.name, FAULT) for action in MECHANISM.actions),
    hudi_cannot=NOT_RUN,
    examples=(("flink-1.2.0", "flink_failures"), ("occ", "flink_two_jobs")),
    without_actors="it is a library for Spark, and a Flink job has a coordinator and tasks of its own",
    refuses={
        Flink(coordinator_state="all"): NO_JOBS,
        Flink(restored_id="none"): NO_JOBS,
        Flink(recommit_check="since_beginning"): NO_JOBS,
        Flink(flink_rollback="by_heartbeat"): NO_JOBS,
        Flink(older_checkpoint="accepted"): NO_JOBS,
        Flink(write_error="fails_commit"): NO_JOBS,
    },
)  # fmt: skip
