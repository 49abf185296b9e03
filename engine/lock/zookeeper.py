"""Hudi's ZookeeperBasedLockProvider: Curator's mutex at ``<base_path>/<lock_key>``, accessed with kazoo (the extra
``zookeeper``).
"""

from __future__ import annotations

import os
from typing import Any

from ..errors import CannotRun, Conflict
from ..extras import install
from .waiting import Waiting


class ZookeeperLock(Waiting):
    """A lock held through an ephemeral sequential node of ZooKeeper. ZooKeeper removes the node if the client sends
    nothing for longer than the session timeout.
    """

    def __init__(
        self, url: str, hosts: str, path: str, wait_seconds: float = 60.0, session_seconds: float = 60.0
    ) -> None:
        super().__init__(url, wait_seconds)
        self._hosts, self._path, self._session = hosts, path, session_seconds
        self._client: Any = None
        self._process = 0  # the process that started the client: a forked child has not its threads
        self._lock: Any = None

    def try_once(self) -> bool:
        self._lock = self._mutex()
        # Not blocking: the wait is bounded by `Waiting`, as for all locks.
        return bool(self._lock.acquire(blocking=False))

    def give_back(self) -> None:
        self._lock.release()

    def held_by(self) -> str:
        return f"{self._path} of ZooKeeper at {self._hosts} is held"

    def _mutex(self) -> Any:
        try:
            from kazoo.client import KazooClient
            from kazoo.handlers.threading import KazooTimeoutError
            from kazoo.recipe.lock import Lock
        except ImportError:
            asked = f"lock the table {self.url} by ZooKeeper"
            raise CannotRun(asked, "kazoo is not installed", install("zookeeper")) from None

        # Curator's node names, so that its clients and ours wait in one queue; kazoo's own lock nodes count, too.
        names = {"_NODE_NAME": "-lock-", "_EXCLUDE_NAMES": ["-lock-", "__lock__"]}

        if self._client is None or self._process != os.getpid():
            client = KazooClient(hosts=self._hosts, timeout=self._session)
            try:
                client.start(timeout=self._wait)
            except KazooTimeoutError:
                raise Conflict(
                    f"lock the table {self.url}",
                    f"no ZooKeeper answers at {self._hosts}",
                    "start it, or correct the url",
                ) from None
            self._client, self._process = client, os.getpid()
        return type("CuratorLock", (Lock,), names)(self._client, self._path)
