"""Copy on write."""

from __future__ import annotations

from ..mechanism import Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("copy-on-write",
            about="A write merges its rows with the base file of each file group that it touches, and puts a new base "
                  "file under its own instant.",
            source="RFC-22, overhead of merge on read",
            engine=("data.rewrite:rewrite_group", "writes.data_write:write_task"),
            hudi_impossible="Hudi writes log files under NBCC; tests/interop shows that Hudi reads these tables",
            mutants=("rewrite-forgets-base",), verdicts=("single-writer",),
            promises=("SNAP", "INCR", "CDC", "ATOM", "FIRST"), trace="45-copy-on-write-loses",
            boundary="Copy on write"),
    ),
    rows=(MappingRow("writer_writes_base", "upsert", ends_after="put base"),),
    hudi_cannot="the tables that lockstep lets Hudi write are MERGE_ON_READ",
)  # fmt: skip
