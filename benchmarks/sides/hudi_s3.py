"""What Apache Hudi needs to work on an S3 server: two more packages, their settings, and a loop of small commits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

# Hadoop's client of S3 has the version of the Hadoop that PySpark 3.5.6 contains. Hudi's lock has a client of its own.
PACKAGES = ("org.apache.hadoop:hadoop-aws:3.3.4",)
LOCK = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"}
CONFLICTS = ("HoodieWriteConflictException", "HoodieLockException")


def config(store: dict[str, str]) -> dict[str, str]:
    """The Spark settings for the S3 server of `store`. Sets the environment of the JVM, which must not run yet."""
    os.environ["AWS_ENDPOINT_URL_S3"] = store["endpoint"]
    os.environ["AWS_REGION"] = store["region"]
    os.environ["AWS_ACCESS_KEY_ID"] = store["access_key_id"]
    os.environ["AWS_SECRET_ACCESS_KEY"] = store["secret_access_key"]
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
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()}


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
            except Exception as error:
                if not any(name in str(error) for name in CONFLICTS):
                    raise
                conflicts += 1
        latencies.append(time.monotonic() - began)
        in_time += time.monotonic() <= until
    return {"latencies": latencies, "conflicts": conflicts, "in_time": in_time}
