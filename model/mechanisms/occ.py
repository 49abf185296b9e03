"""Optimistic concurrency control (RFC-22)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Occ(Options):
    """Optimistic concurrency control (RFC-22)."""

    concurrency: Literal["nbcc", "occ", "single_writer"] = choice(
        "nbcc",
        "how a writer gets along with others: it never looks (nbcc), it aborts if a conflicting write "
        "completed since it began (occ), or it takes for granted that there are none (single_writer); in a "
        "copy-on-write table, where nobody merges later, nbcc is to look at nothing, too",
        by=("writer", "loader", "replacer",),
    )
    conflict_check: Literal["under_lock", "before_lock"] = choice(
        "under_lock",
        "occ: made under the lock that also covers publishing, or before that lock is taken",
        by=("writer", "replacer",),
    )
    conflict_window: Literal["completion", "requested"] = choice(
        "completion",
        "occ: the writes that it is held against: those that completed since it began, or those requested "
        "after the last one that it knew (order by start time)",
        by=("writer", "loader", "replacer",),
    )
    conflict_by: Literal["bucket", "file_id"] = choice(
        "bucket",
        "occ: two writes conflict in one bucket of one partition, or only in one and the same file id",
        by=("writer", "loader", "replacer",),
    )
    conflict_reads: Literal["checked", "ignored"] = choice(
        "checked",
        "occ: what a write says it has read is looked at like what it writes, or not at all",
        by=("writer",),
    )
    timeline: Literal["sealed", "reloaded"] = choice(
        "sealed",
        "occ: what it knew when it began stays sealed, or is loaded anew with each file",
        by=("writer",),
    )
    priority: Literal["writer", "first"] = choice(
        "writer",
        "occ: a compaction never aborts a writer, or whoever completes first has the file group",
        by=("writer", "loader", "replacer",),
    )
    early_detection: Literal["off", "on"] = choice(
        "off",
        "occ: whether a writer aborts already when it meets another's marker in a file group",
        by=("writer",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries(Limits):
    """Limits: optimistic concurrency control (RFC-22)."""

    retries: int = limit(0, "how often a writer retries an aborted write as a new instant")


MECHANISM = Mechanism(options=Occ, limits=Retries)
