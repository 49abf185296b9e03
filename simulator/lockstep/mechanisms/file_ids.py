"""File ids of buckets."""

from __future__ import annotations

from nbcc.model.kernel.writer import WRITER_REQUESTS_INSTANT, WRITER_WRITES_LOG
from nbcc.model.mechanisms.file_ids import FileIds

from ..mechanism import Feature, Lockstep

LOCKSTEP = Lockstep(
    features=(
        Feature("file-ids",
            about="The bucket fixes the file id, so that independent writers put a key into the same file group.",
            source="RFC-66, consistent file ids; RFC-22, guarantees that multiple writers do not have",
            model=(WRITER_REQUESTS_INSTANT, WRITER_WRITES_LOG), options=("file_ids",),
            engine=("names:bucket_file_id",),
            hudi_impossible="Hudi has fixed ids under NBCC only; its simple bucket index begins a file group under a "
                            "random id, and its other indexes refuse NBCC",
            mutants=("occ-compares-file-ids",), verdicts=("minted-file-ids", "occ-by-file-id"), promises=("KEY",),
            trace="43-key-in-two-groups", boundary="file ids"),
        Feature("per-actor",
            about="Modes, buckets and checks are options of each actor: real writers are started with their own "
                  "options.",
            source="RFC-22, concurrency modes; hoodie.write.concurrency.mode, hoodie.bucket.index.num.buckets",
            model=(WRITER_REQUESTS_INSTANT, WRITER_WRITES_LOG, "writer_takes_completion_time",
                   "writer_publishes_instant", "cleaner_schedules_clean"),
            options=("bucket_count", "world.settings"), engine=("config.concurrency:concurrency_mode",),
            hudi_impossible="one client configuration drives all writers of the peer", mutants=("mode-of-the-table",),
            verdicts=("own-bucket-count",), promises=("KEY", "FIRST"), trace="35-other-buckets",
            boundary="Writers that disagree"),
    ),
    refuses={
        FileIds(file_ids="generated"): "a bucket has one fixed file id",
        FileIds(bucket_count="own"): (
            "the table states its number of buckets, and a writer with another number is refused"
        ),
    },
)  # fmt: skip
