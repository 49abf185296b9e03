"""What a table says of itself, gathered without trusting any of it: nothing that lies there makes gathering fail."""

from __future__ import annotations

from .deep import data_flaws
from .gather import gather
from .report import Commit, Evidence, Flaw, Stat

__all__ = ["Commit", "Evidence", "Flaw", "Stat", "data_flaws", "gather"]
