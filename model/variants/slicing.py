"""RFC-66's older layouts and readings of file slicing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicing(Options):
    """RFC-66's older layouts and readings of file slicing."""

    slicing: Literal["completion", "requested", "base_instant", "temporal"] = choice(
        "completion",
        "the time that assigns a log to a file slice; base_instant: the name carries the barrier that the "
        "writer looked up when it started to write (layout before RFC-66); temporal: RFC-66's rules of what "
        "'temporally follows' what, by which a log that was under way at a barrier is in no slice",
        by=("writer", "compactor",),
    )
    barriers: Literal["plans", "base_files"] = choice(
        "plans",
        "what begins a slice: plans from when they are made; or base files alone, and then a log older than "
        "the oldest of them is in no slice, a read as of a time takes one slice (RFC-66, pseudocode)",
    )
    first_slice: Literal["first_completed", "first_requested"] = choice(
        "first_completed",
        "what begins the slice without barrier: the write that completes first; or the earliest request that "
        "has a log there, and while that one is pending nothing of the slice is seen",
    )
    tombstone_logs: Literal["by_commit", "by_time"] = choice(
        "by_commit",
        "the log with which a compaction keeps its deletes is the one that its commit lists; or any log that "
        "was requested at the time of the base file",
    )


MECHANISM = Mechanism(options=Slicing)
