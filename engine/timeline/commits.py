"""Commit metadata and plans by instant, each file read once: they never change."""

from __future__ import annotations

from ..storage import Storage
from .instant import Instant
from .metadata import CommitMetadata, CompactionPlan, load_commit, load_plan


class Commits:
    """What the instants of one table say. Keep one as long as the table is open; any number of timelines may use it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._commits: dict[str, CommitMetadata] = {}
        self._plans: dict[str, CompactionPlan] = {}

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
