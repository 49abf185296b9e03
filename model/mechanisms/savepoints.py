"""Savepoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Savepoints(Options):
    """Savepoints."""

    savepoint_keeps: Literal["files", "base_files", "nothing"] = choice(
        "files",
        "what a clean leaves alone for a savepoint: the files that it names; base files alone; or nothing",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SavepointLimits(Limits):
    """Limits: savepoints."""

    savepoints: int = limit(0, "how many savepoints may be begun")
    savepoints_dropped: int = limit(0, "how many savepoints may be dropped")


MECHANISM = Mechanism(options=Savepoints, limits=SavepointLimits)
