"""Prepares the Python workers of a SparkSession: sends nbcc to the workers, and tests whether they can run nbcc.

Spark's workers run the Python named in `PYSPARK_PYTHON`, or else the first `python3` on the PATH. If the workers'
Python lacks a package, a Spark job fails after a few seconds with a long traceback. Before the first job, nbcc checks
that the workers can import all packages that nbcc requires.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ..errors import CannotRun, NbccError
from .failures import in_driver
from .worker import FLOORS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE_SECONDS: Final = 60
_PROBE: Final = f"import sys, {', '.join(FLOORS)}; print(*sys.version_info[:2], sep='.')"
_NOT_IMPORTED: Final = re.compile("ModuleNotFoundError|ImportError|PACKAGE_NOT_INSTALLED")
_tested: dict[tuple[str, str], str | None] = {}
"""(application, worker's Python) -> why it does not run nbcc."""
_have_nbcc: set[str] = set()
"""The applications whose workers have been sent nbcc, or import the nbcc of this process."""


def prepare_workers(spark: SparkSession) -> None:
    """Send nbcc to the Python workers of a Spark session, and raise `CannotRun` if the workers cannot run nbcc. A
    repeated call for the same session has no effect.
    """
    context = getattr(spark, "_sc", None)
    if context is None:
        _prepare_server(spark)
        return
    _send_once(spark, str(context.applicationId))
    python, local = str(context.pythonExec), is_local(str(context.master))
    if local and _is_this_one(python):
        return
    key = (str(context.applicationId), python)
    if key not in _tested:
        _tested[key] = _run_here(python) if local else _run_there(context)
    if problem := _tested[key]:
        raise CannotRun(
            "use this SparkSession",
            f"its Python workers run {python}, {problem}",
            f"set PYSPARK_PYTHON={sys.executable} in the environment before the session is made, "
            "or let nbcc.session() make it",
        )


def _prepare_server(spark: SparkSession) -> None:
    """Send nbcc to the workers of a Spark Connect server, and test with one task whether they can run nbcc."""
    key = (str(getattr(spark, "session_id", id(spark))), "")
    _send_once(spark, key[0])
    if key not in _tested:
        _tested[key] = _run_on_server(spark)
    if problem := _tested[key]:
        raise CannotRun(
            "use this SparkSession",
            f"the Python workers of its Spark Connect server run a Python {problem}",
            "start the server with PYSPARK_PYTHON set to a Python that has them; on this machine that is "
            f"PYSPARK_PYTHON={sys.executable}",
        )


def workers_have_nbcc(spark: SparkSession) -> None:
    """Record that the workers of the session import nbcc from the same folder as this process."""
    _have_nbcc.add(str(spark.sparkContext.applicationId))


def is_local(master: str) -> bool:
    """Return True if the workers of this Spark master run on this machine and inherit the driver's environment."""
    return master.startswith("local") and not master.startswith("local-cluster")


def _send_once(spark: SparkSession, application: str) -> None:
    from .shipping import send

    if application not in _have_nbcc:
        send(spark)
        _have_nbcc.add(application)


def _is_this_one(python: str) -> bool:
    # Links are not resolved: the interpreter of a virtual environment is a link to one that has other packages.
    found = shutil.which(python)
    return found is not None and os.path.abspath(found) == os.path.abspath(sys.executable)


def _run_here(python: str) -> str | None:
    """Test the workers' Python interpreter in a process on the driver's machine."""
    try:
        ran = subprocess.run(
            [python, "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_PATIENCE_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "which does not run"
    if ran.returncode:
        return f"which cannot import {', '.join(FLOORS)}"
    return _other_version(ran.stdout.strip())


def _run_there(context: Any) -> str | None:
    """Test the workers' Python interpreter with one Spark task on a worker of the cluster. Raises `CannotRun` if the
    worker refuses the task with a message.
    """
    from .shipping import guarded

    def probe(_: int) -> str:
        import sys

        return f"{sys.version_info.major}.{sys.version_info.minor}"

    try:
        with in_driver():
            return _other_version(context.parallelize([0], 1).map(guarded(probe)).collect()[0])
    except NbccError:
        raise
    except Exception:  # an exception of a worker reaches the driver as an error of the JVM
        return "on which a task failed that only returns the version of Python"


def _run_on_server(spark: SparkSession) -> str | None:
    from .shipping import guarded

    def probe(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    try:
        with in_driver():
            spark.range(1).mapInArrow(guarded(probe), "id long").collect()
    except NbccError:
        raise
    except Exception as failed:  # the worker cannot even read the task: Spark needs pyarrow to send rows
        if _NOT_IMPORTED.search(str(failed)) is None:
            raise
        return f"which cannot import {', '.join(FLOORS)}"
    return None


def _other_version(version: str) -> str | None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return None if version == own else f"which is Python {version}, not {own}"
