"""Starts the Spark session of the command line, notebooks and tests."""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ..errors import CannotRun
from .checks import CheckResult, checks
from .console import show_notices
from .interpreter import is_local, prepare_workers, workers_have_nbcc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CheckResult", "checks", "jvm_log", "session"]

_UTC: Final = "-Duser.timezone=UTC"

ALONE: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Settings of a local session, which no other machine can reach."""

SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": _UTC,
    "spark.executor.extraJavaOptions": _UTC,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",  # the tables of one machine are small
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",  # each batch costs a round trip to the Python worker
    "spark.python.unix.domain.socket.enabled": "true",  # Arrow batches cross faster than over TCP
}


def session(
    app: str = "nbcc",
    *,
    master: str = "local[2]",
    conf: Mapping[str, str] | None = None,
    log: str | os.PathLike[str] | None = None,
) -> SparkSession:
    """Return the running Spark session, or start a new one. A new session uses the time zone UTC and redirects the
    JVM's output to a file.

    `master` is the Spark master; the default runs Spark on this machine. On a cluster, the workers run the Python
    interpreter named in the driver's PYSPARK_PYTHON (default: the path of the driver's interpreter). The session sends
    nbcc to the workers of a cluster (docs/clusters.md). `conf` overrides individual Spark settings. The JVM appends its
    output to the file `log`; the default is `jvm_log()`. Raises `CannotRun` if a check of the installation fails, the
    JVM does not start, or the workers cannot run nbcc.
    """
    made_by_user = _running()
    if not made_by_user:
        _refuse_what_fails()
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    local = is_local(master)
    _prepare_environment(local)
    # Spark makes this folder only if it is used. Another user cannot have made it before.
    scratch = str(Path(tempfile.gettempdir(), f"nbcc-warehouse-{uuid4().hex}"))
    settings = {"spark.master": master, "spark.app.name": app, "spark.sql.warehouse.dir": scratch, **SETTINGS}
    settings |= ALONE if local else {}
    wanted = SparkConf().setAll(list((settings | dict(conf or {})).items()))
    if not made_by_user:
        own_log = Path(log) if log is not None else jvm_log()
        _launch(wanted, own_log)
        show_notices(own_log)
        if log is None:
            atexit.register(jvm_log().unlink, missing_ok=True)  # it is of use only while this process runs
    spark = SparkSession.builder.config(conf=wanted).getOrCreate()
    if local and not made_by_user:
        workers_have_nbcc(spark)
    prepare_workers(spark)
    return spark


@cache
def jvm_log() -> Path:
    """Return the default path of the file with this process's JVM output. The file is deleted when the process ends,
    unless the JVM did not start.
    """
    # A new file of this user alone: a file of a name that others can guess may be a link to any file of ours.
    descriptor, path = tempfile.mkstemp(prefix="nbcc-spark-", suffix=".log")
    os.close(descriptor)
    return Path(path)


def _running() -> bool:
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and pyspark.SparkContext._active_spark_context is not None


def _refuse_what_fails() -> None:
    failed = next((finding for finding in checks() if not finding.ok), None)
    if failed is not None:
        exists = f"{failed.name} is not as needed (found {failed.found}, needed {failed.needed})"
        raise CannotRun("start Spark", exists, failed.remedy)


def _launch(conf: object, log: Path) -> None:
    """Start the JVM with its output redirected to the file `log`, because PySpark would print the output on the
    terminal.
    """
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return  # a stopped session leaves its JVM running
    launch: Callable[..., Any] = launch_gateway  # PySpark gives it no types
    with log.open("ab") as stream:
        try:
            gateway = launch(conf, {"stdout": stream, "stderr": stream})
        except (OSError, PySparkRuntimeError) as error:
            raise CannotRun("start Spark", "its JVM did not come up", f"see {log}") from error
    SparkContext._ensure_initialized(gateway=gateway)


def _prepare_environment(local: bool) -> None:
    """Set the environment variables that the JVM and Python workers inherit.

    Workers import nbcc through PYTHONPATH, because workers do not inherit changes to `sys.path`.
    """
    home = str(Path(__file__).absolute().parents[3])
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if home not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([home, *filter(None, paths)])
    if local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    else:  # the executors of a cluster may have their Python at another path
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
