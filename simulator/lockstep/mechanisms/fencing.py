"""Fenced stores."""

from __future__ import annotations

from nbcc.model.mechanisms.fencing import Fencing

from ..mechanism import Lockstep

LOCKSTEP = Lockstep(refuses={Fencing(fencing="storage"): "no object store compares fencing tokens"})
