"""Schedules: each schedule chooses the next step among the enabled steps of all actors. A schedule can wrap another
schedule.
"""

from __future__ import annotations

from .pct import Pct
from .protocol import Choose, Schedule
from .random import Random
from .replay import Replay, no_choice
from .wrappers import AtomicPhases, Limited, Swarm

__all__ = ["AtomicPhases", "Choose", "Limited", "Pct", "Random", "Replay", "Schedule", "Swarm", "no_choice"]
