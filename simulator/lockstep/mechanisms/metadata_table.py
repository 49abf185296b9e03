"""The metadata table. The engine refuses to write a table that has one, and reads the table by listing."""

from __future__ import annotations

from nbcc.model.mechanisms.metadata_table import HasMetadataTable, MetadataOptions

from ..mechanism import Feature, Lockstep, MappingRow

NOT_WRITTEN = "tables that have a metadata table are not written"
NOT_READ = "the metadata table is not read; readers list the files"

LOCKSTEP = Lockstep(
    features=(
        Feature("metadata-table",
            about="A second table lists the files of the first: each commit updates it first, under the same lock; "
                  "repeating an update changes nothing.",
            source="RFC-22, Updating Metadata Table; RFC-15; apache/hudi #3426, #5098, #8079; docs/contract.md, SNAP, "
                   "ATOM",
            engine_refuses="it reads such a table by listing its files and refuses to write it",
            hudi_impossible="Hudi commits to the metadata table and to the table inside one call, under its lock; "
                            "tests/interop shows the order of the two",
            mutants=("metadata-lists-the-last-alone", "metadata-by-completion-time", "metadata-rollback-by-time",
                     "metadata-table-written"),
            verdicts=("metadata-after-data", "metadata-outside-lock", "metadata-refused-again", "metadata-read-first",
                      "metadata-not-reconciled"),
            promises=("SNAP", "ATOM", "TRAVEL", "INCR", "PROGRESS"), trace="71-between-two-commits",
            boundary="**The metadata table** is in the model alone"),
    ),
    rows=(
        MappingRow("reader_lists_files", "snapshot", starts=True),
        MappingRow("actor_begins_metadata", "upsert"),
        MappingRow("actor_commits_metadata", "upsert"),
    ),
    hudi_cannot="`commit` commits to the metadata table and then to the table, in one call under its lock",
    refuses={
        MetadataOptions(metadata_commit="after_data"): NOT_WRITTEN,
        MetadataOptions(metadata_lock="outside_lock"): NOT_WRITTEN,
        MetadataOptions(metadata_again="refused"): NOT_WRITTEN,
        MetadataOptions(metadata_trust="listed"): NOT_READ,
        MetadataOptions(metadata_read="before_timeline"): NOT_READ,
        HasMetadataTable(metadata_table=1): (
            "it lists the files of a table that has a metadata table, and refuses to write to it"
        ),
    },
    traceless="no segment has a commit of the metadata table",
)  # fmt: skip
