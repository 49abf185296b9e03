"""Which lock a table's properties ask for, by Hudi's names."""

from __future__ import annotations

import os
from typing import Final

from ..config.coordination import Coordination, is_shared
from ..config.options import STORAGE_BASED
from ..storage import Storage
from .between_processes import BetweenProcesses
from .hudi_file import HudiFileLock
from .in_process import InProcessLock
from .numbered import NumberedLock
from .protocol import Lock
from .single_process import SingleProcessLock
from .storage_lock import StorageLock
from .zookeeper import ZookeeperLock

BETWEEN_MACHINES: Final = (STORAGE_BASED, "NumberedLockProvider", "ZookeeperBasedLockProvider")
"""Those whose writers may have clocks that differ."""


class UnresolvedLock:
    """The lock of a table that is not open yet: opening it puts the lock in its place that its properties name."""

    def acquire(self) -> None:
        raise AssertionError("the table is not open")

    def release(self) -> None:
        raise AssertionError("the table is not open")


def provider_of(storage: Storage, agreed: Coordination) -> str:
    """The lock provider; in a store that several machines can reach one that excludes them, unless another is named.

    That is the lease, not the numbered files: it takes 4 requests a time against 8 or more, and Hudi's writers keep to
    it. It needs conditional updates; a store without them says so at the first write, and names the other.
    """
    return agreed.lock or (STORAGE_BASED if is_shared(storage.url) else "")


def lock_of(storage: Storage, agreed: Coordination) -> Lock:
    """The lock of a table, in the table's own storage where it is kept in one."""
    url, wait = storage.url, agreed.lock_wait_ms / 1000
    lease = (agreed.lease_seconds, agreed.renew_seconds)
    local = url.startswith("file:") and os.name == "posix"
    match provider_of(storage, agreed):
        case "InProcessLockProvider":
            return SingleProcessLock(url, wait) if local else InProcessLock(url, wait)
        case "FileSystemBasedLockProvider":
            return HudiFileLock(url, wait, agreed.lock_expire_minutes)
        case "StorageBasedLockProvider":
            return StorageLock(storage, wait, *lease)
        case "NumberedLockProvider":
            return NumberedLock(storage, wait, *lease)
        case "ZookeeperBasedLockProvider":
            path = f"{agreed.zookeeper_base_path.rstrip('/')}/{agreed.zookeeper_lock_key}"
            return ZookeeperLock(url, f"{agreed.zookeeper_url}:{agreed.zookeeper_port}", path, wait)
        case _:
            return BetweenProcesses(url, wait) if local else InProcessLock(url, wait)
