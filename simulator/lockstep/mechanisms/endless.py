"""Endless worlds."""

from __future__ import annotations

from nbcc.model.mechanisms.endless import Endless

from ..mechanism import Lockstep

LOCKSTEP = Lockstep(refuses={Endless(endless=1): "it does not number times again after each step"})
