"""The metadata table of many writers. The engine refuses to write a table that has a metadata table."""

from __future__ import annotations

from nbcc.model.mechanisms.metadata_entries import EntryLimits, EntryOptions

from ..mechanism import Feature, Lockstep, MappingRow
from .metadata_table import NOT_WRITTEN

LOCKSTEP = Lockstep(
    features=(
        Feature("metadata-entries",
            about="Many writers update the metadata table at once: the timeline of the data table decides about each "
                  "entry, and a compaction of the metadata table waits for no writer.",
            source="RFC-66, 'NBCC for the metadata table'; apache/hudi HUDI-3178, #11535, #19868",
            engine_refuses="it reads such a table by listing its files and refuses to write it",
            hudi_impossible="its client writes the metadata table inside the call that commits, under its lock",
            mutants=("metadata-base-alone", "metadata-base-without-its-base", "metadata-entry-by-request"),
            verdicts=("metadata-entry-by-own-time", "metadata-compacts-pending", "metadata-barrier-held-back"),
            promises=("SNAP", "ATOM", "QUIET", "USEFUL"), trace="100-entry-by-its-own-time",
            boundary="**The metadata table of many writers**"),
    ),
    rows=(
        MappingRow("actor_puts_entry", "upsert"),
        MappingRow("metadata_compactor_plans", "compact", starts=True),
        MappingRow("metadata_compactor_completes", "compact"),
    ),
    hudi_cannot="`commit` writes the metadata table and then the table, in one call under its lock",
    refuses={
        EntryOptions(entry_slice="entered"): NOT_WRITTEN,
        EntryOptions(entry_taken="entered"): NOT_WRITTEN,
        EntryOptions(entry_barrier="before_pending"): NOT_WRITTEN,
        EntryLimits(shared_metadata_table=1): NOT_WRITTEN,
    },
    examples=(("default", "metadata_entries"),),
    traceless="no segment has an entry of the metadata table",
)  # fmt: skip
