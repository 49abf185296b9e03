"""The options and limits of archiving."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class Archiving(Options):
    """The options of archiving: which instants may be archived, and when a reader reads the archive."""

    archive_bound: Literal["pending", "none"] = option(
        "pending",
        "whether a pending instant stops archiving. pending: an instant stays if it was requested or completed after "
        "the request of the pending one; none: pending instants are ignored",
    )
    archive_lookup: Literal["after_listing", "before_listing", "never"] = option(
        "after_listing",
        "when a reader reads the archive. after_listing: after each listing; before_listing: once, before the "
        "first listing; never: it reads the active timeline alone",
    )


class ArchiveLimits(Limits):
    """The limits of archiving: how often instants are archived, and how many of the newest instants stay on the active
    timeline.
    """

    archives: int = limit(0, "how often instants may be archived")
    instants_retained: int = limit(0, "how many of the newest writes and compactions stay on the active timeline")
