"""Other readings of compaction planning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..kernel.rules import Rules
from ..kernel.table import Write
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling(Options):
    """Other readings of compaction planning."""

    scheduling: Literal["non_serial", "serial"] = choice(
        "non_serial",
        "Whether a compactor may make a plan while a write is pending.",
        by=("compactor",),
    )
    plan_takes: Literal["completed_before_barrier", "any_log"] = choice(
        "completed_before_barrier",
        "The logs that a plan takes: those that completed before its barrier, or every log file in the slice.",
        by=("compactor",),
    )


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules under `plan_takes`."""
    return replace(rules, plan_takes=any_log) if protocol[Scheduling].plan_takes == "any_log" else rules


def any_log(write: Write, barrier: float) -> bool:
    return True


MECHANISM = Mechanism(options=Scheduling, rules=refined)
