"""The options and limits of restores."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class Restores(Options):
    """The options that decide which instants a restore undoes."""

    restore_by: Literal["completion", "requested"] = option(
        "completion",
        "completion: a restore undoes what completed after the instant of the savepoint. requested: what was requested "
        "after it",
    )
    restore_pending: Literal["undone", "ignored"] = option(
        "undone",
        "undone: a restore undoes pending instants as well. ignored: their actors may still complete them",
    )


class RestoreLimits(Limits):
    """The maximum number of restores in a run."""

    restores: int = limit(0, "how many restores may be planned")
