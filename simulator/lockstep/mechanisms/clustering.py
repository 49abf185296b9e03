"""Clustering. With fixed file ids a clustering is a compaction that sorts."""

from __future__ import annotations

from nbcc.model.mechanisms.clustering import CLUSTERER, Clustering

from ..mechanism import INSTANT, Feature, Lockstep, MappingRow, Runs, ServiceLabel

LOCKSTEP = Lockstep(
    features=(
        Feature("clustering",
            about="A service rewrites the rows of a file group in sorted order: a compaction that sorts, because "
                  "buckets fix the file ids.",
            source="RFC-22, table services; Apache Hudi: clustering completes as replacecommit; docs/contract.md, "
                   "QUIET",
            engine=("cluster",),
            hudi_impossible="Hudi 1.2.0 plans a clustering of a table with a simple bucket index and refuses to "
                            "execute it (finding clustering-plan-refuses-writes)",
            mutants=("clusterer-does-not-look",), verdicts=("clustering-replaces", "occ-clustering"),
            promises=("SNAP", "QUIET", "FIRST"), trace="66-clustering-hides-a-write", boundary="Clustering"),
    ),
    service=ServiceLabel("clustering", barrier=True),
    runs=Runs(
        CLUSTERER,
        begins=MappingRow("clusterer_schedules_plan", "schedule_compaction", starts=True),
        inflight=MappingRow("clusterer_starts_plan", "run_compaction", ends_after="put compaction.inflight",
                            starts=True, arguments=((INSTANT, "plan"),)),
        publishes="run_compaction",
    ),
    rows=(
        MappingRow("clusterer_writes_base", "run_compaction", ends_after="put base", also=("put marker", "put log")),
        # only under options that the engine does not support
        MappingRow("clusterer_gives_up", "run_compaction"),
    ),
    hudi_cannot="Hudi refuses to cluster a table with a simple bucket index",
    refuses={Clustering(clustering="file_ids"): "a clustering is a compaction that sorts"},
    examples=(("occ-clustering", "clustered"),),
)  # fmt: skip
