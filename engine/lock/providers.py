"""Creates the lock that a table's properties name. Lock providers have the same names as in Hudi."""

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
from .protocol import Lock, RefusedLock
from .single_process import SingleProcessLock
from .storage_lock import StorageLock
from .zookeeper import ZookeeperLock

BETWEEN_MACHINES: Final = (STORAGE_BASED, "NumberedLockProvider", "ZookeeperBasedLockProvider")
"""Providers that lock across machines, so that the writers' clocks may differ."""


class UnresolvedLock:
    """A placeholder for the lock of a table that is not yet open. `open_table` replaces this object with the lock that
    the table's properties name.
    """

    def acquire(self) -> None:
        raise AssertionError("the table is not open")

    def release(self) -> None:
        raise AssertionError("the table is not open")


def provider_of(storage: Storage, agreed: Coordination) -> str:
    """Return the name of the table's lock provider. The default provider is StorageBasedLockProvider in a shared store,
    and '' (a lock between processes of one machine) elsewhere.

    StorageBasedLockProvider is the default because it needs 4 requests per acquisition (numbered locks: 8 or more) and
    Hudi's writers support it. In a store without conditional updates, the first write fails with an error that
    recommends NumberedLockProvider.
    """
    return agreed.lock or (STORAGE_BASED if is_shared(storage.url) else "")


def lock_of(storage: Storage, agreed: Coordination) -> Lock:
    """Return the lock object of a table, according to its coordination options `agreed`. Leases and numbered locks
    store their files in the table's own storage. The lock of a table whose writers take none cannot be acquired.
    """
    return RefusedLock(storage.url) if agreed.decision == "free" else _provided(storage, agreed)


def _provided(storage: Storage, agreed: Coordination) -> Lock:
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
