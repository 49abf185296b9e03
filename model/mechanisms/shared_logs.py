"""One log file for a whole file slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLogs(Options):
    """One log file for a whole file slice."""

    log_layout: Literal["own", "shared"] = choice(
        "own",
        "a write has log files of its own; or one log a slice is shared, to which everybody appends blocks, "
        "and a failed write is undone by a rollback block behind them (RFC-22, option 2: what it leaves)",
    )
    rollback_block: Literal["anywhere", "earlier", "in_front"] = choice(
        "anywhere",
        "shared: it undoes the blocks of its write wherever they stand; those before it; or those right in "
        "front of it (Apache Hudi 0.14; 1.x; before 0.14)",
    )


MECHANISM = Mechanism(options=SharedLogs)
