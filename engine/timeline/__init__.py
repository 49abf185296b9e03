"""The timeline: instants as files, the content of these files, and the archive."""

from __future__ import annotations

from .archive import Archive
from .archive_files import Archived
from .commits import Commits
from .compaction_plans import (
    LOG_COMPACTION,
    SORT_BY,
    CompactionOperation,
    CompactionPlan,
    decode_plan,
    encode_plan,
    load_plan,
)
from .index import completion_of
from .instant import Instant, parse_instant
from .loading import load
from .metadata import REPLACES, CommitMetadata, WriteStat, decode_commit, encode_commit, load_commit, own_extra
from .publish import put_completed, put_inflight, put_requested
from .rollbacks import RollbackPlan, decode_rollback_plan, encode_rollback, encode_rollback_plan, load_rollback_plan
from .timeline import Timeline

__all__ = [
    "LOG_COMPACTION", "REPLACES", "SORT_BY", "Archive", "Archived", "CommitMetadata", "Commits", "CompactionOperation",
    "CompactionPlan", "Instant", "RollbackPlan", "Timeline", "WriteStat", "completion_of", "decode_commit",
    "decode_plan", "decode_rollback_plan", "encode_commit", "encode_plan", "encode_rollback", "encode_rollback_plan",
    "load", "load_commit", "load_plan", "load_rollback_plan", "own_extra", "parse_instant", "put_completed",
    "put_inflight", "put_requested",
]  # fmt: skip
