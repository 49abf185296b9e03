"""The lock protocols as state machines, separate from the model of the table.

`StorageLockModel` models the lease in `nbcc.engine.lock.storage_lock`, and `NumberedLockModel` the numbered files in
`nbcc.engine.lock.numbered`. The command ``nbcc explore nbcc.simulator.locks:StorageLockModel`` searches every
interleaving. The module `driver` takes the engine's real locks through runs of the models.
"""

from __future__ import annotations

from .limits import LockLimits
from .numbered_lock import NumberedLockModel, NumberedLockRules
from .storage_lock import StorageLockModel, StorageLockRules

__all__ = ["LockLimits", "NumberedLockModel", "NumberedLockRules", "StorageLockModel", "StorageLockRules"]
