"""Who goes next: one strategy a file behind one small protocol, composed by wrapping."""

from __future__ import annotations

from .coarse import Coarse
from .lingering import Lingering
from .pct import Pct
from .protocol import Choose, Schedule
from .random import Random
from .replay import Replay, no_choice
from .swarm import Swarm

__all__ = ["Choose", "Coarse", "Lingering", "Pct", "Random", "Replay", "Schedule", "Swarm", "no_choice"]
