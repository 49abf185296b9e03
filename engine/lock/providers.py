"""Which lock a table's properties ask for, by Hudi's names."""

from __future__ import annotations

from typing import Final

from ..config.coordination import Coordination
from ..storage import Storage
from .between_processes import table_lock
from .hudi_file import HudiFileLock
from .in_process import InProcessLock
from .numbered import NumberedLock
from .protocol import Lock
from .storage_lock import StorageLock
from .zookeeper import ZookeeperLock

BETWEEN_MACHINES: Final = ("StorageBasedLockProvider", "NumberedLockProvider", "ZookeeperBasedLockProvider")
"""Those whose writers may have clocks that differ."""


def lock_of(storage: Storage, agreed: Coordination) -> Lock:
    """The lock of a table; by default the widest that needs no setting."""
    wait = agreed.lock_wait_ms / 1000
    lease = (agreed.lease_seconds, agreed.renew_seconds)
    match agreed.lock:
        case "InProcessLockProvider":
            return InProcessLock(storage.url, wait)
        case "FileSystemBasedLockProvider":
            return HudiFileLock(storage.url, wait, agreed.lock_expire_minutes)
        case "StorageBasedLockProvider":
            return StorageLock(storage.url, wait, *lease)
        case "NumberedLockProvider":
            return NumberedLock(storage, wait, *lease)
        case "ZookeeperBasedLockProvider":
            path = f"{agreed.zookeeper_base_path.rstrip('/')}/{agreed.zookeeper_lock_key}"
            return ZookeeperLock(storage.url, f"{agreed.zookeeper_url}:{agreed.zookeeper_port}", path, wait)
        case _:
            return table_lock(storage.url)
