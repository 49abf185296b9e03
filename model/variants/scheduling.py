"""Other readings of compaction planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling(Options):
    """Other readings of compaction planning."""

    scheduling: Literal["non_serial", "serial"] = choice(
        "non_serial",
        "whether a plan may be made while somebody writes",
        by=("compactor",),
    )
    plan_takes: Literal["completed_before_barrier", "any_log"] = choice(
        "completed_before_barrier",
        "completed logs only, or whatever log files are there",
        by=("compactor",),
    )


MECHANISM = Mechanism(options=Scheduling)
