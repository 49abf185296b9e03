"""The cache of one table's timeline in a process: the last listing, the archive, and decoded commits and plans."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ..errors import Cleaned, Unsupported
from ..storage import NotFound, Storage, content_or_none, together
from .archive import Archive
from .archive_files import Archived
from .cleans import CleanPlan, CleanSummary, decode_clean_plan
from .compaction_plans import LOG_COMPACTION, CompactionPlan, decode_plan
from .decisions import LogEntry
from .history import Active, ArchivedInstants, Current, History
from .instant import Instant
from .loading import Listings
from .metadata import CommitMetadata, decode_commit
from .resize_plans import CLUSTERING, ResizePlan, decode_resize_plan
from .restores import restored_away
from .timeline import FOLDER, Timeline


class Decoded:
    """The content of a table's timeline files that a process has decoded. It never goes stale, because a timeline file
    never changes. `tail` is the last entry of the decision log that the process has read, and `created` the number of
    the last one that it has created. `unresized_until` is the time up to which the process knows that no resize was
    requested. `cleaned_resizes` are the resizes whose replaced file groups were cleaned.
    """

    def __init__(self) -> None:
        self.commits: dict[str, CommitMetadata] = {}
        self.plans: dict[str, CompactionPlan] = {}
        self.cleans: dict[str, CleanSummary] = {}
        self.listings = Listings()
        self.tail: LogEntry | None = None
        self.created = 0
        self.unresized_until = ""
        self.cleaned_resizes: set[str] = set()


class Commits:
    """Lists the active timeline of one table, joins it with the archive, and returns the content of its timeline files.
    What it has listed, read and decoded it caches. A context holds one `Commits` object while the table is open, and
    no other object caches the timeline.

    `has_read_archive` is True after `history` has read the archived timeline: a state checkpoint, which would save that
    reading, is of no use then. `checkpointed` contains the commits loaded from a
    state checkpoint, if this process uses one.
    """

    def __init__(self, storage: Storage, decoded: Decoded | None = None, archive: Archive | None = None) -> None:
        self._storage = storage
        self.archive = archive or Archive(storage)
        self.decoded = decoded or Decoded()
        self.has_read_archive = False
        self.checkpointed: Commits | None = None

    def use(self, checkpointed: Commits) -> None:
        """Remember the commits loaded from a state checkpoint, for the next read of this process."""
        self.checkpointed = self.checkpointed or checkpointed

    def drop_checkpoint(self, *, has_read_archive: bool) -> None:
        """Forget the commits loaded from a state checkpoint, because it does not fit the timeline. `has_read_archive`
        is True if the archived timeline was read in its place.
        """
        self.checkpointed = None
        self.has_read_archive = self.has_read_archive or has_read_archive

    def unread(self) -> Commits:
        """Return commits that share the decoded content with these, but have not read the archived timeline, so that
        they can use a state checkpoint.
        """
        return Commits(self._storage, self.decoded)

    def active(self, through: Storage | None = None) -> Active:
        """List the active timeline. `through` is a storage of the same table, if not the storage of these commits."""
        return self.decoded.listings.active(through or self._storage)

    def active_to_read(self) -> Active:
        """List the active timeline for a reader, without looking for torn files."""
        return self.decoded.listings.to_read(self._storage)

    def history(self, active: Active) -> History:
        """Return the history of which `active` was listed; the archive is read now."""
        self.has_read_archive = True
        self.archive.refresh(active.lacks_archived)
        return History(active, self.archive.archived())

    def without_late_states(self, active: Active) -> Active:
        """Return the listed timeline without the pending states of instants that are archived.

        An actor that stalls before it puts a state, and wakes after others have completed and archived the instant,
        puts the state again. The archive is read only if a pending instant is not newer than the newest archived one.
        """
        # The names of the archive files are in the listing already, so the usual case costs no request.
        if all(instant.requested > active.newest_archived for instant in active.pending):
            return active
        self.archive.refresh(active.lacks_archived)
        late = late_states(active, self.archive.archived())
        return active.without({instant.key for instant in late}) if late else active

    def retire(self, instants: Iterable[Instant], timeline: Timeline) -> None:
        """Record the archived instants that no table service needs any more, and remove them and their content from the
        cache. `timeline` contains them.
        """
        retired = tuple(instants)
        if retired:
            self.archive.retire(retired, timeline)
        for instant in retired:
            if instant.key in self.archive.retired:
                # Only of those that `retired` took over. An instant that it refused stays with the others, and may be
                # read again.
                self.decoded.commits.pop(instant.file_name, None)
                self.decoded.plans.pop(instant.requested, None)

    def archive_now(self) -> Archive:
        """Return a new `Archive`, which reads the current manifest. `self.archive` is as of its last refresh."""
        return Archive(self._storage)

    def commit(self, instant: Instant) -> CommitMetadata:
        """Return the metadata of a completed instant, active or archived."""
        name = instant.file_name
        if name not in self.decoded.commits:
            self.decoded.commits[name] = decode_commit(self.content(instant), name)
        return self.decoded.commits[name]

    def fetch(self, instants: Iterable[Instant]) -> None:
        """Read the commits of the given instants concurrently from an object store. On a file system, commits are read
        only when they are needed.
        """
        if not self._storage.is_remote:
            return
        # Archived instants are left out: their content is in files that the archive reads by itself.
        wanted = [i for i in instants if i.file_name not in self.decoded.commits and not self.archive.holds(i)]
        reads = [partial(content_or_none, self._storage, f"{FOLDER}/{instant.file_name}") for instant in wanted]
        for instant, data in zip(wanted, together(self._storage, reads), strict=True):
            # None means archived since the listing. `commit` then finds it in the archive, one at a time.
            if data is not None:
                self.decoded.commits[instant.file_name] = decode_commit(data, instant.file_name)

    def plan(self, requested: str) -> CompactionPlan:
        if requested not in self.decoded.plans:
            instant = Instant(requested, "compaction", "requested")
            self.decoded.plans[requested] = decode_plan(self._planned(instant, "commit"), instant.file_name)
        return self.decoded.plans[requested]

    def log_plan(self, requested: str) -> CompactionPlan:
        if requested not in self.decoded.plans:
            instant = Instant(requested, LOG_COMPACTION, "requested")
            self.decoded.plans[requested] = decode_plan(self._planned(instant, "deltacommit"), instant.file_name)
        return self.decoded.plans[requested]

    def resize_plan(self, requested: str) -> ResizePlan | None:
        """Return the plan of a resize with the requested time `requested`; None if another engine planned to cluster
        the table. Raises `NotFound` if the plan was cancelled, so it is not cached.
        """
        instant = Instant(requested, CLUSTERING, "requested")
        return decode_resize_plan(self._planned(instant, "replacecommit"), instant.file_name)

    def resize_plan_or_none(self, requested: str) -> ResizePlan | None:
        """Return the plan of a pending resize; None if the table has none of that time."""
        try:
            return self.resize_plan(requested)
        # A cancelled resize deletes its plan, and a restore undoes it: both leave no plan to carry out.
        except (NotFound, Cleaned):
            return None

    def clean(self, requested: str) -> CleanPlan:
        """Read the clean plan with the requested time `requested`; an empty plan if another engine left no plan file.
        """
        instant = Instant(requested, "clean", "requested")
        try:
            return decode_clean_plan(self._planned(instant, "clean"), instant.file_name)
        except NotFound:
            return CleanPlan("", {})

    def clean_summary(self, requested: str) -> CleanSummary:
        """Return the horizon and the savepoints of a clean plan. They stay cached without the plan's file names, which
        are as many as all files that were ever deleted.
        """
        if requested not in self.decoded.cleans:
            plan = self.clean(requested)
            self.decoded.cleans[requested] = CleanSummary(plan.horizon, plan.savepoints)
        return self.decoded.cleans[requested]

    def content(self, instant: Instant) -> bytes:
        """Return the bytes of a completed instant's file, from the active timeline or the archive."""
        # The archive first: a request for the timeline file of an archived instant would fail and be wasted.
        archived = self.archive.row(instant)
        if archived is None:
            try:
                return self._storage.get(f"{FOLDER}/{instant.file_name}")
            except NotFound:
                archived = self._archived_meanwhile(instant)
        if archived.metadata is None:
            raise Unsupported(
                f"read what the {instant} wrote",
                "another engine archived it without the content of its commit",
                "read the table with that engine, and turn its archiving off (hoodie.archive.automatic=false)",
            )
        return archived.metadata

    def requested_content(self, pending: Instant) -> bytes | None:
        """Return the bytes of an active instant's requested file; None if the file does not exist.

        For an empty file the result is b"", so a plan file emptied by a power failure is not mistaken for a missing
        one.
        """
        return content_or_none(self._storage, f"{FOLDER}/{pending.file_name}")

    def _planned(self, pending: Instant, completes_as: str) -> bytes:
        """Return the bytes of an instant's plan file, from the active timeline or the archive. In the archive, a plan
        is stored with the commit of its instant.
        """
        archived = self.archive.row(Instant(pending.requested, completes_as, "completed"))
        if archived is not None and archived.plan is not None:
            return archived.plan
        try:
            return self._storage.get(f"{FOLDER}/{pending.file_name}")
        except NotFound:
            archived = self._archived_meanwhile(Instant(pending.requested, completes_as, "completed"))
            if archived.plan is None:
                raise
            return archived.plan

    def _archived_meanwhile(self, instant: Instant) -> Archived:
        """Return the archived content of an instant that was archived after the timeline was listed.

        Raises `Cleaned` if a restore has undone the instant, and `NotFound` if the archive does not contain it.
        """
        self.archive.refresh()
        # Reads all files of the new manifest, because `row` looks only into files that were read.
        self.archive.timeline()
        archived = self.archive.row(instant)
        if archived is None:
            raise restored_away(self._storage, instant.requested, f"the {instant}") or NotFound(
                f"{FOLDER}/{instant.file_name}"
            )
        return archived

    def horizon(self, timeline: Current) -> str | None:
        """Return the horizon that nbcc's completed and pending cleans imply: the completion time before which reads are
        refused.
        """
        # Pending cleans count, too: the cleaner may be deleting files while this read begins.
        cleans = (self.clean_summary(instant.requested) for instant in timeline.cleans)
        return max((clean.horizon for clean in cleans if clean.horizon), default=None)


def late_states(timeline: Active, archived: ArchivedInstants) -> dict[Instant, Instant]:
    """Return the pending instants of a listed timeline that are in the archive, each with the archived instant."""
    found = ((pending, archived.find(pending.requested, pending.action)) for pending in timeline.pending)
    return {pending: instant for pending, instant in found if instant is not None and instant.completed}
