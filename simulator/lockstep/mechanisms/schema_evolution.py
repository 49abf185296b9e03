"""Schema evolution."""

from __future__ import annotations

from nbcc.model.mechanisms.schema_evolution.mechanism import SCHEMA_EVOLVER
from nbcc.model.mechanisms.schema_evolution.rules import SchemaEvolution

from ..mechanism import Feature, Lockstep, MappingRow, Runs, ServiceLabel

LOCKSTEP = Lockstep(
    features=(
        Feature("schema-evolution",
            about="Columns are added, dropped, widened and reordered; old files are read under the new columns, old "
                  "times under the columns of that time.",
            source="docs/hudi-format.md, Content; Avro, schema resolution",
            engine=("alter_schema", "schema.evolution:check_evolution", "config.schemas:config_at"),
            hudi_impossible="Spark SQL's ALTER TABLE changes a table of a catalog in one call; the client of this peer"
                            " has no catalog",
            mutants=("compaction-under-old-columns", "as-of-under-columns-of-now"),
            verdicts=("compaction-as-opened", "columns-of-now", "columns-of-newest-commit"),
            promises=("SNAP", "TRAVEL", "QUIET", "INCR"), trace="85-a-column-is-lost", boundary="**Schema evolution**"),
    ),
    service=ServiceLabel("new columns"),
    runs=Runs(
        SCHEMA_EVOLVER,
        # a commit without files
        begins=MappingRow("schema_evolver_requests_instant", "alter_schema", ends_after="lock.release"),
        inflight=MappingRow("schema_evolver_starts_commit", "alter_schema", ends_after="put deltacommit.inflight"),
        publishes="alter_schema",
    ),
    rows=(
        # before it, under the lock: put the properties with one more column
        MappingRow("schema_evolver_adds_column", "alter_schema", ends_after="lock.release", starts=True,
                   arguments=(("columns", "columns"),)),
    ),
    hudi_cannot="Spark SQL's ALTER TABLE does it in one call, on a table in a catalog",
    refuses={
        SchemaEvolution(columns_shown="current"): "an as-of read shows the columns that the table had at that time",
        SchemaEvolution(columns_shown="last_commit"): "the table properties record the columns",
        SchemaEvolution(columns_written="at_open"): "a service reads the columns when it starts",
    },
    traceless="times, plans and file names do not depend on the columns",
)  # fmt: skip
