"""The options and limits of restores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Restores(Options):
    """Restores to a savepoint."""

    restore_by: Literal["completion", "requested"] = choice(
        "completion",
        "a restore undoes what completed after the instant of the savepoint; or what was requested later",
    )
    restore_pending: Literal["undone", "left"] = choice(
        "undone",
        "a restore undoes what is pending as well; or leaves it to its writer",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreLimits(Limits):
    """Limits: restores to a savepoint."""

    restores: int = limit(0, "how many restores may be planned")
