"""The lock protocols as state machines, separate from the model of the table.

The class `StorageLockModel` models the lease in `nbcc.engine.lock.storage_lock`; `NumberedLockModel` models the
numbered lock files in `nbcc.engine.lock.numbered`. The command
``nbcc explore nbcc.simulator.search.locks:StorageLockModel`` searches all interleavings of the actors that compete for
the lock. Tests play runs of the models on the engine's real locks.
"""

from __future__ import annotations

from .limits import LockLimits
from .numbered_lock import NumberedLockModel, NumberedLockRules
from .storage_lock import StorageLockModel, StorageLockRules

__all__ = ["LockLimits", "NumberedLockModel", "NumberedLockRules", "StorageLockModel", "StorageLockRules"]
