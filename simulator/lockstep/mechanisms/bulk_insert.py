"""Bulk inserts."""

from __future__ import annotations

from nbcc.model.mechanisms.bulk_insert.mechanism import BULK_INSERTER

from ..mechanism import Feature, Lockstep, MappingRow, Runs, calls, no_call

COMMITS = "`commit` takes the lock, looks, takes the time, publishes"
ALL_FILES = "`bulk` has put the inflight instant and every file"

LOCKSTEP = Lockstep(
    features=(
        Feature("bulk-insert",
            about="Rows become base files in empty file groups, and log files elsewhere; a bulk insert that another "
                  "write overtook is refused.",
            source="Apache Hudi 1.2.0: bulk insert is the one operation whose conflicts are resolved under NBCC; "
                   "docs/contract.md, SNAP",
            engine=("bulk_insert",), hudi=("start", "bulk", "refused", "commit"), mutants=("bulk-insert-looks-once",),
            verdicts=("bulk-insert-unchecked",), promises=("SNAP", "PART", "LAWS"),
            trace="50-bulk-insert-that-does-not-ask", boundary="Bulk insert"),
    ),
    runs=Runs(
        BULK_INSERTER,
        begins=MappingRow("bulk_inserter_requests_instant", "bulk_insert", ends_after="lock.release", starts=True,
                          hudi=calls("start", takes=True)),
        inflight=MappingRow("bulk_inserter_starts_writing", "bulk_insert", ends_after="put deltacommit.inflight",
                            hudi=calls("bulk")),
        publishes="bulk_insert",
        hudi=(no_call(COMMITS), no_call(COMMITS, takes=True), calls("commit")),
    ),
    rows=(
        MappingRow("bulk_inserter_writes_base", "bulk_insert", ends_after="put base", hudi=no_call(ALL_FILES)),
        MappingRow("bulk_inserter_writes_log", "bulk_insert", ends_after="put log", hudi=no_call(ALL_FILES)),
        MappingRow("bulk_inserter_looks_again", "bulk_insert", ends_after="list.end timeline", hudi=no_call(COMMITS)),
        MappingRow("bulk_inserter_gives_up", "bulk_insert", ends_after="lock.release",
                   hudi=no_call("`refused` meets the conflict and rolls back")),
        MappingRow("bulk_inserter_withdraws_instant", "bulk_insert", raises="Conflict", hudi=calls("refused")),
    ),
    traceless="no segment has a bulk insert",
)  # fmt: skip
