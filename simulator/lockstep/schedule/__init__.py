"""Schedules: each schedule chooses the next step among the enabled steps of all actors. A schedule can wrap another
schedule.
"""

from __future__ import annotations

from .pct import Pct
from .protocol import Choose, Schedule
from .random import Random
from .replay import Replay, no_choice
from .wrappers import AtomicPhases, DelayedPublication, Limited, Swarm

__all__ = [
    "AtomicPhases",
    "Choose",
    "DelayedPublication",
    "Limited",
    "Pct",
    "Random",
    "Replay",
    "Schedule",
    "Swarm",
    "no_choice",
]
