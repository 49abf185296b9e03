"""Commit metadata and plans by instant, each file read once: they never change."""

from __future__ import annotations

from ..storage import Storage
from .cleans import CleanPlan, load_clean_plan
from .instant import Instant
from .metadata import LOG_COMPACTION, CommitMetadata, CompactionPlan, load_commit, load_plan
from .timeline import Timeline


class Commits:
    """What the instants of one table say. Keep one as long as the table is open; any number of timelines may use it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._commits: dict[str, CommitMetadata] = {}
        self._plans: dict[str, CompactionPlan] = {}
        self._cleans: dict[str, CleanPlan] = {}

    def commit(self, instant: Instant) -> CommitMetadata:
        """The metadata of a completed instant of the active timeline."""
        name = instant.file_name
        if name not in self._commits:
            self._commits[name] = load_commit(self._storage, instant)
        return self._commits[name]

    def plan(self, requested: str) -> CompactionPlan:
        """The compaction plan with that barrier."""
        if requested not in self._plans:
            self._plans[requested] = load_plan(self._storage, requested)
        return self._plans[requested]

    def log_plan(self, requested: str) -> CompactionPlan:
        """The plan of the log compaction requested then."""
        if requested not in self._plans:
            self._plans[requested] = load_plan(self._storage, requested, LOG_COMPACTION)
        return self._plans[requested]

    def clean(self, requested: str) -> CleanPlan:
        """The plan of the clean requested then."""
        if requested not in self._cleans:
            self._cleans[requested] = load_clean_plan(self._storage, requested)
        return self._cleans[requested]

    def horizon(self, timeline: Timeline) -> str | None:
        """The completion time before which cleans of ours have closed the past, pending ones too; None without any."""
        cleans = (self.clean(instant.requested) for instant in timeline.instants if instant.action == "clean")
        return max((plan.horizon for plan in cleans if plan.horizon), default=None)
