"""A log of numbered decisions that orders commits, so that a lost lock costs a retry and no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLog(Options):
    """A log of numbered decisions that orders commits, so that a lost lock costs a retry and no data."""

    decision: Literal["lock", "log"] = choice(
        "lock",
        "what makes a commit: holding the lock when it is published, or the next number of a log",
    )
    claims: Literal["every_time", "none"] = choice(
        "every_time",
        "decision = log: an actor claims each time of an instant: it puts an object that the time names, if "
        "absent; or it uses the clock reading, so that a barrier and a request may be equal",
    )


MECHANISM = Mechanism(options=DecisionLog)
