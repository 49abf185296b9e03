"""Uses the file list of a state checkpoint instead of the commits that completed at or before the checkpoint's time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .archive_files import Archived
from .cleans import CleanSummary
from .commits import Commits
from .history import Active, ArchivedInstants, Current, History
from .instant import Instant
from .metadata import CommitMetadata, decode_commit
from .state_checkpoint import StateCheckpoint
from .timeline import Timeline

_WITHOUT_LIVE_FILES: Final = CommitMetadata((), "")


class CheckpointedCommits(Commits):
    """The commits needed by a read as of the state checkpoint's time or any later time.

    For an instant that completed at or before the checkpoint's time, the commit contains only the files listed in the
    checkpoint. The commits of instants that completed after the checkpoint's time are read from the timeline or the
    archive. A `CheckpointedCommits` object shares its cache with the table's `Commits` object.

    `misfit` states why the checkpoint does not fit the timeline that `history` was last given; '' if it fits. Raises
    `NotATable` if a commit in the checkpoint cannot be decoded.

    `is_dropped` is True once `history` was given a timeline with a restore that is newer than the checkpoint. From then
    on, the object is equal to the table's `Commits` object, so that the reader need not list the timeline again.
    """

    def __init__(self, commits: Commits, checkpoint: StateCheckpoint) -> None:
        super().__init__(commits._storage, commits.decoded, commits.archive)
        self.checkpoint = checkpoint
        self.misfit = ""
        self.is_dropped = False
        # A read lists the timeline twice, and rarely finds a new instant: a long history is joined once.
        self._last: tuple[object, History | None] = None, None
        # Keyed by file name, which includes the completion time: a commit of another history of the table does not
        # match.
        self._rows: dict[str, Archived] = {row.instant.file_name: row for row in checkpoint.rows}
        self._live = {
            name: decode_commit(row.metadata, name) for name, row in self._rows.items() if row.metadata is not None
        }

    def history(self, active: Active) -> History:
        """Join a listed timeline with the checkpoint and with the archive files that may contain writes newer than the
        checkpoint.
        """
        self.is_dropped = self.is_dropped or not self.checkpoint.holds_in(active)
        if self.is_dropped:
            self.misfit = ""
            return super().history(active)
        # Only after the active timeline was listed: an instant that is archived in between is in one of the two.
        self.archive.refresh(active.lacks_archived)
        later, newest = self.archive.states_after(self.checkpoint.archived), self.archive.newest()
        # Valid as long as the listing and the newer archive files are equal, because the rest is the unchanging
        # checkpoint.
        given, history = self._last
        if history is None or given != (active, later, newest):
            self.misfit = self.checkpoint.misfit(active, newest, later)
            summarised = Timeline.of((*(row.instant for row in self.checkpoint.rows), *later))
            history = History(active, ArchivedInstants(summarised))
            self._last = (active, later, newest), history
        return history

    def commit(self, instant: Instant) -> CommitMetadata:
        """Return the metadata of a completed instant; if the checkpoint covers the instant, only its live files are
        listed.
        """
        if not self._is_covered(instant):
            return super().commit(instant)
        # A covered write without an entry has no live file, and no read as of the checkpoint's time or later needs
        # another.
        return self._live.get(instant.file_name, _WITHOUT_LIVE_FILES)

    def fetch(self, instants: Iterable[Instant]) -> None:
        """Read the commits of those instants that the checkpoint does not cover."""
        super().fetch(instant for instant in instants if not self._is_covered(instant))

    def clean_summary(self, requested: str) -> CleanSummary:
        """Return the horizon and the savepoints of a clean plan. If the clean was requested at or before the
        checkpoint's time, the result contains only the checkpoint's horizon (the oldest readable time).
        """
        if requested <= self.checkpoint.time and not self.is_dropped:
            return CleanSummary(self.checkpoint.horizon or None)
        return super().clean_summary(requested)

    def horizon(self, timeline: Current) -> str | None:
        """Return the horizon (the oldest readable time) that results from all cleans, before and after the checkpoint.
        """
        summarised = "" if self.is_dropped else self.checkpoint.horizon
        # Times have equal width, so the greatest text is the latest time, and '' is earlier than all of them.
        return max(super().horizon(timeline) or "", summarised) or None

    def _is_covered(self, instant: Instant) -> bool:
        return not self.is_dropped and instant.completed is not None and instant.completed <= self.checkpoint.time
