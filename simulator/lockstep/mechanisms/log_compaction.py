"""Log compaction."""

from __future__ import annotations

from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.log_compaction.rules import LogCompactions

from ..mechanism import INSTANT, Feature, Lockstep, MappingRow, Runs, ServiceLabel

LOCKSTEP = Lockstep(
    features=(
        Feature("log-compaction",
            about="Several logs of a slice become one log at their place in the order; windows and older reads "
                  "continue to use the inputs.",
            source="RFC-66, new file slicing: handle_log_compaction",
            engine=("schedule_log_compaction", "run_log_compaction", "log_compact",
                    "files.log_compaction:without_covered", "data.log_compact:compact_logs"),
            hudi=("plan_log_compaction", "log_compact", "commit_log_compaction"),
            mutants=("log-compaction-leaves-a-gap", "log-compaction-ranks-last", "log-compaction-delivered",
                     "log-compaction-drops-log", "covered-logs-read-again", "log-compactor-never-plans"),
            verdicts=("log-compaction-ranks-last", "log-compaction-delivered"),
            promises=("QUIET", "PART", "INCR", "LAWS", "USEFUL"), trace="60-log-compaction",
            boundary="**Log compaction**"),
    ),
    service=ServiceLabel("log compaction"),
    runs=Runs(
        LOG_COMPACTOR,
        begins=MappingRow("log_compactor_schedules_plan", "schedule_log_compaction", starts=True),
        inflight=MappingRow("log_compactor_starts_plan", "run_log_compaction", ends_after="put logcompaction.inflight",
                            starts=True, arguments=((INSTANT, "plan"),)),
        publishes="run_log_compaction",
    ),
    rows=(MappingRow("log_compactor_writes_log", "run_log_compaction", ends_after="put log"),),
    hudi_cannot="the protocol `hudi-1.2.0` was fitted without Hudi's log compactions, whose blocks have an instant of "
                "their own",
    refuses={LogCompactions(log_compaction_window="included"): "a window excludes the logs of table services"},
    traceless="a reader puts no file",
    traced=("log_compaction_rank",),
    examples=(("plan-checked-early", "log_compaction_crash"),),
)  # fmt: skip
