"""What Apache Hudi needs to work on an S3 server: Hadoop's client of S3, a lock, and a loop of small commits.

The lock is ZooKeeper's. Hudi's lock in the store needs its module hudi-aws, whose version 1.2.0 could not be fetched.
Hudi's lock in a file is not safe here: a client that closes deletes the file even if another client has the lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# Of the version of the Hadoop that PySpark 3.5.6 contains.
PACKAGE = "org.apache.hadoop:hadoop-aws:3.3.4"
CONFLICTS = ("HoodieWriteConflictException", "HoodieLockException")


def config(store: dict[str, str]) -> dict[str, str]:
    """The Spark settings for the S3 server of `store`."""
    settings = {
        "endpoint": store["endpoint"],
        "endpoint.region": store["region"],
        "access.key": store["access_key_id"],
        "secret.key": store["secret_access_key"],
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "fast.upload.buffer": "bytebuffer",
        # "delete", the default of this version, sends one more request for each object that is written
        "directory.marker.retention": "keep",
    }
    # A short run on few cores ends before the second compiler has paid off.
    java = {"spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    return {**{f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()}, **java}


def serve_locks(jvm: Any, folder: str) -> int:
    """Start the ZooKeeper server of Spark's jars in this JVM. Returns its port on 127.0.0.1."""
    server = jvm.org.apache.zookeeper.server
    factory = server.ServerCnxnFactory.createFactory(jvm.java.net.InetSocketAddress("127.0.0.1", 0), 100)
    factory.startup(server.ZooKeeperServer(jvm.java.io.File(folder), jvm.java.io.File(folder), 2000))
    return int(factory.getLocalPort())


def lock(port: int) -> dict[str, str]:
    """The options of the lock of a table."""
    return {
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
        "hoodie.write.lock.zookeeper.url": f"127.0.0.1:{port}",  # Hudi does not use the option of the port
        "hoodie.write.lock.zookeeper.port": str(port),
        "hoodie.write.lock.zookeeper.base_path": "/hudi",
    }


def repeat(save: Callable[[Any], None], spark: Any, writer: int, rows: int, seconds: float) -> dict[str, Any]:
    """Commit new rows until the time is over, and repeat a commit that conflicts.

    The answer: the seconds of each commit with its repetitions, the number of conflicts, and the number of commits that
    returned in time.
    """
    latencies: list[float] = []
    conflicts, in_time, until = 0, 0, time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        columns = f"concat('{writer}.{len(latencies)}.', id) id", f"{time.time_ns()}L ts"
        frame = spark.range(0, rows, 1, 1).selectExpr(*columns)
        while True:
            try:
                save(frame)
                break
            except Exception as error:  # Py4J and Spark wrap Hudi's error, so that only its text names the class
                if not any(name in str(error) for name in CONFLICTS):
                    raise
                conflicts += 1
        latencies.append(time.monotonic() - began)
        in_time += time.monotonic() <= until
    return {"latencies": latencies, "conflicts": conflicts, "in_time": in_time}
