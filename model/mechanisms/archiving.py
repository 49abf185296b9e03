"""Archiving of the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Archiving(Options):
    """Archiving of the timeline."""

    archive_bound: Literal["pending", "none"] = choice(
        "pending",
        "archiving stops before what was requested or completed after the request of a pending instant, or "
        "does not care",
    )
    archive_lookup: Literal["after_listing", "before_listing", "never"] = choice(
        "after_listing",
        "a reader looks into the archive after each listing; or keeps to what it knew before the first one; "
        "or never looks",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits(Limits):
    """Limits: archiving of the timeline."""

    archives: int = limit(0, "how often instants may be archived")
    instants_retained: int = limit(0, "how many of the newest writes and compactions stay on the active timeline")


MECHANISM = Mechanism(options=Archiving, limits=ArchiveLimits)
