"""The lock providers of Hudi's bundle that need more than their name: ZooKeeper's a server, the storage-based one a
store with conditional puts. Both are in the JVM of this process.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from .session import java, org

_PROVIDER = "hoodie.write.lock.provider"
_ZOOKEEPER = "hoodie.write.lock.zookeeper."
_SOURCES = Path(__file__).parent / "java" / "locks"
_TICK = 2000  # milliseconds; a session expires after 2 to 20 of them


def served(options: Mapping[str, str], path: str) -> dict[str, str]:
    """Return the options of a table with what its lock provider needs. Starts a server of ZooKeeper, or compiles and
    loads the store of the storage-based lock, if it is needed.
    """
    provider = options[_PROVIDER]
    if provider.endswith("FolderLockProvider"):
        _load_store()
    if "Zookeeper" not in provider:
        return {**options}
    # The provider reads no port: the address contains it.
    place = {"url": f"127.0.0.1:{_zookeeper()}", "base_path": "/hudi", "lock_key": Path(path).name}
    return {**options, **{_ZOOKEEPER + name: value for name, value in place.items()}}


@cache
def _load_store() -> None:
    loader = java().lang.Thread.currentThread().getContextClassLoader()
    known = [url.getPath() for url in loader.getURLs()]
    known += str(java().lang.System.getProperty("java.class.path")).split(":")
    classes = tempfile.mkdtemp(prefix="nbcc-locks-")
    sources = map(str, sorted(_SOURCES.glob("*.java")))
    subprocess.run(["javac", "-d", classes, "-cp", ":".join(known), *sources], check=True)
    loader.addURL(java().io.File(classes).toURI().toURL())


@cache
def _zookeeper() -> int:
    """Start a server of ZooKeeper on a free port of this machine, and return the port."""
    java().lang.System.setProperty("zookeeper.forceSync", "no")  # no data outlives the process
    server = org().apache.zookeeper.server
    folder = java().io.File(tempfile.mkdtemp(prefix="nbcc-zookeeper-"))
    serving = server.ZooKeeperServer(folder, folder, _TICK)
    factory = server.ServerCnxnFactory.createFactory(java().net.InetSocketAddress("127.0.0.1", 0), 100)
    factory.startup(serving)
    return int(factory.getLocalPort())
