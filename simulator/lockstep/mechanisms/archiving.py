"""Archiving into the LSM timeline."""

from __future__ import annotations

from nbcc.model import World
from nbcc.model.mechanisms.archiving.rules import ArchiveLimits, Archiving

from ..mechanism import Feature, Lockstep, MappingRow, impossible
from .reader import IN_ONE_CALL


def retained(world: World, actor: str) -> int:
    """Return how many instants an archiver leaves on the active timeline."""
    return world[ArchiveLimits].instants_retained


LOCKSTEP = Lockstep(
    features=(
        Feature("archiving",
            about="Old completed instants move from the active timeline into an LSM tree of Parquet files: its "
                  "manifest first, the deletes afterwards, nothing past a pending instant.",
            source="RFC-66, completion time look-up; Apache Hudi 1.x, LSM timeline; docs/contract.md, ARCH",
            engine=("archive", "services.archiving:archivable", "writes.commit_protocol:older_than_archive",
                    "timeline.lsm:add", "timeline.lsm:merge_levels", "timeline.commits:Commits"),
            hudi=("archive",),
            mutants=("archive-reads-its-last-two-files", "archive-past-pending", "archive-never-looked-into",
                     "archive-manifest-kept", "archive-deletes-first", "archive-newest-first",
                     "archive-without-manifest", "read-forgets-the-archive-time", "archive-refuses-the-living",
                     "archiver-archives-nothing", "archive-takes-newest-clean", "archive-takes-restores",
                     "archive-takes-last-decision", "archive-file-without-its-oldest", "archived-writes-are-orphans"),
            verdicts=("archive-unread", "old-manifest", "archive-past-pending"),
            promises=("ARCH", "QUIET", "SNAP", "ACK", "USEFUL"), trace="54-archiving", boundary="**Archiving**"),
    ),
    rows=(
        # Under the lock: put the archive's file, its manifest, and the version, which names the manifest and makes the
        # instants part of the archive; then delete the requested and inflight files of the instants.
        MappingRow("archiver_archives_instants", "archive", ends_after="lock.release", starts=True,
                   arguments=(("retained", retained),)),
        MappingRow("archiver_resumes_archiving", "archive", ends_after="lock.release", starts=True,
                   arguments=(("retained", retained),)),
        # Only the completed file is left: its delete removes the instant. These are the actions of the instants that
        # may be archived; a restore stays.
        MappingRow("archiver_removes_instant", "archive",
                   ends_after=("delete deltacommit", "delete commit", "delete clean", "delete rollback")),
        # The files of a manifest exist before it and never change, so reading them later is safe.
        MappingRow("reader_looks_into_archive", "snapshot", ends_after="get version", hudi=impossible(IN_ONE_CALL)),
        # Every action needs a row, but the engine takes this one in no run: it refuses `archive_lookup=before_listing`.
        MappingRow("reader_opens_archive", "snapshot", ends_after="get version", starts=True,
                   hudi=impossible(IN_ONE_CALL)),
    ),
    hudi_cannot="Hudi archives in one call, by its own rules",
    refuses={
        Archiving(archive_lookup="before_listing"): "a reader looks into the archive after it has listed the timeline"
    },
    traceless="no segment has archived instants",
    examples=(("old-manifest", "archiving_readers"),),
)  # fmt: skip
