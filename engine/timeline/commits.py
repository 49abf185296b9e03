"""Caches the decoded commits and plans of one table. Each timeline file is read once, because the content of a timeline
file never changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ..errors import Unsupported
from ..storage import NotFound, ObjectStorage, Storage, together
from .archive import Archive
from .archive_files import Archived
from .cleans import CleanPlan, CleanSummary, decode_clean_plan
from .instant import Instant
from .metadata import LOG_COMPACTION, CommitMetadata, CompactionPlan, decode_commit, decode_plan
from .restores import restored_away
from .timeline import FOLDER, Timeline


class Commits:
    """The cached content of one table's timeline files. One `Commits` object serves all timelines of a table while the
    table is open.

    `has_read` is True after `whole` or `unretired` has read the archived timeline. `checkpointed` contains the commits
    loaded from a state checkpoint, if this process uses one.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.archive = Archive(storage)
        self._commits: dict[str, CommitMetadata] = {}
        self._plans: dict[str, CompactionPlan] = {}
        self._cleans: dict[str, CleanSummary] = {}
        self.has_read = False
        self.checkpointed: Commits | None = None

    def unread(self) -> Commits:
        """Return commits that share the decoded content with these, but have not read the archived timeline."""
        commits = Commits(self._storage)
        commits._commits, commits._plans, commits._cleans = self._commits, self._plans, self._cleans
        return commits

    def whole(self, timeline: Timeline) -> Timeline:
        """Return the listed timeline together with the archived instants. The result contains every instant that ever
        completed, because the archive is read after the listing.
        """
        self.has_read = True
        self.archive.refresh(timeline.archived)
        return timeline.with_archived(self.archive.whole())

    def unretired(self, timeline: Timeline) -> Timeline:
        """Return the listed timeline together with the archived instants that table services need. If a restore has
        changed which files are live, services need all archived instants.
        """
        if timeline.restores:
            return self.whole(timeline)
        self.has_read = True
        self.archive.refresh(timeline.archived)
        archived = self.archive.timeline()
        return timeline.without(self.archive.retired).with_archived(archived)

    def without_late_states(self, timeline: Timeline) -> Timeline:
        """Return the listed timeline without the pending states of instants that are archived.

        An actor that stalls before it puts a state, and wakes after others have completed and archived the instant,
        puts the state again. The archive is read only if a pending instant is not newer than the newest archived one.
        """
        if all(instant.requested > timeline.newest_archived for instant in timeline.pending):
            return timeline
        self.archive.refresh(timeline.archived)
        late = late_states(timeline, self.archive.whole())
        return timeline.without({instant.key for instant in late}) if late else timeline

    def with_retired(self, timeline: Timeline) -> Timeline:
        """Return a result of `unretired` together with the retired instants."""
        return timeline.with_states(self.archive.retired.states()) if self.archive.retired else timeline

    def find(self, timeline: Timeline, requested: str) -> Instant | None:
        """Return the write with the given requested time, from a result of `unretired` or among the retired instants.
        """
        return timeline.find(requested) or self.archive.retired.find(requested)

    def at(self, timeline: Timeline, requested: str) -> tuple[Instant, ...]:
        """Return the instants of all actions with the given requested time, from a result of `unretired` and among the
        retired instants.
        """
        found, retired = timeline.at(requested), self.archive.retired.find(requested)
        return found if retired is None or retired in found else (*found, retired)

    def retire(self, instants: Iterable[Instant], timeline: Timeline) -> None:
        """Record the archived instants that no table service needs any more, and remove them and their content from the
        cache. `timeline` contains them.
        """
        retired = tuple(instants)
        if retired:
            self.archive.retire(retired, timeline)
        for instant in retired:
            if instant.key in self.archive.retired:
                self._commits.pop(instant.file_name, None)
                self._plans.pop(instant.requested, None)

    def archive_now(self) -> Archive:
        """Return a new view of the archived timeline, as of now."""
        return Archive(self._storage)

    def commit(self, instant: Instant) -> CommitMetadata:
        """Return the metadata of a completed instant, active or archived."""
        name = instant.file_name
        if name not in self._commits:
            self._commits[name] = decode_commit(self.content(instant), name)
        return self._commits[name]

    def fetch(self, instants: Iterable[Instant]) -> None:
        """Read the commits of the given instants concurrently from an object store. On a file system, commits are read
        only when they are needed.
        """
        if not isinstance(self._storage, ObjectStorage):
            return
        wanted = [i for i in instants if i.file_name not in self._commits and not self.archive.holds(i)]
        reads = [partial(_content_or_none, self._storage, f"{FOLDER}/{instant.file_name}") for instant in wanted]
        for instant, data in zip(wanted, together(self._storage, reads), strict=True):
            if data is not None:
                self._commits[instant.file_name] = decode_commit(data, instant.file_name)

    def plan(self, requested: str) -> CompactionPlan:
        """Return the compaction plan with the requested time `requested`."""
        if requested not in self._plans:
            instant = Instant(requested, "compaction", "requested")
            self._plans[requested] = decode_plan(self._planned(instant, "commit"), instant.file_name)
        return self._plans[requested]

    def log_plan(self, requested: str) -> CompactionPlan:
        """Return the log compaction plan with the requested time `requested`."""
        if requested not in self._plans:
            instant = Instant(requested, LOG_COMPACTION, "requested")
            self._plans[requested] = decode_plan(self._planned(instant, "deltacommit"), instant.file_name)
        return self._plans[requested]

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
        if requested not in self._cleans:
            plan = self.clean(requested)
            self._cleans[requested] = CleanSummary(plan.horizon, plan.savepoints)
        return self._cleans[requested]

    def content(self, instant: Instant) -> bytes:
        """Return the bytes of a completed instant's file, from the active timeline or the archive."""
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
        try:
            return self._storage.get(f"{FOLDER}/{pending.file_name}")
        except NotFound:
            return None

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
        self.archive.timeline()
        archived = self.archive.row(instant)
        if archived is None:
            raise restored_away(self._storage, instant.requested, f"the {instant}") or NotFound(
                f"{FOLDER}/{instant.file_name}"
            )
        return archived

    def horizon(self, timeline: Timeline) -> str | None:
        """Return the horizon that nbcc's completed and pending cleans imply: the completion time before which reads are
        refused.
        """
        cleans = (self.clean_summary(instant.requested) for instant in timeline.cleans)
        return max((clean.horizon for clean in cleans if clean.horizon), default=None)


def late_states(timeline: Timeline, archived: Timeline) -> dict[Instant, Instant]:
    """Return the pending instants of a listed timeline that are in the archive, each with the archived instant."""
    found = ((pending, archived.find(pending.requested, pending.action)) for pending in timeline.pending)
    return {pending: instant for pending, instant in found if instant is not None and instant.completed}


def _content_or_none(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.get(path)
    except NotFound:
        return None
