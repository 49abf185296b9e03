"""Tests whether the Python workers of a user's SparkSession can run nbcc.

Spark runs `PYSPARK_PYTHON`, or else the first `python3` on the PATH. If the workers' Python differs from the driver's
Python, a job fails after a few seconds with a long traceback. The session therefore tests the workers before the first
job.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from ..errors import CannotRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE_SECONDS: Final = 60
_NEEDED: Final = ("nbcc", "numpy", "pyarrow")
_PROBE: Final = f"import sys, {', '.join(_NEEDED)}; print(*sys.version_info[:2], sep='.')"
_tested: dict[tuple[str, str], str | None] = {}
"""(application, worker's Python) -> why it does not run nbcc."""


def check_workers(spark: SparkSession) -> None:
    """Raise `CannotRun` if the Python workers of this session cannot import nbcc. Each session is tested only once."""
    context = getattr(spark, "_sc", None)
    if context is None:
        return  # Spark Connect: the workers are the server's, and the client cannot see which Python they run
    python = str(context.pythonExec)
    if _is_this_one(python):
        return
    key = (str(context.applicationId), python)
    if key not in _tested:
        local = str(context.master).startswith("local") and not str(context.master).startswith("local-cluster")
        _tested[key] = _run_here(python) if local else _run_there(context)
    if problem := _tested[key]:
        raise CannotRun(
            "use this SparkSession",
            f"its Python workers run {python}, {problem}",
            f"set PYSPARK_PYTHON={sys.executable} in the environment before the session is made, "
            "or let nbcc.session() make it",
        )


def _is_this_one(python: str) -> bool:
    # Links are not resolved: the interpreter of a virtual environment is a link to one that has other packages.
    found = shutil.which(python)
    return found is not None and os.path.abspath(found) == os.path.abspath(sys.executable)


def _run_here(python: str) -> str | None:
    """Run the workers' interpreter on the driver's machine. A run on the driver's machine is faster than a Spark job
    and leaves no Spark log.
    """
    try:
        ran = subprocess.run(
            [python, "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_PATIENCE_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "which does not run"
    if ran.returncode:
        return "which cannot import nbcc and what it needs"
    return _other_version(ran.stdout.strip())


def _run_there(context: Any) -> str | None:
    needed = _NEEDED

    def probe(_: int) -> str:
        import importlib
        import sys

        for name in needed:
            importlib.import_module(name)
        return f"{sys.version_info.major}.{sys.version_info.minor}"

    try:
        return _other_version(context.parallelize([0], 1).map(probe).collect()[0])
    except Exception:  # an exception of a worker reaches the driver as an error of the JVM
        return "on which a task that imports nbcc failed"


def _other_version(version: str) -> str | None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return None if version == own else f"which is Python {version}, not {own}"
