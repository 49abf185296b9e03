"""Restores to a savepoint."""

from __future__ import annotations

from ...machine.mechanism import Mechanism
from .options import RestoreLimits, Restores

MECHANISM = Mechanism(options=Restores, limits=RestoreLimits)
