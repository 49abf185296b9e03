"""Log compaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCompactions(Options):
    """Log compaction."""

    log_compaction_rank: Literal["inputs", "own"] = choice(
        "inputs",
        "where the log of a log compaction ranks: where the newest of its inputs did, or by its own "
        "completion",
    )
    log_compaction_window: Literal["left_out", "delivered"] = choice(
        "left_out",
        "windows leave that log out and go on with its inputs, or it is delivered like a write's",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCompactionLimits(Limits):
    """Limits: log compaction."""

    log_compactions: int = limit(0, "how many log compactions may be planned")


MECHANISM = Mechanism(options=LogCompactions, limits=LogCompactionLimits)
