"""Indexing."""

from __future__ import annotations

from nbcc.model.mechanisms.indexer import INDEXER

from ..mechanism import Feature, Lockstep, MappingRow, Runs

LOCKSTEP = Lockstep(
    features=(
        Feature(
            "indexer",
            about="An index is planned, built and published while writers write.",
            source="RFC-45, asynchronous metadata indexing",
            engine=("build_index",),
            hudi_impossible="only in the test that adds it",
            promises=("QUIET",),
            boundary="**Archiving.**",
        ),
    ),
    runs=Runs(
        INDEXER,
        begins=MappingRow("indexer_schedules_index", "build_index", ends_after="lock.release", starts=True),
        inflight=MappingRow("indexer_starts_index", "build_index", ends_after="put indexing.inflight"),
        publishes="build_index",
    ),
    hudi_cannot="only in the test that adds it",
)
