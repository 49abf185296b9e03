"""One log of a slice, to which several writes append."""

from __future__ import annotations

from nbcc.model.mechanisms.shared_logs import SharedLogs

from ..mechanism import Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("shared-logs",
            about="Blocks of several instants share one file; a rollback block behind a failed write undoes it, "
                  "instead of a deleted file.",
            source="RFC-22, 'Option 2 implementation' (the layout that it ends); Apache Hudi, command blocks; "
                   "HUDI-6114",
            engine=("files.log_block:without_rolled_back",),
            hudi_impossible="Hudi 1.x writes such logs for table version 6 only, which the peer does not create",
            mutants=("rollback-block-in-front",),
            verdicts=("shared-log", "blocks-in-file-order", "rollback-block-in-front", "rollback-block-earlier"),
            promises=("ATOM", "SNAP", "QUIET"), trace="74-rollback-block", boundary="**One log a slice**"),
    ),
    # only under options that the engine does not support
    rows=(MappingRow("rollbacker_appends_rollback_block", "run_rollback"),),
    hudi_cannot="each log belongs to one instant",
    refuses={SharedLogs(log_layout="shared"): "object stores cannot append, so each write puts log files of its own"},
    examples=(("shared-log", "appended_logs"),),
)  # fmt: skip
