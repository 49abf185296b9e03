"""Sends nbcc to the Python workers of a session. Tasks are pickled so that a worker first checks whether it can run
them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyspark import cloudpickle

from ..errors import CannotRun
from . import guard
from .sources import archive_name, archive_of_sources, digest_of_sources, home_of_sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

F = TypeVar("F", bound=Callable[..., Any])

# A worker that lacks nbcc must be able to load the guard. PySpark's cloudpickle has no type annotations.
cloudpickle.register_pickle_by_value(guard)  # type: ignore[no-untyped-call]

_REMEDY: Final = "a merge function, a credential provider or a DataFrame's function must be one that pickle accepts"


def send(spark: SparkSession) -> None:
    """Send the sources of nbcc to the workers of this session, including workers of executors that join later.

    A repeated call changes nothing.
    """
    path = archive_of_sources()
    spark.addArtifacts(path, pyfile=True)
    # PySpark adds the archive to the path of the driver too, which has nbcc.
    sys.path[:] = [each for each in sys.path if not each.endswith(archive_name())]


def sender() -> Mapping[str, str]:
    """Return the values that a worker compares with its own nbcc."""
    return {"archive": archive_name(), "digest": digest_of_sources(), "home": home_of_sources()}


def guarded(function: F) -> F:
    """Return the function for a job of Spark. Before a worker loads the function, the worker checks whether it can run
    tasks of the driver.
    """
    made: F = guard.deferred(pickled(function), sender(), function.__name__)
    return made


def reduced(value: object, state: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the result of `__reduce__` for an object with the attributes `state`. Before a worker loads the object,
    the worker checks whether it can run tasks of the driver.
    """
    return guard.restore, (pickled((type(value), dict(state))), sender())


def reduced_with_sources(kind: type, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the result of `__reduce__` for an object of a process to which Spark sends no archives, such as the
    process that calls `foreachBatch` on the server of Spark Connect. The pickle contains the sources of nbcc.
    """
    sources = Path(archive_of_sources()).read_bytes()
    return guard.call, (pickled((kind, arguments)), sender(), sources)


def pickled(value: object) -> bytes:
    """Return the pickle of a task. Raises `CannotRun` if the task has a part that cannot be pickled."""
    try:
        return bytes(cloudpickle.dumps(value))  # type: ignore[no-untyped-call]
    except Exception as unfit:  # `__reduce__` of a user's object may raise any error
        reason = " ".join(f"{type(unfit).__name__}: {unfit}".split())
        raise CannotRun("send a task to the executors", f"it cannot be pickled ({reason})", _REMEDY) from unfit
